// Whether this GPU's sums by `mma.sync` on f16 are as exact as the template's kernels need them (bailey_f16.cuh), compared with integers: from 3/4 on, digits of all
// kinds that those multiply, up to the largest sums that they are allowed.
//
// expect: f16_exactness 2 HMMA.16816.F32
#include "probes/fp8_exactness.cuh"
#include "arch/mma_sync_f16.cuh"

namespace f16 {

using exactness::COLUMNS;
using exactness::scrambled;
using exactness::TERMS;

// Of a column's positive digits, and of its negative ones: times 255, they stay below 2^22.
constexpr int MOST = (F16_ROOM - 1) / 255;

// A data digit, biased: all of them, the largest ones, the ends alone, small ones.
DEVICE int data_digit(int row, int term) {
    const unsigned random = scrambled((blockIdx.x * 64 + row) * TERMS + term);
    switch (row % 8) {
    case 0: return 255;
    case 1: return random % 2 * 255;
    case 2: return 240 + random % 16;
    case 3: return random % 16;
    default: return random % 256;
    }
}

// A matrix digit: of both signs or of one.
DEVICE int matrix_digit(int column, int term) {
    const unsigned random = scrambled(~((blockIdx.x * COLUMNS + column) * TERMS + term));
    switch (column % 4) {
    case 0: return (int)(random % 256) - 128;
    case 1: return (int)(random % 128);
    case 2: return -(int)(random % 129);
    default: return random % 2 == 0 ? 127 : -128;
    }
}

// The number of f16 that a small integer is.
DEVICE unsigned short code_of(int digit) {
    const unsigned magnitude = digit < 0 ? -digit : digit;
    int exponent = 0;
    while (magnitude >> exponent > 1) exponent++;
    const unsigned code = magnitude == 0 ? 0 : (unsigned)(exponent + 15) << 10 | ((magnitude << 10 >> exponent) & 1023);
    return (unsigned short)(digit < 0 ? code | 0x8000 : code);
}
DEVICE int digit_of(unsigned short code) {
    const int magnitude = (code & 0x7fff) == 0 ? 0 : (1024 | (code & 1023)) >> (25 - (code >> 10 & 31));
    return code & 0x8000 ? -magnitude : magnitude;
}

}  // namespace f16

// A warp has sixteen rows, and eight columns at a time.
KERNEL(exactness::THREADS, 1) f16_exactness(PARAMETERS ExactnessArguments args) {
    using namespace f16;
    unsigned short *const codes = (unsigned short *)shared_memory();  // [column][term]
    const int thread = (int)threadIdx.x, g = thread % 32 / 4, t = thread % 4, row = thread / 32 * 16 + g;
    if (thread < COLUMNS) {
        int most = 0, least = 0;
#pragma unroll 1
        for (int term = 0; term < TERMS; term++) {
            int digit = matrix_digit(thread, term);
            if (digit > MOST - most) digit = MOST - most;
            if (digit < -MOST - least) digit = -MOST - least;
            (digit > 0 ? most : least) += digit;
            codes[thread * TERMS + term] = code_of(digit);
        }
    }
    block_barrier();
    unsigned differing = 0, compared = 0;
    int largest = 0;
#pragma unroll 1
    for (int column = 0; column < COLUMNS; column += 8) {
        int sums[4];
        const auto multiply = [&](int term, bool first) {
            unsigned data[4], matrix[2];
            for (int i = 0; i < 4; i++) {
                const int of_row = row + i % 2 * 8, from = term + i / 2 * 8 + 2 * t;
                data[i] = data_digit(of_row, from) | data_digit(of_row, from + 1) << 16;
            }
            for (int i = 0; i < 2; i++) matrix[i] = *(const unsigned *)(codes + (column + g) * TERMS + term + i * 8 + 2 * t);
            mma_sync_f16(sums, 0, data, matrix, first);
        };
        multiply(0, true);
#pragma unroll 1
        for (int term = 16; term < TERMS; term += 16) multiply(term, false);
#pragma unroll 1
        for (int i = 0; i < 4; i++) {
            const unsigned short *const digits = codes + (column + 2 * t + i % 2) * TERMS;
            int sum = 0;
#pragma unroll 1
            for (int term = 0; term < TERMS; term++) sum += data_digit(row + i / 2 * 8, term) * digit_of(digits[term]);
            const int found = i == 0 ? sums[0] : i == 1 ? sums[1] : i == 2 ? sums[2] : sums[3];
            differing += found != F16_START + sum;
            compared++;
            if (sum < 0) sum = -sum;
            if (sum > largest) largest = sum;
        }
    }
    atomic_add(args.differing, differing);
    atomic_add(args.compared, compared);
    atomic_maximum(args.largest, largest);
}
