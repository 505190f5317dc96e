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

    /// How many neighbouring lines of `count` adjacent elements each lie one after the other and belong to one transform: whole dimensions
    /// of them, so that they begin at multiples of their number, and at most `longest` elements.
    pub(super) fn together(&self, count: usize, longest: usize) -> usize {
        let mut together = 1;
        let dimensions = self.dimensions.iter().zip(&self.transform_strides).rev();
        for (&(n, stride), &transform) in dimensions.filter(|((n, _), _)| *n > 1) {
            let extent = together * count;
            let follows = self.stride == 1 && stride == extent as isize && transform == 0;
            if !follows || extent * n > longest {
                break;
            }
            together *= n;
        }
        together
    }

    /// How many neighbouring lines lie side by side: whole dimensions of them, so that they begin at multiples of their number.
    pub(crate) fn side_by_side(&self) -> usize {
        let mut lines = 1;
        for &(n, stride) in self.dimensions.iter().rev().filter(|(n, _)| *n > 1) {
            if stride != lines as isize {
                break;
            }
            lines *= n;
        }
        lines
    }

    pub(crate) fn placement(&self, line: usize) -> Placement {
        let mut rest = line;
        let mut offset = self.offset;
        // Short lines take little longer than some divisions: none for the outermost dimension, and for those of one index.
        for (outer, &(n, stride)) in self.dimensions.iter().enumerate().rev() {
            match (outer, n) {
                (0, _) => offset += rest as isize * stride,
                (_, 1) => {}
                _ => {
                    offset += (rest % n) as isize * stride;
                    rest /= n;
                }
            }
        }
        Placement {
            offset,
            stride: self.stride,
        }
    }

    /// Where neighbouring lines lie, `count` of them from `first` on; places beyond them repeat the first.
    pub(crate) fn placements<const L: usize>(&self, first: usize, count: usize) -> [Placement; L] {
        let start = self.placement(first);
        if count == 1 {
            return [start; L];
        }
        let (n, distance) = self.dimensions.last().copied().unwrap_or((1, 0));
        // Within the innermost dimension there is nothing to divide.
        let within = if self.dimensions.len() > 1 {
            first % n
        } else {
            first
        };
        let lane_or_first = |lane: usize| if lane < count { lane } else { 0 };
        if within + count <= n {
            return std::array::from_fn(|lane| Placement {
                offset: start.offset + lane_or_first(lane) as isize * distance,
                ..start
            });
        }
        std::array::from_fn(|lane| self.placement(first + lane_or_first(lane)))
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

/// Lines of a pass that follow each other at one distance, where they are read and where they are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    pub(crate) lines: usize,
    pub(crate) read: Placement,
    pub(crate) write: Placement,
    pub(crate) read_distance: isize,
    pub(crate) write_distance: isize,
}

impl Run {
    /// The run without its first lines.
    pub(crate) fn skip(self, lines: usize) -> Run {
        let moved = |place: Placement, distance: isize| Placement {
            offset: place.offset + lines as isize * distance,
            stride: place.stride,
        };
        Run {
            lines: self.lines - lines,
            read: moved(self.read, self.read_distance),
            write: moved(self.write, self.write_distance),
            ..self
        }
    }
}

/// Calls `visit` with the runs that lines `first` to `first + count` consist of. Both sets have the same dimensions.
pub(crate) fn for_each_run(
    read: &LineSet,
    write: &LineSet,
    first: usize,
    count: usize,
    mut visit: impl FnMut(Run),
) {
    // The innermost dimensions that make up one: as far as the next one continues where they end.
    let (mut whole, mut read_distance, mut write_distance) = (1, 0, 0);
    let dimensions = read.dimensions.iter().zip(&write.dimensions).rev();
    for (&(n, reading), &(_, writing)) in dimensions.filter(|((n, _), _)| *n > 1) {
        let extent = whole as isize;
        if whole == 1 {
            (read_distance, write_distance) = (reading, writing);
        } else if (reading, writing) != (extent * read_distance, extent * write_distance) {
            break;
        }
        whole *= n;
    }
    let (mut line, end) = (first, first + count);
    while line < end {
        let lines = (whole - line % whole).min(end - line);
        visit(Run {
            lines,
            read: read.placement(line),
            write: write.placement(line),
            read_distance,
            write_distance,
        });
        line += lines;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Batches of planes: lines along the last axis, of which the first of the other axes is transformed or not.
    fn lines(last_stride: isize, transform_stride: usize) -> LineSet {
        LineSet {
            dimensions: vec![(3, 400), (5, 48), (1, 7), (6, last_stride)],
            transform_strides: vec![5, transform_stride, 1, 0],
            offset: 11,
            stride: 1,
        }
    }

    #[test]
    fn neighbouring_lines_lie_where_each_of_them_does() {
        let lines = lines(8, 1);
        for first in 0..lines.count() {
            for count in 1..=8.min(lines.count() - first) {
                let found = lines.placements::<8>(first, count);
                for (lane, place) in found.iter().enumerate() {
                    let line = first + if lane < count { lane } else { 0 };
                    let (rest, last) = (line / 6, line % 6);
                    let right = 11 + 400 * (rest / 5) + 48 * (rest % 5) + 8 * last;
                    assert_eq!(
                        place.offset, right as isize,
                        "lane {lane} of {count} from {first}"
                    );
                    assert_eq!(place.stride, 1);
                }
            }
        }
    }

    #[test]
    fn lines_that_are_looked_at_together_are_adjacent_and_of_one_transform() {
        // Six lines of eight elements follow each other, and five times as many if both axes are of one transform.
        assert_eq!(lines(8, 0).together(8, 1000), 30);
        assert_eq!(lines(8, 0).together(8, 239), 6);
        assert_eq!(lines(8, 0).together(8, 47), 1);
        assert_eq!(lines(8, 1).together(8, 1000), 6);
        // With a gap after each line, or elements that are not adjacent, every line is alone.
        assert_eq!(lines(9, 0).together(8, 1000), 1);
        let strided = LineSet {
            stride: 2,
            ..lines(8, 0)
        };
        assert_eq!(strided.together(8, 1000), 1);
    }
}
