//! Memory of our own: asked for before it is needed, since an allocation that fails later would end the program without a word
//! about the reason.

use crate::error::FftwError;
use crate::number::Number;
use fallible_memory::{OutOfMemory, try_zeroed};
use num_complex::Complex;
use std::cell::Cell;

/// Words of workspace that a thread keeps for its next call: enough for short transforms, which feel an allocation.
const KEPT: usize = 1 << 13;

/// An empty array with room for so many elements, or the error where there is none to be had.
pub(crate) fn with_room<T>(count: usize) -> Result<Vec<T>, FftwError> {
    let mut values = Vec::new();
    let room = values.try_reserve_exact(count);
    room.map_err(|_| no_room::<T>(count))?;
    Ok(values)
}

fn no_room<T>(count: usize) -> FftwError {
    OutOfMemory::now((count as u64).saturating_mul(size_of::<T>() as u64)).into()
}

/// An array of so many zeros, or the error where there is no memory for it.
pub(crate) fn zeros<T: Copy + Default>(count: usize) -> Result<Vec<T>, FftwError> {
    let mut values = with_room(count)?;
    values.resize(count, T::default());
    Ok(values)
}

/// Runs `work` with so many words of workspace, in any state.
pub(crate) fn with_workspace<R>(
    words: usize,
    work: impl FnOnce(&mut [u64]) -> R,
) -> Result<R, FftwError> {
    thread_local! {
        static WORDS: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
    }
    if words > KEPT {
        return Ok(work(&mut try_zeroed(words)?));
    }
    // Taken out meanwhile: whatever `work` calls may come here again. A thread that is ending has none to keep.
    let mut kept = WORDS.try_with(Cell::take).unwrap_or_default();
    if kept.len() < words {
        kept = try_zeroed(words.next_power_of_two())?;
    }
    let result = work(&mut kept[..words]);
    let _ = WORDS.try_with(|words| words.set(kept));
    Ok(result)
}

/// Runs `work` with an array of so many elements, of any values, and with so many words of workspace.
pub(crate) fn with_array<T: Number, R>(
    count: usize,
    words: usize,
    work: impl FnOnce(&mut [Complex<T>], &mut [u64]) -> R,
) -> Result<R, FftwError> {
    let of_array = count
        .checked_mul(size_of::<Complex<T>>())
        .map(|bytes| bytes.div_ceil(size_of::<u64>()));
    let all = of_array.and_then(|of_array| of_array.checked_add(words));
    let (Some(of_array), Some(all)) = (of_array, all) else {
        return Err(no_room::<Complex<T>>(count));
    };
    with_workspace(all, |memory| {
        let (array, workspace) = memory.split_at_mut(of_array);
        // SAFETY: words enough for so many complex numbers of f32 or f64, whose alignment is at most a word's, and for which any bits
        // are values.
        let array = unsafe { std::slice::from_raw_parts_mut(array.as_mut_ptr().cast(), count) };
        work(array, workspace)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspace_is_as_long_as_asked_for_also_within_itself() {
        for words in [0, 1, 100, KEPT, KEPT + 1, 3] {
            let outer = with_workspace(words, |outer| {
                outer.fill(7);
                let inner = with_workspace(words, |inner| {
                    inner.fill(1);
                    inner.len()
                });
                assert_eq!(inner, Ok(words));
                assert!(outer.iter().all(|&word| word == 7));
                outer.len()
            });
            assert_eq!(outer, Ok(words));
        }
    }

    #[test]
    fn an_array_and_its_workspace_are_apart_and_as_long_as_asked_for() {
        for (count, words) in [(0, 0), (3, 5), (20, 100), (KEPT, 1)] {
            let outcome = with_array::<f32, _>(count, words, |array, workspace| {
                workspace.fill(u64::MAX);
                array.fill(Complex::new(1.0, 2.0));
                assert!(workspace.iter().all(|&word| word == u64::MAX));
                (array.len(), workspace.len())
            });
            assert_eq!(outcome, Ok((count, words)));
        }
        let rejected = with_array::<f64, _>(usize::MAX / 4, 1, |_, _| ());
        assert!(matches!(rejected, Err(FftwError::Memory(_))));
    }

    #[test]
    fn memory_that_no_machine_has_is_rejected_by_its_size() {
        let rejected = with_workspace(1 << 57, |_| ());
        assert!(matches!(rejected, Err(FftwError::Memory(error)) if error.needed == 1 << 60));
    }
}
