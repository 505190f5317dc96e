// A line in a block of two steps with products by residues: from memory, quantised, both steps, and back.
#pragma once
#include "residues/residue_floats.cuh"
#include "residues/residue_garner.cuh"
#include "residues/residue_step.cuh"
#include "portable/row_lines.cuh"

constexpr int THREADS = 256;

// Steps of FIRST and LAST points. Who has no redundant moduli watches over nothing.
template <class Way, int FIRST, int LAST, Stage WITHOUT> DEVICE void run_residues(const Task &task, const Watch &watch = Watch()) {
    const int32_t lines = task.lines_per_block, points = lines * task.line_pitch;
    for (uint64_t first = static_cast<uint64_t>(blockIdx.x) * lines; first < task.line_count; first += static_cast<uint64_t>(gridDim.x) * lines) {
        const uint64_t left = task.line_count - first;
        const int32_t count = left < static_cast<uint64_t>(lines) ? static_cast<int32_t>(left) : lines;
        const RowPanel panel = row_panel_of(task, count, points);
        for (int32_t i = static_cast<int32_t>(threadIdx.x); i < count; i += static_cast<int32_t>(blockDim.x)) {
            prepare_line(task, panel.lines[i], first + static_cast<uint64_t>(i));
            panel.lines[i].base = i * task.line_pitch;
        }
        block_barrier();
        const int64_t flip = task.input.conjugate != 0 ? static_cast<int64_t>(SIGN) : 0;
        load_floats(task, panel, [&](const Line &line, int32_t i) {
            Words bits = read_complex(task.input, line.load_start + i * task.input.stride);
            bits.im ^= flip;
            return bits;
        });
        block_barrier();
        quantise(task, panel);
        // Behind the points.
        const uint32_t scratch = (shared_address(panel.extra + points) + 15) / 16 * 16 + static_cast<uint32_t>(thread_number() / 32) * SCRATCH_BYTES;
        residue_step<Way, false, FIRST, LAST, WITHOUT>(panel, task.steps[0], scratch, watch);
        block_barrier();
        residue_step<Way, true, LAST, FIRST, WITHOUT>(panel, task.steps[1], scratch, watch);
        block_barrier();
        store_floats_as<8, false>(task, panel);
        block_barrier();
    }
}
