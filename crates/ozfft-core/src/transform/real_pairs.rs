//! Real lines of one block, two sets of as many as there are lanes at a time: the first step multiplies those of one as real parts and those of
//! the other as imaginary parts, which are multiplied by the same matrices and rounded one by one. The words are those of each set
//! alone, whose imaginary parts are zero; all further steps have one set each.

use crate::matrix_unit::{MatrixUnit, Task};
use crate::simd::{Point, inlined};
use crate::stages::butterfly::Value;
use crate::stages::lines::Lines;
use crate::stages::outputs::FloatEmitter;
use crate::stages::quantise::{InputSymmetry, Quantised};
use crate::transform::bailey::{Block, Symmetry};
use crate::transform::columns::{BlockScratch, Column};
use crate::transform::line::Floats;
use crate::transform::packed_elements::PackedElement;
use crate::transform::passes::{Ends, Finish, LineScratch, PAIR, Passes};
use crate::transform::source::Load;
use std::marker::PhantomData;

impl Block {
    /// The first step of the lines of two panels, whose imaginary parts are zero. Rows beyond the middle are not written: they mirror the others.
    #[inline(always)]
    fn first_step_of_two<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        points: &mut [Point<L>],
        others: &mut [Point<L>],
        scratch: &mut BlockScratch<'_, L>,
    ) {
        for ([_, im], [other, _]) in points.iter_mut().zip(&*others) {
            *im = *other;
        }
        let step = &self.steps()[0];
        let (n, inner, pitch) = (step.recipe.n, step.inner, self.input().pitch);
        let digits = self.digits();
        let column = |j: usize| match 2 * j > inner {
            // As in the first step of complex lines, but for conjugates: real numbers are their own.
            true => Column {
                first: (n - 1) * pitch + j,
                step: -(pitch as isize),
                conjugate: false,
                to_sines: 0,
            },
            false => Column {
                first: j,
                step: pitch as isize,
                conjugate: false,
                to_sines: 0,
            },
        };
        step.run_words(
            unit,
            self.setting(),
            inner,
            points,
            scratch,
            column,
            #[inline(always)]
            |points, j, k, pair| {
                let mirrored = 2 * j > inner;
                let source = if mirrored { inner - j } else { j };
                let rotation = &step.rotations[k * step.rotation_stride + source];
                let finished = inlined(
                    #[inline(always)]
                    |word| {
                        let rotated =
                            <Point<L> as PackedElement<L, U>>::rotated(digits, word, rotation);
                        match (mirrored, step.mirror_negates) {
                            (false, _) => rotated,
                            (true, true) => rotated.mirrored(),
                            (true, false) => rotated.conjugated(),
                        }
                    },
                );
                let (one, other) = pair.outputs_of_two_real();
                let place = k * pitch + j;
                PackedElement::<L, U>::put(&mut points[place], finished(one));
                PackedElement::<L, U>::put(&mut others[place], finished(other));
            },
        );
    }
}

/// The first step of two sets as a task.
struct FirstStepOfTwo<'a, 'b, const L: usize, U> {
    block: &'a Block,
    unit: U,
    points: &'a mut [Point<L>],
    others: &'a mut [Point<L>],
    scratch: &'a mut BlockScratch<'b, L>,
}

impl<const L: usize, U: MatrixUnit<L>> Task for FirstStepOfTwo<'_, '_, L, U> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.block
            .first_step_of_two(self.unit, self.points, self.others, self.scratch);
    }
}

impl Passes {
    /// Whether real lines are transformed two sets at a time: lines of one block of several steps, whose words have 64 bits.
    pub(crate) fn pairs_real_lines(&self) -> bool {
        self.is_one_block() && !self.is_short() && self.blocks()[0].steps().len() > 1
    }

    /// Transforms two sets of real lines.
    pub(crate) fn run_real_pair<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        ends: &Ends<'_, L>,
        workspace: &mut [u64],
    ) {
        let _session = unit.session();
        let block = &self.blocks()[0];
        let LineScratch {
            points,
            exponents,
            floats,
            wide,
            block: mut scratch,
        } = LineScratch::new(block, U::COLUMNS, workspace);
        // Lines that end here have no wide outputs, and a wide point is two.
        let others: &mut [Point<L>] = bytemuck::cast_slice_mut(wide);
        let others = &mut others[..block.input().len()];
        let mut found: [Option<Quantised<L>>; PAIR] = [None; PAIR];
        for (set, panel) in [&mut *points, &mut *others].into_iter().enumerate() {
            ends(set, &mut |input, _, active| {
                found[set] = Some(unit.enter(Load {
                    vectors: PhantomData::<U::Vectors>,
                    source: &Floats(input),
                    lines: &Lines::whole(active),
                    block,
                    points: panel,
                    exponents,
                }));
            });
        }
        unit.enter(FirstStepOfTwo {
            block,
            unit,
            points,
            others,
            scratch: &mut scratch,
        });
        for (set, panel) in [points, others].into_iter().enumerate() {
            let Some(found) = &found[set] else {
                unreachable!("every set has been loaded");
            };
            debug_assert_eq!(found.symmetry, InputSymmetry::Real);
            ends(set, &mut |_, output, active| {
                let offset = self.exponent_offset() + block.exponent_offset();
                let exponents =
                    std::array::from_fn(|lane| found.exponents[lane] + offset + output.bias[lane]);
                let symmetry = Symmetry::of(found, output.count < output.length);
                let mut emitter = FloatEmitter::new(floats, exponents, output);
                block.run_after_first(unit, symmetry, panel, &mut emitter, &mut scratch);
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
