//! No integer overflows, whatever the input: the claim of `docs/numerics.md`, section 5, checked by interval arithmetic
//! over the digits and the steps that a plan has. Debug builds check every plan when it is made.

use crate::recipe::{BlockRecipe, Digits, Fold, Products, StepRecipe};
use crate::simd::LOW_BITS;
use crate::stages::digits::DigitMatrix;
use crate::stages::reconstruct::UNIT_BITS;
use crate::stages::step_matrices::StepMatrices;
use crate::transform::packed_elements::sums_fit_words;
use crate::transform::tables::Tables;

/// Largest magnitude of a balanced digit.
const LARGEST_DIGIT: i64 = 128;
/// A product comes out as 127/128 of a power of two.
const PRODUCT: f64 = 127.0 / 128.0;
/// Roundings of the computation of these limits itself, outwards.
const OUTWARD: f64 = 1.0 + 1e-12;

/// Where an integer could leave its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Overflow {
    /// A pair of diagonals, with all that is added to it, leaves 32 bits.
    Pair { largest: i64 },
    /// Folded words that enter step `step` need more than their digits hold.
    Folded {
        step: usize,
        largest: f64,
        room: f64,
    },
    /// Words that are rotated after step `step` are above 2^62.
    Rotated { step: usize, largest: f64 },
    /// Outputs leave what wide integers are narrowed from: 62 bits and the lower part.
    Wide { largest: f64 },
    /// Outputs of a trivial last step leave 64 bits.
    Sums { largest: f64 },
}

/// Largest magnitude of any pair of neighbouring diagonals, `256·upper + lower`, that data of any digits can give.
fn largest_pair(matrix: &DigitMatrix, digits: Digits) -> i64 {
    let count = digits.matrix as usize;
    let diagonals = |row: usize| -> Vec<i64> {
        // Planes run from the least significant digit on.
        let planes = matrix.row(row, digits).chunks(matrix.slots.max(1)).rev();
        let sums: Vec<i64> = planes
            .map(|plane| {
                let magnitudes = plane.iter().map(|&digit| i64::from(digit).abs());
                magnitudes.sum::<i64>() * LARGEST_DIGIT
            })
            .collect();
        (0..digits.diagonals as usize)
            .map(|d| {
                let meets = (0..count).filter(|&i| i <= d && d - i < digits.data as usize);
                meets.map(|i| sums[i]).sum()
            })
            .collect()
    };
    let rows = (0..matrix.rows).flat_map(|row| {
        let diagonals = diagonals(row);
        let at = move |d: Option<usize>| d.map_or(0, |d| diagonals[d]);
        (0..digits.pairs()).map(move |pair| {
            let (upper, lower) = digits.pair(pair);
            256 * at(upper) + at(lower)
        })
    });
    rows.max().unwrap_or(0)
}

/// Whether every pair that a step forms fits 32 bits, with its rounding and the carry of the pair below; of exact products
/// two pairs are added first.
pub(crate) fn pairs_fit(
    matrices: &StepMatrices,
    digits: Digits,
    products: Products,
    shift: u32,
) -> Result<(), Overflow> {
    let cosine = largest_pair(&matrices.cosine, digits);
    let sine = largest_pair(&matrices.sine, digits);
    let sum = match products {
        Products::Truncated => cosine.max(sine),
        Products::Exact => cosine + sine,
    };
    let largest = sum + (1 << (UNIT_BITS + shift - 1)) + (1 << 15);
    if largest <= i64::from(i32::MAX) {
        Ok(())
    } else {
        Err(Overflow::Pair { largest })
    }
}

/// The range of `digits.data` balanced digits, in both directions.
fn room_of_digits(digits: Digits) -> f64 {
    127.0 / 255.0 * (f64::from(8 * digits.data).exp2() - 1.0)
}

