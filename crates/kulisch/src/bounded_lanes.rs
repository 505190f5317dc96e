//! Many bounded accumulators side by side: integers that are sums of small integers at evenly spaced bit positions.
//!
//! [`crate::bounded::Bounded`] is one accumulator that takes any number at any position. Where there are many sums of one
//! shape, their words lie lane by lane here (a structure of arrays): what goes where is known beforehand and the same for
//! all lanes, so nothing branches, and compilers make vector instructions of it. This is how residue systems put panels
//! of integers together.
//!
//! A word of 32 bits carries 16 bits of the integer and has 16 to spare, so the terms that begin within those bits are
//! added into it whole, shifted by 0 to 15 bits. Carries go on to the next word at once, and the digits of two neighbours
//! become a 32-bit word of the integer in two's complement. Terms that begin beyond the words for the integer and its sign
//! do not change those words, and are left out.
//!
//! With `P` the bound of terms, a word is at most `P·Σ 2^shift`, and `2^-16` of the word below, which must be less than
//! `2^31`: so `P` may be `(2^31 - 2^16)/Σ 2^shift`. Terms 8 bits apart may have nearly 23 bits, terms 5 bits apart nearly
//! 16 (their shifts reach 15), and terms 16 bits apart nearly 31.
//!
//! ```
//! use kulisch::bounded::{Counted, Uncounted};
//! use kulisch::bounded_lanes::{SpacedSums, round};
//!
//! // Three terms, 8 bits apart and of magnitude up to a million, in integers of up to 40 bits: two 32-bit words.
//! let sums = SpacedSums::<2>::new(8, 3, 1_000_000, 40)?;
//! let terms = [[1_000_000, -1, 3, 0], [-70_000, 0, 2, 0], [5, 0, 1, 0]];
//! let words = sums.sum(&terms, &mut Uncounted);
//! for lane in 0..4 {
//!     let expected = (0..3).map(|k| i64::from(terms[k][lane]) << (8 * k)).sum::<i64>();
//!     assert_eq!(round(&words, lane, 0), expected as f64);
//! }
//! // Operations can be counted.
//! let mut tally = Counted::default();
//! sums.sum(&terms, &mut tally);
//! assert_eq!(tally.additions, 4 * (3 + 2));
//! # Ok::<(), kulisch::bounded_lanes::SpacedError>(())
//! ```

use crate::bounded::Tally;
use crate::rounding::{Head, Rounding};
use core::fmt;

/// Bits of a word that belong to the integer.
const RADIX: u32 = 16;
/// Longest integers that are rounded.
const MOST_WORDS: usize = 32;

/// Why sums cannot be formed with these parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpacedError {
    /// Terms are 1 to 16 bits apart.
    Spacing {
        /// What was asked for.
        spacing: u32,
    },
    /// The integer and its sign have more bits than there are words for.
    OutOfWidth {
        /// Bits of a magnitude that would be needed.
        needed: u32,
        /// Bits of a magnitude that there are.
        width: u32,
    },
    /// Terms are so large that sums in a word could leave it.
    LargeTerms {
        /// The bound of their magnitudes.
        largest: u32,
        /// What it may be at most.
        most: u32,
    },
}

impl fmt::Display for SpacedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpacedError::Spacing { spacing } => {
                write!(
                    f,
                    "terms are {spacing} bits apart, and 1 to {RADIX} are possible"
                )
            }
            SpacedError::OutOfWidth { needed, width } => {
                write!(
                    f,
                    "integers of {needed} bits do not fit {width}: take more words"
                )
            }
            SpacedError::LargeTerms { largest, most } => {
                write!(
                    f,
                    "terms of up to {largest} leave words of 32 bits, where {most} are possible: cut them into smaller ones"
                )
            }
        }
    }
}

impl core::error::Error for SpacedError {}

/// Sums `Σ terms[k] · 2^(spacing·k)` in any number of lanes, as integers of `WORDS` words of 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpacedSums<const WORDS: usize> {
    spacing: u32,
    terms: usize,
    /// Words that hold the integer and its sign; those above have nothing but the sign.
    used: usize,
}

impl<const WORDS: usize> SpacedSums<WORDS> {
    /// Of so many terms, of magnitude at most `largest` and `spacing` bits apart. Their sum has a magnitude below
    /// `2^bits`, which is the caller's knowledge: sums of residue systems cancel in their highest terms.
    pub fn new(
        spacing: u32,
        terms: usize,
        largest: u32,
        bits: u32,
    ) -> Result<SpacedSums<WORDS>, SpacedError> {
        const { assert!(WORDS >= 1 && WORDS <= MOST_WORDS, "1 to 32 words") };
        if !(1..=RADIX).contains(&spacing) {
            return Err(SpacedError::Spacing { spacing });
        }
        let width = 32 * WORDS as u32 - 1;
        if bits > width {
            let needed = bits;
            return Err(SpacedError::OutOfWidth { needed, width });
        }
        let most = SpacedSums::<WORDS>::largest_term(spacing, terms);
        if largest > most {
            return Err(SpacedError::LargeTerms { largest, most });
        }
        Ok(SpacedSums {
            spacing,
            terms,
            used: (bits as usize + 1).div_ceil(32),
        })
    }

