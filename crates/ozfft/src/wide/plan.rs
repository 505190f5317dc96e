//! Plans for double-double numbers: validation of the problem, and the loop over axes.

use super::block::Tables;
use super::budget::{BETWEEN_AXES, ErrorBudget, result};
use super::double_double::DoubleDouble;
use super::hardware::Hardware;
use super::line::{Lines, WideLine};
use super::outputs::{OutputLine, Target};
use super::quantise::{Line, Numbers};
use crate::error::{Buffer, FftError};
use crate::executor::lines::{InputArray, OutputArray, Place};
use crate::executor::schedule::{AxisPass, axis_passes};
use crate::kind::Kind;
use crate::layout::Layout;
use crate::matrix_unit::Unit;
use crate::norm::Scaling;
use crate::parallel;
use crate::plan::note_on_bound;
use crate::plan::planner::MOST_THREADS;
use crate::problem::{Device, Direction, Engine, Problem, Products, ResidueOptions};
use crate::recipe::LineRecipe;
use crate::recipe::factor;
use crate::stages::quantise::LineProperties;
use crate::stages::scale::{self, ScaleBetweenAxes, exponent_above, larger};
use crate::sync::lock;
use crate::transform::budget::bound_text;
use crate::workspace::SharedArray;
use float_environment::DefaultEnvironment;
use num_complex::Complex;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

/// Makes plans for double-double numbers and keeps their tables.
///
/// ```
/// use num_complex::Complex;
/// use ozfft::{DoubleDouble, Problem, WidePlanner};
/// let plan = WidePlanner::new().plan(&Problem::complex(&[3]))?;
/// let third = DoubleDouble::new(1.0 / 3.0, 2f64.powi(-54) / 3.0);
/// let mut data = vec![Complex::new(third, DoubleDouble::ZERO); 3];
/// plan.process(&mut data)?;
/// assert_eq!((data[0].re - DoubleDouble::from(1.0)).high.abs() < 1e-32, true);
/// assert_eq!(data[1], Complex::new(DoubleDouble::ZERO, DoubleDouble::ZERO));
/// assert!(plan.bound() < 1e-30);
/// # Ok::<(), ozfft::FftError>(())
/// ```
#[derive(Debug, Default)]
pub struct WidePlanner {
    tables: Tables,
    lines: Mutex<HashMap<(LineRecipe, Scaling), Arc<WideLine>>>,
}

/// A planned transform of [`DoubleDouble`]s, with a proven bound below 1e-30 and the same bits on every unit, with any number of
/// threads, batch and layout.
///
/// All kinds, axes, norms and layouts of a [`Problem`] are there; engine, products and device are those of the digits on the
/// processor, and others are rejected. Calls allocate what memory they need.
///
/// Real transforms return the bits of the complex transform of the same numbers. A NaN or an infinity in a transform makes
/// all of it NaN, as elsewhere.
pub struct WidePlan {
    problem: Problem,
    passes: Vec<(AxisPass, Arc<WideLine>)>,
    spare_len: usize,
    hardware: Hardware,
    threads: usize,
    budget: ErrorBudget,
}

impl WidePlanner {
    /// A planner without tables.
    pub fn new() -> WidePlanner {
        WidePlanner::default()
    }

    /// Plans a problem.
    ///
    /// [`Problem::accuracy`] may name any error that the plan's bound keeps; a smaller one is rejected.
    pub fn plan(&self, problem: &Problem) -> Result<WidePlan, FftError> {
        let _environment = DefaultEnvironment::enter();
        problem.validate()?;
        supported(problem)?;
        let unit = Unit::new(problem.substrate)?;
        let hardware = Hardware {
            unit,
            products: unit.byte_products(),
        };
        let threads = problem.threads.unwrap_or_else(parallel::threads);
        let threads = threads.min(MOST_THREADS);
        let scaling = Scaling::of(problem);
        let (passes, spare_len) = axis_passes(problem);
        let mut budget = ErrorBudget::EXACT;
        let mut planned = Vec::new();
        for (number, pass) in passes.into_iter().enumerate() {
            let line = self.line(pass.n, scaling, &hardware, threads);
            if number > 0 {
                budget = budget.then(BETWEEN_AXES);
            }
            let real = pass.kind == Kind::RealToComplex;
            budget = budget.then(result(&line.recipe, line.budget, real));
            planned.push((pass, line));
        }
        if let Some(asked) = problem.accuracy.target()
            && asked < budget.bound
        {
            return Err(FftError::AccuracyUnreachable {
                asked,
                best: budget.bound,
            });
        }
        Ok(WidePlan {
            problem: problem.clone(),
            passes: planned,
            spare_len,
            hardware,
            threads,
            budget,
        })
    }

