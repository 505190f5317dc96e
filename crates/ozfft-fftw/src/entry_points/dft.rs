//! Complex transforms of arrays in C order.

use crate::arguments::values_at;
use crate::entry_points::many::{Many, plan_complex};
use crate::ffi::{PlanPointer, guard_plan};
use num_complex::Complex;
use std::ffi::{c_int, c_uint};

macro_rules! dft_entry_points {
    ($module:ident, $real:ty, $prefix:literal) => {
        /// The functions for arrays of one precision.
        pub mod $module {
            use super::*;

            /// `FFTW_FORWARD` and `FFTW_BACKWARD` are the signs of the exponent.
            #[unsafe(export_name = concat!($prefix, "plan_dft"))]
            pub unsafe extern "C" fn plan_dft(
                rank: c_int,
                n: *const c_int,
                input: *mut Complex<$real>,
                output: *mut Complex<$real>,
                sign: c_int,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_dft"), || {
                    // SAFETY: FFTW's manual asks the caller for `rank` lengths.
                    let lengths = unsafe { values_at("the list of lengths", n, rank)? };
                    plan_complex(&Many::contiguous(lengths), input, output, sign, flags)
                })
            }

            /// One dimension.
            #[unsafe(export_name = concat!($prefix, "plan_dft_1d"))]
            pub extern "C" fn plan_dft_1d(
                n: c_int,
                input: *mut Complex<$real>,
                output: *mut Complex<$real>,
                sign: c_int,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_dft_1d"), || {
                    plan_complex(&Many::contiguous(&[n]), input, output, sign, flags)
                })
            }

            /// Two dimensions, the second running fastest.
            #[unsafe(export_name = concat!($prefix, "plan_dft_2d"))]
            pub extern "C" fn plan_dft_2d(
                n0: c_int,
                n1: c_int,
                input: *mut Complex<$real>,
                output: *mut Complex<$real>,
                sign: c_int,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_dft_2d"), || {
                    plan_complex(&Many::contiguous(&[n0, n1]), input, output, sign, flags)
                })
            }

            /// Three dimensions, the third running fastest.
            #[unsafe(export_name = concat!($prefix, "plan_dft_3d"))]
            pub extern "C" fn plan_dft_3d(
                n0: c_int,
                n1: c_int,
                n2: c_int,
                input: *mut Complex<$real>,
                output: *mut Complex<$real>,
                sign: c_int,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_dft_3d"), || {
                    plan_complex(&Many::contiguous(&[n0, n1, n2]), input, output, sign, flags)
                })
            }
        }
    };
}
dft_entry_points!(double, f64, "fftw_");
dft_entry_points!(single, f32, "fftwf_");
