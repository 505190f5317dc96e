//! The tuned kernels for f32 under the emulator against the portable unit, like `tuned_tests.rs`.

use crate::Layout;
use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::tests::{Bench, Generator, STYLES, Style, numbers};
use crate::problem::{Accuracy, Direction, Norm, Problem};
use num_complex::Complex;
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub(crate) const SEED: u64 = 0x51e6_1e5e_ed00_0f32;
const LENGTHS: [usize; 3] = [256, 512, 1024];
pub(crate) const NORMS: [Norm; 4] = [Norm::Backward, Norm::Ortho, Norm::Forward, Norm::Unscaled];
pub(crate) const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Inverse];

fn power(exponent: i32) -> f32 {
    2f32.powi(exponent)
}

/// Numbers of a line that the tuned kernels take, of one of 14 kinds.
fn usual(line: usize, index: usize, random: Complex<f32>, n: usize) -> Complex<f32> {
    match line % 14 {
        1 => Complex::new(random.re, 0.0),
        2 => Complex::new(-0.0, random.im),
        3 if index == line % n => Complex::new(3.0, -1.0),
        3 => random * 1e-5,
        4 => Complex::new(1.0, 0.25),
        5 => random * power((index * 7 % 90) as i32 - 45),
        6 => random * power((line * 3 % 90) as i32 - 40),
        7 => Complex::new(0.0, 0.0),
        // Real but for the smallest imaginary number there is.
        8 if index + 1 == n => Complex::new(random.re, f32::from_bits(1)),
        8 => Complex::new(random.re, 0.0),
        9 => Complex::new((random.re * 8.0).round(), (random.im * 8.0).round()),
        // One large output, and many small ones.
        10 => Complex::new(1.0 + random.re * 1e-5, random.im * 1e-5),
        // Words that end in one half.
        11 if index == 1 => Complex::new(1.0, -1.0),
        11 => {
            let half = |x: f32| ((x * 512.0).round() + 0.5) * power(-36 - (index % 7) as i32);
            Complex::new(half(random.re), half(random.im))
        }
        // The smallest and the largest numbers that are not left.
        12 if index == 3 => Complex::new(0.0, 1.0) * power([-40, 60][line / 14 % 2]),
        12 => random * power([-41, 59][line / 14 % 2]),
        // Whole words, and subnormal numbers.
        13 if index.is_multiple_of(3) => Complex::new(power(20) - 1.0, -power(23)),
        13 => Complex::new(-f32::from_bits(index as u32), f32::from_bits(0x7fffff)),
        _ => random,
    }
}

/// Near the ends of the range, or not finite: what the tuned kernels leave to a portable one.
fn unusual(kind: usize, index: usize, random: Complex<f32>) -> Complex<f32> {
    match kind % 7 {
        0 if index == 5 => Complex::new(f32::from_bits(0xffa0_beef), 0.0),
        1 if index == 7 => Complex::new(1.0, f32::NEG_INFINITY),
        2 => random * power(125),
        3 => random * power(-120),
        4 => Complex::new(f32::from_bits(kind as u32 + 1), 0.0),
        5 => random * power(-70),
        6 if index == 3 => Complex::new(0.0, 1.0) * power(61),
        _ => random,
    }
}

