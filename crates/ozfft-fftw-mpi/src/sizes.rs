//! What every rank holds: `fftw_mpi_local_size…`. Lengths are those of the complex array; of real transforms, that of the half-spectrum.

use crate::blocks::{Blocks, expect_lengths};
use crate::plan::{is_verbose, ranks_of};
use mpi::ffi::{MPI_Comm, MPI_Comm_f2c};
use std::ffi::{c_int, c_uint};
use std::fmt::Display;

/// # Safety
/// The place is null, or has room for a number.
unsafe fn put(place: *mut isize, number: usize) {
    if !place.is_null() {
        // SAFETY: the caller's promise.
        unsafe { place.write(number as isize) };
    }
}

/// Blocks of a dimension; all of it on rank 0 where the block that was asked for is too small, as no plan will have it.
fn part(n: isize, asked: isize, (rank, ranks): (usize, usize)) -> (usize, usize) {
    let (n, asked) = (n.max(0) as usize, asked.max(0) as usize);
    Blocks::new(n, asked, ranks).map_or((0, 0), |blocks| blocks.of(rank))
}

/// Complex numbers to allocate, and this rank's parts of the first dimension and of the second; nothing of a null communicator, nor of lengths that no
/// array has, which is always said: programs do not expect it.
///
/// # Safety
/// `n` has `rnk` lengths, and places are null or have room.
unsafe fn measured(
    (rnk, n): (c_int, *const isize),
    howmany: isize,
    (block0, block1): (isize, isize),
    comm: MPI_Comm,
    [n0, start0, n1, start1]: [*mut isize; 4],
) -> isize {
    let Ok(rnk) = usize::try_from(rnk) else {
        return 0;
    };
    if rnk == 0 || n.is_null() {
        return howmany.max(0);
    }
    // SAFETY: the caller's promise.
    let n = unsafe { std::slice::from_raw_parts(n, rnk) };
    let nothing = |error: &dyn Display| {
        eprintln!("ozfft: mpi_local_size: 0 elements: {error}");
    };
    let checked = expect_lengths(n, howmany);
    if let Err(error) = &checked {
        nothing(error);
    }
    let here = ranks_of(comm);
    if let Err(error) = &here
        && is_verbose()
    {
        nothing(error);
    }
    let (Ok(()), Ok(here)) = (checked, here) else {
        for place in [n0, start0, n1, start1] {
            // SAFETY: the caller's promise.
            unsafe { put(place, 0) };
        }
        return 0;
    };
    let first = part(n[0], block0, here);
    let second = match n.get(1) {
        Some(&n1) => part(n1, block1, here),
        None => (0, 1),
    };
    // SAFETY: the caller's promise.
    unsafe {
        put(n0, first.1);
        put(start0, first.0);
        put(n1, second.1);
        put(start1, second.0);
    }
    let rest: isize = n.iter().skip(2).product();
    let whole = |number: usize| n.get(number).copied().unwrap_or(1);
    let natural = first.1 as isize * whole(1);
    let transposed = match rnk {
        1 => 0,
        _ => second.1 as isize * whole(0),
    };
    // Never nothing: allocators may return null for it.
    (natural.max(transposed) * rest * howmany).max(1)
}

