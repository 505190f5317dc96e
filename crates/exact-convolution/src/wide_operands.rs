//! Operands of 128 bits.
//!
//! Results must fit `i128`, so of two operands, where more than one product is added, at most one is longer than 63 bits. It is convolved in two parts.

use crate::error::{ConvolutionError, Which};
use crate::functions::{convolve, convolve_cyclic, same_length};

/// Bits of the lower part of a long operand.
const LOW_BITS: u32 = 63;

/// [`convolve`] of integers of up to 128 bits, where results fit: `c[k] = Σ a[i]·b[k - i]`.
///
/// ```
/// let c = exact_convolution::convolve_i128(&[1 << 100, -1], &[3, 5])?;
/// assert_eq!(c, [3 << 100, (5 << 100) - 3, -5]);
/// assert!(exact_convolution::convolve_i128(&[1 << 100; 2], &[1 << 30; 2]).is_err());
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
pub fn convolve_i128(a: &[i128], b: &[i128]) -> Result<Vec<i128>, ConvolutionError> {
    in_parts(a, b, convolve)
}

/// [`convolve_cyclic`] of integers of up to 128 bits, where results fit: `c[k] = Σ a[i]·b[(k - i) mod n]`.
///
/// ```
/// let c = exact_convolution::convolve_cyclic_i128(&[1 << 100, -1], &[3, 5])?;
/// assert_eq!(c, [(3 << 100) - 5, (5 << 100) - 3]);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
pub fn convolve_cyclic_i128(a: &[i128], b: &[i128]) -> Result<Vec<i128>, ConvolutionError> {
    same_length(a.len(), b.len())?;
    in_parts(a, b, convolve_cyclic)
}

/// [`correlate`](crate::correlate) of integers of up to 128 bits, where results fit: `c[k] = Σ a[i + k - (m - 1)]·b[i]`, m being the length of `b`.
///
/// ```
/// let c = exact_convolution::correlate_i128(&[1 << 100, -1], &[3, 5])?;
/// assert_eq!(c, [5 << 100, (3 << 100) - 5, -3]);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
pub fn correlate_i128(a: &[i128], b: &[i128]) -> Result<Vec<i128>, ConvolutionError> {
    let reversed: Vec<i128> = b.iter().rev().copied().collect();
    convolve_i128(a, &reversed)
}

/// [`correlate_cyclic`](crate::correlate_cyclic) of integers of up to 128 bits, where results fit: `c[k] = Σ a[(i + k) mod n]·b[i]`.
///
/// ```
/// let c = exact_convolution::correlate_cyclic_i128(&[1 << 100, -1], &[3, 5])?;
/// assert_eq!(c, [(3 << 100) - 5, (5 << 100) - 3]);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
pub fn correlate_cyclic_i128(a: &[i128], b: &[i128]) -> Result<Vec<i128>, ConvolutionError> {
    let first = b.iter().take(1);
    let reversed: Vec<i128> = first.chain(b.iter().skip(1).rev()).copied().collect();
    convolve_cyclic_i128(a, &reversed)
}

/// `short` convolves integers of 64 bits.
fn in_parts(
    a: &[i128],
    b: &[i128],
    short: impl Fn(&[i64], &[i64]) -> Result<Vec<i128>, ConvolutionError>,
) -> Result<Vec<i128>, ConvolutionError> {
    for (which, operand) in [(Which::First, a), (Which::Second, b)] {
        if operand.is_empty() {
            return Err(ConvolutionError::Empty { which });
        }
    }
    let terms = a.len().min(b.len()) as u128;
    let largest = |numbers: &[i128]| {
        let magnitudes = numbers.iter().map(|number| number.unsigned_abs());
        magnitudes.max().unwrap_or(0)
    };
    let (first, second) = (largest(a), largest(b));
    let bound = first
        .checked_mul(second)
        .and_then(|product| product.checked_mul(terms));
    if bound.is_none_or(|bound| bound > i128::MAX as u128) {
        return Err(ConvolutionError::ResultMayNotFit {
            bound: bound.map_or("2^128 or more".into(), |bound| bound.to_string()),
            result: "i128",
        });
    }
    if terms == 1 {
        // Nothing is added.
        let products = a.iter().flat_map(|x| b.iter().map(move |y| x * y));
        return Ok(products.collect());
    }
    let narrow = |numbers: &[i128]| -> Option<Vec<i64>> {
        numbers
            .iter()
            .map(|&number| i64::try_from(number).ok())
            .collect()
    };
    match (narrow(a), narrow(b)) {
        (Some(a), Some(b)) => short(&a, &b),
        (None, Some(b)) => in_halves(a, |part| short(part, &b)),
        (Some(a), None) => in_halves(b, |part| short(&a, part)),
        (None, None) => unreachable!("two products of numbers from 2^63 on exceed the bound"),
    }
}

/// With `long = high·2^63 + low`, A the largest magnitude of `long`, B that of the other operand, and T >= 2 terms: `T·A·B < 2^127` and `A >= 2^63` make
/// `T·B < 2^64`, so that `T·2^63·B` fits as well, and `A < 2^126` leaves 63 bits and a sign for the high part.
fn in_halves(
    long: &[i128],
    short: impl Fn(&[i64]) -> Result<Vec<i128>, ConvolutionError>,
) -> Result<Vec<i128>, ConvolutionError> {
    let low: Vec<i64> = long
        .iter()
        .map(|number| (number & ((1 << LOW_BITS) - 1)) as i64)
        .collect();
    let high: Vec<i64> = long
        .iter()
        .map(|number| (number >> LOW_BITS) as i64)
        .collect();
    let (mut results, high) = (short(&low)?, short(&high)?);
    for (result, high) in results.iter_mut().zip(high) {
        *result = result.wrapping_add(high << LOW_BITS);
    }
    Ok(results)
}
