//! A digit matrix laid out for instructions that multiply four bytes at a time.

// Without a vector unit nobody reads it.
#![cfg_attr(not(vector_unit), allow(dead_code))]

use crate::digits::DigitMatrix;
use crate::recipe::Digits;
use std::ops::Range;

/// For each row, half of the data word and slot: the four matrix digits that meet the half's four data digits, for
/// every diagonal on which any do.
///
/// Byte `b` of a half is digit `data - 1 - b` (low half) or `data - 5 - b` (high half) of the word.
#[derive(Debug)]
pub(crate) struct PackedMatrix {
    low: Half,
    high: Half,
    /// What the biases of unsigned data digits add to every diagonal, taken off.
    offsets: Vec<i32>,
    diagonals: usize,
}

#[derive(Debug)]
struct Half {
    range: Range<usize>,
    row_len: usize,
    entries: Vec<u32>,
}

impl Half {
    fn new(matrix: &DigitMatrix, digits: Digits, first_byte: u32) -> Half {
        let (data, count) = (digits.data, digits.matrix);
        let bytes = data.saturating_sub(first_byte).min(4);
        // The half's leading digit meets the leading matrix digit on the first diagonal.
        let start = if bytes == 0 {
            0
        } else {
            data - first_byte - bytes
        };
        let end = if bytes == 0 {
            0
        } else {
            (data - 1 - first_byte + count).min(digits.diagonals)
        };
        let range = start as usize..end as usize;
        let mut entries = Vec::with_capacity(matrix.rows * matrix.slots * range.len());
        for row in 0..matrix.rows {
            let planes = matrix.row(row, digits);
            for slot in 0..matrix.slots {
                for d in start..end {
                    let mut word = [0u8; 4];
                    for (b, byte) in (0u32..).zip(word.iter_mut()).take(bytes as usize) {
                        let t = data - 1 - first_byte - b;
                        if let Some(i) = d.checked_sub(t).filter(|&i| i < count) {
                            let plane = (count - 1 - i) as usize;
                            *byte = planes[plane * matrix.slots + slot] as u8;
                        }
                    }
                    entries.push(u32::from_le_bytes(word));
                }
            }
        }
        Half {
            row_len: matrix.slots * range.len(),
            range,
            entries,
        }
    }

    fn row(&self, row: usize) -> (Range<usize>, &[u32]) {
        let entries = &self.entries[row * self.row_len..(row + 1) * self.row_len];
        (self.range.clone(), entries)
    }
}

impl PackedMatrix {
    pub(crate) fn new(matrix: &DigitMatrix, digits: Digits) -> Self {
        let diagonals = digits.diagonals as usize;
        let mut packed = PackedMatrix {
            low: Half::new(matrix, digits, 0),
            high: Half::new(matrix, digits, 4),
            offsets: vec![0; matrix.rows * diagonals],
            diagonals,
        };
        for row in 0..matrix.rows {
            for half in [&packed.low, &packed.high] {
                let (range, entries) = half.row(row);
                let width = range.len().max(1);
                for (place, entry) in entries.iter().enumerate() {
                    let sum: i32 = entry
                        .to_le_bytes()
                        .iter()
                        .map(|&b| i32::from(b as i8))
                        .sum();
                    packed.offsets[row * diagonals + range.start + place % width] -= 128 * sum;
                }
            }
        }
        packed
    }

    /// Initial value of every diagonal of a row.
    pub(crate) fn offsets(&self, row: usize) -> &[i32] {
        &self.offsets[row * self.diagonals..(row + 1) * self.diagonals]
    }

    /// Diagonals that the low half of the data meets, and the entries, slot by slot.
    pub(crate) fn low(&self, row: usize) -> (Range<usize>, &[u32]) {
        self.low.row(row)
    }

    /// Diagonals that the high half of the data meets, and the entries, slot by slot.
    pub(crate) fn high(&self, row: usize) -> (Range<usize>, &[u32]) {
        self.high.row(row)
    }
}
