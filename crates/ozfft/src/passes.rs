//! A line of any smooth length: one or more passes, each a [`Block`], with block fixed point in between.
//!
//! A line of at most [`crate::factor::LONGEST_BLOCK`] points is one block. A longer one is cut `N = N1·N'` as in
//! `bailey.rs`, but every line of a pass has an exponent of its own: pass 1 transforms the columns `j'`, rotates them,
//! and leaves words and one exponent per column; the next pass reads lines that cross those columns and brings them
//! under a new exponent. Between passes there is no rounding to floating point.

use crate::bailey::{Block, BlockScratch};
use crate::matrix_unit::MatrixUnit;
use crate::problem::Family;
use crate::quantise::{Columns, NotFinite, quantise_words};
use crate::recipe::{BlockRecipe, Digits};
use crate::reconstruct::round_shift;
use crate::roots::{self, Fixed};
use crate::tables::Tables;
use crate::twiddle::Twiddle;
use crate::workspace::{ReadArray, SharedArray, Wide, take, words_for};
use num_complex::Complex;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Elements `start, start + step, …` of a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progression {
    pub(crate) start: usize,
    pub(crate) step: usize,
}

impl Progression {
    pub(crate) fn at(self, i: usize) -> usize {
        self.start + i * self.step
    }

    /// How many of the first `count` elements lie below `limit`.
    pub(crate) fn count_below(self, limit: usize, count: usize) -> usize {
        limit
            .saturating_sub(self.start)
            .div_ceil(self.step)
            .min(count)
    }
}

/// Where the numbers of a line come from.
pub(crate) trait Source: Sync {
    /// Brings the elements of a progression under one exponent. `scratch` is as long as `words`.
    fn quantise(
        &self,
        elements: Progression,
        shape: Columns,
        words: &mut [Complex<i64>],
        scratch: &mut LoadScratch<'_>,
    ) -> Result<i32, NotFinite>;
}

/// Scratch memory for loading a line: as long as the line.
pub(crate) struct LoadScratch<'a> {
    pub(crate) floats: &'a mut [Complex<f64>],
    pub(crate) words: &'a mut [Complex<i64>],
    pub(crate) exponents: &'a mut [i32],
}

/// Where the numbers of a line go.
pub(crate) trait Sink: Sync {
    /// Takes `values · 2^exponent` for the outputs of a progression. The values may be used up.
    fn accept(&self, outputs: Progression, values: &mut [Complex<Wide>], exponent: i32);
}

/// Bits by which wide values must be shifted down to become words of at most `word_bits` bits.
pub(crate) fn narrowing_shift(values: &[Complex<Wide>], word_bits: u32) -> u32 {
    let all_bits = values.iter().fold(0, |bits: u128, z| {
        bits | z.re.get().unsigned_abs() | z.im.get().unsigned_abs()
    });
    (128 - all_bits.leading_zeros()).saturating_sub(word_bits)
}

/// One wide value as a word.
#[inline]
pub(crate) fn narrowed(z: Complex<Wide>, shift: u32) -> Complex<i64> {
    let round = |x: Wide| round_shift(x.get(), shift) as i64;
    Complex::new(round(z.re), round(z.im))
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
    fn power(&self, power: usize) -> Twiddle {
        let low = &self.low[power & ((1 << self.low_bits) - 1)];
        let high = &self.high[power >> self.low_bits];
        let product = low.rotate(high.components());
        Twiddle::new(product.re, product.im)
    }
}

/// Words in memory with exponents: element `i` of the array has `exponents[exponent_index(i)]`.
pub(crate) struct WordLine<'a> {
    pub(crate) words: ReadArray<'a, Complex<i64>>,
    pub(crate) exponents: ReadArray<'a, i32>,
    /// Element `i` has exponent number `i % exponent_period`.
    pub(crate) exponent_period: usize,
}

