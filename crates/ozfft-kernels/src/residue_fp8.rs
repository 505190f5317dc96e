//! Kernels with products by residues in fp8: lines of 1024 points in two steps of 32, for compute capability 9.0.

use crate::RESIDUE_MODULI;

image!(
    /// Machine code of those with moduli of at most 256 (`cuda/residues/fp8/bailey_step_residues_fp8.cu`).
    RESIDUE_FP8_IMAGE,
    "bailey_step_residues_fp8.sm_90a"
);

image!(
    /// Machine code of those with the moduli of up to 1089 of Ozaki's scheme II in fp8 (`cuda/residues/fp8/bailey_step_residues_karatsuba.cu`).
    RESIDUE_KARATSUBA_IMAGE,
    "bailey_step_residues_karatsuba.sm_90a"
);

/// Ways of putting integers together of the first: on 8-bit integers, and in fp8 alone.
pub const RESIDUE_FP8_KERNELS: [(&str, &str); 2] = [
    ("kulisch32", "residues_fp8_kulisch32"),
    ("fp8-bands", "residues_fp8_bands"),
];

/// The last of them without one of its stages, whose results are void.
pub const RESIDUE_FP8_VARIANTS: [&str; 3] = [
    "residues_fp8_without_reconstruction",
    "residues_fp8_without_products",
    "residues_fp8_without_decomposition",
];

/// The first of them with two warpgroups to a line instead of one, to see what more threads are worth.
pub const RESIDUE_FP8_IN_HALVES: &str = "residues_fp8_in_halves";

/// The second: a whole one, and the same without one of its stages, whose results are void. All are there to be measured.
pub const RESIDUE_KARATSUBA_VARIANTS: [&str; 4] = [
    "residues_karatsuba_kulisch32",
    "residues_karatsuba_without_reconstruction",
    "residues_karatsuba_without_products",
    "residues_karatsuba_without_decomposition",
];

/// The kernel with products in fp8 for a way of putting integers together, if there is one.
pub fn residue_fp8_kernel(way: &str) -> Option<&'static str> {
    let found = RESIDUE_FP8_KERNELS.iter().find(|(name, _)| *name == way);
    found.map(|&(_, kernel)| kernel)
}

/// Bytes of a modulus' matrix of the first: `MODULUS_BYTES` of `residue_fp8_nibbles.cuh`.
pub const RESIDUE_FP8_MODULUS_BYTES: usize = 2 * 64 * 32;

/// Columns of the weights in fp8: 32 bands of four bits, and two digits of the fractions for four lanes.
pub const RESIDUE_FP8_WEIGHT_COLUMNS: usize = 40;

/// Moduli of the second: squares, then others.
pub const RESIDUE_KARATSUBA_MODULI: [u16; 14] = [
    1089, 1024, 961, 841, 625, 529, 511, 509, 503, 499, 491, 487, 481, 479,
];

/// How many of them the first and the second step use.
pub const RESIDUE_KARATSUBA_COUNTS: [usize; 2] = [13, 14];

/// What words are multiplied by modulo each of them: `scale` of `residue_karatsuba_moduli.cuh`.
pub const RESIDUE_KARATSUBA_SCALES: [u16; 14] =
    [1, 1, 1, 1, 1, 1, 383, 62, 83, 27, 106, 53, 113, 105];

/// Bytes of one digit of a modulus' matrix: `DIGIT_BYTES` of `residue_karatsuba.cuh`. Squares have two digits, others three.
pub const RESIDUE_KARATSUBA_DIGIT_BYTES: usize = 32 * 32;

/// Bytes of the matrices of all moduli.
pub const RESIDUE_KARATSUBA_PRODUCT_BYTES: usize = (6 * 2 + 8 * 3) * RESIDUE_KARATSUBA_DIGIT_BYTES;

/// What kernels have in common that share their tables and the form of their blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResidueFp8 {
    /// Moduli of at most 256, nibbles of their residues, four products a modulus.
    Nibbles,
    /// The same with two warpgroups to a line.
    NibblesInHalves,
    /// Moduli of at most 1089, two signed digits of their residues, three products a modulus.
    Karatsuba,
}

impl ResidueFp8 {
    /// All of them.
    pub const ALL: [ResidueFp8; 3] = [
        ResidueFp8::Nibbles,
        ResidueFp8::NibblesInHalves,
        ResidueFp8::Karatsuba,
    ];

    /// That of a kernel, if it is one in fp8.
    pub fn of(kernel: &str) -> Option<ResidueFp8> {
        let has = |scheme: &ResidueFp8| scheme.kernels().contains(&kernel);
        ResidueFp8::ALL.into_iter().find(has)
    }

    /// Its kernels.
    pub fn kernels(self) -> Vec<&'static str> {
        match self {
            ResidueFp8::Nibbles => {
                let ways = RESIDUE_FP8_KERNELS.map(|(_, kernel)| kernel);
                [&ways[..], &RESIDUE_FP8_VARIANTS].concat()
            }
            ResidueFp8::NibblesInHalves => vec![RESIDUE_FP8_IN_HALVES],
            ResidueFp8::Karatsuba => RESIDUE_KARATSUBA_VARIANTS.to_vec(),
        }
    }

    /// Their machine code.
    pub fn image(self) -> &'static [u8] {
        match self {
            ResidueFp8::Nibbles | ResidueFp8::NibblesInHalves => RESIDUE_FP8_IMAGE,
            ResidueFp8::Karatsuba => RESIDUE_KARATSUBA_IMAGE,
        }
    }

    /// Lines of their blocks.
    pub fn lines(self) -> usize {
        match self {
            ResidueFp8::Nibbles => 3,
            ResidueFp8::NibblesInHalves | ResidueFp8::Karatsuba => 2,
        }
    }

    /// Warpgroups that share a line.
    pub fn groups(self) -> usize {
        match self {
            ResidueFp8::Nibbles => 1,
            ResidueFp8::NibblesInHalves | ResidueFp8::Karatsuba => 2,
        }
    }

    /// Threads of their blocks.
    pub fn threads(self) -> u32 {
        128 * (self.lines() * self.groups()) as u32
    }

    /// Shared memory that they need beside their lines: `Fp8Memory` of `residue_fp8_step.cuh`, and 128 bytes to begin at a multiple of.
    pub fn scratch_bytes(self) -> usize {
        let (tables, rows_of_eight_columns) = match self {
            ResidueFp8::Nibbles | ResidueFp8::NibblesInHalves => (
                RESIDUE_MODULI.len() * RESIDUE_FP8_MODULUS_BYTES + 32 * RESIDUE_FP8_WEIGHT_COLUMNS,
                8192,
            ),
            ResidueFp8::Karatsuba => (RESIDUE_KARATSUBA_PRODUCT_BYTES, 2 * 8192),
        };
        tables + 4 * self.lines() * rows_of_eight_columns + 128
    }
}
