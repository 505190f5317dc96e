// target: fatbin
// Blocks of one or two steps with truncated products, on any GPU with the int8 tensor instruction (compute capability 8.0
// and later): a thread block takes some lines of one pass from numbers or words in memory to numbers or words in memory.
// The same integers as general_block.cu, which knows all recipes; here digits are known to the compiler.
//
// No floating-point arithmetic: numbers are read and written as integers.
#include "lines.cuh"
#include "truncated_step.cuh"

constexpr int THREADS = 256;
// Exponent field of a line's largest number from which on numbers without a leading bit are shifted out.
constexpr int32_t LEAST_FIELD = 128;

DEVICE RowPanel row_panel_of(const Task &task, int32_t count) {
    unsigned char *memory = shared_memory();
    RowPanel panel;
    panel.lines = reinterpret_cast<Line *>(memory);
    memory += (sizeof(Line) * static_cast<size_t>(task.lines_per_block) + 127) / 128 * 128;
    panel.points = reinterpret_cast<Words *>(memory);
    panel.extra = reinterpret_cast<int32_t *>(panel.points + static_cast<size_t>(task.lines_per_block) * task.line_pitch);
    panel.line_pitch = task.line_pitch;
    panel.row_pitch = task.row_pitch;
    panel.rows = task.steps[0].n;
    panel.columns = task.steps[0].inner;
    panel.count = count;
    panel.bias = bias_between_axes(task.largest, task.bias_threshold, task.bias);
    return panel;
}

// Calls `body(line, element)` for all elements of all lines, neighbouring threads as memory has them.
template <class Body> DEVICE void for_each_element(const RowPanel &panel, int32_t length, bool across, const Body &body) {
    const int32_t total = panel.count * length;
    const Divisor by(across ? panel.count : length);
#pragma unroll 4
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < total; i += static_cast<int32_t>(blockDim.x)) {
        const int32_t quotient = by.quotient(i), rest = i - quotient * static_cast<int32_t>(by.value);
        body(across ? rest : quotient, across ? quotient : rest);
    }
}

// Whether numbers of a line can be taken apart without looking for those that have no leading bit.
DEVICE bool is_moderate(const Line &line) { return line.scale + 1022 >= LEAST_FIELD && (line.flags & NOT_FINITE) == 0; }

DEVICE int32_t field_of(int64_t bits) { return static_cast<int32_t>(bits >> 52) & 0x7ff; }

// What a line's element, as the bits of two doubles, says of it.
DEVICE void note_floats(Line &line, Words bits) {
    const uint32_t re = static_cast<uint32_t>(bits.re >> 32) & 0x7fffffff, im = static_cast<uint32_t>(bits.im >> 32) & 0x7fffffff;
    const uint32_t flags = (re >= 0x7ff00000u || im >= 0x7ff00000u ? NOT_FINITE : 0) | ((re | static_cast<uint32_t>(bits.re)) != 0 ? HAS_REAL : 0) |
                           ((im | static_cast<uint32_t>(bits.im)) != 0 ? HAS_IMAGINARY : 0);
    const uint32_t larger = re > im ? re : im;
    int32_t scale = static_cast<int32_t>(larger >> 20) - 1022;
    if (larger < 0x100000u) {
        const int32_t scale_re = scale_of(decoded_double(static_cast<uint64_t>(bits.re)));
        const int32_t scale_im = scale_of(decoded_double(static_cast<uint64_t>(bits.im)));
        scale = scale_re > scale_im ? scale_re : scale_im;
    }
    if (scale > line.scale) {
        atomic_maximum(&line.scale, scale);
    }
    if ((flags & ~line.flags) != 0) {
        atomic_or(&line.flags, flags);
    }
}

