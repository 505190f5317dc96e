//! `ozfft-mpi bench`: times of a distributed transform, and of one process in the same run.

use super::{Ranks, accuracy, failure};
use mpi::collective::SystemOperation;
use mpi::traits::*;
use num_complex::Complex;
use ozfft::{Kind, Planner};
use ozfft_cli::accuracy::AccuracyArguments;
use ozfft_cli::failure::Failure;
use ozfft_cli::options::{Shape, parse_shape, shape_text};
use ozfft_cli::report::{say, say_json, seconds_text};
use ozfft_mpi::DistributedPlan;
use ozfft_testkit::oracle::inputs::uniform_complex;
use serde::Serialize;
use std::time::Instant;

/// Options of `ozfft accuracy`, of which those of errors change nothing, and those of the ranks.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    problem: AccuracyArguments,
    /// Process grid: 4 for slabs, 2x3 for pencils [default: the planner's choice]
    #[arg(long, value_parser = parse_shape)]
    grid: Option<Shape>,
    /// Leave the output divided as the last axis leaves it: an exchange less
    #[arg(long)]
    permuted: bool,
    /// Calls that are timed; the median counts
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Also time one process, on rank 0 while the others sleep, alternating with the ranks
    #[arg(long)]
    local: bool,
}

#[derive(Serialize)]
struct Timed {
    shape: String,
    kind: String,
    ranks: usize,
    grid: Vec<usize>,
    threads: usize,
    exchanges: usize,
    repeats: u32,
    /// Of the slowest rank, the median of all calls.
    seconds: f64,
    /// Of one process, the median of as many calls.
    local_seconds: Option<f64>,
    /// The shortest of both.
    shortest_seconds: f64,
    shortest_local_seconds: Option<f64>,
    /// By all ranks to others in one call.
    bytes_sent: u64,
    workspace_bytes: u64,
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn shortest(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments, ranks: &Ranks) -> Result<(), Failure> {
    arguments.problem.computing.start_threads()?;
    for Shape(shape) in &arguments.problem.shapes {
        let timed = time(arguments, shape, ranks)?;
        ranks.first_alone(|| match arguments.problem.json {
            true => say_json(&timed),
            false => say(&format!(
                "{} {} on {} ranks, grid {:?}: {}{}; {} exchanges, {} bytes sent",
                timed.shape,
                timed.kind,
                timed.ranks,
                timed.grid,
                seconds_text(timed.seconds),
                timed.local_seconds.map_or(String::new(), |local| format!(
                    ", one process {} ({:.2} times as fast)",
                    seconds_text(local),
                    local / timed.seconds
                )),
                timed.exchanges,
                timed.bytes_sent
            )),
        });
    }
    Ok(())
}

fn time(arguments: &Arguments, shape: &[usize], ranks: &Ranks) -> Result<Timed, Failure> {
    let planner = Planner::<f64>::new();
    let mut problem = accuracy::problem(&arguments.problem, shape, arguments.grid.as_ref())?;
    if arguments.permuted {
        problem = problem.permuted_output();
    }
    let plan = DistributedPlan::with_planner(&problem, &ranks.world, &planner).map_err(failure)?;
    let local = plan.whole();
    let kind = local.problem().kind();
    let mut workspace = vec![0; plan.workspace_len()];
    let mut arrays = Arrays::new(kind, plan.input_len(), plan.output_len());
    let alone = arguments.local && ranks.is_first();
    let mut local_workspace = vec![0; if alone { local.workspace_len() } else { 0 }];
    let mut local_arrays = alone.then(|| {
        Arrays::new(
            kind,
            local.problem().input_len(),
            local.problem().output_len(),
        )
    });
    let (mut times, mut local_times) = (Vec::new(), Vec::new());
    // The first call warms up.
    for call in 0..=arguments.repeats {
        ranks.world.barrier();
        let start = Instant::now();
        let Arrays {
            complex,
            reals,
            output,
            real_output,
        } = &mut arrays;
        match kind {
            Kind::ComplexToComplex => {
                plan.process_outofplace_with_workspace(complex, output, &mut workspace)
            }
            Kind::RealToComplex => {
                plan.process_real_to_complex_with_workspace(reals, output, &mut workspace)
            }
            Kind::ComplexToReal => {
                plan.process_complex_to_real_with_workspace(complex, real_output, &mut workspace)
            }
        }
        .map_err(failure)?;
        let own = start.elapsed().as_secs_f64();
        let mut slowest = 0.0;
        ranks
            .world
            .all_reduce_into(&own, &mut slowest, SystemOperation::max());
        if call > 0 {
            times.push(slowest);
        }
        if arguments.local {
            ranks.first_alone(|| {
                if let Some(Arrays {
                    complex,
                    reals,
                    output,
                    real_output,
                }) = &mut local_arrays
                {
                    let start = Instant::now();
                    match kind {
                        Kind::ComplexToComplex => local.process_outofplace_with_workspace(
                            complex,
                            output,
                            &mut local_workspace,
                        )?,
                        Kind::RealToComplex => local.process_real_to_complex_with_workspace(
                            reals,
                            output,
                            &mut local_workspace,
                        )?,
                        Kind::ComplexToReal => local.process_complex_to_real_with_workspace(
                            complex,
                            real_output,
                            &mut local_workspace,
                        )?,
                    }
                    if call > 0 {
                        local_times.push(start.elapsed().as_secs_f64());
                    }
                }
                Ok(())
            });
        }
    }
    let own = plan.bytes_per_call();
    let mut bytes_sent = 0;
    ranks
        .world
        .all_reduce_into(&own, &mut bytes_sent, SystemOperation::sum());
    Ok(Timed {
        shape: shape_text(shape),
        kind: kind.to_string(),
        ranks: ranks.count,
        grid: plan.grid().to_vec(),
        threads: arguments.problem.computing.threads.unwrap_or(1),
        exchanges: plan.exchanges().len(),
        repeats: arguments.repeats,
        seconds: median(&mut times),
        shortest_seconds: shortest(&times),
        shortest_local_seconds: alone.then(|| shortest(&local_times)),
        local_seconds: alone.then(|| median(&mut local_times)),
        bytes_sent,
        workspace_bytes: 8 * plan.workspace_len() as u64,
    })
}

/// Random input and room for the output, of the kind that is transformed.
struct Arrays {
    complex: Vec<Complex<f64>>,
    reals: Vec<f64>,
    output: Vec<Complex<f64>>,
    real_output: Vec<f64>,
}

impl Arrays {
    fn new(kind: Kind, input: usize, output: usize) -> Arrays {
        let zero = Complex::new(0.0, 0.0);
        let numbers = uniform_complex(input, 1);
        let (complex, reals) = match kind {
            Kind::RealToComplex => (Vec::new(), numbers.iter().map(|z| z.re).collect()),
            _ => (numbers, Vec::new()),
        };
        let (output, real_output) = match kind {
            Kind::ComplexToReal => (Vec::new(), vec![0.0; output]),
            _ => (vec![zero; output], Vec::new()),
        };
        Arrays {
            complex,
            reals,
            output,
            real_output,
        }
    }
}
