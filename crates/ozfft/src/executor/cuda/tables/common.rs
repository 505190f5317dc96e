//! What tables of all kernels that know their length are made of: digits of matrices that meet those of words, what sums are biased by, and
//! how constants are laid out.

use crate::matrix_unit::meeting;
use crate::recipe::Digits;
use crate::stages::digits::DigitMatrix;
use crate::transform::step::Step;

/// What the topmost diagonals that are kept apart are biased by, so that those of numbers that fit 64 bits are not negative.
const TOP_BIAS: i64 = 8192;
/// The weight of the topmost diagonal, in units of the rounded sum: 2^49.
const TOP_WEIGHT: u32 = 49;

pub(crate) fn rotations(first: &Step, image: &mut Vec<u8>) {
    for rotation in &first.rotations {
        let (re, im) = (rotation.real, rotation.imaginary);
        image.extend_from_slice(bytemuck::cast_slice(&[re.0, re.1, im.0, im.1]));
    }
}

pub(crate) fn matrices(step: &Step) -> [&DigitMatrix; 2] {
    let Some(matrices) = &step.matrices else {
        unreachable!("tuned steps are products");
    };
    [matrices.cosine.digits(), matrices.sine.digits()]
}

/// The digits of a matrix that the four lower (`half` 0) or upper digits of a data word meet on a diagonal.
pub(crate) fn met(
    matrix: &DigitMatrix,
    half: u32,
    place: (usize, usize),
    diagonal: u32,
) -> [u8; 4] {
    meeting(matrix, Digits::DOUBLE, 4 * half, place, diagonal)
}

/// The same for words of any digits, which are the topmost of eight: what is below the last one meets zeros.
pub(crate) fn met_by(
    matrix: &DigitMatrix,
    digits: Digits,
    half: u32,
    place: (usize, usize),
    diagonal: u32,
) -> [u8; 4] {
    let missing = (8 - digits.data).saturating_sub(4 * half);
    let first_byte = (digits.data + 4 * half).saturating_sub(8);
    let all = meeting(matrix, digits, first_byte, place, diagonal);
    std::array::from_fn(|byte| match byte.checked_sub(missing as usize) {
        Some(byte) => all[byte],
        None => 0,
    })
}

/// What the sums of an output are biased by, because data digits are, and by the kernel's ways to put them together.
pub(crate) struct Biased {
    /// The rounded sum, modulo 2^64; without what is kept apart.
    pub(crate) sum: i64,
    /// What is kept apart.
    pub(crate) top: i64,
}

impl Biased {
    /// Of sums of nothing.
    pub(crate) const NOTHING: Biased = Biased { sum: 0, top: 0 };
}

/// Data digits are biased by 128, so that a diagonal is biased by 128 times the sum of the row's digits: the last one by whole
/// units, which rounding leaves as they are. `whole`: the topmost diagonal is part of the sum.
pub(crate) fn biased(matrix: &DigitMatrix, row: usize, whole: bool) -> Biased {
    biased_by(matrix, Digits::DOUBLE, row, whole)
}

/// The same for words of any digits with as many diagonals. Of eight alone the topmost one may be kept apart. With a diagonal more digits have
/// signs, and nothing is biased.
pub(crate) fn biased_by(matrix: &DigitMatrix, digits: Digits, row: usize, whole: bool) -> Biased {
    if digits.diagonals > digits.data {
        return Biased::NOTHING;
    }
    let sum_of_digits = |diagonal: u32| -> i64 {
        let met = (0..matrix.slots).flat_map(|slot| {
            [0, 1].map(|half| met_by(matrix, digits, half, (row, slot), diagonal))
        });
        met.flatten().map(|digit| i64::from(digit as i8)).sum()
    };
    let last = digits.data - 1;
    let is_apart = digits.data == 8;
    let first = u32::from(is_apart && !whole);
    let sum = (first..last).fold(sum_of_digits(last), |sum, diagonal| {
        let shift = 8 * (last - diagonal);
        sum.wrapping_add(sum_of_digits(diagonal).wrapping_shl(shift))
    });
    Biased {
        sum,
        top: if is_apart { 128 * sum_of_digits(0) } else { 0 },
    }
}

/// Sum and difference of what the cosine and the sine sums of every output are biased by; then, where the topmost diagonal is
/// kept apart, the same for that one, at half the distance.
pub(crate) fn lay_out_constants(rows: &[(Biased, Biased)], whole: bool, image: &mut Vec<u8>) {
    let offset = if whole { 0 } else { TOP_BIAS };
    for (cosine, sine) in rows {
        let both = [
            cosine.sum.wrapping_add(sine.sum),
            cosine.sum.wrapping_sub(sine.sum),
        ];
        let both = both.map(|x| x.wrapping_add(offset << TOP_WEIGHT));
        image.extend_from_slice(bytemuck::cast_slice(&both));
    }
    if !whole {
        for (cosine, sine) in rows {
            let both = [cosine.top + sine.top, cosine.top - sine.top];
            let both = both.map(|x| (x - offset) as i32);
            image.extend_from_slice(bytemuck::cast_slice(&both));
        }
    }
}

/// The four constants of the first output of every thread, and of its partner; of the very first pair one has cosines only,
/// the other sines only.
pub(crate) fn lay_out_first<'a>(
    rows: impl Iterator<Item = &'a (Biased, Biased)>,
    image: &mut Vec<u8>,
) {
    for (t, (cosine, sine)) in rows.enumerate() {
        let (cosine, sine) = (cosine.sum, sine.sum);
        let (sum, difference) = (cosine.wrapping_add(sine), cosine.wrapping_sub(sine));
        let four = match t {
            0 => [cosine, cosine, sine, sine],
            _ => [sum, difference, difference, sum],
        };
        image.extend_from_slice(bytemuck::cast_slice(&four));
    }
}
