//! Lines of any smooth length: one or more passes, each a [`Block`], with block fixed point in between.
//!
//! A line of at most [`crate::recipe::factor::LONGEST_BLOCK`] points is one block, and several such lines are transformed side
//! by side. A longer one is split `N = N1·N'` as in `bailey.rs`, but every line of a pass has a separate exponent:
//! pass 1 transforms the columns `j'`, rotates them, and leaves words and one exponent per column; the next pass reads
//! lines that cross those columns and brings them under a new exponent. Between passes there is no rounding to floating
//! point. There the lines of a pass are what lies side by side.

use crate::matrix_unit::{MatrixUnit, Task};
use crate::parallel;
use crate::recipe::BlockRecipe;
use crate::roots::Fixed;
use crate::simd::{Pair, Point, Row, Vectors};
use crate::stages::lines::{Cut, Grid, Lines};
use crate::stages::numbers::{Input, Output, store_neighbours};
use crate::stages::outputs::{
    FloatEmitter, Narrowing, SetEmitter, WideEmitter, WideOutputs, WidePoint, finish,
};
use crate::stages::pass_roots::PassRoots;
use crate::stages::quantise::{LineProperties, Quantised};
use crate::transform::bailey::{Block, Symmetry};
use crate::transform::columns::BlockScratch;
use crate::transform::intermediates::{WordLines, WordPlaces};
use crate::transform::source::{LineEnds, LineSink, LineSource, NotFinite, Sink};
use crate::transform::tables::Setting;
use crate::workspace::{SharedArray, take, words_for};
use float_environment::DefaultEnvironment;
use num_complex::Complex;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, Ordering};

/// Planned lines of one smooth length.
#[derive(Debug)]
pub struct Passes {
    n: usize,
    blocks: Vec<Block>,
    roots: Vec<PassRoots>,
    word_bits: u32,
    exponent_offset: i32,
}

/// Sets of real lines that share a first step.
pub const PAIR: usize = 2;

/// Calls what it is given with the input, the output and the number of lines of a set.
pub(crate) type Ends<'a, const L: usize> =
    dyn Fn(usize, &mut dyn FnMut(&Input<'_, L>, &Output<'_, L>, usize)) + 'a;

/// Scratch memory of one thread for the lines of a pass.
pub(crate) struct LineScratch<'a, const L: usize> {
    pub(crate) points: &'a mut [Point<L>],
    pub(crate) exponents: &'a mut [Row<L>],
    pub(crate) floats: &'a mut [Point<L>],
    pub(crate) wide: &'a mut [WidePoint<L>],
    pub(crate) block: BlockScratch<'a, L>,
}

impl<'a, const L: usize> LineScratch<'a, L> {
    fn len(block: &Block, columns: usize) -> usize {
        let (input, output) = (block.input().len(), block.output().len());
        words_for::<Point<L>>(input)
            + words_for::<Row<L>>(input)
            + words_for::<Point<L>>(output)
            + words_for::<WidePoint<L>>(output)
            + block.scratch_len::<L>(columns)
    }

    pub(crate) fn new(block: &Block, columns: usize, mut workspace: &'a mut [u64]) -> Self {
        let (input, output) = (block.input().len(), block.output().len());
        LineScratch {
            points: take(&mut workspace, input),
            exponents: take(&mut workspace, input),
            floats: take(&mut workspace, output),
            wide: take(&mut workspace, output),
            block: block.scratch(columns, &mut workspace),
        }
    }

    /// Loads lines and brings each under one exponent.
    fn load<U: MatrixUnit<L>>(
        &mut self,
        block: &Block,
        unit: U,
        source: &dyn LineSource<L, U>,
        lines: &Lines<L>,
    ) -> Quantised<L> {
        source.load(unit, lines, block, self.points, self.exponents)
    }

