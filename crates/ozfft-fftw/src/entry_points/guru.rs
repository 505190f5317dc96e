//! Any lengths and strides: the guru interface, with 32- and 64-bit numbers, parts of complex numbers side by side or apart.

use crate::arguments::{length, values_at};
use crate::error::FftwError;
use crate::ffi::{PlanPointer, guard_plan};
use crate::number::Number;
use crate::options::Options;
use crate::plan::{TypedPlan, Work};
use crate::transforms::fourier::Fourier;
use crate::transforms::real_lines::{RealKind, RealToReal};
use crate::transforms::strides::{Dimension, Ends};
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

/// Real numbers of an element of the input and of the output: complex numbers have two, parts that lie apart one.
type Units = (isize, isize);

/// # Safety
/// Pointers that are not null point to as many dimensions as their rank says.
unsafe fn dimensions<D: Copy + Into<Iodim64>>(
    (rank, dims): (c_int, *const D),
    (loop_rank, loop_dims): (c_int, *const D),
    (input, output): Units,
) -> Result<Dimensions, FftwError> {
    let convert = |given: &D, least: i64| {
        let given: Iodim64 = (*given).into();
        let reals = |stride: isize, unit| stride.checked_mul(unit).ok_or(FftwError::NotAddressable);
        Ok(Dimension {
            length: length("the length of a dimension", given.n as i64, least)?,
            input: reals(given.is, input)?,
            output: reals(given.os, output)?,
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
        transformed.collect::<Result<_, FftwError>>()?,
        looped.collect::<Result<_, FftwError>>()?,
    ))
}

pub(crate) fn direction(sign: c_int) -> Result<Direction, FftwError> {
    match sign {
        -1 => Ok(Direction::Forward),
        1 => Ok(Direction::Inverse),
        _ => Err(FftwError::Sign(sign)),
    }
}

/// Where all complex and half-complex plans come from.
pub(crate) fn plan_fourier<T: Number>(
    kind: (Kind, Direction),
    (transformed, looped): Dimensions,
    (input, output): (Ends<T>, Ends<T>),
    flags: c_uint,
) -> Result<TypedPlan<T>, FftwError> {
    let options = Options::new::<T>(flags)?;
    let work = Fourier::new(kind, transformed, looped, (input, output), options)?;
    Ok(TypedPlan {
        work: Work::Fourier(work),
        input,
        output,
    })
}

/// Where all real-to-real plans come from.
pub(crate) fn plan_real_to_real<T: Number>(
    (transformed, looped): Dimensions,
    kinds: Vec<RealKind>,
    (input, output): (Ends<T>, Ends<T>),
    flags: c_uint,
) -> Result<TypedPlan<T>, FftwError> {
    for (dimension, kind) in transformed.iter().zip(&kinds) {
        let (given, least) = (dimension.length as i64, kind.least_length() as i64);
        length("the length of a line of this kind", given, least)?;
    }
    let options = Options::new::<T>(flags)?;
    let transformed = transformed.into_iter().zip(kinds).collect();
    Ok(TypedPlan {
        work: Work::RealToReal(RealToReal::new(transformed, looped, options)?),
        input,
        output,
    })
}

const COMPLEX: Units = (2, 2);
const APART: Units = (1, 1);
const REAL_TO_COMPLEX: Units = (1, 2);
const COMPLEX_TO_REAL: Units = (2, 1);

/// The FFI entry points for numbers and dimensions of a type: FFTW has them four times, and they differ in nothing else.
macro_rules! guru_entry_points {
    ($module:ident, $real:ty, $dimension:ty, $prefix:literal) => {
        /// The functions for arrays of one precision and dimensions of one type.
        pub mod $module {
            use super::*;

            /// Complex transforms.
            #[unsafe(export_name = concat!($prefix, "dft"))]
            pub unsafe extern "C" fn dft(
                rank: c_int,
                dims: *const $dimension,
                howmany_rank: c_int,
                howmany_dims: *const $dimension,
                input: *mut Complex<$real>,
                output: *mut Complex<$real>,
                sign: c_int,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "dft"), || {
                    let (inner, outer) = ((rank, dims), (howmany_rank, howmany_dims));
                    // SAFETY: FFTW's manual asks the caller for it.
                    let dimensions = unsafe { dimensions(inner, outer, COMPLEX)? };
                    let arrays = (Ends::complex(input), Ends::complex(output));
                    plan_fourier(
                        (Kind::ComplexToComplex, direction(sign)?),
                        dimensions,
                        arrays,
                        flags,
                    )
                })
            }

            /// Complex transforms with parts apart, forward; parts that are exchanged in both arrays give the other sign.
            #[unsafe(export_name = concat!($prefix, "split_dft"))]
            pub unsafe extern "C" fn split_dft(
                rank: c_int,
                dims: *const $dimension,
                howmany_rank: c_int,
                howmany_dims: *const $dimension,
                ri: *mut $real,
                ii: *mut $real,
                ro: *mut $real,
                io: *mut $real,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "split_dft"), || {
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
            #[unsafe(export_name = concat!($prefix, "dft_r2c"))]
            pub unsafe extern "C" fn dft_r2c(
                rank: c_int,
                dims: *const $dimension,
                howmany_rank: c_int,
                howmany_dims: *const $dimension,
                input: *mut $real,
                output: *mut Complex<$real>,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "dft_r2c"), || {
                    let (inner, outer) = ((rank, dims), (howmany_rank, howmany_dims));
                    // SAFETY: FFTW's manual asks the caller for it.
                    let dimensions = unsafe { dimensions(inner, outer, REAL_TO_COMPLEX)? };
                    let arrays = (Ends::real(input), Ends::complex(output));
                    plan_fourier(
                        (Kind::RealToComplex, Direction::Forward),
                        dimensions,
                        arrays,
                        flags,
                    )
                })
            }

            /// Half-spectra to real arrays.
            #[unsafe(export_name = concat!($prefix, "dft_c2r"))]
            pub unsafe extern "C" fn dft_c2r(
                rank: c_int,
                dims: *const $dimension,
                howmany_rank: c_int,
                howmany_dims: *const $dimension,
                input: *mut Complex<$real>,
                output: *mut $real,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "dft_c2r"), || {
                    let (inner, outer) = ((rank, dims), (howmany_rank, howmany_dims));
                    // SAFETY: FFTW's manual asks the caller for it.
                    let dimensions = unsafe { dimensions(inner, outer, COMPLEX_TO_REAL)? };
                    let arrays = (Ends::complex(input), Ends::real(output));
                    plan_fourier(
                        (Kind::ComplexToReal, Direction::Inverse),
                        dimensions,
                        arrays,
                        flags,
                    )
                })
            }

            /// Real arrays to half-spectra with parts apart.
            #[unsafe(export_name = concat!($prefix, "split_dft_r2c"))]
            pub unsafe extern "C" fn split_dft_r2c(
                rank: c_int,
                dims: *const $dimension,
                howmany_rank: c_int,
                howmany_dims: *const $dimension,
                input: *mut $real,
                ro: *mut $real,
                io: *mut $real,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "split_dft_r2c"), || {
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
            #[unsafe(export_name = concat!($prefix, "split_dft_c2r"))]
            pub unsafe extern "C" fn split_dft_c2r(
                rank: c_int,
                dims: *const $dimension,
                howmany_rank: c_int,
                howmany_dims: *const $dimension,
                ri: *mut $real,
                ii: *mut $real,
                output: *mut $real,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "split_dft_c2r"), || {
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
            #[unsafe(export_name = concat!($prefix, "r2r"))]
            pub unsafe extern "C" fn r2r(
                rank: c_int,
                dims: *const $dimension,
                howmany_rank: c_int,
                howmany_dims: *const $dimension,
                input: *mut $real,
                output: *mut $real,
                kind: *const c_int,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "r2r"), || {
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
        }
    };
}
guru_entry_points!(double, f64, Iodim, "fftw_plan_guru_");
guru_entry_points!(double64, f64, Iodim64, "fftw_plan_guru64_");
guru_entry_points!(single, f32, Iodim, "fftwf_plan_guru_");
guru_entry_points!(single64, f32, Iodim64, "fftwf_plan_guru64_");
