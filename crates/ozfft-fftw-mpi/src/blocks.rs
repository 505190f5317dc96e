//! FFTW's divisions: a dimension is cut into blocks of one size, the last of which may be shorter, or missing.

/// A dimension of `n` indices in blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blocks {
    n: usize,
    block: usize,
}

impl Blocks {
    /// With the block that was asked for; 0 is the default, the smallest one that is enough for so many ranks. None where blocks of
    /// this size leave indices to nobody.
    pub(crate) fn new(n: usize, asked: usize, ranks: usize) -> Option<Blocks> {
        let block = match asked {
            0 => n.div_ceil(ranks),
            asked => asked,
        };
        (n.div_ceil(block) <= ranks).then_some(Blocks { n, block })
    }

    /// The first index of a rank, and how many it has. A rank without any begins at 0, as in FFTW.
    pub(crate) fn of(&self, rank: usize) -> (usize, usize) {
        match rank.checked_mul(self.block) {
            Some(start) if start < self.n => (start, self.block.min(self.n - start)),
            _ => (0, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_follow_each_other_and_make_up_the_dimension() {
        for n in 1..40 {
            for ranks in 1..12 {
                for asked in 0..10 {
                    let Some(blocks) = Blocks::new(n, asked, ranks) else {
                        assert!(asked * ranks < n);
                        continue;
                    };
                    let mut next = 0;
                    for rank in 0..ranks {
                        let (start, count) = blocks.of(rank);
                        assert!(count == 0 || start == next);
                        next += count;
                    }
                    assert_eq!(next, n, "{n} in blocks of {asked} for {ranks}");
                }
            }
        }
        assert_eq!(
            Blocks::new(10, 0, 4).map(|blocks| blocks.of(3)),
            Some((9, 1))
        );
    }
}
