//! All powers of one root of unity, for tables with many of them: products of short tables, in 128-bit fixed point.
//!
//! One call of [`cosine_sine`] costs about a microsecond, and tables have up to millions of entries. Here a table of any order asks for
//! some hundred of them and multiplies: every product has a proven bound on its error, and where this bound leaves open how
//! the number is to be rounded, [`cosine_sine`] decides. So the bits are those that it would give.

use crate::roots::{self, Fixed, cosine_sine};
use fallible_memory::collected;
use num_complex::Complex;

/// Bits behind the binary point.
const FRACTION_BITS: u32 = 126;

/// Bound on the error of [`RootTable::power`] in units of 2^-126, either part.
///
/// A number from [`cosine_sine`] is truncated: within 1 unit (its own error is far less). [`multiply`] is at most 6 units too small in
/// magnitude, so a difference or sum of two products is off by 6. With both factors off by `e` in each part, the products add
/// `(|a| + |b| + |c| + |d|)·e <= 2√2·e`. Of the short tables: `2.9·1 + 6 < 9`; of their products: `2.9·9 + 6 < 33`.
const POWER_ERROR: u128 = 33;

/// The same for a power times a scale below 2, known within 1 unit: `2·33 + 1 + 6`.
const SCALED_ERROR: u128 = 73;

/// `a·b / 2^126` for `|a| <= 2^126` and `|b| < 2^127`: at most 6 units too small in magnitude.
#[inline]
fn multiply(a: i128, b: i128) -> i128 {
    let halves = |x: i128| {
        let magnitude = x.unsigned_abs();
        ((magnitude >> 64) as u64, magnitude as u64)
    };
    let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
    let product = |x: u64, y: u64| u128::from(x) * u128::from(y);
    // Left out is the product of the low halves, below 4 units.
    let magnitude = (product(a_high, b_high) << 2)
        + (product(a_high, b_low) >> 62)
        + (product(a_low, b_high) >> 62);
    let sign = (a ^ b) >> 127;
    (magnitude as i128 ^ sign) - sign
}

#[inline]
fn times(a: Complex<i128>, b: Complex<i128>) -> Complex<i128> {
    Complex::new(
        multiply(a.re, b.re) - multiply(a.im, b.im),
        multiply(a.re, b.im) + multiply(a.im, b.re),
    )
}

/// The powers `exp(2πi p/order)`.
#[derive(Debug)]
pub struct RootTable {
    order: u64,
    low_bits: u32,
    /// Powers from 0 on.
    low: Vec<Complex<i128>>,
    /// Every `2^low_bits`-th power.
    high: Vec<Complex<i128>>,
}

/// `scale` in the form that [`RootTable::twiddle`] takes.
#[derive(Debug)]
pub struct Scale<'a> {
    exact: &'a Fixed,
    /// None for one.
    units: Option<i128>,
}

impl<'a> Scale<'a> {
    /// A scale in (0, 2).
    pub fn new(exact: &'a Fixed) -> Self {
        let units = (!exact.is_one()).then(|| exact.units(FRACTION_BITS));
        Scale { exact, units }
    }
}

impl RootTable {
    /// Bits behind the binary point of [`RootTable::power`].
    pub const FRACTION_BITS: u32 = FRACTION_BITS;

    /// Panics as [`cosine_sine`] does.
    pub fn new(order: u64) -> Self {
        let low_bits = (u64::BITS - order.leading_zeros()) / 2;
        let exact = |p: u64| {
            let (cosine, sine) = cosine_sine(p, order);
            Complex::new(cosine.units(FRACTION_BITS), sine.units(FRACTION_BITS))
        };
        // `count` powers of a stride, themselves products of two short tables.
        let powers = |count: u64, stride: u64| -> Vec<Complex<i128>> {
            let bits = (u64::BITS - count.leading_zeros()) / 2;
            let fine: Vec<_> = (0..1 << bits).map(|i| exact(i * stride % order)).collect();
            let coarse = (0..count.div_ceil(1 << bits)).map(|i| {
                exact((u128::from(i << bits) * u128::from(stride) % u128::from(order)) as u64)
            });
            let products =
                coarse.flat_map(|root| fine.iter().map(move |&power| times(root, power)));
            collected(products.take(count as usize))
        };
        RootTable {
            order,
            low_bits,
            low: powers(1 << low_bits, 1),
            high: powers((order >> low_bits) + 1, 1 << low_bits),
        }
    }

    /// `exp(2πi p/order)` in units of 2^-126, within [`POWER_ERROR`]; `p < order`.
    pub fn power(&self, p: u64) -> Complex<i128> {
        let low = self.low[(p & ((1 << self.low_bits) - 1)) as usize];
        times(self.high[(p >> self.low_bits) as usize], low)
    }

    /// `exp(2πi p/order)` in units of 2^-96, both parts rounded towards zero as [`Fixed::units`] does.
    pub fn units_of_96_bits(&self, p: u64) -> Complex<i128> {
        const DROPPED: u32 = FRACTION_BITS - 96;
        let power = self.power(p);
        let decided = |x: i128| {
            let rest = x.unsigned_abs() & ((1 << DROPPED) - 1);
            rest > POWER_ERROR && rest < (1 << DROPPED) - POWER_ERROR
        };
        if decided(power.re) && decided(power.im) {
            let truncated = |x: i128| x.signum() * (x.abs() >> DROPPED);
            return Complex::new(truncated(power.re), truncated(power.im));
        }
        let (cosine, sine) = cosine_sine(p, self.order);
        Complex::new(cosine.units(96), sine.units(96))
    }

