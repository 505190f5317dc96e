//! The template's kernels for lines of f64 in words of fewer digits under the emulator against the portable unit: a sample of lengths
//! (`crates/ozfft-emulator/build.rs`), with every matrix that plans have for such words.

use crate::Layout;
use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::tests::real_tests::{self, RealBench, transposed};
use crate::executor::cuda::tests::single_tests::{DIRECTIONS, NORMS};
use crate::executor::cuda::tests::tuned_tests::{SEED, lines, numbers_of_all_sizes};
use crate::executor::cuda::tests::{Bench, STYLES, Style, everything, numbers};
use crate::plan::planner::Planner;
use crate::problem::{Accuracy, Engine, Problem};
use crate::recipe::Digits;
use crate::substrate::GpuUnit;
use num_complex::Complex;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Digits of a word and diagonals.
type Kind = [u32; 2];

/// Lengths of one block.
const SAMPLE: [(Kind, &[usize]); 8] = [
    ([3, 3], &[64, 360]),
    ([4, 4], &[63, 360]),
    ([5, 5], &[32, 64, 63, 360, 1000]),
    ([6, 6], &[64, 63, 360]),
    ([7, 7], &[63, 360, 1024]),
    ([4, 5], &[64]),
    ([6, 7], &[360]),
    ([7, 8], &[360]),
];

/// The same for real lines and half-spectra.
const REAL: [(Kind, usize); 7] = [
    ([3, 3], 63),
    ([3, 3], 32),
    ([4, 4], 64),
    ([5, 5], 360),
    ([6, 6], 63),
    ([7, 7], 64),
    ([6, 7], 360),
];

/// Of five digits, both passes in one launch; and columns of the first one.
const PASSES: [(usize, usize); 2] = [(2048, 32), (3000, 50)];

/// Pass by pass.
const LONG: [(Kind, usize); 5] = [
    ([3, 3], 2048),
    ([4, 4], 14580),
    ([5, 5], 14580),
    ([7, 7], 14580),
    ([7, 8], 14580),
];

/// Bluestein's convolutions: of one block, and of two passes.
const CONVOLUTIONS: [(Kind, usize); 3] = [([3, 3], 71), ([7, 7], 71), ([4, 4], 131)];

/// A problem in words of so many digits with so many diagonals: once for every matrix that a target asks for. (Of some norms that is none.)
fn in_digits(problem: &Problem, kind: Kind) -> Vec<Problem> {
    let planner = Planner::<f64>::new();
    let problem = problem.clone().engine(Engine::Digits);
    let mut seen: Vec<Digits> = Vec::new();
    let mut found = Vec::new();
    // About where plans have words of so many digits.
    let first = 9 * (kind[0] - 2) - 5;
    for quarter in first..first + 18 {
        let target = 10f64.powf(-f64::from(quarter) / 4.0);
        let problem = problem.clone().accuracy(Accuracy::Target(target));
        let Ok(plan) = planner.plan(&problem) else {
            continue;
        };
        let digits = plan.recipe().expect("digits").digits;
        if [digits.data, digits.diagonals] == kind && !seen.contains(&digits) {
            seen.push(digits);
            found.push(problem.substrate(GpuUnit::Int8MmaSync));
        }
    }
    found
}

/// Names of the kernels that were launched since, which must be of words of so many digits.
fn launched(emulator: &Emulator, before: usize, kind: Kind) -> usize {
    let names = emulator.launched_names();
    let [digits, diagonals] = kind;
    let prefix = format!("bailey_digits{digits}{diagonals}_");
    for name in &names[before..] {
        assert!(name.starts_with(&prefix), "{name} for {kind:?}");
    }
    names.len() - before
}

