//! Eigenvalues of small Hermitian matrices.

use num_complex::Complex;
use std::cmp::Ordering;

type C = Complex<f64>;
const ZERO: C = C::new(0.0, 0.0);

/// A small Hermitian matrix.
pub struct Hermitian {
    rows: Vec<Vec<C>>,
}

impl Hermitian {
    /// From its lower triangle.
    pub fn new(size: usize, element: impl Fn(usize, usize) -> C) -> Hermitian {
        let value = |i: usize, j: usize| match i.cmp(&j) {
            Ordering::Less => element(j, i).conj(),
            Ordering::Equal => C::new(element(i, i).re, 0.0),
            Ordering::Greater => element(i, j),
        };
        let row = |i: usize| (0..size).map(|j| value(i, j)).collect();
        let rows = (0..size).map(row).collect();
        Hermitian { rows }
    }

    /// Eigenvalues in ascending order, and the eigenvectors as columns, by Jacobi's rotations. (LAPACK's and other crates' methods are
    /// faster for large matrices; their bits depend on the machine.)
    pub fn eigen(mut self) -> (Vec<f64>, Vec<Vec<C>>) {
        let size = self.rows.len();
        let mut vectors: Vec<Vec<C>> = vec![vec![ZERO; size]; size];
        for (i, row) in vectors.iter_mut().enumerate() {
            row[i].re = 1.0;
        }
        for _ in 0..MOST_SWEEPS {
            let mut rotated = false;
            for p in 0..size {
                for q in p + 1..size {
                    rotated |= self.rotate(p, q, &mut vectors);
                }
            }
            if !rotated {
                break;
            }
        }
        let mut order: Vec<usize> = (0..size).collect();
        order.sort_by(|&i, &j| self.rows[i][i].re.total_cmp(&self.rows[j][j].re));
        let values = order.iter().map(|&i| self.rows[i][i].re).collect();
        let sorted = |row: &Vec<C>| order.iter().map(|&i| row[i]).collect();
        (values, vectors.iter().map(sorted).collect())
    }

    /// Makes one element zero; false where it is already, to rounding.
    fn rotate(&mut self, p: usize, q: usize, vectors: &mut [Vec<C>]) -> bool {
        let element = self.rows[p][q];
        let size = element.norm();
        let (a, b) = (self.rows[p][p].re, self.rows[q][q].re);
        if size <= f64::EPSILON * 1e-2 * (a.abs() + b.abs()) || size < f64::MIN_POSITIVE {
            return false;
        }
        let phase = element / size;
        let theta = (b - a) / (2.0 * size);
        let t = theta.signum() / (theta.abs() + libm::sqrt(theta * theta + 1.0));
        let c = 1.0 / libm::sqrt(t * t + 1.0);
        let s = t * c;
        let turn = |x: C, y: C, phase: C| (x * c - y * phase.conj() * s, x * phase * s + y * c);
        for row in self.rows.iter_mut().chain(vectors.iter_mut()) {
            (row[p], row[q]) = turn(row[p], row[q], phase);
        }
        for column in 0..self.rows.len() {
            let (x, y) = (self.rows[p][column], self.rows[q][column]);
            (self.rows[p][column], self.rows[q][column]) = turn(x, y, phase.conj());
        }
        (self.rows[p][q], self.rows[q][p]) = (ZERO, ZERO);
        (self.rows[p][p].im, self.rows[q][q].im) = (0.0, 0.0);
        true
    }
}

const MOST_SWEEPS: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn jacobis_rotations_diagonalise_a_matrix_with_a_known_spectrum() {
        // Circulant: eigenvalues are the Fourier transform of its first row.
        let row = [
            C::new(2.0, 0.0),
            C::new(0.5, 0.25),
            C::new(0.1, -0.3),
            C::new(0.1, 0.3),
            C::new(0.5, -0.25),
        ];
        let matrix = Hermitian::new(5, |i, j| row[(5 + i - j) % 5].conj());
        let original = matrix.rows.clone();
        let (values, vectors) = matrix.eigen();
        let mut exact: Vec<f64> = (0..5)
            .map(|k| {
                let turn = |j: usize| C::from_polar(1.0, TAU * (j * k) as f64 / 5.0);
                row.iter()
                    .enumerate()
                    .map(|(j, value)| (value * turn(j)).re)
                    .sum()
            })
            .collect();
        exact.sort_by(f64::total_cmp);
        for (which, (value, exact)) in values.iter().zip(&exact).enumerate() {
            assert!((value - exact).abs() < 1e-14, "{value} {exact}");
            for (row, vector) in original.iter().zip(&vectors) {
                let product: C = row.iter().zip(&vectors).map(|(a, v)| a * v[which]).sum();
                assert!((product - vector[which] * value).norm() < 1e-14);
            }
        }
    }
}
