// target: fatbin
// tuned
// A sparse matrix by rows (CSR) times a vector: every element is an exact sum of products, rounded once, with the bits of the
// crate `kulisch`.
//
// A warp takes 32 rows. Rows of about one length are brought to shared memory, some entries of each at a time, and every lane
// adds its own. Others are taken one after the other, a lane an entry: the lanes' windows are added piece by piece, by the
// instruction that adds 32 lanes, and the pieces kept in the lane that has the row's number. In the end every lane rounds its
// row. What windows do not hold goes through the warp's accumulator, row by row.
#include "kulisch/kulisch_tasks.cuh"
#include "kulisch/kulisch_window.cuh"

using namespace kulisch;

// Pieces of a window of which 32 can be added in a register; of the last one more than counts.
constexpr int PIECES = 7, PIECE_BITS = 27;
static_assert(PIECES * PIECE_BITS + 3 == 192 && PIECE_BITS + 5 == 32, "all of the window");

DEVICE unsigned piece_of(const unsigned (&words)[6], int piece) {
    const int word = PIECE_BITS * piece / 32, bit = PIECE_BITS * piece % 32;
    if (piece == PIECES - 1) {
        return words[5] >> bit;
    }
    const unsigned above = word < 5 ? words[word + 1] : 0;
    return __funnelshift_r(words[word], above, (unsigned)bit) & ((1u << PIECE_BITS) - 1);
}

// What the pieces' sums are together.
DEVICE void put_together(const unsigned (&pieces)[PIECES], unsigned (&words)[6]) {
    u64 sums[6] = {};
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++) {
        const int word = PIECE_BITS * piece / 32, bit = PIECE_BITS * piece % 32;
        const u64 moved = (u64)pieces[piece] << bit;
        sums[word] += (unsigned)moved;
        if (word < 5) {
            sums[word + 1] += moved >> 32;
        }
    }
    u64 carry = 0;
#pragma unroll
    for (int word = 0; word < 6; word++) {
        carry += sums[word];
        words[word] = (unsigned)carry;
        carry >>= 32;
    }
}

// An entry of a row and what it is multiplied by, on their way from memory.
struct Entry {
    u64 value, other;
    unsigned column;
    bool there;

    DEVICE void load(const SparseTask &task, unsigned at, unsigned end) {
        there = at < end;
        value = there ? task.values[at] : 0;
        column = there ? task.columns[at] : 0;
    }
    DEVICE void load_other(const SparseTask &task) { other = there ? task.vector[column] : 0; }
};

// The entries of a row beyond the first 32.
DEVICE unsigned add_rest(const SparseTask &task, ProductWindow &window, unsigned low, int *limbs, unsigned start, unsigned end) {
    unsigned found = 0;
    int terms = 32;
#pragma unroll 1
    for (unsigned first = start + 32; first < end; first += 32) {
        if (terms > WINDOW_TERMS - 32) {
            window.empty_into(limbs, ProductWindow::position(low));
            resolve(limbs);
            found |= DEPOSITED;
            terms = 0;
        }
        Entry entry;
        entry.load(task, first + (unsigned)lane_number(), end);
        entry.load_other(task);
        if (entry.there) {
            found |= add_product(window, low, limbs, entry.value, entry.other);
        }
        terms += 32;
    }
    return found;
}

// The zero that a row of finite products is.
DEVICE u64 zero_row(const SparseTask &task, unsigned start, unsigned end) {
    unsigned found = 0;
#pragma unroll 1
    for (unsigned at = start; at < end; at++) {
        found |= found_in_zero_sum(task.values[at], task.vector[task.columns[at]]);
    }
    return zero_of(found);
}

