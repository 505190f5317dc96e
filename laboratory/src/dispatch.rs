//! `ozfft-lab dispatch`: every algorithm of the posts' dispatch table at every length that has it, on the processor or on a GPU; which is the fastest where, and
//! what the post prints for a trn1.2xlarge beside it.
//!
//! f32 data, mode `fast`. On the processor one thread and calls of 2^13 points (beyond 512 points that is fewer lines than vectors have lanes, for
//! all alike), on a GPU 2^24. Algorithms of a length alternate, and the shortest time of each counts: a busy machine disturbs that least.

use crate::failure::Failure;
use crate::origin::built_commit;
use clap::Args;
use floats::{FloatPlan, Mode, Path, Table, Unit, Workspace};
use num_complex::Complex;
use ozfft::{Device, Norm, Planner, Problem};
use ozfft_measure::gpu::{DeviceArrays, DeviceWork, Gpu};
use ozfft_measure::inputs::read_json;
use ozfft_measure::machine::{Machine, now};
use ozfft_measure::options::{parse_device, parse_seconds};
use ozfft_measure::outputs;
use ozfft_measure::report::{aligned, say, say_json, write_json, write_text};
use ozfft_testkit::oracle::inputs;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const LENGTHS: [usize; 9] = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096];
const POINTS: usize = 1 << 13;
const POINTS_ON_GPU: usize = 1 << 24;
/// The algorithms in the order of tables.
pub const PATHS: [Path; 6] = [
    Path::DftGemm,
    Path::Radix8,
    Path::Radix4,
    Path::Mixed,
    Path::Butterfly,
    Path::Bluestein,
];

/// Microseconds on a trn1.2xlarge, from the post on dispatch: a length, an algorithm, a time.
const POSTED: [(usize, Path, f64); 15] = [
    (64, Path::DftGemm, 1883.0),
    (64, Path::Radix8, 3402.0),
    (64, Path::Radix4, 4254.0),
    (64, Path::Butterfly, 4767.0),
    (256, Path::DftGemm, 1882.0),
    (256, Path::Radix4, 5446.0),
    (256, Path::Butterfly, 6067.0),
    (512, Path::Radix8, 4483.0),
    (512, Path::Butterfly, 6600.0),
    (1024, Path::Radix4, 6628.0),
    // Printed as 15 % less than radix 4.
    (1024, Path::Mixed, 0.85 * 6628.0),
    (1024, Path::Butterfly, 7399.0),
    (4096, Path::Radix8, 5917.0),
    (4096, Path::Radix4, 8424.0),
    (4096, Path::Butterfly, 9387.0),
];

/// Options of `ozfft-lab dispatch`.
#[derive(Debug, Args)]
pub struct DispatchArguments {
    /// Where it runs: cpu, cuda, or cuda:1 for the second GPU
    #[arg(long, value_parser = parse_device, default_value = "cpu")]
    device: Device,
    /// Lengths to measure, joined by commas, of 16 to 4096 [default: all powers of two]
    #[arg(long, value_delimiter = ',', value_name = "N")]
    lengths: Vec<usize>,
    /// Seconds for each length
    #[arg(long, value_parser = parse_seconds, default_value = "1")]
    seconds: f64,
    /// Measure nothing, and take what this record has
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "device"])]
    from: Option<PathBuf>,
    /// Write the results to this file as well
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Draw them beside the post's, as SVG
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// An algorithm at a length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub n: usize,
    pub path: String,
    pub ns_per_point: f64,
}

/// What was measured.
#[derive(Debug, Serialize, Deserialize)]
pub struct Report {
    dispatch: u32,
    mode: String,
    numbers: String,
    threads: usize,
    points_a_call: usize,
    pub processor: String,
    vectors: String,
    seconds_a_length: f64,
    /// Records of a processor before these were written have none of the following.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    pub rows: Vec<Row>,
}

/// What the post prints, in its own unit: quotients are compared.
pub fn posted() -> Vec<Row> {
    let all = POSTED.iter();
    all.map(|&(n, path, microseconds)| Row {
        n,
        path: path.to_string(),
        ns_per_point: 1e3 * microseconds / n as f64,
    })
    .collect()
}

