//! What all ranks find out together: that they ask for the same, and that nobody has failed.
//!
//! Every function here is collective. Numbers are integers, and their maximum does not depend on the order.

use crate::error::DistributedError;
use crate::index_box::IndexBox;
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

/// Ends all ranks if this one panics between two collective calls: they would wait for it for ever.
pub(crate) struct AbortOnPanic<'a>(pub(crate) &'a SimpleCommunicator);

impl Drop for AbortOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abort(134);
        }
    }
}

pub(crate) fn size(comm: &SimpleCommunicator) -> usize {
    comm.size() as usize
}

pub(crate) fn rank(comm: &SimpleCommunicator) -> usize {
    comm.rank() as usize
}

/// The maxima of numbers over all ranks.
pub(crate) fn maxima<N: Equivalence + Clone>(comm: &SimpleCommunicator, numbers: &mut [N]) {
    let own = numbers.to_vec();
    comm.all_reduce_into(&own[..], numbers, SystemOperation::max());
}

/// The sums of numbers over all ranks.
pub(crate) fn sums(comm: &SimpleCommunicator, numbers: &mut [u64]) {
    let own = numbers.to_vec();
    comm.all_reduce_into(&own[..], numbers, SystemOperation::sum());
}

/// A text of one rank, on all of them.
fn text_of(comm: &SimpleCommunicator, root: usize, own: &str) -> String {
    let process = comm.process_at_rank(root as i32);
    let mut len = own.len() as u64;
    process.broadcast_into(&mut len);
    let mut bytes = match rank(comm) == root {
        true => own.as_bytes().to_vec(),
        false => vec![0; len as usize],
    };
    process.broadcast_into(&mut bytes[..]);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a rank contributes to a maximum if it is to be found: the larger, the lower its number; else 0.
pub(crate) fn mark(comm: &SimpleCommunicator, found: bool) -> i32 {
    match found {
        true => comm.size() - comm.rank(),
        false => 0,
    }
}

/// The lowest rank that was found, from the maximum of marks.
pub(crate) fn marked(comm: &SimpleCommunicator, maximum: i32) -> Option<usize> {
    (maximum > 0).then(|| (comm.size() - maximum) as usize)
}

/// An error on every rank, of which `failed` has one of its own to tell.
pub(crate) fn spread<T>(
    comm: &SimpleCommunicator,
    failed: usize,
    own: Result<T, DistributedError>,
) -> DistributedError {
    let message = match &own {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    let message = text_of(comm, failed, &message);
    match own {
        Err(error) => error,
        Ok(_) => DistributedError::OnRank {
            rank: failed,
            message,
        },
    }
}

/// Fails on every rank where it fails on one.
pub(crate) fn all_succeed<T>(
    comm: &SimpleCommunicator,
    own: Result<T, DistributedError>,
) -> Result<T, DistributedError> {
    let mut marks = [mark(comm, own.is_err())];
    maxima(comm, &mut marks);
    match marked(comm, marks[0]) {
        None => own,
        Some(failed) => Err(spread(comm, failed, own)),
    }
}

/// FNV-1a: the same on every machine.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Fails on every rank where one has another text than rank 0.
pub(crate) fn all_equal(comm: &SimpleCommunicator, own: &str) -> Result<(), DistributedError> {
    // The largest and, as its complement, the smallest: one reduction where all agree.
    let mut both = [hash(own), !hash(own)];
    maxima(comm, &mut both);
    if both[0] == !both[1] {
        return Ok(());
    }
    let first = text_of(comm, 0, own);
    let mut marks = [mark(comm, first != own)];
    maxima(comm, &mut marks);
    let Some(rank) = marked(comm, marks[0]) else {
        unreachable!("hashes differ, so texts do");
    };
    Err(DistributedError::Mismatch {
        other: text_of(comm, rank, own),
        rank,
        first,
    })
}

/// The boxes of all ranks, which have the same number of dimensions; nothing where they begin in another number than they end.
pub(crate) fn all_boxes(comm: &SimpleCommunicator, own: &IndexBox) -> Vec<IndexBox> {
    let dimensions = own.low().len();
    if dimensions == 0 || own.high().len() != dimensions {
        return Vec::new();
    }
    let sent: Vec<u64> = own
        .low()
        .iter()
        .chain(own.high())
        .map(|&i| i as u64)
        .collect();
    let mut received = vec![0u64; sent.len() * size(comm)];
    comm.all_gather_into(&sent[..], &mut received[..]);
    let indices: Vec<usize> = received.iter().map(|&i| i as usize).collect();
    indices
        .chunks(2 * dimensions)
        .map(|both| IndexBox::new(&both[..dimensions], &both[dimensions..]))
        .collect()
}

#[cfg(test)]
#[path = "../tests/support/mod.rs"]
pub(crate) mod support;

#[cfg(test)]
mod tests {
    use super::support::on_ranks_judged;
    use super::*;

    #[test]
    fn a_panic_between_collective_calls_ends_all_ranks() {
        let test = "agreement::tests::a_panic_between_collective_calls_ends_all_ranks";
        let body = |world: &SimpleCommunicator| {
            let _guard = AbortOnPanic(world);
            assert!(world.rank() != 1, "rank 1 has a defect");
            world.barrier();
        };
        on_ranks_judged(test, 3, body, |status, text| {
            assert!(!status.success(), "{text}");
            assert!(text.contains("rank 1 has a defect"), "{text}");
        });
    }
}
