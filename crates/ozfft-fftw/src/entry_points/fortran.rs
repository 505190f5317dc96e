//! Fortran's legacy names, with one underscore and with two. Everything is passed by address, results come first, and arrays have
//! their first index running fastest, so lists of lengths are reversed. (Fortran 2003 calls the C names.)

use crate::arguments::values_at;
use crate::entry_points::guru::Iodim;
use crate::ffi::PlanPointer;
use num_complex::Complex;
use std::ffi::{c_char, c_double, c_int, c_uint, c_void};

type Int = *const c_int;

/// Makes functions under both of their names.
macro_rules! fortran {
    ($prefix:literal; $($name:ident ($($argument:ident: $type:ty),*) { $($body:tt)* })*) => {
        $(
            /// Fortran's name; see the C function.
            #[unsafe(export_name = concat!($prefix, stringify!($name), "_"))]
            #[allow(unused_unsafe)] // some have nothing to read
            pub unsafe extern "C" fn $name($($argument: $type),*) {
                // SAFETY: FFTW's manual asks the caller for valid addresses of all arguments.
                unsafe { $($body)* }
            }
        )*
        /// The same for compilers that add a second underscore.
        pub mod two_underscores {
            use super::*;
            $(
                /// See the name with one underscore.
                #[unsafe(export_name = concat!($prefix, stringify!($name), "__"))]
                pub unsafe extern "C" fn $name($($argument: $type),*) {
                    // SAFETY: the same promise.
                    unsafe { super::$name($($argument),*) }
                }
            )*
        }
    };
}

/// A list in C's order; none where C's function will reject it anyway.
///
/// # Safety
/// `start` is null or points to `*rank` numbers.
unsafe fn reversed(rank: Int, start: Int) -> Option<Vec<c_int>> {
    // SAFETY: the caller's promise.
    let given = unsafe { values_at("a list", start, *rank) };
    Some(given.ok()?.iter().rev().copied().collect())
}

/// The address of a list's first element; null where there is no list, which C's function then rejects.
fn address<T>(list: &Option<Vec<T>>) -> *const T {
    list.as_ref().map_or(std::ptr::null(), |list| list.as_ptr())
}

/// Dimensions from three lists. These are not reversed: their strides define the layout.
///
/// # Safety
/// As [`reversed`], for all three.
unsafe fn iodims(rank: Int, n: Int, is: Int, os: Int) -> Option<Vec<Iodim>> {
    // SAFETY: the caller's promise.
    let list = |start| unsafe { values_at("a list", start, *rank) }.ok();
    let triples = list(n)?.iter().zip(list(is)?).zip(list(os)?);
    let dims = triples.map(|((&n, &is), &os)| Iodim { n, is, os });
    Some(dims.collect())
}

