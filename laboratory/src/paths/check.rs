//! Whether a path computes what it should, on some lines: bits against the processor, errors against the oracle.

use crate::failure::Failure;
use num_complex::Complex;
use ozfft::{Device, Direction, Engine, Plan, Planner, Problem, Products, Substrate};
use ozfft_measure::gpu::{CuFft, Gpu, Precision, Run};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::uniform_complex;
use ozfft_testkit::oracle::{ExactSpectrum, compare, dft_axes};

/// What was found.
#[derive(Debug, Clone, Copy)]
pub struct Checked {
    /// Relative L2 error of the lines.
    pub l2: f64,
    /// What the plan promises for them; nothing for cuFFT.
    pub bound: Option<f64>,
    /// Outputs whose bits differ from the processor's; nothing where they may.
    pub differing: Option<usize>,
}

impl Checked {
    /// The worst that a check finds of lines of several lengths; nothing if they are not to be checked.
    pub fn worst(
        wanted: bool,
        samples: &[Sample],
        check: impl Fn(&Sample) -> Result<Checked, Failure>,
    ) -> Result<Option<Checked>, Failure> {
        let mut worst: Option<Checked> = None;
        for sample in samples.iter().filter(|_| wanted) {
            let found = check(sample)?;
            worst = Some(worst.map_or(found, |before| before.and(found)));
        }
        Ok(worst)
    }

    /// Of both, the larger error with the bound that it is closer to, and all differences.
    fn and(self, other: Checked) -> Checked {
        let share = |checked: &Checked| checked.bound.map_or(checked.l2, |b| checked.l2 / b);
        let worse = match share(&other) > share(&self) {
            true => other,
            false => self,
        };
        let differing = match (self.differing, other.differing) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        Checked { differing, ..worse }
    }
}

/// Lines side by side and lines one after the other, of the same numbers.
pub struct Sample {
    input: Vec<Complex<f64>>,
    lines: usize,
    /// Of a line.
    points: usize,
    exact: ExactSpectrum,
}

type Apply = fn(Problem) -> Problem;

impl Sample {
    pub fn new(lines: usize, points: usize, seed: u64) -> Sample {
        let input = uniform_complex(lines * points, seed);
        let exact = dft_axes(&input, &[lines, points], &[1], oracle::Direction::Forward);
        Sample {
            input,
            lines,
            points,
            exact,
        }
    }

    fn contiguous(&self) -> Problem {
        Problem::complex(&[self.lines, self.points]).axes(&[1])
    }

    fn strided(&self) -> Problem {
        Problem::complex(&[self.points, self.lines]).axes(&[0])
    }

    fn transformed(&self, plan: &Plan<f64>) -> Result<Vec<Complex<f64>>, Failure> {
        let mut output = vec![Complex::new(0.0, 0.0); self.input.len()];
        plan.process_outofplace(&self.input, &mut output)?;
        Ok(output)
    }

    /// A problem of the library.
    pub fn check(
        &self,
        planner: &Planner<f64>,
        apply: Apply,
        exact: bool,
        device: Device,
    ) -> Result<Checked, Failure> {
        let plan = |problem: Problem| planner.plan(&apply(problem.device(device)));
        let contiguous = plan(self.contiguous())?;
        let strided = plan(self.strided())?;
        let products = match contiguous.engine() {
            Engine::Residues => Products::Exact,
            _ => contiguous
                .recipe()
                .map_or(Products::Exact, |recipe| recipe.products),
        };
        let products = exact.then_some(products);
        self.compared(planner, products, (&contiguous, &strided))
    }

    /// Something to be measured.
    pub fn check_variant(
        &self,
        planner: &Planner<f64>,
        run: Run,
        device: Device,
    ) -> Result<Checked, Failure> {
        let plan = |problem: Problem| run.plan(planner, problem.device(device));
        let (contiguous, strided) = (plan(self.contiguous())?, plan(self.strided())?);
        self.compared(planner, Some(Products::Exact), (&contiguous, &strided))
    }

    fn compared(
        &self,
        planner: &Planner<f64>,
        products: Option<Products>,
        (contiguous, strided): (&Plan<f64>, &Plan<f64>),
    ) -> Result<Checked, Failure> {
        let (beside, across) = (self.transformed(contiguous)?, self.transformed(strided)?);
        let differing = match products {
            None => None,
            Some(products) => {
                let mut count = 0;
                for (problem, got) in [(self.contiguous(), &beside), (self.strided(), &across)] {
                    let digits = problem.engine(Engine::Digits).products(products);
                    let expected = planner.plan(&digits.substrate(Substrate::Auto))?;
                    let bits = |z: &Complex<f64>| (z.re.to_bits(), z.im.to_bits());
                    let expected = self.transformed(&expected)?;
                    let pairs = expected.iter().zip(got);
                    count += pairs.filter(|(a, b)| bits(a) != bits(b)).count();
                }
                Some(count)
            }
        };
        Ok(Checked {
            l2: compare(&beside, &self.exact).l2,
            bound: Some(contiguous.bound()),
            differing,
        })
    }

    /// cuFFT, on the lines one after the other.
    pub fn check_cufft(&self, gpu: &Gpu) -> Result<Checked, Failure> {
        let line = Problem::complex(&[self.points]);
        let batch = (Direction::Forward, self.lines);
        let plan = CuFft::plan(gpu, &line, batch, Precision::Double)?;
        let mut arrays = gpu.arrays_for(&[&plan])?;
        arrays.input.upload(0, &self.input)?;
        gpu.run(&plan, &mut arrays, 1)?;
        let mut output = vec![Complex::new(0.0, 0.0); self.input.len()];
        arrays.output.download(0, &mut output)?;
        Ok(Checked {
            l2: compare(&output, &self.exact).l2,
            bound: None,
            differing: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_several_lengths_is_what_counts() {
        let samples = [Sample::new(1, 8, 1), Sample::new(1, 16, 1)];
        let check = |sample: &Sample| {
            Ok(Checked {
                l2: if sample.points == 8 { 2e-16 } else { 3e-16 },
                bound: Some(if sample.points == 8 { 1e-15 } else { 4e-15 }),
                differing: Some(sample.points),
            })
        };
        let worst = Checked::worst(true, &samples, check).ok().flatten();
        let worst = worst.expect("something was checked");
        // A fifth of the bound is worse than three fortieths.
        assert_eq!((worst.l2, worst.bound), (2e-16, Some(1e-15)));
        assert_eq!(worst.differing, Some(24));
        let none = Checked::worst(false, &samples, check).ok().flatten();
        assert!(none.is_none());
    }
}
