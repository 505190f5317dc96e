//! Beyond double: double-double transforms against the multiprecision DFT, within their proven bound; bits; real paths; bad input.

use crate::common_arrays::requirement;
use num_complex::Complex;
use ozfft::{
    Accuracy, CpuUnit, Direction, DoubleDouble, Engine, FftError, Layout, Norm, Problem, Substrate,
    WidePlan, WidePlanner,
};
use ozfft_testkit::available;
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::HardInput;
use ozfft_testkit::oracle::inputs::{Generator, uniform_complex};
use ozfft_testkit::oracle::multiprecision::{self, ComplexFloat, Float, from_f64};
use std::sync::OnceLock;

const PRECISION: usize = 320;

type ComplexPair = Complex<DoubleDouble>;

fn planner() -> &'static WidePlanner {
    static PLANNER: OnceLock<WidePlanner> = OnceLock::new();
    PLANNER.get_or_init(WidePlanner::new)
}

fn plan(problem: &Problem) -> WidePlan {
    planner()
        .plan(problem)
        .unwrap_or_else(|error| panic!("{problem:?}: {error}"))
}

/// Double-double numbers with all their bits at random.
fn random_pairs(n: usize, seed: u64) -> Vec<ComplexPair> {
    let mut generator = Generator::new(seed);
    let mut number = || {
        let high = generator.uniform();
        DoubleDouble::new(high, high * generator.uniform() * 2f64.powi(-53))
    };
    (0..n).map(|_| Complex::new(number(), number())).collect()
}

fn pairs_of(line: &[Complex<f64>]) -> Vec<ComplexPair> {
    let pair = |z: &Complex<f64>| Complex::new(DoubleDouble::from(z.re), DoubleDouble::from(z.im));
    line.iter().map(pair).collect()
}

fn float(pair: DoubleDouble) -> Float {
    from_f64(pair.high, PRECISION) + from_f64(pair.low, PRECISION)
}

/// The definition, summed as written, at some outputs only.
fn exact(input: &[ComplexPair], outputs: &[usize], direction: Direction) -> Vec<ComplexFloat> {
    let n = input.len();
    let roots: Vec<ComplexFloat> = (0..n)
        .map(|p| {
            let (cosine, sine) = multiprecision::cosine_and_sine_of_turns(p, n, PRECISION);
            let forward = direction == Direction::Forward;
            (cosine, if forward { -sine } else { sine })
        })
        .collect();
    let numbers: Vec<ComplexFloat> = input.iter().map(|z| (float(z.re), float(z.im))).collect();
    let zero = from_f64(0.0, PRECISION);
    let output = |&k: &usize| {
        let mut sum = (zero.clone(), zero.clone());
        for (j, (re, im)) in numbers.iter().enumerate() {
            let (cosine, sine) = &roots[(j as u128 * k as u128 % n as u128) as usize];
            sum.0 += re * cosine - im * sine;
            sum.1 += re * sine + im * cosine;
        }
        sum
    };
    outputs.iter().map(output).collect()
}

fn norm_squared<'a>(numbers: impl Iterator<Item = &'a ComplexFloat>) -> Float {
    numbers.fold(from_f64(0.0, PRECISION), |sum, (re, im)| {
        sum + re * re + im * im
    })
}

/// The root of a quotient that need not fit an `f64` before.
fn root_of(error: &Float, norm: &Float) -> f64 {
    let zero = from_f64(0.0, PRECISION);
    if *error == zero {
        0.0
    } else if *norm == zero {
        f64::INFINITY
    } else {
        (error / norm).to_f64().value().sqrt()
    }
}

/// The relative L2 error; with fewer outputs than all, its estimate from these: exact outputs have the mean square of the
/// input's norm, by Parseval.
fn error_of(
    input: &[ComplexPair],
    computed: &[ComplexPair],
    outputs: &[usize],
    direction: Direction,
    factor: &Float,
) -> f64 {
    let exact = exact(input, outputs, direction);
    let differences: Vec<ComplexFloat> = exact
        .iter()
        .zip(outputs)
        .map(|((re, im), &k)| {
            (
                float(computed[k].re) - re * factor,
                float(computed[k].im) - im * factor,
            )
        })
        .collect();
    let numbers: Vec<ComplexFloat> = input.iter().map(|z| (float(z.re), float(z.im))).collect();
    let samples = from_f64(outputs.len() as f64, PRECISION);
    let norm = norm_squared(numbers.iter()) * samples * factor * factor;
    root_of(&norm_squared(differences.iter()), &norm)
}

