//! Small linear algebra: every element of a result is an exact sum of products, rounded once.
//!
//! Matrices are row by row. Lanes of vector instructions are elements of the result where those lie side by side
//! ([`multiply_matrices`], [`stencil`]), terms of one sum otherwise.

use crate::accumulator::Accumulator;
use crate::blocks::{COLUMN_LEVELS, PRODUCTS_BLOCK};
use crate::error::Error;
use crate::reductions::dot_with;
use crate::slices::{Span, round_levels};
use crate::units::{self, Unit};

const _: () = assert!(COLUMN_LEVELS == crate::slices::NARROW_PRODUCTS);

/// `result = matrix · vector` (`gemv`), the matrix with as many rows as the result has numbers.
///
/// ```
/// let mut result = [0.0; 2];
/// kulisch::linear::multiply_vector(&[1e16, 1.0, -1e16, 1.0, 2.0, 3.0], &[1.0; 3], &mut result)?;
/// assert_eq!(result, [1.0, 6.0]);
/// # Ok::<(), kulisch::Error>(())
/// ```
pub fn multiply_vector(matrix: &[f64], vector: &[f64], result: &mut [f64]) -> Result<(), Error> {
    let expected = result.len().checked_mul(vector.len());
    Error::check("matrix", expected, matrix.len())?;
    rows_times_vector(matrix, vector, result);
    Ok(())
}

pub(crate) fn rows_times_vector(matrix: &[f64], vector: &[f64], result: &mut [f64]) {
    if vector.is_empty() {
        result.fill(0.0);
        return;
    }
    let unit = Unit::best();
    let mut top = None;
    for (row, result) in matrix.chunks_exact(vector.len()).zip(result) {
        *result = dot_with(unit, row, vector, &mut top);
    }
}

/// Many small products of a matrix and a vector: `batch` matrices of `rows × columns`, as many vectors and results, each
/// after the other.
pub fn multiply_vectors(
    (batch, rows, columns): (usize, usize, usize),
    matrices: &[f64],
    vectors: &[f64],
    results: &mut [f64],
) -> Result<(), Error> {
    let all_rows = batch.checked_mul(rows);
    let expected = all_rows.and_then(|rows| rows.checked_mul(columns));
    Error::check("matrices", expected, matrices.len())?;
    Error::check("vectors", batch.checked_mul(columns), vectors.len())?;
    Error::check("results", all_rows, results.len())?;
    if columns == 0 {
        results.fill(0.0);
        return Ok(());
    }
    let unit = Unit::best();
    let mut top = None;
    for (number, result) in results.iter_mut().enumerate() {
        let vector = &vectors[number / rows * columns..][..columns];
        *result = dot_with(
            unit,
            &matrices[number * columns..][..columns],
            vector,
            &mut top,
        );
    }
    Ok(())
}

/// A sparse matrix by rows (CSR): row i has the entries from `row_starts[i]` to `row_starts[i + 1]`.
#[derive(Debug, Clone, Copy)]
pub struct SparseMatrix<'a> {
    row_starts: &'a [usize],
    columns: &'a [usize],
    values: &'a [f64],
    width: usize,
}

impl<'a> SparseMatrix<'a> {
    /// A matrix of `row_starts.len() - 1` rows and `width` columns. All places are checked here.
    pub fn new(
        row_starts: &'a [usize],
        columns: &'a [usize],
        values: &'a [f64],
        width: usize,
    ) -> Result<SparseMatrix<'a>, Error> {
        Error::check_equal(columns.len(), values.len())?;
        if row_starts.first() != Some(&0) || row_starts.last() != Some(&values.len()) {
            return Err(Error::SparseMatrix {
                row: row_starts.len().saturating_sub(2),
            });
        }
        for (row, ends) in row_starts.windows(2).enumerate() {
            let entries = columns.get(ends[0]..ends[1]);
            if !entries.is_some_and(|columns| columns.iter().all(|&column| column < width)) {
                return Err(Error::SparseMatrix { row });
            }
        }
        Ok(SparseMatrix {
            row_starts,
            columns,
            values,
            width,
        })
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// `result = self · vector` (`spmv`).
    pub fn multiply_vector(&self, vector: &[f64], result: &mut [f64]) -> Result<(), Error> {
        self.check(vector, result)?;
        self.multiply_rows(0, vector, result);
        Ok(())
    }

