//! The flow of `turbulence` in a GPU's memory: transforms of device arrays, by ozfft or by cuFFT, everything between them by the kernels of
//! `device_flow.cu`. They do the operations of the processor in its order, without fusing any, and so have its bits where transforms have.
#![allow(
    unsafe_code,
    reason = "kernels are launched on addresses of device memory"
)]

use crate::transforms::RealTransform;
use cudarc::driver::{
    CudaFunction, DeviceRepr, LaunchConfig, PushKernelArg,
    result::{memcpy_dtod_async, memset_d8_async},
};
use cudarc::nvrtc::{CompileOptions, compile_ptx_with_opts};
use num_complex::Complex;
use ozfft_measure::failure::Failure;
use ozfft_measure::gpu::{Gpu, Memory, failed};

const SOURCE: &str = include_str!("device_flow.cu");

/// Threads of a block; that of `moments` forms as many terms at a time.
const THREADS: u32 = 256;

/// `Waves` of the kernels' source.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Waves {
    wave_numbers: [u64; 3],
    kept: [u64; 3],
    entries: [i64; 3],
}

// SAFETY: addresses and integers, laid out as the kernels' source has them.
unsafe impl DeviceRepr for Waves {}

struct Kernels {
    vorticity: CudaFunction,
    cross: CudaFunction,
    project: CudaFunction,
    advance: CudaFunction,
    moments: CudaFunction,
}

impl Kernels {
    fn new(gpu: &Gpu) -> Result<Kernels, Failure> {
        // SAFETY: loads the library and closes it again. Compiling panics without it.
        if !unsafe { cudarc::nvrtc::sys::is_culib_present() } {
            return Err(Failure::Usage(
                "NVRTC (libnvrtc) cannot be loaded; install a CUDA toolkit, or put its directory into LD_LIBRARY_PATH".into(),
            ));
        }
        let options = CompileOptions {
            fmad: Some(false),
            arch: Some("compute_80"),
            ..CompileOptions::default()
        };
        let image = compile_ptx_with_opts(SOURCE, options)
            .map_err(|error| Failure::Check(format!("kernels do not compile: {error:?}")))?;
        let module = gpu.context.load_module(image);
        let module = module.map_err(failed("load kernels"))?;
        let kernel = |name| module.load_function(name).map_err(failed("find a kernel"));
        Ok(Kernels {
            vorticity: kernel("vorticity")?,
            cross: kernel("cross")?,
            project: kernel("project")?,
            advance: kernel("advance")?,
            moments: kernel("moments")?,
        })
    }
}

/// A flow on a GPU.
pub struct DeviceFlow {
    gpu: Gpu,
    kernels: Kernels,
    viscosity: f64,
    /// Entries of a half-spectrum, points of space, planes of wave numbers.
    entries: usize,
    points: usize,
    planes: usize,
    waves: Waves,
    /// What `waves` points to.
    _wave_numbers: Memory,
    /// Velocity; sum and stage of the Runge–Kutta method.
    state: Memory,
    total: Memory,
    stage: Memory,
    /// Velocity and vorticity, then rates.
    spectra: Memory,
    fields: Memory,
    sums: Memory,
    workspace: Memory,
}

/// Wave numbers along each axis, and whether they are kept.
pub type WaveNumbers = [Vec<(f64, bool)>; 3];

const COMPLEX: usize = size_of::<Complex<f64>>();

