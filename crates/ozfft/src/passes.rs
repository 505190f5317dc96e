//! Lines of any smooth length: one or more passes, each a [`Block`], with block fixed point in between.
//!
//! A line of at most [`crate::factor::LONGEST_BLOCK`] points is one block, and several such lines are transformed side
//! by side. A longer one is cut `N = N1·N'` as in `bailey.rs`, but every line of a pass has an exponent of its own:
//! pass 1 transforms the columns `j'`, rotates them, and leaves words and one exponent per column; the next pass reads
//! lines that cross those columns and brings them under a new exponent. Between passes there is no rounding to floating
//! point. There the lines of a pass are what lies side by side.

use crate::bailey::{Block, BlockScratch, Emit, Grid, Setting, Symmetry};
use crate::matrix_unit::{MatrixUnit, Task};
use crate::numbers::Output;
use crate::quantise::{Nature, Quantised, Words, is_moderate, power_bits, quantise_words};
use crate::recipe::BlockRecipe;
use crate::roots::{self, Fixed};
use crate::sample::Real;
use crate::twiddle::{Angles, Twiddle, rotate};
use crate::vectors::{LOW_BITS, Pair, Point, Row, Vectors, Wide, from_lanes, inlined, lanes_of};
use crate::workspace::{ReadArray, SharedArray, take, words_for};
use num_complex::Complex;
use rayon::prelude::*;
use std::marker::PhantomData;
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

/// High and low parts of the real, then of the imaginary part, normalised.
pub(crate) type WidePoint<const L: usize> = [Row<L>; 4];

/// The outputs of a block as wide integers.
pub(crate) struct WideOutputs<'a, const L: usize> {
    pub(crate) points: &'a [WidePoint<L>],
    pub(crate) grid: Grid,
    /// All magnitudes of a line's high parts or-ed together, which is as long as the largest one.
    magnitudes: Row<L>,
}

impl<const L: usize> WideOutputs<'_, L> {
    /// Bits by which every line's values must be shifted down to become words of at most `word_bits` bits.
    pub(crate) fn narrowing_shifts(&self, word_bits: u32) -> [u32; L] {
        std::array::from_fn(|lane| {
            let bits = self.magnitudes[lane];
            let length = if bits != 0 {
                64 - bits.leading_zeros() + LOW_BITS
            } else {
                64 - self.low_magnitudes(lane).leading_zeros()
            };
            length.saturating_sub(word_bits)
        })
    }

    /// The magnitudes of a line whose numbers are all below 2^25, or-ed together.
    #[cold]
    fn low_magnitudes(&self, lane: usize) -> i64 {
        let mut bits = 0;
        for i in 0..self.grid.rows * self.grid.columns {
            let point = &self.points[self.grid.place(i)];
            for part in [0, 2] {
                let value = (point[part][lane] << LOW_BITS) + point[part + 1][lane];
                bits |= value.abs();
            }
        }
        bits
    }

    /// The output at a place as words: rounded, halves upwards.
    #[inline(always)]
    pub(crate) fn narrowed<V: Vectors<L>>(
        &self,
        place: usize,
        shifts: &Narrowing<V::Words>,
    ) -> Pair<V::Words> {
        let point = &self.points[place];
        let word = inlined(
            #[inline(always)]
            |high: &Row<L>, low: &Row<L>| {
                V::add(
                    V::shift_left_each(V::load(high), shifts.left),
                    V::shift_right_each(V::add(V::load(low), shifts.rounding), shifts.right),
                )
            },
        );
        (word(&point[0], &point[1]), word(&point[2], &point[3]))
    }
}

/// Shifts of every lane, in registers.
pub(crate) struct Narrowing<W> {
    left: W,
    right: W,
    rounding: W,
}

impl<W: Copy> Narrowing<W> {
    /// At most 88 bits become at most 62, so a shift is at most the low part's length.
    #[inline(always)]
    pub(crate) fn new<const L: usize, V: Vectors<L, Words = W>>(shifts: &[u32; L]) -> Self {
        Narrowing {
            left: from_lanes::<L, V>(|lane| i64::from(LOW_BITS - shifts[lane])),
            right: from_lanes::<L, V>(|lane| i64::from(shifts[lane])),
            rounding: from_lanes::<L, V>(|lane| (1i64 << shifts[lane]) >> 1),
        }
    }
}

