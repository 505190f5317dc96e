//! A number-theoretic transform by Bailey steps on the units that multiply bytes, beside the vectors of `exact-convolution`: the same residues, and times of one transform
//! modulo one prime on one thread, in one run.
//!
//!     cargo run --release --manifest-path laboratory/Cargo.toml --example matrix_ntt -- [LEVELS …]

mod transform;

use ozfft::convolution::Unit;
use ozfft::convolution::device::{LANES, constants, forward};
use ozfft::{CpuUnit, Substrate};
use ozfft_testkit::oracle::inputs::Generator;
use std::time::Instant;
use transform::{MOST_STEP_LEVELS, MatrixTransform};

const ROUNDS: usize = 15;
/// Least seconds of a turn.
const TURN: f64 = 0.01;

/// Least nanoseconds for a coefficient, call by call: other programs may take turns in between.
fn turn(residues: &mut [u32], least: &mut f64, work: &dyn Fn(&mut [u32])) {
    let turn = Instant::now();
    while turn.elapsed().as_secs_f64() < TURN {
        let start = Instant::now();
        work(residues);
        let nanoseconds = 1e9 * start.elapsed().as_secs_f64();
        *least = least.min(nanoseconds / residues.len() as f64);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let asked: Result<Vec<u32>, _> = std::env::args().skip(1).map(|text| text.parse()).collect();
    let asked = asked?;
    let levels = if asked.is_empty() {
        vec![6, 8, 12, 16, 18]
    } else {
        asked
    };
    println!("ns for a coefficient; in brackets products of bytes alone");
    for levels in levels {
        let Some(vectors) = forward(Unit::best(), 0, levels) else {
            println!(
                "2^{levels} rows: the vectors of this machine have no rows of {LANES}, or there are no roots"
            );
            continue;
        };
        let prime = constants(levels)[0].value;
        let mut generator = Generator::new(u64::from(levels));
        let input: Vec<u32> = (0..LANES << levels)
            .map(|_| (generator.next_u64() % u64::from(prime)) as u32)
            .collect();
        let mut expected = input.clone();
        vectors.process(&mut expected);
        let expected: Vec<u32> = expected.iter().map(|&residue| residue % prime).collect();
        let mut transforms: Vec<(MatrixTransform, [f64; 2])> = Vec::new();
        for substrate in [CpuUnit::Amx, CpuUnit::Avx512Vnni] {
            for step in 4..=MOST_STEP_LEVELS {
                if let Ok(transform) =
                    MatrixTransform::new(Substrate::Cpu(substrate), 0, levels, step)
                {
                    let same = |other: &MatrixTransform| {
                        (other.unit(), other.steps()) == (transform.unit(), transform.steps())
                    };
                    if transforms.iter().any(|(other, _)| same(other)) {
                        continue;
                    }
                    let mut found = input.clone();
                    transform.process(&mut found);
                    assert!(found == expected, "{} steps of {step}", transform.unit());
                    transforms.push((transform, [f64::MAX; 2]));
                }
            }
        }
        let mut residues = input.clone();
        let mut least = f64::MAX;
        for _ in 0..ROUNDS {
            turn(&mut residues, &mut least, &|residues| {
                vectors.process(residues)
            });
            for (transform, least) in &mut transforms {
                residues.copy_from_slice(&input);
                turn(&mut residues, &mut least[0], &|residues| {
                    transform.process(residues)
                });
                turn(&mut residues, &mut least[1], &|residues| {
                    transform.products_alone(residues)
                });
            }
        }
        println!(
            "2^{} coefficients, vectors: {least:.3}",
            levels + LANES.ilog2()
        );
        for (transform, [all, products]) in &transforms {
            println!(
                "  {}, steps {:?}: {all:.3} ({products:.3}), {:.2} times vectors",
                transform.unit(),
                transform.steps(),
                all / least
            );
        }
    }
    Ok(())
}
