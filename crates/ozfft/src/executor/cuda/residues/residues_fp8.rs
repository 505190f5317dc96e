//! Tables of the kernels with products by residues in fp8 (`bailey_step_residues_fp8.cu`), and the proof that none of their sums exceeds what
//! the tensor instruction keeps exact.
//!
//! A residue is a byte `16·u + l` of nibbles 0 to 15. Lower nibbles meet the matrix entry modulo m, upper ones 16 times the entry modulo m; both are
//! cut into two digits of magnitude at most 8. Weights that put integers together are cut into bands of four bits.

use crate::error::FftError;
use crate::executor::cuda::residues::{entry_of, slices};
use crate::executor::cuda::tables::fp8::e4m3;
use crate::recipe::Digits;
use crate::stages::residue_products::largest_sum;
use crate::transform::step::Step;
use ozfft_kernels::{FP8_EXACT, RESIDUE_FP8_WEIGHT_COLUMNS, RESIDUE_MODULI};
use residues::reconstruct::weights::{balanced, centred, fraction, weight};
use residues::{I256, Moduli, Set, U256, residue_of};

/// Points of both steps: outputs of a line's column, and places of a row.
pub(crate) const POINTS: usize = 32;
const SLOTS: usize = POINTS / 2;

/// What all sums of a step have in common, because the kernels keep them as the bits of the float `1.5 · 2^23 + sum`.
pub(crate) const COMMON: u64 = 0xc0_0000;
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

