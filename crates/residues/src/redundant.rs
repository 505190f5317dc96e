//! Redundant moduli: faulty residues are detected, and integers corrected.
//!
//! Integers of magnitude at most `bound` need `r` moduli; here are `k` more, chosen so that the product of *any* `r` of all
//! `r + k` is larger than `2·bound` (that of the `r` smallest is). Then:
//!
//! - Two different integers within the bound differ in at least `k + 1` residues. If they had `r` in common, their
//!   difference would be a multiple of the product of those `r` moduli, and it is at most `2·bound`.
//! - So up to `k` bad residues never make one integer within the bound into another: what all `r + k` moduli
//!   reconstruct is beyond the bound, because its residues are the ones at hand. One comparison finds that. (Methods of
//!   reconstruction promise nothing for the outermost part in 4096 of the range. What the exact ones return there is off by a
//!   multiple of the product, or of a larger power of two: something else of about that size, and as far beyond the bound.)
//! - If `t` residues are bad and `2t <= k`, there is exactly one integer within the bound that has all but `t` or fewer of the
//!   residues at hand: two such would have `r + k - 2t >= r` in common. It is found by leaving out every set of up to `t`
//!   moduli: what the others reconstruct is the integer at hand modulo their product.
//!
//! Both ends are sharp: `k + 1` bad residues may turn one integer into another, and more than `t` may leave residues that are next
//! to those of an integer which is not the right one. Whoever corrects up to `t` and wants up to `s` bad residues never to pass
//! for fewer needs `t + s <= k`. So `k` are found where none are corrected, and half of `k` (an odd `k`: one more) where half of `k` are
//! ([`Redundant::correcting`]).

use crate::bytes::ByteProducts;
use crate::decompose::{Reduction, residue_of};
use crate::error::ResidueError;
use crate::moduli::Moduli;
use crate::reconstruct::{Method, Reconstruction, weights::weight};
use crate::set::Set;
use crate::{COLUMNS, Residues};
use ethnum::{I256, U256};
use std::sync::Arc;

/// Which of the moduli, by number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Places(u32);

impl Places {
    /// Their numbers, upwards.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..Moduli::MOST).filter(move |&place| self.contains(place))
    }

    /// Whether number `place` is one.
    pub fn contains(self, place: usize) -> bool {
        self.0 >> place & 1 == 1
    }

    /// How many.
    pub fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The next larger set of as many.
    fn next(self) -> Places {
        let lowest = self.0 & self.0.wrapping_neg();
        let raised = self.0 + lowest;
        Places(raised | (((self.0 ^ raised) >> 2) / lowest))
    }
}

/// The finding in one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All residues are those of one integer within the bound.
    Clean,
    /// All but a few are; the integer is that of the others, and these were bad.
    Corrected(Places),
    /// Residues are bad, and more of them than can be corrected. The column's integer is not to be used.
    Uncorrectable,
}

/// How often what was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Faults {
    /// Columns that were looked at.
    pub columns: u64,
    /// Of those, columns with bad residues.
    pub detected: u64,
    /// Of those, columns that were put right.
    pub corrected: u64,
    /// And columns that could not be.
    pub uncorrectable: u64,
}

impl Faults {
    fn count(&mut self, outcome: Outcome) {
        self.columns += 1;
        self.detected += u64::from(outcome != Outcome::Clean);
        self.corrected += u64::from(matches!(outcome, Outcome::Corrected(_)));
        self.uncorrectable += u64::from(outcome == Outcome::Uncorrectable);
    }
}

/// Reconstructs integers and watches over their residues.
#[derive(Debug)]
pub struct Redundant {
    moduli: Moduli,
    redundant: usize,
    corrects: usize,
    bound: U256,
    reconstruction: Box<dyn Reconstruction>,
    /// The least and the largest residue of every modulus.
    ranges: Vec<(i16, i16)>,
    reductions: Vec<Reduction>,
    /// Weights of residues in sums that give the integer modulo the product, for the slow path.
    weights: Vec<I256>,
}

/// The fewest moduli of a set of which any but `redundant` hold the bound.
fn chosen(set: Set, bound: U256, redundant: usize) -> Result<Moduli, ResidueError> {
    let most = Moduli::MOST;
    for count in redundant.saturating_add(1)..=most {
        let moduli = Moduli::first(set, count)?;
        let mut upwards = moduli.values().to_vec();
        upwards.sort_unstable();
        if Moduli::new(set, &upwards[..count - redundant])?.hold(bound) {
            return Ok(moduli);
        }
    }
    Err(ResidueError::TooManyRedundant {
        set,
        redundant,
        most,
        needed: bound.as_f64().log2(),
    })
}

