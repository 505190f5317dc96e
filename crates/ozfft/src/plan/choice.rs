//! Which engine `auto` takes for an accuracy that is a number: the fastest one whose bound is proven and keeps it.
//!
//! Bounds are computed, times are predicted from measured constants (`measured_units.rs`). A
//! prediction may be wrong by what machines differ; the bound is kept all the same. Since the choice depends on the
//! machine's units, bits do, too: a caller who needs the same bits everywhere asks for `reproducible`, or for an engine by name.

use super::prediction::Prediction;
use crate::problem::{Device, Engine, Problem};
use crate::recipe::Digits;
use crate::substrate::Substrate;
use crate::transform::budget::bound_text;
use std::fmt;

/// The candidates that [`Engine::Auto`] compared for a numeric accuracy, and the reason for its choice.
///
/// ```
/// use ozfft::{Accuracy, Engine, Planner, Problem};
/// let problem = Problem::complex(&[1024]).engine(Engine::Auto).accuracy(Accuracy::Target(1e-3));
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

/// One candidate method for the problem.
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
    /// Predicted time of a call; none without constants.
    pub prediction: Option<Prediction>,
    /// The verdict.
    pub verdict: Verdict,
}

/// The verdict on a candidate.
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
    Rejected(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Taken => f.write_str("taken: the fastest that keeps the accuracy"),
            Verdict::TakenUnproven => f.write_str(
                "taken though its bound is above the accuracy: nothing is proven to keep it, and three times what is expected here does",
            ),
            Verdict::Slower => f.write_str("keeps the accuracy, but is slower"),
            Verdict::Rejected(reason) => write!(f, "rejected: {reason}"),
        }
    }
}

impl Candidate {
    /// Whether the plan is made of it.
    pub fn is_taken(&self) -> bool {
        matches!(self.verdict, Verdict::Taken | Verdict::TakenUnproven)
    }

    pub(super) fn rejected(engine: Engine, unit: &str, reason: impl fmt::Display) -> Candidate {
        Candidate {
            engine,
            digits: None,
            unit: unit.into(),
            bound: None,
            prediction: None,
            verdict: Verdict::Rejected(reason.to_string()),
        }
    }

    pub(super) fn seconds(&self) -> f64 {
        // What is not known is not hoped for.
        let known = self.prediction.as_ref();
        known.map_or(f64::INFINITY, |prediction| prediction.seconds)
    }

    pub(super) fn name(&self) -> String {
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
            let bound = candidate.bound.map(|bound| bound_text(bound, 2));
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
        Engine::Ntt => (Engine::Ntt, "ntt was asked for".into()),
        Engine::Native => (Engine::Native, "native was asked for".into()),
        #[cfg(feature = "floats")]
        Engine::Floats(mode) => (problem.engine, format!("the mode {mode} was asked for")),
        Engine::Auto if matches!(problem.device, Device::Cuda(_)) => (
            Engine::Digits,
            "a GPU was asked for, on which digits is the engine for what is not an error".into(),
        ),
        Engine::Auto if problem.reproducible => (
            Engine::Digits,
            "reproducible bits were asked for, which only digits gives".into(),
        ),
        Engine::Auto if !cfg!(feature = "native") => (
            Engine::Digits,
            "auto: this build has no engine native (the feature native)".into(),
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
