//! Locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A poisoned lock means that another thread panicked while planning; what is behind it is complete all the same.
pub fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
