//! A line under one exponent: the loop over small DFT steps, with a rotation between them (Bailey's decomposition).
//!
//! With `N = n1·N'`, input index `N'·j1 + j'` and output index `k1 + n1·k'`, the first step transforms the columns
//! `j'`, a rotation follows, and the rest is a transform of length `N'` for every `k1`. All words are integers; what
//! rounds is the shift after a product and the rotation.
//!
//! Two symmetries are built into the *definition* of the result, so that real transforms can later skip half of the
//! work and still return the same bits:
//! - column `n1-k1` of the first step is computed as column `k1` of the conjugated input, so for real input the two
//!   are the same words;
//! - input column `N'-j'` is computed as column `j'` of the reversed and conjugated input, so for Hermitian input
//!   they are the same words.
//!
//! Both cost nothing but signs, and the first rotation table is a quarter of its size.

// Closures that look redundant carry the attribute that inlines them.
#![allow(clippy::redundant_closure)]

use crate::matrix_unit::register_rows::ROW_PAIRS;
use crate::matrix_unit::{MatrixUnit, PackedMatrix, Task};
use crate::recipe::{BlockRecipe, Digits, Fold, Products};
use crate::roots::Fixed;
use crate::simd::{HalfRow, inlined};
use crate::stages::butterfly::{ConjugatePair, Value};
use crate::stages::lines::Grid;
use crate::stages::outputs::Emit;
use crate::stages::quantise::{Columns, InputSymmetry, Quantised};
use crate::stages::residue_products::ResidueEngine;
use crate::transform::columns::{
    BlockScratch, Column, ColumnScratch, exchange_parts, join_real_columns,
};
use crate::transform::head_room::words_fit;
use crate::transform::lane_tables::{LaneTables, lane_tables};
use crate::transform::packed_elements::PackedElement;
use crate::transform::step::Step;
use crate::transform::tables::Setting;
use crate::workspace::{take, words_for};

/// A planned line: steps and tables for one length.
#[derive(Debug)]
pub struct Block {
    n: usize,
    digits: Digits,
    products: Products,
    /// Most rows of digits, and of sums, that a column of any step has.
    largest_rows: (usize, usize),
    steps: Vec<Step>,
    input: Grid,
    output: Grid,
    /// First output index of every group of the last step, and whether the group is mirrored.
    groups: Vec<(usize, bool)>,
    /// An output is its wide integer times 2^(line exponent + this).
    exponent_offset: i32,
    /// See [`Columns::relative_unit`].
    relative_unit: Option<f64>,
    /// For lines one by one; none for units of one lane.
    lane_tables: Option<LaneTables>,
}

/// Symmetry known of all lines of a block, which saves work without changing a bit: see the two symmetries above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symmetry {
    None,
    /// All imaginary parts are zero. With `half`, outputs beyond the middle are not wanted.
    Real {
        half: bool,
    },
    Hermitian,
}

impl Symmetry {
    /// `half`: outputs beyond the middle are not wanted.
    pub(crate) fn of<const L: usize>(found: &Quantised<L>, half: bool) -> Symmetry {
        match found.symmetry {
            InputSymmetry::Complex => Symmetry::None,
            InputSymmetry::Real => Symmetry::Real { half },
            InputSymmetry::Hermitian => Symmetry::Hermitian,
        }
    }
}

/// Most rows of digits, and of sums, that a column of any step has.
fn largest_rows(steps: &[Step]) -> (usize, usize) {
    let matrices = || {
        let steps = steps.iter().filter_map(|step| step.matrices.as_ref());
        steps.flat_map(|m| [&m.cosine, &m.sine])
    };
    (
        matrices().map(PackedMatrix::data_rows).max().unwrap_or(0),
        matrices().map(PackedMatrix::sum_rows).max().unwrap_or(0),
    )
}

