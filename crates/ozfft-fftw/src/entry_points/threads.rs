//! Threads: the functions of libfftw3_threads and libfftw3_omp.
//!
//! A plan for one thread is made and executed by the threads of the caller, and starts none. Plans for several share one pool, as large as any of them wants
//! and never larger than the machine; a process that was forked off makes its own.

use crate::options;
use crate::process::Process;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the program has asked for, for plans of all precisions: FFTW has a number for each, which programs set alike.
static THREADS: AtomicUsize = AtomicUsize::new(1);

/// Numbers that are worth a thread: it takes some microseconds to wake up, and a fifth of a millisecond to transform so many.
const POINTS_OF_A_THREAD: usize = 8192;

/// Threads of the plans made from now on, unless the environment says otherwise.
pub(crate) fn planned() -> usize {
    THREADS.load(Ordering::Relaxed)
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

/// A caller's loop that runs jobs in parallel.
pub type ParallelLoop = unsafe extern "C" fn(
    work: Option<unsafe extern "C" fn(*mut c_char) -> *mut c_void>,
    jobs: *mut c_char,
    size: usize,
    count: c_int,
    data: *mut c_void,
);

macro_rules! thread_entry_points {
    ($module:ident, $prefix:literal) => {
        /// The functions for arrays of one precision.
        pub mod $module {
            use super::*;

            /// Nothing has to be prepared: always 1, which is success.
            #[unsafe(export_name = concat!($prefix, "init_threads"))]
            pub extern "C" fn init_threads() -> c_int {
                1
            }

            /// Threads of the plans made from now on; less than 1 counts as 1, and no more are used than help.
            /// `OZFFT_THREADS` has the last word.
            #[unsafe(export_name = concat!($prefix, "plan_with_nthreads"))]
            pub extern "C" fn plan_with_nthreads(threads: c_int) {
                let threads = usize::try_from(threads).unwrap_or(1).max(1);
                THREADS.store(threads, Ordering::Relaxed);
            }

            /// Threads of the plans made from now on, as they were asked for.
            #[unsafe(export_name = concat!($prefix, "planner_nthreads"))]
            pub extern "C" fn planner_nthreads() -> c_int {
                let threads = options::threads_asked().ok().flatten();
                c_int::try_from(threads.unwrap_or_else(planned)).unwrap_or(c_int::MAX)
            }

            /// Plans are for one thread again; wisdom and unused plans are dropped, as by `fftw_cleanup`.
            #[unsafe(export_name = concat!($prefix, "cleanup_threads"))]
            pub extern "C" fn cleanup_threads() {
                plan_with_nthreads(1);
                crate::entry_points::memory::$module::cleanup();
            }

            /// Planning is safe from several threads at once without it.
            #[unsafe(export_name = concat!($prefix, "make_planner_thread_safe"))]
            pub extern "C" fn make_planner_thread_safe() {}

            /// Taken note of and not called: transforms run in a pool of this library, and their bits do not depend on it.
            #[unsafe(export_name = concat!($prefix, "threads_set_callback"))]
            pub extern "C" fn threads_set_callback(
                parallel: Option<ParallelLoop>,
                _data: *mut c_void,
            ) {
                if parallel.is_some() && options::verbose() {
                    crate::ffi::log(concat!(
                        $prefix,
                        "threads_set_callback: the caller's loop is not used; transforms run in a pool of this library"
                    ));
                }
            }
        }
    };
}
thread_entry_points!(double, "fftw_");
thread_entry_points!(single, "fftwf_");

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
