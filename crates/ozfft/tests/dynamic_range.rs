//! Lines of very different scale, wide spans within a line, and inputs that break careless transforms: next to the
//! native engine, which has an exponent for every element.

use crate::support::{
    FLOOR_L2, GATE_L2, GATE_LINF, PRODUCTS, Violations, Worst, complex, digits, errors,
    in_parallel, plan, transform, transform_real,
};
use num_complex::Complex;
use ozfft::{Direction, Engine, Norm, Planner, Problem};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::{
    complex_from_real, scaled_by_power_of_two, uniform_complex, wide_range,
};
use ozfft_testkit::oracle::{ExactSpectrum, HardInput, compare, dft, rounded_once};

/// How much worse than native's the error may be on any input.
const NATIVE_FACTOR: f64 = 1.2;

/// Powers of two, smooth, prime, Bluestein, one pass and several.
const LENGTHS: [usize; 14] = [
    8, 16, 30, 64, 97, 128, 131, 1000, 1009, 1024, 4096, 6000, 10_007, 65_536,
];

fn part(exact: &ExactSpectrum, range: std::ops::Range<usize>) -> ExactSpectrum {
    ExactSpectrum {
        values: exact.values[range].to_vec(),
        exponent: exact.exponent,
    }
}

#[test]
fn lines_of_one_batch_at_any_scale_each_meet_the_gate() {
    let violations = Violations::default();
    let lengths = [8, 31, 64, 131, 1000, 1024, 4096];
    in_parallel(&lengths, |planner, &length| {
        let exponents = [0, 1000, -1000, 500, -500, 1, -1, -960];
        let lines: Vec<Vec<Complex<f64>>> = (0u64..)
            .zip(exponents)
            .map(|(seed, exponent)| {
                scaled_by_power_of_two(&uniform_complex(length, seed), exponent)
            })
            .collect();
        let batch: Vec<Complex<f64>> = lines.concat();
        for products in PRODUCTS {
            let problem = complex(&[length]).products(products);
            let plan = plan(planner, &problem.batch(lines.len()));
            let output = transform(&plan, &batch);
            for (index, line) in lines.iter().enumerate() {
                let exact = dft(line, oracle::Direction::Forward);
                let error = compare(&output[index * length..(index + 1) * length], &exact);
                violations.check(error.l2 <= GATE_L2 && error.linf <= GATE_LINF, || {
                    format!(
                        "{length} {products:?}, line {index} times 2^{}, seed {index}: {error}",
                        exponents[index]
                    )
                });
            }
        }
    });
    violations.report();
}

#[test]
fn columns_of_any_scale_each_meet_the_gate() {
    // The same along the other axis: neighbours in memory belong to lines of different scale.
    let violations = Violations::default();
    let planner = Planner::<f64>::new();
    let exponents = [1000, -1000, 0, 300, -300];
    for length in [16, 101, 360, 2048] {
        let lines: Vec<Vec<Complex<f64>>> = (0u64..)
            .zip(exponents)
            .map(|(seed, exponent)| {
                scaled_by_power_of_two(&uniform_complex(length, seed), exponent)
            })
            .collect();
        let columns = lines.len();
        let field: Vec<Complex<f64>> = (0..length * columns)
            .map(|index| lines[index % columns][index / columns])
            .collect();
        let plan = plan(&planner, &complex(&[length, columns]).axes(&[0]));
        let output = transform(&plan, &field);
        for (column, line) in lines.iter().enumerate() {
            let computed: Vec<Complex<f64>> =
                output[column..].iter().step_by(columns).copied().collect();
            let error = compare(&computed, &dft(line, oracle::Direction::Forward));
            violations.check(error.l2 <= GATE_L2 && error.linf <= GATE_LINF, || {
                format!("{length}, column {column}, seed {column}: {error}")
            });
        }
    }
    violations.report();
}

