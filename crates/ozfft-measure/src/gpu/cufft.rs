//! cuFFT, NVIDIA's library: what the times and errors on a GPU are compared with. It is loaded where it is installed.
#![allow(unsafe_code)]

use super::{DeviceFailure, DeviceWork, Gpu, Needs, failed};
use crate::failure::Failure;
use cudarc::cufft::result::{self, CufftError};
use cudarc::cufft::sys::{self, cufftType as Type};
use ozfft::{Direction, Kind, Problem};
use serde::{Deserialize, Serialize};

/// What the arrays hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 64-bit floating point
    Double,
    /// 32-bit floating point
    Single,
}

impl Precision {
    /// Bytes of a real number.
    pub fn bytes(self) -> usize {
        match self {
            Precision::Double => 8,
            Precision::Single => 4,
        }
    }
}

/// A transform planned by cuFFT: contiguous arrays, out of place, unscaled.
pub struct CuFft {
    handle: sys::cufftHandle,
    needs: Needs,
    kind: Kind,
    precision: Precision,
    sign: i32,
}

fn rejected(action: &'static str) -> impl FnOnce(CufftError) -> DeviceFailure {
    move |source| DeviceFailure::CuFft { action, source }
}

fn loaded() -> Result<(), DeviceFailure> {
    // SAFETY: loads the library and closes it again. Everything else of cudarc panics without it.
    if unsafe { sys::is_culib_present() } {
        Ok(())
    } else {
        Err(DeviceFailure::NoCuFft)
    }
}

/// The version of the library, such as 12.0.0.
pub fn cufft_version() -> Result<String, DeviceFailure> {
    loaded()?;
    let version = result::get_version().map_err(rejected("tell its version"))?;
    let (major, minor) = (version / 1000, version % 1000 / 100);
    Ok(format!("{major}.{minor}.{}", version % 100))
}

impl CuFft {
    /// Plans a problem over all of its axes, in C order; layouts, scaling and accuracy are left aside.
    pub fn plan(
        gpu: &Gpu,
        problem: &Problem,
        size: (Direction, usize),
        precision: Precision,
    ) -> Result<CuFft, DeviceFailure> {
        CuFft::plan_strided(gpu, problem, size, precision, (1, 0))
    }

    /// The same for elements of an array, and for arrays, at such distances; 0: arrays one after the other.
    pub fn plan_strided(
        gpu: &Gpu,
        problem: &Problem,
        (direction, batch): (Direction, usize),
        precision: Precision,
        (stride, distance): (i64, i64),
    ) -> Result<CuFft, DeviceFailure> {
        loaded()?;
        gpu.context
            .bind_to_thread()
            .map_err(failed("use the device"))?;
        let count = |shape: Vec<usize>| batch * shape.iter().product::<usize>();
        let (real, complex) = (precision.bytes(), 2 * precision.bytes());
        let kind = problem.kind();
        let (kind_type, read, written) = match (kind, precision) {
            (Kind::ComplexToComplex, Precision::Double) => (Type::CUFFT_Z2Z, complex, complex),
            (Kind::ComplexToComplex, Precision::Single) => (Type::CUFFT_C2C, complex, complex),
            (Kind::RealToComplex, Precision::Double) => (Type::CUFFT_D2Z, real, complex),
            (Kind::RealToComplex, Precision::Single) => (Type::CUFFT_R2C, real, complex),
            (Kind::ComplexToReal, Precision::Double) => (Type::CUFFT_Z2D, complex, real),
            (Kind::ComplexToReal, Precision::Single) => (Type::CUFFT_C2R, complex, real),
        };
        let mut plan = CuFft {
            handle: result::create().map_err(rejected("start"))?,
            needs: Needs {
                input: read * count(problem.input_shape()),
                output: written * count(problem.output_shape()),
                workspace: 0,
            },
            kind,
            precision,
            sign: match direction {
                Direction::Forward => -1,
                Direction::Inverse => 1,
            },
        };
        let mut lengths: Vec<i64> = problem.shape().iter().map(|&n| n as i64).collect();
        // Null pointers ask for contiguous arrays, whatever the distances.
        let embedded = match distance {
            0 => std::ptr::null_mut(),
            _ => lengths.as_mut_ptr(),
        };
        // SAFETY: the handle is open, and lengths has as many entries as it says.
        let workspace = unsafe {
            result::set_auto_allocation(plan.handle, false)
                .map_err(rejected("leave the workspace to us"))?;
            result::make_plan_many64(
                plan.handle,
                lengths.len() as i32,
                lengths.as_mut_ptr(),
                embedded,
                stride,
                distance,
                embedded,
                stride,
                distance,
                kind_type,
                batch as i64,
            )
        };
        plan.needs.workspace = workspace.map_err(rejected("plan"))?;
        Ok(plan)
    }
}

impl DeviceWork for CuFft {
    fn needs(&self) -> Needs {
        self.needs
    }

    unsafe fn queue(&self, addresses: [u64; 3], stream: u64) -> Result<(), Failure> {
        let [input, output, workspace] = addresses;
        let (from, to) = (input as usize, output as usize);
        // SAFETY: the handle is open; the rest is the caller's promise.
        let outcome = unsafe {
            result::set_stream(self.handle, stream as sys::cudaStream_t)
                .and_then(|()| result::set_work_area(self.handle, workspace as *mut _))
                .and_then(|()| match (self.kind, self.precision) {
                    (Kind::ComplexToComplex, Precision::Double) => {
                        result::exec_z2z(self.handle, from as *mut _, to as *mut _, self.sign)
                    }
                    (Kind::ComplexToComplex, Precision::Single) => {
                        result::exec_c2c(self.handle, from as *mut _, to as *mut _, self.sign)
                    }
                    (Kind::RealToComplex, Precision::Double) => {
                        result::exec_d2z(self.handle, from as *mut _, to as *mut _)
                    }
                    (Kind::RealToComplex, Precision::Single) => {
                        result::exec_r2c(self.handle, from as *mut _, to as *mut _)
                    }
                    (Kind::ComplexToReal, Precision::Double) => {
                        result::exec_z2d(self.handle, from as *mut _, to as *mut _)
                    }
                    (Kind::ComplexToReal, Precision::Single) => {
                        result::exec_c2r(self.handle, from as *mut _, to as *mut _)
                    }
                })
        };
        Ok(outcome.map_err(rejected("transform"))?)
    }
}

impl Drop for CuFft {
    fn drop(&mut self) {
        // SAFETY: made by `plan` and destroyed here only; work with it has been waited for.
        let _ = unsafe { result::destroy(self.handle) };
    }
}
