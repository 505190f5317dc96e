//! Everything that can go wrong in the laboratory, each with a message for the person at the terminal.

use ozfft_measure::gpu::DeviceFailure;
use std::path::{Path, PathBuf};

/// A failed command. The message goes to standard error and the exit code is not zero.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// What the program `ozfft` could not do: files, terminals, memory.
    #[error("{0}")]
    Program(#[from] ozfft_measure::failure::Failure),
    /// The library rejected the problem or the data.
    #[error("{0}")]
    Transform(#[from] ozfft::FftError),
    /// There is no GPU, or its driver rejected something.
    #[error("{0}")]
    Device(#[from] DeviceFailure),
    /// A library of NVIDIA's cannot be loaded.
    #[error("{library} cannot be loaded ({file}); put its directory into LD_LIBRARY_PATH")]
    NoLibrary {
        library: &'static str,
        file: &'static str,
    },
    /// A library of NVIDIA's rejected something.
    #[error("{library} failed to {action}: {status}")]
    Library {
        library: &'static str,
        action: &'static str,
        status: String,
    },
    /// The model cannot answer, or was given something wrong.
    #[error("{0}")]
    Model(#[from] roofline::RooflineError),
    /// A file was read but is not what was asked for.
    #[error("{}: {reason}", path.display())]
    Content { path: PathBuf, reason: String },
    /// Options that do not fit together or the data.
    #[error("{0}")]
    Usage(String),
    /// A result could not be written as JSON.
    #[error("cannot write the result as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A plot could not be drawn.
    #[error("cannot draw the plot: {0}")]
    Plot(String),
    /// A check ran to its end and found something wrong.
    #[error("{0}")]
    Check(String),
}

impl Failure {
    /// Names the file whose content is wrong.
    pub fn content(path: &Path) -> impl Fn(String) -> Failure + Copy {
        move |reason| Failure::Content {
            path: path.to_path_buf(),
            reason,
        }
    }
}
