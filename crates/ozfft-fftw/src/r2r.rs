//! Real-to-real transforms of arrays in C order: half-complex, Hartley, cosine and sine transforms of types I to IV.

use crate::door::{PlanPointer, plan_door, values_at};
use crate::many::{Many, plan_real};
use std::ffi::{c_int, c_uint};

/// A kind for every dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_plan_r2r(
    rank: c_int,
    n: *const c_int,
    input: *mut f64,
    output: *mut f64,
    kind: *const c_int,
    flags: c_uint,
) -> PlanPointer {
    plan_door("fftw_plan_r2r", || {
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
#[unsafe(no_mangle)]
pub extern "C" fn fftw_plan_r2r_1d(
    n: c_int,
    input: *mut f64,
    output: *mut f64,
    kind: c_int,
    flags: c_uint,
) -> PlanPointer {
    plan_door("fftw_plan_r2r_1d", || {
        plan_real(&Many::contiguous(&[n]), input, output, &[kind], flags)
    })
}

/// Two dimensions.
#[unsafe(no_mangle)]
pub extern "C" fn fftw_plan_r2r_2d(
    n0: c_int,
    n1: c_int,
    input: *mut f64,
    output: *mut f64,
    kind0: c_int,
    kind1: c_int,
    flags: c_uint,
) -> PlanPointer {
    plan_door("fftw_plan_r2r_2d", || {
        let (lengths, kinds) = ([n0, n1], [kind0, kind1]);
        plan_real(&Many::contiguous(&lengths), input, output, &kinds, flags)
    })
}

/// Three dimensions.
#[unsafe(no_mangle)]
pub extern "C" fn fftw_plan_r2r_3d(
    n0: c_int,
    n1: c_int,
    n2: c_int,
    input: *mut f64,
    output: *mut f64,
    kind0: c_int,
    kind1: c_int,
    kind2: c_int,
    flags: c_uint,
) -> PlanPointer {
    plan_door("fftw_plan_r2r_3d", || {
        let (lengths, kinds) = ([n0, n1, n2], [kind0, kind1, kind2]);
        plan_real(&Many::contiguous(&lengths), input, output, &kinds, flags)
    })
}
