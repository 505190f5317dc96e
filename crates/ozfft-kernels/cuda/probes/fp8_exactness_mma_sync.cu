// Whether this GPU's fp8 sums by `mma.sync` are as exact as the template's kernels need them (bailey_fp8.cuh), compared with integers.
//
// target: compute_89
// expect: fp8_exactness_mma_sync 8 [QH]MMA
#include "probes/fp8_exactness.cuh"
#include "arch/mma_sync_fp8.cuh"

// A warp has sixteen rows, and eight columns at a time.
KERNEL(exactness::THREADS, 1) fp8_exactness_mma_sync(PARAMETERS ExactnessArguments args) {
    using namespace exactness;
    unsigned char *const codes = shared_memory();                            // [column][term]
    signed char *const digits = (signed char *)codes + COLUMNS * TERMS;      // the same
    const int thread = (int)threadIdx.x, g = thread % 32 / 4, t = thread % 4, row = thread / 32 * 16 + g;
    if (thread < COLUMNS) {
        matrix_digits(thread, [&](int term, int digit) {
            digits[thread * TERMS + term] = (signed char)digit;
            codes[thread * TERMS + term] = e4m3(digit);
        });
    }
    block_barrier();
    Findings findings;
#pragma unroll 1
    for (int column = 0; column < COLUMNS; column += 8) {
        float sums[4];
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            unsigned data[4], matrix[2];
            for (int i = 0; i < 4; i++) data[i] = data_codes(row + i % 2 * 8, 32 * step + i / 2 * 16 + 4 * t);
            for (int i = 0; i < 2; i++) matrix[i] = *(const unsigned *)(codes + (column + g) * TERMS + 32 * step + i * 16 + 4 * t);
            mma_sync_e4m3(sums, 0, data, matrix, step == 0);
        }
        for (int i = 0; i < 4; i++) findings.compare(sums[i], row + i / 2 * 8, digits + (column + 2 * t + i % 2) * TERMS);
    }
    findings.note(args);
}
