//! Portable `i8 × i8 → i32` multiplication: the reference for every other unit.

use super::{MatrixUnit, PackedMatrix};
use crate::digits::{DigitMatrix, split};
use crate::lanes::Row;
use crate::recipe::Digits;

#[derive(Clone, Copy)]
pub(crate) struct Scalar;

/// Exact: at most 8 · 64 products of magnitude 2^14 are added, below 2^23.
#[inline]
fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter()
        .zip(b)
        .map(|(&x, &y)| i32::from(x) * i32::from(y))
        .sum()
}

impl MatrixUnit<1> for Scalar {
    fn multiply(
        self,
        matrix: &DigitMatrix,
        _: &PackedMatrix,
        digits: Digits,
        column: &[Row<1>],
        scratch: &mut [i8],
        limbs: &mut [Row<1>],
    ) {
        let slots = matrix.slots;
        debug_assert_eq!(slots, column.len());
        let planes = &mut scratch[..slots * digits.data as usize];
        split(column.as_flattened(), digits.data, planes);
        let top = digits.matrix as usize - 1;
        let count = digits.diagonals as usize;
        for (row, limbs) in limbs.chunks_exact_mut(digits.limbs()).enumerate() {
            let entries = matrix.row(row, digits);
            limbs.fill([0]);
            for d in 0..count {
                // Diagonal d pairs data digit t with matrix digit d - t, which lies in plane top - d + t.
                let (skip_row, skip_data) = (top.saturating_sub(d), d.saturating_sub(top));
                let sum = dot(&entries[skip_row * slots..], &planes[skip_data * slots..]);
                let place = count - 1 - d;
                limbs[place / 4][0] += i64::from(sum) << (8 * (place % 4));
            }
        }
    }
}
