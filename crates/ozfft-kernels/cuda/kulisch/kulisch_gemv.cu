// target: fatbin
// tuned
// Many small matrices times as many vectors: every element is an exact sum of products, rounded once, with the bits of the
// crate `kulisch`.
//
// Rows of all matrices lie one after the other, and a warp takes 32 of them, a lane a row, eight columns at a time by way of
// shared memory. Vectors are cut into digits there, once for all rows of a matrix that the warp has. Rows that digits do not
// hold get a window of products, each lane its own; what that does not hold either is worked out by the whole warp.
#include "kulisch/kulisch_digits.cuh"
#include "kulisch/kulisch_tasks.cuh"

using namespace kulisch;

// Columns of rows in shared memory at a time, and places from row to row: one more, for the banks.
constexpr int SLICE = 8, PITCH = SLICE + 1;
static_assert(DigitSums::MOST % SLICE == 0, "sums are emptied between slices");

// What a warp has in shared memory; the accumulator takes the place of the rest, where it is needed.
struct alignas(16) Stage {
    // Digits of vectors, and a word without a meaning each: some columns of every vector that the warp has, and one place more.
    uint4 factors[32 * PITCH];
    u64 values[32 * PITCH];
    // Windows of vectors.
    unsigned lows[32];
};
static_assert(sizeof(Stage) >= ACCUMULATOR_BYTES && WARPS * sizeof(Stage) == 56320, "as the host has it");

DEVICE Stage &own_stage() { return *reinterpret_cast<Stage *>(shared_memory() + thread_number() / 32 * sizeof(Stage)); }

// The 32 rows of a warp, as a lane sees them.
struct Batch {
    // The lane's row among all rows, the matrix that it is of, and its place there.
    unsigned row, matrix, place;
    int lane;
    // How many rows there are.
    unsigned rows;
    // The matrix among those of the warp, how many these are, and which is the first.
    unsigned slot, slots, first_matrix;
    // Columns whose digits are in shared memory at a time: a multiple of SLICE.
    unsigned chunk;

    DEVICE bool there() const { return (unsigned)lane < rows; }
    DEVICE const u64 *values(const BatchTask &task) const { return task.matrices + (u64)row * task.columns; }
    DEVICE const u64 *vector(const BatchTask &task) const { return task.vectors + (u64)matrix * task.columns; }
};

// As many columns as there are, or as many as there is room for.
DEVICE unsigned columns_of_chunk(unsigned columns, unsigned slots) {
    const unsigned room = (32 * PITCH / slots - 1) / SLICE * SLICE, wanted = (columns + SLICE - 1) / SLICE * SLICE;
    return wanted < room ? wanted : room;
}

// The digits of all vectors, a chunk of columns from `first` on, in windows for the first ones. Returns which vectors have
// numbers that are not in their windows, a bit each.
DEVICE unsigned stage_vectors(const BatchTask &task, const Batch &batch, Stage &to, unsigned first) {
    // Lanes that a vector has at a time: 8, 16 or 32.
    const int bits = batch.chunk <= 8 ? 3 : batch.chunk <= 16 ? 4 : 5;
    const unsigned lane = (unsigned)batch.lane, part = lane >> bits, column = lane & ((1u << bits) - 1);
    unsigned beyond = 0;
#pragma unroll 1
    for (unsigned some = 0; some < batch.slots; some += 32u >> bits) {
        const unsigned slot = some + part;
        const bool there = slot < batch.slots;
        const u64 *from = task.vectors + (u64)(batch.first_matrix + slot) * task.columns + first;
        unsigned low = 0;
#pragma unroll 1
        for (unsigned k = column; k - column < batch.chunk; k += 1u << bits) {
            const u64 value = there && first + k < task.columns ? from[k] : 0;
            if (k == column) {
                if (first == 0) {
                    unsigned highest = 2 * high_word(value);
                    for (int mask = 1; mask >> bits == 0; mask *= 2) {
                        highest = max(highest, shuffle_xor(highest, mask));
                    }
                    low = FactorWindow::low_for(highest >> 21);
                    if (there && column == 0) {
                        to.lows[slot] = low;
                    }
                } else {
                    low = there ? to.lows[slot] : 0;
                }
            }
            unsigned farthest = 0;
            const Digits digits = FactorWindow::digits(low_word(value), high_word(value), low, farthest);
            if (there && k < batch.chunk) {
                to.factors[(batch.chunk + 1) * slot + k] = make_uint4((unsigned)digits.low, (unsigned)digits.middle, (unsigned)digits.high, 0);
                beyond |= farthest < FactorWindow::SPAN ? 0 : 1u << slot;
            }
        }
    }
    return beyond;
}