// A row of up to WINDOW_TERMS entries through the accumulator, by all lanes.
static_assert(WINDOW_TERMS <= MOST_PENDING, "carries can wait");
DEVICE u64 one_row(const SparseTask &task, int *limbs, unsigned start, unsigned end) {
    unsigned found = 0;
#pragma unroll 1
    for (unsigned at = start + (unsigned)lane_number(); at < end; at += 32) {
        found |= deposit_product(limbs, task.values[at], task.vector[task.columns[at]]);
    }
    const u64 result = round_accumulator(limbs, warp_or(found));
    warp_barrier();
    clear(limbs);
    return result;
}

// Entries of every row that are in shared memory at a time, 16 bytes each, and places from row to row: one more, for the banks.
constexpr int SLICE = 8, PITCH = SLICE + 1;
constexpr int STAGED_BYTES = 32 * PITCH * 16;
static_assert(WARPS * (ACCUMULATOR_BYTES + STAGED_BYTES) == 46080, "as the host has it");

DEVICE uint4 *own_stage() {
    return reinterpret_cast<uint4 *>(shared_memory() + WARPS * ACCUMULATOR_BYTES + thread_number() / 32 * STAGED_BYTES);
}

// Brings the entries from `first` on of all rows to shared memory; zeros where there are none.
DEVICE void stage(const SparseTask &task, unsigned start, unsigned end, unsigned first) {
    const int lane = lane_number();
    uint4 *staged = own_stage();
    warp_barrier();
#pragma unroll
    for (int half = 0; half < 2; half++) {
        Entry entries[SLICE / 2];
#pragma unroll
        for (int i = 0; i < SLICE / 2; i++) {
            const int row = 4 * (i + half * SLICE / 2) + lane / SLICE;
            const unsigned row_start = shuffle(start, row), row_end = shuffle(end, row);
            entries[i].load(task, row_start + first + (unsigned)lane % SLICE, row_end);
        }
#pragma unroll
        for (Entry &entry : entries) {
            entry.load_other(task);
        }
#pragma unroll
        for (int i = 0; i < SLICE / 2; i++) {
            const int row = 4 * (i + half * SLICE / 2) + lane / SLICE;
            const Entry &entry = entries[i];
            staged[PITCH * row + lane % SLICE] =
                make_uint4(low_word(entry.value), high_word(entry.value), low_word(entry.other), high_word(entry.other));
        }
    }
    warp_barrier();
}

// Rows of about one length: every lane has one. Says whether the window held it.
DEVICE bool side_by_side(const SparseTask &task, unsigned start, unsigned end, unsigned longest, u64 &result) {
    const uint4 *own = own_stage() + PITCH * lane_number();
    NarrowProductWindow window;
    window.clear();
    Beyond beyond;
    unsigned low = 0;
#pragma unroll 1
    for (unsigned first = 0; first < longest; first += SLICE) {
        stage(task, start, end, first);
        if (first == 0) {
            unsigned highest = 0;
#pragma unroll
            for (int k = 0; k < SLICE; k++) {
                const uint4 pair = own[k];
                highest = max(highest, product_field((u64)pair.y << 32, (u64)pair.w << 32));
            }
            low = NarrowProductWindow::low_for(highest);
        }
#pragma unroll 4
        for (int k = 0; k < SLICE; k++) {
            const uint4 pair = own[k];
            add_unseen(window, (u64)pair.y << 32 | pair.x, (u64)pair.w << 32 | pair.z, low, beyond);
        }
    }
    window.complete();
    const bool held = beyond.held<NarrowProductWindow>() && longest <= WINDOW_TERMS;
    if (!round_words(window.words, NarrowProductWindow::position(low), result) && held) {
        result = zero_row(task, start, end);
    }
    return held;
}

