//! AVX-512: lines to lanes and back in registers, and tiles of bf16 pairs.
//!
//! All functions are inlined into ones that have the features, which is what the blocks rely on; reads and writes are within
//! slices that are cut to length first. Plain loops throughout: `map` and `from_fn` are functions without the features.

use super::{POINTS, TILE};
use num_complex::Complex;
use std::arch::x86_64::*;

/// Rows of eight words of 64 bits become columns.
#[inline(always)]
fn transposed_8(rows: [__m512d; 8]) -> [__m512d; 8] {
    let [a, b, c, d, e, f, g, h] = rows;
    // SAFETY: the features are there, see above; likewise below.
    unsafe {
        let even = transposed_4([
            _mm512_unpacklo_pd(a, b),
            _mm512_unpacklo_pd(c, d),
            _mm512_unpacklo_pd(e, f),
            _mm512_unpacklo_pd(g, h),
        ]);
        let odd = transposed_4([
            _mm512_unpackhi_pd(a, b),
            _mm512_unpackhi_pd(c, d),
            _mm512_unpackhi_pd(e, f),
            _mm512_unpackhi_pd(g, h),
        ]);
        [
            even[0], odd[0], even[1], odd[1], even[2], odd[2], even[3], odd[3],
        ]
    }
}

/// Rows of four complex f64 become columns.
#[inline(always)]
fn transposed_4([a, b, c, d]: [__m512d; 4]) -> [__m512d; 4] {
    // SAFETY: as above.
    unsafe {
        let (even, odd) = (
            _mm512_shuffle_f64x2::<0x88>(a, b),
            _mm512_shuffle_f64x2::<0xdd>(a, b),
        );
        let (even_2, odd_2) = (
            _mm512_shuffle_f64x2::<0x88>(c, d),
            _mm512_shuffle_f64x2::<0xdd>(c, d),
        );
        [
            _mm512_shuffle_f64x2::<0x88>(even, even_2),
            _mm512_shuffle_f64x2::<0x88>(odd, odd_2),
            _mm512_shuffle_f64x2::<0xdd>(even, even_2),
            _mm512_shuffle_f64x2::<0xdd>(odd, odd_2),
        ]
    }
}

/// Eight points of eight lines of f32, a register for every point.
#[inline(always)]
fn load_8(lines: &[Complex<f32>], pitch: usize) -> [__m512d; 8] {
    // SAFETY: as above; eight complex numbers are 64 bytes.
    unsafe {
        let mut rows = [_mm512_setzero_pd(); 8];
        for (line, row) in rows.iter_mut().enumerate() {
            let from = &lines[line * pitch..][..POINTS];
            *row = _mm512_loadu_pd(from.as_ptr().cast());
        }
        transposed_8(rows)
    }
}

#[inline(always)]
fn store_8(points: [__m512d; 8], lines: &mut [Complex<f32>], pitch: usize) {
    for (line, values) in transposed_8(points).into_iter().enumerate() {
        let to = &mut lines[line * pitch..][..POINTS];
        // SAFETY: as above.
        unsafe { _mm512_storeu_pd(to.as_mut_ptr().cast(), values) };
    }
}

#[inline(always)]
fn indices(of: &[i32; 16]) -> __m512i {
    // SAFETY: 64 bytes are read.
    unsafe { _mm512_loadu_si512(of.as_ptr().cast()) }
}

/// Real and imaginary parts of two registers of complex f32, and the inverse.
const EVEN: [i32; 16] = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30];
const ODD: [i32; 16] = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31];
const LOW: [i32; 16] = [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23];
const HIGH: [i32; 16] = [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31];

/// Eight points of 16 lines.
#[inline(always)]
pub(super) fn gather_16(lines: &[Complex<f32>], pitch: usize, points: &mut [[__m512; 2]; POINTS]) {
    let (first, second) = (load_8(lines, pitch), load_8(&lines[8 * pitch..], pitch));
    for (j, point) in points.iter_mut().enumerate() {
        // SAFETY: as above.
        unsafe {
            let (a, b) = (_mm512_castpd_ps(first[j]), _mm512_castpd_ps(second[j]));
            *point = [
                _mm512_permutex2var_ps(a, indices(&EVEN), b),
                _mm512_permutex2var_ps(a, indices(&ODD), b),
            ];
        }
    }
}

