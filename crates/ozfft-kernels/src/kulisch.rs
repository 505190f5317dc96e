//! Exact sums (`cuda/kulisch_*.cu`), for compute capability 8.0 and later: results are correctly rounded, with the bits of
//! the crate `kulisch` and without any instruction on f64. Beside them plain kernels, for comparison.
//!
//! Structures are what the kernels take, by value (`cuda/kulisch/kulisch_tasks.cuh`); addresses in them are of device memory.

/// Threads of a block of all kernels.
pub const THREADS: u32 = 256;

/// Dynamic shared memory of a block of all kernels but `kulisch_spmv` and `kulisch_gemv`: an accumulator for every warp, and the terms of a
/// stencil.
pub const SHARED_BYTES: usize = ACCUMULATORS_BYTES + 32 * MOST_TERMS;

/// The same for `kulisch_spmv`: besides accumulators, eight entries of 32 rows for every warp.
pub const SPARSE_SHARED_BYTES: usize = ACCUMULATORS_BYTES + 8 * 32 * 9 * 16;

/// The same for `kulisch_gemv`: digits of vectors, eight columns of 32 rows, and windows, for every warp. More than 48 KiB,
/// which a kernel must be allowed beforehand.
pub const BATCH_SHARED_BYTES: usize = 8 * (32 * 9 * (16 + 8) + 32 * 4);

/// Accumulators of eight warps, of 288 limbs each.
const ACCUMULATORS_BYTES: usize = 8 * 4 * 288;

// The kernels' sources assert the same.
const _: () = assert!(
    SHARED_BYTES == 13_312 && SPARSE_SHARED_BYTES == 46_080 && BATCH_SHARED_BYTES == 56_320
);

/// Blocks of a launch of a [`Reduction`] at most.
pub const MOST_BLOCKS: u32 = 2048;

/// Bytes of a [`Reduction::total`], all zero before the first launch.
pub const TOTAL_BYTES: usize = 8 * (MOST_BLOCKS as usize + 1);

/// Numbers of a [`Reduction`], or pairs, that a block takes at least: more blocks than there are of these have nothing to do.
pub const BLOCK_NUMBERS: usize = 2048;

/// Rows of a [`SparseTask`] or of all matrices of a [`BatchTask`], or results of a [`StencilTask`], that a block takes at a time.
pub const BLOCK_RESULTS: usize = 256;

/// Rows of all matrices of a [`BatchTask`] together at most.
pub const MOST_BATCH_ROWS: usize = 1 << 30;

/// Columns of a [`BatchTask`] at most.
pub const MOST_BATCH_COLUMNS: usize = 1 << 29;

/// Terms of a stencil at most.
pub const MOST_TERMS: usize = 128;

/// One or two arrays of doubles that are reduced to one number.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Reduction {
    /// The numbers.
    pub left: u64,
    /// What they are multiplied by, if they are.
    pub right: u64,
    /// How many numbers, or pairs.
    pub count: u64,
    /// Where the result goes.
    pub result: u64,
    /// [`TOTAL_BYTES`] of memory that exact kernels leave as they have found it, and that one launch at a time uses.
    pub total: u64,
}

/// A sparse matrix by rows (CSR) times a vector. Nothing of it is checked on the device.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct SparseTask {
    /// Where rows begin and, one more, where the last one ends: integers of 32 bits.
    pub row_starts: u64,
    /// Columns of the entries: integers of 32 bits.
    pub columns: u64,
    /// The entries.
    pub values: u64,
    /// The vector.
    pub vector: u64,
    /// Where the result goes, a number for each row.
    pub result: u64,
    /// How many rows.
    pub rows: u64,
}

/// Many small matrices, row by row and one after the other, times as many vectors. Nothing of it is checked on the device.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct BatchTask {
    /// The matrices.
    pub matrices: u64,
    /// The vectors, one after the other.
    pub vectors: u64,
    /// Where the results go, one after the other.
    pub result: u64,
    /// How many matrices: all their rows are at most [`MOST_BATCH_ROWS`].
    pub batch: u32,
    /// Rows of each.
    pub rows: u32,
    /// Columns of each: at most [`MOST_BATCH_COLUMNS`].
    pub columns: u32,
}

/// `result[i] = Σ coefficients[k] · values[first + i + offsets[k]]`. Nothing of it is checked on the device.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct StencilTask {
    /// The coefficients.
    pub coefficients: u64,
    /// The offsets, integers of 64 bits.
    pub offsets: u64,
    /// The values.
    pub values: u64,
    /// Where the result goes.
    pub result: u64,
    /// Place of the value that the first result belongs to.
    pub first: u64,
    /// How many results.
    pub count: u64,
    /// How many terms: at most [`MOST_TERMS`].
    pub terms: i32,
}

image! {
    /// `kulisch_sum` and `kulisch_magnitude_sum`, of a [`Reduction`].
    SUM_IMAGE, "kulisch_sum"
}
image! {
    /// `kulisch_dot`, of a [`Reduction`].
    DOT_IMAGE, "kulisch_dot"
}
image! {
    /// `kulisch_spmv`, of a [`SparseTask`].
    SPMV_IMAGE, "kulisch_spmv"
}
image! {
    /// `kulisch_gemv`, of a [`BatchTask`].
    GEMV_IMAGE, "kulisch_gemv"
}
image! {
    /// `kulisch_stencil`, of a [`StencilTask`].
    STENCIL_IMAGE, "kulisch_stencil"
}
image! {
    /// What the others are compared with: `naive_sum`, `naive_magnitude_sum`, `naive_dot`, `naive_spmv`, `naive_gemv` and
    /// `naive_stencil` with plain instructions on f64; `read_sum`, `read_dot`, `read_spmv`, `read_gemv` and `read_stencil`, which
    /// read the same memory and reduce nothing. Arrays of a [`Reduction`] begin at multiples of 16 bytes here.
    NAIVE_IMAGE, "kulisch_naive"
}
