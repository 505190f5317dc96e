//! Many bounded accumulators side by side in words of 8, 16, 32 or 64 bits: the sums of [`crate::bounded_lanes`] as digits of any word.
//!
//! A word carries half of its bits of the integer and has the other half to spare. Terms of up to 23 bits are cut into digits of 4 or 8 bits
//! first where words are short (the *split deposit* of the Ozaki–Bailey paper), so that every digit is added into a word of its own; words of 32 and
//! 64 bits take them whole, shifted to their place. Carries go on once, at the end, from the lowest word to the highest. A vector of 512 bits has 64,
//! 32, 16 or 8 such words.
//!
//! ```
//! use kulisch::short_lanes::digit_sums;
//! // Two terms, 8 bits apart, in two lanes: digits of 8 bits in words of 16.
//! let mut words = [[0i16; 2]; 5];
//! digit_sums(8, &[[1_000_000, -1], [-70_000, 0]], &mut words);
//! let value = |lane: usize| -> i64 { (0..5).map(|w| i64::from(words[w][lane]) << (8 * w)).sum() };
//! assert_eq!(value(0), 1_000_000 - 256 * 70_000);
//! assert_eq!(value(1), -1);
//! // Digits are not negative but for the highest word's.
//! assert!(words[..4].iter().flatten().all(|digit| (0..256).contains(digit)));
//! ```

mod sealed {
    pub trait Sealed {}
    impl Sealed for i8 {}
    impl Sealed for i16 {}
    impl Sealed for i32 {}
    impl Sealed for i64 {}
}

/// A word of an accumulator.
pub trait LaneWord: Copy + Default + sealed::Sealed {
    /// Bits of a word that belong to the integer.
    const RADIX: u32;
    /// Words that a term is added into: digits that it is cut into, or one.
    const DIGITS: usize;
    /// Magnitudes of terms are below two to this power.
    const TERM_BITS: u32;
    /// Whether terms so many bits apart have their places in words, and no sum of them leaves one.
    fn takes(spacing: u32) -> bool;
    /// Adds terms into [`LaneWord::DIGITS`] words, shifted where they are not cut.
    fn deposit<const LANES: usize>(words: &mut [[Self; LANES]], terms: &[i32; LANES], shift: u32);
    /// The sum of two words.
    fn plus(self, other: Self) -> Self;
    /// The digit that stays, and the carry.
    fn split(self) -> (Self, Self);
}

macro_rules! words {
    ($($word:ty, $radix:literal, $digits:literal, $bits:literal, $($spacing:literal)|*, $deposit:ident;)*) => {$(
        impl LaneWord for $word {
            const RADIX: u32 = $radix;
            const DIGITS: usize = $digits;
            const TERM_BITS: u32 = $bits;

            fn takes(spacing: u32) -> bool {
                matches!(spacing, $($spacing)|*)
            }

            #[inline(always)]
            fn deposit<const LANES: usize>(words: &mut [[$word; LANES]], terms: &[i32; LANES], shift: u32) {
                $deposit(words, terms, shift);
            }

            #[inline(always)]
            fn plus(self, other: $word) -> $word {
                self + other
            }

            #[inline(always)]
            fn split(self) -> ($word, $word) {
                (self & (((1i64 << $radix) - 1) as $word), self >> $radix)
            }
        }
    )*};
}
words! {
    i8, 4, 6, 23, 4 | 8 | 12 | 16, nibbles;
    i16, 8, 3, 23, 8 | 16, bytes;
    i32, 16, 1, 22, 8 | 16, whole;
    i64, 32, 1, 31, 4 | 8 | 12 | 16, whole_in_long_words;
}

// Terms are cut to bytes or halves first, and these to digits in words of their own length: vectors of short words have several times the lanes.

#[inline(always)]
fn nibbles<const LANES: usize>(words: &mut [[i8; LANES]], terms: &[i32; LANES], _: u32) {
    for (two, byte) in words.as_chunks_mut::<2>().0.iter_mut().zip([0, 8, 16]) {
        for (lane, &term) in terms.iter().enumerate() {
            let part = (term >> byte) as i8;
            two[0][lane] += part & 15;
            // The highest digit has the sign.
            two[1][lane] += if byte == 16 {
                part >> 4
            } else {
                ((part as u8) >> 4) as i8
            };
        }
    }
}

#[inline(always)]
fn bytes<const LANES: usize>(words: &mut [[i16; LANES]], terms: &[i32; LANES], _: u32) {
    let [low, middle, high] = words else {
        unreachable!("three words");
    };
    for (lane, &term) in terms.iter().enumerate() {
        let half = term as i16;
        low[lane] += half & 255;
        middle[lane] += ((half as u16) >> 8) as i16;
        high[lane] += (term >> 16) as i16;
    }
}

