//! What the programs of this package share: options, transforms whose time is counted, digests, plots, and two pieces of physics
//! that more than one of them needs (Ewald's sum, B-splines).
//!
//! Each program is one file in `src/bin`, with its physics, its report and its tests. `docs/applications` has a page for each.
//!
//! Between transforms all programs compute by additions, multiplications, divisions and square roots of `f64` in a fixed order, and
//! with the elementary functions of the crate `libm`. So where the transforms have the same bits, the results have: with the engine
//! digits on every machine, device and number of threads.

#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod device_flow;
pub mod device_transform;
pub mod digest;
pub mod ewald_sum;
pub mod hermitian;
pub mod kept_waves;
pub mod options;
pub mod other_libraries;
pub mod other_programs;
pub mod plot;
pub mod published_vortex;
pub mod report;
pub mod spectral_flow;
pub mod splines;
pub mod transforms;
pub mod vortex;
pub mod weighted_words;
