//! The digits engine on NVIDIA GPUs: the same recipes and tables as on the CPU, and the same bits.
//!
//! A plan is a list of launches, mostly one for every pass of every axis (`program`); its tables are uploaded
//! once (`tables`). Everything runs asynchronously in one stream; only calls with host arrays wait.

pub(crate) mod device;
mod floats;
mod ntt;
mod program;
mod residues;
pub(crate) mod select;
mod tables;
#[cfg(test)]
mod tests;

use crate::error::{Buffer, FftError};
use crate::executor::schedule::Schedule;
use crate::problem::Problem;
use crate::progress::{Progress, Stage};
use crate::recipe::Recipe;
use crate::sample::Real;
use crate::stages::residue_products::Counters;
use crate::transform::budget::ErrorBudget;
use crate::transform::line::Line;
pub use device::compiler::{CudaCompiler, cuda_compiler};
pub use device::compiler_search::look_for_cuda_compiler_in;
pub(crate) use device::driver::open;
use device::exactness::{Instruction, check_device};
pub(crate) use device::machine::DeviceMemory;
pub(crate) use device::machine::Machine;
use device::machine::Queue;
pub use device::queue::{DeviceArray, DeviceBlock, DeviceQueue, PageLocked};
use device::recordings::Recordings;
use device::transfer::{Staging, Transfer};
use device::work::DeviceWork;
use floats::float_work::FloatWork;
#[cfg(feature = "convolution")]
pub(crate) use ntt::array_convolutions::{
    ArrayConvolution, ArrayConvolutions, IntegerArray, array_convolutions,
};
#[cfg(feature = "convolution")]
pub(crate) use ntt::integer_products::{Base, IntegerProducts, levels_for};
#[cfg(feature = "ntt")]
pub(crate) use ntt::ntt_lines::NttLineTables;
#[cfg(feature = "ntt")]
use ntt::ntt_lines::NttWork;
pub(crate) use ozfft_kernels::Product;
pub(crate) use ozfft_kernels::template::Number;
pub(crate) use program::Choice;
use program::Program;
pub(crate) use program::largest::LargestSearch;
pub(crate) use program::task::Faults;
use program::task::{Arrays, Counting};
pub(crate) use residues::{
    bound_is_proven as residue_bound_is_proven, is_fp8 as is_residues_in_fp8,
    kernel as residue_kernel,
};
use std::sync::Arc;

/// The unit that a kernel for residues runs on.
pub(crate) fn residue_substrate(kernel: &str) -> &'static str {
    match ozfft_kernels::ResidueFp8::of(kernel) {
        Some(_) => "fp8-wgmma",
        None => "int8-mma-sync",
    }
}

/// Kernels for residues that are there to be measured.
pub(crate) fn residue_variants() -> Vec<&'static str> {
    [
        &ozfft_kernels::RESIDUE_VARIANTS[..],
        &ozfft_kernels::RESIDUE_FP8_VARIANTS[..],
        &[ozfft_kernels::RESIDUE_FP8_IN_HALVES],
        &ozfft_kernels::RESIDUE_KARATSUBA_VARIANTS[..],
    ]
    .concat()
}

/// A planned problem on a device.
pub(crate) struct CudaExecutor {
    machine: Arc<dyn Machine>,
    work: Box<dyn DeviceWork>,
    input_bytes: usize,
    output_bytes: usize,
    /// There are elements between those of the output, which must stay as the caller has them.
    output_has_gaps: bool,
    staging: Staging,
    recordings: Recordings,
    /// Where it is told what residue kernels have counted, and how many redundant moduli there are.
    counters: Option<(Arc<Counters>, usize)>,
    /// A call in which lines want a finer unit than there is ends before anything is written: another engine takes it.
    leaves_calls: bool,
}

/// What became of a call on the caller's arrays in host memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Done {
    Written,
    /// Lines want a finer unit than there is; nothing was written.
    Left,
}

/// Arrays of a call that are larger than this, all together, are transformed for longer than it takes to launch what does it.
const LONG_BYTES: usize = 128 << 20;

/// A queue that is closed again.
struct OpenQueue<'a>(&'a dyn Machine, Queue);

impl<'a> OpenQueue<'a> {
    fn new(machine: &'a dyn Machine) -> Result<Self, FftError> {
        Ok(OpenQueue(machine, machine.open_queue()?))
    }
}

impl Drop for OpenQueue<'_> {
    fn drop(&mut self) {
        // After an error something may still run; memory must not be freed before. A lost device answers at once.
        let _ = self.0.synchronize(self.1);
        self.0.close_queue(self.1);
    }
}

