//! A few outputs of a large transform, each from all inputs.

use crate::oracle::dft::check_shape;
use crate::oracle::dispatch::{Kernel, dispatch};
use crate::oracle::double_double::{ComplexDoubleDouble, DoubleDouble, ExactProduct, two_sum};
use crate::oracle::roots::Roots;
use crate::oracle::spectrum::Direction;
use crate::oracle::spectrum::{ExactSpectrum, common_exponent, prescale};
use num_complex::Complex;
use rayon::prelude::*;

/// Sums side by side, to fill the vector units.
const LANES: usize = 8;
/// Long axes are divided into blocks of this many elements that share their weights.
pub(crate) const BLOCK: usize = 1024;

/// The DFT over all axes, but only the outputs at the given flat indices (C order), each at O(N) cost.
///
/// The common exponent is that of the full transform, and so are the values, to the same accuracy.
///
/// # Panics
/// If the shape does not match the number of values, an extent is zero, an index is out of range or a value is
/// not finite.
///
/// ```
/// use ozfft_testkit::oracle::{Direction, dft_sampled, inputs};
/// let field = inputs::uniform_complex(1 << 16, 1);
/// let samples = dft_sampled(&field, &[1 << 16], &[0, 777], Direction::Forward);
/// assert_eq!(samples.len(), 2);
/// ```
pub fn dft_sampled(
    field: &[Complex<f64>],
    shape: &[usize],
    indices: &[usize],
    direction: Direction,
) -> ExactSpectrum {
    check_shape(field.len(), shape);
    let exponent = common_exponent(field);
    let scaled = prescale(field, exponent);
    let mut re: Vec<f64> = scaled.iter().map(|value| value.re).collect();
    let mut im: Vec<f64> = scaled.iter().map(|value| value.im).collect();
    drop(scaled);
    if direction == Direction::Inverse {
        std::mem::swap(&mut re, &mut im); // and back on the results: the inverse by the forward transform
    }
    let roots: Vec<Roots> = shape.iter().map(|&extent| Roots::new(extent)).collect();
    let values = indices
        .par_iter()
        .map(|&index| {
            assert!(
                index < field.len(),
                "sampled index {index} of {} outputs",
                field.len()
            );
            let value = one_output(&re, &im, shape, &roots, index);
            if direction == Direction::Inverse {
                value.swapped()
            } else {
                value
            }
        })
        .collect();
    ExactSpectrum { values, exponent }
}

/// Contracts the axes one after the other, the last one first.
fn one_output(
    re: &[f64],
    im: &[f64],
    shape: &[usize],
    roots: &[Roots],
    index: usize,
) -> ComplexDoubleDouble {
    let mut frequencies = vec![0; shape.len()];
    let mut rest = index;
    for (frequency, &extent) in frequencies.iter_mut().zip(shape).rev() {
        *frequency = rest % extent;
        rest /= extent;
    }
    let last = shape.len() - 1;
    let extent = shape[last];
    let block = extent.min(BLOCK);
    let weights = Weights::new(&roots[last], frequencies[last], block);
    let blocks = extent.div_ceil(block);
    let shifts: Vec<ComplexDoubleDouble> = (0..blocks)
        .map(|number| power(&roots[last], frequencies[last], number * block))
        .collect();
    let mut values: Vec<ComplexDoubleDouble> = re
        .chunks_exact(extent)
        .zip(im.chunks_exact(extent))
        .map(|(re, im)| {
            let mut sum = ComplexDoubleDouble::ZERO;
            for ((re, im), &shift) in re.chunks(block).zip(im.chunks(block)).zip(&shifts) {
                sum = sum
                    + dispatch(Dot {
                        re,
                        im,
                        weights: &weights,
                    }) * shift;
            }
            sum
        })
        .collect();
    for axis in (0..last).rev() {
        let weights: Vec<ComplexDoubleDouble> = (0..shape[axis])
            .map(|input| power(&roots[axis], frequencies[axis], input))
            .collect();
        values = values
            .chunks_exact(shape[axis])
            .map(|line| {
                line.iter()
                    .zip(&weights)
                    .fold(ComplexDoubleDouble::ZERO, |sum, (&value, &weight)| {
                        sum + value * weight
                    })
            })
            .collect();
    }
    values[0]
}

