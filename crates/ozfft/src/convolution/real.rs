//! Convolutions of real numbers by transforms, with a bound of their error that is computed with them.

use crate::error::FftError;
use crate::functions::planner;
use crate::plan::Plan;
use crate::portable::power_of_two;
use crate::problem::Problem;
use exact_convolution::{ConvolutionError, Which};
use fallible_memory::collected;
use num_complex::Complex;
use std::sync::Arc;

/// Rounding error of f64, relative.
const UNIT: f64 = f64::EPSILON / 2.0;

/// What can be wrong with the operands of a real convolution.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RealConvolutionError {
    /// There is nothing to convolve with.
    #[error("the {which} operand has no elements; both need at least one")]
    Empty {
        /// The operand.
        which: Which,
    },
    /// A number without a convolution.
    #[error("the {which} operand holds {value} at element {index}; clean the data")]
    NotFinite {
        /// The operand.
        which: Which,
        /// The first such element.
        index: usize,
        /// NaN or an infinity.
        value: f64,
    },
    /// The error of sums before rounding is not proven to be below one half.
    #[error(
        "rounding to integers is not proven: the error of a sum may be {bound:e}, and must be below 0.5; use convolve, which is exact for any operands, or shorter or smaller ones"
    )]
    NotProven {
        /// The bound.
        bound: f64,
    },
    /// An integer that no f64 is.
    #[error(
        "the {which} operand holds {value} at element {index}, beyond 2^53; use convolve, which is exact for any operands"
    )]
    TooLarge {
        /// The operand.
        which: Which,
        /// The first such element.
        index: usize,
        /// Its value.
        value: i64,
    },
    /// Arrays of several dimensions whose shapes do not fit.
    #[error(transparent)]
    Shape(ConvolutionError),
    /// A transform could not be planned.
    #[error(transparent)]
    Transform(#[from] FftError),
}

/// The result of [`fftconvolve`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RealConvolution {
    /// The convolution, of as many elements as both operands together less one.
    pub values: Vec<f64>,
    /// No element is farther from the exact one than this, in absolute terms, subnormal numbers included. Infinite where an element overflows.
    pub bound: f64,
}

/// The convolution of real numbers, and a proven bound of the error of each element.
///
/// A long operand is taken in pieces (overlap and add) where that is less work. Values have the same bits on every machine.
///
/// ```
/// let signal: Vec<f64> = (0..10_000).map(|k| f64::from(k % 7)).collect();
/// let smooth = ozfft::convolution::fftconvolve(&signal, &[0.25, 0.5, 0.25])?;
/// assert!((smooth.values[1] - 0.25).abs() <= smooth.bound);
/// assert!(smooth.bound < 1e-12);
/// # Ok::<(), ozfft::convolution::RealConvolutionError>(())
/// ```
pub fn fftconvolve(a: &[f64], b: &[f64]) -> Result<RealConvolution, RealConvolutionError> {
    for (which, numbers) in [(Which::First, a), (Which::Second, b)] {
        if numbers.is_empty() {
            return Err(RealConvolutionError::Empty { which });
        }
        expect_finite(which, numbers)?;
    }
    float_environment::with_default(|| by_pieces(a, b))
}

/// Whether an operand has numbers alone that can be convolved.
pub(super) fn expect_finite(which: Which, numbers: &[f64]) -> Result<(), RealConvolutionError> {
    match numbers.iter().position(|number| !number.is_finite()) {
        None => Ok(()),
        Some(index) => Err(RealConvolutionError::NotFinite {
            which,
            index,
            value: numbers[index],
        }),
    }
}

/// The convolution of integers by transforms in doubles, whose error is proven to be below one half; and its bound.
///
/// The route through floating point: rounding is correct because the bound of [`fftconvolve`] says so, else it is
/// [`RealConvolutionError::NotProven`]. Number-theoretic transforms ([`convolve`](super::convolve)) take less time on processors and have no limit.
///
/// ```
/// let (sums, bound) = ozfft::convolution::convolve_by_digits(&[100; 300], &[-7; 200])?;
/// assert_eq!(sums[250], -140_000);
/// assert!(bound < 0.5);
/// # Ok::<(), ozfft::convolution::RealConvolutionError>(())
/// ```
pub fn convolve_by_digits(a: &[i64], b: &[i64]) -> Result<(Vec<i64>, f64), RealConvolutionError> {
    let (first, second) = (doubles(Which::First, a)?, doubles(Which::Second, b)?);
    let result = fftconvolve(&first, &second)?;
    let bound = result.bound;
    let largest = result
        .values
        .iter()
        .fold(0.0, |most: f64, x| most.max(x.abs()));
    // Beyond 2^52 a sum would have no digits behind its point; the bound is far above one half there.
    if bound < 0.5 && largest < 4503599627370496.0 {
        let rounded = result.values.iter().map(|sum| sum.round() as i64);
        return Ok((collected(rounded), bound));
    }
    Err(RealConvolutionError::NotProven { bound })
}

