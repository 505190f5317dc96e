//! A GPU for the commands that measure and check: opening it, its memory, and transforms of arrays in that memory.
//!
//! Everything that the driver cannot check is in here: other modules see arrays with lengths, and calls that return
//! when the GPU has done its work.
#![allow(unsafe_code)]

mod cufft;
mod facts;
mod kernels;
mod memory;
mod residue_paths;

pub use crate::failure::DeviceFailure;
use crate::failure::Failure;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{CudaContext, CudaStream, DriverError, sys};
pub use cufft::{CuFft, Precision, cufft_version};
pub use facts::{Clocks, DeviceFacts, clocks_now};
pub use kernels::KernelFacts;
pub use memory::{DeviceArrays, Memory};
use ozfft::{DevicePointer, GpuUnit, Kind, Plan, Problem, Real, Substrate};
pub use residue_paths::{
    Numbers, RESIDUE_PATHS, RESIDUE_PATHS_OF_KINDS, ResiduePath, Run, faults_of_block,
};
use std::sync::Arc;
use std::time::Instant;

/// Names what the driver was asked to do.
pub fn failed(action: &'static str) -> impl FnOnce(DriverError) -> DeviceFailure {
    move |source| DeviceFailure::Driver { action, source }
}

/// One variant of ozfft on a GPU.
pub struct Variant {
    pub name: &'static str,
    pub apply: fn(Problem) -> Problem,
}

/// The name of the variant without floating-point instructions.
pub const INTEGERS_ONLY: &str = "integers-only";

/// All variants that can be requested; those that a GPU or a problem does not have are rejected by the planner. To add one
/// is a line here.
pub const VARIANTS: &[Variant] = &[
    Variant {
        name: "auto",
        apply: |problem| problem.substrate(Substrate::Auto),
    },
    Variant {
        name: "int8-mma-sync",
        apply: |problem| problem.substrate(GpuUnit::Int8MmaSync),
    },
    Variant {
        name: "int8-wgmma",
        apply: |problem| problem.substrate(GpuUnit::Int8Wgmma),
    },
    Variant {
        name: INTEGERS_ONLY,
        apply: |problem| problem.integers_only(true),
    },
    Variant {
        name: "fp8-wgmma",
        apply: |problem| problem.substrate(GpuUnit::Fp8Wgmma),
    },
    Variant {
        name: "fp8-integers-only",
        apply: |problem| problem.substrate(GpuUnit::Fp8Wgmma).integers_only(true),
    },
    Variant {
        name: "fp8-mma-sync",
        apply: |problem| problem.substrate(GpuUnit::Fp8MmaSync),
    },
    Variant {
        name: "fp8-mma-sync-integers-only",
        apply: |problem| problem.substrate(GpuUnit::Fp8MmaSync).integers_only(true),
    },
    Variant {
        name: "f16-mma-sync",
        apply: |problem| problem.substrate(GpuUnit::F16MmaSync),
    },
    Variant {
        name: "f16-mma-sync-integers-only",
        apply: |problem| problem.substrate(GpuUnit::F16MmaSync).integers_only(true),
    },
];

/// So many of them, the first ones, are drawn by random cases of `selftest`. Others compile kernels for every length, which takes its time: `--substrate`
/// asks for them.
pub const DRAWN_VARIANTS: usize = 6;

/// An open GPU.
pub struct Gpu {
    pub context: Arc<CudaContext>,
    pub stream: Arc<CudaStream>,
    pub facts: DeviceFacts,
    pub capability: (i32, i32),
}

/// Bytes that work on a device needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    pub input: usize,
    pub output: usize,
    pub workspace: usize,
}

/// Something that can be put into a stream and reads one array and writes another.
pub trait DeviceWork {
    /// Bytes that the three arrays must have.
    fn needs(&self) -> Needs;

    /// Puts the work into the stream, or a part of it when it fails.
    ///
    /// # Safety
    /// The addresses of input, output and workspace are memory of the current context of at least the lengths needed,
    /// which nobody else uses, and these and the work stay alive until the stream has come so far.
    unsafe fn queue(&self, addresses: [u64; 3], stream: u64) -> Result<(), Failure>;
}

impl<T: Real> DeviceWork for Plan<T> {
    fn needs(&self) -> Needs {
        let problem = self.problem();
        let (real, complex) = (size_of::<T>(), 2 * size_of::<T>());
        let (read, written) = match problem.kind() {
            Kind::ComplexToComplex => (complex, complex),
            Kind::RealToComplex => (real, complex),
            Kind::ComplexToReal => (complex, real),
        };
        Needs {
            input: read * problem.input_len(),
            output: written * problem.output_len(),
            workspace: self.device_workspace_len(),
        }
    }

    unsafe fn queue(&self, addresses: [u64; 3], stream: u64) -> Result<(), Failure> {
        let [input, output, workspace] = addresses.map(DevicePointer);
        // SAFETY: the caller's promise.
        Ok(unsafe { self.process_device(input, output, workspace, stream) }?)
    }
}

/// Plans that the planner keeps, too.
impl<W: DeviceWork> DeviceWork for Arc<W> {
    fn needs(&self) -> Needs {
        (**self).needs()
    }

    unsafe fn queue(&self, addresses: [u64; 3], stream: u64) -> Result<(), Failure> {
        // SAFETY: the caller's promise.
        unsafe { (**self).queue(addresses, stream) }
    }
}

