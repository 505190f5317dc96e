//! A step whose products are computed row by row: the sums of an output stay in registers (`matrix_unit/register_rows.rs`).

use crate::matrix_unit::MatrixUnit;
use crate::matrix_unit::register_rows::{MOST_PAIRS, RegisterRows, RowPairs, SpreadWord};
use crate::recipe::{Digits, Fold, StepRecipe};
use crate::simd::{HalfRow, Vectors, inlined};
use crate::stages::butterfly::{ConjugatePair, Value};
use crate::stages::reconstruct::UNIT_BITS;
use crate::transform::columns::{Column, ColumnScratch, rows};
use crate::transform::packed_elements::PackedElement;
use crate::transform::tables::Matrices;

/// A step whose matrices are multiplied so.
pub(super) struct StepRows<'a> {
    recipe: &'a StepRecipe,
    cosine: &'a RegisterRows,
    sine: &'a RegisterRows,
}

/// The pairs of diagonals of an output's cosine and sine sums.
pub(super) struct RowSums<const L: usize, U: MatrixUnit<L>>(RowPairs<L, U>, RowPairs<L, U>);

impl<const L: usize, U: MatrixUnit<L>> Clone for RowSums<L, U> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<const L: usize, U: MatrixUnit<L>> Copy for RowSums<L, U> {}

impl<const L: usize, U: MatrixUnit<L>> RowSums<L, U> {
    #[inline(always)]
    pub(super) fn zero() -> Self {
        let zero = [U::Vectors::splat_halves(0); MOST_PAIRS];
        RowSums(zero, zero)
    }

    /// The values of a recipe of so many pairs.
    #[inline(always)]
    pub(super) fn rounded<X: Value<L, U::Vectors>>(self, pairs: usize) -> ConjugatePair<X> {
        match pairs {
            3 => self.of_pairs::<X, 3>(),
            _ => self.of_pairs::<X, 4>(),
        }
    }

    #[inline(always)]
    fn of_pairs<X: Value<L, U::Vectors>, const P: usize>(self) -> ConjugatePair<X> {
        let rounded = inlined(
            #[inline(always)]
            |pairs: RowPairs<L, U>| {
                X::rounded::<P>(
                    #[inline(always)]
                    |q| pairs[q],
                    0,
                    UNIT_BITS,
                )
            },
        );
        ConjugatePair::new(rounded(self.0), rounded(self.1))
    }
}

/// The digits of a column's words.
#[inline(always)]
fn words<const L: usize>(data: &[HalfRow<L>]) -> &[SpreadWord<L>] {
    data.as_chunks().0
}

impl<'a> StepRows<'a> {
    /// Where the unit has both matrices for products row by row.
    #[inline(always)]
    pub(super) fn of<const L: usize, U: MatrixUnit<L>>(
        recipe: &'a StepRecipe,
        matrices: &'a Matrices,
    ) -> Option<Self> {
        let (cosine, sine) =
            U::register_rows(&matrices.cosine).zip(U::register_rows(&matrices.sine))?;
        // Output `k` has rows of that number in both matrices only where outputs are shifted.
        let alike = match recipe.fold {
            Fold::FrequencyShifted => cosine.has_partners() == sine.has_partners(),
            _ => !cosine.has_partners() && !sine.has_partners(),
        };
        alike.then_some(StepRows {
            recipe,
            cosine,
            sine,
        })
    }

    /// Folds a column and spreads its digits.
    #[inline(always)]
    pub(super) fn spread<const L: usize, U: MatrixUnit<L>, C: PackedElement<L, U>>(
        &self,
        digits: Digits,
        points: &[C],
        column: Column,
        scratch: &mut ColumnScratch<'_, L>,
    ) {
        let n = self.recipe.n;
        let elements = column.of(points, n);
        let get = inlined(
            #[inline(always)]
            |i: usize| elements.get::<L, U>(i),
        );
        let sines = column.of_sines().of(points, n);
        let get_sine = inlined(
            #[inline(always)]
            |i: usize| sines.get::<L, U>(i),
        );
        self.cosine.spread::<L, U>(
            #[inline(always)]
            |slot| {
                let word = match self.recipe.fold {
                    Fold::TimeShifted => get(slot).plus(get(n - 1 - slot)),
                    // Elements that are alone.
                    _ if slot == 0 || 2 * slot == n => get(slot),
                    Fold::FrequencyShifted => get(slot).minus(get(n - slot)),
                    Fold::Trivial | Fold::Plain => get(slot).plus(get(n - slot)),
                };
                C::encode(digits, word)
            },
            scratch.data.0.as_chunks_mut().0,
        );
        self.sine.spread::<L, U>(
            #[inline(always)]
            |slot| {
                let word = match self.recipe.fold {
                    Fold::TimeShifted => get_sine(slot).minus(get_sine(n - 1 - slot)),
                    Fold::FrequencyShifted if slot == 0 => get_sine(n / 2),
                    Fold::FrequencyShifted => get_sine(slot).plus(get_sine(n - slot)),
                    Fold::Trivial | Fold::Plain => get_sine(slot + 1).minus(get_sine(n - 1 - slot)),
                };
                C::encode(digits, word)
            },
            scratch.data.1.as_chunks_mut().0,
        );
    }

    /// What is next of the outputs of a column that has been spread: an output and its sums. Rows that are partners are multiplied together,
    /// and the sums of the other one wait in `partner` for the next turn.
    #[inline(always)]
    pub(super) fn sums<const L: usize, U: MatrixUnit<L>>(
        &self,
        (turn, last): (usize, usize),
        scratch: &ColumnScratch<'_, L>,
        partner: &mut RowSums<L, U>,
    ) -> (usize, RowSums<L, U>) {
        let StepRows {
            recipe,
            cosine,
            sine,
        } = self;
        let (cosine_words, sine_words) = (words(scratch.data.0), words(scratch.data.1));
        if cosine.has_partners() {
            if turn % 2 == 1 {
                return (last - turn / 2, *partner);
            }
            // Where rows have partners, the sums of output `k` are rows `k`.
            let k = turn / 2;
            let (own_cosine, other_cosine) = cosine.partners::<L, U>(k, cosine_words);
            let (own_sine, other_sine) = sine.partners::<L, U>(k, sine_words);
            *partner = RowSums(other_cosine, other_sine);
            return (k, RowSums(own_cosine, own_sine));
        }
        let sums = inlined(
            #[inline(always)]
            |rows: &RegisterRows, words: &[SpreadWord<L>], row: Option<usize>| match row {
                None => [U::Vectors::splat_halves(0); MOST_PAIRS],
                Some(row) => rows.row::<L, U>(row, words),
            },
        );
        let (cosine_row, sine_row) = rows(recipe, turn);
        let sums = RowSums(
            sums(cosine, cosine_words, cosine_row),
            sums(sine, sine_words, sine_row),
        );
        (turn, sums)
    }
}
