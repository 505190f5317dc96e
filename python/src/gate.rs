//! Counts running calls of the extension, so that a process forks only when there are none.
//!
//! A forked child has the memory of its parent and none of its threads. What another thread was in the middle of stays so for
//! ever: a cell that is being initialised (the registry of a starting pool has one, the library others) would never be ready, and
//! the child would wait for it. So calls enter here, and `os.fork` waits until all have left; the package registers the
//! functions below with `os.register_at_fork`. Only atomics: locks would themselves be copied in the state that they are in.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Running calls.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// Threads that are about to fork.
static FORKING: AtomicUsize = AtomicUsize::new(0);

/// How long a waiting thread sleeps before it looks again. Forks are rare and take longer themselves.
const PAUSE: Duration = Duration::from_micros(50);

/// A running call.
pub(crate) struct Call(());

impl Call {
    /// Begins a call. The interpreter's lock must not be held, as a forking thread needs it; calls are not nested, or the inner one
    /// would wait for the fork that waits for the outer one.
    pub(crate) fn enter() -> Call {
        loop {
            INSIDE.fetch_add(1, Ordering::SeqCst);
            if FORKING.load(Ordering::SeqCst) == 0 {
                return Call(());
            }
            INSIDE.fetch_sub(1, Ordering::SeqCst);
            std::thread::sleep(PAUSE);
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits until no call is under way, and keeps new ones waiting.
#[pyfunction]
pub(crate) fn before_fork(py: Python<'_>) {
    py.detach(|| {
        FORKING.fetch_add(1, Ordering::SeqCst);
        while INSIDE.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(PAUSE);
        }
    });
}

/// Lets calls go on.
#[pyfunction]
pub(crate) fn after_fork_in_parent() {
    FORKING.fetch_sub(1, Ordering::SeqCst);
}

/// In the child there are no other threads, neither calling nor forking.
#[pyfunction]
pub(crate) fn after_fork_in_child() {
    FORKING.store(0, Ordering::SeqCst);
    INSIDE.store(0, Ordering::SeqCst);
}
