//! FFTW's interface in double and in single precision, computed by [`ozfft`]: a program that was written for libfftw3 or libfftw3f
//! is linked with `-lozfft_fftw`, or started with `LD_PRELOAD=libozfft_fftw.so.0`, and its transforms have a proven bound and
//! the same bits on every machine.
//!
//! There are no numerics here. A call is translated to an [`ozfft::Problem`], and where FFTW's arrays have gaps, overlap, or
//! keep real and imaginary parts apart, elements are copied to arrays of our own and back. `docs/fftw.md` says what there is and
//! what is different.
//!
//! `entry_points` has one file a group of functions: [`dft`], [`real`], [`many`], [`guru`], [`r2r`], [`execute`], [`memory`], [`threads`],
//! [`wisdom`], [`mod@print`], [`fortran`]; each has them twice, for `f64` and for `f32`, and [`double`] and [`single`] collect them. Behind
//! them: `options` (the environment), `transforms` (what is computed, and where its elements lie), `planning` and `process` (plans,
//! what is known, forks), `pool` (threads), `registry` (which plans are ours), `next` (whose the others are), `ffi` (catches panics and
//! turns errors into null pointers and messages: `error`, `log`), `arguments` (what C passes), `stack` (room for a call).
//!
//! All functions have the names, types and duties of `fftw3.h`; every pointer must be what FFTW's manual asks for.
#![warn(missing_docs)]
// The contract of all of these is FFTW's manual; saying so at each would say nothing.
#![allow(clippy::missing_safety_doc)]
// Their arguments are what fftw3.h says.
#![allow(clippy::too_many_arguments)]

mod arguments;
mod entry_points;
mod error;
mod ffi;
mod log;
mod next;
mod number;
mod options;
mod plan;
mod planning;
mod pool;
mod process;
mod registry;
mod stack;
mod transforms;

pub use entry_points::{
    dft, execute, fortran, guru, many, memory, print, r2r, real, threads, wisdom,
};
pub use registry::FftwPlan;

/// Small allocations do not end the program where memory does: large ones, which follow, are errors.
#[global_allocator]
static ALLOCATOR: fallible_memory::Reserving = fallible_memory::Reserving::system();

macro_rules! collected {
    ($module:ident, $wide:ident) => {
        pub use crate::dft::$module::*;
        pub use crate::execute::$module::*;
        pub use crate::many::$module::*;
        pub use crate::memory::$module::*;
        pub use crate::print::$module::*;
        pub use crate::r2r::$module::*;
        pub use crate::real::$module::*;
        pub use crate::threads::$module::*;
        pub use crate::wisdom::$module::*;
        pub use crate::{
            fortran::$module as fortran, guru::$module as guru, guru::$wide as guru64,
        };
    };
}

/// `fftw_…`: arrays of `f64`.
pub mod double {
    collected!(double, double64);
}

/// `fftwf_…`: arrays of `f32`.
pub mod single {
    collected!(single, single64);
}