    /// Transforms lines that have been loaded and hands them to the sink. `properties` is that of the whole transform, of
    /// which these lines may be a pass.
    fn transform<U: MatrixUnit<L>>(
        &mut self,
        block: &Block,
        unit: U,
        sink: &dyn LineSink<L, U>,
        lines: &Lines<L>,
        found: &Quantised<L>,
        properties: [LineProperties; L],
    ) {
        let mut found = *found;
        for exponent in &mut found.exponents {
            *exponent += block.exponent_offset();
        }
        if let Some(output) = sink.output() {
            let exponents = std::array::from_fn(|lane| found.exponents[lane] + output.bias[lane]);
            let mut emitter = FloatEmitter::new(self.floats, exponents, output);
            let half = output.count < output.length && block.len() == output.length;
            let symmetry = Symmetry::of(&found, half);
            if block.steps().len() == 1 {
                // As several sets of lines, for which it is compiled already.
                let mut emitter = SetEmitter::one(emitter);
                block.run_only(unit, self.points, &mut emitter, &mut self.block);
            } else {
                block.run_several(unit, symmetry, self.points, &mut emitter, &mut self.block);
            }
            unit.enter(Finish {
                vectors: PhantomData::<U::Vectors>,
                output,
                lines,
                grid: block.output(),
                floats: self.floats,
                properties: &properties,
            });
        } else {
            let mut magnitudes = [0; L];
            let mut emitter = WideEmitter {
                points: self.wide,
                magnitudes: &mut magnitudes,
            };
            let symmetry = Symmetry::of(&found, false);
            block.run(unit, symmetry, self.points, &mut emitter, &mut self.block);
            found.properties = properties;
            let values = WideOutputs {
                magnitudes,
                points: self.wide,
                grid: block.output(),
            };
            sink.take(unit, lines, values, &found, self.floats);
        }
    }
}

/// Storing rounded outputs as a task.
pub(crate) struct Finish<'a, const L: usize, V> {
    pub(crate) vectors: PhantomData<V>,
    pub(crate) output: &'a Output<'a, L>,
    pub(crate) lines: &'a Lines<L>,
    pub(crate) grid: Grid,
    pub(crate) floats: &'a mut [Point<L>],
    pub(crate) properties: &'a [LineProperties; L],
}

impl<const L: usize, V: Vectors<L>> Task for Finish<'_, L, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        finish::<L, V>(
            self.output,
            self.lines,
            self.grid,
            self.floats,
            self.properties,
        );
    }
}

/// The state of a pass that all its threads share.
struct Stage<'a, const L: usize, U> {
    passes: &'a Passes,
    unit: U,
    source: &'a dyn LineSource<L, U>,
    sink: &'a dyn LineSink<L, U>,
    pass: usize,
    /// Output digits fixed by earlier passes, and what is left to transform.
    groups: usize,
    length: usize,
    words: SharedArray<'a, Complex<i64>>,
    before: SharedArray<'a, i32>,
    after: SharedArray<'a, i32>,
    /// Properties shared by all lines of the first pass.
    properties: &'a AtomicU8,
    /// Which part of a larger line this is: indices whose last digit is in a range before the last pass, and those whose first digit is in it.
    /// Lengths and places are those of the part.
    cut: Option<Cut>,
}

impl<const L: usize, U: MatrixUnit<L>> Stage<'_, L, U> {
    /// Some of the pass's lines, on one thread.
    fn run(&self, range: std::ops::Range<usize>, memory: &mut [u64]) {
        let stage = self;
        let passes = stage.passes;
        let block = &passes.blocks[stage.pass];
        let inner = stage.length / block.len();
        let is_last = stage.pass + 1 == passes.blocks.len();
        let mut scratch = LineScratch::<L>::new(block, U::COLUMNS, memory);
        let mut number = range.start;
        while number < range.end {
            let (group, j) = (number / inner, number % inner);
            // Lines of one group lie side by side; in the last pass every group is one line.
            let most = match stage.cut {
                _ if is_last => L,
                // Rotations of neighbouring lines must follow each other.
                Some(cut) => (cut.width - j % cut.width).min(L),
                None => (inner - j).min(L),
            };
            let active = (range.end - number).min(most);
            let lines = Lines::<L>::new(active, inner, |lane| {
                if is_last {
                    (group + lane) * stage.length
                } else {
                    group * stage.length + j + lane
                }
            });
            let found = if stage.pass == 0 {
                scratch.load(block, stage.unit, stage.source, &lines)
            } else {
                let stored = WordLines {
                    words: stage.words.reader(),
                    exponents: stage.before.reader(),
                    places: WordPlaces::Group {
                        length: stage.length,
                        previous: passes.blocks[stage.pass - 1].len(),
                    },
                };
                scratch.load(block, stage.unit, &stored, &lines)
            };
            if stage.pass == 0 {
                let together = found.properties[..active]
                    .iter()
                    .fold(LineProperties::ZERO, |all, &properties| {
                        all.with(properties)
                    });
                stage
                    .properties
                    .fetch_or(together.to_bits(), Ordering::Relaxed);
            }
            if is_last {
                let rows = stage.cut.map_or(passes.blocks[0].len(), |cut| cut.width);
                let outputs = Lines::<L>::new(active, stage.groups, |lane| {
                    passes.output_start(group + lane, rows)
                });
                let properties =
                    LineProperties::from_bits(stage.properties.load(Ordering::Relaxed));
                let found = Quantised {
                    exponents: found.exponents.map(|e| e + passes.exponent_offset),
                    ..found
                };
                scratch.transform(
                    block,
                    stage.unit,
                    stage.sink,
                    &outputs,
                    &found,
                    [properties; L],
                );
            } else {
                let j = stage.cut.map_or(j, |cut| cut.whole_place(j));
                let store = StageSink { stage, number, j };
                let properties = found.properties;
                scratch.transform(block, stage.unit, &store, &lines, &found, properties);
            }
            number += active;
        }
    }

    /// All lines of the pass, shared out among as many threads as there is scratch memory for.
    fn run_shared(&self, lines: usize, scratch: &mut [u64], scratch_len: usize) {
        let workers = scratch.len() / scratch_len;
        let share = |worker: usize, memory: &mut [u64]| {
            // Threads inherit the environment of the thread that started them.
            let _environment = DefaultEnvironment::enter();
            let _session = self.unit.session();
            let range = lines * worker / workers..lines * (worker + 1) / workers;
            self.run(range, memory);
        };
        if workers == 1 {
            // As in the executor: one worker is the caller.
            share(0, scratch);
        } else {
            parallel::for_each_piece(scratch, scratch_len, share);
        }
    }
}

