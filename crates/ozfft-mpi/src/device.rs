//! What a rank needs of a GPU: memory, copies, and lines along an axis. `cuda.rs` has it of NVIDIA's; tests have one that is none.

use ozfft::{Buffer, FftError, Plan, Planner, Real, Substrate};
use std::ffi::{CStr, c_int, c_void};
use std::ops::DerefMut;

/// Memory of a GPU, freed when dropped.
pub(crate) trait GpuMemory {
    /// Where it begins: at a multiple of 256 bytes.
    fn address(&self) -> u64;
}

/// Page-locked memory of the processor.
pub(crate) type PageLocked = Box<dyn DerefMut<Target = [u8]>>;

/// Rows of bytes that lie at equal distances, in slices that do: where they are, and where they go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeviceCopy {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) bytes: usize,
    pub(crate) rows: usize,
    pub(crate) slices: usize,
    pub(crate) row_distances: [usize; 2],
    pub(crate) slice_distances: [usize; 2],
}

/// A GPU and a queue of it: work is done in order, and nothing waits but [`Gpu::synchronize`], and searches for the largest numbers.
pub(crate) trait Gpu<T: Real> {
    fn name(&self) -> String;
    fn allocate(&self, bytes: usize) -> Result<Box<dyn GpuMemory>, FftError>;
    fn page_locked(&self, bytes: usize) -> Result<PageLocked, FftError>;
    /// Whether so many bytes from an address on are memory of this GPU.
    fn check(&self, buffer: Buffer, address: u64, bytes: usize) -> Result<(), FftError>;
    /// # Safety
    /// So many bytes of the GPU's memory may be written, and the bytes stay where and what they are until the queue has come so far.
    unsafe fn upload(&self, to: u64, bytes: &[u8]) -> Result<(), FftError>;
    /// # Safety
    /// So many bytes of the GPU's memory may be read, and nothing else uses the bytes until the queue has come so far.
    unsafe fn download(&self, from: u64, bytes: &mut [u8]) -> Result<(), FftError>;
    /// # Safety
    /// Both sides are memory of this GPU, and do not overlap.
    unsafe fn copy(&self, copy: &DeviceCopy) -> Result<(), FftError>;
    fn is_done(&self) -> bool;
    fn synchronize(&self) -> Result<(), FftError>;
    /// Lines along an axis of a part (`Planner::plan_axis`).
    fn plan_axis(
        &self,
        planner: &Planner<T>,
        whole: &Plan<T>,
        axis: (usize, &[usize]),
        substrate: Substrate,
    ) -> Result<Box<dyn GpuLines<T>>, FftError>;
}

/// Lines along an axis of a part in the GPU's memory.
pub(crate) trait GpuLines<T: Real> {
    /// The units of the GPU that run, by name.
    fn substrate(&self) -> &str;
    fn transforms(&self) -> usize;
    fn workspace_bytes(&self) -> usize;
    /// # Safety
    /// The input is a part in the memory of the GPU that this was planned for.
    unsafe fn largest_exponents(&self, input: u64, exponents: &mut [i32]) -> Result<(), FftError>;
    /// # Safety
    /// Input and output are parts in the memory of the GPU that this was planned for, the workspace is as long as it says, and nothing else uses
    /// them until the queue has come so far.
    unsafe fn process(
        &self,
        arrays: (u64, u64),
        powers: &[i32],
        workspace: u64,
    ) -> Result<(), FftError>;
}

/// What the MPI that runs says of device pointers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DevicePointers {
    Taken,
    /// It was asked, and says no.
    NotTaken,
    /// It has no function to ask.
    Unknown,
}

/// Asks MPI whether it takes device pointers: Open MPI by `MPIX_Query_cuda_support`, MPICH by `MPIX_GPU_query_support`. Both are looked for in the library
/// that runs, because not every MPI has them.
pub(crate) fn device_pointers() -> DevicePointers {
    type Query = unsafe extern "C" fn() -> c_int;
    type QueryKind = unsafe extern "C" fn(c_int, *mut c_int) -> c_int;
    /// `MPIX_GPU_SUPPORT_CUDA` of MPICH.
    const CUDA: c_int = 0;
    if let Some(function) = function_of_mpi(c"MPIX_Query_cuda_support") {
        // SAFETY: the function of this name has this type.
        let query: Query = unsafe { std::mem::transmute(function) };
        // SAFETY: it may be called at any time, and has no parameters.
        return match unsafe { query() } {
            1 => DevicePointers::Taken,
            _ => DevicePointers::NotTaken,
        };
    }
    if let Some(function) = function_of_mpi(c"MPIX_GPU_query_support") {
        // SAFETY: the function of this name has this type.
        let query: QueryKind = unsafe { std::mem::transmute(function) };
        let mut supported = 0;
        // SAFETY: it writes one number; MPI is running.
        let code = unsafe { query(CUDA, &mut supported) };
        return match (code, supported) {
            (0, 1..) => DevicePointers::Taken,
            _ => DevicePointers::NotTaken,
        };
    }
    DevicePointers::Unknown
}

/// A function of the library that MPI's others are from. It need not be visible to all of the program: Python loads libraries for itself.
fn function_of_mpi(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: asks the loader, with names that end in a zero; the library is loaded already, and stays.
    let found = unsafe {
        let known = mpi::ffi::MPI_Ialltoallv as *const c_void;
        let mut place = std::mem::zeroed::<libc::Dl_info>();
        match libc::dladdr(known, &mut place) {
            0 => libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()),
            _ => {
                let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
                match libc::dlopen(place.dli_fname, flags) {
                    library if library.is_null() => libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()),
                    library => libc::dlsym(library, name.as_ptr()),
                }
            }
        }
    };
    (!found.is_null()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_mpi_are_found_and_others_are_not() {
        assert!(function_of_mpi(c"MPI_Comm_rank").is_some());
        assert!(function_of_mpi(c"MPI_Transform_by_magic").is_none());
    }
}
