//! Tables of the kernels for blocks of one or two steps of any size (`crates/ozfft-kernels/cuda/block/bailey_block.cuh`) and for two passes of
//! them (`bailey_passes.cuh`): those of `mixed_radix.rs`, with matrices as `mma.sync` takes its second operand.

use crate::error::FftError;
use crate::executor::cuda::tables::common::{
    Biased, biased_by, lay_out_constants, lay_out_first, rotations,
};
use crate::executor::cuda::tables::f16;
use crate::executor::cuda::tables::fp8;
use crate::executor::cuda::tables::mixed_radix::{
    Padded, biased_places_by, biased_rows, biased_rows_by, padded, padded_for,
};
use crate::recipe::Digits;
use crate::stages::digits::DigitMatrix;
use crate::stages::twiddle::Twiddle;
use crate::transform::bailey::Block;
use crate::transform::passes::Passes;
use crate::transform::step::Step;
use ozfft_kernels::template::{Ends, F16_COLUMNS, FP8_COLUMNS, Number};

/// The tables of a block's steps for complex lines of such numbers, in words and matrices of such digits, in the order of `TableShape`. All
/// but those multiplied in int8 by `mma.sync` have the digits of [`Digits::DOUBLE`].
pub(crate) fn of_lines(
    number: Number,
    digits: Digits,
    steps: &[Step],
) -> Result<Vec<u8>, FftError> {
    debug_assert_eq!(
        (number.digits(), number.diagonals()),
        (digits.data, digits.diagonals)
    );
    let constants =
        |rows: &[(Biased, Biased)], image: &mut Vec<u8>| lay_out_constants(rows, true, image);
    match number {
        Number::Double | Number::DoubleFewer { .. } | Number::Single => {
            Ok(lay_out(steps, digits, fragments, constants))
        }
        Number::DoubleWgmma => {
            // Matrices as `wgmma` reads them.
            let matrix = |matrix: &Padded<'_>, image: &mut Vec<u8>| matrix.operand(image);
            Ok(lay_out(steps, digits, matrix, constants))
        }
        Number::DoubleFp8 => in_floats(steps, &IN_FP8),
        Number::DoubleF16 => in_floats(steps, &IN_F16),
    }
}

