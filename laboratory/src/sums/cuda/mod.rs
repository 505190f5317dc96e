//! `ozfft-lab kulisch bench --device cuda`: exact reductions on a GPU beside plain kernels, kernels that only read, and NVIDIA's
//! libraries. Bits are compared with the processor's before anything is timed.

pub(crate) mod cases;
pub(crate) mod libraries;
mod model;
pub(crate) mod reductions;
mod timing;

use super::{BenchArguments, Software};
use crate::failure::Failure;
pub use cases::NAMES;
use model::Verdict;
use ozfft_measure::gpu::{Clocks, Copy, DeviceFacts, Gpu, clocks_now};
use ozfft_measure::machine::{Machine, now};
use ozfft_measure::report::{aligned, note, say, say_json, write_json};
use reductions::Reductions;
use serde::Serialize;
use std::time::Duration;

/// Numbers of the largest arrays, unless the user says otherwise: 2 GiB.
const LARGEST: usize = 1 << 28;
/// Fewer do not fill the patterns that arrays are made of.
const FEWEST: usize = 1 << 12;

/// Time and error of one method.
#[derive(Debug, Clone, Serialize)]
struct Measurement {
    reduction: &'static str,
    data: String,
    /// Numbers that enter, or pairs of them.
    numbers: usize,
    /// Bytes that must be moved at least: every array once.
    bytes: usize,
    method: &'static str,
    min_ns: f64,
    median_ns: f64,
    runs: usize,
    /// By the median times, as all that follows.
    ns_per_number: f64,
    terabytes_per_second: f64,
    /// Of the bytes that a copy within the device reads and writes in the same time.
    share_of_copy: f64,
    /// Of the bytes that it reads.
    share_of_read_half: f64,
    ratio_to_naive: f64,
    ratio_to_kulisch: f64,
    /// Largest relative error of all outputs, against the exact value rounded once. Nothing for kernels that only read.
    error: Option<f64>,
    registers: Option<u32>,
    /// Bytes of a thread that have not found room in registers.
    local_bytes: Option<u32>,
    /// Of a thread, counted in the machine code of compute capability 9.0.
    instructions_per_number: Option<f64>,
    /// Those times numbers a second, in 10^12.
    achieved_tera_instructions: Option<f64>,
    /// What equation (37) of the paper asks for: instructions a number, times numbers a byte, times bytes a second of a copy.
    needed_tera_instructions: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Record<'a> {
    date: String,
    machine: Machine,
    device: &'a DeviceFacts,
    software: Software,
    cublas: Option<&'a str>,
    cusparse: Option<&'a str>,
    clocks_before: Option<Clocks>,
    clocks_after: Option<Clocks>,
    seconds_per_method: f64,
    copy_terabytes_per_second: f64,
    /// Instructions of threads that all schedulers issue in a second at the highest clock, in 10^12.
    issue_limit_tera_instructions: f64,
    results: &'a [Measurement],
    predictions: &'a [Verdict],
}

/// Bytes a second, read and written, of a copy within the device.
fn copy_rate(gpu: &Gpu, bytes: usize) -> Result<f64, Failure> {
    let copy = Copy(bytes);
    let mut arrays = gpu.arrays_for(&[&copy])?;
    gpu.run(&copy, &mut arrays, 1)?;
    let mut times = Vec::new();
    for _ in 0..7 {
        times.push(gpu.run(&copy, &mut arrays, 3)?);
    }
    times.sort_by(f64::total_cmp);
    Ok(2.0 * bytes as f64 / times[times.len() / 2])
}

/// Runs the command.
pub(super) fn run(
    arguments: &BenchArguments,
    ordinal: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<(), Failure> {
    let date = now();
    let largest = arguments.largest.unwrap_or(LARGEST);
    if largest < FEWEST {
        return Err(Failure::Usage(format!(
            "--largest {largest}: take {FEWEST} or more with --device cuda"
        )));
    }
    let seconds = Duration::from_secs_f64(arguments.seconds);
    let gpu = Gpu::open(ordinal)?;
    let clocks_before = clocks_now(ordinal);
    let reductions = Reductions::new(&gpu)?;
    let missing = [
        reductions.cublas.as_ref().err(),
        reductions.cusparse.as_ref().err(),
    ];
    for error in missing.into_iter().flatten() {
        note(&format!("note: {error}"));
    }
    let copy = copy_rate(&gpu, 8 * largest)?;
    let mut results = Vec::new();
    let mut report = |rows: Vec<Measurement>| -> Result<(), Failure> {
        if arguments.json {
            rows.iter().try_for_each(say_json)?;
        }
        results.extend(rows);
        Ok(())
    };
    let bench = timing::Bench {
        gpu: &gpu,
        reductions: &reductions,
        seconds,
        copy,
    };
    cases::run_all(&bench, wanted, largest, &mut report)?;
    let predictions = model::verdicts(&results);
    if arguments.json {
        predictions.iter().try_for_each(say_json)?;
    } else {
        say(&gpu.facts.to_string())?;
        say(&format!(
            "a copy within the device reads and writes {:.2} TB/s\n",
            copy * 1e-12
        ))?;
        say(&aligned(&table(&results)))?;
        say("")?;
        say(&model::text(&predictions))?;
    }
    if let Some(path) = &arguments.record {
        let cublas = reductions.cublas.as_ref().ok();
        let cusparse = reductions.cusparse.as_ref().ok();
        let lanes = f64::from(gpu.facts.multiprocessors) * 128.0;
        write_json(
            path,
            &Record {
                date,
                machine: Machine::here(),
                device: &gpu.facts,
                software: Software::here(),
                cublas: cublas.map(|library| library.version.as_str()),
                cusparse: cusparse.map(|library| library.version.as_str()),
                clocks_before,
                clocks_after: clocks_now(ordinal),
                seconds_per_method: arguments.seconds,
                copy_terabytes_per_second: copy * 1e-12,
                issue_limit_tera_instructions: lanes * f64::from(gpu.facts.clock_mhz) * 1e-6,
                results: &results,
                predictions: &predictions,
            },
        )?;
    }
    Ok(())
}

fn table(results: &[Measurement]) -> Vec<Vec<String>> {
    let heads = [
        "reduction",
        "data",
        "numbers",
        "method",
        "ms",
        "TB/s",
        "of copy",
        "of its reads",
        "× naive",
        "error",
        "registers",
        "spilled",
        "instructions",
        "T/s",
        "needed T/s",
    ];
    let mut rows = vec![heads.map(String::from).to_vec()];
    let or_nothing = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    for result in results {
        rows.push(vec![
            result.reduction.into(),
            result.data.clone(),
            result.numbers.to_string(),
            result.method.into(),
            format!("{:.4}", result.median_ns * 1e-6),
            format!("{:.2}", result.terabytes_per_second),
            format!("{:.0} %", 100.0 * result.share_of_copy),
            format!("{:.0} %", 100.0 * result.share_of_read_half),
            format!("{:.2}", result.ratio_to_naive),
            or_nothing(result.error.map(|error| format!("{error:.1e}"))),
            or_nothing(result.registers.map(|count| count.to_string())),
            or_nothing(result.local_bytes.map(|bytes| bytes.to_string())),
            or_nothing(
                result
                    .instructions_per_number
                    .map(|count| format!("{count:.0}")),
            ),
            or_nothing(
                result
                    .achieved_tera_instructions
                    .map(|rate| format!("{rate:.1}")),
            ),
            or_nothing(
                result
                    .needed_tera_instructions
                    .map(|rate| format!("{rate:.1}")),
            ),
        ]);
    }
    rows
}
