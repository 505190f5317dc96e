//! Balanced base-256 digits: an integer as signed bytes, exactly (the splitting of the Ozaki-I family).
//!
//! `x = Σ_t s_t 256^(count-1-t)` with every `s_t` in -128..=127. Adding the bias `0x80…80` makes every digit
//! non-negative, so that the digits are the bytes of one machine word; flipping the top bit of each byte takes the
//! bias off again.

use crate::recipe::Digits;
use std::sync::OnceLock;

/// The word `0x80…80` of `count` bytes, as the bias that makes all digits non-negative.
pub fn bias(count: u32) -> u64 {
    0x8080_8080_8080_8080u64 >> (64 - 8 * count)
}

/// Digit `t` (0 is the most significant) of `x` written with `count` digits.
#[inline]
pub fn digit(biased: u64, count: u32, t: u32) -> i8 {
    ((biased >> (8 * (count - 1 - t))) as u8 ^ 0x80) as i8
}

/// An integer matrix in digits.
///
/// A row holds its digit planes from the least to the most significant. The data planes have the opposite order, so the
/// digits that meet on one diagonal of the product lie side by side in memory: each diagonal is one dot product of a
/// window of the row with a window of the data (see `matrix_unit/scalar.rs`).
#[derive(Debug)]
pub struct DigitMatrix {
    pub rows: usize,
    pub slots: usize,
    planes: Vec<i8>,
    /// Results of [`DigitMatrix::digit_norm`] by first digit: every plan's budget needs them.
    norms: [OnceLock<f64>; 8],
}

impl DigitMatrix {
    /// Splits `entries` (row by row) into `digits.matrix` digits each.
    pub fn new(rows: usize, slots: usize, entries: &[i64], digits: Digits) -> Self {
        assert_eq!(entries.len(), rows * slots);
        let count = digits.matrix;
        let mut planes = vec![0i8; entries.len() * count as usize];
        for (row, entries) in entries.chunks(slots.max(1)).enumerate().take(rows) {
            for (slot, &x) in entries.iter().enumerate() {
                assert!(x.unsigned_abs() <= digits.matrix_one());
                let biased = (x as u64).wrapping_add(bias(count));
                for t in 0..count {
                    let plane = (count - 1 - t) as usize;
                    planes[(row * count as usize + plane) * slots + slot] = digit(biased, count, t);
                }
            }
        }
        DigitMatrix {
            rows,
            slots,
            planes,
            norms: Default::default(),
        }
    }

    /// The digit planes of a row, least significant first.
    pub fn row(&self, row: usize, digits: Digits) -> &[i8] {
        let len = digits.matrix as usize * self.slots;
        &self.planes[row * len..(row + 1) * len]
    }

    /// An entry, out of its digits.
    pub fn entry(&self, row: usize, slot: usize, digits: Digits) -> i64 {
        let planes = self.row(row, digits).chunks(self.slots);
        planes
            .rev()
            .fold(0, |entry, plane| 256 * entry + i64::from(plane[slot]))
    }

    /// An upper bound of the operator norm of the digits from significance `first` on (0 is the leading one), taken
    /// as one wide matrix `G`: the 16th root of the trace of `(G·Gᵀ)^8`.
    pub(crate) fn digit_norm(&self, first: u32, digits: Digits) -> f64 {
        *self.norms[first as usize].get_or_init(|| self.compute_digit_norm(first, digits))
    }

    fn compute_digit_norm(&self, first: u32, digits: Digits) -> f64 {
        let rows = self.rows;
        let width = (digits.matrix - first) as usize * self.slots;
        // Planes run from the least significant on, so the digits from `first` on come first.
        let part = |row: usize| &self.row(row, digits)[..width];
        let mut product = vec![0.0f64; rows * rows];
        for a in 0..rows {
            for b in 0..rows {
                let dot: i64 = part(a)
                    .iter()
                    .zip(part(b))
                    .map(|(&x, &y)| i64::from(x) * i64::from(y))
                    .sum();
                product[a * rows + b] = dot as f64;
            }
        }
        for _ in 0..2 {
            let mut square = vec![0.0; rows * rows];
            for a in 0..rows {
                for c in 0..rows {
                    let factor = product[a * rows + c];
                    for b in 0..rows {
                        square[a * rows + b] += factor * product[c * rows + b];
                    }
                }
            }
            product = square;
        }
        // The trace of the eighth power is the sum of the squares of the fourth.
        let trace: f64 = product.iter().map(|x| x * x).sum();
        trace.powf(1.0 / 16.0) * (1.0 + 1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(x: i64, count: u32) -> Vec<i8> {
        let biased = (x as u64).wrapping_add(bias(count));
        (0..count).map(|t| digit(biased, count, t)).collect()
    }

    #[test]
    fn digits_add_up_to_the_number() {
        let numbers = [
            0,
            1,
            -1,
            127,
            128,
            -128,
            -129,
            255,
            256,
            i64::MAX >> 1,
            i64::MIN >> 1,
            0x0123_4567_89ab_cdef,
            -0x0123_4567_89ab_cdef,
            -0x0080_8080_8080_8080,
        ];
        for x in numbers {
            let planes = split(x, 8);
            let sum = planes
                .iter()
                .fold(0i128, |sum, &s| sum * 256 + i128::from(s));
            assert_eq!(sum, i128::from(x));
        }
        for x in -32_600..32_600 {
            let planes = split(x, 2);
            assert_eq!(i64::from(planes[0]) * 256 + i64::from(planes[1]), x);
        }
    }

    // All words of three digits or fewer; of more digits every pattern of carries: bytes are split one by one, and what
    // one takes from the next is decided by whether it is below 128, with or without the carry from below.
    #[test]
    fn splitting_is_exact_for_all_short_words_and_for_every_pattern_of_carries() {
        let sum = |digits: &[i8]| {
            let next = |sum: i128, &digit: &i8| sum * 256 + i128::from(digit);
            digits.iter().fold(0, next)
        };
        for count in 1..=3u32 {
            let low = -(128 * (256i64.pow(count) - 1) / 255);
            let high = 127 * (256i64.pow(count) - 1) / 255;
            for x in low..=high {
                let biased = (x as u64).wrapping_add(bias(count));
                let back = (0..count).fold(0i64, |sum, t| {
                    sum * 256 + i64::from(digit(biased, count, t))
                });
                assert_eq!(back, x);
            }
        }
        const BYTES: [u64; 5] = [0, 1, 0x7f, 0x80, 0xff];
        for count in 4..=8u32 {
            for pattern in 0..BYTES.len().pow(count) {
                let mut rest = pattern;
                let mut word = 0u64;
                for _ in 0..count {
                    word = word << 8 | BYTES[rest % BYTES.len()];
                    rest /= BYTES.len();
                }
                // Read as a signed number of so many bytes; beyond 127/255 of the range there are no digits.
                let unused = 64 - 8 * count;
                let x = (word << unused).cast_signed() >> unused;
                let highest = 127 * (256i128.pow(count) - 1) / 255;
                let planes = split(x, count);
                if i128::from(x) <= highest {
                    assert_eq!(sum(&planes), i128::from(x));
                }
            }
        }
    }

    #[test]
    fn one_is_a_single_digit() {
        let digits = Digits::DOUBLE;
        let one = digits.matrix_one() as i64;
        let matrix = DigitMatrix::new(1, 2, &[one, -one], digits);
        let row = matrix.row(0, digits);
        assert_eq!(&row[12..], &[127, -127]);
        assert!(row[..12].iter().all(|&f| f == 0));
        assert_eq!(matrix.entry(0, 1, digits), -one);
    }
}
