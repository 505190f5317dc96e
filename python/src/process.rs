//! State of the process: planners, cached plans, threads.
//!
//! Python programs fork. A child has the memory of its parent and none of its threads, so that a pool of threads would
//! never answer there and a lock might be held by no thread; a child therefore begins with a process of its own, and leaves
//! its parent's alone.

use crate::plan_cache::PlanCache;
use fallible_memory::{catch, expect};
use ozfft::{FftError, Planner};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::{Cell, OnceCell};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Calls of a thread before it gets a pool of its own. Such a pool takes 8 KB that are never freed, so programs that
/// start a thread for every few calls must not get one each.
const CALLS_BEFORE_ALONE: u32 = 16;

/// Address space that a thread of the pool takes: its stack, and what the system and its allocator set up beside it.
const BYTES_OF_THREAD: u64 = 4 << 20;

/// Everything that a forked child must not share.
pub(crate) struct Process {
    identity: u32,
    pub(crate) double: Planner<f64>,
    pub(crate) single: Planner<f32>,
    plans: Mutex<PlanCache>,
    pool: OnceLock<ThreadPool>,
}

static CURRENT: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());

/// Transforms that have been run, so that a test can say whether it was this library that computed.
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);

pub(crate) fn count_execution() {
    EXECUTIONS.fetch_add(1, Ordering::Relaxed);
}

/// Number of transforms that this process has run.
#[pyfunction]
pub(crate) fn executions() -> u64 {
    EXECUTIONS.load(Ordering::Relaxed)
}

impl Process {
    /// This process's; made anew in a forked child.
    pub(crate) fn current() -> &'static Process {
        let identity = std::process::id();
        let known = CURRENT.load(Ordering::Acquire);
        // SAFETY: what has once been stored here is never freed.
        if let Some(process) = unsafe { known.as_ref() }
            && process.identity == identity
        {
            return process;
        }
        let (double, single) = (Planner::new(), Planner::new());
        // Plans are cached here, by all arguments of a call.
        double.set_memory_limit(0);
        single.set_memory_limit(0);
        let fresh = Box::into_raw(Box::new(Process {
            identity,
            double,
            single,
            plans: Mutex::new(PlanCache::new()),
            pool: OnceLock::new(),
        }));
        let now = match CURRENT.compare_exchange(known, fresh, Ordering::AcqRel, Ordering::Acquire)
        {
            Ok(_) => fresh,
            Err(another) => {
                // SAFETY: made above and not shared yet.
                drop(unsafe { Box::from_raw(fresh) });
                another
            }
        };
        // SAFETY: stored by this or another thread of this process, and never freed.
        unsafe { &*now }
    }

    pub(crate) fn plans(&self) -> std::sync::MutexGuard<'_, PlanCache> {
        // Nothing is left half done under this lock.
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what the planners hold besides the cached plans, which keep their tables.
    pub(crate) fn forget_tables(&self) {
        self.double.clear();
        self.single.clear();
    }

    /// Runs work that may divide itself among so many threads.
    pub(crate) fn with_threads<R: Send>(
        &self,
        threads: usize,
        work: impl FnOnce() -> R + Send,
    ) -> Result<R, FftError> {
        thread_local! {
            /// A pool that is this thread alone: work that is not divided need not wait for another thread to wake up.
            static ALONE: OnceCell<ThreadPool> = const { OnceCell::new() };
            static CALLS: Cell<u32> = const { Cell::new(0) };
        }
        let calls = CALLS.get();
        CALLS.set(calls.saturating_add(1));
        let shared = threads > 1 || calls < CALLS_BEFORE_ALONE;
        if shared && let Some(pool) = self.pool() {
            return Ok(catch(|| pool.install(work))?);
        }
        ALONE.with(|alone| {
            if alone.get().is_none() {
                let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
                let _ = alone.set(pool.build().map_err(no_threads)?);
            }
            match alone.get() {
                Some(pool) => {
                    let run = || catch(|| pool.install(work));
                    Ok(stacker::maybe_grow(ROOM, STACK, run)?)
                }
                None => unreachable!("set above"),
            }
        })
    }

    /// The pool that calls share, of fewer threads where the system starts no more. None where it starts no thread.
    fn pool(&self) -> Option<&ThreadPool> {
        if let Some(pool) = self.pool.get() {
            return Some(pool);
        }
        let started = |threads: usize| {
            expect(threads as u64 * BYTES_OF_THREAD).ok()?;
            let pool = ThreadPoolBuilder::new().thread_name(|number| format!("ozfft-{number}"));
            pool.num_threads(threads).build().ok()
        };
        let most = wanted_threads();
        let fewer = std::iter::successors(Some(most), |&threads| {
            Some(threads / 2).filter(|&half| half > 0)
        });
        let pool = fewer.into_iter().find_map(started)?;
        // Threads that are still starting initialise what all pools of a process share. A child that is forked meanwhile would
        // wait for that for ever; so no call returns and no fork proceeds before each has run something.
        pool.broadcast(|_| ());
        Some(self.pool.get_or_init(|| pool))
    }
}

/// As many threads as rayon's pools have by default.
fn wanted_threads() -> usize {
    let asked = std::env::var("RAYON_NUM_THREADS").ok();
    let asked = asked
        .and_then(|number| number.parse().ok())
        .filter(|&number| number > 0);
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |number| number.get()))
}
/// Bytes of stack that work may need: half as much again as the most that was measured, of a transform by residues.
const ROOM: usize = 112 << 10;

/// Bytes of the stack that work gets where the thread has less room (`threading.stack_size`).
const STACK: usize = 512 << 10;

fn no_threads(error: rayon::ThreadPoolBuildError) -> FftError {
    FftError::Unsupported(format!(
        "no threads can be had: {error}; ask for fewer workers"
    ))
}
