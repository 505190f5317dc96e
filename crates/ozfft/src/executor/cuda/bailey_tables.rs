//! Tables of the kernels for blocks of one or two steps of any size (`crates/ozfft-kernels/cuda/bailey_block.cuh`): those of
//! `mixed.rs`, with matrices as `mma.sync` takes its second operand.

use super::mixed::{Padded, padded, raised_rows};
use super::tuned_tables::{lay_out_constants, lay_out_first, rotations};
use crate::transform::step::Step;

/// The tables of a block's steps, in the order of `TableShape`.
pub(super) fn tables(steps: &[Step]) -> Vec<u8> {
    let first = &steps[0];
    let last = steps.get(1).filter(|step| step.matrices.is_some());
    let mut image = Vec::new();
    for step in std::iter::once(first).chain(last) {
        for matrix in padded(step) {
            fragments(&matrix, &mut image);
        }
    }
    let first_rows = raised_rows(first, true);
    lay_out_constants(&first_rows, true, &mut image);
    // Outputs 0 to 3 are the first ones of their threads.
    lay_out_first(first_rows.iter().step_by(2).take(4), &mut image);
    if let Some(last) = last {
        lay_out_constants(&raised_rows(last, false), false, &mut image);
    }
    rotations(first, &mut image);
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

#[cfg(test)]
mod tests {
    use super::super::tuned_tables::tests::block;
    use crate::Planner;
    use crate::problem::{Engine, Problem};
    use crate::substrate::CpuUnit;
    use crate::transform::tables::Tables;
    use num_complex::Complex;
    use std::io::Write;

    /// Writes what `crates/ozfft-kernels/bench` compares with: tables, numbers and the bits of their transforms, a file for each
    /// of the lengths that `OZFFT_BENCH_LENGTHS` names, into the folder `OZFFT_BENCH_DATA`.
    #[test]
    #[ignore = "writes files, for a program that runs on a GPU"]
    fn write_data_for_the_bench() {
        let folder = std::env::var("OZFFT_BENCH_DATA").expect("a folder");
        let lengths = std::env::var("OZFFT_BENCH_LENGTHS").expect("lengths");
        let tables_of_plans = Tables::default();
        for n in lengths.split_whitespace().map(|n| n.parse().unwrap()) {
            let block = block(n, &tables_of_plans);
            let steps: Vec<usize> = block.steps().iter().map(|step| step.recipe.n).collect();
            let image = super::tables(block.steps());
            let lines = 37;
            let mut state = 1 + n as u64;
            let mut next = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
            };
            let input: Vec<Complex<f64>> = (0..lines * n)
                .map(|i| {
                    let number = Complex::new(next(), next());
                    match i / n % 8 {
                        // Real, imaginary, zero, a spike, small numbers.
                        1 => Complex::new(number.re, 0.0),
                        2 => Complex::new(0.0, number.im),
                        3 => Complex::new(0.0, 0.0),
                        4 if i % n == 2 => Complex::new(3.0, -1.0),
                        4 => number * 1e-9,
                        5 => number * 1e-200,
                        _ => number,
                    }
                })
                .collect();
            let problem = Problem::complex(&[n])
                .batch(lines)
                .engine(Engine::Digits)
                .substrate(CpuUnit::Scalar)
                .threads(1);
            let plan = Planner::<f64>::new().plan(&problem).unwrap();
            let mut output = vec![Complex::new(0.0, 0.0); input.len()];
            plan.process_outofplace(&input, &mut output).unwrap();
            let path = format!("{folder}/{n}.bin");
            let mut file = std::fs::File::create(&path).unwrap();
            let (first, last) = (steps[0], steps.get(1).copied().unwrap_or(1));
            let header = [first, last, lines, image.len()].map(|x| x as u32);
            file.write_all(bytemuck::cast_slice(&header)).unwrap();
            file.write_all(&image).unwrap();
            file.write_all(bytemuck::cast_slice(&input)).unwrap();
            file.write_all(bytemuck::cast_slice(&output)).unwrap();
            println!("{path}: {first} x {last}");
        }
    }
}