fn transformed(plan: &WidePlan, input: &[ComplexPair]) -> Vec<ComplexPair> {
    let mut output = vec![
        Complex::new(DoubleDouble::from(7.25), DoubleDouble::from(-3.5));
        plan.problem().output_len()
    ];
    plan.process_outofplace(input, &mut output)
        .unwrap_or_else(|error| panic!("{plan}: {error}"));
    output
}

/// All outputs of short lines, and some of longer ones.
fn some_outputs(n: usize, most: usize, seed: u64) -> Vec<usize> {
    if n <= most {
        return (0..n).collect();
    }
    let mut generator = Generator::new(seed);
    let mut chosen = vec![0, n / 2, n - 1];
    chosen.extend((3..most).map(|_| generator.below(n)));
    chosen
}

fn bits(pairs: &[ComplexPair]) -> Vec<[u64; 4]> {
    let bits = |z: &ComplexPair| [z.re.high, z.re.low, z.im.high, z.im.low].map(f64::to_bits);
    pairs.iter().map(bits).collect()
}

#[test]
fn random_double_doubles_of_any_length_keep_a_bound_below_1e_30() {
    let one = from_f64(1.0, PRECISION);
    let lengths = (1..=64).chain([100, 127, 128, 131, 1000, 1024, 1031, 4096, 10_007]);
    for n in lengths {
        let seed = 31 * n as u64;
        let input = random_pairs(n, seed);
        let plan = plan(&Problem::complex(&[n]).threads(2));
        let computed = transformed(&plan, &input);
        let outputs = some_outputs(n, 16, seed);
        let error = error_of(&input, &computed, &outputs, Direction::Forward, &one);
        println!(
            "{n}: error {error:.2e}, expected {:.2e}, bound {:.2e}",
            plan.expected(),
            plan.bound()
        );
        assert!(plan.bound() <= 1e-30, "{plan}");
        assert!(error <= plan.bound(), "{n}, seed {seed}: {error:e}\n{plan}");
        for z in &computed {
            assert!(z.re.high == z.re.high + z.re.low && z.im.high == z.im.high + z.im.low);
        }
    }
}

#[test]
fn hard_inputs_keep_the_bound() {
    let one = from_f64(1.0, PRECISION);
    for n in [1, 2, 5, 16, 30, 64, 67, 96] {
        let plan = plan(&Problem::complex(&[n]).threads(1));
        for hard in HardInput::ALL {
            // Results of subnormal numbers have no room for low parts.
            if hard == HardInput::Subnormals {
                continue;
            }
            let input = pairs_of(&hard.generate(n, 5));
            let computed = transformed(&plan, &input);
            let all: Vec<usize> = (0..n).collect();
            let error = error_of(&input, &computed, &all, Direction::Forward, &one);
            assert!(
                error <= plan.bound(),
                "{} of {n}: {error:e}\n{plan}",
                hard.name()
            );
        }
    }
}

fn some_units() -> Vec<Substrate> {
    let units = [
        Substrate::Cpu(CpuUnit::Scalar),
        Substrate::Cpu(CpuUnit::Avx2),
        Substrate::Cpu(CpuUnit::Avx512Vnni),
        Substrate::Cpu(CpuUnit::Amx),
        Substrate::Cpu(CpuUnit::NeonDot),
    ];
    let there = |&unit: &Substrate| {
        let planned = planner().plan(&Problem::complex(&[2]).substrate(unit));
        match requirement(unit) {
            Some(requirement) => available(requirement, planned).is_some(),
            None => planned.is_ok(),
        }
    };
    units.into_iter().filter(there).collect()
}

