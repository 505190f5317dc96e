//! Phase B in bins of doubles, as Demmel and Nguyen's reproducible sums have them: every term is rounded beforehand to
//! the grids of the bins, the coarsest first, so that no addition ever rounds and the order of the terms does not
//! matter.
//!
//! Bin `j` counts in units of `2^(40j)`. With `A = 1.5·2^(40j + 52)`, whose last place is that unit, `q = (x + A) - A`
//! is `x` rounded to the unit for `|x| <= 2^(40j + 51)`, exactly; `x - q`, of magnitude at most half a unit, goes on to
//! the next bin. Bins are there down to units of 1, and a term that is a multiple of a bin's unit ends there, so
//! nothing is left over: the sum is exact, where the method in general leaves off below its lowest bin.
//!
//! The positions of slices are known, so a term is looked for only where it can be: in bins of whose unit it may be
//! more than half, down to the first whose unit divides it. That the sums of all bins stay below `2^53` units is added
//! up when the method is built; 64 terms of half a unit of the next bin make `2^45`.

use super::floats::{integer_of, on_pipe};
use super::forward::{Layout, PhaseB};
use super::operations::{Counting, Real, counted};
use super::{Operations, Pipe};
use crate::COLUMNS;
use crate::bytes::Sums;
use ethnum::I256;

/// Bits between bins.
const WIDTH: u32 = 40;
/// Enough for 240 bits.
const MOST_BINS: usize = 6;

/// Phase B in bins.
#[derive(Debug)]
pub(super) struct Bins {
    terms: Vec<Term>,
    bins: usize,
}

/// Where a slice goes.
#[derive(Debug, Clone, Copy)]
struct Term {
    weight: f64,
    /// The bin that it ends in.
    lowest: usize,
    /// The first bin that takes something of it.
    highest: usize,
}

fn unit(bin: usize) -> f64 {
    (f64::from(WIDTH) * bin as f64).exp2()
}

impl Bins {
    pub(super) fn new(layout: &Layout) -> Bins {
        let terms: Vec<Term> = (0..layout.slices)
            .map(|s| {
                let weight = layout.weight(s);
                let lowest = (layout.slice_bits * s as u32 / WIDTH) as usize;
                let highest = (lowest..)
                    .take_while(|&bin| bin == lowest || layout.term(s) > unit(bin) / 2.0)
                    .last()
                    .unwrap_or(lowest);
                Term {
                    weight,
                    lowest,
                    highest,
                }
            })
            .collect();
        let bins = terms.iter().map(|term| term.highest).max().unwrap_or(0) + 1;
        // What every bin may hold: half a unit of the bin above of a term that has been there, else the term itself;
        // and rounding.
        for bin in 0..bins {
            let mut largest = 0.0;
            for (s, term) in terms.iter().enumerate() {
                let held = match bin {
                    bin if bin < term.lowest || bin > term.highest => continue,
                    bin if bin == term.highest => layout.term(s),
                    _ => unit(bin + 1) / 2.0,
                };
                largest += held + unit(bin);
                assert!(
                    held <= unit(bin) * 51f64.exp2(),
                    "a term within reach of its bin"
                );
            }
            assert!(largest <= unit(bin) * 53f64.exp2(), "sums that bins hold");
        }
        assert!(bins <= MOST_BINS, "as many bins as there are");
        Bins { terms, bins }
    }

    #[inline(always)]
    fn fill<R: Real>(&self, slices: &[Sums]) -> [[R; COLUMNS]; MOST_BINS] {
        let mut bins = [[R::default(); COLUMNS]; MOST_BINS];
        for (row, term) in slices.iter().zip(&self.terms) {
            let weight = R::constant(term.weight);
            let mut rests = row.map(|sum| R::of_sum(sum) * weight);
            for bin in (term.lowest + 1..=term.highest).rev() {
                let large = R::constant(1.5 * 52f64.exp2() * unit(bin));
                for (total, rest) in bins[bin].iter_mut().zip(&mut rests) {
                    let rounded = (*rest + large) - large;
                    *total = *total + rounded;
                    *rest = *rest - rounded;
                }
            }
            for (total, &rest) in bins[term.lowest].iter_mut().zip(&rests) {
                *total = *total + rest;
            }
        }
        bins
    }
}

impl PhaseB for Bins {
    fn name(&self) -> &'static str {
        "bins"
    }

    fn pipe(&self) -> Pipe {
        Pipe::Double
    }

    fn error_bound(&self) -> f64 {
        0.0
    }

    fn sum(&self, slices: &[Sums], to: &mut [I256; COLUMNS]) {
        let bins = self.fill::<f64>(slices);
        for (column, to) in to.iter_mut().enumerate() {
            *to = bins[..self.bins]
                .iter()
                .map(|bin| integer_of(bin[column]))
                .sum();
        }
    }

    fn operations(&self, slices: &[Sums]) -> Operations {
        on_pipe::<f64>(counted(|| {
            self.fill::<Counting<f64>>(slices);
        }))
    }
}
