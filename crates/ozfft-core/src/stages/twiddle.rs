//! The rounding rotation between steps: a word times a table entry of modulus about 1, in 32-bit halves.
//!
//! Both factors are split in signed halves, `y = h·2^32 + l` with `-2^31 <= l < 2^31`. The product of the high halves
//! and the two cross products are formed exactly; the product of the low halves, at most one unit of the result, is
//! left out. Twelve 32×32→64 multiplications make a complex rotation, on a CPU vector unit as on a GPU.

use crate::simd::{Pair, Vectors, inlined};
use fallible_memory::{push, with_capacity};
use num_complex::Complex;

/// A complex table entry scaled by 2^62, in signed 32-bit halves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Twiddle {
    pub real: (i32, i32),
    pub imaginary: (i32, i32),
}

/// Signed halves: the low one is the nearest remainder, not the floor, which keeps the dropped product small.
#[inline(always)]
fn halves(x: i64) -> (i64, i64) {
    let low = i64::from(x as i32);
    ((x - low) >> 32, low)
}

impl Twiddle {
    /// From components scaled by 2^62.
    #[inline]
    pub fn new(real: i64, imaginary: i64) -> Self {
        let narrow = |(high, low): (i64, i64)| (high as i32, low as i32);
        Twiddle {
            real: narrow(halves(real)),
            imaginary: narrow(halves(imaginary)),
        }
    }

    /// The components, scaled by 2^62.
    pub fn components(&self) -> Complex<i64> {
        let whole = |(high, low): (i32, i32)| (i64::from(high) << 32) + i64::from(low);
        Complex::new(whole(self.real), whole(self.imaginary))
    }

    /// `y · self / 2^62`, rounded: high products exactly, cross products to nearest (halves upwards).
    ///
    /// Head-room: with components of `y` up to 2^62 and `|self| <= 1.1 · 2^62`, as roots of unity with norms and
    /// compensations have, the cross sum stays below `2 · 2^30 · 2^31 + √2 · 1.1 · 2^30 · 2^31 < 2^63`. Entries of
    /// Bluestein's kernel have components up to 2^62, a modulus up to `√2 · 2^62`; they meet words below 2^61, and the sum
    /// stays below `2 · 2^29 · 2^31 + 2 · 2^30 · 2^31 < 2^63`. The tests below look at every corner of both.
    #[inline(always)]
    pub(crate) fn rotate(&self, y: Complex<i64>) -> Complex<i64> {
        debug_assert!(y.re.unsigned_abs() <= 1 << 62 && y.im.unsigned_abs() <= 1 << 62);
        let wide = |(high, low): (i32, i32)| (i64::from(high), i64::from(low));
        let (tr_high, tr_low) = wide(self.real);
        let (ti_high, ti_low) = wide(self.imaginary);
        let (yr_high, yr_low) = halves(y.re);
        let (yi_high, yi_low) = halves(y.im);
        let join = |high: i64, cross: i64| (high << 2) + ((cross + (1 << 29)) >> 30);
        Complex::new(
            join(
                yr_high * tr_high - yi_high * ti_high,
                yr_high * tr_low + yr_low * tr_high - yi_high * ti_low - yi_low * ti_high,
            ),
            join(
                yr_high * ti_high + yi_high * tr_high,
                yr_high * ti_low + yr_low * ti_high + yi_high * tr_low + yi_low * tr_high,
            ),
        )
    }
}

impl Twiddle {
    /// Rotates a row: the same angle for every line.
    #[inline(always)]
    pub(crate) fn rotate_row<const L: usize, V: Vectors<L>>(
        &self,
        y: Pair<V::Words>,
    ) -> Pair<V::Words> {
        let angles = Angles {
            real: (V::splat_low(self.real.0), V::splat_low(self.real.1)),
            imaginary: (
                V::splat_low(self.imaginary.0),
                V::splat_low(self.imaginary.1),
            ),
        };
        rotate::<L, V>(y, angles)
    }

    /// [`Twiddle::rotate_row`] for words below 2^31, whose high halves are zero: a third of the products is left.
    #[inline(always)]
    pub(crate) fn rotate_short_row<const L: usize, V: Vectors<L>>(
        &self,
        (re, im): Pair<V::Words>,
    ) -> Pair<V::Words> {
        let (real, imaginary) = (V::splat_low(self.real.0), V::splat_low(self.imaginary.0));
        let multiply = V::multiply_low;
        let rounded = inlined(
            #[inline(always)]
            |product: V::Words| V::shift_right(V::add(product, V::splat(1 << 29)), 30),
        );
        (
            rounded(V::subtract(multiply(re, real), multiply(im, imaginary))),
            rounded(V::add(multiply(re, imaginary), multiply(im, real))),
        )
    }
}

