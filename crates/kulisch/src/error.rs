//! Errors: arrays whose shapes do not match.

use crate::lanes::Instructions;
use core::fmt;

/// Why nothing was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Two arrays must have the same length.
    Lengths {
        /// Length of the first.
        left: usize,
        /// Length of the second.
        right: usize,
    },
    /// An array has another length than its dimensions say.
    Dimensions {
        /// Which array, by the name of the argument.
        array: &'static str,
        /// The length that the dimensions ask for.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// A sparse matrix whose row starts do not ascend from 0 to the number of its entries, or with a column that it
    /// does not have.
    SparseMatrix {
        /// The row where that was found.
        row: usize,
    },
    /// A stencil reaches beyond its array.
    Stencil {
        /// The term that does.
        term: usize,
    },
    /// The processor does not have these instructions.
    NotAvailable(Instructions),
}

impl Error {
    pub(crate) fn check_equal(left: usize, right: usize) -> Result<(), Error> {
        if left == right {
            Ok(())
        } else {
            Err(Error::Lengths { left, right })
        }
    }

    pub(crate) fn check(
        array: &'static str,
        expected: Option<usize>,
        found: usize,
    ) -> Result<(), Error> {
        if expected == Some(found) {
            Ok(())
        } else {
            let expected = expected.unwrap_or(usize::MAX);
            Err(Error::Dimensions {
                array,
                expected,
                found,
            })
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Lengths { left, right } => {
                write!(
                    f,
                    "arrays of {left} and {right} numbers do not belong together"
                )
            }
            Error::Dimensions {
                array,
                expected,
                found,
            } => write!(
                f,
                "`{array}` has {found} numbers where its dimensions ask for {expected}"
            ),
            Error::SparseMatrix { row } => write!(
                f,
                "row {row} of the sparse matrix begins or ends in the wrong place, or has a column that there is not"
            ),
            Error::Stencil { term } => {
                write!(f, "term {term} of the stencil reaches beyond the array")
            }
            Error::NotAvailable(instructions) => {
                write!(
                    f,
                    "this processor does not have the instructions {instructions:?}"
                )
            }
        }
    }
}

impl core::error::Error for Error {}
