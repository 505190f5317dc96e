//! The spectrum of the conjugate chirp, a table of Bluestein's algorithm, computed once per plan in 96-bit fixed point.
//!
//! The table must be accurate at every single point, because one bad entry would meet whatever the data put there.
//! So it does not come from the transform it serves but from a plain mixed-radix FFT with some 30 bits to spare.

use crate::factor::prime_factors;
use crate::recipe::LONGEST_CONVOLUTION;
use crate::root_table::RootTable;
use crate::roots::Fixed;
use crate::twiddle::TwiddleTable;
use num_complex::Complex;
use rayon::prelude::*;

/// Shorter loops are not divided among threads.
const LEAST_PARALLEL: usize = 1 << 12;

/// `x / 2^bits`, rounded to nearest, halves upwards.
fn round_shift(x: i128, bits: u32) -> i128 {
    if bits == 0 {
        x
    } else {
        (x + (1 << (bits - 1))) >> bits
    }
}

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

#[inline]
fn rotate(z: Complex<i128>, t: Complex<i128>) -> Complex<i128> {
    Complex::new(
        multiply(z.re, t.re) - multiply(z.im, t.im),
        multiply(z.re, t.im) + multiply(z.im, t.re),
    )
}

/// The butterflies that put `radix` transforms of `part` points together.
struct Level {
    radix: usize,
    part: usize,
    /// Rotations before them: of transform 1, of transform 2 and so on.
    rotations: Vec<Complex<i128>>,
    /// The powers of their own root.
    powers: Vec<Complex<i128>>,
}

/// The levels of a transform of `m` points, the outermost first.
fn levels(m: usize) -> Vec<Level> {
    let roots = RootTable::new(m as u64);
    let root = |p: usize| roots.units_of_96_bits(p as u64).conj();
    let mut length = m;
    let level = |radix: usize| {
        let (part, step) = (length / radix, m / length);
        length = part;
        let rotations = (0..(radix - 1) * part).into_par_iter();
        Level {
            radix,
            part,
            rotations: rotations
                .with_min_len(LEAST_PARALLEL)
                .map(|place| root((place / part + 1) * (place % part) * step))
                .collect(),
            powers: (0..radix).map(|p| root(p * part * step)).collect(),
        }
    };
    prime_factors(m).into_iter().map(level).collect()
}

impl Level {
    /// The `radix` outputs of numbers that are rotated already.
    fn butterfly(&self, column: &[Complex<i128>], mut write: impl FnMut(usize, Complex<i128>)) {
        for q in 0..self.radix {
            let rotated =
                column
                    .iter()
                    .enumerate()
                    .map(|(r, &value)| match (r * q) % self.radix * 2 {
                        0 => value,
                        half if half == self.radix => -value,
                        double => rotate(value, self.powers[double / 2]),
                    });
            write(
                q,
                rotated.fold(Complex::new(0, 0), |sum, value| sum + value),
            );
        }
    }

    /// Puts transforms of `part` points, one behind the other, together.
    fn combine(&self, values: &mut [Complex<i128>]) {
        if self.radix == 2 {
            let (low, high) = values.split_at_mut(self.part);
            let pairs = low.par_iter_mut().zip(high).zip(&self.rotations);
            return pairs
                .with_min_len(LEAST_PARALLEL)
                .for_each(|((low, high), &root)| {
                    let rotated = rotate(*high, root);
                    (*low, *high) = (*low + rotated, *low - rotated);
                });
        }
        let mut column = vec![Complex::new(0, 0); self.radix];
        for k in 0..self.part {
            column[0] = values[k];
            for (r, value) in column.iter_mut().enumerate().skip(1) {
                let place = r * self.part + k;
                *value = rotate(values[place], self.rotations[place - self.part]);
            }
            self.butterfly(&column, |q, value| values[q * self.part + k] = value);
        }
    }
}

