//! What runs kernels: a GPU behind the driver, or, in tests, the emulator.

use crate::error::FftError;
use crate::executor::cuda::device::findings::Findings;
use crate::executor::cuda::device::launch::{Launch, TemplateKernel};
use crate::executor::cuda::program::tuned_task::{MappedArray, TensorMap};
use crate::executor::cuda::select::tuning::Tuning;
use ozfft_kernels::template::KernelSpec;
use std::sync::Arc;

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
    /// Makes kernels ready that are not the template's. Everything that is launched has been made ready before: nothing is loaded while a
    /// stream is being recorded.
    fn prepare(&self, _kernels: &[&'static str]) -> Result<(), FftError> {
        Ok(())
    }
    /// What has been found out about this device.
    fn findings(&self) -> &Findings;
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
    /// The arguments are of the kernel's type, and all addresses in them are of memory that it may use.
    unsafe fn launch(&self, queue: Queue, launch: &Launch) -> Result<(), FftError>;
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
