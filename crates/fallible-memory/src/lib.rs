#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod limits;
mod reserve;

use bytemuck::Zeroable;
use std::alloc::{Layout, handle_alloc_error};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub use limits::{Limit, remaining};
pub use reserve::Reserving;

/// Memory that cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{needed} bytes of memory are needed and cannot be allocated{}; transform fewer or shorter arrays at a time, or raise the limit", explained(.remaining)
)]
pub struct OutOfMemory {
    /// Bytes that were needed at once.
    pub needed: u64,
    /// The tightest limit of the process, and how many bytes it left. None where the system reports none.
    pub remaining: Option<(Limit, u64)>,
}

fn explained(remaining: &Option<(Limit, u64)>) -> String {
    remaining.map_or_else(String::new, |(limit, bytes)| {
        format!(": {limit} leaves {bytes}")
    })
}

impl OutOfMemory {
    /// The error for so many bytes, with the limit that binds now.
    pub fn now(needed: u64) -> OutOfMemory {
        OutOfMemory {
            needed,
            remaining: remaining(),
        }
    }
}

/// Runs `work`. Returns the error of an allocation of this crate that fails in it, on this thread or on one of rayon's that works for
/// it. All other panics pass through.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, OutOfMemory> {
    reserve::refill()?;
    let _active = (!EVERYWHERE.load(Ordering::Relaxed)).then(Active::begin);
    // Whatever is left half done was made by `work`, and is dropped with it, or is behind a lock whose owner takes any state.
    catch_unwind(AssertUnwindSafe(work)).or_else(|panic| match panic.downcast::<OutOfMemory>() {
        Ok(error) => Err(*error),
        Err(panic) => resume_unwind(panic),
    })
}

/// Calls of [`catch`] that run.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);

/// Whether all work is within [`catch`], whose calls need not be counted then.
static EVERYWHERE: AtomicBool = AtomicBool::new(false);

/// For libraries whose entry points all use [`catch`]: counting its calls would take longer than they do themselves.
pub fn catches_everywhere() {
    EVERYWHERE.store(true, Ordering::Relaxed);
}

struct Active;

impl Active {
    fn begin() -> Active {
        ACTIVE.fetch_add(1, Ordering::Relaxed);
        Active
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        ACTIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Unwinds to the [`catch`] around the call. If there is none, the program ends as after any allocation that fails.
#[cold]
fn unwind(error: OutOfMemory) -> ! {
    if ACTIVE.load(Ordering::Relaxed) == 0 && !EVERYWHERE.load(Ordering::Relaxed) {
        let bytes = usize::try_from(error.needed).unwrap_or(usize::MAX);
        handle_alloc_error(Layout::array::<u8>(bytes).unwrap_or(Layout::new::<u8>()));
    }
    resume_unwind(Box::new(error))
}

#[cold]
fn no_room<T>(count: usize) -> ! {
    unwind(OutOfMemory::now(
        (count as u64).saturating_mul(size_of::<T>().max(1) as u64),
    ))
}

/// Estimates below this are not checked: reading the limits takes longer than allocating so few bytes.
const SMALLEST_ESTIMATE: u64 = 1 << 20;

/// Fails unless `needed` bytes can be allocated at once now. For an estimate of what code of others allocates, which would end the
/// program.
pub fn expect(needed: u64) -> Result<(), OutOfMemory> {
    if needed < SMALLEST_ESTIMATE {
        return Ok(());
    }
    let remaining = remaining();
    let fits = remaining.is_none_or(|(_, bytes)| needed <= bytes);
    // The system may refuse what its limits allow, for example where memory is not overcommitted.
    let tried =
        || usize::try_from(needed).is_ok_and(|n| Vec::<u8>::new().try_reserve_exact(n).is_ok());
    match fits && tried() {
        true => Ok(()),
        false => Err(OutOfMemory { needed, remaining }),
    }
}

/// An empty vector with room for so many elements.
pub fn with_capacity<T>(count: usize) -> Vec<T> {
    let mut values = Vec::new();
    if values.try_reserve_exact(count).is_err() {
        no_room::<T>(count);
    }
    values
}

/// So many copies of a value.
pub fn filled<T: Clone>(value: T, count: usize) -> Vec<T> {
    let mut values = with_capacity(count);
    values.resize(count, value);
    values
}

/// So many zeros, which cost nothing before they are used.
pub fn try_zeroed<T: Zeroable>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    let error = || OutOfMemory::now((count as u64).saturating_mul(size_of::<T>() as u64));
    let layout = Layout::array::<T>(count).map_err(|_| error())?;
    if layout.size() == 0 {
        return Ok(filled_without_memory(count));
    }
    // SAFETY: the size is not 0.
    let start = unsafe { std::alloc::alloc_zeroed(layout) }.cast::<T>();
    if start.is_null() {
        return Err(error());
    }
    // SAFETY: allocated above with the layout of so many elements, all of which are zero, which is a value of their type.
    Ok(unsafe { Vec::from_raw_parts(start, count, count) })
}

/// Elements that together have no byte.
fn filled_without_memory<T: Zeroable>(count: usize) -> Vec<T> {
    std::iter::repeat_with(T::zeroed).take(count).collect()
}

/// As [`try_zeroed`], for use within [`catch`].
pub fn zeroed<T: Zeroable>(count: usize) -> Vec<T> {
    try_zeroed(count).unwrap_or_else(|error| unwind(error))
}

/// As [`zeroed`], of the type of a zero.
#[doc(hidden)]
pub fn zeroed_like<T: Zeroable>(_zero: T, count: usize) -> Vec<T> {
    zeroed(count)
}

/// The elements of an iterator.
pub fn collected<T>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let items = items.into_iter();
    let (least, most) = items.size_hint();
    let mut values = with_capacity(least);
    if most == Some(least) {
        // Nothing grows here.
        values.extend(items);
        return values;
    }
    for item in items {
        push(&mut values, item);
    }
    values
}