/// A table of complex entries scaled by 2^62, real and imaginary parts apart, to be read by every lane at a place of its
/// own.
#[derive(Debug, Default)]
pub struct TwiddleTable {
    real: Vec<i64>,
    imaginary: Vec<i64>,
}

impl FromIterator<Complex<i64>> for TwiddleTable {
    fn from_iter<I: IntoIterator<Item = Complex<i64>>>(entries: I) -> Self {
        let entries = entries.into_iter();
        let count = entries.size_hint().0;
        let (mut real, mut imaginary) = (with_capacity(count), with_capacity(count));
        for entry in entries {
            push(&mut real, entry.re);
            push(&mut imaginary, entry.im);
        }
        TwiddleTable { real, imaginary }
    }
}

impl TwiddleTable {
    pub(crate) fn get(&self, place: usize) -> Complex<i64> {
        Complex::new(self.real[place], self.imaginary[place])
    }

    pub(crate) fn table_bytes(&self) -> usize {
        2 * size_of::<i64>() * self.real.len()
    }

    pub fn entries(&self) -> impl Iterator<Item = Complex<i64>> {
        (0..self.real.len()).map(|place| self.get(place))
    }

    /// The entries at `places`, none of which is above `largest`.
    #[inline(always)]
    pub(crate) fn gather<const L: usize, V: Vectors<L>>(
        &self,
        places: V::Words,
        largest: usize,
    ) -> Pair<V::Words> {
        assert!(largest < self.real.len() && largest < self.imaginary.len());
        // SAFETY: the largest place lies within both tables.
        unsafe {
            (
                V::gather(&self.real, places),
                V::gather(&self.imaginary, places),
            )
        }
    }

    /// The entries from a place on, one for every lane.
    #[inline(always)]
    pub(crate) fn load<const L: usize, V: Vectors<L>>(&self, start: usize) -> Pair<V::Words> {
        let row = inlined(
            #[inline(always)]
            |table: &[i64]| match table[start..].first_chunk::<L>() {
                Some(row) => V::load(row),
                None => unreachable!("every lane has an entry"),
            },
        );
        (row(&self.real), row(&self.imaginary))
    }
}

/// Table entries of all lanes: high and low halves, each in the lower 32 bits of its word.
#[derive(Clone, Copy)]
pub(crate) struct Angles<W> {
    pub(crate) real: Pair<W>,
    pub(crate) imaginary: Pair<W>,
}

impl<W: Copy> Angles<W> {
    /// From components scaled by 2^62.
    #[inline(always)]
    pub(crate) fn new<const L: usize, V: Vectors<L, Words = W>>((re, im): Pair<W>) -> Self {
        Angles {
            real: (high_half::<L, V>(re), re),
            imaginary: (high_half::<L, V>(im), im),
        }
    }
}

/// The high signed half, in the lower 32 bits.
#[inline(always)]
fn high_half<const L: usize, V: Vectors<L>>(x: V::Words) -> V::Words {
    V::shift_right(V::add(x, V::splat(1 << 31)), 32)
}

