//! Real input, real output: every kind is a real transform of a longer, symmetric array, of which some numbers are picked.
//!
//! A cosine or sine transform is by definition the Fourier transform of an even or odd array with shifts of half a sample; an
//! array with zeros in between (lengths 4n and 8n) has no half samples. So there is nothing to multiply here, no error beyond that
//! of the real transform, and the same bits everywhere; the price is length.
//!
//! With β the bound of the longer transform, the relative L2 error of one axis is at most 2β (DHT: 2β + 2⁻⁵³): numbers that are
//! picked hold at least half of the energy of the half-spectrum they are picked from, and a half-spectrum at least half of that of
//! the whole. A further axis at most doubles the error that it is given (no kind has a condition number above 2) and adds its own.

use crate::error::FftwError;
use crate::number::Number;
use crate::options::Options;
use crate::planning;
use crate::pool;
use crate::transforms::fourier::{done, table_bytes};
use crate::transforms::strides::{Dimension, Ends, Side, count, extent, gather_real, scatter_real};
use crate::transforms::workspace::{with_workspace, zeros};
use fallible_memory::expect;
use num_complex::Complex;
use ozfft::{Plan, Problem};
use std::sync::Arc;

/// The kinds, numbered as in fftw3.h. `E` kinds are even, `O` kinds odd; `01` shifts the output by half a sample, `10` the
/// input, `11` both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RealKind {
    R2hc,
    Hc2r,
    Dht,
    Redft00,
    Redft01,
    Redft10,
    Redft11,
    Rodft00,
    Rodft01,
    Rodft10,
    Rodft11,
}

impl TryFrom<i32> for RealKind {
    type Error = FftwError;

    fn try_from(number: i32) -> Result<Self, FftwError> {
        use RealKind::*;
        const ALL: [RealKind; 11] = [
            R2hc, Hc2r, Dht, Redft00, Redft01, Redft10, Redft11, Rodft00, Rodft01, Rodft10, Rodft11,
        ];
        let position = usize::try_from(number).ok();
        position
            .and_then(|position| ALL.get(position).copied())
            .ok_or(FftwError::Kind(number))
    }
}

impl RealKind {
    /// Shortest line that has this transform.
    pub(crate) fn least_length(self) -> usize {
        match self {
            RealKind::Redft00 => 2,
            _ => 1,
        }
    }

    /// Length of the symmetric array.
    fn extended(self, n: usize) -> Option<usize> {
        use RealKind::*;
        match self {
            R2hc | Hc2r | Dht => Some(n),
            Redft00 => (n - 1).checked_mul(2),
            Rodft00 => n.checked_add(1)?.checked_mul(2),
            Redft01 | Redft10 | Rodft01 | Rodft10 => n.checked_mul(4),
            Redft11 | Rodft11 => n.checked_mul(8),
        }
    }

    fn is_odd(self) -> bool {
        use RealKind::*;
        matches!(self, Rodft00 | Rodft01 | Rodft10 | Rodft11)
    }

    /// Whether each number goes in twice as often as the definition has it.
    fn is_doubled(self) -> bool {
        use RealKind::*;
        matches!(self, Redft01 | Redft11 | Rodft01 | Rodft11)
    }

    /// Writes the symmetric array of a line; the array has been cleared.
    fn extend<T: Number>(self, n: usize, value: impl Fn(usize) -> T, array: &mut [T]) {
        use RealKind::*;
        let length = array.len();
        let signed = |x: T| if self.is_odd() { -x } else { x };
        for j in 0..n {
            let x = value(j);
            match self {
                R2hc | Hc2r | Dht => array[j] = x,
                Redft00 => {
                    array[(length - j) % length] = x;
                    array[j] = x;
                }
                Rodft00 => {
                    array[j + 1] = x;
                    array[length - j - 1] = -x;
                }
                Redft10 | Rodft10 => {
                    array[2 * j + 1] = x;
                    array[length - 2 * j - 1] = signed(x);
                }
                // Around a quarter of the array the even kind is odd and the odd kind even: only then are there no frequencies
                // but the odd ones.
                Redft01 => {
                    array[(length - j) % length] = x;
                    array[j] = x;
                    array[2 * n - j] = -x;
                    array[2 * n + j] = -x;
                }
                Rodft01 => {
                    array[j + 1] = x;
                    array[2 * n - j - 1] = x;
                    array[2 * n + j + 1] = -x;
                    array[length - j - 1] = -x;
                }
                Redft11 | Rodft11 => {
                    let place = 2 * j + 1;
                    array[place] = x;
                    array[length - place] = signed(x);
                    array[4 * n - place] = -signed(x);
                    array[4 * n + place] = -x;
                }
            }
        }
    }

