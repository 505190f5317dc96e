// Words between the passes of a transform: outputs of a pass, and how the next one reads them and brings every line under one exponent.
#pragma once
#include "block/bailey_block.cuh"

namespace bailey {

// The scale of zeros, below that of all words.
constexpr int NO_SCALE = -100000;

DEVICE int larger(int a, int b) { return a > b ? a : b; }
DEVICE int smaller(int a, int b) { return a < b ? a : b; }

// Four numbers for every line.
struct PassStatistics {
    unsigned *memory;
    DEVICE unsigned *of(int line) const { return memory + 4 * line; }
};
// Of lines of words: their scale, above that of zeros, and the largest sum of a column.
template <class Number> struct RowFacts {
    unsigned scale, sum;
    DEVICE int sum_bits() const { return 32 - leading_zeros_of_half(sum); }
    DEVICE int exponent() const { return scale == 0 ? 0 : (int)scale + NO_SCALE - 21 + sum_bits() - Number::WORD_BITS; }
    // From words that have been aligned (below) to those of the line's exponent: to the right by so many bits.
    DEVICE int for_words() const { return larger(sum_bits() + 41 - Number::WORD_BITS, 1); }
    // Whether the line's largest number, and results that are scaled by 2^common, are as far from the ends of the range as those that
    // a kernel takes which has numbers.
    DEVICE bool taken(int common) const { return Number::takes(scale == 0 ? 0 : (int)scale + NO_SCALE - 1, exponent() + common); }
    // Words become words whatever their size.
    DEVICE bool moderate() const { return true; }
};
template <class Number> struct RowStatistics : PassStatistics {
    DEVICE RowFacts<Number> facts(int line) const { return {of(line)[0], of(line)[2]}; }
};

// Words whose magnitudes are looked at are kept with 1 taken off negative ones: a sign then exchanges all bits of the magnitude, as in one's
// complement, and nothing is carried from one half to the other. A zero may be -1.
DEVICE i64 complemented(i64 x) { return x + (x >> 63); }
// The upper half of the magnitude of such a word.
DEVICE unsigned upper_magnitude(i64 complement) { return high_of(complement) ^ (unsigned)((int)high_of(complement) >> 31); }

// An integer of up to 96 bits: upper·2^32 + low.
struct WideWord {
    i64 upper;
    unsigned low;
    DEVICE WideWord(i64 sum, int top) : upper((i64)(int)high_of(sum) + ((i64)top << 17)), low(low_of(sum)) {}
    DEVICE void negate() {
        upper = -upper - (low != 0 ? 1 : 0);
        low = 0u - low;
    }
    // The magnitude without its last 40 bits.
    DEVICE unsigned high_magnitude() const {
        const unsigned sign = (unsigned)((int)high_of(upper) >> 31);
        unsigned lowest, middle, highest;
        add_three(low, low_of(upper), high_of(upper), sign, sign, sign, lowest, middle, highest);
        return __funnelshift_r(middle, highest, 8) ^ sign;
    }
    DEVICE unsigned top() const { return high_of(upper) & 3; }
};

// The bits of both magnitudes but the last UNSEEN.
template <int UNSEEN> DEVICE unsigned seen_bits(i64 re, i64 im) {
    if constexpr (UNSEEN >= 32)
        return (upper_magnitude(complemented(re)) | upper_magnitude(complemented(im))) >> (UNSEEN - 32);
    else
        return (unsigned)((u64)((re < 0 ? -re : re) | (im < 0 ? -im : im)) >> UNSEEN);
}

// Outputs of a pass in shared memory: a word each, and a byte where they may have more than 64 bits. `largest` has the bits of all
// magnitudes but the last UNSEEN.
template <bool WIDE, int UNSEEN = 40> DEVICE void put_word(uint32_t word_at, uint32_t top_at, i64 re, int top_re, i64 im, int top_im, bool conjugated, unsigned &largest, bool there) {
    if constexpr (WIDE) {
        WideWord real(re, top_re), imaginary(im, top_im);
        if (conjugated) imaginary.negate();
        if (!there) return;
        largest |= real.high_magnitude() | imaginary.high_magnitude();
        store_shared(word_at, make_uint4(real.low, low_of(real.upper), imaginary.low, low_of(imaginary.upper)));
        store_shared_byte(top_at, real.top() | imaginary.top() << 2);
    } else {
        if (conjugated) im = -im;
        if (!there) return;
        largest |= seen_bits<UNSEEN>(re, im);
        store_shared(word_at, make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
    }
}
// The same for words of five digits or fewer, whose outputs have less than 48 bits: in 12 bytes, the lower halves of both parts and, apart from
// them, what is above.
template <int UNSEEN> DEVICE void put_short_word(uint32_t word_at, uint32_t top_at, i64 re, i64 im, bool conjugated, unsigned &largest, bool there) {
    if (conjugated) im = -im;
    if (!there) return;
    largest |= seen_bits<UNSEEN>(re, im);
    store_shared(word_at, make_uint2(low_of(re), low_of(im)));
    store_shared_int(top_at, (int)((high_of(re) & 0xffffu) | high_of(im) << 16));
}
// By how many bits the outputs of a line are shifted down to words, of which the last UNSEEN bits are not looked at: 11 at most.
template <class Number> DEVICE int shift_of_outputs(unsigned largest) {
    return larger(32 - leading_zeros_of_half(largest) - (Number::WORD_BITS - Number::UNSEEN), 0);
}

// A row of a last step of four points: its outputs fit 64 bits.
template <class S, class End> DEVICE void unit_step_of_row(const Lane<S> &lane, int line, int k1, End &end) {
    i64 re[4], im[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const uint4 word = load_shared(place_of(lane, line, k1, j));
        re[j] = join(word.x, word.y);
        im[j] = join(word.z, word.w);
    }
    // Column 3 was left without the sign of its imaginary part.
    im[3] = -im[3];
    const bool mirrored = 2 * k1 > S::N1;
#pragma unroll
    for (int k = 0; k < 4; k++)
        end.put(true, k1 + S::N1 * (mirrored ? 3 - k : k), unit_output(k, re, im, 1), 0, unit_output(k, im, re, -1), 0, mirrored);
}

// (top·2^64 + x) / 2^shift, rounded, halves upwards; 66 bits.
DEVICE i64 shifted_down(i64 x, int top, int shift) {
    unsigned low, high, above;
    add_three(low_of(x), high_of(x), (unsigned)top, 1u << shift >> 1, 0, 0, low, high, above);
    return join(__funnelshift_r(low, high, shift), __funnelshift_r(high, above, shift));
}
// An output that `put_word` has left, or its conjugate, as a word. (Halves are rounded upwards: signs come first.)
template <bool WIDE> DEVICE void narrowed(uint32_t word_at, uint32_t top_at, int shift, i64 &re, i64 &im, bool conjugated = false) {
    const uint4 word = load_shared(word_at);
    re = join(word.x, word.y);
    im = join(word.z, word.w);
    if constexpr (WIDE) {
        const int tops = load_shared_byte(top_at);
        int top_im = tops << 28 >> 30;
        if (conjugated) {
            top_im = -top_im - (im != 0 ? 1 : 0);
            im = (i64)(0 - (u64)im);
        }
        re = shifted_down(re, tops << 30 >> 30, shift);
        im = shifted_down(im, top_im, shift);
    } else {
        if (conjugated) im = -im;
        const i64 half = (i64)(1u << shift >> 1);
        re = (re + half) >> shift;
        im = (im + half) >> shift;
    }
}
// The same of `put_short_word`.
DEVICE void narrowed_short(uint32_t word_at, uint32_t top_at, int shift, i64 &re, i64 &im, bool conjugated = false) {
    const uint2 word = load_shared_two(word_at);
    const int tops = load_shared_int(top_at);
    const i64 half = (i64)(1u << shift >> 1);
    re = (join(word.x, (unsigned)(tops << 16 >> 16)) + half) >> shift;
    im = join(word.y, (unsigned)(tops >> 16));
    if (conjugated) im = -im;
    im = (im + half) >> shift;
}

template <bool SHORT> struct HalfOf {
    typedef unsigned Type;
};
template <> struct HalfOf<false> {
    typedef u64 Type;
};

// Words of WORD_BITS bits of a pass as a thread reads them for the first step: an element and its partner for every slot. `Exponents`: those
// of the elements, by number. They are brought under one exponent in two steps of which the second is the same for a whole line.
template <int COUNT, int WORD_BITS, class Exponents> struct RowWords {
    // From the place just above a line's leading bit down to the unit of aligned words.
    static constexpr int BITS = 62;
    // So that few words are below 2^32, those that have fewer bits are moved up.
    static constexpr int UP = 61 - WORD_BITS;
    i64 re[COUNT], im[COUNT];  // complemented
    Exponents exponents;
    bool has_small;  // the same for all threads of a warp

    DEVICE void put(int i, i64 real, i64 imaginary) {
        re[i] = complemented((i64)((u64)real << UP));
        im[i] = complemented((i64)((u64)imaginary << UP));
    }
    DEVICE int exponent(int i) const { return exponents.of(i) - UP; }

    // The place just above the leading bit. Upper halves say where it is, but for words below 2^32, which hardly any line has.
    DEVICE int scale() {
        // From the leading bit of an upper half to the place above it.
        constexpr int ABOVE = 33;
        int scale = NO_SCALE - ABOVE;
        unsigned small = 0;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const unsigned upper = upper_magnitude(re[i]) | upper_magnitude(im[i]);
            // Exponents are looked up of zeros, too: a branch would cost more.
            const int own = exponent(i) + leading_bit(upper);
            scale = larger(scale, upper != 0 ? own : scale);
            small |= upper != 0 ? 0 : (low_of(re[i]) ^ high_of(re[i])) | (low_of(im[i]) ^ high_of(im[i]));
        }
        has_small = warp_any(small != 0);
        if (has_small) {
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                const u64 both = magnitude(re[i]) | magnitude(im[i]);
                const int own = exponent(i) + 64 - leading_zeros(both) - ABOVE;
                scale = larger(scale, both != 0 ? own : scale);
            }
        }
        return scale + ABOVE;
    }
    // Aligns words to units `BITS` below the line's scale, cutting off towards zero. One bit at least is cut off later, when they are
    // rounded with halves away from zero: for that, what lies below is of no account.
    DEVICE void align(int scale) {
        const int unit = scale - BITS;
        bool to_the_left = !has_small;
#pragma unroll
        for (int i = 0; i < COUNT; i++) to_the_left &= exponent(i) >= unit;
        // Nearly always, and the same for all threads of a warp.
        if (!warp_any(!to_the_left)) {
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                // Words that are not zero have more than 32 bits: they are never moved by as many.
                const unsigned left = (unsigned)smaller(exponent(i) - unit, 32);
                re[i] = moved_up(re[i], left);
                im[i] = moved_up(im[i], left);
            }
        } else {
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                const int left = exponent(i) - unit;
                re[i] = moved(re[i], left);
                im[i] = moved(im[i], left);
            }
        }
    }
    // The leading 21 bits of all magnitudes in units of the scale's, cut off and added up.
    DEVICE unsigned leading_bits() const {
        unsigned sum = 0;
#pragma unroll
        for (int i = 0; i < COUNT; i++) sum += (upper_magnitude(re[i]) >> (BITS - 21 - 32)) + (upper_magnitude(im[i]) >> (BITS - 21 - 32));
        return sum;
    }

    // Aligned words rounded to those of the line's exponent, halves away from zero. Of five digits and more a half has 32 bits.
    struct Words {
        typedef typename HalfOf<WORD_BITS >= 37>::Type Half;
        int right;
        Half half;
        DEVICE explicit Words(int right) : right(right), half((Half)1 << (right - 1)) {}
        DEVICE i64 operator()(i64 complement) const { return (complement + (i64)(u64)half) >> right; }
    };
    DEVICE i64 real_word(int i, const Words &words) const { return words(re[i]); }
    DEVICE i64 imaginary_word(int i, const Words &words) const { return words(im[i]); }

    static DEVICE u64 magnitude(i64 complement) { return (u64)larger_complement(complement); }
    // To the left by up to 32 bits; what comes in are bits of the sign.
    static DEVICE i64 moved_up(i64 complement, unsigned left) {
        const unsigned low = low_of(complement), high = high_of(complement), sign = (unsigned)((int)high >> 31);
        return join(__funnelshift_lc(sign, low, left), __funnelshift_lc(low, high, left));
    }
    // To the left, or to the right, cut off towards zero. Words have at most 62 bits, and become 0 by 63 to the right.
    static DEVICE i64 moved(i64 complement, int left) {
        const u64 up = magnitude(complement) << smaller(larger(left, 0), 63), moved = up >> smaller(larger(-left, 0), 63);
        return complement_if_negative((i64)moved, complement);
    }
};

