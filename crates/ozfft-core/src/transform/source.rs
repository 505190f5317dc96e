//! Where lines come from and where they go.

use crate::simd::{Point, Row, Vectors};
use crate::stages::lines::Lines;
use crate::stages::numbers::Output;
use crate::stages::outputs::WideOutputs;
use crate::stages::quantise::Quantised;
use crate::transform::bailey::Block;

/// A NaN or an infinity was met in a line that is transformed alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotFinite;

/// Where the numbers of lines come from.
pub(crate) trait Source<const L: usize>: Sync {
    /// Loads the elements of every lane and brings each line under one exponent.
    fn quantise<V: Vectors<L>>(
        &self,
        lines: &Lines<L>,
        block: &Block,
        points: &mut [Point<L>],
        exponents: &mut [Row<L>],
    ) -> Quantised<L>;
}

/// Where the numbers of lines go: as floating-point numbers to the caller's array, or as integers to [`Sink::accept`].
pub(crate) trait Sink<const L: usize>: Sync {
    /// The caller's array, where this is the end.
    fn floats(&self) -> Option<&Output<'_, L>> {
        None
    }

    /// Takes `values · 2^exponent` for the outputs of every lane.
    fn accept<V: Vectors<L>>(
        &self,
        lines: &Lines<L>,
        values: &WideOutputs<'_, L>,
        found: &Quantised<L>,
        floats: &mut [Point<L>],
    );
}
