//! `ozfft demo`: one field, both engines, errors and times side by side.

use clap::Args;
use ozfft::{Direction, Engine, Kind, Norm, Planner, Problem};
use ozfft_measure::comparison::{Reference, TestInput, compute};
use ozfft_measure::failure::Failure;
use ozfft_measure::memory;
use ozfft_measure::options::shape_text;
use ozfft_measure::report::{
    aligned, bound_text, error_text, progress, say, say_json, seconds_text,
};
use serde::Serialize;

/// Options of `ozfft demo`.
#[derive(Debug, Args)]
pub struct DemoArguments {
    /// The field has this many points along each of three axes
    #[arg(long, default_value_t = 128, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1024))]
    size: usize,
    /// Seed of the random field
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// Bytes that every point takes at least: the field twice, a result and what is between its passes.
const BYTES_A_POINT: u128 = 64;

#[derive(Serialize)]
struct EngineReport {
    engine: &'static str,
    l2: f64,
    linf: f64,
    bound: f64,
    bound_is_proven: bool,
    expected: f64,
    plan_seconds: f64,
    seconds: f64,
    sha256: String,
    recipe_steps: Option<String>,
}

#[derive(Serialize)]
struct Report {
    shape: String,
    seed: u64,
    threads: usize,
    oracle: &'static str,
    samples: usize,
    floor_l2: f64,
    digits: EngineReport,
    native: EngineReport,
}

/// Runs the command.
pub fn run(arguments: &DemoArguments) -> Result<(), Failure> {
    let shape = [arguments.size; 3];
    let kind = Kind::ComplexToComplex;
    memory::expect_points("the demo", &shape, BYTES_A_POINT)?;
    let bar = progress(4, "making a random field", arguments.json);
    let input = TestInput::Uniform.values(kind, &shape, arguments.seed);
    bar.inc(1);
    bar.set_message("exact values at sampled outputs");
    // A few hundred outputs suffice for three digits of the error; all of them would take minutes.
    let signs = (Direction::Forward, Norm::Backward);
    let reference = Reference::new(kind, &shape, signs, &input, (arguments.seed, 0));
    bar.inc(1);
    let measure = |engine: Engine, name: &'static str| -> Result<EngineReport, Failure> {
        bar.set_message(format!("transform by {name}"));
        let start = std::time::Instant::now();
        let plan = Planner::<f64>::new().plan(&Problem::complex(&shape).engine(engine))?;
        let plan_seconds = start.elapsed().as_secs_f64();
        let computed = compute(&plan, &input)?;
        let errors = reference.errors(&computed.values);
        bar.inc(1);
        Ok(EngineReport {
            engine: name,
            l2: errors.l2,
            linf: errors.linf,
            bound: plan.bound(),
            bound_is_proven: plan.bound_is_proven(),
            expected: plan.expected(),
            plan_seconds,
            seconds: computed.seconds,
            sha256: computed.sha256,
            recipe_steps: plan.recipe().map(ToString::to_string),
        })
    };
    let report = Report {
        shape: shape_text(&shape),
        seed: arguments.seed,
        threads: rayon::current_num_threads(),
        oracle: reference.extent(),
        samples: ozfft_measure::comparison::SAMPLES,
        floor_l2: reference.floor().l2,
        digits: measure(Engine::Digits, "digits")?,
        native: measure(Engine::Native, "native")?,
    };
    bar.finish_and_clear();
    if arguments.json {
        say_json(&report)?;
    } else {
        tell(&report)?;
    }
    if report.digits.l2 > report.digits.bound {
        return Err(Failure::Check(format!(
            "the error {:e} of digits is above its bound {:e} (seed {}); please report this",
            report.digits.l2, report.digits.bound, report.seed
        )));
    }
    Ok(())
}

fn tell(report: &Report) -> Result<(), Failure> {
    let row = |engine: &EngineReport, name: &str| {
        vec![
            name.to_string(),
            error_text(engine.l2),
            error_text(engine.linf),
            if engine.bound_is_proven {
                bound_text(engine.bound)
            } else {
                "none".into()
            },
            error_text(engine.expected),
            seconds_text(engine.seconds),
        ]
    };
    let heading = [
        "engine",
        "L2 error",
        "Linf error",
        "proven bound",
        "expected",
        "time",
    ];
    let rows = [
        heading.map(String::from).to_vec(),
        row(&report.digits, "ozfft digits"),
        row(&report.native, "native (RustFFT)"),
    ];
    say(&format!(
        "Forward transform of a random complex field of {} points (seed {}, {} threads)\n",
        report.shape, report.seed, report.threads
    ))?;
    say(&aligned(&rows))?;
    say(&format!(
        "\nErrors are relative to the exact transform, at {} random outputs; the best double-precision answer has an \
         L2 error of {}.",
        report.samples,
        error_text(report.floor_l2)
    ))?;
    say(&format!(
        "sha256 of the digits result: {}",
        report.digits.sha256
    ))?;
    say("These bits are the same on every machine and with any number of threads.")
}
