//! Matrices and stencils: numbers are products.

use super::Measurement;
use super::cases::{Report, SEEDS, case, many, or_all_nan};
use super::contenders::{compensated_dot, naive_dot};
use super::data::Data;
use super::timing::{KULISCH, Method, NAIVE, measure};
use crate::failure::Failure;
use kulisch::linear::{self, SparseMatrix};
use std::time::Duration;

/// Rows of these numbers, each with its condition, and what they are multiplied by.
fn rows(data: Data, lengths: impl Iterator<Item = usize>) -> Vec<f64> {
    let seeded = (SEEDS.0..).zip(lengths);
    seeded
        .flat_map(|(seed, length)| data.numbers(length, seed))
        .collect()
}

fn factors(data: Data, count: usize) -> Vec<f64> {
    match data {
        Data::Signed => data.numbers(count, SEEDS.1),
        // Pairs that cancel must have the same number on the other side.
        _ => vec![1.0 / 3.0; count],
    }
}

/// Dot products of rows, by a function for one of them.
fn by_rows<'a>(
    name: &'static str,
    (matrices, vectors, rows): (&'a [f64], &'a [f64], usize),
    columns: usize,
    dot: fn(&[f64], &[f64]) -> f64,
) -> Method<'a> {
    many(name, false, move |output| {
        for (number, output) in output.iter_mut().enumerate() {
            let vector = &vectors[number / rows * columns..][..columns];
            *output = dot(&matrices[number * columns..][..columns], vector);
        }
    })
}

/// Measures those that are wanted, with these numbers.
pub fn run(
    wanted: &dyn Fn(&str) -> bool,
    data: Data,
    length: usize,
    seconds: Duration,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let side = length.isqrt();
    if wanted("gemv") {
        let values = rows(data, std::iter::repeat_n(side, side));
        let x = factors(data, side);
        let mut methods = [
            many(KULISCH, true, |output| {
                let done = linear::multiply_vector(&values, &x, output);
                or_all_nan(done, output);
            }),
            by_rows(NAIVE, (&values, &x, side), side, naive_dot),
            by_rows("Dot2", (&values, &x, side), side, compensated_dot),
        ];
        let case = case("gemv", data, side * side, side);
        report(measure(&case, &mut methods, seconds)?)?;
    }
    if wanted("batched-gemv") {
        const SIDE: usize = 16;
        let batch = length / (SIDE * SIDE);
        let values = rows(data, std::iter::repeat_n(SIDE, batch * SIDE));
        let x = factors(data, batch * SIDE);
        let mut methods = [
            many(KULISCH, true, |output| {
                let done = linear::multiply_vectors((batch, SIDE, SIDE), &values, &x, output);
                or_all_nan(done, output);
            }),
            by_rows(NAIVE, (&values, &x, SIDE), SIDE, naive_dot),
            by_rows("Dot2", (&values, &x, SIDE), SIDE, compensated_dot),
        ];
        let case = case("batched-gemv", data, values.len(), batch * SIDE);
        report(measure(&case, &mut methods, seconds)?)?;
    }
    if wanted("spmv") {
        report(sparse(data, length, seconds)?)?;
    }
    if wanted("stencil") {
        report(stencil(data, length, seconds)?)?;
    }
    if wanted("gemm") {
        let side = 128.min(side);
        let a = rows(data, std::iter::repeat_n(side, side));
        let b = factors(data, side * side);
        let mut methods = [
            many(KULISCH, true, |output| {
                let done = linear::multiply_matrices((side, side, side), &a, &b, output);
                or_all_nan(done, output);
            }),
            many(NAIVE, false, |output| {
                output.fill(0.0);
                for (row, output) in a.chunks_exact(side).zip(output.chunks_exact_mut(side)) {
                    for (left, right) in row.iter().zip(b.chunks_exact(side)) {
                        let pairs = output.iter_mut().zip(right);
                        pairs.for_each(|(output, right)| *output += left * right);
                    }
                }
            }),
        ];
        let case = case("gemm", data, side * side * side, side * side);
        report(measure(&case, &mut methods, seconds)?)?;
    }
    Ok(())
}

