//! Fourier transforms in low-precision floating point, from two decimal digits to those of double precision.
//!
//! The seven modes of trnfft by their names, and three more ([`Mode`]); one plan for a length, a mode and a direction
//! ([`FloatPlan`]), which says how it computes ([`FloatPlan::describe`]) and what error it keeps ([`FloatPlan::bound`]):
//!
//! ```text
//! mode.rs          the modes                                   names.rs     modes and units by their names
//! dispatch.rs      which algorithm a length gets, as tables
//! plan.rs          a plan                                      bound.rs     what its error is at most
//! steps.rs         a transform as data for another machine     tables.rs    what else other machines need: matrices, rotations, bounds
//! posts.rs         what trnfft's posts print                   aligned.rs   arrays at cache lines
//! numbers/         roots.rs      roots of unity from exact angles, to 118 bits
//!                  format.rs     the formats: bf16.rs and fp16.rs
//!                  number.rs     fast and double: plain arithmetic; kahan.rs with its errors; arithmetic.rs: the list of both
//!                  sample.rs     lines in and out of lanes
//! lanes/           vectors of every instruction set
//! unit/            products of bf16 with f32 sums: scalar, avx512_bf16, amx_bf16; probe.rs asks a unit what it does
//! lines/           transforms over lanes/ without a unit
//!                  small_dft.rs  2, 4, 8 points and odd primes   stockham.rs  longer ones in stages
//!                  bluestein.rs  lengths with large primes      gemm.rs      the DFT as a product
//! products/        transforms as products on a unit
//!                  matrices.rs   DFT matrices as the units take them
//!                  ozaki.rs      numbers as sums of bf16 numbers
//!                  dft_gemm.rs   bf16, ozaki, ozaki_hq
//!                  fp16_gemm.rs  fp16, fp16_ozaki: the same under a power of two that f16 can hold
//!                  refined.rs    bf16_refined
//!                  two_level.rs  ozaki_two_level: digits whose f32 sums are exact
//! ```
//!
//! # What a bound says
//!
//! For every line of finite numbers whose spectrum is finite, `‖computed - exact‖₂ <= bound · ‖exact‖₂`. It is the sum of
//!
//! - the error of the entries (correctly rounded roots of unity; their matrix's 2-norm is calculated),
//! - what splitting numbers leaves out (`2^-8` of a number for every part in bf16, `2^-11` in f16, and the products of parts that are not formed),
//! - accumulation: a chain of `k` roundings of partial sums errs by `k·u`, because partial sums are in such an order that they are
//!   DFTs themselves, and no longer than the whole.
//!
//! The proofs are in `docs/ladder.md` ("Bounds, line by line"), the calculation in `bound.rs`. Making a plan, probing a unit and
//! transforming put the default floating-point environment in force, and the caller's back afterwards, so that neither bits nor bounds
//! depend on it. Subnormal results are rounded to the spacing of subnormal numbers on top of it.
//!
//! ```
//! use floats::{Direction, FloatPlan, Mode, Unit};
//! for mode in Mode::ALL {
//!     let plan = FloatPlan::new(1000, mode, Direction::Forward, Unit::best())?;
//!     println!("{}", plan.describe());
//! }
//! # Ok::<(), floats::FloatError>(())
//! ```

#![warn(missing_docs)]

// `vec![value; count]` fails with an error that plans of `ozfft` return.
#[macro_use]
extern crate fallible_memory;

mod aligned;
mod bound;
mod dispatch;
mod error;
mod lanes;
mod lines;
mod mode;
mod names;
mod numbers;
mod plan;
pub mod posts;
mod products;
pub mod steps;
pub mod tables;
pub mod unit;

pub use dispatch::{Rule, Table};
pub use error::FloatError;
pub use lines::recipe::Path;
pub use mode::{Direction, Mode};
pub use numbers::format::Format;
pub use plan::{FloatPlan, Work, Workspace};
pub use unit::Unit;
