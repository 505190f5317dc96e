//! The program `ozfft-lab`: what the paper and the posts print, beside what was counted and measured here. It depends on the product, and
//! nothing of the product depends on it.

#![deny(unsafe_code)]

mod decompositions;
mod dispatch;
mod evidence;
mod failure;
mod float_modes;
mod ladder;
mod linear_algebra;
mod model;
mod origin;
mod paths;
mod plot;
mod reconstruct;
mod report_page;
mod residue_engine;
mod short_words;
mod sums;
mod table;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::process::ExitCode;

/// The laboratory of ozfft: the paper's model, its printed numbers, and what was measured beside them.
#[derive(Debug, Parser)]
#[command(version)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Which unit of a machine binds: the paper's model as printed, corrected and measured
    Model(model::ModelArguments),
    /// Write one self-contained page: which machines run double-precision transforms at memory speed, and how
    Report(report_page::ReportArguments),
    /// Ways of cutting a transform into steps, by residues: counts and errors
    Decompositions(decompositions::DecompositionsArguments),
    /// The claims of the paper and of the posts one by one, with what was measured and a verdict
    Evidence(evidence::EvidenceArguments),
    /// Measure the residues engine on a GPU: every method of reconstruction, beside digits and cuFFT
    Paths(paths::PathsArguments),
    /// Every method from residues to integers: errors, bounds, counted costs, and the paper's figures beside them
    Reconstruct(reconstruct::ReconstructArguments),
    /// Measure the residues engine: every method of reconstruction, adaptive and redundant moduli
    Residues(residue_engine::ResiduesArguments),
    /// Measure the floats engine on a GPU: every mode (but fast, kahan and double on tensor cores), checked, beside digits and cuFFT
    Floats(float_modes::FloatsArguments),
    /// Measure every mode and every accuracy: errors against the exact transform, times, and trnfft's posts beside them
    Ladder(ladder::LadderArguments),
    /// Every algorithm of the posts' dispatch table at every length, where they cross, and the posts' crossings beside them
    Dispatch(dispatch::DispatchArguments),
    /// Phase B's sums in words of 64, 32, 16 and 8 bits, measured in vectors of 512 bits
    Words(short_words::WordsArguments),
    /// Products of matrices and vectors by Ozaki's scheme II beside FP64, and conjugate gradients on them
    LinearAlgebra(linear_algebra::LinearAlgebraArguments),
    /// Draw a record of `ozfft-lab paths` or `ozfft-lab ladder`, or a figure of the report
    Plot(plot::PlotArguments),
    /// Exact sums and dot products, by the crate `kulisch`
    Kulisch(sums::SumsArguments),
    /// Make the accuracy table of the documentation
    Table(table::TableArguments),
}

fn run(program: &Program) -> Result<(), Failure> {
    match &program.command {
        Command::Model(arguments) => model::run(arguments),
        Command::Report(arguments) => report_page::run(arguments),
        Command::Decompositions(arguments) => decompositions::run(arguments),
        Command::Evidence(arguments) => evidence::run(arguments),
        Command::Paths(arguments) => paths::run(arguments),
        Command::Reconstruct(arguments) => reconstruct::run(arguments),
        Command::Residues(arguments) => residue_engine::run(arguments),
        Command::Floats(arguments) => float_modes::run(arguments),
        Command::Ladder(arguments) => ladder::run(arguments),
        Command::Dispatch(arguments) => dispatch::run(arguments, plot::dispatch::picture),
        Command::Words(arguments) => short_words::run(arguments),
        Command::LinearAlgebra(arguments) => linear_algebra::run(arguments),
        Command::Plot(arguments) => plot::run(arguments),
        Command::Kulisch(arguments) => sums::run(arguments),
        Command::Table(arguments) => table::run(arguments),
    }
}

fn main() -> ExitCode {
    match run(&ozfft_measure::arguments::<Program>()) {
        Err(Failure::Program(failure)) => ozfft_measure::finish(Err(failure)),
        Err(failure) => {
            ozfft_measure::report::note(&format!("error: {failure}"));
            ExitCode::FAILURE
        }
        Ok(()) => ExitCode::SUCCESS,
    }
}
