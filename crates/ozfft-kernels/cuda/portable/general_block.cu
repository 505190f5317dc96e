// target: fatbin
// early
// Any recipe on any GPU with the int8 tensor instruction (compute capability 8.0 and later): a thread block takes some
// lines of one pass through all steps of a block, from numbers or words in memory to numbers or words in memory.
//
// No floating-point arithmetic: numbers are read and written as integers.
#include "arch/launches.cuh"
#include "portable/lines.cuh"
#include "portable/step.cuh"

constexpr int THREADS = 256;

// Calls `body(line, element)` for all elements of all lines, neighbouring threads as memory has them.
template <class Body> DEVICE void for_each_element(const Panel &panel, int32_t length, bool across, const Body &body) {
    const int32_t total = panel.count * length;
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < total; i += static_cast<int32_t>(blockDim.x)) {
        const int32_t quotient = i / (across ? panel.count : length);
        const int32_t rest = i - quotient * (across ? panel.count : length);
        body(across ? rest : quotient, across ? quotient : rest);
    }
}

DEVICE void load(const Task &task, const Panel &panel) {
    for_each_element(panel, task.block_length, task.load_across != 0, [&](int32_t number, int32_t i) {
        Line &line = panel.lines[number];
        const int32_t place = panel.place(number, i);
        const uint64_t index = line.start + static_cast<uint64_t>(i) * task.inner;
        switch (task.source) {
        case SOURCE_FLOATS:
            panel.points[place] = read_element(task.input, line.input_offset, index, task.visible_length);
            break;
        case SOURCE_CHIRPED_FLOATS: {
            int32_t exponent = 0;
            Words word = {0, 0};
            if (index < task.visible_length) {
                const Words bits = read_element(task.input, line.input_offset, index, task.visible_length);
                const uint32_t flags = flags_of(bits);
                if ((flags & ~line.flags) != 0) {
                    atomic_or(&line.flags, flags);
                }
                if ((flags & NOT_FINITE) == 0) {
                    word = word_of(static_cast<uint64_t>(bits.re), static_cast<uint64_t>(bits.im), task.word_bits, exponent);
                    word = rotate(word, task.source_table[index]);
                }
            }
            panel.points[place] = word;
            panel.extra[place] = exponent;
            break;
        }
        case SOURCE_GROUP_WORDS:
            panel.points[place] = task.words_in[line.first_word + index];
            panel.extra[place] = task.exponents_in[line.first_exponent_in + static_cast<uint64_t>(i) * task.inner];
            break;
        default:
            panel.points[place] = task.words_in[line.first_word + index];
            panel.extra[place] = task.exponents_in[line.first_exponent_in + index % task.previous];
        }
    });
}

// Brings every line under one exponent, chosen by the sums of the first step's columns.
DEVICE void quantise(const Task &task, const Panel &panel) {
    const int32_t rows = task.steps[0].n, columns = task.block_length / rows;
    const int32_t total = columns * panel.count;
    const bool floats = task.source == SOURCE_FLOATS;
    auto decode = [&](int64_t component, int32_t exponent) {
        return floats ? decoded_double(static_cast<uint64_t>(component)) : decoded_word(component, exponent);
    };
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < total; i += static_cast<int32_t>(blockDim.x)) {
        const int32_t number = i / columns, column = i - number * columns;
        int32_t scale = NOTHING;
        uint32_t flags = 0;
        for (int32_t row = 0; row < rows; row++) {
            const int32_t place = panel.place(number, row * columns + column);
            const Words point = panel.points[place];
            const int32_t exponent = floats ? 0 : panel.extra[place];
            const int32_t re = scale_of(decode(point.re, exponent)), im = scale_of(decode(point.im, exponent));
            scale = re > scale ? re : scale;
            scale = im > scale ? im : scale;
            flags |= floats ? flags_of(point) : 0;
        }
        Line &line = panel.lines[number];
        if (scale > line.scale) {
            atomic_maximum(&line.scale, scale);
        }
        if ((flags & ~line.flags) != 0) {
            atomic_or(&line.flags, flags);
        }
    }
    block_barrier();
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < total; i += static_cast<int32_t>(blockDim.x)) {
        const int32_t number = i / columns, column = i - number * columns;
        Line &line = panel.lines[number];
        const int32_t unit = line.scale - SUM_BITS;
        uint64_t sum = 0;
        for (int32_t row = 0; row < rows; row++) {
            const int32_t place = panel.place(number, row * columns + column);
            const Words point = panel.points[place];
            const int32_t exponent = floats ? 0 : panel.extra[place];
            sum += floor_to(decode(point.re, exponent), unit) + floor_to(decode(point.im, exponent), unit) + 2;
        }
        if (sum > line.largest_sum) {
            atomic_maximum(&line.largest_sum, sum);
        }
    }
    block_barrier();
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < panel.count; i += static_cast<int32_t>(blockDim.x)) {
        Line &line = panel.lines[i];
        // Lines of zeros have the exponent 0, and so have, as words of zeros, lines that are not finite.
        const bool keep = line.scale != NOTHING && !(floats && (line.flags & NOT_FINITE) != 0);
        line.exponent = keep ? exponent_of(line.scale - SUM_BITS, line.largest_sum, task.word_bits) : 0;
        if (task.nature_use == NATURE_RECORD && line.flags != 0) {
            atomic_or(&task.natures[line.transform], line.flags);
        }
    }
    block_barrier();
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < total; i += static_cast<int32_t>(blockDim.x)) {
        const int32_t number = i / columns, column = i - number * columns;
        const Line &line = panel.lines[number];
        const bool spoilt = floats && (line.flags & NOT_FINITE) != 0;
        for (int32_t row = 0; row < rows; row++) {
            const int32_t place = panel.place(number, row * columns + column);
            const Words point = panel.points[place];
            const int32_t exponent = floats ? 0 : panel.extra[place];
            panel.points[place] = {spoilt ? 0 : round_to(decode(point.re, exponent), line.exponent),
                                   spoilt ? 0 : round_to(decode(point.im, exponent), line.exponent)};
        }
    }
    block_barrier();
}

