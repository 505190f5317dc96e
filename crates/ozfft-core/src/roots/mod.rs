//! Correctly rounded roots of unity, in integer arithmetic alone.
//!
//! Every table of the library (matrix entries, twiddle factors) holds integers `round(scale ·
//! cos(2πp/q) · 2^s)`. They are computed here from the exact rational argument `p/q` in 192-bit
//! fixed point, so that they are the same on every machine and no floating-point library is
//! involved.
//!
//! Each number carries a proven bound on its own error. Rounding succeeds only where this bound
//! decides the result, so a value returned by [`Fixed::round_scaled`] is correctly rounded, not
//! merely likely to be. The bounds stay near `2^-187` where a rounding to 63 bits is wanted; for a
//! value that is not exactly representable, the chance to come too close to a tie is about
//! `2^-120`.

use crate::portable::{Sum, power_of_two};

pub mod root_table;

/// Limbs after the binary point; limbs are stored least significant first.
const FRACTION_LIMBS: usize = 3;

/// The magnitude of a number in `[0, 1)` in units of `2^-192`.
type Fraction = [u64; FRACTION_LIMBS];

/// `floor(π/4 · 2^256)`, least significant limb first. One limb more than a [`Fraction`], so that
/// the error of the constant vanishes beside the truncation of the angle.
const QUARTER_PI: [u64; 4] = [
    0x020b_bea6_3b13_9b22,
    0x2902_4e08_8a67_cc74,
    0xc4c6_628b_80dc_1cd1,
    0xc90f_daa2_2168_c234,
];

/// `1/n!` falls below the resolution of a [`Fraction`] before `n` reaches this number.
const FACTORIALS: usize = 52;

/// `floor(2^192 / n!)` for every `n >= 2`; the first two entries, which would be one, are unused.
static INVERSE_FACTORIALS: [Fraction; FACTORIALS] = inverse_factorials();

/// Bound on the error of [`cosine_sine_series`] in units of `2^-192`; the proof is given there.
const SERIES_ERROR: u64 = 16;

/// A real number: sign and magnitude in fixed point, with a bound on its error.
///
/// The magnitude has 64 integer bits and 192 fraction bits. Used for cosines and sines and for
/// scales such as `(128/127)^a / sqrt(N)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// Never set for a zero, so that equal numbers have equal representations.
    negative: bool,
    /// Magnitude in units of `2^-192`, least significant limb first.
    limbs: [u64; FRACTION_LIMBS + 1],
    /// The represented real number lies at most this many units of `2^-192` from the stored one;
    /// zero says that the stored number is exact.
    error: u64,
}

impl Fixed {
    /// Exactly zero.
    pub(crate) const ZERO: Fixed = Fixed::positive([0; 4], 0);

    /// Exactly one.
    pub const fn one() -> Fixed {
        Fixed::positive([0, 0, 0, 1], 0)
    }

    /// Exactly one half.
    const fn half() -> Fixed {
        Fixed::positive([0, 0, 1 << 63, 0], 0)
    }

    const fn positive(limbs: [u64; 4], error: u64) -> Fixed {
        Fixed {
            negative: false,
            limbs,
            error,
        }
    }

    /// `numerator / denominator`, truncated; exact where 192 fraction bits hold the quotient.
    /// Panics when the denominator is zero.
    pub(crate) fn ratio(numerator: u64, denominator: u64) -> Fixed {
        assert!(denominator != 0, "ratio with denominator zero");
        let mut limbs = [0, 0, 0, numerator];
        let remainder = divide_small(&mut limbs, denominator);
        Fixed::positive(limbs, u64::from(remainder != 0))
    }

    /// `1/n = mantissa · 2^exponent`, mantissa in `(1/2, 1]`; exactly one for a power of two.
    /// Panics when `n` is zero.
    pub fn inverse_mantissa(n: u64) -> (Fixed, i32) {
        assert!(n != 0, "inverse of zero");
        let exponent = n.ilog2();
        (Fixed::ratio(1 << exponent, n), -(exponent as i32))
    }

