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
    /// Machine code of the tuned kernels (`cuda/hopper/tuned_block.cu`), for compute capability 9.0.
    TUNED_IMAGE,
    "tuned_block.sm_90a"
);

image!(
    /// The same for lengths that are no powers of two (`cuda/hopper/tuned_mixed.cu`).
    TUNED_MIXED_IMAGE,
    "tuned_mixed.sm_90a"
);

image!(
    /// The same for real lines (`cuda/hopper/tuned_r2c.cu`).
    TUNED_R2C_IMAGE,
    "tuned_r2c.sm_90a"
);

image!(
    /// And for half-spectra of real lines (`cuda/hopper/tuned_c2r.cu`).
    TUNED_C2R_IMAGE,
    "tuned_c2r.sm_90a"
);

image!(
    /// The same for transforms of two passes (`cuda/hopper/tuned_passes.cu`).
    TUNED_PASSES_IMAGE,
    "tuned_passes.sm_90a"
);

image!(
    /// The same for f32 and few digits (`cuda/hopper/tuned_single.cu`).
    TUNED_SINGLE_IMAGE,
    "tuned_single.sm_90a"
);

image!(
    /// The same for f64 and few digits (`cuda/hopper/tuned_few.cu`).
    TUNED_FEW_IMAGE,
    "tuned_few.sm_90a"
);

/// Threads of a block of the tuned kernels.
pub const TUNED_THREADS: u32 = 512;

/// Most lines that the copy engine takes side by side.
pub const TUNED_BOX_LINES: usize = 8;

/// What the tuned kernels multiply digits with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// 8-bit integers.
    Int8,
    /// 8-bit floating-point numbers (e4m3), sums in f32.
    Fp8,
}

/// What the elements of tuned kernels' lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elements {
    /// Complex numbers.
    Complex,
    /// Real numbers, of which half-spectra are made ([`TUNED_R2C_IMAGE`]).
    RealToComplex,
    /// Half-spectra, of which real numbers are made ([`TUNED_C2R_IMAGE`]).
    ComplexToReal,
}

/// The sources of the tuned kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TunedSource {
    /// `tuned_block.cu`
    Block,
    /// `tuned_mixed.cu`
    Mixed,
    /// `tuned_single.cu`
    Single,
    /// `tuned_few.cu`
    Few,
    /// `tuned_r2c.cu`
    RealToComplex,
    /// `tuned_c2r.cu`
    ComplexToReal,
}

impl TunedSource {
    /// All of them.
    pub const ALL: [TunedSource; 6] = [
        TunedSource::Block,
        TunedSource::Mixed,
        TunedSource::Single,
        TunedSource::Few,
        TunedSource::RealToComplex,
        TunedSource::ComplexToReal,
    ];

    /// Its machine code, for compute capability 9.0.
    pub fn image(self) -> &'static [u8] {
        match self {
            TunedSource::Block => TUNED_IMAGE,
            TunedSource::Mixed => TUNED_MIXED_IMAGE,
            TunedSource::Single => TUNED_SINGLE_IMAGE,
            TunedSource::Few => TUNED_FEW_IMAGE,
            TunedSource::RealToComplex => TUNED_R2C_IMAGE,
            TunedSource::ComplexToReal => TUNED_C2R_IMAGE,
        }
    }
}

/// The tuned kernels for blocks of two steps.
#[derive(Debug)]
pub struct TunedShape {
    /// Where they come from.
    pub source: TunedSource,
    /// Digits of the data words that they take.
    pub digits: u32,
    /// Whether numbers are f32; else f64.
    pub single: bool,
    /// What their lines are made of.
    pub elements: Elements,
    /// What they multiply with.
    pub product: Product,
    /// Points of the first step.
    pub first: usize,
    /// Points of the last step.
    pub last: usize,
    /// Lines of a thread block at a time.
    pub lines: usize,
    /// Shared memory of a block.
    pub shared_bytes: usize,
    /// Names: for contiguous lines, without and with conversion instructions; then for strided ones, if there are any.
    pub kernels: &'static [&'static str],
    /// From row to row in shared memory, in places of one number of every line, where rows are padded (those of
    /// [`TUNED_MIXED_IMAGE`]).
    pub pitch: Option<usize>,
}

macro_rules! tuned {
    ($product:ident, $name:literal, $first:literal, $last:literal, $lines:literal) => {
        TunedShape {
            source: TunedSource::Block,
            digits: 8,
            single: false,
            elements: Elements::Complex,
            product: Product::$product,
            first: $first,
            last: $last,
            lines: 4 * $lines,
            shared_bytes: tuned_shared_bytes(Product::$product, $first, $last, $lines),
            kernels: &[
                concat!($name, "_", $first, "x", $last),
                concat!($name, "_", $first, "x", $last, "_conversions"),
                concat!($name, "_", $first, "x", $last, "_strided"),
                concat!($name, "_", $first, "x", $last, "_strided_conversions"),
            ],
            pitch: None,
        }
    };
}

