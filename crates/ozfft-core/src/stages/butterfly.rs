//! The values that two outputs of a step have in common.

use crate::recipe::Fold;
use crate::simd::{HalfRow, Pair, Row, Vectors, Wide, negated_where};
use crate::stages::reconstruct::{round_short, round_to_wide, round_to_words};

/// Powers of two that outputs are multiplied by, for every line.
pub(crate) struct Scales<const L: usize> {
    /// For high and low parts of wide integers, as double-precision numbers.
    pub(crate) high: Row<L>,
    pub(crate) low: Row<L>,
    /// The second one in single precision, where no result can be a subnormal number.
    pub(crate) single: Option<HalfRow<L>>,
}

/// A complex number of every line while a step works on it.
pub(crate) trait Value<const L: usize, V: Vectors<L>>: Copy {
    /// Pairs of diagonals that such values are made of in the usual recipes.
    const PAIRS: std::ops::RangeInclusive<usize>;
    /// Whether they are made of diagonals at all, rather than of words.
    const FROM_PRODUCTS: bool = true;

    fn zero() -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// The real part of this and the imaginary part of the other.
    fn blend(self, other: Self) -> Self;
    /// Real and imaginary parts exchanged.
    fn swapped(self) -> Self;
    #[inline(always)]
    fn negated(self) -> Self {
        Self::zero().minus(self)
    }
    #[inline(always)]
    fn conjugated(self) -> Self {
        self.blend(self.negated())
    }
    /// The negative of the conjugate.
    #[inline(always)]
    fn mirrored(self) -> Self {
        self.negated().blend(self)
    }
    /// Conjugated in the lines whose word of the mask is -1; it is 0 in the others.
    fn conjugated_where(self, mask: V::Words) -> Self;

    /// A sum of pairs, rounded as [`round_to_words`] does.
    fn rounded<const P: usize>(
        pair: impl Fn(usize) -> V::Halves,
        dropped: usize,
        shift: u32,
    ) -> Self;

    fn wide(self) -> Pair<Wide<V::Words>>;
    /// As the bits of double-precision numbers, rounded once.
    fn doubles(self, scales: &Scales<L>) -> Pair<V::Words>;
    /// As the bits of single-precision numbers, rounded once.
    fn singles(self, scales: &Scales<L>) -> V::Halves;
}

/// Words of 64 bits. Converted to floating point they are below 2^50.
pub(crate) struct LongWords<const L: usize, V: Vectors<L>> {
    pub(crate) re: V::Words,
    pub(crate) im: V::Words,
}

/// Words of 64 bits that double precision need not hold.
pub(crate) struct FullWords<const L: usize, V: Vectors<L>>(pub(crate) LongWords<L, V>);

/// Wide integers.
pub(crate) struct WideWords<const L: usize, V: Vectors<L>> {
    pub(crate) re: Wide<V::Words>,
    pub(crate) im: Wide<V::Words>,
}

/// Words of 32 bits.
pub(crate) struct ShortWords<const L: usize, V: Vectors<L>>(pub(crate) V::Halves);

macro_rules! copies {
    ($($name:ident)*) => {$(
        impl<const L: usize, V: Vectors<L>> Clone for $name<L, V> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<const L: usize, V: Vectors<L>> Copy for $name<L, V> {}
    )*};
}
copies!(LongWords FullWords WideWords ShortWords);

impl<const L: usize, V: Vectors<L>> Value<L, V> for LongWords<L, V> {
    const PAIRS: std::ops::RangeInclusive<usize> = 1..=4;

    #[inline(always)]
    fn zero() -> Self {
        let zero = V::splat(0);
        LongWords { re: zero, im: zero }
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        LongWords {
            re: V::add(self.re, other.re),
            im: V::add(self.im, other.im),
        }
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        LongWords {
            re: V::subtract(self.re, other.re),
            im: V::subtract(self.im, other.im),
        }
    }
    #[inline(always)]
    fn blend(self, other: Self) -> Self {
        LongWords {
            re: self.re,
            im: other.im,
        }
    }
    #[inline(always)]
    fn swapped(self) -> Self {
        LongWords {
            re: self.im,
            im: self.re,
        }
    }
    #[inline(always)]
    fn rounded<const P: usize>(
        pair: impl Fn(usize) -> V::Halves,
        dropped: usize,
        shift: u32,
    ) -> Self {
        let (re, im) = round_to_words::<L, V, P>(pair, dropped, shift);
        LongWords { re, im }
    }
    #[inline(always)]
    fn conjugated_where(self, mask: V::Words) -> Self {
        let im = negated_where::<L, V>(mask, self.im);
        LongWords { im, ..self }
    }
    #[inline(always)]
    fn wide(self) -> Pair<Wide<V::Words>> {
        (
            Wide::from_words::<L, V>(self.re),
            Wide::from_words::<L, V>(self.im),
        )
    }
    #[inline(always)]
    fn doubles(self, scales: &Scales<L>) -> Pair<V::Words> {
        let scale = V::load(&scales.low);
        (
            V::integers_to_double(self.re, scale),
            V::integers_to_double(self.im, scale),
        )
    }
    #[inline(always)]
    fn singles(self, scales: &Scales<L>) -> V::Halves {
        // Exact in double precision, so that the one rounding is to single precision.
        let (re, im) = self.doubles(scales);
        V::narrow_to_single(re, im)
    }
}

