//! What one rank sends and receives in an exchange, and how blocks of its array are packed for it.

use crate::division::Division;
use crate::index_box::IndexBox;
use std::ops::Range;

/// A block of a rank's array, by indices of that array.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    low: Vec<usize>,
    shape: Vec<usize>,
}

impl Block {
    fn of(part: &IndexBox, held: &IndexBox) -> Block {
        let pairs = part.low().iter().zip(held.low());
        Block {
            // Of an empty block any place will do.
            low: pairs
                .map(|(low, first)| low.saturating_sub(*first))
                .collect(),
            shape: part.shape(),
        }
    }

    fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// The first of the dimensions that lie side by side in an array of this shape: the innermost ones that the block has all of, and one
    /// more.
    fn outer(&self, array: &[usize]) -> usize {
        let whole = (0..array.len()).rev();
        let whole = whole.take_while(|&d| self.shape[d] == array[d]).count();
        array.len().saturating_sub(whole + 1)
    }

    /// Elements that lie side by side, given the first of their dimensions.
    fn run(&self, outer: usize) -> usize {
        self.shape[outer..].iter().product()
    }

    /// Where runs of elements begin in an array of this shape, in C order.
    fn starts(&self, array: &[usize], outer: usize) -> Starts<'_> {
        let stride = |d: usize| array[d + 1..].iter().product::<usize>();
        let strides: Vec<usize> = (0..array.len()).map(stride).collect();
        let first = self.low.iter().zip(&strides).map(|(low, s)| low * s).sum();
        Starts {
            shape: &self.shape[..outer],
            strides,
            index: vec![0; outer],
            next: (self.len() > 0).then_some(first),
        }
    }
}

/// Iterates over the runs of a block.
struct Starts<'a> {
    shape: &'a [usize],
    strides: Vec<usize>,
    index: Vec<usize>,
    next: Option<usize>,
}

impl Iterator for Starts<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let start = self.next?;
        let mut following = start;
        self.next = None;
        for d in (0..self.shape.len()).rev() {
            self.index[d] += 1;
            following += self.strides[d];
            if self.index[d] < self.shape[d] {
                self.next = Some(following);
                break;
            }
            following -= self.shape[d] * self.strides[d];
            self.index[d] = 0;
        }
        Some(start)
    }
}

/// What a rank has of an array, as one or more boxes.
#[derive(Debug, Clone)]
pub(crate) struct Pieces {
    boxes: Vec<IndexBox>,
    /// A box around them, of which the rank's memory begins after `skip` elements and has `len`.
    around: IndexBox,
    skip: usize,
    len: usize,
}

impl Pieces {
    /// One box.
    pub(crate) fn of_box(part: &IndexBox) -> Pieces {
        Pieces {
            boxes: vec![part.clone()],
            around: part.clone(),
            skip: 0,
            len: part.len(),
        }
    }

    /// A range of elements of a matrix of so many columns, row after row: the end of a row, whole rows, and the beginning of one.
    pub(crate) fn of_range(range: Range<usize>, columns: usize) -> Pieces {
        let (first, last) = (range.start / columns, range.end.div_ceil(columns));
        let mut boxes = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let (row, column) = (at / columns, at % columns);
            let (rows, end) = match (column, range.end - at) {
                (0, left) if left >= columns => (left / columns, columns),
                (_, left) => (1, columns.min(column + left)),
            };
            boxes.push(IndexBox::new(&[row, column], &[row + rows, end]));
            at += (rows - 1) * columns + end - column;
        }
        Pieces {
            boxes,
            around: IndexBox::new(&[first, 0], &[last.max(first), columns]),
            skip: range.start % columns,
            len: range.len(),
        }
    }
}

/// One side of an exchange: the blocks of this rank's array that go to the ranks of the group, or come from them.
#[derive(Debug, Clone)]
pub(crate) struct Blocks {
    /// The batch, and the lengths of the rank's array.
    array: Vec<usize>,
    /// Elements of that array before the first that the rank has.
    skip: usize,
    len: usize,
    /// Of every rank of the group.
    blocks: Vec<Vec<Block>>,
}