impl Block {
    /// Tables for a recipe. Outputs are scaled by `scale`, a factor in (1/2, 1].
    pub fn new(recipe: &BlockRecipe, scale: &Fixed, setting: Setting<'_>) -> Block {
        let n = recipe.len();
        let count = recipe.steps.len();
        // A product comes out 127/128 times too large or small; the first rotation makes up for all steps.
        let compensation = Fixed::ratio(128, 127);
        let norm = scale;
        let scale = recipe
            .steps
            .iter()
            .filter(|step| step.fold != Fold::Trivial)
            .fold(scale.clone(), |scale, _| scale.multiply(&compensation));
        debug_assert!(
            {
                let (digits, tables) = (setting.digits, setting.tables);
                let found = words_fit(recipe, digits, norm.to_f64(), tables);
                found.is_ok() || setting.residues.is_some()
            },
            "head-room: the words of {recipe} with {:?} do not fit: {:?}",
            setting.digits,
            words_fit(recipe, setting.digits, norm.to_f64(), setting.tables)
        );
        let mut inner = n;
        let steps: Vec<Step> = recipe
            .steps
            .iter()
            .enumerate()
            .map(|(i, &step)| {
                inner /= step.n;
                let next = recipe.steps.get(i + 1);
                Step::new(step, inner, i == 0, next, &scale, setting)
            })
            .collect();
        let last = recipe.steps[count - 1].n;
        let groups = (0..n / last)
            .map(|group| {
                // Mixed-radix digits of the group are the output digits, the most significant first.
                let (mut rest, mut below) = (group, n / last);
                let (mut index, mut weight) = (0, 1);
                let mut mirrored = false;
                for (i, step) in recipe.steps[..count - 1].iter().enumerate() {
                    below /= step.n;
                    let mut k = rest / below;
                    rest %= below;
                    if i == 0 && 2 * k > step.n {
                        mirrored = true;
                        k = step.n - k;
                    }
                    index += weight * k;
                    weight *= step.n;
                }
                (index, mirrored)
            })
            .collect();
        let shifts: u32 = recipe.steps.iter().map(|s| s.shift).sum();
        let columns = steps[0].inner;
        let (input, output) = match count {
            1 => (Grid::new(1, n), Grid::new(1, n)),
            _ => (Grid::new(n / columns, columns), Grid::new(last, n / last)),
        };
        let lane_tables = lane_tables(&steps, setting);
        Block {
            n,
            digits: setting.digits,
            products: setting.products,
            input,
            output,
            largest_rows: largest_rows(&steps),
            steps,
            groups,
            exponent_offset: shifts as i32,
            relative_unit: setting.residues.and_then(ResidueEngine::unit_of_lines),
            lane_tables,
        }
    }

    pub fn len(&self) -> usize {
        self.n
    }

    /// Where the inputs are expected.
    pub(crate) fn input(&self) -> Grid {
        self.input
    }

