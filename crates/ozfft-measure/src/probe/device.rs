//! A GPU behind NVIDIA's driver: what it says of itself, and the launches of the kernels that measure it.
//!
//! Launching a kernel is `unsafe`, because nothing checks that arguments are what the kernel takes and that it stays
//! within its arrays. Each kind of kernel has a type here, made from its name in one place, and one function that
//! launches it with arrays of the right lengths.
#![allow(unsafe_code)]

use super::exactness::{Matrices, TILE};
use crate::gpu::{DeviceFacts, DeviceFailure, Gpu, failed};
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DriverError, LaunchConfig,
    PushKernelArg,
};
use cudarc::nvrtc::Ptx;
use std::sync::Arc;

/// Runs of which the median counts.
const RUNS: usize = 7;
/// How long one run should take: long against a launch, short against what a GPU needs to heat up.
const RUN_SECONDS: f64 = 3e-3;
/// Operands that the compiler does not know: a number for integers and, read as a float, about a half.
const OPERAND: u32 = 0x3f00_0001;
/// Bytes that a block of the copying kernel moves.
const COPY_BLOCK_BYTES: usize = 16 * 1024;

/// A kernel of chains or products: (observations, iterations, operand, operand).
pub struct RateKernel(CudaFunction);
/// A kernel of sums of products of e4m3 numbers: (sums, left, right, words in a row).
pub struct ExactnessKernel(CudaFunction);
/// The kernel that copies: (target, source).
pub struct CopyKernel(CudaFunction);

/// Kernels that the driver has loaded.
pub struct Kernels(Arc<CudaModule>);

impl Kernels {
    fn function(&self, name: &str) -> Result<CudaFunction, DeviceFailure> {
        let function = self.0.load_function(name);
        function.map_err(failed("find a kernel"))
    }

    /// A kernel that measures a rate.
    pub fn rate(&self, name: &str) -> Result<RateKernel, DeviceFailure> {
        self.function(name).map(RateKernel)
    }

    /// A kernel whose sums are compared with exact ones.
    pub fn exactness(&self, name: &str) -> Result<ExactnessKernel, DeviceFailure> {
        self.function(name).map(ExactnessKernel)
    }

    /// The kernel that copies.
    pub fn copy(&self, name: &str) -> Result<CopyKernel, DeviceFailure> {
        self.function(name).map(CopyKernel)
    }
}

/// How long something took.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    pub median_seconds: f64,
    pub runs: usize,
}

/// How long an iteration of a kernel took, and at which clock.
#[derive(Debug, Clone, Copy)]
pub struct IterationTiming {
    pub timing: Timing,
    pub iterations: u32,
    pub clock_hertz: f64,
}

/// An open GPU.
pub struct Device {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    pub facts: DeviceFacts,
    pub capability: (i32, i32),
}

impl Device {
    /// Opens a GPU by its number.
    pub fn open(ordinal: usize) -> Result<Device, DeviceFailure> {
        let gpu = Gpu::open(ordinal)?;
        Ok(Device {
            stream: gpu.stream,
            context: gpu.context,
            facts: gpu.facts,
            capability: gpu.capability,
        })
    }

    /// Loads kernels as text for the driver's compiler.
    pub fn load_ptx(&self, text: &str) -> Result<Kernels, DeviceFailure> {
        let module = self.context.load_module(Ptx::from_src(text));
        module.map(Kernels).map_err(failed("compile kernels"))
    }

    /// Loads kernels as machine code.
    pub fn load_machine_code(&self, bytes: &[u8]) -> Result<Kernels, DeviceFailure> {
        let module = self.context.load_module(Ptx::from_binary(bytes.to_vec()));
        module.map(Kernels).map_err(failed("load kernels"))
    }

    /// Threads that fill a multiprocessor, in blocks of 256: the number of blocks.
    pub fn full_blocks_of_256(&self) -> u32 {
        self.facts.threads_per_multiprocessor / 256
    }

    /// Seconds between two events around what `launch` puts into the stream.
    fn seconds(
        &self,
        launch: impl FnOnce() -> Result<(), DriverError>,
    ) -> Result<f64, DriverError> {
        let start = self.stream.record_event(Some(CU_EVENT_DEFAULT))?;
        launch()?;
        let end = self.stream.record_event(Some(CU_EVENT_DEFAULT))?;
        Ok(f64::from(start.elapsed_ms(&end)?) * 1e-3)
    }

    /// The median of several runs after one that does not count.
    fn median(
        &self,
        mut launch: impl FnMut() -> Result<(), DriverError>,
    ) -> Result<Timing, DriverError> {
        self.seconds(&mut launch)?;
        let times: Result<Vec<f64>, DriverError> =
            (0..RUNS).map(|_| self.seconds(&mut launch)).collect();
        let mut times = times?;
        times.sort_by(f64::total_cmp);
        Ok(Timing {
            median_seconds: times[RUNS / 2],
            runs: RUNS,
        })
    }

    /// Times a kernel in one wave: this many blocks on every multiprocessor.
    pub fn time_rate(
        &self,
        kernel: &RateKernel,
        blocks: u32,
        threads: u32,
    ) -> Result<IterationTiming, DeviceFailure> {
        self.time_rate_for(kernel, blocks, threads, RUN_SECONDS)
            .map_err(failed("run a kernel that measures"))
    }

