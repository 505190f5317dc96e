//! FFTW's interface in double precision, computed by [`ozfft`]: a program that was written for libfftw3 is linked with
//! `-lozfft_fftw`, or started with `LD_PRELOAD=libozfft_fftw.so.0`, and its transforms have a proven bound and the same
//! bits on every machine.
//!
//! There are no numerics here. A call is translated to an [`ozfft::Problem`], and where FFTW's arrays have gaps, overlap, or
//! keep real and imaginary parts apart, elements are copied to arrays of our own and back. `docs/fftw.md` says what there is and
//! what is different.
//!
//! One file a door: [`dft`], [`real`], [`many`], [`guru`], [`r2r`], [`execute`], [`memory`], [`threads`], [`wisdom`], [`mod@print`],
//! [`fortran`]. Behind them: `options` (the environment), `strides` (where elements lie), `fourier` and `real_lines` (what is
//! computed), `planning` (plans and what is known), `door` (nothing gets out but a pointer or a message).
//!
//! All functions have the names, types and duties of `fftw3.h`; every pointer must be what FFTW's manual asks for.
#![warn(missing_docs)]
// The contract of all of these is FFTW's manual; saying so at each would say nothing.
#![allow(clippy::missing_safety_doc)]
// Their arguments are what fftw3.h says.
#![allow(clippy::too_many_arguments)]

pub mod dft;
mod door;
pub mod execute;
pub mod fortran;
mod fourier;
pub mod guru;
pub mod many;
pub mod memory;
mod options;
mod plan;
mod planning;
pub mod print;
pub mod r2r;
pub mod real;
mod real_lines;
mod strides;
pub mod threads;
pub mod wisdom;

pub use plan::FftwPlan;
