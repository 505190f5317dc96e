// The full-range accumulator of the crate `kulisch`, for a warp: a fixed-point number that holds every sum of doubles and of
// products of doubles exactly, and the one rounding of its value. Integers only: doubles are read as their bits.
//
// A limb carries 16 bits in a register of 32, so deposits are plain additions to shared memory, in any order, by all lanes at
// once; carries are resolved when a warp has made as many as fit. Every lane has nine limbs then, and hands its carry to the
// next lane. Nothing is rounded before the end, so whatever way a term takes, the result has the same bits.
#pragma once
#include "numerics/arithmetic.cuh"

namespace kulisch {

// Exponent of the lowest bit: the product of the two smallest doubles.
constexpr int LOWEST = -2148;
constexpr int LIMB_BITS = 16;
constexpr int LANE_LIMBS = 9;
constexpr int LIMBS = 32 * LANE_LIMBS;
static_assert(LIMBS * LIMB_BITS >= 2148 + 2048 + 64 + 1, "2^64 products below 2^2048, and a sign");
// Deposits until carries must be resolved: each adds less than 2^16 to a limb that began below 2^16.
constexpr int MOST_PENDING = (1 << 15) - 2;
// Bytes that an accumulator takes in shared memory.
constexpr int ACCUMULATOR_BYTES = 4 * LIMBS;

// What cannot be seen from the digits, as bits that are joined by `or`.
enum Found : unsigned {
    NOT_A_NUMBER = 1,
    POSITIVE_INFINITY = 2,
    NEGATIVE_INFINITY = 4,
    ANY = 8,
    ANY_BUT_NEGATIVE_ZERO = 16,
    NUMBER = ANY | ANY_BUT_NEGATIVE_ZERO,
    // The accumulator was used.
    DEPOSITED = 32,
};

constexpr u64 SIGN_BIT = 1ull << 63;
constexpr u64 INFINITY_BITS = 0x7ffull << 52;
constexpr u64 NAN_BITS = 0xfffull << 51;
constexpr u64 FRACTION_MASK = (1ull << 52) - 1;

DEVICE int lane_number() { return thread_number() % 32; }
DEVICE unsigned field_of(u64 bits) { return (unsigned)(bits >> 52) & 0x7ff; }
DEVICE bool is_negative(u64 bits) { return (i64)bits < 0; }
// The integer and the exponent, counted from LOWEST, that the magnitude of a finite number is the product of.
DEVICE u64 fraction_of(u64 bits) { return (bits & FRACTION_MASK) | (field_of(bits) != 0 ? 1ull << 52 : 0); }
DEVICE int exponent_of(u64 bits) {
    const int field = (int)field_of(bits);
    return (field != 0 ? field : 1) - 1075 - LOWEST;
}

// NaN or an infinity, where that is the result.
DEVICE bool not_finite(unsigned found, u64 &bits) {
    const bool up = (found & POSITIVE_INFINITY) != 0, down = (found & NEGATIVE_INFINITY) != 0;
    bits = (found & NOT_A_NUMBER) != 0 || (up && down) ? NAN_BITS : up ? INFINITY_BITS : INFINITY_BITS | SIGN_BIT;
    return (found & (NOT_A_NUMBER | POSITIVE_INFINITY | NEGATIVE_INFINITY)) != 0;
}
// The zero that a sum of zero is.
DEVICE u64 zero_of(unsigned found) { return (found & NUMBER) == ANY ? SIGN_BIT : 0; }

// The nearest double, ties to even, to ±bits · 2^(exponent - 63), where the highest bit of `bits` is set and `sticky` says
// whether anything is below: rounding.rs of the crate.
DEVICE u64 rounded(u64 bits, int exponent, bool sticky, bool negative) {
    const u64 sign = negative ? SIGN_BIT : 0;
    if (exponent > 1023) {
        return sign | INFINITY_BITS;
    }
    const int last = exponent - 52 > -1074 ? exponent - 52 : -1074;
    // 11, and more at the lower end of the range: what is below the smallest number loses all bits.
    const int dropped = last - (exponent - 63);
    u64 kept = 0;
    bool half = false, rest = true;
    if (dropped < 64) {
        kept = bits >> dropped;
        half = (bits >> (dropped - 1) & 1) != 0;
        rest = bits << (65 - dropped) != 0;
    } else if (dropped == 64) {
        half = true;
        rest = bits << 1 != 0;
    }
    const bool up = half && (rest || sticky || (kept & 1) != 0);
    // A fraction with its leading bit adds one to the exponent field below it, and so does a carry.
    return sign | (((u64)(last + 1074) << 52) + kept + (up ? 1 : 0));
}

// Adds value · 2^position, from LOWEST on, to an accumulator: 32-bit words, the last with the sign. Any lanes at once.
template <int WORDS> DEVICE void deposit(int *limbs, const unsigned (&words)[WORDS], int position) {
    const unsigned shift = (unsigned)position % LIMB_BITS;
    int *at = limbs + position / LIMB_BITS;
    const unsigned sign = (unsigned)((int)words[WORDS - 1] >> 31);
    unsigned below = 0;
#pragma unroll
    for (int word = 0; word <= WORDS; word++) {
        const unsigned own = word < WORDS ? words[word] : sign;
        const unsigned moved = __funnelshift_l(below, own, shift);
        below = own;
        // What is above the last word has fewer than 16 bits and the sign.
        const int low = word < WORDS ? (int)(moved & 0xffff) : (int)moved, high = word < WORDS ? (int)(moved >> 16) : 0;
        if (low != 0) {
            atomic_add(at + 2 * word, low);
        }
        if (high != 0) {
            atomic_add(at + 2 * word + 1, high);
        }
    }
}

// Adds a number; returns what was found. Any lanes at once.
DEVICE unsigned deposit_number(int *limbs, u64 bits) {
    if (field_of(bits) == 0x7ff) {
        return NUMBER | ((bits & FRACTION_MASK) != 0 ? NOT_A_NUMBER : is_negative(bits) ? NEGATIVE_INFINITY : POSITIVE_INFINITY);
    }
    const u64 fraction = fraction_of(bits);
    if (fraction == 0) {
        return is_negative(bits) ? ANY : NUMBER;
    }
    const u64 value = is_negative(bits) ? 0 - fraction : fraction;
    const unsigned words[2] = {(unsigned)value, (unsigned)(value >> 32)};
    deposit(limbs, words, exponent_of(bits));
    return NUMBER | DEPOSITED;
}

// The exact product of two integers of up to 53 bits.
DEVICE void exact_product(unsigned a0, unsigned a1, unsigned b0, unsigned b1, unsigned (&product)[4]) {
    // The upper words have 21 bits: sums of two products and a carry fit.
    const u64 low = (u64)a0 * b0;
    const u64 middle = (u64)a1 * b0 + (low >> 32);
    const u64 sum = (u64)a0 * b1 + middle;
    const u64 high = (u64)a1 * b1 + (sum >> 32);
    product[0] = (unsigned)low;
    product[1] = (unsigned)sum;
    product[2] = (unsigned)high;
    product[3] = (unsigned)(high >> 32);
}

// Adds the exact product of two numbers; returns what was found. Any lanes at once.
DEVICE unsigned deposit_product(int *limbs, u64 left, u64 right) {
    const bool negative = is_negative(left ^ right);
    const u64 a = fraction_of(left), b = fraction_of(right);
    if (field_of(left) == 0x7ff || field_of(right) == 0x7ff) {
        // An infinity has no fraction, and is not zero times anything.
        const bool nan = (left & ~SIGN_BIT) > INFINITY_BITS || (right & ~SIGN_BIT) > INFINITY_BITS || a == 0 || b == 0;
        return NUMBER | (nan ? NOT_A_NUMBER : negative ? NEGATIVE_INFINITY : POSITIVE_INFINITY);
    }
    if (a == 0 || b == 0) {
        return negative ? ANY : NUMBER;
    }
    unsigned words[4];
    exact_product((unsigned)a, (unsigned)(a >> 32), (unsigned)b, (unsigned)(b >> 32), words);
    if (negative) {
        unsigned carry = 1;
#pragma unroll
        for (unsigned &word : words) {
            word = ~word + carry;
            carry = carry != 0 && word == 0 ? 1 : 0;
        }
    }
    deposit(limbs, words, exponent_of(left) + exponent_of(right) + LOWEST);
    return NUMBER | DEPOSITED;
}

// The accumulator of this warp, among those at the beginning of the block's shared memory.
DEVICE int *own_accumulator() { return reinterpret_cast<int *>(shared_memory()) + LIMBS * (thread_number() / 32); }

// Empties the warp's accumulator.
DEVICE void clear(int *limbs) {
    for (int limb = lane_number(); limb < LIMBS; limb += 32) {
        limbs[limb] = 0;
    }
    warp_barrier();
}

// The limbs of a lane.
struct OwnLimbs {
    int limbs[LANE_LIMBS];

