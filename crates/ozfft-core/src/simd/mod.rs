//! Several lines side by side: a row holds one element of each of `L` lines.
//!
//! Every line has its own exponent, but all take the same steps with the same tables, so the arithmetic of a row is
//! the same in every lane. The algorithm is written once over the operations of [`Vectors`]; each instruction set
//! implements them in one file. All implementations return the same integers.

#[cfg(vector_unit)]
mod avx2;
#[cfg(vector_unit)]
mod avx512;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod conformance_floats;
#[cfg(test)]
mod conformance_memory;
#[cfg(test)]
mod conformance_single;
mod floats;
mod instructions;
mod portable;

#[cfg(vector_unit)]
pub(crate) use avx2::Avx2;
#[cfg(vector_unit)]
pub(crate) use avx512::Avx512;
pub use floats::Floats;
pub use instructions::{Instructions, LaneTask};
pub use portable::{Portable, round_to_unit};

/// One integer per line.
pub(crate) type Row<const L: usize> = [i64; L];

/// Real and imaginary parts of one element of every line.
pub type Point<const L: usize> = [Row<L>; 2];

/// 32 bits of the real and of the imaginary part of every line, side by side.
pub(crate) type HalfRow<const L: usize> = [[i32; 2]; L];

/// A complex element of every line, in registers.
pub type Pair<W> = (W, W);