/// Lengths of some rows, in order.
pub fn lengths(rows: &[Row]) -> Vec<usize> {
    let mut lengths: Vec<usize> = rows.iter().map(|row| row.n).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// An algorithm's time at a length over that of the fastest.
pub fn over_fastest(rows: &[Row], n: usize, path: Path) -> Option<f64> {
    let of_length = || rows.iter().filter(|row| row.n == n);
    let fastest = of_length()
        .map(|row| row.ns_per_point)
        .fold(f64::INFINITY, f64::min);
    let own = of_length().find(|row| row.path == path.to_string())?;
    Some(own.ns_per_point / fastest)
}

/// Where an algorithm becomes the fastest and another one stops being it: the lengths on both sides.
pub fn crossings(rows: &[Row]) -> Vec<(usize, Path, usize, Path)> {
    let fastest = |n: usize| {
        let known = PATHS
            .into_iter()
            .filter_map(|path| Some((path, over_fastest(rows, n, path)?)));
        known
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|found| found.0)
    };
    let all: Vec<(usize, Path)> = lengths(rows)
        .into_iter()
        .filter_map(|n| Some((n, fastest(n)?)))
        .collect();
    all.windows(2)
        .filter(|pair| pair[0].1 != pair[1].1)
        .map(|pair| (pair[0].0, pair[0].1, pair[1].0, pair[1].1))
        .collect()
}

/// An algorithm on the processor.
struct OnProcessor {
    plan: FloatPlan,
    workspace: Workspace,
}

fn lines(points: usize) -> Vec<Complex<f32>> {
    let numbers = inputs::uniform_complex(points, 1);
    numbers
        .iter()
        .map(|x| Complex::new(x.re as f32, x.im as f32))
        .collect()
}

/// Shortest seconds of those that are there, which take turns until the time is over.
fn shortest<C>(
    seconds: f64,
    contenders: &mut [Option<C>; 6],
    mut run: impl FnMut(&mut C) -> Result<f64, Failure>,
) -> Result<[Option<f64>; 6], Failure> {
    let mut times = [None; 6];
    let begin = Instant::now();
    let mut rounds = 0;
    while rounds < 5 || begin.elapsed() < Duration::from_secs_f64(seconds) {
        for (time, contender) in times.iter_mut().zip(contenders.iter_mut()) {
            if let Some(contender) = contender {
                let found = run(contender)?;
                *time = Some(time.map_or(found, |known: f64| known.min(found)));
            }
        }
        rounds += 1;
    }
    Ok(times)
}

fn on_processor(n: usize, seconds: f64) -> Result<[Option<f64>; 6], Failure> {
    let line = lines(POINTS);
    let mut data = line.clone();
    let mut contenders = PATHS.map(|path| {
        let (direction, table) = (floats::Direction::Forward, Table::Only(path));
        let plan = FloatPlan::with_table(n, Mode::Fast, direction, Unit::Scalar, table).ok()?;
        let workspace = plan.workspace();
        Some(OnProcessor { plan, workspace })
    });
    shortest(seconds, &mut contenders, |contender| {
        data.copy_from_slice(&line);
        let start = Instant::now();
        let outcome = contender.plan.process(&mut data, &mut contender.workspace);
        let time = start.elapsed().as_secs_f64();
        outcome.map_err(|error| Failure::Check(error.to_string()))?;
        Ok(time / POINTS as f64)
    })
}

/// The same on a GPU; results of every algorithm must have the processor's bits.
fn on_gpu(gpu: &Gpu, ordinal: usize, n: usize, seconds: f64) -> Result<[Option<f64>; 6], Failure> {
    let batch = POINTS_ON_GPU / n;
    let problem = Problem::complex(&[n])
        .batch(batch)
        .norm(Norm::Unscaled)
        .device(Device::Cuda(ordinal));
    let planner = Planner::<f32>::new();
    let pattern = lines(POINTS.max(n));
    let mut contenders = [const { None }; 6];
    for (contender, path) in contenders.iter_mut().zip(PATHS) {
        let table = Table::Only(path);
        if table.find(n, Mode::Fast).is_none() {
            continue;
        }
        let plan = planner.plan_by_table(&problem, Mode::Fast, table)?;
        let mut arrays: DeviceArrays = gpu.arrays_for(&[&plan as &dyn DeviceWork])?;
        arrays.input.fill(&pattern)?;
        gpu.run(&plan, &mut arrays, 1)?;
        let mut ours = vec![Complex::new(0.0f32, 0.0); pattern.len()];
        arrays.output.download(0, &mut ours)?;
        let direction = floats::Direction::Forward;
        let cpu = FloatPlan::with_table(n, Mode::Fast, direction, Unit::Scalar, table)
            .map_err(|error| Failure::Check(error.to_string()))?;
        let mut theirs = pattern.clone();
        cpu.process(&mut theirs, &mut cpu.workspace())
            .map_err(|error| Failure::Check(error.to_string()))?;
        let bits = |x: &Complex<f32>| (x.re.to_bits(), x.im.to_bits());
        if !ours.iter().map(bits).eq(theirs.iter().map(bits)) {
            return Err(Failure::Check(format!(
                "{path} at {n} points does not have the processor's bits on the GPU (seed 1)"
            )));
        }
        *contender = Some((plan, arrays));
    }
    shortest(seconds, &mut contenders, |(plan, arrays)| {
        Ok(gpu.run(plan, arrays, 1)? / POINTS_ON_GPU as f64)
    })
}

