//! `ozfft-lab floats`: the modes of the floats engine on a GPU, on its tensor cores and in f32 and f64, beside digits and cuFFT. The device is probed, every mode
//! is checked on ordinary and hard lines against the referee, and then timed.

use crate::failure::Failure;
use crate::origin::built_commit;
use bytemuck::Pod;
use clap::Args;
use num_complex::Complex;
use ozfft::{Accuracy, Device, Direction, Engine, Mode, Norm, Plan, Planner, Problem, Real};
use ozfft_measure::gpu::{
    Copy, CuFft, DeviceArrays, DeviceFacts, DeviceWork, Gpu, KernelFacts, Precision,
};
use ozfft_measure::machine::{Machine, now};
use ozfft_measure::options::parse_seconds;
use ozfft_measure::outputs;
use ozfft_measure::report::{aligned, note, say, say_json, write_json};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::{HardInput, Scale, compare_f32, compare_scaled, dft, inputs};
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Options of `ozfft-lab floats`.
#[derive(Debug, Args)]
pub struct FloatsArguments {
    /// Lengths of the lines
    #[arg(long, value_delimiter = ',', default_values_t = [64, 256, 1024])]
    lengths: Vec<usize>,
    /// Points of all lines together
    #[arg(long, default_value_t = 1 << 28)]
    points: usize,
    /// Number of the GPU, as the driver counts
    #[arg(long, default_value_t = 0, value_name = "N")]
    device: usize,
    /// Only modes and engines whose names contain one of these
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Seconds for each row, of which the median run counts (five runs at least)
    #[arg(long, value_parser = parse_seconds, default_value = "0.2")]
    seconds: f64,
    /// Seed of the numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run everything once and check nothing, for a profiler; there is no result
    #[arg(long, conflicts_with_all = ["json", "record"])]
    once: bool,
    /// Write the results to this file as well, with machine, date and versions
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// The commit that was built, for the record [default: the one that this program was built from]
    #[arg(long)]
    commit: Option<String>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// One variant at one length.
#[derive(Debug, Serialize)]
struct Row {
    n: usize,
    lines: usize,
    name: String,
    /// What runs, in the plan's words; of cuFFT nothing.
    plan: Option<String>,
    seconds: Option<f64>,
    runs: usize,
    /// Time over that of cuFFT in f32 for the same lines.
    over_cufft: Option<f64>,
    /// Relative L2 error of a random line, the largest over its bound among all lines that were checked, and how many these are.
    error: Option<f64>,
    most_of_bound: Option<f64>,
    lines_checked: usize,
    bound: Option<f64>,
    expected: Option<f64>,
    /// Outputs whose bits are not the processor's, where they must be.
    differing: Option<usize>,
    kernel: Option<KernelFacts>,
    missing: Option<String>,
}

/// What was found.
#[derive(Debug, Serialize)]
struct Report {
    date: String,
    machine: Machine,
    ozfft: String,
    commit: Option<String>,
    rustc: String,
    device: DeviceFacts,
    seed: u64,
    points: usize,
    /// Reading and writing all lines of f32 once.
    copy_seconds: f64,
    rows: Vec<Row>,
}

/// Who computes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Variant {
    CuFft,
    Mode(Mode),
    Single,
    Double,
}

impl Variant {
    fn all() -> Vec<Variant> {
        let modes = Mode::ALL.into_iter().map(Variant::Mode);
        let others = [Variant::CuFft].into_iter().chain(modes);
        others.chain([Variant::Single, Variant::Double]).collect()
    }

    fn name(self) -> String {
        match self {
            Variant::CuFft => "cufft f32".into(),
            Variant::Mode(mode) => mode.to_string(),
            Variant::Single => "digits single".into(),
            Variant::Double => "digits double".into(),
        }
    }
}

