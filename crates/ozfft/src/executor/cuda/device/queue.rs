//! A GPU's memory and a stream for programs that keep arrays there between plans.

use crate::error::{Buffer, FftError};
use crate::executor::cuda::device::driver;
use crate::executor::cuda::device::machine::{BlockCopy, DeviceMemory, Machine, Queue};
use crate::problem::DevicePointer;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A stream of a GPU, with memory of the GPU, page-locked memory, and copies between them. Work is done in order, and nothing waits but
/// [`DeviceQueue::synchronize`].
///
/// ```no_run
/// use ozfft::DeviceQueue;
/// let queue = DeviceQueue::open(0)?;
/// let array = queue.allocate(4096)?;
/// let mut back = queue.page_locked(4096)?;
/// back.fill(7);
/// // SAFETY: both have so many bytes, and live until the queue has been waited for.
/// unsafe { queue.upload(array.pointer(), &back)? };
/// queue.synchronize()?;
/// # Ok::<(), ozfft::FftError>(())
/// ```
pub struct DeviceQueue {
    machine: Arc<dyn Machine>,
    ordinal: usize,
    queue: Queue,
}

impl std::fmt::Debug for DeviceQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeviceQueue")
            .field("device", &self.ordinal)
            .finish_non_exhaustive()
    }
}

/// Rows of bytes that lie at equal distances, in slices that do, and where they are copied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceBlock {
    /// Where the first row is.
    pub from: DevicePointer,
    /// Where it goes.
    pub to: DevicePointer,
    /// Bytes of a row.
    pub bytes: usize,
    /// Rows of a slice.
    pub rows: usize,
    /// Slices.
    pub slices: usize,
    /// Bytes from row to row, where they are and where they go.
    pub row_distances: [usize; 2],
    /// Bytes from slice to slice, likewise.
    pub slice_distances: [usize; 2],
}

/// Memory of a GPU, freed when dropped. Work that uses it has been waited for then.
pub struct DeviceArray(DeviceMemory);

impl std::fmt::Debug for DeviceArray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeviceArray")
            .field("pointer", &self.pointer())
            .field("len", &self.len())
            .finish()
    }
}

impl DeviceArray {
    /// Where it begins: at a multiple of 256 bytes.
    pub fn pointer(&self) -> DevicePointer {
        DevicePointer(self.0.address())
    }

    /// Its length in bytes.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.0.bytes()
    }
}

/// Page-locked memory of the processor, from and to which a GPU copies while the processor goes on.
pub struct PageLocked {
    machine: Arc<dyn Machine>,
    address: *mut u8,
    len: usize,
}

impl std::fmt::Debug for PageLocked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PageLocked")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

// SAFETY: plain memory with one owner.
unsafe impl Send for PageLocked {}

impl Deref for PageLocked {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: allocated with this length and written.
        unsafe { std::slice::from_raw_parts(self.address, self.len) }
    }
}

impl DerefMut for PageLocked {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; borrowed as long as the slice.
        unsafe { std::slice::from_raw_parts_mut(self.address, self.len) }
    }
}

impl Drop for PageLocked {
    fn drop(&mut self) {
        // SAFETY: allocated by `pin`; its owner has waited for all work that uses it.
        unsafe { self.machine.unpin(self.address) }
    }
}

impl DeviceQueue {
    /// Opens a stream of the GPU of this number.
    pub fn open(ordinal: usize) -> Result<DeviceQueue, FftError> {
        DeviceQueue::on(driver::open(ordinal)?, ordinal)
    }

    pub(crate) fn on(machine: Arc<dyn Machine>, ordinal: usize) -> Result<DeviceQueue, FftError> {
        Ok(DeviceQueue {
            queue: machine.open_queue()?,
            machine,
            ordinal,
        })
    }

    pub(crate) fn machine(&self) -> &Arc<dyn Machine> {
        &self.machine
    }

    /// The GPU in words.
    pub fn name(&self) -> String {
        self.machine.name()
    }

    /// The GPU's number.
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// The CUDA stream, as calls with device pointers take it.
    pub fn stream(&self) -> u64 {
        self.queue
    }

    /// Memory of the GPU, whose content is anything.
    pub fn allocate(&self, bytes: usize) -> Result<DeviceArray, FftError> {
        DeviceMemory::new(&self.machine, bytes).map(DeviceArray)
    }

    /// Page-locked memory, zeroed.
    pub fn page_locked(&self, bytes: usize) -> Result<PageLocked, FftError> {
        let Some(address) = self.machine.pin(bytes.max(1)) else {
            return Err(FftError::Unsupported(format!(
                "{} has no {bytes} bytes of page-locked memory to give; free some, or raise the limit of locked memory (ulimit -l)",
                self.name()
            )));
        };
        // SAFETY: allocated with this length; a slice must not be made of memory that was never written.
        unsafe { address.write_bytes(0, bytes) };
        Ok(PageLocked {
            machine: Arc::clone(&self.machine),
            address,
            len: bytes,
        })
    }

    /// Whether so many bytes from an address on are memory of this GPU.
    pub fn check(
        &self,
        buffer: Buffer,
        pointer: DevicePointer,
        bytes: usize,
    ) -> Result<(), FftError> {
        self.machine.check_pointer(buffer, pointer.0, bytes)
    }

    /// Copies to the GPU.
    ///
    /// # Safety
    /// So many bytes of the GPU's memory may be written, and the bytes stay where and what they are until the queue has come so far.
    pub unsafe fn upload(&self, to: DevicePointer, bytes: &[u8]) -> Result<(), FftError> {
        // SAFETY: the caller's promise.
        unsafe { self.machine.upload(self.queue, to.0, bytes) }
    }

    /// Copies from the GPU.
    ///
    /// # Safety
    /// So many bytes of the GPU's memory may be read, and nothing else uses the bytes until the queue has come so far.
    pub unsafe fn download(&self, from: DevicePointer, bytes: &mut [u8]) -> Result<(), FftError> {
        // SAFETY: the caller's promise.
        unsafe { self.machine.download(self.queue, from.0, bytes) }
    }

    /// Copies within the GPU's memory.
    ///
    /// # Safety
    /// Both sides are memory of this GPU, and do not overlap.
    pub unsafe fn copy(&self, block: &DeviceBlock) -> Result<(), FftError> {
        let block = BlockCopy {
            from: block.from.0,
            to: block.to.0,
            bytes: block.bytes,
            rows: block.rows,
            slices: block.slices,
            row_distances: block.row_distances,
            slice_distances: block.slice_distances,
        };
        // SAFETY: the caller's promise.
        unsafe { self.machine.copy_block(self.queue, &block) }
    }

    /// Whether everything is done.
    pub fn is_done(&self) -> bool {
        self.machine.is_done(self.queue)
    }

    /// Waits until everything is done, and reports failures.
    pub fn synchronize(&self) -> Result<(), FftError> {
        self.machine.synchronize(self.queue)
    }
}

impl Drop for DeviceQueue {
    fn drop(&mut self) {
        let _ = self.machine.synchronize(self.queue);
        self.machine.close_queue(self.queue);
    }
}
