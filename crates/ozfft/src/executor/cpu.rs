//! The loop over axes and lines, divided among threads. Every line is independent, so threads cannot change a bit.

use super::lines::{InputArray, LineSet, OutputArray, Place, Run, for_each_run};
use super::scales::{Scan, largest_of};
use super::schedule::{AxisPass, Schedule};
use crate::kind::Kind;
use crate::matrix_unit::UnitSession;
use crate::parallel;
use crate::sample::Real;
use crate::stages::numbers::{Elements, Input, Output, Reader, Writer};
use crate::stages::quantise::{Columns, needs_finer_unit};
use crate::transform::line::Connect;
use crate::workspace::{ALIGNMENT_SLACK, SharedArray, aligned, take, words_for};
use float_environment::DefaultEnvironment;
use num_complex::Complex;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The transform along one axis: what an engine gives to the processor.
pub(crate) trait LineTransform<T: Real>: Send + Sync {
    /// Whether one line is divided among threads, rather than lines among them.
    fn is_large(&self) -> bool {
        false
    }

    /// Lines that one call transforms.
    fn lines_at_once(&self) -> usize;

    /// Lines that it transforms side by side, where it transforms a few that are left over one by one, in less time; else 0.
    fn lanes(&self) -> usize {
        0
    }

    /// 64-bit words of workspace of one call, of a pass of so many lines.
    fn workspace_len(&self, workers: usize, lines: usize) -> usize;

    /// Bytes of its tables.
    fn table_bytes(&self) -> usize;

    /// Whether inverse transforms are had by conjugating.
    fn is_forward_only(&self) -> bool {
        true
    }

    /// Whether transforms along several axes are kept from overflowing between them.
    fn is_scaled_between_axes(&self) -> bool {
        true
    }

    /// Whether several axes of a part of the array that fits into a cache are transformed before the next part: for lines that
    /// take less time than their way from memory.
    fn is_bound_by_memory(&self) -> bool {
        false
    }

    /// How lines are quantised, where they are.
    fn columns(&self) -> Option<Columns> {
        None
    }

    /// The largest finite magnitude of some numbers, as the bits of an f64.
    fn largest(&self, numbers: &[T]) -> u64 {
        largest_of(numbers)
    }

    /// Prepares this thread for several calls.
    fn session(&self) -> UnitSession {
        UnitSession::default()
    }

    /// Transforms neighbouring lines.
    fn run(&self, job: &Job<'_, T>, workspace: &mut [u64], workers: usize);
}

/// A planned problem on the CPU.
pub(crate) struct Executor<T: Real> {
    schedule: Arc<Schedule>,
    lines: Vec<Box<dyn LineTransform<T>>>,
    stages: Vec<Stage>,
    threads: usize,
    workspace_len: usize,
    /// There is one pass over one line, for one thread: what its call takes besides is felt.
    alone: bool,
}

/// Passes that run together, slab after slab: as long as one of them is in the cache.
struct Stage {
    passes: Range<usize>,
    /// Parts of the array, of successive lines in all of its passes; 1 for all lines of one pass.
    slabs: usize,
}

/// Bytes of a slab: half of a small second-level cache, as input and output may be two arrays.
const SLAB_BYTES: usize = 512 << 10;

/// Turns of a thread in a stage.
const TURNS: usize = 8;

/// The arrays of a call.
struct Arrays<'a, T: Real> {
    input: InputArray<'a, T>,
    output: OutputArray<'a, T>,
    spare: SharedArray<'a, Complex<T>>,
    scales: &'a [i32],
}

impl<T: Real> Executor<T> {
    /// `lines` has the transforms along the axes, in the order of the passes.
    pub(crate) fn new(
        schedule: &Arc<Schedule>,
        lines: Vec<Box<dyn LineTransform<T>>>,
        threads: usize,
    ) -> Self {
        let alone = match (&schedule.passes[..], &lines[..]) {
            ([pass], [line]) => pass.read.count() == 1 && !line.is_large(),
            _ => false,
        };
        let mut executor = Executor {
            schedule: Arc::clone(schedule),
            stages: stages(schedule, &lines, threads),
            lines,
            threads,
            workspace_len: 0,
            alone,
        };
        executor.workspace_len = executor.find_workspace_len();
        executor
    }

