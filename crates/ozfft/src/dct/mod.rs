//! Cosine and sine transforms of types 1 to 4, by one Fourier transform of about their length.
//!
//! Types 2 and 3 are a real transform of the same length with the samples in another order, and a rotation of the half-spectrum
//! after or before it (Makhoul 1980). Type 4 of an even length is a complex transform of half the length between two rotations; of
//! an odd length a real transform of the same length in another order, whose real and imaginary parts are added and multiplied by
//! √2. Type 1 is the real transform of the longer, symmetric array that defines it. Sine transforms are cosine transforms of arrays
//! in reverse order or with alternating signs.
//!
//! Rotations are separate products and sums of doubles, each correctly rounded, with tables that are the same everywhere
//! (`rotations`), so the bits are the same on every machine. Single precision is rotated in double, and rounded once.
//!
//! # The bound
//!
//! With β the bound of the inner transform and u = 2⁻⁵³, the relative L2 error of one line is at most
//!
//! | type | bound | inner transform |
//! |---|---|---|
//! | 1 | √2 β | r2c of 2(n ∓ 1) points, whose half-spectrum it is |
//! | 2 | √2 β + 4 u | r2c of n points |
//! | 3 | β + 4 u | c2r of n points |
//! | 4, n even | β + 7 u | c2c of n/2 points |
//! | 4, n odd | √2 β + 3 u | r2c of n points |
//!
//! A rotation of z: the table is off by u of its size, which is 1; the four products by u of theirs, together √2 u |z|; the two
//! sums by u of theirs, together u |z|: less than 3.5 u |z|. In types 2 and 4 (n odd) the error of the half-spectrum counts up to
//! fourfold in the energy of the result, and that is at least twice the energy of the whole spectrum, of which β speaks: hence √2.
//! Single precision adds 2⁻²⁴ for every rounding to f32 outside the inner transform: one in types 2 and 3, one in type 4 where n is
//! odd, two where it is even.
//!
//! `orthogonal` makes the bound √2 times as large, as the result may be shorter by that factor, and adds 8 u (f32: 8 · 2⁻²⁴): two products
//! by the double next to √2 or √½, of numbers of which the matrix may double the error. A norm adds 2 u (f32: 2 · 2⁻²⁴): one division by a
//! rounded number. Of several axes each multiplies the error that it is given by the condition number of its matrix (2 for the cosine
//! transform of type 1, √2 for types 2 and 3, else 1; 1 for orthogonal ones), and adds its own.
//!
//! This holds for all finite inputs, as every transform is computed from its numbers times a power of two that brings the largest
//! between 1 and 2:
//!
//! 1. Numbers that this makes subnormal, and subnormal results of rotations, are off by s = 2⁻¹⁰⁷⁵ (f32: 2⁻¹⁵⁰) at most, together
//!    2√n s in norm, while the norm of the numbers is at least 1. β contains the rounding of its results at the full u of their size
//!    (f32: 2⁻²⁴), and a rounding to nearest is off by u/(1 + u) at most: what is left, u², is more than that.
//! 2. Nothing overflows in between: a number is at most 4n times the largest one of its line, for each axis.
//! 3. The power of two comes back with the last rounding. Where a result is subnormal, that adds s for this result, in absolute
//!    terms; an element is infinite only if its exact value is beyond the largest number, or nearer to it than the bound.

mod lines;
mod rotations;
mod walk;

use crate::error::{Buffer, FftError};
use crate::layout::Layout;
use crate::plan::Plan;
use crate::plan::planner::Planner;
use crate::portable::power_of_two;
use crate::problem::{Norm, Problem};
use crate::sample::Real;
use crate::stages::scale::exponent_above;
use float_environment::DefaultEnvironment;
use lines::{Inner, Lines};
use num_complex::Complex;
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};
use std::sync::Arc;
use walk::{Dimension, Walk};

/// Real numbers that are transformed at once, so that intermediates stay small.
const BLOCK: usize = 1 << 17;