/// Collects outputs as wide integers.
struct WideEmitter<'a, const L: usize> {
    points: &'a mut [WidePoint<L>],
    magnitudes: &'a mut Row<L>,
}

impl<const L: usize, V: Vectors<L>> Emit<L, V> for WideEmitter<'_, L> {
    #[inline(always)]
    fn emit(&mut self, place: usize, re: Wide<V::Words>, im: Wide<V::Words>) {
        let (re, im) = (re.normalised::<L, V>(), im.normalised::<L, V>());
        // The high part's magnitude: a negative number with something in its low part is less far from zero.
        let magnitude = inlined(
            #[inline(always)]
            |wide: Wide<V::Words>| {
                let sign = V::shift_right(wide.high, 63);
                let some =
                    V::shift_right(V::add(wide.low, V::splat((1 << LOW_BITS) - 1)), LOW_BITS);
                let high = V::add(wide.high, V::and(some, sign));
                V::subtract(V::xor(high, sign), sign)
            },
        );
        let so_far = V::load(self.magnitudes);
        V::store(
            V::or(so_far, V::or(magnitude(re), magnitude(im))),
            self.magnitudes,
        );
        let point = &mut self.points[place];
        V::store(re.high, &mut point[0]);
        V::store(re.low, &mut point[1]);
        V::store(im.high, &mut point[2]);
        V::store(im.low, &mut point[3]);
    }
}

/// The last rounding: outputs as the bits of floating-point numbers.
pub(crate) struct FloatEmitter<'a, const L: usize> {
    points: &'a mut [Point<L>],
    exponents: [i32; L],
    high_scale: Row<L>,
    low_scale: Row<L>,
    single: bool,
    moderate: bool,
    /// Imaginary parts are not wanted.
    real: bool,
    conjugate: bool,
}

impl<'a, const L: usize> FloatEmitter<'a, L> {
    pub(crate) fn new(
        points: &'a mut [Point<L>],
        exponents: [i32; L],
        output: &Output<'_, L>,
    ) -> Self {
        let moderate = exponents.iter().all(|&exponent| is_moderate(exponent));
        let power = |lane: usize, more: i32| {
            if moderate {
                power_bits(exponents[lane] + more)
            } else {
                0
            }
        };
        FloatEmitter {
            points,
            exponents,
            high_scale: std::array::from_fn(|lane| power(lane, LOW_BITS as i32)),
            low_scale: std::array::from_fn(|lane| power(lane, 0)),
            single: output.is_single(),
            moderate,
            real: output.real,
            conjugate: output.conjugate,
        }
    }

    #[inline(always)]
    fn float<V: Vectors<L>>(&self, value: Wide<V::Words>) -> V::Words {
        let Wide { high, low } = value;
        if !self.moderate {
            let value = (lanes_of::<L, V>(high), lanes_of::<L, V>(low));
            return V::load(&extreme(value, &self.exponents, self.single));
        }
        let (high_scale, low_scale) = (V::load(&self.high_scale), V::load(&self.low_scale));
        if self.single {
            V::to_single(high, low, high_scale, low_scale)
        } else {
            V::to_double(high, low, high_scale, low_scale)
        }
    }
}

/// Rounds near the ends of the floating-point range, in integers.
#[cold]
#[inline(never)]
fn extreme<const L: usize>(
    (high, low): Pair<Row<L>>,
    exponents: &[i32; L],
    single: bool,
) -> Row<L> {
    std::array::from_fn(|lane| {
        let value = (i128::from(high[lane]) << LOW_BITS) + i128::from(low[lane]);
        let float = if single {
            f64::from(f32::from_fixed(value, exponents[lane]))
        } else {
            f64::from_fixed(value, exponents[lane])
        };
        float.to_bits() as i64
    })
}

impl<const L: usize, V: Vectors<L>> Emit<L, V> for FloatEmitter<'_, L> {
    #[inline(always)]
    fn emit(&mut self, place: usize, re: Wide<V::Words>, im: Wide<V::Words>) {
        let re = self.float::<V>(re);
        V::store(re, &mut self.points[place][0]);
        if !self.real {
            // Conjugated here, among the integers, where there is no negative zero.
            let im = if self.conjugate {
                im.negated::<L, V>()
            } else {
                im
            };
            let im = self.float::<V>(im);
            V::store(im, &mut self.points[place][1]);
        }
    }
}

