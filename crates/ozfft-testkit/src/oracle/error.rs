//! Error norms, and the floor no `f64` result can get below.
//!
//! Every difference is taken in double-double arithmetic: the computed value, exactly, less the reference. Only
//! the norms themselves are doubles. A result with a value that is not finite has infinite errors; a reference
//! that is zero has errors of zero where the result is zero too, and infinite ones otherwise.

use crate::oracle::dft::dft_nd;
use crate::oracle::double_double::{ComplexDoubleDouble, DoubleDouble};
use crate::oracle::spectrum::Direction;
use crate::oracle::spectrum::{ExactSpectrum, common_exponent, multiply_by_power_of_two, prescale};
use num_complex::Complex;

/// Relative errors in three norms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorNorms {
    /// Sum of the magnitudes of the errors over the sum of the magnitudes of the exact values.
    pub l1: f64,
    /// Root of the sum of squared errors over the root of the sum of squared exact values.
    pub l2: f64,
    /// Largest magnitude of an error over the largest magnitude of an exact value.
    pub linf: f64,
}

impl ErrorNorms {
    /// Infinite in all norms.
    pub const INFINITE: Self = Self {
        l1: f64::INFINITY,
        l2: f64::INFINITY,
        linf: f64::INFINITY,
    };

    /// The larger of two errors, norm by norm: for the worst case over many inputs.
    pub fn worst(self, other: Self) -> Self {
        Self {
            l1: self.l1.max(other.l1),
            l2: self.l2.max(other.l2),
            linf: self.linf.max(other.linf),
        }
    }
}

impl core::fmt::Display for ErrorNorms {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            formatter,
            "L1 {:.3e}, L2 {:.3e}, Linf {:.3e}",
            self.l1, self.l2, self.linf
        )
    }
}

/// What a computed transform is multiplied by, relative to the unnormalised definition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Not normalised.
    One,
    /// Divided by a length.
    OneOverLength(usize),
    /// Divided by the square root of a length.
    OneOverSquareRoot(usize),
    /// Multiplied by any other number.
    Factor(DoubleDouble),
}

impl Scale {
    /// The factor, to double-double accuracy.
    ///
    /// ```
    /// use ozfft_testkit::oracle::Scale;
    /// assert_eq!(Scale::OneOverSquareRoot(16).factor().to_f64(), 0.25);
    /// ```
    pub fn factor(self) -> DoubleDouble {
        let reciprocal = |value| DoubleDouble::ONE / value;
        match self {
            Self::One => DoubleDouble::ONE,
            Self::OneOverLength(length) => reciprocal(DoubleDouble::from(length as f64)),
            Self::OneOverSquareRoot(length) => reciprocal(DoubleDouble::from(length as f64).sqrt()),
            Self::Factor(factor) => factor,
        }
    }
}

/// Sums of magnitudes for the three norms.
#[derive(Default)]
struct Sums {
    total: DoubleDouble,
    squares: DoubleDouble,
    largest: f64,
}

impl Sums {
    fn add(&mut self, value: ComplexDoubleDouble) {
        let (re, im) = (value.re.to_f64(), value.im.to_f64());
        let magnitude = re.hypot(im);
        self.total += DoubleDouble::from(magnitude);
        self.squares += DoubleDouble::from(re * re + im * im);
        self.largest = if magnitude.is_nan() {
            magnitude
        } else {
            self.largest.max(magnitude)
        };
    }

    /// The 2-norm. It is never below the largest magnitude, which saves it where all squares underflow.
    fn two_norm(&self) -> f64 {
        let root = self.squares.to_f64().sqrt();
        if root < self.largest {
            self.largest
        } else {
            root
        }
    }

    fn relative_to(&self, exact: &Self) -> ErrorNorms {
        ErrorNorms {
            l1: quotient(self.total.to_f64(), exact.total.to_f64()),
            l2: quotient(self.two_norm(), exact.two_norm()),
            linf: quotient(self.largest, exact.largest),
        }
    }
}

