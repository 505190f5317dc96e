//! Cosine and sine transforms on memory that Python describes.

use crate::errors::exception;
use crate::gate::Call;
use crate::key::{Key, no_precision};
use crate::options;
use crate::plan_cache::Cached;
use crate::planned::Cosine;
use crate::process::{Process, count_execution};
use ozfft::dct::DctPlan;
use ozfft::{FftError, Real};
use pyo3::prelude::*;
use std::sync::Arc;

fn find_or_make(key: &Key) -> Result<Cosine, FftError> {
    let process = Process::current();
    if let Some(Cached::Cosine(planned)) = process.plans().get(key) {
        return Ok(planned);
    }
    let arrays = key.arrays()?;
    let (kind, orthogonal) = options::cosine(&key.kind)?;
    let made = process.with_threads(key.threads, || match key.precision.as_str() {
        "f8" => DctPlan::new(&process.double, kind, orthogonal, &arrays)
            .map(|plan| Cosine::Double(Arc::new(plan))),
        "f4" => DctPlan::new(&process.single, kind, orthogonal, &arrays)
            .map(|plan| Cosine::Single(Arc::new(plan))),
        other => Err(no_precision(other)),
    })??;
    let cached = Cached::Cosine(made.clone());
    if process.plans().insert(key.clone(), cached) {
        process.forget_tables();
    }
    Ok(made)
}

/// Transforms memory of this machine, from the addresses of the lowest elements of input and output. `key` is as for `plan`, with a kind
/// of [`options::cosine`].
///
/// The caller promises what the key says of the layouts, that both arrays stay where they are, and that they share no memory.
/// `ozfft._cosine` keeps that promise.
#[pyfunction]
pub(crate) fn cosine(py: Python<'_>, key: Key, input: usize, output: usize) -> PyResult<()> {
    let ran = py.detach(|| {
        let _call = Call::enter();
        let planned = find_or_make(&key)?;
        Process::current().with_threads(key.threads, || match &planned {
            // SAFETY: the caller's promise, for both.
            Cosine::Double(plan) => unsafe { run(plan, input, output) },
            Cosine::Single(plan) => unsafe { run(plan, input, output) },
        })??;
        count_execution();
        Ok(())
    });
    ran.map_err(|error: FftError| exception(py, &error))
}

/// # Safety
/// Both addresses begin arrays of the plan's lengths, which nothing else writes during the call, and of which the second may be written;
/// they have no byte in common.
unsafe fn run<T: Real>(plan: &DctPlan<T>, input: usize, output: usize) -> Result<(), FftError> {
    // SAFETY: the caller's promise.
    let (from, to) = unsafe {
        (
            std::slice::from_raw_parts(input as *const T, plan.input_len()),
            std::slice::from_raw_parts_mut(output as *mut T, plan.output_len()),
        )
    };
    plan.process(from, to)
}
