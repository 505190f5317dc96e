//! The engine ntt under the emulator: the bits of the processor, and the error that is proven.

use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::device::machine::Machine;
use crate::executor::cuda::tests::{Bench, STYLES, Style};
use crate::problem::{Accuracy, Direction, Engine, Norm, Problem};
use crate::sample::Real;
use crate::{Layout, Planner};
use ozfft_testkit::oracle::{self, inputs};
use std::sync::Arc;

fn bench<T: Real>() -> Bench<T> {
    Bench::on(Arc::new(Emulator::default())).engine(Engine::Ntt)
}

#[test]
fn short_lines_of_all_kinds_have_the_bits_of_the_processor() {
    let mut bench = bench::<f64>();
    // Odd lengths are negacyclic, even ones cyclic; 1 is copied; 256 wraps around by itself.
    for (number, n) in [1, 2, 3, 16, 30, 127, 256].into_iter().enumerate() {
        // Every style at several lengths.
        for style in STYLES.into_iter().skip(number % 3).step_by(3) {
            bench.check(&Problem::complex(&[n]).batch(3), style);
        }
        bench.check(
            &Problem::complex(&[n]).direction(Direction::Inverse),
            Style::Wild,
        );
        bench.check(&Problem::complex(&[n]).norm(Norm::Ortho), Style::Uniform);
        bench.check(&Problem::real_to_complex(&[n]).batch(2), Style::Wild);
        bench.check(&Problem::complex_to_real(&[n]).batch(2), Style::Uniform);
    }
    println!("{} cases", bench.cases);
}

#[test]
fn longer_lines_and_singles_have_them_too() {
    let mut doubles = bench::<f64>();
    for n in [1000, 1009, 4096] {
        doubles.check(&Problem::complex(&[n]), Style::Wild);
        doubles.check(&Problem::real_to_complex(&[n]), Style::Uniform);
    }
    // Two passes.
    doubles.check(&Problem::complex(&[8192]), Style::Uniform);
    // All numbers of primes that there are.
    for target in [1e-4, 1e-9, 1e-13] {
        doubles.check(
            &Problem::complex(&[60]).accuracy(Accuracy::Target(target)),
            Style::Uniform,
        );
    }
    let mut singles = bench::<f32>();
    for style in STYLES {
        singles.check(&Problem::complex(&[45]).batch(2), style);
    }
    singles.check(
        &Problem::complex(&[512]).direction(Direction::Inverse),
        Style::Wild,
    );
    println!("{} cases", doubles.cases + singles.cases);
}

#[test]
fn several_axes_and_strided_lines_have_them_too() {
    let mut bench = bench::<f64>();
    for style in [
        Style::Uniform,
        Style::Wild,
        Style::Huge,
        Style::Tiny,
        Style::NotFinite,
    ] {
        bench.check(&Problem::complex(&[6, 10]).batch(3), style);
        bench.check(&Problem::real_to_complex(&[5, 8]), style);
        bench.check(&Problem::complex_to_real(&[4, 3, 6]), style);
    }
    bench.check(
        &Problem::complex(&[4, 1, 6]).direction(Direction::Inverse),
        Style::Wild,
    );
    bench.check(&Problem::complex(&[9, 3]).axes(&[0]), Style::Uniform);
    let strided = Problem::complex(&[9, 5])
        .input_layout(Layout::strided(&[-25, 2], 400).with_offset(300))
        .output_layout(Layout::strided(&[3, 40], 1000).with_offset(7));
    bench.check(&strided, Style::Wild);
    println!("{} cases", bench.cases);
}

#[test]
fn errors_stay_below_the_proven_bound() {
    let machine: Arc<dyn Machine> = Arc::new(Emulator::default());
    let planner = Planner::<f64>::new();
    for (n, seed) in [(97, 1), (256, 2), (600, 3)] {
        let plan = planner
            .plan_on(&Problem::complex(&[n]).engine(Engine::Ntt), &machine)
            .unwrap();
        let input = inputs::wide_range(n, seed, 20);
        let mut output = vec![Default::default(); n];
        plan.process_outofplace(&input, &mut output).unwrap();
        let exact = oracle::dft(&input, oracle::Direction::Forward);
        let error = oracle::compare(&output, &exact).l2;
        assert!(
            error <= plan.bound(),
            "{n} points, seed {seed}: {error:e} above {:e}",
            plan.bound()
        );
    }
}
