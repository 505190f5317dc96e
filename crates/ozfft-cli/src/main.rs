//! The program `ozfft`: exact FFTs from the command line.

#![deny(unsafe_code)]

mod accuracy;
mod arrays;
mod bench;
mod demo;
mod failure;
mod fft;
mod fftw;
mod float_modes;
mod gpu;
mod inputs;
mod ladder;
mod machine;
mod measure;
mod memory;
mod model;
mod npy;
mod options;
mod outputs;
mod paths;
mod plan;
mod plot;
mod probe;
mod reconstruct;
mod report;
mod report_page;
mod residue_engine;
mod selftest;
mod sums;
mod table;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::io::ErrorKind;
use std::process::ExitCode;

/// Double-precision FFTs computed with 8-bit multiplies: proven error bounds, the same bits everywhere.
#[derive(Debug, Parser)]
#[command(version)]
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
    /// Make the accuracy table of the documentation
    Table(table::TableArguments),
    /// Measure times: every engine and unit of this machine side by side
    Bench(bench::BenchArguments),
    /// Measure the residues engine on a GPU: every way of reconstruction, beside digits and cuFFT
    Paths(paths::PathsArguments),
    /// Measure every mode and every accuracy: errors against the exact transform, times, and trnfft's posts beside them
    Ladder(ladder::LadderArguments),
    /// Which unit of a machine binds: the paper's model as printed, corrected and measured
    Model(model::ModelArguments),
    /// Draw a record of `ozfft bench`, `ozfft paths` or `ozfft ladder`, or a figure of the report
    Plot(plot::PlotArguments),
    /// Measure the GPU of this machine: memory, pipes, tensor units, and which of their sums are exact
    Probe(probe::ProbeArguments),
    /// Exact sums and dot products, by the crate `kulisch`
    Kulisch(sums::SumsArguments),
    /// Measure the residues engine: every way of reconstruction, adaptive and redundant moduli
    Residues(residue_engine::ResiduesArguments),
    /// Every way from residues to integers: errors, bounds, counted costs, and the paper's figures beside them
    Reconstruct(reconstruct::ReconstructArguments),
    /// Measure the floats engine on a GPU: every mode on tensor cores, checked, beside digits and cuFFT
    Floats(float_modes::FloatsArguments),
    /// Write one self-contained page: which machines run double-precision transforms at memory speed, and how
    Report(report_page::ReportArguments),
    /// Check this machine: identities of the transform, and equal bits in every way of computing it
    Selftest(selftest::SelftestArguments),
}

fn run(program: &Program) -> Result<(), Failure> {
    match &program.command {
        Command::Demo(arguments) => demo::run(arguments),
        Command::Fft(arguments) => fft::run(arguments),
        Command::Plan(arguments) => plan::run(arguments),
        Command::Accuracy(arguments) => accuracy::run(arguments),
        Command::Table(arguments) => table::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Paths(arguments) => paths::run(arguments),
        Command::Ladder(arguments) => ladder::run(arguments),
        Command::Model(arguments) => model::run(arguments),
        Command::Plot(arguments) => plot::run(arguments),
        Command::Probe(arguments) => probe::run(arguments),
        Command::Kulisch(arguments) => sums::run(arguments),
        Command::Residues(arguments) => residue_engine::run(arguments),
        Command::Reconstruct(arguments) => reconstruct::run(arguments),
        Command::Floats(arguments) => float_modes::run(arguments),
        Command::Report(arguments) => report_page::run(arguments),
        Command::Selftest(arguments) => selftest::run(arguments),
    }
}

/// What a shell sees of a program that a closed pipe has ended.
const CLOSED_PIPE: u8 = 128 + 13;

fn main() -> ExitCode {
    match run(&Program::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read the output has seen enough, as in `ozfft bench … | head -1`: nothing to tell, and nobody to tell it to.
        Err(Failure::StandardOutput(error)) if error.kind() == ErrorKind::BrokenPipe => {
            ExitCode::from(CLOSED_PIPE)
        }
        Err(failure) => {
            report::note(&format!("error: {failure}"));
            ExitCode::FAILURE
        }
    }
}
