// target: fatbin
// early
// Blocks of one or two steps with truncated products, on any GPU with the int8 tensor instruction (compute capability 8.0
// and later): a thread block takes some lines of one pass from numbers or words in memory to numbers or words in memory, or
// a transform that fits shared memory through both its passes. The same integers as general_block.cu, which knows all
// recipes; here digits are known to the compiler.
//
// No floating-point arithmetic: numbers are read and written as integers.
#include "arch/launches.cuh"
#include "portable/row_lines.cuh"

constexpr int THREADS = 256;
// Bits of the largest output of every line.
template <int D> DEVICE void measure_outputs(const Task &task, const RowPanel &panel) {
    for_each_line(panel, task.block_length, false, [&](int32_t number, int32_t first, int32_t step) {
        Line &line = panel.lines[number];
        uint64_t magnitudes = 0;
        int32_t bits = 0;
        for (int32_t i = first; i < task.block_length; i += step) {
            const OutputPlace at(task, panel, number, i);
            const Words value = panel.points[at.place];
            const int32_t extra = D == 8 ? panel.extra[at.place] : 0;
            if (extra != 0) {
                const int32_t re = bits_of_wide(wide_output(value.re, extra, 0)), im = bits_of_wide(wide_output(value.im, extra, 8));
                bits = re > bits ? re : bits;
                bits = im > bits ? im : bits;
            } else {
                magnitudes |= magnitude_of(value.re) | magnitude_of(value.im);
            }
        }
        const int32_t usual = 64 - leading_zeros(magnitudes);
        bits = usual > bits ? usual : bits;
        if (bits > line.output_bits) {
            atomic_maximum(&line.output_bits, bits);
        }
    });
}

// An output as words of the next pass: rounded, halves upwards.
template <int D> DEVICE Words narrowed_words(const RowPanel &panel, const OutputPlace &at, int32_t shift) {
    const Words value = panel.points[at.place];
    const int32_t extra = D == 8 ? panel.extra[at.place] : 0;
    if (extra == 0 && !at.mirrored) {
        const int64_t half = int64_t{1} << shift >> 1;
        return {(value.re + half) >> shift, (value.im + half) >> shift};
    }
    const Wide re = wide_output(value.re, extra, 0), im = wide_output(value.im, extra, 8);
    return {shifted_word(re, shift), shifted_word(at.mirrored ? negated(im) : im, shift)};
}

template <int D> DEVICE void store_words(const Task &task, const RowPanel &panel) {
    for_each_line(panel, task.block_length, task.store_across != 0, [&](int32_t number, int32_t first, int32_t step) {
        const Line &line = panel.lines[number];
        Words *const words_out = task.words_out + line.first_word + line.start;
        const int32_t excess = line.output_bits - task.word_bits, shift = excess > 0 ? excess : 0;
#pragma unroll 2
        for (int32_t i = first; i < task.block_length; i += step) {
            const OutputPlace at(task, panel, number, i);
            const Angle root = pass_root(task, static_cast<uint64_t>(i) * line.place_in_group);
            words_out[static_cast<uint64_t>(i) * task.inner] = rotate(narrowed_words<D>(panel, at, shift), root);
        }
        if (first == 0) {
            task.exponents_out[line.first_exponent_out + line.number] = line.exponent + task.exponent_offset + shift;
        }
    });
}

template <int D, int TILES> DEVICE void run_step(const Task &task, const RowPanel &panel, const Step &step, int number) {
    if (step.role == ROLE_ONLY) {
        matrix_step<D, TILES, Part::ONLY>(task, panel, step);
    } else if (number == 0) {
        matrix_step<D, TILES, Part::OPENING>(task, panel, step);
    } else if (step.fold == FOLD_FREQUENCY_SHIFTED) {
        matrix_step<D, TILES, Part::CLOSING_SHIFTED>(task, panel, step);
    } else {
        matrix_step<D, TILES, Part::CLOSING_PLAIN>(task, panel, step);
    }
}

