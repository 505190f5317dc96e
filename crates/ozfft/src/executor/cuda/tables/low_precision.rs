//! Tables of the tuned kernels for words of five or six digits (`crates/ozfft-kernels/cuda/hopper/tuned_few.cuh`).
//!
//! Data digits are biased by 128. The kernels' operands have some constant digits besides, and the matrices numbers that
//! these meet: together they take off what a diagonal is biased by, and add one half of the unit to the last one.

use crate::executor::cuda::tables::common::{matrices, rotations};
use crate::matrix_unit::meeting;
use crate::recipe::Digits;
use crate::stages::digits::DigitMatrix;
use crate::transform::step::Step;
use ozfft_kernels::{TunedShape, few_columns, few_outputs};

/// One half of a word's unit, in units of the last diagonal.
const HALF_UNIT: i64 = 64;

/// Bytes of a product's operand for a column.
const DEPTH: usize = 32;
/// The constant digits of a thread: bytes of `CONSTANT_DIGITS`.
const CONSTANT_DIGITS: [i64; 4] = [255, 255, 255, 1];
/// Threads that share a row of a product, four bytes of each half of it each.
const THREADS: usize = 4;

/// The recipe's digits for words of so many.
fn digits(data: u32) -> Digits {
    Digits {
        data,
        matrix: data - 1,
        diagonals: data,
    }
}

/// The tables of two steps, as the kernel keeps them in shared memory.
pub(crate) fn tables(shape: &TunedShape, first: &Step, last: &Step) -> Vec<u8> {
    let mut image = Vec::new();
    for (step, order) in [(first, Order::Natural), (last, Order::InTurns)] {
        for matrix in matrices(step) {
            operand(matrix, digits(shape.digits), order, &mut image);
        }
    }
    rotations(first, &mut image);
    image
}

/// The output in a column: a thread has columns `2t` and `2t + 1` of every eight.
#[derive(Clone, Copy)]
enum Order {
    Natural,
    /// Outputs `t` and `t + 4`: those of four threads are neighbours.
    InTurns,
}

impl Order {
    fn output(self, column: usize) -> usize {
        match self {
            Order::Natural => column,
            Order::InTurns => column / 8 * 8 + column % 2 * 4 + column % 8 / 2,
        }
    }
}

/// A matrix as the tensor instruction's second operand. For all outputs whose sums are worked out at once: columns for the
/// topmost digits, with constants there or after them, then columns for the lower four digits of every eight of slots, of the
/// last four diagonals alone.
fn operand(matrix: &DigitMatrix, digits: Digits, order: Order, image: &mut Vec<u8>) {
    let data = digits.data as usize;
    let tops = data - 4;
    let slots = matrix.slots;
    let columns = few_columns(data, slots);
    let constants_apart = tops * slots == DEPTH;
    let outputs = few_outputs(data, slots);
    for first in (0..matrix.rows).step_by(outputs) {
        let rows = Rows {
            digits,
            first,
            count: outputs,
            order,
        };
        rows.product(columns, image, |row, diagonal, k| {
            let (half, thread, byte) = (k / 16, k % 16 / 4, k % 4);
            if half == 1 && !constants_apart {
                return constant(matrix, digits, row, diagonal, k % 16);
            }
            let slot = 4 * THREADS / tops * half + thread + 4 * (byte / tops);
            if slot >= slots {
                return 0;
            }
            meeting(matrix, digits, 4, (row, slot), diagonal)[byte % tops] as i8
        });
        if constants_apart {
            rows.product(columns, image, |row, diagonal, k| {
                if k < 16 {
                    0
                } else {
                    constant(matrix, digits, row, diagonal, k - 16)
                }
            });
        }
        for eight in 0..slots / 8 {
            rows.product(4 * outputs, image, |row, diagonal, k| {
                meeting(matrix, digits, 0, (row, 8 * eight + k / 4), diagonal)[k % 4] as i8
            });
        }
    }
}

/// Some rows of a matrix.
struct Rows {
    digits: Digits,
    first: usize,
    count: usize,
    order: Order,
}

