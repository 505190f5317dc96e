//! Products of long integers by number-theoretic transforms modulo three primes (`cuda/ntt/ntt.cu`), for compute capability 8.0 and later.
//!
//! Structures are what the kernels take, by value (`cuda/ntt/ntt.cuh`); addresses in them are of device memory.

/// Threads of a block of all kernels.
pub const THREADS: u32 = 256;

/// Coefficients in a row: transforms act on whole rows.
pub const LANES: usize = 16;

/// Primes of a product.
pub const PRIMES: usize = 3;

/// Levels of the smallest transform: the rows of a block of a pass are `1 << LEAST_LEVELS`.
pub const LEAST_LEVELS: u32 = 8;

/// Levels of the largest transform.
pub const MOST_LEVELS: u32 = 22;

/// Levels that a pass takes, at least and at most.
pub const PASS_LEVELS: [u32; 2] = [4, 8];

/// Digits whose carries one block resolves.
pub const TILE: usize = 2048;

/// Dynamic shared memory of a block of all kernels, at most.
pub const SHARED_BYTES: usize = 3 * (TILE + 3) * 4;

// The kernels' sources assert the same.
const _: () = assert!(SHARED_BYTES == 24_612 && size_of::<NttTask>() == 712);

/// Passes that read the operands, for each number of levels from the least on.
pub const OPENING_NAMES: [&str; 5] = [
    "ntt_opening_4",
    "ntt_opening_5",
    "ntt_opening_6",
    "ntt_opening_7",
    "ntt_opening_8",
];

/// The forward passes after them: `3 << (levels - 8)` blocks for each operand, as for those.
pub const FORWARD_NAMES: [&str; 5] = [
    "ntt_forward_4",
    "ntt_forward_5",
    "ntt_forward_6",
    "ntt_forward_7",
    "ntt_forward_8",
];

/// Passes back, in the reverse order: `3 << (levels - 8)` blocks.
pub const INVERSE_NAMES: [&str; 5] = [
    "ntt_inverse_4",
    "ntt_inverse_5",
    "ntt_inverse_6",
    "ntt_inverse_7",
    "ntt_inverse_8",
];

/// Makes the tables of roots: a thread for each of `3 << (levels - 1)` entries.
pub const ROOTS_NAME: &str = "ntt_roots";

/// Products of rows: a thread for each of `3 << levels`.
pub const ROW_PRODUCTS_NAME: &str = "ntt_row_products";

/// Digits of the product of residues, and carries within [`TILE`] digits, a block for each, to the base 2^32 and to the base 10^9.
pub const RESOLVE_NAMES: [&str; 2] = ["ntt_resolve_binary", "ntt_resolve_decimal"];

/// Finds which tiles a carry comes into: one block.
pub const CARRY_TILES_NAME: &str = "ntt_carry_tiles";

/// Carries into tiles, a block for each, to the base 2^32 and to the base 10^9.
pub const CARRY_IN_NAMES: [&str; 2] = ["ntt_carry_in_binary", "ntt_carry_in_decimal"];

/// All kernels.
pub fn names() -> impl Iterator<Item = &'static str> {
    let passes = [OPENING_NAMES, FORWARD_NAMES, INVERSE_NAMES];
    let others = [ROOTS_NAME, ROW_PRODUCTS_NAME, CARRY_TILES_NAME];
    let by_base = [RESOLVE_NAMES, CARRY_IN_NAMES];
    let passes = passes.into_iter().flatten();
    passes.chain(others).chain(by_base.into_iter().flatten())
}

/// A factor times 2^32 modulo a prime, and that times the inverse of the prime modulo 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(8))]
pub struct Factor {
    /// The factor times 2^32.
    pub scaled: u32,
    /// That times the inverse of the prime.
    pub quotient: u32,
}

/// Constants of one prime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Prime {
    /// The prime, between 2^29 and 2^30.
    pub value: u32,
    /// Its inverse modulo 2^32.
    pub inverse: u32,
    /// 2^32 over the number of rows.
    pub back: Factor,
    /// -1.
    pub minus_one: Factor,
    /// The inverses of the primes before this one; of no meaning beyond them.
    pub inverses: [Factor; PRIMES - 1],
    /// Entry `2^i` of the table of roots: a root of unity of order `2^(i + 2)`.
    pub steps: [Factor; MOST_LEVELS as usize - 1],
}

/// One product.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct NttTask {
    /// Digits of the operands, 32 bits each, the lowest first.
    pub words: [u64; 2],
    /// For each operand and each prime `16 << levels` numbers of 32 bits.
    pub residues: u64,
    /// For each prime `1 << (levels - 1)` pairs of 32 bits, which [`ROOTS_NAME`] writes.
    pub roots: u64,
    /// Digits of the product.
    pub digits: u64,
    /// A number of 32 bits for each [`TILE`] digits.
    pub tiles: u64,
    /// Digits of the operands: together at most one more than there are numbers for a prime.
    pub lengths: [u64; 2],
    /// Digits of the product: as many as both operands have.
    pub length: u64,
    /// Rows are `1 << levels`.
    pub levels: i32,
    /// The first level of a pass.
    pub level: i32,
    /// 2, or 1 for a square.
    pub operands: i32,
    /// 0.
    pub reserved: i32,
    /// The primes.
    pub primes: [Prime; PRIMES],
}

image! {
    /// All kernels, of an [`NttTask`].
    IMAGE, "ntt"
}
