//! FFTW's interface for MPI (`fftw3-mpi.h`, and `fftw3-mpi.f03` for Fortran 2003), in double and in single precision, computed by
//! `ozfft-mpi`: results have the bits of one process on any number of ranks.
//!
//! A program is linked with `-lozfft_fftw_mpi` before `-lozfft_fftw` (or FFTW itself), or started with both preloaded. Plans of this library are
//! recognised by their address; everything else that the functions here are asked to execute, print or destroy belongs to the next library
//! that has a function of that name. `blocks` says what ranks hold, `arrangement` how it lies in FFTW's arrays, `plan` computes, `sizes`,
//! `planning` and `execute` are the entry points. `docs/distributed.md` says what there is and what is different.
#![deny(unsafe_op_in_unsafe_fn)]
// The contract of all of these is FFTW's manual, and their arguments are what fftw3-mpi.h says.
#![allow(clippy::missing_safety_doc, clippy::too_many_arguments)]
// Without MPI nothing uses what is tested everywhere.
#![cfg_attr(not(feature = "mpi"), allow(dead_code))]

mod arrangement;
mod blocks;
#[cfg(feature = "mpi")]
pub mod execute;
#[cfg(feature = "mpi")]
mod plan;
#[cfg(feature = "mpi")]
pub mod planning;
#[cfg(feature = "mpi")]
pub mod sizes;
