//! The program `ozfft`: exact FFTs from the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    ozfft_cli::main()
}
