#![cfg_attr(feature = "mpi", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "mpi"),
    doc = "Divisions and exchanges of distributed transforms; the feature `mpi` runs them."
)]
#![warn(missing_docs)]
// Without MPI nothing runs what is planned here.
#![cfg_attr(not(feature = "mpi"), allow(dead_code))]

#[cfg(feature = "mpi")]
mod agreement;
#[cfg(feature = "mpi")]
mod caller;
#[cfg(feature = "cuda")]
mod cuda;
#[cfg(feature = "mpi")]
mod device;
mod division;
mod error;
mod exchange;
mod index_box;
mod line_pieces;
mod pieces;
#[cfg(feature = "mpi")]
mod plan;
mod problem;
mod quantised;
mod route;
mod short_numbers;

#[cfg(feature = "mpi")]
pub use caller::communicator_of_caller;
pub use error::DistributedError;
pub use index_box::{BoxError, IndexBox, Side};
#[cfg(feature = "mpi")]
pub use plan::{CallTimes, DistributedPlan, ExchangeSummary, refuse_to_plan};
pub use problem::DistributedProblem;
