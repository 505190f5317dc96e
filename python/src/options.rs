//! The words that Python passes for the library's choices.

use ozfft::dct::DctKind;
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

/// `dct1` to `dst4`, `orthogonal ` before it where ends of lines are multiplied for an orthogonal matrix.
pub(crate) fn cosine(name: &str) -> Result<(DctKind, bool), FftError> {
    let kind = name.strip_prefix("orthogonal ");
    let found = match kind.unwrap_or(name) {
        "dct1" => DctKind::Dct1,
        "dct2" => DctKind::Dct2,
        "dct3" => DctKind::Dct3,
        "dct4" => DctKind::Dct4,
        "dst1" => DctKind::Dst1,
        "dst2" => DctKind::Dst2,
        "dst3" => DctKind::Dst3,
        "dst4" => DctKind::Dst4,
        _ => return reject("kind of transform", name, "dct1 to dct4, or dst1 to dst4"),
    };
    Ok((found, kind.is_some()))
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
