//! Communicators that callers of a C interface pass as MPI's handles.

use crate::error::DistributedError;
use mpi::ffi::{MPI_Comm, MPI_Comm_test_inter, RSMPI_COMM_NULL, RSMPI_COMM_SELF, RSMPI_COMM_WORLD};
use mpi::topology::SimpleCommunicator;
use mpi::traits::FromRaw;
use std::mem::ManuallyDrop;

/// Fails for communicators of two groups. Every rank of one gets the error by itself, without a message.
pub(crate) fn expect_one_group(raw: MPI_Comm) -> Result<(), DistributedError> {
    let mut is_inter = 0;
    // SAFETY: a communicator, and a place for a number.
    unsafe { MPI_Comm_test_inter(raw, &mut is_inter) };
    match is_inter {
        0 => Ok(()),
        _ => Err(DistributedError::Intercommunicator),
    }
}

/// The caller's communicator, which is not freed here. The constant `MPI_COMM_NULL`, for which MPI would end the program, and communicators of two
/// groups are errors.
///
/// # Safety
/// It lives as long as it is used.
pub unsafe fn communicator_of_caller(
    raw: MPI_Comm,
) -> Result<ManuallyDrop<SimpleCommunicator>, DistributedError> {
    // MPI's own two have values of their own in the crate `mpi`, which asserts that they do not come as handles.
    // SAFETY: constants of MPI, and the caller's promise.
    let communicator = unsafe {
        if raw == RSMPI_COMM_NULL {
            return Err(DistributedError::NullCommunicator);
        }
        expect_one_group(raw)?;
        if raw == RSMPI_COMM_WORLD {
            SimpleCommunicator::world()
        } else if raw == RSMPI_COMM_SELF {
            SimpleCommunicator::self_comm()
        } else {
            SimpleCommunicator::from_raw(raw)
        }
    };
    Ok(ManuallyDrop::new(communicator))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::support::on_ranks;
    use crate::{DistributedPlan, DistributedProblem};
    use mpi::topology::{Color, InterCommunicator};
    use mpi::traits::*;

    /// Collective calls mean other things there: plans were made, and their results were wrong.
    #[test]
    fn a_communicator_of_two_groups_is_an_error_of_every_rank() {
        let test = "caller::tests::a_communicator_of_two_groups_is_an_error_of_every_rank";
        on_ranks(test, 4, |world| {
            let color = world.rank() % 2;
            let group = world.split_by_color(Color::with_value(color));
            let group = group.expect("a group");
            let (own, all, mut raw) = (group.as_raw(), world.as_raw(), group.as_raw());
            // SAFETY: the first ranks of the groups are 0 and 1 of the world, and the handle is written before it is read.
            let both = unsafe {
                mpi::ffi::MPI_Intercomm_create(own, 0, all, 1 - color, 7, &mut raw);
                InterCommunicator::from_raw(raw)
            };
            let problem = DistributedProblem::complex(&[6, 10]);
            let plan = DistributedPlan::<f64>::new(&problem, &both);
            assert_eq!(plan.err(), Some(DistributedError::Intercommunicator));
            // SAFETY: as above.
            let raw = unsafe { communicator_of_caller(raw) };
            assert_eq!(raw.err(), Some(DistributedError::Intercommunicator));
            assert!(DistributedPlan::<f64>::new(&problem, world).is_ok());
        });
    }
}
