//! `ozfft paths`: one transform on a GPU along every path that the Ozaki-Bailey paper names, and ours beside them. Every path is checked on some lines
//! before it is timed: exact ones for their bits, the others for their bounds.

mod check;
mod report;
mod ways;

use crate::bench::record::commit_here;
use crate::failure::Failure;
use crate::gpu::{
    Copy, CuFft, DeviceArrays, DeviceFailure, DeviceWork, Gpu, KernelFacts, Precision,
};
use crate::machine::{Machine, now};
use crate::options::{Shape, parse_shape, shape_text};
use crate::report::{progress, say, say_json, write_json};
use check::{Checked, Sample};
use clap::Args;
use oracle::inputs::uniform_complex;
use ozfft::{Device, Direction, Plan, Planner, Problem};
use report::{Path, Report};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use ways::{How, WAYS, Way};

/// Options of `ozfft paths`.
#[derive(Debug, Args)]
pub struct PathsArguments {
    /// Shape of the transform; the residues kernels take axes of 1024 points
    #[arg(long, value_parser = parse_shape, default_value = "1024x1024x1024")]
    shape: Shape,
    /// Number of the GPU, as the driver counts
    #[arg(long, default_value_t = 0, value_name = "N")]
    device: usize,
    /// Seconds for each path, of which the median run counts (five runs at least)
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Lines that are checked before a path is timed
    #[arg(long, default_value_t = 64)]
    lines: usize,
    /// Seed of the numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only paths whose names contain one of these
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Write the results to this file as well, with machine, date and versions
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// The commit that was built, for the record [default: the one checked out here]
    #[arg(long)]
    commit: Option<String>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &PathsArguments) -> Result<(), Failure> {
    if arguments.lines == 0 {
        return Err(Failure::Usage("--lines needs one line or more".into()));
    }
    let report = measure(arguments)?;
    if let Some(path) = &arguments.record {
        write_json(path, &report)?;
    }
    if arguments.json {
        say_json(&report)?;
    } else {
        say(&report.to_text())?;
    }
    match report.paths.iter().find(|path| path.is_wrong()) {
        None => Ok(()),
        Some(path) => Err(Failure::Check(format!(
            "{} is not what it should be (seed {}): {}",
            path.name,
            arguments.seed,
            path.verdict()
        ))),
    }
}

/// What runs, and what is known of it.
struct Runner {
    work: Box<dyn DeviceWork>,
    checked: Option<Checked>,
    kernel: Option<KernelFacts>,
}

fn measure(arguments: &PathsArguments) -> Result<Report, Failure> {
    let shape = &arguments.shape.0;
    let points: usize = shape.iter().product();
    let gpu = Gpu::open(arguments.device)?;
    let sample = Sample::new(arguments.lines, arguments.seed);
    let bytes = 16 * points;
    let mut arrays = gpu.arrays_for(&[&Copy(bytes)])?;
    arrays
        .input
        .fill(&uniform_complex(1 << 16, arguments.seed))?;
    let copy_seconds = median(&gpu, &Copy(bytes), &mut arrays, arguments.seconds)?.0;
    let selected: Vec<&Way> = WAYS
        .iter()
        .filter(|way| {
            let names = &arguments.only;
            names.is_empty() || names.iter().any(|name| way.name.contains(name.as_str()))
        })
        .collect();
    let bar = progress(
        selected.len(),
        &format!("measuring {}", gpu.facts.name),
        arguments.json,
    );
    let mut paths = Vec::new();
    for way in selected {
        let mut path = Path::new(way);
        match prepare(arguments, &gpu, way, &sample) {
            Ok(runner) => {
                let needs = runner.work.needs();
                if needs.workspace > arrays.workspace_bytes() {
                    drop(arrays);
                    arrays = gpu.arrays_for(&[&Copy(bytes), &*runner.work])?;
                    arrays
                        .input
                        .fill(&uniform_complex(1 << 16, arguments.seed))?;
                }
                let (seconds, runs) = median(&gpu, &*runner.work, &mut arrays, arguments.seconds)?;
                (path.seconds, path.runs) = (Some(seconds), runs);
                path.kernel = runner.kernel;
                path.take(runner.checked);
            }
            // A path that this device or shape does not have is said to be missing.
            Err(Failure::Transform(error)) => path.missing = Some(error.to_string()),
            Err(Failure::Device(DeviceFailure::NoCuFft)) => {
                path.missing = Some(DeviceFailure::NoCuFft.to_string());
            }
            Err(other) => return Err(other),
        }
        bar.inc(1);
        paths.push(path);
    }
    bar.finish_and_clear();
    let mut report = Report {
        date: now(),
        machine: Machine::here(),
        ozfft: env!("CARGO_PKG_VERSION").into(),
        commit: arguments.commit.clone().or_else(commit_here),
        rustc: env!("RUSTC_VERSION").into(),
        device: gpu.facts.clone(),
        shape: shape_text(shape),
        seed: arguments.seed,
        lines_checked: 2 * arguments.lines,
        copy_bytes_per_second: 2.0 * bytes as f64 / copy_seconds,
        // Every axis is read and written once.
        memory_roof_seconds: shape.len() as f64 * copy_seconds,
        paths,
        stages: Vec::new(),
    };
    report.compare();
    Ok(report)
}

