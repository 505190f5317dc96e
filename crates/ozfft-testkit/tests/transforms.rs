//! The double-double transforms against the definition in arbitrary precision, and against what is known.

use num_complex::Complex;
use ozfft_testkit::oracle::multiprecision::{self, DEFAULT_PRECISION};
use ozfft_testkit::oracle::{
    Direction, ExactSpectrum, HardInput, dft, dft_axes, dft_nd, dft_real, dft_sampled, inputs,
};

/// Far below any double's rounding error, well above what is measured.
const TOLERANCE: f64 = 3e-31;

fn error_against_definition(line: &[Complex<f64>], direction: Direction, precision: usize) -> f64 {
    multiprecision::relative_l2(
        &dft(line, direction),
        &multiprecision::dft(line, direction, precision),
    )
}

/// Relative 2-norm of the difference of two spectra with the same exponent.
fn difference(left: &ExactSpectrum, right: &ExactSpectrum) -> f64 {
    assert_eq!((left.len(), left.exponent), (right.len(), right.exponent));
    let norm: f64 = right
        .values
        .iter()
        .map(|value| value.norm_sqr().to_f64())
        .sum();
    let error: f64 = left
        .values
        .iter()
        .zip(&right.values)
        .map(|(&a, &b)| (a - b).norm_sqr().to_f64())
        .sum();
    if error == 0.0 {
        0.0
    } else {
        (error / norm).sqrt()
    }
}

#[test]
fn every_small_length_agrees_with_the_definition() {
    for length in 1..=64 {
        for seed in [length as u64, 1000 + length as u64] {
            let line = inputs::uniform_complex(length, seed);
            for direction in [Direction::Forward, Direction::Inverse] {
                let error = error_against_definition(&line, direction, DEFAULT_PRECISION);
                assert!(
                    error < TOLERANCE,
                    "length {length}, seed {seed}, {direction:?}: {error:e}"
                );
            }
        }
    }
}

#[test]
fn every_algorithm_for_larger_lengths_agrees_with_the_definition() {
    // Primes on both sides of the crossovers, powers, products with large primes, squares of primes.
    for length in [
        67, 71, 73, 81, 96, 100, 121, 125, 127, 128, 131, 142, 169, 201, 210, 256, 257, 273, 355,
    ] {
        let line = inputs::uniform_complex(length, 77);
        let error = error_against_definition(&line, Direction::Forward, 192);
        assert!(error < TOLERANCE, "length {length}: {error:e}");
    }
}

#[test]
fn every_length_up_to_a_thousand_agrees_with_samples() {
    let values = inputs::uniform_complex(1000, 50);
    for length in 1..=values.len() {
        let line = &values[..length];
        let indices = [length / 3, length - 1];
        let full = dft(line, Direction::Forward);
        let sampled = dft_sampled(line, &[length], &indices, Direction::Forward);
        // Relative to the typical output: two samples alone may happen to be small.
        let typical = (length as f64).sqrt() * 2f64.powi(-full.exponent);
        for (&index, &sample) in indices.iter().zip(&sampled.values) {
            let error = (full.values[index] - sample).norm_sqr().to_f64().sqrt() / typical;
            assert!(error < 2e-30, "output {index} of {length}: {error:e}");
        }
    }
}

#[test]
fn products_of_large_primes_agree_with_samples() {
    // 5041 = 71 * 71 and 71 * 73 * 2 convolve inside the lanes; 6 * 683 fills six of eight lanes.
    for length in [
        5041, 10_366, 4098, 4093, 4096, 6561, 12_289, 14_406, 40_000, 65_537,
    ] {
        let line = inputs::uniform_complex(length, 5);
        let indices: Vec<usize> = (0..12).map(|index| (index * 7919 + 1) % length).collect();
        for direction in [Direction::Forward, Direction::Inverse] {
            let full = dft(&line, direction);
            let sampled = dft_sampled(&line, &[length], &indices, direction);
            let picked = ExactSpectrum {
                values: indices.iter().map(|&index| full.values[index]).collect(),
                exponent: full.exponent,
            };
            let error = difference(&picked, &sampled);
            assert!(error < 2e-30, "length {length}: {error:e}");
        }
    }
}

#[test]
fn hard_inputs_agree_with_the_definition() {
    for input in HardInput::ALL {
        for length in [16, 45, 73] {
            let line = input.generate(length, 3);
            // Exact sums over a span of 2^500 need that many bits and some.
            let error = error_against_definition(&line, Direction::Forward, 700);
            assert!(
                error < TOLERANCE,
                "{} of length {length}: {error:e}",
                input.name()
            );
        }
    }
}

#[test]
fn scaling_by_a_power_of_two_changes_only_the_exponent() {
    let line = inputs::uniform_complex(90, 4);
    let reference = dft(&line, Direction::Forward);
    for exponent in [-1000, -960, 1000, 1023] {
        let scaled = dft(
            &inputs::scaled_by_power_of_two(&line, exponent),
            Direction::Forward,
        );
        assert_eq!(scaled.values, reference.values);
        assert_eq!(scaled.exponent, reference.exponent + exponent);
    }
}

