//! Machine code on its way to a GPU: the context that it is loaded into, and the modules of the library, each loaded when it is first needed.

use crate::error::FftError;
use crate::executor::cuda::device::modules::{Module, modules};
use crate::sync::lock;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::{Mutex, OnceLock};

/// What the driver said, as an error of ours.
pub(crate) fn failure(action: &'static str, error: DriverError) -> FftError {
    let text = |text: Result<&std::ffi::CStr, DriverError>| {
        text.map_or_else(
            |_| "unknown".to_string(),
            |text| text.to_string_lossy().into_owned(),
        )
    };
    FftError::DeviceFailure {
        action,
        code: error.0 as u32,
        name: text(error.error_name()),
        text: text(error.error_string()),
    }
}

/// Makes the device's context current on this thread, and the one before it again when dropped: callers may have a
/// context of their own. Mostly it is current already, and nothing has to be done.
pub(crate) struct Current {
    entered: bool,
}

impl Current {
    pub(crate) fn enter(context: sys::CUcontext) -> Result<Current, FftError> {
        let mut current = std::ptr::null_mut();
        // SAFETY: asks for a handle and nothing else.
        let known = unsafe { sys::cuCtxGetCurrent(&mut current) }.result();
        let entered = known.is_err() || current != context;
        if entered {
            // SAFETY: the context is alive as long as the process.
            unsafe { sys::cuCtxPushCurrent_v2(context) }
                .result()
                .map_err(|error| failure("entering the context", error))?;
        }
        Ok(Current { entered })
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        if !self.entered {
            return;
        }
        let mut context = std::ptr::null_mut();
        // SAFETY: pushed by `enter`. A failure leaves a context current, which harms nobody.
        let _ = unsafe { sys::cuCtxPopCurrent_v2(&mut context) };
    }
}

/// While it lives, this thread may load modules although a stream is being recorded, by whomever: loading puts nothing into streams.
struct BesideRecordings {
    before: sys::CUstreamCaptureMode,
}

impl BesideRecordings {
    fn enter() -> Result<Self, FftError> {
        let mut mode = sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: exchanges a property of this thread.
        unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut mode) }
            .result()
            .map_err(|error| failure("getting ready to load a module", error))?;
        Ok(BesideRecordings { before: mode })
    }
}

impl Drop for BesideRecordings {
    fn drop(&mut self) {
        // SAFETY: as above. What fails here has failed before.
        let _ = unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut self.before) };
    }
}

/// Loads machine code into the current context. `action` says what, should it fail.
pub(crate) fn load_module(image: &[u8], action: &'static str) -> Result<sys::CUmodule, FftError> {
    let _mode = BesideRecordings::enter()?;
    // SAFETY: the image is complete; the driver copies it.
    unsafe { result::module::load_data(image.as_ptr().cast::<c_void>()) }
        .map_err(|error| failure(action, error))
}

pub(crate) fn function_of(
    module: sys::CUmodule,
    kernel: &str,
) -> Result<sys::CUfunction, FftError> {
    let symbol =
        CString::new(kernel).unwrap_or_else(|error| unreachable!("names have no zeros: {error}"));
    // SAFETY: the module is loaded and is never unloaded.
    unsafe { result::module::get_function(module, symbol) }
        .map_err(|error| failure("finding a kernel", error))
}

/// A module, and its handle as an integer once it is loaded.
struct LoadedModule {
    module: Module,
    handle: OnceLock<usize>,
}

/// A kernel of a module, and its handle likewise.
struct LoadedKernel {
    /// Which module.
    module: usize,
    /// Its blocks have more than 48 KB of shared memory.
    is_large: bool,
    handle: OnceLock<usize>,
}

/// All kernels of the library that are not the template's.
pub(crate) struct Kernels {
    modules: Vec<LoadedModule>,
    kernels: HashMap<&'static str, LoadedKernel>,
    /// One module is loaded at a time.
    loading: Mutex<()>,
    /// Bytes of shared memory that a block may have.
    shared_memory: i32,
}

impl Kernels {
    /// Nothing is loaded yet.
    pub(crate) fn new(is_hopper: bool, shared_memory: i32) -> Self {
        let modules = modules(is_hopper).into_iter().map(|module| LoadedModule {
            module,
            handle: OnceLock::new(),
        });
        let modules: Vec<LoadedModule> = modules.collect();
        let kernels = modules.iter().enumerate().flat_map(|(number, loaded)| {
            let names = loaded.module.kernels.iter().enumerate();
            names.map(move |(place, &name)| {
                let kernel = LoadedKernel {
                    module: number,
                    is_large: place < loaded.module.large,
                    handle: OnceLock::new(),
                };
                (name, kernel)
            })
        });
        let kernels = kernels.collect();
        Kernels {
            modules,
            kernels,
            loading: Mutex::default(),
            shared_memory,
        }
    }

    /// A module of the list, in the current context; loaded by whoever comes first. A failure is not kept: the next plan tries again.
    pub(crate) fn module(&self, number: usize) -> Result<sys::CUmodule, FftError> {
        let LoadedModule { module, handle } = &self.modules[number];
        let _loading = lock(&self.loading);
        if let Some(&handle) = handle.get() {
            return Ok(handle as sys::CUmodule);
        }
        let loaded = load_module(module.image, module.loading)?;
        Ok(*handle.get_or_init(|| loaded as usize) as sys::CUmodule)
    }

    /// A kernel of the modules, in the current context, and whether it waits for the launch before by itself; none of the template's.
    /// [`Machine::prepare`](crate::executor::cuda::device::machine::Machine::prepare) has mostly found it before.
    pub(crate) fn function(&self, name: &str) -> Result<Option<(sys::CUfunction, bool)>, FftError> {
        let Some(kernel) = self.kernels.get(name) else {
            return Ok(None);
        };
        let waits = self.modules[kernel.module].module.waits;
        if let Some(&handle) = kernel.handle.get() {
            return Ok(Some((handle as sys::CUfunction, waits)));
        }
        let module = self.module(kernel.module)?;
        let _mode = BesideRecordings::enter()?;
        let function = function_of(module, name)?;
        if kernel.is_large {
            let attribute =
                sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let bytes = self.shared_memory;
            // SAFETY: the function is the module's, which is never unloaded.
            unsafe { result::function::set_function_attribute(function, attribute, bytes) }
                .map_err(|error| failure("asking for shared memory", error))?;
        }
        // Others may have come as far: the handle is the same.
        let handle = *kernel.handle.get_or_init(|| function as usize);
        Ok(Some((handle as sys::CUfunction, waits)))
    }
}
