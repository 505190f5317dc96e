//! Scale factors between the axes of a transform (`scale.rs`): its numbers are inspected before anything is
//! written. Threads share it; which of them sees a number first makes no difference.

use super::lines::{InputArray, LineSet};
use crate::matrix_unit::Task;
use crate::parallel;
use crate::problem::Problem;
use crate::sample::Real;
use crate::stages::scale::{OF_ZEROS, ScaleBetweenAxes, exponent_above, larger};
use crate::workspace::as_atomics;
use float_environment::DefaultEnvironment;
use std::sync::atomic::{AtomicI32, Ordering};

/// Fewer numbers than this are looked at before threads are awake.
const WORTH_THREADS: usize = 1 << 15;

/// Elements of neighbouring lines that are looked at together, at most: threads divide what is more.
const LONGEST: usize = 1 << 14;

/// Finds the largest finite magnitude of some numbers, as the bits of an f64.
pub(crate) type FindLargest<'a, T> = &'a (dyn Fn(&[T]) -> u64 + Sync);

/// All numbers of the input as lines, each of one transform.
#[derive(Debug, Clone)]
pub(crate) struct Scan {
    pub(crate) scale: ScaleBetweenAxes,
    /// Transforms: of the batch, and for every index of the axes that are not transformed.
    pub(crate) transforms: usize,
    pub(crate) lines: LineSet,
    /// Elements of a line.
    pub(crate) count: usize,
    /// Lines of one transform that lie one after the other, so that they are looked at as one.
    together: usize,
}

impl Scan {
    pub(crate) fn new(problem: &Problem, scale: ScaleBetweenAxes) -> Self {
        let (layout, shape) = (problem.resolved_input(), problem.input_shape());
        // Along the axis whose elements lie closest together; all elements of a line belong to one transform.
        let distance = |&axis: &usize| match shape[axis] {
            1 => usize::MAX,
            _ => layout.strides()[axis].unsigned_abs(),
        };
        let axis = problem.axes.iter().copied().min_by_key(distance);
        let axis = axis.unwrap_or_else(|| unreachable!("validated problems have an axis"));
        let lines = LineSet::new(&layout, &shape, problem, axis);
        Scan {
            scale,
            transforms: problem.batch * problem.transforms_of_array(),
            together: lines.together(shape[axis], LONGEST),
            lines,
            count: shape[axis],
        }
    }

    /// Finds the scale of every transform. Nothing writes to the input meanwhile.
    pub(crate) fn find<T: Real>(
        &self,
        input: InputArray<'_, T>,
        threads: usize,
        largest: FindLargest<'_, T>,
        scales: &mut [i32],
    ) {
        self.exponents(input, threads, largest, scales);
        for scale in scales {
            *scale = self.scale.power(*scale);
        }
    }

    /// Finds the power of two above the largest number of every transform.
    pub(crate) fn exponents<T: Real>(
        &self,
        input: InputArray<'_, T>,
        threads: usize,
        largest: FindLargest<'_, T>,
        exponents: &mut [i32],
    ) {
        exponents.fill(OF_ZEROS);
        let found = as_atomics(exponents);
        let groups = self.lines.count() / self.together;
        let workers = match groups * self.together * self.count {
            0..WORTH_THREADS => 1,
            _ => threads.min(groups),
        };
        let look = |worker: usize| {
            // Threads inherit the environment of the thread that started them, and flushing would hide subnormal numbers.
            let _environment = DefaultEnvironment::enter();
            for group in groups * worker / workers..groups * (worker + 1) / workers {
                self.look_at(input, group * self.together, largest, found);
            }
        };
        match workers {
            1 => look(0),
            _ => parallel::for_each(workers, look),
        }
    }

    /// Looks at a line, and at those that follow it at once.
    fn look_at<T: Real>(
        &self,
        input: InputArray<'_, T>,
        line: usize,
        largest: FindLargest<'_, T>,
        found: &[AtomicI32],
    ) {
        let place = self.lines.placement(line);
        let count = self.count * self.together;
        let adjacent = match input {
            InputArray::Complex(array) if place.stride == 1 => {
                Some((array.as_reals(), 2 * place.at(0), 2 * count))
            }
            InputArray::Real(array) if place.stride == 1 => Some((array, place.at(0), count)),
            _ => None,
        };
        let largest = match (adjacent, input) {
            (Some((array, first, count)), _) => {
                let start = array.checked(first, count);
                // SAFETY: so many numbers lie there, and nothing writes before the run begins.
                largest(unsafe { std::slice::from_raw_parts(start, count) })
            }
            (None, InputArray::Complex(array)) => (0..count).fold(0, |largest, i| {
                // SAFETY: as above.
                let z = unsafe { array.get(place.at(i)) };
                larger(larger(largest, z.re.widen()), z.im.widen())
            }),
            (None, InputArray::Real(array)) => (0..count).fold(0, |largest, i| {
                // SAFETY: as above.
                larger(largest, unsafe { array.get(place.at(i)) }.widen())
            }),
        };
        found[self.lines.transform(line)].fetch_max(exponent_above(largest), Ordering::Relaxed);
    }
}

/// [`FindLargest`] in the instructions that all processors have.
pub(crate) fn largest_of<T: Real>(numbers: &[T]) -> u64 {
    Largest(numbers).run()
}

/// [`FindLargest`] as a task, for the instructions of a unit.
pub(crate) struct Largest<'a, T>(pub(crate) &'a [T]);

impl<T: Real> Task for Largest<'_, T> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let mut largest = 0;
        for number in self.0 {
            largest = larger(largest, number.widen());
        }
        largest
    }
}
