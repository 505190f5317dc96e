//! `ozfft tune`: which parameters of the GPU kernels are fastest for a transform, measured and kept for later plans.

use clap::Args;
use ozfft::{Accuracy, Device, Kind, Planner, Problem, Substrate, Tuned, TunedKernel};
use ozfft_measure::failure::Failure;
use ozfft_measure::gpu::Precision;
use ozfft_measure::options::{
    AxisList, KindName, Shape, parse_axes, parse_batch, parse_device, parse_shape, substrate_parser,
};
use ozfft_measure::report::{note, say, say_json};
use serde::Serialize;
use std::io::IsTerminal;

/// Points of all arrays together, where the batch is not given: enough to keep every GPU busy.
const POINTS: usize = 1 << 24;

/// Options of `ozfft tune`.
#[derive(Debug, Args)]
pub struct TuneArguments {
    /// Lengths joined by x, such as 360 or 100x100x100; may be given several times
    #[arg(long = "shape", required = true, value_parser = parse_shape)]
    shapes: Vec<Shape>,
    /// Complex to complex, real to half-spectrum, or half-spectrum to real, whose shape is that of the real array
    #[arg(long, value_enum, default_value = "c2c")]
    kind: KindName,
    /// Transform only these axes, such as 0,2 or -1 [default: all]
    #[arg(long, value_parser = parse_axes, allow_hyphen_values = true)]
    axes: Option<AxisList>,
    /// Number of arrays that one call transforms [default: as many as have 16 million points]
    #[arg(long, value_parser = parse_batch)]
    batch: Option<usize>,
    /// Numbers in f64, or in f32
    #[arg(long, value_enum, default_value = "double")]
    precision: Precision,
    /// Matrix unit: auto, or one by name
    #[arg(long, value_parser = substrate_parser(), default_value = "auto")]
    substrate: Substrate,
    /// Try at most so many parameters of a kernel
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    trials: u64,
    /// The GPU: cuda, or cuda:1
    #[arg(long, value_parser = parse_device, default_value = "cuda")]
    device: Device,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    shape: String,
    kind: KindName,
    batch: usize,
    kernels: Vec<Kernel<'a>>,
    /// Where the parameters are kept for other processes.
    file: Option<String>,
}

#[derive(Serialize)]
struct Kernel<'a> {
    purpose: &'a str,
    chosen: &'a str,
    /// Time of the whole plan with what was taken before, over that with what is taken now.
    gain: f64,
    trials: Vec<Tried<'a>>,
}

#[derive(Serialize)]
struct Tried<'a> {
    parameters: &'a str,
    seconds: Option<f64>,
    remark: Option<&'a str>,
}

fn gain(kernel: &TunedKernel) -> f64 {
    let seconds = |place: usize| kernel.trials[place].seconds.unwrap_or(f64::NAN);
    seconds(0) / seconds(kernel.chosen)
}

fn reported(kernel: &TunedKernel) -> Kernel<'_> {
    Kernel {
        purpose: &kernel.purpose,
        chosen: &kernel.trials[kernel.chosen].parameters,
        gain: gain(kernel),
        trials: kernel
            .trials
            .iter()
            .map(|trial| Tried {
                parameters: &trial.parameters,
                seconds: trial.seconds,
                remark: trial.remark.as_deref(),
            })
            .collect(),
    }
}

/// Runs the command.
pub fn run(arguments: &TuneArguments) -> Result<(), Failure> {
    for shape in &arguments.shapes {
        tune(arguments, shape)?;
    }
    Ok(())
}

fn tune(arguments: &TuneArguments, named: &Shape) -> Result<(), Failure> {
    let shape = &named.0;
    let points = shape.iter().fold(1, |all: usize, &n| all.saturating_mul(n));
    let batch = arguments.batch.unwrap_or((POINTS / points.max(1)).max(1));
    let problem = match Kind::from(arguments.kind) {
        Kind::ComplexToComplex => Problem::complex(shape),
        Kind::RealToComplex => Problem::real_to_complex(shape),
        Kind::ComplexToReal => Problem::complex_to_real(shape),
    };
    let mut problem = problem
        .batch(batch)
        .substrate(arguments.substrate)
        .device(arguments.device);
    if let Some(axes) = &arguments.axes {
        problem = problem.axes(&axes.resolve(shape.len())?);
    }
    problem.validate()?;
    let mut told = |what: &str| {
        if std::io::stderr().is_terminal() {
            note(what);
        }
    };
    let trials = usize::try_from(arguments.trials).unwrap_or(usize::MAX);
    let tuned = match arguments.precision {
        Precision::Double => Planner::<f64>::new().tune_among(&problem, trials, &mut told)?,
        Precision::Single => {
            let problem = problem.accuracy(Accuracy::Single);
            Planner::<f32>::new().tune_among(&problem, trials, &mut told)?
        }
    };
    if arguments.json {
        return say_json(&Report {
            shape: named.to_string(),
            kind: arguments.kind,
            batch,
            kernels: tuned.kernels.iter().map(reported).collect(),
            file: tuned.file.as_ref().map(|path| path.display().to_string()),
        });
    }
    say(&text(&tuned))
}

fn text(tuned: &Tuned) -> String {
    let Some(file) = &tuned.file else {
        return "No kernel of this plan has parameters to choose: `ozfft plan` says which run."
            .into();
    };
    let mut lines = Vec::new();
    for kernel in &tuned.kernels {
        lines.push(kernel.purpose.clone());
        for (place, trial) in kernel.trials.iter().enumerate() {
            let time = match (trial.seconds, &trial.remark) {
                (Some(seconds), _) => format!("{:10.3} ms", seconds * 1e3),
                (None, Some(remark)) => format!("{:>13}  {remark}", "-"),
                (None, None) => format!("{:>13}", "-"),
            };
            let mark = if place == kernel.chosen { "*" } else { " " };
            lines.push(format!("{mark} {:44}{time}", trial.parameters));
        }
    }
    lines.push(format!(
        "* is taken from now on, by all plans: {}",
        file.display()
    ));
    lines.join("\n")
}
