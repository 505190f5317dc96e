//! Constants for transforms on other devices: products of long integers, and convolutions of arrays, with the primes, roots and lengths of this crate, so
//! that its proofs ([`limbs_proof`](crate::limbs_proof), [`decimal_proof`](crate::decimal_proof), [`ConvolutionPlan::proof`](crate::ConvolutionPlan::proof)) hold for
//! them too.
//!
//! Such a transform is a tree of remainders over rows of [`LANES`] coefficients. Node k of a level is split by entry k of a table of
//! roots, in which bit i of k multiplies by [`PrimeConstants::steps`]`[i]`.

use crate::limbs::COUNT;
use crate::modular::chinese::INVERSES;
use crate::modular::prime::{Factor, ORDER, PRIMES};
use crate::modular::roots::Table;
use crate::modular::transform::Ring;
use crate::modular::unit::Unit;

/// Coefficients in a row.
pub const LANES: usize = 16;

/// Primes of a product of long integers.
pub const PRIMES_OF_PRODUCTS: usize = COUNT;

/// The largest transform has two to this power rows. It holds all products whose operands have at most
/// `(LANES << MOST_LEVELS) + 1` digits together, and the shorter of them then has at most 2^25, as the proofs demand.
pub const MOST_LEVELS: u32 = ORDER;

/// A number times 2^32 modulo a prime, and that times the inverse of the prime modulo 2^32: what Montgomery's product takes.
pub type FactorPair = [u32; 2];

/// What a transform computes with modulo one prime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrimeConstants {
    /// The prime, between 2^29 and 2^30.
    pub value: u32,
    /// Its inverse modulo 2^32.
    pub inverse: u32,
    /// 2^32 over the number of rows: brings back row products, which divide by 2^32, and inverse levels, which double.
    pub back: FactorPair,
    /// -1.
    pub minus_one: FactorPair,
    /// The inverses of the primes before this one; of no meaning beyond them.
    pub inverses: [FactorPair; PRIMES_OF_PRODUCTS - 1],
    /// Roots of unity of order `2^(i + 2)`: entry `2^i` of the table.
    pub steps: [FactorPair; MOST_LEVELS as usize - 1],
}

/// Primes of convolutions of arrays, at most.
pub const MOST_PRIMES: usize = PRIMES.len();

/// What a convolution of arrays computes with modulo one prime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchConstants {
    /// What products of long integers need, too.
    pub prime: PrimeConstants,
    /// The inverses of the primes before this one; of no meaning beyond them.
    pub inverses: [FactorPair; MOST_PRIMES - 1],
    /// 2^32: integers of 64 bits have two words.
    pub fold: FactorPair,
}

/// The primes of products of long integers, for transforms of `1 << levels` rows.
///
/// ```
/// use exact_convolution::device::{constants, MOST_LEVELS};
/// let [first, _, third] = constants(MOST_LEVELS);
/// assert_eq!(first.value.wrapping_mul(first.inverse), 1);
/// // Of order 4: its square is -1. Factors are scaled by 2^32.
/// let p = u64::from(third.value);
/// let root = u64::from(third.steps[0][0]);
/// assert_eq!(root * root % p, (1 << 32) % p * u64::from(third.minus_one[0]) % p);
/// ```
///
/// # Panics
///
/// Above [`MOST_LEVELS`].
pub fn constants(levels: u32) -> [PrimeConstants; PRIMES_OF_PRODUCTS] {
    assert!(
        levels <= MOST_LEVELS,
        "there are no roots for {levels} levels"
    );
    std::array::from_fn(|number| constants_of(number, levels))
}

fn pair(factor: Factor) -> FactorPair {
    [factor.scaled, factor.quotient]
}

fn constants_of(number: usize, levels: u32) -> PrimeConstants {
    let prime = &PRIMES[number];
    PrimeConstants {
        value: prime.value,
        inverse: prime.inverse,
        back: pair(prime.back(1 << levels)),
        minus_one: pair(prime.factor(prime.value - 1)),
        inverses: std::array::from_fn(|before| pair(INVERSES[number][before])),
        steps: std::array::from_fn(|i| pair(prime.factor(prime.root(i as u32 + 2)))),
    }
}

/// The primes of convolutions of arrays, in the order in which [`Route::Ntt`](crate::Route::Ntt) takes them, for transforms of `1 << levels` rows.
///
/// ```
/// use exact_convolution::device::batch_constants;
/// let primes = batch_constants(8);
/// let [first, last] = [primes[0].prime.value, primes[5].prime.value].map(u64::from);
/// // The inverse of the first prime modulo the last; factors are scaled by 2^32.
/// assert_eq!(u64::from(primes[5].inverses[0][0]) * (first % last) % last, (1 << 32) % last);
/// ```
///
/// # Panics
///
/// Above [`MOST_LEVELS`].
pub fn batch_constants(levels: u32) -> [BatchConstants; MOST_PRIMES] {
    assert!(
        levels <= MOST_LEVELS,
        "there are no roots for {levels} levels"
    );
    std::array::from_fn(|number| {
        let prime = &PRIMES[number];
        let fold = (1u64 << 32) % u64::from(prime.value);
        BatchConstants {
            prime: constants_of(number, levels),
            inverses: std::array::from_fn(|before| pair(INVERSES[number][before])),
            fold: pair(prime.factor(fold as u32)),
        }
    })
}

/// The transform that those of other devices are compared with, and timed beside: residues of rows of [`LANES`] modulo a prime, by its number, go to the
/// leaves of the tree, in its order, in their place. Results are below four times the prime.
///
/// ```
/// use exact_convolution::device::{constants, forward, LANES};
/// use exact_convolution::Unit;
/// // Two rows modulo y² - 1: at y = 1 their sum, at y = -1 their difference.
/// let mut residues = vec![3; LANES];
/// residues.extend([2; LANES]);
/// if let Some(roots) = forward(Unit::best(), 0, 1) {
///     roots.process(&mut residues);
///     let p = constants(1)[0].value;
///     assert_eq!((residues[0] % p, residues[LANES] % p), (5, 1));
/// }
/// ```
///
/// None for units with shorter rows, primes beyond [`PRIMES_OF_PRODUCTS`], and more than [`MOST_LEVELS`].
pub fn forward(unit: Unit, prime: usize, levels: u32) -> Option<Forward> {
    let there = unit.is_available() && unit.lanes() == LANES;
    if !there || prime >= PRIMES_OF_PRODUCTS || levels > MOST_LEVELS {
        return None;
    }
    let ring = Ring::cyclic(unit, LANES << levels)?.undivided();
    let roots = ring.roots(prime);
    Some(Forward { ring, prime, roots })
}

/// See [`forward()`].
#[derive(Debug)]
pub struct Forward {
    ring: Ring,
    prime: usize,
    roots: Table,
}

impl Forward {
    /// Transforms, on the thread that calls.
    ///
    /// # Panics
    ///
    /// If there are not as many residues as the transform has.
    pub fn process(&self, residues: &mut [u32]) {
        let length = self.ring.length();
        assert_eq!(residues.len(), length, "a residue for every coefficient");
        self.ring
            .forward(self.prime, &self.roots, residues, length, &mut []);
    }
}