/// As [`LongWords`], but for the conversion.
impl<const L: usize, V: Vectors<L>> Value<L, V> for FullWords<L, V> {
    const PAIRS: std::ops::RangeInclusive<usize> = 3..=4;
    const FROM_PRODUCTS: bool = false;

    #[inline(always)]
    fn zero() -> Self {
        FullWords(LongWords::zero())
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        FullWords(self.0.plus(other.0))
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        FullWords(self.0.minus(other.0))
    }
    #[inline(always)]
    fn blend(self, other: Self) -> Self {
        FullWords(self.0.blend(other.0))
    }
    #[inline(always)]
    fn swapped(self) -> Self {
        FullWords(self.0.swapped())
    }
    #[inline(always)]
    fn rounded<const P: usize>(
        pair: impl Fn(usize) -> V::Halves,
        dropped: usize,
        shift: u32,
    ) -> Self {
        FullWords(LongWords::rounded::<P>(pair, dropped, shift))
    }
    #[inline(always)]
    fn conjugated_where(self, mask: V::Words) -> Self {
        FullWords(self.0.conjugated_where(mask))
    }
    #[inline(always)]
    fn wide(self) -> Pair<Wide<V::Words>> {
        self.0.wide()
    }
    #[inline(always)]
    fn doubles(self, scales: &Scales<L>) -> Pair<V::Words> {
        let scale = V::load(&scales.low);
        (
            V::words_to_double(self.0.re, scale),
            V::words_to_double(self.0.im, scale),
        )
    }
    #[inline(always)]
    fn singles(self, scales: &Scales<L>) -> V::Halves {
        // Double precision would round before single precision does.
        WideWords::from(self.0).singles(scales)
    }
}

impl<const L: usize, V: Vectors<L>> From<LongWords<L, V>> for FullWords<L, V> {
    #[inline(always)]
    fn from(words: LongWords<L, V>) -> Self {
        FullWords(words)
    }
}

impl<const L: usize, V: Vectors<L>> Value<L, V> for WideWords<L, V> {
    const PAIRS: std::ops::RangeInclusive<usize> = 3..=4;

    #[inline(always)]
    fn zero() -> Self {
        let zero = Wide {
            high: V::splat(0),
            low: V::splat(0),
        };
        WideWords { re: zero, im: zero }
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        WideWords {
            re: self.re.plus::<L, V>(other.re),
            im: self.im.plus::<L, V>(other.im),
        }
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        WideWords {
            re: self.re.minus::<L, V>(other.re),
            im: self.im.minus::<L, V>(other.im),
        }
    }
    #[inline(always)]
    fn blend(self, other: Self) -> Self {
        WideWords {
            re: self.re,
            im: other.im,
        }
    }
    #[inline(always)]
    fn swapped(self) -> Self {
        WideWords {
            re: self.im,
            im: self.re,
        }
    }
    #[inline(always)]
    fn negated(self) -> Self {
        WideWords {
            re: self.re.negated::<L, V>(),
            im: self.im.negated::<L, V>(),
        }
    }
    #[inline(always)]
    fn rounded<const P: usize>(
        pair: impl Fn(usize) -> V::Halves,
        dropped: usize,
        shift: u32,
    ) -> Self {
        let (re, im) = round_to_wide::<L, V, P>(pair, dropped, shift);
        WideWords { re, im }
    }
    #[inline(always)]
    fn conjugated_where(self, mask: V::Words) -> Self {
        let im = Wide {
            high: negated_where::<L, V>(mask, self.im.high),
            low: negated_where::<L, V>(mask, self.im.low),
        };
        WideWords { im, ..self }
    }
    #[inline(always)]
    fn wide(self) -> Pair<Wide<V::Words>> {
        (self.re, self.im)
    }
    #[inline(always)]
    fn doubles(self, scales: &Scales<L>) -> Pair<V::Words> {
        let (high, low) = (V::load(&scales.high), V::load(&scales.low));
        (
            V::to_double(self.re.high, self.re.low, high, low),
            V::to_double(self.im.high, self.im.low, high, low),
        )
    }
    #[inline(always)]
    fn singles(self, scales: &Scales<L>) -> V::Halves {
        let (high, low) = (V::load(&scales.high), V::load(&scales.low));
        V::narrow_to_single(
            V::to_single(self.re.high, self.re.low, high, low),
            V::to_single(self.im.high, self.im.low, high, low),
        )
    }
}

