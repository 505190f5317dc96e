//! The functions of FFTW, a file for each group of them.

pub mod dft;
pub mod execute;
pub mod fortran;
pub mod guru;
pub mod many;
pub mod memory;
pub mod print;
pub mod r2r;
pub mod real;
pub mod threads;
pub mod wisdom;