/// Runs the command.
pub fn run(arguments: &FloatsArguments) -> Result<(), Failure> {
    outputs::check_all([&arguments.record])?;
    let report = measure(arguments)?;
    if arguments.once {
        say("Everything ran once; times under a profiler are no results.")?;
        return Ok(());
    }
    if let Some(path) = &arguments.record {
        write_json(path, &report)?;
    }
    if arguments.json {
        say_json(&report)?;
    } else {
        say(&report.to_text())?;
    }
    let wrong = |row: &&Row| {
        row.differing.is_some_and(|count| count > 0)
            || row
                .most_of_bound
                .is_some_and(|share| share.is_nan() || share > 1.0)
    };
    match report.rows.iter().find(wrong) {
        None => Ok(()),
        Some(row) => Err(Failure::Check(format!(
            "{} at {} points exceeds its bound or has other bits than the processor (seed {})",
            row.name, row.n, arguments.seed
        ))),
    }
}

fn measure(arguments: &FloatsArguments) -> Result<Report, Failure> {
    let gpu = Gpu::open(arguments.device)?;
    note(&format!("{}", gpu.facts));
    let copy = Copy(8 * arguments.points);
    let mut arrays = gpu.arrays_for(&[&copy])?;
    let copy_seconds = timed(&gpu, &copy, &mut arrays, arguments)?.0;
    drop(arrays);
    let mut rows: Vec<Row> = Vec::new();
    for &n in &arguments.lengths {
        for variant in Variant::all() {
            let name = variant.name();
            let only = &arguments.only;
            if !only.is_empty() && !only.iter().any(|part| name.contains(part.as_str())) {
                continue;
            }
            let mut row = match variant {
                Variant::Double => one::<f64>(arguments, &gpu, n, variant)?,
                _ => one::<f32>(arguments, &gpu, n, variant)?,
            };
            let cufft = rows
                .iter()
                .find(|row| row.n == n && row.name == Variant::CuFft.name());
            let cufft = cufft.and_then(|row| row.seconds);
            row.over_cufft = row.seconds.zip(cufft).map(|(ours, theirs)| ours / theirs);
            note(&row.cells().join("  "));
            rows.push(row);
        }
    }
    Ok(Report {
        date: now(),
        machine: Machine::here(),
        ozfft: env!("CARGO_PKG_VERSION").into(),
        commit: arguments.commit.clone().or_else(built_commit),
        rustc: ozfft_measure::machine::RUSTC.into(),
        device: gpu.facts.clone(),
        seed: arguments.seed,
        points: arguments.points,
        copy_seconds,
        rows,
    })
}

/// Lines that are checked: random ones, of other sizes, and hard ones that f32 holds.
fn sample(n: usize, seed: u64) -> Vec<Vec<Complex<f64>>> {
    let uniform = |seed: u64| inputs::uniform_complex(n, seed);
    let mut lines: Vec<_> = (0..16).map(|i| uniform(seed.wrapping_add(i))).collect();
    lines.push(inputs::gaussian_complex(n, seed));
    lines.push(inputs::wide_range(n, seed, 30));
    for power in [100, 60, -60, -100] {
        lines.push(inputs::scaled_by_power_of_two(&uniform(seed), power));
    }
    lines.extend(HardInput::ALL.map(|input| input.generate(n, seed)));
    let to_f32 = |value: f64| f64::from(value as f32);
    // Results below this are rounded to the spacing of subnormal numbers, which is no relative error.
    let ordinary = |line: &Vec<Complex<f64>>| {
        let most = line
            .iter()
            .map(|x| x.re.abs().max(x.im.abs()))
            .fold(0.0, f64::max);
        (1e-30..1e34).contains(&most)
    };
    lines
        .into_iter()
        .map(|line| {
            line.iter()
                .map(|x| Complex::new(to_f32(x.re), to_f32(x.im)))
                .collect()
        })
        .filter(ordinary)
        .collect()
}

/// Numbers of a plan, from and to f64.
trait Number: Real + Pod {
    fn of(value: Complex<f64>) -> Complex<Self>;
    fn error(ours: &[Complex<Self>], exact: &oracle::ExactSpectrum) -> f64;
    fn bits(value: Complex<Self>) -> [u64; 2];
}

