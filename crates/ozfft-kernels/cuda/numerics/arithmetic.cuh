// Arithmetic that C++ has no words for: carries from one register to the next, shifts by any number of
// bits, and instructions that the compiler would not choose. Everything has its equivalent in C++, for the emulator.
#pragma once
#include "arch/threads.cuh"

typedef long long i64;
typedef unsigned long long u64;

#ifdef __CUDACC__

namespace arithmetic {

DEVICE unsigned shift_left(unsigned x, unsigned bits) {  // 0 beyond 31 bits
    unsigned r;
    asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(bits));
    return r;
}
DEVICE unsigned shift_right(unsigned x, unsigned bits) {  // 0 beyond 31 bits
    unsigned r;
    asm("shr.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(bits));
    return r;
}
DEVICE u64 shift_right(u64 x, unsigned bits) {  // 0 beyond 63 bits
    u64 r;
    asm("shr.u64 %0, %1, %2;" : "=l"(r) : "l"(x), "r"(bits));
    return r;
}

// The bits that a number can be shifted to the left by until its leading one is topmost; of 0, 2^32 - 1.
DEVICE unsigned shift_to_top(unsigned x) {
    unsigned shift;
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(shift) : "r"(x));
    return shift;
}
// The number of the leading one, from 0 on; of 0, -1.
DEVICE int leading_bit(unsigned x) {
    int bit;
    asm("bfind.u32 %0, %1;" : "=r"(bit) : "r"(x));
    return bit;
}

// A copy in a register of its own. Sums that stay in use keep the compiler from overlapping products.
DEVICE int register_copy(int x) {
    int y;
    asm volatile("mov.b32 %0, %1;" : "=r"(y) : "r"(x));
    return y;
}

// Here the compiler must have worked out all of these.
DEVICE void compiler_fence(unsigned &a, unsigned &b) { asm volatile("" : "+r"(a), "+r"(b)::"memory"); }
DEVICE void compiler_fence(unsigned &a, float &b, int &c) { asm volatile("" : "+r"(a), "+f"(b), "+r"(c)::"memory"); }
// A sum that is worked out before anything is added to it.
DEVICE i64 compiler_fence(i64 x) {
    asm("" : "+l"(x));
    return x;
}

// A branch that is never taken, as `value` is not negative. The compiler would otherwise begin with the next products before
// the sums of the last ones have been used, and run out of registers. Of two branches for the same `place` it makes one.
DEVICE void scheduling_barrier(int value, int place) {
    asm volatile("{ .reg .pred p; setp.eq.s32 p, %0, %1; @p trap; }" ::"r"(value), "r"(-1 - place) : "memory");
}

// a·b, exactly. Written out, because the compiler takes 64-bit multiplications for lower halves.
DEVICE i64 wide_product(int a, int b) {
    i64 p;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(p) : "r"(a), "r"(b));
    return p;
}

// a·b + c with one rounding.
DEVICE float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
// a + b, rounded downwards.
DEVICE float sum_downwards(float a, float b) { return __fadd_rd(a, b); }
// a·b + c, rounded downwards, or towards zero.
DEVICE float fused_downwards(float a, float b, float c) { return __fmaf_rd(a, b, c); }
DEVICE float fused_towards_zero(float a, float b, float c) { return __fmaf_rz(a, b, c); }
// The larger one of a and the magnitude of x; NaN if there is one.
DEVICE float larger_magnitude(float a, float x) {
    float r;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(fabsf(x)));
    return r;
}
DEVICE int bits_of(float x) { return __float_as_int(x); }
DEVICE float from_bits(unsigned x) { return __uint_as_float(x); }

// The bytes of a (0 to 3) and b (4 to 7) that the digits of `which` name.
DEVICE unsigned chosen_bytes(unsigned a, unsigned b, unsigned which) { return __byte_perm(a, b, which); }

// Bytes of a, without signs, times those of b, with signs, onto c.
DEVICE int dot_product(unsigned a, unsigned b, int c) {
    int r;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}

// The integer next to a number below 2^63.
DEVICE i64 nearest(double x) { return __double2ll_rn(x); }
DEVICE i64 nearest(float x) { return __float2ll_rn(x); }

