//! Both passes of real transforms and of f32 in one launch of the template, under the emulator against the portable unit: a sample of
//! lengths (`crates/ozfft-emulator/build.rs`). Complex transforms of f64 are in `bailey_tests.rs`.

use crate::Layout;
use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::tests::real_tests::{RealBench, half_lines, lines};
use crate::executor::cuda::tests::single_tests::{self, DIRECTIONS};
use crate::executor::cuda::tests::tuned_tests::{NORMS, SEED, numbers_of_all_sizes, power};
use crate::executor::cuda::tests::{Bench, STYLES, Style, numbers};
use crate::problem::{Accuracy, Problem};
use crate::recipe::factor::{self, prime_factors};
use crate::recipe::{BlockRecipe, LineRecipe};
use crate::substrate::GpuUnit;
use num_complex::Complex;
use ozfft_kernels::template::{Ends, KernelSpec, Number, TwoPasses};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Lengths, and columns of the first pass: even and odd numbers of them; last steps of one, of four, and of an even or an odd number of
/// points in either pass.
const REAL: [(usize, usize); 6] = [
    (1372, 28),
    (2016, 48),
    (2048, 32),
    (2205, 49),
    (2916, 54),
    (3000, 50),
];

/// Of f32.
const SINGLE: [(usize, usize); 4] = [(1372, 28), (2048, 32), (2205, 49), (3000, 50)];

/// The one length that has kernels without conversion instructions, too.
const BOTH_VARIANTS: usize = 2048;

/// All lengths with small factors, and on the GPUs that they were made for with two groups or more, but for a few.
#[test]
fn every_length_of_two_passes_has_shapes_of_all_kinds() {
    let steps = |block: &BlockRecipe| {
        assert!(block.steps.len() <= 2, "{block}");
        [0, 1].map(|number| block.steps.get(number).map_or(1, |step| step.n))
    };
    let small = |n: &usize| prime_factors(*n).iter().all(|&factor| factor <= 7);
    let lengths: Vec<usize> = (1025..=4096).filter(small).collect();
    assert_eq!(lengths.len(), 105);
    for (ends, number) in [
        (Ends::Complex, Number::Double),
        (Ends::Complex, Number::Single),
        (Ends::Complex, Number::fewer(5)),
        (Ends::RealToHalf, Number::Double),
        (Ends::RealToHalf, Number::Single),
        (Ends::HalfToReal, Number::Double),
        (Ends::HalfToReal, Number::Single),
    ] {
        let what = format!("{ends:?}, {number:?}");
        let mut several = 0;
        for &n in &lengths {
            let LineRecipe::Passes(blocks) = factor::line(n) else {
                panic!("{n} has small factors");
            };
            let [first, second] = &blocks[..] else {
                panic!("{n}: {} passes", blocks.len());
            };
            for kilobytes in [99, 227] {
                let steps = [steps(first), steps(second)];
                let family = TwoPasses { steps, ends };
                let spec = KernelSpec::new(family, number, false, kilobytes << 10);
                let spec = spec.unwrap_or_else(|| panic!("{n}, {what}, {kilobytes} KB"));
                several += usize::from(kilobytes == 227 && spec.groups >= 2);
            }
        }
        println!("{what}: {several} of {} in several groups", lengths.len());
        assert!(several >= 100, "{what}: {several}");
    }
}

/// Every case must have been one launch, where there is a kernel.
fn check_real(bench: &mut RealBench, problem: &Problem, input: &[f64]) {
    let problem = problem.clone().substrate(GpuUnit::Int8MmaSync);
    let launches = |bench: &RealBench| bench.emulator.template_launches.load(Ordering::Relaxed);
    let (before, cases) = (launches(bench), bench.cases);
    bench.check(&problem, input);
    let (launched, run) = (launches(bench) - before, (bench.cases - cases) as u64);
    let both = problem.shape().ends_with(&[BOTH_VARIANTS]);
    assert_eq!(launched, if both { run } else { run / 2 }, "{problem:?}");
}