// Brings eight columns of all rows to shared memory, for a lane from `from` on.
DEVICE void stage_values(const BatchTask &task, const Batch &batch, u64 *to, const u64 *from, unsigned first) {
    u64 column[SLICE];
    if (batch.rows == 32 && first + SLICE <= task.columns) {
#pragma unroll
        for (int i = 0; i < SLICE; i++) {
            column[i] = from[(u64)task.columns * (32 / SLICE * (unsigned)i)];
        }
    } else {
        const unsigned lane = (unsigned)batch.lane;
        const bool within = first + lane % SLICE < task.columns;
#pragma unroll
        for (int i = 0; i < SLICE; i++) {
            const bool there = within && 32 / SLICE * (unsigned)i + lane / SLICE < batch.rows;
            column[i] = there ? from[(u64)task.columns * (32 / SLICE * (unsigned)i)] : 0;
        }
    }
    // The last slice has been used.
    warp_barrier();
#pragma unroll
    for (int i = 0; i < SLICE; i++) {
        to[PITCH * 32 / SLICE * i] = column[i];
    }
    warp_barrier();
}

// The zero that a row of finite products is.
DEVICE u64 zero_row(const BatchTask &task, const Batch &batch) {
    unsigned found = 0;
#pragma unroll 1
    for (unsigned k = 0; k < task.columns; k++) {
        found |= found_in_zero_sum(batch.values(task)[k], batch.vector(task)[k]);
    }
    return zero_of(found);
}

// Rows side by side, by digits. Says whether they held the lane's row.
DEVICE bool by_digits(const BatchTask &task, const Batch &batch, u64 &result) {
    Stage &staged = own_stage();
    const unsigned lane = (unsigned)batch.lane;
    const u64 *from = task.matrices + (u64)(batch.row - lane + lane / SLICE) * task.columns + lane % SLICE;
    u64 *to = staged.values + PITCH * (lane / SLICE) + lane % SLICE;
    const u64 *values = staged.values + PITCH * lane;
    unsigned words[6] = {}, low = 0, farthest = 0, beyond = 0;
    DigitSums sums;
    sums.clear();
    const uint4 *factors = staged.factors;
    unsigned chunk_end = 0;
#pragma unroll 1
    for (unsigned first = 0; first < task.columns; first += SLICE) {
        if (first == chunk_end) {
            warp_barrier();
            beyond |= stage_vectors(task, batch, staged, first);
            factors = staged.factors + (batch.chunk + 1) * batch.slot;
            chunk_end += batch.chunk;
        }
        stage_values(task, batch, to, from, first);
        if (first == 0) {
            unsigned highest = 0;
#pragma unroll
            for (int k = 0; k < SLICE; k++) {
                highest = max(highest, 2 * high_word(values[k]));
            }
            low = FactorWindow::low_for(highest >> 21);
        } else if (first % DigitSums::MOST == 0) {
            sums.empty_into(words);
        }
#pragma unroll
        for (int k = 0; k < SLICE; k++) {
            const uint4 factor = factors[k];
            const Digits digits = FactorWindow::digits(low_word(values[k]), high_word(values[k]), low, farthest);
            sums.add(digits, {(int)factor.x, (int)factor.y, (int)factor.z});
        }
        factors += SLICE;
        from += SLICE;
    }
    sums.empty_into(words);
    beyond = warp_or(beyond);
    const bool held = farthest < FactorWindow::SPAN && (beyond >> batch.slot & 1) == 0;
    const unsigned vector_low = task.columns != 0 ? staged.lows[batch.slot] : 0;
    if (!round_words(words, FactorWindow::position(low, vector_low), result) && held && batch.there()) {
        result = zero_row(task, batch);
    }
    return held;
}

