//! Complex transforms of arrays in C order.

use crate::door::{PlanPointer, plan_door, values_at};
use crate::many::{Many, plan_complex};
use num_complex::Complex;
use std::ffi::{c_int, c_uint};

/// `FFTW_FORWARD` and `FFTW_BACKWARD` are the signs of the exponent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_plan_dft(
    rank: c_int,
    n: *const c_int,
    input: *mut Complex<f64>,
    output: *mut Complex<f64>,
    sign: c_int,
    flags: c_uint,
) -> PlanPointer {
    plan_door("fftw_plan_dft", || {
        // SAFETY: FFTW's manual asks the caller for `rank` lengths.
        let lengths = unsafe { values_at("the list of lengths", n, rank)? };
        plan_complex(&Many::contiguous(lengths), input, output, sign, flags)
    })
}

/// One dimension.
#[unsafe(no_mangle)]
pub extern "C" fn fftw_plan_dft_1d(
    n: c_int,
    input: *mut Complex<f64>,
    output: *mut Complex<f64>,
    sign: c_int,
    flags: c_uint,
) -> PlanPointer {
    plan_door("fftw_plan_dft_1d", || {
        plan_complex(&Many::contiguous(&[n]), input, output, sign, flags)
    })
}

/// Two dimensions, the second running fastest.
#[unsafe(no_mangle)]
pub extern "C" fn fftw_plan_dft_2d(
    n0: c_int,
    n1: c_int,
    input: *mut Complex<f64>,
    output: *mut Complex<f64>,
    sign: c_int,
    flags: c_uint,
) -> PlanPointer {
    plan_door("fftw_plan_dft_2d", || {
        plan_complex(&Many::contiguous(&[n0, n1]), input, output, sign, flags)
    })
}

/// Three dimensions, the third running fastest.
#[unsafe(no_mangle)]
pub extern "C" fn fftw_plan_dft_3d(
    n0: c_int,
    n1: c_int,
    n2: c_int,
    input: *mut Complex<f64>,
    output: *mut Complex<f64>,
    sign: c_int,
    flags: c_uint,
) -> PlanPointer {
    plan_door("fftw_plan_dft_3d", || {
        plan_complex(&Many::contiguous(&[n0, n1, n2]), input, output, sign, flags)
    })
}
