//! A long line in parts: for programs that divide one line among processes.

use super::Plan;
use super::planner::Planner;
use crate::error::{Buffer, FftError};
use crate::kind::Kind;
use crate::matrix_unit::Unit;
use crate::problem::{Device, Direction, Engine};
use crate::sample::Real;
use crate::stages::numbers::{DOUBLE_NAN, Elements, Reader, SINGLE_NAN, Writer};
use crate::stages::quantise::LineProperties;
use crate::transform::line::{Intermediates, Line, PartNumbers};
use crate::transform::norm::Scaling;
use crate::transform::passes::Passes;
use crate::workspace::{ALIGNMENT_SLACK, SharedArray, aligned};
use float_environment::DefaultEnvironment;
use num_complex::Complex;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// What the numbers of a part of a line have in common, as bits; the bitwise or of all parts is that of the line.
pub type PartProperties = u8;

/// A transform along one axis that is so long that it has several passes, in two halves that processes can share.
///
/// The line's input is a matrix of [`LineParts::columns`] columns, row after row, and its output one of [`LineParts::rows`] columns. In the first half, all
/// passes but the last, columns of the input do not meet: [`LineParts::transform_columns`] takes some of them to fixed-point words, and an exponent for
/// every line of the pass. In the second half, the last pass, rows of the words do not meet: every process has all columns of some rows,
/// and the exponents of all columns, and [`LineParts::transform_rows`] takes them to columns of the output. Between the halves words are moved and
/// nothing is rounded, so the bits are those of one process.
///
/// ```
/// use num_complex::Complex;
/// use ozfft::{Planner, Problem};
/// let n = 4096;
/// let planner = Planner::<f64>::new();
/// let whole = planner.plan(&Problem::complex(&[n]))?;
/// let parts = planner.line_parts(&whole).expect("more than one pass");
/// let input: Vec<_> = (0..n).map(|i| Complex::new((i * i % 97) as f64, 1.0)).collect();
///
/// // All columns at once, and all rows.
/// let (rows, columns) = (parts.rows(), parts.columns());
/// let mut words = vec![Complex::new(0, 0); n];
/// let mut exponents = vec![0; parts.exponents_of_a_column() * columns];
/// let mut workspace = vec![0; parts.workspace_len(n)];
/// let properties = parts.transform_columns(&input, 0..columns, (&mut words, &mut exponents), &mut workspace)?;
/// let mut output = vec![Complex::default(); n];
/// parts.transform_rows((&mut words, &mut exponents), 0..rows, properties, &mut output, &mut workspace)?;
///
/// let mut expected = input;
/// whole.process(&mut expected)?;
/// assert_eq!(output, expected);
/// # Ok::<(), ozfft::FftError>(())
/// ```
pub struct LineParts<T: Real> {
    line: Arc<Line>,
    unit: Unit,
    threads: usize,
    kind: Kind,
    conjugate: bool,
    numbers: PhantomData<T>,
}

impl<T: Real> Planner<T> {
    /// The parts of a plan's line. None where it has several axes, a line of one pass or of a convolution (lengths with a prime factor above 64), real output, or
    /// another engine or device than digits on the processor.
    pub fn line_parts(&self, whole: &Plan<T>) -> Option<LineParts<T>> {
        let (Engine::Digits, Device::Cpu, Some(recipe), [pass]) = (
            whole.engine,
            whole.device,
            &whole.recipe,
            &whole.schedule.passes[..],
        ) else {
            return None;
        };
        if pass.kind == Kind::ComplexToReal || whole.problem.shape.len() > 1 {
            return None;
        }
        let unit = Unit::new(whole.problem.substrate).ok()?;
        let axis = recipe.of_axis(pass.axis);
        let scaling = Scaling::of(&whole.problem);
        let line = self.shared.line(axis, recipe, scaling, unit);
        line.several_passes()?;
        Some(LineParts {
            line,
            unit,
            threads: whole.threads,
            kind: pass.kind,
            conjugate: whole.problem.direction == Direction::Inverse,
            numbers: PhantomData,
        })
    }
}

impl<T: Real> LineParts<T> {
    fn passes(&self) -> &Passes {
        self.line
            .several_passes()
            .unwrap_or_else(|| unreachable!("found when it was made"))
    }

