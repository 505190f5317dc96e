// Numbers with exponents of their own become words under one exponent a line (quantise.rs).
#pragma once
#include "numerics/convert.cuh"

constexpr int SUM_BITS = 21;
// Below the scale of any number.
constexpr int32_t NOTHING = -100000;

// `±magnitude · 2^exponent`.
struct Decoded {
    uint64_t magnitude;
    int32_t exponent;
    bool negative;
};

DEVICE Decoded decoded_double(uint64_t bits) {
    const int32_t field = static_cast<int32_t>((bits >> 52) & 0x7ff);
    const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
    return {fraction | (field != 0 ? uint64_t{1} << 52 : 0), (field > 1 ? field : 1) - 1075, (bits & SIGN) != 0};
}

DEVICE Decoded decoded_word(int64_t word, int32_t exponent) {
    const bool negative = word < 0;
    const uint64_t bits = static_cast<uint64_t>(word);
    return {negative ? 0 - bits : bits, exponent, negative};
}

// The bit position just above the leading bit; nothing for zero.
DEVICE int32_t scale_of(Decoded x) {
    return x.magnitude == 0 ? NOTHING : x.exponent + 64 - leading_zeros(x.magnitude);
}

// `⌊|x| / 2^unit⌋`.
DEVICE uint64_t floor_to(Decoded x, int32_t unit) {
    const int32_t right = unit - x.exponent;
    if (right >= 0) {
        return right < 64 ? x.magnitude >> right : 0;
    }
    return right > -64 ? x.magnitude << -right : 0;
}

// `x / 2^unit` to nearest, halves away from zero.
DEVICE int64_t round_to(Decoded x, int32_t unit) {
    const int32_t right = unit - x.exponent;
    uint64_t word = 0;
    if (right <= 0) {
        word = right > -64 ? x.magnitude << -right : 0;
    } else if (right < 64) {
        word = (x.magnitude + (uint64_t{1} << (right - 1))) >> right;
    }
    return static_cast<int64_t>(x.negative ? 0 - word : word);
}

// What the largest column sum makes of a line's exponent.
DEVICE int32_t exponent_of(int32_t unit, uint64_t largest_sum, int32_t word_bits) {
    return unit + (64 - leading_zeros(largest_sum)) - word_bits;
}

// One complex number as a word of `word_bits` bits with an exponent of its own.
DEVICE Words word_of(uint64_t re, uint64_t im, int32_t word_bits, int32_t &exponent) {
    const Decoded a = decoded_double(re), b = decoded_double(im);
    const int32_t scale_re = scale_of(a), scale_im = scale_of(b);
    const int32_t scale = scale_re > scale_im ? scale_re : scale_im;
    if (scale == NOTHING) {
        exponent = 0;
        return {0, 0};
    }
    exponent = scale - word_bits;
    return {round_to(a, exponent), round_to(b, exponent)};
}
