//! The floats engine: lines of the caller's arrays through the plans of the crate `floats`.
//!
//! Lines are transformed several at a time, in place in the output where they lie one after the other there, else in
//! workspace. Results do not depend on which lines are taken together.
//!
//! Data wider than the mode's numbers are rounded to them, under a power of two of the line's own, so that nothing
//! overflows: an error of one f32 rounding, which is part of the bound. The norm's factor is one multiplication at the end.

use crate::error::FftError;
use crate::executor::cpu::{Executor, LineEngine};
use crate::executor::cuda::{CudaExecutor, Machine};
use crate::kind::Kind;
use crate::plan::planner::{Planner, Scaling};
use crate::plan::{Lengths, Plan};
use crate::problem::{self, Device, Engine, Family, Problem, Substrate};
use crate::sample::Real;
use crate::stages::numbers::{DOUBLE_NAN, Input, Output, Placement};
use crate::sync::lock;
use crate::transform::budget::{ErrorBudget, between_axes, final_rounding};
use crate::workspace::{take, words_for};
use floats::{Direction, FloatPlan, Format, Mode, Unit, Workspace};
use num_complex::Complex;
use std::collections::HashMap;
use std::f64::consts::SQRT_2;
use std::sync::{Arc, Mutex, Weak};

/// Lines that are transformed together, at most.
const MOST_LINES: usize = 64;
/// Points that are transformed together, unless 16 lines are more.
const MOST_POINTS: usize = 1 << 15;

/// Memory that plans of the crate `floats` work in: as many pieces as lines are ever transformed at the same time.
///
/// It is not cut from the caller's words, because it must be zero where data are padded to tiles.
#[derive(Debug, Default)]
struct Memory(Mutex<Vec<Workspace>>);

/// The transform along one axis.
#[derive(Debug, Clone)]
pub(crate) struct FloatLine {
    plan: Arc<FloatPlan>,
    memory: Arc<Memory>,
    /// Lines that one call takes.
    at_once: usize,
    /// The norm's factor.
    scale: f64,
}

/// Plans by what they are made for. Long ones are forgotten when nobody has them: they may only have been weighed.
#[derive(Debug, Default)]
pub(crate) struct FloatPlans(Mutex<HashMap<PlanKey, KnownPlan>>);

type PlanKey = (usize, Mode, bool, Unit);
/// The second one keeps a plan of few points.
type KnownPlan = (Weak<FloatPlan>, Option<Arc<FloatPlan>>);

