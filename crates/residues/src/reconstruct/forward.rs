//! The Chinese remainder theorem in explicit form: `C = Σ residue · weight - q·M`, in two phases.
//!
//! Phase A multiplies residues by slices of the weights, on a matrix unit, and subtracts the multiple of `M` slice by
//! slice. Its results are small integers `P_s` at known bit positions, whose sum is the integer itself, not just
//! something congruent to it. Phase B adds them up: that is where arithmetics differ, and where some of them round.

use super::{MOST_SLICES, Operations, Pipe, Reconstruction};
use crate::bytes::Sums;
use crate::error::ResidueError;
use crate::moduli::Moduli;
use crate::{COLUMNS, Residues};
use ethnum::{I256, U256};
use std::fmt;

/// Residues become slices: integers `P_s` with `C = Σ P_s · 2^(slice_bits·s)`.
pub trait PhaseA: fmt::Debug + Send + Sync {
    /// Bits between neighbouring slices.
    fn slice_bits(&self) -> u32;

    /// How many there are: at most [`MOST_SLICES`].
    fn slices(&self) -> usize;

    /// A proven bound of the magnitude of every `P_s`.
    fn largest_sum(&self) -> u32;

    /// Writes the sums of all slices, the least significant first. Rows from [`PhaseA::slices`] on are left as anything.
    fn form(&self, residues: &[Residues], to: &mut [Sums; MOST_SLICES]);

    /// Products on the matrix unit, and the operations that quotient and reduction take, counted while these residues
    /// are worked on, for one output.
    fn operations(&self, residues: &[Residues]) -> Operations;
}

/// Adds slices up.
pub trait PhaseB: fmt::Debug + Send + Sync {
    /// The method's name, as options spell it.
    fn name(&self) -> &'static str;

    /// The hardware that the sum falls on.
    fn pipe(&self) -> Pipe;

    /// Largest error of a result; 0 where it is exact.
    fn error_bound(&self) -> f64;

    /// `Σ slices[s] · 2^(slice_bits·s)`, rounded to an integer where it is none.
    fn sum(&self, slices: &[Sums], to: &mut [I256; COLUMNS]);

    /// The operations that this takes, counted while these slices are added up, for one output.
    fn operations(&self, slices: &[Sums]) -> Operations;
}

/// Where slices lie and how large they are: all that a phase B knows about a phase A.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Bits between neighbouring slices.
    pub slice_bits: u32,
    /// How many there are.
    pub slices: usize,
    /// No sum of a slice is of larger magnitude.
    pub largest_sum: u32,
    /// No integer is of larger magnitude.
    pub largest: U256,
}

impl Layout {
    /// The result of phase A.
    pub fn of(phase_a: &dyn PhaseA, moduli: &Moduli) -> Layout {
        Layout {
            slice_bits: phase_a.slice_bits(),
            slices: phase_a.slices(),
            largest_sum: phase_a.largest_sum(),
            largest: moduli.largest(),
        }
    }

    /// The weight of a slice.
    pub fn weight(&self, slice: usize) -> f64 {
        (f64::from(self.slice_bits) * slice as f64).exp2()
    }

    /// Bound of `|Σ_(i < s) P_i 2^(bi)| <= P·(2^(bs) - 1)/(2^b - 1)`.
    pub fn below(&self, slice: usize) -> f64 {
        f64::from(self.largest_sum) * (self.weight(slice) - 1.0) / (self.weight(1) - 1.0)
            * ROUNDED_UP
    }

    /// Bound of `|Σ_(i >= s) P_i 2^(bi)|`: what is added up when slices come from the highest to the lowest.
    ///
    /// This is the integer less what is below, so cancellation among the highest slices, which is what taking multiples
    /// of `M` off leaves behind, is not counted as if it were a large sum.
    pub fn at_or_above(&self, slice: usize) -> f64 {
        let all = self.below(self.slices);
        (self.largest.as_f64() * ROUNDED_UP + self.below(slice)).min(all)
    }

    /// Bound of `|P_s| 2^(bs)`.
    pub fn term(&self, slice: usize) -> f64 {
        let whole = f64::from(self.largest_sum) * self.weight(slice);
        let above = if slice + 1 < self.slices {
            self.at_or_above(slice + 1)
        } else {
            0.0
        };
        whole.min((self.at_or_above(slice) + above) * ROUNDED_UP)
    }

    /// Bits of the largest magnitude that any sum of neighbouring slices from the highest one downwards reaches.
    pub fn bits(&self) -> u32 {
        let largest = (0..self.slices)
            .map(|s| self.at_or_above(s))
            .fold(0.0, f64::max);
        largest.log2().floor() as u32 + 1
    }

    /// Says so where sums may be larger than an arithmetic takes.
    pub(super) fn demand_sums(&self, what: &'static str, most: u32) -> Result<(), ResidueError> {
        if self.largest_sum <= most {
            return Ok(());
        }
        Err(ResidueError::LargeSlices {
            what,
            largest: self.largest_sum,
            most,
        })
    }
}

/// Makes up for the few roundings in a bound's own arithmetic.
pub(super) const ROUNDED_UP: f64 = 1.0 + 16.0 * f64::EPSILON;

/// The two phases one after the other.
#[derive(Debug)]
pub struct Forward {
    phase_a: Box<dyn PhaseA>,
    phase_b: Box<dyn PhaseB>,
}

impl Forward {
    /// Of these phases, where the second was made for the [`Layout`] of the first.
    pub fn new(phase_a: Box<dyn PhaseA>, phase_b: Box<dyn PhaseB>) -> Forward {
        Forward { phase_a, phase_b }
    }
}

impl Reconstruction for Forward {
    fn name(&self) -> &'static str {
        self.phase_b.name()
    }

    fn pipe(&self) -> Pipe {
        self.phase_b.pipe()
    }

    fn error_bound(&self) -> f64 {
        self.phase_b.error_bound()
    }

    fn reconstruct(&self, residues: &[Residues], to: &mut [I256; COLUMNS]) {
        let mut slices = [[0; COLUMNS]; MOST_SLICES];
        self.phase_a.form(residues, &mut slices);
        self.phase_b.sum(&slices[..self.phase_a.slices()], to);
    }

    fn operations(&self, residues: &[Residues]) -> Operations {
        let mut slices = [[0; COLUMNS]; MOST_SLICES];
        self.phase_a.form(residues, &mut slices);
        let slices = &slices[..self.phase_a.slices()];
        self.phase_a.operations(residues) + self.phase_b.operations(slices)
    }
}