DEVICE void store(const Task &task, const Panel &panel) {
    for_each_element(panel, task.block_length, task.store_across != 0, [&](int32_t number, int32_t i) {
        const Line &line = panel.lines[number];
        int32_t element = static_cast<int32_t>(task.places[i]);
        bool mirrored = false;
        if (task.symmetry == SYMMETRY_REAL && task.step_count > 1) {
            // Outputs of rows beyond the middle are the conjugates of others, and those alone are there.
            const int32_t rows = task.steps[0].n;
            mirrored = 2 * (element / (task.block_length / rows)) > rows;
            element = mirrored ? static_cast<int32_t>(task.places[task.block_length - i]) : element;
        }
        const int32_t place = panel.place(number, element);
        const uint64_t index = line.output_start + static_cast<uint64_t>(i) * task.groups;
        const bool final = task.sink == SINK_FLOATS || task.sink == SINK_UNCHIRPED_FLOATS;
        if (final && index >= task.output.count) {
            return;
        }
        const int32_t excess = line.output_bits - task.word_bits;
        const int32_t shift = excess > 0 && task.sink != SINK_FLOATS ? excess : 0;
        const int32_t exponent = line.exponent + task.exponent_offset + shift;
        if (final) {
            Wide re, im;
            if (task.sink == SINK_FLOATS) {
                load_wide(panel, place, re, im);
                im = mirrored ? negated(im) : im;
            } else {
                const Words words = narrowed_output(panel.points[place], panel.extra[place], shift, mirrored);
                // The parts were exchanged before the transform, and are exchanged back.
                const Words turned = rotate({words.im, words.re}, task.sink_table[index]);
                re = widened(turned.re);
                im = widened(turned.im);
            }
            const bool single = task.output.single != 0;
            const Wide imaginary = task.output.conjugate != 0 ? negated(im) : im;
            const Words bits = {static_cast<int64_t>(converted(re, exponent + line.bias, single)),
                                static_cast<int64_t>(converted(imaginary, exponent + line.bias, single))};
            store_float(task, line, index, bits);
            return;
        }
        const Words words = narrowed_output(panel.points[place], panel.extra[place], shift, mirrored);
        if (task.sink == SINK_NEXT_PASS) {
            const Angle root = pass_root(task, static_cast<uint64_t>(i) * line.place_in_group);
            task.words_out[line.first_word + line.start + static_cast<uint64_t>(i) * task.inner] = rotate(words, root);
            if (i == 0) {
                task.exponents_out[line.first_exponent_out + line.number] = exponent;
            }
        } else {
            const Words product = rotate(words, task.sink_table[index]);
            // Exchanged parts turn the forward transform that follows into an inverse one.
            task.words_out[line.first_word + index] = {product.im, product.re};
            if (i == 0) {
                task.exponents_out[line.first_exponent_out + line.output_start] = exponent;
            }
        }
    });
}

