//! Common parts of all sums of slices in floating point.
//!
//! Slices are added from the highest to the lowest, because then every partial sum is the integer less a small tail,
//! however large the slices are that cancel ([`Layout::at_or_above`]). All numbers are multiples of the weight of the
//! slice that was added last, its grid: an operation whose exact result is at most `2^digits` steps of the grid does
//! not round at all. [`Grid::rounding`] knows both facts, and the bound of every method is its own error analysis run
//! along the slices with it.

use super::forward::{Layout, PhaseB, ROUNDED_UP};
use super::operations::{Counting, Real, counted};
use super::{Operations, Pipe};
use crate::COLUMNS;
use crate::bytes::Sums;
use crate::error::ResidueError;
use ethnum::{I256, U256};
use std::fmt::Debug;
use std::marker::PhantomData;

/// The most floating-point numbers that a result is the sum of.
pub(super) const MOST_PARTS: usize = 4;

/// Results of all columns, as so many numbers each, of which the integer is the sum.
pub(super) type Parts<R> = [[R; COLUMNS]; MOST_PARTS];

/// A method of adding slices in floating point.
pub(super) trait Arithmetic: Debug + Send + Sync + 'static {
    const NAME: &'static str;
    /// Numbers that make up a result.
    const PARTS: usize;
    /// The number type.
    type Number: Real;

    /// Adds `slices[s] · weights[s]`. The numbers may be counting ones.
    fn sum<R: Real>(slices: &[Sums], weights: &[f64]) -> Parts<R>;

    /// Largest error of the result.
    fn bound(layout: &Layout) -> f64;
}

/// Phase B in floating point.
#[derive(Debug)]
pub(super) struct FloatSum<A> {
    /// Powers of two: the weights of the slices over [`FloatSum::unit`].
    weights: Vec<f64>,
    /// The power of two that a result counts in: 1 for doubles. Floats have no room for integers of 200 bits, so they
    /// count in the middle of them.
    unit: f64,
    bound: f64,
    arithmetic: PhantomData<A>,
}

impl<A: Arithmetic> FloatSum<A> {
    pub(super) fn new(layout: &Layout) -> Result<FloatSum<A>, ResidueError> {
        let digits = A::Number::DIGITS;
        // What a float can hold exactly becomes a slice without rounding.
        layout.demand_sums(A::NAME, 1 << digits.min(31))?;
        let unit = if digits == f32::MANTISSA_DIGITS {
            f64::from(layout.bits() / 2).exp2()
        } else {
            1.0
        };
        Ok(FloatSum {
            weights: (0..layout.slices)
                .map(|s| layout.weight(s) / unit)
                .collect(),
            unit,
            bound: A::bound(layout) * ROUNDED_UP,
            arithmetic: PhantomData,
        })
    }
}

impl<A: Arithmetic> PhaseB for FloatSum<A> {
    fn name(&self) -> &'static str {
        A::NAME
    }

    fn pipe(&self) -> Pipe {
        pipe_of::<A::Number>()
    }

    fn error_bound(&self) -> f64 {
        self.bound
    }

    fn sum(&self, slices: &[Sums], to: &mut [I256; COLUMNS]) {
        let parts = A::sum::<A::Number>(slices, &self.weights);
        for (column, to) in to.iter_mut().enumerate() {
            *to = parts[..A::PARTS]
                .iter()
                .map(|part| integer_of(part[column].get() * self.unit))
                .sum();
        }
    }

    fn operations(&self, slices: &[Sums]) -> Operations {
        let count = counted(|| {
            A::sum::<Counting<A::Number>>(slices, &self.weights);
        });
        on_pipe::<A::Number>(count)
    }
}

/// Where operations on such numbers run.
pub(super) fn pipe_of<R: Real>() -> Pipe {
    match R::DIGITS {
        f32::MANTISSA_DIGITS => Pipe::Single,
        _ => Pipe::Double,
    }
}

