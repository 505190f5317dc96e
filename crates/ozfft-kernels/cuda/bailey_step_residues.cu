// target: sm_90a
// Blocks of two steps of 32 points, forwards and, by conjugation, backwards, with products by residues: Ozaki's scheme II in
// one kernel. Words become residues modulo 15 (first step) or 16 numbers (second step), each of which is multiplied by
// the tensor unit for bytes, and integers are put together again; everything else is as in truncated_block.cu, and
// the integers are those of general_block.cu with exact products.
//
// No floating-point arithmetic but on integers that a float holds exactly, unless a kernel is named after its floats; names that
// end in `_conversions` have doubles.
#include "row_lines.cuh"
#include "residue_floats.cuh"
#include "residue_garner.cuh"
#include "residue_step.cuh"

constexpr int THREADS = 256;

template <class Way, Stage WITHOUT> DEVICE void run_residues(const Tasks &tasks) {
    const Task &task = tasks.passes[0];
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
        residue_step<Way, false, WITHOUT>(panel, task.steps[0], scratch);
        block_barrier();
        residue_step<Way, true, WITHOUT>(panel, task.steps[1], scratch);
        block_barrier();
        store_floats_as<8, false>(task, panel);
        block_barrier();
    }
}

#define RESIDUE_KERNEL(NAME, WITHOUT, ...) \
    KERNEL(THREADS, 2) NAME(PARAMETERS Tasks tasks) { run_residues<__VA_ARGS__, Stage::WITHOUT>(tasks); }

// Exact ways.
RESIDUE_KERNEL(residues_kulisch32, NONE, ExactSlices<Kulisch32>)
RESIDUE_KERNEL(residues_kulisch16, NONE, ExactSlices<Kulisch16>)
RESIDUE_KERNEL(residues_kulisch8, NONE, ExactSlices<Kulisch8>)
RESIDUE_KERNEL(residues_garner, NONE, Garner<garner::AtOnce>)
RESIDUE_KERNEL(residues_garner_one_by_one, NONE, Garner<garner::OneByOne>)
// Bounded ways.
RESIDUE_KERNEL(residues_double_conversions, NONE, RoundedSlices<DoubleSum>)
RESIDUE_KERNEL(residues_sum2_conversions, NONE, RoundedSlices<Sum2>)
RESIDUE_KERNEL(residues_double_single, NONE, RoundedSlices<DoubleSingle>)
RESIDUE_KERNEL(residues_single_kahan, NONE, RoundedSlices<SingleKahan>)
RESIDUE_KERNEL(residues_bernstein_double_conversions, NONE, BernsteinDouble)
// What the stages of the first cost: their results are void.
RESIDUE_KERNEL(residues_without_reconstruction, RECONSTRUCTION, ExactSlices<Kulisch32>)
RESIDUE_KERNEL(residues_without_products, PRODUCTS, ExactSlices<Kulisch32>)
RESIDUE_KERNEL(residues_without_decomposition, DECOMPOSITION, ExactSlices<Kulisch32>)
