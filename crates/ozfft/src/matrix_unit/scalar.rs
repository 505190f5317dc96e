//! Portable `i8 × i8 → i32` multiplication: the reference for every other unit.

use super::{ListedUnit, MatrixUnit, PackedMatrix, unsigned_digits};
use crate::recipe::Digits;
use crate::simd::{HalfRow, Pair, Portable, Row};
use crate::stages::digits::{DigitMatrix, digit};
#[cfg(feature = "residues")]
use residues::bytes::{ByteProducts, Portable as PortableBytes};
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Scalar;

/// Slots of the largest step, times eight digits.
const LARGEST_COLUMN: usize = 33 * 8;

/// Exact: at most 7 · 33 products of magnitude 2^14 are added, below 2^22.
#[inline]
fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter()
        .zip(b)
        .map(|(&x, &y)| i32::from(x) * i32::from(y))
        .sum()
}

impl ListedUnit for Scalar {
    type Packed = Arc<DigitMatrix>;

    fn detect() -> Option<Self> {
        Some(Scalar)
    }

    fn pack(matrix: &Arc<DigitMatrix>, _: Digits) -> Arc<DigitMatrix> {
        Arc::clone(matrix)
    }

    #[cfg(feature = "residues")]
    fn byte_products(self) -> Arc<dyn ByteProducts> {
        Arc::new(PortableBytes)
    }
}

impl MatrixUnit<1> for Scalar {
    type Vectors = Portable;
    const COLUMNS: usize = 1;
    type Session = ();

    #[inline(always)]
    fn session(self) {}

    fn encode(digits: Digits, words: Pair<Row<1>>) -> (HalfRow<1>, HalfRow<1>) {
        debug_assert!(
            [words.0[0], words.1[0]]
                .iter()
                .all(|x| digits.data == 8 || x.unsigned_abs() < 1 << (8 * digits.data - 1)),
            "the words {words:?} do not fit {} digits",
            digits.data
        );
        unsigned_digits::<1, Portable>(digits, words)
    }

    fn multiply(
        self,
        matrix: &PackedMatrix,
        digits: Digits,
        _columns: usize,
        _part: usize,
        data: &[HalfRow<1>],
        sums: &mut [HalfRow<1>],
    ) {
        let entries = matrix.digits();
        let slots = matrix.slots;
        let count = digits.data as usize;
        let lower = &data[if digits.data > 4 { slots } else { 0 }..];
        // Planes of digits, the most significant first.
        let mut memory = [0i8; LARGEST_COLUMN];
        let planes = &mut memory[..slots * count];
        let top = digits.matrix as usize - 1;
        for part in 0..2 {
            for slot in 0..slots {
                let (low, high) = (lower[slot][0][part], data[slot][0][part]);
                let biased = u64::from(high as u32) << 32 | u64::from(low as u32);
                for t in 0..digits.data {
                    planes[t as usize * slots + slot] = digit(biased, digits.data, t);
                }
            }
            for row in 0..matrix.rows {
                let entries = entries.row(row, digits);
                // Diagonal d pairs data digit t with matrix digit d - t, which lies in plane top - d + t.
                let diagonal = |d: usize| {
                    let (skip_row, skip_data) = (top.saturating_sub(d), d.saturating_sub(top));
                    dot(&entries[skip_row * slots..], &planes[skip_data * slots..])
                };
                for pair in 0..digits.pairs() {
                    let (upper, lower) = digits.pair(pair);
                    let sum = upper.map_or(0, |d| diagonal(d) << 8) + lower.map_or(0, diagonal);
                    sums[row * digits.pairs() + pair][0][part] = sum;
                }
            }
        }
    }
}
