// One DFT of 32 points over the columns of a line, its products by residues in fp8, and a block of lines: what all ways have in common.
//
// A warpgroup, or two of them, have a line: its 32 columns, real parts and imaginary parts, are the 64 rows of a product, and all 32 outputs its columns. Modulus
// by modulus words become digits, are multiplied, and leave a residue for every output in shared memory; then the outputs are put together one by one. Two
// warpgroups have half the moduli each, and then half the outputs.
//
// A way says which moduli, which digits, and how integers are put together again. It has
//   LINES, GROUPS                         lines of a block, and warpgroups of a line
//   PRODUCT_BYTES, WEIGHT_BYTES           of its tables in shared memory, and `products(step)`, `weights(step)`, where they come from
//   ROW_BYTES                             of the residues of the outputs of eight columns
//   count(closing)                        moduli of a step
//   multiply<COUNT, WITHOUT>(words, products, rows, group)
//   Operands, load(operands, rows)        residues of a turn, as windows(operands, rounding, take, end_of) has them
#pragma once
#include "arch/async_copy.cuh"
#include "residues/residue_step.cuh"
#include "portable/row_lines.cuh"
#include "arch/wgmma_fp8.cuh"

// Residues of both parts of the 32 numbers of a turn, 16 bytes each. A warp has 8 turns.
constexpr uint32_t TURN_BYTES = 2 * 32 * 16;

// Which line this thread has part of, of those of the block, and in which of the line's warpgroups it is.
template <class Way> DEVICE int32_t own_line() { return thread_number() / (128 * Way::GROUPS); }
template <class Way> DEVICE int32_t own_group() { return Way::GROUPS == 1 ? 0 : shuffle(thread_number() / 128 % Way::GROUPS, 0); }

// Shared memory of a block behind its points: tables of the step that is next, then the residues of every eight columns.
template <class Way> struct Fp8Memory {
    uint32_t products, weights, rows;
    DEVICE explicit Fp8Memory(const void *behind) {
        products = (shared_address(behind) + 127) / 128 * 128;
        weights = products + Way::PRODUCT_BYTES;
        rows = weights + Way::WEIGHT_BYTES + static_cast<uint32_t>(4 * own_line<Way>() + thread_number() / 32 % 4) * Way::ROW_BYTES;
    }
};

// Begins to copy a table, by all threads of the block.
DEVICE void begin_table(uint32_t to, const unsigned char *from, uint32_t bytes) {
    for (uint32_t i = 16 * threadIdx.x; i < bytes; i += 16 * blockDim.x) copy_async(to + i, from + i, true);
    copy_commit();
}
// Products may use all tables from here on.
DEVICE void tables_are_there() {
    copy_wait();
    wgmma_publish();
    block_barrier();
}

// The words of a thread, [even real, even imaginary, odd imaginary, minus odd real] of four slots, without signs.
struct SplitWords {
    uint32_t low[4][4], high[4][4];
};
// Where the window `t` of a number lies, in the place of its residues and its neighbours': the upper two of each apart, so that neither reading nor
// writing meets on a bank.
DEVICE uint32_t window_place(uint32_t number, uint32_t t) { return (t / 2) * 512 + ((16 * number) ^ (64 * (t / 2))) + 8 * (t % 2); }

// Both parts of this lane's number of a turn.
template <class Way>
DEVICE void reconstruct_rows(const Way &way, uint32_t rows, const Rounding (&rounding)[2], bool down_after, Rounded (&to)[2]) {
    const uint32_t lane = static_cast<uint32_t>(thread_number()) % 32;
    typename Way::Operands operands;
    Way::load(operands, rows + 16 * lane);
    warp_barrier();
    way.windows(
        operands, rounding,
        [&](uint32_t, uint32_t number, Piece piece) { store_shared(rows + window_place(number, lane % 4), make_uint2(piece.low, piece.high)); },
        [&](uint32_t part) {
            warp_barrier();
            const uint4 lower = load_shared(rows + window_place(lane, 0)), upper = load_shared(rows + window_place(lane, 2));
            const Piece windows[4] = {{lower.x, lower.y}, {lower.z, lower.w}, {upper.x, upper.y}, {upper.z, upper.w}};
            to[part] = put_together(windows, rounding[part], part == 1 && down_after);
            warp_barrier();
        });
}

