//! Accumulators of a fixed width: integers that are sums of small integers at known bit positions.
//!
//! A wide integer lies in an array of words of 8, 16 or 32 bits, as an integer pipe of that width has them. Each word
//! carries `RADIX` bits of it, and its other bits take up carries: additions touch only the words that they reach, and
//! carries are resolved when the spare bits may be full, or when the value is read. This is what puts residues of several
//! moduli together on hardware that has no wide arithmetic: everything is an addition, a shift or a mask on short words,
//! and [`Counted`] says how many.
//!
//! ```
//! use kulisch::bounded::{Bounded, Counted};
//!
//! // 8 words of 24 bits in 32: 192 bits, 127 additions between carries.
//! let mut total = Bounded::<i32, 8, 24, Counted>::new();
//! total.deposit(12345, 100)?;
//! total.deposit(-1, 0)?;
//! assert_eq!(total.to_i128(), Ok((12345 << 100) - 1));
//! assert_eq!(total.round(-100), Ok(12345.0));
//! assert_eq!(total.tally().additions, 2);
//! # Ok::<(), kulisch::bounded::BoundedError>(())
//! ```

use crate::rounding::{Head, Rounding};
use core::fmt;

/// A word that digits are kept in: `i8`, `i16` or `i32`.
pub trait Word: Copy + sealed::Sealed {
    /// Its bits.
    const BITS: u32;
}

mod sealed {
    /// What the algorithm needs of a word.
    pub trait Sealed {
        const ZERO: Self;
        fn get(self) -> i64;
        /// A value that is known to fit.
        fn put(value: i64) -> Self;
    }
}

macro_rules! words {
    ($($word:ty),*) => {$(
        impl Word for $word {
            const BITS: u32 = <$word>::BITS;
        }
        impl sealed::Sealed for $word {
            const ZERO: $word = 0;
            #[inline(always)]
            fn get(self) -> i64 {
                self.into()
            }
            #[inline(always)]
            fn put(value: i64) -> $word {
                debug_assert!(<$word>::try_from(value).is_ok());
                value as $word
            }
        }
    )*};
}

words!(i8, i16, i32);

/// Whether operations on words are counted.
pub trait Tally: Clone + Default {
    /// So many additions of words.
    fn add(&mut self, count: u64);
    /// So many shifts of words.
    fn shift(&mut self, count: u64);
    /// So many masks of words.
    fn mask(&mut self, count: u64);
}

/// They are not, and nothing is left of it in the program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Uncounted;

impl Tally for Uncounted {
    #[inline(always)]
    fn add(&mut self, _: u64) {}
    #[inline(always)]
    fn shift(&mut self, _: u64) {}
    #[inline(always)]
    fn mask(&mut self, _: u64) {}
}

/// They are counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Additions of words.
    pub additions: u64,
    /// Shifts of words.
    pub shifts: u64,
    /// Masks of words.
    pub masks: u64,
}

impl Counted {
    /// All operations.
    pub fn total(&self) -> u64 {
        self.additions + self.shifts + self.masks
    }
}

impl Tally for Counted {
    #[inline]
    fn add(&mut self, count: u64) {
        self.additions += count;
    }
    #[inline]
    fn shift(&mut self, count: u64) {
        self.shifts += count;
    }
    #[inline]
    fn mask(&mut self, count: u64) {
        self.masks += count;
    }
}

/// Why a number was not added, or cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundedError {
    /// The number would reach beyond the accumulator's words.
    OutOfWidth {
        /// Bits that would be needed.
        needed: u32,
        /// Bits that there are.
        width: u32,
    },
    /// The sum has become larger than the accumulator.
    Overflow,
    /// The sum does not fit the type that it is read as.
    DoesNotFit,
}

impl fmt::Display for BoundedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BoundedError::OutOfWidth { needed, width } => {
                write!(
                    f,
                    "a term needs {needed} bits, and the accumulator has {width}"
                )
            }
            BoundedError::Overflow => f.write_str("the sum has become larger than its accumulator"),
            BoundedError::DoesNotFit => {
                f.write_str("the sum does not fit the type that it is read as")
            }
        }
    }
}

