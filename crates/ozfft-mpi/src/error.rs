//! Everything that can go wrong, with the value that was given and the remedy. Every rank gets an error where one does.

use crate::index_box::BoxError;
use ozfft::FftError;

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
