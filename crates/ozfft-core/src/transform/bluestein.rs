//! Lengths with a large prime factor: the transform as a convolution with a chirp, in the same integer arithmetic.
//!
//! With `w_j = exp(-πi j²/n)`, `X_k = w_k Σ_j (x_j w_j) · conj(w_{k-j})`: a cyclic convolution of any smooth length
//! `m >= 2n-1`. The chirp is indexed by `j² mod 2n`, exactly; its spectrum is a table like any other, rounded once
//! (`chirp_spectrum.rs`). Data stay block fixed point from the first chirp to the
//! last.

use crate::matrix_unit::MatrixUnit;
use crate::recipe::BlockRecipe;
use crate::roots::Fixed;
use crate::roots::root_table::Scale;
use crate::sample::swapped;
use crate::simd::{Pair, Point, Row, Vectors, from_lanes, lanes_of};
use crate::stages::butterfly::{FullWords, LongWords};
use crate::stages::lines::{Cut, Lines};
use crate::stages::numbers::{Input, Output};
use crate::stages::outputs::{Emit, FloatEmitter, Narrowing, WideOutputs, finish};
use crate::stages::quantise::{
    InputSymmetry, LineProperties, MODERATE, Quantised, quantise_words, word_of,
};
use crate::stages::twiddle::{Angles, TwiddleTable, rotate};
use crate::transform::bailey::Block;
use crate::transform::chirp_spectrum::chirp_roots;
use crate::transform::intermediates::{WordLines, WordPlaces};
use crate::transform::passes::{Passes, store_words};
use crate::transform::source::{LineEnds, NotFinite, Sink, Source};
use crate::transform::tables::Setting;
use crate::workspace::{SharedArray, take, words_for};
use num_complex::Complex;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A planned line of any length.
#[derive(Debug)]
pub struct Bluestein {
    n: usize,
    passes: Arc<Passes>,
    /// Followed by zeros up to the convolution length.
    chirp: TwiddleTable,
    /// Spectrum of the conjugate chirp, scaled, divided by the convolution length.
    kernel: TwiddleTable,
    /// The kernel's values are `kernel / 2^62 · 2^kernel_exponent`.
    kernel_exponent: i32,
    word_bits: u32,
}

impl Bluestein {
    /// Tables for length `n` over passes of length `m >= 2n-1`; outputs are scaled by `scale · 2^scale_exponent`.
    pub(crate) fn new(
        n: usize,
        recipes: &[BlockRecipe],
        scale: &Fixed,
        scale_exponent: i32,
        setting: Setting<'_>,
    ) -> Self {
        let one = Fixed::one();
        let new = || Passes::new(recipes, &Fixed::one(), 0, setting);
        let passes = setting.tables.convolution(recipes, setting, new);
        let m = passes.len();
        assert!(
            m >= 2 * n - 1,
            "the convolution length {m} is too short for {n}"
        );
        let (inverse, inverse_exponent) = Fixed::inverse_mantissa(m as u64);
        let unscaled = Scale::new(&one);
        let chirp = chirp_roots(n, |roots, square| roots.twiddle(square, &unscaled));
        let chirp = chirp.into_iter().chain((n..m).map(|_| (0, 0)));
        let chirp = chirp.map(|(re, im)| Complex::new(re, im)).collect();
        let spectrum = setting.tables.chirp_spectrum(n, m);
        let (kernel, kernel_exponent) = spectrum.table(&scale.multiply(&inverse));
        Bluestein {
            n,
            passes,
            chirp,
            kernel,
            kernel_exponent: kernel_exponent + inverse_exponent + scale_exponent,
            word_bits: setting.digits.word_bits(),
        }
    }

    pub fn passes(&self) -> &Passes {
        &self.passes
    }

    pub fn chirp(&self) -> &TwiddleTable {
        &self.chirp
    }

    pub fn kernel(&self) -> &TwiddleTable {
        &self.kernel
    }

    pub fn kernel_exponent(&self) -> i32 {
        self.kernel_exponent
    }

    pub(crate) fn table_bytes(&self) -> usize {
        self.chirp.table_bytes() + self.kernel.table_bytes() + self.passes.table_bytes()
    }

    pub(crate) fn is_large(&self) -> bool {
        self.passes.is_large()
    }

