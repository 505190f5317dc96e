//! The caller's numbers: the power of two that scales a line, and loading and storing the lanes of a panel.
//!
//! Lines whose largest part is far from one are scaled by a power of two on input and back on output, both
//! exact unless a result is subnormal: so nothing overflows or underflows in between, and bounds hold for every line.

use crate::lanes::{Lanes, LineSlice, LineSliceMut, POINTS, Scalar, Task, Vectors};
use crate::numbers::arithmetic::Arithmetic;
use crate::numbers::number::{Number, Pair};
use num_complex::Complex;

/// The factor of a line on input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineScale {
    /// Ordinary numbers: by one.
    One,
    /// By two to this power.
    Power(i32),
    /// A part is NaN or infinite: the whole spectrum will be NaN.
    NotFinite,
}

impl LineScale {
    /// The factors on input and output.
    pub(crate) fn factors(self) -> (f64, f64) {
        match self {
            LineScale::One => (1.0, 1.0),
            LineScale::Power(power) => (f64::from(power).exp2(), f64::from(-power).exp2()),
            // Whatever a part may be, it has no say in the sums.
            LineScale::NotFinite => (0.0, 0.0),
        }
    }
}

/// A number type of the caller's.
pub(crate) trait Sample: Scalar {
    /// Looks through a line once.
    fn line_scale(line: &[Complex<Self>]) -> LineScale;
    const NAN: Self;

    /// Lines as what they are.
    fn known(lines: &[Complex<Self>]) -> LineSlice<'_>;
    fn known_mut(lines: &mut [Complex<Self>]) -> LineSliceMut<'_>;
}

/// Numbers with exponents within this of zero are left alone.
const ORDINARY: i32 = 40;

macro_rules! sample {
    ($scalar:ty, $bits:ty, $mantissa:literal, $bias:literal, $variant:ident) => {
        impl Sample for $scalar {
            const NAN: Self = <$scalar>::NAN;

            #[inline(always)]
            fn known(lines: &[Complex<Self>]) -> LineSlice<'_> {
                LineSlice::$variant(lines)
            }
            #[inline(always)]
            fn known_mut(lines: &mut [Complex<Self>]) -> LineSliceMut<'_> {
                LineSliceMut::$variant(lines)
            }

            #[inline(always)]
            fn line_scale(line: &[Complex<$scalar>]) -> LineScale {
                // Magnitudes compare as integers, and whatever is not finite is above all that is.
                let mut largest: $bits = 0;
                for value in line {
                    largest = largest
                        .max(value.re.abs().to_bits())
                        .max(value.im.abs().to_bits());
                }
                if largest >= <$scalar>::INFINITY.to_bits() {
                    return LineScale::NotFinite;
                }
                let exponent = (largest >> $mantissa) as i32 - $bias;
                if exponent.abs() <= ORDINARY || largest == 0 {
                    LineScale::One
                } else {
                    LineScale::Power((-exponent).clamp(1 - $bias, $bias - 1))
                }
            }
        }
    };
}
sample!(f32, u32, 23, 127, Single);
sample!(f64, u64, 52, 1023, Double);

/// No vector has more lanes.
pub(crate) const MOST_LANES: usize = 16;

/// Lines into the lanes of a panel, parts exchanged if `swap`. Lanes without a line are zero.
pub(crate) struct LoadPanel<'a, A: Arithmetic, D> {
    pub(crate) lines: &'a [Complex<D>],
    pub(crate) n: usize,
    pub(crate) swap: bool,
    pub(crate) scales: &'a mut [LineScale],
    pub(crate) panel: &'a mut [A::Scalar],
}

impl<A: Arithmetic, D: Sample> Task for LoadPanel<'_, A, D> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        let lines = self.lines.chunks_exact(self.n);
        for (scale, line) in self.scales.iter_mut().zip(lines) {
            *scale = D::line_scale(line);
        }
        load_panel::<A::Number<V>, D>(self.lines, self.n, self.swap, self.scales, self.panel);
    }
}

/// The lanes of a panel back into lines.
pub(crate) struct StorePanel<'a, A: Arithmetic, D> {
    pub(crate) panel: &'a [A::Scalar],
    pub(crate) n: usize,
    pub(crate) swap: bool,
    pub(crate) scales: &'a [LineScale],
    pub(crate) lines: &'a mut [Complex<D>],
}

impl<A: Arithmetic, D: Sample> Task for StorePanel<'_, A, D> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        store_panel::<A::Number<V>, D>(self.panel, self.n, self.swap, self.scales, self.lines);
    }
}

