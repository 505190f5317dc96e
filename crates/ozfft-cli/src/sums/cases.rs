//! What is measured: every reduction of the crate.

use super::Measurement;
use super::contenders::{
    compensated_sum, naive_dot, naive_sum, on_threads, vector_dot, vector_sum,
};
use super::data::Data;
use super::timing::{Case, KULISCH, Method, NAIVE, measure};
use crate::failure::Failure;
use accurate::dot::{Dot2, OnlineExactDot};
use accurate::sum::OnlineExactSum;
use accurate::traits::{DotWithAccumulator, SumWithAccumulator};
use kulisch::linear::{self, SparseMatrix};
use kulisch::parallel;
use std::time::Duration;
use xsum::{Xsum, XsumLarge, XsumSmall};

/// Names of all reductions.
pub const NAMES: [&str; 14] = [
    "sum",
    "dot",
    "asum",
    "nrm2",
    "complex-dot",
    "mean",
    "variance",
    "prefix-sums",
    "gemv",
    "batched-gemv",
    "spmv",
    "stencil",
    "gemm",
    "sum-f32",
];

/// Seeds of the two arrays.
const SEEDS: (u64, u64) = (1, 2);
/// Length of arrays where the length is not what is varied.
const MIDDLE: usize = 1_000_000;

type Report<'a> = dyn FnMut(Vec<Measurement>) -> Result<(), Failure> + 'a;

/// A method that has one output.
fn one<'a>(name: &'static str, exact: bool, mut run: impl FnMut() -> f64 + 'a) -> Method<'a> {
    Method {
        name,
        exact,
        run: Box::new(move |output| output[0] = run()),
    }
}

/// A method with many outputs.
fn many<'a>(name: &'static str, exact: bool, run: impl FnMut(&mut [f64]) + 'a) -> Method<'a> {
    Method {
        name,
        exact,
        run: Box::new(run),
    }
}

/// NaN is never equal to anything: a refusal by the library is found as an error of the result.
fn or_nan(result: Result<f64, kulisch::Error>) -> f64 {
    result.unwrap_or(f64::NAN)
}

/// The same for many outputs.
fn or_all_nan(result: Result<(), kulisch::Error>, output: &mut [f64]) {
    if result.is_err() {
        output.fill(f64::NAN);
    }
}

/// Measures everything that is wanted.
pub fn run_all(
    wanted: &dyn Fn(&str) -> bool,
    largest: usize,
    seconds: Duration,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let lengths: Vec<usize> = (3..10)
        .map(|power| 10usize.pow(power))
        .filter(|&length| length <= largest)
        .collect();
    let middle = MIDDLE.min(largest.max(1));
    let hard = [
        Data::Condition(1e10),
        Data::Condition(1e100),
        Data::Condition(1e300),
        Data::AllExponents,
    ];
    let threads = parallel::all_threads();
    if wanted("sum") {
        for &length in &lengths {
            report(sums(Data::Signed, length, 1, seconds)?)?;
        }
        for data in hard {
            report(sums(data, middle, 1, seconds)?)?;
        }
        if let Some(&length) = lengths.last() {
            report(sums(Data::Signed, length, threads, seconds)?)?;
        }
    }
    if wanted("dot") {
        for &length in lengths.iter().filter(|&&length| length <= 10_000_000) {
            report(dots(Data::Signed, length, seconds)?)?;
        }
        for data in [Data::Condition(1e10), Data::Condition(1e100)] {
            report(dots(data, middle, seconds)?)?;
        }
    }
    one_array(wanted, middle, seconds, report)?;
    matrices(wanted, middle, seconds, report)
}

fn case(reduction: &'static str, data: Data, numbers: usize, outputs: usize) -> Case {
    Case {
        reduction,
        data: data.name(),
        numbers,
        threads: 1,
        outputs,
    }
}

