//! The program `ozfft`: exact FFTs from the command line. The library is [`main`]; besides, it has what `ozfft-lab` shares with the
//! program.
//!
//! **Not a stable interface.** Modules that are hidden in this documentation change with the program, without notice.

#![deny(unsafe_code)]

// The example of the README is tested, too.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

// So are those of pages that have some.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/ladder.md")]
struct Ladder;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/gpu.md")]
struct Gpu;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/convolution.md")]
struct ExactConvolution;

#[doc(hidden)]
pub mod accuracy;
#[doc(hidden)]
pub mod arrays;
mod bench;
mod convolve;
mod demo;
#[doc(hidden)]
pub mod failure;
mod fft;
#[doc(hidden)]
pub mod fftw;
#[doc(hidden)]
pub mod gpu;
#[doc(hidden)]
pub mod inputs;
#[doc(hidden)]
pub mod machine;
#[doc(hidden)]
pub mod measure;
#[doc(hidden)]
pub mod memory;
mod multiply;
mod npy;
#[doc(hidden)]
pub mod options;
#[doc(hidden)]
pub mod outputs;
mod plan;
#[doc(hidden)]
pub mod plot;
#[doc(hidden)]
pub mod probe;
#[doc(hidden)]
pub mod report;
mod selftest;
mod standard_output;
mod tune;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::io::ErrorKind;
use std::process::ExitCode;

/// Double-precision FFTs computed with 8-bit multiplies: proven error bounds, the same bits everywhere.
#[derive(Debug, Parser)]
#[command(name = "ozfft", version)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Transform a random field with both engines and compare errors and times
    Demo(demo::DemoArguments),
    /// Transform an npy file
    Fft(fft::FftArguments),
    /// Show how a transform would be computed, and its error bound
    Plan(plan::PlanArguments),
    /// Measure errors against the exact transform
    Accuracy(accuracy::AccuracyArguments),
    /// Measure times: every engine and unit of this machine side by side
    Bench(bench::BenchArguments),
    /// Weigh the routes of an exact convolution: which are proven, and how long they take
    Convolve(convolve::ConvolveArguments),
    /// Multiply two integers of any length exactly
    Multiply(multiply::MultiplyArguments),
    /// Draw a record of `ozfft bench`
    Plot(plot::PlotArguments),
    /// Measure the GPU of this machine: memory, pipes, tensor units, and which of their sums are exact
    Probe(probe::ProbeArguments),
    /// Check this machine: identities of the transform, and equal bits in every variant of computing it
    Selftest(selftest::SelftestArguments),
    /// Measure which parameters of the GPU kernels are fastest for a transform, and keep them for later plans
    Tune(tune::TuneArguments),
}

fn run(program: &Program) -> Result<(), Failure> {
    match &program.command {
        Command::Demo(arguments) => demo::run(arguments),
        Command::Fft(arguments) => fft::run(arguments),
        Command::Plan(arguments) => plan::run(arguments),
        Command::Accuracy(arguments) => accuracy::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Convolve(arguments) => convolve::run(arguments),
        Command::Multiply(arguments) => multiply::run(arguments),
        Command::Plot(arguments) => plot::run(arguments),
        Command::Probe(arguments) => probe::run(arguments),
        Command::Selftest(arguments) => selftest::run(arguments),
        Command::Tune(arguments) => tune::run(arguments),
    }
}

/// What a shell sees of a program that a closed pipe has ended.
const CLOSED_PIPE: u8 = 128 + 13;

/// Runs the command that the program's arguments name.
pub fn main() -> ExitCode {
    finish(run(&arguments::<Program>()))
}

/// The arguments of a program. Where they ask for help, or are wrong, that is told and the program ends here.
#[doc(hidden)]
pub fn arguments<P: Parser>() -> P {
    P::try_parse().unwrap_or_else(|message| {
        let code = match standard_output::write_help(&message) {
            Ok(()) => message.exit_code(),
            Err(failure) => failed(&failure).into(),
        };
        std::process::exit(code)
    })
}

/// How a program ends: errors go to standard error.
#[doc(hidden)]
pub fn finish(outcome: Result<(), Failure>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => ExitCode::from(failed(&failure)),
    }
}

/// Tells of a failure, and returns what the shell is to see of it.
fn failed(failure: &Failure) -> u8 {
    match failure {
        // The reader has closed the pipe, as in `ozfft bench … | head -1`: exit without a message.
        Failure::StandardOutput(error) if error.kind() == ErrorKind::BrokenPipe => CLOSED_PIPE,
        failure => {
            report::note(&format!("error: {failure}"));
            1
        }
    }
}
