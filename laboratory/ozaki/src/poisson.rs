//! The matrix of a Poisson problem: seven points in three dimensions, zero at the boundary.

use crate::error::OzakiError;
use crate::sparse::SparseMatrix;

/// The arrays of the matrix: a row for every point of a cube.
#[derive(Debug, Clone)]
pub struct Poisson {
    /// Where rows begin.
    pub row_starts: Vec<u32>,
    /// Columns of the entries.
    pub columns: Vec<u32>,
    /// The entries: 6 for a point, -1 for its neighbours.
    pub values: Vec<f64>,
}

impl Poisson {
    /// For a cube with so many points a side.
    pub fn cube(side: usize) -> Poisson {
        let mut poisson = Poisson {
            row_starts: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
        };
        let steps = [side * side, side, 1];
        for point in 0..side.pow(3) {
            let places = steps.map(|step| point / step % side);
            let mut entry = |column: usize, value: f64| {
                poisson.columns.push(column as u32);
                poisson.values.push(value);
            };
            for (place, step) in places.into_iter().zip(steps) {
                if place > 0 {
                    entry(point - step, -1.0);
                }
            }
            entry(point, 6.0);
            for (place, step) in places.into_iter().zip(steps).rev() {
                if place + 1 < side {
                    entry(point + step, -1.0);
                }
            }
            poisson.row_starts.push(poisson.columns.len() as u32);
        }
        poisson
    }

    /// The matrix.
    pub fn matrix(&self) -> Result<SparseMatrix<'_>, OzakiError> {
        let width = self.row_starts.len() - 1;
        SparseMatrix::new(&self.row_starts, &self.columns, &self.values, width)
    }
}
