//! Spectra with a common power of two, and the exact prescaling behind them.

pub(crate) use crate::oracle::double_double::exponent_of;
pub use crate::oracle::double_double::multiply_by_power_of_two;
use crate::oracle::double_double::{ComplexDoubleDouble, DoubleDouble};
use num_complex::Complex;

/// The largest component of a prescaled line is brought next to this power of two. It leaves room above for sums
/// of 2^40 terms and their squares, and below for components 2^1300 times smaller than the largest.
const TARGET_EXPONENT: i32 = 256;

/// The sign of the exponent. Neither direction is normalised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `exp(-2 pi i j k / N)`.
    Forward,
    /// `exp(+2 pi i j k / N)`, without the division by `N`.
    Inverse,
}

impl Direction {
    /// The other direction.
    pub fn reversed(self) -> Self {
        match self {
            Self::Forward => Self::Inverse,
            Self::Inverse => Self::Forward,
        }
    }
}

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
