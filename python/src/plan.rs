//! Plans as Python sees them, cached by everything that they depend on.

use crate::errors::exception;
use crate::gate::Call;
use crate::key::{Key, no_precision};
use crate::plan_cache::Cached;
use crate::planned::{Planned, either};
use crate::process::{Process, count_execution};
use num_complex::Complex;
use ozfft::{DevicePointer, FftError, Kind, Problem, Real};
use pyo3::prelude::*;

fn find_or_make(key: &Key) -> Result<Planned, FftError> {
    let process = Process::current();
    if let Some(Cached::Fourier(planned)) = process.plans().get(key) {
        return Ok(planned);
    }
    let problem = key.problem()?;
    // Made without the lock: tables of long transforms take a while.
    let made = process.with_threads(key.threads, || match key.precision.as_str() {
        "f8" => process.double.plan(&problem).map(Planned::Double),
        "f4" => process.single.plan(&problem).map(Planned::Single),
        other => Err(no_precision(other)),
    })??;
    let cached = Cached::Fourier(made.clone());
    if process.plans().insert(key.clone(), cached) {
        process.forget_tables();
    }
    Ok(made)
}

/// A transform that is ready to run.
#[pyclass(frozen, module = "ozfft._ozfft")]
pub(crate) struct Plan {
    planned: Planned,
    threads: usize,
}

/// Plans a transform, or returns the plan made before. `key` is a mapping with the names of [`Key`].
#[pyfunction]
pub(crate) fn plan(py: Python<'_>, key: Key) -> PyResult<Plan> {
    let threads = key.threads;
    let planned = py.detach(|| {
        let _call = Call::enter();
        find_or_make(&key)
    });
    match planned {
        Ok(planned) => Ok(Plan { planned, threads }),
        Err(error) => Err(exception(py, &error)),
    }
}

/// Number of cached plans, their estimated bytes, and the most that they may hold.
#[pyfunction]
pub(crate) fn plan_memory(py: Python<'_>) -> (usize, usize, usize) {
    py.detach(|| {
        let _call = Call::enter();
        let plans = Process::current().plans();
        (plans.len(), plans.bytes(), plans.limit())
    })
}

/// Sets the most bytes that cached plans may hold.
#[pyfunction]
pub(crate) fn set_plan_memory(py: Python<'_>, limit: usize) {
    py.detach(|| {
        let _call = Call::enter();
        let process = Process::current();
        if process.plans().set_limit(limit) {
            process.forget_tables();
        }
    });
}

/// Forgets plans and tables of the processor.
#[pyfunction]
pub(crate) fn clear_plans(py: Python<'_>) {
    py.detach(|| {
        let _call = Call::enter();
        let process = Process::current();
        process.plans().clear();
        process.forget_tables();
    });
}

/// The matrix units of this machine's processor, slowest first.
#[pyfunction]
pub(crate) fn units(py: Python<'_>) -> Vec<&'static str> {
    py.detach(|| {
        let _call = Call::enter();
        let planner = ozfft::Planner::<f64>::new();
        let plan = |unit| {
            let problem = Problem::complex(&[16]).reproducible(true).substrate(unit);
            planner.plan(&problem.threads(1)).ok()
        };
        let plans = ozfft::CpuUnit::INTEGERS
            .iter()
            .rev()
            .copied()
            .filter_map(plan);
        plans.map(|plan| plan.substrate()).collect()
    })
}

#[pymethods]
impl Plan {
    /// Relative L2 error that no input exceeds.
    #[getter]
    fn bound(&self) -> f64 {
        either!(&self.planned, plan => plan.bound())
    }

    /// Whether there is a proof of the bound.
    #[getter]
    fn bound_is_proven(&self) -> bool {
        either!(&self.planned, plan => plan.bound_is_proven())
    }

    /// Whether it is proven that every input keeps the error that was asked for.
    #[getter]
    fn accuracy_is_proven(&self) -> bool {
        either!(&self.planned, plan => plan.accuracy_is_proven())
    }

    /// Relative L2 error to expect of random input.
    #[getter]
    fn expected(&self) -> f64 {
        either!(&self.planned, plan => plan.expected())
    }

    /// The engine that runs.
    #[getter]
    fn engine(&self) -> String {
        either!(&self.planned, plan => plan.engine().to_string())
    }

    /// The matrix unit that runs.
    #[getter]
    fn substrate(&self) -> &'static str {
        either!(&self.planned, plan => plan.substrate())
    }

    /// The device that runs.
    #[getter]
    fn device(&self) -> String {
        self.planned.device().to_string()
    }

    /// Steps, digits, unit, bound, workspace, and why.
    fn describe(&self) -> String {
        either!(&self.planned, plan => plan.to_string())
    }

    /// Bytes of device memory that `run_device` needs.
    #[getter]
    fn device_workspace(&self) -> usize {
        either!(&self.planned, plan => plan.device_workspace_len())
    }

    /// Transforms memory of this machine, from the addresses of the lowest elements of input and output; equal ones
    /// transform in place.
    ///
    /// The caller promises what the key said of the layouts, that both arrays stay where they are, and that they share
    /// no memory unless they are equal. `ozfft._execute` keeps that promise.
    fn run(&self, py: Python<'_>, input: usize, output: usize) -> PyResult<()> {
        let ran = py.detach(|| {
            let _call = Call::enter();
            // SAFETY: the caller's promise.
            unsafe { run_planned(&self.planned, self.threads, input, output) }
        });
        ran.map_err(|error| exception(py, &error))
    }

    /// Puts the transform of device memory into a stream. The caller promises what `Plan::process_device` asks for.
    fn run_device(
        &self,
        py: Python<'_>,
        input: u64,
        output: u64,
        workspace: u64,
        stream: u64,
    ) -> PyResult<()> {
        let pointers = [input, output, workspace].map(DevicePointer);
        let [input, output, workspace] = pointers;
        let ran = py.detach(|| {
            let _call = Call::enter();
            // SAFETY: the caller's promise; plans for GPUs are never evicted, so this one outlives the stream's work.
            either!(&self.planned, plan => unsafe {
                plan.process_device(input, output, workspace, stream)
            })
        });
        match ran {
            Ok(()) => {
                count_execution();
                Ok(())
            }
            Err(error) => Err(exception(py, &error)),
        }
    }
}

