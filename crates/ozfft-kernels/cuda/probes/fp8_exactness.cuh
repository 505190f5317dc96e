// The question whether a GPU's fp8 sums are as exact as kernels need them: digits of all kinds that those multiply, up to the largest sums that
// they are allowed. fp8_exactness.cu asks it of `wgmma`, fp8_exactness_mma_sync.cu of `mma.sync`.
#pragma once
#include "arch/threads.cuh"

struct ExactnessArguments {
    // Differing sums, sums that were compared, and the largest of them.
    unsigned *differing, *compared;
    int *largest;
};

namespace exactness {

constexpr int THREADS = 128, COLUMNS = 72, STEPS = 8, TERMS = 32 * STEPS;
// Of a column's positive digits, and of its negative ones: times 15, they stay below 2^14.
constexpr int MOST = 1092;

DEVICE unsigned scrambled(unsigned value) {
    value = (value ^ (value >> 16)) * 0x7feb352du;
    value = (value ^ (value >> 15)) * 0x846ca68bu;
    return value ^ (value >> 16);
}

// A data digit: 0 to 15, in some rows below 8 only, which e4m3 has no leading bit for; in others -16 to 16, as residues have them.
DEVICE int data_digit(int row, int term) {
    const unsigned random = scrambled((blockIdx.x * 64 + row) * TERMS + term);
    switch (row % 8) {
    case 0: return random % 16;
    case 1: return random % 8;
    case 2: return 15;
    case 3: return 8 + random % 8;
    default: return (int)(random % 33) - 16;
    }
}
// Its code: those to 16 are proportional to what they stand for.
DEVICE unsigned data_code(int digit) { return digit < 0 ? 0x80u - digit : digit; }

// A matrix digit: -8 to 8, of one sign or of both, or 16, which weights of residues have.
DEVICE int matrix_digit(int column, int term) {
    const unsigned random = scrambled(~((blockIdx.x * COLUMNS + column) * TERMS + term));
    switch (column % 4) {
    case 0: return (int)(random % 17) - 8;
    case 1: return 1 + (int)(random % 8);
    case 2: return -1 - (int)(random % 8);
    default: return 16 * ((int)(random % 3) - 1);
    }
}

DEVICE unsigned char e4m3(int digit) {
    const unsigned magnitude = digit < 0 ? -digit : digit;
    int exponent = 0;
    while (magnitude >> exponent > 1) exponent++;
    const unsigned code = magnitude == 0 ? 0 : (unsigned)(exponent + 7) << 3 | ((magnitude << 3 >> exponent) & 7);
    return (unsigned char)(digit < 0 ? code | 0x80 : code);
}

// Digits of a column, one after the other; `put` is told of each.
template <class Put> DEVICE void matrix_digits(int column, const Put &put) {
    int most = 0, least = 0;
    for (int term = 0; term < TERMS; term++) {
        int digit = matrix_digit(column, term);
        if (digit > MOST - most) digit = MOST - most;
        if (digit < -MOST - least) digit = -MOST - least;
        (digit > 0 ? most : least) += digit;
        put(term, digit);
    }
}

// Four data digits of a row from a term on, as codes.
DEVICE unsigned data_codes(int row, int term) {
    unsigned codes = 0;
    for (int byte = 0; byte < 4; byte++) codes |= data_code(data_digit(row, term + byte)) << (8 * byte);
    return codes;
}

// A sum in fp8, and what was found out of others so far.
struct Findings {
    unsigned differing = 0, compared = 0;
    int largest = 0;
    DEVICE void compare(float found, int row, const signed char *digits) {
        int sum = 0;
#pragma unroll 1
        for (int term = 0; term < TERMS; term++) sum += data_digit(row, term) * digits[term];
        differing += found * 512.0f != (float)sum;
        compared++;
        if (sum < 0) sum = -sum;
        if (sum > largest) largest = sum;
    }
    DEVICE void note(const ExactnessArguments &args) const {
        atomic_add(args.differing, differing);
        atomic_add(args.compared, compared);
        atomic_maximum(args.largest, largest);
    }
};

}  // namespace exactness
