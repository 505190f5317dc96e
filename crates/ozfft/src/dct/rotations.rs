//! Tables of cosines and sines with the same bits on every machine.
//!
//! A few hundred roots of unity come from integers of 192 bits. All others are products of two of those, in pairs of doubles: sums
//! and products that are each correctly rounded, in a fixed order. Every entry is off by at most a millionth more than half a unit
//! in its last place: nearly all are the nearest doubles.

use crate::portable::{Sum, exact_product, exact_sum};
use crate::roots::cosine_sine;
use fallible_memory::with_capacity;

/// Cosines and sines of angles from 0 to a quarter turn.
#[derive(Debug)]
pub(super) struct Rotations {
    pub(super) cosines: Vec<f64>,
    pub(super) sines: Vec<f64>,
}

impl Rotations {
    /// Of `πk/2n` for `k` from 0 to `n/2`.
    pub(super) fn quarter_steps(n: usize) -> Rotations {
        Rotations::new(0, 1, n / 2 + 1, 4 * n as u64)
    }

    /// Of `π(8k + 1)/8n` for `k` below `n/2`, with an even `n`.
    pub(super) fn odd_sixteenths(n: usize) -> Rotations {
        Rotations::new(1, 8, n / 2, 16 * n as u64)
    }

    /// Of `2π(first + step·k)/denominator` for `k` below `count`.
    fn new(first: u64, step: u64, count: usize, denominator: u64) -> Rotations {
        let bits = usize::BITS - (count - 1).leading_zeros();
        let fine = 1 << bits.div_ceil(2);
        let root = |numerator| {
            let (cosine, sine) = cosine_sine(numerator, denominator);
            (cosine.to_sum(), sine.to_sum())
        };
        let steps = 0..fine.min(count) as u64;
        let small: Vec<(Sum, Sum)> = steps.map(|j| root(first + step * j)).collect();
        let (mut cosines, mut sines) = (with_capacity(count), with_capacity(count));
        for start in (0..count).step_by(fine) {
            let (c, s) = root(step * start as u64);
            let minus_s = Sum {
                high: -s.high,
                low: -s.low,
            };
            for &(cosine, sine) in &small[..fine.min(count - start)] {
                cosines.push(sum_of_products(c, cosine, minus_s, sine));
                sines.push(sum_of_products(s, cosine, c, sine));
            }
        }
        Rotations { cosines, sines }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.cosines) + size_of_val(&*self.sines)
    }
}

/// `a·b + c·d`, rounded to a double.
fn sum_of_products(a: Sum, b: Sum, c: Sum, d: Sum) -> f64 {
    let first = exact_product(a.high, b.high);
    let second = exact_product(c.high, d.high);
    let total = exact_sum(first.high, second.high);
    let small = (a.high * b.low + a.low * b.high) + (c.high * d.low + c.low * d.high);
    total.high + (total.low + ((first.low + second.low) + small))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ozfft_testkit::oracle::multiprecision::{cosine_and_sine_of_turns, from_f64};

    #[test]
    fn entries_are_within_a_millionth_more_than_half_a_unit() {
        const PRECISION: usize = 200;
        let allowed = from_f64(f64::EPSILON / 2.0 * (1.0 + 1e-6), PRECISION);
        for n in [1, 2, 3, 4, 7, 64, 100, 1000, 4099, 1 << 20] {
            let mut tables = vec![(Rotations::quarter_steps(n), 0, 1, 4 * n)];
            if n % 2 == 0 {
                tables.push((Rotations::odd_sixteenths(n), 1, 8, 16 * n));
            }
            for (table, first, step, denominator) in tables {
                let count = table.cosines.len();
                assert_eq!(table.sines.len(), count);
                let some = (0..count.min(40)).chain((0..count).step_by(1 + count / 50));
                for k in some.chain([count - 1]) {
                    let (cosine, sine) =
                        cosine_and_sine_of_turns(first + step * k, denominator, PRECISION);
                    for (found, exact) in [(table.cosines[k], cosine), (table.sines[k], sine)] {
                        let error = from_f64(found, PRECISION) - &exact;
                        let most = &allowed * &exact;
                        let within = error <= most && -error <= most;
                        assert!(within, "entry {k} of {count} for {n} points: {found:e}");
                    }
                }
            }
            // The rotation of the middle of a half-spectrum leaves no imaginary part.
            let quarter = Rotations::quarter_steps(2 * n);
            assert_eq!(quarter.cosines.last(), quarter.sines.last());
        }
    }
}
