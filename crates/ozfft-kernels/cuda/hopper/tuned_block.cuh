// Lines of two matrix steps, a warpgroup each, on wgmma: everything between f64 in and f64 out in registers and shared
// memory. The products are on int8 (`Int8`, below) or on fp8 (tuned_fp8.cuh).
#pragma once
#include "numerics/arithmetic.cuh"
#include "arch/async_copy.cuh"
#include "arch/bulk_copy.cuh"
#include "arch/wgmma.cuh"

// Where lines lie, in complex numbers.
struct Places {
    i64 element;  // from one element of a line to the next
    i64 fast;     // from line to line
    i64 slow;     // from one group of `fast_count` lines to the next
};

// Numbers that the compiler does not see. Powers of two that sums are put together with (2^17 for int8; 2^13 and 2^25 for
// fp8): it takes one multiplication then, and not three shifts. One, and the half that rotations are rounded with, 2^29.
struct Factors {
    int first, second, one;
    i64 half;
};

struct TunedArguments {
    const uint4 *input;
    uint4 *output;
    Places from, to;
    i64 lines;
    i64 fast_count;                   // contiguous lines: 1
    unsigned panels, panels_a_group;  // a block's lines; strided ones are neighbours of one group
    const u64 *largest;               // if it points to at least the threshold, the exponent is biased
    u64 bias_threshold;
    const uint4 *tables;              // image of the shared memory: Shape::TABLES bytes
    // Lines that this kernel leaves to a portable one: numbers near the ends of the range, NaN, infinities.
    unsigned int *left_count;
    i64 *left;
    int exponent_offset, bias;
    int factor;                     // see Factors
    unsigned int conjugate_input;   // sign bit to flip in imaginary parts
    unsigned int conjugate_output;
    int second_factor;
};

// Strided lines: boxes of neighbouring lines. Load: lines, lowest two bits of the row, column, rest of the row, group.
// Store: lines, row, column, group.
struct StridedArguments {
    TensorMap from_map, to_map;
    TunedArguments common;
};

static_assert(sizeof(TunedArguments) == 152 && sizeof(StridedArguments) == 448, "tuned.rs has the same");