macro_rules! sizes {
    ($($(#[$about:meta])* $name:ident $text:literal ($($before:ident: $type:ty),*) ($($after:ident: $after_type:ty),*) |$comm:ident| $body:expr;)*) => {
        sizes_of!(double, "fftw_mpi_"; $($(#[$about])* $name $text ($($before: $type),*) ($($after: $after_type),*) |$comm| $body;)*);
        sizes_of!(single, "fftwf_mpi_"; $($(#[$about])* $name $text ($($before: $type),*) ($($after: $after_type),*) |$comm| $body;)*);
    };
}

macro_rules! sizes_of {
    ($module:ident, $prefix:literal; $($(#[$about:meta])* $name:ident $text:literal ($($before:ident: $type:ty),*) ($($after:ident: $after_type:ty),*) |$comm:ident| $body:expr;)*) => {
        /// The functions of one precision.
        pub mod $module {
            use super::*;
            $(
                $(#[$about])*
                #[unsafe(export_name = concat!($prefix, $text))]
                pub unsafe extern "C" fn $name($($before: $type,)* $comm: MPI_Comm, $($after: $after_type),*) -> isize {
                    // SAFETY: FFTW's manual asks the caller for it.
                    unsafe { $body }
                }
            )*
            /// The same for Fortran, which has other handles.
            pub mod fortran {
                use super::*;
                $(
                    $(#[$about])*
                    #[unsafe(export_name = concat!($prefix, $text, "_f03"))]
                    pub unsafe extern "C" fn $name($($before: $type,)* $comm: c_int, $($after: $after_type),*) -> isize {
                        // SAFETY: a handle of Fortran's.
                        let $comm = unsafe { MPI_Comm_f2c($comm) };
                        // SAFETY: as above.
                        unsafe { $body }
                    }
                )*
            }
        }
    };
}

const NONE: *mut isize = std::ptr::null_mut();

sizes! {
    /// Any number of dimensions.
    local_size_many_transposed "local_size_many_transposed"
    (rnk: c_int, n: *const isize, howmany: isize, block0: isize, block1: isize)
    (n0: *mut isize, start0: *mut isize, n1: *mut isize, start1: *mut isize)
    |comm| measured((rnk, n), howmany, (block0, block1), comm, [n0, start0, n1, start1]);
    /// The same without the second dimension.
    local_size_many "local_size_many"
    (rnk: c_int, n: *const isize, howmany: isize, block0: isize)
    (n0: *mut isize, start0: *mut isize)
    |comm| measured((rnk, n), howmany, (block0, 0), comm, [n0, start0, NONE, NONE]);
    /// Of one array, with default blocks.
    local_size_transposed "local_size_transposed"
    (rnk: c_int, n: *const isize)
    (n0: *mut isize, start0: *mut isize, n1: *mut isize, start1: *mut isize)
    |comm| measured((rnk, n), 1, (0, 0), comm, [n0, start0, n1, start1]);
    /// The same without the second dimension.
    local_size "local_size"
    (rnk: c_int, n: *const isize)
    (n0: *mut isize, start0: *mut isize)
    |comm| measured((rnk, n), 1, (0, 0), comm, [n0, start0, NONE, NONE]);
    /// Two dimensions.
    local_size_2d "local_size_2d"
    (n0: isize, n1: isize)
    (local_n0: *mut isize, start0: *mut isize)
    |comm| measured((2, [n0, n1].as_ptr()), 1, (0, 0), comm, [local_n0, start0, NONE, NONE]);
    /// The same with the second dimension.
    local_size_2d_transposed "local_size_2d_transposed"
    (n0: isize, n1: isize)
    (local_n0: *mut isize, start0: *mut isize, local_n1: *mut isize, start1: *mut isize)
    |comm| measured((2, [n0, n1].as_ptr()), 1, (0, 0), comm, [local_n0, start0, local_n1, start1]);
    /// Three dimensions.
    local_size_3d "local_size_3d"
    (n0: isize, n1: isize, n2: isize)
    (local_n0: *mut isize, start0: *mut isize)
    |comm| measured((3, [n0, n1, n2].as_ptr()), 1, (0, 0), comm, [local_n0, start0, NONE, NONE]);
    /// The same with the second dimension.
    local_size_3d_transposed "local_size_3d_transposed"
    (n0: isize, n1: isize, n2: isize)
    (local_n0: *mut isize, start0: *mut isize, local_n1: *mut isize, start1: *mut isize)
    |comm| measured((3, [n0, n1, n2].as_ptr()), 1, (0, 0), comm, [local_n0, start0, local_n1, start1]);
    /// Lines: input and output are divided alike. Scrambled orders are the natural one here.
    local_size_many_1d "local_size_many_1d"
    (n0: isize, howmany: isize)
    (_sign: c_int, _flags: c_uint, ni: *mut isize, start_in: *mut isize, no: *mut isize, start_out: *mut isize)
    |comm| {
        measured((1, &n0), howmany, (0, 0), comm, [no, start_out, NONE, NONE]);
        measured((1, &n0), howmany, (0, 0), comm, [ni, start_in, NONE, NONE])
    };
    /// One line.
    local_size_1d "local_size_1d"
    (n0: isize)
    (_sign: c_int, _flags: c_uint, ni: *mut isize, start_in: *mut isize, no: *mut isize, start_out: *mut isize)
    |comm| {
        measured((1, &n0), 1, (0, 0), comm, [no, start_out, NONE, NONE]);
        measured((1, &n0), 1, (0, 0), comm, [ni, start_in, NONE, NONE])
    };
}