    /// About how many bytes of tables its lines have.
    pub(crate) fn table_bytes(&self) -> usize {
        let bytes = self.lines.iter().map(|line| line.table_bytes());
        size_of::<Self>() + bytes.sum::<usize>()
    }

    /// 64-bit words of workspace.
    pub(crate) fn workspace_len(&self) -> usize {
        self.workspace_len
    }

    fn find_workspace_len(&self) -> usize {
        let numbers = 0..self.lines.len();
        let scratch = numbers.map(|number| match self.lines[number].is_large() {
            true => self.scratch_len(number, self.threads),
            false => self.threads * self.scratch_len(number, 1),
        });
        words_for::<Complex<T>>(self.schedule.spare_len)
            + words_for::<i32>(self.scaled_transforms())
            + scratch.max().unwrap_or(0)
            + ALIGNMENT_SLACK
    }

    /// The same for the lines of one pass.
    fn scratch_len(&self, number: usize, workers: usize) -> usize {
        let lines = self.schedule.passes[number].read.count();
        self.lines[number].workspace_len(workers, lines)
    }

    fn scaling(&self) -> Option<&Scan> {
        let scaled = self.lines[0].is_scaled_between_axes();
        self.schedule.scaling.as_ref().filter(|_| scaled)
    }

    /// Transforms that have a scale each.
    fn scaled_transforms(&self) -> usize {
        self.scaling().map_or(0, |scan| scan.transforms)
    }

    /// Runs all passes. Lengths of buffers and workspace have been checked.
    pub(crate) fn run(
        &self,
        input: InputArray<'_, T>,
        output: OutputArray<'_, T>,
        workspace: &mut [u64],
    ) {
        let mut workspace = aligned(workspace);
        if self.alone {
            return self.run_alone(input, output, workspace);
        }
        let spare = SharedArray::new(take::<Complex<T>>(&mut workspace, self.schedule.spare_len));
        let scales = take::<i32>(&mut workspace, self.scaled_transforms());
        if let Some(scan) = self.scaling() {
            let largest = |numbers: &[T]| self.lines[0].largest(numbers);
            scan.find(input, self.threads, &largest, scales);
        }
        let arrays = Arrays {
            input,
            output,
            spare,
            scales,
        };
        self.run_passes(&arrays, workspace);
    }

    /// The only line of the only pass, which has neither scale nor spare array.
    fn run_alone(&self, from: InputArray<'_, T>, to: OutputArray<'_, T>, workspace: &mut [u64]) {
        let (pass, line) = (&self.schedule.passes[0], &self.lines[0]);
        let job = Job {
            pass,
            from,
            to,
            conjugate: self.schedule.conjugate && line.is_forward_only(),
            scales: Scales {
                of_transforms: &[],
                sign: 0,
            },
            first: 0,
            count: 1,
        };
        line.run(&job, workspace, 1);
    }

    /// Runs all passes of a schedule without spare array, with the power of two of every transform given.
    pub(crate) fn run_scaled(
        &self,
        input: InputArray<'_, T>,
        output: OutputArray<'_, T>,
        scales: &[i32],
        workspace: &mut [u64],
    ) {
        let arrays = Arrays {
            input,
            output,
            spare: SharedArray::new(&mut []),
            scales,
        };
        self.run_passes(&arrays, aligned(workspace));
    }

