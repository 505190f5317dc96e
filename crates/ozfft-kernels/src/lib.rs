//! CUDA kernels of ozfft, compiled: nothing of the host's logic.
//!
//! `cuda/` holds the sources, `compiled/` what `./generate` made of them with a pinned compiler. A user needs the
//! NVIDIA driver and nothing else.

#![warn(missing_docs)]

pub mod probe;
