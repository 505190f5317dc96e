// Lines of a launch: where each begins and ends, and what the caller sees of its outputs.
#pragma once
#include "numerics/numbers.cuh"
#include "portable/panel.cuh"

// The group of a last pass whose outputs begin at `start`: the start's digits in reverse order. Lines are numbered by
// their outputs there, so that neighbours write to neighbouring places.
DEVICE uint64_t group_at(const Task &task, uint64_t start) {
    uint64_t group = 0;
    for (int i = 0; i < task.earlier_count; i++) {
        const uint64_t length = task.earlier_lengths[i];
        group = group * length + start % length;
        start /= length;
    }
    return group;
}

// Where a line's results go, by its number in the array, and what they are scaled by.
DEVICE void prepare_end(const Task &task, Line &line, uint64_t number) {
    line.output_offset = line_offset(task.output, number);
    line.bias = bias_of_line(task, number);
    if (task.marks != nullptr) {
        atomic_or(&task.marks[number / 32], uint32_t{1} << (number % 32));
    }
}

DEVICE void prepare_line(const Task &task, Line &line, uint64_t index) {
    line.transform = index / task.lines_per_transform;
    line.number = index % task.lines_per_transform;
    const bool last = task.inner == 1;
    const uint64_t group = last ? group_at(task, line.number) : line.number / task.inner;
    line.place_in_group = line.number % task.inner;
    line.start = group * task.length + line.place_in_group;
    line.output_start = last ? line.number : 0;
    line.first_word = line.transform * task.words_distance;
    line.first_exponent_in = line.transform * task.exponents_in_distance;
    line.first_exponent_out = line.transform * task.exponents_out_distance;
    if (task.source == SOURCE_GROUP_WORDS) {
        // The pass before numbered its lines (earlier group, place within what was left); `length` of them meet here.
        line.first_exponent_in += group / task.previous * task.length + line.place_in_group;
    }
    line.input_offset = task.source <= SOURCE_CHIRPED_FLOATS ? line_offset(task.input, task.first_transform + line.transform) : 0;
    const bool to_floats = task.sink == SINK_FLOATS || task.sink == SINK_UNCHIRPED_FLOATS;
    line.output_offset = 0;
    line.bias = 0;
    if (to_floats) {
        prepare_end(task, line, task.first_transform + line.transform);
    }
    line.load_start = line.input_offset + static_cast<int64_t>(line.start) * task.input.stride;
    line.store_start = line.output_offset + static_cast<int64_t>(line.output_start) * task.output.stride;
    line.largest_sum = 0;
    line.scale = NOTHING;
    line.exponent = 0;
    line.output_bits = 0;
    line.flags = 0;
    line.rounded = 0;
}

// What an element's bits say of its line.
DEVICE uint32_t flags_of(Words bits) {
    const uint64_t re = static_cast<uint64_t>(bits.re) & ~SIGN, im = static_cast<uint64_t>(bits.im) & ~SIGN;
    return (re >= DOUBLE_INFINITY || im >= DOUBLE_INFINITY ? NOT_FINITE : 0) | (re != 0 ? HAS_REAL : 0) |
           (im != 0 ? HAS_IMAGINARY : 0);
}

// Roots of unity between passes are products of two table entries.
DEVICE Angle pass_root(const Task &task, uint64_t power) {
    const Angle low = task.roots_low[power & ((uint64_t{1} << task.root_low_bits) - 1)];
    return angle_of(rotate(words_of(task.roots_high[power >> task.root_low_bits]), low));
}

// An output for the caller, with what is known of it beyond rounding: zeros where they must be, NaN where there was one.
DEVICE void store_float(const Task &task, const Line &line, uint64_t index, Words bits) {
    const uint32_t nature = task.nature_use == NATURE_RECALL ? task.natures[line.transform] : line.flags;
    if ((nature & NOT_FINITE) != 0) {
        bits = not_a_number(task.output);
    } else if (index == 0 || 2 * index == task.visible_length) {
        bits.re = (nature & HAS_REAL) != 0 ? bits.re : 0;
        bits.im = (nature & HAS_IMAGINARY) != 0 ? bits.im : 0;
    }
    write_element(task.output, line.output_offset, index, bits);
}
