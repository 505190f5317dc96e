//! Products in fp8 for the tuned kernels (`crates/ozfft-kernels/cuda/hopper/tuned_fp8.cuh`) and for the template (`bailey_fp8.cuh`, whose
//! matrices are in `bailey_tables.rs`): matrices, and the proof that no sum exceeds what the tensor instruction keeps exact. (`exactness.rs`
//! asks the device whether it does.)
//!
//! Data digits are biased to bytes and cut into nibbles 0 to 15; a matrix digit is `16·upper + lower` with `upper` in -8..=8
//! and `lower` in -8..=7. With the diagonal `d` a product of two nibbles belongs to one of 17 classes of weights `16^(16-j)`:
//! upper with upper `2d`, mixed `2d+1`, lower with lower `2d+2`.

use crate::error::FftError;
use crate::executor::cuda::tables::common::Biased;
use crate::recipe::Digits;
use crate::stages::digits::DigitMatrix;
use ozfft_kernels::FP8_EXACT;

/// Classes of nibble products, and the columns of a matrix: those of the topmost data digits' upper nibbles.
const CLASSES: usize = 17;
const COLUMNS: usize = 16;
/// A data nibble's largest value.
const LARGEST_NIBBLE: i64 = 15;
/// The bits of 1.5·2^23: a float with an integer below 2^22 added to it has the bits of the sum.
const MAGIC_BITS: i64 = 0x4b40_0000;
const MAGIC_ROOM: i64 = 1 << 22;

/// How a kernel puts classes together.
pub(crate) struct Sums {
    /// The first over 128; of the last what is kept apart in a last step.
    chains: &'static [Chain],
}

/// Classes that are added up in f32, in this order, with these weights, on top of 1.5·2^23.
struct Chain {
    classes: &'static [(usize, i64)],
    /// Its weight in the rounded sum: 2 to this power.
    place: u32,
    /// What 1.5·2^23 leaves in the bits of the sum, at that weight.
    magic: i64,
}

/// Of the tuned kernels.
pub(crate) const TUNED: Sums = Sums {
    chains: &[
        chain(&[(16, 1), (15, 16), (14, 256), (13, 4096), (12, 65536)], 0),
        chain(&[(11, 1), (10, 16), (9, 256)], 13),
        chain(&[(7, 16), (6, 256), (8, 1)], 25),
        chain(&[(5, 1), (4, 16), (3, 256)], 37),
        chain(&[(2, 1), (1, 16), (0, 256)], 49),
    ],
};

/// Of the template, whose steps are longer.
pub(crate) const TEMPLATE: Sums = Sums {
    chains: &[
        chain(&[(16, 1), (15, 16), (14, 256), (13, 4096)], 0),
        // Added to the lowest word modulo 2^32: 512 times the constant leaves 2^31 there.
        Chain {
            classes: &[(12, 1), (11, 16)],
            place: 9,
            magic: 1 << (31 - 9),
        },
        chain(&[(10, 1), (9, 16)], 17),
        chain(&[(8, 1), (7, 16), (6, 256)], 25),
        chain(&[(5, 1), (4, 16), (3, 256)], 37),
        chain(&[(2, 1), (1, 16), (0, 256)], 49),
    ],
};

const fn chain(classes: &'static [(usize, i64)], place: u32) -> Chain {
    Chain {
        classes,
        place,
        magic: MAGIC_BITS,
    }
}

/// Upper and lower part of a matrix digit.
pub(crate) fn nibbles(digit: i8) -> [i64; 2] {
    let upper = (i64::from(digit) + 8) >> 4;
    [upper, i64::from(digit) - 16 * upper]
}

/// The e4m3 number of a small integer.
pub(crate) fn e4m3(value: i64) -> u8 {
    let magnitude = value.unsigned_abs();
    let code = match magnitude.checked_ilog2() {
        None => 0,
        Some(exponent) => ((exponent + 7) << 3) as u8 | ((magnitude << 3 >> exponent) & 7) as u8,
    };
    if value < 0 { code | 0x80 } else { code }
}

/// Matrix digit `i` (0 is the most significant) of an entry, if there is one.
fn matrix_digit(matrix: &DigitMatrix, (row, slot): (usize, usize), i: Option<usize>) -> i8 {
    let count = Digits::DOUBLE.matrix as usize;
    let planes = matrix.row(row, Digits::DOUBLE);
    i.filter(|&i| i < count)
        .map_or(0, |i| planes[(count - 1 - i) * matrix.slots + slot])
}

