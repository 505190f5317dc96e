//! The Taylor–Green vortex of `turbulence`, divided among the ranks of MPI: the same digest on any number of them.
//!
//! Transforms are plans of `ozfft-mpi`, whose results have the bits of one process, and everything between them is computed at one wave
//! number or point. Spectra stay divided as the last axis leaves them, which spares an exchange in both directions.

use clap::Parser;
use mpi::Count;
use mpi::datatype::PartitionMut;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use num_complex::Complex;
use ozfft::{Accuracy, Planner};
use ozfft_applications::digest::sha256;
use ozfft_applications::spectral_flow::{Box3, FieldTransform, Part, Solver};
use ozfft_applications::vortex::{Vortex, VortexArguments};
use ozfft_measure::failure::Failure;
use ozfft_measure::options::{Shape, parse_accuracy, parse_shape, shape_text};
use ozfft_measure::report::{note, say, say_json};
use ozfft_mpi::{DistributedError, DistributedPlan, DistributedProblem, IndexBox};
use serde::Serialize;
use std::process::ExitCode;

/// The Taylor–Green vortex on the ranks of MPI: mpirun -n 4 turbulence_ranks --shape 32 --time 0.2
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(flatten)]
    vortex: VortexArguments,
    /// Relative error of a transform: double, single, a number such as 1e-12, or bits:40
    #[arg(long, value_parser = parse_accuracy, default_value = "double")]
    accuracy: Accuracy,
    /// Process grid: 4 for slabs, 2x3 for pencils [default: the planner's choice]
    #[arg(long, value_parser = parse_shape)]
    grid: Option<Shape>,
    /// Print one JSON object on one line instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    shape: String,
    ranks: usize,
    grid: Vec<usize>,
    time: f64,
    steps: usize,
    /// By rank 0 to others.
    bytes_sent: u64,
    /// Of the velocity at the end.
    sha256: String,
}

fn failure(error: DistributedError) -> Failure {
    match error {
        DistributedError::Transform(error) => error.into(),
        other => Failure::Usage(other.to_string()),
    }
}

/// Plans of both directions on all ranks.
struct DistributedTransform {
    forward: DistributedPlan<f64>,
    inverse: DistributedPlan<f64>,
    workspace: Vec<u64>,
}

impl DistributedTransform {
    fn new(
        arguments: &Arguments,
        shape: &[usize],
        world: &SimpleCommunicator,
    ) -> Result<Self, DistributedError> {
        let planner = Planner::new();
        let asked = |problem: DistributedProblem, batch: usize| {
            let problem = problem.accuracy(arguments.accuracy).batch(batch);
            match &arguments.grid {
                Some(Shape(grid)) => problem.grid(grid),
                None => problem,
            }
        };
        let forward = asked(DistributedProblem::real_to_complex(shape), 3).permuted_output();
        let forward = DistributedPlan::with_planner(&forward, world, &planner)?;
        let inverse = asked(DistributedProblem::complex_to_real(shape), 6)
            .input_box(forward.output_box().clone())
            .output_box(forward.input_box().clone());
        let inverse = DistributedPlan::with_planner(&inverse, world, &planner)?;
        let words = forward.workspace_len().max(inverse.workspace_len());
        Ok(DistributedTransform {
            forward,
            inverse,
            workspace: vec![0; words],
        })
    }

    /// What this rank holds.
    fn part(&self) -> Part {
        Part {
            fields: ranges(self.forward.input_box()),
            spectra: ranges(self.forward.output_box()),
        }
    }
}

impl FieldTransform for DistributedTransform {
    fn forward(&mut self, fields: &[f64], spectra: &mut [Complex<f64>]) -> Result<(), Failure> {
        let workspace = &mut self.workspace[..];
        let plan = &self.forward;
        plan.process_real_to_complex_with_workspace(fields, spectra, workspace)
            .map_err(failure)
    }

    fn inverse(&mut self, spectra: &[Complex<f64>], fields: &mut [f64]) -> Result<(), Failure> {
        let workspace = &mut self.workspace[..];
        let plan = &self.inverse;
        plan.process_complex_to_real_with_workspace(spectra, fields, workspace)
            .map_err(failure)
    }
}

