//! One small DFT over many columns: fold, digits, matrix products, and what outputs are made of.

// Closures that look redundant carry the attribute that inlines them; a step has many parts, and they are all arguments
// because each is borrowed differently.
#![allow(
    clippy::redundant_closure,
    clippy::too_many_arguments,
    clippy::type_complexity
)]

use crate::matrix_unit::register_rows::ROW_PAIRS;
use crate::matrix_unit::{MatrixUnit, PackedMatrix, VectorHalves};
use crate::recipe::{Digits, Fold, Products, StepRecipe};
use crate::roots::Fixed;
use crate::roots::root_table::{RootTable, Scale};
use crate::simd::{HalfRow, Vectors, inlined};
use crate::stages::butterfly::{ConjugatePair, Value};
#[cfg(feature = "residues")]
use crate::stages::digits::DigitMatrix;
use crate::stages::reconstruct::UNIT_BITS;
#[cfg(feature = "residues")]
use crate::stages::residue_products::largest_sum;
use crate::stages::step_matrices::slots;
use crate::stages::twiddle::Twiddle;
use crate::transform::columns::{BlockScratch, Column, ColumnScratch, rows};
use crate::transform::head_room::pairs_fit;
use crate::transform::packed_elements::PackedElement;
use crate::transform::step_rows::{RowSums, StepRows};
use crate::transform::tables::{Matrices, Setting};
use std::sync::Arc;