    /// Points of the line.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.passes().len()
    }

    /// Columns of the input as a matrix: the points of the last pass.
    pub fn columns(&self) -> usize {
        self.len() / self.passes().output_step()
    }

    /// Columns of the output as a matrix, which are rows of words in between: the points of the first pass.
    pub fn rows(&self) -> usize {
        self.passes().blocks()[0].len()
    }

    /// Exponents that the first half leaves for every column.
    pub fn exponents_of_a_column(&self) -> usize {
        let blocks = self.passes().blocks();
        self.len() / self.columns() / blocks[blocks.len() - 2].len()
    }

    /// 64-bit words of workspace for a part of so many numbers.
    pub fn workspace_len(&self, numbers: usize) -> usize {
        self.passes().part_len_on(self.unit, numbers, self.threads) + ALIGNMENT_SLACK
    }

    fn expect(buffer: Buffer, expected: usize, given: usize) -> Result<(), FftError> {
        match expected == given {
            true => Ok(()),
            false => Err(FftError::BufferLength {
                buffer,
                expected,
                given,
            }),
        }
    }

    /// Some columns of the input, row after row, to as many words, and to the exponents of the columns, one of each after the other.
    pub fn transform_columns(
        &self,
        input: &[Complex<T>],
        columns: Range<usize>,
        stored: (&mut [Complex<i64>], &mut [i32]),
        workspace: &mut [u64],
    ) -> Result<PartProperties, FftError> {
        let numbers = Reader::new(SharedArray::read_only(input).as_reals());
        let numbers = (numbers, Elements::Complex, input.len());
        self.first_half(numbers, columns, stored, workspace)
    }

    /// The same of real numbers, of real-to-complex transforms.
    pub fn transform_columns_of_reals(
        &self,
        input: &[T],
        columns: Range<usize>,
        stored: (&mut [Complex<i64>], &mut [i32]),
        workspace: &mut [u64],
    ) -> Result<PartProperties, FftError> {
        let numbers = Reader::new(SharedArray::read_only(input));
        let numbers = (numbers, Elements::Real, input.len());
        self.first_half(numbers, columns, stored, workspace)
    }

    fn first_half(
        &self,
        (numbers, elements, given): (Reader<'_>, Elements, usize),
        columns: Range<usize>,
        (words, exponents): (&mut [Complex<i64>], &mut [i32]),
        workspace: &mut [u64],
    ) -> Result<PartProperties, FftError> {
        let _environment = DefaultEnvironment::enter();
        self.expect_range(&columns, self.columns())?;
        let count = self.len() / self.columns() * columns.len();
        Self::expect(Buffer::Input, count, given)?;
        Self::expect(Buffer::Output, count, words.len())?;
        let lines = self.exponents_of_a_column() * columns.len();
        Self::expect(Buffer::Output, lines, exponents.len())?;
        Self::expect(
            Buffer::Workspace,
            self.workspace_len(count),
            workspace.len(),
        )?;
        if columns.is_empty() {
            return Ok(LineProperties::ZERO.to_bits());
        }
        let numbers = PartNumbers {
            numbers,
            elements,
            conjugate: self.conjugate,
        };
        let part = Intermediates {
            words,
            exponents,
            workspace: aligned(workspace),
            workers: self.threads,
        };
        let found = self.passes().columns_on(self.unit, &numbers, columns, part);
        Ok(found.to_bits())
    }

    fn expect_range(&self, range: &Range<usize>, all: usize) -> Result<(), FftError> {
        match range.start <= range.end && range.end <= all {
            true => Ok(()),
            false => Err(FftError::Unsupported(format!(
                "the range {range:?} is not within 0..{all}; give rows or columns that there are"
            ))),
        }
    }

    /// Some rows of words, whole ones, with the exponents of all columns, to as many columns of the output, row after row. `properties` are those of the whole
    /// line. The words are overwritten.
    pub fn transform_rows(
        &self,
        (words, exponents): (&mut [Complex<i64>], &mut [i32]),
        rows: Range<usize>,
        properties: PartProperties,
        output: &mut [Complex<T>],
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        let _environment = DefaultEnvironment::enter();
        self.expect_range(&rows, self.rows())?;
        let count = self.len() / self.rows() * rows.len();
        Self::expect(Buffer::Input, count, words.len())?;
        let lines = self.exponents_of_a_column() * self.columns();
        Self::expect(Buffer::Input, lines, exponents.len())?;
        Self::expect(Buffer::Output, count, output.len())?;
        Self::expect(
            Buffer::Workspace,
            self.workspace_len(count),
            workspace.len(),
        )?;
        if rows.is_empty() {
            return Ok(());
        }
        let properties = LineProperties::from_bits(properties);
        if properties.not_finite {
            // By its bits: conversions between types need not keep those of a NaN.
            let numbers = Writer::new(SharedArray::new(output).as_reals());
            for place in 0..2 * count {
                // SAFETY: nobody else has the array.
                unsafe {
                    match numbers {
                        Writer::Double(array) => array.set(place, DOUBLE_NAN),
                        Writer::Single(array) => array.set(place, SINGLE_NAN),
                    }
                }
            }
            return Ok(());
        }
        let part = Intermediates {
            words,
            exponents,
            workspace: aligned(workspace),
            workers: self.threads,
        };
        let numbers = Writer::new(SharedArray::new(output).as_reals());
        let output_part = (numbers, count, self.conjugate);
        self.passes()
            .rows_on(self.unit, output_part, rows.clone(), part);
        self.clear_known_zeros(&rows, properties, output);
        Ok(())
    }

    /// The first output of a line of real numbers, and the middle one of an even length, are real, and those of imaginary ones imaginary (`outputs.rs`).
    fn clear_known_zeros(
        &self,
        rows: &Range<usize>,
        properties: LineProperties,
        output: &mut [Complex<T>],
    ) {
        let n = self.len();
        for special in [Some(0), n.is_multiple_of(2).then_some(n / 2)] {
            let Some((line, column)) = special.map(|k| (k / self.rows(), k % self.rows())) else {
                continue;
            };
            if !rows.contains(&column) {
                continue;
            }
            let number = &mut output[line * rows.len() + column - rows.start];
            if !properties.has_imaginary {
                number.im = T::narrow(0.0);
            }
            if !properties.has_real {
                number.re = T::narrow(0.0);
            }
        }
    }

    /// Whether the input is real.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}