    /// `1/sqrt(n) = mantissa · 2^exponent` with the mantissa in `(1/2, 1]`; exactly one where `n`
    /// is an even power of two.
    /// Panics when `n` is zero.
    pub fn inverse_sqrt_mantissa(n: u64) -> (Fixed, i32) {
        assert!(n != 0, "inverse square root of zero");
        let half_exponent = n.ilog2() / 2;
        let exponent = -(half_exponent as i32);
        let power = 1 << (2 * half_exponent);
        if n == power {
            return (Fixed::one(), exponent);
        }
        // The mantissa is sqrt(power / n). The floor of a square root does not change when its
        // argument is floored first, so the greatest root with root² <= floor(power · 2^384 / n) is
        // the mantissa truncated to 192 bits. Plans ask for this once: one bit after the other is
        // fast enough.
        let mut wide = [0, 0, 0, 0, 0, 0, power];
        divide_small(&mut wide, n);
        let [radicand @ .., _] = wide;
        let mut root: Fraction = [0; FRACTION_LIMBS];
        for bit in (0..64 * FRACTION_LIMBS).rev() {
            let mut candidate = root;
            candidate[bit / 64] |= 1 << (bit % 64);
            let square: [u64; 6] = full_product(&candidate, &candidate);
            if square.iter().rev().le(radicand.iter().rev()) {
                root = candidate;
            }
        }
        (Fixed::positive(with_integer_limb(root), 1), exponent)
    }

    /// The product; exact where both factors are exact and 192 fraction bits hold it.
    /// Panics when the magnitude of the product reaches `2^64`.
    pub fn multiply(&self, other: &Fixed) -> Fixed {
        let product: [u64; 8] = full_product(&self.limbs, &other.limbs);
        let [low0, low1, low2, limbs @ .., overflow] = product;
        assert!(overflow == 0, "fixed-point product overflows");
        let truncated = (low0 | low1 | low2) != 0;
        let error = if self.error == 0 && other.error == 0 && !truncated {
            0
        } else {
            // |ab - AB| <= |A|·error(b) + |B|·error(a) + error(a)·error(b)·2^-192; the last term
            // and the truncation are below one unit each.
            self.times_error(other.error) + other.times_error(self.error) + 2
        };
        Fixed::positive(limbs, error).negated_if(self.negative != other.negative)
    }

    /// An upper bound of `|self| · error` in whole units.
    fn times_error(&self, error: u64) -> u64 {
        if error == 0 {
            return 0;
        }
        // The magnitude in units of 2^-32, rounded up.
        let magnitude = (u128::from(self.limbs[3]) << 32) + u128::from(self.limbs[2] >> 32) + 1;
        let bound = (magnitude.saturating_mul(u128::from(error)) >> 32) + 1;
        assert!(bound < 1 << 62, "fixed-point error bound overflows");
        bound as u64
    }

    /// Whether this is one, exactly.
    pub fn is_one(&self) -> bool {
        *self == Fixed::one()
    }

    /// `round(self · factor)` to the nearest integer, ties away from zero.
    ///
    /// Panics when the result does not fit, or when the number is not exact and its error bound
    /// does not exclude a tie, so that the correct rounding is not known.
    pub(crate) fn round_scaled(&self, factor: u64) -> i64 {
        let (product, integer_high) = multiply_small(&self.limbs, factor);
        let [low, middle, high, integer] = product;
        const HALF: u64 = 1 << 63;
        let round_up = high >= HALF;
        if self.error != 0 {
            // The distance from the tie in units of 2^-192, as high limb and low 128 bits.
            let low_bits = (u128::from(middle) << 64) | u128::from(low);
            let (distance_high, distance_low) = if round_up {
                (high - HALF, low_bits)
            } else {
                let (distance_low, borrow) = 0u128.overflowing_sub(low_bits);
                (HALF - high - u64::from(borrow), distance_low)
            };
            let uncertainty = u128::from(self.error) * u128::from(factor);
            assert!(
                distance_high != 0 || distance_low > uncertainty,
                "a tie cannot be excluded when {self:?} · {factor} is rounded"
            );
        }
        let magnitude = (u128::from(integer_high) << 64) + u128::from(integer);
        let magnitude = i64::try_from(magnitude + u128::from(round_up))
            .expect("a rounded fixed-point number fits 64 bits");
        if self.negative { -magnitude } else { magnitude }
    }

    /// `|self| · 2^bits` to the nearest integer, and whether the number is negative. Where the error bound leaves open which
    /// integer that is, either may be returned: it is off by half a unit and the error bound at most.
    /// Panics for fewer than 64 or more than 127 bits, and when the result does not fit.
    pub fn nearest(&self, bits: u32) -> (bool, u128) {
        assert!((64..128).contains(&bits), "{bits} bits");
        let [_, middle, high, integer] = self.limbs;
        let drop = 128 - bits;
        assert!(u128::from(integer) >> drop == 0, "{self:?} · 2^{bits}");
        let fraction = (u128::from(high) << 64) | u128::from(middle);
        let kept = (u128::from(integer) << bits) | (fraction >> drop);
        (self.negative, kept + (fraction >> (drop - 1) & 1))
    }

