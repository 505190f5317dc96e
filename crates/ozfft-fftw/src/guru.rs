//! Any lengths and strides: the guru interface, with 32- and 64-bit numbers, parts of complex numbers side by side or apart.

use crate::door::{PlanPointer, Refusal, plan_door, values_at};
use crate::fourier::Fourier;
use crate::many::length;
use crate::options::Options;
use crate::plan::{FftwPlan, Work};
use crate::real_lines::{RealKind, RealToReal};
use crate::strides::{Dimension, Ends};
use crate::threads;
use num_complex::Complex;
use ozfft::{Direction, Kind};
use std::ffi::{c_int, c_uint};

/// A dimension in 32-bit numbers.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Iodim {
    /// Length.
    pub n: c_int,
    /// Input stride, in elements.
    pub is: c_int,
    /// Output stride.
    pub os: c_int,
}

/// A dimension in numbers as large as addresses.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Iodim64 {
    /// Length.
    pub n: isize,
    /// Input stride, in elements.
    pub is: isize,
    /// Output stride.
    pub os: isize,
}

impl From<Iodim> for Iodim64 {
    fn from(dimension: Iodim) -> Self {
        Iodim64 {
            n: dimension.n as isize,
            is: dimension.is as isize,
            os: dimension.os as isize,
        }
    }
}

/// Transformed dimensions, and the loops around them.
pub(crate) type Dimensions = (Vec<Dimension>, Vec<Dimension>);

/// Doubles of an element of the input and of the output: complex numbers have two, parts that lie apart one.
type Units = (isize, isize);

/// # Safety
/// Pointers that are not null point to as many dimensions as their rank says.
unsafe fn dimensions<D: Copy + Into<Iodim64>>(
    (rank, dims): (c_int, *const D),
    (loop_rank, loop_dims): (c_int, *const D),
    (input, output): Units,
) -> Result<Dimensions, Refusal> {
    let convert = |given: &D, least: i64| {
        let given: Iodim64 = (*given).into();
        let doubles = |stride: isize, unit| stride.checked_mul(unit).ok_or(Refusal::NotAddressable);
        Ok(Dimension {
            length: length("the length of a dimension", given.n as i64, least)?,
            input: doubles(given.is, input)?,
            output: doubles(given.os, output)?,
        })
    };
    // SAFETY: the caller's promise.
    let (transformed, looped) = unsafe {
        (
            values_at("the list of dimensions", dims, rank)?,
            values_at("the list of loops", loop_dims, loop_rank)?,
        )
    };
    let transformed = transformed.iter().map(|given| convert(given, 1));
    let looped = looped.iter().map(|given| convert(given, 0));
    Ok((
        transformed.collect::<Result<_, Refusal>>()?,
        looped.collect::<Result<_, Refusal>>()?,
    ))
}

pub(crate) fn direction(sign: c_int) -> Result<Direction, Refusal> {
    match sign {
        -1 => Ok(Direction::Forward),
        1 => Ok(Direction::Inverse),
        _ => Err(Refusal::Sign(sign)),
    }
}

/// Where all complex and half-complex plans come from.
pub(crate) fn plan_fourier(
    kind: (Kind, Direction),
    (transformed, looped): Dimensions,
    (input, output): (Ends, Ends),
    flags: c_uint,
) -> Result<FftwPlan, Refusal> {
    let options = Options::new(threads::planned(), flags)?;
    let work = Fourier::new(kind, transformed, looped, (input, output), options)?;
    Ok(FftwPlan {
        work: Work::Fourier(work),
        input,
        output,
    })
}

