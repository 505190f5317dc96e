//! Garner's algorithm: digits of a mixed radix, one modulus after the other, on 32-bit integers.
//!
//! `C + H = d_0 + d_1 m_0 + d_2 m_0 m_1 + …` with `0 <= d_k < m_k`. The offset `H = Σ h_k m_0…m_(k-1)`,
//! `h_k = ⌊m_k/2⌋`, makes the digits of all `C` that the moduli hold non-negative: the even modulus, if there is one,
//! comes first, so that with it `H` is `⌊M/2⌋`.
//!
//! Modulo `m_k` every digit below is known, so with the inverse `I_k` of `m_0…m_(k-1)` modulo `m_k`,
//!
//! ```text
//! d_k - h_k = I_k v_k - Σ_(j<k) (d_j - h_j) · (I_k m_0…m_(j-1) mod m_k)    modulo m_k ,
//! ```
//!
//! a sum of `k` small products and a constant: it stays far below `2^31`, and is reduced once, not after every product.
//! The triangle takes `r²/2` multiply-adds and `r` reductions, where a reduction after every product would take `r²/2`
//! of those.
//!
//! # Reduction
//!
//! The constant includes a multiple of `m` that makes the sum `y` non-negative. With `2^l < m <= 2^(l+1)` and
//! `c = ⌈2^(32+l)/m⌉`, which is a 32-bit word, `⌊y c/2^(32+l)⌋` is the quotient: `c m = 2^(32+l) + e` with
//! `0 <= e < m`, so `y c/2^(32+l) = y/m + (y/m)·e/2^(32+l)`, and the last term is less than `1/m` because
//! `y e < 2^31·2^(l+1)`.
//!
//! # Horner
//!
//! As many digits as fit are combined in words of 32 bits, and those by Horner's rule on 32-bit words, then `H`
//! is subtracted.

use super::operations::{Counting, Integer, counted};
use super::words::{MOST_WORDS, Words, to_integers};
use super::{Operations, Pipe, Reconstruction};
use crate::moduli::Moduli;
use crate::{COLUMNS, Residues};
use ethnum::{I256, U256};

/// Garner's algorithm.
#[derive(Debug)]
pub struct Garner {
    steps: Vec<Step>,
    /// For every step, the coefficients of all digits before it.
    coefficients: Vec<i32>,
    groups: Vec<Group>,
    /// Words of the product.
    words: usize,
    /// `H`.
    offset: [u32; MOST_WORDS],
}

/// Operations for one digit.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Which modulus it is.
    number: usize,
    modulus: i32,
    /// `I_k`.
    inverse: i32,
    constant: i32,
    /// `c` and `l`.
    reciprocal: u32,
    shift: u32,
}

/// Digits that fit one word.
#[derive(Debug, Clone, Copy)]
struct Group {
    first: usize,
    end: usize,
    /// Of their moduli.
    product: u32,
}

/// The inverse of `x` modulo `m`.
fn inverse_modulo(x: u64, m: u64) -> u64 {
    (0..m)
        .find(|candidate| candidate * (x % m) % m == 1 % m)
        .expect("the moduli are coprime")
}

impl Garner {
    /// For these moduli, of any set.
    pub fn new(moduli: &Moduli) -> Garner {
        let mut order: Vec<usize> = (0..moduli.len()).collect();
        order.sort_by_key(|&number| moduli.values()[number] % 2);
        let values: Vec<u64> = order
            .iter()
            .map(|&number| moduli.values()[number].into())
            .collect();

        let mut steps = Vec::new();
        let mut coefficients = Vec::new();
        for (k, &m) in values.iter().enumerate() {
            let product_below = |j: usize| values[..j].iter().fold(1, |p, &v| p * v % m);
            let inverse = inverse_modulo(product_below(k), m);
            let half = |m: u64| m / 2;
            let mut constant = half(m);
            for (j, &other) in values[..k].iter().enumerate() {
                let weight = inverse * product_below(j) % m;
                constant += half(other) * weight;
                coefficients.push(((m - weight) % m) as i32);
            }
            // The product with a residue is at least -(m - 1)·m/2.
            let constant = constant % m + m * half(m);
            let shift = (m - 1).ilog2();
            steps.push(Step {
                number: order[k],
                modulus: m as i32,
                inverse: inverse as i32,
                constant: constant as i32,
                reciprocal: (1u64 << (32 + shift)).div_ceil(m) as u32,
                shift,
            });
            let largest: u64 = values[..k].iter().map(|&v| (v - 1) * (m - 1)).sum();
            assert!(
                largest + constant + m * half(m) < 1 << 31,
                "sums of digits in 32 bits"
            );
        }

        let mut groups: Vec<Group> = Vec::new();
        for (k, &m) in values.iter().enumerate() {
            match groups.last_mut() {
                Some(group) if u64::from(group.product) * m < 1 << 32 => {
                    group.end = k + 1;
                    group.product *= m as u32;
                }
                _ => groups.push(Group {
                    first: k,
                    end: k + 1,
                    product: m as u32,
                }),
            }
        }

        let mut place = U256::ONE;
        let mut offset = U256::ZERO;
        for &m in &values {
            offset += place * U256::from(m / 2);
            place *= U256::from(m);
        }
        Garner {
            steps,
            coefficients,
            groups,
            words: (256 - moduli.product().leading_zeros()).div_ceil(32) as usize,
            offset: std::array::from_fn(|word| (offset >> (32 * word as u32)).as_u32()),
        }
    }