    fn line(
        &self,
        n: usize,
        scaling: Scaling,
        hardware: &Hardware,
        threads: usize,
    ) -> Arc<WideLine> {
        let recipe = factor::line(n);
        let key = (recipe.clone(), scaling);
        if let Some(line) = lock(&self.lines).get(&key) {
            return Arc::clone(line);
        }
        let (scale, exponent) = scaling.factor(n);
        let line = WideLine::new(recipe, (&scale, exponent), &self.tables, hardware, threads);
        let line = Arc::new(line);
        lock(&self.lines).insert(key, Arc::clone(&line));
        line
    }
}

/// Rejects by name what there is not.
fn supported(problem: &Problem) -> Result<(), FftError> {
    let reject = |what: String| Err(FftError::Unsupported(what));
    match problem.engine {
        Engine::Auto | Engine::Digits => {}
        other => {
            return reject(format!(
                "pairs are transformed by digits, not by the engine {other:?}; take the engine digits or auto"
            ));
        }
    }
    if problem.products == Products::Exact {
        return reject(
            "products of double-double numbers are truncated; take truncated products".into(),
        );
    }
    if let Device::Cuda(_) = problem.device {
        return reject(
            "pairs are transformed on the processor; take the device cpu or auto".into(),
        );
    }
    if problem.residues != ResidueOptions::default() {
        return reject("pairs are transformed without residues; leave their options out".into());
    }
    Ok(())
}

impl WidePlan {
    /// The planned problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Relative L2 error that no finite input exceeds, as long as no number of the output overflows, and none that matters,
    /// there or in the input, is so small (below 2^-969) that its low part is. What it is relative to is said at
    /// [`crate::Plan::bound`].
    pub fn bound(&self) -> f64 {
        self.budget.bound
    }

    /// Relative L2 error to expect of random input.
    pub fn expected(&self) -> f64 {
        self.budget.expected
    }

