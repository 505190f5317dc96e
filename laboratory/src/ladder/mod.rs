//! `ozfft-lab ladder`: error and time of every mode and of every accuracy that can be asked for, beside trnfft's posts.

mod document;
mod pairs;
pub mod record;
mod rungs;

use crate::failure::Failure;
use crate::origin::built_commit;
use clap::Args;
use floats::posts::PRINTED;
use floats::{Direction, FloatPlan, Table, Unit};
use num_complex::Complex;
use ozfft::Device;
use ozfft_measure::gpu::Gpu;
use ozfft_measure::inputs::read_text;
use ozfft_measure::machine::{self, Machine};
use ozfft_measure::memory;
use ozfft_measure::options::{
    Shape, parse_device, parse_seconds, parse_shape, parse_threads, shape_text,
};
use ozfft_measure::outputs;
use ozfft_measure::report::{
    aligned, bound_text, error_text, note, progress, say, say_json, write_json, write_text,
};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::near_normal_real;
use ozfft_testkit::oracle::{Scale, compare, compare_f32, dft};
use pairs::measure_pairs;
use record::{Post, Record, Rung, VERSION, mark_front};
use rungs::{Lines, Setting, measure};
use std::path::PathBuf;

/// Options of `ozfft-lab ladder`.
#[derive(Debug, Args)]
pub struct LadderArguments {
    /// Lengths joined by x; several may be given [default: 64, 128, 256, 512, 1024, 4096, 1000]
    #[arg(long, value_parser = parse_shape)]
    shape: Vec<Shape>,
    /// Arrays of a call [default: as many as make up 2^17 points]
    #[arg(long)]
    batch: Option<usize>,
    /// Where it runs: cpu, cuda, or cuda:1 for the second GPU
    #[arg(long, value_parser = parse_device, default_value = "cpu")]
    device: Device,
    /// Number of threads
    #[arg(long, value_parser = parse_threads, default_value = "1")]
    threads: usize,
    /// Seconds that each rung is timed for, alternating with the others (double-double after them)
    #[arg(long, value_parser = parse_seconds, default_value = "0.1", value_name = "SECONDS")]
    seconds: f64,
    /// Print one JSON object for every rung and every figure of the posts instead of tables
    #[arg(long)]
    json: bool,
    /// Write the record to this file
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Show this record instead of measuring
    #[arg(long, value_name = "FILE", conflicts_with_all = ["shape", "batch", "device", "out"])]
    from: Option<PathBuf>,
    /// Renew the tables of this document, between its marks
    #[arg(long, value_name = "FILE")]
    document: Option<PathBuf>,
}

/// The lengths of the posts, and one that is no power of two.
const LENGTHS: [usize; 7] = [64, 128, 256, 512, 1024, 4096, 1000];
/// Points of a call, unless a batch is given.
const POINTS: usize = 1 << 17;
/// Lines over which errors in the posts' norm are averaged.
const POST_LINES: u64 = 16;

/// Bytes that a rung takes at least for every point: input, exact transform and output, as pairs of doubles.
const BYTES_A_POINT: u128 = 96;

/// Runs the command.
pub fn run(arguments: &LadderArguments) -> Result<(), Failure> {
    outputs::check_all([&arguments.out, &arguments.document])?;
    // Read before the work, as well: it may not be there.
    let document = arguments.document.as_deref().map(read_text).transpose()?;
    let record = match &arguments.from {
        Some(path) => Record::read(path)?,
        None => make(arguments)?,
    };
    if let Some(path) = &arguments.out {
        write_json(path, &record)?;
        note(&format!("written {}", path.display()));
    }
    if let Some((path, text)) = arguments.document.as_ref().zip(document) {
        let renewed = document::renewed(&text, &record).map_err(|reason| Failure::Content {
            path: path.clone(),
            reason,
        })?;
        write_text(path, &renewed)?;
    }
    if arguments.json {
        record.rungs.iter().try_for_each(say_json)?;
        record.posts.iter().try_for_each(say_json)?;
        return Ok(());
    }
    for shape in record.shapes() {
        say(&table(&record, shape))?;
    }
    say(&posts_table(&record.posts))?;
    Ok(())
}

fn make(arguments: &LadderArguments) -> Result<Record, Failure> {
    let shapes: Vec<Vec<usize>> = match arguments.shape.is_empty() {
        true => LENGTHS.map(|n| vec![n]).to_vec(),
        false => arguments
            .shape
            .iter()
            .map(|shape| shape.0.clone())
            .collect(),
    };
    let gpu = match arguments.device {
        Device::Cpu => None,
        Device::Cuda(number) => Some(Gpu::open(number)?),
        _ => {
            let words = "say on which device the ladder is to be measured: cpu or cuda";
            return Err(Failure::Usage(words.into()));
        }
    };
    let date = machine::now();
    let mut rungs = Vec::new();
    let bar = progress(shapes.len() * rungs::count(), "rungs", arguments.json);
    for shape in &shapes {
        // The library's words for shapes that cannot be.
        ozfft::Problem::complex(shape)
            .batch(arguments.batch.unwrap_or(1))
            .threads(arguments.threads)
            .validate()?;
        memory::expect_points(
            &format!("the arrays of {}", shape_text(shape)),
            &[&shape[..], &[arguments.batch.unwrap_or(1)]].concat(),
            BYTES_A_POINT,
        )?;
        let points: usize = shape.iter().product();
        let setting = Setting {
            shape,
            batch: arguments.batch.unwrap_or((POINTS / points).max(1)),
            device: arguments.device,
            gpu: gpu.as_ref(),
            threads: arguments.threads,
            seconds: arguments.seconds,
        };
        let lines = Lines::new(shape);
        rungs.extend(measure::<f32>(&setting, &lines, || bar.inc(1))?);
        rungs.extend(measure::<f64>(&setting, &lines, || bar.inc(1))?);
        rungs.extend(measure_pairs(&setting, &lines)?);
    }
    bar.finish_and_clear();
    mark_front(&mut rungs);
    Ok(Record {
        ladder: VERSION,
        date,
        machine: Machine::here(),
        gpu: gpu.map(|gpu| gpu.facts.name.clone()),
        ozfft: env!("CARGO_PKG_VERSION").into(),
        commit: built_commit(),
        threads: arguments.threads,
        seconds_per_rung: arguments.seconds,
        rungs,
        posts: posts()?,
    })
}

