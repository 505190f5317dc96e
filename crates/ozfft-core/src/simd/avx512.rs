//! Eight lanes in the 512-bit registers of AVX-512.

use super::{HalfRow, Pair, Row, Vectors, inlined};
use std::arch::x86_64::*;

/// AVX-512 F, BW, DQ, VL and CD.
#[derive(Clone, Copy)]
pub struct Avx512;

/// Even positions of 16, where the real parts are.
const EVEN: __mmask16 = 0x5555;
const ODD: __mmask16 = 0xaaaa;
const TOWARDS_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
const UPWARDS: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
const DOWNWARDS: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;

/// The bits of 2^52: adding it to a smaller non-negative number leaves the integer part in the low bits.
const TWO_TO_52: i64 = 0x4330_0000_0000_0000;

/// The bits of 2^23 in single precision, to the same end.
const TWO_TO_23: i32 = 0x4b00_0000;

#[inline(always)]
fn single(x: __m512i) -> __m512 {
    // SAFETY: a cast; the unit's constructor has seen AVX-512.
    unsafe { _mm512_castsi512_ps(x) }
}

#[inline(always)]
fn single_bits(x: __m512) -> __m512i {
    // SAFETY: as above.
    unsafe { _mm512_castps_si512(x) }
}

#[inline(always)]
fn float(x: __m512i) -> __m512d {
    // SAFETY: a cast; the unit's constructor has seen AVX-512.
    unsafe { _mm512_castsi512_pd(x) }
}

#[inline(always)]
fn bits(x: __m512d) -> __m512i {
    // SAFETY: as above.
    unsafe { _mm512_castpd_si512(x) }
}

/// Complex numbers one after the other as real and imaginary parts.
#[inline(always)]
fn apart(a: __m512d, b: __m512d) -> Pair<__m512i> {
    // SAFETY: as above.
    unsafe {
        let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
        let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
        (
            bits(_mm512_permutex2var_pd(a, even, b)),
            bits(_mm512_permutex2var_pd(a, odd, b)),
        )
    }
}

/// The inverse.
#[inline(always)]
fn alternating(re: __m512i, im: __m512i) -> (__m512d, __m512d) {
    // SAFETY: as above.
    unsafe {
        let front = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
        let back = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
        let (re, im) = (float(re), float(im));
        (
            _mm512_permutex2var_pd(re, front, im),
            _mm512_permutex2var_pd(re, back, im),
        )
    }
}

/// Which numbers of two registers belong to the first `count` complex ones.
#[inline(always)]
fn masks(count: usize) -> (__mmask8, __mmask8) {
    assert!(0 < count && count <= 8);
    let [front, back, ..] = ((1u32 << (2 * count)) - 1).to_le_bytes();
    (front, back)
}

/// Quarters of 128 bits of two registers: the even ones of both halves, and the odd ones.
#[inline(always)]
fn interleave_quarters(a: __m512d, b: __m512d) -> [__m512d; 2] {
    // SAFETY: as above.
    unsafe {
        let even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
        let odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
        [
            _mm512_permutex2var_pd(a, even, b),
            _mm512_permutex2var_pd(a, odd, b),
        ]
    }
}

// SAFETY of every block below: the instructions are there, because a unit that names these vectors can only be
// constructed where they are; rows and half rows are 64 bytes, and unaligned access is allowed.
impl Vectors<8> for Avx512 {
    type Words = __m512i;
    type Halves = __m512i;