    /// The matrix unit that runs, by name.
    pub fn substrate(&self) -> &'static str {
        self.hardware.unit.name()
    }

    /// Transforms in place.
    pub fn process(&self, buffer: &mut [Complex<DoubleDouble>]) -> Result<(), FftError> {
        self.expect_kind(Kind::ComplexToComplex)?;
        if self.problem.resolved_input() != self.problem.resolved_output() {
            return Err(FftError::InPlaceLayout);
        }
        let (problem, given) = (&self.problem, buffer.len());
        let layout = problem.output.as_ref();
        expect_len(Buffer::Output, layout, problem.output_len(), given)?;
        let shared = SharedArray::new(buffer);
        self.run(
            InputArray::Complex(shared.reader()),
            OutputArray::Complex(shared),
        )
    }

    /// Transforms from one array to another; the input is left as it is.
    pub fn process_outofplace(
        &self,
        input: &[Complex<DoubleDouble>],
        output: &mut [Complex<DoubleDouble>],
    ) -> Result<(), FftError> {
        self.expect_kind(Kind::ComplexToComplex)?;
        self.expect_lengths(input.len(), output.len())?;
        self.run(
            InputArray::Complex(SharedArray::read_only(input)),
            OutputArray::Complex(SharedArray::new(output)),
        )
    }

    /// Transforms real data to its half-spectrum.
    pub fn process_real_to_complex(
        &self,
        input: &[DoubleDouble],
        output: &mut [Complex<DoubleDouble>],
    ) -> Result<(), FftError> {
        self.expect_kind(Kind::RealToComplex)?;
        self.expect_lengths(input.len(), output.len())?;
        self.run(
            InputArray::Real(SharedArray::read_only(input)),
            OutputArray::Complex(SharedArray::new(output)),
        )
    }

    /// Transforms a half-spectrum to real data; the input is left as it is.
    ///
    /// Along one axis, imaginary parts at the first and middle frequency are taken as 0 and reported as
    /// [`FftError::NotHermitian`] after the output has been computed.
    pub fn process_complex_to_real(
        &self,
        input: &[Complex<DoubleDouble>],
        output: &mut [DoubleDouble],
    ) -> Result<(), FftError> {
        self.expect_kind(Kind::ComplexToReal)?;
        self.expect_lengths(input.len(), output.len())?;
        self.run(
            InputArray::Complex(SharedArray::read_only(input)),
            OutputArray::Real(SharedArray::new(output)),
        )
    }

    fn expect_kind(&self, called: Kind) -> Result<(), FftError> {
        let planned = self.problem.kind();
        if planned == called {
            Ok(())
        } else {
            Err(FftError::WrongKind { planned, called })
        }
    }

    fn expect_lengths(&self, input: usize, output: usize) -> Result<(), FftError> {
        let problem = &self.problem;
        let layouts = (problem.input.as_ref(), problem.output.as_ref());
        expect_len(Buffer::Input, layouts.0, problem.input_len(), input)?;
        expect_len(Buffer::Output, layouts.1, problem.output_len(), output)
    }

    fn run(
        &self,
        input: InputArray<'_, DoubleDouble>,
        output: OutputArray<'_, DoubleDouble>,
    ) -> Result<(), FftError> {
        let _environment = DefaultEnvironment::enter();
        let seen = self.look_at(input);
        if self.problem.strict
            && let Some((index, value)) = seen.not_finite
        {
            return Err(FftError::NotFinite { index, value });
        }
        let scales = self.scales(&seen.largest);
        let zero = Complex::new(DoubleDouble::ZERO, DoubleDouble::ZERO);
        let mut spare = vec![zero; self.spare_len];
        let spare = SharedArray::new(&mut spare);
        let last = self.passes.len() - 1;
        for (number, (pass, line)) in self.passes.iter().enumerate() {
            let from = match pass.from {
                Place::Input => input,
                Place::Spare => InputArray::Complex(spare.reader()),
                Place::Output => match output {
                    OutputArray::Complex(array) => InputArray::Complex(array.reader()),
                    OutputArray::Real(array) => InputArray::Real(array.reader()),
                },
            };
            let to = match pass.to {
                Place::Spare => OutputArray::Complex(spare),
                _ => output,
            };
            let sign = i32::from(number == 0) - i32::from(number == last);
            let bias = |line: usize| match sign {
                0 => 0,
                _ => sign * scales[pass.read.transform(line)],
            };
            self.run_axis(pass, line, bias, from, to);
        }
        match seen.not_hermitian {
            0 => Ok(()),
            count => Err(FftError::NotHermitian { count }),
        }
    }

    /// All lines along an axis.
    fn run_axis(
        &self,
        pass: &AxisPass,
        line: &WideLine,
        bias: impl Fn(usize) -> i32 + Sync,
        from: InputArray<'_, DoubleDouble>,
        to: OutputArray<'_, DoubleDouble>,
    ) {
        let conjugate = self.problem.direction == Direction::Inverse;
        let numbers = match (from, pass.kind) {
            (InputArray::Complex(array), Kind::ComplexToReal) => Numbers::Half(array, pass.n),
            (InputArray::Complex(array), _) => Numbers::Complex(array),
            (InputArray::Real(array), _) => Numbers::Real(array),
        };
        let target = match to {
            OutputArray::Complex(array) => Target::Complex(array),
            OutputArray::Real(array) => Target::Real(array),
        };
        line.run(&Lines {
            hardware: &self.hardware,
            threads: self.threads,
            count: pass.read.count(),
            outputs: match pass.kind {
                Kind::RealToComplex => pass.n / 2 + 1,
                _ => pass.n,
            },
            bias,
            input: |number: usize| Line {
                numbers,
                place: pass.read.placement(number),
                conjugate,
            },
            output: |number: usize, properties: LineProperties| OutputLine {
                target,
                place: pass.write.placement(number),
                conjugate,
                n: pass.n,
                properties,
            },
        });
    }

    /// Properties of the input that are needed before anything is written.
    fn look_at(&self, input: InputArray<'_, DoubleDouble>) -> Seen {
        let (pass, _) = &self.passes[0];
        let half = pass.kind == Kind::ComplexToReal;
        let mut seen = Seen::default();
        if self.passes.len() > 1 {
            let transforms = self.problem.batch * self.problem.transforms_of_array();
            seen.largest = vec![0; transforms];
        }
        if !(self.problem.strict || half || self.passes.len() > 1) {
            return seen;
        }
        let count = if half { pass.n / 2 + 1 } else { pass.n };
        for number in 0..pass.read.count() {
            let place = pass.read.placement(number);
            let mut hermitian = true;
            let mut largest = 0;
            for i in 0..count {
                // SAFETY: nothing writes before the run begins.
                let (re, im) = unsafe {
                    match input {
                        InputArray::Complex(array) => {
                            let value = array.get(place.at(i));
                            (value.re, value.im)
                        }
                        InputArray::Real(array) => (array.get(place.at(i)), DoubleDouble::ZERO),
                    }
                };
                if re.has_finite_sum() && im.has_finite_sum() {
                    let parts = [re.high, re.low, im.high, im.low];
                    largest = parts.into_iter().fold(largest, larger);
                } else if seen.not_finite.is_none() {
                    let sum = |x: DoubleDouble| x.high + x.low;
                    let text = match input {
                        InputArray::Complex(_) => format!("{}{:+}i", sum(re), sum(im)),
                        InputArray::Real(_) => format!("{}", sum(re)),
                    };
                    seen.not_finite = Some((place.at(i), text));
                }
                hermitian &= !half || !(i == 0 || 2 * i == pass.n) || im == DoubleDouble::ZERO;
            }
            seen.not_hermitian += usize::from(!hermitian);
            if let Some(of_transform) = seen.largest.get_mut(pass.read.transform(number)) {
                *of_transform = largest.max(*of_transform);
            }
        }
        seen
    }

    /// The scale of every transform between axes (`scale.rs`); none for a single axis.
    fn scales(&self, largest: &[u64]) -> Vec<i32> {
        let lengths = self.passes.iter().map(|(pass, _)| pass.n);
        let scale = ScaleBetweenAxes::new(scale::Numbers::PAIR, lengths);
        let powers = largest
            .iter()
            .map(|&bits| scale.power(exponent_above(bits)));
        powers.collect()
    }
}

