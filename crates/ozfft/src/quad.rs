//! The values that two outputs of a step have in common.

use crate::recipe::Fold;
use crate::reconstruct::Rounded;
use crate::vectors::{Pair, Vectors, Wide, negated};

/// The four rounded values that two outputs with the same cosine and sine sums are made of.
pub(crate) struct Quad<X> {
    /// Cosine of the real part plus, and minus, sine of the imaginary part.
    pub(crate) re_sum: X,
    pub(crate) re_difference: X,
    /// Sine of the real part plus, and minus, cosine of the imaginary part.
    pub(crate) im_sum: X,
    pub(crate) im_difference: X,
}

/// Words or wide integers, with what a quad needs.
pub(crate) trait Number<const L: usize, V: Vectors<L>>: Copy {
    fn zero() -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn rounded(sum: Rounded<V::Halves>) -> Pair<Self>;
    #[inline(always)]
    fn negative(self) -> Self {
        Self::zero().minus(self)
    }
}

/// A word in registers.
pub(crate) struct Word<const L: usize, V: Vectors<L>>(pub(crate) V::Words);

impl<const L: usize, V: Vectors<L>> Clone for Word<L, V> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<const L: usize, V: Vectors<L>> Copy for Word<L, V> {}

impl<const L: usize, V: Vectors<L>> Number<L, V> for Word<L, V> {
    #[inline(always)]
    fn zero() -> Self {
        Word(V::splat(0))
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Word(V::add(self.0, other.0))
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Word(V::subtract(self.0, other.0))
    }
    #[inline(always)]
    fn rounded(sum: Rounded<V::Halves>) -> Pair<Self> {
        let (re, im) = sum.words::<L, V>();
        (Word(re), Word(im))
    }
    #[inline(always)]
    fn negative(self) -> Self {
        Word(negated::<L, V>(self.0))
    }
}

impl<const L: usize, V: Vectors<L>> Number<L, V> for Wide<V::Words> {
    #[inline(always)]
    fn zero() -> Self {
        Wide {
            high: V::splat(0),
            low: V::splat(0),
        }
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Wide::plus::<L, V>(self, other)
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Wide::minus::<L, V>(self, other)
    }
    #[inline(always)]
    fn rounded(sum: Rounded<V::Halves>) -> Pair<Self> {
        sum.wide::<L, V>()
    }
}

impl<X: Copy> Quad<X> {
    /// Output `k`: cosine minus i times sine.
    #[inline(always)]
    pub(crate) fn output<const L: usize, V: Vectors<L>>(&self) -> Pair<X>
    where
        X: Number<L, V>,
    {
        (self.re_sum, self.im_difference.negative())
    }

    /// Output `k` of the conjugated input.
    #[inline(always)]
    pub(crate) fn output_of_conjugate<const L: usize, V: Vectors<L>>(&self) -> Pair<X>
    where
        X: Number<L, V>,
    {
        (self.re_difference, self.im_sum.negative())
    }

    /// The output that shares its sums with `k`: `n-k`, or `n-1-k` after a frequency shift.
    #[inline(always)]
    pub(crate) fn partner<const L: usize, V: Vectors<L>>(&self, fold: Fold) -> Pair<X>
    where
        X: Number<L, V>,
    {
        match fold {
            Fold::TimeShifted => (self.re_difference.negative(), self.im_sum.negative()),
            _ => (self.re_difference, self.im_sum),
        }
    }
}
