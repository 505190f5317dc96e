//! Kernels of the template whose products are in fp8, under the emulator against the portable unit: a sample of lengths, contiguous lines with
//! conversion instructions and strided ones without (`crates/ozfft-emulator/build.rs`). The emulator ends the program at a sum beyond what
//! Hopper's accumulator keeps.

use super::emulated::Emulator;
use super::machine::Machine;
use super::tests::{Bench, Generator, STYLES, Style, everything, numbers};
use super::tuned_tests::{NORMS, SEED, lines};
use crate::problem::{Accuracy, Direction, Engine, Problem};
use crate::substrate::GpuUnit;
use crate::{FftError, Planner};
use num_complex::Complex;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const NAME: &str = "fp8-mma-sync";

/// One step and two, odd and even, a last step of additions, slots of one tile to three with and without a rest of four.
const SAMPLE: [usize; 7] = [32, 45, 63, 64, 360, 1000, 1024];
/// Of two passes in one launch, and of two through memory.
const PASSES: [usize; 2] = [2048, 3000];
const LONG: usize = 14580;

fn lengths() -> Vec<usize> {
    let listed = ozfft_kernels::bailey::listed().map(|(shape, _)| shape);
    let listed = listed.filter(|shape| !shape.strided);
    let lengths = listed.map(|shape| shape.first * shape.last);
    lengths
        .filter(|n| SAMPLE.contains(n) || everything())
        .collect()
}

struct Fp8Bench {
    emulator: Arc<Emulator>,
    bench: Bench<f64>,
}

impl Fp8Bench {
    fn new() -> Self {
        println!("seed {SEED:#x}");
        let emulator = Arc::new(Emulator::with_tuned_kernels());
        let bench = Bench::on(Arc::<Emulator>::clone(&emulator));
        Fp8Bench { emulator, bench }
    }

    fn left(&self) -> u64 {
        self.emulator.lines_left.load(Ordering::Relaxed)
    }

    fn check(&mut self, problem: &Problem, input: &[Complex<f64>], conversions: bool) {
        let problem = problem.clone().substrate(GpuUnit::Fp8MmaSync);
        let found = self.bench.check_numbers(&problem, input, &[!conversions]);
        assert_eq!(found, NAME, "{problem:?}");
    }

    /// One axis of an array of lines of all kinds.
    fn check_axis(&mut self, shape: &[usize], axis: usize, unusual_every: Option<usize>) {
        let seed = SEED ^ (self.bench.cases as u64 + 1);
        let input = lines(shape, axis, unusual_every, seed);
        let turn = self.bench.cases;
        let direction = [Direction::Forward, Direction::Inverse][turn % 2];
        let problem = Problem::complex(shape).axes(&[axis]);
        let problem = problem.direction(direction).norm(NORMS[turn % 4]);
        self.check(&problem, &input, axis + 1 == shape.len());
    }
}

#[test]
fn lines_of_all_kinds_in_fp8() {
    let mut bench = Fp8Bench::new();
    for (number, n) in lengths().into_iter().enumerate() {
        let count = if n < 100 { 13 } else { 1 + number % 3 };
        bench.check_axis(&[count, n], 1, None);
        bench.check_axis(&[n, count + 1], 0, None);
        if n < 100 {
            bench.check_axis(&[2, n, 5], 1, None);
        }
    }
    assert_eq!(bench.left(), 0, "a line was left to the portable kernel");
    println!("{} cases", bench.bench.cases);
}

/// Numbers whose digits, once they are biased, are all ones or all zeros, with signs that follow the rows of a matrix: as large as sums can
/// be. The emulator ends the program at one that is too large.
#[test]
fn digits_whose_sums_are_as_large_as_can_be_in_fp8() {
    let mut bench = Fp8Bench::new();
    for n in lengths().into_iter().filter(|&n| n < 400 || n == 1024) {
        let shape = [6, n];
        let input: Vec<Complex<f64>> = (0..6 * n)
            .map(|place| {
                let (line, index) = (place / n, place % n);
                let fraction = f64::from_bits(match line {
                    0 => 0x3fe0_1010_1010_1010,
                    1 => 0x3fdf_efef_efef_efef,
                    2 => 0x3fef_ffff_ffff_ffff,
                    3 => 0x3fe0_2020_2020_2020,
                    4 => 0x3fd0_0404_0404_0404,
                    _ => 0x3fef_7f7f_7f7f_7f7f,
                });
                let angle = std::f64::consts::TAU * (index * (line + 1)) as f64 / 32.0;
                let (re, im) = (angle.cos().signum(), angle.sin().signum());
                Complex::new(fraction * re, fraction * im)
            })
            .collect();
        bench.check(&Problem::complex(&shape).axes(&[1]), &input, true);
    }
    println!("{} cases", bench.bench.cases);
}

