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

use crate::matrix_unit::{MatrixUnit, PackedMatrix, Task, Unit, VectorHalves};
use crate::problem::Family;
use crate::quantise::{Columns, Quantised, Words};
use crate::recipe::{BlockRecipe, Digits, Fold, StepRecipe};
use crate::reconstruct::{Rounded, UNIT_BITS, round_high_pairs, round_pairs};
use crate::roots::{self, Fixed};
use crate::tables::{Tables, slots};
use crate::twiddle::Twiddle;
use crate::vectors::{HalfRow, Pair, Point, Vectors, Wide, inlined, negated};
use crate::workspace::{take, words_for};
use std::marker::PhantomData;

/// What all lines of a plan have in common.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) digits: Digits,
    pub(crate) family: Family,
    pub(crate) unit: Unit,
    pub(crate) tables: &'a Tables,
}

/// Where the elements of a line lie in a panel: in rows, with a gap after each where columns would otherwise fall on
/// the same few places of the cache.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) pitch: usize,
}

impl Grid {
    fn new(rows: usize, columns: usize) -> Self {
        let gap = usize::from(rows > 1 && columns.is_multiple_of(8));
        Grid {
            rows,
            columns,
            pitch: columns + gap,
        }
    }

    /// Elements of the panel, gaps included.
    pub(crate) fn len(&self) -> usize {
        self.rows * self.pitch
    }

    /// Place of element `i`.
    #[inline(always)]
    pub(crate) fn place(&self, i: usize) -> usize {
        i / self.columns * self.pitch + i % self.columns
    }
}

/// One step with its tables.
#[derive(Debug)]
struct Step {
    recipe: StepRecipe,
    /// Length of what follows: the elements of a column lie `inner` apart.
    inner: usize,
    /// None for unit steps, whose entries are 0 and ±1.
    matrices: Option<Matrices>,
    /// Rotations after the step; empty after the last of several steps.
    rotations: Vec<Twiddle>,
    /// Entries per row of `rotations`.
    rotation_stride: usize,
    /// Mirrored columns of the first step change sign (when the next step's output is shifted by half a sample).
    mirror_negates: bool,
    /// Bits by which the outputs are shifted down.
    shift: u32,
}

/// Cosine and sine matrix, packed for the unit.
#[derive(Debug)]
struct Matrices {
    cosine: PackedMatrix,
    sine: PackedMatrix,
}

/// A planned line: steps and tables for one length.
#[derive(Debug)]
pub(crate) struct Block {
    n: usize,
    digits: Digits,
    family: Family,
    steps: Vec<Step>,
    input: Grid,
    output: Grid,
    /// First output index of every group of the last step, and whether the group is mirrored.
    groups: Vec<(usize, bool)>,
    /// An output is its wide integer times 2^(line exponent + this).
    exponent_offset: i32,
}

/// What may be known of all lines of a block, and spares work without changing a bit: see the two symmetries above.
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
        match found.words {
            Words::Complex => Symmetry::None,
            Words::Real => Symmetry::Real { half },
            Words::Hermitian => Symmetry::Hermitian,
        }
    }
}

/// Takes the outputs of a block as they are made.
pub(crate) trait Emit<const L: usize, V: Vectors<L>> {
    /// The output at a place of the block's output grid.
    fn emit(&mut self, place: usize, re: Wide<V::Words>, im: Wide<V::Words>);
}

/// Scratch memory for the columns of a step that are multiplied, and for those whose sums are being used.
pub(crate) struct BlockScratch<'a, const L: usize>([ColumnScratch<'a, L>; 2]);

/// Scratch memory for some columns.
struct ColumnScratch<'a, const L: usize> {
    /// Digits of the cosine inputs, then of the sine inputs.
    data: (&'a mut [HalfRow<L>], &'a mut [HalfRow<L>]),
    sums: (&'a mut [HalfRow<L>], &'a mut [HalfRow<L>]),
}

