//! Fortran's legacy names, with one underscore and with two. Everything is passed by address, results come first, and arrays have
//! their first index running fastest, so lists of lengths are turned round. (Fortran 2003 calls the C names.)

use crate::dft::fftw_plan_dft;
use crate::door::{PlanPointer, values_at};
use crate::execute::*;
use crate::guru::*;
use crate::many::*;
use crate::memory::fftw_cleanup;
use crate::print::{fftw_cost, fftw_flops, fftw_print_plan};
use crate::r2r::fftw_plan_r2r;
use crate::real::{fftw_plan_dft_c2r, fftw_plan_dft_r2c};
use crate::threads::*;
use crate::wisdom::*;
use num_complex::Complex;
use std::ffi::{c_char, c_double, c_int, c_uint, c_void};

type Z = Complex<f64>;
type Int = *const c_int;

/// Makes one function under both of its names.
macro_rules! fortran {
    ($($one:ident $two:ident ($($argument:ident: $type:ty),*) { $($body:tt)* })*) => {$(
        /// Fortran's name; see the C function.
        #[unsafe(no_mangle)]
        #[allow(unused_unsafe)] // some have nothing to read
        pub unsafe extern "C" fn $one($($argument: $type),*) {
            // SAFETY: FFTW's manual asks the caller for valid addresses of all arguments.
            unsafe { $($body)* }
        }
        /// The same for compilers that add a second underscore.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $two($($argument: $type),*) {
            // SAFETY: the same promise.
            unsafe { $one($($argument),*) }
        }
    )*};
}

/// A list in C's order; none where C's function will refuse it anyway.
///
/// # Safety
/// `start` is null or points to `*rank` numbers.
unsafe fn reversed(rank: Int, start: Int) -> Option<Vec<c_int>> {
    // SAFETY: the caller's promise.
    let given = unsafe { values_at("a list", start, *rank) };
    Some(given.ok()?.iter().rev().copied().collect())
}

/// The address of a list's numbers.
fn address(list: &Option<Vec<c_int>>) -> Int {
    list.as_ref().map_or(std::ptr::null(), |list| list.as_ptr())
}

/// Dimensions from three lists. These are not turned round: their strides say where everything lies.
///
/// # Safety
/// As [`reversed`], for all three.
unsafe fn iodims(rank: Int, n: Int, is: Int, os: Int) -> Vec<Iodim> {
    // SAFETY: the caller's promise.
    let list = |start| unsafe { values_at("a list", start, *rank) }.unwrap_or_default();
    let triples = list(n).iter().zip(list(is)).zip(list(os));
    triples
        .map(|((&n, &is), &os)| Iodim { n, is, os })
        .collect()
}

