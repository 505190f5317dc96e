//! The same sums by 128-bit multiplication: no data digits, no diagonals, no dot products of bytes.
//!
//! A truncated product pairs matrix digit `i` with the data rounded to its leading `diagonals - i` digits; that
//! rounding is done here arithmetically. The path shares nothing with the scalar unit but the matrix, which makes it
//! the reference that the digit units are checked against.

use super::{MatrixUnit, PackedMatrix};
use crate::digits::{DigitMatrix, bias};
use crate::lanes::Row;
use crate::recipe::Digits;

#[derive(Clone, Copy)]
pub(crate) struct WideInteger;

/// `x` without its `count` least significant balanced digits.
fn without_low_digits(x: i64, count: u32) -> i128 {
    if count == 0 {
        return i128::from(x);
    }
    let modulus = 1i128 << (8 * count);
    let bias = i128::from(bias(count));
    let low = (i128::from(x) + bias).rem_euclid(modulus) - bias;
    i128::from(x) - low
}

impl MatrixUnit<1> for WideInteger {
    fn multiply(
        self,
        matrix: &DigitMatrix,
        _: &PackedMatrix,
        digits: Digits,
        column: &[Row<1>],
        _scratch: &mut [i8],
        limbs: &mut [Row<1>],
    ) {
        let slots = matrix.slots;
        let unit_bits = 8 * (digits.data + digits.matrix - 1 - digits.diagonals);
        for (row, limbs) in limbs.chunks_exact_mut(digits.limbs()).enumerate() {
            let planes = matrix.row(row, digits);
            let mut product = 0i128;
            for i in 0..digits.matrix {
                let kept = digits.diagonals.saturating_sub(i).min(digits.data);
                let weight = 8 * (digits.matrix - 1 - i);
                let plane = (digits.matrix - 1 - i) as usize;
                for (slot, &[x]) in column.iter().enumerate() {
                    let entry = i128::from(planes[plane * slots + slot]) << weight;
                    product += entry * without_low_digits(x, digits.data - kept);
                }
            }
            debug_assert_eq!(product & ((1i128 << unit_bits) - 1), 0);
            let mut rest = product >> unit_bits;
            let last = limbs.len() - 1;
            for limb in &mut limbs[..last] {
                limb[0] = i64::from(rest as u32);
                rest >>= 32;
            }
            limbs[last][0] = rest as i64;
        }
    }
}