    /// The number in units of `2^-bits`, rounded towards zero: for tables that are still computed with.
    /// Panics for fewer than 65 or more than 126 bits, and when the result does not fit.
    pub(crate) fn units(&self, bits: u32) -> i128 {
        assert!((65..=126).contains(&bits), "{bits} bits");
        let [_, middle, high, integer] = self.limbs;
        assert!(integer >> (127 - bits).min(63) == 0, "{self:?} · 2^{bits}");
        let magnitude = (u128::from(integer) << bits)
            | (u128::from(high) << (bits - 64))
            | u128::from(middle >> (128 - bits));
        let value = magnitude as i128;
        if self.negative { -value } else { value }
    }

    /// The nearest double, and the double nearest to what is left of 126 bits after the point.
    /// Panics for magnitudes of two and more.
    pub fn to_sum(&self) -> Sum {
        let units = self.units(126);
        let high = units as f64;
        let low = (units - high as i128) as f64;
        Sum {
            high: high * power_of_two(-126),
            low: low * power_of_two(-126),
        }
    }

    /// The nearest floating-point number, for error estimates only.
    pub fn to_f64(&self) -> f64 {
        self.units(96) as f64 * power_of_two(-96)
    }

    /// The negative of this number where `negate` is set, this number otherwise.
    fn negated_if(mut self, negate: bool) -> Fixed {
        self.negative = (self.negative != negate) && self.limbs != [0; 4];
        self
    }
}

/// The double nearest to `1/sqrt(n)`. (`1.0 / n.sqrt()` rounds twice, and errs by up to 1.5 units in the last place.)
/// Panics when `n` is zero.
pub fn nearest_inverse_sqrt(n: u64) -> f64 {
    let (mantissa, exponent) = Fixed::inverse_sqrt_mantissa(n);
    let digits = f64::MANTISSA_DIGITS;
    // A rational root is the inverse of an integer and no tie; all others are far enough from one, or this stops.
    let rounded = mantissa.round_scaled(1 << digits) as f64;
    rounded * power_of_two(exponent - digits as i32)
}

/// `cos(2π·p/q)` and `sin(2π·p/q)`.
///
/// The values 0, ±1/2 and ±1 are exact: by Niven's theorem there are no other rational ones.
/// Arguments that mirror each other in an axis or a diagonal give the same magnitudes, bit for bit.
/// Panics when `q` is zero or above `2^62`.
pub fn cosine_sine(p: u64, q: u64) -> (Fixed, Fixed) {
    assert!(
        (1..=1 << 62).contains(&q),
        "the denominator {q} of an angle is out of range"
    );
    // The angle in turns is numerator / turn. With the denominator 4q, half and quarter turns are
    // integers and all three reflections are exact.
    let turn = 4 * u128::from(q);
    let mut numerator = 4 * u128::from(p % q);
    let negate_sine = 2 * numerator > turn;
    if negate_sine {
        numerator = turn - numerator;
    }
    let negate_cosine = 4 * numerator > turn;
    if negate_cosine {
        numerator = turn / 2 - numerator;
    }
    let swap = 8 * numerator > turn;
    if swap {
        numerator = turn / 4 - numerator;
    }

    let (cosine, sine) = if numerator == 0 {
        (Fixed::one(), Fixed::ZERO)
    } else {
        // 2π · numerator / 4q = π/4 · 2·numerator / q, and 2·numerator <= q here.
        let (cosine, sine) = cosine_sine_series(&eighth_turns(2 * numerator as u64, q));
        if 12 * numerator == turn {
            (cosine, Fixed::half())
        } else if 8 * numerator == turn {
            // The diagonal is its own mirror image: the two series agree only within their error.
            (cosine.clone(), cosine)
        } else {
            (cosine, sine)
        }
    };
    let (cosine, sine) = if swap { (sine, cosine) } else { (cosine, sine) };
    (
        cosine.negated_if(negate_cosine),
        sine.negated_if(negate_sine),
    )
}

/// `round(scale · exp(-2πi·p/q) · 2^62)`, real and imaginary part.
/// Panics as [`cosine_sine`] and [`Fixed::round_scaled`] do; the magnitude of the scale must be
/// below two.
pub(crate) fn twiddle(p: u64, q: u64, scale: &Fixed) -> (i64, i64) {
    const UNIT: u64 = 1 << 62;
    let (cosine, sine) = cosine_sine(p, q);
    let round = |number: Fixed| number.multiply(scale).round_scaled(UNIT);
    (round(cosine), -round(sine))
}

