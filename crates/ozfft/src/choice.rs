//! Which engine `auto` takes for an accuracy that is a number: the fastest one whose bound is proven and keeps it.
//!
//! Bounds are computed, times are predicted from measured constants (`estimate/modes.json` and `units.json`). A
//! prediction may be wrong by what machines differ; the bound is kept all the same. Since the choice depends on the
//! machine's units, bits do, too: whoever wants them the same everywhere asks for them, or for an engine by name.

use crate::budget::ErrorBudget;
use crate::estimate::{Prediction, digits_seconds, float_seconds};
use crate::executor::cuda::Machine;
use crate::float_lines::unit_for;
use crate::matrix_unit::Unit;
use crate::plan::Plan;
use crate::planner::Planner;
use crate::problem::{Device, Engine, Problem, Substrate};
use crate::recipe::Digits;
use crate::sample::Real;
use floats::Mode;
use std::fmt;
use std::sync::Arc;

/// Modes that tensor cores run, in the order of the times that were measured on an H200 for lines of 64 to 1024 points
/// (laboratory/records/2026-11-16-h200-floats.json); `fp16` comes before `bf16`, which takes as long and is less accurate.
/// `ozaki_two_level` is slower than the tuned kernels for digits, and more accurate digits keep its bound.
const FASTEST_FIRST_ON_GPUS: [Mode; 5] = [
    Mode::Fp16,
    Mode::Bf16,
    Mode::Ozaki,
    Mode::Fp16Ozaki,
    Mode::OzakiHq,
];

/// What [`Engine::Auto`] weighed for an accuracy that is a number, and why it took what it took.
///
/// ```
/// use ozfft::{Accuracy, Planner, Problem};
/// let problem = Problem::complex(&[1024]).accuracy(Accuracy::Target(1e-3));
/// let plan = Planner::<f32>::new().plan(&problem)?;
/// let choice = plan.choice().expect("the engine was left to the planner");
/// println!("{choice}");
/// assert!(choice.candidates.iter().any(|candidate| candidate.is_taken()));
/// assert!(plan.bound() <= 1e-3);
/// # Ok::<(), ozfft::FftError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The relative L2 error asked for.
    pub target: f64,
    /// The number type of the data.
    pub numbers: &'static str,
    /// Everything that was weighed: modes from the least accurate on, then digits, then native.
    pub candidates: Vec<Candidate>,
}

/// One way of computing the problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The engine.
    pub engine: Engine,
    /// Its digits, where it has some.
    pub digits: Option<Digits>,
    /// The unit or vectors that it runs on.
    pub unit: String,
    /// The error that it keeps, proven unless the engine is [`Engine::Native`]; none where it cannot be had.
    pub bound: Option<f64>,
    /// What a call is predicted to take; none without constants.
    pub prediction: Option<Prediction>,
    /// What became of it.
    pub verdict: Verdict,
}

/// What became of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The fastest of those that are proven to keep the accuracy.
    Taken,
    /// Nothing is proven to keep the accuracy: these digits have the smallest bound, and three times their expected error is
    /// below it.
    TakenUnproven,
    /// It keeps the accuracy, and another one does so sooner.
    Slower,
    /// Why not.
    Refused(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Taken => f.write_str("taken: the fastest that keeps the accuracy"),
            Verdict::TakenUnproven => f.write_str(
                "taken though its bound is above the accuracy: nothing is proven to keep it, and three times what is expected here does",
            ),
            Verdict::Slower => f.write_str("keeps the accuracy, but is slower"),
            Verdict::Refused(reason) => write!(f, "refused: {reason}"),
        }
    }
}

impl Candidate {
    /// Whether the plan is made of it.
    pub fn is_taken(&self) -> bool {
        matches!(self.verdict, Verdict::Taken | Verdict::TakenUnproven)
    }

    fn refused(engine: Engine, unit: &str, reason: impl fmt::Display) -> Candidate {
        Candidate {
            engine,
            digits: None,
            unit: unit.into(),
            bound: None,
            prediction: None,
            verdict: Verdict::Refused(reason.to_string()),
        }
    }

    fn seconds(&self) -> f64 {
        // What is not known is not hoped for.
        let known = self.prediction.as_ref();
        known.map_or(f64::INFINITY, |prediction| prediction.seconds)
    }

