// Lines of f64 in words of three to seven digits, and as many diagonals of products or one more: `DoubleFewer<DIGITS, DIAGONALS>`. Numbers, and which lines are taken, are as
// of `Double`: with fewer bits a line's unit is larger, so that it is farther from the lower end of the range, and results are as large
// as those of `Double`. docs/gpu-template.md has the limits.
#pragma once
#include "block/bailey_block.cuh"

namespace bailey {

// An output times 2^exponent. |sum| < 2^(WORD_BITS + 6): a last step has up to 64 points. So up to six digits sums are exact in f64, and of seven they
// are rounded once.
template <int WORD_BITS, bool CONVERSIONS> struct FewerFinish {
    // Without conversion instructions sums are moved up, lest small ones take the way for rare cases.
    static constexpr int UP = CONVERSIONS ? 0 : 56 - WORD_BITS;
    static constexpr bool EXACT = WORD_BITS + 6 <= 51;
    int power;
    double scale;
    DEVICE explicit FewerFinish(int exponent) {
        power = (exponent - UP + 1023 + 63 - 1) << 20;
        scale = CONVERSIONS ? __hiloint2double((1023 + exponent) << 20, 0) : 0.0;
    }
    // Zero has no sign: that is what adding zero does.
    DEVICE uint2 part(i64 sum, unsigned flip) const {
        // 1.5·2^52 + x has the integer x as its last bits.
        const double whole = EXACT ? __hiloint2double((int)(high_of(sum) + 0x43380000u), (int)low_of(sum)) - 6755399441055744.0 : __ll2double_rn(sum);
        const double x = __fma_rn(whole, __hiloint2double(__double2hiint(scale) ^ (int)flip, 0), 0.0);
        return make_uint2((unsigned)__double2loint(x), (unsigned)__double2hiint(x));
    }
    // Nothing is kept apart from sums.
    DEVICE uint4 operator()(i64 re, int, i64 im, int, unsigned flip) const {
        if constexpr (CONVERSIONS) {
            const uint2 real = part(re, 0), imaginary = part(im, flip);
            return make_uint4(real.x, real.y, imaginary.x, imaginary.y);
        } else {
            return finished<false>((i64)((u64)re << UP), 0, (i64)((u64)im << UP), 0, power, 0.0, flip);
        }
    }
    // The real part alone.
    DEVICE uint2 real(i64 re, int) const {
        if constexpr (CONVERSIONS) return part(re, 0);
        uint2 value;
        bool usual = true;
        const i64 moved = (i64)((u64)re << UP);
        to_double(moved, 0, power, 0, value.x, value.y, usual);
        if (!usual) to_double_any(moved, 0, power, 0, value.x, value.y);
        return value;
    }
};

template <int DIGITS_, int DIAGONALS_ = DIGITS_> struct DoubleFewer : Double {
    // Of outputs that become words the last bits are not looked at that no word of the next pass has.
    static constexpr int DIGITS = DIGITS_, DIAGONALS = DIAGONALS_, WORD_BITS = 8 * DIGITS - 3, UNSEEN = WORD_BITS - 21;
    typedef FactsOfDoubles<WORD_BITS> Facts;
    template <bool CONVERSIONS> using Finish = FewerFinish<WORD_BITS, CONVERSIONS>;
};

}  // namespace bailey
