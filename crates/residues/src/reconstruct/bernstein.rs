//! The fraction `C/M` in floating point, after Bernstein: `s = Σ v_k w_k` with `w_k = u_k/M`, and `C = M·(s - round(s))`.
//!
//! `w_k` is a fraction with denominator `m_k`, of magnitude at most 1/2, rounded to the nearest. With `u` the unit
//! roundoff and `x_k = max|v_k|·|w_k|`, the product `v_k w_k` is off by at most `x_k (2u + u²)`: `u` for the table, `u`
//! for the product. The sum's rounding comes on top: an addition at a time, or Kahan's analysis. Call all that `d`.
//! Taking `round(s)` off is exact (the difference is a multiple of the last place of `s`, and no larger than `s`), and
//! gives `C/M` to within `d`, provided that `d` is less than the margin `1/2 - |C|/M`; otherwise the rounding may go
//! in the other direction and the result be off by nearly `M`. `M` as a number of this kind and the last product contribute
//! `2u + u²` of `M/2` (and `2^-53` more for floats, because `M` becomes a double first). The result is rounded to an
//! integer, so it is off by less than 1/2 more, or it is exact if it was off by less than 1/2.
//!
//! Kahan's correction cannot help against the table's own rounding, which is as large as that of all additions together.

use super::floats::{Grid, integer_of, nearest, on_pipe, pipe_of};
use super::forward::ROUNDED_UP;
use super::operations::{Counting, Real, counted};
use super::single_kahan::{KahanError, kahan_add};
use super::slices::largest_residue;
use super::weights::inverse;
use super::{Operations, Pipe, Reconstruction};
use crate::moduli::Moduli;
use crate::{COLUMNS, Residues};
use ethnum::I256;
use std::marker::PhantomData;

/// Bernstein's method in numbers of kind `R`, with Kahan's correction or without.
#[derive(Debug)]
pub(super) struct Bernstein<R, const KAHAN: bool> {
    name: &'static str,
    /// `w_k`, numbers of kind `R`.
    weights: Vec<f64>,
    /// `M` over `unit`.
    product: f64,
    /// A power of two that brings `M` into the range of floats.
    unit: f64,
    bound: f64,
    number: PhantomData<R>,
}

impl<R: Real, const KAHAN: bool> Bernstein<R, KAHAN> {
    pub(super) fn new(name: &'static str, moduli: &Moduli) -> Self {
        let product = nearest(moduli.product());
        let unit = f64::from(moduli.bits() as u32 / 2).exp2();
        let weights: Vec<f64> = (0..moduli.len())
            .map(|k| R::quotient(inverse(moduli, k).into(), moduli.values()[k].into()))
            .collect();
        Bernstein {
            name,
            bound: bound::<R, KAHAN>(moduli, &weights) * ROUNDED_UP,
            weights,
            product: product / unit,
            unit,
            number: PhantomData,
        }
    }

    #[inline(always)]
    fn fractional<N: Real>(&self, residues: &[Residues]) -> [N; COLUMNS] {
        let mut totals = [N::default(); COLUMNS];
        let mut corrections = [N::default(); COLUMNS];
        for (row, weight) in residues.iter().zip(&self.weights) {
            let weight = N::constant(*weight);
            for ((total, correction), &residue) in totals.iter_mut().zip(&mut corrections).zip(row)
            {
                let term = N::of_sum(residue.into()) * weight;
                if KAHAN {
                    kahan_add(total, correction, term);
                } else {
                    *total = *total + term;
                }
            }
        }
        // Adding and taking off a number whose last place is 1 rounds to an integer.
        let large = N::constant(1.5 * f64::from(N::DIGITS - 1).exp2());
        let product = N::constant(self.product);
        for total in &mut totals {
            let whole = (*total + large) - large;
            *total = (*total - whole) * product;
        }
        totals
    }
}

/// The bound of the comment above.
fn bound<R: Real, const KAHAN: bool>(moduli: &Moduli, weights: &[f64]) -> f64 {
    let roundoff = (-f64::from(R::DIGITS)).exp2();
    let twice = roundoff * (2.0 + roundoff);
    // Nothing is known about a grid here.
    let grid = Grid::new::<R>(0.0);
    let (mut partial, mut terms, mut plain) = (0.0, 0.0, 0.0);
    let mut kahan = KahanError::default();
    for (weight, &modulus) in weights.iter().zip(moduli.values()) {
        // The weight is rounded: up to a `1 + 2u` less than the exact one.
        let term = f64::from(largest_residue(modulus)) * weight.abs() * (1.0 + 2.0 * twice);
        terms += term * twice;
        partial += term * (1.0 + twice);
        plain += grid.rounding(partial + plain);
        kahan = kahan.add(term * (1.0 + twice), partial, grid);
    }
    let fraction = terms + if KAHAN { kahan.total() } else { plain };
    let product = moduli.product().as_f64();
    let margin = 0.5 - moduli.largest().as_f64() / product;
    let off = if fraction < margin * (1.0 - 1e-9) {
        fraction
    } else {
        0.5 + moduli.largest().as_f64() / product
    };
    let before = product * (off + twice / 2.0 + f64::EPSILON / 4.0) * ROUNDED_UP;
    if before < 0.499 { 0.0 } else { before + 0.5 }
}

impl<R: Real + std::fmt::Debug + Send + Sync, const KAHAN: bool> Reconstruction
    for Bernstein<R, KAHAN>
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn pipe(&self) -> Pipe {
        pipe_of::<R>()
    }

    fn error_bound(&self) -> f64 {
        self.bound
    }

    fn reconstruct(&self, residues: &[Residues], to: &mut [I256; COLUMNS]) {
        assert_eq!(
            residues.len(),
            self.weights.len(),
            "a row for every modulus"
        );
        let fractions = self.fractional::<R>(residues);
        for (to, fraction) in to.iter_mut().zip(fractions) {
            *to = integer_of((fraction.get() * self.unit).round_ties_even());
        }
    }

    fn operations(&self, residues: &[Residues]) -> Operations {
        on_pipe::<R>(counted(|| {
            self.fractional::<Counting<R>>(residues);
        }))
    }
}
