//! Kernels of the template under the emulator against the portable unit: a sample of lengths, contiguous lines with conversion
//! instructions and strided ones without (`crates/ozfft-emulator/sample.rs`).

use crate::Layout;
use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::tests::tuned_tests::{NORMS, SEED, lines, numbers_of_all_sizes};
use crate::executor::cuda::tests::{Bench, STYLES, Style, emulated_lengths, everything, numbers};
use crate::problem::{Direction, Problem};
use crate::substrate::GpuUnit;
use num_complex::Complex;
use ozfft_kernels::template::{Ends, Number};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Of two passes in one launch.
const PASSES: [usize; 5] = [1372, 2016, 2048, 2205, 3000];

fn lengths() -> Vec<usize> {
    emulated_lengths(Number::Double, Ends::Complex)
}

struct TemplateBench {
    emulator: Arc<Emulator>,
    bench: Bench<f64>,
}

impl TemplateBench {
    fn new() -> Self {
        println!("seed {SEED:#x}");
        let emulator = Arc::new(Emulator::with_tuned_kernels());
        let bench = Bench::on(Arc::<Emulator>::clone(&emulator));
        TemplateBench { emulator, bench }
    }

    fn left(&self) -> u64 {
        self.emulator.lines_left.load(Ordering::Relaxed)
    }

    /// With conversion instructions or without; the template must have run `axes` axes, out of place and in place where that can be.
    fn check(
        &mut self,
        problem: &Problem,
        input: &[Complex<f64>],
        conversions: bool,
        axes: [u64; 2],
    ) {
        let problem = problem.clone().substrate(GpuUnit::Int8MmaSync);
        let launches = || self.emulator.template_launches.load(Ordering::Relaxed);
        let before = launches();
        let found = self.bench.check_numbers(&problem, input, &[!conversions]);
        assert_eq!(found, "int8-mma-sync", "{problem:?}");
        let launched = launches() - before;
        assert!(axes.contains(&launched), "{launched}: {problem:?}");
    }

    /// One axis of an array of lines of all kinds: contiguous lines with conversions, strided ones without.
    fn check_axis(
        &mut self,
        shape: &[usize],
        axis: usize,
        unusual_every: Option<usize>,
        change: impl Fn(Problem) -> Problem,
    ) {
        let seed = SEED ^ (self.bench.cases as u64 + 1);
        let input = lines(shape, axis, unusual_every, seed);
        let problem = change(Problem::complex(shape).axes(&[axis]));
        self.check(&problem, &input, axis + 1 == shape.len(), [2, 2]);
    }
}

/// Kernels for few lines: those of the only length that the emulator has them for.
#[test]
fn few_lines_of_the_template() {
    let mut emulator = Emulator::with_tuned_kernels();
    emulator.few_panels = 100;
    let emulator = Arc::new(emulator);
    let bench = Bench::on(Arc::<Emulator>::clone(&emulator));
    let mut bench = TemplateBench { emulator, bench };
    println!("seed {SEED:#x}");
    for count in [1, 2, 7] {
        bench.check_axis(&[count, 75], 1, None, |problem| problem);
        bench.check_axis(&[75, count + 1], 0, Some(2), |problem| problem);
    }
}

/// Groups of warps have from one line to 16 at a time, and the emulator has two multiprocessors.
#[test]
fn lines_of_all_kinds() {
    let mut bench = TemplateBench::new();
    for (number, n) in lengths().into_iter().enumerate() {
        let counts = [[1, 7, 37], [7, 37, 1], [37, 1, 7]][number % 3];
        let short = if n < 100 { 3 } else { 1 };
        for &count in &counts[..short] {
            bench.check_axis(&[count, n], 1, None, |problem| problem);
            // A single line is contiguous.
            if count > 1 {
                bench.check_axis(&[n, count], 0, None, |problem| problem);
            }
        }
        bench.check_axis(&[2, n, 5], 1, None, |problem| problem);
    }
    assert_eq!(bench.left(), 0, "a line was left to the portable kernel");
    println!("{} cases", bench.bench.cases);
}

