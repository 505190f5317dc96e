//! Pieces in memory that ranks of one node share (`MPI_Win_allocate_shared`): a piece is read where its lines were transformed, so that nothing is packed, sent and unpacked.
//!
//! A rank has a few buffers. When a piece is there, it enters a barrier that does not block; once all ranks of the group have entered it, each copies what it wants from the others' buffers to its place, and
//! enters another one. A buffer is written again when all have left that behind.
//!
//! Freeing such memory is collective and waits for all ranks, which need not drop their plans in the same order. So it is kept, and the next plan of the same ranks takes it.

use crate::agreement;
use mpi::ffi::{
    MPI_Aint, MPI_Comm_compare, MPI_Comm_set_errhandler, MPI_Ibarrier, MPI_MODE_NOCHECK,
    MPI_Request, MPI_SUCCESS, MPI_Test, MPI_Wait, MPI_Win, MPI_Win_allocate_shared, MPI_Win_free,
    MPI_Win_lock_all, MPI_Win_shared_query, MPI_Win_sync, MPI_Win_unlock_all, RSMPI_CONGRUENT,
    RSMPI_ERRORS_RETURN, RSMPI_IDENT, RSMPI_INFO_NULL, RSMPI_STATUS_IGNORE,
};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use std::cell::RefCell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::rc::Rc;
use std::sync::atomic::{Ordering, fence};

/// Buffers of a rank: one that is transformed, one that is read, and one that was, by the slowest of all.
pub(super) const BUFFERS: usize = 3;

/// Whether all ranks can share memory; collective.
pub(super) fn on_one_node(all: &SimpleCommunicator) -> bool {
    let apart = all.split_shared(all.rank()).size() != all.size();
    let mut found = [i32::from(apart)];
    agreement::maxima(all, &mut found);
    found == [0]
}

/// Memory that ranks share, with what each of them has of it. It stays until MPI ends, or until a larger one is made for the same ranks.
struct Window {
    /// The same on all ranks that share it.
    number: i32,
    ranks: ManuallyDrop<SimpleCommunicator>,
    window: MPI_Win,
    bytes: usize,
    /// Where the memory of every rank begins.
    starts: Vec<*mut u8>,
}

thread_local! {
    /// Plans stay on a thread, and so does what they share.
    static KEPT: RefCell<Vec<Rc<Window>>> = const { RefCell::new(Vec::new()) };
}

impl Window {
    /// Memory of so many bytes of this rank, at multiples of pages; none where MPI has none, on every rank then. Collective.
    fn new(all: &SimpleCommunicator, number: i32, bytes: usize) -> Option<Window> {
        let ranks = ManuallyDrop::new(all.duplicate());
        let bytes = bytes.next_multiple_of(4096).max(4096);
        let (mut own, mut window) = (std::ptr::null_mut::<u8>(), MaybeUninit::uninit());
        // SAFETY: collective, on a communicator of its own, whose errors are returned from here on.
        let code = unsafe {
            MPI_Comm_set_errhandler(ranks.as_raw(), RSMPI_ERRORS_RETURN);
            MPI_Win_allocate_shared(
                bytes as MPI_Aint,
                1,
                RSMPI_INFO_NULL,
                ranks.as_raw(),
                (&raw mut own).cast(),
                window.as_mut_ptr(),
            )
        };
        let mut failed = [i32::from(code != MPI_SUCCESS as i32)];
        agreement::maxima(all, &mut failed);
        if failed != [0] {
            return None;
        }
        // SAFETY: it was made.
        let window = unsafe { window.assume_init() };
        let start = |rank: i32| {
            let (mut len, mut unit) = (0 as MPI_Aint, 0);
            let mut start = std::ptr::null_mut::<u8>();
            // SAFETY: the window's ranks are asked for.
            unsafe {
                MPI_Win_shared_query(window, rank, &mut len, &mut unit, (&raw mut start).cast());
            }
            start
        };
        let starts = (0..ranks.size()).map(start).collect();
        // SAFETY: opened once, and closed when it is freed: ordinary reads and writes, ordered by barriers.
        unsafe { MPI_Win_lock_all(MPI_MODE_NOCHECK as i32, window) };
        Some(Window {
            number,
            ranks,
            window,
            bytes,
            starts,
        })
    }

