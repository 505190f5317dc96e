//! Lines of any smooth length: one or more passes, each a [`Block`], with block fixed point in between.
//!
//! A line of at most [`crate::factor::LONGEST_BLOCK`] points is one block, and several such lines are transformed side
//! by side. A longer one is cut `N = N1·N'` as in `bailey.rs`, but every line of a pass has an exponent of its own:
//! pass 1 transforms the columns `j'`, rotates them, and leaves words and one exponent per column; the next pass reads
//! lines that cross those columns and brings them under a new exponent. Between passes there is no rounding to floating
//! point. There the lines of a pass are what lies side by side.

use crate::bailey::{Block, BlockScratch, Panel, WidePanel};
use crate::lanes::{LOW_BITS, Row};
use crate::matrix_unit::{MatrixUnit, Task};
use crate::problem::Family;
use crate::quantise::{Columns, Nature, Quantised, quantise_words};
use crate::recipe::{BlockRecipe, Digits};
use crate::roots::{self, Fixed};
use crate::tables::Tables;
use crate::twiddle::Twiddle;
use crate::workspace::{ReadArray, SharedArray, take, words_for};
use num_complex::Complex;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU8, Ordering};

/// A NaN or an infinity was met in a line that is transformed alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotFinite;

/// Elements `start, start + step, …` of every lane. Lanes from `active` on repeat the first one and are not stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lines<const L: usize> {
    pub(crate) starts: [usize; L],
    pub(crate) step: usize,
    pub(crate) active: usize,
}

impl<const L: usize> Lines<L> {
    #[inline(always)]
    pub(crate) fn at(&self, lane: usize, i: usize) -> usize {
        self.starts[lane] + i * self.step
    }

    /// All elements of `active` separate lines.
    pub(crate) fn whole(active: usize) -> Self {
        Lines {
            starts: [0; L],
            step: 1,
            active,
        }
    }

    fn new(active: usize, step: usize, start: impl Fn(usize) -> usize) -> Self {
        Lines {
            starts: std::array::from_fn(|lane| start(if lane < active { lane } else { 0 })),
            step,
            active,
        }
    }
}

/// Where the numbers of lines come from.
pub(crate) trait Source<const L: usize>: Sync {
    /// Loads the elements of every lane and brings each line under one exponent.
    fn quantise(
        &self,
        lines: &Lines<L>,
        shape: Columns,
        words: &mut Panel<'_, L>,
        exponents: &mut [[i32; L]],
    ) -> Quantised<L>;
}

/// Where the numbers of lines go.
pub(crate) trait Sink<const L: usize>: Sync {
    /// Takes `values · 2^exponent` for the outputs of every lane. The values may be used up.
    fn accept(&self, lines: &Lines<L>, values: &mut WidePanel<'_, L>, found: &Quantised<L>);
}

/// Bits by which every line's wide values must be shifted down to become words of at most `word_bits` bits.
#[inline(always)]
pub(crate) fn narrowing_shifts<const L: usize>(
    values: &WidePanel<'_, L>,
    word_bits: u32,
) -> [u32; L] {
    // All magnitudes of a line or-ed together are as long as its largest one.
    let mut bits = [0i64; L];
    let mut low_bits = [0i64; L];
    for (high, low) in [
        (&values.high.re, &values.low.re),
        (&values.high.im, &values.low.im),
    ] {
        for (high, low) in high.iter().zip(low.iter()) {
            for lane in 0..L {
                // Magnitude of the whole number, in two parts.
                let borrow = i64::from(high[lane] < 0 && low[lane] != 0);
                let magnitude = if high[lane] < 0 {
                    -(high[lane] + borrow)
                } else {
                    high[lane]
                };
                let rest = if high[lane] < 0 && low[lane] != 0 {
                    (1 << LOW_BITS) - low[lane]
                } else {
                    low[lane]
                };
                bits[lane] |= magnitude;
                low_bits[lane] |= rest;
            }
        }
    }
    std::array::from_fn(|lane| {
        let length = if bits[lane] != 0 {
            64 - bits[lane].leading_zeros() + LOW_BITS
        } else {
            64 - low_bits[lane].leading_zeros()
        };
        length.saturating_sub(word_bits)
    })
}

/// A row of wide values as words: rounded, halves upwards.
#[inline(always)]
pub(crate) fn narrowed<const L: usize>(high: &Row<L>, low: &Row<L>, shifts: &[u32; L]) -> Row<L> {
    let mut words = [0; L];
    for lane in 0..L {
        // At most 88 bits become at most 62, so the shift is at most the low part's length.
        let shift = shifts[lane];
        let rounding = (1i64 << shift) >> 1;
        words[lane] = (high[lane] << (LOW_BITS - shift)) + ((low[lane] + rounding) >> shift);
    }
    words
}

/// Roots of unity of a large order: every power is the product of an entry of two small tables.
#[derive(Debug)]
struct PassRoots {
    low_bits: u32,
    low: Vec<Twiddle>,
    high: Vec<Twiddle>,
}

impl PassRoots {
    fn new(order: usize) -> Self {
        let low_bits = (usize::BITS - order.leading_zeros()) / 2;
        let one = Fixed::one();
        let table = |count: usize, stride: usize| -> Vec<Twiddle> {
            (0..count)
                .map(|i| {
                    let (re, im) = roots::twiddle((i * stride) as u64, order as u64, &one);
                    Twiddle::new(re, im)
                })
                .collect()
        };
        PassRoots {
            low_bits,
            low: table(1 << low_bits, 1),
            high: table((order >> low_bits) + 1, 1 << low_bits),
        }
    }