/// Where all real-to-real plans come from.
pub(crate) fn plan_real_to_real(
    (transformed, looped): Dimensions,
    kinds: Vec<RealKind>,
    (input, output): (Ends, Ends),
    flags: c_uint,
) -> Result<FftwPlan, Refusal> {
    for (dimension, kind) in transformed.iter().zip(&kinds) {
        let (given, least) = (dimension.length as i64, kind.least_length() as i64);
        length("the length of a line of this kind", given, least)?;
    }
    let options = Options::new(threads::planned(), flags)?;
    let transformed = transformed.into_iter().zip(kinds).collect();
    Ok(FftwPlan {
        work: Work::RealToReal(RealToReal::new(transformed, looped, options)?),
        input,
        output,
    })
}

const COMPLEX: Units = (2, 2);
const APART: Units = (1, 1);
const REAL_TO_COMPLEX: Units = (1, 2);
const COMPLEX_TO_REAL: Units = (2, 1);

/// The doors for dimensions of a type: FFTW has them twice, and they differ in nothing else.
macro_rules! guru_doors {
    ($dimension:ty, $dft:ident, $split_dft:ident, $dft_r2c:ident, $dft_c2r:ident, $split_dft_r2c:ident, $split_dft_c2r:ident, $r2r:ident) => {
        /// Complex transforms.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $dft(
            rank: c_int,
            dims: *const $dimension,
            howmany_rank: c_int,
            howmany_dims: *const $dimension,
            input: *mut Complex<f64>,
            output: *mut Complex<f64>,
            sign: c_int,
            flags: c_uint,
        ) -> PlanPointer {
            plan_door(stringify!($dft), || {
                let (inner, outer) = ((rank, dims), (howmany_rank, howmany_dims));
                // SAFETY: FFTW's manual asks the caller for it.
                let dimensions = unsafe { dimensions(inner, outer, COMPLEX)? };
                let arrays = (Ends::complex(input.cast()), Ends::complex(output.cast()));
                plan_fourier(
                    (Kind::ComplexToComplex, direction(sign)?),
                    dimensions,
                    arrays,
                    flags,
                )
            })
        }

        /// Complex transforms with parts apart, forward; parts that are exchanged in both arrays give the other sign.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $split_dft(
            rank: c_int,
            dims: *const $dimension,
            howmany_rank: c_int,
            howmany_dims: *const $dimension,
            ri: *mut f64,
            ii: *mut f64,
            ro: *mut f64,
            io: *mut f64,
            flags: c_uint,
        ) -> PlanPointer {
            plan_door(stringify!($split_dft), || {
                let (inner, outer) = ((rank, dims), (howmany_rank, howmany_dims));
                // SAFETY: FFTW's manual asks the caller for it.
                let dimensions = unsafe { dimensions(inner, outer, APART)? };
                let arrays = (Ends::split(ri, ii), Ends::split(ro, io));
                plan_fourier(
                    (Kind::ComplexToComplex, Direction::Forward),
                    dimensions,
                    arrays,
                    flags,
                )
            })
        }

        /// Real arrays to half-spectra; the last dimension is halved.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $dft_r2c(
            rank: c_int,
            dims: *const $dimension,
            howmany_rank: c_int,
            howmany_dims: *const $dimension,
            input: *mut f64,
            output: *mut Complex<f64>,
            flags: c_uint,
        ) -> PlanPointer {
            plan_door(stringify!($dft_r2c), || {
                let (inner, outer) = ((rank, dims), (howmany_rank, howmany_dims));
                // SAFETY: FFTW's manual asks the caller for it.
                let dimensions = unsafe { dimensions(inner, outer, REAL_TO_COMPLEX)? };
                let arrays = (Ends::real(input), Ends::complex(output.cast()));
                plan_fourier(
                    (Kind::RealToComplex, Direction::Forward),
                    dimensions,
                    arrays,
                    flags,
                )
            })
        }

        /// Half-spectra to real arrays.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $dft_c2r(
            rank: c_int,
            dims: *const $dimension,
            howmany_rank: c_int,
            howmany_dims: *const $dimension,
            input: *mut Complex<f64>,
            output: *mut f64,
            flags: c_uint,
        ) -> PlanPointer {
            plan_door(stringify!($dft_c2r), || {
                let (inner, outer) = ((rank, dims), (howmany_rank, howmany_dims));
                // SAFETY: FFTW's manual asks the caller for it.
                let dimensions = unsafe { dimensions(inner, outer, COMPLEX_TO_REAL)? };
                let arrays = (Ends::complex(input.cast()), Ends::real(output));
                plan_fourier(
                    (Kind::ComplexToReal, Direction::Inverse),
                    dimensions,
                    arrays,
                    flags,
                )
            })
        }

        /// Real arrays to half-spectra with parts apart.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $split_dft_r2c(
            rank: c_int,
            dims: *const $dimension,
            howmany_rank: c_int,
            howmany_dims: *const $dimension,
            input: *mut f64,
            ro: *mut f64,
            io: *mut f64,
            flags: c_uint,
        ) -> PlanPointer {
            plan_door(stringify!($split_dft_r2c), || {
                let (inner, outer) = ((rank, dims), (howmany_rank, howmany_dims));
                // SAFETY: FFTW's manual asks the caller for it.
                let dimensions = unsafe { dimensions(inner, outer, APART)? };
                let arrays = (Ends::real(input), Ends::split(ro, io));
                plan_fourier(
                    (Kind::RealToComplex, Direction::Forward),
                    dimensions,
                    arrays,
                    flags,
                )
            })
        }

        /// Half-spectra with parts apart to real arrays.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $split_dft_c2r(
            rank: c_int,
            dims: *const $dimension,
            howmany_rank: c_int,
            howmany_dims: *const $dimension,
            ri: *mut f64,
            ii: *mut f64,
            output: *mut f64,
            flags: c_uint,
        ) -> PlanPointer {
            plan_door(stringify!($split_dft_c2r), || {
                let (inner, outer) = ((rank, dims), (howmany_rank, howmany_dims));
                // SAFETY: FFTW's manual asks the caller for it.
                let dimensions = unsafe { dimensions(inner, outer, APART)? };
                let arrays = (Ends::split(ri, ii), Ends::real(output));
                plan_fourier(
                    (Kind::ComplexToReal, Direction::Inverse),
                    dimensions,
                    arrays,
                    flags,
                )
            })
        }

        /// Real transforms, a kind for every dimension.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $r2r(
            rank: c_int,
            dims: *const $dimension,
            howmany_rank: c_int,
            howmany_dims: *const $dimension,
            input: *mut f64,
            output: *mut f64,
            kind: *const c_int,
            flags: c_uint,
        ) -> PlanPointer {
            plan_door(stringify!($r2r), || {
                let (inner, outer) = ((rank, dims), (howmany_rank, howmany_dims));
                // SAFETY: FFTW's manual asks the caller for it.
                let dimensions = unsafe { dimensions(inner, outer, APART)? };
                let arrays = (Ends::real(input), Ends::real(output));
                // SAFETY: as above, for the kinds.
                let kinds = unsafe { values_at("the list of kinds", kind, rank)? };
                let kinds = kinds.iter().map(|&kind| RealKind::try_from(kind));
                plan_real_to_real(dimensions, kinds.collect::<Result<_, _>>()?, arrays, flags)
            })
        }
    };
}
guru_doors! {
    Iodim,
    fftw_plan_guru_dft,
    fftw_plan_guru_split_dft,
    fftw_plan_guru_dft_r2c,
    fftw_plan_guru_dft_c2r,
    fftw_plan_guru_split_dft_r2c,
    fftw_plan_guru_split_dft_c2r,
    fftw_plan_guru_r2r
}
guru_doors! {
    Iodim64,
    fftw_plan_guru64_dft,
    fftw_plan_guru64_split_dft,
    fftw_plan_guru64_dft_r2c,
    fftw_plan_guru64_dft_c2r,
    fftw_plan_guru64_split_dft_r2c,
    fftw_plan_guru64_split_dft_c2r,
    fftw_plan_guru64_r2r
}
