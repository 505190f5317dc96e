// target: sm_90a
// Blocks of two steps of 32 points with products by residues, as in bailey_step_residues.cu, on the tensor unit for 8-bit floating-point numbers:
// the same moduli, the same integers, the same bits.
//
// A block has three lines at a time, one a warpgroup, and the tables of one step: those of the next are copied while integers are put together. It
// takes up nearly all of a multiprocessor's shared memory, so there are as many blocks as multiprocessors, and each goes on to other lines.
//
// expect: residues_fp8_kulisch32 62 QGMMA\.64x64x32
// expect: residues_fp8_bands 62 QGMMA\.64x64x32
// expect: residues_fp8_bands 8 QGMMA\.64x40x32
#include "row_lines.cuh"
#include "residue_fp8_step.cuh"

constexpr int THREADS = 384, LINES = THREADS / 128;

template <class Way, Stage WITHOUT> DEVICE void run_fp8_residues(const Tasks &tasks) {
    const Task &task = tasks.passes[0];
    const int32_t points = LINES * task.line_pitch;
    const uint64_t distance = static_cast<uint64_t>(gridDim.x) * LINES;
    for (uint64_t first = static_cast<uint64_t>(blockIdx.x) * LINES; first < task.line_count; first += distance) {
        // Warpgroups without a line repeat the last one, and write the same numbers to the same places.
        const RowPanel panel = row_panel_of(task, LINES, points);
        const Fp8Memory memory(panel.extra + points);
        const auto begin_products = [&](const Step &step) { begin_table(memory.products, Fp8ResidueTables(step).products, PRODUCT_TABLE_BYTES); };
        const auto begin_weights = [&](const Step &step) { begin_table(memory.weights, Fp8ResidueTables(step).weights, WEIGHT_TABLE_BYTES); };
        if (first < distance) begin_products(task.steps[0]);
        begin_weights(task.steps[0]);
        if (threadIdx.x < LINES) {
            const int32_t i = static_cast<int32_t>(threadIdx.x);
            const uint64_t left = task.line_count - first;
            prepare_line(task, panel.lines[i], first + (static_cast<uint64_t>(i) < left ? static_cast<uint64_t>(i) : left - 1));
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
        tables_are_there();
        fp8_residue_step<Way, false, WITHOUT>(panel, task.steps[0], memory, [&] {
            block_barrier();
            begin_products(task.steps[1]);
        });
        block_barrier();
        begin_weights(task.steps[1]);
        tables_are_there();
        fp8_residue_step<Way, true, WITHOUT>(panel, task.steps[1], memory, [&] {
            block_barrier();
            if (first + distance < task.line_count) begin_products(task.steps[0]);
        });
        block_barrier();
        store_floats_as<8, false>(task, panel);
        block_barrier();
    }
}

#define FP8_RESIDUE_KERNEL(NAME, WITHOUT, ...) \
    KERNEL(THREADS, 1) NAME(PARAMETERS Tasks tasks) { run_fp8_residues<__VA_ARGS__, Stage::WITHOUT>(tasks); }

// Products in fp8, weights in int8.
FP8_RESIDUE_KERNEL(residues_fp8_kulisch32, NONE, Int8Weights<Kulisch32>)
// Both in fp8.
FP8_RESIDUE_KERNEL(residues_fp8_bands, NONE, Fp8Weights)
// What the stages of the second cost: their results are void.
FP8_RESIDUE_KERNEL(residues_fp8_without_reconstruction, RECONSTRUCTION, Fp8Weights)
FP8_RESIDUE_KERNEL(residues_fp8_without_products, PRODUCTS, Fp8Weights)
FP8_RESIDUE_KERNEL(residues_fp8_without_decomposition, DECOMPOSITION, Fp8Weights)
