//! What one rank sends and receives in an exchange, and how blocks of its array are packed for it.

use crate::division::Division;
use crate::index_box::IndexBox;

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

    /// Calls `visit` with start and length of every run of elements that lie side by side in an array of this shape, in C order.
    fn for_each_run(&self, array: &[usize], mut visit: impl FnMut(usize, usize)) {
        if self.len() == 0 {
            return;
        }
        // The innermost dimensions that the block has all of, and one more, are one run.
        let dimensions = array.len();
        let whole = (0..dimensions).rev();
        let whole = whole.take_while(|&d| self.shape[d] == array[d]).count();
        let outer = dimensions.saturating_sub(whole + 1);
        let run: usize = self.shape[outer..].iter().product();
        let stride = |d: usize| array[d + 1..].iter().product::<usize>();
        let strides: Vec<usize> = (0..dimensions).map(stride).collect();
        let first: usize = self.low.iter().zip(&strides).map(|(low, s)| low * s).sum();
        let mut index = vec![0; outer];
        let mut start = first;
        loop {
            visit(start, run);
            let mut d = outer;
            loop {
                if d == 0 {
                    return;
                }
                d -= 1;
                index[d] += 1;
                start += strides[d];
                if index[d] < self.shape[d] {
                    break;
                }
                start -= self.shape[d] * strides[d];
                index[d] = 0;
            }
        }
    }
}

/// One side of an exchange: the blocks of this rank's array that go to the ranks of the group, or come from them.
#[derive(Debug, Clone)]
pub(crate) struct Blocks {
    /// The batch, and the lengths of the rank's array.
    array: Vec<usize>,
    blocks: Vec<Block>,
}

impl Blocks {
    fn new(held: &IndexBox, others: impl Iterator<Item = IndexBox>, batch: usize) -> Blocks {
        let blocks = others.map(|other| {
            let mut block = Block::of(&held.intersection(&other), held);
            block.low.insert(0, 0);
            block.shape.insert(0, batch);
            block
        });
        Blocks {
            array: [&[batch], held.shape().as_slice()].concat(),
            blocks: blocks.collect(),
        }
    }

    /// Elements of every block.
    pub(crate) fn counts(&self) -> Vec<usize> {
        self.blocks.iter().map(Block::len).collect()
    }

    /// Elements of the rank's array.
    pub(crate) fn len(&self) -> usize {
        self.array.iter().product()
    }

    /// Copies all blocks from the array to where they lie one after the other. An element has so many words.
    pub(crate) fn pack(&self, words: usize, array: &[u32], packed: &mut [u32]) {
        let mut place = 0;
        for block in &self.blocks {
            block.for_each_run(&self.array, |start, run| {
                let (start, run) = (start * words, run * words);
                packed[place..place + run].copy_from_slice(&array[start..start + run]);
                place += run;
            });
        }
    }

    /// Copies them back to where they belong.
    pub(crate) fn unpack(&self, words: usize, packed: &[u32], array: &mut [u32]) {
        let mut place = 0;
        for block in &self.blocks {
            block.for_each_run(&self.array, |start, run| {
                let (start, run) = (start * words, run * words);
                array[start..start + run].copy_from_slice(&packed[place..place + run]);
                place += run;
            });
        }
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
    own_place: usize,
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

    /// Bytes that this rank sends to others.
    pub(crate) fn bytes_sent(&self) -> u64 {
        let counts = self.send.counts();
        let elements = counts.iter().sum::<usize>() - counts[self.own_place];
        (elements * self.words * 4) as u64
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
            let packed: Vec<Vec<u32>> = (0..ranks)
                .map(|rank| {
                    let array = held(&from, rank, &shape, batch);
                    let mut packed = vec![u32::MAX; array.len()];
                    exchanges[rank].send.pack(1, &array, &mut packed);
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
                    let counts = sender.send.counts();
                    let start: usize = counts[..slot].iter().sum();
                    assert_eq!(counts[slot], exchange.receive.counts()[place]);
                    received.extend_from_slice(&packed[other][start..start + counts[slot]]);
                }
                let expected = held(&to, rank, &shape, batch);
                let mut array = vec![u32::MAX; expected.len()];
                exchange.receive.unpack(1, &received, &mut array);
                assert_eq!(
                    array, expected,
                    "seed {seed:#x} case {case}: {from} -> {to}, rank {rank}"
                );
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
