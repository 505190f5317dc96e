//! A line of the ntt engine, of any length.
//!
//! With `w_j = exp(-πi j²/n)`, `X_k = w_k Σ_j (x_j w_j)·conj(w_{k-j})`. The chirp repeats after n points for even n, and with the other sign for
//! odd n: so the sum is a cyclic or negacyclic convolution of n points, and nothing is padded. Input times chirp becomes integers under
//! one exponent for the line, the conjugate chirp is a table of integers, the convolution is exact, and each result times the last chirp, exact as
//! well, is rounded once.

use super::budget::{TABLE_BITS, WORD_BITS, Widths};
use crate::error::FftError;
use crate::executor::cpu::{Job, LineTransform};
use crate::executor::cuda::NttLineTables;
use crate::parallel;
use crate::roots::Fixed;
use crate::roots::root_table::{RootTable, Scale};
use crate::sample::Real;
use crate::stages::numbers::{Input, Output};
use crate::stages::quantise::{LineProperties, word_of};
use crate::sync::lock;
use crate::transform::chirp_spectrum::{chirp_roots, square};
use crate::transform::line::Connect;
use exact_convolution::{GaussianConvolution, GaussianWorkspace, LongInteger, Unit, Wrap};
use float_environment::DefaultEnvironment;
use num_complex::Complex;
use std::sync::Mutex;

/// Lines from this length on are divided among threads; shorter ones are shared out among them.
const LARGE: usize = 1 << 15;

/// A planned line.
pub(super) struct NttLine {
    n: usize,
    widths: Widths,
    threads: usize,
    /// `w`, with [`TABLE_BITS`] bits behind the point.
    chirp: Vec<Complex<i64>>,
    /// The same times the mantissa of the norm's factor, where that is not one.
    scaled_chirp: Option<Vec<Complex<i64>>>,
    /// Power of two of the norm's factor.
    exponent: i32,
    /// Without, for a line of one point.
    convolution: Option<GaussianConvolution>,
    /// As many pieces as lines were ever transformed at the same time.
    memory: Mutex<Vec<Memory>>,
}

/// Scratch memory of a line.
struct Memory {
    words: Vec<(Complex<i64>, i32)>,
    convolution: GaussianWorkspace,
}

/// What the words of a line have in common.
struct Found {
    properties: LineProperties,
    /// The unit of the integers that enter the convolution is 2 to this power.
    unit: i32,
}

impl NttLine {
    /// Outputs are scaled by `scale · 2^exponent`.
    pub(super) fn new(
        n: usize,
        widths: Widths,
        (scale, exponent): (&Fixed, i32),
        (unit, threads): (Unit, usize),
    ) -> Result<NttLine, FftError> {
        expect_possible(n)?;
        let convolution = match n {
            1 => None,
            _ => Some(convolution(n, widths, unit)?),
        };
        Ok(NttLine {
            n,
            widths,
            threads,
            chirp: chirp_table(n, &Fixed::one()),
            scaled_chirp: (!scale.is_one()).then(|| chirp_table(n, scale)),
            exponent,
            convolution,
            memory: Mutex::default(),
        })
    }

    /// The input as words with exponents of their own, and the unit under which their products with the chirp add up to what the primes hold.
    fn read(&self, input: &Input<'_, 1>, words: &mut [(Complex<i64>, i32)]) -> Found {
        let mut properties = LineProperties::ZERO;
        let mut top = i32::MIN;
        for (j, word) in words.iter_mut().enumerate() {
            let value = input.element(0, j);
            let found = LineProperties {
                not_finite: !(value.re.is_finite() && value.im.is_finite()),
                has_real: value.re != 0.0,
                has_imaginary: value.im != 0.0,
            };
            properties = properties.with(found);
            if found.not_finite {
                break;
            }
            *word = word_of(value, WORD_BITS);
            if found.has_real || found.has_imaginary {
                top = top.max(word.1);
            }
        }
        if properties.not_finite || !(properties.has_real || properties.has_imaginary) {
            return Found {
                properties,
                unit: 0,
            };
        }
        // An upper bound, the same in any order: in units of the largest number's.
        let sum: u128 = words
            .iter()
            .filter(|(word, _)| word.re != 0 || word.im != 0)
            .map(|&(word, exponent)| {
                let magnitude = word.re.unsigned_abs() + word.im.unsigned_abs();
                let shift = (top - exponent).min(63);
                u128::from((magnitude >> shift) + 1)
            })
            .sum();
        let bits = (u128::BITS - sum.leading_zeros()) as i32;
        Found {
            properties,
            unit: top + bits - self.widths.sum_bits as i32,
        }
    }