/// Narrows the outputs of a pass, rotates them, and stores them in place of the inputs.
struct StageSink<'a, const L: usize, U> {
    stage: &'a Stage<'a, L, U>,
    number: usize,
    j: usize,
}

impl<const L: usize, U: MatrixUnit<L>> Sink<L> for StageSink<'_, L, U> {
    #[inline(always)]
    fn accept<V: Vectors<L>>(
        &self,
        lines: &Lines<L>,
        values: &WideOutputs<'_, L>,
        found: &Quantised<L>,
        _: &mut [Point<L>],
    ) {
        let stage = self.stage;
        let roots = &stage.passes.roots[stage.pass];
        let shifts = values.narrowing_shifts(stage.passes.word_bits);
        let narrowing = Narrowing::new::<L, V>(&shifts);
        let grid = values.grid;
        for row in 0..grid.rows {
            for column in 0..grid.columns {
                let k = row * grid.columns + column;
                let words = values.narrowed::<V>(row * grid.pitch + column, &narrowing);
                let rotated = roots.rotate::<L, V>(k, self.j, lines.active, words);
                store_words::<L, V>(stage.words, lines.at(0, k), lines.active, rotated);
            }
        }
        for lane in 0..lines.active {
            let exponent = found.exponents[lane] + shifts[lane] as i32;
            // SAFETY: every line has an exponent of its own.
            unsafe { stage.after.set(self.number + lane, exponent) }
        }
    }
}

/// Stores the words of neighbouring lines from `start` on.
#[inline(always)]
pub(crate) fn store_words<const L: usize, V: Vectors<L>>(
    array: SharedArray<'_, Complex<i64>>,
    start: usize,
    active: usize,
    words: Pair<V::Words>,
) {
    let start = array.checked(start, active);
    // SAFETY: in range; these lines' elements belong to this thread alone during the pass. Complex words and pairs of
    // double-precision numbers are laid out alike.
    unsafe { store_neighbours::<L, V>(start.cast(), active, words) }
}

impl Passes {
    /// Tables for the passes. Outputs are scaled by `scale`, a factor in (1/2, 1], times 2^`scale_exponent`.
    pub fn new(
        recipes: &[BlockRecipe],
        scale: &Fixed,
        scale_exponent: i32,
        setting: Setting<'_>,
    ) -> Self {
        let one = Fixed::one();
        let blocks: Vec<Block> = recipes
            .iter()
            .enumerate()
            .map(|(i, recipe)| {
                let scale = if i == 0 { scale } else { &one };
                Block::new(recipe, scale, setting)
            })
            .collect();
        let n = blocks.iter().map(Block::len).product();
        let mut order = n;
        let roots = blocks[..blocks.len() - 1]
            .iter()
            .map(|block| {
                let roots = PassRoots::new(order, block.len());
                order /= block.len();
                roots
            })
            .collect();
        Passes {
            n,
            blocks,
            roots,
            word_bits: setting.digits.word_bits(),
            exponent_offset: scale_exponent,
        }
    }

    pub fn len(&self) -> usize {
        self.n
    }

