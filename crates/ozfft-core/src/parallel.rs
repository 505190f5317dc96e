//! Work divided among threads: rayon's with the feature `parallel`, else the caller's alone. Bits do not depend on it.
//!
//! Work is passed on as `dyn`: what rayon needs for it, thousands of lines, would otherwise be compiled for every closure.

use fallible_memory::collected;
#[cfg(feature = "parallel")]
use fallible_memory::with_capacity;
use std::cell::Cell;

thread_local! {
    /// This thread does all of its work by itself.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` for so many threads. For one it stays on the caller's thread: no pool is started or used, because a process with a second thread
/// cannot end by `pthread_exit` or call `unshare`.
pub fn on_threads<R>(threads: usize, work: impl FnOnce() -> R) -> R {
    struct Former(bool);
    impl Drop for Former {
        fn drop(&mut self) {
            ALONE.set(self.0);
        }
    }
    let _former = Former(ALONE.replace(threads == 1 || ALONE.get()));
    work()
}

/// Whether work can be divided. Where the system starts no thread (`ulimit -u`, the limit of a container), rayon would panic: then the
/// caller's thread does all of it.
#[cfg(feature = "parallel")]
fn has_pool() -> bool {
    use std::error::Error;
    use std::sync::OnceLock;
    static STARTED: OnceLock<bool> = OnceLock::new();
    let start = || match rayon::ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        // The program has started it before us; only a thread that did not start has a reason of the system's.
        Err(error) => error.source().is_none(),
    };
    !ALONE.get() && (is_worker() || *STARTED.get_or_init(start))
}

/// Whether the caller is a thread of a pool, which must not wait for other callers: they may wait for what it has begun.
#[cfg(feature = "parallel")]
#[inline]
pub fn is_worker() -> bool {
    rayon::current_thread_index().is_some()
}

#[cfg(not(feature = "parallel"))]
pub fn is_worker() -> bool {
    false
}

/// Calls `work` with every number below `count`.
#[cfg(feature = "parallel")]
pub fn for_each(count: usize, work: impl Fn(usize) + Send + Sync) {
    use rayon::prelude::*;
    let work: &(dyn Fn(usize) + Send + Sync) = &work;
    match has_pool() {
        true => (0..count).into_par_iter().for_each(work),
        false => (0..count).for_each(work),
    }
}

#[cfg(not(feature = "parallel"))]
pub fn for_each(count: usize, work: impl Fn(usize) + Send + Sync) {
    (0..count).for_each(work);
}

/// Calls `work` with every piece of `length` values, and its number.
#[cfg(feature = "parallel")]
pub fn for_each_piece<V: Send>(
    values: &mut [V],
    length: usize,
    work: impl Fn(usize, &mut [V]) + Send + Sync,
) {
    use rayon::prelude::*;
    let work: &(dyn Fn(usize, &mut [V]) + Send + Sync) = &work;
    if !has_pool() {
        let pieces = values.chunks_mut(length).enumerate();
        return pieces.for_each(|(number, piece)| work(number, piece));
    }
    let pieces = values.par_chunks_mut(length).enumerate();
    pieces.for_each(|(number, piece)| work(number, piece));
}

#[cfg(not(feature = "parallel"))]
pub fn for_each_piece<V: Send>(
    values: &mut [V],
    length: usize,
    work: impl Fn(usize, &mut [V]) + Send + Sync,
) {
    let pieces = values.chunks_mut(length).enumerate();
    pieces.for_each(|(number, piece)| work(number, piece));
}

/// The results of `make` for every number below `count`; a thread takes at least so many.
#[cfg(feature = "parallel")]
pub fn collect<V: Send>(
    count: usize,
    least: usize,
    make: impl Fn(usize) -> V + Send + Sync,
) -> Vec<V> {
    use rayon::prelude::*;
    if !has_pool() {
        return collected((0..count).map(make));
    }
    let make: &(dyn Fn(usize) -> V + Send + Sync) = &make;
    let mut values = with_capacity(count);
    let numbers = (0..count).into_par_iter().with_min_len(least);
    values.par_extend(numbers.map(make));
    values
}

#[cfg(not(feature = "parallel"))]
pub fn collect<V: Send>(count: usize, _: usize, make: impl Fn(usize) -> V + Send + Sync) -> Vec<V> {
    collected((0..count).map(make))
}

/// Threads that there are.
#[cfg(feature = "parallel")]
#[inline]
pub fn threads() -> usize {
    match has_pool() {
        true => rayon::current_num_threads(),
        false => 1,
    }
}

#[cfg(not(feature = "parallel"))]
pub fn threads() -> usize {
    1
}
