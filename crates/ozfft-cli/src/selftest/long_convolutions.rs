//! Exact convolutions and products of 10^3 to 10^5 elements, the paths of several passes among them. Sums by the definition would take their square; instead both sides are evaluated
//! modulo a prime of 61 bits that is drawn for each case, polynomials at a point drawn as well.
//!
//! What a wrong result escapes with is known. If a coefficient is wrong by less than 2^128, at most two of the 2.7·10^16 primes divide the difference; otherwise it is a polynomial
//! of a degree below 2·10^5 that is not zero, which vanishes at no more points of 10^18. Two integers of 2·10^5 limbs that differ do so by a number with at most 2.2·10^5 such
//! prime factors. So a wrong convolution passes with a probability below 10^-12, a wrong integer below 10^-11. Polynomials modulo a prime are evaluated modulo that, at as many points as
//! that takes.

use super::operands::{Counts, Devices, integers, limbs};
use ozfft::convolution::{ConvolutionRoute, ExactConvolution, multiply_polynomials};
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::problems::Source;
use std::sync::atomic::Ordering;

/// Elements of the shortest and of the longest.
const SHORTEST: f64 = 1e3;
const LONGEST: f64 = 1e5;
/// Products of elements that are formed one by one, if there are no more.
const MOST_DIRECT: usize = 4_000_000;

/// Arithmetic modulo a prime.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Field(u64);

impl Field {
    /// A prime between 2^60 and 2^61.
    fn drawn(generator: &mut Generator) -> Field {
        loop {
            let candidate = (1 << 60) | (generator.next_u64() >> 4) | 1;
            if is_prime(candidate) {
                return Field(candidate);
            }
        }
    }

    fn add(self, a: u64, b: u64) -> u64 {
        ((u128::from(a) + u128::from(b)) % u128::from(self.0)) as u64
    }

    fn multiply(self, a: u64, b: u64) -> u64 {
        (u128::from(a) * u128::from(b) % u128::from(self.0)) as u64
    }

    fn power(self, base: u64, mut exponent: u64) -> u64 {
        let (mut result, mut square) = (1, base % self.0);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = self.multiply(result, square);
            }
            square = self.multiply(square, square);
            exponent >>= 1;
        }
        result
    }

    fn of(self, value: i128) -> u64 {
        value.rem_euclid(i128::from(self.0)) as u64
    }

    fn point(self, generator: &mut Generator) -> u64 {
        1 + generator.next_u64() % (self.0 - 1)
    }

    /// Of the polynomial with these coefficients, the constant one first.
    fn value(self, coefficients: impl DoubleEndedIterator<Item = u64>, point: u64) -> u64 {
        let horner = |sum, coefficient| self.add(self.multiply(sum, point), coefficient);
        coefficients.rev().fold(0, horner)
    }

    /// Of the remainder of the product modulo x^n - 1, from the factors alone.
    fn cyclic_value(self, a: &[i64], b: &[i64], point: u64) -> u64 {
        let n = a.len();
        let whole = self.value(b.iter().map(|&y| self.of(y.into())), point);
        let back = self.power(self.power(point, n as u64), self.0 - 2);
        // Of b_j with i + j < n, and of the rest, which comes back by n places.
        let (mut below, mut sum) = (whole, 0);
        let mut power_of_i = 1;
        let mut power_of_last = self.power(point, n as u64 - 1);
        let inverse = self.power(point, self.0 - 2);
        for (i, &x) in a.iter().enumerate() {
            let above = self.add(whole, self.0 - below);
            let row = self.add(below, self.multiply(above, back));
            let term = self.multiply(self.multiply(self.of(x.into()), power_of_i), row);
            sum = self.add(sum, term);
            power_of_i = self.multiply(power_of_i, point);
            // The next row has one element fewer below n.
            let last = self.multiply(self.of(b[n - 1 - i].into()), power_of_last);
            below = self.add(below, self.0 - last);
            power_of_last = self.multiply(power_of_last, inverse);
        }
        sum
    }
}

