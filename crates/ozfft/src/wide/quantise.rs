//! Numbers of the caller's arrays into words: exact splitting in floating point, a rounding to the unit of the line.
//!
//! A line's unit is `2^(e-125)` with `2^e` above every component. Both parts of a double-double number are rounded to it, to nearest, so a
//! word is within one unit.

use super::double_double::{DoubleDouble, two_sum};
use super::words::{
    ComplexWord, LANES, Limbs, Point, WORD_BITS, negated, shifted, to_integer, to_limbs,
};
use crate::matrix_unit::Task;
use crate::stages::numbers::Placement;
use crate::stages::quantise::LineProperties;
use crate::workspace::ReadArray;
use num_complex::Complex;

/// An array of the caller.
#[derive(Clone, Copy)]
pub(super) enum Numbers<'a> {
    Complex(ReadArray<'a, Complex<DoubleDouble>>),
    Real(ReadArray<'a, DoubleDouble>),
    /// The first half of a spectrum whose other half mirrors it, of so many points in all.
    Half(ReadArray<'a, Complex<DoubleDouble>>, usize),
}

/// A line to be read, conjugated where the transform is an inverse one.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) numbers: Numbers<'a>,
    pub(super) place: Placement,
    pub(super) conjugate: bool,
}

impl Line<'_> {
    /// Element `i`: real part and imaginary part, high and low.
    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> [f64; 4] {
        // SAFETY: lines are read before anything is written to them, by the thread that writes them.
        let value = unsafe {
            match self.numbers {
                Numbers::Complex(array) => array.get(self.place.at(i)),
                Numbers::Real(array) => {
                    Complex::new(array.get(self.place.at(i)), DoubleDouble::ZERO)
                }
                Numbers::Half(array, n) if 2 * i > n => {
                    let value = array.get(self.place.at(n - i));
                    Complex::new(value.re, -value.im)
                }
                Numbers::Half(array, n) => {
                    let mut value = array.get(self.place.at(i));
                    // No real signal has these; a NaN there still is one.
                    if (i == 0 || 2 * i == n) && value.im.has_finite_sum() {
                        value.im = DoubleDouble::ZERO;
                    }
                    value
                }
            }
        };
        let im = if self.conjugate { -value.im } else { value.im };
        [value.re.high, value.re.low, im.high, im.low]
    }
}

/// Numbers of eight lines in the memory of a point: `[part][lane]`.
type Floats = [[f64; LANES]; 4];

/// `2^exponent`; 0 below the normal numbers, infinite above.
#[inline(always)]
pub(super) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023).clamp(0, 2047) as u64) << 52)
}

/// 1.5 · 2^52: adding it rounds to an integer, which then stands in the last bits.
pub(super) const MAGIC: f64 = 6_755_399_441_055_744.0;

/// A number below 2^126 in magnitude as `a·2^84 + b·2^42 + c`, rounded to an integer.
#[inline(always)]
fn thirds(x: f64) -> [i64; 3] {
    const UPPER: f64 = 19_342_813_113_834_066_795_298_816.0; // 2^84
    const LOWER: f64 = 4_398_046_511_104.0; // 2^42
    let integer = |shifted: f64| (shifted.to_bits() as i64).wrapping_sub(MAGIC.to_bits() as i64);
    let a = x * (1.0 / UPPER) + MAGIC;
    let rest = x - (a - MAGIC) * UPPER;
    let b = rest * (1.0 / LOWER) + MAGIC;
    let rest = rest - (b - MAGIC) * LOWER;
    let c = rest + MAGIC;
    [integer(a), integer(b), integer(c)]
}

/// The word `high + low`, both in units of the line.
#[inline(always)]
fn word(high: f64, low: f64) -> Limbs {
    let ([a1, b1, c1], [a2, b2, c2]) = (thirds(high), thirds(low));
    let (a, b, c) = (a1 + a2, b1 + b2, c1 + c2);
    let s1 = (b << 10) + (c >> 32);
    let s2 = (a << 20) + (s1 >> 32);
    [c as u32, s1 as u32, s2 as u32, (s2 >> 32) as u32]
}

