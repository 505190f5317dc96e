//! The loop over axes and lines, with rayon's threads. Every line is independent, so threads cannot change a bit.

use super::scales::Scan;
use crate::engines::floats::FloatLine;
use crate::engines::native::NativeLine;
use crate::kind::Kind;
use crate::layout::Layout;
use crate::matrix_unit::{ResidueNumbers, Scalar, Unit, WideInteger};
use crate::problem::{Direction, Problem};
use crate::sample::Real;
use crate::stages::numbers::{Elements, Input, Output, Placement, Reader, Writer};
use crate::stages::quantise::needs_finer_unit;
use crate::stages::scale::{Numbers, ScaleBetweenAxes};
use crate::transform::line::Line;
use crate::workspace::{ALIGNMENT_SLACK, ReadArray, SharedArray, aligned, take, words_for};
use float_environment::DefaultEnvironment;
use num_complex::Complex;
use rayon::prelude::*;
use std::sync::Arc;

/// All lines along one axis of an array (and of its batch).
#[derive(Debug, Clone)]
pub(crate) struct LineSet {
    /// Length and stride of the other dimensions, outermost first.
    pub(crate) dimensions: Vec<(usize, isize)>,
    /// Strides of the same dimensions where transforms are numbered: every index of the batch, and of an axis that is not
    /// transformed, is one of its own. 0 along the others.
    pub(crate) transform_strides: Vec<usize>,
    pub(crate) offset: isize,
    pub(crate) stride: isize,
}

impl LineSet {
    pub(super) fn new(layout: &Layout, shape: &[usize], problem: &Problem, axis: usize) -> Self {
        let mut dimensions = vec![(problem.batch, layout.distance())];
        let mut transform_strides = vec![problem.transforms_of_array()];
        let mut transforms = transform_strides[0];
        for (other, (&n, &stride)) in shape.iter().zip(layout.strides()).enumerate() {
            let transformed = problem.axes.contains(&other);
            if !transformed {
                transforms /= n;
            }
            if other != axis {
                dimensions.push((n, stride));
                transform_strides.push(if transformed { 0 } else { transforms });
            }
        }
        LineSet {
            dimensions,
            transform_strides,
            offset: layout.offset() as isize,
            stride: layout.strides()[axis],
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.dimensions.iter().map(|&(n, _)| n).product()
    }

    pub(crate) fn placement(&self, line: usize) -> Placement {
        let mut rest = line;
        let mut offset = self.offset;
        for &(n, stride) in self.dimensions.iter().rev() {
            offset += (rest % n) as isize * stride;
            rest /= n;
        }
        Placement {
            offset,
            stride: self.stride,
        }
    }

    /// The transform that a line is part of.
    pub(crate) fn transform(&self, line: usize) -> usize {
        let mut rest = line;
        let mut transform = 0;
        for (&(n, _), stride) in self.dimensions.iter().zip(&self.transform_strides).rev() {
            transform += rest % n * stride;
            rest /= n;
        }
        transform
    }
}

/// Which array a pass reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Input,
    Output,
    /// Part of the workspace: complex-to-real transforms must not overwrite their input.
    Spare,
}

/// What computes a line.
#[derive(Clone)]
pub(crate) enum LineEngine<T: Real> {
    Digits(Arc<Line>, Unit),
    Native(NativeLine<T>),
    Floats(FloatLine),
}

impl<T: Real> LineEngine<T> {
    fn is_large(&self) -> bool {
        match self {
            LineEngine::Digits(line, _) => line.is_large(),
            LineEngine::Native(_) | LineEngine::Floats(_) => false,
        }
    }

    /// Bytes of its tables, those in floating point estimated.
    fn table_bytes(&self, n: usize) -> usize {
        match self {
            LineEngine::Digits(line, _) => line.table_bytes(),
            LineEngine::Native(_) | LineEngine::Floats(_) => 4 * n * size_of::<Complex<T>>(),
        }
    }

    /// Lines that one call transforms.
    fn lines_at_once(&self) -> usize {
        match self {
            LineEngine::Digits(line, unit) => line.lines_at_once(unit.lanes()),
            LineEngine::Native(_) => 1,
            LineEngine::Floats(line) => line.lines_at_once(),
        }
    }

