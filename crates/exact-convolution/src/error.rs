//! What can be wrong with a request, with the value that was given and the remedy.

use crate::modular::unit::Unit;
use fallible_memory::OutOfMemory;

/// Which operand of a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The first one.
    First,
    /// The second one.
    Second,
}

impl std::fmt::Display for Which {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Which::First => "first",
            Which::Second => "second",
        })
    }
}

/// Why a convolution is rejected. Nothing has been written then, except where memory ran out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvolutionError {
    /// There is nothing to convolve with.
    #[error("the {which} operand has no elements; both need at least one")]
    Empty {
        /// The operand.
        which: Which,
    },
    /// A slice does not have the length of the plan.
    #[error(
        "the {what} has {given} elements, and the plan has {expected}; plan for the slice's length"
    )]
    Length {
        /// Operand or result.
        what: &'static str,
        /// Its length.
        given: usize,
        /// The plan's.
        expected: usize,
    },
    /// A shape and its slice do not belong together, or shapes have different numbers of axes.
    #[error("{0}")]
    Shape(String),
    /// Results may be larger than their type holds.
    #[error(
        "results may be as large as {bound} in magnitude, which {result} does not hold; ask for a wider type, declare smaller operands, or (beyond i128) multiply long integers"
    )]
    ResultMayNotFit {
        /// The bound, or a power of two above it.
        bound: String,
        /// The type of the results.
        result: &'static str,
    },
    /// Results may be negative, and their type has no sign.
    #[error(
        "element {index} of the {which} operand is negative, so results may be, and {result} has no sign; ask for a signed type"
    )]
    MayBeNegative {
        /// The operand.
        which: Which,
        /// The first such element.
        index: usize,
        /// The type of the results.
        result: &'static str,
    },
    /// An operand is larger than the plan was told.
    #[error(
        "element {index} of the {which} operand has the magnitude {magnitude}, and the plan was made for at most {declared}; plan for larger magnitudes"
    )]
    OperandTooLarge {
        /// The operand.
        which: Which,
        /// The first such element.
        index: usize,
        /// Its magnitude.
        magnitude: u128,
        /// What was declared.
        declared: u128,
    },
    /// The parts of an operand add up to more than the primes leave room for.
    #[error(
        "the magnitudes of the operand's parts add up to {bits} bits, and its results are proven to 2^{most}; scale the operand, or take more primes"
    )]
    SumTooLarge {
        /// Bits of the sum.
        bits: u32,
        /// The largest sum is 2 to this power.
        most: u32,
    },
    /// No integer is a remainder modulo zero.
    #[error("the modulus is 0; take one from 1 to 2^64 - 1")]
    ZeroModulus,
    /// The product of all primes is not larger than the results.
    #[error(
        "results may have {bits} bits, and all primes together determine {most}; declare smaller operands, or multiply long integers"
    )]
    TooManyBits {
        /// Bits of the results.
        bits: u32,
        /// Bits that can be had.
        most: u32,
    },
    /// A route was demanded that cannot do it.
    #[error("{0}")]
    Route(String),
    /// The machine has, or lets the process have, too little memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// The machine lacks the instructions that were demanded.
    #[error("this machine does not have {0}; Unit::available() lists what it has")]
    NoSuchUnit(Unit),
}