/// A line for every lane, and none that is scaled.
#[inline(always)]
fn all_ordinary(scales: &[LineScale], lanes: usize) -> bool {
    lanes > 1 && scales.len() == lanes && scales.iter().all(|&scale| scale == LineScale::One)
}

#[inline(always)]
fn load_panel<N: Number, D: Sample>(
    lines: &[Complex<D>],
    n: usize,
    swap: bool,
    scales: &[LineScale],
    panel: &mut [N::Scalar],
) {
    let lanes = N::Lanes::COUNT;
    let ordinary = all_ordinary(scales, lanes);
    let mut factors = [0.0; MOST_LANES];
    for (factor, scale) in factors.iter_mut().zip(scales) {
        *factor = scale.factors().0;
    }
    let mut block = [[[N::Scalar::default(); MOST_LANES]; 2]; POINTS];
    for start in (0..n).step_by(POINTS) {
        let points = POINTS.min(n - start);
        if ordinary && points == POINTS {
            let zero = N::Lanes::splat(N::Scalar::default());
            let mut values = [[zero; 2]; POINTS];
            if N::Lanes::gather(D::known(&lines[start..]), n, &mut values) {
                for (i, &[re, im]) in values.iter().enumerate() {
                    Pair {
                        re: N::exactly(re),
                        im: N::exactly(im),
                    }
                    .swapped_if(swap)
                    .store(panel, start + i);
                }
                continue;
            }
        }
        for (lane, &factor) in factors.iter().enumerate().take(scales.len().min(lanes)) {
            let line = &lines[lane * n + start..][..points];
            if factor == 1.0 {
                for (block, value) in block.iter_mut().zip(line) {
                    block[0][lane] = N::Scalar::from_f64(value.re.to_f64());
                    block[1][lane] = N::Scalar::from_f64(value.im.to_f64());
                }
            } else if factor != 0.0 {
                for (block, value) in block.iter_mut().zip(line) {
                    block[0][lane] = N::Scalar::from_f64(value.re.to_f64() * factor);
                    block[1][lane] = N::Scalar::from_f64(value.im.to_f64() * factor);
                }
            }
        }
        for (i, [re, im]) in block.iter().enumerate().take(points) {
            Pair {
                re: N::exactly(N::Lanes::load(re)),
                im: N::exactly(N::Lanes::load(im)),
            }
            .swapped_if(swap)
            .store(panel, start + i);
        }
    }
}

#[inline(always)]
fn store_panel<N: Number, D: Sample>(
    panel: &[N::Scalar],
    n: usize,
    swap: bool,
    scales: &[LineScale],
    lines: &mut [Complex<D>],
) {
    let lanes = N::Lanes::COUNT;
    let ordinary = all_ordinary(scales, lanes);
    let mut block = [[[N::Scalar::default(); MOST_LANES]; 2]; POINTS];
    for start in (0..n).step_by(POINTS) {
        let points = POINTS.min(n - start);
        if ordinary && points == POINTS {
            let zero = N::Lanes::splat(N::Scalar::default());
            let mut values = [[zero; 2]; POINTS];
            for (i, point) in values.iter_mut().enumerate() {
                let value = Pair::<N>::load(panel, start + i).swapped_if(swap);
                *point = [value.re.rounded(), value.im.rounded()];
            }
            if N::Lanes::scatter(&values, D::known_mut(&mut lines[start..]), n) {
                continue;
            }
        }
        for (i, [re, im]) in block.iter_mut().enumerate().take(points) {
            let value = Pair::<N>::load(panel, start + i).swapped_if(swap);
            value.re.rounded().store(re);
            value.im.rounded().store(im);
        }
        for (lane, scale) in scales.iter().enumerate().take(lanes) {
            let line = &mut lines[lane * n + start..][..points];
            match scale {
                LineScale::One => {
                    for (block, value) in block.iter().zip(line) {
                        value.re = D::from_f64(block[0][lane].to_f64());
                        value.im = D::from_f64(block[1][lane].to_f64());
                    }
                }
                LineScale::Power(_) => {
                    let factor = scale.factors().1;
                    for (block, value) in block.iter().zip(line) {
                        value.re = D::from_f64(block[0][lane].to_f64() * factor);
                        value.im = D::from_f64(block[1][lane].to_f64() * factor);
                    }
                }
                LineScale::NotFinite => line.fill(Complex::new(D::NAN, D::NAN)),
            }
        }
    }
}
