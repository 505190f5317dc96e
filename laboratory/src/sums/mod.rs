//! `ozfft-lab kulisch`: the crate of exact sums, beside what others make of the same numbers.

mod arrays;
mod cases;
mod contenders;
pub(crate) mod cuda;
pub(crate) mod data;
mod matrices;
mod timing;

use crate::failure::Failure;
use crate::origin::built_commit;
use clap::{Args, Subcommand};
use data::Data;
use kulisch::parallel;
use ozfft::Device;
use ozfft_measure::machine::{Machine, now};
use ozfft_measure::memory;
use ozfft_measure::options::{parse_device, parse_seconds};
use ozfft_measure::outputs;
use ozfft_measure::report::{aligned, say, say_json, write_json};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// Options of `ozfft-lab kulisch`.
#[derive(Debug, Args)]
pub struct SumsArguments {
    #[command(subcommand)]
    command: SumsCommand,
}

#[derive(Debug, Subcommand)]
enum SumsCommand {
    /// Times and errors of every reduction beside naive, compensated and other exact ones, in one run
    Bench(BenchArguments),
}

/// Options of `ozfft-lab kulisch bench`.
#[derive(Debug, Args)]
struct BenchArguments {
    /// Time that each method is given for each row
    #[arg(long, value_parser = parse_seconds, default_value = "0.2")]
    seconds: f64,
    /// Where it runs: cpu, cuda, or cuda:1 for the second GPU; the bits do not depend on it
    #[arg(long, value_parser = parse_device, default_value = "cpu")]
    device: Device,
    /// Most numbers in an array; powers of ten from a thousand up to this are measured [default: 10 million; 2^28 on a GPU]
    #[arg(long)]
    largest: Option<usize>,
    /// Only this reduction, such as sum, dot or stencil; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Write the results to this file, with machine, date and versions
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Print one JSON object per line instead of a table
    #[arg(long)]
    json: bool,
}

/// Numbers of the largest arrays, unless the user says otherwise.
const LARGEST: usize = 10_000_000;

/// The smallest and the largest power of ten that is measured.
const FEWEST_NUMBERS: usize = 1_000;
const MOST_NUMBERS: usize = 1_000_000_000;
/// Bytes that every number takes at least: it and what it is multiplied by.
const BYTES_A_NUMBER: u128 = 16;

/// Who is missing among those that are compared, and why.
const NOT_COMPARED: &str = "Not compared: ReproBLAS and ExBLAS, which are installable neither from Debian nor from PyPI nor from crates.io (looked for on 2026-11-15).";

/// Length of arrays where the length is not what is varied.
const MIDDLE: usize = 1_000_000;

/// Time and error of one method.
#[derive(Debug, Clone, Serialize)]
struct Measurement {
    reduction: &'static str,
    data: String,
    /// Numbers that enter, or pairs of them.
    numbers: usize,
    threads: usize,
    method: &'static str,
    min_ns: f64,
    median_ns: f64,
    runs: usize,
    /// By the shortest times, as all that follows.
    ns_per_number: f64,
    /// Times as long as a plain loop.
    ratio_to_naive: f64,
    /// Times as long as kulisch.
    ratio_to_kulisch: f64,
    /// Largest relative error of all outputs, against the exact value rounded once.
    error: f64,
}

#[derive(Debug, Serialize)]
struct Record<'a> {
    date: String,
    machine: Machine,
    software: Software,
    instructions: String,
    seconds_per_method: f64,
    not_compared: &'static str,
    results: &'a [Measurement],
}

#[derive(Debug, Serialize)]
struct Software {
    kulisch: &'static str,
    commit: Option<String>,
    rustc: &'static str,
    xsum: &'static str,
    accurate: &'static str,
}

impl Software {
    fn here() -> Software {
        Software {
            kulisch: env!("CARGO_PKG_VERSION"),
            commit: built_commit(),
            rustc: ozfft_measure::machine::RUSTC,
            xsum: env!("XSUM_VERSION"),
            accurate: env!("ACCURATE_VERSION"),
        }
    }
}

/// Runs the command.
pub fn run(arguments: &SumsArguments) -> Result<(), Failure> {
    match &arguments.command {
        SumsCommand::Bench(arguments) => bench(arguments),
    }
}

