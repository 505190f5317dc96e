//! What one rank sends and receives in an exchange, and how blocks of its array are packed for it.

use crate::division::Division;
use crate::index_box::IndexBox;
use crate::pieces::{Pieces, Stored};
use crate::short_numbers::ShortNumbers;

/// A block of a rank's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    low: Vec<usize>,
    shape: Vec<usize>,
    /// Lengths of the array around it, where that begins, and how many of its first elements are not there.
    array: Vec<usize>,
    base: usize,
    skip: usize,
}

impl Block {
    fn of(part: &IndexBox, stored: &Stored) -> Block {
        let pairs = part.low().iter().zip(stored.around.low());
        Block {
            low: pairs.map(|(low, first)| low - first).collect(),
            shape: part.shape(),
            array: stored.around.shape(),
            base: stored.base,
            skip: stored.skip,
        }
    }

    fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// The first of the dimensions that lie side by side in the array: the innermost ones that the block has all of, and one more.
    fn outer(&self) -> usize {
        let whole = (0..self.array.len()).rev();
        let whole = whole
            .take_while(|&d| self.shape[d] == self.array[d])
            .count();
        self.array.len().saturating_sub(whole + 1)
    }

    /// Elements that lie side by side, given the first of their dimensions.
    fn run(&self, outer: usize) -> usize {
        self.shape[outer..].iter().product()
    }

