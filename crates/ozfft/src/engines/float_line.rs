//! Lines of the caller's arrays through the plans of the crate `floats`.
//!
//! Lines are transformed several at a time, in place in the output where they lie one after the other there, else in
//! workspace. Results do not depend on which lines are taken together.
//!
//! Data wider than the mode's numbers are rounded to them, under a power of two of the line's own, so that nothing
//! overflows: an error of one f32 rounding, which is part of the bound. The norm's factor is one multiplication at the end.

use crate::executor::cpu::{Job, LineTransform};
use crate::portable::power_of_two;
use crate::sample::Real;
use crate::stages::numbers::{DOUBLE_NAN, Input, Output, Placement};
use crate::sync::lock;
use crate::transform::line::Connect;
use crate::workspace::{take, words_for};
use floats::{FloatPlan, Workspace};
use num_complex::Complex;
use std::sync::{Arc, Mutex};

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
    pub(super) scale: f64,
}

impl<T: Real> LineTransform<T> for FloatLine {
    fn lines_at_once(&self) -> usize {
        self.at_once
    }

    fn workspace_len(&self, _: usize, _: usize) -> usize {
        self.words::<T>()
    }

    /// Estimated.
    fn table_bytes(&self) -> usize {
        4 * self.plan.len() * size_of::<Complex<T>>()
    }

    /// There are plans for both directions.
    fn is_forward_only(&self) -> bool {
        false
    }

    fn run(&self, job: &Job<'_, T>, workspace: &mut [u64], _: usize) {
        let in_output = match self.takes::<T>() {
            true => job.lines_in_output(),
            false => None,
        };
        match in_output {
            Some(lines) => self.run_in_place(lines, &job.biases()),
            None => job.connect(|input, output| {
                self.run_in_workspace::<T>(input, output, job.count, workspace);
            }),
        }
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

    /// Whether data are of the type that the mode computes with, or f32 that `double` widens itself.
    fn takes<T: Real>(&self) -> bool {
        !T::IS_DOUBLE || self.plan.mode().takes_f64()
    }

    /// 64-bit words of workspace for one call.
    fn words<T: Real>(&self) -> usize {
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
    fn run_in_place<T: Real>(&self, lines: &mut [Complex<T>], biases: &[i32; MOST_LINES]) {
        let n = self.plan.len();
        let mut factors = [1.0; MOST_LINES];
        for (line, (factor, &bias)) in lines
            .chunks_exact_mut(n)
            .zip(factors.iter_mut().zip(biases))
        {
            *factor = self.scale * power_of_two(bias);
            let room = self.room(*factor, line);
            // Numbers that are scaled up are small: before the transform that is exact, and keeps its roundings small, too.
            let before = match room {
                0 if self.lifts(bias, line) => bias,
                _ => -room,
            };
            if before != 0 {
                scale_line(line, power_of_two(before));
                *factor *= power_of_two(-before);
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
    fn run_in_workspace<T: Real>(
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
        self.load(input, lines, |lane| power_of_two(-exponents[lane]));
        self.transform(lines);
        // The power of two may be out of reach of one factor where its product with a number is not.
        let factors: [(f64, f64); MOST_LINES] = std::array::from_fn(|lane| {
            let exponent = exponents[lane] + output.bias[lane];
            let half = exponent / 2;
            let rest = power_of_two(exponent - half);
            (self.scale * power_of_two(half), rest)
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
