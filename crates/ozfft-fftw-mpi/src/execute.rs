//! Executing, printing and destroying plans, and the library's beginning and end. What is not a plan of this library, and what else FFTW's
//! functions do, is left to the next library that has a function of the name.

use crate::plan::{self, AnyPlan, Found, Number, Typed};
use distributed::DistributedError;
use mpi::ffi::{MPI_Comm, MPI_Comm_f2c};
use num_complex::Complex;
use ozfft::Kind;
use std::ffi::{CString, c_char, c_int, c_void};

/// The address of a function in the libraries that come after this one; null where none has it.
fn next(name: &str) -> *mut c_void {
    let Ok(name) = CString::new(name) else {
        return std::ptr::null_mut();
    };
    // SAFETY: the name ends in zero.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }
}

/// The program cannot go on: FFTW's functions return no errors, and other ranks wait.
fn end(message: &str) -> ! {
    eprintln!("ozfft: {message}");
    std::process::abort()
}

/// Calls the function of the next library that has this name and this type.
macro_rules! pass_on {
    ($name:expr, fn($($type:ty),*) $(-> $result:ty)?, $($argument:expr),*) => {{
        let function = next($name);
        if function.is_null() {
            end(&format!(
                "{}: the plan was not made by this library, and no library that was loaded after it has {0}; link -lozfft_fftw, or preload it",
                $name
            ));
        }
        // SAFETY: a function of that name has the type that FFTW's headers give it, and the arguments are the caller's own.
        unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) $(-> $result)?>(function)($($argument),*)
        }
    }};
}

/// Calls it where there is one.
macro_rules! also {
    ($name:expr, fn($($type:ty),*), $($argument:expr),*) => {{
        let function = next($name);
        if !function.is_null() {
            // SAFETY: as above.
            unsafe {
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*)>(function)($($argument),*)
            }
        }
    }};
}

/// The plan at an address, none where it is another library's. The program ends where it has been destroyed.
///
/// # Safety
/// As [`plan::find`].
unsafe fn find<'a>(name: &str, address: *mut c_void) -> Option<&'a mut AnyPlan> {
    // SAFETY: the caller's promise.
    match unsafe { plan::find(address) } {
        Found::Plan(plan) => Some(plan),
        Found::Foreign => None,
        Found::Destroyed => end(&format!("{name}: the plan has been destroyed")),
    }
}

/// Plans of one precision.
trait Own: Number {
    fn of(plan: &mut AnyPlan) -> Option<&mut Typed<Self>>;
}

impl Own for f64 {
    fn of(plan: &mut AnyPlan) -> Option<&mut Typed<f64>> {
        match plan {
            AnyPlan::Double(plan) => Some(plan),
            AnyPlan::Single(_) => None,
        }
    }
}

impl Own for f32 {
    fn of(plan: &mut AnyPlan) -> Option<&mut Typed<f32>> {
        match plan {
            AnyPlan::Single(plan) => Some(plan),
            AnyPlan::Double(_) => None,
        }
    }
}

/// The plan of this precision; the program ends where it has the other one.
fn typed<'a, T: Own>(name: &str, plan: &'a mut AnyPlan) -> &'a mut Typed<T> {
    match T::of(plan) {
        Some(plan) => plan,
        None => end(&format!("{name}: the plan is one of the other precision")),
    }
}

fn done(name: &str, result: Result<(), DistributedError>) {
    if let Err(error) = result {
        end(&format!("{name}: {error}"));
    }
}

/// # Safety
/// The arrays are what FFTW's manual asks for.
unsafe fn on_arrays<T: Own>(
    name: &str,
    plan: &mut AnyPlan,
    kind: Kind,
    arrays: (*mut c_void, *mut c_void),
) {
    let plan = typed::<T>(name, plan);
    if plan.kind() != kind {
        end(&format!("{name}: the plan is {}", plan.kind()));
    }
    // SAFETY: the caller's promise.
    done(name, unsafe { plan.execute(arrays) });
}

