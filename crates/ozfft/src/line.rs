//! One 1-D transform of any length over the caller's numbers.

use crate::bluestein::{Bluestein, FloatSource};
use crate::matrix_unit::MatrixUnit;
use crate::passes::{LoadScratch, Passes, Progression, Sink, Source};
use crate::problem::Family;
use crate::quantise::{Columns, NotFinite, quantise_floats};
use crate::recipe::{Digits, LineRecipe};
use crate::roots::Fixed;
use crate::sample::{Real, swapped};
use crate::tables::Tables;
use crate::workspace::{ReadArray, SharedArray, Wide};
use num_complex::Complex;

/// A planned line.
#[derive(Debug)]
pub(crate) enum Line {
    Copy,
    Passes(Passes),
    Bluestein(Box<Bluestein>),
}

impl Line {
    /// Tables for a recipe; outputs are scaled by `scale · 2^scale_exponent`.
    pub(crate) fn new(
        recipe: &LineRecipe,
        digits: Digits,
        family: Family,
        scale: &Fixed,
        scale_exponent: i32,
        tables: &Tables,
    ) -> Line {
        match recipe {
            LineRecipe::Copy => Line::Copy,
            LineRecipe::Passes(blocks) => Line::Passes(Passes::new(
                blocks,
                digits,
                family,
                scale,
                scale_exponent,
                tables,
            )),
            LineRecipe::Bluestein { n, convolution } => Line::Bluestein(Box::new(Bluestein::new(
                *n,
                convolution,
                digits,
                family,
                scale,
                scale_exponent,
                tables,
            ))),
        }
    }

    /// Whether one transform is worth several threads.
    pub(crate) fn is_large(&self) -> bool {
        match self {
            Line::Copy => false,
            Line::Passes(passes) => passes.is_large(),
            Line::Bluestein(bluestein) => bluestein.is_large(),
        }
    }

    /// 64-bit words of workspace for one transform by `workers` threads.
    pub(crate) fn workspace_len(&self, workers: usize) -> usize {
        match self {
            Line::Copy => 0,
            Line::Passes(passes) => passes.workspace_len(workers),
            Line::Bluestein(bluestein) => bluestein.workspace_len(workers),
        }
    }

    /// Transforms one line; a line with a NaN or an infinity becomes all NaN.
    pub(crate) fn run(
        &self,
        unit: &dyn MatrixUnit,
        source: &dyn FloatSource,
        sink: &dyn FloatSink,
        workspace: &mut [u64],
        workers: usize,
    ) {
        let outcome = match self {
            Line::Copy => copy(source, sink),
            Line::Passes(passes) => passes.run(unit, &Quantised(source), sink, workspace, workers),
            Line::Bluestein(bluestein) => bluestein.run(unit, source, sink, workspace, workers),
        };
        if outcome.is_err() {
            for k in 0..sink.count() {
                sink.store(k, Complex::new(f64::NAN, f64::NAN));
            }
        }
    }
}

/// A transform of one point is the point, and no scaling is ever due. Adding 0 takes the sign off a zero.
fn copy(source: &dyn FloatSource, sink: &dyn FloatSink) -> Result<(), NotFinite> {
    let mut value = [Complex::new(0.0, 0.0)];
    source.gather(Progression { start: 0, step: 1 }, &mut value);
    if !(value[0].re.is_finite() && value[0].im.is_finite()) {
        return Err(NotFinite);
    }
    sink.store(0, value[0] + Complex::new(0.0, 0.0));
    Ok(())
}

/// The caller's numbers as a source of words.
struct Quantised<'a>(&'a dyn FloatSource);

impl Source for Quantised<'_> {
    fn quantise(
        &self,
        elements: Progression,
        shape: Columns,
        words: &mut [Complex<i64>],
        scratch: &mut LoadScratch<'_>,
    ) -> Result<i32, NotFinite> {
        let floats = &mut scratch.floats[..words.len()];
        self.0.gather(elements, floats);
        quantise_floats(floats, shape, words)
    }
}

/// A sink of floating-point numbers.
pub(crate) trait FloatSink: Sink {
    /// Number of outputs that are kept.
    fn count(&self) -> usize;
    /// Whether real and imaginary parts are swapped, as for inverse transforms.
    fn swaps(&self) -> bool;
    /// Stores an output as it is.
    fn store(&self, index: usize, value: Complex<f64>);
}

/// Where the elements of a line lie: `offset + i·stride`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placement {
    pub(crate) offset: isize,
    pub(crate) stride: isize,
}

impl Placement {
    #[inline]
    pub(crate) fn at(self, i: usize) -> usize {
        // Layouts are validated: every position is non-negative.
        (self.offset + self.stride * i as isize) as usize
    }
}

/// Reads complex numbers.
pub(crate) struct ComplexInput<'a, T> {
    pub(crate) array: ReadArray<'a, Complex<T>>,
    pub(crate) place: Placement,
    /// For inverse transforms.
    pub(crate) swap: bool,
}

