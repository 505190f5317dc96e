//! Numbers that are not finite, near overflow, subnormal or zero with a sign. Bad requests are in `bad_requests.rs`.

use crate::common_arrays::{ComplexDouble, bits, plan};
use num_complex::Complex;
use ozfft::{Direction, Engine, FftError, Layout, Norm, Problem};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::{HardInput, uniform_complex, uniform_real};

const MARK: ComplexDouble = Complex::new(77.25, -3.5);

fn digits(shape: &[usize]) -> Problem {
    Problem::complex(shape).engine(Engine::Digits)
}

fn transformed(problem: &Problem, input: &[ComplexDouble]) -> Vec<ComplexDouble> {
    let mut output = vec![MARK; problem.output_len()];
    plan(problem)
        .process_outofplace(input, &mut output)
        .unwrap();
    output
}

const POISONS: [Complex<f64>; 4] = [
    Complex::new(f64::NAN, 0.0),
    Complex::new(1.0, f64::NAN),
    Complex::new(f64::INFINITY, 0.0),
    Complex::new(0.5, f64::NEG_INFINITY),
];

#[test]
fn one_nan_or_infinity_makes_its_transform_nan_and_no_other() {
    for n in [1, 2, 4, 16, 60, 127, 131, 1000, 1030, 4096] {
        let problem = digits(&[n]).batch(3).threads(2);
        let clean = uniform_complex(3 * n, n as u64);
        let expected = transformed(&problem, &clean);
        for (turn, poison) in POISONS.into_iter().enumerate() {
            let mut input = clean.clone();
            input[n + turn * 31 % n] = poison;
            let output = transformed(&problem, &input);
            assert!(bits(&output[..n]) == bits(&expected[..n]), "{n}");
            assert!(bits(&output[2 * n..]) == bits(&expected[2 * n..]), "{n}");
            let all = |z: &ComplexDouble| z.re.is_nan() && z.im.is_nan();
            assert!(output[n..2 * n].iter().all(all), "{n}, {poison}");
        }
    }
}

#[test]
fn one_nan_makes_the_whole_transform_nan_in_several_dimensions() {
    let problem = digits(&[6, 10]).batch(2);
    let mut input = uniform_complex(120, 3);
    let expected = transformed(&problem, &input);
    input[60 + 17].im = f64::NAN;
    let output = transformed(&problem, &input);
    assert!(bits(&output[..60]) == bits(&expected[..60]));
    assert!(output[60..].iter().all(|z| z.re.is_nan() && z.im.is_nan()));
}

#[test]
fn one_nan_makes_the_whole_real_transform_nan() {
    for shape in [&[24][..], &[131], &[6, 10]] {
        let forward = Problem::real_to_complex(shape).engine(Engine::Digits);
        let mut real = uniform_real(forward.input_len(), 1);
        real[5] = f64::NEG_INFINITY;
        let mut half = vec![MARK; forward.output_len()];
        plan(&forward)
            .process_real_to_complex(&real, &mut half)
            .unwrap();
        assert!(half.iter().all(|z| z.re.is_nan() && z.im.is_nan()));

        let back = Problem::complex_to_real(shape).engine(Engine::Digits);
        let mut half = uniform_complex(back.input_len(), 1);
        half[0] = Complex::new(1.0, 0.0);
        half[1].re = f64::NAN;
        // Other lines' first and middle values are random here, which is reported and does not matter.
        let _ = plan(&back).process_complex_to_real(&half, &mut real);
        assert!(real.iter().all(|x| x.is_nan()), "{shape:?}");
    }
}

/// The imaginary part of the first value of a half-spectrum counts as 0 when it is a number. A NaN there is bad input.
#[test]
fn a_nan_in_an_imaginary_part_that_counts_as_zero_still_makes_the_transform_nan() {
    let engines = [Engine::Digits, Engine::Native];
    for (poison, engine) in [f64::NAN, f64::INFINITY]
        .into_iter()
        .flat_map(|poison| engines.map(|engine| (poison, engine)))
    {
        for (n, place) in [(8, 0), (8, 4), (9, 0), (1, 0), (131, 0)] {
            let problem = Problem::complex_to_real(&[n]).engine(engine);
            let mut half = uniform_complex(n / 2 + 1, 1);
            half[0].im = 0.0;
            half[n / 2].im = 0.0;
            half[place].im = poison;
            let mut real = vec![0.0; n];
            let _ = plan(&problem).process_complex_to_real(&half, &mut real);
            assert!(
                real.iter().all(|x| x.is_nan()),
                "{engine:?}, {n}: {poison} at {place}"
            );
        }
    }
}