    fn transform<T: Real>(
        &self,
        input: &Input<'_, 1>,
        output: &Output<'_, 1>,
        threads: usize,
        memory: &mut Memory,
    ) {
        let Memory { words, convolution } = memory;
        let found = self.read(input, words);
        if found.properties.not_finite {
            return output.fill_nan(0);
        }
        if !(found.properties.has_real || found.properties.has_imaginary) {
            let zero = Complex::new(0.0, 0.0);
            return (0..output.count).for_each(|k| output.put(0, k, zero));
        }
        let chirped = |j: usize| {
            let (word, exponent) = words[j];
            // A zero has no exponent of its own that could be compared with the unit.
            if word == Complex::new(0, 0) {
                return (0, 0);
            }
            let rotated = times(word, self.chirp[j]);
            let shift = found.unit + TABLE_BITS - exponent;
            (rounded(rotated.re, shift), rounded(rotated.im, shift))
        };
        let planned = self.planned();
        if let Err(error) = planned.process(convolution, threads, chirped) {
            unreachable!("the unit keeps sums below the bound: {error}");
        }
        let last = self.scaled_chirp.as_ref().unwrap_or(&self.chirp);
        let exponent = found.unit - self.widths.chirp_bits as i32 - TABLE_BITS
            + self.exponent
            + output.bias[0];
        let results = convolution.results();
        let write = |k: usize| {
            let [re, im] = results.get(k);
            let (x, y) = (last[k].re, last[k].im);
            // Conjugated among integers, where there is no negative zero.
            let imaginary = match (output.real, output.conjugate) {
                (true, _) => Product { high: 0, low: 0 },
                (false, false) => sum_of_products((re, y), (im, x)),
                (false, true) => sum_of_products((re, -y), (im, -x)),
            };
            let real = sum_of_products((re, x), (im, -y));
            let value = Complex::new(
                round_long::<T>(real, exponent),
                round_long::<T>(imaginary, exponent),
            );
            output.put(0, k, self.with_known_zeros(value, k, found.properties));
        };
        if threads == 1 {
            return (0..output.count).for_each(write);
        }
        let piece = output.count.div_ceil(threads);
        parallel::for_each(threads, |number| {
            // Threads inherit the environment of the thread that started them.
            let _environment = DefaultEnvironment::enter();
            let end = output.count.min((number + 1) * piece);
            (number * piece..end).for_each(&write);
        });
    }

    /// The first output and, for even lengths, the middle one of a line of real numbers are real, and those of a line of imaginary numbers imaginary.
    fn with_known_zeros(
        &self,
        mut value: Complex<f64>,
        k: usize,
        properties: LineProperties,
    ) -> Complex<f64> {
        if k == 0 || 2 * k == self.n {
            if !properties.has_imaginary {
                value.im = 0.0;
            }
            if !properties.has_real {
                value.re = 0.0;
            }
        }
        value
    }

    fn planned(&self) -> &GaussianConvolution {
        let planned = self.convolution.as_ref();
        planned.unwrap_or_else(|| unreachable!("a line of one point is copied"))
    }
}

impl<T: Real> LineTransform<T> for NttLine {
    fn is_large(&self) -> bool {
        self.n >= LARGE && self.threads > 1
    }

    fn lines_at_once(&self) -> usize {
        1
    }

    /// Its memory is its own: residues want rows of whole cache lines. (Threads are counted by their workspace.)
    fn workspace_len(&self, _: usize, _: usize) -> usize {
        1
    }

    fn table_bytes(&self) -> usize {
        let chirps = 1 + usize::from(self.scaled_chirp.is_some());
        let convolution = self.convolution.as_ref();
        chirps * self.n * size_of::<Complex<i64>>()
            + convolution.map_or(0, GaussianConvolution::table_bytes)
    }

    fn run(&self, job: &Job<'_, T>, _: &mut [u64], workers: usize) {
        job.connect::<1>(|input, output| {
            if self.n == 1 {
                return copy(input, output);
            }
            let taken = lock(&self.memory).pop();
            let mut memory = taken.unwrap_or_else(|| Memory {
                words: vec![(Complex::new(0, 0), 0); self.n],
                convolution: self.planned().workspace(),
            });
            self.transform::<T>(input, output, workers, &mut memory);
            lock(&self.memory).push(memory);
        });
    }
}

