//! Matrices for products in groups of rows, of which symmetries save half.
//!
//! A sum of diagonals is linear in the *digits* of its column, not only in the words: where a row has the same entry at the slots
//! `j` and `slots - 1 - j`, one product with the sum of both digits serves both, and the difference where entries are opposite.
//! In a step whose input is shifted, every row of both matrices is of one kind or the other (`cos(πk - x) = (-1)^k cos x`); where
//! the output is shifted, rows `k` and `rows - 1 - k` differ by signs that go by slot, so that they are sum and difference of two sums.
//!
//! What a data digit meets is an entry without its last digits, and leaving those off does not commute with the sign of every number:
//! for a remainder just below -1/2 it does not. So entries are compared as they are multiplied, and a matrix with one such entry (those
//! of ±1/2 are) is not folded.

use super::paired_digits::{entry_terms, terms};
use crate::recipe::Digits;
use crate::stages::digits::DigitMatrix;
use bytemuck::{Pod, Zeroable};
use std::sync::Arc;

/// Rows of a matrix that are multiplied side by side.
pub(super) const ROWS: usize = 4;

/// Pairs of neighbouring digits: all of one word, or of an entry for every row.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(16))]
pub(super) struct DigitPairs(pub(super) [[i16; 2]; 4]);

/// The digits of the words of a column, the least significant first, real and imaginary parts.
pub(super) type Column = [[DigitPairs; 2]];

/// Sums of every row.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(16))]
pub(super) struct RowSums(pub(super) [i32; ROWS]);

/// The two columns that rows are multiplied by.
#[derive(Debug)]
pub(super) enum Sources {
    /// The column as it is, and nothing.
    Whole,
    /// Sums of the digits of slots `j` and `slots - 1 - j`, and differences.
    Mirrored,
    /// The digits of these slots, and those of all others.
    Divided([Vec<u8>; 2]),
}

impl Sources {
    /// Slots of a source of a matrix with so many.
    fn len(&self, source: usize, slots: usize) -> usize {
        match self {
            Sources::Whole => [slots, 0][source],
            Sources::Mirrored => slots / 2,
            Sources::Divided(own) => own[source].len(),
        }
    }

    /// The slot of the matrix whose entries meet number `number` of a source.
    fn slot(&self, source: usize, number: usize) -> usize {
        match self {
            Sources::Whole | Sources::Mirrored => number,
            Sources::Divided(own) => usize::from(own[source][number]),
        }
    }

    /// What the bias of 128 of every digit becomes.
    fn bias(&self, source: usize) -> i32 {
        match self {
            Sources::Whole | Sources::Divided(_) => 128,
            Sources::Mirrored => [256, 0][source],
        }
    }
}

/// Rows of a matrix that are multiplied side by side.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) rows: [Option<u8>; ROWS],
    pub(super) partners: Partners,
}

/// What else is made of the sums of a group.
#[derive(Debug)]
pub(super) enum Partners {
    /// Nothing: the rows are the sums with one source.
    None { source: usize },
    /// The rows are the sums with both sources together, these rows the differences.
    Rows([Option<u8>; ROWS]),
}

/// A matrix as the portable unit multiplies by it.
#[derive(Debug)]
pub(crate) struct FoldedRows {
    digits: Arc<DigitMatrix>,
    pub(super) sources: Sources,
    pub(super) groups: Vec<Group>,
    /// For every group, each of its sources and every slot of that: the entries of all terms. A term is a pair of digits, the least
    /// significant first, and a pair of diagonals that they meet.
    pub(super) entries: Vec<DigitPairs>,
    /// For every group and each of its sources: what the bias of the digits takes, by pair of diagonals.
    pub(super) offsets: Vec<RowSums>,
}

