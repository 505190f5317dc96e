//! The words that Python passes for the library's choices.

use ozfft::{Accuracy, Device, Direction, FftError, Kind, Norm};

fn reject<T>(what: &str, given: &str, choices: &str) -> Result<T, FftError> {
    Err(FftError::Unsupported(format!(
        "there is no {what} {given:?}; give {choices}"
    )))
}

/// `c2c`, `r2c` or `c2r`.
pub(crate) fn kind(name: &str) -> Result<Kind, FftError> {
    match name {
        "c2c" => Ok(Kind::ComplexToComplex),
        "r2c" => Ok(Kind::RealToComplex),
        "c2r" => Ok(Kind::ComplexToReal),
        _ => reject("kind of transform", name, "c2c, r2c or c2r"),
    }
}

/// `forward` or `inverse`.
pub(crate) fn direction(name: &str) -> Result<Direction, FftError> {
    match name {
        "forward" => Ok(Direction::Forward),
        "inverse" => Ok(Direction::Inverse),
        _ => reject("direction", name, "forward or inverse"),
    }
}

/// The names of numpy and scipy, and `unscaled`.
pub(crate) fn norm(name: &str) -> Result<Norm, FftError> {
    match name {
        "backward" => Ok(Norm::Backward),
        "ortho" => Ok(Norm::Ortho),
        "forward" => Ok(Norm::Forward),
        "unscaled" => Ok(Norm::Unscaled),
        _ => reject("norm", name, "backward, ortho, forward or unscaled"),
    }
}

/// `double`, `single`, a relative error, or `bits:40`.
pub(crate) fn accuracy(name: &str) -> Result<Accuracy, FftError> {
    let number = match name {
        "double" => Some(Accuracy::Double),
        "single" => Some(Accuracy::Single),
        _ => match name.strip_prefix("bits:") {
            Some(bits) => bits.parse().ok().map(Accuracy::Bits),
            None => name.parse().ok().map(Accuracy::Target),
        },
    };
    match number {
        Some(accuracy) => Ok(accuracy),
        None => reject(
            "accuracy",
            name,
            "\"double\", \"single\", a relative error such as 1e-12, or \"bits:40\"",
        ),
    }
}

/// `cpu`, `auto`, `cuda` or `cuda:1`.
pub(crate) fn device(name: &str) -> Result<Device, FftError> {
    let numbered = |name: &str| name.strip_prefix("cuda:")?.parse().ok().map(Device::Cuda);
    match name {
        "cpu" => Ok(Device::Cpu),
        "auto" => Ok(Device::Auto),
        "cuda" => Ok(Device::Cuda(0)),
        _ => match numbered(name) {
            Some(device) => Ok(device),
            None => reject("device", name, "cpu, auto, cuda or cuda:1"),
        },
    }
}