/// The caller's array in host memory.
pub(crate) struct HostArrays<'a> {
    /// None in place: input and output are one array.
    pub(crate) input: Option<&'a [u8]>,
    /// First byte and length of the output; in place it is the input's memory.
    pub(crate) output: (*mut u8, usize),
}

/// One stage's progress, told from its beginning on.
struct Recorded<'a> {
    progress: &'a mut dyn FnMut(Progress),
    now: Progress,
}

impl<'a> Recorded<'a> {
    fn new(stage: Stage, total: usize, progress: &'a mut dyn FnMut(Progress)) -> Self {
        let now = Progress {
            stage,
            done: 0,
            total,
        };
        progress(now);
        Recorded { progress, now }
    }

    /// So many bytes more are done.
    fn add(&mut self, bytes: usize) {
        self.now.done += bytes;
        (self.progress)(self.now);
    }
}

impl CudaExecutor {
    pub(crate) fn new<T: Real>(
        machine: Arc<dyn Machine>,
        problem: &Problem,
        (schedule, lines): (&Schedule, &[Arc<Line>]),
        recipe: &Recipe,
        choice: Choice,
    ) -> Result<Self, FftError> {
        let residues_in_fp8 = choice
            .residues
            .and_then(ozfft_kernels::ResidueFp8::of)
            .is_some();
        let tuned_in_fp8 = choice.tuned == Some(Product::Fp8) && machine.has_tuned_kernels();
        if tuned_in_fp8 || residues_in_fp8 {
            check_device(&machine, Instruction::Fp8Wgmma)?;
        }
        if choice.template == Number::DoubleFp8 {
            let (capability, needed) =
                (machine.capability(), ozfft_kernels::FP8_MMA_SYNC_CAPABILITY);
            if capability < needed {
                return Err(FftError::NoFp8 {
                    name: machine.name(),
                    capability,
                    needed,
                });
            }
            check_device(&machine, Instruction::Fp8MmaSync)?;
        }
        // What it needs, compute capability 8.0, every device has that can be opened.
        if choice.template == Number::DoubleF16 {
            check_device(&machine, Instruction::F16MmaSync)?;
        }
        let queue = OpenQueue::new(&*machine)?;
        let program = Program::new::<T>(&machine, queue.1, (schedule, lines), recipe, choice)?;
        drop(queue);
        CudaExecutor::with::<T>(machine, problem, Box::new(program))
    }

    /// A mode of the crate `floats`, and its error.
    pub(crate) fn floats<T: Real>(
        machine: Arc<dyn Machine>,
        problem: &Problem,
        schedule: &Schedule,
        mode: (::floats::Mode, ::floats::Table),
        (scale, of_processor): (f64, ErrorBudget),
    ) -> Result<(Self, ErrorBudget), FftError> {
        let work = FloatWork::new::<T>(&machine, problem.direction, schedule, mode, scale)?;
        // Modes without a matrix unit have the processor's bits, and so its errors.
        let budget = match work.errors() {
            Some((bound, expected)) => ErrorBudget { bound, expected },
            None => of_processor,
        };
        let executor = CudaExecutor::with::<T>(machine, problem, Box::new(work))?;
        Ok((executor, budget))
    }

    /// The engine ntt: a table for each pass of the schedule.
    #[cfg(feature = "ntt")]
    pub(crate) fn ntt<T: Real>(
        machine: Arc<dyn Machine>,
        problem: &Problem,
        schedule: &Schedule,
        lines: &[NttLineTables],
    ) -> Result<Self, FftError> {
        let work = NttWork::new::<T>(&machine, schedule, lines)?;
        CudaExecutor::with::<T>(machine, problem, Box::new(work))
    }

    /// Everything that the work launches is made ready here: a call may be recorded.
    fn with<T: Real>(
        machine: Arc<dyn Machine>,
        problem: &Problem,
        work: Box<dyn DeviceWork>,
    ) -> Result<Self, FftError> {
        machine.prepare(&work.kernels())?;
        let (input_size, output_size) = problem.element_sizes::<T>();
        let elements = problem.output_shape().iter().product::<usize>() * problem.batch;
        Ok(CudaExecutor {
            machine,
            work,
            input_bytes: problem.input_len() * input_size,
            output_bytes: problem.output_len() * output_size,
            output_has_gaps: problem.output_len() != elements,
            staging: Staging::default(),
            recordings: Recordings::default(),
            counters: None,
            leaves_calls: false,
        })
    }

    /// Calls are left to another engine where lines want a finer unit than there is.
    pub(crate) fn leave_calls(&mut self) {
        self.leaves_calls = true;
    }

