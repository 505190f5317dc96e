//! Four lanes in the 256-bit registers of AVX2, with fused multiply-add.

use super::{HalfRow, Pair, Row, Vectors, inlined};
use std::arch::x86_64::*;

/// AVX2 and FMA.
#[derive(Clone, Copy)]
pub struct Avx2;

/// The bits of 2^52: adding it to a smaller non-negative number leaves the integer part in the low bits.
const TWO_TO_52: i64 = 0x4330_0000_0000_0000;
/// The bits of 1.5·2^52: adding them to an integer of less than 51 bits gives the float of 1.5·2^52 plus the integer.
const INTEGER_BASE: i64 = 0x4338_0000_0000_0000;
/// The bits of 2^84, whose last place counts 2^32.
const UPPER_BASE: i64 = 0x4530_0000_0000_0000;

#[inline(always)]
fn single(x: __m256i) -> __m256 {
    // SAFETY: a cast; the unit's constructor has seen AVX2.
    unsafe { _mm256_castsi256_ps(x) }
}

#[inline(always)]
fn float(x: __m256i) -> __m256d {
    // SAFETY: a cast; the unit's constructor has seen AVX2.
    unsafe { _mm256_castsi256_pd(x) }
}

#[inline(always)]
fn bits(x: __m256d) -> __m256i {
    // SAFETY: as above.
    unsafe { _mm256_castpd_si256(x) }
}

/// Integers of less than 51 bits as floats, exactly.
#[inline(always)]
fn to_float(x: __m256i) -> __m256d {
    // SAFETY: as above.
    unsafe {
        let base = _mm256_set1_epi64x(INTEGER_BASE);
        _mm256_sub_pd(float(_mm256_add_epi64(x, base)), float(base))
    }
}

/// Exchanges lanes and elements of a 4 × 4 square.
#[inline(always)]
fn transpose([r0, r1, r2, r3]: [__m256d; 4]) -> [__m256d; 4] {
    // SAFETY: as above.
    unsafe {
        let (a, b) = (_mm256_unpacklo_pd(r0, r1), _mm256_unpackhi_pd(r0, r1));
        let (c, d) = (_mm256_unpacklo_pd(r2, r3), _mm256_unpackhi_pd(r2, r3));
        [
            _mm256_permute2f128_pd::<0x20>(a, c),
            _mm256_permute2f128_pd::<0x20>(b, d),
            _mm256_permute2f128_pd::<0x31>(a, c),
            _mm256_permute2f128_pd::<0x31>(b, d),
        ]
    }
}

// SAFETY of every block below: the instructions are there, because a unit that names these vectors can only be
// constructed where they are; rows and half rows are 32 bytes, and unaligned access is allowed.
impl Vectors<4> for Avx2 {
    type Words = __m256i;
    type Halves = __m256i;

