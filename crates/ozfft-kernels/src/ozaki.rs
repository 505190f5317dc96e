//! Linear algebra by Ozaki's scheme II (`cuda/ozaki_*.cu`), for compute capability 8.0 and later: numbers to residues, residues to
//! numbers, rows of matrices times vectors. Products of matrices of bytes are left to a library.
//!
//! Structures are what the kernels take, by value (`cuda/ozaki/ozaki.cuh`); addresses in them are of device memory. The laboratory's crate
//! `ozaki` fills them.

/// Threads of a block of all kernels.
pub const THREADS: u32 = 256;

/// Moduli of products of matrices at most.
pub const MOST_MODULI: usize = 18;

/// Moduli of a [`VectorTask`] at most.
pub const MOST_VECTOR_MODULI: usize = 16;

/// Moduli that there are kernels for a [`ProductTask`] with.
pub const PRODUCT_MODULI: [usize; 2] = [14, 16];

/// Words of 32 bits of an integer.
pub const WORDS: usize = 5;

/// Products of bytes in a sum at most.
pub const MOST_PRODUCTS: usize = 1 << 16;

/// Side of the squares that [`TRANSPOSE_NAME`] takes, a block each.
pub const SQUARE: usize = 32;

/// Dynamic shared memory of a block of [`TRANSPOSE_NAME`].
pub const TRANSPOSE_SHARED_BYTES: usize = 8 * SQUARE * (SQUARE + 1);

/// The same of [`ROWS_NAME`].
pub const ROWS_SHARED_BYTES: usize = 4 * (THREADS as usize / 32);

/// The same of the kernels of a [`ProductTask`]: sums and fields of 32 rows for every warp.
pub const PRODUCT_SHARED_BYTES: usize = THREADS as usize / 32 * (32 * 17 + 32) * 4;

/// Rows that a block of a [`ProductTask`] takes at a time.
pub const BLOCK_ROWS: usize = THREADS as usize;

// The kernels' sources assert the same.
const _: () = assert!(PRODUCT_SHARED_BYTES == 18_432 && size_of::<Weights>() == 912);

/// Transposes matrices: a block for each square of a [`TransposeTask`].
pub const TRANSPOSE_NAME: &str = "ozaki_transpose";

/// Rows to residues, of a [`RowsTask`]: any number of blocks.
pub const ROWS_NAME: &str = "ozaki_rows";

/// Sums to numbers, of a [`ReconstructTask`], in integers and in f64: a block for each [`THREADS`] numbers of a row.
pub const RECONSTRUCT_NAMES: [&str; 2] = ["ozaki_reconstruct", "ozaki_reconstruct_conversions"];

/// Exponents of vectors, of a [`VectorTask`]: any number of blocks.
pub const VECTOR_FIELDS_NAME: &str = "ozaki_vector_fields";

/// Residues of vectors, of a [`VectorTask`]: any number of blocks.
pub const VECTOR_RESIDUES_NAME: &str = "ozaki_vector_residues";

/// Rows times vectors, of a [`ProductTask`], for each of [`PRODUCT_MODULI`]: with phase B in integers, in f64, and without, whose results are
/// void. Any number of blocks.
pub const PRODUCT_NAMES: [[&str; 3]; 2] = [
    [
        "ozaki_product_14",
        "ozaki_product_14_conversions",
        "ozaki_product_14_without_phase_b",
    ],
    [
        "ozaki_product_16",
        "ozaki_product_16_conversions",
        "ozaki_product_16_without_phase_b",
    ],
];

/// A multiple of a vector and another one, of a [`MultiplyAddTask`]: any number of blocks.
pub const MULTIPLY_ADD_NAME: &str = "naive_multiply_add";

/// What makes residues of a word.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Reduction {
    /// Powers of 256 times a factor modulo the modulus, as signed bytes: the first four, and the next.
    pub powers: [u32; 2],
    /// What sums begin with.
    pub begin: i32,
    /// One over the modulus.
    pub reciprocal: f32,
    /// The modulus.
    pub modulus: i32,
}

/// What sums of products modulo a modulus are multiplied by.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Weight {
    /// The modulus.
    pub modulus: u32,
    /// `2^32` over the modulus, rounded down.
    pub fraction: u32,
    /// A multiple of the modulus that is at least `2^30`.
    pub offset: u32,
    /// The product of all other moduli.
    pub words: [u32; WORDS],
}

