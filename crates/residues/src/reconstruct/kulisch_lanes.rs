//! Phase B in 32-bit words, all columns side by side: what `kulisch32` runs. The crate `kulisch` has it, [`SpacedSums`].

use super::forward::{Layout, PhaseB};
use super::words::{MOST_WORDS, to_integers};
use super::{Operations, Pipe};
use crate::COLUMNS;
use crate::bytes::Sums;
use crate::error::ResidueError;
use ethnum::I256;
use kulisch::bounded::{Counted, Uncounted};
use kulisch::bounded_lanes::SpacedSums;

/// Phase B in 32-bit words.
#[derive(Debug)]
pub(super) struct Lanes {
    sums: SpacedSums<MOST_WORDS>,
}

impl Lanes {
    pub(super) fn new(layout: &Layout) -> Result<Lanes, ResidueError> {
        let (spacing, slices) = (layout.slice_bits, layout.slices);
        let most = SpacedSums::<MOST_WORDS>::largest_term(spacing, slices);
        layout.demand_sums("kulisch32", most)?;
        let bits = 256 - layout.largest.leading_zeros();
        let sums = SpacedSums::new(spacing, slices, layout.largest_sum, bits)
            .expect("slices up to 16 bits apart, and moduli that hold at most 230 bits");
        Ok(Lanes { sums })
    }
}

impl PhaseB for Lanes {
    fn name(&self) -> &'static str {
        "kulisch32"
    }

    fn pipe(&self) -> Pipe {
        Pipe::Integer(32)
    }

    fn error_bound(&self) -> f64 {
        0.0
    }

    fn sum(&self, slices: &[Sums], to: &mut [I256; COLUMNS]) {
        let words = self.sums.sum(slices, &mut Uncounted);
        to_integers(words, MOST_WORDS, to);
    }

    fn operations(&self, slices: &[Sums]) -> Operations {
        let mut tally = Counted::default();
        self.sums.sum(slices, &mut tally);
        Operations {
            integer: tally.total() as f64 / COLUMNS as f64,
            ..Operations::default()
        }
    }
}
