//! Tables of the tuned kernels for blocks of two steps: matrices as the tensor instruction wants them, and what takes off the
//! constants that biased digits add to sums (those for products in fp8 are in `fp8.rs`, for other lengths in `mixed_radix.rs`, for
//! few digits in `low_precision.rs`).

use crate::error::FftError;
use crate::executor::cuda::tables::fp8;
use crate::executor::cuda::tables::low_precision;
use crate::executor::cuda::tables::mixed_radix;
use crate::matrix_unit::meeting;
use crate::recipe::Digits;
use crate::stages::digits::DigitMatrix;
use crate::transform::bailey::Block;
use crate::transform::step::Step;
use ozfft_kernels::{Elements, Product, TunedShape, TunedSource};

/// What the topmost diagonals that are kept apart are biased by, so that those of numbers that fit 64 bits are not negative.
const TOP_BIAS: i64 = 8192;
/// The weight of the topmost diagonal, in units of the rounded sum: 2^49.
const TOP_WEIGHT: u32 = 49;

/// The tables of a block, as the kernel keeps them in shared memory.
pub(crate) fn tables(shape: &TunedShape, block: &Block) -> Result<Vec<u8>, FftError> {
    let [first, last] = block.steps() else {
        unreachable!("tuned blocks have two steps");
    };
    match shape.source {
        TunedSource::Block | TunedSource::RealToComplex | TunedSource::ComplexToReal => {}
        TunedSource::Mixed => return Ok(mixed_radix::tables(first, last)),
        TunedSource::Single | TunedSource::Few => {
            return Ok(low_precision::tables(shape, first, last));
        }
    }
    let product = shape.product;
    let mut image = Vec::new();
    for step in [first, last] {
        for matrix in matrices(step) {
            match product {
                Product::Int8 => operand(matrix, &mut image),
                Product::Fp8 => fp8::operand(matrix, &mut image)?,
            }
        }
    }
    match shape.elements {
        Elements::Complex | Elements::ComplexToReal => {
            constants(product, first, true, &mut image);
        }
        Elements::RealToComplex => real_constants(first, &mut image),
    }
    constants(product, last, false, &mut image);
    rotations(first, &mut image);
    Ok(image)
}

pub(crate) fn rotations(first: &Step, image: &mut Vec<u8>) {
    for rotation in &first.rotations {
        let (re, im) = (rotation.real, rotation.imaginary);
        image.extend_from_slice(bytemuck::cast_slice(&[re.0, re.1, im.0, im.1]));
    }
}

pub(crate) fn matrices(step: &Step) -> [&DigitMatrix; 2] {
    let Some(matrices) = &step.matrices else {
        unreachable!("tuned steps are products");
    };
    [matrices.cosine.digits(), matrices.sine.digits()]
}

/// The digits of a matrix that the four lower (`half` 0) or upper digits of a data word meet on a diagonal.
pub(crate) fn met(
    matrix: &DigitMatrix,
    half: u32,
    place: (usize, usize),
    diagonal: u32,
) -> [u8; 4] {
    meeting(matrix, Digits::DOUBLE, 4 * half, place, diagonal)
}

/// The same for words of any digits, which are the topmost of eight: what is below the last one meets zeros.
pub(crate) fn met_by(
    matrix: &DigitMatrix,
    digits: Digits,
    half: u32,
    place: (usize, usize),
    diagonal: u32,
) -> [u8; 4] {
    let missing = (8 - digits.data).saturating_sub(4 * half);
    let first_byte = (digits.data + 4 * half).saturating_sub(8);
    let all = meeting(matrix, digits, first_byte, place, diagonal);
    std::array::from_fn(|byte| match byte.checked_sub(missing as usize) {
        Some(byte) => all[byte],
        None => 0,
    })
}

