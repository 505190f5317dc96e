//! A line of one step: the lanes of a vector are its outputs.
//!
//! Such a line has one column, so that there is nothing else to fill lanes with: rows of the matrices lie in them, and the digits
//! of every word are broadcast. Lane `k` holds the outputs `k` and `n-k`, which have their sums in common. After a shift by half a
//! sample lane 0 holds the outputs 0, which has no sine, and `n/2`, which has no cosine.
//!
//! All integers are those of lines side by side, so the bits are the same.

use crate::matrix_unit::{MatrixUnit, Task};
use crate::recipe::Fold;
use crate::simd::{HalfRow, Point, Portable, Row, Vectors, from_lanes, inlined, negated_where};
use crate::stages::butterfly::{ConjugatePair, LongWords, Value};
use crate::stages::lines::Grid;
use crate::stages::numbers::{Input, Output};
use crate::stages::outputs::{Emit, FloatEmitter, singles};
use crate::stages::quantise::{
    LineProperties, SUM_BITS, exponent, is_moderate, power_bits, quantise_floats, scale,
};
use crate::stages::reconstruct::UNIT_BITS;
use crate::stages::step_matrices::slots;
use crate::stages::twiddle::{Angles, TwiddleTable, rotate};
use crate::transform::bailey::Block;
use crate::transform::lane_tables::OutputLanes;
use crate::transform::packed_elements::PackedElement;
use crate::workspace::{take, words_for};
use num_complex::Complex;

impl OutputLanes {
    /// 64-bit words of workspace.
    pub(crate) fn workspace_len<const L: usize>(&self) -> usize {
        let (numbers, folded) = self.sizes::<L>();
        words_for::<Row<L>>(numbers)
            + 2 * words_for::<[i64; 2]>(folded)
            + 2 * words_for::<[i32; 2]>(most_data(folded))
            + words_for::<Point<L>>(2 * self.groups)
    }

    /// Rows of the line as it is read, and slots of the larger matrix.
    fn sizes<const L: usize>(&self) -> (usize, usize) {
        let (cosine, sine) = slots(&self.recipe);
        // Whole rows of folded words.
        let folded = cosine.max(sine).next_multiple_of(L);
        ((2 * self.recipe.n).div_ceil(L), folded)
    }

    /// Transforms one of the lines.
    pub(crate) fn run<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        block: &Block,
        (input, output): (&Input<'_, L>, &Output<'_, L>),
        lane: usize,
        exponent_offset: i32,
        mut workspace: &mut [u64],
    ) {
        let (numbers, folded) = self.sizes::<L>();
        let properties = unit.enter(Line {
            unit,
            tables: self,
            block,
            input,
            output,
            lane,
            exponent_offset,
            numbers: take(&mut workspace, numbers),
            folded: [take(&mut workspace, folded), take(&mut workspace, folded)],
            data: [
                take(&mut workspace, most_data(folded)),
                take(&mut workspace, most_data(folded)),
            ],
            results: take(&mut workspace, 2 * self.groups),
        });
        if properties.not_finite {
            output.fill_nan(lane);
        }
    }
}

/// Entries that [`MatrixUnit::encode_outputs`] makes of so many words, at most: eight digits for every two of them.
const fn most_data(words: usize) -> usize {
    8 * words.div_ceil(2)
}

/// One line, as a task.
struct Line<'a, const L: usize, U> {
    unit: U,
    tables: &'a OutputLanes,
    block: &'a Block,
    input: &'a Input<'a, L>,
    output: &'a Output<'a, L>,
    lane: usize,
    exponent_offset: i32,
    numbers: &'a mut [Row<L>],
    folded: [&'a mut [[i64; 2]]; 2],
    data: [&'a mut [[i32; 2]]; 2],
    results: &'a mut [Point<L>],
}

impl<const L: usize, U: MatrixUnit<L>> Task for Line<'_, L, U> {
    type Output = LineProperties;

    #[inline(always)]
    fn run(mut self) -> LineProperties {
        let (exponent, properties) = self.load();
        if properties.not_finite {
            return properties;
        }
        self.fold();
        let exponents = [exponent + self.exponent_offset; L];
        let holds = <Point<L> as PackedElement<L, U>>::holds_outputs(self.block.digits());
        match (self.block.digits().pairs(), holds) {
            (1, _) => self.multiply::<1, LongWords<L, U::Vectors>>(exponents),
            (2, _) => self.multiply::<2, LongWords<L, U::Vectors>>(exponents),
            (3, true) => self.multiply::<3, LongWords<L, U::Vectors>>(exponents),
            (3, false) => self.multiply::<3, <Point<L> as PackedElement<L, U>>::Output>(exponents),
            _ => self.multiply::<4, <Point<L> as PackedElement<L, U>>::Output>(exponents),
        }
        self.store(properties);
        properties
    }
}

