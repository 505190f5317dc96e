//! Where lines come from and where they go.

use crate::matrix_unit::{MatrixUnit, Task};
use crate::simd::{Point, Row, Vectors};
use crate::stages::lines::Lines;
use crate::stages::numbers::Output;
use crate::stages::outputs::WideOutputs;
use crate::stages::quantise::Quantised;
use crate::transform::bailey::Block;
use std::marker::PhantomData;

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

/// Loading and quantising as a task. Those without products are compiled for the vectors alone: units that have the same share them.
pub(crate) struct Load<'a, const L: usize, V, S> {
    pub(crate) vectors: PhantomData<V>,
    pub(crate) source: &'a S,
    pub(crate) lines: &'a Lines<L>,
    pub(crate) block: &'a Block,
    pub(crate) points: &'a mut [Point<L>],
    pub(crate) exponents: &'a mut [Row<L>],
}

impl<const L: usize, V: Vectors<L>, S: Source<L>> Task for Load<'_, L, V, S> {
    type Output = Quantised<L>;

    #[inline(always)]
    fn run(self) -> Quantised<L> {
        self.source
            .quantise::<V>(self.lines, self.block, self.points, self.exponents)
    }
}

/// Handing wide outputs on as a task.
struct Accept<'a, const L: usize, V, K> {
    vectors: PhantomData<V>,
    sink: &'a K,
    lines: &'a Lines<L>,
    values: WideOutputs<'a, L>,
    found: &'a Quantised<L>,
    floats: &'a mut [Point<L>],
}

impl<const L: usize, V: Vectors<L>, K: Sink<L>> Task for Accept<'_, L, V, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.sink
            .accept::<V>(self.lines, &self.values, self.found, self.floats);
    }
}

/// Any source, on one unit: passes are compiled once for a unit, and call it for a panel at a time.
pub(crate) trait LineSource<const L: usize, U>: Sync {
    /// [`Source::quantise`] with the unit's instructions.
    fn load(
        &self,
        unit: U,
        lines: &Lines<L>,
        block: &Block,
        points: &mut [Point<L>],
        exponents: &mut [Row<L>],
    ) -> Quantised<L>;
}

impl<const L: usize, U: MatrixUnit<L>, S: Source<L>> LineSource<L, U> for S {
    fn load(
        &self,
        unit: U,
        lines: &Lines<L>,
        block: &Block,
        points: &mut [Point<L>],
        exponents: &mut [Row<L>],
    ) -> Quantised<L> {
        unit.enter(Load {
            vectors: PhantomData::<U::Vectors>,
            source: self,
            lines,
            block,
            points,
            exponents,
        })
    }
}

/// Any sink, on one unit.
pub(crate) trait LineSink<const L: usize, U>: Sync {
    /// [`Sink::floats`]
    fn output(&self) -> Option<&Output<'_, L>>;

    /// [`Sink::accept`] with the unit's instructions.
    fn take(
        &self,
        unit: U,
        lines: &Lines<L>,
        values: WideOutputs<'_, L>,
        found: &Quantised<L>,
        floats: &mut [Point<L>],
    );
}

impl<const L: usize, U: MatrixUnit<L>, K: Sink<L>> LineSink<L, U> for K {
    fn output(&self) -> Option<&Output<'_, L>> {
        self.floats()
    }

    fn take(
        &self,
        unit: U,
        lines: &Lines<L>,
        values: WideOutputs<'_, L>,
        found: &Quantised<L>,
        floats: &mut [Point<L>],
    ) {
        unit.enter(Accept {
            vectors: PhantomData::<U::Vectors>,
            sink: self,
            lines,
            values,
            found,
            floats,
        });
    }
}

/// Where lines come from, and where they go.
pub(crate) type LineEnds<'a, const L: usize, U> =
    (&'a dyn LineSource<L, U>, &'a dyn LineSink<L, U>);
