//! Tables of the kernels for blocks of one or two steps of any size (`crates/ozfft-kernels/cuda/bailey_block.cuh`) and for two passes of
//! them (`bailey_passes.cuh`): those of `mixed_radix.rs`, with matrices as `mma.sync` takes its second operand.

use super::mixed_radix::{Padded, biased_rows, biased_rows_by, padded, padded_for};
use super::tuned_tables::{Biased, lay_out_constants, lay_out_first, met_by, rotations};
use crate::recipe::Digits;
use crate::stages::digits::DigitMatrix;
use crate::stages::twiddle::Twiddle;
use crate::transform::bailey::Block;
use crate::transform::passes::Passes;
use crate::transform::step::Step;
use ozfft_kernels::bailey::Number;
use ozfft_kernels::bailey_passes::Ends;

/// The tables of a block's steps, in the order of `TableShape`.
pub(super) fn tables(steps: &[Step]) -> Vec<u8> {
    lay_out(steps, |rows, image| lay_out_constants(rows, true, image))
}

/// The same for real lines, whose sums are not combined after the first step.
pub(super) fn of_real_lines(steps: &[Step]) -> Vec<u8> {
    lay_out(steps, lay_out_apart)
}

/// What cosine and sine sums are biased by that are not combined.
fn lay_out_apart(rows: &[(Biased, Biased)], image: &mut Vec<u8>) {
    for (cosine, sine) in rows {
        image.extend_from_slice(bytemuck::cast_slice(&[cosine.sum, sine.sum]));
    }
}

