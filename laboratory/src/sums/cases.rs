//! What is measured: every reduction of the crate. Sums and dot products are here, which others have, too.

use super::Measurement;
use super::contenders::{
    compensated_dot, compensated_sum, naive_dot, naive_sum, on_threads, vector_dot, vector_sum,
};
use super::data::Data;
use super::timing::{Case, KULISCH, Method, NAIVE, measure};
use crate::failure::Failure;
use accurate::dot::OnlineExactDot;
use accurate::sum::OnlineExactSum;
use accurate::traits::{DotWithAccumulator, SumWithAccumulator};
use kulisch::parallel;
use std::time::Duration;
use xsum::{Xsum, XsumLarge, XsumSmall};

/// Names of all reductions.
pub const NAMES: [&str; 15] = [
    "sum",
    "dot",
    "directed-sum",
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
pub(super) const SEEDS: (u64, u64) = (1, 2);
pub(super) type Report<'a> = dyn FnMut(Vec<Measurement>) -> Result<(), Failure> + 'a;

/// A method that has one output.
pub(super) fn one<'a>(
    name: &'static str,
    exact: bool,
    mut run: impl FnMut() -> f64 + 'a,
) -> Method<'a> {
    Method {
        name,
        exact,
        run: Box::new(move |output| output[0] = run()),
    }
}

/// A method with many outputs.
pub(super) fn many<'a>(
    name: &'static str,
    exact: bool,
    run: impl FnMut(&mut [f64]) + 'a,
) -> Method<'a> {
    Method {
        name,
        exact,
        run: Box::new(run),
    }
}

/// NaN is never equal to anything: a rejection by the library is found as an error of the result.
fn or_nan(result: Result<f64, kulisch::Error>) -> f64 {
    result.unwrap_or(f64::NAN)
}

/// The same for many outputs.
pub(super) fn or_all_nan(result: Result<(), kulisch::Error>, output: &mut [f64]) {
    if result.is_err() {
        output.fill(f64::NAN);
    }
}

pub(super) fn case(reduction: &'static str, data: Data, numbers: usize, outputs: usize) -> Case {
    Case {
        reduction,
        data: data.name(),
        numbers,
        threads: 1,
        outputs,
    }
}

pub(super) fn sums(
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
            one("Sum2", false, || compensated_sum(x.iter().copied())),
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
            // Exact, unless partial sums leave the range. An independent check of all other rows.
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

pub(super) fn dots(
    data: Data,
    length: usize,
    seconds: Duration,
) -> Result<Vec<Measurement>, Failure> {
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
        one("accurate Dot2", false, || compensated_dot(x, y)),
        one("accurate OnlineExactDot", true, || {
            pairs().dot_with_accumulator::<OnlineExactDot<f64>>()
        }),
    ];
    measure(&case("dot", data, length, 1), &mut methods, seconds)
}
