// The rounding rotation: a word times a table entry of modulus about 1, in signed 32-bit halves (twiddle.rs).
#pragma once
#include "numerics/arithmetic.cuh"
#include "portable/task.cuh"

// The high signed half: what is left is the lower 32 bits as a signed integer.
DEVICE int32_t high_half(int64_t x) { return static_cast<int32_t>(x >> 32) + static_cast<int32_t>(static_cast<uint32_t>(x) >> 31); }

DEVICE int64_t wide_product(int32_t a, int32_t b) { return arithmetic::wide_product(a, b); }

// Unsigned sums wrap where signed ones would be undefined; head-room keeps the results within range.
DEVICE int64_t wrapping_add(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
DEVICE int64_t wrapping_subtract(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
DEVICE int64_t negated(int64_t a) { return wrapping_subtract(0, a); }
DEVICE int64_t shifted_left(int64_t a, int bits) { return static_cast<int64_t>(static_cast<uint64_t>(a) << bits); }

DEVICE Angle angle_of(Words x) {
    return {high_half(x.re), static_cast<int32_t>(x.re), high_half(x.im), static_cast<int32_t>(x.im)};
}
DEVICE Words words_of(Angle x) {
    return {wide_product(x.re_high, 1) * (int64_t{1} << 32) + x.re_low, wide_product(x.im_high, 1) * (int64_t{1} << 32) + x.im_low};
}

// `y · angle / 2^62`: high products exactly, cross products to nearest, halves upwards; the low product is left out. Sums are
// written so that every product but the first comes with its addition.
DEVICE Words rotate(Words y, Angle angle) {
    const int32_t re_high = high_half(y.re), re_low = static_cast<int32_t>(y.re);
    const int32_t im_high = high_half(y.im), im_low = static_cast<int32_t>(y.im);
    // High halves are far from the ends of their range: their negatives are exact.
    const int32_t minus_im_high = -im_high, minus_angle_im_high = -angle.im_high;
    const int64_t half = int64_t{1} << 29;
    int64_t cross_re = wide_product(re_high, angle.re_low) + half, cross_im = wide_product(re_high, angle.im_low) + half;
    cross_re = wide_product(re_low, angle.re_high) + cross_re;
    cross_im = wide_product(re_low, angle.im_high) + cross_im;
    cross_re = wide_product(minus_im_high, angle.im_low) + cross_re;
    cross_im = wide_product(im_high, angle.re_low) + cross_im;
    cross_re = wide_product(im_low, minus_angle_im_high) + cross_re;
    cross_im = wide_product(im_low, angle.re_high) + cross_im;
    // (high << 2) + (cross >> 30): the upper word of the cross products joins the high ones, two of its bits follow.
    int64_t high_re = cross_re >> 32, high_im = cross_im >> 32;
    high_re = wide_product(re_high, angle.re_high) + high_re;
    high_im = wide_product(re_high, angle.im_high) + high_im;
    high_re = wide_product(minus_im_high, angle.im_high) + high_re;
    high_im = wide_product(im_high, angle.re_high) + high_im;
    auto joined = [](int64_t high, int64_t cross) {
        return static_cast<int64_t>(static_cast<uint64_t>(high) << 2 | static_cast<uint32_t>(cross) >> 30);
    };
    return {joined(high_re, cross_re), joined(high_im, cross_im)};
}