macro_rules! mixed {
    ($first:literal, $last:literal) => {
        TunedShape {
            source: TunedSource::Mixed,
            digits: 8,
            single: false,
            elements: Elements::Complex,
            product: Product::Int8,
            first: $first,
            last: $last,
            lines: mixed_lines($last),
            shared_bytes: mixed_shared_bytes($first, $last),
            kernels: &[
                concat!("tuned_", $first, "x", $last),
                concat!("tuned_", $first, "x", $last, "_conversions"),
                concat!("tuned_", $first, "x", $last, "_strided"),
                concat!("tuned_", $first, "x", $last, "_strided_conversions"),
            ],
            pitch: Some(mixed_pitch($last)),
        }
    };
}

macro_rules! real {
    ($elements:ident, $name:literal, $first:literal, $last:literal) => {
        TunedShape {
            source: TunedSource::$elements,
            digits: 8,
            single: false,
            elements: Elements::$elements,
            product: Product::Int8,
            first: $first,
            last: $last,
            lines: 4 * real_lines($last),
            shared_bytes: real_shared_bytes(Elements::$elements, $first, $last),
            kernels: &[
                concat!($name, "_", $first, "x", $last),
                concat!($name, "_", $first, "x", $last, "_conversions"),
            ],
            pitch: None,
        }
    };
}

macro_rules! single {
    ($first:literal, $last:literal, $lines:literal) => {
        TunedShape {
            source: TunedSource::Single,
            digits: 5,
            single: true,
            elements: Elements::Complex,
            product: Product::Int8,
            first: $first,
            last: $last,
            lines: few_lines(8, $lines),
            shared_bytes: few_shared_bytes(5, 8, $first, $last, $lines),
            kernels: &[
                // The same twice: they have no conversion instructions.
                concat!("tuned_single_", $first, "x", $last),
                concat!("tuned_single_", $first, "x", $last),
                concat!("tuned_single_", $first, "x", $last, "_strided"),
                concat!("tuned_single_", $first, "x", $last, "_strided"),
            ],
            pitch: None,
        }
    };
}

macro_rules! few {
    ($digits:literal, $first:literal, $last:literal, $lines:literal) => {
        TunedShape {
            source: TunedSource::Few,
            digits: $digits,
            single: false,
            elements: Elements::Complex,
            product: Product::Int8,
            first: $first,
            last: $last,
            lines: few_lines(16, $lines),
            shared_bytes: few_shared_bytes($digits, 16, $first, $last, $lines),
            kernels: &[
                concat!("tuned_few_", $digits, "_", $first, "x", $last),
                concat!(
                    "tuned_few_",
                    $digits,
                    "_",
                    $first,
                    "x",
                    $last,
                    "_conversions"
                ),
                concat!("tuned_few_", $digits, "_", $first, "x", $last, "_strided"),
                concat!(
                    "tuned_few_",
                    $digits,
                    "_",
                    $first,
                    "x",
                    $last,
                    "_strided_conversions"
                ),
            ],
            pitch: None,
        }
    };
}

/// Outputs, of as many as there are slots, whose sums kernels for words of five or six digits work out at once:
/// `Few::outputs` of `tuned_few.cuh`.
pub const fn few_outputs(digits: usize, slots: usize) -> usize {
    if digits == 5 { slots } else { 8 }
}

/// Columns of the product with the topmost digits: `Few::columns`.
pub const fn few_columns(digits: usize, slots: usize) -> usize {
    let columns = digits * few_outputs(digits, slots);
    if columns < 48 { 48 } else { columns }
}

/// Bytes of the matrix of a step of so many points: `FewShape::MATRIX1`.
pub const fn few_matrix_bytes(digits: usize, points: usize) -> usize {
    let slots = points / 2;
    let outputs = few_outputs(digits, slots);
    let products = if (digits - 4) * slots == 32 { 2 } else { 1 };
    slots / outputs * 32 * (products * few_columns(digits, slots) + slots / 8 * 4 * outputs)
}

/// `FewShape::PANEL` for numbers of so many bytes: strided ones lie in rows of 64 bytes at least.
const fn few_lines(bytes: usize, lines: usize) -> usize {
    if 4 * lines * bytes < 64 {
        64 / bytes
    } else {
        4 * lines
    }
}

