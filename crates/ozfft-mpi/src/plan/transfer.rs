//! A piece of an exchange on its way: `MPI_Ialltoallv`.
//!
//! Only the thread that calls the plan calls MPI, so any level of thread support will do. Without a thread of its own MPI moves on when it is called: between
//! transforms the plan asks whether transfers have ended.

use mpi::Count;
use mpi::datatype::{SystemDatatype, UserDatatype};
use mpi::ffi::{MPI_Ialltoallv, MPI_Request, MPI_Test, MPI_Wait, RSMPI_STATUS_IGNORE};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use std::mem::MaybeUninit;

/// Memory for what is sent and what is received.
pub(super) struct Slot<'a> {
    pub(super) send: &'a mut [u8],
    pub(super) receive: &'a mut [u8],
}

/// Counts, places and number of all elements for MPI.
fn partition(counts: &[usize]) -> (Vec<Count>, Vec<Count>, Count) {
    let counts: Vec<Count> = counts.iter().map(|&count| count as Count).collect();
    let mut all = 0;
    let places = counts.iter().map(|&count| {
        all += count;
        all - count
    });
    let places = places.collect();
    (counts, places, all)
}

/// First byte and length of what is sent, and of the room for what is received: memory of the processor, or of a GPU where MPI takes such pointers.
pub(super) struct Memory {
    pub(super) send: (*const u8, usize),
    pub(super) receive: (*mut u8, usize),
}

/// A transfer that was started. It has the slot until it ends, and what else MPI reads meanwhile.
pub(super) struct Transfer<S> {
    request: MPI_Request,
    /// Taken out when it has ended.
    slot: Option<S>,
    _lists: [(Vec<Count>, Vec<Count>, Count); 2],
    _element: UserDatatype,
}

impl<'a> Transfer<Slot<'a>> {
    /// Starts to send the slot's elements of so many bytes; collective.
    pub(super) fn start(
        group: &SimpleCommunicator,
        slot: Slot<'a>,
        counts: (&[usize], &[usize]),
        bytes: usize,
    ) -> Self {
        let memory = Memory {
            send: (slot.send.as_ptr(), slot.send.len()),
            receive: (slot.receive.as_mut_ptr(), slot.receive.len()),
        };
        // SAFETY: the memory is the slot's.
        unsafe { Transfer::start_from(group, (slot, memory), counts, bytes) }
    }
}

impl<S> Transfer<S> {
    /// The same of other memory, which belongs to a slot.
    ///
    /// # Safety
    /// The memory is the slot's, stays where it is when the slot is moved, and nothing else uses it before the slot is given back.
    pub(super) unsafe fn start_from(
        group: &SimpleCommunicator,
        (slot, memory): (S, Memory),
        (sent, received): (&[usize], &[usize]),
        bytes: usize,
    ) -> Transfer<S> {
        let byte: SystemDatatype = u8::equivalent_datatype();
        let element = UserDatatype::contiguous(bytes as Count, &byte);
        let lists = [partition(sent), partition(received)];
        assert!(
            memory.send.1 >= lists[0].2 as usize * bytes
                && memory.receive.1 >= lists[1].2 as usize * bytes,
            "a slot has room for every piece"
        );
        // The address of an empty slice may be any, that of MPI_IN_PLACE too (1 in Open MPI).
        let (send, receive) = (
            match memory.send.1 {
                0 => std::ptr::null(),
                _ => memory.send.0,
            },
            match memory.receive.1 {
                0 => std::ptr::null_mut(),
                _ => memory.receive.0,
            },
        );
        let mut request = MaybeUninit::uninit();
        // SAFETY: counts and places are within the slot, as was checked; it, the lists and the type live in the transfer, which is not dropped before MPI
        // is done with them.
        let request = unsafe {
            MPI_Ialltoallv(
                send.cast(),
                lists[0].0.as_ptr(),
                lists[0].1.as_ptr(),
                element.as_raw(),
                receive.cast(),
                lists[1].0.as_ptr(),
                lists[1].1.as_ptr(),
                element.as_raw(),
                group.as_raw(),
                request.as_mut_ptr(),
            );
            request.assume_init()
        };
        Transfer {
            request,
            slot: Some(slot),
            _lists: lists,
            _element: element,
        }
    }

    /// Lets MPI move on.
    pub(super) fn progress(&mut self) {
        let mut ended = 0;
        // SAFETY: the request was started here; one that has ended is null, which MPI accepts.
        unsafe { MPI_Test(&mut self.request, &mut ended, RSMPI_STATUS_IGNORE) };
    }

    fn complete(&mut self) {
        // SAFETY: as above.
        unsafe { MPI_Wait(&mut self.request, RSMPI_STATUS_IGNORE) };
    }

    /// Waits until everything has arrived, and gives back the slot.
    pub(super) fn wait(mut self) -> S {
        self.complete();
        match self.slot.take() {
            Some(slot) => slot,
            None => unreachable!("taken out here alone"),
        }
    }
}

impl<S> Drop for Transfer<S> {
    fn drop(&mut self) {
        // A panic must not free memory that MPI writes to. Other ranks have got as far, or will: they wait for later pieces alone.
        if self.slot.is_some() {
            self.complete();
        }
    }
}
