//! The discrete Fourier transform in double-double arithmetic, of any length and shape.

use crate::oracle::double_double::ComplexDoubleDouble;
use crate::oracle::line::{ColumnPlan, LinePlan, transpose};
use crate::oracle::spectrum::{Direction, ExactSpectrum, common_exponent, prescale};
use num_complex::Complex;

/// Widens a prescaled line; for the inverse direction with exchanged parts, which makes the forward transform,
/// exchanged back, the inverse one.
fn widen(line: &[Complex<f64>], exponent: i32, direction: Direction) -> Vec<ComplexDoubleDouble> {
    let mut values: Vec<ComplexDoubleDouble> = prescale(line, exponent)
        .into_iter()
        .map(ComplexDoubleDouble::from)
        .collect();
    exchange_if_inverse(&mut values, direction);
    values
}

fn exchange_if_inverse(values: &mut [ComplexDoubleDouble], direction: Direction) {
    if direction == Direction::Inverse {
        for value in values {
            *value = value.swapped();
        }
    }
}

/// The DFT of one line of any length, with a relative error (2-norm) near 1e-31.
///
/// Lengths with small factors cost O(N log N), and so do primes, through a convolution.
///
/// # Panics
/// If the line is empty or holds a value that is not finite.
///
/// ```
/// use num_complex::Complex;
/// use ozfft_testkit::oracle::{Direction, dft};
/// let spectrum = dft(&[Complex::new(1.0, 0.0); 3], Direction::Forward);
/// let first = spectrum.values[0].re.scale_by_power_of_two(spectrum.exponent);
/// assert_eq!(first.to_f64(), 3.0);
/// ```
pub fn dft(line: &[Complex<f64>], direction: Direction) -> ExactSpectrum {
    let exponent = common_exponent(line);
    let mut values = widen(line, exponent, direction);
    LinePlan::new(line.len()).run(&mut values);
    exchange_if_inverse(&mut values, direction);
    ExactSpectrum { values, exponent }
}

/// The DFT over all axes of an array in C order (last axis fastest).
///
/// # Panics
/// If the shape does not match the number of values, an extent is zero, or a value is not finite.
///
/// ```
/// use ozfft_testkit::oracle::{Direction, dft_nd, inputs};
/// let field = inputs::uniform_complex(4 * 6, 1);
/// let spectrum = dft_nd(&field, &[4, 6], Direction::Forward);
/// assert_eq!(spectrum.len(), 24);
/// ```
pub fn dft_nd(field: &[Complex<f64>], shape: &[usize], direction: Direction) -> ExactSpectrum {
    let axes: Vec<usize> = (0..shape.len()).collect();
    dft_axes(field, shape, &axes, direction)
}

/// The DFT over the named axes of an array in C order. Axes left out make a batch; note that the whole array
/// shares one exponent and one error bound, so lines of very different scale are better transformed one by one.
///
/// # Panics
/// As [`dft_nd`], and if an axis does not exist or is named twice.
pub fn dft_axes(
    field: &[Complex<f64>],
    shape: &[usize],
    axes: &[usize],
    direction: Direction,
) -> ExactSpectrum {
    check_shape(field.len(), shape);
    for (position, &axis) in axes.iter().enumerate() {
        assert!(
            axis < shape.len(),
            "axis {axis} does not exist in a shape of {} axes",
            shape.len()
        );
        assert!(
            !axes[..position].contains(&axis),
            "axis {axis} is named twice"
        );
    }
    let exponent = common_exponent(field);
    let mut values = widen(field, exponent, direction);
    let mut other = vec![ComplexDoubleDouble::ZERO; values.len()];
    // Every step moves the first axis to the end; after all of them the order is the original one again.
    for (axis, &extent) in shape.iter().enumerate() {
        if axes.contains(&axis) && extent > 1 {
            ColumnPlan::new(extent, values.len() / extent).run(&values, &mut other, None);
        } else {
            transpose(&values, &mut other, extent);
        }
        std::mem::swap(&mut values, &mut other);
    }
    exchange_if_inverse(&mut values, direction);
    ExactSpectrum { values, exponent }
}

/// The DFT of a real line: all of its spectrum, the redundant half included.
///
/// # Panics
/// As [`dft`].
pub fn dft_real(line: &[f64], direction: Direction) -> ExactSpectrum {
    dft(&complexify(line), direction)
}

/// The DFT over all axes of a real array in C order: all of its spectrum, the redundant half included.
///
/// # Panics
/// As [`dft_nd`].
pub fn dft_real_nd(field: &[f64], shape: &[usize], direction: Direction) -> ExactSpectrum {
    dft_nd(&complexify(field), shape, direction)
}

fn complexify(line: &[f64]) -> Vec<Complex<f64>> {
    line.iter().map(|&value| Complex::new(value, 0.0)).collect()
}

pub(crate) fn check_shape(count: usize, shape: &[usize]) {
    assert!(!shape.is_empty(), "a shape needs at least one axis");
    assert!(
        shape.iter().all(|&extent| extent > 0),
        "shape {shape:?} has an axis of extent zero"
    );
    let product = shape
        .iter()
        .try_fold(1_usize, |product, &extent| product.checked_mul(extent));
    assert_eq!(
        product,
        Some(count),
        "shape {shape:?} does not hold {count} values"
    );
}
