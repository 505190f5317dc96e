//! What computes lines besides digits: RustFFT, and short floating-point numbers.

pub(crate) mod floats;
pub(crate) mod native;
