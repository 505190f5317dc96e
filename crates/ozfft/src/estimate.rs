//! What a plan will take, predicted by the crate `roofline` from the recipe and constants of the unit.

use crate::plan::Plan;
use crate::problem::{Device, Engine, Kind, Problem};
use crate::recipe::{BlockRecipe, Fold, LineRecipe, Recipe};
use crate::sample::Real;
use roofline::digits::{DigitsWork, MeasuredUnit, digit_products, measured_unit};

/// A predicted time, and whose constants it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// For one call, without copies between host and device.
    pub seconds: f64,
    /// The unit, the machine that was measured, and the constants.
    pub unit: MeasuredUnit,
}

/// What a recipe asks for, for every point of the problem's array.
#[doc(hidden)]
pub fn digits_work(problem: &Problem, recipe: &Recipe) -> DigitsWork {
    let digits = recipe.digits;
    let products = digit_products(digits.data, digits.matrix, digits.diagonals);
    let mut work = DigitsWork::default();
    for axis in &recipe.axes {
        let innermost = axis.axis + 1 == problem.shape().len();
        let length = |blocks: &[BlockRecipe]| -> usize {
            let steps = blocks.iter().flat_map(|block| &block.steps);
            steps.map(|step| step.n).product()
        };
        let (blocks, padding): (&[BlockRecipe], f64) = match &axis.line {
            LineRecipe::Copy => continue,
            LineRecipe::Passes(blocks) => (blocks, 1.0),
            // There and back, over more points than the line has.
            LineRecipe::Bluestein { n, convolution } => {
                (convolution, 2.0 * length(convolution) as f64 / *n as f64)
            }
        };
        for block in blocks {
            let steps: Vec<usize> = block
                .steps
                .iter()
                .filter(|step| step.fold != Fold::Unit)
                .map(|step| step.n)
                .collect();
            work.add_pass(padding, &steps, !innermost || blocks.len() > 1, products);
        }
    }
    work
}

impl<T: Real> Plan<T> {
    /// What a call is predicted to take: by counts of the recipe, and constants that were fitted to benchmarks of this unit on
    /// another machine than yours. None for engines and units without such constants.
    ///
    /// Nothing is chosen by it: which recipe runs decides bits, and bits do not depend on machines.
    ///
    /// ```
    /// use ozfft::{Engine, Planner, Problem, Substrate};
    /// let problem = Problem::complex(&[1024]).engine(Engine::Digits).substrate(Substrate::Scalar).threads(1);
    /// let plan = Planner::<f64>::new().plan(&problem)?;
    /// let prediction = plan.prediction().expect("the scalar unit was measured");
    /// assert!(prediction.seconds > 1e-4 && prediction.seconds < 1e-2);
    /// # Ok::<(), ozfft::FftError>(())
    /// ```
    pub fn prediction(&self) -> Option<Prediction> {
        if self.engine() != Engine::Digits {
            return None;
        }
        let problem = self.problem();
        // Of two units the slower one, which is named last.
        let name = self.substrate().rsplit(" and ").next()?;
        let unit = measured_unit(name)?;
        let work = digits_work(problem, self.recipe()?);
        let points = problem.shape().iter().product::<usize>() * problem.batch;
        let share = match problem.kind() {
            Kind::ComplexToComplex => 1.0,
            Kind::RealToComplex | Kind::ComplexToReal => unit.cost.real,
        };
        // Lines are what threads share.
        let longest = problem.shape().iter().max().copied().unwrap_or(1).max(1);
        let threads = match self.device() {
            Device::Cpu => self.threads.min(points / longest).max(1) as f64,
            _ => 1.0,
        };
        let seconds = 1e-9 * unit.cost.for_point(&work) * points as f64 * share / threads;
        Some(Prediction { seconds, unit })
    }
}
