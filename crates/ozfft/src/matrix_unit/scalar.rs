//! Portable `i8 × i8 → i32` multiplication: the reference for every other unit.

use super::{MatrixUnit, UnitScratch};
use crate::digits::{DigitMatrix, split};
use crate::recipe::Digits;
use crate::reconstruct::deposit;
use crate::workspace::Wide;

pub(crate) struct Scalar;

/// Exact: at most 8 · 64 products of magnitude 2^14 are added, below 2^23.
#[inline]
fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter()
        .zip(b)
        .map(|(&x, &y)| i32::from(x) * i32::from(y))
        .sum()
}

impl MatrixUnit for Scalar {
    fn name(&self) -> &'static str {
        "scalar"
    }

    fn multiply(
        &self,
        matrix: &DigitMatrix,
        digits: Digits,
        column: &[i64],
        scratch: &mut UnitScratch<'_>,
        sums: &mut [Wide],
    ) {
        let slots = matrix.slots;
        debug_assert_eq!(slots, column.len());
        let planes = &mut scratch.planes[..slots * digits.data as usize];
        split(column, digits.data, planes);
        let diagonals = &mut scratch.diagonals[..digits.diagonals as usize];
        let top = digits.matrix as usize - 1;
        for (row, sum) in sums[..matrix.rows].iter_mut().enumerate() {
            let entries = matrix.row(row, digits);
            for (d, accumulator) in diagonals.iter_mut().enumerate() {
                // Diagonal d pairs data digit t with matrix digit d - t, which lies in plane top - d + t.
                let (skip_row, skip_data) = (top.saturating_sub(d), d.saturating_sub(top));
                *accumulator = dot(&entries[skip_row * slots..], &planes[skip_data * slots..]);
            }
            *sum = deposit(diagonals).into();
        }
    }
}
