//! Walks over arrays: where the lines along an axis begin.

/// Layouts that are walked at once: the input's, the output's, and the members'.
pub(super) const LAYOUTS: usize = 3;

/// A dimension that is walked over, with its stride in every layout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dimension {
    pub(super) length: usize,
    pub(super) strides: [isize; LAYOUTS],
}

/// The places of all tuples of indices, the last dimension first.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    dimensions: &'a [Dimension],
    index: Vec<usize>,
    place: [isize; LAYOUTS],
    left: usize,
}

impl<'a> Walk<'a> {
    /// From the places of the first element.
    pub(super) fn new(dimensions: &'a [Dimension], place: [isize; LAYOUTS]) -> Self {
        Walk {
            dimensions,
            index: vec![0; dimensions.len()],
            place,
            left: dimensions.iter().map(|d| d.length).product(),
        }
    }
}

impl Iterator for Walk<'_> {
    type Item = [isize; LAYOUTS];

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let found = self.place;
        for (dimension, index) in self.dimensions.iter().zip(&mut self.index).rev() {
            *index += 1;
            let back = match *index == dimension.length {
                true => std::mem::take(index) as isize,
                false => 0,
            };
            for (place, stride) in self.place.iter_mut().zip(dimension.strides) {
                *place += (1 - back) * stride;
            }
            if back == 0 {
                break;
            }
        }
        Some(found)
    }
}
