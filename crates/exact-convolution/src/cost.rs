//! Predicted times: counts of a route, times constants of a unit.

use crate::modular::engine::steps;
use crate::modular::transform::Ring;
use crate::modular::unit::Unit;

/// Nanoseconds on one thread of a Xeon with AVX-512 (`ozfft convolve --measure`, lengths from 30 to 8000, 2026-11-18). Those of AVX2 and portable code are
/// scaled by their times for long products.
struct Constants {
    /// For a call: roots are looked up, memory is taken.
    call: f64,
    /// For a coefficient: numbers are read, checked, biased and written.
    coefficient: f64,
    /// For a coefficient modulo one prime, in all three transforms: of a level of the tree,
    level: f64,
    /// and of the products of rows and the way to residues and back.
    row: f64,
    /// For a coefficient and each pair of primes: a step of Garner's algorithm.
    pair: f64,
    /// For a coefficient that is wrapped around afterwards.
    wrap: f64,
}

fn constants(unit: Unit) -> Constants {
    let (level, row, pair) = match unit {
        Unit::Avx512 => (0.32, 4.6, 0.25),
        Unit::Avx2 => (0.4, 5.2, 0.4),
        Unit::Portable => (2.2, 14.0, 2.0),
    };
    Constants {
        call: 500.0,
        coefficient: 5.0,
        level,
        row,
        pair,
        wrap: 2.0,
    }
}

/// A product of two numbers and its addition, in 64 bits (vectors) and in 128.
const SHORT_TERM: f64 = 0.43;
const LONG_TERM: f64 = 1.1;
/// A convolution product by product takes memory, too.
const DIRECT_CALL: f64 = 150.0;

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
    let one = |ring: &Ring, wraps: bool| {
        let length = ring.length() as f64;
        let levels = (length / unit.lanes() as f64).log2();
        let modulo_prime = constants.row + constants.level * levels;
        let pairs = (primes * (primes + 1) / 2) as f64;
        let wrap = if wraps { constants.wrap } else { 0.0 };
        let all_primes = primes as f64 * modulo_prime + pairs * constants.pair;
        constants.call + length * (constants.coefficient + all_primes + wrap)
    };
    if let Some(ring) = cyclic.and_then(|length| Ring::cyclic(unit, length)) {
        return one(&ring, false);
    }
    let (long, short) = (first.max(second), first.min(second));
    let (short_step, long_step) = steps(unit, long, short);
    let pieces = long.div_ceil(long_step) * short.div_ceil(short_step);
    let ring = Ring::linear(unit, long_step + short_step - 1);
    pieces as f64 * one(&ring, cyclic.is_some())
}
