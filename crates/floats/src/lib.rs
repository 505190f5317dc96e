//! Fourier transforms in low-precision floating point, from two decimal digits to those of double precision.
//!
//! The seven modes of trnfft by their names, and three more ([`Mode`]); one plan for a length, a mode and a direction
//! ([`FloatPlan`]), which says how it computes ([`FloatPlan::describe`]) and what error it keeps ([`FloatPlan::bound`]):
//!
//! ```text
//! mode.rs          the modes
//! dispatch.rs      which algorithm a length gets, as tables
//! roots.rs         roots of unity from exact angles, to 118 bits
//! format.rs        bf16.rs and fp16.rs: the formats
//! unit/            products of bf16 with f32 sums: scalar, avx512_bf16, amx_bf16; probe.rs asks a unit what it does
//! matrices.rs      DFT matrices as the units take them
//! ozaki.rs         numbers as sums of bf16 numbers
//! dft_gemm.rs      bf16, ozaki, ozaki_hq: the DFT as products on a unit
//! fp16_gemm.rs     fp16, fp16_ozaki: the same under a power of two that f16 can hold
//! refined.rs       bf16_refined
//! two_level.rs     ozaki_two_level: digits whose f32 sums are exact
//! number.rs        fast and double: plain arithmetic          kahan.rs     with its errors
//! small_dft.rs     2, 4, 8 points and odd primes              stockham.rs  longer ones in stages
//! bluestein.rs     lengths with large primes                  gemm.rs      the DFT as a product, without a unit
//! sample.rs        lines in and out of lanes                  lines.rs     all of these over lanes/
//! bound.rs         what the error is at most                 aligned.rs   arrays at cache lines
//! plan.rs          a plan                                     posts.rs     what trnfft's posts print
//! tables.rs        what other machines need to compute the same: matrices in parts, rotations, bounds
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
mod bf16;
mod bluestein;
mod bound;
mod dft_gemm;
mod dispatch;
mod error;
mod format;
mod fp16;
mod fp16_gemm;
mod gemm;
mod kahan;
mod lanes;
mod lines;
mod matrices;
mod mode;
mod number;
mod ozaki;
mod plan;
pub mod posts;
mod refined;
mod roots;
mod sample;
mod small_dft;
pub mod steps;
mod stockham;
pub mod tables;
mod two_level;
pub mod unit;

pub use dispatch::{Path, Rule, Table};
pub use error::FloatError;
pub use format::Format;
pub use mode::{Direction, Mode};
pub use plan::{FloatPlan, Work, Workspace};
pub use unit::Unit;
