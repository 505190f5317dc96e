//! AVX512-BF16: VDPBF16PS adds the products of two pairs to a sum, 16 columns at a time.

use super::{MatrixUnit, Order, Shape, Term};
use std::arch::x86_64::*;
use std::mem::transmute;

/// Proof that the processor has the instruction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx512Bf16(());

impl Avx512Bf16 {
    pub(super) fn new() -> Option<Self> {
        let there = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bf16");
        there.then_some(Avx512Bf16(()))
    }
}

/// Sums of `R` rows and `16 · C` columns from all terms.
///
/// # Safety
/// The processor has the features; all rows and columns lie within the arrays ([`Shape::check`]).
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn block<const R: usize, const C: usize>(
    shape: &Shape,
    terms: &[Term<'_>],
    (row, column): (usize, usize),
    sums: &mut [f32],
) {
    let mut totals = [[_mm512_setzero_ps(); C]; R];
    for term in terms {
        // SAFETY: the caller's promise; likewise below.
        let left = unsafe { term.left.as_ptr().add(row * shape.left_pitch) };
        let right = unsafe { term.right.as_ptr().add(column) };
        for pair in 0..shape.pairs {
            let mut entries = [_mm512_setzero_si512(); C];
            for (c, entries) in entries.iter_mut().enumerate() {
                let from = unsafe { right.add(pair * shape.right_pitch + 16 * c) };
                *entries = unsafe { _mm512_loadu_si512(from.cast()) };
            }
            for (r, totals) in totals.iter_mut().enumerate() {
                let value = unsafe { *left.add(r * shape.left_pitch + pair) };
                let value = _mm512_set1_epi32(value as i32);
                for (total, &entries) in totals.iter_mut().zip(&entries) {
                    // SAFETY: both are 64 bytes of which any are bf16 numbers.
                    let (value, entries) = unsafe {
                        (
                            transmute::<__m512i, __m512bh>(value),
                            transmute::<__m512i, __m512bh>(entries),
                        )
                    };
                    *total = _mm512_dpbf16_ps(*total, value, entries);
                }
            }
        }
    }
    for (r, totals) in totals.iter().enumerate() {
        for (c, &total) in totals.iter().enumerate() {
            let to = (row + r) * shape.sums_pitch + column + 16 * c;
            // SAFETY: as above.
            unsafe { _mm512_storeu_ps(sums.as_mut_ptr().add(to), total) };
        }
    }
}

impl MatrixUnit for Avx512Bf16 {
    fn name(&self) -> &str {
        "avx512_bf16"
    }

    fn order(&self) -> Order {
        Order::Pairs
    }

    fn multiply(&self, shape: &Shape, terms: &[Term<'_>], sums: &mut [f32]) {
        shape.check(terms, sums);
        let mut column = 0;
        while column < shape.columns {
            let columns = shape.columns - column;
            // SAFETY: the features were found, the arrays were checked, and rows and columns are multiples of 16.
            unsafe {
                if columns >= 64 {
                    for row in (0..shape.rows).step_by(4) {
                        block::<4, 4>(shape, terms, (row, column), sums);
                    }
                    column += 64;
                } else if columns >= 32 {
                    for row in (0..shape.rows).step_by(8) {
                        block::<8, 2>(shape, terms, (row, column), sums);
                    }
                    column += 32;
                } else {
                    for row in (0..shape.rows).step_by(16) {
                        block::<16, 1>(shape, terms, (row, column), sums);
                    }
                    column += 16;
                }
            }
        }
    }
}
