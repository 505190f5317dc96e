//! The spectrum of Bluestein's chirp: how large it is, in modulus and in a component.

use super::interval::Interval;
use crate::oracle::dft::dft;
use crate::oracle::roots::Roots;
use crate::oracle::spectrum::Direction;
use num_complex::Complex;

/// The largest modulus `K` and the largest component `c` of the transform, over all points of the convolution, of
/// `exp(πi j²/n)` for `|j| < n`, zero elsewhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChirpSpectrum {
    pub modulus: Interval,
    pub component: Interval,
}

impl ChirpSpectrum {
    pub fn new(length: usize, convolution: usize) -> Self {
        assert!(
            convolution >= 2 * length - 1,
            "a convolution of {convolution} points is too short for {length}"
        );
        let roots = Roots::new(2 * length);
        let mut line = vec![Complex::new(0.0, 0.0); convolution];
        let mut square = 0;
        for j in 0..length {
            let value = roots.get(square).conj().to_complex();
            line[j] = value;
            line[(convolution - j) % convolution] = value;
            square = (square + 2 * j + 1) % (2 * length);
        }
        let spectrum = dft(&line, Direction::Forward);
        let (mut modulus, mut component) = (0.0f64, 0.0f64);
        for value in &spectrum.values {
            // The prescaled values are far from overflow.
            let (re, im) = (value.re.to_f64().abs(), value.im.to_f64().abs());
            modulus = modulus.max(re * re + im * im);
            component = component.max(re.max(im));
        }
        let scale =
            |value| crate::oracle::spectrum::multiply_by_power_of_two(value, spectrum.exponent);
        let (modulus, component) = (scale(modulus.sqrt()), scale(component));
        // Every point of the chirp was rounded to a double, off by 2^-54 in each part and so by less than 2^-53; the
        // transform adds up at most all of these, and squares and roots a few parts in 2^53. Twice that is allowed for.
        let off = 2.0 * (2.0 * length as f64 + 8.0 * modulus) * 2f64.powi(-53);
        let near = |value: f64| Interval::between(value - off, value + off);
        Self {
            modulus: near(modulus),
            component: near(component),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spectrum_of_a_short_chirp_is_the_sum_of_the_definition() {
        for (length, convolution) in [(5usize, 9usize), (67, 144), (71, 150)] {
            let (mut modulus, mut component) = (0.0f64, 0.0f64);
            for k in 0..convolution {
                let mut sum = Complex::new(0.0, 0.0);
                for j in 0..2 * length - 1 {
                    let j = j as i64 - (length as i64 - 1);
                    let chirp = std::f64::consts::PI * (j * j) as f64 / length as f64;
                    let turn = (j * k as i64).rem_euclid(convolution as i64) as f64;
                    let angle = chirp - 2.0 * std::f64::consts::PI * turn / convolution as f64;
                    sum += Complex::new(angle.cos(), angle.sin());
                }
                modulus = modulus.max(sum.norm());
                component = component.max(sum.re.abs().max(sum.im.abs()));
            }
            let spectrum = ChirpSpectrum::new(length, convolution);
            for (own, exact) in [(spectrum.modulus, modulus), (spectrum.component, component)] {
                assert!((own.high / exact - 1.0).abs() < 1e-11, "{own:?}, {exact}");
                assert!(own.high - own.low < 1e-11);
            }
            // Two waves of √n each.
            assert!(modulus / (length as f64).sqrt() < 2.5);
        }
    }
}
