//! Strided vectors of C, and the two precisions.

use exact::Accumulator;
use std::borrow::Cow;

/// A number of C: computed with as a double, which holds it.
pub trait Number: Copy {
    fn wide(self) -> f64;
    /// The sum, rounded once to this precision.
    fn rounded(sum: &Accumulator) -> Self;
    /// `factor · sum + left · right`, rounded once to this precision.
    fn scaled_plus(sum: &Accumulator, factor: Self, left: Self, right: Self) -> Self;
    /// The numbers as doubles.
    fn widened(values: &[Self]) -> Cow<'_, [f64]>;
    const ZERO: Self;
    const ONE: Self;
}

impl Number for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    fn wide(self) -> f64 {
        self
    }

    fn rounded(sum: &Accumulator) -> f64 {
        sum.round()
    }

    fn scaled_plus(sum: &Accumulator, factor: f64, left: f64, right: f64) -> f64 {
        sum.scaled_plus(factor, left, right)
    }

    fn widened(values: &[f64]) -> Cow<'_, [f64]> {
        Cow::Borrowed(values)
    }
}

impl Number for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;

    fn wide(self) -> f64 {
        self.into()
    }

    fn rounded(sum: &Accumulator) -> f32 {
        sum.round_f32()
    }

    fn scaled_plus(sum: &Accumulator, factor: f32, left: f32, right: f32) -> f32 {
        sum.scaled_plus_f32(factor.into(), left.into(), right.into())
    }

    fn widened(values: &[f32]) -> Cow<'_, [f64]> {
        Cow::Owned(values.iter().map(|value| f64::from(*value)).collect())
    }
}

/// `count` numbers, `step` numbers apart; with a negative step from the last one in memory on, as in BLAS.
#[derive(Clone, Copy)]
pub struct Strided<T> {
    first: *const T,
    count: usize,
    step: isize,
}

impl<T: Number> Strided<T> {
    /// A vector as BLAS has it; empty for a count that is not positive.
    ///
    /// # Safety
    /// The numbers can be read as long as the vector is used.
    pub unsafe fn new(count: isize, numbers: *const T, step: isize) -> Strided<T> {
        let count = usize::try_from(count).unwrap_or(0);
        let back = match step < 0 && count > 0 {
            // The largest product of a count and a step is that of an array, which fits.
            true => (count as isize - 1) * -step,
            false => 0,
        };
        Strided {
            first: numbers.wrapping_offset(back),
            count,
            step,
        }
    }

    /// As doubles, one after the other; copied unless they are.
    ///
    /// # Safety
    /// As for `new`.
    pub unsafe fn doubles(&self) -> Cow<'_, [f64]> {
        if self.count == 0 {
            return Cow::Borrowed(&[]);
        }
        if self.step == 1 {
            // SAFETY: the caller's promise: so many numbers, one after the other.
            return T::widened(unsafe { std::slice::from_raw_parts(self.first, self.count) });
        }
        let number = |index: usize| {
            // SAFETY: the caller's promise.
            let value = unsafe { *self.first.wrapping_offset(index as isize * self.step) };
            value.wide()
        };
        Cow::Owned((0..self.count).map(number).collect())
    }

    /// Where a number is.
    pub fn place(&self, index: usize) -> *const T {
        self.first.wrapping_offset(index as isize * self.step)
    }
}
