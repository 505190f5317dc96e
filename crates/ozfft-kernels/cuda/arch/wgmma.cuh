// target: sm_90a
// wgmma: a warpgroup (4 warps) multiplies 64 rows of A, in registers, with columns of B in shared memory.
//
// 8-bit integers, those of A unsigned, those of B signed, m64n32k32. Warp w holds rows 16w to 16w+15 of A as mma.sync holds
// its 16 rows (mma_sync.cuh); sums of row g are c[4j], c[4j+1] (columns 8j+2t and 8j+2t+1), those of row g+8 c[4j+2] and
// c[4j+3].
// B lies K-major without swizzle: groups of 8 columns, each two pieces (bytes 0 to 15, bytes 16 to 31 of K) of
// 8 columns × 16 bytes, one after the other.
#pragma once
#include "arch/threads.cuh"

// Where B lies: a group of 8 columns every 256 bytes, its second piece 128 bytes after the first.
DEVICE uint64_t wgmma_matrix(uint32_t address) {
    return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32;
}

#ifdef __CUDACC__

// Registers that the next products read or write may have been changed.
DEVICE void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Here the compiler must take it that these have changed.
DEVICE void wgmma_changes(int &sum) { asm volatile("" : "+r"(sum)); }
DEVICE void wgmma_changes(float &sum) { asm volatile("" : "+f"(sum)); }
template <class Sums, int COUNT> DEVICE void wgmma_changes(Sums (&sums)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) wgmma_changes(sums[i]);
}
// Waits for all products; `sums` are all that they write. To the compiler a product has its sums at once: it might use them, or copy them to other registers,
// before the wait, if the wait did not say that it changes them.
template <class... Sums> DEVICE void wgmma_wait(Sums &...sums) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    (wgmma_changes(sums), ...);
}
// Shared memory written by ordinary stores is read by products from here on (followed by a barrier).
DEVICE void wgmma_publish() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// c = a·b, 32 columns.
DEVICE void wgmma_u8_n32_first(int (&c)[16], const unsigned (&a)[4], uint64_t b) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, 0, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n32k32.s32.u8.s8 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
                 "{%16, %17, %18, %19}, %20, p; }"
                 : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3]), "=r"(c[4]), "=r"(c[5]), "=r"(c[6]), "=r"(c[7]), "=r"(c[8]), "=r"(c[9]), "=r"(c[10]), "=r"(c[11]), "=r"(c[12]), "=r"(c[13]), "=r"(c[14]), "=r"(c[15])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// c += a·b, 32 columns.
DEVICE void wgmma_u8_n32_more(int (&c)[16], const unsigned (&a)[4], uint64_t b) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n32k32.s32.u8.s8 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
                 "{%16, %17, %18, %19}, %20, p; }"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]), "+r"(c[5]), "+r"(c[6]), "+r"(c[7]), "+r"(c[8]), "+r"(c[9]), "+r"(c[10]), "+r"(c[11]), "+r"(c[12]), "+r"(c[13]), "+r"(c[14]), "+r"(c[15])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

#else
#include "emulation/emulated_wgmma.h"
#endif
