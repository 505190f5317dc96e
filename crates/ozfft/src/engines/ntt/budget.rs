//! What the roundings of the ntt engine contribute to the error (docs/numerics.md, section 10).

use crate::executor::schedule::Schedule;
use crate::kind::Kind;
use crate::sample::Real;
use crate::transform::budget::{ErrorBudget, between_axes, final_rounding};
use exact_convolution::GaussianConvolution;
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// Bits of a number, the larger of its parts, before it meets the chirp.
pub(super) const WORD_BITS: u32 = 61;
/// Bits behind the point of the chirps that the input and the results are multiplied by.
pub(super) const TABLE_BITS: i32 = 62;
/// Widest operands of the convolution.
const MOST_BITS: u32 = 93;

/// How an exact sum's bits are shared between its two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Widths {
    pub(super) primes: usize,
    /// The moduli of a line's integers add up to less than 2 to this power (and half a unit for each).
    pub(super) sum_bits: u32,
    /// Bits behind the point of the chirp in the convolution.
    pub(super) chirp_bits: u32,
}

impl Widths {
    /// For lines of `n` points: both operands cost about the same accuracy (10.3).
    pub(super) fn new(n: usize, primes: usize) -> Widths {
        let results = GaussianConvolution::result_bits(primes)
            .unwrap_or_else(|| unreachable!("{primes} primes"));
        // A sum of parts is up to √2 times that of moduli: one bit.
        let bits = results - 1;
        let points = n.next_power_of_two().trailing_zeros();
        let sum_bits = ((bits + 2 + points / 2) / 2).min(MOST_BITS);
        Widths {
            primes,
            sum_bits,
            chirp_bits: (bits - sum_bits).min(MOST_BITS),
        }
    }
}

/// The budget itself is computed in floating point: an allowance for its own roundings, and for the terms that the text leaves to it.
const OUTWARD: f64 = 1.0 + 1e-9;
/// Root mean square of a rounding error that is uniform in ±1/2.
const UNIFORM: f64 = 0.288_675_134_594_812_9;

/// A line before its last rounding (10.2).
pub(super) fn line_budget(n: usize, widths: Widths) -> ErrorBudget {
    // A line of one point is copied.
    if n == 1 {
        return ErrorBudget::EXACT;
    }
    let points = n as f64;
    let table = (-f64::from(TABLE_BITS)).exp2();
    let sum_unit = (-f64::from(widths.sum_bits)).exp2();
    let chirp_unit = (-f64::from(widths.chirp_bits)).exp2();
    // Every term at worst, and as a root mean square for random input.
    let words = (f64::from(1 - WORD_BITS as i32)).exp2();
    let terms = [
        (FRAC_1_SQRT_2 * words, UNIFORM * words),
        (FRAC_1_SQRT_2 * table, SQRT_2 * UNIFORM * table),
        (
            2.0 * points * sum_unit,
            1.8 * SQRT_2 * UNIFORM * points * sum_unit,
        ),
        (
            FRAC_1_SQRT_2 * points.sqrt() * chirp_unit,
            SQRT_2 * UNIFORM * chirp_unit,
        ),
        // The norm's mantissa may be as small as a half.
        (SQRT_2 * table, SQRT_2 * UNIFORM * table),
    ];
    terms
        .into_iter()
        .map(|(bound, expected)| ErrorBudget {
            bound: OUTWARD * bound,
            expected,
        })
        .fold(ErrorBudget::EXACT, ErrorBudget::then)
}

/// All axes, one after the other, each with its last rounding.
pub(super) fn total_budget<T: Real>(schedule: &Schedule, primes: usize) -> ErrorBudget {
    let passes = schedule.passes.iter().enumerate();
    passes.fold(ErrorBudget::EXACT, |mut total, (number, pass)| {
        if number > 0 {
            total = total.then(between_axes(T::IS_DOUBLE));
        }
        let mut line = line_budget(pass.n, Widths::new(pass.n, primes));
        // Half a spectrum may have all of the error and half of the squares.
        if pass.kind == Kind::RealToComplex {
            line.bound *= SQRT_2;
        }
        match pass.n {
            1 => total,
            _ => total.then(line).then(final_rounding(T::UNIT_ROUNDOFF)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_share_the_bits_that_the_primes_leave() {
        for primes in 2..=6 {
            let bits = GaussianConvolution::result_bits(primes).unwrap();
            for n in [1, 2, 3, 100, 1 << 10, 1 << 18, 1 << 24] {
                let widths = Widths::new(n, primes);
                assert!(widths.sum_bits + widths.chirp_bits < bits, "{widths:?}");
                // The half units of all points are far below the sum.
                assert!((n as f64) < 0.1 * f64::from(widths.sum_bits).exp2());
                assert!(widths.sum_bits <= MOST_BITS && widths.chirp_bits > 10);
            }
        }
    }

    #[test]
    fn five_primes_lose_less_than_the_last_rounding() {
        for n in [16, 1009, 1 << 10, 1 << 18, 1 << 22] {
            let bound = line_budget(n, Widths::new(n, 5)).bound;
            assert!(bound < f64::EPSILON / 4.0, "{n}: {bound:e}");
        }
    }
}
