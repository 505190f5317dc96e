//! Executing plans, on the arrays that they were made for or on others. One plan may be executed by several threads at once,
//! each with arrays of its own.

use crate::door::{execute_door, plan_at, quiet_door};
use crate::plan::FftwPlan;
use crate::strides::Ends;
use num_complex::Complex;
use ozfft::Kind;

/// # Safety
/// `plan` is null or a plan, and the arrays are what FFTW's manual asks for.
unsafe fn execute(
    name: &str,
    plan: *const FftwPlan,
    kind: Option<Kind>,
    (input, output): (Ends, Ends),
) {
    execute_door(name, || {
        // SAFETY: the caller's promise.
        let plan = unsafe { plan_at(plan)? };
        if plan.kind() != kind {
            return Err(plan.other_kind());
        }
        // SAFETY: the caller's promise.
        unsafe { plan.execute(input, output) }
    });
}

/// Transforms the arrays that the plan was made for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_execute(plan: *const FftwPlan) {
    execute_door("fftw_execute", || {
        // SAFETY: FFTW's manual asks the caller for a plan and for its arrays to be there.
        unsafe {
            let plan = plan_at(plan)?;
            plan.execute(plan.input, plan.output)
        }
    });
}

/// Complex arrays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_execute_dft(
    plan: *const FftwPlan,
    input: *mut Complex<f64>,
    output: *mut Complex<f64>,
) {
    let arrays = (Ends::complex(input.cast()), Ends::complex(output.cast()));
    // SAFETY: what FFTW's manual asks of the caller.
    unsafe {
        execute(
            "fftw_execute_dft",
            plan,
            Some(Kind::ComplexToComplex),
            arrays,
        )
    }
}

/// Complex arrays, parts apart.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_execute_split_dft(
    plan: *const FftwPlan,
    ri: *mut f64,
    ii: *mut f64,
    ro: *mut f64,
    io: *mut f64,
) {
    let arrays = (Ends::split(ri, ii), Ends::split(ro, io));
    let kind = Some(Kind::ComplexToComplex);
    // SAFETY: what FFTW's manual asks of the caller.
    unsafe { execute("fftw_execute_split_dft", plan, kind, arrays) }
}

/// Real arrays to half-spectra.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_execute_dft_r2c(
    plan: *const FftwPlan,
    input: *mut f64,
    output: *mut Complex<f64>,
) {
    let arrays = (Ends::real(input), Ends::complex(output.cast()));
    let kind = Some(Kind::RealToComplex);
    // SAFETY: what FFTW's manual asks of the caller.
    unsafe { execute("fftw_execute_dft_r2c", plan, kind, arrays) }
}

/// Half-spectra to real arrays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_execute_dft_c2r(
    plan: *const FftwPlan,
    input: *mut Complex<f64>,
    output: *mut f64,
) {
    let arrays = (Ends::complex(input.cast()), Ends::real(output));
    let kind = Some(Kind::ComplexToReal);
    // SAFETY: what FFTW's manual asks of the caller.
    unsafe { execute("fftw_execute_dft_c2r", plan, kind, arrays) }
}

/// Real arrays to half-spectra, parts apart.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_execute_split_dft_r2c(
    plan: *const FftwPlan,
    input: *mut f64,
    ro: *mut f64,
    io: *mut f64,
) {
    let arrays = (Ends::real(input), Ends::split(ro, io));
    let kind = Some(Kind::RealToComplex);
    // SAFETY: what FFTW's manual asks of the caller.
    unsafe { execute("fftw_execute_split_dft_r2c", plan, kind, arrays) }
}

/// Half-spectra, parts apart, to real arrays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_execute_split_dft_c2r(
    plan: *const FftwPlan,
    ri: *mut f64,
    ii: *mut f64,
    output: *mut f64,
) {
    let arrays = (Ends::split(ri, ii), Ends::real(output));
    let kind = Some(Kind::ComplexToReal);
    // SAFETY: what FFTW's manual asks of the caller.
    unsafe { execute("fftw_execute_split_dft_c2r", plan, kind, arrays) }
}

/// Real arrays to real arrays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_execute_r2r(
    plan: *const FftwPlan,
    input: *mut f64,
    output: *mut f64,
) {
    let arrays = (Ends::real(input), Ends::real(output));
    // SAFETY: what FFTW's manual asks of the caller.
    unsafe { execute("fftw_execute_r2r", plan, None, arrays) }
}

/// Gives a plan back; null is nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_destroy_plan(plan: *mut FftwPlan) {
    if !plan.is_null() {
        quiet_door("fftw_destroy_plan", (), || {
            // SAFETY: FFTW's manual asks the caller for a plan that is not used again; plans are boxed.
            drop(unsafe { Box::from_raw(plan) });
        });
    }
}
