//! Boxes of indices: the part of an array that one rank holds.

/// A box of indices: from `low` up to but without `high`, along every dimension. Its elements lie in C order, without gaps.
///
/// ```
/// use ozfft_mpi::IndexBox;
/// let part = IndexBox::new(&[0, 4], &[3, 8]);
/// assert_eq!((part.shape(), part.len()), (vec![3, 4], 12));
/// assert_eq!(IndexBox::whole(&[3, 8]).intersection(&part), part);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IndexBox {
    low: Vec<usize>,
    high: Vec<usize>,
}

impl IndexBox {
    /// A box. Whether its numbers make sense for an array is found when a transform is planned.
    pub fn new(low: &[usize], high: &[usize]) -> Self {
        IndexBox {
            low: low.to_vec(),
            high: high.to_vec(),
        }
    }

    /// All of an array.
    pub fn whole(shape: &[usize]) -> Self {
        IndexBox::new(&vec![0; shape.len()], shape)
    }

    /// The first index along every dimension.
    pub fn low(&self) -> &[usize] {
        &self.low
    }

    /// The index after the last one along every dimension.
    pub fn high(&self) -> &[usize] {
        &self.high
    }

    /// Lengths along the dimensions.
    pub fn shape(&self) -> Vec<usize> {
        let pairs = self.low.iter().zip(&self.high);
        pairs.map(|(low, high)| high.saturating_sub(*low)).collect()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape().iter().product()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The indices that both have.
    pub fn intersection(&self, other: &IndexBox) -> IndexBox {
        let low = self.low.iter().zip(&other.low).map(|(a, b)| *a.max(b));
        let low: Vec<usize> = low.collect();
        let high = self.high.iter().zip(&other.high).map(|(a, b)| *a.min(b));
        // Without common indices the box is empty, wherever that is.
        let high = high.zip(&low).map(|(high, low)| high.max(*low)).collect();
        IndexBox { low, high }
    }

    /// The same box of every one of `rows` rows.
    pub(crate) fn with_first(&self, rows: usize) -> IndexBox {
        IndexBox {
            low: [&[0], self.low.as_slice()].concat(),
            high: [&[rows], self.high.as_slice()].concat(),
        }
    }

    /// What it is of one row; nothing where it has no row.
    pub(crate) fn without_first(&self) -> IndexBox {
        let (low, high) = (self.low[1..].to_vec(), self.high[1..].to_vec());
        match self.low[0] < self.high[0] {
            true => IndexBox { low, high },
            false => IndexBox {
                high: low.clone(),
                low,
            },
        }
    }

    /// The same box where one dimension goes from 0 to `length`.
    pub(crate) fn with_length(&self, dimension: usize, length: usize) -> IndexBox {
        let mut changed = self.clone();
        changed.low[dimension] = 0;
        changed.high[dimension] = if self.is_empty() { 0 } else { length };
        changed
    }
}

impl std::fmt::Display for IndexBox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pairs = self.low.iter().zip(&self.high);
        let ranges: Vec<String> = pairs.map(|(low, high)| format!("{low}..{high}")).collect();
        write!(f, "[{}]", ranges.join(", "))
    }
}

/// Whether boxes, one for every rank, make up the whole array, each index in just one of them.
///
/// Every pair is looked at: a million for a thousand ranks, which takes milliseconds.
pub(crate) fn check_boxes(side: Side, shape: &[usize], boxes: &[IndexBox]) -> Result<(), BoxError> {
    for (rank, part) in boxes.iter().enumerate() {
        let fits = part.low.len() == shape.len()
            && part.high.len() == shape.len()
            && part
                .low
                .iter()
                .zip(&part.high)
                .all(|(low, high)| low <= high)
            && part.high.iter().zip(shape).all(|(high, n)| high <= n);
        if !fits {
            return Err(BoxError::Outside {
                side,
                rank,
                given: part.clone(),
                shape: shape.to_vec(),
            });
        }
    }
    for (rank, part) in boxes.iter().enumerate() {
        for (other, second) in boxes.iter().enumerate().skip(rank + 1) {
            let common = part.intersection(second);
            if !common.is_empty() {
                return Err(BoxError::Overlap {
                    side,
                    ranks: (rank, other),
                    common,
                });
            }
        }
    }
    let held: usize = boxes.iter().map(IndexBox::len).sum();
    let all: usize = shape.iter().product();
    match all - held {
        0 => Ok(()),
        missing => Err(BoxError::Gap { side, missing, all }),
    }
}

/// The array before or after the transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Before.
    Input,
    /// After.
    Output,
}

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Side::Input => "input",
            Side::Output => "output",
        })
    }
}

/// What is wrong with the boxes of all ranks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoxError {
    /// A box that is no part of the array.
    #[error(
        "{side}: the box {given} of rank {rank} is not within an array of shape {shape:?}; boxes go from low up to but without high along every dimension"
    )]
    Outside {
        /// Of which array.
        side: Side,
        /// The rank that gave it.
        rank: usize,
        /// The box.
        given: IndexBox,
        /// The array's shape.
        shape: Vec<usize>,
    },
    /// A box with more or fewer indices than the array has dimensions.
    #[error(
        "{side}: the box {given} is not one of {dimensions} dimensions; give an index for each where it begins, and where it ends"
    )]
    Dimensions {
        /// Of which array.
        side: Side,
        /// The box.
        given: IndexBox,
        /// The array's dimensions.
        dimensions: usize,
    },
    /// Two ranks have the same elements.
    #[error("{side}: ranks {} and {} both hold {common}; every element belongs to one rank", ranks.0, ranks.1)]
    Overlap {
        /// Of which array.
        side: Side,
        /// The two ranks.
        ranks: (usize, usize),
        /// What both have.
        common: IndexBox,
    },
    /// Some elements belong to no rank.
    #[error(
        "{side}: {missing} of {all} elements belong to no rank; the boxes of all ranks make up the whole array"
    )]
    Gap {
        /// Of which array.
        side: Side,
        /// How many.
        missing: usize,
        /// Elements of the array.
        all: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes(list: &[[usize; 4]]) -> Vec<IndexBox> {
        let make = |[a, b, c, d]: &[usize; 4]| IndexBox::new(&[*a, *b], &[*c, *d]);
        list.iter().map(make).collect()
    }

    #[test]
    fn boxes_that_make_up_the_array_pass_and_others_are_named() {
        let check = |list: &[[usize; 4]]| check_boxes(Side::Input, &[4, 6], &boxes(list));
        assert_eq!(
            check(&[[0, 0, 4, 3], [0, 3, 1, 6], [1, 3, 4, 6], [2, 2, 2, 2]]),
            Ok(())
        );
        assert!(matches!(
            check(&[[0, 0, 4, 3], [0, 3, 1, 6]]),
            Err(BoxError::Gap { missing: 9, .. })
        ));
        assert!(matches!(
            check(&[[0, 0, 4, 4], [0, 3, 4, 6]]),
            Err(BoxError::Overlap { ranks: (0, 1), .. })
        ));
        for outside in [[0, 0, 4, 7], [3, 0, 2, 6], [0, 0, 5, 6]] {
            assert!(matches!(
                check(&[[0, 0, 0, 0], outside]),
                Err(BoxError::Outside { rank: 1, .. })
            ));
        }
        let flat = [IndexBox::new(&[0], &[24])];
        assert!(check_boxes(Side::Output, &[4, 6], &flat).is_err());
    }
}