impl Rows {
    /// The columns of one product: the last four diagonals come first, each with all outputs. Columns beyond the last are 0.
    fn product(
        &self,
        columns: usize,
        image: &mut Vec<u8>,
        digit: impl Fn(usize, u32, usize) -> i8,
    ) {
        for group in 0..columns / 8 {
            for piece in 0..2 {
                for column in 8 * group..8 * group + 8 {
                    let row = self.order.output(self.first + column % self.count);
                    let diagonal = diagonal_of(self.digits, column / self.count);
                    for k in 16 * piece..16 * piece + 16 {
                        image.push(diagonal.map_or(0, |diagonal| digit(row, diagonal, k)) as u8);
                    }
                }
            }
        }
    }
}

/// The diagonal of a number in the order of columns.
fn diagonal_of(digits: Digits, number: usize) -> Option<u32> {
    let number = number as u32;
    match number {
        0..4 => Some(digits.data - 4 + number),
        _ => Some(number - 4).filter(|&diagonal| diagonal < digits.data - 4),
    }
}

/// What constant digit number `k` of 16 meets.
fn constant(matrix: &DigitMatrix, digits: Digits, row: usize, diagonal: u32, k: usize) -> i8 {
    let met = (0..matrix.slots)
        .flat_map(|slot| [0, 4].map(|byte| meeting(matrix, digits, byte, (row, slot), diagonal)));
    let biased: i64 = 128
        * met
            .flatten()
            .map(|digit| i64::from(digit as i8))
            .sum::<i64>();
    let rounding = if diagonal == digits.data - 1 {
        HALF_UNIT
    } else {
        0
    };
    let wanted = rounding - biased;
    // As many large constants as there are, and one small one for the rest.
    let large = (wanted + 127).div_euclid(255);
    let shares = 3 * THREADS as i64;
    let number = (k / 4 * 3 + k % 4) as i64;
    let share = match (CONSTANT_DIGITS[k % 4], k / 4) {
        (255, _) => (large + number).div_euclid(shares),
        (_, 0) => wanted - 255 * large,
        _ => 0,
    };
    let Ok(share) = i8::try_from(share) else {
        unreachable!("the digits of a row of 16 do not add up to so much")
    };
    share
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cuda::tables::tuned_tables::tests::random_words;
    use crate::matrix_unit::Unit;
    use crate::problem::Products;
    use crate::recipe::factor;
    use crate::recipe::{Fold, LineRecipe};
    use crate::roots::Fixed;
    use crate::transform::bailey::Block;
    use crate::transform::tables::Setting;
    use crate::transform::tables::Tables;

    fn block(n: usize, data: u32, tables: &Tables) -> Block {
        let LineRecipe::Passes(recipes) = factor::line(n) else {
            panic!("{n} is smooth");
        };
        let setting = Setting {
            digits: digits(data),
            products: Products::Truncated,
            unit: Unit::SCALAR,
            residues: None,
            tables,
        };
        Block::new(&recipes[0], &Fixed::one(), setting)
    }

    /// All steps of all shapes, with their digits.
    fn each_step(mut check: impl FnMut(&Step, Digits)) {
        let tables = Tables::default();
        for data in [5, 6] {
            for n in [256, 512, 1024] {
                for step in block(n, data, &tables).steps() {
                    check(step, digits(data));
                }
            }
        }
    }

    /// Entry `k` of a column of a product that begins at `start`.
    fn entry(image: &[u8], start: usize, column: usize, k: usize) -> i64 {
        let place = start + column / 8 * 256 + k / 16 * 128 + column % 8 * 16 + k % 16;
        i64::from(image[place] as i8)
    }

    #[test]
    fn tables_give_the_sums_of_signed_digits_and_one_half() {
        let mut state = 83u64;
        each_step(|step, digits| {
            let data = digits.data as usize;
            let tops = data - 4;
            for matrix in matrices(step) {
                let mut image = Vec::new();
                let order = match step.recipe.fold {
                    Fold::FrequencyShifted => Order::InTurns,
                    _ => Order::Natural,
                };
                operand(matrix, digits, order, &mut image);
                let slots = matrix.slots;
                assert_eq!(
                    image.len(),
                    ozfft_kernels::few_matrix_bytes(data, 2 * slots)
                );
                // Within the range of balanced digits.
                let words: Vec<i64> = random_words(&mut state, slots)
                    .iter()
                    .map(|word| word >> (64 - 8 * data))
                    .collect();
                let biased = |slot: usize| {
                    (words[slot] + crate::stages::digits::bias(data as u32) as i64).to_le_bytes()
                };
                let top_columns = few_columns(data, slots);
                let outputs = few_outputs(data, slots);
                let part_bytes = image.len() / (slots / outputs);
                for place in 0..slots {
                    let row = order.output(place);
                    let planes = matrix.row(row, digits);
                    for number in 0..data {
                        let diagonal = diagonal_of(digits, number).unwrap() as usize;
                        let mut expected = if diagonal + 1 == data { HALF_UNIT } else { 0 };
                        for (slot, &word) in words.iter().enumerate() {
                            let biased = (word as u64)
                                .wrapping_add(crate::stages::digits::bias(data as u32));
                            for t in 0..=diagonal.min(data - 1) {
                                let i = diagonal - t;
                                if i < data - 1 {
                                    let digit =
                                        crate::stages::digits::digit(biased, data as u32, t as u32);
                                    let entry = planes[(data - 2 - i) * slots + slot];
                                    expected += i64::from(digit) * i64::from(entry);
                                }
                            }
                        }
                        // As the kernel's operands have them: four threads with their topmost digits and constants.
                        let column = number * outputs + place % outputs;
                        let part = &image[place / outputs * part_bytes..];
                        let mut sum = 0;
                        let apart = tops * slots == 32;
                        for k in 0..32 {
                            let (half, t, byte) = (k / 16, k % 16 / 4, k % 4);
                            let of_slots = match (tops, slots) {
                                (1, 16) => vec![t, t + 4, t + 8, t + 12],
                                (1, _) => vec![t, t + 4],
                                (_, 16) if half == 0 => vec![t, t, t + 4, t + 4],
                                (_, 16) => vec![t + 8, t + 8, t + 12, t + 12],
                                _ => vec![t, t, t + 4, t + 4],
                            };
                            let digit = if half == 1 && !apart {
                                CONSTANT_DIGITS[byte]
                            } else {
                                let slot = of_slots.get(byte);
                                slot.map_or(0, |&slot| i64::from(biased(slot)[4 + byte % tops]))
                            };
                            sum += digit * entry(part, 0, column, k);
                            if apart && half == 1 {
                                sum += CONSTANT_DIGITS[byte]
                                    * entry(part, 32 * top_columns, column, k);
                            }
                        }
                        let start = 32 * top_columns * if apart { 2 } else { 1 };
                        if number < 4 {
                            for slot in 0..slots {
                                for byte in 0..4 {
                                    let start = start + slot / 8 * 32 * 4 * outputs;
                                    let k = 4 * (slot % 8) + byte;
                                    sum += i64::from(biased(slot)[byte])
                                        * entry(part, start, column, k);
                                }
                            }
                        }
                        assert_eq!(
                            sum, expected,
                            "{data} digits, {slots} slots, row {row}, diagonal {diagonal}"
                        );
                    }
                }
            }
        });
    }

    /// What the kernels keep in 32 bits. Sums of cosines and sines go into one low piece, which stays within 2^30.
    #[test]
    fn pieces_fit_their_registers() {
        each_step(|step, digits| {
            let [cosine, sine] = matrices(step);
            for row in 0..cosine.rows {
                // The largest magnitude of a diagonal of signed digits, over all data.
                let most = |matrix: &DigitMatrix, diagonal: u32| -> i64 {
                    let met = (0..matrix.slots).flat_map(|slot| {
                        [0, 4].map(|byte| meeting(matrix, digits, byte, (row, slot), diagonal))
                    });
                    let digits = met.flatten().map(|digit| i64::from(digit as i8));
                    digits.map(|digit| 128 * digit.abs()).sum()
                };
                let both = |diagonal: u32| most(cosine, diagonal) + most(sine, diagonal);
                let last = digits.data - 1;
                let low = both(last) / 128 + 2 + 2 * both(last - 1) + 512 * both(last - 2);
                let high = both(last - 3) + 256 * both(last - 4);
                assert!(low < 1 << 30 && high < (1 << 31) - (1 << 14));
            }
        });
    }
}
