//! The lines and transforms of an array as kernels number them, and the workspace of what is found out of every transform.

use crate::executor::cuda::program::task::{Address, Dimension};
use crate::executor::lines::LineSet;
use crate::executor::scales::Scan;
use crate::stages::scale::ScaleBetweenAxes;

/// Cuts the workspace into pieces: whole 256 bytes, so that every piece is aligned.
pub(crate) struct BumpAllocator(pub(crate) u64);

impl BumpAllocator {
    pub(crate) fn take(&mut self, bytes: u64) -> Address {
        let start = self.0;
        self.0 = (start + bytes).next_multiple_of(256);
        Address::of_workspace(start)
    }
}

/// Workspace that is cleared once, before all launches of a call: counts of lines that are left, and whatever else has to begin at zero.
pub(crate) struct Zeros {
    start: u64,
    used: u64,
    room: u64,
}

/// For counts and what is small: more than most plans have.
const ROOM_FOR_COUNTS: u64 = 256;

impl Zeros {
    /// With room for counts, and for so many bytes besides.
    pub(crate) fn new(besides: u64, allocator: &mut BumpAllocator) -> Self {
        let room = besides + ROOM_FOR_COUNTS;
        let start = allocator.0;
        allocator.take(room);
        Zeros {
            start,
            used: 0,
            room,
        }
    }

    /// So many bytes, where there is room left.
    pub(crate) fn take(&mut self, bytes: u64) -> Option<Address> {
        let bytes = bytes.next_multiple_of(8);
        let at = self.used;
        let fits = at + bytes <= self.room;
        fits.then(|| {
            self.used += bytes;
            Address::of_workspace(self.start + at)
        })
    }

    /// All that was taken.
    pub(crate) fn taken(&self) -> Option<(Address, usize)> {
        (self.used > 0).then(|| (Address::of_workspace(self.start), self.used as usize))
    }
}

/// How transforms of several axes are scaled between them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scaling {
    pub(crate) scale: ScaleBetweenAxes,
    pub(crate) transforms: u64,
    /// Every transform's largest number; then whether one of them is to be scaled down; then the marks of the lines of the last
    /// axis that a tuned kernel has left. All of it is zero at first.
    pub(crate) found: Address,
    /// Marks of the lines of the first axis, likewise.
    pub(crate) first_marks: Address,
}

impl Scaling {
    /// `lines`: of the first axis, and of the last.
    pub(crate) fn new(
        scan: &Scan,
        [first_lines, last_lines]: [usize; 2],
        allocator: &mut BumpAllocator,
    ) -> (Self, Zeros) {
        let marks = match scan.transforms {
            1 => 0,
            _ => 4 * last_lines.div_ceil(32),
        };
        let bytes = 8 * (scan.transforms + 1) + marks;
        let first_bytes = 4 * first_lines.div_ceil(32);
        let mut zeros = Zeros::new((bytes + first_bytes) as u64, allocator);
        let mut take = |bytes: usize| match zeros.take(bytes as u64) {
            Some(address) => address,
            None => unreachable!("there is room for counts besides"),
        };
        let (found, first_marks) = (take(bytes), take(first_bytes));
        let scaling = Scaling {
            scale: scan.scale,
            transforms: scan.transforms as u64,
            found,
            first_marks,
        };
        (scaling, zeros)
    }

    pub(crate) fn scaled_down(&self) -> Address {
        self.found.later(8 * self.transforms as i64)
    }

    pub(crate) fn last_marks(&self) -> Address {
        self.scaled_down().later(8)
    }
}

/// Dimensions from the outermost on, neighbours joined where they are evenly spaced.
fn joined(dimensions: impl Iterator<Item = (usize, i64)>) -> Vec<Dimension> {
    let mut list: Vec<Dimension> = Vec::new();
    for (n, stride) in dimensions.filter(|&(n, _)| n > 1) {
        match list.last_mut() {
            Some(outer) if outer.stride == stride.wrapping_mul(n as i64) => {
                outer.length *= n as u64;
                outer.stride = stride;
            }
            _ => list.push(Dimension {
                length: n as u64,
                stride,
            }),
        }
    }
    list
}

/// The dimensions that number the lines.
pub(crate) fn merged(set: &LineSet) -> Vec<Dimension> {
    let dimensions = set.dimensions.iter();
    joined(dimensions.map(|&(n, stride)| (n, stride as i64)))
}

/// The same with strides in the numbers of the lines' transforms.
pub(crate) fn transform_dimensions(set: &LineSet) -> Vec<Dimension> {
    let dimensions = set.dimensions.iter().zip(&set.transform_strides);
    without_outer_zeros(joined(
        dimensions.map(|(&(n, _), &stride)| (n, stride as i64)),
    ))
}

/// An outermost dimension without a stride numbers nothing.
fn without_outer_zeros(mut list: Vec<Dimension>) -> Vec<Dimension> {
    if list.first().is_some_and(|outer| outer.stride == 0) {
        list.remove(0);
    }
    list
}

/// All elements of the input in the order of memory: the innermost dimension, and the others. Of an array without gaps,
/// all of it one transform, there are no others.
pub(crate) struct Flattened {
    pub(crate) line: Dimension,
    /// From element to element of the innermost one, in the numbers of transforms.
    pub(crate) transform_stride: i64,
    pub(crate) outer: Vec<Dimension>,
    /// The outer ones with strides in the numbers of transforms.
    pub(crate) transforms: Vec<Dimension>,
}

impl Flattened {
    pub(crate) fn new(scan: &Scan) -> Self {
        let set = &scan.lines;
        let others = set.dimensions.iter().zip(&set.transform_strides);
        let mut all: Vec<(usize, i64, i64)> = others
            .map(|(&(n, stride), &transforms)| (n, stride as i64, transforms as i64))
            .chain([(scan.count, set.stride as i64, 0)])
            .filter(|&(n, ..)| n > 1)
            .collect();
        all.sort_by_key(|&(_, stride, _)| std::cmp::Reverse(stride.unsigned_abs()));
        // Joined where they are evenly spaced in memory and among the transforms.
        let mut list: Vec<(usize, i64, i64)> = Vec::new();
        for (n, stride, transforms) in all {
            let spans = [stride, transforms].map(|stride| stride.wrapping_mul(n as i64));
            match list.last_mut() {
                Some(outer) if [outer.1, outer.2] == spans => {
                    *outer = (outer.0 * n, stride, transforms);
                }
                _ => list.push((n, stride, transforms)),
            }
        }
        let (n, stride, transform_stride) = list.pop().unwrap_or((1, 1, 0));
        let dimensions = |of: fn(&(usize, i64, i64)) -> i64| {
            let outer = list
                .iter()
                .map(move |dimension| (dimension.0, of(dimension)));
            joined(outer)
        };
        Flattened {
            line: Dimension {
                length: n as u64,
                stride,
            },
            transform_stride,
            outer: dimensions(|&(_, stride, _)| stride),
            transforms: without_outer_zeros(dimensions(|&(.., transforms)| transforms)),
        }
    }
}
