//! One small DFT over many columns: fold, digits, matrix products, and what outputs are made of.

// Closures that look redundant carry the attribute that inlines them; a step has many parts, and they are all arguments
// because each is borrowed in its own way.
#![allow(
    clippy::redundant_closure,
    clippy::too_many_arguments,
    clippy::type_complexity
)]

use crate::bailey::Setting;
use crate::digits::DigitMatrix;
use crate::matrix_unit::{MatrixUnit, PackedMatrix, VectorHalves};
use crate::problem::Family;
use crate::quad::{Number, Quad, Word};
use crate::recipe::{Digits, Fold, StepRecipe};
use crate::reconstruct::{UNIT_BITS, round_high_pairs, round_pairs};
use crate::residue_products::largest_sum;
use crate::roots::{self, Fixed};
use crate::tables::slots;
use crate::twiddle::Twiddle;
use crate::vectors::{HalfRow, Pair, Point, Vectors, Wide, inlined, negated};
use std::marker::PhantomData;
use std::sync::Arc;

/// One step with its tables.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) recipe: StepRecipe,
    /// Length of what follows: the elements of a column lie `inner` apart.
    pub(crate) inner: usize,
    /// None for unit steps, whose entries are 0 and ±1.
    pub(crate) matrices: Option<Matrices>,
    /// Rotations after the step; empty after the last of several steps.
    pub(crate) rotations: Vec<Twiddle>,
    /// Entries per row of `rotations`.
    pub(crate) rotation_stride: usize,
    /// Mirrored columns of the first step change sign (when the next step's output is shifted by half a sample).
    pub(crate) mirror_negates: bool,
    /// Bits by which the outputs are shifted down.
    pub(crate) shift: u32,
}

/// Cosine and sine matrix, packed for the unit.
#[derive(Debug)]
pub(crate) struct Matrices {
    pub(crate) cosine: PackedMatrix,
    pub(crate) sine: PackedMatrix,
}

/// Scratch memory for the columns of a step that are multiplied, and for those whose sums are being used.
pub(crate) struct BlockScratch<'a, const L: usize>(pub(crate) [ColumnScratch<'a, L>; 2]);

/// Scratch memory for some columns.
pub(crate) struct ColumnScratch<'a, const L: usize> {
    /// Digits of the cosine inputs, then of the sine inputs.
    pub(crate) data: (&'a mut [HalfRow<L>], &'a mut [HalfRow<L>]),
    pub(crate) sums: (&'a mut [HalfRow<L>], &'a mut [HalfRow<L>]),
}

/// A column of a panel: `count` elements from `first` on, `step` apart.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    pub(crate) first: usize,
    pub(crate) step: isize,
    pub(crate) conjugate: bool,
}

/// A column of which it is known that its elements lie within the panel.
struct Elements<'a, const L: usize> {
    start: *const Point<L>,
    step: isize,
    conjugate: bool,
    count: usize,
    panel: PhantomData<&'a [Point<L>]>,
}

impl Column {
    /// Looks once whether all elements lie within the panel.
    #[inline(always)]
    fn of<'a, const L: usize>(&self, points: &'a [Point<L>], count: usize) -> Elements<'a, L> {
        let last = self.first as isize + self.step * (count as isize - 1);
        assert!(self.first < points.len() && (0..points.len() as isize).contains(&last));
        Elements {
            start: &points[self.first],
            step: self.step,
            conjugate: self.conjugate,
            count,
            panel: PhantomData,
        }
    }
}

impl<const L: usize> Elements<'_, L> {
    #[inline(always)]
    fn get<V: Vectors<L>>(&self, i: usize) -> Pair<V::Words> {
        assert!(i < self.count);
        // SAFETY: the first and the last element lie within the panel, and this one between them.
        let point = unsafe { &*self.start.offset(self.step * i as isize) };
        let (re, im) = (V::load(&point[0]), V::load(&point[1]));
        let im = if self.conjugate {
            negated::<L, V>(im)
        } else {
            im
        };
        (re, im)
    }
}