/// The inverse.
#[inline(always)]
pub(super) fn scatter_16(points: &[[__m512; 2]; POINTS], lines: &mut [Complex<f32>], pitch: usize) {
    for (half, order) in [&LOW, &HIGH].into_iter().enumerate() {
        // SAFETY: as above.
        unsafe {
            let mut rows = [_mm512_setzero_pd(); 8];
            for (row, &[re, im]) in rows.iter_mut().zip(points) {
                *row = _mm512_castps_pd(_mm512_permutex2var_ps(re, indices(order), im));
            }
            store_8(rows, &mut lines[8 * half * pitch..], pitch);
        }
    }
}

/// Eight points of eight lines of f32, as f64.
#[inline(always)]
pub(super) fn gather_8_single(
    lines: &[Complex<f32>],
    pitch: usize,
    points: &mut [[__m512d; 2]; POINTS],
) {
    for (to, point) in points.iter_mut().zip(load_8(lines, pitch)) {
        // SAFETY: as above.
        unsafe {
            let point = _mm512_castpd_ps(point);
            let re = _mm512_permutexvar_ps(indices(&EVEN), point);
            let im = _mm512_permutexvar_ps(indices(&ODD), point);
            *to = [
                _mm512_cvtps_pd(_mm512_castps512_ps256(re)),
                _mm512_cvtps_pd(_mm512_castps512_ps256(im)),
            ];
        }
    }
}

/// The inverse, rounded to f32.
#[inline(always)]
pub(super) fn scatter_8_single(
    points: &[[__m512d; 2]; POINTS],
    lines: &mut [Complex<f32>],
    pitch: usize,
) {
    // SAFETY: as above.
    unsafe {
        let mut rows = [_mm512_setzero_pd(); 8];
        for (row, &[re, im]) in rows.iter_mut().zip(points) {
            let (re, im) = (_mm512_cvtpd_ps(re), _mm512_cvtpd_ps(im));
            let (re, im) = (_mm512_castps256_ps512(re), _mm512_castps256_ps512(im));
            *row = _mm512_castps_pd(_mm512_permutex2var_ps(re, indices(&LOW), im));
        }
        store_8(rows, lines, pitch);
    }
}

#[inline(always)]
fn indices_of_words(of: &[i64; 8]) -> __m512i {
    // SAFETY: 64 bytes are read.
    unsafe { _mm512_loadu_si512(of.as_ptr().cast()) }
}

/// Four points of four lines of f64.
#[inline(always)]
fn load_4(lines: &[Complex<f64>], pitch: usize) -> [__m512d; 4] {
    // SAFETY: as above; four complex numbers are 64 bytes.
    unsafe {
        let mut rows = [_mm512_setzero_pd(); 4];
        for (line, row) in rows.iter_mut().enumerate() {
            let from = &lines[line * pitch..][..4];
            *row = _mm512_loadu_pd(from.as_ptr().cast());
        }
        transposed_4(rows)
    }
}

/// Eight points of eight lines of f64.
#[inline(always)]
pub(super) fn gather_8_double(
    lines: &[Complex<f64>],
    pitch: usize,
    points: &mut [[__m512d; 2]; POINTS],
) {
    for start in [0, 4] {
        let first = load_4(&lines[start..], pitch);
        let second = load_4(&lines[start + 4 * pitch..], pitch);
        for (j, point) in points[start..start + 4].iter_mut().enumerate() {
            let (even, odd) = ([0, 2, 4, 6, 8, 10, 12, 14], [1, 3, 5, 7, 9, 11, 13, 15]);
            // SAFETY: as above.
            unsafe {
                *point = [
                    _mm512_permutex2var_pd(first[j], indices_of_words(&even), second[j]),
                    _mm512_permutex2var_pd(first[j], indices_of_words(&odd), second[j]),
                ];
            }
        }
    }
}

/// The inverse.
#[inline(always)]
pub(super) fn scatter_8_double(
    points: &[[__m512d; 2]; POINTS],
    lines: &mut [Complex<f64>],
    pitch: usize,
) {
    for start in [0, 4] {
        for (first, order) in [
            (0, [0, 8, 1, 9, 2, 10, 3, 11]),
            (4, [4, 12, 5, 13, 6, 14, 7, 15]),
        ] {
            // SAFETY: as above; four complex numbers are 64 bytes.
            unsafe {
                let mut rows = [_mm512_setzero_pd(); 4];
                for (row, &[re, im]) in rows.iter_mut().zip(&points[start..start + 4]) {
                    *row = _mm512_permutex2var_pd(re, indices_of_words(&order), im);
                }
                for (line, values) in transposed_4(rows).into_iter().enumerate() {
                    let to = &mut lines[(first + line) * pitch + start..][..4];
                    _mm512_storeu_pd(to.as_mut_ptr().cast(), values);
                }
            }
        }
    }
}

