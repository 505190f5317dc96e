//! Measuring errors: test inputs by name, and a computed transform against the exact one.

use crate::arrays::{digest, from_half, half_shape, make_hermitian};
use crate::failure::Failure;
use num_complex::Complex;
use ozfft::{Direction, Kind, Norm, Plan, Problem};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::{Generator, uniform_complex, wide_range};
use ozfft_testkit::oracle::{
    ErrorNorms, ExactSpectrum, HardInput, Scale, compare_sampled, compare_scaled, dft_nd,
    dft_sampled, rounded_once,
};
use std::time::Instant;

/// Up to this many points every output is compared with the exact one; beyond, a sample of them.
pub const LARGEST_FULL: usize = 1 << 22;
/// Outputs in a sample.
pub const SAMPLES: usize = 256;

/// An input of the accuracy tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestInput {
    /// Uniform in the square [-1, 1]².
    Uniform,
    /// Binary exponents spread over so many bits.
    WideRange(u32),
    /// One of the inputs that break careless transforms.
    Hard(HardInput),
}

impl TestInput {
    /// The name that the option takes, and that tables show.
    pub fn name(self) -> String {
        match self {
            TestInput::Uniform => "uniform".into(),
            TestInput::WideRange(bits) => format!("range-bits:{bits}"),
            TestInput::Hard(input) => input.name().replace(' ', "-"),
        }
    }

    /// The inputs of a name: one, or all of them.
    pub fn by_name(name: &str) -> Result<Vec<TestInput>, Failure> {
        let hard = HardInput::ALL.map(TestInput::Hard);
        let all: Vec<TestInput> = std::iter::once(TestInput::Uniform).chain(hard).collect();
        if name == "all" {
            return Ok(all);
        }
        let wanted = name.replace(' ', "-");
        match all.iter().find(|input| input.name() == wanted) {
            Some(&input) => Ok(vec![input]),
            None => {
                let names: Vec<String> = all.iter().map(|input| input.name()).collect();
                Err(Failure::Usage(format!(
                    "there is no input named {name:?}; take one of all, {}",
                    names.join(", ")
                )))
            }
        }
    }

    fn generate(self, length: usize, seed: u64) -> Vec<Complex<f64>> {
        match self {
            TestInput::Uniform => uniform_complex(length, seed),
            TestInput::WideRange(bits) => wide_range(length, seed, bits),
            TestInput::Hard(input) => input.generate(length, seed),
        }
    }

    /// The values that a transform of this kind reads; real ones have no imaginary part.
    pub fn values(self, kind: Kind, shape: &[usize], seed: u64) -> Vec<Complex<f64>> {
        let count = |shape: &[usize]| shape.iter().product();
        match kind {
            Kind::ComplexToComplex => self.generate(count(shape), seed),
            Kind::RealToComplex => {
                let mut values = self.generate(count(shape), seed);
                values.iter_mut().for_each(|value| value.im = 0.0);
                values
            }
            Kind::ComplexToReal => {
                let mut half = self.generate(count(&half_shape(shape)), seed);
                make_hermitian(&mut half, shape);
                half
            }
        }
    }
}

/// What a transform gave, as complex values in C order, with the time it took.
pub struct Computed {
    pub values: Vec<Complex<f64>>,
    pub seconds: f64,
    pub sha256: String,
}

/// Runs a plan over contiguous arrays of its kind.
pub fn compute(plan: &Plan<f64>, input: &[Complex<f64>]) -> Result<Computed, Failure> {
    let problem = plan.problem();
    let zero = Complex::new(0.0, 0.0);
    let mut workspace = vec![0; plan.workspace_len()];
    match problem.kind() {
        Kind::ComplexToComplex => {
            let mut values = input.to_vec();
            let start = Instant::now();
            plan.process_with_workspace(&mut values, &mut workspace)?;
            let seconds = start.elapsed().as_secs_f64();
            let sha256 = digest(&values);
            Ok(Computed {
                values,
                seconds,
                sha256,
            })
        }
        Kind::RealToComplex => {
            let reals: Vec<f64> = input.iter().map(|value| value.re).collect();
            let mut values = vec![zero; problem.output_len()];
            let start = Instant::now();
            plan.process_real_to_complex_with_workspace(&reals, &mut values, &mut workspace)?;
            let seconds = start.elapsed().as_secs_f64();
            let sha256 = digest(&values);
            Ok(Computed {
                values,
                seconds,
                sha256,
            })
        }
        Kind::ComplexToReal => {
            let mut reals = vec![0.0; problem.output_len()];
            let start = Instant::now();
            plan.process_complex_to_real_with_workspace(input, &mut reals, &mut workspace)?;
            let seconds = start.elapsed().as_secs_f64();
            let sha256 = digest(&reals);
            let values = reals
                .iter()
                .map(|&value| Complex::new(value, 0.0))
                .collect();
            Ok(Computed {
                values,
                seconds,
                sha256,
            })
        }
    }
}

