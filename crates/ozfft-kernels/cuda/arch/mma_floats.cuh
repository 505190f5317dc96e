// mma.sync m16n8k16 of bf16 or f16 numbers with f32 sums, and these formats: compute capability 8.0 and later.
//
// Lane = 4·g + t; numbers come in pairs, the first in the lower half. A (16 × 8 pairs): a[0] row g, pair t; a[1] row g+8,
// pair t; a[2] row g, pair t+4; a[3] row g+8, pair t+4. B (8 pairs × 8): b[0] pair t, column g; b[1] pair t+4, column g.
// C (16 × 8 sums): c[0], c[1] row g, columns 2t and 2t+1; c[2], c[3] row g+8.
//
// Products are not volatile, unlike those of mma_sync.cuh: the compiler may put them into any order that their sums allow.
#pragma once
#include "arch/threads.cuh"
#include "numerics/arithmetic.cuh"

enum class Format { BF16, F16 };

#ifdef __CUDACC__

template <Format FORMAT> DEVICE void mma_floats(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    if constexpr (FORMAT == Format::BF16) {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    } else {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
}

// Two numbers rounded to the nearest of the format, ties to even.
template <Format FORMAT> DEVICE uint32_t to_pair(float first, float second) {
    uint32_t pair;
    if constexpr (FORMAT == Format::BF16) {
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    } else {
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    }
    return pair;
}
DEVICE float from_f16(uint32_t half) {
    float value;
    asm("{ .reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h; }" : "=f"(value) : "r"(half));
    return value;
}

// 16 or 8 bytes of numbers that are read, or written, once.
DEVICE float4 read_once(const float4 *from) { return __ldcs(from); }
DEVICE float2 read_once(const float2 *from) { return __ldcs(from); }
DEVICE void write_once(float4 *to, float4 value) { __stcs(to, value); }
DEVICE void write_once(float2 *to, float2 value) { __stcs(to, value); }

// A constant of a table that no kernel changes.
template <class T> DEVICE T constant_entry(const T *from) { return __ldg(from); }

// The integer next to a number, ties to even.
DEVICE float to_integer(float x) { return rintf(x); }
// A product that is rounded whatever is added to it.
DEVICE double unfused(double a, double b) { return __dmul_rn(a, b); }
DEVICE float unfused(float a, float b) { return __fmul_rn(a, b); }

#else
#include "emulation/emulated_mma_floats.h"
#endif

// One number of a pair.
template <Format FORMAT> DEVICE float first_of(uint32_t pair) {
    if constexpr (FORMAT == Format::BF16) {
        return arithmetic::from_bits(pair << 16);
    } else {
        return from_f16(pair & 0xffff);
    }
}
template <Format FORMAT> DEVICE float second_of(uint32_t pair) {
    if constexpr (FORMAT == Format::BF16) {
        return arithmetic::from_bits(pair & 0xffff0000u);
    } else {
        return from_f16(pair >> 16);
    }
}
