//! The tuned kernels under the emulator against the portable unit, as `tests/cuda_tuned.rs` compares them on a GPU: every
//! way of laying out lines that they know, with and without conversion instructions, and lines that they must leave to the
//! portable kernel among those that they take.

use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::device::machine::{DeviceMemory, Machine};
use crate::executor::cuda::tests::{Bench, Generator, STYLES, Style, everything, numbers, same};
use crate::problem::DevicePointer;
use crate::problem::{Accuracy, Direction, Engine, Norm, Problem};
use crate::substrate::{GpuUnit, Substrate};
use crate::{Layout, Planner};
use num_complex::Complex;
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub(crate) const SEED: u64 = 0x7e57_7ed0_0b57_ac1e;
pub(crate) const LENGTHS: [usize; 3] = [256, 512, 1024];
/// Those of `tuned_mixed.cu`.
const MIXED: [usize; 10] = [128, 192, 320, 384, 480, 640, 768, 800, 960, 1000];
pub(crate) const NORMS: [Norm; 4] = [Norm::Backward, Norm::Ortho, Norm::Forward, Norm::Unscaled];
const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Inverse];

pub(crate) fn power(exponent: i32) -> f64 {
    // Not `powi`, of which some compilers make a division by infinity.
    crate::portable::power_of_two(exponent)
}

/// Of `tuned_passes.cu`.
const TWO_PASSES: usize = 4096;

/// The smallest power of two that may be the largest number of a line, or, where it has two passes, of a column of the
/// first one.
fn least_power(n: usize) -> i32 {
    if n == TWO_PASSES { -767 } else { -895 }
}

/// Numbers of a line that the tuned kernels take, of one of 12 kinds.
fn usual(line: usize, index: usize, random: Complex<f64>, n: usize) -> Complex<f64> {
    match line % 12 {
        1 => Complex::new(random.re, 0.0),
        2 => Complex::new(-0.0, random.im),
        3 if index == line % n => Complex::new(3.0, -1.0),
        3 => random * 1e-9,
        4 => Complex::new(1.0, 0.25),
        5 => random * power((index * 7 % 120) as i32 - 60),
        6 => random * power((line * 3 % 1700) as i32 - 850).max(power(least_power(n) + 12)),
        7 => Complex::new(0.0, 0.0),
        // Real but for the smallest imaginary number there is.
        8 if index + 1 == n => Complex::new(random.re, f64::from_bits(1)),
        8 => Complex::new(random.re, 0.0),
        9 => Complex::new((random.re * 8.0).round(), (random.im * 8.0).round()),
        // One large output, and many small ones.
        10 => Complex::new(1.0 + random.re * 1e-12, random.im * 1e-12),
        // The smallest and the largest numbers that are not left.
        11 if index == 3 || n == TWO_PASSES && index / 64 == 3 => {
            Complex::new(0.0, 1.0) * power([least_power(n), 877][line / 12 % 2])
        }
        11 => random * power([least_power(n) - 1, 876][line / 12 % 2]),
        _ => random,
    }
}

/// Near the ends of the range, or not finite: what the tuned kernels leave to a portable one.
fn unusual(kind: usize, index: usize, random: Complex<f64>) -> Complex<f64> {
    match kind % 7 {
        0 if index == 5 => Complex::new(f64::from_bits(0xfff4_0000_dead_beef), 0.0),
        1 if index == 7 => Complex::new(1.0, f64::NEG_INFINITY),
        2 => random * power(1000),
        3 => random * power(-1060),
        4 => Complex::new(f64::from_bits(kind as u64 + 1), 0.0),
        // Just beyond what is not left.
        5 if index == 3 => Complex::new(1.0, 0.0) * power(-896),
        5 => random * power(-897),
        6 if index == 3 => Complex::new(0.0, 1.0) * power(878),
        _ => random,
    }
}

