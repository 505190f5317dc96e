//! Identities that every Fourier transform has, checked without any reference transform (Ergün's checks): linearity,
//! impulses, shifts in time and in frequency, and the round trip. Tolerances follow from the plan's own bound.

use num_complex::Complex;
use ozfft::{Direction, Engine, Plan, Planner, Problem, Products};
use ozfft_measure::arrays::{ravel, unravel};
use ozfft_measure::failure::Failure;
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::problems::{Source, seed_of_case};

type Field = Vec<Complex<f64>>;

/// Checks one random shape; returns the number of identities, or says which one fails.
pub fn check(seed: u64, number: usize, engine: Engine) -> Result<usize, Failure> {
    let mut generator = Generator::new(seed_of_case(seed, number as u64));
    let shape = shape(&mut generator);
    let products = generator.pick(&[Products::Truncated, Products::Exact]);
    // Whole products are digits'.
    let products = match engine {
        Engine::Digits => products,
        _ => Products::Truncated,
    };
    let problem = Problem::complex(&shape).engine(engine).products(products);
    let planner = Planner::new();
    let forward = planner.plan(&problem)?;
    let backward = planner.plan(&problem.direction(Direction::Inverse))?;
    let axis = generator.below(shape.len());
    let values = grid(&mut generator, shape.iter().product());
    let spectrum = transformed(&forward, &values)?;
    let one = Identity {
        shape: &shape,
        axis,
        plan: &forward,
        values: &values,
        spectrum: &spectrum,
    };
    let checks = [
        ("linearity", one.linearity(&mut generator)?),
        ("impulse", one.impulse(&mut generator)?),
        ("time shift", one.time_shift()?),
        ("frequency shift", one.frequency_shift()?),
        ("round trip", one.round_trip(&backward)?),
    ];
    for (name, (error, tolerance)) in checks {
        if error.is_nan() || error > tolerance {
            return Err(Failure::Check(format!(
                "{name} of shape {shape:?} ({products:?}) along axis {axis} is off by {error:e}, more than {tolerance:e} \
                 (seed {seed}, identity {number})"
            )));
        }
    }
    Ok(checks.len())
}

fn shape(generator: &mut Generator) -> Vec<usize> {
    match generator.below(4) {
        0 => vec![1 << generator.below(13)],
        1 => vec![1 + generator.below(3000)],
        2 => vec![1 + generator.below(50), 1 + generator.below(50)],
        _ => (0..3).map(|_| 1 + generator.below(14)).collect(),
    }
}

/// Values of 30 bits: small integer combinations of them are exact.
fn grid(generator: &mut Generator, count: usize) -> Field {
    let mut value = || (generator.uniform() * 2f64.powi(30)).round();
    (0..count).map(|_| Complex::new(value(), value())).collect()
}

fn transformed(plan: &Plan<f64>, values: &[Complex<f64>]) -> Result<Field, Failure> {
    let mut result = values.to_vec();
    plan.process(&mut result)?;
    Ok(result)
}

fn norm(values: impl IntoIterator<Item = Complex<f64>>) -> f64 {
    values
        .into_iter()
        .map(|value| value.norm_sqr())
        .sum::<f64>()
        .sqrt()
}

fn distance(left: &[Complex<f64>], right: &[Complex<f64>]) -> f64 {
    norm(left.iter().zip(right).map(|(left, right)| left - right))
}

/// `exp(-2 pi i k / n)`, with the angle brought below an eighth of a turn so that it is good to an epsilon.
fn root(k: usize, n: usize) -> Complex<f64> {
    let eighths = 8 * (k % n);
    let octant = eighths / n;
    // Even octants count up from their beginning, odd ones down to their end.
    let rest = if octant.is_multiple_of(2) {
        eighths % n
    } else {
        n - eighths % n
    };
    let (sine, cosine) = (std::f64::consts::FRAC_PI_4 * rest as f64 / n as f64).sin_cos();
    let (cosine, sine) = match octant {
        0 => (cosine, sine),
        1 => (sine, cosine),
        2 => (-sine, cosine),
        3 => (-cosine, sine),
        4 => (-cosine, -sine),
        5 => (-sine, -cosine),
        6 => (sine, -cosine),
        _ => (cosine, -sine),
    };
    Complex::new(cosine, -sine)
}

