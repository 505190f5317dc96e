//! Errors of moduli, products and reconstructions.

use crate::set::Set;

/// The conditions under which residues stand for one integer, each named by what broke it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ResidueError {
    /// More, or fewer, moduli than there are.
    #[error("{asked} moduli were asked for; {set} has 1 to {most}")]
    ModuliCount {
        /// The set.
        set: Set,
        /// How many were asked for.
        asked: usize,
        /// How many there are.
        most: usize,
    },
    /// A number that cannot be a modulus of the set.
    #[error("{modulus} is no modulus for {set}: {reason}")]
    UnfitModulus {
        /// The set.
        set: Set,
        /// The number.
        modulus: u16,
        /// The reason.
        reason: &'static str,
    },
    /// Two moduli with a common factor: different integers would share their residues.
    #[error(
        "the moduli {first} and {second} have the factor {factor} in common; take coprime ones"
    )]
    NotCoprime {
        /// One modulus.
        first: u16,
        /// The other.
        second: u16,
        /// The common divisor.
        factor: u16,
    },
    /// Integers that are larger than half the product of the moduli.
    #[error(
        "integers of {needed:.1} bits and a sign need moduli with a product of {:.1} bits; {count} of {set} have {available:.1}: take more moduli, or fewer bits", needed + 1.0
    )]
    TooFewModuli {
        /// The set.
        set: Set,
        /// How many moduli.
        count: usize,
        /// Bits of the largest magnitude.
        needed: f64,
        /// Bits of their product.
        available: f64,
    },
    /// Sums of products that the matrix unit would not hold exactly.
    #[error(
        "a sum of {depth} products may reach {largest}, and {unit} is exact to {exact}; take {most} products or fewer at once"
    )]
    DepthBeyondExactness {
        /// The unit.
        unit: &'static str,
        /// Products that are added up.
        depth: usize,
        /// The largest sum.
        largest: u64,
        /// The largest exact sum.
        exact: u64,
        /// The most products that stay below.
        most: usize,
    },
    /// A matrix that is larger than the panels that products work on.
    #[error("a matrix of {given} {what}; products take {most} at most: multiply it in parts")]
    MatrixTooLarge {
        /// Rows or columns.
        what: &'static str,
        /// How many.
        given: usize,
        /// The most.
        most: usize,
    },
    /// Moduli of one set where another is needed.
    #[error("{what} needs moduli of {expected}, and these are of {given}")]
    WrongSet {
        /// The requested operation.
        what: &'static str,
        /// The set that it works on.
        expected: Set,
        /// The set that was given.
        given: Set,
    },
    /// More redundant moduli than the set has left beside those that the integers need.
    #[error(
        "integers of {needed:.1} bits and a sign leave no {redundant} of the {most} moduli of {set} redundant: take fewer, or fewer bits"
    )]
    TooManyRedundant {
        /// The set.
        set: Set,
        /// How many were asked for.
        redundant: usize,
        /// How many moduli there are.
        most: usize,
        /// Bits of the largest magnitude.
        needed: f64,
    },
    /// A reconstruction method that rounds, where an exact one is needed.
    #[error("{what} needs an exact reconstruction, and {method} rounds: take kulisch32 or garner")]
    NotExact {
        /// The requested operation.
        what: &'static str,
        /// The given method.
        method: &'static str,
    },
    /// Sums of slices that are larger than what adds them up takes.
    #[error(
        "{what} takes slices of magnitude {most}, and these reach {largest}; take fewer moduli"
    )]
    LargeSlices {
        /// The method of summation.
        what: &'static str,
        /// How large they may be.
        largest: u32,
        /// The largest number it accepts.
        most: u32,
    },
    /// An unknown name of a reconstruction method.
    #[error("{name:?} is no reconstruction method; there are {all}")]
    UnknownMethod {
        /// The given name.
        name: String,
        /// All names.
        all: String,
    },
}