    /// Where runs of elements begin in memory, in C order.
    fn starts(&self, outer: usize) -> Starts<'_> {
        let stride = |d: usize| self.array[d + 1..].iter().product::<usize>();
        let strides: Vec<usize> = (0..self.array.len()).map(stride).collect();
        let first: usize = self.low.iter().zip(&strides).map(|(low, s)| low * s).sum();
        Starts {
            shape: &self.shape[..outer],
            strides,
            index: vec![0; outer],
            next: (self.len() > 0).then(|| self.base + first - self.skip),
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

/// One side of an exchange: the blocks of this rank's array that go to the ranks of the group, or come from them.
#[derive(Debug, Clone)]
pub(crate) struct Blocks {
    /// Elements of the rank's memory.
    len: usize,
    /// Of every rank of the group.
    blocks: Vec<Vec<Block>>,
}

impl Blocks {
    /// What a rank has in common with every other one; `first` and `second` are the two in the order in which all ranks go through boxes, and
    /// the rank's own are the first, or the second.
    fn new<'a>(
        len: usize,
        both: impl Iterator<Item = (&'a Pieces, &'a Pieces)>,
        own_is_first: bool,
    ) -> Blocks {
        let common = |(first, second): (&Pieces, &Pieces)| -> Vec<Block> {
            let pairs = first
                .boxes
                .iter()
                .flat_map(|one| second.boxes.iter().map(move |other| (one, other)));
            let blocks = pairs.filter_map(|(one, other)| {
                let part = one.held.intersection(&other.held);
                let own = if own_is_first { one } else { other };
                (!part.is_empty()).then(|| Block::of(&part, own))
            });
            blocks.collect()
        };
        Blocks {
            len,
            blocks: both.map(common).collect(),
        }
    }

    /// Elements of the rank's memory.
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

    /// Calls `visit` with every run of elements: where it begins in memory and among blocks one after the other, and its length.
    fn for_each_run(&self, left_out: Option<usize>, mut visit: impl FnMut(usize, usize, usize)) {
        let mut place = 0;
        let blocks = self.blocks.iter().enumerate();
        for (_, blocks) in blocks.filter(|(place, _)| Some(*place) != left_out) {
            for block in blocks {
                let outer = block.outer();
                let run = block.run(outer);
                for start in block.starts(outer) {
                    visit(start, place, run);
                    place += run;
                }
            }
        }
    }

    /// Copies blocks from memory to where they lie one after the other. An element has so many words.
    pub(crate) fn pack(
        &self,
        left_out: Option<usize>,
        words: usize,
        array: &[u32],
        packed: &mut [u32],
    ) {
        self.for_each_run(left_out, |start, place, run| {
            packed[place * words..(place + run) * words]
                .copy_from_slice(&array[start * words..(start + run) * words]);
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
        self.for_each_run(left_out, |start, place, run| {
            array[start * words..(start + run) * words]
                .copy_from_slice(&packed[place * words..(place + run) * words]);
        });
    }
}

/// An exchange, or a piece of one, as one rank sees it.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) send: Blocks,
    pub(crate) receive: Blocks,
    /// 32-bit words of an element.
    pub(crate) words: usize,
    /// How numbers are sent, if not as they are.
    pub(crate) short: Option<ShortNumbers>,
    /// This rank's place in the group.
    pub(crate) own_place: usize,
}

/// The ranks that a rank exchanges with on the way from one division to another, itself among them.
pub(crate) fn group_of(from: &Division, to: &Division, rank: usize, ranks: usize) -> Vec<usize> {
    let number = from.group(to, rank);
    (0..ranks)
        .filter(|&other| from.group(to, other) == number)
        .collect()
}

impl Exchange {
    /// Between pieces of the ranks of a group, before and after, of which this rank has the place `own_place`.
    pub(crate) fn new(from: &[Pieces], to: &[Pieces], own_place: usize, words: usize) -> Exchange {
        let (held, wanted) = (&from[own_place], &to[own_place]);
        Exchange {
            send: Blocks::new(held.len, to.iter().map(|to| (held, to)), true),
            receive: Blocks::new(wanted.len, from.iter().map(|from| (from, wanted)), false),
            words,
            short: None,
            own_place,
        }
    }

    /// The same with numbers in fewer bytes.
    pub(crate) fn with_short_numbers(self, short: Option<ShortNumbers>) -> Exchange {
        Exchange { short, ..self }
    }

    /// Bytes of an element as it is sent.
    pub(crate) fn bytes(&self) -> usize {
        match self.short {
            None => 4 * self.words,
            Some(short) => self.words / 2 * short.bytes(),
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
        (self.elements_sent() * self.bytes()) as u64
    }

    /// Packs what goes to others.
    pub(crate) fn pack_for_others(&self, array: &[u32], packed: &mut [u8]) {
        let (words, bytes) = (self.words, self.bytes());
        self.send
            .for_each_run(Some(self.own_place), |start, place, run| {
                let from = &array[start * words..(start + run) * words];
                let to = &mut packed[place * bytes..(place + run) * bytes];
                match self.short {
                    None => to.copy_from_slice(bytemuck::cast_slice(from)),
                    Some(short) => short.shorten(bytemuck::cast_slice(from), to),
                }
            });
    }

    /// Puts what came from others to its place.
    pub(crate) fn unpack_from_others(&self, packed: &[u8], array: &mut [u32]) {
        let (words, bytes) = (self.words, self.bytes());
        self.receive
            .for_each_run(Some(self.own_place), |start, place, run| {
                let from = &packed[place * bytes..(place + run) * bytes];
                let to = &mut array[start * words..(start + run) * words];
                match self.short {
                    None => bytemuck::cast_slice_mut(to).copy_from_slice(from),
                    Some(short) => short.lengthen(from, bytemuck::cast_slice_mut(to)),
                }
            });
    }

    /// Copies what stays on this rank from one array to the other.
    pub(crate) fn copy_own(&self, from: &[u32], to: &mut [u32]) {
        let own = (
            &self.send.blocks[self.own_place],
            &self.receive.blocks[self.own_place],
        );
        for (read, write) in own.0.iter().zip(own.1) {
            copy_block((read, write), self.words, from, to);
        }
    }
}

/// Copies a part of an array in C order to where it lies without gaps.
pub(crate) fn copy_part(
    part: &IndexBox,
    around: &IndexBox,
    words: usize,
    from: &[u32],
    to: &mut [u32],
) {
    let (read, write) = (Pieces::of_part(part, around), Pieces::of_box(part));
    if !part.is_empty() {
        let blocks = (
            Block::of(part, &read.boxes[0]),
            Block::of(part, &write.boxes[0]),
        );
        copy_block((&blocks.0, &blocks.1), words, from, to);
    }
}

fn copy_block((read, write): (&Block, &Block), words: usize, from: &[u32], to: &mut [u32]) {
    let outer = read.outer().max(write.outer());
    let run = read.run(outer) * words;
    for (read, write) in read.starts(outer).zip(write.starts(outer)) {
        let (read, write) = (read * words, write * words);
        to[write..write + run].copy_from_slice(&from[read..read + run]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::Cut;
    use ozfft_testkit::oracle::inputs::Generator;
    use ozfft_testkit::problems::Source;
    use std::ops::Range;

    /// Every element of boxes as its own number, of one word; the first dimension is that of the batch.
    fn numbered(boxes: &[IndexBox], shape: &[usize]) -> Vec<u32> {
        let of_box = |part: &IndexBox| -> Vec<u32> {
            let lengths = part.shape();
            let element = |flat: usize| {
                let (mut rest, mut number, mut stride) = (flat, 0, 1);
                for d in (0..lengths.len()).rev() {
                    number += (rest % lengths[d] + part.low()[d]) * stride;
                    rest /= lengths[d];
                    stride *= if d > 0 { shape[d - 1] } else { 1 };
                }
                number as u32
            };
            (0..part.len()).map(element).collect()
        };
        boxes.iter().flat_map(of_box).collect()
    }

    #[test]
    fn every_element_arrives_between_random_divisions_in_any_pieces() {
        let seed = 0x7a11;
        let mut source = Generator::new(seed);
        for case in 0..400 {
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
            let mut cut = || Cut {
                dimension: source.below(dimensions),
                pieces: 1 + source.below(4),
            };
            let (sent_cut, wanted_cut) = (cut(), cut());
            // Pieces are parts of an array, or arrays of their own.
            let within = source.once_in(2);
            let pieces_of = |cut: &Cut, division: &Division, rank: usize| -> Vec<IndexBox> {
                let pieces = cut.all(&division.box_of(rank));
                pieces.iter().map(|piece| piece.with_first(batch)).collect()
            };
            let mut arrays: Vec<Vec<u32>> = (0..ranks)
                .map(|rank| vec![u32::MAX; batch * to.box_of(rank).len()])
                .collect();
            for number in 0..sent_cut.pieces {
                let group = |rank| group_of(&from, &to, rank, ranks);
                let held = |rank: usize| {
                    let piece = &pieces_of(&sent_cut, &from, rank)[number];
                    let whole = from.box_of(rank).with_first(batch);
                    match within {
                        true => (Pieces::of_part(piece, &whole), numbered(&[whole], &shape)),
                        false => {
                            let piece = std::slice::from_ref(piece);
                            (Pieces::of_boxes(piece), numbered(piece, &shape))
                        }
                    }
                };
                let exchange = |rank: usize| {
                    let group = group(rank);
                    let sent: Vec<Pieces> = group.iter().map(|&other| held(other).0).collect();
                    let wanted: Vec<Pieces> = group
                        .iter()
                        .map(|&other| Pieces::of_boxes(&pieces_of(&wanted_cut, &to, other)))
                        .collect();
                    let own = group.iter().position(|&other| other == rank);
                    Exchange::new(&sent, &wanted, own.expect("its own group"), 1)
                };
                let exchanges: Vec<Exchange> = (0..ranks).map(exchange).collect();
                let packed: Vec<Vec<u8>> = (0..ranks)
                    .map(|rank| {
                        let mut packed = vec![0xa5; exchanges[rank].bytes_sent() as usize];
                        exchanges[rank].pack_for_others(&held(rank).1, &mut packed);
                        packed
                    })
                    .collect();
                for rank in 0..ranks {
                    let own = &exchanges[rank];
                    let mut received = Vec::new();
                    for (place, &other) in group(rank).iter().enumerate() {
                        let sender = &exchanges[other];
                        let slot = group(other).iter().position(|&r| r == rank);
                        let slot = slot.expect("the same group");
                        let counts = sender.send.counts(Some(sender.own_place));
                        let start: usize = counts[..slot].iter().sum();
                        let expected = own.receive.counts(Some(own.own_place))[place];
                        assert_eq!(counts[slot], expected);
                        let part = 4 * start..4 * (start + counts[slot]);
                        received.extend_from_slice(&packed[other][part]);
                    }
                    own.unpack_from_others(&received, &mut arrays[rank]);
                    own.copy_own(&held(rank).1, &mut arrays[rank]);
                }
            }
            for (rank, array) in arrays.iter().enumerate() {
                let expected = numbered(&pieces_of(&wanted_cut, &to, rank), &shape);
                assert_eq!(
                    *array, expected,
                    "seed {seed:#x} case {case}: {from} -> {to}, rank {rank}, {sent_cut:?} {wanted_cut:?} within {within}"
                );
            }
        }
    }

    #[test]
    fn parts_of_an_array_are_copied_without_gaps() {
        let (part, around) = (
            IndexBox::new(&[1, 0, 2], &[3, 4, 5]),
            IndexBox::whole(&[3, 4, 6]),
        );
        let shape = [4, 6];
        let mut found = vec![0; part.len()];
        let from = numbered(std::slice::from_ref(&around), &shape);
        copy_part(&part, &around, 1, &from, &mut found);
        assert_eq!(found, numbered(&[part], &shape));
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
                    .map(|rank| Exchange::new(from, to, rank, 1))
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
    fn slabs_send_all_but_their_own_part_and_short_numbers_fewer_bytes() {
        let division = |dimension| Division::Grid {
            shape: vec![8, 12, 5],
            grid: vec![4],
            dimensions: vec![dimension],
        };
        let pieces = |division: &Division| -> Vec<Pieces> {
            let part = |rank| Pieces::of_box(&division.box_of(rank).with_first(3));
            (0..4).map(part).collect()
        };
        let exchange = Exchange::new(&pieces(&division(0)), &pieces(&division(1)), 2, 4);
        assert_eq!(exchange.bytes_sent(), 3 * 2 * 9 * 5 * 16);
        let exchange = exchange.with_short_numbers(ShortNumbers::for_words_of(37));
        assert_eq!(exchange.bytes_sent(), 3 * 2 * 9 * 5 * 14);
        assert_eq!(group_of(&division(0), &division(1), 2, 4), [0, 1, 2, 3]);
    }
}
