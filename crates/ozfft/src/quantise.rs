//! Numbers with exponents of their own become integers under one common exponent: the first of the three roundings.
//!
//! The exponent is chosen by the *column sums* of the first step, not by the largest number: if the magnitudes in
//! every column add up to less than `2^word_bits` units, no output of the step can be larger, so the sum bounds the
//! growth as well. A flat line then keeps `log2 n1` bits of head-room, while a single spike uses all the bits there
//! are and the small values beside it keep theirs. The sums need not be exact: an upper bound formed from the leading
//! 21 bits serves, and is the same integer in whatever order it is formed.

use num_complex::Complex;

/// Leading bits of a magnitude that enter the column sums.
const SUM_BITS: u32 = 21;

/// A NaN or an infinity was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotFinite;

/// Shape of a line as its first step sees it: `columns` columns of every `columns`-th element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) columns: usize,
    pub(crate) word_bits: u32,
}

/// A finite number as sign, integer magnitude and exponent: `±magnitude · 2^exponent`.
///
/// `scale` is the bit position just above the magnitude's largest possible bit.
trait Component: Copy {
    fn magnitude(self) -> u64;
    fn is_negative(self) -> bool;
    fn exponent(self) -> i32;
    fn scale(self) -> i32;
}

impl Component for f64 {
    #[inline]
    fn magnitude(self) -> u64 {
        let bits = self.to_bits();
        let fraction = bits & ((1 << 52) - 1);
        if (bits >> 52) & 0x7ff == 0 {
            fraction
        } else {
            fraction | (1 << 52)
        }
    }
    #[inline]
    fn is_negative(self) -> bool {
        self.is_sign_negative()
    }
    #[inline]
    fn exponent(self) -> i32 {
        (((self.to_bits() >> 52) & 0x7ff) as i32).max(1) - 1075
    }
    // From the exponent field alone: a subnormal counts as 53 bits long, which spares counting its zeros and costs
    // nothing, because below the smallest exponent there are always enough bits.
    #[inline]
    fn scale(self) -> i32 {
        self.exponent() + 53
    }
}

/// A word with the exponent of the block that it comes from.
#[derive(Debug, Clone, Copy)]
struct ScaledWord {
    word: i64,
    exponent: i32,
}

impl Component for ScaledWord {
    #[inline]
    fn magnitude(self) -> u64 {
        self.word.unsigned_abs()
    }
    #[inline]
    fn is_negative(self) -> bool {
        self.word < 0
    }
    #[inline]
    fn exponent(self) -> i32 {
        self.exponent
    }
    #[inline]
    fn scale(self) -> i32 {
        self.exponent + (64 - self.magnitude().leading_zeros()) as i32
    }
}

/// `magnitude · 2^shift` rounded to nearest, halves away from zero.
#[inline]
fn shifted(magnitude: u64, shift: i32) -> u64 {
    if shift >= 0 {
        magnitude << shift
    } else {
        let right = shift.unsigned_abs();
        if right > 64 {
            0
        } else {
            ((u128::from(magnitude) + (1u128 << (right - 1))) >> right) as u64
        }
    }
}

/// Rounds one component to a multiple of `2^exponent`.
#[inline]
fn to_word<C: Component>(component: C, exponent: i32) -> i64 {
    let magnitude = component.magnitude();
    if magnitude == 0 {
        return 0;
    }
    let word = shifted(magnitude, component.exponent() - exponent) as i64;
    if component.is_negative() { -word } else { word }
}

