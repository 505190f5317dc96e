//! The accumulators of the paper's Table 2: the same slices in words of 32, 16 and 8 bits, with counted operations.
//!
//! All are `kulisch::bounded::Bounded`, so that nothing differs but the word and the bits that it carries. (`kulisch32` is quicker: it adds
//! slices up by a method of its own.) A word takes up carries in the bits that are left: with few of them carries are resolved more often.

use super::paper;
use super::substrate::Substrate;
use kulisch::bounded::{Bounded, BoundedError, Counted, Word};
use residues::COLUMNS;
use residues::bytes::Sums;
use residues::reconstruct::Layout;
use serde::Serialize;

/// A word of an accumulator, and what it costs.
#[derive(Debug, Clone, Serialize)]
pub struct Words {
    pub substrate: Substrate,
    pub r: usize,
    /// Bits of a word, and those that it carries of the sum.
    pub word: u32,
    pub radix: u32,
    /// Bits that the sum needs, and words.
    pub accumulator_bits: u32,
    pub words: usize,
    /// Word operations of an output: deposits and carries.
    pub operations: f64,
    pub lanes: u32,
    /// Operations over lanes.
    pub cost: f64,
    /// The same of words of 32 bits over it.
    pub throughput: f64,
    /// What the paper prints.
    pub printed: f64,
}

/// All words for these slices.
pub fn count(
    (substrate, r): (Substrate, usize),
    layout: &Layout,
    slices: &[Sums],
) -> Result<Vec<Words>, BoundedError> {
    let position = |slice: usize| layout.slice_bits * slice as u32;
    let lengths = slices.iter().enumerate().flat_map(|(slice, sums)| {
        sums.map(|sum| position(slice) + 32 - sum.unsigned_abs().leading_zeros())
    });
    let bits = lengths.fold(layout.bits(), u32::max);
    let mut rows: Vec<Words> = Vec::new();
    for (word, radix) in [(32, 24), (16, 12), (16, 8), (8, 5), (8, 4)] {
        let Some((words, operations)) = counted(word, radix, bits, &|deposit| {
            for column in 0..COLUMNS {
                for (slice, sums) in slices.iter().enumerate() {
                    deposit(column, i64::from(sums[column]), position(slice))?;
                }
            }
            Ok(())
        })?
        else {
            continue;
        };
        let lanes = paper::VECTOR_BITS / word;
        let cost = operations / f64::from(lanes);
        let printed = paper::TABLE_2.iter().find(|row| row.0 == word);
        rows.push(Words {
            substrate,
            r,
            word,
            radix,
            accumulator_bits: bits,
            words,
            operations,
            lanes,
            cost,
            throughput: rows.first().map_or(cost, |first| first.cost) / cost,
            printed: printed.map_or(f64::NAN, |row| row.1),
        });
    }
    Ok(rows)
}

/// Adds a number at a bit position to a column's sum.
type Deposit<'a> = &'a mut dyn FnMut(usize, i64, u32) -> Result<(), BoundedError>;
/// Deposits everything.
type Fill<'a> = &'a dyn Fn(Deposit) -> Result<(), BoundedError>;

/// Operations of a column, carries resolved at the end.
fn run<W: Word, const WORDS: usize, const RADIX: u32>(fill: Fill) -> Result<f64, BoundedError> {
    let mut sums: [Bounded<W, WORDS, RADIX, Counted>; COLUMNS] =
        std::array::from_fn(|_| Bounded::new());
    fill(&mut |column, value, position| sums[column].deposit(value, position))?;
    let mut total = 0;
    for sum in &mut sums {
        sum.resolve();
        total += sum.tally().total();
    }
    Ok(total as f64 / COLUMNS as f64)
}

/// The fewest words that hold so many bits, and the operations of a column; nothing if there are more bits than in any of these.
fn counted(
    word: u32,
    radix: u32,
    bits: u32,
    fill: Fill,
) -> Result<Option<(usize, f64)>, BoundedError> {
    macro_rules! fewest {
        ($word:ty, $radix:literal: $($words:literal)*) => {{
            $(if $words * $radix >= bits {
                return run::<$word, $words, $radix>(fill).map(|count| Some(($words, count)));
            })*
            Ok(None)
        }};
    }
    match (word, radix) {
        (32, 24) => fewest!(i32, 24: 1 2 3 4 5 6 7 8 9 10),
        (16, 12) => fewest!(i16, 12: 2 4 5 6 7 8 9 10 11 12 13 14 15 16 18 20),
        (16, 8) => fewest!(i16, 8: 2 4 6 8 9 10 11 12 13 14 15 16 17 18 19 20 22 24 26 28 30),
        (8, 5) => fewest!(i8, 5: 4 8 12 14 15 16 17 18 19 20 21 22 23 24 25 26 28 30 32 36 40 48),
        (8, 4) => {
            fewest!(i8, 4: 4 8 12 16 18 19 20 21 22 23 24 25 26 27 28 30 32 33 34 36 38 40 44 48 60)
        }
        _ => Ok(None),
    }
}
