// Kernels that measure mma.sync with 8-bit floating-point numbers (e4m3): speed, and which integers its sums keep.
// Some GPUs have this instruction, others do it in FP16 after a conversion; the machine code tells.
//
// target: compute_89
// expect: probe_mma_sync_e4m3 1 [QH]MMA
// expect: probe_exactness_mma_sync_e4m3 1 [QH]MMA
#include "probes/probe.cuh"

constexpr int CHAINS = 8;

// Fragments are those of mma_sync_s8.
DEVICE void mma_sync_e4m3(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

PROBE_KERNEL __launch_bounds__(512)
    probe_mma_sync_e4m3(uint64_t *observed, uint32_t iterations, uint32_t first, uint32_t second) {
    float sums[CHAINS][4] = {};
    // The mask leaves out the patterns that mean "no number".
    uint32_t a[4], b[2];
    for (int part = 0; part < 4; part++) a[part] = scrambled(first + threadIdx.x * 4 + part) & 0xb7b7b7b7u;
    for (int part = 0; part < 2; part++) b[part] = scrambled(second + threadIdx.x * 2 + part) & 0xb7b7b7b7u;
    Stopwatch stopwatch;
    stopwatch.start();
#pragma unroll 1
    for (uint32_t iteration = 0; iteration < iterations; iteration++) {
#pragma unroll
        for (int number = 0; number < 4 * CHAINS; number++) mma_sync_e4m3(sums[number % CHAINS], a, b);
    }
    stopwatch.stop(observed);
#pragma unroll
    for (int chain = 0; chain < CHAINS; chain++) {
        keep(sums[chain][0] + sums[chain][1] + sums[chain][2] + sums[chain][3], observed);
    }
}

// sums[tile][row][column] of 64 × 64 from a[tile][row][k] and b[tile][column][k]. One block of 128 threads a tile; a
// warp has sixteen rows.
PROBE_KERNEL __launch_bounds__(128)
    probe_exactness_mma_sync_e4m3(float *sums, const uint32_t *a, const uint32_t *b, uint32_t words_of_k) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int row = threadIdx.x / 32 * 16 + g;
    sums += uint64_t(blockIdx.x) * 64 * 64;
    a += uint64_t(blockIdx.x) * 64 * words_of_k + row * words_of_k + t;
    b += uint64_t(blockIdx.x) * 64 * words_of_k + g * words_of_k + t;
#pragma unroll 1
    for (int column = 0; column < 64; column += 8) {
        float c[4] = {};
#pragma unroll 1
        for (uint32_t k = 0; k < words_of_k; k += 8) {
            const uint32_t *low = a + k, *high = low + 8 * words_of_k, *right = b + column * words_of_k + k;
            const uint32_t left[4] = {low[0], high[0], low[4], high[4]};
            mma_sync_e4m3(c, left, {right[0], right[4]});
        }
        for (int part = 0; part < 4; part++) {
            sums[(row + part / 2 * 8) * 64 + column + 2 * t + part % 2] = c[part];
        }
    }
}
