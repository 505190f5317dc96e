//! Matrices for products in groups of rows, of which symmetries save half.
//!
//! A sum of diagonals is linear in the *digits* of its column, not only in the words: where a row has the same entry at the slots
//! `j` and `slots - 1 - j`, one product with the sum of both digits serves both, and the difference where entries are opposite.
//! In a step whose input is shifted, every row of both matrices is of one kind or the other (`cos(πk - x) = (-1)^k cos x`); where
//! the output is shifted, rows `k` and `rows - 1 - k` differ by signs that go by slot, so that they are sum and difference of two sums.
//!
//! What a data digit meets is an entry without its last digits, and leaving those off does not commute with the sign of every number:
//! for a remainder just below -1/2 it does not. So entries are compared as they are multiplied, and a matrix with one such entry where
//! a sign changes (±1/2 is one) is not folded.

use super::paired_digits::{entry_terms, terms};
use crate::recipe::Digits;
use crate::stages::digits::DigitMatrix;
use std::sync::Arc;

/// The rows in the lanes of a group; none where it is not full.
pub(super) type GroupRows<const R: usize> = [Option<u8>; R];

/// Rows of a matrix that are multiplied side by side.
#[derive(Debug)]
pub(super) struct Group<const R: usize> {
    pub(super) rows: GroupRows<R>,
    pub(super) partners: Partners<R>,
}

/// What else is made of the sums of a group.
#[derive(Debug)]
pub(super) enum Partners<const R: usize> {
    /// Nothing: the rows are the sums with one source.
    None { source: usize },
    /// The rows are the sums with both sources together, these rows the differences.
    Rows(GroupRows<R>),
}

/// The two parts of a column that rows are multiplied by.
#[derive(Debug)]
struct Sources {
    mirrored: bool,
    places: [Vec<u8>; 2],
}

/// A matrix for products of `R` rows at a time. Data are pairs of neighbouring digits of a word, the least significant first.
#[derive(Debug)]
pub(crate) struct FoldedRows<const R: usize> {
    digits: Arc<DigitMatrix>,
    sources: Sources,
    pub(super) groups: Vec<Group<R>>,
    /// For every group, each of its sources and every place of that: the entries of all terms. A term is a pair of digits and a pair of
    /// diagonals that they meet.
    pub(super) entries: Vec<[[i16; 2]; R]>,
    /// For every group and each of its sources: what the bias of the digits takes, by pair of diagonals.
    pub(super) offsets: Vec<[i32; R]>,
}

