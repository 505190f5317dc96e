//! One 1-D transform of any length over the caller's numbers.

use crate::bailey::{Panel, WidePanel};
use crate::bluestein::Bluestein;
#[cfg(vector_unit)]
use crate::lanes::WIDE_LANES;
#[cfg(vector_unit)]
use crate::matrix_unit::Avx512Vnni;
use crate::matrix_unit::{MatrixUnit, Scalar, WideInteger};
use crate::passes::{Lines, Passes, Sink, Source};
use crate::problem::Family;
use crate::quantise::{Columns, Quantised, quantise_floats};
use crate::recipe::{Digits, LineRecipe};
use crate::roots::Fixed;
use crate::sample::{Real, swapped};
use crate::tables::Tables;
use crate::workspace::{ReadArray, SharedArray};
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

    /// Number of lines that are transformed side by side by a unit with `lanes` lanes.
    pub(crate) fn lines_at_once(&self, lanes: usize) -> usize {
        let one_block = match self {
            Line::Copy => true,
            Line::Passes(passes) => passes.is_one_block(),
            Line::Bluestein(bluestein) => bluestein.is_one_block(),
        };
        if one_block { lanes } else { 1 }
    }

    /// 64-bit words of workspace for one call by `workers` threads.
    pub(crate) fn workspace_len<const L: usize>(&self, workers: usize) -> usize {
        match self {
            Line::Copy => 0,
            Line::Passes(passes) => passes.workspace_len::<L>(workers),
            Line::Bluestein(bluestein) => bluestein.workspace_len::<L>(workers),
        }
    }

    /// Transforms `active` lines; a line with a NaN or an infinity becomes all NaN.
    ///
    /// The three functions that follow are this one for each unit, compiled once and here: callers are generic over
    /// the number type, and would otherwise compile it again in every crate that uses a plan.
    fn run<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        source: &dyn FloatSource<L>,
        sink: &dyn FloatSink<L>,
        active: usize,
        workspace: &mut [u64],
        workers: usize,
    ) {
        let (floats, rounded) = (Floats(source), Rounded(sink));
        let outcome = match self {
            Line::Copy => {
                copy(source, sink, active);
                Ok(())
            }
            Line::Passes(passes) => passes.run(unit, &floats, &rounded, active, workspace, workers),
            Line::Bluestein(bluestein) => {
                bluestein.run(unit, source, &rounded, active, workspace, workers)
            }
        };
        if outcome.is_err() {
            sink.fill_nan(0);
        }
    }
}

macro_rules! compiled_once {
    ($($name:ident, $unit:ty, $lanes:expr;)*) => {
        impl Line {$(
            #[inline(never)]
            pub(crate) fn $name(
                &self,
                unit: $unit,
                source: &dyn FloatSource<{ $lanes }>,
                sink: &dyn FloatSink<{ $lanes }>,
                active: usize,
                workspace: &mut [u64],
                workers: usize,
            ) {
                self.run(unit, source, sink, active, workspace, workers);
            }
        )*}
    };
}
compiled_once! {
    run_scalar, Scalar, 1;
    run_wide_integer, WideInteger, 1;
}
#[cfg(vector_unit)]
compiled_once! {
    run_avx512_vnni, Avx512Vnni, WIDE_LANES;
}

/// A transform of one point is the point, and no scaling is ever due. Adding 0 takes the sign off a zero.
fn copy<const L: usize>(source: &dyn FloatSource<L>, sink: &dyn FloatSink<L>, active: usize) {
    let (mut re, mut im) = ([[0; L]], [[0; L]]);
    let mut panel = Panel {
        re: &mut re,
        im: &mut im,
    };
    source.gather(&Lines::whole(active), 1, &mut panel);
    for lane in 0..active {
        let float = |bits: i64| f64::from_bits(bits as u64);
        let value = Complex::new(float(re[0][lane]), float(im[0][lane]));
        if value.re.is_finite() && value.im.is_finite() {
            let scale = f64::from(sink.bias()).exp2();
            sink.store(lane, 0, value * scale + Complex::new(0.0, 0.0));
        } else {
            sink.fill_nan(lane);
        }
    }
}

