//! A number as the sum of two `f64`.

use crate::stages::numbers::DOUBLE_NAN;
use std::fmt;

/// The sum `high + low` of two `f64`, not evaluated: about 106 bits.
///
/// Results are normalised: `high` is the sum rounded to nearest (`high == high + low` in `f64`), and zero has no sign. Input
/// may be any two numbers whose sum does not overflow. The range is that of `f64`; where `high` is below 2^-969, bits of
/// `low` would lie below the smallest number and are rounded away.
///
/// Sums of pairs are those of `f64` under the rounding in force: exact as said under round to nearest. Transforms of pairs do
/// not depend on it.
///
/// ```
/// use ozfft::Pair;
/// let third = Pair::new(1.0 / 3.0, 2f64.powi(-54) / 3.0);
/// assert_eq!(third.to_string(), "0.333333333333333333333333333333332");
/// assert_eq!(Pair::from(0.5), Pair::new(0.25, 0.25));
/// assert_eq!(Pair::from(0.5).low, 0.0);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Pair {
    /// The sum, rounded to nearest.
    pub high: f64,
    /// What rounding left over.
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

impl Pair {
    /// Zero.
    pub const ZERO: Pair = Pair {
        high: 0.0,
        low: 0.0,
    };

    /// The exact sum of two numbers, normalised.
    pub fn new(a: f64, b: f64) -> Pair {
        let (high, low) = two_sum(a, b);
        if high.is_finite() {
            Pair { high, low }
        } else {
            Pair { high, low: 0.0 }
        }
    }

    /// Whether both parts are finite.
    pub fn is_finite(self) -> bool {
        self.high.is_finite() && self.low.is_finite()
    }

    /// Whether a part is not a number.
    pub fn is_nan(self) -> bool {
        self.high.is_nan() || self.low.is_nan()
    }

    pub(super) const NAN: Pair = Pair {
        high: DOUBLE_NAN,
        low: DOUBLE_NAN,
    };
}

impl From<f64> for Pair {
    fn from(high: f64) -> Pair {
        Pair { high, low: 0.0 }
    }
}

impl std::ops::Neg for Pair {
    type Output = Pair;
    fn neg(self) -> Pair {
        Pair {
            high: -self.high,
            low: -self.low,
        }
    }
}

impl std::ops::Add for Pair {
    type Output = Pair;
    /// Rounded: the relative error is at most 2^-104 unless the sum is much smaller than its terms.
    fn add(self, other: Pair) -> Pair {
        let (high, rest) = two_sum(self.high, other.high);
        let (low, lowest) = two_sum(self.low, other.low);
        let (high, rest) = fast_two_sum(high, rest + low);
        Pair::new(high, rest + lowest)
    }
}

impl std::ops::Sub for Pair {
    type Output = Pair;
    fn sub(self, other: Pair) -> Pair {
        self + -other
    }
}

/// 33 significant decimal digits, which tell all normalised pairs apart but those with a wide gap between their parts.
impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_finite() || self.high == 0.0 {
            return write!(f, "{}", self.high + self.low);
        }
        f.write_str(&decimal::rounded(self.high, self.low, 33))
    }
}

/// Decimal digits by long arithmetic: no rounding but the last.
mod decimal {
    /// Digits of a non-negative integer, the least significant first, in base 10^9.
    struct Natural(Vec<u32>);

    const BASE: u64 = 1_000_000_000;

    impl Natural {
        fn from_bits(mut bits: u128) -> Natural {
            let mut digits = Vec::new();
            while bits > 0 {
                digits.push((bits % u128::from(BASE)) as u32);
                bits /= u128::from(BASE);
            }
            Natural(digits)
        }

        fn multiply(&mut self, factor: u32) {
            let mut carry = 0u64;
            for digit in &mut self.0 {
                let product = u64::from(*digit) * u64::from(factor) + carry;
                *digit = (product % BASE) as u32;
                carry = product / BASE;
            }
            if carry > 0 {
                self.0.push(carry as u32);
            }
        }

        /// `self + other`, or `self - other` for a smaller `other`.
        fn combine(&mut self, other: &Natural, subtract: bool) {
            let (mut carry, base) = (0i64, BASE as i64);
            for i in 0..self.0.len().max(other.0.len() + 1) {
                if i == self.0.len() {
                    self.0.push(0);
                }
                let other = i64::from(other.0.get(i).copied().unwrap_or(0));
                let sum = i64::from(self.0[i]) + if subtract { -other } else { other } + carry;
                carry = sum.div_euclid(base);
                self.0[i] = sum.rem_euclid(base) as u32;
            }
        }

