//! The native engine: the machine's own floating point, for speed instead of reproducible bits. Its error is measured, not proven.
//!
//! Contiguous lines are RustFFT's and RealFFT's, in place or from array to array without a copy. Lines of a strided axis lie side by
//! side: `side_by_side.rs` transforms them so, where it has their length; all others go through a panel in which they are contiguous.
//! A long line is an array whose columns lie side by side (`long_lines.rs`).

mod butterflies;
mod long_lines;
mod panels;
mod side_by_side;

use super::{BuildEngine, Built, Request, Runner, native_error};
use crate::error::FftError;
use crate::executor::cpu::{Executor, Job, LineTransform};
use crate::executor::lines::{InputArray, OutputArray, Run};
use crate::executor::schedule::AxisPass;
use crate::kind::Kind;
use crate::norm::Scaling;
use crate::recipe::factor::prime_factors;
use crate::sample::Real;
use crate::stages::numbers::Placement;
use crate::transform::budget::ErrorBudget;
use crate::workspace::{ReadArray, SharedArray, take, words_for};
use fallible_memory::expect;
use long_lines::LongLine;
use num_complex::Complex;
use panels::Lines;
use realfft::{ComplexToReal, RealToComplex};
use rustfft::Fft;
use side_by_side::{MOST_LANES, SideBySide};
use std::sync::Arc;

/// A panel of lines should stay in the first-level cache, with room for what it is copied from.
const PANEL_BYTES: usize = 16 << 10;
/// Complex lines side by side whose points fill two cache lines: processors fetch these in pairs.
const FEWEST_LINES: usize = 8;
/// More lines in a panel save nothing.
const MOST_LINES: usize = 64;
/// Panels of long lines are no longer than this, however few lines they then have.
const LARGEST_PANEL_BYTES: usize = 4 << 20;
/// Lines this many bytes apart fall on the same places of the first-level cache.
const CACHE_PERIOD: usize = 4096;

/// Lines side by side that are copied together, where they are: long rows are what memory is good at. Fewer of long lines, so that they
/// stay in the second-level cache.
const COLUMNS: usize = 32;
const FEW_COLUMNS: usize = 16;
/// Points from which there are few.
const LONG_LINE: usize = 512;
/// Columns between rows of them, or all rows of a power of two would fall on the same places of a cache.
const COLUMN_GAP: usize = 4;
/// Lines that reach no further in memory are in the second-level cache: there a copy costs more than it saves.
const NEAR_BYTES: usize = 4 << 20;

/// The transforms of lines along one axis, and their scale.
#[derive(Clone)]
pub(crate) struct NativeLine<T: Real> {
    transform: Transform<T>,
    n: usize,
    scale: T,
    /// Lines of one call.
    at_once: usize,
    /// Whether complex lines are transformed where they are: contiguous, both read and written.
    contiguous: bool,
    /// Numbers from one line of a panel to the next.
    pitch: usize,
}

/// A planned transform: RustFFT's, RealFFT's, or ours.
#[derive(Clone)]
enum Transform<T: Real> {
    Complex(Arc<dyn Fft<T>>),
    SideBySide {
        fft: SideBySide,
        /// Lines are transformed where they are, as long as there is one for every lane.
        direct: bool,
    },
    Long(LongLine),
    RealToComplex(Arc<dyn RealToComplex<T>>),
    ComplexToReal(Arc<dyn ComplexToReal<T>>),
}

/// Memory of one call.
struct Memory<'a, T> {
    panel: &'a mut [Complex<T>],
    reals: &'a mut [T],
    scratch: &'a mut [Complex<T>],
}

