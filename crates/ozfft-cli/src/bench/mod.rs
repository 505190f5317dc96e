//! `ozfft bench`: the time of one transform, by every engine that this machine has, side by side in one run. GPUs have
//! their own scheme (`cuda`).

mod buffers;
mod caches;
pub mod cuda;
mod definitions;
mod engines;
mod lines;
pub mod record;
mod sampling;

use buffers::Buffers;
use clap::{Args, ValueEnum};
use definitions::Definitions;
use engines::{Libraries, Notices};
use ozfft::{Accuracy, BlockRecipe, Device, Engine, Layout, LineRecipe};
use ozfft_measure::failure::Failure;
use ozfft_measure::fftw::Arrays;
use ozfft_measure::gpu::Precision;
use ozfft_measure::machine::{Machine, now};
use ozfft_measure::memory;
use ozfft_measure::options::{
    KindName, Shape, SubstrateList, accuracy_text, parse_accuracy, parse_device, parse_duration,
    parse_engine, parse_shape, parse_substrates, parse_threads,
};
use ozfft_measure::outputs;
use ozfft_measure::report::{aligned, note, say, say_json};
use record::{Measurement, NamedMeasurement, Programs, Record};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Seed of the random input; times do not depend on it.
const SEED: u64 = 1;
/// Options that say what is measured, which a file of definitions says itself.
const SETTING: [&str; 10] = [
    "shape",
    "precision",
    "batch",
    "threads",
    "kind",
    "accuracy",
    "substrates",
    "steps",
    "engines",
    "interleaved",
];

/// Options of `ozfft bench`.
#[derive(Debug, Args)]
pub struct BenchArguments {
    /// Lengths joined by x, such as 1024 or 64x64x64 (of the real array for real transforms); this or --definitions
    #[arg(long, value_parser = parse_shape)]
    shape: Option<Shape>,
    /// Where it is measured: cpu, cuda, or cuda:1 for the second GPU, with data in its memory
    #[arg(long, value_parser = parse_device, default_value = "cpu")]
    device: Device,
    /// On a GPU: so many points in all arrays of one axis together, in place of --batch and of what definitions say
    #[arg(long)]
    points: Option<usize>,
    /// On a GPU: the numbers in the arrays
    #[arg(long, value_enum, default_value = "double")]
    precision: Precision,
    /// On a GPU: only kernels without any floating-point instruction, beside cuFFT and a copy
    #[arg(long)]
    integers_only: bool,
    /// On a GPU: only these variants of ozfft (auto, int8-mma-sync, int8-wgmma, …) beside cuFFT and a copy
    #[arg(long, value_delimiter = ',', conflicts_with = "integers_only")]
    variants: Vec<String>,
    /// The arrays of a batch are interleaved, as the lines along the first axis of a matrix are
    #[arg(long)]
    interleaved: bool,
    /// Number of arrays that one call transforms
    #[arg(long, default_value_t = 1)]
    batch: usize,
    /// Number of threads
    #[arg(long, value_parser = parse_threads, default_value = "1")]
    threads: usize,
    /// Which numbers go in and come out
    #[arg(long, value_enum, default_value = "c2c")]
    kind: KindName,
    /// Relative error wanted of ozfft: double, single, a number such as 1e-12, or bits:40
    #[arg(long, value_parser = parse_accuracy, default_value = "double")]
    accuracy: Accuracy,
    /// What multiplies ozfft's digits: all that this processor has and what auto takes, auto alone, or names joined by commas
    #[arg(long, value_parser = parse_substrates, default_value = "all")]
    substrates: SubstrateList,
    /// Steps for ozfft instead of the planner's, for every axis: sizes joined by points, passes by bars, such as "16.4|16.4"
    #[arg(long, alias = "recipe", value_parser = parse_steps, value_name = "STEPS")]
    steps: Option<LineRecipe>,
    /// Other engines of ozfft to measure beside digits, joined by commas: residues, ntt
    #[arg(long, value_parser = parse_other_engine, value_delimiter = ',')]
    engines: Vec<Engine>,
    /// Time that each engine is given; at least five calls are made
    #[arg(long, value_parser = parse_duration, default_value = "1.0")]
    seconds: Duration,
    /// File of the MKL library, such as libmkl_rt.so.2 [default: where the system finds it]
    #[arg(long, env = "OZFFT_MKL", value_name = "FILE")]
    mkl: Option<PathBuf>,
    /// Measure what this file declares
    #[arg(long, conflicts_with_all = SETTING, value_name = "FILE")]
    definitions: Option<PathBuf>,
    /// Only the definitions of this name or group; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Write the results to this file, with machine, date and versions
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// The commit that was built, for the record [default: the one that this program was built from]
    #[arg(long)]
    commit: Option<String>,
    /// Print one JSON object per line, for every measurement, instead of a table
    #[arg(long)]
    json: bool,
}

