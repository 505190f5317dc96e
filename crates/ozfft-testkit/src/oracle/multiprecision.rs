//! The definition of the DFT, summed as written in arbitrary precision.
//!
//! Slow and obvious on purpose: O(N²) with every root of unity from its exact fraction of a turn. It validates
//! the double-double transforms and is there for anyone who wants more digits.

use crate::oracle::double_double::{ComplexDoubleDouble, DoubleDouble};
use crate::oracle::spectrum::Direction;
use crate::oracle::spectrum::ExactSpectrum;
use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;
use num_complex::Complex;

/// A binary floating-point number of any precision, rounded to nearest.
pub type Float = FBig<HalfEven, 2>;

/// Precision, in bits, that leaves nothing to doubt against double-double results even with inputs that span
/// a hundred binary orders of magnitude.
pub const DEFAULT_PRECISION: usize = 320;

/// A finite double as a number of the given precision; exact for 53 bits and more.
///
/// # Panics
/// If the value is not finite.
pub fn from_f64(value: f64, precision: usize) -> Float {
    let exact =
        Float::try_from(value).expect("only finite values have a multiprecision counterpart");
    exact.with_precision(precision).value()
}

/// A double-double as a number of the given precision.
///
/// # Panics
/// If the value is not finite.
pub fn from_double_double(value: DoubleDouble, precision: usize) -> Float {
    from_f64(value.hi, precision) + from_f64(value.lo, precision)
}

/// Rounds to the nearest double-double.
pub fn to_double_double(value: &Float) -> DoubleDouble {
    let hi = value.to_f64().value();
    let rest = value - from_f64(hi, value.precision().max(64));
    DoubleDouble::from_sum(hi, rest.to_f64().value())
}

/// Multiplies by a power of two, exactly.
pub fn scale_by_power_of_two(value: &Float, exponent: i32) -> Float {
    value.clone() << exponent as isize
}

/// The circle constant.
pub fn pi(precision: usize) -> Float {
    Float::pi(precision)
}

/// Cosine and sine of `numerator / denominator` turns.
///
/// # Panics
/// If `denominator` is zero.
pub fn cosine_and_sine_of_turns(
    numerator: usize,
    denominator: usize,
    precision: usize,
) -> (Float, Float) {
    assert!(denominator > 0, "an angle of n/0 turns does not exist");
    let integer = |value: usize| Float::from(value).with_precision(precision).value();
    // Half turns, as the library counts; below two, so that rounding the quotient costs one part in 2^precision.
    let half_turns = integer(2 * (numerator % denominator)) / integer(denominator);
    let (sine, cosine) = half_turns.sin_cos_pi();
    (cosine, sine)
}

/// A complex number of arbitrary precision.
pub type ComplexFloat = (Float, Float);

/// The DFT of a line with `precision` bits, unnormalised; for up to a few hundred points.
///
/// # Panics
/// If the line is empty or a value is not finite.
///
/// ```
/// use num_complex::Complex;
/// use ozfft_testkit::oracle::{Direction, multiprecision};
/// let spectrum = multiprecision::dft(&[Complex::new(1.0, 0.0), Complex::new(2.0, 0.0)], Direction::Forward, 128);
/// assert_eq!(spectrum[1].0.to_f64().value(), -1.0);
/// ```
pub fn dft(line: &[Complex<f64>], direction: Direction, precision: usize) -> Vec<ComplexFloat> {
    let length = line.len();
    assert!(length > 0, "the DFT of an empty line is not defined");
    let values: Vec<ComplexFloat> = line
        .iter()
        .map(|value| (from_f64(value.re, precision), from_f64(value.im, precision)))
        .collect();
    let roots: Vec<ComplexFloat> = (0..length)
        .map(|exponent| {
            let (cosine, sine) = cosine_and_sine_of_turns(exponent, length, precision);
            (
                cosine,
                if direction == Direction::Forward {
                    -sine
                } else {
                    sine
                },
            )
        })
        .collect();
    (0..length)
        .map(|output| {
            let zero = from_f64(0.0, precision);
            let mut sum = (zero.clone(), zero);
            let mut exponent = 0;
            for (re, im) in &values {
                let (cosine, sine) = &roots[exponent];
                sum.0 += re * cosine - im * sine;
                sum.1 += re * sine + im * cosine;
                exponent = (exponent + output) % length;
            }
            sum
        })
        .collect()
}

/// The relative error, in the 2-norm, of some outputs of a forward transform that is given in double-doubles: for
/// spectra whose errors are near those of the double-double oracle itself. The norm is the whole spectrum's, which is the line's.
///
/// # Panics
/// If the line is empty or a value is not finite.
pub fn relative_l2_of_samples(
    line: &[Complex<f64>],
    samples: usize,
    output: impl Fn(usize) -> ComplexDoubleDouble,
) -> f64 {
    let (n, precision) = (line.len(), DEFAULT_PRECISION);
    let zero = || from_f64(0.0, precision);
    let square = |value: &Float| value * value;
    let (mut error, mut norm) = (zero(), zero());
    for z in line {
        norm += square(&from_f64(z.re, precision)) + square(&from_f64(z.im, precision));
    }
    let samples = samples.min(n);
    for sample in 0..samples {
        // Spread evenly, and not all of them multiples of the same number.
        let k = (sample * n / samples + sample % 3) % n;
        let (mut re, mut im) = (zero(), zero());
        for (j, z) in line.iter().enumerate() {
            let turn = (j as u128 * k as u128 % n as u128) as usize;
            let (cosine, sine) = cosine_and_sine_of_turns(turn, n, precision);
            let (x, y) = (from_f64(z.re, precision), from_f64(z.im, precision));
            re += &x * &cosine + &y * &sine;
            im += &y * &cosine - &x * &sine;
        }
        let own = output(k);
        error += square(&(from_double_double(own.re, precision) - re));
        error += square(&(from_double_double(own.im, precision) - im));
    }
    // An output has as much of the norm as any other: N times the line's, over N outputs.
    (error / (norm * from_f64(samples as f64, precision)))
        .to_f64()
        .value()
        .sqrt()
}

/// The relative error, in the 2-norm, of a double-double spectrum against a multiprecision one.
///
/// Zero for two zero spectra, infinite if only the reference is zero.
///
/// # Panics
/// If the lengths differ.
pub fn relative_l2(spectrum: &ExactSpectrum, reference: &[ComplexFloat]) -> f64 {
    assert_eq!(
        spectrum.values.len(),
        reference.len(),
        "spectra of different lengths"
    );
    let precision = DEFAULT_PRECISION;
    let square = |value: &Float| value * value;
    let mut error = from_f64(0.0, precision);
    let mut norm = from_f64(0.0, precision);
    for (value, (re, im)) in spectrum.values.iter().zip(reference) {
        let ComplexDoubleDouble {
            re: own_re,
            im: own_im,
        } = *value;
        for (own, exact) in [(own_re, re), (own_im, im)] {
            let own = scale_by_power_of_two(&from_double_double(own, precision), spectrum.exponent);
            error += square(&(own - exact));
            norm += square(exact);
        }
    }
    let zero = from_f64(0.0, precision);
    if norm == zero {
        return if error == zero { 0.0 } else { f64::INFINITY };
    }
    (error / norm).to_f64().value().sqrt()
}
