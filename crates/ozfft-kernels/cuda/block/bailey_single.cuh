// Lines of f32 in words of five digits: `Single`. No number is converted by an instruction for that: f32 has 24 bits, and sums with
// constants whose last place is 1, or 2^16, cut numbers into integers and put integers together, exactly. So kernels with and without
// conversion instructions are the same. docs/gpu-template.md says where the limits are from.
#pragma once
#include "block/bailey_block.cuh"

namespace bailey {

// Floating-point numbers whose last place is 1 or 2^16.
constexpr float UNIT_PLACE = 8388608.0f, SIGNED_UNIT_PLACE = 12582912.0f;  // 2^23, 1.5·2^23
constexpr float PLACE_16 = 824633720832.0f;                               // 1.5·2^39
constexpr int UNIT_PLACE_BITS = 0x4b000000, SIGNED_UNIT_PLACE_BITS = 0x4b400000, PLACE_16_BITS = 0x53400000;

DEVICE float power_of_two(int exponent) { return from_bits((unsigned)(exponent + 127) << 23); }

// As LineFacts, of the bits of f32.
struct SingleFacts {
    static constexpr bool IS_DOUBLE = false;
    unsigned largest_re, largest_im, sum;
    static constexpr int WORD_BITS = 37;
    // Exponents (of the leading bit) of the largest number of a line that are handled here, and of the unit of results: far enough from
    // the ends of the range that a scale between axes of up to 2^±64 stays exact.
    static constexpr int LEAST = -60, LARGEST = 60, LEAST_UNIT = -85, LARGEST_UNIT = 80;
    DEVICE bool zero() const { return (largest_re | largest_im) == 0; }
    DEVICE int leading() const { return (int)((largest_re > largest_im ? largest_re : largest_im) >> 23) - 127; }
    DEVICE bool handled() const { return leading() >= LEAST && leading() <= LARGEST; }
    DEVICE int exponent() const { return handled() ? leading() - 20 + (32 - leading_zeros_of_half(sum)) - WORD_BITS : 0; }
    DEVICE int for_words() const { return exponent(); }
    // What makes the leading bit of the largest number that of 2^20.
    DEVICE float to_leading_bits() const { return power_of_two(20 - (handled() ? leading() : 0)); }
    DEVICE bool moderate() const { return handled() || zero(); }
    DEVICE bool taken(int common) const {
        const int unit = exponent() + common;
        return moderate() && unit >= LEAST_UNIT && unit <= LARGEST_UNIT;
    }
};

// Whether both passes of transforms are taken in one launch that have such a column, whatever the rows are that cross it
// (bailey_passes.cuh). The unit of a column is at least 2^(leading - 36), a word that is not zero one unit, and the unit of a row 2^-36 of
// its largest word or more: results are multiples of 2^-120, far enough from the end of the range that scales between axes of 2^-29 stay
// exact (executor/cuda/select/tuned.rs). At the other end numbers grow by 13 bits, and the unit of a row stays below 2^80.
DEVICE bool takes_column(const SingleFacts &facts, int common) {
    return facts.zero() || (facts.handled() && facts.leading() + common >= -48 && facts.leading() + common <= 96);
}

template <int COUNT> struct SingleNumbers {
    float re[COUNT], im[COUNT];
    unsigned largest_re = 0, largest_im = 0;

    DEVICE void put(int i, const uint2 &x) {
        re[i] = from_bits(x.x);
        im[i] = from_bits(x.y);
        largest_re = max(largest_re, x.x & 0x7fffffffu);
        largest_im = max(largest_im, x.y & 0x7fffffffu);
    }
    // The bits of the largest numbers are all there is.
    DEVICE unsigned rest_re() const { return 0; }
    DEVICE unsigned rest_im() const { return 0; }

    DEVICE unsigned leading_bits(const SingleFacts &facts) const {
        return leading_bits(re, facts) + leading_bits(im, facts);
    }
    // The leading bits of one part, cut off and added up.
    static DEVICE unsigned leading_bits(const float (&part)[COUNT], const SingleFacts &facts) {
        const float to_units = facts.to_leading_bits();
        unsigned sum = 0;
#pragma unroll
        for (int i = 0; i < COUNT; i++) sum += (unsigned)bits_of(fused_towards_zero(fabsf(part[i]), to_units, UNIT_PLACE));
        return sum - (unsigned)COUNT * UNIT_PLACE_BITS;
    }

    // x·2^-exponent rounded, halves away from zero. Adding one half, or just less to negative numbers, and cutting off downwards rounds
    // like this; and cutting off downwards can be done in turns: high·2^16 + low.
    struct Words {
        float scale;
        DEVICE explicit Words(int exponent) : scale(power_of_two(-exponent)) {}
        DEVICE i64 operator()(float x) const {
            const float half = from_bits(0x3f000000u + (unsigned)(bits_of(x) >> 31));
            const float value = fused_downwards(x, scale, half);
            const float upper = sum_downwards(value, PLACE_16);
            const float rest = sum_downwards(value, PLACE_16 - upper);
            return product(bits_of(upper) - PLACE_16_BITS, 65536, bits_of(sum_downwards(rest, UNIT_PLACE)) - UNIT_PLACE_BITS);
        }
    };
    DEVICE i64 real_word(int i, const Words &words) const { return words(re[i]); }
    DEVICE i64 imaginary_word(int i, const Words &words) const { return words(im[i]); }
};

// Of two real lines, or of two real columns, apart (bailey_real.cuh).
template <int COUNT> DEVICE void leading_bits(const SingleNumbers<COUNT> &numbers, const PairFacts<SingleFacts> &facts, unsigned &a, unsigned &b) {
    a = numbers.leading_bits(numbers.re, facts.a);
    b = numbers.leading_bits(numbers.im, facts.b);
}

// An output times 2^unit, rounded once: 21 bits and what is above them become exact numbers, and one fused operation adds them. A
// negative scale makes the opposite number, and never a negative zero.
struct SingleFinish {
    int unit;
    DEVICE explicit SingleFinish(int exponent) : unit(exponent) {}
    DEVICE unsigned part(i64 sum, int top, unsigned flip) const {
        // |sum| < 2^43: words have 37 bits, and a last step has up to 64 points.
        const i64 whole = sum + (i64)((u64)(i64)top << 49);
        const float lower = from_bits((unsigned)(unit + 127) << 23 ^ flip), upper = from_bits((unsigned)(unit + 127 + 21) << 23 ^ flip);
        const float high = from_bits((unsigned)((int)(whole >> 21) + SIGNED_UNIT_PLACE_BITS)) - SIGNED_UNIT_PLACE;
        const float low = from_bits((low_of(whole) & 0x1fffffu) | UNIT_PLACE_BITS);
        return (unsigned)bits_of(fused(high, upper, fused(low, lower, -(UNIT_PLACE * lower))));
    }
    DEVICE uint2 operator()(i64 re, int top_re, i64 im, int top_im, unsigned flip) const { return make_uint2(part(re, top_re, 0), part(im, top_im, flip)); }
    // The real part alone.
    DEVICE unsigned real(i64 re, int top) const { return part(re, top, 0); }
};

// Numbers of f32.
struct Single : OnInt8 {
    static constexpr int DIGITS = 5, DIAGONALS = 5, WORD_BITS = SingleFacts::WORD_BITS, UNSEEN = 16;
    typedef uint2 Element;
    typedef unsigned Real;
    typedef SingleFacts Facts;
    template <bool, int COUNT> using Numbers = SingleNumbers<COUNT>;
    template <bool> using Finish = SingleFinish;
    static DEVICE bool takes(int leading, int unit) {
        return leading >= SingleFacts::LEAST && leading <= SingleFacts::LARGEST && unit >= SingleFacts::LEAST_UNIT && unit <= SingleFacts::LARGEST_UNIT;
    }
    static DEVICE uint2 zero() { return make_uint2(0, 0); }
    static DEVICE void flip(uint2 &x, unsigned sign) { x.y ^= sign; }
    static DEVICE uint2 kept(const uint2 &x, unsigned re, unsigned im) { return make_uint2(x.x & re, x.y & im); }
    static DEVICE unsigned real_zero() { return 0; }
    static DEVICE unsigned real_kept(unsigned x, unsigned mask) { return x & mask; }
    static DEVICE uint2 of_parts(unsigned re, unsigned im) { return make_uint2(re, im); }
    static DEVICE bool is_imaginary_finite(const uint2 &x) { return (x.y & 0x7f800000u) != 0x7f800000u; }
};

}  // namespace bailey