/// Before any table is made.
fn expect_possible(n: usize) -> Result<(), FftError> {
    if n > GaussianConvolution::LONGEST {
        return Err(FftError::Unsupported(format!(
            "the engine ntt has no lines of {n} points, more than {}; take the engine digits",
            GaussianConvolution::LONGEST
        )));
    }
    Ok(())
}

/// The chirp times a factor, with [`TABLE_BITS`] bits behind the point.
fn chirp_table(n: usize, scale: &Fixed) -> Vec<Complex<i64>> {
    let scale = Scale::new(scale);
    chirp_roots(n, |roots, square| {
        let (re, im) = roots.twiddle(square, &scale);
        Complex::new(re, im)
    })
}

/// The conjugate chirp as the operand that stays, and how it continues.
fn fixed_chirp(n: usize, widths: Widths) -> (Wrap, Vec<(i128, i128)>) {
    let drop = RootTable::FRACTION_BITS - widths.chirp_bits;
    let half = 1i128 << (drop - 1);
    let fixed = chirp_roots(n, |roots, square| {
        let power = roots.power(square);
        ((power.re + half) >> drop, (power.im + half) >> drop)
    });
    // (j + n)² is j² + n² modulo 2n: the same for even n, half a turn more for odd n.
    let wrap = match square(n, n) {
        0 => Wrap::Cyclic,
        _ => Wrap::Negacyclic,
    };
    (wrap, fixed)
}

fn convolution(n: usize, widths: Widths, unit: Unit) -> Result<GaussianConvolution, FftError> {
    let (wrap, fixed) = fixed_chirp(n, widths);
    GaussianConvolution::new(unit, widths.primes, wrap, &fixed)
        .map_err(|error| FftError::Unsupported(error.to_string()))
}

/// The same line for a GPU. Outputs are scaled by `scale · 2^exponent`.
pub(super) fn tables(
    n: usize,
    widths: Widths,
    (scale, exponent): (&Fixed, i32),
) -> Result<NttLineTables, FftError> {
    expect_possible(n)?;
    let (wrap, fixed) = match n {
        1 => (Wrap::Cyclic, Vec::new()),
        _ => fixed_chirp(n, widths),
    };
    Ok(NttLineTables {
        n,
        primes: widths.primes,
        sum_bits: widths.sum_bits,
        exponent: exponent - widths.chirp_bits as i32 - TABLE_BITS,
        fixed,
        negacyclic: wrap == Wrap::Negacyclic,
        chirp: chirp_table(n, &Fixed::one()),
        scaled_chirp: (!scale.is_one()).then(|| chirp_table(n, scale)),
    })
}

fn times(a: Complex<i64>, b: Complex<i64>) -> Complex<i128> {
    let product = |x: i64, y: i64| i128::from(x) * i128::from(y);
    Complex::new(
        product(a.re, b.re) - product(a.im, b.im),
        product(a.re, b.im) + product(a.im, b.re),
    )
}

/// A number below 2^124 over 2^shift, to the nearest integer, halves upwards.
fn rounded(number: i128, shift: i32) -> i128 {
    debug_assert!(
        shift > 0,
        "integers are shorter than products with the chirp"
    );
    match shift {
        125.. => 0,
        _ => (number + (1 << (shift - 1))) >> shift,
    }
}

/// An integer of up to 254 bits: `high · 2^128 + low`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Product {
    high: i128,
    low: u128,
}

/// `a·x + b·y`, for factors whose squares add up to at most 2^125.
fn sum_of_products((a, x): (LongInteger, i64), (b, y): (LongInteger, i64)) -> Product {
    // Two products of 64 with 62 bits: below √2·2^126.
    let column = |a: i128, b: i128| a * i128::from(x) + b * i128::from(y);
    let first = column(a.low.into(), b.low.into());
    let second = column(a.middle.into(), b.middle.into()) + (first >> 64);
    let third = column(a.high.into(), b.high.into()) + (second >> 64);
    Product {
        high: third,
        low: (second as u64 as u128) << 64 | u128::from(first as u64),
    }
}