DEVICE void load(const Task &task, const RowPanel &panel) {
    const Divisor columns(panel.columns);
    auto place_of = [&](int32_t number, int32_t i) {
        return number * panel.line_pitch + i + columns.quotient(i) * (panel.row_pitch - panel.columns);
    };
    const bool across = task.load_across != 0;
    if (task.source == SOURCE_GROUP_WORDS) {
        for_each_element(panel, task.block_length, across, [&](int32_t number, int32_t i) {
            Line &line = panel.lines[number];
            const uint64_t further = static_cast<uint64_t>(i) * task.inner;
            const Words words = task.words_in[line.first_word + line.start + further];
            const int32_t exponent = task.exponents_in[line.first_exponent_in + further];
            const int32_t place = place_of(number, i);
            panel.points[place] = words;
            panel.extra[place] = exponent;
            const int32_t re = scale_of(decoded_word(words.re, exponent)), im = scale_of(decoded_word(words.im, exponent));
            const int32_t scale = re > im ? re : im;
            if (scale > line.scale) {
                atomic_maximum(&line.scale, scale);
            }
        });
    } else if (task.input.elements == ELEMENTS_COMPLEX && task.input.single == 0 && task.input.aligned != 0) {
        const Words *const numbers = static_cast<const Words *>(task.input.numbers);
        const int64_t stride = static_cast<int64_t>(task.inner) * task.input.stride;
        const int64_t flip = task.input.conjugate != 0 ? static_cast<int64_t>(SIGN) : 0;
        for_each_element(panel, task.block_length, across, [&](int32_t number, int32_t i) {
            Line &line = panel.lines[number];
            Words bits = numbers[line.load_start + i * stride];
            bits.im ^= flip;
            panel.points[place_of(number, i)] = bits;
            note_floats(line, bits);
        });
    } else {
        for_each_element(panel, task.block_length, across, [&](int32_t number, int32_t i) {
            Line &line = panel.lines[number];
            const uint64_t index = line.start + static_cast<uint64_t>(i) * task.inner;
            const Words bits = read_element(task.input, line.input_offset, index, task.visible_length);
            panel.points[place_of(number, i)] = bits;
            note_floats(line, bits);
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
        const int32_t unit = line.scale - SUM_BITS, first = number * panel.line_pitch + column;
        uint32_t sum = 0;
        if (floats && is_moderate(line)) {
            const int32_t shift = line.scale + 1022 + 32 - SUM_BITS;
#pragma unroll 4
            for (int32_t row = t; row < panel.rows; row += 4) {
                const Words point = panel.points[first + row * panel.row_pitch];
                auto leading = [shift](int64_t bits) {
                    const uint32_t top = static_cast<uint32_t>(static_cast<uint64_t>(bits) >> 21) | 0x80000000u;
                    return shifted_right(top, static_cast<uint32_t>(shift - field_of(bits)));
                };
                sum += leading(point.re) + leading(point.im) + 2;
            }
        } else {
#pragma unroll 1
            for (int32_t row = t; row < panel.rows; row += 4) {
                const int32_t place = first + row * panel.row_pitch;
                const Words point = panel.points[place];
                const int32_t exponent = floats ? 0 : panel.extra[place];
                auto leading = [&](int64_t x) {
                    return static_cast<uint32_t>(floor_to(floats ? decoded_double(static_cast<uint64_t>(x)) : decoded_word(x, exponent), unit));
                };
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

// Numbers become words under the line's exponent, in place. What lies between rows comes along.
DEVICE void round_to_words(const Task &task, const RowPanel &panel) {
    const bool floats = task.source == SOURCE_FLOATS;
    const int32_t total = panel.count * panel.line_pitch;
    const Divisor pitch(panel.line_pitch);
#pragma unroll 2
    for (int32_t place = static_cast<int32_t>(threadIdx.x); place < total; place += static_cast<int32_t>(blockDim.x)) {
        const Line &line = panel.lines[pitch.quotient(place)];
        const Words point = panel.points[place];
        const int32_t unit = line.exponent;
        Words words;
        if (floats && is_moderate(line)) {
            auto rounded = [unit](int64_t bits) {
                const uint64_t magnitude = static_cast<uint64_t>(bits) << 11 | SIGN;
                // One bit more, to round halves away from zero.
                const uint64_t cut = shifted_right(magnitude, static_cast<uint32_t>(unit + 1085 - field_of(bits)));
                const uint64_t sign = static_cast<uint64_t>(bits >> 63);
                return static_cast<int64_t>((cut ^ sign) + 1) >> 1;
            };
            words = {rounded(point.re), rounded(point.im)};
        } else if (floats) {
            const bool spoilt = (line.flags & NOT_FINITE) != 0;
            auto rounded = [&](int64_t bits) { return spoilt ? 0 : round_to(decoded_double(static_cast<uint64_t>(bits)), unit); };
            words = {rounded(point.re), rounded(point.im)};
        } else {
            const int32_t exponent = panel.extra[place];
            words = {round_to(decoded_word(point.re, exponent), unit), round_to(decoded_word(point.im, exponent), unit)};
        }
        panel.points[place] = words;
    }
}

// Brings every line under one exponent, chosen by the sums of the first step's columns.
DEVICE void quantise(const Task &task, const RowPanel &panel) {
    add_up(task, panel);
    block_barrier();
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < panel.count; i += static_cast<int32_t>(blockDim.x)) {
        Line &line = panel.lines[i];
        // Lines of zeros have the exponent 0, and so have, as words of zeros, lines that are not finite.
        const bool keep = line.scale != NOTHING && (line.flags & NOT_FINITE) == 0;
        line.exponent = keep ? exponent_of(line.scale - SUM_BITS, line.largest_sum, task.word_bits) : 0;
        if (task.nature_use == NATURE_RECORD && line.flags != 0) {
            atomic_or(&task.natures[line.transform], line.flags);
        }
    }
    block_barrier();
    round_to_words(task, panel);
    block_barrier();
}

// Where output `i` of a line lies, and whether it is the conjugate of what lies there.
struct OutputPlace {
    int32_t place;
    bool mirrored;
    DEVICE OutputPlace(const Task &task, const RowPanel &panel, int32_t number, int32_t i) {
        place = static_cast<int32_t>(task.places[i]);
        mirrored = false;
        if (task.symmetry == SYMMETRY_REAL && task.step_count > 1) {
            // Outputs of rows beyond the middle are the conjugates of others, and those alone are there.
            mirrored = 2 * (place / panel.row_pitch) > panel.rows;
            place = mirrored ? static_cast<int32_t>(task.places[task.block_length - i]) : place;
        }
        place += number * panel.line_pitch;
    }
};

DEVICE void store_floats(const Task &task, const RowPanel &panel) {
    const bool simple = task.output.elements == ELEMENTS_COMPLEX && task.output.single == 0 && task.output.aligned != 0;
    Words *const numbers = static_cast<Words *>(task.output.numbers);
    const int64_t stride = static_cast<int64_t>(task.groups) * task.output.stride;
    const int64_t sign = static_cast<int64_t>(task.output.single != 0 ? uint64_t{0x80000000u} : SIGN);
    for_each_element(panel, task.block_length, task.store_across != 0, [&](int32_t number, int32_t i) {
        const Line &line = panel.lines[number];
        const uint64_t index = line.output_start + static_cast<uint64_t>(i) * task.groups;
        if (index >= task.output.count) {
            return;
        }
        const OutputPlace at(task, panel, number, i);
        Words bits = panel.points[at.place];
        // Zero has no sign.
        if (at.mirrored && bits.im != 0) {
            bits.im ^= sign;
        }
        if (!simple) {
            store_float(task, line, index, bits);
            return;
        }
        const uint32_t nature = task.nature_use == NATURE_RECALL ? task.natures[line.transform] : line.flags;
        if (nature != (HAS_REAL | HAS_IMAGINARY)) {
            store_float(task, line, index, bits);
        } else {
            numbers[line.store_start + i * stride] = bits;
        }
    });
}

DEVICE void store_words(const Task &task, const RowPanel &panel) {
    for_each_element(panel, task.block_length, task.store_across != 0, [&](int32_t number, int32_t i) {
        const Line &line = panel.lines[number];
        const OutputPlace at(task, panel, number, i);
        const int32_t excess = line.output_bits - task.word_bits, shift = excess > 0 ? excess : 0;
        const Words words = narrowed_output(panel.points[at.place], panel.extra[at.place], shift, at.mirrored);
        const Angle root = pass_root(task, static_cast<uint64_t>(i) * line.place_in_group);
        task.words_out[line.first_word + line.start + static_cast<uint64_t>(i) * task.inner] = rotate(words, root);
        if (i == 0) {
            task.exponents_out[line.first_exponent_out + line.number] = line.exponent + task.exponent_offset + shift;
        }
    });
}

template <int D, int TILES> DEVICE void run_step(const Task &task, const RowPanel &panel, const Step &step, int number) {
    if (number == 0) {
        matrix_step<D, TILES, Part::OPENING>(task, panel, step);
    } else if (step.fold == FOLD_FREQUENCY_SHIFTED) {
        matrix_step<D, TILES, Part::CLOSING_SHIFTED>(task, panel, step);
    } else {
        matrix_step<D, TILES, Part::CLOSING_PLAIN>(task, panel, step);
    }
}

// Some lines, from the source to the sink. `first` counts lines, or entries of the list of lines.
template <int D, int MOST_TILES> DEVICE void run_lines(const Task &task, uint64_t first, uint64_t total) {
    const uint64_t left = total - first;
    const int32_t count = left < static_cast<uint64_t>(task.lines_per_block) ? static_cast<int32_t>(left) : task.lines_per_block;
    const RowPanel panel = row_panel_of(task, count);
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < count; i += static_cast<int32_t>(blockDim.x)) {
        const uint64_t entry = first + static_cast<uint64_t>(i);
        prepare_line(task, panel.lines[i], task.list != nullptr ? task.list[entry] : entry);
    }
    block_barrier();
    load(task, panel);
    block_barrier();
    quantise(task, panel);
    for (int32_t i = 0; i < task.step_count; i++) {
        const Step step = task.steps[i];
        if (step.tiles == 0) {
            closing_unit_step(task, panel, step);
        } else if (step.tiles == 1) {
            run_step<D, 1>(task, panel, step, i);
        } else if (MOST_TILES <= 2 || step.tiles == 2) {
            run_step<D, 2>(task, panel, step, i);
        } else if (MOST_TILES <= 3 || step.tiles == 3) {
            run_step<D, MOST_TILES < 3 ? 2 : 3>(task, panel, step, i);
        } else {
            run_step<D, MOST_TILES < 4 ? 2 : 4>(task, panel, step, i);
        }
        block_barrier();
    }
    if (task.sink == SINK_FLOATS) {
        store_floats(task, panel);
    } else {
        store_words(task, panel);
    }
}

template <int D, int MOST_TILES> DEVICE void run_block(const Task &task) {
    // How many lines another kernel has left is known on the device alone; else every block has one turn.
    const uint64_t total = task.list != nullptr ? *task.list_count : task.line_count;
    const uint64_t lines = static_cast<uint64_t>(task.lines_per_block), step = gridDim.x * lines;
    for (uint64_t first = blockIdx.x * lines; first < total; first += step) {
        run_lines<D, MOST_TILES>(task, first, total);
        block_barrier();
    }
}

// Digits, and eights of slots of the largest step: what smaller steps do without makes room for more threads.
KERNEL(THREADS, 2) truncated_8_small(PARAMETERS Task task) { run_block<8, 2>(task); }
KERNEL(THREADS, 1) truncated_8(PARAMETERS Task task) { run_block<8, 4>(task); }
KERNEL(THREADS, 2) truncated_5_small(PARAMETERS Task task) { run_block<5, 2>(task); }
KERNEL(THREADS, 1) truncated_5(PARAMETERS Task task) { run_block<5, 4>(task); }