/// A source of floating-point numbers.
pub(crate) trait FloatSource<const L: usize>: Sync {
    /// Loads the bits of the elements below `limit` of every lane, in the orientation of a forward transform; zeros
    /// from there on.
    fn gather(&self, lines: &Lines<L>, limit: usize, values: &mut Panel<'_, L>);
}

/// A sink of floating-point numbers.
pub(crate) trait FloatSink<const L: usize>: Sync {
    /// Whether the numbers are f64, which [`FloatSink::scatter`] takes; others are converted by
    /// [`FloatSink::convert`].
    fn is_double(&self) -> bool;
    /// Stores the bits of f64 numbers.
    fn scatter(&self, lines: &Lines<L>, values: &Panel<'_, L>);
    /// Rounds and stores.
    fn convert(&self, lines: &Lines<L>, values: &WidePanel<'_, L>, exponents: &[i32; L]);
    /// Stores an output of a lane as it is.
    fn store(&self, lane: usize, index: usize, value: Complex<f64>);
    /// The whole line of a lane is NaN.
    fn fill_nan(&self, lane: usize);
    /// Whether real and imaginary parts are swapped, as for inverse transforms.
    fn swaps(&self) -> bool;
    /// Number of outputs that are kept.
    fn count(&self) -> usize;
    /// Number of points of the transform.
    fn length(&self) -> usize;
    /// Power of two by which outputs are scaled, so that nothing overflows between axes.
    fn bias(&self) -> i32;
}

/// The caller's numbers as a source of words.
struct Floats<'a, const L: usize>(&'a dyn FloatSource<L>);

impl<const L: usize> Source<L> for Floats<'_, L> {
    #[inline(always)]
    fn quantise(
        &self,
        lines: &Lines<L>,
        shape: Columns,
        words: &mut Panel<'_, L>,
        _: &mut [[i32; L]],
    ) -> Quantised<L> {
        self.0.gather(lines, usize::MAX, words);
        quantise_floats(words, shape)
    }
}

/// The first output and, for even lengths, the middle one of a line of real numbers are real (and those of a line of
/// imaginary numbers imaginary): the other part is exactly 0, and so it is returned, whatever rounding left there.
#[inline(always)]
fn clear_known_zeros<const L: usize>(
    lines: &Lines<L>,
    values: &mut WidePanel<'_, L>,
    found: &Quantised<L>,
    length: usize,
) {
    for special in [0, length / 2] {
        if special != 0 && !length.is_multiple_of(2) {
            continue;
        }
        for lane in 0..lines.active {
            let Some(distance) = special.checked_sub(lines.starts[lane]) else {
                continue;
            };
            let i = distance / lines.step;
            if !distance.is_multiple_of(lines.step) || i >= values.high.re.len() {
                continue;
            }
            if !found.nature[lane].has_imaginary {
                values.high.im[i][lane] = 0;
                values.low.im[i][lane] = 0;
            }
            if !found.nature[lane].has_real {
                values.high.re[i][lane] = 0;
                values.low.re[i][lane] = 0;
            }
        }
    }
}

/// The caller's array as a sink of wide integers.
struct Rounded<'a, const L: usize>(&'a dyn FloatSink<L>);

impl<const L: usize> Sink<L> for Rounded<'_, L> {
    #[inline(always)]
    fn accept(&self, lines: &Lines<L>, values: &mut WidePanel<'_, L>, found: &Quantised<L>) {
        clear_known_zeros(lines, values, found, self.0.length());
        let bias = self.0.bias();
        let exponents = found.exponents.map(|exponent| exponent + bias);
        if self.0.is_double() {
            let WidePanel { high, low } = values;
            for (high, low) in [(&mut *high.re, &*low.re), (&mut *high.im, &*low.im)] {
                for (high, low) in high.iter_mut().zip(low) {
                    for lane in 0..L {
                        let value = f64::from_wide(high[lane], low[lane], exponents[lane]);
                        high[lane] = value.to_bits() as i64;
                    }
                }
            }
            self.0.scatter(lines, high);
        } else {
            self.0.convert(lines, values, &exponents);
        }
        for lane in 0..lines.active {
            if found.nature[lane].not_finite {
                self.0.fill_nan(lane);
            }
        }
    }
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
pub(crate) struct ComplexInput<'a, T, const L: usize> {
    pub(crate) array: ReadArray<'a, Complex<T>>,
    pub(crate) places: [Placement; L],
    /// For inverse transforms.
    pub(crate) swap: bool,
}

