//! One call, one convolution, with plans for the numbers at hand.

use crate::error::{ConvolutionError, Which};
use crate::integer::{Operand, Output, largest};
use crate::plan::{Convolution, ConvolutionPlan};

fn planned<A: Operand, B: Operand>(
    problem: Convolution,
    a: &[A],
    b: &[B],
) -> Result<ConvolutionPlan, ConvolutionError> {
    problem.magnitudes(largest(a), largest(b)).plan()
}

/// The linear convolution `c[k] = Σ a[i]·b[k - i]`, of `a.len() + b.len() - 1` elements.
///
/// Results are exact. If the largest numbers at hand could make one that the type does not hold, it is an error before anything is computed.
///
/// ```
/// let c: Vec<i64> = exact_convolution::convolve(&[1i32, 2, 3], &[4i8, -5])?;
/// assert_eq!(c, [4, 3, 2, -15]);
/// assert!(exact_convolution::convolve::<_, _, i8>(&[100i8; 9], &[100i8; 9]).is_err());
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
pub fn convolve<A: Operand, B: Operand, R: Output>(
    a: &[A],
    b: &[B],
) -> Result<Vec<R>, ConvolutionError> {
    planned(Convolution::linear(a.len(), b.len()), a, b)?.process(a, b)
}

/// The cyclic convolution `c[k] = Σ a[i]·b[(k - i) mod n]` of operands of one length.
///
/// ```
/// let c: Vec<i64> = exact_convolution::convolve_cyclic(&[1i32, 2, 3], &[4i32, -5, 0])?;
/// assert_eq!(c, [-11, 3, 2]);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
pub fn convolve_cyclic<A: Operand, B: Operand, R: Output>(
    a: &[A],
    b: &[B],
) -> Result<Vec<R>, ConvolutionError> {
    same_length(a.len(), b.len())?;
    planned(Convolution::cyclic(a.len()), a, b)?.process(a, b)
}

/// The correlation `c[k] = Σ a[i + k - (m - 1)]·b[i]`, m being the length of `b`: numpy's `correlate(a, b, "full")`.
///
/// ```
/// let c: Vec<i64> = exact_convolution::correlate(&[1i32, 2, 3], &[0i32, 1])?;
/// assert_eq!(c, [1, 2, 3, 0]);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
pub fn correlate<A: Operand, B: Operand, R: Output>(
    a: &[A],
    b: &[B],
) -> Result<Vec<R>, ConvolutionError> {
    let reversed: Vec<B> = b.iter().rev().copied().collect();
    convolve(a, &reversed)
}

/// The cyclic correlation `c[k] = Σ a[(i + k) mod n]·b[i]`.
///
/// ```
/// let c: Vec<i64> = exact_convolution::correlate_cyclic(&[1i32, 2, 3], &[0i32, 1, 0])?;
/// assert_eq!(c, [2, 3, 1]);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
pub fn correlate_cyclic<A: Operand, B: Operand, R: Output>(
    a: &[A],
    b: &[B],
) -> Result<Vec<R>, ConvolutionError> {
    same_length(a.len(), b.len())?;
    let first = b.iter().take(1);
    let reversed: Vec<B> = first.chain(b.iter().skip(1).rev()).copied().collect();
    convolve_cyclic(a, &reversed)
}

/// Whether operands have one length.
pub(crate) fn same_length(first: usize, second: usize) -> Result<(), ConvolutionError> {
    match first == second {
        true => Ok(()),
        false => Err(ConvolutionError::Length {
            what: "second operand",
            given: second,
            expected: first,
        }),
    }
}

/// The linear convolution of arrays of several dimensions in row-major order. Along each axis the result has `first + second - 1` elements.
///
/// Rows are put one behind the other, with as many zeros between them as results need, so that it is one convolution of lines.
///
/// ```
/// let (a, b) = ([1i32, 2, 3, 4], [1i32, 0, 0, 10]);
/// let c: Vec<i64> = exact_convolution::convolve_shaped((&a, &[2, 2]), (&b, &[2, 2]))?;
/// assert_eq!(c, [1, 2, 0, 3, 14, 20, 0, 30, 40]);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
pub fn convolve_shaped<A: Operand + Default, B: Operand + Default, R: Output>(
    (a, first): (&[A], &[usize]),
    (b, second): (&[B], &[usize]),
) -> Result<Vec<R>, ConvolutionError> {
    if first.len() != second.len() {
        return Err(ConvolutionError::Shape(format!(
            "the operands have {} and {} dimensions; give both the same number, with axes of length 1 where one has fewer",
            first.len(),
            second.len()
        )));
    }
    for (which, length, shape) in [
        (Which::First, a.len(), first),
        (Which::Second, b.len(), second),
    ] {
        let product = shape
            .iter()
            .try_fold(1usize, |product, &n| product.checked_mul(n));
        if product != Some(length) {
            return Err(ConvolutionError::Shape(format!(
                "the {which} operand has {length} elements, and its shape {shape:?} another number; give the shape of the slice"
            )));
        }
        if length == 0 {
            return Err(ConvolutionError::Empty { which });
        }
    }
    let whole: Vec<usize> = first.iter().zip(second).map(|(a, b)| a + b - 1).collect();
    let total = whole
        .iter()
        .try_fold(1usize, |product, &n| product.checked_mul(n));
    let Some(total) = total.filter(|&total| total <= isize::MAX as usize / 16) else {
        return Err(ConvolutionError::Shape(format!(
            "a result of the shape {whole:?} does not fit the memory; convolve parts"
        )));
    };
    let terms: usize = first.iter().zip(second).map(|(a, b)| a.min(b)).product();
    let (spread_a, spread_b) = (spread(a, first, &whole), spread(b, second, &whole));
    let problem = Convolution::linear(spread_a.len(), spread_b.len()).terms(terms as u64);
    let mut results = planned(problem, &spread_a, &spread_b)?.process(&spread_a, &spread_b)?;
    results.resize(total, R::default());
    Ok(results)
}

/// An array as a part of a larger one, in its memory order: up to the last element.
fn spread<A: Copy + Default>(array: &[A], shape: &[usize], whole: &[usize]) -> Vec<A> {
    let row = shape.last().copied().unwrap_or(1);
    let mut result = Vec::new();
    for (number, elements) in array.chunks_exact(row).enumerate() {
        let (mut place, mut stride, mut rest) = (0, 1, number * row);
        for (&length, &distance) in shape.iter().zip(whole).rev() {
            place += rest % length * stride;
            rest /= length;
            stride *= distance;
        }
        result.resize(place, A::default());
        result.extend_from_slice(elements);
    }
    result
}
