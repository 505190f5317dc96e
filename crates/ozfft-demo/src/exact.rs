//! A few outputs of a cubic transform from its definition, in double-double arithmetic (about 106 bits). It shares no code with the
//! library, nor with the oracle of the tests.

use ozfft::Complex;
use std::f64::consts::TAU;

/// What 2π is beyond its nearest double.
const TAU_REMAINDER: f64 = 2.449_293_598_294_706_4e-16;

/// The sum of two doubles, the second one at most half a unit in the last place of the first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DoubleDouble {
    pub(crate) high: f64,
    pub(crate) low: f64,
}

impl DoubleDouble {
    /// Dekker's sum, for numbers of which the first is the larger.
    fn renormalised(high: f64, low: f64) -> Self {
        let sum = high + low;
        DoubleDouble {
            high: sum,
            low: low - (sum - high),
        }
    }

    /// Knuth's sum, with the low parts added to its error.
    fn plus(self, other: Self) -> Self {
        let sum = self.high + other.high;
        let part = sum - self.high;
        let error = (self.high - (sum - part)) + (other.high - part);
        Self::renormalised(sum, error + (self.low + other.low))
    }

    fn minus(self, other: Self) -> Self {
        self.plus(DoubleDouble {
            high: -other.high,
            low: -other.low,
        })
    }

    fn times(self, other: Self) -> Self {
        let product = self.high * other.high;
        let error = self.high.mul_add(other.high, -product);
        Self::renormalised(
            product,
            error + (self.high * other.low + self.low * other.high),
        )
    }

    fn over(self, divisor: f64) -> Self {
        let quotient = self.high / divisor;
        let remainder = (-quotient).mul_add(divisor, self.high) + self.low;
        Self::renormalised(quotient, remainder / divisor)
    }
}

impl From<f64> for DoubleDouble {
    fn from(high: f64) -> Self {
        DoubleDouble { high, low: 0.0 }
    }
}

/// A complex number in double-double arithmetic.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exact {
    pub(crate) re: DoubleDouble,
    pub(crate) im: DoubleDouble,
}

impl Exact {
    /// `self + a · b`
    fn plus_product(self, a: Exact, b: Exact) -> Exact {
        Exact {
            re: self.re.plus(a.re.times(b.re)).minus(a.im.times(b.im)),
            im: self.im.plus(a.re.times(b.im)).plus(a.im.times(b.re)),
        }
    }
}

impl From<Complex<f64>> for Exact {
    fn from(value: Complex<f64>) -> Self {
        Exact {
            re: value.re.into(),
            im: value.im.into(),
        }
    }
}

/// `exp(-2πi · exponent / order)` by Taylor's series at an angle of at most half a turn.
fn root(exponent: usize, order: usize) -> Exact {
    let (numerator, order) = ((exponent % order) as i64, order as i64);
    let nearest = match 2 * numerator > order {
        true => numerator - order,
        false => numerator,
    };
    let tau = DoubleDouble {
        high: TAU,
        low: TAU_REMAINDER,
    };
    let angle = tau
        .times(DoubleDouble::from(nearest as f64))
        .over(order as f64);
    let mut term = DoubleDouble::from(1.0);
    let mut cosine = term;
    let mut sine = DoubleDouble::default();
    // Beyond these, terms of π are below 1e-33.
    for power in 1..48 {
        term = term.times(angle).over(f64::from(power));
        match power % 4 {
            0 => cosine = cosine.plus(term),
            1 => sine = sine.plus(term),
            2 => cosine = cosine.minus(term),
            _ => sine = sine.minus(term),
        }
    }
    Exact {
        re: cosine,
        im: DoubleDouble::default().minus(sine),
    }
}

/// Sums over the innermost axis, all of them for one frequency and then those for the next: so the next axis is the innermost one.
fn contracted<V: Copy + Into<Exact>>(
    values: &[V],
    frequencies: &[usize],
    roots: &[Exact],
) -> Vec<Exact> {
    let size = roots.len();
    let mut sums = Vec::with_capacity(values.len() / size * frequencies.len());
    for &frequency in frequencies {
        let weights: Vec<Exact> = (0..size).map(|j| roots[j * frequency % size]).collect();
        for line in values.chunks_exact(size) {
            let mut sum = Exact::default();
            for (&value, &weight) in line.iter().zip(&weights) {
                sum = sum.plus_product(value.into(), weight);
            }
            sums.push(sum);
        }
    }
    sums
}

/// The outputs of the forward transform of a cube at all triples of some frequencies along the first, the second and the third axis, in
/// C order.
pub(crate) fn outputs(
    field: &[Complex<f64>],
    size: usize,
    frequencies: &[Vec<usize>; 3],
) -> Vec<Exact> {
    let roots: Vec<Exact> = (0..size).map(|exponent| root(exponent, size)).collect();
    let [first, second, third] = frequencies;
    let planes = contracted(field, third, &roots);
    let lines = contracted(&planes, second, &roots);
    contracted(&lines, first, &roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_right_far_beyond_doubles() {
        // A quarter turn, an eighth, and a sixth, whose parts are known.
        let expected = [
            (1, 4, 0.0, -1.0),
            (1, 6, 0.5, -0.75f64.sqrt()),
            (7, 8, 0.5f64.sqrt(), 0.5f64.sqrt()),
        ];
        for (exponent, order, re, im) in expected {
            let root = root(exponent, order);
            assert!(
                (root.re.high - re).abs() < 2e-16,
                "{exponent}/{order}: {root:?}"
            );
            assert!(
                (root.im.high - im).abs() < 2e-16,
                "{exponent}/{order}: {root:?}"
            );
        }
        for exponent in 0..1000 {
            let Exact { re, im } = root(exponent, 1000);
            let one = re.times(re).plus(im.times(im));
            assert!(
                (one.high - 1.0 + one.low).abs() < 1e-30,
                "{exponent}: {one:?}"
            );
        }
    }
}