    fn name(&self) -> String {
        match self.digits {
            Some(digits) => format!(
                "{} {}×{}, {} diagonals",
                self.engine, digits.data, digits.matrix, digits.diagonals
            ),
            None => self.engine.to_string(),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "for {:.2e} of {} data\n{:<24} {:<12} {:>9} {:>11}  verdict",
            self.target, self.numbers, "engine", "unit", "bound", "predicted s"
        )?;
        for candidate in &self.candidates {
            let bound = candidate.bound.map(|bound| format!("{bound:.2e}"));
            let seconds = candidate.prediction.as_ref();
            let seconds = seconds.map(|prediction| format!("{:.2e}", prediction.seconds));
            write!(
                f,
                "\n{:<24} {:<12} {:>9} {:>11}  {}",
                candidate.name(),
                candidate.unit,
                bound.as_deref().unwrap_or("-"),
                seconds.as_deref().unwrap_or("-"),
                candidate.verdict
            )?;
        }
        Ok(())
    }
}

impl<T: Real> Planner<T> {
    /// Weighs every mode of the floats engine and the digits engine for an accuracy. Where none proves it, digits say what
    /// they can do.
    pub(crate) fn weigh(
        &self,
        problem: &Problem,
        target: f64,
        threads: usize,
        native_error: f64,
    ) -> (Engine, String, Choice) {
        let modes = Mode::ALL.into_iter();
        let mut candidates: Vec<Candidate> = modes
            .map(|mode| self.weigh_mode(problem, target, threads, mode))
            .collect();
        candidates.push(self.weigh_digits(problem, target, threads));
        candidates.push(Candidate {
            bound: Some(native_error),
            ..Candidate::refused(
                Engine::Native,
                "native",
                "its error is measured, and nothing is proven of it",
            )
        });
        let fastest = candidates
            .iter_mut()
            .filter(|candidate| candidate.verdict == Verdict::Slower)
            .min_by(|a, b| a.seconds().total_cmp(&b.seconds()));
        let (engine, why) = match fastest {
            Some(candidate) => {
                candidate.verdict = Verdict::Taken;
                let keeps = "is predicted to be the fastest whose proven bound is at most";
                let why = format!("auto: {} {keeps} {target:.2e}", candidate.name());
                (candidate.engine, why)
            }
            None => {
                take_unproven(&mut candidates);
                let why = format!("auto: no engine proves {target:.2e}, and digits come nearest");
                (Engine::Digits, why)
            }
        };
        let choice = Choice {
            target,
            numbers: T::NAME,
            candidates,
        };
        (engine, why, choice)
    }

    /// The same on a GPU, of the modes that have kernels there: the fastest that keeps the accuracy as a plan, or none where
    /// digits are left; and what was weighed. Digits come last: the tuned kernels take longer than any of these modes, the
    /// portable ones far longer.
    pub(crate) fn weigh_on_gpu(
        &self,
        problem: &Problem,
        target: f64,
        gpu: &(Arc<dyn Machine>, usize),
    ) -> (Option<Plan<T>>, Choice) {
        let mut taken = None;
        let mut candidates = Vec::new();
        for mode in FASTEST_FIRST_ON_GPUS {
            let why = format!(
                "auto: of the modes that tensor cores run, {mode} is the fastest whose proven bound is at most {target:.2e}"
            );
            let engine = Engine::Floats(mode);
            let candidate = match self.floats_on_gpu(problem, mode, &why, gpu.clone()) {
                Err(error) => Candidate::refused(engine, "-", error),
                Ok(plan) => Candidate {
                    engine,
                    digits: None,
                    unit: plan.substrate().into(),
                    bound: Some(plan.bound()),
                    prediction: None,
                    verdict: match taken.replace(plan) {
                        None => Verdict::Taken,
                        // Faster ones come first.
                        earlier => {
                            taken = earlier;
                            Verdict::Slower
                        }
                    },
                },
            };
            candidates.push(candidate);
        }
        candidates.push(match self.choose_recipe(problem, None) {
            Ok((recipe, budget, _)) => Candidate {
                engine: Engine::Digits,
                digits: Some(recipe.digits),
                unit: "int8".into(),
                bound: Some(budget.bound),
                prediction: None,
                verdict: match (&taken, verdict(budget, target)) {
                    (None, Verdict::Slower) => Verdict::Taken,
                    (_, verdict) => verdict,
                },
            },
            Err(error) => Candidate::refused(Engine::Digits, "int8", error),
        });
        if taken.is_none() && !candidates.iter().any(Candidate::is_taken) {
            take_unproven(&mut candidates);
        }
        let choice = Choice {
            target,
            numbers: T::NAME,
            candidates,
        };
        (taken, choice)
    }

