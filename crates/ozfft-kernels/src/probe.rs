//! Kernels that measure a GPU: the speed of its pipes, memory and tensor units, and which sums those keep exact.

/// PTX of `probe.cu`, for compute capability 8.0 and later.
pub const PROBE: &str = include_str!("../compiled/probe.compute_80.ptx");

/// PTX of `probe_fp8.cu`, for compute capability 8.9 and later.
pub const PROBE_FP8: &str = include_str!("../compiled/probe_fp8.compute_89.ptx");

/// Machine code of `probe_hopper.cu`, for compute capability 9.0 alone.
pub const PROBE_HOPPER: &[u8] = include_bytes!("../compiled/probe_hopper.sm_90a.fatbin");

/// Machine code of `tall_skinny.cu`, for compute capability 9.0 alone.
pub const TALL_SKINNY: &[u8] = include_bytes!("../compiled/tall_skinny.sm_90a.fatbin");