#[inline(always)]
fn whole<const LANES: usize>(words: &mut [[i32; LANES]], terms: &[i32; LANES], shift: u32) {
    for (word, &term) in words[0].iter_mut().zip(terms) {
        *word += term << shift;
    }
}

#[inline(always)]
fn whole_in_long_words<const LANES: usize>(
    words: &mut [[i64; LANES]],
    terms: &[i32; LANES],
    shift: u32,
) {
    for (word, &term) in words[0].iter_mut().zip(terms) {
        *word += i64::from(term) << shift;
    }
}

/// The digits of `Σ terms[k] · 2^(spacing·k)` in every lane, the lowest first: in `0..2^RADIX`, but for the highest word, which has the sign.
///
/// Terms are below `2^TERM_BITS` in magnitude; larger ones make sums wrong, and end programs that are compiled with checks.
///
/// # Panics
/// If the spacing is not one of 4, 8, 12 and 16 (words of 8 and 64 bits) or of 8 and 16 (16 and 32 bits), and if the words end before the last term's digits do.
#[inline(always)]
pub fn digit_sums<W: LaneWord, const LANES: usize>(
    spacing: u32,
    terms: &[[i32; LANES]],
    words: &mut [[W; LANES]],
) {
    let radix = W::RADIX;
    assert!(
        W::takes(spacing),
        "terms {spacing} bits apart have no place in words that carry {radix} bits"
    );
    words.fill([W::default(); LANES]);
    for (k, row) in terms.iter().enumerate() {
        let position = spacing * k as u32;
        let (first, shift) = ((position / radix) as usize, position % radix);
        W::deposit(&mut words[first..first + W::DIGITS], row, shift);
    }
    let mut carries = [W::default(); LANES];
    let highest = words.len() - 1;
    for (number, word) in words.iter_mut().enumerate() {
        for (word, carry) in word.iter_mut().zip(&mut carries) {
            let sum = word.plus(*carry);
            (*word, *carry) = match number == highest {
                true => (sum, W::default()),
                false => sum.split(),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum as an integer of 128 bits.
    fn expected(spacing: u32, terms: &[[i32; 64]], lane: usize) -> i128 {
        let places = terms.iter().enumerate();
        places
            .map(|(k, row)| i128::from(row[lane]) << (spacing * k as u32))
            .sum()
    }

    fn check<W: LaneWord + Into<i128>>(spacing: u32, terms: &[[i32; 64]]) {
        let bits = spacing * (terms.len() as u32 - 1) + W::TERM_BITS + 3;
        let mut words = vec![[W::default(); 64]; bits.div_ceil(W::RADIX) as usize];
        digit_sums(spacing, terms, &mut words);
        for lane in 0..64 {
            let found: i128 = words
                .iter()
                .enumerate()
                .map(|(w, word)| word[lane].into() << (W::RADIX * w as u32))
                .sum();
            assert_eq!(
                found,
                expected(spacing, terms, lane),
                "{} bits, lane {lane}",
                2 * W::RADIX
            );
        }
    }

    /// The largest terms of both signs, and pseudo-random ones.
    #[test]
    fn short_words_have_the_sums_of_long_integers() {
        let largest = (1 << 22) - 1;
        for count in 1..=11usize {
            let mut state = 7u32;
            let terms: Vec<[i32; 64]> = (0..count)
                .map(|k| {
                    std::array::from_fn(|lane| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        match lane {
                            0 => largest,
                            1 => -largest,
                            2 => [largest, -largest][k % 2],
                            3 => -1,
                            _ => (state as i32) >> 10,
                        }
                    })
                })
                .collect();
            for spacing in [4, 8] {
                check::<i8>(spacing, &terms);
                check::<i64>(spacing, &terms);
            }
            check::<i16>(8, &terms);
            check::<i32>(8, &terms);
            check::<i32>(16, &terms[..count.min(6)]);
            check::<i64>(16, &terms[..count.min(6)]);
            // Words that cut terms take larger ones.
            let doubled: Vec<_> = terms.iter().map(|row| row.map(|term| 2 * term)).collect();
            check::<i8>(8, &doubled);
            check::<i16>(8, &doubled);
        }
    }

    #[test]
    #[should_panic(expected = "have no place")]
    fn terms_between_the_digits_are_rejected() {
        digit_sums(5, &[[1; 4]], &mut [[0i16; 4]; 4]);
    }
}