// Some lines, from the source to the sink. `first` counts lines, or entries of the list of lines.
template <int MOST_TILES> DEVICE void run_lines(const Task &task, uint64_t first, uint64_t total) {
    const uint64_t left = total - first;
    const int32_t count = left < static_cast<uint64_t>(task.lines_per_block) ? static_cast<int32_t>(left) : task.lines_per_block;
    const Panel panel = panel_of(task, count);
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
        run_step<MOST_TILES>(task, panel, step);
        block_barrier();
    }
    store(task, panel);
}

template <int MOST_TILES> DEVICE void run_block(const Task &task) {
    wait_for_launch_before();
    // How many lines another kernel has left is known on the device alone; else every block has one turn.
    const uint64_t total = task.list != nullptr ? *task.list_count : task.line_count;
    const uint64_t lines = static_cast<uint64_t>(task.lines_per_block), step = gridDim.x * lines;
    for (uint64_t first = blockIdx.x * lines; first < total; first += step) {
        run_lines<MOST_TILES>(task, first, total);
        block_barrier();
    }
}

// Blocks whose steps have at most 32 points, and all others: what the first does without makes room for a second thread
// block on every multiprocessor.
KERNEL(THREADS, 2) general_block_small(PARAMETERS Task task) { run_block<2>(task); }
KERNEL(THREADS, 1) general_block(PARAMETERS Task task) { run_block<4>(task); }

// A double times a power of two, as a double or a single.
DEVICE uint64_t scaled_number(int64_t bits, int32_t bias, bool single) {
    const Decoded x = decoded_double(static_cast<uint64_t>(bits));
    const int64_t word = static_cast<int64_t>(x.magnitude);
    return converted(widened(x.negative ? -word : word), x.exponent + bias, single);
}

// Lines of one point: the transform is the point.
KERNEL(THREADS, 1) copy_points(PARAMETERS ArrayTask task) {
    wait_for_launch_before();
    const uint64_t line = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (line >= task.line_count) {
        return;
    }
    const bool single = task.output.single != 0;
    const int32_t bias = bias_of_line(task, line);
    const Words bits = read_element(task.input, line_offset(task.input, line), 0, 1);
    Words stored;
    if ((flags_of(bits) & NOT_FINITE) != 0) {
        stored = not_a_number(task.output);
    } else {
        auto scaled = [&](int64_t component) {
            const uint64_t result = scaled_number(component, bias, single);
            // A double that vanishes loses its sign; a single is rounded after that.
            return static_cast<int64_t>(!single && (result & ~SIGN) == 0 ? 0 : result);
        };
        const int64_t im = task.output.conjugate != 0 ? bits.im ^ static_cast<int64_t>(SIGN) : bits.im;
        stored = {scaled(bits.re), scaled(im)};
    }
    write_element(task.output, line_offset(task.output, line), 0, stored);
}

// The larger one of a magnitude and those of a number's parts, as the bits of doubles.
DEVICE uint64_t larger(uint64_t largest, Words bits) {
    uint64_t re = static_cast<uint64_t>(bits.re) & ~SIGN, im = static_cast<uint64_t>(bits.im) & ~SIGN;
    // NaN is passed over; an infinity hides the other part as well.
    re = re > DOUBLE_INFINITY ? 0 : re;
    im = im > DOUBLE_INFINITY ? 0 : im;
    const uint64_t size = re > im ? re : im;
    return size < DOUBLE_INFINITY && size > largest ? size : largest;
}

// What an array holds at a place; real numbers have no imaginary part.
DEVICE Words stored_element(const FloatLines &lines, int64_t at) {
    if (lines.elements == ELEMENTS_REAL) {
        return {static_cast<int64_t>(read_number(lines, at)), 0};
    }
    return read_complex(lines, at);
}

// Notes the largest number that a thread has seen of a transform; of a whole warp, if all its lanes call for the same one.
DEVICE void note_largest(const ArrayTask &task, int64_t transform, uint64_t largest, bool warp) {
    for (int mask = 16; warp && mask > 0; mask /= 2) {
        const uint64_t other = shuffle_xor(largest, mask);
        largest = other > largest ? other : largest;
    }
    if (warp && threadIdx.x % 32 != 0) {
        return;
    }
    // Looked up past the caches: few numbers are larger than all before them, and few threads wait for each other.
    if (largest > *static_cast<const volatile uint64_t *>(task.largest + transform)) {
        atomic_maximum(task.largest + transform, largest);
        if (scale_between_axes(largest, -task.bias, task.input.single != 0) < 0) {
            *task.scaled_down = 1;
        }
    }
}

