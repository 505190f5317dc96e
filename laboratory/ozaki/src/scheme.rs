//! Which moduli, and of how many bits the integers are.
//!
//! A row is scaled by a power of two to integers of magnitude at most `2^b`, and so is a column. A sum of `K` of their products is at most
//! `K·2^(2b)`, and the moduli must tell all such sums apart: `K·2^(2b) < M/2`, less the margin of [`Moduli::hold`].

use crate::error::OzakiError;
use crate::reconstruction::{PhaseB, Weights, power_of_two, rounded};
use crate::scaled::{FIELD_BIAS, NOT_FINITE, sum_exponent};
use residues::{Moduli, ResidueError, Set, U256};

/// The most bits: words are 64 bits with their sign.
pub const MOST_BITS: u32 = 62;
/// The most products of a sum: sums of a modulus are added in 32 bits, `2^16` at a time, and those in 64.
pub const MOST_PRODUCTS: usize = 1 << 40;

/// Moduli, bits of the integers, and what reconstruction needs.
#[derive(Debug, Clone)]
pub struct Scheme {
    moduli: Moduli,
    bits: u32,
    products: usize,
    pub(crate) weights: Weights,
}

impl Scheme {
    /// As many bits as so many moduli hold in sums of so many products.
    ///
    /// ```
    /// use ozaki::Scheme;
    /// assert_eq!(Scheme::with_moduli(4096, 15)?.bits(), 52);
    /// assert_eq!(Scheme::with_moduli(4096, 16)?.bits(), 56);
    /// # Ok::<(), ozaki::OzakiError>(())
    /// ```
    pub fn with_moduli(products: usize, count: usize) -> Result<Scheme, OzakiError> {
        let moduli = Moduli::first(Set::Int8, count)?;
        let holds = |bits: &u32| moduli.hold(largest_sum(products, *bits));
        let Some(bits) = (1..=MOST_BITS).rev().find(holds) else {
            moduli.demand(largest_sum(products, 1))?;
            return Err(OzakiError::Bits {
                bits: 0,
                most: MOST_BITS,
            });
        };
        Scheme::new(moduli, bits, products)
    }

    /// The fewest moduli that hold sums of so many products of integers of so many bits.
    ///
    /// ```
    /// use ozaki::Scheme;
    /// assert_eq!(Scheme::with_bits(4096, 53)?.moduli().len(), 16);
    /// # Ok::<(), ozaki::OzakiError>(())
    /// ```
    pub fn with_bits(products: usize, bits: u32) -> Result<Scheme, OzakiError> {
        if bits == 0 || bits > MOST_BITS {
            let most = MOST_BITS;
            return Err(OzakiError::Bits { bits, most });
        }
        let moduli = Moduli::holding(Set::Int8, largest_sum(products, bits))?;
        Scheme::new(moduli, bits, products)
    }

    fn new(moduli: Moduli, bits: u32, products: usize) -> Result<Scheme, OzakiError> {
        if products > MOST_PRODUCTS {
            let (given, most) = (products, MOST_PRODUCTS);
            return Err(OzakiError::TooLong { given, most });
        }
        moduli
            .demand(largest_sum(products, bits))
            .map_err(|error: ResidueError| OzakiError::from(error))?;
        let weights = Weights::new(&moduli);
        Ok(Scheme {
            moduli,
            bits,
            products,
            weights,
        })
    }

    /// The moduli.
    pub fn moduli(&self) -> &Moduli {
        &self.moduli
    }

    /// Bits `b` of the integers: rows are scaled to magnitudes of at most `2^b`.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Products that a sum may have.
    pub fn products(&self) -> usize {
        self.products
    }

    pub(crate) fn demand(&self, products: usize) -> Result<(), OzakiError> {
        match products <= self.products {
            true => Ok(()),
            false => Err(OzakiError::TooLong {
                given: products,
                most: self.products,
            }),
        }
    }

    /// What an element of a result may be off before it is rounded, for a row and a column with these exponent fields
    /// ([`crate::scaled::field_of`]) and so many products: `K·2^(p + q - b)`, where `2^p` and `2^q` are the powers of two above row and column.
    ///
    /// Let `A`, `X` be an entry of each, scaled, and `a`, `x` the integers next to them. `A·X - a·x = a·(X - x) + (A - a)·X`, and `|a| ≤ 2^b`,
    /// `|X| < 2^b`, and both differences are at most 1/2: every product is off by at most `2^b` in units of `2^(p + q - 2b)`.
    pub fn scaling_bound(&self, row_field: u32, column_field: u32, products: usize) -> f64 {
        let exponent = row_field as i32 + column_field as i32 - 2 * FIELD_BIAS - self.bits as i32;
        // In two steps, as the power itself may be out of range.
        products as f64 * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
    }

    /// The same and one half of the last place of the result: what [`crate::PhaseB::Integers`] keeps.
    pub fn error_bound(
        &self,
        row_field: u32,
        column_field: u32,
        products: usize,
        result: f64,
    ) -> f64 {
        let half = (result.abs() * f64::EPSILON / 2.0).max(f64::from_bits(1));
        self.scaling_bound(row_field, column_field, products) + half
    }

    /// A number from sums of products modulo every modulus.
    pub(crate) fn number(&self, phase_b: PhaseB, sums: &[i64], fields: [u32; 2]) -> f64 {
        if fields.contains(&NOT_FINITE) {
            return f64::NAN;
        }
        let mut rests = [0u32; Moduli::MOST];
        let moduli = self.moduli().values();
        for ((rest, &sum), &modulus) in rests.iter_mut().zip(sums).zip(moduli) {
            *rest = sum.rem_euclid(i64::from(modulus)) as u32;
        }
        let (rests, exponent) = (&rests[..sums.len()], sum_exponent(fields, self.bits()));
        match phase_b {
            PhaseB::Integers => rounded(self.weights.integer(rests), exponent),
            PhaseB::Doubles => {
                let first = (exponent / 2).clamp(-1022, 1023);
                let second = (exponent - first).clamp(-1022, 1023);
                self.weights.double(rests) * power_of_two(first) * power_of_two(second)
            }
        }
    }
}

fn largest_sum(products: usize, bits: u32) -> U256 {
    U256::from(products.max(1) as u64) << (2 * bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_as_many_as_the_moduli_hold_and_moduli_as_few_as_hold_them() {
        for products in [1, 7, 16, 27, 512, 4096, 8192, 1 << 20] {
            for count in 4..=18 {
                let scheme = Scheme::with_moduli(products, count).expect("a scheme");
                let (sum, half) = (
                    largest_sum(products, scheme.bits()),
                    scheme.moduli().product() >> 1,
                );
                assert!(sum < half);
                if scheme.bits() < MOST_BITS {
                    assert!(sum << 2u32 > half - (half >> 10));
                    let fewest = Scheme::with_bits(products, scheme.bits() + 1);
                    assert!(fewest.expect("a scheme").moduli().len() > count);
                }
            }
        }
        assert!(matches!(
            Scheme::with_bits(4, 63),
            Err(OzakiError::Bits { bits: 63, .. })
        ));
        assert!(Scheme::with_moduli(1 << 20, 1).is_err());
        assert!(Scheme::with_moduli(16, 25).is_err());
    }
}
