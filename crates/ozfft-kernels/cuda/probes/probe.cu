// Kernels that measure what a GPU can do per second: its pipes, its memory, mma.sync with 8-bit integers.
//
// The kernels of the pipes run chains of one instruction, several to a thread, each step depending on the one before.
// Operands are unknown to the compiler and steps mix neighbouring chains, so that no two steps can become one; `check`
// counts the instructions that are left, and that there are hardly any others.
//
// expect: probe_imad 128 IMAD$ 280
// expect: probe_imad_wide 128 IMAD\.WIDE 280
// expect: probe_imad_hi 128 IMAD\.HI 280
// expect: probe_lop3 128 LOP3 280
// expect: probe_prmt 128 PRMT 280
// expect: probe_shf 128 SHF 280
// expect: probe_iadd3 128 IADD3 280
// expect: probe_dp4a 128 IDP 280
// expect: probe_imad_and_iadd3 64 IMAD$ 280
// expect: probe_imad_and_iadd3 64 IADD3 280
// expect: probe_add_64 128 (IADD|IMAD\.X) 400
// expect: probe_ffma 128 FFMA 280
// expect: probe_fp64_dfma 128 DFMA 280
// expect: probe_fp64_from_s32 128 I2F\.F64 280
// expect: probe_fp64_from_s64 128 I2F\.F64\.S64 280
// expect: probe_fp64_to_s64 128 F2I\.S64\.F64 280
// expect: probe_mma_sync_s8 32 IMMA\.16832
// expect: probe_copy 4 LDG\S*\.128
// expect: probe_copy 4 STG\S*\.128
#include "arch/mma_sync.cuh"
#include "probes/probe.cuh"

constexpr int CHAINS = 8;
constexpr int STEPS = 16;

// `iterations` times STEPS steps of CHAINS chains; `step(own, neighbour)` changes its first argument.
template <class Value, class Step> DEVICE void chains(uint64_t *observed, uint32_t iterations, Step step) {
    Value values[CHAINS];
#pragma unroll
    for (int chain = 0; chain < CHAINS; chain++) values[chain] = scrambled(threadIdx.x * CHAINS + chain);
    Stopwatch stopwatch;
    stopwatch.start();
#pragma unroll 1
    for (uint32_t iteration = 0; iteration < iterations; iteration++) {
#pragma unroll
        for (int number = 0; number < STEPS; number++) {
#pragma unroll
            for (int chain = 0; chain < CHAINS; chain++) step(values[chain], values[(chain + 2) % CHAINS], chain);
        }
    }
    stopwatch.stop(observed);
#pragma unroll
    for (int chain = 0; chain < CHAINS; chain++) keep(values[chain], observed);
}

// Eight blocks of 256 threads fill a multiprocessor where it takes 2048 threads.
#define PIPE_KERNEL(name, Value, code)                                                                                 \
    PROBE_KERNEL __launch_bounds__(256, 8)                                                                             \
        name(uint64_t *observed, uint32_t iterations, uint32_t first, uint32_t second) {                               \
        chains<Value>(observed, iterations, [=](Value &own, Value neighbour, int chain) { code; });                    \
    }

PIPE_KERNEL(probe_imad, uint32_t, asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(own) : "r"(first), "r"(second)))
// Without an addend: with one of 64 bits, the compiler makes three instructions of it up to compute capability 10.3.
PIPE_KERNEL(probe_imad_wide, uint64_t,
            asm volatile("{ .reg .b32 low, high; mov.b64 {low, high}, %0; mul.wide.u32 %0, low, high; }" : "+l"(own)))
PIPE_KERNEL(probe_imad_hi, uint32_t, asm volatile("mad.hi.u32 %0, %0, %1, %2;" : "+r"(own) : "r"(first), "r"(second)))
// 0xe8 is the majority of three bits.
PIPE_KERNEL(probe_lop3, uint32_t,
            asm volatile("lop3.b32 %0, %0, %1, %2, 0xe8;" : "+r"(own) : "r"(neighbour), "r"(first)))