/// `FewShape::SHARED`.
const fn few_shared_bytes(
    digits: usize,
    bytes: usize,
    first: usize,
    last: usize,
    lines: usize,
) -> usize {
    let matrices = 2 * (few_matrix_bytes(digits, first) + few_matrix_bytes(digits, last));
    let rotations = 16 * (first / 2 + 1) * (last / 2 + 1);
    let tables = (matrices + rotations).next_multiple_of(1024);
    let points = first * last;
    let words = if bytes < 16 {
        4 * 16 * lines * points
    } else {
        0
    };
    let panel = few_lines(bytes, lines);
    tables + words + 2 * bytes * panel * points + 4 * 128 + 8 * panel + 64
}

/// Bytes of the matrix of a step of so many points: for every eight of outputs, `part_bytes` of the kernels' products.
pub const fn tuned_matrix_bytes(product: Product, points: usize) -> usize {
    let tiles = points / 16;
    let part = match (product, tiles) {
        (Product::Int8, _) => 3 * tiles * 1024,
        (Product::Fp8, 2) => 40 * 256,
        (Product::Fp8, _) => 26 * 256,
    };
    tiles * part
}

/// `Shape::SHARED` of `tuned_block.cuh`.
const fn tuned_shared_bytes(product: Product, first: usize, last: usize, lines: usize) -> usize {
    let matrices = 2 * (tuned_matrix_bytes(product, first) + tuned_matrix_bytes(product, last));
    let constants = 8 * first + 128 + 12 * last;
    let rotations = 16 * (first / 2 + 1) * (last / 2 + 1);
    let tables = (matrices + constants + rotations).next_multiple_of(1024);
    tables + 2 * (16 * 4 * lines * first * last) + 4 * 128 + 8 * 4 * lines + 64
}

/// Tiles of eight outputs of a step of so many points.
pub const fn mixed_tiles(points: usize) -> usize {
    points.div_ceil(2).div_ceil(8)
}

/// Bytes of the matrix of such a step: for every eight of outputs, `Digits::PART` of `tuned_mixed.cu`.
pub const fn mixed_matrix_bytes(points: usize) -> usize {
    let slots = points.div_ceil(2);
    let pieces = match slots % 8 {
        1..=4 => 3 * (slots / 8) + 2,
        _ => 3 * slots.div_ceil(8),
    };
    mixed_tiles(points) * pieces * 1024
}

/// `MixedShape::PANEL` of `tuned_mixed.cu`.
const fn mixed_lines(last: usize) -> usize {
    4 * (4 / last.div_ceil(8))
}

/// `MixedShape::PITCH`: 2 or 6 more than a multiple of 8.
const fn mixed_pitch(last: usize) -> usize {
    last + (6 - last % 4) % 4
}

/// `MixedShape::SHARED`.
const fn mixed_shared_bytes(first: usize, last: usize) -> usize {
    let tiles = (mixed_tiles(first), mixed_tiles(last));
    let matrices = 2 * (mixed_matrix_bytes(first) + mixed_matrix_bytes(last));
    let constants = 128 * tiles.0 + 128 + 192 * tiles.1;
    let rotations = 16 * (first / 2 + 1) * (last / 2 + 1);
    let tables = (matrices + constants + rotations).next_multiple_of(1024);
    let lines = mixed_lines(last);
    let in_box = if lines < TUNED_BOX_LINES {
        lines
    } else {
        TUNED_BOX_LINES
    };
    let boxed = (16 * in_box * first * mixed_pitch(last)).next_multiple_of(1024);
    tables + 2 * (lines / in_box * boxed) + 4 * 128 + 8 * lines + 64
}

/// `RealShape::LINES` of `tuned_real.cuh`.
const fn real_lines(last: usize) -> usize {
    64 / last
}

/// `RealShape::SHARED`, and `HalfShape::SHARED` of `tuned_c2r.cu`.
const fn real_shared_bytes(elements: Elements, first: usize, last: usize) -> usize {
    let lines = real_lines(last);
    let matrices =
        2 * (tuned_matrix_bytes(Product::Int8, first) + tuned_matrix_bytes(Product::Int8, last));
    let rotations = 16 * (first / 2 + 1) * (last / 2 + 1);
    let common = matrices + 8 * first + 12 * last + rotations;
    let points = first * last;
    let (tables, buffers) = match elements {
        Elements::ComplexToReal => {
            let numbers = 16 * lines * (points / 2 + 8);
            (
                common + 128,
                numbers + 8 * lines * points + 8 * lines * first,
            )
        }
        // Rows of words below the middle of every line, and eight middle rows.
        _ => {
            let rows = lines * first / 2 + 8;
            (common, 8 * lines * points + 16 * rows * last)
        }
    };
    tables.next_multiple_of(1024) + 4 * buffers + 4 * 128 + 8 * 4 * lines + 64
}

