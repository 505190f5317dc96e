//! Transforms of complex lines that lie side by side, as along a strided axis: one line in every lane of a vector, as in pocketfft.
//! Rows of neighbouring points are read and written where they are, and nothing has to be transposed.
//!
//! Stockham's algorithm: every step reads one panel and writes the other, and the last one leaves points in their order. The first
//! reads the caller's array, the last writes it.

use super::butterflies::{Butterfly, Dft, splat};
use super::panels::Lines;
use crate::roots::root_table::RootTable;
use crate::simd::{Floats, Instructions, LaneTask, Pair, Point};
use crate::workspace::{ReadArray, SharedArray, take, words_for};
use num_complex::Complex;

/// Radices of steps. One of 8 saves a quarter of the passes over a panel that radix 4 takes.
const RADICES: [usize; 6] = [2, 3, 4, 5, 7, 8];
/// Two panels of longer lines leave the second-level cache.
const LONGEST_LINE: usize = 2048;
/// Lanes of the widest vectors.
pub(super) const MOST_LANES: usize = 8;

/// A small DFT over all points.
#[derive(Debug, Clone)]
struct Step {
    radix: usize,
    /// Product of the radices before this one.
    before: usize,
    /// Product of the radices after it.
    after: usize,
    /// Place of its first factor in the table.
    first_factor: usize,
}

/// The transform of lines side by side.
#[derive(Debug, Clone)]
pub(super) struct SideBySide {
    n: usize,
    steps: Vec<Step>,
    /// exp(-2πi·p·k/m) for every step, m the points that are left to it: k below its radix, for every p.
    factors: Vec<Complex<f64>>,
    inverse: bool,
    scale: f64,
    instructions: Instructions,
}

/// Rows of a panel: a point of every lane, real parts before imaginary ones.
#[derive(Clone, Copy)]
struct Panel<const L: usize>(*mut Point<L>);

/// Rows of the caller's array.
#[derive(Clone, Copy)]
struct Rows<P> {
    start: P,
    /// In real numbers.
    stride: isize,
}

/// Where a step reads.
trait Source<const L: usize, V: Floats<L>>: Copy {
    /// # Safety
    /// There is such a row.
    unsafe fn load(self, row: usize) -> Pair<V::Words>;
}

/// Where a step writes.
trait Target<const L: usize, V: Floats<L>>: Copy {
    /// # Safety
    /// There is such a row.
    unsafe fn store(self, row: usize, value: Pair<V::Words>);
}

impl<const L: usize, V: Floats<L>> Source<L, V> for Panel<L> {
    #[inline(always)]
    unsafe fn load(self, row: usize) -> Pair<V::Words> {
        // SAFETY: the caller's promise.
        let [re, im] = unsafe { &*self.0.add(row) };
        (V::load(re), V::load(im))
    }
}

impl<const L: usize, V: Floats<L>> Target<L, V> for Panel<L> {
    #[inline(always)]
    unsafe fn store(self, row: usize, (re, im): Pair<V::Words>) {
        // SAFETY: the caller's promise.
        let point = unsafe { &mut *self.0.add(row) };
        V::store(re, &mut point[0]);
        V::store(im, &mut point[1]);
    }
}

impl<const L: usize, V: Floats<L>> Source<L, V> for Rows<*const f64> {
    #[inline(always)]
    unsafe fn load(self, row: usize) -> Pair<V::Words> {
        // SAFETY: the caller's promise.
        unsafe { V::load_neighbours(self.start.offset(row as isize * self.stride)) }
    }
}

/// Rows of the caller's array, for results.
#[derive(Clone, Copy)]
struct Results<W> {
    rows: Rows<*mut f64>,
    scale: W,
    /// An inverse transform is a forward one whose outputs are counted backwards, from this number on.
    backwards: Option<usize>,
}

impl<const L: usize, V: Floats<L>> Target<L, V> for Results<V::Words> {
    #[inline(always)]
    unsafe fn store(self, row: usize, (re, im): Pair<V::Words>) {
        let row = match self.backwards {
            Some(n) if row > 0 => n - row,
            _ => row,
        };
        let (re, im) = (
            V::multiply_floats(re, self.scale),
            V::multiply_floats(im, self.scale),
        );
        let start = self.rows.start;
        // SAFETY: the caller's promise.
        unsafe { V::store_neighbours(start.offset(row as isize * self.rows.stride), re, im) }
    }
}

