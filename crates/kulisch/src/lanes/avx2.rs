//! Four lanes with AVX2 and FMA.

// Values of this type are made only in functions that were entered after the processor had been asked for these
// instructions, and everything here is inlined into them: that is why every call below is sound.
#![allow(unsafe_code)]

use super::{Lanes, MOST_LANES};
use core::arch::x86_64::*;

#[derive(Clone, Copy)]
pub(crate) struct Avx2Lanes(__m256d);

impl Lanes for Avx2Lanes {
    const COUNT: usize = 4;
    type Bits = __m256i;

    #[inline(always)]
    fn load(values: &[f64]) -> Self {
        let values = &values[..Self::COUNT];
        // SAFETY: there are as many numbers as the instruction reads, and it needs no alignment.
        Avx2Lanes(unsafe { _mm256_loadu_pd(values.as_ptr()) })
    }

    #[inline(always)]
    fn prefetch(values: &[f64]) {
        let ahead = values.as_ptr().wrapping_add(super::PREFETCHED);
        // SAFETY: a hint, which may name any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(ahead.cast()) };
    }

    #[inline(always)]
    fn splat(value: f64) -> Self {
        // SAFETY: see above.
        Avx2Lanes(unsafe { _mm256_set1_pd(value) })
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: see above.
        Avx2Lanes(unsafe { _mm256_add_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        // SAFETY: see above.
        Avx2Lanes(unsafe { _mm256_sub_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        // SAFETY: see above.
        Avx2Lanes(unsafe { _mm256_mul_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn product_rest(self, other: Self, product: Self) -> Self {
        // SAFETY: see above.
        Avx2Lanes(unsafe { _mm256_fmsub_pd(self.0, other.0, product.0) })
    }

    #[inline(always)]
    fn magnitude(self) -> Self {
        // SAFETY: see above.
        Avx2Lanes(unsafe { _mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0) })
    }

    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        // SAFETY: see above.
        Avx2Lanes(unsafe { _mm256_min_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        // SAFETY: see above.
        Avx2Lanes(unsafe { _mm256_max_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn bits(self) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_castpd_si256(self.0) }
    }

    #[inline(always)]
    fn no_bits() -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_setzero_si256() }
    }

    #[inline(always)]
    fn add_bits(left: __m256i, right: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_add_epi64(left, right) }
    }

    #[inline(always)]
    fn or_bits(left: __m256i, right: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_or_si256(left, right) }
    }

    #[inline(always)]
    fn or_difference(collected: __m256i, left: __m256i, right: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_or_si256(collected, _mm256_xor_si256(left, right)) }
    }

    #[inline(always)]
    fn bits_to_array(bits: __m256i) -> [u64; MOST_LANES] {
        let mut array = [0; MOST_LANES];
        // SAFETY: see above; the array is large enough, and the instruction needs no alignment.
        unsafe { _mm256_storeu_si256(array.as_mut_ptr().cast(), bits) };
        array
    }
}
