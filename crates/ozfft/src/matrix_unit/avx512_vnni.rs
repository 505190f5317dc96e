//! AVX-512 VNNI: `vpdpbusd` multiplies four unsigned by four signed bytes in each of 16 lanes, one lane a line.
//!
//! The data digits go in as unsigned bytes, that is with their bias of 128 each; what the biases add to a diagonal
//! depends on the matrix only and is the accumulator's initial value.

#![cfg(vector_unit)]

use super::packed::PackedMatrix;
use super::{MatrixUnit, Task};
use crate::digits::{DigitMatrix, bias};
use crate::lanes::Row;
use crate::recipe::Digits;
use std::arch::x86_64::*;

/// Proof that the processor has the instructions.
#[derive(Clone, Copy)]
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

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
fn enter<T: Task>(task: T) -> T::Output {
    task.run()
}

/// Splits rows of words into rows of biased digits, four to a 32-bit lane: the low halves, then the high halves.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
fn split(column: &[Row<16>], digits: Digits, halves: &mut [i8]) {
    let bias = _mm512_set1_epi64(bias(digits.data) as i64);
    let (low, high) = halves.split_at_mut(64 * column.len());
    for (slot, row) in column.iter().enumerate() {
        // SAFETY: a row is 128 bytes, and both halves hold 64 bytes a slot; unaligned access is allowed.
        unsafe {
            let a = _mm512_add_epi64(_mm512_loadu_si512(row.as_ptr().cast()), bias);
            let b = _mm512_add_epi64(_mm512_loadu_si512(row.as_ptr().add(8).cast()), bias);
            let join = |a: __m256i, b: __m256i| _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
            let lows = join(_mm512_cvtepi64_epi32(a), _mm512_cvtepi64_epi32(b));
            _mm512_storeu_si512(low[64 * slot..64 * slot + 64].as_mut_ptr().cast(), lows);
            if digits.data > 4 {
                let (a, b) = (_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32));
                let highs = join(_mm512_cvtepi64_epi32(a), _mm512_cvtepi64_epi32(b));
                _mm512_storeu_si512(high[64 * slot..64 * slot + 64].as_mut_ptr().cast(), highs);
            }
        }
    }
}

/// One row: all diagonals of one half, accumulated over the slots.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
fn accumulate<const D: usize>(
    entries: &[u32],
    data: &[i8],
    slots: usize,
    accumulators: &mut [__m512i],
) {
    // Entries lie slot by slot, all diagonals of a slot together.
    let mut sums = [_mm512_setzero_si512(); D];
    sums.copy_from_slice(accumulators);
    for slot in 0..slots {
        let entries = &entries[slot * D..(slot + 1) * D];
        // SAFETY: 64 bytes a slot; unaligned access is allowed.
        let bytes = unsafe { _mm512_loadu_si512(data[64 * slot..64 * slot + 64].as_ptr().cast()) };
        for (sum, &entry) in sums.iter_mut().zip(entries) {
            *sum = _mm512_dpbusd_epi32(*sum, bytes, _mm512_set1_epi32(entry as i32));
        }
    }
    accumulators.copy_from_slice(&sums);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
fn accumulate_any(entries: &[u32], data: &[i8], slots: usize, accumulators: &mut [__m512i]) {
    match accumulators.len() {
        0 => {}
        1 => accumulate::<1>(entries, data, slots, accumulators),
        2 => accumulate::<2>(entries, data, slots, accumulators),
        3 => accumulate::<3>(entries, data, slots, accumulators),
        4 => accumulate::<4>(entries, data, slots, accumulators),
        5 => accumulate::<5>(entries, data, slots, accumulators),
        6 => accumulate::<6>(entries, data, slots, accumulators),
        7 => accumulate::<7>(entries, data, slots, accumulators),
        8 => accumulate::<8>(entries, data, slots, accumulators),
        9 => accumulate::<9>(entries, data, slots, accumulators),
        10 => accumulate::<10>(entries, data, slots, accumulators),
        _ => unreachable!("a half of four digits and seven matrix digits meet on ten diagonals"),
    }
}

/// Four diagonals, the most significant first, as one limb of 64 bits a lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
fn limb(diagonals: &[__m512i], output: &mut Row<16>) {
    let halves = |x: __m512i| {
        (
            _mm512_cvtepi32_epi64(_mm512_castsi512_si256(x)),
            _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(x, 1)),
        )
    };
    let (mut a, mut b) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    for &diagonal in diagonals {
        let (low, high) = halves(diagonal);
        a = _mm512_add_epi64(_mm512_slli_epi64(a, 8), low);
        b = _mm512_add_epi64(_mm512_slli_epi64(b, 8), high);
    }
    // SAFETY: a row is 128 bytes; unaligned access is allowed.
    unsafe {
        _mm512_storeu_si512(output.as_mut_ptr().cast(), a);
        _mm512_storeu_si512(output.as_mut_ptr().add(8).cast(), b);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
fn multiply(
    packed: &PackedMatrix,
    digits: Digits,
    column: &[Row<16>],
    scratch: &mut [i8],
    limbs: &mut [Row<16>],
) {
    let slots = column.len();
    split(column, digits, scratch);
    let (low, high) = scratch.split_at(64 * slots);
    let count = digits.diagonals as usize;
    for (row, limbs) in limbs.chunks_exact_mut(digits.limbs()).enumerate() {
        let mut sums = [_mm512_setzero_si512(); 14];
        for (sum, &offset) in sums.iter_mut().zip(packed.offsets(row)) {
            *sum = _mm512_set1_epi32(offset);
        }
        let (range, entries) = packed.low(row);
        accumulate_any(entries, low, slots, &mut sums[range]);
        let (range, entries) = packed.high(row);
        accumulate_any(entries, high, slots, &mut sums[range]);
        // Limbs from the least significant diagonal on; the last may hold fewer than four.
        for (g, output) in limbs.iter_mut().enumerate() {
            let end = count - 4 * g;
            limb(&sums[end.saturating_sub(4)..end], output);
        }
    }
}

impl MatrixUnit<16> for Avx512Vnni {
    #[inline(always)]
    fn enter<T: Task>(self, task: T) -> T::Output {
        // SAFETY: the constructor has seen all these features.
        unsafe { enter(task) }
    }

    #[inline(always)]
    fn multiply(
        self,
        _: &DigitMatrix,
        packed: &PackedMatrix,
        digits: Digits,
        column: &[Row<16>],
        scratch: &mut [i8],
        limbs: &mut [Row<16>],
    ) {
        // SAFETY: as above.
        unsafe { multiply(packed, digits, column, scratch, limbs) }
    }
}
