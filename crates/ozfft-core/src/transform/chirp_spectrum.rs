//! The spectrum of the conjugate chirp, a table of Bluestein's algorithm, computed once per plan.
//!
//! The table must be accurate at every single point, because one bad entry would meet whatever the data put there.
//! So it does not come from the transform it serves. Its definition is a plain mixed-radix transform in 96-bit fixed point, with some
//! 30 bits to spare (`fixed_point.rs`). Double-double arithmetic (`double_double.rs`) gives the same numbers within a known distance,
//! many times as fast; where an entry lies so near to the middle between two that this distance matters, the definition decides.

mod double_double;
mod fixed_point;

use crate::parallel;
use crate::recipe::LONGEST_CONVOLUTION;
use crate::roots::Fixed;
use crate::roots::root_table::RootTable;
use crate::stages::twiddle::TwiddleTable;
use fallible_memory::with_capacity;
use num_complex::Complex;

/// Shorter loops are not divided among threads.
const LEAST_PARALLEL: usize = 1 << 12;

/// Bits behind the binary point. Values stay below 2^30, so that 126 bits hold them.
const FRACTION_BITS: u32 = 96;

/// `a·t / 2^96` for `|a| < 2^126` and `|t| <= 2^96`, within 2 units; exact where t is 1.
#[inline]
fn multiply(a: i128, t: i128) -> i128 {
    let halves = |x: i128| {
        let magnitude = x.unsigned_abs();
        ((magnitude >> 64) as u64, magnitude as u64)
    };
    let ((x_high, x_low), (y_high, y_low)) = (halves(a), halves(t));
    let product = |x: u64, y: u64| u128::from(x) * u128::from(y);
    let magnitude = (product(x_high, y_high) << 32)
        + (product(x_high, y_low) >> 32)
        + (product(x_low, y_high) >> 32)
        + (product(x_low, y_low) >> 96);
    let sign = (a ^ t) >> 127;
    (magnitude as i128 ^ sign) - sign
}

/// `j²` modulo `2n`, for `j < 2^32`.
pub fn square(j: usize, n: usize) -> u64 {
    (j as u64 * j as u64) % (2 * n as u64)
}

/// `value` of `exp(πi j²/n)`, for `j` from 0 to `n - 1`, given the table of all powers and the power.
pub fn chirp_roots<T: Send>(
    n: usize,
    value: impl Fn(&RootTable, u64) -> T + Send + Sync,
) -> Vec<T> {
    let roots = RootTable::new(2 * n as u64);
    parallel::collect(n, LEAST_PARALLEL, |j| value(&roots, square(j, n)))
}

/// `DFT_m(conj w)` with `w_j = exp(-πi j²/n)` laid out cyclically.
#[derive(Debug)]
pub(crate) struct ChirpSpectrum {
    n: usize,
    m: usize,
    /// Points 0 to m/2 in units of 2^-96, within [`ChirpSpectrum::distance`]; the others are their mirror image.
    half: Vec<Complex<i128>>,
}

impl ChirpSpectrum {
    pub(crate) fn new(n: usize, m: usize) -> Self {
        assert!(
            (m as u128) < LONGEST_CONVOLUTION,
            "a convolution of {m} points is too long"
        );
        let half = double_double::half_spectrum(n, m);
        ChirpSpectrum { n, m, half }
    }

    /// How far from the definition the numbers are taken to be, in units of 2^-96. Both have errors that are sums of many small
    /// ones of either sign: 4 to 8 times √m units, and never more than 24 times in whatever was compared.
    fn distance(m: usize) -> u128 {
        128 * (m.isqrt() as u128 + 1)
    }

    /// `scale` times the spectrum, as a table and an exponent: values are `table / 2^62 · 2^exponent`.
    pub(crate) fn table(&self, scale: &Fixed) -> (TwiddleTable, i32) {
        let (half, m) = (&self.half, self.m);
        let mirrored = |half: Vec<_>| (0..m).map(|k| half[k.min(m - k)]).collect();
        match rounded(half, scale, Self::distance(m)) {
            Some((half, exponent)) => (mirrored(half), exponent),
            None => {
                let all = fixed_point::spectrum(self.n, m);
                let (table, exponent) = rounded(&all, scale, 0).expect("no distance, no doubt");
                (table.into_iter().collect(), exponent)
            }
        }
    }

    pub(crate) fn size(&self) -> ChirpSize {
        let unit = (-f64::from(FRACTION_BITS)).exp2();
        let zero = ChirpSize {
            modulus: 0.0,
            component: 0.0,
        };
        self.half.iter().fold(zero, |size, z| {
            let (re, im) = (z.re as f64 * unit, z.im as f64 * unit);
            let component = size.component.max(re.abs()).max(im.abs());
            // Most are far below the largest, and need no careful square root.
            let far_below = (re * re + im * im) * (1.0 + 1e-9) < size.modulus * size.modulus;
            let modulus = match far_below {
                true => size.modulus,
                false => size.modulus.max(re.hypot(im) * (1.0 + 1e-12)),
            };
            ChirpSize { modulus, component }
        })
    }
}