#[test]
fn no_input_is_transformed_worse_than_by_the_native_engine() {
    let violations = Violations::default();
    let worst = Worst::none();
    in_parallel(&LENGTHS, |planner, &length| {
        let ours = plan(planner, &complex(&[length]));
        let native = plan(planner, &complex(&[length]).engine(Engine::Native));
        let hold = |name: &str, seed: u64, line: &[Complex<f64>]| {
            let exact = dft(line, oracle::Direction::Forward);
            let error = compare(&transform(&ours, line), &exact).l2;
            let theirs = compare(&transform(&native, line), &exact).l2;
            // Where native is exact or nearly so (constants, impulses at 0, alternating signs) a ratio says
            // nothing. There the error must be below what rounding a random spectrum once costs.
            violations.check(error <= (NATIVE_FACTOR * theirs).max(FLOOR_L2), || {
                format!(
                    "{length} {name}, seed {seed}: L2 {error:.3e}, native {theirs:.3e}, ratio {:.2}",
                    error / theirs
                )
            });
            if error > FLOOR_L2 {
                Worst::note(&worst, error / theirs, || {
                    format!("{length} {name}, seed {seed}: {error:.3e}, native {theirs:.3e}")
                });
            }
        };
        for input in HardInput::ALL {
            for seed in [1, 2, 3] {
                hold(input.name(), seed, &input.generate(length, seed));
            }
        }
        for bits in [20, 53, 500] {
            for seed in [11, 12] {
                hold(
                    &format!("span {bits}"),
                    seed,
                    &wide_range(length, seed, bits),
                );
            }
        }
    });
    Worst::print(&worst, "largest error/native where ours is above the floor");
    violations.report();
}

#[test]
fn no_real_input_is_transformed_worse_than_by_the_native_engine() {
    let violations = Violations::default();
    let worst = Worst::none();
    in_parallel(&LENGTHS, |planner, &length| {
        let problem = digits(Problem::real_to_complex(&[length]));
        let ours = plan(planner, &problem);
        let native = plan(planner, &problem.engine(Engine::Native));
        for input in HardInput::ALL {
            for seed in [1, 2] {
                let line = input.generate(length, seed);
                let real: Vec<f64> = line.iter().map(|value| value.re).collect();
                let exact = dft(&complex_from_real(&real), oracle::Direction::Forward);
                let exact = part(&exact, 0..length / 2 + 1);
                let error = compare(&transform_real(&ours, &real), &exact).l2;
                let theirs = compare(&transform_real(&native, &real), &exact).l2;
                let name = input.name();
                violations.check(error <= (NATIVE_FACTOR * theirs).max(FLOOR_L2), || {
                    format!(
                        "{length} real {name}, seed {seed}: L2 {error:.3e}, native {theirs:.3e}, ratio {:.2}",
                        error / theirs
                    )
                });
                if error > FLOOR_L2 {
                    Worst::note(&worst, error / theirs, || {
                        format!(
                            "{length} real {name}, seed {seed}: {error:.3e}, native {theirs:.3e}"
                        )
                    });
                }
            }
        }
    });
    Worst::print(
        &worst,
        "real: largest error/native where ours is above the floor",
    );
    violations.report();
}

#[test]
fn inverse_transforms_of_hard_inputs_are_no_worse_than_native_ones() {
    let violations = Violations::default();
    in_parallel(&[16, 360, 1009, 1024, 4096], |planner, &length| {
        let problem = complex(&[length]).direction(Direction::Inverse);
        let ours = plan(planner, &problem);
        let native = plan(planner, &problem.engine(Engine::Native));
        for input in HardInput::ALL {
            // Dividing subnormals by n leaves too few bits for a relative error to mean anything.
            if input == HardInput::Subnormals {
                continue;
            }
            let line = input.generate(length, 4);
            let error = errors(&ours, &line, Norm::Backward, Direction::Inverse).l2;
            let theirs = errors(&native, &line, Norm::Backward, Direction::Inverse).l2;
            violations.check(error <= (NATIVE_FACTOR * theirs).max(FLOOR_L2), || {
                format!(
                    "{length} inverse {}, seed 4: L2 {error:.3e}, native {theirs:.3e}",
                    input.name()
                )
            });
        }
    });
    violations.report();
}

