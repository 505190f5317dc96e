//! Convolutions of arrays of several dimensions, as convolutions of lines.

use crate::error::{ConvolutionError, Which};
use crate::functions::planned;
use crate::integer::{Operand, Output};
use crate::plan::Convolution;

/// An array in row-major order: its elements and its shape.
pub type Shaped<'a, A> = (&'a [A], &'a [usize]);

/// Two arrays as lines, whose linear convolution is that of the arrays in row-major order, but for zeros that may be missing at its end.
///
/// Rows are put one behind the other, with as many zeros between them as results need.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
pub struct Lines<A, B> {
    /// The first array.
    pub first: Vec<A>,
    /// The second one.
    pub second: Vec<B>,
    /// Along each axis the result has `first + second - 1` elements.
    pub shape: Vec<usize>,
    /// All of them.
    pub results: usize,
}

impl<A: Copy + Default, B: Copy + Default> Lines<A, B> {
    /// Of arrays with as many axes as each other.
    pub fn new(
        (a, first): Shaped<'_, A>,
        (b, second): Shaped<'_, B>,
    ) -> Result<Lines<A, B>, ConvolutionError> {
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
            if product(shape) != Some(length) {
                return Err(ConvolutionError::Shape(format!(
                    "the {which} operand has {length} elements, and its shape {shape:?} another number; give the shape of the slice"
                )));
            }
            if length == 0 {
                return Err(ConvolutionError::Empty { which });
            }
        }
        let shape: Vec<usize> = first.iter().zip(second).map(|(a, b)| a + b - 1).collect();
        let Some(results) = product(&shape).filter(|&all| all <= isize::MAX as usize / 16) else {
            return Err(ConvolutionError::Shape(format!(
                "a result of the shape {shape:?} does not fit the memory; convolve parts"
            )));
        };
        Ok(Lines {
            first: spread(a, first, &shape),
            second: spread(b, second, &shape),
            shape,
            results,
        })
    }
}