/// The row of the cosine and of the sine product that belong to output `k`, `0 <= k <= n/2`.
fn rows(step: &StepRecipe, k: usize) -> (Option<usize>, Option<usize>) {
    let n = step.n;
    match step.fold {
        Fold::Unit | Fold::Plain => (Some(k), (k > 0 && 2 * k < n).then(|| k - 1)),
        // The sine of k = n/2 sits in the row that k = 0 leaves free.
        Fold::TimeShifted if 2 * k == n => (None, Some(0)),
        Fold::TimeShifted => (Some(k), (k > 0).then_some(k)),
        Fold::FrequencyShifted => (Some(k), Some(k)),
    }
}

impl Step {
    pub(crate) fn new(
        recipe: StepRecipe,
        inner: usize,
        first: bool,
        next: Option<&StepRecipe>,
        scale: &Fixed,
        setting: Setting<'_>,
    ) -> Step {
        let n = recipe.n;
        let Setting {
            digits,
            unit,
            tables,
            residues,
            ..
        } = setting;
        let trivial = recipe.fold == Fold::Unit;
        // Rotation numerators over 2·n·inner: the index product, less this step's input shift, less the next
        // step's output shift.
        let length = (n * inner) as u64;
        let input_shift = u64::from(recipe.fold == Fold::TimeShifted);
        let output_shift = u64::from(next.is_some_and(|s| s.fold == Fold::FrequencyShifted));
        let (rows, rotation_stride) = if first {
            (n / 2 + 1, inner / 2 + 1)
        } else {
            (n, inner)
        };
        let one = Fixed::one();
        let scale = if first { scale } else { &one };
        let rotates = next.is_some() || (first && !(trivial && scale.is_one()));
        let rotation = |k: u64, j: u64| {
            let numerator = i128::from(2 * j * k)
                - i128::from(input_shift * inner as u64 * k)
                - i128::from(output_shift * n as u64 * j);
            let p = numerator.rem_euclid(i128::from(2 * length)) as u64;
            let (re, im) = roots::twiddle(p, 2 * length, scale);
            Twiddle::new(re, im)
        };
        let rotations = if rotates {
            (0..rows as u64)
                .flat_map(|k| (0..rotation_stride as u64).map(move |j| (k, j)))
                .map(|(k, j)| rotation(k, j))
                .collect()
        } else {
            Vec::new()
        };
        let pack = |matrix: &Arc<DigitMatrix>| match residues {
            None => PackedMatrix::new(unit, matrix, digits),
            Some(engine) => {
                let bound = largest_sum(&recipe, first, digits);
                PackedMatrix::of_residues(engine, matrix, digits, bound)
                    .unwrap_or_else(|error| unreachable!("planning has checked it: {error}"))
            }
        };
        Step {
            recipe,
            inner,
            matrices: tables.matrices(&recipe, digits).map(|matrices| Matrices {
                cosine: pack(&matrices.cosine),
                sine: pack(&matrices.sine),
            }),
            rotations,
            rotation_stride,
            mirror_negates: output_shift == 1,
            shift: recipe.shift,
        }
    }

