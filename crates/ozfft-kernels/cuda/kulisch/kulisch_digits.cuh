// Products by digits: the least work for a product where both factors are near the others of their kind.
//
// A factor whose exponent is one of 28 is an integer of 81 bits, its sign included, over the lowest of them: two digits of 27
// bits and a third with the sign. The nine products of two factors' digits are added up by weight in five sums of 64 bits, each
// by the one instruction that multiplies 32 bits and adds 64: no product is shifted, and no carry moves before 128 products are
// there. Factors that take part in many products are cut into digits once.
#pragma once
#include "kulisch/kulisch_window.cuh"

namespace kulisch {

constexpr int DIGIT_BITS = 27;
constexpr unsigned DIGIT_MASK = (1u << DIGIT_BITS) - 1;

struct Digits {
    int low, middle, high;
};

// Factors whose exponent fields are from `low` on, SPAN many.
struct FactorWindow {
    static constexpr unsigned SPAN = 28;
    static_assert(53 + (SPAN - 1) + 1 == 3 * DIGIT_BITS, "fractions, moved, and a sign");
    static constexpr unsigned SLACK = 4;

    // The lowest field of a window for factors up to this field; neither subnormal numbers nor infinities are in it.
    static DEVICE unsigned low_for(unsigned highest) {
        const unsigned low = highest + SLACK < SPAN ? 1 : highest + SLACK - (SPAN - 1);
        return low < 2047 - SPAN ? low : 2047 - SPAN;
    }
    static DEVICE int position(unsigned left_low, unsigned right_low) { return (int)(left_low + right_low) - 2 * 1075 - LOWEST; }

    // The digits of a factor, if it is zero or in the window; `farthest` is not below SPAN if it is neither.
    static DEVICE Digits digits(unsigned low_word, unsigned high_word, unsigned low, unsigned &farthest) {
        const bool zero = ((high_word & 0x7fffffff) | low_word) == 0;
        // From the window's highest exponent downwards.
        const unsigned below = zero ? 0 : low + (SPAN - 1) - (high_word >> 20 & 0x7ff);
        farthest = max(farthest, below);
        const unsigned fraction = (high_word & 0xfffff) | (zero ? 0 : 0x100000);
        unsigned m0, m1;
        arithmetic::magnitude_of(low_word, fraction, (int)high_word >> 31, m0, m1);
        // Without the lowest digit.
        const unsigned upper0 = __funnelshift_r(m0, m1, below), upper1 = (unsigned)((int)m1 >> (below % 32));
        const unsigned lowest = arithmetic::shift_left(m0, SPAN - 1 - below);
        return {(int)(lowest & DIGIT_MASK), (int)(upper0 & DIGIT_MASK), (int)__funnelshift_l(upper0, upper1, 32 - DIGIT_BITS)};
    }
};
static_assert(FactorWindow::SPAN - 1 == DIGIT_BITS, "the lowest exponent is a digit below the highest");

// sum + a·b, in halves that carry: of anything else the compiler makes products without sums and additions of three numbers.
DEVICE void add_product(i64 &sum, int a, int b) {
#ifdef __CUDACC__
    asm("{ .reg .u32 l, h; mov.b64 {l, h}, %0; mad.lo.cc.u32 l, %1, %2, l; madc.hi.s32 h, %1, %2, h; mov.b64 %0, {l, h}; }"
        : "+l"(sum)
        : "r"(a), "r"(b));
#else
    sum += (i64)a * b;
#endif
}

// Sums of products of digits by their weight.
struct DigitSums {
    i64 sums[5];
    // Products that fit: digits are below 2^27 and the highest at most 2^26, so one adds at most 2^55 to a sum.
    static constexpr int MOST = 128;

    DEVICE void clear() {
#pragma unroll
        for (i64 &sum : sums) {
            sum = 0;
        }
    }

    DEVICE void add(const Digits &a, const Digits &b) {
        add_product(sums[0], a.low, b.low);
        add_product(sums[1], a.low, b.middle);
        add_product(sums[1], a.middle, b.low);
        add_product(sums[2], a.low, b.high);
        add_product(sums[2], a.middle, b.middle);
        add_product(sums[2], a.high, b.low);
        add_product(sums[3], a.middle, b.high);
        add_product(sums[3], a.high, b.middle);
        add_product(sums[4], a.high, b.high);
    }

    // Adds what is there to words, which hold 2^29 products, and begins anew.
    DEVICE void empty_into(unsigned (&words)[6]) {
        unsigned digits[4];
        i64 carry = 0;
#pragma unroll
        for (int place = 0; place < 4; place++) {
            carry += sums[place];
            digits[place] = (unsigned)carry & DIGIT_MASK;
            carry >>= DIGIT_BITS;
        }
        carry += sums[4];
        const unsigned high0 = (unsigned)carry, high1 = (unsigned)(carry >> 32);
        static_assert(DIGIT_BITS == 27, "places of digits: 0, 27, 54, 81, 108");
        Sum<6>::add(words, digits[0] | digits[1] << 27, digits[1] >> 5 | digits[2] << 22, digits[2] >> 10 | digits[3] << 17,
                    digits[3] >> 15 | high0 << 12, __funnelshift_l(high0, high1, 12), (unsigned)((int)high1 >> 20));
        clear();
    }
};

}  // namespace kulisch
