//! The primes, and arithmetic modulo one of them in Montgomery's form.
//!
//! All lie between 2^29 and 2^30. Below 2^30 four times a residue fits 32 bits, so that butterflies need few corrections, and sixteen
//! products of residues fit 64 bits; above 2^29 a residue of one prime is less than twice any other, and one subtraction reduces it.

/// A product with this factor takes no division: the factor times 2^32, and that times the inverse of the prime modulo 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Factor {
    pub(crate) scaled: u32,
    pub(crate) quotient: u32,
}

/// A prime `k·2^order + 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Prime {
    pub(crate) value: u32,
    /// Its inverse modulo 2^32.
    pub(crate) inverse: u32,
    /// 2^32 and 2^64 modulo the prime.
    one: u32,
    square: u32,
    /// A root of unity of order 2^[`ORDER`].
    root: u32,
}

/// Roots of unity of order 2^22 exist modulo every prime of the list: at most as many rows has a transform.
pub(crate) const ORDER: u32 = 22;

/// The primes in the order in which they are taken, the largest first.
pub(crate) const PRIMES: [Prime; 6] = [
    Prime::new(998_244_353, 3),
    Prime::new(985_661_441, 3),
    Prime::new(943_718_401, 7),
    Prime::new(935_329_793, 3),
    Prime::new(918_552_577, 5),
    Prime::new(897_581_057, 3),
];

impl Prime {
    const fn new(value: u32, generator: u32) -> Prime {
        assert!(value > 1 << 29 && value < 1 << 30);
        assert!((value - 1).is_multiple_of(1 << ORDER));
        // Newton's iteration doubles the bits of an inverse that are right; any odd number is its own to three.
        let mut inverse = value;
        let mut bits = 3;
        while bits < 32 {
            inverse = inverse.wrapping_mul(2u32.wrapping_sub(value.wrapping_mul(inverse)));
            bits *= 2;
        }
        let one = ((1u64 << 32) % value as u64) as u32;
        Prime {
            value,
            inverse,
            one,
            square: (one as u64 * one as u64 % value as u64) as u32,
            root: power(generator, (value - 1) >> ORDER, value),
        }
    }

    /// A factor of [`Prime::multiply`].
    pub(crate) const fn factor(&self, value: u32) -> Factor {
        let scaled = self.redc(value as u64 * self.square as u64);
        Factor {
            scaled,
            quotient: scaled.wrapping_mul(self.inverse),
        }
    }

    /// A number below `value·2^32`, divided by 2^32 modulo the prime.
    const fn redc(&self, number: u64) -> u32 {
        let quotient = (number as u32).wrapping_mul(self.inverse);
        let product = (quotient as u64 * self.value as u64) >> 32;
        let difference = ((number >> 32) as u32).wrapping_sub(product as u32);
        match (number >> 32) < product {
            true => difference.wrapping_add(self.value),
            false => difference,
        }
    }

    /// Product with a factor, of any 32-bit number.
    pub(crate) const fn multiply(&self, number: u32, factor: Factor) -> u32 {
        self.redc(number as u64 * factor.scaled as u64)
    }

    pub(crate) const fn power(&self, base: u32, exponent: u32) -> u32 {
        power(base, exponent, self.value)
    }

    pub(crate) const fn invert(&self, number: u32) -> u32 {
        self.power(number, self.value - 2)
    }

    /// A root of unity of order 2^`bits`.
    pub(crate) const fn root(&self, bits: u32) -> u32 {
        assert!(bits <= ORDER);
        self.power(self.root, 1 << (ORDER - bits))
    }

    pub(crate) const fn subtract(&self, a: u32, b: u32) -> u32 {
        match a < b {
            true => a + self.value - b,
            false => a - b,
        }
    }

    pub(crate) const fn negate(&self, a: u32) -> u32 {
        self.subtract(0, a)
    }

    /// The factor by which a row product and a transform of `rows` are brought back: the former divides by 2^32, the latter multiplies by `rows`.
    pub(crate) const fn back(&self, rows: u32) -> Factor {
        assert!(rows.is_power_of_two());
        let half = self.value.div_ceil(2);
        let inverse = self.power(half, rows.trailing_zeros());
        self.factor((inverse as u64 * self.one as u64 % self.value as u64) as u32)
    }
}

const fn power(base: u32, exponent: u32, modulus: u32) -> u32 {
    let modulus = modulus as u64;
    let (mut result, mut square, mut rest) = (1, base as u64 % modulus, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result * square % modulus;
        }
        square = square * square % modulus;
        rest >>= 1;
    }
    result as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_primes_are_prime_and_have_their_roots() {
        for prime in PRIMES {
            let value = u64::from(prime.value);
            assert!((2..=value.isqrt()).all(|divisor| !value.is_multiple_of(divisor)));
            assert_eq!(prime.value.wrapping_mul(prime.inverse), 1);
            assert_eq!(prime.root(1), prime.value - 1);
            assert_eq!(prime.root(0), 1);
            assert_eq!(prime.power(prime.root(2), 2), prime.value - 1);
        }
    }

    #[test]
    fn products_are_those_of_long_division() {
        for prime in PRIMES {
            let p = prime.value;
            let numbers = [0, 1, 2, p / 2, p - 2, p - 1, p, 4 * (p - 1), u32::MAX];
            for a in numbers {
                for b in numbers.map(|b| b % p) {
                    let expected = u64::from(a) * u64::from(b) % u64::from(p);
                    assert_eq!(u64::from(prime.multiply(a, prime.factor(b))), expected);
                }
            }
        }
    }
}