    /// Keeps the GPU busy, so that its clock has gone up before anything is measured.
    pub fn warm_up(&self, kernel: &RateKernel) -> Result<(), DeviceFailure> {
        self.time_rate_for(kernel, self.full_blocks_of_256(), 256, 0.05)
            .map(|_| ())
            .map_err(failed("run a kernel that warms up"))
    }

    fn time_rate_for(
        &self,
        kernel: &RateKernel,
        blocks: u32,
        threads: u32,
        seconds: f64,
    ) -> Result<IterationTiming, DriverError> {
        const PILOT_ITERATIONS: u32 = 64;
        let mut observed: CudaSlice<u64> = self.stream.alloc_zeros(3)?;
        let shape = LaunchConfig {
            grid_dim: (self.facts.multiprocessors * blocks, 1, 1),
            block_dim: (threads, 1, 1),
            shared_mem_bytes: 0,
        };
        let mut launch = |iterations: u32| {
            let mut launch = self.stream.launch_builder(&kernel.0);
            launch.arg(&mut observed).arg(&iterations);
            launch.arg(&OPERAND).arg(&OPERAND);
            // SAFETY: a rate kernel takes these four arguments and writes three words.
            unsafe { launch.launch(shape) }.map(|_| ())
        };
        // The first launch also brings the code onto the device.
        self.seconds(|| launch(PILOT_ITERATIONS))?;
        let pilot = self.seconds(|| launch(PILOT_ITERATIONS))?;
        let wanted = f64::from(PILOT_ITERATIONS) * seconds / pilot.max(1e-7);
        let iterations = wanted.clamp(f64::from(PILOT_ITERATIONS), f64::from(1 << 24)) as u32;
        let timing = self.median(|| launch(iterations))?;
        let observed = self.stream.clone_dtoh(&observed)?;
        Ok(IterationTiming {
            timing,
            iterations,
            clock_hertz: observed[0] as f64 * 1e9 / observed[1].max(1) as f64,
        })
    }

    /// Times copies of many bytes within the device: by the driver, and by a kernel. Also says how many bytes.
    pub fn time_copies(
        &self,
        kernel: &CopyKernel,
        wanted_bytes: usize,
    ) -> Result<(Timing, Timing, usize), DeviceFailure> {
        self.time_copies_here(kernel, wanted_bytes)
            .map_err(failed("copy within the device"))
    }

    fn time_copies_here(
        &self,
        kernel: &CopyKernel,
        wanted_bytes: usize,
    ) -> Result<(Timing, Timing, usize), DriverError> {
        let (free, _) = self.context.mem_get_info()?;
        let blocks = wanted_bytes.min(free / 4) / COPY_BLOCK_BYTES;
        let bytes = blocks * COPY_BLOCK_BYTES;
        let source: CudaSlice<u8> = self.stream.alloc_zeros(bytes)?;
        let mut target: CudaSlice<u8> = self.stream.alloc_zeros(bytes)?;
        let driver = self.median(|| self.stream.memcpy_dtod(&source, &mut target))?;
        let shape = LaunchConfig {
            grid_dim: (blocks as u32, 1, 1),
            block_dim: (256, 1, 1),
            shared_mem_bytes: 0,
        };
        let own = self.median(|| {
            let mut launch = self.stream.launch_builder(&kernel.0);
            launch.arg(&mut target).arg(&source);
            // SAFETY: the kernel takes two pointers, and its blocks cover exactly both arrays.
            unsafe { launch.launch(shape) }.map(|_| ())
        })?;
        Ok((driver, own, bytes))
    }

    /// The sums that a kernel makes of these matrices.
    pub fn sums(
        &self,
        kernel: &ExactnessKernel,
        matrices: &Matrices,
    ) -> Result<Vec<f32>, DeviceFailure> {
        self.sums_here(kernel, matrices)
            .map_err(failed("run a kernel whose sums are compared"))
    }

    fn sums_here(
        &self,
        kernel: &ExactnessKernel,
        matrices: &Matrices,
    ) -> Result<Vec<f32>, DriverError> {
        let left = self.stream.clone_htod(&matrices.left_bytes())?;
        let right = self.stream.clone_htod(&matrices.right_bytes())?;
        let count = matrices.tiles() * TILE * TILE;
        let mut sums: CudaSlice<f32> = self.stream.alloc_zeros(count)?;
        let words = (matrices.k() / 4) as u32;
        let shape = LaunchConfig {
            grid_dim: (matrices.tiles() as u32, 1, 1),
            block_dim: (128, 1, 1),
            shared_mem_bytes: 0,
        };
        let mut launch = self.stream.launch_builder(&kernel.0);
        launch.arg(&mut sums).arg(&left).arg(&right).arg(&words);
        // SAFETY: the kernel takes these four arguments; a block reads a tile of both matrices and writes one of the
        // sums, whose lengths `Matrices` guarantees.
        unsafe { launch.launch(shape) }?;
        self.stream.clone_dtoh(&sums)
    }
}