/// The exponent of a transform with an infinity or a NaN, all of whose results are NaN.
const NOT_FINITE: i32 = i32::MAX;

/// The transforms, numbered as in SciPy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DctKind {
    /// `x₀ + (-1)^k x₍n₋₁₎ + 2 Σ x_j cos(πjk/(n-1))`, the sum without both ends; of two points and more.
    Dct1,
    /// `2 Σ x_j cos(πk(2j+1)/2n)`.
    Dct2,
    /// `x₀ + 2 Σ x_j cos(πj(2k+1)/2n)`, the sum without the first.
    Dct3,
    /// `2 Σ x_j cos(π(2j+1)(2k+1)/4n)`.
    Dct4,
    /// `2 Σ x_j sin(π(j+1)(k+1)/(n+1))`.
    Dst1,
    /// `2 Σ x_j sin(π(k+1)(2j+1)/2n)`.
    Dst2,
    /// `(-1)^k x₍n₋₁₎ + 2 Σ x_j sin(π(j+1)(2k+1)/2n)`, the sum without the last.
    Dst3,
    /// `2 Σ x_j sin(π(2j+1)(2k+1)/4n)`.
    Dst4,
}

impl DctKind {
    fn is_sine(self) -> bool {
        use DctKind::*;
        matches!(self, Dst1 | Dst2 | Dst3 | Dst4)
    }

    /// The number of points that norms speak of.
    fn logical_length(self, n: usize) -> u128 {
        match self {
            DctKind::Dct1 => 2 * (n as u128 - 1),
            DctKind::Dst1 => 2 * (n as u128 + 1),
            _ => 2 * n as u128,
        }
    }

    /// Whether the first and the last number of a line are multiplied, by √2 before and by √½ after the transform, for an
    /// orthogonal matrix.
    fn ends(self) -> ([bool; 2], [bool; 2]) {
        use DctKind::*;
        const NONE: [bool; 2] = [false, false];
        match self {
            Dct1 => ([true, true], [true, true]),
            Dct2 => (NONE, [true, false]),
            Dct3 => ([true, false], NONE),
            Dst2 => (NONE, [false, true]),
            Dst3 => ([false, true], NONE),
            Dct4 | Dst1 | Dst4 => (NONE, NONE),
        }
    }
}

/// One of the axes.
struct Axis<T: Real> {
    lines: Lines,
    /// The dimensions that are not this axis, those with long strides first.
    others: Vec<Dimension>,
    /// The axis itself.
    along: Dimension,
    /// The Fourier transform of as many lines as are transformed at once, and of those that are left for the last time.
    plans: [(usize, Option<Arc<Plan<T>>>); 2],
}

/// A planned cosine or sine transform of arrays of real numbers.
///
/// ```
/// use ozfft::dct::{DctKind, DctPlan};
/// use ozfft::{Planner, Problem};
/// let plan = DctPlan::new(&Planner::new(), DctKind::Dct2, false, &Problem::complex(&[4]))?;
/// let mut result = [0.0; 4];
/// plan.process(&[1.0, 2.0, 3.0, 4.0], &mut result)?;
/// assert_eq!(result[0], 20.0);
/// # Ok::<(), ozfft::FftError>(())
/// ```
pub struct DctPlan<T: Real> {
    arrays: Problem,
    axes: Vec<Axis<T>>,
    orthogonal: bool,
    ends: ([bool; 2], [bool; 2]),
    /// What results are divided by.
    divisor: Option<f64>,
}

impl<T: Real> std::fmt::Debug for DctPlan<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DctPlan")
            .field("arrays", &self.arrays)
            .finish_non_exhaustive()
    }
}

