//! `ozfft-lab paths`: one transform on a GPU along every path that the Ozaki-Bailey paper names, and ours beside them. Every path is checked on some lines
//! before it is timed: exact ones for their bits, the others for their bounds.

mod adaptive;
mod check;
mod counters;
mod delivered;
mod model;
mod paper;
mod report;
mod tall_skinny;
mod text;
mod tiles;
mod variants;

use crate::failure::Failure;
use crate::origin::built_commit;
use check::{Checked, Sample};
use clap::Args;
use counters::Launch;
use ozfft::{Device, Direction, Plan, Planner, Problem};
use ozfft_measure::gpu::{
    Copy, CuFft, DeviceArrays, DeviceFailure, DeviceWork, Gpu, KernelFacts, Precision, Run,
    faults_of_block,
};
use ozfft_measure::machine::{Machine, now};
use ozfft_measure::options::{Shape, parse_seconds, parse_shape, shape_text};
use ozfft_measure::outputs;
use ozfft_measure::report::{progress, say, say_json, write_json};
use ozfft_testkit::oracle::inputs::uniform_complex;
pub use paper::{
    MACHINE as PROJECTED_MACHINE, Projection, ROOF_MS as PROJECTED_ROOF_MS, projection,
};
use report::{FaultCounts, Path};
pub use report::{Path as PathRow, Report};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Complex numbers after which the input repeats itself: a prime, so that lines differ and none is constant, along whichever axis.
const PERIOD: usize = 1_000_003;
pub use variants::{How, VARIANTS, Variant};

/// Options of `ozfft-lab paths`.
#[derive(Debug, Args)]
pub struct PathsArguments {
    /// Shape of the transform; the residues kernels take axes of 1024 points, some of them of 512 and 256, too
    #[arg(long, value_parser = parse_shape, default_value = "1024x1024x1024")]
    shape: Shape,
    /// Number of the GPU, as the driver counts
    #[arg(long, default_value_t = 0, value_name = "N")]
    device: usize,
    /// Seconds for each path, of which the median run counts (five runs at least)
    #[arg(long, value_parser = parse_seconds, default_value = "1.0")]
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
    /// Measure the constants of the cost model, too: lines in a block, lines in the cache, and what follows from all times
    #[arg(long)]
    model: bool,
    /// A profiler's counts, to be set beside the paths: what `ncu --csv --page raw --log-file FILE ozfft-lab paths --once …` wrote
    #[arg(long, value_name = "FILE")]
    counters: Option<PathBuf>,
    /// For --model: a record of `ozfft probe` on the same device, for the rate of its tensor unit
    #[arg(long, value_name = "FILE", requires = "model")]
    probe: Option<PathBuf>,
    /// For --model: a record of `ozfft-lab residues`, for how often data need more moduli
    #[arg(long, value_name = "FILE", requires = "model")]
    residues: Option<PathBuf>,
    /// Take times from this record of `ozfft-lab paths` instead of measuring them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only", "once"])]
    from: Option<PathBuf>,
    /// Run everything once and check nothing, for a profiler; there is no result
    #[arg(long, conflicts_with_all = ["json", "record", "counters"])]
    once: bool,
    /// Write the results to this file as well, with machine, date and versions
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// The commit that was built, for the record [default: the one that this program was built from]
    #[arg(long)]
    commit: Option<String>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &PathsArguments) -> Result<(), Failure> {
    outputs::check_all([&arguments.record])?;
    if arguments.lines == 0 {
        return Err(Failure::Usage("--lines needs one line or more".into()));
    }
    let mut report = match &arguments.from {
        Some(path) => Report::read(path)?,
        None => measure(arguments)?,
    };
    if arguments.once {
        say("Everything ran once; times under a profiler are no results.")?;
        return Ok(());
    }
    let table = arguments.counters.as_deref().map(counters::Table::read);
    report.count(table.transpose()?.as_ref())?;
    if arguments.model {
        let sources = model::Sources::read(arguments)?;
        report.delivered = Some(model::delivered(&report, &sources)?);
    }
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
    launches: Vec<Launch>,
    /// With redundant moduli.
    faults: Option<Faults>,
}

/// A plan that counts sums which it has put right, and what is expected of a call.
struct Faults {
    plan: Arc<Plan<f64>>,
    sums: u64,
    made: u64,
}

