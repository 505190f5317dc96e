// Linear algebra by Ozaki's scheme II: numbers under a common exponent as integers, their residues, and the way back. The same
// integers and bits as the crate `ozaki` of the laboratory has.
#pragma once
#include "kulisch/kulisch.cuh"
#include "residues/residue_moduli.cuh"

namespace ozaki {

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
// The most moduli of products of matrices; kernels of rows and vectors have 16 at most.
constexpr int MOST = 18;
// Words of 32 bits of an integer.
constexpr int WORDS = 5;
// The exponent field of numbers that are not finite.
constexpr int NOT_FINITE = 2047;

// What makes residues of a word: powers of 256 times a factor, modulo the modulus, in the bytes of two words; what sums begin with;
// and the division.
struct Reduction {
    uint32_t low, high;
    int32_t begin;
    float reciprocal;
    int32_t modulus;
};

// What sums of products modulo a modulus are multiplied by. `fraction` is 2^32 over the modulus, rounded down, and `offset` a multiple
// of the modulus that is at least 2^30.
struct Weight {
    uint32_t modulus, fraction, offset, words[WORDS];
};
struct Weights {
    Weight of[MOST];
    uint32_t product[WORDS], reserved;
    // Weights and product in two parts each.
    double upper[MOST], lower[MOST], product_upper, product_lower, reciprocal;
};

// Rows of numbers, each to be scaled by its largest one, and their residues: planes of bytes, four to a word, a plane for every modulus.
// Words beyond the length of a row are zero.
struct RowsTask {
    const u64 *values;
    int32_t *fields;
    uint32_t *residues;
    // Words from plane to plane.
    u64 plane;
    // Numbers of a row, and words of a row of a plane.
    unsigned rows, length, pitch;
    int bits, count;
    Reduction moduli[MOST];
};

struct TransposeTask {
    const u64 *from;
    u64 *to;
    unsigned rows, columns;
};

// Sums of products for every modulus, row by row, one plane after the other.
struct ReconstructTask {
    const int32_t *sums, *row_fields, *column_fields;
    u64 *result;
    u64 plane;
    unsigned rows, columns;
    int bits, count;
    Weights weights;
};

// Vectors one after the other: an exponent field for each, and 16 residues of every number side by side.
struct VectorTask {
    const u64 *values;
    int32_t *fields;
    uint4 *residues;
    unsigned length, vectors;
    int bits, count;
    Reduction moduli[16];
};

// Rows times vectors. With `row_starts`, row i of a sparse matrix has the entries from row_starts[i] on and there is one vector; without,
// rows have `length` entries each, and `rows_of_vector` rows the same vector.
struct ProductTask {
    const unsigned *row_starts, *columns;
    const u64 *values;
    const uint4 *residues;
    const int32_t *vector_fields;
    u64 *result;
    unsigned rows, length, rows_of_vector;
    // Lanes of a row, as a power of two.
    int group_bits;
    int bits, reserved;
    Weights weights;
};

// to[i] = fma(factor, x[i], y[i])
struct MultiplyAddTask {
    const double *x, *y;
    double *to;
    double factor;
    u64 count;
};

using kulisch::field_of;

// value · 2^(bits - (field - 1022)), rounded to the nearest integer, halves away from zero. The topmost bit is flipped: so residues are
// made of bytes without signs.
DEVICE void flipped_word(u64 value, unsigned field, int bits, uint32_t &low, uint32_t &high) {
    const unsigned own = field_of(value);
    const u64 fraction = kulisch::fraction_of(value);
    const int shift = bits - 53 - (int)(field - (own != 0 ? own : 1));
    const u64 magnitude = shift >= 0 ? fraction << (shift & 63) : (arithmetic::shift_right(fraction, (unsigned)(-shift - 1)) + 1) >> 1;
    const u64 word = kulisch::is_negative(value) ? 0 - magnitude : magnitude;
    low = (uint32_t)word;
    high = (uint32_t)(word >> 32) ^ 0x80000000u;
}

// A number of magnitude at most 128 that is congruent to a multiple of a word, in the lowest byte.
DEVICE uint32_t residue_of(const Reduction &by, uint32_t low, uint32_t high) {
    const int sum = arithmetic::dot_product(low, by.low, arithmetic::dot_product(high, by.high, by.begin));
    const float quotient = arithmetic::fused(arithmetic::from_bits((unsigned)sum), by.reciprocal, 12582912.0f);
    return (uint32_t)sum - (uint32_t)arithmetic::bits_of(quotient) * (uint32_t)by.modulus;
}

// A sum of magnitude at most 2^30 modulo a modulus, from 0 on.
DEVICE uint32_t rest_of(const Weight &weight, int32_t sum) {
    const uint32_t shifted = (uint32_t)sum + weight.offset;
    const uint32_t quotient = (uint32_t)((u64)shifted * weight.fraction >> 32);
    const uint32_t rest = shifted - quotient * weight.modulus;
    return rest >= weight.modulus ? rest - weight.modulus : rest;
}

// Phase B in integers: exact, and rounded once.
struct Integers {
    u64 words[WORDS] = {}, fraction = 1ull << 31;