/// Result of [`Quantise`] for every lane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quantised {
    /// Numbers are words times 2 to this power.
    pub(super) exponents: [i32; LANES],
    pub(super) properties: [LineProperties; LANES],
}

/// Brings elements of eight lines under an exponent for each line. `place` says where in the panel an element goes, and
/// `element` reads it.
pub(super) struct Quantise<'a, P, E> {
    pub(super) count: usize,
    pub(super) place: P,
    pub(super) element: E,
    pub(super) panel: &'a mut [Point],
}

impl<P, E> Task for Quantise<'_, P, E>
where
    P: Fn(usize) -> usize,
    E: Fn(usize, usize) -> [f64; 4],
{
    type Output = Quantised;

    #[inline(always)]
    fn run(self) -> Quantised {
        // Largest magnitudes of real and imaginary parts, as bits: these order like the numbers, NaN above all.
        let mut largest = [[0u64; LANES]; 2];
        for i in 0..self.count {
            let floats: &mut Floats = bytemuck::cast_mut(&mut self.panel[(self.place)(i)]);
            for lane in 0..LANES {
                let number = (self.element)(i, lane);
                for part in 0..4 {
                    floats[part][lane] = number[part];
                }
            }
            for part in 0..2 {
                for lane in 0..LANES {
                    let (high, low) = two_sum(floats[2 * part][lane], floats[2 * part + 1][lane]);
                    floats[2 * part][lane] = high;
                    floats[2 * part + 1][lane] = low;
                    let magnitude = high.to_bits() & (u64::MAX >> 1);
                    largest[part][lane] = largest[part][lane].max(magnitude);
                }
            }
        }
        let mut found = Quantised {
            exponents: [0; LANES],
            properties: [LineProperties::ZERO; LANES],
        };
        let mut scales = [[0.0; LANES]; 2];
        for lane in 0..LANES {
            let field = (largest[0][lane].max(largest[1][lane]) >> 52) as i32;
            found.properties[lane] = LineProperties {
                not_finite: field == 0x7ff,
                has_real: largest[0][lane] != 0,
                has_imaginary: largest[1][lane] != 0,
            };
            // Numbers are below 2^(field - 1022). The scale may be out of range where its two factors are not.
            let shift = WORD_BITS - (field.min(0x7fe) - 1022);
            found.exponents[lane] = -shift;
            if field != 0x7ff {
                scales[0][lane] = power_of_two(shift / 2);
                scales[1][lane] = power_of_two(shift - shift / 2);
            }
        }
        for i in 0..self.count {
            let point = &mut self.panel[(self.place)(i)];
            let floats: Floats = bytemuck::cast(*point);
            for part in 0..2 {
                for lane in 0..LANES {
                    // Lines that are not finite become zeros here, and NaN at the end.
                    let finite = scales[0][lane] != 0.0;
                    let scaled = |x: f64| {
                        let x = if finite { x } else { 0.0 };
                        x * scales[0][lane] * scales[1][lane]
                    };
                    let (high, low) = (floats[2 * part][lane], floats[2 * part + 1][lane]);
                    point.set(part * LANES + lane, word(scaled(high), scaled(low)));
                }
            }
        }
        found
    }
}

/// Exponent of words that are zero: below all others.
pub(super) const ZERO_EXPONENT: i32 = i32::MIN / 2;

/// Bits of the larger component's magnitude.
#[inline(always)]
fn bits(word: &ComplexWord) -> i32 {
    let magnitude = |limbs: Limbs| to_integer(limbs).unsigned_abs();
    128 - (magnitude(word.re) | magnitude(word.im)).leading_zeros() as i32
}

/// Brings words with exponents of their own under one exponent for each lane; returns these.
pub(super) fn align(
    count: usize,
    place: impl Fn(usize) -> usize,
    element: impl Fn(usize, usize) -> (ComplexWord, i32),
    panel: &mut [Point],
) -> [i32; LANES] {
    let mut exponents = [ZERO_EXPONENT; LANES];
    for (lane, exponent) in exponents.iter_mut().enumerate() {
        for i in 0..count {
            let (word, own) = element(i, lane);
            let bits = bits(&word);
            if bits > 0 {
                *exponent = (*exponent).max(own + bits - WORD_BITS);
            }
        }
        for i in 0..count {
            let (word, own) = element(i, lane);
            let point = &mut panel[place(i)];
            let moved = |limbs: Limbs| to_limbs(shifted(to_integer(limbs), own - *exponent));
            point.set(lane, moved(word.re));
            point.set(LANES + lane, moved(word.im));
        }
    }
    exponents
}

