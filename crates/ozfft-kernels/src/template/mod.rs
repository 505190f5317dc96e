//! Kernels that are specialised for the lengths of their steps: which parameters they are compiled with, under which names, and what
//! their sources are.
//!
//! A [`KernelSpec`] is one kernel: what it computes, and the parameters of its work. [`KernelSpec::new`] chooses these from the list of
//! lengths (`list.rs`), from measurements (`measured.rs`) or, for all others, by the expected cost (`rank.rs`). What differs between
//! families of kernels is in `families/`. Machine code is either in [`IMAGE`] or compiled at run time from [`KernelSpec::source`].

pub mod families;
mod list;
mod measured;
mod names;
mod number;
mod rank;
mod source;
mod spec;
mod steps;

#[cfg(test)]
mod tests;

pub use families::{
    Block, Ends, Family, LongPass, MANY_TRANSFORMS, Pass, Real, ThreeSteps, TwoPasses,
};
pub use list::{Listed, compiled_in_advance, is_faster_by_warpgroups, listed};
pub use number::Number;
pub use source::{IMAGE, headers};
pub use spec::KernelSpec;
pub use steps::{F16_COLUMNS, FP8_COLUMNS, table_bytes};