/// Plans of more points are long.
const KEPT_POINTS: usize = 1 << 14;

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
        let known = |(plan, _): &KnownPlan| plan.upgrade();
        if let Some(plan) = lock(&self.0).get(&key).and_then(known) {
            return Ok(plan);
        }
        let direction = match inverse {
            true => Direction::Inverse,
            false => Direction::Forward,
        };
        let plan = Arc::new(FloatPlan::new(n, mode, direction, unit)?);
        let kept = (n <= KEPT_POINTS).then(|| Arc::clone(&plan));
        lock(&self.0).insert(key, (Arc::downgrade(&plan), kept));
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
        Substrate::Scalar => Some(Unit::Scalar),
        Substrate::Avx512Bf16 => Some(Unit::Avx512Bf16),
        Substrate::AmxBf16 => Some(Unit::AmxBf16),
        substrate => {
            return Err(FftError::Unsupported(format!(
                "the substrate {substrate:?} multiplies no bf16 numbers; take auto, Scalar, Avx512Bf16 or AmxBf16 for the mode {mode}"
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
            let mut refused = None;
            let units: Vec<Unit> = Unit::available().collect();
            for &unit in units.iter().rev() {
                // A length of one asks what the mode is built on, and costs nothing.
                match FloatPlan::new(1, mode, Direction::Forward, unit) {
                    Ok(_) => return Ok((unit, passed_over)),
                    Err(error) => {
                        passed_over.push_str(&format!("; {unit} is passed over: {error}"));
                        refused = Some(error);
                    }
                }
            }
            Err(refused.map_or_else(
                || FftError::Unsupported(format!("no matrix unit is fit for the mode {mode}")),
                FftError::from,
            ))
        }
    }
}

impl<T: Real> Planner<T> {
    /// The lines of a problem in a mode, and their error.
    pub(crate) fn float_executor(
        &self,
        problem: &Problem,
        threads: usize,
        mode: Mode,
        unit: Unit,
    ) -> Result<(Executor<T>, ErrorBudget), FftError> {
        if problem.family == Family::Exact {
            return Err(FftError::Unsupported(format!(
                "whole products are digits' and residues'; the mode {mode} has none: take the recipe truncated"
            )));
        }
        let mut plans = HashMap::new();
        for &axis in &problem.axes {
            let n = problem.shape[axis];
            let plan = self.float_plans.plan(n, mode, problem.direction, unit)?;
            plans.insert(axis, plan);
        }
        let points = problem.shape.iter().product::<usize>() * problem.batch;
        let scaling = Scaling::of(problem);
        let executor = Executor::new(problem, threads, |axis, _| {
            let plan = Arc::clone(&plans[&axis]);
            let n = plan.len();
            let line = FloatLine::new(plan, scaling.value(n), points / n, threads);
            LineEngine::Floats(line)
        });
        let budget = budget(&executor);
        Ok((executor, budget))
    }

    /// A plan of [`Engine::Floats`].
    pub(crate) fn floats(
        &self,
        problem: &Problem,
        threads: usize,
        mode: Mode,
        why: &str,
    ) -> Result<Plan<T>, FftError> {
        let (unit, passed_over) = unit_for(problem, mode)?;
        let (executor, budget) = self.float_executor(problem, threads, mode, unit)?;
        keeps_target(problem, mode, &budget)?;
        let bits = match mode.has_portable_bits() {
            true => "its bits are the same on every processor",
            false => "its bits depend on the order in which the matrix unit adds",
        };
        Ok(Plan {
            problem: problem.clone(),
            engine: Engine::Floats(mode),
            substrate: substrate(&executor, unit),
            device: Device::Cpu,
            cuda: None,
            choice: None,
            why: format!("{why}; {bits}{passed_over}"),
            budget,
            threads,
            executor,
            lengths: Lengths::new(problem),
            recipe: None,
            residues: None,
            fallback: None,
            proven: true,
        })
    }
}

impl<T: Real> Planner<T> {
    /// A plan of [`Engine::Floats`] on a GPU.
    pub(crate) fn floats_on_gpu(
        &self,
        problem: &Problem,
        mode: Mode,
        why: &str,
        (machine, ordinal): (Arc<dyn Machine>, usize),
    ) -> Result<Plan<T>, FftError> {
        let substrate = match (problem.substrate, mode.format()) {
            (Substrate::Auto, Some(Format::Fp16)) => "f16-mma-sync",
            (Substrate::Auto, _) => "bf16-mma-sync",
            (substrate, _) => {
                return Err(FftError::Unsupported(format!(
                    "the substrate {substrate:?} is none of the mode {mode} on GPUs; take auto"
                )));
            }
        };
        // The processor lays out the lines, and never computes them.
        let (executor, _) = self.float_executor(problem, 1, mode, Unit::Scalar)?;
        let scale = Scaling::of(problem).value(problem.shape[problem.axes[0]]);
        let (cuda, budget) = CudaExecutor::floats(machine, problem, &executor, mode, scale)?;
        keeps_target(problem, mode, &budget)?;
        let bits = match mode.has_portable_bits() {
            true => "its bits are those of every processor",
            false => "its bits are those of the order in which tensor cores add",
        };
        Ok(Plan {
            problem: problem.clone(),
            engine: Engine::Floats(mode),
            substrate,
            device: Device::Cuda(ordinal),
            cuda: Some(cuda),
            choice: None,
            why: format!("{why}; {bits}"),
            budget,
            threads: 1,
            executor,
            lengths: Lengths::new(problem),
            recipe: None,
            residues: None,
            fallback: None,
            proven: true,
        })
    }
}

/// Whether a mode keeps the error asked for, if one was.
fn keeps_target(problem: &Problem, mode: Mode, budget: &ErrorBudget) -> Result<(), FftError> {
    match problem.accuracy.target() {
        Some(target) if budget.bound > target => Err(FftError::Unsupported(format!(
            "the mode {mode} keeps {:.2e}, not the {target:.2e} asked for; ask for that, or take the engine auto or digits",
            budget.bound
        ))),
        _ => Ok(()),
    }
}

/// The unit that runs, or the vectors where none does.
pub(crate) fn substrate<T: Real>(executor: &Executor<T>, unit: Unit) -> &'static str {
    let plans = || executor.float_lines().map(|line| &line.plan);
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
/// within columns of the halved one, whose errors and squares have the same weight wherever they are counted, and the way back begins
/// with a whole line: neither counts more (B18 in docs/ladder.md).
fn budget<T: Real>(executor: &Executor<T>) -> ErrorBudget {
    executor
        .passes()
        .iter()
        .fold(ErrorBudget::EXACT, |total, pass| {
            let LineEngine::Floats(line) = &pass.engine else {
                unreachable!("one engine computes all axes");
            };
            let half = pass.kind == Kind::RealToComplex;
            let axis = line_budget::<T>(&line.plan, line.scale, half);
            let before = if total == ErrorBudget::EXACT {
                total
            } else {
                total.then(between_axes(T::IS_DOUBLE))
            };
            before.then(axis)
        })
}

/// What one axis contributes to the error, for data of type `T`, and where half a spectrum is kept (B18).
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

impl FloatLine {
    /// A line of `plan` in a problem of so many lines and threads.
    pub(crate) fn new(plan: Arc<FloatPlan>, scale: f64, lines: usize, threads: usize) -> Self {
        // Vectors want 16 lines; more than a few are only worth while where they stay in a cache.
        let most = (MOST_POINTS / plan.len()).clamp(16, MOST_LINES);
        FloatLine {
            plan,
            memory: Arc::default(),
            at_once: lines.div_ceil(threads.max(1)).clamp(1, most),
            scale,
        }
    }

    pub(crate) fn plan(&self) -> &FloatPlan {
        &self.plan
    }

    pub(crate) fn lines_at_once(&self) -> usize {
        self.at_once
    }

    /// Whether data are of the type that the mode computes with, or f32 that `double` widens itself.
    pub(crate) fn takes<T: Real>(&self) -> bool {
        !T::IS_DOUBLE || self.plan.mode().takes_f64()
    }

    /// 64-bit words of workspace for one call.
    pub(crate) fn workspace_len<T: Real>(&self) -> usize {
        let points = self.at_once * self.plan.len();
        match self.takes::<T>() {
            true => words_for::<Complex<T>>(points),
            false => words_for::<Complex<f32>>(points),
        }
    }

    /// Transforms lines that lie one after the other.
    fn transform<T: Real>(&self, lines: &mut [Complex<T>]) {
        let taken = lock(&self.memory.0).pop();
        let mut memory = taken.unwrap_or_else(|| self.plan.workspace());
        let outcome = if T::IS_DOUBLE {
            self.plan
                .process_f64(bytemuck::cast_slice_mut(lines), &mut memory)
        } else {
            self.plan
                .process(bytemuck::cast_slice_mut(lines), &mut memory)
        };
        debug_assert!(outcome.is_ok(), "whole lines in memory of this plan");
        lock(&self.memory.0).push(memory);
    }

    /// The power of two by which a line is made smaller before, because its transform could overflow where the scaled
    /// result does not.
    fn room<T: Real>(&self, factor: f64, line: &[Complex<T>]) -> i32 {
        if factor == 1.0 {
            return 0;
        }
        let growth = self.growth();
        let sizes = line.iter().map(|&value| size_in_bits(widened(value)));
        match exponent_of(sizes.max().unwrap_or(0)) {
            Some(exponent) if exponent + growth >= T::LARGEST_EXPONENT - 1 => growth,
            _ => 0,
        }
    }

    /// Whether a line that is to be scaled up is so small that it can be before it is transformed.
    fn lifts<T: Real>(&self, bias: i32, line: &[Complex<T>]) -> bool {
        if bias <= 0 {
            return false;
        }
        let sizes = line.iter().map(|&value| size_in_bits(widened(value)));
        let exponent = exponent_of(sizes.max().unwrap_or(0));
        exponent.is_some_and(|exponent| exponent + bias + self.growth() < 0)
    }

    /// Bits that a number may grow by.
    fn growth(&self) -> i32 {
        self.plan.len().next_power_of_two().trailing_zeros() as i32 + 1
    }

    /// Transforms and scales lines that lie one after the other, of the type that the mode takes; `biases` has the power of
    /// two of each.
    pub(crate) fn run_in_place<T: Real>(
        &self,
        lines: &mut [Complex<T>],
        biases: &[i32; MOST_LINES],
    ) {
        let n = self.plan.len();
        let mut factors = [1.0; MOST_LINES];
        for (line, (factor, &bias)) in lines
            .chunks_exact_mut(n)
            .zip(factors.iter_mut().zip(biases))
        {
            *factor = self.scale * f64::from(bias).exp2();
            let room = self.room(*factor, line);
            // Numbers that are scaled up are small: before the transform that is exact, and keeps its roundings small, too.
            let before = match room {
                0 if self.lifts(bias, line) => bias,
                _ => -room,
            };
            if before != 0 {
                scale_line(line, f64::from(before).exp2());
                *factor *= f64::from(-before).exp2();
            }
        }
        self.transform(lines);
        for (line, factor) in lines.chunks_exact_mut(n).zip(factors) {
            if factor != 1.0 {
                scale_line(line, factor);
            }
            make_nan_canonical(line);
        }
    }

    /// Reads `count` lines from anywhere, transforms them in workspace, and writes them anywhere.
    pub(crate) fn run<T: Real>(
        &self,
        input: &Input<'_, MOST_LINES>,
        output: &Output<'_, MOST_LINES>,
        count: usize,
        mut workspace: &mut [u64],
    ) {
        let points = count * self.plan.len();
        if self.takes::<T>() {
            let lines = take::<Complex<T>>(&mut workspace, points);
            self.load(input, lines, |_| 1.0);
            self.run_in_place(lines, &output.bias);
            let kept = &output.places[..count];
            in_memory_order(kept, output.count, |lane, i| {
                output.put(lane, i, widened(lines[lane * self.plan.len() + i]));
            });
        } else {
            self.run_rounded(input, output, take(&mut workspace, points));
        }
    }

    /// Every number times its line's factor, which is a power of two.
    fn load<D: Real>(
        &self,
        input: &Input<'_, MOST_LINES>,
        lines: &mut [Complex<D>],
        factor: impl Fn(usize) -> f64,
    ) {
        let n = self.plan.len();
        let places = &input.places[..lines.len() / n];
        in_memory_order(places, n, |lane, i| {
            let value = input.element(lane, i) * factor(lane);
            lines[lane * n + i] = Complex::new(D::narrow(value.re), D::narrow(value.im));
        });
    }

    /// Lines of f64 by a mode for f32.
    fn run_rounded(
        &self,
        input: &Input<'_, MOST_LINES>,
        output: &Output<'_, MOST_LINES>,
        lines: &mut [Complex<f32>],
    ) {
        let n = self.plan.len();
        let count = lines.len() / n;
        let mut largest = [0u64; MOST_LINES];
        in_memory_order(&input.places[..count], n, |lane, i| {
            largest[lane] = largest[lane].max(size_in_bits(input.element(lane, i)));
        });
        // What is not finite stays so at any scale, and makes the whole line NaN. Subnormal lines are lifted as far as
        // a factor goes, which is far enough for f32.
        let exponents = largest.map(|bits| exponent_of(bits).unwrap_or(0));
        self.load(input, lines, |lane| f64::from(-exponents[lane]).exp2());
        self.transform(lines);
        // The power of two may be out of reach of one factor where its product with a number is not.
        let factors: [(f64, f64); MOST_LINES] = std::array::from_fn(|lane| {
            let exponent = exponents[lane] + output.bias[lane];
            let half = exponent / 2;
            let rest = f64::from(exponent - half).exp2();
            (self.scale * f64::from(half).exp2(), rest)
        });
        in_memory_order(&output.places[..count], output.count, |lane, i| {
            let (one, two) = factors[lane];
            output.put(lane, i, widened(lines[lane * n + i]) * one * two);
        });
        for lane in (0..count).filter(|lane| lines[lane * n].re.is_nan()) {
            output.fill_nan(lane);
        }
    }
}

/// Calls `visit` for every line and element, neighbours in memory one after the other.
fn in_memory_order(lines: &[Placement], elements: usize, mut visit: impl FnMut(usize, usize)) {
    let side_by_side = lines.len() > 1
        && (lines[1].offset - lines[0].offset).unsigned_abs() < lines[0].stride.unsigned_abs();
    if side_by_side {
        for i in 0..elements {
            (0..lines.len()).for_each(|lane| visit(lane, i));
        }
    } else {
        for lane in 0..lines.len() {
            (0..elements).for_each(|i| visit(lane, i));
        }
    }
}

/// Every product is rounded once, to the type of the line.
fn scale_line<T: Real>(line: &mut [Complex<T>], factor: f64) {
    for value in line {
        let scaled = widened(*value) * factor;
        *value = Complex::new(T::narrow(scaled.re), T::narrow(scaled.im));
    }
}

/// A line with a number that is not finite is NaN in all places, with a sign and payload of the machine's: these are made those of
/// the digits engine.
fn make_nan_canonical<T: Real>(line: &mut [Complex<T>]) {
    if !line[0].re.widen().is_nan() {
        return;
    }
    let canonical = |part: T| match part.widen().is_nan() {
        true => T::narrow(DOUBLE_NAN),
        false => part,
    };
    for value in line {
        *value = Complex::new(canonical(value.re), canonical(value.im));
    }
}

/// A number as f64, exactly.
fn widened<T: Real>(value: Complex<T>) -> Complex<f64> {
    Complex::new(value.re.widen(), value.im.widen())
}

/// The larger part's magnitude; magnitudes compare as their bits do, and whatever is not finite is above all that is.
fn size_in_bits(value: Complex<f64>) -> u64 {
    value.re.abs().to_bits().max(value.im.abs().to_bits())
}

/// The exponent of a magnitude, 0 for zero; none where it is not finite.
fn exponent_of(bits: u64) -> Option<i32> {
    match bits {
        0 => Some(0),
        _ if bits >= f64::INFINITY.to_bits() => None,
        _ => Some(((bits >> 52) as i32 - 1023).max(-1022)),
    }
}
