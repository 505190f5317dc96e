//! Double-double numbers: the unevaluated sum of two doubles, about 106 bits.
//!
//! The classical error-free transformations (Dekker, Knuth, Møller) carry everything: the sum and the product
//! of two doubles are each exactly a double plus a double.

use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

/// How the rounding error of a product is obtained; chosen once per hot loop by `dispatch`.
pub(crate) trait ExactProduct: Copy {
    /// Returns `(product, error)` with `product + error == left * right` exactly.
    fn two_product(left: f64, right: f64) -> (f64, f64);
}

/// One fused multiply-add: two instructions where the processor has it, a slow library call where not.
#[derive(Clone, Copy)]
pub(crate) struct Fused;

/// Veltkamp splitting and Dekker's product: seventeen plain operations on any processor.
#[derive(Clone, Copy)]
pub(crate) struct Split;

impl ExactProduct for Fused {
    #[inline(always)]
    fn two_product(left: f64, right: f64) -> (f64, f64) {
        let product = left * right;
        (product, left.mul_add(right, -product))
    }
}

impl ExactProduct for Split {
    #[inline(always)]
    fn two_product(left: f64, right: f64) -> (f64, f64) {
        let (left_high, left_low) = veltkamp_split(left);
        let (right_high, right_low) = veltkamp_split(right);
        let product = left * right;
        let error =
            ((left_high * right_high - product) + left_high * right_low + left_low * right_high)
                + left_low * right_low;
        (product, error)
    }
}

/// The variant the ordinary operators use: what the compiler may assume of every processor of the target.
#[cfg(any(target_feature = "fma", target_arch = "aarch64"))]
pub(crate) type Baseline = Fused;
/// The variant the ordinary operators use: what the compiler may assume of every processor of the target.
#[cfg(not(any(target_feature = "fma", target_arch = "aarch64")))]
pub(crate) type Baseline = Split;

/// Splits a double into two halves of at most 26 bits each, so that products of halves are exact.
#[inline(always)]
fn veltkamp_split(value: f64) -> (f64, f64) {
    const SPLITTER: f64 = 134_217_729.0; // 2^27 + 1
    let shifted = value * SPLITTER;
    let high = shifted - (shifted - value);
    (high, value - high)
}

/// Knuth's sum: `(sum, error)` with `sum + error == left + right` exactly, whatever the magnitudes.
#[inline(always)]
pub(crate) fn two_sum(left: f64, right: f64) -> (f64, f64) {
    let sum = left + right;
    let right_part = sum - left;
    (sum, (left - (sum - right_part)) + (right - right_part))
}

/// Dekker's sum: as [`two_sum`] but only for `|large| >= |small|`.
#[inline(always)]
pub(crate) fn quick_two_sum(large: f64, small: f64) -> (f64, f64) {
    let sum = large + small;
    (sum, small - (sum - large))
}

/// A real number as `hi + lo`, with `|lo|` at most half a unit in the last place of `hi`.
///
/// Products are right as long as no intermediate leaves the range of a double: magnitudes between about 2^-400
/// and 2^400 are safe. The transforms of this crate prescale their lines into that range.
///
/// ```
/// use ozfft_testkit::oracle::DoubleDouble;
/// let third = DoubleDouble::ONE / DoubleDouble::from(3.0);
/// let residual = third * DoubleDouble::from(3.0) - DoubleDouble::ONE;
/// assert!(residual.to_f64().abs() < 1e-31);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DoubleDouble {
    /// The value rounded to a double.
    pub hi: f64,
    /// What rounding left over.
    pub lo: f64,
}

impl DoubleDouble {
    /// Zero.
    pub const ZERO: Self = Self { hi: 0.0, lo: 0.0 };
    /// One.
    pub const ONE: Self = Self { hi: 1.0, lo: 0.0 };

    /// The exact sum of two doubles, as far as 106 bits hold it.
    #[inline]
    pub fn from_sum(left: f64, right: f64) -> Self {
        let (hi, lo) = two_sum(left, right);
        Self { hi, lo }
    }

    /// Rounds to the nearest double.
    #[inline]
    pub fn to_f64(self) -> f64 {
        self.hi + self.lo
    }

    /// The absolute value.
    #[inline]
    pub fn abs(self) -> Self {
        if self.hi < 0.0 || (self.hi == 0.0 && self.lo < 0.0) {
            -self
        } else {
            self
        }
    }

    /// The square root; zero for zero, not-a-number for negative values.
    #[inline]
    pub fn sqrt(self) -> Self {
        if self.hi == 0.0 {
            return Self::ZERO;
        }
        // One Newton step from the double root doubles its 53 bits.
        let root = self.hi.sqrt();
        let (square, error) = Baseline::two_product(root, root);
        let residual = self
            - Self {
                hi: square,
                lo: error,
            };
        let (hi, lo) = quick_two_sum(root, residual.hi / (2.0 * root));
        Self { hi, lo }
    }

    /// Multiplies by a power of two. Exact unless a part leaves the range of a double.
    #[inline]
    pub fn scale_by_power_of_two(self, exponent: i32) -> Self {
        Self {
            hi: multiply_by_power_of_two(self.hi, exponent),
            lo: multiply_by_power_of_two(self.lo, exponent),
        }
    }

    /// The sum with an absolute error of 2^-105 of the summands' magnitudes: all a transform needs, at half the
    /// price of `+`, which keeps a small relative error even under cancellation.
    #[inline(always)]
    pub(crate) fn plus(self, other: Self) -> Self {
        let (sum, error) = two_sum(self.hi, other.hi);
        let (hi, lo) = quick_two_sum(sum, error + (self.lo + other.lo));
        Self { hi, lo }
    }