/// Operations of an instruction set on rows. Integer operations wrap.
///
/// # Safety of the implementations
/// Vector implementations use instructions that the processor must have. They are reached only through
/// [`crate::matrix_unit::MatrixUnit::enter`] of a unit whose constructor has looked for them.
pub trait Vectors<const L: usize>: Copy + Send + Sync + 'static {
    /// `L` words of 64 bits; also the bits of `L` double-precision numbers.
    type Words: Copy;
    /// `2L` words of 32 bits: real and imaginary parts alternate.
    type Halves: Copy;

    /// Whether sums are rounded in words of 64 bits rather than in places of 16 bits of halves, with the same integers.
    const ROUNDS_IN_WORDS: bool = false;

    fn load(row: &Row<L>) -> Self::Words;
    fn store(words: Self::Words, row: &mut Row<L>);
    fn splat(value: i64) -> Self::Words;
    /// In the lower 32 bits of every word; what is above is undefined.
    fn splat_low(value: i32) -> Self::Words;
    fn add(a: Self::Words, b: Self::Words) -> Self::Words;
    fn subtract(a: Self::Words, b: Self::Words) -> Self::Words;
    fn and(a: Self::Words, b: Self::Words) -> Self::Words;
    fn or(a: Self::Words, b: Self::Words) -> Self::Words;
    fn xor(a: Self::Words, b: Self::Words) -> Self::Words;
    /// The larger one, as signed integers.
    fn maximum(a: Self::Words, b: Self::Words) -> Self::Words;
    /// Of words that are not negative, the upper half of the larger one; the lower half is that of the larger one where the
    /// upper halves are zero, and undefined where they are not. Comparing halves costs half as much as comparing words.
    fn leading_maximum(a: Self::Words, b: Self::Words) -> Self::Words;
    /// Whether every word is negative.
    fn all_negative(a: Self::Words) -> bool;
    /// `bits < 64`.
    fn shift_left(a: Self::Words, bits: u32) -> Self::Words;
    /// Arithmetic; `bits < 64`.
    fn shift_right(a: Self::Words, bits: u32) -> Self::Words;
    /// By a count of its own in each lane; 0 where the count is negative or above 63.
    fn shift_left_each(a: Self::Words, bits: Self::Words) -> Self::Words;
    /// As [`Vectors::shift_left_each`], to the right, filling with zeros.
    fn shift_right_each(a: Self::Words, bits: Self::Words) -> Self::Words;
    /// Number of leading zeros.
    fn leading_zeros(a: Self::Words) -> Self::Words;
    /// The largest word, as signed integers.
    #[inline(always)]
    fn largest(a: Self::Words) -> i64 {
        lanes_of::<L, Self>(a).into_iter().fold(i64::MIN, i64::max)
    }
    /// The sum of all words, modulo 2^64.
    #[inline(always)]
    fn total(a: Self::Words) -> i64 {
        lanes_of::<L, Self>(a)
            .into_iter()
            .fold(0, i64::wrapping_add)
    }
    /// Words in the opposite order.
    #[inline(always)]
    fn reversed(a: Self::Words) -> Self::Words {
        let lanes = lanes_of::<L, Self>(a);
        from_lanes::<L, Self>(|lane| lanes[L - 1 - lane])
    }
    /// Words in the opposite order, but for the first.
    #[inline(always)]
    fn reversed_after_first(a: Self::Words) -> Self::Words {
        let lanes = lanes_of::<L, Self>(a);
        from_lanes::<L, Self>(|lane| lanes[(L - lane) % L])
    }
    /// Pairs of words in the opposite order, for an even number of lanes.
    #[inline(always)]
    fn reversed_pairs(a: Self::Words) -> Self::Words {
        let lanes = lanes_of::<L, Self>(a);
        from_lanes::<L, Self>(|lane| lanes[(L - 1 - lane) ^ 1])
    }
    /// Product of the lower 32 bits, as signed integers.
    fn multiply_low(a: Self::Words, b: Self::Words) -> Self::Words;

    /// Entries of a table, by their places.
    ///
    /// # Safety
    /// All places lie within the table.
    unsafe fn gather(table: &[i64], places: Self::Words) -> Self::Words;

    fn load_halves(row: &HalfRow<L>) -> Self::Halves;
    fn store_halves(halves: Self::Halves, row: &mut HalfRow<L>);
    fn splat_halves(value: i32) -> Self::Halves;
    fn add_halves(a: Self::Halves, b: Self::Halves) -> Self::Halves;
    fn subtract_halves(a: Self::Halves, b: Self::Halves) -> Self::Halves;
    fn or_halves(a: Self::Halves, b: Self::Halves) -> Self::Halves;
    /// `bits <= 32`; 0 for 32.
    fn shift_halves_left(a: Self::Halves, bits: u32) -> Self::Halves;
    /// Arithmetic; `bits <= 31`.
    fn shift_halves_right(a: Self::Halves, bits: u32) -> Self::Halves;
    /// Filling with zeros; `bits <= 32`; 0 for 32.
    fn shift_halves_right_zero(a: Self::Halves, bits: u32) -> Self::Halves;
    /// The lower 16 bits of every half of `low`, below those of `high`.
    #[inline(always)]
    fn join_places(high: Self::Halves, low: Self::Halves) -> Self::Halves {
        let low = Self::shift_halves_right_zero(Self::shift_halves_left(low, 16), 16);
        Self::or_halves(Self::shift_halves_left(high, 16), low)
    }
    /// Exchanges real and imaginary parts.
    fn swap_halves(a: Self::Halves) -> Self::Halves;
    /// Words from their lower and upper halves: real parts, then imaginary parts.
    fn join(low: Self::Halves, high: Self::Halves) -> Pair<Self::Words>;
    /// Lower and upper halves of real and imaginary words.
    fn split(re: Self::Words, im: Self::Words) -> (Self::Halves, Self::Halves);

    fn and_halves(a: Self::Halves, b: Self::Halves) -> Self::Halves;
    fn xor_halves(a: Self::Halves, b: Self::Halves) -> Self::Halves;
    /// The larger one, as signed integers.
    fn maximum_halves(a: Self::Halves, b: Self::Halves) -> Self::Halves;
    /// Real parts of the first, imaginary parts of the second.
    fn mix_halves(re: Self::Halves, im: Self::Halves) -> Self::Halves;
    /// `y · (real + i·imaginary) / 2^30`, rounded to nearest, halves upwards, where that fits 32 bits.
    fn rotate_halves(y: Self::Halves, real: i32, imaginary: i32) -> Self::Halves;
    /// The same integers as words: real parts, then imaginary parts.
    fn widen_halves(a: Self::Halves) -> Pair<Self::Words>;
    /// The same bits: the lower half of a word is the real part.
    fn halves_of_words(a: Self::Words) -> Self::Halves;
    /// The inverse.
    fn words_of_halves(a: Self::Halves) -> Self::Words;

    /// The excess in the result of [`Vectors::floor_magnitude_single`].
    const FLOOR_SINGLE_BIAS: i32;
    /// `⌊|x| · scale⌋ + FLOOR_SINGLE_BIAS` for the single-precision numbers whose bits are given; `scale` is a power of two,
    /// and the product is below 2^22.
    fn floor_magnitude_single(bits: Self::Halves, scale: Self::Halves) -> Self::Halves;
    /// `x · scale` rounded to an integer, halves away from zero; the result is below 2^30, and `scale` is a power of two.
    fn round_scaled_single(bits: Self::Halves, scale: Self::Halves) -> Self::Halves;
    /// The bits of `x · scale` in single precision, rounded once; `scale` is a power of two that is no subnormal number.
    fn integers_to_single(x: Self::Halves, scale: Self::Halves) -> Self::Halves;
    /// The bits of `x · scale` in double precision, for `|x| < 2^50`; `scale` is a power of two that overflows or underflows
    /// nowhere.
    fn integers_to_double(x: Self::Words, scale: Self::Words) -> Self::Words;
    /// The same for any words, rounded once.
    fn words_to_double(x: Self::Words, scale: Self::Words) -> Self::Words;
    /// Single-precision numbers as double-precision ones: real parts, then imaginary parts.
    fn widen_single(bits: Self::Halves) -> Pair<Self::Words>;
    /// Double-precision numbers rounded to single-precision ones.
    fn narrow_to_single(re: Self::Words, im: Self::Words) -> Self::Halves;

    /// The excess in the result of [`Vectors::floor_magnitude`].
    const FLOOR_BIAS: i64;
    /// `⌊|x| · scale⌋ + FLOOR_BIAS` for the double-precision numbers whose bits are given; `scale` is a power of two,
    /// and the product is below 2^31.
    fn floor_magnitude(bits: Self::Words, scale: Self::Words) -> Self::Words;
    /// `x · 2^-unit` rounded to an integer, halves away from zero; the result is below 2^62. `scale` is `2^-unit`.
    fn round_scaled(bits: Self::Words, scale: Self::Words, unit: Self::Words) -> Self::Words;
    /// The bits of `high · high_scale + low · low_scale`, rounded once to double precision: scales are powers of two
    /// that overflow or underflow nowhere, `|high| < 2^50`, `|low| < 2^50`.
    fn to_double(
        high: Self::Words,
        low: Self::Words,
        high_scale: Self::Words,
        low_scale: Self::Words,
    ) -> Self::Words;
    /// As [`Vectors::to_double`], rounded once to single precision and given as the bits of a double.
    fn to_single(
        high: Self::Words,
        low: Self::Words,
        high_scale: Self::Words,
        low_scale: Self::Words,
    ) -> Self::Words;

    /// Complex numbers side by side as real and imaginary parts.
    ///
    /// # Safety
    /// `2L` numbers are readable from `start`.
    unsafe fn load_neighbours(start: *const f64) -> Pair<Self::Words>;
    /// # Safety
    /// `2L` numbers are writable from `start`.
    unsafe fn store_neighbours(start: *mut f64, re: Self::Words, im: Self::Words);
    /// As [`Vectors::load_neighbours`], of `count` complex numbers, at least one; the other lanes repeat the first.
    ///
    /// # Safety
    /// `2·count` numbers are readable from `start`.
    #[inline(always)]
    unsafe fn load_some_neighbours(start: *const f64, count: usize) -> Pair<Self::Words> {
        assert!(0 < count && count <= L);
        let start = start.cast::<[f64; 2]>();
        // SAFETY: the caller's promise; the numbers of the array are two for every lane.
        unsafe {
            let mut numbers = [start.read_unaligned(); L];
            for (lane, number) in numbers[..count].iter_mut().enumerate() {
                *number = start.add(lane).read_unaligned();
            }
            Self::load_neighbours(numbers.as_ptr().cast())
        }
    }
    /// As [`Vectors::store_neighbours`], of the first `count` lanes alone.
    ///
    /// # Safety
    /// `2·count` numbers are writable from `start`.
    #[inline(always)]
    unsafe fn store_some_neighbours(
        start: *mut f64,
        count: usize,
        re: Self::Words,
        im: Self::Words,
    ) {
        assert!(count <= L);
        let mut numbers = [[0.0f64; 2]; L];
        // SAFETY: the numbers of the array are two for every lane; the caller's promise.
        unsafe {
            Self::store_neighbours(numbers.as_mut_ptr().cast(), re, im);
            for (lane, number) in numbers[..count].iter().enumerate() {
                start.cast::<[f64; 2]>().add(lane).write_unaligned(*number);
            }
        }
    }
    /// Reads `L` numbers from the start of every lane's line and yields element after element.
    ///
    /// # Safety
    /// `L` numbers are readable from every start.
    unsafe fn load_lines(starts: &[*const f64; L], element: impl FnMut(usize, Self::Words));
    /// Writes `L` numbers to every lane's line.
    ///
    /// # Safety
    /// `L` numbers are writable from every start.
    unsafe fn store_lines(starts: &[*mut f64; L], element: impl FnMut(usize) -> Self::Words);
}