/// What phase B needs.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Weights {
    /// For every modulus.
    pub weights: [Weight; MOST_MODULI],
    /// The product of all moduli.
    pub product: [u32; WORDS],
    /// 0.
    pub reserved: u32,
    /// Upper parts of the weights in f64.
    pub upper: [f64; MOST_MODULI],
    /// Lower parts.
    pub lower: [f64; MOST_MODULI],
    /// Both parts of the product, and one over it.
    pub product_in_doubles: [f64; 3],
}

/// Rows to residues.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct RowsTask {
    /// The numbers, row by row.
    pub values: u64,
    /// Where the exponent fields go, an integer of 32 bits for each row.
    pub fields: u64,
    /// Where residues go: a plane of signed bytes for each modulus.
    pub residues: u64,
    /// Words of 32 bits from plane to plane.
    pub plane: u64,
    /// Rows.
    pub rows: u32,
    /// Numbers of a row.
    pub length: u32,
    /// Words of 32 bits of a row of a plane: four bytes each, zeros beyond the length.
    pub pitch: u32,
    /// Bits of the integers.
    pub bits: i32,
    /// How many moduli.
    pub count: i32,
    /// The moduli.
    pub moduli: [Reduction; MOST_MODULI],
}

/// A matrix and where its transposed one goes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct TransposeTask {
    /// The matrix, row by row.
    pub from: u64,
    /// Where the other one goes.
    pub to: u64,
    /// Rows of the first.
    pub rows: u32,
    /// Its columns.
    pub columns: u32,
}

/// Sums of products of bytes to numbers.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ReconstructTask {
    /// Sums, integers of 32 bits, row by row: a plane for each modulus.
    pub sums: u64,
    /// Exponent fields of rows.
    pub row_fields: u64,
    /// Exponent fields of columns.
    pub column_fields: u64,
    /// Where the numbers go, row by row.
    pub result: u64,
    /// Sums from plane to plane.
    pub plane: u64,
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
    /// Bits of the integers.
    pub bits: i32,
    /// How many moduli.
    pub count: i32,
    /// What sums are multiplied by.
    pub weights: Weights,
}

/// Vectors to residues.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct VectorTask {
    /// The numbers, vector by vector: fewer than `2^32`.
    pub values: u64,
    /// Exponent fields, an integer of 32 bits for each vector, zero before the launch.
    pub fields: u64,
    /// 16 signed bytes for each number, one for each modulus.
    pub residues: u64,
    /// Numbers of a vector.
    pub length: u32,
    /// Vectors.
    pub vectors: u32,
    /// Bits of the integers.
    pub bits: i32,
    /// How many moduli.
    pub count: i32,
    /// The moduli.
    pub moduli: [Reduction; MOST_VECTOR_MODULI],
}

/// Rows of matrices times vectors. Nothing of it is checked on the device.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ProductTask {
    /// Where rows of a sparse matrix begin, integers of 32 bits, one more than rows; 0 for dense ones.
    pub row_starts: u64,
    /// Columns of its entries, integers of 32 bits; 0 for dense ones.
    pub columns: u64,
    /// The entries, row by row: fewer than `2^31`.
    pub values: u64,
    /// What a [`VectorTask`] has left.
    pub residues: u64,
    /// Its exponent fields.
    pub vector_fields: u64,
    /// Where the result goes, a number for each row.
    pub result: u64,
    /// All rows.
    pub rows: u32,
    /// Entries of a row of dense matrices.
    pub length: u32,
    /// Rows of dense matrices that are multiplied by the same vector.
    pub rows_of_vector: u32,
    /// Lanes that share a row, as a power of two: 0 to 5.
    pub group_bits: i32,
    /// Bits of the integers.
    pub bits: i32,
    /// 0.
    pub reserved: i32,
    /// What sums are multiplied by.
    pub weights: Weights,
}

/// `to[i] = fma(factor, x[i], y[i])`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct MultiplyAddTask {
    /// What is multiplied.
    pub x: u64,
    /// What is added.
    pub y: u64,
    /// Where the result goes.
    pub to: u64,
    /// The factor.
    pub factor: f64,
    /// How many numbers.
    pub count: u64,
}

image! {
    /// Kernels of products of matrices.
    GEMM_IMAGE, "ozaki_gemm"
}
image! {
    /// Kernels of products with vectors.
    VECTORS_IMAGE, "ozaki_vectors"
}
