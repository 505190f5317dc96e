//! Kernels with products by residues on 8-bit integers.

image!(
    /// Machine code of the kernels with products by residues (`cuda/residues/bailey_step_residues.cu`), for compute capability 9.0: lines
    /// of 1024 points in two steps of 32.
    RESIDUE_IMAGE,
    "bailey_step_residues.sm_90a"
);

/// Ways of putting integers together, by the names that the crate `residues` gives them, and the kernels.
pub const RESIDUE_KERNELS: [(&str, &str); 9] = [
    ("kulisch32", "residues_kulisch32"),
    ("kulisch16", "residues_kulisch16"),
    ("kulisch8", "residues_kulisch8"),
    ("garner", "residues_garner"),
    ("double", "residues_double_conversions"),
    ("sum2", "residues_sum2_conversions"),
    ("double-single", "residues_double_single"),
    ("single-kahan", "residues_single_kahan"),
    ("bernstein-double", "residues_bernstein_double_conversions"),
];

/// What else can run in the place of one of them, to see what something costs: Garner's way as it is usually written, with a reduction after every
/// product, and the first of them without one of its stages, whose results are void.
pub const RESIDUE_VARIANTS: [&str; 4] = [
    "residues_garner_one_by_one",
    "residues_without_reconstruction",
    "residues_without_products",
    "residues_without_decomposition",
];

/// The kernel for a way of putting integers together, if there is one.
pub fn residue_kernel(way: &str) -> Option<&'static str> {
    let found = RESIDUE_KERNELS.iter().find(|(name, _)| *name == way);
    found.map(|&(_, kernel)| kernel)
}

image!(
    /// Machine code of those that have kernels for shorter lines, too (`cuda/residues/bailey_step_residues_short.cu`).
    RESIDUE_SHORT_IMAGE,
    "bailey_step_residues_short.sm_90a"
);

/// Kernels for lines of 1024 points, and those that do the same for 512 points, in steps of 32 and 16, and for 256, in two of 16.
pub const RESIDUE_SHORT_KERNELS: [[&str; 3]; 5] = [
    [
        "residues_kulisch32",
        "residues_512_kulisch32",
        "residues_256_kulisch32",
    ],
    [
        "residues_kulisch16",
        "residues_512_kulisch16",
        "residues_256_kulisch16",
    ],
    [
        "residues_kulisch8",
        "residues_512_kulisch8",
        "residues_256_kulisch8",
    ],
    [
        "residues_garner",
        "residues_512_garner",
        "residues_256_garner",
    ],
    [
        "residues_double_conversions",
        "residues_512_double_conversions",
        "residues_256_double_conversions",
    ],
];

image!(
    /// Machine code of those with two redundant moduli (`cuda/residues/bailey_step_residues_redundant.cu`).
    RESIDUE_REDUNDANT_IMAGE,
    "bailey_step_residues_redundant.sm_90a"
);

/// Kernels with two redundant moduli, for 1024, 512 and 256 points. They put integers together as `residues_kulisch32` does, and are told what to count.
pub const RESIDUE_REDUNDANT_KERNELS: [&str; 3] = [
    "residues_redundant",
    "residues_512_redundant",
    "residues_256_redundant",
];

image!(
    /// Machine code of those for lines of other kinds and numbers (`cuda/residues/bailey_step_residues_kinds.cu`).
    RESIDUE_KINDS_IMAGE,
    "bailey_step_residues_kinds.sm_90a"
);

/// Kernels for complex, real and Hermitian lines of f64, of 1024, 512 and 256 points. They put integers together as `residues_kulisch32` does.
pub const RESIDUE_REAL_KERNELS: [&str; 3] =
    ["residues_real", "residues_512_real", "residues_256_real"];

/// The same for lines of f32, whose words have five digits and matrices four.
pub const RESIDUE_SINGLE_KERNELS: [&str; 3] = [
    "residues_single",
    "residues_512_single",
    "residues_256_single",
];