/// A matrix as the tensor instruction's second operand: for every eight of outputs three parts (diagonals 0 to 3, then 4
/// to 7, both with the upper digits; 4 to 7 with the lower ones), each for every eight of slots a piece of 4 diagonals ×
/// 8 outputs, K-major.
pub(crate) fn operand(matrix: &DigitMatrix, image: &mut Vec<u8>) {
    let k_tiles = matrix.rows / 8;
    for tile in 0..k_tiles {
        for (first_diagonal, half) in [(0, 1), (4, 1), (4, 0)] {
            for eight in 0..k_tiles {
                for diagonal in first_diagonal..first_diagonal + 4 {
                    for piece in 0..2 {
                        for output in 0..8 {
                            for slot in 0..4 {
                                let place = (8 * tile + output, 8 * eight + 4 * piece + slot);
                                image.extend(met(matrix, half, place, diagonal));
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What the sums of an output are biased by, because data digits are, and by the kernel's ways to put them together.
pub(crate) struct Biased {
    /// The rounded sum, modulo 2^64; without what is kept apart.
    pub(crate) sum: i64,
    /// What is kept apart.
    pub(crate) top: i64,
}

impl Biased {
    /// Of sums of nothing.
    pub(crate) const NOTHING: Biased = Biased { sum: 0, top: 0 };
}

/// Data digits are biased by 128, so that a diagonal is biased by 128 times the sum of the row's digits: the last one by whole
/// units, which rounding leaves as they are. `whole`: the topmost diagonal is part of the sum.
pub(crate) fn biased(matrix: &DigitMatrix, row: usize, whole: bool) -> Biased {
    biased_by(matrix, Digits::DOUBLE, row, whole)
}

/// The same for words of any digits with as many diagonals. Of eight alone the topmost one may be kept apart. With a diagonal more digits have
/// signs, and nothing is biased.
pub(crate) fn biased_by(matrix: &DigitMatrix, digits: Digits, row: usize, whole: bool) -> Biased {
    if digits.diagonals > digits.data {
        return Biased::NOTHING;
    }
    let sum_of_digits = |diagonal: u32| -> i64 {
        let met = (0..matrix.slots).flat_map(|slot| {
            [0, 1].map(|half| met_by(matrix, digits, half, (row, slot), diagonal))
        });
        met.flatten().map(|digit| i64::from(digit as i8)).sum()
    };
    let last = digits.data - 1;
    let is_apart = digits.data == 8;
    let first = u32::from(is_apart && !whole);
    let sum = (first..last).fold(sum_of_digits(last), |sum, diagonal| {
        let shift = 8 * (last - diagonal);
        sum.wrapping_add(sum_of_digits(diagonal).wrapping_shl(shift))
    });
    Biased {
        sum,
        top: if is_apart { 128 * sum_of_digits(0) } else { 0 },
    }
}

pub(crate) fn constants(product: Product, step: &Step, whole: bool, image: &mut Vec<u8>) {
    let [cosines, sines] = matrices(step);
    let of_row = |matrix, row| match product {
        Product::Int8 => biased(matrix, row, whole),
        Product::Fp8 => fp8::biased(&fp8::TUNED, matrix, Some(row), whole),
    };
    let rows: Vec<_> = (0..cosines.rows)
        .map(|row| (of_row(cosines, row), of_row(sines, row)))
        .collect();
    lay_out_constants(&rows, whole, image);
    if whole {
        // Outputs 0, 2, 4 and 6 are the first ones of their threads.
        lay_out_first(rows.iter().step_by(2).take(4), image);
    }
}

/// The same for the first step of real lines, whose sums are not combined.
fn real_constants(step: &Step, image: &mut Vec<u8>) {
    let [cosines, sines] = matrices(step);
    let rows: Vec<_> = (0..cosines.rows)
        .map(|row| [cosines, sines].map(|matrix| biased(matrix, row, true)))
        .collect();
    for row in &rows {
        let sums = row.each_ref().map(|biased| biased.sum);
        image.extend_from_slice(bytemuck::cast_slice(&sums));
    }
}

/// Sum and difference of what the cosine and the sine sums of every output are biased by; then, where the topmost diagonal is
/// kept apart, the same for that one, at half the distance.
pub(crate) fn lay_out_constants(rows: &[(Biased, Biased)], whole: bool, image: &mut Vec<u8>) {
    let offset = if whole { 0 } else { TOP_BIAS };
    for (cosine, sine) in rows {
        let both = [
            cosine.sum.wrapping_add(sine.sum),
            cosine.sum.wrapping_sub(sine.sum),
        ];
        let both = both.map(|x| x.wrapping_add(offset << TOP_WEIGHT));
        image.extend_from_slice(bytemuck::cast_slice(&both));
    }
    if !whole {
        for (cosine, sine) in rows {
            let both = [cosine.top + sine.top, cosine.top - sine.top];
            let both = both.map(|x| (x - offset) as i32);
            image.extend_from_slice(bytemuck::cast_slice(&both));
        }
    }
}

/// The four constants of the first output of every thread, and of its partner; of the very first pair one has cosines only,
/// the other sines only.
pub(crate) fn lay_out_first<'a>(
    rows: impl Iterator<Item = &'a (Biased, Biased)>,
    image: &mut Vec<u8>,
) {
    for (t, (cosine, sine)) in rows.enumerate() {
        let (cosine, sine) = (cosine.sum, sine.sum);
        let (sum, difference) = (cosine.wrapping_add(sine), cosine.wrapping_sub(sine));
        let four = match t {
            0 => [cosine, cosine, sine, sine],
            _ => [sum, difference, difference, sum],
        };
        image.extend_from_slice(bytemuck::cast_slice(&four));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::matrix_unit::Unit;
    use crate::problem::Products;
    use crate::recipe::LineRecipe;
    use crate::recipe::factor;
    use crate::roots::Fixed;
    use crate::transform::passes::Passes;
    use crate::transform::tables::Setting;
    use crate::transform::tables::Tables;

    pub(crate) fn block(n: usize, tables: &Tables) -> Block {
        let LineRecipe::Passes(recipes) = factor::line(n) else {
            panic!("{n} is smooth");
        };
        let setting = Setting {
            digits: Digits::DOUBLE,
            products: Products::Truncated,
            unit: Unit::SCALAR,
            residues: None,
            tables,
        };
        Block::new(&recipes[0], &Fixed::one(), setting)
    }

    pub(crate) fn passes(n: usize, tables: &Tables) -> Passes {
        let LineRecipe::Passes(recipes) = factor::line(n) else {
            panic!("{n} is smooth");
        };
        let setting = Setting {
            digits: Digits::DOUBLE,
            products: Products::Truncated,
            unit: Unit::SCALAR,
            residues: None,
            tables,
        };
        Passes::new(&recipes, &Fixed::one(), 0, setting)
    }

    pub(crate) fn shape(product: Product, block: &Block) -> &'static TunedShape {
        let steps = block.steps();
        let fits = |shape: &&TunedShape| {
            shape.elements == Elements::Complex
                && shape.digits == 8
                && shape.product == product
                && [shape.first, shape.last] == [0, 1].map(|i| steps[i].recipe.n)
        };
        ozfft_kernels::TUNED.iter().find(fits).expect("a shape")
    }

    /// Data words of many lengths.
    pub(crate) fn random_words(state: &mut u64, count: usize) -> Vec<i64> {
        let mut next = || {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (*state as i64) >> (2 + *state % 7)
        };
        (0..count).map(|_| next()).collect()
    }

    /// A rounded sum of biased diagonals, as the int8 kernels put it together, and its topmost diagonal.
    pub(crate) fn put_together(d: &[i64; 8], whole: bool) -> (i64, i32) {
        let top = if whole { d[0].wrapping_shl(49) } else { 0 };
        let sum = (((d[7] + 64) >> 7) + 2 * d[6] + 512 * d[5])
            .wrapping_add((d[4] + 256 * d[3]) << 17)
            .wrapping_add((d[2] + 256 * d[1]).wrapping_shl(33))
            .wrapping_add(top);
        (sum, d[0] as i32)
    }

    /// The sum of diagonals, rounded.
    pub(crate) fn rounded(diagonals: [i64; 8]) -> i128 {
        let sum = diagonals.iter().fold(0, |s, &d| s * 256 + i128::from(d));
        (sum + 64) >> 7
    }

    /// The constants of a step's outputs in an image: where they are, and where those of the topmost diagonals, if these are
    /// kept apart.
    pub(crate) struct Constants<'a> {
        pub(crate) image: &'a [u8],
        pub(crate) sums: usize,
        pub(crate) tops: Option<usize>,
    }

    impl Constants<'_> {
        /// Whether the biased sums of an output's cosines and sines, less the constants, are the exact ones.
        pub(crate) fn check(&self, output: usize, found: [(i64, i32); 2], exact: [i128; 2]) {
            let long = |at: usize| i64::from_le_bytes(self.image[at..at + 8].try_into().unwrap());
            let int = |at: usize| i32::from_le_bytes(self.image[at..at + 4].try_into().unwrap());
            let [(cosine, cosine_top), (sine, sine_top)] = found;
            let both = self.sums + 16 * output;
            let sum = cosine.wrapping_add(sine).wrapping_sub(long(both));
            let difference = cosine.wrapping_sub(sine).wrapping_sub(long(both + 8));
            let exact = [exact[0] + exact[1], exact[0] - exact[1]];
            if let Some(tops) = self.tops {
                let apart = |top: i32| i128::from(top) << 49;
                let tops = tops + 8 * output;
                let top_sum = cosine_top.wrapping_add(sine_top).wrapping_sub(int(tops));
                let top_difference = cosine_top
                    .wrapping_sub(sine_top)
                    .wrapping_sub(int(tops + 4));
                assert_eq!(
                    i128::from(sum) + apart(top_sum),
                    exact[0],
                    "output {output}"
                );
                assert_eq!(
                    i128::from(difference) + apart(top_difference),
                    exact[1],
                    "output {output}"
                );
                // Where the kernels look whether a number fits 64 bits.
                for (top, exact) in [(top_sum, exact[0]), (top_difference, exact[1])] {
                    let fits = (0..16384).contains(&top);
                    assert!(!fits || i64::try_from(exact).is_ok(), "output {output}");
                    assert!(fits || exact.unsigned_abs() > 1 << 61, "output {output}");
                }
            } else {
                assert_eq!(
                    [sum, difference],
                    exact.map(|x| x as i64),
                    "output {output}"
                );
            }
        }
    }

    /// The kept diagonals of a row's product with words, from their signed digits.
    pub(crate) fn diagonals(matrix: &DigitMatrix, row: usize, words: &[i64]) -> [i64; 8] {
        let planes = matrix.row(row, Digits::DOUBLE);
        let mut sums = [0; 8];
        for (slot, &word) in words.iter().enumerate() {
            let biased = (word as u64).wrapping_add(crate::stages::digits::bias(8));
            for t in 0..8 {
                let digit = i64::from(crate::stages::digits::digit(biased, 8, t as u32));
                for i in 0..7 {
                    if t + i < 8 {
                        sums[t + i] += digit * i64::from(planes[(6 - i) * matrix.slots + slot]);
                    }
                }
            }
        }
        sums
    }

    /// The same from the image, as the tensor instruction multiplies it: biased digits, pieces by pieces.
    pub(crate) fn biased_diagonals(
        image: &[u8],
        slots: usize,
        row: usize,
        words: &[i64],
    ) -> [i64; 8] {
        let k_tiles = slots / 8;
        let mut sums = [0; 8];
        for (part, first) in [0, 4, 4].into_iter().enumerate() {
            for (slot, &word) in words.iter().enumerate() {
                let bytes = (word as u64)
                    .wrapping_add(crate::stages::digits::bias(8))
                    .to_le_bytes();
                for diagonal in 0..4 {
                    for byte in 0..4 {
                        let piece = ((row / 8 * 3 + part) * k_tiles + slot / 8) * 1024;
                        let core = (2 * diagonal + slot % 8 / 4) * 128 + row % 8 * 16;
                        let entry = image[piece + core + slot % 4 * 4 + byte] as i8;
                        let digit = bytes[byte + if part < 2 { 4 } else { 0 }];
                        sums[first + diagonal] += i64::from(entry) * i64::from(digit);
                    }
                }
            }
        }
        sums
    }

    #[test]
    fn tables_give_the_rounded_sums_of_signed_digits() {
        let tables_of_plans = Tables::default();
        let mut state = 77u64;
        for n in [256, 512, 1024] {
            let block = block(n, &tables_of_plans);
            let image = tables(shape(Product::Int8, &block), &block).unwrap();
            let [first, last] = block.steps() else {
                panic!("two steps")
            };
            let k_tiles = |step: &Step| step.recipe.n / 16;
            let matrix_len = |step: &Step| 3072 * k_tiles(step) * k_tiles(step);
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
                        let d = biased_diagonals(operand, slots, row, &words);
                        put_together(&d, tops.is_none())
                    });
                    let exact = matrices(step).map(|m| rounded(diagonals(m, row, &words)));
                    constants.check(row, found, exact);
                }
            }
        }
    }
}
