//! FFTW's divisions: a dimension is cut into blocks of one size, the last of which may be shorter, or missing.

/// The largest number of elements of an array: FFTW's callers multiply it by the bytes of one.
const MOST_ELEMENTS: usize = isize::MAX as usize / 16;

/// Rejects lengths that no array has, in words.
pub(crate) fn expect_lengths(n: &[isize], howmany: isize) -> Result<(), String> {
    if n.is_empty() {
        return Err("there are no lengths; give one or more".into());
    }
    let mut elements = 1usize;
    for &number in n.iter().chain([&howmany]) {
        let number = match usize::try_from(number) {
            Ok(number @ 1..) => number,
            _ => {
                return Err(format!(
                    "the lengths {n:?} and howmany {howmany} are not all 1 or more; give positive numbers"
                ));
            }
        };
        elements = elements.saturating_mul(number);
    }
    match elements > MOST_ELEMENTS {
        true => Err(format!(
            "an array of lengths {n:?} and howmany {howmany} has more than {MOST_ELEMENTS} elements, which no memory holds; take fewer"
        )),
        false => Ok(()),
    }
}

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

    /// 0 was divided by, and 2^63 - 1 had a product that wrapped around.
    #[test]
    fn lengths_that_no_array_has_are_rejected_in_words() {
        let rejected = |n: &[isize], howmany, words: &str| {
            let error = expect_lengths(n, howmany).expect_err("no such array");
            assert!(error.contains(words), "{error}");
        };
        rejected(&[], 1, "no lengths");
        for wrong in [0, -1, isize::MIN] {
            rejected(&[wrong], 1, "1 or more");
            rejected(&[4, 5, wrong], 1, "1 or more");
            rejected(&[4], wrong, "1 or more");
        }
        rejected(&[isize::MAX], 1, "no memory holds");
        rejected(&[1 << 30, 1 << 30], 1, "no memory holds");
        rejected(&[1 << 30, 1], 1 << 31, "no memory holds");
        assert!(expect_lengths(&[1 << 29, 1 << 29], 1).is_ok());
    }

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