#[test]
fn strict_names_the_place_and_the_value_and_writes_nothing() {
    let layout = Layout::strided(&[30, 3], 1).with_offset(2);
    let problem = digits(&[4, 9]).batch(3).strict(true).input_layout(layout);
    let mut input = uniform_complex(problem.input_len(), 1);
    // A gap is no element: its content does not matter.
    input[0].re = f64::NAN;
    let mut output = vec![MARK; problem.output_len()];
    let strict = plan(&problem);
    strict.process_outofplace(&input, &mut output).unwrap();
    let index = 2 + 2 * 30 + 5 * 3 + 1;
    input[index].im = f64::INFINITY;
    output.fill(MARK);
    let error = strict.process_outofplace(&input, &mut output).unwrap_err();
    let FftError::NotFinite {
        index: found,
        value,
    } = &error
    else {
        panic!("{error:?}");
    };
    assert_eq!(*found, index);
    assert!(value.contains("inf"), "{value}");
    assert!(error.to_string().contains(&index.to_string()), "{error}");
    assert!(error.to_string().contains("strict"), "{error}");
    assert!(output.iter().all(|&z| z == MARK), "something was written");
}

#[test]
fn strict_holds_for_every_kind_engine_and_call() {
    for engine in [Engine::Digits, Engine::Native] {
        let problem = Problem::complex(&[12]).engine(engine).strict(true);
        let mut buffer = uniform_complex(12, 1);
        buffer[7].re = f64::NAN;
        let before = buffer.clone();
        let error = plan(&problem).process(&mut buffer).unwrap_err();
        assert!(matches!(error, FftError::NotFinite { index: 7, .. }));
        assert!(bits(&before) == bits(&buffer));

        let problem = Problem::real_to_complex(&[3, 8])
            .engine(engine)
            .strict(true);
        let mut real = uniform_real(24, 1);
        real[13] = f64::NEG_INFINITY;
        let mut half = vec![MARK; 15];
        let error = plan(&problem)
            .process_real_to_complex(&real, &mut half)
            .unwrap_err();
        assert!(matches!(error, FftError::NotFinite { index: 13, .. }));
        assert!(half.iter().all(|&z| z == MARK));

        let problem = Problem::complex_to_real(&[3, 8])
            .engine(engine)
            .strict(true);
        let mut half = uniform_complex(15, 1);
        half[14].im = f64::NAN;
        let error = plan(&problem)
            .process_complex_to_real(&half, &mut real)
            .unwrap_err();
        assert!(matches!(error, FftError::NotFinite { index: 14, .. }));
    }
}

#[test]
fn a_constant_near_overflow_gives_one_infinity_and_finite_rest() {
    for n in [1024, 1000, 127, 131, 4096] {
        let output = transformed(&digits(&[n]), &vec![Complex::new(1e308, 0.0); n]);
        assert_eq!(output[0].re, f64::INFINITY, "{n}");
        // Everything else is 0, but for an error within the bound of the whole, of norm n · 1e308.
        let bound = plan(&digits(&[n])).bound() * n as f64;
        let within = |x: f64| x.abs() / 1e308 <= bound;
        assert!(within(output[0].im), "{n}: {}", output[0]);
        for (k, z) in output.iter().enumerate().skip(1) {
            assert!(within(z.re) && within(z.im), "{n}: X[{k}] = {z}");
        }
        // With 1/n the same input has a representable answer, so nothing may overflow in between.
        let scaled = transformed(
            &digits(&[n]).norm(Norm::Forward),
            &vec![Complex::new(1e308, 0.0); n],
        );
        assert!((scaled[0].re / 1e308 - 1.0).abs() < 1e-15, "{n}");
    }
}

/// The documented bound holds "as long as the output neither overflows nor underflows", and no output is above 1e308
/// here: only the row's sum, between one axis and the other, is 2e308.
#[test]
fn no_overflow_between_axes_where_the_result_is_finite() {
    let mut input = [Complex::new(0.0, 0.0); 16];
    input[..4].fill(Complex::new(1e308, 0.0));
    let output = transformed(&digits(&[4, 4]).norm(Norm::Ortho), &input);
    for (element, z) in output.iter().enumerate() {
        let wanted = if element % 4 == 0 { 1.0 } else { 0.0 };
        assert!((z / 1e308 - wanted).norm() < 1e-15, "{output:?}");
    }
}

#[test]
fn tiny_numbers_beside_zeros_are_transformed_like_any_others() {
    // A column of zeros has exponent 0, its neighbours the exponents of what they hold: the gap must not matter.
    for n in [131, 1030, 4096] {
        for power in [-20, -100, -1000] {
            let mut input = vec![Complex::new(0.0, 0.0); n];
            input[0].re = 2f64.powi(power);
            let output = transformed(&digits(&[n]), &input);
            let near = |z: &ComplexDouble| (z / input[0].re - 1.0).norm() < 1e-14;
            assert!(output.iter().all(near), "{n}, 2^{power}");
        }
    }
}

