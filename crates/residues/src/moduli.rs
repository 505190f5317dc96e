//! Which moduli, and how many.
//!
//! Residues modulo `m` stand for all integers of a range of length `M`, the product of the moduli. A product of integers
//! of magnitude at most `bound` needs `2·bound < M`; a little more is asked for ([`MARGIN_BITS`]), so that the multiple of `M`
//! to subtract from a sum can be found from its leading bits.

use crate::error::ResidueError;
use crate::set::Set;
use ethnum::U256;

/// Integers may be so many parts of a power of two smaller than half the product: `|x| <= M/2·(1 - 2^-MARGIN_BITS)`.
pub const MARGIN_BITS: u32 = 12;

/// The largest root of a square that residues of two digits up to 16 reach: `33·16 + 16 = 544 = (33² - 1)/2`.
const LARGEST_ROOT: u16 = 33;
/// The smallest square that is larger than what Karatsuba's moduli offer.
const SMALLEST_ROOT: u16 = 23;
/// Residues of magnitude 255 at most: two digits up to 16 to the base 16 whose sum is at most 16, too.
const LARGEST_OTHER: u16 = 511;

fn greatest_common_divisor(a: u16, b: u16) -> u16 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

/// The root of a square.
pub(crate) fn root_of(modulus: u16) -> Option<u16> {
    (SMALLEST_ROOT..=LARGEST_ROOT).find(|root| root * root == modulus)
}

/// The moduli of a set in the order in which they are used, the largest product first.
fn candidates(set: Set) -> Vec<u16> {
    let downwards: Vec<u16> = match set {
        Set::Int8 => (2..=256).rev().collect(),
        Set::Fp8 => (SMALLEST_ROOT..=LARGEST_ROOT)
            .rev()
            .map(|root| root * root)
            .chain((2..=LARGEST_OTHER).rev())
            .collect(),
    };
    let mut taken: Vec<u16> = Vec::new();
    for number in downwards {
        if taken.len() < Moduli::MOST
            && taken
                .iter()
                .all(|&m| greatest_common_divisor(m, number) == 1)
        {
            taken.push(number);
        }
    }
    taken
}

/// Pairwise coprime moduli and their product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moduli {
    set: Set,
    values: Vec<u16>,
    product: U256,
}

impl Moduli {
    /// The most moduli of a set: with them, sums of all residues times weights below the product still fit 256 bits.
    pub const MOST: usize = 24;

    /// The first `count` of a set.
    ///
    /// ```
    /// use residues::{Moduli, Set};
    /// let moduli = Moduli::first(Set::Int8, 4)?;
    /// assert_eq!(moduli.values(), [256, 255, 253, 251]);
    /// assert!((moduli.bits() - 31.95).abs() < 0.01);
    /// # Ok::<(), residues::ResidueError>(())
    /// ```
    pub fn first(set: Set, count: usize) -> Result<Moduli, ResidueError> {
        let all = candidates(set);
        if count == 0 || count > all.len() {
            return Err(ResidueError::ModuliCount {
                set,
                asked: count,
                most: all.len(),
            });
        }
        Moduli::new(set, &all[..count])
    }

    /// The given moduli, in the given order.
    pub fn new(set: Set, values: &[u16]) -> Result<Moduli, ResidueError> {
        if values.is_empty() || values.len() > Moduli::MOST {
            return Err(ResidueError::ModuliCount {
                set,
                asked: values.len(),
                most: Moduli::MOST,
            });
        }
        let unfit = |modulus, reason| ResidueError::UnfitModulus {
            set,
            modulus,
            reason,
        };
        for (place, &modulus) in values.iter().enumerate() {
            match set {
                _ if modulus < 2 => return Err(unfit(modulus, "it is less than 2")),
                Set::Int8 if modulus > 256 => {
                    return Err(unfit(modulus, "its residues are no signed bytes"));
                }
                Set::Fp8 if modulus > LARGEST_OTHER && root_of(modulus).is_none() => {
                    return Err(unfit(
                        modulus,
                        "it is above 511 and no square of a number from 23 to 33",
                    ));
                }
                _ => {}
            }
            for &other in &values[..place] {
                let factor = greatest_common_divisor(other, modulus);
                if factor > 1 {
                    return Err(ResidueError::NotCoprime {
                        first: other,
                        second: modulus,
                        factor,
                    });
                }
            }
        }
        let product = values.iter().map(|&m| U256::from(m)).product();
        Ok(Moduli {
            set,
            values: values.to_vec(),
            product,
        })
    }

