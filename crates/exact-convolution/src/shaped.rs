//! Convolutions of arrays of several dimensions, as convolutions of lines.

use crate::error::{ConvolutionError, Which};
use crate::integer::Output;
use std::borrow::Cow;
use std::fmt;

/// An array in row-major order: its elements and its shape.
pub type Shaped<'a, A> = (&'a [A], &'a [usize]);

/// How arrays become lines whose convolution is that of the arrays.
///
/// Rows are put one behind the other, with as many zeros between them as results need, along all axes but the first. So the results of a linear convolution are those
/// of the lines, in row-major order. A cyclic one is cyclic along the first axis, as lines are, and what stands in the zeros of the others is added to their beginnings.
/// Of arrays with one axis the lines are the arrays.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    shapes: [Vec<usize>; 2],
    shape: Vec<usize>,
    /// With the zeros between rows: places of a line that is as long as its results.
    extents: Vec<usize>,
    is_cyclic: bool,
    /// Whether the second array is read backwards, along all axes.
    is_correlation: bool,
}

impl Lines {
    /// Of arrays with as many axes as each other, of one shape if cyclic.
    pub fn new(
        shapes: [&[usize]; 2],
        is_cyclic: bool,
        is_correlation: bool,
    ) -> Result<Lines, ConvolutionError> {
        let [first, second] = shapes;
        if first.len() != second.len() {
            return Err(ConvolutionError::Shape(format!(
                "the operands have {} and {} dimensions; give both the same number, with axes of length 1 where one has fewer",
                first.len(),
                second.len()
            )));
        }
        for (which, shape) in [(Which::First, first), (Which::Second, second)] {
            if shape.contains(&0) {
                return Err(ConvolutionError::Empty { which });
            }
        }
        let too_large = || {
            ConvolutionError::Shape(format!(
                "results of the shapes {first:?} and {second:?} do not fit the memory; convolve parts"
            ))
        };
        let both = || first.iter().zip(second);
        let whole: Option<Vec<usize>> = both()
            .map(|(a, b)| a.checked_add(*b).map(|sum| sum - 1))
            .collect();
        let whole = whole.ok_or_else(too_large)?;
        let (shape, extents) = match is_cyclic {
            false => (whole.clone(), whole),
            // One more zero than results need: a power of two stays one.
            true => {
                let room =
                    |(axis, &n): (usize, &usize)| if axis == 0 || n == 1 { n } else { 2 * n };
                let extents = first.iter().enumerate().map(room);
                (first.to_vec(), extents.collect())
            }
        };
        match product(&extents) {
            Some(places) if places <= isize::MAX as usize / 16 => Ok(Lines {
                shapes: shapes.map(<[usize]>::to_vec),
                shape,
                extents,
                is_cyclic,
                is_correlation,
            }),
            _ => Err(too_large()),
        }
    }

    /// Linear ones of these arrays, each of which has as many elements as its shape.
    pub fn of_arrays<A, B>(a: Shaped<'_, A>, b: Shaped<'_, B>) -> Result<Lines, ConvolutionError> {
        expect_shape(Which::First, a)?;
        expect_shape(Which::Second, b)?;
        Lines::new([a.1, b.1], false, false)
    }

    /// Elements of an array, the first or the second.
    pub fn elements(&self, operand: usize) -> usize {
        self.shapes[operand].iter().product()
    }

    /// The shape of the results.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Elements of the lines.
    pub fn lengths(&self) -> [usize; 2] {
        let last = |shape: &[usize]| {
            let both = shape.iter().zip(&self.extents);
            both.fold(0, |place, (length, extent)| place * extent + length - 1)
        };
        match self.cycle() {
            Some(length) => [length; 2],
            None => [0, 1].map(|operand| last(&self.shapes[operand]) + 1),
        }
    }

    /// The length modulo which places in lines count, where they do.
    pub fn cycle(&self) -> Option<usize> {
        self.is_cyclic.then(|| self.extents.iter().product())
    }

    /// Results of the lines.
    pub fn results(&self) -> usize {
        self.extents.iter().product()
    }

    /// Whether these are the results of the arrays, in their order.
    pub fn are_results(&self) -> bool {
        self.extents == self.shape
    }