/// An array whose lines along one axis are of all kinds; `unusual_every` so many of them is an unusual one.
pub(crate) fn lines(
    shape: &[usize],
    axis: usize,
    unusual_every: Option<usize>,
    seed: u64,
) -> Vec<Complex<f32>> {
    let n = shape[axis];
    let inner: usize = shape[axis + 1..].iter().product();
    let random = numbers::<f32>(shape.iter().product(), Style::Uniform, seed);
    let number = |(place, &random): (usize, &Complex<f32>)| {
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
struct SingleBench {
    emulator: Arc<Emulator>,
    bench: Bench<f32>,
}

impl SingleBench {
    fn new() -> Self {
        println!("seed {SEED:#x}");
        let emulator = Arc::new(Emulator::with_tuned_kernels());
        let bench = Bench::on(Arc::<Emulator>::clone(&emulator));
        SingleBench { emulator, bench }
    }

    /// There is one variant, with or without conversion instructions.
    fn check(&mut self, problem: &Problem, input: &[Complex<f32>]) {
        let problem = problem.clone().accuracy(Accuracy::Single);
        let found = self.bench.check_numbers(&problem, input, &[true]);
        assert_eq!(found, "int8-wgmma", "{problem:?}");
    }

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

/// The emulator has two multiprocessors, and panels are of eight lines: some counts fill no panel, with others a block has
/// several. Strided lines must lie at even distances.
#[test]
fn lines_of_f32_that_tuned_kernels_take() {
    let mut bench = SingleBench::new();
    for n in LENGTHS {
        for count in [1, 5, 29, 141] {
            bench.check_axis(&[count, n], 1, None, |problem| problem);
        }
        for count in [2, 6, 16, 90] {
            bench.check_axis(&[n, count], 0, None, |problem| problem);
        }
        bench.check_axis(&[3, n, 6], 1, None, |problem| problem);
        bench.check_axis(&[2, n, 18], 1, None, |problem| problem);
        bench.check_axis(&[2, 2, n, 8], 2, None, |problem| problem);
        bench.check_axis(&[n, 3, 4], 0, None, |problem| problem);
    }
    assert_eq!(bench.left(), 0, "a line was left to a portable kernel");
    println!("{} cases", bench.bench.cases);
}

#[test]
fn lines_of_f32_that_tuned_kernels_leave_among_others() {
    let mut bench = SingleBench::new();
    for n in LENGTHS {
        for (count, every) in [(1, 1), (7, 1), (30, 4), (44, 11)] {
            let left = bench.left();
            bench.check_axis(&[count, n], 1, Some(every), |problem| problem);
            // In place and out of place.
            assert_eq!(bench.left() - left, 2 * (count / every) as u64);
        }
        for (count, every) in [(2, 1), (30, 4), (44, 11)] {
            bench.check_axis(&[n, count], 0, Some(every), |problem| problem);
        }
    }
    println!("{} cases", bench.bench.cases);
}

/// The copy engine would write 16 bytes where the last of them has 8.
#[test]
fn odd_numbers_of_strided_f32_lines_leave_the_gaps_alone() {
    let mut bench = SingleBench::new();
    let columns = Layout::strided(&[32, 1], 0);
    let problem = Problem::complex(&[256, 31]).axes(&[0]);
    let problem = problem
        .input_layout(columns.clone())
        .output_layout(columns)
        .accuracy(Accuracy::Single);
    let input = numbers::<f32>(problem.input_len(), Style::Uniform, SEED);
    let found = bench.bench.check_numbers(&problem, &input, &[true]);
    assert_eq!(found, "int8-mma-sync");
}

#[test]
fn norms_directions_and_gaps_of_f32() {
    let mut bench = SingleBench::new();
    for n in LENGTHS {
        for norm in NORMS {
            for direction in DIRECTIONS {
                let change = |problem: Problem| problem.norm(norm).direction(direction);
                bench.check_axis(&[14, n], 1, None, change);
                bench.check_axis(&[n, 14], 0, None, change);
            }
        }
        // Gaps between lines, and between their elements, of either array or of both. What is written contiguously may begin
        // anywhere.
        let size = n as isize;
        let rows = Layout::strided(&[size + 6, 1], 0).with_offset(2);
        let odd_rows = Layout::strided(&[size + 3, 1], 0).with_offset(1);
        let columns = Layout::strided(&[8, 1], 0).with_offset(4);
        let groups = Layout::strided(&[size * 10 + 4, 10, 1], 0);
        let layouts = [
            (vec![6, n], 1, rows.clone(), odd_rows),
            (vec![n, 6], 0, columns.clone(), columns),
            (vec![3, n, 6], 1, groups.clone(), groups),
        ];
        for (number, (shape, axis, input, output)) in layouts.into_iter().enumerate() {
            let problem = Problem::complex(&shape).axes(&[axis]);
            let from = problem.clone().input_layout(input.clone());
            let to = problem.clone().output_layout(output.clone());
            let both = problem.input_layout(input).output_layout(output);
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
fn several_axes_of_f32_and_the_search_for_the_largest_number() {
    let mut bench = SingleBench::new();
    for shape in [&[256, 256][..], &[2, 256, 8], &[512, 5, 2], &[4, 1024]] {
        for (huge, factor) in [
            (false, 1.0),
            (true, 1.0),
            (true, power(-30)),
            (false, power(120)),
        ] {
            let mut input = numbers::<f32>(shape.iter().product(), Style::Uniform, SEED);
            for number in &mut input {
                *number *= factor;
            }
            if huge {
                let middle = input.len() / 2;
                input[middle].re = 3e38;
                input[7].im = f32::INFINITY;
            }
            let problem = Problem::complex(shape).accuracy(Accuracy::Single);
            let substrate = bench.bench.check_numbers(&problem, &input, &[true]);
            assert!(
                substrate.starts_with("int8-wgmma"),
                "{shape:?}: {substrate}"
            );
        }
    }
    println!("{} cases", bench.bench.cases);
}

#[test]
fn random_problems_of_f32() {
    let mut bench = SingleBench::new();
    let mut generator = Generator(SEED);
    for _ in 0..40 {
        let mut below = |n: usize| (generator.next() >> 20) as usize % n;
        let n = LENGTHS[below(3)];
        let (outer, inner) = (1 + below(4), 2 + 2 * below(8));
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

/// Lines whose distances are no multiples of 16 bytes have a portable kernel.
#[test]
fn f32_at_odd_distances_goes_to_a_portable_kernel() {
    let mut bench = SingleBench::new();
    for (shape, axis) in [([5, 256], 1), ([256, 5], 0)] {
        let mut problem = Problem::complex(&shape)
            .axes(&[axis])
            .accuracy(Accuracy::Single);
        if axis == 1 {
            problem = problem.input_layout(Layout::strided(&[257, 1], 0));
        }
        let input = numbers(problem.input_len(), Style::Uniform, SEED);
        let substrate = bench.bench.check_numbers(&problem, &input, &[true]);
        assert_eq!(substrate, "int8-mma-sync", "{problem:?}");
    }
}
