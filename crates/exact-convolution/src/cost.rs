//! Predicted times: counts of a route, times constants of a unit.

use crate::engine::steps;
use crate::transform::Ring;
use crate::unit::Unit;

/// Nanoseconds on one thread of an Emerald Rapids Xeon (`ozfft convolve --measure`; docs/convolution.md has the fit).
struct Constants {
    /// For a call: roots are looked up, memory is taken.
    call: f64,
    /// For a coefficient modulo one prime, in all three transforms: of a level of the tree,
    level: f64,
    /// and of the products of rows and the way to residues and back.
    row: f64,
    /// For a result and each pair of primes: a step of Garner's algorithm, a product of 128 bits.
    result: f64,
}

fn constants(unit: Unit) -> Constants {
    match unit {
        Unit::Avx512 => Constants {
            call: 500.0,
            level: 0.32,
            row: 3.0,
            result: 1.5,
        },
        Unit::Avx2 => Constants {
            call: 500.0,
            level: 0.4,
            row: 3.5,
            result: 1.5,
        },
        Unit::Portable => Constants {
            call: 500.0,
            level: 2.5,
            row: 10.0,
            result: 3.0,
        },
    }
}

/// A product of two numbers and its addition, in 64 bits (vectors) and in 128.
const SHORT_TERM: f64 = 0.15;
const LONG_TERM: f64 = 1.2;
/// A convolution product by product takes memory, too.
const DIRECT_CALL: f64 = 100.0;

/// Nanoseconds of a convolution product by product.
pub(crate) fn direct([first, second]: [usize; 2], short: bool) -> f64 {
    let term = if short { SHORT_TERM } else { LONG_TERM };
    DIRECT_CALL + term * first as f64 * second as f64
}

/// Nanoseconds of a convolution by transforms.
pub(crate) fn transforms(
    unit: Unit,
    primes: usize,
    [first, second]: [usize; 2],
    cyclic: Option<usize>,
) -> f64 {
    let constants = constants(unit);
    let one = |ring: &Ring| {
        let length = ring.length() as f64;
        let levels = (length / unit.lanes() as f64).log2();
        let modulo_prime = constants.row + constants.level * levels;
        let pairs = primes * (primes + 1) / 2;
        constants.call + length * (primes as f64 * modulo_prime + pairs as f64 * constants.result)
    };
    if let Some(ring) = cyclic.and_then(|length| Ring::cyclic(unit, length)) {
        return one(&ring);
    }
    let (long, short) = (first.max(second), first.min(second));
    let (short_step, long_step) = steps(unit, long, short);
    let pieces = long.div_ceil(long_step) * short.div_ceil(short_step);
    pieces as f64 * one(&Ring::linear(unit, long_step + short_step - 1))
}
