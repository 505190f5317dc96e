//! Making plans: `fftw_mpi_plan_…`. All are collective. Without a plan they return null, and say why where `OZFFT_VERBOSE` is set.
//!
//! Flags of the planner change nothing: nothing is searched, arrays are not touched, and the input of out-of-place transforms is kept. Of those for MPI,
//! transposed orders are FFTW's, and scrambled ones are the natural order.

use crate::plan::{AnyPlan, Number, Request, enter, is_verbose};
use mpi::ffi::{MPI_Comm, MPI_Comm_f2c};
use num_complex::Complex;
use ozfft::Kind;
use std::ffi::{c_int, c_uint, c_void};

/// Numbers with their kind of plan.
trait Planned: Number {
    fn any(plan: crate::plan::Typed<Self>) -> AnyPlan;
}

impl Planned for f64 {
    fn any(plan: crate::plan::Typed<f64>) -> AnyPlan {
        AnyPlan::Double(plan)
    }
}

impl Planned for f32 {
    fn any(plan: crate::plan::Typed<f32>) -> AnyPlan {
        AnyPlan::Single(plan)
    }
}

/// # Safety
/// `n` has `rnk` lengths.
unsafe fn lengths(rnk: c_int, n: *const isize) -> Vec<isize> {
    match usize::try_from(rnk) {
        // SAFETY: the caller's promise.
        Ok(rnk) if rnk > 0 && !n.is_null() => {
            unsafe { std::slice::from_raw_parts(n, rnk) }.to_vec()
        }
        _ => Vec::new(),
    }
}

fn make<T: Planned>(
    request: &Request,
    comm: MPI_Comm,
    arrays: (*mut c_void, *mut c_void),
) -> *mut c_void {
    match request.plan::<T>(comm, arrays) {
        Ok(plan) => enter(T::any(plan)),
        Err(error) => {
            if is_verbose() {
                eprintln!("ozfft: {}mpi_plan: no plan: {error}", T::PREFIX);
            }
            std::ptr::null_mut()
        }
    }
}

