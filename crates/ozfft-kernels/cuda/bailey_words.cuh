// Words between the passes of a transform: outputs of a pass, and how the next one reads them and brings every line under one exponent.
#pragma once
#include "bailey_block.cuh"

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
    DEVICE unsigned high_magnitude() const { return (unsigned)((u64)(upper < 0 ? -upper - (low != 0 ? 1 : 0) : upper) >> 8); }
    DEVICE unsigned top() const { return high_of(upper) & 3; }
};

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
        largest |= (unsigned)((u64)((re < 0 ? -re : re) | (im < 0 ? -im : im)) >> UNSEEN);
        store_shared(word_at, make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
    }
}
// The same for words of five digits, whose outputs have less than 48 bits: in 12 bytes, the lower halves of both parts and, apart from
// them, what is above.
template <int UNSEEN> DEVICE void put_short_word(uint32_t word_at, uint32_t top_at, i64 re, i64 im, bool conjugated, unsigned &largest, bool there) {
    if (conjugated) im = -im;
    if (!there) return;
    largest |= (unsigned)((u64)((re < 0 ? -re : re) | (im < 0 ? -im : im)) >> UNSEEN);
    store_shared(word_at, make_uint2(low_of(re), low_of(im)));
    store_shared_int(top_at, (int)((high_of(re) & 0xffffu) | high_of(im) << 16));
}
// By how many bits the outputs of a line are shifted down to words, of which the last UNSEEN bits are not looked at.
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
DEVICE i64 shifted_down(u64 x, int top, int shift) {
    if (shift == 0) return (i64)x;
    const u64 half = (u64)1 << (shift - 1), sum = x + half;
    const u64 carried = (u64)(i64)(top + (sum < half ? 1 : 0));
    return (i64)(sum >> shift | carried << (64 - shift));
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
        re = shifted_down((u64)re, tops << 30 >> 30, shift);
        im = shifted_down((u64)im, top_im, shift);
    } else {
        if (conjugated) im = -im;
        const i64 half = (i64)1 << shift >> 1;
        re = (re + half) >> shift;
        im = (im + half) >> shift;
    }
}
// The same of `put_short_word`.
DEVICE void narrowed_short(uint32_t word_at, uint32_t top_at, int shift, i64 &re, i64 &im, bool conjugated = false) {
    const uint2 word = load_shared_two(word_at);
    const int tops = load_shared_int(top_at);
    const i64 half = (i64)1 << shift >> 1;
    re = (join(word.x, (unsigned)(tops << 16 >> 16)) + half) >> shift;
    im = join(word.y, (unsigned)(tops >> 16));
    if (conjugated) im = -im;
    im = (im + half) >> shift;
}

// Words of a pass as a thread reads them for the first step: an element and its partner for every slot. `Exponents`: those of the
// elements, by number. They are brought under one exponent in two steps of which the second is the same for a whole line.
template <int COUNT, class Exponents> struct RowWords {
    // From the place just above a line's leading bit down to the unit of aligned words.
    static constexpr int BITS = 62;
    i64 re[COUNT], im[COUNT];
    Exponents exponents;

    // The place just above the leading bit.
    DEVICE int scale() const {
        int scale = NO_SCALE;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            // Exponents are looked up of zeros, too: a branch would cost more.
            const u64 both = magnitude(re[i]) | magnitude(im[i]);
            const int own = exponents.of(i) + 64 - leading_zeros(both);
            scale = larger(scale, both != 0 ? own : NO_SCALE);
        }
        return scale;
    }
    // Aligns words to units `BITS` below the line's scale, cutting off towards zero. One bit at least is cut off later, when they are
    // rounded with halves away from zero: for that, what lies below is of no account.
    DEVICE void align(int scale) {
        const int unit = scale - BITS;
        bool to_the_left = true;
#pragma unroll
        for (int i = 0; i < COUNT; i++) to_the_left &= exponents.of(i) >= unit;
        // Nearly always, and the same for all threads of a warp.
        if (!warp_any(!to_the_left)) {
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                const unsigned left = (unsigned)smaller(exponents.of(i) - unit, 63);
                re[i] = (i64)((u64)re[i] << left);
                im[i] = (i64)((u64)im[i] << left);
            }
        } else {
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                const int left = exponents.of(i) - unit;
                re[i] = moved(re[i], left);
                im[i] = moved(im[i], left);
            }
        }
    }
    // The leading 21 bits of all magnitudes in units of the scale's, cut off and added up.
    DEVICE unsigned leading_bits() const {
        unsigned sum = 0;
#pragma unroll
        for (int i = 0; i < COUNT; i++) sum += (high_of((i64)magnitude(re[i])) >> (BITS - 21 - 32)) + (high_of((i64)magnitude(im[i])) >> (BITS - 21 - 32));
        return sum;
    }

    // Aligned words rounded to those of the line's exponent.
    struct Words {
        int right;
        unsigned half;
        DEVICE explicit Words(int right) : right(right), half(1u << (right - 1)) {}
        DEVICE i64 operator()(i64 x) const { return (x + (i64)(u64)(half + (unsigned)((int)high_of(x) >> 31))) >> right; }
    };
    DEVICE i64 real_word(int i, const Words &words) const { return words(re[i]); }
    DEVICE i64 imaginary_word(int i, const Words &words) const { return words(im[i]); }

    static DEVICE u64 magnitude(i64 x) {
        unsigned m0, m1;
        magnitude_of(low_of(x), high_of(x), (int)high_of(x) >> 31, m0, m1);
        return (u64)join(m0, m1);
    }
    // x·2^left, cut off towards zero. Words have at most 62 bits, and become 0 by 63 to the right.
    static DEVICE i64 moved(i64 x, int left) {
        if (left >= 0) return (i64)((u64)x << smaller(left, 63));
        const int right = smaller(-left, 63);
        return (x + ((x >> 63) & (((i64)1 << right) - 1))) >> right;
    }
};

// Scales of all lines, to their statistics; then words are aligned, and the largest sums follow.
template <class S, class Words> DEVICE void note_scales(const Words (&words)[S::UNITS1], const PassStatistics &statistics) {
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
