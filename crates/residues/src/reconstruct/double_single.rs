//! Phase B in pairs of floats: some 48 bits.
//!
//! `(high, low)` with `high` the sum of both rounded to a float. Adding `x`:
//!
//! ```text
//! (s, e) = two_sum(high, x)      exact
//! v      = low + e               rounds
//! (high, low) = fast_two_sum(s, v)
//! ```
//!
//! The last step is exact: it asks for `|s| >= |v|` or `s = 0`. If `x` and `high` have opposite signs and lie within a
//! factor of two of each other, their difference is a float: `e = 0`, `v = low`, and `s` is 0 or at least
//! `ulp(high)/2 >= |low|`. Otherwise `|high + x| >= |high|/2`, so `|s| >= |high|/2`, and
//! `|v| <= (1 + u)(u|high| + u|s|) <= (1 + u)·3u|s| < |s|`.

use super::floats::{Arithmetic, Grid, MOST_PARTS, Parts, fast_two_sum, two_sum};
use super::forward::Layout;
use super::operations::Real;
use crate::COLUMNS;
use crate::bytes::Sums;

/// Two floats.
#[derive(Debug)]
pub(super) struct DoubleSingle;

impl Arithmetic for DoubleSingle {
    const NAME: &'static str = "double-single";
    const PARTS: usize = 2;
    type Number = f32;

    #[inline(always)]
    fn sum<R: Real>(slices: &[Sums], weights: &[f64]) -> Parts<R> {
        let mut parts = [[R::default(); COLUMNS]; MOST_PARTS];
        let [highs, lows, ..] = &mut parts;
        for (row, &weight) in slices.iter().zip(weights).rev() {
            let weight = R::constant(weight);
            for ((high, low), &sum) in highs.iter_mut().zip(lows.iter_mut()).zip(row) {
                let (s, e) = two_sum(*high, R::of_sum(sum) * weight);
                (*high, *low) = fast_two_sum(s, *low + e);
            }
        }
        parts
    }

    /// `v` rounds and nothing else. `high + x` is the partial sum with its error, less `low`; the new `low` is what
    /// rounding the new value to a float leaves.
    fn bound(layout: &Layout) -> f64 {
        let (mut error, mut low) = (0.0, 0.0);
        for (s, grid) in Grid::downwards::<f32>(layout) {
            let rest = grid.rounding(layout.at_or_above(s) + error + low);
            error += grid.rounding(low + rest);
            low = grid.rounding(layout.at_or_above(s) + error);
        }
        error
    }
}
