//! Phase B in floats with Kahan's correction.
//!
//! ```text
//! y = x - c          off by a
//! t = s + y          off by b
//! c = (t - s) - y    off by d and e
//! s = t
//! ```
//!
//! `t = s + y + b`, and `c = b + d + e`, so `t - c = s + y - d - e = (s - c_before) + x + a - d - e`: what `s - c` is
//! off grows by at most `|a| + |d| + |e|` a step, and the result `s` is off by `|c|` more.

use super::floats::{Arithmetic, Grid, MOST_PARTS, Parts};
use super::forward::Layout;
use super::operations::Real;
use crate::COLUMNS;
use crate::bytes::Sums;

/// A float and its correction.
#[derive(Debug)]
pub(super) struct SingleKahan;

/// One addition.
#[inline(always)]
pub(super) fn kahan_add<R: Real>(total: &mut R, correction: &mut R, x: R) {
    let y = x - *correction;
    let next = *total + y;
    *correction = (next - *total) - y;
    *total = next;
}

/// State of the analysis above after some additions.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KahanError {
    /// Of `s - c`.
    drift: f64,
    correction: f64,
}

impl KahanError {
    /// After one more: of `|x| <= term` to a sum whose exact value is then at most `partial`.
    pub(super) fn add(self, term: f64, partial: f64, grid: Grid) -> KahanError {
        let a = grid.rounding(term + self.correction);
        let y = term + self.correction + a;
        let b = grid.rounding(partial + self.drift + a);
        let d = grid.rounding(y + b);
        let e = grid.rounding(b + d);
        KahanError {
            drift: self.drift + a + d + e,
            correction: b + d + e,
        }
    }

    /// Of the sum.
    pub(super) fn total(self) -> f64 {
        self.drift + self.correction
    }
}

impl Arithmetic for SingleKahan {
    const NAME: &'static str = "single-kahan";
    const PARTS: usize = 1;
    type Number = f32;

    #[inline(always)]
    fn sum<R: Real>(slices: &[Sums], weights: &[f64]) -> Parts<R> {
        let mut parts = [[R::default(); COLUMNS]; MOST_PARTS];
        let mut corrections = [R::default(); COLUMNS];
        for (row, &weight) in slices.iter().zip(weights).rev() {
            let weight = R::constant(weight);
            for ((total, correction), &sum) in parts[0].iter_mut().zip(&mut corrections).zip(row) {
                kahan_add(total, correction, R::of_sum(sum) * weight);
            }
        }
        parts
    }

    fn bound(layout: &Layout) -> f64 {
        Grid::downwards::<f32>(layout)
            .fold(KahanError::default(), |error, (s, grid)| {
                error.add(layout.term(s), layout.at_or_above(s), grid)
            })
            .total()
    }
}