impl<T: Real> DctPlan<T> {
    /// Plans a transform of arrays that `arrays` describes: its shape, axes (transformed in the order that they are given in),
    /// layouts, norm, accuracy, engine, device and threads. Elements are real, and the norm `Forward` divides by the logical number
    /// of points; `Problem::complex` makes such a description. `orthogonal` multiplies ends of lines by √2 and √½ so that the
    /// matrix is orthogonal up to a factor.
    pub fn new(
        planner: &Planner<T>,
        kind: DctKind,
        orthogonal: bool,
        arrays: &Problem,
    ) -> Result<DctPlan<T>, FftError> {
        let _environment = DefaultEnvironment::enter();
        arrays.validate()?;
        if arrays.batch != 1 || arrays.input_shape() != arrays.output_shape() {
            return Err(FftError::Unsupported(
                "cosine and sine transforms take arrays of real numbers; describe them by Problem::complex, without a batch".into(),
            ));
        }
        let short = |&axis: &usize| kind == DctKind::Dct1 && arrays.shape()[axis] < 2;
        if arrays.axes.iter().any(short) {
            return Err(FftError::Unsupported(format!(
                "a cosine transform of type 1 needs two points along every axis, and the shape is {:?}; take another type",
                arrays.shape()
            )));
        }
        let axes = arrays.axes.iter();
        let axes = axes.map(|&axis| Axis::new(planner, kind, arrays, axis));
        let lengths = arrays.axes.iter().map(|&axis| arrays.shape()[axis]);
        let points = lengths.fold(1u128, |points, n| {
            points.saturating_mul(kind.logical_length(n))
        });
        let divisor = match arrays.norm {
            Norm::Backward | Norm::Unscaled => None,
            Norm::Ortho => Some((points as f64).sqrt()),
            Norm::Forward => Some(points as f64),
        };
        Ok(DctPlan {
            arrays: arrays.clone(),
            axes: axes.collect::<Result<_, _>>()?,
            orthogonal,
            ends: match orthogonal {
                true => kind.ends(),
                false => Default::default(),
            },
            divisor: divisor.map(|divisor| T::narrow(divisor).widen()),
        })
    }

    /// Relative L2 error that no finite input exceeds, but for half of the smallest number above zero in every result that is subnormal,
    /// and as long as no result overflows. Proven if the bounds of the Fourier transforms inside are.
    pub fn bound(&self) -> f64 {
        let mut bound = 0.0;
        for axis in &self.axes {
            let inner = axis.plans[0].1.as_ref().map_or(0.0, |plan| plan.bound());
            let (own, condition) = match (axis.lines.bound::<T>(inner), self.orthogonal) {
                ((own, _), true) => (SQRT_2 * own + 8.0 * T::UNIT_ROUNDOFF, 1.0),
                (own, false) => own,
            };
            bound = own * (1.0 + bound) + condition * bound;
        }
        if self.divisor.is_some() {
            bound += 2.0 * T::UNIT_ROUNDOFF;
        }
        bound * (1.0 + 1e-12)
    }

    /// About how many bytes its tables have.
    pub fn table_bytes(&self) -> usize {
        let plans = self.axes.iter().flat_map(|axis| &axis.plans);
        let plans = plans.filter_map(|(_, plan)| plan.as_ref());
        let lines = self.axes.iter().map(|axis| axis.lines.bytes());
        plans.map(|plan| plan.table_bytes()).sum::<usize>() + lines.sum::<usize>()
    }

    /// Number of elements that the input must have.
    pub fn input_len(&self) -> usize {
        self.arrays.input_len()
    }

    /// Number of elements that the output must have.
    pub fn output_len(&self) -> usize {
        self.arrays.output_len()
    }

    /// Transforms from one array to another.
    pub fn process(&self, input: &[T], output: &mut [T]) -> Result<(), FftError> {
        for (buffer, expected, given) in [
            (Buffer::Input, self.input_len(), input.len()),
            (Buffer::Output, self.output_len(), output.len()),
        ] {
            if given != expected {
                return Err(FftError::BufferLength {
                    buffer,
                    expected,
                    given,
                });
            }
        }
        let _environment = DefaultEnvironment::enter();
        let exponents = self.exponents(input);
        let last = self.axes.len() - 1;
        for (number, axis) in self.axes.iter().enumerate() {
            let stage = Stage {
                plan: self,
                axis,
                is_first: number == 0,
                is_last: number == last,
                exponents: &exponents,
            };
            stage.run(input, output)?;
        }
        Ok(())
    }