    DEVICE void load(const int *from) {
        warp_barrier();
#pragma unroll
        for (int k = 0; k < LANE_LIMBS; k++) {
            limbs[k] = from[LANE_LIMBS * lane_number() + k];
        }
    }

    DEVICE void store(int *to) const {
#pragma unroll
        for (int k = 0; k < LANE_LIMBS; k++) {
            to[LANE_LIMBS * lane_number() + k] = limbs[k];
        }
        warp_barrier();
    }

    // Takes carries to where they belong: all limbs but the highest of all, which has the sign, hold 16 bits afterwards.
    // Every round settles a further lane at least, and two are enough almost always.
    DEVICE void resolve() {
        const int lane = lane_number();
        int carry = 0;
        do {
#pragma unroll
            for (int k = 0; k < LANE_LIMBS; k++) {
                const int value = limbs[k] + carry;
                const bool highest = k == LANE_LIMBS - 1 && lane == 31;
                limbs[k] = highest ? value : value & 0xffff;
                carry = highest ? 0 : value >> LIMB_BITS;
            }
            carry = shuffle_up(carry, 1);
            carry = lane == 0 ? 0 : carry;
        } while (warp_any(carry != 0));
    }

    // Makes the value its magnitude; whether it was negative.
    DEVICE bool take_magnitude() {
        const bool negative = shuffle(limbs[LANE_LIMBS - 1], 31) < 0;
        if (negative) {
#pragma unroll
            for (int &limb : limbs) {
                limb = -limb;
            }
            resolve();
        }
        return negative;
    }
};

// Resolves the carries of the warp's accumulator.
DEVICE void resolve(int *limbs) {
    OwnLimbs own;
    own.load(limbs);
    own.resolve();
    own.store(limbs);
}

// The warp's accumulator, rounded to the nearest double; all lanes have the same `found` and get the same result. What the
// accumulator holds is lost.
DEVICE u64 round_accumulator(int *limbs, unsigned found) {
    u64 special;
    if (not_finite(found, special)) {
        return special;
    }
    OwnLimbs own;
    own.load(limbs);
    own.resolve();
    const bool negative = own.take_magnitude();
    own.store(limbs);
    int top = -1;
#pragma unroll
    for (int k = 0; k < LANE_LIMBS; k++) {
        top = own.limbs[k] != 0 ? LANE_LIMBS * lane_number() + k : top;
    }
    top = (int)warp_maximum((unsigned)(top + 1)) - 1;
    if (top < 0) {
        return zero_of(found);
    }
    // The highest five limbs have the 64 highest bits.
    u64 high = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        high = high << LIMB_BITS | (top >= k ? (u64)(unsigned)limbs[top - k] : 0);
    }
    const u64 fifth = top >= 4 ? (u64)(unsigned)limbs[top - 4] : 0;
    const int zeros = leading_zeros(high);
    const u64 bits = high << zeros | fifth << zeros >> LIMB_BITS;
    bool below = (fifth << zeros & 0xffff) != 0;
#pragma unroll
    for (int k = 0; k < LANE_LIMBS; k++) {
        below = below || (LANE_LIMBS * lane_number() + k < top - 4 && own.limbs[k] != 0);
    }
    return rounded(bits, LOWEST + LIMB_BITS * top + LIMB_BITS - 1 - zeros, warp_any(below), negative);
}