/// How many moduli the first and the second step of lines of f32 use.
pub const RESIDUE_SINGLE_COUNTS: [usize; 2] = [9, 10];

image!(
    /// Machine code of those with as few moduli as the data need (`cuda/residues/bailey_step_residues_adaptive.cu`).
    RESIDUE_ADAPTIVE_IMAGE,
    "bailey_step_residues_adaptive.sm_90a"
);

/// Kernels with as few moduli as the words of eight columns need, for lines of f64 of any kind, of 1024, 512 and 256 points. They are told what to count.
pub const RESIDUE_ADAPTIVE_KERNELS: [&str; 3] = [
    "residues_adaptive",
    "residues_512_adaptive",
    "residues_256_adaptive",
];

/// The numbers of moduli that they choose from in the first and the second step.
pub const RESIDUE_ADAPTIVE_COUNTS: [[usize; 4]; 2] = [[10, 12, 14, 15], [10, 12, 14, 16]];

/// The kernel that does what a kernel for lines of 1024 points does, for lines of two steps of so many points, if there is one.
///
/// ```
/// use ozfft_kernels::residue_kernel_for;
///
/// assert_eq!(residue_kernel_for("residues_garner", [32, 16]), Some("residues_512_garner"));
/// assert_eq!(residue_kernel_for("residues_sum2_conversions", [32, 16]), None);
/// ```
pub fn residue_kernel_for(kernel: &'static str, steps: [usize; 2]) -> Option<&'static str> {
    let of = |place: usize| {
        let mut rows = RESIDUE_SHORT_KERNELS.iter().chain([
            &RESIDUE_REDUNDANT_KERNELS,
            &RESIDUE_REAL_KERNELS,
            &RESIDUE_SINGLE_KERNELS,
            &RESIDUE_ADAPTIVE_KERNELS,
        ]);
        rows.find(|row| row[0] == kernel).map(|row| row[place])
    };
    match steps {
        [32, 32] => Some(kernel),
        [32, 16] => of(1),
        [16, 16] => of(2),
        _ => None,
    }
}

/// The machine code that has one of these kernels.
pub fn residue_image(kernel: &str) -> &'static [u8] {
    if RESIDUE_REDUNDANT_KERNELS.contains(&kernel) {
        RESIDUE_REDUNDANT_IMAGE
    } else if RESIDUE_ADAPTIVE_KERNELS.contains(&kernel) {
        RESIDUE_ADAPTIVE_IMAGE
    } else if RESIDUE_REAL_KERNELS.contains(&kernel) || RESIDUE_SINGLE_KERNELS.contains(&kernel) {
        RESIDUE_KINDS_IMAGE
    } else if RESIDUE_SHORT_KERNELS
        .iter()
        .any(|row| row[1..].contains(&kernel))
    {
        RESIDUE_SHORT_IMAGE
    } else {
        RESIDUE_IMAGE
    }
}

/// Their moduli.
pub const RESIDUE_MODULI: [u16; 16] = [
    256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, 197, 193,
];

/// Redundant ones: kernels that have them take all of the moduli in both steps.
pub const RESIDUE_REDUNDANT_MODULI: [u16; 2] = [191, 181];

/// How many of them the first and the second step use.
pub const RESIDUE_COUNTS: [usize; 2] = [15, 16];

/// Threads of their blocks: as many as they are compiled for, with 128 registers, two blocks to a multiprocessor. Four blocks of half as many are no faster along
/// contiguous lines and a fifth slower along others (measured: laboratory/docs/paths.md, "Launches").
pub const RESIDUE_THREADS: u32 = 256;

/// Points of a block's lines: four of 1024 points are fastest, contiguous or not.
pub const RESIDUE_BLOCK_POINTS: usize = 4096;

/// Shared memory that a block of so many threads needs beside its lines: `SCRATCH_BYTES` of `residue_slices.cuh` for every warp, and 16 bytes to begin
/// at a multiple of.
pub const fn residue_scratch_bytes(threads: u32) -> usize {
    threads as usize / 32 * 2304 + 16
}