/// [`Twiddle::rotate`] for every lane. The low signed half of a word is its lower 32 bits as they are.
#[inline(always)]
pub(crate) fn rotate<const L: usize, V: Vectors<L>>(
    (re, im): Pair<V::Words>,
    angles: Angles<V::Words>,
) -> Pair<V::Words> {
    let (re_high, im_high) = (high_half::<L, V>(re), high_half::<L, V>(im));
    let (tr_high, tr_low) = angles.real;
    let (ti_high, ti_low) = angles.imaginary;
    let multiply = V::multiply_low;
    let join = inlined(
        #[inline(always)]
        |high: V::Words, cross: V::Words| {
            let cross = V::shift_right(V::add(cross, V::splat(1 << 29)), 30);
            V::add(V::shift_left(high, 2), cross)
        },
    );
    let high_re = V::subtract(multiply(re_high, tr_high), multiply(im_high, ti_high));
    let high_im = V::add(multiply(re_high, ti_high), multiply(im_high, tr_high));
    let cross_re = V::subtract(
        V::add(multiply(re_high, tr_low), multiply(re, tr_high)),
        V::add(multiply(im_high, ti_low), multiply(im, ti_high)),
    );
    let cross_im = V::add(
        V::add(multiply(re_high, ti_low), multiply(re, ti_high)),
        V::add(multiply(im_high, tr_low), multiply(im, tr_high)),
    );
    (join(high_re, cross_re), join(high_im, cross_im))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_the_imaginary_unit_rotate_exactly() {
        let y = Complex::new(0x1234_5678_9abc_def1, -0x0fed_cba9_8765_4321);
        assert_eq!(Twiddle::new(1 << 62, 0).rotate(y), y);
        assert_eq!(
            Twiddle::new(0, 1 << 62).rotate(y),
            Complex::new(-y.im, y.re)
        );
    }

    #[test]
    fn short_words_rotate_like_long_ones_in_64_and_in_32_bits() {
        use crate::simd::{Portable, Vectors};
        let mut state = 0x2545_f491_4f6c_dd1du64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state as i64) >> 1
        };
        for round in 0..100_000 {
            // Of four digits or fewer, and table entries a little above 1 in modulus.
            let y = Complex::new(next() >> (33 + round % 30), next() >> (33 + round % 30));
            let t = Twiddle::new(next() / 2, next() / 2);
            let right = t.rotate(y);
            let (re, im) = t.rotate_short_row::<1, Portable>(([y.re], [y.im]));
            assert_eq!((re[0], im[0]), (right.re, right.im));
            let short = [[y.re as i32, y.im as i32]];
            let short = <Portable as Vectors<1>>::rotate_halves(short, t.real.0, t.imaginary.0);
            assert_eq!(short[0].map(i64::from), [right.re, right.im]);
        }
    }

    /// Components whose halves are at the ends of their ranges or next to zero, up to `largest`.
    fn corners(largest: i64) -> Vec<i64> {
        let top = (largest + (1 << 31)) >> 32;
        let highs = [-top, 1 - top, -1, 0, 1, top - 1, top];
        let lows = [-(1i64 << 31), 1 - (1 << 31), -1, 0, 1, (1 << 31) - 1];
        let mut all: Vec<i64> = highs
            .iter()
            .flat_map(|high| lows.map(|low| (high << 32) + low))
            .chain([largest, -largest])
            .filter(|x| x.unsigned_abs() <= largest as u64)
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Rotates and compares with the exact product; an intermediate sum beyond 64 bits fails the test.
    fn check_error(y: Complex<i64>, t: Complex<i64>) {
        let got = Twiddle::new(t.re, t.im).rotate(y);
        let wide = |x: i64| i128::from(x);
        let exact_re = wide(y.re) * wide(t.re) - wide(y.im) * wide(t.im);
        let exact_im = wide(y.re) * wide(t.im) + wide(y.im) * wide(t.re);
        let unit = f64::from(62).exp2();
        let error_re = ((wide(got.re) << 62) - exact_re) as f64 / unit;
        let error_im = ((wide(got.im) << 62) - exact_im) as f64 / unit;
        assert!(error_re.abs() <= 2.5 && error_im.abs() <= 2.5, "{y} {t}");
        let modulus = error_re.hypot(error_im);
        assert!(modulus <= (2.0 + 0.5f64.sqrt()) * (1.0 + 1e-12), "{y} {t}");
    }

    // What is left out is the product of the low halves, linear in each of them, and every intermediate sum is linear in
    // each half: the largest values are at the ends of the halves' ranges, so that all inputs are as good as these.
    #[test]
    fn rotation_overflows_at_no_corner_and_is_within_its_error() {
        let words = corners(1 << 62);
        // A disc's extremes along (±1, ±1) and along the axes: sums of equal and of single halves.
        let modulus = 1.1 * f64::from(62).exp2();
        let (diagonal, axis) = ((modulus * 0.5f64.sqrt()) as i64, modulus as i64);
        let mut angles: Vec<Complex<i64>> = Vec::new();
        for &re in &corners(diagonal) {
            angles.extend(corners(diagonal).iter().map(|&im| Complex::new(re, im)));
        }
        for &one in &corners(axis) {
            angles.extend([Complex::new(one, 0), Complex::new(0, one)]);
        }
        for &re in &words {
            for &im in &words {
                for &angle in &angles {
                    check_error(Complex::new(re, im), angle);
                }
            }
        }
    }

    #[test]
    fn rotation_by_kernel_entries_overflows_at_no_corner() {
        let (words, entries) = (corners((1 << 61) - 1), corners(1 << 62));
        for &re in &words {
            for &im in &words {
                for &t_re in &entries {
                    for &t_im in &entries {
                        check_error(Complex::new(re, im), Complex::new(t_re, t_im));
                    }
                }
            }
        }
    }

    #[test]
    fn rotation_is_within_its_error_of_the_exact_product() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state as i64) >> 2
        };
        for _ in 0..100_000 {
            let (y, t) = (
                Complex::new(next(), next()),
                Complex::new(next() / 2, next() / 2),
            );
            let got = Twiddle::new(t.re, t.im).rotate(y);
            let wide = |x: i64| i128::from(x);
            let exact_re = wide(y.re) * wide(t.re) - wide(y.im) * wide(t.im);
            let exact_im = wide(y.re) * wide(t.im) + wide(y.im) * wide(t.re);
            // Two dropped products of at most 1 unit each, and half a unit of rounding.
            let limit = (5i128 << 62) / 2;
            assert!(((wide(got.re) << 62) - exact_re).abs() <= limit);
            assert!(((wide(got.im) << 62) - exact_im).abs() <= limit);
        }
    }
}