    fn run_passes(&self, arrays: &Arrays<'_, T>, workspace: &mut [u64]) {
        for stage in &self.stages {
            let first = stage.passes.start;
            let (line, lines) = (&self.lines[first], self.schedule.passes[first].read.count());
            let at_once = line.lines_at_once();
            if line.is_large() {
                self.run_lines(arrays, first, 0..lines, (workspace, self.threads));
                continue;
            }
            // What threads divide among them: slabs, or groups of lines.
            let pieces = match stage.slabs {
                1 => lines.div_ceil(at_once),
                slabs => slabs,
            };
            let work = |pieces: Range<usize>, workspace: &mut [u64]| {
                if stage.slabs == 1 {
                    let lines = pieces.start * at_once..lines.min(pieces.end * at_once);
                    self.run_lines(arrays, first, lines, (workspace, 1));
                    return;
                }
                for slab in pieces {
                    for number in stage.passes.clone() {
                        let count = self.schedule.passes[number].read.count() / stage.slabs;
                        let lines = slab * count..(slab + 1) * count;
                        self.run_lines(arrays, number, lines, (workspace, 1));
                    }
                }
            };
            let workers = self.threads.min(pieces);
            // One worker is the caller: nothing to hand over and wait for, and no pool that a forked process would not have.
            if workers == 1 {
                work(0..pieces, workspace);
                continue;
            }
            let passes = stage.passes.clone();
            let len = passes.map(|number| self.scratch_len(number, 1)).max();
            // A pass may need no scratch at all; chunks must not be empty.
            let chunk = len.unwrap_or(0).max(1);
            if workspace.len() < workers * chunk {
                work(0..pieces, workspace);
                continue;
            }
            let workspace = &mut workspace[..workers * chunk];
            // Threads take turns of neighbouring pieces, so that one that is held up has fewer of them.
            let turn = pieces.div_ceil(workers * TURNS);
            let next = AtomicUsize::new(0);
            parallel::for_each_piece(workspace, chunk, |_, scratch| {
                // Threads inherit the environment of the thread that started them.
                let _environment = DefaultEnvironment::enter();
                loop {
                    let first = next.fetch_add(turn, Ordering::Relaxed);
                    if first >= pieces {
                        break;
                    }
                    work(first..pieces.min(first + turn), scratch);
                }
            });
        }
    }

    /// Transforms some lines of a pass, as many at a time as its transform takes.
    fn run_lines(
        &self,
        arrays: &Arrays<'_, T>,
        number: usize,
        lines: Range<usize>,
        (workspace, workers): (&mut [u64], usize),
    ) {
        let (pass, line) = (&self.schedule.passes[number], &self.lines[number]);
        let from = match pass.from {
            Place::Input => arrays.input,
            Place::Spare => InputArray::Complex(arrays.spare.reader()),
            Place::Output => match arrays.output {
                OutputArray::Complex(array) => InputArray::Complex(array.reader()),
                OutputArray::Real(array) => InputArray::Real(array.reader()),
            },
        };
        let to = match pass.to {
            Place::Spare => OutputArray::Complex(arrays.spare),
            _ => arrays.output,
        };
        let at_once = line.lines_at_once();
        // One call prepares the thread itself, if it needs to.
        let _session = (lines.len() > at_once).then(|| line.session());
        let rows = rows_apart(pass, line.lanes());
        let mut first = lines.start;
        while first < lines.end {
            let count = at_once.min(lines.end - first);
            let count = rows.as_ref().map_or(count, |rows| rows.limit(first, count));
            let job = Job {
                pass,
                from,
                to,
                conjugate: self.schedule.conjugate && line.is_forward_only(),
                scales: Scales {
                    of_transforms: arrays.scales,
                    sign: pass.scale_sign,
                },
                first,
                count,
            };
            line.run(&job, workspace, workers);
            first += count;
        }
    }

    /// Whether a line of the first axis needs a finer unit than its words have room for, to keep its accuracy.
    pub(crate) fn needs_finer_units(&self, input: InputArray<'_, T>) -> bool {
        let pass = &self.schedule.passes[0];
        let Some(shape) = self.lines[0].columns() else {
            return false;
        };
        (0..pass.read.count()).any(|number| {
            let place = pass.read.placement(number);
            let half = pass.kind == Kind::ComplexToReal;
            needs_finer_unit(pass.n, shape, |i| {
                // The other half of a half-spectrum mirrors the first.
                let i = if half { i.min(pass.n - i) } else { i };
                // SAFETY: nothing writes before the run begins.
                unsafe {
                    match input {
                        InputArray::Complex(array) => {
                            let z = array.get(place.at(i));
                            [z.re.widen(), z.im.widen()]
                        }
                        InputArray::Real(array) => [array.get(place.at(i)).widen(), 0.0],
                    }
                }
            })
        })
    }
}