/// Eight digits and matrices of fewer: the kernels of `Double` with zeros in their tables.
#[test]
fn lines_in_eight_digits_with_shorter_matrices_have_the_bits_of_the_processor() {
    let mut bench = FewerBench::new();
    for n in [64, 360] {
        let problem = Problem::complex(&[5, n]).axes(&[1]);
        let problems = in_digits(&problem, [8, 8]);
        let input = lines(&[5, n], 1, None, SEED);
        for problem in problems {
            let before = bench.emulator.template_launches.load(Ordering::Relaxed);
            bench.bench.check_numbers(&problem, &input, &[false]);
            let launches = bench.emulator.template_launches.load(Ordering::Relaxed);
            assert!(launches > before, "{problem:?}");
        }
    }
}

struct FewerBench {
    emulator: Arc<Emulator>,
    bench: Bench<f64>,
}

impl FewerBench {
    fn new() -> Self {
        println!("seed {SEED:#x}");
        let emulator = Arc::new(Emulator::with_tuned_kernels());
        let bench = Bench::on(Arc::<Emulator>::clone(&emulator));
        FewerBench { emulator, bench }
    }

    /// With conversion instructions or without; the template must have run, out of place and in place where that can be.
    fn check(&mut self, kind: Kind, problem: &Problem, input: &[Complex<f64>], conversions: bool) {
        for problem in in_digits(problem, kind) {
            let before = self.emulator.launched_names().len();
            self.bench.check_numbers(&problem, input, &[!conversions]);
            let count = launched(&self.emulator, before, kind);
            assert!(count > 0, "{problem:?}");
        }
    }

    /// One axis of an array of lines of all kinds: contiguous lines with conversions, strided ones without. Returns how often it was done.
    fn check_axis(
        &mut self,
        kind: Kind,
        shape: &[usize],
        axis: usize,
        unusual_every: Option<usize>,
        change: impl Fn(Problem) -> Problem,
    ) -> usize {
        let seed = SEED ^ (self.bench.cases as u64 + 1);
        let input = lines(shape, axis, unusual_every, seed);
        let problem = change(Problem::complex(shape).axes(&[axis]));
        let before = self.bench.cases;
        self.check(kind, &problem, &input, axis + 1 == shape.len());
        self.bench.cases - before
    }

    fn left(&self) -> u64 {
        self.emulator.lines_left.load(Ordering::Relaxed)
    }
}

#[test]
fn lines_in_fewer_digits_have_the_bits_of_the_processor() {
    let mut bench = FewerBench::new();
    for (kind, lengths) in SAMPLE {
        for &n in lengths {
            for count in [1, 7, 29] {
                let cases = bench.check_axis(kind, &[count, n], 1, None, |problem| problem);
                assert!(cases > 0, "{kind:?}, {n}");
                // A single line is contiguous.
                if count > 1 {
                    bench.check_axis(kind, &[n, count], 0, None, |problem| problem);
                }
            }
            bench.check_axis(kind, &[2, n, 5], 1, None, |problem| problem);
        }
    }
    assert_eq!(bench.left(), 0, "a line was left to a portable kernel");
    println!("{} cases", bench.bench.cases);
}

#[test]
fn lines_in_fewer_digits_that_the_template_leaves_among_others() {
    let mut bench = FewerBench::new();
    for (kind, lengths) in SAMPLE {
        for &n in lengths {
            for (count, every) in [(7, 1), (28, 4)] {
                let left = bench.left();
                let cases = bench.check_axis(kind, &[count, n], 1, Some(every), |problem| problem)
                    + bench.check_axis(kind, &[n, count], 0, Some(every), |problem| problem);
                // In place and out of place.
                let expected = 2 * cases * (count / every);
                assert_eq!(bench.left() - left, expected as u64, "{n}");
            }
        }
    }
    println!("{} cases", bench.bench.cases);
}

#[test]
fn norms_directions_layouts_and_styles_of_lines_in_fewer_digits() {
    let mut bench = FewerBench::new();
    for (kind, lengths) in SAMPLE {
        let n = lengths[0];
        for norm in NORMS {
            for direction in DIRECTIONS {
                let change = |problem: Problem| problem.norm(norm).direction(direction);
                bench.check_axis(kind, &[5, n], 1, None, change);
                bench.check_axis(kind, &[n, 5], 0, None, change);
            }
        }
        for style in STYLES {
            let problem = Problem::complex(&[6, n]).axes(&[1]);
            let layout = Layout::strided(&[n as isize + 3, 1], 0).with_offset(2);
            let problem = problem.input_layout(layout.clone()).output_layout(layout);
            let input = numbers(problem.input_len(), style, SEED);
            bench.check(kind, &problem, &input, true);
        }
    }
    println!("{} cases", bench.bench.cases);
}

