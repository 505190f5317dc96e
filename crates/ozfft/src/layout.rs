//! Where the elements of an array lie in a buffer.

use crate::error::{Buffer, FftError};
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// Strides, batch distance and offset, all counted in elements of the buffer.
///
/// Element `(i0, i1, …)` of array `b` of the batch lies at `offset + b·distance + Σ i·stride`.
///
/// ```
/// use ozfft::Layout;
/// let fortran = Layout::fortran(&[4, 3]);
/// assert_eq!(fortran.strides(), &[1, 4]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Layout {
    strides: Vec<isize>,
    distance: isize,
    offset: usize,
}

impl Layout {
    /// C order without gaps.
    pub fn contiguous(shape: &[usize]) -> Self {
        let mut strides = vec![1isize; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis].saturating_mul(shape[axis] as isize);
        }
        Layout {
            distance: shape
                .iter()
                .fold(1isize, |p, &n| p.saturating_mul(n as isize)),
            strides,
            offset: 0,
        }
    }

    /// Fortran order (first index fastest) without gaps.
    pub fn fortran(shape: &[usize]) -> Self {
        let mut layout = Self::contiguous(shape);
        let mut stride = 1isize;
        for (axis, &n) in shape.iter().enumerate() {
            layout.strides[axis] = stride;
            stride = stride.saturating_mul(n as isize);
        }
        layout
    }

    /// Any strides, with the distance between the arrays of a batch.
    pub fn strided(strides: &[isize], distance: isize) -> Self {
        Layout {
            strides: strides.to_vec(),
            distance,
            offset: 0,
        }
    }

    /// Rows of a real array padded to `2(n/2+1)` reals along the last axis: the place of its half-spectrum, for
    /// real transforms in place.
    pub fn padded_real(shape: &[usize]) -> Self {
        let mut padded = shape.to_vec();
        if let Some(last) = padded.last_mut() {
            *last = (*last / 2 + 1).saturating_mul(2);
        }
        Self::contiguous(&padded)
    }

    /// The same layout, beginning later in the buffer.
    pub fn with_offset(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
    }

    /// Strides, one per dimension.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// Distance between the arrays of a batch.
    pub fn distance(&self) -> isize {
        self.distance
    }

    /// Position of the first element of the first array.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Smallest and largest element position relative to the offset; `None` when they overflow.
    fn extent(&self, shape: &[usize], batch: usize) -> Option<(isize, isize)> {
        let dimensions = shape
            .iter()
            .copied()
            .zip(self.strides.iter().copied())
            .chain([(batch, self.distance)]);
        let (mut low, mut high) = (0isize, 0isize);
        for (n, stride) in dimensions {
            let reach = stride.checked_mul((n as isize).checked_sub(1)?)?;
            if reach < 0 {
                low = low.checked_add(reach)?;
            } else {
                high = high.checked_add(reach)?;
            }
        }
        Some((low, high))
    }

    /// Number of elements that a buffer of this layout must have.
    pub(crate) fn required_len(&self, shape: &[usize], batch: usize) -> usize {
        let (_, high) = self.extent(shape, batch).unwrap_or((0, isize::MAX - 1));
        self.offset.saturating_add(high as usize).saturating_add(1)
    }

    pub(crate) fn validate(
        &self,
        buffer: Buffer,
        shape: &[usize],
        batch: usize,
    ) -> Result<(), FftError> {
        if self.strides.len() != shape.len() {
            return Err(FftError::StrideCount {
                buffer,
                expected: shape.len(),
                given: self.strides.len(),
            });
        }
        let too_large = || FftError::TooLarge {
            shape: shape.to_vec(),
            batch,
        };
        let (low, high) = self.extent(shape, batch).ok_or_else(too_large)?;
        let before = low.unsigned_abs();
        if before > self.offset {
            return Err(FftError::NegativeIndex { buffer, before });
        }
        self.offset
            .checked_add(high as usize)
            .filter(|&last| last < isize::MAX as usize / 16)
            .ok_or_else(too_large)?;
        if buffer == Buffer::Output && !self.is_injective(shape, batch) {
            return Err(FftError::OverlappingOutput {
                strides: self.strides.clone(),
                distance: self.distance,
            });
        }
        Ok(())
    }

    /// Whether different elements lie in different places.
    fn is_injective(&self, shape: &[usize], batch: usize) -> bool {
        let mut dimensions: Vec<(usize, usize)> = shape
            .iter()
            .copied()
            .zip(self.strides.iter().map(|s| s.unsigned_abs()))
            .chain([(batch, self.distance.unsigned_abs())])
            .filter(|&(n, _)| n > 1)
            .collect();
        dimensions.sort_by_key(|&(_, stride)| stride);
        // Nested dimensions, each stepping over all smaller ones, are the common case and always disjoint.
        let mut reach = 0usize;
        let nested = dimensions.iter().all(|&(n, stride)| {
            let clear = stride > reach;
            reach = reach.saturating_add(stride.saturating_mul(n - 1));
            clear
        });
        if nested {
            return true;
        }
        // Interleaved but disjoint strides (2 and 3, say) exist; enumerate them as long as that is cheap.
        let total: usize = dimensions.iter().map(|&(n, _)| n).product();
        if total > 1 << 20 || dimensions.iter().any(|&(_, stride)| stride == 0) {
            return false;
        }
        let mut positions = vec![0usize];
        for (n, stride) in dimensions {
            positions = positions
                .iter()
                .flat_map(|&p| (0..n).map(move |i| p + i * stride))
                .collect();
        }
        positions.sort_unstable();
        positions.windows(2).all(|pair| pair[0] != pair[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interleaved_strides_that_never_meet_are_accepted_and_meeting_ones_rejected() {
        let disjoint = Layout::strided(&[2, 3], 100);
        assert!(disjoint.validate(Buffer::Output, &[3, 2], 1).is_ok());
        let meeting = Layout::strided(&[2, 4], 100);
        assert_eq!(
            meeting.validate(Buffer::Output, &[3, 2], 1),
            Err(FftError::OverlappingOutput {
                strides: vec![2, 4],
                distance: 100
            })
        );
        assert!(meeting.validate(Buffer::Input, &[3, 2], 1).is_ok());
    }

    #[test]
    fn negative_strides_need_an_offset() {
        let reversed = Layout::strided(&[-1], 8);
        assert_eq!(
            reversed.validate(Buffer::Input, &[8], 1),
            Err(FftError::NegativeIndex {
                buffer: Buffer::Input,
                before: 7
            })
        );
        let shifted = reversed.with_offset(7);
        assert!(shifted.validate(Buffer::Output, &[8], 1).is_ok());
        assert_eq!(shifted.required_len(&[8], 1), 8);
    }
}