/// Reads real numbers.
pub(crate) struct RealInput<'a, T, const L: usize> {
    pub(crate) array: ReadArray<'a, T>,
    pub(crate) places: [Placement; L],
    /// For inverse transforms.
    pub(crate) swap: bool,
}

/// Reads the non-redundant half of Hermitian lines of `n` points.
pub(crate) struct HalfInput<'a, T, const L: usize> {
    pub(crate) array: ReadArray<'a, Complex<T>>,
    pub(crate) places: [Placement; L],
    pub(crate) n: usize,
    /// For inverse transforms.
    pub(crate) swap: bool,
}

fn oriented(z: Complex<f64>, swap: bool) -> Complex<f64> {
    if swap { swapped(z) } else { z }
}

/// Fills a panel from a function of lane and element.
#[inline(always)]
fn fill<const L: usize>(
    lines: &Lines<L>,
    limit: usize,
    values: &mut Panel<'_, L>,
    swap: bool,
    element: impl Fn(usize, usize) -> Complex<f64>,
) {
    for (i, (re, im)) in values.re.iter_mut().zip(values.im.iter_mut()).enumerate() {
        for lane in 0..L {
            let index = lines.at(lane, i);
            let z = if index < limit {
                oriented(element(lane, index), swap)
            } else {
                Complex::new(0.0, 0.0)
            };
            re[lane] = z.re.to_bits() as i64;
            im[lane] = z.im.to_bits() as i64;
        }
    }
}

impl<T: Real, const L: usize> FloatSource<L> for ComplexInput<'_, T, L> {
    fn gather(&self, lines: &Lines<L>, limit: usize, values: &mut Panel<'_, L>) {
        fill(lines, limit, values, self.swap, |lane, index| {
            // SAFETY: a line is read and written by one thread, or read completely before it is written.
            let z = unsafe { self.array.get(self.places[lane].at(index)) };
            Complex::new(z.re.widen(), z.im.widen())
        });
    }
}

impl<T: Real, const L: usize> FloatSource<L> for RealInput<'_, T, L> {
    fn gather(&self, lines: &Lines<L>, limit: usize, values: &mut Panel<'_, L>) {
        fill(lines, limit, values, self.swap, |lane, index| {
            // SAFETY: as for complex input.
            let x = unsafe { self.array.get(self.places[lane].at(index)) };
            Complex::new(x.widen(), 0.0)
        });
    }
}

impl<T: Real, const L: usize> FloatSource<L> for HalfInput<'_, T, L> {
    fn gather(&self, lines: &Lines<L>, limit: usize, values: &mut Panel<'_, L>) {
        fill(lines, limit, values, self.swap, |lane, index| {
            let mirrored = 2 * index > self.n;
            let stored = if mirrored { self.n - index } else { index };
            // SAFETY: as for complex input.
            let z = unsafe { self.array.get(self.places[lane].at(stored)) };
            let im = match (stored == 0 || 2 * stored == self.n, mirrored) {
                // A real signal has no imaginary part here; what is given is left out (and reported by the plan), but a
                // NaN or an infinity still spoils the transform.
                (true, _) if z.im.widen().is_finite() => 0.0,
                (true, _) => f64::NAN,
                (false, false) => z.im.widen(),
                (false, true) => -z.im.widen(),
            };
            Complex::new(z.re.widen(), im)
        });
    }
}

