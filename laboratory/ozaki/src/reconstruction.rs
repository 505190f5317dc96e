//! From sums of products modulo every modulus to f64.
//!
//! Let `M` be the product of the moduli `m`, `W = M/m`, and `t` the sum modulo `m` of products whose right sides were multiplied by the inverse of `W`.
//! Then `Σ t·W` is the integer and `q·M`, where `q` is the integer next to `Σ t/m`: the moduli hold a little more than the integers, so `q` need
//! not be worked out exactly.

use residues::{I256, Moduli, U256, residue_of};

/// How residues become a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseB {
    /// In integers, rounded once: the paper's Kulisch sum. Exact.
    Integers,
    /// In f64: weights in two parts, of which the upper ones are summed up exactly; the naive sum of the paper.
    Doubles,
}

/// Bits of the upper parts of weights: 40, so that 18 of them times 8 bits are exact in 53.
const UPPER_BITS: u32 = 40;
/// The most moduli for which that holds.
pub(crate) const MOST_IN_DOUBLES: usize = 18;

/// What sums are multiplied by.
#[derive(Debug, Clone)]
pub(crate) struct Weights {
    pub product: U256,
    /// `M/m`.
    pub weights: Vec<U256>,
    /// The inverse of `M/m` modulo `m`.
    pub inverses: Vec<i32>,
    /// `2^32/m`, rounded down.
    pub fractions: Vec<u32>,
    /// Upper and lower part of `M/m`, and of `M`.
    pub in_doubles: Vec<[f64; 2]>,
    pub product_in_doubles: [f64; 2],
    pub reciprocal: f64,
}

impl Weights {
    pub fn new(moduli: &Moduli) -> Weights {
        let product = moduli.product();
        let values = moduli.values();
        let weights: Vec<U256> = values.iter().map(|&m| product / U256::from(m)).collect();
        let inverse = |(&weight, &modulus): (&U256, &u16)| {
            let weight = i32::from(residue_of(weight.as_i256(), modulus));
            let modulus = i32::from(modulus);
            (0..modulus).find(|x| (x * weight).rem_euclid(modulus) == 1 % modulus)
        };
        let inverses = weights.iter().zip(values).map(inverse);
        let largest = weights.iter().copied().max().unwrap_or(U256::ONE);
        let shift = (256 - largest.leading_zeros()).saturating_sub(UPPER_BITS);
        let parts = |weight: U256| {
            let upper = weight >> shift << shift;
            [upper, weight - upper].map(|part| rounded(part.as_i256(), 0))
        };
        Weights {
            product,
            in_doubles: weights.iter().map(|&weight| parts(weight)).collect(),
            product_in_doubles: parts(product),
            reciprocal: 1.0 / rounded(product.as_i256(), 0),
            // Moduli are coprime, so there is one.
            inverses: inverses.map(|inverse| inverse.unwrap_or(0)).collect(),
            fractions: values
                .iter()
                .map(|&m| ((1u64 << 32) / u64::from(m)) as u32)
                .collect(),
            weights,
        }
    }

    /// The integer, from the sums modulo every modulus.
    pub fn integer(&self, rests: &[u32]) -> I256 {
        let mut sum = U256::ZERO;
        let mut fraction = 1u64 << 31;
        for ((&rest, &weight), &part) in rests.iter().zip(&self.weights).zip(&self.fractions) {
            sum += weight * U256::from(rest);
            // Of 24 rests below 256 each is off by less than 2^-24 in all: the margin of the moduli is 2^-13.
            fraction += u64::from(rest) * u64::from(part);
        }
        sum.as_i256() - self.product.as_i256() * I256::from(fraction >> 32)
    }

    /// The same in f64, not rounded correctly.
    pub fn double(&self, rests: &[u32]) -> f64 {
        let [mut upper, mut lower] = [0.0f64; 2];
        for (&rest, weight) in rests.iter().zip(&self.in_doubles) {
            upper = f64::from(rest).mul_add(weight[0], upper);
            lower = f64::from(rest).mul_add(weight[1], lower);
        }
        // The integer next to it: beyond 2^52 doubles are integers.
        const INTEGERS: f64 = 6_755_399_441_055_744.0;
        let quotient = upper.mul_add(self.reciprocal, INTEGERS) - INTEGERS;
        let [upper_product, lower_product] = self.product_in_doubles;
        upper = (-quotient).mul_add(upper_product, upper);
        lower = (-quotient).mul_add(lower_product, lower);
        upper + lower
    }
}

pub(crate) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The nearest f64 to `value · 2^exponent`, ties to even.
///
/// ```
/// use residues::I256;
/// assert_eq!(ozaki::rounded(I256::from(-3), -1), -1.5);
/// assert_eq!(ozaki::rounded((I256::from(1) << 54) + I256::from(1), 0), 2f64.powi(54));
/// assert_eq!(ozaki::rounded(I256::from(3), -1075), 1e-323);
/// assert_eq!(ozaki::rounded(I256::from(1), 1024), f64::INFINITY);
/// ```
pub fn rounded(value: I256, exponent: i32) -> f64 {
    let magnitude = value.unsigned_abs();
    if magnitude == U256::ZERO {
        return 0.0;
    }
    let top = 255 - magnitude.leading_zeros() as i32 + exponent;
    let sign = u64::from(value < I256::ZERO) << 63;
    if top > 1023 {
        return f64::from_bits(sign | f64::INFINITY.to_bits());
    }
    // The exponent of the last place.
    let last = (top - 52).max(-1074);
    let dropped = last - exponent;
    let (kept, up) = match dropped {
        ..=0 => ((magnitude << (-dropped) as u32).as_u64(), false),
        1..=256 => {
            let kept = match dropped {
                256 => U256::ZERO,
                _ => magnitude >> dropped as u32,
            };
            let half = magnitude >> (dropped - 1) as u32 & U256::ONE == U256::ONE;
            let below = (U256::ONE << (dropped - 1) as u32) - U256::ONE;
            let rest = magnitude & below != U256::ZERO;
            let kept = kept.as_u64();
            (kept, half && (rest || kept & 1 == 1))
        }
        _ => (0, false),
    };
    // A fraction with its leading bit adds one to the exponent field below it, and so does a carry.
    f64::from_bits(sign | ((((last + 1074) as u64) << 52) + kept + u64::from(up)))
}