/// Chooses the exponent and rounds. Returns the exponent, 0 for a line of zeros.
fn quantise<C: Component>(
    n: usize,
    element: impl Fn(usize) -> (C, C),
    shape: Columns,
    words: &mut [Complex<i64>],
) -> i32 {
    let mut scale = i32::MIN;
    for i in 0..n {
        let (re, im) = element(i);
        for component in [re, im] {
            if component.magnitude() != 0 {
                scale = scale.max(component.scale());
            }
        }
    }
    if scale == i32::MIN {
        words[..n].fill(Complex::new(0, 0));
        return 0;
    }
    let unit = scale - SUM_BITS as i32;
    let leading = |component: C| -> u32 {
        let right = unit - component.exponent();
        let magnitude = component.magnitude();
        let floor = match right {
            64.. => 0,
            0..64 => magnitude >> right,
            // A short word with a large exponent; fits because scale bounds it.
            _ => magnitude << -right,
        };
        floor as u32 + 1
    };
    let mut largest = 0u32;
    for column in 0..shape.columns {
        let sum: u32 = (column..n)
            .step_by(shape.columns)
            .map(|i| {
                let (re, im) = element(i);
                leading(re) + leading(im)
            })
            .sum();
        largest = largest.max(sum);
    }
    let sum_bits = 32 - largest.leading_zeros();
    let exponent = unit + sum_bits as i32 - shape.word_bits as i32;
    for (i, word) in words[..n].iter_mut().enumerate() {
        let (re, im) = element(i);
        *word = Complex::new(to_word(re, exponent), to_word(im, exponent));
    }
    debug_assert!(
        (0..shape.columns).all(|column| column_sum(words, column, shape.columns)
            <= (1 << shape.word_bits) + (n / shape.columns) as u128),
        "head-room: a column's words add up to more than the word"
    );
    exponent
}

/// Sum of the magnitudes of all components of a column.
fn column_sum(words: &[Complex<i64>], column: usize, columns: usize) -> u128 {
    words[column..]
        .iter()
        .step_by(columns)
        .map(|w| u128::from(w.re.unsigned_abs()) + u128::from(w.im.unsigned_abs()))
        .sum()
}

/// Quantises floating-point numbers.
pub(crate) fn quantise_floats(
    values: &[Complex<f64>],
    shape: Columns,
    words: &mut [Complex<i64>],
) -> Result<i32, NotFinite> {
    if !values.iter().all(|z| z.re.is_finite() && z.im.is_finite()) {
        return Err(NotFinite);
    }
    Ok(quantise(
        values.len(),
        |i| (values[i].re, values[i].im),
        shape,
        words,
    ))
}

/// Brings words with exponents of their own under one exponent, in place.
pub(crate) fn quantise_words(
    words: &mut [Complex<i64>],
    exponents: &[i32],
    shape: Columns,
    scratch: &mut [Complex<i64>],
) -> i32 {
    let n = words.len();
    let source = &mut scratch[..n];
    source.copy_from_slice(words);
    let scaled = |word: i64, i: usize| ScaledWord {
        word,
        exponent: exponents[i],
    };
    quantise(
        n,
        |i| (scaled(source[i].re, i), scaled(source[i].im, i)),
        shape,
        words,
    )
}

/// One complex number as a word of `word_bits` bits with an exponent of its own.
pub(crate) fn word_of(value: Complex<f64>, word_bits: u32) -> (Complex<i64>, i32) {
    let scale = |x: f64| {
        if x.magnitude() == 0 {
            i32::MIN
        } else {
            x.scale()
        }
    };
    let scale = scale(value.re).max(scale(value.im));
    if scale == i32::MIN {
        return (Complex::new(0, 0), 0);
    }
    let exponent = scale - word_bits as i32;
    (
        Complex::new(to_word(value.re, exponent), to_word(value.im, exponent)),
        exponent,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(values: &[f64], columns: usize) -> (Vec<i64>, i32) {
        let values: Vec<_> = values.iter().map(|&x| Complex::new(x, 0.0)).collect();
        let mut words = vec![Complex::new(7, 7); values.len()];
        let shape = Columns {
            columns,
            word_bits: 61,
        };
        let exponent = quantise_floats(&values, shape, &mut words).unwrap();
        (words.iter().map(|w| w.re).collect(), exponent)
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
        let shape = Columns {
            columns: 1,
            word_bits: 61,
        };
        let bad = [Complex::new(1.0, f64::INFINITY)];
        let mut words = [Complex::new(0, 0)];
        assert_eq!(quantise_floats(&bad, shape, &mut words), Err(NotFinite));
    }

    #[test]
    fn halves_round_away_from_zero() {
        assert_eq!(shifted(3, -1), 2);
        assert_eq!(shifted(5, -2), 1);
        assert_eq!(shifted(u64::MAX, -64), 1);
        assert_eq!(shifted(u64::MAX, -65), 0);
        assert_eq!(to_word(-1.5f64, 0), -2);
    }
}