/// A relative error: nothing over nothing is no error, and what cannot be said is the worst.
fn quotient(error: f64, norm: f64) -> f64 {
    if error == 0.0 {
        return 0.0;
    }
    let quotient = error / norm;
    if quotient.is_nan() {
        f64::INFINITY
    } else {
        quotient
    }
}

/// Compares a computed spectrum with the exact one.
///
/// # Panics
/// If the lengths differ.
///
/// ```
/// use num_complex::Complex;
/// use ozfft_testkit::oracle::{Direction, compare, dft};
/// let exact = dft(&[Complex::new(2.0, 0.0)], Direction::Forward);
/// assert_eq!(compare(&[Complex::new(3.0, 0.0)], &exact).l2, 0.5);
/// assert_eq!(compare(&[Complex::new(f64::NAN, 0.0)], &exact).l2, f64::INFINITY);
/// ```
pub fn compare(computed: &[Complex<f64>], exact: &ExactSpectrum) -> ErrorNorms {
    compare_scaled(computed, exact, Scale::One)
}

/// Compares a computed spectrum with the exact one times the scale.
///
/// # Panics
/// If the lengths differ.
pub fn compare_scaled(
    computed: &[Complex<f64>],
    exact: &ExactSpectrum,
    scale: Scale,
) -> ErrorNorms {
    compare_values(computed.iter().copied(), exact, scale)
}

/// As [`compare_scaled`] for results in single precision.
///
/// # Panics
/// If the lengths differ.
pub fn compare_f32(computed: &[Complex<f32>], exact: &ExactSpectrum, scale: Scale) -> ErrorNorms {
    compare_values(computed.iter().map(widen), exact, scale)
}

fn widen(value: &Complex<f32>) -> Complex<f64> {
    Complex::new(f64::from(value.re), f64::from(value.im))
}

/// Sums over the errors and over the exact values; nothing if a computed value is not finite.
fn sums(
    computed: impl ExactSizeIterator<Item = Complex<f64>>,
    exact: &ExactSpectrum,
    scale: Scale,
) -> Option<(Sums, Sums)> {
    assert_eq!(
        computed.len(),
        exact.len(),
        "computed and exact spectrum differ in length"
    );
    let factor = scale.factor();
    let (mut errors, mut norms) = (Sums::default(), Sums::default());
    let aligned = |value| DoubleDouble::from(multiply_by_power_of_two(value, -exact.exponent));
    for (value, reference) in computed.zip(&exact.values) {
        let reference = if scale == Scale::One {
            *reference
        } else {
            reference.scale(factor)
        };
        let value = ComplexDoubleDouble::new(aligned(value.re), aligned(value.im));
        if !(value.re.hi.is_finite() && value.im.hi.is_finite()) {
            return None;
        }
        errors.add(value - reference);
        norms.add(reference);
    }
    Some((errors, norms))
}

fn compare_values(
    computed: impl ExactSizeIterator<Item = Complex<f64>>,
    exact: &ExactSpectrum,
    scale: Scale,
) -> ErrorNorms {
    sums(computed, exact, scale).map_or(ErrorNorms::INFINITE, |(errors, norms)| {
        errors.relative_to(&norms)
    })
}

/// The error of every value of a computed spectrum, in units of the exact spectrum's power of two: where errors are, and in
/// which direction, not how large they are relative to something.
///
/// # Panics
/// If the lengths differ.
pub fn differences(
    computed: &[Complex<f64>],
    exact: &ExactSpectrum,
    scale: Scale,
) -> Vec<Complex<f64>> {
    assert_eq!(
        computed.len(),
        exact.len(),
        "computed and exact spectrum differ in length"
    );
    let factor = scale.factor();
    let aligned = |value| DoubleDouble::from(multiply_by_power_of_two(value, -exact.exponent));
    let difference = |(value, reference): (&Complex<f64>, &ComplexDoubleDouble)| {
        let value = ComplexDoubleDouble::new(aligned(value.re), aligned(value.im));
        (value - reference.scale(factor)).to_complex()
    };
    computed.iter().zip(&exact.values).map(difference).collect()
}

