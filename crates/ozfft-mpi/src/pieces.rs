//! Where a rank's part of an array lies in its memory, and how it is cut into pieces that are exchanged one by one.

use crate::division::Division;
use crate::index_box::IndexBox;
use std::ops::Range;

/// A box in a rank's memory.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) held: IndexBox,
    /// A box around it that lies there in C order, from `base` on, but for the first `skip` elements.
    pub(crate) around: IndexBox,
    pub(crate) base: usize,
    pub(crate) skip: usize,
}

/// What a rank has of an array, as one or more boxes. The first dimension is that of the batch, where arrays have one.
#[derive(Debug, Clone)]
pub(crate) struct Pieces {
    pub(crate) boxes: Vec<Stored>,
    /// Elements of the rank's memory.
    pub(crate) len: usize,
}

impl Pieces {
    /// Boxes one after the other, each in C order.
    pub(crate) fn of_boxes(boxes: &[IndexBox]) -> Pieces {
        let mut len = 0;
        let stored = |held: &IndexBox| {
            let base = len;
            len += held.len();
            Stored {
                held: held.clone(),
                around: held.clone(),
                base,
                skip: 0,
            }
        };
        let boxes = boxes.iter().map(stored).collect();
        Pieces { boxes, len }
    }

    /// One box.
    pub(crate) fn of_box(part: &IndexBox) -> Pieces {
        Pieces::of_boxes(std::slice::from_ref(part))
    }

    /// A part of a box that lies in C order.
    pub(crate) fn of_part(part: &IndexBox, around: &IndexBox) -> Pieces {
        Pieces {
            boxes: vec![Stored {
                held: part.clone(),
                around: around.clone(),
                base: 0,
                skip: 0,
            }],
            len: around.len(),
        }
    }

    /// A range of elements of a matrix of so many columns, row after row: the end of a row, whole rows, and the beginning of one.
    pub(crate) fn of_range(range: Range<usize>, columns: usize) -> Pieces {
        let (first, last) = (range.start / columns, range.end.div_ceil(columns));
        let around = IndexBox::new(&[first, 0], &[last.max(first), columns]);
        let mut boxes = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let (row, column) = (at / columns, at % columns);
            let (rows, end) = match (column, range.end - at) {
                (0, left) if left >= columns => (left / columns, columns),
                (_, left) => (1, columns.min(column + left)),
            };
            boxes.push(Stored {
                held: IndexBox::new(&[row, column], &[row + rows, end]),
                around: around.clone(),
                base: 0,
                skip: range.start % columns,
            });
            at += (rows - 1) * columns + end - column;
        }
        Pieces {
            boxes,
            len: range.len(),
        }
    }
}

/// A cut of every rank's box along one dimension into so many pieces. All ranks choose the same, from what all of them know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) dimension: usize,
    pub(crate) pieces: usize,
}

impl Cut {
    /// Into at most so many pieces along one of these dimensions: the first one that has as many indices on the rank with most of them, or the
    /// longest. None where there is no dimension.
    pub(crate) fn new(
        dimensions: impl Iterator<Item = usize>,
        division: &Division,
        ranks: usize,
        pieces: usize,
    ) -> Option<Cut> {
        let longest = |dimension: usize| {
            let lengths = (0..ranks).map(|rank| division.box_of(rank).shape()[dimension]);
            lengths.max().unwrap_or(0)
        };
        let cuts = dimensions.map(|dimension| Cut {
            dimension,
            pieces: pieces.min(longest(dimension)).max(1),
        });
        // The first of those with most pieces.
        cuts.reduce(|best, cut| if cut.pieces > best.pieces { cut } else { best })
    }

    /// A piece of a box; it may be empty.
    pub(crate) fn piece(&self, part: &IndexBox, number: usize) -> IndexBox {
        let (mut low, mut high) = (part.low().to_vec(), part.high().to_vec());
        let (first, len) = (low[self.dimension], part.shape()[self.dimension]);
        low[self.dimension] = first + len * number / self.pieces;
        high[self.dimension] = first + len * (number + 1) / self.pieces;
        IndexBox::new(&low, &high)
    }

    /// All pieces of a box, in order.
    pub(crate) fn all(&self, part: &IndexBox) -> Vec<IndexBox> {
        (0..self.pieces)
            .map(|number| self.piece(part, number))
            .collect()
    }
}

/// Pieces of an exchange where the caller leaves it to the plan: many enough to hide most of the transfer behind transforms, few enough that a
/// message to one rank keeps its 64 kilobytes, and a piece its megabyte.
pub(crate) fn pieces_for(bytes_of_a_rank: u64, ranks_of_a_group: usize) -> usize {
    const MOST: u64 = 16;
    let least = (1u64 << 20).max(ranks_of_a_group as u64 * (1 << 16));
    (bytes_of_a_rank / least).clamp(1, MOST) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_make_up_a_box_and_are_chosen_for_the_first_long_dimension() {
        let division = Division::Grid {
            shape: vec![5, 9, 64],
            grid: vec![4],
            dimensions: vec![1],
        };
        let cut = |dimensions: &[usize], pieces| {
            Cut::new(dimensions.iter().copied(), &division, 4, pieces).expect("a cut")
        };
        assert_eq!((cut(&[1, 2], 2).dimension, cut(&[1, 2], 2).pieces), (1, 2));
        assert_eq!((cut(&[1, 2], 8).dimension, cut(&[1, 2], 8).pieces), (2, 8));
        assert_eq!((cut(&[0, 1], 8).dimension, cut(&[0, 1], 8).pieces), (0, 5));
        assert!(Cut::new([].into_iter(), &division, 4, 3).is_none());
        let part = division.box_of(3);
        for pieces in 1..9 {
            let cut = cut(&[2], pieces);
            let lens: Vec<usize> = cut.all(&part).iter().map(IndexBox::len).collect();
            assert_eq!(lens.iter().sum::<usize>(), part.len());
            assert!(lens.iter().all(|&len| len > 0));
        }
    }

    #[test]
    fn large_parts_are_cut_and_small_messages_are_not() {
        assert_eq!(pieces_for(1000, 2), 1);
        assert_eq!(pieces_for(5 << 20, 2), 5);
        assert_eq!(pieces_for(1 << 30, 2), 16);
        assert_eq!(pieces_for(64 << 20, 1024), 1);
    }
}