    /// What residue kernels count is added to these counters.
    pub(crate) fn count_with(&mut self, counters: Arc<Counters>, redundancy: usize) {
        self.counters = Some((counters, redundancy));
    }

    /// Waits for the queue, and reads what residue kernels have counted: an error, if there are sums that could not be put right.
    ///
    /// # Safety
    /// The arrays are those of a call that was put into the queue.
    unsafe fn check_counts(&self, queue: Queue, arrays: &Arrays) -> Result<Done, FftError> {
        let Some((counters, redundancy)) = &self.counters else {
            return Ok(Done::Written);
        };
        let Some((address, counting)) = self.work.counts(arrays) else {
            return Ok(Done::Written);
        };
        let mut counts = vec![0u64; counting.len()];
        let bytes = bytemuck::cast_slice_mut(&mut counts);
        // SAFETY: counts lie in the workspace, by the caller's promise, and these bytes stay until the queue has come so far.
        unsafe { self.machine.download(queue, address, bytes)? };
        self.machine.synchronize(queue)?;
        if counting == Counting::Adaptive {
            let moduli = ozfft_kernels::RESIDUE_ADAPTIVE_COUNTS;
            let moduli = moduli.as_flattened();
            if self.leaves_calls && counts[moduli.len()] > 0 {
                return Ok(Done::Left);
            }
            for (&moduli, &columns) in moduli.iter().zip(&counts) {
                counters.add_columns(moduli, columns);
            }
            return Ok(Done::Written);
        }
        let (corrected, uncorrectable) = (counts[0], counts[1]);
        counters.add_sums(corrected, uncorrectable);
        match uncorrectable {
            0 => Ok(Done::Written),
            outputs => Err(FftError::BadResidues {
                outputs,
                redundancy: *redundancy,
            }),
        }
    }

    /// Bytes of tables on the device.
    pub(crate) fn table_bytes(&self) -> usize {
        self.work.table_bytes()
    }

    /// What a transform in floating-point numbers runs.
    pub(crate) fn describe_floats(&self) -> Option<String> {
        self.work.describe_floats()
    }

    /// The device, in words.
    pub(crate) fn device_name(&self) -> String {
        self.machine.name()
    }

    /// Passes on the instruction that was asked for, and all passes.
    pub(crate) fn tuned_passes(&self) -> (usize, usize) {
        self.work.tuned_passes()
    }

    /// What is worth knowing of the kernels: which had to be compiled, which could not be had.
    pub(crate) fn remarks(&self) -> &[String] {
        self.work.remarks()
    }

    /// Kernels, threads of a block, and their shared memory, in the order of the launches.
    pub(crate) fn launches(&self) -> Vec<(&'static str, u32, usize)> {
        let launches = self.work.launches().into_iter();
        launches
            .map(|launch| (launch.name, launch.threads, launch.shared_bytes))
            .collect()
    }

    /// The same kernels and the blocks of their grids, by which a profiler's launches are told apart.
    pub(crate) fn grids(&self) -> Vec<(&'static str, u64)> {
        let launches = self.work.launches().into_iter();
        launches
            .map(|launch| (launch.name, launch.blocks))
            .collect()
    }

    /// Bytes of workspace that a call on device memory needs.
    pub(crate) fn workspace_bytes(&self) -> usize {
        self.work.workspace_bytes()
    }

