//! Room on the stack: FFTW runs in threads of 16 KB.

use std::cell::Cell;

/// Bytes of stack that a call may need: half as much again as the most that was measured, 74 KB of a transform by residues (planning has 39 KB, the
/// engine `digits` 18).
const ROOM: usize = 112 << 10;

/// Bytes of the stack that a call gets where the thread has less room.
const STACK: usize = 512 << 10;

/// Runs `work` on this stack, or on one of its own where the thread's has little room left.
pub(crate) fn with_stack<R>(work: impl FnOnce() -> R) -> R {
    thread_local! {
        static OWN: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
    }
    let (low, high) = OWN.get().unwrap_or_else(|| {
        let own = own_stack().unwrap_or((0, 0));
        OWN.set(Some(own));
        own
    });
    let here = (&raw const low).addr();
    // A stack that is not the thread's own is that of an earlier call of ours, or of a coroutine, of whose size nothing is known.
    match (low..high).contains(&here) && here - low < ROOM {
        true => stacker::grow(STACK, work),
        false => work(),
    }
}

/// The lowest address of this thread's stack, and the first above it.
#[cfg(target_os = "linux")]
fn own_stack() -> Option<(usize, usize)> {
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut low, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes are read and given back only where they have been written.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let found = libc::pthread_attr_getstack(attributes.as_ptr(), &mut low, &mut size);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        (found == 0).then(|| (low.addr(), low.addr().saturating_add(size)))
    }
}

#[cfg(not(target_os = "linux"))]
fn own_stack() -> Option<(usize, usize)> {
    None
}
