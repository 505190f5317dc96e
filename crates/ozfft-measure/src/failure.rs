//! Everything that can go wrong in the program, each with a message for the person at the terminal.

use cudarc::cufft::result::CufftError;
use cudarc::driver::DriverError;
use std::path::{Path, PathBuf};

/// Why a GPU cannot be used or measured.
#[derive(Debug, thiserror::Error)]
pub enum DeviceFailure {
    /// The driver's library cannot be loaded.
    #[error(
        "there is no NVIDIA driver on this machine: its library libcuda.so.1 is not found; install NVIDIA's driver"
    )]
    NoDriver,
    /// The driver is there, but has no such device.
    #[error("there is no CUDA device {asked}: the driver has {count}, and the first has number 0")]
    NoDevice { asked: usize, count: usize },
    /// The kernels need a newer GPU.
    #[error("{name} has compute capability {major}.{minor}; ozfft's kernels need 8.0 or later")]
    TooOld {
        name: String,
        major: i32,
        minor: i32,
    },
    /// The driver rejected something.
    #[error("the CUDA driver failed to {action}: {source}")]
    Driver {
        action: &'static str,
        source: DriverError,
    },
    /// The arrays do not fit.
    #[error(
        "the GPU's memory does not suffice: {needed} bytes are needed, {free} are free; take fewer points"
    )]
    Memory { needed: usize, free: usize },
    /// The library cannot be loaded.
    #[error("cuFFT cannot be loaded (libcufft); put its directory into LD_LIBRARY_PATH")]
    NoCuFft,
    /// cuFFT rejected something.
    #[error("cuFFT failed to {action}: {source}")]
    CuFft {
        action: &'static str,
        source: CufftError,
    },
    /// An array is shorter than a transform needs.
    #[error("{given} bytes of device memory were given where {needed} are needed")]
    TooShort { needed: usize, given: usize },
}

/// A failed command. The message goes to standard error and the exit code is not zero.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The library rejected the problem or the data.
    #[error("{0}")]
    Transform(#[from] ozfft::FftError),
    /// An exact convolution was refused.
    #[error(transparent)]
    Convolution(#[from] ozfft::convolution::RouteError),
    /// A file could not be opened, read, written or renamed.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        action: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// A file was read but is not something that can be transformed.
    #[error("{}: {reason}", path.display())]
    Content { path: PathBuf, reason: String },
    /// Something stands at the path of an output that is neither a file to be replaced nor a stream.
    #[error("{} is {what}, which is not written to; name a file, or a pipe", path.display())]
    NoFile { path: PathBuf, what: &'static str },
    /// More memory is needed than can be had.
    #[error(
        "{what} would take about {}, and {}; take a smaller shape, or a machine with more memory",
        bytes_text(*needed),
        available.map_or("the system refuses as much".into(), |bytes| format!("{} can be had", bytes_text(bytes.into())))
    )]
    Memory {
        what: String,
        needed: u128,
        available: Option<u64>,
    },
    /// Options that do not fit together or the data.
    #[error("{0}")]
    Usage(String),
    /// Standard output is closed or full.
    #[error("cannot write the result to standard output: {0}")]
    StandardOutput(std::io::Error),
    /// A result could not be written as JSON.
    #[error("cannot write the result as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A plot could not be drawn.
    #[error("cannot draw the plot: {0}")]
    Plot(String),
    /// A thread pool could not be started.
    #[error(
        "cannot start the threads: {0}; raise the limit on processes (ulimit -u), or give fewer --threads"
    )]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// There is no GPU, or its driver rejected something.
    #[error("{0}")]
    Device(#[from] DeviceFailure),
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

    /// Names the file and what was being done with it.
    pub fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
        let path = path.to_path_buf();
        move |source| Failure::File {
            action,
            path,
            source,
        }
    }
}

/// Bytes for people.
fn bytes_text(bytes: u128) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = bytes as f64 / 1e3;
    let mut unit = 0;
    while value >= 1e3 && unit + 1 < units.len() {
        value /= 1e3;
        unit += 1;
    }
    format!("{value:.1} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_printed_in_decimal_units() {
        assert_eq!(bytes_text(1500), "1.5 kB");
        assert_eq!(bytes_text(16 << 32), "68.7 GB");
        assert_eq!(bytes_text(u128::from(u64::MAX) + 1), "18.4 EB");
    }
}
