// The names of arithmetic.cuh, and the compiler's functions that kernels use, on a host without a GPU.
#pragma once
#include <cfenv>
#include <algorithm>
#include <cmath>
#include <cstring>

DEVICE unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
DEVICE int __clz(unsigned x) { return x == 0 ? 32 : __builtin_clz(x); }

// The upper, or the lower, half of two registers side by side that are shifted by less than 32 bits.
DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned bits) {
    return (unsigned)(((u64)high << 32 | low) << (bits & 31) >> 32);
}
// By up to 32.
DEVICE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned bits) { return bits > 31 ? low : __funnelshift_l(low, high, bits); }
DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned bits) {
    return (unsigned)(((u64)high << 32 | low) >> (bits & 31));
}

DEVICE double __hiloint2double(int high, int low) {
    const u64 bits = (u64)(unsigned)high << 32 | (unsigned)low;
    double x;
    std::memcpy(&x, &bits, sizeof(x));
    return x;
}
DEVICE u64 bits_of_double(double x) {
    u64 bits;
    std::memcpy(&bits, &x, sizeof(bits));
    return bits;
}
DEVICE int __double2hiint(double x) { return (int)(bits_of_double(x) >> 32); }
DEVICE int __double2loint(double x) { return (int)bits_of_double(x); }
DEVICE double __fma_rn(double x, double y, double z) { return std::fma(x, y, z); }
// Rounded towards zero. Volatile: the compiler takes no notice of the rounding mode.
DEVICE double __fma_rz(double x, double y, double z) {
    const volatile double a = x, b = y, c = z;
    const int mode = std::fegetround();
    std::fesetround(FE_TOWARDZERO);
    const volatile double result = std::fma(a, b, c);
    std::fesetround(mode);
    return result;
}
// Cut off towards zero; what does not fit becomes the nearest integer that does.
DEVICE i64 __double2ll_rz(double x) {
    constexpr i64 LEAST = -0x7fffffffffffffff - 1;
    if (!(x >= -9223372036854775808.0)) return LEAST;  // NaN among them
    return x >= 9223372036854775808.0 ? -(LEAST + 1) : (i64)x;
}

DEVICE double __ll2double_rn(i64 x) { return (double)x; }
using std::fabs;

