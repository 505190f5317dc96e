// target: fatbin
// tuned
// What a product of matrices by residues has besides the products of bytes, which a library forms: rows to residues, and sums to
// numbers. Columns are rows of the transposed matrix.
#include "ozaki/ozaki.cuh"

using namespace ozaki;

// The other way round, in squares of 32.
KERNEL(THREADS, 4) ozaki_transpose(PARAMETERS TransposeTask task) {
    constexpr int SIDE = 32, PITCH = SIDE + 1;
    u64 *square = reinterpret_cast<u64 *>(shared_memory());
    const unsigned across = (task.columns + SIDE - 1) / SIDE, x = (unsigned)thread_number() % SIDE, y = (unsigned)thread_number() / SIDE;
    const unsigned row = blockIdx.x / across * SIDE, column = blockIdx.x % across * SIDE;
#pragma unroll
    for (unsigned i = y; i < SIDE; i += WARPS) {
        if (row + i < task.rows && column + x < task.columns) {
            square[PITCH * i + x] = task.from[(u64)(row + i) * task.columns + column + x];
        }
    }
    block_barrier();
#pragma unroll
    for (unsigned i = y; i < SIDE; i += WARPS) {
        if (column + i < task.columns && row + x < task.rows) {
            task.to[(u64)(column + i) * task.rows + row + x] = square[PITCH * x + i];
        }
    }
}

// The largest of all threads' values.
DEVICE unsigned block_maximum(unsigned value) {
    unsigned *of_warps = reinterpret_cast<unsigned *>(shared_memory());
    value = warp_maximum(value);
    block_barrier();
    if (thread_number() % 32 == 0) {
        of_warps[thread_number() / 32] = value;
    }
    block_barrier();
#pragma unroll
    for (int warp = 0; warp < WARPS; warp++) {
        value = max(value, of_warps[warp]);
    }
    return value;
}

// A block takes a row.
KERNEL(THREADS, 3) ozaki_rows(PARAMETERS RowsTask task) {
    const unsigned thread = (unsigned)thread_number();
#pragma unroll 1
    for (unsigned row = blockIdx.x; row < task.rows; row += gridDim.x) {
        const u64 *values = task.values + (u64)row * task.length;
        unsigned field = 1;
#pragma unroll 4
        for (unsigned k = thread; k < task.length; k += THREADS) {
            field = max(field, field_of(values[k]));
        }
        field = block_maximum(field);
        if (thread == 0) {
            task.fields[row] = (int32_t)field;
        }
#pragma unroll 1
        for (unsigned group = thread; group < task.pitch; group += THREADS) {
            uint32_t low[4], high[4];
#pragma unroll
            for (unsigned i = 0; i < 4; i++) {
                flipped_word(4 * group + i < task.length ? values[4 * group + i] : 0, field, task.bits, low[i], high[i]);
            }
            uint32_t *to = task.residues + (u64)row * task.pitch + group;
#pragma unroll 2
            for (int number = 0; number < task.count; number++) {
                const Reduction &by = task.moduli[number];
                *to = packed_bytes(residue_of(by, low[0], high[0]), residue_of(by, low[1], high[1]), residue_of(by, low[2], high[2]),
                                   residue_of(by, low[3], high[3]));
                to += task.plane;
            }
        }
    }
}

// A thread takes a number, a block 256 of a row.
template <class B> DEVICE void reconstruct(const ReconstructTask &task) {
    const unsigned chunks = (task.columns + THREADS - 1) / THREADS, row = blockIdx.x / chunks;
    const unsigned column = blockIdx.x % chunks * THREADS + (unsigned)thread_number();
    if (row >= task.rows || column >= task.columns) {
        return;
    }
    const u64 place = (u64)row * task.columns + column;
    const int32_t *sums = task.sums + place;
    B sum;
#pragma unroll 4
    for (int number = 0; number < task.count; number++) {
        sum.add(task.weights, number, *sums);
        sums += task.plane;
    }
    task.result[place] = number_of(sum, task.weights, task.row_fields[row], task.column_fields[column], task.bits);
}

KERNEL(THREADS, 4) ozaki_reconstruct(PARAMETERS ReconstructTask task) { reconstruct<Integers>(task); }
KERNEL(THREADS, 4) ozaki_reconstruct_conversions(PARAMETERS ReconstructTask task) { reconstruct<Doubles>(task); }
