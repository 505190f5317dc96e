//! `ozfft fft`: one array file in, its transform out.

use crate::npy::{self, AnyArray, Array, Data, Described};
use clap::Args;
use indicatif::ProgressBar;
use num_complex::Complex;
use ozfft::{Device, FftError, Kind, Layout, Plan, Planner, Problem, Progress, Real};
use ozfft_measure::arrays::{Bytes, Order, digest_ordered};
use ozfft_measure::failure::Failure;
use ozfft_measure::machine::built_commit;
use ozfft_measure::options::{TransformOptions, accuracy_text, engine_name, shape_text};
use ozfft_measure::outputs;
use ozfft_measure::report::{bound_text, bytes_progress, note, say, say_json, seconds_text};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Options of `ozfft fft`.
#[derive(Debug, Args)]
pub struct FftArguments {
    /// Array to transform: an npy file of f4, f8, c8 or c16
    input: PathBuf,
    /// Where to write the result, in the precision and order of the input
    output: PathBuf,
    /// Real transform: real array to half-spectrum or, with --inverse, back
    #[arg(long)]
    real: bool,
    /// Length of the halved axis after --real --inverse [default: 2(m-1), which is even]
    #[arg(long, value_name = "N")]
    last: Option<usize>,
    #[command(flatten)]
    options: TransformOptions,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// Bytes from which on copying to a GPU takes so long that it is shown.
const SHOWN_FROM: usize = 256 << 20;

#[derive(Serialize)]
struct Report {
    input: String,
    output: String,
    kind: String,
    shape: String,
    output_shape: String,
    order: &'static str,
    precision: &'static str,
    axes: Vec<usize>,
    norm: String,
    accuracy: String,
    engine: &'static str,
    device: String,
    threads: usize,
    substrate: &'static str,
    integers_only: bool,
    recipe_steps: Option<String>,
    bound: f64,
    bound_relative_to: &'static str,
    bound_is_proven: bool,
    accuracy_is_proven: bool,
    expected: f64,
    seconds: f64,
    sha256: String,
    why: String,
    warning: Option<String>,
    /// Of the program; bits are promised within a version.
    version: &'static str,
    commit: Option<String>,
}

/// Runs the command.
pub fn run(arguments: &FftArguments) -> Result<(), Failure> {
    arguments.options.computing.start_threads()?;
    // Before the work, because it may take long.
    outputs::check(&arguments.output)?;
    match npy::read(&arguments.input)? {
        AnyArray::Double(array) => transform(arguments, array, "double"),
        AnyArray::Single(array) => transform(arguments, array, "single"),
    }
}

fn transform<T>(
    arguments: &FftArguments,
    array: Array<T>,
    precision: &'static str,
) -> Result<(), Failure>
where
    T: Real + Bytes + Described,
    Complex<T>: Described,
{
    let (order, given) = (array.order, array.shape.clone());
    let (problem, data) = arguments.problem(array)?;
    let plan = Planner::<T>::new().plan(&problem)?;
    let start = Instant::now();
    let on_gpu = plan.device() != Device::Cpu;
    let bar = bytes_progress(arguments.json || !on_gpu);
    let (result, outcome) = execute(&plan, &problem, data, |progress| {
        if progress.total >= SHOWN_FROM {
            show(&bar, progress);
        }
    });
    bar.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();
    let warning = match outcome {
        Ok(()) => None,
        // The output is complete all the same: imaginary parts that no real array has were taken as 0, as numpy does.
        Err(error @ FftError::NotHermitian { .. }) if !arguments.options.strict => {
            Some(error.to_string())
        }
        Err(FftError::NotHermitian { count }) => {
            return Err(arguments.reject(format!(
                "the first or the middle value of {count} half-spectrum lines has an imaginary part, which no real array has; set it to 0, \
                 or leave out --strict, and it is taken as 0. Nothing is written"
            )));
        }
        Err(error) => return Err(error.into()),
    };
    let shape = problem.output_shape();
    let sha256 = match &result {
        Data::Real(values) => digest_ordered(values, &shape, order),
        Data::Complex(values) => digest_ordered(values, &shape, order),
    };
    let written = Array {
        shape,
        order,
        data: result,
    };
    npy::write(&arguments.output, &written)?;
    let report = Report {
        input: arguments.input.display().to_string(),
        output: arguments.output.display().to_string(),
        kind: problem.kind().to_string(),
        shape: shape_text(&given),
        output_shape: shape_text(&written.shape),
        order: match order {
            Order::C => "C",
            Order::Fortran => "Fortran",
        },
        precision,
        axes: arguments.options.resolved_axes(given.len())?,
        norm: arguments.options.computing.norm.text(),
        accuracy: accuracy_text(arguments.options.computing.accuracy),
        engine: engine_name(plan.engine()),
        device: plan.device().to_string(),
        threads: arguments.options.computing.threads_used(),
        substrate: plan.substrate(),
        integers_only: plan.integers_only(),
        recipe_steps: plan.recipe().map(ToString::to_string),
        bound: plan.bound(),
        bound_relative_to: plan.bound_relative_to(),
        bound_is_proven: plan.bound_is_proven(),
        accuracy_is_proven: plan.accuracy_is_proven(),
        expected: plan.expected(),
        seconds,
        sha256,
        why: plan.why().to_string(),
        warning,
        version: env!("CARGO_PKG_VERSION"),
        commit: built_commit(),
    };
    arguments.tell(&report)
}

/// Runs the plan; the result is complete also where the outcome says that the input was not Hermitian.
fn execute<T: Real>(
    plan: &Arc<Plan<T>>,
    problem: &Problem,
    data: Data<T>,
    progress: impl FnMut(Progress),
) -> (Data<T>, Result<(), FftError>) {
    let mut plan = plan.reporting(progress);
    let zero = T::narrow(0.0);
    let complex_zero = Complex::new(zero, zero);
    match (problem.kind(), data) {
        (Kind::RealToComplex, Data::Real(values)) => {
            let mut output = vec![complex_zero; problem.output_len()];
            let outcome = plan.process_real_to_complex(&values, &mut output);
            (Data::Complex(output), outcome)
        }
        (Kind::ComplexToReal, Data::Complex(values)) => {
            let mut output = vec![zero; problem.output_len()];
            let outcome = plan.process_complex_to_real(&values, &mut output);
            (Data::Real(output), outcome)
        }
        (_, Data::Complex(mut values)) => {
            let outcome = plan.process(&mut values);
            (Data::Complex(values), outcome)
        }
        (_, Data::Real(values)) => {
            let mut values = values
                .iter()
                .map(|&x| Complex::new(x, zero))
                .collect::<Vec<_>>();
            let outcome = plan.process(&mut values);
            (Data::Complex(values), outcome)
        }
    }
}

fn show(bar: &ProgressBar, progress: Progress) {
    bar.set_message(progress.stage.to_string());
    bar.set_length(progress.total as u64);
    bar.set_position(progress.done as u64);
}

impl FftArguments {
    /// An array that these options do not fit.
    fn reject(&self, reason: String) -> Failure {
        Failure::Content {
            path: self.input.clone(),
            reason,
        }
    }

