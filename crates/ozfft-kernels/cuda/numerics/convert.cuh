// The last rounding: a wide integer times a power of two to the bits of a floating-point number, in integers alone
// (sample.rs); and floating-point numbers as integers.
#pragma once
#include "numerics/reconstruct.cuh"

constexpr uint64_t DOUBLE_INFINITY = 0x7ff0000000000000u, DOUBLE_NAN = 0x7ff8000000000000u;
constexpr uint32_t SINGLE_INFINITY = 0x7f800000u, SINGLE_NAN = 0x7fc00000u;
constexpr uint64_t SIGN = 0x8000000000000000u;

// Rounds `magnitude · 2^exponent`, whose leading bit is bit 63 and whose lowest bit is set if anything was cut off below
// it, to nearest, ties to even. Returns exponent and fraction fields, or the infinity.
DEVICE uint64_t rounded_fields(uint64_t magnitude, int exponent, int precision, int lowest, uint64_t infinity) {
    // The last kept bit: relative to the leading one, but never below the subnormal spacing.
    const int relative = 64 + exponent - precision;
    const int last = relative > lowest ? relative : lowest;
    const int drop = last - exponent;
    uint64_t significand = 0;
    if (drop < 64) {
        const uint64_t floor = magnitude >> drop, rest = magnitude << (64 - drop);
        significand = floor + (rest > SIGN || (rest == SIGN && (floor & 1) != 0) ? 1 : 0);
    } else if (drop == 64) {
        significand = magnitude > SIGN ? 1 : 0;
    }
    const uint64_t field = static_cast<uint64_t>(last - lowest);
    if (field > 2048) {
        return infinity;
    }
    // A normal significand carries into the exponent through its hidden bit, and so does a rounding.
    const uint64_t fields = (field << (precision - 1)) + significand;
    return fields < infinity ? fields : infinity;
}

// The bits of `value · 2^exponent`, as a double or, in the lower half, as a single. Zero has no sign.
DEVICE uint64_t converted(Wide value, int exponent, bool single) {
    int64_t high = value.high + (value.low >> LOW_BITS);
    int64_t low = value.low & ((int64_t{1} << LOW_BITS) - 1);
    const bool negative = high < 0;
    if (negative) {
        // The negative of the whole number, with a low part in its range again.
        high = -high - (low != 0 ? 1 : 0);
        low = low != 0 ? (int64_t{1} << LOW_BITS) - low : 0;
    }
    uint64_t magnitude;
    if (high == 0) {
        if (low == 0) {
            return 0;
        }
        const int zeros = leading_zeros(static_cast<uint64_t>(low));
        magnitude = static_cast<uint64_t>(low) << zeros;
        exponent -= zeros;
    } else {
        const int zeros = leading_zeros(static_cast<uint64_t>(high));
        magnitude = static_cast<uint64_t>(high) << zeros;
        const uint64_t rest = static_cast<uint64_t>(low);
        if (zeros >= LOW_BITS) {
            magnitude |= rest << (zeros - LOW_BITS);
        } else {
            const int cut = LOW_BITS - zeros;
            magnitude |= rest >> cut;
            magnitude |= (rest & ((uint64_t{1} << cut) - 1)) != 0 ? 1 : 0;
        }
        exponent += LOW_BITS - zeros;
    }
    if (single) {
        const uint64_t fields = rounded_fields(magnitude, exponent, 24, -149, SINGLE_INFINITY);
        return fields | (negative ? 0x80000000u : 0);
    }
    return rounded_fields(magnitude, exponent, 53, -1074, DOUBLE_INFINITY) | (negative ? SIGN : 0);
}

// The bits of a single as those of the same number in double precision.
DEVICE_APART uint64_t widened_unusual_single(uint32_t bits) {
    const uint64_t sign = static_cast<uint64_t>(bits >> 31) << 63;
    const uint32_t field = (bits >> 23) & 0xff, fraction = bits & 0x7fffff;
    if (field == 0xff) {
        return sign | (fraction != 0 ? DOUBLE_NAN : DOUBLE_INFINITY);
    }
    if (fraction == 0) {
        return sign;
    }
    // A subnormal single is a normal double: its leading bit becomes the hidden one.
    const int top = 63 - leading_zeros(fraction);
    const uint64_t shifted = static_cast<uint64_t>(fraction) << (52 - top);
    return sign | (static_cast<uint64_t>(top - 149 + 1023) << 52) | (shifted & ((uint64_t{1} << 52) - 1));
}

DEVICE uint64_t widened_single(uint32_t bits) {
    const uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude - 0x800000u >= 0x7f000000u) {
        return widened_unusual_single(bits);
    }
    const uint32_t high = (magnitude >> 3) + ((1023u - 127u) << 20);
    return static_cast<uint64_t>(high | (bits & 0x80000000u)) << 32 | static_cast<uint32_t>(bits << 29);
}
