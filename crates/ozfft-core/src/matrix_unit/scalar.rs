//! Portable code: 16-bit products, of which two are added in each of four places, the rows of a matrix.
//!
//! This is the one instruction for small integers that every 64-bit x86 processor has (`pmaddwd` of SSE2); elsewhere the
//! compiler finds what there is. `paired_digits.rs` says what is multiplied, `folded_rows.rs` how half of it is saved. The two
//! products that are added are of neighbouring digits of one word, which need no rearranging.

use super::folded_rows::{FoldedRows, GroupRows, Partners};
use super::four_rows::{DigitPairs, ROWS, RowSums};
use super::{ListedUnit, MatrixUnit, PackedMatrix, unsigned_digits, wide_integer};
use crate::recipe::Digits;
use crate::simd::{HalfRow, Pair, Portable, Row};
use crate::stages::digits::DigitMatrix;
#[cfg(feature = "residues")]
use residues::bytes::{ByteProducts, Portable as PortableBytes};
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scalar;

impl ListedUnit for Scalar {
    type Packed = FoldedRows<ROWS>;
    type Transforming = Self;

    fn detect() -> Option<Self> {
        Some(Scalar)
    }

    fn transforming(self) -> Self {
        self
    }

    fn pack(matrix: &Arc<DigitMatrix>, digits: Digits) -> FoldedRows<ROWS> {
        FoldedRows::new(matrix, digits)
    }

    #[cfg(feature = "residues")]
    fn byte_products(self) -> Arc<dyn ByteProducts> {
        Arc::new(PortableBytes)
    }
}

/// Slots of the largest step.
const LARGEST_SLOTS: usize = 33;

const NO_DIGITS: [DigitPairs; 2] = [DigitPairs([[0; 2]; 4]); 2];

/// The digits of the words of a column, the least significant first, real and imaginary parts.
type Column = [[DigitPairs; 2]];

/// The digits of every word of a column, with their bias.
#[inline(always)]
fn unpack(data: &[HalfRow<1>], digits: Digits, column: &mut Column) {
    let unpacked = |word: u64| {
        let bytes = word.to_le_bytes().map(i16::from);
        DigitPairs(std::array::from_fn(|i| [bytes[2 * i], bytes[2 * i + 1]]))
    };
    let half = |row: &HalfRow<1>, part: usize| u64::from(row[0][part] as u32);
    let (first, second) = data.split_at(column.len());
    if digits.data > 4 {
        for ((column, upper), lower) in column.iter_mut().zip(first).zip(second) {
            for part in 0..2 {
                column[part] = unpacked(half(upper, part) << 32 | half(lower, part));
            }
        }
    } else {
        for (column, lower) in column.iter_mut().zip(first) {
            for part in 0..2 {
                column[part] = unpacked(half(lower, part));
            }
        }
    }
}

/// Replaces the digits of slots `j` and `slots - 1 - j` by sums and differences.
#[inline(always)]
fn mirror(column: &mut Column) {
    let (first, second) = column.split_at_mut(column.len() / 2);
    for (first, second) in first.iter_mut().zip(second.iter_mut().rev()) {
        for (first, second) in first.iter_mut().zip(second) {
            let (a, b) = (*first, *second);
            (*first, *second) = (a.plus(b), a.minus(b));
        }
    }
}

/// Sums of all pairs of diagonals of some rows, real and imaginary parts.
type PairSums<const PAIRS: usize> = [[RowSums; 2]; PAIRS];

/// One group of rows: the `TERMS` terms of a recipe with `WORDS` pairs of digits and `PAIRS` of diagonals.
#[inline(always)]
fn group_sums<const WORDS: usize, const PAIRS: usize, const TERMS: usize, const DENSE: bool>(
    entries: &[[[[i16; 2]; ROWS]; TERMS]],
    offsets: &[[i32; ROWS]],
    places: &[u8],
    data: &Column,
) -> PairSums<PAIRS> {
    let mut sums = [[RowSums([0; ROWS]); 2]; PAIRS];
    for (sums, &offset) in sums.iter_mut().zip(offsets) {
        *sums = [RowSums(offset); 2];
    }
    for (entries, &place) in entries.iter().zip(places) {
        let data = &data[usize::from(place)];
        let mut term = 0;
        for word in 0..WORDS {
            let digits = [
                DigitPairs([data[0].0[word]; ROWS]),
                DigitPairs([data[1].0[word]; ROWS]),
            ];
            for pair in 0..PAIRS {
                if DENSE || pair <= word {
                    for part in 0..2 {
                        let sum = &mut sums[pair][part];
                        *sum = sum.plus_products(digits[part], DigitPairs(entries[term]));
                    }
                    term += 1;
                }
            }
        }
    }
    sums
}