/// A column of a panel: `count` elements from `first` on, `step` apart.
#[derive(Clone, Copy)]
struct Column {
    first: usize,
    step: isize,
    conjugate: bool,
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

/// The four rounded values that two outputs with the same cosine and sine sums are made of.
struct Quad<X> {
    /// Cosine of the real part plus, and minus, sine of the imaginary part.
    re_sum: X,
    re_difference: X,
    /// Sine of the real part plus, and minus, cosine of the imaginary part.
    im_sum: X,
    im_difference: X,
}

/// Words or wide integers, with what a quad needs.
trait Number<const L: usize, V: Vectors<L>>: Copy {
    fn zero() -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn rounded(sum: Rounded<V::Halves>) -> Pair<Self>;
    #[inline(always)]
    fn negative(self) -> Self {
        Self::zero().minus(self)
    }
}

/// A word in registers.
struct Word<const L: usize, V: Vectors<L>>(V::Words);

impl<const L: usize, V: Vectors<L>> Clone for Word<L, V> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<const L: usize, V: Vectors<L>> Copy for Word<L, V> {}

impl<const L: usize, V: Vectors<L>> Number<L, V> for Word<L, V> {
    #[inline(always)]
    fn zero() -> Self {
        Word(V::splat(0))
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Word(V::add(self.0, other.0))
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Word(V::subtract(self.0, other.0))
    }
    #[inline(always)]
    fn rounded(sum: Rounded<V::Halves>) -> Pair<Self> {
        let (re, im) = sum.words::<L, V>();
        (Word(re), Word(im))
    }
    #[inline(always)]
    fn negative(self) -> Self {
        Word(negated::<L, V>(self.0))
    }
}

impl<const L: usize, V: Vectors<L>> Number<L, V> for Wide<V::Words> {
    #[inline(always)]
    fn zero() -> Self {
        Wide {
            high: V::splat(0),
            low: V::splat(0),
        }
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Wide::plus::<L, V>(self, other)
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Wide::minus::<L, V>(self, other)
    }
    #[inline(always)]
    fn rounded(sum: Rounded<V::Halves>) -> Pair<Self> {
        sum.wide::<L, V>()
    }
}

impl<X: Copy> Quad<X> {
    /// Output `k`: cosine minus i times sine.
    #[inline(always)]
    fn output<const L: usize, V: Vectors<L>>(&self) -> Pair<X>
    where
        X: Number<L, V>,
    {
        (self.re_sum, self.im_difference.negative())
    }

    /// Output `k` of the conjugated input.
    #[inline(always)]
    fn output_of_conjugate<const L: usize, V: Vectors<L>>(&self) -> Pair<X>
    where
        X: Number<L, V>,
    {
        (self.re_difference, self.im_sum.negative())
    }

