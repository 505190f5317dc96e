//! CUDA kernels of ozfft, compiled: nothing of the host's logic.
//!
//! `cuda/` holds the sources, `compiled/` what `./generate` made of them with a pinned compiler. A user needs the
//! NVIDIA driver and nothing else.

#![warn(missing_docs)]

pub mod probe;

/// Bytes at an address that the driver can read machine code from.
#[repr(align(64))]
struct Aligned<B: ?Sized>(B);

/// The general kernels (`cuda/general_block.cu`): `general_block` and `general_block_small`, `copy_points`,
/// `find_largest` and what goes with tuned kernels, for compute capability 8.0 and later.
pub static GENERAL: &[u8] = {
    static IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!("../compiled/general_block.fatbin"));
    &IMAGE.0
};

/// Names of the general kernels.
pub const GENERAL_NAMES: [&str; 6] = [
    "general_block",
    "general_block_small",
    "copy_points",
    "find_largest",
    "find_largest_left",
    "scale_lines",
];

/// Eights of slots, and of outputs, of the largest step that `general_block_small` takes.
pub const SMALL_TILES: i32 = 2;

/// The kernels for truncated products (`cuda/truncated_block.cu`), for compute capability 8.0 and later.
pub static TRUNCATED_IMAGE: &[u8] = {
    static IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!("../compiled/truncated_block.fatbin"));
    &IMAGE.0
};

/// Their names: for steps of up to [`SMALL_TILES`] eights of slots, and for all.
pub const TRUNCATED_NAMES: [[&str; 2]; 6] = [
    ["truncated_5_small", "truncated_5"],
    ["truncated_6_small", "truncated_6"],
    ["truncated_7_small", "truncated_7"],
    ["truncated_8_small", "truncated_8"],
    ["two_passes_5_small", "two_passes_5"],
    ["two_passes_8_small", "two_passes_8"],
];

fn named(row: usize, tiles: i32) -> &'static str {
    TRUNCATED_NAMES[row][usize::from(tiles > SMALL_TILES)]
}

/// The kernel for so many digits, and so many eights of slots of the largest step.
pub fn truncated(digits: u32, tiles: i32) -> Option<&'static str> {
    matches!(digits, 5..=8).then(|| named(digits as usize - 5, tiles))
}

/// The same for both passes of short transforms at once.
pub fn two_passes(digits: u32, tiles: i32) -> Option<&'static str> {
    match digits {
        5 => Some(named(4, tiles)),
        8 => Some(named(5, tiles)),
        _ => None,
    }
}

/// Threads of a block of the general kernels.
pub const GENERAL_THREADS: u32 = 256;

/// Machine code of the tuned kernels (`cuda/tuned_block.cu`), for compute capability 9.0.
pub static TUNED_IMAGE: &[u8] = {
    static IMAGE: &Aligned<[u8]> =
        &Aligned(*include_bytes!("../compiled/tuned_block.sm_90a.cubin"));
    &IMAGE.0
};

/// Threads of a block of the tuned kernels.
pub const TUNED_THREADS: u32 = 512;

/// The tuned kernels for blocks of two steps.
#[derive(Debug)]
pub struct TunedShape {
    /// Points of the first step.
    pub first: usize,
    /// Points of the last step.
    pub last: usize,
    /// Lines of a thread block at a time.
    pub lines: usize,
    /// Shared memory of a block.
    pub shared_bytes: usize,
    /// Names: contiguous, strided; then both with conversion instructions.
    pub kernels: [&'static str; 4],
}

macro_rules! tuned {
    ($first:literal, $last:literal, $lines:literal) => {
        TunedShape {
            first: $first,
            last: $last,
            lines: 4 * $lines,
            shared_bytes: tuned_shared_bytes($first, $last, $lines),
            kernels: [
                concat!("tuned_", $first, "x", $last),
                concat!("tuned_", $first, "x", $last, "_strided"),
                concat!("tuned_", $first, "x", $last, "_conversions"),
                concat!("tuned_", $first, "x", $last, "_strided_conversions"),
            ],
        }
    };
}

/// `Shape::SHARED` of `tuned_block.cuh`.
const fn tuned_shared_bytes(first: usize, last: usize, lines: usize) -> usize {
    let (first_eights, last_eights) = (first / 16, last / 16);
    let matrices = 2 * 3072 * (first_eights * first_eights + last_eights * last_eights);
    let constants = 16 * first + 128 + 16 * last;
    let rotations = 16 * (first / 2 + 1) * (last / 2 + 1);
    let tables = (matrices + constants + rotations).next_multiple_of(1024);
    tables + 2 * (16 * 4 * lines * first * last) + 4 * 128 + 8 * 4 * lines + 64
}

/// All shapes that have tuned kernels.
pub static TUNED: [TunedShape; 3] = [tuned!(32, 32, 1), tuned!(16, 16, 2), tuned!(32, 16, 2)];

// The kernels' source asserts the same.
const _: () = assert!(
    TUNED[0].shared_bytes == 186_976
        && TUNED[1].shared_bytes == 80_512
        && TUNED[2].shared_bytes == 166_528
);
