//! AVX-512 VNNI: `vpdpbusd` multiplies four unsigned by four signed bytes in each of 16 places, the real and imaginary
//! parts of eight lines.
//!
//! The data digits go in as unsigned bytes, that is with their bias of 128 each; what the biases add to a diagonal
//! depends on the matrix only and is the accumulator's initial value.

use super::{Form, MatrixUnit, PackedMatrix, Task, loaded};
use crate::digits::{DigitMatrix, bias};
use crate::recipe::Digits;
use crate::vectors::{Avx512, HalfRow, Pair, Vectors};
use std::arch::x86_64::*;
use std::ops::Range;

/// Proof that the processor has the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Avx512Vnni(());

impl Avx512Vnni {
    pub(crate) fn new() -> Option<Self> {
        let present = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512vnni");
        present.then_some(Avx512Vnni(()))
    }
}

/// For each row, half of the data word and slot: the four matrix digits that meet the half's four data digits, for
/// every diagonal on which any do.
#[derive(Debug)]
pub(super) struct Bytes {
    lower: Half,
    upper: Half,
    /// What the biases of unsigned data digits add to every diagonal, taken off.
    offsets: Vec<i32>,
}

#[derive(Debug)]
struct Half {
    range: Range<usize>,
    row_len: usize,
    entries: Vec<u32>,
}

/// The matrix digits that the four data digits of a half, `first_byte` bytes above the lowest, meet on a diagonal.
/// Byte `b` of a half is data digit `data - 1 - first_byte - b`.
pub(super) fn meeting(
    matrix: &DigitMatrix,
    digits: Digits,
    first_byte: u32,
    (row, slot): (usize, usize),
    diagonal: u32,
) -> [u8; 4] {
    let planes = matrix.row(row, digits);
    std::array::from_fn(|b| {
        let digit = (digits.data - 1).checked_sub(first_byte + b as u32);
        let entry = digit
            .and_then(|t| diagonal.checked_sub(t))
            .filter(|&i| i < digits.matrix)
            .map(|i| planes[(digits.matrix - 1 - i) as usize * matrix.slots + slot]);
        entry.unwrap_or(0) as u8
    })
}