#[test]
fn lines_that_the_template_leaves_among_others() {
    let mut bench = TemplateBench::new();
    for n in lengths() {
        for (count, every) in [(7, 1), (30, 4)] {
            let left = bench.left();
            bench.check_axis(&[count, n], 1, Some(every), |problem| problem);
            bench.check_axis(&[n, count], 0, Some(every), |problem| problem);
            // In place and out of place, of either layout.
            assert_eq!(bench.left() - left, 4 * (count / every) as u64, "{n}");
            if n > 100 {
                break;
            }
        }
    }
    println!("{} cases", bench.bench.cases);
}

#[test]
fn norms_directions_and_layouts_of_the_template() {
    let mut bench = TemplateBench::new();
    for n in [45, 64, 63] {
        for norm in NORMS {
            for direction in [Direction::Forward, Direction::Inverse] {
                let change = |problem: Problem| problem.norm(norm).direction(direction);
                bench.check_axis(&[5, n], 1, None, change);
                bench.check_axis(&[n, 5], 0, None, change);
            }
        }
        // Gaps between lines and between elements, lines with two distances, backwards, and contiguous lines beside strided ones.
        let size = n as isize;
        let layouts = [
            (
                vec![6, n],
                1,
                Layout::strided(&[size + 3, 1], 0).with_offset(2),
                true,
            ),
            (
                vec![n, 6],
                0,
                Layout::strided(&[13, 2], 0).with_offset(1),
                false,
            ),
            (
                vec![3, n, 7],
                1,
                Layout::strided(&[size * 9 + 4, 9, 1], 0),
                false,
            ),
            (vec![6, n], 1, Layout::strided(&[1, 6], 0), false),
            (vec![6, n], 1, Layout::strided(&[2 * size, 2], 0), false),
        ];
        for (shape, axis, layout, contiguous) in layouts {
            let problem = Problem::complex(&shape).axes(&[axis]);
            let from = problem.clone().input_layout(layout.clone());
            let to = problem.clone().output_layout(layout.clone());
            let both = problem.input_layout(layout.clone()).output_layout(layout);
            for (problem, style) in [
                (from, Style::Sparse),
                (to, Style::Edge),
                (both, Style::Uniform),
            ] {
                let input = numbers(problem.input_len(), style, SEED);
                bench.check(&problem, &input, contiguous, [1, 2]);
            }
        }
    }
    println!("{} cases", bench.bench.cases);
}

/// Scales between axes, found by the first of them among the lines that it leaves.
#[test]
fn axes_of_the_template_together() {
    let mut bench = TemplateBench::new();
    for (shape, batch) in [(&[32, 45][..], 1), (&[64, 3, 32], 2)] {
        for style in STYLES {
            let problem = Problem::complex(shape).batch(batch);
            let input = numbers(problem.input_len(), style, SEED);
            // The last axis has conversions, the others have none: one kind at a time is launched, or portable.
            for conversions in [true, false] {
                let problem = problem.clone().substrate(GpuUnit::Int8MmaSync);
                bench.bench.check_numbers(&problem, &input, &[!conversions]);
            }
        }
    }
    let launches = bench.emulator.template_launches.load(Ordering::Relaxed);
    assert!(launches >= 2 * STYLES.len() as u64, "{launches}");
}

/// Blocks of three steps: 7·7·7, 14·7·7, 13·11·5 and 17·17·3.
const THREE_STEPS: [usize; 4] = [343, 686, 715, 867];

#[test]
fn blocks_of_three_steps() {
    let mut bench = TemplateBench::new();
    for (number, n) in THREE_STEPS.into_iter().enumerate() {
        let count = [1, 5, 7, 3][number];
        bench.check_axis(&[count, n], 1, None, |problem| problem);
        bench.check_axis(&[n, count + 1], 0, None, |problem| problem);
        let inverse = |problem: Problem| {
            problem
                .direction(Direction::Inverse)
                .norm(NORMS[number % 4])
        };
        bench.check_axis(&[3, n], 1, None, inverse);
        bench.check_axis(&[2, n, 3], 1, None, inverse);
        for style in STYLES {
            let problem = Problem::complex(&[2, n]).axes(&[1]);
            let input = numbers(problem.input_len(), style, SEED);
            bench.check(&problem, &input, true, [2, 2]);
        }
        let left = bench.left();
        bench.check_axis(&[6, n], 1, Some(2), |problem| problem);
        bench.check_axis(&[n, 6], 0, Some(2), |problem| problem);
        assert_eq!(bench.left() - left, 4 * 3, "{n}");
    }
    println!("{} cases", bench.bench.cases);
}