// A step of the line of this warpgroup. `after_products` is called when this warp has no product of the step left, and is a barrier of the block.
template <class Way, bool CLOSING, Stage WITHOUT, class After>
DEVICE void fp8_residue_step(const RowPanel &panel, const Step &step, const Fp8Memory<Way> &memory, const After &after_products) {
    constexpr int COUNT = Way::count(CLOSING);
    const int32_t lane = thread_number() % 32, g = lane / 4, t = lane % 4, warp = thread_number() / 32 % 4;
    Column column;
    column.line = own_line<Way>();
    column.number = 8 * warp + g;
    column.start = panel.lines[column.line].base;
    column.mirrored = !CLOSING && 2 * column.number > POINTS ? -1 : 0;
    {
        SplitWords split;
        int64_t words[4][4];
        fold<CLOSING>(panel, column, t, words);
#pragma unroll
        for (int kind = 0; kind < 4; kind++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                split.low[kind][j] = static_cast<uint32_t>(words[kind][j]);
                split.high[kind][j] = static_cast<uint32_t>(words[kind][j] >> 32) ^ 0x80000000u;
            }
        }
        Way::template multiply<COUNT, WITHOUT>(split, memory.products, memory.rows, own_group<Way>());
    }
    // All threads of the line have read their columns, and written their residues.
    after_products();
    const Way way(step, memory.weights);
    const bool conjugated = CLOSING && 2 * column.number > POINTS;
#pragma unroll 1
    for (int32_t turn = 8 / Way::GROUPS * own_group<Way>(), end = turn + 8 / Way::GROUPS; turn < end; turn++) {
        const int32_t tile = turn / 2, e = turn % 2, k = tile / 2 * 8 + 2 * t + e;
        const bool far = tile % 2 != 0;
        // Row 0 of a time-shifted step has output 0 in its cosines and the middle one in its sines.
        const bool middle = !CLOSING && far && k == 0;
        const int32_t shift = CLOSING ? 0 : step.shift;
        // Imaginary parts are the negatives of what is rounded upwards, but of the last step's partners.
        const Rounding rounding[2] = {{shift, false}, {shift, !far}};
        Rounded value[2];
        if (WITHOUT == Stage::RECONSTRUCTION) {
            const uint4 re = load_shared(memory.rows + turn * TURN_BYTES + 16 * lane), im = load_shared(memory.rows + turn * TURN_BYTES + 512 + 16 * lane);
            value[0] = {static_cast<int64_t>(re.x + re.y) << 32 | (re.z + re.w), 0};
            value[1] = {static_cast<int64_t>(im.x + im.y) << 32 | (im.z + im.w), 0};
        } else {
            reconstruct_rows(way, memory.rows + turn * TURN_BYTES, rounding, middle, value);
        }
        if (CLOSING) {
            // Rows beyond the middle were computed of the conjugated line, and are conjugated back.
            const int32_t place = column.start + column.number * panel.row_pitch + (far ? POINTS - 1 - k : k) * panel.column_pitch;
            put_last(panel, place, value[0], negated_if(conjugated, value[1]));
        } else {
            const int64_t im = far && !middle ? negated(value[1].low) : value[1].low;
            const int32_t row = middle ? POINTS / 2 : far ? POINTS - k : k;
            put_first(panel, step, column, middle ? POINTS / 2 : k, row, {value[0].low, im});
        }
    }
}

// All lines of a block. It takes up nearly all of a multiprocessor's shared memory, so there are as many blocks as multiprocessors, and each goes on to
// other lines; the tables of the next step are copied while integers are put together.
template <class Way, Stage WITHOUT> DEVICE void run_fp8_residues(const Tasks &tasks) {
    const Task &task = tasks.passes[0];
    constexpr int LINES = Way::LINES;
    const int32_t points = LINES * task.line_pitch;
    const uint64_t distance = static_cast<uint64_t>(gridDim.x) * LINES;
    for (uint64_t first = static_cast<uint64_t>(blockIdx.x) * LINES; first < task.line_count; first += distance) {
        // Warpgroups without a line repeat the last one, and write the same numbers to the same places.
        const RowPanel panel = row_panel_of(task, LINES, points);
        const Fp8Memory<Way> memory(panel.extra + points);
        const auto begin_products = [&](const Step &step) { begin_table(memory.products, Way::products(step), Way::PRODUCT_BYTES); };
        const auto begin_weights = [&](const Step &step) { begin_table(memory.weights, Way::weights(step), Way::WEIGHT_BYTES); };
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

#define FP8_RESIDUE_KERNEL(NAME, WITHOUT, ...)                                 \
    KERNEL(128 * __VA_ARGS__::LINES * __VA_ARGS__::GROUPS, 1) NAME(PARAMETERS Tasks tasks) { \
        run_fp8_residues<__VA_ARGS__, Stage::WITHOUT>(tasks);                  \
    }