    /// Folds a column and lays its digits out for the unit.
    #[inline(always)]
    fn prepare<const L: usize, U: MatrixUnit<L>>(
        &self,
        matrices: &Matrices,
        digits: Digits,
        points: &[Point<L>],
        column: Column,
        number: usize,
        scratch: &mut ColumnScratch<'_, L>,
    ) {
        let n = self.recipe.n;
        let (cosine_slots, sine_slots) = slots(&self.recipe);
        let rows = |matrix: &PackedMatrix| {
            let start = number * matrix.data_rows();
            start..start + matrix.data_rows()
        };
        let cosine = &mut scratch.data.0[rows(&matrices.cosine)];
        let sine = &mut scratch.data.1[rows(&matrices.sine)];
        // Upper halves come first; words of four digits have none.
        let upper = digits.data > 4;
        let (cosine_low, cosine_high) = lower_and_upper(cosine, cosine_slots, upper);
        let (sine_low, sine_high) = lower_and_upper(sine, sine_slots, upper);
        let element = column.of(points, n);
        let put = inlined(
            #[inline(always)]
            |low: &mut HalfRow<L>, high: Option<&mut HalfRow<L>>, words: Words2<L, U>| {
                let halves = U::encode(digits, words);
                U::Vectors::store_halves(halves.0, low);
                if let Some(high) = high {
                    U::Vectors::store_halves(halves.1, high);
                }
            },
        );
        let get = inlined(
            #[inline(always)]
            |i: usize| element.get::<U::Vectors>(i),
        );
        let sum = inlined(
            #[inline(always)]
            |a: Words2<L, U>, b: Words2<L, U>| {
                (U::Vectors::add(a.0, b.0), U::Vectors::add(a.1, b.1))
            },
        );
        let difference = inlined(
            #[inline(always)]
            |a: Words2<L, U>, b: Words2<L, U>| {
                (
                    U::Vectors::subtract(a.0, b.0),
                    U::Vectors::subtract(a.1, b.1),
                )
            },
        );
        // Elements that are alone come first; then slot by slot, cosine and sine of the same pair.
        let (skip_cosine, skip_sine) = match self.recipe.fold {
            Fold::TimeShifted => (0, 0),
            Fold::FrequencyShifted => {
                put(&mut cosine_low[0], cosine_high.first_mut(), get(0));
                put(&mut sine_low[0], sine_high.first_mut(), get(n / 2));
                (1, 1)
            }
            Fold::Unit | Fold::Plain => {
                put(&mut cosine_low[0], cosine_high.first_mut(), get(0));
                if n.is_multiple_of(2) {
                    put(
                        &mut cosine_low[n / 2],
                        cosine_high.get_mut(n / 2),
                        get(n / 2),
                    );
                }
                (1, 0)
            }
        };
        let (first, last, sums_are_sine) = match self.recipe.fold {
            Fold::TimeShifted => (0, n - 1, false),
            Fold::FrequencyShifted => (1, n - 1, true),
            Fold::Unit | Fold::Plain => (1, n - 1, false),
        };
        let lows = cosine_low[skip_cosine..]
            .iter_mut()
            .zip(&mut sine_low[skip_sine..]);
        if upper {
            let highs = cosine_high[skip_cosine..]
                .iter_mut()
                .zip(&mut sine_high[skip_sine..]);
            for (i, ((cosine_low, sine_low), (cosine_high, sine_high))) in
                lows.zip(highs).enumerate()
            {
                let (a, b) = (get(first + i), get(last - i));
                let (sum, difference) = (sum(a, b), difference(a, b));
                let (cosine, sine) = if sums_are_sine {
                    (difference, sum)
                } else {
                    (sum, difference)
                };
                put(cosine_low, Some(cosine_high), cosine);
                put(sine_low, Some(sine_high), sine);
            }
        } else {
            for (i, (cosine_low, sine_low)) in lows.enumerate() {
                let (a, b) = (get(first + i), get(last - i));
                let (sum, difference) = (sum(a, b), difference(a, b));
                let (cosine, sine) = if sums_are_sine {
                    (difference, sum)
                } else {
                    (sum, difference)
                };
                put(cosine_low, None, cosine);
                put(sine_low, None, sine);
            }
        }
    }