/// See [`WidePlan::look_at`].
#[derive(Debug, Default)]
struct Seen {
    not_finite: Option<(usize, String)>,
    not_hermitian: usize,
    /// Of every transform, as the bits of an f64, where there are several axes.
    largest: Vec<u64>,
}

/// As for a [`crate::Plan`]: a buffer may be longer where a layout describes the array.
fn expect_len(
    buffer: Buffer,
    layout: Option<&Layout>,
    expected: usize,
    given: usize,
) -> Result<(), FftError> {
    if given == expected || given > expected && layout.is_some() {
        Ok(())
    } else {
        Err(FftError::BufferLength {
            buffer,
            expected,
            given,
        })
    }
}

impl fmt::Display for WidePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = &self.problem;
        writeln!(
            f,
            "{} {:?} of pairs, axes {:?}, batch {}, {:?}, norm {:?}, {} threads",
            problem.kind(),
            problem.shape(),
            problem.axes,
            problem.batch,
            problem.direction,
            problem.norm,
            self.threads
        )?;
        write!(
            f,
            "engine digits on {}, 16 data digits × 16 matrix digits, 16 diagonals;",
            self.substrate()
        )?;
        for (pass, line) in &self.passes {
            write!(f, " axis {}: {};", pass.axis, line.recipe)?;
        }
        writeln!(f)?;
        writeln!(f, "bound {} (proven)", bound_text(self.bound(), 2))?;
        if let Some(note) = note_on_bound(&self.problem) {
            writeln!(f, "  {note}")?;
        }
        write!(f, "expected {:.2e}", self.expected())
    }
}

impl fmt::Debug for WidePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both halves are finite, and their sum is not.
    const BEYOND: DoubleDouble = DoubleDouble {
        high: f64::MAX,
        low: f64::MAX,
    };

    #[test]
    fn a_pair_whose_sum_is_not_finite_is_refused_by_strict_plans() {
        let problem = Problem::complex(&[4]).strict(true);
        let plan = WidePlanner::new().plan(&problem).unwrap();
        for at_half in [false, true] {
            let mut numbers = vec![Complex::new(DoubleDouble::ONE, DoubleDouble::ZERO); 4];
            numbers[2].re = BEYOND;
            if at_half {
                // Half a unit above the largest number rounds to infinity.
                numbers[2].re.low = 2f64.powi(970);
            }
            let before = numbers.clone();
            let error = plan.process(&mut numbers).unwrap_err();
            assert!(
                matches!(error, FftError::NotFinite { index: 2, .. }),
                "{error}"
            );
            assert_eq!(numbers, before);
        }
        // A little less is a number.
        let mut numbers = vec![Complex::new(DoubleDouble::ZERO, DoubleDouble::ZERO); 4];
        numbers[2].re = DoubleDouble::new(f64::MAX, 2f64.powi(969));
        plan.process(&mut numbers).unwrap();
        assert_eq!(numbers[0].re.high, f64::MAX);
    }

    #[test]
    fn an_imaginary_part_whose_sum_is_not_finite_is_nan_in_the_real_result() {
        let plan = WidePlanner::new()
            .plan(&Problem::complex_to_real(&[4]))
            .unwrap();
        for place in [0, 2] {
            let mut spectrum = vec![Complex::new(DoubleDouble::ONE, DoubleDouble::ZERO); 3];
            spectrum[place].im = BEYOND;
            let mut numbers = vec![DoubleDouble::ZERO; 4];
            let error = plan
                .process_complex_to_real(&spectrum, &mut numbers)
                .unwrap_err();
            assert!(matches!(error, FftError::NotHermitian { count: 1 }));
            assert!(numbers.iter().all(|x| x.is_nan()), "{numbers:?}");
        }
    }
}
