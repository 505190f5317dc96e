//! Where the lines of an array lie, and the caller's arrays.

use crate::layout::Layout;
use crate::problem::Problem;
use crate::stages::numbers::Placement;
use crate::workspace::{ReadArray, SharedArray};
use num_complex::Complex;

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
