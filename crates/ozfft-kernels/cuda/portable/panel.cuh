// The lines of a thread block in shared memory, and what is known of each.
#pragma once
#include "numerics/quantise.cuh"

struct Line {
    // First element in the arrays of floating-point numbers.
    int64_t input_offset, output_offset;
    // The same of this line's own first element and first output.
    int64_t load_start, store_start;
    // First word of the whole transform, and the places of its exponents.
    uint64_t first_word, first_exponent_in, first_exponent_out;
    // Element `i` is number `start + i · inner` of the transform, output `i` number `output_start + i · groups`.
    uint64_t start, output_start;
    // Place within its group, and number among the lines of the transform.
    uint64_t place_in_group, number;
    uint64_t transform;
    uint64_t largest_sum;
    int32_t scale;
    int32_t exponent;
    // Bits of the largest output.
    int32_t output_bits;
    uint32_t flags;
    // Numbers have become words.
    int32_t rounded;
    // Place of the first point in shared memory.
    int32_t base;
    // What scales the outputs between axes.
    int32_t bias;
    // Neighbouring lines' headers begin on different banks.
    int32_t unused;
};

struct Panel {
    Line *lines;
    Words *points;
    // Exponents of the elements while they are brought under one; later the lowest bytes of wide outputs.
    int32_t *extra;
    int32_t pitch, count;

    // Neighbouring elements, neighbouring rows and neighbouring lines all fall on different banks.
    DEVICE int32_t place(int32_t line, int32_t element) const {
        return line * pitch + (element ^ (((element >> 3) ^ (element >> 6) ^ line) & 7));
    }
};

DEVICE Panel panel_of(const Task &task, int32_t count) {
    unsigned char *memory = shared_memory();
    Panel panel;
    panel.lines = reinterpret_cast<Line *>(memory);
    memory += (sizeof(Line) * static_cast<size_t>(task.lines_per_block) + 127) / 128 * 128;
    panel.points = reinterpret_cast<Words *>(memory);
    panel.extra = reinterpret_cast<int32_t *>(panel.points + static_cast<size_t>(task.lines_per_block) * task.line_pitch);
    panel.pitch = task.line_pitch;
    panel.count = count;
    return panel;
}

// A wide output in 72 bits: the lowest byte apart from the rest.
DEVICE void store_wide(const Panel &panel, int32_t place, Wide re, Wide im) {
    auto upper = [](Wide x) { return wrapping_add(shifted_left(x.high, LOW_BITS - 8), x.low >> 8); };
    panel.points[place] = {upper(re), upper(im)};
    panel.extra[place] = static_cast<int32_t>((re.low & 0xff) | (im.low & 0xff) << 8);
}

DEVICE void load_wide(const Panel &panel, int32_t place, Wide &re, Wide &im) {
    auto joined = [](int64_t upper, int32_t byte) {
        return Wide{upper >> (LOW_BITS - 8), (upper & ((int64_t{1} << (LOW_BITS - 8)) - 1)) << 8 | (byte & 0xff)};
    };
    re = joined(panel.points[place].re, panel.extra[place]);
    im = joined(panel.points[place].im, panel.extra[place] >> 8);
}

// Bits of the magnitude of a stored wide integer.
DEVICE int32_t bits_of_wide(Wide value) {
    int64_t high = value.high + (value.low >> LOW_BITS);
    int64_t low = value.low & ((int64_t{1} << LOW_BITS) - 1);
    if (high < 0) {
        high = -high - (low != 0 ? 1 : 0);
        low = low != 0 ? (int64_t{1} << LOW_BITS) - low : 0;
    }
    return high != 0 ? LOW_BITS + 64 - leading_zeros(static_cast<uint64_t>(high))
                     : 64 - leading_zeros(static_cast<uint64_t>(low));
}

// `(upper · 256 + byte) / 2^shift`, rounded, halves upwards, where it is known to fit a word.
DEVICE int64_t narrowed(int64_t upper, int32_t byte, int32_t shift) {
    if (shift <= 8) {
        return wrapping_add(shifted_left(upper, 8 - shift), (byte + ((1 << shift) >> 1)) >> shift);
    }
    return (upper + (int64_t{1} << (shift - 9))) >> (shift - 8);
}

// An output as words; conjugated before it is rounded, where that is asked for.
DEVICE Words narrowed_output(Words upper, int32_t bytes, int32_t shift, bool conjugate) {
    int32_t byte = bytes >> 8 & 0xff;
    if (conjugate) {
        upper.im = wrapping_subtract(negated(upper.im), byte != 0 ? 1 : 0);
        byte = byte != 0 ? 256 - byte : 0;
    }
    return {narrowed(upper.re, bytes & 0xff, shift), narrowed(upper.im, byte, shift)};
}
