//! One call, one convolution, with plans for the numbers at hand.

use crate::error::ConvolutionError;
use crate::integer::{Operand, Output, largest};
use crate::plan::{Convolution, ConvolutionPlan};

pub(crate) fn planned<A: Operand, B: Operand>(
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