    /// The output that shares its sums with `k`: `n-k`, or `n-1-k` after a frequency shift.
    #[inline(always)]
    fn partner<const L: usize, V: Vectors<L>>(&self, fold: Fold) -> Pair<X>
    where
        X: Number<L, V>,
    {
        match fold {
            Fold::TimeShifted => (self.re_difference.negative(), self.im_sum.negative()),
            _ => (self.re_difference, self.im_sum),
        }
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
    fn new(
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
        Step {
            recipe,
            inner,
            matrices: tables.matrices(&recipe, digits).map(|matrices| Matrices {
                cosine: PackedMatrix::new(unit, &matrices.cosine, digits),
                sine: PackedMatrix::new(unit, &matrices.sine, digits),
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
    fn run<const L: usize, U: MatrixUnit<L>, X: Number<L, U::Vectors>>(
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
        for part in 0..parts {
            multiply(0, part, current);
        }
        // While the sums of some columns are used, the next ones are multiplied, a part at a time: the matrix unit and
        // the vector units work side by side.
        for first in (0..count).step_by(U::COLUMNS) {
            let columns = U::COLUMNS.min(count - first);
            let following = first + U::COLUMNS;
            let mut rest = 0;
            if following < count {
                prepare(points, following, next);
                rest = parts;
            }
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
        }
    }

    /// [`Step::run`] for a unit step: the elements of a column are read before `post` is called for it.
    #[inline(always)]
    fn run_unit<const L: usize, V: Vectors<L>, X: Number<L, V>>(
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
    fn run_words<const L: usize, U: MatrixUnit<L>>(
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

type Words2<const L: usize, U> = Pair<<<U as MatrixUnit<L>>::Vectors as Vectors<L>>::Words>;

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
fn store<const L: usize, V: Vectors<L>>(point: &mut Point<L>, (re, im): Pair<V::Words>) {
    V::store(re, &mut point[0]);
    V::store(im, &mut point[1]);
}

impl Block {
    /// Tables for a recipe. Outputs are scaled by `scale`, a factor in (1/2, 1].
    pub(crate) fn new(recipe: &BlockRecipe, scale: &Fixed, setting: Setting<'_>) -> Block {
        let n = recipe.len();
        let count = recipe.steps.len();
        // A product comes out 127/128 times too large or small; the first rotation makes up for all steps.
        let compensation = Fixed::ratio(128, 127);
        let scale = recipe
            .steps
            .iter()
            .filter(|step| step.fold != Fold::Unit)
            .fold(scale.clone(), |scale, _| scale.multiply(&compensation));
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
        Block {
            n,
            digits: setting.digits,
            family: setting.family,
            input: if count == 1 {
                Grid::new(1, n)
            } else {
                Grid::new(n / columns, columns)
            },
            output: if count == 1 {
                Grid::new(1, n)
            } else {
                Grid::new(last, n / last)
            },
            steps,
            groups,
            exponent_offset: shifts as i32,
        }
    }

    pub(crate) fn len(&self) -> usize {
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

    pub(crate) fn exponent_offset(&self) -> i32 {
        self.exponent_offset
    }

    /// How the line is to be quantised.
    pub(crate) fn columns(&self) -> Columns {
        Columns {
            columns: self.steps[0].inner,
            word_bits: self.digits.word_bits(),
        }
    }

    /// Most rows of digits, and of sums, that a column of any step has.
    fn largest_rows(&self) -> (usize, usize) {
        let matrices = || {
            let steps = self.steps.iter().filter_map(|step| step.matrices.as_ref());
            steps.flat_map(|m| [&m.cosine, &m.sine])
        };
        (
            matrices().map(PackedMatrix::data_rows).max().unwrap_or(0),
            matrices().map(PackedMatrix::sum_rows).max().unwrap_or(0),
        )
    }

    /// 64-bit words of scratch memory for `columns` columns at once.
    pub(crate) fn scratch_len<const L: usize>(&self, columns: usize) -> usize {
        let (data, sums) = self.largest_rows();
        4 * words_for::<HalfRow<L>>(columns * data) + 4 * words_for::<HalfRow<L>>(columns * sums)
    }

    /// Cuts the scratch memory off a workspace.
    pub(crate) fn scratch<'a, const L: usize>(
        &self,
        columns: usize,
        workspace: &mut &'a mut [u64],
    ) -> BlockScratch<'a, L> {
        let (data, sums) = self.largest_rows();
        BlockScratch(std::array::from_fn(|_| ColumnScratch {
            data: (
                take(workspace, columns * data),
                take(workspace, columns * data),
            ),
            sums: (
                take(workspace, columns * sums),
                take(workspace, columns * sums),
            ),
        }))
    }

    /// Transforms the words of `L` lines; the outputs are wide integers. The words are used up.
    pub(crate) fn run<const L: usize, U: MatrixUnit<L>, E: Emit<L, U::Vectors>>(
        &self,
        unit: U,
        symmetry: Symmetry,
        points: &mut [Point<L>],
        emit: &mut E,
        scratch: &mut BlockScratch<'_, L>,
    ) {
        let last = self.steps.len() - 1;
        for number in 0..=last {
            let (points, scratch) = (&mut *points, &mut *scratch);
            let stage = StepTask {
                block: self,
                unit,
                symmetry,
                points,
                scratch,
            };
            match number {
                0 if last == 0 => unit.enter(OnlyStep(stage, emit)),
                0 => unit.enter(FirstStep(stage)),
                _ if number == last => unit.enter(LastStep(stage, emit)),
                _ => unit.enter(MiddleStep(stage, &self.steps[number])),
            }
        }
    }

    #[inline(always)]
    fn only_step<const L: usize, U: MatrixUnit<L>, E: Emit<L, U::Vectors>>(
        &self,
        unit: U,
        points: &mut [Point<L>],
        emit: &mut E,
        scratch: &mut BlockScratch<'_, L>,
    ) {
        let (step, n) = (&self.steps[0], self.n);
        let turn = inlined(
            #[inline(always)]
            |(re, im): Pair<Word<L, U::Vectors>>, k: usize| {
                let (re, im) = match step.rotations.get(k) {
                    None => (re.0, im.0),
                    Some(rotation) => rotation.rotate_row::<L, U::Vectors>((re.0, im.0)),
                };
                (
                    Wide::from_words::<L, U::Vectors>(re),
                    Wide::from_words::<L, U::Vectors>(im),
                )
            },
        );
        let column = |_| Column {
            first: 0,
            step: 1,
            conjugate: false,
        };
        let setting = (self.digits, self.family);
        step.run_words(
            unit,
            setting,
            1,
            points,
            scratch,
            column,
            #[inline(always)]
            |_, _, k, quad| {
                let (re, im) = turn(quad.output(), k);
                emit.emit(k, re, im);
                if k > 0 && 2 * k < n {
                    let (re, im) = turn(quad.output_of_conjugate(), k);
                    emit.emit(n - k, re, im.negated::<L, U::Vectors>());
                }
            },
        );
    }

    #[inline(always)]
    fn first_step<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        symmetry: Symmetry,
        points: &mut [Point<L>],
        scratch: &mut BlockScratch<'_, L>,
    ) {
        let step = &self.steps[0];
        let (n, inner, pitch) = (step.recipe.n, step.inner, self.input.pitch);
        let column = |j: usize| {
            let mirrored = 2 * j > inner;
            Column {
                first: if mirrored { (n - 1) * pitch + j } else { j },
                step: if mirrored {
                    -(pitch as isize)
                } else {
                    pitch as isize
                },
                conjugate: mirrored,
            }
        };
        let setting = (self.digits, self.family);
        // Mirrored columns of Hermitian lines have the words of their counterparts, mirrored rows of real ones too.
        let hermitian = symmetry == Symmetry::Hermitian;
        let real = matches!(symmetry, Symmetry::Real { .. });
        step.run_words(
            unit,
            setting,
            if hermitian { inner / 2 + 1 } else { inner },
            points,
            scratch,
            column,
            #[inline(always)]
            |points, j, k, quad| {
                let mirrored = 2 * j > inner;
                let source = if mirrored { inner - j } else { j };
                let rotation = &step.rotations[k * step.rotation_stride + source];
                let turn = inlined(
                    #[inline(always)]
                    |(re, im): Pair<Word<L, U::Vectors>>| {
                        rotation.rotate_row::<L, U::Vectors>((re.0, im.0))
                    },
                );
                let mirror = inlined(
                    #[inline(always)]
                    |(re, im): Words2<L, U>| {
                        if step.mirror_negates {
                            (negated::<L, U::Vectors>(re), im)
                        } else {
                            (re, negated::<L, U::Vectors>(im))
                        }
                    },
                );
                let put = inlined(
                    #[inline(always)]
                    |points: &mut [Point<L>], row: usize, turned: Words2<L, U>| {
                        let own = if mirrored { mirror(turned) } else { turned };
                        store::<L, U::Vectors>(&mut points[row * pitch + j], own);
                        if hermitian && j > 0 && 2 * j < inner {
                            let point = &mut points[row * pitch + inner - j];
                            store::<L, U::Vectors>(point, mirror(turned));
                        }
                    },
                );
                put(points, k, turn(quad.output()));
                if k > 0 && 2 * k < n && !real {
                    put(points, n - k, turn(quad.output_of_conjugate()));
                }
            },
        );
    }

    /// Rows that the steps after the first work on: of a real line's, the mirrored ones need not be there.
    fn rows(&self, symmetry: Symmetry) -> usize {
        match symmetry {
            Symmetry::Real { .. } => self.input.rows / 2 + 1,
            _ => self.input.rows,
        }
    }

    #[inline(always)]
    fn middle_step<const L: usize, U: MatrixUnit<L>>(
        &self,
        step: &Step,
        unit: U,
        symmetry: Symmetry,
        points: &mut [Point<L>],
        scratch: &mut BlockScratch<'_, L>,
    ) {
        let (n, inner) = (step.recipe.n, step.inner);
        let first = |i: usize| self.input.place(i / inner * n * inner) + i % inner;
        let column = |i: usize| Column {
            first: first(i),
            step: inner as isize,
            conjugate: false,
        };
        let setting = (self.digits, self.family);
        step.run_words(
            unit,
            setting,
            self.rows(symmetry) * (self.input.columns / n),
            points,
            scratch,
            column,
            #[inline(always)]
            |points, i, k, quad| {
                let turn = inlined(
                    #[inline(always)]
                    |(re, im): Pair<Word<L, U::Vectors>>, k: usize| {
                        step.rotations[k * inner + i % inner]
                            .rotate_row::<L, U::Vectors>((re.0, im.0))
                    },
                );
                let first = first(i);
                store::<L, U::Vectors>(&mut points[first + k * inner], turn(quad.output(), k));
                if k > 0 && 2 * k < n {
                    let partner = turn(quad.partner(step.recipe.fold), n - k);
                    store::<L, U::Vectors>(&mut points[first + (n - k) * inner], partner);
                }
            },
        );
    }

    #[inline(always)]
    fn last_step<const L: usize, U: MatrixUnit<L>, E: Emit<L, U::Vectors>>(
        &self,
        unit: U,
        symmetry: Symmetry,
        points: &mut [Point<L>],
        emit: &mut E,
        scratch: &mut BlockScratch<'_, L>,
    ) {
        let step = &self.steps[self.steps.len() - 1];
        let n = step.recipe.n;
        let shifted = step.recipe.fold == Fold::FrequencyShifted;
        let Grid { columns, pitch, .. } = self.output;
        let (real, half) = match symmetry {
            Symmetry::Real { half } => (true, half),
            _ => (false, false),
        };
        let per_row = self.groups.len() / self.input.rows;
        let mut post = inlined(
            #[inline(always)]
            |group: usize, k: usize, quad: Quad<Wide<_>>| {
                let (start, mirrored) = self.groups[group];
                let row = group / per_row;
                let stands_for_two = real && row > 0 && 2 * row < self.input.rows;
                let mut put = inlined(
                    #[inline(always)]
                    |k: usize, (re, im): Pair<Wide<_>>| {
                        // Of the two outputs that a real line's group stands for, one may not be wanted.
                        let beyond = half && 2 * (start + columns * k) > self.n;
                        if !mirrored && !(stands_for_two && beyond) {
                            emit.emit(k * pitch + start, re, im);
                        }
                        if mirrored || (stands_for_two && (beyond || !half)) {
                            // Output N - (start + columns·k).
                            let place = (n - 1 - k) * pitch + columns - start;
                            emit.emit(place, re, im.negated::<L, U::Vectors>());
                        }
                    },
                );
                put(k, quad.output::<L, U::Vectors>());
                if shifted {
                    put(n - 1 - k, quad.partner::<L, U::Vectors>(step.recipe.fold));
                } else if k > 0 && 2 * k < n {
                    put(n - k, quad.partner::<L, U::Vectors>(step.recipe.fold));
                }
            },
        );
        let column = |group: usize| Column {
            first: self.input.place(group * n),
            step: 1,
            conjugate: false,
        };
        let (count, setting) = (self.rows(symmetry) * per_row, (self.digits, self.family));
        if step.matrices.is_some() {
            step.run(
                unit,
                setting,
                count,
                points,
                scratch,
                column,
                #[inline(always)]
                |_, i, k, quad| post(i, k, quad),
            );
        } else {
            step.run_unit::<L, U::Vectors, Wide<_>>(
                count,
                points,
                column,
                #[inline(always)]
                |words| Wide::from_words::<L, U::Vectors>(words),
                #[inline(always)]
                |_, i, k, quad| post(i, k, quad),
            );
        }
    }
}

/// What every step works on. Each step is a task of its own, so that it is compiled once for a unit.
struct StepTask<'a, 'b, const L: usize, U> {
    block: &'a Block,
    unit: U,
    symmetry: Symmetry,
    points: &'a mut [Point<L>],
    scratch: &'a mut BlockScratch<'b, L>,
}

struct OnlyStep<'a, 'b, const L: usize, U, E>(StepTask<'a, 'b, L, U>, &'a mut E);
struct FirstStep<'a, 'b, const L: usize, U>(StepTask<'a, 'b, L, U>);
struct MiddleStep<'a, 'b, const L: usize, U>(StepTask<'a, 'b, L, U>, &'a Step);
struct LastStep<'a, 'b, const L: usize, U, E>(StepTask<'a, 'b, L, U>, &'a mut E);

impl<const L: usize, U: MatrixUnit<L>, E: Emit<L, U::Vectors>> Task for OnlyStep<'_, '_, L, U, E> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let OnlyStep(task, emit) = self;
        task.block
            .only_step(task.unit, task.points, emit, task.scratch);
    }
}

impl<const L: usize, U: MatrixUnit<L>> Task for FirstStep<'_, '_, L, U> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let task = self.0;
        task.block
            .first_step(task.unit, task.symmetry, task.points, task.scratch);
    }
}

impl<const L: usize, U: MatrixUnit<L>> Task for MiddleStep<'_, '_, L, U> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let MiddleStep(task, step) = self;
        task.block
            .middle_step(step, task.unit, task.symmetry, task.points, task.scratch);
    }
}

impl<const L: usize, U: MatrixUnit<L>, E: Emit<L, U::Vectors>> Task for LastStep<'_, '_, L, U, E> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let LastStep(task, emit) = self;
        task.block
            .last_step(task.unit, task.symmetry, task.points, emit, task.scratch);
    }
}
