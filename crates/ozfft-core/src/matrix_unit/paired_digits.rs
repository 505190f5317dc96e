//! Matrix digits for multiplications of 16-bit integers whose products are added in pairs, as AVX2 and SSE2 have them.
//!
//! A data digit times *two* neighbouring matrix digits fits 8 bits times 16: one product for two, already summed to a pair of
//! diagonals. The two products that an instruction adds are of two digits of a word (`folded_rows.rs`) or of two slots
//! (`PairedDigits`). Data digits go in with their bias of 128 each; what that adds to a pair depends on the matrix only and is the
//! accumulator's initial value. Intermediate sums may wrap: the true value fits.

use crate::recipe::Digits;
use crate::stages::digits::DigitMatrix;

/// Whether a data digit meets a pair of diagonals at all, in a truncated recipe of `data` digits and diagonals.
pub(super) const fn meets(data: usize, digit: usize, pair: usize) -> bool {
    // The lower diagonal of the pair, counted from the last one.
    data > digit + 2 * pair
}

/// Data digits and pairs of diagonals that are multiplied: the truncated recipes' own, or all there can be.
pub(super) fn terms(digits: Digits) -> Vec<(u32, usize)> {
    let truncated = digits.diagonals == digits.data;
    let pairs = if truncated { digits.pairs() } else { 7 };
    let count = if truncated { digits.data } else { 8 };
    (0..count)
        .flat_map(|t| (0..pairs).map(move |pair| (t, pair)))
        .filter(|&(t, pair)| !truncated || meets(digits.data as usize, t as usize, pair))
        .collect()
}

/// An entry of a matrix as the 16-bit numbers of all terms.
pub(super) fn entry_terms(
    matrix: &DigitMatrix,
    digits: Digits,
    terms: &[(u32, usize)],
    (row, slot): (usize, usize),
) -> Vec<i16> {
    let planes = matrix.row(row, digits);
    let digit = |d: Option<usize>, t: u32| {
        d.filter(|_| t < digits.data)
            .and_then(|d| (d as u32).checked_sub(t))
            .filter(|&i| i < digits.matrix)
            .map_or(0, |i| {
                let plane = (digits.matrix - 1 - i) as usize;
                i32::from(planes[plane * matrix.slots + slot])
            })
    };
    // From the last pair upwards: what exceeds 16 bits is carried to the next one. The first never exceeds, because entries
    // are at most 127 in their leading digit.
    let mut carry = 0;
    let entries = terms.iter().map(|&(t, pair)| {
        if pair == 0 {
            assert_eq!(carry, 0, "a matrix entry exceeds its digits");
        }
        let (upper, lower) = if pair < digits.pairs() {
            digits.pair(pair)
        } else {
            (None, None)
        };
        let value = 256 * digit(upper, t) + digit(lower, t) + carry;
        let kept = value as i16;
        carry = (value - i32::from(kept)) >> 16;
        kept
    });
    let entries = entries.collect();
    assert_eq!(carry, 0, "a matrix entry exceeds its digits");
    entries
}

/// For each row and pair of slots: two 16-bit entries for every term.
#[cfg(vector_unit)]
#[derive(Debug)]
pub(super) struct PairedDigits {
    pub(super) entries: Vec<i32>,
    /// Correction for the bias of unsigned data digits, per pair.
    pub(super) offsets: Vec<i32>,
}

#[cfg(vector_unit)]
impl PairedDigits {
    pub(super) fn new(matrix: &DigitMatrix, digits: Digits) -> PairedDigits {
        let terms = terms(digits);
        let slot_pairs = matrix.slots.div_ceil(2);
        let mut packed = PairedDigits {
            entries: Vec::with_capacity(matrix.rows * slot_pairs * terms.len()),
            offsets: Vec::with_capacity(matrix.rows * digits.pairs()),
        };
        for row in 0..matrix.rows {
            let mut offsets = vec![0i32; digits.pairs()];
            for slot_pair in 0..slot_pairs {
                let halves = [2 * slot_pair, 2 * slot_pair + 1].map(|slot| {
                    if slot >= matrix.slots {
                        return vec![0; terms.len()];
                    }
                    let entries = entry_terms(matrix, digits, &terms, (row, slot));
                    for (&entry, &(_, pair)) in entries.iter().zip(&terms) {
                        if pair < digits.pairs() {
                            offsets[pair] = offsets[pair].wrapping_sub(128 * i32::from(entry));
                        }
                    }
                    entries
                });
                for (&even, &odd) in halves[0].iter().zip(&halves[1]) {
                    packed
                        .entries
                        .push(i32::from(odd) << 16 | (i32::from(even) & 0xffff));
                }
            }
            packed.offsets.extend(offsets);
        }
        packed
    }
}
