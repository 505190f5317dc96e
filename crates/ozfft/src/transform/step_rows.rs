//! A step whose products are computed row by row: the sums of an output stay in registers (`matrix_unit/register_rows.rs`).

// As in `step.rs`.
#![allow(clippy::too_many_arguments)]

use crate::matrix_unit::MatrixUnit;
use crate::matrix_unit::register_rows::{ROW_PAIRS, RegisterRows, RowPairs, SpreadWord};
use crate::recipe::{Digits, Fold};
use crate::simd::inlined;
use crate::stages::butterfly::{ConjugatePair, Value};
use crate::stages::reconstruct::UNIT_BITS;
use crate::transform::packed_elements::PackedElement;
use crate::transform::step::{BlockScratch, Column, ColumnScratch, Step, rows};

impl Step {
    /// [`Step::run`] with the sums of one output at a time, which stay in registers.
    #[inline(always)]
    pub(super) fn run_rows<
        const L: usize,
        U: MatrixUnit<L>,
        C: PackedElement<L, U>,
        X: Value<L, U::Vectors>,
    >(
        &self,
        (cosine, sine): (&RegisterRows, &RegisterRows),
        digits: Digits,
        count: usize,
        points: &mut [C],
        scratch: &mut BlockScratch<'_, L>,
        column: impl Fn(usize) -> Column,
        mut post: impl FnMut(&mut [C], usize, usize, ConjugatePair<X>),
    ) {
        let n = self.recipe.n;
        let ColumnScratch { data, .. } = &mut scratch.0[0];
        let (cosine_digits, _) = data.0.as_chunks_mut::<ROW_PAIRS>();
        let (sine_digits, _) = data.1.as_chunks_mut::<ROW_PAIRS>();
        let last = match self.recipe.fold {
            Fold::FrequencyShifted => n / 2 - 1,
            _ => n / 2,
        };
        for i in 0..count {
            let elements = column(i).of(points, n);
            let get = inlined(
                #[inline(always)]
                |i: usize| elements.get::<L, U>(i),
            );
            cosine.spread::<L, U>(
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
                cosine_digits,
            );
            sine.spread::<L, U>(
                #[inline(always)]
                |slot| {
                    let word = match self.recipe.fold {
                        Fold::TimeShifted => get(slot).minus(get(n - 1 - slot)),
                        Fold::FrequencyShifted if slot == 0 => get(n / 2),
                        Fold::FrequencyShifted => get(slot).plus(get(n - slot)),
                        Fold::Trivial | Fold::Plain => get(slot + 1).minus(get(n - 1 - slot)),
                    };
                    C::encode(digits, word)
                },
                sine_digits,
            );
            let rounded = inlined(
                #[inline(always)]
                |pairs: RowPairs<L, U>| {
                    X::rounded::<ROW_PAIRS>(
                        #[inline(always)]
                        |q| pairs[q],
                        0,
                        UNIT_BITS,
                    )
                },
            );
            if cosine.has_partners() {
                // Where rows have partners, the sums of output `k` are rows `k`.
                for k in 0..(last + 1).div_ceil(2) {
                    let (own_cosine, other_cosine) = cosine.partners::<L, U>(k, cosine_digits);
                    let (own_sine, other_sine) = sine.partners::<L, U>(k, sine_digits);
                    let pair = ConjugatePair::new(rounded(own_cosine), rounded(own_sine));
                    post(points, i, k, pair);
                    if last - k > k {
                        let pair = ConjugatePair::new(rounded(other_cosine), rounded(other_sine));
                        post(points, i, last - k, pair);
                    }
                }
                continue;
            }
            for k in 0..=last {
                let (cosine_row, sine_row) = rows(&self.recipe, k);
                let sums = inlined(
                    #[inline(always)]
                    |rows: &RegisterRows, digits: &[SpreadWord<L>], row: Option<usize>| match row {
                        None => X::zero(),
                        Some(row) => rounded(rows.row::<L, U>(row, digits)),
                    },
                );
                let pair = ConjugatePair::new(
                    sums(cosine, cosine_digits, cosine_row),
                    sums(sine, sine_digits, sine_row),
                );
                post(points, i, k, pair);
            }
        }
    }
}
