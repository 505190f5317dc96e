//! Typed errors as exceptions of `ozfft._errors`, with the library's own words.

use ozfft::FftError;
use pyo3::prelude::*;

/// The name of the exception that stands for an error.
///
/// They are classes of Python because most have two bases (`ValueError` and another one), which an extension for all
/// versions of Python cannot make.
fn exception_name(error: &FftError) -> &'static str {
    match error {
        FftError::EmptyDimension { .. }
        | FftError::EmptyShape
        | FftError::NoAxes { .. }
        | FftError::DuplicateAxis { .. }
        | FftError::AxisOutOfRange { .. }
        | FftError::EmptyBatch
        | FftError::TooLarge { .. } => "ShapeError",
        FftError::StrideCount { .. }
        | FftError::NegativeIndex { .. }
        | FftError::OverlappingOutput { .. }
        | FftError::BufferLength { .. }
        | FftError::InPlaceLayout
        | FftError::WrongKind { .. } => "LayoutError",
        FftError::InvalidAccuracy { .. } | FftError::AccuracyUnreachable { .. } => "AccuracyError",
        FftError::Unsupported(_) | FftError::Floats(_) => "UnsupportedError",
        FftError::NoDriver { .. }
        | FftError::NoSuchDevice { .. }
        | FftError::DeviceTooOld { .. }
        | FftError::DeviceMemory { .. }
        | FftError::DeviceFailure { .. }
        | FftError::WrongPointer { .. }
        | FftError::Fp8Inexact { .. }
        | FftError::F16Inexact { .. } => "DeviceError",
        FftError::Memory(_) => "OutOfMemoryError",
        _ => "OzfftError",
    }
}

/// The exception for an error of the library.
pub(crate) fn exception(py: Python<'_>, error: &FftError) -> PyErr {
    named(py, exception_name(error), &error.to_string())
}

/// An exception of `ozfft._errors` by its name.
pub(crate) fn named(py: Python<'_>, name: &str, message: &str) -> PyErr {
    let class = py
        .import("ozfft._errors")
        .and_then(|module| module.getattr(name));
    match class.and_then(|class| class.call1((message,))) {
        Ok(value) => PyErr::from_value(value),
        // The package itself is broken; that is what the user must hear of then.
        Err(failure) => failure,
    }
}
