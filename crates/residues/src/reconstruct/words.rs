//! Integers of all columns in 32-bit words.

use crate::COLUMNS;
use ethnum::I256;

/// Words of the longest integer.
pub(super) const MOST_WORDS: usize = 8;

/// The least significant word of all columns first.
pub(super) type Words<N> = [[N; COLUMNS]; MOST_WORDS];

/// Integers in two's complement, of which the lowest `count` words are given.
#[inline]
pub(super) fn to_integers(words: &Words<i32>, count: usize, to: &mut [I256; COLUMNS]) {
    let signs = words[count - 1].map(|word| word >> 31);
    for (column, to) in to.iter_mut().enumerate() {
        let half = |first: usize| {
            (first..first + 4).rev().fold(0u128, |value, place| {
                let word = if place < count {
                    words[place][column]
                } else {
                    signs[column]
                };
                value << 32 | u128::from(word as u32)
            })
        };
        *to = I256::from_words(half(4) as i128, half(0) as i128);
    }
}