/// What there is to know of products in short floating-point numbers.
struct InFloats {
    /// Proves that no sum of a matrix exceeds what such products keep.
    check: fn(&DigitMatrix) -> Result<i64, FftError>,
    fragments: fn(&Padded<'_>, &mut Vec<u8>),
    /// What the sums of a row are biased by, or of zeros; with the topmost ones as part of them or without.
    biased: fn(&DigitMatrix, Option<usize>, bool) -> Biased,
}

const IN_FP8: InFloats = InFloats {
    check: |matrix| fp8::check(&fp8::TEMPLATE, matrix),
    fragments: fragments_in_fp8,
    biased: |matrix, row, whole| fp8::biased(&fp8::TEMPLATE, matrix, row, whole),
};

const IN_F16: InFloats = InFloats {
    check: f16::check,
    fragments: fragments_in_f16,
    biased: f16::biased,
};

/// The same for such products, once it is proved of these very matrices that sums are exact.
fn in_floats(steps: &[Step], product: &InFloats) -> Result<Vec<u8>, FftError> {
    let first = &steps[0];
    let last = steps.get(1).filter(|step| step.matrices.is_some());
    let mut image = Vec::new();
    for step in std::iter::once(first).chain(last) {
        for matrix in padded(step) {
            (product.check)(matrix.matrix())?;
            (product.fragments)(&matrix, &mut image);
        }
    }
    // Sums that are formed of zeros alone are biased, too.
    let biased = |step, whole| {
        biased_places_by(step, Digits::DOUBLE, |padded, place| {
            match padded.is_multiplied(place) {
                true => (product.biased)(padded.matrix(), padded.row(place), whole),
                false => Biased::NOTHING,
            }
        })
    };
    let first_rows = biased(first, true);
    lay_out_constants(&first_rows, true, &mut image);
    lay_out_first(first_rows.iter().step_by(2).take(4), &mut image);
    if let Some(last) = last {
        lay_out_constants(&biased(last, false), false, &mut image);
    }
    rotations(first, &mut image);
    Ok(image)
}

/// The same for real lines, whose sums are not combined after the first step.
pub(crate) fn of_real_lines(digits: Digits, steps: &[Step]) -> Vec<u8> {
    lay_out(steps, digits, fragments, lay_out_apart)
}

/// What cosine and sine sums are biased by that are not combined.
fn lay_out_apart(rows: &[(Biased, Biased)], image: &mut Vec<u8>) {
    for (cosine, sine) in rows {
        image.extend_from_slice(bytemuck::cast_slice(&[cosine.sum, sine.sum]));
    }
}

/// The tables of three steps, in the order of `TablesOfThree`: sums of the middle one are shifted down before they are combined, and its
/// outputs are rotated column by column.
pub(crate) fn of_three_steps(steps: &[Step]) -> Vec<u8> {
    let [first, middle, last] = steps else {
        unreachable!("three steps");
    };
    let mut image = Vec::new();
    for step in steps {
        for matrix in padded(step) {
            fragments(&matrix, &mut image);
        }
    }
    let first_rows = biased_rows(first, true);
    lay_out_constants(&first_rows, true, &mut image);
    lay_out_first(first_rows.iter().step_by(2).take(4), &mut image);
    let middle_rows = biased_rows(middle, false);
    lay_out_apart(&middle_rows, &mut image);
    for (cosine, sine) in &middle_rows {
        let tops = [cosine.top, sine.top].map(|top| top as i32);
        image.extend_from_slice(bytemuck::cast_slice(&tops));
    }
    lay_out_constants(&biased_rows(last, false), false, &mut image);
    rotations(first, &mut image);
    rotations(middle, &mut image);
    image
}

/// `lay_out_matrix`: how a matrix lies; `first_constants`: how those of the first step do.
fn lay_out(
    steps: &[Step],
    digits: Digits,
    lay_out_matrix: impl Fn(&Padded<'_>, &mut Vec<u8>),
    first_constants: impl FnOnce(&[(Biased, Biased)], &mut Vec<u8>),
) -> Vec<u8> {
    let first = &steps[0];
    let last = steps.get(1).filter(|step| step.matrices.is_some());
    let mut image = Vec::new();
    for step in std::iter::once(first).chain(last) {
        for matrix in padded_for(step, digits) {
            lay_out_matrix(&matrix, &mut image);
        }
    }
    let rows_of = |step, whole| {
        biased_rows_by(step, digits, |matrix, row| {
            biased_by(matrix, digits, row, whole)
        })
    };
    let first_rows = rows_of(first, true);
    first_constants(&first_rows, &mut image);
    // Outputs 0 to 3 are the first ones of their threads.
    lay_out_first(first_rows.iter().step_by(2).take(4), &mut image);
    if let Some(last) = last {
        // Of fewer digits than eight nothing is kept apart.
        let whole = digits.data < 8;
        let rows = rows_of(last, whole);
        lay_out_constants(&rows, whole, &mut image);
        if whole {
            image.resize(image.len() + 8 * rows.len(), 0);
        }
    }
    rotations(first, &mut image);
    image
}

/// The tables of both passes, and the roots between them, those of a column's outputs side by side. Real columns have tables of their
/// own, and rows are complex.
pub(crate) fn of_passes(
    passes: &Passes,
    (number, ends): (Number, Ends),
    digits: Digits,
) -> Result<Vec<u8>, FftError> {
    let [first, second] = passes.blocks() else {
        unreachable!("two passes");
    };
    let of_complex = |block: &Block| of_lines(number, digits, block.steps());
    let mut image = match ends {
        Ends::RealToHalf => of_real_lines(digits, first.steps()),
        Ends::Complex | Ends::HalfToReal | Ends::Convolution => of_complex(first)?,
    };
    image.extend(of_complex(second)?);
    let powers: Vec<_> = passes.roots()[0].powers().collect();
    for column in 0..second.len() {
        for output in 0..first.len() {
            let root = powers[column * output];
            let Twiddle { real, imaginary } = Twiddle::new(root.re, root.im);
            let halves = [real.0, real.1, imaginary.0, imaginary.1];
            image.extend_from_slice(bytemuck::cast_slice(&halves));
        }
    }
    Ok(image)
}

/// Piece by piece: for every two diagonals, or a last one, what each lane has of their fragments, 16 bytes or 8. Lane `4g + t` has output
/// `g` and the slots number `t` of both halves of the operand.
fn fragments(matrix: &Padded<'_>, image: &mut Vec<u8>) {
    let diagonals = matrix.digits().diagonals;
    matrix.for_each_piece(|tile, first_diagonal, operand| {
        let end = diagonals.min(first_diagonal + 4);
        for pair in (first_diagonal..end).step_by(2) {
            for lane in 0..32 {
                let (output, slot) = (8 * tile + lane / 4, lane % 4);
                for diagonal in pair..end.min(pair + 2) {
                    for &(first_slot, half) in operand {
                        image.extend(matrix.met(half, (output, first_slot + slot), diagonal));
                    }
                }
            }
        }
    });
}

/// Tile by tile: for every two operands of upper digits, or a last one, and every column of nibbles, what each lane has of both, 16 bytes or 8.
/// Column `2d` has the upper nibbles of the digits that are met on diagonal `d`, column `2d + 1` the lower ones.
fn fragments_in_fp8(matrix: &Padded<'_>, image: &mut Vec<u8>) {
    let [operands, _] = matrix.operands();
    for tile in 0..matrix.tiles() {
        for pair in operands.chunks(2) {
            for column in 0..FP8_COLUMNS {
                for lane in 0..32 {
                    let (output, slot) = (8 * tile + lane / 4, lane % 4);
                    for &(first_slot, half) in pair.iter().flatten() {
                        let place = (output, first_slot + slot);
                        let met = matrix.met(half, place, column as u32 / 2);
                        let nibble = |digit: u8| fp8::nibbles(digit as i8)[column % 2];
                        image.extend(met.map(|digit| fp8::e4m3(nibble(digit))));
                    }
                }
            }
        }
    }
}

/// Tile by tile: for every operand of upper digits and every two columns of digits, what each lane has of both, 16 bytes. Column `j` has what the topmost digits meet
/// on diagonal `j`: two of eight slots, four of the last four slots.
fn fragments_in_f16(matrix: &Padded<'_>, image: &mut Vec<u8>) {
    let [operands, _] = matrix.operands();
    for tile in 0..matrix.tiles() {
        for operand in &operands {
            let [(first, half), (second, other_half)] = *operand;
            for columns in (0..F16_COLUMNS as u32).step_by(2) {
                for lane in 0..32 {
                    let (output, slot) = (8 * tile + lane / 4, lane % 4);
                    for column in [columns, columns + 1] {
                        let met = |first: usize| matrix.met(1, (output, first + slot), column);
                        // Operands of both halves are those of four slots.
                        let registers = match half == other_half {
                            true => [&met(first)[2..], &met(second)[2..]].concat(),
                            false => [&met(first)[2..], &met(first)[..2]].concat(),
                        };
                        let codes = registers.into_iter().map(|digit| f16::code(digit as i8));
                        image.extend(codes.flatten());
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::IN_F16;
    use super::IN_FP8;
    use crate::executor::cuda::tables::common::met_by;
    use crate::executor::cuda::tables::f16;
    use crate::executor::cuda::tables::fp8::tests::value;
    use crate::executor::cuda::tables::mixed_radix::{Padded, padded, padded_for};
    use crate::executor::cuda::tables::tuned_tables::tests::{
        Constants, block, diagonals, random_words, rounded,
    };
    use crate::matrix_unit::Unit;
    use crate::problem::Products;
    use crate::recipe::{Digits, Fold, LineRecipe, factor};
    use crate::roots::Fixed;
    use crate::stages::digits::DigitMatrix;
    use crate::transform::bailey::Block;
    use crate::transform::step::Step;
    use crate::transform::tables::{Setting, Tables};
    use ozfft_kernels::template::{Number, table_bytes};
    use sha2::{Digest, Sha256};
    use std::collections::HashSet;

    /// SHA-256 of the tables that `crates/ozfft-kernels/bench/data.py --digests LENGTH …` makes, from roots and a layout of its own.
    const DIGESTS: [(usize, &str); 7] = [
        (
            32,
            "9554fb1ceafae85f345368850e9f478c87634cb4f8ed12dc1339982e009dd79b",
        ),
        (
            45,
            "f854f664c3399ed6f966b21d851798973158866df741d23e381fd6ca19aebd1e",
        ),
        (
            63,
            "2b5a244e766704dd344bba32d418e25ca9bff7dfc8f93aba1cccb2a10ad9bf23",
        ),
        (
            72,
            "ef3c2fabd2c84b087ed8db94a9d5587f3ce1aad3f94466716fbb702f2ba68876",
        ),
        (
            360,
            "f0c32fae4f7f2ea3727097cfbd7845be22a31929deaef60341b30c5e7f4ee82e",
        ),
        (
            1000,
            "9a2c46ab0ee86e778e8c316f5dfde8fb2f5eac0b2e8541c04d3fbc1631db3449",
        ),
        (
            1024,
            "c588b879e2ddcd804e6e8159840bf9749d473ca85a36c3e77ae85e964e48a946",
        ),
    ];

    /// The same with `--digests-in-f16`.
    const DIGESTS_IN_F16: [(usize, &str); 5] = [
        (
            32,
            "ba2b86d77881a664b50a1486052035197c14dbb6ddbeef4e322a41bfd5d64c8f",
        ),
        (
            63,
            "ff6f362eb161f177d869153632220446fc8a8ad69d9374393e0da63b131d0352",
        ),
        (
            360,
            "22a7775cd9698aaf96092a167ba1011acfdb059d5b7d0e7fae4c3e8c1bf1120f",
        ),
        (
            1000,
            "78429161c3e41e63b801e093f7ab8cba2a351d84642ef829a4bfabae7648f62d",
        ),
        (
            1024,
            "59a5b1579b101f420e1bafa023c586ca7509f29b65c5d4640b65a1c35c4dc098",
        ),
    ];

    #[test]
    fn tables_are_those_of_the_generator_that_shares_no_code() {
        let tables = Tables::default();
        let in_int8 = DIGESTS.map(|(n, digest)| (Number::Double, n, digest));
        let in_f16 = DIGESTS_IN_F16.map(|(n, digest)| (Number::DoubleF16, n, digest));
        for (number, n, digest) in in_int8.into_iter().chain(in_f16) {
            let image = super::of_lines(number, Digits::DOUBLE, block(n, &tables).steps()).unwrap();
            let found = format!("{:x}", Sha256::digest(&image));
            assert_eq!(found, digest, "{n} points, {number:?}");
        }
    }

    /// The classes of a place as `MmaSyncFp8` of `bailey_fp8.cuh` multiplies them: nibbles of biased digits, operand by operand, with the
    /// fragments of one tile.
    fn classes(tile: &[u8], padded: &Padded<'_>, place: usize, words: &[i64]) -> [f32; 17] {
        let [operands, _] = padded.operands();
        let nibble = |slot: usize, byte: usize, lower: usize| {
            let biased = (words[slot] as u64).wrapping_add(crate::stages::digits::bias(8));
            let byte = biased.to_le_bytes()[byte];
            value([byte >> 4, byte & 15][lower])
        };
        let mut sums = [0f32; 17];
        for (piece, operand) in operands.iter().enumerate() {
            let pair = piece / 2 * 2;
            let lane_bytes = if pair + 1 == operands.len() { 8 } else { 16 };
            for column in 0..16 {
                for (register, &(first_slot, half)) in operand.iter().enumerate() {
                    for (t, byte) in (0..16).map(|k| (k / 4, k % 4)) {
                        let lane = 4 * (place % 8) + t;
                        let start = 16 * 256 * pair + 32 * lane_bytes * column;
                        let at = start + lane_bytes * lane + 8 * (piece - pair) + 4 * register;
                        let entry = value(tile[at + byte]);
                        let slot = first_slot + t;
                        for lower in 0..2 {
                            let data = nibble(slot, 4 * half as usize + byte, lower);
                            sums[column + lower] += data * entry;
                            // The lower digits of whole tiles meet the same eight classes later.
                            if operand[1].1 == 1 && column < 8 {
                                sums[column + lower + 8] += nibble(slot, byte, lower) * entry;
                            }
                        }
                    }
                }
            }
        }
        sums
    }

    /// `MmaSyncFp8::products`.
    fn put_together(c: &[f32; 17], whole: bool) -> (i64, i32) {
        let (magic, unit) = (12_582_912f32, 512f32);
        let joined = |classes: &[usize]| {
            let weights = [1f32, 16.0, 256.0].into_iter();
            let all = classes.iter().zip(weights);
            let sum = all.fold(magic, |sum, (&class, weight)| {
                c[class].mul_add(weight * unit, sum)
            });
            sum.to_bits()
        };
        let halves = c[15].mul_add(unit / 8.0, c[16].mul_add(unit / 128.0, 0.5));
        let lowest = c[14].mul_add(2.0 * unit, halves.floor() + magic);
        let lowest = c[13].mul_add(32.0 * unit, lowest).to_bits();
        let lowest = lowest.wrapping_add(joined(&[12, 11]).wrapping_mul(512));
        let top = joined(&[2, 1, 0]);
        let sum = i64::from(lowest)
            .wrapping_add(i64::from(joined(&[10, 9])) << 17)
            .wrapping_add(i64::from(joined(&[8, 7, 6])) << 25)
            .wrapping_add(i64::from(joined(&[5, 4, 3])).wrapping_shl(37))
            .wrapping_add(i64::from(if whole { top } else { 0 }).wrapping_shl(49));
        (sum, top as i32)
    }

    /// The diagonals of a place as `MmaSyncF16` of `bailey_f16.cuh` multiplies them, in the bits of its sums.
    fn diagonals_in_f16(tile: &[u8], padded: &Padded<'_>, place: usize, words: &[i64]) -> [u32; 8] {
        let [operands, _] = padded.operands();
        let number = |bytes: &[u8]| f16::tests::value(bytes.try_into().unwrap());
        let mut sums = [0.75f64; 8];
        for (piece, operand) in operands.iter().enumerate() {
            let of_four = operand[0].0 == operand[1].0;
            for (column, register, t, half) in
                (0..128).map(|i| (i / 16, i / 8 % 2, i / 2 % 4, i % 2))
            {
                let lane = 4 * (place % 8) + t;
                let at = 2048 * piece + 512 * (column / 2) + 16 * lane + 8 * (column % 2);
                let entry = number(&tile[at + 4 * register + 2 * half..][..2]);
                let slot = operand[register].0 + t;
                let biased = (words[slot] as u64).wrapping_add(crate::stages::digits::bias(8));
                let bytes = biased.to_be_bytes();
                // Digits of the operands one after the other, from the topmost on.
                let (own, step) = match of_four {
                    true => (2 * register + 1 - half, 4),
                    false => (1 - half, 2),
                };
                for digit in (0..8 - column).step_by(step) {
                    sums[column + digit] += number(&[bytes[digit + own], 0]) * entry;
                }
            }
        }
        // Nothing is rounded here.
        sums.map(|sum| {
            assert_eq!(f64::from(sum as f32), sum);
            (sum as f32).to_bits()
        })
    }

    /// `MmaSyncF16::products`.
    fn put_together_in_f16(d: &[u32; 8], whole: bool) -> (i64, i32) {
        let low = ((d[7] + 64) >> 7)
            .wrapping_add(d[6].wrapping_mul(2))
            .wrapping_add(d[5].wrapping_mul(512));
        let middle = d[4].wrapping_add(d[3].wrapping_mul(256));
        let high = d[2].wrapping_add(d[1].wrapping_mul(256));
        let high = high.wrapping_add(if whole { d[0].wrapping_mul(65536) } else { 0 });
        let sum = i64::from(low as i32)
            .wrapping_add(i64::from(middle) << 17)
            .wrapping_add(i64::from(high).wrapping_shl(33));
        (sum, d[0] as i32)
    }

    #[test]
    fn tables_in_floats_give_the_rounded_sums_of_signed_digits() {
        for n in [16, 45, 63, 64, 360, 1000, 1024] {
            check_sums(
                n,
                Number::DoubleFp8,
                4096,
                |tile, padded, place, words, whole| {
                    put_together(&classes(tile, padded, place, words), whole)
                },
            );
            check_sums(
                n,
                Number::DoubleF16,
                2048,
                |tile, padded, place, words, whole| {
                    put_together_in_f16(&diagonals_in_f16(tile, padded, place, words), whole)
                },
            );
        }
    }

    /// That sums, as kernels work them out of a tile's fragments, less the constants, are those of signed digits.
    fn check_sums(
        n: usize,
        number: Number,
        piece_bytes: usize,
        sums_of: impl Fn(&[u8], &Padded<'_>, usize, &[i64], bool) -> (i64, i32),
    ) {
        let tables = Tables::default();
        let mut state = 81u64 + n as u64;
        let block = block(n, &tables);
        let steps = block.steps();
        let image = super::of_lines(number, Digits::DOUBLE, steps).unwrap();
        let [first, last] = [0, 1].map(|i| steps.get(i).map_or(1, |step| step.recipe.n));
        assert_eq!(image.len(), table_bytes(number, [first, last]));
        let products = steps.iter().filter(|step| step.matrices.is_some());
        let products: Vec<&Step> = products.collect();
        let tile_bytes = |step: &Step| piece_bytes * padded(step)[0].operands()[0].len();
        let bytes = |step: &Step| padded(step)[0].tiles() * tile_bytes(step);
        let mut matrix = 0;
        let mut sums = products.iter().map(|step| 2 * bytes(step)).sum::<usize>();
        for (number, step) in products.into_iter().enumerate() {
            let both = padded(step);
            let places = 8 * both[0].tiles();
            let tops = (number == 1).then(|| sums + 16 * places);
            let words = random_words(&mut state, places.max(8 * both[0].operands()[0].len()));
            let constants = Constants {
                image: &image,
                sums,
                tops,
            };
            for place in 0..places {
                let found = [0, 1].map(|part| {
                    if !both[part].is_multiplied(place) {
                        return (0, 0);
                    }
                    let tile = matrix + part * bytes(step) + place / 8 * tile_bytes(step);
                    sums_of(&image[tile..], &both[part], place, &words, tops.is_none())
                });
                let exact = [0, 1].map(|part| {
                    let skip = usize::from(part == 1 && step.recipe.fold == Fold::Plain);
                    let matrix = both[part].matrix();
                    let used = &words[skip..][..matrix.slots];
                    let row = both[part].row(place);
                    rounded(row.map_or([0; 8], |row| diagonals(matrix, row, used)))
                });
                constants.check(place, found, exact);
            }
            matrix += 2 * bytes(step);
            sums += 16 * places + 128;
        }
    }

    /// Blocks with all steps that the template multiplies, in words and matrices of such digits.
    fn blocks_of_template(digits: Digits) -> Vec<Block> {
        let tables = Tables::default();
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for n in 5..=1024 {
            let LineRecipe::Passes(recipes) = factor::line(n) else {
                continue;
            };
            let [recipe] = &recipes[..] else {
                continue;
            };
            let new = recipe
                .steps
                .iter()
                .any(|step| seen.insert((step.n, step.fold == Fold::Plain)));
            if !new {
                continue;
            }
            let setting = Setting {
                digits,
                products: Products::Truncated,
                unit: Unit::SCALAR,
                residues: None,
                tables: &tables,
            };
            found.push(Block::new(recipe, &Fixed::one(), setting));
        }
        found
    }

    /// What `MmaSync::Pieces` of `bailey_digits.cuh` has in 32 bits, for words whose digits are all the worst there are.
    #[test]
    fn sums_of_fewer_digits_fit_the_pieces_that_they_are_put_together_in() {
        let mut largest = 0;
        for data in 3..=7 {
            for matrix in data - 2..=data {
                let digits = Digits {
                    data,
                    matrix,
                    diagonals: data,
                };
                let blocks = blocks_of_template(digits);
                let steps = blocks.iter().flat_map(Block::steps);
                for step in steps.filter(|step| step.matrices.is_some() && step.recipe.n <= 64) {
                    for padded in padded_for(step, digits) {
                        for row in 0..padded.matrix().rows {
                            largest = pieces(padded.matrix(), digits, row).max(largest);
                        }
                    }
                }
            }
        }
        println!("up to {largest}");
        assert!(largest > 1 << 28 && largest < 1 << 31, "{largest}");
    }

    /// The largest of the lower pieces of a row's sums: digits of words are 0 to 255, as they are multiplied.
    fn pieces(matrix: &DigitMatrix, digits: Digits, row: usize) -> i64 {
        let of_sign = |diagonal: u32, sign: i64| -> i64 {
            let met = (0..matrix.slots).flat_map(|slot| {
                [0, 1].map(|half| met_by(matrix, digits, half, (row, slot), diagonal))
            });
            let met = met.flatten().map(|digit| sign * i64::from(digit as i8));
            255 * met.map(|digit| digit.max(0)).sum::<i64>()
        };
        let last = digits.data - 1;
        let worst = |sign| {
            let of = |from_last: u32| last.checked_sub(from_last).map_or(0, |d| of_sign(d, sign));
            let low = of(0) / 128 + 1 + 2 * of(1) + 512 * of(2);
            let middle = of(3) + 256 * of(4);
            low.max(middle)
        };
        worst(1).max(worst(-1))
    }

    /// Of all lengths of the list, and of the steps by rule that plans of other lengths have.
    #[test]
    fn no_sum_of_any_step_of_the_template_exceeds_what_is_exact() {
        let tables = Tables::default();
        let mut seen = HashSet::new();
        let mut largest = [0, 0];
        for n in 5..=1024 {
            let crate::recipe::LineRecipe::Passes(recipes) = crate::recipe::factor::line(n) else {
                continue;
            };
            let [_] = &recipes[..] else {
                continue;
            };
            let block = block(n, &tables);
            for step in block.steps().iter().filter(|step| step.matrices.is_some()) {
                if !seen.insert((step.recipe.n, format!("{:?}", step.recipe.fold))) {
                    continue;
                }
                for padded in padded(step) {
                    for (product, largest) in [IN_FP8, IN_F16].iter().zip(&mut largest) {
                        let sum = (product.check)(padded.matrix());
                        let sum = sum.unwrap_or_else(|error| panic!("{}: {error}", step.recipe.n));
                        println!("a step of {}: sums to {sum}", step.recipe.n);
                        *largest = sum.max(*largest);
                    }
                }
            }
        }
        assert!(seen.len() > 50, "{}", seen.len());
        println!("{largest:?}");
        assert!(largest[0] > 8192 && largest[1] > 1 << 20, "{largest:?}");
    }
}
