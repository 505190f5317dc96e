//! Numbers with exponents of their own become integers under one common exponent: the first of the three roundings.
//!
//! The exponent is chosen by the *column sums* of the first step, not by the largest number: if the magnitudes in
//! every column add up to less than `2^word_bits` units, no output of the step can be larger, so the sum bounds the
//! growth as well. A flat line then keeps `log2 n1` bits of head-room, while a single spike uses all the bits there
//! are and the small values beside it keep theirs. The sums need not be exact: an upper bound formed from the leading
//! 21 bits serves, and is the same integer in whatever order it is formed.

use crate::bailey::Panel;
use crate::lanes::Row;
use num_complex::Complex;

/// Leading bits of a magnitude that enter the column sums.
const SUM_BITS: i32 = 21;

/// Shape of a line as its first step sees it: `columns` columns of every `columns`-th element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) columns: usize,
    pub(crate) word_bits: u32,
}

/// What quantising found out about every line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quantised<const L: usize> {
    /// 0 for a line of zeros.
    pub(crate) exponents: [i32; L],
    pub(crate) nature: [Nature; L],
}

/// What is known of the numbers of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Nature {
    /// There is a NaN or an infinity; the words are all zero.
    pub(crate) not_finite: bool,
    /// Some real part is not zero.
    pub(crate) has_real: bool,
    /// Some imaginary part is not zero.
    pub(crate) has_imaginary: bool,
}

impl Nature {
    pub(crate) const ZERO: Nature = Nature {
        not_finite: false,
        has_real: false,
        has_imaginary: false,
    };

    /// What is known of two lines, or parts of a line, together.
    #[inline(always)]
    pub(crate) fn with(self, other: Nature) -> Nature {
        Nature {
            not_finite: self.not_finite | other.not_finite,
            has_real: self.has_real | other.has_real,
            has_imaginary: self.has_imaginary | other.has_imaginary,
        }
    }

    /// As bits, for sharing between threads.
    pub(crate) fn to_bits(self) -> u8 {
        u8::from(self.not_finite) | u8::from(self.has_real) << 1 | u8::from(self.has_imaginary) << 2
    }

    pub(crate) fn from_bits(bits: u8) -> Nature {
        Nature {
            not_finite: bits & 1 != 0,
            has_real: bits & 2 != 0,
            has_imaginary: bits & 4 != 0,
        }
    }
}

/// A number as sign, integer magnitude and exponent: `±magnitude · 2^exponent`.
///
/// `scale` is the bit position just above the magnitude's largest possible bit.
trait Decode: Copy {
    fn magnitude(bits: i64) -> u64;
    fn exponent(bits: i64, given: i32) -> i32;
    fn scale(bits: i64, given: i32) -> i32;
    fn finite(bits: i64) -> bool;
}

/// The bits of an f64.
#[derive(Clone, Copy)]
struct Float;

impl Decode for Float {
    #[inline(always)]
    fn magnitude(bits: i64) -> u64 {
        let field = (bits >> 52) & 0x7ff;
        let hidden = u64::from(field != 0) << 52;
        (bits as u64 & ((1 << 52) - 1)) | hidden
    }
    #[inline(always)]
    fn exponent(bits: i64, _: i32) -> i32 {
        (((bits >> 52) & 0x7ff) as i32).max(1) - 1075
    }
    #[inline(always)]
    fn scale(bits: i64, given: i32) -> i32 {
        Self::exponent(bits, given) + 64 - Self::magnitude(bits).leading_zeros() as i32
    }
    #[inline(always)]
    fn finite(bits: i64) -> bool {
        (bits >> 52) & 0x7ff != 0x7ff
    }
}

/// A word with the exponent of the block that it comes from.
#[derive(Clone, Copy)]
struct ScaledWord;

impl Decode for ScaledWord {
    #[inline(always)]
    fn magnitude(bits: i64) -> u64 {
        bits.unsigned_abs()
    }
    #[inline(always)]
    fn exponent(_: i64, given: i32) -> i32 {
        given
    }
    #[inline(always)]
    fn scale(bits: i64, given: i32) -> i32 {
        given + 64 - Self::magnitude(bits).leading_zeros() as i32
    }
    #[inline(always)]
    fn finite(_: i64) -> bool {
        true
    }
}

