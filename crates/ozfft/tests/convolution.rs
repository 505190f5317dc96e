//! Real convolutions against exact sums of their mantissas, and the route of integers through floating point.
//! The crate `exact-convolution` has the tests of integers.

use ozfft::convolution::{RealConvolutionError, Which, convolve, convolve_by_digits, fftconvolve};
use ozfft_testkit::oracle::inputs::Generator;

const SEED: u64 = 20261117;

/// Integers of 53 bits at most, by kind: random, all large, few, a spike among small ones.
fn mantissas(generator: &mut Generator, count: usize, kind: usize) -> Vec<i64> {
    let mut one = |k: usize| {
        let random = (generator.next_u64() as i64) >> 11;
        match kind {
            0 => random,
            1 => (1 << 53) - 1,
            2 if k.is_multiple_of(13) => random,
            2 => 0,
            _ if k == count / 2 => 1 << 52,
            _ => random >> 40,
        }
    };
    (0..count).map(&mut one).collect()
}

/// The distance of a number from an exact one, in f64 but for its last bits.
fn distance(value: f64, exact: i128, scale: f64) -> f64 {
    let high = exact as f64;
    let low = (exact - high as i128) as f64;
    ((value / scale - high) - low).abs() * scale
}

#[test]
fn errors_of_real_convolutions_stay_below_the_returned_bound() {
    let mut generator = Generator::new(SEED);
    let lengths = [
        (1, 1),
        (2, 1),
        (7, 5),
        (100, 100),
        (1000, 3),
        (3, 1000),
        (4096, 33),
        (3000, 2999),
    ];
    for (first, second) in lengths {
        for kind in 0..16 {
            let a = mantissas(&mut generator, first, kind % 4);
            let b = mantissas(&mut generator, second, kind / 4);
            let mut exact = vec![0i128; first + second - 1];
            for (i, &x) in a.iter().enumerate() {
                for (j, &y) in b.iter().enumerate() {
                    exact[i + j] += i128::from(x) * i128::from(y);
                }
            }
            // Powers of two change nothing but the scale, also close to the ends of the range.
            for exponent in [0, -400, 400] {
                let unit = 2f64.powi(exponent);
                let scaled = |numbers: &[i64]| -> Vec<f64> {
                    numbers.iter().map(|&x| x as f64 * unit).collect()
                };
                let result = fftconvolve(&scaled(&a), &scaled(&b)).unwrap();
                let what = format!("seed {SEED}, {first} by {second}, kind {kind}, 2^{exponent}");
                assert_eq!(result.values.len(), exact.len());
                let scale = unit * unit;
                for (&value, &exact) in result.values.iter().zip(&exact) {
                    let error = distance(value, exact, scale);
                    assert!(
                        error <= result.bound,
                        "{what}: {error:e} > {:e}",
                        result.bound
                    );
                }
                // A bound that says something: relative to the product of the norms.
                let norm = |numbers: &[i64]| -> f64 {
                    let square = |&x: &i64| x as f64 * x as f64;
                    numbers.iter().map(square).sum::<f64>().sqrt()
                };
                let relative = result.bound / (norm(&a) * norm(&b) * scale);
                let most = 2e-14 * ((first + second) as f64).sqrt();
                assert!(relative < most, "{what}: {relative:e} >= {most:e}");
            }
        }
    }
}

#[test]
fn zeros_and_tiny_numbers_have_a_bound_too() {
    let zeros = fftconvolve(&[0.0; 50], &[1.0; 9]).unwrap();
    assert!(zeros.values.iter().all(|&value| value == 0.0));
    assert!(zeros.bound < 1e-300);
    // Products vanish below the smallest numbers: the exact ones are smaller than the bound.
    let tiny = fftconvolve(&[1e-300; 50], &[1e-300; 9]).unwrap();
    assert!(tiny.values.iter().all(|value| value.abs() <= tiny.bound) && tiny.bound > 0.0);
    let huge = fftconvolve(&[1e200; 50], &[1e200; 9]).unwrap();
    assert_eq!(huge.bound, f64::INFINITY);
}

#[test]
fn integers_by_digits_are_those_of_exact_convolutions_or_not_proven() {
    let mut generator = Generator::new(SEED);
    for (first, second) in [(1, 1), (50, 20), (1000, 1000), (5000, 40)] {
        for bits in [1, 4, 8, 12, 16] {
            let mut draw = |count: usize| -> Vec<i64> {
                let shift = 64 - bits;
                (0..count)
                    .map(|_| (generator.next_u64() as i64) >> shift)
                    .collect()
            };
            let (a, b) = (draw(first), draw(second));
            let expected: Vec<i64> = convolve(&a, &b).unwrap();
            match convolve_by_digits(&a, &b) {
                Ok((sums, bound)) => assert!(sums == expected && bound < 0.5),
                Err(RealConvolutionError::NotProven { bound }) => {
                    assert!(
                        bound >= 0.5 && bits > 12,
                        "{first} by {second}, {bits} bits: {bound}"
                    );
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    let error = convolve_by_digits(&[1 << 50; 100], &[1 << 50; 100]).unwrap_err();
    assert!(error.to_string().contains("use convolve"), "{error}");
    let error = convolve_by_digits(&[1], &[i64::MIN]).unwrap_err();
    assert!(matches!(
        error,
        RealConvolutionError::TooLarge {
            which: Which::Second,
            index: 0,
            ..
        }
    ));
}

#[test]
fn operands_without_a_convolution_are_rejected() {
    assert!(matches!(
        fftconvolve(&[], &[1.0]),
        Err(RealConvolutionError::Empty {
            which: Which::First
        })
    ));
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = fftconvolve(&[1.0], &[1.0, bad]).unwrap_err();
        assert!(matches!(
            error,
            RealConvolutionError::NotFinite {
                which: Which::Second,
                index: 1,
                ..
            }
        ));
        assert!(error.to_string().contains("clean the data"));
    }
}
