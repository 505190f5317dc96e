//! Products row by row, whose sums never leave the registers: for units that multiply 16-bit integers by vectors.
//!
//! The sums of one output, a row of the cosine and one of the sine matrix, are six or eight registers. They are rounded where they
//! are, instead of being stored for all rows and read again. The digits of a column are spread to 16 bits once, and folded
//! (`folded_rows.rs`) where the matrix allows it; rows that are multiplied alone are always full, so that the shortest steps gain, too.

use super::folded_rows::{FoldedRows, Partners};
use super::{Halves, MatrixUnit, VectorHalves};
use crate::recipe::Digits;
use crate::simd::{HalfRow, Vectors};
use crate::stages::digits::DigitMatrix;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Pairs of diagonals of the recipes that are multiplied so: those of words of five to eight digits.
pub(crate) const ROW_PAIRS: RangeInclusive<usize> = 3..=4;

/// The most of them.
pub(crate) const MOST_PAIRS: usize = *ROW_PAIRS.end();

/// Terms of a recipe of so many pairs: pairs of digits, and pairs of diagonals that they meet.
pub(super) const fn row_terms(pairs: usize) -> usize {
    pairs * (pairs + 1) / 2
}

/// The digits of a word of all lines, in pairs of 16 bits, the least significant first.
pub(crate) type SpreadWord<const L: usize> = [HalfRow<L>; MOST_PAIRS];

/// All pairs of a row, in registers; those that the recipe does not have are zero. However many there are, what follows is the same code.
pub(crate) type RowPairs<const L: usize, U> = [VectorHalves<L, U>; MOST_PAIRS];

/// A matrix for products row by row.
#[derive(Debug)]
#[cfg_attr(not(vector_unit), allow(dead_code))]
pub(crate) struct RegisterRows {
    slots: usize,
    /// Pairs of diagonals of the recipe.
    pairs: usize,
    symmetry: RowSymmetry,
    /// What is multiplied for every row, or for every two partners.
    parts: Vec<Part>,
    /// For every place of each part: two matrix digits each for the two data digits of every term.
    entries: Vec<i32>,
}

/// What saves half of the products.
#[derive(Debug)]
enum RowSymmetry {
    None,
    /// The digits of slots `j` and `slots - 1 - j` are replaced by sums and differences, each at its place.
    Slots,
    /// Rows `k` and `rows - 1 - k` are sum and difference of two parts: one of the slots that come first here, one of the others.
    Rows(Vec<usize>),
}

/// Some places of a column and what they are multiplied by.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    first_place: usize,
    first_entry: usize,
    count: usize,
    /// What the bias of the digits takes, by pair of diagonals.
    offsets: [i32; MOST_PAIRS],
}

impl RegisterRows {
    /// The matrix for a truncated recipe of so many pairs.
    #[cfg_attr(not(vector_unit), allow(dead_code))]
    pub(super) fn new(matrix: &Arc<DigitMatrix>, digits: Digits) -> Option<RegisterRows> {
        let pairs = digits.pairs();
        if digits.diagonals != digits.data || !ROW_PAIRS.contains(&pairs) {
            return None;
        }
        let terms = row_terms(pairs);
        let packed = FoldedRows::<1>::new(matrix, digits);
        let entries: Vec<i32> = packed
            .entries
            .iter()
            .map(|&[entry]| bytemuck::cast(entry))
            .collect();
        let offsets: Vec<i32> = packed.offsets.iter().map(|&[offset]| offset).collect();
        let places = [packed.places(0), packed.places(1)];
        let counts = places.map(<[u8]>::len);
        let rows_of_parts = |rows: usize| match packed.groups[0].partners {
            Partners::None { .. } => rows,
            Partners::Rows(_) => 2 * rows.div_ceil(2),
        };
        let mut rows = RegisterRows {
            slots: matrix.slots,
            pairs,
            symmetry: match (&packed.groups[0].partners, packed.is_mirrored()) {
                (Partners::Rows(_), _) => {
                    let order = places.into_iter().flatten();
                    RowSymmetry::Rows(order.map(|&slot| usize::from(slot)).collect())
                }
                (_, true) => RowSymmetry::Slots,
                (_, false) => RowSymmetry::None,
            },
            parts: vec![Part::default(); rows_of_parts(matrix.rows)],
            entries,
        };
        let (mut first_entry, mut number) = (0, 0);
        let mut put = |part: usize, source: usize| {
            rows.parts[part] = Part {
                first_place: source * counts[0],
                first_entry,
                count: counts[source],
                offsets: std::array::from_fn(|q| match q < pairs {
                    true => offsets[number * pairs + q],
                    false => 0,
                }),
            };
            (first_entry, number) = (first_entry + counts[source] * terms, number + 1);
        };
        for group in &packed.groups {
            let [Some(row)] = group.rows else {
                unreachable!("a group of one row has it");
            };
            let row = usize::from(row);
            match group.partners {
                Partners::None { source } => put(row, source),
                Partners::Rows(_) => {
                    put(2 * row, 0);
                    put(2 * row + 1, 1);
                }
            }
        }
        Some(rows)
    }