/// By the test of Miller and Rabin with the first twelve primes, which decides all numbers of 64 bits (Sorenson and Webster 2015).
fn is_prime(candidate: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if candidate < 2 || BASES.iter().any(|&base| candidate.is_multiple_of(base)) {
        return BASES.contains(&candidate);
    }
    let field = Field(candidate);
    let twos = (candidate - 1).trailing_zeros();
    BASES.iter().all(|&base| {
        let mut power = field.power(base, (candidate - 1) >> twos);
        let mut passes = power == 1;
        for _ in 0..twos {
            passes |= power == candidate - 1;
            power = field.multiply(power, power);
        }
        passes
    })
}

/// Lengths evenly spread over their logarithms.
fn length(generator: &mut Generator) -> usize {
    let exponent = 0.5 + 0.5 * generator.uniform();
    (SHORTEST * (LONGEST / SHORTEST).powf(exponent)) as usize
}

/// One long case.
pub(super) fn check(
    generator: &mut Generator,
    counts: &Counts,
    devices: &Devices,
) -> Result<(), String> {
    match generator.below(8) {
        0 => product(generator, counts, devices),
        1 => polynomials(generator, counts),
        _ => convolution(generator, counts, devices),
    }
}

fn convolution(
    generator: &mut Generator,
    counts: &Counts,
    devices: &Devices,
) -> Result<(), String> {
    let first = length(generator);
    let cyclic = generator.below(3) == 0;
    let second = if cyclic { first } else { length(generator) };
    let terms = usize::BITS - first.min(second).leading_zeros();
    // So few that transforms in floating point are proven for many of them, or any that i128 holds.
    let most = generator.pick(&[10, 20, 62]);
    let bits_a = 1 + generator.below(most) as u32;
    let bits_b = (1 + generator.below(most) as u32).min(126 - terms - bits_a);
    let (largest_a, largest_b) = ((1i64 << bits_a) - 1, 1i64 << bits_b);
    let a = integers(generator, first, largest_a);
    let b = integers(generator, second, largest_b);
    let what =
        format!("{first} with {second}, cyclic {cyclic}, magnitudes {largest_a} and {largest_b}");
    let problem = match cyclic {
        true => ExactConvolution::cyclic(first),
        false => ExactConvolution::linear(first, second),
    };
    let problem = problem
        .magnitudes(largest_a as u128, largest_b as u128)
        .device(devices.device);
    let field = Field::drawn(generator);
    let point = field.point(generator);
    let of = |elements: &[i64]| {
        let elements = elements.iter().map(|&x| field.of(x.into()));
        field.value(elements, point)
    };
    let expected = match cyclic {
        true => field.cyclic_value(&a, &b, point),
        false => field.multiply(of(&a), of(&b)),
    };
    for (route, count) in ConvolutionRoute::ALL.into_iter().zip(&counts.routes) {
        let takes_too_long = match route {
            ConvolutionRoute::Direct => first * second > MOST_DIRECT,
            // Tables of double-double numbers; on a GPU kernels are compiled when plans are made.
            ConvolutionRoute::Pairs => first.max(second) > 5_000 || generator.below(8) != 0,
            ConvolutionRoute::Digits => devices.device != ozfft::Device::Cpu,
            _ => false,
        };
        if takes_too_long {
            continue;
        }
        let Some(plan) = counts.proven(problem.clone().route(route), &what)? else {
            continue;
        };
        count.fetch_add(1, Ordering::Relaxed);
        let found = plan.process::<i64, i64, i128>(&a, &b);
        let found = found.map_err(|error| format!("{what}, {route}: {error}"))?;
        let length = if cyclic { first } else { first + second - 1 };
        let sums = found.iter().map(|&sum| field.of(sum));
        if found.len() != length || field.value(sums, point) != expected {
            return Err(format!("{what}: {route} has wrong sums"));
        }
    }
    Ok(())
}