#[test]
fn bits_do_not_depend_on_unit_threads_batch_or_layout() {
    for n in [4, 15, 32, 60, 67, 128, 1030, 2048] {
        let batch = if n > 1000 { 2 } else { 11 };
        let input = random_pairs(n * batch, n as u64);
        let problem = Problem::complex(&[n]).batch(batch).threads(1);
        let expected = bits(&transformed(&plan(&problem), &input));
        for unit in some_units() {
            for threads in [1, 2, 3] {
                if unit == Substrate::Cpu(CpuUnit::Scalar) && threads > 1 {
                    continue;
                }
                let problem = problem.clone().substrate(unit).threads(threads);
                let found = bits(&transformed(&plan(&problem), &input));
                assert!(found == expected, "{n} on {unit:?}, {threads} threads");
            }
        }
        // One by one, in place, and with lines that lie across each other.
        for (line, expected) in input.chunks(n).zip(expected.chunks(n)) {
            let mut line = line.to_vec();
            plan(&Problem::complex(&[n])).process(&mut line).unwrap();
            assert!(bits(&line) == expected, "{n} alone");
        }
        let across = Layout::strided(&[batch as isize], 1);
        let mut turned = input.clone();
        for (i, &z) in input.iter().enumerate() {
            turned[i % n * batch + i / n] = z;
        }
        let problem = problem.input_layout(across);
        let found = bits(&transformed(&plan(&problem), &turned));
        assert!(found == expected, "{n} across");
    }
}

/// The digest of fixed inputs: other machines, and later versions, must return the same.
#[test]
fn bits_match_the_recorded_digest() {
    use sha2::{Digest, Sha256};
    let mut hasher = Sha256::new();
    for n in [1, 2, 3, 4, 16, 61, 67, 100, 1024, 4096] {
        for z in bits(&transformed(
            &plan(&Problem::complex(&[n])),
            &random_pairs(n, 3),
        )) {
            z.iter().for_each(|part| hasher.update(part.to_le_bytes()));
        }
    }
    let digest: String = hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(digest, DIGEST);
}

const DIGEST: &str = "6437d8ed778ea7205289376704b1e074580476da355041a716a3646092d7af82";

#[test]
fn every_norm_and_direction_keeps_the_bound_and_the_inverse_returns_the_input() {
    for n in [1, 6, 12, 61, 67, 90, 128] {
        let input = random_pairs(n, 77);
        for norm in [Norm::Backward, Norm::Ortho, Norm::Forward, Norm::Unscaled] {
            let mut budget = 0.0;
            let mut data = input.clone();
            for direction in [Direction::Forward, Direction::Inverse] {
                let plan = plan(&Problem::complex(&[n]).norm(norm).direction(direction));
                let divisor = match (norm, direction) {
                    (Norm::Backward, Direction::Inverse) | (Norm::Forward, Direction::Forward) => 2,
                    (Norm::Ortho, _) => 1,
                    _ => 0,
                };
                let points = from_f64(n as f64, PRECISION);
                let one = from_f64(1.0, PRECISION);
                let factor = match divisor {
                    0 => one,
                    1 => one / points.sqrt(),
                    _ => one / points,
                };
                let computed = transformed(&plan, &data);
                let all: Vec<usize> = (0..n).collect();
                let error = error_of(&data, &computed, &all, direction, &factor);
                assert!(
                    error <= plan.bound(),
                    "{n} {norm:?} {direction:?}: {error:e}\n{plan}"
                );
                budget += plan.bound();
                data = computed;
            }
            if norm == Norm::Unscaled {
                continue;
            }
            let (mut difference, mut whole) = (0.0, 0.0);
            for (a, b) in data.iter().zip(&input) {
                let (re, im) = ((a.re - b.re).high, (a.im - b.im).high);
                difference += re * re + im * im;
                whole += b.re.high * b.re.high + b.im.high * b.im.high;
            }
            let error = (difference / whole).sqrt();
            // The differences of double-double numbers are themselves off by 2^-104.
            assert!(error <= budget + 2f64.powi(-103), "{n} {norm:?}: {error:e}");
        }
    }
}

