//! A GPU: what plans ask of it, the driver behind it or its emulation, compilers, streams, copies and recordings.

pub(super) mod compiler;
pub(super) mod compiler_search;
pub(super) mod driver;
#[cfg(test)]
pub(crate) mod emulated;
pub(super) mod exactness;
pub(super) mod machine;
pub(super) mod queue;
pub(super) mod recordings;
pub(super) mod transfer;
pub(crate) mod tuning;