fn product(shape: &[usize]) -> Option<usize> {
    shape
        .iter()
        .try_fold(1usize, |product, &n| product.checked_mul(n))
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

/// All results, in their shape, that are sums of at most so many products.
fn convolve_lines<A: Operand + Default, B: Operand + Default, R: Output>(
    lines: &Lines<A, B>,
    terms: usize,
) -> Result<Vec<R>, ConvolutionError> {
    let Lines { first, second, .. } = lines;
    let problem = Convolution::linear(first.len(), second.len()).terms(terms as u64);
    let mut results = planned(problem, first, second)?.process(first, second)?;
    results.resize(lines.results, R::default());
    Ok(results)
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
    a: Shaped<'_, A>,
    b: Shaped<'_, B>,
) -> Result<Vec<R>, ConvolutionError> {
    let lines = Lines::new(a, b)?;
    let terms = a.1.iter().zip(b.1).map(|(a, b)| a.min(b)).product();
    convolve_lines(&lines, terms)
}

/// The correlation of arrays of several dimensions: along each axis that of [`correlate`](crate::correlate).
///
/// ```
/// let (a, b) = ([1i32, 2, 3, 4], [10i32, 1]);
/// let c: Vec<i64> = exact_convolution::correlate_shaped((&a, &[2, 2]), (&b, &[1, 2]))?;
/// assert_eq!(c, [1, 12, 20, 3, 34, 40]);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
pub fn correlate_shaped<A: Operand + Default, B: Operand + Default, R: Output>(
    a: Shaped<'_, A>,
    b: Shaped<'_, B>,
) -> Result<Vec<R>, ConvolutionError> {
    // Backwards along all axes.
    let reversed: Vec<B> = b.0.iter().rev().copied().collect();
    convolve_shaped(a, (&reversed, b.1))
}

/// The cyclic convolution of arrays of one shape, indices modulo the length of every axis.
///
/// ```
/// let (a, b) = ([1i32, 2, 3, 4], [1i32, 0, 0, 10]);
/// let c: Vec<i64> = exact_convolution::convolve_cyclic_shaped(&a, &b, &[2, 2])?;
/// assert_eq!(c, [41, 32, 23, 14]);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
pub fn convolve_cyclic_shaped<A: Operand + Default, B: Operand + Default, R: Output>(
    a: &[A],
    b: &[B],
    shape: &[usize],
) -> Result<Vec<R>, ConvolutionError> {
    let lines = Lines::new((a, shape), (b, shape))?;
    // A result is a sum of as many products as there are elements; what is added here are parts of such sums, and no larger.
    let linear: Vec<R> = convolve_lines(&lines, a.len())?;
    let mut results = vec![R::default(); a.len()];
    for (number, &sum) in linear.iter().enumerate() {
        let (mut place, mut stride, mut rest) = (0, 1, number);
        for (&length, &extent) in shape.iter().zip(&lines.shape).rev() {
            place += rest % extent % length * stride;
            rest /= extent;
            stride *= length;
        }
        results[place] = results[place].plus(sum);
    }
    Ok(results)
}

/// The cyclic correlation of arrays of one shape: along each axis that of [`correlate_cyclic`](crate::correlate_cyclic).
///
/// ```
/// let (a, b) = ([1i32, 2, 3, 4, 5, 6], [0i32, 1, 0, 0, 0, 0]);
/// let c: Vec<i64> = exact_convolution::correlate_cyclic_shaped(&a, &b, &[2, 3])?;
/// assert_eq!(c, [2, 3, 1, 5, 6, 4]);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
pub fn correlate_cyclic_shaped<A: Operand + Default, B: Operand + Default, R: Output>(
    a: &[A],
    b: &[B],
    shape: &[usize],
) -> Result<Vec<R>, ConvolutionError> {
    let mut reversed = b.to_vec();
    if product(shape) == Some(b.len()) {
        for (number, &element) in b.iter().enumerate() {
            let (mut place, mut stride, mut rest) = (0, 1, number);
            for &length in shape.iter().rev() {
                place += (length - rest % length) % length * stride;
                rest /= length;
                stride *= length;
            }
            reversed[place] = element;
        }
    }
    convolve_cyclic_shaped(a, &reversed, shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(mut place: usize, shape: &[usize]) -> Vec<usize> {
        let mut index = vec![0; shape.len()];
        for (one, &length) in index.iter_mut().zip(shape).rev() {
            *one = place % length;
            place /= length;
        }
        index
    }

    fn place(index: impl Iterator<Item = usize>, shape: &[usize]) -> usize {
        let both = index.zip(shape);
        both.fold(0, |sum, (one, &length)| sum * length + one)
    }

    /// Sums by the definition: where the product of two elements belongs is for `to` to say.
    fn sums(
        a: Shaped<'_, i16>,
        b: Shaped<'_, i16>,
        shape: &[usize],
        to: impl Fn(usize, usize, usize) -> usize,
    ) -> Vec<i64> {
        let mut sums = vec![0; shape.iter().product()];
        for (i, &x) in a.0.iter().enumerate() {
            for (j, &y) in b.0.iter().enumerate() {
                let (first, second) = (index(i, a.1), index(j, b.1));
                let axes = (0..shape.len()).map(|axis| to(axis, first[axis], second[axis]));
                sums[place(axes, shape)] += i64::from(x) * i64::from(y);
            }
        }
        sums
    }

    fn numbers(seed: &mut u64, count: usize) -> Vec<i16> {
        let one = |_| {
            *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
            match *seed >> 61 {
                0 => i16::MIN,
                1 => i16::MAX,
                _ => (*seed >> 40) as i16,
            }
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn arrays_are_convolved_and_correlated_by_the_definition() {
        let mut seed = 20261118;
        let shapes: [(&[usize], &[usize]); 6] = [
            (&[1], &[4]),
            (&[5, 3], &[2, 4]),
            (&[1, 30], &[20, 1]),
            (&[3, 4, 5], &[5, 1, 2]),
            (&[2, 3, 2, 3], &[1, 2, 3, 1]),
            (&[17, 19], &[16, 23]),
        ];
        for (first, second) in shapes {
            let a = numbers(&mut seed, first.iter().product());
            let b = numbers(&mut seed, second.iter().product());
            let whole: Vec<usize> = first.iter().zip(second).map(|(m, n)| m + n - 1).collect();
            let (a, b) = ((&a[..], first), (&b[..], second));
            let found: Vec<i64> = convolve_shaped(a, b).unwrap();
            assert!(
                found == sums(a, b, &whole, |_, i, j| i + j),
                "{first:?} {second:?}"
            );
            let found: Vec<i64> = correlate_shaped(a, b).unwrap();
            let back = |axis: usize, i: usize, j: usize| i + second[axis] - 1 - j;
            assert!(found == sums(a, b, &whole, back), "{first:?} {second:?}");
        }
        let cyclic: [&[usize]; 5] = [&[1], &[6], &[4, 5], &[3, 1, 4], &[16, 15]];
        for shape in cyclic {
            let count = shape.iter().product();
            let (a, b) = (numbers(&mut seed, count), numbers(&mut seed, count));
            let found: Vec<i64> = convolve_cyclic_shaped(&a, &b, shape).unwrap();
            let around = |axis: usize, i: usize, j: usize| (i + j) % shape[axis];
            let expected = sums((&a, shape), (&b, shape), shape, around);
            assert!(found == expected, "{shape:?}");
            let found: Vec<i64> = correlate_cyclic_shaped(&a, &b, shape).unwrap();
            let back = |axis: usize, i: usize, j: usize| (i + shape[axis] - j) % shape[axis];
            let expected = sums((&a, shape), (&b, shape), shape, back);
            assert!(found == expected, "{shape:?}");
        }
    }

    #[test]
    fn cyclic_sums_that_a_type_may_not_hold_are_refused() {
        // Four products of 2^14 in a result, of which linear ones have fewer.
        let most = [128u8; 4];
        let held: Vec<i32> = convolve_cyclic_shaped(&most, &most, &[2, 2]).unwrap();
        assert_eq!(held, [65536; 4]);
        let refused = convolve_cyclic_shaped::<_, _, u16>(&most, &most, &[2, 2]);
        assert!(matches!(
            refused,
            Err(ConvolutionError::ResultMayNotFit { .. })
        ));
        let error = correlate_cyclic_shaped::<_, _, i64>(&most, &most, &[3, 2]).unwrap_err();
        assert!(error.to_string().contains("shape of the slice"), "{error}");
    }
}
