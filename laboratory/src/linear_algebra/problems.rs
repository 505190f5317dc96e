//! Matrices and vectors that products are measured with.

use crate::failure::Failure;
use crate::sums::cuda::cases::Rows;
use crate::sums::data::Data;
use ozaki::SparseMatrix;

/// Seeds of both sides.
const SEEDS: (u64, u64) = (1, 2);

/// Square matrices, row by row.
pub struct Dense {
    pub side: usize,
    pub a: Vec<f64>,
    pub b: Vec<f64>,
}

impl Dense {
    pub fn new(side: usize) -> Dense {
        Dense {
            side,
            a: Data::Signed.numbers(side * side, SEEDS.0),
            b: Data::Signed.numbers(side * side, SEEDS.1),
        }
    }

    pub fn row(&self, row: usize) -> &[f64] {
        &self.a[row * self.side..][..self.side]
    }

    pub fn column(&self, column: usize) -> Vec<f64> {
        let numbers = self.b.iter().skip(column).step_by(self.side);
        numbers.copied().collect()
    }
}

/// Matrices and as many vectors.
pub struct Batch {
    /// Matrices, rows and columns.
    pub shape: (usize, usize, usize),
    pub matrices: Vec<f64>,
    pub vectors: Vec<f64>,
}

impl Batch {
    /// Square matrices of so many numbers in all at most.
    pub fn new(side: usize, numbers: usize) -> Batch {
        let batch = (numbers / (side * side)).max(1);
        Batch {
            shape: (batch, side, side),
            matrices: Data::Signed.numbers(batch * side * side, SEEDS.0),
            vectors: Data::Signed.numbers(batch * side, SEEDS.1),
        }
    }

    pub fn name(&self) -> String {
        let (batch, rows, columns) = self.shape;
        match batch {
            1 => format!("{rows} × {columns}"),
            _ => format!("{batch} of {rows} × {columns}"),
        }
    }

    pub fn vector(&self, row: usize) -> &[f64] {
        let (_, rows, columns) = self.shape;
        &self.vectors[row / rows * columns..][..columns]
    }

    pub fn row(&self, row: usize) -> &[f64] {
        let columns = self.shape.2;
        &self.matrices[row * columns..][..columns]
    }
}

/// A sparse matrix and a vector.
pub struct Sparse {
    pub name: &'static str,
    pub row_starts: Vec<u32>,
    pub columns: Vec<u32>,
    pub values: Vec<f64>,
    pub vector: Vec<f64>,
}

impl Sparse {
    /// So many entries at most.
    pub fn new(rows: Rows, entries: usize) -> Sparse {
        let (row_starts, columns, width) = rows.matrix(entries);
        Sparse {
            name: rows.name(),
            values: Data::Signed.numbers(columns.len(), SEEDS.0),
            vector: Data::Signed.numbers(width, SEEDS.1),
            row_starts,
            columns,
        }
    }

    pub fn matrix(&self) -> Result<SparseMatrix<'_>, Failure> {
        let width = self.vector.len();
        SparseMatrix::new(&self.row_starts, &self.columns, &self.values, width)
            .map_err(super::rejected)
    }

    /// The entries of a row, and what they are multiplied by.
    pub fn row(&self, row: usize) -> (&[f64], Vec<f64>) {
        let ends = self.row_starts[row] as usize..self.row_starts[row + 1] as usize;
        let columns = &self.columns[ends.clone()];
        let others = columns.iter().map(|&column| self.vector[column as usize]);
        (&self.values[ends], others.collect())
    }
}

/// The right-hand side of the solver's problem.
pub fn right_hand_side(unknowns: usize) -> Vec<f64> {
    Data::Signed.numbers(unknowns, SEEDS.1)
}
