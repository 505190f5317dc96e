//! Weights of residues in the sum that reconstructs the integer, `Σ residue · weight` modulo the product `M`, and how such
//! numbers are split into short ones.

use crate::moduli::Moduli;
use ethnum::{I256, U256};

/// The weight of a modulus: 1 modulo this one, 0 modulo the others, of magnitude at most `M/2`.
pub fn weight(moduli: &Moduli, number: usize) -> I256 {
    let product = moduli.product().as_i256();
    let others = product / I256::from(moduli.values()[number]);
    others * I256::from(inverse(moduli, number))
}

/// The number of magnitude at most `m/2` with `inverse · M/m = 1` modulo `m`: the weight's fraction of `M` is `inverse/m`.
pub fn inverse(moduli: &Moduli, number: usize) -> i16 {
    let modulus = moduli.values()[number];
    let others = moduli.product() / U256::from(modulus);
    let others = (others % U256::from(modulus)).as_u32();
    let inverse = (0..u32::from(modulus))
        .find(|candidate| candidate * others % u32::from(modulus) == 1)
        .expect("the moduli are coprime");
    crate::residue_of(I256::from(inverse), modulus)
}

/// `x` modulo the product, of magnitude at most half of it.
pub fn centred(x: I256, product: U256) -> I256 {
    let product = product.as_i256();
    let rest = x.rem_euclid(product);
    if rest << 1 > product {
        rest - product
    } else {
        rest
    }
}

/// The lowest `count` balanced digits of so many bits, at most 32, each from `-2^(bits-1)` to `2^(bits-1) - 1`; and what is
/// left above them.
///
/// ```
/// use residues::I256;
/// use residues::reconstruct::weights::balanced;
/// let (bytes, above) = balanced(I256::from(1000), 8, 2);
/// assert_eq!((bytes, above), (vec![-24, 4], I256::ZERO));
/// ```
pub fn balanced(mut x: I256, bits: u32, count: usize) -> (Vec<i32>, I256) {
    let half = I256::ONE << (bits - 1);
    let digits = (0..count).map(|_| {
        let above = (x + half) >> bits;
        let digit = (x - (above << bits)).as_i32();
        x = above;
        digit
    });
    (digits.collect(), x)
}

/// `x·2^bits / product`, rounded to the nearest, and the magnitude of what is left over.
pub fn fraction(x: I256, bits: u32, product: U256) -> (I256, U256) {
    let magnitude = x.unsigned_abs() << bits;
    let quotient: U256 = (magnitude + (product >> 1)) / product;
    let near = quotient * product;
    let rest = near.max(magnitude) - near.min(magnitude);
    let quotient = quotient.as_i256();
    (if x < 0 { -quotient } else { quotient }, rest)
}