impl Number for f32 {
    fn of(value: Complex<f64>) -> Complex<f32> {
        Complex::new(value.re as f32, value.im as f32)
    }
    fn error(ours: &[Complex<f32>], exact: &oracle::ExactSpectrum) -> f64 {
        compare_f32(ours, exact, Scale::One).l2
    }
    fn bits(value: Complex<f32>) -> [u64; 2] {
        [value.re, value.im].map(|x| u64::from(x.to_bits()))
    }
}

impl Number for f64 {
    fn of(value: Complex<f64>) -> Complex<f64> {
        value
    }
    fn error(ours: &[Complex<f64>], exact: &oracle::ExactSpectrum) -> f64 {
        compare_scaled(ours, exact, Scale::One).l2
    }
    fn bits(value: Complex<f64>) -> [u64; 2] {
        [value.re, value.im].map(f64::to_bits)
    }
}

fn one<T: Number>(
    arguments: &FloatsArguments,
    gpu: &Gpu,
    n: usize,
    variant: Variant,
) -> Result<Row, Failure>
where
    Complex<T>: Pod,
{
    let batch = (arguments.points / n).max(1);
    let mut row = Row {
        n,
        lines: batch,
        name: variant.name(),
        plan: None,
        seconds: None,
        runs: 0,
        over_cufft: None,
        error: None,
        most_of_bound: None,
        lines_checked: 0,
        bound: None,
        expected: None,
        differing: None,
        kernel: None,
        missing: None,
    };
    let problem = Problem::complex(&[n]).batch(batch).norm(Norm::Unscaled);
    let problem = match variant {
        Variant::CuFft => problem,
        Variant::Mode(mode) => problem.engine(Engine::Floats(mode)),
        Variant::Single => problem.engine(Engine::Digits).accuracy(Accuracy::Single),
        Variant::Double => problem.engine(Engine::Digits),
    };
    let planner = Planner::<T>::new();
    let plan = match variant {
        Variant::CuFft => None,
        _ => match planner.plan(&problem.clone().device(Device::Cuda(arguments.device))) {
            Ok(plan) => Some(plan),
            // What this device, mode or length does not have is said to be missing.
            Err(error) => {
                row.missing = Some(error.to_string());
                return Ok(row);
            }
        },
    };
    let work: Box<dyn DeviceWork> = match &plan {
        Some(plan) => Box::new(plan.clone()),
        None => {
            let direction = (Direction::Forward, batch);
            Box::new(CuFft::plan(gpu, &problem, direction, Precision::Single)?)
        }
    };
    if let Some(plan) = &plan {
        row.plan = Some(plan.to_string());
        (row.bound, row.expected) = (Some(plan.bound()), Some(plan.expected()));
        row.kernel = facts(gpu, plan)?;
    }
    let sample = sample(n, arguments.seed);
    let pattern: Vec<Complex<T>> = sample.iter().flatten().map(|&x| T::of(x)).collect();
    let mut arrays = gpu.arrays_for(&[&*work])?;
    arrays.input.fill(&pattern)?;
    // What is not written is not found in the results.
    arrays.output.fill(&[T::of(Complex::new(1e9, 1e9))])?;
    let (seconds, runs) = timed(gpu, &*work, &mut arrays, arguments)?;
    (row.seconds, row.runs) = (Some(seconds), runs);
    if arguments.once {
        return Ok(row);
    }
    // The first lines of the array, and the last ones.
    let lines = sample.len().min(batch);
    let last = (batch - lines) / sample.len() * sample.len();
    let mut differing = 0;
    for start in [0, last] {
        let mut ours = vec![T::of(Complex::new(0.0, 0.0)); lines * n];
        arrays
            .output
            .download(size_of::<Complex<T>>() * start * n, &mut ours)?;
        for (number, (line, ours)) in sample.iter().zip(ours.chunks_exact(n)).enumerate() {
            let error = T::error(ours, &dft(line, oracle::Direction::Forward));
            if number == 0 {
                row.error = Some(error);
            }
            row.lines_checked += 1;
            if let Some(bound) = row.bound {
                let share = error / bound;
                let most = row.most_of_bound.unwrap_or(0.0);
                // NaN is not below anything.
                row.most_of_bound = Some(if share <= most { most } else { share });
            }
        }
        if matches!(variant, Variant::Mode(mode) if mode.has_portable_bits()) {
            let cpu = planner.plan(&problem.clone().batch(lines).device(Device::Cpu))?;
            let mut theirs = pattern[..lines * n].to_vec();
            cpu.process(&mut theirs)?;
            let pairs = ours.iter().zip(&theirs);
            differing += pairs.filter(|&(&a, &b)| T::bits(a) != T::bits(b)).count();
            row.differing = Some(differing);
        }
    }
    Ok(row)
}