/// Data digits that one product takes of every slot.
fn digits_at_once(matrix: &DigitMatrix) -> usize {
    32 / matrix.slots
}

/// Byte `k` of a product's 32: which slot's, and which of the digits.
fn slot_and_digit(slots: usize, k: usize) -> (usize, usize) {
    let (piece, thread, byte) = (k / 16, k % 16 / 4, k % 4);
    if slots == 16 {
        (8 * piece + thread + 4 * (byte / 2), 1 - byte % 2)
    } else {
        (4 * piece + thread, 3 - byte)
    }
}

/// The columns of a matrix in the order in which they lie in memory; none is a column of zeros.
fn columns(digits_at_once: usize) -> impl Iterator<Item = Option<usize>> {
    let whole = (0..COLUMNS).rev().map(Some);
    let groups = 1..8 / digits_at_once;
    let repeated = groups.flat_map(move |group| {
        // Upper nibbles of these digits, from class 15 down to 8.
        let last = COLUMNS - 2 * digits_at_once * group;
        std::iter::once(None).chain((last.saturating_sub(8)..last).rev().map(Some))
    });
    std::iter::once(None).chain(whole).chain(repeated)
}

/// A matrix as the tensor instruction's second operand: for every eight of outputs its columns, one after the other, each of
/// 8 outputs × 32 bytes, K-major.
pub(crate) fn operand(matrix: &DigitMatrix, image: &mut Vec<u8>) -> Result<(), FftError> {
    check(&TUNED, matrix)?;
    for tile in 0..matrix.rows / 8 {
        for column in columns(digits_at_once(matrix)) {
            for piece in 0..2 {
                for output in 0..8 {
                    for k in 16 * piece..16 * piece + 16 {
                        let (slot, digit) = slot_and_digit(matrix.slots, k);
                        let code = column.map_or(0, |column| {
                            let i = (column / 2).checked_sub(digit);
                            let place = (8 * tile + output, slot);
                            e4m3(nibbles(matrix_digit(matrix, place, i))[column % 2])
                        });
                        image.push(code);
                    }
                }
            }
        }
    }
    Ok(())
}

/// What every data nibble of a row is multiplied with: `visit` is given the nibble's place, its class with a matrix nibble, and
/// that.
fn each_product(matrix: &DigitMatrix, row: usize, mut visit: impl FnMut(usize, usize, i64)) {
    for slot in 0..matrix.slots {
        for t in 0..8 {
            for i in 0..8 - t {
                let digit = nibbles(matrix_digit(matrix, (row, slot), Some(i)));
                for (data, matrix) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let nibble = (8 * slot + t) * 2 + data;
                    visit(nibble, 2 * (t + i) + data + matrix, digit[matrix]);
                }
            }
        }
    }
}

/// The largest magnitude of any sum of products on the way to a class's, and of any sum in a chain, over all data.
fn largest_sums(sums: &Sums, matrix: &DigitMatrix, row: usize) -> (i64, i64) {
    let mut classes = [[0i64; 2]; CLASSES];
    each_product(matrix, row, |_, class, factor| {
        classes[class][usize::from(factor > 0)] += LARGEST_NIBBLE * factor.abs();
    });
    let largest = classes.iter().flatten().copied().max().unwrap_or(0);
    let mut largest_chained = 0;
    for (number, chain) in sums.chains.iter().enumerate() {
        for length in 1..=chain.classes.len() {
            // A nibble has one factor in the sum of several classes.
            let mut factors = vec![0i64; 16 * matrix.slots];
            each_product(matrix, row, |nibble, class, factor| {
                let mut added = chain.classes[..length].iter();
                let weight = added.find(|entry| entry.0 == class);
                factors[nibble] += weight.map_or(0, |entry| entry.1) * factor;
            });
            let of_sign = |sign: i64| {
                let sum: i64 = factors.iter().map(|&f| (sign * f).max(0)).sum();
                let sum = LARGEST_NIBBLE * sum;
                // Half a unit is added before rounding, and rounding may be away from zero.
                if number == 0 { sum / 128 + 2 } else { sum }
            };
            largest_chained = largest_chained.max(of_sign(1)).max(of_sign(-1));
        }
    }
    (largest, largest_chained)
}