/// The signs of a symmetry: true where entries are equal, false where they are opposite, none where they are neither.
fn signs(
    count: usize,
    pairs: impl Fn(usize) -> Vec<(usize, usize)>,
    values: &[Vec<i128>],
) -> Option<Vec<bool>> {
    let sign = |number: usize| {
        let pairs = pairs(number);
        let all = |same: fn(i128, i128) -> bool| {
            pairs.iter().all(|&(a, b)| {
                let mut terms = values[a].iter().zip(&values[b]);
                terms.all(|(&a, &b)| same(a, b))
            })
        };
        match (all(|a, b| a == b), all(|a, b| a == -b)) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    };
    (0..count).map(sign).collect()
}

/// Numbers whose sign is this one.
fn with_sign(signs: &[bool], sign: bool) -> Vec<usize> {
    (0..signs.len()).filter(|&i| signs[i] == sign).collect()
}

impl FoldedRows {
    pub(super) fn new(matrix: &Arc<DigitMatrix>, digits: Digits) -> FoldedRows {
        let (rows, slots) = (matrix.rows, matrix.slots);
        let all_terms = terms(digits);
        let entries: Vec<Vec<i16>> = (0..rows * slots)
            .map(|i| entry_terms(matrix, digits, &all_terms, (i / slots, i % slots)))
            .collect();
        let (sources, groups) = fold((rows, slots), &values(&all_terms, &entries));
        let mut packed = FoldedRows {
            digits: Arc::clone(matrix),
            sources,
            groups,
            entries: Vec::new(),
            offsets: Vec::new(),
        };
        // Which of an entry's numbers a byte of the data meets in a pair of diagonals.
        let place = |byte: usize, pair: usize| {
            let digit = (digits.data as usize).checked_sub(byte + 1)?;
            let mut all = all_terms.iter();
            all.position(|&term| term == (digit as u32, pair))
        };
        let own_terms = paired_terms(digits);
        let own_terms = own_terms.iter().map(|&(word, pair)| {
            let places = [place(2 * word, pair), place(2 * word + 1, pair)];
            (places, pair)
        });
        for group in &packed.groups {
            let own_sources = match group.partners {
                Partners::None { source } => source..source + 1,
                Partners::Rows(_) => 0..2,
            };
            for source in own_sources {
                let bias = packed.sources.bias(source);
                let mut offsets = vec![RowSums([0; ROWS]); digits.pairs()];
                for number in 0..packed.sources.len(source, slots) {
                    let slot = packed.sources.slot(source, number);
                    for (places, pair) in own_terms.clone() {
                        let numbers = |row: Option<u8>| match row {
                            None => [0; 2],
                            Some(row) => {
                                let entry = &entries[usize::from(row) * slots + slot];
                                places.map(|place| place.map_or(0, |place| entry[place]))
                            }
                        };
                        let entry = group.rows.map(numbers);
                        if let Some(offsets) = offsets.get_mut(pair) {
                            for (offset, [a, b]) in offsets.0.iter_mut().zip(entry) {
                                let sum = i32::from(a) + i32::from(b);
                                *offset = offset.wrapping_sub(bias.wrapping_mul(sum));
                            }
                        }
                        packed.entries.push(DigitPairs(entry));
                    }
                }
                packed.offsets.extend(offsets);
            }
        }
        packed
    }

    /// The digits themselves.
    pub(super) fn digits(&self) -> &DigitMatrix {
        &self.digits
    }
}

/// Pairs of digits and pairs of diagonals that are multiplied: those of truncated products, or all there can be.
fn paired_terms(digits: Digits) -> Vec<(usize, usize)> {
    let truncated = digits.diagonals == digits.data;
    let (words, pairs) = if truncated {
        (digits.pairs(), digits.pairs())
    } else {
        (4, 7)
    };
    (0..words)
        .flat_map(|word| (0..pairs).map(move |pair| (word, pair)))
        .filter(|&(word, pair)| !truncated || pair <= word)
        .collect()
}

/// What every data digit meets, as one integer, for every entry.
fn values(terms: &[(u32, usize)], entries: &[Vec<i16>]) -> Vec<Vec<i128>> {
    let value = |entry: &Vec<i16>| {
        let mut values = vec![0i128; 8];
        for (&(digit, pair), &part) in terms.iter().zip(entry) {
            values[digit as usize] += i128::from(part) << (16 * pair);
        }
        values
    };
    entries.iter().map(value).collect()
}

