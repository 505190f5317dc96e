// The lines of a thread block as rows of a matrix in shared memory, from and to memory: reading, quantising and the final
// conversion of the portable kernels that know their digits (truncated_block.cu, bailey_step_residues.cu).
//
// No floating-point arithmetic: numbers are read and written as integers.
#pragma once
#include "portable/lines.cuh"
#include "portable/truncated_step.cuh"

// Exponent field of a line's largest number from which on numbers without a leading bit are shifted out.
constexpr int32_t LEAST_FIELD = 128;

// Shared memory begins with what all lines have in common: the flags of a transform of two passes.
constexpr int COMMON_BYTES = 128;
DEVICE uint32_t &common_flags() { return *reinterpret_cast<uint32_t *>(shared_memory()); }

DEVICE RowPanel row_panel_of(const Task &task, int32_t count, int32_t points) {
    unsigned char *memory = shared_memory() + COMMON_BYTES;
    RowPanel panel;
    panel.lines = reinterpret_cast<Line *>(memory);
    memory += (sizeof(Line) * static_cast<size_t>(task.lines_per_block) + 127) / 128 * 128;
    panel.points = reinterpret_cast<Words *>(memory);
    panel.extra = reinterpret_cast<int32_t *>(panel.points + points);
    panel.row_pitch = task.row_pitch;
    panel.column_pitch = task.column_pitch;
    panel.rows = task.steps[0].n;
    panel.columns = task.steps[0].inner;
    panel.count = count;
    return panel;
}

// Calls `body(line, first, step)`, so that threads share the elements of all lines: neighbours take neighbouring elements of a
// line, or, across, the same element of neighbouring lines. In either case a thread is with one line for long.
template <class Body> DEVICE void for_each_line(const RowPanel &panel, int32_t length, bool across, const Body &body) {
    const int32_t threads = static_cast<int32_t>(blockDim.x), thread = static_cast<int32_t>(threadIdx.x);
    if (across) {
        // So many threads side by side, a power of two.
        const int bits = 32 - leading_zeros_of_half(static_cast<uint32_t>(panel.count - 1));
        const int32_t line = thread & ((1 << bits) - 1);
        if (line < panel.count) {
            body(line, thread >> bits, threads >> bits);
        }
        return;
    }
    // Few long lines are shared by several warps; short lines share one, so that a thread has some elements of each.
    int32_t group = 32;
    while (group * panel.count < threads) {
        group *= 2;
    }
    while (8 * group > length && group > 8 && group / 2 * panel.count >= threads) {
        group /= 2;
    }
    for (int32_t line = thread / group; line < panel.count; line += threads / group) {
        body(line, thread & (group - 1), group);
    }
}

// Whether numbers of a line can be taken apart without looking for those that have no leading bit.
DEVICE bool is_moderate(const Line &line) { return line.scale + 1022 >= LEAST_FIELD && (line.flags & NOT_FINITE) == 0; }

DEVICE int32_t field_of(int64_t bits) { return static_cast<int32_t>(bits >> 52) & 0x7ff; }

DEVICE void note_scale(Line &line, int32_t scale) {
    if (scale > line.scale) {
        atomic_maximum(&line.scale, scale);
    }
}

DEVICE u64 magnitude_of(int64_t x) {
    uint32_t m0, m1;
    arithmetic::magnitude_of(static_cast<uint32_t>(x), static_cast<uint32_t>(x >> 32), static_cast<int32_t>(x >> 63), m0, m1);
    return static_cast<u64>(m1) << 32 | m0;
}

// The scale of the larger part of a complex word.
DEVICE int32_t scale_of_words(Words words, int32_t exponent) {
    const u64 both = magnitude_of(words.re) | magnitude_of(words.im);
    return both == 0 ? NOTHING : exponent + 64 - leading_zeros(both);
}

// `word · 2^-right` to nearest, halves away from zero.
DEVICE int64_t rounded_word(int64_t word, int32_t right) {
    if (right <= 0) {
        return right > -64 ? shifted_left(word, -right) : 0;
    }
    // One bit more, to round with.
    const u64 cut = arithmetic::shift_right(magnitude_of(word), static_cast<uint32_t>(right - 1));
    uint32_t w0, w1;
    arithmetic::flipped_plus_one(static_cast<uint32_t>(cut), static_cast<uint32_t>(cut >> 32), static_cast<int32_t>(word >> 63), w0, w1);
    return static_cast<int64_t>(static_cast<uint64_t>(w1) << 32 | w0) >> 1;
}