/// Passes of three steps: the second of 7^5 points, both of 7^6.
#[test]
fn passes_of_three_steps() {
    let mut bench = TemplateBench::new();
    for (number, style) in STYLES.into_iter().enumerate() {
        let direction = [Direction::Forward, Direction::Inverse][number % 2];
        let problem = Problem::complex(&[16807]).batch(1 + number % 2);
        let problem = problem.direction(direction).norm(NORMS[number % 4]);
        let input = numbers(problem.input_len(), style, SEED ^ number as u64);
        let passes = 4 * (1 + number as u64 % 2);
        bench.check(&problem, &input, number % 4 < 2, [passes, passes]);
    }
    let problem = Problem::complex(&[117_649]);
    let input = numbers(problem.input_len(), Style::Uniform, SEED);
    let left = bench.left();
    bench.check(&problem, &input, true, [4, 4]);
    assert_eq!(bench.left(), left, "a line was left to the portable kernel");
    let mut input = numbers::<f64>(problem.input_len(), Style::Uniform, SEED);
    input[7].re = 1e-300;
    input[1000].im = 1e300;
    bench.check(&problem, &input, true, [4, 4]);
    assert!(bench.left() > left);
    for problem in [
        Problem::real_to_complex(&[117_649]),
        Problem::complex_to_real(&[117_649]),
    ] {
        let launches = || bench.emulator.template_launches.load(Ordering::Relaxed);
        let before = launches();
        let problem = problem.substrate(GpuUnit::Int8MmaSync);
        bench.bench.check(&problem, Style::Uniform);
        assert!(launches() - before >= 2, "{problem:?}");
    }
    println!("{} cases", bench.bench.cases);
}

/// Transforms of two passes: columns and rows with exponents of their own.
#[test]
fn two_passes_of_the_template() {
    let mut bench = TemplateBench::new();
    for (number, n) in PASSES.into_iter().enumerate() {
        bench.check_axis(&[[1, 5, 2, 3, 4][number], n], 1, None, |problem| problem);
        bench.check_axis(&[n, [3, 2, 5, 4, 7][number]], 0, None, |problem| problem);
        let inverse = |problem: Problem| {
            problem
                .direction(Direction::Inverse)
                .norm(NORMS[number % 4])
        };
        bench.check_axis(&[2, n], 1, None, inverse);
        bench.check_axis(&[n, 2], 0, None, inverse);
        for style in STYLES {
            let problem = Problem::complex(&[2, n]).axes(&[1]);
            let input = numbers(problem.input_len(), style, SEED);
            bench.check(&problem, &input, true, [2, 2]);
        }
    }
    println!("{} cases", bench.bench.cases);
}

#[test]
fn words_of_all_sizes_between_passes_of_the_template() {
    let mut bench = TemplateBench::new();
    for (n, columns) in [(1372, 28), (2048, 32), (2205, 49), (2016, 48), (3000, 50)] {
        let input = numbers_of_all_sizes(n, columns);
        let problem = Problem::complex(&[16, n]).axes(&[1]);
        bench.check(&problem, &input, true, [2, 2]);
        assert_eq!(bench.left(), 0, "a line was left to the portable kernel");
    }
}

#[test]
fn transforms_that_two_passes_of_the_template_leave() {
    let mut bench = TemplateBench::new();
    for n in PASSES {
        let left = bench.left();
        bench.check_axis(&[7, n], 1, Some(2), |problem| problem);
        bench.check_axis(&[n, 7], 0, Some(2), |problem| problem);
        assert!(bench.left() - left >= 4 * 3, "{n}");
    }
}

/// Of passes one by one, words between them in memory; the first would fit shared memory, but not with the template's tables.
const LONG: [usize; 4] = [10000, 14580, 16384, 18225];

