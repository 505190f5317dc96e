//! Lines of one step, several sets of as many as there are lanes: while the outputs of one set are rounded, the next one is
//! multiplied. A set that is alone waits for its digits to reach the cache and for its sums to leave the unit.

use crate::matrix_unit::MatrixUnit;
use crate::simd::{Point, Row, Vectors};
use crate::stages::butterfly::Value;
use crate::stages::lines::Lines;
use crate::stages::outputs::{Emit, FloatEmitter};
use crate::stages::quantise::Quantised;
use crate::transform::bailey::Block;
use crate::transform::line::Floats;
use crate::transform::passes::{Ends, Finish, Load, Passes, SETS};
use crate::workspace::{take, words_for};
use std::marker::PhantomData;

/// Lines of at most so many points come one set at a time: several sets would leave the first-level cache, which costs more than waiting.
const ALONE: usize = 20;

/// An emitter for every set.
struct SetEmitter<'a, const L: usize> {
    emitters: [Option<FloatEmitter<'a, L>>; SETS],
    set: usize,
}

impl<const L: usize, V: Vectors<L>> Emit<L, V> for SetEmitter<'_, L> {
    #[inline(always)]
    fn emit<X: Value<L, V>>(&mut self, place: usize, value: X) {
        if let Some(emitter) = &mut self.emitters[self.set] {
            emitter.emit(place, value);
        }
    }

    #[inline(always)]
    fn select(&mut self, set: usize) {
        self.set = set;
    }
}

impl Passes {
    /// Whether lines are of one step on a matrix unit, not too short, and of words of 64 bits.
    pub(crate) fn comes_in_sets(&self) -> bool {
        let one_step = |block: &Block| match block.steps() {
            [step] => step.matrices.is_some() && block.len() > ALONE,
            _ => false,
        };
        self.is_one_block() && !self.is_short() && one_step(&self.blocks()[0])
    }

    /// 64-bit words of workspace for [`SETS`] sets.
    pub(crate) fn sets_workspace_len<const L: usize, U: MatrixUnit<L>>(&self) -> usize {
        let block = &self.blocks()[0];
        2 * words_for::<Point<L>>(SETS * block.len())
            + words_for::<Row<L>>(block.len())
            + block.scratch_len::<L>(U::COLUMNS)
    }

    /// Transforms so many sets of lines.
    pub(crate) fn run_sets<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        sets: usize,
        ends: &Ends<'_, L>,
        mut workspace: &mut [u64],
    ) {
        let _session = unit.session();
        let block = &self.blocks()[0];
        let n = block.len();
        let points = take::<Point<L>>(&mut workspace, sets * n);
        let floats = take::<Point<L>>(&mut workspace, sets * n);
        let exponents = take::<Row<L>>(&mut workspace, n);
        let mut scratch = block.scratch::<L>(U::COLUMNS, &mut workspace);
        let mut found: [Option<Quantised<L>>; SETS] = [None; SETS];
        let mut emitter = SetEmitter {
            emitters: [const { None }; SETS],
            set: 0,
        };
        let panels = points.chunks_exact_mut(n).zip(floats.chunks_exact_mut(n));
        for (set, (points, floats)) in panels.enumerate() {
            let mut floats = Some(floats);
            ends(set, &mut |input, output, active| {
                let quantised = unit.enter(Load {
                    unit: PhantomData::<U>,
                    source: &Floats(input),
                    lines: &Lines::whole(active),
                    block,
                    points,
                    exponents,
                });
                let offset = self.exponent_offset() + block.exponent_offset();
                let exponents = std::array::from_fn(|lane| {
                    quantised.exponents[lane] + offset + output.bias[lane]
                });
                found[set] = Some(quantised);
                emitter.emitters[set] = floats
                    .take()
                    .map(|floats| FloatEmitter::new(floats, exponents, output));
            });
        }
        block.run_only(unit, points, &mut emitter, &mut scratch);
        for (set, floats) in floats.chunks_exact_mut(n).enumerate() {
            let Some(found) = &found[set] else {
                unreachable!("every set has been loaded");
            };
            ends(set, &mut |_, output, active| {
                unit.enter(Finish {
                    unit: PhantomData::<U>,
                    output,
                    lines: &Lines::whole(active),
                    grid: block.output(),
                    floats,
                    properties: &found.properties,
                });
            });
        }
    }
}