/// All shapes that have tuned kernels.
pub static TUNED: [TunedShape; 31] = [
    tuned!(Int8, "tuned", 32, 32, 1),
    tuned!(Int8, "tuned", 16, 16, 2),
    tuned!(Int8, "tuned", 32, 16, 2),
    tuned!(Fp8, "tuned_fp8", 32, 32, 1),
    tuned!(Fp8, "tuned_fp8", 16, 16, 2),
    tuned!(Fp8, "tuned_fp8", 32, 16, 2),
    mixed!(16, 8),
    mixed!(16, 12),
    mixed!(20, 16),
    mixed!(24, 16),
    mixed!(24, 20),
    mixed!(32, 20),
    mixed!(32, 24),
    mixed!(32, 25),
    mixed!(32, 30),
    mixed!(40, 25),
    real!(RealToComplex, "tuned_r2c", 32, 32),
    real!(RealToComplex, "tuned_r2c", 32, 16),
    real!(RealToComplex, "tuned_r2c", 16, 16),
    real!(ComplexToReal, "tuned_c2r", 32, 32),
    real!(ComplexToReal, "tuned_c2r", 32, 16),
    real!(ComplexToReal, "tuned_c2r", 16, 16),
    single!(32, 32, 1),
    single!(16, 16, 2),
    single!(32, 16, 2),
    few!(5, 32, 32, 1),
    few!(5, 16, 16, 2),
    few!(5, 32, 16, 2),
    few!(6, 32, 32, 1),
    few!(6, 16, 16, 2),
    few!(6, 32, 16, 2),
];

// The kernels' source asserts the same.
const _: () = assert!(
    TUNED[0].shared_bytes == 186_976
        && TUNED[1].shared_bytes == 80_512
        && TUNED[2].shared_bytes == 165_504
        && TUNED[3].shared_bytes == 219_744
        && TUNED[4].shared_bytes == 94_848
        && TUNED[5].shared_bytes == 189_056
        && TUNED[6].shared_bytes == 94_912
        && TUNED[7].shared_bytes == 72_320
        && TUNED[8].shared_bytes == 122_496
        && TUNED[9].shared_bytes == 140_928
        && TUNED[10].shared_bytes == 112_224
        && TUNED[11].shared_bytes == 139_872
        && TUNED[12].shared_bytes == 157_280
        && TUNED[13].shared_bytes == 161_376
        && TUNED[14].shared_bytes == 177_760
        && TUNED[15].shared_bytes == 213_600
        && TUNED[16].shared_bytes == 203_392
        && TUNED[17].shared_bytes == 173_760
        && TUNED[18].shared_bytes == 88_768
        && TUNED[19].shared_bytes == 190_080
        && TUNED[20].shared_bytes == 171_712
        && TUNED[21].shared_bytes == 84_672
        && TUNED[22].shared_bytes == 228_992
        && TUNED[23].shared_bytes == 78_464
        && TUNED[24].shared_bytes == 153_216
        && TUNED[25].shared_bytes == 163_424
        && TUNED[26].shared_bytes == 78_464
        && TUNED[27].shared_bytes == 153_216
        && TUNED[28].shared_bytes == 177_760
        && TUNED[29].shared_bytes == 78_464
        && TUNED[30].shared_bytes == 160_384
);

/// Tuned kernels for contiguous transforms of two passes, each of a step of 16 points and one of 4, on 8-bit integers.
#[derive(Debug)]
pub struct PassesShape {
    /// Points of both passes.
    pub passes: [usize; 2],
    /// Shared memory of a block, which has one transform at a time and another under way.
    pub shared_bytes: usize,
    /// Names: without and with conversion instructions.
    pub kernels: [&'static str; 2],
}

/// All of them.
pub static TUNED_PASSES: [PassesShape; 1] = [PassesShape {
    passes: [64, 64],
    shared_bytes: passes_shared_bytes(),
    kernels: ["tuned_64x64", "tuned_64x64_conversions"],
}];

/// `Passes::SHARED` of `tuned_passes.cu`.
const fn passes_shared_bytes() -> usize {
    let points = 64 * 64;
    let step = 2 * tuned_matrix_bytes(Product::Int8, 16) + 8 * 16 + 128;
    let rotations = 16 * 9 * 3;
    let tables = (step + 2 * rotations + 16 * points).next_multiple_of(1024);
    tables + 2 * 16 * points + 2 * (4 * 64 + 16) + 8 + 64
}

// The kernels' source asserts the same.
const _: () = assert!(TUNED_PASSES[0].shared_bytes == 205_416);

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
