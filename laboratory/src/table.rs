//! `ozfft-lab table`: the accuracy table of the documentation, with all that is needed to make it again.

use crate::failure::Failure;
use clap::Args;
use ozfft::{Direction, Engine, Kind, Norm, Planner, Problem, Products};
use ozfft_measure::comparison::{LARGEST_FULL, Reference, TestInput, compute};
use ozfft_measure::fftw::Fftw;
use ozfft_measure::inputs::read_text;
use ozfft_measure::machine::{processor_name, today};
use ozfft_measure::options::shape_text;
use ozfft_measure::outputs;
use ozfft_measure::report::{
    bound_text, error_text, progress, say, say_json, write_json, write_text,
};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Options of `ozfft-lab table`.
#[derive(Debug, Args)]
pub struct TableArguments {
    /// Write the table to this file as well, such as docs/accuracy.md
    #[arg(long)]
    out: Option<PathBuf>,
    /// Write the rows to this file as well, with machine, date and versions; the report's figure is made of such a record
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Seed of the random inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Leave out shapes of more points than this
    #[arg(long, hide = true)]
    largest: Option<usize>,
    /// Print one JSON object per shape instead of markdown
    #[arg(long)]
    json: bool,
}

const LENGTHS: [usize; 10] = [
    64,
    1024,
    4096,
    65_536,
    1 << 20,
    1009,
    10_007,
    65_537,
    100_003,
    1_000_000,
];
const CUBES: [usize; 2] = [64, 128];

#[derive(Serialize)]
struct Row {
    shape: String,
    seed: u64,
    truncated_l2: f64,
    truncated_linf: f64,
    truncated_seconds: f64,
    truncated_bound: f64,
    truncated_sha256: String,
    exact_l2: f64,
    exact_seconds: f64,
    exact_bound: f64,
    exact_sha256: String,
    native_l2: f64,
    native_linf: f64,
    native_seconds: f64,
    fftw_l2: Option<f64>,
    fftw_linf: Option<f64>,
    floor_l2: f64,
    oracle: &'static str,
}

#[derive(Serialize)]
struct Record<'a> {
    date: String,
    seed: u64,
    processor: String,
    software: Software,
    results: &'a [Row],
}

#[derive(Serialize)]
struct Software {
    ozfft: &'static str,
    rustfft: &'static str,
    fftw: Option<String>,
}

/// Runs the command.
pub fn run(arguments: &TableArguments) -> Result<(), Failure> {
    outputs::check_all([&arguments.out, &arguments.record])?;
    let cubes = CUBES.map(|size| vec![size; 3]);
    let shapes: Vec<Vec<usize>> = LENGTHS
        .iter()
        .map(|&length| vec![length])
        .chain(cubes)
        .filter(|shape| shape.iter().product::<usize>() <= arguments.largest.unwrap_or(usize::MAX))
        .collect();
    let fftw = Fftw::load();
    let bar = progress(shapes.len(), "measuring", arguments.json);
    let mut rows = Vec::new();
    for shape in &shapes {
        bar.set_message(format!("measuring {}", shape_text(shape)));
        let row = measure(shape, arguments.seed, fftw.as_ref())?;
        bar.inc(1);
        if arguments.json {
            say_json(&row)?;
        }
        rows.push(row);
    }
    bar.finish_and_clear();
    let text = markdown(&rows, arguments.seed, fftw.as_ref());
    if !arguments.json {
        say(&text)?;
    }
    if let Some(path) = &arguments.out {
        let rest = further_sections(path)?;
        write_text(path, &format!("{text}\n{rest}"))?;
    }
    if let Some(path) = &arguments.record {
        let record = Record {
            date: today(),
            seed: arguments.seed,
            processor: processor_name(),
            software: Software {
                ozfft: env!("CARGO_PKG_VERSION"),
                rustfft: ozfft_measure::machine::RUSTFFT,
                fftw: fftw.as_ref().map(Fftw::version),
            },
            results: &rows,
        };
        write_json(path, &record)?;
    }
    let above: Vec<&str> = rows
        .iter()
        .filter(|row| row.truncated_l2 > row.truncated_bound || row.exact_l2 > row.exact_bound)
        .map(|row| row.shape.as_str())
        .collect();
    if above.is_empty() {
        Ok(())
    } else {
        Err(Failure::Check(format!(
            "an error is above its bound for {}",
            above.join(", ")
        )))
    }
}

