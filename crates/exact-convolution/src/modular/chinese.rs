//! From residues to integers.
//!
//! Garner's algorithm makes digits in mixed radix of the residues: `v0 + p0·(v1 + p1·(v2 + …))`, each digit below its prime.

use crate::modular::prime::{Factor, PRIMES, Prime};
use crate::modular::rows::Rows;
use crate::modular::unit::Unit;
use crate::parallel::{DIVIDED, for_each_piece};

/// Numbers whose residues modulo all primes stay in the second cache.
const PIECE: usize = 1 << 12;

/// The inverses of the primes before one, modulo that one.
pub(crate) const INVERSES: [[Factor; PRIMES.len()]; PRIMES.len()] = {
    let mut inverses = [[PRIMES[0].factor(0); PRIMES.len()]; PRIMES.len()];
    let mut number = 1;
    while number < PRIMES.len() {
        let prime = PRIMES[number];
        let mut before = 0;
        while before < number {
            let inverse = prime.invert(PRIMES[before].value % prime.value);
            inverses[number][before] = prime.factor(inverse);
            before += 1;
        }
        number += 1;
    }
    inverses
};

/// Digits in mixed radix of many integers: one array for each prime.
pub(crate) struct Digits {
    arrays: Vec<Rows>,
}

impl Digits {
    /// Of integers from 0 to the product of the primes, given by their residues.
    pub(crate) fn new(unit: Unit, mut residues: Vec<Rows>) -> Digits {
        let length = residues[0].len();
        // The same piece of all arrays.
        let mut pieces: Vec<Vec<&mut [u32]>> = Vec::new();
        pieces.resize_with(length.div_ceil(PIECE), Vec::new);
        for array in &mut residues {
            for (piece, part) in pieces.iter_mut().zip(array.chunks_mut(PIECE)) {
                piece.push(part);
            }
        }
        for_each_piece(length >= DIVIDED, &mut pieces, 1, |_, piece| {
            garner(unit, &mut piece[0])
        });
        Digits { arrays: residues }
    }

    /// Modulo 2^128.
    #[inline(always)]
    pub(crate) fn unsigned(&self, place: usize) -> u128 {
        let value = |number: usize| u128::from(self.arrays[number][place]);
        match self.arrays.len() {
            1 => value(0),
            count => {
                let mut result = value(count - 1);
                for number in (0..count - 1).rev() {
                    let prime = u128::from(PRIMES[number].value);
                    result = result.wrapping_mul(prime).wrapping_add(value(number));
                }
                result
            }
        }
    }

    /// Of integers whose magnitude is below a quarter of the product of the primes; modulo 2^128.
    #[inline(always)]
    pub(crate) fn signed(&self, place: usize) -> i128 {
        let count = self.arrays.len();
        // In the upper half are the negative ones. The highest digit of the numbers in between is far from those of both.
        let negative = self.arrays[count - 1][place] > PRIMES[count - 1].value / 2;
        let result = self.unsigned(place) as i128;
        match negative {
            true => result.wrapping_sub(product_of_primes(count)),
            false => result,
        }
    }

    /// What one unit of every digit is worth modulo a number.
    pub(crate) fn radices(&self, modulus: u64) -> Vec<u64> {
        let modulus = u128::from(modulus);
        let mut radix = 1 % modulus;
        let mut next = |prime: &Prime| {
            let this = radix;
            radix = radix * u128::from(prime.value) % modulus;
            this as u64
        };
        PRIMES[..self.arrays.len()].iter().map(&mut next).collect()
    }

    /// Modulo a number, by its radices: six products of 94 bits fit the sum.
    #[inline(always)]
    pub(crate) fn modulo(&self, place: usize, radices: &[u64], modulus: u64) -> u64 {
        let products = self.arrays.iter().zip(radices);
        let sum: u128 = products
            .map(|(digits, &radix)| u128::from(digits[place]) * u128::from(radix))
            .sum();
        match u64::try_from(sum) {
            Ok(sum) => sum % modulus,
            Err(_) => (sum % u128::from(modulus)) as u64,
        }
    }

    /// The digits modulo the first three primes.
    pub(crate) fn three(&self) -> Option<[&[u32]; 3]> {
        match &self.arrays[..] {
            [first, second, third] => Some([first, second, third]),
            _ => None,
        }
    }
}

/// Modulo 2^128.
fn product_of_primes(count: usize) -> i128 {
    let primes = PRIMES[..count].iter();
    primes.fold(1i128, |product, prime| {
        product.wrapping_mul(i128::from(prime.value))
    })
}

/// The largest whole number of bits that the product of the primes exceeds: `2^bits < P`.
pub(crate) fn bits_of_primes(count: usize) -> u32 {
    // Exactly, in 32-bit words.
    let mut words = vec![1u32];
    for prime in &PRIMES[..count] {
        let mut carry = 0u64;
        for word in &mut words {
            let value = u64::from(*word) * u64::from(prime.value) + carry;
            *word = value as u32;
            carry = value >> 32;
        }
        words.push(carry as u32);
    }
    let top = words.iter().rposition(|&word| word != 0).unwrap_or(0);
    32 * top as u32 + words[top].ilog2()
}

/// Digits in place of residues, of the same numbers modulo all primes.
pub(crate) fn garner(unit: Unit, residues: &mut [&mut [u32]]) {
    for number in 1..residues.len() {
        let (digits, rest) = residues.split_at_mut(number);
        let prime = &PRIMES[number];
        let inverses = &INVERSES[number];
        for (before, digits) in digits.iter().enumerate() {
            unit.garner_step(prime, inverses[before], rest[0], digits);
        }
    }
}