fn doubles(which: Which, numbers: &[i64]) -> Result<Vec<f64>, RealConvolutionError> {
    match numbers
        .iter()
        .position(|number| number.unsigned_abs() > 1 << 53)
    {
        Some(index) => Err(RealConvolutionError::TooLarge {
            which,
            index,
            value: numbers[index],
        }),
        None => Ok(collected(numbers.iter().map(|&number| number as f64))),
    }
}

/// Whether a length is even and has the factors 2, 3 and 5 alone.
pub(super) fn is_fast(length: usize) -> bool {
    let mut rest = length;
    for factor in [2, 3, 5] {
        while rest != 0 && rest.is_multiple_of(factor) {
            rest /= factor;
        }
    }
    rest == 1 && length.is_multiple_of(2)
}

/// The smallest such length from `least` on, which is at most 2^63. Products are tried and not lengths: between long ones there may be millions of others.
pub(super) fn fast_length(least: usize) -> usize {
    let least = least.max(2) as u128;
    let mut best = least.next_power_of_two();
    let mut fives = 1;
    while fives < best {
        let mut odd = fives;
        while odd < best {
            let twos = least.div_ceil(odd).next_power_of_two().max(2);
            best = best.min(odd * twos);
            odd *= 3;
        }
        fives *= 5;
    }
    usize::try_from(best).unwrap_or_else(|_| unreachable!("{least} elements have no memory"))
}

/// The length of transforms, and the elements of the longer operand that enter one: all of them, or a piece.
pub(super) fn whole_or_pieces(longer: usize, shorter: usize) -> (usize, usize) {
    let length = block_length(longer, shorter);
    (length, (length - shorter + 1).min(longer))
}

/// The length of transforms at which a long operand takes the least work, piece by piece or at once. Whole numbers and one division, so that
/// every machine chooses the same: the bits depend on it.
fn block_length(longer: usize, shorter: usize) -> usize {
    let cost =
        |length: usize, new: usize| f64::from(length.ilog2() + 1) * length as f64 / new as f64;
    let whole = fast_length(longer + shorter - 1);
    let (mut best, mut least) = (whole, cost(whole, longer));
    let mut length = fast_length(2 * shorter);
    while length < whole {
        let this = cost(length, length - shorter + 1);
        if this < least {
            (best, least) = (length, this);
        }
        length = fast_length(2 * length);
    }
    best
}

fn by_pieces(a: &[f64], b: &[f64]) -> Result<RealConvolution, RealConvolutionError> {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let (block, step) = whole_or_pieces(long.len(), short.len());
    let block = Block::new(block)?;
    let length = long.len() + short.len() - 1;
    let kernel = block.spectrum(short)?;
    let mut values = vec![0.0; length];
    let (mut bound, mut before, mut largest) = (0.0_f64, 0.0_f64, 0.0_f64);
    let pieces = long.len().div_ceil(step);
    for (number, piece) in long.chunks(step).enumerate() {
        let (part, error) = block.product(&block.spectrum(piece)?, &kernel)?;
        let place = number * step;
        for (sum, value) in values[place..].iter_mut().zip(&part) {
            *sum += value;
            largest = largest.max(sum.abs());
        }
        // At most two pieces meet in an element: each is at least as long as the shorter operand, or the last.
        bound = bound.max(before + error);
        before = error;
    }
    if pieces > 1 {
        bound += 2.0 * UNIT * largest;
    }
    // A sum of infinities is not a number, and no bound.
    let bound = match values.iter().all(|value| value.is_finite()) && !bound.is_nan() {
        true => bound * (1.0 + 8.0 * UNIT),
        false => f64::INFINITY,
    };
    Ok(RealConvolution { values, bound })
}

/// Transforms of one length.
struct Block {
    length: usize,
    forward: Arc<Plan<f64>>,
    inverse: Arc<Plan<f64>>,
}