    /// Where the outputs are put.
    pub(crate) fn output(&self) -> Grid {
        self.output
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// First output index of every group of the last step, and whether the group is mirrored.
    pub fn groups(&self) -> &[(usize, bool)] {
        &self.groups
    }

    pub fn exponent_offset(&self) -> i32 {
        self.exponent_offset
    }

    pub(crate) fn digits(&self) -> Digits {
        self.digits
    }

    /// Whether a unit that can do so multiplies its matrices row by row.
    pub(crate) fn is_row_by_row(&self) -> bool {
        self.products == Products::Truncated
            && ROW_PAIRS.contains(&self.digits.pairs())
            && self.digits.low_pairs() == 0
    }

    /// What products depend on.
    pub(crate) fn setting(&self) -> (Digits, Products) {
        (self.digits, self.products)
    }

    /// Tables for lines one by one.
    pub(crate) fn lane_tables(&self) -> Option<&LaneTables> {
        self.lane_tables.as_ref()
    }

    /// Bytes of its tables.
    pub(crate) fn table_bytes(&self) -> usize {
        let steps = self.steps.iter().map(Step::table_bytes);
        let lanes = self.lane_tables.as_ref();
        steps.sum::<usize>() + lanes.map_or(0, LaneTables::table_bytes)
    }

    /// How the line is to be quantised.
    pub(crate) fn columns(&self) -> Columns {
        Columns {
            columns: self.steps[0].inner,
            word_bits: self.digits.word_bits(),
            relative_unit: self.relative_unit,
        }
    }

    /// 64-bit words of scratch memory for `columns` columns at once.
    pub(crate) fn scratch_len<const L: usize>(&self, columns: usize) -> usize {
        let (data, sums) = self.largest_rows;
        4 * words_for::<HalfRow<L>>(columns * data) + 4 * words_for::<HalfRow<L>>(columns * sums)
    }

    /// Cuts the scratch memory off a workspace.
    pub(crate) fn scratch<'a, const L: usize>(
        &self,
        columns: usize,
        workspace: &mut &'a mut [u64],
    ) -> BlockScratch<'a, L> {
        let (data, sums) = self.largest_rows;
        let mut some_columns = || ColumnScratch {
            data: (
                take(workspace, columns * data),
                take(workspace, columns * data),
            ),
            sums: (
                take(workspace, columns * sums),
                take(workspace, columns * sums),
            ),
        };
        BlockScratch([some_columns(), some_columns()])
    }

    /// Transforms the words of `L` lines; the outputs are wide integers. The words are used up.
    pub(crate) fn run<
        const L: usize,
        U: MatrixUnit<L>,
        C: PackedElement<L, U>,
        E: Emit<L, U::Vectors>,
    >(
        &self,
        unit: U,
        symmetry: Symmetry,
        points: &mut [C],
        emit: &mut E,
        scratch: &mut BlockScratch<'_, L>,
    ) {
        match self.steps.len() {
            1 => self.run_only(unit, points, emit, scratch),
            _ => self.run_several(unit, symmetry, points, emit, scratch),
        }
    }

    /// The same for a block of several steps.
    pub(crate) fn run_several<
        const L: usize,
        U: MatrixUnit<L>,
        C: PackedElement<L, U>,
        E: Emit<L, U::Vectors>,
    >(
        &self,
        unit: U,
        symmetry: Symmetry,
        points: &mut [C],
        emit: &mut E,
        scratch: &mut BlockScratch<'_, L>,
    ) {
        unit.enter(FirstStep(StepTask {
            block: self,
            unit,
            symmetry,
            points: &mut *points,
            scratch: &mut *scratch,
        }));
        self.run_after_first(unit, symmetry, points, emit, scratch);
    }

    /// All steps but the first.
    pub(crate) fn run_after_first<
        const L: usize,
        U: MatrixUnit<L>,
        C: PackedElement<L, U>,
        E: Emit<L, U::Vectors>,
    >(
        &self,
        unit: U,
        symmetry: Symmetry,
        points: &mut [C],
        emit: &mut E,
        scratch: &mut BlockScratch<'_, L>,
    ) {
        let rows = self.rows(symmetry);
        let grid = Grid { rows, ..self.input };
        self.run_between(unit, grid, points, scratch);
        let stage = StepTask {
            block: self,
            unit,
            symmetry,
            points,
            scratch,
        };
        unit.enter(LastStep(stage, emit));
    }

    /// The steps between the first and the last, for all rows of a grid.
    pub(crate) fn run_between<const L: usize, U: MatrixUnit<L>, C: PackedElement<L, U>>(
        &self,
        unit: U,
        grid: Grid,
        points: &mut [C],
        scratch: &mut BlockScratch<'_, L>,
    ) {
        for step in &self.steps[1..self.steps.len() - 1] {
            unit.enter(MiddleStep {
                block: self,
                step,
                unit,
                grid,
                points: &mut *points,
                scratch: &mut *scratch,
            });
        }
    }

    /// The same for a block of one step, and for several sets of lines in the panel: who has no other blocks calls this, so
    /// that nothing is compiled for steps that cannot be.
    pub(crate) fn run_only<
        const L: usize,
        U: MatrixUnit<L>,
        C: PackedElement<L, U>,
        E: Emit<L, U::Vectors>,
    >(
        &self,
        unit: U,
        points: &mut [C],
        emit: &mut E,
        scratch: &mut BlockScratch<'_, L>,
    ) {
        unit.enter(OnlyStep {
            block: self,
            unit,
            points,
            emit,
            scratch,
        });
    }

    /// The step of a block that has no other, for every set of lines in the panel.
    #[inline(always)]
    pub(crate) fn only_step<
        const L: usize,
        U: MatrixUnit<L>,
        C: PackedElement<L, U>,
        E: Emit<L, U::Vectors>,
    >(
        &self,
        unit: U,
        points: &mut [C],
        emit: &mut E,
        scratch: &mut BlockScratch<'_, L>,
    ) {
        let (step, n, digits) = (&self.steps[0], self.n, self.digits);
        let rotate = inlined(
            #[inline(always)]
            |word: C::Word, k: usize| match step.rotations.get(k) {
                None => word,
                Some(rotation) => C::rotated(digits, word, rotation),
            },
        );
        let mut put = inlined(
            #[inline(always)]
            |set: usize, place: usize, word: C::Word| {
                emit.select(set);
                if C::holds_outputs(digits) {
                    emit.emit(place, word);
                } else {
                    emit.emit(place, C::Output::from(word));
                }
            },
        );
        let column = |set: usize| Column {
            first: set * n,
            step: 1,
            conjugate: false,
            to_sines: 0,
        };
        let setting = (self.digits, self.products);
        step.run_words(
            unit,
            setting,
            points.len() / n,
            points,
            scratch,
            column,
            #[inline(always)]
            |_, set, k, pair| {
                put(set, k, rotate(pair.output(), k));
                if k > 0 && 2 * k < n {
                    let partner = rotate(pair.output_of_conjugate(), k).conjugated();
                    put(set, n - k, partner);
                }
            },
        );
    }

    #[inline(always)]
    fn first_step<const L: usize, U: MatrixUnit<L>, C: PackedElement<L, U>>(
        &self,
        unit: U,
        symmetry: Symmetry,
        points: &mut [C],
        scratch: &mut BlockScratch<'_, L>,
    ) {
        let step = &self.steps[0];
        let (n, inner, pitch) = (step.recipe.n, step.inner, self.input.pitch);
        let setting = (self.digits, self.products);
        // Mirrored columns of Hermitian lines have the words of their counterparts, mirrored rows of real ones too.
        let hermitian = symmetry == Symmetry::Hermitian;
        let real = matches!(symmetry, Symmetry::Real { .. });
        let is_mirrored = |j: usize| 2 * j > inner;
        // Where a column begins, and how far its next element is.
        let order = |j: usize| match is_mirrored(j) {
            true => ((n - 1) * pitch + j, -(pitch as isize)),
            false => (j, pitch as isize),
        };
        // Real columns go two at a time, one as the real parts and one as the imaginary parts: both are multiplied by the same matrices and
        // rounded one by one.
        let in_pairs = real && step.matrices.is_some();
        if in_pairs {
            for j in (1..inner).step_by(2) {
                let (one, other) = (order(j - 1), order(j));
                join_real_columns::<L, U, C>(points, one, other, n);
            }
        }
        let columns = match (hermitian, in_pairs) {
            (true, _) => inner / 2 + 1,
            (_, true) => inner.div_ceil(2),
            (false, false) => inner,
        };
        let column = |i: usize| {
            let j = if in_pairs { 2 * i } else { i };
            let (first, step) = order(j);
            Column {
                first,
                step,
                // Real numbers are their own conjugates.
                conjugate: is_mirrored(j) && !in_pairs,
                to_sines: 0,
            }
        };
        step.run_words(
            unit,
            setting,
            columns,
            points,
            scratch,
            column,
            #[inline(always)]
            |points, i, k, pair| {
                let put = inlined(
                    #[inline(always)]
                    |points: &mut [C], j: usize, row: usize, word: C::Word| {
                        let mirrored = is_mirrored(j);
                        let source = if mirrored { inner - j } else { j };
                        let rotation = &step.rotations[k * step.rotation_stride + source];
                        let rotated = C::rotated(self.digits, word, rotation);
                        let mirror = inlined(
                            #[inline(always)]
                            |word: C::Word| {
                                if step.mirror_negates {
                                    word.mirrored()
                                } else {
                                    word.conjugated()
                                }
                            },
                        );
                        let own = if mirrored { mirror(rotated) } else { rotated };
                        points[row * pitch + j].put(own);
                        if hermitian && j > 0 && 2 * j < inner {
                            points[row * pitch + inner - j].put(mirror(rotated));
                        }
                    },
                );
                if in_pairs {
                    // Of a real line's rows those beyond the middle mirror the others.
                    let (one, other) = pair.outputs_of_two_real();
                    put(points, 2 * i, k, one);
                    if 2 * i + 1 < inner {
                        put(points, 2 * i + 1, k, other);
                    }
                    return;
                }
                put(points, i, k, pair.output());
                if k > 0 && 2 * k < n && !real {
                    put(points, i, n - k, pair.output_of_conjugate());
                }
            },
        );
    }

    /// Whether the last step is trivial, and words hold its outputs.
    pub(crate) fn last_sums_fit<const L: usize, U: MatrixUnit<L>, C: PackedElement<L, U>>(
        &self,
    ) -> bool {
        let last = self.steps.last();
        last.is_some_and(|step| step.matrices.is_none()) && C::holds_sums(self.digits)
    }

    /// Rows that the steps after the first work on: of a real line's, the mirrored ones need not be there.
    fn rows(&self, symmetry: Symmetry) -> usize {
        match symmetry {
            Symmetry::Real { .. } => self.input.rows / 2 + 1,
            _ => self.input.rows,
        }
    }

    #[inline(always)]
    fn last_step<
        const L: usize,
        U: MatrixUnit<L>,
        C: PackedElement<L, U>,
        X: Value<L, U::Vectors> + From<C::Word>,
        E: Emit<L, U::Vectors>,
    >(
        &self,
        unit: U,
        symmetry: Symmetry,
        points: &mut [C],
        emit: &mut E,
        scratch: &mut BlockScratch<'_, L>,
    ) {
        let step = &self.steps[self.steps.len() - 1];
        let n = step.recipe.n;
        let shifted = step.recipe.fold == Fold::FrequencyShifted;
        // Of several steps the last has no such fold, whose partners are negative.
        debug_assert_ne!(step.recipe.fold, Fold::TimeShifted);
        let Grid { columns, pitch, .. } = self.output;
        let (real, half) = match symmetry {
            Symmetry::Real { half } => (true, half),
            _ => (false, false),
        };
        let per_row = self.groups.len() / self.input.rows;
        let groups = self.rows(symmetry) * per_row;
        // Exact products are rounded after they have been combined, imaginary parts with opposite sign.
        let in_pairs = const { E::MAY_BE_REAL }
            && emit.is_real()
            && !real
            && self.products == Products::Truncated
            && step.matrices.is_some();
        let first = |group: usize| self.input.place(group * n);
        if in_pairs {
            for group in (1..groups).step_by(2) {
                let both = (first(group - 1), first(group));
                exchange_parts::<L, U, C>(points, both, n);
            }
        }
        let mut post = inlined(
            #[inline(always)]
            |group: usize, k: usize, pair: ConjugatePair<X>| {
                let partner = match shifted {
                    true => Some(n - 1 - k),
                    false => (k > 0 && 2 * k < n).then_some(n - k),
                };
                if const { E::MAY_BE_REAL } && in_pairs {
                    let one = 2 * group;
                    // The last one of an odd number is alone.
                    let other = if one + 1 < groups { one + 1 } else { one };
                    let mut put = inlined(
                        #[inline(always)]
                        |k: usize, values: X| {
                            let places = [one, other].map(|group| match self.groups[group] {
                                (start, false) => k * pitch + start,
                                (start, true) => (n - 1 - k) * pitch + columns - start,
                            });
                            emit.emit_real(places, values);
                        },
                    );
                    put(k, pair.plus);
                    if let Some(partner) = partner {
                        put(partner, pair.minus);
                    }
                    return;
                }
                let (start, mirrored) = self.groups[group];
                let row = group / per_row;
                let stands_for_two = real && row > 0 && 2 * row < self.input.rows;
                let mut put = inlined(
                    #[inline(always)]
                    |k: usize, value: X| {
                        // Of the two outputs that a real line's group stands for, one may not be wanted. Both go through one call: what
                        // it is, a conversion, is inlined.
                        let beyond = half && 2 * (start + columns * k) > self.n;
                        let mut conjugate = mirrored || stands_for_two && beyond;
                        loop {
                            let (place, value) = match conjugate {
                                false => (k * pitch + start, value),
                                // Output N - (start + columns·k).
                                true => ((n - 1 - k) * pitch + columns - start, value.conjugated()),
                            };
                            emit.emit(place, value);
                            if conjugate || !stands_for_two || half {
                                break;
                            }
                            conjugate = true;
                        }
                    },
                );
                put(k, pair.output::<L, U::Vectors>());
                if let Some(partner) = partner {
                    put(partner, pair.partner::<L, U::Vectors>(step.recipe.fold));
                }
            },
        );
        let column = |group: usize| match const { E::MAY_BE_REAL } && in_pairs {
            false => Column::of_two(first(group), first(group)),
            true => {
                let (one, other) = (2 * group, 2 * group + 1);
                let other = if other < groups { other } else { one };
                Column::of_two(first(one), first(other))
            }
        };
        let count = if in_pairs { groups.div_ceil(2) } else { groups };
        let setting = (self.digits, self.products);
        step.run::<L, U, C, X>(
            unit,
            setting,
            count,
            points,
            scratch,
            column,
            #[inline(always)]
            |k, elements| {
                step.trivial_pair::<L, U::Vectors, X>(
                    k,
                    #[inline(always)]
                    |j| X::from(elements[j]),
                )
            },
            #[inline(always)]
            |_, i, k, pair| post(i, k, pair),
        );
    }
}