/// `scale` times numbers in units of 2^-96, rounded to 62 bits of the largest component, halves upwards; and that one's exponent. None
/// where a number off by less than `distance` units might be rounded to another one.
fn rounded(
    values: &[Complex<i128>],
    scale: &Fixed,
    distance: u128,
) -> Option<(Vec<Complex<i64>>, i32)> {
    let scale = scale.units(FRACTION_BITS);
    let scaled = |z: &Complex<i128>| Complex::new(multiply(z.re, scale), multiply(z.im, scale));
    let scale_at = |k: usize| scaled(&values[k]);
    let values: Vec<Complex<i128>> = parallel::collect(values.len(), LEAST_PARALLEL, scale_at);
    let largest = values.iter().fold(0, |largest, z| {
        largest.max(z.re.unsigned_abs()).max(z.im.unsigned_abs())
    });
    let bits_of = |x: u128| u128::BITS - x.leading_zeros();
    let bits = bits_of(largest);
    if bits_of(largest + distance) != bits || bits_of(largest - distance.min(largest)) != bits {
        return None;
    }
    // The largest component ends just below 2^62.
    let dropped = bits - 62;
    let (half, mask) = ((1i128 << dropped) >> 1, (1u128 << dropped) - 1);
    let round = |x: i128| {
        let x = x + half;
        let rest = x as u128 & mask;
        (rest >= distance && rest <= mask - distance).then_some((x >> dropped) as i64)
    };
    let round_at = |k: usize| Some(Complex::new(round(values[k].re)?, round(values[k].im)?));
    let table = parallel::collect(values.len(), LEAST_PARALLEL, round_at);
    let mut rounded = with_capacity(values.len());
    for point in table {
        rounded.push(point?);
    }
    Some((rounded, bits as i32 - FRACTION_BITS as i32))
}

/// How large the unscaled spectrum of a chirp is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChirpSize {
    /// Largest modulus, rounded up.
    pub(crate) modulus: f64,
    /// Largest real or imaginary part.
    component: f64,
}

impl ChirpSize {
    /// The representation of 1 in the table of a line with the norm's mantissa `scale` and a convolution of `m` points, over the
    /// table's largest modulus. The largest component ends just below it: so at most 2.
    pub(crate) fn full_scale(&self, scale: f64, m: usize) -> f64 {
        let factor = scale * Fixed::inverse_mantissa(m as u64).0.to_f64();
        // Too near a power of two for this precision, the larger one is taken.
        let bits = ((self.component * factor).log2() + 1e-9).floor() + 1.0;
        bits.exp2() / (self.modulus * factor) * (1.0 + 1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roots::cosine_sine;

    /// `exp(-2πi p/q)` in units of 2^-96.
    fn root(p: usize, q: usize) -> Complex<i128> {
        let (cosine, sine) = cosine_sine(p as u64, q as u64);
        Complex::new(cosine.units(96), -sine.units(96))
    }

    #[test]
    fn double_double_numbers_stay_far_within_the_distance_from_the_definition() {
        let mut lengths = vec![(67, 135), (67, 144), (83, 175), (997, 2000), (997, 2048)];
        lengths.extend([(1009, 2025), (3998, 8000), (2801, 7 * 11 * 13 * 7)]);
        if ozfft_testkit::everything() {
            lengths.extend([
                (100_003, 200_704),
                (100_003, 262_144),
                (1_000_003, 2_016_000),
            ]);
        }
        for (n, m) in lengths {
            let half = ChirpSpectrum::new(n, m).half;
            for (k, z) in fixed_point::spectrum(n, m).into_iter().enumerate() {
                let other = half[k.min(m - k)];
                let off = z.re.abs_diff(other.re).max(z.im.abs_diff(other.im));
                assert!(
                    off <= ChirpSpectrum::distance(m) / 4,
                    "{n}, {m}: {k}: {off}"
                );
            }
        }
    }

    #[test]
    fn tables_are_those_of_the_definition() {
        for (n, m) in [(67, 135), (331, 672), (997, 2000), (4099, 8400)] {
            for scale in [Fixed::one(), Fixed::ratio(2, 3), Fixed::ratio(129, 128)] {
                let (table, exponent) = ChirpSpectrum::new(n, m).table(&scale);
                let all = fixed_point::spectrum(n, m);
                let (expected, expected_exponent) = rounded(&all, &scale, 0).unwrap();
                assert_eq!(exponent, expected_exponent);
                assert!(table.entries().eq(expected), "{n}, {m}");
            }
        }
    }

    #[test]
    fn numbers_near_the_middle_or_near_a_power_of_two_are_left_to_the_definition() {
        let one = Fixed::one();
        let rounds = |re: i128, largest: i128| {
            let values = [Complex::new(re, 0), Complex::new(0, largest)];
            rounded(&values, &one, 1000).is_some()
        };
        // Of 2^100 and a bit, 39 bits are dropped.
        let (largest, half) = ((1i128 << 100) + 5000, 1i128 << 38);
        assert!(rounds(0, largest));
        assert!(rounds(half + 1000, largest) && rounds(half - 1001, largest));
        assert!(!rounds(half + 999, largest) && !rounds(half - 1000, largest));
        assert!(!rounds(-half, largest) && rounds(-half + 1000, largest));
        assert!(!rounds(0, (1 << 100) + 500) && !rounds(0, (1 << 100) - 500));
        assert!(rounded(&[Complex::new(half, largest)], &one, 0).is_some());
    }

    #[test]
    fn spectrum_agrees_with_the_definition() {
        for (n, m) in [(3, 5), (3, 8), (7, 15), (11, 24), (13, 28)] {
            let (table, exponent) = ChirpSpectrum::new(n, m).table(&Fixed::one());
            for (k, z) in table.entries().enumerate() {
                let mut sum = Complex::new(0i128, 0);
                for j in 0..m {
                    let place = if j < n { j } else { m - j };
                    if place < n {
                        let w = root(square(place, n) as usize, 2 * n);
                        sum += fixed_point::rotate(w.conj(), root(j * k % m, m));
                    }
                }
                let unit = 1i128 << (FRACTION_BITS as i32 - 62 + exponent);
                for (got, exact) in [(z.re, sum.re), (z.im, sum.im)] {
                    assert!((i128::from(got) * unit - exact).abs() <= unit / 2 + 4096);
                }
            }
        }
    }
}
