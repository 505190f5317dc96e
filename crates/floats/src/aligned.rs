//! Arrays that begin at a cache line: rows of tiles and vectors would otherwise straddle two.

use std::ops::{Deref, DerefMut};

const CACHE_LINE: usize = 64;

/// Some zeros, to be written over.
#[derive(Debug, Default)]
pub(crate) struct Aligned<T> {
    memory: Vec<T>,
    start: usize,
    length: usize,
}

impl<T: Copy + Default> Aligned<T> {
    pub(crate) fn zeros(length: usize) -> Self {
        let memory = vec![T::default(); length + CACHE_LINE / size_of::<T>()];
        let start = memory.as_ptr().align_offset(CACHE_LINE);
        // The answer may be that it cannot be told: then it is not aligned, which is slow and not wrong.
        let start = start.min(memory.len() - length);
        Aligned {
            memory,
            start,
            length,
        }
    }

    /// The same numbers, at a cache line.
    pub(crate) fn from_slice(values: &[T]) -> Self {
        let mut aligned = Aligned::zeros(values.len());
        aligned.copy_from_slice(values);
        aligned
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.memory[self.start..][..self.length]
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory[self.start..][..self.length]
    }
}
