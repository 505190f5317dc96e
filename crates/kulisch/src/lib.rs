#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]
#![warn(missing_docs)]

mod accumulator;
mod blocks;
pub mod bounded;
pub mod bounded_lanes;
mod error;
mod lanes;
pub mod linear;
#[cfg(feature = "std")]
pub mod parallel;
mod parts;
mod reductions;
mod rounding;
mod scaled;
mod scatter;
pub mod short_lanes;
mod slices;
mod statistics;
mod units;

pub use accumulator::Accumulator;
pub use error::Error;
pub use lanes::Instructions;
pub use reductions::{
    complex_dot, condition_number, conjugate_dot, dot, dot_f32, magnitude_sum, norm, prefix_sums,
    sum, sum_f32,
};
pub use rounding::Rounding;
pub use statistics::{mean, variance};