    /// Whether lines are transformed side by side (else one by one).
    pub(crate) fn is_one_block(&self) -> bool {
        self.passes.is_one_block()
    }

    /// Lines whose words are kept at once.
    fn lines<const L: usize>(&self) -> usize {
        if self.is_one_block() { L } else { 1 }
    }

    /// 64-bit words of workspace for one transform by `workers` threads.
    pub(crate) fn workspace_len<const L: usize, U: MatrixUnit<L>>(&self, workers: usize) -> usize {
        let lines = self.lines::<L>();
        words_for::<Complex<i64>>(lines * self.passes.len())
            + words_for::<i32>(lines * self.passes.output_step())
            + self.passes.workspace_len::<L, U>(workers)
    }

    /// Transforms `active` short lines, or one longer line. Reading is complete before the sink is called for the
    /// first time.
    pub(crate) fn run<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        input: &Input<'_, L>,
        output: &Output<'_, L>,
        active: usize,
        mut workspace: &mut [u64],
        workers: usize,
    ) -> Result<(), NotFinite> {
        let (period, lines) = (self.passes.output_step(), self.lines::<L>());
        let length = self.passes.len();
        let words = SharedArray::new(take::<Complex<i64>>(&mut workspace, lines * length));
        let exponents = SharedArray::new(take::<i32>(&mut workspace, lines * period));
        // One entry for each of several lines side by side; a line that is transformed alone uses the first.
        let properties: [AtomicU8; L] = std::array::from_fn(|_| AtomicU8::new(0));
        let chirped = ChirpSource {
            plan: self,
            input,
            part: None,
        };
        let product = KernelSink {
            plan: self,
            words,
            exponents,
            properties: &properties,
            part: None,
        };
        self.passes
            .run(unit, (&chirped, &product), active, workspace, workers)?;
        let stored = WordLines {
            words: words.reader(),
            exponents: exponents.reader(),
            places: WordPlaces::Line {
                period,
                words: if lines == 1 { 0 } else { length },
                exponents: if lines == 1 { 0 } else { period },
                part: None,
            },
        };
        let unchirp = ChirpSink {
            plan: self,
            output,
            properties: &properties,
            part: None,
        };
        self.passes
            .run(unit, (&stored, &unchirp), active, workspace, workers)
    }

    /// All passes but the last of the first transform, over some columns of the line's numbers, in the order of their places. Returns what they have in common.
    pub(crate) fn numbers_to_words<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        input: &Input<'_, L>,
        columns: Range<usize>,
        stored: Stored<'_>,
        (workspace, workers): (&mut [u64], usize),
    ) -> LineProperties {
        let nowhere = (&mut [][..], &mut [][..]);
        let chirped = ChirpSource {
            plan: self,
            input,
            part: Some(self.passes.columns_cut(&columns)),
        };
        let product = KernelSink {
            plan: self,
            words: SharedArray::new(nowhere.0),
            exponents: SharedArray::new(nowhere.1),
            properties: &[],
            part: None,
        };
        let ends: LineEnds<'_, L, U> = (&chirped, &product);
        self.passes
            .run_first_half(unit, ends, columns, stored, workspace, workers)
    }

    /// The last pass of the first transform, over some rows: to their products with the kernel, and the exponents of these.
    pub(crate) fn words_to_products<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        rows: Range<usize>,
        (stored, products): (Stored<'_>, Stored<'_>),
        (workspace, workers): (&mut [u64], usize),
    ) {
        let properties = [AtomicU8::new(0)];
        let chirped = ChirpSource {
            plan: self,
            input: &Input::nothing(),
            part: None,
        };
        let product = KernelSink {
            plan: self,
            words: SharedArray::new(products.0),
            exponents: SharedArray::new(products.1),
            properties: &properties,
            part: Some(self.passes.rows_cut(&rows)),
        };
        let ends: LineEnds<'_, L, U> = (&chirped, &product);
        self.passes
            .run_second_half(unit, ends, rows, stored, workspace, workers);
    }

    /// All passes but the last of the second transform, over some columns of products, given the exponents of all of them.
    pub(crate) fn products_to_words<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        columns: Range<usize>,
        (products, stored): ((&[Complex<i64>], &[i32]), Stored<'_>),
        (workspace, workers): (&mut [u64], usize),
    ) {
        let source = WordLines {
            words: SharedArray::read_only(products.0),
            exponents: SharedArray::read_only(products.1),
            places: WordPlaces::Line {
                period: self.passes.output_step(),
                words: 0,
                exponents: 0,
                part: Some(self.passes.columns_cut(&columns)),
            },
        };
        let unchirp = ChirpSink {
            plan: self,
            output: &Output::nothing(),
            properties: &[],
            part: None,
        };
        let ends: LineEnds<'_, L, U> = (&source, &unchirp);
        self.passes
            .run_first_half(unit, ends, columns, stored, workspace, workers);
    }

    /// The last pass of the second transform, over some rows, to the line's outputs among them, in the order of their places. What is known of zeros is left to the caller.
    pub(crate) fn words_to_numbers<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        output: &Output<'_, L>,
        rows: Range<usize>,
        stored: Stored<'_>,
        (workspace, workers): (&mut [u64], usize),
    ) {
        let all = LineProperties {
            not_finite: false,
            has_real: true,
            has_imaginary: true,
        };
        let source = WordLines {
            words: SharedArray::read_only(&[]),
            exponents: SharedArray::read_only(&[]),
            places: WordPlaces::Line {
                period: self.passes.output_step(),
                words: 0,
                exponents: 0,
                part: None,
            },
        };
        let unchirp = ChirpSink {
            plan: self,
            output,
            properties: &[AtomicU8::new(all.to_bits())],
            part: Some(self.passes.rows_cut(&rows)),
        };
        let ends: LineEnds<'_, L, U> = (&source, &unchirp);
        self.passes
            .run_second_half(unit, ends, rows, stored, workspace, workers);
    }
}

