//! Random matrices, their exact product, and errors against it.
//!
//! The entries are multiples of 2^-53 in ±1, so that their products, and sums of them, are integers in units of 2^-106: the truth is
//! exact. Both matrices become integers of `p` bits, `round(a·2^p)`, with the largest `p` that the moduli hold:
//! `size·2^(2p) <= Moduli::largest()`. From 53 bits on nothing is lost by that.

use residues::{I256, Moduli, U256};

/// Bits behind the point of the entries.
const ENTRY_BITS: u32 = 53;
/// The most bits of an operand: it is a word of 64 bits.
const MOST_BITS: u32 = 62;
/// Random numbers, the same everywhere (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// An entry in ±1, in units of 2^-53.
    fn entry(&mut self) -> i64 {
        (self.next() >> 10) as i64 - (1 << ENTRY_BITS)
    }
}

/// Two matrices and their exact product.
#[derive(Debug)]
pub struct Matrices {
    pub(super) size: usize,
    pub(super) seed: u64,
    left: Vec<i64>,
    right: Vec<i64>,
    /// In units of 2^-106.
    pub(super) product: Vec<I256>,
}

/// `n·2^-53` in units of `2^-bits`, rounded to the nearest.
fn scaled(n: i64, bits: u32) -> i64 {
    if bits >= ENTRY_BITS {
        n << (bits - ENTRY_BITS)
    } else {
        let off = ENTRY_BITS - bits;
        (n + (1 << (off - 1))) >> off
    }
}

pub(super) fn product_of(size: usize, left: &[i64], right: &[i64]) -> Vec<I256> {
    let mut product = Vec::with_capacity(size * size);
    for row in left.chunks_exact(size) {
        for column in 0..size {
            let terms = row.iter().zip(right.iter().skip(column).step_by(size));
            let exact = terms.map(|(&a, &b)| I256::from(i128::from(a) * i128::from(b)));
            product.push(exact.sum());
        }
    }
    product
}

impl Matrices {
    /// With random entries.
    pub fn random(size: usize, seed: u64) -> Matrices {
        let mut random = Random(seed);
        let mut entries = || (0..size * size).map(|_| random.entry()).collect();
        let (left, right): (Vec<i64>, Vec<i64>) = (entries(), entries());
        let product = product_of(size, &left, &right);
        Matrices {
            size,
            seed,
            left,
            right,
            product,
        }
    }

    /// The entries as integers of so many bits.
    pub(super) fn integers(&self, bits: u32) -> (Vec<i64>, Vec<i64>) {
        let all = |entries: &[i64]| entries.iter().map(|&n| scaled(n, bits)).collect();
        (all(&self.left), all(&self.right))
    }
}

/// The operands' bits: the most that the moduli hold.
pub fn operand_bits(moduli: &Moduli, size: usize) -> Option<u32> {
    let fits = |bits: &u32| moduli.hold(U256::from(size as u64) << (2 * bits));
    (1..=MOST_BITS).rev().find(fits)
}

/// An integer times `2^exponent`, rounded once to the nearest double, to even in the middle.
pub fn rounded(integer: I256, exponent: i32) -> f64 {
    let magnitude = integer.unsigned_abs();
    let length = 256 - magnitude.leading_zeros() as i32;
    let off = (length - f64::MANTISSA_DIGITS as i32).max(0);
    let mut kept = (magnitude >> off).as_u64();
    let rest = magnitude - (U256::from(kept) << off);
    let half = if off == 0 {
        U256::MAX
    } else {
        U256::ONE << (off - 1)
    };
    if rest > half || rest == half && kept & 1 == 1 {
        kept += 1;
    }
    // Results are far from the ends of the exponents' range, so that scaling is exact.
    let value = kept as f64 * f64::from(off + exponent).exp2();
    if integer < I256::ZERO { -value } else { value }
}

/// Bits below the units of the exact product in which errors are taken.
const GUARD_BITS: i32 = 60;

/// A double in units of `2^-(106 + GUARD_BITS)`. Results are multiples of 2^-124, so that nothing is lost.
fn in_units(x: f64) -> I256 {
    let bits = x.abs().to_bits();
    let (exponent, fraction) = ((bits >> 52) as i32 - 1075, bits & ((1 << 52) - 1));
    if x == 0.0 {
        return I256::ZERO;
    }
    let mantissa = I256::from(fraction | 1 << 52);
    let shift = exponent + 2 * ENTRY_BITS as i32 + GUARD_BITS;
    // The mantissa of a multiple of 2^-124 ends in as many zeros as its last place is lower.
    let magnitude = if shift < 0 {
        mantissa >> -shift
    } else {
        mantissa << shift
    };
    if x < 0.0 { -magnitude } else { magnitude }
}

/// Errors of all outputs.
#[derive(Debug, Default)]
pub(super) struct Errors {
    pub(super) result: f64,
    result_absolute: f64,
    sum_of_squares: f64,
    outputs: usize,
    pub(super) relative: f64,
    pub(super) absolute: f64,
    pub(super) wrong: usize,
}

impl Errors {
    pub(super) fn add(&mut self, got: I256, integer: I256, bits: u32, product: I256) {
        let error = (got - integer).unsigned_abs().as_f64();
        self.wrong += usize::from(got != integer);
        self.absolute = self.absolute.max(error);
        if integer != I256::ZERO {
            self.relative = self.relative.max(error / integer.unsigned_abs().as_f64());
        }
        self.add_result(rounded(got, -2 * bits as i32), product);
    }

    pub(super) fn add_result(&mut self, result: f64, product: I256) {
        let truth = product << GUARD_BITS;
        let error = (in_units(result) - truth).unsigned_abs().as_f64();
        let size = truth.unsigned_abs().as_f64();
        self.result_absolute = self.result_absolute.max(error);
        self.sum_of_squares += size * size;
        self.outputs += 1;
        if truth != I256::ZERO {
            self.result = self.result.max(error / size);
        }
    }

    pub(super) fn to_typical(&self) -> f64 {
        let typical = (self.sum_of_squares / self.outputs.max(1) as f64).sqrt();
        self.result_absolute / typical
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_rounded_once_to_even() {
        let one: I256 = I256::ONE << 53u32;
        assert_eq!(rounded(one + I256::ONE, 0), 2f64.powi(53));
        assert_eq!(rounded(one + 3, -53), (2f64.powi(53) + 4.0) / 2f64.powi(53));
        assert_eq!(rounded(-(I256::ONE << 120u32) - I256::ONE, -120), -1.0);
        assert_eq!(rounded((I256::ONE << 60u32) - I256::ONE, 0), 2f64.powi(60));
        assert_eq!(rounded(I256::ZERO, -100), 0.0);
    }

    #[test]
    fn an_exact_product_rounded_once_is_off_by_half_a_unit_at_most() {
        let matrices = Matrices::random(16, 7);
        let (left, right) = matrices.integers(ENTRY_BITS);
        let integers = product_of(16, &left, &right);
        assert_eq!(integers, matrices.product);
        let mut errors = Errors::default();
        for (&integer, &product) in integers.iter().zip(&matrices.product) {
            errors.add(integer, integer, ENTRY_BITS, product);
        }
        assert_eq!((errors.wrong, errors.absolute), (0, 0.0));
        assert!(errors.result > 0.0 && errors.result <= f64::EPSILON / 2.0);
    }
}