    /// `exp(-2πi power/order)`, `power < order`.
    #[inline(always)]
    fn power(&self, power: usize) -> Twiddle {
        let low = &self.low[power & ((1 << self.low_bits) - 1)];
        let high = &self.high[power >> self.low_bits];
        let product = low.rotate(high.components());
        Twiddle::new(product.re, product.im)
    }
}

/// Planned lines of one smooth length.
#[derive(Debug)]
pub(crate) struct Passes {
    n: usize,
    blocks: Vec<Block>,
    roots: Vec<PassRoots>,
    word_bits: u32,
    exponent_offset: i32,
}

/// Scratch memory of one thread for the lines of a pass.
struct LineScratch<'a, const L: usize> {
    words: Panel<'a, L>,
    exponents: &'a mut [[i32; L]],
    outputs: WidePanel<'a, L>,
    block: BlockScratch<'a, L>,
}

impl<'a, const L: usize> LineScratch<'a, L> {
    fn len(block: &Block) -> usize {
        let n = block.len();
        Panel::<L>::len(n)
            + words_for::<[i32; L]>(n)
            + WidePanel::<L>::len(n)
            + block.scratch_len::<L>()
    }

    fn new(block: &Block, mut workspace: &'a mut [u64]) -> Self {
        let n = block.len();
        LineScratch {
            words: Panel::new(&mut workspace, n),
            exponents: take(&mut workspace, n),
            outputs: WidePanel::new(&mut workspace, n),
            block: block.scratch(&mut workspace),
        }
    }

    /// Loads, transforms and leaves the outputs in `self.outputs`.
    #[inline(always)]
    fn transform<U: MatrixUnit<L>, S: Source<L>>(
        &mut self,
        block: &Block,
        unit: U,
        source: &S,
        lines: &Lines<L>,
    ) -> Quantised<L> {
        let mut found = source.quantise(lines, block.columns(), &mut self.words, self.exponents);
        block.run(unit, &mut self.words, &mut self.outputs, &mut self.block);
        for exponent in &mut found.exponents {
            *exponent += block.exponent_offset();
        }
        found
    }
}

/// Loads, transforms and hands on the lines of a single block.
struct OneBlock<'a, 'b, const L: usize, U, S, K> {
    passes: &'a Passes,
    unit: U,
    source: &'a S,
    sink: &'a K,
    lines: Lines<L>,
    scratch: LineScratch<'b, L>,
}

