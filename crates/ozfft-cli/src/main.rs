//! The program `ozfft`: exact FFTs from the command line.

#![deny(unsafe_code)]

mod bench;
mod convolve;
mod demo;
mod fft;
mod multiply;
mod npy;
mod plan;
mod plot;
mod selftest;
mod tune;

use clap::{Parser, Subcommand};
use ozfft_measure::failure::Failure;
use ozfft_measure::{accuracy, arguments, finish, probe};
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

fn main() -> ExitCode {
    finish(run(&arguments::<Program>()))
}
