// From diagonals to one integer, and wide integers (reconstruct.rs, vectors/mod.rs).
#pragma once
#include "numerics/rotate.cuh"

constexpr int LOW_BITS = 25;
constexpr int UNIT_BITS = 7;

// `high · 2^25 + low`; the low part may be out of its range.
struct Wide {
    int64_t high, low;
};

DEVICE Wide operator+(Wide a, Wide b) { return {a.high + b.high, a.low + b.low}; }
DEVICE Wide operator-(Wide a, Wide b) { return {a.high - b.high, a.low - b.low}; }
DEVICE Wide negated(Wide a) { return {-a.high, -a.low}; }

DEVICE Wide widened(int64_t word) { return {word >> LOW_BITS, word & ((int64_t{1} << LOW_BITS) - 1)}; }

// `value / 2^shift`, rounded, halves upwards, where it is known to fit a word.
DEVICE int64_t shifted_word(Wide value, int shift) {
    const int64_t rounding = (int64_t{1} << shift) >> 1;
    return wrapping_add(shifted_left(value.high, LOW_BITS - shift), (value.low + rounding) >> shift);
}

// A sum of digit products, taken up pair by pair from the last one: two neighbouring diagonals are one pair.
struct Deposit {
    int32_t carry;
    // In units of the first pair above the dropped ones: `high · 2^32 + low`.
    int64_t low, high;

    // Pair number `position` counted from the first one that is kept; negative ones only carry.
    DEVICE void take(int32_t pair, int position) {
        if (position < 0) {
            carry = (pair + carry) >> 16;
        } else if (position == 0) {
            low = static_cast<int64_t>(pair) + carry;
        } else if (position == 1) {
            low += shifted_left(pair, 16);
        } else if (position == 2) {
            high = pair;
        } else {
            high += shifted_left(pair, 16);
        }
    }

    // Rounded, halves upwards, to a word; `shift < 16`.
    DEVICE int64_t word(int shift) const {
        return wrapping_add((low + (int64_t{1} << (shift - 1))) >> shift, shifted_left(high, 32 - shift));
    }

    // The same as a wide integer, for the shift of a last step.
    DEVICE Wide wide() const { return {high, (low + (int64_t{1} << (UNIT_BITS - 1))) >> UNIT_BITS}; }
};
