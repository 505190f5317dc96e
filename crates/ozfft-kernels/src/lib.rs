//! CUDA kernels of ozfft, compiled, and which of them are for a problem ([`template`]).
//!
//! `cuda/` holds the sources, `compiled/` what `./generate` made of them with a pinned compiler. A user needs the
//! NVIDIA driver and nothing else.

#![warn(missing_docs)]

/// A compiled file for several architectures, as a public static; before the modules that use it.
macro_rules! image {
    ($(#[$note:meta])* $name:ident, $file:literal) => {
        $(#[$note])*
        pub static $name: &[u8] = {
            static IMAGE: &crate::Aligned<[u8]> =
                &crate::Aligned(*include_bytes!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/compiled/",
                    $file,
                    ".fatbin"
                )));
            &IMAGE.0
        };
    };
}

pub mod floats;
pub mod instructions;
pub mod kulisch;
pub mod ntt;
pub mod ntt_batches;
pub mod ntt_fourier;
pub mod ozaki;
pub mod probe;
mod residue_fp8;
mod residue_int8;
pub mod template;
mod tuned;

pub use residue_fp8::{
    RESIDUE_FP8_IMAGE, RESIDUE_FP8_IN_HALVES, RESIDUE_FP8_KERNELS, RESIDUE_FP8_MODULUS_BYTES,
    RESIDUE_FP8_VARIANTS, RESIDUE_FP8_WEIGHT_COLUMNS, RESIDUE_KARATSUBA_COUNTS,
    RESIDUE_KARATSUBA_DIGIT_BYTES, RESIDUE_KARATSUBA_IMAGE, RESIDUE_KARATSUBA_MODULI,
    RESIDUE_KARATSUBA_PRODUCT_BYTES, RESIDUE_KARATSUBA_SCALES, RESIDUE_KARATSUBA_VARIANTS,
    ResidueFp8, residue_fp8_kernel,
};
pub use residue_int8::{
    RESIDUE_ADAPTIVE_COUNTS, RESIDUE_ADAPTIVE_IMAGE, RESIDUE_ADAPTIVE_KERNELS,
    RESIDUE_BLOCK_POINTS, RESIDUE_COUNTS, RESIDUE_IMAGE, RESIDUE_KERNELS, RESIDUE_KINDS_IMAGE,
    RESIDUE_MODULI, RESIDUE_REAL_KERNELS, RESIDUE_REDUNDANT_IMAGE, RESIDUE_REDUNDANT_KERNELS,
    RESIDUE_REDUNDANT_MODULI, RESIDUE_SHORT_IMAGE, RESIDUE_SHORT_KERNELS, RESIDUE_SINGLE_COUNTS,
    RESIDUE_SINGLE_KERNELS, RESIDUE_THREADS, RESIDUE_VARIANTS, residue_image, residue_kernel,
    residue_kernel_for, residue_scratch_bytes,
};
pub use tuned::{
    Elements, PassesShape, Product, TUNED, TUNED_BOX_LINES, TUNED_C2R_IMAGE, TUNED_FEW_IMAGE,
    TUNED_IMAGE, TUNED_MIXED_IMAGE, TUNED_PASSES, TUNED_PASSES_IMAGE, TUNED_R2C_IMAGE,
    TUNED_SINGLE_IMAGE, TUNED_THREADS, TunedShape, TunedSource, few_columns, few_matrix_bytes,
    few_outputs, mixed_matrix_bytes, mixed_tiles, tuned_matrix_bytes,
};

/// Bytes at an address that the driver can read machine code from.
#[repr(align(64))]
struct Aligned<B: ?Sized>(B);

image!(
    /// The general kernels (`cuda/portable/general_block.cu`): `general_block` and `general_block_small`, `copy_points`,
    /// `find_largest` and what goes with tuned kernels, for compute capability 8.0 and later.
    GENERAL,
    "general_block"
);

