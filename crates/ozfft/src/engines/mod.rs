//! Who computes: digits, residues, short floating-point numbers, or the machine's own. Each is one file and one line of [`build`].

pub(crate) mod digits;
pub(crate) mod float_line;
pub(crate) mod floats;
pub(crate) mod native;
pub(crate) mod residues;
pub(crate) mod shared;

use crate::error::FftError;
use crate::executor::cpu::Executor;
use crate::executor::cuda::{CudaExecutor, Machine};
use crate::executor::schedule::Schedule;
use crate::problem::{Engine, Problem};
use crate::recipe::Recipe;
use crate::sample::Real;
use crate::stages::residue_products::Counters;
use crate::transform::budget::ErrorBudget;
use float_line::FloatLine;
use shared::Shared;
use std::sync::Arc;

/// A GPU and its number.
pub(crate) type Gpu = (Arc<dyn Machine>, usize);

/// What an engine is asked for.
pub(crate) struct Request<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) schedule: &'a Arc<Schedule>,
    pub(crate) threads: usize,
    /// Where it is to run; none for the processor.
    pub(crate) gpu: Option<Gpu>,
    /// The recipe that wisdom names.
    pub(crate) recalled: Option<&'a Recipe>,
    pub(crate) shared: &'a Shared,
}

/// Who runs a plan.
pub(crate) enum Runner<T: Real> {
    Processor(Executor<T>),
    Gpu(CudaExecutor),
}

/// What an engine makes of a request.
pub(crate) struct Built<T: Real> {
    pub(crate) runner: Runner<T>,
    /// The unit that runs, by name.
    pub(crate) substrate: &'static str,
    /// What is to be said about recipe and unit.
    pub(crate) why: String,
    pub(crate) recipe: Option<Recipe>,
    pub(crate) budget: ErrorBudget,
    /// Whether the budget's bound is proven.
    pub(crate) proven: bool,
    /// The lines of the floats engine on the processor.
    pub(crate) float_lines: Vec<FloatLine>,
    /// What the residues engine counts.
    pub(crate) residues: Option<Arc<Counters>>,
    /// Takes over where a line needs more bits than words have.
    pub(crate) fallback: Option<Executor<T>>,
}

/// An engine: from a request to what runs.
pub(crate) trait BuildEngine<T: Real> {
    fn build(&self, request: &Request<'_>) -> Result<Built<T>, FftError>;
}

/// Lets an engine build.
pub(crate) fn build<T: Real>(engine: Engine, request: &Request<'_>) -> Result<Built<T>, FftError> {
    match engine {
        Engine::Digits => digits::DigitsEngine.build(request),
        Engine::Residues => residues::ResiduesEngine.build(request),
        Engine::Floats(mode) => floats::FloatsEngine(mode).build(request),
        Engine::Native => native::NativeEngine.build(request),
        Engine::Auto => unreachable!("the planner has chosen an engine"),
    }
}