/// Compares sampled outputs (see [`crate::oracle::dft_sampled`]) with the exact ones.
///
/// By Parseval's theorem the root mean square of all exact outputs is the 2-norm of the input, so the 2-norm
/// error is the root mean square of the sampled errors over `scale * ||input||`: an unbiased estimate (of its
/// square) of the error of the whole spectrum, which does not depend on how large the sampled outputs happen to
/// be. The other two norms relate the samples' errors to the samples.
///
/// # Panics
/// If the numbers of samples differ, or a value of the input is not finite.
pub fn compare_sampled(
    computed: &[Complex<f64>],
    exact: &ExactSpectrum,
    input: &[Complex<f64>],
    scale: Scale,
) -> ErrorNorms {
    let Some((errors, norms)) = sums(computed.iter().copied(), exact, scale) else {
        return ErrorNorms::INFINITE;
    };
    if computed.is_empty() {
        return ErrorNorms {
            l1: 0.0,
            l2: 0.0,
            linf: 0.0,
        };
    }
    let root_mean_square = errors.two_norm() / (computed.len() as f64).sqrt();
    let norm = two_norm(&prescale(input, exact.exponent)) * scale.factor().to_f64().abs();
    ErrorNorms {
        l2: quotient(root_mean_square, norm),
        ..errors.relative_to(&norms)
    }
}

fn two_norm(values: &[Complex<f64>]) -> f64 {
    let mut sums = Sums::default();
    for &value in values {
        sums.add(value.into());
    }
    sums.two_norm()
}

/// The backward error: the computed spectrum, transformed back exactly, against the input; relative, 2-norm.
///
/// `direction` and `scale` are those of the computed transform.
///
/// # Panics
/// If the lengths or the shape do not match, or a value of the input is not finite.
pub fn backward_l2(
    computed: &[Complex<f64>],
    input: &[Complex<f64>],
    shape: &[usize],
    direction: Direction,
    scale: Scale,
) -> f64 {
    assert_eq!(
        computed.len(),
        input.len(),
        "computed spectrum and input differ in length"
    );
    if !computed
        .iter()
        .all(|value| value.re.is_finite() && value.im.is_finite())
    {
        return f64::INFINITY;
    }
    let exponent = common_exponent(input);
    let aligned = prescale(input, exponent);
    let back = dft_nd(computed, shape, direction.reversed());
    let factor = DoubleDouble::ONE / (DoubleDouble::from(input.len() as f64) * scale.factor());
    let mut errors = Sums::default();
    for (&value, back_value) in aligned.iter().zip(&back.values) {
        let back_value = back_value.scale(factor);
        let shift = back.exponent - exponent;
        let back_value = ComplexDoubleDouble::new(
            back_value.re.scale_by_power_of_two(shift),
            back_value.im.scale_by_power_of_two(shift),
        );
        errors.add(back_value - value.into());
    }
    quotient(errors.two_norm(), two_norm(&aligned))
}

/// The exact spectrum, every part rounded once to the nearest double: the best possible result.
///
/// Ties and subnormal results are decided by all 106 bits.
pub fn rounded_once(exact: &ExactSpectrum) -> Vec<Complex<f64>> {
    let round = |value| round_to_f64(value, exact.exponent);
    exact
        .values
        .iter()
        .map(|value| Complex::new(round(value.re), round(value.im)))
        .collect()
}

/// As [`rounded_once`] in single precision, without the double rounding a detour over doubles would bring.
pub fn rounded_once_f32(exact: &ExactSpectrum) -> Vec<Complex<f32>> {
    let round = |value| round_to_f32(value, exact.exponent);
    exact
        .values
        .iter()
        .map(|value| Complex::new(round(value.re), round(value.im)))
        .collect()
}

/// The errors of [`rounded_once`]: the floor. For random input its L2 is about 4.7e-17.
pub fn floor(exact: &ExactSpectrum) -> ErrorNorms {
    compare(&rounded_once(exact), exact)
}