/// Roots of unity of the order of a pass: every power is the product of an entry of two small tables.
#[derive(Debug)]
struct PassRoots {
    low_bits: u32,
    low: Vec<Twiddle>,
    high: Vec<Twiddle>,
    /// For moderate orders all rotations of the pass, row after row: real parts, then imaginary parts.
    all: Option<(Vec<i64>, Vec<i64>)>,
    /// Length of a row.
    inner: usize,
}

/// Tables of all rotations are made up to this order: 1 MiB.
const LARGEST_FULL_TABLE: usize = 1 << 16;

impl PassRoots {
    fn new(order: usize, block: usize) -> Self {
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
        let mut roots = PassRoots {
            low_bits,
            low: table(1 << low_bits, 1),
            high: table((order >> low_bits) + 1, 1 << low_bits),
            all: None,
            inner: order / block,
        };
        if order <= LARGEST_FULL_TABLE {
            let powers = (0..block).flat_map(|k| (0..order / block).map(move |j| k * j));
            let (re, im) = powers
                .map(|power| roots.power(power))
                .map(|z| (z.re, z.im))
                .unzip();
            roots.all = Some((re, im));
        }
        roots
    }

    /// `exp(-2πi power/order)` scaled by 2^62, `power < order`.
    #[inline(always)]
    fn power(&self, power: usize) -> Complex<i64> {
        let low = &self.low[power & ((1 << self.low_bits) - 1)];
        let high = &self.high[power >> self.low_bits];
        low.rotate(high.components())
    }

