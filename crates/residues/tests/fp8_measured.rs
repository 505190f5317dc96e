//! Sums that an H200's tensor cores returned, against the model of its accumulator.
//!
//! `data/h200-e4m3-sums.bin` was written on an H200 by the kernel `probe_exactness_wgmma_e4m3` of
//! `crates/ozfft-kernels/cuda/probes/probe_hopper.cu`. For depths 32, 96 and 256 and seven kinds of codes it has 4 rows of a matrix,
//! 16 columns of data, and their 64 sums as f32; it is a sample of 573,440 sums, of which none differs from the model.

use residues::COLUMNS;
use residues::fp8::{Accumulator, Cut, E4m3, E4m3Matrix, Fp8Unit};

const MEASURED: &[u8] = include_bytes!("data/h200-e4m3-sums.bin");
const DEPTHS: [usize; 3] = [32, 96, 256];
/// Any numbers; integers to ±16; three quarters of them 16; exponents near each other, of both signs and of one; few
/// numbers among zeros; large numbers.
const KINDS: usize = 7;
const ROWS: usize = 4;

/// Sums that a model has otherwise than the GPU, and how many there are.
fn differing(accumulator: Accumulator) -> (usize, usize) {
    let unit = Fp8Unit::new(accumulator);
    let number = |&code: &u8| E4m3::from_code(code).expect("all codes are numbers");
    let (mut rest, mut differing, mut count) = (MEASURED, 0, 0);
    for depth in DEPTHS {
        for _ in 0..KINDS {
            let (entries, after) = rest.split_at(ROWS * depth);
            let (columns, after) = after.split_at(COLUMNS * depth);
            let (expected, after) = after.split_at(4 * ROWS * COLUMNS);
            rest = after;
            let entries: Vec<E4m3> = entries.iter().map(number).collect();
            let matrix = E4m3Matrix::new(ROWS, depth, &entries);
            let mut data = vec![[E4m3::ZERO; COLUMNS]; depth];
            for (column, codes) in columns.chunks_exact(depth).enumerate() {
                for (row, code) in data.iter_mut().zip(codes) {
                    row[column] = number(code);
                }
            }
            let mut sums = [[0.0; COLUMNS]; ROWS];
            unit.multiply(&matrix, &data, &mut sums);
            for (sum, expected) in sums.iter().flatten().zip(expected.chunks_exact(4)) {
                let expected = expected.try_into().map(f32::from_le_bytes);
                differing += usize::from(expected.ok() != Some(*sum));
                count += 1;
            }
        }
    }
    assert!(rest.is_empty());
    (differing, count)
}

#[test]
fn the_model_of_hopper_has_the_bits_of_an_h200() {
    assert_eq!(differing(Accumulator::HOPPER), (0, 1344));
}

#[test]
fn every_parameter_of_the_model_matters() {
    let hopper = Accumulator::HOPPER;
    for other in [
        Accumulator::ADA,
        Accumulator::BLACKWELL,
        Accumulator {
            aligned_bits: 12,
            ..hopper
        },
        Accumulator {
            aligned_bits: 14,
            ..hopper
        },
        Accumulator {
            stored_bits: 14,
            ..hopper
        },
        Accumulator {
            cut: Cut::Nearest,
            ..hopper
        },
    ] {
        let (differing, count) = differing(other);
        println!("{other:?}: {differing} of {count} differ");
        assert!(differing > 0, "{other:?}");
    }
}
