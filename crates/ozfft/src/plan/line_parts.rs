//! A long line in parts: for programs that divide one line among processes.

use super::Plan;
use super::planner::Planner;
use crate::error::{Buffer, FftError};
use crate::kind::Kind;
use crate::matrix_unit::Unit;
use crate::norm::Scaling;
use crate::problem::{Device, Direction, Engine};
use crate::sample::Real;
use crate::stages::numbers::{DOUBLE_NAN, Elements, Reader, SINGLE_NAN, Writer};
use crate::stages::quantise::LineProperties;
use crate::transform::line::Line;
use crate::transform::parts::{PartNumbers, PartOutput, PartStep};
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
///
/// **Half-spectra to reals** ([`LineParts::kind`]) are transforms of all points of the line: columns are given to
/// [`LineParts::transform_columns_of_half_spectrum`] with the numbers that their elements are or mirror, and rows taken by
/// [`LineParts::transform_rows_to_reals`].
///
/// **Convolutions** ([`LineParts::is_convolution`]), of lengths with a prime factor above 64, have two transforms of [`LineParts::transform_len`] points, more than twice
/// those of the line; beyond the line there is nothing to read or to write. The first transform's rows end in
/// products, [`LineParts::transform_rows_to_products`], a matrix of [`LineParts::rows`] columns with exponents of its own, and the
/// second one's columns begin with these, [`LineParts::transform_columns_of_products`], as a matrix of [`LineParts::columns`] columns.
///
/// ```
/// use num_complex::Complex;
/// use ozfft::{Planner, Problem};
/// let n = 2018; // 2 · 1009
/// let planner = Planner::<f64>::new();
/// let whole = planner.plan(&Problem::complex(&[n]))?;
/// let parts = planner.line_parts(&whole).expect("more than one pass");
/// let input: Vec<_> = (0..n).map(|i| Complex::new((i * i % 97) as f64, 1.0)).collect();
///
/// let (rows, columns, len) = (parts.rows(), parts.columns(), parts.transform_len());
/// let (mut words, mut products) = (vec![Complex::new(0, 0); len], vec![Complex::new(0, 0); len]);
/// let mut exponents = vec![0; parts.exponents_of_a_column() * columns];
/// let mut of_products = vec![0; parts.exponents_of_a_row() * rows];
/// let mut workspace = vec![0; parts.workspace_len(len)];
/// let properties = parts.transform_columns(&input, 0..columns, (&mut words, &mut exponents), &mut workspace)?;
/// parts.transform_rows_to_products((&mut words, &mut exponents), 0..rows, (&mut products, &mut of_products), &mut workspace)?;
/// parts.transform_columns_of_products((&products, &of_products), 0..columns, (&mut words, &mut exponents), &mut workspace)?;
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
    n: usize,
    unit: Unit,
    threads: usize,
    kind: Kind,
    conjugate: bool,
    numbers: PhantomData<T>,
}

impl<T: Real> std::fmt::Debug for LineParts<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LineParts")
            .field("points", &self.n)
            .field("kind", &self.kind)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// Words of a part, and exponents.
type Stored<'a> = (&'a mut [Complex<i64>], &'a mut [i32]);