    /// Output `k` of a line of `n`, from the half-spectrum of its symmetric array; twice as much where `is_doubled`.
    fn pick<T: Number>(self, n: usize, k: usize, spectrum: &[Complex<T>]) -> T {
        use RealKind::*;
        match self {
            R2hc if k <= n / 2 => spectrum[k].re,
            R2hc => spectrum[n - k].im,
            Dht if k <= n / 2 => spectrum[k].re - spectrum[k].im,
            Dht => spectrum[n - k].re + spectrum[n - k].im,
            Redft00 | Redft10 => spectrum[k].re,
            Rodft00 | Rodft10 => -spectrum[k + 1].im,
            Redft01 | Redft11 => spectrum[2 * k + 1].re,
            Rodft01 | Rodft11 => -spectrum[2 * k + 1].im,
            Hc2r => unreachable!("its output is no half-spectrum"),
        }
    }
}

/// Number `k` of the half-spectrum whose parts a half-complex line holds: real parts from the front, imaginary ones from the end.
fn from_halfcomplex<T: Number>(n: usize, k: usize, value: impl Fn(usize) -> T) -> Complex<T> {
    let im = if k == 0 || 2 * k == n {
        T::default()
    } else {
        value(n - k)
    };
    Complex::new(value(k), im)
}

/// Numbers that a block of lines takes at most, as long as it is one line at least.
const BLOCK: usize = 1 << 16;

/// One transformed dimension.
struct Axis<T: Number> {
    kind: RealKind,
    n: usize,
    extended: usize,
    /// Lines of a block, and of the last block if that has fewer.
    plans: [(usize, Option<Arc<Plan<T>>>); 2],
}

/// Real transforms along some dimensions.
pub(crate) struct RealToReal<T: Number> {
    /// Loops, then transformed dimensions.
    dimensions: Vec<Dimension>,
    axes: Vec<Axis<T>>,
    empty: bool,
    options: Options,
}

impl<T: Number> RealToReal<T> {
    pub(crate) fn new(
        transformed: Vec<(Dimension, RealKind)>,
        looped: Vec<Dimension>,
        options: Options,
    ) -> Result<RealToReal<T>, FftwError> {
        let empty = looped.iter().any(|dimension| dimension.length == 0);
        let mut dimensions = looped;
        dimensions.extend(transformed.iter().map(|&(dimension, _)| dimension));
        let mut work = RealToReal {
            dimensions,
            axes: Vec::new(),
            empty,
            options,
        };
        if empty {
            return Ok(work);
        }
        let total = count(&work.side(|d| d.input))?;
        for side in [work.side(|d| d.input), work.side(|d| d.output)] {
            extent(&side).ok_or(FftwError::NotAddressable)?;
        }
        work.options = options.for_points(total);
        for (dimension, kind) in transformed {
            let n = dimension.length;
            let axis = Axis::new(kind, n, total / n, &work.options)?;
            work.axes.push(axis);
        }
        // The array, and for one axis at a time a block of longer lines with their spectra.
        let blocks = work.axes.iter().map(Axis::block_bytes).max().unwrap_or(0);
        expect((size_of::<T>() as u64 * total as u64).saturating_add(blocks))?;
        Ok(work)
    }

    fn side(&self, stride: impl Fn(&Dimension) -> isize) -> Side {
        let pairs = self.dimensions.iter().map(|d| (d.length, stride(d)));
        pairs.collect()
    }

    /// # Safety
    /// As [`crate::plan::FftwPlan::execute`].
    pub(crate) unsafe fn execute(&self, input: Ends<T>, output: Ends<T>) -> Result<(), FftwError> {
        if self.empty {
            return Ok(());
        }
        if input.re.is_null() {
            return Err(FftwError::Null("the input"));
        }
        if output.re.is_null() {
            return Err(FftwError::Null("the output"));
        }
        let to = self.side(|d| d.output);
        // SAFETY: the caller's promise.
        let outcome = unsafe { gather_real(input, &self.side(|d| d.input)) }
            .and_then(|values| pool::run(self.options.threads, || self.transform(values)));
        // SAFETY: the caller's promise.
        unsafe {
            match outcome {
                Ok(values) => {
                    scatter_real(values, output, &to);
                    Ok(())
                }
                Err(error) => {
                    // NaN, which cannot be taken for a result.
                    scatter_real(std::iter::repeat(T::NOT_A_NUMBER), output, &to);
                    Err(error)
                }
            }
        }
    }

    /// Transforms an array in C order along its last axes, the last first.
    fn transform(&self, mut values: Vec<T>) -> Result<Vec<T>, FftwError> {
        let mut inner = 1;
        for axis in self.axes.iter().rev() {
            axis.transform(&mut values, inner)?;
            inner *= axis.n;
        }
        Ok(values)
    }

    pub(crate) fn summary(&self) -> String {
        if self.empty {
            return "nothing to do".into();
        }
        let loops = self.dimensions.len() - self.axes.len();
        let lengths: Vec<usize> = self.dimensions.iter().map(|d| d.length).collect();
        let kinds: Vec<String> = self.axes.iter().map(|a| format!("{:?}", a.kind)).collect();
        format!(
            "real-to-real {}, {:?}, loops {:?}, through buffers, {}",
            kinds.join(" "),
            &lengths[loops..],
            &lengths[..loops],
            pool::in_words(self.options.threads)
        )
    }

    pub(crate) fn describe(&self) -> String {
        let plans = self.axes.iter().filter_map(|axis| {
            let plan = axis.plans[0].1.as_ref()?;
            Some(format!("\n{:?}: {plan}", axis.kind))
        });
        let plans: Vec<String> = plans.collect();
        self.summary() + &plans.concat()
    }