fn bench(arguments: &BenchArguments) -> Result<(), Failure> {
    outputs::check_all([&arguments.record])?;
    let seconds = Duration::from_secs_f64(arguments.seconds);
    let date = now();
    let names = match arguments.device {
        Device::Cpu => &cases::NAMES[..],
        Device::Cuda(_) => &cuda::NAMES,
        _ => {
            return Err(Failure::Usage(
                "bench measures what it is told: give --device cpu or --device cuda".into(),
            ));
        }
    };
    if let Some(unknown) = arguments
        .only
        .iter()
        .find(|name| !names.contains(&name.as_str()))
    {
        return Err(Failure::Usage(format!(
            "there is no reduction named {unknown:?}; take one of {}",
            names.join(", ")
        )));
    }
    let wanted =
        |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name);
    if let Device::Cuda(ordinal) = arguments.device {
        return cuda::run(arguments, ordinal, &wanted);
    }
    let mut results = Vec::new();
    let mut report = |rows: Vec<Measurement>| -> Result<(), Failure> {
        if arguments.json {
            rows.iter().try_for_each(say_json)?;
        }
        results.extend(rows);
        Ok(())
    };
    let largest = arguments.largest.unwrap_or(LARGEST);
    if !(FEWEST_NUMBERS..=MOST_NUMBERS).contains(&largest) {
        return Err(Failure::Usage(format!(
            "--largest {largest}: arrays of {FEWEST_NUMBERS} to {MOST_NUMBERS} numbers are measured"
        )));
    }
    memory::expect_points("the largest arrays", &[largest], BYTES_A_NUMBER)?;
    measure_all(&wanted, largest, seconds, &mut report)?;
    if !arguments.json {
        say(&aligned(&table(&results)))?;
        say(NOT_COMPARED)?;
    }
    if let Some(path) = &arguments.record {
        let record = Record {
            date,
            machine: Machine::here(),
            software: Software::here(),
            instructions: format!("{:?}", kulisch::Instructions::best()),
            seconds_per_method: arguments.seconds,
            not_compared: NOT_COMPARED,
            results: &results,
        };
        write_json(path, &record)?;
    }
    Ok(())
}

fn table(results: &[Measurement]) -> Vec<Vec<String>> {
    let heads = [
        "reduction",
        "data",
        "numbers",
        "threads",
        "method",
        "ns/number",
        "× naive",
        "× kulisch",
        "error",
    ];
    let mut rows = vec![heads.map(String::from).to_vec()];
    for result in results {
        rows.push(vec![
            result.reduction.into(),
            result.data.clone(),
            result.numbers.to_string(),
            result.threads.to_string(),
            result.method.into(),
            format!("{:.3}", result.ns_per_number),
            format!("{:.2}", result.ratio_to_naive),
            format!("{:.2}", result.ratio_to_kulisch),
            format!("{:.1e}", result.error),
        ]);
    }
    rows
}

/// Measures everything that is wanted.
fn measure_all(
    wanted: &dyn Fn(&str) -> bool,
    largest: usize,
    seconds: Duration,
    report: &mut cases::Report<'_>,
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
            report(cases::sums(Data::Signed, length, 1, seconds)?)?;
        }
        for data in hard {
            report(cases::sums(data, middle, 1, seconds)?)?;
        }
        if let Some(&length) = lengths.last() {
            report(cases::sums(Data::Signed, length, threads, seconds)?)?;
        }
    }
    if wanted("dot") {
        for &length in lengths.iter().filter(|&&length| length <= 10_000_000) {
            report(cases::dots(Data::Signed, length, seconds)?)?;
        }
        for data in [Data::Condition(1e10), Data::Condition(1e100)] {
            report(cases::dots(data, middle, seconds)?)?;
        }
    }
    for data in [&[Data::Signed], &hard[..3]].concat() {
        arrays::run(wanted, data, middle, seconds, report)?;
    }
    for data in [&[Data::Signed], &hard[..2]].concat() {
        matrices::run(wanted, data, middle, seconds, report)?;
    }
    Ok(())
}
