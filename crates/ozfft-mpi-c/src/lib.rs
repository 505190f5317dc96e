//! libozfft_mpi_c: the crate `ozfft-mpi` for C (`include/ozfft_mpi.h`). Every function has the duties of the header.
#![deny(unsafe_op_in_unsafe_fn)]
// The contract of all of these is the header.
#![allow(clippy::missing_safety_doc)]

#[cfg(feature = "mpi")]
mod plan;
#[cfg(feature = "mpi")]
mod problem;

#[cfg(feature = "mpi")]
pub use plan::*;
#[cfg(feature = "mpi")]
pub use problem::ozfft_mpi_defaults;
