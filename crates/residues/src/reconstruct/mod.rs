//! From residues to integers: one trait, one file for every way.

use crate::{COLUMNS, Residues};
use ethnum::I256;
use std::fmt;

/// Arithmetic that a way of reconstruction asks for, counted in an instrumented run, for one output.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Operations {
    /// Multiply-adds of 8-bit integers on the matrix unit.
    pub int8_products: f64,
    /// Multiply-adds of E4M3 numbers on the matrix unit.
    pub fp8_products: f64,
    /// Operations on 32-bit integers before the sum: quotient, and what it takes off.
    pub reduction: f64,
    /// Operations on integer words in the sum (words of 8, 16 or 32 bits, as the way says).
    pub integer: f64,
    /// Operations on doubles.
    pub double: f64,
    /// Operations on floats.
    pub single: f64,
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

/// A way of putting integers together from their residues.
pub trait Reconstruction: fmt::Debug + Send + Sync {
    /// The way's name, as options spell it.
    fn name(&self) -> &'static str;

    /// Whether it returns every integer that the moduli hold.
    fn is_exact(&self) -> bool {
        self.error_bound() == 0.0
    }

    /// The hardware that the sum itself falls on.
    fn pipe(&self) -> Pipe;

    /// What a result may be off at most, as a proven bound, in units of the integer; 0 where it is exact.
    fn error_bound(&self) -> f64;

    /// Integers of magnitude at most [`crate::Moduli::largest`] from a row of residues for every modulus. Ways that are not
    /// exact return their number rounded to an integer.
    fn reconstruct(&self, residues: &[Residues], to: &mut [I256; COLUMNS]);

    /// What it asks for, counted while it reconstructs these residues, for one output.
    fn operations(&self, residues: &[Residues]) -> Operations;
}
