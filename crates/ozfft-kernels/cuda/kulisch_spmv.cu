// target: fatbin
// tuned
// A sparse matrix by rows (CSR) times a vector: every element is an exact sum of products, rounded once, with the bits of the
// crate `kulisch`.
//
// A warp takes 32 rows, one after the other, a lane an entry. The lanes' windows are added piece by piece, by the instruction
// that adds 32 lanes, and the pieces kept in the lane that has the row's number; in the end every lane rounds its own row.
#include "kulisch_tasks.cuh"
#include "kulisch_window.cuh"

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

KERNEL(THREADS, 4) kulisch_spmv(PARAMETERS SparseTask task) {
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
        if (own_row < task.rows) {
            task.result[own_row] = own_result;
        }
    }
}
