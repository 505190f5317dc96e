//! The spectrum of the conjugate chirp, a table of Bluestein's algorithm, computed once per plan in 96-bit fixed point.
//!
//! The table must be accurate at every single point, because one bad entry would meet whatever the data put there.
//! So it does not come from the transform it serves but from a plain mixed-radix FFT with some 30 bits to spare.

use crate::bluestein::square;
use crate::factor::prime_factors;
use crate::roots::{Fixed, cosine_sine};
use crate::twiddle::Twiddle;
use float_environment::DefaultEnvironment;
use num_complex::Complex;
use rayon::prelude::*;

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

/// `a·t / 2^96` for `|a| < 2^126` and `|t| <= 2^96`, within 2 units.
fn multiply(a: i128, t: i128) -> i128 {
    let (x, y) = (a.unsigned_abs(), t.unsigned_abs());
    let (x_high, x_low) = (x >> 64, x & u128::from(u64::MAX));
    let (y_high, y_low) = (y >> 64, y & u128::from(u64::MAX));
    let magnitude = ((x_high * y_high) << 32)
        + ((x_high * y_low) >> 32)
        + ((x_low * y_high) >> 32)
        + ((x_low * y_low) >> 96);
    let product = magnitude as i128;
    if (a < 0) == (t < 0) {
        product
    } else {
        -product
    }
}

fn rotate(z: Complex<i128>, t: Complex<i128>) -> Complex<i128> {
    Complex::new(
        multiply(z.re, t.re) - multiply(z.im, t.im),
        multiply(z.re, t.im) + multiply(z.im, t.re),
    )
}

/// `exp(-2πi p/q)` in units of 2^-96.
fn root(p: usize, q: usize) -> Complex<i128> {
    let (cosine, sine) = cosine_sine(p as u64, q as u64);
    Complex::new(cosine.units_of_96_bits(), -sine.units_of_96_bits())
}

/// Transforms `input[0], input[stride], …` into `output`; `roots` has the `roots.len()`-th roots of unity.
fn transform(
    input: &[Complex<i128>],
    stride: usize,
    output: &mut [Complex<i128>],
    factors: &[usize],
    roots: &[Complex<i128>],
) {
    let Some((&radix, rest)) = factors.split_first() else {
        output[0] = input[0];
        return;
    };
    let part = output.len() / radix;
    for (r, chunk) in output.chunks_exact_mut(part).enumerate() {
        transform(&input[r * stride..], stride * radix, chunk, rest, roots);
    }
    let step = roots.len() / output.len();
    let mut column = vec![Complex::new(0, 0); radix];
    for k in 0..part {
        for (r, value) in column.iter_mut().enumerate() {
            *value = rotate(output[r * part + k], roots[r * k * step]);
        }
        for q in 0..radix {
            output[q * part + k] = column
                .iter()
                .enumerate()
                .map(|(r, &value)| match (r * q) % radix * 2 {
                    0 => value,
                    half if half == radix => -value,
                    _ => rotate(value, roots[(r * q) % radix * part * step]),
                })
                .fold(Complex::new(0, 0), |sum, value| sum + value);
        }
    }
}

/// `DFT_m(conj w)` with `w_j = exp(-πi j²/n)` laid out cyclically, in units of 2^-96.
fn spectrum(n: usize, m: usize) -> Vec<Complex<i128>> {
    assert!(m < 1 << 30, "a convolution of {m} points is too long");
    let half: Vec<Complex<i128>> = (0..n)
        .into_par_iter()
        .map_init(DefaultEnvironment::enter, |_, j| {
            root(square(j, n) as usize, 2 * n).conj()
        })
        .collect();
    let mut chirp = vec![Complex::new(0, 0); m];
    for (j, &w) in half.iter().enumerate() {
        chirp[j] = w;
        chirp[(m - j) % m] = w;
    }
    let roots: Vec<_> = (0..m)
        .into_par_iter()
        .map_init(DefaultEnvironment::enter, |_, p| root(p, m))
        .collect();
    let mut spectrum = vec![Complex::new(0, 0); m];
    transform(&chirp, 1, &mut spectrum, &prime_factors(m), &roots);
    spectrum
}

/// `scale` times the spectrum, as a table and an exponent: values are `table / 2^62 · 2^exponent`.
pub(crate) fn chirp_spectrum(n: usize, m: usize, scale: &Fixed) -> (Vec<Twiddle>, i32) {
    let scale = Complex::new(scale.units_of_96_bits(), 0);
    let spectrum: Vec<_> = spectrum(n, m).iter().map(|&z| rotate(z, scale)).collect();
    let all_bits = spectrum.iter().fold(0, |bits, z| {
        bits | z.re.unsigned_abs() | z.im.unsigned_abs()
    });
    let bits = 128 - all_bits.leading_zeros();
    // The largest component ends just below 2^62.
    let round = |x: i128| round_shift(x, bits - 62) as i64;
    let table = spectrum
        .iter()
        .map(|z| Twiddle::new(round(z.re), round(z.im)))
        .collect();
    (table, bits as i32 - FRACTION_BITS as i32)
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

pub(crate) fn largest_of_chirp(n: usize, m: usize) -> ChirpSize {
    let unit = (-f64::from(FRACTION_BITS)).exp2();
    let zero = ChirpSize {
        modulus: 0.0,
        component: 0.0,
    };
    spectrum(n, m).iter().fold(zero, |size, z| {
        let (re, im) = (z.re as f64 * unit, z.im as f64 * unit);
        ChirpSize {
            modulus: size.modulus.max(re.hypot(im) * (1.0 + 1e-12)),
            component: size.component.max(re.abs()).max(im.abs()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spectrum_agrees_with_the_definition() {
        for (n, m) in [(3, 5), (3, 8), (7, 15), (11, 24), (13, 28)] {
            let (table, exponent) = chirp_spectrum(n, m, &Fixed::one());
            for (k, entry) in table.iter().enumerate() {
                let mut sum = Complex::new(0i128, 0);
                for j in 0..m {
                    let place = if j < n { j } else { m - j };
                    if place < n {
                        let w = root(square(place, n) as usize, 2 * n);
                        sum += rotate(Complex::new(w.re, -w.im), root(j * k % m, m));
                    }
                }
                let z = entry.components();
                let unit = 1i128 << (FRACTION_BITS as i32 - 62 + exponent);
                for (got, exact) in [(z.re, sum.re), (z.im, sum.im)] {
                    assert!((i128::from(got) * unit - exact).abs() <= unit / 2 + 4096);
                }
            }
        }
    }
}
