//! Eight lanes with AVX-512.

// Values of this type are made only in functions that were entered after the processor had been asked for these
// instructions, and everything here is inlined into them: that is why every call below is sound.
#![allow(unsafe_code)]

use super::{Lanes, MOST_LANES};
use core::arch::x86_64::*;

#[derive(Clone, Copy)]
pub(crate) struct Avx512Lanes(__m512d);

impl Lanes for Avx512Lanes {
    const COUNT: usize = 8;
    type Bits = __m512i;

    #[inline(always)]
    fn load(values: &[f64]) -> Self {
        let values = &values[..Self::COUNT];
        // SAFETY: there are as many numbers as the instruction reads, and it needs no alignment.
        Avx512Lanes(unsafe { _mm512_loadu_pd(values.as_ptr()) })
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
        Avx512Lanes(unsafe { _mm512_set1_pd(value) })
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: see above.
        Avx512Lanes(unsafe { _mm512_add_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        // SAFETY: see above.
        Avx512Lanes(unsafe { _mm512_sub_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        // SAFETY: see above.
        Avx512Lanes(unsafe { _mm512_mul_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn product_rest(self, other: Self, product: Self) -> Self {
        // SAFETY: see above.
        Avx512Lanes(unsafe { _mm512_fmsub_pd(self.0, other.0, product.0) })
    }

    #[inline(always)]
    fn magnitude(self) -> Self {
        // SAFETY: see above.
        Avx512Lanes(unsafe { _mm512_abs_pd(self.0) })
    }

    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        // SAFETY: see above.
        Avx512Lanes(unsafe { _mm512_min_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        // SAFETY: see above.
        Avx512Lanes(unsafe { _mm512_max_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn bits(self) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_castpd_si512(self.0) }
    }

    #[inline(always)]
    fn no_bits() -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    fn add_bits(left: __m512i, right: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_add_epi64(left, right) }
    }

    #[inline(always)]
    fn or_bits(left: __m512i, right: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_or_si512(left, right) }
    }

    #[inline(always)]
    fn or_difference(collected: __m512i, left: __m512i, right: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_ternarylogic_epi64::<0xf6>(collected, left, right) }
    }

    #[inline(always)]
    fn bits_to_array(bits: __m512i) -> [u64; MOST_LANES] {
        let mut array = [0; MOST_LANES];
        // SAFETY: see above; the array is large enough, and the instruction needs no alignment.
        unsafe { _mm512_storeu_si512(array.as_mut_ptr().cast(), bits) };
        array
    }
}
