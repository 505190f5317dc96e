// Kernels that measure wgmma: its speed with 8-bit integers and e4m3, and which integers its e4m3 sums keep.
//
// target: sm_90a
// expect: probe_wgmma_s8_m64n256k32_shared 8 IGMMA\.64x256x32
// expect: probe_wgmma_s8_m64n256k32_registers 8 IGMMA\.64x256x32
// expect: probe_wgmma_s8_m64n64k32_shared 32 IGMMA\.64x64x32
// expect: probe_wgmma_s8_m64n64k32_registers 32 IGMMA\.64x64x32
// expect: probe_wgmma_s8_m64n32k32_shared 64 IGMMA\.64x32x32
// expect: probe_wgmma_s8_m64n32k32_registers 64 IGMMA\.64x32x32
// expect: probe_wgmma_e4m3_m64n256k32_shared 8 QGMMA\.64x256x32
// expect: probe_wgmma_e4m3_m64n256k32_registers 8 QGMMA\.64x256x32
// expect: probe_exactness_wgmma_e4m3 1 QGMMA\.64x64x32
#include "probes/probe.cuh"
#include "probes/wgmma_probe.cuh"

// Up to four warpgroups with a matrix A of their own each, and one B.
constexpr int A_BYTES = 64 * 32;
constexpr int B_BYTES = 256 * 32;
constexpr int WARPGROUPS = 4;

// Bytes without the patterns that mean "no number" in e4m3.
DEVICE uint32_t digits(uint32_t seed) { return scrambled(seed) & 0xb7b7b7b7u; }

// The number of the warpgroup, in a form that the compiler knows to be the same in all lanes: it would otherwise move
// the descriptor into uniform registers for every product.
DEVICE int warpgroup() { return shuffle(static_cast<int>(threadIdx.x / 128), 0); }

// `iterations` times `BATCH` products into the same sums, as the loop over k of a matrix product does it.
template <class Sum, int COUNT, int BATCH, class A, class Product>
DEVICE void products(uint64_t *observed, uint32_t iterations, const A &a, uint64_t b, Product product) {
    Sum sums[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; i++) sums[i] = 0;
    Stopwatch stopwatch;
    stopwatch.start();
#pragma unroll 1
    for (uint32_t iteration = 0; iteration < iterations; iteration++) {
        wgmma_fence();
#pragma unroll
        for (int number = 0; number < BATCH; number++) product(sums, a, b);
        wgmma_commit();
        wgmma_wait(sums);
    }
    stopwatch.stop(observed);
#pragma unroll
    for (int i = 0; i < COUNT; i++) keep(sums[i], observed);
}

#define WGMMA_KERNELS(name, Sum, count, batch, threads)                                                                \
    PROBE_KERNEL __launch_bounds__(threads)                                                                            \
        probe_wgmma_##name##_shared(uint64_t *observed, uint32_t iterations, uint32_t first, uint32_t second) {        \
        __shared__ __align__(1024) uint32_t memory[(WARPGROUPS * A_BYTES + B_BYTES) / 4];                              \
        fill(memory, first + second);                                                                                  \
        const uint64_t a = descriptor_of(memory + warpgroup() * (A_BYTES / 4));                                        \
        const uint64_t b = descriptor_of(memory + WARPGROUPS * (A_BYTES / 4));                                         \
        products<Sum, count, batch>(observed, iterations, a, b,                                                        \
                                    [](Sum(&sums)[count], uint64_t a, uint64_t b) { wgmma_##name(sums, a, b); });      \
    }                                                                                                                  \
    PROBE_KERNEL __launch_bounds__(threads)                                                                            \
        probe_wgmma_##name##_registers(uint64_t *observed, uint32_t iterations, uint32_t first, uint32_t second) {     \
        __shared__ __align__(1024) uint32_t memory[(WARPGROUPS * A_BYTES + B_BYTES) / 4];                              \
        fill(memory, second);                                                                                          \
        uint32_t a[4];                                                                                                 \
        for (int part = 0; part < 4; part++) a[part] = digits(first + threadIdx.x * 4 + part);                         \
        const uint64_t b = descriptor_of(memory + WARPGROUPS * (A_BYTES / 4));                                         \
        products<Sum, count, batch>(                                                                                   \
            observed, iterations, a, b,                                                                                \
            [](Sum(&sums)[count], const uint32_t(&a)[4], uint64_t b) { wgmma_##name(sums, a, b); });                   \
    }

DEVICE void fill(uint32_t (&memory)[(WARPGROUPS * A_BYTES + B_BYTES) / 4], uint32_t seed) {
    for (uint32_t i = threadIdx.x; i < sizeof memory / 4; i += blockDim.x) memory[i] = digits(seed + i);
    wgmma_publish();
    block_barrier();
}

WGMMA_KERNELS(s8_m64n256k32, int, 128, 8, 256)
WGMMA_KERNELS(s8_m64n64k32, int, 32, 32, 512)
WGMMA_KERNELS(s8_m64n32k32, int, 16, 64, 512)
WGMMA_KERNELS(e4m3_m64n256k32, float, 128, 8, 256)

// sums[tile][row][column] of 64 × 64 from a[tile][row][k] and b[tile][column][k]; one warpgroup a tile.
PROBE_KERNEL __launch_bounds__(128)
    probe_exactness_wgmma_e4m3(float *sums, const uint32_t *a, const uint32_t *b, uint32_t words_of_k) {
    __shared__ __align__(1024) unsigned char left[A_BYTES], right[A_BYTES];
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int row = threadIdx.x / 32 * 16 + g;
    sums += uint64_t(blockIdx.x) * 64 * 64;
    a += uint64_t(blockIdx.x) * 64 * words_of_k;
    b += uint64_t(blockIdx.x) * 64 * words_of_k;
    float d[32];
#pragma unroll
    for (int i = 0; i < 32; i++) d[i] = 0;
#pragma unroll 1
    for (uint32_t k = 0; k < words_of_k; k += 8) {
        for (uint32_t i = threadIdx.x; i < A_BYTES / 4; i += 128) {
            const uint32_t offset = core_offset(i / 8, i % 8 * 4);
            *reinterpret_cast<uint32_t *>(left + offset) = a[i / 8 * words_of_k + k + i % 8];
            *reinterpret_cast<uint32_t *>(right + offset) = b[i / 8 * words_of_k + k + i % 8];
        }
        wgmma_publish();
        block_barrier();
        wgmma_fence();
        wgmma_e4m3_m64n64k32(d, descriptor_of(left), descriptor_of(right));
        wgmma_commit();
        wgmma_wait(d);
        block_barrier();
    }
#pragma unroll
    for (int i = 0; i < 32; i++) sums[(row + i / 2 % 2 * 8) * 64 + i / 4 * 8 + 2 * t + i % 2] = d[i];
}
