// The rounding rotation: a word times a table entry of modulus about 1, in signed 32-bit halves (twiddle.rs).
#pragma once
#include "task.cuh"

// The high signed half: what is left is the lower 32 bits as a signed integer.
DEVICE int32_t high_half(int64_t x) { return static_cast<int32_t>((x + (int64_t{1} << 31)) >> 32); }

DEVICE int64_t wide_product(int32_t a, int32_t b) { return static_cast<int64_t>(a) * b; }

// Unsigned sums wrap where signed ones would be undefined; head-room keeps the results within range.
DEVICE int64_t wrapping_add(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
DEVICE int64_t wrapping_subtract(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
DEVICE int64_t negated(int64_t a) { return wrapping_subtract(0, a); }
DEVICE int64_t shifted_left(int64_t a, int bits) { return static_cast<int64_t>(static_cast<uint64_t>(a) << bits); }

DEVICE int64_t joined_products(int64_t high, int64_t cross) {
    return wrapping_add(shifted_left(high, 2), (wrapping_add(cross, int64_t{1} << 29)) >> 30);
}

DEVICE Angle angle_of(Words x) {
    return {high_half(x.re), static_cast<int32_t>(x.re), high_half(x.im), static_cast<int32_t>(x.im)};
}
DEVICE Words words_of(Angle x) {
    return {wide_product(x.re_high, 1) * (int64_t{1} << 32) + x.re_low, wide_product(x.im_high, 1) * (int64_t{1} << 32) + x.im_low};
}

// `y · angle / 2^62`: high products exactly, cross products to nearest, halves upwards; the low product is left out.
DEVICE Words rotate(Words y, Angle angle) {
    const int32_t re_high = high_half(y.re), re_low = static_cast<int32_t>(y.re);
    const int32_t im_high = high_half(y.im), im_low = static_cast<int32_t>(y.im);
    const int64_t high_re = wide_product(re_high, angle.re_high) - wide_product(im_high, angle.im_high);
    const int64_t high_im = wide_product(re_high, angle.im_high) + wide_product(im_high, angle.re_high);
    const int64_t cross_re = wrapping_subtract(wrapping_add(wide_product(re_high, angle.re_low), wide_product(re_low, angle.re_high)),
                                               wrapping_add(wide_product(im_high, angle.im_low), wide_product(im_low, angle.im_high)));
    const int64_t cross_im = wrapping_add(wrapping_add(wide_product(re_high, angle.im_low), wide_product(re_low, angle.im_high)),
                                          wrapping_add(wide_product(im_high, angle.re_low), wide_product(im_low, angle.re_high)));
    return {joined_products(high_re, cross_re), joined_products(high_im, cross_im)};
}