    fn workspace_len(&self, workers: usize) -> usize {
        match self {
            LineEngine::Digits(line, unit) => line.workspace_len(*unit, workers),
            LineEngine::Native(native) => native.workspace_len(),
            LineEngine::Floats(line) => line.workspace_len::<T>(),
        }
    }
}

/// One axis: every line along it, from one array to another.
pub(crate) struct Pass<T: Real> {
    pub(crate) engine: LineEngine<T>,
    pub(crate) kind: Kind,
    pub(crate) n: usize,
    pub(crate) from: Place,
    pub(crate) to: Place,
    pub(crate) read: LineSet,
    pub(crate) write: LineSet,
}

/// One axis: every line along it, from one array to another, and whoever computes.
pub(crate) struct AxisPass {
    pub(crate) axis: usize,
    pub(crate) kind: Kind,
    pub(crate) n: usize,
    pub(crate) from: Place,
    pub(crate) to: Place,
    pub(crate) read: LineSet,
    pub(crate) write: LineSet,
}

/// The passes of a problem, and the complex numbers of its spare array.
pub(crate) fn axis_passes(problem: &Problem) -> (Vec<AxisPass>, usize) {
    let input = problem.resolved_input();
    let output = problem.resolved_output();
    let half = problem.half_shape();
    let batch = problem.batch;
    let (last, others) = problem
        .axes
        .split_last()
        .unwrap_or_else(|| unreachable!("validated problems have an axis"));
    let last = *last;
    let mut passes = Vec::new();
    let spare = Layout::contiguous(&half);
    let mut pass = |kind, axis: usize, from, to| {
        let lines = |place, shape: &[usize]| {
            let layout = match place {
                Place::Input => &input,
                Place::Output => &output,
                Place::Spare => &spare,
            };
            LineSet::new(layout, shape, problem, axis)
        };
        let (read_shape, write_shape) = match (problem.kind, kind) {
            (Kind::ComplexToComplex, _) => (&problem.shape, &problem.shape),
            (_, Kind::RealToComplex) => (&problem.shape, &half),
            (_, Kind::ComplexToReal) => (&half, &problem.shape),
            (_, Kind::ComplexToComplex) => (&half, &half),
        };
        passes.push(AxisPass {
            axis,
            kind,
            n: problem.shape[axis],
            from,
            to,
            read: lines(from, read_shape),
            write: lines(to, write_shape),
        });
    };
    let mut spare_len = 0;
    match problem.kind {
        Kind::ComplexToComplex => {
            let mut from = Place::Input;
            for &axis in problem.axes.iter().rev() {
                pass(Kind::ComplexToComplex, axis, from, Place::Output);
                from = Place::Output;
            }
        }
        Kind::RealToComplex => {
            pass(Kind::RealToComplex, last, Place::Input, Place::Output);
            for &axis in others.iter().rev() {
                pass(Kind::ComplexToComplex, axis, Place::Output, Place::Output);
            }
        }
        Kind::ComplexToReal => {
            let mut from = Place::Input;
            for &axis in others {
                pass(Kind::ComplexToComplex, axis, from, Place::Spare);
                from = Place::Spare;
            }
            if from == Place::Spare {
                spare_len = half.iter().product::<usize>() * batch;
            }
            pass(Kind::ComplexToReal, last, from, Place::Output);
        }
    }
    (passes, spare_len)
}

