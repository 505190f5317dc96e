//! Tables of the kernels with products by residues in fp8 (`bailey_step_residues_fp8.cu`), and the proof that none of their sums exceeds what
//! the tensor instruction keeps exact.
//!
//! A residue is a byte `16·u + l` of nibbles 0 to 15. Lower nibbles meet the matrix entry modulo m, upper ones 16 times the entry modulo m; both are
//! cut into two digits of magnitude at most 8. Weights that put integers together are cut into bands of four bits.

use super::fp8::e4m3;
use super::residues::{entry_of, slices};
use crate::error::FftError;
use crate::recipe::Digits;
use crate::residue_products::largest_sum;
use crate::step::Step;
use ozfft_kernels::{FP8_EXACT, RESIDUE_FP8_WEIGHT_COLUMNS, RESIDUE_MODULI};
use residues::reconstruct::weights::{balanced, centred, fraction, weight};
use residues::{I256, Moduli, Set, U256, residue_of};

/// Points of both steps: outputs of a line's column, and places of a row.
const POINTS: usize = 32;
const SLOTS: usize = POINTS / 2;

/// What all sums of a step have in common, because the kernels keep them as the bits of the float `1.5 · 2^23 + sum`.
const COMMON: u64 = 0xc0_0000;
/// The largest sum from which the kernels find a residue: `LARGEST_SUM` of `residue_moduli.cuh`.
const LARGEST_COMBINED: i64 = 1 << 20;
/// The largest value of a data nibble.
const LARGEST_NIBBLE: i64 = 15;

/// Bands of the weights, eight to a window of 32 bits, and bits of the weights' fractions, in two digits of five bits.
const BAND_BITS: u32 = 4;
const BANDS: usize = 32;
const FRACTION_BITS: u32 = 10;
const FRACTION_DIGIT_BITS: u32 = 5;

/// The tables of step `number`: `Fp8ResidueTables` of `residue_fp8_step.cuh`.
pub(crate) fn tables(step: &Step, number: usize, digits: Digits) -> Result<Vec<u32>, FftError> {
    let moduli = Moduli::first(Set::Int8, ozfft_kernels::RESIDUE_COUNTS[number])?;
    let bound = largest_sum(&step.recipe, number == 0, digits) + U256::from(COMMON);
    let mut bytes = Vec::new();
    for &modulus in moduli.values() {
        products(step, digits, modulus, &mut bytes)?;
    }
    let all = RESIDUE_MODULI.len() * ozfft_kernels::RESIDUE_FP8_MODULUS_BYTES;
    bytes.resize(all, 0);
    let mut words = words_of(&bytes);
    words.extend(slices(&moduli, bound)?);
    words.extend(words_of(&weights(&moduli, bound)?));
    Ok(words)
}