/// As `Vec::push`.
#[inline]
pub fn push<T>(values: &mut Vec<T>, item: T) {
    if values.len() == values.capacity() && values.try_reserve(1).is_err() {
        no_room::<T>(2 * values.len());
    }
    values.push(item);
}

/// A copy of a slice.
pub fn copied<T: Clone>(values: &[T]) -> Vec<T> {
    collected(values.iter().cloned())
}

/// As the standard library's `vec!`, except that `vec![value; count]` fails as the functions of this crate do.
#[macro_export]
macro_rules! vec {
    (0; $count:expr) => { $crate::zeroed_like(0, $count) };
    (0.0; $count:expr) => { $crate::zeroed_like(0.0, $count) };
    ($value:expr; $count:expr) => { $crate::filled($value, $count) };
    ($($list:tt)*) => { ::std::vec![$($list)*] };
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOO_MUCH: usize = 1 << 58;

    #[test]
    fn vectors_are_as_long_as_asked_for() {
        for count in [0, 1, 5, 1000] {
            assert_eq!(filled(7u8, count), std::vec![7u8; count]);
            assert_eq!(zeroed::<u64>(count), std::vec![0u64; count]);
            assert_eq!(zeroed::<()>(count).len(), count);
            let told = collected(0..count);
            assert_eq!(told, (0..count).collect::<Vec<_>>());
            let untold = collected((0..count).filter(|i| i % 3 == 1));
            assert_eq!(
                untold,
                (0..count).filter(|i| i % 3 == 1).collect::<Vec<_>>()
            );
            assert_eq!(copied(&told), told);
            assert!(with_capacity::<u32>(count).capacity() >= count);
            let floats: Vec<f64> = crate::vec![0.0; count];
            assert_eq!(floats.len(), count);
        }
        assert_eq!(crate::vec![1, 2], [1, 2]);
    }

    #[test]
    fn memory_that_no_machine_has_is_an_error() {
        let bytes = 8 * TOO_MUCH as u64;
        let works: [fn() -> usize; 4] = [
            || filled(1u64, TOO_MUCH).len(),
            || zeroed::<u64>(TOO_MUCH).len(),
            || collected((0..TOO_MUCH).map(|i| i as u64)).len(),
            || with_capacity::<u64>(TOO_MUCH).len(),
        ];
        for work in works {
            let error = catch(work).unwrap_err();
            assert_eq!(error.needed, bytes);
            let text = error.to_string();
            assert!(
                text.starts_with(&format!("{bytes} bytes of memory are needed")),
                "{text}"
            );
        }
        assert!(expect(1 << 61).is_err());
        assert!(expect(1 << 21).is_ok());
        let error = catch(|| with_capacity::<u64>(usize::MAX)).unwrap_err();
        assert_eq!(error.needed, u64::MAX);
    }

    #[test]
    fn other_panics_pass_through() {
        let passed = catch_unwind(|| catch(|| resume_unwind(Box::new("another reason"))));
        let Err(panic) = passed else {
            panic!("it was caught")
        };
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"another reason"));
    }
}
