//! Scratch memory: the caller's words divided into typed pieces, and arrays that several threads write one after the other.

use bytemuck::Pod;
use num_complex::Complex;
use std::marker::PhantomData;
use std::sync::atomic::AtomicI32;

/// 64-bit words of a cache line.
const LINE: usize = 8;

/// Words that [`aligned`] may leave out.
pub const ALIGNMENT_SLACK: usize = LINE;

/// Number of 64-bit words that `count` values of type `T` take: whole cache lines, so that what follows is aligned if
/// this is.
pub const fn words_for<T>(count: usize) -> usize {
    (count * size_of::<T>()).div_ceil(8 * LINE) * LINE
}

/// The workspace from its first cache line on.
#[inline]
pub fn aligned(workspace: &mut [u64]) -> &mut [u64] {
    let skip = workspace
        .as_ptr()
        .align_offset(8 * LINE)
        .min(workspace.len());
    &mut workspace[skip..]
}

/// Cuts `count` values off the front of the workspace. Their content is whatever was there.
pub fn take<'a, T: Pod>(workspace: &mut &'a mut [u64], count: usize) -> &'a mut [T] {
    let (front, rest) = std::mem::take(workspace).split_at_mut(words_for::<T>(count));
    *workspace = rest;
    &mut bytemuck::cast_slice_mut::<u64, T>(front)[..count]
}

/// Integers that several threads change at once.
#[inline]
pub fn as_atomics(integers: &mut [i32]) -> &[AtomicI32] {
    // SAFETY: an atomic integer has the size, alignment and bits of the plain one, and the borrow keeps others away.
    unsafe { &*(std::ptr::from_mut(integers) as *const [AtomicI32]) }
}

/// An array that threads read and write at positions they have agreed on: every thread works on lines of its own.
///
/// Positions are always checked against the length, so a wrong index panics; what the compiler cannot see, and the
/// caller of the `unsafe` functions promises, is only that no two threads touch the same element at once.
#[derive(Clone, Copy)]
pub struct SharedArray<'a, T> {
    start: *mut T,
    len: usize,
    lifetime: PhantomData<&'a mut [T]>,
}

// SAFETY: the pointer is to plain data of a Send type; access discipline is the contract of `get` and `set`.
unsafe impl<T: Send> Send for SharedArray<'_, T> {}
// SAFETY: as above; sharing the handle shares only the right to call the `unsafe` accessors.
unsafe impl<T: Send> Sync for SharedArray<'_, T> {}

impl<'a, T: Copy> SharedArray<'a, T> {
    pub fn new(slice: &'a mut [T]) -> Self {
        SharedArray {
            start: slice.as_mut_ptr(),
            len: slice.len(),
            lifetime: PhantomData,
        }
    }

    /// A plain slice as a handle for reading.
    pub fn read_only(slice: &'a [T]) -> ReadArray<'a, T> {
        ReadArray {
            start: slice.as_ptr(),
            len: slice.len(),
            lifetime: PhantomData,
        }
    }

    /// The same elements, for reading.
    pub fn reader(&self) -> ReadArray<'a, T> {
        ReadArray {
            start: self.start,
            len: self.len,
            lifetime: PhantomData,
        }
    }

    /// The same memory under another name of its type.
    ///
    /// # Safety
    /// `U` is `T`.
    pub unsafe fn cast<U>(self) -> SharedArray<'a, U> {
        SharedArray {
            start: self.start.cast(),
            len: self.len,
            lifetime: PhantomData,
        }
    }

    /// A pointer to `count` elements that lie within the array.
    #[inline]
    pub fn checked(&self, index: usize, count: usize) -> *mut T {
        assert!(
            index < self.len && count <= self.len - index,
            "elements {index} to {} of {}",
            index.wrapping_add(count),
            self.len
        );
        // SAFETY: in bounds by the assertion.
        unsafe { self.start.add(index) }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The first byte and the number of bytes.
    pub fn raw(&self) -> (*mut u8, usize) {
        (self.start.cast(), self.len * size_of::<T>())
    }

    /// # Safety
    /// No other thread may read or write this element at the same time.
    #[inline]
    pub unsafe fn set(&self, index: usize, value: T) {
        assert!(index < self.len, "element {index} of {}", self.len);
        // SAFETY: in bounds by the assertion; exclusive by the caller's promise.
        unsafe { self.start.add(index).write(value) }
    }
}

impl<'a, T: Copy> SharedArray<'a, Complex<T>> {
    /// The same memory as twice as many real numbers.
    pub fn as_reals(&self) -> SharedArray<'a, T> {
        SharedArray {
            // A complex number is laid out as its real and its imaginary part.
            start: self.start.cast(),
            len: 2 * self.len,
            lifetime: PhantomData,
        }
    }
}

/// The reading side of a [`SharedArray`], or a plain slice. For in-place transforms it aliases the writing side.
#[derive(Clone, Copy)]
pub struct ReadArray<'a, T> {
    start: *const T,
    len: usize,
    lifetime: PhantomData<&'a [T]>,
}

// SAFETY: as for `SharedArray`.
unsafe impl<T: Send> Send for ReadArray<'_, T> {}
// SAFETY: as for `SharedArray`.
unsafe impl<T: Send> Sync for ReadArray<'_, T> {}

impl<'a, T: Copy> ReadArray<'a, Complex<T>> {
    /// The same memory as twice as many real numbers.
    pub fn as_reals(&self) -> ReadArray<'a, T> {
        ReadArray {
            start: self.start.cast(),
            len: 2 * self.len,
            lifetime: PhantomData,
        }
    }
}

impl<'a, T: Copy> ReadArray<'a, T> {
    /// The same memory under another name of its type.
    ///
    /// # Safety
    /// `U` is `T`.
    pub unsafe fn cast<U>(self) -> ReadArray<'a, U> {
        ReadArray {
            start: self.start.cast(),
            len: self.len,
            lifetime: PhantomData,
        }
    }

    /// A pointer to `count` elements that lie within the array.
    #[inline]
    pub fn checked(&self, index: usize, count: usize) -> *const T {
        assert!(
            index < self.len && count <= self.len - index,
            "elements {index} to {} of {}",
            index.wrapping_add(count),
            self.len
        );
        // SAFETY: in bounds by the assertion.
        unsafe { self.start.add(index) }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The first byte and the number of bytes.
    pub fn raw(&self) -> (*const u8, usize) {
        (self.start.cast(), self.len * size_of::<T>())
    }

    /// # Safety
    /// No other thread may write this element at the same time.
    #[inline]
    pub unsafe fn get(&self, index: usize) -> T {
        assert!(index < self.len, "element {index} of {}", self.len);
        // SAFETY: in bounds by the assertion; not written by the caller's promise.
        unsafe { self.start.add(index).read() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_overlap() {
        let mut memory = [0u64; 30];
        let mut rest = &mut memory[..];
        take::<i8>(&mut rest, 9).fill(1);
        take::<[i64; 2]>(&mut rest, 5).fill([-1; 2]);
        assert_eq!(rest.len(), 6);
        assert_eq!(memory[1], 1);
        assert_eq!(memory[8..18], [u64::MAX; 10]);
        assert_eq!(memory[18..], [0; 12]);
    }

    #[test]
    fn alignment_costs_less_than_its_slack() {
        let mut memory = [0u64; 40];
        for start in 0..8 {
            let whole = &mut memory[start..];
            let len = whole.len();
            let rest = aligned(whole);
            assert!(len - rest.len() < ALIGNMENT_SLACK);
            assert_eq!(rest.as_ptr() as usize % 64, 0);
        }
    }
}
