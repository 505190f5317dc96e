//! Product by product: the fastest for short operands.

use crate::integer::{Numbers, Output};
use fallible_memory::collected;

/// Up to so many elements of the shorter operand; above, transforms modulo so many primes take less time.
pub(crate) fn most_terms(bits: u32, primes: usize) -> usize {
    match bits {
        64 => 32 + 32 * primes,
        _ => 8 * primes,
    }
}

/// Sums of 64 bits. They may wrap around in between: the result fits.
pub(crate) fn short<R: Output>(a: Numbers, b: Numbers, cyclic: Option<usize>, results: &mut [R]) {
    let values = |numbers: Numbers| -> Vec<i64> { collected(numbers.short_values()) };
    let (a, b) = (values(a), values(b));
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let mut sums = vec![0i64; long.len() + short.len() - 1];
    for (place, &factor) in short.iter().enumerate() {
        for (sum, &number) in sums[place..].iter_mut().zip(&long) {
            *sum = sum.wrapping_add(number.wrapping_mul(factor));
        }
    }
    write(&sums, cyclic, results, |&sum| R::lowest(sum.into()));
}

/// Sums of 128 bits, which may wrap around as well.
pub(crate) fn long<R: Output>(a: Numbers, b: Numbers, cyclic: Option<usize>, results: &mut [R]) {
    let values = |numbers: Numbers| -> Vec<i128> { collected(numbers.values()) };
    let (a, b) = (values(a), values(b));
    let mut sums = vec![0i128; a.len() + b.len() - 1];
    for (place, factor) in a.iter().enumerate() {
        for (sum, number) in sums[place..].iter_mut().zip(&b) {
            *sum = sum.wrapping_add(number.wrapping_mul(*factor));
        }
    }
    write(&sums, cyclic, results, |&sum| R::lowest(sum));
}

/// Sums as results, wrapped around once where they are cyclic.
fn write<S, R: Output>(
    sums: &[S],
    cyclic: Option<usize>,
    results: &mut [R],
    result: impl Fn(&S) -> R,
) {
    let split = cyclic.unwrap_or(sums.len()).min(sums.len());
    let (straight, wrapped) = sums.split_at(split);
    results.fill(R::default());
    for (target, sum) in results.iter_mut().zip(straight) {
        *target = result(sum);
    }
    for (target, sum) in results.iter_mut().zip(wrapped) {
        *target = target.plus(result(sum));
    }
}