impl DeviceFlow {
    /// A flow from its spectra, on the device of the transform's plans.
    pub fn new(
        ordinal: usize,
        shape: [usize; 3],
        viscosity: f64,
        wave_numbers: &WaveNumbers,
        state: &[Complex<f64>],
        transform: &RealTransform,
    ) -> Result<DeviceFlow, Failure> {
        let gpu = Gpu::open(ordinal)?;
        let kernels = Kernels::new(&gpu)?;
        let memory = |bytes: usize| Memory::new(&gpu.context, bytes);
        let entries = state.len() / 3;
        let points = shape.iter().product::<usize>();
        let counts = wave_numbers.each_ref().map(Vec::len);
        let total: usize = counts.iter().sum();
        let numbers: Vec<f64> = wave_numbers.iter().flatten().map(|wave| wave.0).collect();
        let kept: Vec<u8> = wave_numbers
            .iter()
            .flatten()
            .map(|wave| wave.1.into())
            .collect();
        let mut tables = memory(9 * total)?;
        tables.upload(0, &numbers)?;
        tables.upload(8 * total, &kept)?;
        let start = tables.range(0, 9 * total)?;
        let before = [0, counts[0], counts[0] + counts[1]].map(|count| count as u64);
        let waves = Waves {
            wave_numbers: before.map(|count| start + 8 * count),
            kept: before.map(|count| start + 8 * total as u64 + count),
            entries: counts.map(|count| count as i64),
        };
        let mut velocity = memory(3 * entries * COMPLEX)?;
        velocity.upload(0, state)?;
        Ok(DeviceFlow {
            total: memory(3 * entries * COMPLEX)?,
            stage: memory(3 * entries * COMPLEX)?,
            spectra: memory(6 * entries * COMPLEX)?,
            fields: memory(6 * points * size_of::<f64>())?,
            sums: memory(2 * counts[0] * size_of::<f64>())?,
            workspace: memory(transform.device_workspace_len())?,
            state: velocity,
            _wave_numbers: tables,
            waves,
            entries,
            points,
            planes: counts[0],
            viscosity,
            kernels,
            gpu,
        })
    }

