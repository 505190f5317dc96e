//! `ozfft plan`: what would be computed, how, and with which error.

use clap::Args;
use ozfft::{Candidate, Device, Kind, Plan, Planner, Problem, Real, Recipe};
use ozfft_measure::failure::Failure;
use ozfft_measure::gpu::Precision;
use ozfft_measure::memory;
use ozfft_measure::options::{
    KindName, Shape, TransformOptions, engine_name, parse_batch, parse_shape, products_name,
};
use ozfft_measure::report::{say, say_json};
use serde::Serialize;

/// How the lines of a plan are read.
const LEGEND: &str = "\
How to read a plan:
  bound      no input has a larger relative L2 error, |result - exact| / |exact|, where it is proven
  expected   that error for random input
  predicted  time of one call with the threads of the first line, from constants that were measured on one thread of the machine named
  16t·4u | 32t
             steps of every axis: sizes with the mark of their fold (t time-shifted, f frequency-shifted, p plain, u unit: additions only),
             · between the steps of a pass, | between passes over the data; docs/numerics.md, section 3
  why        what decided about engine and recipe";

/// Options of `ozfft plan`.
#[derive(Debug, Args)]
#[command(after_long_help = LEGEND)]
pub struct PlanArguments {
    /// Lengths joined by x, such as 1024 or 64x64x64 (of the real array for real transforms)
    #[arg(long, value_parser = parse_shape)]
    shape: Shape,
    /// Which numbers go in and come out
    #[arg(long, value_enum, default_value = "c2c")]
    kind: KindName,
    /// Number of arrays that one call transforms
    #[arg(long, value_parser = parse_batch, default_value_t = 1)]
    batch: usize,
    /// The numbers in the arrays
    #[arg(long, value_enum, default_value = "double")]
    precision: Precision,
    #[command(flatten)]
    options: TransformOptions,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    shape: String,
    kind: String,
    batch: usize,
    precision: Precision,
    threads: usize,
    engine: &'static str,
    substrate: &'static str,
    integers_only: bool,
    family: Option<&'static str>,
    recipe: Option<&'a Recipe>,
    recipe_steps: Option<String>,
    bound: f64,
    bound_relative_to: &'static str,
    bound_is_proven: bool,
    accuracy_is_proven: bool,
    expected: f64,
    workspace_bytes: usize,
    predicted_seconds: Option<f64>,
    predicted_for: Option<String>,
    why: &'a str,
    /// What it was chosen from, where the engine was left to the planner and an error was asked for.
    choice: Option<Vec<Weighed<'a>>>,
    problem: &'a Problem,
}

#[derive(Serialize)]
struct Weighed<'a> {
    engine: &'static str,
    unit: &'a str,
    bound: Option<f64>,
    predicted_seconds: Option<f64>,
    verdict: String,
}

fn weighed(candidate: &Candidate) -> Weighed<'_> {
    let prediction = candidate.prediction.as_ref();
    Weighed {
        engine: engine_name(candidate.engine),
        unit: &candidate.unit,
        bound: candidate.bound,
        predicted_seconds: prediction.map(|prediction| prediction.seconds),
        verdict: candidate.verdict.to_string(),
    }
}

/// Bytes of a complex number.
const BYTES_A_POINT: u128 = 16;

/// Runs the command.
pub fn run(arguments: &PlanArguments) -> Result<(), Failure> {
    let kind = Kind::from(arguments.kind);
    let problem = arguments.options.problem(kind, &arguments.shape.0)?;
    if arguments.options.computing.device == Device::Cpu {
        // Tables of some engines are as long as a line; no engine could transform one that cannot be held.
        let longest = arguments.shape.0.iter().max().copied().unwrap_or(0);
        let what = format!("a line of {longest} points");
        memory::expect_points(&what, &[longest], BYTES_A_POINT)?;
    }
    let problem = problem.batch(arguments.batch);
    match arguments.precision {
        Precision::Double => tell(arguments, &*Planner::<f64>::new().plan(&problem)?),
        Precision::Single => tell(arguments, &*Planner::<f32>::new().plan(&problem)?),
    }
}

/// The plan's text, whose numbers say what they are of.
fn explained<T: Real>(text: &str, plan: &Plan<T>, threads: usize) -> String {
    let explain = |line: &str| {
        let what = match line.split(' ').next() {
            Some("bound") if plan.bound_is_proven() => {
                ": no input has a larger relative L2 error".into()
            }
            Some("expected") => " for random input".into(),
            Some("predicted") if plan.device() == Device::Cpu => {
                format!("; this is one call with the threads asked for, {threads}")
            }
            _ => String::new(),
        };
        format!("{line}{what}")
    };
    text.lines().map(explain).collect::<Vec<_>>().join("\n")
}

fn tell<T: Real>(arguments: &PlanArguments, plan: &Plan<T>) -> Result<(), Failure> {
    let threads = arguments.options.computing.threads_used();
    if !arguments.json {
        return say(&explained(&plan.to_string(), plan, threads));
    }
    let prediction = plan.prediction();
    say_json(&Report {
        shape: arguments.shape.to_string(),
        kind: plan.problem().kind().to_string(),
        batch: arguments.batch,
        precision: arguments.precision,
        threads,
        engine: engine_name(plan.engine()),
        substrate: plan.substrate(),
        integers_only: plan.integers_only(),
        family: plan.recipe().map(|recipe| products_name(recipe.products)),
        recipe: plan.recipe(),
        recipe_steps: plan.recipe().map(ToString::to_string),
        bound: plan.bound(),
        bound_relative_to: plan.bound_relative_to(),
        bound_is_proven: plan.bound_is_proven(),
        accuracy_is_proven: plan.accuracy_is_proven(),
        expected: plan.expected(),
        workspace_bytes: plan.workspace_len() * std::mem::size_of::<u64>(),
        predicted_seconds: prediction.as_ref().map(|prediction| prediction.seconds),
        predicted_for: prediction.map(|prediction| prediction.unit.machine.into()),
        why: plan.why(),
        choice: plan
            .choice()
            .map(|choice| choice.candidates.iter().map(weighed).collect()),
        problem: plan.problem(),
    })
}
