//! What one rank sends and receives in an exchange, and how blocks of its array are packed for it.

use crate::division::Division;
use crate::index_box::IndexBox;
use crate::pieces::{Pieces, Stored};
use crate::quantised::{LinesOfBlock, QuantisedWords};
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

    /// A block that lies without gaps, from this element on.
    fn without_gaps(&self, base: usize) -> Block {
        Block {
            low: vec![0; self.shape.len()],
            shape: self.shape.clone(),
            array: self.shape.clone(),
            base,
            skip: 0,
        }
    }

    fn stride(&self, dimension: usize) -> usize {
        self.array[dimension + 1..].iter().product()
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

/// Rows of elements that lie at equal distances, in slices that do: where they are, and where they go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockCopy {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Elements of a row.
    pub(crate) len: usize,
    pub(crate) rows: usize,
    pub(crate) slices: usize,
    pub(crate) row_distances: [usize; 2],
    pub(crate) slice_distances: [usize; 2],
}

/// A block's way from one array to another, in as few copies as two distances describe.
fn copies_of(read: &Block, write: &Block) -> Vec<BlockCopy> {
    let outer = read.outer().max(write.outer());
    // Dimensions from the innermost on, with their distances, joined where they are evenly spaced in both.
    let mut dimensions: Vec<(usize, [usize; 2])> = Vec::new();
    for d in (0..outer).rev().filter(|&d| read.shape[d] > 1) {
        let distances = [read.stride(d), write.stride(d)];
        match dimensions.last_mut() {
            Some((n, inner)) if [0, 1].map(|side| *n * inner[side]) == distances => {
                *n *= read.shape[d];
            }
            _ => dimensions.push((read.shape[d], distances)),
        }
    }
    let first = |block: &Block| block.starts(outer).next();
    let (Some(from), Some(to)) = (first(read), first(write)) else {
        return Vec::new();
    };
    let one = (1, [0, 0]);
    let (rows, row_distances) = dimensions.first().copied().unwrap_or(one);
    let (slices, slice_distances) = dimensions.get(1).copied().unwrap_or(one);
    let mut copies = vec![BlockCopy {
        from,
        to,
        len: read.run(outer),
        rows,
        slices,
        row_distances,
        slice_distances,
    }];
    for &(n, [apart, apart_there]) in dimensions.iter().skip(2) {
        let repeated = |i: usize| {
            copies.iter().map(move |copy| BlockCopy {
                from: copy.from + i * apart,
                to: copy.to + i * apart_there,
                ..*copy
            })
        };
        copies = (0..n).flat_map(repeated).collect();
    }
    copies
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

    /// Every block, and the same where they lie one after the other.
    fn in_turn(&self, left_out: usize) -> impl Iterator<Item = (&Block, Block)> {
        let mut place = 0;
        let blocks = self.blocks.iter().enumerate();
        let others = blocks.filter(move |(place, _)| *place != left_out);
        others.flat_map(|(_, blocks)| blocks).map(move |block| {
            let packed = block.without_gaps(place);
            place += block.len();
            (block, packed)
        })
    }
}

/// How numbers are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    AsTheyAre,
    /// Each for itself in fewer bytes.
    Short(ShortNumbers),
    /// As words, with exponents of lines along a dimension of arrays (the first one is that of the batch) before those of every block. Elements are complex.
    Words(QuantisedWords, usize),
}

impl Encoding {
    /// Bytes of a real number that has so many as it is.
    pub(crate) fn bytes_of_a_real(self, as_it_is: usize) -> usize {
        match self {
            Encoding::AsTheyAre => as_it_is,
            Encoding::Short(short) => short.bytes(),
            Encoding::Words(words, _) => words.bytes(),
        }
    }

    /// Elements in the place of exponents, before those of a block.
    fn elements_before(self, block: &Block) -> usize {
        match self {
            Encoding::Words(words, dimension) => {
                words.elements_for_exponents(block.len() / block.shape[dimension])
            }
            _ => 0,
        }
    }
}