namespace tuned {

using namespace arithmetic;

constexpr int WARPGROUPS = 4;
constexpr int THREADS = 128 * WARPGROUPS;
constexpr unsigned BIAS = 0x80808080u;
// Exponent fields of the largest number of a line that are handled here.
constexpr int LEAST_FIELD = 128, LARGEST_FIELD = 1900;

// `Product_`: what multiplies.
template <class Product_, int N1_, int N2_> struct Shape {
    typedef Product_ Product;
    static constexpr int N1 = N1_, N2 = N2_, N = N1 * N2;
    static constexpr int LINES = 32 / (N1 < N2 ? N1 : N2);  // of a warpgroup
    static constexpr int TILES1 = LINES * N2 / 32, TILES2 = LINES * N1 / 32;
    static constexpr int SLOTS1 = N1 / 2, SLOTS2 = N2 / 2;
    static constexpr int PART1 = Product::part_bytes(SLOTS1), PART2 = Product::part_bytes(SLOTS2);  // of 8 outputs
    static constexpr int MATRIX1 = SLOTS1 / 8 * PART1, MATRIX2 = SLOTS2 / 8 * PART2;                // bytes of one matrix
    // What the sums of every output are biased by: sum and difference of both sums, 16 bytes; for the first step's first
    // outputs 32 bytes more; in the second step, where topmost diagonals are kept apart, 8 bytes for those of every output.
    static constexpr int CONSTANTS1 = 16 * SLOTS1 + 128, CONSTANTS2 = 24 * SLOTS2;
    static constexpr int ROTATIONS = (N1 / 2 + 1) * (N2 / 2 + 1);
    static constexpr int TABLES = 2 * MATRIX1 + 2 * MATRIX2 + CONSTANTS1 + CONSTANTS2 + 16 * ROTATIONS;
    // Two buffers with a unit of lines for every warpgroup. Contiguous lines lie one after the other, strided ones side by
    // side in rows, which the copy engine exchanges as its patterns have it.
    static constexpr int PANEL = WARPGROUPS * LINES;
    static constexpr int BUFFER = 16 * PANEL * N;
    static constexpr int STATISTICS = 128;  // of a warpgroup
    static constexpr int BEGINNING = (TABLES + 1023) / 1024 * 1024;
    static constexpr int SHARED = BEGINNING + 2 * BUFFER + WARPGROUPS * STATISTICS + 8 * PANEL + 64;
};

DEVICE i64 join(unsigned low, unsigned high) { return (i64)((u64)high << 32 | low); }
DEVICE unsigned low_of(i64 x) { return (unsigned)x; }
DEVICE unsigned high_of(i64 x) { return (unsigned)((u64)x >> 32); }

// x · 2^-exponent rounded, halves away from zero: adding just less than one half and cutting off.
struct ConvertedWords {
    double scale;
    unsigned almost_half;  // its upper word
    DEVICE explicit ConvertedWords(int exponent) : scale(__hiloint2double((1023 - exponent) << 20, 0)), almost_half((unsigned)register_copy(0x3fdfffff)) {}
    DEVICE i64 word(unsigned low, unsigned high) const {
        const double half = __hiloint2double((int)sign_or(high, almost_half), (int)0xffffffff);
        return __double2ll_rz(__fma_rn(__hiloint2double((int)high, (int)low), scale, half));
    }
};

// A number taken apart: 64 bits of magnitude, the leading one topmost, and sign and exponent field as one signed integer.
// Numbers without a leading bit, zero among them, get one all the same: next to numbers that are far from the end of the range
// it is shifted out.
struct Parts {
    unsigned low, top;
    int signed_field;
    Parts() = default;
    DEVICE Parts(unsigned low, unsigned high)
        : low(low << 11), top(__funnelshift_l(low, high, 11) | 0x80000000u), signed_field((int)high >> 20) {}
    DEVICE int field() const { return signed_field & 0x7ff; }
    DEVICE unsigned rest() const { return low | top << 1; }
};

// The same words in integers.
struct ShiftedWords {
    int shift;
    DEVICE explicit ShiftedWords(int exponent) : shift(exponent + 1085) {}
    DEVICE i64 word(const Parts &x) const {
        const u64 magnitude = shift_right((u64)join(x.low, x.top), (unsigned)(shift - x.field()));
        unsigned w0, w1;
        flipped_plus_one((unsigned)magnitude, (unsigned)(magnitude >> 32), x.signed_field >> 31, w0, w1);
        return join(__funnelshift_r(w0, w1, 1), (unsigned)((int)w1 >> 1));
    }
    DEVICE i64 word(unsigned low, unsigned high) const { return word(Parts(low, high)); }
};

// The leading 21 bits of magnitudes, in units of the last of those of a number with the exponent field `field`, cut off and
// added up.
struct ConvertedBits {
    double unit;
    unsigned sum = 0;
    DEVICE explicit ConvertedBits(int field) : unit(__hiloint2double((2 * 1023 + 20 - field) << 20, 0)) {}
    DEVICE void add(unsigned low, unsigned high) {
        // 2^52 + u, cut off, has the integer u as its lower word.
        sum += (unsigned)__double2loint(__fma_rz(fabs(__hiloint2double((int)high, (int)low)), unit, 4503599627370496.0));
    }
};

// The same in integers.
struct ShiftedBits {
    unsigned top;  // the largest upper half with the field
    unsigned sum = 0;
    DEVICE explicit ShiftedBits(int field) : top((unsigned)field << 20 | 0xfffffu) {}
    DEVICE void add(unsigned, unsigned high) {
        // What is not among the leading bits of the upper half is shifted out. Numbers without a leading bit get one, which
        // is shifted out, too.
        sum += shift_right(both_or(high, 0xfffffu, 0x100000u), (top - (high & 0x7fffffffu)) >> 20);
    }
};

// Whichever means there are.
template <bool CONVERSIONS> struct Means {
    typedef ShiftedBits LeadingBits;
    typedef ShiftedWords Words;
};
template <> struct Means<true> {
    typedef ConvertedBits LeadingBits;
    typedef ConvertedWords Words;
};

// Numbers of a thread, real and imaginary parts; and the largest upper words of their magnitudes.
//
// As they are, for conversion instructions.
template <int POINTS> struct Numbers {
    uint4 number[POINTS];
    unsigned largest_re = 0, largest_im = 0;

    DEVICE void put(int i, const uint4 &x) {
        number[i] = x;
        largest_re = max(largest_re, x.y & 0x7fffffffu);
        largest_im = max(largest_im, x.w & 0x7fffffffu);
    }
    // Whether there is anything but zeros where the upper words are zeros.
    DEVICE unsigned rest_re() const {
        unsigned some = 0;
        for (int i = 0; i < POINTS; i++) some |= number[i].x;
        return some;
    }
    DEVICE unsigned rest_im() const {
        unsigned some = 0;
        for (int i = 0; i < POINTS; i++) some |= number[i].z;
        return some;
    }

    DEVICE unsigned leading_bits(int field) const {
        ConvertedBits bits(field);
#pragma unroll
        for (int i = 0; i < POINTS; i++) {
            bits.add(number[i].x, number[i].y);
            bits.add(number[i].z, number[i].w);
        }
        return bits.sum;
    }

    typedef ConvertedWords Words;
    DEVICE i64 real_word(int i, const Words &words) const { return words.word(number[i].x, number[i].y); }
    DEVICE i64 imaginary_word(int i, const Words &words) const { return words.word(number[i].z, number[i].w); }
};

// Taken apart.
template <int POINTS> struct PartedNumbers {
    Parts re[POINTS], im[POINTS];
    unsigned largest_re = 0, largest_im = 0;

    DEVICE void put(int i, const uint4 &x) {
        re[i] = Parts(x.x, x.y);
        im[i] = Parts(x.z, x.w);
        largest_re = max(largest_re, x.y & 0x7fffffffu);
        largest_im = max(largest_im, x.w & 0x7fffffffu);
    }
    DEVICE unsigned rest_re() const {
        unsigned some = 0;
        for (int i = 0; i < POINTS; i++) some |= re[i].rest();
        return some;
    }
    DEVICE unsigned rest_im() const {
        unsigned some = 0;
        for (int i = 0; i < POINTS; i++) some |= im[i].rest();
        return some;
    }

    DEVICE unsigned leading_bits(int field) const {
        unsigned sum = 0;
#pragma unroll
        for (int i = 0; i < POINTS; i++) sum += shift_right(re[i].top, field + 11 - re[i].field()) + shift_right(im[i].top, field + 11 - im[i].field());
        return sum;
    }

    typedef ShiftedWords Words;
    DEVICE i64 real_word(int i, const Words &words) const { return words.word(re[i]); }
    DEVICE i64 imaginary_word(int i, const Words &words) const { return words.word(im[i]); }
};

template <bool CONVERSIONS, int POINTS> struct NumbersOf {
    typedef PartedNumbers<POINTS> Type;
};
template <int POINTS> struct NumbersOf<true, POINTS> {
    typedef Numbers<POINTS> Type;
};

// The largest upper words of a warp's numbers; 1 where all are zeros, but not the lower ones. That it takes a second look
// then costs less than to look at all lower words always.
template <class N> DEVICE void largest_of_warp(const N &numbers, unsigned &largest_re, unsigned &largest_im) {
    largest_re = warp_maximum(numbers.largest_re);
    largest_im = warp_maximum(numbers.largest_im);
    if (largest_re == 0) largest_re = warp_maximum(numbers.rest_re()) != 0;
    if (largest_im == 0) largest_im = warp_maximum(numbers.rest_im()) != 0;
}

// The digits of a word, biased by 128 to unsigned bytes: lower and upper half. What that adds to sums is a constant of
// every output, which is taken off where sums are put together.
DEVICE void digits(i64 word, unsigned &low, unsigned &high) {
    const u64 biased = (u64)word + ((u64)BIAS << 32 | BIAS);
    low = (unsigned)biased;
    high = (unsigned)(biased >> 32);
}

// The digits of the words that a product takes: [k-step][re/im, slot].
template <int STEPS> struct Words {
    unsigned low[STEPS][4], high[STEPS][4];
};

// a·b + c.
DEVICE i64 product(int a, int b, i64 c) { return wide_product(a, b) + c; }

// Products of 8 outputs at a time, and their sums put together.
struct Int8 {
    // Cosines and sines of eight outputs one after the other; else cosines of all outputs first.
    static constexpr bool TAKES_TURNS = true;
    // From the first factor to that half: bits.
    static constexpr int TO_HALF = 12;
    // Of the matrix of 8 outputs.
    static constexpr int part_bytes(int slots) { return 3 * (slots / 8) * 1024; }