/// A transformed operand: the spectrum of its numbers times `2^-exponent`, the largest of which are from 1 to 2.
struct Spectrum {
    values: Vec<Complex<f64>>,
    exponent: i32,
    /// Elements before padding.
    elements: usize,
    norms: Norms,
}

/// Upper bounds of a spectrum that was computed: of √n times the operand's norm, of the error of the whole, and of the largest modulus.
///
/// Operands are zero, or have an element of at least one: what vanishes below the normal numbers has its place in the slack of `1 + …u` then.
/// ([`error_of_product`] says why).
pub(super) struct Norms {
    whole: f64,
    error: f64,
    peak: f64,
}

impl Norms {
    /// Of `n` points, and a transform with a proven relative error.
    fn new(n: usize, norm: f64, peak: f64, bound: f64) -> Norms {
        let whole = (n as f64).sqrt() * norm * (1.0 + 4.0 * UNIT);
        Norms {
            whole,
            // Of the half-spectrum each error counts at most twice.
            error: std::f64::consts::SQRT_2 * bound * whole * (1.0 + 4.0 * UNIT),
            peak,
        }
    }

    /// Of any operand of so many elements up to a magnitude: no modulus of the exact spectrum is larger than the sum of magnitudes.
    pub(super) fn of_magnitudes(n: usize, elements: f64, largest: f64, bound: f64) -> Norms {
        let norm = elements.sqrt() * largest * (1.0 + 4.0 * UNIT);
        let exact = Norms::new(n, norm, 0.0, bound);
        Norms {
            peak: (elements * largest + exact.error) * (1.0 + 4.0 * UNIT),
            ..exact
        }
    }
}

/// A bound of the error of every element of a convolution: the inverse transform, with a proven relative error, of a product of spectra that is off by
/// `rounding` times its modulus.
///
/// Let A, B be the computed spectra, off by at most α and β in norm, p and q their largest moduli, `‖·‖` norms of whole spectra.
///
/// 1. `AB` is off by at most `pβ + qα + αβ`, and by `rounding·min(p‖B‖, q‖A‖)`.
/// 2. The inverse divides that by √n, and adds its own bound times the norm of its result, at most `(1 + 4u)·min(p‖B‖, q‖A‖)/√n`.
/// 3. No element of a vector is larger than its norm.
///
/// Numbers below the normal ones are rounded to multiples of the smallest, `s = 2^-1074`, which no relative error covers. Of operands with an element of at least
/// one, so with norms of at least one, for `n < 2^60` points:
///
/// 4. Scaling an operand is off by at most `s` in an element, its spectrum then by `√n·√n·s` in norm; that the spectrum is rounded adds `√(2n)·s`. Together that is below
///    `√n·2^-1040`, and α is at least `√n·u/2`: the transform's bound contains a rounding of its results. So a slack of one unit of α, `√n·2^-107`, is more, and
///    [`Norms::new`] has a hundred units in the norm. In step 1 these errors are multiplied by p and q as all of α and β are: that is what breaks a bound which adds them at the end.
/// 5. Products of spectra: two products in a component, each off by `s/2` at most; their sum is exact where it is so small. That is `√(2n)·s` in norm, and `√2·s` after the inverse.
/// 6. The inverse transform takes subnormal numbers as all others, and rounds its results: `s/2` in each.
///
/// `tiny` is more than 5 and 6. Integers and what is made of them (`floating.rs`) never come near `s`: spectra are multiples of the unit of a line's words, above 2^-200.
pub(super) fn error_of_product(n: usize, a: &Norms, b: &Norms, rounding: f64, inverse: f64) -> f64 {
    let norm = (a.peak * (b.whole + b.error)).min(b.peak * (a.whole + a.error));
    let product = a.peak * b.error + b.peak * a.error + a.error * b.error + rounding * norm;
    let own = inverse * (1.0 + 4.0 * UNIT) * norm;
    let root = (n as f64).sqrt();
    let tiny = (n as f64 + 100.0) * f64::MIN_POSITIVE;
    (product + own) / root * (1.0 + 100.0 * UNIT) + tiny
}

