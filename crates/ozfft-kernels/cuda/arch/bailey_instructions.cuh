// Instructions that the template alone uses, under names that a host-side emulation can implement too.
#pragma once
#include "arch/mma_sync.cuh"
#include "arch/threads.cuh"

#ifdef __CUDACC__

// 8 bytes of a table that no kernel changes.
DEVICE uint2 table_half(const uint2 *place) { return __ldg(place); }

// 16 bytes that are read once: the first-level cache is for tables.
DEVICE uint4 load_once(const uint4 *place) {
    uint4 v;
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(place));
    return v;
}

DEVICE uint2 load_once(const uint2 *place) {
    uint2 v;
    asm volatile("ld.global.L1::no_allocate.v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(place));
    return v;
}

DEVICE unsigned load_once(const unsigned *place) {
    unsigned v;
    asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(place));
    return v;
}

DEVICE int load_shared_byte(uint32_t at) {
    int v;
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(at));
    return v;
}

// The larger one of x and ~x; x, or ~x where `sign` is negative. Both are for code that hardly ever runs: the compiler does not see that these are
// an exclusive or with a sign, which it would keep in a register until then.
DEVICE long long larger_complement(long long x) {
    long long r;
    asm("{ .reg .s64 c; not.b64 c, %1; max.s64 %0, %1, c; }" : "=l"(r) : "l"(x));
    return r;
}
DEVICE long long complement_if_negative(long long x, long long sign) {
    long long r;
    asm("{ .reg .s64 c; .reg .pred p; not.b64 c, %1; setp.lt.s64 p, %2, 0; selp.b64 %0, c, %1, p; }" : "=l"(r) : "l"(x), "l"(sign));
    return r;
}

DEVICE void atomic_maximum(unsigned *place, unsigned value) { atomicMax(place, value); }

// mma.sync m16n8k32 with bytes of `a` that have no signs, onto zeros or onto the four sums from c[at] on.
DEVICE void mma_sync_u8(int (&c)[8], int at, const uint32_t (&a)[4], const uint32_t (&b)[2], bool first) {
    if (first) {
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
                     : "=r"(c[at]), "=r"(c[at + 1]), "=r"(c[at + 2]), "=r"(c[at + 3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(0));
    } else {
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+r"(c[at]), "+r"(c[at + 1]), "+r"(c[at + 2]), "+r"(c[at + 3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
}

// The same with bytes of `a` that have signs.
DEVICE void mma_sync_s8(int (&c)[8], int at, const uint32_t (&a)[4], const uint32_t (&b)[2], bool first) {
    if (first) {
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
                     : "=r"(c[at]), "=r"(c[at + 1]), "=r"(c[at + 2]), "=r"(c[at + 3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(0));
    } else {
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+r"(c[at]), "+r"(c[at + 1]), "+r"(c[at + 2]), "+r"(c[at + 3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
}

#endif