    /// Rotates output `k` of the lines `j, j + 1, …`; lanes from `active` on are not needed.
    #[inline(always)]
    fn rotate<const L: usize, V: Vectors<L>>(
        &self,
        k: usize,
        j: usize,
        active: usize,
        words: Pair<V::Words>,
    ) -> Pair<V::Words> {
        let lane_of = |lane: usize| if lane < active { lane } else { 0 };
        let angles = match &self.all {
            Some((re, im)) => {
                let start = k * self.inner + j;
                if active == L {
                    let row = inlined(
                        #[inline(always)]
                        |table: &[i64]| {
                            let lanes: &Row<L> = table[start..start + L]
                                .try_into()
                                .unwrap_or_else(|_| unreachable!("the slice has L elements"));
                            V::load(lanes)
                        },
                    );
                    (row(re), row(im))
                } else {
                    (
                        from_lanes::<L, V>(|lane| re[start + lane_of(lane)]),
                        from_lanes::<L, V>(|lane| im[start + lane_of(lane)]),
                    )
                }
            }
            None => {
                let mask = (1usize << self.low_bits) - 1;
                let power = |lane: usize| k * (j + lane_of(lane));
                let low: [&Twiddle; L] = std::array::from_fn(|lane| &self.low[power(lane) & mask]);
                let high: [Complex<i64>; L] = std::array::from_fn(|lane| {
                    self.high[power(lane) >> self.low_bits].components()
                });
                rotate::<L, V>(
                    (
                        from_lanes::<L, V>(|lane| high[lane].re),
                        from_lanes::<L, V>(|lane| high[lane].im),
                    ),
                    Angles {
                        real: (
                            from_lanes::<L, V>(|lane| i64::from(low[lane].real.0)),
                            from_lanes::<L, V>(|lane| i64::from(low[lane].real.1)),
                        ),
                        imaginary: (
                            from_lanes::<L, V>(|lane| i64::from(low[lane].imaginary.0)),
                            from_lanes::<L, V>(|lane| i64::from(low[lane].imaginary.1)),
                        ),
                    },
                )
            }
        };
        rotate::<L, V>(words, Angles::new::<L, V>(angles))
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
    points: &'a mut [Point<L>],
    exponents: &'a mut [Row<L>],
    floats: &'a mut [Point<L>],
    wide: &'a mut [WidePoint<L>],
    block: BlockScratch<'a, L>,
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

    fn new(block: &Block, columns: usize, mut workspace: &'a mut [u64]) -> Self {
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
    fn load<U: MatrixUnit<L>, S: Source<L>>(
        &mut self,
        block: &Block,
        unit: U,
        source: &S,
        lines: &Lines<L>,
    ) -> Quantised<L> {
        unit.enter(Load {
            unit: PhantomData::<U>,
            source,
            lines,
            block,
            points: self.points,
            exponents: self.exponents,
        })
    }

    /// Transforms lines that have been loaded and hands them to the sink. `nature` is that of the whole transform, of
    /// which these lines may be a pass.
    fn transform<U: MatrixUnit<L>, K: Sink<L>>(
        &mut self,
        block: &Block,
        unit: U,
        sink: &K,
        lines: &Lines<L>,
        found: &Quantised<L>,
        nature: [Nature; L],
    ) {
        let mut found = *found;
        for exponent in &mut found.exponents {
            *exponent += block.exponent_offset();
        }
        if let Some(output) = sink.floats() {
            let exponents = found.exponents.map(|exponent| exponent + output.bias);
            let mut emitter = FloatEmitter::new(self.floats, exponents, output);
            let half = output.count < output.length && block.len() == output.length;
            let symmetry = Symmetry::of(&found, half);
            block.run(unit, symmetry, self.points, &mut emitter, &mut self.block);
            unit.enter(Finish {
                unit: PhantomData::<U>,
                output,
                lines,
                grid: block.output(),
                floats: self.floats,
                nature: &nature,
            });
        } else {
            let mut magnitudes = [0; L];
            let mut emitter = WideEmitter {
                points: self.wide,
                magnitudes: &mut magnitudes,
            };
            let symmetry = Symmetry::of(&found, false);
            block.run(unit, symmetry, self.points, &mut emitter, &mut self.block);
            found.nature = nature;
            unit.enter(Accept {
                unit: PhantomData::<U>,
                sink,
                lines,
                values: WideOutputs {
                    magnitudes,
                    points: self.wide,
                    grid: block.output(),
                },
                found: &found,
                floats: self.floats,
            });
        }
    }
}

/// Stores rounded outputs, with what is known of them beyond rounding: zeros where they must be, NaN where there was one.
#[inline(always)]
pub(crate) fn finish<const L: usize, V: Vectors<L>>(
    output: &Output<'_, L>,
    lines: &Lines<L>,
    grid: Grid,
    floats: &mut [Point<L>],
    nature: &[Nature; L],
) {
    clear_known_zeros(lines, grid, floats, nature, output.length);
    output.scatter::<V>(lines, grid, floats);
    for lane in 0..lines.active {
        if nature[lane].not_finite {
            output.fill_nan(lane);
        }
    }
}

/// The first output and, for even lengths, the middle one of a line of real numbers are real (and those of a line of
/// imaginary numbers imaginary): the other part is exactly 0, and so it is returned, whatever rounding left there.
#[inline(always)]
fn clear_known_zeros<const L: usize>(
    lines: &Lines<L>,
    grid: Grid,
    floats: &mut [Point<L>],
    nature: &[Nature; L],
    length: usize,
) {
    if nature.iter().all(|n| n.has_real && n.has_imaginary) {
        return;
    }
    for special in [0, length / 2] {
        if special != 0 && !length.is_multiple_of(2) {
            continue;
        }
        for lane in 0..L {
            let Some(distance) = special.checked_sub(lines.starts[lane]) else {
                continue;
            };
            let i = distance / lines.step;
            if !distance.is_multiple_of(lines.step) || i >= grid.rows * grid.columns {
                continue;
            }
            let point = &mut floats[grid.place(i)];
            if !nature[lane].has_imaginary {
                point[1][lane] = 0;
            }
            if !nature[lane].has_real {
                point[0][lane] = 0;
            }
        }
    }
}

/// Loading and quantising as a task.
struct Load<'a, const L: usize, U, S> {
    unit: PhantomData<U>,
    source: &'a S,
    lines: &'a Lines<L>,
    block: &'a Block,
    points: &'a mut [Point<L>],
    exponents: &'a mut [Row<L>],
}

impl<const L: usize, U: MatrixUnit<L>, S: Source<L>> Task for Load<'_, L, U, S> {
    type Output = Quantised<L>;

    #[inline(always)]
    fn run(self) -> Quantised<L> {
        self.source
            .quantise::<U::Vectors>(self.lines, self.block, self.points, self.exponents)
    }
}

/// Storing rounded outputs as a task.
struct Finish<'a, const L: usize, U> {
    unit: PhantomData<U>,
    output: &'a Output<'a, L>,
    lines: &'a Lines<L>,
    grid: Grid,
    floats: &'a mut [Point<L>],
    nature: &'a [Nature; L],
}

