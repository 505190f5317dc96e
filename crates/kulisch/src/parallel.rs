//! The same reductions on several threads. Results are exact before they are rounded, so their bits do not depend on how
//! many there are.

use crate::accumulator::Accumulator;
use crate::error::Error;
use crate::linear::{SparseMatrix, rows_times_vector};
use crate::slices::add_pairs;
use crate::units::Unit;
use std::vec::Vec;

/// Numbers below which a further thread is not worth its start.
const WORTH_A_THREAD: usize = 1 << 16;

/// As many threads as there are processors.
pub fn all_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get())
}

/// How many numbers each of at most so many threads takes.
fn share(count: usize, threads: usize) -> usize {
    let useful = count.div_ceil(WORTH_A_THREAD);
    count.div_ceil(threads.min(useful).max(1)).max(1)
}

/// Fills accumulators on threads, and merges them.
fn accumulate<T: Send>(
    parts: impl Iterator<Item = T>,
    fill: impl Fn(&mut Accumulator, T) + Sync,
) -> Accumulator {
    let mut parts = parts;
    let mut total = Accumulator::new();
    let Some(own) = parts.next() else {
        return total;
    };
    std::thread::scope(|scope| {
        let fill = &fill;
        let others: Vec<_> = parts
            .map(|part| {
                scope.spawn(move || {
                    let mut accumulator = Accumulator::new();
                    fill(&mut accumulator, part);
                    accumulator
                })
            })
            .collect();
        fill(&mut total, own);
        for other in others {
            match other.join() {
                Ok(accumulator) => total.merge(&accumulator),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    total
}

/// See [`crate::sum`].
pub fn sum(values: &[f64], threads: usize) -> f64 {
    let parts = values.chunks(share(values.len(), threads));
    accumulate(parts, |accumulator, part| accumulator.add_slice(part)).round()
}

/// See [`crate::magnitude_sum`].
pub fn magnitude_sum(values: &[f64], threads: usize) -> f64 {
    let parts = values.chunks(share(values.len(), threads));
    accumulate(parts, |accumulator, part| accumulator.add_magnitudes(part)).round()
}

/// See [`crate::dot`].
pub fn dot(left: &[f64], right: &[f64], threads: usize) -> Result<f64, Error> {
    Error::check_equal(left.len(), right.len())?;
    Ok(accumulate_products(left, right, threads).round())
}

/// See [`crate::norm`].
pub fn norm(values: &[f64], threads: usize) -> f64 {
    accumulate_products(values, values, threads).square_root()
}

fn accumulate_products(left: &[f64], right: &[f64], threads: usize) -> Accumulator {
    let share = share(left.len(), threads);
    let parts = left.chunks(share).zip(right.chunks(share));
    accumulate(parts, |accumulator, (left, right)| {
        add_pairs(accumulator, Unit::best(), left, right);
    })
}

/// See [`crate::linear::multiply_vector`].
pub fn multiply_vector(
    matrix: &[f64],
    vector: &[f64],
    result: &mut [f64],
    threads: usize,
) -> Result<(), Error> {
    let expected = result.len().checked_mul(vector.len());
    Error::check("matrix", expected, matrix.len())?;
    if vector.is_empty() || result.is_empty() {
        result.fill(0.0);
        return Ok(());
    }
    let rows = result.len().div_ceil(threads.max(1));
    std::thread::scope(|scope| {
        let parts = matrix
            .chunks(rows * vector.len())
            .zip(result.chunks_mut(rows));
        for (matrix, result) in parts {
            scope.spawn(move || rows_times_vector(matrix, vector, result));
        }
    });
    Ok(())
}

/// See [`SparseMatrix::multiply_vector`].
pub fn multiply_sparse(
    matrix: &SparseMatrix<'_>,
    vector: &[f64],
    result: &mut [f64],
    threads: usize,
) -> Result<(), Error> {
    matrix.check(vector, result)?;
    let rows = result.len().div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        for (number, result) in result.chunks_mut(rows).enumerate() {
            scope.spawn(move || matrix.multiply_rows(number * rows, vector, result));
        }
    });
    Ok(())
}
