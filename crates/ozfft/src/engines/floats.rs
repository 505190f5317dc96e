//! The floats engine: modes of the crate `floats`, from bf16 products on a matrix unit to f64.

use super::float_line::FloatLine;
use super::{BuildEngine, Built, Request, Runner};
use crate::error::FftError;
use crate::executor::cpu::{Executor, LineTransform};
use crate::executor::cuda::CudaExecutor;
use crate::executor::schedule::Schedule;
use crate::kind::Kind;
use crate::matrix_unit::left_out;
use crate::norm::Scaling;
use crate::problem::{self, Problem, Products};
use crate::sample::Real;
use crate::substrate::{CpuUnit, Substrate};
use crate::sync::lock;
use crate::transform::budget::{ErrorBudget, between_axes, bound_text, final_rounding};
use floats::{Direction, FloatPlan, Format, Mode, Table, Unit};
use std::collections::HashMap;
use std::f64::consts::SQRT_2;
use std::sync::{Arc, Mutex, Weak};

/// Plans by what they are made for, as long as they are in use: many are candidates only, and a planner's limit does not count them.
#[derive(Debug, Default)]
pub(crate) struct FloatPlans(Mutex<HashMap<PlanKey, Weak<FloatPlan>>>);

type PlanKey = (usize, Mode, bool, Unit);

impl FloatPlans {
    /// A plan of a length, or the one made before.
    pub(crate) fn plan(
        &self,
        n: usize,
        mode: Mode,
        direction: problem::Direction,
        unit: Unit,
    ) -> Result<Arc<FloatPlan>, FftError> {
        let inverse = direction == problem::Direction::Inverse;
        let key = (n, mode, inverse, unit);
        if let Some(plan) = lock(&self.0).get(&key).and_then(Weak::upgrade) {
            return Ok(plan);
        }
        let direction = match inverse {
            true => Direction::Inverse,
            false => Direction::Forward,
        };
        let plan = Arc::new(FloatPlan::new(n, mode, direction, unit)?);
        let mut plans = lock(&self.0);
        if plans.len() == plans.capacity() {
            plans.retain(|_, plan| plan.strong_count() > 0);
        }
        plans.insert(key, Arc::downgrade(&plan));
        Ok(plan)
    }

    pub(crate) fn clear(&self) {
        lock(&self.0).clear();
    }
}

/// The matrix unit that a problem asks for, and what is to be said about it. Without a wish it is the fastest that the
/// probe finds fit.
pub(crate) fn unit_for(problem: &Problem, mode: Mode) -> Result<(Unit, String), FftError> {
    let named = match problem.substrate {
        Substrate::Auto => None,
        Substrate::Cpu(CpuUnit::Scalar) => Some(Unit::Scalar),
        Substrate::Cpu(CpuUnit::Avx512Bf16) => Some(Unit::Avx512Bf16),
        Substrate::Cpu(CpuUnit::AmxBf16) => Some(Unit::AmxBf16),
        substrate => {
            return Err(FftError::Unsupported(format!(
                "the substrate {substrate} multiplies no bf16 numbers; take auto, scalar, avx512-bf16 or amx-bf16 for the mode {mode}"
            )));
        }
    };
    match named {
        Some(unit) if mode.needs_matrix_unit() => Ok((unit, String::new())),
        Some(_) => Err(FftError::Unsupported(format!(
            "the mode {mode} has no use for a matrix unit; take the substrate auto"
        ))),
        None if !mode.needs_matrix_unit() => Ok((Unit::Scalar, String::new())),
        None => {
            let mut passed_over = String::new();
            let mut rejected = None;
            // Looking for AMX asks Linux for its tiles, which the process then has for good.
            let units = Unit::ALL.into_iter().rev();
            let units = units.filter(|&unit| unit != Unit::AmxBf16 || !left_out(CpuUnit::Amx));
            for unit in units.filter(|unit| unit.get().is_ok()) {
                // A length of one asks what the mode is built on, and costs nothing.
                match FloatPlan::new(1, mode, Direction::Forward, unit) {
                    Ok(_) => return Ok((unit, passed_over)),
                    Err(error) => {
                        passed_over.push_str(&format!("; {unit} is passed over: {error}"));
                        rejected = Some(error);
                    }
                }
            }
            Err(rejected.map_or_else(
                || FftError::Unsupported(format!("no matrix unit is fit for the mode {mode}; take the engine digits, or a mode without one, such as double")),
                FftError::from,
            ))
        }
    }
}

