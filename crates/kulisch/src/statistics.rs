//! Mean and variance of exact sums.

use crate::accumulator::{Accumulator, LOWEST, WORDS, divide};
use crate::rounding::{Head, Rounding};
use crate::slices::add_pairs;
use crate::units::Unit;

/// Words of the sum of so many doubles as there may be, in units of the smallest double: 2162 bits.
const SUM_WORDS: usize = 34;

/// The mean, rounded once: NaN for no numbers.
///
/// ```
/// assert_eq!(kulisch::mean(&[f64::MAX, f64::MAX, 1.0]), f64::MAX / 3.0 * 2.0);
/// ```
pub fn mean(values: &[f64]) -> f64 {
    let mut accumulator = Accumulator::new();
    accumulator.add_slice(values);
    accumulator.divided_by(values.len() as u64)
}

/// The sum of squared distances from the mean divided by `n - lost`, rounded once from the exact value. `lost` is 0 for
/// the variance of a population, 1 for the estimate from a sample. NaN where `n <= lost`, and where a number is not finite.
///
/// ```
/// assert_eq!(kulisch::variance(&[1e8 + 1.0, 1e8 + 2.0, 1e8 + 3.0], 1), 1.0);
/// ```
pub fn variance(values: &[f64], lost: u64) -> f64 {
    let count = values.len() as u64;
    if count <= lost {
        return f64::NAN;
    }
    let mut sum = Accumulator::new();
    sum.add_slice(values);
    if !sum.is_finite() {
        return f64::NAN;
    }
    let mut squares = Accumulator::new();
    add_pairs(&mut squares, Unit::best(), values, values);
    // n Σx² - (Σx)², in units of the accumulator's lowest bit, which is the square of the smallest double.
    let mut words = squares.magnitude().words;
    multiply(&mut words, count);
    subtract_square(&mut words, &in_smallest_doubles(&sum.magnitude().words));
    let rest = divide(&mut words, count) | divide(&mut words, count - lost);
    match Head::of_words(&words, LOWEST, rest != 0) {
        Some(head) => head.to_f64(false, Rounding::NearestEven),
        None => 0.0,
    }
}

/// The words without the bits below the smallest double, which a sum of doubles does not have.
fn in_smallest_doubles(words: &[u64; WORDS]) -> [u64; SUM_WORDS] {
    let below = -(LOWEST / 2) as usize;
    let (skipped, shift) = (below / 64, below % 64);
    core::array::from_fn(|k| {
        let word = |k: usize| words.get(skipped + k).copied().unwrap_or(0);
        word(k) >> shift | word(k + 1) << (64 - shift)
    })
}

fn multiply(words: &mut [u64], factor: u64) {
    let mut carry = 0;
    for word in words {
        let product = u128::from(*word) * u128::from(factor) + carry;
        *word = product as u64;
        carry = product >> 64;
    }
    debug_assert_eq!(carry, 0);
}

/// `words - root²`, which is not negative.
fn subtract_square(words: &mut [u64; WORDS], root: &[u64; SUM_WORDS]) {
    let used = root
        .iter()
        .rposition(|&word| word != 0)
        .map_or(0, |place| place + 1);
    for (start, &factor) in root[..used].iter().enumerate() {
        // What a row subtracts beyond a word: the product's upper half and a borrow.
        let mut borrow = 0u64;
        let factors = root[..used].iter().chain(core::iter::repeat(&0));
        for (word, &other) in words[start..].iter_mut().zip(factors) {
            let product = u128::from(factor) * u128::from(other) + u128::from(borrow);
            let (difference, below) = word.overflowing_sub(product as u64);
            *word = difference;
            borrow = (product >> 64) as u64 + u64::from(below);
        }
        // Rows in between may borrow beyond the highest word; the last one gives it back.
    }
}