/// Scales between axes, found by the first of them among the lines that it leaves.
#[test]
fn several_axes_in_fewer_digits() {
    let mut bench = FewerBench::new();
    for (kind, shape) in [([3, 3], [64, 360]), ([5, 5], [32, 64]), ([7, 7], [63, 360])] {
        for (turn, style) in STYLES.into_iter().enumerate() {
            let problem = Problem::complex(&shape);
            let input = numbers(problem.input_len(), style, SEED);
            for conversions in [true, false] {
                if conversions == (turn % 2 == 0) || everything() {
                    bench.check(kind, &problem, &input, conversions);
                }
            }
        }
    }
    println!("{} cases", bench.bench.cases);
}

#[test]
fn passes_in_fewer_digits_have_the_bits_of_the_processor() {
    let mut bench = FewerBench::new();
    for (n, columns) in PASSES {
        for count in [1, 5] {
            bench.check_axis([5, 5], &[count, n], 1, None, |problem| problem);
            bench.check_axis([5, 5], &[n, count + 1], 0, None, |problem| problem);
        }
        let left = bench.left();
        let input = numbers_of_all_sizes(n, columns);
        bench.check([5, 5], &Problem::complex(&[16, n]).axes(&[1]), &input, true);
        assert_eq!(bench.left(), left, "a line was left to a portable kernel");
        for style in STYLES {
            let problem = Problem::complex(&[n]).batch(2);
            let input = numbers(problem.input_len(), style, SEED);
            bench.check([5, 5], &problem, &input, true);
        }
        let left = bench.left();
        bench.check_axis([5, 5], &[7, n], 1, Some(2), |problem| problem);
        bench.check_axis([5, 5], &[n, 7], 0, Some(2), |problem| problem);
        assert!(bench.left() > left, "{n}");
    }
    println!("{} cases", bench.bench.cases);
}

#[test]
fn long_transforms_in_fewer_digits_have_the_bits_of_the_processor() {
    let mut bench = FewerBench::new();
    for (number, (kind, n)) in LONG.into_iter().enumerate() {
        for (turn, style) in STYLES.into_iter().enumerate() {
            if (turn + number) % 2 == 1 && !everything() {
                continue;
            }
            let problem = Problem::complex(&[n]).batch(1 + turn % 2);
            let problem = problem.direction(DIRECTIONS[(turn / 2 + number) % 2]);
            let input = numbers(problem.input_len(), style, SEED ^ turn as u64);
            // Of seven digits there are kernels without conversion instructions, too.
            bench.check(kind, &problem, &input, kind != [7, 7] || turn / 2 % 2 == 0);
        }
        let input = lines(&[6, n], 1, Some(3), SEED);
        let left = bench.left();
        bench.check(kind, &Problem::complex(&[n]).batch(6), &input, true);
        assert!(bench.left() > left, "{kind:?}, {n}");
    }
    println!("{} cases", bench.bench.cases);
}

#[test]
fn convolutions_in_fewer_digits_have_the_bits_of_the_processor() {
    let mut bench = FewerBench::new();
    for (number, (kind, n)) in CONVOLUTIONS.into_iter().enumerate() {
        for (turn, style) in STYLES.into_iter().enumerate() {
            let problem = Problem::complex(&[n]).batch([1, 2, 9][turn % 3]);
            let problem = problem.direction(DIRECTIONS[(turn + number) % 2]);
            let problem = problem.norm(NORMS[turn % NORMS.len()]);
            let input = numbers(problem.input_len(), style, SEED ^ turn as u64);
            bench.check(kind, &problem, &input, false);
        }
        bench.check_axis(kind, &[n, 5], 0, None, |problem| problem);
        bench.check_axis(kind, &[n, 7], 0, Some(2), |problem| problem);
    }
    assert!(bench.bench.cases >= 3 * (STYLES.len() + 2));
    println!("{} cases", bench.bench.cases);
}