fn words_of(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

/// The matrix entry that output `column` has at place `k` of a row: columns come as eight outputs, then their partners, and a row has the slots that
/// cosines meet, then those that sines meet, in the order in which threads have them.
fn entry(step: &Step, digits: Digits, column: usize, k: usize) -> i64 {
    let (tile, within) = (column / 8, column % 8);
    let (row, far) = (tile / 2 * 8 + within, tile % 2 == 1);
    let (sines, slot) = (k >= SLOTS, 4 * (k % 4) + k % SLOTS / 4);
    entry_of(step, digits, (row, far), (slot, sines))
}

/// The higher and the lower digit of an integer's residue.
fn digits_of(entry: I256, modulus: u16) -> [i64; 2] {
    let residue = i64::from(residue_of(entry, modulus));
    let higher = (residue + 8) >> 4;
    [higher, residue - 16 * higher]
}

/// A modulus' matrices: for lower and upper nibbles, of all outputs the higher digits, then the lower ones, each as the tensor instruction's second
/// operand.
fn products(
    step: &Step,
    digits: Digits,
    modulus: u16,
    bytes: &mut Vec<u8>,
) -> Result<(), FftError> {
    // [lower, upper nibble][place of the row][higher, lower digit] of an output.
    let columns: Vec<[[[i64; 2]; POINTS]; 2]> = (0..POINTS)
        .map(|column| {
            [1, 16].map(|factor| {
                std::array::from_fn(|k| {
                    let entry = I256::from(entry(step, digits, column, k));
                    digits_of(entry * I256::from(factor), modulus)
                })
            })
        })
        .collect();
    check(&columns)?;
    for nibble in 0..2 {
        operand(2 * POINTS, bytes, |column, k| {
            columns[column % POINTS][nibble][k][column / POINTS]
        });
    }
    Ok(())
}

/// A matrix as the tensor instruction's second operand: eight columns after the other, 16 places of each, K-major.
fn operand(columns: usize, bytes: &mut Vec<u8>, digit: impl Fn(usize, usize) -> i64) {
    for eight in 0..columns / 8 {
        for piece in 0..2 {
            for column in 8 * eight..8 * eight + 8 {
                bytes.extend((16 * piece..16 * piece + 16).map(|k| e4m3(digit(column, k))));
            }
        }
    }
}

/// That all sums of a modulus are exact, whatever residues the data have.
fn check(columns: &[[[[i64; 2]; POINTS]; 2]]) -> Result<i64, FftError> {
    let (mut all, mut combined) = (0, 0);
    for column in columns {
        let largest = [0, 1].map(|digit| {
            let factors = column.iter().flatten().map(|digits| digits[digit]);
            largest_of(factors)
        });
        all = all.max(largest[0]).max(largest[1]);
        combined = combined.max(16 * largest[0] + largest[1]);
    }
    demand(all, combined, LARGEST_COMBINED)?;
    Ok(all)
}

/// The largest magnitude of any sum of nibbles times these factors, in whatever order.
fn largest_of(factors: impl Iterator<Item = i64>) -> i64 {
    let mut of_sign = [0; 2];
    for factor in factors {
        of_sign[usize::from(factor > 0)] += LARGEST_NIBBLE * factor.abs();
    }
    of_sign[0].max(of_sign[1])
}

fn demand(largest: i64, combined: i64, combined_exact: i64) -> Result<(), FftError> {
    if largest > FP8_EXACT || combined > combined_exact {
        return Err(FftError::Fp8SumsTooLarge {
            largest,
            exact: FP8_EXACT,
            combined,
            combined_exact,
        });
    }
    Ok(())
}

/// The weights of all nibbles of residues, lower ones first: bands of 128 bits, then, for every lane of four, two digits of their fractions of the product.
fn weights(moduli: &Moduli, bound: U256) -> Result<Vec<u8>, FftError> {
    moduli.demand(bound)?;
    let product = moduli.product();
    let mut off = U256::ZERO;
    // Of every place of a row: all bands, and two digits of the fraction.
    let rows: Vec<(Vec<i32>, Vec<i32>)> = (0..POINTS)
        .map(|k| {
            if k % SLOTS >= moduli.len() {
                return (vec![0; BANDS], vec![0; 2]);
            }
            let factor = I256::from(if k < SLOTS { 1 } else { 16 });
            // Centred, so that it fits its bands, and its fraction two digits.
            let of_nibble = centred(weight(moduli, k % SLOTS) * factor, product);
            let (bands, rest) = balanced(of_nibble, BAND_BITS, BANDS);
            assert_eq!(rest, 0, "weights fit their bands");
            let (of_product, left) = fraction(of_nibble, FRACTION_BITS, product);
            off += left;
            let (mut digits, upper) = balanced(of_product, FRACTION_DIGIT_BITS, 1);
            digits.push(upper.as_i32());
            (bands, digits)
        })
        .collect();
    // As in reconstruct/fp8_slices.rs of the crate `residues`, with nibbles of at most 15.
    assert!(
        off * U256::from(LARGEST_NIBBLE as u32)
            < (product - (bound << 1)) << (FRACTION_BITS - 1),
        "two digits of the fractions tell how often the product comes off"
    );
    // Column 8j + 2t + e: band 8t + 2j + e of window t; the last eight: digit e of the fraction.
    let digit = |column: usize, k: usize| {
        let (j, t, e) = (column / 8, column % 8 / 2, column % 2);
        let (bands, fraction) = &rows[k];
        i64::from(bands.get(8 * t + 2 * j + e).filter(|_| j < 4).copied().unwrap_or(fraction[e]))
    };
    let largest = (0..RESIDUE_FP8_WEIGHT_COLUMNS)
        .map(|column| largest_of((0..POINTS).map(|k| digit(column, k))))
        .max()
        .unwrap_or(0);
    // Three bands are put together in f32, and windows have to stay below 2^43.
    demand(largest, largest * (1 + 16 + 256), 1 << 22)?;
    let mut bytes = Vec::new();
    operand(RESIDUE_FP8_WEIGHT_COLUMNS, &mut bytes, digit);
    Ok(bytes)
}
