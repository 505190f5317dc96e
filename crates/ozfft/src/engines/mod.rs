//! Engines: digits, residues, number-theoretic transforms, low-precision floating point, or native floating point. Each is one file and one line of [`build`].

pub(crate) mod digits;
#[cfg(feature = "floats")]
pub(crate) mod float_line;
#[cfg(feature = "floats")]
pub(crate) mod floats;
#[cfg(feature = "native")]
pub(crate) mod native;
#[cfg(feature = "ntt")]
pub(crate) mod ntt;
#[cfg(feature = "residues")]
pub(crate) mod residues;
pub(crate) mod shared;

use crate::error::FftError;
use crate::executor::cpu::Executor;
use crate::executor::cuda::{CudaExecutor, Machine};
use crate::executor::schedule::Schedule;
use crate::problem::{Engine, Problem};
use crate::recipe::Recipe;
use crate::recipe::factor::prime_factors;
use crate::sample::Real;
use crate::stages::residue_products::Counters;
use crate::transform::budget::ErrorBudget;
#[cfg(feature = "floats")]
pub(crate) use float_line::FloatLine;
use shared::Shared;
use std::sync::Arc;

/// A GPU and its number.
pub(crate) type Gpu = (Arc<dyn Machine>, usize);

/// A request to an engine.
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

/// The executor of a plan.
pub(crate) enum Runner<T: Real> {
    Processor(Executor<T>),
    Gpu(Box<CudaExecutor>),
}

/// An engine's answer to a request.
pub(crate) struct Built<T: Real> {
    pub(crate) runner: Runner<T>,
    /// The unit that runs, by name.
    pub(crate) substrate: &'static str,
    /// Explanation of the choice of recipe and unit.
    pub(crate) why: String,
    pub(crate) recipe: Option<Recipe>,
    pub(crate) budget: ErrorBudget,
    /// Whether the budget's bound is proven.
    pub(crate) proven: bool,
    /// The lines of the floats engine on the CPU.
    pub(crate) float_lines: Vec<FloatLine>,
    /// Statistics of the residues engine.
    pub(crate) residues: Option<Arc<Counters>>,
    /// Takes over where a line needs more bits than words have.
    pub(crate) fallback: Option<Executor<T>>,
}

#[cfg(not(feature = "floats"))]
#[derive(Debug)]
pub(crate) enum FloatLine {}

/// An engine: from a request to what runs.
pub(crate) trait BuildEngine<T: Real> {
    fn build(&self, request: &Request<'_>) -> Result<Built<T>, FftError>;
}

/// Lets an engine build.
pub(crate) fn build<T: Real>(engine: Engine, request: &Request<'_>) -> Result<Built<T>, FftError> {
    match engine {
        Engine::Digits => digits::DigitsEngine.build(request),
        #[cfg(feature = "residues")]
        Engine::Residues => residues::ResiduesEngine.build(request),
        #[cfg(feature = "ntt")]
        Engine::Ntt => ntt::NttEngine.build(request),
        #[cfg(feature = "floats")]
        Engine::Floats(mode) => floats::FloatsEngine(mode).build(request),
        #[cfg(feature = "native")]
        Engine::Native => native::NativeEngine.build(request),
        #[cfg(not(feature = "residues"))]
        Engine::Residues => Err(FftError::missing_feature("the engine residues", "residues")),
        #[cfg(not(feature = "ntt"))]
        Engine::Ntt => Err(FftError::missing_feature("the engine ntt", "ntt")),
        #[cfg(not(feature = "native"))]
        Engine::Native => Err(FftError::missing_feature("the engine native", "native")),
        Engine::Auto => unreachable!("the planner has chosen an engine"),
    }
}

/// The relative L2 error of the native engine on random input, rounded up from what was measured against the oracle (`docs/accuracy.md`): along every axis it grows
/// with the root of the number of stages, and faster where a prime factor is large.
pub(crate) fn native_error<T: Real>(problem: &Problem) -> f64 {
    let of_axis = |&axis: &usize| {
        let n = problem.shape[axis];
        let largest_prime = prime_factors(n).last().copied().unwrap_or(1);
        let stages = (n.max(2) as f64).log2();
        let per_stage = if largest_prime > 31 { 4.0 } else { 1.5 };
        per_stage * T::UNIT_ROUNDOFF * stages.sqrt().max(1.0)
    };
    problem.axes.iter().map(of_axis).fold(0.0, f64::hypot)
}
