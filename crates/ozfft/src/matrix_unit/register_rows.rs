//! Products row by row, whose sums never leave the registers: for units that multiply 16-bit integers by vectors.
//!
//! The sums of one output, a row of the cosine and one of the sine matrix, are at most eight registers. They are rounded where they
//! are, instead of being stored for all rows and read again. The digits of a column are spread to 16 bits once, and folded
//! (`folded_rows.rs`) where the matrix allows it; rows that are multiplied alone are always full, so that the shortest steps gain, too.
//!
//! Words of five digits have one that is alone in its pair. Two neighbouring places share a pair for those: nine products for two places where
//! each on its own would take six.

use super::folded_rows::{FoldedRows, Partners};
use super::{Halves, MatrixUnit, VectorHalves};
use crate::recipe::Digits;
use crate::simd::{HalfRow, Vectors, inlined};
use crate::stages::digits::DigitMatrix;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Pairs of diagonals of the recipes that are multiplied so: those of words of five to eight digits. Of three and four digits, sums in registers
/// gained little on AVX-512 (1.04 and 0.90 of the time), and every number of pairs is compiled into every step.
pub(crate) const ROW_PAIRS: RangeInclusive<usize> = 3..=4;

/// The most of them.
pub(super) const MOST_PAIRS: usize = *ROW_PAIRS.end();

/// Terms of a recipe of so many pairs: pairs of digits, and pairs of diagonals that they meet.
pub(super) const fn row_terms(pairs: usize) -> usize {
    pairs * (pairs + 1) / 2
}

/// The digits of a word of all lines, in pairs of 16 bits, the least significant first.
pub(crate) type SpreadWord<const L: usize, const P: usize> = [HalfRow<L>; P];

/// All pairs of a row, in registers.
pub(crate) type RowPairs<const L: usize, U, const P: usize> = [VectorHalves<L, U>; P];

/// A matrix for products row by row.
#[derive(Debug)]
#[cfg_attr(not(vector_unit), allow(dead_code))]
pub(crate) struct RegisterRows {
    slots: usize,
    /// Pairs of diagonals of the recipe.
    pairs: usize,
    /// Whether two places of a part share a pair for their leading digits.
    shares: bool,
    symmetry: RowSymmetry,
    /// What is multiplied for every row, or for every two partners.
    parts: Vec<Part>,
    /// For every place of each part and every term: two matrix digits each for its two data digits. Where places share a pair: the other terms
    /// of the first, those of the second, those of the leading digits of both; a last place that has no other is as usual.
    entries: Vec<i32>,
}

