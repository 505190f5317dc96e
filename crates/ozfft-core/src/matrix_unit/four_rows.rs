//! What the portable unit does with four rows side by side: with the instructions that every 64-bit x86 processor has, which the
//! compiler does not find by itself, and in plain Rust everywhere else.

use bytemuck::{Pod, Zeroable};

/// Rows of a matrix that are multiplied side by side.
pub(super) const ROWS: usize = 4;

/// Pairs of neighbouring digits: all of one word, or the entries of every row.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(16))]
pub(super) struct DigitPairs(pub(super) [[i16; 2]; 4]);

/// Sums of every row.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(16))]
pub(super) struct RowSums(pub(super) [i32; ROWS]);

#[cfg(target_arch = "x86_64")]
mod instructions {
    use super::{DigitPairs, ROWS, RowSums};
    use bytemuck::cast;
    use std::arch::x86_64::*;

    // SAFETY, of all of them: SSE2 belongs to the architecture.
    impl DigitPairs {
        #[inline(always)]
        pub(in super::super) fn plus(self, other: Self) -> Self {
            cast(unsafe { _mm_add_epi16(cast(self), cast(other)) })
        }
        #[inline(always)]
        pub(in super::super) fn minus(self, other: Self) -> Self {
            cast(unsafe { _mm_sub_epi16(cast(self), cast(other)) })
        }
    }

    impl RowSums {
        #[inline(always)]
        pub(in super::super) fn plus(self, other: Self) -> Self {
            cast(unsafe { _mm_add_epi32(cast(self), cast(other)) })
        }
        #[inline(always)]
        pub(in super::super) fn minus(self, other: Self) -> Self {
            cast(unsafe { _mm_sub_epi32(cast(self), cast(other)) })
        }
        /// Adds every row's two products.
        #[inline(always)]
        pub(in super::super) fn plus_products(self, a: DigitPairs, b: DigitPairs) -> Self {
            self.plus(cast(unsafe { _mm_madd_epi16(cast(a), cast(b)) }))
        }
        /// The numbers of every row in both.
        #[inline(always)]
        pub(in super::super) fn by_row(self, other: Self) -> [[i32; 2]; ROWS] {
            let (a, b) = (cast(self), cast(other));
            cast(unsafe { [_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b)] })
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod instructions {
    use super::{DigitPairs, ROWS, RowSums};
    use std::array::from_fn;

    impl DigitPairs {
        #[inline(always)]
        pub(in super::super) fn plus(self, other: Self) -> Self {
            let sum = |i: usize, digit: usize| self.0[i][digit].wrapping_add(other.0[i][digit]);
            DigitPairs(from_fn(|i| [sum(i, 0), sum(i, 1)]))
        }
        #[inline(always)]
        pub(in super::super) fn minus(self, other: Self) -> Self {
            let sum = |i: usize, digit: usize| self.0[i][digit].wrapping_sub(other.0[i][digit]);
            DigitPairs(from_fn(|i| [sum(i, 0), sum(i, 1)]))
        }
    }

    impl RowSums {
        #[inline(always)]
        pub(in super::super) fn plus(self, other: Self) -> Self {
            RowSums(from_fn(|row| self.0[row].wrapping_add(other.0[row])))
        }
        #[inline(always)]
        pub(in super::super) fn minus(self, other: Self) -> Self {
            RowSums(from_fn(|row| self.0[row].wrapping_sub(other.0[row])))
        }
        /// Adds every row's two products.
        #[inline(always)]
        pub(in super::super) fn plus_products(self, a: DigitPairs, b: DigitPairs) -> Self {
            let product =
                |row: usize, digit: usize| i32::from(a.0[row][digit]) * i32::from(b.0[row][digit]);
            RowSums(from_fn(|row| {
                let sum = self.0[row].wrapping_add(product(row, 0));
                sum.wrapping_add(product(row, 1))
            }))
        }
        /// The numbers of every row in both.
        #[inline(always)]
        pub(in super::super) fn by_row(self, other: Self) -> [[i32; 2]; ROWS] {
            from_fn(|row| [self.0[row], other.0[row]])
        }
    }
}