/// The root with exponent `frequency * input`, reduced without overflow.
pub(crate) fn power(roots: &Roots, frequency: usize, input: usize) -> ComplexDoubleDouble {
    roots.get((frequency as u128 * input as u128 % roots.order() as u128) as usize)
}

/// The roots one block of inputs meets, in planes.
pub(crate) struct Weights {
    re_hi: Vec<f64>,
    re_lo: Vec<f64>,
    im_hi: Vec<f64>,
    im_lo: Vec<f64>,
}

impl Weights {
    pub(crate) fn new(roots: &Roots, frequency: usize, count: usize) -> Self {
        let weights: Vec<ComplexDoubleDouble> = (0..count)
            .map(|input| power(roots, frequency, input))
            .collect();
        Self {
            re_hi: weights.iter().map(|weight| weight.re.hi).collect(),
            re_lo: weights.iter().map(|weight| weight.re.lo).collect(),
            im_hi: weights.iter().map(|weight| weight.im.hi).collect(),
            im_lo: weights.iter().map(|weight| weight.im.lo).collect(),
        }
    }
}

/// The sum of a block of inputs times their weights.
pub(crate) struct Dot<'a> {
    pub(crate) re: &'a [f64],
    pub(crate) im: &'a [f64],
    pub(crate) weights: &'a Weights,
}

/// Adds `value * (hi + lo)` to a running sum whose low part collects every error: two doubles suffice, because
/// the low parts of a block's few terms stay tiny.
#[inline(always)]
fn accumulate<P: ExactProduct>(sum: (f64, f64), value: f64, hi: f64, lo: f64) -> (f64, f64) {
    let (product, product_error) = P::two_product(value, hi);
    let (total, sum_error) = two_sum(sum.0, product);
    (total, sum.1 + ((product_error + value * lo) + sum_error))
}

impl Kernel for Dot<'_> {
    type Output = ComplexDoubleDouble;

    #[inline(always)]
    fn run<P: ExactProduct>(self) -> ComplexDoubleDouble {
        let count = self.re.len();
        let weights = self.weights;
        let mut re_sum = ([0.0; LANES], [0.0; LANES]);
        let mut im_sum = ([0.0; LANES], [0.0; LANES]);
        let whole = count / LANES * LANES;
        let mut start = 0;
        while start < count {
            let lanes = if start < whole { LANES } else { count - start };
            let part = start..start + lanes;
            let (re, im) = (&self.re[part.clone()], &self.im[part.clone()]);
            let (re_hi, re_lo) = (&weights.re_hi[part.clone()], &weights.re_lo[part.clone()]);
            let (im_hi, im_lo) = (&weights.im_hi[part.clone()], &weights.im_lo[part]);
            for lane in 0..lanes {
                let sum = (re_sum.0[lane], re_sum.1[lane]);
                let sum = accumulate::<P>(sum, re[lane], re_hi[lane], re_lo[lane]);
                (re_sum.0[lane], re_sum.1[lane]) =
                    accumulate::<P>(sum, -im[lane], im_hi[lane], im_lo[lane]);
                let sum = (im_sum.0[lane], im_sum.1[lane]);
                let sum = accumulate::<P>(sum, re[lane], im_hi[lane], im_lo[lane]);
                (im_sum.0[lane], im_sum.1[lane]) =
                    accumulate::<P>(sum, im[lane], re_hi[lane], re_lo[lane]);
            }
            start += lanes;
        }
        let total = |sum: ([f64; LANES], [f64; LANES])| {
            (0..LANES).fold(DoubleDouble::ZERO, |total, lane| {
                total.plus(DoubleDouble::from_sum(sum.0[lane], sum.1[lane]))
            })
        };
        ComplexDoubleDouble {
            re: total(re_sum),
            im: total(im_sum),
        }
    }
}