/// Rounds one number to a multiple of `2^unit`: to nearest, halves away from zero.
#[inline(always)]
fn to_word<D: Decode>(bits: i64, given: i32, unit: i32) -> i64 {
    let magnitude = D::magnitude(bits);
    let shift = D::exponent(bits, given) - unit;
    let left = magnitude << shift.clamp(0, 63);
    let right = (-shift).clamp(1, 63);
    let rounded = if shift <= -64 {
        0
    } else {
        (magnitude + (1 << (right - 1))) >> right
    };
    let word = (if shift >= 0 { left } else { rounded }) as i64;
    if bits < 0 { -word } else { word }
}

/// The leading bits of a magnitude in units of `2^unit`, rounded up.
#[inline(always)]
fn leading<D: Decode>(bits: i64, given: i32, unit: i32) -> u32 {
    let right = unit - D::exponent(bits, given);
    let magnitude = D::magnitude(bits);
    let floor = if right >= 64 {
        0
    } else if right >= 0 {
        magnitude >> right
    } else {
        // A short word with a large exponent; fits because the scale bounds it.
        magnitude << (-right).min(63)
    };
    floor as u32 + 1
}

/// Chooses the exponent of every line and rounds its elements, in place.
#[inline(always)]
fn quantise<const L: usize, D: Decode>(
    panel: &mut Panel<'_, L>,
    given: impl Fn(usize) -> [i32; L],
    shape: Columns,
) -> Quantised<L> {
    const NOTHING: i32 = i32::MIN;
    let n = panel.re.len();
    let mut scale = [NOTHING; L];
    let mut finite = [true; L];
    let mut any = [[0u64; L]; 2];
    for i in 0..n {
        let given = given(i);
        for (row, any) in [&panel.re[i], &panel.im[i]].into_iter().zip(&mut any) {
            for lane in 0..L {
                finite[lane] &= D::finite(row[lane]);
                let magnitude = D::magnitude(row[lane]);
                any[lane] |= magnitude;
                let found = if magnitude == 0 {
                    NOTHING
                } else {
                    D::scale(row[lane], given[lane])
                };
                scale[lane] = scale[lane].max(found);
            }
        }
    }
    let mut unit = [0i32; L];
    for lane in 0..L {
        unit[lane] = scale[lane].max(-100_000) - SUM_BITS;
    }
    let mut largest = [0u32; L];
    for column in 0..shape.columns {
        let mut sum = [0u32; L];
        for i in (column..n).step_by(shape.columns) {
            let given = given(i);
            for row in [&panel.re[i], &panel.im[i]] {
                for lane in 0..L {
                    sum[lane] =
                        sum[lane].wrapping_add(leading::<D>(row[lane], given[lane], unit[lane]));
                }
            }
        }
        for lane in 0..L {
            largest[lane] = largest[lane].max(sum[lane]);
        }
    }
    let mut exponents = [0i32; L];
    let mut keep = [0i64; L];
    for lane in 0..L {
        if scale[lane] != NOTHING && finite[lane] {
            let sum_bits = 32 - largest[lane].leading_zeros() as i32;
            exponents[lane] = unit[lane] + sum_bits - shape.word_bits as i32;
            keep[lane] = -1;
        }
    }
    for i in 0..n {
        let given = given(i);
        for row in [&mut panel.re[i], &mut panel.im[i]] {
            for lane in 0..L {
                let bits = row[lane] & keep[lane];
                row[lane] = to_word::<D>(bits, given[lane], exponents[lane]) & keep[lane];
            }
        }
    }
    debug_assert!(
        (0..shape.columns).all(|column| (0..L).all(|lane| {
            column_sum(panel, column, shape.columns, lane)
                <= (1 << shape.word_bits) + (n / shape.columns) as u128
        })),
        "head-room: a column's words add up to more than the word"
    );
    Quantised {
        exponents,
        nature: std::array::from_fn(|lane| Nature {
            not_finite: !finite[lane],
            has_real: any[0][lane] != 0,
            has_imaginary: any[1][lane] != 0,
        }),
    }
}

/// Sum of the magnitudes of all components of a column.
fn column_sum<const L: usize>(
    panel: &Panel<'_, L>,
    column: usize,
    columns: usize,
    lane: usize,
) -> u128 {
    (column..panel.re.len())
        .step_by(columns)
        .map(|i| {
            let size = |row: &Row<L>| u128::from(row[lane].unsigned_abs());
            size(&panel.re[i]) + size(&panel.im[i])
        })
        .sum()
}