// What a thread has seen of a line's numbers.
struct Seen {
    uint32_t largest = 0, re = 0, im = 0;
    DEVICE void add(Words bits) {
        const uint32_t re_high = static_cast<uint32_t>(bits.re >> 32) & 0x7fffffff, im_high = static_cast<uint32_t>(bits.im >> 32) & 0x7fffffff;
        re |= re_high | static_cast<uint32_t>(bits.re);
        im |= im_high | static_cast<uint32_t>(bits.im);
        const uint32_t larger = re_high > im_high ? re_high : im_high;
        largest = larger > largest ? larger : largest;
    }
};

// Where elements lie behind a line's first one.
struct Places {
    Divisor columns;
    int32_t column_pitch, gap;
    DEVICE explicit Places(const RowPanel &panel)
        : columns(panel.columns), column_pitch(panel.column_pitch), gap(panel.row_pitch - panel.columns * panel.column_pitch) {}
    DEVICE int32_t of(int32_t i) const { return i * column_pitch + columns.quotient(i) * gap; }
};

// Numbers to shared memory. `read(line, element)` returns the bits of two doubles.
template <class Read> DEVICE void load_floats(const Task &task, const RowPanel &panel, const Read &read) {
    const Places places(panel);
    for_each_line(panel, task.block_length, task.load_across != 0, [&](int32_t number, int32_t first, int32_t step) {
        Line &line = panel.lines[number];
        Words *const points = panel.points + line.base;
        Seen seen;
        // Several at a time, to wait for memory once. The last element may be there more than once.
        constexpr int TOGETHER = 8;
        for (int32_t i = first; i < task.block_length; i += TOGETHER * step) {
            Words bits[TOGETHER];
#pragma unroll
            for (int j = 0; j < TOGETHER; j++) {
                const int32_t element = i + j * step;
                bits[j] = read(line, element < task.block_length ? element : i);
            }
#pragma unroll
            for (int j = 0; j < TOGETHER; j++) {
                const int32_t element = i + j * step < task.block_length ? i + j * step : i;
                points[places.of(element)] = bits[j];
                seen.add(bits[j]);
            }
        }
        int32_t scale = static_cast<int32_t>(seen.largest >> 20) - 1022;
        if (seen.largest < 0x100000u) {
            // Without leading bits: subnormal, or zeros.
            scale = NOTHING;
            for (int32_t i = first; i < task.block_length && (seen.re | seen.im) != 0; i += step) {
                const Words bits = points[places.of(i)];
                const int32_t re = scale_of(decoded_double(static_cast<uint64_t>(bits.re))), im = scale_of(decoded_double(static_cast<uint64_t>(bits.im)));
                scale = re > scale ? re : scale;
                scale = im > scale ? im : scale;
            }
        }
        note_scale(line, scale);
        const uint32_t flags = (seen.largest >= 0x7ff00000u ? NOT_FINITE : 0) | (seen.re != 0 ? HAS_REAL : 0) | (seen.im != 0 ? HAS_IMAGINARY : 0);
        if ((flags & ~line.flags) != 0) {
            atomic_or(&line.flags, flags);
        }
    });
}

DEVICE void load_words(const Task &task, const RowPanel &panel) {
    const Places places(panel);
    for_each_line(panel, task.block_length, task.load_across != 0, [&](int32_t number, int32_t first, int32_t step) {
        Line &line = panel.lines[number];
        const Words *const words_in = task.words_in + line.first_word + line.start;
        const int32_t *const exponents_in = task.exponents_in + line.first_exponent_in;
        int32_t scale = NOTHING;
#pragma unroll 4
        for (int32_t i = first; i < task.block_length; i += step) {
            const uint64_t further = static_cast<uint64_t>(i) * task.inner;
            const Words words = words_in[further];
            const int32_t exponent = exponents_in[further];
            const int32_t place = line.base + places.of(i);
            panel.points[place] = words;
            panel.extra[place] = exponent;
            const int32_t larger = scale_of_words(words, exponent);
            scale = larger > scale ? larger : scale;
        }
        note_scale(line, scale);
    });
}

