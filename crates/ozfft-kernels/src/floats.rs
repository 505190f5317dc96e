//! Lines in short floating-point numbers (`cuda/floats/float_lines.cu`, `cuda/floats/float_digits.cu`) and in f32 and f64 (`cuda/floats/float_steps.cu`), for
//! compute capability 8.0 and later.
//!
//! Structures are what the kernels take, by value; addresses in them are of device memory.

/// The kernel for a mode and a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatKernel {
    /// Its name.
    pub name: &'static str,
    /// The mode, as the crate `floats` names it.
    pub mode: &'static str,
    /// The factors of the length: a line is `x[j1][j2]`.
    pub factors: (usize, usize),
    /// Numbers that a number is cut into.
    pub parts: usize,
    /// Lines that a warp transforms together.
    pub lines: usize,
    /// Threads of a block at most.
    pub threads: u32,
    /// Blocks that a multiprocessor runs side by side: as many as there are registers for.
    pub blocks: u64,
}

impl FloatKernel {
    /// Points of a line.
    pub const fn points(&self) -> usize {
        self.factors.0 * self.factors.1
    }

    /// Whether it adds up digits exactly and rotates in f64 (`cuda/floats/float_digits.cu`).
    pub const fn has_digits(&self) -> bool {
        self.parts == 4
    }

    /// Bytes of the tables.
    pub const fn table_bytes(&self) -> usize {
        let (tiles, columns) = (self.factors.0 / 8, self.factors.1 / 8);
        let rotations = if self.has_digits() { 2 } else { 1 };
        512 * (self.parts * (tiles * tiles + columns * columns) + rotations * tiles * columns)
    }

    /// Bytes of shared memory of a block of so many threads: the tables, and rotated numbers where they wait for an exponent.
    pub const fn shared_bytes(&self, threads: u32) -> usize {
        let waiting = if self.has_digits() {
            16 * self.points() * self.lines * threads as usize / 32
        } else {
            0
        };
        self.table_bytes() + waiting
    }

    /// Threads of a block that has so much shared memory at most.
    pub const fn threads_within(&self, shared_memory: usize) -> u32 {
        let mut threads = self.threads;
        while threads > 32 && self.shared_bytes(threads) > shared_memory {
            threads -= 32;
        }
        threads
    }
}

macro_rules! kernels {
    ($($mode:literal $parts:literal $end:literal: $(($n1:literal, $n2:literal): $lines:literal, $threads:literal, $blocks:literal;)*)*) => {
        /// All kernels.
        pub static KERNELS: &[FloatKernel] = &[$($(FloatKernel {
            name: concat!("float_", $mode, "_", $n1, "x", $n2, $end),
            mode: $mode,
            factors: ($n1, $n2),
            parts: $parts,
            lines: $lines,
            threads: $threads,
            blocks: $blocks,
        },)*)*];
    };
}

// As float_lines.cu and float_digits.cu have them.
kernels! {
    "bf16" 1 "":
        (8, 8): 16, 256, 2;
        (8, 16): 8, 256, 2;
        (16, 16): 4, 256, 2;
        (16, 32): 2, 256, 2;
        (32, 32): 1, 256, 2;
    "ozaki" 2 "":
        (8, 8): 8, 256, 2;
        (8, 16): 4, 256, 2;
        (16, 16): 2, 256, 2;
        (16, 32): 1, 256, 2;
        (32, 32): 1, 384, 1;
    "ozaki_hq" 3 "":
        (8, 8): 8, 384, 1;
        (8, 16): 4, 384, 1;
        (16, 16): 2, 384, 1;
        (16, 32): 1, 384, 1;
        (32, 32): 1, 256, 1;
    "fp16" 1 "":
        (8, 8): 16, 256, 2;
        (8, 16): 8, 256, 2;
        (16, 16): 4, 256, 2;
        (16, 32): 2, 256, 2;
        (32, 32): 1, 256, 2;
    "fp16_ozaki" 2 "":
        (8, 8): 8, 256, 2;
        (8, 16): 4, 256, 2;
        (16, 16): 2, 256, 2;
        (16, 32): 1, 256, 2;
        (32, 32): 1, 256, 1;
    "ozaki_two_level" 4 "_conversions":
        (8, 8): 8, 384, 1;
        (8, 16): 4, 384, 1;
        (16, 16): 2, 384, 1;
        (16, 32): 1, 384, 1;
        (32, 32): 1, 256, 1;
}

/// Kernels that multiply any matrices, for bf16 and for f16: what the probe asks.
pub const PRODUCT_NAMES: [&str; 2] = ["float_products_bf16", "float_products_fp16"];

/// Threads of a block of these; it has 16 rows and 8 columns of sums.
pub const PRODUCT_THREADS: u32 = 32;

/// Lines that are transformed. Both arrays begin at multiples of 16 bytes; they may be the same.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct FloatTask {
    /// Complex f32 numbers.
    pub input: u64,
    /// The same.
    pub output: u64,
    /// [`FloatKernel::table_bytes`].
    pub tables: u64,
    /// How many lines.
    pub lines: u64,
    /// From one line of the input to the next, in complex numbers: even.
    pub input_distance: u64,
    /// The same of the output.
    pub output_distance: u64,
    /// Results are multiplied by two to this power.
    pub power: i32,
}

/// A product of matrices of pairs, term after term onto the same sums.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct FloatProduct {
    /// `[term][row][pair]`.
    pub left: u64,
    /// `[term][pair][column]`.
    pub right: u64,
    /// `[row][column]`, f32.
    pub sums: u64,
    /// A multiple of 16.
    pub rows: i32,
    /// A multiple of 8.
    pub pairs: i32,
    /// A multiple of 8.
    pub columns: i32,
    /// How many products are added.
    pub terms: i32,
}

