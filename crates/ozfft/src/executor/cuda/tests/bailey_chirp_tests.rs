//! Bluestein's convolutions on the template's kernels under the emulator against the portable unit: a sample of lengths
//! (`crates/ozfft-emulator/build.rs`).

use crate::Layout;
use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::tests::{Bench, STYLES};
use crate::problem::{Accuracy, Direction, Norm, Problem};
use crate::recipe::factor;
use crate::recipe::{BlockRecipe, LineRecipe};
use crate::sample::Real;
use crate::substrate::GpuUnit;
use ozfft_kernels::template::{Ends, KernelSpec, Number, TwoPasses};
use std::sync::Arc;

/// With the launches of a transform: convolutions of one block there and back, of two passes all together, and of two passes one by one.
const SAMPLE: [(usize, usize); 7] = [
    (67, 2),
    (71, 2),
    (131, 1),
    (773, 1),
    (1009, 1),
    (1579, 1),
    (2053, 4),
];

struct ChirpBench<T: Real> {
    emulator: Arc<Emulator>,
    bench: Bench<T>,
    styles: usize,
}

impl<T: Real> ChirpBench<T> {
    fn new() -> Self {
        let emulator = Arc::new(Emulator::with_tuned_kernels());
        let bench = Bench::on(Arc::<Emulator>::clone(&emulator));
        ChirpBench {
            emulator,
            bench,
            styles: 0,
        }
    }

    /// Numbers of the next style. All of the transforms' passes must have been the template's.
    fn check(&mut self, problem: &Problem, launches: usize) {
        let problem = problem.clone().substrate(GpuUnit::Int8MmaSync);
        let problem = match T::IS_DOUBLE {
            true => problem,
            false => problem.accuracy(Accuracy::Single),
        };
        let before = self.emulator.launched_names().len();
        let style = STYLES[self.styles % STYLES.len()];
        self.styles += 1;
        self.bench.check(&problem, style);
        let names = self.emulator.launched_names().split_off(before);
        let whole = names.iter().filter(|name| name.contains("convolution"));
        let expected = if launches == 1 { names.len() } else { 0 };
        assert_eq!(whole.count(), expected, "{names:?}: {problem:?}");
        assert!(
            names.len() >= launches && names.len().is_multiple_of(launches),
            "{names:?}: {problem:?}"
        );
    }
}

fn lines_of<T: Real>() {
    let mut bench = ChirpBench::<T>::new();
    for (n, launches) in SAMPLE {
        // All styles of numbers, those at the ends of the range and those that are not finite included.
        for (count, _) in [1, 2, 9].into_iter().cycle().zip(STYLES) {
            let direction = [Direction::Forward, Direction::Inverse][count % 2];
            let norm = [Norm::Backward, Norm::Ortho, Norm::Forward, Norm::Unscaled][count % 4];
            let problem = Problem::complex(&[n]).batch(count);
            bench.check(&problem.direction(direction).norm(norm), launches);
        }
        // Across lines, and with gaps.
        bench.check(&Problem::complex(&[n, 5]).axes(&[0]), launches);
        let layout = Layout::strided(&[2], 2 * n as isize + 3).with_offset(1);
        let problem = Problem::complex(&[n]).batch(3).input_layout(layout);
        bench.check(&problem, launches);
        bench.check(&Problem::real_to_complex(&[n]).batch(3), launches);
        bench.check(&Problem::complex_to_real(&[n]).batch(3), launches);
    }
    println!("{} cases", bench.bench.cases);
}

#[test]
fn convolutions_of_f64_on_the_template() {
    lines_of::<f64>();
}

#[test]
fn convolutions_of_f32_on_the_template() {
    lines_of::<f32>();
}

/// Words of five digits, of numbers that need not be those of their own kind.
#[test]
fn convolutions_of_f64_in_few_digits_on_the_template() {
    let mut bench = ChirpBench::<f64>::new();
    for _ in STYLES {
        let problem = Problem::complex(&[1009]).batch(2);
        bench.check(&problem.accuracy(Accuracy::Single), 1);
    }
}

/// Lengths whose convolutions are two passes in one launch, one for each convolution.
fn lengths_of_whole_convolutions() -> Vec<(usize, Vec<BlockRecipe>)> {
    let mut found: Vec<(usize, Vec<BlockRecipe>)> = Vec::new();
    for n in 129..=2048 {
        if let LineRecipe::Bluestein { convolution, .. } = factor::line(n)
            && found.iter().all(|(_, other)| *other != convolution)
        {
            found.push((n, convolution));
        }
    }
    found
}

#[test]
fn every_convolution_of_two_passes_to_2048_points_fits_one_launch() {
    let steps = |block: &BlockRecipe| {
        assert!(block.steps.len() <= 2, "{block}");
        [0, 1].map(|number| block.steps.get(number).map_or(1, |step| step.n))
    };
    let lengths = lengths_of_whole_convolutions();
    assert_eq!(lengths.len(), 48);
    for (n, convolution) in &lengths {
        let [first, second] = &convolution[..] else {
            panic!("{n}: {} passes", convolution.len());
        };
        for number in [Number::Double, Number::Single] {
            let steps = [steps(first), steps(second)];
            let ends = Ends::Convolution;
            let spec = KernelSpec::new(TwoPasses { steps, ends }, number, false, 227 << 10);
            let spec = spec.unwrap_or_else(|| panic!("{n}"));
            assert!(spec.threads() >= 256, "{n}: {spec:?}");
        }
    }
}

/// All of them with `OZFFT_EVERYTHING`, where the emulator has their kernels.
#[test]
fn convolutions_of_all_lengths_in_one_launch() {
    if std::env::var_os("OZFFT_EVERYTHING").is_none() {
        return;
    }
    let mut double = ChirpBench::<f64>::new();
    let mut single = ChirpBench::<f32>::new();
    for (n, _) in lengths_of_whole_convolutions() {
        for count in [1, 7, 3] {
            let problem = Problem::complex(&[n]).batch(count);
            double.check(&problem, 1);
            single.check(&problem.direction(Direction::Inverse), 1);
        }
    }
}

/// Scales between axes, of numbers of all sizes: lines are scaled down before the first convolution, and back after the last.
#[test]
fn several_axes_of_convolutions_on_the_template() {
    let mut bench = ChirpBench::<f64>::new();
    for _ in STYLES {
        bench.check(&Problem::complex(&[67, 71]), 4);
    }
}

/// The same of convolutions in one launch, which comes first or last.
#[test]
fn several_axes_of_convolutions_in_one_launch() {
    let mut bench = ChirpBench::<f64>::new();
    for style in STYLES {
        for shape in [[131, 5], [3, 131]] {
            let problem = Problem::complex(&shape).substrate(GpuUnit::Int8MmaSync);
            let before = bench.emulator.launched_names().len();
            bench.bench.check(&problem, style);
            let mut names = bench
                .emulator
                .launched_names()
                .split_off(before)
                .into_iter();
            assert!(names.any(|name| name.contains("convolution")), "{shape:?}");
        }
    }
}
