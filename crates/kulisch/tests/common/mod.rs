//! The referee: exact sums as big integers, rounded by comparing remainders. Shares nothing with the library.
#![allow(dead_code)]

use num_bigint::{BigInt, BigUint, Sign};

/// Sums are multiples of 2^-2148, the product of the two smallest doubles.
const UNIT: i32 = -2148;

/// The direction in which a result is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Nearest,
    Up,
    Down,
    Zero,
}

/// A number as a multiple of the smallest double, 2^-1074.
pub fn multiple(value: f64) -> BigInt {
    assert!(value.is_finite());
    let bits = value.abs().to_bits();
    let field = bits >> 52;
    let fraction = bits & ((1 << 52) - 1);
    let magnitude = if field == 0 {
        BigInt::from(fraction)
    } else {
        BigInt::from(fraction + (1 << 52)) << (field - 1)
    };
    if value < 0.0 { -magnitude } else { magnitude }
}

/// The exact sum of numbers, in units of 2^-2148.
pub fn exact_sum(values: &[f64]) -> BigInt {
    values.iter().map(|&value| multiple(value)).sum::<BigInt>() << 1074
}

/// The exact sum of products, in units of 2^-2148.
pub fn exact_dot(left: &[f64], right: &[f64]) -> BigInt {
    let pairs = left.iter().zip(right);
    pairs.map(|(&a, &b)| multiple(a) * multiple(b)).sum()
}

/// The quotient of two integers, times 2^-2148, rounded to a format of so many bits.
fn rounded(
    numerator: &BigInt,
    denominator: &BigUint,
    direction: Direction,
    bits: u64,
    largest: i32,
) -> f64 {
    let negative = numerator.sign() == Sign::Minus;
    let numerator = numerator.magnitude();
    if *numerator == BigUint::ZERO {
        return 0.0;
    }
    // The power of two that the last bit weighs, from below: quotient >= 2^(length - 1).
    let lowest = 2 - largest - bits as i32;
    let mut last = (numerator.bits() as i32 - denominator.bits() as i32 - 1 + UNIT
        - (bits as i32 - 1))
        .max(lowest);
    let (mut whole, mut rest, mut divisor);
    loop {
        // quotient / 2^(last - UNIT)
        let shift = last - UNIT;
        let (scaled, by) = if shift >= 0 {
            (numerator.clone(), denominator << shift as u64)
        } else {
            (numerator << (-shift) as u64, denominator.clone())
        };
        whole = &scaled / &by;
        rest = scaled - &whole * &by;
        divisor = by;
        if whole.bits() <= bits {
            break;
        }
        last += 1;
    }
    let twice: BigUint = &rest << 1u32;
    let odd = whole.bit(0);
    let up = match direction {
        Direction::Nearest => twice > divisor || (twice == divisor && odd),
        Direction::Up => rest != BigUint::ZERO && !negative,
        Direction::Down => rest != BigUint::ZERO && negative,
        Direction::Zero => false,
    };
    if up {
        whole += 1u32;
    }
    let whole = u64::try_from(whole).expect("53 bits and a carry");
    // Exact: an integer of at most 53 bits (or a power of two) times a power of two in two steps of which at most the
    // last leaves the range, and only upwards.
    let half = last / 2;
    let mut value = whole as f64 * 2f64.powi(half) * 2f64.powi(last - half);
    let biggest = if bits == 53 {
        f64::MAX
    } else {
        f64::from(f32::MAX)
    };
    if value > biggest {
        let away = match direction {
            Direction::Nearest => true,
            Direction::Up => !negative,
            Direction::Down => negative,
            Direction::Zero => false,
        };
        value = if away { f64::INFINITY } else { biggest };
    }
    if negative { -value } else { value }
}

/// Rounds to a double.
pub fn double(exact: &BigInt, direction: Direction) -> f64 {
    rounded(exact, &BigUint::from(1u32), direction, 53, 1023)
}

/// Rounds a quotient to the nearest double.
pub fn double_quotient(numerator: &BigInt, denominator: &BigUint) -> f64 {
    rounded(numerator, denominator, Direction::Nearest, 53, 1023)
}

/// Rounds to a float.
pub fn single(exact: &BigInt, direction: Direction) -> f32 {
    rounded(exact, &BigUint::from(1u32), direction, 24, 127) as f32
}