/// Operations of a [`FloatStepsTask`] at most.
pub const FLOAT_STEPS: usize = 32;
/// Dimensions that lines lie along at most.
pub const FLOAT_DIMENSIONS: usize = 4;
/// Threads of a block of the kernels in `cuda/floats/float_steps.cu`.
pub const STEP_THREADS: u32 = 256;

/// An operation on all numbers, as the crate `floats` describes it.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct FloatStep {
    /// 0 for small DFTs, 1 for the product with the whole matrix, 2 for products with constants.
    pub operation: i32,
    /// Of a small DFT, or of numbers that are multiplied.
    pub points: i32,
    /// Neighbours with the same rotations.
    pub stride: i32,
    /// Rotations.
    pub groups: i32,
    /// The power of two that the stride is, or -1.
    pub stride_power: i32,
    /// The first constant.
    pub constants: i32,
    /// Whether parts are exchanged before (1) and after (2) a multiplication.
    pub swap: i32,
    /// Up to which number there are zeros after it.
    pub zero_to: i32,
}

/// Where lines are, in complex numbers.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct FloatPlaces {
    /// The first number of the first line.
    pub numbers: u64,
    /// From one point to the next.
    pub point_distance: i64,
    /// From one line to the next along every dimension, the innermost first.
    pub line_distances: [i64; FLOAT_DIMENSIONS],
}

/// Lines and the operations that transform them, or one of these.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct FloatStepsTask {
    /// Where lines are read.
    pub input: FloatPlaces,
    /// Where they are written.
    pub output: FloatPlaces,
    /// Lengths of the dimensions but the outermost.
    pub dimensions: [u64; FLOAT_DIMENSIONS - 1],
    /// Of the arithmetic: f32, pairs of f32, or f64.
    pub constants: u64,
    /// How many lines.
    pub lines: u64,
    /// The number of the first.
    pub first_line: u64,
    /// The array that a phase reads.
    pub from: u64,
    /// The array that a phase writes.
    pub to: u64,
    /// The bits of every line's largest magnitude, 4 or 8 bytes.
    pub largest: u64,
    /// The norm's factor.
    pub factor: f64,
    /// Results are subtracted from these, or nothing.
    pub minuend: u64,
    /// These are added to results, or nothing.
    pub addend: u64,
    /// The share of a result that is subtracted.
    pub share: f32,
    /// The norm's factor where it is a power of two.
    pub single_factor: f32,
    /// Points of a line.
    pub points: i32,
    /// Numbers of an array.
    pub length: i32,
    /// Two to this power are the lines of a block.
    pub lines_power: i32,
    /// Places of a point in shared memory.
    pub pitch: i32,
    /// Whether parts are exchanged on input and output.
    pub swap: i32,
    /// Lines with exponents from here on are divided by two to the power `room` first.
    pub room_from: i32,
    /// See there.
    pub room: i32,
    /// Whether neighbouring lines are nearer than neighbouring points, on input and output.
    pub lines_are_near: [i32; 2],
    /// 0 where numbers are only copied.
    pub is_scaled: i32,
    /// How many operations.
    pub step_count: i32,
    /// The operation of this launch, or -1: largest magnitudes, -2: read, -3: write.
    pub phase: i32,
    /// The operations.
    pub steps: [FloatStep; FLOAT_STEPS],
}

/// Kernels for lines in shared memory: those with small DFTs of 2, 4 and 8 points and norms that are powers of two, and those for everything.
/// In the order of [`FloatArithmetic`].
pub const WHOLE_NAMES: [[&str; 2]; 4] = [
    ["float_whole_fast", "float_whole_fast_all_conversions"],
    ["float_whole_kahan", "float_whole_kahan_all_conversions"],
    [
        "float_whole_double_conversions",
        "float_whole_double_all_conversions",
    ],
    [
        "float_whole_doubles_conversions",
        "float_whole_doubles_all_conversions",
    ],
];

/// Kernels for one operation on lines in device memory, in the same order.
pub const PHASE_NAMES: [&str; 4] = [
    "float_phase_fast_conversions",
    "float_phase_kahan_conversions",
    "float_phase_double_conversions",
    "float_phase_doubles_conversions",
];

/// What kernels of `cuda/floats/float_steps.cu` compute with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloatArithmetic {
    /// f32.
    Single,
    /// f32 with errors.
    Carried,
    /// f64, of f32 data.
    Double,
    /// f64, of f64 data.
    Doubles,
}

impl FloatArithmetic {
    /// Bytes of a complex number between operations, and of a constant.
    pub const fn element_bytes(self) -> usize {
        match self {
            FloatArithmetic::Single => 8,
            _ => 16,
        }
    }

    /// Bytes of a complex number of the caller's.
    pub const fn data_bytes(self) -> usize {
        match self {
            FloatArithmetic::Doubles => 16,
            _ => 8,
        }
    }

    /// Shared memory of a block with so many lines of so many numbers.
    pub const fn shared_bytes(self, length: usize, lines: usize) -> usize {
        2 * self.element_bytes() * length * Self::pitch(lines) + 8 * lines
    }

    /// Places of a point in shared memory.
    pub const fn pitch(lines: usize) -> usize {
        if lines == 1 { 1 } else { lines + 1 }
    }
}

image! {
    /// Those in f32 and f64.
    STEPS_IMAGE, "float_steps"
}
image! {
    /// Machine code and PTX of all kernels but those with digits.
    IMAGE, "float_lines"
}
image! {
    /// Those with digits.
    DIGITS_IMAGE, "float_digits"
}
