//! Portable code: 16-bit products, of which two are added in each of four places, the rows of a matrix.
//!
//! This is the one instruction for small integers that every 64-bit x86 processor has (`pmaddwd` of SSE2); elsewhere the
//! compiler finds what there is. `paired_digits.rs` says what is multiplied, `folded_rows.rs` how half of it is saved. The two
//! products that are added are of neighbouring digits of one word, which need no rearranging.

use super::folded_rows::{Column, DigitPairs, FoldedRows, Partners, ROWS, RowSums, Sources};
use super::{ListedUnit, MatrixUnit, PackedMatrix, unsigned_digits};
use crate::recipe::Digits;
use crate::simd::{HalfRow, Pair, Portable, Row};
use crate::stages::digits::DigitMatrix;
#[cfg(feature = "residues")]
use residues::bytes::{ByteProducts, Portable as PortableBytes};
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Scalar;

/// The product of every row's two numbers with the other two, added to its sum.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn multiply_add(sums: RowSums, a: DigitPairs, b: DigitPairs) -> RowSums {
    use std::arch::x86_64::{_mm_add_epi32, _mm_madd_epi16};
    // SAFETY: SSE2 belongs to the architecture.
    let sums = unsafe {
        let products = _mm_madd_epi16(bytemuck::cast(a), bytemuck::cast(b));
        _mm_add_epi32(bytemuck::cast(sums), products)
    };
    bytemuck::cast(sums)
}

/// The product of every row's two numbers with the other two, added to its sum.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn multiply_add(sums: RowSums, a: DigitPairs, b: DigitPairs) -> RowSums {
    RowSums(std::array::from_fn(|row| {
        let product = |digit: usize| i32::from(a.0[row][digit]) * i32::from(b.0[row][digit]);
        let sum = sums.0[row].wrapping_add(product(0));
        sum.wrapping_add(product(1))
    }))
}

impl ListedUnit for Scalar {
    type Packed = FoldedRows;

    fn detect() -> Option<Self> {
        Some(Scalar)
    }

    fn pack(matrix: &Arc<DigitMatrix>, digits: Digits) -> FoldedRows {
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

/// Sums and differences of the digits of slots `j` and `slots - 1 - j`.
#[inline(always)]
fn fold(column: &Column, sums: &mut Column, differences: &mut Column) {
    let pairs = column.iter().zip(column.iter().rev());
    for (((a, b), sum), difference) in pairs.zip(sums).zip(differences) {
        for part in 0..2 {
            for i in 0..4 {
                for digit in 0..2 {
                    let (a, b) = (a[part].0[i][digit], b[part].0[i][digit]);
                    sum[part].0[i][digit] = a.wrapping_add(b);
                    difference[part].0[i][digit] = a.wrapping_sub(b);
                }
            }
        }
    }
}

/// Sums of all pairs of diagonals of some rows, real and imaginary parts.
type PairSums<const PAIRS: usize> = [[RowSums; 2]; PAIRS];

/// One group of rows: the `TERMS` terms of a recipe with `WORDS` pairs of digits and `PAIRS` of diagonals.
#[inline(always)]
fn group_sums<const WORDS: usize, const PAIRS: usize, const TERMS: usize, const DENSE: bool>(
    entries: &[[DigitPairs; TERMS]],
    offsets: &[RowSums],
    data: &Column,
) -> PairSums<PAIRS> {
    let mut sums = [[RowSums([0; ROWS]); 2]; PAIRS];
    for (sums, &offset) in sums.iter_mut().zip(offsets) {
        *sums = [offset; 2];
    }
    for (entries, data) in entries.iter().zip(data) {
        let mut term = 0;
        for word in 0..WORDS {
            let digits = [0, 1].map(|part| DigitPairs([data[part].0[word]; ROWS]));
            for pair in 0..PAIRS {
                if DENSE || pair <= word {
                    for part in 0..2 {
                        let sum = &mut sums[pair][part];
                        *sum = multiply_add(*sum, digits[part], entries[term]);
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
    rows: &[Option<u8>; ROWS],
    pairs: usize,
    sums: &mut [HalfRow<1>],
) {
    for (lane, row) in rows.iter().enumerate() {
        if let Some(row) = *row {
            let sums = &mut sums[usize::from(row) * pairs..][..pairs];
            for (sum, found) in sums.iter_mut().zip(found) {
                *sum = [[found[0].0[lane], found[1].0[lane]]];
            }
        }
    }
}

/// All rows of a matrix.
fn multiply<const WORDS: usize, const PAIRS: usize, const TERMS: usize, const DENSE: bool>(
    packed: &FoldedRows,
    digits: Digits,
    data: &[HalfRow<1>],
    sums: &mut [HalfRow<1>],
) {
    let slots = packed.digits().slots;
    let mut memory = [[NO_DIGITS; LARGEST_SLOTS]; 2];
    let [column, folded] = &mut memory;
    let column = &mut column[..slots];
    unpack(data, digits, column);
    let column = &*column;
    let sources: [&Column; 2] = match &packed.sources {
        Sources::Whole => [column, &[]],
        Sources::Mirrored => {
            let (sums, differences) = folded[..slots].split_at_mut(slots / 2);
            fold(column, sums, differences);
            [sums, differences]
        }
        Sources::Divided(slots) => {
            for (digits, &slot) in folded.iter_mut().zip(slots.iter().flatten()) {
                *digits = column[usize::from(slot)];
            }
            let (first, second) = folded.split_at(slots[0].len());
            [first, &second[..slots[1].len()]]
        }
    };
    let pairs = digits.pairs();
    let (mut entries, _) = packed.entries.as_chunks::<TERMS>();
    let mut offsets = &packed.offsets[..];
    let mut next = |source: usize| {
        let data = sources[source];
        let (own, rest) = entries.split_at(data.len());
        entries = rest;
        let (own_offsets, rest) = offsets.split_at(pairs);
        offsets = rest;
        group_sums::<WORDS, PAIRS, TERMS, DENSE>(own, own_offsets, data)
    };
    for group in &packed.groups {
        match &group.partners {
            Partners::None { source } => store(&next(*source), &group.rows, pairs, sums),
            Partners::Rows(partners) => {
                let (mut plus, mut minus) = (next(0), next(1));
                for (plus, minus) in plus.iter_mut().flatten().zip(minus.iter_mut().flatten()) {
                    for (plus, minus) in plus.0.iter_mut().zip(&mut minus.0) {
                        let (a, b) = (*plus, *minus);
                        (*plus, *minus) = (a.wrapping_add(b), a.wrapping_sub(b));
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
        let packed = matrix.packed::<FoldedRows>();
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
