//! Exact convolutions of integers, which Python gives as bytes in the machine's order.

use crate::errors::{exception, named};
use crate::gate::Call;
use crate::options;
use crate::process::{Process, count_execution};
use fallible_memory::collected;
use ozfft::convolution::{
    self, Convolution, ConvolutionError, ConvolutionRoute, ExactConvolution, Multiplier, Operand,
    Output, RouteError,
};
use ozfft::{Device, FftError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

fn failed(py: Python<'_>, error: &RouteError) -> PyErr {
    let name = match error {
        RouteError::Transform(error) => return exception(py, error),
        RouteError::Convolution(
            ConvolutionError::ResultMayNotFit { .. }
            | ConvolutionError::MayBeNegative { .. }
            | ConvolutionError::TooManyBits { .. },
        ) => "IntegerRangeError",
        RouteError::Convolution(ConvolutionError::Memory(_)) => "OutOfMemoryError",
        RouteError::Convolution(_) => "ShapeError",
        _ => "UnsupportedError",
    };
    named(py, name, &error.to_string())
}

/// Numbers of eight bytes each.
fn numbers<const SIGNED: bool>(bytes: &[u8]) -> (Vec<i64>, Vec<u64>) {
    let words = bytes.as_chunks::<8>().0.iter().copied();
    match SIGNED {
        true => (collected(words.map(i64::from_ne_bytes)), Vec::new()),
        false => (Vec::new(), collected(words.map(u64::from_ne_bytes))),
    }
}

/// What is asked of one call: the shapes of both arrays, how many pairs there are, and what computes where.
struct Asked {
    shapes: [Vec<usize>; 2],
    batch: usize,
    route: Option<ConvolutionRoute>,
    device: Device,
}

impl Asked {
    /// All convolutions of the batch. The second operand may be one for all.
    fn convolve<A: Operand, B: Operand, R: Output>(
        &self,
        a: &[A],
        b: &[B],
    ) -> Result<Vec<R>, RouteError> {
        let [first, second] = &self.shapes;
        let (largest_a, largest_b) = (convolution::largest(a), convolution::largest(b));
        if self.route.is_none() && self.device == Device::Cpu {
            let problem = Convolution::linear_shaped(first, second);
            let plan = problem.magnitudes(largest_a, largest_b).batch(self.batch);
            return Ok(plan.plan()?.process(a, b)?);
        }
        // What has kernels on a GPU; weighing the others would take longer than most convolutions.
        let route = self.route.unwrap_or(ConvolutionRoute::Ntt);
        let plan = ExactConvolution::linear_shaped(first, second)
            .magnitudes(largest_a, largest_b)
            .batch(self.batch)
            .route(route)
            .device(self.device)
            .plan()?;
        let chosen = plan.chosen();
        if matches!(self.device, Device::Cuda(_)) && chosen.device == Device::Cpu {
            return Err(RouteError::Transform(FftError::Unsupported(format!(
                "the route {route} runs on the processor here ({}); take device=\"cpu\", or shorter arrays and the route ntt",
                chosen.why
            ))));
        }
        plan.process(a, b)
    }

    fn bytes<A: Operand, B: Operand>(
        &self,
        a: &[A],
        b: &[B],
        signed: bool,
    ) -> Result<Vec<u8>, RouteError> {
        Ok(match signed {
            true => {
                let results: Vec<i64> = self.convolve(a, b)?;
                collected(results.into_iter().flat_map(i64::to_ne_bytes))
            }
            false => {
                let results: Vec<u64> = self.convolve(a, b)?;
                collected(results.into_iter().flat_map(u64::to_ne_bytes))
            }
        })
    }
}

/// Linear convolutions of arrays of 64-bit integers, with or without sign, `batch` of them one behind the other; the second array may be one for all.
#[pyfunction]
#[allow(
    clippy::too_many_arguments,
    reason = "two arrays, each with type and shape"
)]
pub(crate) fn convolve_integers<'py>(
    py: Python<'py>,
    a: &[u8],
    a_signed: bool,
    a_shape: Vec<usize>,
    b: &[u8],
    b_signed: bool,
    b_shape: Vec<usize>,
    batch: usize,
    signed: bool,
    route: Option<&str>,
    device: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let route = route.map(str::parse::<ConvolutionRoute>).transpose();
    let asked = Asked {
        shapes: [a_shape, b_shape],
        batch,
        route: route.map_err(|error| failed(py, &error))?,
        device: options::device(device).map_err(|error| exception(py, &error))?,
    };
    let work = || match (a_signed, b_signed) {
        (true, true) => {
            let (a, b) = (numbers::<true>(a).0, numbers::<true>(b).0);
            asked.bytes(&a, &b, signed)
        }
        (true, false) => {
            let (a, b) = (numbers::<true>(a).0, numbers::<false>(b).1);
            asked.bytes(&a, &b, signed)
        }
        (false, true) => {
            let (a, b) = (numbers::<false>(a).1, numbers::<true>(b).0);
            asked.bytes(&a, &b, signed)
        }
        (false, false) => {
            let (a, b) = (numbers::<false>(a).1, numbers::<false>(b).1);
            asked.bytes(&a, &b, signed)
        }
    };
    let results = run(py, threads, work)?.map_err(|error| failed(py, &error))?;
    bytes_object(py, &results)
}

/// A bound of the error of every element of a convolution whose spectra were multiplied (`ozfft::convolution`, `error_of_spectra`).
#[pyfunction]
pub(crate) fn error_of_spectra(
    points: usize,
    first: (f64, f64, f64),
    second: (f64, f64, f64),
    inverse: f64,
    rounding: f64,
    smallest_normal: f64,
) -> f64 {
    convolution::error_of_spectra(points, [first, second], inverse, rounding, smallest_normal)
}

/// The product of two integers without sign, their lowest bytes first. On a GPU those that are long enough for a transform.
#[pyfunction]
pub(crate) fn multiply_bytes<'py>(
    py: Python<'py>,
    a: &[u8],
    b: &[u8],
    device: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let device = options::device(device).map_err(|error| exception(py, &error))?;
    let limbs = |bytes: &[u8]| -> Vec<u64> {
        let limb = |piece: &[u8]| {
            let mut whole = [0; 8];
            whole[..piece.len()].copy_from_slice(piece);
            u64::from_le_bytes(whole)
        };
        collected(bytes.chunks(8).map(limb))
    };
    let product = run(py, threads, || {
        let multiplier = Multiplier::new(device)?;
        let product = multiplier.multiply_limbs(&limbs(a), &limbs(b))?;
        let bytes = product.digits.into_iter().flat_map(u64::to_le_bytes);
        Ok::<Vec<u8>, FftError>(collected(bytes))
    })?;
    let product = product.map_err(|error| exception(py, &error))?;
    bytes_object(py, &product)
}

/// Bytes of Python, or its MemoryError.
fn bytes_object<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bytes.len(), |target| {
        target.copy_from_slice(bytes);
        Ok(())
    })
}

/// Runs work without the interpreter's lock, on so many threads.
fn run<R: Send>(py: Python<'_>, threads: usize, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    let outcome = py.detach(|| {
        let _call = Call::enter();
        count_execution();
        Process::current().with_threads(threads, work)
    });
    outcome.map_err(|error| crate::errors::exception(py, &error))
}