#[test]
fn known_spectra_are_exact() {
    for length in [1, 2, 12, 30, 73, 128, 1000, 4096] {
        let spectrum = dft(&HardInput::Impulse.generate(length, 0), Direction::Forward);
        for value in &spectrum.values {
            let re = value.re.scale_by_power_of_two(spectrum.exponent);
            let im = value.im.scale_by_power_of_two(spectrum.exponent);
            assert!(
                (re.to_f64() - 1.0).abs() == 0.0
                    && re.lo.abs() < 1e-30
                    && im.to_f64().abs() < 1e-30
            );
        }
        let constant = dft(&vec![Complex::new(3.0, -1.0); length], Direction::Forward);
        let first = constant.values[0];
        let scale = length as f64;
        assert_eq!(
            first.re.scale_by_power_of_two(constant.exponent).to_f64(),
            3.0 * scale
        );
        assert_eq!(
            first.im.scale_by_power_of_two(constant.exponent).to_f64(),
            -scale
        );
        for value in &constant.values[1..] {
            let size = value.norm_sqr().to_f64().sqrt() * 2f64.powi(constant.exponent);
            assert!(size < 1e-30 * scale, "{size:e}");
        }
    }
    let zeros = dft(&[Complex::new(-0.0, 0.0); 24], Direction::Forward);
    assert!(
        zeros
            .values
            .iter()
            .all(|value| value.norm_sqr().to_f64() == 0.0)
    );
}

#[test]
fn arrays_agree_with_their_samples_and_axes_with_lines() {
    for shape in [
        vec![1],
        vec![7, 1, 5],
        vec![16, 16, 16],
        vec![3, 71, 10],
        vec![2, 9000],
        vec![9000, 2],
        vec![3, 4, 5, 6],
    ] {
        let count = shape.iter().product();
        let field = inputs::uniform_complex(count, 8);
        let indices: Vec<usize> = (0..20).map(|index| index * 7919 % count).collect();
        for direction in [Direction::Forward, Direction::Inverse] {
            let full = dft_nd(&field, &shape, direction);
            let sampled = dft_sampled(&field, &shape, &indices, direction);
            let picked = ExactSpectrum {
                values: indices.iter().map(|&index| full.values[index]).collect(),
                exponent: full.exponent,
            };
            let error = difference(&picked, &sampled);
            assert!(error < 2e-30, "shape {shape:?}: {error:e}");
        }
    }
    // The middle axis only: each line on its own, up to the common exponent.
    let shape = [3, 10, 4];
    let field = inputs::uniform_complex(120, 9);
    let batch = dft_axes(&field, &shape, &[1], Direction::Forward);
    for (outer, inner) in [(0, 0), (1, 3), (2, 1)] {
        let position = |middle: usize| (outer * 10 + middle) * 4 + inner;
        let line: Vec<Complex<f64>> = (0..10).map(|middle| field[position(middle)]).collect();
        let single = dft(&line, Direction::Forward);
        for (middle, value) in single.values.iter().enumerate() {
            let shift = single.exponent - batch.exponent;
            let expected =
                value.re.scale_by_power_of_two(shift) - batch.values[position(middle)].re;
            assert!(expected.to_f64().abs() * 2f64.powi(batch.exponent) < 1e-29);
        }
    }
}

#[test]
fn the_energy_is_kept() {
    for length in [100, 1009, 8192] {
        let line = inputs::gaussian_complex(length, 2);
        let spectrum = dft(&line, Direction::Forward);
        let scale = 2f64.powi(2 * spectrum.exponent);
        let energy: f64 = spectrum
            .values
            .iter()
            .map(|value| value.norm_sqr().to_f64() * scale)
            .sum();
        let expected: f64 = line.iter().map(|value| value.norm_sqr()).sum::<f64>() * length as f64;
        assert!((energy / expected - 1.0).abs() < 1e-13);
    }
}

#[test]
fn real_input_has_a_hermitian_spectrum() {
    let spectrum = dft_real(&inputs::uniform_real(45, 6), Direction::Forward);
    for index in 1..45 {
        let sum = spectrum.values[index] - spectrum.values[45 - index].conj();
        assert!(sum.norm_sqr().to_f64().sqrt() * 2f64.powi(spectrum.exponent) < 1e-30);
    }
}

#[test]
#[should_panic(expected = "input value 1 is not finite")]
fn an_infinite_value_is_reported() {
    dft(
        &[Complex::new(0.0, 0.0), Complex::new(f64::INFINITY, 0.0)],
        Direction::Forward,
    );
}

#[test]
#[should_panic(expected = "empty")]
fn an_empty_line_is_rejected() {
    dft(&[], Direction::Forward);
}

#[test]
#[should_panic(expected = "does not hold 5 values")]
fn a_wrong_shape_is_rejected() {
    dft_nd(&[Complex::new(0.0, 0.0); 5], &[2, 3], Direction::Forward);
}