impl<T: Real> NativeLine<T> {
    /// Complex lines have plans for both directions. RealFFT's have one each: what is to be had by the other one is conjugated.
    pub(crate) fn new(pass: &AxisPass, inverse: bool, scale: f64, threads: usize) -> Self {
        let n = pass.n;
        let contiguous = pass.read.stride == 1 && pass.write.stride == 1;
        if pass.kind == Kind::ComplexToComplex
            && T::IS_DOUBLE
            && !contiguous
            && let Some(fft) = SideBySide::new(n, inverse, scale)
        {
            return NativeLine::side_by_side(pass, fft, scale, threads);
        }
        if pass.kind == Kind::ComplexToComplex
            && T::IS_DOUBLE
            && let Some(line) = LongLine::new(n, inverse, scale)
        {
            return NativeLine {
                transform: Transform::Long(line),
                n,
                scale: T::narrow(scale),
                at_once: 1,
                contiguous: false,
                pitch: 0,
            };
        }
        let transform = match pass.kind {
            Kind::ComplexToComplex if inverse => Transform::Complex(T::native_inverse(n)),
            Kind::ComplexToComplex => Transform::Complex(T::native_complex(n)),
            Kind::RealToComplex => Transform::RealToComplex(T::native_real_to_complex(n)),
            Kind::ComplexToReal => Transform::ComplexToReal(T::native_complex_to_real(n)),
        };
        let bytes = n * size_of::<Complex<T>>();
        let most = (PANEL_BYTES / bytes).clamp(FEWEST_LINES, MOST_LINES);
        let most = most.min((LARGEST_PANEL_BYTES / bytes).max(1));
        NativeLine {
            transform,
            n,
            scale: T::narrow(scale),
            at_once: pass.read.count().div_ceil(threads.max(1)).clamp(1, most),
            contiguous: pass.kind == Kind::ComplexToComplex && contiguous,
            pitch: match bytes.is_multiple_of(CACHE_PERIOD) {
                true => n + 4,
                false => n,
            },
        }
    }

    fn side_by_side(pass: &AxisPass, fft: SideBySide, scale: f64, threads: usize) -> Self {
        let columns = match pass.n {
            ..LONG_LINE => COLUMNS,
            _ => FEW_COLUMNS,
        };
        let reach = |stride: isize| stride.unsigned_abs().saturating_mul(pass.n);
        let reach = reach(pass.read.stride).max(reach(pass.write.stride));
        let lines = pass.read.count().div_ceil(threads.max(1));
        NativeLine {
            transform: Transform::SideBySide {
                fft,
                direct: reach <= NEAR_BYTES / size_of::<Complex<T>>(),
            },
            n: pass.n,
            scale: T::narrow(scale),
            at_once: lines.clamp(1, columns),
            contiguous: false,
            pitch: lines.min(columns).next_multiple_of(MOST_LANES) + COLUMN_GAP,
        }
    }

    fn scratch_len(&self) -> usize {
        match &self.transform {
            Transform::Complex(fft) => {
                let in_place = fft.get_inplace_scratch_len();
                in_place.max(fft.get_immutable_scratch_len())
            }
            Transform::RealToComplex(fft) => fft.get_scratch_len(),
            Transform::ComplexToReal(fft) => fft.get_scratch_len(),
            Transform::SideBySide { fft, .. } => {
                (fft.words() * size_of::<u64>()).div_ceil(size_of::<Complex<T>>())
            }
            Transform::Long(_) => unreachable!("long lines divide their memory themselves"),
        }
    }

    fn panel_len(&self) -> usize {
        match self.transform {
            Transform::SideBySide { .. } => self.n * self.pitch,
            _ if self.contiguous => 0,
            _ => self.at_once * self.pitch,
        }
    }

    fn reals_len(&self) -> usize {
        match self.transform {
            Transform::Complex(_) | Transform::SideBySide { .. } | Transform::Long(_) => 0,
            _ => self.at_once * self.n,
        }
    }

    fn words(&self) -> usize {
        words_for::<Complex<T>>(self.panel_len())
            + words_for::<T>(self.reals_len())
            + words_for::<Complex<T>>(self.scratch_len())
    }