    /// Collective: all of its ranks call it.
    fn free(mut self) {
        // SAFETY: nothing of this rank uses it any more, and others wait here until they are done.
        unsafe {
            MPI_Win_unlock_all(self.window);
            MPI_Win_free(&mut self.window);
            ManuallyDrop::drop(&mut self.ranks);
        }
    }

    /// One that no plan uses on any rank, and that is large enough on all of them; collective. One that is too small is freed.
    fn kept_or_new(all: &SimpleCommunicator, bytes: usize) -> Option<Rc<Window>> {
        KEPT.with_borrow_mut(|kept| {
            let unused = kept
                .iter()
                .position(|window| Rc::strong_count(window) == 1 && window.is_of(all));
            let number = unused.map_or(-1, |place| kept[place].number);
            let short = unused.is_some_and(|place| kept[place].bytes < bytes);
            let newest = kept.iter().map(|window| window.number).max().unwrap_or(-1);
            let mut numbers = [number, -number, i32::from(short), newest];
            agreement::maxima(all, &mut numbers);
            let [largest, least, too_short, newest] = numbers;
            // Ranks may have dropped others, in other orders.
            if let Some(place) = unused.filter(|_| largest == -least) {
                if too_short == 0 {
                    return Some(Rc::clone(&kept[place]));
                }
                let window = kept.swap_remove(place);
                if let Some(window) = Rc::into_inner(window) {
                    window.free();
                }
            }
            let window = Rc::new(Window::new(all, newest + 1, bytes)?);
            kept.push(Rc::clone(&window));
            Some(window)
        })
    }

    /// Whether its ranks are those of a communicator, in the same order.
    fn is_of(&self, all: &SimpleCommunicator) -> bool {
        let mut result = 0;
        // SAFETY: two communicators of MPI; not collective. Congruent ones have the same ranks in the same order.
        unsafe {
            MPI_Comm_compare(self.ranks.as_raw(), all.as_raw(), &mut result);
            result == RSMPI_IDENT || result == RSMPI_CONGRUENT
        }
    }
}

/// A barrier that this rank has entered, and others may not have.
pub(super) struct Entered(MPI_Request);

impl Entered {
    fn new(group: &SimpleCommunicator) -> Entered {
        let mut request = MaybeUninit::uninit();
        // SAFETY: collective.
        unsafe {
            MPI_Ibarrier(group.as_raw(), request.as_mut_ptr());
            Entered(request.assume_init())
        }
    }

    /// Lets MPI move on.
    pub(super) fn progress(&mut self) {
        let mut ended = 0;
        // SAFETY: a request of its own; one that has ended is null, which MPI accepts.
        unsafe { MPI_Test(&mut self.0, &mut ended, RSMPI_STATUS_IGNORE) };
    }

    fn wait(&mut self) {
        // SAFETY: as above.
        unsafe { MPI_Wait(&mut self.0, RSMPI_STATUS_IGNORE) };
    }
}

/// The buffers of a plan.
pub(super) struct SharedPieces {
    window: Rc<Window>,
    rank: usize,
    /// 32-bit words of a buffer of every rank.
    words: Vec<usize>,
    state: RefCell<State>,
}

struct State {
    /// The buffer that is written next.
    next: usize,
    /// Whether others have read what a buffer had.
    read: [Option<Entered>; BUFFERS],
}

/// A piece in a buffer of each rank.
pub(super) struct SharedPiece {
    buffer: usize,
    /// Whether all ranks of the group have theirs.
    there: Entered,
}