    /// What the magnitudes of so many terms may be at most.
    pub fn largest_term(spacing: u32, terms: usize) -> u32 {
        // Positions within a word repeat after as many words as terms are apart.
        let mut most = 1;
        for word in 0..spacing {
            let first = (RADIX * word).div_ceil(spacing);
            let last = (RADIX * (word + 1)).div_ceil(spacing);
            let shifts = (first..last)
                .take_while(|&term| (term as usize) < terms)
                .map(|term| 1 << (spacing * term - RADIX * word))
                .sum();
            most = most.max(shifts);
        }
        ((1 << 31) - (1 << RADIX)) / most
    }

    /// How many terms there are.
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// The sums of all lanes in two's complement, the least significant word first. `tally` counts every operation
    /// on a word of a lane.
    ///
    /// Terms beyond the bounds that were given make sums wrong; where the program is compiled with checks, sums that
    /// leave a word end it.
    ///
    /// # Panics
    /// If there are not as many terms as were announced.
    #[inline]
    pub fn sum<const LANES: usize, T: Tally>(
        &self,
        terms: &[[i32; LANES]],
        tally: &mut T,
    ) -> [[i32; LANES]; WORDS] {
        assert_eq!(terms.len(), self.terms, "as many terms as were announced");
        // The spacing is a constant in each: shifts and places are worked out by the compiler.
        macro_rules! spaced {
            ($($spacing:literal),*) => {
                match self.spacing {
                    $($spacing => self.spaced::<LANES, $spacing, T>(terms, tally),)*
                    spacing => unreachable!("a spacing of {spacing}"),
                }
            };
        }
        spaced!(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
    }

    #[inline(always)]
    fn spaced<const LANES: usize, const SPACING: u32, T: Tally>(
        &self,
        terms: &[[i32; LANES]],
        tally: &mut T,
    ) -> [[i32; LANES]; WORDS] {
        let mut carries = [0; LANES];
        let mut words = [[0; LANES]; WORDS];
        for (number, word) in words[..self.used].iter_mut().enumerate() {
            deposit::<LANES, SPACING, T>(terms, 2 * number, &mut carries, tally);
            for (word, carry) in word.iter_mut().zip(&mut carries) {
                *word = *carry & ((1 << RADIX) - 1);
                *carry >>= RADIX;
            }
            deposit::<LANES, SPACING, T>(terms, 2 * number + 1, &mut carries, tally);
            for (word, carry) in word.iter_mut().zip(&mut carries) {
                *word += *carry << RADIX;
                *carry >>= RADIX;
            }
        }
        tally.mask((LANES * self.used) as u64);
        tally.shift((3 * LANES * self.used) as u64);
        tally.add((LANES * self.used) as u64);
        let signs = words[self.used - 1].map(|word| word >> 31);
        words[self.used..].fill(signs);
        words
    }
}

/// Adds the terms that begin within the bits of this word.
#[inline(always)]
fn deposit<const LANES: usize, const SPACING: u32, T: Tally>(
    terms: &[[i32; LANES]],
    number: usize,
    word: &mut [i32; LANES],
    tally: &mut T,
) {
    let from = RADIX * number as u32;
    let first = |position: u32| (position.div_ceil(SPACING) as usize).min(terms.len());
    let (begin, end) = (first(from), first(from + RADIX));
    for (term, row) in (begin..end).zip(&terms[begin..end]) {
        let shift = SPACING * term as u32 - from;
        for (word, &value) in word.iter_mut().zip(row) {
            *word += value << shift;
        }
        tally.add(LANES as u64);
        tally.shift(if shift > 0 { LANES as u64 } else { 0 });
    }
}

/// A lane's integer, times `2^scale`, rounded once to the nearest double.
///
/// # Panics
/// If there is no such lane, or if there are more than 32 words.
pub fn round<const LANES: usize>(words: &[[i32; LANES]], lane: usize, scale: i32) -> f64 {
    let mut magnitude = [0u64; MOST_WORDS / 2];
    let negative = words.last().is_some_and(|word| word[lane] < 0);
    let mut carry = u64::from(negative);
    for (place, word) in words.iter().enumerate() {
        let bits = word[lane] as u32;
        let value = u64::from(if negative { !bits } else { bits }) + carry;
        carry = value >> 32;
        magnitude[place / 2] |= (value & u64::from(u32::MAX)) << (32 * (place % 2));
    }
    let head = Head::of_words(&magnitude, scale, false);
    head.map_or(0.0, |head| head.to_f64(negative, Rounding::NearestEven))
}
