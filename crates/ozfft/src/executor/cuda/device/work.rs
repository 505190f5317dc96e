//! What a plan does on a device, whatever it computes with.

use crate::error::FftError;
use crate::executor::cuda::device::machine::{Machine, Queue};
use crate::executor::cuda::program::task::{Arrays, Counting};

/// A kernel that a call launches: blocks of the grid, threads of a block, and its shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaunchedKernel {
    pub(crate) name: &'static str,
    pub(crate) blocks: u64,
    pub(crate) threads: u32,
    pub(crate) shared_bytes: usize,
}

/// The launches of a plan, and what they need.
pub(crate) trait DeviceWork: Send + Sync {
    /// Puts all launches into a queue.
    ///
    /// # Safety
    /// The arrays are device memory as long as the problem and [`DeviceWork::workspace_bytes`] say, which nothing else uses until the queue
    /// has come so far.
    unsafe fn run(
        &self,
        machine: &dyn Machine,
        queue: Queue,
        arrays: &Arrays,
    ) -> Result<(), FftError>;
    /// Every kernel that a call may launch: they are made ready before the first call.
    fn kernels(&self) -> Vec<&'static str>;
    /// Kernels in the order of their launches, for those who want to know; those that only take what others leave are not among them.
    fn launches(&self) -> Vec<LaunchedKernel>;
    fn table_bytes(&self) -> usize;
    /// Bytes of workspace that a call on device memory needs.
    fn workspace_bytes(&self) -> usize;
    /// Passes on an instruction that not every GPU has, and all passes.
    fn tuned_passes(&self) -> (usize, usize) {
        (0, 1)
    }
    /// What is worth knowing of the kernels.
    fn remarks(&self) -> &[String] {
        &[]
    }
    /// What a transform in floating-point numbers runs.
    fn describe_floats(&self) -> Option<String> {
        None
    }
    /// Where residue kernels have counted what.
    fn counts(&self, _: &Arrays) -> Option<(u64, Counting)> {
        None
    }
}