/// The working set of a step. Each step is a separate task, so that it is compiled once for a unit.
struct StepTask<'a, 'b, const L: usize, U, C> {
    block: &'a Block,
    unit: U,
    symmetry: Symmetry,
    points: &'a mut [C],
    scratch: &'a mut BlockScratch<'b, L>,
}

struct OnlyStep<'a, 'b, const L: usize, U, C, E> {
    block: &'a Block,
    unit: U,
    points: &'a mut [C],
    emit: &'a mut E,
    scratch: &'a mut BlockScratch<'b, L>,
}
struct FirstStep<'a, 'b, const L: usize, U, C>(StepTask<'a, 'b, L, U, C>);
/// A step between the first and the last, for all rows of a grid.
struct MiddleStep<'a, 'b, const L: usize, U, C> {
    block: &'a Block,
    step: &'a Step,
    unit: U,
    grid: Grid,
    points: &'a mut [C],
    scratch: &'a mut BlockScratch<'b, L>,
}
struct LastStep<'a, 'b, const L: usize, U, C, E>(StepTask<'a, 'b, L, U, C>, &'a mut E);

impl<const L: usize, U: MatrixUnit<L>, C: PackedElement<L, U>, E: Emit<L, U::Vectors>> Task
    for OnlyStep<'_, '_, L, U, C, E>
{
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.block
            .only_step(self.unit, self.points, self.emit, self.scratch);
    }
}