/// The exact transform of an input over all axes, whole or at sampled outputs.
pub struct Reference {
    kind: Kind,
    shape: Vec<usize>,
    scale: Scale,
    /// All values that enter: for complex-to-real the whole spectrum.
    whole_input: Vec<Complex<f64>>,
    /// Sampled positions, or none for all.
    samples: Option<Vec<usize>>,
    exact: ExactSpectrum,
}

impl Reference {
    /// Computes the reference: in full up to `largest_full` points, else at [`SAMPLES`] random outputs.
    pub fn new(
        kind: Kind,
        shape: &[usize],
        (direction, norm): (Direction, Norm),
        input: &[Complex<f64>],
        (seed, largest_full): (u64, usize),
    ) -> Reference {
        let points: usize = shape.iter().product();
        let whole_input = match kind {
            Kind::ComplexToReal => (0..points)
                .map(|flat| from_half(input, shape, flat))
                .collect(),
            _ => input.to_vec(),
        };
        let sign = match direction {
            Direction::Forward => oracle::Direction::Forward,
            Direction::Inverse => oracle::Direction::Inverse,
        };
        let (samples, exact) = if points <= largest_full {
            (None, dft_nd(&whole_input, shape, sign))
        } else {
            // Another stream than the input's, so that places and values are independent.
            let mut generator = Generator::new(!seed);
            let places: Vec<usize> = (0..SAMPLES).map(|_| generator.below(points)).collect();
            let exact = dft_sampled(&whole_input, shape, &places, sign);
            (Some(places), exact)
        };
        Reference {
            kind,
            shape: shape.to_vec(),
            scale: scale_of(norm, direction, points),
            whole_input,
            samples,
            exact,
        }
    }

    /// Whether the transform has no factor, as those of most libraries.
    pub fn is_unscaled(&self) -> bool {
        matches!(self.scale, Scale::One)
    }

    /// `full` or `sampled`.
    pub fn extent(&self) -> &'static str {
        match self.samples {
            None => "full",
            Some(_) => "sampled",
        }
    }

    /// Relative errors of what a transform gave. A half-spectrum counts as the whole one that it stands for.
    pub fn errors(&self, computed: &[Complex<f64>]) -> ErrorNorms {
        let value = |flat: usize| match self.kind {
            Kind::RealToComplex => from_half(computed, &self.shape, flat),
            _ => computed[flat],
        };
        match &self.samples {
            Some(places) => {
                let values: Vec<_> = places.iter().map(|&flat| value(flat)).collect();
                self.compare(&values)
            }
            None if self.kind == Kind::RealToComplex => {
                let values: Vec<_> = (0..self.whole_input.len()).map(value).collect();
                self.compare(&values)
            }
            None => self.compare(computed),
        }
    }

    /// The errors of the exact result rounded once: no double-precision result can have smaller ones.
    pub fn floor(&self) -> ErrorNorms {
        self.compare(&rounded_once(&self.exact.scaled(self.scale.factor())))
    }

    fn compare(&self, values: &[Complex<f64>]) -> ErrorNorms {
        match self.samples {
            Some(_) => compare_sampled(values, &self.exact, &self.whole_input, self.scale),
            None => compare_scaled(values, &self.exact, self.scale),
        }
    }
}

/// The factor of a norm, for the oracle, which never scales by itself.
pub fn scale_of(norm: Norm, direction: Direction, points: usize) -> Scale {
    match (norm, direction) {
        (Norm::Ortho, _) => Scale::OneOverSquareRoot(points),
        (Norm::Backward, Direction::Inverse) | (Norm::Forward, Direction::Forward) => {
            Scale::OneOverLength(points)
        }
        _ => Scale::One,
    }
}

/// A problem of this kind over all axes.
pub fn problem_of(kind: Kind, shape: &[usize], direction: Direction) -> Problem {
    match kind {
        Kind::ComplexToComplex => Problem::complex(shape).direction(direction),
        Kind::RealToComplex => Problem::real_to_complex(shape),
        Kind::ComplexToReal => Problem::complex_to_real(shape),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ozfft::{Engine, Planner};

    #[test]
    fn every_kind_is_measured_against_the_right_reference() -> Result<(), Failure> {
        let cases = [
            (Kind::ComplexToComplex, Direction::Forward),
            (Kind::ComplexToComplex, Direction::Inverse),
            (Kind::RealToComplex, Direction::Forward),
            (Kind::ComplexToReal, Direction::Inverse),
        ];
        for (kind, direction) in cases {
            for shape in [vec![30], vec![4, 6], vec![3, 5, 7]] {
                let problem = problem_of(kind, &shape, direction).engine(Engine::Digits);
                let plan = Planner::<f64>::new().plan(&problem)?;
                let input = TestInput::Uniform.values(kind, &shape, 5);
                let computed = compute(&plan, &input)?;
                for largest_full in [LARGEST_FULL, 1] {
                    let signs = (direction, Norm::Backward);
                    let reference = Reference::new(kind, &shape, signs, &input, (5, largest_full));
                    let errors = reference.errors(&computed.values);
                    assert!(errors.l2 <= plan.bound(), "{kind} {shape:?} {errors}");
                    assert!(reference.floor().l2 <= 1.2 * errors.l2, "{kind} {shape:?}");
                }
            }
        }
        Ok(())
    }
}
