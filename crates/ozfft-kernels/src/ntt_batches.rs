//! Many number-theoretic transforms at once, modulo one to six primes, and convolutions of arrays of integers made of them (`cuda/ntt/ntt_batches.cu`), for
//! compute capability 8.0 and later.
//!
//! Structures are what the kernels take, by value (`cuda/ntt/ntt_batches.cuh`); addresses in them are of device memory.

use crate::ntt::{Factor, LANES, MOST_LEVELS};

/// Primes at most.
pub const MOST_PRIMES: usize = 6;

/// Levels of the smallest transforms: blocks have several of them.
pub const LEAST_LEVELS: u32 = 4;

/// Rows of a tile: what a block of a pass, or of row products, works on.
pub const TILE_ROWS: usize = 256;

/// Numbers of a tile.
pub const TILE_NUMBERS: usize = TILE_ROWS * LANES;

/// Dynamic shared memory of a block of a pass.
pub const SHARED_BYTES: usize = 4 * TILE_NUMBERS;

// The kernels' sources assert the same.
const _: () = assert!(size_of::<BatchTask>() == 1608);

/// Passes that read integers, for each number of levels from [`LEAST_LEVELS`] to 8: a block for every tile of every group.
pub const OPENING_NAMES: [&str; 5] = [
    "ntt_batch_opening_4",
    "ntt_batch_opening_5",
    "ntt_batch_opening_6",
    "ntt_batch_opening_7",
    "ntt_batch_opening_8",
];

/// The forward passes of residues.
pub const FORWARD_NAMES: [&str; 5] = [
    "ntt_batch_forward_4",
    "ntt_batch_forward_5",
    "ntt_batch_forward_6",
    "ntt_batch_forward_7",
    "ntt_batch_forward_8",
];

/// Passes back, in the reverse order.
pub const INVERSE_NAMES: [&str; 5] = [
    "ntt_batch_inverse_4",
    "ntt_batch_inverse_5",
    "ntt_batch_inverse_6",
    "ntt_batch_inverse_7",
    "ntt_batch_inverse_8",
];

/// Makes the tables of roots: a thread for each of `primes << (levels - 1)` entries.
pub const ROOTS_NAME: &str = "ntt_batch_roots";

/// Products of rows: a block for every tile of every group.
pub const ROW_PRODUCTS_NAME: &str = "ntt_batch_row_products";

/// Results of one to six primes: a thread for each.
pub const RESULTS_NAMES: [&str; MOST_PRIMES] = [
    "ntt_batch_results_1",
    "ntt_batch_results_2",
    "ntt_batch_results_3",
    "ntt_batch_results_4",
    "ntt_batch_results_5",
    "ntt_batch_results_6",
];

/// All kernels.
pub fn names() -> impl Iterator<Item = &'static str> {
    let passes = [OPENING_NAMES, FORWARD_NAMES, INVERSE_NAMES];
    let passes = passes.into_iter().flatten();
    passes
        .chain([ROOTS_NAME, ROW_PRODUCTS_NAME])
        .chain(RESULTS_NAMES)
}

/// Constants of one prime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct BatchPrime {
    /// The prime, between 2^29 and 2^30.
    pub value: u32,
    /// Its inverse modulo 2^32.
    pub inverse: u32,
    /// 2^32 over the number of rows of a member.
    pub back: Factor,
    /// -1.
    pub minus_one: Factor,
    /// The inverses of the primes before this one; of no meaning beyond them.
    pub inverses: [Factor; MOST_PRIMES - 1],
    /// Entry `2^i` of the table of roots: a root of unity of order `2^(i + 2)`.
    pub steps: [Factor; MOST_LEVELS as usize - 1],
}

/// One operand of a batch of convolutions, or its results.
///
/// Residues modulo all primes (and of all images of a polynomial, where it has several) are groups, one after the other. A group has [`TILE_NUMBERS`] numbers for
/// each of its tiles: those of one member behind those of another, `16 << levels` each.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct BatchTask {
    /// Integers of the operand, member by member.
    pub numbers: u64,
    /// Residues of 32 bits.
    pub residues: u64,
    /// Residues that row products multiply with.
    pub factors: u64,
    /// For each prime `1 << (levels - 1)` pairs of 32 bits, which [`ROOTS_NAME`] writes.
    pub roots: u64,
    /// Integers of the results.
    pub results: u64,
    /// Integers of a member.
    pub length: u64,
    /// Results of a member.
    pub result_length: u64,
    /// The highest bit of integers with a sign, else 0.
    pub bias: u64,
    /// Residues at this distance behind a result are added to it; 0 where none are.
    pub cycle: u64,
    /// Residues of a member that are not zero, where some are added.
    pub whole: u64,
    /// Members of the batch.
    pub members: u32,
    /// Tiles of a group of residues: all members, and nothing behind them.
    pub tiles: u32,
    /// Tiles of a group of factors.
    pub factor_tiles: u32,
    /// 1: all members are multiplied with the first one of the factors.
    pub is_shared: i32,
    /// A member has `1 << levels` rows.
    pub levels: i32,
    /// The first level of a pass.
    pub level: i32,
    /// Primes.
    pub primes: i32,
    /// Groups of a prime.
    pub images: i32,
    /// Bytes of an integer: 1, 2, 4 or 8.
    pub number_bytes: i32,
    /// Bytes of a result: 1, 2, 4, 8 or 16.
    pub result_bytes: i32,
    /// The product of the primes, the lowest word first.
    pub modulus: [u32; MOST_PRIMES],
    /// The negative of the bias modulo every prime.
    pub biases: [u32; MOST_PRIMES],
    /// 2^32 as a factor modulo every prime.
    pub folds: [Factor; MOST_PRIMES],
    /// The primes.
    pub each: [BatchPrime; MOST_PRIMES],
}

image! {
    /// All kernels, of a [`BatchTask`].
    IMAGE, "ntt_batches"
}