impl BenchArguments {
    /// Those given of the options that only GPUs have.
    fn options_for_gpus(&self) -> Vec<&'static str> {
        let given = [
            (self.points.is_some(), "--points"),
            (self.precision != Precision::Double, "--precision"),
            (self.integers_only, "--integers-only"),
            (!self.variants.is_empty(), "--variants"),
        ];
        let names = given.iter().filter(|(is_given, _)| *is_given);
        names.map(|&(_, name)| name).collect()
    }
}

/// Digits and RustFFT are measured anyway.
fn parse_other_engine(text: &str) -> Result<Engine, String> {
    match parse_engine(text)? {
        engine @ (Engine::Residues | Engine::Ntt) => Ok(engine),
        other => Err(format!(
            "the engine {} is measured anyway, or is not one of ozfft's with proven bounds; give residues or ntt",
            other.name()
        )),
    }
}

fn parse_steps(text: &str) -> Result<LineRecipe, String> {
    let sizes = |pass: &str| -> Option<Vec<usize>> {
        let sizes = pass.split('.').map(|size| size.trim().parse().ok());
        sizes.collect()
    };
    let passes: Option<Vec<BlockRecipe>> = text
        .split('|')
        .map(|pass| sizes(pass).map(|sizes| BlockRecipe::from_sizes(&sizes)))
        .collect();
    passes.map(LineRecipe::Passes).ok_or_else(|| {
        format!(
            "{text:?} are no steps; give sizes joined by points, passes by bars, such as 16.4|16.4"
        )
    })
}

/// One transform, and the units of ozfft that compute it.
#[derive(Debug, Clone)]
pub struct Setting {
    shape: Shape,
    batch: usize,
    threads: usize,
    kind: KindName,
    accuracy: Accuracy,
    /// The arrays of the batch are side by side.
    interleaved: bool,
    substrates: SubstrateList,
    /// Steps instead of the planner's.
    steps: Option<LineRecipe>,
    /// Engines of ozfft beside digits.
    engines: Vec<Engine>,
}

impl Setting {
    fn arrays(&self) -> Arrays<'_> {
        Arrays {
            kind: self.kind.into(),
            shape: &self.shape.0,
            batch: self.batch,
            interleaved: self.interleaved,
        }
    }

    /// The smallest cache that holds input and output, or `memory`, where the system says what caches there are.
    fn arrays_in(&self) -> Option<String> {
        let (input, output) = self.arrays().lengths();
        caches::place_of(((input + output) * size_of::<f64>()) as u64)
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} {}, batch {}{}, threads {}, accuracy {}",
            kind_text(self.kind),
            self.shape,
            self.batch,
            if self.interleaved { " interleaved" } else { "" },
            self.threads,
            accuracy_text(self.accuracy)
        )
    }
}

/// The layout of a batch of arrays side by side.
fn interleaved_layout(kind: KindName, shape: &Shape, batch: usize) -> Result<Layout, Failure> {
    if shape.0.len() != 1 || kind != KindName::C2c {
        return Err(Failure::Usage(
            "interleaved arrays are measured for complex transforms along one axis; leave --interleaved out".into(),
        ));
    }
    Ok(Layout::strided(&[batch as isize], 1))
}

fn kind_text(kind: KindName) -> String {
    let value = kind.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().into())
}

/// Bytes that every point takes at least: the values, input and output.
const BYTES_A_POINT: u128 = 48;

/// Runs the command.
pub fn run(arguments: &BenchArguments) -> Result<(), Failure> {
    match arguments.device {
        Device::Cuda(ordinal) => return cuda::run(arguments, ordinal),
        device if device != Device::Cpu => {
            return Err(Failure::Usage(
                "bench measures what it is told: give --device cpu or --device cuda".into(),
            ));
        }
        _ => {}
    }
    let for_gpus = arguments.options_for_gpus();
    if !for_gpus.is_empty() {
        return Err(Failure::Usage(format!(
            "what goes with --device cuda only was given: {}; leave it out, or give --device cuda",
            for_gpus.join(", ")
        )));
    }
    let mut notices = Notices::default();
    match (&arguments.definitions, &arguments.shape) {
        (Some(path), _) => run_definitions(arguments, path, &mut notices),
        (None, Some(shape)) => run_one(arguments, shape, &mut notices),
        (None, None) => Err(Failure::Usage(
            "nothing says what to measure; give --shape, such as 1024, or --definitions with a file that declares it".into(),
        )),
    }
}

