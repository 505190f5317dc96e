//! A GPU: what plans ask of it, the driver behind it or its emulation, compilers, streams, copies and recordings.

pub(super) mod compiler;
pub(super) mod compiler_search;
pub(super) mod driver;
#[cfg(test)]
pub(crate) mod emulated;
pub(super) mod exactness;
pub(super) mod findings;
pub(super) mod launch;
mod loading;
pub(super) mod machine;
mod modules;
pub(super) mod queue;
pub(super) mod recordings;
pub(super) mod transfer;
pub(super) mod work;