/// [`error_of_product`] for who transforms and multiplies spectra otherwise, of numbers of any precision and along any number of axes: in all `points` points. Both operands are
/// scaled by powers of two to a largest magnitude from 1 to 2, and are described by upper bounds of their norm and of the largest modulus of the computed spectrum, and by the
/// transform's proven relative error; `inverse` is that of the way back, `rounding` that of a product of complex numbers, and `smallest_normal` belongs to the precision.
///
/// Spectra of real operands are halves, on whose redundant columns the inverse takes the real part: that makes no error larger.
#[doc(hidden)]
pub fn error_of_spectra(
    points: usize,
    operands: [(f64, f64, f64); 2],
    inverse: f64,
    rounding: f64,
    smallest_normal: f64,
) -> f64 {
    let [a, b] = operands.map(|(norm, peak, bound)| Norms::new(points, norm, peak, bound));
    let tiny = (points as f64 + 100.0) * smallest_normal;
    error_of_product(points, &a, &b, rounding, inverse) + tiny
}

/// The largest magnitude, and an upper bound of the Euclidean norm of vectors, in units of it so that nothing overflows or vanishes.
fn norms<'a>(vectors: impl Iterator<Item = &'a [f64]> + Clone) -> (f64, f64, f64) {
    let largest = vectors
        .clone()
        .flatten()
        .fold(0.0, |most: f64, x| most.max(x.abs()));
    if largest == 0.0 {
        return (0.0, 0.0, 0.0);
    }
    let (mut sum, mut most, mut count) = (0.0, 0.0_f64, 0.0);
    for vector in vectors {
        let square: f64 = vector.iter().map(|x| (x / largest) * (x / largest)).sum();
        sum += square;
        most = most.max(square);
        count += vector.len() as f64;
    }
    // Quotients, squares and sums: each rounding is at most a unit of a sum that is at least one.
    let slack = 1.0 + (2.0 * count + 100.0) * UNIT;
    (
        largest,
        largest * sum.sqrt() * slack,
        largest * most.sqrt() * slack,
    )
}

impl Block {
    fn new(length: usize) -> Result<Block, FftError> {
        let planner = planner::<f64>();
        Ok(Block {
            length,
            forward: planner.plan(&Problem::real_to_complex(&[length]))?,
            inverse: planner.plan(&Problem::complex_to_real(&[length]))?,
        })
    }

    fn spectrum(&self, numbers: &[f64]) -> Result<Spectrum, FftError> {
        let largest = numbers.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let exponent = exponent_of(largest);
        let mut padded = vec![0.0; self.length];
        for (point, &number) in padded.iter_mut().zip(numbers) {
            *point = times_power_of_two(number, -exponent);
        }
        let mut values = vec![Complex::new(0.0, 0.0); self.length / 2 + 1];
        self.forward.process_real_to_complex(&padded, &mut values)?;
        let (_, norm, _) = norms(std::iter::once(&padded[..numbers.len()]));
        let (_, _, peak) = norms(values.iter().map(parts));
        Ok(Spectrum {
            values,
            exponent,
            elements: numbers.len(),
            norms: Norms::new(self.length, norm, peak, self.forward.bound()),
        })
    }

    /// The convolution of two operands, and a bound of the error of every element. A complex product is off by √5 roundings.
    ///
    /// Operands are scaled by powers of two, so that neither spectra nor their products leave the range of the numbers; results are scaled back. In the
    /// middle of the range that changes no bits.
    fn product(&self, a: &Spectrum, b: &Spectrum) -> Result<(Vec<f64>, f64), FftError> {
        let elements = a.elements + b.elements - 1;
        if a.norms.whole == 0.0 || b.norms.whole == 0.0 {
            return Ok((vec![0.0; elements], 0.0));
        }
        // Separate products and sums: fused ones have other bits, and whether there are any depends on the machine.
        let product = |x: &Complex<f64>, y: &Complex<f64>| {
            Complex::new(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re)
        };
        let pairs = a.values.iter().zip(&b.values);
        let mut spectrum = collected(pairs.map(|(x, y)| product(x, y)));
        // The mean and the highest frequency of real numbers are real.
        let last = spectrum.len() - 1;
        for end in [0, last] {
            spectrum[end].im = 0.0;
        }
        let mut values = vec![0.0; self.length];
        self.inverse
            .process_complex_to_real(&spectrum, &mut values)?;
        values.truncate(elements);
        let exponent = a.exponent + b.exponent;
        for value in &mut values {
            *value = times_power_of_two(*value, exponent);
        }
        let inverse = self.inverse.bound();
        let bound = error_of_product(self.length, &a.norms, &b.norms, 4.0 * UNIT, inverse);
        // Values and bound are each off by at most the smallest number, where they are below the normal ones.
        let bound = times_power_of_two(bound, exponent) + 4.0 * f64::from_bits(1);
        Ok((values, bound))
    }
}

