//! Who runs a plan's passes over the caller's array. The CPU is the first; others will run the same recipe.

pub(crate) mod cpu;
pub(crate) mod cuda;
pub(crate) mod scales;