// Halves, or bytes, of two words added side by side.
DEVICE unsigned add_halves(unsigned a, unsigned b) { return __vadd2(a, b); }
DEVICE unsigned add_bytes(unsigned a, unsigned b) { return __vadd4(a, b); }

// Two integers of three words, added.
DEVICE void add_three(unsigned a0, unsigned a1, unsigned a2, unsigned b0, unsigned b1, unsigned b2, unsigned &s0, unsigned &s1, unsigned &s2) {
    asm("{ add.cc.u32 %0, %3, %6; addc.cc.u32 %1, %4, %7; addc.u32 %2, %5, %8; }"
        : "=&r"(s0), "=&r"(s1), "=r"(s2)
        : "r"(a0), "r"(a1), "r"(a2), "r"(b0), "r"(b1), "r"(b2));
}

// (x ^ sign) + 1 for a sign of 0 or -1, in two registers.
DEVICE void flipped_plus_one(unsigned x0, unsigned x1, int sign, unsigned &w0, unsigned &w1) {
    asm("{ .reg .u32 a, b; xor.b32 a, %2, %4; xor.b32 b, %3, %4; add.cc.u32 %0, a, 1; addc.u32 %1, b, 0; }"
        : "=r"(w0), "=r"(w1)
        : "r"(x0), "r"(x1), "r"(sign));
}

// (x ^ sign) - sign: the magnitude of a number of this sign.
DEVICE void magnitude_of(unsigned x0, unsigned x1, int sign, unsigned &m0, unsigned &m1) {
    asm("{ .reg .u32 a, b; xor.b32 a, %2, %4; xor.b32 b, %3, %4; sub.cc.u32 %0, a, %4; subc.u32 %1, b, %4; }"
        : "=r"(m0), "=r"(m1)
        : "r"(x0), "r"(x1), "r"(sign));
}

// x & mask | bits, for constants: one instruction, where the compiler takes two.
DEVICE unsigned both_or(unsigned x, unsigned mask, unsigned bits) {
    unsigned r;
    asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(r) : "r"(x), "r"(mask), "r"(bits));
    return r;
}

// x & 1 | rest.
DEVICE unsigned lowest_bit_or(unsigned x, unsigned rest) {
    unsigned r;
    asm("lop3.b32 %0, %1, 1, %2, 0xea;" : "=r"(r) : "r"(x), "r"(rest));
    return r;
}

// The sign of x | rest.
DEVICE unsigned sign_or(unsigned x, unsigned rest) {
    unsigned r;
    asm("lop3.b32 %0, %1, 0x80000000, %2, 0xea;" : "=r"(r) : "r"(x), "r"(rest));
    return r;
}

// (f1 + field)·2^32 + f0, and one more where `decide` is above 2^31.
DEVICE void rounded_up(unsigned decide, unsigned f0, unsigned f1, unsigned field, unsigned &low, unsigned &high) {
    asm("{ .reg .u32 d; add.cc.u32 d, %2, 0x7fffffff; addc.cc.u32 %0, %3, 0; addc.u32 %1, %4, %5; }"
        : "=r"(low), "=r"(high)
        : "r"(decide), "r"(f0), "r"(f1), "r"(field));
}

}  // namespace arithmetic

#else
#include "emulation/emulated_arithmetic.h"
#endif

namespace arithmetic {

// The nearest f64 to ±(high·2^32 + low)·2^(base - …), ties to even, where high is not 0. `base` is the field of the
// exponent less one, were the leading bit the topmost, at its place.
DEVICE void round_to_double(unsigned m0, unsigned m1, int sign, int base, unsigned flip, unsigned &low, unsigned &high) {
    const unsigned shift = shift_to_top(m1);
    const unsigned n1 = __funnelshift_l(m0, m1, shift), n0 = shift_left(m0, shift);
    const unsigned f1 = n1 >> 11, f0 = __funnelshift_r(n0, n1, 11);
    // Up when what is cut off is above one half, or just one half and the number is odd.
    const unsigned decide = lowest_bit_or(f0, n0 << 21);
    const unsigned field = (unsigned)base - (shift << 20);
    rounded_up(decide, f0, f1, field, low, high);
    high |= ((unsigned)sign ^ flip) & 0x80000000u;
}

}  // namespace arithmetic
