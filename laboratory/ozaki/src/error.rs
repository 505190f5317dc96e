//! What products reject.

use residues::ResidueError;

/// A product that cannot be formed, and why.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OzakiError {
    /// The moduli do not hold the sums.
    #[error(transparent)]
    Residues(#[from] ResidueError),
    /// A number of bits that words do not have.
    #[error("integers of {bits} bits were asked for; take 1 to {most}")]
    Bits {
        /// The bits that were asked for.
        bits: u32,
        /// The most that there are.
        most: u32,
    },
    /// An array whose length does not fit the shape.
    #[error("{what} has {given} numbers, and its shape needs {needed}")]
    Length {
        /// Which array.
        what: &'static str,
        /// How many numbers it has.
        given: usize,
        /// How many it should have.
        needed: usize,
    },
    /// More products in a sum than the scheme was made for.
    #[error("a sum of {given} products, and the scheme holds {most}: make it for {given}")]
    TooLong {
        /// Products of the longest sum.
        given: usize,
        /// Products that the scheme holds.
        most: usize,
    },
    /// An array that describes a sparse matrix and does not.
    #[error("the sparse matrix is none: {reason}")]
    Sparse {
        /// What is wrong with it.
        reason: String,
    },
    /// More moduli than kernels of a GPU take.
    #[error("{given} moduli; kernels take 2 to {most}")]
    DeviceModuli {
        /// How many there are.
        given: usize,
        /// How many kernels take.
        most: usize,
    },
}

impl OzakiError {
    pub(crate) fn check(
        what: &'static str,
        given: usize,
        needed: Option<usize>,
    ) -> Result<(), OzakiError> {
        match needed {
            Some(needed) if needed == given => Ok(()),
            _ => Err(OzakiError::Length {
                what,
                given,
                needed: needed.unwrap_or(usize::MAX),
            }),
        }
    }
}