impl Blocks {
    fn new(held: &IndexBox, others: impl Iterator<Item = IndexBox>, batch: usize) -> Blocks {
        let blocks = others.map(|other| {
            let mut block = Block::of(&held.intersection(&other), held);
            block.low.insert(0, 0);
            block.shape.insert(0, batch);
            vec![block]
        });
        Blocks {
            array: [&[batch], held.shape().as_slice()].concat(),
            skip: 0,
            len: batch * held.len(),
            blocks: blocks.collect(),
        }
    }

    /// What a rank has in common with every other one; `first` and `second` are the two in the order in which all ranks go through boxes.
    fn of_pieces<'a>(
        held: &Pieces,
        both: impl Iterator<Item = (&'a Pieces, &'a Pieces)>,
    ) -> Blocks {
        let common = |(first, second): (&Pieces, &Pieces)| -> Vec<Block> {
            let pairs = first.boxes.iter().flat_map(|one| {
                second
                    .boxes
                    .iter()
                    .map(move |other| one.intersection(other))
            });
            pairs
                .filter(|part| !part.is_empty())
                .map(|part| Block::of(&part, &held.around))
                .collect()
        };
        Blocks {
            array: held.around.shape(),
            skip: held.skip,
            len: held.len,
            blocks: both.map(common).collect(),
        }
    }

    /// Elements of the rank's array.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Elements of every block; `left_out` has none.
    pub(crate) fn counts(&self, left_out: Option<usize>) -> Vec<usize> {
        let blocks = self.blocks.iter().enumerate();
        blocks
            .map(|(place, block)| match Some(place) == left_out {
                true => 0,
                false => block.iter().map(Block::len).sum(),
            })
            .collect()
    }

    /// Calls `visit` with every run of elements: where it begins in the array and among blocks one after the other, and its length.
    fn for_each_run(
        &self,
        left_out: Option<usize>,
        words: usize,
        mut visit: impl FnMut(usize, usize, usize),
    ) {
        let mut place = 0;
        let blocks = self.blocks.iter().enumerate();
        for (_, blocks) in blocks.filter(|(place, _)| Some(*place) != left_out) {
            for block in blocks {
                let outer = block.outer(&self.array);
                let run = block.run(outer) * words;
                for start in block.starts(&self.array, outer) {
                    visit((start - self.skip) * words, place, run);
                    place += run;
                }
            }
        }
    }

    /// Copies blocks from the array to where they lie one after the other. An element has so many words.
    pub(crate) fn pack(
        &self,
        left_out: Option<usize>,
        words: usize,
        array: &[u32],
        packed: &mut [u32],
    ) {
        self.for_each_run(left_out, words, |start, place, run| {
            packed[place..place + run].copy_from_slice(&array[start..start + run]);
        });
    }

    /// Copies them back to where they belong.
    pub(crate) fn unpack(
        &self,
        left_out: Option<usize>,
        words: usize,
        packed: &[u32],
        array: &mut [u32],
    ) {
        self.for_each_run(left_out, words, |start, place, run| {
            array[start..start + run].copy_from_slice(&packed[place..place + run]);
        });
    }
}

/// An exchange as one rank sees it.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    /// The ranks of the group, of which this is one.
    pub(crate) group: Vec<usize>,
    pub(crate) send: Blocks,
    pub(crate) receive: Blocks,
    /// 32-bit words of an element.
    pub(crate) words: usize,
    /// This rank's place in the group.
    pub(crate) own_place: usize,
}

impl Exchange {
    pub(crate) fn new(
        from: &Division,
        to: &Division,
        (rank, ranks): (usize, usize),
        (batch, words): (usize, usize),
    ) -> Exchange {
        let number = from.group(to, rank);
        let group: Vec<usize> = (0..ranks)
            .filter(|&other| from.group(to, other) == number)
            .collect();
        let own_place = group.iter().position(|&other| other == rank);
        let boxes = |division: &Division| {
            let boxes = group.iter().map(|&other| division.box_of(other));
            boxes.collect::<Vec<_>>()
        };
        Exchange {
            send: Blocks::new(&from.box_of(rank), boxes(to).into_iter(), batch),
            receive: Blocks::new(&to.box_of(rank), boxes(from).into_iter(), batch),
            own_place: own_place
                .unwrap_or_else(|| unreachable!("a rank is in the group of its own number")),
            group,
            words,
        }
    }