    fn for_each(count: usize) -> LaunchConfig {
        LaunchConfig {
            grid_dim: ((count as u64).div_ceil(THREADS.into()) as u32, 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        }
    }

    fn velocity_bytes(&self) -> usize {
        3 * self.entries * COMPLEX
    }

    fn copy(&self, from: &Memory, to: &Memory, bytes: usize) -> Result<(), Failure> {
        let (source, target) = (from.range(0, bytes)?, to.range(0, bytes)?);
        // SAFETY: both ranges are within arrays of this flow, which live until it is dropped and has waited.
        let copied =
            unsafe { memcpy_dtod_async(target, source, bytes, self.gpu.stream.cu_stream()) };
        Ok(copied.map_err(failed("copy within the device"))?)
    }

    /// The rate of change of the stage, left in the first three spectra.
    fn rate(&self, transform: &mut RealTransform) -> Result<(), Failure> {
        let spectra = self.spectra.range(0, 2 * self.velocity_bytes())?;
        let stage = self.stage.range(0, self.velocity_bytes())?;
        let fields = self.fields.range(0, 6 * self.points * size_of::<f64>())?;
        let workspace = self.workspace.range(0, transform.device_workspace_len())?;
        let (entries, points) = (self.entries as i64, self.points as i64);
        let factor = transform.inverse_factor();
        let stream = &self.gpu.stream;
        // SAFETY: so here and below: the kernels' parameters, arrays as long as they expect, alive until the stream has come so far.
        unsafe {
            let mut launch = stream.launch_builder(&self.kernels.vorticity);
            launch
                .arg(&self.waves)
                .arg(&stage)
                .arg(&spectra)
                .arg(&entries);
            let launched = launch.launch(Self::for_each(self.entries));
            launched.map_err(failed("launch a kernel"))?;
            transform.inverse_on_device(&self.gpu, [spectra, fields, workspace])?;
            let mut launch = stream.launch_builder(&self.kernels.cross);
            launch.arg(&fields).arg(&points).arg(&factor);
            let launched = launch.launch(Self::for_each(self.points));
            launched.map_err(failed("launch a kernel"))?;
            transform.forward_on_device(&self.gpu, [fields, spectra, workspace])?;
            let mut launch = stream.launch_builder(&self.kernels.project);
            launch
                .arg(&self.waves)
                .arg(&stage)
                .arg(&spectra)
                .arg(&entries)
                .arg(&self.viscosity);
            let launched = launch.launch(Self::for_each(self.entries));
            launched.map_err(failed("launch a kernel"))?;
        }
        Ok(())
    }

    /// One step of the classical Runge–Kutta method.
    pub fn step(&mut self, transform: &mut RealTransform, step: f64) -> Result<(), Failure> {
        let bytes = self.velocity_bytes();
        self.copy(&self.state, &self.total, bytes)?;
        self.copy(&self.state, &self.stage, bytes)?;
        let weights = [step / 6.0, step / 3.0, step / 3.0, step / 6.0];
        let advances = [step / 2.0, step / 2.0, step, 0.0];
        let [state, total, stage] =
            [&self.state, &self.total, &self.stage].map(|memory| memory.range(0, bytes));
        let (state, total, stage) = (state?, total?, stage?);
        let rates = self.spectra.range(0, bytes)?;
        let count = 3 * self.entries as i64;
        for (weight, advance) in weights.into_iter().zip(advances) {
            self.rate(transform)?;
            let mut launch = self.gpu.stream.launch_builder(&self.kernels.advance);
            launch
                .arg(&total)
                .arg(&stage)
                .arg(&state)
                .arg(&rates)
                .arg(&count)
                .arg(&weight)
                .arg(&advance);
            // SAFETY: as in `rate`.
            let launched = unsafe { launch.launch(Self::for_each(3 * self.entries)) };
            launched.map_err(failed("launch a kernel"))?;
        }
        self.wait()?;
        std::mem::swap(&mut self.state, &mut self.total);
        Ok(())
    }

    fn wait(&self) -> Result<(), Failure> {
        let waited = self.gpu.stream.synchronize();
        Ok(waited.map_err(failed("finish its work"))?)
    }

    /// Sums of energy and enstrophy over every plane of wave numbers.
    pub fn moments(&self) -> Result<Vec<[f64; 2]>, Failure> {
        let state = self.state.range(0, self.velocity_bytes())?;
        let sums = self.sums.range(0, 2 * self.planes * size_of::<f64>())?;
        let entries = self.entries as i64;
        let mut launch = self.gpu.stream.launch_builder(&self.kernels.moments);
        launch.arg(&self.waves).arg(&state).arg(&sums).arg(&entries);
        let blocks = LaunchConfig {
            grid_dim: (self.planes as u32, 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        };
        // SAFETY: as in `rate`.
        let launched = unsafe { launch.launch(blocks) };
        launched.map_err(failed("launch a kernel"))?;
        self.wait()?;
        let mut planes = vec![[0.0; 2]; self.planes];
        self.sums.download(0, &mut planes)?;
        Ok(planes)
    }

    /// The velocity at points of space, one component after the other.
    pub fn velocity(&self, transform: &mut RealTransform) -> Result<Vec<f64>, Failure> {
        let bytes = self.velocity_bytes();
        let spectra = self.spectra.range(0, 2 * bytes)?;
        let fields = self.fields.range(0, 6 * self.points * size_of::<f64>())?;
        let workspace = self.workspace.range(0, transform.device_workspace_len())?;
        self.copy(&self.state, &self.spectra, bytes)?;
        let vorticity = self.spectra.range(bytes, bytes)?;
        // SAFETY: as in `rate`; the second half of the spectra, which no work uses that is not in the stream before this.
        unsafe {
            let stream = self.gpu.stream.cu_stream();
            let cleared = memset_d8_async(vorticity, 0, bytes, stream);
            cleared.map_err(failed("clear memory"))?;
            transform.inverse_on_device(&self.gpu, [spectra, fields, workspace])?;
        }
        let mut velocity = vec![0.0; 3 * self.points];
        self.fields.download(0, &mut velocity)?;
        let factor = transform.inverse_factor();
        if factor != 1.0 {
            velocity.iter_mut().for_each(|value| *value *= factor);
        }
        Ok(velocity)
    }
}