    fn memory<'a>(&self, mut workspace: &'a mut [u64]) -> Memory<'a, T> {
        Memory {
            panel: take(&mut workspace, self.panel_len()),
            reals: take(&mut workspace, self.reals_len()),
            scratch: take(&mut workspace, self.scratch_len()),
        }
    }

    fn scaled(&self, z: Complex<T>) -> Complex<T> {
        Complex::new(z.re * self.scale, z.im * self.scale)
    }

    fn has_scale(&self) -> bool {
        self.scale.widen() != 1.0
    }

    /// Contiguous lines, transformed in the output.
    fn run_contiguous(
        &self,
        fft: &dyn Fft<T>,
        run: Run,
        from: ReadArray<'_, Complex<T>>,
        to: SharedArray<'_, Complex<T>>,
        scratch: &mut [Complex<T>],
    ) {
        let n = self.n;
        // In f32, RustFFT's SSE code transforms two lines side by side and a last one of an odd number by other operations: bits
        // would depend on the batch.
        let packed = [run.read_distance, run.write_distance] == [n as isize; 2];
        let (calls, lines) = match packed && T::IS_DOUBLE {
            true => (1, run.lines),
            false => (run.lines, 1),
        };
        for call in 0..calls {
            let run = run.skip(call);
            let source = from.checked(run.read.at(0), lines * n);
            let target = to.checked(run.write.at(0), lines * n);
            let in_place = source == target.cast_const();
            // SAFETY: in range; these lines are this thread's, and nobody reads them through another handle meanwhile.
            let target = unsafe { std::slice::from_raw_parts_mut(target, lines * n) };
            if in_place {
                fft.process_with_scratch(target, scratch);
            } else {
                // SAFETY: in range; arrays that are not the same do not overlap, and nobody writes the input.
                let source = unsafe { std::slice::from_raw_parts(source, lines * n) };
                fft.process_immutable_with_scratch(source, target, scratch);
            }
            if self.has_scale() {
                for z in target {
                    *z = self.scaled(*z);
                }
            }
        }
    }

    /// Lines side by side: where they are, or as columns of a panel.
    fn run_side_by_side(
        &self,
        (fft, direct): (&SideBySide, bool),
        job: &Job<'_, T>,
        (from, to): (ReadArray<'_, Complex<T>>, SharedArray<'_, Complex<T>>),
        memory: &mut Memory<'_, T>,
    ) {
        // SAFETY: T is f64: others have no such lines.
        let (from, to) = unsafe { (from.cast::<Complex<f64>>(), to.cast::<Complex<f64>>()) };
        let panel: &mut [Complex<f64>] = bytemuck::cast_slice_mut(memory.panel);
        let workspace: &mut [u64] = bytemuck::cast_slice_mut(memory.scratch);
        let (lanes, n) = (fft.lanes(), self.n);
        let source = |run: &Run, count| Lines {
            place: run.read,
            distance: run.read_distance,
            count,
            points: n,
        };
        let target = |run: &Run, count| Lines {
            place: run.write,
            distance: run.write_distance,
            count,
            points: n,
        };
        // Lines of a run that fill all lanes are transformed where they are.
        let direct_lines =
            |run: &Run| match direct && [run.read_distance, run.write_distance] == [1, 1] {
                true => run.lines / lanes * lanes,
                false => 0,
            };
        let mut filled = 0;
        job.for_each_run(|run| {
            let direct = direct_lines(&run);
            for line in (0..direct).step_by(lanes) {
                let run = run.skip(line);
                let (source, target) = (source(&run, lanes), target(&run, lanes));
                fft.run((&from, &source), (&to, &target), workspace);
            }
            let run = run.skip(direct);
            if run.lines > 0 {
                source(&run, run.lines).gather_rows(&from, panel, (filled, self.pitch));
                filled += run.lines;
            }
        });
        if filled == 0 {
            return;
        }
        let columns = SharedArray::new(&mut *panel);
        for column in (0..filled).step_by(lanes) {
            // Columns beyond the lines hold anything, and stay in the panel.
            let lines = Lines {
                place: Placement {
                    offset: column as isize,
                    stride: self.pitch as isize,
                },
                distance: 1,
                count: lanes,
                points: n,
            };
            fft.run((&columns.reader(), &lines), (&columns, &lines), workspace);
        }
        let mut filled = 0;
        job.for_each_run(|run| {
            let run = run.skip(direct_lines(&run));
            if run.lines > 0 {
                target(&run, run.lines).scatter_rows(panel, (filled, self.pitch), &to);
                filled += run.lines;
            }
        });
    }

    /// Lines that lie in any way, through a panel.
    fn run_in_panel(
        &self,
        fft: &dyn Fft<T>,
        (source, target): (Lines, Lines),
        from: ReadArray<'_, Complex<T>>,
        to: SharedArray<'_, Complex<T>>,
        memory: &mut Memory<'_, T>,
    ) {
        let (n, pitch) = (self.n, self.pitch);
        source.gather(&from, memory.panel, pitch, |z| z);
        let lines = &mut memory.panel[..(source.count - 1) * pitch + n];
        // As above.
        if pitch == n && T::IS_DOUBLE {
            fft.process_with_scratch(lines, memory.scratch);
        } else {
            for line in lines.chunks_mut(pitch) {
                fft.process_with_scratch(&mut line[..n], memory.scratch);
            }
        }
        if self.has_scale() {
            target.scatter(lines, pitch, &to, |z| self.scaled(z));
        } else {
            target.scatter(lines, pitch, &to, |z| z);
        }
    }

    fn run_real_to_complex(
        &self,
        fft: &dyn RealToComplex<T>,
        (source, target): (Lines, Lines),
        (from, to): (ReadArray<'_, T>, SharedArray<'_, Complex<T>>),
        conjugate: bool,
        memory: &mut Memory<'_, T>,
    ) {
        let (n, pitch) = (self.n, self.pitch);
        source.gather(&from, memory.reals, n, |x| x);
        let reals = memory.reals.chunks_mut(n).take(source.count);
        let imaginary = if conjugate { -self.scale } else { self.scale };
        let scaled = |z: Complex<T>| Complex::new(z.re * self.scale, z.im * imaginary);
        if target.place.stride == 1 {
            for (line, real) in reals.enumerate() {
                let half = target.contiguous_line(line, &to);
                let outcome = fft.process_with_scratch(real, half, memory.scratch);
                debug_assert!(outcome.is_ok(), "the lengths are RealFFT's");
                if conjugate || self.has_scale() {
                    half.iter_mut().for_each(|z| *z = scaled(*z));
                }
            }
            return;
        }
        for (real, half) in reals.zip(memory.panel.chunks_mut(pitch)) {
            let half = &mut half[..target.points];
            let outcome = fft.process_with_scratch(real, half, memory.scratch);
            debug_assert!(outcome.is_ok(), "the lengths are RealFFT's");
        }
        target.scatter(memory.panel, pitch, &to, scaled);
    }

    fn run_complex_to_real(
        &self,
        fft: &dyn ComplexToReal<T>,
        (source, target): (Lines, Lines),
        (from, to): (ReadArray<'_, Complex<T>>, SharedArray<'_, T>),
        conjugate: bool,
        memory: &mut Memory<'_, T>,
    ) {
        let (n, pitch) = (self.n, self.pitch);
        // RealFFT computes with exp(+i…): a forward transform takes the conjugate.
        match conjugate {
            true => source.gather(&from, memory.panel, pitch, |z| z),
            false => source.gather(&from, memory.panel, pitch, |z| z.conj()),
        }
        let halves = memory.panel.chunks_mut(pitch).take(source.count);
        let direct = target.place.stride == 1;
        for (line, half) in halves.enumerate() {
            let half = &mut half[..source.points];
            make_real(&mut half[0]);
            if n.is_multiple_of(2) {
                make_real(&mut half[n / 2]);
            }
            let real = match direct {
                true => target.contiguous_line(line, &to),
                false => &mut memory.reals[line * n..][..n],
            };
            let outcome = fft.process_with_scratch(half, real, memory.scratch);
            debug_assert!(outcome.is_ok(), "what RealFFT rejects was cleared");
            if direct && self.has_scale() {
                real.iter_mut().for_each(|x| *x = *x * self.scale);
            }
        }
        if !direct {
            target.scatter(memory.reals, n, &to, |x| x * self.scale);
        }
    }
}

