//! Lines in short floating-point numbers (`cuda/float_lines.cu`, `cuda/float_digits.cu`), for compute capability 8.0 and later.
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

    /// Whether it adds up digits exactly and rotates in f64 (`cuda/float_digits.cu`).
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

image! {
    /// Machine code and PTX of all kernels but those with digits.
    IMAGE, "float_lines"
}
image! {
    /// Those with digits.
    DIGITS_IMAGE, "float_digits"
}
