//! AVX2 with FMA, and AVX-512.

use super::{Lanes, LineSlice, LineSliceMut, POINTS, TILE, Task, Vectors, avx512_moves};
use num_complex::Complex;
use std::arch::x86_64::*;

pub(super) fn has_avx512() -> bool {
    has_avx2() && is_x86_feature_detected!("avx512f")
}

pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

pub(crate) struct Avx512;

impl Vectors for Avx512 {
    type Single = Single16;
    type Double = Double8;

    #[inline(always)]
    fn split<const PARTS: usize>(
        values: &[Complex<f32>; TILE],
        factor: f32,
    ) -> [[u32; TILE]; PARTS] {
        avx512_moves::split(values, factor)
    }

    #[inline(always)]
    fn transposed(tile: &[[u32; TILE]; TILE]) -> [[u32; TILE]; TILE] {
        avx512_moves::transposed(tile)
    }

    #[inline(always)]
    fn rotated(values: &[[f32; 2]; TILE], by: &[Complex<f32>; TILE]) -> [Complex<f32>; TILE] {
        avx512_moves::rotated(values, by)
    }
}

pub(crate) struct Avx2;

impl Vectors for Avx2 {
    type Single = Single8;
    type Double = Double4;
}

/// # Safety
/// The processor has AVX-512.
#[target_feature(enable = "avx512f,avx2,fma")]
pub(super) unsafe fn enter_avx512<T: Task>(task: T) {
    task.run::<Avx512>();
}

/// # Safety
/// The processor has AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn enter_avx2<T: Task>(task: T) {
    task.run::<Avx2>();
}

macro_rules! lanes {
    ($name:ident, $register:ty, $scalar:ty, $count:literal, $set1:ident, $load:ident, $store:ident,
     $add:ident, $sub:ident, $mul:ident, $fmadd:ident, $fmsub:ident $(; $($moves:tt)*)?) => {
        /// A register. Only made within the functions above, which is what the blocks below rely on.
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $name($register);

        impl Lanes for $name {
            type Scalar = $scalar;
            const COUNT: usize = $count;

            #[inline(always)]
            fn splat(value: $scalar) -> Self {
                // SAFETY: the features are there, see above; likewise below.
                $name(unsafe { $set1(value) })
            }
            #[inline(always)]
            fn load(from: &[$scalar]) -> Self {
                let from: &[$scalar; $count] = from.first_chunk().expect("a whole register");
                // SAFETY: as many numbers as the register has can be read.
                $name(unsafe { $load(from.as_ptr()) })
            }
            #[inline(always)]
            fn store(self, to: &mut [$scalar]) {
                let to: &mut [$scalar; $count] = to.first_chunk_mut().expect("a whole register");
                // SAFETY: as many numbers as the register has can be written.
                unsafe { $store(to.as_mut_ptr(), self.0) }
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                $name(unsafe { $add(self.0, other.0) })
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                $name(unsafe { $sub(self.0, other.0) })
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                $name(unsafe { $mul(self.0, other.0) })
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, summand: Self) -> Self {
                $name(unsafe { $fmadd(self.0, factor.0, summand.0) })
            }
            #[inline(always)]
            fn mul_sub(self, factor: Self, summand: Self) -> Self {
                $name(unsafe { $fmsub(self.0, factor.0, summand.0) })
            }
            $($($moves)*)?
        }
    };
}

lanes!(
    Single16,
    __m512,
    f32,
    16,
    _mm512_set1_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_add_ps,
    _mm512_sub_ps,
    _mm512_mul_ps,
    _mm512_fmadd_ps,
    _mm512_fmsub_ps;
    #[inline(always)]
    fn gather(
        lines: LineSlice<'_>,
        pitch: usize,
        points: &mut [[Self; 2]; POINTS],
    ) -> bool {
        let LineSlice::Single(lines) = lines else {
            return false;
        };
        let mut registers = [[Self::splat(0.0).0; 2]; POINTS];
        avx512_moves::gather_16(lines, pitch, &mut registers);
        for (point, &[re, im]) in points.iter_mut().zip(&registers) {
            *point = [Single16(re), Single16(im)];
        }
        true
    }
    #[inline(always)]
    fn scatter(
        points: &[[Self; 2]; POINTS],
        lines: LineSliceMut<'_>,
        pitch: usize,
    ) -> bool {
        let LineSliceMut::Single(lines) = lines else {
            return false;
        };
        let mut registers = [[Self::splat(0.0).0; 2]; POINTS];
        for (register, [re, im]) in registers.iter_mut().zip(points) {
            *register = [re.0, im.0];
        }
        avx512_moves::scatter_16(&registers, lines, pitch);
        true
    }
);
lanes!(
    Double8,
    __m512d,
    f64,
    8,
    _mm512_set1_pd,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_add_pd,
    _mm512_sub_pd,
    _mm512_mul_pd,
    _mm512_fmadd_pd,
    _mm512_fmsub_pd;
    #[inline(always)]
    fn gather(
        lines: LineSlice<'_>,
        pitch: usize,
        points: &mut [[Self; 2]; POINTS],
    ) -> bool {
        let mut registers = [[Self::splat(0.0).0; 2]; POINTS];
        match lines {
            LineSlice::Single(lines) => avx512_moves::gather_8_single(lines, pitch, &mut registers),
            LineSlice::Double(lines) => avx512_moves::gather_8_double(lines, pitch, &mut registers),
        }
        for (point, &[re, im]) in points.iter_mut().zip(&registers) {
            *point = [Double8(re), Double8(im)];
        }
        true
    }
    #[inline(always)]
    fn scatter(
        points: &[[Self; 2]; POINTS],
        lines: LineSliceMut<'_>,
        pitch: usize,
    ) -> bool {
        let mut registers = [[Self::splat(0.0).0; 2]; POINTS];
        for (register, [re, im]) in registers.iter_mut().zip(points) {
            *register = [re.0, im.0];
        }
        match lines {
            LineSliceMut::Single(lines) => avx512_moves::scatter_8_single(&registers, lines, pitch),
            LineSliceMut::Double(lines) => avx512_moves::scatter_8_double(&registers, lines, pitch),
        }
        true
    }
);
lanes!(
    Single8,
    __m256,
    f32,
    8,
    _mm256_set1_ps,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_add_ps,
    _mm256_sub_ps,
    _mm256_mul_ps,
    _mm256_fmadd_ps,
    _mm256_fmsub_ps
);
lanes!(
    Double4,
    __m256d,
    f64,
    4,
    _mm256_set1_pd,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_add_pd,
    _mm256_sub_pd,
    _mm256_mul_pd,
    _mm256_fmadd_pd,
    _mm256_fmsub_pd
);
