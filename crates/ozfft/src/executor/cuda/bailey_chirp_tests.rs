//! Bluestein's convolutions on the template's kernels under the emulator against the portable unit: a sample of lengths
//! (`crates/ozfft-emulator/build.rs`).

use super::emulated::Emulator;
use super::tests::{Bench, STYLES};
use crate::Layout;
use crate::problem::{Accuracy, Direction, Norm, Problem};
use crate::sample::Real;
use crate::substrate::GpuUnit;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// With the launches of a transform: convolutions of one block there and back, and of two passes.
const SAMPLE: [(usize, u64); 4] = [(67, 2), (71, 2), (131, 4), (1009, 4)];

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
    fn check(&mut self, problem: &Problem, launches: u64) {
        let problem = problem.clone().substrate(GpuUnit::Int8MmaSync);
        let problem = match T::IS_DOUBLE {
            true => problem,
            false => problem.accuracy(Accuracy::Single),
        };
        let count = || self.emulator.template_launches.load(Ordering::Relaxed);
        let before = count();
        let style = STYLES[self.styles % STYLES.len()];
        self.styles += 1;
        self.bench.check(&problem, style);
        let launched = count() - before;
        assert!(
            launched >= launches && launched.is_multiple_of(launches),
            "{launched} launches: {problem:?}"
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

/// Scales between axes, of numbers of all sizes: lines are scaled down before the first convolution, and back after the last.
#[test]
fn several_axes_of_convolutions_on_the_template() {
    let mut bench = ChirpBench::<f64>::new();
    for _ in STYLES {
        bench.check(&Problem::complex(&[67, 71]), 4);
    }
}