/// The errors of [`rounded_once_f32`].
pub fn floor_f32(exact: &ExactSpectrum) -> ErrorNorms {
    compare_f32(&rounded_once_f32(exact), exact, Scale::One)
}

/// `value * 2^exponent` to the nearest double.
fn round_to_f64(value: DoubleDouble, exponent: i32) -> f64 {
    let rounded = multiply_by_power_of_two(value.hi, exponent);
    if rounded.abs() > f64::MIN_POSITIVE || value.lo == 0.0 {
        return rounded; // the high part is the nearest double already, and scaling kept it
    }
    // A subnormal result has rounded the high part a second time. That is wrong only if the high part lay
    // halfway between two subnormals: then the low part decides, not the tie rule.
    let residual = value.hi - multiply_by_power_of_two(rounded, -exponent);
    let half_quantum = multiply_by_power_of_two(1.0, -1075 - exponent);
    if half_quantum > 0.0 && residual.abs() == half_quantum && (residual > 0.0) == (value.lo > 0.0)
    {
        rounded + f64::from_bits(1).copysign(residual)
    } else {
        rounded
    }
}

/// `value * 2^exponent` to the nearest single-precision number.
fn round_to_f32(value: DoubleDouble, exponent: i32) -> f32 {
    let wide = round_to_f64(value, exponent);
    let rounded = wide as f32;
    if !rounded.is_finite() || value.lo == 0.0 {
        return rounded;
    }
    let residual = wide - f64::from(rounded);
    let neighbour = if residual > 0.0 {
        rounded.next_up()
    } else {
        rounded.next_down()
    };
    let tie = residual != 0.0 && f64::from(neighbour) - wide == residual;
    if tie && (residual > 0.0) == (value.lo > 0.0) {
        neighbour
    } else {
        rounded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_low_part_decides_ties() {
        let tiny = f64::from_bits(1);
        let at = |hi: f64, lo: f64| DoubleDouble { hi, lo };
        // 2.5 quanta: a tie, rounded to even without a low part.
        assert_eq!(round_to_f64(at(2.5, 0.0), -1074), 2.0 * tiny);
        assert_eq!(round_to_f64(at(2.5, 1e-20), -1074), 3.0 * tiny);
        assert_eq!(round_to_f64(at(2.5, -1e-20), -1074), 2.0 * tiny);
        assert_eq!(round_to_f64(at(3.5, -1e-20), -1074), 3.0 * tiny);
        assert_eq!(round_to_f64(at(-2.5, -1e-20), -1074), -3.0 * tiny);
        assert_eq!(round_to_f64(at(-3.5, 1e-20), -1074), -3.0 * tiny);
        let tie = 1.0 + 2f64.powi(-24);
        assert_eq!(round_to_f32(at(tie, 0.0), 0), 1.0);
        assert_eq!(round_to_f32(at(tie, 1e-20), 0), 1.0_f32.next_up());
        assert_eq!(round_to_f32(at(-tie, -1e-20), 0), -1.0_f32.next_up());
        assert_eq!(round_to_f32(at(tie, -1e-20), 0), 1.0);
        let odd_tie = 1.0 + 3.0 * 2f64.powi(-24);
        assert_eq!(round_to_f32(at(odd_tie, -1e-20), 0), 1.0_f32.next_up());
        assert_eq!(round_to_f64(at(1.0, 1e-20), 1024), f64::INFINITY);
    }

    #[test]
    fn norms_of_special_results() {
        let zero = ExactSpectrum {
            values: vec![ComplexDoubleDouble::ZERO; 2],
            exponent: 0,
        };
        let none = Complex::new(0.0, -0.0);
        assert_eq!(
            compare(&[none; 2], &zero),
            ErrorNorms {
                l1: 0.0,
                l2: 0.0,
                linf: 0.0
            }
        );
        assert_eq!(
            compare(&[none, Complex::new(0.0, 1e-300)], &zero),
            ErrorNorms::INFINITE
        );
        assert_eq!(
            compare(&[none, Complex::new(0.0, f64::NEG_INFINITY)], &zero),
            ErrorNorms::INFINITE
        );
    }
}