/// The lines of a problem in a mode, and their error.
pub(crate) fn lines<T: Real>(
    request: &Request<'_>,
    mode: Mode,
    unit: Unit,
) -> Result<(Vec<FloatLine>, ErrorBudget), FftError> {
    let (problem, schedule) = (request.problem, request.schedule);
    if problem.products == Products::Exact {
        return Err(FftError::Unsupported(format!(
            "whole products are digits' and residues'; the mode {mode} has none: take the recipe truncated"
        )));
    }
    let points = problem.shape.iter().product::<usize>() * problem.batch;
    let scaling = Scaling::of(problem);
    let plans = &request.shared.float_plans;
    let line = |n: usize| {
        let plan = plans.plan(n, mode, problem.direction, unit)?;
        let (scale, lines) = (scaling.value(n), points / n);
        Ok(FloatLine::new(plan, scale, lines, request.threads))
    };
    let passes = schedule.passes.iter();
    let lines: Vec<FloatLine> = passes
        .map(|pass| line(pass.n))
        .collect::<Result<_, FftError>>()?;
    let budget = budget::<T>(schedule, &lines);
    Ok((lines, budget))
}

pub(crate) struct FloatsEngine(pub(crate) Mode);

impl<T: Real> BuildEngine<T> for FloatsEngine {
    fn build(&self, request: &Request<'_>) -> Result<Built<T>, FftError> {
        match request.gpu {
            Some(_) => on_gpu(request, self.0, Table::Measured),
            None => on_processor(request, self.0),
        }
    }
}

fn on_processor<T: Real>(request: &Request<'_>, mode: Mode) -> Result<Built<T>, FftError> {
    let (unit, passed_over) = unit_for(request.problem, mode)?;
    let (lines, budget) = lines::<T>(request, mode, unit)?;
    keeps_target(request.problem, mode, &budget)?;
    let bits = match mode.has_portable_bits() {
        true => "its bits are the same on every processor",
        false => "its bits depend on the order in which the matrix unit adds",
    };
    let transforms = lines
        .iter()
        .map(|line| -> Box<dyn LineTransform<T>> { Box::new(line.clone()) });
    let executor = Executor::new(request.schedule, transforms.collect(), request.threads);
    Ok(Built {
        runner: Runner::Processor(executor),
        substrate: substrate(&lines, unit),
        why: format!("{bits}{passed_over}"),
        recipe: None,
        budget,
        proven: true,
        float_lines: lines,
        residues: None,
        fallback: None,
    })
}

/// By the algorithms of a table, where the mode has steps.
pub(crate) fn on_gpu<T: Real>(
    request: &Request<'_>,
    mode: Mode,
    table: Table,
) -> Result<Built<T>, FftError> {
    let problem = request.problem;
    let (machine, _) = request
        .gpu
        .clone()
        .unwrap_or_else(|| unreachable!("the caller has looked"));
    let substrate = match (problem.substrate, mode.format()) {
        (Substrate::Auto, Some(Format::Fp16)) => "f16-mma-sync",
        (Substrate::Auto, Some(Format::Bf16)) => "bf16-mma-sync",
        (Substrate::Auto, None) if mode == Mode::Double => "f64",
        (Substrate::Auto, None) => "f32",
        (substrate, _) => {
            return Err(FftError::Unsupported(format!(
                "the substrate {substrate} is none of the mode {mode} on GPUs; take auto"
            )));
        }
    };
    // The processor says what the mode cannot take, and never computes.
    let (_, of_processor) = lines::<T>(request, mode, Unit::Scalar)?;
    let scale = Scaling::of(problem).value(problem.shape[problem.axes[0]]);
    let errors = (scale, of_processor);
    let (cuda, budget) =
        CudaExecutor::floats::<T>(machine, problem, request.schedule, (mode, table), errors)?;
    keeps_target(problem, mode, &budget)?;
    let bits = match mode.has_portable_bits() {
        true => "its bits are those of every processor",
        false => "its bits are those of the order in which tensor cores add",
    };
    Ok(Built {
        runner: Runner::Gpu(Box::new(cuda)),
        substrate,
        why: bits.into(),
        recipe: None,
        budget,
        proven: true,
        float_lines: Vec::new(),
        residues: None,
        fallback: None,
    })
}

