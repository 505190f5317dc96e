//! Everything that can go wrong, with the value that was given and the remedy. Every rank gets an error where one does.

use crate::index_box::IndexBox;
use ozfft::FftError;

/// The array before or after the transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Before.
    Input,
    /// After.
    Output,
}

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Side::Input => "input",
            Side::Output => "output",
        })
    }
}

/// What is wrong with the boxes of all ranks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoxError {
    /// A box that is no part of the array.
    #[error(
        "{side}: the box {given} of rank {rank} is not within an array of shape {shape:?}; boxes go from low up to but without high along every dimension"
    )]
    Outside {
        /// Of which array.
        side: Side,
        /// The rank that gave it.
        rank: usize,
        /// The box.
        given: IndexBox,
        /// The array's shape.
        shape: Vec<usize>,
    },
    /// A box with more or fewer indices than the array has dimensions.
    #[error(
        "{side}: the box {given} is not one of {dimensions} dimensions; give an index for each where it begins, and where it ends"
    )]
    Dimensions {
        /// Of which array.
        side: Side,
        /// The box.
        given: IndexBox,
        /// The array's dimensions.
        dimensions: usize,
    },
    /// Two ranks have the same elements.
    #[error("{side}: ranks {} and {} both hold {common}; every element belongs to one rank", ranks.0, ranks.1)]
    Overlap {
        /// Of which array.
        side: Side,
        /// The two ranks.
        ranks: (usize, usize),
        /// What both have.
        common: IndexBox,
    },
    /// Some elements belong to no rank.
    #[error(
        "{side}: {missing} of {all} elements belong to no rank; the boxes of all ranks make up the whole array"
    )]
    Gap {
        /// Of which array.
        side: Side,
        /// How many.
        missing: usize,
        /// Elements of the array.
        all: usize,
    },
}

/// The reasons for which a distributed transform is not planned, or a call fails.
///
/// Where one rank fails all of them return an error: that rank its own, the others [`DistributedError::OnRank`]. Nothing has been
/// written then.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DistributedError {
    /// The library for one process rejects the problem or a buffer.
    #[error("{0}")]
    Transform(#[from] FftError),
    /// Boxes that do not make up the array.
    #[error("{0}")]
    Boxes(#[from] BoxError),
    /// Ranks ask for different things.
    #[error(
        "rank {rank} has another problem than rank 0; give all ranks the same.\nrank 0: {first}\nrank {rank}: {other}"
    )]
    Mismatch {
        /// The first rank that differs.
        rank: usize,
        /// The problem of rank 0.
        first: String,
        /// That rank's.
        other: String,
    },
    /// A process grid that does not fit the ranks or the array.
    #[error("the process grid {grid:?} does not fit {ranks} ranks and {dimensions} dimensions; give at most {} numbers whose product is {ranks}, or none", dimensions.saturating_sub(1))]
    Grid {
        /// The grid asked for.
        grid: Vec<usize>,
        /// Ranks of the communicator.
        ranks: usize,
        /// Dimensions of the array.
        dimensions: usize,
    },
    /// A rank needs more workspace than it has room for.
    #[error(
        "a rank needs {bytes} bytes of workspace, and its limit is {limit}; take more ranks, a grid of more numbers, or a larger limit{}", if *gathered { " (this line is transformed by one rank, which holds all of it)" } else { "" }
    )]
    Memory {
        /// The workspace.
        bytes: u64,
        /// The limit of the problem.
        limit: u64,
        /// A line is gathered on one rank.
        gathered: bool,
    },
    /// A rank's part is larger than MPI can count.
    #[error(
        "a rank would have {elements} elements in one exchange, and MPI counts to {}; take more ranks",
        i32::MAX
    )]
    TooManyElements {
        /// The largest part.
        elements: usize,
    },
    /// A caller of a C interface has no communicator. This is an error of that rank alone: there are no others.
    #[error(
        "the communicator is MPI_COMM_NULL; ranks that are not in a communicator make no plan on it"
    )]
    NullCommunicator,
    /// A communicator of two groups, on which collective calls mean other things.
    #[error(
        "the communicator joins two groups of ranks (an intercommunicator); give one of a single group, such as MPI_Intercomm_merge makes of it"
    )]
    Intercommunicator,
    /// No piece of an exchange.
    #[error("an exchange has {pieces} pieces; give 1 or more, or leave it to the plan")]
    Pieces {
        /// The number asked for.
        pieces: usize,
    },
    /// Another rank failed.
    #[error("rank {rank} failed: {message}")]
    OnRank {
        /// The first rank that did.
        rank: usize,
        /// Its message.
        message: String,
    },
}