/// Plans a path for the whole shape, and checks it on lines.
fn prepare(
    arguments: &PathsArguments,
    gpu: &Gpu,
    way: &Way,
    sample: &Sample,
) -> Result<Runner, Failure> {
    let planner = Planner::<f64>::new();
    let device = Device::Cuda(arguments.device);
    let problem = Problem::complex(&arguments.shape.0).device(device);
    match way.how {
        How::CuFft => {
            let plan = CuFft::plan(gpu, &problem, (Direction::Forward, 1), Precision::Double)?;
            Ok(Runner {
                work: Box::new(plan),
                checked: Some(sample.check_cufft(gpu)?),
                kernel: None,
            })
        }
        How::Engine { apply, exact } => {
            let plan = planner.plan(&apply(problem))?;
            Ok(Runner {
                checked: Some(sample.check(&planner, apply, exact, device)?),
                kernel: facts(gpu, &plan)?,
                work: Box::new(plan),
            })
        }
        How::Variant { kernel, exact } => {
            let plan = planner.plan_residue_variant(&problem, kernel)?;
            let checked = match exact {
                true => Some(sample.check_variant(&planner, kernel, device)?),
                false => None,
            };
            Ok(Runner {
                checked,
                kernel: facts(gpu, &plan)?,
                work: Box::new(plan),
            })
        }
    }
}

/// The facts of a plan's kernel, if it is one for residues.
fn facts(gpu: &Gpu, plan: &Plan<f64>) -> Result<Option<KernelFacts>, DeviceFailure> {
    let launches = plan.device_launches();
    let mut residues = launches
        .into_iter()
        .filter(|(name, ..)| name.starts_with("residues_"));
    residues
        .next()
        .map(|launch| gpu.kernel_facts(ozfft_kernels::RESIDUE_IMAGE, launch))
        .transpose()
}

/// Seconds of the median run, and how many there were.
fn median(
    gpu: &Gpu,
    work: &dyn DeviceWork,
    arrays: &mut DeviceArrays,
    seconds: f64,
) -> Result<(f64, usize), Failure> {
    const FEWEST: usize = 5;
    gpu.run(work, arrays, 1)?;
    let (start, limit) = (Instant::now(), Duration::from_secs_f64(seconds));
    let mut times = Vec::new();
    while times.len() < FEWEST || start.elapsed() < limit {
        times.push(gpu.run(work, arrays, 1)?);
    }
    times.sort_by(f64::total_cmp);
    Ok((times[times.len() / 2], times.len()))
}
