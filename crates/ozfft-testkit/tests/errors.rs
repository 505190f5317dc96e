//! Norms, floors and round trips.

use num_complex::Complex;
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::multiprecision::relative_l2_of_samples;
use ozfft_testkit::oracle::spectrum::multiply_by_power_of_two;
use ozfft_testkit::oracle::{
    ComplexDoubleDouble, Direction, DoubleDouble, ErrorNorms, HardInput, Scale, backward_l2,
    compare, compare_f32, compare_sampled, compare_scaled, dft, dft_sampled, floor, floor_f32,
    inputs, rounded_once, rounded_once_f32,
};

#[test]
fn the_floor_is_where_it_was_measured() {
    for length in [8, 64, 1000, 1024, 4093] {
        let exact = dft(&inputs::uniform_complex(length, 12), Direction::Forward);
        let floor = floor(&exact);
        let (low, high) = if length >= 1000 {
            (4.2e-17, 5.2e-17)
        } else {
            (2e-17, 8e-17)
        };
        assert!(
            floor.l2 > low && floor.l2 < high,
            "length {length}: {floor}"
        );
        assert!(
            floor.linf < 1.7e-16 && floor.l1 < 8e-17,
            "length {length}: {floor}"
        );
        let single = floor_f32(&exact);
        assert!(
            (single.l2 / floor.l2 / 2f64.powi(29) - 1.0).abs() < 0.5,
            "length {length}: {single}"
        );
    }
}

#[test]
fn a_planted_error_is_measured_in_every_norm() {
    let line = HardInput::Impulse.generate(100, 0);
    let exact = dft(&line, Direction::Forward);
    let mut computed = rounded_once(&exact);
    computed[17] += Complex::new(3e-9, 4e-9);
    let errors = compare(&computed, &exact);
    assert!((errors.l1 / 5e-11 - 1.0).abs() < 1e-6);
    assert!((errors.l2 / 5e-10 - 1.0).abs() < 1e-6);
    assert!((errors.linf / 5e-9 - 1.0).abs() < 1e-6);
    let mut single = rounded_once_f32(&exact);
    assert!(compare_f32(&single, &exact, Scale::One).linf < 1e-30);
    single[3].re = f32::INFINITY;
    assert_eq!(
        compare_f32(&single, &exact, Scale::One),
        ErrorNorms::INFINITE
    );
}

#[test]
fn normalised_results_are_compared_with_normalised_references() {
    for length in [6, 49, 1000] {
        let exact = dft(&inputs::uniform_complex(length, 1), Direction::Inverse);
        for scale in [
            Scale::One,
            Scale::OneOverLength(length),
            Scale::OneOverSquareRoot(length),
        ] {
            let computed = rounded_once(&exact.scaled(scale.factor()));
            let errors = compare_scaled(&computed, &exact, scale);
            assert!(errors.l2 < 1e-16, "{scale:?}: {errors}");
        }
        assert!(
            compare(
                &rounded_once(&exact.scaled(Scale::OneOverLength(length).factor())),
                &exact
            )
            .l2 > 0.1
        );
    }
}

#[test]
fn sampled_errors_estimate_those_of_the_whole() {
    let length = 4096;
    for scale in [Scale::One, Scale::OneOverLength(length)] {
        let line = inputs::uniform_complex(length, 31);
        let exact = dft(&line, Direction::Forward);
        let computed = rounded_once(&exact.scaled(scale.factor()));
        let indices: Vec<usize> = (0..256).map(|index| index * 16 + 5).collect();
        let samples = dft_sampled(&line, &[length], &indices, Direction::Forward);
        let picked: Vec<Complex<f64>> = indices.iter().map(|&index| computed[index]).collect();
        let estimate = compare_sampled(&picked, &samples, &line, scale);
        let whole = compare_scaled(&computed, &exact, scale);
        assert!(
            (estimate.l2 / whole.l2 - 1.0).abs() < 0.25,
            "{estimate} against {whole}"
        );
    }
}

