//! Strided lines copied to a panel and back, so that whole cache lines are read and written on both sides: to one where each is
//! contiguous, a few points of all lines at a time, or to one where they stay side by side, row by row.

use crate::stages::numbers::Placement;
use crate::workspace::{ReadArray, SharedArray};

/// Points that are copied together: four complex numbers of 16 bytes are a cache line.
const POINTS: usize = 4;

/// Equally long lines at one distance from each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines {
    pub(super) place: Placement,
    pub(super) distance: isize,
    pub(super) count: usize,
    pub(super) points: usize,
}

impl Lines {
    /// Position of the first number, after a look at the outermost ones: all others lie between them.
    fn checked_start(&self, len: usize) -> usize {
        let across = (self.count as isize - 1) * self.distance;
        let along = (self.points as isize - 1) * self.place.stride;
        let (low, high) = (across.min(0) + along.min(0), across.max(0) + along.max(0));
        let (start, len) = (self.place.offset, len as isize);
        assert!(
            start + low >= 0 && start + high < len,
            "elements {} to {} of {len}",
            start + low,
            start + high
        );
        start as usize
    }

    /// The first number, after a look at the outermost ones.
    pub(super) fn checked_pointer<E: Copy>(&self, array: &ReadArray<'_, E>) -> *const E {
        array.checked(self.checked_start(array.len()), 1)
    }

    /// The same, to be written.
    pub(super) fn checked_pointer_mut<E: Copy>(&self, array: &SharedArray<'_, E>) -> *mut E {
        array.checked(self.checked_start(array.len()), 1)
    }

    /// Position of a number relative to the first one.
    #[inline(always)]
    fn at(&self, line: usize, point: usize) -> isize {
        line as isize * self.distance + point as isize * self.place.stride
    }

    /// A line of an array whose numbers lie one after the other.
    #[allow(clippy::mut_from_ref)]
    pub(super) fn contiguous_line<'a, E: Copy>(
        &self,
        line: usize,
        array: &SharedArray<'a, E>,
    ) -> &'a mut [E] {
        assert!(self.place.stride == 1 && line < self.count);
        let start = (self.place.offset + line as isize * self.distance) as usize;
        let start = array.checked(start, self.points);
        // SAFETY: in range; the line is this thread's, which has no other reference to it.
        unsafe { std::slice::from_raw_parts_mut(start, self.points) }
    }

    /// Copies the lines to a panel, in which they begin `pitch` numbers apart.
    #[inline(always)]
    pub(super) fn gather<E: Copy>(
        &self,
        array: &ReadArray<'_, E>,
        panel: &mut [E],
        pitch: usize,
        map: impl Fn(E) -> E,
    ) {
        assert!(self.points <= pitch && (self.count - 1) * pitch + self.points <= panel.len());
        let start = self.checked_pointer(array);
        let panel = panel.as_mut_ptr();
        self.for_each_block(|line, point, points| {
            for i in point..point + points {
                // SAFETY: both ranges have been checked; lines are read and written by one thread.
                unsafe {
                    let value = map(start.offset(self.at(line, i)).read());
                    panel.add(line * pitch + i).write(value);
                }
            }
        });
    }

    /// Copies the lines of a panel to where they belong.
    #[inline(always)]
    pub(super) fn scatter<E: Copy>(
        &self,
        panel: &[E],
        pitch: usize,
        array: &SharedArray<'_, E>,
        map: impl Fn(E) -> E,
    ) {
        assert!(self.points <= pitch && (self.count - 1) * pitch + self.points <= panel.len());
        let start = self.checked_pointer_mut(array);
        let panel = panel.as_ptr();
        self.for_each_block(|line, point, points| {
            for i in point..point + points {
                // SAFETY: as above.
                unsafe {
                    let value = map(panel.add(line * pitch + i).read());
                    start.offset(self.at(line, i)).write(value);
                }
            }
        });
    }

    /// Copies the lines to columns of a panel, from `column` on; rows begin `pitch` numbers apart.
    pub(super) fn gather_rows<E: Copy>(
        &self,
        array: &ReadArray<'_, E>,
        panel: &mut [E],
        (column, pitch): (usize, usize),
    ) {
        let start = self.checked_pointer(array);
        let rows = panel.chunks_mut(pitch).take(self.points);
        assert!(rows.len() == self.points, "a row for every point");
        for (i, row) in rows.enumerate() {
            let row = &mut row[column..column + self.count];
            // SAFETY: the range has been checked; lines are read and written by one thread.
            unsafe {
                let first = start.offset(self.at(0, i));
                if self.distance == 1 {
                    first.copy_to_nonoverlapping(row.as_mut_ptr(), row.len());
                } else {
                    for (line, value) in row.iter_mut().enumerate() {
                        *value = first.offset(line as isize * self.distance).read();
                    }
                }
            }
        }
    }

    /// Copies columns of a panel to where they belong.
    pub(super) fn scatter_rows<E: Copy>(
        &self,
        panel: &[E],
        (column, pitch): (usize, usize),
        array: &SharedArray<'_, E>,
    ) {
        let start = self.checked_pointer_mut(array);
        let rows = panel.chunks(pitch).take(self.points);
        assert!(rows.len() == self.points, "a row for every point");
        for (i, row) in rows.enumerate() {
            let row = &row[column..column + self.count];
            // SAFETY: as above.
            unsafe {
                let first = start.offset(self.at(0, i));
                if self.distance == 1 {
                    first.copy_from_nonoverlapping(row.as_ptr(), row.len());
                } else {
                    for (line, value) in row.iter().enumerate() {
                        first.offset(line as isize * self.distance).write(*value);
                    }
                }
            }
        }
    }

    /// Calls `copy` with line, first point and number of points, of which the compiler knows [`POINTS`].
    #[inline(always)]
    fn for_each_block(&self, mut copy: impl FnMut(usize, usize, usize)) {
        let whole = self.points / POINTS * POINTS;
        if self.place.stride.unsigned_abs() <= self.distance.unsigned_abs() {
            // Points are the neighbours: line by line.
            for line in 0..self.count {
                copy(line, 0, self.points);
            }
            return;
        }
        for point in (0..whole).step_by(POINTS) {
            for line in 0..self.count {
                copy(line, point, POINTS);
            }
        }
        for line in 0..self.count {
            copy(line, whole, self.points - whole);
        }
    }
}