/// Names of the general kernels.
pub const GENERAL_NAMES: [&str; 6] = [
    "general_block",
    "general_block_small",
    "copy_points",
    "find_largest",
    "find_largest_left",
    "scale_lines",
];

/// Tiles of eight slots, and of outputs, of the largest step that `general_block_small` takes.
pub const SMALL_TILES: i32 = 2;

image!(
    /// The kernels for truncated products (`cuda/portable/truncated_block.cu`), for compute capability 8.0 and later.
    TRUNCATED_IMAGE,
    "truncated_block"
);

/// Their names.
pub const TRUNCATED_NAMES: [&str; 10] = [
    "truncated_5",
    "truncated_5_large",
    "truncated_6",
    "truncated_7",
    "truncated_8",
    "truncated_8_large",
    "two_passes_5",
    "two_passes_5_large",
    "two_passes_8",
    "two_passes_8_large",
];

/// The kernel for so many digits, and so many tiles of eight slots of the largest step, if there is one.
pub fn truncated(digits: u32, tiles: i32) -> Option<&'static str> {
    match (digits, tiles > SMALL_TILES) {
        (5, false) => Some("truncated_5"),
        (5, true) => Some("truncated_5_large"),
        (6, false) => Some("truncated_6"),
        (7, false) => Some("truncated_7"),
        (8, false) => Some("truncated_8"),
        (8, true) => Some("truncated_8_large"),
        _ => None,
    }
}

/// The same for both passes of short transforms at once.
pub fn two_passes(digits: u32, tiles: i32) -> Option<&'static str> {
    match (digits, tiles > SMALL_TILES) {
        (5, false) => Some("two_passes_5"),
        (5, true) => Some("two_passes_5_large"),
        (8, false) => Some("two_passes_8"),
        (8, true) => Some("two_passes_8_large"),
        _ => None,
    }
}

/// Threads of a block of the general kernels.
pub const GENERAL_THREADS: u32 = 256;

image!(
    /// Machine code of `cuda/probes/fp8_exactness.cu`, for compute capability 9.0: whether the GPU's fp8 sums are exact.
    FP8_EXACTNESS_IMAGE,
    "fp8_exactness.sm_90a"
);

/// Its kernel.
pub const FP8_EXACTNESS_NAME: &str = "fp8_exactness";

/// The same question to `mma.sync` (`cuda/probes/fp8_exactness_mma_sync.cu`): PTX for compute capability 8.9 and later, with the zero at its end that
/// the driver looks for.
pub const FP8_MMA_SYNC_EXACTNESS: &str = concat!(
    include_str!("../compiled/fp8_exactness_mma_sync.compute_89.ptx"),
    "\0"
);

/// Its kernel.
pub const FP8_MMA_SYNC_EXACTNESS_NAME: &str = "fp8_exactness_mma_sync";

/// The same question to `mma.sync` on f16 (`cuda/probes/f16_exactness.cu`): PTX for compute capability 8.0 and later.
pub const F16_EXACTNESS: &str = concat!(
    include_str!("../compiled/f16_exactness.compute_80.ptx"),
    "\0"
);

/// Its kernel.
pub const F16_EXACTNESS_NAME: &str = "f16_exactness";

/// Threads of a block of any of them.
pub const FP8_EXACTNESS_THREADS: u32 = 128;

/// Shared memory of a block of any of them: eight tiles of 72 columns, and their digits; or numbers of f16, which are twice as long.
pub const FP8_EXACTNESS_SHARED_BYTES: usize = 2 * 8 * 32 * 72;

/// The oldest compute capability that multiplies in fp8 by `mma.sync`.
pub const FP8_MMA_SYNC_CAPABILITY: (i32, i32) = (8, 9);

/// The largest sum that Hopper's fp8 products keep exact, in units of the products' last place.
pub const FP8_EXACT: i64 = 1 << 14;

/// Sums in f16 stay below it, in units of the products' last place: those of both signs fit the 23 bits that an f32 from 1/2 to 1 has.
pub const F16_EXACT: i64 = 1 << 22;
