//! Words to double-double numbers: the last rounding.
//!
//! Words are first rounded to a multiple of [`GRID`] units: what is below is nothing but rounding errors, and exact zeros and
//! ones come out as such. Then a double-double number keeps 53 bits in `high` and 53 more in `low`, wherever these begin: at most 2^-106 of
//! the number is lost.

use super::double_double::{DoubleDouble, fast_two_sum};
use super::quantise::{MAGIC, power_of_two};
use super::words::{LANES, Limbs, Point};
use crate::matrix_unit::Task;
use crate::stages::numbers::Placement;
use crate::stages::quantise::LineProperties;
use crate::workspace::SharedArray;
use num_complex::Complex;

/// Results are multiples of this many units of the line's words.
pub(super) const GRID: i64 = 64;

/// A word as high and low part.
#[inline(always)]
fn parts(word: Limbs) -> (f64, f64) {
    let [l0, l1, l2, l3] = word.map(i64::from);
    let upper = (i64::from(l3 as i32) << 12) | (l2 >> 20);
    let middle = ((l2 & 0xf_ffff) << 22) | (l1 >> 10);
    let lower = (((l1 & 0x3ff) << 32 | l0) + GRID / 2) & -GRID;
    let float = |integer: i64| {
        f64::from_bits((MAGIC.to_bits() as i64).wrapping_add(integer) as u64) - MAGIC
    };
    let upper = float(upper) * 19_342_813_113_834_066_795_298_816.0; // 2^84
    let middle = float(middle) * 4_398_046_511_104.0; // 2^42
    let (below, lowest) = fast_two_sum(middle, float(lower));
    let (high, low) = fast_two_sum(upper, below);
    fast_two_sum(high, low + lowest)
}

/// Where a line's results go.
#[derive(Clone, Copy)]
pub(super) enum Target<'a> {
    Complex(SharedArray<'a, Complex<DoubleDouble>>),
    Real(SharedArray<'a, DoubleDouble>),
}

/// A line to be written.
#[derive(Clone, Copy)]
pub(super) struct OutputLine<'a> {
    pub(super) target: Target<'a>,
    pub(super) place: Placement,
    pub(super) conjugate: bool,
    /// Length of the transform.
    pub(super) n: usize,
    pub(super) properties: LineProperties,
}

impl OutputLine<'_> {
    /// Writes output `k`: real part and imaginary part, high and low.
    #[inline(always)]
    pub(super) fn set(&self, k: usize, [re_high, re_low, im_high, im_low]: [f64; 4]) {
        let mut re = DoubleDouble {
            high: re_high,
            low: re_low,
        };
        let mut im = DoubleDouble {
            high: im_high,
            low: im_low,
        };
        // The first and the middle output of a real line are real, those of an imaginary one imaginary.
        if k == 0 || 2 * k == self.n {
            if !self.properties.has_imaginary {
                im = DoubleDouble::ZERO;
            }
            if !self.properties.has_real {
                re = DoubleDouble::ZERO;
            }
        }
        if self.conjugate {
            // Without this a zero would get a sign.
            im = DoubleDouble {
                high: 0.0 - im.high,
                low: 0.0 - im.low,
            };
        }
        // Last, so that nothing changes its sign.
        if self.properties.not_finite {
            (re, im) = (DoubleDouble::NAN, DoubleDouble::NAN);
        }
        // SAFETY: every line is written by one thread, which has read all of it.
        unsafe {
            match self.target {
                Target::Complex(array) => array.set(self.place.at(k), Complex::new(re, im)),
                Target::Real(array) => array.set(self.place.at(k), re),
            }
        }
    }
}

/// Converts `count` points of eight lanes. `place` says where output `k` lies in the panel, `set` takes it.
pub(super) struct Convert<'a, P, S> {
    pub(super) count: usize,
    pub(super) exponents: [i32; LANES],
    pub(super) panel: &'a [Point],
    pub(super) place: P,
    pub(super) set: S,
}

impl<P, S> Task for Convert<'_, P, S>
where
    P: Fn(usize) -> usize,
    S: FnMut(usize, usize, [f64; 4]),
{
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        // In two factors: a result may be in range where 2^exponent is not. The second one rounds subnormal numbers.
        let mut scales = [[0.0; LANES]; 2];
        for lane in 0..LANES {
            let exponent = self.exponents[lane].clamp(-2000, 2000);
            scales[0][lane] = power_of_two(exponent / 2);
            scales[1][lane] = power_of_two(exponent - exponent / 2);
        }
        for k in 0..self.count {
            let point = &self.panel[(self.place)(k)];
            let mut floats = [[0.0; LANES]; 4];
            for part in 0..2 {
                for lane in 0..LANES {
                    let (high, low) = parts(point.get(part * LANES + lane));
                    let scaled = |x: f64| x * scales[0][lane] * scales[1][lane] + 0.0;
                    let (high, low) = (scaled(high), scaled(low));
                    floats[2 * part][lane] = high;
                    floats[2 * part + 1][lane] = if high.is_infinite() { 0.0 } else { low };
                }
            }
            for lane in 0..LANES {
                (self.set)(k, lane, std::array::from_fn(|part| floats[part][lane]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::to_limbs;
    use super::*;

    #[test]
    fn pairs_are_the_words_on_the_grid_rounded_twice() {
        let mut state = 99u128;
        for turn in 0..20_000 {
            state = state
                .wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645)
                .wrapping_add(1);
            let word = match turn % 4 {
                // Long runs of equal bits are where roundings carry and cancel.
                0 => (state as i128) >> (2 + turn % 120),
                1 => (1 << (turn % 125)) - (1 << (turn / 125 % 100)),
                2 => (1 << (turn % 125)) + (1 << (turn / 125 % 100)) - 1,
                _ => {
                    -(1 << (turn % 125))
                        + ((state >> 3) as i128 >> (turn % 110)).abs().min(1 << 124) / 2
                }
            };
            let on_grid = (word + 32) & !63;
            let (high, low) = parts(to_limbs(word));
            // Integers below 2^53 times a power of two: both parts are integers themselves.
            let integer = |x: f64| x as i128;
            assert_eq!(high, high + low, "{word}");
            let lost = on_grid - integer(high) - integer(low);
            let allowed = 2f64.powi(-106) * (on_grid as f64).abs();
            assert!(
                lost as f64 <= allowed && -lost as f64 <= allowed,
                "{word}: {lost}"
            );
        }
    }
}