    /// Where the first element is in every layout.
    fn start(&self) -> [isize; walk::LAYOUTS] {
        let offset = |layout: Layout| layout.offset() as isize;
        let arrays = &self.arrays;
        [
            offset(arrays.resolved_input()),
            offset(arrays.resolved_output()),
            0,
        ]
    }

    /// For every transform by itself the power of two that its largest number is at least, and less than twice of.
    fn exponents(&self, input: &[T]) -> Vec<i32> {
        let shape = self.arrays.shape().iter().enumerate();
        let others = shape.filter(|(axis, _)| !self.arrays.axes.contains(axis));
        let mut largest = vec![0; others.map(|(_, &n)| n).product()];
        let axis = &self.axes[0];
        for [from, _, member] in Walk::new(&axis.others, self.start()) {
            let largest = &mut largest[member as usize];
            for k in 0..axis.along.length {
                let place = from + k as isize * axis.along.strides[0];
                *largest = input[place as usize].widen().abs().to_bits().max(*largest);
            }
        }
        let exponent = |bits| match bits {
            0 => 0,
            _ if bits >= f64::INFINITY.to_bits() => NOT_FINITE,
            _ => exponent_above(bits) - 1,
        };
        largest.into_iter().map(exponent).collect()
    }
}

impl<T: Real> Axis<T> {
    fn new(
        planner: &Planner<T>,
        kind: DctKind,
        arrays: &Problem,
        axis: usize,
    ) -> Result<Axis<T>, FftError> {
        let shape = arrays.shape();
        let (input, output) = (arrays.resolved_input(), arrays.resolved_output());
        // Members of a batch are numbered over the dimensions that are not transformed.
        let mut members = 1;
        let mut dimensions = Vec::new();
        for place in (0..shape.len()).rev() {
            let is_transformed = arrays.axes.contains(&place);
            dimensions.push(Dimension {
                length: shape[place],
                strides: [
                    input.strides()[place],
                    output.strides()[place],
                    if is_transformed { 0 } else { members },
                ],
            });
            if !is_transformed {
                members *= shape[place] as isize;
            }
        }
        let along = dimensions.remove(shape.len() - 1 - axis);
        let mut others = dimensions;
        others.sort_by_key(|dimension| std::cmp::Reverse(dimension.strides[1].unsigned_abs()));
        let lines = Lines::new(kind, along.length);
        let count: usize = others.iter().map(|dimension| dimension.length).product();
        let together = (BLOCK / along.length).clamp(1, count);
        let plan = |lines_at_once: usize| -> Result<_, FftError> {
            if lines_at_once == 0 {
                return Ok((0, None));
            }
            let mut problem = lines.problem().batch(lines_at_once);
            problem.threads = arrays.threads;
            let problem = problem.accuracy(arrays.accuracy).engine(arrays.engine);
            let planned = planner.plan(&problem.device(arrays.device))?;
            Ok((lines_at_once, Some(planned)))
        };
        Ok(Axis {
            plans: [plan(together)?, plan(count % together)?],
            lines,
            others,
            along,
        })
    }
}

/// One axis of one call.
struct Stage<'a, T: Real> {
    plan: &'a DctPlan<T>,
    axis: &'a Axis<T>,
    is_first: bool,
    is_last: bool,
    /// Of every member.
    exponents: &'a [i32],
}