    fn weigh_mode(&self, problem: &Problem, target: f64, threads: usize, mode: Mode) -> Candidate {
        let engine = Engine::Floats(mode);
        let unit = match unit_for(problem, mode) {
            Ok((unit, _)) => unit,
            Err(error) => return Candidate::refused(engine, "-", error),
        };
        let (executor, budget) = match self.float_executor(problem, threads, mode, unit) {
            Ok(found) => found,
            Err(error) => return Candidate::refused(engine, unit.name(), error),
        };
        let name = crate::float_lines::substrate(&executor, unit);
        Candidate {
            engine,
            digits: None,
            unit: name.into(),
            bound: Some(budget.bound),
            prediction: float_seconds(problem, &executor, threads),
            verdict: verdict(budget, target),
        }
    }

    fn weigh_digits(&self, problem: &Problem, target: f64, threads: usize) -> Candidate {
        let unit = match Unit::new(problem.substrate) {
            Ok(unit) => unit.name(),
            Err(error) => return Candidate::refused(Engine::Digits, "-", error),
        };
        match self.choose_recipe(problem, None) {
            Ok((recipe, budget, _)) => Candidate {
                engine: Engine::Digits,
                digits: Some(recipe.digits),
                unit: unit.into(),
                bound: Some(budget.bound),
                prediction: digits_seconds(problem, &recipe, unit, threads),
                verdict: verdict(budget, target),
            },
            Err(error) => Candidate::refused(Engine::Digits, unit, error),
        }
    }
}

/// Where nothing is proven, digits are taken if they can be had at all.
fn take_unproven(candidates: &mut [Candidate]) {
    for candidate in candidates {
        if candidate.engine == Engine::Digits && candidate.bound.is_some() {
            candidate.verdict = Verdict::TakenUnproven;
        }
    }
}

fn verdict(budget: ErrorBudget, target: f64) -> Verdict {
    if budget.bound <= target {
        Verdict::Slower
    } else {
        Verdict::Refused("its bound is above the accuracy".into())
    }
}

/// The error for which the processor's engines are weighed against each other. Where bits are to be the same everywhere, there
/// is nothing to weigh.
pub(crate) fn weighed_for(problem: &Problem) -> Option<f64> {
    let free = problem.engine == Engine::Auto
        && !problem.reproducible
        && !matches!(problem.device, Device::Cuda(_));
    problem.accuracy.target().filter(|_| free)
}

/// The same on a GPU.
pub(crate) fn weighed_on_gpu_for(problem: &Problem) -> Option<f64> {
    let free = problem.engine == Engine::Auto
        && problem.substrate == Substrate::Auto
        && !problem.reproducible
        && !problem.integers_only
        && matches!(problem.device, Device::Cuda(_));
    problem.accuracy.target().filter(|_| free)
}

pub(crate) fn choose_engine(problem: &Problem, native_error: f64) -> (Engine, String) {
    match problem.engine {
        Engine::Digits => (Engine::Digits, "digits was asked for".into()),
        Engine::Residues => (Engine::Residues, "residues was asked for".into()),
        Engine::Native => (Engine::Native, "native was asked for".into()),
        Engine::Floats(mode) => (problem.engine, format!("the mode {mode} was asked for")),
        Engine::Auto if matches!(problem.device, Device::Cuda(_)) => (
            Engine::Digits,
            "a GPU was asked for, on which digits is the engine for what is not an error".into(),
        ),
        Engine::Auto if problem.reproducible => (
            Engine::Digits,
            "reproducible bits were asked for, which only digits gives".into(),
        ),
        // Single and Double name what users of native FFTs get; an error is weighed before (`choice.rs`).
        Engine::Auto => (
            Engine::Native,
            format!(
                "auto: no reproducible bits and no more accuracy than native's {native_error:.2e} were asked for"
            ),
        ),
    }
}