/// The same from where results go to where numbers come from.
pub struct Backwards<W>(pub W);

impl<W: DeviceWork> DeviceWork for Backwards<W> {
    fn needs(&self) -> Needs {
        let needs = self.0.needs();
        Needs {
            input: needs.output,
            output: needs.input,
            ..needs
        }
    }

    unsafe fn queue(
        &self,
        [input, output, workspace]: [u64; 3],
        stream: u64,
    ) -> Result<(), Failure> {
        // SAFETY: the caller's promise, with both arrays exchanged as in `needs`.
        unsafe { self.0.queue([output, input, workspace], stream) }
    }
}

/// A copy of so many bytes: what the memory can do at best.
pub struct Copy(pub usize);

impl DeviceWork for Copy {
    fn needs(&self) -> Needs {
        Needs {
            input: self.0,
            output: self.0,
            workspace: 0,
        }
    }

    unsafe fn queue(&self, [input, output, _]: [u64; 3], stream: u64) -> Result<(), Failure> {
        let stream = stream as sys::CUstream;
        // SAFETY: the caller's promise.
        let copied =
            unsafe { cudarc::driver::result::memcpy_dtod_async(output, input, self.0, stream) };
        Ok(copied.map_err(failed("copy within the device"))?)
    }
}

/// Seconds of one call.
#[derive(Debug, Clone, Copy)]
pub struct CallSeconds {
    /// Until it returns.
    pub queued: f64,
    /// Until its result is there.
    pub finished: f64,
}

impl Gpu {
    /// Opens a GPU by its number.
    pub fn open(ordinal: usize) -> Result<Gpu, DeviceFailure> {
        // SAFETY: loads the driver's library and closes it again. Everything else of cudarc panics without it.
        if !unsafe { sys::is_culib_present() } {
            return Err(DeviceFailure::NoDriver);
        }
        cudarc::driver::result::init().map_err(failed("start"))?;
        let count = CudaContext::device_count().map_err(failed("count its devices"))?;
        let count = usize::try_from(count).unwrap_or(0);
        if ordinal >= count {
            let asked = ordinal;
            return Err(DeviceFailure::NoDevice { asked, count });
        }
        let context = CudaContext::new(ordinal).map_err(failed("open the device"))?;
        let (facts, capability) = facts::facts(&context).map_err(failed("describe the device"))?;
        if capability < (8, 0) {
            let (name, (major, minor)) = (facts.name, capability);
            return Err(DeviceFailure::TooOld { name, major, minor });
        }
        Ok(Gpu {
            stream: context.default_stream(),
            context,
            facts,
            capability,
        })
    }

    /// Arrays that suffice for all of these.
    pub fn arrays_for(&self, works: &[&dyn DeviceWork]) -> Result<DeviceArrays, DeviceFailure> {
        let most = |bytes: fn(&Needs) -> usize| {
            let needs = works.iter().map(|work| bytes(&work.needs()));
            needs.max().unwrap_or(0)
        };
        DeviceArrays::new(
            &self.context,
            Needs {
                input: most(|needs| needs.input),
                output: most(|needs| needs.output),
                workspace: most(|needs| needs.workspace),
            },
        )
    }

    /// Does the work so many times, one after the other, and waits; returns the seconds of one between two events.
    pub fn run(
        &self,
        work: &dyn DeviceWork,
        arrays: &mut DeviceArrays,
        repeats: u32,
    ) -> Result<f64, Failure> {
        let event = || {
            let event = self.stream.record_event(Some(CU_EVENT_DEFAULT));
            event.map_err(failed("record an event"))
        };
        let addresses = arrays.addresses(work.needs())?;
        self.context
            .bind_to_thread()
            .map_err(failed("use the device"))?;
        let start = event()?;
        let stream = self.stream.cu_stream() as u64;
        let mut queued = Ok(());
        for _ in 0..repeats {
            // SAFETY: lengths have just been checked; arrays and work are borrowed until the wait below is over.
            queued = queued.and_then(|()| unsafe { work.queue(addresses, stream) });
        }
        let end = event();
        // Whatever failed: nothing may run any more when the arrays are given back.
        let waited = self.stream.synchronize();
        queued?;
        waited.map_err(failed("finish its work"))?;
        let milliseconds = start.elapsed_ms(&end?).map_err(failed("compare events"))?;
        Ok(f64::from(milliseconds) * 1e-3 / f64::from(repeats.max(1)))
    }

    /// What a caller of single transforms waits for.
    pub fn call(
        &self,
        work: &dyn DeviceWork,
        arrays: &mut DeviceArrays,
    ) -> Result<CallSeconds, Failure> {
        let addresses = arrays.addresses(work.needs())?;
        self.context
            .bind_to_thread()
            .map_err(failed("use the device"))?;
        let stream = self.stream.cu_stream() as u64;
        let start = Instant::now();
        // SAFETY: lengths have just been checked; arrays and work are borrowed until the wait is over.
        let outcome = unsafe { work.queue(addresses, stream) };
        let queued = start.elapsed().as_secs_f64();
        let waited = self.stream.synchronize();
        let finished = start.elapsed().as_secs_f64();
        outcome?;
        waited.map_err(failed("finish its work"))?;
        Ok(CallSeconds { queued, finished })
    }
}