fn run_one(
    arguments: &BenchArguments,
    shape: &Shape,
    notices: &mut Notices,
) -> Result<(), Failure> {
    // Checked here, because clap forgives a missing --definitions where --shape excludes it.
    if !arguments.only.is_empty() || arguments.record.is_some() || arguments.commit.is_some() {
        return Err(Failure::Usage(
            "--only, --record and --commit go with --definitions".into(),
        ));
    }
    let setting = Setting {
        shape: shape.clone(),
        batch: arguments.batch,
        threads: arguments.threads,
        kind: arguments.kind,
        accuracy: arguments.accuracy,
        interleaved: arguments.interleaved,
        substrates: arguments.substrates.clone(),
        steps: arguments.steps.clone(),
        engines: arguments.engines.clone(),
    };
    let libraries = Libraries::load(arguments.mkl.as_deref(), notices)?;
    let measurements = measure(&setting, arguments.seconds, &libraries, notices)?;
    if arguments.json {
        return measurements.iter().try_for_each(say_json);
    }
    let place = setting.arrays_in();
    let place = place.map_or_else(String::new, |place| format!(", arrays in {place}"));
    say(&format!("{setting}{place}\n"))?;
    let rows = measurements.iter().map(cells).collect::<Vec<_>>();
    say(&aligned(&[vec![heading().to_vec()], rows].concat()))
}

fn run_definitions(
    arguments: &BenchArguments,
    path: &Path,
    notices: &mut Notices,
) -> Result<(), Failure> {
    let definitions = Definitions::read(path)?.select(&arguments.only)?;
    let selected = &definitions.list;
    // All mistakes are found before hours have been spent on measuring.
    for definition in selected {
        engines::validate(&definition.setting)?;
    }
    outputs::check_all([&arguments.record])?;
    let libraries = Libraries::load(arguments.mkl.as_deref(), notices)?;
    let date = now();
    let mut results = Vec::new();
    for (number, definition) in selected.iter().enumerate() {
        note(&format!(
            "{}/{} {}: {}",
            number + 1,
            selected.len(),
            definition.name,
            definition.setting
        ));
        let measured = measure(&definition.setting, arguments.seconds, &libraries, notices)?;
        results.extend(measured.into_iter().map(|measurement| NamedMeasurement {
            name: definition.name.clone(),
            group: definition.group.clone(),
            measurement,
        }));
    }
    if let Some(path) = &arguments.record {
        let software = Programs::here(arguments.commit.as_deref(), libraries.versions());
        if software.own.commit.is_none() {
            notices.tell("the commit is not known; --commit says which it is".into());
        }
        let record = Record {
            date,
            machine: Machine::here(),
            software,
            definitions_sha256: definitions.sha256.clone(),
            seconds_per_engine: arguments.seconds.as_secs_f64(),
            notices: notices.texts().to_vec(),
            results: results.clone(),
        };
        record.write(path)?;
        note(&format!("written {}", path.display()));
    }
    if arguments.json {
        return results.iter().try_for_each(say_json);
    }
    let mut table = vec![[vec!["name".to_string()], heading().to_vec()].concat()];
    for NamedMeasurement {
        name, measurement, ..
    } in &results
    {
        table.push([vec![name.clone()], cells(measurement)].concat());
    }
    say(&aligned(&table))
}

/// Measures one setting with every engine that this machine has.
fn measure(
    setting: &Setting,
    seconds: Duration,
    libraries: &Libraries,
    notices: &mut Notices,
) -> Result<Vec<Measurement>, Failure> {
    engines::validate(setting)?;
    memory::expect_points(
        &format!("the arrays of {setting}"),
        &[&setting.shape.0[..], &[setting.batch]].concat(),
        BYTES_A_POINT,
    )?;
    // Everything happens on a thread of the pool, so that no call waits for another thread to take it up.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(setting.threads)
        .build()?;
    pool.install(|| {
        let mut buffers = Buffers::new(&setting.arrays(), SEED);
        let mut candidates = engines::candidates(setting, libraries, &mut buffers, notices)?;
        let timings = sampling::measure(&mut candidates, &mut buffers, seconds)?;
        record::measurements(setting, &candidates, &timings)
    })
}

fn heading() -> [String; 9] {
    [
        "engine",
        "substrate",
        "median",
        "shortest",
        "runs",
        "ns/point",
        "to FFTW",
        "to RustFFT",
        "arrays in",
    ]
    .map(String::from)
}

fn cells(measurement: &Measurement) -> Vec<String> {
    let ratio = |ratio: Option<f64>| ratio.map_or("-".into(), |ratio| format!("{ratio:.2}"));
    let chosen = if measurement.automatic { " (auto)" } else { "" };
    vec![
        measurement.engine.clone(),
        format!("{}{chosen}", measurement.substrate),
        time_text(measurement.median_ns),
        time_text(measurement.min_ns),
        measurement.runs.to_string(),
        format!("{:.2}", measurement.ns_per_point),
        ratio(measurement.ratio_to_fftw),
        ratio(measurement.ratio_to_rustfft),
        measurement.arrays_in.clone().unwrap_or_else(|| "-".into()),
    ]
}

/// Nanoseconds for people.
fn time_text(nanoseconds: f64) -> String {
    match nanoseconds {
        ..1e3 => format!("{nanoseconds:.0} ns"),
        ..1e6 => format!("{:.2} us", nanoseconds / 1e3),
        ..1e9 => format!("{:.2} ms", nanoseconds / 1e6),
        _ => format!("{:.2} s", nanoseconds / 1e9),
    }
}