/// Reads real numbers.
pub(crate) struct RealInput<'a, T> {
    pub(crate) array: ReadArray<'a, T>,
    pub(crate) place: Placement,
    /// For inverse transforms.
    pub(crate) swap: bool,
}

/// Reads the non-redundant half of a Hermitian line of `n` points.
pub(crate) struct HalfInput<'a, T> {
    pub(crate) array: ReadArray<'a, Complex<T>>,
    pub(crate) place: Placement,
    pub(crate) n: usize,
    /// For inverse transforms.
    pub(crate) swap: bool,
}

fn oriented(z: Complex<f64>, swap: bool) -> Complex<f64> {
    if swap { swapped(z) } else { z }
}

impl<T: Real> FloatSource for ComplexInput<'_, T> {
    fn gather(&self, elements: Progression, values: &mut [Complex<f64>]) {
        for (i, value) in values.iter_mut().enumerate() {
            // SAFETY: a line is read and written by one thread, or read completely before it is written.
            let z = unsafe { self.array.get(self.place.at(elements.at(i))) };
            *value = oriented(Complex::new(z.re.widen(), z.im.widen()), self.swap);
        }
    }
}

impl<T: Real> FloatSource for RealInput<'_, T> {
    fn gather(&self, elements: Progression, values: &mut [Complex<f64>]) {
        for (i, value) in values.iter_mut().enumerate() {
            // SAFETY: as for complex input.
            let x = unsafe { self.array.get(self.place.at(elements.at(i))) };
            *value = oriented(Complex::new(x.widen(), 0.0), self.swap);
        }
    }
}

impl<T: Real> FloatSource for HalfInput<'_, T> {
    fn gather(&self, elements: Progression, values: &mut [Complex<f64>]) {
        for (i, value) in values.iter_mut().enumerate() {
            let j = elements.at(i);
            let mirrored = 2 * j > self.n;
            let stored = if mirrored { self.n - j } else { j };
            // SAFETY: as for complex input.
            let z = unsafe { self.array.get(self.place.at(stored)) };
            let im = match (stored == 0 || 2 * stored == self.n, mirrored) {
                // A real signal has no imaginary part here; what is given is left out (and reported by the plan).
                (true, _) => 0.0,
                (false, false) => z.im.widen(),
                (false, true) => -z.im.widen(),
            };
            *value = oriented(Complex::new(z.re.widen(), im), self.swap);
        }
    }
}

/// Writes complex numbers: the first `count` of the line's outputs.
pub(crate) struct ComplexOutput<'a, T> {
    pub(crate) array: SharedArray<'a, Complex<T>>,
    pub(crate) place: Placement,
    pub(crate) count: usize,
    /// For inverse transforms.
    pub(crate) swap: bool,
}

/// Writes the real parts.
pub(crate) struct RealOutput<'a, T> {
    pub(crate) array: SharedArray<'a, T>,
    pub(crate) place: Placement,
    pub(crate) count: usize,
    /// For inverse transforms.
    pub(crate) swap: bool,
}

impl<T: Real> Sink for ComplexOutput<'_, T> {
    fn accept(&self, outputs: Progression, values: &mut [Complex<Wide>], exponent: i32) {
        let count = outputs.count_below(self.count, values.len());
        for (i, &z) in values[..count].iter().enumerate() {
            let z = if self.swap { swapped(z) } else { z };
            let rounded = Complex::new(
                T::from_fixed(z.re.get(), exponent),
                T::from_fixed(z.im.get(), exponent),
            );
            // SAFETY: every output belongs to one line, and every line to one thread.
            unsafe { self.array.set(self.place.at(outputs.at(i)), rounded) }
        }
    }
}

impl<T: Real> Sink for RealOutput<'_, T> {
    fn accept(&self, outputs: Progression, values: &mut [Complex<Wide>], exponent: i32) {
        let count = outputs.count_below(self.count, values.len());
        for (i, &z) in values[..count].iter().enumerate() {
            let real = if self.swap { z.im } else { z.re };
            // SAFETY: every output belongs to one line, and every line to one thread.
            unsafe {
                self.array.set(
                    self.place.at(outputs.at(i)),
                    T::from_fixed(real.get(), exponent),
                )
            }
        }
    }
}

impl<T: Real> FloatSink for ComplexOutput<'_, T> {
    fn count(&self) -> usize {
        self.count
    }
    fn swaps(&self) -> bool {
        self.swap
    }
    fn store(&self, index: usize, value: Complex<f64>) {
        let z = oriented(value, self.swap);
        let narrow = Complex::new(T::narrow(z.re), T::narrow(z.im));
        // SAFETY: every output belongs to one line, and every line to one thread.
        unsafe { self.array.set(self.place.at(index), narrow) }
    }
}

impl<T: Real> FloatSink for RealOutput<'_, T> {
    fn count(&self) -> usize {
        self.count
    }
    fn swaps(&self) -> bool {
        self.swap
    }
    fn store(&self, index: usize, value: Complex<f64>) {
        let real = T::narrow(oriented(value, self.swap).re);
        // SAFETY: every output belongs to one line, and every line to one thread.
        unsafe { self.array.set(self.place.at(index), real) }
    }
}
