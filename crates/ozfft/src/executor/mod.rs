//! Executors run a schedule of axis passes over the caller's arrays, on the CPU or on a GPU.

pub(crate) mod cpu;
#[cfg(feature = "cuda")]
pub(crate) mod cuda;
#[cfg(not(feature = "cuda"))]
#[path = "no_cuda.rs"]
pub(crate) mod cuda;
pub(crate) mod lines;
pub(crate) mod scales;
pub(crate) mod schedule;