/// Words of a part of a line, and their exponents.
pub(crate) type Stored<'a> = (&'a mut [Complex<i64>], &'a mut [i32]);

/// The lines of a call, and the entries of a table that belong to their elements.
struct Entries<'a, const L: usize> {
    table: &'a TwiddleTable,
    lines: Lines<L>,
    /// Every lane begins one after the lane before.
    neighbours: bool,
    /// Where the last of them begins.
    last: usize,
}

impl<'a, const L: usize> Entries<'a, L> {
    fn new(table: &'a TwiddleTable, lines: Lines<L>) -> Self {
        Entries {
            table,
            neighbours: lines.active == L && lines.are_neighbours(),
            last: lines.starts.iter().copied().max().unwrap_or(0),
            lines,
        }
    }

    /// Rotates element `i` of every line by its entry.
    #[inline(always)]
    fn rotate<V: Vectors<L>>(&self, words: Pair<V::Words>, i: usize) -> Pair<V::Words> {
        let lines = &self.lines;
        let angles = if self.neighbours {
            self.table.load::<L, V>(lines.at(0, i))
        } else {
            let starts = from_lanes::<L, V>(|lane| lines.starts[lane] as i64);
            let places = V::add(starts, V::splat((i * lines.step) as i64));
            self.table
                .gather::<L, V>(places, self.last + i * lines.step)
        };
        rotate::<L, V>(words, Angles::new::<L, V>(angles))
    }
}

/// Numbers of all lanes, each as a word with an exponent of its own.
struct LaneWords<W> {
    words: Pair<W>,
    exponents: W,
    /// The numbers without their signs.
    magnitudes: Pair<W>,
}

/// [`word_of`] for every lane, where all numbers are zero or far from the ends of the range.
#[inline(always)]
fn words_of<const L: usize, V: Vectors<L>>(
    (re, im): Pair<V::Words>,
    word_bits: u32,
) -> Option<LaneWords<V::Words>> {
    let magnitude = V::splat(i64::MAX);
    let magnitudes = (V::and(re, magnitude), V::and(im, magnitude));
    let largest = V::maximum(magnitudes.0, magnitudes.1);
    // A number with the field `f` is below 2^(f - 1022), and its word has so many bits.
    let offset = 1022 + i64::from(word_bits);
    let (least, beyond) = (offset - i64::from(MODERATE), offset + i64::from(MODERATE));
    let is_zero = V::subtract(largest, V::splat(1));
    let within = V::and(
        V::subtract(V::splat((least << 52) - 1), largest),
        V::subtract(largest, V::splat(beyond << 52)),
    );
    if !V::all_negative(V::or(is_zero, within)) {
        return None;
    }
    let unit = V::subtract(V::shift_right(largest, 52), V::splat(offset));
    // Zeros have the exponent 0.
    let unit = V::and(unit, V::shift_right(V::subtract(V::splat(0), largest), 63));
    let scale = V::shift_left(V::subtract(V::splat(1023), unit), 52);
    let words = (
        V::round_scaled(re, scale, unit),
        V::round_scaled(im, scale, unit),
    );
    Some(LaneWords {
        words,
        exponents: unit,
        magnitudes,
    })
}