#[test]
fn an_overflowing_output_is_infinite_and_others_stay_finite() {
    let planner = Planner::<f64>::new();
    for length in [64, 1000, 1009, 1024, 4096] {
        for products in PRODUCTS {
            let plan = plan(&planner, &complex(&[length]).products(products));
            let output = transform(&plan, &vec![Complex::new(1e308, 0.0); length]);
            assert_eq!(output[0].re, f64::INFINITY, "{length} {products:?}");
            assert!(
                output[0].im.is_finite(),
                "{length} {products:?}: {}",
                output[0]
            );
            // The true norm is n times 1e308, all of it in the first output; the others are exactly zero.
            let allowed = plan.bound() * length as f64;
            let rest = output[1..]
                .iter()
                .map(|value| (value.re / 1e308).powi(2) + (value.im / 1e308).powi(2))
                .sum::<f64>()
                .sqrt();
            assert!(
                rest <= allowed,
                "{length} {products:?}: {rest:.3e} of the input's size, {allowed:.3e} allowed"
            );
        }
    }
}

#[test]
fn large_values_do_not_overflow_in_intermediates() {
    // Every value finite and large, every output finite: intermediate sums must not leave the range.
    let planner = Planner::<f64>::new();
    for length in [8, 127, 131, 1024, 4096] {
        let problem = complex(&[length]).direction(Direction::Inverse);
        let plan = plan(&planner, &problem.norm(Norm::Backward));
        let line: Vec<Complex<f64>> = uniform_complex(length, 8)
            .into_iter()
            .map(|value| value * (0.5 * f64::MAX))
            .collect();
        let error = errors(&plan, &line, Norm::Backward, Direction::Inverse);
        assert!(error.l2 <= GATE_L2, "{length}, seed 8: {error}");
        let constant = vec![Complex::new(f64::MAX, -f64::MAX); length];
        let output = transform(&plan, &constant);
        let error = compare(
            &output[..1],
            &dft(&constant[..1], oracle::Direction::Forward),
        );
        assert!(error.l2 <= plan.bound(), "{length}: {}", output[0]);
    }
}

#[test]
fn subnormal_numbers_are_never_flushed() {
    let planner = Planner::<f64>::new();
    let smallest = f64::from_bits(1);
    for length in [1, 2, 3, 4, 8, 16, 127, 131, 1000, 1024, 4096, 10_007] {
        for products in PRODUCTS {
            let plan = plan(&planner, &complex(&[length]).products(products));
            let mut impulse = vec![Complex::new(0.0, 0.0); length];
            impulse[0] = Complex::new(smallest, 3.0 * smallest);
            let output = transform(&plan, &impulse);
            assert!(
                output.iter().all(|&value| value == impulse[0]),
                "{length} {products:?}: impulse of the smallest number"
            );
            let constant = vec![Complex::new(smallest, 0.0); length];
            let output = transform(&plan, &constant);
            let sum = f64::from_bits(length as u64);
            assert_eq!(
                output[0].re, sum,
                "{length} {products:?}: sum of the smallest number"
            );
        }
    }
}

#[test]
fn small_lines_with_a_large_prime_factor_meet_the_gate() {
    // The zeros that pad a chirp convolution have no exponent of their own, however small the line is.
    let planner = Planner::<f64>::new();
    for exponent in [-40, -44, -64, -100, -900] {
        for length in [131, 1009] {
            let plan = plan(&planner, &complex(&[length]));
            let line = scaled_by_power_of_two(&uniform_complex(length, 17), exponent);
            let error = errors(&plan, &line, Norm::Backward, Direction::Forward);
            assert!(
                error.l2 <= GATE_L2,
                "{length} times 2^{exponent}, seed 17: {error}"
            );
        }
    }
}

#[test]
fn subnormal_outputs_are_the_nearest_ones() {
    // Few bits are left, so the result must be the correctly rounded one but where the exact value lies within
    // the bound of a tie, which random values do not.
    let planner = Planner::<f64>::new();
    for length in [8, 30, 97, 131, 1024] {
        let plan = plan(&planner, &complex(&[length]));
        let line: Vec<Complex<f64>> = uniform_complex(length, 21)
            .into_iter()
            .map(|value| (value * 1000.0).map(f64::trunc) * f64::from_bits(1))
            .collect();
        let exact = dft(&line, oracle::Direction::Forward);
        assert_eq!(
            transform(&plan, &line),
            rounded_once(&exact),
            "{length}, seed 21"
        );
    }
}

trait MapParts {
    fn map(self, change: fn(f64) -> f64) -> Self;
}

impl MapParts for Complex<f64> {
    fn map(self, change: fn(f64) -> f64) -> Self {
        Complex::new(change(self.re), change(self.im))
    }
}