#[test]
fn lines_that_are_left_among_others_in_fp8() {
    let mut bench = Fp8Bench::new();
    for n in [45, 64, 360] {
        let left = bench.left();
        bench.check_axis(&[8, n], 1, Some(4));
        bench.check_axis(&[n, 8], 0, Some(4));
        // In place and out of place, of either layout.
        assert_eq!(bench.left() - left, 4 * 2, "{n}");
    }
}

/// Passes share the steps: both in one launch, one by one, and those of a convolution.
#[test]
fn passes_in_fp8() {
    let mut bench = Fp8Bench::new();
    for n in PASSES {
        bench.check_axis(&[2, n], 1, None);
        bench.check_axis(&[n, 2], 0, None);
    }
    for style in [Style::Uniform, Style::Wild] {
        let problem = Problem::complex(&[LONG]);
        let input = numbers(problem.input_len(), style, SEED);
        bench.check(&problem, &input, false);
    }
    let problem = Problem::complex(&[71]).batch(3);
    let input = numbers(problem.input_len(), Style::Uniform, SEED);
    bench.check(&problem, &input, false);
    println!("{} cases", bench.bench.cases);
}

/// Lengths, counts, layouts, norms, directions and numbers as they come.
#[test]
fn random_problems_in_fp8() {
    let mut bench = Fp8Bench::new();
    let mut generator = Generator(SEED);
    for _ in 0..if everything() { 40 } else { 12 } {
        let mut below = |n: usize| (generator.next() >> 20) as usize % n;
        let n = SAMPLE[below(SAMPLE.len())];
        let most = 1 + 300 / n;
        let (outer, inner) = (1 + below(3), 1 + below(most));
        let (norm, direction) = (
            NORMS[below(4)],
            [Direction::Forward, Direction::Inverse][below(2)],
        );
        let style = STYLES[below(STYLES.len())];
        let contiguous = below(2) == 0 || outer * inner == 1;
        let problem = match contiguous {
            true => Problem::complex(&[n]).batch(outer * inner),
            false => Problem::complex(&[outer, n, inner + 1]).axes(&[1]),
        };
        let problem = problem.norm(norm).direction(direction);
        let input = numbers(problem.input_len(), style, generator.next());
        bench.check(&problem, &input, contiguous);
    }
    println!("{} cases", bench.bench.cases);
}

/// What a plan says of transforms of which fp8 takes a part, or nothing; and on GPUs that have no such products.
#[test]
fn problems_that_the_template_does_not_take_in_fp8_are_refused_or_named() {
    let machine: Arc<dyn Machine> = Arc::new(Emulator::with_tuned_kernels());
    let planner = Planner::<f64>::new();
    let on_fp8 = |problem: Problem| {
        let problem = problem.substrate(GpuUnit::Fp8MmaSync);
        planner.plan_on(&problem, &machine)
    };
    let plan = on_fp8(Problem::complex(&[64])).unwrap();
    assert_eq!(plan.substrate(), NAME);
    // The last axis has conversion instructions, and the emulator has none of those for the first: the plan says so.
    let plan = on_fp8(Problem::complex(&[45, 64])).unwrap();
    assert_eq!(plan.substrate(), "fp8-mma-sync and int8-mma-sync");
    assert!(
        plan.to_string().contains("the emulator has no kernel"),
        "{plan}"
    );
    for problem in [
        Problem::real_to_complex(&[64]),
        Problem::complex(&[64]).accuracy(Accuracy::Single),
        Problem::complex(&[343]),
    ] {
        let error = on_fp8(problem.engine(Engine::Digits)).err();
        let error = error.expect("no kernel in fp8").to_string();
        assert!(error.contains("take the substrate auto"), "{error}");
    }
    // Why there is no kernel is part of the error.
    let error = on_fp8(Problem::complex(&[100])).expect_err("no kernel");
    assert!(error.to_string().contains("fp8_25x4"), "{error}");
    let single = Planner::<f32>::new();
    let problem = Problem::complex(&[64]).substrate(GpuUnit::Fp8MmaSync);
    let problem = problem.engine(Engine::Digits);
    assert!(single.plan_on(&problem, &machine).is_err());
    let old: Arc<dyn Machine> = Arc::new(Emulator::default());
    let error = planner.plan_on(&problem, &old).expect_err("too old");
    assert!(matches!(error, FftError::NoFp8 { .. }), "{error}");
    assert!(error.to_string().contains("int8-mma-sync"), "{error}");
}
