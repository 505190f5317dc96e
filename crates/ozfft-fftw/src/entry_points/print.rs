//! Descriptions of plans, and of this library.

use crate::ffi::{expect_plan, guard_call};
use crate::next::pass_on;
use crate::number::Number;
use crate::registry::{self, FftwPlan, Found};
use std::ffi::{CStr, CString, c_char, c_double};

/// A text in so many bytes, the rest of which is zero. Programs that are linked to fixed addresses copy such texts into places as
/// large as those of the library that they were linked with: ours are as large as Debian's.
const fn padded<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let text = text.as_bytes();
    assert!(text.len() < N, "there is no room for the zero at the end");
    let mut i = 0;
    while i < text.len() {
        bytes[i] = text[i];
        i += 1;
    }
    bytes
}

/// The description of a plan, or of its absence.
fn description<T: Number>(plan: Found<'_>) -> CString {
    let text = match expect_plan::<T>(plan) {
        Ok(plan) => plan.describe(),
        Err(error) => error.to_string(),
    };
    CString::new(text).unwrap_or_default()
}

fn operations<T: Number>(name: &str, plan: Found<'_>) -> c_double {
    guard_call(name, 0.0, || {
        expect_plan::<T>(plan).map_or(0.0, |plan| plan.nominal_operations())
    })
}

/// A copy that C releases with `free`; null where there is no memory.
pub(crate) fn copied_for_c(text: &CStr) -> *mut c_char {
    // SAFETY: the text ends in zero.
    unsafe { libc::strdup(text.as_ptr()) }
}

macro_rules! print_entry_points {
    ($module:ident, $real:ty, $prefix:literal) => {
        /// The functions for arrays of one precision.
        pub mod $module {
            use super::*;

            /// The version of the interface, and whose it is: a text that ends in zero. `fftw_print_plan` tells more.
            #[unsafe(export_name = concat!($prefix, "version"))]
            pub static VERSION: [u8; 21] = padded("fftw-3.3.10-ozfft");

            /// Who compiled it: a text that ends in zero.
            #[unsafe(export_name = concat!($prefix, "cc"))]
            pub static COMPILER: [u8; 96] = padded("rustc");

            /// FFTW says here how its codelets were optimised: an empty text.
            #[unsafe(export_name = concat!($prefix, "codelet_optim"))]
            pub static NO_CODELETS: [u8; 1] = padded("");

            /// Writes the description of a plan.
            #[unsafe(export_name = concat!($prefix, "fprint_plan"))]
            pub unsafe extern "C" fn fprint_plan(plan: *const FftwPlan, file: *mut libc::FILE) {
                let name = concat!($prefix, "fprint_plan");
                // SAFETY: FFTW's manual asks the caller for a plan.
                match unsafe { registry::find(plan) } {
                    Found::Foreign => {
                        pass_on!(name, fn(*const FftwPlan, *mut libc::FILE), plan, file)
                    }
                    found => guard_call(name, (), || {
                        if !file.is_null() {
                            // SAFETY: FFTW's manual asks the caller for an open file; the text ends in zero.
                            unsafe { libc::fputs(description::<$real>(found).as_ptr(), file) };
                        }
                    }),
                }
            }

            /// Writes the description of a plan to standard output.
            #[unsafe(export_name = concat!($prefix, "print_plan"))]
            pub unsafe extern "C" fn print_plan(plan: *const FftwPlan) {
                let name = concat!($prefix, "print_plan");
                // SAFETY: FFTW's manual asks the caller for a plan.
                match unsafe { registry::find(plan) } {
                    Found::Foreign => pass_on!(name, fn(*const FftwPlan), plan),
                    found => guard_call(name, (), || {
                        // SAFETY: the texts end in zero. C's own buffer is used, so that the order of what a program prints is
                        // kept.
                        unsafe {
                            libc::printf(c"%s".as_ptr(), description::<$real>(found).as_ptr())
                        };
                    }),
                }
            }

            /// The description of a plan as a text that the caller releases with `free`.
            #[unsafe(export_name = concat!($prefix, "sprint_plan"))]
            pub unsafe extern "C" fn sprint_plan(plan: *const FftwPlan) -> *mut c_char {
                let name = concat!($prefix, "sprint_plan");
                // SAFETY: FFTW's manual asks the caller for a plan.
                match unsafe { registry::find(plan) } {
                    Found::Foreign => pass_on!(name, fn(*const FftwPlan) -> *mut c_char, plan),
                    found => guard_call(name, std::ptr::null_mut(), || {
                        copied_for_c(&description::<$real>(found))
                    }),
                }
            }

            /// The customary count of floating-point operations, three additions to two multiplications: what a program may compute
            /// its rate from. The digits engine has none.
            #[unsafe(export_name = concat!($prefix, "flops"))]
            pub unsafe extern "C" fn flops(
                plan: *const FftwPlan,
                add: *mut c_double,
                mul: *mut c_double,
                fma: *mut c_double,
            ) {
                let name = concat!($prefix, "flops");
                // SAFETY: FFTW's manual asks the caller for a plan.
                let operations = match unsafe { registry::find(plan) } {
                    Found::Foreign => {
                        return pass_on!(
                            name,
                            fn(*const FftwPlan, *mut c_double, *mut c_double, *mut c_double),
                            plan,
                            add,
                            mul,
                            fma
                        );
                    }
                    found => operations::<$real>(name, found),
                };
                for (place, value) in [(add, 0.6 * operations), (mul, 0.4 * operations), (fma, 0.0)]
                {
                    if !place.is_null() {
                        // SAFETY: FFTW's manual asks the caller for a place of a double.
                        unsafe { place.write(value) };
                    }
                }
            }

            /// The same count as a cost, which FFTW leaves to the library to define.
            #[unsafe(export_name = concat!($prefix, "cost"))]
            pub unsafe extern "C" fn cost(plan: *const FftwPlan) -> c_double {
                let name = concat!($prefix, "cost");
                // SAFETY: FFTW's manual asks the caller for a plan.
                match unsafe { registry::find(plan) } {
                    Found::Foreign => pass_on!(name, fn(*const FftwPlan) -> c_double, plan),
                    found => operations::<$real>(name, found),
                }
            }

            /// As `cost`.
            #[unsafe(export_name = concat!($prefix, "estimate_cost"))]
            pub unsafe extern "C" fn estimate_cost(plan: *const FftwPlan) -> c_double {
                let name = concat!($prefix, "estimate_cost");
                // SAFETY: FFTW's manual asks the caller for a plan.
                match unsafe { registry::find(plan) } {
                    Found::Foreign => pass_on!(name, fn(*const FftwPlan) -> c_double, plan),
                    found => operations::<$real>(name, found),
                }
            }
        }
    };
}
print_entry_points!(double, f64, "fftw_");
print_entry_points!(single, f32, "fftwf_");