    /// Copies in, runs, copies out. The caller's array is written only when everything before has succeeded.
    ///
    /// # Safety
    /// The output's memory is as long as it says and may be written; in place it is that of the input, which nobody else
    /// holds.
    pub(crate) unsafe fn run_host(
        &self,
        arrays: &HostArrays<'_>,
        threads: usize,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Done, FftError> {
        let machine = &self.machine;
        let (output, output_len) = arrays.output;
        let output_bytes = self.output_bytes.min(output_len);
        let input_bytes = match arrays.input {
            Some(bytes) => self.input_bytes.min(bytes.len()),
            None => self.input_bytes.max(output_bytes).min(output_len),
        };
        let input = DeviceMemory::new(machine, input_bytes)?;
        let separate = arrays
            .input
            .map(|_| DeviceMemory::new(machine, output_bytes))
            .transpose()?;
        let workspace = DeviceMemory::new(machine, self.workspace_bytes())?;
        let to = separate.as_ref().map_or(input.address(), |m| m.address());
        // Declared after the memory, and so closed before: both wait for what uses it.
        let queue = OpenQueue::new(&**machine)?;
        let most = input_bytes.max(output_bytes);
        let mut transfer = Transfer::new(machine, &self.staging, queue.1, most, threads)?;
        // SAFETY: as long as it says, by the caller's promise; nothing writes to it before the download.
        let before = |bytes| unsafe { std::slice::from_raw_parts(output.cast_const(), bytes) };
        let uploads = match arrays.input {
            Some(bytes) if self.output_has_gaps => vec![
                (input.address(), &bytes[..input_bytes]),
                (to, before(output_bytes)),
            ],
            Some(bytes) => vec![(input.address(), &bytes[..input_bytes])],
            None => vec![(input.address(), before(input_bytes))],
        };
        let total = uploads.iter().map(|(_, bytes)| bytes.len()).sum();
        let mut told = Recorded::new(Stage::Upload, total, progress);
        for (to, bytes) in uploads {
            // SAFETY: the memory was allocated for these lengths; nothing is freed before the queues are closed.
            unsafe { transfer.upload(to, bytes, &mut |more| told.add(more))? };
        }
        let mut told = Recorded::new(Stage::Transform, output_bytes, progress);
        let device = Arrays {
            input: input.address(),
            output: to,
            workspace: workspace.address(),
        };
        // SAFETY: as above.
        unsafe { self.run_work(queue.1, &device)? };
        machine.synchronize(queue.1)?;
        // SAFETY: as above.
        if unsafe { self.check_counts(queue.1, &device)? } == Done::Left {
            return Ok(Done::Left);
        }
        told.add(output_bytes);
        let mut told = Recorded::new(Stage::Download, output_bytes, progress);
        // SAFETY: the caller's promise; nobody reads the array any more.
        let result = unsafe { std::slice::from_raw_parts_mut(output, output_bytes) };
        // SAFETY: as above.
        unsafe { transfer.download(to, result, &mut |more| told.add(more))? };
        transfer.finish();
        Ok(Done::Written)
    }

    /// Puts the transform of arrays in device memory into a stream, and returns.
    ///
    /// # Safety
    /// The addresses are checked for being device memory of the right length; that nothing else uses it until the stream
    /// has come so far, and that the stream is one, is the caller's promise.
    pub(crate) unsafe fn run_device(&self, arrays: &Arrays, stream: u64) -> Result<(), FftError> {
        let machine = &self.machine;
        machine.check_pointer(Buffer::Input, arrays.input, self.input_bytes)?;
        machine.check_pointer(Buffer::Output, arrays.output, self.output_bytes)?;
        if self.workspace_bytes() > 0 {
            machine.check_pointer(Buffer::Workspace, arrays.workspace, self.workspace_bytes())?;
        }
        for (buffer, address) in [
            (Buffer::Input, arrays.input),
            (Buffer::Output, arrays.output),
            (Buffer::Workspace, arrays.workspace),
        ] {
            let needed = if buffer == Buffer::Workspace { 16 } else { 8 };
            if !address.is_multiple_of(needed) {
                return Err(FftError::WrongPointer {
                    buffer,
                    address,
                    reason: format!("it is not a multiple of {needed}"),
                });
            }
        }
        // SAFETY: the caller's promise, for this queue and for one that the launches are recorded from.
        let put = |queue: Queue| unsafe { self.run_work(queue, arrays) };
        if self.leaves_calls {
            return Err(FftError::Unsupported(
                "the native fallback is an engine of the processor, and a call on device memory cannot be left to it; \
                 call it with arrays in host memory, or without the fallback"
                    .into(),
            ));
        }
        if self.counters.is_some() {
            if machine.is_recorded(stream) {
                return Err(FftError::Unsupported(
                    "a call with redundant or adaptive moduli waits for what they show, so its stream cannot be recorded; \
                     call it outside of the recording, or take all moduli and no redundant ones"
                        .into(),
                ));
            }
            put(stream)?;
            // SAFETY: the caller's promise.
            return unsafe { self.check_counts(stream, arrays) }.map(|_| ());
        }
        if self.input_bytes + self.output_bytes > LONG_BYTES {
            return put(stream);
        }
        // SAFETY: what is launched depends on the arrays' addresses alone.
        unsafe { self.recordings.run(machine, stream, arrays, &put) }
    }

    /// # Safety
    /// The arrays are device memory of the lengths that the problem says, and nothing else uses them.
    unsafe fn run_work(&self, queue: Queue, arrays: &Arrays) -> Result<(), FftError> {
        // SAFETY: the caller's promise.
        unsafe { self.work.run(&*self.machine, queue, arrays) }
    }

    /// For [`crate::Plan::process_device`].
    pub(crate) unsafe fn run_addresses(
        &self,
        (input, output, workspace): (u64, u64, u64),
        stream: u64,
    ) -> Result<(), FftError> {
        let arrays = Arrays {
            input,
            output,
            workspace,
        };
        // SAFETY: the caller's promise.
        unsafe { self.run_device(&arrays, stream) }
    }
}