impl<const L: usize, U: MatrixUnit<L>> Line<'_, L, U> {
    /// Reads the line and brings it under one exponent: real and imaginary parts of words alternate.
    #[inline(always)]
    fn load(&mut self) -> (i32, LineProperties) {
        let n = self.tables.recipe.n;
        // Whole rows of numbers that lie one after the other are read where they are.
        let adjacent = match (2 * n).is_multiple_of(L) {
            true => self.input.adjacent(self.lane, n),
            false => None,
        };
        if adjacent.is_none() {
            if let Some(last) = self.numbers.last_mut() {
                *last = [0; L];
            }
            let line = bytemuck::cast_slice_mut(self.numbers.as_flattened_mut());
            self.input.copy_line(self.lane, &mut line[..n]);
        }
        let count = self.numbers.len();
        let row = inlined(
            #[inline(always)]
            |numbers: &[Row<L>], i: usize| match adjacent {
                // SAFETY: so many numbers, which are as large as words, are there; nobody writes them before the line is stored.
                Some(start) => U::Vectors::load(unsafe { &*start.cast::<Row<L>>().add(i) }),
                None => U::Vectors::load(&numbers[i]),
            },
        );
        let magnitude = U::Vectors::splat(i64::MAX);
        let mut largest = U::Vectors::splat(0);
        for i in 0..count {
            // Without their sign, the bits of floating-point numbers are ordered as the numbers are.
            let row = U::Vectors::and(row(self.numbers, i), magnitude);
            largest = U::Vectors::maximum(largest, row);
        }
        // Real parts are in the even lanes.
        let imaginary = from_lanes::<L, U::Vectors>(|lane| -((lane % 2) as i64));
        let real = U::Vectors::xor(imaginary, U::Vectors::splat(-1));
        let properties = LineProperties::of_magnitudes([
            U::Vectors::largest(U::Vectors::and(largest, real)),
            U::Vectors::largest(U::Vectors::and(largest, imaginary)),
        ]);
        let unit = match U::Vectors::largest(largest) {
            0 => {
                // A zero may have a sign.
                self.numbers.fill([0; L]);
                return (0, properties);
            }
            _ if properties.not_finite => return (0, properties),
            largest => scale(largest) - SUM_BITS,
        };
        let shape = self.block.columns();
        if !is_moderate(unit) {
            let line = &mut self.numbers.as_flattened_mut()[..2 * n];
            self.input
                .copy_line(self.lane, bytemuck::cast_slice_mut(line));
            return (extreme(line, self.block), properties);
        }
        let reciprocal = U::Vectors::splat(power_bits(-unit));
        let mut sum = U::Vectors::splat(0);
        for i in 0..count {
            let floor = U::Vectors::floor_magnitude(row(self.numbers, i), reciprocal);
            sum = U::Vectors::add(sum, floor);
        }
        // One for every magnitude, which rounds it up, less what the vectors add to it.
        let added = (count * L) as i64;
        let sum = U::Vectors::total(sum)
            .wrapping_add(2 * n as i64)
            .wrapping_sub(added.wrapping_mul(<U::Vectors as Vectors<L>>::FLOOR_BIAS));
        let found = exponent(i64::from(unit), sum, shape.word_bits);
        let (reciprocal, unit) = (
            U::Vectors::splat(power_bits(-found)),
            U::Vectors::splat(i64::from(found)),
        );
        // A line that was copied has been conjugated.
        let signs = match adjacent.is_some() && self.input.conjugate {
            true => U::Vectors::and(imaginary, U::Vectors::splat(i64::MIN)),
            false => U::Vectors::splat(0),
        };
        for i in 0..count {
            let number = U::Vectors::xor(row(self.numbers, i), signs);
            let word = U::Vectors::round_scaled(number, reciprocal, unit);
            U::Vectors::store(word, &mut self.numbers[i]);
        }
        (found, properties)
    }

    /// Sums and differences of the words that the matrices multiply.
    #[inline(always)]
    fn fold(&mut self) {
        let n = self.tables.recipe.n;
        if self.tables.shares_first_lane() && (2 * n).is_multiple_of(L) {
            return self.fold_rows();
        }
        let (words, _) = self.numbers.as_flattened().as_chunks::<2>();
        let words = &words[..n];
        let [cosine, sine] = &mut self.folded;
        let cosine = &mut cosine[..self.tables.cosine.slots];
        let sine = &mut sine[..self.tables.sine.slots];
        // What is alone comes first.
        let (cosine, words) = match self.tables.recipe.fold {
            Fold::Plain => {
                cosine[0] = words[0];
                (&mut cosine[1..], &words[1..])
            }
            _ => (cosine, words),
        };
        let pairs = words.iter().zip(words.iter().rev());
        for ((cosine, sine), (a, b)) in cosine.iter_mut().zip(sine).zip(pairs) {
            *cosine = [a[0].wrapping_add(b[0]), a[1].wrapping_add(b[1])];
            *sine = [a[0].wrapping_sub(b[0]), a[1].wrapping_sub(b[1])];
        }
    }

    /// [`Line::fold`] of whole rows of words. The middle row of an odd number of them meets itself.
    #[inline(always)]
    fn fold_rows(&mut self) {
        let rows = &*self.numbers;
        let [cosine, sine] = &mut self.folded;
        let cosine = cosine.as_flattened_mut().as_chunks_mut::<L>().0.iter_mut();
        let sine = sine.as_flattened_mut().as_chunks_mut::<L>().0.iter_mut();
        let pairs = rows.iter().zip(rows.iter().rev());
        for ((cosine, sine), (a, b)) in cosine.zip(sine).zip(pairs).take(rows.len().div_ceil(2)) {
            let (a, b) = (U::Vectors::load(a), U::Vectors::load(b));
            let b = U::Vectors::reversed_pairs(b);
            U::Vectors::store(U::Vectors::add(a, b), cosine);
            U::Vectors::store(U::Vectors::subtract(a, b), sine);
        }
    }

    /// Outputs as floating-point numbers: for every group the outputs `k`, then those that share their sums.
    #[inline(always)]
    fn multiply<const P: usize, X>(&mut self, exponents: [i32; L])
    where
        X: Value<L, U::Vectors> + From<LongWords<L, U::Vectors>>,
    {
        let (tables, digits) = (self.tables, self.block.digits());
        let mut emitter = FloatEmitter::new(self.results, exponents, self.output);
        let parts = [&tables.cosine, &tables.sine];
        for part in 0..2 {
            let words = &self.folded[part][..parts[part].slots];
            U::encode_outputs(parts[part], digits, words, self.data[part]);
        }
        for group in 0..tables.groups {
            let sums = inlined(
                #[inline(always)]
                |part: usize| {
                    let mut sums: [HalfRow<L>; P] = [[[0; 2]; L]; P];
                    let data = &*self.data[part];
                    self.unit
                        .multiply_outputs(parts[part], digits, group, data, &mut sums);
                    LongWords::<L, U::Vectors>::rounded::<P>(
                        #[inline(always)]
                        |q| U::Vectors::load_halves(&sums[q]),
                        0,
                        UNIT_BITS,
                    )
                },
            );
            let (cosine, sine) = (sums(0), sums(1));
            let first = group == 0 && tables.shares_first_lane();
            // All ones in the first lane, where its sums belong to different outputs.
            let mask = from_lanes::<L, U::Vectors>(|lane| -i64::from(first && lane == 0));
            let others = U::Vectors::xor(mask, U::Vectors::splat(-1));
            let without_first = inlined(
                #[inline(always)]
                |words: LongWords<L, U::Vectors>| LongWords {
                    re: U::Vectors::and(words.re, others),
                    im: U::Vectors::and(words.im, others),
                },
            );
            let rotated = inlined(
                #[inline(always)]
                |word: LongWords<L, U::Vectors>, table: &TwiddleTable| {
                    let entries = table.load::<L, U::Vectors>(group * L);
                    let angles = Angles::new::<L, U::Vectors>(entries);
                    let (re, im) = rotate::<L, U::Vectors>((word.re, word.im), angles);
                    LongWords::<L, U::Vectors> { re, im }
                },
            );
            let output = ConjugatePair::new(cosine, without_first(sine)).output();
            let output = rotated(output, &tables.rotations);
            emitter.emit(2 * group, X::from(output));
            let shared = ConjugatePair::new(without_first(cosine), sine).output_of_conjugate();
            // The middle output is no conjugate: nor is it one of the conjugated input.
            let shared = LongWords {
                re: negated_where::<L, U::Vectors>(mask, shared.re),
                im: shared.im,
            };
            let shared = rotated(shared, &tables.partner_rotations).conjugated_where(others);
            emitter.emit(2 * group + 1, X::from(shared));
        }
    }

    /// Stores the outputs that are wanted.
    #[inline(always)]
    fn store(&mut self, properties: LineProperties) {
        let n = self.tables.recipe.n;
        let shifted = self.tables.shares_first_lane();
        // The first output is in the first lane, the middle one of an even number shares it.
        let zeros = 0..if shifted { 2 } else { 1 };
        let known = [!properties.has_real, !properties.has_imaginary];
        let known = (0..2).filter(|&part| known[part]);
        let zeros = zeros.flat_map(|place| known.clone().map(move |part| (place, part)));
        if self.output.is_single() {
            let results = singles(self.results);
            zeros.for_each(|(place, part)| results[place][0][part] = 0);
            let single = |bits: i32| f64::from(f32::from_bits(bits as u32));
            let number = |place: usize, lane: usize| {
                let [re, im]: [i32; 2] = results[place][lane];
                Complex::new(single(re), single(im))
            };
            self.tables.store(n, self.output, self.lane, number);
        } else {
            zeros.for_each(|(place, part)| self.results[place][part][0] = 0);
            if self.store_rows() {
                return;
            }
            let float = |bits: i64| f64::from_bits(bits as u64);
            let number = |place: usize, lane: usize| {
                let [re, im] = &self.results[place];
                Complex::new(float(re[lane]), float(im[lane]))
            };
            self.tables.store(n, self.output, self.lane, number);
        }
    }
}

