//! Predicted time of a plan, from the recipe and constants of the unit.

use super::Plan;
use super::constants::DigitsWork;
#[cfg(feature = "floats")]
use super::measured_units::measured_mode;
use super::measured_units::measured_unit;
use super::prediction::Prediction;
#[cfg(feature = "floats")]
use crate::engines::FloatLine;
#[cfg(feature = "floats")]
use crate::executor::schedule::{AxisPass, Schedule};
use crate::kind::Kind;
use crate::problem::{Device, Engine, Problem};
use crate::recipe::{BlockRecipe, Fold, LineRecipe, Recipe, digit_products};
use crate::sample::Real;
use float_environment::DefaultEnvironment;
#[cfg(feature = "floats")]
use floats::Mode;

/// Operation counts of a recipe per point of the problem's array.
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
                .filter(|step| step.fold != Fold::Trivial)
                .map(|step| step.n)
                .collect();
            work.add_pass(padding, &steps, !innermost || blocks.len() > 1, products);
        }
    }
    work
}

impl<T: Real> Plan<T> {
    /// Predicted time of a call, from operation counts of the recipe and constants fitted to benchmarks of this unit on
    /// another machine than yours. None for engines and units without such constants.
    ///
    /// No recipe is chosen by it: which recipe runs decides bits, and bits do not depend on machines. Only where the engine is
    /// left to the planner, and an error is asked for, the fastest one is taken ([`Plan::choice`]).
    ///
    /// ```
    /// use ozfft::{CpuUnit, Engine, Planner, Problem};
    /// let problem = Problem::complex(&[1024]).engine(Engine::Digits).substrate(CpuUnit::Scalar).threads(1);
    /// let plan = Planner::<f64>::new().plan(&problem)?;
    /// let prediction = plan.prediction().expect("the scalar unit was measured");
    /// assert!(prediction.seconds > 1e-5 && prediction.seconds < 1e-3);
    /// # Ok::<(), ozfft::FftError>(())
    /// ```
    pub fn prediction(&self) -> Option<Prediction> {
        let _environment = DefaultEnvironment::enter();
        let problem = self.problem();
        match self.engine() {
            Engine::Digits => {
                // Of two units the slower one, which is named last.
                let name = self.substrate().rsplit(" and ").next()?;
                let threads = match self.device() {
                    Device::Cpu => self.threads,
                    _ => 1,
                };
                digits_seconds(problem, self.recipe()?, name, threads)
            }
            // Of modes on GPUs there are no constants yet.
            #[cfg(feature = "floats")]
            Engine::Floats(_) if self.device() != Device::Cpu => None,
            #[cfg(feature = "floats")]
            Engine::Floats(_) => {
                float_seconds::<T>(problem, &self.schedule, &self.float_lines, self.threads)
            }
            Engine::Residues | Engine::Ntt | Engine::Native | Engine::Auto => None,
        }
    }
}

/// Points of all arrays, for each of the threads that find work.
fn points_a_thread(problem: &Problem, threads: usize) -> f64 {
    let points = problem.shape().iter().product::<usize>() * problem.batch;
    // Lines are what threads share.
    let longest = problem.shape().iter().max().copied().unwrap_or(1).max(1);
    points as f64 / threads.min(points / longest).max(1) as f64
}

/// A recipe on a unit, for plans and for what is not planned yet.
pub(crate) fn digits_seconds(
    problem: &Problem,
    recipe: &Recipe,
    unit: &str,
    threads: usize,
) -> Option<Prediction> {
    let unit = measured_unit(unit)?;
    let work = digits_work(problem, recipe);
    let share = match problem.kind() {
        Kind::ComplexToComplex => 1.0,
        Kind::RealToComplex | Kind::ComplexToReal => unit.cost.real,
    };
    let points = points_a_thread(problem, threads);
    let seconds = 1e-9 * unit.cost.for_point(&work) * points * share;
    Some(Prediction { seconds, unit })
}

/// Vectors that modes were measured on, and how many times as long others are assumed to take: as many as they have fewer
/// lanes, and without a vector unit as many as there are in one.
#[cfg(feature = "floats")]
const MEASURED_VECTORS: &str = "avx512";

#[cfg(feature = "floats")]
fn assumed_slower(vectors: &str) -> f64 {
    match vectors {
        "avx512" => 1.0,
        "avx2" => 2.0,
        _ => 16.0,
    }
}

/// Operation counts of a line of the floats engine.
#[cfg(feature = "floats")]
fn line_work(pass: &AxisPass, line: &FloatLine) -> DigitsWork {
    let work = line.plan().work();
    let strided = pass.read.stride != 1 || pass.write.stride != 1;
    DigitsWork {
        passes: work.passes,
        strided: if strided { 1.0 } else { 0.0 },
        products: work.steps,
    }
}

/// The mode and the unit whose constants are a line's.
#[cfg(feature = "floats")]
fn constants_of(line: &FloatLine) -> (Mode, String) {
    let plan = line.plan();
    match plan.unit() {
        Some(unit) => (plan.mode(), unit.into()),
        // Lengths that the unit cannot take.
        None => (plan.mode().without_unit(), MEASURED_VECTORS.into()),
    }
}

/// Lines of the floats engine. All axes are in one mode; the constants that are named are those of the last.
#[cfg(feature = "floats")]
pub(crate) fn float_seconds<T: Real>(
    problem: &Problem,
    schedule: &Schedule,
    lines: &[FloatLine],
    threads: usize,
) -> Option<Prediction> {
    let (mut nanoseconds, mut named) = (0.0, None);
    for (pass, line) in schedule.passes.iter().zip(lines) {
        let (mode, unit) = constants_of(line);
        let unit = measured_mode(mode.name(), &unit, T::NAME)?;
        let slower = assumed_slower(line.plan().vectors());
        nanoseconds += slower * unit.cost.for_point(&line_work(pass, line));
        named = Some(unit);
    }
    let seconds = 1e-9 * nanoseconds * points_a_thread(problem, threads);
    named.map(|unit| Prediction { seconds, unit })
}
