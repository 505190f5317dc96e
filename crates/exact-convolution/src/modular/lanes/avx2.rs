//! Eight lanes of AVX2. Products of 32 bits exist for every other lane; the lanes between are shifted into their places.

use super::Lanes;
use std::arch::x86_64::*;

/// Only made by [`Avx2::new`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// # Safety
    ///
    /// The processor must have AVX2.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Avx2 {
        Avx2(())
    }
}

const COUNT: usize = 8;

/// The high halves of 64-bit lanes, even ones first.
///
/// # Safety
///
/// The processor must have AVX2.
#[inline(always)]
unsafe fn high_halves(even: __m256i, odd: __m256i) -> __m256i {
    unsafe { _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(even), odd) }
}

/// Montgomery's product in the high halves of 64-bit lanes, of their low halves. Low halves of the product and of the multiple are equal, so
/// the difference of all 64 bits has that of the high halves.
///
/// # Safety
///
/// The processor must have AVX2.
#[inline(always)]
unsafe fn montgomery(a: __m256i, scaled: __m256i, quotient: __m256i, prime: __m256i) -> __m256i {
    unsafe {
        let multiple = _mm256_mul_epu32(_mm256_mul_epu32(a, quotient), prime);
        _mm256_sub_epi64(_mm256_mul_epu32(a, scaled), multiple)
    }
}

// SAFETY of all blocks below: a value of `Avx2` exists only where the processor has the instructions, and slices are cut to the
// vector's length before their pointers are used.
impl Lanes for Avx2 {
    const COUNT: usize = COUNT;
    type Vector = __m256i;
    /// Of even lanes, and of odd ones.
    type Sums = (__m256i, __m256i);

    #[inline(always)]
    fn load(self, from: &[u32]) -> __m256i {
        unsafe { _mm256_loadu_si256(from[..COUNT].as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, to: &mut [u32], vector: __m256i) {
        unsafe { _mm256_storeu_si256(to[..COUNT].as_mut_ptr().cast(), vector) }
    }

    #[inline(always)]
    fn splat(self, number: u32) -> __m256i {
        unsafe { _mm256_set1_epi32(number as i32) }
    }

    #[inline(always)]
    fn add(self, a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_add_epi32(a, b) }
    }

    #[inline(always)]
    fn subtract(self, a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_sub_epi32(a, b) }
    }

    #[inline(always)]
    fn least(self, a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_min_epu32(a, b) }
    }

    #[inline(always)]
    fn product(self, a: __m256i, scaled: __m256i, quotient: __m256i, prime: __m256i) -> __m256i {
        unsafe {
            let odd = _mm256_srli_epi64::<32>(a);
            high_halves(
                montgomery(a, scaled, quotient, prime),
                montgomery(odd, scaled, quotient, prime),
            )
        }
    }

    #[inline(always)]
    fn no_sums(self) -> (__m256i, __m256i) {
        unsafe { (_mm256_setzero_si256(), _mm256_setzero_si256()) }
    }

    #[inline(always)]
    fn accumulate(
        self,
        (even, odd): (__m256i, __m256i),
        a: __m256i,
        b: __m256i,
    ) -> (__m256i, __m256i) {
        unsafe {
            let high = _mm256_srli_epi64::<32>(b);
            (
                _mm256_add_epi64(even, _mm256_mul_epu32(a, b)),
                _mm256_add_epi64(odd, _mm256_mul_epu32(a, high)),
            )
        }
    }

    #[inline(always)]
    fn halves(
        self,
        (even, odd): (__m256i, __m256i),
        inverse: __m256i,
        prime: __m256i,
    ) -> (__m256i, __m256i) {
        unsafe {
            let (even_multiple, odd_multiple) = (
                _mm256_mul_epu32(_mm256_mul_epu32(even, inverse), prime),
                _mm256_mul_epu32(_mm256_mul_epu32(odd, inverse), prime),
            );
            (
                high_halves(even, odd),
                high_halves(even_multiple, odd_multiple),
            )
        }
    }
}
