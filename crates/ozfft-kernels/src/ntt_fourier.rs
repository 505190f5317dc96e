//! Fourier transforms by Bluestein's algorithm with an exact convolution (`cuda/ntt/ntt_fourier.cu`), for compute capability 8.0 and later: what brings lines to residues and
//! back. In between are the transforms of [`ntt_batches`](crate::ntt_batches).
//!
//! Structures are what the kernels take, by value (`cuda/ntt/ntt_fourier.cuh`); addresses in them are of device memory.

use crate::ntt::Factor;
use crate::ntt_batches::{BatchPrime, MOST_PRIMES};

/// Elements of a line that a block of [`NATURES_NAME`] and [`SUMS_NAME`] looks at.
pub const LOOKED_AT: usize = 256 * 8;

/// Bytes of what is known of a line. All are zero at first.
pub const FACTS_BYTES: usize = 24;

/// Words of a Gaussian integer of the operand that stays: three for each part, the lowest first, 2^95 added.
pub const GAUSSIAN_WORDS: usize = 6;

/// Finds out which numbers lines have.
pub const NATURES_NAME: &str = "ntt_line_natures";

/// Adds their magnitudes up.
pub const SUMS_NAME: &str = "ntt_line_sums";

/// Writes residues: a thread for each point of a transform and line.
pub const IMAGES_NAME: &str = "ntt_line_images";

/// Writes results, modulo two to six primes: a thread for each output, in blocks of one line.
pub const OUTPUTS_NAMES: [&str; 5] = [
    "ntt_line_outputs_2",
    "ntt_line_outputs_3",
    "ntt_line_outputs_4",
    "ntt_line_outputs_5",
    "ntt_line_outputs_6",
];

/// All kernels.
pub fn names() -> impl Iterator<Item = &'static str> {
    [NATURES_NAME, SUMS_NAME, IMAGES_NAME]
        .into_iter()
        .chain(OUTPUTS_NAMES)
}

/// Factors of the limbs of Gaussian integers modulo a prime. ι is a root of -1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct ImageFactors {
    /// 2^32 and 2^64.
    pub real: [Factor; 2],
    /// ι, ι·2^32 and ι·2^64.
    pub imaginary: [Factor; 3],
    /// 1/ι.
    pub turned: Factor,
    /// The negatives of 2^95 and ι·2^95.
    pub biases: [u32; 2],
}

/// Lines of a launch. `ARRAY` says where they are read and written, as `task.cuh` has it (`ArrayTask`).
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct FourierTask<ARRAY> {
    /// Where lines are read and written.
    pub array: ARRAY,
    /// [`FACTS_BYTES`] for every line of the launch.
    pub facts: u64,
    /// Groups of residues, two images for each prime.
    pub residues: u64,
    /// The operand that stays, instead of lines; 0 for lines.
    pub fixed: u64,
    /// `exp(-πi k²/n)`, both parts as integers of 64 bits, scaled by 2^62.
    pub chirp: u64,
    /// The same times the norm.
    pub last_chirp: u64,
    /// Points of a line.
    pub n: u64,
    /// The number of the launch's first line.
    pub first_line: u64,
    /// Lines of the launch.
    pub lines: u32,
    /// Tiles of a group.
    pub tiles: u32,
    /// A line has `1 << levels` rows of 16 residues.
    pub levels: i32,
    /// Primes.
    pub primes: i32,
    /// Residues at this distance behind a result are added to it, or subtracted; 0 where none are.
    pub cycle: u64,
    /// 1: subtracted.
    pub negacyclic: i32,
    /// Bits of sums of magnitudes.
    pub sum_bits: i32,
    /// Added to the exponents of results.
    pub exponent: i32,
    /// 0.
    pub reserved: i32,
    /// The product of the primes, the lowest word first.
    pub modulus: [u32; MOST_PRIMES],
    /// Factors modulo each prime.
    pub images: [ImageFactors; MOST_PRIMES],
    /// The primes; `back` is half of what it is elsewhere.
    pub each: [BatchPrime; MOST_PRIMES],
}

/// Bytes of an `ArrayTask`.
const ARRAY_BYTES: usize = 200;
// The kernels' sources assert the same.
const _: () = assert!(
    size_of::<FourierTask<[u64; ARRAY_BYTES / 8]>>() == 2048 && size_of::<ImageFactors>() == 56
);

image! {
    /// All kernels, of a [`FourierTask`].
    IMAGE, "ntt_fourier"
}