/// The largest effect of dropped diagonals on an output, in words: it is made of two sums.
fn dropped(matrices: &StepMatrices, digits: Digits) -> f64 {
    let first = digits.diagonals + 1 - digits.data;
    let one = digits.matrix_one() as f64;
    let of = |matrix: &DigitMatrix| {
        let row_sum = |row: usize| -> f64 {
            let planes = matrix.row(row, digits).chunks(matrix.slots.max(1)).rev();
            planes
                .enumerate()
                .skip(first as usize)
                .map(|(i, plane)| {
                    let magnitudes = plane.iter().map(|&digit| f64::from(digit).abs());
                    let missing = f64::from(8 * (i as u32 + 1 - first)).exp2() * 128.0 / 255.0;
                    let weight = f64::from(8 * (digits.matrix - 1 - i as u32)).exp2();
                    magnitudes.sum::<f64>() * missing * weight / one
                })
                .sum()
        };
        (0..matrix.rows).map(row_sum).fold(0.0, f64::max)
    };
    of(&matrices.cosine) + of(&matrices.sine)
}

/// The largest modulus of an output of a step, for columns whose components' magnitudes add up to `sum`.
fn step_output(
    step: &StepRecipe,
    matrices: Option<&StepMatrices>,
    digits: Digits,
    sum: f64,
) -> f64 {
    let shift = f64::from(step.shift).exp2();
    let Some(matrices) = matrices else {
        let rounding = if step.shift > 0 { 2f64.sqrt() } else { 0.0 };
        return sum / shift + rounding;
    };
    // Entries are off by half a unit, in cosine and sine; two sums are rounded to a unit at most together.
    let entries = sum * 2f64.sqrt() / (2.0 * digits.matrix_one() as f64);
    ((sum + entries) * PRODUCT + 2f64.sqrt() * dropped(matrices, digits) * PRODUCT) / shift
        + 2f64.sqrt()
}

