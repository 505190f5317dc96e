//! `ozfft-mpi accuracy`: the error of a distributed transform, and the digest of its result.

use super::arrays::{gathered, messages, part};
use super::{Ranks, failure};
use mpi::collective::SystemOperation;
use mpi::traits::*;
use num_complex::Complex;
use ozfft::{Kind, Planner};
use ozfft_measure::accuracy::{AccuracyArguments, Measured, Row, judge, tell};
use ozfft_measure::arrays::digest;
use ozfft_measure::comparison::{Computed, TestInput};
use ozfft_measure::failure::Failure;
use ozfft_measure::options::{Shape, parse_shape};
use ozfft_measure::report::say_json;
use ozfft_mpi::{DistributedPlan, DistributedProblem};
use serde::Serialize;
use std::time::Instant;

/// Options of `ozfft accuracy`, and those of the ranks.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    of_one_process: AccuracyArguments,
    /// Process grid: 4 for slabs, 2x3 for pencils [default: the planner's choice]; the bits do not depend on it
    #[arg(long, value_parser = parse_shape)]
    grid: Option<Shape>,
}

/// What is printed: the keys of `ozfft accuracy`, and those of the ranks.
#[derive(Serialize)]
struct DistributedRow<'a> {
    #[serde(flatten)]
    row: &'a Row,
    ranks: usize,
    grid: &'a [usize],
    exchanges: usize,
    /// By all ranks to others.
    bytes_sent: u64,
    bytes_predicted: u64,
    /// On GPUs: device, where MPI takes device pointers, or staged.
    messages: Option<&'static str>,
}

pub(super) fn problem(
    arguments: &AccuracyArguments,
    shape: &[usize],
    grid: Option<&Shape>,
) -> Result<DistributedProblem, Failure> {
    let options = &arguments.computing;
    if arguments.attack || arguments.sampled.is_some() {
        return Err(Failure::Usage(
            "--attack and --sampled are measured in one process; take `ozfft accuracy`, the bits are the same".into(),
        ));
    }
    let (kind, direction) = arguments.kind_and_direction();
    let problem = match kind {
        Kind::ComplexToComplex => DistributedProblem::complex(shape),
        Kind::RealToComplex => DistributedProblem::real_to_complex(shape),
        Kind::ComplexToReal => DistributedProblem::complex_to_real(shape),
    };
    let problem = problem
        .direction(direction)
        .norm(options.norm())
        .accuracy(options.accuracy)
        .products(options.products())
        .substrate(options.substrate)
        .device(options.device)
        .engine(arguments.engine)
        .threads(options.threads.unwrap_or(1));
    Ok(match grid {
        Some(grid) => problem.grid(&grid.0),
        None => problem,
    })
}

/// Transforms on all ranks; the result is on rank 0.
fn compute(
    plan: &DistributedPlan<f64>,
    values: &[Complex<f64>],
    ranks: &Ranks,
) -> Result<Option<Computed>, Failure> {
    let problem = plan.whole().problem();
    let held = part(values, plan.input_box(), &problem.input_shape(), 1);
    let output = (&problem.output_shape()[..], 1);
    let box_of = |rank| plan.output_box_of(rank);
    let mut workspace = vec![0; plan.workspace_len()];
    ranks.world.barrier();
    if problem.kind() == Kind::ComplexToReal {
        let mut reals = vec![0.0; plan.output_len()];
        let start = Instant::now();
        plan.process_complex_to_real_with_workspace(&held, &mut reals, &mut workspace)
            .map_err(failure)?;
        let seconds = start.elapsed().as_secs_f64();
        let whole = gathered(ranks, &reals, output, box_of);
        return Ok(whole.map(|reals| Computed {
            sha256: digest(&reals),
            values: reals.iter().map(|&re| Complex::new(re, 0.0)).collect(),
            seconds,
        }));
    }
    let mut numbers = vec![Complex::new(0.0, 0.0); plan.output_len()];
    let reals: Vec<f64> = held.iter().map(|value| value.re).collect();
    let start = Instant::now();
    match problem.kind() {
        Kind::RealToComplex => {
            plan.process_real_to_complex_with_workspace(&reals, &mut numbers, &mut workspace)
        }
        _ => plan.process_outofplace_with_workspace(&held, &mut numbers, &mut workspace),
    }
    .map_err(failure)?;
    let seconds = start.elapsed().as_secs_f64();
    let whole = gathered(ranks, &numbers, output, box_of);
    Ok(whole.map(|values| Computed {
        sha256: digest(&values),
        values,
        seconds,
    }))
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments, ranks: &Ranks) -> Result<(), Failure> {
    let one = &arguments.of_one_process;
    one.computing.start_threads()?;
    let planner = Planner::new();
    let mut rows = Vec::new();
    for Shape(shape) in &one.shapes {
        for input in one.inputs()? {
            one.problem(shape)?;
            let problem = problem(one, shape, arguments.grid.as_ref())?;
            rows.extend(measure(one, ranks, &planner, (shape, input), &problem)?);
        }
    }
    if ranks.is_first() {
        if !one.json {
            tell(&rows)?;
        }
        judge(&rows)?;
    }
    Ok(())
}

fn measure(
    one: &AccuracyArguments,
    ranks: &Ranks,
    planner: &Planner<f64>,
    (shape, input): (&[usize], TestInput),
    problem: &DistributedProblem,
) -> Result<Option<Row>, Failure> {
    let plan = DistributedPlan::with_planner(problem, &ranks.world, planner).map_err(failure)?;
    let values = input.values(plan.whole().problem().kind(), shape, one.seed);
    let computed = compute(&plan, &values, ranks)?;
    let own = [plan.bytes_sent(), plan.bytes_per_call()];
    let mut bytes = [0u64; 2];
    ranks
        .world
        .all_reduce_into(&own[..], &mut bytes[..], SystemOperation::sum());
    let mut row = None;
    ranks.first_alone(|| {
        let Some(computed) = computed else {
            unreachable!("rank 0 has the result");
        };
        let measured = Measured {
            plan: plan.whole(),
            values: &values,
            computed,
        };
        // Of the first rank's lines: the whole is planned for the processor, also where they run on a GPU.
        let found = one
            .row(planner, shape, input, measured)?
            .with_substrate(plan.substrate());
        if one.json {
            say_json(&DistributedRow {
                row: &found,
                ranks: ranks.count,
                grid: plan.grid(),
                exchanges: plan.exchanges().len(),
                bytes_sent: bytes[0],
                bytes_predicted: bytes[1],
                messages: messages(&plan),
            })?;
        }
        row = Some(found);
        Ok(())
    });
    Ok(row)
}