/// An array whose lines along one axis are of all kinds; `unusual_every` so many of them is an unusual one.
pub(crate) fn lines(
    shape: &[usize],
    axis: usize,
    unusual_every: Option<usize>,
    seed: u64,
) -> Vec<Complex<f64>> {
    let n = shape[axis];
    let inner: usize = shape[axis + 1..].iter().product();
    let random = numbers::<f64>(shape.iter().product(), Style::Uniform, seed);
    let number = |(place, &random): (usize, &Complex<f64>)| {
        let (index, line) = (
            place / inner % n,
            place / (inner * n) * inner + place % inner,
        );
        match unusual_every {
            Some(every) if line % every == every - 1 => unusual(line / every, index, random),
            _ => usual(line, index, random, n),
        }
    };
    random.iter().enumerate().map(number).collect()
}

/// A machine with tuned kernels, and what is to be known of it afterwards.
struct TunedBench {
    emulator: Arc<Emulator>,
    bench: Bench<f64>,
    substrate: (Substrate, &'static str),
}

const INT8: (Substrate, &str) = (Substrate::Auto, "int8-wgmma");
const FP8: (Substrate, &str) = (Substrate::Gpu(GpuUnit::Fp8Wgmma), "fp8-wgmma");

impl TunedBench {
    fn new(substrate: (Substrate, &'static str)) -> Self {
        println!("seed {SEED:#x}");
        let emulator = Arc::new(Emulator::with_tuned_kernels());
        let bench = Bench::on(Arc::<Emulator>::clone(&emulator));
        TunedBench {
            emulator,
            bench,
            substrate,
        }
    }

    /// With and without conversion instructions.
    fn check(&mut self, problem: &Problem, input: &[Complex<f64>]) {
        let problem = problem.clone().substrate(self.substrate.0);
        let found = self.bench.check_numbers(&problem, input, &[true, false]);
        assert_eq!(found, self.substrate.1, "{problem:?}");
    }

    /// One axis of an array of lines of all kinds.
    fn check_axis(
        &mut self,
        shape: &[usize],
        axis: usize,
        unusual_every: Option<usize>,
        change: impl Fn(Problem) -> Problem,
    ) {
        let seed = SEED ^ (self.bench.cases as u64 + 1);
        let input = lines(shape, axis, unusual_every, seed);
        self.check(&change(Problem::complex(shape).axes(&[axis])), &input);
    }

    fn left(&self) -> u64 {
        self.emulator.lines_left.load(Ordering::Relaxed)
    }
}

/// Panels are of four or eight lines, and the emulator has two multiprocessors: some counts fill no panel, with others a
/// block has several.
#[test]
fn lines_that_tuned_kernels_take() {
    lines_of_all_kinds(&LENGTHS, &[1, 5, 12, 37], 0);
}

#[test]
fn lines_that_mixed_kernels_take() {
    // All counts for all lengths take the emulator too long: a length has one of them, or two.
    for (number, &n) in MIXED.iter().enumerate() {
        let counts = [[1, 7], [7, 37], [37, 1]][number % 3];
        let counts = if everything() {
            &counts[..]
        } else {
            &counts[..1]
        };
        lines_of_all_kinds(&[n], counts, number);
    }
}

/// Contiguous and strided lines, and lines between other axes: two of these layouts in turn, beginning with `turn`, or all four.
fn lines_of_all_kinds(lengths: &[usize], counts: &[usize], turn: usize) {
    let mut bench = TunedBench::new(INT8);
    for (turn, &n) in (turn..).zip(lengths) {
        for &count in counts {
            bench.check_axis(&[count, n], 1, None, |problem| problem);
            bench.check_axis(&[n, count], 0, None, |problem| problem);
        }
        let between: [(&[usize], usize); 4] = [
            (&[3, n, 5], 1),
            (&[2, 2, n, 8], 2),
            (&[2, n, 17], 1),
            (&[n, 3, 4], 0),
        ];
        let taken = if everything() {
            &between[..]
        } else {
            &between[2 * (turn % 2)..][..2]
        };
        for &(shape, axis) in taken {
            bench.check_axis(shape, axis, None, |problem| problem);
        }
    }
    assert_eq!(bench.left(), 0, "a line was left to a portable kernel");
    println!("{} cases", bench.bench.cases);
}

/// Contiguous transforms of two passes, of which a block has one at a time.
#[test]
fn transforms_of_two_passes() {
    let mut bench = TunedBench::new(INT8);
    let n = TWO_PASSES;
    for count in [1, 24, 5] {
        bench.check_axis(&[count, n], 1, None, |problem| problem);
    }
    for norm in NORMS {
        for direction in DIRECTIONS {
            let change = |problem: Problem| problem.norm(norm).direction(direction);
            bench.check_axis(&[3, n], 1, None, change);
        }
    }
    assert_eq!(bench.left(), 0, "a line was left to a portable kernel");
    // Gaps between lines, of either array or of both.
    let gaps = Layout::strided(&[n as isize + 3, 1], 0).with_offset(2);
    let problem = Problem::complex(&[3, n]).axes(&[1]);
    let from = problem.clone().input_layout(gaps.clone());
    let to = problem.clone().output_layout(gaps.clone());
    let both = problem.input_layout(gaps.clone()).output_layout(gaps);
    for (problem, style) in [
        (from, Style::Sparse),
        (to, Style::Edge),
        (both, Style::Wild),
    ] {
        bench.check(&problem, &numbers(problem.input_len(), style, SEED));
    }
    println!("{} cases", bench.bench.cases);
}

/// 16 transforms of two passes, with so many columns: outputs of the first pass at the ends of their range, rows of the second that are
/// all zeros or rounding errors, and rows whose columns have exponents far apart.
pub(crate) fn numbers_of_all_sizes(n: usize, columns: usize) -> Vec<Complex<f64>> {
    let random = numbers::<f64>(16 * n, Style::Uniform, SEED);
    let number = |(place, &random): (usize, &Complex<f64>)| {
        let (line, index) = (place / n, place % n);
        let (row, column) = (index / columns, index % columns);
        let sign = |odd: bool| if odd { -1.0 } else { 1.0 };
        match line {
            // All numbers of a column add up, to a power of two, of either sign, and to just less or more.
            0 => Complex::new(sign(column % 2 == 1), 0.0),
            1 => Complex::new(-1.0, -1.0),
            2 => Complex::new(sign(column % 3 == 1), sign(row % 2 == 1)),
            3 => Complex::new(1.0 - f64::EPSILON, 0.0) * sign(column % 2 == 1),
            // Columns with exponents of their own; zeros among them.
            4 => random * power((column * 11 % 130) as i32 - 65),
            5 if column % 5 == 0 => Complex::new(0.0, 0.0),
            5 => random * power(column as i32),
            6 if column == 9 => random,
            6 => Complex::new(0.0, 0.0),
            7 if column == 9 => random,
            7 => random * power(-700),
            // One number; one row; one column of ones.
            8 if index == 77 => Complex::new(1.0, -1.0),
            9 if row == 5 => random,
            10 if column == 5 => Complex::new(1.0, 0.0),
            8..=10 => Complex::new(0.0, 0.0),
            // Small integers, and a wave of a row's frequency.
            11 => Complex::new((random.re * 3.0).round(), (random.im * 3.0).round()),
            12 => Complex::new(sign(row % 2 == 1), 0.0),
            13 => Complex::new(sign(row / 2 % 2 == 1), sign(row.div_ceil(2) % 2 == 1)),
            14 => Complex::new(sign(index % 2 == 1), 0.0) * power(column as i32 / 8),
            _ => random * power((row * 3) as i32 - 90),
        }
    };
    random.iter().enumerate().map(number).collect()
}

/// Outputs of the first pass at the ends of their range, rows of the second that are all zeros or rounding errors, and rows
/// whose columns have exponents far apart.
#[test]
fn words_of_all_sizes_between_two_passes() {
    let mut bench = TunedBench::new(INT8);
    let n = TWO_PASSES;
    let input = numbers_of_all_sizes(n, 64);
    bench.check(&Problem::complex(&[16, n]).axes(&[1]), &input);
    assert_eq!(bench.left(), 0, "a line was left to a portable kernel");
    for style in STYLES {
        let problem = Problem::complex(&[2, n]).axes(&[1]);
        bench.check(&problem, &numbers(problem.input_len(), style, SEED));
    }
    println!("{} cases", bench.bench.cases);
}

#[test]
fn transforms_of_two_passes_that_are_left_among_others() {
    let mut bench = TunedBench::new(INT8);
    for (count, every) in [(1, 1), (7, 1), (12, 4)] {
        let left = bench.left();
        bench.check_axis(&[count, TWO_PASSES], 1, Some(every), |problem| problem);
        // With and without conversions, in place and out of place.
        assert_eq!(bench.left() - left, 4 * (count / every) as u64);
    }
    println!("{} cases", bench.bench.cases);
}

#[test]
fn lines_that_tuned_kernels_leave_among_others() {
    let mut bench = TunedBench::new(INT8);
    let lengths = LENGTHS.into_iter().chain([128, 192, 640, 1000]);
    for (number, n) in lengths.enumerate() {
        for (turn, (count, every)) in [(1, 1), (7, 1), (30, 4), (44, 11)].into_iter().enumerate() {
            if (number + turn) % 2 == 1 && !everything() {
                continue;
            }
            let left = bench.left();
            bench.check_axis(&[count, n], 1, Some(every), |problem| problem);
            // With and without conversions, in place and out of place.
            assert_eq!(bench.left() - left, 4 * (count / every) as u64);
            bench.check_axis(&[n, count], 0, Some(every), |problem| problem);
        }
        bench.check_axis(&[2, n, 19], 1, Some(9), |problem| problem);
    }
    println!("{} cases", bench.bench.cases);
}

#[test]
fn norms_directions_and_gaps_of_tuned_kernels() {
    let mut bench = TunedBench::new(INT8);
    let lengths = LENGTHS.into_iter().chain([128, 480, 1000]);
    for (place, n) in lengths.enumerate() {
        for (number, norm) in NORMS.into_iter().enumerate() {
            for (turn, direction) in DIRECTIONS.into_iter().enumerate() {
                let change = |problem: Problem| problem.norm(norm).direction(direction);
                // Every norm and direction of some length, each of every other one; all of all take four times as long.
                let share = (number + 2 * turn + place) % 4;
                if share == 0 || everything() {
                    bench.check_axis(&[5, n], 1, None, change);
                }
                if share == 2 || everything() {
                    bench.check_axis(&[n, 5], 0, None, change);
                }
            }
        }
        // Gaps between lines, and between their elements, of either array or of both.
        let size = n as isize;
        let rows = Layout::strided(&[size + 3, 1], 0).with_offset(2);
        let columns = Layout::strided(&[7, 1], 0).with_offset(1);
        let groups = Layout::strided(&[size * 9 + 4, 9, 1], 0);
        let layouts = [
            (vec![6, n], 1, rows),
            (vec![n, 6], 0, columns),
            (vec![3, n, 7], 1, groups),
        ];
        for (number, (shape, axis, layout)) in layouts.into_iter().enumerate() {
            let problem = Problem::complex(&shape).axes(&[axis]);
            let from = problem.clone().input_layout(layout.clone());
            let to = problem.clone().output_layout(layout.clone());
            let both = problem.input_layout(layout.clone()).output_layout(layout);
            for (problem, style) in [
                (from, Style::Sparse),
                (to, Style::Edge),
                (both, Style::Uniform),
            ] {
                let seed = SEED ^ (n + number) as u64;
                bench.check(&problem, &numbers(problem.input_len(), style, seed));
            }
        }
    }
    println!("{} cases", bench.bench.cases);
}

/// One number near overflow changes the scale between axes of all lines, also of those that were stored before it was
/// found.
#[test]
fn several_axes_and_the_search_for_the_largest_number() {
    let mut bench = TunedBench::new(INT8);
    for shape in [
        &[256, 256][..],
        &[2, 256, 8],
        &[512, 5, 2],
        &[3, 1024],
        &[4, 1000],
        &[128, 192],
        &[3, TWO_PASSES],
    ] {
        for huge in [false, true] {
            if huge && shape == [256, 256] && !everything() {
                continue;
            }
            let mut input = numbers::<f64>(shape.iter().product(), Style::Uniform, SEED);
            if huge {
                let middle = input.len() / 2;
                input[middle].re = 1.5e308;
                input[7].im = f64::INFINITY;
            }
            let problem = Problem::complex(shape);
            let substrate = bench.bench.check_numbers(&problem, &input, &[true, false]);
            assert!(
                substrate.starts_with("int8-wgmma"),
                "{shape:?}: {substrate}"
            );
            // All lines near overflow: none is for the tuned kernels of the first axis.
            let input: Vec<_> = input.iter().map(|z| z * power(1015)).collect();
            bench.bench.check_numbers(&problem, &input, &[false]);
        }
    }
    println!("{} cases", bench.bench.cases);
}

/// Words of five and of six digits.
const FEW_DIGITS: [Accuracy; 2] = [Accuracy::Single, Accuracy::Target(1e-10)];

#[test]
fn lines_of_few_digits_that_tuned_kernels_take() {
    let mut bench = TunedBench::new(INT8);
    for accuracy in FEW_DIGITS {
        for n in LENGTHS {
            let change = |problem: Problem| problem.accuracy(accuracy);
            for count in [1, 12, 37] {
                bench.check_axis(&[count, n], 1, None, change);
                bench.check_axis(&[n, count], 0, None, change);
            }
            bench.check_axis(&[2, n, 17], 1, None, change);
        }
    }
    assert_eq!(bench.left(), 0, "a line was left to a portable kernel");
    println!("{} cases", bench.bench.cases);
}

#[test]
fn unusual_lines_norms_and_directions_of_few_digits() {
    let mut bench = TunedBench::new(INT8);
    for accuracy in FEW_DIGITS {
        for n in LENGTHS {
            let change = |problem: Problem| problem.accuracy(accuracy);
            let left = bench.left();
            bench.check_axis(&[30, n], 1, Some(4), change);
            // With and without conversions, in place and out of place.
            assert_eq!(bench.left() - left, 4 * (30 / 4));
            bench.check_axis(&[n, 30], 0, Some(4), change);
        }
        for norm in NORMS {
            for direction in DIRECTIONS {
                let change = |problem: Problem| {
                    let problem = problem.norm(norm).direction(direction);
                    problem.accuracy(accuracy)
                };
                bench.check_axis(&[9, 256], 1, None, change);
                bench.check_axis(&[512, 9], 0, None, change);
            }
        }
        for huge in [false, true] {
            let shape = if everything() {
                [256, 2, 256]
            } else {
                [256, 2, 6]
            };
            let mut input = numbers::<f64>(shape.iter().product(), Style::Uniform, SEED);
            if huge {
                input[1000].re = 1.5e308;
            }
            let problem = Problem::complex(&shape).accuracy(accuracy);
            let substrate = bench.bench.check_numbers(&problem, &input, &[true, false]);
            assert!(substrate.starts_with("int8-wgmma"), "{substrate}");
        }
    }
    println!("{} cases", bench.bench.cases);
}

/// Everything but the products and how their sums are put together is the same as for int8.
#[test]
fn lines_on_fp8() {
    let mut bench = TunedBench::new(FP8);
    for n in LENGTHS {
        bench.check_axis(&[12, n], 1, None, |problem| problem);
        bench.check_axis(&[n, 12], 0, None, |problem| problem);
        bench.check_axis(&[2, n, 17], 1, None, |problem| problem);
        let inverse = |problem: Problem| problem.norm(Norm::Ortho).direction(Direction::Inverse);
        bench.check_axis(&[3, n], 1, None, inverse);
        bench.check_axis(&[n, 3], 0, None, inverse);
    }
    assert_eq!(bench.left(), 0, "a line was left to a portable kernel");
    bench.check_axis(&[9, 256], 1, Some(3), |problem| problem);
    bench.check_axis(&[512, 11], 0, Some(4), |problem| problem);
    assert!(bench.left() > 0);
    println!("{} cases", bench.bench.cases);
}

/// Words whose digits are at the ends of their range, with the signs of matrix rows: large sums. (`fp8.rs` proves the
/// largest.) The emulator stops at those that a GPU would not keep.
#[test]
fn large_sums_on_fp8() {
    let mut bench = TunedBench::new(FP8);
    for n in LENGTHS {
        let shape = [6, n];
        let input: Vec<_> = (0..6 * n)
            .map(|place| {
                let (line, index) = (place / n, place % n);
                // Fractions 0.7f7f…, 0.8080… and others whose bytes, once biased, are all ones or zeros.
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
        bench.check(&Problem::complex(&shape).axes(&[1]), &input);
    }
    println!("{} cases", bench.bench.cases);
}

#[test]
fn problems_that_fp8_does_not_have_are_refused() {
    let machine: Arc<dyn Machine> = Arc::new(Emulator::with_tuned_kernels());
    let planner = Planner::<f64>::new();
    let on_fp8 = |problem: Problem| {
        let problem = problem.substrate(GpuUnit::Fp8Wgmma);
        let plan = planner.plan_on(&problem, &machine);
        plan.map(|plan| plan.substrate())
    };
    let complex = Problem::complex;
    assert_eq!(on_fp8(complex(&[512, 256])), Ok("fp8-wgmma"));
    let both = "fp8-wgmma and int8-mma-sync";
    assert_eq!(on_fp8(complex(&[100, 256])), Ok(both));
    for problem in [complex(&[100]), Problem::real_to_complex(&[1024])] {
        let error = on_fp8(problem).unwrap_err();
        assert!(
            error.to_string().contains("take the substrate auto"),
            "{error}"
        );
    }
}

#[test]
fn random_problems_of_tuned_kernels() {
    random_problems(TunedBench::new(INT8), &LENGTHS, 30);
}

#[test]
fn random_problems_of_mixed_kernels() {
    let count = if everything() { 30 } else { 12 };
    random_problems(TunedBench::new(INT8), &MIXED, count);
}

#[test]
fn random_problems_on_fp8() {
    let count = if everything() { 12 } else { 5 };
    random_problems(TunedBench::new(FP8), &LENGTHS, count);
}

fn random_problems(mut bench: TunedBench, lengths: &[usize], count: usize) {
    let mut generator = Generator(SEED);
    for _ in 0..count {
        let mut below = |n: usize| (generator.next() >> 20) as usize % n;
        let n = lengths[below(lengths.len())];
        let (outer, inner) = (1 + below(4), 1 + below(14));
        let (norm, direction) = (NORMS[below(4)], DIRECTIONS[below(2)]);
        let style = STYLES[below(STYLES.len())];
        let problem = if below(2) == 0 {
            Problem::complex(&[n]).batch(outer * inner)
        } else {
            Problem::complex(&[outer, n, inner]).axes(&[1])
        };
        let problem = problem.norm(norm).direction(direction);
        let input = numbers(problem.input_len(), style, generator.next());
        bench.check(&problem, &input);
    }
    println!("{} cases", bench.bench.cases);
}

/// Arrays that do not begin at a multiple of 16 bytes go to a portable kernel alone.
#[test]
fn device_arrays_at_any_address() {
    let planner = Planner::<f64>::new();
    let emulator = Arc::new(Emulator::with_tuned_kernels());
    let machine: Arc<dyn Machine> = Arc::<Emulator>::clone(&emulator);
    for shape in [[3, 256], [256, 3], [2, TWO_PASSES]] {
        let problem = Problem::complex(&shape).engine(Engine::Digits).threads(1);
        let plan = planner.plan_on(&problem, &machine).unwrap();
        let on_processor = problem.clone().substrate(Substrate::Auto);
        let mut expected = numbers::<f64>(problem.input_len(), Style::Uniform, SEED);
        let input = expected.clone();
        planner
            .plan(&on_processor)
            .unwrap()
            .process(&mut expected)
            .unwrap();
        let bytes = size_of_val(&input[..]);
        let workspace = DeviceMemory::new(&machine, plan.device_workspace_len()).unwrap();
        for offset in [0, 8] {
            let memory = DeviceMemory::new(&machine, bytes + 8).unwrap();
            let array = memory.address() + offset;
            let mut output = input.clone();
            // SAFETY: all memory is so long, and calls are done when they return.
            unsafe {
                machine
                    .upload(0, array, bytemuck::cast_slice(&input))
                    .unwrap();
                let workspace = DevicePointer(workspace.address());
                let array = DevicePointer(array);
                plan.process_device(array, array, workspace, 0).unwrap();
                let output = bytemuck::cast_slice_mut(&mut output);
                machine.download(0, array.0, output).unwrap();
            }
            let what = format!("{shape:?} at {offset}");
            same(
                bytemuck::cast_slice(&expected),
                bytemuck::cast_slice(&output),
                &what,
            );
        }
    }
}