impl Redundant {
    /// For integers of magnitude at most `bound`, with `redundant` moduli more than they need, an exact method, and its products
    /// on this unit. Up to half of `redundant` bad residues of an integer are corrected.
    ///
    /// ```
    /// use residues::bytes::Portable;
    /// use residues::reconstruct::Method;
    /// use residues::redundant::{Faults, Outcome, Redundant};
    /// use residues::{COLUMNS, I256, Set, U256, residue_of};
    /// use std::sync::Arc;
    ///
    /// let bound = U256::from(10u64).pow(30);
    /// let system = Redundant::new(Set::Int8, bound, 2, Method::default(), Arc::new(Portable))?;
    /// let number = I256::from(-42) * I256::from(10).pow(28);
    /// let moduli = system.moduli().values().iter();
    /// let mut residues: Vec<_> = moduli.map(|&m| [residue_of(number, m); COLUMNS]).collect();
    /// // Something goes wrong with the residue for the fourth modulus in the eighth column.
    /// residues[3][7] ^= 16;
    ///
    /// let mut integers = [I256::ZERO; COLUMNS];
    /// let mut faults = Faults::default();
    /// let outcomes = system.check(&residues, &mut integers, &mut faults);
    /// assert_eq!(outcomes[0], Outcome::Clean);
    /// assert!(matches!(outcomes[7], Outcome::Corrected(bad) if bad.iter().eq([3])));
    /// assert_eq!(integers, [number; COLUMNS]);
    /// assert_eq!((faults.columns, faults.detected, faults.corrected), (16, 1, 1));
    /// # Ok::<(), residues::ResidueError>(())
    /// ```
    pub fn new(
        set: Set,
        bound: U256,
        redundant: usize,
        method: Method,
        unit: Arc<dyn ByteProducts>,
    ) -> Result<Redundant, ResidueError> {
        let moduli = chosen(set, bound, redundant)?;
        let reconstruction = method.build(&moduli, unit)?;
        if !reconstruction.is_exact() {
            return Err(ResidueError::NotExact {
                what: "watching over residues",
                method: reconstruction.name(),
            });
        }
        let range = |&m: &u16| (-((m / 2) as i16), ((m - 1) / 2) as i16);
        Ok(Redundant {
            redundant,
            corrects: redundant / 2,
            bound,
            reconstruction,
            ranges: moduli.values().iter().map(range).collect(),
            reductions: moduli.values().iter().map(|&m| Reduction::new(m)).collect(),
            weights: (0..moduli.len()).map(|k| weight(&moduli, k)).collect(),
            moduli,
        })
    }

    /// Corrects at most so many bad residues of an integer, if that is less than half of the redundant moduli: each that is
    /// given up lets one more be distinguished from a correctable case.
    pub fn correcting(mut self, most: usize) -> Redundant {
        self.corrects = self.corrects.min(most);
        self
    }

    /// All moduli, in the order of the residues.
    pub fn moduli(&self) -> &Moduli {
        &self.moduli
    }

    /// The largest magnitude.
    pub fn bound(&self) -> U256 {
        self.bound
    }

    /// Bad residues of an integer that are surely corrected.
    pub fn corrects(&self) -> usize {
        self.corrects
    }

    /// Bad residues of an integer that surely do not pass for none, nor for others that can be corrected.
    pub fn detects(&self) -> usize {
        self.redundant - self.corrects
    }

    /// Reconstructs the integers of a row of residues for every modulus, as far as the residues allow.
    ///
    /// Residues may be anything that their type holds: one that its modulus does not have is bad, too.
    pub fn check(
        &self,
        residues: &[Residues],
        to: &mut [I256; COLUMNS],
        faults: &mut Faults,
    ) -> [Outcome; COLUMNS] {
        assert_eq!(
            residues.len(),
            self.moduli.len(),
            "one row for every modulus"
        );
        let mut strays = false;
        for (row, &(least, largest)) in residues.iter().zip(&self.ranges) {
            for &residue in row {
                strays |= residue < least || residue > largest;
            }
        }
        if strays {
            // What a reconstruction method does with them is not specified.
            let mut proper = [[0; COLUMNS]; Moduli::MOST];
            let proper = &mut proper[..residues.len()];
            for ((to, from), reduction) in proper.iter_mut().zip(residues).zip(&self.reductions) {
                *to = from.map(|residue| reduction.residue(i64::from(residue)));
            }
            self.reconstruction.reconstruct(proper, to);
        } else {
            self.reconstruction.reconstruct(residues, to);
        }
        let mut outcomes = [Outcome::Clean; COLUMNS];
        for (column, (outcome, integer)) in outcomes.iter_mut().zip(to).enumerate() {
            if strays || integer.unsigned_abs() > self.bound {
                *outcome = self.correct(residues, column, integer);
            }
            faults.count(*outcome);
        }
        outcomes
    }

    /// The slow path, for one column, which relies on the residues alone.
    #[cold]
    fn correct(&self, residues: &[Residues], column: usize, integer: &mut I256) -> Outcome {
        let mut sum = I256::ZERO;
        for ((row, reduction), &weight) in residues.iter().zip(&self.reductions).zip(&self.weights)
        {
            sum += weight * I256::from(reduction.residue(i64::from(row[column])));
        }
        let Some(right) = self.nearest(sum) else {
            return Outcome::Uncorrectable;
        };
        *integer = right;
        let mut bad = Places::default();
        for (place, (row, &m)) in residues.iter().zip(self.moduli.values()).enumerate() {
            bad.0 |= u32::from(row[column] != residue_of(right, m)) << place;
        }
        if bad == Places::default() {
            Outcome::Clean
        } else {
            Outcome::Corrected(bad)
        }
    }

    /// The integer within the bound that agrees with another modulo all moduli but the fewest, if no more than
    /// [`Redundant::corrects`] have to be left out.
    fn nearest(&self, integer: I256) -> Option<I256> {
        let count = self.moduli.len();
        for left_out in 0..=self.corrects {
            let mut places = Places((1 << left_out) - 1);
            while places.0 >> count == 0 {
                let candidate = self.without(places, integer);
                if candidate.unsigned_abs() <= self.bound {
                    return Some(candidate);
                }
                if left_out == 0 {
                    break;
                }
                places = places.next();
            }
        }
        None
    }

    /// Reconstruction from the moduli that are not left out: the integer of least magnitude.
    fn without(&self, left_out: Places, integer: I256) -> I256 {
        let values = self.moduli.values().iter().enumerate();
        let product: I256 = values
            .filter(|&(place, _)| !left_out.contains(place))
            .map(|(_, &m)| I256::from(m))
            .product();
        let rest = integer.rem_euclid(product);
        if rest << 1 > product {
            rest - product
        } else {
            rest
        }
    }
}
