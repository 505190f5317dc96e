//! The power of two that every transform of several axes has for itself between them: from its own numbers alone, so that
//! what lies beside it in a batch cannot change its bits.
//!
//! With `N` points in a transform, `g = ⌈log2 N⌉ + 1` bits are the largest growth of any intermediate, and a largest component
//! below 2^e and at least 2^(e-1):
//!
//! - where `e > TOP - g` an axis could overflow though the result may not: `s = -g`;
//! - where `e <= L = BOTTOM + SPARE + g` numbers between the axes could be subnormal though neither inputs nor outputs are:
//!   `s = L + 1 - e`, which puts the largest one just above 2^L;
//! - else, and for zeros, `s = 0`.
//!
//! The first axis multiplies its results by 2^s and the last one by 2^-s, within the rounding that they do anyway.
//! `crates/ozfft-kernels/cuda/numerics/numbers.cuh` has the same in the kernels' integers.

use crate::sample::Real;

/// Below the exponent of any number: what zeros have.
pub const OF_ZEROS: i32 = i32::MIN;

/// The numbers that arrays hold between axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// They are below 2 to this power.
    top: i32,
    /// The smallest one is 2 to this power.
    bottom: i32,
    /// Bits between what is kept of a transform and what rounding to subnormals may change.
    spare: i32,
}

impl Numbers {
    /// Pairs of f64.
    pub const PAIR: Numbers = Numbers {
        top: 1024,
        bottom: -1074,
        spare: 128,
    };

    pub const fn of<T: Real>() -> Numbers {
        if T::IS_DOUBLE {
            Numbers {
                top: 1024,
                bottom: -1074,
                spare: 64,
            }
        } else {
            Numbers {
                top: 128,
                bottom: -149,
                spare: 30,
            }
        }
    }
}

/// How the transforms of a plan are scaled between their axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScaleBetweenAxes {
    numbers: Numbers,
    /// Bits that a number may grow by.
    growth: i32,
}

impl ScaleBetweenAxes {
    /// Of transforms with these lengths.
    pub fn new(numbers: Numbers, lengths: impl Iterator<Item = usize>) -> Self {
        // Arrays that long do not exist, and no problem with one is valid.
        let points = lengths.fold(1u128, |points, n| points.saturating_mul(n as u128));
        ScaleBetweenAxes {
            numbers,
            growth: 129 - (points - 1).leading_zeros() as i32,
        }
    }

    #[inline]
    pub fn growth(&self) -> i32 {
        self.growth
    }

    /// Transforms whose numbers are all below 2 to this power are scaled up.
    #[inline]
    pub fn least(&self) -> i32 {
        self.numbers.bottom + self.numbers.spare + self.growth
    }

    /// Transforms with a number of at least 2 to this power are scaled down.
    #[inline]
    pub fn most(&self) -> i32 {
        self.numbers.top - self.growth
    }

    /// The power for a transform whose largest number is below 2 to this one, and no less than half of it.
    #[inline]
    pub fn power(&self, exponent: i32) -> i32 {
        match exponent {
            OF_ZEROS => 0,
            _ if exponent > self.most() => -self.growth,
            _ if exponent <= self.least() => self.least() + 1 - exponent,
            _ => 0,
        }
    }
}

/// The power of two above a magnitude, of which these are the bits of a finite f64: the least that is larger.
#[inline]
pub fn exponent_above(bits: u64) -> i32 {
    const FRACTION: u32 = 52;
    match (bits >> FRACTION) as i32 {
        0 if bits == 0 => OF_ZEROS,
        0 => 64 - bits.leading_zeros() as i32 - 1074,
        field => field - 1022,
    }
}

/// The larger one of a magnitude and that of a number, as bits; what is not finite is passed over: it makes its whole
/// transform NaN at any scale.
#[inline(always)]
pub fn larger(largest: u64, number: f64) -> u64 {
    let bits = number.abs().to_bits();
    let bits = if bits < f64::INFINITY.to_bits() {
        bits
    } else {
        0
    };
    largest.max(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(numbers: Numbers, shape: &[usize]) -> ScaleBetweenAxes {
        ScaleBetweenAxes::new(numbers, shape.iter().copied())
    }

    #[test]
    fn growth_is_that_of_the_number_of_points() {
        for (shape, growth) in [
            (&[1, 1][..], 1),
            (&[2, 1], 2),
            (&[3, 1], 3),
            (&[3, 3], 5),
            (&[2; 10], 11),
            (&[1024, 1024, 1024], 31),
            (&[1000, 1000, 1000], 31),
        ] {
            let scale = scale(Numbers::of::<f64>(), shape);
            assert_eq!(scale.growth(), growth, "{shape:?}");
        }
    }

    #[test]
    fn exponents_of_all_magnitudes() {
        assert_eq!(exponent_above(0), OF_ZEROS);
        for power in -1074..1024 {
            let number = if power < -1022 {
                f64::from_bits(1 << (power + 1074))
            } else {
                f64::from_bits(((power + 1023) as u64) << 52)
            };
            assert_eq!(exponent_above(number.to_bits()), power + 1, "2^{power}");
            // The number just below.
            if power > -1074 {
                assert_eq!(exponent_above(number.to_bits() - 1), power, "2^{power}");
            }
        }
    }

    #[test]
    fn numbers_are_scaled_into_range_and_others_are_unchanged() {
        for numbers in [Numbers::of::<f64>(), Numbers::of::<f32>(), Numbers::PAIR] {
            let scale = scale(numbers, &[64, 64]);
            let (least, most) = (scale.least(), scale.most());
            assert_eq!(least, numbers.bottom + numbers.spare + 13);
            assert_eq!(most, numbers.top - 13);
            for exponent in numbers.bottom + 1..=numbers.top {
                let power = scale.power(exponent);
                if exponent <= least {
                    assert_eq!(exponent + power, least + 1);
                } else if exponent <= most {
                    assert_eq!(power, 0);
                } else {
                    assert_eq!(power, -13);
                }
            }
            assert_eq!(scale.power(OF_ZEROS), 0);
        }
    }

    #[test]
    fn only_finite_numbers_count() {
        let numbers = [1.0, f64::NAN, -3.0, f64::NEG_INFINITY, 2.0];
        assert_eq!(numbers.into_iter().fold(0, larger), 3f64.to_bits());
    }
}