namespace arithmetic {

DEVICE unsigned shift_left(unsigned x, unsigned bits) { return bits > 31 ? 0 : x << bits; }
DEVICE unsigned shift_right(unsigned x, unsigned bits) { return bits > 31 ? 0 : x >> bits; }
DEVICE u64 shift_right(u64 x, unsigned bits) { return bits > 63 ? 0 : x >> bits; }
DEVICE unsigned shift_to_top(unsigned x) { return x == 0 ? 0xffffffffu : (unsigned)__builtin_clz(x); }
DEVICE int leading_bit(unsigned x) { return 31 - __clz(x); }
DEVICE int register_copy(int x) { return x; }
DEVICE void compiler_fence(unsigned &, unsigned &) {}
DEVICE void compiler_fence(unsigned &, float &, int &) {}
DEVICE i64 compiler_fence(i64 x) { return x; }
DEVICE void scheduling_barrier(int, int) {}
DEVICE float fused(float a, float b, float c) { return std::fmaf(a, b, c); }
// a·b + c, the product of which is exact in double precision: rounded to the nearest, then corrected by what that has added
// to the exact sum of two parts.
DEVICE float fused_corrected(float a, float b, float c, bool (*wrong)(float rounded, double excess), float towards) {
    const double x = (double)a * b, y = c, sum = x + y, of_y = sum - x;
    const double rest = (x - (sum - of_y)) + (y - of_y);
    const float rounded = (float)sum;
    return wrong(rounded, (double)rounded - sum - rest) ? std::nextafter(rounded, towards) : rounded;
}
DEVICE float fused_downwards(float a, float b, float c) {
    return fused_corrected(a, b, c, [](float, double excess) { return excess > 0; }, -INFINITY);
}
DEVICE float sum_downwards(float a, float b) { return fused_downwards(a, 1, b); }
DEVICE float fused_towards_zero(float a, float b, float c) {
    return fused_corrected(a, b, c, [](float x, double excess) { return x < 0 ? excess < 0 : excess > 0; }, 0.0f);
}
DEVICE float larger_magnitude(float a, float x) { return std::isnan(a) || std::isnan(x) ? NAN : std::max(a, std::fabs(x)); }
DEVICE float from_bits(unsigned x) {
    float value;
    std::memcpy(&value, &x, sizeof(value));
    return value;
}
DEVICE int bits_of(float x) {
    int bits;
    std::memcpy(&bits, &x, sizeof(bits));
    return bits;
}
DEVICE unsigned chosen_bytes(unsigned a, unsigned b, unsigned which) {
    const u64 bytes = (u64)b << 32 | a;
    unsigned chosen = 0;
    for (int byte = 0; byte < 4; byte++) chosen |= (unsigned)(bytes >> (8 * (which >> (4 * byte) & 7)) & 0xff) << (8 * byte);
    return chosen;
}
DEVICE int dot_product(unsigned a, unsigned b, int c) {
    for (int byte = 0; byte < 4; byte++) c += (int)(a >> (8 * byte) & 0xff) * (signed char)(b >> (8 * byte));
    return c;
}
DEVICE i64 nearest(double x) { return (i64)std::nearbyint(x); }
DEVICE i64 nearest(float x) { return (i64)std::nearbyint(x); }
DEVICE unsigned add_halves(unsigned a, unsigned b) { return ((a + b) & 0xffff) | ((a >> 16) + (b >> 16)) << 16; }
DEVICE unsigned add_bytes(unsigned a, unsigned b) {
    unsigned sums = 0;
    for (int byte = 0; byte < 32; byte += 8) sums |= (((a >> byte) + (b >> byte)) & 0xff) << byte;
    return sums;
}
DEVICE void add_three(unsigned a0, unsigned a1, unsigned a2, unsigned b0, unsigned b1, unsigned b2, unsigned &s0, unsigned &s1, unsigned &s2) {
    u64 sum = (u64)a0 + b0;
    s0 = (unsigned)sum;
    sum = (sum >> 32) + a1 + b1;
    s1 = (unsigned)sum;
    s2 = (unsigned)(sum >> 32) + a2 + b2;
}
DEVICE i64 wide_product(int a, int b) { return (i64)a * b; }

DEVICE void flipped_plus_one(unsigned x0, unsigned x1, int sign, unsigned &w0, unsigned &w1) {
    const u64 sum = (((u64)x1 << 32 | x0) ^ (u64)(i64)sign) + 1;
    w0 = (unsigned)sum;
    w1 = (unsigned)(sum >> 32);
}
DEVICE void magnitude_of(unsigned x0, unsigned x1, int sign, unsigned &m0, unsigned &m1) {
    const u64 magnitude = (((u64)x1 << 32 | x0) ^ (u64)(i64)sign) - (u64)(i64)sign;
    m0 = (unsigned)magnitude;
    m1 = (unsigned)(magnitude >> 32);
}
DEVICE unsigned sign_or(unsigned x, unsigned rest) { return (x & 0x80000000u) | rest; }
DEVICE unsigned both_or(unsigned x, unsigned mask, unsigned bits) { return (x & mask) | bits; }
DEVICE unsigned lowest_bit_or(unsigned x, unsigned rest) { return (x & 1) | rest; }
DEVICE void rounded_up(unsigned decide, unsigned f0, unsigned f1, unsigned field, unsigned &low, unsigned &high) {
    const u64 sum = ((u64)(f1 + field) << 32 | f0) + (decide > 0x80000000u);
    low = (unsigned)sum;
    high = (unsigned)(sum >> 32);
}

}  // namespace arithmetic