impl<const L: usize, U: MatrixUnit<L>, S: Source<L>, K: Sink<L>> Task
    for OneBlock<'_, '_, L, U, S, K>
{
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let block = &self.passes.blocks[0];
        let mut found = self
            .scratch
            .transform(block, self.unit, self.source, &self.lines);
        for exponent in &mut found.exponents {
            *exponent += self.passes.exponent_offset;
        }
        self.sink
            .accept(&self.lines, &mut self.scratch.outputs, &found);
    }
}

/// The state of a pass that all its threads share.
struct Stage<'a, U, S, K> {
    passes: &'a Passes,
    unit: U,
    source: &'a S,
    sink: &'a K,
    pass: usize,
    /// Output digits fixed by earlier passes, and what is left to transform.
    groups: usize,
    length: usize,
    words: SharedArray<'a, Complex<i64>>,
    before: SharedArray<'a, i32>,
    after: SharedArray<'a, i32>,
    /// What all lines of the first pass together are.
    nature: &'a AtomicU8,
}

/// Some of a pass's lines, on one thread.
struct Share<'a, 'b, U, S, K> {
    stage: &'a Stage<'a, U, S, K>,
    range: std::ops::Range<usize>,
    memory: &'b mut [u64],
}

/// As [`Share`], with the number of lanes.
struct LaneShare<'a, 'b, const L: usize, U, S, K>(Share<'a, 'b, U, S, K>);

impl<const L: usize, U: MatrixUnit<L>, S: Source<L>, K: Sink<L>> Task
    for LaneShare<'_, '_, L, U, S, K>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Share {
            stage,
            range,
            memory,
        } = self.0;
        let passes = stage.passes;
        let block = &passes.blocks[stage.pass];
        let inner = stage.length / block.len();
        let mut scratch = LineScratch::<L>::new(block, memory);
        let mut number = range.start;
        while number < range.end {
            let (group, j) = (number / inner, number % inner);
            // Lines of one group lie side by side; in the last pass every group is one line.
            let most = if inner == 1 { L } else { (inner - j).min(L) };
            let active = (range.end - number).min(most);
            let lines = Lines::<L>::new(active, inner, |lane| {
                if inner == 1 {
                    (group + lane) * stage.length
                } else {
                    group * stage.length + j + lane
                }
            });
            let found = if stage.pass == 0 {
                scratch.transform(block, stage.unit, stage.source, &lines)
            } else {
                let stored = GroupLines {
                    words: stage.words.reader(),
                    exponents: stage.before.reader(),
                    length: stage.length,
                    previous_groups: passes.blocks[stage.pass - 1].len(),
                };
                scratch.transform(block, stage.unit, &stored, &lines)
            };
            if stage.pass == 0 {
                let together = found.nature[..active]
                    .iter()
                    .fold(Nature::ZERO, |all, &nature| all.with(nature));
                stage.nature.fetch_or(together.to_bits(), Ordering::Relaxed);
            }
            if inner == 1 {
                let outputs = Lines::<L>::new(active, stage.groups, |lane| {
                    passes.output_start(group + lane)
                });
                let nature = Nature::from_bits(stage.nature.load(Ordering::Relaxed));
                let found = Quantised {
                    exponents: found.exponents.map(|e| e + passes.exponent_offset),
                    nature: [nature; L],
                };
                stage.sink.accept(&outputs, &mut scratch.outputs, &found);
            } else {
                stage.store(number, j, &lines, &scratch.outputs, &found);
            }
            number += active;
        }
    }
}

impl<U, S, K> Stage<'_, U, S, K> {
    /// Narrows the outputs, rotates them, and stores them in place of the inputs.
    #[inline(always)]
    fn store<const L: usize>(
        &self,
        number: usize,
        j: usize,
        lines: &Lines<L>,
        outputs: &WidePanel<'_, L>,
        found: &Quantised<L>,
    ) {
        let roots = &self.passes.roots[self.pass];
        let shifts = narrowing_shifts(outputs, self.passes.word_bits);
        for k in 0..outputs.high.re.len() {
            let re = narrowed(&outputs.high.re[k], &outputs.low.re[k], &shifts);
            let im = narrowed(&outputs.high.im[k], &outputs.low.im[k], &shifts);
            for lane in 0..lines.active {
                let turned = roots
                    .power(k * (j + lane))
                    .rotate(Complex::new(re[lane], im[lane]));
                // SAFETY: these lines' elements belong to this thread alone during the pass.
                unsafe { self.words.set(lines.at(lane, k), turned) }
            }
        }
        for lane in 0..lines.active {
            let exponent = found.exponents[lane] + shifts[lane] as i32;
            // SAFETY: every line has an exponent of its own.
            unsafe { self.after.set(number + lane, exponent) }
        }
    }
}

