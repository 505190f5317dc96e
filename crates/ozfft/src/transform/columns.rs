//! Columns of a panel, which steps transform, and the scratch memory for their digits and sums.

use crate::matrix_unit::MatrixUnit;
use crate::recipe::{Fold, StepRecipe};
use crate::simd::HalfRow;
use crate::stages::butterfly::Value;
use crate::transform::packed_elements::PackedElement;
use std::marker::PhantomData;

/// Scratch memory for the columns of a step that are multiplied, and for those whose sums are being used.
pub(crate) struct BlockScratch<'a, const L: usize>(pub(crate) [ColumnScratch<'a, L>; 2]);

/// Scratch memory for some columns.
pub(crate) struct ColumnScratch<'a, const L: usize> {
    /// Digits of the cosine inputs, then of the sine inputs.
    pub(crate) data: (&'a mut [HalfRow<L>], &'a mut [HalfRow<L>]),
    pub(crate) sums: (&'a mut [HalfRow<L>], &'a mut [HalfRow<L>]),
}

/// A column of a panel: `count` elements from `first` on, `step` apart.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    pub(crate) first: usize,
    pub(crate) step: isize,
    pub(crate) conjugate: bool,
}

/// A column of which it is known that its elements lie within the panel.
pub(super) struct Elements<'a, C> {
    start: *const C,
    step: isize,
    conjugate: bool,
    count: usize,
    panel: PhantomData<&'a [C]>,
}

impl Column {
    /// Looks once whether all elements lie within the panel.
    #[inline(always)]
    pub(super) fn of<'a, C>(&self, points: &'a [C], count: usize) -> Elements<'a, C> {
        let last = self.first as isize + self.step * (count as isize - 1);
        assert!(self.first < points.len() && (0..points.len() as isize).contains(&last));
        Elements {
            start: &points[self.first],
            step: self.step,
            conjugate: self.conjugate,
            count,
            panel: PhantomData,
        }
    }
}

impl<C> Elements<'_, C> {
    #[inline(always)]
    pub(super) fn get<const L: usize, U: MatrixUnit<L>>(&self, i: usize) -> C::Word
    where
        C: PackedElement<L, U>,
    {
        assert!(i < self.count);
        // SAFETY: the first and the last element lie within the panel, and this one between them.
        let word = unsafe { &*self.start.offset(self.step * i as isize) }.get();
        if self.conjugate {
            word.conjugated()
        } else {
            word
        }
    }
}

/// The row of the cosine and of the sine product that belong to output `k`, `0 <= k <= n/2`.
#[inline(always)]
pub(super) fn rows(step: &StepRecipe, k: usize) -> (Option<usize>, Option<usize>) {
    let n = step.n;
    match step.fold {
        Fold::Trivial | Fold::Plain => (Some(k), (k > 0 && 2 * k < n).then(|| k - 1)),
        // The sine of k = n/2 sits in the row that k = 0 leaves free.
        Fold::TimeShifted if 2 * k == n => (None, Some(0)),
        Fold::TimeShifted => (Some(k), (k > 0).then_some(k)),
        Fold::FrequencyShifted => (Some(k), Some(k)),
    }
}
