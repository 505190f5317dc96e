//! `ozfft-mpi bench`: times of a distributed transform, and of one process in the same run.

use super::arrays::{OnDevice, messages};
use super::{Ranks, accuracy, failure};
use mpi::collective::SystemOperation;
use mpi::traits::*;
use num_complex::Complex;
use ozfft::{Device, Kind, Planner};
use ozfft_measure::accuracy::AccuracyArguments;
use ozfft_measure::failure::Failure;
use ozfft_measure::options::{Shape, parse_shape, shape_text};
use ozfft_measure::report::{say, say_json, seconds_text};
use ozfft_mpi::{DistributedPlan, DistributedProblem};
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
    /// Pieces of every exchange, which overlap with transforms [default: the planner's choice]
    #[arg(long)]
    pieces: Option<usize>,
    /// Leave the output divided as the last axis leaves it: an exchange less
    #[arg(long)]
    permuted: bool,
    /// Also time the exchange in one piece, alternating: nothing overlaps there
    #[arg(long)]
    one_piece: bool,
    /// Ranks of one node read each other's pieces in memory that they share, in the place of messages
    #[arg(long)]
    shared_memory: bool,
    /// On GPUs: send through page-locked memory also where MPI takes device pointers
    #[arg(long)]
    staged: bool,
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
    /// Of the exchange with most.
    pieces: usize,
    repeats: u32,
    /// Of the slowest rank, the median of all calls.
    seconds: f64,
    /// Of one process, the median of as many calls.
    local_seconds: Option<f64>,
    /// The shortest of both.
    shortest_seconds: f64,
    shortest_local_seconds: Option<f64>,
    /// Of a call, where it was shortest, of the rank that spends most on it: lines, copies to and from messages, and inside MPI.
    transform_seconds: f64,
    packing_seconds: f64,
    exchange_seconds: f64,
    /// With exchanges in one piece: the median, the shortest, and the time inside MPI.
    one_piece_seconds: Option<f64>,
    shortest_one_piece_seconds: Option<f64>,
    one_piece_exchange_seconds: Option<f64>,
    /// By all ranks to others in one call.
    bytes_sent: u64,
    workspace_bytes: u64,
    /// Of rank 0, that others read pieces in; 0 where messages are sent.
    shared_bytes: u64,
    /// On GPUs, where arrays are in their memory: device, where MPI takes device pointers, or staged.
    messages: Option<&'static str>,
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
                "{} {} on {} ranks, grid {:?}: {} (lines {}, packing {}, exchange {}){}{}; {} exchanges in {} pieces, {} bytes sent",
                timed.shape,
                timed.kind,
                timed.ranks,
                timed.grid,
                seconds_text(timed.seconds),
                seconds_text(timed.transform_seconds),
                seconds_text(timed.packing_seconds),
                seconds_text(timed.exchange_seconds),
                timed.one_piece_seconds.map_or(String::new(), |one| format!(
                    ", in one piece {} ({:.2} times as fast)",
                    seconds_text(one),
                    one / timed.seconds
                )),
                timed.local_seconds.map_or(String::new(), |local| format!(
                    ", one process {} ({:.2} times as fast)",
                    seconds_text(local),
                    local / timed.seconds
                )),
                timed.exchanges,
                timed.pieces,
                timed.bytes_sent
            )),
        });
    }
    Ok(())
}