/// The input times the chirp, followed by zeros.
struct ChirpSource<'a, const L: usize> {
    plan: &'a Bluestein,
    input: &'a Input<'a, L>,
    /// Which part of the line the input is.
    part: Option<Cut>,
}

impl<const L: usize> Source<L> for ChirpSource<'_, L> {
    #[inline(always)]
    fn quantise<V: Vectors<L>>(
        &self,
        lines: &Lines<L>,
        block: &Block,
        points: &mut [Point<L>],
        exponents: &mut [Row<L>],
    ) -> Quantised<L> {
        let (n, grid) = (self.plan.n, block.input());
        let (limit, whole_lines) = match self.part {
            Some(part) => (part.count_below(n), part.whole_lines(lines)),
            None => (n, *lines),
        };
        self.input.gather::<V>(lines, limit, grid, points);
        let mut properties = [LineProperties::ZERO; L];
        let entries = Entries::new(&self.plan.chirp, whole_lines);
        // Numbers without their signs, all that lanes have had.
        let mut numbers = (V::splat(0), V::splat(0));
        let first = lines.starts.iter().copied().min().unwrap_or(0);
        for (i, place) in grid.places() {
            let (point, exponents) = (&mut points[place], &mut exponents[place]);
            // Beyond the line are zeros, which any entry rotates to zeros.
            if first + i * lines.step >= limit {
                *exponents = [0; L];
                continue;
            }
            let given = (V::load(&point[0]), V::load(&point[1]));
            if let Some(found) = words_of::<L, V>(given, self.plan.word_bits) {
                numbers = (
                    V::or(numbers.0, found.magnitudes.0),
                    V::or(numbers.1, found.magnitudes.1),
                );
                let (re, im) = entries.rotate::<V>(found.words, i);
                V::store(re, &mut point[0]);
                V::store(im, &mut point[1]);
                V::store(found.exponents, exponents);
                continue;
            }
            for lane in 0..L {
                let float = |bits: i64| f64::from_bits(bits as u64);
                let value = Complex::new(float(point[0][lane]), float(point[1][lane]));
                let whole = value.re.is_finite() && value.im.is_finite();
                properties[lane] = properties[lane].with(LineProperties {
                    not_finite: !whole,
                    has_real: value.re != 0.0,
                    has_imaginary: value.im != 0.0,
                });
                let (word, exponent) = if whole {
                    word_of(value, self.plan.word_bits)
                } else {
                    (Complex::new(0, 0), 0)
                };
                point[0][lane] = word.re;
                point[1][lane] = word.im;
                exponents[lane] = i64::from(exponent);
            }
            let words = (V::load(&point[0]), V::load(&point[1]));
            let (re, im) = entries.rotate::<V>(words, i);
            V::store(re, &mut point[0]);
            V::store(im, &mut point[1]);
        }
        let numbers = (lanes_of::<L, V>(numbers.0), lanes_of::<L, V>(numbers.1));
        for (lane, properties) in properties.iter_mut().enumerate() {
            *properties = properties.with(LineProperties {
                not_finite: false,
                has_real: numbers.0[lane] != 0,
                has_imaginary: numbers.1[lane] != 0,
            });
        }
        Quantised {
            exponents: quantise_words::<L, V>(points, exponents, grid, block.columns()),
            properties,
            symmetry: InputSymmetry::Complex,
        }
    }
}

