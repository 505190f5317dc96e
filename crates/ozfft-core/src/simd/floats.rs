//! Double-precision arithmetic on rows, for the native engine and for double-double numbers. Unlike with integers, results of
//! [`Floats::multiply_add`] and [`Floats::multiply_subtract`] differ between instruction sets in the last place: products may
//! be rounded before they are added or not. All others are IEEE's.

use super::{Portable, Row, Vectors};

/// Operations on the bits of `L` double-precision numbers.
///
/// # Safety of the implementations
/// As of [`Vectors`]: callers have looked for the instructions.
pub trait Floats<const L: usize>: Vectors<L> {
    fn add_floats(a: Self::Words, b: Self::Words) -> Self::Words;
    fn subtract_floats(a: Self::Words, b: Self::Words) -> Self::Words;
    fn multiply_floats(a: Self::Words, b: Self::Words) -> Self::Words;
    /// `a · b - c`, rounded once everywhere.
    fn fused_multiply_subtract(a: Self::Words, b: Self::Words, c: Self::Words) -> Self::Words;
    /// `a · b + c`.
    fn multiply_add(a: Self::Words, b: Self::Words, c: Self::Words) -> Self::Words;
    /// `c - a · b`.
    fn multiply_subtract(a: Self::Words, b: Self::Words, c: Self::Words) -> Self::Words;
}

#[inline(always)]
fn each<const L: usize>(f: impl Fn(usize) -> f64) -> Row<L> {
    std::array::from_fn(
        #[inline(always)]
        |lane| f(lane).to_bits() as i64,
    )
}

#[inline(always)]
fn float(bits: i64) -> f64 {
    f64::from_bits(bits as u64)
}

impl<const L: usize> Floats<L> for Portable {
    #[inline(always)]
    fn add_floats(a: Row<L>, b: Row<L>) -> Row<L> {
        each(|l| float(a[l]) + float(b[l]))
    }
    #[inline(always)]
    fn subtract_floats(a: Row<L>, b: Row<L>) -> Row<L> {
        each(|l| float(a[l]) - float(b[l]))
    }
    #[inline(always)]
    fn multiply_floats(a: Row<L>, b: Row<L>) -> Row<L> {
        each(|l| float(a[l]) * float(b[l]))
    }
    #[inline(always)]
    fn fused_multiply_subtract(a: Row<L>, b: Row<L>, c: Row<L>) -> Row<L> {
        each(|l| float(a[l]).mul_add(float(b[l]), -float(c[l])))
    }
    /// Rounded twice: a fused operation is a function call where the processor has none.
    #[inline(always)]
    fn multiply_add(a: Row<L>, b: Row<L>, c: Row<L>) -> Row<L> {
        each(|l| float(a[l]) * float(b[l]) + float(c[l]))
    }
    #[inline(always)]
    fn multiply_subtract(a: Row<L>, b: Row<L>, c: Row<L>) -> Row<L> {
        each(|l| float(c[l]) - float(a[l]) * float(b[l]))
    }
}

/// The same instructions under two names.
#[cfg(vector_unit)]
macro_rules! vector_floats {
    ($unit:ty, $lanes:literal, $words:ty, $to:ident, $from:ident, $add:ident, $subtract:ident, $multiply:ident, $fused:ident, $multiply_add:ident, $multiply_subtract:ident) => {
        impl Floats<$lanes> for $unit {
            // SAFETY of all: arithmetic in registers; callers have looked for the instructions.
            #[inline(always)]
            fn add_floats(a: $words, b: $words) -> $words {
                unsafe { $from($add($to(a), $to(b))) }
            }
            #[inline(always)]
            fn subtract_floats(a: $words, b: $words) -> $words {
                unsafe { $from($subtract($to(a), $to(b))) }
            }
            #[inline(always)]
            fn multiply_floats(a: $words, b: $words) -> $words {
                unsafe { $from($multiply($to(a), $to(b))) }
            }
            #[inline(always)]
            fn fused_multiply_subtract(a: $words, b: $words, c: $words) -> $words {
                unsafe { $from($fused($to(a), $to(b), $to(c))) }
            }
            #[inline(always)]
            fn multiply_add(a: $words, b: $words, c: $words) -> $words {
                unsafe { $from($multiply_add($to(a), $to(b), $to(c))) }
            }
            #[inline(always)]
            fn multiply_subtract(a: $words, b: $words, c: $words) -> $words {
                unsafe { $from($multiply_subtract($to(a), $to(b), $to(c))) }
            }
        }
    };
}

#[cfg(vector_unit)]
mod vectors {
    use super::Floats;
    use crate::simd::{Avx2, Avx512};
    use std::arch::x86_64::*;

    vector_floats!(
        Avx2,
        4,
        __m256i,
        _mm256_castsi256_pd,
        _mm256_castpd_si256,
        _mm256_add_pd,
        _mm256_sub_pd,
        _mm256_mul_pd,
        _mm256_fmsub_pd,
        _mm256_fmadd_pd,
        _mm256_fnmadd_pd
    );
    vector_floats!(
        Avx512,
        8,
        __m512i,
        _mm512_castsi512_pd,
        _mm512_castpd_si512,
        _mm512_add_pd,
        _mm512_sub_pd,
        _mm512_mul_pd,
        _mm512_fmsub_pd,
        _mm512_fmadd_pd,
        _mm512_fnmadd_pd
    );
}
