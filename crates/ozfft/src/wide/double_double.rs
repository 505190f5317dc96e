//! A number as the sum of two `f64`.

use super::decimal;
use crate::stages::numbers::DOUBLE_NAN;
use num_traits::{Num, One, Zero};
use std::cmp::Ordering;
use std::fmt;
use std::iter::Sum;
use std::num::ParseFloatError;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, Sub, SubAssign};
use std::str::FromStr;

/// The sum `high + low` of two `f64`, not evaluated: about 106 bits.
///
/// Results are normalised: `high` is the sum rounded to nearest (`high == high + low` in `f64`), and zero has no sign. Input
/// may be any two numbers whose sum does not overflow. The range is that of `f64`; where `high` is below 2^-969, bits of
/// `low` would lie below the smallest number and are rounded away.
///
/// Arithmetic is that of Joldes, Muller and Popescu ("Tight and rigorous error bounds for basic building blocks of double-word
/// arithmetic", 2017), under round to nearest. With u = 2^-53 the relative error is at most 3u² for sums of equal signs, 5u² for products,
/// 15u² for quotients and 4u² for square roots, as long as nothing overflows or comes near the smallest numbers. Complex numbers of this
/// type have the arithmetic of `num_complex`. Transforms do not depend on any of it, nor on the rounding in force.
///
/// ```
/// use num_complex::Complex;
/// use ozfft::DoubleDouble;
/// let third = DoubleDouble::from(1.0) / DoubleDouble::from(3.0);
/// assert_eq!(third.to_string(), "0.333333333333333333333333333333332");
/// assert_eq!("0.5".parse(), Ok(DoubleDouble::new(0.25, 0.25)));
/// let two = DoubleDouble::from(2.0);
/// assert!((two.sqrt() * two.sqrt() - two).abs() < DoubleDouble::from(1e-31));
/// let i = Complex::new(DoubleDouble::ZERO, DoubleDouble::ONE);
/// assert_eq!(i * i, Complex::from(-DoubleDouble::ONE));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct DoubleDouble {
    /// The sum, rounded to nearest.
    pub high: f64,
    /// The rounding error.
    pub low: f64,
}

/// `(s, e)` with `s` the rounded and `s + e` the exact sum, as long as nothing overflows (Knuth).
#[inline(always)]
pub(super) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// The same where `a` is 0 or not the smaller one (Dekker).
#[inline(always)]
pub(super) fn fast_two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

impl DoubleDouble {
    /// Zero.
    pub const ZERO: DoubleDouble = DoubleDouble {
        high: 0.0,
        low: 0.0,
    };

    /// One.
    pub const ONE: DoubleDouble = DoubleDouble {
        high: 1.0,
        low: 0.0,
    };

    pub(super) const NAN: DoubleDouble = DoubleDouble {
        high: DOUBLE_NAN,
        low: DOUBLE_NAN,
    };

    /// The exact sum of two numbers, normalised.
    pub fn new(a: f64, b: f64) -> DoubleDouble {
        let (high, low) = two_sum(a, b);
        DoubleDouble::finite_or(high, low)
    }

    /// A number whose low part means nothing where the high one is not finite.
    fn finite_or(high: f64, low: f64) -> DoubleDouble {
        let low = if high.is_finite() { low } else { 0.0 };
        DoubleDouble { high, low }
    }

    /// Whether both parts are finite.
    pub fn is_finite(self) -> bool {
        self.high.is_finite() && self.low.is_finite()
    }

    /// Whether the sum of both parts is finite, which transforms take a number for: of two large parts it need not be.
    pub(super) fn has_finite_sum(self) -> bool {
        (self.high + self.low).is_finite()
    }

    /// Whether a part is not a number.
    pub fn is_nan(self) -> bool {
        self.high.is_nan() || self.low.is_nan()
    }

    /// The magnitude.
    pub fn abs(self) -> DoubleDouble {
        if self < DoubleDouble::ZERO {
            -self
        } else {
            self
        }
    }

    /// The square root; of a negative number it is not a number.
    pub fn sqrt(self) -> DoubleDouble {
        let root = self.high.sqrt();
        if root == 0.0 || !root.is_finite() {
            return DoubleDouble::from(root + 0.0);
        }
        let rest = self.low + (-root).mul_add(root, self.high);
        let (high, low) = fast_two_sum(root, rest / (2.0 * root));
        DoubleDouble { high, low }
    }

    /// The integer part.
    pub fn trunc(self) -> DoubleDouble {
        let high = self.high.trunc();
        if high != self.high {
            return DoubleDouble::from(high);
        }
        // The low part counts towards or away from zero as its sign is the high one's or not.
        let low = if (self.low < 0.0) == (self.high < 0.0) {
            self.low.trunc()
        } else if self.high > 0.0 {
            self.low.floor()
        } else {
            self.low.ceil()
        };
        DoubleDouble::new(high, low)
    }