/// Whether words stay in their places from quantising to the outputs of a block, with `scale` the norm's mantissa in the
/// first rotation. Returns the largest modulus of an output of the first step, over 2^B.
pub(crate) fn words_fit(
    block: &BlockRecipe,
    digits: Digits,
    scale: f64,
    tables: &Tables,
) -> Result<f64, Overflow> {
    let last = block.steps.len() - 1;
    let products = block.steps.iter().filter(|step| step.fold != Fold::Trivial);
    let modulus = scale * PRODUCT.powi(-(products.count() as i32));
    let room = room_of_digits(digits);
    let word = f64::from(digits.word_bits()).exp2();
    // A column sum is an integer of at most 29 bits that is below a power of two, hence below it by one. Half a unit of rounding
    // in each of two components of every element.
    let mut sum = word * (1.0 - f64::from(-29).exp2()) + block.steps[0].n as f64;
    let mut largest = sum;
    let mut first_output = 0.0;
    for (i, step) in block.steps.iter().enumerate() {
        if i > 0 {
            // Components are at most the modulus; a column has twice as many as it has elements, but sums of rotated
            // elements are bounded by their moduli.
            sum = largest * step.n as f64;
        }
        // Folding adds two elements; those of the first step belong to one column's sum.
        let folded = if i == 0 { sum } else { 2.0 * largest };
        if step.fold != Fold::Trivial && folded * OUTWARD > room {
            return Err(Overflow::Folded {
                step: i,
                largest: folded,
                room,
            });
        }
        let matrices = tables.matrices(step, digits);
        let output = step_output(step, matrices.as_deref(), digits, sum) * OUTWARD;
        if i == 0 {
            first_output = output / word;
        }
        if i == last && last > 0 {
            largest = output;
            let trivial = step.fold == Fold::Trivial;
            if trivial && sums_fit_words(digits) && output >= f64::from(63).exp2() {
                return Err(Overflow::Sums { largest });
            }
            break;
        }
        if output > f64::from(62).exp2() {
            return Err(Overflow::Rotated {
                step: i,
                largest: output,
            });
        }
        // A rotation adds 2 units of low products and half a unit of rounding in each part.
        largest = output * if i == 0 { modulus.max(1.0) } else { 1.0 } + 2.0 + 0.5f64.sqrt();
    }
    if largest * OUTWARD > f64::from(62 + LOW_BITS).exp2() {
        return Err(Overflow::Wide { largest });
    }
    Ok(first_output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::LineRecipe;
    use crate::recipe::factor;
    use std::sync::Arc;

    const ALL_DIGITS: std::ops::RangeInclusive<u32> = 2..=8;

    /// Every recipe that the planner could choose: up to as many matrix digits as data digits.
    fn recipes() -> impl Iterator<Item = (Digits, Products)> {
        ALL_DIGITS.flat_map(|data| {
            (1..=data.min(7)).flat_map(move |matrix| {
                let exact = Digits {
                    data,
                    matrix,
                    diagonals: data + matrix - 1,
                };
                let truncated = (data..=exact.diagonals).map(move |diagonals| {
                    let digits = Digits { diagonals, ..exact };
                    (digits, Products::Truncated)
                });
                truncated.chain([(exact, Products::Exact)])
            })
        })
    }

    #[test]
    fn every_pair_of_every_step_fits_32_bits() {
        let tables = Tables::default();
        let mut largest = 0;
        for n in (3..=64).filter(|&n| n != 4) {
            let mut blocks = vec![BlockRecipe::from_sizes(&[n])];
            if n % 2 == 0 {
                blocks.push(BlockRecipe::from_sizes(&[n, n]));
            }
            for block in blocks {
                let step = block.steps[block.steps.len() - 1];
                for (digits, products) in recipes() {
                    let matrices = tables.matrices(&step, digits).expect("a matrix step");
                    assert_eq!(
                        pairs_fit(&matrices, digits, products, 6),
                        Ok(()),
                        "{step} {digits:?}"
                    );
                    largest = largest.max(largest_pair(&matrices.cosine, digits));
                }
                tables.clear();
            }
        }
        println!("largest pair: 2^{:.3}", (largest as f64).log2());
    }

    #[test]
    fn words_of_every_block_stay_in_their_places() {
        let tables = Tables::default();
        let mut first: [f64; 9] = [0.0; 9];
        for n in (2..=64).chain([96, 125, 128, 250, 343, 512, 720, 729, 1000, 1023, 1024]) {
            let LineRecipe::Passes(blocks) = factor::line(n) else {
                continue;
            };
            for (digits, _) in recipes() {
                for scale in [0.5, std::f64::consts::FRAC_1_SQRT_2, 1.0] {
                    for block in &blocks {
                        let found = words_fit(block, digits, scale, &tables);
                        let output = found.unwrap_or_else(|e| panic!("{block} {digits:?}: {e:?}"));
                        let place = &mut first[digits.data as usize];
                        *place = place.max(output);
                    }
                }
            }
            tables.clear();
        }
        println!("largest output of a first step over 2^B, by digits: {first:?}");
        // What docs/numerics.md, section 5, says; unit steps add up and have no 127/128.
        assert!(first[2] < 1.006, "{first:?}");
        assert!(
            first[3..].iter().all(|&output| output < 1.000_01),
            "{first:?}"
        );
    }

    #[test]
    fn a_matrix_that_is_too_large_is_caught() {
        let digits = Digits::DOUBLE;
        let matrix = |slots: usize| {
            let row = vec![digits.matrix_one() as i64 - 0x0080_8080_8080; slots];
            Arc::new(DigitMatrix::new(1, slots, &row, digits))
        };
        let matrices = |slots: usize| StepMatrices {
            cosine: matrix(slots),
            sine: matrix(slots),
        };
        let fit = |slots| pairs_fit(&matrices(slots), digits, Products::Truncated, 0);
        assert_eq!(fit(33), Ok(()));
        assert!(matches!(fit(200), Err(Overflow::Pair { .. })));
        // Of exact products two sums are added.
        let exact = pairs_fit(&matrices(80), digits.exact(), Products::Exact, 0);
        assert!(matches!(exact, Err(Overflow::Pair { .. })));
    }

    #[test]
    fn a_step_that_lacks_its_shift_is_caught() {
        let tables = Tables::default();
        let mut block = BlockRecipe::from_sizes(&[16, 8, 8]);
        assert!(words_fit(&block, Digits::DOUBLE, 1.0, &tables).is_ok());
        block.steps[1].shift = 0;
        let found = words_fit(&block, Digits::DOUBLE, 1.0, &tables);
        assert!(
            matches!(found, Err(Overflow::Rotated { step: 1, .. })),
            "{found:?}"
        );
        // A scale above what tables may have makes words too large for their digits.
        let block = BlockRecipe::from_sizes(&[16, 16]);
        let found = words_fit(&block, Digits::DOUBLE, 4.0, &tables);
        assert!(
            matches!(found, Err(Overflow::Folded { step: 1, .. })),
            "{found:?}"
        );
    }
}