#[test]
fn the_half_spectrum_of_a_real_signal_is_never_reported_by_the_inverse() {
    let mut reported = Vec::new();
    for n in [8, 9, 60, 127, 131, 262, 1000, 1009, 1024, 1030, 4096] {
        let forward = Problem::real_to_complex(&[n]).engine(Engine::Digits);
        let mut half = vec![MARK; n / 2 + 1];
        let real = uniform_real(n, 1);
        plan(&forward)
            .process_real_to_complex(&real, &mut half)
            .unwrap();
        let back = Problem::complex_to_real(&[n]).engine(Engine::Digits);
        let outcome = plan(&back).process_complex_to_real(&half, &mut vec![0.0; n]);
        if outcome.is_err() {
            reported.push((n, half[0].im, half[n / 2].im));
        }
    }
    assert!(
        reported.is_empty(),
        "length, first and middle imaginary part: {reported:?}"
    );
}

#[test]
fn subnormals_are_never_flushed() {
    let least = f64::from_bits(1);
    for n in [1usize, 2, 3, 16, 60, 127, 131, 1000, 1030] {
        let mut input = vec![Complex::new(0.0, 0.0); n];
        input[0] = Complex::new(least, -3.0 * least);
        // An impulse's spectrum is flat: every output is the smallest number there is.
        assert!(
            transformed(&digits(&[n]), &input)
                .iter()
                .all(|&z| z == input[0]),
            "{n}"
        );
        let sum = transformed(&digits(&[n]), &vec![Complex::new(least, 0.0); n]);
        assert_eq!(sum[0].re, n as f64 * least, "{n}");
        // Whole subnormal lines: off by the bound and one unit at most. Scaled up, as squares would underflow.
        let input = HardInput::Subnormals.generate(n, 9);
        let exact = oracle::rounded_once(&oracle::dft(&input, oracle::Direction::Forward));
        let units = |z: ComplexDouble| (z / least).norm();
        let norm = exact.iter().map(|&z| units(z).powi(2)).sum::<f64>().sqrt();
        let room = 1.0 + plan(&digits(&[n])).bound() * norm;
        for (found, wanted) in transformed(&digits(&[n]), &input).iter().zip(&exact) {
            assert!(
                units(found - wanted) <= room,
                "{n}: {found:e} for {wanted:e}"
            );
        }
    }
}

#[test]
fn negative_zeros_become_positive_zeros() {
    let zero = Complex::new(-0.0, -0.0);
    let is_plain = |x: f64| x.to_bits() == 0;
    for n in [1usize, 2, 3, 4, 8, 60, 97, 131, 1000, 1030] {
        for direction in [Direction::Forward, Direction::Inverse] {
            let output = transformed(&digits(&[n]).direction(direction), &vec![zero; n]);
            assert!(
                output.iter().all(|z| is_plain(z.re) && is_plain(z.im)),
                "{n}, {direction:?}"
            );
            let forward = Problem::real_to_complex(&[n])
                .direction(direction)
                .engine(Engine::Digits);
            let mut half = vec![MARK; n / 2 + 1];
            plan(&forward)
                .process_real_to_complex(&vec![-0.0; n], &mut half)
                .unwrap();
            assert!(half.iter().all(|z| is_plain(z.re) && is_plain(z.im)), "{n}");
            let back = Problem::complex_to_real(&[n])
                .direction(direction)
                .engine(Engine::Digits);
            let mut real = vec![1.0; n];
            plan(&back)
                .process_complex_to_real(&vec![zero; n / 2 + 1], &mut real)
                .unwrap();
            assert!(real.iter().all(|&x| is_plain(x)), "{n}");
        }
    }
}

#[test]
fn a_half_spectrum_that_no_real_signal_has_is_computed_and_reported() {
    for engine in [Engine::Digits, Engine::Native] {
        for n in [1usize, 2, 8, 9, 131, 1000] {
            let problem = Problem::complex_to_real(&[n]).batch(3).engine(engine);
            let points = n / 2 + 1;
            let mut proper = uniform_complex(3 * points, 2);
            for line in proper.chunks_exact_mut(points) {
                line[0].im = 0.0;
                if n % 2 == 0 {
                    line[n / 2].im = 0.0;
                }
            }
            let mut expected = vec![0.0; 3 * n];
            plan(&problem)
                .process_complex_to_real(&proper, &mut expected)
                .unwrap();
            let mut improper = proper;
            improper[0].im = 0.25;
            improper[2 * points + if n % 2 == 0 { n / 2 } else { 0 }].im = -3.0;
            let mut output = vec![0.0; 3 * n];
            let outcome = plan(&problem).process_complex_to_real(&improper, &mut output);
            assert_eq!(outcome, Err(FftError::NotHermitian { count: 2 }), "{n}");
            assert!(bits(&output) == bits(&expected), "{n} by {engine:?}");
            let text = outcome.unwrap_err().to_string();
            assert!(text.contains('2') && text.contains("set it to 0"), "{text}");
        }
    }
}
