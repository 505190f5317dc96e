//! Lines of one block whose words have at most four digits: 32-bit lanes from the caller's numbers back to them.
//!
//! The integers are those of 64-bit lanes, so are the bits of the result; real and imaginary parts of all lines are one
//! register, as their digits are.

use crate::matrix_unit::{MatrixUnit, Task};
use crate::simd::{HalfRow, Point, Vectors};
use crate::stages::lines::Lines;
use crate::stages::numbers::{Input, Output, Reader};
use crate::stages::outputs::FloatEmitter;
use crate::stages::quantise::{Quantised, quantise_floats};
use crate::stages::quantise_single::{quantise_short, shorten};
use crate::transform::bailey::{Block, Symmetry};
use crate::transform::line::known_symmetry;
use crate::transform::packed_elements::SHORT_DIGITS;
use crate::transform::passes::{Finish, LineScratch, Passes};
use std::marker::PhantomData;

impl Passes {
    /// Whether lines use this path on a unit.
    pub(crate) fn is_short(&self) -> bool {
        self.is_one_block() && self.blocks()[0].digits().data <= SHORT_DIGITS
    }

    /// Transforms `active` lines of one block.
    pub(crate) fn run_short<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        input: &Input<'_, L>,
        output: &Output<'_, L>,
        active: usize,
        workspace: &mut [u64],
    ) {
        let _session = unit.session();
        let block = &self.blocks()[0];
        let lines = Lines::whole(active);
        let scratch = LineScratch::<L>::new(block, U::COLUMNS, workspace);
        // A row of exponents is as large as a row of short words, and there are no exponents here.
        let panel: &mut [HalfRow<L>] = bytemuck::cast_slice_mut(scratch.exponents);
        let found = unit.enter(Load {
            vectors: PhantomData::<U::Vectors>,
            input,
            lines: &lines,
            block,
            points: scratch.points,
            panel,
        });
        let offset = self.exponent_offset() + block.exponent_offset();
        let exponents =
            std::array::from_fn(|lane| found.exponents[lane] + offset + output.bias[lane]);
        let symmetry = Symmetry::of(&found, output.count < output.length);
        let mut emitter = FloatEmitter::new(scratch.floats, exponents, output);
        let mut memory = scratch.block;
        block.run::<L, U, HalfRow<L>, _>(unit, symmetry, panel, &mut emitter, &mut memory);
        unit.enter(Finish {
            vectors: PhantomData::<U::Vectors>,
            output,
            lines: &lines,
            grid: block.output(),
            floats: scratch.floats,
            properties: &found.properties,
        });
    }
}

/// Loading and quantising as a task.
struct Load<'a, const L: usize, V> {
    vectors: PhantomData<V>,
    input: &'a Input<'a, L>,
    lines: &'a Lines<L>,
    block: &'a Block,
    points: &'a mut [Point<L>],
    panel: &'a mut [HalfRow<L>],
}

impl<const L: usize, V: Vectors<L>> Task for Load<'_, L, V> {
    type Output = Quantised<L>;

    #[inline(always)]
    fn run(self) -> Quantised<L> {
        let (grid, shape) = (self.block.input(), self.block.columns());
        let found = if let Reader::Single(_) = self.input.numbers {
            self.input.gather_singles::<V>(self.lines, grid, self.panel);
            quantise_short::<L, V>(self.panel, self.points, grid, shape)
        } else {
            self.input
                .gather::<V>(self.lines, usize::MAX, grid, self.points);
            let found = quantise_floats::<L, V>(self.points, grid, shape);
            shorten::<L, V>(self.points, self.panel, grid);
            found
        };
        known_symmetry(found, self.input, self.block)
    }
}
