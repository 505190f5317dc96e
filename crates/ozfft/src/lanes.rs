//! Several lines side by side: row `i` of an array holds element `i` of `L` lines.
//!
//! Every line has its own exponent, but all take the same steps with the same tables, so the arithmetic of a row is the
//! same in every lane. `L` is 1 for portable code and 16 where the processor has wide vectors; loops over the lanes are
//! what the compiler turns into vector instructions.

/// Lanes of the vector units.
#[cfg(vector_unit)]
pub(crate) const WIDE_LANES: usize = 16;

/// One integer per line.
pub(crate) type Row<const L: usize> = [i64; L];

/// Applies a function lane by lane.
#[inline(always)]
pub(crate) fn each<const L: usize>(f: impl Fn(usize) -> i64) -> Row<L> {
    let mut row = [0; L];
    for (lane, value) in row.iter_mut().enumerate() {
        *value = f(lane);
    }
    row
}

/// Lane-wise sum.
#[inline(always)]
pub(crate) fn add<const L: usize>(a: &Row<L>, b: &Row<L>) -> Row<L> {
    each(|l| a[l] + b[l])
}

/// Lane-wise difference.
#[inline(always)]
pub(crate) fn subtract<const L: usize>(a: &Row<L>, b: &Row<L>) -> Row<L> {
    each(|l| a[l] - b[l])
}

/// Bits of the lower part of a wide integer.
pub(crate) const LOW_BITS: u32 = 25;

/// Integers of up to 88 bits: `high · 2^25 + low`.
#[derive(Clone, Copy)]
pub(crate) struct WideRow<const L: usize> {
    pub(crate) high: Row<L>,
    pub(crate) low: Row<L>,
}

impl<const L: usize> WideRow<L> {
    pub(crate) const ZERO: Self = WideRow {
        high: [0; L],
        low: [0; L],
    };

    #[inline(always)]
    pub(crate) fn from_words(words: &Row<L>) -> Self {
        WideRow {
            high: each(|l| words[l] >> LOW_BITS),
            low: each(|l| words[l] & ((1 << LOW_BITS) - 1)),
        }
    }

    #[inline(always)]
    pub(crate) fn plus(&self, other: &Self) -> Self {
        WideRow {
            high: add(&self.high, &other.high),
            low: add(&self.low, &other.low),
        }
    }

    #[inline(always)]
    pub(crate) fn minus(&self, other: &Self) -> Self {
        WideRow {
            high: subtract(&self.high, &other.high),
            low: subtract(&self.low, &other.low),
        }
    }

    #[inline(always)]
    pub(crate) fn negated(&self) -> Self {
        WideRow {
            high: each(|l| -self.high[l]),
            low: each(|l| -self.low[l]),
        }
    }

    /// The same numbers with `0 <= low < 2^25`.
    #[inline(always)]
    pub(crate) fn normalised(&self) -> Self {
        WideRow {
            high: each(|l| self.high[l] + (self.low[l] >> LOW_BITS)),
            low: each(|l| self.low[l] & ((1 << LOW_BITS) - 1)),
        }
    }

    /// The numbers as words, where they are known to fit.
    #[inline(always)]
    pub(crate) fn words(&self) -> Row<L> {
        each(|l| {
            debug_assert!(
                self.get(l).unsigned_abs() < 1 << 62,
                "head-room: {} does not fit a word",
                self.get(l)
            );
            (self.high[l] << LOW_BITS) + self.low[l]
        })
    }

    /// One lane as an integer.
    #[inline(always)]
    pub(crate) fn get(&self, lane: usize) -> i128 {
        (i128::from(self.high[lane]) << LOW_BITS) + i128::from(self.low[lane])
    }
}