/// Rows of 7 to 64 entries at places that jump about.
fn sparse(data: Data, length: usize, seconds: Duration) -> Result<Vec<Measurement>, Failure> {
    let (mut starts, mut columns) = (vec![0], Vec::new());
    let width = (length / 16).max(1);
    while columns.len() + 64 <= length {
        let row = starts.len();
        let entries = [7, 9, 27, 64][row % 4];
        columns.extend((0..entries).map(|entry| (row * 31 + entry * 977) % width));
        starts.push(columns.len());
    }
    let values = &rows(data, starts.windows(2).map(|ends| ends[1] - ends[0]))[..];
    let x = &factors(data, width)[..];
    let rejected = |error: kulisch::Error| Failure::Check(error.to_string());
    let matrix = SparseMatrix::new(&starts, &columns, values, width).map_err(rejected)?;
    let mut methods = [
        many(KULISCH, true, |output| {
            let done = matrix.multiply_vector(x, output);
            or_all_nan(done, output);
        }),
        many(NAIVE, false, |output| {
            for (ends, output) in starts.windows(2).zip(output) {
                let entries = values[ends[0]..ends[1]]
                    .iter()
                    .zip(&columns[ends[0]..ends[1]]);
                *output = entries.map(|(value, &column)| value * x[column]).sum();
            }
        }),
    ];
    let case = case("spmv", data, columns.len(), matrix.rows());
    measure(&case, &mut methods, seconds)
}

/// A stencil on a cube.
pub struct Laplacian {
    pub coefficients: Vec<f64>,
    pub offsets: Vec<isize>,
    pub points: usize,
    /// Place of the first result, and how many there are.
    pub first: usize,
    pub outputs: usize,
}

/// The 25 points of an eighth-order Laplacian in three dimensions, on at most so many points; its arms are four long.
pub fn laplacian(most: usize) -> Option<Laplacian> {
    let side = (9..)
        .take_while(|side: &usize| side.pow(3) <= most)
        .last()?;
    let weights = [8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0];
    let mut coefficients = vec![-3.0 * 205.0 / 72.0];
    let mut offsets = vec![0];
    for step in [1, side, side * side].map(|step| step as isize) {
        for (distance, &weight) in (1..).zip(&weights) {
            coefficients.extend([weight; 2]);
            offsets.extend([distance * step, -distance * step]);
        }
    }
    let first = 4 * side * side;
    Some(Laplacian {
        coefficients,
        offsets,
        points: side.pow(3),
        first,
        outputs: side.pow(3) - 2 * first,
    })
}

/// The values have these conditions, not the results: neighbours do not cancel.
fn stencil(data: Data, length: usize, seconds: Duration) -> Result<Vec<Measurement>, Failure> {
    let Some(laplacian) = laplacian(length) else {
        return Ok(Vec::new());
    };
    let (coefficients, offsets) = (&laplacian.coefficients, &laplacian.offsets);
    let (first, outputs) = (laplacian.first, laplacian.outputs);
    let x = &data.numbers(laplacian.points, SEEDS.1)[..];
    let mut methods = [
        many(KULISCH, true, |output| {
            let done = linear::stencil(coefficients, offsets, x, first, output);
            or_all_nan(done, output);
        }),
        many(NAIVE, false, |output| {
            output.fill(0.0);
            for (&coefficient, &offset) in coefficients.iter().zip(offsets) {
                let moved = &x[first.wrapping_add_signed(offset)..][..outputs];
                let pairs = output.iter_mut().zip(moved);
                pairs.for_each(|(output, value)| *output += coefficient * value);
            }
        }),
    ];
    let case = case("stencil", data, outputs * coefficients.len(), outputs);
    measure(&case, &mut methods, seconds)
}
