//! Scale factors between the axes of a transform (`scale.rs`): its numbers are inspected before anything is
//! written. Threads share it; which of them sees a number first makes no difference.

use super::lines::{InputArray, LineSet};
use crate::parallel;
use crate::problem::Problem;
use crate::sample::Real;
use crate::stages::scale::{OF_ZEROS, ScaleBetweenAxes, exponent_above, larger};
use crate::workspace::{ReadArray, as_atomics};
use float_environment::DefaultEnvironment;
use std::sync::atomic::{AtomicI32, Ordering};

/// Fewer numbers than this are looked at before threads are awake.
const WORTH_THREADS: usize = 1 << 15;

/// All numbers of the input as lines, each of one transform.
#[derive(Debug, Clone)]
pub(crate) struct Scan {
    pub(crate) scale: ScaleBetweenAxes,
    /// Transforms: of the batch, and for every index of the axes that are not transformed.
    pub(crate) transforms: usize,
    pub(crate) lines: LineSet,
    /// Elements of a line.
    pub(crate) count: usize,
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
        Scan {
            scale,
            transforms: problem.batch * problem.transforms_of_array(),
            lines: LineSet::new(&layout, &shape, problem, axis),
            count: shape[axis],
        }
    }

    /// Finds the scale of every transform. Nothing writes to the input meanwhile.
    pub(crate) fn find<T: Real>(
        &self,
        input: InputArray<'_, T>,
        threads: usize,
        scales: &mut [i32],
    ) {
        self.exponents(input, threads, scales);
        for scale in scales {
            *scale = self.scale.power(*scale);
        }
    }

    /// Finds the power of two above the largest number of every transform.
    pub(crate) fn exponents<T: Real>(
        &self,
        input: InputArray<'_, T>,
        threads: usize,
        exponents: &mut [i32],
    ) {
        exponents.fill(OF_ZEROS);
        let found = as_atomics(exponents);
        let lines = self.lines.count();
        let workers = match lines * self.count {
            0..WORTH_THREADS => 1,
            _ => threads.min(lines),
        };
        let look = |worker: usize| {
            // Threads inherit the environment of the thread that started them, and flushing would hide subnormal numbers.
            let _environment = DefaultEnvironment::enter();
            for line in lines * worker / workers..lines * (worker + 1) / workers {
                self.look_at(input, line, found);
            }
        };
        match workers {
            1 => look(0),
            _ => parallel::for_each(workers, look),
        }
    }

    fn look_at<T: Real>(&self, input: InputArray<'_, T>, line: usize, found: &[AtomicI32]) {
        let place = self.lines.placement(line);
        let count = self.count;
        let largest = match input {
            InputArray::Complex(array) if place.stride == 1 => {
                largest_of(array.as_reals(), 2 * place.at(0), 2 * count)
            }
            InputArray::Real(array) if place.stride == 1 => largest_of(array, place.at(0), count),
            InputArray::Complex(array) => (0..count).fold(0, |largest, i| {
                // SAFETY: nothing writes before the run begins.
                let z = unsafe { array.get(place.at(i)) };
                larger(larger(largest, z.re.widen()), z.im.widen())
            }),
            InputArray::Real(array) => (0..count).fold(0, |largest, i| {
                // SAFETY: as above.
                larger(largest, unsafe { array.get(place.at(i)) }.widen())
            }),
        };
        found[self.lines.transform(line)].fetch_max(exponent_above(largest), Ordering::Relaxed);
    }
}

/// The largest magnitude of neighbouring numbers, as the bits of an f64.
fn largest_of<T: Real>(array: ReadArray<'_, T>, first: usize, count: usize) -> u64 {
    let start = array.checked(first, count);
    // SAFETY: so many numbers lie there, and nothing writes before the run begins.
    let numbers = unsafe { std::slice::from_raw_parts(start, count) };
    numbers
        .iter()
        .fold(0, |largest, number| larger(largest, number.widen()))
}
