//! The extension behind the Python package `ozfft`: plans, and their execution on memory that Python describes.
//!
//! No numerics and no semantics of numpy are here: what shape a call has, what is cast, cropped or padded is decided in
//! Python (`python/ozfft`), where it can be read beside numpy's.

mod compiler;
mod convolve;
mod cosine;
mod errors;
mod gate;
mod key;
mod options;
mod plan;
mod plan_cache;
mod planned;
mod process;

use pyo3::prelude::*;

/// Small allocations do not end the interpreter where memory does: large ones, which follow, are errors.
#[global_allocator]
static ALLOCATOR: fallible_memory::Reserving = fallible_memory::Reserving::system();

/// Plans and runs transforms for the package `ozfft`.
#[pymodule]
mod _ozfft {
    #[pymodule_export]
    use crate::compiler::{compiler, look_for_compiler_in};
    #[pymodule_export]
    use crate::convolve::{convolve_integers, error_of_spectra, multiply_bytes};
    #[pymodule_export]
    use crate::cosine::cosine;
    #[pymodule_export]
    use crate::gate::{after_fork_in_child, after_fork_in_parent, before_fork};
    #[pymodule_export]
    use crate::plan::{
        Plan, Prepared, clear_plans, plan, plan_memory, prepared, set_plan_memory, units,
    };
    #[pymodule_export]
    use crate::process::executions;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        fallible_memory::catches_everywhere();
        crate::key::Key::read_once(module.py())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
