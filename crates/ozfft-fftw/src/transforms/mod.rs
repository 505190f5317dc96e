//! What is computed, and where its elements lie.

pub(crate) mod fourier;
pub(crate) mod real_lines;
pub(crate) mod strides;
pub(crate) mod workspace;
