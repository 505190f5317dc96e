// Kernels that measure tall and narrow products on fp8 wgmma, as putting integers together has them: rows come from shared memory, a product
// has few columns, its inner dimension is padded to 32, and every sum is used once. What counts as useful of it is for the host.
//
// target: sm_90a
// expect: tall_skinny_n8 4 QGMMA\.64x8x32
// expect: tall_skinny_n16 4 QGMMA\.64x16x32
// expect: tall_skinny_n40 4 QGMMA\.64x40x32
// expect: tall_skinny_n16_bare 16 QGMMA\.64x16x32
#include "arch/mma_sync.cuh"
#include "probes/probe.cuh"
#include "arch/wgmma_fp8.cuh"

// Products of a warpgroup that are under way together.
constexpr int TOGETHER = 4, MOST_WARPS = 16;
// Rows of a warp's products, 32 bytes each.
constexpr int ROW_WORDS = TOGETHER * 16 * 32 / 4;

// Nibbles, which are e4m3 numbers as they are, and digits that are e4m3 numbers: random powers of two from 1 to 8, with signs.
DEVICE uint32_t nibbles(uint32_t seed) { return scrambled(seed) & 0x0f0f0f0fu; }
DEVICE uint32_t digits(uint32_t seed) { return (scrambled(seed) & 0x98989898u) | 0x40404040u; }

template <int COLUMNS> DEVICE uint64_t filled(uint32_t (&matrix)[COLUMNS * 8], uint32_t (&rows)[MOST_WARPS * ROW_WORDS], uint32_t first, uint32_t second) {
    for (uint32_t i = threadIdx.x; i < COLUMNS * 8; i += blockDim.x) matrix[i] = digits(second + i);
    for (uint32_t i = threadIdx.x; i < MOST_WARPS * ROW_WORDS; i += blockDim.x) rows[i] = nibbles(first + i);
    wgmma_publish();
    block_barrier();
    return wgmma_matrix(shared_address(matrix));
}

// Every product has rows of its own, which ldmatrix brings, and all its sums are added to others: the least that anyone does with them.
template <int COLUMNS> DEVICE void tall_and_narrow(uint64_t *observed, uint32_t iterations, uint32_t first, uint32_t second) {
    __shared__ __align__(1024) uint32_t matrix[COLUMNS * 8], rows[MOST_WARPS * ROW_WORDS];
    const uint64_t b = filled<COLUMNS>(matrix, rows, first, second);
    const uint32_t own = shared_address(rows + threadIdx.x / 32 * ROW_WORDS) + 16 * (threadIdx.x % 32);
    float totals[COLUMNS / 2] = {};
    Stopwatch stopwatch;
    stopwatch.start();
#pragma unroll 1
    for (uint32_t iteration = 0; iteration < iterations; iteration++) {
        unsigned a[TOGETHER][4];
        float sums[TOGETHER][COLUMNS / 2];
#pragma unroll
        for (int i = 0; i < TOGETHER; i++) load_rows(a[i], own + 512 * i);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < TOGETHER; i++) wgmma_e4m3_first<COLUMNS>(sums[i], a[i], b);
        wgmma_commit();
        wgmma_wait(sums);
#pragma unroll
        for (int i = 0; i < TOGETHER; i++) {
#pragma unroll
            for (int j = 0; j < COLUMNS / 2; j++) totals[j] += sums[i][j];
        }
    }
    stopwatch.stop(observed);
#pragma unroll
    for (int j = 0; j < COLUMNS / 2; j++) keep(totals[j], observed);
}

#define TALL_SKINNY_KERNEL(columns)                                                                                             \
    PROBE_KERNEL __launch_bounds__(32 * MOST_WARPS)                                                                             \
        tall_skinny_n##columns(uint64_t *observed, uint32_t iterations, uint32_t first, uint32_t second) {                      \
        tall_and_narrow<columns>(observed, iterations, first, second);                                                          \
    }
TALL_SKINNY_KERNEL(8)
TALL_SKINNY_KERNEL(16)
TALL_SKINNY_KERNEL(40)

// The instruction alone: the same rows again and again, onto the same sums.
PROBE_KERNEL __launch_bounds__(32 * MOST_WARPS)
    tall_skinny_n16_bare(uint64_t *observed, uint32_t iterations, uint32_t first, uint32_t second) {
    constexpr int COLUMNS = 16;
    __shared__ __align__(1024) uint32_t matrix[COLUMNS * 8], rows[MOST_WARPS * ROW_WORDS];
    const uint64_t b = filled<COLUMNS>(matrix, rows, first, second);
    unsigned a[4];
    load_rows(a, shared_address(rows + threadIdx.x / 32 * ROW_WORDS) + 16 * (threadIdx.x % 32));
    float sums[TOGETHER][COLUMNS / 2] = {};
    Stopwatch stopwatch;
    stopwatch.start();
#pragma unroll 1
    for (uint32_t iteration = 0; iteration < iterations; iteration++) {
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < 4 * TOGETHER; i++) wgmma_e4m3_more<COLUMNS>(sums[i % TOGETHER], a, b);
        wgmma_commit();
        wgmma_wait(sums);
    }
    stopwatch.stop(observed);
#pragma unroll
    for (int i = 0; i < TOGETHER; i++) {
#pragma unroll
        for (int j = 0; j < COLUMNS / 2; j++) keep(sums[i][j], observed);
    }
}