/// The tables of three steps, in the order of `TablesOfThree`: sums of the middle one are shifted down before they are combined, and its
/// outputs are rotated column by column.
pub(super) fn of_three_steps(steps: &[Step]) -> Vec<u8> {
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

/// The same for lines of f32, whose words have five digits: pieces of the fifth diagonal follow those of the first four, and nothing is
/// kept apart.
pub(super) fn of_single_lines(steps: &[Step]) -> Vec<u8> {
    lay_out_five_digits(steps, |rows, image| lay_out_constants(rows, true, image))
}

/// The same for real ones.
pub(super) fn of_single_real_lines(steps: &[Step]) -> Vec<u8> {
    lay_out_five_digits(steps, lay_out_apart)
}

/// `first_constants`: how those of the first step lie.
fn lay_out_five_digits(
    steps: &[Step],
    first_constants: impl FnOnce(&[(Biased, Biased)], &mut Vec<u8>),
) -> Vec<u8> {
    let digits = Digits::SINGLE;
    let first = &steps[0];
    let last = steps.get(1).filter(|step| step.matrices.is_some());
    let mut image = Vec::new();
    for step in std::iter::once(first).chain(last) {
        for matrix in padded_for(step, digits) {
            fragments_of_five_digits(&matrix, &mut image);
        }
    }
    let biased = |matrix: &DigitMatrix, row: usize| biased_by_five_digits(matrix, digits, row);
    let first_rows = biased_rows_by(first, digits, biased);
    first_constants(&first_rows, &mut image);
    lay_out_first(first_rows.iter().step_by(2).take(4), &mut image);
    if let Some(last) = last {
        let rows = biased_rows_by(last, digits, biased);
        lay_out_constants(&rows, true, &mut image);
        image.resize(image.len() + 8 * rows.len(), 0);
    }
    rotations(first, &mut image);
    image
}

/// As `tuned_tables::biased`.
fn biased_by_five_digits(matrix: &DigitMatrix, digits: Digits, row: usize) -> Biased {
    let d: [i64; 5] = std::array::from_fn(|diagonal| {
        let met = (0..matrix.slots).flat_map(|slot| {
            [0, 1].map(|half| met_by(matrix, digits, half, (row, slot), diagonal as u32))
        });
        128 * met
            .flatten()
            .map(|digit| i64::from(digit as i8))
            .sum::<i64>()
    });
    Biased {
        sum: d[4] / 128 + 2 * d[3] + 512 * d[2] + ((d[1] + 256 * d[0]) << 17),
        top: 0,
    }
}

/// `first_constants`: how those of the first step lie.
fn lay_out(
    steps: &[Step],
    first_constants: impl FnOnce(&[(Biased, Biased)], &mut Vec<u8>),
) -> Vec<u8> {
    let first = &steps[0];
    let last = steps.get(1).filter(|step| step.matrices.is_some());
    let mut image = Vec::new();
    for step in std::iter::once(first).chain(last) {
        for matrix in padded(step) {
            fragments(&matrix, &mut image);
        }
    }
    let first_rows = biased_rows(first, true);
    first_constants(&first_rows, &mut image);
    // Outputs 0 to 3 are the first ones of their threads.
    lay_out_first(first_rows.iter().step_by(2).take(4), &mut image);
    if let Some(last) = last {
        lay_out_constants(&biased_rows(last, false), false, &mut image);
    }
    rotations(first, &mut image);
    image
}

/// The tables of both passes, and the roots between them, those of a column's outputs side by side. Real columns have tables of their
/// own, and rows are complex.
pub(super) fn of_passes(passes: &Passes, ends: Ends) -> Vec<u8> {
    let [first, second] = passes.blocks() else {
        unreachable!("two passes");
    };
    let of_complex = |block: &Block| match ends.number() {
        Number::Single => of_single_lines(block.steps()),
        Number::Double => tables(block.steps()),
    };
    let mut image = match ends {
        Ends::RealToHalf(Number::Single) => of_single_real_lines(first.steps()),
        Ends::RealToHalf(Number::Double) => of_real_lines(first.steps()),
        Ends::Complex(_) | Ends::HalfToReal(_) => of_complex(first),
    };
    image.extend(of_complex(second));
    let powers: Vec<_> = passes.roots()[0].powers().collect();
    for column in 0..second.len() {
        for output in 0..first.len() {
            let root = powers[column * output];
            let Twiddle { real, imaginary } = Twiddle::new(root.re, root.im);
            let halves = [real.0, real.1, imaginary.0, imaginary.1];
            image.extend_from_slice(bytemuck::cast_slice(&halves));
        }
    }
    image
}

/// Piece by piece: for every two diagonals, what each lane has of both fragments, 16 bytes. Lane `4g + t` has output `g` and the
/// slots number `t` of both halves of the operand.
fn fragments(matrix: &Padded<'_>, image: &mut Vec<u8>) {
    matrix.for_each_piece(|tile, first_diagonal, operand| {
        for pair in [first_diagonal, first_diagonal + 2] {
            for lane in 0..32 {
                let (output, slot) = (8 * tile + lane / 4, lane % 4);
                for diagonal in pair..pair + 2 {
                    for &(first_slot, half) in operand {
                        image.extend(matrix.met(half, (output, first_slot + slot), diagonal));
                    }
                }
            }
        }
    });
}

/// Tile by tile: those of the first four diagonals as above, then of the fifth, 8 bytes for each lane.
fn fragments_of_five_digits(matrix: &Padded<'_>, image: &mut Vec<u8>) {
    matrix.for_each_piece(|tile, first_diagonal, operand| {
        let diagonals: &[&[u32]] = match first_diagonal {
            0 => &[&[0, 1], &[2, 3]],
            _ => &[&[4]],
        };
        for diagonals in diagonals {
            for lane in 0..32 {
                let (output, slot) = (8 * tile + lane / 4, lane % 4);
                for &diagonal in *diagonals {
                    for &(first_slot, half) in operand {
                        image.extend(matrix.met(half, (output, first_slot + slot), diagonal));
                    }
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::tuned_tables::tests::block;
    use crate::transform::tables::Tables;
    use sha2::{Digest, Sha256};

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

    #[test]
    fn tables_are_those_of_the_generator_that_shares_no_code() {
        let tables = Tables::default();
        for (n, digest) in DIGESTS {
            let image = super::tables(block(n, &tables).steps());
            let found = format!("{:x}", Sha256::digest(&image));
            assert_eq!(found, digest, "{n} points");
        }
    }
}
