//! Which kernels take which blocks and passes.

pub(super) mod long_passes;
pub(super) mod tuned;
pub(crate) mod tuning;