/// Lines that lie side by side, so many before the next ones lie elsewhere.
struct Rows {
    lines: usize,
    lanes: usize,
}

impl Rows {
    /// As many of `count` lines as are transformed together: whole sets of a row, or what is left of it.
    fn limit(&self, first: usize, count: usize) -> usize {
        let left = self.lines - first % self.lines;
        let sets = left / self.lanes * self.lanes;
        count.min(if sets > 0 { sets } else { left })
    }
}

/// Rows of which a few lines are left over, as half-spectra have one: lanes of two rows would be read and written number by
/// number, and those few take less time one by one.
fn rows_apart(pass: &AxisPass, lanes: usize) -> Option<Rows> {
    let lines = pass.read.side_by_side();
    let few = lanes > 0 && lines > lanes && (1..=lanes / 4).contains(&(lines % lanes));
    let apart = few && lines < pass.read.count() && pass.write.side_by_side() == lines;
    apart.then_some(Rows { lines, lanes })
}

/// Passes one by one, or several for every slab of the array: those of the innermost axes, as many as leave a slab small and a slab
/// for every thread.
fn stages<T: Real>(
    schedule: &Schedule,
    lines: &[Box<dyn LineTransform<T>>],
    threads: usize,
) -> Vec<Stage> {
    let passes = &schedule.passes;
    // Slabs of some passes: all indices of the batch and of the axes before the first of theirs.
    let slabs = |together: Range<usize>| {
        let outermost = passes[together.clone()]
            .iter()
            .map(|pass| pass.axis)
            .min()?;
        let count = |pass: &AxisPass| -> (usize, bool) {
            let outer = &pass.read.dimensions[..=outermost];
            let slabs = outer.iter().map(|&(n, _)| n).product::<usize>();
            let numbers = pass.read.count() / slabs * pass.n;
            (slabs, numbers * size_of::<Complex<T>>() <= SLAB_BYTES)
        };
        let (slabs, _) = count(&passes[together.start]);
        let fit = passes[together]
            .iter()
            .all(|pass| count(pass) == (slabs, true));
        // With fewer slabs some threads would have much more to do than others.
        let enough = slabs >= 4 * threads || (slabs > 1 && slabs.is_multiple_of(threads));
        (fit && enough).then_some(slabs)
    };
    let mut stages: Vec<Stage> = Vec::new();
    for number in 0..passes.len() {
        let line = &lines[number];
        if let Some(stage) = stages.last_mut()
            && line.is_bound_by_memory()
            && lines[stage.passes.start].is_bound_by_memory()
            && let Some(slabs) = slabs(stage.passes.start..number + 1)
        {
            stage.passes.end = number + 1;
            stage.slabs = slabs;
            continue;
        }
        stages.push(Stage {
            passes: number..number + 1,
            slabs: 1,
        });
    }
    stages
}

/// The scale of every transform between axes, and its sign in a pass ([`AxisPass::scale_sign`]).
#[derive(Clone, Copy)]
struct Scales<'a> {
    of_transforms: &'a [i32],
    sign: i32,
}

impl Scales<'_> {
    /// Whether any line's results are multiplied.
    fn apply(&self) -> bool {
        match self.of_transforms {
            // Transforms along one axis, and native ones, have none.
            [] | [0] => false,
            _ => self.sign != 0,
        }
    }

    /// The power of two that a line's results are multiplied by, where there is one.
    fn bias(&self, lines: &LineSet, line: usize) -> i32 {
        match self.of_transforms {
            [one] => self.sign * one,
            all => self.sign * all[lines.transform(line)],
        }
    }
}

