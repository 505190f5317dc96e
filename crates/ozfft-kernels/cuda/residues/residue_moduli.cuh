// Moduli of at most 256, words modulo each of them, and sums modulo each of them, without a division: the same moduli
// as the crate `residues` has (moduli.rs).
#pragma once
#include "numerics/arithmetic.cuh"

// A number as a type.
template <int VALUE> struct Number {
    DEVICE_CONSTANT operator int() const { return VALUE; }
};
// Calls `body` with the numbers from BEGIN to END - 1 as types.
template <int BEGIN, int END, class Body> DEVICE void for_numbers(const Body &body) {
    if constexpr (BEGIN < END) {
        body(Number<BEGIN>());
        for_numbers<BEGIN + 1, END>(body);
    }
}

// A step's largest sum decides how many of them it needs (residue_products.rs): 15 in the first step, 16 in the second.
constexpr int MOST_MODULI = 16;
// Two more are redundant (residue_redundant.cuh).
constexpr int REDUNDANT_MODULI = 2;
DEVICE_CONSTANT int modulus(int number) {
    constexpr int MODULI[MOST_MODULI + REDUNDANT_MODULI] = {256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, 197, 193, 191, 181};
    return MODULI[number];
}

// The number of magnitude at most m/2 that is congruent to `x`.
DEVICE_CONSTANT int balanced(long long x, int m) {
    int rest = static_cast<int>(x % m);
    rest += rest < 0 ? m : 0;
    return 2 * rest >= m ? rest - m : rest;
}
// Likewise of 256^power.
DEVICE_CONSTANT int power_of_256(int power, int m) {
    long long rest = 1;
    for (int i = 0; i < power; i++) rest = rest * 256 % m;
    return balanced(rest, m);
}

// Sums are kept as the bits of the float 1.5·2^23 + sum, which is exact for sums below 2^22: so a quotient takes one
// multiplication, rounded to the nearest integer by the addition of the same number.
constexpr int FLOAT_BITS = 0x4b400000;
constexpr int FLOAT_VALUE = 0xc00000;
constexpr double LARGEST_SUM = 1 << 20;

DEVICE_CONSTANT float reciprocal(int m) { return 1.0f / static_cast<float>(m); }
// With `f = 1.5·2^23 + sum`, which is positive, the quotient is the integer next to `f·(1 + e)/m`, where `e` is what the reciprocal is
// off, so the residue lies between `-m/2 - f·e` and `m/2 - f·e`, and must be a signed byte.
DEVICE_CONSTANT bool residues_are_bytes() {
    for (int i = 1; i < MOST_MODULI + REDUNDANT_MODULI; i++) {
        const double m = modulus(i), off = (m * static_cast<double>(reciprocal(modulus(i))) - 1) * (FLOAT_VALUE + LARGEST_SUM);
        if (m / 2 + (off < 0 ? 0 : off) >= 129 || m / 2 - (off < 0 ? off : 0) >= 128) return false;
    }
    return true;
}
static_assert(residues_are_bytes(), "residues of all sums are signed bytes");

// A number congruent to `1.5·2^23 + sum`, of magnitude at most 128, in the lowest byte.
template <int NUMBER> DEVICE uint32_t residue_byte(int sum_bits) {
    constexpr int M = modulus(NUMBER);
    if (M == 256) {
        return static_cast<uint32_t>(sum_bits);
    }
    const float quotient = arithmetic::fused(arithmetic::from_bits(static_cast<unsigned>(sum_bits)), reciprocal(M), 12582912.0f);
    // The bits of 1.5·2^23 end in a byte of zeros.
    return static_cast<uint32_t>(sum_bits) - static_cast<uint32_t>(arithmetic::bits_of(quotient)) * static_cast<uint32_t>(M);
}

// The lowest bytes of four words.
DEVICE uint32_t packed_bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return arithmetic::chosen_bytes(arithmetic::chosen_bytes(a, b, 0x0040), arithmetic::chosen_bytes(c, d, 0x0040), 0x5410);
}

// Four powers of 256, from `first` on, modulo a modulus.
DEVICE_CONSTANT uint32_t powers(int number, int first) {
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) {
        word |= (static_cast<uint32_t>(power_of_256(first + i, modulus(number))) & 0xff) << (8 * i);
    }
    return word;
}
// What a word's sum begins with: words are offset by 2^63 to have bytes without signs.
DEVICE_CONSTANT int offset(int number) {
    const int m = modulus(number);
    // 2^63 = 128 · 256^7.
    return balanced(-128LL * power_of_256(7, m) - FLOAT_VALUE, m);
}

// A word whose topmost bit is flipped, modulo a modulus, in the lowest byte.
template <int NUMBER> DEVICE uint32_t residue_of_word(uint32_t low, uint32_t high) {
    if (modulus(NUMBER) == 256) {
        return low;
    }
    constexpr uint32_t LOW = powers(NUMBER, 0), HIGH = powers(NUMBER, 4);
    constexpr int BEGIN = FLOAT_BITS + offset(NUMBER);
    return residue_byte<NUMBER>(arithmetic::dot_product(low, LOW, arithmetic::dot_product(high, HIGH, BEGIN)));
}