/// One step, with its factors.
///
/// # Safety
/// Both sides have `R · before · after` rows, which no other thread writes.
#[inline(always)]
#[allow(
    clippy::needless_range_loop,
    reason = "by number: an iterator would take the points through memory"
)]
unsafe fn step<const L: usize, V: Floats<L>, const R: usize>(
    from: impl Source<L, V>,
    to: impl Target<L, V>,
    (before, after): (usize, usize),
    factors: &[Complex<f64>],
) where
    Dft: Butterfly<R>,
{
    for p in 0..after {
        let factors = &factors[p * (R - 1)..][..R - 1];
        for q in 0..before {
            // SAFETY: p < after, q < before and k < R.
            unsafe {
                let mut points = [from.load(q + before * p); R];
                for k in 1..R {
                    points[k] = from.load(q + before * (p + k * after));
                }
                let points = <Dft as Butterfly<R>>::transform::<L, V>(points);
                to.store(q + before * R * p, points[0]);
                for k in 1..R {
                    let factor = factors[k - 1];
                    let (cosine, sine) = (splat::<L, V>(factor.re), splat::<L, V>(factor.im));
                    let (re, im) = points[k];
                    let turned = (
                        V::multiply_subtract(im, sine, V::multiply_floats(re, cosine)),
                        V::multiply_add(im, cosine, V::multiply_floats(re, sine)),
                    );
                    to.store(q + before * (R * p + k), turned);
                }
            }
        }
    }
}

/// The last step, whose factors are all 1.
///
/// # Safety
/// As of [`step`].
#[inline(always)]
#[allow(
    clippy::needless_range_loop,
    reason = "by number: an iterator would take the points through memory"
)]
unsafe fn last_step<const L: usize, V: Floats<L>, const R: usize>(
    from: impl Source<L, V>,
    to: impl Target<L, V>,
    before: usize,
) where
    Dft: Butterfly<R>,
{
    for q in 0..before {
        // SAFETY: q < before and k < R.
        unsafe {
            let mut points = [from.load(q); R];
            for k in 1..R {
                points[k] = from.load(q + before * k);
            }
            let points = <Dft as Butterfly<R>>::transform::<L, V>(points);
            for k in 0..R {
                to.store(q + before * k, points[k]);
            }
        }
    }
}

/// Calls a function of a constant radix.
macro_rules! with_radix {
    ($radix:expr, $function:ident, $V:ty, $($argument:expr),*) => {
        match $radix {
            2 => $function::<L, $V, 2>($($argument),*),
            3 => $function::<L, $V, 3>($($argument),*),
            4 => $function::<L, $V, 4>($($argument),*),
            5 => $function::<L, $V, 5>($($argument),*),
            7 => $function::<L, $V, 7>($($argument),*),
            8 => $function::<L, $V, 8>($($argument),*),
            radix => unreachable!("no step has radix {radix}"),
        }
    };
}

/// The radices of a length; none where it has other factors, or is too long or too short.
fn radices(n: usize) -> Option<Vec<usize>> {
    if !(2..=LONGEST_LINE).contains(&n) {
        return None;
    }
    let twos = n.trailing_zeros() as usize;
    // Large radices first, where factors differ from point to point.
    let mut radices = match (twos, twos % 3) {
        (1, _) => vec![2],
        (_, 1) => [vec![8; twos / 3 - 1], vec![4, 4]].concat(),
        (_, 2) => [vec![8; twos / 3], vec![4]].concat(),
        _ => vec![8; twos / 3],
    };
    let mut rest = n >> twos;
    for radix in RADICES.into_iter().filter(|radix| radix % 2 == 1) {
        while rest.is_multiple_of(radix) {
            radices.push(radix);
            rest /= radix;
        }
    }
    (rest == 1).then_some(radices)
}

impl SideBySide {
    /// The transform of `n` points; none where the length has factors above 7 or is too long.
    pub(super) fn new(n: usize, inverse: bool, scale: f64) -> Option<Self> {
        let radices = radices(n)?;
        let table = RootTable::new(n as u64);
        let (mut before, mut after) = (1, n);
        let (mut steps, mut factors) = (Vec::new(), Vec::new());
        for radix in radices {
            let first_factor = factors.len();
            after /= radix;
            for p in 0..after {
                for k in 1..radix {
                    let root = table.units_of_96_bits((p * k * before % n) as u64);
                    let float = |units: i128| units as f64 * (-96f64).exp2();
                    factors.push(Complex::new(float(root.re), -float(root.im)));
                }
            }
            steps.push(Step {
                radix,
                before,
                after,
                first_factor,
            });
            before *= radix;
        }
        Some(SideBySide {
            n,
            steps,
            factors,
            inverse,
            scale,
            instructions: Instructions::available()[0],
        })
    }

    /// Whether there is such a transform.
    pub(super) fn has_length(n: usize) -> bool {
        radices(n).is_some()
    }

    pub(super) fn len(&self) -> usize {
        self.n
    }

    pub(super) fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// Lines of one call.
    pub(super) fn lanes(&self) -> usize {
        self.instructions.lanes()
    }

    /// 64-bit words of workspace.
    pub(super) fn words(&self) -> usize {
        2 * words_for::<Point<MOST_LANES>>(self.n)
    }

    pub(super) fn table_bytes(&self) -> usize {
        size_of_val(&self.factors[..])
    }