#[test]
fn long_transforms_of_the_template() {
    let mut bench = TemplateBench::new();
    for (number, n) in LONG.into_iter().enumerate() {
        let counts = [1, 2, 1, 3].into_iter().cycle();
        for (turn, (style, count)) in STYLES.into_iter().zip(counts).enumerate() {
            let direction = [Direction::Forward, Direction::Inverse][(turn + number) % 2];
            let problem = Problem::complex(&[n]).batch(count).direction(direction);
            let problem = problem.norm(NORMS[number % 4]);
            let input = numbers(problem.input_len(), style, SEED ^ number as u64);
            // Two passes of each transform, out of place and in place.
            let passes = 4 * count as u64;
            bench.check(&problem, &input, turn / 2 % 2 == 0, [passes, passes]);
        }
    }
    println!("{} cases", bench.bench.cases);
}

#[test]
fn long_transforms_that_are_not_contiguous() {
    let mut bench = TemplateBench::new();
    for (shape, axis) in [(&[16384, 3][..], 0), (&[2, 14580, 2], 1)] {
        let problem = Problem::complex(shape).axes(&[axis]);
        let input = numbers(problem.input_len(), Style::Uniform, SEED);
        let before = bench.emulator.template_launches.load(Ordering::Relaxed);
        let problem = problem.substrate(GpuUnit::Int8MmaSync);
        bench.bench.check_numbers(&problem, &input, &[false, true]);
        let after = bench.emulator.template_launches.load(Ordering::Relaxed);
        assert!(after > before, "{shape:?}");
    }
}

/// Numbers at both ends of the range are scaled between axes, of which one is long.
#[test]
fn scales_between_axes_of_long_transforms() {
    let mut bench = TemplateBench::new();
    for (shape, style) in [
        (&[2, 16384][..], Style::Tiny),
        (&[2, 16384], Style::Huge),
        (&[16384, 2], Style::Tiny),
        (&[16384, 2], Style::Huge),
        (&[3, 10000], Style::Wild),
    ] {
        let problem = Problem::complex(shape).substrate(GpuUnit::Int8MmaSync);
        let input = numbers(problem.input_len(), style, SEED);
        bench.bench.check_numbers(&problem, &input, &[false]);
    }
    let launches = bench.emulator.template_launches.load(Ordering::Relaxed);
    assert!(launches >= 10, "{launches}");
}

/// Real numbers and half-spectra in the first pass, half-spectra and real numbers from the last one, which once wrote all outputs where
/// half of them are asked for. The sample's kernels have conversion instructions. (Shorter lines: `bailey_passes_tests.rs`.)
#[test]
fn real_transforms_of_long_lines_write_half_a_spectrum() {
    let mut bench = TemplateBench::new();
    let n = 14580;
    for style in STYLES {
        for problem in [
            Problem::real_to_complex(&[n]),
            Problem::complex_to_real(&[n]),
        ] {
            let launches = || bench.emulator.template_launches.load(Ordering::Relaxed);
            let before = launches();
            let problem = problem.batch(2).substrate(GpuUnit::Int8MmaSync);
            bench.bench.check(&problem, style);
            bench.bench.check(&problem, Style::Uniform);
            let launched = launches() - before;
            // Both passes, always.
            assert!(
                launched >= 4 && launched % 2 == 0,
                "{launched}: {problem:?}"
            );
        }
    }
}

/// Numbers near the ends of the range, infinities and NaN in single columns: those are left, and what is not finite is so everywhere.
#[test]
fn columns_and_rows_of_long_transforms_that_are_left() {
    let mut bench = TemplateBench::new();
    for n in LONG {
        let mut input = numbers::<f64>(3 * n, Style::Uniform, SEED);
        input[7].re = 1e-300;
        input[n + 13].im = f64::INFINITY;
        for number in &mut input[2 * n..] {
            number.re *= 1e-295;
            number.im *= 1e-295;
        }
        let left = bench.left();
        let problem = Problem::complex(&[n])
            .batch(3)
            .substrate(GpuUnit::Int8MmaSync);
        bench.bench.check_numbers(&problem, &input, &[false, true]);
        assert!(bench.left() > left, "{n}");
    }
}

#[test]
fn a_transform_of_three_passes_of_the_template() {
    let mut bench = TemplateBench::new();
    let lengths = [161_051, 1 << 21];
    for n in lengths.into_iter().take(if everything() { 2 } else { 1 }) {
        let problem = Problem::complex(&[n]);
        let input = numbers(problem.input_len(), Style::Uniform, SEED);
        bench.check(&problem, &input, true, [3, 6]);
    }
    assert_eq!(bench.left(), 0, "a line was left to the portable kernel");
}