/// Transforms `input[0], input[stride], …` into `output`.
fn transform(
    input: &[Complex<i128>],
    stride: usize,
    output: &mut [Complex<i128>],
    levels: &[Level],
) {
    let Some((level, rest)) = levels.split_first() else {
        output[0] = input[0];
        return;
    };
    if level.part == 1 {
        if level.radix == 2 {
            let (low, high) = (input[0], input[stride]);
            (output[0], output[1]) = (low + high, low - high);
            return;
        }
        let column: Vec<_> = (0..level.radix).map(|r| input[r * stride]).collect();
        return level.butterfly(&column, |q, value| output[q] = value);
    }
    let part = |(r, chunk): (usize, &mut [Complex<i128>])| {
        transform(&input[r * stride..], stride * level.radix, chunk, rest);
    };
    if output.len() < LEAST_PARALLEL {
        output
            .chunks_exact_mut(level.part)
            .enumerate()
            .for_each(part);
    } else {
        let chunks = output.par_chunks_exact_mut(level.part);
        chunks.enumerate().for_each(part);
    }
    level.combine(output);
}

/// `DFT_m(conj w)` with `w_j = exp(-πi j²/n)` laid out cyclically, in units of 2^-96.
#[derive(Debug)]
pub(crate) struct ChirpSpectrum {
    values: Vec<Complex<i128>>,
}

impl ChirpSpectrum {
    pub(crate) fn new(n: usize, m: usize) -> Self {
        assert!(
            (m as u128) < LONGEST_CONVOLUTION,
            "a convolution of {m} points is too long"
        );
        let roots = RootTable::new(2 * n as u64);
        let mut chirp = vec![Complex::new(0, 0); m];
        for (j, square) in squares(n).enumerate() {
            let w = roots.units_of_96_bits(square);
            chirp[j] = w;
            chirp[(m - j) % m] = w;
        }
        let mut values = vec![Complex::new(0, 0); m];
        transform(&chirp, 1, &mut values, &levels(m));
        ChirpSpectrum { values }
    }

    /// `scale` times the spectrum, as a table and an exponent: values are `table / 2^62 · 2^exponent`.
    pub(crate) fn table(mut self, scale: &Fixed) -> (TwiddleTable, i32) {
        let scale = scale.units(FRACTION_BITS);
        let bits_of = |z: &mut Complex<i128>| {
            *z = Complex::new(multiply(z.re, scale), multiply(z.im, scale));
            z.re.unsigned_abs() | z.im.unsigned_abs()
        };
        let values = self.values.par_iter_mut().with_min_len(LEAST_PARALLEL);
        let all_bits = values.map(bits_of).reduce(|| 0, |a, b| a | b);
        let bits = 128 - all_bits.leading_zeros();
        // The largest component ends just below 2^62.
        let round = |x: i128| round_shift(x, bits - 62) as i64;
        let table = self.values.iter();
        let table = table.map(|z| Complex::new(round(z.re), round(z.im)));
        (table.collect(), bits as i32 - FRACTION_BITS as i32)
    }

    pub(crate) fn size(&self) -> ChirpSize {
        let unit = (-f64::from(FRACTION_BITS)).exp2();
        let zero = ChirpSize {
            modulus: 0.0,
            component: 0.0,
        };
        self.values.iter().fold(zero, |size, z| {
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

/// `j²` modulo `2n` for `j` from 0 to `n - 1`.
pub(crate) fn squares(n: usize) -> impl Iterator<Item = u64> {
    let period = 2 * n as u64;
    (0..n as u64).scan(0, move |square, j| {
        let found = *square;
        // The next one is 2j + 1 more, which is less than a period.
        let next = found + 2 * j + 1;
        *square = if next < period { next } else { next - period };
        Some(found)
    })
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
    /// What stands for 1 in the table of a line with the norm's mantissa `scale` and a convolution of `m` points, over the
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
    use crate::bluestein::square;
    use crate::roots::cosine_sine;

    /// `exp(-2πi p/q)` in units of 2^-96.
    fn root(p: usize, q: usize) -> Complex<i128> {
        let (cosine, sine) = cosine_sine(p as u64, q as u64);
        Complex::new(cosine.units(96), -sine.units(96))
    }

    #[test]
    fn squares_are_those_of_the_definition() {
        for n in [1, 2, 3, 67, 134, 1009] {
            let found: Vec<u64> = squares(n).collect();
            let expected: Vec<u64> = (0..n).map(|j| square(j, n)).collect();
            assert_eq!(found, expected);
        }
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
                        sum += rotate(Complex::new(w.re, -w.im), root(j * k % m, m));
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
