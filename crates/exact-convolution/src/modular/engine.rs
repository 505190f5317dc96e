//! Convolutions by number-theoretic transforms.

use crate::integer::{Numbers, Output};
use crate::modular::chinese::Digits;
use crate::modular::prime::{PRIMES, Prime};
use crate::modular::transform::{Operand, Ring};
use crate::modular::unit::Unit;
use crate::parallel::{DIVIDED, collect, for_each_piece};
use fallible_memory::collected;

/// Numbers converted by one thread.
const PIECE: usize = 1 << 14;

/// The convolution of integers whose results are below a quarter of the product of the primes in magnitude.
pub(crate) fn convolve<R: Output>(
    unit: Unit,
    primes: usize,
    cyclic: Option<usize>,
    a: Numbers,
    b: Numbers,
    results: &mut [R],
) {
    if let Some(ring) = cyclic.and_then(|length| Ring::cyclic(unit, length)) {
        let digits = product(unit, primes, &ring, a, b);
        return write(&digits, results);
    }
    results.fill(R::default());
    pieces(unit, primes, a, b, |place, digits, length| {
        let result = |k: usize| R::lowest(digits.signed(k));
        match cyclic {
            // Pieces meet where they overlap, and ends meet beginnings where it is cyclic.
            Some(cycle) => {
                for k in 0..length {
                    let target = &mut results[(place + k) % cycle];
                    *target = target.plus(result(k));
                }
            }
            None if place == 0 => write(digits, &mut results[..length]),
            None => {
                for (k, target) in results[place..][..length].iter_mut().enumerate() {
                    *target = target.plus(result(k));
                }
            }
        }
    });
}

/// Convolutions of numbers without sign, whose results are below the product of the primes: each result, as its digits, goes to `take` with
/// its place. A place may be taken several times: results add up.
pub(crate) fn unsigned(
    unit: Unit,
    primes: usize,
    a: &[u64],
    b: &[u64],
    mut take: impl FnMut(usize, &Digits, usize),
) {
    let (a, b) = (Numbers::unsigned(a), Numbers::unsigned(b));
    pieces(unit, primes, a, b, |place, digits, length| {
        take(place, digits, length);
    });
}

/// How many elements of the shorter and of the longer operand make a piece.
pub(crate) fn steps(unit: Unit, long_length: usize, short_length: usize) -> (usize, usize) {
    let most = Ring::most_numbers(unit);
    let short_step = short_length.min(most / 4);
    let whole = long_length + short_step - 1 <= most && long_length < 8 * short_step;
    let long_step = match whole {
        true => long_length,
        // Transforms of about four times the shorter operand: three quarters of their length are new results.
        false => (3 * short_step + 1)
            .max(1 << 10)
            .min(most - short_step)
            .min(long_length),
    };
    (short_step, long_step)
}

/// The linear convolution, the longer operand in pieces where one is much longer or both are longer than any transform.
fn pieces(
    unit: Unit,
    primes: usize,
    a: Numbers,
    b: Numbers,
    mut take: impl FnMut(usize, &Digits, usize),
) {
    let (long, short) = match a.len() < b.len() {
        true => (b, a),
        false => (a, b),
    };
    let (short_step, long_step) = steps(unit, long.len(), short.len());
    for (i, short_piece) in short.pieces(short_step).enumerate() {
        for (j, long_piece) in long.pieces(long_step).enumerate() {
            let length = short_piece.len() + long_piece.len() - 1;
            let ring = Ring::linear(unit, length);
            let digits = product(unit, primes, &ring, long_piece, short_piece);
            take(i * short_step + j * long_step, &digits, length);
        }
    }
}

/// Numbers of 128 bits as ones of 64 that are the same modulo a prime: their four words of 32 bits times powers of two modulo the prime, which is
/// below 2^30, so at most `3·2^62 + 2^32`.
fn folded(prime: &Prime, numbers: Numbers) -> Vec<u64> {
    let power = |bits: u32| ((1u128 << bits) % u128::from(prime.value)) as u64;
    let powers = [power(32), power(64), power(96)];
    let words = |number: u64| (u64::from(number as u32), number >> 32);
    let both = numbers.low.iter().zip(numbers.high);
    let fold = |(&low, &high): (&u64, &u64)| {
        let ((first, second), (third, fourth)) = (words(low), words(high));
        first + second * powers[0] + third * powers[1] + fourth * powers[2]
    };
    collected(both.map(fold))
}

/// One product in a ring, as digits in mixed radix.
fn product(unit: Unit, primes: usize, ring: &Ring, a: Numbers, b: Numbers) -> Digits {
    let residues = |numbers: Numbers, number: usize, rows: &mut [u32]| {
        let prime = &PRIMES[number];
        let fold = prime.factor(((1u64 << 32) % u64::from(prime.value)) as u32);
        let bias = (numbers.bias % u128::from(prime.value)) as u32;
        match numbers.high.is_empty() {
            true => unit.reduce_wide(prime, fold, bias, numbers.low, rows),
            false => unit.reduce_wide(prime, fold, bias, &folded(prime, numbers), rows),
        }
    };
    let first = |number: usize, rows: &mut [u32]| residues(a, number, rows);
    let second = |number: usize, rows: &mut [u32]| residues(b, number, rows);
    let first = Operand {
        length: a.len(),
        residues: &first,
    };
    let second = Operand {
        length: b.len(),
        residues: &second,
    };
    let residues = collect(ring.is_divided(), primes, |number| {
        ring.product(number, &first, Some(&second))
    });
    Digits::new(unit, residues)
}

fn write<R: Output>(digits: &Digits, results: &mut [R]) {
    for_each_piece(
        results.len() >= DIVIDED,
        results,
        PIECE,
        |number, results| {
            for (k, result) in results.iter_mut().enumerate() {
                *result = R::lowest(digits.signed(number * PIECE + k));
            }
        },
    );
}
