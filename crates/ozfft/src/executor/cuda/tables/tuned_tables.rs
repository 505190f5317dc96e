//! Tables of the tuned kernels for blocks of two steps: matrices as the tensor instruction wants them, and what takes off the
//! constants that biased digits add to sums (those for products in fp8 are in `fp8.rs`, for other lengths in `mixed_radix.rs`, for
//! few digits in `low_precision.rs`).

use crate::error::FftError;
use crate::executor::cuda::tables::common::{
    biased, lay_out_constants, lay_out_first, matrices, met, rotations,
};
use crate::executor::cuda::tables::fp8;
use crate::executor::cuda::tables::low_precision;
use crate::executor::cuda::tables::mixed_radix;
use crate::stages::digits::DigitMatrix;
use crate::transform::bailey::Block;
use crate::transform::step::Step;
use ozfft_kernels::{Elements, Product, TunedShape, TunedSource};

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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::matrix_unit::Unit;
    use crate::problem::Products;
    use crate::recipe::factor;
    use crate::recipe::{Digits, LineRecipe};
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
