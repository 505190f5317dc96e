//! Phase B in doubles, one multiply-add a slice.

use super::floats::{Arithmetic, Grid, MOST_PARTS, Parts};
use super::forward::Layout;
use super::operations::Real;
use crate::COLUMNS;
use crate::bytes::Sums;

/// Plain summation.
#[derive(Debug)]
pub(super) struct DoubleSum;

impl Arithmetic for DoubleSum {
    const NAME: &'static str = "double";
    const PARTS: usize = 1;
    type Number = f64;

    #[inline(always)]
    fn sum<R: Real>(slices: &[Sums], weights: &[f64]) -> Parts<R> {
        let mut totals = [R::default(); COLUMNS];
        for (row, &weight) in slices.iter().zip(weights).rev() {
            let weight = R::constant(weight);
            for (total, &sum) in totals.iter_mut().zip(row) {
                *total = R::of_sum(sum).multiply_add(weight, *total);
            }
        }
        let mut parts = [[R::default(); COLUMNS]; MOST_PARTS];
        parts[0] = totals;
        parts
    }

    /// Every addition rounds a partial sum, which is off by what the earlier ones left.
    fn bound(layout: &Layout) -> f64 {
        Grid::downwards::<f64>(layout).fold(0.0, |error, (s, grid)| {
            error + grid.rounding(layout.at_or_above(s) + error)
        })
    }
}
