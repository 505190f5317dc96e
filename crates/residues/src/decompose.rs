//! Words become signed residues.

use crate::moduli::Moduli;
use crate::{COLUMNS, Residues};
use ethnum::I256;

/// Reduces words modulo every modulus.
#[derive(Debug, Clone)]
pub struct Decomposer {
    reductions: Vec<Reduction>,
}

/// One modulus, and what division by it needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reduction {
    modulus: i64,
    /// `2^64 / modulus`, rounded down.
    reciprocal: u64,
}

impl Reduction {
    pub(crate) fn new(modulus: u16) -> Reduction {
        let modulus = i64::from(modulus);
        Reduction {
            modulus,
            reciprocal: (u128::from(u64::MAX) / modulus as u128) as u64,
        }
    }

    /// The representative of `x` in `-m/2 .. m/2` for even, `-(m-1)/2 ..= (m-1)/2` for odd `m`.
    #[inline(always)]
    pub(crate) fn residue(self, x: i64) -> i16 {
        // The magnitude's quotient is at most one too small (barrett): the remainder is below 2m.
        let magnitude = x.unsigned_abs();
        let quotient = ((u128::from(magnitude) * u128::from(self.reciprocal)) >> 64) as i64;
        let mut rest = (magnitude as i64).wrapping_sub(quotient.wrapping_mul(self.modulus));
        if rest >= self.modulus {
            rest -= self.modulus;
        }
        let mut rest = if x < 0 { -rest } else { rest };
        if 2 * rest >= self.modulus {
            rest -= self.modulus;
        } else if 2 * rest < -self.modulus {
            rest += self.modulus;
        }
        rest as i16
    }
}

/// The same of an integer of any length; for tables and tests.
pub fn residue_of(x: I256, modulus: u16) -> i16 {
    let m = I256::from(modulus);
    let rest = x.rem_euclid(m);
    let rest = if rest << 1 >= m { rest - m } else { rest };
    rest.as_i16()
}

impl Decomposer {
    /// For these moduli.
    pub fn new(moduli: &Moduli) -> Decomposer {
        Decomposer {
            reductions: moduli.values().iter().map(|&m| Reduction::new(m)).collect(),
        }
    }

    /// The residues of a row of words for modulus number `number`.
    #[inline]
    pub fn residues(&self, number: usize, words: &[i64; COLUMNS]) -> Residues {
        let reduction = self.reductions[number];
        words.map(|x| reduction.residue(x))
    }

    /// Sums of products, exact as the unit left them, as residues for modulus number `number`.
    #[inline]
    pub fn reduce(&self, number: usize, sums: &[i32; COLUMNS]) -> Residues {
        let reduction = self.reductions[number];
        sums.map(|x| reduction.residue(i64::from(x)))
    }

    /// The residues of the entries of a matrix for modulus number `number`.
    pub fn entries(&self, number: usize, entries: &[i64]) -> Vec<i16> {
        let reduction = self.reductions[number];
        entries.iter().map(|&x| reduction.residue(x)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ResidueError;
    use crate::set::Set;

    #[test]
    fn residues_are_the_smallest_representatives() -> Result<(), ResidueError> {
        let mut state = 0x5eed_u64;
        println!("seed {state:#x}");
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state.rotate_left(29) as i64
        };
        for set in [Set::Int8, Set::Fp8] {
            let moduli = Moduli::first(set, Moduli::MOST)?;
            let decomposer = Decomposer::new(&moduli);
            for round in 0..2_000 {
                let mut words = [0i64; COLUMNS];
                for (place, word) in words.iter_mut().enumerate() {
                    *word = match place {
                        0 => i64::MIN,
                        1 => i64::MAX,
                        2 => round - 1_000,
                        _ => next() >> (next() & 63),
                    };
                }
                for (number, &m) in moduli.values().iter().enumerate() {
                    let got = decomposer.residues(number, &words);
                    for (word, residue) in words.iter().zip(got) {
                        let (m, residue) = (i128::from(m), i128::from(residue));
                        assert_eq!((i128::from(*word) - residue).rem_euclid(m), 0);
                        assert!(-m <= 2 * residue && 2 * residue < m, "{residue} mod {m}");
                        let long = residue_of(I256::from(*word), m as u16);
                        assert_eq!(i128::from(long), residue);
                    }
                }
            }
        }
        Ok(())
    }
}