        fn text(&self) -> String {
            let all: String = self
                .0
                .iter()
                .rev()
                .map(|digit| format!("{digit:09}"))
                .collect();
            all.trim_start_matches('0').to_string()
        }
    }

    /// Mantissa and exponent of a finite number's magnitude.
    fn parts(x: f64) -> (u64, i32) {
        let bits = x.abs().to_bits();
        match bits >> 52 {
            0 => (bits, -1074),
            field => ((bits & ((1 << 52) - 1)) | 1 << 52, field as i32 - 1075),
        }
    }

    /// `high + low` to so many significant digits, halves away from zero.
    pub(super) fn rounded(high: f64, low: f64, digits: usize) -> String {
        let ((high_mantissa, high_exponent), (low_mantissa, low_exponent)) =
            (parts(high), parts(low));
        let exponent = high_exponent.min(low_exponent);
        let scaled = |mantissa: u64, from: i32| {
            let mut number = Natural::from_bits(u128::from(mantissa));
            (exponent..from).for_each(|_| number.multiply(2));
            number
        };
        let mut number = scaled(high_mantissa, high_exponent);
        number.combine(
            &scaled(low_mantissa, low_exponent),
            (high < 0.0) != (low < 0.0),
        );
        // number · 2^exponent = text · 10^exponent where 2^-1 = 5 · 10^-1.
        let mut decimals = 0;
        if exponent < 0 {
            (exponent..0).for_each(|_| number.multiply(5));
            decimals = -exponent;
        } else {
            (0..exponent).for_each(|_| number.multiply(2));
        }
        let mut text = number.text();
        // The first digit stands before so many others.
        let mut power = text.len() as i32 - 1 - decimals;
        if text.len() > digits {
            let up = text.as_bytes()[digits] >= b'5';
            let mut kept: Vec<u8> = text.as_bytes()[..digits].to_vec();
            if up {
                let nines = kept
                    .iter()
                    .rev()
                    .take_while(|&&digit| digit == b'9')
                    .count();
                let place = kept.len() - nines;
                kept[place..].fill(b'0');
                if place == 0 {
                    kept.insert(0, b'1');
                    power += 1;
                } else {
                    kept[place - 1] += 1;
                }
            }
            text = kept.into_iter().map(char::from).collect();
        }
        let text = text.trim_end_matches('0');
        let sign = if high < 0.0 { "-" } else { "" };
        let zeros = |count: i32| "0".repeat(count as usize);
        match power {
            -5..=-1 => format!("{sign}0.{}{text}", zeros(-power - 1)),
            0..=15 if text.len() as i32 <= power + 1 => {
                format!("{sign}{text}{}", zeros(power + 1 - text.len() as i32))
            }
            0..=15 => {
                let (whole, fraction) = text.split_at(power as usize + 1);
                format!("{sign}{whole}.{fraction}")
            }
            _ if text.len() == 1 => format!("{sign}{text}e{power}"),
            _ => format!("{sign}{}.{}e{power}", &text[..1], &text[1..]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_print_their_decimal_digits() {
        assert_eq!(
            Pair::from(0.1).to_string(),
            "0.100000000000000005551115123125783"
        );
        assert_eq!(Pair::from(-1024.0).to_string(), "-1024");
        assert_eq!(
            Pair::new(1.0, 2f64.powi(-80)).to_string(),
            "1.00000000000000000000000082718061"
        );
        assert_eq!(
            Pair::new(1e300, 1.0).to_string(),
            "1.00000000000000005250476025520442e300"
        );
        assert_eq!(
            Pair::from(f64::MIN_POSITIVE).to_string(),
            "2.22507385850720138309023271733240e-308".replace("0e", "e")
        );
        assert_eq!(Pair::new(1.0, -2f64.powi(-150)).to_string(), "1");
        assert_eq!(Pair::ZERO.to_string(), "0");
        assert_eq!(Pair::from(f64::NAN).to_string(), "NaN");
    }

    #[test]
    fn sums_are_normalised() {
        let pair = Pair::new(1.0, 1.0 + f64::EPSILON);
        assert_eq!((pair.high, pair.low), (2.0, f64::EPSILON));
        let sum = Pair::new(1.0, 2f64.powi(-100)) + Pair::new(-1.0, 0.0);
        assert_eq!((sum.high, sum.low), (2f64.powi(-100), 0.0));
        assert_eq!(Pair::new(f64::MAX, f64::MAX).high, f64::INFINITY);
    }
}
