//! Exact convolutions of integers, which Python gives as bytes in the machine's order.

use crate::errors::named;
use crate::gate::Call;
use crate::process::{Process, count_execution};
use ozfft::convolution::{self, ConvolutionError, Operand, Output};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

fn failed(py: Python<'_>, error: &ConvolutionError) -> PyErr {
    let name = match error {
        ConvolutionError::ResultMayNotFit { .. }
        | ConvolutionError::MayBeNegative { .. }
        | ConvolutionError::TooManyBits { .. } => "IntegerRangeError",
        _ => "ShapeError",
    };
    named(py, name, &error.to_string())
}

/// Numbers of eight bytes each.
fn numbers<const SIGNED: bool>(bytes: &[u8]) -> (Vec<i64>, Vec<u64>) {
    let words = bytes.as_chunks::<8>().0.iter().copied();
    match SIGNED {
        true => (words.map(i64::from_ne_bytes).collect(), Vec::new()),
        false => (Vec::new(), words.map(u64::from_ne_bytes).collect()),
    }
}

fn computed<A: Operand + Default, B: Operand + Default>(
    (a, first): (&[A], &[usize]),
    (b, second): (&[B], &[usize]),
    signed: bool,
) -> Result<Vec<u8>, ConvolutionError> {
    fn bytes<R: Output>(
        results: Result<Vec<R>, ConvolutionError>,
        one: impl Fn(R) -> [u8; 8],
    ) -> Result<Vec<u8>, ConvolutionError> {
        Ok(results?.into_iter().flat_map(one).collect())
    }
    match signed {
        true => bytes(
            convolution::convolve_shaped((a, first), (b, second)),
            i64::to_ne_bytes,
        ),
        false => bytes(
            convolution::convolve_shaped((a, first), (b, second)),
            u64::to_ne_bytes,
        ),
    }
}

/// The linear convolution of arrays of 64-bit integers, with or without sign.
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
    signed: bool,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let work = || match (a_signed, b_signed) {
        (true, true) => {
            let (a, b) = (numbers::<true>(a).0, numbers::<true>(b).0);
            computed((&a, &a_shape), (&b, &b_shape), signed)
        }
        (true, false) => {
            let (a, b) = (numbers::<true>(a).0, numbers::<false>(b).1);
            computed((&a, &a_shape), (&b, &b_shape), signed)
        }
        (false, true) => {
            let (a, b) = (numbers::<false>(a).1, numbers::<true>(b).0);
            computed((&a, &a_shape), (&b, &b_shape), signed)
        }
        (false, false) => {
            let (a, b) = (numbers::<false>(a).1, numbers::<false>(b).1);
            computed((&a, &a_shape), (&b, &b_shape), signed)
        }
    };
    let results = run(py, threads, work)?.map_err(|error| failed(py, &error))?;
    Ok(PyBytes::new(py, &results))
}

/// The product of two integers without sign, their lowest bytes first.
#[pyfunction]
pub(crate) fn multiply_bytes<'py>(
    py: Python<'py>,
    a: &[u8],
    b: &[u8],
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let limbs = |bytes: &[u8]| -> Vec<u64> {
        let limb = |piece: &[u8]| {
            let mut whole = [0; 8];
            whole[..piece.len()].copy_from_slice(piece);
            u64::from_le_bytes(whole)
        };
        bytes.chunks(8).map(limb).collect()
    };
    let product = run(py, threads, || {
        let product = convolution::multiply_limbs(&limbs(a), &limbs(b));
        product
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .collect::<Vec<u8>>()
    })?;
    Ok(PyBytes::new(py, &product))
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