/// Bits of the lower part of a wide integer.
pub(crate) const LOW_BITS: u32 = 25;

/// Integers of up to 88 bits: `high · 2^25 + low`. The low part may be off its range by a few units of the high one.
#[derive(Clone, Copy)]
pub(crate) struct Wide<W> {
    pub(crate) high: W,
    pub(crate) low: W,
}

impl<W: Copy> Wide<W> {
    #[inline(always)]
    pub(crate) fn from_words<const L: usize, V: Vectors<L, Words = W>>(words: W) -> Self {
        Wide {
            high: V::shift_right(words, LOW_BITS),
            low: V::and(words, V::splat((1 << LOW_BITS) - 1)),
        }
    }

    #[inline(always)]
    pub(crate) fn plus<const L: usize, V: Vectors<L, Words = W>>(self, other: Self) -> Self {
        Wide {
            high: V::add(self.high, other.high),
            low: V::add(self.low, other.low),
        }
    }

    #[inline(always)]
    pub(crate) fn minus<const L: usize, V: Vectors<L, Words = W>>(self, other: Self) -> Self {
        Wide {
            high: V::subtract(self.high, other.high),
            low: V::subtract(self.low, other.low),
        }
    }

    #[inline(always)]
    pub(crate) fn negated<const L: usize, V: Vectors<L, Words = W>>(self) -> Self {
        Wide {
            high: negated::<L, V>(self.high),
            low: negated::<L, V>(self.low),
        }
    }

