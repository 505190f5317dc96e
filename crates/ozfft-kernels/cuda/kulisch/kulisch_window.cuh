// The quick way: fixed-point words in a thread's registers, for terms whose exponents lie in a window. Terms outside of it,
// zeros, and what is not finite go to the warp's accumulator (kulisch.cuh), which takes everything.
#pragma once
#include "kulisch/kulisch.cuh"

namespace kulisch {

// Terms that a warp may add before its windows must be emptied.
constexpr int WINDOW_TERMS = 1 << 13;

// Carries from word to word.
template <int WORDS> struct Sum;

#ifdef __CUDACC__
template <> struct Sum<4> {
    static DEVICE void add(unsigned (&a)[4], unsigned b0, unsigned b1, unsigned b2, unsigned b3) {
        asm("add.cc.u32 %0, %0, %4; addc.cc.u32 %1, %1, %5; addc.cc.u32 %2, %2, %6; addc.u32 %3, %3, %7;"
            : "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3])
            : "r"(b0), "r"(b1), "r"(b2), "r"(b3));
    }
    static DEVICE void add(unsigned (&a)[4], const unsigned (&b)[4]) { add(a, b[0], b[1], b[2], b[3]); }
};
template <> struct Sum<5> {
    static DEVICE void add(unsigned (&a)[5], unsigned b0, unsigned b1, unsigned b2, unsigned b3, unsigned b4) {
        asm("add.cc.u32 %0, %0, %5; addc.cc.u32 %1, %1, %6; addc.cc.u32 %2, %2, %7; addc.cc.u32 %3, %3, %8; addc.u32 %4, %4, %9;"
            : "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3]), "+r"(a[4])
            : "r"(b0), "r"(b1), "r"(b2), "r"(b3), "r"(b4));
    }
    static DEVICE void add(unsigned (&a)[5], const unsigned (&b)[5]) { add(a, b[0], b[1], b[2], b[3], b[4]); }
};
template <> struct Sum<6> {
    static DEVICE void add(unsigned (&a)[6], unsigned b0, unsigned b1, unsigned b2, unsigned b3, unsigned b4, unsigned b5) {
        asm("add.cc.u32 %0, %0, %6; addc.cc.u32 %1, %1, %7; addc.cc.u32 %2, %2, %8; addc.cc.u32 %3, %3, %9; "
            "addc.cc.u32 %4, %4, %10; addc.u32 %5, %5, %11;"
            : "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3]), "+r"(a[4]), "+r"(a[5])
            : "r"(b0), "r"(b1), "r"(b2), "r"(b3), "r"(b4), "r"(b5));
    }
    static DEVICE void add(unsigned (&a)[6], const unsigned (&b)[6]) { add(a, b[0], b[1], b[2], b[3], b[4], b[5]); }
};
#else
template <int WORDS> struct Sum {
    static void add(unsigned (&a)[WORDS], const unsigned (&b)[WORDS]) {
        u64 carry = 0;
        for (int word = 0; word < WORDS; word++) {
            carry += (u64)a[word] + b[word];
            a[word] = (unsigned)carry;
            carry >>= 32;
        }
    }
    template <class... Words> static void add(unsigned (&a)[WORDS], unsigned first, Words... others) {
        const unsigned b[WORDS] = {first, others...};
        add(a, b);
    }
};
#endif

// Fixed-point words of a thread. Negative terms are added as their complement, all bits flipped; the ones that are missing
// then are counted.
template <int WORDS> struct Window {
    unsigned words[WORDS];
    unsigned negatives;

    DEVICE void clear() {
#pragma unroll
        for (unsigned &word : words) {
            word = 0;
        }
        negatives = 0;
    }

    // Puts in the ones that are missing.
    DEVICE void complete() {
        unsigned count[WORDS] = {negatives};
        Sum<WORDS>::add(words, count);
        negatives = 0;
    }

    // The sum of all lanes' windows, in every lane: the shuffle merge.
    DEVICE void merge_lanes() {
        complete();
#pragma unroll
        for (int mask = 16; mask > 0; mask /= 2) {
            unsigned other[WORDS];
#pragma unroll
            for (int word = 0; word < WORDS; word++) {
                other[word] = shuffle_xor(words[word], mask);
            }
            Sum<WORDS>::add(words, other);
        }
    }

    // Moves the sum of all lanes to the warp's accumulator, where it counts as one deposit.
    DEVICE void empty_into(int *limbs, int position) {
        merge_lanes();
        if (lane_number() == 0) {
            deposit(limbs, words, position);
        }
        warp_barrier();
        clear();
    }
};

// Numbers whose exponent fields are from `low` on, SPAN many.
struct NumberWindow : Window<4> {
    static constexpr unsigned SPAN = 60;
    // A fraction, moved; a sign; so many terms.
    static_assert(53 + (SPAN - 1) + 1 + 13 <= 128 && WINDOW_TERMS <= 1 << 13, "sums fit");
    static constexpr unsigned LIMIT = SPAN << 21;
    // Exponents above the largest number that the window was chosen for: the next may be larger.
    static constexpr unsigned SLACK = 4;