impl<const L: usize, U: MatrixUnit<L>> Task for Finish<'_, L, U> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        finish::<L, U::Vectors>(self.output, self.lines, self.grid, self.floats, self.nature);
    }
}

/// Handing wide outputs on as a task.
struct Accept<'a, const L: usize, U, K> {
    unit: PhantomData<U>,
    sink: &'a K,
    lines: &'a Lines<L>,
    values: WideOutputs<'a, L>,
    found: &'a Quantised<L>,
    floats: &'a mut [Point<L>],
}

impl<const L: usize, U: MatrixUnit<L>, K: Sink<L>> Task for Accept<'_, L, U, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.sink
            .accept::<U::Vectors>(self.lines, &self.values, self.found, self.floats);
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

impl<U, S, K> Stage<'_, U, S, K> {
    /// Some of the pass's lines, on one thread.
    fn run<const L: usize>(&self, range: std::ops::Range<usize>, memory: &mut [u64])
    where
        U: MatrixUnit<L>,
        S: Source<L>,
        K: Sink<L>,
    {
        let stage = self;
        let passes = stage.passes;
        let block = &passes.blocks[stage.pass];
        let inner = stage.length / block.len();
        let mut scratch = LineScratch::<L>::new(block, U::COLUMNS, memory);
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
                    ..found
                };
                scratch.transform(block, stage.unit, stage.sink, &outputs, &found, [nature; L]);
            } else {
                let store = StageSink { stage, number, j };
                let nature = found.nature;
                scratch.transform(block, stage.unit, &store, &lines, &found, nature);
            }
            number += active;
        }
    }
}

/// Narrows the outputs of a pass, rotates them, and stores them in place of the inputs.
struct StageSink<'a, U, S, K> {
    stage: &'a Stage<'a, U, S, K>,
    number: usize,
    j: usize,
}

impl<const L: usize, U: Sync, S: Sync, K: Sync> Sink<L> for StageSink<'_, U, S, K> {
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
                let turned = roots.rotate::<L, V>(k, self.j, lines.active, words);
                store_words::<L, V>(stage.words, lines.at(0, k), lines.active, turned);
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
    (re, im): Pair<V::Words>,
) {
    let start = array.checked(start, active);
    // SAFETY: in range; these lines' elements belong to this thread alone during the pass. Complex words and pairs of
    // double-precision numbers are laid out alike.
    unsafe {
        if active == L {
            V::store_neighbours(start.cast(), re, im);
        } else {
            let (re, im) = (lanes_of::<L, V>(re), lanes_of::<L, V>(im));
            for lane in 0..active {
                start.add(lane).write(Complex::new(re[lane], im[lane]));
            }
        }
    }
}

