//! What runs kernels: a GPU behind the driver, or, in tests, the emulator.

use crate::error::FftError;
use crate::executor::cuda::device::exactness::{ExactnessTask, Exactnesses, Instruction};
use crate::executor::cuda::device::tuning::Tuning;
use crate::executor::cuda::floats::FloatFindings;
use crate::executor::cuda::program::task::{ArrayTask, Task, Tasks, WatchedTask};
use crate::executor::cuda::program::tuned_task::{MappedArray, StridedTask, TensorMap, TunedTask};
use crate::executor::cuda::select::long_passes::PassTask;
use ozfft_kernels::floats::{FloatKernel, FloatProduct, FloatStepsTask, FloatTask};
#[cfg(feature = "convolution")]
use ozfft_kernels::ntt::NttTask;
#[cfg(any(feature = "convolution", feature = "ntt"))]
use ozfft_kernels::ntt_batches::BatchTask;
#[cfg(feature = "ntt")]
use ozfft_kernels::ntt_fourier::FourierTask;
use ozfft_kernels::template::KernelSpec;
use std::sync::Arc;

/// A launch's parameters, complete.
// Copied once a launch: memory of its own for the larger ones would cost more than it saves.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Clone, Copy)]
pub(crate) enum Parameters {
    Block(Task),
    /// A block of small steps alone.
    SmallBlock(Task),
    /// A block with truncated products or residues, the kernel's name, and threads of a block.
    Truncated(Tasks, &'static str, u32),
    /// A block with redundant residues or adaptive moduli, likewise.
    Watched(WatchedTask, &'static str, u32),
    Copy(ArrayTask),
    Largest(ArrayTask),
    /// The same among the lines that a tuned kernel has left.
    LargestLeft(ArrayTask),
    /// Scaling what it has not left.
    Scale(ArrayTask),
    /// A tuned kernel, by its name.
    Tuned(TunedTask, &'static str),
    TunedStrided(StridedTask, &'static str),
    /// A kernel of the template.
    Template(TunedTask, TemplateKernel),
    /// The same for a pass of long transforms.
    Pass(PassTask, TemplateKernel),
    /// The question whether the sums of an instruction on short floating-point numbers are exact.
    Exactness(ExactnessTask, Instruction),
    /// Lines in short floating-point numbers, the kernel, and threads of a block.
    Floats(FloatTask, &'static FloatKernel, u32),
    /// A product of such numbers, and the kernel's name.
    FloatProduct(FloatProduct, &'static str),
    /// Lines in f32 or f64, likewise.
    FloatSteps(FloatStepsTask, &'static str),
    /// A kernel of a product of long integers, by its name.
    #[cfg(feature = "convolution")]
    IntegerProduct(NttTask, &'static str),
    /// A kernel of transforms modulo primes, many at once, likewise.
    #[cfg(any(feature = "convolution", feature = "ntt"))]
    NttBatch(BatchTask, &'static str),
    /// A kernel of lines of the engine ntt, likewise.
    #[cfg(feature = "ntt")]
    NttLines(FourierTask<ArrayTask>, &'static str),
}

impl Parameters {
    /// The general kernel for a block whose largest step has so many tiles of eight slots.
    pub(crate) fn block(task: Task, tiles: i32) -> Parameters {
        if tiles <= ozfft_kernels::SMALL_TILES {
            Parameters::SmallBlock(task)
        } else {
            Parameters::Block(task)
        }
    }

    /// Name of the kernel that takes them.
    pub(crate) fn kernel(&self) -> &'static str {
        match self {
            Parameters::Block(_) => "general_block",
            Parameters::SmallBlock(_) => "general_block_small",
            Parameters::Copy(_) => "copy_points",
            Parameters::Largest(_) => "find_largest",
            Parameters::LargestLeft(_) => "find_largest_left",
            Parameters::Scale(_) => "scale_lines",
            Parameters::Truncated(_, name, _)
            | Parameters::Watched(_, name, _)
            | Parameters::Tuned(_, name)
            | Parameters::TunedStrided(_, name)
            | Parameters::FloatProduct(_, name)
            | Parameters::FloatSteps(_, name) => name,
            #[cfg(feature = "convolution")]
            Parameters::IntegerProduct(_, name) => name,
            #[cfg(any(feature = "convolution", feature = "ntt"))]
            Parameters::NttBatch(_, name) => name,
            #[cfg(feature = "ntt")]
            Parameters::NttLines(_, name) => name,
            Parameters::Floats(_, kernel, _) => kernel.name,
            Parameters::Template(_, kernel) | Parameters::Pass(_, kernel) => kernel.name,
            Parameters::Exactness(_, instruction) => instruction.kernel(),
        }
    }

    pub(crate) fn pointer(&self) -> *const std::ffi::c_void {
        match self {
            Parameters::Block(task) | Parameters::SmallBlock(task) => {
                std::ptr::from_ref(task).cast()
            }
            Parameters::Truncated(tasks, ..) => std::ptr::from_ref(tasks).cast(),
            Parameters::Watched(task, ..) => std::ptr::from_ref(task).cast(),
            Parameters::Copy(task)
            | Parameters::Largest(task)
            | Parameters::LargestLeft(task)
            | Parameters::Scale(task) => std::ptr::from_ref(task).cast(),
            Parameters::Tuned(task, _) | Parameters::Template(task, _) => {
                std::ptr::from_ref(task).cast()
            }
            Parameters::TunedStrided(task, _) => std::ptr::from_ref(task).cast(),
            Parameters::Pass(task, _) => std::ptr::from_ref(task).cast(),
            Parameters::Exactness(task, _) => std::ptr::from_ref(task).cast(),
            Parameters::Floats(task, ..) => std::ptr::from_ref(task).cast(),
            Parameters::FloatProduct(task, _) => std::ptr::from_ref(task).cast(),
            Parameters::FloatSteps(task, _) => std::ptr::from_ref(task).cast(),
            #[cfg(feature = "convolution")]
            Parameters::IntegerProduct(task, _) => std::ptr::from_ref(task).cast(),
            #[cfg(any(feature = "convolution", feature = "ntt"))]
            Parameters::NttBatch(task, _) => std::ptr::from_ref(task).cast(),
            #[cfg(feature = "ntt")]
            Parameters::NttLines(task, _) => std::ptr::from_ref(task).cast(),
        }
    }

    /// Whether the kernel waits for the launch before by itself (`launches.cuh`), so that it may begin earlier.
    pub(crate) fn waits_for_launch_before(&self) -> bool {
        match self {
            Parameters::Block(_)
            | Parameters::SmallBlock(_)
            | Parameters::Copy(_)
            | Parameters::Largest(_)
            | Parameters::LargestLeft(_)
            | Parameters::Scale(_)
            | Parameters::Tuned(..)
            | Parameters::TunedStrided(..)
            | Parameters::Template(..)
            | Parameters::Pass(..) => true,
            // Others of these are for residues.
            Parameters::Truncated(_, name, _) => ozfft_kernels::TRUNCATED_NAMES.contains(name),
            _ => false,
        }
    }

    /// Threads of a block.
    pub(crate) fn threads(&self) -> u32 {
        match self {
            Parameters::Tuned(..) | Parameters::TunedStrided(..) => ozfft_kernels::TUNED_THREADS,
            Parameters::Template(_, kernel) | Parameters::Pass(_, kernel) => kernel.threads,
            Parameters::Exactness(..) => ozfft_kernels::FP8_EXACTNESS_THREADS,
            Parameters::Floats(_, _, threads) => *threads,
            Parameters::FloatProduct(..) => ozfft_kernels::floats::PRODUCT_THREADS,
            Parameters::FloatSteps(..) => ozfft_kernels::floats::STEP_THREADS,
            #[cfg(feature = "convolution")]
            Parameters::IntegerProduct(..) => ozfft_kernels::ntt::THREADS,
            #[cfg(any(feature = "convolution", feature = "ntt"))]
            Parameters::NttBatch(..) => ozfft_kernels::ntt::THREADS,
            #[cfg(feature = "ntt")]
            Parameters::NttLines(..) => ozfft_kernels::ntt::THREADS,
            Parameters::Truncated(.., threads) | Parameters::Watched(.., threads) => *threads,
            _ => ozfft_kernels::GENERAL_THREADS,
        }
    }
}

/// The portable kernel that takes what another one leaves.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FallbackKernel {
    /// For truncated products, by its name.
    Truncated(&'static str),
    /// For any block whose largest step has so many tiles of eight slots.
    General { tiles: i32 },
}

impl FallbackKernel {
    pub(crate) fn parameters(self, tasks: Tasks) -> Parameters {
        match self {
            FallbackKernel::Truncated(name) => {
                Parameters::Truncated(tasks, name, ozfft_kernels::GENERAL_THREADS)
            }
            FallbackKernel::General { tiles } => Parameters::block(tasks.0[0], tiles),
        }
    }
}

/// A kernel of the template that a machine is ready to launch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TemplateKernel {
    pub(crate) name: &'static str,
    pub(crate) threads: u32,
    /// Blocks that a multiprocessor has room for.
    pub(crate) blocks_each: usize,
    /// Where it had to be compiled.
    pub(crate) compilation: Option<Compilation>,
}

/// What a compilation took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compilation {
    pub(crate) seconds: f64,
    /// Whether the kernel is on disk for the next plan.
    pub(crate) kept: bool,
}

/// A queue of work: a CUDA stream as an integer; 0 is the default one.
pub(crate) type Queue = u64;

/// A copy of rows that lie at equal distances, in slices that do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockCopy {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Bytes of a row.
    pub(crate) bytes: usize,
    /// Rows of a slice, and slices.
    pub(crate) rows: usize,
    pub(crate) slices: usize,
    /// Bytes from row to row, and from slice to slice, of either side.
    pub(crate) row_distances: [usize; 2],
    pub(crate) slice_distances: [usize; 2],
}

/// Memory and launches of one device. Work in a queue is done in order; nothing waits but [`Machine::synchronize`].
pub(crate) trait Machine: Send + Sync {
    /// The device, in words.
    fn name(&self) -> String;
    /// Bytes of shared memory that a block may have.
    fn shared_memory(&self) -> usize;
    /// Multiprocessors: blocks that run side by side.
    fn multiprocessors(&self) -> usize;
    /// Launches of fewer blocks leave multiprocessors without work. (Tests say themselves when that is so: not every kernel is there.)
    fn few_panels(&self) -> u64 {
        self.multiprocessors() as u64
    }
    /// Words of long lines take no more workspace than this, unless one line does: more lines are transformed in turn.
    /// (Tests have few, so that turns are tested.)
    fn most_word_bytes(&self) -> u64 {
        if cfg!(test) { 1 << 17 } else { 1 << 30 }
    }
    /// Whether the kernels of `tuned.rs` run here.
    fn has_tuned_kernels(&self) -> bool;
    /// Compute capability.
    fn capability(&self) -> (i32, i32);
    /// Makes a kernel of the template ready; or says why there is none, and how to get it.
    fn template_kernel(
        &self,
        spec: &KernelSpec,
        conversions: bool,
    ) -> Result<TemplateKernel, String>;
    /// Parameters of kernels that were fastest here.
    fn tuning(&self) -> &Tuning {
        static NOTHING: Tuning = Tuning::nothing();
        &NOTHING
    }
    /// What `exactness.rs` has found out about this device.
    fn exactness(&self) -> &Exactnesses;
    /// What `floats` has found out about it.
    fn float_findings(&self) -> &FloatFindings;
    /// A map of an array for the copy engine.
    fn tensor_map(&self, array: &MappedArray) -> Result<TensorMap, FftError>;
    fn allocate(&self, bytes: usize) -> Result<u64, FftError>;
    /// # Safety
    /// The address is of [`Machine::allocate`], and nothing uses it any more.
    unsafe fn free(&self, address: u64);
    /// Page-locked host memory, from which and to which copies run beside the processor; none where there is none to be
    /// had.
    fn pin(&self, _bytes: usize) -> Option<*mut u8> {
        None
    }
    /// # Safety
    /// The address is of [`Machine::pin`], and nothing uses it any more.
    unsafe fn unpin(&self, _address: *mut u8) {}
    /// A queue of its own for one call.
    fn open_queue(&self) -> Result<Queue, FftError>;
    fn close_queue(&self, queue: Queue);
    /// # Safety
    /// The memory is so long, and the bytes stay where they are until the queue has come so far.
    unsafe fn upload(&self, queue: Queue, to: u64, bytes: &[u8]) -> Result<(), FftError>;
    /// # Safety
    /// As for [`Machine::upload`].
    unsafe fn download(&self, queue: Queue, from: u64, bytes: &mut [u8]) -> Result<(), FftError>;
    /// Copies within the device's memory.
    ///
    /// # Safety
    /// Both blocks are memory of the device, and do not overlap.
    unsafe fn copy_block(&self, queue: Queue, block: &BlockCopy) -> Result<(), FftError>;
    /// # Safety
    /// The memory is so long.
    unsafe fn clear(&self, queue: Queue, address: u64, bytes: usize) -> Result<(), FftError>;
    /// # Safety
    /// All addresses in the parameters are of memory that the kernel may use.
    unsafe fn launch(
        &self,
        queue: Queue,
        parameters: &Parameters,
        blocks: u64,
        shared_bytes: usize,
    ) -> Result<(), FftError>;
    fn synchronize(&self, queue: Queue) -> Result<(), FftError>;
    /// Whether everything in a queue is done; a failure, which [`Machine::synchronize`] tells, is an end, too.
    fn is_done(&self, _queue: Queue) -> bool {
        true
    }
    /// Whether somebody records what is put into this queue.
    fn is_recorded(&self, _queue: Queue) -> bool {
        false
    }
    /// Records what is put into a queue instead of doing it; none where there is nothing to record with.
    fn record(
        &self,
        _put: &dyn Fn(Queue) -> Result<(), FftError>,
    ) -> Result<Option<u64>, FftError> {
        Ok(None)
    }
    /// Puts what was recorded into a queue.
    ///
    /// # Safety
    /// As for what was recorded; one thread at a time replays a recording.
    unsafe fn replay(&self, _queue: Queue, _recording: u64) -> Result<(), FftError> {
        unreachable!("nothing was recorded")
    }
    /// # Safety
    /// The recording is of [`Machine::record`], and nobody will replay it.
    unsafe fn forget(&self, _recording: u64) {}
    /// Whether this is device memory of this device that begins at or before `address` and lasts for `bytes`.
    fn check_pointer(
        &self,
        what: crate::error::Buffer,
        address: u64,
        bytes: usize,
    ) -> Result<(), FftError>;
}

/// Memory of a device, given back when dropped.
pub(crate) struct DeviceMemory {
    machine: Arc<dyn Machine>,
    address: u64,
    bytes: usize,
}

impl DeviceMemory {
    pub(crate) fn new(machine: &Arc<dyn Machine>, bytes: usize) -> Result<Self, FftError> {
        Ok(DeviceMemory {
            machine: Arc::clone(machine),
            // Nothing has no address.
            address: machine.allocate(bytes.max(16))?,
            bytes,
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        // SAFETY: allocated here; its owner has waited for all work that uses it.
        unsafe { self.machine.free(self.address) }
    }
}