impl<const L: usize, U: MatrixUnit<L>, C: PackedElement<L, U>> Task for FirstStep<'_, '_, L, U, C> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let task = self.0;
        task.block
            .first_step(task.unit, task.symmetry, task.points, task.scratch);
    }
}

impl<const L: usize, U: MatrixUnit<L>, C: PackedElement<L, U>> Task
    for MiddleStep<'_, '_, L, U, C>
{
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let (block, step, grid) = (self.block, self.step, self.grid);
        let (n, inner) = (step.recipe.n, step.inner);
        let first = |i: usize| grid.place(i / inner * n * inner) + i % inner;
        let column = |i: usize| Column {
            first: first(i),
            step: inner as isize,
            conjugate: false,
            to_sines: 0,
        };
        step.run_words(
            self.unit,
            block.setting(),
            grid.rows * (grid.columns / n),
            self.points,
            self.scratch,
            column,
            #[inline(always)]
            |points, i, k, pair| {
                let rotate = inlined(
                    #[inline(always)]
                    |word: C::Word, k: usize| {
                        let rotation = &step.rotations[k * inner + i % inner];
                        C::rotated(block.digits, word, rotation)
                    },
                );
                let first = first(i);
                points[first + k * inner].put(rotate(pair.output(), k));
                if k > 0 && 2 * k < n {
                    let partner = rotate(pair.partner(step.recipe.fold), n - k);
                    points[first + (n - k) * inner].put(partner);
                }
            },
        );
    }
}

impl<const L: usize, U: MatrixUnit<L>, C: PackedElement<L, U>, E: Emit<L, U::Vectors>> Task
    for LastStep<'_, '_, L, U, C, E>
{
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let LastStep(task, emit) = self;
        let (block, unit, symmetry) = (task.block, task.unit, task.symmetry);
        let (points, scratch) = (task.points, task.scratch);
        // Units with one lane are there for comparison: they are not compiled for both, the integers are the same.
        if const { L > 1 } && C::holds_outputs(block.digits) {
            block.last_step::<L, U, C, C::Word, E>(unit, symmetry, points, emit, scratch);
        } else if const { L > 1 } && block.last_sums_fit::<L, U, C>() {
            block.last_step::<L, U, C, C::Output, E>(unit, symmetry, points, emit, scratch);
        } else {
            block.last_step::<L, U, C, C::Sum, E>(unit, symmetry, points, emit, scratch);
        }
    }
}