impl Half {
    fn new(matrix: &DigitMatrix, digits: Digits, first_byte: u32) -> Half {
        let bytes = digits.data.saturating_sub(first_byte).min(4);
        // The half's leading digit meets the leading matrix digit on the first diagonal.
        let range = if bytes == 0 {
            0..0
        } else {
            let start = digits.data - first_byte - bytes;
            let end = (digits.data - 1 - first_byte + digits.matrix).min(digits.diagonals);
            start as usize..end as usize
        };
        let mut entries = Vec::with_capacity(matrix.rows * matrix.slots * range.len());
        for row in 0..matrix.rows {
            for slot in 0..matrix.slots {
                for d in range.clone() {
                    let word = meeting(matrix, digits, first_byte, (row, slot), d as u32);
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

    fn row(&self, row: usize) -> &[u32] {
        &self.entries[row * self.row_len..(row + 1) * self.row_len]
    }
}

impl Bytes {
    pub(super) fn new(matrix: &DigitMatrix, digits: Digits) -> Bytes {
        let diagonals = digits.diagonals as usize;
        let mut packed = Bytes {
            lower: Half::new(matrix, digits, 0),
            upper: Half::new(matrix, digits, 4),
            offsets: vec![0; matrix.rows * diagonals],
        };
        for row in 0..matrix.rows {
            for half in [&packed.lower, &packed.upper] {
                let width = half.range.len().max(1);
                for (place, entry) in half.row(row).iter().enumerate() {
                    let sum: i32 = entry
                        .to_le_bytes()
                        .iter()
                        .map(|&b| i32::from(b as i8))
                        .sum();
                    packed.offsets[row * diagonals + half.range.start + place % width] -= 128 * sum;
                }
            }
        }
        packed
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
fn enter<T: Task>(task: T) -> T::Output {
    task.run()
}

/// One row: `D` diagonals of one half, accumulated over the slots of `C` columns.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
fn accumulate<const D: usize, const C: usize>(
    entries: &[u32],
    data: [&[HalfRow<8>]; C],
    slots: usize,
    accumulators: &mut [[__m512i; C]],
) {
    // Entries lie slot by slot, all diagonals of a slot together.
    let mut sums = [[_mm512_setzero_si512(); C]; D];
    sums.copy_from_slice(accumulators);
    let data = data.map(|column| &column[..slots]);
    for (slot, entries) in entries.chunks_exact(D).enumerate() {
        let bytes = data.map(|column| Avx512::load_halves(&column[slot]));
        for (sums, &entry) in sums.iter_mut().zip(entries) {
            let entry = _mm512_set1_epi32(entry as i32);
            for (sum, bytes) in sums.iter_mut().zip(bytes) {
                *sum = _mm512_dpbusd_epi32(*sum, bytes, entry);
            }
        }
    }
    accumulators.copy_from_slice(&sums);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
fn accumulate_any<const C: usize>(
    entries: &[u32],
    data: [&[HalfRow<8>]; C],
    slots: usize,
    accumulators: &mut [[__m512i; C]],
) {
    match accumulators.len() {
        0 => {}
        1 => accumulate::<1, C>(entries, data, slots, accumulators),
        2 => accumulate::<2, C>(entries, data, slots, accumulators),
        3 => accumulate::<3, C>(entries, data, slots, accumulators),
        4 => accumulate::<4, C>(entries, data, slots, accumulators),
        5 => accumulate::<5, C>(entries, data, slots, accumulators),
        6 => accumulate::<6, C>(entries, data, slots, accumulators),
        7 => accumulate::<7, C>(entries, data, slots, accumulators),
        8 => accumulate::<8, C>(entries, data, slots, accumulators),
        9 => accumulate::<9, C>(entries, data, slots, accumulators),
        10 => accumulate::<10, C>(entries, data, slots, accumulators),
        _ => unreachable!("a half of four digits and seven matrix digits meet on ten diagonals"),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
fn multiply<const C: usize>(
    matrix: &PackedMatrix,
    digits: Digits,
    data: &[HalfRow<8>],
    sums: &mut [HalfRow<8>],
) {
    let Form::Bytes(packed) = &matrix.form else {
        unreachable!("the matrix was packed for another unit")
    };
    let slots = matrix.slots;
    let columns: [&[HalfRow<8>]; C] =
        std::array::from_fn(|c| &data[c * matrix.data_rows..][..matrix.data_rows]);
    let lower = columns.map(|column| &column[if digits.data > 4 { slots } else { 0 }..]);
    let (count, pairs) = (digits.diagonals as usize, digits.pairs());
    for row in 0..matrix.rows {
        let mut accumulators = [[_mm512_setzero_si512(); C]; 16];
        for (sums, &offset) in accumulators
            .iter_mut()
            .zip(&packed.offsets[row * count..][..count])
        {
            *sums = [_mm512_set1_epi32(offset); C];
        }
        let (upper_range, lower_range) = (packed.upper.range.clone(), packed.lower.range.clone());
        accumulate_any(
            packed.upper.row(row),
            columns,
            slots,
            &mut accumulators[upper_range],
        );
        accumulate_any(
            packed.lower.row(row),
            lower,
            slots,
            &mut accumulators[lower_range],
        );
        for pair in 0..pairs {
            let (upper, lower) = digits.pair(pair);
            for c in 0..C {
                let diagonal =
                    |d: Option<usize>| d.map_or(_mm512_setzero_si512(), |d| accumulators[d][c]);
                let sum =
                    _mm512_add_epi32(_mm512_slli_epi32::<8>(diagonal(upper)), diagonal(lower));
                let place = c * matrix.sum_rows + row * pairs + pair;
                Avx512::store_halves(sum, &mut sums[place]);
            }
        }
    }
}

impl MatrixUnit<8> for Avx512Vnni {
    type Vectors = Avx512;
    const COLUMNS: usize = 2;

    #[inline(always)]
    fn enter<T: Task>(self, task: T) -> T::Output {
        // SAFETY: the constructor has seen all these features.
        unsafe { enter(task) }
    }

    #[inline(always)]
    fn encode(digits: Digits, (re, im): Pair<__m512i>) -> (__m512i, __m512i) {
        let bias = Avx512::splat(bias(digits.data) as i64);
        Avx512::split(Avx512::add(re, bias), Avx512::add(im, bias))
    }

    #[inline(always)]
    fn multiply(
        self,
        matrix: &PackedMatrix,
        digits: Digits,
        columns: usize,
        data: &[HalfRow<8>],
        sums: &mut [HalfRow<8>],
    ) {
        // SAFETY: as above.
        unsafe {
            match columns {
                1 => multiply::<1>(matrix, digits, data, sums),
                _ => multiply::<2>(matrix, digits, data, sums),
            }
        }
    }

    #[inline(always)]
    fn pair(
        _: &PackedMatrix,
        digits: Digits,
        sums: &[HalfRow<8>],
        row: usize,
        pair: usize,
    ) -> __m512i {
        Avx512::load_halves(&sums[row * digits.pairs() + pair])
    }

    #[inline(always)]
    fn pairs<const P: usize>(
        _: &PackedMatrix,
        _: Digits,
        sums: &[HalfRow<8>],
        row: usize,
    ) -> [__m512i; P] {
        loaded::<8, Avx512, P>(&sums[row * P..][..P])
    }
}