    #[inline(always)]
    fn load(row: &Row<4>) -> __m256i {
        unsafe { _mm256_loadu_si256(row.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store(words: __m256i, row: &mut Row<4>) {
        unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), words) }
    }
    #[inline(always)]
    fn splat(value: i64) -> __m256i {
        unsafe { _mm256_set1_epi64x(value) }
    }
    #[inline(always)]
    fn splat_low(value: i32) -> __m256i {
        unsafe { _mm256_set1_epi32(value) }
    }
    #[inline(always)]
    fn add(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_add_epi64(a, b) }
    }
    #[inline(always)]
    fn subtract(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_sub_epi64(a, b) }
    }
    #[inline(always)]
    fn and(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_and_si256(a, b) }
    }
    #[inline(always)]
    fn or(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_or_si256(a, b) }
    }
    #[inline(always)]
    fn xor(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_xor_si256(a, b) }
    }
    #[inline(always)]
    fn maximum(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b)) }
    }
    #[inline(always)]
    fn leading_maximum(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_max_epu32(a, b) }
    }
    #[inline(always)]
    fn all_negative(a: __m256i) -> bool {
        unsafe { _mm256_movemask_pd(float(a)) == 0xf }
    }
    #[inline(always)]
    fn shift_left(a: __m256i, count: u32) -> __m256i {
        unsafe { _mm256_sllv_epi64(a, _mm256_set1_epi64x(i64::from(count))) }
    }
    /// There is no arithmetic shift of 64 bits: the numbers are made positive, shifted, and put back.
    #[inline(always)]
    fn shift_right(a: __m256i, count: u32) -> __m256i {
        unsafe {
            let top = _mm256_set1_epi64x(i64::MIN);
            let counts = _mm256_set1_epi64x(i64::from(count));
            let shifted = _mm256_srlv_epi64(_mm256_xor_si256(a, top), counts);
            _mm256_sub_epi64(shifted, _mm256_srlv_epi64(top, counts))
        }
    }
    #[inline(always)]
    fn shift_left_each(a: __m256i, counts: __m256i) -> __m256i {
        unsafe { _mm256_sllv_epi64(a, counts) }
    }
    #[inline(always)]
    fn shift_right_each(a: __m256i, counts: __m256i) -> __m256i {
        unsafe { _mm256_srlv_epi64(a, counts) }
    }
    #[inline(always)]
    fn leading_zeros(a: __m256i) -> __m256i {
        let lanes: Row<4> = super::lanes_of::<4, Avx2>(a);
        super::from_lanes::<4, Avx2>(
            #[inline(always)]
            |l| i64::from(lanes[l].leading_zeros()),
        )
    }
    #[inline(always)]
    fn reversed(a: __m256i) -> __m256i {
        unsafe { _mm256_permute4x64_epi64::<0x1b>(a) }
    }
    #[inline(always)]
    fn reversed_after_first(a: __m256i) -> __m256i {
        unsafe { _mm256_permute4x64_epi64::<0x6c>(a) }
    }
    #[inline(always)]
    fn reversed_pairs(a: __m256i) -> __m256i {
        unsafe { _mm256_permute4x64_epi64::<0x4e>(a) }
    }
    #[inline(always)]
    fn multiply_low(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_mul_epi32(a, b) }
    }

    #[inline(always)]
    unsafe fn gather(table: &[i64], places: __m256i) -> __m256i {
        unsafe { _mm256_i64gather_epi64::<8>(table.as_ptr(), places) }
    }

    #[inline(always)]
    fn load_halves(row: &HalfRow<4>) -> __m256i {
        unsafe { _mm256_loadu_si256(row.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store_halves(halves: __m256i, row: &mut HalfRow<4>) {
        unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), halves) }
    }
    #[inline(always)]
    fn splat_halves(value: i32) -> __m256i {
        unsafe { _mm256_set1_epi32(value) }
    }
    #[inline(always)]
    fn add_halves(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_add_epi32(a, b) }
    }
    #[inline(always)]
    fn subtract_halves(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_sub_epi32(a, b) }
    }
    #[inline(always)]
    fn or_halves(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_or_si256(a, b) }
    }
    #[inline(always)]
    fn shift_halves_left(a: __m256i, count: u32) -> __m256i {
        unsafe { _mm256_sllv_epi32(a, _mm256_set1_epi32(count as i32)) }
    }
    #[inline(always)]
    fn shift_halves_right(a: __m256i, count: u32) -> __m256i {
        unsafe { _mm256_srav_epi32(a, _mm256_set1_epi32(count as i32)) }
    }
    #[inline(always)]
    fn shift_halves_right_zero(a: __m256i, count: u32) -> __m256i {
        unsafe { _mm256_srlv_epi32(a, _mm256_set1_epi32(count as i32)) }
    }
    #[inline(always)]
    fn join_places(high: __m256i, low: __m256i) -> __m256i {
        unsafe { _mm256_blend_epi16::<0x55>(_mm256_slli_epi32::<16>(high), low) }
    }
    #[inline(always)]
    fn swap_halves(a: __m256i) -> __m256i {
        unsafe { _mm256_shuffle_epi32::<0xb1>(a) }
    }
    #[inline(always)]
    fn join(low: __m256i, high: __m256i) -> Pair<__m256i> {
        unsafe {
            (
                _mm256_blend_epi32::<0xaa>(low, _mm256_slli_epi64::<32>(high)),
                _mm256_blend_epi32::<0x55>(high, _mm256_srli_epi64::<32>(low)),
            )
        }
    }
    #[inline(always)]
    fn split(re: __m256i, im: __m256i) -> (__m256i, __m256i) {
        // The same exchange of odd and even positions, which undoes itself.
        Self::join(re, im)
    }

    #[inline(always)]
    fn and_halves(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_and_si256(a, b) }
    }
    #[inline(always)]
    fn xor_halves(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_xor_si256(a, b) }
    }
    #[inline(always)]
    fn maximum_halves(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_max_epi32(a, b) }
    }
    #[inline(always)]
    fn mix_halves(re: __m256i, im: __m256i) -> __m256i {
        unsafe { _mm256_blend_epi32::<0xaa>(re, im) }
    }
    #[inline(always)]
    fn rotate_halves(y: __m256i, real: i32, imaginary: i32) -> __m256i {
        unsafe {
            let swapped = _mm256_shuffle_epi32::<0xb1>(y);
            let (real, imaginary) = (_mm256_set1_epi32(real), _mm256_set1_epi32(imaginary));
            let half = _mm256_set1_epi64x(1 << 29);
            // Products of even positions: real parts of what was given, imaginary parts of what was exchanged.
            let re = _mm256_sub_epi64(
                _mm256_mul_epi32(y, real),
                _mm256_mul_epi32(swapped, imaginary),
            );
            let im = _mm256_add_epi64(
                _mm256_mul_epi32(y, imaginary),
                _mm256_mul_epi32(swapped, real),
            );
            let re = _mm256_srli_epi64::<30>(_mm256_add_epi64(re, half));
            let im = _mm256_slli_epi64::<2>(_mm256_add_epi64(im, half));
            _mm256_blend_epi32::<0xaa>(re, im)
        }
    }
    #[inline(always)]
    fn widen_halves(a: __m256i) -> Pair<__m256i> {
        unsafe {
            // Signs beside their numbers.
            let sign = _mm256_srai_epi32::<31>(a);
            (
                _mm256_blend_epi32::<0xaa>(a, _mm256_slli_epi64::<32>(sign)),
                _mm256_blend_epi32::<0xaa>(_mm256_srli_epi64::<32>(a), sign),
            )
        }
    }
    #[inline(always)]
    fn halves_of_words(a: __m256i) -> __m256i {
        a
    }
    #[inline(always)]
    fn words_of_halves(a: __m256i) -> __m256i {
        a
    }

    const FLOOR_SINGLE_BIAS: i32 = 0;
    #[inline(always)]
    fn floor_magnitude_single(x: __m256i, scale: __m256i) -> __m256i {
        unsafe {
            let magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0), single(x));
            _mm256_cvttps_epi32(_mm256_mul_ps(magnitude, single(scale)))
        }
    }
    /// The largest number below a half rounds as a half does, but leaves what is below a half below 1.
    #[inline(always)]
    fn round_scaled_single(x: __m256i, scale: __m256i) -> __m256i {
        unsafe {
            let sign = _mm256_and_si256(x, _mm256_set1_epi32(i32::MIN));
            let half = _mm256_set1_epi32(0.5f32.next_down().to_bits() as i32);
            let half = single(_mm256_or_si256(half, sign));
            let scaled = _mm256_mul_ps(single(x), single(scale));
            _mm256_cvttps_epi32(_mm256_add_ps(scaled, half))
        }
    }
    #[inline(always)]
    fn integers_to_single(x: __m256i, scale: __m256i) -> __m256i {
        unsafe { _mm256_castps_si256(_mm256_mul_ps(_mm256_cvtepi32_ps(x), single(scale))) }
    }
    #[inline(always)]
    fn integers_to_double(x: __m256i, scale: __m256i) -> __m256i {
        unsafe { bits(_mm256_mul_pd(to_float(x), float(scale))) }
    }
    /// The halves as floats, the upper one (with its sign flipped, so that it is not negative) behind 2^84 and the lower one behind
    /// 2^52: taking those off is exact, and the one sum that is left rounds.
    #[inline(always)]
    fn words_to_double(x: __m256i, scale: __m256i) -> __m256i {
        unsafe {
            let above = _mm256_set1_epi64x(UPPER_BASE ^ (1 << 31));
            let high = _mm256_xor_si256(_mm256_srli_epi64::<32>(x), above);
            let low = _mm256_blend_epi32::<0xaa>(x, _mm256_set1_epi64x(TWO_TO_52));
            // 2^84 + 2^63 + 2^52
            let bases = _mm256_set1_epi64x(UPPER_BASE + (1 << 31) + (1 << 20));
            let high = _mm256_sub_pd(float(high), float(bases));
            let sum = _mm256_add_pd(high, float(low));
            bits(_mm256_mul_pd(sum, float(scale)))
        }
    }
    #[inline(always)]
    fn widen_single(x: __m256i) -> Pair<__m256i> {
        unsafe {
            let order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
            let parts = _mm256_permutevar8x32_ps(single(x), order);
            (
                bits(_mm256_cvtps_pd(_mm256_castps256_ps128(parts))),
                bits(_mm256_cvtps_pd(_mm256_extractf128_ps::<1>(parts))),
            )
        }
    }
    #[inline(always)]
    fn narrow_to_single(re: __m256i, im: __m256i) -> __m256i {
        unsafe {
            let (re, im) = (_mm256_cvtpd_ps(float(re)), _mm256_cvtpd_ps(float(im)));
            let (front, back) = (_mm_unpacklo_ps(re, im), _mm_unpackhi_ps(re, im));
            _mm256_castps_si256(_mm256_set_m128(back, front))
        }
    }

    const FLOOR_BIAS: i64 = TWO_TO_52;
    #[inline(always)]
    fn floor_magnitude(x: __m256i, scale: __m256i) -> __m256i {
        unsafe {
            let magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), float(x));
            let floor = _mm256_floor_pd(_mm256_mul_pd(magnitude, float(scale)));
            bits(_mm256_add_pd(floor, float(_mm256_set1_epi64x(TWO_TO_52))))
        }
    }
    #[inline(always)]
    fn round_scaled(x: __m256i, _: __m256i, unit: __m256i) -> __m256i {
        unsafe {
            let zero = _mm256_setzero_si256();
            let one = _mm256_set1_epi64x(1);
            let field = _mm256_and_si256(_mm256_srli_epi64::<52>(x), _mm256_set1_epi64x(0x7ff));
            let subnormal = _mm256_cmpeq_epi64(field, zero);
            let hidden = _mm256_andnot_si256(subnormal, _mm256_set1_epi64x(1 << 52));
            let fraction = _mm256_and_si256(x, _mm256_set1_epi64x((1 << 52) - 1));
            let magnitude = _mm256_or_si256(fraction, hidden);
            // A comparison gives -1 where it holds.
            let exponent = _mm256_sub_epi64(_mm256_sub_epi64(field, subnormal), unit);
            let left = _mm256_sub_epi64(exponent, _mm256_set1_epi64x(1075));
            let right = _mm256_sub_epi64(zero, left);
            let rounding = _mm256_sllv_epi64(one, _mm256_sub_epi64(right, one));
            let rounded = _mm256_srlv_epi64(_mm256_add_epi64(magnitude, rounding), right);
            let word = _mm256_or_si256(_mm256_sllv_epi64(magnitude, left), rounded);
            let sign = _mm256_cmpgt_epi64(zero, x);
            _mm256_sub_epi64(_mm256_xor_si256(word, sign), sign)
        }
    }
    #[inline(always)]
    fn to_double(high: __m256i, low: __m256i, high_scale: __m256i, low_scale: __m256i) -> __m256i {
        unsafe {
            let low = _mm256_mul_pd(to_float(low), float(low_scale));
            bits(_mm256_fmadd_pd(to_float(high), float(high_scale), low))
        }
    }
    #[inline(always)]
    fn to_single(high: __m256i, low: __m256i, high_scale: __m256i, low_scale: __m256i) -> __m256i {
        unsafe {
            // Rounded to odd in double precision, then to nearest. What the first sum rounded away is known exactly:
            // both parts are integers of one unit, and the larger comes first.
            let (a, b) = (
                _mm256_mul_pd(to_float(high), float(high_scale)),
                _mm256_mul_pd(to_float(low), float(low_scale)),
            );
            let sum = _mm256_add_pd(a, b);
            let virtual_b = _mm256_sub_pd(sum, a);
            let rest = _mm256_add_pd(
                _mm256_sub_pd(a, _mm256_sub_pd(sum, virtual_b)),
                _mm256_sub_pd(b, virtual_b),
            );
            // Where something was rounded away and the sum is even: one step towards what was lost.
            let zero = _mm256_setzero_pd();
            let inexact = bits(_mm256_cmp_pd::<_CMP_NEQ_OQ>(rest, zero));
            let one = _mm256_set1_epi64x(1);
            let even = _mm256_cmpeq_epi64(_mm256_and_si256(bits(sum), one), _mm256_setzero_si256());
            let negative = bits(_mm256_xor_pd(sum, rest));
            let direction =
                _mm256_or_si256(_mm256_cmpgt_epi64(_mm256_setzero_si256(), negative), one);
            let step = _mm256_and_si256(direction, _mm256_and_si256(inexact, even));
            let odd = _mm256_add_epi64(bits(sum), step);
            bits(_mm256_cvtps_pd(_mm256_cvtpd_ps(float(odd))))
        }
    }

    #[inline(always)]
    unsafe fn load_neighbours(start: *const f64) -> Pair<__m256i> {
        unsafe {
            let (a, b) = (_mm256_loadu_pd(start), _mm256_loadu_pd(start.add(4)));
            // a = r0 i0 r1 i1, b = r2 i2 r3 i3
            let front = _mm256_permute2f128_pd::<0x20>(a, b);
            let back = _mm256_permute2f128_pd::<0x31>(a, b);
            (
                bits(_mm256_unpacklo_pd(front, back)),
                bits(_mm256_unpackhi_pd(front, back)),
            )
        }
    }
    #[inline(always)]
    unsafe fn store_neighbours(start: *mut f64, re: __m256i, im: __m256i) {
        unsafe {
            let (re, im) = (float(re), float(im));
            let (front, back) = (_mm256_unpacklo_pd(re, im), _mm256_unpackhi_pd(re, im));
            _mm256_storeu_pd(start, _mm256_permute2f128_pd::<0x20>(front, back));
            _mm256_storeu_pd(start.add(4), _mm256_permute2f128_pd::<0x31>(front, back));
        }
    }
    #[inline(always)]
    #[allow(clippy::needless_range_loop)]
    unsafe fn load_lines(starts: &[*const f64; 4], mut element: impl FnMut(usize, __m256i)) {
        let row = inlined(
            #[inline(always)]
            |lane: usize| unsafe { _mm256_loadu_pd(starts[lane]) },
        );
        let rows = [row(0), row(1), row(2), row(3)];
        // By number: an iterator would take the columns through memory.
        let columns = transpose(rows);
        for i in 0..4 {
            element(i, bits(columns[i]));
        }
    }
    #[inline(always)]
    #[allow(clippy::needless_range_loop)]
    unsafe fn store_lines(starts: &[*mut f64; 4], mut element: impl FnMut(usize) -> __m256i) {
        let columns = [
            float(element(0)),
            float(element(1)),
            float(element(2)),
            float(element(3)),
        ];
        let rows = transpose(columns);
        for lane in 0..4 {
            unsafe { _mm256_storeu_pd(starts[lane], rows[lane]) }
        }
    }
}
