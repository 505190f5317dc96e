//! The axis passes of a problem, whatever device runs them: which lines are read from which array, and written to which.

use super::lines::{InputArray, LineSet, Place};
use super::scales::Scan;
use crate::kind::Kind;
use crate::layout::Layout;
use crate::problem::{Direction, Problem};
use crate::sample::Real;
use crate::stages::scale::{Numbers, ScaleBetweenAxes};

/// One axis: every line along it, from one array to another.
pub(crate) struct AxisPass {
    pub(crate) axis: usize,
    pub(crate) kind: Kind,
    pub(crate) n: usize,
    pub(crate) from: Place,
    pub(crate) to: Place,
    pub(crate) read: LineSet,
    pub(crate) write: LineSet,
    /// Results are multiplied by two to this times the power that their transform has between axes: 1 in the first pass, -1 in the last, else 0.
    pub(crate) scale_sign: i32,
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
            scale_sign: 0,
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
    // One axis is both, and is not scaled.
    if let [first, .., last] = &mut passes[..] {
        first.scale_sign = 1;
        last.scale_sign = -1;
    }
    (passes, spare_len)
}

/// The passes of a problem, in order.
pub(crate) struct Schedule {
    pub(crate) passes: Vec<AxisPass>,
    /// Complex numbers of the spare array.
    pub(crate) spare_len: usize,
    /// Whether numbers are conjugated on input and output: inverse transforms are forward ones of conjugates.
    pub(crate) conjugate: bool,
    /// How every transform is scaled between its axes; none where it has one axis.
    pub(crate) scaling: Option<Scan>,
}

impl Schedule {
    pub(crate) fn new(problem: &Problem, numbers: Numbers) -> Self {
        let (passes, spare_len) = axis_passes(problem);
        let scale = ScaleBetweenAxes::new(numbers, passes.iter().map(|pass| pass.n));
        Schedule {
            scaling: (passes.len() > 1).then(|| Scan::new(problem, scale)),
            passes,
            spare_len,
            conjugate: problem.direction == Direction::Inverse,
        }
    }

    /// One pass of a larger problem over a part of its array: `part` has the part's shape, the kind of the pass, and the axes of
    /// the whole, by which transforms are numbered.
    pub(crate) fn of_part(part: &Problem, axis: usize, scale_sign: i32) -> Self {
        let lines = |layout: Layout, shape: Vec<usize>| LineSet::new(&layout, &shape, part, axis);
        Schedule {
            passes: vec![AxisPass {
                axis,
                kind: part.kind,
                n: part.shape[axis],
                from: Place::Input,
                to: Place::Output,
                read: lines(part.resolved_input(), part.input_shape()),
                write: lines(part.resolved_output(), part.output_shape()),
                scale_sign,
            }],
            spare_len: 0,
            conjugate: part.direction == Direction::Inverse,
            scaling: None,
        }
    }

    /// Calls `visit` with position, real and imaginary part of every input element, until it returns true.
    fn for_each_input<T: Real>(
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

    /// First non-finite number of the input, as its position in the buffer and its text.
    pub(crate) fn find_not_finite<T: Real>(
        &self,
        input: InputArray<'_, T>,
    ) -> Option<(usize, String)> {
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
    pub(crate) fn count_not_hermitian<T: Real>(&self, input: InputArray<'_, T>) -> usize {
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
