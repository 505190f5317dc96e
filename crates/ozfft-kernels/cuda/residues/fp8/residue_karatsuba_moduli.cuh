// The moduli of Ozaki's scheme II in fp8: six squares and eight numbers of at most 511 (moduli.rs of the crate `residues`), whose residues are two digits
// of magnitude at most 16, which e4m3 holds; words modulo each of them as such digits, and sums modulo each of them, without a division.
//
// Of the four products of two such numbers' digits one is saved:
//   squares, m = s²:   (s·h + l)·(s·h' + l') ≡ s·(l·h' + h·l') + l·l', as s² is a multiple of the modulus;
//   others:            (16·h + l)·(16·h' + l') = 240·h·h' - 15·l·l' + 16·(h + l)·(h' + l'), Karatsuba's way, where h + l must be a digit too.
//
// A digit d is the e4m3 code 0x80·(d < 0) + |d|: codes up to 16 are proportional to what they stand for, so data have the unit 2^-9.
//
// Sums. Digits are at most 16, so 32 products of them are at most 8,192 and the two of a square's first sum together 16,384 = 2^14 in whatever order they are
// added: just what Hopper's accumulator keeps, which has 14 bits and not the 24 of a float (fp8_exactness.cu). Planning proves less for the very matrix.
#pragma once
#include "numerics/byte_arithmetic.cuh"
#include "residues/residue_moduli.cuh"

