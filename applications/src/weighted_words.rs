//! Integers modulo 2^p - 1 in words with irrational-base weights (Crandall and Fagin 1994), and checks of what is done with them modulo
//! the prime 2^61 - 1.

use check_prime::{BITS, multiply, of, reduce, shifted};

/// Rounding error of f64, relative.
const UNIT: f64 = f64::EPSILON / 2.0;
/// Most bits of a word.
pub const MOST_BITS: u32 = 32;
/// Relative error of a weight: that of the exponent, of `exp2`, and ample room.
pub const WEIGHT_ERROR: f64 = 8.0 * UNIT;

/// Arithmetic modulo the prime 2^61 - 1.
mod check_prime {
    pub(crate) const BITS: u32 = 61;
    pub(crate) const PRIME: u64 = (1 << BITS) - 1;

    /// A residue of a sum of words.
    pub(crate) fn reduce(sum: i128) -> u64 {
        sum.rem_euclid(i128::from(PRIME)) as u64
    }

    pub(crate) fn multiply(a: u64, b: u64) -> u64 {
        (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
    }

    /// Times 2^shift, shift below 61: a rotation.
    pub(crate) fn shifted(a: u64, shift: u32) -> u64 {
        ((a << shift) | (a >> (BITS - shift))) & PRIME
    }

    pub(crate) fn of(value: i64) -> u64 {
        value.rem_euclid(PRIME as i64) as u64
    }
}

/// How an exponent is divided into words, and their weights.
pub struct Weighting {
    exponent: u64,
    /// Position of the lowest bit of each word, and at the end the exponent.
    positions: Vec<u64>,
    /// 2^(r/n) with r = n·position - p·k: what makes the wrap-around of a cyclic convolution that of 2^p - 1.
    weights: Vec<f64>,
    inverse_weights: Vec<f64>,
    /// The same weights modulo 2^61 - 1, as powers of two: there 2 has an n-th root, 2^(1/n mod 61).
    check_shifts: Vec<u32>,
}

impl Weighting {
    /// The exponent divided into so many words, all but equally long; 61 must not divide their number.
    pub fn new(exponent: u64, words: usize) -> Weighting {
        let n = words as u64;
        let position =
            |k: u64| (u128::from(exponent) * u128::from(k)).div_ceil(u128::from(n)) as u64;
        let positions: Vec<u64> = (0..=n).map(position).collect();
        let remainder = |k: usize| {
            let exact = u128::from(exponent) * k as u128;
            (u128::from(n) * u128::from(positions[k]) - exact) as u64
        };
        let root = (1..u64::from(BITS)).find(|x| n % u64::from(BITS) * x % u64::from(BITS) == 1);
        let root = root.expect("61 is no factor of a number of words");
        let fraction = |k: usize| remainder(k) as f64 / n as f64;
        let check_shift =
            |k: usize| (remainder(k) % u64::from(BITS) * root % u64::from(BITS)) as u32;
        Weighting {
            exponent,
            weights: (0..words).map(|k| libm::exp2(fraction(k))).collect(),
            inverse_weights: (0..words).map(|k| libm::exp2(-fraction(k))).collect(),
            check_shifts: (0..words).map(check_shift).collect(),
            positions,
        }
    }

    /// Number of words.
    pub fn words(&self) -> usize {
        self.weights.len()
    }

    /// By which words are multiplied before a transform: from 1 to 2, each within [`WEIGHT_ERROR`].
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// By which sums are multiplied after it, as accurate.
    pub fn inverse_weights(&self) -> &[f64] {
        &self.inverse_weights
    }

    /// Bits of a word.
    pub fn bits(&self, word: usize) -> u32 {
        (self.positions[word + 1] - self.positions[word]) as u32
    }

    /// Weighted sum of words modulo 2^61 - 1, with all signs plus, and alternating.
    fn check_sums(&self, words: &[i64]) -> [u64; 2] {
        let mut sums = [0_i128; 2];
        for (k, (&word, &shift)) in words.iter().zip(&self.check_shifts).enumerate() {
            let term = i128::from(shifted(of(word), shift));
            sums[0] += term;
            sums[1] += if k % 2 == 0 { term } else { -term };
        }
        sums.map(reduce)
    }

    /// Whether these may be the sums of the convolution of the words with themselves: at 1 and -1 its polynomial is the square of theirs.
    pub fn check_square(&self, words: &[i64], sums: &[i64]) -> bool {
        let square = self.check_sums(words).map(|sum| multiply(sum, sum));
        self.check_sums(sums) == square
    }

    /// The number that words stand for, modulo 2^61 - 1.
    pub fn check_value(&self, words: &[i64]) -> u64 {
        let places = words.iter().zip(&self.positions);
        let term = |(&word, position): (&i64, &u64)| {
            i128::from(shifted(of(word), (position % u64::from(BITS)) as u32))
        };
        reduce(places.map(term).sum())
    }

    /// Whether carries, of which so much went from the top to the bottom, left the number as it is modulo 2^p - 1.
    pub fn check_carry(&self, before: u64, words: &[i64], wrapped: i128) -> bool {
        // 2^p - 1 modulo 2^61 - 1.
        let modulus = (1_u64 << (self.exponent % u64::from(BITS))) - 1;
        let lost = multiply(reduce(wrapped), modulus);
        reduce(i128::from(self.check_value(words)) + i128::from(lost)) == before
    }