/// A transform on the processor that is called again and again: its key, read once. Every call looks for the plan, which may have been
/// evicted, or made in a process that this one was forked from.
#[pyclass(frozen, module = "ozfft._ozfft")]
pub(crate) struct Prepared(Key);

/// `key` is as for [`plan`].
#[pyfunction]
pub(crate) fn prepared(key: Key) -> Prepared {
    Prepared(key)
}

#[pymethods]
impl Prepared {
    /// As `Plan.run`, with the same promise.
    fn run(&self, py: Python<'_>, input: usize, output: usize) -> PyResult<()> {
        let ran = py.detach(|| {
            let _call = Call::enter();
            let planned = find_or_make(&self.0)?;
            // SAFETY: the caller's promise.
            unsafe { run_planned(&planned, self.0.threads, input, output) }
        });
        ran.map_err(|error| exception(py, &error))
    }
}

/// Runs a plan on so many threads, and counts it.
///
/// # Safety
/// As for [`run_host`].
unsafe fn run_planned(
    planned: &Planned,
    threads: usize,
    input: usize,
    output: usize,
) -> Result<(), FftError> {
    Process::current().with_threads(threads, || {
        // SAFETY: the caller's promise, and the library has checked the lengths against the layouts.
        either!(planned, plan => unsafe { run_host(plan, input, output) })
    })??;
    count_execution();
    Ok(())
}

/// Runs a plan on host memory.
///
/// # Safety
/// Both addresses begin arrays of the problem's lengths, which nothing else writes during the call and of which the
/// second may be written; they are the same array or have no byte in common.
unsafe fn run_host<T: Real>(
    plan: &ozfft::Plan<T>,
    input: usize,
    output: usize,
) -> Result<(), FftError> {
    let problem = plan.problem();
    let (from, to) = (problem.input_len(), problem.output_len());
    // SAFETY: the caller's promise, for this and all that follow.
    unsafe fn read<'a, E>(address: usize, count: usize) -> &'a [E] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(address as *const E, count) }
    }
    unsafe fn write<'a, E>(address: usize, count: usize) -> &'a mut [E] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(address as *mut E, count) }
    }
    let result = match problem.kind() {
        Kind::ComplexToComplex if input == output => {
            plan.process(unsafe { write::<Complex<T>>(output, to) })
        }
        Kind::ComplexToComplex => plan
            .process_outofplace(unsafe { read::<Complex<T>>(input, from) }, unsafe {
                write(output, to)
            }),
        Kind::RealToComplex => plan
            .process_real_to_complex(unsafe { read::<T>(input, from) }, unsafe {
                write(output, to)
            }),
        Kind::ComplexToReal => plan
            .process_complex_to_real(unsafe { read::<Complex<T>>(input, from) }, unsafe {
                write::<T>(output, to)
            }),
    };
    match result {
        // Imaginary parts that no real signal has are taken as 0, as numpy and scipy take them; the output is complete.
        Err(FftError::NotHermitian { .. }) => Ok(()),
        other => other,
    }
}