/// The caller's input.
#[derive(Clone, Copy)]
pub(crate) enum InputArray<'a, T> {
    Complex(ReadArray<'a, Complex<T>>),
    Real(ReadArray<'a, T>),
}

/// The caller's output.
#[derive(Clone, Copy)]
pub(crate) enum OutputArray<'a, T> {
    Complex(SharedArray<'a, Complex<T>>),
    Real(SharedArray<'a, T>),
}

/// A planned problem.
pub(crate) struct Executor<T: Real> {
    passes: Vec<Pass<T>>,
    threads: usize,
    conjugate: bool,
    spare_len: usize,
    /// How every transform is scaled between its axes; none where it has one axis, or is RustFFT's.
    scaling: Option<Scan>,
}

impl<T: Real> Executor<T> {
    /// Lays out the passes; `engine` gives the transform along an axis.
    pub(crate) fn new(
        problem: &Problem,
        threads: usize,
        mut engine: impl FnMut(usize, Kind) -> LineEngine<T>,
    ) -> Self {
        let (passes, spare_len) = axis_passes(problem);
        let passes = passes.into_iter().map(|pass| Pass::<T> {
            engine: engine(pass.axis, pass.kind),
            kind: pass.kind,
            n: pass.n,
            from: pass.from,
            to: pass.to,
            read: pass.read,
            write: pass.write,
        });
        let passes: Vec<Pass<T>> = passes.collect();
        let native = matches!(passes[0].engine, LineEngine::Native(_));
        let scale = ScaleBetweenAxes::new(Numbers::of::<T>(), passes.iter().map(|pass| pass.n));
        Executor {
            scaling: (passes.len() > 1 && !native).then(|| Scan::new(problem, scale)),
            passes,
            threads,
            conjugate: problem.direction == Direction::Inverse,
            spare_len,
        }
    }

    /// The axes in the order in which they are transformed.
    pub(crate) fn passes(&self) -> &[Pass<T>] {
        &self.passes
    }

    /// About how many bytes of tables its lines have.
    pub(crate) fn table_bytes(&self) -> usize {
        let bytes = |pass: &Pass<T>| pass.engine.table_bytes(pass.n);
        size_of::<Self>() + self.passes.iter().map(bytes).sum::<usize>()
    }

    /// The lines of the floats engine, in the order of the passes.
    pub(crate) fn float_lines(&self) -> impl Iterator<Item = &FloatLine> {
        self.passes.iter().filter_map(|pass| match &pass.engine {
            LineEngine::Floats(line) => Some(line),
            LineEngine::Digits(..) | LineEngine::Native(_) => None,
        })
    }

    /// Complex numbers of the spare array.
    pub(crate) fn spare_len(&self) -> usize {
        self.spare_len
    }

    /// Whether numbers are conjugated on the way in and out.
    pub(crate) fn conjugates(&self) -> bool {
        self.conjugate
    }

    /// 64-bit words of workspace.
    pub(crate) fn workspace_len(&self) -> usize {
        let scratch = self.passes.iter().map(|pass| {
            if pass.engine.is_large() {
                pass.engine.workspace_len(self.threads)
            } else {
                self.threads * pass.engine.workspace_len(1)
            }
        });
        words_for::<Complex<T>>(self.spare_len)
            + words_for::<i32>(self.scaled_transforms())
            + scratch.max().unwrap_or(0)
            + ALIGNMENT_SLACK
    }

    /// How transforms are scaled between axes, and where all their numbers lie; none where there is one axis.
    pub(crate) fn scaling(&self) -> Option<&Scan> {
        self.scaling.as_ref()
    }

    /// Transforms that have a scale each.
    fn scaled_transforms(&self) -> usize {
        self.scaling.as_ref().map_or(0, |scan| scan.transforms)
    }

    /// Runs all passes. Lengths of buffers and workspace have been checked.
    pub(crate) fn run(
        &self,
        input: InputArray<'_, T>,
        output: OutputArray<'_, T>,
        workspace: &mut [u64],
    ) {
        let mut workspace = aligned(workspace);
        let spare = SharedArray::new(take::<Complex<T>>(&mut workspace, self.spare_len));
        let scales = take::<i32>(&mut workspace, self.scaled_transforms());
        if let Some(scan) = &self.scaling {
            scan.find(input, self.threads, scales);
        }
        let last = self.passes.len() - 1;
        for (number, pass) in self.passes.iter().enumerate() {
            let scales = Scales {
                of_transforms: scales,
                sign: i32::from(number == 0) - i32::from(number == last),
            };
            let from = match pass.from {
                Place::Input => input,
                Place::Spare => InputArray::Complex(spare.reader()),
                Place::Output => match output {
                    OutputArray::Complex(array) => InputArray::Complex(array.reader()),
                    OutputArray::Real(array) => InputArray::Real(array.reader()),
                },
            };
            let to = match pass.to {
                Place::Spare => OutputArray::Complex(spare),
                _ => output,
            };
            let lines = pass.read.count();
            let at_once = pass.engine.lines_at_once();
            let groups = lines.div_ceil(at_once);
            let job = |group: usize, workers: usize, workspace: &mut [u64]| {
                let first = group * at_once;
                let job = Job {
                    pass,
                    from,
                    to,
                    conjugate: self.conjugate,
                    scales,
                    first,
                    count: at_once.min(lines - first),
                };
                job.run(workspace, workers);
            };
            if pass.engine.is_large() {
                for group in 0..groups {
                    job(group, self.threads, workspace);
                }
                continue;
            }
            // A pass may need no scratch at all; chunks must not be empty.
            let chunk = pass.engine.workspace_len(1).max(1);
            let workers = self.threads.min(groups);
            // One worker is the caller: nothing to hand over and wait for, and no pool that a forked process would not have.
            if workers == 1 || workspace.len() < workers * chunk {
                for group in 0..groups {
                    job(group, 1, workspace);
                }
                continue;
            }
            workspace[..workers * chunk]
                .par_chunks_mut(chunk)
                .enumerate()
                .for_each(|(worker, scratch)| {
                    // Threads have the environment of whoever started them.
                    let _environment = DefaultEnvironment::enter();
                    for group in groups * worker / workers..groups * (worker + 1) / workers {
                        job(group, 1, scratch);
                    }
                });
        }
    }

    /// Calls `visit` with position, real and imaginary part of every input element, until it returns true.
    fn for_each_input(
        &self,
        input: InputArray<'_, T>,
        mut visit: impl FnMut(usize, f64, f64) -> bool,
    ) {
        let pass = &self.passes[0];
        let count = match pass.kind {
            Kind::ComplexToReal => pass.n / 2 + 1,
            _ => pass.n,
        };
        for line in 0..pass.read.count() {
            let place = pass.read.placement(line);
            for i in 0..count {
                let index = place.at(i);
                // SAFETY: nothing writes before the run begins.
                let (re, im) = unsafe {
                    match input {
                        InputArray::Complex(array) => {
                            let z = array.get(index);
                            (z.re.widen(), z.im.widen())
                        }
                        InputArray::Real(array) => (array.get(index).widen(), 0.0),
                    }
                };
                if visit(index, re, im) {
                    return;
                }
            }
        }
    }

    /// Whether a line of the first axis needs a finer unit than its words have room for, to keep its accuracy.
    pub(crate) fn needs_finer_units(&self, input: InputArray<'_, T>) -> bool {
        let pass = &self.passes[0];
        let LineEngine::Digits(line, _) = &pass.engine else {
            return false;
        };
        let Some(shape) = line.columns() else {
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

    /// First non-finite number of the input, as its position in the buffer and its text.
    pub(crate) fn find_not_finite(&self, input: InputArray<'_, T>) -> Option<(usize, String)> {
        let mut found = None;
        self.for_each_input(input, |index, re, im| {
            let finite = re.is_finite() && im.is_finite();
            if !finite {
                found = Some(match input {
                    InputArray::Complex(_) => (index, format!("{re}{im:+}i")),
                    InputArray::Real(_) => (index, format!("{re}")),
                });
            }
            !finite
        });
        found
    }

    /// Number of half-spectrum lines whose first or middle value is not real; only for transforms along one axis,
    /// where the input itself shows it.
    pub(crate) fn count_not_hermitian(&self, input: InputArray<'_, T>) -> usize {
        let pass = &self.passes[0];
        let InputArray::Complex(array) = input else {
            return 0;
        };
        if pass.kind != Kind::ComplexToReal {
            return 0;
        }
        (0..pass.read.count())
            .filter(|&line| {
                let place = pass.read.placement(line);
                // SAFETY: nothing writes before the run begins.
                let imaginary = |i: usize| unsafe { array.get(place.at(i)) }.im.widen();
                imaginary(0) != 0.0 || (pass.n.is_multiple_of(2) && imaginary(pass.n / 2) != 0.0)
            })
            .count()
    }
}

/// What every transform is scaled by between axes, and what a pass makes of it: 1 the first one, -1 the last, else 0.
#[derive(Clone, Copy)]
struct Scales<'a> {
    of_transforms: &'a [i32],
    sign: i32,
}

impl Scales<'_> {
    /// The power of two that a line's results are multiplied by.
    fn bias(&self, lines: &LineSet, line: usize) -> i32 {
        match self.sign {
            0 => 0,
            // Transforms along one axis, and RustFFT's, have none.
            _ if self.of_transforms.is_empty() => 0,
            sign => sign * self.of_transforms[lines.transform(line)],
        }
    }
}

/// Some neighbouring lines of a pass.
struct Job<'a, T: Real> {
    pass: &'a Pass<T>,
    from: InputArray<'a, T>,
    to: OutputArray<'a, T>,
    conjugate: bool,
    scales: Scales<'a>,
    first: usize,
    count: usize,
}

impl<T: Real> Job<'_, T> {
    fn run(&self, workspace: &mut [u64], workers: usize) {
        match &self.pass.engine {
            LineEngine::Native(native) => {
                self.connect(|input, output| native.run(input, output, workspace));
            }
            LineEngine::Floats(line) => match self.lines_in_output(line) {
                Some(lines) => line.run_in_place(lines, &self.biases()),
                None => self.connect(|input, output| {
                    line.run::<T>(input, output, self.count, workspace);
                }),
            },
            LineEngine::Digits(line, unit) => {
                let count = self.count;
                match *unit {
                    Unit::Scalar => self.connect(|input, output| {
                        line.run_scalar(Scalar, input, output, count, workspace, workers);
                    }),
                    Unit::WideInteger => self.connect(|input, output| {
                        let unit = WideInteger;
                        line.run_wide_integer(unit, input, output, count, workspace, workers);
                    }),
                    Unit::Residues => self.connect(|input, output| {
                        let unit = ResidueNumbers;
                        line.run_residues(unit, input, output, count, workspace, workers);
                    }),
                    #[cfg(neon_unit)]
                    Unit::NeonDot(unit) => self.connect(|input, output| {
                        line.run_neon_dot(unit, input, output, count, workspace, workers);
                    }),
                    #[cfg(vector_unit)]
                    Unit::Avx2(unit) => self.connect(|input, output| {
                        line.run_avx2(unit, input, output, count, workspace, workers);
                    }),
                    #[cfg(vector_unit)]
                    Unit::Avx512Vnni(unit) => self.connect(|input, output| {
                        line.run_avx512_vnni(unit, input, output, count, workspace, workers);
                    }),
                    #[cfg(vector_unit)]
                    Unit::Amx(unit) => self.connect(|input, output| {
                        line.run_amx(unit, input, output, count, workspace, workers);
                    }),
                }
            }
        }
    }

    /// The power of two that each of these lines is multiplied by; places beyond them repeat the first.
    fn biases<const L: usize>(&self) -> [i32; L] {
        let bias = |line| self.scales.bias(&self.pass.read, line);
        let first = bias(self.first);
        std::array::from_fn(|lane| match lane {
            1.. if lane < self.count => bias(self.first + lane),
            _ => first,
        })
    }

    /// These lines, copied to the output, if they lie one after the other there and a mode can take them as they are.
    #[allow(clippy::mut_from_ref)]
    fn lines_in_output(&self, line: &FloatLine) -> Option<&mut [Complex<T>]> {
        let (InputArray::Complex(from), OutputArray::Complex(to)) = (self.from, self.to) else {
            return None;
        };
        let (n, pass) = (self.pass.n, self.pass);
        let starts = |lines: &LineSet, number: usize| lines.placement(self.first + number).at(0);
        let start = starts(&pass.write, 0);
        let together = (1..self.count).all(|i| starts(&pass.write, i) == start + i * n);
        let contiguous = pass.read.stride == 1 && pass.write.stride == 1 && together;
        if pass.kind != Kind::ComplexToComplex || !contiguous || !line.takes::<T>() {
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

    /// Calls `run` with these lines of the input and of the output.
    fn connect<const L: usize>(&self, run: impl FnOnce(&Input<'_, L>, &Output<'_, L>)) {
        let pass = self.pass;
        // Modes in floating point have plans for both directions.
        let conjugate = self.conjugate && !matches!(pass.engine, LineEngine::Floats(_));
        let n = pass.n;
        let places = |lines: &LineSet| -> [Placement; L] {
            let first = lines.placement(self.first);
            std::array::from_fn(|lane| match lane {
                1.. if lane < self.count => lines.placement(self.first + lane),
                _ => first,
            })
        };
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