impl Passes {
    /// Tables for the passes. Outputs are scaled by `scale`, a factor in (1/2, 1], times 2^`scale_exponent`.
    pub(crate) fn new(
        recipes: &[BlockRecipe],
        digits: Digits,
        family: Family,
        scale: &Fixed,
        scale_exponent: i32,
        tables: &Tables,
    ) -> Self {
        let one = Fixed::one();
        let blocks: Vec<Block> = recipes
            .iter()
            .enumerate()
            .map(|(i, recipe)| {
                let scale = if i == 0 { scale } else { &one };
                Block::new(recipe, digits, family, scale, tables)
            })
            .collect();
        let n = blocks.iter().map(Block::len).product();
        let mut order = n;
        let roots = blocks[..blocks.len() - 1]
            .iter()
            .map(|block| {
                let roots = PassRoots::new(order);
                order /= block.len();
                roots
            })
            .collect();
        Passes {
            n,
            blocks,
            roots,
            word_bits: digits.word_bits(),
            exponent_offset: scale_exponent,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.n
    }

    /// Whether one transform is worth several threads; shorter ones leave them to the other lines.
    pub(crate) fn is_large(&self) -> bool {
        self.n >= 1 << 15
    }

    /// Whether lines are transformed side by side (else one by one).
    pub(crate) fn is_one_block(&self) -> bool {
        self.blocks.len() == 1
    }

    /// Outputs arrive at the sink in lines of this step.
    pub(crate) fn output_step(&self) -> usize {
        self.n / self.blocks[self.blocks.len() - 1].len()
    }

    fn line_scratch_len<const L: usize>(&self) -> usize {
        let lengths = self.blocks.iter().map(LineScratch::<L>::len);
        lengths.max().unwrap_or(0)
    }

    /// Number of exponents that a pass leaves behind, at most.
    fn most_exponents(&self) -> usize {
        let lines = self.blocks.iter().map(|block| self.n / block.len());
        lines.max().unwrap_or(0)
    }

    /// 64-bit words of workspace for one transform by `workers` threads.
    pub(crate) fn workspace_len<const L: usize>(&self, workers: usize) -> usize {
        let shared = if self.is_one_block() {
            0
        } else {
            words_for::<Complex<i64>>(self.n) + 2 * words_for::<i32>(self.most_exponents())
        };
        shared + workers * self.line_scratch_len::<L>()
    }

    /// Transforms `active` lines of one block, or one longer line. Reading is complete before the sink is called for
    /// the first time. A longer line with a NaN or an infinity is reported and not handed on complete.
    pub(crate) fn run<const L: usize, U: MatrixUnit<L>, S: Source<L>, K: Sink<L>>(
        &self,
        unit: U,
        source: &S,
        sink: &K,
        active: usize,
        mut workspace: &mut [u64],
        workers: usize,
    ) -> Result<(), NotFinite> {
        if self.is_one_block() {
            unit.enter(OneBlock {
                passes: self,
                unit,
                source,
                sink,
                lines: Lines::whole(active),
                scratch: LineScratch::new(&self.blocks[0], workspace),
            });
            return Ok(());
        }
        debug_assert_eq!(active, 1, "long lines are transformed one by one");
        let most = self.most_exponents();
        let words = SharedArray::new(take::<Complex<i64>>(&mut workspace, self.n));
        let mut before = SharedArray::new(take::<i32>(&mut workspace, most));
        let mut after = SharedArray::new(take::<i32>(&mut workspace, most));
        let scratch_len = self.line_scratch_len::<L>();
        let scratch = &mut workspace[..workers * scratch_len];
        let nature = AtomicU8::new(0);
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
                nature: &nature,
            };
            scratch
                .par_chunks_mut(scratch_len)
                .enumerate()
                .for_each(|(worker, memory)| {
                    unit.enter(LaneShare(Share {
                        stage: &stage,
                        range: lines * worker / workers..lines * (worker + 1) / workers,
                        memory,
                    }));
                });
            // Only the first pass reads what can be anything but finite.
            if Nature::from_bits(nature.load(Ordering::Relaxed)).not_finite {
                return Err(NotFinite);
            }
            std::mem::swap(&mut before, &mut after);
            groups *= block.len();
            length = inner;
        }
        Ok(())
    }

    /// The output index at which the last pass's line of a group begins: the group's digits in reverse order.
    fn output_start(&self, group: usize) -> usize {
        let mut below = self.output_step();
        let (mut rest, mut index, mut weight) = (group, 0, 1);
        for block in &self.blocks[..self.blocks.len() - 1] {
            below /= block.len();
            index += weight * (rest / below);
            rest %= below;
            weight *= block.len();
        }
        index
    }
}