// A lane's row in a window of its products. Says whether it held it.
DEVICE bool by_window(const BatchTask &task, const Batch &batch, u64 &result) {
    const u64 *values = batch.values(task), *vector = batch.vector(task);
    unsigned highest = 0;
#pragma unroll 1
    for (unsigned k = 0; k < task.columns; k++) {
        highest = max(highest, product_field(values[k], vector[k]));
    }
    const unsigned low = ProductWindow::low_for(highest);
    ProductWindow window;
    window.clear();
    Beyond beyond;
#pragma unroll 1
    for (unsigned k = 0; k < task.columns; k++) {
        add_unseen(window, values[k], vector[k], low, beyond);
    }
    window.complete();
    const bool held = beyond.held<ProductWindow>() && task.columns <= WINDOW_TERMS;
    if (!round_words(window.words, ProductWindow::position(low), result) && held) {
        result = zero_row(task, batch);
    }
    return held;
}

// A row through the accumulator, by all lanes.
DEVICE u64 one_row(const BatchTask &task, unsigned row, unsigned matrix) {
    int *limbs = reinterpret_cast<int *>(&own_stage());
    const unsigned lane = (unsigned)lane_number();
    warp_barrier();
    clear(limbs);
    unsigned found = 0;
#pragma unroll 1
    for (unsigned k = lane; k - lane < task.columns; k += 32) {
        if (k < task.columns) {
            found |= deposit_product(limbs, task.matrices[(u64)row * task.columns + k], task.vectors[(u64)matrix * task.columns + k]);
        }
        if (k / 32 % 512 == 511) {
            resolve(limbs);
        }
    }
    static_assert(32 * 512 <= MOST_PENDING, "carries can wait");
    const u64 result = round_accumulator(limbs, warp_or(found));
    warp_barrier();
    return result;
}

KERNEL(THREADS, 3) kulisch_gemv(PARAMETERS BatchTask task) {
    const unsigned all_rows = task.batch * task.rows, step = 32 * WARPS * gridDim.x;
    if (all_rows == 0) {
        return;
    }
    Batch batch;
    batch.lane = lane_number();
    batch.row = blockIdx.x * THREADS + (unsigned)thread_number();
    // Divided once: later rows are so many matrices and rows further.
    batch.matrix = batch.row / task.rows;
    batch.place = batch.row % task.rows;
    const unsigned further = step / task.rows, rest = step % task.rows;
    batch.chunk = batch.slots = 0;
#pragma unroll 1
    for (; batch.row - (unsigned)batch.lane < all_rows; batch.row += step) {
        const unsigned left = all_rows - (batch.row - (unsigned)batch.lane);
        batch.rows = left < 32 ? left : 32;
        batch.first_matrix = shuffle(batch.matrix, 0);
        batch.slot = batch.there() ? batch.matrix - batch.first_matrix : 0;
        const unsigned slots = warp_maximum(batch.slot) + 1;
        if (slots != batch.slots) {
            batch.slots = slots;
            batch.chunk = columns_of_chunk(task.columns, slots);
        }
        u64 result = 0;
        bool held = by_digits(task, batch, result) || !batch.there();
        if (!held) {
            held = by_window(task, batch, result);
        }
        for (unsigned others = warp_or(held ? 0 : 1u << batch.lane); others != 0; others &= others - 1) {
            const int other = 31 - leading_zeros_of_half(others & (0 - others));
            const u64 found = one_row(task, shuffle(batch.row, other), shuffle(batch.matrix, other));
            result = batch.lane == other ? found : result;
        }
        if (batch.there()) {
            task.result[batch.row] = result;
        }
        batch.matrix += further;
        batch.place += rest;
        if (batch.place >= task.rows) {
            batch.place -= task.rows;
            batch.matrix++;
        }
    }
}