    // Words as they are.
    template <int STEPS> struct Operand {
        Words<STEPS> words;
        DEVICE explicit Operand(const Words<STEPS> &words) : words(words) {}
    };

    // Diagonals 0 to 3, and 4 to 7.
    struct Sums {
        int upper[16], lower[16];
        DEVICE void wait() { wgmma_wait(upper, lower); }
    };

    // Begins to sum up. `WHOLE`: the topmost diagonal is part of the sum; else it is kept apart.
    template <bool WHOLE, int STEPS>
    static DEVICE void multiply(Sums &sums, Operand<STEPS> &data, uint64_t matrix, const Factors &, int) {
        Words<STEPS> &words = data.words;
#pragma unroll
        for (int s = 0; s < STEPS; s++)
#pragma unroll
            for (int i = 0; i < 4; i++) compiler_fence(words.low[s][i], words.high[s][i]);
        wgmma_fence();
        wgmma_u8_n32_first(sums.upper, words.high[0], matrix);
#pragma unroll
        for (int s = 1; s < STEPS; s++) wgmma_u8_n32_more(sums.upper, words.high[s], matrix + 64 * s);
        wgmma_u8_n32_first(sums.lower, words.high[0], matrix + 64 * STEPS);
#pragma unroll
        for (int s = 1; s < STEPS; s++) wgmma_u8_n32_more(sums.lower, words.high[s], matrix + 64 * (STEPS + s));
#pragma unroll
        for (int s = 0; s < STEPS; s++) wgmma_u8_n32_more(sums.lower, words.low[s], matrix + 64 * (2 * STEPS + s));
        wgmma_commit();
    }

