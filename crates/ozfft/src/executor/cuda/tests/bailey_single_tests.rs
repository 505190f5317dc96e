//! The template's kernels for lines of f32 under the emulator against the portable unit: a sample of lengths
//! (`crates/ozfft-emulator/sample.rs`).

use crate::Layout;
use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::tests::single_tests::{DIRECTIONS, NORMS, SEED, lines};
use crate::executor::cuda::tests::{Bench, STYLES, emulated_lengths, numbers};
use crate::problem::{Accuracy, Problem};
use crate::substrate::GpuUnit;
use num_complex::Complex;
use ozfft_kernels::template::{Ends, Number};
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn lengths() -> Vec<usize> {
    emulated_lengths(Number::Single, Ends::Complex)
}

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

    /// The sample has kernels of one name or the other: contiguous ones are as with conversion instructions, strided ones as without.
    fn check(&mut self, problem: &Problem, input: &[Complex<f32>], strided: bool) {
        let problem = problem.clone().accuracy(Accuracy::Single);
        let problem = problem.substrate(GpuUnit::Int8MmaSync);
        let launches = || self.emulator.template_launches.load(Ordering::Relaxed);
        let before = launches();
        self.bench.check_numbers(&problem, input, &[strided]);
        assert!(launches() > before, "{problem:?}");
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
        let problem = change(Problem::complex(shape).axes(&[axis]));
        self.check(&problem, &input, axis + 1 < shape.len());
    }

    fn left(&self) -> u64 {
        self.emulator.lines_left.load(Ordering::Relaxed)
    }
}

#[test]
fn lines_of_f32_of_the_template() {
    let mut bench = SingleBench::new();
    for n in lengths() {
        for count in [1, 5, 29] {
            bench.check_axis(&[count, n], 1, None, |problem| problem);
        }
        // At even distances and at odd ones.
        for count in [2, 7, 16] {
            bench.check_axis(&[n, count], 0, None, |problem| problem);
        }
        bench.check_axis(&[3, n, 6], 1, None, |problem| problem);
    }
    assert_eq!(bench.left(), 0, "a line was left to a portable kernel");
    for n in lengths() {
        for norm in NORMS {
            for direction in DIRECTIONS {
                let change = |problem: Problem| problem.norm(norm).direction(direction);
                bench.check_axis(&[5, n], 1, None, change);
            }
        }
    }
    println!("{} cases", bench.bench.cases);
}

#[test]
fn lines_of_f32_that_the_template_leaves_among_others() {
    let mut bench = SingleBench::new();
    for n in lengths() {
        for (count, every) in [(7, 1), (30, 4)] {
            let left = bench.left();
            bench.check_axis(&[count, n], 1, Some(every), |problem| problem);
            bench.check_axis(&[n, count], 0, Some(every), |problem| problem);
            // In place and out of place, of either layout.
            assert_eq!(bench.left() - left, 4 * (count / every) as u64, "{n}");
        }
    }
    println!("{} cases", bench.bench.cases);
}

#[test]
fn gaps_and_styles_of_lines_of_f32_on_the_template() {
    let mut bench = SingleBench::new();
    for n in [63, 64] {
        for style in STYLES {
            let problem = Problem::complex(&[6, n]).axes(&[1]);
            let size = n as isize;
            let layout = Layout::strided(&[size + 3, 1], 0).with_offset(2);
            let problem = problem.input_layout(layout.clone()).output_layout(layout);
            let input = numbers::<f32>(problem.input_len(), style, SEED);
            bench.check(&problem, &input, false);
        }
    }
}

/// Scales between axes: the first axis finds numbers that ask for one among the lines that it leaves.
#[test]
fn several_axes_of_f32_on_the_template() {
    let mut bench = SingleBench::new();
    for style in STYLES {
        let problem = Problem::complex(&[32, 64]).accuracy(Accuracy::Single);
        let problem = problem.substrate(GpuUnit::Int8MmaSync);
        let input = numbers::<f32>(problem.input_len(), style, SEED);
        bench.bench.check_numbers(&problem, &input, &[false, true]);
    }
    let launches = bench.emulator.template_launches.load(Ordering::Relaxed);
    assert!(launches > 0, "{launches}");
}

/// Both passes, in words of 37 bits between them. (Shorter ones in one launch: `bailey_passes_tests.rs`.)
#[test]
fn long_transforms_of_f32_of_the_template() {
    let mut bench = SingleBench::new();
    let n = 14580;
    for (style, count) in STYLES.into_iter().zip([1, 2, 3].into_iter().cycle()) {
        let direction = DIRECTIONS[count % 2];
        let problem = Problem::complex(&[n]).batch(count).direction(direction);
        let problem = problem.norm(NORMS[count % 4]);
        let input = numbers::<f32>(problem.input_len(), style, SEED ^ count as u64);
        bench.check(&problem, &input, false);
    }
    let left = bench.left();
    bench.check_axis(&[7, n], 1, None, |problem| problem);
    assert_eq!(bench.left(), left, "a line was left to a portable kernel");
    bench.check_axis(&[14, n], 1, Some(2), |problem| problem);
    assert!(bench.left() > left, "{n}");
}