/// A real signal has no imaginary part here; what is given is left out (and reported by the plan), but a NaN or an infinity
/// still makes the transform NaN.
fn make_real<T: Real>(z: &mut Complex<T>) {
    if !z.im.widen().is_finite() {
        z.re = T::narrow(f64::NAN);
    }
    z.im = T::narrow(0.0);
}

impl<T: Real> LineTransform<T> for NativeLine<T> {
    fn lines_at_once(&self) -> usize {
        self.at_once
    }

    fn is_large(&self) -> bool {
        matches!(self.transform, Transform::Long(_))
    }

    fn workspace_len(&self, workers: usize, _: usize) -> usize {
        match &self.transform {
            Transform::Long(line) => line.words(workers),
            _ => self.words(),
        }
    }

    /// Estimated.
    fn table_bytes(&self) -> usize {
        match &self.transform {
            Transform::SideBySide { fft, .. } => fft.table_bytes(),
            Transform::Long(line) => line.table_bytes(),
            _ => 4 * self.n * size_of::<Complex<T>>(),
        }
    }

    fn is_forward_only(&self) -> bool {
        let both = matches!(
            self.transform,
            Transform::Complex(_) | Transform::SideBySide { .. } | Transform::Long(_)
        );
        !both
    }

    fn is_scaled_between_axes(&self) -> bool {
        false
    }

    fn is_bound_by_memory(&self) -> bool {
        // A long line is a stage of its own.
        !matches!(self.transform, Transform::Long(_))
    }

