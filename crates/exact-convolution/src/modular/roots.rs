//! Tables of roots of unity, one for each prime, which grow when longer transforms ask for more.

use crate::modular::prime::{Factor, PRIMES, Prime};
use fallible_memory::{collected, with_capacity};
use std::sync::{Arc, Mutex, PoisonError};

/// Entry k is the root by which node k of any level splits: `ω^e(k)`, where bit i of k adds a turn over `2^(i+2)` to `e(k)`. So entry 2k is a
/// square root of entry k, and entry 2k + 1 of its negative.
pub(crate) type Table = Arc<Vec<Factor>>;

static TABLES: [Mutex<Option<Table>>; PRIMES.len()] = [const { Mutex::new(None) }; PRIMES.len()];

/// At least so many entries of the table of a prime, by its number in the list.
pub(crate) fn roots(number: usize, entries: usize) -> Table {
    // Nothing is left half done under this lock.
    let mut kept = TABLES[number]
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    match &*kept {
        Some(table) if table.len() >= entries => table.clone(),
        _ => {
            let table = Arc::new(made(&PRIMES[number], entries.next_power_of_two().max(2)));
            *kept = Some(table.clone());
            table
        }
    }
}

fn made(prime: &Prime, entries: usize) -> Vec<Factor> {
    let mut values = with_capacity(entries);
    values.push(1);
    while values.len() < entries {
        let step = prime.factor(prime.root(values.len().trailing_zeros() + 2));
        values.extend_from_within(..);
        let half = values.len() / 2;
        for value in &mut values[half..] {
            *value = prime.multiply(*value, step);
        }
    }
    collected(values.into_iter().map(|value| prime.factor(value)))
}

/// The negative of the inverse of entry k: of those with equal highest bits first and last, second and last but one … have the sum of half a turn.
#[inline(always)]
pub(crate) fn inverse_root(prime: &Prime, roots: &[Factor], k: usize) -> Factor {
    match k.checked_ilog2() {
        None => prime.factor(prime.value - 1),
        Some(bit) => roots[(3 << bit) - 1 - k],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_roots_of_those_above_them() {
        for (number, prime) in PRIMES.iter().enumerate() {
            let table = roots(number, 64);
            let value = |factor: Factor| prime.multiply(1, factor);
            for k in 0..32 {
                assert_eq!(prime.power(value(table[2 * k]), 2), value(table[k]));
                let negative = prime.negate(value(table[k]));
                assert_eq!(prime.power(value(table[2 * k + 1]), 2), negative);
                let inverse = value(inverse_root(prime, &table, k));
                assert_eq!(prime.multiply(inverse, table[k]), prime.value - 1);
            }
        }
    }
}