fn product(generator: &mut Generator, counts: &Counts, devices: &Devices) -> Result<(), String> {
    counts.products.fetch_add(1, Ordering::Relaxed);
    let (first, second) = (length(generator), length(generator));
    let decimal = generator.below(2) == 0;
    let base: u128 = if decimal { 1_000_000_000 } else { 1 << 64 };
    let (a, b) = (
        limbs(generator, first, base),
        limbs(generator, second, base),
    );
    let short = |digits: &[u64]| -> Vec<u32> { digits.iter().map(|&digit| digit as u32).collect() };
    let multiplier = &devices.multiplier;
    let digits: Result<Vec<u64>, _> = if decimal {
        let product = multiplier.multiply_decimal(&short(&a), &short(&b));
        product.map(|product| product.digits.into_iter().map(u64::from).collect())
    } else {
        multiplier
            .multiply_limbs(&a, &b)
            .map(|product| product.digits)
    };
    let what = format!("a product of {first} and {second} digits to the base {base}");
    let digits = digits.map_err(|error| format!("{what}: {error}"))?;
    let field = Field::drawn(generator);
    let of = |digits: &[u64]| {
        let base = (base % u128::from(field.0)) as u64;
        field.value(digits.iter().map(|digit| digit % field.0), base)
    };
    let proper =
        digits.len() == first + second && digits.iter().all(|&digit| u128::from(digit) < base);
    match proper && of(&digits) == field.multiply(of(&a), of(&b)) {
        true => Ok(()),
        false => Err(format!("{what} is wrong")),
    }
}

fn polynomials(generator: &mut Generator, counts: &Counts) -> Result<(), String> {
    counts.products.fetch_add(1, Ordering::Relaxed);
    let (field, points) = match generator.below(3) {
        // The largest prime of 64 bits.
        0 => (Field(u64::MAX - 58), 1),
        // 2·10^5 of 10^9 points are zeros of a difference at most.
        1 => (Field(998_244_353), 4),
        _ => (Field::drawn(generator), 1),
    };
    let (first, second) = (length(generator), length(generator));
    let base = u128::from(field.0);
    let (a, b) = (
        limbs(generator, first, base),
        limbs(generator, second, base),
    );
    let what = format!(
        "polynomials of {first} and {second} coefficients modulo {}",
        field.0
    );
    let found = multiply_polynomials(&a, &b, field.0);
    let found = found.map_err(|error| format!("{what}: {error}"))?;
    let reduced = found.iter().all(|&coefficient| coefficient < field.0);
    let mut right = reduced && found.len() == first + second - 1;
    for _ in 0..points {
        let point = field.point(generator);
        let of = |polynomial: &[u64]| field.value(polynomial.iter().copied(), point);
        right &= of(&found) == field.multiply(of(&a), of(&b));
    }
    match right {
        true => Ok(()),
        false => Err(format!("{what} have a wrong product")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_are_told_from_others() {
        let primes = (0..100).filter(|&n| is_prime(n)).collect::<Vec<_>>();
        assert_eq!(primes.len(), 25);
        // The largest of 64 and of 63 bits, and that of 2^61 - 1; numbers that pass the test with few bases, and squares.
        for prime in [u64::MAX - 58, (1 << 63) - 25, (1 << 61) - 1, 998_244_353] {
            assert!(is_prime(prime), "{prime}");
        }
        for other in [
            3_215_031_751,
            3_825_123_056_546_413_051,
            u64::MAX,
            998_244_353 * 998_244_353,
        ] {
            assert!(!is_prime(other), "{other}");
        }
        let mut generator = Generator::new(3);
        let drawn = Field::drawn(&mut generator);
        assert!(drawn.0 >> 60 == 1 && drawn != Field::drawn(&mut generator));
    }

    #[test]
    fn evaluated_products_are_those_of_the_definition_and_any_wrong_sum_is_found() {
        let mut generator = Generator::new(5);
        for n in [1, 2, 7, 40] {
            let a = integers(&mut generator, n, 1 << 40);
            let b = integers(&mut generator, n, 1 << 50);
            let field = Field::drawn(&mut generator);
            let point = field.point(&mut generator);
            let mut cyclic = vec![0i128; n];
            for (i, &x) in a.iter().enumerate() {
                for (j, &y) in b.iter().enumerate() {
                    cyclic[(i + j) % n] += i128::from(x) * i128::from(y);
                }
            }
            let value = |sums: &[i128]| field.value(sums.iter().map(|&sum| field.of(sum)), point);
            let expected = field.cyclic_value(&a, &b, point);
            assert_eq!(value(&cyclic), expected, "{n}");
            for place in 0..n {
                cyclic[place] += 1;
                assert_ne!(value(&cyclic), expected, "{n} {place}");
                cyclic[place] -= 1;
            }
        }
    }
}