    /// The product with a number: at most 2u² off.
    fn times(self, factor: f64) -> DoubleDouble {
        let product = self.high * factor;
        let rest = self.high.mul_add(factor, -product);
        let (high, low) = fast_two_sum(product, self.low.mul_add(factor, rest));
        DoubleDouble { high, low }
    }
}

impl From<f64> for DoubleDouble {
    fn from(high: f64) -> DoubleDouble {
        DoubleDouble { high, low: 0.0 }
    }
}

/// The nearest `f64`.
impl From<DoubleDouble> for f64 {
    fn from(number: DoubleDouble) -> f64 {
        number.high
    }
}

impl PartialOrd for DoubleDouble {
    fn partial_cmp(&self, other: &DoubleDouble) -> Option<Ordering> {
        let by_high = self.high.partial_cmp(&other.high)?;
        Some(by_high.then(self.low.partial_cmp(&other.low)?))
    }
}

impl Neg for DoubleDouble {
    type Output = DoubleDouble;
    fn neg(self) -> DoubleDouble {
        // Zero has no sign.
        DoubleDouble {
            high: 0.0 - self.high,
            low: 0.0 - self.low,
        }
    }
}

impl Add for DoubleDouble {
    type Output = DoubleDouble;
    fn add(self, other: DoubleDouble) -> DoubleDouble {
        let (high, rest) = two_sum(self.high, other.high);
        if !high.is_finite() {
            return DoubleDouble::from(high);
        }
        let (low, lowest) = two_sum(self.low, other.low);
        let (high, rest) = fast_two_sum(high, rest + low);
        DoubleDouble::new(high, rest + lowest)
    }
}

impl Sub for DoubleDouble {
    type Output = DoubleDouble;
    fn sub(self, other: DoubleDouble) -> DoubleDouble {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = DoubleDouble;
    fn mul(self, other: DoubleDouble) -> DoubleDouble {
        let product = self.high * other.high;
        let rest = self.high.mul_add(other.high, -product);
        let low = self.high.mul_add(other.low, self.low * other.low);
        let low = self.low.mul_add(other.high, low);
        let (high, low) = fast_two_sum(product, rest + low);
        if high.is_finite() {
            // Zero has no sign.
            DoubleDouble {
                high: high + 0.0,
                low: low + 0.0,
            }
        } else {
            DoubleDouble::from(product)
        }
    }
}

impl Div for DoubleDouble {
    type Output = DoubleDouble;
    fn div(self, other: DoubleDouble) -> DoubleDouble {
        let quotient = self.high / other.high;
        if quotient == 0.0 || !quotient.is_finite() || !other.high.is_finite() {
            return DoubleDouble::from(quotient + 0.0);
        }
        let back = other.times(quotient);
        let rest = (self.high - back.high) + (self.low - back.low);
        let (high, low) = fast_two_sum(quotient, rest / other.high);
        DoubleDouble { high, low }
    }
}

/// The remainder of the quotient's integer part, as rounded as that quotient is.
impl Rem for DoubleDouble {
    type Output = DoubleDouble;
    fn rem(self, other: DoubleDouble) -> DoubleDouble {
        self - (self / other).trunc() * other
    }
}

macro_rules! assigning {
    ($($trait:ident, $method:ident, $operator:tt;)*) => {$(
        impl $trait for DoubleDouble {
            fn $method(&mut self, other: DoubleDouble) {
                *self = *self $operator other;
            }
        }
    )*};
}
assigning! {
    AddAssign, add_assign, +;
    SubAssign, sub_assign, -;
    MulAssign, mul_assign, *;
    DivAssign, div_assign, /;
}

impl Sum for DoubleDouble {
    fn sum<I: Iterator<Item = DoubleDouble>>(numbers: I) -> DoubleDouble {
        numbers.fold(DoubleDouble::ZERO, |sum, number| sum + number)
    }
}

impl Zero for DoubleDouble {
    fn zero() -> DoubleDouble {
        DoubleDouble::ZERO
    }

    fn is_zero(&self) -> bool {
        *self == DoubleDouble::ZERO
    }
}

impl One for DoubleDouble {
    fn one() -> DoubleDouble {
        DoubleDouble::ONE
    }
}

/// Complex numbers get their arithmetic by this trait.
impl Num for DoubleDouble {
    type FromStrRadixErr = ParseFloatError;

    /// Reads decimal numbers; of another radix it takes what `f64` has exactly.
    fn from_str_radix(text: &str, radix: u32) -> Result<DoubleDouble, ParseFloatError> {
        match (radix, f64::from_str_radix(text, radix)) {
            (10, _) => text.parse(),
            (_, Ok(number)) => Ok(DoubleDouble::from(number)),
            // The error of `num_traits` cannot be made here; this text has one of the same type.
            (_, Err(_)) => "".parse(),
        }
    }
}

/// Decimal text, rounded twice: `high` is the nearest number, `low` the one nearest to the rest.
impl FromStr for DoubleDouble {
    type Err = ParseFloatError;