    // The rounded sum number e (0, 1: real parts of two outputs, 2, 3: imaginary parts), modulo 2^64 and biased by its
    // constant. The last diagonal is biased by whole units, which rounding leaves as they are.
    template <bool WHOLE> static DEVICE i64 rounded(const Sums &sums, int e, const Factors &factors) {
        const int(&upper)[16] = sums.upper, (&lower)[16] = sums.lower;
        const int l = ((lower[12 + e] + 64) >> 7) + 2 * lower[8 + e] + 512 * lower[4 + e];
        const int m = lower[e] + 256 * upper[12 + e];
        unsigned h = (unsigned)upper[8 + e] + 256u * (unsigned)upper[4 + e];
        if (WHOLE) h += 65536u * (unsigned)upper[e];
        const i64 sum = product(m, factors.first, l);
        return join(low_of(sum), high_of(sum) + 2 * h);
    }

    // What is kept apart, at weight 2^49.
    static DEVICE int top(const Sums &sums, int e) { return register_copy(sums.upper[e]); }
};

template <class Product> DEVICE Factors factors_of(const TunedArguments &args) {
    return {args.factor, args.second_factor, args.factor >> (29 - Product::TO_HALF), (i64)args.factor << Product::TO_HALF};
}

// Signed halves: the high one.
DEVICE int high_half(i64 x) { return (int)(high_of(x) + (low_of(x) >> 31)); }

// (re + i·im) · angle / 2^62: twiddle.rs.
DEVICE void rotate(i64 &re, i64 &im, const uint4 &angle, const Factors &factors) {
    const int re_high = high_half(re), im_high = high_half(im), re_low = (int)low_of(re), im_low = (int)low_of(im);
    const int real_high = (int)angle.x, real_low = (int)angle.y, imaginary_high = (int)angle.z, imaginary_low = (int)angle.w;
    // High halves are far from the ends of their range: their negatives are exact.
    const int minus_im_high = -im_high, minus_imaginary_high = -imaginary_high;
    i64 cross_re = product(re_high, real_low, factors.half), cross_im = product(re_high, imaginary_low, factors.half);
    cross_re = product(re_low, real_high, cross_re);
    cross_im = product(re_low, imaginary_high, cross_im);
    cross_re = product(minus_im_high, imaginary_low, cross_re);
    cross_im = product(im_high, real_low, cross_im);
    cross_re = product(im_low, minus_imaginary_high, cross_re);
    cross_im = product(im_low, real_high, cross_im);
    // (high << 2) + (cross >> 30): the upper word of the cross products joins the high ones, two of its bits follow. It is
    // multiplied by one, because that is one instruction and a sign in a register of its own two.
    i64 high_re = product(re_high, real_high, wide_product((int)high_of(cross_re), factors.one));
    i64 high_im = product(re_high, imaginary_high, wide_product((int)high_of(cross_im), factors.one));
    high_re = product(minus_im_high, imaginary_high, high_re);
    high_im = product(im_high, real_high, high_im);
    re = join(__funnelshift_l(low_of(cross_re), low_of(high_re), 2), __funnelshift_l(low_of(high_re), high_of(high_re), 2));
    im = join(__funnelshift_l(low_of(cross_im), low_of(high_im), 2), __funnelshift_l(low_of(high_im), high_of(high_im), 2));
}

// sum + top·2^49 as f64, where it fits 64 bits; if it is below 2^32, `usual` is cleared and the result is void.
DEVICE void to_double(i64 sum, int top, int base, unsigned flip, unsigned &low, unsigned &high, bool &usual) {
    const unsigned upper = high_of(sum) + ((unsigned)top << 17);
    const int sign = (int)upper >> 31;
    unsigned m0, m1;
    magnitude_of(low_of(sum), upper, sign, m0, m1);
    usual = usual && m1 != 0;
    round_to_double(m0, m1, sign, base, flip, low, high);
}

// The same in floating point.
DEVICE double to_double_by_conversion(i64 sum, int top) { return __ll2double_rn(join(low_of(sum), high_of(sum) + ((unsigned)top << 17))); }

// The same for any number: two exact parts, added with one rounding.
DEVICE double to_double_by_parts(i64 sum, int top) {
    // 2^52 + u has the integer u as its lower word; 2^52 + 2^31 makes signed ones unsigned.
    const double upper = __hiloint2double(0x43300000, (int)(high_of(sum) ^ 0x80000000u)) - 4503601774854144.0;
    const double lower = __hiloint2double(0x43300000, (int)low_of(sum)) - 4503599627370496.0;
    const double topmost = __hiloint2double(0x43300000, (int)((unsigned)top ^ 0x80000000u)) - 4503601774854144.0;
    return __fma_rn(__fma_rn(topmost, 131072.0, upper), 4294967296.0, lower);
}

// The same for any number.
DEVICE void to_double_any(i64 sum, int top, int base, unsigned flip, unsigned &low, unsigned &high) {
    const i64 upper = (i64)(int)high_of(sum) + ((i64)top << 17);
    unsigned w0 = low_of(sum), w1 = low_of(upper), w2 = high_of(upper);
    const int sign = (int)w2 >> 31;
    const unsigned s = (unsigned)sign;
    w0 = (w0 ^ s) - s;
    const unsigned carry = s != 0 && w0 == 0;
    w1 = (w1 ^ s) + carry;
    w2 = (w2 ^ s) + (carry && w1 == 0);
    if (w2 != 0) {
        // 8 bits fewer; what is lost is kept as one sticky bit.
        w0 = __funnelshift_r(w0, w1, 8) | ((w0 & 0xff) != 0);
        w1 = __funnelshift_r(w1, w2, 8);
        base += 8 << 20;
    } else if (w1 == 0) {
        w1 = w0;
        w0 = 0;
        base -= 32 << 20;
    }
    round_to_double(w0, w1, sign, base, flip, low, high);
    if (w1 == 0) low = high = 0;
}

// Whether numbers with these topmost diagonals fit 64 bits. The tables raise diagonals by 8192, and take that off the sums.
DEVICE bool are_usual(int top_re, int top_im) { return ((unsigned)(top_re | top_im) & ~16383u) == 0; }

// A complex output: sums and their topmost diagonals, with whichever means there are.
template <bool CONVERSIONS>
DEVICE uint4 finished(i64 re, int top_re, i64 im, int top_im, int power, double scale, unsigned flip) {
    uint4 value;
    if (CONVERSIONS) {
        double real = to_double_by_conversion(re, top_re), imaginary = to_double_by_conversion(im, top_im);
        if (!are_usual(top_re, top_im)) {
            real = to_double_by_parts(re, top_re);
            imaginary = to_double_by_parts(im, top_im);
        }
        real *= scale;
        // Zero has no sign: that is what adding zero does.
        imaginary = __fma_rn(imaginary, __hiloint2double(__double2hiint(scale) ^ (int)flip, 0), 0.0);
        value = make_uint4((unsigned)__double2loint(real), (unsigned)__double2hiint(real), (unsigned)__double2loint(imaginary),
                           (unsigned)__double2hiint(imaginary));
    } else {
        bool usual = are_usual(top_re, top_im);
        to_double(re, top_re, power, 0, value.x, value.y, usual);
        to_double(im, top_im, power, flip, value.z, value.w, usual);
        if (!usual) {
            to_double_any(re, top_re, power, 0, value.x, value.y);
            to_double_any(im, top_im, power, flip, value.z, value.w);
        }
    }
    return value;
}

}  // namespace tuned