// Scales of all lines, to their statistics; then words are aligned, and the largest sums follow.
template <class S, class Words> DEVICE void note_scales(Words (&words)[S::UNITS1], const PassStatistics &statistics) {
    const Lane<S> lane;
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        unsigned scale = (unsigned)(words[u].scale() - NO_SCALE);
        if constexpr (S::LOCAL) {
            scale = over_line<S>(scale, larger_of);
            if (is_first_of_line<S>(lane)) statistics.of(column.line)[0] = scale;
            continue;
        }
        scale = max(scale, shuffle_xor(scale, 1));
        scale = max(scale, shuffle_xor(scale, 2));
        if (lane.t == 0) atomic_maximum(statistics.of(column.line), scale);
    }
}
template <class S, class Words> DEVICE void note_row_sums(Words (&words)[S::UNITS1], const PassStatistics &statistics) {
    const Lane<S> lane;
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        words[u].align((int)statistics.of(column.line)[0] + NO_SCALE);
        unsigned sum = words[u].leading_bits();
        sum += shuffle_xor(sum, 1);
        sum += shuffle_xor(sum, 2);
        // One for every magnitude rounds it up.
        sum += 2 * S::N1;
        if constexpr (S::LOCAL) {
            sum = over_line<S>(sum, larger_of);
            if (is_first_of_line<S>(lane)) statistics.of(column.line)[2] = sum;
            continue;
        }
        if (lane.t == 0) atomic_maximum(statistics.of(column.line) + 2, sum);
    }
}

// Where the elements of a column of the first step are among those of its line: slots t, t + 4, …, an element and its partner.
template <class S> struct ColumnElements {
    typedef typename S::First Step;
    bool mirrored;
    int near, far, step;
    DEVICE ColumnElements(const Column &column, int t) : mirrored(2 * column.place > S::N2) {
        const auto element = [&](int i) { return S::N2 * (mirrored ? S::N1 - 1 - i : i) + column.place; };
        step = (mirrored ? -4 : 4) * S::N2;
        near = element(t);
        far = element(S::N1 - (Step::PLAIN ? 0 : 1) - t);
    }
    // Element number i; a plain step's first one has no partner, and what is there then is beyond the line.
    DEVICE int of(int i) const { return i % 2 == 0 ? near + i / 2 * step : far - i / 2 * step; }
    static DEVICE bool has(int i, int t) {
        const int q = i / 2;
        const bool slot = 4 * q + 4 <= Step::SLOTS || 4 * q + t < Step::SLOTS;
        return slot && !(Step::PLAIN && i == 1 && t == 0);
    }
};

}  // namespace bailey
