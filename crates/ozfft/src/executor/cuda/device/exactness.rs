//! The question to a device whether the sums of a tensor instruction on short floating-point numbers are exact as far as kernels need them:
//! asked once, before the first plan that uses it.

use crate::error::FftError;
use crate::executor::cuda::OpenQueue;
use crate::executor::cuda::device::launch::Launch;
use crate::executor::cuda::device::machine::{DeviceMemory, Machine};
use crate::executor::cuda::program::task::KernelArgs;
use bytemuck::{Pod, Zeroable};
use ozfft_kernels::{F16_EXACT, FP8_EXACT};
use std::sync::{Arc, OnceLock};

/// Blocks on a device that is asked.
const BLOCKS: u64 = 16;

/// The instruction that a device is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instruction {
    Fp8Wgmma,
    Fp8MmaSync,
    F16MmaSync,
}

impl Instruction {
    /// The kernel that asks.
    pub(crate) fn kernel(self) -> &'static str {
        match self {
            Instruction::Fp8Wgmma => ozfft_kernels::FP8_EXACTNESS_NAME,
            Instruction::Fp8MmaSync => ozfft_kernels::FP8_MMA_SYNC_EXACTNESS_NAME,
            Instruction::F16MmaSync => ozfft_kernels::F16_EXACTNESS_NAME,
        }
    }

    /// The largest sum that has to be exact.
    fn exact(self) -> i64 {
        match self {
            Instruction::Fp8Wgmma | Instruction::Fp8MmaSync => FP8_EXACT,
            Instruction::F16MmaSync => F16_EXACT,
        }
    }

    fn inexact(self, name: String, found: Exactness) -> FftError {
        let Exactness {
            differing,
            compared,
            largest,
        } = found;
        match self {
            Instruction::Fp8Wgmma | Instruction::Fp8MmaSync => FftError::Fp8Inexact {
                name,
                differing,
                compared,
                largest,
            },
            Instruction::F16MmaSync => FftError::F16Inexact {
                name,
                differing,
                compared,
                largest,
            },
        }
    }
}

/// What is known of a device's instructions.
#[derive(Debug, Default)]
pub(crate) struct Exactnesses {
    fp8_wgmma: OnceLock<Exactness>,
    fp8_mma_sync: OnceLock<Exactness>,
    f16_mma_sync: OnceLock<Exactness>,
}

impl Exactnesses {
    fn of(&self, instruction: Instruction) -> &OnceLock<Exactness> {
        match instruction {
            Instruction::Fp8Wgmma => &self.fp8_wgmma,
            Instruction::Fp8MmaSync => &self.fp8_mma_sync,
            Instruction::F16MmaSync => &self.f16_mma_sync,
        }
    }
}

/// What the kernels that compare sums with integers are told: `ExactnessArguments` of `fp8_exactness.cuh`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct ExactnessTask {
    differing: u64,
    compared: u64,
    largest: u64,
}

impl KernelArgs for ExactnessTask {}

/// What they found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exactness {
    differing: u32,
    compared: u32,
    largest: u32,
}

/// Asks the device, once for each of them, whether the sums of an instruction are exact.
pub(crate) fn check_device(
    machine: &Arc<dyn Machine>,
    instruction: Instruction,
) -> Result<(), FftError> {
    let known = machine.findings().of::<Exactnesses>();
    let known = known.of(instruction);
    let found = match known.get() {
        Some(&found) => found,
        None => {
            let found = compare(machine, instruction)?;
            *known.get_or_init(|| found)
        }
    };
    // Nothing wrong means little if too little was compared.
    if found.differing != 0 || i64::from(found.largest) < instruction.exact() / 64 * 63 {
        return Err(instruction.inexact(machine.name(), found));
    }
    Ok(())
}

fn compare(machine: &Arc<dyn Machine>, instruction: Instruction) -> Result<Exactness, FftError> {
    machine.prepare(&[instruction.kernel()])?;
    let memory = DeviceMemory::new(machine, 12)?;
    let mut found = [0u32; 3];
    let task = ExactnessTask {
        differing: memory.address(),
        compared: memory.address() + 4,
        largest: memory.address() + 8,
    };
    // Declared last, and so closed first: it waits for what uses the memory.
    let queue = OpenQueue::new(&**machine)?;
    // SAFETY: the memory has room for the three numbers, which live until the queue has been waited for.
    unsafe {
        machine.clear(queue.1, memory.address(), 12)?;
        let shared = ozfft_kernels::FP8_EXACTNESS_SHARED_BYTES;
        let grid = (BLOCKS, ozfft_kernels::FP8_EXACTNESS_THREADS);
        let launch = Launch::new(instruction.kernel(), grid, shared, task);
        machine.launch(queue.1, &launch)?;
        let bytes = bytemuck::cast_slice_mut(&mut found);
        machine.download(queue.1, memory.address(), bytes)?;
    }
    machine.synchronize(queue.1)?;
    Ok(Exactness {
        differing: found[0],
        compared: found[1],
        largest: found[2],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cuda::device::emulated::Emulator;

    #[test]
    fn the_emulator_is_exact() {
        let machine: Arc<dyn Machine> = Arc::new(Emulator::with_tuned_kernels());
        for instruction in [
            Instruction::Fp8Wgmma,
            Instruction::Fp8MmaSync,
            Instruction::F16MmaSync,
        ] {
            check_device(&machine, instruction).unwrap();
            let known = machine.findings().of::<Exactnesses>();
            let found = *known.of(instruction).get().unwrap();
            assert_eq!(found.compared, BLOCKS as u32 * 64 * 72, "{instruction:?}");
        }
    }

    /// What a device says that is not exact, or was not asked enough.
    #[test]
    fn devices_that_are_not_exact_are_refused() {
        let machine: Arc<dyn Machine> = Arc::new(Emulator::with_tuned_kernels());
        let exactness = |differing, largest| Exactness {
            differing,
            compared: 1000,
            largest,
        };
        let known = machine.findings().of::<Exactnesses>();
        let f16 = known.of(Instruction::F16MmaSync);
        f16.set(exactness(1, F16_EXACT as u32 - 1)).unwrap();
        let error = check_device(&machine, Instruction::F16MmaSync).unwrap_err();
        assert!(matches!(error, FftError::F16Inexact { differing: 1, .. }));
        let fp8 = known.of(Instruction::Fp8MmaSync);
        fp8.set(exactness(0, FP8_EXACT as u32 / 2)).unwrap();
        let error = check_device(&machine, Instruction::Fp8MmaSync).unwrap_err();
        assert!(matches!(error, FftError::Fp8Inexact { differing: 0, .. }));
    }
}