/// Some neighbouring lines of a pass.
pub(crate) struct Job<'a, T: Real> {
    pub(crate) pass: &'a AxisPass,
    pub(crate) from: InputArray<'a, T>,
    pub(crate) to: OutputArray<'a, T>,
    /// Lines are conjugated when read and when written.
    pub(crate) conjugate: bool,
    scales: Scales<'a>,
    first: usize,
    pub(crate) count: usize,
}

impl<T: Real> Job<'_, T> {
    /// The power of two that each of these lines is multiplied by; places beyond them repeat the first.
    pub(crate) fn biases<const L: usize>(&self) -> [i32; L] {
        // Most passes have none, or one that is 0 for all lines.
        if !self.scales.apply() {
            return [0; L];
        }
        let bias = |line| self.scales.bias(&self.pass.read, line);
        let first = bias(self.first);
        std::array::from_fn(|lane| match lane {
            1.. if lane < self.count => bias(self.first + lane),
            _ => first,
        })
    }

    /// Calls `visit` with these lines, as many at a time as lie at one distance.
    pub(crate) fn for_each_run(&self, visit: impl FnMut(Run)) {
        let (read, write) = (&self.pass.read, &self.pass.write);
        for_each_run(read, write, self.first, self.count, visit);
    }

    /// These lines, copied to the output, if they lie one after the other there.
    #[allow(clippy::mut_from_ref)]
    pub(crate) fn lines_in_output(&self) -> Option<&mut [Complex<T>]> {
        let (InputArray::Complex(from), OutputArray::Complex(to)) = (self.from, self.to) else {
            return None;
        };
        let (n, pass) = (self.pass.n, self.pass);
        let starts = |lines: &LineSet, number: usize| lines.placement(self.first + number).at(0);
        let start = starts(&pass.write, 0);
        let together = (1..self.count).all(|i| starts(&pass.write, i) == start + i * n);
        let contiguous = pass.read.stride == 1 && pass.write.stride == 1 && together;
        if pass.kind != Kind::ComplexToComplex || !contiguous {
            return None;
        }
        let target = to.checked(start, self.count * n);
        for i in 0..self.count {
            let source = from.checked(starts(&pass.read, i), n);
            // SAFETY: both are in range, of n elements. They are the same, or of arrays that do not overlap.
            unsafe { source.copy_to(target.add(i * n), n) };
        }
        // SAFETY: in range; these lines are this thread's, and nobody reads them through another handle meanwhile.
        Some(unsafe { std::slice::from_raw_parts_mut(target, self.count * n) })
    }
}

impl<T: Real> Connect for Job<'_, T> {
    fn count(&self) -> usize {
        self.count
    }

    fn part(&self, first: usize, count: usize) -> Self {
        Job {
            first: self.first + first,
            count,
            ..*self
        }
    }

    fn connect<const L: usize>(&self, run: impl FnOnce(&Input<'_, L>, &Output<'_, L>)) {
        let pass = self.pass;
        let conjugate = self.conjugate;
        let n = pass.n;
        let places = |lines: &LineSet| lines.placements::<L>(self.first, self.count);
        let elements = match pass.kind {
            Kind::ComplexToComplex => Elements::Complex,
            Kind::RealToComplex => Elements::Real,
            Kind::ComplexToReal => Elements::Half(n),
        };
        let input = Input {
            numbers: match self.from {
                InputArray::Complex(array) => Reader::new(array.as_reals()),
                InputArray::Real(array) => Reader::new(array),
            },
            elements,
            places: places(&pass.read),
            conjugate,
        };
        let output = Output {
            numbers: match self.to {
                OutputArray::Complex(array) => Writer::new(array.as_reals()),
                OutputArray::Real(array) => Writer::new(array),
            },
            real: pass.kind == Kind::ComplexToReal,
            places: places(&pass.write),
            count: if pass.kind == Kind::RealToComplex {
                n / 2 + 1
            } else {
                n
            },
            length: n,
            bias: self.biases(),
            conjugate,
        };
        run(&input, &output);
    }
}