DEVICE void load(const Task &task, const RowPanel &panel) {
    const FloatLines &input = task.input;
    if (task.source == SOURCE_GROUP_WORDS) {
        load_words(task, panel);
    } else if (input.elements == ELEMENTS_COMPLEX && input.aligned != 0) {
        const int64_t stride = static_cast<int64_t>(task.inner) * input.stride;
        const int64_t flip = input.conjugate != 0 ? static_cast<int64_t>(SIGN) : 0;
        if (input.single == 0) {
            load_floats(task, panel, [&](const Line &line, int32_t i) {
                Words bits = static_cast<const Words *>(input.numbers)[line.load_start + i * stride];
                bits.im ^= flip;
                return bits;
            });
        } else {
            load_floats(task, panel, [&](const Line &line, int32_t i) {
                const uint64_t both = static_cast<const uint64_t *>(input.numbers)[line.load_start + i * stride];
                const uint64_t re = widened_single(static_cast<uint32_t>(both)), im = widened_single(static_cast<uint32_t>(both >> 32));
                return Words{static_cast<int64_t>(re), static_cast<int64_t>(im) ^ flip};
            });
        }
    } else if (input.elements == ELEMENTS_REAL && input.single == 0) {
        const int64_t stride = static_cast<int64_t>(task.inner) * input.stride;
        load_floats(task, panel, [&](const Line &line, int32_t i) { return Words{static_cast<const int64_t *>(input.numbers)[line.load_start + i * stride], 0}; });
    } else {
        load_floats(task, panel, [&](const Line &line, int32_t i) {
            const uint64_t index = line.start + static_cast<uint64_t>(i) * task.inner;
            return read_element(input, line.input_offset, index, task.visible_length);
        });
    }
}

// The largest sum of a column's leading bits, in units of the line's scale.
DEVICE void add_up(const Task &task, const RowPanel &panel) {
    const bool floats = task.source == SOURCE_FLOATS;
    const int32_t warps = static_cast<int32_t>(blockDim.x) / 32, warp = static_cast<int32_t>(threadIdx.x) / 32;
    const int32_t lane = static_cast<int32_t>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
    const int32_t total = panel.columns * panel.count;
    const Divisor columns(panel.columns);
    for (int32_t base = 8 * warp; base < total; base += 8 * warps) {
        const int32_t index = base + g < total ? base + g : base;
        const int32_t number = columns.quotient(index), column = index - number * panel.columns;
        Line &line = panel.lines[number];
        const int32_t unit = line.scale - SUM_BITS, first = line.base + column * panel.column_pitch;
        uint32_t sum = 0;
        if (floats && is_moderate(line)) {
            const int32_t shift = line.scale + 1022 + 32 - SUM_BITS;
#pragma unroll 4
            for (int32_t row = t; row < panel.rows; row += 4) {
                const Words point = panel.points[first + row * panel.row_pitch];
                auto leading = [shift](int64_t bits) {
                    const uint32_t top = static_cast<uint32_t>(static_cast<uint64_t>(bits) >> 21) | 0x80000000u;
                    return arithmetic::shift_right(top, static_cast<uint32_t>(shift - field_of(bits)));
                };
                sum += leading(point.re) + leading(point.im) + 2;
            }
        } else if (!floats) {
#pragma unroll 2
            for (int32_t row = t; row < panel.rows; row += 4) {
                const int32_t place = first + row * panel.row_pitch, right = unit - panel.extra[place];
                const Words point = panel.points[place];
                auto leading = [right](int64_t x) {
                    const u64 magnitude = magnitude_of(x);
                    const uint32_t left = static_cast<uint32_t>(magnitude) << (-right & 31);
                    return right >= 0 ? static_cast<uint32_t>(arithmetic::shift_right(magnitude, static_cast<uint32_t>(right))) : left;
                };
                sum += leading(point.re) + leading(point.im) + 2;
            }
        } else {
#pragma unroll 1
            for (int32_t row = t; row < panel.rows; row += 4) {
                const Words point = panel.points[first + row * panel.row_pitch];
                auto leading = [unit](int64_t x) { return static_cast<uint32_t>(floor_to(decoded_double(static_cast<uint64_t>(x)), unit)); };
                sum += leading(point.re) + leading(point.im) + 2;
            }
        }
        sum += shuffle_xor(sum, 1);
        sum += shuffle_xor(sum, 2);
        if (t == 0 && sum > line.largest_sum) {
            atomic_maximum(&line.largest_sum, static_cast<uint64_t>(sum));
        }
    }
}