// A number of words · 2^(LOWEST + position), the last word with the sign, rounded to the nearest double; whether it is not
// zero. A thread does it alone.
template <int WORDS> DEVICE bool round_words(unsigned (&words)[WORDS], int position, u64 &result) {
    const bool negative = (int)words[WORDS - 1] < 0;
    if (negative) {
        unsigned carry = 1;
#pragma unroll
        for (unsigned &word : words) {
            word = ~word + carry;
            carry = carry != 0 && word == 0 ? 1 : 0;
        }
    }
    // The highest word that is not zero, and the two below; places of registers must be known to the compiler.
    unsigned first = 0, second = 0, third = 0;
    int top = 0;
    bool below = false;
#pragma unroll
    for (int word = 0; word < WORDS; word++) {
        if (words[word] != 0) {
            below = false;
#pragma unroll
            for (int lower = 0; lower < word - 2; lower++) {
                below = below || words[lower] != 0;
            }
            first = words[word];
            second = word >= 1 ? words[word - 1] : 0;
            third = word >= 2 ? words[word - 2] : 0;
            top = word;
        }
    }
    const int zeros = leading_zeros_of_half(first);
    const unsigned high = __funnelshift_l(second, first, (unsigned)zeros), low = __funnelshift_l(third, second, (unsigned)zeros);
    below = below || arithmetic::shift_left(third, (unsigned)zeros) != 0;
    result = rounded((u64)high << 32 | low, LOWEST + position + 32 * top + 31 - zeros, below, negative);
    return first != 0;
}

}  // namespace kulisch
