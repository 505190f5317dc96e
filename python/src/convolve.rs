//! Exact convolutions of integers, which Python gives as bytes in the machine's order.

use crate::errors::named;
use crate::gate::Call;
use crate::process::{Process, count_execution};
use ozfft::convolution::{
    self, ConvolutionError, ConvolutionRoute, ExactConvolution, Operand, Output, RouteError,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

fn failed(py: Python<'_>, error: &RouteError) -> PyErr {
    let name = match error {
        RouteError::Convolution(
            ConvolutionError::ResultMayNotFit { .. }
            | ConvolutionError::MayBeNegative { .. }
            | ConvolutionError::TooManyBits { .. },
        ) => "IntegerRangeError",
        RouteError::Convolution(_) => "ShapeError",
        _ => "UnsupportedError",
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

/// An array in the places that its elements have in a larger one, up to the last.
fn spread<A: Operand + Default>((numbers, shape): (&[A], &[usize]), whole: &[usize]) -> Vec<A> {
    let strides: Vec<usize> = (0..whole.len())
        .map(|axis| whole[axis + 1..].iter().product())
        .collect();
    let place = |mut number: usize| -> usize {
        let mut place = 0;
        for (&length, &stride) in shape.iter().zip(&strides).rev() {
            place += number % length * stride;
            number /= length;
        }
        place
    };
    let last = numbers.len().checked_sub(1).map_or(0, place);
    let mut spread = vec![A::default(); last + 1];
    for (number, &value) in numbers.iter().enumerate() {
        spread[place(number)] = value;
    }
    spread
}

/// By a route: the whole is one line, as long as it has elements.
fn by_route<A: Operand + Default, B: Operand + Default, R: Output>(
    a: (&[A], &[usize]),
    b: (&[B], &[usize]),
    route: ConvolutionRoute,
) -> Result<Vec<R>, RouteError> {
    let sides = a.1.iter().zip(b.1);
    let whole: Vec<usize> = sides.map(|(first, second)| first + second - 1).collect();
    let (a, b) = (spread(a, &whole), spread(b, &whole));
    let plan = ExactConvolution::linear(a.len(), b.len())
        .magnitudes(convolution::largest(&a), convolution::largest(&b))
        .route(route)
        .plan()?;
    let mut results = plan.process(&a, &b)?;
    results.resize(whole.iter().product(), R::default());
    Ok(results)
}

fn computed<A: Operand + Default, B: Operand + Default>(
    a: (&[A], &[usize]),
    b: (&[B], &[usize]),
    signed: bool,
    route: Option<ConvolutionRoute>,
) -> Result<Vec<u8>, RouteError> {
    fn bytes<A: Operand + Default, B: Operand + Default, R: Output>(
        a: (&[A], &[usize]),
        b: (&[B], &[usize]),
        route: Option<ConvolutionRoute>,
        one: impl Fn(R) -> [u8; 8],
    ) -> Result<Vec<u8>, RouteError> {
        let results: Vec<R> = match route {
            None => convolution::convolve_shaped(a, b)?,
            Some(route) => by_route(a, b, route)?,
        };
        Ok(results.into_iter().flat_map(one).collect())
    }
    match signed {
        true => bytes(a, b, route, i64::to_ne_bytes),
        false => bytes(a, b, route, u64::to_ne_bytes),
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
    route: Option<&str>,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let route = route.map(str::parse::<ConvolutionRoute>).transpose();
    let route = route.map_err(|error| failed(py, &error))?;
    let work = || match (a_signed, b_signed) {
        (true, true) => {
            let (a, b) = (numbers::<true>(a).0, numbers::<true>(b).0);
            computed((&a, &a_shape), (&b, &b_shape), signed, route)
        }
        (true, false) => {
            let (a, b) = (numbers::<true>(a).0, numbers::<false>(b).1);
            computed((&a, &a_shape), (&b, &b_shape), signed, route)
        }
        (false, true) => {
            let (a, b) = (numbers::<false>(a).1, numbers::<true>(b).0);
            computed((&a, &a_shape), (&b, &b_shape), signed, route)
        }
        (false, false) => {
            let (a, b) = (numbers::<false>(a).1, numbers::<false>(b).1);
            computed((&a, &a_shape), (&b, &b_shape), signed, route)
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