PIPE_KERNEL(probe_prmt, uint32_t, asm volatile("prmt.b32 %0, %0, %1, %2;" : "+r"(own) : "r"(neighbour), "r"(first)))
PIPE_KERNEL(probe_shf, uint32_t,
            asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(own) : "r"(neighbour), "r"(first)))
#define ADD_3                                                                                                          \
    asm volatile("{ .reg .b32 sum; add.u32 sum, %0, %1; add.u32 %0, sum, %2; }"                                        \
                 : "+r"(own)                                                                                           \
                 : "r"(neighbour), "r"(first))
PIPE_KERNEL(probe_iadd3, uint32_t, ADD_3)
PIPE_KERNEL(probe_dp4a, uint32_t,
            asm volatile("dp4a.s32.s32 %0, %0, %1, %2;" : "+r"(own) : "r"(first), "r"(neighbour)))
PIPE_KERNEL(
    probe_imad_and_iadd3, uint32_t, if (chain % 2) { ADD_3; } else {
        asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(own) : "r"(first), "r"(second));
    })
PIPE_KERNEL(probe_add_64, uint64_t, asm volatile("add.u64 %0, %0, %1;" : "+l"(own) : "l"(neighbour)))
PIPE_KERNEL(probe_ffma, float,
            asm volatile("fma.rn.f32 %0, %0, %1, %2;"
                         : "+f"(own)
                         : "f"(__uint_as_float(first)), "f"(__uint_as_float(second))))
PIPE_KERNEL(probe_fp64_dfma, double,
            asm volatile("{ .reg .f64 factor; mov.b64 factor, {%1, %2}; fma.rn.f64 %0, %0, factor, factor; }"
                         : "+d"(own)
                         : "r"(first), "r"(second)))
// Conversions take the bits of the last result as they are, which needs no instruction.
PIPE_KERNEL(probe_fp64_from_s32, double,
            asm volatile("{ .reg .b32 low, high; mov.b64 {low, high}, %0; cvt.rn.f64.s32 %0, high; }" : "+d"(own)))
PIPE_KERNEL(probe_fp64_from_s64, double,
            asm volatile("{ .reg .b64 bits; mov.b64 bits, %0; cvt.rn.f64.s64 %0, bits; }" : "+d"(own)))
PIPE_KERNEL(probe_fp64_to_s64, double,
            asm volatile("{ .reg .b64 bits; cvt.rni.s64.f64 bits, %0; mov.b64 %0, bits; }" : "+d"(own)))

// Sixteen bytes at a time, four times 4 KB a block.
PROBE_KERNEL probe_copy(uint4 *target, const uint4 *source) {
    const uint64_t first = uint64_t(blockIdx.x) * 1024 + threadIdx.x;
    uint4 values[4];
#pragma unroll
    for (int part = 0; part < 4; part++) values[part] = source[first + part * 256];
#pragma unroll
    for (int part = 0; part < 4; part++) target[first + part * 256] = values[part];
}

// Four rounds of eight independent products an iteration and warp.
PROBE_KERNEL __launch_bounds__(512)
    probe_mma_sync_s8(uint64_t *observed, uint32_t iterations, uint32_t first, uint32_t second) {
    int sums[CHAINS][4] = {};
    uint32_t a[4], b[2];
    for (int part = 0; part < 4; part++) a[part] = scrambled(first + threadIdx.x * 4 + part);
    for (int part = 0; part < 2; part++) b[part] = scrambled(second + threadIdx.x * 2 + part);
    Stopwatch stopwatch;
    stopwatch.start();
#pragma unroll 1
    for (uint32_t iteration = 0; iteration < iterations; iteration++) {
#pragma unroll
        for (int number = 0; number < 4 * CHAINS; number++) mma_sync_s8(sums[number % CHAINS], a, b);
    }
    stopwatch.stop(observed);
#pragma unroll
    for (int chain = 0; chain < CHAINS; chain++) {
        keep(sums[chain][0] + sums[chain][1] + sums[chain][2] + sums[chain][3], observed);
    }
}
