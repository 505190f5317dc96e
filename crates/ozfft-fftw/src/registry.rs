//! Which plans are ours.
//!
//! A program may hold plans of another library as well: those of `libfftw3_mpi` are executed and destroyed by the functions that
//! this library has taken over. What C holds is therefore the address of an entry in tables of ours, and a pointer is
//! recognised by its address alone: nothing that it points to is read before it is known to be ours.
//!
//! Entries are found without a lock, since every execution looks for one, and taken without one, so that a forked process never
//! waits for a thread that it does not have. Tables are never freed; an entry is used again, as late as possible, so that
//! a plan that is used after its end is noticed.

use crate::plan::AnyPlan;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// A plan as C sees it: opaque.
pub struct FftwPlan {
    plan: AtomicPtr<AnyPlan>,
}

/// What a pointer turned out to be.
pub(crate) enum Found<'a> {
    Null,
    Plan(&'a AnyPlan),
    /// An entry without a plan: it has been destroyed.
    Destroyed,
    /// Somebody else's.
    Foreign,
}

/// Entries of the first table; every further one has twice as many.
const FIRST: usize = 1024;
/// Tables enough for four thousand million plans.
const TABLES: usize = 22;

static ENTRIES: [AtomicPtr<FftwPlan>; TABLES] = [const { AtomicPtr::new(null_mut()) }; TABLES];
/// Plans that there are.
static PLANS: AtomicUsize = AtomicUsize::new(0);
/// Where the search for a free entry goes on.
static CURSOR: AtomicUsize = AtomicUsize::new(0);

/// Entries of the first `tables` tables.
const fn capacity(tables: usize) -> usize {
    FIRST * ((1 << tables) - 1)
}

/// The start of a table, which is made if it is not there.
fn table(number: usize) -> *mut FftwPlan {
    let known = ENTRIES[number].load(Ordering::Acquire);
    if !known.is_null() {
        return known;
    }
    let empty = || FftwPlan {
        plan: AtomicPtr::new(null_mut()),
    };
    let fresh: Box<[FftwPlan]> = (0..FIRST << number).map(|_| empty()).collect();
    let count = fresh.len();
    let start = Box::into_raw(fresh).cast::<FftwPlan>();
    let taken =
        ENTRIES[number].compare_exchange(null_mut(), start, Ordering::AcqRel, Ordering::Acquire);
    match taken {
        Ok(_) => start,
        Err(another) => {
            // SAFETY: made above, with so many entries, and not shared yet.
            drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, count)) });
            another
        }
    }
}

/// Enters a plan and returns the address that stands for it.
pub(crate) fn enter(plan: AnyPlan) -> *mut FftwPlan {
    let plan = Box::into_raw(Box::new(plan));
    let plans = PLANS.fetch_add(1, Ordering::Relaxed) + 1;
    // Half of the entries at least stay free, so that a search is short.
    let tables = (1..TABLES)
        .find(|&tables| capacity(tables) >= 2 * plans)
        .unwrap_or(TABLES);
    loop {
        let position = CURSOR.fetch_add(1, Ordering::Relaxed) % capacity(tables);
        let number = (position / FIRST + 1).ilog2() as usize;
        // SAFETY: the table has `FIRST << number` entries, and its first is at `capacity(number)`.
        let entry = unsafe { table(number).add(position - capacity(number)) };
        // SAFETY: an entry of a table, which is never freed.
        let place = unsafe { &(*entry).plan };
        let free = place.compare_exchange(null_mut(), plan, Ordering::AcqRel, Ordering::Relaxed);
        if free.is_ok() {
            return entry;
        }
    }
}

/// The entry that an address stands for, if it is the address of one.
fn entry(address: *const FftwPlan) -> Option<&'static FftwPlan> {
    for (number, table) in ENTRIES.iter().enumerate() {
        let start = table.load(Ordering::Acquire);
        if start.is_null() {
            return None;
        }
        let bytes = address.addr().wrapping_sub(start.addr());
        let position = bytes / size_of::<FftwPlan>();
        if position < FIRST << number {
            let whole = bytes.is_multiple_of(size_of::<FftwPlan>());
            // SAFETY: within the table, which is never freed.
            return whole.then(|| unsafe { &*start.add(position) });
        }
    }
    None
}

/// What an address stands for. Nothing is read there unless it is ours.
///
/// # Safety
/// A plan of ours is not destroyed while the result is used.
pub(crate) unsafe fn find<'a>(address: *const FftwPlan) -> Found<'a> {
    if address.is_null() {
        return Found::Null;
    }
    match entry(address) {
        None => Found::Foreign,
        // SAFETY: entries hold plans that `leave` has not taken out, by the caller's promise until the result is not used any more.
        Some(entry) => match unsafe { entry.plan.load(Ordering::Acquire).as_ref() } {
            Some(plan) => Found::Plan(plan),
            None => Found::Destroyed,
        },
    }
}

/// Takes a plan out; none where there is none at this address.
///
/// # Safety
/// The plan is not in use.
pub(crate) unsafe fn leave(address: *const FftwPlan) -> Option<Box<AnyPlan>> {
    let plan = entry(address)?.plan.swap(null_mut(), Ordering::AcqRel);
    if plan.is_null() {
        return None;
    }
    PLANS.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: `enter` put a box there, and only one thread has swapped it out.
    Some(unsafe { Box::from_raw(plan) })
}