    /// The same numbers with `0 <= low < 2^25`.
    #[inline(always)]
    pub(crate) fn normalised<const L: usize, V: Vectors<L, Words = W>>(self) -> Self {
        Wide {
            high: V::add(self.high, V::shift_right(self.low, LOW_BITS)),
            low: V::and(self.low, V::splat((1 << LOW_BITS) - 1)),
        }
    }

    /// `self / 2^shift`, rounded, halves upwards, where it is known to fit a word; `shift <= 25`.
    #[inline(always)]
    pub(crate) fn shifted<const L: usize, V: Vectors<L, Words = W>>(self, shift: u32) -> W {
        let rounding = V::splat((1 << shift) >> 1);
        V::add(
            V::shift_left(self.high, LOW_BITS - shift),
            V::shift_right(V::add(self.low, rounding), shift),
        )
    }
}

#[inline(always)]
pub(crate) fn negated<const L: usize, V: Vectors<L>>(words: V::Words) -> V::Words {
    V::subtract(V::splat(0), words)
}

/// Negated in the lanes whose word of the mask is -1; it is 0 in the others.
#[inline(always)]
pub(crate) fn negated_where<const L: usize, V: Vectors<L>>(
    mask: V::Words,
    words: V::Words,
) -> V::Words {
    V::subtract(V::xor(words, mask), mask)
}

/// Lanes of a vector as an array.
#[inline(always)]
pub(crate) fn lanes_of<const L: usize, V: Vectors<L>>(words: V::Words) -> Row<L> {
    let mut row = [0; L];
    V::store(words, &mut row);
    row
}

/// A vector from a function of the lane.
#[inline(always)]
pub(crate) fn from_lanes<const L: usize, V: Vectors<L>>(
    value: impl FnMut(usize) -> i64,
) -> V::Words {
    V::load(&std::array::from_fn(value))
}

/// Marks a closure that must be inlined: what it does with vectors is compiled for their instruction set only inside the
/// unit's own functions.
#[inline(always)]
pub fn inlined<F>(closure: F) -> F {
    closure
}
