//! How the matrices of one long line are divided among ranks: parts of the line, columns of its passes, half-spectra and their mirror images, products of a convolution.

use crate::index_box::IndexBox;
use crate::pieces::{Pieces, Stored};
use std::ops::Range;

/// A share of indices for every rank.
pub(crate) fn shares(n: usize, ranks: usize) -> Vec<Range<usize>> {
    (0..ranks)
        .map(|rank| n * rank / ranks..n * (rank + 1) / ranks)
        .collect()
}

/// A piece of a share.
pub(crate) fn piece(share: &Range<usize>, number: usize, pieces: usize) -> Range<usize> {
    let (first, len) = (share.start, share.len());
    first + len * number / pieces..first + len * (number + 1) / pieces
}

/// The greatest common divisor.
fn common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// A line of numbers as a matrix, row after row, whose last row may be shorter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineMatrix {
    /// Points of the line.
    pub(crate) n: usize,
    /// Columns of the matrix.
    pub(crate) width: usize,
}

impl LineMatrix {
    fn rows(self) -> usize {
        self.n.div_ceil(self.width)
    }

    /// Numbers of the line below `limit` in some columns.
    fn count_below(self, limit: usize, columns: &Range<usize>) -> usize {
        let of_the_last_row = (limit % self.width).saturating_sub(columns.start);
        limit / self.width * columns.len() + of_the_last_row.min(columns.len())
    }

    fn columns_box(self, columns: &Range<usize>) -> IndexBox {
        IndexBox::new(&[0, columns.start], &[self.rows(), columns.end])
    }

    /// A range of the line, in an array of its own.
    pub(crate) fn range(self, part: &IndexBox) -> Pieces {
        Pieces::of_range(part.low()[0]..part.high()[0], self.width)
    }

    /// Some columns, in an array of their own. Nobody has indices beyond the line, so that they are not exchanged.
    pub(crate) fn columns(self, columns: &Range<usize>) -> Pieces {
        Pieces {
            len: self.count_below(self.n, columns),
            ..Pieces::of_box(&self.columns_box(columns))
        }
    }

    /// Elements that mirror others are counted from the end of a full last row on, so that columns of the line are columns there: element `n - s` has
    /// the index `s - 1` plus this.
    fn mirror_shift(self) -> usize {
        self.rows() * self.width - self.n
    }

    /// A range of a half-spectrum, in an array of its own: once as it is, and once as what others mirror.
    pub(crate) fn half_range(self, part: &IndexBox) -> Pieces {
        let (low, high) = (part.low()[0], part.high()[0]);
        // The first number and the middle one of an even length are mirrored by none.
        let (first, end) = (low.max(1), high.min(self.n.div_ceil(2)));
        let mut pieces = in_layer(self.range(part), 0);
        if first < end {
            let shift = self.mirror_shift();
            let mirrored = Pieces::of_range(first + shift - 1..end + shift - 1, self.width);
            let mut mirrored = in_layer(mirrored, 1);
            for stored in &mut mirrored.boxes {
                stored.base += first - low;
            }
            pieces.boxes.append(&mut mirrored.boxes);
        }
        pieces
    }

    /// Some columns of the line that a half-spectrum stands for, in an array of their own: first the elements of the half, then, in reverse order, those that the others
    /// mirror.
    pub(crate) fn half_columns(self, columns: &Range<usize>) -> Pieces {
        let len = self.count_below(self.n, columns);
        let direct = self.half_count(columns);
        let mirrored = IndexBox::new(
            &[0, self.width - columns.end],
            &[self.rows(), self.width - columns.start],
        );
        let skip = mirrored.len() - len;
        let mut pieces = in_layer(Pieces::of_box(&self.columns_box(columns)), 0);
        let mirrored = Stored {
            held: mirrored.clone(),
            around: mirrored,
            base: direct,
            skip,
        };
        pieces.boxes.push(layered(mirrored, 1));
        Pieces { len, ..pieces }
    }