    /// The fewest of a set whose residues stand for all integers of magnitude at most `bound`.
    ///
    /// ```
    /// use residues::{Moduli, Set, U256};
    /// // Words of 61 bits times matrix entries of 55 bits, whose columns are summed up within the 61 bits.
    /// let bound = U256::from(127u64 << 48) << 61;
    /// assert_eq!(Moduli::holding(Set::Int8, bound)?.len(), 15);
    /// # Ok::<(), residues::ResidueError>(())
    /// ```
    pub fn holding(set: Set, bound: U256) -> Result<Moduli, ResidueError> {
        let all = candidates(set);
        for count in 1..=all.len() {
            let moduli = Moduli::new(set, &all[..count])?;
            if moduli.hold(bound) {
                return Ok(moduli);
            }
        }
        let all = Moduli::new(set, &all)?;
        all.demand(bound)?;
        Ok(all)
    }

    /// Whether the residues of different integers of magnitude at most `bound` differ, with the margin that finding the
    /// multiple of the product needs.
    pub fn hold(&self, bound: U256) -> bool {
        bound <= self.largest()
    }

    /// The largest magnitude that is held.
    pub fn largest(&self) -> U256 {
        let half: U256 = (self.product - U256::ONE) >> 1;
        half - (half >> MARGIN_BITS) - half.min(U256::ONE)
    }

    /// [`Moduli::hold`], or the error that says what is missing.
    pub fn demand(&self, bound: U256) -> Result<(), ResidueError> {
        if self.hold(bound) {
            return Ok(());
        }
        Err(ResidueError::TooFewModuli {
            set: self.set,
            count: self.len(),
            needed: bound.as_f64().log2(),
            available: self.bits(),
        })
    }

    /// The unit that the residues are for.
    pub fn set(&self) -> Set {
        self.set
    }

    /// The moduli.
    pub fn values(&self) -> &[u16] {
        &self.values
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// There is always one.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Their product.
    pub fn product(&self) -> U256 {
        self.product
    }

    /// Logarithm of their product to the base 2.
    pub fn bits(&self) -> f64 {
        self.values.iter().map(|&m| f64::from(m).log2()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sets_are_the_largest_coprime_numbers() -> Result<(), ResidueError> {
        let int8 = Moduli::first(Set::Int8, 20)?;
        let expected = [
            256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, 197, 193, 191,
            181, 179, 173,
        ];
        assert_eq!(int8.values(), expected);
        let fp8 = Moduli::first(Set::Fp8, 16)?;
        let expected = [
            1089, 1024, 961, 841, 625, 529, 511, 509, 503, 499, 491, 487, 481, 479, 467, 463,
        ];
        assert_eq!(fp8.values(), expected);
        let bits = |set, count| Moduli::first(set, count).map(|m| (10.0 * m.bits()).round() / 10.0);
        assert_eq!(bits(Set::Int8, 12)?, 94.8);
        assert_eq!(bits(Set::Int8, 13)?, 102.5);
        assert_eq!(bits(Set::Int8, 15)?, 117.8);
        assert_eq!(bits(Set::Fp8, 12)?, 111.8);
        assert_eq!(bits(Set::Fp8, 13)?, 120.8);
        assert_eq!(bits(Set::Fp8, 14)?, 129.7);
        for set in [Set::Int8, Set::Fp8] {
            let all = Moduli::first(set, Moduli::MOST)?;
            // Sums of all residues, each at most 544, times weights below the product.
            assert!(all.bits() + 24f64.log2() + 544f64.log2() < 255.0);
        }
        Ok(())
    }

    #[test]
    fn as_many_are_taken_as_the_integers_need() -> Result<(), ResidueError> {
        for set in [Set::Int8, Set::Fp8] {
            for bits in 0..140 {
                let bound = U256::ONE << bits;
                let moduli = Moduli::holding(set, bound)?;
                assert!(moduli.hold(bound));
                assert!(bound << 1 < moduli.product());
                if moduli.len() > 1 {
                    let fewer = Moduli::first(set, moduli.len() - 1)?;
                    assert!(matches!(
                        fewer.demand(bound),
                        Err(ResidueError::TooFewModuli { .. })
                    ));
                }
            }
            assert!(Moduli::holding(set, U256::ONE << 230).is_err());
        }
        Ok(())
    }

    #[test]
    fn bad_moduli_are_named() {
        let error = |set, values: &[u16]| Moduli::new(set, values).err().map(|e| e.to_string());
        let contains = |text: Option<String>, part: &str| text.is_some_and(|t| t.contains(part));
        assert!(contains(error(Set::Int8, &[255, 253, 85]), "255 and 85"));
        assert!(contains(error(Set::Int8, &[257]), "257"));
        assert!(contains(error(Set::Fp8, &[700]), "700"));
        assert!(contains(error(Set::Fp8, &[1]), "less than 2"));
        assert!(contains(error(Set::Int8, &[]), "1 to 24"));
        assert!(Moduli::new(Set::Fp8, &[1089, 511]).is_ok());
    }
}
