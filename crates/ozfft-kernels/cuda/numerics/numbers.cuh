// The caller's numbers, read and written as integers (numbers.rs).
#pragma once
#include "numerics/convert.cuh"

// How far line number `line` is from the first one.
DEVICE int64_t distance_of(const Dimension *dimensions, int32_t count, uint64_t line) {
    int64_t distance = 0;
    for (int i = count - 1; i >= 0; i--) {
        const Dimension dimension = dimensions[i];
        if (dimension.length > 1) {
            distance += static_cast<int64_t>(line % dimension.length) * dimension.stride;
            line /= dimension.length;
        }
    }
    return distance;
}

// Position of the first element of a line.
DEVICE int64_t line_offset(const FloatLines &lines, uint64_t line) {
    return lines.offset + distance_of(lines.dimensions, lines.dimension_count, line);
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

// The power of two that a transform is scaled by between axes, by its largest number as the bits of a double (scale.rs).
DEVICE int32_t scale_between_axes(uint64_t largest, int32_t growth, bool single) {
    if (largest == 0) {
        return 0;
    }
    const int32_t field = static_cast<int32_t>(largest >> 52);
    const int32_t exponent = field != 0 ? field - 1022 : 64 - leading_zeros(largest) - 1074;
    const int32_t most = (single ? 128 : 1024) - growth, least = (single ? -149 + 30 : -1074 + 64) + growth;
    return exponent > most ? -growth : exponent <= least ? least + 1 - exponent : 0;
}

// What the results of a line are scaled by; `T` is a Task or an ArrayTask.
template <class T> DEVICE int32_t bias_of_line(const T &task, uint64_t line) {
    if (task.largest == nullptr || task.bias == 0) {
        return 0;
    }
    const int64_t transform = distance_of(task.transforms, task.transform_dimension_count, line);
    const int32_t growth = task.bias < 0 ? -task.bias : task.bias;
    const int32_t scale = scale_between_axes(task.largest[transform], growth, task.output.single != 0);
    return task.bias < 0 ? scale : -scale;
}
