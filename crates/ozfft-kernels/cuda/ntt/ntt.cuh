// Arithmetic modulo primes between 2^29 and 2^30, and what the kernels of ntt.cu are given: src/ntt.rs has the same structures.
#pragma once
#include "arch/threads.cuh"

namespace ntt {

using u32 = uint32_t;
using u64 = uint64_t;

// Neighbouring coefficients that transforms leave together: with y = x^LANES, rows of so many are the coefficients of a polynomial in y.
constexpr int LANES = 16;
// Primes of a product of long integers.
constexpr int PRIMES = 3;
// Levels of the deepest tree of remainders: roots of unity of order 2^22 exist modulo every prime. The least is what a block of rows has.
constexpr int MOST_LEVELS = 22, LEAST_LEVELS = 8;

// A product with this factor takes no division: the factor times 2^32, and that times the inverse of the prime modulo 2^32.
struct alignas(8) Factor {
    u32 scaled, quotient;
};

template <int INVERSES> struct PrimeWith {
    u32 value;
    // Modulo 2^32.
    u32 inverse;
    // By which a row product and all levels of an inverse transform are brought back.
    Factor back;
    Factor minus_one;
    // The inverses of the primes before this one.
    Factor inverses[INVERSES];
    // Entry 2^i of the table of roots.
    Factor steps[MOST_LEVELS - 1];
};
using Prime = PrimeWith<PRIMES - 1>;

// One product of long integers. Arrays of residues have 16 << levels numbers each: prime by prime, operand by operand.
struct Task {
    // Digits of the operands, the lowest first.
    const u32 *words[2];
    u32 *residues;
    // For each prime 2^(levels - 1) entries.
    Factor *roots;
    u32 *digits;
    // For every TILE digits: whether they carry, and whether they pass a carry on; then whether one comes in.
    u32 *tiles;
    u64 lengths[2];
    // Digits of the product.
    u64 length;
    // Rows are 2^levels; the first level of a pass.
    int levels, level;
    // 1: the square of the first one.
    int operands;
    int reserved;
    Prime primes[PRIMES];
};
static_assert(sizeof(Task) == 712, "ntt.rs");

DEVICE u32 least(u32 a, u32 b) { return a < b ? a : b; }
DEVICE u32 high_product(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }

// Values wrap around below 0, and then are larger than any residue: the smaller of both is the right one.
struct Modulus {
    u32 prime;

    // Below 4p, from any number: 2^32 < 8p.
    DEVICE u32 enter(u32 x) const { return least(x, x - 4 * prime); }
    // Below 2p, from below 4p.
    DEVICE u32 halve_range(u32 x) const { return least(x, x - 2 * prime); }
    // Below p, from below 4p.
    DEVICE u32 reduce(u32 x) const {
        x = halve_range(x);
        return least(x, x - prime);
    }
    // Below p, from between -p and p.
    DEVICE u32 lift(u32 x) const { return least(x, x + prime); }
    // Between -p and p, from any number.
    DEVICE u32 times(u32 x, Factor factor) const {
        return high_product(x, factor.scaled) - high_product(x * factor.quotient, prime);
    }
    // A sum of at most 16 products of numbers below p, divided by 2^32; below p. 16·p² < 2^64, and its high half is below 4p.
    DEVICE u32 divided(u64 sum, u32 inverse) const { return lift(reduce((u32)(sum >> 32)) - high_product((u32)sum * inverse, prime)); }

    // (a + r·b, a - r·b): below 4p, from below 4p.
    DEVICE void butterfly(u32 &a, u32 &b, Factor root) const {
        const u32 sum = halve_range(a) + prime, product = times(b, root);
        a = sum + product;
        b = sum - product;
    }
    // (a + b, (b - a)·r): below 2p, from below 2p. With r the negative of the inverse root it undoes a butterfly, but for a factor of 2.
    DEVICE void inverse_butterfly(u32 &a, u32 &b, Factor root) const {
        const u32 difference = b + 2 * prime - a;
        a = halve_range(a + b);
        b = times(difference, root) + prime;
    }
};

// The negative of the inverse of entry k: of those with equal highest bits first and last, second and last but one … have the sum of half a
// turn.
DEVICE Factor inverse_root(const Factor *roots, Factor minus_one, u32 k) {
    return k == 0 ? minus_one : roots[(3u << (31 - leading_zeros_of_half(k))) - 1 - k];
}

// A number below 2^96 by its lowest 32 bits and the others.
struct Wide {
    u32 low;
    u64 high;
};

// The number with these residues, each below its prime: Garner's algorithm. A residue of one prime is below twice any other.
DEVICE Wide combined(const Prime (&primes)[PRIMES], const u32 (&residues)[PRIMES]) {
    const u32 first = residues[0];
    const Modulus q{primes[1].value}, r{primes[2].value};
    const u32 second = q.lift(q.times(residues[1] + 2 * q.prime - first, primes[1].inverses[0]));
    const u32 rest = r.lift(r.times(residues[2] + 2 * r.prime - first, primes[2].inverses[0]));
    const u32 third = r.lift(r.times(rest + 2 * r.prime - second, primes[2].inverses[1]));
    const u64 upper = (u64)third * q.prime + second;
    const u64 low = (upper & 0xffffffffu) * primes[0].value + first;
    return {(u32)low, (upper >> 32) * primes[0].value + (low >> 32)};
}

struct Binary {
    // One less than the base.
    static constexpr u32 LAST = 0xffffffffu;
    DEVICE static u32 split(Wide &value) {
        const u32 digit = value.low;
        value = {(u32)value.high, value.high >> 32};
        return digit;
    }
    // Remainder and quotient of a sum of a few digits.
    DEVICE static u32 split(u64 &value) {
        const u32 digit = (u32)value;
        value >>= 32;
        return digit;
    }
};

struct Decimal {
    static constexpr u32 BASE = 1000000000u, LAST = BASE - 1;
    DEVICE static u32 split(Wide &value) {
        const u64 quotient = value.high / BASE, low = (value.high - quotient * BASE) << 32 | value.low;
        const u64 lower = low / BASE;
        const u32 digit = (u32)(low - lower * BASE);
        // `lower` is below 2^32: the remainder before it was below the base.
        value = {(u32)lower, quotient};
        return digit;
    }
    DEVICE static u32 split(u64 &value) {
        const u64 quotient = value / BASE;
        const u32 digit = (u32)(value - quotient * BASE);
        value = quotient;
        return digit;
    }
};

} // namespace ntt
