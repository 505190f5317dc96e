//! The search for the largest number of every transform in an array on the device, for those who transform parts of it.

use crate::error::FftError;
use crate::executor::cuda::OpenQueue;
use crate::executor::cuda::device::launch::Launch;
use crate::executor::cuda::device::machine::{DeviceMemory, Machine, Queue};
use crate::executor::cuda::program::dimensions::Flattened;
use crate::executor::cuda::program::task::{
    Address, ArrayTask, Arrays, ELEMENTS_COMPLEX, ELEMENTS_HALF, ELEMENTS_REAL, FloatLines,
    KernelArgs,
};
use crate::executor::cuda::tables::Builder;
use crate::executor::scales::Scan;
use crate::kind::Kind;
use crate::sample::Real;
use crate::stages::scale::exponent_above;
use std::sync::Arc;

/// A launch that looks at all numbers of an array, and where it leaves what it finds.
pub(crate) struct LargestSearch {
    machine: Arc<dyn Machine>,
    task: ArrayTask,
    blocks: u64,
    transforms: usize,
    found: DeviceMemory,
    /// The task has its addresses.
    _tables: DeviceMemory,
}

/// The kernel.
const FIND: &str = "find_largest";

impl LargestSearch {
    /// Of an array that is the input of lines of this kind.
    pub(crate) fn new<T: Real>(
        machine: &Arc<dyn Machine>,
        scan: &Scan,
        kind: Kind,
    ) -> Result<Self, FftError> {
        let flat = Flattened::new(scan);
        let mut builder = Builder::default();
        let dimensions = builder.add(&flat.outer);
        let transforms = builder.add(&flat.transforms);
        let queue = OpenQueue::new(&**machine)?;
        let tables = builder.upload(machine, queue.1)?;
        let found = DeviceMemory::new(machine, 8 * scan.transforms)?;
        let lines = FloatLines {
            numbers: Address::of_input(),
            dimensions: dimensions.at(&tables),
            offset: scan.lines.offset as i64,
            stride: flat.line.stride,
            count: flat.line.length,
            dimension_count: flat.outer.len() as i32,
            single: i32::from(!T::IS_DOUBLE),
            elements: match kind {
                Kind::ComplexToComplex => ELEMENTS_COMPLEX,
                Kind::RealToComplex => ELEMENTS_REAL,
                Kind::ComplexToReal => ELEMENTS_HALF,
            },
            conjugate: 0,
            aligned: 0,
            unused: 0,
        };
        let task = ArrayTask {
            input: lines,
            output: lines,
            largest: Address::known(found.address()),
            transforms: transforms.at(&tables),
            scaled_down: Address::NONE,
            line_count: flat.outer.iter().map(|d| d.length).product(),
            transform_stride: flat.transform_stride,
            list: Address::NONE,
            list_count: Address::NONE,
            marks: Address::NONE,
            bias: 0,
            transform_dimension_count: flat.transforms.len() as i32,
        };
        let threads = u64::from(ozfft_kernels::GENERAL_THREADS);
        let enough = (task.line_count * flat.line.length).div_ceil(4 * threads);
        machine.prepare(&[FIND])?;
        Ok(LargestSearch {
            machine: Arc::clone(machine),
            task,
            blocks: enough.clamp(1, 8 * machine.multiprocessors() as u64),
            transforms: scan.transforms,
            found,
            _tables: tables,
        })
    }

    /// For every transform the least power of two above all of its numbers; waits for the queue.
    ///
    /// # Safety
    /// The input is device memory of the array's length, which nothing writes to meanwhile, and one thread at a time searches.
    pub(crate) unsafe fn exponents(
        &self,
        queue: Queue,
        input: u64,
        exponents: &mut [i32],
    ) -> Result<(), FftError> {
        let arrays = Arrays {
            input,
            output: input,
            workspace: 0,
        };
        let search = Launch::general(FIND, self.blocks, self.task.resolved(&arrays));
        let mut largest = vec![0u64; self.transforms];
        let bytes = bytemuck::cast_slice_mut(&mut largest);
        // SAFETY: the caller's promise; what is found has its own memory, and the bytes stay until the queue has come so far.
        unsafe {
            let (machine, found) = (&self.machine, self.found.address());
            machine.clear(queue, found, self.found.bytes())?;
            machine.launch(queue, &search)?;
            machine.download(queue, found, bytes)?;
            machine.synchronize(queue)?;
        }
        for (exponent, largest) in exponents.iter_mut().zip(largest) {
            *exponent = exponent_above(largest);
        }
        Ok(())
    }
}
