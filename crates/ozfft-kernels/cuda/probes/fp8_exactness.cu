// Whether this GPU's fp8 sums by `wgmma` are as exact as the tuned kernels need them, compared with integers.
//
// target: sm_90a
// expect: fp8_exactness 8 QGMMA\.64x72x32
#include "probes/fp8_exactness.cuh"
#include "arch/wgmma_fp8.cuh"

KERNEL(exactness::THREADS, 1) fp8_exactness(PARAMETERS ExactnessArguments args) {
    using namespace exactness;
    constexpr int TILE = 32 * COLUMNS;
    unsigned char *const tiles = shared_memory();
    signed char *const digits = (signed char *)tiles + STEPS * TILE;  // [column][term]
    const int thread = (int)threadIdx.x, t = thread % 4, row = thread / 32 * 16 + thread % 32 / 4;
    if (thread < COLUMNS) {
        matrix_digits(thread, [&](int term, int digit) {
            digits[thread * TERMS + term] = (signed char)digit;
            const int k = term % 32;
            tiles[term / 32 * TILE + (thread / 8 * 2 + k / 16) * 128 + thread % 8 * 16 + k % 16] = e4m3(digit);
        });
    }
    wgmma_publish();
    block_barrier();
    unsigned data[STEPS][4];
#pragma unroll
    for (int step = 0; step < STEPS; step++)
#pragma unroll
        for (int i = 0; i < 4; i++) data[step][i] = data_codes(row + i % 2 * 8, 32 * step + i / 2 * 16 + 4 * t);
    float sums[COLUMNS / 2];
    const uint64_t matrix = wgmma_matrix(shared_address(tiles));
    wgmma_fence();
    wgmma_e4m3_first<COLUMNS>(sums, data[0], matrix);
#pragma unroll
    for (int step = 1; step < STEPS; step++) wgmma_e4m3_more<COLUMNS>(sums, data[step], matrix + step * (TILE / 16));
    wgmma_commit();
    wgmma_wait(sums);
    Findings findings;
#pragma unroll
    for (int i = 0; i < COLUMNS / 2; i++) findings.compare(sums[i], row + i / 2 % 2 * 8, digits + (i / 4 * 8 + 2 * t + i % 2) * TERMS);
    findings.note(args);
}