pub(crate) fn words_of(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

/// The matrix entry that output `column` has at place `k` of a row: columns come as eight outputs, then their partners, and a row has the slots that
/// cosines meet, then those that sines meet, in the order in which threads have them.
pub(crate) fn entry(step: &Step, digits: Digits, column: usize, k: usize) -> i64 {
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
pub(crate) fn operand(columns: usize, bytes: &mut Vec<u8>, digit: impl Fn(usize, usize) -> i64) {
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

pub(crate) fn demand(largest: i64, combined: i64, combined_exact: i64) -> Result<(), FftError> {
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
        off * U256::from(LARGEST_NIBBLE as u32) < (product - (bound << 1)) << (FRACTION_BITS - 1),
        "two digits of the fractions tell how often the product comes off"
    );
    // Column 8j + 2t + e: band 8t + 2j + e of window t; the last eight: digit e of the fraction.
    let digit = |column: usize, k: usize| {
        let (j, t, e) = (column / 8, column % 8 / 2, column % 2);
        let (bands, fraction) = &rows[k];
        i64::from(
            bands
                .get(8 * t + 2 * j + e)
                .filter(|_| j < 4)
                .copied()
                .unwrap_or(fraction[e]),
        )
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cuda::tables::tuned_tables::tests::{block, random_words};
    use crate::transform::tables::Tables;
    use residues::fp8::E4m3;

    const DIGITS: Digits = Digits::DOUBLE;

    /// The integer that a code stands for.
    fn integer(code: u8) -> i64 {
        E4m3::from_code(code).unwrap().to_f32() as i64
    }

    /// The digit at place `k` of a column of a matrix that begins at `start`.
    fn digit(bytes: &[u8], start: usize, column: usize, k: usize) -> i64 {
        integer(bytes[start + column / 8 * 256 + k / 16 * 128 + column % 8 * 16 + k % 16])
    }

    /// Nibbles of the residues, from 0 on, of all places of a row.
    fn nibbles(row: &[i64; POINTS], modulus: u16) -> [[i64; POINTS]; 2] {
        let residue = row.map(|word| word.rem_euclid(i64::from(modulus)));
        [residue.map(|r| r % 16), residue.map(|r| r / 16)]
    }

    /// What the kernel's two sums of an output come to, for a modulus.
    fn combined(bytes: &[u8], number: usize, column: usize, nibbles: &[[i64; POINTS]; 2]) -> i64 {
        let start = number * ozfft_kernels::RESIDUE_FP8_MODULUS_BYTES;
        let sum = |of: usize| -> i64 {
            let places = (0..2).flat_map(|nibble| (0..POINTS).map(move |k| (nibble, k)));
            places
                .map(|(nibble, k)| {
                    nibbles[nibble][k] * digit(bytes, start + nibble * 2048, column + 32 * of, k)
                })
                .sum()
        };
        16 * sum(0) + sum(1)
    }

    /// The integer that the bands give back from its residues, less multiples of the moduli's product.
    fn put_together(bytes: &[u8], residues: &[i64], product: U256) -> I256 {
        let mut sums = [0i64; RESIDUE_FP8_WEIGHT_COLUMNS];
        for (column, sum) in sums.iter_mut().enumerate() {
            for (number, residue) in residues.iter().enumerate() {
                *sum += residue % 16 * digit(bytes, 0, column, number)
                    + residue / 16 * digit(bytes, 0, column, SLOTS + number);
            }
        }
        let mut integer = I256::ZERO;
        for band in 0..BANDS {
            let (t, i) = (band / 8, band % 8);
            let sum = sums[8 * (i / 2) + 2 * t + i % 2];
            integer += I256::from(sum) << (BAND_BITS * band as u32);
        }
        for t in 0..4 {
            assert_eq!(sums[32 + 2 * t..34 + 2 * t], sums[32..34], "all lanes");
        }
        let times = (32 * sums[33] + sums[32] + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS;
        integer - I256::from(times) * product.as_i256()
    }

    /// Big integers are the referee: a step's sums, from the table's bytes alone.
    #[test]
    fn tables_give_the_residues_of_exact_sums_and_those_the_sums_again() {
        let tables_of_plans = Tables::default();
        let mut state = 91u64;
        for (number, step) in block(1024, &tables_of_plans).steps().iter().enumerate() {
            let words = tables(step, number, DIGITS).unwrap();
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let moduli = Moduli::first(Set::Int8, ozfft_kernels::RESIDUE_COUNTS[number]).unwrap();
            let weights = &bytes[RESIDUE_MODULI.len() * 4096 + 512..];
            assert_eq!(weights.len(), 32 * RESIDUE_FP8_WEIGHT_COLUMNS);
            // Far below what columns of words add up to.
            let row: [i64; POINTS] = random_words(&mut state, POINTS).try_into().unwrap();
            let row = row.map(|word| word >> 8);
            let mut wrong = 0;
            for column in 0..POINTS {
                let terms = (0..POINTS)
                    .map(|k| I256::from(entry(step, DIGITS, column, k)) * I256::from(row[k]));
                let exact: I256 = terms.sum();
                let residues: Vec<i64> = moduli
                    .values()
                    .iter()
                    .enumerate()
                    .map(|(number, &modulus)| {
                        let nibbles = nibbles(&row, modulus);
                        let sum = combined(&bytes, number, column, &nibbles);
                        let mut spoilt = bytes.clone();
                        let place = number * 4096 + column / 8 * 256 + column % 8 * 16;
                        spoilt[place] = e4m3(if integer(bytes[place]) == 1 { 2 } else { 1 });
                        let other = combined(&spoilt, number, column, &nibbles);
                        wrong += usize::from(nibbles[0][0] != 0 && other == sum);
                        sum.rem_euclid(i64::from(modulus))
                    })
                    .collect();
                for (&residue, &modulus) in residues.iter().zip(moduli.values()) {
                    let expected = exact.rem_euclid(I256::from(modulus)).as_i64();
                    assert_eq!(residue, expected, "output {column} modulo {modulus}");
                }
                let again = put_together(weights, &residues, moduli.product());
                assert_eq!(again, exact, "output {column}");
            }
            assert_eq!(wrong, 0, "a digit that is wrong changes its sum");
        }
    }

    #[test]
    fn no_sum_exceeds_what_is_exact_and_larger_ones_are_refused() {
        let tables_of_plans = Tables::default();
        for step in block(1024, &tables_of_plans).steps() {
            for modulus in RESIDUE_MODULI {
                products(step, DIGITS, modulus, &mut Vec::new()).unwrap();
            }
        }
        // Digits of 8 throughout reach 15 · 8 · 64, those of 16 twice that.
        let all = |digit: i64| [[[[digit; 2]; POINTS]; 2]];
        assert_eq!(check(&all(8)).unwrap(), 7680);
        assert_eq!(check(&all(-8)).unwrap(), 7680);
        assert_eq!(check(&all(17)).unwrap(), 16320);
        let error = check(&all(18)).unwrap_err();
        assert!(matches!(
            error,
            FftError::Fp8SumsTooLarge { largest: 17280, .. }
        ));
    }

    #[test]
    fn residues_are_cut_into_digits_of_at_most_eight() {
        for modulus in RESIDUE_MODULI {
            for x in -300i64..300 {
                let [higher, lower] = digits_of(I256::from(x), modulus);
                assert!(higher.abs() <= 8 && lower.abs() <= 8);
                assert_eq!((16 * higher + lower - x) % i64::from(modulus), 0);
            }
        }
        assert_eq!(digits_of(I256::from(200), 255), [-3, -7]);
    }
}
