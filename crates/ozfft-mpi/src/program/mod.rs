//! Commands of `ozfft-mpi`. All ranks run them; rank 0 speaks.

mod accuracy;
mod arrays;
mod bench;
mod selftest;

use clap::{Parser, Subcommand};
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use ozfft_measure::failure::Failure;
use ozfft_mpi::DistributedError;
use std::process::ExitCode;
use std::time::Duration;

/// Fourier transforms divided among MPI ranks, with the bits of one process: mpirun -n 4 ozfft-mpi accuracy --shape 60x48x50
#[derive(Debug, Parser)]
#[command(version)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure errors against the exact transform; the digest is that of `ozfft accuracy`
    Accuracy(accuracy::Arguments),
    /// Measure times, beside one process on rank 0
    Bench(bench::Arguments),
    /// Compare random problems, grids and boxes with one process, bit by bit
    Selftest(selftest::Arguments),
}

/// The ranks.
struct Ranks {
    world: SimpleCommunicator,
    rank: usize,
    count: usize,
}

impl Ranks {
    fn new(universe: &Universe) -> Ranks {
        let world = universe.world();
        Ranks {
            rank: world.rank() as usize,
            count: world.size() as usize,
            world,
        }
    }

    fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// What rank 0 does alone, while the others sleep. It ends all ranks if it fails: they would go on without it.
    fn first_alone(&self, work: impl FnOnce() -> Result<(), Failure>) {
        if self.is_first()
            && let Err(failure) = work()
        {
            ozfft_measure::report::note(&format!("error: {failure}"));
            self.world.abort(1);
        }
        // A barrier would keep the other ranks' cores busy.
        let mut waiting = self.world.immediate_barrier();
        while let Err(request) = waiting.test() {
            std::thread::sleep(Duration::from_millis(1));
            waiting = request;
        }
    }
}

/// An error that every rank has is told by rank 0.
fn failure(error: DistributedError) -> Failure {
    match error {
        DistributedError::Transform(error) => error.into(),
        other => Failure::Usage(other.to_string()),
    }
}

fn run(program: &Program, ranks: &Ranks) -> Result<(), Failure> {
    match &program.command {
        Command::Accuracy(arguments) => accuracy::run(arguments, ranks),
        Command::Bench(arguments) => bench::run(arguments, ranks),
        Command::Selftest(arguments) => selftest::run(arguments, ranks),
    }
}

pub fn main() -> ExitCode {
    // Before MPI, so that help and wrong options are told where there is none; then by every rank.
    let program = ozfft_measure::arguments::<Program>();
    let Some(universe) = mpi::initialize() else {
        ozfft_measure::report::note("error: MPI has been initialised before");
        return ExitCode::FAILURE;
    };
    let ranks = Ranks::new(&universe);
    match run(&program, &ranks) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if ranks.is_first() => ozfft_measure::finish(Err(failure)),
        Err(_) => ExitCode::FAILURE,
    }
}