#[test]
fn real_transforms_have_the_bits_of_complex_ones() {
    for shape in [
        &[1][..],
        &[2],
        &[9],
        &[24],
        &[67],
        &[1024],
        &[4, 6],
        &[3, 5, 7],
    ] {
        let n: usize = shape.iter().product();
        let mut complex = random_pairs(n, 5);
        complex.iter_mut().for_each(|z| z.im = DoubleDouble::ZERO);
        let real: Vec<DoubleDouble> = complex.iter().map(|z| z.re).collect();
        let whole = transformed(&plan(&Problem::complex(shape)), &complex);
        let forward = Problem::real_to_complex(shape);
        let zero = Complex::new(DoubleDouble::ZERO, DoubleDouble::ZERO);
        let mut half = vec![zero; forward.output_len()];
        plan(&forward)
            .process_real_to_complex(&real, &mut half)
            .unwrap();
        let last = shape[shape.len() - 1];
        let kept: Vec<ComplexPair> = whole
            .chunks(last)
            .flat_map(|row| row[..last / 2 + 1].iter().copied())
            .collect();
        assert!(bits(&half) == bits(&kept), "{shape:?}");

        // Back: the half-spectrum, against the whole one that it stands for (which is Hermitian to the last bit along one
        // axis only).
        let backward = Problem::complex_to_real(shape);
        let mut back = vec![DoubleDouble::ZERO; n];
        plan(&backward)
            .process_complex_to_real(&half, &mut back)
            .unwrap();
        if shape.len() == 1 {
            let mirrored: Vec<ComplexPair> = (0..n)
                .map(|k| {
                    if 2 * k > n {
                        Complex::new(half[n - k].re, -half[n - k].im)
                    } else {
                        half[k]
                    }
                })
                .collect();
            let inverse = Problem::complex(shape).direction(Direction::Inverse);
            let expected = transformed(&plan(&inverse), &mirrored);
            let expected: Vec<ComplexPair> = expected
                .iter()
                .map(|z| Complex::new(z.re, DoubleDouble::ZERO))
                .collect();
            let back: Vec<ComplexPair> = back
                .iter()
                .map(|&x| Complex::new(x, DoubleDouble::ZERO))
                .collect();
            assert!(bits(&back) == bits(&expected), "{shape:?}");
        }
        let bound = plan(&forward).bound() + plan(&backward).bound() + 2f64.powi(-103);
        let (mut difference, mut norm) = (0.0, 0.0);
        for (&a, &b) in back.iter().zip(&real) {
            difference += (a - b).high * (a - b).high;
            norm += b.high * b.high;
        }
        assert!((difference / norm).sqrt() <= bound, "{shape:?}");
    }
}

/// Double-double errors of the oracle are near 1e-31, so this is the requirement and not the bound.
#[test]
fn several_dimensions_and_long_lines_stay_below_1e_30() {
    for shape in [
        &[8, 9, 10][..],
        &[67, 4],
        &[16, 1, 128],
        &[1 << 14],
        &[3 * 5 * 7 * 11 * 13],
    ] {
        let n: usize = shape.iter().product();
        let input = uniform_complex(n, 11);
        let plan = plan(&Problem::complex(shape).threads(2));
        assert!(plan.bound() < 1e-30, "{plan}");
        let computed = transformed(&plan, &pairs_of(&input));
        let exact = oracle::dft_nd(&input, shape, oracle::Direction::Forward);
        let factor = 2f64.powi(exact.exponent);
        let (mut error, mut norm) = (0.0, 0.0);
        for (z, exact) in computed.iter().zip(&exact.values) {
            for (own, exact) in [(z.re, exact.re), (z.im, exact.im)] {
                let exact = DoubleDouble::new(exact.hi * factor, exact.lo * factor);
                let difference = own - exact;
                error += difference.high * difference.high;
                norm += exact.high * exact.high;
            }
        }
        let error = (error / norm).sqrt();
        println!("{shape:?}: {error:.2e}, bound {:.2e}", plan.bound());
        assert!(error < 1e-30, "{shape:?}: {error:e}\n{plan}");
    }
}

