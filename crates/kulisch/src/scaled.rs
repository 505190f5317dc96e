//! A multiple of an exact sum and a product, rounded once: `α·x + β·y` of linear algebra, whose products of three doubles no accumulator holds.

use crate::accumulator::{Accumulator, LOWEST, WORDS};
use crate::parts::{EXPONENT_MASK, SMALLEST, signed_parts};
use crate::rounding::{Head, Rounding};

/// Exponent of the lowest bit of a multiple.
const LOWEST_MULTIPLE: i32 = LOWEST + SMALLEST;
/// The accumulator's words times 53 bits, moved by at most 2045 bits: 6450 bits.
const MULTIPLE_WORDS: usize = WORDS + 34;
const _: () = assert!(64 * MULTIPLE_WORDS >= 64 * WORDS + 53 + 2045);

type Words = [u64; MULTIPLE_WORDS];

/// What is to be rounded.
enum Total {
    /// Zero with its sign, an infinity, or NaN.
    Known(f64),
    /// Everything else.
    Finite { head: Head, negative: bool },
}

impl Accumulator {
    /// `factor · sum + left · right`, exact before it is rounded to the nearest double.
    ///
    /// ```
    /// let mut sum = kulisch::Accumulator::new();
    /// sum.add_product(0.1, 3.0);
    /// // 0.1·3·10 is a little more than 3, of which this is what is left.
    /// assert_eq!(sum.scaled_plus(10.0, -1.0, 3.0), 1.6653345369377348e-16);
    /// ```
    pub fn scaled_plus(&self, factor: f64, left: f64, right: f64) -> f64 {
        match self.scaled(factor, left, right) {
            Total::Known(value) => value,
            Total::Finite { head, negative } => head.to_f64(negative, Rounding::NearestEven),
        }
    }

    /// The same, rounded to the nearest float, and only once.
    pub fn scaled_plus_f32(&self, factor: f64, left: f64, right: f64) -> f32 {
        match self.scaled(factor, left, right) {
            Total::Known(value) => value as f32,
            Total::Finite { head, negative } => head.to_f32(negative, Rounding::NearestEven),
        }
    }

    fn scaled(&self, factor: f64, left: f64, right: f64) -> Total {
        // Signs, zeros, infinities and NaN of both terms by the processor's rules, on numbers that neither overflow nor underflow.
        let first = simplified(factor) * self.simplified();
        let second = simplified(left) * simplified(right);
        if !first.is_finite() || !second.is_finite() {
            let result = first + second;
            return Total::Known(if result.is_nan() { f64::NAN } else { result });
        }
        let multiple = self.multiple(factor);
        let product = product(left, right);
        let negative = (first.is_sign_negative(), second.is_sign_negative());
        let (words, negative) = added(multiple, product, negative);
        match Head::of_words(&words, LOWEST_MULTIPLE, false) {
            Some(head) => Total::Finite { head, negative },
            // Terms that cancel make +0, and so do zeros unless both are -0.
            None if first == 0.0 => Total::Known(first + second),
            None => Total::Known(0.0),
        }
    }

    /// A number with the sum's sign that is zero, infinite or NaN where the sum is.
    fn simplified(&self) -> f64 {
        let rounded = self.round();
        // A sum may be too small or too large for a double.
        match self.is_finite() && !self.is_zero() {
            true => 1f64.copysign(rounded),
            false => rounded,
        }
    }

    /// The magnitude of the sum times that of a number.
    fn multiple(&self, factor: f64) -> Words {
        let (fraction, exponent) = signed_parts(factor);
        let fraction = u128::from(fraction.unsigned_abs());
        let shift = (exponent - SMALLEST) as u32;
        let mut words = [0; MULTIPLE_WORDS];
        let mut carry = 0u128;
        for (place, word) in self.magnitude().words.iter().enumerate() {
            let product = u128::from(*word) * fraction + carry;
            deposit(&mut words, product as u64, 64 * place as u32 + shift);
            carry = product >> 64;
        }
        deposit(&mut words, carry as u64, 64 * WORDS as u32 + shift);
        words
    }
}

fn simplified(value: f64) -> f64 {
    match value == 0.0 || value.to_bits() & EXPONENT_MASK == EXPONENT_MASK {
        true => value,
        false => 1f64.copysign(value),
    }
}

/// The magnitude of a product.
fn product(left: f64, right: f64) -> Words {
    let ((a, a_exponent), (b, b_exponent)) = (signed_parts(left), signed_parts(right));
    let product = u128::from(a.unsigned_abs()) * u128::from(b.unsigned_abs());
    let position = (a_exponent + b_exponent - LOWEST_MULTIPLE) as u32;
    let mut words = [0; MULTIPLE_WORDS];
    deposit(&mut words, product as u64, position);
    deposit(&mut words, (product >> 64) as u64, position + 64);
    words
}

/// Puts bits where there are none yet.
fn deposit(words: &mut Words, bits: u64, position: u32) {
    let wide = u128::from(bits) << (position % 64);
    let place = (position / 64) as usize;
    words[place] |= wide as u64;
    if (wide >> 64) as u64 != 0 {
        words[place + 1] |= (wide >> 64) as u64;
    }
}

/// The magnitude and the sign of a sum.
fn added(left: Words, right: Words, (left_sign, right_sign): (bool, bool)) -> (Words, bool) {
    if left_sign == right_sign {
        return (combined(left, right, u64::overflowing_add), left_sign);
    }
    // The larger one less the other; words are compared from the highest on.
    match left.iter().rev().ge(right.iter().rev()) {
        true => (combined(left, right, u64::overflowing_sub), left_sign),
        false => (combined(right, left, u64::overflowing_sub), right_sign),
    }
}

fn combined(mut left: Words, right: Words, with: fn(u64, u64) -> (u64, bool)) -> Words {
    let mut carry = false;
    for (left, right) in left.iter_mut().zip(right) {
        let (first, over) = with(*left, right);
        let (second, over_again) = with(first, u64::from(carry));
        *left = second;
        carry = over || over_again;
    }
    left
}