/// What a file of an earlier table has below it, from its first section on: written by hand, and kept.
fn further_sections(path: &Path) -> Result<String, Failure> {
    // A pipe has nothing to keep. A file that cannot be read is left alone, because what it has would be lost.
    if !path.is_file() {
        return Ok(String::new());
    }
    let old = read_text(path)?;
    Ok(old
        .find("\n## ")
        .map_or_else(String::new, |start| old[start..].to_string()))
}

fn measure(shape: &[usize], seed: u64, fftw: Option<&Fftw>) -> Result<Row, Failure> {
    let kind = Kind::ComplexToComplex;
    let input = TestInput::Uniform.values(kind, shape, seed);
    let signs = (Direction::Forward, Norm::Backward);
    let reference = Reference::new(kind, shape, signs, &input, (seed, LARGEST_FULL));
    let planner = Planner::<f64>::new();
    let engine = |engine: Engine, products: Products| {
        let plan = planner.plan(&Problem::complex(shape).engine(engine).products(products))?;
        let computed = compute(&plan, &input)?;
        let errors = reference.errors(&computed.values);
        Ok::<_, Failure>((errors, plan.bound(), computed.seconds, computed.sha256))
    };
    let (truncated, truncated_bound, truncated_seconds, truncated_sha256) =
        engine(Engine::Digits, Products::Truncated)?;
    let (exact, exact_bound, exact_seconds, exact_sha256) =
        engine(Engine::Digits, Products::Exact)?;
    let (native, _, native_seconds, _) = engine(Engine::Native, Products::Truncated)?;
    let fftw = fftw
        .and_then(|fftw| fftw.forward(shape, &input))
        .map(|output| reference.errors(&output));
    Ok(Row {
        shape: shape_text(shape),
        seed,
        truncated_l2: truncated.l2,
        truncated_linf: truncated.linf,
        truncated_seconds,
        truncated_bound,
        truncated_sha256,
        exact_l2: exact.l2,
        exact_seconds,
        exact_bound,
        exact_sha256,
        native_l2: native.l2,
        native_linf: native.linf,
        native_seconds,
        fftw_l2: fftw.map(|errors| errors.l2),
        fftw_linf: fftw.map(|errors| errors.linf),
        floor_l2: reference.floor().l2,
        oracle: reference.extent(),
    })
}

fn markdown(rows: &[Row], seed: u64, fftw: Option<&Fftw>) -> String {
    let fftw_version = fftw.map_or("FFTW not installed".into(), Fftw::version);
    let mut lines = vec![
        "# Accuracy".to_string(),
        String::new(),
        "Relative errors of a forward complex transform of random input (uniform in the unit square), over all".into(),
        "outputs, against the exact transform. `L2` is the root mean square error over the root mean square output,".into(),
        "`Linf` the largest error over the largest output. `bound` is the proven bound of the truncated recipe, for".into(),
        "every input. `floor` is the error of the exact result rounded once to doubles: no result can be below it.".into(),
        String::new(),
        "| shape | ozfft L2 | ozfft Linf | ozfft exact L2 | bound | RustFFT L2 | RustFFT Linf | FFTW L2 | FFTW Linf | floor L2 |".into(),
        "|---|---|---|---|---|---|---|---|---|---|".into(),
    ];
    let optional = |error: Option<f64>| match error {
        Some(error) => error_text(error),
        None if fftw.is_none() => "not installed".into(),
        None => "no plan".into(),
    };
    for row in rows {
        lines.push(format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            row.shape,
            error_text(row.truncated_l2),
            error_text(row.truncated_linf),
            error_text(row.exact_l2),
            bound_text(row.truncated_bound),
            error_text(row.native_l2),
            error_text(row.native_linf),
            optional(row.fftw_l2),
            optional(row.fftw_linf),
            error_text(row.floor_l2),
        ));
    }
    lines.push(String::new());
    lines.push(format!(
        "Made on {} by `ozfft-lab table --seed {seed} --out docs/accuracy.md` with ozfft {}, native engine RustFFT {}, \
         {fftw_version}, on {}.",
        today(),
        env!("CARGO_PKG_VERSION"),
        ozfft_measure::machine::RUSTFFT,
        processor_name(),
    ));
    lines.join("\n")
}