    pub(crate) fn check(&self, vector: &[f64], result: &[f64]) -> Result<(), Error> {
        Error::check("vector", Some(self.width), vector.len())?;
        Error::check("result", Some(self.rows()), result.len())
    }

    /// The rows from `first` on, as many as the result has numbers.
    pub(crate) fn multiply_rows(&self, first: usize, vector: &[f64], result: &mut [f64]) {
        let unit = Unit::best();
        let mut top = None;
        let mut gathered = [0.0; PRODUCTS_BLOCK];
        for (ends, result) in self.row_starts[first..].windows(2).zip(result) {
            let (values, columns) = (
                &self.values[ends[0]..ends[1]],
                &self.columns[ends[0]..ends[1]],
            );
            if values.len() <= PRODUCTS_BLOCK {
                let gathered = &mut gathered[..values.len()];
                let pairs = gathered.iter_mut().zip(columns);
                pairs.for_each(|(to, &column)| *to = vector[column]);
                *result = dot_with(unit, values, gathered, &mut top);
                continue;
            }
            let mut accumulator = Accumulator::new();
            let blocks = values
                .chunks(PRODUCTS_BLOCK)
                .zip(columns.chunks(PRODUCTS_BLOCK));
            for (values, columns) in blocks {
                let gathered = &mut gathered[..values.len()];
                let pairs = gathered.iter_mut().zip(columns);
                pairs.for_each(|(to, &column)| *to = vector[column]);
                crate::slices::add_pairs(&mut accumulator, unit, values, gathered);
            }
            *result = accumulator.round();
        }
    }
}

/// `result[i] = Σ coefficients[k] · values[first + i + offsets[k]]` for all i: a stencil of any number of terms, in any
/// number of dimensions that are laid out in one array.
///
/// ```
/// let values = [1.0, 4.0, 9.0, 16.0, 25.0];
/// let mut second_differences = [0.0; 3];
/// kulisch::linear::stencil(&[1.0, -2.0, 1.0], &[-1, 0, 1], &values, 1, &mut second_differences)?;
/// assert_eq!(second_differences, [2.0; 3]);
/// # Ok::<(), kulisch::Error>(())
/// ```
pub fn stencil(
    coefficients: &[f64],
    offsets: &[isize],
    values: &[f64],
    first: usize,
    result: &mut [f64],
) -> Result<(), Error> {
    /// Most terms that are done side by side.
    const MOST_TERMS: usize = 128;
    Error::check_equal(coefficients.len(), offsets.len())?;
    let start_of = |term: usize| {
        let start = first.checked_add_signed(offsets[term])?;
        (start.checked_add(result.len())? <= values.len()).then_some(start)
    };
    let mut starts = [0; MOST_TERMS];
    for term in 0..offsets.len() {
        let start = start_of(term).ok_or(Error::Stencil { term })?;
        if let Some(place) = starts.get_mut(term) {
            *place = start;
        }
    }
    let one = |place: usize| {
        let mut accumulator = Accumulator::new();
        for (&coefficient, &offset) in coefficients.iter().zip(offsets) {
            // Cannot overflow: both ends were checked.
            let at = (first + place).wrapping_add_signed(offset);
            accumulator.add_product(coefficient, values[at]);
        }
        accumulator.round()
    };
    if coefficients.len() > MOST_TERMS {
        (0..result.len()).for_each(|place| result[place] = one(place));
        return Ok(());
    }
    let starts = &starts[..coefficients.len()];
    side_by_side(coefficients, starts, values, result, one);
    Ok(())
}