fortran! {
    dfftw_plan_dft_ dfftw_plan_dft__ (plan: *mut PlanPointer, rank: Int, n: Int, input: *mut Z, output: *mut Z, sign: Int, flags: Int) {
        let n = reversed(rank, n);
        *plan = fftw_plan_dft(*rank, address(&n), input, output, *sign, *flags as c_uint);
    }
    dfftw_plan_dft_1d_ dfftw_plan_dft_1d__ (plan: *mut PlanPointer, nx: Int, input: *mut Z, output: *mut Z, sign: Int, flags: Int) {
        let n = [*nx];
        *plan = fftw_plan_dft(1, n.as_ptr(), input, output, *sign, *flags as c_uint);
    }
    dfftw_plan_dft_2d_ dfftw_plan_dft_2d__ (plan: *mut PlanPointer, nx: Int, ny: Int, input: *mut Z, output: *mut Z, sign: Int, flags: Int) {
        let n = [*ny, *nx];
        *plan = fftw_plan_dft(2, n.as_ptr(), input, output, *sign, *flags as c_uint);
    }
    dfftw_plan_dft_3d_ dfftw_plan_dft_3d__ (plan: *mut PlanPointer, nx: Int, ny: Int, nz: Int, input: *mut Z, output: *mut Z, sign: Int, flags: Int) {
        let n = [*nz, *ny, *nx];
        *plan = fftw_plan_dft(3, n.as_ptr(), input, output, *sign, *flags as c_uint);
    }
    dfftw_plan_dft_r2c_ dfftw_plan_dft_r2c__ (plan: *mut PlanPointer, rank: Int, n: Int, input: *mut f64, output: *mut Z, flags: Int) {
        let n = reversed(rank, n);
        *plan = fftw_plan_dft_r2c(*rank, address(&n), input, output, *flags as c_uint);
    }
    dfftw_plan_dft_r2c_1d_ dfftw_plan_dft_r2c_1d__ (plan: *mut PlanPointer, nx: Int, input: *mut f64, output: *mut Z, flags: Int) {
        let n = [*nx];
        *plan = fftw_plan_dft_r2c(1, n.as_ptr(), input, output, *flags as c_uint);
    }
    dfftw_plan_dft_r2c_2d_ dfftw_plan_dft_r2c_2d__ (plan: *mut PlanPointer, nx: Int, ny: Int, input: *mut f64, output: *mut Z, flags: Int) {
        let n = [*ny, *nx];
        *plan = fftw_plan_dft_r2c(2, n.as_ptr(), input, output, *flags as c_uint);
    }
    dfftw_plan_dft_r2c_3d_ dfftw_plan_dft_r2c_3d__ (plan: *mut PlanPointer, nx: Int, ny: Int, nz: Int, input: *mut f64, output: *mut Z, flags: Int) {
        let n = [*nz, *ny, *nx];
        *plan = fftw_plan_dft_r2c(3, n.as_ptr(), input, output, *flags as c_uint);
    }
    dfftw_plan_dft_c2r_ dfftw_plan_dft_c2r__ (plan: *mut PlanPointer, rank: Int, n: Int, input: *mut Z, output: *mut f64, flags: Int) {
        let n = reversed(rank, n);
        *plan = fftw_plan_dft_c2r(*rank, address(&n), input, output, *flags as c_uint);
    }
    dfftw_plan_dft_c2r_1d_ dfftw_plan_dft_c2r_1d__ (plan: *mut PlanPointer, nx: Int, input: *mut Z, output: *mut f64, flags: Int) {
        let n = [*nx];
        *plan = fftw_plan_dft_c2r(1, n.as_ptr(), input, output, *flags as c_uint);
    }
    dfftw_plan_dft_c2r_2d_ dfftw_plan_dft_c2r_2d__ (plan: *mut PlanPointer, nx: Int, ny: Int, input: *mut Z, output: *mut f64, flags: Int) {
        let n = [*ny, *nx];
        *plan = fftw_plan_dft_c2r(2, n.as_ptr(), input, output, *flags as c_uint);
    }
    dfftw_plan_dft_c2r_3d_ dfftw_plan_dft_c2r_3d__ (plan: *mut PlanPointer, nx: Int, ny: Int, nz: Int, input: *mut Z, output: *mut f64, flags: Int) {
        let n = [*nz, *ny, *nx];
        *plan = fftw_plan_dft_c2r(3, n.as_ptr(), input, output, *flags as c_uint);
    }
    dfftw_plan_r2r_ dfftw_plan_r2r__ (plan: *mut PlanPointer, rank: Int, n: Int, input: *mut f64, output: *mut f64, kind: Int, flags: Int) {
        let (n, kind) = (reversed(rank, n), reversed(rank, kind));
        *plan = fftw_plan_r2r(*rank, address(&n), input, output, address(&kind), *flags as c_uint);
    }
    dfftw_plan_r2r_1d_ dfftw_plan_r2r_1d__ (plan: *mut PlanPointer, nx: Int, input: *mut f64, output: *mut f64, kindx: Int, flags: Int) {
        let n = [*nx];
        let kind = [*kindx];
        *plan = fftw_plan_r2r(1, n.as_ptr(), input, output, kind.as_ptr(), *flags as c_uint);
    }
    dfftw_plan_r2r_2d_ dfftw_plan_r2r_2d__ (plan: *mut PlanPointer, nx: Int, ny: Int, input: *mut f64, output: *mut f64, kindx: Int, kindy: Int, flags: Int) {
        let n = [*ny, *nx];
        let kind = [*kindy, *kindx];
        *plan = fftw_plan_r2r(2, n.as_ptr(), input, output, kind.as_ptr(), *flags as c_uint);
    }
    dfftw_plan_r2r_3d_ dfftw_plan_r2r_3d__ (plan: *mut PlanPointer, nx: Int, ny: Int, nz: Int, input: *mut f64, output: *mut f64, kindx: Int, kindy: Int, kindz: Int, flags: Int) {
        let n = [*nz, *ny, *nx];
        let kind = [*kindz, *kindy, *kindx];
        *plan = fftw_plan_r2r(3, n.as_ptr(), input, output, kind.as_ptr(), *flags as c_uint);
    }
    dfftw_plan_many_dft_ dfftw_plan_many_dft__ (plan: *mut PlanPointer, rank: Int, n: Int, howmany: Int, input: *mut Z, inembed: Int, istride: Int, idist: Int, output: *mut Z, onembed: Int, ostride: Int, odist: Int, sign: Int, flags: Int) {
        let (n, inembed) = (reversed(rank, n), reversed(rank, inembed));
        let onembed = reversed(rank, onembed);
        *plan = fftw_plan_many_dft(*rank, address(&n), *howmany, input, address(&inembed), *istride, *idist,
            output, address(&onembed), *ostride, *odist, *sign, *flags as c_uint);
    }
    dfftw_plan_many_dft_r2c_ dfftw_plan_many_dft_r2c__ (plan: *mut PlanPointer, rank: Int, n: Int, howmany: Int, input: *mut f64, inembed: Int, istride: Int, idist: Int, output: *mut Z, onembed: Int, ostride: Int, odist: Int, flags: Int) {
        let (n, inembed) = (reversed(rank, n), reversed(rank, inembed));
        let onembed = reversed(rank, onembed);
        *plan = fftw_plan_many_dft_r2c(*rank, address(&n), *howmany, input, address(&inembed), *istride, *idist,
            output, address(&onembed), *ostride, *odist, *flags as c_uint);
    }
    dfftw_plan_many_dft_c2r_ dfftw_plan_many_dft_c2r__ (plan: *mut PlanPointer, rank: Int, n: Int, howmany: Int, input: *mut Z, inembed: Int, istride: Int, idist: Int, output: *mut f64, onembed: Int, ostride: Int, odist: Int, flags: Int) {
        let (n, inembed) = (reversed(rank, n), reversed(rank, inembed));
        let onembed = reversed(rank, onembed);
        *plan = fftw_plan_many_dft_c2r(*rank, address(&n), *howmany, input, address(&inembed), *istride, *idist,
            output, address(&onembed), *ostride, *odist, *flags as c_uint);
    }
    dfftw_plan_many_r2r_ dfftw_plan_many_r2r__ (plan: *mut PlanPointer, rank: Int, n: Int, howmany: Int, input: *mut f64, inembed: Int, istride: Int, idist: Int, output: *mut f64, onembed: Int, ostride: Int, odist: Int, kind: Int, flags: Int) {
        let (n, inembed) = (reversed(rank, n), reversed(rank, inembed));
        let onembed = reversed(rank, onembed);
        let kind = reversed(rank, kind);
        *plan = fftw_plan_many_r2r(*rank, address(&n), *howmany, input, address(&inembed), *istride, *idist,
            output, address(&onembed), *ostride, *odist, address(&kind), *flags as c_uint);
    }
    dfftw_plan_guru_dft_ dfftw_plan_guru_dft__ (plan: *mut PlanPointer, rank: Int, n: Int, is: Int, os: Int, howmany_rank: Int, h_n: Int, h_is: Int, h_os: Int, input: *mut Z, output: *mut Z, sign: Int, flags: Int) {
        let dims = iodims(rank, n, is, os);
        let loops = iodims(howmany_rank, h_n, h_is, h_os);
        *plan = fftw_plan_guru_dft(*rank, dims.as_ptr(), *howmany_rank, loops.as_ptr(),
            input, output, *sign, *flags as c_uint);
    }
    dfftw_plan_guru_split_dft_ dfftw_plan_guru_split_dft__ (plan: *mut PlanPointer, rank: Int, n: Int, is: Int, os: Int, howmany_rank: Int, h_n: Int, h_is: Int, h_os: Int, ri: *mut f64, ii: *mut f64, ro: *mut f64, io: *mut f64, flags: Int) {
        let dims = iodims(rank, n, is, os);
        let loops = iodims(howmany_rank, h_n, h_is, h_os);
        *plan = fftw_plan_guru_split_dft(*rank, dims.as_ptr(), *howmany_rank, loops.as_ptr(),
            ri, ii, ro, io, *flags as c_uint);
    }
    dfftw_plan_guru_dft_r2c_ dfftw_plan_guru_dft_r2c__ (plan: *mut PlanPointer, rank: Int, n: Int, is: Int, os: Int, howmany_rank: Int, h_n: Int, h_is: Int, h_os: Int, input: *mut f64, output: *mut Z, flags: Int) {
        let dims = iodims(rank, n, is, os);
        let loops = iodims(howmany_rank, h_n, h_is, h_os);
        *plan = fftw_plan_guru_dft_r2c(*rank, dims.as_ptr(), *howmany_rank, loops.as_ptr(),
            input, output, *flags as c_uint);
    }
    dfftw_plan_guru_dft_c2r_ dfftw_plan_guru_dft_c2r__ (plan: *mut PlanPointer, rank: Int, n: Int, is: Int, os: Int, howmany_rank: Int, h_n: Int, h_is: Int, h_os: Int, input: *mut Z, output: *mut f64, flags: Int) {
        let dims = iodims(rank, n, is, os);
        let loops = iodims(howmany_rank, h_n, h_is, h_os);
        *plan = fftw_plan_guru_dft_c2r(*rank, dims.as_ptr(), *howmany_rank, loops.as_ptr(),
            input, output, *flags as c_uint);
    }
    dfftw_plan_guru_split_dft_r2c_ dfftw_plan_guru_split_dft_r2c__ (plan: *mut PlanPointer, rank: Int, n: Int, is: Int, os: Int, howmany_rank: Int, h_n: Int, h_is: Int, h_os: Int, input: *mut f64, ro: *mut f64, io: *mut f64, flags: Int) {
        let dims = iodims(rank, n, is, os);
        let loops = iodims(howmany_rank, h_n, h_is, h_os);
        *plan = fftw_plan_guru_split_dft_r2c(*rank, dims.as_ptr(), *howmany_rank, loops.as_ptr(),
            input, ro, io, *flags as c_uint);
    }
    dfftw_plan_guru_split_dft_c2r_ dfftw_plan_guru_split_dft_c2r__ (plan: *mut PlanPointer, rank: Int, n: Int, is: Int, os: Int, howmany_rank: Int, h_n: Int, h_is: Int, h_os: Int, ri: *mut f64, ii: *mut f64, output: *mut f64, flags: Int) {
        let dims = iodims(rank, n, is, os);
        let loops = iodims(howmany_rank, h_n, h_is, h_os);
        *plan = fftw_plan_guru_split_dft_c2r(*rank, dims.as_ptr(), *howmany_rank, loops.as_ptr(),
            ri, ii, output, *flags as c_uint);
    }
    dfftw_plan_guru_r2r_ dfftw_plan_guru_r2r__ (plan: *mut PlanPointer, rank: Int, n: Int, is: Int, os: Int, howmany_rank: Int, h_n: Int, h_is: Int, h_os: Int, input: *mut f64, output: *mut f64, kind: Int, flags: Int) {
        let dims = iodims(rank, n, is, os);
        let loops = iodims(howmany_rank, h_n, h_is, h_os);
        *plan = fftw_plan_guru_r2r(*rank, dims.as_ptr(), *howmany_rank, loops.as_ptr(),
            input, output, kind, *flags as c_uint);
    }
    dfftw_execute_ dfftw_execute__ (plan: *const PlanPointer) {
        fftw_execute(*plan);
    }
    dfftw_execute_dft_ dfftw_execute_dft__ (plan: *const PlanPointer, input: *mut Z, output: *mut Z) {
        fftw_execute_dft(*plan, input, output);
    }
    dfftw_execute_split_dft_ dfftw_execute_split_dft__ (plan: *const PlanPointer, ri: *mut f64, ii: *mut f64, ro: *mut f64, io: *mut f64) {
        fftw_execute_split_dft(*plan, ri, ii, ro, io);
    }
    dfftw_execute_dft_r2c_ dfftw_execute_dft_r2c__ (plan: *const PlanPointer, input: *mut f64, output: *mut Z) {
        fftw_execute_dft_r2c(*plan, input, output);
    }
    dfftw_execute_dft_c2r_ dfftw_execute_dft_c2r__ (plan: *const PlanPointer, input: *mut Z, output: *mut f64) {
        fftw_execute_dft_c2r(*plan, input, output);
    }
    dfftw_execute_r2r_ dfftw_execute_r2r__ (plan: *const PlanPointer, input: *mut f64, output: *mut f64) {
        fftw_execute_r2r(*plan, input, output);
    }
    dfftw_execute_split_dft_r2c_ dfftw_execute_split_dft_r2c__ (plan: *const PlanPointer, input: *mut f64, ro: *mut f64, io: *mut f64) {
        fftw_execute_split_dft_r2c(*plan, input, ro, io);
    }
    dfftw_execute_split_dft_c2r_ dfftw_execute_split_dft_c2r__ (plan: *const PlanPointer, ri: *mut f64, ii: *mut f64, output: *mut f64) {
        fftw_execute_split_dft_c2r(*plan, ri, ii, output);
    }
    dfftw_destroy_plan_ dfftw_destroy_plan__ (plan: *mut PlanPointer) {
        fftw_destroy_plan(*plan);
    }
    dfftw_print_plan_ dfftw_print_plan__ (plan: *const PlanPointer) {
        fftw_print_plan(*plan);
    }
    dfftw_flops_ dfftw_flops__ (plan: *const PlanPointer, add: *mut c_double, mul: *mut c_double, fma: *mut c_double) {
        fftw_flops(*plan, add, mul, fma);
    }
    dfftw_cost_ dfftw_cost__ (cost: *mut c_double, plan: *const PlanPointer) {
        *cost = fftw_cost(*plan);
    }
    dfftw_estimate_cost_ dfftw_estimate_cost__ (cost: *mut c_double, plan: *const PlanPointer) {
        *cost = fftw_cost(*plan);
    }
    dfftw_cleanup_ dfftw_cleanup__ () {
        fftw_cleanup();
    }
    dfftw_forget_wisdom_ dfftw_forget_wisdom__ () {
        fftw_forget_wisdom();
    }
    dfftw_set_timelimit_ dfftw_set_timelimit__ (seconds: *const c_double) {
        fftw_set_timelimit(*seconds);
    }
    dfftw_export_wisdom_ dfftw_export_wisdom__ (write: Option<FortranWrite>, data: *mut c_void) {
        let mut writer = (write, data);
        fftw_export_wisdom(Some(write_for_fortran), (&raw mut writer).cast());
    }
    dfftw_import_wisdom_ dfftw_import_wisdom__ (success: *mut c_int, read: Option<FortranRead>, data: *mut c_void) {
        let mut reader = (read, data);
        *success = fftw_import_wisdom(Some(read_for_fortran), (&raw mut reader).cast());
    }
    dfftw_import_system_wisdom_ dfftw_import_system_wisdom__ (success: *mut c_int) {
        *success = fftw_import_system_wisdom();
    }
    dfftw_init_threads_ dfftw_init_threads__ (success: *mut c_int) {
        *success = fftw_init_threads();
    }
    dfftw_plan_with_nthreads_ dfftw_plan_with_nthreads__ (threads: Int) {
        fftw_plan_with_nthreads(*threads);
    }
    dfftw_planner_nthreads_ dfftw_planner_nthreads__ (threads: *mut c_int) {
        *threads = fftw_planner_nthreads();
    }
    dfftw_cleanup_threads_ dfftw_cleanup_threads__ () {
        fftw_cleanup_threads();
    }
}

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