    // The lowest field of a window for numbers up to this field; neither subnormal numbers nor infinities are in it.
    static DEVICE unsigned low_for(unsigned highest) {
        const unsigned low = highest + SLACK < SPAN ? 1 : highest + SLACK - (SPAN - 1);
        return low < 2047 - SPAN ? low : 2047 - SPAN;
    }
    // How far above the window's lowest exponent a number is, times 2^21 and something below; not below LIMIT for numbers
    // that are not in the window.
    static DEVICE unsigned distance(unsigned high, unsigned low) { return 2 * high - (low << 21); }
    // Place of the window's lowest bit in the accumulator.
    static DEVICE int position(unsigned low) { return (int)low - 1075 - LOWEST; }

    DEVICE void add(unsigned low_word, unsigned high_word, unsigned distance) {
        const unsigned sign = (unsigned)((int)high_word >> 31), shift = distance >> 21;
        const unsigned m1 = arithmetic::both_or(high_word, 0xfffff, 0x100000) ^ sign, m0 = low_word ^ sign;
        const unsigned w0 = __funnelshift_l(sign, m0, shift), w1 = __funnelshift_l(m0, m1, shift);
        const unsigned w2 = __funnelshift_l(m1, sign, shift);
        const bool far = distance >= 32u << 21;
        Sum<4>::add(words, far ? sign : w0, far ? w0 : w1, far ? w1 : w2, far ? w2 : sign);
        negatives -= sign;
    }
};

// Products whose exponent fields have sums from `low` on, SPAN many: 64, or 32 for less work.
template <unsigned SPAN_> struct Products : Window<SPAN_ == 64 ? 6 : 5> {
    static constexpr unsigned SPAN = SPAN_;
    static_assert((SPAN == 64 && 106 + 63 + 1 + 13 <= 192) || (SPAN == 32 && 106 + 31 + 1 + 13 <= 160), "sums fit");
    static constexpr unsigned SLACK = 6;
    // What no distance is.
    static constexpr unsigned OUTSIDE = 0x80000000;

    static DEVICE unsigned low_for(unsigned highest) { return highest + SLACK < SPAN + 1 ? 2 : highest + SLACK - (SPAN - 1); }
    static DEVICE int position(unsigned low) { return (int)low - 2 * 1075 - LOWEST; }

    // A factor's field less one, times 2^21 and something below: not below FIELDS for zeros, subnormal numbers, infinities and
    // NaN.
    static DEVICE unsigned field(unsigned high) { return 2 * high - (1u << 21); }
    static constexpr unsigned FIELDS = 2046u << 21;
    // How far above the lowest exponent a product of factors with these fields is.
    static DEVICE unsigned distance(unsigned left, unsigned right, unsigned low) {
        const unsigned distance = (left >> 21) + (right >> 21) + 2 - low;
        return max(left, right) < FIELDS ? distance : OUTSIDE;
    }
    static DEVICE unsigned fraction(unsigned high) { return arithmetic::both_or(high, 0xfffff, 0x100000); }

    DEVICE void add(unsigned a0, unsigned a1, unsigned b0, unsigned b1, unsigned distance) {
        add_fractions(a0, fraction(a1), b0, fraction(b1), a1 ^ b1, distance);
    }

    // The product of fractions of 53 bits, with the sign of `signs`.
    DEVICE void add_fractions(unsigned a0, unsigned a1, unsigned b0, unsigned b1, unsigned signs, unsigned distance) {
        const unsigned sign = (unsigned)((int)signs >> 31);
        unsigned p[4];
        exact_product(a0, a1, b0, b1, p);
#pragma unroll
        for (unsigned &word : p) {
            word ^= sign;
        }
        const unsigned w0 = __funnelshift_l(sign, p[0], distance), w1 = __funnelshift_l(p[0], p[1], distance);
        const unsigned w2 = __funnelshift_l(p[1], p[2], distance), w3 = __funnelshift_l(p[2], p[3], distance);
        const unsigned w4 = __funnelshift_l(p[3], sign, distance);
        if constexpr (SPAN == 64) {
            const bool far = distance >= 32;
            Sum<6>::add(this->words, far ? sign : w0, far ? w0 : w1, far ? w1 : w2, far ? w2 : w3, far ? w3 : w4, far ? w4 : sign);
        } else {
            Sum<5>::add(this->words, w0, w1, w2, w3, w4);
        }
        this->negatives -= sign;
    }
};

using ProductWindow = Products<64>;
using NarrowProductWindow = Products<32>;

DEVICE unsigned low_word(u64 bits) { return (unsigned)bits; }
DEVICE unsigned high_word(u64 bits) { return (unsigned)(bits >> 32); }

// What was beyond a window that products were added to without a look.
struct Beyond {
    unsigned farthest = 0, highest = 0, lowest = ~0u;

