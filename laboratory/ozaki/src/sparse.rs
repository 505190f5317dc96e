//! Sparse matrices by rows (CSR).

use crate::dense::by_threads;
use crate::error::OzakiError;
use crate::operand::{Operand, Side, planes, sum_of_products, words};
use crate::reconstruction::PhaseB;
use crate::scaled::field_of;
use crate::scheme::Scheme;
use residues::Moduli;

/// A matrix whose row `i` has the entries from `row_starts[i]` to `row_starts[i + 1]`.
#[derive(Debug, Clone, Copy)]
pub struct SparseMatrix<'a> {
    row_starts: &'a [u32],
    columns: &'a [u32],
    values: &'a [f64],
    width: usize,
}

impl<'a> SparseMatrix<'a> {
    /// Checks and borrows the arrays.
    ///
    /// ```
    /// use ozaki::{PhaseB, Scheme, SparseMatrix};
    /// // [2 0 1; 0 0 3]
    /// let matrix = SparseMatrix::new(&[0, 2, 3], &[0, 2, 2], &[2.0, 1.0, 3.0], 3)?;
    /// let scheme = Scheme::with_moduli(matrix.longest_row(), 16)?;
    /// let mut result = [0.0; 2];
    /// matrix.multiply_vector(&scheme, PhaseB::Integers, &[1.0, 5.0, 10.0], &mut result, 1)?;
    /// assert_eq!(result, [12.0, 30.0]);
    /// # Ok::<(), ozaki::OzakiError>(())
    /// ```
    pub fn new(
        row_starts: &'a [u32],
        columns: &'a [u32],
        values: &'a [f64],
        width: usize,
    ) -> Result<SparseMatrix<'a>, OzakiError> {
        let wrong = |reason: String| Err(OzakiError::Sparse { reason });
        if row_starts.first() != Some(&0)
            || row_starts.last().copied() != u32::try_from(values.len()).ok()
        {
            let count = values.len();
            return wrong(format!("its rows do not begin at 0 and end at {count}"));
        }
        if let Some(row) = row_starts.windows(2).position(|ends| ends[0] > ends[1]) {
            return wrong(format!("row {row} ends before it begins"));
        }
        if columns.len() != values.len() {
            let (columns, values) = (columns.len(), values.len());
            return wrong(format!("{columns} columns for {values} entries"));
        }
        if let Some(column) = columns.iter().find(|&&column| column as usize >= width) {
            return wrong(format!("column {column} of a matrix of {width}"));
        }
        Ok(SparseMatrix {
            row_starts,
            columns,
            values,
            width,
        })
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// Entries of the longest row: what a scheme must hold.
    pub fn longest_row(&self) -> usize {
        let lengths = self.row_starts.windows(2).map(|ends| ends[1] - ends[0]);
        lengths.max().unwrap_or(0) as usize
    }

    /// Where rows begin, columns, and entries.
    pub fn parts(&self) -> (&'a [u32], &'a [u32], &'a [f64]) {
        (self.row_starts, self.columns, self.values)
    }

    /// How many columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Columns and entries of a row.
    pub(crate) fn row(&self, row: usize) -> (&'a [u32], &'a [f64]) {
        let ends = self.row_starts[row] as usize..self.row_starts[row + 1] as usize;
        (&self.columns[ends.clone()], &self.values[ends])
    }

    /// The matrix times a vector. Every row has an exponent of its own, and the vector has one.
    pub fn multiply_vector(
        &self,
        scheme: &Scheme,
        phase_b: PhaseB,
        vector: &[f64],
        result: &mut [f64],
        threads: usize,
    ) -> Result<(), OzakiError> {
        OzakiError::check("the vector", vector.len(), Some(self.width))?;
        OzakiError::check("the result", result.len(), Some(self.rows()))?;
        scheme.demand(self.longest_row())?;
        let right = Operand::new(scheme, Side::Right, vector, vector.len());
        let count = scheme.moduli().len();
        let no_vector = [1];
        let fields = if vector.is_empty() {
            &no_vector[..]
        } else {
            &right.fields
        };
        by_threads(result, 1, threads, |row, to| {
            let (columns, values) = self.row(row);
            let field = field_of(values);
            let words: Vec<i64> = words(scheme, values, field).collect();
            let mut sums = [0; Moduli::MOST];
            let mut gathered = vec![0; columns.len()];
            let left = planes(scheme, Side::Left, &words);
            for ((sum, left), plane) in sums.iter_mut().zip(&left).zip(&right.planes) {
                for (to, &column) in gathered.iter_mut().zip(columns) {
                    *to = plane[column as usize];
                }
                *sum = sum_of_products(left, &gathered);
            }
            to[0] = scheme.number(phase_b, &sums[..count], [field, fields[0]]);
        });
        Ok(())
    }
}
