//! What a plan is, in words and numbers; and what this library is.

use crate::door::{plan_at, quiet_door};
use crate::plan::FftwPlan;
use std::ffi::{CString, c_char, c_double};

/// The interface's version, then ours.
const VERSION: [u8; 24] = *b"fftw-3.3.10-ozfft-0.1.0\0";
/// Who compiled it.
const COMPILER: [u8; 6] = *b"rustc\0";
/// FFTW says here how its codelets were optimised.
const NO_CODELETS: [u8; 1] = *b"\0";

/// A text that ends in zero.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static fftw_version: [u8; 24] = VERSION;

/// A text that ends in zero.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static fftw_cc: [u8; 6] = COMPILER;

/// An empty text.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static fftw_codelet_optim: [u8; 1] = NO_CODELETS;

/// The description of a plan, or of its absence.
///
/// # Safety
/// `plan` is null or a plan.
unsafe fn description(plan: *const FftwPlan) -> CString {
    // SAFETY: the caller's promise.
    let text = match unsafe { plan_at(plan) } {
        Ok(plan) => plan.describe(),
        Err(refusal) => refusal.to_string(),
    };
    CString::new(text).unwrap_or_default()
}

/// A copy that C gives back with `free`; null where there is no memory.
pub(crate) fn copied_for_c(text: &std::ffi::CStr) -> *mut c_char {
    // SAFETY: the text ends in zero.
    unsafe { libc::strdup(text.as_ptr()) }
}

/// Writes the description of a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_fprint_plan(plan: *const FftwPlan, file: *mut libc::FILE) {
    quiet_door("fftw_fprint_plan", (), || {
        if !file.is_null() {
            // SAFETY: FFTW's manual asks the caller for a plan and an open file; the text ends in zero.
            unsafe { libc::fputs(description(plan).as_ptr(), file) };
        }
    });
}

/// Writes the description of a plan to standard output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_print_plan(plan: *const FftwPlan) {
    quiet_door("fftw_print_plan", (), || {
        // SAFETY: FFTW's manual asks the caller for a plan; the texts end in zero. C's own buffer is used, so that the
        // order of what a program prints is kept.
        unsafe { libc::printf(c"%s".as_ptr(), description(plan).as_ptr()) };
    });
}

/// The description of a plan as a text that the caller gives back with `free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_sprint_plan(plan: *const FftwPlan) -> *mut c_char {
    quiet_door("fftw_sprint_plan", std::ptr::null_mut(), || {
        // SAFETY: FFTW's manual asks the caller for a plan.
        copied_for_c(&unsafe { description(plan) })
    })
}

/// The customary count of floating-point operations, three additions to two multiplications: what a program may compute its rate
/// from. The digits engine has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_flops(
    plan: *const FftwPlan,
    add: *mut c_double,
    mul: *mut c_double,
    fma: *mut c_double,
) {
    // SAFETY: FFTW's manual asks the caller for a plan.
    let operations = unsafe { fftw_cost(plan) };
    for (place, value) in [(add, 0.6 * operations), (mul, 0.4 * operations), (fma, 0.0)] {
        if !place.is_null() {
            // SAFETY: FFTW's manual asks the caller for a place of a double.
            unsafe { place.write(value) };
        }
    }
}

/// The same count as a cost, which FFTW leaves to the library to define.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_cost(plan: *const FftwPlan) -> c_double {
    quiet_door("fftw_cost", 0.0, || {
        // SAFETY: FFTW's manual asks the caller for a plan.
        unsafe { plan_at(plan) }.map_or(0.0, FftwPlan::nominal_operations)
    })
}

/// As [`fftw_cost`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_estimate_cost(plan: *const FftwPlan) -> c_double {
    // SAFETY: FFTW's manual asks the caller for a plan.
    unsafe { fftw_cost(plan) }
}