/// The exponent of a number that is not negative: it is at least 2 to this power, and below twice that. 0 for zero.
fn exponent_of(x: f64) -> i32 {
    let bits = x.to_bits();
    match (bits >> 52) as i32 {
        0 if bits == 0 => 0,
        0 => 63 - bits.leading_zeros() as i32 - 1074,
        field => field - 1023,
    }
}

/// A number times 2 to a power. Exact, or off by at most the smallest number (rounded twice, the second time of a number that has not grown) where the result is below
/// the normal ones; infinite where it is beyond the largest. Below 2^-2044 the power is taken for that: numbers below 2^900 are zero either way.
fn times_power_of_two(x: f64, exponent: i32) -> f64 {
    let first = exponent.clamp(-1022, 1023);
    let second = (exponent - first).clamp(-1022, 1023);
    x * power_of_two(first) * power_of_two(second)
}

/// Both parts of a complex number.
fn parts(value: &Complex<f64>) -> &[f64] {
    bytemuck::cast_slice(std::slice::from_ref(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;
    use ozfft_testkit::oracle::inputs::Generator;

    const SEED: u64 = 20261118;

    /// A finite number, exactly, in units of the smallest one.
    fn integer(x: f64) -> BigInt {
        let bits = x.to_bits();
        let (field, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
        let hidden = if field == 0 { 0 } else { 1 << 52 };
        let magnitude = BigInt::from(fraction | hidden) << (field.max(1) - 1);
        if x.is_sign_negative() {
            -magnitude
        } else {
            magnitude
        }
    }

    /// Every element against the sum by the definition, in integers. Returns the largest such sum over the bound, rounded down, where that is finite.
    fn held_bound(a: &[f64], b: &[f64], what: &str) -> Option<BigInt> {
        let result = fftconvolve(a, b).unwrap();
        let mut exact = vec![BigInt::ZERO; a.len() + b.len() - 1];
        let b: Vec<BigInt> = b.iter().map(|&y| integer(y)).collect();
        for (i, &x) in a.iter().enumerate() {
            let x = integer(x);
            for (sum, y) in exact[i..].iter_mut().zip(&b) {
                *sum += &x * y;
            }
        }
        assert_eq!(result.values.len(), exact.len());
        if result.bound == f64::INFINITY {
            return None;
        }
        // Products are in units of the smallest number squared.
        let bound: BigInt = integer(result.bound) << 1074;
        let mut largest = BigInt::ZERO;
        for (k, (&value, exact)) in result.values.iter().zip(exact).enumerate() {
            let error: BigInt = (integer(value) << 1074) - &exact;
            assert!(
                error.magnitude() <= bound.magnitude(),
                "{what}: element {k} is {value:e}, off by 2^{} smallest numbers squared; the bound is {:e}",
                error.bits(),
                result.bound
            );
            largest = largest.max(exact.magnitude().clone().into());
        }
        Some(largest / bound.max(BigInt::from(1)))
    }

    #[test]
    fn operands_below_the_normal_numbers_have_a_bound_that_holds() {
        let smallest = f64::from_bits(1);
        // The error of a spectrum that is rounded to subnormal numbers was left out of the bound, and multiplied by the other spectrum.
        let found: [(&[f64], &[f64]); 6] = [
            (&[smallest; 3], &[1e300; 5]),
            (&[1e-320, 1e-320, 2e-320], &[1e20; 3]),
            (&[smallest, -smallest, smallest], &[f64::MAX; 1]),
            // Spectra, or their products, are beyond the largest number, and results are not.
            (&[f64::MAX; 5], &[1e-9; 3]),
            (&[f64::MAX, -f64::MAX], &[0.25; 9]),
            (&[f64::MAX; 700], &[smallest; 2]),
        ];
        for (a, b) in found {
            for (a, b) in [(a, b), (b, a)] {
                let what = format!("{a:?} with {b:?}");
                let sums_over_bound = held_bound(a, b, &what);
                // And it says something: twelve digits.
                let says = sums_over_bound.is_some_and(|most| most > BigInt::from(10).pow(12));
                assert!(says, "{what}");
            }
        }
    }

    #[test]
    fn hostile_operands_of_the_whole_range_stay_below_the_returned_bound() {
        let mut generator = Generator::new(SEED);
        let power = |exponent: i32| crate::portable::power_of_two(exponent.clamp(-1074, 1023));
        let ends = [
            -1074, -1070, -1050, -1023, -1022, -1021, -970, -537, -60, 0, 480, 970, 1020, 1023,
        ];
        let mut operand = |count: usize, kind: usize| -> Vec<f64> {
            let mut below = |limit: usize| (generator.next_u64() % limit as u64) as usize;
            let exponent = ends[below(ends.len())];
            let one = |k: usize| {
                let sign = if below(2) == 0 { 1.0 } else { -1.0 };
                let mantissa = sign * (1.0 + below(1 << 30) as f64 / (1u64 << 30) as f64);
                match kind {
                    0 => power(exponent),
                    1 if k.is_multiple_of(2) => power(exponent),
                    1 => -power(exponent),
                    2 => 0.5 * mantissa * power(exponent),
                    // Every element has an exponent of its own.
                    3 => 0.5 * mantissa * power(below(2098) as i32 - 1074),
                    // One stands out.
                    4 if k == count / 2 => power(exponent),
                    4 => sign * f64::from_bits(below(1 << 20) as u64),
                    // Just above and below the smallest normal number.
                    5 => {
                        sign * f64::from_bits(f64::MIN_POSITIVE.to_bits() + 50 - below(100) as u64)
                    }
                    // Some zeros, some of the ends of the range.
                    _ => [0.0, f64::from_bits(1), f64::MAX, -f64::MIN_POSITIVE, 1.0][below(5)],
                }
            };
            (0..count).map(one).collect()
        };
        let mut finite = 0;
        for (first, second) in [(1, 1), (2, 3), (13, 6), (200, 3), (4, 150)] {
            for kind in 0..2 * 49 {
                let (a, b) = (operand(first, kind % 7), operand(second, kind / 7 % 7));
                let what = format!("seed {SEED}, {first} by {second}, kind {kind}");
                finite += usize::from(held_bound(&a, &b, &what).is_some());
            }
        }
        assert!(finite > 300, "{finite} of 490 did not overflow");
    }

    #[test]
    fn fast_lengths_are_those_of_a_search_one_by_one() {
        let mut expected = 100_000;
        assert!(is_fast(expected));
        for least in (0..=expected).rev() {
            if is_fast(least) {
                expected = least;
            }
            assert_eq!(fast_length(least), expected, "{least}");
        }
        // The search took hours to come to these.
        for least in [(1usize << 40) + 1, usize::MAX / 64, 1 << 62] {
            let found = fast_length(least);
            assert!(is_fast(found) && found >= least && found / 2 < least);
        }
    }

    /// Powers of two commute with all of it, so that the bits are those of the transforms themselves.
    #[test]
    fn scaling_operands_changes_no_bits_of_convolutions() {
        let mut generator = Generator::new(SEED);
        let mut draw = |count: usize| -> Vec<f64> {
            let one = |_| (generator.next_u64() as i64 >> 11) as f64;
            (0..count).map(one).collect()
        };
        let (a, b) = (draw(100), draw(61));
        let block = Block::new(fast_length(160)).unwrap();
        let spectrum = |numbers: &[f64]| {
            let mut padded = numbers.to_vec();
            padded.resize(block.length, 0.0);
            let mut values = vec![Complex::new(0.0, 0.0); block.length / 2 + 1];
            let forward = &block.forward;
            forward
                .process_real_to_complex(&padded, &mut values)
                .unwrap();
            values
        };
        let (first, second) = (spectrum(&a), spectrum(&b));
        let times = |(x, y): (&Complex<f64>, &Complex<f64>)| {
            Complex::new(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re)
        };
        let mut product: Vec<_> = first.iter().zip(&second).map(times).collect();
        let last = product.len() - 1;
        (product[0].im, product[last].im) = (0.0, 0.0);
        let mut expected = vec![0.0; block.length];
        let inverse = &block.inverse;
        inverse
            .process_complex_to_real(&product, &mut expected)
            .unwrap();
        for (i, j) in [(0, 0), (-300, 100), (400, 400), (-900, 900)] {
            let scaled = |numbers: &[f64], exponent: i32| -> Vec<f64> {
                numbers.iter().map(|x| x * 2f64.powi(exponent)).collect()
            };
            let values = fftconvolve(&scaled(&a, i), &scaled(&b, j)).unwrap().values;
            for (value, expected) in values.iter().zip(&expected) {
                let expected = expected * 2f64.powi(i + j);
                assert_eq!(
                    value.to_bits(),
                    expected.to_bits(),
                    "seed {SEED}, 2^{i}, 2^{j}"
                );
            }
        }
    }
}