/// A lane of a point.
#[inline(always)]
pub(super) fn lane_of(point: &Point, lane: usize) -> ComplexWord {
    ComplexWord {
        re: point.get(lane),
        im: point.get(LANES + lane),
    }
}

pub(super) fn conjugated(word: ComplexWord) -> ComplexWord {
    ComplexWord {
        im: negated(word.im),
        ..word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_numbers_in_units_of_the_line() {
        let numbers = [
            (1.0, 0.0, 1i128 << 124),
            (-1.0, 2f64.powi(-124), 1 - (1 << 124)),
            (
                1.0 + f64::EPSILON,
                -2f64.powi(-60),
                (1 << 124) + (1 << 72) - (1 << 64),
            ),
            (2f64.powi(-125), 0.0, 0),
            (1.5 * 2f64.powi(-124), 0.0, 2),
            (-0.75, 0.0, -3 << 122),
        ];
        for (high, low, expected) in numbers {
            let mut panel = [Point::ZERO; 2];
            let found = Quantise {
                count: 2,
                place: |i| i,
                element: |i, _| {
                    if i == 0 {
                        [high, low, 0.0, 0.0]
                    } else {
                        [1.0, 0.0, 0.0, 0.0]
                    }
                },
                panel: &mut panel,
            }
            .run();
            assert_eq!(found.exponents, [-124; LANES]);
            assert_eq!(to_integer(panel[0].get(3)), expected, "{high} {low}");
        }
    }

    #[test]
    fn words_with_different_exponents_are_aligned() {
        let words = [(3i128 << 100, 5), (1 << 80, 30), (0, 4000), (1, -90)];
        let mut panel = [Point::ZERO; 4];
        let element = |i: usize, _: usize| {
            let (re, exponent) = words[i];
            let re = to_limbs(re);
            (
                ComplexWord {
                    re,
                    im: negated(re),
                },
                exponent,
            )
        };
        let exponents = align(4, |i| i, element, &mut panel);
        // The second has 81 bits above 2^30; zeros do not count.
        assert_eq!(exponents, [30 + 81 - WORD_BITS; LANES]);
        let aligned: Vec<i128> = panel.iter().map(|point| to_integer(point.get(5))).collect();
        assert_eq!(aligned, [3 << 119, 1 << 124, 0, 0]);
        assert_eq!(to_integer(panel[0].get(LANES)), -3 << 119);
    }

    /// A word of -1 counted as zero: beside zeros it was lost, beside smaller words it was moved out of its place.
    #[test]
    fn words_of_minus_one_are_not_zero_when_aligned() {
        let one_line = |words: [(i128, i32); 3]| {
            let mut panel = [Point::ZERO; 3];
            let element = |i: usize, _: usize| {
                let (re, exponent) = words[i];
                let re = to_limbs(re);
                (ComplexWord { re, im: re }, exponent)
            };
            let exponent = align(3, |i| i, element, &mut panel)[0];
            (exponent, panel.map(|point| to_integer(point.get(0))))
        };
        for exponent in [-300, 0, 300] {
            let found = one_line([(0, exponent), (-1, exponent), (0, exponent)]);
            assert_eq!(found, (exponent + 1 - WORD_BITS, [0, -1 << 124, 0]));
        }
        // 2^-30 beside -1.
        let found = one_line([(1, -30), (-1, 0), (-1, -30)]);
        assert_eq!(found, (1 - WORD_BITS, [1 << 94, -1 << 124, -1 << 94]));
        // Components stay below 2^125, negative powers of two as well.
        let found = one_line([(-1 << 20, 5), (1 << 20, 5), ((1 << 20) - 1, 5)]);
        let expected = [-1 << 124, 1 << 124, (1 << 124) - (1 << 104)];
        assert_eq!(found, (5 + 21 - WORD_BITS, expected));
    }
}