impl Faults {
    /// Of a plan with redundant moduli, with a fault in one of so many sums; nothing for others.
    fn of(plan: &Arc<Plan<f64>>, launches: &[Launch], run: Run) -> Option<Faults> {
        let redundant = |launch: &&Launch| launch.kernel.ends_with("_redundant");
        let points = plan.problem().input_len() as u64;
        let (mut sums, mut made) = (0, 0);
        for launch in launches.iter().filter(redundant) {
            // Two parts of every point in both steps of a line; all blocks have as many lines.
            sums += 4 * points;
            if let Run::Faults { one_in } = run {
                let of_block = u32::try_from(4 * points / launch.blocks).ok()?;
                made += launch.blocks * faults_of_block(of_block, one_in);
            }
        }
        (sums > 0).then(|| Faults {
            plan: Arc::clone(plan),
            sums,
            made,
        })
    }

    /// After so many calls.
    fn counted(&self, calls: u64) -> Option<FaultCounts> {
        let report = self.plan.residue_report()?;
        Some(FaultCounts {
            calls,
            sums: self.sums * calls,
            made: self.made * calls,
            corrected: report.corrected,
            uncorrectable: report.uncorrectable,
        })
    }
}

/// How long something is run, and how often at least.
#[derive(Debug, Clone, Copy)]
pub struct Seconds {
    limit: f64,
    fewest: usize,
    /// Whether a run before is left out.
    warm: bool,
}

/// Times of several runs.
#[derive(Debug, Clone, Copy)]
pub struct Timed {
    median: f64,
    /// The fastest and the slowest.
    range: [f64; 2],
    runs: usize,
}