/// A line and its half-spectrum, both ways.
fn check_both_ways(
    bench: &mut RealBench,
    (count, n): (usize, usize),
    unusual_every: Option<usize>,
    change: impl Fn(Problem) -> Problem,
) {
    let input = lines(count, n, n, unusual_every, bench.seed());
    let problem = change(Problem::real_to_complex(&[n]).batch(count));
    check_real(bench, &problem, &input);
    let input = half_lines(count, n, n / 2 + 1, unusual_every, bench.seed());
    let problem = change(Problem::complex_to_real(&[n]).batch(count));
    check_real(bench, &problem, &input);
}

/// Groups of warps have from one transform to three at a time, and the emulator has two multiprocessors.
#[test]
fn real_transforms_of_two_passes_in_one_launch() {
    let mut bench = RealBench::new();
    for (number, (n, _)) in REAL.into_iter().enumerate() {
        for (count, norm) in [(1, number), ([5, 2, 14, 3, 4, 11][number], number + 1)] {
            check_both_ways(&mut bench, (count, n), None, |problem| {
                problem.norm(NORMS[norm % 4])
            });
        }
        for style in STYLES {
            let real = numbers::<f64>(2 * n, style, SEED).into_iter();
            let real: Vec<f64> = real.map(|number| number.re).collect();
            check_real(&mut bench, &Problem::real_to_complex(&[n]).batch(2), &real);
            let half = numbers::<f64>(2 * (n / 2 + 1), style, SEED);
            let problem = Problem::complex_to_real(&[n]).batch(2);
            check_real(&mut bench, &problem, bytemuck::cast_slice(&half));
        }
    }
    println!("{} cases", bench.cases);
}

/// Outputs of the first pass at the ends of their range, of which the conjugate is rounded another way; rows that are all zeros or
/// rounding errors; columns whose exponents are far apart.
#[test]
fn words_of_all_sizes_between_passes_of_real_transforms() {
    let mut bench = RealBench::new();
    for (n, columns) in REAL {
        let all = numbers_of_all_sizes(n, columns);
        let real: Vec<f64> = all.iter().map(|number| number.re).collect();
        check_real(&mut bench, &Problem::real_to_complex(&[n]).batch(16), &real);
        let half = all.chunks(n).flat_map(|line| &line[..n / 2 + 1]);
        let half: Vec<Complex<f64>> = half.copied().collect();
        let problem = Problem::complex_to_real(&[n]).batch(16);
        check_real(&mut bench, &problem, bytemuck::cast_slice(&half));
        assert_eq!(bench.left(), 0, "a line was left to the portable kernel");
    }
}

#[test]
fn real_transforms_that_two_passes_in_one_launch_leave() {
    let mut bench = RealBench::new();
    for (n, _) in REAL {
        let left = bench.left();
        check_both_ways(&mut bench, (7, n), Some(2), |problem| problem);
        assert!(bench.left() - left >= 2 * 3, "{n}");
    }
}

#[test]
fn real_transforms_of_two_passes_in_place_and_with_gaps() {
    let mut bench = RealBench::new();
    for (n, _) in REAL {
        let shape = [5, n];
        let (size, padding) = (n as isize, 2 * (n / 2 + 1));
        let problem = Problem::real_to_complex(&shape).axes(&[1]);
        let padded = problem.clone().input_layout(Layout::padded_real(&shape));
        let input = lines(5, n, padding, Some(4), bench.seed());
        check_real(&mut bench, &padded, &input);
        // Lines that begin at odd multiples of 8 bytes, but for the first.
        let from = Layout::strided(&[(size + 6) | 1, 1], 0).with_offset(4);
        let to = Layout::strided(&[size / 2 + 4, 1], 0).with_offset(3);
        let gaps = problem.clone().input_layout(from).output_layout(to);
        let input = lines(6, n, (n + 6) | 1, None, bench.seed());
        check_real(&mut bench, &gaps, &input[..gaps.input_len()]);
        let problem = Problem::complex_to_real(&shape).axes(&[1]);
        let padded = problem.clone().output_layout(Layout::padded_real(&shape));
        let input = half_lines(5, n, n / 2 + 1, Some(4), bench.seed());
        check_real(&mut bench, &padded, &input);
        let to = Layout::strided(&[(size + 3) | 1, 1], 0).with_offset(4);
        check_real(&mut bench, &problem.output_layout(to), &input);
    }
}