// Numbers become words under the line's exponent, in place, unless that is easily done when they are read.
DEVICE void round_to_words(const Task &task, const RowPanel &panel) {
    const bool floats = task.source == SOURCE_FLOATS;
    const Places places(panel);
    for_each_line(panel, task.block_length, false, [&](int32_t number, int32_t first, int32_t step) {
        const Line &line = panel.lines[number];
        if (line.rounded == 0) {
            return;
        }
        const int32_t unit = line.exponent;
        if (floats) {
            const bool spoilt = (line.flags & NOT_FINITE) != 0;
            auto rounded = [&](int64_t bits) { return spoilt ? 0 : round_to(decoded_double(static_cast<uint64_t>(bits)), unit); };
#pragma unroll 1
            for (int32_t i = first; i < task.block_length; i += step) {
                Words &point = panel.points[line.base + places.of(i)];
                point = {rounded(point.re), rounded(point.im)};
            }
        } else {
#pragma unroll 2
            for (int32_t i = first; i < task.block_length; i += step) {
                const int32_t place = line.base + places.of(i), exponent = panel.extra[place];
                const Words point = panel.points[place];
                panel.points[place] = {rounded_word(point.re, unit - exponent), rounded_word(point.im, unit - exponent)};
            }
        }
    });
}

// Brings every line under one exponent, chosen by the sums of the first step's columns and `raised(line, exponent)`, which may make it larger.
template <class Raised> DEVICE void quantise(const Task &task, const RowPanel &panel, const Raised &raised) {
    add_up(task, panel);
    block_barrier();
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < panel.count; i += static_cast<int32_t>(blockDim.x)) {
        Line &line = panel.lines[i];
        // Lines of zeros have the exponent 0, and so have, as words of zeros, lines that are not finite.
        const bool keep = line.scale != NOTHING && (line.flags & NOT_FINITE) == 0;
        line.exponent = keep ? raised(i, exponent_of(line.scale - SUM_BITS, line.largest_sum, task.word_bits)) : 0;
        line.rounded = task.source != SOURCE_FLOATS || !is_moderate(line) ? 1 : 0;
        if (line.flags != 0) {
            atomic_or(task.nature_use == NATURE_RECORD ? &task.natures[line.transform] : &common_flags(), line.flags);
        }
    }
    block_barrier();
    round_to_words(task, panel);
    block_barrier();
}
DEVICE void quantise(const Task &task, const RowPanel &panel) {
    quantise(task, panel, [](int32_t, int32_t exponent) { return exponent; });
}

// Where output `i` of a line lies. Of real lines, outputs of rows beyond the middle are the conjugates of others, and those
// alone are there.
struct OutputPlace {
    int32_t place;
    bool mirrored;
    DEVICE OutputPlace(const Task &task, const RowPanel &panel, int32_t number, int32_t i) {
        place = static_cast<int32_t>(task.places[i]);
        mirrored = false;
        if (task.symmetry == SYMMETRY_REAL && panel.columns > 1) {
            mirrored = place >= (panel.rows / 2 + 1) * panel.row_pitch;
            place = mirrored ? static_cast<int32_t>(task.places[task.block_length - i]) : place;
        }
        place = panel.lines[number].base + place * panel.column_pitch;
    }
};

// An output as a wide integer.
DEVICE Wide wide_output(int64_t low, int32_t extra, int shift) {
    const int64_t upper = extra != 0 ? static_cast<int8_t>(extra >> shift) : low >> 63;
    return {wrapping_add(shifted_left(upper, 64 - LOW_BITS), static_cast<int64_t>(static_cast<uint64_t>(low) >> LOW_BITS)),
            low & ((int64_t{1} << LOW_BITS) - 1)};
}

// Exponents of lines' outputs that are doubles in full precision whatever they are, zero excepted.
constexpr int32_t LEAST_EXPONENT = -900, LARGEST_EXPONENT = 900;

// The bits of `value · 2^exponent` as a double; `usual` is cleared, and the result void, where the upper half is empty.
DEVICE uint64_t usual_double(int64_t value, int32_t exponent, bool &usual) {
    const int32_t sign = static_cast<int32_t>(value >> 63);
    uint32_t m0, m1, low, high;
    arithmetic::magnitude_of(static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32), sign, m0, m1);
    usual = usual && m1 != 0;
    arithmetic::round_to_double(m0, m1, sign, (exponent + 1023 + 62) << 20, 0, low, high);
    return static_cast<uint64_t>(high) << 32 | low;
}

// The same as a single, in the lower half.
DEVICE uint64_t usual_single(int64_t value, int32_t exponent, bool &usual) {
    const int32_t sign = static_cast<int32_t>(value >> 63);
    uint32_t m0, m1;
    arithmetic::magnitude_of(static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32), sign, m0, m1);
    const uint32_t shift = static_cast<uint32_t>(leading_zeros(static_cast<uint64_t>(m1) << 32 | m0));
    const uint32_t field = static_cast<uint32_t>(exponent + 127 + 62) - shift;
    usual = usual && (m0 | m1) != 0 && field < 253u;
    const uint64_t normal = (static_cast<uint64_t>(m1) << 32 | m0) << (shift & 63);
    const uint32_t upper = static_cast<uint32_t>(normal >> 32), floor = upper >> 8;
    const uint32_t rest = upper << 24 | (floor & 1) | (static_cast<uint32_t>(normal) != 0 ? 1 : 0);
    return (floor + (rest > 0x80000000u ? 1 : 0) + (field << 23)) | (static_cast<uint32_t>(sign) & 0x80000000u);
}