impl<const L: usize, U: MatrixUnit<L>> Line<'_, L, U> {
    /// Stores all outputs, if they are double-precision complex numbers that lie one after the other; returns whether they do. Groups
    /// of lanes that are full are stored as rows.
    #[inline(always)]
    fn store_rows(&self) -> bool {
        let n = self.tables.recipe.n;
        let Some(start) = self.output.adjacent(self.lane, n) else {
            return false;
        };
        if !self.tables.shares_first_lane() {
            return false;
        }
        let rows = inlined(
            #[inline(always)]
            |place: usize| self.results[place].map(|row| U::Vectors::load(&row)),
        );
        for group in 0..self.tables.used / L {
            let [re, im] = rows(2 * group);
            // SAFETY: `adjacent` has checked all `n` numbers. Of the first `n/2` these are the next `L`.
            unsafe { U::Vectors::store_neighbours(start.add(2 * group * L), re, im) }
            let shared = rows(2 * group + 1);
            // The first lane of all has the middle output, which lies elsewhere unless there is one group alone; what it leaves there
            // is overwritten by the next group.
            let ([re, im], first) = match group {
                0 => (shared.map(U::Vectors::reversed_after_first), n - L),
                _ => (shared.map(U::Vectors::reversed), n - group * L - (L - 1)),
            };
            // SAFETY: as above, of the last `n/2`.
            unsafe { U::Vectors::store_neighbours(start.add(2 * first), re, im) }
        }
        let float = |bits: i64| f64::from_bits(bits as u64);
        let put = inlined(
            #[inline(always)]
            |index: usize, place: usize, lane: usize| {
                let [re, im] = &self.results[place];
                let value = [float(re[lane]), float(im[lane])];
                // SAFETY: as above; indices are below `n`.
                unsafe { start.add(2 * index).cast::<[f64; 2]>().write(value) }
            },
        );
        for k in self.tables.used / L * L..self.tables.used {
            put(k, 2 * (k / L), k % L);
            if k > 0 {
                put(n - k, 2 * (k / L) + 1, k % L);
            }
        }
        put(n / 2, 1, 0);
        true
    }
}

impl OutputLanes {
    #[inline(always)]
    fn store<const L: usize>(
        &self,
        n: usize,
        output: &Output<'_, L>,
        line: usize,
        number: impl Fn(usize, usize) -> Complex<f64>,
    ) {
        let put = inlined(
            #[inline(always)]
            |index: usize, value: Complex<f64>| {
                if index < output.count {
                    output.put(line, index, value);
                }
            },
        );
        for k in 0..self.used {
            let (group, lane) = (k / L, k % L);
            put(k, number(2 * group, lane));
            if k > 0 {
                put(n - k, number(2 * group + 1, lane));
            } else if self.shares_first_lane() {
                put(n / 2, number(2 * group + 1, lane));
            }
        }
    }
}

/// The words of a line near the ends of the double-precision range, in place; returns its exponent.
#[cold]
#[inline(never)]
fn extreme(line: &mut [i64], block: &Block) -> i32 {
    let points: &mut [Point<1>] = bytemuck::cast_slice_mut(line);
    let grid = Grid {
        rows: 1,
        columns: points.len(),
        pitch: points.len(),
    };
    quantise_floats::<1, Portable>(points, grid, block.columns()).exponents[0]
}
