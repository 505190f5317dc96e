//! Transforms as products on a matrix unit.

pub(crate) mod dft_gemm;
pub(crate) mod fp16_gemm;
pub(crate) mod matrices;
pub(crate) mod ozaki;
pub(crate) mod refined;
pub(crate) mod two_level;