fn ranges(part: &IndexBox) -> Box3 {
    std::array::from_fn(|axis| part.low()[axis]..part.high()[axis])
}

/// All components of the velocity on rank 0, nothing on others.
fn gathered(
    world: &SimpleCommunicator,
    plan: &DistributedPlan<f64>,
    held: &[f64],
    shape: [usize; 3],
) -> Option<Vec<f64>> {
    let root = world.process_at_rank(0);
    if world.rank() != 0 {
        root.gather_varcount_into(held);
        return None;
    }
    let boxes: Vec<IndexBox> = (0..world.size() as usize)
        .map(|rank| plan.input_box_of(rank))
        .collect();
    let counts: Vec<Count> = boxes.iter().map(|part| 3 * part.len() as Count).collect();
    let places: Vec<Count> = counts
        .iter()
        .scan(0, |next, &count| {
            *next += count;
            Some(*next - count)
        })
        .collect();
    let points: usize = shape.iter().product();
    let mut received = vec![0.0; 3 * points];
    {
        let mut parts = PartitionMut::new(&mut received[..], &counts[..], &places[..]);
        root.gather_varcount_into_root(held, &mut parts);
    }
    let mut whole = vec![0.0; 3 * points];
    let mut rest = &received[..];
    for part in &boxes {
        let [first, second, third] = ranges(part);
        for component in 0..3 {
            for i in first.clone() {
                for j in second.clone() {
                    let row = component * points + (i * shape[1] + j) * shape[2];
                    let (own, others) = rest.split_at(third.len());
                    whole[row + third.start..row + third.end].copy_from_slice(own);
                    rest = others;
                }
            }
        }
    }
    Some(whole)
}

/// The report on rank 0, nothing on others.
fn compute(arguments: &Arguments, world: &SimpleCommunicator) -> Result<Option<Report>, Failure> {
    let Vortex {
        shape,
        viscosity,
        time,
        steps,
        step,
    } = arguments.vortex.vortex()?;
    let transform = DistributedTransform::new(arguments, &shape, world).map_err(failure)?;
    let part = transform.part();
    let mut solver = Solver::new(shape, viscosity, transform, &part);
    let mut state = solver.equations.taylor_green();
    let mut stage = state.clone();
    for _ in 0..steps {
        solver.step(&mut state, &mut stage, step)?;
    }
    let velocity = solver.velocity(&state)?.to_vec();
    let DistributedTransform {
        forward, inverse, ..
    } = &solver.transform;
    let whole = gathered(world, forward, &velocity, shape);
    Ok(whole.map(|whole| Report {
        shape: shape_text(&shape),
        ranks: world.size() as usize,
        grid: forward.grid().to_vec(),
        time,
        steps,
        bytes_sent: forward.bytes_sent() + inverse.bytes_sent(),
        sha256: sha256([&whole[..]]),
    }))
}

fn tell(report: &Report, json: bool) -> Result<(), Failure> {
    if json {
        return say_json(report);
    }
    say(&format!(
        "Taylor–Green vortex, {} points, {} steps to the time {} on {} ranks, grid {:?}\nsha256 of the velocity: {}",
        report.shape, report.steps, report.time, report.ranks, report.grid, report.sha256
    ))
}

fn main() -> ExitCode {
    // Before MPI, so that help and wrong options are told where there is none; then by every rank.
    let arguments = ozfft_measure::arguments::<Arguments>();
    let Some(universe) = mpi::initialize() else {
        note("error: MPI has been initialised before");
        return ExitCode::FAILURE;
    };
    // Ranks are the threads of this program.
    if let Err(error) = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build_global()
    {
        note(&format!("error: {error}"));
        return ExitCode::FAILURE;
    }
    let world = universe.world();
    match compute(&arguments, &world) {
        Ok(Some(report)) => ozfft_measure::finish(tell(&report, arguments.json)),
        Ok(None) => ExitCode::SUCCESS,
        // Every rank has the error.
        Err(failure) if world.rank() == 0 => ozfft_measure::finish(Err(failure)),
        Err(_) => ExitCode::FAILURE,
    }
}
