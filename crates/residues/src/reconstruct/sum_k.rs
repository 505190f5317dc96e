//! Phase B in doubles with errors of errors: Ogita, Rump and Oishi's SumK for K = 3, one slice after the other.

use super::floats::{Arithmetic, Grid, MOST_PARTS, Parts, two_sum};
use super::forward::Layout;
use super::operations::Real;
use crate::COLUMNS;
use crate::bytes::Sums;

/// Sums, their errors, and the errors of those.
#[derive(Debug)]
pub(super) struct Sum3;

impl Arithmetic for Sum3 {
    const NAME: &'static str = "sum3";
    const PARTS: usize = 1;
    type Number = f64;

    #[inline(always)]
    fn sum<R: Real>(slices: &[Sums], weights: &[f64]) -> Parts<R> {
        let mut levels = [[R::default(); COLUMNS]; 3];
        for (row, &weight) in slices.iter().zip(weights).rev() {
            let weight = R::constant(weight);
            let [totals, errors, seconds] = &mut levels;
            for (column, &sum) in row.iter().enumerate() {
                let (total, rest) = two_sum(totals[column], R::of_sum(sum) * weight);
                let (error, rest) = two_sum(errors[column], rest);
                totals[column] = total;
                errors[column] = error;
                seconds[column] = seconds[column] + rest;
            }
        }
        let mut parts = [[R::default(); COLUMNS]; MOST_PARTS];
        for (column, part) in parts[0].iter_mut().enumerate() {
            *part = levels[0][column] + (levels[1][column] + levels[2][column]);
        }
        parts
    }

    /// As for Sum2, with one level more: what a level is off is the exact sum of what the next one adds up.
    fn bound(layout: &Layout) -> f64 {
        let (mut first, mut second, mut third) = (0.0, 0.0, 0.0);
        for (s, grid) in Grid::downwards::<f64>(layout) {
            first += grid.rounding(layout.at_or_above(s) + first);
            second += grid.rounding(first + second);
            third += grid.rounding(second + third);
        }
        let last = Grid::new::<f64>(1.0);
        let error = third + last.rounding(first + third);
        error + last.rounding(layout.at_or_above(0) + error)
    }
}
