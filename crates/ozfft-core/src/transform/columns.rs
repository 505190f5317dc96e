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
    /// How far behind them the elements lie that sines are multiplied by: 0 where they are the same.
    pub(crate) to_sines: isize,
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
    /// Two columns of which only the real parts of outputs are wanted, after [`exchange_parts`]; or one, named twice.
    #[inline(always)]
    pub(super) fn of_two(first: usize, second: usize) -> Column {
        Column {
            first,
            step: 1,
            conjugate: false,
            to_sines: second as isize - first as isize,
        }
    }

    /// The column of the elements that sines are multiplied by.
    #[inline(always)]
    pub(super) fn of_sines(&self) -> Column {
        Column {
            first: self.first.wrapping_add_signed(self.to_sines),
            ..*self
        }
    }

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

/// Puts the real numbers of a column where another real column has its imaginary parts. Of either: where it begins, and how far its next element is.
#[inline(always)]
pub(super) fn join_real_columns<const L: usize, U: MatrixUnit<L>, C: PackedElement<L, U>>(
    points: &mut [C],
    (mut one, to_next): (usize, isize),
    (mut other, to_others_next): (usize, isize),
    count: usize,
) {
    for _ in 0..count {
        let imaginary = points[other].get().swapped();
        let both = points[one].get().blend(imaginary);
        points[one].put(both);
        one = one.wrapping_add_signed(to_next);
        other = other.wrapping_add_signed(to_others_next);
    }
}

/// Real parts of outputs are cosines times real parts and sines times imaginary parts of a column: the other half of the products is not
/// wanted. So two columns share their products: cosines are multiplied by the real parts of the first and of the second, sines by the imaginary
/// parts of the second and of the first. `plus` of a [`ConjugatePair`](crate::stages::butterfly::ConjugatePair) then has the real parts of the one
/// output of both columns, and `minus` those of the other.
#[inline(always)]
pub(super) fn exchange_parts<const L: usize, U: MatrixUnit<L>, C: PackedElement<L, U>>(
    points: &mut [C],
    (first, second): (usize, usize),
    count: usize,
) {
    let (before, rest) = points.split_at_mut(second);
    for (one, other) in before[first..][..count].iter_mut().zip(&mut rest[..count]) {
        let (a, b) = (one.get(), other.get().swapped());
        one.put(a.blend(b));
        other.put(b.blend(a));
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
