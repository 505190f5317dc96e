//! NVIDIA's GPUs, of the crate `ozfft`.

use crate::device::{DeviceCopy, Gpu, GpuLines, GpuMemory, PageLocked};
use ozfft::{
    Buffer, DeviceArray, DeviceAxisPlan, DeviceBlock, DevicePointer, DeviceQueue, FftError, Plan,
    Planner, Real, Substrate,
};
use std::rc::Rc;

struct Cuda(Rc<DeviceQueue>);

struct Lines<T: Real> {
    plan: DeviceAxisPlan<T>,
    queue: Rc<DeviceQueue>,
}

/// The GPU of this number.
pub(crate) fn open<T: Real>(ordinal: usize) -> Result<Box<dyn Gpu<T>>, FftError> {
    Ok(Box::new(Cuda(Rc::new(DeviceQueue::open(ordinal)?))))
}

impl GpuMemory for DeviceArray {
    fn address(&self) -> u64 {
        self.pointer().0
    }
}

impl<T: Real> Gpu<T> for Cuda {
    fn name(&self) -> String {
        self.0.name()
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn GpuMemory>, FftError> {
        Ok(Box::new(self.0.allocate(bytes)?))
    }

    fn page_locked(&self, bytes: usize) -> Result<PageLocked, FftError> {
        Ok(Box::new(self.0.page_locked(bytes)?))
    }

    fn check(&self, buffer: Buffer, address: u64, bytes: usize) -> Result<(), FftError> {
        self.0.check(buffer, DevicePointer(address), bytes)
    }

    unsafe fn upload(&self, to: u64, bytes: &[u8]) -> Result<(), FftError> {
        // SAFETY: the caller's promise.
        unsafe { self.0.upload(DevicePointer(to), bytes) }
    }

    unsafe fn download(&self, from: u64, bytes: &mut [u8]) -> Result<(), FftError> {
        // SAFETY: the caller's promise.
        unsafe { self.0.download(DevicePointer(from), bytes) }
    }

    unsafe fn copy(&self, copy: &DeviceCopy) -> Result<(), FftError> {
        let block = DeviceBlock {
            from: DevicePointer(copy.from),
            to: DevicePointer(copy.to),
            bytes: copy.bytes,
            rows: copy.rows,
            slices: copy.slices,
            row_distances: copy.row_distances,
            slice_distances: copy.slice_distances,
        };
        // SAFETY: the caller's promise.
        unsafe { self.0.copy(&block) }
    }

    fn is_done(&self) -> bool {
        self.0.is_done()
    }

    fn synchronize(&self) -> Result<(), FftError> {
        self.0.synchronize()
    }

    fn plan_axis(
        &self,
        planner: &Planner<T>,
        whole: &Plan<T>,
        (number, shape): (usize, &[usize]),
        substrate: Substrate,
    ) -> Result<Box<dyn GpuLines<T>>, FftError> {
        let plan = planner.plan_axis_on_device(whole, number, shape, &self.0, substrate)?;
        Ok(Box::new(Lines {
            plan,
            queue: Rc::clone(&self.0),
        }))
    }
}

impl<T: Real> GpuLines<T> for Lines<T> {
    fn substrate(&self) -> &str {
        self.plan.substrate()
    }

    fn transforms(&self) -> usize {
        self.plan.transforms()
    }

    fn workspace_bytes(&self) -> usize {
        self.plan.workspace_bytes()
    }

    unsafe fn largest_exponents(&self, input: u64, exponents: &mut [i32]) -> Result<(), FftError> {
        // SAFETY: the caller's promise; plans stay on one thread.
        unsafe {
            self.plan
                .largest_exponents(&self.queue, DevicePointer(input), exponents)
        }
    }

    unsafe fn process(
        &self,
        (from, to): (u64, u64),
        powers: &[i32],
        workspace: u64,
    ) -> Result<(), FftError> {
        let arrays = (DevicePointer(from), DevicePointer(to));
        // SAFETY: the caller's promise.
        unsafe {
            self.plan
                .process(&self.queue, arrays, powers, DevicePointer(workspace))
        }
    }
}
