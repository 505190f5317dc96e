//! Dense matrices, row by row.

use crate::error::OzakiError;
use crate::operand::{Operand, Side, sum_of_products};
use crate::reconstruction::PhaseB;
use crate::scheme::Scheme;
use residues::Moduli;

/// `C = A·B` for `A` of `m × k` and `B` of `k × n` numbers, row by row; the shape is `(m, k, n)`.
///
/// A row of `A` or a column of `B` with a number that is not finite makes its row or column of `C` NaN.
pub fn multiply(
    scheme: &Scheme,
    phase_b: PhaseB,
    (m, k, n): (usize, usize, usize),
    a: &[f64],
    b: &[f64],
    c: &mut [f64],
    threads: usize,
) -> Result<(), OzakiError> {
    OzakiError::check("A", a.len(), m.checked_mul(k))?;
    OzakiError::check("B", b.len(), k.checked_mul(n))?;
    OzakiError::check("C", c.len(), m.checked_mul(n))?;
    scheme.demand(k)?;
    if k == 0 || m == 0 || n == 0 {
        c.fill(0.0);
        return Ok(());
    }
    let left = Operand::new(scheme, Side::Left, a, k);
    let right = Operand::new(scheme, Side::Right, &transposed(b, n), k);
    by_threads(c, n, threads, |row, to| {
        multiply_rows(scheme, phase_b, (&left, row), (&right, 0), to);
    });
    Ok(())
}

/// The other way round: columns become rows.
pub(crate) fn transposed(values: &[f64], columns: usize) -> Vec<f64> {
    let column = |column: usize| values.iter().skip(column).step_by(columns).copied();
    (0..columns).flat_map(column).collect()
}

/// Calls `work` for every row of so many numbers, with the row's number, on so many threads.
pub(crate) fn by_threads(
    to: &mut [f64],
    columns: usize,
    threads: usize,
    work: impl Fn(usize, &mut [f64]) + Sync,
) {
    let rows = (to.len() / columns).div_ceil(threads.max(1)).max(1);
    let work = &work;
    std::thread::scope(|scope| {
        for (part, to) in to.chunks_mut(rows * columns).enumerate() {
            scope.spawn(move || {
                for (row, to) in to.chunks_exact_mut(columns).enumerate() {
                    work(part * rows + row, to);
                }
            });
        }
    });
}

/// A row of the left operand times rows of the right one, from one of them on: as many as there is room for.
pub fn multiply_rows(
    scheme: &Scheme,
    phase_b: PhaseB,
    (left, row): (&Operand, usize),
    (right, first): (&Operand, usize),
    to: &mut [f64],
) {
    let count = scheme.moduli().len();
    for (column, to) in (first..).zip(to) {
        let mut sums = [0; Moduli::MOST];
        for (number, sum) in sums[..count].iter_mut().enumerate() {
            *sum = sum_of_products(left.row(number, row), right.row(number, column));
        }
        let fields = [left.fields[row], right.fields[column]];
        *to = scheme.number(phase_b, &sums[..count], fields);
    }
}

/// Whether arrays have the lengths of a batch `(batch, rows, columns)`, and the scheme holds its sums.
pub(crate) fn check_vectors(
    scheme: &Scheme,
    (batch, rows, columns): (usize, usize, usize),
    matrices: &[f64],
    vectors: &[f64],
    results: &[f64],
) -> Result<(), OzakiError> {
    let all = batch.checked_mul(rows);
    let numbers = all.and_then(|all| all.checked_mul(columns));
    OzakiError::check("the matrices", matrices.len(), numbers)?;
    OzakiError::check("the vectors", vectors.len(), batch.checked_mul(columns))?;
    OzakiError::check("the result", results.len(), all)?;
    scheme.demand(columns)
}

/// Matrices, row by row and one after the other, times as many vectors; the shape is `(batch, rows, columns)`. One matrix is a plain
/// product with a vector.
pub fn multiply_vectors(
    scheme: &Scheme,
    phase_b: PhaseB,
    (batch, rows, columns): (usize, usize, usize),
    matrices: &[f64],
    vectors: &[f64],
    results: &mut [f64],
    threads: usize,
) -> Result<(), OzakiError> {
    let shape = (batch, rows, columns);
    check_vectors(scheme, shape, matrices, vectors, results)?;
    if columns == 0 || results.is_empty() {
        results.fill(0.0);
        return Ok(());
    }
    let right = Operand::new(scheme, Side::Right, vectors, columns);
    // Residues of a matrix at a time: those of all would take several times their memory.
    by_threads(results, rows, threads, |matrix, to| {
        let values = &matrices[matrix * rows * columns..][..rows * columns];
        let left = Operand::new(scheme, Side::Left, values, columns);
        for (row, to) in to.iter_mut().enumerate() {
            let to = std::slice::from_mut(to);
            multiply_rows(scheme, phase_b, (&left, row), (&right, matrix), to);
        }
    });
    Ok(())
}

/// A dot product.
///
/// ```
/// use ozaki::{PhaseB, Scheme, dot};
/// let scheme = Scheme::with_moduli(2, 16)?;
/// assert_eq!(dot(&scheme, PhaseB::Integers, &[3.0, 0.5], &[2.0, -1.0])?, 5.5);
/// # Ok::<(), ozaki::OzakiError>(())
/// ```
pub fn dot(
    scheme: &Scheme,
    phase_b: PhaseB,
    left: &[f64],
    right: &[f64],
) -> Result<f64, OzakiError> {
    let mut result = [0.0];
    let shape = (1, 1, left.len());
    multiply_vectors(scheme, phase_b, shape, left, right, &mut result, 1)?;
    Ok(result[0])
}