    DEVICE void add(const Weights &weights, int number, int32_t sum) {
        const Weight &weight = weights.of[number];
        const u64 rest = rest_of(weight, sum);
#pragma unroll
        for (int word = 0; word < WORDS; word++) {
            words[word] += rest * weight.words[word];
        }
        fraction += rest * weight.fraction;
    }
    DEVICE u64 number(const Weights &weights, int exponent) const {
        const i64 quotient = (i64)(fraction >> 32);
        unsigned integer[WORDS];
        i64 carry = 0;
#pragma unroll
        for (int word = 0; word < WORDS; word++) {
            carry += (i64)words[word] - quotient * (i64)weights.product[word];
            integer[word] = (unsigned)carry;
            carry >>= 32;
        }
        u64 result = 0;
        return kulisch::round_words(integer, exponent - kulisch::LOWEST, result) ? result : 0;
    }
};

DEVICE double power_of_two(int exponent) { return __hiloint2double((exponent + 1023) << 20, 0); }
DEVICE int clamped(int exponent) { return exponent < -1022 ? -1022 : exponent > 1023 ? 1023 : exponent; }

// Phase B in f64.
struct Doubles {
    double upper = 0, lower = 0;

    DEVICE void add(const Weights &weights, int number, int32_t sum) {
        const double rest = (double)(int)rest_of(weights.of[number], sum);
        upper = __fma_rn(rest, weights.upper[number], upper);
        lower = __fma_rn(rest, weights.lower[number], lower);
    }
    DEVICE u64 number(const Weights &weights, int exponent) const {
        // Beyond 2^52 doubles are integers.
        constexpr double INTEGERS = 6755399441055744.0;
        const double quotient = __fma_rn(upper, weights.reciprocal, INTEGERS) - INTEGERS;
        const double high = __fma_rn(-quotient, weights.product_upper, upper), low = __fma_rn(-quotient, weights.product_lower, lower);
        const int first = clamped(exponent / 2), second = clamped(exponent - first);
        const double result = (high + low) * power_of_two(first) * power_of_two(second);
        return (u64)(unsigned)__double2hiint(result) << 32 | (unsigned)__double2loint(result);
    }
};

// No phase B at all, to see what it costs: results are void.
struct Nothing {
    u64 bits = 0;

    DEVICE void add(const Weights &, int, int32_t sum) { bits = (bits << 1) ^ (u64)(uint32_t)sum; }
    DEVICE u64 number(const Weights &, int) const { return bits; }
};

// The result of a row and a column with these exponent fields.
template <class B> DEVICE u64 number_of(const B &sum, const Weights &weights, int row_field, int column_field, int bits) {
    const u64 result = sum.number(weights, row_field + column_field - 2044 - 2 * bits);
    return row_field == NOT_FINITE || column_field == NOT_FINITE ? kulisch::NAN_BITS : result;
}

#ifdef __CUDACC__
// Bytes of a times those of b, all with signs, onto c.
DEVICE int signed_dot_product(uint32_t a, uint32_t b, int c) {
    int r;
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
#else
DEVICE int signed_dot_product(uint32_t a, uint32_t b, int c) {
    for (int bits = 0; bits < 32; bits += 8) c += (signed char)(a >> bits) * (signed char)(b >> bits);
    return c;
}
#endif

}  // namespace ozaki
