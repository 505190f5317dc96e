//! Why a result is exact, in numbers.

use std::fmt;

/// How a convolution is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Route {
    /// Product by product.
    Direct,
    /// Number-theoretic transforms modulo so many primes, and Chinese remainders.
    Ntt {
        /// Primes of 30 bits, at most six.
        primes: usize,
    },
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Route::Direct => f.write_str("direct"),
            Route::Ntt { primes: 1 } => f.write_str("NTT modulo one prime"),
            Route::Ntt { primes } => write!(f, "NTT modulo {primes} primes"),
        }
    }
}

/// The argument: results are at most so large, and what computes them holds more.
///
/// `Display` writes it as sentences with all numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    pub(crate) terms: u64,
    pub(crate) largest: [u128; 2],
    /// What holds every result.
    pub(crate) holds: Holds,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Integers of so many bits, sign included; without one where results have all bits, which are refused where operands are negative.
    Sums { bits: u32 },
    /// Sums are reduced modulo this number term by term, so nothing grows.
    Reduced { modulus: u64 },
    /// The product of so many primes, which is above 2^`bits`.
    Primes {
        count: usize,
        bits: u32,
        signed: bool,
    },
    /// Carries are resolved row by row.
    Carries,
}

impl Proof {
    /// Products in a result, at most.
    pub fn terms(&self) -> u64 {
        self.terms
    }

    /// Largest magnitudes of the operands.
    pub fn largest_operands(&self) -> [u128; 2] {
        self.largest
    }

    /// The largest magnitude that a result can have; none beyond 2^128.
    pub fn bound(&self) -> Option<u128> {
        let product = self.largest[0].checked_mul(self.largest[1])?;
        product.checked_mul(u128::from(self.terms))
    }

    /// `bound() < 2^bits`.
    pub fn bits(&self) -> u32 {
        let bits = |number: u128| u128::BITS - number.leading_zeros();
        match self.bound() {
            Some(bound) => bits(bound),
            None => bits(self.terms.into()) + bits(self.largest[0]) + bits(self.largest[1]),
        }
    }

    /// The modulus that the results are below is above 2^(this), where there is one.
    pub fn modulus_bits(&self) -> Option<u32> {
        match self.holds {
            Holds::Primes { bits, .. } => Some(bits),
            _ => None,
        }
    }

    pub(crate) fn bound_text(&self) -> String {
        match self.bound() {
            Some(bound) => bound.to_string(),
            None => format!("2^{}", self.bits()),
        }
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.largest;
        let bound = self.bound_text();
        write!(
            f,
            "a result is a sum of at most {} products of magnitudes up to {first} and {second}, so at most {bound} (below 2^{}); ",
            self.terms,
            self.bits()
        )?;
        match self.holds {
            Holds::Sums { bits } if self.bits() == bits => write!(
                f,
                "it is summed in integers of {bits} bits without a sign, which hold it where no operand is negative"
            ),
            Holds::Sums { bits } => {
                write!(f, "it is summed in integers of {bits} bits, which hold it")
            }
            Holds::Reduced { modulus } => write!(
                f,
                "every product is reduced modulo {modulus} before it is added"
            ),
            Holds::Carries => write!(f, "every product of two limbs is added with its carry"),
            Holds::Primes {
                count,
                bits,
                signed: true,
            } => write!(
                f,
                "the product of {count} primes is above 2^{bits}, more than four times that, so the residues determine it with its sign"
            ),
            Holds::Primes {
                count,
                bits,
                signed: false,
            } => write!(
                f,
                "the product of {count} primes is above 2^{bits}, so the residues determine it"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Convolution, ConvolutionError};

    /// They were said to be held by integers of 128 bits whatever their sign.
    #[test]
    fn results_of_all_128_bits_are_proven_without_a_sign_alone() {
        let proof = |terms: usize| {
            let problem = Convolution::linear(10, terms).magnitudes(1 << 63, 1 << 63);
            problem.plan().unwrap()
        };
        let most = proof(1);
        assert_eq!(most.proof().bits(), 127);
        assert!(
            most.proof()
                .to_string()
                .ends_with("128 bits, which hold it")
        );
        let beyond = proof(3);
        assert_eq!(beyond.proof().bits(), 128);
        let text = beyond.proof().to_string();
        assert!(text.contains("without a sign"), "{text}");
        let refused = beyond.process::<i64, i64, i128>(&[1; 10], &[1; 3]);
        assert!(matches!(
            refused,
            Err(ConvolutionError::ResultMayNotFit { .. })
        ));
        let largest: Vec<u128> = beyond.process(&[1u64 << 63; 10], &[1u64 << 63; 3]).unwrap();
        assert_eq!(largest[5], 3 << 126);
    }
}