macro_rules! planners {
    ($module:ident, $number:ty, $prefix:literal; $($(#[$about:meta])* $name:ident $text:literal ($($before:ident: $type:ty),*) ($($after:ident: $after_type:ty),*) |$comm:ident| $request:expr, $input:ident, $output:ident;)*) => {
        /// The functions of one precision.
        pub mod $module {
            use super::*;
            type R = $number;
            type C = Complex<$number>;
            $(
                $(#[$about])*
                #[unsafe(export_name = concat!($prefix, $text))]
                pub unsafe extern "C" fn $name($($before: $type,)* $comm: MPI_Comm, $($after: $after_type),*) -> *mut c_void {
                    make::<R>(&$request, $comm, ($input.cast(), $output.cast()))
                }
            )*
            /// The same for Fortran, which has other handles.
            pub mod fortran {
                use super::*;
                $(
                    $(#[$about])*
                    #[unsafe(export_name = concat!($prefix, $text, "_f03"))]
                    pub unsafe extern "C" fn $name($($before: $type,)* $comm: c_int, $($after: $after_type),*) -> *mut c_void {
                        // SAFETY: a handle of Fortran's, and as above.
                        unsafe { super::$name($($before,)* MPI_Comm_f2c($comm), $($after),*) }
                    }
                )*
            }
        }
    };
}

/// A request for one array of default blocks, and in general.
fn simple(kind: Kind, n: Vec<isize>, sign: c_int, flags: c_uint) -> Request {
    many(kind, n, 1, (0, 0), sign, flags)
}

fn many(
    kind: Kind,
    n: Vec<isize>,
    howmany: isize,
    blocks: (isize, isize),
    sign: c_int,
    flags: c_uint,
) -> Request {
    Request {
        kind,
        n,
        howmany,
        blocks,
        sign,
        flags,
    }
}

use Kind::{ComplexToComplex, ComplexToReal, RealToComplex};

macro_rules! planners_of {
    ($module:ident, $number:ty, $prefix:literal) => {
        planners! { $module, $number, $prefix;
            /// Complex arrays, interleaved, in given blocks.
            plan_many_dft "plan_many_dft"
            (rnk: c_int, n: *const isize, howmany: isize, block: isize, tblock: isize, input: *mut C, output: *mut C)
            (sign: c_int, flags: c_uint)
            |comm| many(ComplexToComplex, unsafe { lengths(rnk, n) }, howmany, (block, tblock), sign, flags), input, output;
            /// A complex array.
            plan_dft "plan_dft"
            (rnk: c_int, n: *const isize, input: *mut C, output: *mut C)
            (sign: c_int, flags: c_uint)
            |comm| simple(ComplexToComplex, unsafe { lengths(rnk, n) }, sign, flags), input, output;
            /// A line.
            plan_dft_1d "plan_dft_1d"
            (n0: isize, input: *mut C, output: *mut C)
            (sign: c_int, flags: c_uint)
            |comm| simple(ComplexToComplex, vec![n0], sign, flags), input, output;
            /// Two dimensions.
            plan_dft_2d "plan_dft_2d"
            (n0: isize, n1: isize, input: *mut C, output: *mut C)
            (sign: c_int, flags: c_uint)
            |comm| simple(ComplexToComplex, vec![n0, n1], sign, flags), input, output;
            /// Three dimensions.
            plan_dft_3d "plan_dft_3d"
            (n0: isize, n1: isize, n2: isize, input: *mut C, output: *mut C)
            (sign: c_int, flags: c_uint)
            |comm| simple(ComplexToComplex, vec![n0, n1, n2], sign, flags), input, output;
            /// Real arrays to half-spectra, interleaved, in given blocks.
            plan_many_dft_r2c "plan_many_dft_r2c"
            (rnk: c_int, n: *const isize, howmany: isize, iblock: isize, oblock: isize, input: *mut R, output: *mut C)
            (flags: c_uint)
            |comm| many(RealToComplex, unsafe { lengths(rnk, n) }, howmany, (iblock, oblock), -1, flags), input, output;
            /// A real array to its half-spectrum.
            plan_dft_r2c "plan_dft_r2c"
            (rnk: c_int, n: *const isize, input: *mut R, output: *mut C)
            (flags: c_uint)
            |comm| simple(RealToComplex, unsafe { lengths(rnk, n) }, -1, flags), input, output;
            /// Two dimensions.
            plan_dft_r2c_2d "plan_dft_r2c_2d"
            (n0: isize, n1: isize, input: *mut R, output: *mut C)
            (flags: c_uint)
            |comm| simple(RealToComplex, vec![n0, n1], -1, flags), input, output;
            /// Three dimensions.
            plan_dft_r2c_3d "plan_dft_r2c_3d"
            (n0: isize, n1: isize, n2: isize, input: *mut R, output: *mut C)
            (flags: c_uint)
            |comm| simple(RealToComplex, vec![n0, n1, n2], -1, flags), input, output;
            /// Half-spectra to real arrays, interleaved, in given blocks.
            plan_many_dft_c2r "plan_many_dft_c2r"
            (rnk: c_int, n: *const isize, howmany: isize, iblock: isize, oblock: isize, input: *mut C, output: *mut R)
            (flags: c_uint)
            |comm| many(ComplexToReal, unsafe { lengths(rnk, n) }, howmany, (iblock, oblock), 1, flags), input, output;
            /// A half-spectrum to its real array.
            plan_dft_c2r "plan_dft_c2r"
            (rnk: c_int, n: *const isize, input: *mut C, output: *mut R)
            (flags: c_uint)
            |comm| simple(ComplexToReal, unsafe { lengths(rnk, n) }, 1, flags), input, output;
            /// Two dimensions.
            plan_dft_c2r_2d "plan_dft_c2r_2d"
            (n0: isize, n1: isize, input: *mut C, output: *mut R)
            (flags: c_uint)
            |comm| simple(ComplexToReal, vec![n0, n1], 1, flags), input, output;
            /// Three dimensions.
            plan_dft_c2r_3d "plan_dft_c2r_3d"
            (n0: isize, n1: isize, n2: isize, input: *mut C, output: *mut R)
            (flags: c_uint)
            |comm| simple(ComplexToReal, vec![n0, n1, n2], 1, flags), input, output;
        }
    };
}
planners_of!(double, f64, "fftw_mpi_");
planners_of!(single, f32, "fftwf_mpi_");