/// The square root, rounded to the nearest double: found by comparing squares of midpoints.
pub fn double_square_root(exact: &BigInt) -> f64 {
    let exact = exact.magnitude();
    if *exact == BigUint::ZERO {
        return 0.0;
    }
    // Roots are multiples of 2^-1074. Many bits more are enough, as no midpoint of doubles is a square root but exactly.
    let root: BigUint = (exact << 400u32).sqrt();
    let inexact = &root * &root != exact << 400u32;
    // root / 2^200 in units of 2^-1074; a rest moves it off any midpoint.
    let numerator = (BigInt::from(root) << 1075) + i32::from(inexact);
    rounded(
        &numerator,
        &(BigUint::from(1u32) << 201u32),
        Direction::Nearest,
        53,
        1023,
    )
}

/// xorshift64*: small, and the same everywhere.
#[derive(Debug, Clone)]
pub struct Generator(u64);

impl Generator {
    pub fn new(seed: u64) -> Generator {
        Generator(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (((self.bits() >> 32) * end as u64) >> 32) as usize
    }

    pub fn between(&mut self, low: i32, high: i32) -> i32 {
        low + self.below((high - low + 1) as usize) as i32
    }

    /// Any finite number with an exponent in this range (-1075 gives subnormal numbers).
    pub fn number(&mut self, low: i32, high: i32) -> f64 {
        let exponent = self.between(low, high).clamp(-1023, 1023);
        let fraction = match self.below(4) {
            // Few bits, so that sums are often ties.
            0 => self.bits() & self.bits() & 0xfff0_0000_0000_0003,
            1 => 0u64.wrapping_sub(self.bits() & 1),
            _ => self.bits(),
        };
        f64::from_bits((((exponent + 1023) as u64) << 52) | (fraction >> 12) | (self.bits() << 63))
    }

    pub fn shuffle(&mut self, values: &mut [f64]) {
        for end in (1..values.len()).rev() {
            let other = self.below(end + 1);
            values.swap(end, other);
        }
    }

    /// Numbers of one of the kinds that break careless sums.
    pub fn numbers(&mut self, count: usize) -> Vec<f64> {
        let kind = self.below(11);
        let middle = self.between(-1000, 1000);
        let mut values: Vec<f64> = (0..count)
            .map(|k| match kind {
                0 => self.number(-3, 0),
                1 => self.number(-1075, 1023),
                2 => self.number(-1075, -1020),
                3 => self.number(1020, 1023),
                4 => self.number(middle - 30, middle + 20),
                5 => self.number(middle - 90, middle + 60),
                6 => self.between(-1000, 1000).into(),
                7 => [0.0, -0.0][self.below(2)],
                8 => -0.0,
                9 => {
                    // A tie, and things far below it.
                    let near = [1.0, f64::EPSILON / 2.0, 1.0 + f64::EPSILON];
                    match k {
                        0 => near[2 * self.below(2)],
                        1 => near[1],
                        _ if self.below(3) == 0 => self.number(-1075, -60),
                        _ => 0.0,
                    }
                }
                _ => self.number(-537, -400),
            })
            .collect();
        if self.below(3) == 0 {
            // Nearly everything cancels: condition numbers without limit.
            let half = count / 2;
            for k in 0..half {
                values[half + k] = -values[k];
            }
            if count > 2 && self.below(2) == 0 {
                values[count - 1] = self.number(-1075, 0);
            }
            self.shuffle(&mut values);
        }
        values
    }
}

/// The zero that a sum of zero is: -0 only where there are terms and all of them are -0.
pub fn zero_of(terms: impl IntoIterator<Item = f64>) -> f64 {
    let mut terms = terms.into_iter().peekable();
    if terms.peek().is_some() && terms.all(|term| term.to_bits() == 1 << 63) {
        -0.0
    } else {
        0.0
    }
}

/// What a correctly rounded sum is.
pub fn expected_sum(values: &[f64], direction: Direction) -> f64 {
    let exact = exact_sum(values);
    if exact == BigInt::ZERO {
        zero_of(values.iter().copied())
    } else {
        double(&exact, direction)
    }
}

/// What a correctly rounded dot product is.
pub fn expected_dot(left: &[f64], right: &[f64], direction: Direction) -> f64 {
    let exact = exact_dot(left, right);
    if exact == BigInt::ZERO {
        // A product that is zero only because it is small is no zero term.
        let sign = |(&a, &b): (&f64, &f64)| {
            let term = if a == 0.0 || b == 0.0 { 0.0 } else { 1.0 };
            if (a.is_sign_negative()) == (b.is_sign_negative()) {
                term
            } else {
                -term
            }
        };
        zero_of(left.iter().zip(right).map(sign))
    } else {
        double(&exact, direction)
    }
}
