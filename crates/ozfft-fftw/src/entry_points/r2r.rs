//! Real-to-real transforms of arrays in C order: half-complex, Hartley, cosine and sine transforms of types I to IV.

use crate::arguments::values_at;
use crate::entry_points::many::{Many, plan_real};
use crate::ffi::{PlanPointer, guard_plan};
use std::ffi::{c_int, c_uint};

macro_rules! r2r_entry_points {
    ($module:ident, $real:ty, $prefix:literal) => {
        /// The functions for arrays of one precision.
        pub mod $module {
            use super::*;

            /// A kind for every dimension.
            #[unsafe(export_name = concat!($prefix, "plan_r2r"))]
            pub unsafe extern "C" fn plan_r2r(
                rank: c_int,
                n: *const c_int,
                input: *mut $real,
                output: *mut $real,
                kind: *const c_int,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_r2r"), || {
                    // SAFETY: FFTW's manual asks the caller for `rank` lengths and kinds.
                    let (lengths, kinds) = unsafe {
                        (
                            values_at("the list of lengths", n, rank)?,
                            values_at("the list of kinds", kind, rank)?,
                        )
                    };
                    plan_real(&Many::contiguous(lengths), input, output, kinds, flags)
                })
            }

            /// One dimension.
            #[unsafe(export_name = concat!($prefix, "plan_r2r_1d"))]
            pub extern "C" fn plan_r2r_1d(
                n: c_int,
                input: *mut $real,
                output: *mut $real,
                kind: c_int,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_r2r_1d"), || {
                    plan_real(&Many::contiguous(&[n]), input, output, &[kind], flags)
                })
            }

            /// Two dimensions.
            #[unsafe(export_name = concat!($prefix, "plan_r2r_2d"))]
            pub extern "C" fn plan_r2r_2d(
                n0: c_int,
                n1: c_int,
                input: *mut $real,
                output: *mut $real,
                kind0: c_int,
                kind1: c_int,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_r2r_2d"), || {
                    let (lengths, kinds) = ([n0, n1], [kind0, kind1]);
                    plan_real(&Many::contiguous(&lengths), input, output, &kinds, flags)
                })
            }

            /// Three dimensions.
            #[unsafe(export_name = concat!($prefix, "plan_r2r_3d"))]
            pub extern "C" fn plan_r2r_3d(
                n0: c_int,
                n1: c_int,
                n2: c_int,
                input: *mut $real,
                output: *mut $real,
                kind0: c_int,
                kind1: c_int,
                kind2: c_int,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_r2r_3d"), || {
                    let (lengths, kinds) = ([n0, n1, n2], [kind0, kind1, kind2]);
                    plan_real(&Many::contiguous(&lengths), input, output, &kinds, flags)
                })
            }
        }
    };
}
r2r_entry_points!(double, f64, "fftw_");
r2r_entry_points!(single, f32, "fftwf_");
