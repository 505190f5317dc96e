//! Complex and half-complex transforms: directly on the caller's arrays where they have no gaps, through arrays of our own
//! where they have.
//!
//! [`ozfft`] takes slices, and a slice claims all of its range. Elements between strided ones may be somebody else's, another thread's
//! even, so only ranges that the transform owns wholly become slices.

use crate::error::FftwError;
use crate::number::Number;
use crate::options::Options;
use crate::planning;
use crate::pool;
use crate::transforms::strides::{
    Dimension, Ends, Side, count, extent, gather_complex, gather_real, is_dense, scatter_complex,
    scatter_real,
};
use crate::transforms::workspace::{with_array, with_room, with_workspace, zeros};
use fallible_memory::expect;
use num_complex::Complex;
use ozfft::{Direction, FftError, Kind, Layout, Plan, Problem};
use std::sync::{Arc, OnceLock};

/// What is transformed: the loops around it, then the transformed dimensions. For real transforms the last is the halved one.
pub(crate) struct Fourier<T: Number> {
    kind: Kind,
    direction: Direction,
    /// Number of leading dimensions that are not transformed.
    loops: usize,
    dimensions: Vec<Dimension>,
    /// Nothing at all is to be done.
    empty: bool,
    options: Options,
    direct: Option<Direct<T>>,
    packed: OnceLock<Planned<T>>,
    /// Where the elements of input and output lie, and how many there are: what every call through buffers needs.
    sides: (Side, Side),
    elements: (usize, usize),
}

/// A plan, none where there is nothing but a copy, or why there is none.
type Planned<T> = Result<Option<Arc<Plan<T>>>, FftwError>;

/// The plan of what was found when it was planned.
fn made<T: Number>(planned: &Planned<T>) -> Result<Option<&Plan<T>>, FftwError> {
    match planned {
        Ok(plan) => Ok(plan.as_deref()),
        Err(error) => Err(error.clone()),
    }
}

/// A plan for the caller's arrays as they lie.
struct Direct<T: Number> {
    plan: Arc<Plan<T>>,
    input: Range,
    output: Range,
    /// Neither array has gaps.
    dense: bool,
    /// In place: input and output lie alike.
    alike: bool,
    /// In place: rows of reals lie where the rows of their half-spectrum do.
    padded: bool,
}

/// Real numbers from the first element's address.
#[derive(Clone, Copy)]
struct Range {
    start: isize,
    /// Elements, complex or real.
    count: usize,
}

