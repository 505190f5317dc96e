//! Phase B in four floats: some 95 bits.
//!
//! A slice is added to the largest float, the error to the next one, and so on; the last addition rounds. Then the four
//! are brought apart again, from the smallest upwards. Both directions use `two_sum`, which is exact for any two numbers, so
//! that nothing has to be known about their order, and only the last addition is ever off.

use super::floats::{Arithmetic, Grid, MOST_PARTS, Parts, two_sum};
use super::forward::Layout;
use super::operations::Real;
use crate::COLUMNS;
use crate::bytes::Sums;

/// Four floats.
#[derive(Debug)]
pub(super) struct QuadSingle;

impl Arithmetic for QuadSingle {
    const NAME: &'static str = "quad-single";
    const PARTS: usize = 4;
    type Number = f32;

    #[inline(always)]
    fn sum<R: Real>(slices: &[Sums], weights: &[f64]) -> Parts<R> {
        let mut parts = [[R::default(); COLUMNS]; MOST_PARTS];
        for (row, &weight) in slices.iter().zip(weights).rev() {
            let weight = R::constant(weight);
            for (column, &sum) in row.iter().enumerate() {
                let [a, b, c, d] = &mut parts;
                let (first, rest) = two_sum(a[column], R::of_sum(sum) * weight);
                let (second, rest) = two_sum(b[column], rest);
                let (third, rest) = two_sum(c[column], rest);
                let fourth = d[column] + rest;
                let (third, fourth) = two_sum(third, fourth);
                let (second, third) = two_sum(second, third);
                let (first, second) = two_sum(first, second);
                (a[column], b[column]) = (first, second);
                (c[column], d[column]) = (third, fourth);
            }
        }
        parts
    }

    /// Follows bounds of the three smaller numbers. The largest one plus `x` is the partial sum with its error, less
    /// those three; and likewise when they are brought apart.
    fn bound(layout: &Layout) -> f64 {
        let mut error = 0.0;
        let [mut b, mut c, mut d] = [0.0f64; 3];
        for (s, grid) in Grid::downwards::<f32>(layout) {
            let rounded = |x: f64| x + grid.rounding(x);
            let first = grid.rounding(layout.at_or_above(s) + error + b + c + d);
            let second = grid.rounding(b + first);
            let third = grid.rounding(c + second);
            error += grid.rounding(d + third);
            let (down_b, down_c, down_d) =
                (rounded(b + first), rounded(c + second), rounded(d + third));
            d = grid.rounding(down_c + down_d);
            let up_c = rounded(down_c + down_d);
            c = grid.rounding(down_b + up_c);
            b = grid.rounding(layout.at_or_above(s) + error + c + d);
        }
        error
    }
}