namespace karatsuba {

constexpr int MOST_MODULI = 14, SQUARES = 6;
DEVICE_CONSTANT int modulus(int number) {
    constexpr int MODULI[MOST_MODULI] = {1089, 1024, 961, 841, 625, 529, 511, 509, 503, 499, 491, 487, 481, 479};
    return MODULI[number];
}
DEVICE_CONSTANT int root(int number) {
    constexpr int ROOTS[SQUARES] = {33, 32, 31, 29, 25, 23};
    return ROOTS[number];
}
DEVICE_CONSTANT bool roots_are_right() {
    for (int i = 0; i < SQUARES; i++) {
        if (root(i) * root(i) != modulus(i)) return false;
    }
    return true;
}
static_assert(roots_are_right(), "squares come first");

// Words are multiplied by these on the way to their residues, and matrices divided by them (residues_karatsuba.rs): then all eight powers of 256 are bytes,
// with signs or, modulo 503 and 491, without.
DEVICE_CONSTANT int scale(int number) {
    constexpr int SCALES[MOST_MODULI] = {1, 1, 1, 1, 1, 1, 383, 62, 83, 27, 106, 53, 113, 105};
    return SCALES[number];
}
DEVICE_CONSTANT bool weights_have_signs(int number) { return number != 8 && number != 10; }

DEVICE_CONSTANT int positive(long long x, int m) { return static_cast<int>((x % m + m) % m); }
// 256^power times the scale.
DEVICE_CONSTANT int scaled_power(int number, int power) {
    long long rest = scale(number);
    for (int i = 0; i < power; i++) rest = rest * 256 % modulus(number);
    return static_cast<int>(rest);
}
// 2^63 = 128 · 256^7, by which words are offset to have bytes without signs.
DEVICE_CONSTANT int scaled_offset(int number) { return positive(128LL * scaled_power(number, 7), modulus(number)); }

// How sums are divided, exactly and downwards, by one multiplication. They are the bits of the float 1.5·2^23 + sum. Times a float next to 1/d that is
// `whole + (sum + shift)/d` and an excess, which stays between 0 and 1/d for all sums of at most `largest`: so its whole part is `whole` and that of (sum + shift)/d.
// What is left, `sum + shift` less d times the quotient, lies between 0 and d - 1.
struct Division {
    float reciprocal;
    int shift, whole;
};
DEVICE_CONSTANT Division division(int d, long long largest) {
    int bits = 23;
    while ((1 << (bits - 23)) < d) bits++;
    const long long one = 1LL << bits, nearest = (2 * one + d) / (2 * d);
    // The nearest float, or one beside it whose excess does not lie at an end.
    constexpr int BESIDE[] = {0, 1, -1, 2, -2, 3, -3};
    for (int beside : BESIDE) {
        const long long factor = nearest + beside, product = factor * FLOAT_VALUE;
        const long long off = factor * d - one, excess = product % one * d;
        const long long most = (off < 0 ? -off : off) * largest;
        if (most <= excess % one && excess % one + most < one) {
            return {static_cast<float>(factor) / static_cast<float>(one), static_cast<int>(excess / one), static_cast<int>(product / one)};
        }
    }
    return {0, -1, 0};
}

// The number below 2^bits whose product with an odd m has the lowest bits of `x`.
DEVICE_CONSTANT int divided(long long x, int m, int bits) {
    unsigned inverse = 1;
    for (int i = 0; i < 5; i++) inverse *= 2 - static_cast<unsigned>(m) * inverse;
    return static_cast<int>((static_cast<unsigned>(x) * inverse) & ((1u << bits) - 1));
}

// A division whose quotients have `surplus` more, so that what is left is `sum - d·quotient`, modulo a power of two, and `bias` more than it should be.
// (The bits of 1.5·2^23 end in 22 zeros.)
struct Reduction {
    Division division;
    int surplus;
    float addend;
};
DEVICE_CONSTANT Reduction reduction(int d, long long largest, int bias, int bits) {
    const Division division = karatsuba::division(d, largest);
    const int surplus = divided(-static_cast<long long>(bias) - division.shift, d, bits);
    return {division, surplus, static_cast<float>(FLOAT_VALUE - division.whole + surplus)};
}
// The bits of the quotient, and what is left of a sum.
DEVICE int quotient_bits(int sum_bits, float reciprocal, float addend) {
    return arithmetic::bits_of(arithmetic::fused_downwards(arithmetic::from_bits(static_cast<unsigned>(sum_bits)), reciprocal, addend));
}
DEVICE uint32_t rest_of(int sum_bits, int quotient, int d) { return static_cast<uint32_t>(sum_bits) - static_cast<uint32_t>(quotient) * static_cast<uint32_t>(d); }

// Four bytes as a word.
DEVICE_CONSTANT uint32_t joined(int a, int b, int c, int d) {
    return (static_cast<uint32_t>(a) & 0xff) | (static_cast<uint32_t>(b) & 0xff) << 8 | (static_cast<uint32_t>(c) & 0xff) << 16 | (static_cast<uint32_t>(d) & 0xff) << 24;
}

// Residues of sums. As in residue_moduli.cuh, all have 1.5·2^23 in common, lest anything has to be taken off here.
template <int NUMBER> struct SumResidue {
    static constexpr int M = modulus(NUMBER);
    // A sum is one of 32 products of residues: of two of at most 256 and 255, or s·2^14 + 2^13.
    static constexpr long long LARGEST = NUMBER < SQUARES ? 1 << 20 : 1 << 21;
    static constexpr Reduction WAY = reduction(M % 2 == 0 ? 3 : M, LARGEST, 0, 16);
    static_assert(WAY.division.shift >= 0, "an excess that lies between the ends");
    // What sums of products begin with.
    static constexpr float START = static_cast<float>(M % 2 == 0 ? FLOAT_VALUE : FLOAT_VALUE + FLOAT_VALUE % M - WAY.division.shift);

    // From 0 to m - 1, in the lower half of the word; modulo 1024 any number that is congruent.
    static DEVICE uint32_t of(float sum) {
        const int bits = arithmetic::bits_of(sum);
        if (M % 2 == 0) return static_cast<uint32_t>(bits);
        return rest_of(bits, quotient_bits(bits, WAY.division.reciprocal, WAY.addend), M);
    }
};

// The digits of four residues: `sum`, of h + l, for moduli that are no squares.
struct DigitBytes {
    uint32_t high, low, sum;
};

// Codes of four numbers that have 128 more.
DEVICE uint32_t codes_of(uint32_t bytes) {
    const uint32_t negative = ~arithmetic::byte_signs(bytes);
    return (bytes ^ (negative | 0x80808080u)) + (negative & 0x01010101u);
}

// The lowest bytes, and those from `bits` on, of the halves of two words.
DEVICE uint32_t low_bytes(uint32_t a, uint32_t b) { return arithmetic::chosen_bytes(a, b, 0x6420); }
DEVICE uint32_t bytes_from(int bits, uint32_t a, uint32_t b) { return low_bytes(a >> bits, b >> bits); }
DEVICE uint32_t two_halves(uint32_t a, uint32_t b) { return arithmetic::chosen_bytes(a, b, 0x5410); }

// Squares of odd numbers. A power of 256 is s·h + l, too, so a word is s·Σ h + Σ l: its lower digit is what is left of the second sum modulo s, the
// quotient goes to the first, and what is left of that modulo s is the upper digit.
template <int NUMBER> struct OddSquare {
    static constexpr int S = root(NUMBER), HALF = (S - 1) / 2;
    static constexpr Reduction WAY = reduction(S, 1 << 16, 128 - HALF, 8);
    static_assert(WAY.division.shift >= 0, "an excess that lies between the ends");
    static DEVICE_CONSTANT int digit(int power, bool upper) {
        const int whole = positive(scaled_power(NUMBER, power) + S * HALF + HALF, S * S);
        return upper ? whole / S - HALF : whole % S - HALF;
    }
    static DEVICE_CONSTANT uint32_t digits(int first, bool upper) {
        return joined(digit(first, upper), digit(first + 1, upper), digit(first + 2, upper), digit(first + 3, upper));
    }
    // The lower sum begins with what makes its rest less HALF the lower digit, and what the quotient has more the other way round.
    static constexpr int BEGIN = FLOAT_BITS + positive(HALF - WAY.division.shift - scaled_offset(NUMBER) - S * (WAY.surplus + WAY.division.shift - HALF), S * S);

    static DEVICE void digits_of(uint32_t low, uint32_t high, uint32_t &lower, uint32_t &upper) {
        constexpr uint32_t L0 = digits(0, false), L4 = digits(4, false), H0 = digits(0, true), H4 = digits(4, true);
        const int first = arithmetic::dot_product(low, L0, arithmetic::dot_product(high, L4, BEGIN));
        const int quotient = quotient_bits(first, WAY.division.reciprocal, WAY.addend);
        const int second = arithmetic::dot_product(low, H0, arithmetic::dot_product(high, H4, quotient));
        lower = rest_of(first, quotient, S);
        upper = rest_of(second, quotient_bits(second, WAY.division.reciprocal, WAY.addend), S);
    }
    static DEVICE DigitBytes of(const uint32_t (&low)[4], const uint32_t (&high)[4]) {
        uint32_t lower[4], upper[4];
#pragma unroll
        for (int j = 0; j < 4; j++) digits_of(low[j], high[j], lower[j], upper[j]);
        return {codes_of(packed_bytes(upper[0], upper[1], upper[2], upper[3])), codes_of(packed_bytes(lower[0], lower[1], lower[2], lower[3])), 0};
    }
};

// The square of 32: ten bits of the word, with 16 more in both digits.
struct EvenSquare {
    static DEVICE DigitBytes of(const uint32_t (&low)[4], const uint32_t (&)[4]) {
        constexpr uint32_t MORE = 16 * 32 + 16, MASK = 0x1f1f1f1fu, OFFSET = 0x70707070u;
        const uint32_t a = two_halves(low[0] + MORE, low[1] + MORE), b = two_halves(low[2] + MORE, low[3] + MORE);
        return {codes_of((bytes_from(5, a, b) & MASK) + OFFSET), codes_of((low_bytes(a, b) & MASK) + OFFSET), 0};
    }
};

// All others. A residue v from -255 to 255 is 16·h + l with l from 0 to 15 and h rounded down; from 0 on h is one more and l 16 less. So h and l have opposite
// signs, and their sum is a digit, too.
template <int NUMBER> struct Other {
    static constexpr int M = modulus(NUMBER), HALF = (M - 1) / 2;
    static constexpr Reduction WAY = reduction(M, 1 << 19, 128 * 16 - HALF, 12);
    static_assert(WAY.division.shift >= 0, "an excess that lies between the ends");
    static constexpr bool SIGNS = weights_have_signs(NUMBER);
    static DEVICE_CONSTANT int weight(int power) {
        const int rest = scaled_power(NUMBER, power);
        return SIGNS ? balanced(rest, M) : rest;
    }
    static DEVICE_CONSTANT bool weights_are_bytes() {
        for (int i = 0; i < 8; i++) {
            if (weight(i) < (SIGNS ? -128 : 0) || weight(i) > (SIGNS ? 127 : 255)) return false;
        }
        return true;
    }
    static_assert(weights_are_bytes(), "what the scale is for");
    static DEVICE_CONSTANT uint32_t weights(int first) { return joined(weight(first), weight(first + 1), weight(first + 2), weight(first + 3)); }
    static constexpr int BEGIN = FLOAT_BITS + positive(HALF - WAY.division.shift - scaled_offset(NUMBER), M);

    // The residue, 2,048 more, in the lowest 12 bits.
    static DEVICE uint32_t residue_of(uint32_t low, uint32_t high) {
        constexpr uint32_t LOW = weights(0), HIGH = weights(4);
        const int sum = SIGNS ? arithmetic::dot_product(low, LOW, arithmetic::dot_product(high, HIGH, BEGIN))
                              : arithmetic::unsigned_dot_product(low, LOW, arithmetic::unsigned_dot_product(high, HIGH, BEGIN));
        return rest_of(sum, quotient_bits(sum, WAY.division.reciprocal, WAY.addend), M);
    }
    static DEVICE DigitBytes of(const uint32_t (&low)[4], const uint32_t (&high)[4]) {
        uint32_t residues[4];
#pragma unroll
        for (int j = 0; j < 4; j++) residues[j] = residue_of(low[j], high[j]);
        const uint32_t a = two_halves(residues[0], residues[1]), b = two_halves(residues[2], residues[3]);
        // h rounded down, and 128 more; l from 0 to 15.
        const uint32_t upper = bytes_from(4, a, b), lower = low_bytes(a, b) & 0x0f0f0f0fu;
        const uint32_t positive = arithmetic::byte_signs(upper);
        return {(upper ^ (~positive | 0x80808080u)) + 0x01010101u, (lower ^ (positive & 0x8f8f8f8fu)) + (positive & 0x01010101u),
                codes_of(upper + lower - (positive & 0x0f0f0f0fu))};
    }
};

// Of four words whose topmost bits are flipped.
template <int NUMBER> DEVICE DigitBytes digits_of(const uint32_t (&low)[4], const uint32_t (&high)[4]) {
    if constexpr (NUMBER >= SQUARES) {
        return Other<NUMBER>::of(low, high);
    } else if constexpr (root(NUMBER) % 2 == 0) {
        return EvenSquare::of(low, high);
    } else {
        return OddSquare<NUMBER>::of(low, high);
    }
}

}  // namespace karatsuba
