// What the kernels of exact sums, and the plain ones beside them, are launched with.
#pragma once
#include "numerics/arithmetic.cuh"

namespace kulisch {

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
// Blocks of a launch that reduces to one number at most.
constexpr int MOST_BLOCKS = 2048;
// What such launches share.
constexpr int TOTAL_BYTES = 8 * (MOST_BLOCKS + 1);

// A reduction of one or two arrays to one number.
struct Reduction {
    const u64 *left, *right;
    u64 count;
    u64 *result;
    void *total;
};

// A matrix by rows: row i has the entries from row_starts[i] to row_starts[i + 1].
struct SparseTask {
    const unsigned *row_starts, *columns;
    const u64 *values, *vector;
    u64 *result;
    u64 rows;
};

// Matrices of rows × columns, row by row and one after the other, times as many vectors. All rows together are at most 2^30,
// and columns at most 2^29.
struct BatchTask {
    const u64 *matrices, *vectors;
    u64 *result;
    unsigned batch, rows, columns;
};

constexpr int MOST_TERMS = 128;

// result[i] = Σ coefficients[k] · values[first + i + offsets[k]]
struct StencilTask {
    const u64 *coefficients;
    const i64 *offsets;
    const u64 *values;
    u64 *result;
    u64 first, count;
    int terms;
};

struct Term {
    u64 coefficient;
    i64 offset;
};

}  // namespace kulisch