impl Passes {
    /// Tables for the passes. Outputs are scaled by `scale`, a factor in (1/2, 1], times 2^`scale_exponent`.
    pub(crate) fn new(
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

    fn line_scratch_len<const L: usize>(&self, columns: usize) -> usize {
        let lengths = self
            .blocks
            .iter()
            .map(|block| LineScratch::<L>::len(block, columns));
        lengths.max().unwrap_or(0)
    }

    /// Number of exponents that a pass leaves behind, at most.
    fn most_exponents(&self) -> usize {
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
            let block = &self.blocks[0];
            let lines = Lines::whole(active);
            let mut scratch = LineScratch::new(block, U::COLUMNS, workspace);
            let mut found = scratch.load(block, unit, source, &lines);
            for exponent in &mut found.exponents {
                *exponent += self.exponent_offset;
            }
            let nature = found.nature;
            scratch.transform(block, unit, sink, &lines, &found, nature);
            return Ok(());
        }
        debug_assert_eq!(active, 1, "long lines are transformed one by one");
        let most = self.most_exponents();
        let words = SharedArray::new(take::<Complex<i64>>(&mut workspace, self.n));
        let mut before = SharedArray::new(take::<i32>(&mut workspace, most));
        let mut after = SharedArray::new(take::<i32>(&mut workspace, most));
        let scratch_len = self.line_scratch_len::<L>(U::COLUMNS);
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
                    let range = lines * worker / workers..lines * (worker + 1) / workers;
                    stage.run::<L>(range, memory);
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

/// Where the exponents of stored words are, and where separate lines begin.
#[derive(Clone, Copy)]
pub(crate) enum WordPlaces {
    /// Within a line, by an earlier pass: what is left to transform has `length` words, and so many of the previous
    /// pass's groups share their exponents.
    Group { length: usize, previous: usize },
    /// By an earlier transform: element `i` has exponent number `i % period`; separate lines are so far apart, in words
    /// and in exponents.
    Line {
        period: usize,
        words: usize,
        exponents: usize,
    },
}

/// Words in memory, with exponents for many of them at a time.
pub(crate) struct WordLines<'a> {
    pub(crate) words: ReadArray<'a, Complex<i64>>,
    pub(crate) exponents: ReadArray<'a, i32>,
    pub(crate) places: WordPlaces,
}

impl<const L: usize> Source<L> for WordLines<'_> {
    #[inline(always)]
    fn quantise<V: Vectors<L>>(
        &self,
        lines: &Lines<L>,
        block: &Block,
        points: &mut [Point<L>],
        exponents: &mut [Row<L>],
    ) -> Quantised<L> {
        let grid = block.input();
        // The first word of every lane, and where the exponents of its elements begin and repeat.
        let mut first = [0usize; L];
        let mut first_exponent = [0usize; L];
        let mut period = usize::MAX;
        for lane in 0..L {
            match self.places {
                WordPlaces::Group { length, previous } => {
                    // The previous pass numbered its lines (earlier group, place within what was left), and `length` of
                    // them meet in one of today's groups.
                    let group = lines.starts[lane] / length;
                    first[lane] = lines.starts[lane];
                    first_exponent[lane] =
                        group / previous * length + lines.starts[lane] - group * length;
                }
                WordPlaces::Line {
                    period: repeats,
                    words,
                    exponents,
                } => {
                    let line = if lane < lines.active { lane } else { 0 };
                    first[lane] = line * words + lines.starts[lane];
                    first_exponent[lane] = line * exponents;
                    period = repeats;
                }
            }
        }
        let step = lines.step;
        let neighbours = (0..L).all(|lane| first[lane] == first[0] + lane);
        for row in 0..grid.rows {
            for column in 0..grid.columns {
                let i = row * grid.columns + column;
                let place = row * grid.pitch + column;
                for lane in 0..L {
                    let at = match self.places {
                        WordPlaces::Group { .. } => first_exponent[lane] + i * step,
                        WordPlaces::Line { .. } => {
                            first_exponent[lane] + (lines.starts[lane] + i * step) % period
                        }
                    };
                    // SAFETY: the pass that wrote it has ended.
                    exponents[place][lane] = i64::from(unsafe { self.exponents.get(at) });
                }
                let point = &mut points[place];
                if neighbours {
                    let start = self.words.checked(first[0] + i * step, L);
                    // SAFETY: in range; as above, and today's lines overwrite only themselves. Complex words and pairs
                    // of double-precision numbers are laid out alike.
                    let (re, im) = unsafe { V::load_neighbours(start.cast()) };
                    V::store(re, &mut point[0]);
                    V::store(im, &mut point[1]);
                } else if !(step == 1 && L > 1) {
                    for lane in 0..L {
                        // SAFETY: as above.
                        let word = unsafe { self.words.get(first[lane] + i * step) };
                        point[0][lane] = word.re;
                        point[1][lane] = word.im;
                    }
                }
            }
            if !neighbours && step == 1 && L > 1 {
                let chunk = L / 2;
                let points = &mut points[row * grid.pitch..][..grid.columns];
                let done = grid.columns / chunk * chunk;
                let base = row * grid.columns;
                for column in (0..done).step_by(chunk) {
                    let starts = std::array::from_fn(|lane| {
                        self.words
                            .checked(first[lane] + base + column, chunk)
                            .cast::<f64>()
                    });
                    // SAFETY: as above.
                    unsafe {
                        V::load_lines(
                            &starts,
                            #[inline(always)]
                            |number, words| {
                                V::store(words, &mut points[column + number / 2][number % 2]);
                            },
                        );
                    }
                }
                for column in done..grid.columns {
                    for lane in 0..L {
                        // SAFETY: as above.
                        let word = unsafe { self.words.get(first[lane] + base + column) };
                        points[column][0][lane] = word.re;
                        points[column][1][lane] = word.im;
                    }
                }
            }
        }
        Quantised {
            exponents: quantise_words::<L, V>(points, exponents, grid, block.columns()),
            nature: [Nature::ZERO; L],
            words: Words::Complex,
        }
    }
}