impl<T: Real> Planner<T> {
    /// The parts of a plan's line. None where it has several axes, a line of one pass (up to 1024 points, or fewer where they are those of a convolution), or
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
        if whole.problem.shape.len() > 1 {
            return None;
        }
        let unit = Unit::new(whole.problem.substrate).ok()?;
        let axis = recipe.of_axis(pass.axis);
        let scaling = Scaling::of(&whole.problem);
        let line = self.shared.line(axis, recipe, scaling, unit);
        line.several_passes()?;
        Some(LineParts {
            line,
            n: pass.n,
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
        self.n
    }

    /// What the line's numbers are.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether the line is a convolution, of two transforms.
    pub fn is_convolution(&self) -> bool {
        matches!(*self.line, Line::Bluestein(_))
    }

    /// Points of the transforms that the passes make up: those of the line, or of its convolution.
    pub fn transform_len(&self) -> usize {
        self.passes().len()
    }

    /// Columns of the input as a matrix: the points of the last pass.
    pub fn columns(&self) -> usize {
        self.transform_len() / self.passes().output_step()
    }

    /// Columns of the output as a matrix, which are rows of words in between: the points of the first pass.
    pub fn rows(&self) -> usize {
        self.passes().blocks()[0].len()
    }

    /// Exponents that the first half leaves for every column.
    pub fn exponents_of_a_column(&self) -> usize {
        let blocks = self.passes().blocks();
        self.transform_len() / self.columns() / blocks[blocks.len() - 2].len()
    }

    /// Exponents of products that [`LineParts::transform_rows_to_products`] leaves for every row.
    pub fn exponents_of_a_row(&self) -> usize {
        self.passes().output_step() / self.rows()
    }

    /// The line's numbers in some columns of the input: all of a column, or of a convolution those that are not beyond the line. Real arrays and
    /// half-spectra are counted as lines of as many points.
    pub fn numbers_of_columns(&self, columns: &Range<usize>) -> usize {
        self.passes().columns_cut(columns).count_below(self.n)
    }

    /// The line's numbers in some columns of the output, which are rows of words.
    pub fn numbers_of_rows(&self, rows: &Range<usize>) -> usize {
        self.passes().rows_cut(rows).count_below(self.n)
    }

    /// Of a half-spectrum, the numbers in some columns that lie in its half, which are the first ones; all others are conjugates of numbers there.
    pub fn numbers_of_half(&self, columns: &Range<usize>) -> usize {
        let cut = self.passes().columns_cut(columns);
        cut.count_below(self.n / 2 + 1)
    }

    /// 64-bit words of workspace for a part of so many words.
    pub fn workspace_len(&self, words: usize) -> usize {
        self.passes().part_len_on(self.unit, words, self.threads) + ALIGNMENT_SLACK
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

    /// Whether a call is one for the planned kind.
    fn expect_kind(&self, kinds: &[Kind]) -> Result<(), FftError> {
        match kinds.contains(&self.kind) {
            true => Ok(()),
            false => Err(FftError::WrongKind {
                planned: self.kind,
                called: kinds[0],
            }),
        }
    }

    fn expect_convolution(&self) -> Result<(), FftError> {
        match self.is_convolution() {
            true => Ok(()),
            false => Err(FftError::Unsupported(format!(
                "a line of {} points is one transform and has no products; take transform_columns and transform_rows",
                self.n
            ))),
        }
    }

    fn expect_range(&self, range: &Range<usize>, all: usize) -> Result<(), FftError> {
        match range.start <= range.end && range.end <= all {
            true => Ok(()),
            false => Err(FftError::Unsupported(format!(
                "the range {range:?} is not within 0..{all}; give rows or columns that there are"
            ))),
        }
    }

    /// Checks words and exponents of columns, and the workspace.
    fn expect_columns(
        &self,
        columns: &Range<usize>,
        (words, exponents): &Stored<'_>,
        workspace: &[u64],
    ) -> Result<(), FftError> {
        self.expect_range(columns, self.columns())?;
        let count = self.transform_len() / self.columns() * columns.len();
        Self::expect(Buffer::Output, count, words.len())?;
        let lines = self.exponents_of_a_column() * columns.len();
        Self::expect(Buffer::Output, lines, exponents.len())?;
        let expected = self.workspace_len(count);
        Self::expect(Buffer::Workspace, expected, workspace.len())
    }

    /// Checks words of rows and exponents of all columns, and the workspace.
    fn expect_rows(
        &self,
        rows: &Range<usize>,
        (words, exponents): &Stored<'_>,
        workspace: &[u64],
    ) -> Result<(), FftError> {
        self.expect_range(rows, self.rows())?;
        let count = self.transform_len() / self.rows() * rows.len();
        Self::expect(Buffer::Input, count, words.len())?;
        let lines = self.exponents_of_a_column() * self.columns();
        Self::expect(Buffer::Input, lines, exponents.len())?;
        let expected = self.workspace_len(count);
        Self::expect(Buffer::Workspace, expected, workspace.len())
    }

    /// Some columns of the input, row after row, to as many words, and to the exponents of the columns, one of each after the other. Of a convolution there are
    /// more words than numbers ([`LineParts::numbers_of_columns`]).
    pub fn transform_columns(
        &self,
        input: &[Complex<T>],
        columns: Range<usize>,
        stored: (&mut [Complex<i64>], &mut [i32]),
        workspace: &mut [u64],
    ) -> Result<PartProperties, FftError> {
        self.expect_kind(&[Kind::ComplexToComplex])?;
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
        self.expect_kind(&[Kind::RealToComplex])?;
        let numbers = Reader::new(SharedArray::read_only(input));
        let numbers = (numbers, Elements::Real, input.len());
        self.first_half(numbers, columns, stored, workspace)
    }

    /// The same of a half-spectrum, of complex-to-real transforms: for every element `j` of the columns number `min(j, n - j)` of the half-spectrum, which is changed to
    /// the element here. The first [`LineParts::numbers_of_half`] of them are elements as they are. Imaginary parts that no real array has are taken as 0.
    pub fn transform_columns_of_half_spectrum(
        &self,
        input: &mut [Complex<T>],
        columns: Range<usize>,
        stored: (&mut [Complex<i64>], &mut [i32]),
        workspace: &mut [u64],
    ) -> Result<PartProperties, FftError> {
        self.expect_kind(&[Kind::ComplexToReal])?;
        self.expect_range(&columns, self.columns())?;
        Self::expect(
            Buffer::Input,
            self.numbers_of_columns(&columns),
            input.len(),
        )?;
        for number in &mut input[self.numbers_of_half(&columns)..] {
            number.im = T::narrow(-number.im.widen());
        }
        let width = self.columns();
        for (row, column) in self.real_places(width) {
            if columns.contains(&column) {
                let number = &mut input[row * columns.len() + column - columns.start];
                number.im = T::narrow(match number.im.widen().is_finite() {
                    true => 0.0,
                    // It still makes the whole line NaN.
                    false => f64::NAN,
                });
            }
        }
        let numbers = Reader::new(SharedArray::read_only(input).as_reals());
        let numbers = (numbers, Elements::Complex, input.len());
        self.first_half(numbers, columns, stored, workspace)
    }

    fn first_half(
        &self,
        (numbers, elements, given): (Reader<'_>, Elements, usize),
        columns: Range<usize>,
        stored: Stored<'_>,
        workspace: &mut [u64],
    ) -> Result<PartProperties, FftError> {
        let _environment = DefaultEnvironment::enter();
        self.expect_columns(&columns, &stored, workspace)?;
        Self::expect(Buffer::Input, self.numbers_of_columns(&columns), given)?;
        if columns.is_empty() {
            return Ok(LineProperties::ZERO.to_bits());
        }
        let step = PartStep::Columns(PartNumbers {
            numbers,
            elements,
            conjugate: self.conjugate,
        });
        Ok(self.run(step, columns, stored, workspace).to_bits())
    }

    fn run(
        &self,
        step: PartStep<'_>,
        range: Range<usize>,
        stored: Stored<'_>,
        workspace: &mut [u64],
    ) -> LineProperties {
        let memory = (aligned(workspace), self.threads);
        self.line
            .run_part_on(self.unit, step, range, stored, memory)
    }

    /// Some rows of words of a convolution's first transform, whole ones, with the exponents of all columns, to as many products, a matrix whose columns are
    /// the rows, and to the exponents of the rows, one of each after the other. The words are overwritten.
    pub fn transform_rows_to_products(
        &self,
        stored: (&mut [Complex<i64>], &mut [i32]),
        rows: Range<usize>,
        (products, exponents): (&mut [Complex<i64>], &mut [i32]),
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        let _environment = DefaultEnvironment::enter();
        self.expect_convolution()?;
        self.expect_rows(&rows, &stored, workspace)?;
        Self::expect(Buffer::Output, stored.0.len(), products.len())?;
        let lines = self.exponents_of_a_row() * rows.len();
        Self::expect(Buffer::Output, lines, exponents.len())?;
        if !rows.is_empty() {
            let step = PartStep::Products((products, exponents));
            self.run(step, rows, stored, workspace);
        }
        Ok(())
    }

    /// Some columns of the products, with the exponents of all rows, to as many words of the second transform, and to the exponents of the columns.
    pub fn transform_columns_of_products(
        &self,
        (products, exponents): (&[Complex<i64>], &[i32]),
        columns: Range<usize>,
        stored: (&mut [Complex<i64>], &mut [i32]),
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        let _environment = DefaultEnvironment::enter();
        self.expect_convolution()?;
        self.expect_columns(&columns, &stored, workspace)?;
        Self::expect(Buffer::Input, stored.0.len(), products.len())?;
        let lines = self.exponents_of_a_row() * self.rows();
        Self::expect(Buffer::Input, lines, exponents.len())?;
        if !columns.is_empty() {
            let step = PartStep::ProductColumns(products, exponents);
            self.run(step, columns, stored, workspace);
        }
        Ok(())
    }

    /// Some rows of words, whole ones, with the exponents of all columns, to the line's numbers in as many columns of the output, row after row
    /// ([`LineParts::numbers_of_rows`]). `properties` are those of the whole line. The words are overwritten.
    pub fn transform_rows(
        &self,
        stored: (&mut [Complex<i64>], &mut [i32]),
        rows: Range<usize>,
        properties: PartProperties,
        output: &mut [Complex<T>],
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        self.expect_kind(&[Kind::ComplexToComplex, Kind::RealToComplex])?;
        let output = SharedArray::new(output).as_reals();
        self.second_half(stored, rows, properties, output, workspace)
    }

    /// The same to real numbers, of complex-to-real transforms.
    pub fn transform_rows_to_reals(
        &self,
        stored: (&mut [Complex<i64>], &mut [i32]),
        rows: Range<usize>,
        properties: PartProperties,
        output: &mut [T],
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        self.expect_kind(&[Kind::ComplexToReal])?;
        let output = SharedArray::new(output);
        self.second_half(stored, rows, properties, output, workspace)
    }

    fn second_half(
        &self,
        stored: Stored<'_>,
        rows: Range<usize>,
        properties: PartProperties,
        output: SharedArray<'_, T>,
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        let _environment = DefaultEnvironment::enter();
        self.expect_rows(&rows, &stored, workspace)?;
        let (real, reals) = match self.kind {
            Kind::ComplexToReal => (true, 1),
            _ => (false, 2),
        };
        let count = self.numbers_of_rows(&rows);
        Self::expect(Buffer::Output, count, output.len() / reals)?;
        if rows.is_empty() {
            return Ok(());
        }
        let properties = LineProperties::from_bits(properties);
        let numbers = Writer::new(output);
        if properties.not_finite {
            // By its bits: conversions between types need not keep those of a NaN.
            for place in 0..reals * count {
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
        let step = PartStep::Rows(PartOutput {
            numbers,
            count,
            real,
            conjugate: self.conjugate,
        });
        self.run(step, rows.clone(), stored, workspace);
        self.clear_known_zeros(&rows, properties, (output, reals));
        Ok(())
    }

    /// Where a matrix of so many columns has the line's first point, and the middle one of an even length.
    fn real_places(&self, width: usize) -> impl Iterator<Item = (usize, usize)> {
        let middle = self.n.is_multiple_of(2).then_some(self.n / 2);
        let places = [Some(0), middle].into_iter().flatten();
        places.map(move |k| (k / width, k % width))
    }

    /// The first output of a line of real numbers, and the middle one of an even length, are real, and those of imaginary ones imaginary (`outputs.rs`).
    fn clear_known_zeros(
        &self,
        rows: &Range<usize>,
        properties: LineProperties,
        (output, reals): (SharedArray<'_, T>, usize),
    ) {
        let zero = T::narrow(0.0);
        for (line, column) in self.real_places(self.rows()) {
            if !rows.contains(&column) {
                continue;
            }
            let place = reals * (line * rows.len() + column - rows.start);
            // SAFETY: nobody else has the array.
            unsafe {
                if !properties.has_imaginary && reals == 2 {
                    output.set(place + 1, zero);
                }
                if !properties.has_real {
                    output.set(place, zero);
                }
            }
        }
    }
}
