//! Executing plans, on the arrays that they were made for or on others. One plan may be executed by several threads at once,
//! each with arrays of its own. Plans of another library are executed by that.

use crate::error::FftwError;
use crate::ffi::{expect_plan, guard_call, guard_execute};
use crate::log::fail;
use crate::next::pass_on;
use crate::number::Number;
use crate::registry::{self, FftwPlan, Found};
use crate::transforms::strides::Ends;
use num_complex::Complex;
use ozfft::Kind;

/// # Safety
/// The arrays are what FFTW's manual asks for.
unsafe fn execute<T: Number>(
    name: &str,
    plan: Found<'_>,
    kind: Option<Kind>,
    (input, output): (Ends<T>, Ends<T>),
) {
    guard_execute(name, || {
        let plan = expect_plan::<T>(plan)?;
        if plan.kind() != kind {
            return Err(plan.other_kind());
        }
        // SAFETY: the caller's promise.
        unsafe { plan.execute(input, output) }
    });
}

/// The FFI entry points of one precision: name, arguments with their types, the kind that a plan must have, and the arrays.
macro_rules! execute_entry_points {
    ($module:ident, $real:ty, $prefix:literal) => {
        /// The functions for arrays of one precision.
        pub mod $module {
            use super::*;

            /// Transforms the arrays that the plan was made for.
            #[unsafe(export_name = concat!($prefix, "execute"))]
            pub unsafe extern "C" fn execute(plan: *const FftwPlan) {
                let name = concat!($prefix, "execute");
                // SAFETY: FFTW's manual asks the caller for a plan.
                match unsafe { registry::find(plan) } {
                    Found::Foreign => pass_on!(name, fn(*const FftwPlan), plan),
                    found => guard_execute(name, || {
                        let plan = expect_plan::<$real>(found)?;
                        // SAFETY: FFTW's manual asks the caller for the plan's arrays to be there.
                        unsafe { plan.execute(plan.input, plan.output) }
                    }),
                }
            }

            new_array_entry_points! {
                $real, $prefix;
                /// Complex arrays.
                execute_dft "execute_dft" (input: *mut Complex<$real>, output: *mut Complex<$real>),
                Some(Kind::ComplexToComplex), (Ends::complex(input), Ends::complex(output));
                /// Complex arrays, parts apart.
                execute_split_dft "execute_split_dft" (ri: *mut $real, ii: *mut $real, ro: *mut $real, io: *mut $real),
                Some(Kind::ComplexToComplex), (Ends::split(ri, ii), Ends::split(ro, io));
                /// Real arrays to half-spectra.
                execute_dft_r2c "execute_dft_r2c" (input: *mut $real, output: *mut Complex<$real>),
                Some(Kind::RealToComplex), (Ends::real(input), Ends::complex(output));
                /// Half-spectra to real arrays.
                execute_dft_c2r "execute_dft_c2r" (input: *mut Complex<$real>, output: *mut $real),
                Some(Kind::ComplexToReal), (Ends::complex(input), Ends::real(output));
                /// Real arrays to half-spectra, parts apart.
                execute_split_dft_r2c "execute_split_dft_r2c" (input: *mut $real, ro: *mut $real, io: *mut $real),
                Some(Kind::RealToComplex), (Ends::real(input), Ends::split(ro, io));
                /// Half-spectra, parts apart, to real arrays.
                execute_split_dft_c2r "execute_split_dft_c2r" (ri: *mut $real, ii: *mut $real, output: *mut $real),
                Some(Kind::ComplexToReal), (Ends::split(ri, ii), Ends::real(output));
                /// Real arrays to real arrays.
                execute_r2r "execute_r2r" (input: *mut $real, output: *mut $real),
                None, (Ends::real(input), Ends::real(output));
            }

            /// Gives a plan back; null is nothing.
            #[unsafe(export_name = concat!($prefix, "destroy_plan"))]
            pub unsafe extern "C" fn destroy_plan(plan: *mut FftwPlan) {
                let name = concat!($prefix, "destroy_plan");
                // SAFETY: FFTW's manual asks the caller for a plan that is not used again.
                match unsafe { registry::find(plan) } {
                    Found::Null => {}
                    Found::Foreign => pass_on!(name, fn(*mut FftwPlan), plan),
                    Found::Destroyed => fail(&format!("{name}: {}", FftwError::Destroyed)),
                    // SAFETY: as above.
                    Found::Plan(_) => guard_call(name, (), || drop(unsafe { registry::leave(plan) })),
                }
            }
        }
    };
}

macro_rules! new_array_entry_points {
    ($real:ty, $prefix:literal; $(
        $(#[$about:meta])*
        $name:ident $text:literal ($($argument:ident: $type:ty),*), $kind:expr, $arrays:expr;
    )*) => {$(
        $(#[$about])*
        #[unsafe(export_name = concat!($prefix, $text))]
        pub unsafe extern "C" fn $name(plan: *const FftwPlan, $($argument: $type),*) {
            let name = concat!($prefix, $text);
            // SAFETY: FFTW's manual asks the caller for a plan.
            match unsafe { registry::find(plan) } {
                Found::Foreign => pass_on!(name, fn(*const FftwPlan, $($type),*), plan, $($argument),*),
                // SAFETY: what FFTW's manual asks of the caller.
                found => unsafe { super::execute::<$real>(name, found, $kind, $arrays) },
            }
        }
    )*};
}
execute_entry_points!(double, f64, "fftw_");
execute_entry_points!(single, f32, "fftwf_");