fn sums(
    data: Data,
    length: usize,
    threads: usize,
    seconds: Duration,
) -> Result<Vec<Measurement>, Failure> {
    let values = data.numbers(length, SEEDS.0);
    let x = &values[..];
    let mut methods = if threads > 1 {
        vec![
            one(KULISCH, true, || parallel::sum(x, threads)),
            one(NAIVE, false, || on_threads(x, threads, naive_sum)),
            one("naive, in lanes", false, || {
                on_threads(x, threads, vector_sum)
            }),
        ]
    } else {
        vec![
            one(KULISCH, true, || kulisch::sum(x)),
            one(NAIVE, false, || naive_sum(x)),
            one("naive, in lanes", false, || vector_sum(x)),
            one("Sum2", false, || compensated_sum(x)),
            // Meant to be exact, but version 0.1.6 is not: its errors are shown.
            one("xsum small", false, || {
                let mut sum = XsumSmall::new();
                sum.add_list(x);
                sum.sum()
            }),
            one("xsum large", false, || {
                let mut sum = XsumLarge::new();
                sum.add_list(x);
                sum.sum()
            }),
            // Exact, unless sums on the way leave the range. An independent witness for all other rows.
            one(
                "accurate OnlineExactSum",
                data != Data::AllExponents,
                || {
                    x.iter()
                        .copied()
                        .sum_with_accumulator::<OnlineExactSum<f64>>()
                },
            ),
        ]
    };
    let mut case = case("sum", data, length, 1);
    case.threads = threads;
    measure(&case, &mut methods, seconds)
}

fn dots(data: Data, length: usize, seconds: Duration) -> Result<Vec<Measurement>, Failure> {
    // Pairs that cancel have the same number on the other side: 1 is in range for all of them.
    let x = &data.numbers(length, SEEDS.0)[..];
    let y = &match data {
        Data::Signed => Data::Signed.numbers(length, SEEDS.1),
        _ => vec![1.0 / 3.0; length],
    }[..];
    let pairs = || x.iter().copied().zip(y.iter().copied());
    let mut methods = [
        one(KULISCH, true, || or_nan(kulisch::dot(x, y))),
        one(NAIVE, false, || naive_dot(x, y)),
        one("naive, in lanes", false, || vector_dot(x, y)),
        one("accurate Dot2", false, || {
            pairs().dot_with_accumulator::<Dot2<f64>>()
        }),
        one("accurate OnlineExactDot", true, || {
            pairs().dot_with_accumulator::<OnlineExactDot<f64>>()
        }),
    ];
    measure(&case("dot", data, length, 1), &mut methods, seconds)
}

/// Reductions of one array that have no other exact crate to compare with.
fn one_array(
    wanted: &dyn Fn(&str) -> bool,
    length: usize,
    seconds: Duration,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let data = Data::Signed;
    let values = data.numbers(length, SEEDS.0);
    let x = &values[..];
    let mut reduction = |name: &'static str, exact: &dyn Fn() -> f64, naive: &dyn Fn() -> f64| {
        if wanted(name) {
            let mut methods = [one(KULISCH, true, exact), one(NAIVE, false, naive)];
            report(measure(
                &case(name, data, length, 1),
                &mut methods,
                seconds,
            )?)?;
        }
        Ok::<(), Failure>(())
    };
    reduction("asum", &|| kulisch::magnitude_sum(x), &|| {
        x.iter().map(|value| value.abs()).sum()
    })?;
    reduction("nrm2", &|| kulisch::norm(x), &|| naive_dot(x, x).sqrt())?;
    let mean = || naive_sum(x) / length as f64;
    reduction("mean", &|| kulisch::mean(x), &mean)?;
    reduction("variance", &|| kulisch::variance(x, 1), &|| {
        let mean = mean();
        x.iter()
            .map(|value| (value - mean) * (value - mean))
            .sum::<f64>()
            / (length as f64 - 1.0)
    })?;
    let singles: Vec<f32> = x.iter().map(|&value| value as f32).collect();
    reduction("sum-f32", &|| kulisch::sum_f32(&singles).into(), &|| {
        singles.iter().sum::<f32>().into()
    })?;
    if wanted("complex-dot") {
        let pairs = |seed| data.numbers(length, seed).as_chunks::<2>().0.to_vec();
        let (a, b) = (pairs(SEEDS.0), pairs(SEEDS.1));
        let mut methods = [
            many(KULISCH, true, |output| match kulisch::complex_dot(&a, &b) {
                Ok(sum) => output.copy_from_slice(&sum),
                Err(_) => output.fill(f64::NAN),
            }),
            many(NAIVE, false, |output| {
                let mut sum = [0.0; 2];
                for ([a, b], [c, d]) in a.iter().zip(&b) {
                    sum[0] += a * c - b * d;
                    sum[1] += a * d + b * c;
                }
                output.copy_from_slice(&sum);
            }),
        ];
        report(measure(
            &case("complex-dot", data, length / 2, 2),
            &mut methods,
            seconds,
        )?)?;
    }
    if wanted("prefix-sums") {
        let mut methods = [
            many(KULISCH, true, |output| {
                let done = kulisch::prefix_sums(x, output);
                or_all_nan(done, output);
            }),
            many(NAIVE, false, |output| {
                let mut sum = 0.0;
                for (value, output) in x.iter().zip(output) {
                    sum += value;
                    *output = sum;
                }
            }),
        ];
        report(measure(
            &case("prefix-sums", data, length, length),
            &mut methods,
            seconds,
        )?)?;
    }
    Ok(())
}