/// Operations on such numbers in all columns, as those for one output.
pub(super) fn on_pipe<R: Real>(count: f64) -> Operations {
    let count = count / COLUMNS as f64;
    let none = Operations::default();
    match pipe_of::<R>() {
        Pipe::Single => Operations {
            single: count,
            ..none
        },
        _ => Operations {
            double: count,
            ..none
        },
    }
}

/// Sum and its rounding error, which is a number of the same kind for rounding to the nearest, whatever the two are.
#[inline(always)]
pub(super) fn two_sum<R: Real>(a: R, b: R) -> (R, R) {
    let sum = a + b;
    let of_b = sum - a;
    let of_a = sum - of_b;
    (sum, (a - of_a) + (b - of_b))
}

/// The same with half the operations, where `|a| >= |b|` or `a = 0`.
#[inline(always)]
pub(super) fn fast_two_sum<R: Real>(a: R, b: R) -> (R, R) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// A double that is an integer.
pub(super) fn integer_of(x: f64) -> I256 {
    debug_assert!(x == x.trunc() && x.abs() < 255f64.exp2());
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1075;
    let significand = bits & ((1 << 52) - 1) | 1 << 52;
    let magnitude = if exponent < -52 {
        I256::ZERO
    } else if exponent < 0 {
        I256::from(significand >> -exponent)
    } else {
        I256::from(significand) << exponent
    };
    if x < 0.0 { -magnitude } else { magnitude }
}

/// The nearest double.
pub(super) fn nearest(x: U256) -> f64 {
    let shift = 192u32.saturating_sub(x.leading_zeros());
    let head: U256 = x >> shift;
    // A bit that stands for all that were dropped.
    let dropped = u64::from(head << shift != x);
    (head.as_u64() | dropped) as f64 * f64::from(shift).exp2()
}

/// Rounding errors of numbers of so many digits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    unit_roundoff: f64,
    step: f64,
}

impl Grid {
    /// Of numbers that are multiples of `step`; 0 where nothing is known.
    pub(super) fn new<R: Real>(step: f64) -> Grid {
        Grid {
            unit_roundoff: (-f64::from(R::DIGITS)).exp2(),
            step,
        }
    }

    /// The grids of all slices, from the highest to the lowest.
    pub(super) fn downwards<R: Real>(layout: &Layout) -> impl Iterator<Item = (usize, Grid)> {
        (0..layout.slices)
            .rev()
            .map(|s| (s, Grid::new::<R>(layout.weight(s))))
    }

    /// The error of an operation whose exact result is of magnitude `x` at most: half a last place, which is `u` times
    /// the power of two below `x`, and a multiple of the step.
    pub(super) fn rounding(self, x: f64) -> f64 {
        if x * self.unit_roundoff <= self.step {
            return 0.0;
        }
        let power = f64::from_bits((x * ROUNDED_UP).to_bits() & f64::INFINITY.to_bits());
        let half = power * self.unit_roundoff;
        if self.step == 0.0 {
            half
        } else {
            (half / self.step).floor() * self.step
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_and_integers_are_converted_exactly_or_to_the_nearest() {
        for shift in 0..190 {
            for head in [1u64, 3, (1 << 53) - 1, 0x1f_ffff_f012_3457] {
                let integer = U256::from(head) << shift;
                let double = head as f64 * f64::from(shift).exp2();
                assert_eq!(nearest(integer), double);
                assert_eq!(integer_of(double), integer.as_i256());
                assert_eq!(integer_of(-double), -integer.as_i256());
            }
            // Just above and just below halfway between two doubles.
            let halfway = U256::from((1u64 << 54) + 2) << (shift + 1);
            let down = ((1u64 << 54) as f64) * f64::from(shift + 1).exp2();
            let up = ((1u64 << 54) + 4) as f64 * f64::from(shift + 1).exp2();
            assert_eq!(nearest(halfway - U256::ONE), down);
            assert_eq!(nearest(halfway), down);
            assert_eq!(nearest(halfway + U256::ONE), up);
        }
        assert_eq!(nearest(U256::ZERO), 0.0);
        assert_eq!(integer_of(0.0), 0);
        assert_eq!(integer_of(1.0), 1);
    }
}