/// The sources and groups that take the fewest products.
fn fold((rows, slots): (usize, usize), values: &[Vec<i128>]) -> (Sources, Vec<Group>) {
    let lanes = |rows: &[usize]| std::array::from_fn(|lane| rows.get(lane).map(|&row| row as u8));
    let one_source = |rows: &[usize], source: usize| -> Vec<Group> {
        let groups = rows.chunks(ROWS).map(|rows| Group {
            rows: lanes(rows),
            partners: Partners::None { source },
        });
        groups.collect()
    };
    let all_rows: Vec<usize> = (0..rows).collect();
    let mut choices = vec![(Sources::Whole, one_source(&all_rows, 0))];
    // Slots j and slots - 1 - j of every row.
    let mirrored_slots = |row: usize| {
        let halves = (0..slots / 2).map(|j| (row * slots + j, (row + 1) * slots - 1 - j));
        halves.collect()
    };
    if slots.is_multiple_of(2)
        && let Some(signs) = signs(rows, mirrored_slots, values)
    {
        let mut groups = one_source(&with_sign(&signs, true), 0);
        groups.extend(one_source(&with_sign(&signs, false), 1));
        choices.push((Sources::Mirrored, groups));
    }
    // Rows k and rows - 1 - k at every slot.
    let upper: Vec<usize> = (0..rows.div_ceil(2)).collect();
    let mirrored_rows = |slot: usize| {
        let rows = upper.iter().map(|&k| (k, rows - 1 - k));
        rows.map(|(a, b)| (a * slots + slot, b * slots + slot))
            .collect()
    };
    if let Some(signs) = signs(slots, mirrored_rows, values) {
        let own = |sign: bool| with_sign(&signs, sign).iter().map(|&i| i as u8).collect();
        let groups = upper.chunks(ROWS).map(|own| {
            // The middle row of an odd number is its own partner.
            let partner = |row: usize| Some(rows - 1 - row).filter(|&partner| partner != row);
            let partners = |lane: usize| own.get(lane).and_then(|&row| partner(row));
            Group {
                rows: lanes(own),
                partners: Partners::Rows(std::array::from_fn(|lane| {
                    partners(lane).map(|row| row as u8)
                })),
            }
        });
        choices.push((Sources::Divided([own(true), own(false)]), groups.collect()));
    }
    let cost = |(sources, groups): &(Sources, Vec<Group>)| -> usize {
        let slots_of = |group: &Group| match group.partners {
            Partners::None { source } => sources.len(source, slots),
            Partners::Rows(_) => slots,
        };
        groups.iter().map(slots_of).sum()
    };
    let best = choices.into_iter().min_by_key(cost);
    best.unwrap_or_else(|| unreachable!("the matrix as it is can always be multiplied by"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::{Fold, StepRecipe};
    use crate::stages::step_matrices::MatrixTables;

    // Of 24 points, the sine matrix has ±1/2 where the symmetry changes a sign; groups that are not full save nothing.
    #[test]
    fn symmetries_of_both_folds_halve_the_products_of_powers_of_two() {
        let tables = MatrixTables::default();
        for (n, expected) in [(8, [4, 4]), (16, [8, 8]), (32, [32, 32]), (24, [24, 36])] {
            for fold in [Fold::TimeShifted, Fold::FrequencyShifted] {
                let recipe = StepRecipe { n, fold, shift: 0 };
                let matrices = tables.get(&recipe, Digits::DOUBLE);
                let matrices = matrices.expect("a step with matrices");
                let products = [&matrices.cosine, &matrices.sine].map(|matrix| {
                    let packed = FoldedRows::new(matrix, Digits::DOUBLE);
                    packed.entries.len() / paired_terms(Digits::DOUBLE).len()
                });
                assert_eq!(products, expected, "{n} points, {fold:?}");
            }
        }
    }
}