/// Matrices and stencils: numbers are products.
fn matrices(
    wanted: &dyn Fn(&str) -> bool,
    length: usize,
    seconds: Duration,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let data = Data::Signed;
    let side = length.isqrt();
    let values = data.numbers(side * side, SEEDS.0);
    let vector = data.numbers(side * side, SEEDS.1);
    if wanted("gemv") {
        let x = &vector[..side];
        let mut methods = [
            many(KULISCH, true, |output| {
                let done = linear::multiply_vector(&values, x, output);
                or_all_nan(done, output);
            }),
            many(NAIVE, false, |output| {
                let rows = values.chunks_exact(side).zip(output);
                rows.for_each(|(row, output)| *output = naive_dot(row, x));
            }),
        ];
        report(measure(
            &case("gemv", data, side * side, side),
            &mut methods,
            seconds,
        )?)?;
    }
    if wanted("batched-gemv") {
        const SIDE: usize = 16;
        let batch = side * side / (SIDE * SIDE);
        let (matrices, x) = (&values[..batch * SIDE * SIDE], &vector[..batch * SIDE]);
        let mut methods = [
            many(KULISCH, true, |output| {
                let done = linear::multiply_vectors((batch, SIDE, SIDE), matrices, x, output);
                or_all_nan(done, output);
            }),
            many(NAIVE, false, |output| {
                for (number, output) in output.iter_mut().enumerate() {
                    let x = &x[number / SIDE * SIDE..][..SIDE];
                    *output = naive_dot(&matrices[number * SIDE..][..SIDE], x);
                }
            }),
        ];
        let case = case("batched-gemv", data, matrices.len(), batch * SIDE);
        report(measure(&case, &mut methods, seconds)?)?;
    }
    if wanted("spmv") {
        report(sparse(&values, &vector, seconds)?)?;
    }
    if wanted("stencil") {
        report(stencil(&vector, seconds)?)?;
    }
    if wanted("gemm") {
        let side = 128.min(side);
        let (a, b) = (&values[..side * side], &vector[..side * side]);
        let mut methods = [
            many(KULISCH, true, |output| {
                let done = linear::multiply_matrices((side, side, side), a, b, output);
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
fn sparse(values: &[f64], vector: &[f64], seconds: Duration) -> Result<Vec<Measurement>, Failure> {
    let (mut starts, mut columns) = (vec![0], Vec::new());
    let width = (values.len() / 16).max(1);
    while columns.len() + 64 <= values.len() {
        let row = starts.len();
        let entries = [7, 9, 27, 64][row % 4];
        columns.extend((0..entries).map(|entry| (row * 31 + entry * 977) % width));
        starts.push(columns.len());
    }
    let (values, x) = (&values[..columns.len()], &vector[..width]);
    let refused = |error: kulisch::Error| Failure::Check(error.to_string());
    let matrix = SparseMatrix::new(&starts, &columns, values, width).map_err(refused)?;
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
    let case = case("spmv", Data::Signed, columns.len(), matrix.rows());
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

fn stencil(values: &[f64], seconds: Duration) -> Result<Vec<Measurement>, Failure> {
    let Some(laplacian) = laplacian(values.len()) else {
        return Ok(Vec::new());
    };
    let (coefficients, offsets) = (&laplacian.coefficients, &laplacian.offsets);
    let (first, outputs) = (laplacian.first, laplacian.outputs);
    let x = &values[..laplacian.points];
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
    let case = case(
        "stencil",
        Data::Signed,
        outputs * coefficients.len(),
        outputs,
    );
    measure(&case, &mut methods, seconds)
}
