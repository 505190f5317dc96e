//! Sixteen lanes of AVX-512.

use super::Lanes;
use std::arch::x86_64::*;

/// Only made by [`Avx512::new`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// # Safety
    ///
    /// The processor must have AVX-512 F.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Avx512 {
        Avx512(())
    }
}

const COUNT: usize = 16;

/// The high halves of 64-bit lanes, even ones first.
///
/// # Safety
///
/// The processor must have AVX-512 F.
#[inline(always)]
unsafe fn high_halves(even: __m512i, odd: __m512i) -> __m512i {
    unsafe {
        let (even, odd) = (_mm512_castsi512_ps(even), _mm512_castsi512_ps(odd));
        _mm512_castps_si512(_mm512_mask_movehdup_ps(odd, 0x5555, even))
    }
}

/// Montgomery's product in the high halves of 64-bit lanes, of their low halves. Low halves of the product and of the multiple are equal, so
/// the difference of all 64 bits has that of the high halves.
///
/// # Safety
///
/// The processor must have AVX-512 F.
#[inline(always)]
unsafe fn montgomery(a: __m512i, scaled: __m512i, quotient: __m512i, prime: __m512i) -> __m512i {
    unsafe {
        let multiple = _mm512_mul_epu32(_mm512_mul_epu32(a, quotient), prime);
        _mm512_sub_epi64(_mm512_mul_epu32(a, scaled), multiple)
    }
}

// SAFETY of all blocks below: a value of `Avx512` exists only where the processor has the instructions, and slices are cut to the
// vector's length before their pointers are used.
impl Lanes for Avx512 {
    const COUNT: usize = COUNT;
    type Vector = __m512i;
    /// Of even lanes, and of odd ones.
    type Sums = (__m512i, __m512i);

    #[inline(always)]
    fn load(self, from: &[u32]) -> __m512i {
        unsafe { _mm512_loadu_si512(from[..COUNT].as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, to: &mut [u32], vector: __m512i) {
        unsafe { _mm512_storeu_si512(to[..COUNT].as_mut_ptr().cast(), vector) }
    }

    #[inline(always)]
    fn splat(self, number: u32) -> __m512i {
        unsafe { _mm512_set1_epi32(number as i32) }
    }

    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_add_epi32(a, b) }
    }

    #[inline(always)]
    fn subtract(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_sub_epi32(a, b) }
    }

    #[inline(always)]
    fn least(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_min_epu32(a, b) }
    }

    #[inline(always)]
    fn product(self, a: __m512i, scaled: __m512i, quotient: __m512i, prime: __m512i) -> __m512i {
        unsafe {
            let odd = _mm512_srli_epi64::<32>(a);
            high_halves(
                montgomery(a, scaled, quotient, prime),
                montgomery(odd, scaled, quotient, prime),
            )
        }
    }

    #[inline(always)]
    fn no_sums(self) -> (__m512i, __m512i) {
        unsafe { (_mm512_setzero_si512(), _mm512_setzero_si512()) }
    }

    #[inline(always)]
    fn accumulate(
        self,
        (even, odd): (__m512i, __m512i),
        a: __m512i,
        b: __m512i,
    ) -> (__m512i, __m512i) {
        unsafe {
            let high = _mm512_srli_epi64::<32>(b);
            (
                _mm512_add_epi64(even, _mm512_mul_epu32(a, b)),
                _mm512_add_epi64(odd, _mm512_mul_epu32(a, high)),
            )
        }
    }

    #[inline(always)]
    fn halves(
        self,
        (even, odd): (__m512i, __m512i),
        inverse: __m512i,
        prime: __m512i,
    ) -> (__m512i, __m512i) {
        unsafe {
            let (even_multiple, odd_multiple) = (
                _mm512_mul_epu32(_mm512_mul_epu32(even, inverse), prime),
                _mm512_mul_epu32(_mm512_mul_epu32(odd, inverse), prime),
            );
            (
                high_halves(even, odd),
                high_halves(even_multiple, odd_multiple),
            )
        }
    }
}
