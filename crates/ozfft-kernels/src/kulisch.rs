//! Exact sums (`cuda/kulisch_*.cu`), for compute capability 8.0 and later: results are correctly rounded, with the bits of
//! the crate `kulisch` and without any instruction on f64. Beside them plain kernels, for comparison.
//!
//! Structures are what the kernels take, by value; addresses in them are of device memory.

use crate::Aligned;

/// Threads of a block of all kernels.
pub const THREADS: u32 = 256;

/// Dynamic shared memory of a block of all exact kernels: an accumulator for every warp, and a word.
pub const SHARED_BYTES: usize = 8 * 4 * LIMBS + 16;

/// Limbs of an accumulator.
const LIMBS: usize = 288;

/// Blocks of a launch of a [`Reduction`] at most.
pub const MOST_BLOCKS: u32 = ((1 << 15) - 2) / 8;

/// Bytes of a [`Reduction::total`], all zero before the first launch.
pub const TOTAL_BYTES: usize = 4 * LIMBS + 8;

/// Numbers that a warp takes at a time: more blocks than there are of these for their eight warps have nothing to do.
pub const WARP_TERMS: usize = 1 << 13;

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
    /// Memory that launches leave as they have found it, and that one launch at a time uses: [`TOTAL_BYTES`].
    pub total: u64,
}

/// `cuda/kulisch_sum.cu`: `kulisch_sum` and `kulisch_magnitude_sum`, of a [`Reduction`].
pub static SUM_IMAGE: &[u8] = {
    static IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!("../compiled/kulisch_sum.fatbin"));
    &IMAGE.0
};
