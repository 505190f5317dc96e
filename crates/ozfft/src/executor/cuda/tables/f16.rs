//! Products in f16 for the template (`crates/ozfft-kernels/cuda/block/bailey_f16.cuh`, whose matrices are in `bailey_tables.rs`): digits as numbers of f16, the proof that
//! no sum leaves the range in which its bits are an integer, and what sums are biased by. (`exactness.rs` asks the device whether it keeps all bits.)
//!
//! Digits are those of int8. Sums begin at 3/4 and count in units of 2^-24: their bits are those of 3/4 plus the diagonal that int8 has.

use crate::error::FftError;
use crate::executor::cuda::tables::common::{self, Biased};
use crate::recipe::Digits;
use crate::stages::digits::DigitMatrix;
use ozfft_kernels::F16_EXACT;

/// The bits of 3/4: what every diagonal begins with.
const START: i64 = 0x3f40_0000;
/// A data digit's largest value, biased.
const LARGEST_DIGIT: i64 = 255;
/// What the start of three diagonals leaves in the lowest word, which is counted modulo 2^32 and has a sign, and that of two in the middle one, which has none.
const LOW: i64 = (START / 128 + 2 * START + 512 * START) as i32 as i64;
const MIDDLE: i64 = (START + 256 * START) as u32 as i64;
/// How far sums may be from these.
const LOW_ROOM: i64 = (1 << 31) + LOW - 2;
const MIDDLE_ROOM: i64 = MIDDLE;

/// A digit of a matrix as a number of f16: its bytes.
pub(crate) fn code(digit: i8) -> [u8; 2] {
    let magnitude = digit.unsigned_abs();
    let code = match magnitude.checked_ilog2() {
        None => 0,
        Some(exponent) => {
            let fraction = (u32::from(magnitude) << (10 - exponent)) & 0x3ff;
            ((exponent + 15) << 10 | fraction) as u16
        }
    };
    let sign = if digit < 0 { 0x8000 } else { 0 };
    (code | sign).to_le_bytes()
}

/// The largest magnitudes of any sum of products on the way to a diagonal, and of several diagonals put together in the lowest and in the middle word, over all
/// data: in the order in which they have room.
fn largest_sums(matrix: &DigitMatrix, row: usize) -> [i64; 3] {
    let Digits {
        data,
        matrix: count,
        diagonals,
    } = Digits::DOUBLE;
    let [data, count, diagonals] = [data, count, diagonals].map(|count| count as usize);
    let planes = matrix.row(row, Digits::DOUBLE);
    // Of both signs.
    let mut sums = [[0i64; 2]; 8];
    let (mut low, mut middle) = ([0i64; 2], [0i64; 2]);
    let add = |sums: &mut [i64; 2], factor: i64| {
        sums[usize::from(factor > 0)] += LARGEST_DIGIT * factor.abs();
    };
    for slot in 0..matrix.slots {
        for t in 0..data {
            // What this digit is multiplied with on every diagonal.
            let mut factors = [0i64; 8];
            for i in (0..count).filter(|i| t + i < diagonals) {
                factors[t + i] = i64::from(planes[(count - 1 - i) * matrix.slots + slot]);
            }
            for (sums, factor) in sums.iter_mut().zip(factors) {
                add(sums, factor);
            }
            add(&mut low, factors[7] + 256 * factors[6] + 65536 * factors[5]);
            add(&mut middle, factors[4] + 256 * factors[3]);
        }
    }
    let largest = |sums: [i64; 2]| sums[0].max(sums[1]);
    let diagonal = sums.into_iter().map(largest).max().unwrap_or(0);
    // Rounding may be away from zero.
    [diagonal, largest(low) / 128 + 2, largest(middle)]
}

/// That all sums of a matrix are exact, whatever it is multiplied with; the largest of a diagonal.
pub(crate) fn check(matrix: &DigitMatrix) -> Result<i64, FftError> {
    let mut all = 0;
    for row in 0..matrix.rows {
        let [largest, low, middle] = largest_sums(matrix, row);
        if largest >= F16_EXACT || low > LOW_ROOM || middle > MIDDLE_ROOM {
            return Err(FftError::F16SumsTooLarge {
                largest,
                exact: F16_EXACT,
                combined: low.max(middle),
                combined_exact: LOW_ROOM.min(MIDDLE_ROOM),
            });
        }
        all = all.max(largest);
    }
    Ok(all)
}

/// What an output's sums are biased by: by as much as those of int8, and by what all diagonals begin with. `whole`: the topmost one is part of the sum. `row`: none
/// is one of zeros.
pub(crate) fn biased(matrix: &DigitMatrix, row: Option<usize>, whole: bool) -> Biased {
    let digits = row.map_or(Biased::NOTHING, |row| common::biased(matrix, row, whole));
    let high = START + 256 * START + if whole { 65536 * START } else { 0 };
    let start = LOW
        .wrapping_add(MIDDLE << 17)
        .wrapping_add(high.wrapping_shl(33));
    Biased {
        sum: digits.sum.wrapping_add(start),
        top: digits.top + START,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What a number of f16 stands for.
    pub(crate) fn value(bytes: [u8; 2]) -> f64 {
        let code = u16::from_le_bytes(bytes);
        let (exponent, fraction) = (i32::from(code >> 10 & 31), f64::from(code & 0x3ff));
        let magnitude = match exponent {
            0 => fraction * 2f64.powi(-24),
            _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
        };
        if code & 0x8000 != 0 {
            -magnitude
        } else {
            magnitude
        }
    }

    #[test]
    fn digits_are_numbers_of_f16() {
        for digit in i8::MIN..=i8::MAX {
            assert_eq!(value(code(digit)), f64::from(digit));
        }
        // Biased digits of data as they are.
        for digit in 0..=255u8 {
            assert_eq!(value([digit, 0]) * 2f64.powi(24), f64::from(digit));
        }
        assert_eq!([1, -2, 127].map(code), [[0, 0x3c], [0, 0xc0], [0xf0, 0x57]]);
        assert_eq!(f32::from_bits(START as u32), 0.75);
    }

    #[test]
    fn matrices_with_larger_sums_are_refused() {
        // All digits of one sign, twice as many as fit.
        let digit = 0x77;
        let entry = (0..6).fold(0i64, |x, _| 256 * x + digit);
        let matrix =
            |slots: usize| DigitMatrix::new(8, slots, &vec![entry; 8 * slots], Digits::DOUBLE);
        assert!(check(&matrix(16)).is_ok());
        let error = check(&matrix(48)).unwrap_err();
        assert!(matches!(error, FftError::F16SumsTooLarge { largest, .. } if largest > F16_EXACT));
        assert!(error.to_string().contains("substrate auto"), "{error}");
    }
}
