//! Reconstruction of integers from residues: one trait, one file for every method.
//!
//! ```text
//! method.rs          the names of all methods, and their constructors
//! garner.rs          digits of a mixed radix, one modulus after the other             exact
//! bernstein.rs       the fraction C/M, in f64, f32, and f32 with Kahan's correction   bounded
//! forward.rs         Σ residue · weight in two phases:
//!   slices.rs          phase A on signed bytes: slices on the matrix unit, and the multiple of M subtracted
//!   fp8_slices.rs      phase A on E4M3 numbers
//!                      phase B, the sum of the slices:
//!   fp8_bands.rs         on E4M3 numbers, in bands of positions                       exact
//!   kulisch_lanes.rs     fixed point in 32-bit words, columns side by side            exact
//!   kulisch_words.rs     fixed point in 16- and 8-bit words                           exact
//!   fp8_bands.rs         bands of positions on the matrix unit for E4M3               exact
//!   bins.rs              reproducible bins of f64                                     exact
//!   double_sum.rs, sum2.rs, sum_k.rs                       in f64                     bounded
//!   single_kahan.rs, double_single.rs, quad_single.rs      in f32                     bounded
//! floats.rs          what sums in floating point share, their bounds above all
//! weights.rs         the weights of Σ residue · weight, split into short numbers
//! words.rs           32-bit words to integers
//! operations.rs      numbers that count what is done with them
//! ```
//!
//! A bounded method is exact, and reports it, where its bound is 0: doubles for up to 6 moduli of bytes, four floats for up
//! to 12.

mod bernstein;
mod bins;
mod double_single;
mod double_sum;
mod floats;
mod forward;
mod fp8_bands;
mod fp8_slices;
mod garner;
mod kulisch_lanes;
mod kulisch_words;
mod method;
mod operations;
mod quad_single;
mod single_kahan;
mod slices;
mod sum2;
mod sum_k;
pub mod weights;
mod words;

pub use forward::{Forward, Layout, PhaseA, PhaseB};
pub use fp8_bands::Fp8Bands;
pub use fp8_slices::{Fp8Slices, Shape};
pub use garner::Garner;
pub use method::Method;
pub use slices::ByteSlices;

use crate::{COLUMNS, Residues};
use ethnum::I256;
use std::fmt;

/// The most slices that a phase A makes, those for the quotient included: 5 bits each of 24 moduli of E4M3, and some more.
pub const MOST_SLICES: usize = 64;

/// Arithmetic that a reconstruction method asks for, counted in an instrumented run, for one output.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Operations {
    /// Multiply-adds of 8-bit integers on the matrix unit.
    pub int8_products: f64,
    /// Multiply-adds of E4M3 numbers on the matrix unit.
    pub fp8_products: f64,
    /// Operations on 32-bit integers before the sum: the quotient, and its subtraction.
    pub reduction: f64,
    /// Operations on integer words in the sum (words of 8, 16 or 32 bits, as the method specifies).
    pub integer: f64,
    /// Operations on doubles.
    pub double: f64,
    /// Operations on floats.
    pub single: f64,
}

impl std::ops::Add for Operations {
    type Output = Operations;

    fn add(self, other: Operations) -> Operations {
        Operations {
            int8_products: self.int8_products + other.int8_products,
            fp8_products: self.fp8_products + other.fp8_products,
            reduction: self.reduction + other.reduction,
            integer: self.integer + other.integer,
            double: self.double + other.double,
            single: self.single + other.single,
        }
    }
}

/// The hardware that the sum itself falls on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pipe {
    /// Integer words of so many bits.
    Integer(u32),
    /// Doubles.
    Double,
    /// Floats.
    Single,
    /// The matrix unit for E4M3.
    Fp8Matrix,
}

/// A method of reconstructing integers from their residues.
pub trait Reconstruction: fmt::Debug + Send + Sync {
    /// The method's name, as options spell it.
    fn name(&self) -> &'static str;

    /// Whether it returns every integer that the moduli hold.
    fn is_exact(&self) -> bool {
        self.error_bound() == 0.0
    }

    /// The hardware that the sum itself falls on.
    fn pipe(&self) -> Pipe;

    /// Largest error of a result, as a proven bound, in units of the integer; 0 where it is exact.
    fn error_bound(&self) -> f64;

    /// Integers of magnitude at most [`crate::Moduli::largest`] from a row of residues for every modulus. Methods that are not
    /// exact return their number rounded to an integer.
    fn reconstruct(&self, residues: &[Residues], to: &mut [I256; COLUMNS]);

    /// Operations per output, counted while it reconstructs these residues.
    fn operations(&self, residues: &[Residues]) -> Operations;
}
