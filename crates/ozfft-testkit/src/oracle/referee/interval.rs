//! Positive numbers known to lie between two doubles. Every operation of doubles is rounded to nearest, so its neighbours
//! below and above enclose the exact result.

use std::ops::{Add, Div, Mul};

/// An enclosure of a number that is not negative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Not above the number.
    pub low: f64,
    /// Not below the number.
    pub high: f64,
}

impl Interval {
    /// Zero.
    pub const ZERO: Self = Self {
        low: 0.0,
        high: 0.0,
    };
    /// One.
    pub const ONE: Self = Self {
        low: 1.0,
        high: 1.0,
    };

    /// A number that is a double.
    ///
    /// # Panics
    /// If it is negative or no number.
    pub fn exact(value: f64) -> Self {
        Self::between(value, value)
    }

    /// A number between two doubles.
    ///
    /// # Panics
    /// If they are in the wrong order, negative or no numbers.
    pub fn between(low: f64, high: f64) -> Self {
        assert!(0.0 <= low && low <= high, "no interval: {low} to {high}");
        Self { low, high }
    }

    /// A whole number.
    pub fn whole(value: usize) -> Self {
        assert!(value < 1 << 53, "{value} is no double");
        Self::exact(value as f64)
    }

    /// `numerator / denominator`.
    pub fn ratio(numerator: usize, denominator: usize) -> Self {
        Self::whole(numerator) / Self::whole(denominator)
    }

    /// `2^exponent`, exactly.
    pub fn power_of_two(exponent: i32) -> Self {
        let value = crate::oracle::spectrum::multiply_by_power_of_two(1.0, exponent);
        assert!(value.is_normal(), "2^{exponent} is no double");
        Self::exact(value)
    }

    /// The square root.
    pub fn sqrt(self) -> Self {
        rounded_outwards(self.low.sqrt(), self.high.sqrt())
    }

    /// `√(a² + b²)`.
    pub fn hypot(self, other: Self) -> Self {
        (self * self + other * other).sqrt()
    }

    /// The larger of both.
    pub fn max(self, other: Self) -> Self {
        Self::between(self.low.max(other.low), self.high.max(other.high))
    }

    /// This times itself, `exponent` times.
    pub fn power(self, exponent: usize) -> Self {
        (0..exponent).fold(Self::ONE, |power, _| power * self)
    }
}

fn rounded_outwards(low: f64, high: f64) -> Interval {
    // Zero is a sum or product of zeros, and exact.
    let up = if high == 0.0 { 0.0 } else { high.next_up() };
    Interval::between(low.next_down().max(0.0), up)
}

impl Add for Interval {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        rounded_outwards(self.low + other.low, self.high + other.high)
    }
}

impl Mul for Interval {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        rounded_outwards(self.low * other.low, self.high * other.high)
    }
}

impl Div for Interval {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        assert!(other.low > 0.0, "a divisor that may be zero: {other:?}");
        rounded_outwards(self.low / other.high, self.high / other.low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_enclosed() {
        let third = Interval::ratio(1, 3);
        assert!(third.low < third.high && third.high - third.low < 1e-15);
        let one = third + third + third;
        assert!(one.low < 1.0 && one.high > 1.0);
        let two = Interval::whole(2).sqrt().power(2);
        assert!(two.low < 2.0 && two.high > 2.0 && two.high - two.low < 1e-14);
        let five = Interval::whole(3).hypot(Interval::whole(4));
        assert!(five.low < 5.0 && five.high > 5.0);
        assert_eq!(Interval::ZERO + Interval::ZERO, Interval::ZERO);
        assert_eq!(Interval::power_of_two(-62).high, 2f64.powi(-62));
    }
}