/// `floor(π/4 · numerator / denominator)` in units of `2^-192`, for `numerator <= denominator`; at
/// most 1.01 units below the real angle.
fn eighth_turns(numerator: u64, denominator: u64) -> Fraction {
    let ([_, low, middle, high], integer) = multiply_small(&QUARTER_PI, numerator);
    let mut limbs = [low, middle, high, integer];
    divide_small(&mut limbs, denominator);
    let [fraction @ .., integer] = limbs;
    debug_assert_eq!(integer, 0, "the angle exceeds an eighth of a turn");
    fraction
}

/// Cosine and sine of an angle in `(0, π/4]` that [`eighth_turns`] computed, by their Taylor
/// series.
///
/// Error bound, in units of `u = 2^-192`: the angle `x <= 0.786` is known within 1.01, hence `x² <=
/// 0.617` within `2·0.786·1.01 + 1 < 2.6`. A Horner step `s = 1/k! - x²·s'` adds one unit for the
/// constant, one for the truncated product and `2.6·s' <= 1.3` for `x²`, and passes on 0.617 of the
/// error of `s'`: never more than `3.3 / (1 - 0.617) < 8.7` in all. The terms left out add one
/// unit. The final product of the sine is smaller than these. Both results are therefore within
/// [`SERIES_ERROR`].
fn cosine_sine_series(angle: &Fraction) -> (Fixed, Fixed) {
    let square = multiply_fractions(angle, angle);
    // The first term left out, x^2k / (2k)!, is below one unit: leading zeros bound its factors.
    let square_zeros = leading_zeros(&square);
    let vanishes = |&k: &usize| {
        k as u32 * square_zeros + leading_zeros(&INVERSE_FACTORIALS[2 * k])
            >= 64 * FRACTION_LIMBS as u32
    };
    let terms = (1..FACTORIALS / 2)
        .find(vanishes)
        .expect("the inverse factorials reach zero");

    // cos x = 1 - x²·(1/2! - x²·(1/4! - …)) and sin x = x - x·x²·(1/3! - x²·(1/5! - …)). No
    // difference is negative: every bracket is at most its leading constant, and x² < 1.
    let mut cosine = [0; FRACTION_LIMBS];
    let mut sine = [0; FRACTION_LIMBS];
    for k in (1..terms).rev() {
        let inner = multiply_fractions(&square, &cosine);
        cosine = subtract(&INVERSE_FACTORIALS[2 * k], &inner);
        let inner = multiply_fractions(&square, &sine);
        sine = subtract(&INVERSE_FACTORIALS[2 * k + 1], &inner);
    }
    let cosine = with_integer_limb(multiply_fractions(&square, &cosine));
    let cosine = subtract(&Fixed::one().limbs, &cosine);
    let sine = multiply_fractions(&square, &sine);
    let sine = with_integer_limb(subtract(angle, &multiply_fractions(angle, &sine)));
    let inexact = |limbs| Fixed::positive(limbs, SERIES_ERROR);
    (inexact(cosine), inexact(sine))
}

const fn inverse_factorials() -> [Fraction; FACTORIALS] {
    let mut table = [[0; FRACTION_LIMBS]; FACTORIALS];
    let mut current = [0, 0, 1 << 63];
    let mut n = 2;
    // Flooring at every step gives the same as flooring once at the end.
    while n < FACTORIALS {
        table[n] = current;
        n += 1;
        divide_small(&mut current, n as u64);
    }
    table
}

fn with_integer_limb([low, middle, high]: Fraction) -> [u64; 4] {
    [low, middle, high, 0]
}

fn leading_zeros([low, middle, high]: &Fraction) -> u32 {
    match (high, middle) {
        (0, 0) => 128 + low.leading_zeros(),
        (0, _) => 64 + middle.leading_zeros(),
        _ => high.leading_zeros(),
    }
}

/// Divides in place, rounding down, and returns the remainder.
const fn divide_small<const N: usize>(limbs: &mut [u64; N], divisor: u64) -> u64 {
    let mut remainder = 0;
    let mut index = N;
    while index > 0 {
        index -= 1;
        let dividend = ((remainder as u128) << 64) | limbs[index] as u128;
        limbs[index] = (dividend / divisor as u128) as u64;
        remainder = (dividend % divisor as u128) as u64;
    }
    remainder
}

/// The product with one limb: its low `N` limbs and the limb above them.
fn multiply_small<const N: usize>(limbs: &[u64; N], factor: u64) -> ([u64; N], u64) {
    let mut carry = 0;
    let product = limbs.map(|limb| {
        let sum = u128::from(limb) * u128::from(factor) + u128::from(carry);
        carry = (sum >> 64) as u64;
        sum as u64
    });
    (product, carry)
}