impl SharedPieces {
    /// Buffers of so many 64-bit words; none where ranks cannot share as much. Collective.
    pub(super) fn new(all: &SimpleCommunicator, len: usize) -> Option<SharedPieces> {
        let mut lens = vec![0u64; agreement::size(all)];
        all.all_gather_into(&(len as u64), &mut lens[..]);
        let window = Window::kept_or_new(all, 8 * BUFFERS * len)?;
        Some(SharedPieces {
            window,
            rank: agreement::rank(all),
            words: lens.iter().map(|&len| 2 * len as usize).collect(),
            state: RefCell::new(State {
                next: 0,
                read: Default::default(),
            }),
        })
    }

    /// Bytes of this rank.
    pub(super) fn bytes(&self) -> usize {
        4 * BUFFERS * self.words[self.rank]
    }

    /// The next buffer, once all ranks have read what it had.
    pub(super) fn next_buffer(&self) -> usize {
        let mut state = self.state.borrow_mut();
        let buffer = state.next;
        state.next = (buffer + 1) % BUFFERS;
        if let Some(mut read) = state.read[buffer].take() {
            read.wait();
            self.see();
        }
        buffer
    }

    /// This rank's buffer.
    ///
    /// # Safety
    /// It is the one that [`SharedPieces::next_buffer`] gave last, nobody has been told of its piece, and no other reference to it is used.
    #[allow(clippy::mut_from_ref)]
    pub(super) unsafe fn own(&self, buffer: usize) -> &mut [u32] {
        let (start, words) = (self.window.starts[self.rank], self.words[self.rank]);
        // SAFETY: within the rank's memory, which begins at a page; the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(start.cast::<u32>().add(buffer * words), words) }
    }

    /// Tells the ranks of a group that a piece is in this rank's buffer; collective.
    pub(super) fn tell(&self, group: &SimpleCommunicator, buffer: usize) -> SharedPiece {
        self.see();
        SharedPiece {
            buffer,
            there: Entered::new(group),
        }
    }

    /// Waits for the piece of all ranks of a group, and reads it: `read` is called with those of others.
    pub(super) fn read_all(
        &self,
        group: &SimpleCommunicator,
        mut piece: SharedPiece,
        members: &[usize],
        mut read: impl FnMut(usize, &[u32]),
        timed: impl FnOnce(&mut dyn FnMut()),
    ) {
        timed(&mut || piece.there.wait());
        self.see();
        for (place, &rank) in members
            .iter()
            .enumerate()
            .filter(|(_, rank)| **rank != self.rank)
        {
            let (start, words) = (self.window.starts[rank], self.words[rank]);
            let first = piece.buffer * words;
            // SAFETY: within the other rank's memory, which it does not write before this rank has entered the barrier below.
            let array =
                unsafe { std::slice::from_raw_parts(start.cast::<u32>().add(first), words) };
            read(place, array);
        }
        self.see();
        self.state.borrow_mut().read[piece.buffer] = Some(Entered::new(group));
    }

    /// Lets MPI move on.
    pub(super) fn progress<'p>(&self, pieces: impl Iterator<Item = &'p mut SharedPiece>) {
        pieces.for_each(|piece| piece.there.progress());
        let mut state = self.state.borrow_mut();
        state.read.iter_mut().flatten().for_each(Entered::progress);
    }

    /// Orders reads and writes before it before those after it, in this process and in shared memory.
    fn see(&self) {
        fence(Ordering::SeqCst);
        // SAFETY: within the epoch that was opened when the window was made.
        unsafe { MPI_Win_sync(self.window.window) };
    }
}

impl Drop for SharedPieces {
    fn drop(&mut self) {
        if mpi::environment::is_finalized() {
            return;
        }
        // Others may read still: they have been told of all pieces, and enter the barrier when they are done.
        for mut read in self
            .state
            .get_mut()
            .read
            .iter_mut()
            .filter_map(Option::take)
        {
            read.wait();
        }
    }
}