#[test]
fn axes_are_transformed_one_by_one() {
    let shape = [6, 10, 4];
    let input = random_pairs(240, 9);
    let whole = transformed(&plan(&Problem::complex(&shape).axes(&[2, 0])), &input);
    let first = transformed(&plan(&Problem::complex(&shape).axes(&[0])), &input);
    let both = transformed(&plan(&Problem::complex(&shape).axes(&[2])), &first);
    assert!(bits(&whole) == bits(&both));
}

#[test]
fn a_nan_or_infinity_makes_its_transform_nan_and_no_other() {
    for n in [1, 2, 30, 67, 1024, 2048] {
        let problem = Problem::complex(&[n]).batch(3).threads(2);
        let clean = random_pairs(3 * n, 4);
        let expected = bits(&transformed(&plan(&problem), &clean));
        for poison in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for low in [false, true] {
                let mut input = clean.clone();
                let place = &mut input[n + n / 2].im;
                *(if low { &mut place.low } else { &mut place.high }) = poison;
                let output = transformed(&plan(&problem), &input);
                assert!(bits(&output[..n]) == expected[..n], "{n}");
                assert!(bits(&output[2 * n..]) == expected[2 * n..], "{n}");
                let nan = |z: &ComplexPair| z.re.is_nan() && z.im.is_nan();
                assert!(output[n..2 * n].iter().all(nan), "{n}");
                let strict = plan(&problem.clone().strict(true));
                let mut untouched = clean.clone();
                let error = strict
                    .process_outofplace(&input, &mut untouched)
                    .unwrap_err();
                assert!(matches!(error, FftError::NotFinite { index, .. } if index == n + n / 2));
                assert!(bits(&untouched) == bits(&clean));
            }
        }
    }
}

#[test]
fn the_ends_of_the_range_are_reached() {
    // A constant: one output, n times as large.
    for exponent in [-1074, -1022, -1000, -400, 0, 900, 1019] {
        let value = Complex::new(DoubleDouble::from(2f64.powi(exponent)), DoubleDouble::ZERO);
        let output = transformed(&plan(&Problem::complex(&[16])), &[value; 16]);
        assert_eq!(
            output[0].re,
            DoubleDouble::from(2f64.powi(exponent + 4)),
            "{exponent}"
        );
        assert!(
            output[1..]
                .iter()
                .all(|&z| z == Complex::new(DoubleDouble::ZERO, DoubleDouble::ZERO))
        );
    }
    let value = Complex::new(DoubleDouble::from(-f64::MAX), DoubleDouble::from(f64::MAX));
    let output = transformed(&plan(&Problem::complex(&[16])), &[value; 16]);
    assert_eq!(output[0].re, DoubleDouble::from(f64::NEG_INFINITY));
    assert_eq!(output[0].im, DoubleDouble::from(f64::INFINITY));
    // Between two axes numbers may be larger than the result.
    let problem = Problem::complex(&[8, 8]).norm(Norm::Forward);
    let output = transformed(&plan(&problem), &[value; 64]);
    assert_eq!(output[0], value);
    let problem = Problem::complex(&[8, 8]);
    let mut line = vec![Complex::new(DoubleDouble::ZERO, DoubleDouble::ZERO); 64];
    for (i, z) in line.iter_mut().enumerate() {
        let sign = if (i / 8 + i) % 2 == 0 { 1.0 } else { -1.0 };
        z.re = DoubleDouble::from(sign * 2f64.powi(1020));
    }
    line[0].re = DoubleDouble::from(2f64.powi(1019));
    let output = transformed(&plan(&problem), &line);
    assert_eq!(output[0].re, DoubleDouble::from(-2f64.powi(1019)));
}

#[test]
fn subnormal_results_are_rounded_once() {
    // Halves of numbers at the end of the range, by hand: 3 units / 2 is a tie, to even.
    let unit = f64::from_bits(1);
    let numbers = [3.0, 1.0, 5.0, 7.0]
        .map(|x| Complex::new(DoubleDouble::from(x * unit), DoubleDouble::ZERO));
    let output = transformed(
        &plan(&Problem::complex(&[2]).batch(2).norm(Norm::Forward)),
        &numbers,
    );
    let reals = output.iter().map(|z| z.re.high / unit);
    assert_eq!(reals.collect::<Vec<f64>>(), [2.0, 1.0, 6.0, -1.0]);
}

