//! State of the process: planners, wisdom, the thread pool.
//!
//! A child that was forked off has the memory of its parent and none of its threads: a pool would never answer there, and a lock
//! might be held by no thread. A child therefore begins with a process of its own, and leaves its parent's alone. A child is recognised by a page
//! that Linux empties in it, and elsewhere by its number, which the first process of a container and a container within it share.

use ozfft::{Planner, Real};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashSet;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Everything that a forked child must not share.
pub(crate) struct Process {
    identity: Identity,
    pub(crate) double: Mutex<Known<f64>>,
    pub(crate) single: Mutex<Known<f32>>,
    pool: Mutex<Option<Arc<ThreadPool>>>,
}

/// A planner, and which transforms there is wisdom about.
pub(crate) struct Known<T: Real> {
    pub(crate) planner: Arc<Planner<T>>,
    /// Problems that `FFTW_WISDOM_ONLY` finds: imported or planned.
    pub(crate) wise: HashSet<u64>,
    /// Wisdom that was imported, as it came.
    pub(crate) imported: Vec<Arc<str>>,
}

impl<T: Real> Known<T> {
    pub(crate) fn nothing() -> Self {
        Known {
            planner: Arc::new(Planner::new()),
            wise: HashSet::new(),
            imported: Vec::new(),
        }
    }

    /// A child's: a planner of its own, with the wisdom of its parent's.
    fn inherited(parent: &Mutex<Known<T>>) -> Self {
        let mut known = Known::nothing();
        // A thread that the child does not have may hold the lock: then for ever.
        if let Ok(parent) = parent.try_lock() {
            known.wise = parent.wise.clone();
            for text in &parent.imported {
                if known.planner.load_wisdom(text).is_ok() {
                    known.imported.push(Arc::clone(text));
                }
            }
        }
        known
    }
}

/// What tells a process from its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    number: u32,
    generation: u64,
}

impl Identity {
    fn current() -> Identity {
        Identity {
            number: std::process::id(),
            generation: emptied_by_forks().map_or(0, generation),
        }
    }
}

/// What is written on the page: a number that no process before this one had.
fn generation(page: &AtomicU64) -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let known = page.load(Ordering::Acquire);
    if known != 0 {
        return known;
    }
    let fresh = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    match page.compare_exchange(0, fresh, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => fresh,
        Err(of_another_thread) => of_another_thread,
    }
}

/// A page that is all zeros in a new process, however it was forked off; none where the system has no such pages.
fn emptied_by_forks() -> Option<&'static AtomicU64> {
    static PAGE: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());
    let known = PAGE.load(Ordering::Acquire);
    let page = if known.is_null() {
        let fresh = new_page()?;
        match PAGE.compare_exchange(known, fresh, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => fresh,
            // The page of this call stays unused: two threads came first at the same time.
            Err(of_another_thread) => of_another_thread,
        }
    } else {
        known
    };
    // SAFETY: a page of zeros and numbers that is never given back.
    Some(unsafe { &*page })
}

#[cfg(target_os = "linux")]
fn new_page() -> Option<*mut AtomicU64> {
    let (none, size) = (std::ptr::null_mut(), size_of::<AtomicU64>());
    // SAFETY: a new page, wherever there is room; it is nobody else's.
    unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let page = libc::mmap(none, size, access, kind, -1, 0);
        if page == libc::MAP_FAILED {
            return None;
        }
        if libc::madvise(page, size, libc::MADV_WIPEONFORK) != 0 {
            libc::munmap(page, size);
            return None;
        }
        Some(page.cast())
    }
}

#[cfg(not(target_os = "linux"))]
fn new_page() -> Option<*mut AtomicU64> {
    None
}

static CURRENT: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());

impl Process {
    /// This process's; made anew in a forked child.
    pub(crate) fn current() -> &'static Process {
        let identity = Identity::current();
        let known = CURRENT.load(Ordering::Acquire);
        // SAFETY: what has once been stored here is never freed.
        let before = unsafe { known.as_ref() };
        if let Some(process) = before
            && process.identity == identity
        {
            return process;
        }
        let fresh = Box::into_raw(Box::new(Process {
            identity,
            double: Mutex::new(before.map_or_else(Known::nothing, |p| Known::inherited(&p.double))),
            single: Mutex::new(before.map_or_else(Known::nothing, |p| Known::inherited(&p.single))),
            pool: Mutex::new(None),
        }));
        match CURRENT.compare_exchange(known, fresh, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: stored above, and never freed.
            Ok(_) => unsafe { &*fresh },
            Err(another) => {
                // SAFETY: made above and not shared yet.
                drop(unsafe { Box::from_raw(fresh) });
                // SAFETY: stored by another thread of this process, and never freed.
                unsafe { &*another }
            }
        }
    }

    /// The pool, with so many threads at least: one for all plans, made again where a plan wants more. None where the system gives no
    /// threads.
    pub(crate) fn pool(&self, threads: usize) -> Option<Arc<ThreadPool>> {
        let fitting = |pool: &Option<Arc<ThreadPool>>| {
            pool.clone()
                .filter(|pool| pool.current_num_threads() >= threads)
        };
        if let Some(pool) = fitting(&lock(&self.pool)) {
            return Some(pool);
        }
        // Threads are started outside the lock: it is never held for long.
        let made = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|number| format!("ozfft-fftw-{number}"))
            .build();
        let made = Arc::new(made.ok()?);
        let mut pool = lock(&self.pool);
        if let Some(another) = fitting(&pool) {
            return Some(another);
        }
        // The former one ends when the last call that runs in it has come back.
        *pool = Some(Arc::clone(&made));
        Some(made)
    }

    /// Ends the threads, when the last call that uses them has come back.
    pub(crate) fn end_pool(&self) {
        let pool = lock(&self.pool).take();
        drop(pool);
    }
}

/// Nothing is left half done under these locks.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