/// With and without conversion instructions; one of both must have been the template's.
fn check_real(bench: &mut RealBench, kind: Kind, problem: &Problem, input: &[f64]) {
    let problems = in_digits(problem, kind);
    assert!(!problems.is_empty(), "{kind:?}: {problem:?}");
    for problem in problems {
        let before = bench.emulator.launched_names().len();
        bench.check(&problem, input);
        let count = launched(&bench.emulator, before, kind);
        assert!(count > 0, "{problem:?}");
    }
}

#[test]
fn real_lines_and_half_spectra_in_fewer_digits_have_the_bits_of_the_processor() {
    let mut bench = RealBench::new();
    for (kind, n) in REAL {
        let half = n / 2 + 1;
        for (count, unusual_every) in [(1, None), (2, None), (11, None), (40, None), (9, Some(2))] {
            let left = bench.left();
            let input = real_tests::lines(count, n, n, unusual_every, bench.seed());
            let problem = Problem::real_to_complex(&[n]).batch(count);
            check_real(&mut bench, kind, &problem, &input);
            if count > 1 {
                let problem = Problem::real_to_complex(&[n, count]).axes(&[0]);
                check_real(&mut bench, kind, &problem, &transposed(&input, n));
            }
            let input = real_tests::half_lines(count, n, half, unusual_every, bench.seed());
            let problem = Problem::complex_to_real(&[n]).batch(count);
            check_real(&mut bench, kind, &problem, &input);
            if count > 1 {
                let halves: Vec<Complex<f64>> = bytemuck::cast_slice(&input).to_vec();
                let problem = Problem::complex_to_real(&[n, count]).axes(&[0]);
                let input = transposed(&halves, half);
                check_real(&mut bench, kind, &problem, bytemuck::cast_slice(&input));
            }
            assert_eq!(bench.left() > left, unusual_every.is_some(), "{n}");
        }
        for style in STYLES {
            let real = numbers::<f64>(3 * n, style, SEED).into_iter();
            let real: Vec<f64> = real.map(|number| number.re).collect();
            let problem = Problem::real_to_complex(&[n]).batch(3);
            check_real(&mut bench, kind, &problem, &real);
            let input = numbers::<f64>(3 * half, style, SEED);
            let problem = Problem::complex_to_real(&[n]).batch(3);
            check_real(&mut bench, kind, &problem, bytemuck::cast_slice(&input));
        }
    }
    println!("{} cases", bench.cases);
}

/// Both passes in one launch, and pass by pass.
#[test]
fn real_passes_in_fewer_digits_have_the_bits_of_the_processor() {
    let mut bench = RealBench::new();
    let together = PASSES.map(|(n, _)| ([5, 5], n));
    for (number, (kind, n)) in together.into_iter().chain(LONG).enumerate() {
        let half = n / 2 + 1;
        for (count, unusual_every) in [(1, None), (3, None), (4, Some(2))] {
            // Several lines of every kind, and one of some.
            if count == 1 && number % 3 != 0 && !everything() {
                continue;
            }
            let input = real_tests::lines(count, n, n, unusual_every, bench.seed());
            let problem = Problem::real_to_complex(&[n]).batch(count);
            check_real(&mut bench, kind, &problem, &input);
            let input = real_tests::half_lines(count, n, half, unusual_every, bench.seed());
            let problem = Problem::complex_to_real(&[n]).batch(count);
            check_real(&mut bench, kind, &problem, &input);
        }
        for style in [Style::Wild, Style::NotFinite] {
            let real = numbers::<f64>(2 * n, style, SEED).into_iter();
            let real: Vec<f64> = real.map(|number| number.re).collect();
            check_real(
                &mut bench,
                kind,
                &Problem::real_to_complex(&[n]).batch(2),
                &real,
            );
        }
    }
    println!("{} cases", bench.cases);
}
