//! Product by product: the fastest for short operands.

use crate::integer::{Operand, Output};

/// Up to so many elements of the shorter operand; above, transforms modulo so many primes take less time (docs/convolution.md has the
/// measurement).
pub(crate) fn most_terms(bits: u32, primes: usize) -> usize {
    match bits {
        64 => 32 + 32 * primes,
        _ => 8 * primes,
    }
}

/// Sums of 64 bits. They may wrap around in between: the result fits.
pub(crate) fn short<A: Operand, B: Operand, R: Output>(
    a: &[A],
    b: &[B],
    cyclic: Option<usize>,
    results: &mut [R],
) {
    let wide = |number: i128| number as i64;
    let a: Vec<i64> = a.iter().map(|number| wide(number.wide())).collect();
    let b: Vec<i64> = b.iter().map(|number| wide(number.wide())).collect();
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let mut sums = vec![0i64; long.len() + short.len() - 1];
    for (place, &factor) in short.iter().enumerate() {
        for (sum, &number) in sums[place..].iter_mut().zip(&long) {
            *sum = sum.wrapping_add(number.wrapping_mul(factor));
        }
    }
    // Without sign the sums may be above 2^63; their lowest bits are right.
    write(&sums, cyclic, results, |&sum| R::lowest(sum.into()));
}

/// Sums of 128 bits.
pub(crate) fn long<A: Operand, B: Operand, R: Output>(
    a: &[A],
    b: &[B],
    cyclic: Option<usize>,
    results: &mut [R],
) {
    let mut sums = vec![0i128; a.len() + b.len() - 1];
    for (place, factor) in a.iter().enumerate() {
        for (sum, number) in sums[place..].iter_mut().zip(b) {
            *sum = sum.wrapping_add(number.wide().wrapping_mul(factor.wide()));
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