    /// The problem that fits the array, with the order of its elements, and the array's numbers.
    fn problem<T: Real>(&self, array: Array<T>) -> Result<(Problem, Data<T>), Failure> {
        let mut shape = array.shape;
        let reject = |reason: String| self.reject(reason);
        let kind = match (self.real, self.options.inverse, &array.data) {
            (false, ..) => Kind::ComplexToComplex,
            (true, false, Data::Real(_)) => Kind::RealToComplex,
            (true, true, Data::Complex(_)) => Kind::ComplexToReal,
            (true, false, Data::Complex(_)) => {
                return Err(reject(
                    "--real needs a real array, and this one is complex; leave out --real, or give --inverse as well if it is a half-spectrum".into(),
                ));
            }
            (true, true, Data::Real(_)) => {
                return Err(reject(
                    "--real --inverse needs a complex half-spectrum, and this array is real; leave out --inverse for its half-spectrum, or --real for the inverse of all of it".into(),
                ));
            }
        };
        if self.last.is_some() && kind != Kind::ComplexToReal {
            return Err(Failure::Usage(
                "--last goes with --real --inverse only".into(),
            ));
        }
        if kind == Kind::ComplexToReal {
            let axes = self.options.resolved_axes(shape.len())?;
            let halved = axes.last().copied();
            if let Some(length) = halved.and_then(|axis| shape.get_mut(axis)) {
                let stored = *length;
                let even = stored.saturating_sub(1).saturating_mul(2);
                *length = self.last.unwrap_or(even);
                if stored == 0 {
                    return Err(reject(
                        "a half-spectrum of 0 values along the last selected axis is that of no real array; give one of at least 1 value".into(),
                    ));
                }
                if *length == 0 || *length / 2 + 1 != stored {
                    let remedy = match even {
                        0 => "1".into(),
                        _ => format!("{even} or {}", even.saturating_add(1)),
                    };
                    return Err(reject(format!(
                        "a half-spectrum of {stored} values along the last selected axis cannot become {} real ones; \
                         give --last {remedy}",
                        *length,
                    )));
                }
            }
        }
        let mut problem = self.options.problem(kind, &shape)?;
        if array.order == Order::Fortran {
            problem = problem
                .clone()
                .input_layout(Layout::fortran(&problem.input_shape()))
                .output_layout(Layout::fortran(&problem.output_shape()));
        }
        Ok((problem, array.data))
    }

    fn tell(&self, report: &Report) -> Result<(), Failure> {
        if let Some(warning) = &report.warning {
            note(&format!("warning: {warning}"));
        }
        if self.json {
            return say_json(report);
        }
        let proven = match (report.bound_is_proven, report.accuracy_is_proven) {
            (true, true) => "proven",
            (true, false) => "above the error asked for, which is not proven",
            (false, _) => "not proven",
        };
        say(&format!(
            "{} {} -> {} ({} precision, {} order)",
            report.kind, report.shape, report.output_shape, report.precision, report.order
        ))?;
        let integers = if report.integers_only {
            ", integers only"
        } else {
            ""
        };
        say(&format!(
            "engine  {} on {}{integers}: {}",
            report.engine, report.substrate, report.why
        ))?;
        say(&format!(
            "bound   {} ({proven}), expected {:.2e}",
            bound_text(report.bound),
            report.expected
        ))?;
        // As `ozfft plan` says it.
        if report.kind == Kind::ComplexToReal.to_string() && report.axes.len() > 1 {
            say(&format!(
                "        relative to {}: the result's, unless no real array has that half-spectrum",
                report.bound_relative_to
            ))?;
        }
        say(&format!("time    {}", seconds_text(report.seconds)))?;
        say(&format!("sha256  {}", report.sha256))?;
        say(&format!("written {}", report.output))
    }
}