#[test]
fn numbers_that_are_not_normalised_count_as_their_sum() {
    let input = random_pairs(24, 8);
    let expected = bits(&transformed(&plan(&Problem::complex(&[24])), &input));
    // The same sums, the parts exchanged.
    let other: Vec<ComplexPair> = input
        .iter()
        .map(|z| {
            let turned = |x: DoubleDouble| DoubleDouble {
                high: x.low,
                low: x.high,
            };
            Complex::new(turned(z.re), turned(z.im))
        })
        .collect();
    assert!(bits(&transformed(&plan(&Problem::complex(&[24])), &other)) == expected);
}

#[test]
fn impulses_and_constants_come_out_exactly() {
    let one = Complex::new(DoubleDouble::from(1.0), DoubleDouble::ZERO);
    let zero = Complex::new(DoubleDouble::ZERO, DoubleDouble::ZERO);
    for n in [2, 8, 31, 32, 96, 100, 256, 1000, 1024] {
        let mut impulse = vec![zero; n];
        impulse[0] = one;
        let spectrum = transformed(&plan(&Problem::complex(&[n])), &impulse);
        assert!(spectrum.iter().all(|&z| z == one), "{n}");
        let constant = transformed(
            &plan(&Problem::complex(&[n]).norm(Norm::Forward)),
            &vec![one; n],
        );
        assert_eq!(constant[0].re.high, 1.0);
        assert!(
            constant[0].re.low.abs() < 1e-32 && constant[1..].iter().all(|&z| z == zero),
            "{n}"
        );
    }
}

#[test]
fn unsupported_options_are_rejected_by_name() {
    let rejected = |problem: Problem| planner().plan(&problem).unwrap_err().to_string();
    let problem = Problem::complex(&[8]);
    assert!(rejected(problem.clone().engine(Engine::Native)).contains("engine Native"));
    assert!(rejected(problem.clone().engine(Engine::Residues)).contains("engine Residues"));
    assert!(rejected(problem.clone().device(ozfft::Device::Cuda(0))).contains("device"));
    assert!(rejected(problem.clone().products(ozfft::Products::Exact)).contains("truncated"));
    assert!(rejected(problem.clone().axes(&[1])).contains("axis 1"));
    assert!(
        planner()
            .plan(&problem.clone().accuracy(Accuracy::Target(1e-30)))
            .is_ok()
    );
    let error = planner()
        .plan(&problem.accuracy(Accuracy::Target(1e-33)))
        .unwrap_err();
    assert!(
        matches!(error, FftError::AccuracyUnreachable { .. }),
        "{error}"
    );

    let plan = plan(&Problem::real_to_complex(&[8]));
    let mut short = vec![Complex::new(DoubleDouble::ZERO, DoubleDouble::ZERO); 4];
    let error = plan
        .process_real_to_complex(&[DoubleDouble::ZERO; 8], &mut short)
        .unwrap_err();
    assert!(matches!(
        error,
        FftError::BufferLength {
            expected: 5,
            given: 4,
            ..
        }
    ));
    assert!(matches!(
        plan.process(&mut short),
        Err(FftError::WrongKind { .. })
    ));
}

#[test]
fn half_spectra_of_no_real_signal_are_reported() {
    let plan = plan(&Problem::complex_to_real(&[8]));
    let half = random_pairs(5, 2);
    let mut real = [DoubleDouble::ZERO; 8];
    let error = plan.process_complex_to_real(&half, &mut real).unwrap_err();
    assert_eq!(error, FftError::NotHermitian { count: 1 });
    let mut mended = half.clone();
    mended[0].im = DoubleDouble::ZERO;
    mended[4].im = DoubleDouble::ZERO;
    let mut expected = [DoubleDouble::ZERO; 8];
    plan.process_complex_to_real(&mended, &mut expected)
        .unwrap();
    assert_eq!(real, expected);
    assert!(
        plan.process_complex_to_real(&[half[0]; 5], &mut real)
            .is_err()
    );
}
