//! Phase B in doubles with the errors of all additions added up beside the sum (Ogita, Rump and Oishi's Sum2).

use super::floats::{Arithmetic, Grid, MOST_PARTS, Parts, two_sum};
use super::forward::Layout;
use super::operations::Real;
use crate::COLUMNS;
use crate::bytes::Sums;

/// Sums and their errors.
#[derive(Debug)]
pub(super) struct Sum2;

impl Arithmetic for Sum2 {
    const NAME: &'static str = "sum2";
    const PARTS: usize = 1;
    type Number = f64;

    #[inline(always)]
    fn sum<R: Real>(slices: &[Sums], weights: &[f64]) -> Parts<R> {
        let mut totals = [R::default(); COLUMNS];
        let mut errors = [R::default(); COLUMNS];
        for (row, &weight) in slices.iter().zip(weights).rev() {
            let weight = R::constant(weight);
            for ((total, error), &sum) in totals.iter_mut().zip(&mut errors).zip(row) {
                let (rounded, rest) = two_sum(*total, R::of_sum(sum) * weight);
                *total = rounded;
                *error = *error + rest;
            }
        }
        let mut parts = [[R::default(); COLUMNS]; MOST_PARTS];
        for ((part, &total), &error) in parts[0].iter_mut().zip(&totals).zip(&errors) {
            *part = total + error;
        }
        parts
    }

    /// Total and errors together are exact. The exact sum of the errors is what the total is off, `first`; adding them
    /// up is off by `second`; the last addition rounds once.
    fn bound(layout: &Layout) -> f64 {
        let (mut first, mut second) = (0.0, 0.0);
        for (s, grid) in Grid::downwards::<f64>(layout) {
            first += grid.rounding(layout.at_or_above(s) + first);
            second += grid.rounding(first + second);
        }
        second + Grid::new::<f64>(1.0).rounding(layout.at_or_above(0) + second)
    }
}
