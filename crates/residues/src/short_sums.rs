//! Sums of bytes' products become residues in 16-bit arithmetic, all columns side by side: the compiler makes vectors of it.
//!
//! For `|S| <= 2^20 + 2^10` and `17 <= m <= 256`:
//!
//! 1. `S = 2^10·h + l` and `c = 2^10 mod m` of magnitude at most `m/2` give `S' = h·c + l ≡ S` with `|S'| <= 1026·128 + 1023`.
//! 2. `t = ⌊S'/8⌋` has 16 bits, and so has `r = ⌊2^19/m⌋`. The upper half of their product is a quotient `q`:
//!    `t·r/2^16 = S'/m - f·8/m - t·g/2^16` with `0 <= f <= 7/8` and `0 <= g < 1`, so `q` is between `S'/m - 0.42 - 0.26 - 1` and
//!    `S'/m + 0.26`.
//! 3. `S' - q·m` is from `-0.26·m` to `1.68·m`, short enough to be formed modulo 2^16. Taking `m` off where half of it is
//!    reached, twice, leaves the residue.

use crate::decompose::Reduction;
use crate::moduli::Moduli;
use crate::{COLUMNS, Residues};

/// The largest magnitude of sums.
pub(crate) const LARGEST_SUM: i32 = (1 << 20) + (1 << 10);
/// The smallest modulus whose `2^19/m` is a short integer.
const SMALLEST: u16 = 17;

/// One modulus, and what its quotients need.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ShortSums {
    /// As above.
    Lanes {
        modulus: i16,
        carry: i16,
        reciprocal: i16,
    },
    /// A small modulus.
    Any(Reduction),
}

impl ShortSums {
    /// For every modulus, none beyond 256.
    pub(crate) fn all(moduli: &Moduli) -> Vec<ShortSums> {
        let values = moduli.values().iter();
        values.map(|&modulus| ShortSums::new(modulus)).collect()
    }

    fn new(modulus: u16) -> ShortSums {
        assert!(modulus <= 256, "moduli of bytes");
        let reduction = Reduction::new(modulus);
        if modulus < SMALLEST {
            return ShortSums::Any(reduction);
        }
        ShortSums::Lanes {
            modulus: modulus as i16,
            carry: reduction.residue(1 << 10),
            reciprocal: ((1 << 19) / i32::from(modulus)) as i16,
        }
    }

    /// The residues of sums of magnitude at most [`LARGEST_SUM`].
    #[inline]
    pub(crate) fn residues(self, sums: &[i32; COLUMNS]) -> Residues {
        match self {
            ShortSums::Lanes {
                modulus,
                carry,
                reciprocal,
            } => sums.map(|sum| {
                debug_assert!(sum.abs() <= LARGEST_SUM);
                let high = i32::from((sum >> 10) as i16);
                let folded = high * i32::from(carry) + (sum & 1023);
                let leading = i32::from((folded >> 3) as i16);
                let quotient = ((leading * i32::from(reciprocal)) >> 16) as i16;
                let rest = (folded as i16).wrapping_sub(quotient.wrapping_mul(modulus));
                let rest = rest - if 2 * rest >= modulus { modulus } else { 0 };
                rest - if 2 * rest >= modulus { modulus } else { 0 }
            }),
            ShortSums::Any(reduction) => sums.map(|sum| reduction.residue(sum.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sums_have_their_smallest_representatives() {
        for modulus in (2..=256).step_by(1) {
            let reduction = ShortSums::new(modulus);
            let m = i32::from(modulus);
            // Every sum of some moduli; of the others the ends, and steps that meet all residues.
            let step = if modulus % 64 < 2 { 1 } else { 37 };
            let mut from = -LARGEST_SUM;
            while from <= LARGEST_SUM {
                let sums: [i32; COLUMNS] =
                    std::array::from_fn(|k| (from + k as i32).min(LARGEST_SUM));
                for (sum, residue) in sums.iter().zip(reduction.residues(&sums)) {
                    let residue = i32::from(residue);
                    assert_eq!((sum - residue).rem_euclid(m), 0, "{sum} mod {m}");
                    assert!(-m <= 2 * residue && 2 * residue < m, "{residue} mod {m}");
                }
                from += step * COLUMNS as i32;
            }
        }
    }
}