impl Source for WordLine<'_> {
    fn quantise(
        &self,
        elements: Progression,
        shape: Columns,
        words: &mut [Complex<i64>],
        scratch: &mut LoadScratch<'_>,
    ) -> Result<i32, NotFinite> {
        let count = words.len();
        for (i, word) in words.iter_mut().enumerate() {
            let index = elements.at(i);
            // SAFETY: the pass that wrote these elements has ended, and this pass overwrites only its own line.
            unsafe {
                *word = self.words.get(index);
                scratch.exponents[i] = self.exponents.get(index % self.exponent_period);
            }
        }
        Ok(quantise_words(
            words,
            &scratch.exponents[..count],
            shape,
            scratch.words,
        ))
    }
}

/// A planned line of smooth length.
#[derive(Debug)]
pub(crate) struct Passes {
    n: usize,
    blocks: Vec<Block>,
    roots: Vec<PassRoots>,
    word_bits: u32,
    exponent_offset: i32,
}

/// Scratch memory of one thread for one line of a pass.
struct LineScratch<'a> {
    load: LoadScratch<'a>,
    words: &'a mut [Complex<i64>],
    outputs: &'a mut [Complex<Wide>],
    block: BlockScratch<'a>,
}

impl<'a> LineScratch<'a> {
    fn len(block: &Block) -> usize {
        let n = block.len();
        words_for::<Complex<f64>>(n)
            + 2 * words_for::<Complex<i64>>(n)
            + words_for::<i32>(n)
            + words_for::<Complex<Wide>>(n)
            + block.scratch_len()
    }

    fn new(block: &Block, mut workspace: &'a mut [u64]) -> Self {
        let n = block.len();
        LineScratch {
            load: LoadScratch {
                floats: take(&mut workspace, n),
                words: take(&mut workspace, n),
                exponents: take(&mut workspace, n),
            },
            words: take(&mut workspace, n),
            outputs: take(&mut workspace, n),
            block: block.scratch(&mut workspace),
        }
    }