/// One step with its tables.
#[derive(Debug)]
pub struct Step {
    pub recipe: StepRecipe,
    /// Length of what follows: the elements of a column lie `inner` apart.
    pub inner: usize,
    /// None for unit steps, whose entries are 0 and ±1.
    pub matrices: Option<Arc<Matrices>>,
    /// Rotations after the step; empty after the last of several steps.
    pub rotations: Vec<Twiddle>,
    /// Entries per row of `rotations`.
    pub rotation_stride: usize,
    /// Mirrored columns of the first step change sign (when the next step's output is shifted by half a sample).
    pub mirror_negates: bool,
    /// Bits by which the outputs are shifted down.
    pub shift: u32,
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
            products,
            unit,
            tables,
            residues,
        } = setting;
        let trivial = recipe.fold == Fold::Trivial;
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
        let scaling = Scale::new(scale);
        let rotation = |roots: &RootTable, k: u64, j: u64| {
            let numerator = (2 * j * k) as i64
                - (input_shift * inner as u64 * k) as i64
                - (output_shift * n as u64 * j) as i64;
            let p = numerator.rem_euclid(2 * length as i64) as u64;
            let (re, im) = roots.twiddle(p, &scaling);
            Twiddle::new(re, im)
        };
        let rotations = if rotates {
            let roots = RootTable::new(2 * length);
            (0..rows as u64)
                .flat_map(|k| (0..rotation_stride as u64).map(move |j| (k, j)))
                .map(|(k, j)| rotation(&roots, k, j))
                .collect()
        } else {
            Vec::new()
        };
        debug_assert!(
            tables.matrices(&recipe, digits).is_none_or(|matrices| {
                // Residues form no diagonals.
                residues.is_some() || pairs_fit(&matrices, digits, products, recipe.shift).is_ok()
            }),
            "head-room: diagonals of {recipe} with {digits:?} leave 32 bits"
        );
        let matrices = match residues {
            None => tables.packed(&recipe, digits, unit),
            #[cfg(not(feature = "residues"))]
            Some(engine) => match *engine {},
            #[cfg(feature = "residues")]
            Some(engine) => {
                let bound = largest_sum(&recipe, first, digits);
                let pack = |matrix: &Arc<DigitMatrix>| {
                    PackedMatrix::of_residues(engine, matrix, digits, bound)
                        .unwrap_or_else(|error| unreachable!("planning has checked it: {error}"))
                };
                let matrices = tables.matrices(&recipe, digits);
                matrices.map(|matrices| Arc::new(Matrices::new(&matrices, pack)))
            }
        };
        Step {
            recipe,
            inner,
            matrices,
            rotations,
            rotation_stride,
            mirror_negates: output_shift == 1,
            shift: recipe.shift,
        }
    }

    /// Folds a column and lays its digits out for the unit.
    #[inline(always)]
    fn prepare<const L: usize, U: MatrixUnit<L>, C: PackedElement<L, U>>(
        &self,
        matrices: &Matrices,
        digits: Digits,
        points: &[C],
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
            |low: &mut HalfRow<L>, high: Option<&mut HalfRow<L>>, word: C::Word| {
                let halves = C::encode(digits, word);
                U::Vectors::store_halves(halves.0, low);
                if let Some(high) = high {
                    U::Vectors::store_halves(halves.1, high);
                }
            },
        );
        let get = inlined(
            #[inline(always)]
            |i: usize| element.get::<L, U>(i),
        );
        let sine_element = column.of_sines().of(points, n);
        let get_sine = inlined(
            #[inline(always)]
            |i: usize| sine_element.get::<L, U>(i),
        );
        // Elements that are alone come first; then slot by slot, cosine and sine of the same pair.
        let (skip_cosine, skip_sine) = match self.recipe.fold {
            Fold::TimeShifted => (0, 0),
            Fold::FrequencyShifted => {
                put(&mut cosine_low[0], cosine_high.first_mut(), get(0));
                put(&mut sine_low[0], sine_high.first_mut(), get_sine(n / 2));
                (1, 1)
            }
            Fold::Trivial | Fold::Plain => {
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
            Fold::Trivial | Fold::Plain => (1, n - 1, false),
        };
        let folded = inlined(
            #[inline(always)]
            |i: usize| {
                let (a, b) = (get(first + i), get(last - i));
                let (c, d) = (get_sine(first + i), get_sine(last - i));
                if sums_are_sine {
                    (a.minus(b), c.plus(d))
                } else {
                    (a.plus(b), c.minus(d))
                }
            },
        );
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
                let (cosine, sine) = folded(i);
                put(cosine_low, Some(cosine_high), cosine);
                put(sine_low, Some(sine_high), sine);
            }
        } else {
            for (i, (cosine_low, sine_low)) in lows.enumerate() {
                let (cosine, sine) = folded(i);
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

    /// The terms of output `k` of a column with the given cosine and sine sums: for truncated recipes of `P` pairs,
    /// in steps without an extra shift.
    #[inline(always)]
    fn fast<const L: usize, U: MatrixUnit<L>, X: Value<L, U::Vectors>, const P: usize>(
        &self,
        matrices: &Matrices,
        k: usize,
        digits: Digits,
        (cosine, sine): (&[HalfRow<L>], &[HalfRow<L>]),
    ) -> ConjugatePair<X> {
        let (cosine_row, sine_row) = rows(&self.recipe, k);
        let sums = inlined(
            #[inline(always)]
            |matrix: &PackedMatrix, sums: &[HalfRow<L>], row: Option<usize>| match row {
                None => X::zero(),
                Some(row) => {
                    let pairs = U::pairs::<P>(matrix, digits, sums, row);
                    X::rounded::<P>(
                        #[inline(always)]
                        |q| pairs[q],
                        0,
                        UNIT_BITS,
                    )
                }
            },
        );
        ConjugatePair::new(
            sums(&matrices.cosine, cosine, cosine_row),
            sums(&matrices.sine, sine, sine_row),
        )
    }

    /// The same for any recipe: truncated products are rounded one by one, exact ones after combining.
    #[inline(always)]
    fn general<const L: usize, U: MatrixUnit<L>, X: Value<L, U::Vectors>>(
        &self,
        matrices: &Matrices,
        k: usize,
        (digits, products): (Digits, Products),
        number: usize,
        scratch: &ColumnScratch<'_, L>,
    ) -> ConjugatePair<X> {
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
        if products == Products::Truncated {
            return ConjugatePair::new(
                X::rounded::<4>(
                    #[inline(always)]
                    |q| cosine(q),
                    dropped,
                    shift,
                ),
                X::rounded::<4>(
                    #[inline(always)]
                    |q| sine(q),
                    dropped,
                    shift,
                ),
            );
        }
        // With the sine sums' parts exchanged, real and imaginary parts combine place by place.
        let swapped = inlined(
            #[inline(always)]
            |q: usize| U::Vectors::swap_halves(sine(q)),
        );
        let plus = X::rounded::<4>(
            #[inline(always)]
            |q| U::Vectors::add_halves(cosine(q), swapped(q)),
            dropped,
            shift,
        );
        let real_difference = X::rounded::<4>(
            #[inline(always)]
            |q| U::Vectors::subtract_halves(cosine(q), swapped(q)),
            dropped,
            shift,
        );
        // The imaginary parts are rounded with opposite sign, sine minus cosine.
        let imaginary_difference = X::rounded::<4>(
            #[inline(always)]
            |q| U::Vectors::subtract_halves(swapped(q), cosine(q)),
            dropped,
            shift,
        );
        let sums = (
            X::rounded::<4>(
                #[inline(always)]
                |q| cosine(q),
                dropped,
                shift,
            ),
            X::rounded::<4>(
                #[inline(always)]
                |q| sine(q),
                dropped,
                shift,
            ),
        );
        ConjugatePair {
            plus,
            minus: real_difference.blend(imaginary_difference.negated()),
            sums,
        }
    }

    /// The same for a unit step, whose products are sums of its inputs.
    #[inline(always)]
    pub(super) fn trivial_pair<const L: usize, V: Vectors<L>, X: Value<L, V>>(
        &self,
        k: usize,
        element: impl Fn(usize) -> X,
    ) -> ConjugatePair<X> {
        let (cosine, sine) = match (self.recipe.n, k) {
            (2, 0) => (element(0).plus(element(1)), X::zero()),
            (2, _) => (element(0).minus(element(1)), X::zero()),
            (_, 1) => (element(0).minus(element(2)), element(1).minus(element(3))),
            (_, k) => {
                let (even, odd) = (element(0).plus(element(2)), element(1).plus(element(3)));
                let cosine = if k == 0 {
                    even.plus(odd)
                } else {
                    even.minus(odd)
                };
                (cosine, X::zero())
            }
        };
        ConjugatePair::new(cosine, sine)
    }

    /// Bytes of its rotations; there are few matrices, which all plans share.
    pub(crate) fn table_bytes(&self) -> usize {
        size_of_val(&self.rotations[..])
    }

    /// Transforms columns: `column` gives the place of number `i`, and `post` is called with its number and, for every `k` up to half the
    /// size, the values that two outputs are made of. `trivial` makes them of the elements of a unit step's column.
    ///
    /// Wherever sums come from, they meet before `post`: it is inlined, and a second call would double the code of every step.
    #[inline(always)]
    pub(crate) fn run<
        const L: usize,
        U: MatrixUnit<L>,
        C: PackedElement<L, U>,
        X: Value<L, U::Vectors>,
    >(
        &self,
        unit: U,
        setting: (Digits, Products),
        count: usize,
        points: &mut [C],
        scratch: &mut BlockScratch<'_, L>,
        column: impl Fn(usize) -> Column,
        trivial: impl Fn(usize, &[C::Word; 4]) -> ConjugatePair<X>,
        mut post: impl FnMut(&mut [C], usize, usize, ConjugatePair<X>),
    ) {
        let n = self.recipe.n;
        let last = match self.recipe.fold {
            Fold::FrequencyShifted => n / 2 - 1,
            _ => n / 2,
        };
        let matrices = self.matrices.as_deref();
        debug_assert!(X::FROM_PRODUCTS || matrices.is_none());
        let (digits, products) = setting;
        // The usual recipes, by their number of pairs; 0 for all others.
        let usual = products == Products::Truncated && digits.low_pairs() == 0 && self.shift == 0;
        let pairs = digits.pairs();
        let specialised = if usual && X::PAIRS.contains(&pairs) {
            pairs
        } else {
            0
        };
        let rows = match matrices {
            Some(matrices)
                if const { by_rows::<L, U, X>() } && ROW_PAIRS.contains(&specialised) =>
            {
                StepRows::of::<L, U>(&self.recipe, matrices)
            }
            _ => None,
        };
        // Sums of all rows are stored where they do not stay in registers.
        let stored = matrices.filter(|_| rows.is_none());
        let cosine_parts = stored.map_or(0, |matrices| U::parts(&matrices.cosine));
        let sine_parts = stored.map_or(0, |matrices| U::parts(&matrices.sine));
        let parts = cosine_parts + sine_parts;
        let [mut current, mut next] = scratch.0.each_mut();
        let prepare = inlined(
            #[inline(always)]
            |matrices: &Matrices,
             points: &[C],
             first: usize,
             scratch: &mut ColumnScratch<'_, L>| {
                let columns = U::COLUMNS.min(count - first);
                for c in 0..columns {
                    let column = column(first + c);
                    self.prepare::<L, U, C>(matrices, digits, points, column, c, scratch);
                }
            },
        );
        let multiply = inlined(
            #[inline(always)]
            |matrices: &Matrices, first: usize, part: usize, scratch: &mut ColumnScratch<'_, L>| {
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
        // Columns come in groups. While the sums of one are used, the next one is multiplied, a part at a time: the matrix unit and the vector
        // units work side by side. Then the one after that is prepared where the first one was: digits need time to reach the cache.
        let groups = count.div_ceil(U::COLUMNS);
        let begin = if stored.is_some() { 0 } else { 2 };
        for phase in begin..groups + 2 {
            if phase >= 2 {
                let first = (phase - 2) * U::COLUMNS;
                if const { X::FROM_PRODUCTS }
                    && phase == 2
                    && let Some(matrices) = stored
                {
                    for part in 0..parts {
                        multiply(matrices, 0, part, current);
                    }
                }
                let columns = U::COLUMNS.min(count - first);
                let following = first + U::COLUMNS;
                let mut rest = if following < count { parts } else { 0 };
                let mut outputs = columns * (last + 1);
                for c in 0..columns {
                    let column = column(first + c);
                    let elements = match matrices {
                        Some(_) => [C::Word::zero(); 4],
                        None => {
                            let elements = column.of(points, n);
                            // A step of two points has its elements twice.
                            let element = inlined(
                                #[inline(always)]
                                |j: usize| elements.get::<L, U>(j % n),
                            );
                            [element(0), element(1), element(2), element(3)]
                        }
                    };
                    if const { by_rows::<L, U, X>() }
                        && let Some(rows) = &rows
                    {
                        rows.spread::<L, U, C>(digits, points, column, current);
                    }
                    let mut partner = RowSums::<L, U>::zero();
                    for turn in 0..=last {
                        let (k, pair) = if const { by_rows::<L, U, X>() }
                            && let Some(rows) = &rows
                        {
                            let (k, sums) = rows.sums::<L, U>((turn, last), current, &mut partner);
                            (k, sums.rounded(pairs))
                        } else if const { X::FROM_PRODUCTS }
                            && let Some(matrices) = stored
                        {
                            // Parts are spread over the outputs; the first waits until the digits have reached the cache.
                            if rest * columns * (last + 1) > outputs * parts {
                                multiply(matrices, following, parts - rest, next);
                                rest -= 1;
                            }
                            outputs -= 1;
                            let (cosine_rows, sine_rows) =
                                (matrices.cosine.sum_rows(), matrices.sine.sum_rows());
                            let sums = (
                                &current.sums.0[c * cosine_rows..][..cosine_rows],
                                &current.sums.1[c * sine_rows..][..sine_rows],
                            );
                            // Variants that a value never uses are not compiled for it.
                            let pair = match specialised {
                                1 if X::PAIRS.contains(&1) => {
                                    self.fast::<L, U, X, 1>(matrices, turn, digits, sums)
                                }
                                2 if X::PAIRS.contains(&2) => {
                                    self.fast::<L, U, X, 2>(matrices, turn, digits, sums)
                                }
                                3 if X::PAIRS.contains(&3) => {
                                    self.fast::<L, U, X, 3>(matrices, turn, digits, sums)
                                }
                                4 if X::PAIRS.contains(&4) => {
                                    self.fast::<L, U, X, 4>(matrices, turn, digits, sums)
                                }
                                _ => self.general::<L, U, X>(matrices, turn, setting, c, current),
                            };
                            (turn, pair)
                        } else {
                            (turn, trivial(turn, &elements))
                        };
                        post(points, first + c, k, pair);
                    }
                }
                if const { X::FROM_PRODUCTS }
                    && let Some(matrices) = stored
                {
                    while rest > 0 {
                        multiply(matrices, following, parts - rest, next);
                        rest -= 1;
                    }
                }
            }
            if const { X::FROM_PRODUCTS }
                && let Some(matrices) = stored
            {
                if phase < groups {
                    prepare(matrices, points, phase * U::COLUMNS, current);
                }
                std::mem::swap(&mut current, &mut next);
            }
        }
    }

    /// Words between two steps.
    #[inline(always)]
    pub(crate) fn run_words<const L: usize, U: MatrixUnit<L>, C: PackedElement<L, U>>(
        &self,
        unit: U,
        setting: (Digits, Products),
        count: usize,
        points: &mut [C],
        scratch: &mut BlockScratch<'_, L>,
        column: impl Fn(usize) -> Column,
        post: impl FnMut(&mut [C], usize, usize, ConjugatePair<C::Word>),
    ) {
        let shift = self.shift;
        self.run::<L, U, C, C::Word>(
            unit,
            setting,
            count,
            points,
            scratch,
            column,
            #[inline(always)]
            |k, elements| {
                if shift == 0 {
                    // The first step: column sums bound its outputs.
                    return self.trivial_pair::<L, U::Vectors, C::Word>(
                        k,
                        #[inline(always)]
                        |j| elements[j],
                    );
                }
                let pair = self.trivial_pair::<L, U::Vectors, C::Sum>(
                    k,
                    #[inline(always)]
                    |j| C::Sum::from(elements[j]),
                );
                ConjugatePair {
                    plus: C::shifted(pair.plus, shift),
                    minus: shifted_difference::<L, U, C>(pair.minus, shift),
                    sums: (
                        C::shifted(pair.sums.0, shift),
                        C::shifted(pair.sums.1, shift),
                    ),
                }
            },
            post,
        );
    }
}

/// Whether a unit has products row by row for recipes of such values.
const fn by_rows<const L: usize, U: MatrixUnit<L>, X: Value<L, U::Vectors>>() -> bool {
    U::ROW_BY_ROW && *X::PAIRS.end() >= *ROW_PAIRS.start()
}

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

/// The differences of a pair, shifted down: imaginary parts are rounded with opposite sign, sine minus cosine.
#[inline(always)]
fn shifted_difference<const L: usize, U: MatrixUnit<L>, C: PackedElement<L, U>>(
    minus: C::Sum,
    shift: u32,
) -> C::Word {
    C::shifted(minus.conjugated(), shift).conjugated()
}