macro_rules! functions {
    ($module:ident, $number:ty, $prefix:literal) => {
        /// The functions of one precision.
        pub mod $module {
            use super::*;
            type R = $number;
            type C = Complex<$number>;

            /// Before anything else; MPI has been initialised by the caller.
            #[unsafe(export_name = concat!($prefix, "mpi_init"))]
            pub unsafe extern "C" fn init() {
                also!(concat!($prefix, "mpi_init"), fn(),);
            }

            /// At the end.
            #[unsafe(export_name = concat!($prefix, "mpi_cleanup"))]
            pub unsafe extern "C" fn cleanup() {
                also!(concat!($prefix, "mpi_cleanup"), fn(),);
            }

            /// There is no wisdom about plans of this library: they are found without a search.
            #[unsafe(export_name = concat!($prefix, "mpi_gather_wisdom"))]
            pub unsafe extern "C" fn gather_wisdom(comm: MPI_Comm) {
                also!(concat!($prefix, "mpi_gather_wisdom"), fn(MPI_Comm), comm);
            }

            /// As above.
            #[unsafe(export_name = concat!($prefix, "mpi_broadcast_wisdom"))]
            pub unsafe extern "C" fn broadcast_wisdom(comm: MPI_Comm) {
                also!(concat!($prefix, "mpi_broadcast_wisdom"), fn(MPI_Comm), comm);
            }

            /// The same for Fortran.
            #[unsafe(export_name = concat!($prefix, "mpi_gather_wisdom_f03"))]
            pub unsafe extern "C" fn gather_wisdom_f03(comm: c_int) {
                // SAFETY: a handle of Fortran's.
                unsafe { gather_wisdom(MPI_Comm_f2c(comm)) }
            }

            /// The same for Fortran.
            #[unsafe(export_name = concat!($prefix, "mpi_broadcast_wisdom_f03"))]
            pub unsafe extern "C" fn broadcast_wisdom_f03(comm: c_int) {
                // SAFETY: a handle of Fortran's.
                unsafe { broadcast_wisdom(MPI_Comm_f2c(comm)) }
            }

            /// Transforms the arrays that the plan was made for.
            #[unsafe(export_name = concat!($prefix, "execute"))]
            pub unsafe extern "C" fn execute(plan: *mut c_void) {
                let name = concat!($prefix, "execute");
                // SAFETY: FFTW's manual asks the caller for a plan, and for its arrays to be there.
                match unsafe { find(name, plan) } {
                    None => pass_on!(name, fn(*mut c_void), plan),
                    Some(plan) => {
                        let plan = typed::<R>(name, plan);
                        // SAFETY: as above.
                        done(name, unsafe { plan.execute(plan.arrays) });
                    }
                }
            }

            new_arrays! { R, $prefix;
                /// Complex arrays.
                mpi_execute_dft "mpi_execute_dft" (*mut C, *mut C) Kind::ComplexToComplex;
                /// The same, by the name of one process.
                execute_dft "execute_dft" (*mut C, *mut C) Kind::ComplexToComplex;
                /// Real arrays to half-spectra.
                mpi_execute_dft_r2c "mpi_execute_dft_r2c" (*mut R, *mut C) Kind::RealToComplex;
                /// The same, by the name of one process.
                execute_dft_r2c "execute_dft_r2c" (*mut R, *mut C) Kind::RealToComplex;
                /// Half-spectra to real arrays.
                mpi_execute_dft_c2r "mpi_execute_dft_c2r" (*mut C, *mut R) Kind::ComplexToReal;
                /// The same, by the name of one process.
                execute_dft_c2r "execute_dft_c2r" (*mut C, *mut R) Kind::ComplexToReal;
            }

            /// Gives a plan back; null is nothing.
            #[unsafe(export_name = concat!($prefix, "destroy_plan"))]
            pub unsafe extern "C" fn destroy_plan(plan: *mut c_void) {
                let name = concat!($prefix, "destroy_plan");
                if plan.is_null() {
                    return;
                }
                // SAFETY: FFTW's manual asks the caller for a plan that is not used again.
                match unsafe { plan::leave(plan) } {
                    Found::Plan(plan) => drop(plan),
                    Found::Foreign => pass_on!(name, fn(*mut c_void), plan),
                    Found::Destroyed => end(&format!("{name}: the plan has been destroyed")),
                }
            }

            /// The plan in words; the caller frees it.
            #[unsafe(export_name = concat!($prefix, "sprint_plan"))]
            pub unsafe extern "C" fn sprint_plan(plan: *mut c_void) -> *mut c_char {
                let name = concat!($prefix, "sprint_plan");
                // SAFETY: FFTW's manual asks the caller for a plan.
                match unsafe { find(name, plan) } {
                    None => pass_on!(name, fn(*mut c_void) -> *mut c_char, plan),
                    Some(plan) => {
                        let text = typed::<R>(name, plan).describe().replace('\0', " ");
                        let text = CString::new(text).unwrap_or_default();
                        // SAFETY: it ends in zero.
                        unsafe { libc::strdup(text.as_ptr()) }
                    }
                }
            }

            /// Prints it to a file.
            #[unsafe(export_name = concat!($prefix, "fprint_plan"))]
            pub unsafe extern "C" fn fprint_plan(plan: *mut c_void, file: *mut libc::FILE) {
                let name = concat!($prefix, "fprint_plan");
                // SAFETY: as above.
                if unsafe { find(name, plan) }.is_none() {
                    return pass_on!(name, fn(*mut c_void, *mut libc::FILE), plan, file);
                }
                // SAFETY: as above, and the caller's file.
                unsafe {
                    let text = sprint_plan(plan);
                    libc::fputs(text, file);
                    libc::free(text.cast());
                }
            }

            /// Prints it.
            #[unsafe(export_name = concat!($prefix, "print_plan"))]
            pub unsafe extern "C" fn print_plan(plan: *mut c_void) {
                let name = concat!($prefix, "print_plan");
                // SAFETY: as above.
                match unsafe { find(name, plan) } {
                    None => pass_on!(name, fn(*mut c_void), plan),
                    Some(plan) => println!("{}", typed::<R>(name, plan).describe()),
                }
            }

            /// The customary number of operations.
            #[unsafe(export_name = concat!($prefix, "flops"))]
            pub unsafe extern "C" fn flops(
                plan: *mut c_void,
                add: *mut f64,
                mul: *mut f64,
                fma: *mut f64,
            ) {
                let name = concat!($prefix, "flops");
                // SAFETY: as above.
                match unsafe { find(name, plan) } {
                    None => pass_on!(
                        name,
                        fn(*mut c_void, *mut f64, *mut f64, *mut f64),
                        plan,
                        add,
                        mul,
                        fma
                    ),
                    // SAFETY: the caller's places for numbers.
                    Some(plan) => unsafe {
                        add.write(typed::<R>(name, plan).nominal_operations());
                        mul.write(0.0);
                        fma.write(0.0);
                    },
                }
            }

            /// The same as a cost.
            #[unsafe(export_name = concat!($prefix, "cost"))]
            pub unsafe extern "C" fn cost(plan: *mut c_void) -> f64 {
                let name = concat!($prefix, "cost");
                // SAFETY: as above.
                match unsafe { find(name, plan) } {
                    None => pass_on!(name, fn(*mut c_void) -> f64, plan),
                    Some(plan) => typed::<R>(name, plan).nominal_operations(),
                }
            }

            /// The same.
            #[unsafe(export_name = concat!($prefix, "estimate_cost"))]
            pub unsafe extern "C" fn estimate_cost(plan: *mut c_void) -> f64 {
                let name = concat!($prefix, "estimate_cost");
                // SAFETY: as above.
                match unsafe { find(name, plan) } {
                    None => pass_on!(name, fn(*mut c_void) -> f64, plan),
                    Some(plan) => typed::<R>(name, plan).nominal_operations(),
                }
            }
        }
    };
}

macro_rules! new_arrays {
    ($number:ty, $prefix:literal; $($(#[$about:meta])* $name:ident $text:literal ($input:ty, $output:ty) $kind:expr;)*) => {$(
        $(#[$about])*
        #[unsafe(export_name = concat!($prefix, $text))]
        pub unsafe extern "C" fn $name(plan: *mut c_void, input: $input, output: $output) {
            let name = concat!($prefix, $text);
            // SAFETY: FFTW's manual asks the caller for a plan.
            match unsafe { find(name, plan) } {
                None => pass_on!(name, fn(*mut c_void, $input, $output), plan, input, output),
                // SAFETY: and for its arrays.
                Some(plan) => unsafe {
                    on_arrays::<$number>(name, plan, $kind, (input.cast(), output.cast()));
                },
            }
        }
    )*};
}
functions!(double, f64, "fftw_");
functions!(single, f32, "fftwf_");