/// Multiplies the spectrum by the kernel, and swaps real and imaginary parts for the inverse transform.
struct KernelSink<'a> {
    plan: &'a Bluestein,
    words: SharedArray<'a, Complex<i64>>,
    exponents: SharedArray<'a, i32>,
    properties: &'a [AtomicU8],
    /// Which part of the spectrum the words are.
    part: Option<Cut>,
}

impl<const L: usize> Sink<L> for KernelSink<'_> {
    #[inline(always)]
    fn accept<V: Vectors<L>>(
        &self,
        lines: &Lines<L>,
        values: &WideOutputs<'_, L>,
        found: &Quantised<L>,
        _: &mut [Point<L>],
    ) {
        let plan = self.plan;
        let (length, period) = (plan.passes.len(), plan.passes.output_step());
        let one_block = plan.is_one_block();
        let shifts = values.narrowing_shifts(plan.word_bits);
        let narrowing = Narrowing::new::<L, V>(&shifts);
        let whole_lines = self.part.map_or(*lines, |part| part.whole_lines(lines));
        let entries = Entries::new(&plan.kernel, whole_lines);
        let neighbours = !one_block && lines.are_neighbours();
        for (i, place) in values.grid.places() {
            let words = values.narrowed::<V>(place, &narrowing);
            let (re, im) = entries.rotate::<V>(words, i);
            if neighbours {
                store_words::<L, V>(self.words, lines.at(0, i), lines.active, (im, re));
                continue;
            }
            let (re, im) = (lanes_of::<L, V>(re), lanes_of::<L, V>(im));
            for lane in 0..lines.active {
                let line = if one_block { lane * length } else { 0 };
                let product = swapped(Complex::new(re[lane], im[lane]));
                // SAFETY: every output belongs to one line, and every line to one thread.
                unsafe { self.words.set(line + lines.at(lane, i), product) }
            }
        }
        for lane in 0..lines.active {
            let exponent = found.exponents[lane] + shifts[lane] as i32 + plan.kernel_exponent;
            let line = if one_block { lane * period } else { 0 };
            // SAFETY: as above.
            unsafe { self.exponents.set(line + lines.starts[lane], exponent) }
            let properties = &self.properties[if one_block { lane } else { 0 }];
            properties.store(found.properties[lane].to_bits(), Ordering::Relaxed);
        }
    }
}

/// Multiplies by the chirp once more and stores the first `n` outputs.
struct ChirpSink<'a, const L: usize> {
    plan: &'a Bluestein,
    output: &'a Output<'a, L>,
    properties: &'a [AtomicU8],
    /// Which part of the line the output is.
    part: Option<Cut>,
}

impl<const L: usize> Sink<L> for ChirpSink<'_, L> {
    #[inline(always)]
    fn accept<V: Vectors<L>>(
        &self,
        lines: &Lines<L>,
        values: &WideOutputs<'_, L>,
        found: &Quantised<L>,
        floats: &mut [Point<L>],
    ) {
        let (plan, output) = (self.plan, self.output);
        let shifts = values.narrowing_shifts(plan.word_bits);
        let narrowing = Narrowing::new::<L, V>(&shifts);
        let exponents = std::array::from_fn(|lane| {
            found.exponents[lane] + shifts[lane] as i32 + output.bias[lane]
        });
        let mut emitter = FloatEmitter::new(floats, exponents, output);
        let whole_lines = self.part.map_or(*lines, |part| part.whole_lines(lines));
        let entries = Entries::new(&plan.chirp, whole_lines);
        let first = lines.starts.iter().copied().min().unwrap_or(0);
        for (i, place) in values.grid.places() {
            // What lies beyond the line is not kept.
            if first + i * lines.step >= output.count {
                break;
            }
            let (re, im) = values.narrowed::<V>(place, &narrowing);
            let (re, im) = entries.rotate::<V>((im, re), i);
            let words = LongWords::<L, V> { re, im };
            Emit::<L, V>::emit(&mut emitter, place, FullWords::from(words));
        }
        let properties = std::array::from_fn(|lane| {
            // Known since the first of the two transforms.
            let line = if plan.is_one_block() && lane < lines.active {
                lane
            } else {
                // Lanes that are not active repeat the first one.
                0
            };
            LineProperties::from_bits(self.properties[line].load(Ordering::Relaxed))
        });
        finish::<L, V>(output, lines, values.grid, floats, &properties);
    }
}
