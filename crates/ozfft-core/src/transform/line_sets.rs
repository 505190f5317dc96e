//! Lines of one step, several sets of as many as there are lanes: while the outputs of one set are rounded, the next one is
//! multiplied. A set that is alone waits for its digits to reach the cache and for its sums to leave the unit. Where sums stay in
//! registers (`matrix_unit/register_rows.rs`) nothing waits, and sets come one after the other.

use crate::matrix_unit::{MatrixUnit, Task};
use crate::simd::{Point, Row, Vectors};
use crate::stages::lines::Lines;
use crate::stages::numbers::{Elements, Input, Output};
use crate::stages::outputs::{FloatEmitter, SETS, SetEmitter};
use crate::stages::quantise::{InputSymmetry, Quantised, all_moderate, quantise_ordinary_floats};
use crate::transform::bailey::Block;
use crate::transform::line::{End, Floats};
use crate::transform::passes::{Ends, Finish, LineScratch, Passes};
use crate::transform::source::Load;
use crate::workspace::{take, words_for};
use std::marker::PhantomData;

/// Lines of at most so many points come one set at a time: several sets would leave the first-level cache, which costs more than waiting.
const ALONE: usize = 20;

/// A set of lines from reading to writing as one task, which ends with `false` before anything is written if a line is out of the ordinary.
struct OrdinaryLines<'a, 'b, const L: usize, U> {
    unit: U,
    block: &'a Block,
    exponent_offset: i32,
    ends: (&'a Input<'a, L>, &'a Output<'a, L>),
    active: usize,
    scratch: &'a mut LineScratch<'b, L>,
}

impl<const L: usize, U: MatrixUnit<L>> Task for OrdinaryLines<'_, '_, L, U> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let (input, output) = self.ends;
        let (block, scratch) = (self.block, self.scratch);
        if output.is_single() || !input.is_double() {
            return false;
        }
        let lines = Lines::whole(self.active);
        let points = &mut *scratch.points;
        input.gather::<U::Vectors>(&lines, usize::MAX, block.input(), points);
        let (grid, shape) = (block.input(), block.columns());
        let symmetry = match input.elements {
            Elements::Real => InputSymmetry::Real,
            _ => InputSymmetry::Complex,
        };
        let quantised = quantise_ordinary_floats::<L, U::Vectors>(points, grid, shape, symmetry);
        let Some(exponents) = quantised else {
            return false;
        };
        let mut offsets = [i64::from(self.exponent_offset); L];
        for (offset, &bias) in offsets.iter_mut().zip(&output.bias) {
            *offset += i64::from(bias);
        }
        let exponents = U::Vectors::add(exponents, U::Vectors::load(&offsets));
        if !all_moderate::<L, U::Vectors>(exponents) {
            return false;
        }
        let mut emitter = FloatEmitter::moderate::<U::Vectors>(scratch.floats, exponents, output);
        block.only_step(self.unit, points, &mut emitter, &mut scratch.block);
        if symmetry == InputSymmetry::Real {
            // The first output of a real line is real, and so is the middle one: exactly, whatever rounding left there.
            let n = block.len();
            let middle = n.is_multiple_of(2).then_some(n / 2);
            for i in [0].into_iter().chain(middle) {
                scratch.floats[block.output().place(i)][1] = [0; L];
            }
        }
        output.scatter::<U::Vectors>(&lines, block.output(), scratch.floats);
        true
    }
}

impl Passes {
    /// Whether lines are of one step on a matrix unit, and of words of 64 bits; not too short, unless the unit multiplies row by row.
    pub(crate) fn comes_in_sets(&self, row_by_row: bool) -> bool {
        let one_step = |block: &Block| match block.steps() {
            [step] => {
                let apart = row_by_row && block.is_row_by_row();
                step.matrices.is_some() && (apart || block.len() > ALONE)
            }
            _ => false,
        };
        self.is_one_block() && !self.is_short() && one_step(&self.blocks()[0])
    }

    /// Sets of lines one after the other, where products leave nothing to wait for.
    fn run_sets_apart<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        sets: usize,
        ends: &Ends<'_, L>,
        workspace: &mut [u64],
    ) {
        let block = &self.blocks()[0];
        let mut scratch = LineScratch::new(block, U::COLUMNS, workspace);
        for set in 0..sets {
            ends(set, &mut |input, output, active| {
                let done = unit.enter(OrdinaryLines {
                    unit,
                    block,
                    exponent_offset: self.exponent_offset() + block.exponent_offset(),
                    ends: (input, output),
                    active,
                    scratch: &mut scratch,
                });
                if !done {
                    self.run_block(unit, (&Floats(input), &End(output)), active, &mut scratch);
                }
            });
        }
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
        if const { U::ROW_BY_ROW } && block.is_row_by_row() {
            return self.run_sets_apart(unit, sets, ends, workspace);
        }
        let n = block.len();
        let points = take::<Point<L>>(&mut workspace, sets * n);
        let floats = take::<Point<L>>(&mut workspace, sets * n);
        let exponents = take::<Row<L>>(&mut workspace, n);
        let mut scratch = block.scratch::<L>(U::COLUMNS, &mut workspace);
        let mut found: [Option<Quantised<L>>; SETS] = [None; SETS];
        let mut emitter = SetEmitter::new();
        let panels = points.chunks_exact_mut(n).zip(floats.chunks_exact_mut(n));
        for (set, (points, floats)) in panels.enumerate() {
            let mut floats = Some(floats);
            ends(set, &mut |input, output, active| {
                let quantised = unit.enter(Load {
                    vectors: PhantomData::<U::Vectors>,
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
                    vectors: PhantomData::<U::Vectors>,
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