    /// `round(scale · exp(-2πi·p/order) · 2^62)`, real and imaginary part: what [`roots::twiddle`] returns.
    pub fn twiddle(&self, p: u64, scale: &Scale<'_>) -> (i64, i64) {
        let power = self.power(p);
        let power = match scale.units {
            None => power,
            Some(units) => Complex::new(multiply(power.re, units), multiply(power.im, units)),
        };
        const DROPPED: u32 = FRACTION_BITS - 62;
        const HALF: u128 = 1 << (DROPPED - 1);
        let rounded = |x: i128| {
            let magnitude = x.unsigned_abs();
            let rest = magnitude & ((1 << DROPPED) - 1);
            let nearest = ((magnitude + HALF) >> DROPPED) as i64;
            (rest.abs_diff(HALF) > SCALED_ERROR).then_some(if x < 0 { -nearest } else { nearest })
        };
        match (rounded(power.re), rounded(power.im)) {
            (Some(re), Some(im)) => (re, -im),
            _ => roots::twiddle(p, self.order, scale.exact),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: [u64; 15] = [
        1,
        2,
        3,
        5,
        8,
        12,
        24,
        97,
        360,
        1009,
        2048,
        2 * 997,
        30_030,
        1 << 20,
        2_000_006,
    ];

    /// All powers of short orders and a sample of those of long ones.
    fn powers(order: u64) -> impl Iterator<Item = u64> {
        let stride = 1 + order / 1500;
        (0..order)
            .step_by(stride as usize)
            .chain([order / 2, order - 1])
    }

    #[test]
    fn errors_stay_within_their_bound() {
        for order in ORDERS {
            let table = RootTable::new(order);
            for p in powers(order) {
                let (cosine, sine) = cosine_sine(p, order);
                let power = table.power(p);
                for (got, exact) in [(power.re, cosine), (power.im, sine)] {
                    // One unit for the truncation of the number to compare with.
                    let off = got.abs_diff(exact.units(FRACTION_BITS));
                    assert!(off <= POWER_ERROR + 1, "{p}/{order}: {off}");
                }
            }
        }
    }

    #[test]
    fn every_number_is_the_one_that_the_series_gives() {
        let third = Fixed::ratio(2, 3);
        let large = Fixed::ratio(129, 127);
        for order in ORDERS {
            let table = RootTable::new(order);
            for p in powers(order) {
                let (cosine, sine) = cosine_sine(p, order);
                let expected = Complex::new(cosine.units(96), sine.units(96));
                assert_eq!(table.units_of_96_bits(p), expected, "{p}/{order}");
                for scale in [&Fixed::one(), &third, &large] {
                    assert_eq!(
                        table.twiddle(p, &Scale::new(scale)),
                        roots::twiddle(p, order, scale),
                        "{p}/{order}"
                    );
                }
            }
        }
    }

    #[test]
    fn ties_are_decided_by_the_exact_number() {
        // Half of an odd multiple of 2^-62 lies in the middle between two entries; so do its mirror images.
        let (order, half) = (12, [2, 4, 8, 10, 1, 5, 7, 11]);
        let table = RootTable::new(order);
        for odd in [1, 3, 12_345_677] {
            let scale = Fixed::ratio((1 << 62) + odd, 1 << 62);
            for p in half {
                assert_eq!(
                    table.twiddle(p, &Scale::new(&scale)),
                    roots::twiddle(p, order, &scale),
                    "{p}/{order}, {odd}"
                );
            }
        }
    }

    #[test]
    fn a_product_is_at_most_six_units_too_small() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state
        };
        for round in 0..10_000 {
            let mut wide = |bits: u32| {
                let magnitude = (u128::from(next()) << 64 | u128::from(next())) >> (128 - bits);
                // Halves of ones leave out the most.
                let magnitude = if round % 3 == 0 {
                    magnitude | u128::from(u64::MAX)
                } else {
                    magnitude
                };
                (magnitude as i128) * if next() & 1 == 0 { 1 } else { -1 }
            };
            let (a, b) = (wide(126), wide(127));
            let sum = exact_shifted(a.unsigned_abs(), b.unsigned_abs());
            let got = multiply(a, b);
            assert!(got == 0 || (got < 0) == ((a < 0) != (b < 0)));
            let off = sum - got.unsigned_abs();
            assert!(off <= 6, "{a} · {b}: {off}");
        }
    }

    /// `floor(a·b / 2^126)` by halves of 32 bits.
    fn exact_shifted(a: u128, b: u128) -> u128 {
        let parts = |x: u128| [0, 32, 64, 96].map(|shift| (x >> shift) as u32 as u128);
        let (a, b) = (parts(a), parts(b));
        let mut columns = [0u128; 8];
        for (i, &x) in a.iter().enumerate() {
            for (j, &y) in b.iter().enumerate() {
                columns[i + j] += (x * y) & 0xffff_ffff;
                columns[i + j + 1] += (x * y) >> 32;
            }
        }
        let mut carry = 0;
        for column in &mut columns {
            *column += carry;
            carry = *column >> 32;
            *column &= 0xffff_ffff;
        }
        let high = columns[4] | (columns[5] << 32) | (columns[6] << 64) | (columns[7] << 96);
        (high << 2) | (columns[3] >> 30)
    }
}