    /// Bytes of its tables.
    pub(crate) fn table_bytes(&self) -> usize {
        let blocks = self.blocks.iter().map(Block::table_bytes);
        let roots = self.roots.iter().map(PassRoots::table_bytes);
        blocks.sum::<usize>() + roots.sum::<usize>()
    }

    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Roots after every pass but the last.
    pub fn roots(&self) -> &[PassRoots] {
        &self.roots
    }

    pub fn exponent_offset(&self) -> i32 {
        self.exponent_offset
    }

    /// Whether one transform is worth several threads; shorter ones leave them to the other lines.
    pub(crate) fn is_large(&self) -> bool {
        self.n >= 1 << 15
    }

    /// Whether lines are transformed side by side (else one by one).
    pub fn is_one_block(&self) -> bool {
        self.blocks.len() == 1
    }

    /// Outputs arrive at the sink in lines of this step.
    pub fn output_step(&self) -> usize {
        self.n / self.blocks[self.blocks.len() - 1].len()
    }

    fn line_scratch_len<const L: usize>(&self, columns: usize) -> usize {
        let lengths = self
            .blocks
            .iter()
            .map(|block| LineScratch::<L>::len(block, columns));
        lengths.max().unwrap_or(0)
    }

    /// Number of exponents that a pass leaves behind, at most.
    pub fn most_exponents(&self) -> usize {
        let lines = self.blocks.iter().map(|block| self.n / block.len());
        lines.max().unwrap_or(0)
    }

    /// 64-bit words of workspace for one transform by `workers` threads.
    pub(crate) fn workspace_len<const L: usize, U: MatrixUnit<L>>(&self, workers: usize) -> usize {
        let shared = if self.is_one_block() {
            0
        } else {
            words_for::<Complex<i64>>(self.n) + 2 * words_for::<i32>(self.most_exponents())
        };
        shared + workers * self.line_scratch_len::<L>(U::COLUMNS)
    }