// The largest finite magnitude of every transform, as the bits of a double.
KERNEL(THREADS, 1) find_largest(PARAMETERS ArrayTask task) {
    wait_for_launch_before();
    const uint64_t total = task.line_count * task.input.count;
    const uint64_t stride = static_cast<uint64_t>(gridDim.x) * blockDim.x;
    // Whether all lanes of a warp are in one transform always.
    const bool warp = task.transform_stride == 0 && (task.line_count == 1 || task.input.count % 32 == 0);
    int64_t transform = 0;
    uint64_t largest = 0;
    for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += stride) {
        // An array without gaps, of one transform, is one line, and needs no division.
        const uint64_t line = task.line_count == 1 ? 0 : i / task.input.count, index = i - line * task.input.count;
        const int64_t of_line = distance_of(task.transforms, task.transform_dimension_count, line);
        const int64_t its = of_line + static_cast<int64_t>(index) * task.transform_stride;
        if (its != transform) {
            note_largest(task, transform, largest, warp);
            transform = its;
            largest = 0;
        }
        const int64_t at = line_offset(task.input, line) + static_cast<int64_t>(index) * task.input.stride;
        largest = larger(largest, stored_element(task.input, at));
    }
    note_largest(task, transform, largest, warp);
}

DEVICE bool is_marked(const ArrayTask &task, uint64_t line) { return (task.marks[line / 32] >> (line % 32) & 1) != 0; }

// The same for lines that a tuned kernel has left, a warp each; they are marked on the way.
KERNEL(THREADS, 1) find_largest_left(PARAMETERS ArrayTask task) {
    wait_for_launch_before();
    const uint64_t warps = static_cast<uint64_t>(gridDim.x) * (blockDim.x / 32), total = *task.list_count;
    for (uint64_t i = (static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32; i < total; i += warps) {
        const uint64_t line = task.list[i];
        const int64_t offset = line_offset(task.input, line);
        if (threadIdx.x % 32 == 0) {
            atomic_or(&task.marks[line / 32], uint32_t{1} << (line % 32));
        }
        uint64_t largest = 0;
        for (uint64_t index = threadIdx.x % 32; index < task.input.count; index += 32) {
            largest = larger(largest, stored_element(task.input, offset + static_cast<int64_t>(index) * task.input.stride));
        }
        note_largest(task, distance_of(task.transforms, task.transform_dimension_count, line), largest, true);
    }
}

// What a tuned kernel has not left it has stored as if no transform were scaled: those lines, a warp each.
//
// In the first axis all transforms that are scaled have lines that were left, whose numbers alone have been looked at. One
// with a large number is scaled down, and so are its other lines. One with small numbers alone is scaled up, unless there are
// others in the lines that were not left: those results are not all zeros, and any number far from the ends of the range says
// so from then on. In the last axis all lines of transforms that are scaled up have been left, but for zeros; the others are
// scaled back here, where there are several transforms: of one the tuned kernel knows the scale.
KERNEL(THREADS, 1) scale_lines(PARAMETERS ArrayTask task) {
    wait_for_launch_before();
    const bool first = task.bias < 0, single = task.output.single != 0;
    if (first ? *task.list_count == 0 : *task.scaled_down == 0) {
        return;
    }
    const uint64_t warps = static_cast<uint64_t>(gridDim.x) * (blockDim.x / 32), lane = threadIdx.x % 32;
    for (uint64_t line = (static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32; line < task.line_count; line += warps) {
        if (is_marked(task, line)) {
            continue;
        }
        // Another warp may change the scale, from what is to be looked at to what has been found; a warp is of one mind.
        const int32_t bias = shuffle(bias_of_line(task, line), 0);
        if (bias == 0 || (!first && bias < 0)) {
            continue;
        }
        const int64_t offset = line_offset(task.output, line);
        uint64_t some = 0;
        for (uint64_t index = lane; index < task.output.count; index += 32) {
            const Words bits = stored_element(task.output, offset + static_cast<int64_t>(index) * task.output.stride);
            some |= static_cast<uint64_t>(bits.re | bits.im) & ~SIGN;
            auto scaled = [bias, single](int64_t x) {
                // Zeros keep their sign.
                const bool zero = (static_cast<uint64_t>(x) & ~SIGN) == 0;
                return static_cast<int64_t>(zero ? static_cast<uint64_t>(x) >> (single ? 32 : 0) : scaled_number(x, bias, single));
            };
            if (!first || bias < 0) {
                write_element(task.output, offset, index, {scaled(bits.re), scaled(bits.im)});
            }
        }
        if (first && bias > 0 && warp_any(some != 0) && lane == 0) {
            constexpr uint64_t ONE = uint64_t{1023} << 52;
            atomic_maximum(task.largest + distance_of(task.transforms, task.transform_dimension_count, line), ONE);
        }
    }
}