fn measure(arguments: &DispatchArguments) -> Result<Report, Failure> {
    let wanted = match arguments.lengths.is_empty() {
        true => LENGTHS.to_vec(),
        false => arguments.lengths.clone(),
    };
    if let Some(n) = wanted.iter().find(|n| !(16..=4096).contains(*n)) {
        return Err(Failure::Usage(format!(
            "--lengths are from 16 to 4096, not {n}"
        )));
    }
    let gpu = match arguments.device {
        Device::Cpu => None,
        Device::Cuda(ordinal) => Some((Gpu::open(ordinal)?, ordinal)),
        _ => {
            return Err(Failure::Usage(
                "dispatch measures what it is told: give --device cpu or --device cuda".into(),
            ));
        }
    };
    let mut rows = Vec::new();
    for n in wanted {
        let times = match &gpu {
            None => on_processor(n, arguments.seconds)?,
            Some((gpu, ordinal)) => on_gpu(gpu, *ordinal, n, arguments.seconds)?,
        };
        for (path, time) in PATHS.iter().zip(times) {
            rows.extend(time.map(|time| Row {
                n,
                path: path.to_string(),
                ns_per_point: 1e9 * time,
            }));
        }
    }
    let plan = FloatPlan::new(64, Mode::Fast, floats::Direction::Forward, Unit::Scalar);
    let plan = plan.map_err(|error| Failure::Check(error.to_string()))?;
    Ok(Report {
        dispatch: 1,
        mode: Mode::Fast.to_string(),
        numbers: "f32".into(),
        threads: 1,
        points_a_call: if gpu.is_some() { POINTS_ON_GPU } else { POINTS },
        processor: Machine::here().processor,
        vectors: plan.vectors().into(),
        seconds_a_length: arguments.seconds,
        device: gpu.map(|(gpu, _)| gpu.facts.name),
        date: Some(now()),
        commit: built_commit(),
        rows,
    })
}

/// A table of times over the fastest.
fn table(rows: &[Row]) -> String {
    let mut lines = vec![vec!["n".to_string()]];
    lines[0].extend(PATHS.map(|path| path.to_string()));
    for n in lengths(rows) {
        let mut line = vec![n.to_string()];
        line.extend(PATHS.map(|path| {
            over_fastest(rows, n, path).map_or("-".into(), |quotient| format!("{quotient:.2}"))
        }));
        lines.push(line);
    }
    aligned(&lines)
}

fn crossings_in_words(rows: &[Row]) -> String {
    let all: Vec<String> = crossings(rows)
        .into_iter()
        .map(|(before, path, after, next)| {
            format!("{path} to {before} points, {next} from {after} on")
        })
        .collect();
    match all.is_empty() {
        true => "no crossing".into(),
        false => all.join("; "),
    }
}

/// Runs the command, with a drawing of a report.
pub fn run(
    arguments: &DispatchArguments,
    picture: impl Fn(&Report) -> Result<String, Failure>,
) -> Result<(), Failure> {
    outputs::check_all([&arguments.record, &arguments.out])?;
    let report = match &arguments.from {
        None => measure(arguments)?,
        Some(path) => read_json(path, "a record of ozfft-lab dispatch")?,
    };
    if let Some(path) = &arguments.record {
        write_json(path, &report)?;
    }
    if let Some(path) = &arguments.out {
        write_text(path, &format!("{}\n", picture(&report)?))?;
    }
    if arguments.json {
        say_json(&report)?;
        return Ok(());
    }
    let place = report.device.as_deref().unwrap_or(&report.processor);
    say(&format!("Times over the fastest of the length, {place}\n"))?;
    say(&table(&report.rows))?;
    say(&format!(
        "The fastest: {}\n",
        crossings_in_words(&report.rows)
    ))?;
    say("The post, trn1.2xlarge\n")?;
    say(&table(&posted()))?;
    say(&format!("The fastest: {}", crossings_in_words(&posted())))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_posts_crossings_are_those_of_its_table() {
        let rows = posted();
        assert_eq!(lengths(&rows), [64, 256, 512, 1024, 4096]);
        let found = crossings(&rows);
        assert_eq!(
            found,
            [
                (256, Path::DftGemm, 512, Path::Radix8),
                (512, Path::Radix8, 1024, Path::Mixed),
                (1024, Path::Mixed, 4096, Path::Radix8),
            ]
        );
        assert_eq!(over_fastest(&rows, 64, Path::Bluestein), None);
        let quotient = over_fastest(&rows, 4096, Path::Radix4).unwrap();
        assert!((quotient - 8424.0 / 5917.0).abs() < 1e-12);
    }
}