impl core::error::Error for BoundedError {}

/// Most 64-bit words of any magnitude.
const MOST_WORDS: usize = 16;

/// A signed integer of `WORDS · RADIX` bits and a sign, as a sum of small integers at bit positions.
///
/// `RADIX` is at most two bits less than a word has. A word takes 2^(bits - 1 - RADIX) - 1 deposits before carries must be
/// resolved, which happens by itself. The highest word's spare bits let a sum leave the width for a while; one that leaves
/// those, too, is an error from then on.
#[derive(Debug, Clone)]
pub struct Bounded<W: Word, const WORDS: usize, const RADIX: u32, T: Tally = Uncounted> {
    words: [W; WORDS],
    pending: u32,
    overflow: bool,
    tally: T,
}

impl<W: Word, const WORDS: usize, const RADIX: u32, T: Tally> Default
    for Bounded<W, WORDS, RADIX, T>
{
    fn default() -> Self {
        Bounded::new()
    }
}

impl<W: Word, const WORDS: usize, const RADIX: u32, T: Tally> Bounded<W, WORDS, RADIX, T> {
    /// Bits of the largest magnitude.
    pub const WIDTH: u32 = WORDS as u32 * RADIX;
    /// Deposits between resolved carries.
    pub const MOST_PENDING: u32 = (1 << (W::BITS - 1 - RADIX)) - 1;
    const VALID: () = assert!(
        RADIX >= 1
            && RADIX + 2 <= W::BITS
            && WORDS >= 1
            && Self::WIDTH as usize <= 64 * (MOST_WORDS - 1),
        "a radix leaves at least two bits of a word, and there are at most 960 bits"
    );

    /// Zero.
    pub fn new() -> Self {
        let () = Self::VALID;
        Bounded {
            words: [<W as sealed::Sealed>::ZERO; WORDS],
            pending: 0,
            overflow: false,
            tally: T::default(),
        }
    }

    /// Adds `value · 2^position`.
    #[inline]
    pub fn deposit(&mut self, value: i64, position: u32) -> Result<(), BoundedError> {
        let length = 64 - value.unsigned_abs().leading_zeros();
        let needed = position.saturating_add(length);
        if needed > Self::WIDTH {
            return Err(BoundedError::OutOfWidth {
                needed,
                width: Self::WIDTH,
            });
        }
        if value == 0 {
            return Ok(());
        }
        if self.pending == Self::MOST_PENDING {
            self.resolve();
        }
        self.pending += 1;
        let mut place = (position / RADIX) as usize;
        let mut rest = i128::from(value) << (position % RADIX);
        if !position.is_multiple_of(RADIX) {
            self.tally.shift(1);
        }
        // The highest piece keeps the sign; the others are digits. The highest word takes what is left.
        while place + 1 < WORDS && rest.unsigned_abs() >> RADIX != 0 {
            self.add(place, rest as i64 & Self::MASK);
            rest >>= RADIX;
            place += 1;
            self.tally.mask(1);
            self.tally.shift(1);
        }
        if rest != 0 {
            self.add(place, rest as i64);
        }
        Ok(())
    }