fn measure(arguments: &PathsArguments) -> Result<Report, Failure> {
    let shape = &arguments.shape.0;
    let points: usize = shape.iter().product();
    let gpu = Gpu::open(arguments.device)?;
    let mut lengths = shape.clone();
    lengths.sort_unstable();
    lengths.dedup();
    let samples: Vec<Sample> = lengths
        .into_iter()
        .map(|points| Sample::new(arguments.lines, points, arguments.seed))
        .collect();
    let bytes = 16 * points;
    let mut arrays = gpu.arrays_for(&[&Copy(bytes)])?;
    arrays
        .input
        .fill(&uniform_complex(PERIOD, arguments.seed))?;
    let seconds = match arguments.once {
        true => Seconds {
            limit: 0.0,
            fewest: 1,
            warm: false,
        },
        false => Seconds {
            limit: arguments.seconds,
            fewest: 5,
            warm: true,
        },
    };
    let copy_seconds = median(&gpu, &Copy(bytes), &mut arrays, seconds)?.median;
    let selected: Vec<&Variant> = VARIANTS
        .iter()
        .filter(|variant| {
            let names = &arguments.only;
            names.is_empty()
                || names
                    .iter()
                    .any(|name| variant.name.contains(name.as_str()))
        })
        .collect();
    let bar = progress(
        selected.len(),
        &format!("measuring {}", gpu.facts.name),
        arguments.json,
    );
    let mut paths = Vec::new();
    for variant in selected {
        let mut path = Path::new(variant);
        match prepare(arguments, &gpu, variant, &samples) {
            Ok(runner) => {
                let needs = runner.work.needs();
                if needs.workspace > arrays.workspace_bytes() {
                    drop(arrays);
                    arrays = gpu.arrays_for(&[&Copy(bytes), &*runner.work])?;
                    arrays
                        .input
                        .fill(&uniform_complex(PERIOD, arguments.seed))?;
                }
                let timed = median(&gpu, &*runner.work, &mut arrays, seconds)?;
                (path.seconds, path.runs) = (Some(timed.median), timed.runs);
                path.seconds_range = Some(timed.range);
                (path.kernel, path.launches) = (runner.kernel, runner.launches);
                let calls = (timed.runs + usize::from(seconds.warm)) as u64;
                path.faults = runner.faults.and_then(|faults| faults.counted(calls));
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
    let copy_bytes_per_second = 2.0 * bytes as f64 / copy_seconds;
    let (mut tiles, mut resident) = (Vec::new(), Vec::new());
    if arguments.model {
        let mut bench = tiles::Bench {
            gpu: &gpu,
            device: Device::Cuda(arguments.device),
            arrays: &mut arrays,
            points,
            copy_bytes_per_second,
            seconds: Seconds {
                limit: seconds.limit / 4.0,
                ..seconds
            },
        };
        tiles = tiles::tiles(&mut bench)?;
        if !arguments.once {
            resident = tiles::resident(&mut bench)?;
        }
    }
    let names = &arguments.only;
    let asked = names.is_empty() || names.iter().any(|name| "eta_ts".contains(name.as_str()));
    let eta_ts = match asked && !arguments.once {
        true => tall_skinny::measure(arguments.device)?,
        false => Vec::new(),
    };
    let mut report = Report {
        date: now(),
        machine: Machine::here(),
        ozfft: env!("CARGO_PKG_VERSION").into(),
        commit: arguments.commit.clone().or_else(built_commit),
        rustc: ozfft_measure::machine::RUSTC.into(),
        device: gpu.facts.clone(),
        shape: shape_text(shape),
        seed: arguments.seed,
        lines_checked: 2 * arguments.lines,
        copy_bytes_per_second,
        // Every axis is read and written once.
        memory_roof_seconds: shape.len() as f64 * copy_seconds,
        paths,
        stages: Vec::new(),
        tiles,
        resident,
        eta_ts,
        delivered: None,
    };
    report.compare();
    Ok(report)
}

/// Plans a path for the whole shape, and checks it on lines of every length that it has.
fn prepare(
    arguments: &PathsArguments,
    gpu: &Gpu,
    variant: &Variant,
    samples: &[Sample],
) -> Result<Runner, Failure> {
    let planner = Planner::<f64>::new();
    let device = Device::Cuda(arguments.device);
    let problem = Problem::complex(&arguments.shape.0).device(device);
    let checks = !arguments.once;
    match variant.how {
        How::CuFft => {
            let plan = CuFft::plan(gpu, &problem, (Direction::Forward, 1), Precision::Double)?;
            Ok(Runner {
                work: Box::new(plan),
                checked: Checked::worst(checks, samples, |sample| sample.check_cufft(gpu))?,
                kernel: None,
                launches: Vec::new(),
                faults: None,
            })
        }
        How::Engine { apply, exact } => {
            let plan = planner.plan(&apply(problem))?;
            let check = |sample: &Sample| sample.check(&planner, apply, exact, device);
            let launches = tiles::launches(&plan);
            Ok(Runner {
                checked: Checked::worst(checks, samples, check)?,
                kernel: facts(gpu, &plan)?,
                faults: Faults::of(&plan, &launches, Run::Engine(apply)),
                launches,
                work: Box::new(plan),
            })
        }
        How::Variant { run, exact } => {
            let plan = run.plan(&planner, problem)?;
            let check = |sample: &Sample| sample.check_variant(&planner, run, device);
            let launches = tiles::launches(&plan);
            Ok(Runner {
                checked: Checked::worst(checks && exact, samples, check)?,
                kernel: facts(gpu, &plan)?,
                faults: Faults::of(&plan, &launches, run),
                launches,
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
        .map(|launch| {
            let fp8 = ozfft_kernels::ResidueFp8::of(launch.0);
            let image = fp8.map_or(ozfft_kernels::residue_image(launch.0), |scheme| {
                scheme.image()
            });
            gpu.kernel_facts(image, launch)
        })
        .transpose()
}

/// Runs something until the time is over.
fn median(
    gpu: &Gpu,
    work: &dyn DeviceWork,
    arrays: &mut DeviceArrays,
    seconds: Seconds,
) -> Result<Timed, Failure> {
    if seconds.warm {
        gpu.run(work, arrays, 1)?;
    }
    let (start, limit) = (Instant::now(), Duration::from_secs_f64(seconds.limit));
    let mut times = Vec::new();
    while times.len() < seconds.fewest || start.elapsed() < limit {
        times.push(gpu.run(work, arrays, 1)?);
    }
    times.sort_by(f64::total_cmp);
    let runs = times.len();
    Ok(Timed {
        median: times[runs / 2],
        range: [times[0], times[runs - 1]],
        runs,
    })
}

/// The name of a file, without where it lies: records are read elsewhere.
fn name_of(path: &std::path::Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
