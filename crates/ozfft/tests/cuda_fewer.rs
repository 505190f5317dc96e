//! The template's kernels for f64 in words of fewer digits against the processor, bit for bit: complex and real lines of one block, of two passes and of
//! more, contiguous and side by side, with and without conversion instructions, lines that they leave among those they take.
//!
//! Without a GPU the comparisons are skipped with a notice; `OZFFT_REQUIRE=hopper` makes that a failure.

use super::cuda_tuned::{SEED, number, skipped};
use num_complex::Complex;
use ozfft::{Accuracy, Device, Engine, FftError, GpuUnit, Kind, Planner, Problem, Substrate};
use ozfft_testkit::oracle::inputs::uniform_complex;
use std::collections::BTreeMap;

/// Three to seven digits, with as many diagonals and one more.
const TARGETS: [f64; 12] = [
    1e-2, 1e-3, 1e-4, 1e-5, 3e-7, 1e-6, 1e-8, 1e-10, 3e-11, 1e-12, 3e-13, 1e-13,
];

fn results(
    planner: &Planner<f64>,
    problem: &Problem,
    input: &[Complex<f64>],
) -> (Vec<u64>, String) {
    let plan = planner.plan(problem).unwrap();
    let reals: Vec<f64> = input.iter().flat_map(|z| [z.re, z.im]).collect();
    let mut complex = vec![Complex::new(0.0, 0.0); problem.output_len()];
    let mut real = vec![0.0; problem.output_len()];
    // Half-spectra that no real array has are transformed, and reported.
    let outcome = match problem.kind() {
        Kind::ComplexToComplex => plan.process_outofplace(input, &mut complex),
        Kind::RealToComplex => {
            plan.process_real_to_complex(&reals[..problem.input_len()], &mut complex)
        }
        Kind::ComplexToReal => plan.process_complex_to_real(input, &mut real),
    };
    let fits = matches!(outcome, Ok(()) | Err(FftError::NotHermitian { .. }));
    assert!(fits, "{outcome:?}");
    let complex = complex
        .iter()
        .flat_map(|z| [z.re.to_bits(), z.im.to_bits()]);
    let bits = match problem.kind() {
        Kind::ComplexToReal => real.iter().map(|x| x.to_bits()).collect(),
        _ => complex.collect(),
    };
    (bits, plan.to_string())
}

#[test]
fn the_template_has_the_bits_of_the_processor_in_fewer_digits() {
    if skipped(Substrate::Gpu(GpuUnit::Int8MmaSync)) {
        return;
    }
    println!("seed {SEED:#x}");
    let planner = Planner::<f64>::new();
    let mut problems = 0;
    let mut digits = BTreeMap::<String, usize>::new();
    for n in [45, 64, 256, 360, 1000, 1024, 2048, 3000, 14580, 65536] {
        let count = if n > 4096 { 3 } else { 19 };
        for target in TARGETS {
            for (shape, axis) in [([count, n], 1), ([n, count], 0)] {
                for problem in [
                    Problem::complex(&shape),
                    Problem::real_to_complex(&shape),
                    Problem::complex_to_real(&shape),
                ] {
                    let problem = problem.axes(&[axis]).engine(Engine::Digits);
                    let problem = problem.accuracy(Accuracy::Target(target));
                    let inner = if axis == 0 { count } else { 1 };
                    let random = uniform_complex(problem.input_len(), SEED ^ n as u64);
                    let numbers = random.iter().enumerate().map(|(place, &random)| {
                        let index = place / inner % n;
                        number(
                            place / (inner * n) * inner + place % inner,
                            index,
                            random,
                            n,
                        )
                    });
                    let input: Vec<Complex<f64>> = numbers.collect();
                    let (expected, _) = results(&planner, &problem, &input);
                    let plan = planner.plan(&problem).unwrap();
                    let recipe = plan.recipe().expect("digits").digits;
                    *digits.entry(format!("{recipe:?}")).or_default() += 1;
                    for integers_only in [true, false] {
                        let on_gpu = problem.clone().device(Device::Cuda(0));
                        let on_gpu = on_gpu.substrate(GpuUnit::Int8MmaSync);
                        let on_gpu = on_gpu.integers_only(integers_only);
                        let (found, plan) = results(&planner, &on_gpu, &input);
                        assert!(found == expected, "{problem:?}: {plan}");
                        problems += 1;
                    }
                }
            }
        }
    }
    for (digits, count) in digits {
        println!("{count} problems with {digits}");
    }
    println!("{problems} problems, 0 with differing bits");
}
