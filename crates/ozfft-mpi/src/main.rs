//! The program `ozfft-mpi`: what `ozfft` measures and checks, on the ranks that `mpirun` starts.

mod program;

use std::process::ExitCode;

fn main() -> ExitCode {
    program::main()
}
