// Whether this GPU's fp8 sums are as exact as the tuned kernels need them: products of the digits that those multiply, up to
// the largest sums that they are allowed, compared with integers.
//
// target: sm_90a
// expect: fp8_exactness 8 QGMMA\.64x72x32
#include "wgmma_fp8.cuh"

struct ExactnessArguments {
    // Differing sums, sums that were compared, and the largest of them.
    unsigned *differing, *compared;
    int *largest;
};

namespace exactness {

constexpr int THREADS = 128, COLUMNS = 72, STEPS = 8, TERMS = 32 * STEPS;
// Of a column's positive digits, and of its negative ones: times 15, they stay below 2^14.
constexpr int MOST = 1092;
constexpr int TILE = 32 * COLUMNS;

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

}  // namespace exactness

KERNEL(exactness::THREADS, 1) fp8_exactness(PARAMETERS ExactnessArguments args) {
    using namespace exactness;
    unsigned char *const tiles = shared_memory();
    signed char *const digits = (signed char *)tiles + STEPS * TILE;  // [column][term]
    const int thread = (int)threadIdx.x, t = thread % 4, row = thread / 32 * 16 + thread % 32 / 4;
    if (thread < COLUMNS) {
        int most = 0, least = 0;
        for (int term = 0; term < TERMS; term++) {
            int digit = matrix_digit(thread, term);
            if (digit > MOST - most) digit = MOST - most;
            if (digit < -MOST - least) digit = -MOST - least;
            (digit > 0 ? most : least) += digit;
            digits[thread * TERMS + term] = (signed char)digit;
            const int k = term % 32;
            tiles[term / 32 * TILE + (thread / 8 * 2 + k / 16) * 128 + thread % 8 * 16 + k % 16] = e4m3(digit);
        }
    }
    wgmma_publish();
    block_barrier();
    unsigned data[STEPS][4];
#pragma unroll
    for (int step = 0; step < STEPS; step++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            data[step][i] = 0;
            for (int byte = 0; byte < 4; byte++)
                data[step][i] |= data_code(data_digit(row + i % 2 * 8, 32 * step + i / 2 * 16 + 4 * t + byte)) << (8 * byte);
        }
    float sums[COLUMNS / 2];
    const uint64_t matrix = wgmma_matrix(shared_address(tiles));
    wgmma_fence();
    wgmma_e4m3_first<COLUMNS>(sums, data[0], matrix);
#pragma unroll
    for (int step = 1; step < STEPS; step++) wgmma_e4m3_more<COLUMNS>(sums, data[step], matrix + step * (TILE / 16));
    wgmma_commit();
    wgmma_wait<0>();
    unsigned differing = 0;
    int largest = 0;
#pragma unroll
    for (int i = 0; i < COLUMNS / 2; i++) {
        const int column = i / 4 * 8 + 2 * t + i % 2;
        int sum = 0;
#pragma unroll 1
        for (int term = 0; term < TERMS; term++) sum += data_digit(row + i / 2 % 2 * 8, term) * digits[column * TERMS + term];
        differing += sums[i] * 512.0f != (float)sum;
        if (sum < 0) sum = -sum;
        if (sum > largest) largest = sum;
    }
    atomic_add(args.differing, differing);
    atomic_add(args.compared, COLUMNS / 2);
    atomic_maximum(args.largest, largest);
}
