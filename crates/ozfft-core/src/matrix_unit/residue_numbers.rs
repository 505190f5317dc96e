//! Products by residues, as a unit like any other: the integers that digits give, all diagonals at once.

use super::{MatrixUnit, PackedMatrix};
use crate::recipe::Digits;
use crate::simd::{HalfRow, Pair, Portable, Row, Vectors};
use crate::stages::residue_products::ResidueMatrix;
use residues::COLUMNS;

#[derive(Clone, Copy)]
pub(crate) struct ResidueNumbers;

/// Slots of the largest step.
const MOST_SLOTS: usize = 33;

/// A word out of its halves, as this unit keeps them.
fn word(digits: Digits, slots: usize, data: &[HalfRow<1>], slot: usize, part: usize) -> i64 {
    let half = |row: usize| data[row][0][part];
    if digits.data > 4 {
        i64::from(half(slot)) << 32 | i64::from(half(slots + slot) as u32)
    } else {
        i64::from(half(slot))
    }
}

impl MatrixUnit<1> for ResidueNumbers {
    type Vectors = Portable;
    /// Real and imaginary parts fill the columns that residues are worked on side by side.
    const COLUMNS: usize = COLUMNS / 2;
    type Session = ();

    #[inline(always)]
    fn session(self) {}

    fn encode(_: Digits, (re, im): Pair<Row<1>>) -> (HalfRow<1>, HalfRow<1>) {
        Portable::split(re, im)
    }

    fn multiply(
        self,
        matrix: &PackedMatrix,
        digits: Digits,
        columns: usize,
        _part: usize,
        data: &[HalfRow<1>],
        sums: &mut [HalfRow<1>],
    ) {
        let residues = matrix.packed::<ResidueMatrix>();
        let slots = matrix.slots;
        let mut memory = [[0i64; COLUMNS]; MOST_SLOTS];
        let words = &mut memory[..slots];
        for column in 0..columns {
            let data = &data[column * matrix.data_rows..][..matrix.data_rows];
            for (slot, row) in words.iter_mut().enumerate() {
                for part in 0..2 {
                    row[2 * column + part] = word(digits, slots, data, slot, part);
                }
            }
        }
        residues.multiply(words, 2 * columns, |row, integers| {
            for column in 0..columns {
                let sums = &mut sums[column * matrix.sum_rows..][..matrix.sum_rows];
                for part in 0..2 {
                    let product = integers[2 * column + part].as_i128();
                    super::put_pairs(product, digits, sums, row, part);
                }
            }
        });
    }
}