    /// Transforms as many lines as there are lanes, which are neighbours in both arrays.
    pub(super) fn run(
        &self,
        (from, source): (&ReadArray<'_, Complex<f64>>, &Lines),
        (to, target): (&SharedArray<'_, Complex<f64>>, &Lines),
        workspace: &mut [u64],
    ) {
        let lanes = self.lanes();
        for lines in [source, target] {
            assert!((lines.count, lines.points, lines.distance) == (lanes, self.n, 1));
        }
        let source = Rows {
            start: source.checked_pointer(from).cast::<f64>(),
            stride: 2 * source.place.stride,
        };
        let target = Rows {
            start: target.checked_pointer_mut(to).cast::<f64>(),
            stride: 2 * target.place.stride,
        };
        let task = OneSet {
            transform: self,
            source,
            target,
            workspace,
        };
        // SAFETY: all rows are in range, and are this thread's; the instructions are this machine's.
        unsafe { self.instructions.enter(task) }
    }

    /// # Safety
    /// There are `n` rows of `L` complex numbers on both sides, which no other thread writes, and the processor has the
    /// instructions.
    #[inline(always)]
    unsafe fn run_lanes<const L: usize, V: Floats<L>>(
        &self,
        source: Rows<*const f64>,
        target: Rows<*mut f64>,
        mut workspace: &mut [u64],
    ) {
        let mut panel = Panel(take::<Point<L>>(&mut workspace, self.n).as_mut_ptr());
        let mut other = Panel(take::<Point<L>>(&mut workspace, self.n).as_mut_ptr());
        let results = Results::<V::Words> {
            rows: target,
            scale: splat::<L, V>(self.scale),
            backwards: self.inverse.then_some(self.n),
        };
        let (last, steps) = self
            .steps
            .split_last()
            .unwrap_or_else(|| unreachable!("lines have two points at least"));
        // SAFETY: `radix · before · after` is `n` in all steps; panels have as many rows.
        unsafe {
            for (
                number,
                Step {
                    radix,
                    before,
                    after,
                    first_factor,
                },
            ) in steps.iter().enumerate()
            {
                let factors = &self.factors[*first_factor..];
                let counts = (*before, *after);
                if number == 0 {
                    with_radix!(radix, step, V, source, panel, counts, factors);
                } else {
                    with_radix!(radix, step, V, panel, other, counts, factors);
                    std::mem::swap(&mut panel, &mut other);
                }
            }
            if steps.is_empty() {
                with_radix!(last.radix, last_step, V, source, results, last.before);
            } else {
                with_radix!(last.radix, last_step, V, panel, results, last.before);
            }
        }
    }
}

/// The lines of one call of [`SideBySide::run`].
struct OneSet<'a> {
    transform: &'a SideBySide,
    source: Rows<*const f64>,
    target: Rows<*mut f64>,
    workspace: &'a mut [u64],
}

impl LaneTask for OneSet<'_> {
    #[inline(always)]
    unsafe fn run<const L: usize, V: Floats<L>>(self) {
        // SAFETY: the promise of whoever has made the rows, and the caller's.
        unsafe {
            self.transform
                .run_lanes::<L, V>(self.source, self.target, self.workspace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::numbers::Placement;
    use ozfft_testkit::oracle::inputs::uniform_complex;
    use ozfft_testkit::oracle::{Direction, Scale, compare_scaled, dft_nd};

    #[test]
    fn radices_multiply_to_the_length() {
        for n in 2..=LONGEST_LINE {
            if let Some(radices) = radices(n) {
                assert_eq!(radices.iter().product::<usize>(), n);
                assert!(radices.iter().all(|radix| RADICES.contains(radix)));
            }
        }
        assert!(radices(7 * 8 * 9).is_some() && radices(22).is_none() && radices(1).is_none());
    }

    #[test]
    fn every_instruction_set_transforms_all_lengths_both_ways() {
        let lengths = (2..=128).chain([240, 343, 375, 512, 1000, 1024, 2048]);
        for n in lengths.filter(|&n| radices(n).is_some()) {
            for (instructions, inverse) in Instructions::available()
                .into_iter()
                .flat_map(|instructions| [(instructions, false), (instructions, true)])
            {
                let mut fft = SideBySide::new(n, inverse, 0.5).unwrap();
                fft.instructions = instructions;
                let lanes = fft.lanes();
                let values = uniform_complex(n * lanes, n as u64);
                let mut results = vec![Complex::new(f64::NAN, f64::NAN); n * lanes];
                let lines = Lines {
                    place: Placement {
                        offset: 0,
                        stride: lanes as isize,
                    },
                    distance: 1,
                    count: lanes,
                    points: n,
                };
                fft.run(
                    (&SharedArray::read_only(&values), &lines),
                    (&SharedArray::new(&mut results), &lines),
                    &mut vec![u64::MAX; fft.words()],
                );
                let direction = match inverse {
                    true => Direction::Inverse,
                    false => Direction::Forward,
                };
                for lane in 0..lanes {
                    let line = |all: &[Complex<f64>]| -> Vec<Complex<f64>> {
                        (0..n).map(|i| all[i * lanes + lane]).collect()
                    };
                    let exact = dft_nd(&line(&values), &[n], direction);
                    let doubled: Vec<_> = line(&results).iter().map(|z| z * 2.0).collect();
                    let error = compare_scaled(&doubled, &exact, Scale::One).l2;
                    assert!(error < 1e-15, "{n} points, {instructions:?}: {error:e}");
                }
            }
        }
    }
}