    template <class W> DEVICE bool held() const { return farthest < W::SPAN && highest < 2047u << 21 && lowest >= 1u << 21; }
};

// Adds a product without a decision: zeros add nothing, and what is not in the window anything.
template <class W> DEVICE void add_unseen(W &window, u64 left, u64 right, unsigned low, Beyond &beyond) {
    const unsigned a0 = low_word(left), a1 = high_word(left), b0 = low_word(right), b1 = high_word(right);
    const unsigned a = 2 * a1, b = 2 * b1;
    const bool zero = (a | a0) == 0 || (b | b0) == 0;
    const unsigned distance = (a >> 21) + (b >> 21) - low;
    beyond.highest = max(beyond.highest, max(a, b));
    if (!zero) {
        const unsigned lower = a < b ? a : b;
        beyond.lowest = lower < beyond.lowest ? lower : beyond.lowest;
        beyond.farthest = max(beyond.farthest, distance);
    }
    window.add_fractions(zero ? 0 : a0, zero ? 0 : W::fraction(a1), b0, W::fraction(b1), a1 ^ b1, distance);
}

// What a product that is known to be finite says of the sign of a sum of zero.
DEVICE unsigned found_in_zero_sum(u64 left, u64 right) {
    const bool zero = (left & ~SIGN_BIT) == 0 || (right & ~SIGN_BIT) == 0;
    return zero && is_negative(left ^ right) ? ANY : NUMBER;
}

// Adds a product wherever it fits; returns what was found. Any lanes at once.
DEVICE unsigned add_product(ProductWindow &window, unsigned low, int *limbs, u64 left, u64 right) {
    const unsigned a1 = high_word(left), b1 = high_word(right);
    const unsigned distance = ProductWindow::distance(ProductWindow::field(a1), ProductWindow::field(b1), low);
    if (distance < ProductWindow::SPAN) {
        window.add(low_word(left), a1, low_word(right), b1, distance);
        return NUMBER;
    }
    return deposit_product(limbs, left, right);
}

// The sum of the fields of a product's factors, for the choice of a window: 0 where there is nothing to choose it for.
DEVICE unsigned product_field(u64 left, u64 right) {
    const unsigned a = field_of(left), b = field_of(right);
    return a == 0 || b == 0 || a == 0x7ff || b == 0x7ff ? 0 : a + b;
}

}  // namespace kulisch