    /// Pairs of the cosine and of the sine sums for output `k` of a column; pairs that a recipe does not have are zero.
    #[inline(always)]
    fn sums<'a, const L: usize, U: MatrixUnit<L>>(
        &self,
        matrices: &'a Matrices,
        digits: Digits,
        number: usize,
        scratch: &'a ColumnScratch<'_, L>,
    ) -> (
        impl Fn(usize, usize) -> VectorHalves<L, U>,
        impl Fn(usize, usize) -> VectorHalves<L, U>,
    ) {
        let part = |matrix: &PackedMatrix| {
            let start = number * matrix.sum_rows();
            start..start + matrix.sum_rows()
        };
        let cosine_sums = &scratch.sums.0[part(&matrices.cosine)];
        let sine_sums = &scratch.sums.1[part(&matrices.sine)];
        let count = digits.pairs();
        (
            #[inline(always)]
            move |row: usize, q: usize| {
                if q < count {
                    U::pair(&matrices.cosine, digits, cosine_sums, row, q)
                } else {
                    U::Vectors::splat_halves(0)
                }
            },
            #[inline(always)]
            move |row: usize, q: usize| {
                if q < count {
                    U::pair(&matrices.sine, digits, sine_sums, row, q)
                } else {
                    U::Vectors::splat_halves(0)
                }
            },
        )
    }

    /// The rounded values that belong to output `k` of a column whose sums are in the scratch memory: for truncated
    /// recipes of `P` pairs, in steps without an extra shift.
    #[inline(always)]
    fn fast<const L: usize, U: MatrixUnit<L>, X: Number<L, U::Vectors>, const P: usize>(
        &self,
        matrices: &Matrices,
        k: usize,
        digits: Digits,
        number: usize,
        scratch: &ColumnScratch<'_, L>,
    ) -> Quad<X> {
        let (cosine_row, sine_row) = rows(&self.recipe, k);
        let nothing = (X::zero(), X::zero());
        let sums = inlined(
            #[inline(always)]
            |matrix: &PackedMatrix, sums: &[HalfRow<L>], row: Option<usize>| match row {
                None => nothing,
                Some(row) => {
                    let sums = &sums[number * matrix.sum_rows()..][..matrix.sum_rows()];
                    let pairs = U::pairs::<P>(matrix, digits, sums, row);
                    X::rounded(round_high_pairs::<L, U::Vectors, P>(pairs))
                }
            },
        );
        let (cosine_re, cosine_im) = sums(&matrices.cosine, scratch.sums.0, cosine_row);
        let (sine_re, sine_im) = sums(&matrices.sine, scratch.sums.1, sine_row);
        Quad {
            re_sum: cosine_re.plus(sine_im),
            re_difference: cosine_re.minus(sine_im),
            im_sum: sine_re.plus(cosine_im),
            im_difference: sine_re.minus(cosine_im),
        }
    }

    /// The same for any recipe: truncated products are rounded one by one, exact ones after combining.
    #[inline(always)]
    fn general<const L: usize, U: MatrixUnit<L>, X: Number<L, U::Vectors>>(
        &self,
        matrices: &Matrices,
        k: usize,
        (digits, family): (Digits, Family),
        number: usize,
        scratch: &ColumnScratch<'_, L>,
    ) -> Quad<X> {
        let (cosine_row, sine_row) = rows(&self.recipe, k);
        let (cosine, sine) = self.sums::<L, U>(matrices, digits, number, scratch);
        let (dropped, shift) = (digits.low_pairs(), UNIT_BITS + self.shift);
        let zero = U::Vectors::splat_halves(0);
        let cosine = inlined(
            #[inline(always)]
            |q: usize| match cosine_row {
                None => zero,
                Some(row) => cosine(row, q),
            },
        );
        let sine = inlined(
            #[inline(always)]
            |q: usize| match sine_row {
                None => zero,
                Some(row) => sine(row, q),
            },
        );
        if family == Family::Truncated {
            let (cosine_re, cosine_im) = X::rounded(round_pairs::<L, U::Vectors, 4>(
                #[inline(always)]
                |q| cosine(q),
                dropped,
                shift,
            ));
            let (sine_re, sine_im) = X::rounded(round_pairs::<L, U::Vectors, 4>(
                #[inline(always)]
                |q| sine(q),
                dropped,
                shift,
            ));
            return Quad {
                re_sum: cosine_re.plus(sine_im),
                re_difference: cosine_re.minus(sine_im),
                im_sum: sine_re.plus(cosine_im),
                im_difference: sine_re.minus(cosine_im),
            };
        }
        // With the sine sums' parts exchanged, real and imaginary parts combine place by place.
        let swapped = inlined(
            #[inline(always)]
            |q: usize| U::Vectors::swap_halves(sine(q)),
        );
        let (re_sum, im_sum) = X::rounded(round_pairs::<L, U::Vectors, 4>(
            #[inline(always)]
            |q| U::Vectors::add_halves(cosine(q), swapped(q)),
            dropped,
            shift,
        ));
        let (re_difference, _) = X::rounded(round_pairs::<L, U::Vectors, 4>(
            #[inline(always)]
            |q| U::Vectors::subtract_halves(cosine(q), swapped(q)),
            dropped,
            shift,
        ));
        let (_, im_difference) = X::rounded(round_pairs::<L, U::Vectors, 4>(
            #[inline(always)]
            |q| U::Vectors::subtract_halves(swapped(q), cosine(q)),
            dropped,
            shift,
        ));
        Quad {
            re_sum,
            re_difference,
            im_sum,
            im_difference,
        }
    }

    /// The same for a unit step, whose products are sums of its inputs.
    #[inline(always)]
    fn unit_quad<const L: usize, V: Vectors<L>, X: Number<L, V>>(
        &self,
        k: usize,
        element: impl Fn(usize) -> Pair<X>,
    ) -> Quad<X> {
        let add = inlined(
            #[inline(always)]
            |a: Pair<X>, b: Pair<X>| (a.0.plus(b.0), a.1.plus(b.1)),
        );
        let subtract = inlined(
            #[inline(always)]
            |a: Pair<X>, b: Pair<X>| (a.0.minus(b.0), a.1.minus(b.1)),
        );
        let nothing = (X::zero(), X::zero());
        let (cosine, sine) = match (self.recipe.n, k) {
            (2, 0) => (add(element(0), element(1)), nothing),
            (2, _) => (subtract(element(0), element(1)), nothing),
            (_, 1) => (
                subtract(element(0), element(2)),
                subtract(element(1), element(3)),
            ),
            (_, k) => {
                let (even, odd) = (add(element(0), element(2)), add(element(1), element(3)));
                let cosine = if k == 0 {
                    add(even, odd)
                } else {
                    subtract(even, odd)
                };
                (cosine, nothing)
            }
        };
        Quad {
            re_sum: cosine.0.plus(sine.1),
            re_difference: cosine.0.minus(sine.1),
            im_sum: sine.0.plus(cosine.1),
            im_difference: sine.0.minus(cosine.1),
        }
    }

    /// Transforms columns, a few at a time: `column` says where number `i` lies, and `post` is called with its number
    /// and, for every `k` up to half the size, the values that two outputs are made of.
    #[inline(always)]
    pub(crate) fn run<const L: usize, U: MatrixUnit<L>, X: Number<L, U::Vectors>>(
        &self,
        unit: U,
        setting: (Digits, Family),
        count: usize,
        points: &mut [Point<L>],
        scratch: &mut BlockScratch<'_, L>,
        column: impl Fn(usize) -> Column,
        mut post: impl FnMut(&mut [Point<L>], usize, usize, Quad<X>),
    ) {
        let last = match self.recipe.fold {
            Fold::FrequencyShifted => self.recipe.n / 2 - 1,
            _ => self.recipe.n / 2,
        };
        let Some(matrices) = &self.matrices else {
            unreachable!("unit steps are added up, not multiplied")
        };
        let (digits, family) = setting;
        // The usual recipes, by their number of pairs; 0 for all others.
        let usual = family == Family::Truncated && digits.low_pairs() == 0 && self.shift == 0;
        let way = if usual { digits.pairs() } else { 0 };
        let (cosine_parts, sine_parts) = (U::parts(&matrices.cosine), U::parts(&matrices.sine));
        let parts = cosine_parts + sine_parts;
        let [mut current, mut next] = scratch.0.each_mut();
        let prepare = inlined(
            #[inline(always)]
            |points: &[Point<L>], first: usize, scratch: &mut ColumnScratch<'_, L>| {
                let columns = U::COLUMNS.min(count - first);
                for c in 0..columns {
                    let column = column(first + c);
                    self.prepare::<L, U>(matrices, digits, points, column, c, scratch);
                }
            },
        );
        let multiply = inlined(
            #[inline(always)]
            |first: usize, part: usize, scratch: &mut ColumnScratch<'_, L>| {
                let columns = U::COLUMNS.min(count - first);
                let ColumnScratch { data, sums } = scratch;
                if part < cosine_parts {
                    unit.multiply(&matrices.cosine, digits, columns, part, data.0, sums.0);
                } else {
                    let part = part - cosine_parts;
                    unit.multiply(&matrices.sine, digits, columns, part, data.1, sums.1);
                }
            },
        );
        prepare(points, 0, current);
        // Before the first product the digits need time to reach the cache: the next columns are prepared meanwhile.
        if U::COLUMNS < count {
            prepare(points, U::COLUMNS, next);
        }
        for part in 0..parts {
            multiply(0, part, current);
        }
        // While the sums of some columns are used, the next ones are multiplied, a part at a time: the matrix unit and
        // the vector units work side by side.
        for first in (0..count).step_by(U::COLUMNS) {
            let columns = U::COLUMNS.min(count - first);
            let following = first + U::COLUMNS;
            let mut rest = if following < count { parts } else { 0 };
            let mut outputs = columns * (last + 1);
            for c in 0..columns {
                for k in 0..=last {
                    // Parts are spread over the outputs; the first waits until the digits have reached the cache.
                    if rest * columns * (last + 1) > outputs * parts {
                        multiply(following, parts - rest, next);
                        rest -= 1;
                    }
                    outputs -= 1;
                    let quad = match way {
                        2 => self.fast::<L, U, X, 2>(matrices, k, digits, c, current),
                        3 => self.fast::<L, U, X, 3>(matrices, k, digits, c, current),
                        4 => self.fast::<L, U, X, 4>(matrices, k, digits, c, current),
                        _ => self.general::<L, U, X>(matrices, k, setting, c, current),
                    };
                    post(points, first + c, k, quad);
                }
            }
            while rest > 0 {
                multiply(following, parts - rest, next);
                rest -= 1;
            }
            std::mem::swap(&mut current, &mut next);
            if following + U::COLUMNS < count {
                prepare(points, following + U::COLUMNS, next);
            }
        }
    }

    /// [`Step::run`] for a unit step: the elements of a column are read before `post` is called for it.
    #[inline(always)]
    pub(crate) fn run_unit<const L: usize, V: Vectors<L>, X: Number<L, V>>(
        &self,
        count: usize,
        points: &mut [Point<L>],
        column: impl Fn(usize) -> Column,
        number: impl Fn(V::Words) -> X,
        mut post: impl FnMut(&mut [Point<L>], usize, usize, Quad<X>),
    ) {
        let n = self.recipe.n;
        for i in 0..count {
            let column = column(i).of(points, n);
            let element = inlined(
                #[inline(always)]
                |j: usize| {
                    // A step of two points has its elements twice.
                    let (re, im) = column.get::<V>(j % n);
                    (number(re), number(im))
                },
            );
            let elements = [element(0), element(1), element(2), element(3)];
            for k in 0..=n / 2 {
                let quad = self.unit_quad::<L, V, X>(
                    k,
                    #[inline(always)]
                    |j| elements[j],
                );
                post(points, i, k, quad);
            }
        }
    }

    /// Words between two steps.
    #[inline(always)]
    pub(crate) fn run_words<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        setting: (Digits, Family),
        count: usize,
        points: &mut [Point<L>],
        scratch: &mut BlockScratch<'_, L>,
        column: impl Fn(usize) -> Column,
        mut post: impl FnMut(&mut [Point<L>], usize, usize, Quad<Word<L, U::Vectors>>),
    ) {
        if self.matrices.is_some() {
            self.run(unit, setting, count, points, scratch, column, post);
        } else if self.shift == 0 {
            // The first step: column sums bound its outputs.
            self.run_unit(
                count,
                points,
                column,
                #[inline(always)]
                |word| Word(word),
                post,
            );
        } else {
            let shift = self.shift;
            self.run_unit::<L, U::Vectors, Wide<_>>(
                count,
                points,
                column,
                #[inline(always)]
                |words| Wide::from_words::<L, U::Vectors>(words),
                #[inline(always)]
                |points, i, k, quad| {
                    let word = inlined(
                        #[inline(always)]
                        |x: Wide<_>| Word(x.shifted::<L, U::Vectors>(shift)),
                    );
                    let quad = Quad {
                        re_sum: word(quad.re_sum),
                        re_difference: word(quad.re_difference),
                        im_sum: word(quad.im_sum),
                        im_difference: word(quad.im_difference),
                    };
                    post(points, i, k, quad);
                },
            );
        }
    }
}

pub(crate) type Words2<const L: usize, U> =
    Pair<<<U as MatrixUnit<L>>::Vectors as Vectors<L>>::Words>;

/// Rows for the lower and for the upper halves of a column's words.
#[inline(always)]
fn lower_and_upper<H>(rows: &mut [H], slots: usize, upper: bool) -> (&mut [H], &mut [H]) {
    let (first, rest) = rows.split_at_mut(slots);
    if upper {
        (&mut rest[..slots], first)
    } else {
        (first, &mut [])
    }
}

#[inline(always)]
pub(crate) fn store<const L: usize, V: Vectors<L>>(point: &mut Point<L>, (re, im): Pair<V::Words>) {
    V::store(re, &mut point[0]);
    V::store(im, &mut point[1]);
}