    /// Loads, transforms and leaves the outputs in `self.outputs`; returns their exponent.
    fn transform(
        &mut self,
        block: &Block,
        unit: &dyn MatrixUnit,
        source: &dyn Source,
        elements: Progression,
    ) -> Result<i32, NotFinite> {
        let exponent = source.quantise(elements, block.columns(), self.words, &mut self.load)?;
        block.run(unit, self.words, self.outputs, &mut self.block);
        Ok(exponent + block.exponent_offset())
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

    fn is_one_block(&self) -> bool {
        self.blocks.len() == 1
    }

    /// Outputs arrive at the sink in lines of this step.
    pub(crate) fn output_step(&self) -> usize {
        self.n / self.blocks[self.blocks.len() - 1].len()
    }

    fn line_scratch_len(&self) -> usize {
        self.blocks.iter().map(LineScratch::len).max().unwrap_or(0)
    }

    /// 64-bit words of workspace for one transform by `workers` threads.
    pub(crate) fn workspace_len(&self, workers: usize) -> usize {
        let shared = if !self.is_one_block() {
            let exponents = self
                .blocks
                .iter()
                .map(|b| self.n / b.len())
                .max()
                .unwrap_or(0);
            words_for::<Complex<i64>>(self.n) + 2 * words_for::<i32>(exponents)
        } else {
            0
        };
        shared + workers * self.line_scratch_len()
    }

    /// Transforms one line. Reading is complete before the sink is called for the first time.
    pub(crate) fn run(
        &self,
        unit: &dyn MatrixUnit,
        source: &dyn Source,
        sink: &dyn Sink,
        mut workspace: &mut [u64],
        workers: usize,
    ) -> Result<(), NotFinite> {
        if self.is_one_block() {
            let mut scratch = LineScratch::new(&self.blocks[0], workspace);
            let all = Progression { start: 0, step: 1 };
            let exponent = scratch.transform(&self.blocks[0], unit, source, all)?;
            sink.accept(all, scratch.outputs, exponent + self.exponent_offset);
            return Ok(());
        }
        let most = self
            .blocks
            .iter()
            .map(|b| self.n / b.len())
            .max()
            .unwrap_or(0);
        let words = SharedArray::new(take::<Complex<i64>>(&mut workspace, self.n));
        let mut before = SharedArray::new(take::<i32>(&mut workspace, most));
        let mut after = SharedArray::new(take::<i32>(&mut workspace, most));
        let scratch_len = self.line_scratch_len();
        let scratch = &mut workspace[..workers * scratch_len];
        let failed = AtomicBool::new(false);

        // `group` counts the output digits fixed by earlier passes, `length` is what is left to transform.
        let (mut groups, mut length) = (1usize, self.n);
        for (pass, block) in self.blocks.iter().enumerate() {
            let n = block.len();
            let inner = length / n;
            let lines = groups * inner;
            scratch
                .par_chunks_mut(scratch_len)
                .enumerate()
                .for_each(|(worker, memory)| {
                    let mut line = LineScratch::new(block, memory);
                    for number in lines * worker / workers..lines * (worker + 1) / workers {
                        let (group, j) = (number / inner, number % inner);
                        let elements = Progression {
                            start: group * length + j,
                            step: inner,
                        };
                        let stored = GroupLine {
                            words: words.reader(),
                            exponents: before.reader(),
                            group,
                            length,
                            previous_groups: pass
                                .checked_sub(1)
                                .map_or(1, |p| self.blocks[p].len()),
                        };
                        let source = if pass == 0 { source } else { &stored };
                        let Ok(exponent) = line.transform(block, unit, source, elements) else {
                            failed.store(true, Ordering::Relaxed);
                            continue;
                        };
                        if inner == 1 {
                            if !failed.load(Ordering::Relaxed) {
                                let outputs = Progression {
                                    start: self.output_start(group),
                                    step: groups,
                                };
                                sink.accept(outputs, line.outputs, exponent + self.exponent_offset);
                            }
                            continue;
                        }
                        let shift = narrowing_shift(line.outputs, self.word_bits);
                        for (k, &z) in line.outputs.iter().enumerate() {
                            let turned = self.roots[pass].power(k * j).rotate(narrowed(z, shift));
                            // SAFETY: this line's elements belong to this thread alone during the pass.
                            unsafe { words.set(elements.at(k), turned) }
                        }
                        // SAFETY: every line has an exponent of its own.
                        unsafe { after.set(number, exponent + shift as i32) }
                    }
                });
            if failed.load(Ordering::Relaxed) {
                return Err(NotFinite);
            }
            std::mem::swap(&mut before, &mut after);
            groups *= n;
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

/// A line of a later pass: words of the group, with the exponents of the pass before.
struct GroupLine<'a> {
    words: ReadArray<'a, Complex<i64>>,
    exponents: ReadArray<'a, i32>,
    group: usize,
    length: usize,
    /// How many groups share the exponents: the length of the previous pass's lines.
    previous_groups: usize,
}

impl Source for GroupLine<'_> {
    fn quantise(
        &self,
        elements: Progression,
        shape: Columns,
        words: &mut [Complex<i64>],
        scratch: &mut LoadScratch<'_>,
    ) -> Result<i32, NotFinite> {
        // The previous pass numbered its lines (earlier group, place within what was left), and `length` of them
        // meet in one of today's groups.
        let first = self.group / self.previous_groups * self.length;
        let offset = self.group * self.length;
        let count = words.len();
        for (i, word) in words.iter_mut().enumerate() {
            let index = elements.at(i);
            // SAFETY: the previous pass has ended, and today's lines overwrite only themselves.
            unsafe {
                *word = self.words.get(index);
                scratch.exponents[i] = self.exponents.get(first + index - offset);
            }
        }
        Ok(quantise_words(
            words,
            &scratch.exponents[..count],
            shape,
            scratch.words,
        ))
    }
}