/// That all sums of a matrix are exact, whatever it is multiplied with; their largest.
pub(crate) fn check(sums: &Sums, matrix: &DigitMatrix) -> Result<i64, FftError> {
    let mut all = 0;
    for row in 0..matrix.rows {
        let (largest, chained) = largest_sums(sums, matrix, row);
        if largest > FP8_EXACT || chained > MAGIC_ROOM {
            return Err(FftError::Fp8SumsTooLarge {
                largest,
                exact: FP8_EXACT,
                combined: chained,
                combined_exact: MAGIC_ROOM,
            });
        }
        all = all.max(largest);
    }
    Ok(all)
}

/// What an output's sums are biased by: upper data nibbles by 8, because digits are by 128; and the magic number of every
/// chain. `whole`: the topmost three classes are part of the sum. `row`: none is one of zeros.
pub(crate) fn biased(sums: &Sums, matrix: &DigitMatrix, row: Option<usize>, whole: bool) -> Biased {
    let mut classes = [0i64; CLASSES];
    if let Some(row) = row {
        each_product(matrix, row, |nibble, class, factor| {
            if nibble % 2 == 0 {
                classes[class] += 8 * factor;
            }
        });
    }
    let mut biased = Biased::NOTHING;
    let last = sums.chains.len() - 1;
    for (number, chain) in sums.chains.iter().enumerate() {
        let weighted = chain.classes.iter();
        let mut sum: i64 = weighted
            .map(|&(class, weight)| weight * classes[class])
            .sum();
        if number == 0 {
            // Class 15 is biased by multiples of 8: whole units, which rounding leaves as they are.
            debug_assert!(sum % 128 == 0);
            sum /= 128;
        }
        sum += chain.magic;
        if number == last {
            biased.top = sum;
        }
        if number < last || whole {
            biased.sum = biased.sum.wrapping_add(sum.wrapping_shl(chain.place));
        }
    }
    biased
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::executor::cuda::tables::common::matrices;
    use crate::executor::cuda::tables::tuned_tables::tables;
    use crate::executor::cuda::tables::tuned_tables::tests::{
        Constants, block, diagonals, random_words, rounded, shape,
    };
    use crate::transform::step::Step;
    use crate::transform::tables::Tables;
    use ozfft_kernels::{Product, tuned_matrix_bytes};

    /// What an e4m3 code stands for.
    pub(crate) fn value(code: u8) -> f32 {
        let (exponent, fraction) = (i32::from(code >> 3 & 15), f32::from(code & 7));
        let magnitude = match exponent {
            0 => fraction * 2f32.powi(-9),
            _ => (8.0 + fraction) * 2f32.powi(exponent - 10),
        };
        if code & 0x80 != 0 {
            -magnitude
        } else {
            magnitude
        }
    }

    #[test]
    fn small_integers_are_e4m3_numbers() {
        for digit in i8::MIN..=i8::MAX {
            let [upper, lower] = nibbles(digit);
            assert_eq!(16 * upper + lower, i64::from(digit));
            assert!((-8..=8).contains(&upper) && (-8..=7).contains(&lower));
        }
        for integer in -16..=16 {
            assert_eq!(value(e4m3(integer)), integer as f32);
        }
        assert_eq!(
            [1, 2, 3, 5, 8, -7].map(e4m3),
            [0x38, 0x40, 0x44, 0x4a, 0x50, 0xce]
        );
        for nibble in 0..16u8 {
            assert_eq!(value(nibble), f32::from(nibble) / 512.0);
        }
    }

    #[test]
    fn no_sum_of_any_shape_exceeds_what_is_exact() {
        let tables_of_plans = Tables::default();
        for n in [256, 512, 1024] {
            for step in block(n, &tables_of_plans).steps() {
                for matrix in matrices(step) {
                    let largest = check(&TUNED, matrix).unwrap();
                    println!("{n}: step of {}, largest sum {largest}", step.recipe.n);
                    assert!(largest > 2000 && largest < 8192);
                }
            }
        }
    }

    #[test]
    fn matrices_with_larger_sums_are_refused() {
        // All digits of one sign: twice what fits.
        let digit = 0x77;
        let entry = (0..6).fold(0i64, |x, _| 256 * x + digit);
        let matrix = DigitMatrix::new(8, 16, &[entry; 8 * 16], Digits::DOUBLE);
        for sums in [&TUNED, &TEMPLATE] {
            let error = check(sums, &matrix).unwrap_err();
            assert!(
                matches!(error, FftError::Fp8SumsTooLarge { largest, .. } if largest > FP8_EXACT)
            );
        }
        let mut image = Vec::new();
        assert!(operand(&matrix, &mut image).is_err());
    }

    /// The classes of a row, as the tensor instruction sums them up: nibbles of several digits at a time, columns from the
    /// image.
    fn classes(image: &[u8], slots: usize, row: usize, words: &[i64]) -> [f32; CLASSES] {
        let at_once = 32 / slots;
        let blocks: Vec<_> = columns(at_once).collect();
        let part = &image[row / 8 * blocks.len() * 256..];
        let mut sums = [0f32; CLASSES];
        for group in 0..8 / at_once {
            for lower in 0..2 {
                let first = 2 * at_once * group + lower;
                // Classes 7 to 0 and 16 to 8, and where the columns of the first one lie.
                let upper_half = (7, 8usize.saturating_sub(first), 9 + first);
                let last_block = match (lower, group) {
                    (1, _) => first,
                    (_, 0) => 0,
                    _ => 17 + 9 * (group - 1),
                };
                let lower_half = (16, (16 + 1 - first).min(9), last_block);
                for (class, count, block) in [upper_half, lower_half] {
                    for number in 0..count {
                        for k in 0..32 {
                            let (slot, digit) = slot_and_digit(slots, k);
                            let bytes = (words[slot] as u64)
                                .wrapping_add(crate::stages::digits::bias(8))
                                .to_be_bytes();
                            let byte = bytes[at_once * group + digit];
                            let data = if lower == 0 { byte >> 4 } else { byte & 15 };
                            let place = (block + number) * 256 + (k / 16) * 128 + row % 8 * 16;
                            sums[class - number] += value(data) * value(part[place + k % 16]);
                        }
                    }
                }
            }
        }
        sums
    }

    /// `Fp8::rounded` and `Fp8::top` of the kernels.
    fn put_together(classes: &[f32; CLASSES], whole: bool) -> (i64, i32) {
        let magic = 12_582_912f32;
        let chain = |number: usize, start: f32| {
            let added = TUNED.chains[number].classes.iter();
            added.fold(start, |sum, &(class, weight)| {
                classes[class].mul_add(512.0 * weight as f32, sum)
            })
        };
        let halves = classes[15].mul_add(64.0, classes[16].mul_add(4.0, 0.5));
        let low = [(14, 2.0), (13, 32.0), (12, 512.0)]
            .iter()
            .fold(halves.floor() + magic, |sum, &(class, weight)| {
                classes[class].mul_add(512.0 * weight, sum)
            });
        let bits = [
            low,
            chain(1, magic),
            chain(2, magic),
            chain(3, magic),
            chain(4, magic),
        ];
        let [low, lower, upper, high, top] = bits.map(|x| i64::from(x.to_bits()));
        let sum = low
            .wrapping_add(lower << 13)
            .wrapping_add(upper.wrapping_shl(25))
            .wrapping_add(high.wrapping_shl(37))
            .wrapping_add(if whole { top.wrapping_shl(49) } else { 0 });
        (sum, top as i32)
    }

    #[test]
    fn tables_give_the_rounded_sums_of_signed_digits() {
        let tables_of_plans = Tables::default();
        let mut state = 78u64;
        for n in [256, 512, 1024] {
            let block = block(n, &tables_of_plans);
            let image = tables(shape(Product::Fp8, &block), &block).unwrap();
            let [first, last] = block.steps() else {
                panic!("two steps")
            };
            let matrix_len = |step: &Step| tuned_matrix_bytes(Product::Fp8, step.recipe.n);
            let first_constants = 2 * (matrix_len(first) + matrix_len(last));
            let last_constants = first_constants + 8 * first.recipe.n + 128;
            let last_tops = last_constants + 8 * last.recipe.n;
            for (step, matrix, sums, tops) in [
                (first, 0, first_constants, None),
                (last, 2 * matrix_len(first), last_constants, Some(last_tops)),
            ] {
                let slots = step.recipe.n / 2;
                let words = random_words(&mut state, slots);
                let constants = Constants {
                    image: &image,
                    sums,
                    tops,
                };
                for row in 0..slots {
                    let found = [0, 1].map(|part| {
                        let operand = &image[matrix + part * matrix_len(step)..];
                        put_together(&classes(operand, slots, row, &words), tops.is_none())
                    });
                    let exact = matrices(step).map(|m| rounded(diagonals(m, row, &words)));
                    constants.check(row, found, exact);
                }
            }
        }
    }
}
