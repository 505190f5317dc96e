//! How a complex element of every line lies in a panel, and what steps do with it: words of 64 bits, or of 32 where they
//! have at most four digits. The integers are the same in both.

use crate::matrix_unit::{Halves, MatrixUnit};
use crate::recipe::Digits;
use crate::simd::{HalfRow, Point, Vectors, inlined};
use crate::stages::butterfly::{FullWords, LongWords, ShortWords, Value, WideWords};
use crate::stages::twiddle::Twiddle;

/// Words of so many digits fit 32 bits, folded and all.
pub(crate) const SHORT_DIGITS: u32 = 4;

/// Whether sums of four words that enter a last step stay below 2^63; `head_room.rs` looks at every recipe.
pub(crate) fn sums_fit_words(digits: Digits) -> bool {
    digits.word_bits() <= 60 || digits.matrix >= 5
}

/// One element of a panel.
pub(crate) trait PackedElement<const L: usize, U: MatrixUnit<L>>: Copy + 'static {
    /// The contents of a packed complex element, in registers.
    type Word: Value<L, U::Vectors>;
    /// For sums that a word need not hold.
    type Sum: Value<L, U::Vectors> + From<Self::Word>;
    /// For outputs that are words, or sums of at most four that a word holds ([`PackedElement::holds_sums`]).
    type Output: Value<L, U::Vectors> + From<Self::Word>;

    fn get(&self) -> Self::Word;
    fn put(&mut self, word: Self::Word);
    /// Digits as the unit wants them: lower and upper halves.
    fn encode(digits: Digits, word: Self::Word) -> Halves<L, U>;
    fn rotated(digits: Digits, word: Self::Word, by: &Twiddle) -> Self::Word;
    /// A sum shifted down to a word: rounded, halves upwards.
    fn shifted(sum: Self::Sum, shift: u32) -> Self::Word;
    /// Whether [`PackedElement::Output`] holds the outputs of a last step that is trivial, whose inputs are within the word: four times
    /// that is 2^63 at most, and column sums leave room below it for all roundings (docs/numerics.md, section 5), if matrix
    /// entries are not too coarse.
    fn holds_sums(digits: Digits) -> bool;
    /// Whether words hold the outputs of a last step, and can be converted to floating point: those outputs are below
    /// `2^(word_bits + 8)` (docs/numerics.md, section 5).
    fn holds_outputs(digits: Digits) -> bool;
}

impl<const L: usize, U: MatrixUnit<L>> PackedElement<L, U> for Point<L> {
    type Word = LongWords<L, U::Vectors>;
    type Sum = WideWords<L, U::Vectors>;
    type Output = FullWords<L, U::Vectors>;

    #[inline(always)]
    fn get(&self) -> Self::Word {
        LongWords {
            re: U::Vectors::load(&self[0]),
            im: U::Vectors::load(&self[1]),
        }
    }
    #[inline(always)]
    fn put(&mut self, word: Self::Word) {
        U::Vectors::store(word.re, &mut self[0]);
        U::Vectors::store(word.im, &mut self[1]);
    }
    #[inline(always)]
    fn encode(digits: Digits, word: Self::Word) -> Halves<L, U> {
        U::encode(digits, (word.re, word.im))
    }
    #[inline(always)]
    fn rotated(digits: Digits, word: Self::Word, by: &Twiddle) -> Self::Word {
        let words = (word.re, word.im);
        let (re, im) = if digits.data <= SHORT_DIGITS {
            by.rotate_short_row::<L, U::Vectors>(words)
        } else {
            by.rotate_row::<L, U::Vectors>(words)
        };
        LongWords { re, im }
    }
    #[inline(always)]
    fn shifted(sum: Self::Sum, shift: u32) -> Self::Word {
        LongWords {
            re: sum.re.shifted::<L, U::Vectors>(shift),
            im: sum.im.shifted::<L, U::Vectors>(shift),
        }
    }
    #[inline(always)]
    fn holds_sums(digits: Digits) -> bool {
        sums_fit_words(digits)
    }
    #[inline(always)]
    fn holds_outputs(digits: Digits) -> bool {
        digits.word_bits() + 8 <= 50
    }
}

impl<const L: usize, U: MatrixUnit<L>> PackedElement<L, U> for HalfRow<L> {
    type Word = ShortWords<L, U::Vectors>;
    type Sum = LongWords<L, U::Vectors>;
    type Output = LongWords<L, U::Vectors>;

    #[inline(always)]
    fn get(&self) -> Self::Word {
        ShortWords(U::Vectors::load_halves(self))
    }
    #[inline(always)]
    fn put(&mut self, word: Self::Word) {
        U::Vectors::store_halves(word.0, self);
    }
    #[inline(always)]
    fn encode(digits: Digits, word: Self::Word) -> Halves<L, U> {
        // There are no upper halves to store.
        (U::encode_short(digits, word.0), U::Vectors::splat_halves(0))
    }
    #[inline(always)]
    fn rotated(_: Digits, word: Self::Word, by: &Twiddle) -> Self::Word {
        ShortWords(U::Vectors::rotate_halves(word.0, by.real.0, by.imaginary.0))
    }
    #[inline(always)]
    fn shifted(sum: Self::Sum, shift: u32) -> Self::Word {
        let rounding = U::Vectors::splat((1 << shift) >> 1);
        let shifted = inlined(
            #[inline(always)]
            |x| U::Vectors::shift_right(U::Vectors::add(x, rounding), shift),
        );
        let (low, _) = U::Vectors::split(shifted(sum.re), shifted(sum.im));
        ShortWords(low)
    }
    #[inline(always)]
    fn holds_sums(_: Digits) -> bool {
        // Sums are such outputs already.
        false
    }
    #[inline(always)]
    fn holds_outputs(digits: Digits) -> bool {
        digits.word_bits() + 8 <= 31
    }
}