    /// Whether rows come in pairs ([`RegisterRows::partners`]), not alone ([`RegisterRows::row`]).
    pub(crate) fn has_partners(&self) -> bool {
        matches!(self.symmetry, RowSymmetry::Rows(_))
    }

    /// Spreads the digits of a column: `word` gives those of a slot, lower and upper halves.
    #[inline(always)]
    pub(crate) fn spread<const L: usize, U: MatrixUnit<L>>(
        &self,
        word: impl Fn(usize) -> Halves<L, U>,
        column: &mut [SpreadWord<L>],
    ) {
        let column = &mut column[..self.slots];
        match &self.symmetry {
            RowSymmetry::None => {
                for (slot, place) in column.iter_mut().enumerate() {
                    U::spread(word(slot), place);
                }
            }
            RowSymmetry::Slots => {
                let (first, second) = column.split_at_mut(self.slots / 2);
                let pairs = first.iter_mut().zip(second.iter_mut().rev());
                for (slot, (sums, differences)) in pairs.enumerate() {
                    let words = (word(slot), word(self.slots - 1 - slot));
                    U::spread_folded(words, sums, differences);
                }
            }
            RowSymmetry::Rows(order) => {
                for (&slot, place) in order.iter().zip(column) {
                    U::spread(word(slot), place);
                }
            }
        }
    }

    #[inline(always)]
    fn part<const L: usize, U: MatrixUnit<L>>(
        &self,
        number: usize,
        column: &[SpreadWord<L>],
    ) -> RowPairs<L, U> {
        let part = &self.parts[number];
        let entries = &self.entries[part.first_entry..][..part.count * row_terms(self.pairs)];
        let column = &column[part.first_place..][..part.count];
        match self.pairs {
            3 => U::row_pairs::<3>(&part.offsets, entries, column),
            _ => U::row_pairs::<4>(&part.offsets, entries, column),
        }
    }

    /// The sums of a row that is alone.
    #[inline(always)]
    pub(crate) fn row<const L: usize, U: MatrixUnit<L>>(
        &self,
        row: usize,
        column: &[SpreadWord<L>],
    ) -> RowPairs<L, U> {
        debug_assert!(!self.has_partners());
        self.part::<L, U>(row, column)
    }

    /// The sums of a row of the first half and of its partner, counted from the end.
    // Loops by number are unrolled where iterators over arrays of registers are not.
    #[allow(clippy::needless_range_loop)]
    #[inline(always)]
    pub(crate) fn partners<const L: usize, U: MatrixUnit<L>>(
        &self,
        row: usize,
        column: &[SpreadWord<L>],
    ) -> (RowPairs<L, U>, RowPairs<L, U>) {
        debug_assert!(self.has_partners());
        let mut plus = self.part::<L, U>(2 * row, column);
        let mut minus = self.part::<L, U>(2 * row + 1, column);
        for q in 0..MOST_PAIRS {
            let (a, b) = (plus[q], minus[q]);
            plus[q] = U::Vectors::add_halves(a, b);
            minus[q] = U::Vectors::subtract_halves(a, b);
        }
        (plus, minus)
    }

    /// Half rows of digits and of sums of one column, where all of its sums are stored.
    #[cfg_attr(not(vector_unit), allow(dead_code))]
    pub(super) fn memory(&self, rows: usize) -> (usize, usize) {
        (MOST_PAIRS * self.slots, self.pairs * rows)
    }

    /// Products of 16 bits, an instruction for every two digits, for one column.
    #[cfg_attr(not(vector_unit), allow(dead_code))]
    pub(super) fn products(&self) -> usize {
        self.entries.len()
    }
}