impl<T: Number> Fourier<T> {
    pub(crate) fn new(
        (kind, direction): (Kind, Direction),
        transformed: Vec<Dimension>,
        looped: Vec<Dimension>,
        arrays: (Ends<T>, Ends<T>),
        options: Options,
    ) -> Result<Fourier<T>, FftwError> {
        let empty = looped.iter().any(|dimension| dimension.length == 0);
        let (loops, dimensions) = simplified(kind, transformed, looped);
        let points = dimensions.iter().map(|dimension| dimension.length);
        let points = points.fold(1, usize::saturating_mul);
        let mut fourier = Fourier {
            kind,
            direction,
            loops,
            dimensions,
            empty,
            options: options.for_points(points),
            direct: None,
            packed: OnceLock::new(),
            sides: (Side::new(), Side::new()),
            elements: (0, 0),
        };
        fourier.sides = (fourier.input_side(), fourier.output_side());
        if empty {
            return Ok(fourier);
        }
        fourier.expect_addressable()?;
        fourier.elements = (count(&fourier.sides.0)?, count(&fourier.sides.1)?);
        if fourier.loops < fourier.dimensions.len() {
            fourier.direct = fourier.plan_direct()?;
        }
        // What `fftw_execute` will need is planned now: later the failure could not be reported.
        let (buffers, plan) = match fourier.algorithm(arrays.0, arrays.1) {
            Algorithm::Packed => (fourier.buffer_bytes()?, fourier.packed_plan()?),
            _ => (0, fourier.direct.as_ref().map(|direct| &*direct.plan)),
        };
        let workspace = plan.map_or(0, |plan| 8 * plan.workspace_len() as u64);
        expect(buffers.saturating_add(workspace))?;
        // A call for arrays that lie otherwise may plan once more, and is no place to ask for wisdom.
        fourier.options.wisdom_only = false;
        Ok(fourier)
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Lengths of the complex or real array.
    fn shape(&self) -> Vec<usize> {
        self.dimensions.iter().map(|d| d.length).collect()
    }

    /// Lengths of the half-spectrum.
    fn half_shape(&self) -> Vec<usize> {
        let mut half = self.shape();
        if self.loops < half.len()
            && let Some(last) = half.last_mut()
        {
            *last = *last / 2 + 1;
        }
        half
    }

    /// Lengths and strides of the input, in real numbers.
    fn input_side(&self) -> Side {
        let shape = match self.kind {
            Kind::ComplexToReal => self.half_shape(),
            _ => self.shape(),
        };
        let strides = self.dimensions.iter().map(|d| d.input);
        shape.into_iter().zip(strides).collect()
    }

    /// Lengths and strides of the output, in real numbers.
    fn output_side(&self) -> Side {
        let shape = match self.kind {
            Kind::RealToComplex => self.half_shape(),
            _ => self.shape(),
        };
        let strides = self.dimensions.iter().map(|d| d.output);
        shape.into_iter().zip(strides).collect()
    }

    fn expect_addressable(&self) -> Result<(), FftwError> {
        for side in [self.input_side(), self.output_side()] {
            extent(&side).ok_or(FftwError::NotAddressable)?;
            count(&side)?;
        }
        // Tables are worked out while planning: later there is no error.
        let lengths = self.dimensions[self.loops..].iter().map(|d| d.length);
        Ok(expect(lengths.map(table_bytes).max().unwrap_or(0))?)
    }

    /// Bytes of the arrays of our own that a call needs where the caller's cannot be slices.
    fn buffer_bytes(&self) -> Result<u64, FftwError> {
        let bytes = |side: &Side, real: bool| {
            let size = size_of::<T>() * if real { 1 } else { 2 };
            Ok(count(side)? as u64 * size as u64)
        };
        let (from, to) = (self.input_side(), self.output_side());
        let (real_input, real_output) = self.real_sides();
        match (self.kind, self.loops == self.dimensions.len()) {
            // Transformed in place, or not at all.
            (Kind::ComplexToComplex, _) | (_, true) => bytes(&from, real_input),
            _ => Ok(bytes(&from, real_input)? + bytes(&to, real_output)?),
        }
    }

    /// Whether the input and the output are real.
    fn real_sides(&self) -> (bool, bool) {
        (
            self.kind == Kind::RealToComplex,
            self.kind == Kind::ComplexToReal,
        )
    }

    /// How many of the loops, which are sorted, run over elements that lie closer together than any of the transformed dimensions do, in the input and
    /// in the output.
    fn inner_loops(&self) -> usize {
        let (loops, transformed) = self.dimensions.split_at(self.loops);
        let apart = transformed.iter().filter(|d| d.length != 1);
        let nearest = apart.fold((usize::MAX, usize::MAX), |(input, output), d| {
            (
                input.min(d.input.unsigned_abs()),
                output.min(d.output.unsigned_abs()),
            )
        });
        let is_inner = |d: &&Dimension| {
            d.input.unsigned_abs() < nearest.0 && d.output.unsigned_abs() < nearest.1
        };
        loops.iter().rev().take_while(is_inner).count()
    }

    /// The problem, without layouts; the last `inner` of the loops come after the transformed dimensions.
    fn problem(&self, inner: usize) -> Problem {
        let mut shape = self.shape();
        shape[self.loops - inner..].rotate_left(inner);
        let axes: Vec<usize> = (self.loops - inner..shape.len() - inner).collect();
        let problem = match self.kind {
            Kind::ComplexToComplex => Problem::complex(&shape).direction(self.direction),
            Kind::RealToComplex => Problem::real_to_complex(&shape),
            Kind::ComplexToReal => Problem::complex_to_real(&shape),
        };
        self.options.apply(problem.axes(&axes))
    }

    /// A plan for the arrays as they lie, if they can be slices.
    fn plan_direct(&self) -> Result<Option<Direct<T>>, FftwError> {
        let (real_input, real_output) = self.real_sides();
        let in_elements = |side: Side, real: bool| -> Option<Side> {
            let unit = if real { 1 } else { 2 };
            side.into_iter()
                .map(|(length, stride)| (stride % unit == 0).then_some((length, stride / unit)))
                .collect()
        };
        let (Some(input), Some(output)) = (
            in_elements(self.input_side(), real_input),
            in_elements(self.output_side(), real_output),
        ) else {
            return Ok(None);
        };
        let strides = |side: &Side| -> Vec<isize> { side.iter().map(|&(_, s)| s).collect() };
        let in_c_order = |side: &Side, layout: &Layout| {
            let wanted = layout.strides().iter();
            let mut pairs = side.iter().zip(wanted);
            pairs.all(|(&(length, stride), &wanted)| length == 1 || stride == wanted)
        };
        let padded_real = Layout::padded_real(&self.shape());
        let half = Layout::contiguous(&self.half_shape());
        let padded = match self.kind {
            Kind::ComplexToComplex => false,
            Kind::RealToComplex => in_c_order(&input, &padded_real) && in_c_order(&output, &half),
            Kind::ComplexToReal => in_c_order(&output, &padded_real) && in_c_order(&input, &half),
        };
        let dense = is_dense(&input) && is_dense(&output);
        if !dense && !padded {
            return Ok(None);
        }
        // Loops over elements that lie closer together than those of the lines come last, as in C order: lines that lie side by side
        // are numbered one after the other, and are read and written by rows.
        let inner = if padded { 0 } else { self.inner_loops() };
        let layout = |side: &Side, real: bool| {
            if padded {
                return if real {
                    padded_real.clone()
                } else {
                    half.clone()
                };
            }
            let (low, _) = extent(side).unwrap_or_default();
            let elements: usize = side.iter().map(|&(length, _)| length).product();
            let mut strides = strides(side);
            strides[self.loops - inner..].rotate_left(inner);
            Layout::strided(&strides, elements as isize).with_offset(low.unsigned_abs())
        };
        let (from, to) = (layout(&input, real_input), layout(&output, real_output));
        let problem = self.problem(inner);
        let problem = problem.input_layout(from).output_layout(to);
        let range = |side: &Side, real: bool, count: usize| {
            let unit = if real { 1 } else { 2 };
            let (low, _) = extent(side).unwrap_or_default();
            Range {
                start: low * unit,
                count,
            }
        };
        Ok(Some(Direct {
            input: range(&input, real_input, problem.input_len()),
            output: range(&output, real_output, problem.output_len()),
            dense,
            alike: self.kind == Kind::ComplexToComplex && input == output,
            padded,
            plan: planning::plan(&problem, &self.options)?,
        }))
    }

    /// The plan for arrays of our own; none where there is nothing but a copy.
    fn packed_plan(&self) -> Result<Option<&Plan<T>>, FftwError> {
        if let Some(planned) = self.packed.get() {
            return made(planned);
        }
        // Not within the lock, which a forked process might find locked for ever; a second thread has planned the same.
        let planned = if self.loops == self.dimensions.len() {
            Ok(None)
        } else {
            planning::plan(&self.problem(0), &self.options).map(Some)
        };
        made(self.packed.get_or_init(|| planned))
    }

    /// How these arrays are transformed.
    fn algorithm(&self, input: Ends<T>, output: Ends<T>) -> Algorithm {
        let Some(direct) = &self.direct else {
            return Algorithm::Packed;
        };
        let usable = |ends: Ends<T>, real: bool| {
            (real || ends.is_interleaved()) && ends.re.addr().is_multiple_of(align_of::<T>())
        };
        let (real_input, real_output) = self.real_sides();
        if !usable(input, real_input) || !usable(output, real_output) {
            return Algorithm::Packed;
        }
        let bytes = |ends: Ends<T>, range: Range, real: bool| {
            let start = ends.re.wrapping_offset(range.start).addr();
            let size = size_of::<T>() * if real { 1 } else { 2 };
            start..start.saturating_add(size * range.count)
        };
        let from = bytes(input, direct.input, real_input);
        let to = bytes(output, direct.output, real_output);
        if direct.dense && (from.end <= to.start || to.end <= from.start) {
            Algorithm::OutOfPlace
        } else if from.start == to.start && (direct.alike || direct.padded) {
            Algorithm::InPlace
        } else {
            Algorithm::Packed
        }
    }

    /// # Safety
    /// As [`crate::plan::FftwPlan::execute`].
    pub(crate) unsafe fn execute(&self, input: Ends<T>, output: Ends<T>) -> Result<(), FftwError> {
        if self.empty {
            return Ok(());
        }
        let absent = |ends: Ends<T>, real: bool| ends.re.is_null() || (!real && ends.im.is_null());
        if absent(input, self.kind == Kind::RealToComplex) {
            return Err(FftwError::Null("the input"));
        }
        if absent(output, self.kind == Kind::ComplexToReal) {
            return Err(FftwError::Null("the output"));
        }
        // SAFETY: the caller's promise; `algorithm` has looked at the ranges.
        let outcome = unsafe {
            match (self.algorithm(input, output), &self.direct) {
                (Algorithm::InPlace, Some(direct)) => self.in_place(direct, output),
                (Algorithm::OutOfPlace, Some(direct)) => self.out_of_place(direct, input, output),
                _ => self.through_buffers(input, output),
            }
        };
        if outcome.is_err() {
            // SAFETY: the caller's promise.
            unsafe { self.fill_with_nan(output) };
        }
        outcome
    }

    /// # Safety
    /// The plan's range at `array` is wholly the transform's.
    unsafe fn in_place(&self, direct: &Direct<T>, array: Ends<T>) -> Result<(), FftwError> {
        // The range of complex numbers: for real transforms that of the half-spectrum.
        let range = match self.kind {
            Kind::ComplexToReal => direct.input,
            _ => direct.output,
        };
        // SAFETY: the caller's promise; alignment was looked at.
        let values: &mut [Complex<T>] = unsafe { slice_mut(array.re, range) };
        let plan = direct.plan.as_ref();
        match self.kind {
            Kind::ComplexToComplex => self.finish(plan, |plan, workspace| {
                plan.process_with_workspace(values, workspace)
            }),
            Kind::RealToComplex => {
                self.finish_allocating(plan, |plan| plan.process_real_in_place(values))
            }
            Kind::ComplexToReal => {
                self.finish_allocating(plan, |plan| plan.process_complex_to_real_in_place(values))
            }
        }
    }

    /// # Safety
    /// The plan's ranges at both arrays are wholly the transform's, and apart from each other.
    unsafe fn out_of_place(
        &self,
        direct: &Direct<T>,
        input: Ends<T>,
        output: Ends<T>,
    ) -> Result<(), FftwError> {
        let (from, to) = (direct.input, direct.output);
        let plan = direct.plan.as_ref();
        // SAFETY: the caller's promise; alignment was looked at.
        unsafe {
            match self.kind {
                Kind::ComplexToComplex => {
                    let (from, to) = (slice(input.re, from), slice_mut(output.re, to));
                    self.finish(plan, |plan, workspace| {
                        plan.process_outofplace_with_workspace(from, to, workspace)
                    })
                }
                Kind::RealToComplex => {
                    let (from, to) = (slice(input.re, from), slice_mut(output.re, to));
                    self.finish(plan, |plan, workspace| {
                        plan.process_real_to_complex_with_workspace(from, to, workspace)
                    })
                }
                Kind::ComplexToReal => {
                    let (from, to) = (slice(input.re, from), slice_mut(output.re, to));
                    self.finish(plan, |plan, workspace| {
                        plan.process_complex_to_real_with_workspace(from, to, workspace)
                    })
                }
            }
        }
    }

    /// All of the input is read before any of the output is written, so arrays may overlap as they like.
    ///
    /// # Safety
    /// As [`crate::plan::FftwPlan::execute`].
    unsafe fn through_buffers(&self, input: Ends<T>, output: Ends<T>) -> Result<(), FftwError> {
        let plan = self.packed_plan()?;
        let (from, to) = (&self.sides.0[..], &self.sides.1[..]);
        // SAFETY: the caller's promise.
        unsafe {
            match (self.kind, plan) {
                (Kind::ComplexToComplex, plan) => {
                    let words = plan.map_or(0, |plan| plan.workspace_len());
                    with_array(self.elements.0, words, |values, workspace| {
                        gather_complex(input, from, values);
                        if let Some(plan) = plan {
                            done(pool::run(self.options.threads, || {
                                plan.process_with_workspace(values, workspace)
                            }))?;
                        }
                        scatter_complex(values.iter().copied(), output, to);
                        Ok::<(), FftwError>(())
                    })??;
                }
                (Kind::RealToComplex, Some(plan)) => {
                    let values = gather_real(input, from)?;
                    with_array(
                        self.elements.1,
                        plan.workspace_len(),
                        |halves, workspace| {
                            done(pool::run(self.options.threads, || {
                                plan.process_real_to_complex_with_workspace(
                                    &values, halves, workspace,
                                )
                            }))?;
                            scatter_complex(halves.iter().copied(), output, to);
                            Ok::<(), FftwError>(())
                        },
                    )??;
                }
                (Kind::RealToComplex, None) => {
                    let values = gather_real(input, from)?;
                    let values = values
                        .into_iter()
                        .map(|value| Complex::new(value, T::default()));
                    scatter_complex(values, output, to);
                }
                (Kind::ComplexToReal, Some(plan)) => {
                    let mut values = zeros(self.elements.1)?;
                    with_array(
                        self.elements.0,
                        plan.workspace_len(),
                        |halves, workspace| {
                            gather_complex(input, from, halves);
                            done(pool::run(self.options.threads, || {
                                plan.process_complex_to_real_with_workspace(
                                    halves,
                                    &mut values,
                                    workspace,
                                )
                            }))?;
                            scatter_real(values, output, to);
                            Ok::<(), FftwError>(())
                        },
                    )??;
                }
                (Kind::ComplexToReal, None) => {
                    scatter_real(gather_real(input, from)?, output, to);
                }
            }
        }
        Ok(())
    }

    /// Runs a plan with its threads and workspace. A half-spectrum that belongs to no real array is transformed as FFTW does, and
    /// is no failure.
    fn finish(
        &self,
        plan: &Plan<T>,
        run: impl FnOnce(&Plan<T>, &mut [u64]) -> Result<(), FftError> + Send,
    ) -> Result<(), FftwError> {
        with_workspace(plan.workspace_len(), |workspace| {
            pool::run(self.options.threads, || run(plan, workspace))
        })
        .and_then(done)
    }

    /// The same for calls that allocate their workspace: room for it is tried for first.
    fn finish_allocating(
        &self,
        plan: &Plan<T>,
        run: impl FnOnce(&Plan<T>) -> Result<(), FftError> + Send,
    ) -> Result<(), FftwError> {
        drop(with_room::<u64>(plan.workspace_len())?);
        done(pool::run(self.options.threads, || run(plan)))
    }

    /// NaN, which cannot be taken for a result.
    ///
    /// # Safety
    /// As [`crate::plan::FftwPlan::execute`].
    unsafe fn fill_with_nan(&self, output: Ends<T>) {
        let side = &self.sides.1[..];
        // SAFETY: the caller's promise.
        unsafe {
            match self.kind {
                Kind::ComplexToReal => {
                    scatter_real(std::iter::repeat(T::NOT_A_NUMBER), output, side)
                }
                _ => {
                    let value = Complex::new(T::NOT_A_NUMBER, T::NOT_A_NUMBER);
                    scatter_complex(std::iter::repeat(value), output, side);
                }
            }
        }
    }

    pub(crate) fn summary(&self) -> String {
        let shape = self.shape();
        let how = match (&self.direct, self.loops == shape.len()) {
            _ if self.empty => return "nothing to do".into(),
            (_, true) => return format!("copy of {shape:?}"),
            (Some(_), _) => "directly",
            (None, _) => "through buffers",
        };
        let plan = match (&self.direct, self.packed.get()) {
            (Some(direct), _) => Some(&direct.plan),
            (None, Some(Ok(plan))) => plan.as_ref(),
            _ => None,
        };
        let engine = plan.map_or(String::new(), |plan| {
            format!(", {:?} on {}", plan.engine(), plan.substrate())
        });
        format!(
            "{} {:?}, {:?}, loops {:?}, {how}, {}{engine}",
            self.kind,
            self.direction,
            &shape[self.loops..],
            &shape[..self.loops],
            pool::in_words(self.options.threads)
        )
    }

    pub(crate) fn describe(&self) -> String {
        let packed = self.packed.get().and_then(|plan| plan.as_ref().ok());
        let plan = match &self.direct {
            Some(direct) => Some(&direct.plan),
            None => packed.and_then(Option::as_ref),
        };
        match plan {
            Some(plan) => format!("{}\n{plan}", self.summary()),
            None => self.summary(),
        }
    }

    pub(crate) fn nominal_operations(&self) -> f64 {
        if self.empty {
            return 0.0;
        }
        let shape = self.shape();
        let all: f64 = shape.iter().map(|&n| n as f64).product();
        let combined: f64 = shape[self.loops..].iter().map(|&n| n as f64).product();
        let share = if self.kind == Kind::ComplexToComplex {
            5.0
        } else {
            2.5
        };
        share * all * combined.max(1.0).log2()
    }
}

/// Bytes that the tables of a line take, at least. Lengths of small factors need few; those with a large prime take a convolution, with
/// the chirp and its spectrum.
pub(crate) fn table_bytes(n: usize) -> u64 {
    const LARGE: usize = 4096;
    let mut rest = n;
    let mut factor = 2;
    // What is left after all small factors are out has none but large ones.
    while factor <= LARGE && rest > LARGE {
        if rest.is_multiple_of(factor) {
            rest /= factor;
        } else {
            factor += 1;
        }
    }
    let bytes_of_a_point = if rest > LARGE { 64 } else { 0 };
    (n as u64).saturating_mul(bytes_of_a_point)
}

/// A half-spectrum that no real array has is transformed as FFTW does.
pub(crate) fn done(outcome: Result<(), FftError>) -> Result<(), FftwError> {
    match outcome {
        Ok(()) | Err(FftError::NotHermitian { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// What becomes of a call's arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    InPlace,
    OutOfPlace,
    Packed,
}

/// Lengths of 1 do nothing, except that a halved one makes complex numbers of real ones. Loops are sorted so that the
/// slowest comes first, which lets more arrays pass as C order.
fn simplified(
    kind: Kind,
    transformed: Vec<Dimension>,
    mut looped: Vec<Dimension>,
) -> (usize, Vec<Dimension>) {
    looped.retain(|dimension| dimension.length != 1);
    looped.sort_by_key(|d| {
        std::cmp::Reverse((d.output.unsigned_abs(), d.input.unsigned_abs(), d.length))
    });
    let loops = looped.len();
    let last = transformed.len().wrapping_sub(1);
    let halved = |position: usize| kind != Kind::ComplexToComplex && position == last;
    let kept = transformed
        .into_iter()
        .enumerate()
        .filter(|&(position, dimension)| dimension.length != 1 || halved(position));
    looped.extend(kept.map(|(_, dimension)| dimension));
    (loops, looped)
}

/// # Safety
/// So many elements lie there, may be read and are not written meanwhile.
unsafe fn slice<'a, R, T>(array: *mut R, range: Range) -> &'a [T] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(array.offset(range.start).cast(), range.count) }
}

/// # Safety
/// So many elements lie there, and nobody else uses them meanwhile.
unsafe fn slice_mut<'a, R, T>(array: *mut R, range: Range) -> &'a mut [T] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(array.offset(range.start).cast(), range.count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_large_where_there_is_a_large_prime() {
        assert_eq!(table_bytes(1 << 40), 0);
        assert_eq!(table_bytes(4093 * 4093), 0);
        assert_eq!(table_bytes(1_000_003), 64_000_192);
        assert_eq!(table_bytes(3 * 1_000_003), 3 * 64_000_192);
        assert_eq!(table_bytes(usize::MAX), u64::MAX);
        assert_eq!(table_bytes(1), 0);
    }
}