    #[inline(always)]
    fn load(row: &Row<8>) -> __m512i {
        unsafe { _mm512_loadu_si512(row.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store(words: __m512i, row: &mut Row<8>) {
        unsafe { _mm512_storeu_si512(row.as_mut_ptr().cast(), words) }
    }
    #[inline(always)]
    fn splat(value: i64) -> __m512i {
        unsafe { _mm512_set1_epi64(value) }
    }
    #[inline(always)]
    fn splat_low(value: i32) -> __m512i {
        unsafe { _mm512_set1_epi32(value) }
    }
    #[inline(always)]
    fn add(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_add_epi64(a, b) }
    }
    #[inline(always)]
    fn subtract(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_sub_epi64(a, b) }
    }
    #[inline(always)]
    fn and(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_and_si512(a, b) }
    }
    #[inline(always)]
    fn or(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_or_si512(a, b) }
    }
    #[inline(always)]
    fn xor(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_xor_si512(a, b) }
    }
    #[inline(always)]
    fn maximum(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_max_epi64(a, b) }
    }
    #[inline(always)]
    fn leading_maximum(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_max_epu32(a, b) }
    }
    #[inline(always)]
    fn all_negative(a: __m512i) -> bool {
        unsafe { _mm512_movepi64_mask(a) == 0xff }
    }
    #[inline(always)]
    fn shift_left(a: __m512i, count: u32) -> __m512i {
        unsafe { _mm512_sllv_epi64(a, _mm512_set1_epi64(i64::from(count))) }
    }
    #[inline(always)]
    fn shift_right(a: __m512i, count: u32) -> __m512i {
        unsafe { _mm512_srav_epi64(a, _mm512_set1_epi64(i64::from(count))) }
    }
    #[inline(always)]
    fn shift_left_each(a: __m512i, counts: __m512i) -> __m512i {
        unsafe { _mm512_sllv_epi64(a, counts) }
    }
    #[inline(always)]
    fn shift_right_each(a: __m512i, counts: __m512i) -> __m512i {
        unsafe { _mm512_srlv_epi64(a, counts) }
    }
    #[inline(always)]
    fn leading_zeros(a: __m512i) -> __m512i {
        unsafe { _mm512_lzcnt_epi64(a) }
    }
    #[inline(always)]
    fn largest(a: __m512i) -> i64 {
        unsafe { _mm512_reduce_max_epi64(a) }
    }
    #[inline(always)]
    fn total(a: __m512i) -> i64 {
        unsafe { _mm512_reduce_add_epi64(a) }
    }
    #[inline(always)]
    fn reversed(a: __m512i) -> __m512i {
        unsafe { _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), a) }
    }
    #[inline(always)]
    fn reversed_after_first(a: __m512i) -> __m512i {
        unsafe { _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 7, 6, 5, 4, 3, 2, 1), a) }
    }
    #[inline(always)]
    fn reversed_pairs(a: __m512i) -> __m512i {
        unsafe { _mm512_shuffle_i64x2::<0x1b>(a, a) }
    }
    #[inline(always)]
    fn multiply_low(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_mul_epi32(a, b) }
    }

    #[inline(always)]
    unsafe fn gather(table: &[i64], places: __m512i) -> __m512i {
        unsafe { _mm512_i64gather_epi64::<8>(places, table.as_ptr().cast()) }
    }

    #[inline(always)]
    fn load_halves(row: &HalfRow<8>) -> __m512i {
        unsafe { _mm512_loadu_si512(row.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store_halves(halves: __m512i, row: &mut HalfRow<8>) {
        unsafe { _mm512_storeu_si512(row.as_mut_ptr().cast(), halves) }
    }
    #[inline(always)]
    fn splat_halves(value: i32) -> __m512i {
        unsafe { _mm512_set1_epi32(value) }
    }
    #[inline(always)]
    fn add_halves(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_add_epi32(a, b) }
    }
    #[inline(always)]
    fn subtract_halves(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_sub_epi32(a, b) }
    }
    #[inline(always)]
    fn or_halves(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_or_si512(a, b) }
    }
    #[inline(always)]
    fn shift_halves_left(a: __m512i, count: u32) -> __m512i {
        unsafe { _mm512_sllv_epi32(a, _mm512_set1_epi32(count as i32)) }
    }
    #[inline(always)]
    fn shift_halves_right(a: __m512i, count: u32) -> __m512i {
        unsafe { _mm512_srav_epi32(a, _mm512_set1_epi32(count as i32)) }
    }
    #[inline(always)]
    fn shift_halves_right_zero(a: __m512i, count: u32) -> __m512i {
        unsafe { _mm512_srlv_epi32(a, _mm512_set1_epi32(count as i32)) }
    }
    #[inline(always)]
    fn join_places(high: __m512i, low: __m512i) -> __m512i {
        unsafe { _mm512_mask_blend_epi16(0x5555_5555, _mm512_slli_epi32::<16>(high), low) }
    }
    #[inline(always)]
    fn swap_halves(a: __m512i) -> __m512i {
        unsafe { _mm512_shuffle_epi32::<0xb1>(a) }
    }
    #[inline(always)]
    fn join(low: __m512i, high: __m512i) -> Pair<__m512i> {
        unsafe {
            (
                _mm512_mask_shuffle_epi32::<0xa0>(low, ODD, high),
                _mm512_mask_shuffle_epi32::<0xf5>(high, EVEN, low),
            )
        }
    }
    #[inline(always)]
    fn split(re: __m512i, im: __m512i) -> (__m512i, __m512i) {
        // The same exchange of odd and even positions, which undoes itself.
        Self::join(re, im)
    }

    #[inline(always)]
    fn and_halves(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_and_si512(a, b) }
    }
    #[inline(always)]
    fn xor_halves(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_xor_si512(a, b) }
    }
    #[inline(always)]
    fn maximum_halves(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_max_epi32(a, b) }
    }
    #[inline(always)]
    fn mix_halves(re: __m512i, im: __m512i) -> __m512i {
        unsafe { _mm512_mask_blend_epi32(ODD, re, im) }
    }
    #[inline(always)]
    fn rotate_halves(y: __m512i, real: i32, imaginary: i32) -> __m512i {
        unsafe {
            let swapped = _mm512_shuffle_epi32::<0xb1>(y);
            let (real, imaginary) = (_mm512_set1_epi32(real), _mm512_set1_epi32(imaginary));
            let half = _mm512_set1_epi64(1 << 29);
            // Products of even positions: real parts of what was given, imaginary parts of what was exchanged.
            let re = _mm512_sub_epi64(
                _mm512_mul_epi32(y, real),
                _mm512_mul_epi32(swapped, imaginary),
            );
            let im = _mm512_add_epi64(
                _mm512_mul_epi32(y, imaginary),
                _mm512_mul_epi32(swapped, real),
            );
            let re = _mm512_srli_epi64::<30>(_mm512_add_epi64(re, half));
            let im = _mm512_slli_epi64::<2>(_mm512_add_epi64(im, half));
            _mm512_mask_blend_epi32(ODD, re, im)
        }
    }
    #[inline(always)]
    fn widen_halves(a: __m512i) -> Pair<__m512i> {
        unsafe {
            (
                _mm512_srai_epi64::<32>(_mm512_slli_epi64::<32>(a)),
                _mm512_srai_epi64::<32>(a),
            )
        }
    }
    #[inline(always)]
    fn halves_of_words(a: __m512i) -> __m512i {
        a
    }
    #[inline(always)]
    fn words_of_halves(a: __m512i) -> __m512i {
        a
    }

    const FLOOR_SINGLE_BIAS: i32 = TWO_TO_23;
    #[inline(always)]
    fn floor_magnitude_single(x: __m512i, scale: __m512i) -> __m512i {
        unsafe {
            let magnitude = _mm512_abs_ps(single(x));
            let offset = single(_mm512_set1_epi32(TWO_TO_23));
            single_bits(_mm512_fmadd_round_ps::<TOWARDS_ZERO>(
                magnitude,
                single(scale),
                offset,
            ))
        }
    }
    /// As [`Vectors::round_scaled`]: numbers of 2^23 and more are integers.
    #[inline(always)]
    fn round_scaled_single(x: __m512i, scale: __m512i) -> __m512i {
        unsafe {
            let half = _mm512_set1_epi32(0.5f32.to_bits() as i32);
            let sign = _mm512_set1_epi32(i32::MIN);
            // half | (x & sign)
            let half = _mm512_ternarylogic_epi32::<0xf8>(half, x, sign);
            _mm512_cvttps_epi32(_mm512_fmadd_round_ps::<TOWARDS_ZERO>(
                single(x),
                single(scale),
                single(half),
            ))
        }
    }
    #[inline(always)]
    fn integers_to_single(x: __m512i, scale: __m512i) -> __m512i {
        unsafe { single_bits(_mm512_mul_ps(_mm512_cvtepi32_ps(x), single(scale))) }
    }
    #[inline(always)]
    fn integers_to_double(x: __m512i, scale: __m512i) -> __m512i {
        unsafe { bits(_mm512_mul_pd(_mm512_cvtepi64_pd(x), float(scale))) }
    }
    #[inline(always)]
    fn words_to_double(x: __m512i, scale: __m512i) -> __m512i {
        // The conversion rounds, and a power of two does not.
        Self::integers_to_double(x, scale)
    }
    #[inline(always)]
    fn widen_single(x: __m512i) -> Pair<__m512i> {
        let lower = inlined(
            #[inline(always)]
            |x| unsafe {
                let numbers = _mm256_castsi256_ps(_mm512_cvtepi64_epi32(x));
                bits(_mm512_cvtps_pd(numbers))
            },
        );
        (lower(x), lower(unsafe { _mm512_srli_epi64::<32>(x) }))
    }
    #[inline(always)]
    fn narrow_to_single(re: __m512i, im: __m512i) -> __m512i {
        unsafe {
            let re = _mm256_castps_si256(_mm512_cvtpd_ps(float(re)));
            let im = _mm256_castps_si256(_mm512_cvtpd_ps(float(im)));
            let both = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(re), im);
            let alternating =
                _mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
            _mm512_permutexvar_epi32(alternating, both)
        }
    }

    const FLOOR_BIAS: i64 = TWO_TO_52;
    #[inline(always)]
    fn floor_magnitude(x: __m512i, scale: __m512i) -> __m512i {
        unsafe {
            let magnitude = _mm512_abs_pd(float(x));
            let offset = float(_mm512_set1_epi64(TWO_TO_52));
            bits(_mm512_fmadd_round_pd::<TOWARDS_ZERO>(
                magnitude,
                float(scale),
                offset,
            ))
        }
    }
    /// Adding a half of the number's sign, towards zero, and cutting off the fraction rounds halves away from zero:
    /// numbers of 2^52 and more are integers, and towards zero no sum reaches an integer that it should not.
    #[inline(always)]
    fn round_scaled(x: __m512i, scale: __m512i, _: __m512i) -> __m512i {
        unsafe {
            let half = _mm512_set1_epi64(0.5f64.to_bits() as i64);
            let sign = _mm512_set1_epi64(i64::MIN);
            // half | (x & sign)
            let half = _mm512_ternarylogic_epi64::<0xf8>(half, x, sign);
            let sum = _mm512_fmadd_round_pd::<TOWARDS_ZERO>(float(x), float(scale), float(half));
            _mm512_cvttpd_epi64(sum)
        }
    }
    #[inline(always)]
    fn to_double(high: __m512i, low: __m512i, high_scale: __m512i, low_scale: __m512i) -> __m512i {
        unsafe {
            let low = _mm512_mul_pd(_mm512_cvtepi64_pd(low), float(low_scale));
            bits(_mm512_fmadd_pd(
                _mm512_cvtepi64_pd(high),
                float(high_scale),
                low,
            ))
        }
    }
    /// Rounded to odd in double precision, then to nearest: double precision has more than two bits to spare.
    #[inline(always)]
    fn to_single(high: __m512i, low: __m512i, high_scale: __m512i, low_scale: __m512i) -> __m512i {
        unsafe {
            let low = _mm512_mul_pd(_mm512_cvtepi64_pd(low), float(low_scale));
            let (high, scale) = (_mm512_cvtepi64_pd(high), float(high_scale));
            let up = _mm512_fmadd_round_pd::<UPWARDS>(high, scale, low);
            let down = _mm512_fmadd_round_pd::<DOWNWARDS>(high, scale, low);
            let cut = bits(_mm512_fmadd_round_pd::<TOWARDS_ZERO>(high, scale, low));
            let inexact = _mm512_cmp_pd_mask::<_CMP_NEQ_UQ>(up, down);
            let odd = _mm512_mask_or_epi64(cut, inexact, cut, _mm512_set1_epi64(1));
            bits(_mm512_cvtps_pd(_mm512_cvtpd_ps(float(odd))))
        }
    }

    #[inline(always)]
    unsafe fn load_neighbours(start: *const f64) -> Pair<__m512i> {
        unsafe { apart(_mm512_loadu_pd(start), _mm512_loadu_pd(start.add(8))) }
    }
    #[inline(always)]
    unsafe fn store_neighbours(start: *mut f64, re: __m512i, im: __m512i) {
        unsafe {
            let (front, back) = alternating(re, im);
            _mm512_storeu_pd(start, front);
            _mm512_storeu_pd(start.add(8), back);
        }
    }
    #[inline(always)]
    unsafe fn load_some_neighbours(start: *const f64, count: usize) -> Pair<__m512i> {
        let (front, back) = masks(count);
        unsafe {
            let first = float(_mm512_broadcast_i32x4(_mm_loadu_si128(start.cast())));
            apart(
                _mm512_mask_loadu_pd(first, front, start),
                _mm512_mask_loadu_pd(first, back, start.wrapping_add(8)),
            )
        }
    }
    #[inline(always)]
    unsafe fn store_some_neighbours(start: *mut f64, count: usize, re: __m512i, im: __m512i) {
        let (before, after) = masks(count);
        unsafe {
            let (front, back) = alternating(re, im);
            _mm512_mask_storeu_pd(start, before, front);
            _mm512_mask_storeu_pd(start.wrapping_add(8), after, back);
        }
    }
    /// Half rows are put together as they are read, which no shuffle is needed for: there is one port for those.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)]
    unsafe fn load_lines(starts: &[*const f64; 8], mut element: impl FnMut(usize, __m512i)) {
        for half in 0..2 {
            // Four numbers of a line, and of the one four lanes on.
            let rows = inlined(
                #[inline(always)]
                |lane: usize| unsafe {
                    let front = _mm256_loadu_pd(starts[lane].add(4 * half));
                    let back = _mm256_loadu_pd(starts[lane + 4].add(4 * half));
                    _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(front), back)
                },
            );
            let (r0, r1, r2, r3) = (rows(0), rows(1), rows(2), rows(3));
            let (even, odd) = unsafe {
                (
                    interleave_quarters(_mm512_unpacklo_pd(r0, r1), _mm512_unpacklo_pd(r2, r3)),
                    interleave_quarters(_mm512_unpackhi_pd(r0, r1), _mm512_unpackhi_pd(r2, r3)),
                )
            };
            // By number: an iterator would take the columns through memory.
            for i in 0..2 {
                element(4 * half + 2 * i, bits(even[i]));
                element(4 * half + 2 * i + 1, bits(odd[i]));
            }
        }
    }
    /// The other way round: half rows are written.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)]
    unsafe fn store_lines(starts: &[*mut f64; 8], mut element: impl FnMut(usize) -> __m512i) {
        for half in 0..2 {
            let mut column = inlined(
                #[inline(always)]
                |i: usize| float(element(4 * half + i)),
            );
            let (c0, c1, c2, c3) = (column(0), column(1), column(2), column(3));
            // Numbers 0 and 1, and 2 and 3, of every other lane.
            let (even, odd) = unsafe {
                (
                    interleave_quarters(_mm512_unpacklo_pd(c0, c1), _mm512_unpacklo_pd(c2, c3)),
                    interleave_quarters(_mm512_unpackhi_pd(c0, c1), _mm512_unpackhi_pd(c2, c3)),
                )
            };
            let put = inlined(
                #[inline(always)]
                |lane: usize, rows: __m512d| unsafe {
                    let (front, back) =
                        (starts[lane].add(4 * half), starts[lane + 4].add(4 * half));
                    _mm256_storeu_pd(front, _mm512_castpd512_pd256(rows));
                    _mm256_storeu_pd(back, _mm512_extractf64x4_pd::<1>(rows));
                },
            );
            for i in 0..2 {
                put(2 * i, even[i]);
                put(2 * i + 1, odd[i]);
            }
        }
    }
}