/// Lines that do not follow each other at one distance have no kernel for both passes, but one for each.
#[test]
fn real_transforms_in_two_dimensions_of_lines_go_pass_by_pass() {
    let mut bench = RealBench::new();
    let n = BOTH_VARIANTS as isize;
    let shape = [2, 3, BOTH_VARIANTS];
    let launches = |bench: &RealBench| bench.emulator.template_launches.load(Ordering::Relaxed);
    let from = Layout::strided(&[3 * n + 10, n, 1], 0);
    let problem = Problem::real_to_complex(&shape).axes(&[2]);
    let to_half = problem.input_layout(from.clone());
    let problem = Problem::complex_to_real(&shape).axes(&[2]);
    let to_real = problem.output_layout(from);
    for problem in [to_half, to_real] {
        let problem = problem.substrate(GpuUnit::Int8MmaSync);
        let numbers = numbers::<f64>(problem.input_len(), Style::Uniform, SEED);
        let input: &[f64] = bytemuck::cast_slice(&numbers);
        let complex = problem.kind() == crate::kind::Kind::ComplexToReal;
        let length = problem.input_len() * if complex { 2 } else { 1 };
        let before = launches(&bench);
        bench.check(&problem, &input[..length]);
        // Both passes with conversion instructions, which the sample has, for a few transforms at a time. (In one launch, two: with them
        // and without.)
        let launched = launches(&bench) - before;
        assert!(launched > 2 && launched % 2 == 0, "{launched}: {problem:?}");
    }
}

/// Numbers near both ends of the range change the scale between axes.
#[test]
fn real_arrays_with_an_axis_of_two_passes() {
    let mut bench = RealBench::new();
    let shape = [4, BOTH_VARIANTS];
    for exponent in [0, 1020, -1000] {
        let scaled = |numbers: Vec<f64>| -> Vec<f64> {
            numbers.into_iter().map(|x| x * power(exponent)).collect()
        };
        let problem = Problem::real_to_complex(&shape).substrate(GpuUnit::Int8MmaSync);
        let mut input = lines(4, shape[1], shape[1], None, SEED);
        input[shape[1] + 7] = power(1).max(power(exponent));
        let before = bench.emulator.template_launches.load(Ordering::Relaxed);
        bench.check(&problem, &input);
        bench.check(&problem, &scaled(input));
        let problem = Problem::complex_to_real(&shape).substrate(GpuUnit::Int8MmaSync);
        let input = half_lines(4, shape[1], shape[1] / 2 + 1, None, SEED);
        bench.check(&problem, &scaled(input));
        let after = bench.emulator.template_launches.load(Ordering::Relaxed);
        assert!(after > before, "{exponent}");
    }
}

struct SingleBench {
    emulator: Arc<Emulator>,
    bench: Bench<f32>,
}

impl SingleBench {
    fn new() -> Self {
        println!("seed {:#x}", single_tests::SEED);
        let emulator = Arc::new(Emulator::with_tuned_kernels());
        let bench = Bench::on(Arc::<Emulator>::clone(&emulator));
        SingleBench { emulator, bench }
    }

    fn left(&self) -> u64 {
        self.emulator.lines_left.load(Ordering::Relaxed)
    }

    fn launches(&self) -> u64 {
        self.emulator.template_launches.load(Ordering::Relaxed)
    }

    /// One launch out of place and one in place. Kernels for contiguous lines are there as with conversion instructions, those for strided
    /// ones as without.
    fn check(&mut self, problem: &Problem, input: &[Complex<f32>], strided: bool) {
        let problem = problem.clone().accuracy(Accuracy::Single);
        let problem = problem.substrate(GpuUnit::Int8MmaSync);
        let before = self.launches();
        self.bench.check_numbers(&problem, input, &[strided]);
        assert_eq!(self.launches() - before, 2, "{problem:?}");
    }

