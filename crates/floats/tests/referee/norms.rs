//! 2-norms of matrices of roots of unity in pieces, by another method than the crate's: the largest eigenvalue, from a tridiagonal form.

use crate::rounding::{Pieces, pieces_and_rest};
use std::collections::HashMap;

/// Which matrix: what the first `used` pieces leave, or the piece after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Which {
    Left,
    Next,
}

/// Norms over `√n`, each found once.
#[derive(Debug, Default)]
pub struct Norms(HashMap<(usize, Pieces, usize, Which), f64>);

impl Norms {
    pub fn of(&mut self, n: usize, pieces: Pieces, used: usize, which: Which) -> f64 {
        *self
            .0
            .entry((n, pieces, used, which))
            .or_insert_with(|| relative_norm(n, pieces, used, which))
    }
}

/// Cosines' and sines' errors at every `n`-th of a turn.
fn table(n: usize, pieces: Pieces, used: usize, which: Which) -> Vec<(f64, f64)> {
    let count = match which {
        Which::Left => used,
        Which::Next => used + 1,
    };
    let roots = (0..n).map(|t| ozfft_testkit::oracle::root_of_unity(t, n));
    let value = |x| {
        let (parts, rest) = pieces_and_rest(pieces, x, count);
        match which {
            Which::Left => rest,
            Which::Next => parts[used],
        }
    };
    roots.map(|root| (value(root.re), value(root.im))).collect()
}

/// The matrix on even inputs, and on odd ones: in orthonormal bases, so that both are symmetric and of half the size.
pub fn halves(n: usize, pieces: Pieces, used: usize, which: Which) -> [Vec<Vec<f64>>; 2] {
    let table = table(n, pieces, used, which);
    let middle = n.div_ceil(2);
    // e_0, e_{n/2} where there is one, and (e_j ± e_{n-j})/√2.
    let even: Vec<usize> = (0..=n / 2).collect();
    let odd: Vec<usize> = (1..middle).collect();
    let own = |j: usize| j == 0 || 2 * j == n;
    let matrix = |indices: &[usize], entry: &dyn Fn(usize, usize) -> f64| {
        let rows = indices.iter().map(|&j| {
            let row = indices.iter().map(|&k| {
                let factor = f64::from(2 - u8::from(own(j)) - u8::from(own(k)));
                factor.exp2().sqrt() * entry(j, k)
            });
            row.collect()
        });
        rows.collect()
    };
    [
        matrix(&even, &|j, k| table[j * k % n].0),
        matrix(&odd, &|j, k| table[j * k % n].1),
    ]
}

fn relative_norm(n: usize, pieces: Pieces, used: usize, which: Which) -> f64 {
    let [even, odd] = halves(n, pieces, used, which).map(largest_eigenvalue);
    even.max(odd) / (n as f64).sqrt()
}

/// The largest magnitude of an eigenvalue of a symmetric matrix, to about `1e-12` of it.
pub fn largest_eigenvalue(mut matrix: Vec<Vec<f64>>) -> f64 {
    let size = matrix.len();
    let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
    // Householder's reflections from the last row upwards.
    for last in (0..size).rev() {
        diagonal.push(matrix[last][last]);
        if last == 0 {
            break;
        }
        let mut vector: Vec<f64> = matrix[last][..last].to_vec();
        let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        let head = vector[last - 1];
        let reflected = if head > 0.0 { -length } else { length };
        beside.push(reflected);
        vector[last - 1] -= reflected;
        let square: f64 = vector.iter().map(|x| x * x).sum();
        if square == 0.0 {
            continue;
        }
        // A - v·wᵀ - w·vᵀ with w = p - (vᵀp/v²)·v, p = 2·A·v/v².
        let image: Vec<f64> = matrix[..last]
            .iter()
            .map(|row| 2.0 / square * row.iter().zip(&vector).map(|(a, b)| a * b).sum::<f64>())
            .collect();
        let along: f64 = image.iter().zip(&vector).map(|(a, b)| a * b).sum::<f64>() / square;
        let w: Vec<f64> = image
            .iter()
            .zip(&vector)
            .map(|(p, v)| p - along * v)
            .collect();
        for (j, row) in matrix[..last].iter_mut().enumerate() {
            for (k, entry) in row[..last].iter_mut().enumerate() {
                *entry -= vector[j] * w[k] + w[j] * vector[k];
            }
        }
    }
    // Bisection with Sturm's count of eigenvalues below a number.
    let reach = diagonal
        .iter()
        .chain(&beside)
        .fold(0.0f64, |r, x| r.max(x.abs()))
        * 3.0;
    if reach == 0.0 {
        return 0.0;
    }
    let below = |at: f64| {
        let (mut count, mut ratio) = (0, 1.0f64);
        for (i, d) in diagonal.iter().enumerate() {
            let off = if i == 0 { 0.0 } else { beside[i - 1] };
            ratio = d - at - off * off / ratio;
            if ratio == 0.0 {
                ratio = reach * 1e-30;
            }
            count += usize::from(ratio < 0.0);
        }
        count
    };
    let (mut low, mut high) = (0.0, reach);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        let all_within = below(middle) == size && below(-middle) == 0;
        if all_within {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// A vector for which a symmetric matrix does the most, by repeated products.
pub fn worst_input(matrix: &[Vec<f64>]) -> Vec<f64> {
    let mut vector: Vec<f64> = (0..matrix.len())
        .map(|i| 1.0 + 0.1 * (i as f64).sin())
        .collect();
    for _ in 0..200 {
        let image: Vec<f64> = matrix
            .iter()
            .map(|row| row.iter().zip(&vector).map(|(a, b)| a * b).sum())
            .collect();
        let length = image.iter().map(|x: &f64| x * x).sum::<f64>().sqrt();
        if length == 0.0 {
            break;
        }
        vector = image.iter().map(|x| x / length).collect();
    }
    vector
}
