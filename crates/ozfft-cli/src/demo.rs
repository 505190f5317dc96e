//! `ozfft demo`: one field, both engines, errors and times side by side.

use clap::Args;
use ozfft::Engine;
use ozfft_demo::{Demonstration, Transformed, demonstrate};
use ozfft_measure::failure::Failure;
use ozfft_measure::memory;
use ozfft_measure::options::shape_text;
use ozfft_measure::report::{progress, say, say_json};
use serde_json::{Value, json};

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

/// Runs the command.
pub fn run(arguments: &DemoArguments) -> Result<(), Failure> {
    let &DemoArguments { size, seed, json } = arguments;
    memory::expect_points("the demo", &[size; 3], BYTES_A_POINT)?;
    let bar = progress(4, "", json);
    let threads = rayon::current_num_threads();
    let native = [(Engine::Native, "native (RustFFT)")];
    let shown = demonstrate((size, seed, threads), &native, |next| {
        bar.inc(u64::from(!bar.message().is_empty()));
        bar.set_message(next.to_string());
    })?;
    bar.finish_and_clear();
    match json {
        true => say_json(&report(&shown))?,
        false => say(&shown.to_string())?,
    }
    match shown.fault() {
        Some(fault) => Err(Failure::Check(format!("{fault}; please report this"))),
        None => Ok(()),
    }
}

fn report(shown: &Demonstration) -> Value {
    let mut report = json!({
        "shape": shape_text(&[shown.size; 3]),
        "seed": shown.seed,
        "threads": shown.threads,
        "oracle": "sampled",
        "samples": shown.samples,
        "floor_l2": shown.floor_l2,
        "bits_as_published": shown.has_published_bits(),
    });
    for engine in &shown.engines {
        report[engine.engine.name()] = engine_report(engine);
    }
    report
}

fn engine_report(engine: &Transformed) -> Value {
    json!({
        "engine": engine.engine.name(),
        "l2": engine.l2,
        "linf": engine.linf,
        "bound": engine.bound,
        "bound_is_proven": engine.bound_is_proven,
        "expected": engine.expected,
        "plan_seconds": engine.plan_seconds,
        "seconds": engine.seconds,
        "sha256": engine.sha256,
        "recipe_steps": engine.recipe,
    })
}