// Words under one exponent through all steps.
template <int D, int MOST_TILES> DEVICE void run_steps(const Task &task, const RowPanel &panel) {
#pragma unroll 1
    for (int32_t i = 0; i < task.step_count; i++) {
        const Step step = task.steps[i];
        if (step.tiles == 0) {
            closing_unit_step<D>(task, panel, step);
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
}

// From the first pass to the second one within shared memory: words, rotated, where the outputs are, with their exponents.
template <int D> DEVICE void rotate_between(const Task &task, const RowPanel &panel) {
    for_each_line(panel, task.block_length, false, [&](int32_t number, int32_t first, int32_t step) {
        const Line &line = panel.lines[number];
        const int32_t excess = line.output_bits - task.word_bits, shift = excess > 0 ? excess : 0;
        const int32_t exponent = line.exponent + task.exponent_offset + shift;
#pragma unroll 2
        for (int32_t i = first; i < task.block_length; i += step) {
            // Roots of short transforms are all there.
            const Angle root = table_entry(task.roots_low + i * number);
            const OutputPlace at(task, panel, number, i);
            panel.points[at.place] = rotate(narrowed_words<D>(panel, at, shift), root);
            panel.extra[at.place] = exponent;
        }
    });
}

// The lines of the second pass: each has an output of every line of the first one.
DEVICE void prepare_second(const Tasks &tasks, const RowPanel &panel, uint64_t transform) {
    const Task &task = tasks.passes[1];
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < panel.count; i += static_cast<int32_t>(blockDim.x)) {
        Line &line = panel.lines[i];
        line.transform = transform;
        line.output_start = static_cast<uint64_t>(i);
        prepare_end(task, line, task.first_transform + transform);
        line.store_start = line.output_offset + i * task.output.stride;
        line.largest_sum = 0;
        line.scale = NOTHING;
        line.exponent = 0;
        line.flags = common_flags();
        line.base = static_cast<int32_t>(tasks.passes[0].places[i]);
    }
    block_barrier();
    const Places places(panel);
    for_each_line(panel, task.block_length, false, [&](int32_t number, int32_t first, int32_t step) {
        Line &line = panel.lines[number];
        int32_t scale = NOTHING;
        for (int32_t i = first; i < task.block_length; i += step) {
            const int32_t place = line.base + places.of(i);
            const int32_t larger = scale_of_words(panel.points[place], panel.extra[place]);
            scale = larger > scale ? larger : scale;
        }
        note_scale(line, scale);
    });
    block_barrier();
}

// Some lines, from the source to the sink. `first` counts lines, or entries of the list of lines.
template <int D, int MOST_TILES, bool TWO> DEVICE void run_lines(const Tasks &tasks, uint64_t first, int32_t count, int32_t points) {
    if (threadIdx.x == 0) {
        common_flags() = 0;
    }
    // A list is of whole transforms where those have two passes.
    const uint64_t *const list = tasks.passes[0].list;
    const uint64_t transform = !TWO ? 0 : list != nullptr ? list[first / static_cast<uint64_t>(count)] : first / static_cast<uint64_t>(count);
    // A loop, not twice the same code.
#pragma unroll 1
    for (int pass = 0;; pass++) {
        const Task &task = tasks.passes[TWO ? pass : 0];
        const RowPanel panel = row_panel_of(task, !TWO || pass == 0 ? count : tasks.passes[0].block_length, points);
        if (!TWO || pass == 0) {
            for (int32_t i = static_cast<int32_t>(threadIdx.x); i < count; i += static_cast<int32_t>(blockDim.x)) {
                const uint64_t entry = first + static_cast<uint64_t>(i);
                if (TWO) {
                    prepare_line(task, panel.lines[i], transform * static_cast<uint64_t>(count) + static_cast<uint64_t>(i));
                } else {
                    prepare_line(task, panel.lines[i], list != nullptr ? list[entry] : entry);
                }
                panel.lines[i].base = i * task.line_pitch;
            }
            block_barrier();
            load(task, panel);
            block_barrier();
        } else {
            prepare_second(tasks, panel, transform);
        }
        quantise(task, panel);
        run_steps<D, MOST_TILES>(task, panel);
        if (task.sink == SINK_FLOATS) {
            store_floats<D>(task, panel);
            return;
        }
        measure_outputs<D>(task, panel);
        block_barrier();
        if (!TWO) {
            store_words<D>(task, panel);
            return;
        }
        rotate_between<D>(task, panel);
        block_barrier();
    }
}

template <int D, int MOST_TILES, bool TWO> DEVICE void run_block(const Tasks &tasks) {
    wait_for_launch_before();
    const Task &task = tasks.passes[0];
    // How many lines another kernel has left is known on the device alone; else every block has one turn.
    const int32_t lines = TWO ? static_cast<int32_t>(task.lines_per_transform) : task.lines_per_block;
    const uint64_t total = task.list != nullptr ? static_cast<uint64_t>(*task.list_count) * (TWO ? lines : 1) : task.line_count;
    for (uint64_t first = static_cast<uint64_t>(blockIdx.x) * lines; first < total; first += static_cast<uint64_t>(gridDim.x) * lines) {
        const uint64_t left = total - first;
        const int32_t count = left < static_cast<uint64_t>(lines) ? static_cast<int32_t>(left) : lines;
        run_lines<D, MOST_TILES, TWO>(tasks, first, count, lines * task.line_pitch);
        block_barrier();
    }
}

// Steps of up to two tiles of eight slots, and of more: what smaller steps do without makes room for registers.
#define TRUNCATED_KERNEL(NAME, D, MOST_TILES, TWO) \
    KERNEL(THREADS, 2) NAME(PARAMETERS Tasks tasks) { run_block<D, MOST_TILES, TWO>(tasks); }

TRUNCATED_KERNEL(truncated_5, 5, 2, false)
TRUNCATED_KERNEL(truncated_5_large, 5, 4, false)
TRUNCATED_KERNEL(truncated_6, 6, 2, false)
TRUNCATED_KERNEL(truncated_7, 7, 2, false)
TRUNCATED_KERNEL(truncated_8, 8, 2, false)
TRUNCATED_KERNEL(truncated_8_large, 8, 4, false)
TRUNCATED_KERNEL(two_passes_5, 5, 2, true)
TRUNCATED_KERNEL(two_passes_5_large, 5, 4, true)
TRUNCATED_KERNEL(two_passes_8, 8, 2, true)
TRUNCATED_KERNEL(two_passes_8_large, 8, 4, true)