/// An exchange, or a piece of one, as one rank sees it.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) send: Blocks,
    pub(crate) receive: Blocks,
    /// 32-bit words of an element.
    pub(crate) words: usize,
    pub(crate) encoding: Encoding,
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
            encoding: Encoding::AsTheyAre,
            own_place,
        }
    }

    /// The same with numbers in fewer bytes.
    pub(crate) fn with_encoding(self, encoding: Encoding) -> Exchange {
        Exchange { encoding, ..self }
    }

    /// Bytes of an element as it is sent.
    pub(crate) fn bytes(&self) -> usize {
        match self.encoding {
            Encoding::AsTheyAre => 4 * self.words,
            encoding => self.words / 2 * encoding.bytes_of_a_real(8),
        }
    }

    /// Elements that go to every rank of the group, or come from it; exponents are in the place of some.
    fn counts_of(&self, side: &Blocks) -> Vec<usize> {
        let all = |block: &Block| self.encoding.elements_before(block) + block.len();
        let blocks = side.blocks.iter().enumerate();
        blocks
            .map(|(place, blocks)| match place == self.own_place {
                true => 0,
                false => blocks.iter().map(all).sum(),
            })
            .collect()
    }

    /// Elements that are sent to every rank of the group, and received from it; none to and from this one.
    pub(crate) fn counts(&self) -> (Vec<usize>, Vec<usize>) {
        (self.counts_of(&self.send), self.counts_of(&self.receive))
    }

    /// Elements that this rank sends to others.
    pub(crate) fn elements_sent(&self) -> usize {
        self.counts().0.iter().sum()
    }

    /// Elements that it receives from others.
    pub(crate) fn elements_received(&self) -> usize {
        self.counts().1.iter().sum()
    }

    /// Bytes that this rank sends to others.
    pub(crate) fn bytes_sent(&self) -> u64 {
        (self.elements_sent() * self.bytes()) as u64
    }

    /// Packs what goes to others.
    pub(crate) fn pack_for_others(&self, array: &[u32], packed: &mut [u8]) {
        let (words, bytes) = (self.words, self.bytes());
        if let Encoding::Words(quantised, dimension) = self.encoding {
            let array = bytemuck::cast_slice(&array[..array.len() / words * words]);
            return self.quantise_for_others((quantised, dimension), array, packed);
        }
        self.send
            .for_each_run(Some(self.own_place), |start, place, run| {
                let from = &array[start * words..(start + run) * words];
                let to = &mut packed[place * bytes..(place + run) * bytes];
                match self.encoding {
                    Encoding::Short(short) => short.shorten(bytemuck::cast_slice(from), to),
                    _ => to.copy_from_slice(bytemuck::cast_slice(from)),
                }
            });
    }

    /// Puts what came from others to its place.
    pub(crate) fn unpack_from_others(&self, packed: &[u8], array: &mut [u32]) {
        let (words, bytes) = (self.words, self.bytes());
        if let Encoding::Words(quantised, dimension) = self.encoding {
            // An array that is to hold reals in the end may have half an element more.
            let whole = array.len() / words * words;
            let array = bytemuck::cast_slice_mut(&mut array[..whole]);
            return self.restore_from_others((quantised, dimension), packed, array);
        }
        self.receive
            .for_each_run(Some(self.own_place), |start, place, run| {
                let from = &packed[place * bytes..(place + run) * bytes];
                let to = &mut array[start * words..(start + run) * words];
                match self.encoding {
                    Encoding::Short(short) => short.lengthen(from, bytemuck::cast_slice_mut(to)),
                    _ => bytemuck::cast_slice_mut(to).copy_from_slice(from),
                }
            });
    }

    /// Blocks of others, in the order of messages.
    fn blocks_of_others<'a>(&'a self, side: &'a Blocks) -> impl Iterator<Item = &'a Block> {
        let blocks = side.blocks.iter().enumerate();
        let others = blocks.filter(|(place, _)| *place != self.own_place);
        others.flat_map(|(_, blocks)| blocks)
    }

    /// Packs as words: the exponents of a block's lines, then its numbers under them.
    fn quantise_for_others(
        &self,
        (words, dimension): (QuantisedWords, usize),
        array: &[[u64; 2]],
        packed: &mut [u8],
    ) {
        let (bytes, mut rest) = (self.bytes(), packed);
        let mut largest = Vec::new();
        for block in self.blocks_of_others(&self.send) {
            let lines = LinesOfBlock::new(&block.shape, dimension);
            largest.clear();
            largest.resize(block.len() / lines.along, 0);
            let (outer, mut place) = (block.outer(), 0);
            let run = block.run(outer);
            for start in block.starts(outer) {
                let numbers = (place, &array[start..start + run]);
                QuantisedWords::find_largest(lines, numbers, &mut largest);
                place += run;
            }
            let (header, others) = rest.split_at_mut(bytes * self.encoding.elements_before(block));
            let (body, others) = others.split_at_mut(bytes * block.len());
            words.write_exponents(&mut largest, header);
            place = 0;
            for start in block.starts(outer) {
                let to = &mut body[bytes * place..bytes * (place + run)];
                words.quantise(lines, (place, &array[start..start + run]), &largest, to);
                place += run;
            }
            rest = others;
        }
    }

    /// Makes numbers of words again.
    fn restore_from_others(
        &self,
        (words, dimension): (QuantisedWords, usize),
        packed: &[u8],
        array: &mut [[u64; 2]],
    ) {
        let (bytes, mut rest) = (self.bytes(), packed);
        for block in self.blocks_of_others(&self.receive) {
            let lines = LinesOfBlock::new(&block.shape, dimension);
            let (header, others) = rest.split_at(bytes * self.encoding.elements_before(block));
            let (body, others) = others.split_at(bytes * block.len());
            let exponents = words.read_exponents(header, block.len() / lines.along);
            let (outer, mut place) = (block.outer(), 0);
            let run = block.run(outer);
            for start in block.starts(outer) {
                let from = &body[bytes * place..bytes * (place + run)];
                let to = (place, &mut array[start..start + run]);
                words.restore(lines, to, &exponents, from);
                place += run;
            }
            rest = others;
        }
    }

    /// The copies that pack what goes to others.
    pub(crate) fn copies_for_others(&self) -> Vec<BlockCopy> {
        let blocks = self.send.in_turn(self.own_place);
        blocks
            .flat_map(|(block, packed)| copies_of(block, &packed))
            .collect()
    }

    /// The copies that put what came from others to its place.
    pub(crate) fn copies_from_others(&self) -> Vec<BlockCopy> {
        let blocks = self.receive.in_turn(self.own_place);
        blocks
            .flat_map(|(block, packed)| copies_of(&packed, block))
            .collect()
    }

    /// The copies of what stays on this rank.
    pub(crate) fn copies_of_own(&self) -> Vec<BlockCopy> {
        let own = [&self.send, &self.receive].map(|side| &side.blocks[self.own_place]);
        let pairs = own[0].iter().zip(own[1]);
        pairs
            .flat_map(|(read, write)| copies_of(read, write))
            .collect()
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

/// Where others of a group have what this rank wants, and where it goes: for ranks that read each other's memory.
#[derive(Debug, Clone)]
pub(crate) struct Reads {
    /// Of every rank of the group: blocks of its array, and of this rank's.
    blocks: Vec<Vec<(Block, Block)>>,
    words: usize,
}

impl Reads {
    /// Between pieces of the ranks of a group, before and after, as they are exchanged.
    pub(crate) fn new(from: &[Pieces], to: &[Pieces], exchange: &Exchange) -> Reads {
        let wanted = &to[exchange.own_place];
        let of_rank = |(place, held): (usize, &Pieces)| -> Vec<(Block, Block)> {
            let theirs = Blocks::new(held.len, std::iter::once((held, wanted)), true);
            let theirs = theirs.blocks.into_iter().flatten();
            theirs
                .zip(exchange.receive.blocks[place].iter().cloned())
                .collect()
        };
        Reads {
            blocks: from.iter().enumerate().map(of_rank).collect(),
            words: exchange.words,
        }
    }

    /// Copies what a rank of the group has for this one from its array.
    pub(crate) fn copy_from(&self, place: usize, theirs: &[u32], array: &mut [u32]) {
        for (read, write) in &self.blocks[place] {
            copy_block((read, write), self.words, theirs, array);
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
    if !part.is_empty() {
        let (read, write) = blocks_of_part(part, around);
        copy_block((&read, &write), words, from, to);
    }
}

/// The same as copies.
pub(crate) fn copies_of_part(part: &IndexBox, around: &IndexBox) -> Vec<BlockCopy> {
    match part.is_empty() {
        true => Vec::new(),
        false => {
            let (read, write) = blocks_of_part(part, around);
            copies_of(&read, &write)
        }
    }
}

/// A part within an array, and without gaps.
fn blocks_of_part(part: &IndexBox, around: &IndexBox) -> (Block, Block) {
    let (read, write) = (Pieces::of_part(part, around), Pieces::of_box(part));
    (
        Block::of(part, &read.boxes[0]),
        Block::of(part, &write.boxes[0]),
    )
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

    /// What a GPU does of copies.
    fn copy_all(copies: &[BlockCopy], from: &[u32], to: &mut [u32]) {
        for copy in copies {
            for (slice, row) in
                (0..copy.slices).flat_map(|slice| (0..copy.rows).map(move |row| (slice, row)))
            {
                let place = |side: usize| {
                    slice * copy.slice_distances[side] + row * copy.row_distances[side]
                };
                let (read, write) = (copy.from + place(0), copy.to + place(1));
                to[write..write + copy.len].copy_from_slice(&from[read..read + copy.len]);
            }
        }
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
                        let mut copied = vec![u32::MAX; packed.len() / 4];
                        let copies = exchanges[rank].copies_for_others();
                        copy_all(&copies, &held(rank).1, &mut copied);
                        assert_eq!(bytemuck::cast_slice::<_, u8>(&copied), packed);
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
                        let counts = sender.counts().0;
                        let start: usize = counts[..slot].iter().sum();
                        let expected = own.counts().1[place];
                        assert_eq!(counts[slot], expected);
                        let part = 4 * start..4 * (start + counts[slot]);
                        received.extend_from_slice(&packed[other][part]);
                    }
                    let mut copied = arrays[rank].clone();
                    own.unpack_from_others(&received, &mut arrays[rank]);
                    own.copy_own(&held(rank).1, &mut arrays[rank]);
                    let mut words = vec![0u32; received.len() / 4];
                    bytemuck::cast_slice_mut(&mut words).copy_from_slice(&received);
                    copy_all(&own.copies_from_others(), &words, &mut copied);
                    copy_all(&own.copies_of_own(), &held(rank).1, &mut copied);
                    assert_eq!(copied, arrays[rank]);
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
        assert_eq!(found, numbered(std::slice::from_ref(&part), &shape));
        found.fill(0);
        copy_all(&copies_of_part(&part, &around), &from, &mut found);
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
                        let mut packed = vec![0xa5; exchange.bytes_sent() as usize];
                        exchange.pack_for_others(&array(other, back), &mut packed);
                        let counts = exchange.counts().0;
                        let start: usize = counts[..rank].iter().sum();
                        assert_eq!(counts[rank], all[rank].counts().1[other]);
                        let part = 4 * start..4 * (start + counts[rank]);
                        received.extend_from_slice(&packed[part]);
                    }
                    let expected = array(rank, !back);
                    let mut found = vec![u32::MAX; all[rank].receive.len()];
                    all[rank].unpack_from_others(&received, &mut found);
                    all[rank].copy_own(&array(rank, back), &mut found);
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
        let short = ShortNumbers::for_words_of(37).expect("fewer bytes");
        let exchange = exchange.with_encoding(Encoding::Short(short));
        assert_eq!(exchange.bytes_sent(), 3 * 2 * 9 * 5 * 14);
        // Lines along the first dimension, of two numbers in each of three messages: exponents of two bytes for as many as half the numbers, in whole elements.
        let words = QuantisedWords::for_words_of(37).expect("fewer bytes");
        let exchange = exchange.with_encoding(Encoding::Words(words, 1));
        let lines: usize = 3 * 3 * 5;
        assert_eq!(
            exchange.bytes_sent() as usize,
            3 * (2 * lines + (2 * lines).div_ceil(10)) * 10
        );
        assert_eq!(group_of(&division(0), &division(1), 2, 4), [0, 1, 2, 3]);
    }
}
