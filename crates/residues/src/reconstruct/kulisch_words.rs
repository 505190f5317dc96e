//! Phase B in a fixed-point accumulator of short words: the crate `kulisch` has it, [`Bounded`].
//!
//! Every slice is deposited at its bit position, carries are deferred in the words' spare bits, and nothing is rounded. The
//! accumulator is as wide as the largest slice at its position and the largest partial sum from the highest slice
//! downwards, both of which follow from the moduli ([`Layout::bits`]); the top word's spare bits are not counted on.

use super::forward::{Layout, PhaseB};
use super::{Operations, Pipe};
use crate::COLUMNS;
use crate::bytes::Sums;
use ethnum::I256;
use kulisch::bounded::{Bounded, BoundedError, Counted, Tally, Uncounted, Word};
use std::fmt::Debug;
use std::marker::PhantomData;

/// Phase B in `WORDS` words with `RADIX` bits each.
#[derive(Debug)]
struct Words<W, const WORDS: usize, const RADIX: u32> {
    name: &'static str,
    slice_bits: u32,
    word: PhantomData<W>,
}

impl<W: Word, const WORDS: usize, const RADIX: u32> Words<W, WORDS, RADIX> {
    /// From the highest slice downwards, so that partial sums are not larger than the width was made for.
    fn add<T: Tally>(
        &self,
        slices: &[Sums],
        column: usize,
    ) -> Result<Bounded<W, WORDS, RADIX, T>, BoundedError> {
        let mut total = Bounded::new();
        for (s, row) in slices.iter().enumerate().rev() {
            total.deposit(row[column].into(), self.slice_bits * s as u32)?;
        }
        total.resolve();
        Ok(total)
    }

    fn read(&self, slices: &[Sums], column: usize) -> Result<I256, BoundedError> {
        let mut words = [0; 4];
        let negative = self
            .add::<Uncounted>(slices, column)?
            .magnitude(&mut words)?;
        let [a, b, c, d] = words.map(u128::from);
        let magnitude = I256::from_words((d << 64 | c) as i128, (b << 64 | a) as i128);
        Ok(if negative { -magnitude } else { magnitude })
    }
}

impl<W, const WORDS: usize, const RADIX: u32> PhaseB for Words<W, WORDS, RADIX>
where
    W: Word + Debug + Send + Sync,
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn pipe(&self) -> Pipe {
        Pipe::Integer(W::BITS)
    }

    fn error_bound(&self) -> f64 {
        0.0
    }

    fn sum(&self, slices: &[Sums], to: &mut [I256; COLUMNS]) {
        for (column, to) in to.iter_mut().enumerate() {
            *to = self
                .read(slices, column)
                .expect("the width was chosen for these slices");
        }
    }

    fn operations(&self, slices: &[Sums]) -> Operations {
        let count: u64 = (0..COLUMNS)
            .map(|column| {
                let total = self.add::<Counted>(slices, column);
                let total = total.expect("the width was chosen for these slices");
                total.tally().total()
            })
            .sum();
        Operations {
            integer: count as f64 / COLUMNS as f64,
            ..Operations::default()
        }
    }
}

/// The first of some numbers of words that is wide enough, as a type.
macro_rules! sized {
    ($layout:expr, $name:literal, $word:ty, $radix:literal, [$($words:literal),*]) => {
        match $layout.bits() {
            $(bits if bits <= $words * $radix => Box::new(Words::<$word, $words, $radix> {
                name: $name,
                slice_bits: $layout.slice_bits,
                word: PhantomData,
            }) as Box<dyn PhaseB>,)*
            bits => unreachable!("integers of {bits} bits, where moduli hold at most 230"),
        }
    };
}

/// The accumulator of 16-bit words.
pub(super) fn words16(layout: &Layout) -> Box<dyn PhaseB> {
    sized!(
        layout,
        "kulisch16",
        i16,
        8,
        [2, 4, 6, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 24, 30]
    )
}

/// The accumulator of 8-bit words.
pub(super) fn words8(layout: &Layout) -> Box<dyn PhaseB> {
    sized!(
        layout,
        "kulisch8",
        i8,
        4,
        [4, 8, 12, 16, 20, 22, 24, 26, 28, 30, 32, 34, 36, 40, 48, 60]
    )
}

#[cfg(test)]
mod tests {
    use super::super::kulisch_lanes::Lanes;
    use super::*;
    use crate::error::ResidueError;
    use ethnum::U256;

    /// The accumulator of 32-bit words: the method `kulisch32` is the same sum with the columns side by side.
    fn words32(layout: &Layout) -> Box<dyn PhaseB> {
        sized!(layout, "kulisch32", i32, 24, [1, 2, 3, 4, 5, 6, 7, 8, 10])
    }

    /// Slices as large as they may be, with both signs, at every position.
    #[test]
    fn parallel_columns_agree_with_the_accumulator() -> Result<(), ResidueError> {
        for slice_bits in [4u32, 5, 8, 15, 16] {
            for slices in 1..=200 / slice_bits {
                let largest_sum = 600_000 >> 8u32.saturating_sub(slice_bits);
                let largest_sum = if slice_bits % 5 == 0 {
                    60_000
                } else {
                    largest_sum
                };
                let layout = Layout {
                    slice_bits,
                    slices: slices as usize,
                    largest_sum,
                    largest: U256::from(largest_sum) << (slice_bits * slices),
                };
                let methods = [words32(&layout), words16(&layout), words8(&layout)];
                let lanes = Lanes::new(&layout)?;
                for pattern in 0..64u32 {
                    let row = |s: u32| {
                        std::array::from_fn(|column| {
                            let bits = (pattern * 0x9e37 + column as u32 * 0x85eb) ^ (s * 0x2c1b);
                            let part = largest_sum as i32 >> (bits % 5 * 4);
                            if bits >> 7 & 1 == 0 { part } else { -part }
                        })
                    };
                    let rows: Vec<Sums> = (0..slices).map(row).collect();
                    let mut expected = [I256::ZERO; COLUMNS];
                    for (s, row) in rows.iter().enumerate() {
                        for (total, &sum) in expected.iter_mut().zip(row) {
                            *total += I256::from(sum) << (slice_bits * s as u32);
                        }
                    }
                    let mut got = [I256::ZERO; COLUMNS];
                    lanes.sum(&rows, &mut got);
                    assert_eq!(got, expected);
                    for method in &methods {
                        method.sum(&rows, &mut got);
                        assert_eq!(got, expected, "{}", method.name());
                    }
                }
            }
        }
        Ok(())
    }
}
