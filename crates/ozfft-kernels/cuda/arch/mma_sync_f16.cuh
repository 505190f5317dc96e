// mma.sync m16n8k16 on f16 with sums in f32: compute capability 8.0 and later. Operands lie as those of mma_sync.cuh, two numbers of 16 bits where it
// has four of 8.
//
// Sums begin at 3/4 and count in units of 2^-24, of which an f32 from 1/2 to 1 has 23 bits: what is added are numbers of f16 below the normal ones, which
// are multiples of 2^-24, times integers. So the bits of a sum are those of 3/4 plus an integer, and nothing has to be converted. That the unit keeps all of
// the 24 bits, however many products it adds at a time, is asked of the device (f16_exactness.cu); that no sum leaves the range, of the matrices.
#pragma once
#include "arch/mma_sync.cuh"

// The bits of 3/4, and how far a sum may be from it, in units.
constexpr int F16_START = 0x3f400000, F16_ROOM = 1 << 22;

#ifdef __CUDACC__

// Onto 3/4, or onto the four sums from c[at] on; as bits.
template <int COUNT> DEVICE void mma_sync_f16(int (&c)[COUNT], int at, const uint32_t (&a)[4], const uint32_t (&b)[2], bool first) {
    if (first) {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
                     : "=r"(c[at]), "=r"(c[at + 1]), "=r"(c[at + 2]), "=r"(c[at + 3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(F16_START));
    } else {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+r"(c[at]), "+r"(c[at + 1]), "+r"(c[at + 2]), "+r"(c[at + 3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
}

#else
#include "emulation/emulated_mma_f16.h"
#endif