    /// Adds what another accumulator holds.
    pub fn merge(&mut self, other: &Self) {
        self.overflow |= other.overflow;
        if self.pending + other.pending >= Self::MOST_PENDING {
            self.resolve();
        }
        let mut other = other.clone();
        if self.pending + other.pending >= Self::MOST_PENDING {
            other.resolve();
        }
        // A resolved one counts as one deposit: its words are below 2^RADIX. The highest is checked.
        self.pending += other.pending + 1;
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            let sum = word.get() + other.get();
            *word = W::put(Self::wrapped(sum, &mut self.overflow));
        }
        self.tally.add(WORDS as u64);
        if self.pending >= Self::MOST_PENDING {
            self.resolve();
        }
    }

    /// Takes all carries to where they belong.
    pub fn resolve(&mut self) {
        self.pending = 0;
        let mut carry = 0;
        for (place, word) in self.words.iter_mut().enumerate() {
            let value = word.get() + carry;
            if place + 1 == WORDS {
                *word = W::put(Self::wrapped(value, &mut self.overflow));
            } else {
                *word = W::put(value & Self::MASK);
                carry = value >> RADIX;
            }
        }
        let carries = WORDS as u64 - 1;
        self.tally.add(carries);
        self.tally.shift(carries);
        self.tally.mask(carries);
    }

    /// The operations so far.
    pub fn tally(&self) -> &T {
        &self.tally
    }

    /// Writes the magnitude's bits to words, the first the least significant, and returns whether the sum is negative.
    pub fn magnitude(&self, to: &mut [u64]) -> Result<bool, BoundedError> {
        let (negative, words) = self.read()?;
        let used = words
            .iter()
            .rposition(|&word| word != 0)
            .map_or(0, |place| place + 1);
        if used > to.len() {
            return Err(BoundedError::DoesNotFit);
        }
        to.fill(0);
        to[..used].copy_from_slice(&words[..used]);
        Ok(negative)
    }

    /// The sum, where it has no more bits than that.
    pub fn to_i128(&self) -> Result<i128, BoundedError> {
        let mut words = [0; 2];
        let negative = self.magnitude(&mut words)?;
        let magnitude = u128::from(words[1]) << 64 | u128::from(words[0]);
        let value = i128::try_from(magnitude).map_err(|_| BoundedError::DoesNotFit)?;
        Ok(if negative { -value } else { value })
    }

    /// The sum times `2^scale`, rounded once to the nearest double.
    pub fn round(&self, scale: i32) -> Result<f64, BoundedError> {
        self.round_to(scale, Rounding::NearestEven)
    }

    /// The sum times `2^scale`, rounded once as `rounding` says.
    pub fn round_to(&self, scale: i32, rounding: Rounding) -> Result<f64, BoundedError> {
        let (negative, words) = self.read()?;
        let head = Head::of_words(&words, scale, false);
        Ok(head.map_or(0.0, |head| head.to_f64(negative, rounding)))
    }

    /// The sum times `2^scale`, rounded once to the nearest float.
    pub fn round_f32(&self, scale: i32) -> Result<f32, BoundedError> {
        let (negative, words) = self.read()?;
        let head = Head::of_words(&words, scale, false);
        Ok(head.map_or(0.0, |head| head.to_f32(negative, Rounding::NearestEven)))
    }

    const MASK: i64 = (1 << RADIX) - 1;

    #[inline]
    fn add(&mut self, place: usize, value: i64) {
        let sum = self.words[place].get() + value;
        self.words[place] = W::put(Self::wrapped(sum, &mut self.overflow));
        self.tally.add(1);
    }

    /// A word's value, which only the highest word can be too large for.
    #[inline]
    fn wrapped(value: i64, overflow: &mut bool) -> i64 {
        let unused = 64 - W::BITS;
        let wrapped = value << unused >> unused;
        *overflow |= wrapped != value;
        wrapped
    }

    fn read(&self) -> Result<(bool, [u64; MOST_WORDS]), BoundedError> {
        let mut resolved = self.clone();
        resolved.resolve();
        let highest = resolved.words[WORDS - 1].get();
        let negative = highest < 0;
        // The digits below are not negative: a negative sum rounds the highest word down, to one more than its magnitude has.
        let below = resolved.words[..WORDS - 1]
            .iter()
            .any(|word| word.get() != 0);
        let magnitude = highest.unsigned_abs() - u64::from(negative && below);
        if resolved.overflow || magnitude >> RADIX != 0 {
            return Err(BoundedError::Overflow);
        }
        let mut magnitude = [0; MOST_WORDS];
        let mut carry = 0;
        for (place, word) in resolved.words.iter().enumerate() {
            let value = carry + if negative { -word.get() } else { word.get() };
            // The highest digit may have one bit more.
            let last = place + 1 == WORDS;
            let digit = if last { value } else { value & Self::MASK } as u64;
            carry = value >> RADIX;
            let position = place * RADIX as usize;
            let (at, shift) = (position / 64, position % 64);
            let wide = u128::from(digit) << shift;
            magnitude[at] |= wide as u64;
            magnitude[at + 1] |= (wide >> 64) as u64;
        }
        Ok((negative, magnitude))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_width_holds_the_same_sum() -> Result<(), BoundedError> {
        let mut wide = Bounded::<i32, 6, 26>::new();
        let mut half = Bounded::<i16, 13, 12>::new();
        let mut narrow = Bounded::<i8, 26, 6>::new();
        let mut expected = 0i128;
        for k in 0..500i64 {
            let (value, position) = ((k * 7919) % 2001 - 1000, (k * 31 % 100) as u32);
            wide.deposit(value, position)?;
            half.deposit(value, position)?;
            narrow.deposit(value, position)?;
            expected += i128::from(value) << position;
            assert_eq!(wide.to_i128(), Ok(expected));
            assert_eq!(half.to_i128(), Ok(expected));
            assert_eq!(narrow.to_i128(), Ok(expected));
        }
        Ok(())
    }

    #[test]
    fn values_that_are_too_large_are_reported() -> Result<(), BoundedError> {
        let mut small = Bounded::<i16, 2, 10>::new();
        let too_wide = BoundedError::OutOfWidth {
            needed: 21,
            width: 20,
        };
        assert_eq!(small.deposit(1, 20), Err(too_wide));
        for _ in 0..1023 {
            small.deposit(1 << 9, 10)?;
            small.deposit(-(1 << 9), 10)?;
        }
        assert_eq!(small.to_i128(), Ok(0));
        small.deposit(1, 19)?;
        small.deposit((1 << 19) - 1, 0)?;
        assert_eq!(small.to_i128(), Ok((1 << 20) - 1));
        let mut beyond = small.clone();
        beyond.deposit(1, 0)?;
        assert_eq!(beyond.to_i128(), Err(BoundedError::Overflow));
        assert_eq!(beyond.round(0), Err(BoundedError::Overflow));
        // The spare bits of the highest word have kept it.
        beyond.resolve();
        beyond.deposit(-1, 0)?;
        assert_eq!(beyond.to_i128(), Ok((1 << 20) - 1));
        for _ in 0..100 {
            beyond.deposit((1 << 20) - 1, 0)?;
        }
        for _ in 0..100 {
            beyond.deposit(1 - (1 << 20), 0)?;
        }
        assert_eq!(beyond.to_i128(), Err(BoundedError::Overflow));
        small.merge(&small.clone());
        assert_eq!(small.to_i128(), Err(BoundedError::Overflow));
        Ok(())
    }

    #[test]
    fn the_whole_width_is_held_with_both_signs() -> Result<(), BoundedError> {
        for value in [0xfeff, 0xff00, 0xff01, 0xffff, 0x10000, 0x10001] {
            for value in [value, -value] {
                let mut sum = Bounded::<i16, 2, 8>::new();
                sum.deposit(value / 2, 0)?;
                sum.deposit(value - value / 2, 0)?;
                let held = value.unsigned_abs() < 1 << 16;
                let expected = held.then_some(value.into());
                assert_eq!(sum.to_i128(), expected.ok_or(BoundedError::Overflow));
            }
        }
        Ok(())
    }

    #[test]
    fn operations_are_counted() -> Result<(), BoundedError> {
        let mut counted = Bounded::<i32, 5, 26, Counted>::new();
        counted.deposit(1000, 26)?;
        assert_eq!(counted.tally().total(), 1);
        // Spans two words: a shift into place, then mask and shift for the second, and two additions.
        counted.deposit(1 << 20, 40)?;
        let expected = Counted {
            additions: 3,
            shifts: 2,
            masks: 1,
        };
        assert_eq!(*counted.tally(), expected);
        counted.resolve();
        assert_eq!(counted.tally().total(), 6 + 3 * 4);
        Ok(())
    }
}
