//! What the paper prints about reconstruction, and its formulas.
//!
//! "FP8 is All You Need (Part 2)", arXiv:2606.23698v2.

/// Table 4: `r`, and the errors of its six columns.
pub const TABLE_4: [(usize, [f64; 6]); 2] = [
    (10, [1.3e-9, 1.3e-9, 1.6e-3, 1.3e-9, 1.7e-3, 3.6e-3]),
    (16, [1.3e-14, 6.4e-12, 3.4e-3, 4.7e-12, 1.3e-3, 2.5e-3]),
];

/// The columns of Table 4, and the methods of ours that they correspond to.
pub const COLUMNS_OF_TABLE_4: [(&str, &str); 6] = [
    ("recursive", "garner"),
    ("slice/fp64", "double"),
    ("slice/fp32+K", "single-kahan"),
    ("bern/fp64", "bernstein-double"),
    ("bern/fp32+K", "bernstein-kahan"),
    ("bern/fp32", "bernstein-single"),
];

/// Table 2: bits of a word, throughput relative to 32 bits, and the words of the accumulator, fewest and most.
pub const TABLE_2: [(u32, f64, (usize, usize)); 3] =
    [(32, 1.0, (4, 5)), (16, 1.2, (8, 9)), (8, 1.1, (15, 26))];
/// Bits of a vector in Table 2.
pub const VECTOR_BITS: u32 = 512;
/// What equation 19 is evaluated with: slices, bits of a slice's sum, bits of the accumulator.
pub const SLICES: usize = 11;
pub const SLICE_SUM_BITS: u32 = 20;
pub const ACCUMULATOR_BITS: u32 = 104;

/// The `r` that costs are printed for.
pub const COST_R: usize = 12;
/// Section 5.3: bands of the product in E4M3, and the largest share of phase A's products that it takes.
pub const BANDS: f64 = 5.0;
pub const SHARE: f64 = 0.4;
/// Integers that E4M3 is said to hold.
pub const E4M3_EXACT_TO: i32 = 448;

/// `⌈7r/8⌉`.
pub fn printed_slices(r: usize) -> usize {
    (7 * r).div_ceil(8)
}

/// Equation 19 with the numbers of section 5.1: word operations of an output over the lanes of a vector, where a word of so many bits
/// carries `radix` of them.
pub fn equation_19(word: u32, radix: u32) -> f64 {
    let operations =
        SLICES as u32 * SLICE_SUM_BITS.div_ceil(radix) + ACCUMULATOR_BITS.div_ceil(radix);
    f64::from(operations) / f64::from(VECTOR_BITS / word)
}

/// The radix that a number of words of Table 2 means.
pub fn radix_of(words: usize) -> u32 {
    ACCUMULATOR_BITS.div_ceil(words as u32)
}