/// The facts of a plan's kernel, if it is one of short floating-point numbers.
fn facts<T: Real>(gpu: &Gpu, plan: &Plan<T>) -> Result<Option<KernelFacts>, Failure> {
    let kernels = ozfft_kernels::floats::KERNELS;
    for launch in plan.device_launches() {
        if let Some(kernel) = kernels.iter().find(|kernel| kernel.name == launch.0) {
            let image = match kernel.has_digits() {
                true => ozfft_kernels::floats::DIGITS_IMAGE,
                false => ozfft_kernels::floats::IMAGE,
            };
            return Ok(Some(gpu.kernel_facts(image, launch)?));
        }
        let steps = ozfft_kernels::floats::WHOLE_NAMES.as_flattened();
        if steps.contains(&launch.0) {
            let image = ozfft_kernels::floats::STEPS_IMAGE;
            return Ok(Some(gpu.kernel_facts(image, launch)?));
        }
    }
    Ok(None)
}

/// Runs something until the time is over: the median, and how many runs it is of.
fn timed(
    gpu: &Gpu,
    work: &dyn DeviceWork,
    arrays: &mut DeviceArrays,
    arguments: &FloatsArguments,
) -> Result<(f64, usize), Failure> {
    if arguments.once {
        return Ok((gpu.run(work, arrays, 1)?, 1));
    }
    gpu.run(work, arrays, 1)?;
    let (start, limit) = (Instant::now(), Duration::from_secs_f64(arguments.seconds));
    let mut times = Vec::new();
    while times.len() < 5 || start.elapsed() < limit {
        times.push(gpu.run(work, arrays, 1)?);
    }
    times.sort_by(f64::total_cmp);
    Ok((times[times.len() / 2], times.len()))
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let number = |value: Option<f64>, text: fn(f64) -> String| value.map_or("-".into(), text);
        vec![
            self.n.to_string(),
            self.name.clone(),
            number(self.seconds, |s| format!("{:.3}", 1e3 * s)),
            number(self.over_cufft, |ratio| format!("{ratio:.2}")),
            number(self.error, |error| format!("{error:.1e}")),
            number(self.expected, |error| format!("{error:.1e}")),
            number(self.bound, |bound| ozfft::bound_text(bound, 1)),
            number(self.most_of_bound, |share| {
                format!("{:.1} %", 100.0 * share)
            }),
            self.differing.map_or("-".into(), |count| count.to_string()),
            self.kernel.as_ref().map_or("-".into(), |kernel| {
                format!("{}, {}", kernel.registers, kernel.local_bytes)
            }),
            self.missing.clone().unwrap_or_default(),
        ]
    }
}

impl Report {
    fn to_text(&self) -> String {
        let heading = [
            "n",
            "engine",
            "ms",
            "of cuFFT",
            "L2 error",
            "expected",
            "bound",
            "at most of it",
            "other bits",
            "registers, spilled bytes",
            "",
        ];
        let heading = heading.map(String::from).to_vec();
        let rows = self.rows.iter().map(Row::cells);
        let table: Vec<Vec<String>> = std::iter::once(heading).chain(rows).collect();
        let mut plans: Vec<&str> = self
            .rows
            .iter()
            .filter_map(|row| row.plan.as_deref())
            .collect();
        plans.dedup();
        format!(
            "{} points of each length; a copy of f32 takes {:.3} ms\n{}\n\n{}",
            self.points,
            1e3 * self.copy_seconds,
            aligned(&table),
            plans.join("\n\n")
        )
    }
}
