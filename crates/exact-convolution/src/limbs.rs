//! Products of long integers.

use crate::modular::chinese::Digits;
use crate::modular::chinese::bits_of_primes;
use crate::modular::prime::PRIMES;
use crate::modular::transform::{Operand, Ring};
use crate::modular::unit::Unit;
use crate::parallel::collect;
use crate::proof::{Holds, Proof, Route};
use fallible_memory::{collected, with_capacity};

/// Primes for coefficients of 32 bits.
pub(crate) const COUNT: usize = 3;
/// Numbers of so few limbs are multiplied limb by limb, which takes less time than the smallest transforms.
const SHORT: usize = 120;
/// The same for digits to the base 10^9, each of which takes a division.
const SHORT_DECIMAL: usize = 48;

/// Longer numbers are multiplied in pieces: 2^25 products below 2^64 are below 2^89, and the three primes' product is above it.
const MOST_TERMS: usize = 1 << 25;

/// What coefficients are: digits to the base 2^32, or to the base 10^9.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Binary,
    Decimal,
}

/// The product of two integers, 64 bits a limb, the lowest first: as many limbs as both together.
///
/// Exact: coefficients of 32 bits, the product of three primes being larger than every sum of their products.
///
/// ```
/// assert_eq!(exact_convolution::multiply_limbs(&[u64::MAX], &[u64::MAX]), [1, u64::MAX - 1]);
/// assert_eq!(exact_convolution::multiply_limbs(&[], &[7]), [0]);
/// ```
pub fn multiply_limbs(a: &[u64], b: &[u64]) -> Vec<u64> {
    multiply_limbs_on(Unit::best(), a, b)
}

/// [`multiply_limbs`] with the instructions of one unit.
///
/// # Panics
///
/// If this machine does not have the unit.
pub fn multiply_limbs_on(unit: Unit, a: &[u64], b: &[u64]) -> Vec<u64> {
    assert!(unit.is_available(), "this machine does not have {unit}");
    if a.len().min(b.len()) <= SHORT {
        return schoolbook(a, b);
    }
    let same = std::ptr::eq(a, b) || a == b;
    let halves = |limbs: &[u64]| -> Vec<u32> {
        let both = |&limb: &u64| [limb as u32, (limb >> 32) as u32];
        collected(limbs.iter().flat_map(both))
    };
    let first = halves(a);
    let second = (!same).then(|| halves(b));
    let product = product(unit, Base::Binary, &first, second.as_deref());
    let limb = |pair: &[u32]| u64::from(pair[0]) | u64::from(pair[1]) << 32;
    collected(product.chunks_exact(2).map(limb))
}

/// The product of two integers in digits to the base 10^9, the lowest first: as many digits as both together.
///
/// Numbers that are read and printed in decimal need no conversion then.
///
/// ```
/// assert_eq!(exact_convolution::multiply_decimal(&[999_999_999], &[999_999_999]), [1, 999_999_998]);
/// ```
///
/// # Panics
///
/// If a digit is 10^9 or more.
pub fn multiply_decimal(a: &[u32], b: &[u32]) -> Vec<u32> {
    let fits = |digits: &[u32]| digits.iter().all(|&digit| digit < DECIMAL);
    assert!(fits(a) && fits(b), "digits to the base 10^9 are below it");
    if a.len().min(b.len()) <= SHORT_DECIMAL {
        return schoolbook_decimal(a, b);
    }
    let same = std::ptr::eq(a, b) || a == b;
    product(Unit::best(), Base::Decimal, a, (!same).then_some(b))
}

const DECIMAL: u32 = 1_000_000_000;

/// Limb by limb.
fn schoolbook(a: &[u64], b: &[u64]) -> Vec<u64> {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let mut result = vec![0; a.len() + b.len()];
    for (place, &factor) in short.iter().enumerate() {
        let mut carry = 0u128;
        let target = &mut result[place..][..long.len() + 1];
        let (last, target) = target.split_last_mut().unwrap_or_else(|| unreachable!());
        for (sum, &limb) in target.iter_mut().zip(long) {
            let value = u128::from(factor) * u128::from(limb) + u128::from(*sum) + carry;
            *sum = value as u64;
            carry = value >> 64;
        }
        *last = carry as u64;
    }
    result
}

fn schoolbook_decimal(a: &[u32], b: &[u32]) -> Vec<u32> {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let mut result = vec![0; a.len() + b.len()];
    for (place, &factor) in short.iter().enumerate() {
        let mut carry = 0u64;
        for (sum, &digit) in result[place..].iter_mut().zip(long) {
            let value = u64::from(factor) * u64::from(digit) + u64::from(*sum) + carry;
            *sum = (value % u64::from(DECIMAL)) as u32;
            carry = value / u64::from(DECIMAL);
        }
        result[place + long.len()] = carry as u32;
    }
    result
}

/// Of coefficients to a base; as many as both operands have together. Without a second one the square.
fn product(unit: Unit, base: Base, a: &[u32], b: Option<&[u32]>) -> Vec<u32> {
    let other = b.unwrap_or(a);
    let (long, short) = match a.len() < other.len() {
        true => (other, a),
        false => (a, other),
    };
    let length = a.len() + other.len();
    let most = Ring::most_numbers(unit);
    // Pieces of the longer number: so that each product fits, and none is mostly zeros.
    let step = match length > most {
        true => (most / 2).min(MOST_TERMS),
        false => long.len(),
    };
    let step = match short.len() < step / 4 {
        true => step.min(short.len() * 3),
        false => step,
    };
    if short.len() > step {
        // Longer than any transform: pieces of both.
        let mut result = vec![0; length];
        for (place, piece) in pieces(short, step) {
            add(
                base,
                &mut result[place..],
                &product(unit, base, long, Some(piece)),
            );
        }
        return result;
    }
    if long.len() <= step {
        return whole(unit, base, a, b);
    }
    let mut result = vec![0; length];
    for (place, piece) in pieces(long, step) {
        add(
            base,
            &mut result[place..],
            &whole(unit, base, piece, Some(short)),
        );
    }
    result
}