/// A field and its spectrum, to which every identity adds a second transform. All return error and tolerance.
struct Identity<'a> {
    shape: &'a [usize],
    axis: usize,
    plan: &'a Plan<f64>,
    values: &'a [Complex<f64>],
    spectrum: &'a [Complex<f64>],
}

impl Identity<'_> {
    /// Transforms may be off by the bound each, and the arithmetic of the comparison by some roundings.
    fn tolerance(&self, norms: f64) -> f64 {
        (self.plan.bound() + 4.0 * f64::EPSILON) * norms
    }

    fn linearity(&self, generator: &mut Generator) -> Result<(f64, f64), Failure> {
        let other = grid(generator, self.values.len());
        let other_spectrum = transformed(self.plan, &other)?;
        let combine = |left: &[Complex<f64>], right: &[Complex<f64>]| -> Field {
            left.iter()
                .zip(right)
                .map(|(left, right)| left * 3.0 - right * 5.0)
                .collect()
        };
        let together = transformed(self.plan, &combine(self.values, &other))?;
        let expected = combine(self.spectrum, &other_spectrum);
        let norms = 3.0 * norm(self.spectrum.iter().copied())
            + 5.0 * norm(other_spectrum)
            + norm(together.iter().copied());
        Ok((distance(&together, &expected), self.tolerance(norms)))
    }

    /// An impulse at 0 has a constant spectrum; added to the field it must show as just that.
    fn impulse(&self, generator: &mut Generator) -> Result<(f64, f64), Failure> {
        let height = (1 + generator.below(1 << 30)) as f64;
        let mut raised = self.values.to_vec();
        raised[0] += height;
        let found = transformed(self.plan, &raised)?;
        let expected: Field = self.spectrum.iter().map(|value| value + height).collect();
        let norms = norm(self.spectrum.iter().copied()) + norm(found.iter().copied());
        Ok((distance(&found, &expected), self.tolerance(norms)))
    }

    fn shifted(&self, values: &[Complex<f64>], back: bool) -> Field {
        let length = self.shape[self.axis];
        (0..values.len())
            .map(|flat| {
                let mut indices = unravel(flat, self.shape);
                let step = if back { 1 } else { length - 1 };
                indices[self.axis] = (indices[self.axis] + step) % length;
                values[ravel(&indices, self.shape)]
            })
            .collect()
    }

    fn rotated(&self, values: &[Complex<f64>]) -> Field {
        let length = self.shape[self.axis];
        let rotate = |(flat, value): (usize, &Complex<f64>)| {
            value * root(unravel(flat, self.shape)[self.axis], length)
        };
        values.iter().enumerate().map(rotate).collect()
    }

    /// One step later in time is a rotation in frequency.
    fn time_shift(&self) -> Result<(f64, f64), Failure> {
        let found = transformed(self.plan, &self.shifted(self.values, false))?;
        let norms = 2.0 * norm(found.iter().copied());
        Ok((
            distance(&found, &self.rotated(self.spectrum)),
            self.tolerance(norms),
        ))
    }

    /// A rotation in time is one step in frequency.
    fn frequency_shift(&self) -> Result<(f64, f64), Failure> {
        let found = transformed(self.plan, &self.rotated(self.values))?;
        let norms = 2.0 * norm(found.iter().copied());
        Ok((
            distance(&found, &self.shifted(self.spectrum, true)),
            self.tolerance(norms),
        ))
    }

    fn round_trip(&self, backward: &Plan<f64>) -> Result<(f64, f64), Failure> {
        let found = transformed(backward, self.spectrum)?;
        let bounds = self.plan.bound() + backward.bound();
        Ok((
            distance(&found, self.values),
            (bounds + f64::EPSILON) * norm(self.values.iter().copied()),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_agree_with_the_correctly_rounded_ones() {
        for n in [1, 2, 3, 7, 8, 12, 1009] {
            for k in 0..n {
                let exact = ozfft_testkit::oracle::root_of_unity(k, n).to_complex();
                assert!((root(k, n) - exact).norm() < 4e-16, "{k} of {n}");
            }
        }
    }
}
