//! What the programs `ozfft`, `ozfft-mpi`, `ozfft-lab` and the applications share: options and messages, inputs and outputs, GPUs, transforms to
//! compare with, errors, records and pictures. Not a stable interface.

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

pub mod accuracy;
pub mod arrays;
pub mod comparison;
pub mod failure;
pub mod fftw;
pub mod gpu;
pub mod inputs;
pub mod machine;
pub mod memory;
pub mod options;
pub mod outputs;
pub mod plot;
pub mod probe;
pub mod report;
mod standard_output;

use clap::Parser;
use failure::Failure;
use std::io::ErrorKind;
use std::process::ExitCode;

/// What a shell sees of a program that a closed pipe has ended.
const CLOSED_PIPE: u8 = 128 + 13;

/// The arguments of a program. Where they ask for help, or are wrong, that is told and the program ends here.
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