impl<const R: usize> FoldedRows<R> {
    pub(super) fn new(matrix: &Arc<DigitMatrix>, digits: Digits) -> FoldedRows<R> {
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
        let number = |byte: usize, pair: usize| {
            let digit = (digits.data as usize).checked_sub(byte + 1)?;
            let mut all = all_terms.iter();
            all.position(|&term| term == (digit as u32, pair))
        };
        let numbers = |(word, pair): (usize, usize)| {
            let both = [number(2 * word, pair), number(2 * word + 1, pair)];
            (both, pair)
        };
        let own_terms: Vec<_> = paired_terms(digits).into_iter().map(numbers).collect();
        for group in &packed.groups {
            let own_sources = match group.partners {
                Partners::None { source } => source..source + 1,
                Partners::Rows(_) => 0..2,
            };
            for source in own_sources {
                // What the bias of 128 of every digit becomes in sums and differences.
                let bias = match packed.sources.mirrored {
                    true => [256, 0][source],
                    false => 128,
                };
                let mut offsets = vec![[0; R]; digits.pairs()];
                for &place in &packed.sources.places[source] {
                    let slot = match usize::from(place) {
                        place if packed.sources.mirrored => place.min(slots - 1 - place),
                        place => place,
                    };
                    for &(numbers, pair) in &own_terms {
                        let pair_of = |row: Option<u8>| match row {
                            None => [0; 2],
                            Some(row) => {
                                let entry = &entries[usize::from(row) * slots + slot];
                                numbers.map(|number| number.map_or(0, |number| entry[number]))
                            }
                        };
                        let entry = group.rows.map(pair_of);
                        if let Some(offsets) = offsets.get_mut(pair) {
                            for (offset, [a, b]) in offsets.iter_mut().zip(entry) {
                                *offset -= bias * (i32::from(a) + i32::from(b));
                            }
                        }
                        packed.entries.push(entry);
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

    /// Whether the digits of slots `j` and `slots - 1 - j` are replaced by sums and differences, each at its place.
    #[inline]
    pub(super) fn is_mirrored(&self) -> bool {
        self.sources.mirrored
    }

    /// The places of the column that make up a source.
    #[inline]
    pub(super) fn places(&self, source: usize) -> &[u8] {
        &self.sources.places[source]
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

/// The signs of a symmetry, by row or by slot: true where both entries of all pairs are equal, false where they are opposite. None if
/// some are neither.
fn signs(
    count: usize,
    pairs: impl Fn(usize) -> Vec<(usize, usize)>,
    values: &[Vec<i128>],
) -> Option<Vec<bool>> {
    let sign = |number: usize| {
        let pairs = pairs(number);
        let all = |same: fn(i128, i128) -> bool| {
            pairs.iter().all(|&(a, b)| {
                let mut digits = values[a].iter().zip(&values[b]);
                digits.all(|(&a, &b)| same(a, b))
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

/// The numbers of a sign.
fn with_sign(signs: &[bool], sign: bool) -> Vec<u8> {
    let numbers = (0..signs.len()).filter(|&i| signs[i] == sign);
    numbers.map(|i| i as u8).collect()
}

/// Rows in groups that are multiplied by one source.
fn one_source<const R: usize>(rows: &[u8], source: usize) -> impl Iterator<Item = Group<R>> {
    rows.chunks(R).map(move |rows| Group {
        rows: std::array::from_fn(|lane| rows.get(lane).copied()),
        partners: Partners::None { source },
    })
}

/// The sources and groups that take the fewest products.
fn fold<const R: usize>(
    (rows, slots): (usize, usize),
    values: &[Vec<i128>],
) -> (Sources, Vec<Group<R>>) {
    let all_rows: Vec<u8> = (0..rows as u8).collect();
    let all_slots: Vec<u8> = (0..slots as u8).collect();
    let whole = Sources {
        mirrored: false,
        places: [all_slots.clone(), Vec::new()],
    };
    let mut choices = vec![(whole, one_source(&all_rows, 0).collect())];
    // Slots j and slots - 1 - j of every row.
    let mirrored_slots = |row: usize| {
        let halves = (0..slots / 2).map(|j| (row * slots + j, (row + 1) * slots - 1 - j));
        halves.collect()
    };
    if slots.is_multiple_of(2)
        && let Some(signs) = signs(rows, mirrored_slots, values)
    {
        let (sums, differences) = all_slots.split_at(slots / 2);
        let sources = Sources {
            mirrored: true,
            places: [sums.to_vec(), differences.to_vec()],
        };
        let (equal, opposite) = (with_sign(&signs, true), with_sign(&signs, false));
        let groups = one_source(&equal, 0).chain(one_source(&opposite, 1));
        choices.push((sources, groups.collect()));
    }
    // Rows k and rows - 1 - k at every slot.
    let upper = &all_rows[..rows.div_ceil(2)];
    let mirrored_rows = |slot: usize| {
        let rows = (0..upper.len()).map(|k| (k, rows - 1 - k));
        rows.map(|(a, b)| (a * slots + slot, b * slots + slot))
            .collect()
    };
    if let Some(signs) = signs(slots, mirrored_rows, values) {
        let groups = upper.chunks(R).map(|own| {
            // The middle row of an odd number is its own partner.
            let partner = |row: u8| Some(rows as u8 - 1 - row).filter(|&partner| partner != row);
            let partners = |lane: usize| own.get(lane).and_then(|&row| partner(row));
            Group {
                rows: std::array::from_fn(|lane| own.get(lane).copied()),
                partners: Partners::Rows(std::array::from_fn(partners)),
            }
        });
        let sources = Sources {
            mirrored: false,
            places: [with_sign(&signs, true), with_sign(&signs, false)],
        };
        choices.push((sources, groups.collect()));
    }
    let cost = |(sources, groups): &(Sources, Vec<Group<R>>)| -> usize {
        let places = |group: &Group<R>| match group.partners {
            Partners::None { source } => sources.places[source].len(),
            Partners::Rows(_) => slots,
        };
        groups.iter().map(places).sum()
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
                    let packed = FoldedRows::<4>::new(matrix, Digits::DOUBLE);
                    packed.entries.len() / paired_terms(Digits::DOUBLE).len()
                });
                assert_eq!(products, expected, "{n} points, {fold:?}");
            }
        }
    }
}
