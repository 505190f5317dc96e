//! Threads: the functions of libfftw3_threads and libfftw3_omp.
//!
//! A plan for one thread never leaves the thread that executes it. A plan for several runs in a pool that is made for its number,
//! and made again in a process that was forked off.

use crate::options;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

static THREADS: AtomicUsize = AtomicUsize::new(1);

/// A pool with the process that it was made in: threads do not survive a fork.
type Pools = Vec<(u32, usize, Arc<ThreadPool>)>;
static POOLS: Mutex<Pools> = Mutex::new(Vec::new());

/// Threads of the plans made from now on, unless the environment says otherwise.
pub(crate) fn planned() -> usize {
    THREADS.load(Ordering::Relaxed)
}

/// Runs `work` in a pool of so many threads.
pub(crate) fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let process = std::process::id();
    let found = {
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        let known = pools
            .iter()
            .find(|(owner, count, _)| (*owner, *count) == (process, threads));
        match known {
            Some((_, _, pool)) => Some(Arc::clone(pool)),
            None => {
                let made = ThreadPoolBuilder::new().num_threads(threads).build().ok();
                made.map(|pool| {
                    let pool = Arc::new(pool);
                    pools.push((process, threads, Arc::clone(&pool)));
                    pool
                })
            }
        }
    };
    match found {
        Some(pool) => pool.install(work),
        // A system that gives no more threads still has this one; bits do not depend on it.
        None => work(),
    }
}

/// Runs the transform of a plan for so many threads.
pub(crate) fn run<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    if threads == 1 {
        work()
    } else {
        in_pool(threads, work)
    }
}

/// Nothing has to be prepared: always 1, which is success.
#[unsafe(no_mangle)]
pub extern "C" fn fftw_init_threads() -> c_int {
    1
}

/// Threads of the plans made from now on; less than 1 counts as 1. `OZFFT_THREADS` has the last word.
#[unsafe(no_mangle)]
pub extern "C" fn fftw_plan_with_nthreads(threads: c_int) {
    let threads = usize::try_from(threads).unwrap_or(1).max(1);
    THREADS.store(threads, Ordering::Relaxed);
}

/// Threads of the plans made from now on.
#[unsafe(no_mangle)]
pub extern "C" fn fftw_planner_nthreads() -> c_int {
    let threads = options::threads_asked().ok().flatten();
    c_int::try_from(threads.unwrap_or_else(planned)).unwrap_or(c_int::MAX)
}

/// Plans are for one thread again; wisdom and plans that nobody holds are forgotten, as by `fftw_cleanup`.
#[unsafe(no_mangle)]
pub extern "C" fn fftw_cleanup_threads() {
    fftw_plan_with_nthreads(1);
    crate::memory::fftw_cleanup();
}

/// Planning is safe from several threads at once without it.
#[unsafe(no_mangle)]
pub extern "C" fn fftw_make_planner_thread_safe() {}

/// A caller's way to run jobs side by side.
pub type ParallelLoop = unsafe extern "C" fn(
    work: Option<unsafe extern "C" fn(*mut c_char) -> *mut c_void>,
    jobs: *mut c_char,
    size: usize,
    count: c_int,
    data: *mut c_void,
);

/// Taken note of and not called: transforms run in a pool of this library, and their bits do not depend on it.
#[unsafe(no_mangle)]
pub extern "C" fn fftw_threads_set_callback(parallel: Option<ParallelLoop>, _data: *mut c_void) {
    if parallel.is_some() && options::verbose() {
        crate::door::say(
            "fftw_threads_set_callback: the caller's loop is not used; transforms run in a pool of this library",
        );
    }
}