    /// Transforms `active` lines of one block, or one longer line. Reading is complete before the sink is called for
    /// the first time. A longer line with a NaN or an infinity is reported and not handed on complete.
    pub(crate) fn run<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        (source, sink): LineEnds<'_, L, U>,
        active: usize,
        mut workspace: &mut [u64],
        workers: usize,
    ) -> Result<(), NotFinite> {
        if self.is_one_block() {
            let _session = unit.session();
            let mut scratch = LineScratch::new(&self.blocks[0], U::COLUMNS, workspace);
            self.run_block(unit, (source, sink), active, &mut scratch);
            return Ok(());
        }
        debug_assert_eq!(active, 1, "long lines are transformed one by one");
        let most = self.most_exponents();
        let words = SharedArray::new(take::<Complex<i64>>(&mut workspace, self.n));
        let mut before = SharedArray::new(take::<i32>(&mut workspace, most));
        let mut after = SharedArray::new(take::<i32>(&mut workspace, most));
        let scratch_len = self.line_scratch_len::<L>(U::COLUMNS);
        let scratch = &mut workspace[..workers * scratch_len];
        let properties = AtomicU8::new(0);
        let (mut groups, mut length) = (1usize, self.n);
        for (pass, block) in self.blocks.iter().enumerate() {
            let inner = length / block.len();
            let lines = groups * inner;
            let stage = Stage {
                passes: self,
                unit,
                source,
                sink,
                pass,
                groups,
                length,
                words,
                before,
                after,
                properties: &properties,
                cut: None,
            };
            stage.run_shared(lines, scratch, scratch_len);
            // Only the first pass reads what can be anything but finite.
            if LineProperties::from_bits(properties.load(Ordering::Relaxed)).not_finite {
                return Err(NotFinite);
            }
            std::mem::swap(&mut before, &mut after);
            groups *= block.len();
            length = inner;
        }
        Ok(())
    }

    /// The same for lines of one block, with scratch memory for it.
    pub(crate) fn run_block<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        (source, sink): LineEnds<'_, L, U>,
        active: usize,
        scratch: &mut LineScratch<'_, L>,
    ) {
        let block = &self.blocks[0];
        let lines = Lines::whole(active);
        let mut found = scratch.load(block, unit, source, &lines);
        for exponent in &mut found.exponents {
            *exponent += self.exponent_offset;
        }
        let properties = found.properties;
        scratch.transform(block, unit, sink, &lines, &found, properties);
    }

    /// The output index at which the last pass's line of a group begins: the group's digits in reverse order. Of the first digit there are
    /// `rows` values.
    fn output_start(&self, group: usize, rows: usize) -> usize {
        let others = &self.blocks[1..self.blocks.len() - 1];
        let mut below = others.iter().map(Block::len).product::<usize>();
        let (mut rest, mut index, mut weight) = (group % below, group / below, rows);
        for block in others {
            below /= block.len();
            index += weight * (rest / below);
            rest %= below;
            weight *= block.len();
        }
        index
    }

    /// The indices whose last digit is in a range: columns of the input as a matrix.
    pub fn columns_cut(&self, columns: &std::ops::Range<usize>) -> Cut {
        Cut {
            first: columns.start,
            width: columns.len(),
            whole: self.n / self.output_step(),
        }
    }

    /// The output indices whose digit of the first pass is in a range: columns of the output as a matrix, and rows of words before the last pass.
    pub fn rows_cut(&self, rows: &std::ops::Range<usize>) -> Cut {
        Cut {
            first: rows.start,
            width: rows.len(),
            whole: self.blocks[0].len(),
        }
    }

    /// Words and exponents of scratch memory for a part of the line of so many words.
    pub(crate) fn part_workspace_len<const L: usize, U: MatrixUnit<L>>(
        &self,
        words: usize,
        workers: usize,
    ) -> usize {
        let shortest = self.blocks.iter().map(Block::len).min().unwrap_or(1);
        2 * words_for::<i32>(words / shortest) + workers * self.line_scratch_len::<L>(U::COLUMNS)
    }

    /// All passes but the last over some columns, the indices whose last digit is in a range: from the source, which has these alone, to words
    /// and to exponents. Returns what the numbers have in common.
    pub(crate) fn run_first_half<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        (source, sink): LineEnds<'_, L, U>,
        columns: std::ops::Range<usize>,
        (words, exponents): (&mut [Complex<i64>], &mut [i32]),
        mut workspace: &mut [u64],
        workers: usize,
    ) -> LineProperties {
        let earlier = &self.blocks[..self.blocks.len() - 1];
        let cut = self.columns_cut(&columns);
        let properties = AtomicU8::new(0);
        let (mut groups, mut length) = (1, self.n / cut.whole * cut.width);
        let shortest = self.blocks.iter().map(Block::len).min().unwrap_or(1);
        let mut before = SharedArray::new(take::<i32>(&mut workspace, length / shortest));
        let mut after = SharedArray::new(take::<i32>(&mut workspace, length / shortest));
        let words = SharedArray::new(words);
        let scratch_len = self.line_scratch_len::<L>(U::COLUMNS);
        let scratch = &mut workspace[..workers * scratch_len];
        for (pass, block) in earlier.iter().enumerate() {
            let stage = Stage {
                passes: self,
                unit,
                source,
                sink,
                pass,
                groups,
                length,
                words,
                before,
                after,
                properties: &properties,
                cut: Some(cut),
            };
            let inner = length / block.len();
            stage.run_shared(groups * inner, scratch, scratch_len);
            std::mem::swap(&mut before, &mut after);
            groups *= block.len();
            length = inner;
        }
        for (place, exponent) in exponents.iter_mut().enumerate() {
            // SAFETY: the passes have ended.
            *exponent = unsafe { before.reader().get(place) };
        }
        LineProperties::from_bits(properties.load(Ordering::Relaxed))
    }

    /// The last pass over some rows, the indices whose first digit is in a range: from their words, and the exponents of all
    /// columns, to the sink, which has the outputs of these rows alone. What is known of zeros is left to the caller.
    pub(crate) fn run_second_half<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        (source, sink): LineEnds<'_, L, U>,
        rows: std::ops::Range<usize>,
        (words, exponents): (&mut [Complex<i64>], &mut [i32]),
        workspace: &mut [u64],
        workers: usize,
    ) {
        let last = self.blocks.len() - 1;
        let cut = self.rows_cut(&rows);
        let length = self.blocks[last].len();
        let groups = self.n / cut.whole / length;
        let lines = groups * rows.len();
        // Lines of the pass before that crossed earlier rows; of two passes all rows cross the same ones.
        let earlier = rows.start * (groups / self.blocks[last - 1].len()) * length;
        let all = LineProperties {
            not_finite: false,
            has_real: true,
            has_imaginary: true,
        };
        let properties = AtomicU8::new(all.to_bits());
        let stage = Stage {
            passes: self,
            unit,
            source,
            sink,
            pass: last,
            groups: lines,
            length,
            words: SharedArray::new(words),
            before: SharedArray::new(&mut exponents[earlier..]),
            after: SharedArray::new(&mut []),
            properties: &properties,
            cut: Some(cut),
        };
        let scratch_len = self.line_scratch_len::<L>(U::COLUMNS);
        stage.run_shared(lines, &mut workspace[..workers * scratch_len], scratch_len);
    }
}