/// Leading bits that are kept, and one that says whether there were others: far more than any result has.
const KEPT: u32 = 120;

/// An integer times 2^exponent, rounded once.
fn round_long<T: Real>(number: Product, exponent: i32) -> f64 {
    let negative = number.high < 0;
    let (high, low) = match negative {
        false => (number.high as u128, number.low),
        true => {
            let (low, carry) = (!number.low).overflowing_add(1);
            ((!number.high as u128).wrapping_add(u128::from(carry)), low)
        }
    };
    let bits = match high {
        0 => u128::BITS - low.leading_zeros(),
        _ => 2 * u128::BITS - high.leading_zeros(),
    };
    let shift = bits.saturating_sub(KEPT);
    let (kept, lost) = match shift {
        0 => (low, false),
        1..128 => (
            high << (128 - shift) | low >> shift,
            low << (128 - shift) != 0,
        ),
        128 => (high, low != 0),
        _ => (
            high >> (shift - 128),
            low != 0 || high << (256 - shift) != 0,
        ),
    };
    let magnitude = (kept | u128::from(lost)) as i128;
    let signed = if negative { -magnitude } else { magnitude };
    T::from_fixed(signed, exponent + shift as i32).widen()
}

/// A line of one point: no rounding but that of the scaling between axes.
fn copy(input: &Input<'_, 1>, output: &Output<'_, 1>) {
    let value = input.element(0, 0);
    if !(value.re.is_finite() && value.im.is_finite()) {
        return output.fill_nan(0);
    }
    let value = match output.conjugate {
        true => value.conj(),
        false => value,
    };
    // Zeros are positive.
    let scale = f64::from(output.bias[0]).exp2();
    output.put(0, 0, value * scale + Complex::new(0.0, 0.0));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product_of(high: i128, low: u128) -> Product {
        Product { high, low }
    }

    #[test]
    fn long_integers_are_rounded_once() {
        let exact = 1.0 + f64::EPSILON;
        let two_to = |exponent: f64| exponent.exp2();
        // 2^200 + 2^148 is a number; a half more is a tie, and one far below decides it.
        let high = 1i128 << 72 | 1 << 20;
        assert_eq!(
            round_long::<f64>(product_of(high, 0), 0),
            exact * two_to(200.0)
        );
        let tie = high | 1 << 19;
        let even = 1.0 + 2.0 * f64::EPSILON;
        assert_eq!(
            round_long::<f64>(product_of(tie, 0), -200),
            even,
            "ties to even"
        );
        assert_eq!(round_long::<f64>(product_of(tie, 1), -200), even);
        assert_eq!(
            round_long::<f64>(product_of(tie - 1, u128::MAX), -200),
            exact
        );
        assert_eq!(
            round_long::<f64>(product_of(-1, 1u128.wrapping_neg()), 3),
            -8.0
        );
        assert_eq!(round_long::<f64>(product_of(-1, 0), -128), -1.0);
        assert_eq!(round_long::<f32>(product_of(0, 3), -1), 1.5);
        assert!(round_long::<f64>(product_of(0, 0), 9).is_sign_positive());
        for shift in 0..254 {
            let number = match shift {
                0..128 => product_of(0, 1 << shift),
                _ => product_of(1 << (shift - 128), 0),
            };
            assert_eq!(round_long::<f64>(number, -shift), 1.0, "{shift}");
            let negative = product_of(
                match number.low {
                    0 => -number.high,
                    _ => !number.high,
                },
                number.low.wrapping_neg(),
            );
            assert_eq!(round_long::<f64>(negative, -shift), -1.0, "{shift}");
        }
    }

    #[test]
    fn products_have_all_their_bits() {
        let long = |number: i128| LongInteger::from(number);
        let (a, b) = (i128::MAX / 3, -i128::MAX / 5);
        let (x, y) = ((1 << 62) - 7, -(1i64 << 60) + 3);
        let product = sum_of_products((long(a), x), (long(b), y));
        // Modulo 2^128, and the quotient from the leading bits.
        let low = a
            .wrapping_mul(x.into())
            .wrapping_add(b.wrapping_mul(y.into()));
        assert_eq!(product.low, low as u128);
        let quotient = (a as f64 * x as f64 + b as f64 * y as f64) / 128f64.exp2();
        assert!((product.high as f64 / quotient - 1.0).abs() < 1e-12);
    }
}
