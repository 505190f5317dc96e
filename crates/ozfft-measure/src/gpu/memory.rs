//! Memory on a GPU.
#![allow(unsafe_code)]

use super::{DeviceFailure, Needs, failed};
use bytemuck::Pod;
use cudarc::driver::{CudaContext, result, sys};
use std::sync::Arc;

/// An array of bytes in a GPU's memory, at a multiple of 256.
pub struct Memory {
    context: Arc<CudaContext>,
    address: u64,
    bytes: usize,
}

impl Memory {
    /// So many bytes, with whatever was there before.
    pub fn new(context: &Arc<CudaContext>, bytes: usize) -> Result<Memory, DeviceFailure> {
        context.bind_to_thread().map_err(failed("use the device"))?;
        // SAFETY: the memory is not looked at before something has been written, and is freed once, by `drop`. The
        // driver allocates no empty arrays.
        let allocated = unsafe { result::malloc_sync(bytes.max(256)) };
        let address = allocated.map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => DeviceFailure::Memory {
                needed: bytes,
                free: context.mem_get_info().map_or(0, |(free, _)| free),
            },
            _ => failed("allocate memory")(error),
        })?;
        Ok(Memory {
            context: context.clone(),
            address,
            bytes,
        })
    }

    /// Where bytes are that a copy or a kernel touches, if they are there.
    pub fn range(&self, offset: usize, bytes: usize) -> Result<u64, DeviceFailure> {
        let needed = offset.saturating_add(bytes);
        if needed > self.bytes {
            let given = self.bytes;
            return Err(DeviceFailure::TooShort { needed, given });
        }
        self.context
            .bind_to_thread()
            .map_err(failed("use the device"))?;
        Ok(self.address + offset as u64)
    }

    /// Copies values to the device, from this byte on, and waits.
    pub fn upload<V: Pod>(&mut self, offset: usize, values: &[V]) -> Result<(), DeviceFailure> {
        let target = self.range(offset, size_of_val(values))?;
        // SAFETY: the bytes are within the memory, and nothing else uses it: work on it is waited for.
        unsafe { result::memcpy_htod_sync(target, values) }.map_err(failed("copy to the device"))
    }

    /// Copies values from the device, from this byte on, and waits.
    pub fn download<V: Pod>(&self, offset: usize, values: &mut [V]) -> Result<(), DeviceFailure> {
        let source = self.range(offset, size_of_val(values))?;
        // SAFETY: the bytes are within the memory, and any bits are a value of these types.
        unsafe { result::memcpy_dtoh_sync(values, source) }.map_err(failed("copy from the device"))
    }

    /// Fills the memory with repetitions of a pattern, the last one cut off where the memory ends.
    pub fn fill<V: Pod>(&mut self, pattern: &[V]) -> Result<(), DeviceFailure> {
        let bytes: &[u8] = bytemuck::cast_slice(pattern);
        let mut filled = bytes.len().min(self.bytes);
        self.upload(0, &bytes[..filled])?;
        while filled > 0 && filled < self.bytes {
            // What is filled begins with the pattern and has only whole ones but for the end.
            let count = filled.min(self.bytes - filled);
            let (source, target) = (self.range(0, count)?, self.range(filled, count)?);
            // SAFETY: both parts are within the memory and do not overlap.
            unsafe { result::memcpy_dtod_sync(target, source, count) }
                .map_err(failed("copy within the device"))?;
            filled += count;
        }
        let waited = self.context.synchronize();
        waited.map_err(failed("copy within the device"))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // Errors of a lost device were reported by what it was used for; there is nothing left to free then.
        let _ = self.context.bind_to_thread();
        // SAFETY: allocated by `new` and freed here only; all work on it has been waited for.
        let _ = unsafe { result::free_sync(self.address) };
    }
}

/// The arrays of a transform.
pub struct DeviceArrays {
    pub input: Memory,
    pub output: Memory,
    workspace: Memory,
}

impl DeviceArrays {
    pub(super) fn new(context: &Arc<CudaContext>, needs: Needs) -> Result<Self, DeviceFailure> {
        let needed = needs.input + needs.output + needs.workspace;
        let (free, _) = context
            .mem_get_info()
            .map_err(failed("tell its free memory"))?;
        if needed > free {
            return Err(DeviceFailure::Memory { needed, free });
        }
        Ok(DeviceArrays {
            input: Memory::new(context, needs.input)?,
            output: Memory::new(context, needs.output)?,
            workspace: Memory::new(context, needs.workspace)?,
        })
    }

    /// Bytes of the workspace.
    pub fn workspace_bytes(&self) -> usize {
        self.workspace.bytes
    }

    /// The addresses, if the arrays are long enough.
    pub(super) fn addresses(&self, needs: Needs) -> Result<[u64; 3], DeviceFailure> {
        Ok([
            self.input.range(0, needs.input)?,
            self.output.range(0, needs.output)?,
            self.workspace.range(0, needs.workspace)?,
        ])
    }
}