macro_rules! fortran_entry_points {
    ($module:ident, $real:ty, $prefix:literal) => {
        /// The functions for arrays of one precision.
        pub mod $module {
            use super::*;
            use crate::$module as c;
            use crate::entry_points::guru::$module as guru;

            fortran! {
                $prefix;
                plan_dft (plan: *mut PlanPointer, rank: Int, n: Int, input: *mut Complex<$real>, output: *mut Complex<$real>, sign: Int, flags: Int) {
                    let n = reversed(rank, n);
                    *plan = c::plan_dft(*rank, address(&n), input, output, *sign, *flags as c_uint);
                }
                plan_dft_1d (plan: *mut PlanPointer, nx: Int, input: *mut Complex<$real>, output: *mut Complex<$real>, sign: Int, flags: Int) {
                    let n = [*nx];
                    *plan = c::plan_dft(1, n.as_ptr(), input, output, *sign, *flags as c_uint);
                }
                plan_dft_2d (plan: *mut PlanPointer, nx: Int, ny: Int, input: *mut Complex<$real>, output: *mut Complex<$real>, sign: Int, flags: Int) {
                    let n = [*ny, *nx];
                    *plan = c::plan_dft(2, n.as_ptr(), input, output, *sign, *flags as c_uint);
                }
                plan_dft_3d (plan: *mut PlanPointer, nx: Int, ny: Int, nz: Int, input: *mut Complex<$real>, output: *mut Complex<$real>, sign: Int, flags: Int) {
                    let n = [*nz, *ny, *nx];
                    *plan = c::plan_dft(3, n.as_ptr(), input, output, *sign, *flags as c_uint);
                }
                plan_dft_r2c (plan: *mut PlanPointer, rank: Int, n: Int, input: *mut $real, output: *mut Complex<$real>, flags: Int) {
                    let n = reversed(rank, n);
                    *plan = c::plan_dft_r2c(*rank, address(&n), input, output, *flags as c_uint);
                }
                plan_dft_r2c_1d (plan: *mut PlanPointer, nx: Int, input: *mut $real, output: *mut Complex<$real>, flags: Int) {
                    let n = [*nx];
                    *plan = c::plan_dft_r2c(1, n.as_ptr(), input, output, *flags as c_uint);
                }
                plan_dft_r2c_2d (plan: *mut PlanPointer, nx: Int, ny: Int, input: *mut $real, output: *mut Complex<$real>, flags: Int) {
                    let n = [*ny, *nx];
                    *plan = c::plan_dft_r2c(2, n.as_ptr(), input, output, *flags as c_uint);
                }
                plan_dft_r2c_3d (plan: *mut PlanPointer, nx: Int, ny: Int, nz: Int, input: *mut $real, output: *mut Complex<$real>, flags: Int) {
                    let n = [*nz, *ny, *nx];
                    *plan = c::plan_dft_r2c(3, n.as_ptr(), input, output, *flags as c_uint);
                }
                plan_dft_c2r (plan: *mut PlanPointer, rank: Int, n: Int, input: *mut Complex<$real>, output: *mut $real, flags: Int) {
                    let n = reversed(rank, n);
                    *plan = c::plan_dft_c2r(*rank, address(&n), input, output, *flags as c_uint);
                }
                plan_dft_c2r_1d (plan: *mut PlanPointer, nx: Int, input: *mut Complex<$real>, output: *mut $real, flags: Int) {
                    let n = [*nx];
                    *plan = c::plan_dft_c2r(1, n.as_ptr(), input, output, *flags as c_uint);
                }
                plan_dft_c2r_2d (plan: *mut PlanPointer, nx: Int, ny: Int, input: *mut Complex<$real>, output: *mut $real, flags: Int) {
                    let n = [*ny, *nx];
                    *plan = c::plan_dft_c2r(2, n.as_ptr(), input, output, *flags as c_uint);
                }
                plan_dft_c2r_3d (plan: *mut PlanPointer, nx: Int, ny: Int, nz: Int, input: *mut Complex<$real>, output: *mut $real, flags: Int) {
                    let n = [*nz, *ny, *nx];
                    *plan = c::plan_dft_c2r(3, n.as_ptr(), input, output, *flags as c_uint);
                }
                plan_r2r (plan: *mut PlanPointer, rank: Int, n: Int, input: *mut $real, output: *mut $real, kind: Int, flags: Int) {
                    let (n, kind) = (reversed(rank, n), reversed(rank, kind));
                    *plan = c::plan_r2r(*rank, address(&n), input, output, address(&kind), *flags as c_uint);
                }
                plan_r2r_1d (plan: *mut PlanPointer, nx: Int, input: *mut $real, output: *mut $real, kindx: Int, flags: Int) {
                    let n = [*nx];
                    let kind = [*kindx];
                    *plan = c::plan_r2r(1, n.as_ptr(), input, output, kind.as_ptr(), *flags as c_uint);
                }
                plan_r2r_2d (plan: *mut PlanPointer, nx: Int, ny: Int, input: *mut $real, output: *mut $real, kindx: Int, kindy: Int, flags: Int) {
                    let n = [*ny, *nx];
                    let kind = [*kindy, *kindx];
                    *plan = c::plan_r2r(2, n.as_ptr(), input, output, kind.as_ptr(), *flags as c_uint);
                }
                plan_r2r_3d (plan: *mut PlanPointer, nx: Int, ny: Int, nz: Int, input: *mut $real, output: *mut $real, kindx: Int, kindy: Int, kindz: Int, flags: Int) {
                    let n = [*nz, *ny, *nx];
                    let kind = [*kindz, *kindy, *kindx];
                    *plan = c::plan_r2r(3, n.as_ptr(), input, output, kind.as_ptr(), *flags as c_uint);
                }
                plan_many_dft (plan: *mut PlanPointer, rank: Int, n: Int, howmany: Int, input: *mut Complex<$real>, inembed: Int, istride: Int, idist: Int, output: *mut Complex<$real>, onembed: Int, ostride: Int, odist: Int, sign: Int, flags: Int) {
                    let (n, inembed) = (reversed(rank, n), reversed(rank, inembed));
                    let onembed = reversed(rank, onembed);
                    *plan = c::plan_many_dft(*rank, address(&n), *howmany, input, address(&inembed), *istride, *idist,
                        output, address(&onembed), *ostride, *odist, *sign, *flags as c_uint);
                }
                plan_many_dft_r2c (plan: *mut PlanPointer, rank: Int, n: Int, howmany: Int, input: *mut $real, inembed: Int, istride: Int, idist: Int, output: *mut Complex<$real>, onembed: Int, ostride: Int, odist: Int, flags: Int) {
                    let (n, inembed) = (reversed(rank, n), reversed(rank, inembed));
                    let onembed = reversed(rank, onembed);
                    *plan = c::plan_many_dft_r2c(*rank, address(&n), *howmany, input, address(&inembed), *istride, *idist,
                        output, address(&onembed), *ostride, *odist, *flags as c_uint);
                }
                plan_many_dft_c2r (plan: *mut PlanPointer, rank: Int, n: Int, howmany: Int, input: *mut Complex<$real>, inembed: Int, istride: Int, idist: Int, output: *mut $real, onembed: Int, ostride: Int, odist: Int, flags: Int) {
                    let (n, inembed) = (reversed(rank, n), reversed(rank, inembed));
                    let onembed = reversed(rank, onembed);
                    *plan = c::plan_many_dft_c2r(*rank, address(&n), *howmany, input, address(&inembed), *istride, *idist,
                        output, address(&onembed), *ostride, *odist, *flags as c_uint);
                }
                plan_many_r2r (plan: *mut PlanPointer, rank: Int, n: Int, howmany: Int, input: *mut $real, inembed: Int, istride: Int, idist: Int, output: *mut $real, onembed: Int, ostride: Int, odist: Int, kind: Int, flags: Int) {
                    let (n, inembed) = (reversed(rank, n), reversed(rank, inembed));
                    let onembed = reversed(rank, onembed);
                    let kind = reversed(rank, kind);
                    *plan = c::plan_many_r2r(*rank, address(&n), *howmany, input, address(&inembed), *istride, *idist,
                        output, address(&onembed), *ostride, *odist, address(&kind), *flags as c_uint);
                }
                plan_guru_dft (plan: *mut PlanPointer, rank: Int, n: Int, is: Int, os: Int, howmany_rank: Int, h_n: Int, h_is: Int, h_os: Int, input: *mut Complex<$real>, output: *mut Complex<$real>, sign: Int, flags: Int) {
                    let dims = iodims(rank, n, is, os);
                    let loops = iodims(howmany_rank, h_n, h_is, h_os);
                    *plan = guru::dft(*rank, address(&dims), *howmany_rank, address(&loops),
                        input, output, *sign, *flags as c_uint);
                }
                plan_guru_split_dft (plan: *mut PlanPointer, rank: Int, n: Int, is: Int, os: Int, howmany_rank: Int, h_n: Int, h_is: Int, h_os: Int, ri: *mut $real, ii: *mut $real, ro: *mut $real, io: *mut $real, flags: Int) {
                    let dims = iodims(rank, n, is, os);
                    let loops = iodims(howmany_rank, h_n, h_is, h_os);
                    *plan = guru::split_dft(*rank, address(&dims), *howmany_rank, address(&loops),
                        ri, ii, ro, io, *flags as c_uint);
                }
                plan_guru_dft_r2c (plan: *mut PlanPointer, rank: Int, n: Int, is: Int, os: Int, howmany_rank: Int, h_n: Int, h_is: Int, h_os: Int, input: *mut $real, output: *mut Complex<$real>, flags: Int) {
                    let dims = iodims(rank, n, is, os);
                    let loops = iodims(howmany_rank, h_n, h_is, h_os);
                    *plan = guru::dft_r2c(*rank, address(&dims), *howmany_rank, address(&loops),
                        input, output, *flags as c_uint);
                }
                plan_guru_dft_c2r (plan: *mut PlanPointer, rank: Int, n: Int, is: Int, os: Int, howmany_rank: Int, h_n: Int, h_is: Int, h_os: Int, input: *mut Complex<$real>, output: *mut $real, flags: Int) {
                    let dims = iodims(rank, n, is, os);
                    let loops = iodims(howmany_rank, h_n, h_is, h_os);
                    *plan = guru::dft_c2r(*rank, address(&dims), *howmany_rank, address(&loops),
                        input, output, *flags as c_uint);
                }
                plan_guru_split_dft_r2c (plan: *mut PlanPointer, rank: Int, n: Int, is: Int, os: Int, howmany_rank: Int, h_n: Int, h_is: Int, h_os: Int, input: *mut $real, ro: *mut $real, io: *mut $real, flags: Int) {
                    let dims = iodims(rank, n, is, os);
                    let loops = iodims(howmany_rank, h_n, h_is, h_os);
                    *plan = guru::split_dft_r2c(*rank, address(&dims), *howmany_rank, address(&loops),
                        input, ro, io, *flags as c_uint);
                }
                plan_guru_split_dft_c2r (plan: *mut PlanPointer, rank: Int, n: Int, is: Int, os: Int, howmany_rank: Int, h_n: Int, h_is: Int, h_os: Int, ri: *mut $real, ii: *mut $real, output: *mut $real, flags: Int) {
                    let dims = iodims(rank, n, is, os);
                    let loops = iodims(howmany_rank, h_n, h_is, h_os);
                    *plan = guru::split_dft_c2r(*rank, address(&dims), *howmany_rank, address(&loops),
                        ri, ii, output, *flags as c_uint);
                }
                plan_guru_r2r (plan: *mut PlanPointer, rank: Int, n: Int, is: Int, os: Int, howmany_rank: Int, h_n: Int, h_is: Int, h_os: Int, input: *mut $real, output: *mut $real, kind: Int, flags: Int) {
                    let dims = iodims(rank, n, is, os);
                    let loops = iodims(howmany_rank, h_n, h_is, h_os);
                    *plan = guru::r2r(*rank, address(&dims), *howmany_rank, address(&loops),
                        input, output, kind, *flags as c_uint);
                }
                execute (plan: *const PlanPointer) {
                    c::execute(*plan);
                }
                execute_dft (plan: *const PlanPointer, input: *mut Complex<$real>, output: *mut Complex<$real>) {
                    c::execute_dft(*plan, input, output);
                }
                execute_split_dft (plan: *const PlanPointer, ri: *mut $real, ii: *mut $real, ro: *mut $real, io: *mut $real) {
                    c::execute_split_dft(*plan, ri, ii, ro, io);
                }
                execute_dft_r2c (plan: *const PlanPointer, input: *mut $real, output: *mut Complex<$real>) {
                    c::execute_dft_r2c(*plan, input, output);
                }
                execute_dft_c2r (plan: *const PlanPointer, input: *mut Complex<$real>, output: *mut $real) {
                    c::execute_dft_c2r(*plan, input, output);
                }
                execute_r2r (plan: *const PlanPointer, input: *mut $real, output: *mut $real) {
                    c::execute_r2r(*plan, input, output);
                }
                execute_split_dft_r2c (plan: *const PlanPointer, input: *mut $real, ro: *mut $real, io: *mut $real) {
                    c::execute_split_dft_r2c(*plan, input, ro, io);
                }
                execute_split_dft_c2r (plan: *const PlanPointer, ri: *mut $real, ii: *mut $real, output: *mut $real) {
                    c::execute_split_dft_c2r(*plan, ri, ii, output);
                }
                destroy_plan (plan: *mut PlanPointer) {
                    c::destroy_plan(*plan);
                }
                print_plan (plan: *const PlanPointer) {
                    c::print_plan(*plan);
                }
                flops (plan: *const PlanPointer, add: *mut c_double, mul: *mut c_double, fma: *mut c_double) {
                    c::flops(*plan, add, mul, fma);
                }
                cost (cost: *mut c_double, plan: *const PlanPointer) {
                    *cost = c::cost(*plan);
                }
                estimate_cost (cost: *mut c_double, plan: *const PlanPointer) {
                    *cost = c::estimate_cost(*plan);
                }
                cleanup () {
                    c::cleanup();
                }
                forget_wisdom () {
                    c::forget_wisdom();
                }
                set_timelimit (seconds: *const c_double) {
                    c::set_timelimit(*seconds);
                }
                export_wisdom (write: Option<FortranWrite>, data: *mut c_void) {
                    let mut writer = (write, data);
                    c::export_wisdom(Some(super::write_for_fortran), (&raw mut writer).cast());
                }
                import_wisdom (success: *mut c_int, read: Option<FortranRead>, data: *mut c_void) {
                    let mut reader = (read, data);
                    *success = c::import_wisdom(Some(super::read_for_fortran), (&raw mut reader).cast());
                }
                import_system_wisdom (success: *mut c_int) {
                    *success = c::import_system_wisdom();
                }
                init_threads (success: *mut c_int) {
                    *success = c::init_threads();
                }
                plan_with_nthreads (threads: Int) {
                    c::plan_with_nthreads(*threads);
                }
                planner_nthreads (threads: *mut c_int) {
                    *threads = c::planner_nthreads();
                }
                cleanup_threads () {
                    c::cleanup_threads();
                }
            }
        }
    };
}
fortran_entry_points!(double, f64, "dfftw_");
fortran_entry_points!(single, f32, "sfftw_");

/// A Fortran subroutine that takes a character.
pub type FortranWrite = unsafe extern "C" fn(*mut c_char, *mut c_void);
/// A Fortran subroutine that gives one, or a negative number at the end.
pub type FortranRead = unsafe extern "C" fn(*mut c_int, *mut c_void);

/// Hands a character to Fortran by its address.
unsafe extern "C" fn write_for_fortran(mut character: c_char, writer: *mut c_void) {
    // SAFETY: the pair that `dfftw_export_wisdom_` passes and keeps.
    unsafe {
        let (write, data) = *writer.cast::<(Option<FortranWrite>, *mut c_void)>();
        if let Some(write) = write {
            write(&mut character, data);
        }
    }
}

/// Has Fortran put a character at an address.
unsafe extern "C" fn read_for_fortran(reader: *mut c_void) -> c_int {
    let mut character: c_int = -1;
    // SAFETY: the pair that `dfftw_import_wisdom_` passes and keeps.
    unsafe {
        let (read, data) = *reader.cast::<(Option<FortranRead>, *mut c_void)>();
        if let Some(read) = read {
            read(&mut character, data);
        }
    }
    character
}