impl<T: Real> Stage<'_, T> {
    /// Transforms all lines of the axis, from the input if it is the first one, and within the output if not.
    fn run(&self, input: &[T], output: &mut [T]) -> Result<(), FftError> {
        let Axis {
            lines,
            others,
            along,
            plans,
        } = self.axis;
        let (inner, points) = lines.inner();
        let (reals_of_line, numbers_of_line) = match inner {
            Inner::Complex => (0, points),
            _ => (points, points / 2 + 1),
        };
        let together = plans[0].0;
        let mut line = vec![T::default(); along.length];
        let mut reals = vec![T::default(); together * reals_of_line];
        let zero = Complex::new(T::default(), T::default());
        let mut numbers = vec![zero; together * numbers_of_line];
        let mut walk = Walk::new(others, self.plan.start());
        loop {
            let places: Vec<_> = walk.by_ref().take(together).collect();
            if places.is_empty() {
                return Ok(());
            }
            let part = |number: usize, each: usize| number * each..(number + 1) * each;
            for (number, &[from, to, member]) in places.iter().enumerate() {
                let exponent = self.exponents[member as usize];
                match self.is_first {
                    true => self.read(input, from, along.strides[0], exponent, &mut line),
                    false => self.read(output, to, along.strides[1], 0, &mut line),
                }
                lines.before(
                    &line,
                    &mut reals[part(number, reals_of_line)],
                    &mut numbers[part(number, numbers_of_line)],
                );
            }
            let reals = &mut reals[..places.len() * reals_of_line];
            let numbers = &mut numbers[..places.len() * numbers_of_line];
            let planned = plans.iter().find(|(count, _)| *count == places.len());
            if let Some((_, Some(plan))) = planned {
                match inner {
                    Inner::RealToComplex => plan.process_real_to_complex(reals, numbers)?,
                    Inner::ComplexToReal => plan.process_complex_to_real(numbers, reals)?,
                    Inner::Complex => plan.process(numbers)?,
                }
            }
            for (number, &[_, to, member]) in places.iter().enumerate() {
                lines.after(
                    &reals[part(number, reals_of_line)],
                    &numbers[part(number, numbers_of_line)],
                    &mut line,
                );
                self.write(&mut line, output, to, self.exponents[member as usize]);
            }
        }
    }

    /// Reads a line, divided by two to the power of the exponent.
    fn read(&self, array: &[T], start: isize, stride: isize, exponent: i32, line: &mut [T]) {
        if exponent == NOT_FINITE {
            return line.fill(T::default());
        }
        let factors = factors(-exponent);
        for (k, x) in line.iter_mut().enumerate() {
            let number = array[(start + k as isize * stride) as usize].widen();
            *x = T::narrow(number * factors[0] * factors[1]);
        }
        multiply(line, self.plan.ends.0, SQRT_2);
    }

    /// Writes a line, and behind the last axis in the scale of the result.
    fn write(&self, line: &mut [T], output: &mut [T], start: isize, exponent: i32) {
        multiply(line, self.plan.ends.1, FRAC_1_SQRT_2);
        let stride = self.axis.along.strides[1];
        let place = |k: usize| (start + k as isize * stride) as usize;
        if !self.is_last {
            for (k, &x) in line.iter().enumerate() {
                output[place(k)] = x;
            }
        } else if exponent == NOT_FINITE {
            for k in 0..line.len() {
                output[place(k)] = T::narrow(f64::NAN);
            }
        } else {
            let factors = factors(exponent);
            let divisor = self.plan.divisor.unwrap_or(1.0);
            for (k, x) in line.iter().enumerate() {
                output[place(k)] = T::narrow(x.widen() / divisor * factors[0] * factors[1]);
            }
        }
    }
}

/// Two factors whose product is a power of two, which need not be a double itself. Where a product with both is rounded, that with the first
/// is not, or both vanish.
fn factors(exponent: i32) -> [f64; 2] {
    let first = match exponent {
        -1022..=1023 => 0,
        _ => exponent / 2,
    };
    [power_of_two(first), power_of_two(exponent - first)]
}

/// Multiplies the first and the last number of a line, if they are to be.
fn multiply<T: Real>(line: &mut [T], ends: [bool; 2], factor: f64) {
    let factor = T::narrow(factor).widen();
    for (place, is_multiplied) in [0, line.len() - 1].into_iter().zip(ends) {
        if is_multiplied {
            line[place] = T::narrow(line[place].widen() * factor);
        }
    }
}
