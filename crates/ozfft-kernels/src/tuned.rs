//! Kernels for a few lengths on Hopper's tensor instruction (`cuda/hopper`).

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

/// A kernel of the table: its name without steps, its steps, what it is, its shared memory, which the kernel's source asserts too, and
/// which kinds there are.
macro_rules! tuned {
    ($name:literal, $first:literal, $last:literal, $shape:expr, $bytes:literal, all) => {
        tuned!(@ $name, $first, $last, $shape, $bytes, ["", "_conversions", "_strided", "_strided_conversions"])
    };
    ($name:literal, $first:literal, $last:literal, $shape:expr, $bytes:literal, contiguous) => {
        tuned!(@ $name, $first, $last, $shape, $bytes, ["", "_conversions"])
    };
    // The same twice: plain ones have no conversion instructions.
    ($name:literal, $first:literal, $last:literal, $shape:expr, $bytes:literal, plain) => {
        tuned!(@ $name, $first, $last, $shape, $bytes, ["", "", "_strided", "_strided"])
    };
    (@ $name:literal, $first:literal, $last:literal, $shape:expr, $bytes:literal, [$($end:literal),*]) => {{
        const SHAPE: TunedShape = $shape.of_steps($first, $last);
        assert!(SHAPE.shared_bytes == $bytes);
        TunedShape {
            kernels: &[$(concat!($name, "_", $first, "x", $last, $end)),*],
            ..SHAPE
        }
    }};
}

/// What a kernel is, but for its steps.
#[derive(Clone, Copy)]
enum Design {
    /// Of as many quarters of its lines.
    Block(Product, usize),
    Mixed,
    RealToComplex,
    ComplexToReal,
    Single(usize),
    /// Of so many digits.
    Few(usize, usize),
}

impl Design {
    const fn of_steps(self, first: usize, last: usize) -> TunedShape {
        let usual = TunedShape {
            source: TunedSource::Block,
            digits: 8,
            single: false,
            elements: Elements::Complex,
            product: Product::Int8,
            first,
            last,
            lines: 0,
            shared_bytes: 0,
            kernels: &[],
            pitch: None,
        };
        match self {
            Design::Block(product, lines) => TunedShape {
                product,
                lines: 4 * lines,
                shared_bytes: tuned_shared_bytes(product, first, last, lines),
                ..usual
            },
            Design::Mixed => TunedShape {
                source: TunedSource::Mixed,
                lines: mixed_lines(last),
                shared_bytes: mixed_shared_bytes(first, last),
                pitch: Some(mixed_pitch(last)),
                ..usual
            },
            Design::RealToComplex => TunedShape {
                source: TunedSource::RealToComplex,
                elements: Elements::RealToComplex,
                lines: 4 * real_lines(last),
                shared_bytes: real_shared_bytes(Elements::RealToComplex, first, last),
                ..usual
            },
            Design::ComplexToReal => TunedShape {
                source: TunedSource::ComplexToReal,
                elements: Elements::ComplexToReal,
                lines: 4 * real_lines(last),
                shared_bytes: real_shared_bytes(Elements::ComplexToReal, first, last),
                ..usual
            },
            Design::Single(lines) => TunedShape {
                source: TunedSource::Single,
                digits: 5,
                single: true,
                lines: few_lines(8, lines),
                shared_bytes: few_shared_bytes(5, 8, first, last, lines),
                ..usual
            },
            Design::Few(digits, lines) => TunedShape {
                source: TunedSource::Few,
                digits: digits as u32,
                lines: few_lines(16, lines),
                shared_bytes: few_shared_bytes(digits, 16, first, last, lines),
                ..usual
            },
        }
    }
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
pub static TUNED: [TunedShape; 31] = {
    use Design::{Block, ComplexToReal, Few, Mixed, RealToComplex, Single};
    use Product::{Fp8, Int8};
    [
        tuned!("tuned", 32, 32, Block(Int8, 1), 186_976, all),
        tuned!("tuned", 16, 16, Block(Int8, 2), 80_512, all),
        tuned!("tuned", 32, 16, Block(Int8, 2), 165_504, all),
        tuned!("tuned_fp8", 32, 32, Block(Fp8, 1), 219_744, all),
        tuned!("tuned_fp8", 16, 16, Block(Fp8, 2), 94_848, all),
        tuned!("tuned_fp8", 32, 16, Block(Fp8, 2), 189_056, all),
        tuned!("tuned", 16, 8, Mixed, 94_912, all),
        tuned!("tuned", 16, 12, Mixed, 72_320, all),
        tuned!("tuned", 20, 16, Mixed, 122_496, all),
        tuned!("tuned", 24, 16, Mixed, 140_928, all),
        tuned!("tuned", 24, 20, Mixed, 112_224, all),
        tuned!("tuned", 32, 20, Mixed, 139_872, all),
        tuned!("tuned", 32, 24, Mixed, 157_280, all),
        tuned!("tuned", 32, 25, Mixed, 161_376, all),
        tuned!("tuned", 32, 30, Mixed, 177_760, all),
        tuned!("tuned", 40, 25, Mixed, 213_600, all),
        tuned!("tuned_r2c", 32, 32, RealToComplex, 203_392, contiguous),
        tuned!("tuned_r2c", 32, 16, RealToComplex, 173_760, contiguous),
        tuned!("tuned_r2c", 16, 16, RealToComplex, 88_768, contiguous),
        tuned!("tuned_c2r", 32, 32, ComplexToReal, 190_080, contiguous),
        tuned!("tuned_c2r", 32, 16, ComplexToReal, 171_712, contiguous),
        tuned!("tuned_c2r", 16, 16, ComplexToReal, 84_672, contiguous),
        tuned!("tuned_single", 32, 32, Single(1), 228_992, plain),
        tuned!("tuned_single", 16, 16, Single(2), 78_464, plain),
        tuned!("tuned_single", 32, 16, Single(2), 153_216, plain),
        tuned!("tuned_few_5", 32, 32, Few(5, 1), 163_424, all),
        tuned!("tuned_few_5", 16, 16, Few(5, 2), 78_464, all),
        tuned!("tuned_few_5", 32, 16, Few(5, 2), 153_216, all),
        tuned!("tuned_few_6", 32, 32, Few(6, 1), 177_760, all),
        tuned!("tuned_few_6", 16, 16, Few(6, 2), 78_464, all),
        tuned!("tuned_few_6", 32, 16, Few(6, 2), 160_384, all),
    ]
};

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