/// A row of a tile, times a factor, as parts of bf16.
#[inline(always)]
pub(super) fn split<const PARTS: usize>(
    values: &[Complex<f32>; TILE],
    factor: f32,
) -> [[u32; TILE]; PARTS] {
    let mut parts = [[0; TILE]; PARTS];
    // SAFETY: as above; eight complex numbers, and eight pairs, are what is read and written.
    unsafe {
        for half in 0..2 {
            let from: *const f32 = values[half * 8..].as_ptr().cast();
            let mut rest = _mm512_mul_ps(_mm512_loadu_ps(from), _mm512_set1_ps(factor));
            for part in &mut parts {
                let bits = _mm512_castps_si512(rest);
                let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
                let rounded =
                    _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
                let upper = _mm512_and_si512(rounded, _mm512_set1_epi32(0xffff_0000u32 as i32));
                // The real part's upper half is the pair's lower one.
                let pairs = _mm512_or_si512(
                    _mm512_srli_epi64::<16>(upper),
                    _mm512_srli_epi64::<32>(upper),
                );
                let to: *mut __m256i = part[half * 8..].as_mut_ptr().cast();
                _mm256_storeu_si256(to, _mm512_cvtepi64_epi32(pairs));
                rest = _mm512_sub_ps(rest, _mm512_castsi512_ps(upper));
            }
        }
    }
    parts
}

/// A tile transposed.
#[inline(always)]
pub(super) fn transposed(tile: &[[u32; TILE]; TILE]) -> [[u32; TILE]; TILE] {
    let mut result = [[0; TILE]; TILE];
    // SAFETY: as above; a row is 64 bytes.
    unsafe {
        let mut rows = [_mm512_setzero_si512(); TILE];
        for (row, from) in rows.iter_mut().zip(tile) {
            *row = _mm512_loadu_si512(from.as_ptr().cast());
        }
        // Pairs of rows, then four: words of 128 bits hold a column of four.
        let mut fours = rows;
        for quad in 0..4 {
            let [a, b, c, d] = [
                rows[4 * quad],
                rows[4 * quad + 1],
                rows[4 * quad + 2],
                rows[4 * quad + 3],
            ];
            let (ab_low, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
            let (cd_low, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
            fours[4 * quad] = _mm512_unpacklo_epi64(ab_low, cd_low);
            fours[4 * quad + 1] = _mm512_unpackhi_epi64(ab_low, cd_low);
            fours[4 * quad + 2] = _mm512_unpacklo_epi64(ab_high, cd_high);
            fours[4 * quad + 3] = _mm512_unpackhi_epi64(ab_high, cd_high);
        }
        for column in 0..4 {
            let columns = transposed_4([
                _mm512_castsi512_pd(fours[column]),
                _mm512_castsi512_pd(fours[4 + column]),
                _mm512_castsi512_pd(fours[8 + column]),
                _mm512_castsi512_pd(fours[12 + column]),
            ]);
            for (i, values) in columns.into_iter().enumerate() {
                _mm512_storeu_pd(result[4 * i + column].as_mut_ptr().cast(), values);
            }
        }
    }
    result
}

/// Complex products, each part with one fused operation.
#[inline(always)]
pub(super) fn rotated(
    values: &[[f32; 2]; TILE],
    by: &[Complex<f32>; TILE],
) -> [Complex<f32>; TILE] {
    let mut result = [Complex::default(); TILE];
    // SAFETY: as above; eight complex numbers are read and written at a time.
    unsafe {
        for half in 0..2 {
            let values = _mm512_loadu_ps(values[half * 8..].as_ptr().cast());
            let by = _mm512_loadu_ps(by[half * 8..].as_ptr().cast());
            let swapped = _mm512_permute_ps::<0b10_11_00_01>(values);
            let crossed = _mm512_mul_ps(swapped, _mm512_movehdup_ps(by));
            let product = _mm512_fmaddsub_ps(values, _mm512_moveldup_ps(by), crossed);
            _mm512_storeu_ps(result[half * 8..].as_mut_ptr().cast(), product);
        }
    }
    result
}
