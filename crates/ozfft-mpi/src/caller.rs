//! Communicators that callers of a C interface pass as MPI's handles.

use mpi::ffi::{MPI_Comm, RSMPI_COMM_NULL, RSMPI_COMM_SELF, RSMPI_COMM_WORLD};
use mpi::topology::SimpleCommunicator;
use mpi::traits::FromRaw;
use std::mem::ManuallyDrop;

/// Whether a handle is `MPI_COMM_NULL`, for which MPI ends the program where it is used: callers of ours get
/// [`DistributedError::NullCommunicator`](crate::DistributedError::NullCommunicator).
pub fn is_null_communicator(raw: MPI_Comm) -> bool {
    // SAFETY: a constant of MPI.
    raw == unsafe { RSMPI_COMM_NULL }
}

/// The caller's communicator, which is not freed here.
///
/// # Safety
/// It is one of a single group, not `MPI_COMM_NULL`, and lives as long as it is used.
pub unsafe fn communicator_of_caller(raw: MPI_Comm) -> ManuallyDrop<SimpleCommunicator> {
    // MPI's own two have values of their own in the crate `mpi`, which asserts that they do not come as handles.
    // SAFETY: constants of MPI, and the caller's promise.
    ManuallyDrop::new(unsafe {
        if raw == RSMPI_COMM_WORLD {
            SimpleCommunicator::world()
        } else if raw == RSMPI_COMM_SELF {
            SimpleCommunicator::self_comm()
        } else {
            SimpleCommunicator::from_raw(raw)
        }
    })
}
