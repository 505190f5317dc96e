//! The threads of plans.
//!
//! A plan for one thread is made and executed by the threads of the caller, and starts none. Plans for several share one pool, as large as any of them wants
//! and never larger than the machine; a process that was forked off makes its own.

use crate::process::Process;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the program has asked for, for plans of all precisions: FFTW has a number for each, which programs set alike.
static THREADS: AtomicUsize = AtomicUsize::new(1);

/// Numbers that are worth a thread: it takes some microseconds to wake up, and a fifth of a millisecond to transform so many.
const POINTS_OF_A_THREAD: usize = 8192;

/// Threads of the plans made from now on, unless the environment says otherwise.
pub(crate) fn planned() -> usize {
    THREADS.load(Ordering::Relaxed)
}

/// Sets them.
pub(crate) fn plan_for(threads: usize) {
    THREADS.store(threads, Ordering::Relaxed);
}

/// Of the threads that are asked for, those that are of use: no more than there are processors, each with work worth waking it
/// for. Results do not depend on it.
pub(crate) fn useful(asked: usize, points: usize) -> usize {
    if asked <= 1 {
        return 1;
    }
    let processors = std::thread::available_parallelism().map_or(1, |number| number.get());
    asked
        .min(processors)
        .min(points / POINTS_OF_A_THREAD)
        .max(1)
}

/// A number of threads in words.
pub(crate) fn in_words(threads: usize) -> String {
    match threads {
        1 => "1 thread".into(),
        _ => format!("{threads} threads"),
    }
}

/// Runs `work` with so many threads: in the pool, or on the caller's thread alone.
pub(crate) fn run<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = match threads {
        1 => None,
        _ => Process::current().pool(threads),
    };
    match pool {
        Some(pool) => pool.install(work),
        // A system that gives no more threads still has this one; bits do not depend on it.
        None => work(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_capped_at_processors_and_at_work() {
        let processors = std::thread::available_parallelism().map_or(1, |number| number.get());
        assert_eq!(useful(i32::MAX as usize, usize::MAX), processors);
        assert_eq!(useful(1000, 16), 1);
        assert_eq!(useful(1, usize::MAX), 1);
        assert_eq!(useful(2, 2 * POINTS_OF_A_THREAD), processors.min(2));
    }
}