/// Every figure of the posts, measured here in their norm, by their dispatch.
fn posts() -> Result<Vec<Post>, Failure> {
    let measured = PRINTED.iter().map(|printed| {
        let (mode, n) = (printed.mode, printed.n);
        let unit = Unit::best();
        let plan = FloatPlan::with_table(n, mode, Direction::Forward, unit, Table::Posted);
        let plan = plan.map_err(ozfft::FftError::from)?;
        let mut workspace = plan.workspace();
        let mut sum = 0.0;
        for seed in 1..=POST_LINES {
            let values = near_normal_real(n, seed).into_iter();
            let mut single: Vec<_> = values.map(|x| Complex::new(x as f32, 0.0)).collect();
            let wide = single
                .iter()
                .map(|z| Complex::new(z.re.into(), z.im.into()));
            let mut double: Vec<Complex<f64>> = wide.collect();
            let exact = dft(&double, oracle::Direction::Forward);
            sum += if mode.takes_f64() {
                let outcome = plan.process_f64(&mut double, &mut workspace);
                outcome.map_err(ozfft::FftError::from)?;
                compare(&double, &exact).linf
            } else {
                let outcome = plan.process(&mut single, &mut workspace);
                outcome.map_err(ozfft::FftError::from)?;
                compare_f32(&single, &exact, Scale::One).linf
            };
        }
        let here = sum / POST_LINES as f64;
        Ok(Post {
            mode: mode.to_string(),
            n,
            printed: printed.error,
            here,
            verdict: printed.verdict(here),
        })
    });
    measured.collect()
}

/// What was asked for, in a few words.
fn asked_text(rung: &Rung) -> String {
    match &rung.accuracy {
        Some(accuracy) => format!("{} {accuracy}", rung.asked),
        None => rung.asked.clone(),
    }
}

/// Nanoseconds; a GPU takes thousandths of them.
fn time_text(nanoseconds: f64) -> String {
    if nanoseconds < 0.1 {
        format!("{nanoseconds:.4}")
    } else {
        format!("{nanoseconds:.2}")
    }
}

/// What runs, in a few words.
fn engine_text(found: &record::Found) -> String {
    match found.digits {
        Some([data, matrix, diagonals]) => {
            format!("{} {data}×{matrix}, {diagonals}", found.engine)
        }
        None => found.engine.clone(),
    }
}

fn table(record: &Record, shape: &str) -> String {
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    let mut rows: Vec<Vec<String>> = vec![words(&[
        "asked",
        "numbers",
        "engine",
        "unit",
        "bound",
        "L2",
        "ns/point",
        "predicted",
        "front",
    ])];
    for rung in record.rungs.iter().filter(|rung| rung.shape == shape) {
        let mut row = vec![asked_text(rung), rung.numbers.clone()];
        match (&rung.found, &rung.refused) {
            (Some(found), _) => {
                let proven = if found.proven { "" } else { "?" };
                let predicted = found.predicted_ns_per_point;
                row.extend([
                    engine_text(found),
                    found.unit.clone(),
                    format!("{}{proven}", bound_text(found.bound)),
                    error_text(found.l2),
                    time_text(found.ns_per_point),
                    predicted.map_or("-".into(), time_text),
                    if found.on_front { "*" } else { "" }.into(),
                ]);
            }
            // Sentences would make the columns as wide as they are.
            (None, _) => row.push("rejected".into()),
        }
        rows.push(row);
    }
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for rung in record.rungs.iter().filter(|rung| rung.shape == shape) {
        if let (None, Some(reason)) = (&rung.found, &rung.refused) {
            let name = format!("{} ({})", asked_text(rung), rung.numbers);
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, names)) => names.push(name),
                None => reasons.push((reason, vec![name])),
            }
        }
    }
    let reasons: String = reasons
        .iter()
        .map(|(reason, names)| format!("{}: {reason}\n", names.join(", ")))
        .collect();
    let batch = record.rungs.iter().find(|rung| rung.shape == shape);
    let batch = batch.map_or(0, |rung| rung.batch);
    let place = record.gpu.as_deref().unwrap_or(&record.machine.processor);
    format!(
        "{shape}, batch {batch}, {place}\n{}\n{reasons}",
        aligned(&rows)
    )
}

fn posts_table(posts: &[Post]) -> String {
    let header = ["mode", "n", "printed", "here", "verdict"];
    let mut rows = vec![header.map(String::from).to_vec()];
    for post in posts {
        rows.push(vec![
            post.mode.clone(),
            post.n.to_string(),
            error_text(post.printed),
            error_text(post.here),
            post.verdict.clone(),
        ]);
    }
    format!("trnfft's posts, in their norm\n{}", aligned(&rows))
}