    fn check_axis(
        &mut self,
        shape: &[usize],
        axis: usize,
        unusual_every: Option<usize>,
        change: impl Fn(Problem) -> Problem,
    ) {
        let seed = single_tests::SEED ^ (self.bench.cases as u64 + 1);
        let input = single_tests::lines(shape, axis, unusual_every, seed);
        let problem = change(Problem::complex(shape).axes(&[axis]));
        self.check(&problem, &input, axis + 1 < shape.len());
    }
}

#[test]
fn transforms_of_f32_of_two_passes_in_one_launch() {
    let mut bench = SingleBench::new();
    for (number, (n, _)) in SINGLE.into_iter().enumerate() {
        bench.check_axis(&[1, n], 1, None, |problem| problem);
        bench.check_axis(&[14, n], 1, None, |problem| problem);
        bench.check_axis(&[n, [3, 7, 5, 14][number]], 0, None, |problem| problem);
        bench.check_axis(&[2, n, 3], 1, None, |problem| problem);
        assert_eq!(bench.left(), 0, "a line was left to a portable kernel");
    }
    for (number, (n, _)) in SINGLE.into_iter().enumerate() {
        for (turn, direction) in DIRECTIONS.into_iter().enumerate() {
            let norm = NORMS[(2 * number + turn) % 4];
            let change = |problem: Problem| problem.norm(norm).direction(direction);
            bench.check_axis(&[14, n], 1, None, change);
            bench.check_axis(&[n, 3], 0, None, change);
        }
        for style in STYLES {
            let input = numbers::<f32>(2 * n, style, SEED);
            bench.check(&Problem::complex(&[n]).batch(2), &input, false);
        }
    }
    println!("{} cases", bench.bench.cases);
}

/// The same kinds as of f64, as far apart as f32 allows: rows of the second pass have units down to 2^-120.
#[test]
fn words_of_all_sizes_between_passes_of_f32() {
    let mut bench = SingleBench::new();
    for (n, columns) in SINGLE {
        for exponent in [0, 40, -40] {
            let all = numbers_of_all_sizes(n, columns).into_iter();
            let narrow = |x: f64| x.clamp(-1e6, 1e6) as f32 * 2f32.powi(exponent);
            let input: Vec<_> = all
                .map(|number| Complex::new(narrow(number.re), narrow(number.im)))
                .collect();
            let left = bench.left();
            bench.check(&Problem::complex(&[n]).batch(16), &input, false);
            // Of the 16 transforms those with columns that are too small.
            let most = if exponent < 0 { 5 } else { 3 };
            assert!(bench.left() - left <= 2 * most, "{n}, 2^{exponent}");
        }
    }
}

#[test]
fn transforms_of_f32_that_two_passes_in_one_launch_leave() {
    let mut bench = SingleBench::new();
    for (n, _) in SINGLE {
        let left = bench.left();
        bench.check_axis(&[7, n], 1, Some(2), |problem| problem);
        bench.check_axis(&[n, 7], 0, Some(2), |problem| problem);
        // In place and out of place, of either layout.
        assert!(bench.left() - left >= 4 * 3, "{n}");
    }
}

/// The first axis scales results down that are small beside a number that asks for it; that must be exact.
#[test]
fn scales_between_axes_of_f32_with_an_axis_of_two_passes() {
    let mut bench = SingleBench::new();
    let n = BOTH_VARIANTS;
    for shape in [[6, n], [n, 6]] {
        for style in STYLES {
            let mut input = numbers::<f32>(6 * n, style, SEED);
            for (turn, number) in input.iter_mut().enumerate() {
                // Lines whose rows are rounding errors but for one.
                if style == Style::Uniform && turn / n >= 2 {
                    *number = Complex::new(1.0, -0.75) * 2f32.powi(-10 * (turn / n) as i32);
                }
            }
            if style == Style::Uniform {
                input[n / 2].re = 3e38;
            }
            let problem = Problem::complex(&shape).accuracy(Accuracy::Single);
            let problem = problem.substrate(GpuUnit::Int8MmaSync);
            let before = bench.launches();
            // Axes are contiguous or strided, with kernels of one name or the other.
            bench.bench.check_numbers(&problem, &input, &[false, true]);
            assert!(bench.launches() > before, "{problem:?}");
        }
    }
}