    fn run(&self, job: &Job<'_, T>, workspace: &mut [u64], workers: usize) {
        if let (Transform::Long(line), InputArray::Complex(from), OutputArray::Complex(to)) =
            (&self.transform, job.from, job.to)
        {
            // SAFETY: T is f64: others have no such lines.
            let (from, to) = unsafe { (from.cast::<Complex<f64>>(), to.cast::<Complex<f64>>()) };
            job.for_each_run(|run| {
                for number in 0..run.lines {
                    let run = run.skip(number);
                    line.run((&from, run.read), (&to, run.write), workspace, workers);
                }
            });
            return;
        }
        let mut memory = self.memory(workspace);
        let half = self.n / 2 + 1;
        if let (
            Transform::SideBySide { fft, direct },
            InputArray::Complex(from),
            OutputArray::Complex(to),
        ) = (&self.transform, job.from, job.to)
        {
            self.run_side_by_side((fft, *direct), job, (from, to), &mut memory);
            return;
        }
        job.for_each_run(|run| {
            let lines = |place, distance, points| Lines {
                place,
                distance,
                count: run.lines,
                points,
            };
            let source = |points| lines(run.read, run.read_distance, points);
            let target = |points| lines(run.write, run.write_distance, points);
            match (&self.transform, job.from, job.to) {
                (Transform::Complex(fft), InputArray::Complex(from), OutputArray::Complex(to)) => {
                    if self.contiguous {
                        self.run_contiguous(&**fft, run, from, to, memory.scratch);
                    } else {
                        let places = (source(self.n), target(self.n));
                        self.run_in_panel(&**fft, places, from, to, &mut memory);
                    }
                }
                (
                    Transform::RealToComplex(fft),
                    InputArray::Real(from),
                    OutputArray::Complex(to),
                ) => {
                    let (places, arrays) = ((source(self.n), target(half)), (from, to));
                    self.run_real_to_complex(&**fft, places, arrays, job.conjugate, &mut memory);
                }
                (
                    Transform::ComplexToReal(fft),
                    InputArray::Complex(from),
                    OutputArray::Real(to),
                ) => {
                    let (places, arrays) = ((source(half), target(self.n)), (from, to));
                    self.run_complex_to_real(&**fft, places, arrays, job.conjugate, &mut memory);
                }
                _ => unreachable!("passes have arrays of their kind"),
            }
        });
    }
}

/// Rejects lines whose tables cannot be allocated: RustFFT would end the program. It takes at most three numbers a point while it plans,
/// and for factors beyond 11 Bluestein's algorithm, with at most eleven numbers for each of their points (measured, in all its planners).
fn expect_tables<T: Real>(n: usize) -> Result<(), FftError> {
    let large = prime_factors(n).into_iter().filter(|&factor| factor > 11);
    let convolved: usize = large.product();
    let convolved = if convolved > 1 { convolved } else { 0 };
    let numbers = (n as u64)
        .saturating_mul(3)
        .saturating_add((convolved as u64).saturating_mul(12));
    Ok(expect(
        numbers.saturating_mul(size_of::<Complex<T>>() as u64),
    )?)
}

/// The executor of a problem.
pub(super) fn executor<T: Real>(request: &Request<'_>) -> Result<Executor<T>, FftError> {
    let scaling = Scaling::of(request.problem);
    let schedule = request.schedule;
    for pass in &schedule.passes {
        expect_tables::<T>(pass.n)?;
    }
    let lines = schedule.passes.iter();
    let lines = lines.map(|pass| -> Box<dyn LineTransform<T>> {
        let scale = scaling.value(pass.n);
        let line = NativeLine::new(pass, schedule.conjugate, scale, request.threads);
        Box::new(line)
    });
    Ok(Executor::new(schedule, lines.collect(), request.threads))
}

pub(crate) struct NativeEngine;

impl<T: Real> BuildEngine<T> for NativeEngine {
    fn build(&self, request: &Request<'_>) -> Result<Built<T>, FftError> {
        let error = native_error::<T>(request.problem);
        Ok(Built {
            runner: Runner::Processor(executor(request)?),
            substrate: "native",
            why: String::new(),
            recipe: None,
            budget: ErrorBudget {
                bound: error,
                expected: error / 2.0,
            },
            proven: false,
            float_lines: Vec::new(),
            residues: None,
            fallback: None,
        })
    }
}