    /// Between pieces of all ranks, before and after.
    pub(crate) fn of_pieces(from: &[Pieces], to: &[Pieces], rank: usize, words: usize) -> Exchange {
        let sent = to.iter().map(|to| (&from[rank], to));
        let received = from.iter().map(|from| (from, &to[rank]));
        Exchange {
            group: (0..from.len()).collect(),
            send: Blocks::of_pieces(&from[rank], sent),
            receive: Blocks::of_pieces(&to[rank], received),
            words,
            own_place: rank,
        }
    }

    /// Elements that this rank sends to others.
    pub(crate) fn elements_sent(&self) -> usize {
        self.send.counts(Some(self.own_place)).iter().sum()
    }

    /// Elements that it receives from others.
    pub(crate) fn elements_received(&self) -> usize {
        self.receive.counts(Some(self.own_place)).iter().sum()
    }

    /// Bytes that this rank sends to others.
    pub(crate) fn bytes_sent(&self) -> u64 {
        (self.elements_sent() * self.words * 4) as u64
    }

    /// Copies what stays on this rank from one array to the other.
    pub(crate) fn copy_own(&self, from: &[u32], to: &mut [u32]) {
        let own = (
            &self.send.blocks[self.own_place],
            &self.receive.blocks[self.own_place],
        );
        for (read, write) in own.0.iter().zip(own.1) {
            self.copy_block((read, write), from, to);
        }
    }