DEVICE_APART int64_t unusual_output(int64_t low, int32_t extra, int shift, int32_t exponent, bool single, bool negative) {
    const Wide value = wide_output(low, extra, shift);
    return static_cast<int64_t>(converted(negative ? negated(value) : value, exponent, single));
}

template <int D, bool SINGLE> DEVICE void store_floats_as(const Task &task, const RowPanel &panel) {
    const int64_t stride = static_cast<int64_t>(task.groups) * task.output.stride;
    const uint64_t sign = SINGLE ? uint64_t{0x80000000u} : SIGN;
    const bool whole = task.output.elements == ELEMENTS_COMPLEX && task.output.aligned != 0;
    for_each_line(panel, task.block_length, task.store_across != 0, [&](int32_t number, int32_t first, int32_t step) {
        const Line &line = panel.lines[number];
        const uint32_t nature = task.nature_use == NATURE_RECALL ? task.natures[line.transform] : line.flags;
        const bool plain = whole && nature == (HAS_REAL | HAS_IMAGINARY);
        const int32_t exponent = line.exponent + task.exponent_offset + line.bias;
        const bool moderate = exponent >= LEAST_EXPONENT && exponent <= LARGEST_EXPONENT;
        // Outputs that the caller wants.
        int32_t count = task.block_length;
        if (task.output.count < task.visible_length) {
            count = line.output_start < task.output.count ? static_cast<int32_t>((task.output.count - line.output_start + task.groups - 1) / task.groups) : 0;
            count = count < task.block_length ? count : task.block_length;
        }
        constexpr int TOGETHER = 4;
        for (int32_t i = first; i < count; i += TOGETHER * step) {
            int32_t place[TOGETHER];
            bool mirrored[TOGETHER];
#pragma unroll
            for (int j = 0; j < TOGETHER; j++) {
                const OutputPlace at(task, panel, number, i + j * step < count ? i + j * step : i);
                place[j] = at.place;
                mirrored[j] = at.mirrored;
            }
#pragma unroll
            for (int j = 0; j < TOGETHER; j++) {
                const int32_t output = i + j * step;
                const Words value = panel.points[place[j]];
                const int32_t extra = D == 8 ? panel.extra[place[j]] : 0;
                bool usual = moderate && extra == 0;
                Words bits;
                if (SINGLE) {
                    bits = {static_cast<int64_t>(usual_single(value.re, exponent, usual)), static_cast<int64_t>(usual_single(value.im, exponent, usual))};
                } else {
                    // Short words are moved up, so that their upper half is rarely empty.
                    constexpr int UP = D < 7 ? 8 * (7 - D) : 0;
                    bits = {static_cast<int64_t>(usual_double(shifted_left(value.re, UP), exponent - UP, usual)),
                            static_cast<int64_t>(usual_double(shifted_left(value.im, UP), exponent - UP, usual))};
                }
                if (output >= count) {
                    break;
                }
                const bool negative = mirrored[j] != (task.output.conjugate != 0);
                bits.im ^= negative ? static_cast<int64_t>(sign) : 0;
                if (!usual) {
                    // Zero has no sign, but what is rounded to zero has.
                    bits.re = unusual_output(value.re, extra, 0, exponent, SINGLE, false);
                    bits.im = unusual_output(value.im, extra, 8, exponent, SINGLE, negative);
                }
                if (!plain) {
                    store_float(task, line, line.output_start + static_cast<uint64_t>(output) * task.groups, bits);
                } else if (SINGLE) {
                    static_cast<uint64_t *>(task.output.numbers)[line.store_start + output * stride] = static_cast<uint64_t>(bits.im) << 32 | static_cast<uint32_t>(bits.re);
                } else {
                    static_cast<Words *>(task.output.numbers)[line.store_start + output * stride] = bits;
                }
            }
        }
    });
}

template <int D> DEVICE void store_floats(const Task &task, const RowPanel &panel) {
    if (task.output.single != 0) {
        store_floats_as<D, true>(task, panel);
    } else {
        store_floats_as<D, false>(task, panel);
    }
}