/// Whether a mode keeps the error asked for, if one was.
fn keeps_target(problem: &Problem, mode: Mode, budget: &ErrorBudget) -> Result<(), FftError> {
    match problem.accuracy.target() {
        Some(target) if budget.bound > target => Err(FftError::Unsupported(format!(
            "the mode {mode} keeps {}, not the {target:.2e} asked for; ask for that, or take the engine auto or digits",
            bound_text(budget.bound, 2)
        ))),
        _ => Ok(()),
    }
}

/// The unit that runs, or the vectors where none does.
pub(crate) fn substrate(lines: &[FloatLine], unit: Unit) -> &'static str {
    let plans = || lines.iter().map(FloatLine::plan);
    if plans().any(|plan| plan.mode().format() == Some(Format::Fp16) && plan.unit().is_some()) {
        return "scalar_fp16";
    }
    match plans().any(|plan| plan.unit().is_some()) {
        true => unit.name(),
        false => plans().next().map_or("vectors", |plan| plan.vectors()),
    }
}

/// The errors of all axes, one after the other.
///
/// The promise is about the array that is returned. Half a spectrum may carry all of the error and half of the squares, so that the axis
/// on which a real array becomes half a spectrum counts √2 times, but for its last roundings. Other axes are transformed
/// within columns of the halved one, whose errors and squares have the same weight wherever they are counted, and the inverse begins
/// with a whole line: neither counts more (B18 in docs/ladder.md).
fn budget<T: Real>(schedule: &Schedule, lines: &[FloatLine]) -> ErrorBudget {
    let passes = schedule.passes.iter().zip(lines);
    passes.fold(ErrorBudget::EXACT, |total, (pass, line)| {
        let half = pass.kind == Kind::RealToComplex;
        let axis = line_budget::<T>(line.plan(), line.scale, half);
        let before = if total == ErrorBudget::EXACT {
            total
        } else {
            total.then(between_axes(T::IS_DOUBLE))
        };
        before.then(axis)
    })
}

/// The contribution of one axis to the error, for data of type `T`, and where half a spectrum is kept (B18).
fn line_budget<T: Real>(plan: &FloatPlan, scale: f64, half: bool) -> ErrorBudget {
    let bound = if half {
        plan.bound_of_half()
    } else {
        plan.bound()
    };
    let single = ErrorBudget {
        bound,
        expected: plan.expected(),
    };
    let bound_f64 = match half {
        true => plan.bound_of_half_f64(),
        false => plan.bound_f64(),
    };
    let transform = match (T::IS_DOUBLE, bound_f64, plan.expected_f64()) {
        (true, Some(bound), Some(expected)) => ErrorBudget { bound, expected },
        // f64 data rounded to f32 first.
        (true, ..) => {
            let mut rounded = final_rounding(f64::from(f32::EPSILON) / 2.0);
            if half {
                rounded.bound *= SQRT_2;
            }
            rounded.then(single)
        }
        (false, ..) => single,
    };
    // A power of two is exact.
    if scale.to_bits() << 12 == 0 {
        return transform;
    }
    // Any other factor is rounded itself, and so is its product: in f64, and for f32 once more.
    let double = final_rounding(f64::UNIT_ROUNDOFF);
    let scaled = transform.then(double).then(double);
    match T::IS_DOUBLE {
        true => scaled,
        false => scaled.then(final_rounding(T::UNIT_ROUNDOFF)),
    }
}
