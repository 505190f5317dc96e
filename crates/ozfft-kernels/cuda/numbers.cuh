// The caller's numbers, read and written as integers (numbers.rs).
#pragma once
#include "convert.cuh"

// Position of the first element of a line.
DEVICE int64_t line_offset(const FloatLines &lines, uint64_t line) {
    int64_t offset = lines.offset;
    for (int i = lines.dimension_count - 1; i >= 0; i--) {
        const Dimension dimension = lines.dimensions[i];
        if (dimension.length > 1) {
            offset += static_cast<int64_t>(line % dimension.length) * dimension.stride;
            line /= dimension.length;
        }
    }
    return offset;
}

DEVICE uint64_t read_number(const FloatLines &lines, int64_t at) {
    if (lines.single != 0) {
        return widened_single(static_cast<const uint32_t *>(lines.numbers)[at]);
    }
    return static_cast<const uint64_t *>(lines.numbers)[at];
}

// A complex number as the bits of two doubles.
DEVICE Words read_complex(const FloatLines &lines, int64_t at) {
    if (lines.single == 0 && lines.aligned != 0) {
        return static_cast<const Words *>(lines.numbers)[at];
    }
    return {static_cast<int64_t>(read_number(lines, 2 * at)), static_cast<int64_t>(read_number(lines, 2 * at + 1))};
}

DEVICE bool is_finite(uint64_t bits) { return (bits & ~SIGN) < DOUBLE_INFINITY; }

// Element `index` of a line that begins at `offset`, in the orientation of a forward transform of `n` points.
DEVICE Words read_element(const FloatLines &lines, int64_t offset, uint64_t index, uint64_t n) {
    Words value;
    if (lines.elements == ELEMENTS_REAL) {
        const int64_t at = offset + static_cast<int64_t>(index) * lines.stride;
        return {static_cast<int64_t>(read_number(lines, at)), 0};
    }
    if (lines.elements == ELEMENTS_COMPLEX) {
        value = read_complex(lines, offset + static_cast<int64_t>(index) * lines.stride);
    } else {
        const bool mirrored = 2 * index > n;
        const uint64_t stored = mirrored ? n - index : index;
        value = read_complex(lines, offset + static_cast<int64_t>(stored) * lines.stride);
        if (stored == 0 || 2 * stored == n) {
            // A real signal has no imaginary part here; a NaN or an infinity still spoils the transform.
            value.im = is_finite(static_cast<uint64_t>(value.im)) ? 0 : static_cast<int64_t>(DOUBLE_NAN);
        } else if (mirrored) {
            value.im ^= static_cast<int64_t>(SIGN);
        }
    }
    if (lines.conjugate != 0) {
        value.im ^= static_cast<int64_t>(SIGN);
    }
    return value;
}

// Stores bits that have been rounded to the array's type.
DEVICE void write_element(const FloatLines &lines, int64_t offset, uint64_t index, Words bits) {
    const int64_t at = offset + static_cast<int64_t>(index) * lines.stride;
    const bool real = lines.elements == ELEMENTS_REAL;
    if (lines.single != 0) {
        uint32_t *numbers = static_cast<uint32_t *>(lines.numbers);
        if (real) {
            numbers[at] = static_cast<uint32_t>(bits.re);
        } else {
            numbers[2 * at] = static_cast<uint32_t>(bits.re);
            numbers[2 * at + 1] = static_cast<uint32_t>(bits.im);
        }
    } else if (real) {
        static_cast<int64_t *>(lines.numbers)[at] = bits.re;
    } else if (lines.aligned != 0) {
        static_cast<Words *>(lines.numbers)[at] = bits;
    } else {
        static_cast<int64_t *>(lines.numbers)[2 * at] = bits.re;
        static_cast<int64_t *>(lines.numbers)[2 * at + 1] = bits.im;
    }
}

DEVICE Words not_a_number(const FloatLines &lines) {
    const int64_t bits = static_cast<int64_t>(lines.single != 0 ? SINGLE_NAN : DOUBLE_NAN);
    return {bits, bits};
}

// The power of two that scales between axes: 0 unless the array's largest number asks for it.
DEVICE int32_t bias_between_axes(const uint64_t *largest, uint64_t threshold, int32_t bias) {
    return largest != nullptr && *largest >= threshold ? bias : 0;
}
