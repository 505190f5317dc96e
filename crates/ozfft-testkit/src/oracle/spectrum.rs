//! Spectra with a common power of two, and the exact prescaling behind them.

use crate::oracle::double_double::{ComplexDoubleDouble, DoubleDouble};
use num_complex::Complex;

/// The largest component of a prescaled line is brought next to this power of two. It leaves room above for sums
/// of 2^40 terms and their squares, and below for components 2^1300 times smaller than the largest.
const TARGET_EXPONENT: i32 = 256;

/// A spectrum in double-double arithmetic: entry `k` is `values[k] * 2^exponent`.
///
/// The common exponent keeps the values far from overflow and underflow whatever the scale of the line, so that
/// errors can be computed even where the true values leave the range of a double.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExactSpectrum {
    /// The scaled values, in natural order.
    pub values: Vec<ComplexDoubleDouble>,
    /// The power of two they are to be multiplied by.
    pub exponent: i32,
}

impl ExactSpectrum {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The same spectrum times a real factor.
    pub fn scaled(&self, factor: DoubleDouble) -> Self {
        Self {
            values: self
                .values
                .iter()
                .map(|value| value.scale(factor))
                .collect(),
            exponent: self.exponent,
        }
    }
}

/// The power of two `2^exponent` as a double, for exponents of normal numbers.
fn power_of_two(exponent: i32) -> f64 {
    debug_assert!((-1022..=1023).contains(&exponent));
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// `value * 2^exponent` for any exponent, rounded once at most (where the result is subnormal) and infinite
/// where it is too large.
///
/// ```
/// use ozfft_testkit::oracle::spectrum::multiply_by_power_of_two;
/// assert_eq!(multiply_by_power_of_two(3.0, -1074), 1.5e-323);
/// assert_eq!(multiply_by_power_of_two(5e-324, 2000), 0.0 + 5e-324 * 2f64.powi(1000) * 2f64.powi(1000));
/// ```
pub fn multiply_by_power_of_two(value: f64, exponent: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    if (-1022..=1023).contains(&exponent) {
        return value * power_of_two(exponent); // a single rounding, as every product
    }
    // Going far down in steps would round twice, so the value is first brought to [1, 2).
    let own = exponent_of(value);
    let unit = if own < -1022 {
        value * power_of_two(54) * power_of_two(-own - 54)
    } else {
        // 2^-own may itself be subnormal for the largest values: two exact halves.
        value * power_of_two(-own / 2) * power_of_two(-own - (-own / 2))
    };
    let total = own.saturating_add(exponent);
    if total > 1023 {
        return unit * f64::INFINITY;
    }
    if total >= -1022 {
        return unit * power_of_two(total);
    }
    // Subnormal or zero: the first step stays exact, the second rounds.
    unit * power_of_two(-1022) * power_of_two((total + 1022).max(-1022))
}

/// The binary exponent of a finite value other than zero: `2^exponent <= |value| < 2^(exponent + 1)`.
pub(crate) fn exponent_of(value: f64) -> i32 {
    let biased = ((value.to_bits() >> 52) & 0x7FF) as i32;
    if biased != 0 {
        return biased - 1023;
    }
    let mantissa = value.to_bits() & ((1 << 52) - 1);
    -1011 - mantissa.leading_zeros() as i32
}

/// The exponent to give to a spectrum of these values; the values times `2^-exponent` have their largest
/// component next to the target.
///
/// # Panics
/// If a value is not finite, naming it: the oracle has no answer there.
pub(crate) fn common_exponent(values: &[Complex<f64>]) -> i32 {
    let mut largest: f64 = 0.0;
    for (index, value) in values.iter().enumerate() {
        assert!(
            value.re.is_finite() && value.im.is_finite(),
            "input value {index} is not finite: {value}"
        );
        largest = largest.max(value.re.abs()).max(value.im.abs());
    }
    if largest == 0.0 {
        0
    } else {
        exponent_of(largest) - TARGET_EXPONENT
    }
}

/// The values times `2^-exponent`. Exact for components down to 2^-1330 of the largest; what is smaller loses
/// bits 2^1330 below the norm of the spectrum.
pub(crate) fn prescale(values: &[Complex<f64>], exponent: i32) -> Vec<Complex<f64>> {
    let scale = |value| multiply_by_power_of_two(value, -exponent);
    values
        .iter()
        .map(|value| Complex::new(scale(value.re), scale(value.im)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_of_all_kinds() {
        assert_eq!(exponent_of(1.0), 0);
        assert_eq!(exponent_of(-0.75), -1);
        assert_eq!(exponent_of(f64::MAX), 1023);
        assert_eq!(exponent_of(f64::MIN_POSITIVE), -1022);
        assert_eq!(exponent_of(5e-324), -1074);
        assert_eq!(exponent_of(f64::MIN_POSITIVE / 2.0), -1023);
    }

    #[test]
    fn powers_of_two_reach_the_whole_range() {
        for value in [1.0, -1.7, f64::MAX, 5e-324, 2.5e-310] {
            for exponent in [0, 3, -3, 900, -900] {
                let there = multiply_by_power_of_two(value, exponent);
                let exact = there.is_finite() && there.abs() >= f64::MIN_POSITIVE;
                if exact {
                    assert_eq!(
                        multiply_by_power_of_two(there, -exponent),
                        value,
                        "{value} {exponent}"
                    );
                }
            }
        }
        assert_eq!(multiply_by_power_of_two(5e-324, 2097), 2f64.powi(1023));
        assert_eq!(multiply_by_power_of_two(2f64.powi(1023), -2097), 5e-324);
        assert_eq!(
            multiply_by_power_of_two(1.5 * 2f64.powi(1000), -2074),
            2.0 * 5e-324
        );
        assert_eq!(multiply_by_power_of_two(1.0, 5000), f64::INFINITY);
        assert_eq!(multiply_by_power_of_two(-1.0, -5000), 0.0);
    }
}