    /// Elements of some columns that lie in the half.
    pub(crate) fn half_count(self, columns: &Range<usize>) -> usize {
        self.count_below(self.n / 2 + 1, columns)
    }

    /// Some columns after others, each of these in C order, with indices counted in rows of `period`, a multiple of the matrix's columns: so that they can
    /// be compared with columns of another matrix of the same line. Rows are whole.
    pub(crate) fn folded(self, period: usize, pieces: &[Range<usize>]) -> Pieces {
        let (outer, repeats) = (self.n / period, period / self.width);
        let (mut boxes, mut len) = (Vec::new(), 0);
        for columns in pieces.iter().filter(|columns| !columns.is_empty()) {
            let count = columns.len();
            for repeat in 0..repeats {
                let first = repeat * self.width + columns.start;
                // An array without the columns between: as far to the left as those of earlier repetitions are.
                let around = first - repeat * count;
                boxes.push(Stored {
                    held: IndexBox::new(&[0, first], &[outer, first + count]),
                    around: IndexBox::new(&[0, around], &[outer, around + repeats * count]),
                    base: len,
                    skip: 0,
                });
            }
            len += outer * repeats * count;
        }
        Pieces { boxes, len }
    }
}

/// The least common multiple of the columns of two matrices.
pub(crate) fn common_period(a: usize, b: usize) -> usize {
    a / common_divisor(a, b) * b
}

/// The same box within one of several arrays.
fn layered(stored: Stored, layer: usize) -> Stored {
    let within = |part: &IndexBox| {
        IndexBox::new(
            &[&[layer], part.low()].concat(),
            &[&[layer + 1], part.high()].concat(),
        )
    };
    Stored {
        held: within(&stored.held),
        around: within(&stored.around),
        ..stored
    }
}