    /// Products in a result, at most.
    pub(crate) fn terms(&self) -> u64 {
        let [first, second] = &self.shapes;
        let shorter = first.iter().zip(second).map(|(a, b)| *a.min(b) as u64);
        shorter.product()
    }

    /// Lines of the arrays of a batch, the first or the second operands.
    pub fn arranged<'a, A: Copy + Default>(&self, operand: usize, arrays: &'a [A]) -> Cow<'a, [A]> {
        let (count, length) = (self.elements(operand), self.lengths()[operand]);
        let is_backwards = operand == 1 && self.is_correlation;
        if count == length && !is_backwards {
            return Cow::Borrowed(arrays);
        }
        let shape = &self.shapes[operand];
        let row = shape.last().copied().unwrap_or(1);
        let mut lines = vec![A::default(); arrays.len() / count * length];
        let members = arrays
            .chunks_exact(count)
            .zip(lines.chunks_exact_mut(length));
        for (array, line) in members {
            if !is_backwards {
                for (number, elements) in array.chunks_exact(row).enumerate() {
                    let start = place(number * row, shape, &self.extents, |_, index| index);
                    line[start..][..row].copy_from_slice(elements);
                }
                continue;
            }
            let mirrored = |length: usize, index: usize| match self.is_cyclic {
                true => (length - index) % length,
                false => length - 1 - index,
            };
            for (number, &element) in array.iter().enumerate() {
                line[place(number, shape, &self.extents, mirrored)] = element;
            }
        }
        Cow::Owned(lines)
    }

    /// The results of the arrays, of those of all lines.
    pub fn gather<R: Output>(&self, lines: &[R], results: &mut [R]) {
        let count: usize = self.shape.iter().product();
        let members = lines.chunks_exact(self.results());
        for (line, results) in members.zip(results.chunks_exact_mut(count)) {
            results.fill(R::default());
            // Parts of the sum that a result is: no larger than that.
            for (number, &part) in line.iter().enumerate() {
                let target = place_modulo(number, &self.extents, &self.shape);
                results[target] = results[target].plus(part);
            }
        }
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = |shape: &[usize]| {
            let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
            lengths.join("×")
        };
        let name = match self.is_correlation {
            true => "correlation",
            false => "convolution",
        };
        let [first, second] = self.shapes.each_ref().map(|one| shape(one));
        match self.is_cyclic {
            true => write!(f, "cyclic {name} of {first}"),
            false => write!(f, "{name} of {first} with {second}"),
        }
    }
}

fn product(shape: &[usize]) -> Option<usize> {
    shape
        .iter()
        .try_fold(1usize, |product, &n| product.checked_mul(n))
}

/// Where an element of an array stands in a larger one, its indices changed by `change`, which is given lengths, too.
fn place(
    number: usize,
    shape: &[usize],
    whole: &[usize],
    change: impl Fn(usize, usize) -> usize,
) -> usize {
    let (mut place, mut stride, mut rest) = (0, 1, number);
    for (&length, &distance) in shape.iter().zip(whole).rev() {
        place += change(length, rest % length) * stride;
        rest /= length;
        stride *= distance;
    }
    place
}

/// Where an element of an array stands in a smaller one, indices modulo its lengths.
fn place_modulo(number: usize, shape: &[usize], smaller: &[usize]) -> usize {
    let (mut place, mut stride, mut rest) = (0, 1, number);
    for (&extent, &length) in shape.iter().zip(smaller).rev() {
        place += rest % extent % length * stride;
        rest /= extent;
        stride *= length;
    }
    place
}

pub(crate) fn expect_shape<A>(
    which: Which,
    (array, shape): Shaped<'_, A>,
) -> Result<(), ConvolutionError> {
    match product(shape) == Some(array.len()) {
        true => Ok(()),
        false => Err(ConvolutionError::Shape(format!(
            "the {which} operand has {} elements, and its shape {shape:?} another number; give the shape of the slice",
            array.len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::{
        convolve_cyclic_shaped, convolve_shaped, correlate_cyclic_shaped, correlate_shaped,
    };

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