/// The exact product of two `N`-limb numbers, in `WIDE = 2·N` limbs.
#[inline]
fn full_product<const N: usize, const WIDE: usize>(
    left: &[u64; N],
    right: &[u64; N],
) -> [u64; WIDE] {
    const { assert!(WIDE == 2 * N) };
    let mut product = [0; WIDE];
    for (index, &factor) in left.iter().enumerate() {
        let mut carry = 0;
        for (&limb, target) in right.iter().zip(&mut product[index..]) {
            // (2^64 - 1)² + 2·(2^64 - 1) = 2^128 - 1: no overflow.
            let sum = u128::from(factor) * u128::from(limb) + u128::from(*target) + carry;
            *target = sum as u64;
            carry = sum >> 64;
        }
        product[index + N] = carry as u64;
    }
    product
}

/// The product of two fractions, truncated.
#[inline]
fn multiply_fractions(left: &Fraction, right: &Fraction) -> Fraction {
    let [_, _, _, product @ ..] = full_product::<3, 6>(left, right);
    product
}

/// The difference of two magnitudes, the first of which is not the smaller.
#[inline]
fn subtract<const N: usize>(left: &[u64; N], right: &[u64; N]) -> [u64; N] {
    let mut difference = [0; N];
    let mut borrow = false;
    for ((target, &minuend), &subtrahend) in difference.iter_mut().zip(left).zip(right) {
        let (partial, first) = minuend.overflowing_sub(subtrahend);
        let (result, second) = partial.overflowing_sub(u64::from(borrow));
        *target = result;
        borrow = first || second;
    }
    debug_assert!(!borrow, "the difference of two magnitudes is negative");
    difference
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: u64 = 1 << 62;

    /// SplitMix64, with the seed printed so that a failure names its inputs.
    struct Generator(u64);

    impl Generator {
        fn new(seed: u64) -> Generator {
            println!("seed {seed:#x}");
            Generator(seed)
        }

        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        }

        /// A fraction with a denominator of random length, `1 <= q <= 2^62` and `p < q`.
        fn fraction(&mut self) -> (u64, u64) {
            let q = (self.next() >> (2 + self.next() % 60)).max(1);
            (self.next() % q, q)
        }
    }

    fn add<const N: usize>(left: &[u64; N], right: &[u64; N]) -> [u64; N] {
        let negated = subtract(&[u64::MAX; N], left);
        subtract(&[u64::MAX; N], &subtract(&negated, right))
    }

    /// The sum of two signed numbers, for the identities below.
    fn sum(left: &Fixed, right: &Fixed) -> Fixed {
        let error = left.error + right.error;
        if left.negative == right.negative {
            let limbs = add(&left.limbs, &right.limbs);
            return Fixed::positive(limbs, error).negated_if(left.negative);
        }
        let left_is_large = left.limbs.iter().rev().ge(right.limbs.iter().rev());
        let (large, small) = if left_is_large {
            (left, right)
        } else {
            (right, left)
        };
        let limbs = subtract(&large.limbs, &small.limbs);
        Fixed::positive(limbs, error).negated_if(large.negative)
    }

    fn difference(left: &Fixed, right: &Fixed) -> Fixed {
        sum(left, &right.clone().negated_if(true))
    }

    /// Asserts equality within the claimed errors, and that these are below `2^-180`.
    fn assert_close(left: &Fixed, right: &Fixed) {
        let Fixed { limbs, error, .. } = difference(left, right);
        assert!(error < 1 << 12, "error {error}");
        assert!(
            limbs[1..] == [0; 3] && limbs[0] <= error,
            "{left:?} is not {right:?}"
        );
    }

    type Complex = (Fixed, Fixed);

    fn complex_product(left: &Complex, right: &Complex) -> Complex {
        (
            difference(&left.0.multiply(&right.0), &left.1.multiply(&right.1)),
            sum(&left.0.multiply(&right.1), &left.1.multiply(&right.0)),
        )
    }

    #[test]
    fn quarter_pi_agrees_with_machin() {
        // π/4 = 4·atan(1/5) - atan(1/239) with 384 fraction bits.
        fn inverse_tangent(scale: u64, argument: u64) -> [u64; 6] {
            let mut power = [0, 0, 0, 0, 0, 0, scale];
            divide_small(&mut power, argument);
            let [mut power @ .., _] = power;
            let mut total = [0; 6];
            for odd in (1..).step_by(2) {
                let mut term = power;
                divide_small(&mut term, odd);
                if term == [0; 6] {
                    break;
                }
                let combine = if odd % 4 == 1 { add } else { subtract };
                total = combine(&total, &term);
                divide_small(&mut power, argument * argument);
            }
            total
        }
        let quarter_pi = subtract(&inverse_tangent(4, 5), &inverse_tangent(1, 239));
        assert_eq!(quarter_pi[2..], QUARTER_PI);
    }

    #[test]
    fn rational_values_are_exact() {
        let minus_one = Fixed::one().negated_if(true);
        let minus_half = Fixed::half().negated_if(true);
        for factor in [1, 2, 7, 1000, 1 << 40, (1 << 58) - 1] {
            let at = |p: u64, q: u64| cosine_sine(p * factor, q * factor);
            assert_eq!(at(0, 1), (Fixed::one(), Fixed::ZERO));
            assert_eq!(at(1, 4), (Fixed::ZERO, Fixed::one()));
            assert_eq!(at(1, 2), (minus_one.clone(), Fixed::ZERO));
            assert_eq!(at(3, 4), (Fixed::ZERO, minus_one.clone()));
            for (p, expected) in [(1, Fixed::half()), (2, minus_half.clone())] {
                assert_eq!(at(p, 6).0, expected);
                assert_eq!(at(6 - p, 6).0, expected);
            }
            for (p, expected) in [(1, Fixed::half()), (7, minus_half.clone())] {
                assert_eq!(at(p, 12).1, expected);
                assert_eq!(at((18 - p) % 12, 12).1, expected);
            }
            let (cosine, sine) = at(1, 8);
            assert_eq!(cosine, sine);
        }
        assert!(Fixed::one().is_one() && !minus_one.is_one() && !Fixed::half().is_one());
        let minus_quarter = Fixed::ratio(1, 4).negated_if(true);
        assert_eq!(Fixed::half().multiply(&minus_half), minus_quarter);
        // Exact ties go away from zero.
        assert_eq!(Fixed::half().round_scaled(127), 64);
        assert_eq!(minus_half.round_scaled(127), -64);
        assert_eq!(Fixed::ratio(3, 8).round_scaled(4), 2);
        assert_eq!(twiddle(1, 4, &Fixed::one()), (0, -(UNIT as i64)));
        assert_eq!(twiddle(1, 4, &Fixed::half()), (0, -(UNIT as i64) / 2));
    }

    #[test]
    #[should_panic(expected = "a tie cannot be excluded")]
    fn undecided_ties_are_rejected() {
        Fixed::ratio(1, 6).round_scaled(3);
    }

    #[test]
    fn mirrored_arguments_agree_exactly() {
        let mut generator = Generator::new(0x0c7a_9750);
        let large = (0..200).map(|_| generator.fraction());
        let small = (1..=60).flat_map(|q| (0..q).map(move |p| (p, q)));
        for (p, q) in small.chain(large) {
            // The denominator 4q makes every reflection a fraction again; p/q itself must not
            // depend on being written in lowest terms.
            let q = q.min(1 << 60);
            let p = p % q;
            let (cosine, sine) = cosine_sine(p, q);
            let minus_cosine = cosine.clone().negated_if(true);
            let minus_sine = sine.clone().negated_if(true);
            let (p, q) = (4 * p, 4 * q);
            let quarter = q / 4;
            let mirrored = [
                (p, &cosine, &sine),
                (p + q, &cosine, &sine),
                (q - p, &cosine, &minus_sine),
                (p + quarter, &minus_sine, &cosine),
                (p + 2 * quarter, &minus_cosine, &minus_sine),
                (p + 3 * quarter, &sine, &minus_cosine),
                (q + quarter - p, &sine, &cosine),
            ];
            for (p, cosine, sine) in mirrored {
                assert_eq!(cosine_sine(p, q), (cosine.clone(), sine.clone()), "{p}/{q}");
            }
            let (real, imaginary) = twiddle(p, q, &Fixed::one());
            assert_eq!(real, cosine.round_scaled(UNIT));
            assert_eq!(imaginary, -sine.round_scaled(UNIT));
        }
    }

    #[test]
    fn squares_sum_to_one_and_angles_add() {
        let mut generator = Generator::new(0x5eed_0001);
        for _ in 0..2000 {
            let (first, q) = generator.fraction();
            let second = generator.next() % q;
            let left = cosine_sine(first, q);
            let right = cosine_sine(second, q);
            let squares = sum(&left.0.multiply(&left.0), &left.1.multiply(&left.1));
            assert_close(&squares, &Fixed::one());
            let product = complex_product(&left, &right);
            let expected = cosine_sine(first + second, q);
            assert_close(&product.0, &expected.0);
            assert_close(&product.1, &expected.1);
        }
    }

    /// The powers of the first root, by multiplication alone, return to one and round as the table
    /// does. The first root is pinned by the literals below and by its `q`-th power.
    #[test]
    fn powers_of_the_first_root_round_alike() {
        // The errors grow at most with the square of q; the bounds that the numbers carry grow
        // exponentially in such a recurrence and are set aside.
        const LOSS: u64 = 1 << 32;
        for q in [3, 5, 8, 12, 97, 360, 1000, 4096] {
            let root = cosine_sine(1, q);
            let mut power = (Fixed::one(), Fixed::ZERO);
            for p in 0..=q {
                let (cosine, sine) = cosine_sine(p, q);
                for (computed, direct) in [(&power.0, &cosine), (&power.1, &sine)] {
                    let limbs = difference(computed, direct).limbs;
                    assert!(
                        limbs[1..] == [0; 3] && limbs[0] < LOSS,
                        "{p}/{q}: {limbs:?}"
                    );
                    let Fixed {
                        negative, limbs, ..
                    } = *computed;
                    let computed = Fixed::positive(limbs, LOSS);
                    let computed = computed.negated_if(negative);
                    assert_eq!(computed.round_scaled(UNIT), direct.round_scaled(UNIT));
                }
                power = complex_product(&power, &root);
                (power.0.error, power.1.error) = (0, 0);
            }
        }
    }

    /// `p`, `q`, then cosine and sine of `2πp/q` times `2^62`, from mpmath with 100 decimal digits.
    #[rustfmt::skip]
    const REFERENCE: &[(u64, u64, i64, i64)] = &[
        (1, 3, -2305843009213693952, 3993837246235628775),
        (1, 5, 1425089352415399811, 4385974038932618941),
        (1, 7, 2875339201863983833, 3605561316464170519),
        (3, 7, -4154985531143938469, 2000935573311439104),
        (5, 7, -1026196679933739317, -4496061421583520199),
        (1, 8, 3260954456333195553, 3260954456333195553),
        (1, 9, 3532756447825785444, 2964334632409774423),
        (7, 16, -4260642322793532497, 1764815834521887442),
        (5, 24, 1193592171602022505, 4454546627935218059),
        (1, 36, 4541624145405292212, 800810873071977681),
        (10, 77, 3159658467558569636, 3359197270322790275),
        (60, 77, 841954690151677399, -4534176907917273454),
        (100, 127, 1073803339034328132, -4484929689709458725),
        (33, 256, 3179944489302736311, 3340000146334100615),
        (127, 1000, 3219719701321697039, 3301674268833855751),
        (999, 1000, 4611594987693619779, -28975887177734629),
        (2049, 4096, -4611680592556051597, -7074234977634094),
        (54321, 65537, 2192693984682881113, -4057060638207686820),
        (1, 1048576, 4611686018344595662, 27633741218696),
        (654321, 1048576, -3281193193065408892, -3240589323308320766),
        (777777, 1000003, 800722094935226002, -4541639798491421191),
        (1, 1073741824, 4611686018427387825, 26986075409),
        (123456789, 987654321, 3260954479671653347, 3260954432994737592),
        (999999999999, 999999999999989, 4611594987693619959, 28975887177705972),
        (314159265358979323, 2305843009213693951, 3022612222423971881, 3483025019349110490),
        (1, 4611686018427387904, 4611686018427387904, 6),
        (2305843009213693953, 4611686018427387904, -4611686018427387904, -6),
        (576460752303423487, 4611686018427387904, 3260954456333195558, 3260954456333195549),
    ];

    #[test]
    fn rounded_values_agree_with_the_reference() {
        for &(p, q, real, imaginary) in REFERENCE {
            let (cosine, sine) = cosine_sine(p, q);
            let rounded = (cosine.round_scaled(UNIT), sine.round_scaled(UNIT));
            assert_eq!(rounded, (real, imaginary), "{p}/{q}");
            assert_eq!(twiddle(p, q, &Fixed::one()), (real, -imaginary), "{p}/{q}");
        }
    }

    /// Scales `(128/127)^power` times the mantissa of `1/n`, or of `1/sqrt(n)` where the flag is
    /// set, with the scaled twiddle of `p/q`, from mpmath likewise.
    #[rustfmt::skip]
    const SCALED_REFERENCE: &[(u64, u64, u32, u64, bool, i64, i64)] = &[
        (1, 7, 1, 7, false, 1655988381725938946, -2076543750314572898),
        (5, 12, 2, 1000, false, -2077173728964608186, -1199256811571335284),
        (300, 1024, 3, 1024, false, -1259279886357265592, -4550452802104742776),
        (17, 31, 4, 31, true, -3261937494901948711, 1023439491528806214),
        (77, 8192, 2, 8192, true, 3306735112273353944, -195517389596596908),
        (123, 1001, 1, 1001, true, 1684108794335264993, -1639770828033700508),
    ];

    #[test]
    fn scaled_twiddles_agree_with_the_reference() {
        for &(p, q, power, n, square_root, real, imaginary) in SCALED_REFERENCE {
            let (mut scale, _) = if square_root {
                Fixed::inverse_sqrt_mantissa(n)
            } else {
                Fixed::inverse_mantissa(n)
            };
            for _ in 0..power {
                scale = scale.multiply(&Fixed::ratio(128, 127));
            }
            assert_eq!(twiddle(p, q, &scale), (real, imaginary), "{p}/{q}");
        }
    }

    /// `n`, then mantissa · 2^62 and exponent of `1/n` and of `1/sqrt(n)`, from mpmath likewise.
    #[rustfmt::skip]
    const INVERSE_REFERENCE: &[(u64, i64, i32, i64, i32)] = &[
        (1, 4611686018427387904, 0, 4611686018427387904, 0),
        (2, 4611686018427387904, -1, 3260954456333195553, 0),
        (3, 3074457345618258603, -1, 2662558164157085850, 0),
        (5, 3689348814741910323, -2, 4124817371235594859, -1),
        (6, 3074457345618258603, -2, 3765425866358160376, -1),
        (7, 2635249153387078802, -2, 3486106951277858065, -1),
        (10, 3689348814741910323, -3, 2916686334356757942, -1),
        (16, 4611686018427387904, -4, 4611686018427387904, -2),
        (127, 2323999253380730912, -6, 3273767686267858126, -3),
        (1000, 2361183241434822607, -9, 2333349067485406354, -4),
        (65537, 4611615650756935680, -16, 4611650834457947136, -8),
        (1000000007, 2475880061239600121, -29, 2389349436742333092, -14),
        (4611686018427387903, 2305843009213693953, -61, 2305843009213693952, -30),
        (9223372036854775809, 4611686018427387904, -63, 3260954456333195553, -31),
        (18446744073709551615, 2305843009213693952, -63, 2305843009213693952, -31),
    ];

    #[test]
    fn inverses_agree_with_the_reference() {
        for &(n, inverse, exponent, inverse_root, root_exponent) in INVERSE_REFERENCE {
            let (mantissa, found) = Fixed::inverse_mantissa(n);
            let rounded = (mantissa.round_scaled(UNIT), found);
            assert_eq!(rounded, (inverse, exponent), "1/{n}");
            assert_eq!(mantissa.is_one(), n.is_power_of_two());
            let (mantissa, found) = Fixed::inverse_sqrt_mantissa(n);
            let rounded = (mantissa.round_scaled(UNIT), found);
            assert_eq!(rounded, (inverse_root, root_exponent), "1/sqrt({n})");
            assert_eq!(mantissa.is_one(), n.is_power_of_two() && n.ilog2() % 2 == 0);
        }
    }

    #[test]
    fn inverses_satisfy_their_equations() {
        let mut generator = Generator::new(0x5eed_0002);
        for n in (1..300).chain((0..1000).map(|_| generator.fraction().1)) {
            let (inverse, exponent) = Fixed::inverse_mantissa(n);
            let power = 1u64 << -exponent;
            assert_close(&inverse.multiply(&Fixed::ratio(n, power)), &Fixed::one());
            let (root, exponent) = Fixed::inverse_sqrt_mantissa(n);
            let power = 1u64 << (-2 * exponent);
            let one = root.multiply(&root).multiply(&Fixed::ratio(n, power));
            assert_close(&one, &Fixed::one());
            for mantissa in [inverse, root] {
                let above_half = !difference(&mantissa, &Fixed::half()).negative;
                assert!(above_half && mantissa != Fixed::half(), "{n}");
                assert!(mantissa.is_one() || mantissa.limbs[3] == 0, "{n}");
            }
        }
    }

    /// `1.0 / n.sqrt()` was the factor of orthonormal transforms: two roundings, of which bounds counted one.
    #[test]
    fn one_over_a_root_was_rounded_twice() {
        for n in (1..20_000).chain((20_000..1 << 19).step_by(97)) {
            let root = nearest_inverse_sqrt(n);
            let significand = root.to_bits() & ((1 << 52) - 1) | 1 << 52;
            let exponent = (root.to_bits() >> 52) as i32 - 1075;
            // Neighbours meet half a unit away, on either side of the root: compared as squares, in units of 2^(2·exponent - 2).
            let square = |half_units: u64| u128::from(half_units).pow(2) * u128::from(n);
            let one = 1u128 << (2 - 2 * exponent);
            let between = square(2 * significand - 1) < one && one < square(2 * significand + 1);
            assert!(between || square(2 * significand) == one, "{n}");
        }
        // The worst of them, 1.48 units off.
        assert_ne!(nearest_inverse_sqrt(16557), 1.0 / 16557f64.sqrt());
    }
}