// Rows of all lengths, one after the other.
DEVICE u64 row_by_row(const SparseTask &task, int *limbs, unsigned start, unsigned end, int rows) {
    const int lane = lane_number();
            unsigned own_pieces[PIECES] = {}, own_low = 0, own_found = 0;
            u64 own_result = 0;
            Entry entry, next;
            entry.load(task, shuffle(start, 0) + (unsigned)lane, shuffle(end, 0));
            entry.load_other(task);
            next.load(task, shuffle(start, 1) + (unsigned)lane, shuffle(end, 1));
    #pragma unroll 1
            for (int row = 0; row < rows; row++) {
                // The next row's entries are there, and those after it on their way, before this row's are used.
                next.load_other(task);
                Entry later;
                const unsigned later_start = shuffle(start, (row + 2) % 32), later_end = shuffle(end, (row + 2) % 32);
                later.load(task, later_start + (unsigned)lane, row + 2 < rows ? later_end : 0);
                const unsigned low = ProductWindow::low_for(warp_maximum(entry.there ? product_field(entry.value, entry.other) : 0));
                ProductWindow window;
                window.clear();
                unsigned found = entry.there ? add_product(window, low, limbs, entry.value, entry.other) : 0;
                const unsigned row_start = shuffle(start, row), row_end = shuffle(end, row);
                if (row_end - row_start > 32) {
                    found |= add_rest(task, window, low, limbs, row_start, row_end);
                }
                found = warp_or(found);
                window.complete();
                if ((found & DEPOSITED) != 0) {
                    window.empty_into(limbs, ProductWindow::position(low));
                    const u64 result = round_accumulator(limbs, found);
                    warp_barrier();
                    clear(limbs);
                    own_result = lane == row ? result : own_result;
                } else {
    #pragma unroll
                    for (int piece = 0; piece < PIECES; piece++) {
                        const unsigned sum = warp_sum(piece_of(window.words, piece));
                        own_pieces[piece] = lane == row ? sum : own_pieces[piece];
                    }
                }
                own_low = lane == row ? low : own_low;
                own_found = lane == row ? found : own_found;
                entry = next;
                next = later;
            }
            if ((own_found & DEPOSITED) == 0 && !not_finite(own_found, own_result)) {
                unsigned words[6];
                put_together(own_pieces, words);
                if (!round_words(words, ProductWindow::position(own_low), own_result)) {
                    own_result = zero_of(own_found);
                }
            }
    return own_result;
}

KERNEL(THREADS, 3) kulisch_spmv(PARAMETERS SparseTask task) {
    int *limbs = own_accumulator();
    clear(limbs);
    const int lane = lane_number();
    const u64 warps = (u64)gridDim.x * WARPS, warp = (u64)blockIdx.x * WARPS + (unsigned)thread_number() / 32;
#pragma unroll 1
    for (u64 batch = 32 * warp; batch < task.rows; batch += 32 * warps) {
        const u64 own_row = batch + (unsigned)lane;
        const unsigned start = task.row_starts[own_row < task.rows ? own_row : task.rows];
        const unsigned end = task.row_starts[own_row < task.rows ? own_row + 1 : task.rows];
        const int rows = task.rows - batch < 32 ? (int)(task.rows - batch) : 32;
        const unsigned longest = warp_maximum(end - start);
        // Instructions of both ways; those of very long rows are not counted to the end.
        const unsigned further = (end - start) / 32, counted = further < 1 << 16 ? further : 1 << 16;
        const unsigned one_by_one = warp_sum(lane < rows ? 180 + 90 * counted : 0);
        u64 result = 0;
        if (longest <= WINDOW_TERMS && 80 * longest + 200 < one_by_one) {
            const bool held = side_by_side(task, start, end, longest, result);
            for (unsigned others = warp_or(held ? 0 : 1u << lane); others != 0; others &= others - 1) {
                const int other = 31 - leading_zeros_of_half(others & (0 - others));
                const u64 found = one_row(task, limbs, shuffle(start, other), shuffle(end, other));
                result = lane == other ? found : result;
            }
        } else {
            result = row_by_row(task, limbs, start, end, rows);
        }
        if (own_row < task.rows) {
            task.result[own_row] = result;
        }
    }
}
