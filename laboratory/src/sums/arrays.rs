//! Reductions of arrays that have no other exact crate to compare with.

use super::cases::{Report, SEEDS, case, many, one, or_all_nan};
use super::contenders::{
    compensated_dot, compensated_prefix_sums, compensated_sum, naive_dot, naive_sum,
};
use super::data::Data;
use super::timing::{KULISCH, NAIVE, measure};
use crate::failure::Failure;
use kulisch::{Accumulator, Rounding};
use std::time::Duration;

/// What a compensated loop over the same is called.
const COMPENSATED: &str = "compensated";

/// Measures those that are wanted, with these numbers.
pub fn run(
    wanted: &dyn Fn(&str) -> bool,
    data: Data,
    length: usize,
    seconds: Duration,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let values = data.numbers(length, SEEDS.0);
    let x = &values[..];
    let mut reduction = |name: &'static str, methods: [&dyn Fn() -> f64; 3]| {
        if wanted(name) {
            let [exact, naive, compensated] = methods;
            let mut methods = [
                one(KULISCH, true, exact),
                one(NAIVE, false, naive),
                one(COMPENSATED, false, compensated),
            ];
            let case = case(name, data, length, 1);
            report(measure(&case, &mut methods, seconds)?)?;
        }
        Ok::<(), Failure>(())
    };
    let magnitudes = || x.iter().map(|value| value.abs());
    reduction(
        "asum",
        [
            &|| kulisch::magnitude_sum(x),
            &|| magnitudes().sum(),
            &|| compensated_sum(magnitudes()),
        ],
    )?;
    reduction(
        "nrm2",
        [&|| kulisch::norm(x), &|| naive_dot(x, x).sqrt(), &|| {
            compensated_dot(x, x).sqrt()
        }],
    )?;
    let count = length as f64;
    let mean = || naive_sum(x) / count;
    let compensated_mean = || compensated_sum(x.iter().copied()) / count;
    reduction("mean", [&|| kulisch::mean(x), &mean, &compensated_mean])?;
    let squares = |mean: f64| x.iter().map(move |value| (value - mean) * (value - mean));
    reduction(
        "variance",
        [
            &|| kulisch::variance(x, 1),
            &|| squares(mean()).sum::<f64>() / (count - 1.0),
            &|| compensated_sum(squares(compensated_mean())) / (count - 1.0),
        ],
    )?;
    directed(wanted, data, x, seconds, report)?;
    single(wanted, data, x, seconds, report)?;
    complex(wanted, data, length, seconds, report)?;
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
            many(COMPENSATED, false, |output| {
                compensated_prefix_sums(x, output);
            }),
        ];
        let case = case("prefix-sums", data, length, length);
        report(measure(&case, &mut methods, seconds)?)?;
    }
    Ok(())
}

/// The sum rounded down and up: an interval that contains it, and no narrower one does.
fn directed(
    wanted: &dyn Fn(&str) -> bool,
    data: Data,
    x: &[f64],
    seconds: Duration,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    if !wanted("directed-sum") {
        return Ok(());
    }
    let mut methods = [
        many(KULISCH, true, |output| {
            let mut accumulator = Accumulator::new();
            accumulator.add_slice(x);
            let bounds = [Rounding::Down, Rounding::Up];
            output.copy_from_slice(&bounds.map(|direction| accumulator.round_to(direction)));
        }),
        many(NAIVE, false, |output| output.fill(naive_sum(x))),
        many(COMPENSATED, false, |output| {
            output.fill(compensated_sum(x.iter().copied()));
        }),
    ];
    let case = case("directed-sum", data, x.len(), 2);
    report(measure(&case, &mut methods, seconds)?)
}

/// Floats, as far as these numbers are some.
fn single(
    wanted: &dyn Fn(&str) -> bool,
    data: Data,
    x: &[f64],
    seconds: Duration,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let beyond = matches!(data, Data::Condition(number) if number > f64::from(f32::MAX));
    if !wanted("sum-f32") || beyond {
        return Ok(());
    }
    let singles: Vec<f32> = x.iter().map(|&value| value as f32).collect();
    let mut methods = [
        one(KULISCH, true, || kulisch::sum_f32(&singles).into()),
        one(NAIVE, false, || singles.iter().sum::<f32>().into()),
    ];
    let case = case("sum-f32", data, x.len(), 1);
    report(measure(&case, &mut methods, seconds)?)
}

fn complex(
    wanted: &dyn Fn(&str) -> bool,
    data: Data,
    length: usize,
    seconds: Duration,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    if !wanted("complex-dot") {
        return Ok(());
    }
    let pairs = |numbers: Vec<f64>| numbers.as_chunks::<2>().0.to_vec();
    let a = pairs(data.numbers(length, SEEDS.0));
    let b = match data {
        Data::Signed => pairs(data.numbers(length, SEEDS.1)),
        // Numbers that cancel must have the same on the other side.
        _ => vec![[1.0 / 3.0, 1.0 / 3.0]; length / 2],
    };
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
    let case = case("complex-dot", data, length / 2, 2);
    report(measure(&case, &mut methods, seconds)?)
}