    pub(crate) fn nominal_operations(&self) -> f64 {
        if self.empty {
            return 0.0;
        }
        let all: f64 = self.dimensions.iter().map(|d| d.length as f64).product();
        let lines = self.axes.iter().map(|axis| {
            let times = axis.extended as f64 / axis.n as f64;
            2.5 * all * times * (axis.extended as f64).log2()
        });
        lines.sum()
    }
}

impl<T: Number> Axis<T> {
    fn new(
        kind: RealKind,
        n: usize,
        lines: usize,
        options: &Options,
    ) -> Result<Axis<T>, FftwError> {
        let extended = kind.extended(n).ok_or(FftwError::NotAddressable)?;
        // What a block of one line takes, and its tables, which are worked out now.
        let line = (extended as u64).saturating_mul(2 * size_of::<T>() as u64);
        expect(line.max(table_bytes(extended)))?;
        let block = (BLOCK / extended).clamp(1, lines);
        let rest = lines % block;
        let plan = |lines: usize| {
            if lines == 0 {
                return Ok((0, None));
            }
            let problem = match kind {
                RealKind::Hc2r => Problem::complex_to_real(&[extended]),
                _ => Problem::real_to_complex(&[extended]),
            };
            let problem = options.apply(problem.batch(lines));
            planning::plan(&problem, options).map(|plan| (lines, Some(plan)))
        };
        Ok(Axis {
            kind,
            n,
            extended,
            plans: [plan(block)?, plan(rest)?],
        })
    }

    /// Bytes that its longer lines, their spectra and the workspace take.
    fn block_bytes(&self) -> u64 {
        let [(lines, plan), _] = &self.plans;
        let numbers = lines * (self.extended + 2 * (self.extended / 2 + 1));
        let workspace = plan.as_ref().map_or(0, |plan| 8 * plan.workspace_len());
        (size_of::<T>() * numbers + workspace) as u64
    }

    /// Transforms all lines of an array in C order; neighbours on a line are `inner` apart.
    fn transform(&self, values: &mut [T], inner: usize) -> Result<(), FftwError> {
        let lines = values.len() / self.n;
        let start = |line: usize| line / inner * inner * self.n + line % inner;
        let block = self.plans[0].0;
        let half = self.extended / 2 + 1;
        let mut array: Vec<T> = zeros(block * self.extended)?;
        let mut spectra: Vec<Complex<T>> = zeros(block * half)?;
        let mut first = 0;
        while first < lines {
            let count = block.min(lines - first);
            let fitting = self.plans.iter().find(|(lines, _)| *lines == count);
            let Some((_, Some(plan))) = fitting else {
                unreachable!("blocks are whole, or the rest");
            };
            let starts: Vec<usize> = (first..first + count).map(start).collect();
            // As long as the plan has it: the last block may have fewer lines.
            let array = &mut array[..count * self.extended];
            let spectra = &mut spectra[..count * half];
            if self.kind == RealKind::Hc2r {
                for (&start, spectrum) in starts.iter().zip(spectra.chunks_mut(half)) {
                    for (k, value) in spectrum.iter_mut().enumerate() {
                        *value = from_halfcomplex(self.n, k, |j| values[start + j * inner]);
                    }
                }
                with_workspace(plan.workspace_len(), |workspace| {
                    plan.process_complex_to_real_with_workspace(spectra, array, workspace)
                })
                .and_then(done)?;
                for (&start, line) in starts.iter().zip(array.chunks(self.n)) {
                    for (k, &value) in line.iter().enumerate() {
                        values[start + k * inner] = value;
                    }
                }
            } else {
                array.fill(T::default());
                // Halving is exact but for subnormal numbers: afterwards, unless twice the result might overflow.
                let is_large = |x: T| x > T::LARGE || x < -T::LARGE;
                let lines_of_large = |&start: &usize| {
                    let mut line = (0..self.n).map(|j| values[start + j * inner]);
                    self.kind.is_doubled() && line.any(is_large)
                };
                let before: Vec<bool> = starts.iter().map(lines_of_large).collect();
                let lines = starts.iter().zip(&before);
                for ((&start, &before), line) in lines.zip(array.chunks_mut(self.extended)) {
                    let halved = |x: T| if before { T::HALF * x } else { x };
                    let value = |j: usize| halved(values[start + j * inner]);
                    self.kind.extend(self.n, value, line);
                }
                with_workspace(plan.workspace_len(), |workspace| {
                    plan.process_real_to_complex_with_workspace(array, spectra, workspace)
                })
                .and_then(done)?;
                let lines = starts.iter().zip(&before);
                for ((&start, &before), spectrum) in lines.zip(spectra.chunks(half)) {
                    let is_double = self.kind.is_doubled() && !before;
                    let halved = |x: T| if is_double { T::HALF * x } else { x };
                    for k in 0..self.n {
                        values[start + k * inner] = halved(self.kind.pick(self.n, k, spectrum));
                    }
                }
            }
            first += count;
        }
        Ok(())
    }
}