impl<const L: usize, V: Vectors<L>> Value<L, V> for ShortWords<L, V> {
    const PAIRS: std::ops::RangeInclusive<usize> = 1..=2;

    #[inline(always)]
    fn zero() -> Self {
        ShortWords(V::splat_halves(0))
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        ShortWords(V::add_halves(self.0, other.0))
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        ShortWords(V::subtract_halves(self.0, other.0))
    }
    #[inline(always)]
    fn blend(self, other: Self) -> Self {
        ShortWords(V::mix_halves(self.0, other.0))
    }
    #[inline(always)]
    fn swapped(self) -> Self {
        ShortWords(V::swap_halves(self.0))
    }
    #[inline(always)]
    fn rounded<const P: usize>(
        pair: impl Fn(usize) -> V::Halves,
        dropped: usize,
        shift: u32,
    ) -> Self {
        ShortWords(round_short::<L, V, P>(pair, dropped, shift))
    }
    #[inline(always)]
    fn conjugated_where(self, mask: V::Words) -> Self {
        let mask = V::mix_halves(V::splat_halves(0), V::halves_of_words(mask));
        ShortWords(V::subtract_halves(V::xor_halves(self.0, mask), mask))
    }
    #[inline(always)]
    fn wide(self) -> Pair<Wide<V::Words>> {
        LongWords::from(self).wide()
    }
    #[inline(always)]
    fn doubles(self, scales: &Scales<L>) -> Pair<V::Words> {
        LongWords::from(self).doubles(scales)
    }
    #[inline(always)]
    fn singles(self, scales: &Scales<L>) -> V::Halves {
        match &scales.single {
            Some(scale) => V::integers_to_single(self.0, V::load_halves(scale)),
            None => LongWords::from(self).singles(scales),
        }
    }
}

impl<const L: usize, V: Vectors<L>> From<ShortWords<L, V>> for LongWords<L, V> {
    #[inline(always)]
    fn from(short: ShortWords<L, V>) -> Self {
        let (re, im) = V::widen_halves(short.0);
        LongWords { re, im }
    }
}

impl<const L: usize, V: Vectors<L>> From<LongWords<L, V>> for WideWords<L, V> {
    #[inline(always)]
    fn from(words: LongWords<L, V>) -> Self {
        let (re, im) = words.wide();
        WideWords { re, im }
    }
}

/// The terms of two outputs with the same cosine and sine sums: with `C` and `S` the sums, `r` and `i` their parts,
/// `C_r + S_i` and `C_i + S_r`, and `C_r - S_i` and `C_i - S_r`.
pub(crate) struct ConjugatePair<X> {
    pub(crate) plus: X,
    pub(crate) minus: X,
    /// The sums themselves, rounded one by one.
    pub(crate) sums: Pair<X>,
}

impl<X> ConjugatePair<X> {
    /// From sums that are rounded already.
    #[inline(always)]
    pub(crate) fn new<const L: usize, V: Vectors<L>>(cosine: X, sine: X) -> Self
    where
        X: Value<L, V>,
    {
        let swapped = sine.swapped();
        ConjugatePair {
            plus: cosine.plus(swapped),
            minus: cosine.minus(swapped),
            sums: (cosine, sine),
        }
    }

    /// Output `k` of two real lines, whose elements are the real and the imaginary parts of the input.
    #[inline(always)]
    pub(crate) fn outputs_of_two_real<const L: usize, V: Vectors<L>>(&self) -> Pair<X>
    where
        X: Value<L, V>,
    {
        let (cosine, sine) = self.sums;
        let negated = sine.negated();
        (
            cosine.blend(negated.swapped()),
            cosine.swapped().blend(negated),
        )
    }

    /// Output `k`: cosine minus i times sine.
    #[inline(always)]
    pub(crate) fn output<const L: usize, V: Vectors<L>>(&self) -> X
    where
        X: Value<L, V>,
    {
        self.plus.blend(self.minus)
    }

    /// Output `k` of the conjugated input.
    #[inline(always)]
    pub(crate) fn output_of_conjugate<const L: usize, V: Vectors<L>>(&self) -> X
    where
        X: Value<L, V>,
    {
        self.minus.blend(self.plus).conjugated()
    }

    /// The output that shares its sums with `k`: `n-k`, or `n-1-k` after a frequency shift.
    #[inline(always)]
    pub(crate) fn partner<const L: usize, V: Vectors<L>>(&self, fold: Fold) -> X
    where
        X: Value<L, V>,
    {
        let partner = self.minus.blend(self.plus);
        match fold {
            Fold::TimeShifted => partner.negated(),
            _ => partner,
        }
    }
}