    #[inline(always)]
    pub(crate) fn minus(self, other: Self) -> Self {
        let (sum, error) = two_sum(self.hi, -other.hi);
        let (hi, lo) = quick_two_sum(sum, error + (self.lo - other.lo));
        Self { hi, lo }
    }

    #[inline(always)]
    pub(crate) fn times<P: ExactProduct>(self, other: Self) -> Self {
        let (product, error) = P::two_product(self.hi, other.hi);
        let (hi, lo) = quick_two_sum(product, error + (self.hi * other.lo + self.lo * other.hi));
        Self { hi, lo }
    }

    #[inline(always)]
    pub(crate) fn times_f64<P: ExactProduct>(self, other: f64) -> Self {
        let (product, error) = P::two_product(self.hi, other);
        let (hi, lo) = quick_two_sum(product, error + self.lo * other);
        Self { hi, lo }
    }

    #[inline(always)]
    pub(crate) fn negated(self) -> Self {
        Self {
            hi: -self.hi,
            lo: -self.lo,
        }
    }
}

impl From<f64> for DoubleDouble {
    #[inline]
    fn from(value: f64) -> Self {
        Self { hi: value, lo: 0.0 }
    }
}

impl Add for DoubleDouble {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        let (sum, error) = two_sum(self.hi, other.hi);
        let (low_sum, low_error) = two_sum(self.lo, other.lo);
        let (sum, error) = quick_two_sum(sum, error + low_sum);
        let (hi, lo) = quick_two_sum(sum, error + low_error);
        Self { hi, lo }
    }
}

impl AddAssign for DoubleDouble {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for DoubleDouble {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Neg for DoubleDouble {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        self.negated()
    }
}

impl Mul for DoubleDouble {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        self.times::<Baseline>(other)
    }
}

impl Div for DoubleDouble {
    type Output = Self;
    #[inline]
    fn div(self, other: Self) -> Self {
        // Long division, three digits of 53 bits, so that the last bit of the second one is right.
        let first = self.hi / other.hi;
        let remainder = self - other.times_f64::<Baseline>(first);
        let second = remainder.hi / other.hi;
        let remainder = remainder - other.times_f64::<Baseline>(second);
        let third = remainder.hi / other.hi;
        let (hi, lo) = quick_two_sum(first, second);
        Self { hi, lo } + Self::from(third)
    }
}

/// A complex number with double-double parts.
///
/// ```
/// use ozfft_testkit::oracle::ComplexDoubleDouble;
/// let unit = ComplexDoubleDouble::from(num_complex::Complex::new(0.0, 1.0));
/// assert_eq!((unit * unit).to_complex(), num_complex::Complex::new(-1.0, 0.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ComplexDoubleDouble {
    /// Real part.
    pub re: DoubleDouble,
    /// Imaginary part.
    pub im: DoubleDouble,
}

impl ComplexDoubleDouble {
    /// Zero.
    pub const ZERO: Self = Self {
        re: DoubleDouble::ZERO,
        im: DoubleDouble::ZERO,
    };

    /// From real and imaginary part.
    #[inline]
    pub fn new(re: DoubleDouble, im: DoubleDouble) -> Self {
        Self { re, im }
    }

    /// The complex conjugate.
    #[inline]
    pub fn conj(self) -> Self {
        Self {
            re: self.re,
            im: -self.im,
        }
    }

    /// Multiplies both parts by a real number.
    #[inline]
    pub fn scale(self, factor: DoubleDouble) -> Self {
        Self {
            re: self.re * factor,
            im: self.im * factor,
        }
    }

    /// Squared magnitude.
    #[inline]
    pub fn norm_sqr(self) -> DoubleDouble {
        self.re * self.re + self.im * self.im
    }

    /// Rounds both parts to the nearest double.
    #[inline]
    pub fn to_complex(self) -> num_complex::Complex<f64> {
        num_complex::Complex::new(self.re.to_f64(), self.im.to_f64())
    }

    /// Real and imaginary part exchanged: turns a forward transform into an inverse one when applied to input
    /// and output.
    #[inline]
    pub(crate) fn swapped(self) -> Self {
        Self {
            re: self.im,
            im: self.re,
        }
    }

    #[inline(always)]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            re: self.re.plus(other.re),
            im: self.im.plus(other.im),
        }
    }

    #[inline(always)]
    pub(crate) fn minus(self, other: Self) -> Self {
        Self {
            re: self.re.minus(other.re),
            im: self.im.minus(other.im),
        }
    }

    #[inline(always)]
    pub(crate) fn times<P: ExactProduct>(self, other: Self) -> Self {
        Self {
            re: self
                .re
                .times::<P>(other.re)
                .minus(self.im.times::<P>(other.im)),
            im: self
                .re
                .times::<P>(other.im)
                .plus(self.im.times::<P>(other.re)),
        }
    }

    /// Times minus the imaginary unit.
    #[inline(always)]
    pub(crate) fn times_minus_i(self) -> Self {
        Self {
            re: self.im,
            im: self.re.negated(),
        }
    }
}

impl From<num_complex::Complex<f64>> for ComplexDoubleDouble {
    #[inline]
    fn from(value: num_complex::Complex<f64>) -> Self {
        Self {
            re: value.re.into(),
            im: value.im.into(),
        }
    }
}

impl Add for ComplexDoubleDouble {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self {
            re: self.re + other.re,
            im: self.im + other.im,
        }
    }
}

impl Sub for ComplexDoubleDouble {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self {
            re: self.re - other.re,
            im: self.im - other.im,
        }
    }
}

impl Mul for ComplexDoubleDouble {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
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
