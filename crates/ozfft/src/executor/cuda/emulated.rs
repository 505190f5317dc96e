//! The emulator as a machine: device memory is host memory, and every call is done when it returns.

use super::machine::{Machine, Parameters, Queue};
use super::tuned::{MappedArray, TensorMap};
use crate::error::{Buffer, FftError};
use std::alloc::Layout;
use std::collections::HashMap;
use std::sync::Mutex;

/// A device without a GPU.
#[derive(Default)]
pub(crate) struct Emulator {
    allocated: Mutex<HashMap<u64, Layout>>,
    /// Plans as for a GPU with tuned kernels, whose instructions the emulator does not know: such plans do not run.
    pub(crate) plans_tuned_kernels: bool,
}

impl Machine for Emulator {
    fn name(&self) -> String {
        "emulator".into()
    }

    fn shared_memory(&self) -> usize {
        99 << 10
    }

    fn multiprocessors(&self) -> usize {
        2
    }

    fn has_tuned_kernels(&self) -> bool {
        self.plans_tuned_kernels
    }

    fn tensor_map(&self, _: &MappedArray) -> Result<TensorMap, FftError> {
        unreachable!("there are no tuned kernels here")
    }

    fn allocate(&self, bytes: usize) -> Result<u64, FftError> {
        let layout = Layout::from_size_align(bytes, 256).expect("a layout");
        // SAFETY: not of length 0.
        let address = unsafe { std::alloc::alloc(layout) };
        assert!(!address.is_null());
        // Memory of a device begins with anything.
        // SAFETY: just allocated.
        unsafe { address.write_bytes(0x5a, bytes) };
        let address = address as u64;
        self.allocated.lock().unwrap().insert(address, layout);
        Ok(address)
    }

    unsafe fn free(&self, address: u64) {
        let layout = self.allocated.lock().unwrap().remove(&address);
        // SAFETY: allocated above with this layout.
        unsafe { std::alloc::dealloc(address as *mut u8, layout.expect("our own")) }
    }

    fn open_queue(&self) -> Result<Queue, FftError> {
        Ok(0)
    }

    fn close_queue(&self, _: Queue) {}

    unsafe fn upload(&self, _: Queue, to: u64, bytes: &[u8]) -> Result<(), FftError> {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to as *mut u8, bytes.len()) };
        Ok(())
    }

    unsafe fn download(&self, _: Queue, from: u64, bytes: &mut [u8]) -> Result<(), FftError> {
        // SAFETY: the caller's promise.
        unsafe {
            std::ptr::copy_nonoverlapping(from as *const u8, bytes.as_mut_ptr(), bytes.len())
        };
        Ok(())
    }

    unsafe fn clear(&self, _: Queue, address: u64, bytes: usize) -> Result<(), FftError> {
        // SAFETY: the caller's promise.
        unsafe { (address as *mut u8).write_bytes(0, bytes) };
        Ok(())
    }

    unsafe fn launch(
        &self,
        _: Queue,
        parameters: &Parameters,
        blocks: u64,
        shared_bytes: usize,
    ) -> Result<(), FftError> {
        assert!(shared_bytes <= self.shared_memory());
        // SAFETY: the caller's promise.
        unsafe {
            ozfft_emulator::launch(
                parameters.kernel(),
                parameters.pointer(),
                blocks,
                ozfft_kernels::GENERAL_THREADS,
                shared_bytes,
            );
        }
        Ok(())
    }

    fn synchronize(&self, _: Queue) -> Result<(), FftError> {
        Ok(())
    }

    fn check_pointer(&self, _: Buffer, _: u64, _: usize) -> Result<(), FftError> {
        Ok(())
    }
}