    fn copy_block(&self, (read, write): (&Block, &Block), from: &[u32], to: &mut [u32]) {
        let outer = read
            .outer(&self.send.array)
            .max(write.outer(&self.receive.array));
        let run = read.run(outer) * self.words;
        let starts = read.starts(&self.send.array, outer);
        for (read, write) in starts.zip(write.starts(&self.receive.array, outer)) {
            let read = (read - self.send.skip) * self.words;
            let write = (write - self.receive.skip) * self.words;
            to[write..write + run].copy_from_slice(&from[read..read + run]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ozfft_testkit::oracle::inputs::Generator;
    use ozfft_testkit::problems::Source;

    /// Every element as its own number, of one word.
    fn held(division: &Division, rank: usize, shape: &[usize], batch: usize) -> Vec<u32> {
        let part = division.box_of(rank);
        let lengths = part.shape();
        let element = |flat: usize| {
            let mut rest = flat;
            let mut number = 0;
            let mut stride = 1;
            for d in (0..shape.len()).rev() {
                number += (rest % lengths[d] + part.low()[d]) * stride;
                rest /= lengths[d];
                stride *= shape[d];
            }
            (rest * stride + number) as u32
        };
        (0..batch * part.len()).map(element).collect()
    }

    #[test]
    fn every_element_arrives_between_random_divisions() {
        let seed = 0x7a11;
        let mut source = Generator::new(seed);
        for case in 0..500 {
            let dimensions = 1 + source.below(4);
            let shape: Vec<usize> = (0..dimensions).map(|_| 1 + source.below(9)).collect();
            let grid: Vec<usize> = (0..source.below(dimensions + 1))
                .map(|_| 1 + source.below(4))
                .collect();
            let ranks: usize = grid.iter().product();
            let batch = 1 + source.below(3);
            let mut draw = || {
                let mut dimensions: Vec<usize> = (0..dimensions).collect();
                source.shuffle(&mut dimensions);
                dimensions.truncate(grid.len());
                let division = Division::Grid {
                    shape: shape.clone(),
                    grid: grid.clone(),
                    dimensions,
                };
                match source.once_in(3) {
                    // The same as if they were given.
                    true => Division::Boxes((0..ranks).map(|rank| division.box_of(rank)).collect()),
                    false => division,
                }
            };
            let (from, to) = (draw(), draw());
            let exchanges: Vec<Exchange> = (0..ranks)
                .map(|rank| Exchange::new(&from, &to, (rank, ranks), (batch, 1)))
                .collect();
            // A rank's own block goes with the others, or is copied by itself.
            let apart = source.once_in(2);
            let left_out = |rank: usize| apart.then_some(exchanges[rank].own_place);
            let packed: Vec<Vec<u32>> = (0..ranks)
                .map(|rank| {
                    let array = held(&from, rank, &shape, batch);
                    let mut packed = vec![u32::MAX; array.len()];
                    let send = &exchanges[rank].send;
                    send.pack(left_out(rank), 1, &array, &mut packed);
                    packed
                })
                .collect();
            for rank in 0..ranks {
                let exchange = &exchanges[rank];
                let mut received = Vec::new();
                for (place, &other) in exchange.group.iter().enumerate() {
                    let sender = &exchanges[other];
                    let slot = sender
                        .group
                        .iter()
                        .position(|&r| r == rank)
                        .expect("the same group");
                    let counts = sender.send.counts(left_out(other));
                    let start: usize = counts[..slot].iter().sum();
                    assert_eq!(counts[slot], exchange.receive.counts(left_out(rank))[place]);
                    received.extend_from_slice(&packed[other][start..start + counts[slot]]);
                }
                let expected = held(&to, rank, &shape, batch);
                let mut array = vec![u32::MAX; expected.len()];
                exchange
                    .receive
                    .unpack(left_out(rank), 1, &received, &mut array);
                if apart {
                    exchange.copy_own(&held(&from, rank, &shape, batch), &mut array);
                }
                assert_eq!(
                    array, expected,
                    "seed {seed:#x} case {case}: {from} -> {to}, rank {rank}"
                );
            }
        }
    }

    #[test]
    fn ranges_of_a_line_become_columns_of_a_matrix_and_back() {
        let seed = 0x51e6;
        let mut source = Generator::new(seed);
        for case in 0..300 {
            let (rows, columns) = (1 + source.below(9), 1 + source.below(9));
            let (n, ranks) = (rows * columns, 1 + source.below(5));
            let mut cuts: Vec<usize> = (1..ranks).map(|_| source.below(n + 1)).collect();
            cuts.extend([0, n]);
            cuts.sort_unstable();
            let ranges: Vec<Range<usize>> = (0..ranks).map(|i| cuts[i]..cuts[i + 1]).collect();
            let shares: Vec<Range<usize>> = (0..ranks)
                .map(|i| columns * i / ranks..columns * (i + 1) / ranks)
                .collect();
            let of_ranges: Vec<Pieces> = ranges
                .iter()
                .map(|range| Pieces::of_range(range.clone(), columns))
                .collect();
            let of_columns: Vec<Pieces> = shares
                .iter()
                .map(|share| Pieces::of_box(&IndexBox::new(&[0, share.start], &[rows, share.end])))
                .collect();
            let line: Vec<u32> = (0..n as u32).collect();
            let held_columns = |share: &Range<usize>| -> Vec<u32> {
                let rows = line.chunks(columns);
                rows.flat_map(|row| row[share.clone()].to_vec()).collect()
            };
            for back in [false, true] {
                let (from, to) = match back {
                    false => (&of_ranges, &of_columns),
                    true => (&of_columns, &of_ranges),
                };
                let all: Vec<Exchange> = (0..ranks)
                    .map(|rank| Exchange::of_pieces(from, to, rank, 1))
                    .collect();
                let array = |rank: usize, columns: bool| match columns {
                    true => held_columns(&shares[rank]),
                    false => line[ranges[rank].clone()].to_vec(),
                };
                for rank in 0..ranks {
                    let mut received = Vec::new();
                    for (other, exchange) in all.iter().enumerate() {
                        let mut packed = vec![u32::MAX; exchange.send.len()];
                        exchange
                            .send
                            .pack(None, 1, &array(other, back), &mut packed);
                        let counts = exchange.send.counts(None);
                        let start: usize = counts[..rank].iter().sum();
                        assert_eq!(counts[rank], all[rank].receive.counts(None)[other]);
                        received.extend_from_slice(&packed[start..start + counts[rank]]);
                    }
                    let expected = array(rank, !back);
                    let mut found = vec![u32::MAX; all[rank].receive.len()];
                    all[rank].receive.unpack(None, 1, &received, &mut found);
                    assert_eq!(found, expected, "seed {seed:#x} case {case}, rank {rank}");
                }
            }
        }
    }

    #[test]
    fn slabs_send_all_but_their_own_part() {
        let division = |dimension| Division::Grid {
            shape: vec![8, 12, 5],
            grid: vec![4],
            dimensions: vec![dimension],
        };
        let exchange = Exchange::new(&division(0), &division(1), (2, 4), (3, 4));
        assert_eq!(exchange.bytes_sent(), 3 * 2 * 9 * 5 * 16);
        assert_eq!(exchange.group, [0, 1, 2, 3]);
    }
}