    /// Brings words to balanced digits, |digit| <= 2^(bits-1). Returns what was carried from the top to the bottom in all.
    pub fn carry(&self, words: &mut [i64]) -> i128 {
        let mut wrapped = 0_i128;
        let mut carry = 0_i64;
        loop {
            for (k, word) in words.iter_mut().enumerate() {
                let sum = *word + carry;
                let bits = self.bits(k);
                let half = 1_i64 << (bits - 1);
                carry = (sum + half) >> bits;
                *word = sum - (carry << bits);
            }
            if carry == 0 {
                return wrapped;
            }
            wrapped += i128::from(carry);
        }
    }

    /// The number as bits, modulo 2^p - 1 and not 2^p - 1 itself.
    pub fn limbs(&self, words: &[i64]) -> Vec<u64> {
        let mut digits = words.to_vec();
        let mut carry = 0_i64;
        loop {
            for (k, digit) in digits.iter_mut().enumerate() {
                let sum = *digit + carry;
                carry = sum >> self.bits(k);
                *digit = sum - (carry << self.bits(k));
            }
            if carry == 0 {
                break;
            }
        }
        let mut limbs = vec![0_u64; self.exponent.div_ceil(64) as usize];
        for (&digit, &position) in digits.iter().zip(&self.positions) {
            let (limb, shift) = ((position / 64) as usize, position % 64);
            let wide = u128::from(digit as u64) << shift;
            limbs[limb] |= wide as u64;
            if (wide >> 64) != 0 {
                limbs[limb + 1] |= (wide >> 64) as u64;
            }
        }
        let full = |k: usize, digit: &i64| *digit == (1_i64 << self.bits(k)) - 1;
        if digits.iter().enumerate().all(|(k, digit)| full(k, digit)) {
            limbs.fill(0);
        }
        limbs
    }

    /// Balanced words of a number below 2^p.
    pub fn from_limbs(&self, limbs: &[u64]) -> Vec<i64> {
        let bit = |position: u64| (limbs[(position / 64) as usize] >> (position % 64)) & 1;
        let mut words: Vec<i64> = (0..self.words())
            .map(|k| {
                let range = self.positions[k]..self.positions[k + 1];
                range
                    .rev()
                    .fold(0, |word, position| 2 * word + bit(position) as i64)
            })
            .collect();
        self.carry(&mut words);
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_int::UBig;

    #[test]
    fn every_single_wrong_sum_and_carry_fires_a_check() {
        let weighting = Weighting::new(1279, 96);
        let mut limbs = vec![0; 20];
        let mut seed = 7_u64;
        for limb in &mut limbs[..19] {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            *limb = seed;
        }
        let words = weighting.from_limbs(&limbs);
        // The convolution by its definition: w_i·w_j/w_k is 1 or 2.
        let n = words.len();
        let mut sums = vec![0_i64; n];
        for i in 0..n {
            for j in 0..n {
                let k = (i + j) % n;
                let wrap = if i + j >= n { 1279 } else { 0 };
                let exponent =
                    weighting.positions[i] + weighting.positions[j] - weighting.positions[k] - wrap;
                sums[k] += (words[i] * words[j]) << exponent;
            }
        }
        assert!(weighting.check_square(&words, &sums));
        for k in 0..n {
            for error in [1, -1, 2, 1 << 40, -(1 << 50)] {
                let mut wrong = sums.clone();
                wrong[k] += error;
                assert!(!weighting.check_square(&words, &wrong), "{k} {error}");
            }
        }
        // Two errors that hide from the plain sum do not from the alternating one.
        let mut wrong = sums.clone();
        let (a, b) = (weighting.check_shifts[4], weighting.check_shifts[5]);
        let shift = (a + BITS - b) % BITS;
        wrong[4] += 1;
        wrong[5] -= shifted(1, shift) as i64;
        assert_eq!(
            weighting.check_sums(&wrong)[0],
            weighting.check_sums(&sums)[0]
        );
        assert!(!weighting.check_square(&words, &wrong));
        let value = weighting.check_value(&sums);
        let mut carried = sums.clone();
        let wrapped = weighting.carry(&mut carried);
        assert!(weighting.check_carry(value, &carried, wrapped));
        for k in 0..n {
            let mut wrong = carried.clone();
            wrong[k] ^= 1;
            assert!(!weighting.check_carry(value, &wrong, wrapped), "{k}");
        }
        assert!(!weighting.check_carry(value, &carried, wrapped + 1));
    }

    #[test]
    fn weights_are_within_the_error_that_the_proof_allows() {
        // (weight·2^52)^n against 2^(r + 52n), in integers: relative errors grow n-fold.
        for (exponent, words) in [(1279, 96), (86243, 50), (44497, 120)] {
            let weighting = Weighting::new(exponent, words);
            for k in 0..words {
                let n = words as u32;
                let r = words as u64 * weighting.positions[k] - exponent * k as u64;
                for (weight, power) in [
                    (weighting.weights[k], 52 * u64::from(n) + r),
                    (weighting.inverse_weights[k], 52 * u64::from(n) - r),
                ] {
                    // Exact up to 2^-53 of the weight, which is at least a half.
                    let scaled = (weight * 4_503_599_627_370_496.0) as u64;
                    let found = UBig::from(scaled).pow(n as usize);
                    let exact = UBig::ONE << power as usize;
                    let difference = if found > exact {
                        &found - &exact
                    } else {
                        &exact - &found
                    };
                    // n·(8 + 2)u, and u = 2^-53.
                    let allowed = (&exact * UBig::from(10 * n)) >> 53_usize;
                    assert!(difference < allowed, "{exponent} {words} {k}");
                }
            }
        }
    }
}
