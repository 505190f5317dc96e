//! Convolutions of real arrays of several dimensions, as convolutions of lines.

use super::real::{RealConvolution, RealConvolutionError, expect_finite, fftconvolve};
use exact_convolution::{ConvolutionError, Lines, Shaped, Which};

/// The convolution of real arrays of several dimensions in row-major order, and a proven bound of the error of each element. Along each axis the result has
/// `first + second - 1` elements.
///
/// Rows are put one behind the other, with as many zeros between them as results need. So it is one convolution of lines, and its bound that of [`fftconvolve`]; where one array
/// is much longer than the other it is taken in pieces (overlap and add). Values have the same bits on every machine.
///
/// ```
/// let image: Vec<f64> = (0..10_000).map(|k| f64::from(k % 11)).collect();
/// let smooth = [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0];
/// let result = ozfft::convolution::fftconvolve_shaped((&image, &[100, 100]), (&smooth, &[3, 3]))?;
/// assert_eq!(result.values.len(), 102 * 102);
/// // 0·4 + 1·2 and, from the second row, 1·2 + 2·1.
/// assert!((result.values[103] - 6.0).abs() <= result.bound);
/// // For any image of this sum: 5e4 times the norm of the smoothing, 6, times √2 and the transforms' proven error of at most 1.4e-15 is 6e-10.
/// assert!(result.bound < 1e-9);
/// # Ok::<(), ozfft::convolution::RealConvolutionError>(())
/// ```
pub fn fftconvolve_shaped(
    a: Shaped<'_, f64>,
    b: Shaped<'_, f64>,
) -> Result<RealConvolution, RealConvolutionError> {
    // Before zeros are put between: errors name the element.
    expect_finite(Which::First, a.0)?;
    expect_finite(Which::Second, b.0)?;
    let lines = Lines::of_arrays(a, b).map_err(|error| match error {
        ConvolutionError::Empty { which } => RealConvolutionError::Empty { which },
        error => RealConvolutionError::Shape(error),
    })?;
    fftconvolve(&lines.arranged(0, a.0), &lines.arranged(1, b.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ozfft_testkit::oracle::inputs::Generator;

    const SEED: u64 = 20261118;

    /// Integers, whose sums are exact.
    fn sums_by_the_definition(a: Shaped<'_, f64>, b: Shaped<'_, f64>) -> Vec<i64> {
        let whole: Vec<usize> = a.1.iter().zip(b.1).map(|(m, n)| m + n - 1).collect();
        let index = |mut place: usize, shape: &[usize]| -> Vec<usize> {
            let mut index = vec![0; shape.len()];
            for (one, &length) in index.iter_mut().zip(shape).rev() {
                *one = place % length;
                place /= length;
            }
            index
        };
        let mut sums = vec![0; whole.iter().product()];
        for (i, &x) in a.0.iter().enumerate() {
            for (j, &y) in b.0.iter().enumerate() {
                let (first, second) = (index(i, a.1), index(j, b.1));
                let place = first.iter().zip(&second).zip(&whole);
                let place = place.fold(0, |sum, ((p, q), length)| sum * length + p + q);
                sums[place] += (x * y) as i64;
            }
        }
        sums
    }

    #[test]
    fn arrays_of_several_dimensions_stay_below_the_bound() {
        let mut generator = Generator::new(SEED);
        let shapes: [(&[usize], &[usize]); 7] = [
            (&[1, 1], &[1, 1]),
            (&[7], &[5]),
            (&[6, 5], &[3, 4]),
            (&[1, 9], &[8, 1]),
            (&[40, 30], &[2, 3]),
            (&[4, 5, 6], &[3, 2, 4]),
            (&[2, 1, 3, 4], &[2, 5, 1, 3]),
        ];
        for (first, second) in shapes {
            let mut draw = |shape: &[usize]| -> Vec<f64> {
                let one = |_| (generator.next_u64() as i64 >> 40) as f64;
                (0..shape.iter().product()).map(one).collect()
            };
            let (a, b) = (draw(first), draw(second));
            let what = format!("{first:?} with {second:?}, seed {SEED}");
            let result = fftconvolve_shaped((&a, first), (&b, second)).unwrap();
            let expected = sums_by_the_definition((&a, first), (&b, second));
            assert_eq!(result.values.len(), expected.len(), "{what}");
            for (value, &sum) in result.values.iter().zip(&expected) {
                // The sums are below 2^53, and so is the difference exact but for its rounding.
                let error = (value - sum as f64).abs();
                assert!(error <= result.bound, "{what}: {error:e}");
            }
            let largest = expected.iter().map(|sum| sum.unsigned_abs()).max();
            let largest = largest.unwrap_or(0) as f64;
            assert!(
                result.bound <= 1e-12 * largest.max(1.0),
                "{what}: {result:?}"
            );
        }
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        type Numbers<'a> = Shaped<'a, f64>;
        let refused = |a: Numbers<'_>, b: Numbers<'_>| fftconvolve_shaped(a, b).unwrap_err();
        let ones = [1.0; 6];
        let error = refused((&ones, &[2, 3]), (&ones, &[6]));
        assert!(error.to_string().contains("axes of length 1"), "{error}");
        let error = refused((&ones, &[2, 2]), (&ones, &[2, 3]));
        assert!(error.to_string().contains("shape of the slice"), "{error}");
        let empty = refused((&[], &[0, 3]), (&ones, &[2, 3]));
        assert!(matches!(empty, RealConvolutionError::Empty { which } if which == Which::First));
        let bad = [1.0, 2.0, 3.0, f64::NAN];
        match refused((&ones, &[2, 3]), (&bad, &[2, 2])) {
            RealConvolutionError::NotFinite { which, index, .. } => {
                assert_eq!((which, index), (Which::Second, 3));
            }
            other => panic!("{other}"),
        }
    }
}