/// Stores the sums of some rows; those that a group has too many are dropped.
#[inline(always)]
fn store<const PAIRS: usize>(
    found: &PairSums<PAIRS>,
    rows: &GroupRows<ROWS>,
    pairs: usize,
    sums: &mut [HalfRow<1>],
) {
    for (pair, [re, im]) in found.iter().enumerate().take(pairs) {
        for (row, sum) in rows.iter().zip(re.by_row(*im)) {
            if let Some(row) = *row {
                sums[usize::from(row) * pairs + pair] = [sum];
            }
        }
    }
}

/// All rows of a matrix.
fn multiply<const WORDS: usize, const PAIRS: usize, const TERMS: usize, const DENSE: bool>(
    packed: &FoldedRows<ROWS>,
    digits: Digits,
    data: &[HalfRow<1>],
    sums: &mut [HalfRow<1>],
) {
    let slots = packed.digits().slots;
    let mut memory = [NO_DIGITS; LARGEST_SLOTS];
    let column = &mut memory[..slots];
    unpack(data, digits, column);
    if packed.is_mirrored() {
        mirror(column);
    }
    let column = &*column;
    // A constant where it can be one.
    let pairs = if DENSE { digits.pairs() } else { PAIRS };
    let (mut entries, _) = packed.entries.as_chunks::<TERMS>();
    let mut offsets = &packed.offsets[..];
    let mut next = |source: usize| {
        let places = packed.places(source);
        let (own, rest) = entries.split_at(places.len());
        entries = rest;
        let (own_offsets, rest) = offsets.split_at(pairs);
        offsets = rest;
        group_sums::<WORDS, PAIRS, TERMS, DENSE>(own, own_offsets, places, column)
    };
    for group in &packed.groups {
        match &group.partners {
            Partners::None { source } => store(&next(*source), &group.rows, pairs, sums),
            Partners::Rows(partners) => {
                let (a, b) = (next(0), next(1));
                let (mut plus, mut minus) = (a, b);
                for pair in 0..PAIRS {
                    for part in 0..2 {
                        let (a, b) = (a[pair][part], b[pair][part]);
                        (plus[pair][part], minus[pair][part]) = (a.plus(b), a.minus(b));
                    }
                }
                store(&plus, &group.rows, pairs, sums);
                store(&minus, partners, pairs, sums);
            }
        }
    }
}

impl MatrixUnit<1> for Scalar {
    type Vectors = Portable;
    const COLUMNS: usize = 1;
    type Session = ();

    #[inline(always)]
    fn session(self) {}

    #[inline(always)]
    fn encode(digits: Digits, words: Pair<Row<1>>) -> (HalfRow<1>, HalfRow<1>) {
        debug_assert!(
            [words.0[0], words.1[0]]
                .iter()
                .all(|x| digits.data == 8 || x.unsigned_abs() < 1 << (8 * digits.data - 1)),
            "the words {words:?} do not fit {} digits",
            digits.data
        );
        unsigned_digits::<1, Portable>(digits, words)
    }

    fn multiply(
        self,
        matrix: &PackedMatrix,
        digits: Digits,
        _columns: usize,
        _part: usize,
        data: &[HalfRow<1>],
        sums: &mut [HalfRow<1>],
    ) {
        let Some(packed) = matrix.packed.downcast_ref::<FoldedRows<ROWS>>() else {
            return wide_integer::multiply(matrix, digits, data, sums);
        };
        match digits.pairs() {
            _ if digits.diagonals > digits.data => {
                multiply::<4, 7, 28, true>(packed, digits, data, sums);
            }
            1 => multiply::<1, 1, 1, false>(packed, digits, data, sums),
            2 => multiply::<2, 2, 3, false>(packed, digits, data, sums),
            3 => multiply::<3, 3, 6, false>(packed, digits, data, sums),
            _ => multiply::<4, 4, 10, false>(packed, digits, data, sums),
        }
    }
}

/// The same with products in wide integers (`wide_integer.rs`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WideInteger;

impl ListedUnit for WideInteger {
    type Packed = Arc<DigitMatrix>;
    type Transforming = Scalar;

    fn detect() -> Option<Self> {
        Some(WideInteger)
    }

    fn transforming(self) -> Scalar {
        Scalar
    }

    fn pack(matrix: &Arc<DigitMatrix>, _: Digits) -> Arc<DigitMatrix> {
        Arc::clone(matrix)
    }

    #[cfg(feature = "residues")]
    fn byte_products(self) -> Arc<dyn ByteProducts> {
        Arc::new(PortableBytes)
    }
}

impl MatrixUnit<1> for WideInteger {
    type Vectors = Portable;
    const COLUMNS: usize = 1;
    type Session = ();

    #[inline(always)]
    fn session(self) {}

    #[inline(always)]
    fn encode(digits: Digits, words: Pair<Row<1>>) -> (HalfRow<1>, HalfRow<1>) {
        Scalar::encode(digits, words)
    }

    fn multiply(
        self,
        matrix: &PackedMatrix,
        digits: Digits,
        _columns: usize,
        _part: usize,
        data: &[HalfRow<1>],
        sums: &mut [HalfRow<1>],
    ) {
        wide_integer::multiply(matrix, digits, data, sums);
    }
}