/// What saves half of the products.
#[derive(Debug)]
enum RowSymmetry {
    None,
    /// The digits of slots `j` and `slots - 1 - j` are replaced by their sums, at place `j`, and their differences, at place `slots / 2 + j`.
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

/// The entries of some places in the order in which they are multiplied.
#[cfg_attr(not(vector_unit), allow(dead_code))]
fn put_entries(places: &[&[i32]], pairs: usize, shares: bool, entries: &mut Vec<i32>) {
    if !shares {
        entries.extend(places.iter().copied().flatten());
        return;
    }
    let (couples, last) = places.as_chunks::<2>();
    for couple in couples {
        let [a, b] = couple.map(|place| place.split_at(row_terms(pairs - 1)));
        entries.extend(a.0);
        entries.extend(b.0);
        for (&a, &b) in a.1.iter().zip(b.1) {
            // The digit that is missing meets nothing.
            debug_assert!(a >> 16 == 0 && b >> 16 == 0);
            entries.push(a & 0xffff | b << 16);
        }
    }
    entries.extend(last.iter().copied().flatten());
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
        // Words of seven digits, which few recipes have, are multiplied as those of eight are.
        let shares = pairs < MOST_PAIRS && !digits.data.is_multiple_of(2);
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
            shares,
            symmetry: match (&packed.groups[0].partners, packed.is_mirrored()) {
                (Partners::Rows(_), _) => {
                    let order = places.into_iter().flatten();
                    RowSymmetry::Rows(order.map(|&slot| usize::from(slot)).collect())
                }
                (_, true) => RowSymmetry::Slots,
                (_, false) => RowSymmetry::None,
            },
            parts: vec![Part::default(); rows_of_parts(matrix.rows)],
            entries: Vec::with_capacity(entries.len()),
        };
        let (mut rest, mut number) = (&entries[..], 0);
        let mut put = |part: usize, source: usize| {
            let own_offsets = &offsets[number * pairs..][..pairs];
            let (own, others) = rest.split_at(counts[source] * terms);
            let mut places: Vec<&[i32]> = own.chunks_exact(terms).collect();
            if source == 1 && matches!(rows.symmetry, RowSymmetry::Slots) {
                // Differences lie in the order of their sums.
                places.reverse();
            }
            rows.parts[part] = Part {
                first_place: source * counts[0],
                first_entry: rows.entries.len(),
                count: counts[source],
                offsets: std::array::from_fn(|q| own_offsets.get(q).copied().unwrap_or(0)),
            };
            put_entries(&places, pairs, shares, &mut rows.entries);
            (rest, number) = (others, number + 1);
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
    // Loops by number are unrolled where iterators over arrays of registers are not.
    #[allow(clippy::needless_range_loop)]
    #[inline(always)]
    pub(crate) fn spread<const L: usize, U: MatrixUnit<L>, const P: usize>(
        &self,
        word: impl Fn(usize) -> Halves<L, U>,
        column: &mut [SpreadWord<L, P>],
    ) {
        debug_assert_eq!(self.pairs, P);
        let put = inlined(
            #[inline(always)]
            |digits: RowPairs<L, U, P>, place: &mut SpreadWord<L, P>| {
                for q in 0..P {
                    U::Vectors::store_halves(digits[q], &mut place[q]);
                }
            },
        );
        let column = &mut column[..self.slots];
        let word = inlined(
            #[inline(always)]
            |slot: usize| U::spread::<P>(word(slot)),
        );
        // By reference: with arrays that were given away and changed, optimised code of rustc 1.95 had the changed one in the second use too.
        let fold = inlined(
            #[inline(always)]
            |a: &RowPairs<L, U, P>, b: &RowPairs<L, U, P>| {
                let (mut sums, mut differences) = (*a, *a);
                for q in 0..P {
                    sums[q] = U::add_digits(a[q], b[q]);
                    differences[q] = U::subtract_digits(a[q], b[q]);
                }
                (sums, differences)
            },
        );
        // Leading digits that are alone are below 2^16, and so what is above them is free.
        let share = inlined(
            #[inline(always)]
            |a: &mut RowPairs<L, U, P>, b: &RowPairs<L, U, P>| {
                let upper = U::Vectors::shift_halves_left(b[P - 1], 16);
                a[P - 1] = U::Vectors::or_halves(a[P - 1], upper);
            },
        );
        let shares = const { P < MOST_PAIRS } && self.shares;
        match &self.symmetry {
            RowSymmetry::Slots => {
                let half = self.slots / 2;
                let (sums, differences) = column.split_at_mut(half);
                let mut done = 0;
                if shares {
                    let (sums, _) = sums.as_chunks_mut::<2>();
                    let (differences, _) = differences.as_chunks_mut::<2>();
                    for (sums, differences) in sums.iter_mut().zip(differences) {
                        let (mut a, b) = (word(done), word(done + 1));
                        let last = self.slots - 1 - done;
                        let (mut c, d) = (word(last), word(last - 1));
                        share(&mut a, &b);
                        share(&mut c, &d);
                        let (first, second) = (fold(&a, &c), fold(&b, &d));
                        put(first.0, &mut sums[0]);
                        put(first.1, &mut differences[0]);
                        put(second.0, &mut sums[1]);
                        put(second.1, &mut differences[1]);
                        done += 2;
                    }
                }
                for slot in done..half {
                    let (a, b) = (word(slot), word(self.slots - 1 - slot));
                    let (sum, difference) = fold(&a, &b);
                    put(sum, &mut sums[slot]);
                    put(difference, &mut differences[slot]);
                }
            }
            RowSymmetry::None | RowSymmetry::Rows(_) => {
                let word = inlined(
                    #[inline(always)]
                    |place: usize| match &self.symmetry {
                        RowSymmetry::Rows(order) => word(order[place]),
                        _ => word(place),
                    },
                );
                let first = self.parts[0].count;
                for (start, end) in [(0, first), (first, self.slots)] {
                    let mut done = start;
                    if shares {
                        let (couples, _) = column[start..end].as_chunks_mut::<2>();
                        for couple in couples {
                            let (mut a, b) = (word(done), word(done + 1));
                            share(&mut a, &b);
                            put(a, &mut couple[0]);
                            put(b, &mut couple[1]);
                            done += 2;
                        }
                    }
                    for place in done..end {
                        put(word(place), &mut column[place]);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn part<const L: usize, U: MatrixUnit<L>, const P: usize>(
        &self,
        number: usize,
        column: &[SpreadWord<L, P>],
    ) -> RowPairs<L, U, P> {
        let part = &self.parts[number];
        let column = &column[part.first_place..][..part.count];
        let entries = &self.entries[part.first_entry..];
        let terms = part.count * const { row_terms(P) };
        if const { P < MOST_PAIRS } && self.shares {
            // A pair that two places share takes as many products as one of them.
            let entries = &entries[..terms - part.count / 2 * P];
            return U::row_pairs_shared(&part.offsets, entries, column);
        }
        U::row_pairs(&part.offsets, &entries[..terms], column)
    }

    /// The sums of a row that is alone.
    #[inline(always)]
    pub(crate) fn row<const L: usize, U: MatrixUnit<L>, const P: usize>(
        &self,
        row: usize,
        column: &[SpreadWord<L, P>],
    ) -> RowPairs<L, U, P> {
        debug_assert!(!self.has_partners());
        self.part::<L, U, P>(row, column)
    }

    /// The sums of a row of the first half and of its partner, counted from the end.
    // Loops by number are unrolled where iterators over arrays of registers are not.
    #[allow(clippy::needless_range_loop)]
    #[inline(always)]
    pub(crate) fn partners<const L: usize, U: MatrixUnit<L>, const P: usize>(
        &self,
        row: usize,
        column: &[SpreadWord<L, P>],
    ) -> (RowPairs<L, U, P>, RowPairs<L, U, P>) {
        debug_assert!(self.has_partners());
        let mut plus = self.part::<L, U, P>(2 * row, column);
        let mut minus = self.part::<L, U, P>(2 * row + 1, column);
        for q in 0..P {
            let (a, b) = (plus[q], minus[q]);
            plus[q] = U::Vectors::add_halves(a, b);
            minus[q] = U::Vectors::subtract_halves(a, b);
        }
        (plus, minus)
    }

    /// Half rows of digits and of sums of one column, where all of its sums are stored.
    #[cfg_attr(not(vector_unit), allow(dead_code))]
    pub(super) fn memory(&self, rows: usize) -> (usize, usize) {
        (self.pairs * self.slots, self.pairs * rows)
    }

    /// Products of 16 bits, an instruction for every two digits, for one column.
    #[cfg_attr(not(vector_unit), allow(dead_code))]
    pub(super) fn products(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Two places of five digits in nine products, not twelve; the third, which is alone, in six.
    #[test]
    fn leading_digits_of_two_places_share_their_products() {
        let places: [&[i32]; 3] = [
            &[1, 2, 3, 4, 5, 6],
            &[11, 12, 13, 14, 0xfff0, 16],
            &[21, 22, 23, 24, 25, 26],
        ];
        let mut entries = Vec::new();
        put_entries(&places, 3, true, &mut entries);
        let shared = [4 | 14 << 16, 5 | -16 << 16, 6 | 16 << 16];
        let right = [&[1, 2, 3, 11, 12, 13], &shared[..], places[2]].concat();
        assert_eq!(entries, right);
        entries.clear();
        put_entries(&places, 3, false, &mut entries);
        assert_eq!(entries, places.concat());
    }
}