/// Writes complex numbers: the first `count` of every line's outputs.
pub(crate) struct ComplexOutput<'a, T, const L: usize> {
    pub(crate) array: SharedArray<'a, Complex<T>>,
    pub(crate) places: [Placement; L],
    pub(crate) count: usize,
    pub(crate) length: usize,
    pub(crate) bias: i32,
    /// For inverse transforms.
    pub(crate) swap: bool,
}

/// Writes the real parts.
pub(crate) struct RealOutput<'a, T, const L: usize> {
    pub(crate) array: SharedArray<'a, T>,
    pub(crate) places: [Placement; L],
    pub(crate) count: usize,
    pub(crate) length: usize,
    pub(crate) bias: i32,
    /// For inverse transforms.
    pub(crate) swap: bool,
}

/// What the two outputs differ in: where and how one number is stored.
trait Store {
    type Number: Real;
    fn outputs(&self) -> usize;
    fn put(&self, lane: usize, index: usize, value: Complex<Self::Number>);
}

impl<T: Real, const L: usize> Store for ComplexOutput<'_, T, L> {
    type Number = T;
    fn outputs(&self) -> usize {
        self.count
    }
    #[inline(always)]
    fn put(&self, lane: usize, index: usize, value: Complex<T>) {
        let value = if self.swap { swapped(value) } else { value };
        // SAFETY: every output belongs to one line, and every line to one thread.
        unsafe { self.array.set(self.places[lane].at(index), value) }
    }
}

impl<T: Real, const L: usize> Store for RealOutput<'_, T, L> {
    type Number = T;
    fn outputs(&self) -> usize {
        self.count
    }
    #[inline(always)]
    fn put(&self, lane: usize, index: usize, value: Complex<T>) {
        let real = if self.swap { value.im } else { value.re };
        // SAFETY: every output belongs to one line, and every line to one thread.
        unsafe { self.array.set(self.places[lane].at(index), real) }
    }
}

macro_rules! float_sink {
    ($($output:ident),*) => {$(
        impl<T: Real, const L: usize> FloatSink<L> for $output<'_, T, L> {
            fn is_double(&self) -> bool {
                T::IS_DOUBLE
            }
            fn scatter(&self, lines: &Lines<L>, values: &Panel<'_, L>) {
                let float = |bits: i64| T::narrow(f64::from_bits(bits as u64));
                for (i, (re, im)) in values.re.iter().zip(values.im.iter()).enumerate() {
                    for lane in 0..lines.active {
                        let index = lines.at(lane, i);
                        if index < self.outputs() {
                            self.put(lane, index, Complex::new(float(re[lane]), float(im[lane])));
                        }
                    }
                }
            }
            fn convert(&self, lines: &Lines<L>, values: &WidePanel<'_, L>, exponents: &[i32; L]) {
                let (high, low) = (&values.high, &values.low);
                for i in 0..high.re.len() {
                    for lane in 0..lines.active {
                        let index = lines.at(lane, i);
                        if index < self.outputs() {
                            let number = |high: i64, low: i64| T::from_wide(high, low, exponents[lane]);
                            self.put(
                                lane,
                                index,
                                Complex::new(
                                    number(high.re[i][lane], low.re[i][lane]),
                                    number(high.im[i][lane], low.im[i][lane]),
                                ),
                            );
                        }
                    }
                }
            }
            fn store(&self, lane: usize, index: usize, value: Complex<f64>) {
                self.put(lane, index, Complex::new(T::narrow(value.re), T::narrow(value.im)));
            }
            fn fill_nan(&self, lane: usize) {
                for index in 0..self.outputs() {
                    self.store(lane, index, Complex::new(f64::NAN, f64::NAN));
                }
            }
            fn swaps(&self) -> bool {
                self.swap
            }
            fn count(&self) -> usize {
                self.count
            }
            fn length(&self) -> usize {
                self.length
            }
            fn bias(&self) -> i32 {
                self.bias
            }
        }
    )*};
}
float_sink!(ComplexOutput, RealOutput);
