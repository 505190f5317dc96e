// mma.sync m16n8k32 with 8-bit floating-point numbers (e4m3) and sums in f32: compute capability 8.9 and later. Operands lie as those of
// mma_sync.cuh. Compute capability 9.0, 10.0 and 10.3 have no such instruction: the compiler makes it of two on f16, after conversions, and additions in f32.
//
// Of what sums keep no more is taken for granted than Hopper's `wgmma` has: sums of integers are exact as long as no sum on the way
// exceeds 2^14 units of the products' last place. Whoever multiplies has to know a bound, and the device is asked
// (fp8_exactness_mma_sync.cu).
#pragma once
#include "arch/mma_sync.cuh"

#ifdef __CUDACC__

// Onto zeros, or onto the four sums from c[at] on.
template <int COUNT> DEVICE void mma_sync_e4m3(float (&c)[COUNT], int at, const uint32_t (&a)[4], const uint32_t (&b)[2], bool first) {
    if (first) {
        asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
                     : "=f"(c[at]), "=f"(c[at + 1]), "=f"(c[at + 2]), "=f"(c[at + 3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.0f));
    } else {
        asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c[at]), "+f"(c[at + 1]), "+f"(c[at + 2]), "+f"(c[at + 3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
}

#else
#include "emulation/emulated_mma_fp8.h"
#endif