/// Quantises floating-point numbers, given as the bits of their components.
#[inline(always)]
pub(crate) fn quantise_floats<const L: usize>(
    panel: &mut Panel<'_, L>,
    shape: Columns,
) -> Quantised<L> {
    quantise::<L, Float>(panel, |_| [0; L], shape)
}

/// Brings words with exponents of their own under one exponent a line.
#[inline(always)]
pub(crate) fn quantise_words<const L: usize>(
    panel: &mut Panel<'_, L>,
    exponents: &[[i32; L]],
    shape: Columns,
) -> [i32; L] {
    quantise::<L, ScaledWord>(panel, |i| exponents[i], shape).exponents
}

/// One complex number as a word of `word_bits` bits with an exponent of its own.
#[inline(always)]
pub(crate) fn word_of(value: Complex<f64>, word_bits: u32) -> (Complex<i64>, i32) {
    let (re, im) = (value.re.to_bits() as i64, value.im.to_bits() as i64);
    let scale = |bits: i64| {
        if Float::magnitude(bits) == 0 {
            i32::MIN
        } else {
            Float::scale(bits, 0)
        }
    };
    let scale = scale(re).max(scale(im));
    if scale == i32::MIN {
        return (Complex::new(0, 0), 0);
    }
    let unit = scale - word_bits as i32;
    let word = |bits| to_word::<Float>(bits, 0, unit);
    (Complex::new(word(re), word(im)), unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantised(values: &[f64], columns: usize) -> (Vec<i64>, Quantised<1>) {
        let mut re: Vec<Row<1>> = values.iter().map(|x| [x.to_bits() as i64]).collect();
        let mut im = vec![[0]; values.len()];
        let shape = Columns {
            columns,
            word_bits: 61,
        };
        let mut panel = Panel {
            re: &mut re,
            im: &mut im,
        };
        let outcome = quantise_floats(&mut panel, shape);
        (re.iter().map(|w| w[0]).collect(), outcome)
    }

    fn line(values: &[f64], columns: usize) -> (Vec<i64>, i32) {
        let (words, outcome) = quantised(values, columns);
        assert!(!outcome.nature[0].not_finite);
        (words, outcome.exponents[0])
    }

    #[test]
    fn column_sums_stay_below_the_word_and_use_its_bits() {
        for scale in [0, 1000, -1000, -1060] {
            let unit = 2f64.powi(scale.max(-1022)) * 2f64.powi(scale - scale.max(-1022));
            let (words, exponent) = line(&[unit, unit / 3.0, -unit / 7.0, unit / 5.0], 2);
            let sums = [words[0].abs() + words[2].abs(), words[1] + words[3]];
            let largest = *sums.iter().max().unwrap();
            assert!(largest <= (1 << 61) + 4, "sum {largest} at scale {scale}");
            if scale > -1000 {
                assert!(largest > 1 << 59, "sum {largest} at scale {scale}");
                let back =
                    words[0] as f64 * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
                assert_eq!(back, unit);
            }
        }
    }

    #[test]
    fn a_spike_leaves_the_small_values_their_bits() {
        let mut values = vec![1e-15; 1024];
        values[5] = 1.0;
        let (words, exponent) = line(&values, 32);
        assert!(exponent <= -59);
        let error = words[0] as f64 * 2f64.powi(exponent) - 1e-15;
        assert!(error.abs() <= 2f64.powi(exponent - 1));
    }

    #[test]
    fn zeros_and_nonfinite_lines_are_told_apart() {
        assert_eq!(line(&[0.0, -0.0, 0.0], 1), (vec![0, 0, 0], 0));
        let (words, outcome) = quantised(&[1.0, f64::INFINITY], 1);
        assert!(outcome.nature[0].not_finite);
        assert_eq!(words, [0, 0]);
    }

    #[test]
    fn halves_round_away_from_zero() {
        let word = |x: f64, unit| to_word::<Float>(x.to_bits() as i64, 0, unit);
        assert_eq!(word(1.5, 0), 2);
        assert_eq!(word(-1.5, 0), -2);
        assert_eq!(word(5.0, 2), 1);
        assert_eq!(word(6.0, 2), 2);
        assert_eq!(word(1.0, 500), 0);
        assert_eq!(to_word::<ScaledWord>(-3, 0, 1), -2);
        assert_eq!(to_word::<ScaledWord>(i64::MAX, 0, 63), 1);
        assert_eq!(to_word::<ScaledWord>(i64::MAX, 0, 64), 0);
    }
}
