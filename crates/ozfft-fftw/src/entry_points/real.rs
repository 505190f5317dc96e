//! Real transforms of arrays in C order: real to half-spectrum and back. In place, rows of reals are padded to the length of
//! their half-spectrum.

use crate::arguments::values_at;
use crate::entry_points::many::{Many, plan_complex_to_real, plan_real_to_complex};
use crate::ffi::{PlanPointer, guard_plan};
use num_complex::Complex;
use std::ffi::{c_int, c_uint};

macro_rules! real_entry_points {
    ($module:ident, $real:ty, $prefix:literal) => {
        /// The functions for arrays of one precision.
        pub mod $module {
            use super::*;

            /// Real to half-spectrum.
            #[unsafe(export_name = concat!($prefix, "plan_dft_r2c"))]
            pub unsafe extern "C" fn plan_dft_r2c(
                rank: c_int,
                n: *const c_int,
                input: *mut $real,
                output: *mut Complex<$real>,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_dft_r2c"), || {
                    // SAFETY: FFTW's manual asks the caller for `rank` lengths.
                    let lengths = unsafe { values_at("the list of lengths", n, rank)? };
                    plan_real_to_complex(&Many::contiguous(lengths), input, output, flags)
                })
            }

            /// Real to half-spectrum, one dimension.
            #[unsafe(export_name = concat!($prefix, "plan_dft_r2c_1d"))]
            pub extern "C" fn plan_dft_r2c_1d(
                n: c_int,
                input: *mut $real,
                output: *mut Complex<$real>,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_dft_r2c_1d"), || {
                    plan_real_to_complex(&Many::contiguous(&[n]), input, output, flags)
                })
            }

            /// Real to half-spectrum, two dimensions.
            #[unsafe(export_name = concat!($prefix, "plan_dft_r2c_2d"))]
            pub extern "C" fn plan_dft_r2c_2d(
                n0: c_int,
                n1: c_int,
                input: *mut $real,
                output: *mut Complex<$real>,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_dft_r2c_2d"), || {
                    plan_real_to_complex(&Many::contiguous(&[n0, n1]), input, output, flags)
                })
            }

            /// Real to half-spectrum, three dimensions.
            #[unsafe(export_name = concat!($prefix, "plan_dft_r2c_3d"))]
            pub extern "C" fn plan_dft_r2c_3d(
                n0: c_int,
                n1: c_int,
                n2: c_int,
                input: *mut $real,
                output: *mut Complex<$real>,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_dft_r2c_3d"), || {
                    plan_real_to_complex(&Many::contiguous(&[n0, n1, n2]), input, output, flags)
                })
            }

            /// Half-spectrum to real; lengths are those of the real array. The input is left as it is, unless it is the output.
            #[unsafe(export_name = concat!($prefix, "plan_dft_c2r"))]
            pub unsafe extern "C" fn plan_dft_c2r(
                rank: c_int,
                n: *const c_int,
                input: *mut Complex<$real>,
                output: *mut $real,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_dft_c2r"), || {
                    // SAFETY: FFTW's manual asks the caller for `rank` lengths.
                    let lengths = unsafe { values_at("the list of lengths", n, rank)? };
                    plan_complex_to_real(&Many::contiguous(lengths), input, output, flags)
                })
            }

            /// Half-spectrum to real, one dimension.
            #[unsafe(export_name = concat!($prefix, "plan_dft_c2r_1d"))]
            pub extern "C" fn plan_dft_c2r_1d(
                n: c_int,
                input: *mut Complex<$real>,
                output: *mut $real,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_dft_c2r_1d"), || {
                    plan_complex_to_real(&Many::contiguous(&[n]), input, output, flags)
                })
            }

            /// Half-spectrum to real, two dimensions.
            #[unsafe(export_name = concat!($prefix, "plan_dft_c2r_2d"))]
            pub extern "C" fn plan_dft_c2r_2d(
                n0: c_int,
                n1: c_int,
                input: *mut Complex<$real>,
                output: *mut $real,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_dft_c2r_2d"), || {
                    plan_complex_to_real(&Many::contiguous(&[n0, n1]), input, output, flags)
                })
            }

            /// Half-spectrum to real, three dimensions.
            #[unsafe(export_name = concat!($prefix, "plan_dft_c2r_3d"))]
            pub extern "C" fn plan_dft_c2r_3d(
                n0: c_int,
                n1: c_int,
                n2: c_int,
                input: *mut Complex<$real>,
                output: *mut $real,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_dft_c2r_3d"), || {
                    plan_complex_to_real(&Many::contiguous(&[n0, n1, n2]), input, output, flags)
                })
            }
        }
    };
}
real_entry_points!(double, f64, "fftw_");
real_entry_points!(single, f32, "fftwf_");