    fn from_str(text: &str) -> Result<DoubleDouble, ParseFloatError> {
        let high: f64 = text.parse()?;
        let (high, low) = decimal::read(text).unwrap_or((high, 0.0));
        Ok(DoubleDouble::finite_or(high + 0.0, low))
    }
}

/// 33 significant decimal digits, which tell all normalised numbers apart but those with a wide gap between their parts.
impl fmt::Display for DoubleDouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_finite() || self.high == 0.0 {
            return write!(f, "{}", self.high + self.low);
        }
        f.write_str(&decimal::rounded(self.high, self.low, 33))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_their_decimal_digits() {
        assert_eq!(
            DoubleDouble::from(0.1).to_string(),
            "0.100000000000000005551115123125783"
        );
        assert_eq!(DoubleDouble::from(-1024.0).to_string(), "-1024");
        assert_eq!(
            DoubleDouble::new(1.0, 2f64.powi(-80)).to_string(),
            "1.00000000000000000000000082718061"
        );
        assert_eq!(
            DoubleDouble::new(1e300, 1.0).to_string(),
            "1.00000000000000005250476025520442e300"
        );
        assert_eq!(
            DoubleDouble::from(f64::MIN_POSITIVE).to_string(),
            "2.22507385850720138309023271733240e-308".replace("0e", "e")
        );
        assert_eq!(DoubleDouble::new(1.0, -2f64.powi(-150)).to_string(), "1");
        assert_eq!(DoubleDouble::ZERO.to_string(), "0");
        assert_eq!(DoubleDouble::from(f64::NAN).to_string(), "NaN");
    }

    #[test]
    fn sums_are_normalised() {
        let pair = DoubleDouble::new(1.0, 1.0 + f64::EPSILON);
        assert_eq!((pair.high, pair.low), (2.0, f64::EPSILON));
        let sum = DoubleDouble::new(1.0, 2f64.powi(-100)) + DoubleDouble::new(-1.0, 0.0);
        assert_eq!((sum.high, sum.low), (2f64.powi(-100), 0.0));
        assert_eq!(DoubleDouble::new(f64::MAX, f64::MAX).high, f64::INFINITY);
    }

    #[test]
    fn text_is_read_to_all_digits() {
        for text in [
            "0.1",
            "-3.14159265358979323846264338327950288e0",
            "1e23",
            "7e-300",
            "123456789012345678901234567890",
            "+.5",
        ] {
            let number: DoubleDouble = text.parse().unwrap();
            assert_eq!(number.high, text.parse::<f64>().unwrap(), "{text}");
            // Printed and read again it is the same number.
            assert_eq!(number.to_string().parse(), Ok(number), "{text}");
        }
        // π to 106 bits: high and low part are known.
        let pi: DoubleDouble = "3.141592653589793238462643383279502884197".parse().unwrap();
        assert_eq!(
            (pi.high, pi.low),
            (std::f64::consts::PI, 1.2246467991473532e-16)
        );
        assert!("one".parse::<DoubleDouble>().is_err());
        assert_eq!("inf".parse(), Ok(DoubleDouble::from(f64::INFINITY)));
        assert_eq!("1e-400".parse(), Ok(DoubleDouble::ZERO));
    }

    #[test]
    fn not_finite_numbers_behave_as_those_of_f64() {
        let (one, zero, infinity) = (
            DoubleDouble::ONE,
            DoubleDouble::ZERO,
            DoubleDouble::from(f64::INFINITY),
        );
        assert_eq!(one / zero, infinity);
        assert_eq!(one / infinity, zero);
        assert!(
            (zero / zero).is_nan() && (infinity - infinity).is_nan() && (infinity * zero).is_nan()
        );
        assert!((-one).sqrt().is_nan());
        assert_eq!(infinity.sqrt(), infinity);
        assert_eq!(
            DoubleDouble::from(f64::MAX) * DoubleDouble::from(2.0),
            infinity
        );
        assert_eq!(
            DoubleDouble::from(f64::MAX) + DoubleDouble::from(f64::MAX),
            infinity
        );
        assert!(DoubleDouble::from(f64::NAN).partial_cmp(&one).is_none());
    }

    #[test]
    fn remainders_and_integer_parts_look_at_both_parts() {
        let number = |high: f64, low: f64| DoubleDouble::new(high, low);
        assert_eq!(number(5.0, -1e-20).trunc(), DoubleDouble::from(4.0));
        assert_eq!(number(-5.0, 1e-20).trunc(), DoubleDouble::from(-4.0));
        assert_eq!(number(5.0, 1e-20).trunc(), DoubleDouble::from(5.0));
        let large = number(2f64.powi(60), 1.5);
        assert_eq!(large.trunc(), number(2f64.powi(60), 1.0));
        assert_eq!(
            DoubleDouble::from(7.5) % DoubleDouble::from(2.0),
            DoubleDouble::from(1.5)
        );
    }
}
