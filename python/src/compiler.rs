//! CUDA's compiler, for GPU kernels of lengths that were not compiled in advance.

use crate::gate::Call;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Looks for it among the packages in these folders as well.
#[pyfunction]
pub(crate) fn look_for_compiler_in(folders: Vec<PathBuf>) {
    ozfft::look_for_cuda_compiler_in(&folders);
}

/// Whether there is one; and which and where, or why not and how to get it.
#[pyfunction]
pub(crate) fn compiler(py: Python<'_>) -> (bool, String) {
    py.detach(|| {
        let _call = Call::enter();
        match ozfft::cuda_compiler() {
            Ok(found) => {
                let (major, minor) = found.version;
                let path = found.path.display();
                (true, format!("NVRTC {major}.{minor}, {path}"))
            }
            Err(error) => (false, error.to_string()),
        }
    })
}
