//! CUDA kernels of ozfft, compiled: nothing of the host's logic.
//!
//! `cuda/` holds the sources, `compiled/` what `./generate` made of them with a pinned compiler. A user needs the
//! NVIDIA driver and nothing else.

#![warn(missing_docs)]

pub mod probe;

/// Bytes at an address that the driver can read machine code from.
#[repr(align(64))]
struct Aligned<B: ?Sized>(B);

/// The general kernels (`cuda/general_block.cu`): `general_block` and `general_block_small`, `copy_points` and
/// `find_largest`, for compute capability 8.0 and later.
pub static GENERAL: &[u8] = {
    static IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!("../compiled/general_block.fatbin"));
    &IMAGE.0
};

/// Names of the general kernels.
pub const GENERAL_NAMES: [&str; 4] = [
    "general_block",
    "general_block_small",
    "copy_points",
    "find_largest",
];

/// Eights of slots, and of outputs, of the largest step that `general_block_small` takes.
pub const SMALL_TILES: i32 = 2;

/// Threads of a block of the general kernels.
pub const GENERAL_THREADS: u32 = 256;
