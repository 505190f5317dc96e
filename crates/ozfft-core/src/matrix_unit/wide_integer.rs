//! The same sums by 128-bit multiplication: no data digits, no diagonals, no dot products of bytes.
//!
//! A truncated product pairs matrix digit `i` with the data rounded to its leading `diagonals - i` digits; that
//! rounding is done here arithmetically. The products share nothing with those of the scalar unit but the matrix, which makes
//! them the reference that the digit units are checked against. Everything around them is the scalar unit's, which multiplies
//! by these matrices, too: a reference need not be compiled twice.

use super::PackedMatrix;
use crate::recipe::Digits;
use crate::simd::HalfRow;
use crate::stages::digits::bias;

/// A word out of its halves, which have the bias of the scalar unit's digits.
fn word(digits: Digits, slots: usize, data: &[HalfRow<1>], slot: usize, part: usize) -> i64 {
    let half = |row: usize| i64::from(data[row][0][part] as u32);
    let biased = match digits.data > 4 {
        true => half(slot) << 32 | half(slots + slot),
        false => half(slot),
    };
    biased.wrapping_sub(bias(digits.data) as i64)
}

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

/// [`super::MatrixUnit::multiply`] of one column.
pub(super) fn multiply(
    matrix: &PackedMatrix,
    digits: Digits,
    data: &[HalfRow<1>],
    sums: &mut [HalfRow<1>],
) {
    let entries = matrix.digits();
    let slots = matrix.slots;
    let unit_bits = 8 * (digits.data + digits.matrix - 1 - digits.diagonals);
    for row in 0..matrix.rows {
        let planes = entries.row(row, digits);
        for part in 0..2 {
            let mut product = 0i128;
            for i in 0..digits.matrix {
                let kept = digits.diagonals.saturating_sub(i).min(digits.data);
                let weight = 8 * (digits.matrix - 1 - i);
                let plane = (digits.matrix - 1 - i) as usize;
                for slot in 0..slots {
                    let entry = i128::from(planes[plane * slots + slot]) << weight;
                    product += entry
                        * without_low_digits(
                            word(digits, slots, data, slot, part),
                            digits.data - kept,
                        );
                }
            }
            debug_assert_eq!(product & ((1i128 << unit_bits) - 1), 0);
            super::put_pairs(product >> unit_bits, digits, sums, row, part);
        }
    }
}
