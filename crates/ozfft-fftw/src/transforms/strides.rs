//! Where elements lie. All strides are counted in real numbers, whatever the elements are, so that complex numbers with their
//! parts side by side and parts in arrays of their own are one case.

use crate::error::FftwError;
use crate::number::Number;
use crate::transforms::workspace::with_room;
use num_complex::Complex;

/// One dimension of a transform or of the loop around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dimension {
    pub(crate) length: usize,
    /// Real numbers from one element of the input to the next.
    pub(crate) input: isize,
    /// The same for the output.
    pub(crate) output: isize,
}

/// One side of a list of dimensions: lengths and strides, the slowest first.
pub(crate) type Side = Vec<(usize, isize)>;

/// The first elements of an array: where real parts begin, and where imaginary parts do. Real arrays have no use for the latter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ends<T> {
    pub(crate) re: *mut T,
    pub(crate) im: *mut T,
}

// SAFETY: an address that is only used by calls whose callers promise that it may be.
unsafe impl<T> Send for Ends<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Ends<T> {}

impl<T: Number> Ends<T> {
    /// Complex numbers with their parts side by side.
    pub(crate) fn complex(start: *mut Complex<T>) -> Self {
        let start: *mut T = start.cast();
        Ends {
            re: start,
            im: start.wrapping_add(1),
        }
    }

    /// Real numbers.
    pub(crate) fn real(start: *mut T) -> Self {
        Ends {
            re: start,
            im: std::ptr::null_mut(),
        }
    }

    /// Real and imaginary parts in arrays of their own.
    pub(crate) fn split(re: *mut T, im: *mut T) -> Self {
        Ends { re, im }
    }

    /// Whether the imaginary part follows its real part.
    pub(crate) fn is_interleaved(&self) -> bool {
        self.im == self.re.wrapping_add(1)
    }
}

/// Smallest and largest offset of an element; `None` where they cannot be addressed.
pub(crate) fn extent(side: &[(usize, isize)]) -> Option<(isize, isize)> {
    let (mut low, mut high) = (0isize, 0isize);
    for &(length, stride) in side {
        let reach = stride.checked_mul(isize::try_from(length).ok()?.checked_sub(1)?)?;
        if reach < 0 {
            low = low.checked_add(reach)?;
        } else {
            high = high.checked_add(reach)?;
        }
    }
    // Offsets in bytes must not overflow either; nor may the element behind the last.
    let most = isize::MAX / 32;
    (low > -most && high < most).then_some((low, high))
}

/// Number of elements.
pub(crate) fn count(side: &[(usize, isize)]) -> Result<usize, FftwError> {
    side.iter()
        .try_fold(1usize, |product, &(length, _)| product.checked_mul(length))
        .filter(|&product| product < isize::MAX as usize / 32)
        .ok_or(FftwError::NotAddressable)
}

/// Whether elements fill their range without gaps, each place once; strides in elements.
pub(crate) fn is_dense(side: &[(usize, isize)]) -> bool {
    let mut dimensions: Vec<(usize, usize)> = side
        .iter()
        .filter(|&&(length, _)| length > 1)
        .map(|&(length, stride)| (stride.unsigned_abs(), length))
        .collect();
    dimensions.sort_unstable();
    let mut below = 1;
    dimensions.into_iter().all(|(stride, length)| {
        let next = stride == below;
        below *= length;
        next
    })
}

/// Calls `visit` with the offset of every element, the last dimension running fastest.
pub(crate) fn for_each_offset(side: &[(usize, isize)], visit: &mut impl FnMut(isize)) {
    fn walk(side: &[(usize, isize)], start: isize, visit: &mut impl FnMut(isize)) {
        match side {
            [] => visit(start),
            [(length, stride)] => {
                for i in 0..*length as isize {
                    visit(start + i * stride);
                }
            }
            [(length, stride), rest @ ..] => {
                for i in 0..*length as isize {
                    walk(rest, start + i * stride, visit);
                }
            }
        }
    }
    walk(side, 0, visit);
}

/// Copies complex elements to an array of our own, which has as many.
///
/// # Safety
/// All elements of `side` from `from` on may be read and are not written meanwhile.
pub(crate) unsafe fn gather_complex<T: Number>(
    from: Ends<T>,
    side: &[(usize, isize)],
    values: &mut [Complex<T>],
) {
    let mut values = values.iter_mut();
    for_each_offset(side, &mut |offset| {
        if let Some(value) = values.next() {
            // SAFETY: one of the elements; an address need not be aligned.
            *value = unsafe {
                Complex::new(
                    from.re.offset(offset).read_unaligned(),
                    from.im.offset(offset).read_unaligned(),
                )
            };
        }
    });
}

/// Copies real elements to an array of our own.
///
/// # Safety
/// As [`gather_complex`].
pub(crate) unsafe fn gather_real<T: Number>(
    from: Ends<T>,
    side: &[(usize, isize)],
) -> Result<Vec<T>, FftwError> {
    let mut values = with_room(count(side)?)?;
    for_each_offset(side, &mut |offset| {
        // SAFETY: one of the elements; an address need not be aligned.
        values.push(unsafe { from.re.offset(offset).read_unaligned() });
    });
    Ok(values)
}

/// Copies complex elements to where they belong, in the order of [`for_each_offset`].
///
/// # Safety
/// All elements of `side` from `to` on may be written, and nobody else uses them meanwhile.
pub(crate) unsafe fn scatter_complex<T: Number>(
    values: impl IntoIterator<Item = Complex<T>>,
    to: Ends<T>,
    side: &[(usize, isize)],
) {
    let mut values = values.into_iter();
    for_each_offset(side, &mut |offset| {
        if let Some(value) = values.next() {
            // SAFETY: one of the elements; an address need not be aligned.
            unsafe {
                to.re.offset(offset).write_unaligned(value.re);
                to.im.offset(offset).write_unaligned(value.im);
            }
        }
    });
}

/// Copies real elements to where they belong.
///
/// # Safety
/// As [`scatter_complex`].
pub(crate) unsafe fn scatter_real<T: Number>(
    values: impl IntoIterator<Item = T>,
    to: Ends<T>,
    side: &[(usize, isize)],
) {
    let mut values = values.into_iter();
    for_each_offset(side, &mut |offset| {
        if let Some(value) = values.next() {
            // SAFETY: one of the elements; an address need not be aligned.
            unsafe { to.re.offset(offset).write_unaligned(value) };
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_means_every_place_once_whatever_order_and_sign() {
        assert!(is_dense(&[(3, 4), (4, 1)]));
        assert!(is_dense(&[(3, 1), (4, -3)]));
        assert!(is_dense(&[(1, 99), (5, -1)]));
        assert!(!is_dense(&[(3, 5), (4, 1)]));
        assert!(!is_dense(&[(3, 2), (4, 1)]));
        assert!(!is_dense(&[(3, 0)]));
    }

    #[test]
    fn offsets_run_with_the_last_dimension_fastest() {
        let mut seen = Vec::new();
        for_each_offset(&[(2, 10), (3, -1)], &mut |offset| seen.push(offset));
        assert_eq!(seen, [0, -1, -2, 10, 9, 8]);
        seen.clear();
        for_each_offset(&[], &mut |offset| seen.push(offset));
        assert_eq!(seen, [0]);
    }

    #[test]
    fn extents_that_overflow_are_none() {
        assert_eq!(extent(&[(3, -2), (4, 5)]), Some((-4, 15)));
        assert_eq!(extent(&[(usize::MAX, 1)]), None);
        assert_eq!(extent(&[(3, isize::MAX)]), None);
    }
}
