//! Why a GPU cannot be used.

use cudarc::cufft::result::CufftError;
use cudarc::driver::DriverError;

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

/// Names what the driver was asked to do.
pub fn failed(action: &'static str) -> impl FnOnce(DriverError) -> DeviceFailure {
    move |source| DeviceFailure::Driver { action, source }
}