fn time(arguments: &Arguments, shape: &[usize], ranks: &Ranks) -> Result<Timed, Failure> {
    let planner = Planner::<f64>::new();
    let mut problem = accuracy::problem(&arguments.problem, shape, arguments.grid.as_ref())?;
    problem = problem.staged(arguments.staged);
    problem = problem.shared_memory(arguments.shared_memory);
    if arguments.permuted {
        problem = problem.permuted_output();
    }
    let device = arguments.problem.computing.device;
    let mut one_piece = arguments
        .one_piece
        .then(|| Ranked::new(&problem.clone().pieces(1), device, ranks, &planner))
        .transpose()?;
    if let Some(pieces) = arguments.pieces {
        problem = problem.pieces(pieces);
    }
    let mut ranked = Ranked::new(&problem, device, ranks, &planner)?;
    let local = planner.plan(&problem.whole())?;
    let kind = local.problem().kind();
    let alone = arguments.local && ranks.is_first();
    let mut local_workspace = vec![0; if alone { local.workspace_len() } else { 0 }];
    let mut local_arrays = alone.then(|| {
        Arrays::new(
            kind,
            local.problem().input_len(),
            local.problem().output_len(),
        )
    });
    let mut local_times = Vec::new();
    // The first call warms up.
    for call in 0..=arguments.repeats {
        ranked.call(ranks, call > 0)?;
        if let Some(one_piece) = &mut one_piece {
            one_piece.call(ranks, call > 0)?;
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
    let plan = &ranked.plan;
    let own = plan.bytes_per_call();
    let mut bytes_sent = 0;
    ranks
        .world
        .all_reduce_into(&own, &mut bytes_sent, SystemOperation::sum());
    let [transform_seconds, packing_seconds, exchange_seconds] = ranked.parts;
    Ok(Timed {
        shape: shape_text(shape),
        kind: kind.to_string(),
        ranks: ranks.count,
        grid: plan.grid().to_vec(),
        threads: arguments.problem.computing.threads.unwrap_or(1),
        exchanges: plan.exchanges().len(),
        pieces: plan.exchanges().iter().map(|e| e.pieces).max().unwrap_or(0),
        repeats: arguments.repeats,
        seconds: median(&mut ranked.times.clone()),
        shortest_seconds: shortest(&ranked.times),
        shortest_local_seconds: alone.then(|| shortest(&local_times)),
        local_seconds: alone.then(|| median(&mut local_times)),
        transform_seconds,
        packing_seconds,
        exchange_seconds,
        one_piece_seconds: one_piece.as_ref().map(|one| median(&mut one.times.clone())),
        shortest_one_piece_seconds: one_piece.as_ref().map(|one| shortest(&one.times)),
        one_piece_exchange_seconds: one_piece.as_ref().map(|one| one.parts[2]),
        bytes_sent,
        workspace_bytes: (8 * plan.workspace_len() + plan.device_workspace_bytes()) as u64,
        shared_bytes: plan.shared_bytes() as u64,
        messages: messages(plan),
    })
}

/// A plan with its arrays, and the times of its calls on the slowest rank.
struct Ranked {
    plan: DistributedPlan<f64>,
    arrays: Arrays,
    /// The same in a GPU's memory, where there is one: then those are timed.
    on_device: Option<OnDevice>,
    workspace: Vec<u64>,
    times: Vec<f64>,
    /// Lines, packing and exchange of the shortest call, each on the rank where it takes longest.
    parts: [f64; 3],
}

impl Ranked {
    fn new(
        problem: &DistributedProblem,
        device: Device,
        ranks: &Ranks,
        planner: &Planner<f64>,
    ) -> Result<Ranked, Failure> {
        let plan =
            DistributedPlan::with_planner(problem, &ranks.world, planner).map_err(failure)?;
        let kind = plan.whole().problem().kind();
        let arrays = Arrays::new(kind, plan.input_len(), plan.output_len());
        let on_device = match kind {
            Kind::ComplexToComplex => OnDevice::new(device, &arrays.complex, &arrays.output)?,
            Kind::RealToComplex => OnDevice::new(device, &arrays.reals, &arrays.output)?,
            Kind::ComplexToReal => OnDevice::new(device, &arrays.complex, &arrays.real_output)?,
        };
        Ok(Ranked {
            arrays,
            on_device,
            workspace: vec![0; plan.workspace_len()],
            plan,
            times: Vec::new(),
            parts: [0.0; 3],
        })
    }

    /// A call on all ranks.
    fn call(&mut self, ranks: &Ranks, counts: bool) -> Result<(), Failure> {
        let Ranked {
            plan,
            arrays,
            on_device,
            workspace,
            ..
        } = self;
        let before = plan.times();
        ranks.world.barrier();
        let start = Instant::now();
        let Arrays {
            complex,
            reals,
            output,
            real_output,
        } = arrays;
        match (on_device, plan.whole().problem().kind()) {
            (Some(arrays), _) => arrays.transform(plan)?,
            (None, Kind::ComplexToComplex) => plan
                .process_outofplace_with_workspace(complex, output, workspace)
                .map_err(failure)?,
            (None, Kind::RealToComplex) => plan
                .process_real_to_complex_with_workspace(reals, output, workspace)
                .map_err(failure)?,
            (None, Kind::ComplexToReal) => plan
                .process_complex_to_real_with_workspace(complex, real_output, workspace)
                .map_err(failure)?,
        }
        let own = start.elapsed().as_secs_f64();
        let after = plan.times();
        let own = [
            own,
            after.transforms - before.transforms,
            after.packing - before.packing,
            after.exchange - before.exchange,
        ];
        let mut slowest = [0.0; 4];
        ranks
            .world
            .all_reduce_into(&own[..], &mut slowest[..], SystemOperation::max());
        if counts {
            if slowest[0] < shortest(&self.times) {
                self.parts.copy_from_slice(&slowest[1..]);
            }
            self.times.push(slowest[0]);
        }
        Ok(())
    }
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