fn in_layer(pieces: Pieces, layer: usize) -> Pieces {
    let boxes = pieces.boxes.into_iter();
    Pieces {
        boxes: boxes.map(|stored| layered(stored, layer)).collect(),
        len: pieces.len,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Exchange;
    use ozfft_testkit::oracle::inputs::Generator;
    use ozfft_testkit::problems::seed_of_case;

    fn divided(source: &mut Generator, n: usize, parts: usize) -> Vec<Range<usize>> {
        let mut cuts: Vec<usize> = (1..parts).map(|_| source.below(n + 1)).collect();
        cuts.extend([0, n]);
        cuts.sort_unstable();
        cuts.windows(2).map(|pair| pair[0]..pair[1]).collect()
    }

    /// Moves the ranks' arrays, numbers of one word.
    fn exchanged(from: &[Pieces], to: &[Pieces], held: &[Vec<u32>]) -> Vec<Vec<u32>> {
        let ranks = from.len();
        let exchanges: Vec<Exchange> = (0..ranks)
            .map(|rank| Exchange::new(from, to, rank, 1))
            .collect();
        let sent: Vec<Vec<u8>> = exchanges
            .iter()
            .zip(held)
            .map(|(exchange, held)| {
                let mut packed = vec![0; 4 * exchange.elements_sent()];
                exchange.pack_for_others(held, &mut packed);
                packed
            })
            .collect();
        let receive = |rank: usize| {
            let exchange = &exchanges[rank];
            let mut array = vec![u32::MAX; to[rank].len];
            exchange.copy_own(&held[rank], &mut array);
            let mut packed = Vec::new();
            for (other, sent) in sent.iter().enumerate() {
                let counts = exchanges[other].counts().0;
                let first: usize = counts[..rank].iter().sum();
                packed.extend_from_slice(&sent[4 * first..4 * (first + counts[rank])]);
            }
            exchange.unpack_from_others(&packed, &mut array);
            array
        };
        (0..ranks).map(receive).collect()
    }

    fn numbers(range: &Range<usize>) -> Vec<u32> {
        range.clone().map(|n| n as u32).collect()
    }

    fn line_box(range: &Range<usize>) -> IndexBox {
        IndexBox::new(&[range.start], &[range.end])
    }

    /// Elements of some columns, by the definition.
    fn column_elements(matrix: LineMatrix, columns: &Range<usize>) -> Vec<usize> {
        (0..matrix.n)
            .filter(|j| columns.contains(&(j % matrix.width)))
            .collect()
    }

    #[test]
    fn ranges_of_a_line_become_columns_and_halves_their_elements_and_mirror_images() {
        for case in 0..300 {
            let mut source = Generator::new(seed_of_case(0x9e11, case));
            let (ranks, width) = (1 + source.below(4), 1 + source.below(12));
            let n = 2 + source.below(90);
            let matrix = LineMatrix { n, width };
            let columns = divided(&mut source, width, ranks);
            let wanted: Vec<Pieces> = columns.iter().map(|part| matrix.columns(part)).collect();
            let held = divided(&mut source, n, ranks);
            let from: Vec<Pieces> = held
                .iter()
                .map(|part| matrix.range(&line_box(part)))
                .collect();
            let arrays: Vec<Vec<u32>> = held.iter().map(numbers).collect();
            for (columns, found) in columns.iter().zip(exchanged(&from, &wanted, &arrays)) {
                let expected = column_elements(matrix, columns);
                let expected: Vec<u32> = expected.iter().map(|&j| j as u32).collect();
                assert_eq!(found, expected, "case {case}: {matrix:?} {columns:?}");
            }
            let halves = divided(&mut source, n / 2 + 1, ranks);
            let from: Vec<Pieces> = halves
                .iter()
                .map(|part| matrix.half_range(&line_box(part)))
                .collect();
            let wanted: Vec<Pieces> = columns
                .iter()
                .map(|part| matrix.half_columns(part))
                .collect();
            let arrays: Vec<Vec<u32>> = halves.iter().map(numbers).collect();
            for (columns, mut found) in columns.iter().zip(exchanged(&from, &wanted, &arrays)) {
                found[matrix.half_count(columns)..].reverse();
                let expected = column_elements(matrix, columns);
                let expected: Vec<u32> = expected.iter().map(|&j| j.min(n - j) as u32).collect();
                assert_eq!(found, expected, "case {case}: {matrix:?} {columns:?}");
            }
        }
    }

    #[test]
    fn columns_of_one_matrix_become_pieces_of_columns_of_another() {
        for case in 0..300 {
            let mut source = Generator::new(seed_of_case(0x70_1d, case));
            let (one, other) = (1 + source.below(12), 1 + source.below(12));
            let (ranks, n) = (1 + source.below(4), one * other * (1 + source.below(4)));
            let period = common_period(one, other);
            let (from, to) = (LineMatrix { n, width: one }, LineMatrix { n, width: other });
            let held = divided(&mut source, one, ranks);
            let wanted = divided(&mut source, other, ranks);
            let cut: Vec<Vec<Range<usize>>> = wanted
                .iter()
                .map(|share| (0..3).map(|number| piece(share, number, 3)).collect())
                .collect();
            let arrays: Vec<Vec<u32>> = held
                .iter()
                .map(|part| {
                    column_elements(from, part)
                        .iter()
                        .map(|&j| j as u32)
                        .collect()
                })
                .collect();
            let sources: Vec<Pieces> = held
                .iter()
                .map(|part| from.folded(period, std::slice::from_ref(part)))
                .collect();
            let targets: Vec<Pieces> = cut.iter().map(|parts| to.folded(period, parts)).collect();
            for (parts, found) in cut.iter().zip(exchanged(&sources, &targets, &arrays)) {
                let of_part = |part: &Range<usize>| column_elements(to, part);
                let expected: Vec<u32> = parts.iter().flat_map(of_part).map(|j| j as u32).collect();
                assert_eq!(found, expected, "case {case}: {from:?} {to:?} {parts:?}");
            }
        }
    }
}
