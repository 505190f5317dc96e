//! Products of polynomials whose coefficients are integers modulo a number.

use crate::error::{ConvolutionError, Which};
use crate::modular::chinese::bits_of_primes;
use crate::modular::engine;
use crate::modular::prime::PRIMES;
use crate::modular::unit::Unit;
use crate::proof::{Holds, Proof, Route};

/// Shorter polynomials are multiplied product by product.
const SHORT: usize = 32;

/// The product of two polynomials modulo any number from 1 to 2^64 - 1, the constant terms first. Coefficients need not be reduced.
///
/// ```
/// let product = exact_convolution::multiply_polynomials(&[1, 2], &[3, 6], 7)?;
/// assert_eq!(product, [3, 5, 5]);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
pub fn multiply_polynomials(
    a: &[u64],
    b: &[u64],
    modulus: u64,
) -> Result<Vec<u64>, ConvolutionError> {
    let (route, _) = polynomial_proof(a.len(), b.len(), modulus)?;
    let reduced =
        |numbers: &[u64]| -> Vec<u64> { numbers.iter().map(|number| number % modulus).collect() };
    let (a, b) = (reduced(a), reduced(b));
    let wide = u128::from(modulus);
    let mut result = vec![0u64; a.len() + b.len() - 1];
    match route {
        Route::Direct => {
            for (place, &factor) in a.iter().enumerate() {
                for (sum, &number) in result[place..].iter_mut().zip(&b) {
                    let product = u128::from(factor) * u128::from(number) + u128::from(*sum);
                    *sum = (product % wide) as u64;
                }
            }
        }
        Route::Ntt { primes } => {
            engine::unsigned(Unit::best(), primes, &a, &b, |place, digits, length| {
                let radices = digits.radices(modulus);
                for (k, target) in result[place..][..length].iter_mut().enumerate() {
                    let value = digits.modulo(k, &radices, modulus);
                    *target = ((u128::from(*target) + u128::from(value)) % wide) as u64;
                }
            });
        }
    }
    Ok(result)
}

/// How [`multiply_polynomials`] computes for operands of these lengths, and why it is exact.
pub fn polynomial_proof(
    first: usize,
    second: usize,
    modulus: u64,
) -> Result<(Route, Proof), ConvolutionError> {
    if modulus == 0 {
        return Err(ConvolutionError::ZeroModulus);
    }
    for (which, length) in [(Which::First, first), (Which::Second, second)] {
        if length == 0 {
            return Err(ConvolutionError::Empty { which });
        }
    }
    let shorter = first.min(second);
    let mut proof = Proof {
        terms: shorter as u64,
        largest: [u128::from(modulus - 1); 2],
        holds: Holds::Reduced { modulus },
    };
    let bits = proof.bits();
    let primes = (1..=PRIMES.len()).find(|&count| bits_of_primes(count) >= bits);
    match primes {
        Some(count) if shorter > SHORT => {
            proof.holds = Holds::Primes {
                count,
                bits: bits_of_primes(count),
                signed: false,
            };
            Ok((Route::Ntt { primes: count }, proof))
        }
        // More than 2^49 coefficients, which no memory holds.
        None if shorter > SHORT => Err(ConvolutionError::TooManyBits {
            bits,
            most: bits_of_primes(PRIMES.len()),
        }),
        _ => Ok((Route::Direct, proof)),
    }
}