    /// All digits, the least significant first.
    #[inline(always)]
    fn digits<N: Integer>(&self, residues: &[Residues]) -> [[N; COLUMNS]; Moduli::MOST] {
        let mut digits = [[N::default(); COLUMNS]; Moduli::MOST];
        let mut coefficients = self.coefficients.iter();
        for (k, step) in self.steps.iter().enumerate() {
            let inverse = N::constant(step.inverse);
            let constant = N::constant(step.constant);
            let mut sums = residues[step.number]
                .map(|residue| N::constant(residue.into()) * inverse + constant);
            for (row, &coefficient) in digits[..k].iter().zip(&mut coefficients) {
                let coefficient = N::constant(coefficient);
                for (sum, &digit) in sums.iter_mut().zip(row) {
                    *sum = *sum + digit * coefficient;
                }
            }
            let modulus = N::constant(step.modulus);
            for (digit, &sum) in digits[k].iter_mut().zip(&sums) {
                let quotient = sum.high_product(step.reciprocal, step.shift);
                *digit = sum - quotient * modulus;
            }
        }
        digits
    }

    /// Horner's rule, and the offset.
    #[inline(always)]
    fn evaluate<N: Integer>(&self, digits: &[[N; COLUMNS]; Moduli::MOST]) -> Words<N> {
        let mut words = [[N::default(); COLUMNS]; MOST_WORDS];
        let mut used = 0;
        for group in self.groups.iter().rev() {
            let mut carries = digits[group.end - 1];
            for k in (group.first..group.end - 1).rev() {
                for (carry, &digit) in carries.iter_mut().zip(&digits[k]) {
                    *carry = carry.append(self.steps[k].modulus as u32, digit);
                }
            }
            for word in &mut words[..used] {
                for (word, carry) in word.iter_mut().zip(&mut carries) {
                    (*word, *carry) = word.carry_product(group.product, *carry);
                }
            }
            // The words hold the product of all moduli: what the last group carries beyond them is 0.
            if used < self.words {
                words[used] = carries;
                used += 1;
            }
        }
        let mut borrows = [N::default(); COLUMNS];
        for (word, &offset) in words[..self.words].iter_mut().zip(&self.offset) {
            for (word, borrow) in word.iter_mut().zip(&mut borrows) {
                (*word, *borrow) = word.minus_borrow(offset, *borrow);
            }
        }
        words
    }
}

impl Reconstruction for Garner {
    fn name(&self) -> &'static str {
        "garner"
    }

    fn pipe(&self) -> Pipe {
        Pipe::Integer(32)
    }

    fn error_bound(&self) -> f64 {
        0.0
    }

    fn reconstruct(&self, residues: &[Residues], to: &mut [I256; COLUMNS]) {
        assert_eq!(residues.len(), self.steps.len(), "a row for every modulus");
        let words = self.evaluate(&self.digits::<i32>(residues));
        to_integers(words, self.words, to);
    }

    fn operations(&self, residues: &[Residues]) -> Operations {
        let count = counted(|| {
            self.evaluate(&self.digits::<Counting<i32>>(residues));
        });
        Operations {
            integer: count / COLUMNS as f64,
            ..Operations::default()
        }
    }
}
