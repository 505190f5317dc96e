//! One call, one convolution, with plans for the numbers at hand.

use crate::error::{ConvolutionError, Which};
use crate::integer::{Operand, Output, largest};
use crate::plan::{Convolution, ConvolutionPlan};
use crate::shaped::{Shaped, expect_shape};

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
    let problem = Convolution::linear(a.len(), b.len()).correlation();
    planned(problem, a, b)?.process(a, b)
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
    planned(Convolution::cyclic(a.len()).correlation(), a, b)?.process(a, b)
}

/// Whether operands have one length.
fn same_length(first: usize, second: usize) -> Result<(), ConvolutionError> {
    match first == second {
        true => Ok(()),
        false => Err(ConvolutionError::Length {
            what: "second operand",
            given: second,
            expected: first,
        }),
    }
}

/// A convolution of two arrays that have their shapes.
fn convolve_arrays<A: Operand, B: Operand, R: Output>(
    problem: Convolution,
    a: Shaped<'_, A>,
    b: Shaped<'_, B>,
) -> Result<Vec<R>, ConvolutionError> {
    expect_shape(Which::First, a)?;
    expect_shape(Which::Second, b)?;
    planned(problem, a.0, b.0)?.process(a.0, b.0)
}

/// The linear convolution of arrays of several dimensions in row-major order. Along each axis the result has `first + second - 1` elements.
///
/// ```
/// let (a, b) = ([1i32, 2, 3, 4], [1i32, 0, 0, 10]);
/// let c: Vec<i64> = exact_convolution::convolve_shaped((&a, &[2, 2]), (&b, &[2, 2]))?;
/// assert_eq!(c, [1, 2, 0, 3, 14, 20, 0, 30, 40]);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
pub fn convolve_shaped<A: Operand, B: Operand, R: Output>(
    a: Shaped<'_, A>,
    b: Shaped<'_, B>,
) -> Result<Vec<R>, ConvolutionError> {
    convolve_arrays(Convolution::linear_shaped(a.1, b.1), a, b)
}

/// The correlation of arrays of several dimensions: along each axis that of [`correlate`](crate::correlate).
///
/// ```
/// let (a, b) = ([1i32, 2, 3, 4], [10i32, 1]);
/// let c: Vec<i64> = exact_convolution::correlate_shaped((&a, &[2, 2]), (&b, &[1, 2]))?;
/// assert_eq!(c, [1, 12, 20, 3, 34, 40]);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
pub fn correlate_shaped<A: Operand, B: Operand, R: Output>(
    a: Shaped<'_, A>,
    b: Shaped<'_, B>,
) -> Result<Vec<R>, ConvolutionError> {
    convolve_arrays(Convolution::linear_shaped(a.1, b.1).correlation(), a, b)
}

/// The cyclic convolution of arrays of one shape, indices modulo the length of every axis.
///
/// ```
/// let (a, b) = ([1i32, 2, 3, 4], [1i32, 0, 0, 10]);
/// let c: Vec<i64> = exact_convolution::convolve_cyclic_shaped(&a, &b, &[2, 2])?;
/// assert_eq!(c, [41, 32, 23, 14]);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
pub fn convolve_cyclic_shaped<A: Operand, B: Operand, R: Output>(
    a: &[A],
    b: &[B],
    shape: &[usize],
) -> Result<Vec<R>, ConvolutionError> {
    convolve_arrays(Convolution::cyclic_shaped(shape), (a, shape), (b, shape))
}

/// The cyclic correlation of arrays of one shape: along each axis that of [`correlate_cyclic`](crate::correlate_cyclic).
///
/// ```
/// let (a, b) = ([1i32, 2, 3, 4, 5, 6], [0i32, 1, 0, 0, 0, 0]);
/// let c: Vec<i64> = exact_convolution::correlate_cyclic_shaped(&a, &b, &[2, 3])?;
/// assert_eq!(c, [2, 3, 1, 5, 6, 4]);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
pub fn correlate_cyclic_shaped<A: Operand, B: Operand, R: Output>(
    a: &[A],
    b: &[B],
    shape: &[usize],
) -> Result<Vec<R>, ConvolutionError> {
    let problem = Convolution::cyclic_shaped(shape).correlation();
    convolve_arrays(problem, (a, shape), (b, shape))
}