/// Lines of a later pass: words of their group, with the exponents of the pass before.
struct GroupLines<'a> {
    words: ReadArray<'a, Complex<i64>>,
    exponents: ReadArray<'a, i32>,
    length: usize,
    /// How many groups share the exponents: the length of the previous pass's lines.
    previous_groups: usize,
}

impl<const L: usize> Source<L> for GroupLines<'_> {
    #[inline(always)]
    fn quantise(
        &self,
        lines: &Lines<L>,
        shape: Columns,
        words: &mut Panel<'_, L>,
        exponents: &mut [[i32; L]],
    ) -> Quantised<L> {
        let exponents = &mut exponents[..words.re.len()];
        for lane in 0..L {
            // The previous pass numbered its lines (earlier group, place within what was left), and `length` of them
            // meet in one of today's groups.
            let group = lines.starts[lane] / self.length;
            let first = group / self.previous_groups * self.length;
            let offset = group * self.length;
            for (i, exponents) in exponents.iter_mut().enumerate() {
                let index = lines.at(lane, i);
                // SAFETY: the previous pass has ended, and today's lines overwrite only themselves.
                unsafe {
                    let word = self.words.get(index);
                    words.re[i][lane] = word.re;
                    words.im[i][lane] = word.im;
                    exponents[lane] = self.exponents.get(first + index - offset);
                }
            }
        }
        Quantised {
            exponents: quantise_words(words, exponents, shape),
            nature: [Nature::ZERO; L],
        }
    }
}

/// Words in memory: element `i` has exponent number `i % exponent_period`.
pub(crate) struct WordLine<'a> {
    pub(crate) words: ReadArray<'a, Complex<i64>>,
    pub(crate) exponents: ReadArray<'a, i32>,
    pub(crate) exponent_period: usize,
    /// Distance of separate lines, in words and in exponents.
    pub(crate) line_distance: usize,
    pub(crate) exponent_distance: usize,
}

impl<const L: usize> Source<L> for WordLine<'_> {
    #[inline(always)]
    fn quantise(
        &self,
        lines: &Lines<L>,
        shape: Columns,
        words: &mut Panel<'_, L>,
        exponents: &mut [[i32; L]],
    ) -> Quantised<L> {
        let exponents = &mut exponents[..words.re.len()];
        for lane in 0..L {
            let line = if lane < lines.active { lane } else { 0 };
            for (i, exponents) in exponents.iter_mut().enumerate() {
                let index = lines.at(lane, i);
                // SAFETY: the transform that wrote these elements has ended.
                unsafe {
                    let word = self.words.get(line * self.line_distance + index);
                    words.re[i][lane] = word.re;
                    words.im[i][lane] = word.im;
                    exponents[lane] = self
                        .exponents
                        .get(line * self.exponent_distance + index % self.exponent_period);
                }
            }
        }
        Quantised {
            exponents: quantise_words(words, exponents, shape),
            nature: [Nature::ZERO; L],
        }
    }
}
