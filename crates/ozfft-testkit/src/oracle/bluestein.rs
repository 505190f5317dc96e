//! Bluestein's algorithm: a DFT of awkward length as a convolution of convenient length.
//!
//! `j k = (j² + k² - (k - j)²) / 2` turns the sum over `x[j] w^(jk)` into a convolution of `x[j] c[j]` with the
//! conjugate chirp, where `c[j] = exp(-pi i j² / N)`. All chirp exponents are reduced exactly in integers.

use crate::oracle::dispatch::{Kernel, dispatch};
use crate::oracle::double_double::{ComplexDoubleDouble, DoubleDouble, ExactProduct};
use crate::oracle::lanes::{ComplexLanes, LANES, LanePlan, LaneScratch};
use crate::oracle::line::LinePlan;
use crate::oracle::roots::Roots;

/// The chirp `exp(-pi i j² / length)` for every `j`.
fn chirp(length: usize) -> Vec<ComplexDoubleDouble> {
    let roots = Roots::new(2 * length);
    let order = 2 * length as u128;
    (0..length as u128)
        .map(|index| roots.get((index * index % order) as usize))
        .collect()
}

/// The transform of the conjugate chirp wrapped around a period of `inner.length()`, over that length: the
/// division belongs to the inverse transform, and by a power of two it is exact.
fn kernel(chirp: &[ComplexDoubleDouble], inner: &LinePlan) -> Vec<ComplexDoubleDouble> {
    let period = inner.length();
    debug_assert!(period.is_power_of_two() && period >= 2 * chirp.len() - 1);
    let mut kernel = vec![ComplexDoubleDouble::ZERO; period];
    for (index, value) in chirp.iter().enumerate() {
        kernel[index] = value.conj();
        kernel[(period - index) % period] = value.conj();
    }
    inner.run(&mut kernel);
    let reciprocal = DoubleDouble::from(1.0 / period as f64);
    kernel.iter().map(|value| value.scale(reciprocal)).collect()
}

/// The convolution's period: the power of two that holds the wrapped chirp.
fn period(length: usize) -> usize {
    (2 * length - 1).next_power_of_two()
}

/// One line.
pub(crate) struct LineBluestein {
    chirp: Vec<ComplexDoubleDouble>,
    kernel: Vec<ComplexDoubleDouble>,
    inner: Box<LinePlan>,
}

impl LineBluestein {
    pub(crate) fn new(length: usize) -> Self {
        let inner = Box::new(LinePlan::new(period(length)));
        let chirp = chirp(length);
        let kernel = kernel(&chirp, &inner);
        Self {
            chirp,
            kernel,
            inner,
        }
    }

    pub(crate) fn run(&self, data: &mut [ComplexDoubleDouble]) {
        let mut work = vec![ComplexDoubleDouble::ZERO; self.kernel.len()];
        work[..data.len()].copy_from_slice(data);
        dispatch(Multiply {
            data: &mut work,
            factors: &self.chirp,
            conjugate: false,
        });
        self.inner.run(&mut work);
        // The inverse transform is the forward one between two conjugations.
        dispatch(Multiply {
            data: &mut work,
            factors: &self.kernel,
            conjugate: true,
        });
        self.inner.run(&mut work);
        for (value, result) in data.iter_mut().zip(&work) {
            *value = result.conj();
        }
        dispatch(Multiply {
            data,
            factors: &self.chirp,
            conjugate: false,
        });
    }
}

/// Several lines, one per lane.
pub(crate) struct LaneBluestein {
    chirp: Vec<ComplexDoubleDouble>,
    kernel: Vec<ComplexDoubleDouble>,
    inner: Box<LanePlan>,
}

impl LaneBluestein {
    pub(crate) fn new(length: usize) -> Self {
        let chirp = chirp(length);
        let kernel = kernel(&chirp, &LinePlan::new(period(length)));
        Self {
            chirp,
            kernel,
            inner: Box::new(LanePlan::new(period(length))),
        }
    }

    pub(crate) fn length(&self) -> usize {
        self.chirp.len()
    }

    pub(crate) fn run(
        &self,
        data: &mut [ComplexLanes],
        work: &mut Vec<ComplexLanes>,
        inner: &mut LaneScratch,
    ) {
        work.clear();
        work.extend_from_slice(data);
        work.resize(self.kernel.len(), ComplexLanes::ZERO);
        dispatch(MultiplyLanes {
            data: work,
            factors: &self.chirp,
            conjugate: false,
        });
        self.inner.run(work, inner);
        dispatch(MultiplyLanes {
            data: work,
            factors: &self.kernel,
            conjugate: true,
        });
        self.inner.run(work, inner);
        for (value, result) in data.iter_mut().zip(work.iter()) {
            for lane in 0..LANES {
                value.set(lane, result.get(lane).conj());
            }
        }
        dispatch(MultiplyLanes {
            data,
            factors: &self.chirp,
            conjugate: false,
        });
    }
}

/// Multiplies element by element, as far as there are factors, and conjugates the products if asked.
struct Multiply<'a> {
    data: &'a mut [ComplexDoubleDouble],
    factors: &'a [ComplexDoubleDouble],
    conjugate: bool,
}

impl Kernel for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<P: ExactProduct>(self) {
        for (value, &factor) in self.data.iter_mut().zip(self.factors) {
            let product = value.times::<P>(factor);
            *value = if self.conjugate {
                product.conj()
            } else {
                product
            };
        }
    }
}

/// As [`Multiply`], the factors being the same for all lanes.
struct MultiplyLanes<'a> {
    data: &'a mut [ComplexLanes],
    factors: &'a [ComplexDoubleDouble],
    conjugate: bool,
}

impl Kernel for MultiplyLanes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<P: ExactProduct>(self) {
        let sign = if self.conjugate { -1.0 } else { 1.0 };
        for (value, &factor) in self.data.iter_mut().zip(self.factors) {
            for lane in 0..LANES {
                let mut product = value.get(lane).times::<P>(factor);
                product.im.hi *= sign;
                product.im.lo *= sign;
                value.set(lane, product);
            }
        }
    }
}