/// Sums of products side by side, `result[j] = Σ coefficients[k] · values[starts[k] + j]`; `one` computes a single one
/// where that is not possible.
fn side_by_side(
    coefficients: &[f64],
    starts: &[usize],
    values: &[f64],
    result: &mut [f64],
    one: impl Fn(usize) -> f64,
) {
    let unit = Unit::best();
    let count = result.len();
    let widest = starts.iter().copied().max().unwrap_or(0);
    let mut top = None;
    let mut place = 0;
    let span = Span::of(unit, coefficients);
    let lanes = units::lanes(unit);
    while place < count {
        // The last group must not read beyond the array: it begins earlier, and some results are computed twice.
        let begin = if widest + place + lanes > values.len() {
            place.min(count.saturating_sub(lanes))
        } else {
            place
        };
        let readable = widest + begin + lanes <= values.len();
        let sums = readable
            .then(|| {
                columns(
                    unit,
                    (coefficients, span),
                    values,
                    (starts, begin),
                    &mut top,
                )
            })
            .flatten();
        match sums {
            Some((sums, top)) => {
                let lanes = lanes.min(count - begin);
                for lane in 0..lanes {
                    let levels = sums.levels.map(|level| level[lane]);
                    let rounded = round_levels(levels, top);
                    // Zeros have a sign to be found.
                    result[begin + lane] = rounded.unwrap_or_else(|| one(begin + lane));
                }
                place = begin + lanes;
            }
            None => {
                result[place] = one(place);
                place += 1;
            }
        }
    }
}

fn columns(
    unit: Unit,
    (coefficients, span): (&[f64], Option<Span>),
    values: &[f64],
    (starts, offset): (&[usize], usize),
    top: &mut Option<i32>,
) -> Option<(units::ColumnSums, i32)> {
    let attempt = |top: i32| {
        let sums = units::columns(unit, coefficients, values, (starts, offset), top)?;
        (!sums.tiny).then_some((sums, top))
    };
    if let Some(done) = top.and_then(attempt) {
        return Some(done);
    }
    // The span of what the lanes read.
    let lanes = units::lanes(unit);
    let window = |start: &usize| Span::of(unit, &values[start + offset..][..lanes]);
    let other = starts.iter().filter_map(window).reduce(|a, b| Span {
        highest: a.highest.max(b.highest),
        lowest: a.lowest.min(b.lowest),
    });
    *top = Some(span?.times(other?).top(COLUMN_LEVELS)?);
    top.and_then(attempt)
}

/// `result = left · right` (`gemm`), of `rows × inner` and `inner × columns`. Every element is rounded once, which takes
/// several times as long as a plain product: for matrices that are small, or that must be right.
pub fn multiply_matrices(
    (rows, inner, columns): (usize, usize, usize),
    left: &[f64],
    right: &[f64],
    result: &mut [f64],
) -> Result<(), Error> {
    Error::check("left", rows.checked_mul(inner), left.len())?;
    Error::check("right", inner.checked_mul(columns), right.len())?;
    Error::check("result", rows.checked_mul(columns), result.len())?;
    if inner == 0 || columns == 0 {
        result.fill(0.0);
        return Ok(());
    }
    /// Longest sums that are done side by side.
    const MOST_TERMS: usize = 512;
    let mut starts = [0; MOST_TERMS];
    let used = starts.iter_mut().take(inner).enumerate();
    used.for_each(|(k, start)| *start = k * columns);
    for (row, result) in left
        .chunks_exact(inner)
        .zip(result.chunks_exact_mut(columns))
    {
        let one = |column: usize| {
            let mut accumulator = Accumulator::new();
            for (k, &value) in row.iter().enumerate() {
                accumulator.add_product(value, right[k * columns + column]);
            }
            accumulator.round()
        };
        if inner > MOST_TERMS {
            (0..columns).for_each(|column| result[column] = one(column));
        } else {
            side_by_side(row, &starts[..inner], right, result, one);
        }
    }
    Ok(())
}