fn pieces(numbers: &[u32], step: usize) -> impl Iterator<Item = (usize, &[u32])> {
    let pieces = numbers.chunks(step).enumerate();
    pieces.map(move |(number, piece)| (number * step, piece))
}

/// Adds to a number that the sum fits.
fn add(base: Base, sum: &mut [u32], number: &[u32]) {
    let mut carry = 0u64;
    for (place, digit) in sum.iter_mut().enumerate() {
        if place >= number.len() && carry == 0 {
            break;
        }
        let value = u64::from(*digit) + carry + u64::from(number.get(place).copied().unwrap_or(0));
        (carry, *digit) = match base {
            Base::Binary => (value >> 32, value as u32),
            Base::Decimal => {
                let over = value >= u64::from(DECIMAL);
                (
                    over.into(),
                    (value - u64::from(over) * u64::from(DECIMAL)) as u32,
                )
            }
        };
    }
}

/// In one piece.
fn whole(unit: Unit, base: Base, a: &[u32], b: Option<&[u32]>) -> Vec<u32> {
    let length = a.len() + b.unwrap_or(a).len();
    // The product of polynomials has one coefficient less than both together.
    let ring = Ring::linear(unit, length - 1);
    let reduced = |numbers: &[u32], number: usize, rows: &mut [u32]| {
        unit.reduce(&PRIMES[number], numbers, rows);
    };
    let first = |number: usize, rows: &mut [u32]| reduced(a, number, rows);
    let second = |number: usize, rows: &mut [u32]| reduced(b.unwrap_or(a), number, rows);
    let first = Operand {
        length: a.len(),
        residues: &first,
    };
    let second = b.map(|b| Operand {
        length: b.len(),
        residues: &second,
    });
    let residues = collect(ring.is_divided(), COUNT, |number| {
        ring.product(number, &first, second.as_ref())
    });
    let digits = Digits::new(unit, residues);
    let Some(digits) = digits.three() else {
        unreachable!("there are three primes");
    };
    match base {
        Base::Binary => carried(digits, length, |value| ((value as u32), value >> 32)),
        Base::Decimal => carried(digits, length, split_decimal),
    }
}

/// Remainder and quotient of a number below 2^96 by 10^9.
#[inline(always)]
fn split_decimal(value: u128) -> (u32, u128) {
    let base = u64::from(DECIMAL);
    let high = (value >> 32) as u64;
    let (quotient, rest) = (high / base, high % base);
    let low = rest << 32 | u64::from(value as u32);
    (
        (low % base) as u32,
        (u128::from(quotient) << 32) + u128::from(low / base),
    )
}

/// Coefficients from their digits in mixed radix, and carries.
#[inline(always)]
fn carried(
    [first, second, third]: [&[u32]; 3],
    length: usize,
    split: impl Fn(u128) -> (u32, u128),
) -> Vec<u32> {
    const LOWEST: u128 = PRIMES[0].value as u128;
    const MIDDLE: u64 = PRIMES[1].value as u64;
    let mut result = with_capacity(length);
    let mut carry = 0u128;
    let coefficients = first.iter().zip(second).zip(third).take(length);
    for ((&first, &second), &third) in coefficients {
        let upper = u64::from(third) * MIDDLE + u64::from(second);
        let value = u128::from(upper) * LOWEST + u128::from(first);
        let (digit, rest) = split(value + carry);
        result.push(digit);
        carry = rest;
    }
    // The ring may have ended one coefficient earlier.
    while result.len() < length {
        let (digit, rest) = split(carry);
        result.push(digit);
        carry = rest;
    }
    debug_assert_eq!(carry, 0);
    result
}

/// How a product of numbers of so many digits to a base (2^32 or 10^9, by its largest digit) is computed, and why it is exact.
fn proof(largest_digit: u32, shorter: usize, direct: bool) -> (Route, Proof) {
    let holds = match direct {
        true => Holds::Carries,
        false => Holds::Primes {
            count: COUNT,
            bits: bits_of_primes(COUNT),
            signed: false,
        },
    };
    let route = match direct {
        true => Route::Direct,
        false => Route::Ntt { primes: COUNT },
    };
    let proof = Proof {
        terms: shorter as u64,
        largest: [largest_digit.into(); 2],
        holds,
    };
    (route, proof)
}

/// How [`multiply_limbs`] computes for numbers of so many limbs, and why it is exact.
///
/// ```
/// let (route, proof) = exact_convolution::limbs_proof(500_000, 500_000);
/// assert_eq!(route, exact_convolution::Route::Ntt { primes: 3 });
/// assert!(proof.bits() <= proof.modulus_bits().unwrap());
/// ```
pub fn limbs_proof(first: usize, second: usize) -> (Route, Proof) {
    let shorter = first.min(second);
    let terms = (2 * shorter).min(MOST_TERMS);
    proof(u32::MAX, terms, shorter <= SHORT)
}

/// How [`multiply_decimal`] computes for numbers of so many digits to the base 10^9, and why it is exact.
pub fn decimal_proof(first: usize, second: usize) -> (Route, Proof) {
    let shorter = first.min(second);
    proof(
        DECIMAL - 1,
        shorter.min(MOST_TERMS),
        shorter <= SHORT_DECIMAL,
    )
}