#[test]
fn extreme_scales_have_the_same_errors() {
    let line = inputs::uniform_complex(64, 2);
    let reference = floor(&dft(&line, Direction::Forward));
    for exponent in [-900, 900, 1000] {
        let exact = dft(
            &inputs::scaled_by_power_of_two(&line, exponent),
            Direction::Forward,
        );
        assert_eq!(floor(&exact), reference);
    }
    // The first output is the sum, here of integer multiples of the smallest number.
    let line = HardInput::Subnormals.generate(64, 4);
    let exact = dft(&line, Direction::Forward);
    let quanta: i64 = line
        .iter()
        .map(|value| multiply_by_power_of_two(value.re, 1074) as i64)
        .sum();
    let sum = multiply_by_power_of_two(quanta as f64, -1074);
    assert_eq!(rounded_once(&exact)[0].re, sum);
    // Beyond the range of a double the reference still exists; only its rounding is infinite.
    let huge = dft(&[Complex::new(1e308, 0.0); 16], Direction::Forward);
    let rounded = rounded_once(&huge);
    assert_eq!(rounded[0].re, f64::INFINITY);
    assert_eq!(compare(&rounded, &huge), ErrorNorms::INFINITE);
}

#[test]
fn round_trips_return_the_input() {
    for (length, shape) in [
        (1000, vec![1000]),
        (1009, vec![1009]),
        (960, vec![8, 10, 12]),
    ] {
        let line = inputs::uniform_complex(length, 3);
        for direction in [Direction::Forward, Direction::Inverse] {
            let scale = Scale::OneOverSquareRoot(length);
            let exact = oracle::dft_nd(&line, &shape, direction).scaled(scale.factor());
            let mut computed = rounded_once(&exact);
            let error = backward_l2(&computed, &line, &shape, direction, scale);
            assert!(error > 3e-17 && error < 6e-17, "length {length}: {error:e}");
            computed[1].im += 1.0;
            assert!(backward_l2(&computed, &line, &shape, direction, scale) > 1e-3);
            computed[1].im = f64::NAN;
            assert_eq!(
                backward_l2(&computed, &line, &shape, direction, scale),
                f64::INFINITY
            );
        }
    }
    let zeros = [Complex::new(0.0, 0.0); 4];
    assert_eq!(
        backward_l2(&zeros, &zeros, &[4], Direction::Forward, Scale::One),
        0.0
    );
    let line = inputs::scaled_by_power_of_two(&inputs::uniform_complex(4, 1), 900);
    let error = backward_l2(&zeros, &line, &[4], Direction::Forward, Scale::One);
    assert!((error - 1.0).abs() < 1e-15, "{error}");
}

#[test]
fn sampled_errors_of_double_doubles_are_those_that_were_made() {
    for n in [1usize, 5, 48, 100] {
        let line = inputs::uniform_complex(n, 3);
        let exact = dft(&line, Direction::Forward);
        let scale = |x: DoubleDouble| x.scale_by_power_of_two(exact.exponent);
        let value = |k: usize| {
            let z = exact.values[k];
            ComplexDoubleDouble::new(scale(z.re), scale(z.im))
        };
        assert!(relative_l2_of_samples(&line, 16, value) < 1e-30, "{n}");
        // The same error at every output: relative to the root mean square of all outputs.
        let made = 1e-24;
        let wrong = |k: usize| {
            let z = value(k);
            ComplexDoubleDouble::new(z.re + DoubleDouble::from_sum(made, 0.0), z.im)
        };
        let norm: f64 = line.iter().map(|z| z.norm_sqr()).sum();
        let expected = made / norm.sqrt();
        let found = relative_l2_of_samples(&line, 16, wrong);
        assert!((found / expected - 1.0).abs() < 1e-6, "{n}: {found:e}");
    }
}
