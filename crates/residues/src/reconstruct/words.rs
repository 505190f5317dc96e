//! Integers of all columns in 32-bit words.

use crate::COLUMNS;
use ethnum::I256;

/// Words of the longest integer.
pub(super) const MOST_WORDS: usize = 8;

/// The least significant word of all columns first.
pub(super) type Words<N> = [[N; COLUMNS]; MOST_WORDS];

/// Integers in two's complement, of which the lowest `count` words are given.
#[inline]
pub(super) fn to_integers(mut words: Words<i32>, count: usize, to: &mut [I256; COLUMNS]) {
    let signs = words[count - 1].map(|word| word >> 31);
    words[count..].fill(signs);
    for (column, to) in to.iter_mut().enumerate() {
        let pair = |place: usize| {
            let (low, high) = (words[place][column], words[place + 1][column]);
            u64::from(low as u32) | u64::from(high as u32) << 32
        };
        let half = |place: usize| u128::from(pair(place)) | u128::from(pair(place + 2)) << 64;
        *to = I256::from_words(half(4) as i128, half(0) as i128);
    }
}
