//! Transforms modulo primes, many at once, by the kernels of `ntt_batches.cu`: what convolutions of arrays and the engine ntt have in common.

use crate::error::FftError;
use crate::executor::cuda::device::launch::Launch;
use crate::executor::cuda::device::machine::{DeviceMemory, Machine, Queue};
use crate::executor::cuda::program::task::KernelArgs;
use exact_convolution::device::{self, FactorPair};
use ozfft_kernels::ntt::{self, Factor};
use ozfft_kernels::ntt_batches::{self as batches, BatchPrime, BatchTask};
use std::sync::Arc;

const _: () = assert!(
    ntt::LANES == device::LANES
        && batches::MOST_PRIMES == device::MOST_PRIMES
        && ntt::MOST_LEVELS == device::MOST_LEVELS
);

/// Memory of a device that is kept from call to call.
#[derive(Default)]
pub(crate) struct Kept {
    work: Option<DeviceMemory>,
    roots: Option<Roots>,
}

/// Tables of roots on the device.
pub(crate) struct Roots {
    levels: u32,
    primes: usize,
    pub(crate) memory: DeviceMemory,
    /// Whether the kernel that writes them has run.
    pub(crate) made: bool,
}

impl Kept {
    /// The address of memory for so many bytes.
    pub(crate) fn work(
        &mut self,
        machine: &Arc<dyn Machine>,
        bytes: usize,
    ) -> Result<u64, FftError> {
        match self.work.take_if(|work| work.bytes() >= bytes) {
            Some(work) => Ok(self.work.insert(work).address()),
            None => {
                // Given back first: both might not fit.
                self.work = None;
                let work = DeviceMemory::new(machine, bytes)?;
                Ok(self.work.insert(work).address())
            }
        }
    }

    /// The tables for so many levels and primes.
    pub(crate) fn roots(
        &mut self,
        machine: &Arc<dyn Machine>,
        levels: u32,
        primes: usize,
    ) -> Result<&mut Roots, FftError> {
        let same = |roots: &Roots| roots.levels == levels && roots.primes == primes;
        let roots = match self.roots.take().filter(same) {
            Some(roots) => roots,
            None => Roots {
                levels,
                primes,
                memory: DeviceMemory::new(machine, (primes * size_of::<Factor>()) << (levels - 1))?,
                made: false,
            },
        };
        Ok(self.roots.insert(roots))
    }
}

/// Levels of every pass: as few passes as can be, the first ones longer where they differ.
pub(crate) fn passes(levels: u32) -> Vec<u32> {
    let count = levels.div_ceil(ntt::PASS_LEVELS[1]);
    let each = |pass: u32| (levels + count - 1 - pass) / count;
    (0..count).map(each).collect()
}

pub(crate) fn factor([scaled, quotient]: FactorPair) -> Factor {
    Factor { scaled, quotient }
}

/// Cuts an array into parts that begin at multiples of 256 bytes.
#[derive(Default)]
pub(crate) struct Parts(pub(crate) usize);

impl Parts {
    pub(crate) fn next(&mut self, bytes: usize) -> u64 {
        let start = self.0;
        self.0 += bytes.next_multiple_of(256);
        start as u64
    }
}

/// The levels of the smallest transforms that hold polynomials of so many coefficients, if any do.
pub(crate) fn batch_levels_for(coefficients: usize) -> Option<u32> {
    let rows = coefficients.div_ceil(ntt::LANES).max(1);
    let levels = rows.checked_next_power_of_two()?.ilog2();
    (levels <= ntt::MOST_LEVELS).then_some(levels.max(batches::LEAST_LEVELS))
}

impl KernelArgs for BatchTask {}

/// Transforms of one length modulo the first primes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResidueTransforms {
    pub(crate) levels: u32,
    pub(crate) primes: usize,
    /// Groups of residues modulo a prime.
    pub(crate) images: usize,
}

impl ResidueTransforms {
    pub(crate) fn groups(&self) -> usize {
        self.primes * self.images
    }

    /// Tiles of a group of so many members.
    pub(crate) fn tiles(&self, members: usize) -> usize {
        (members << self.levels).div_ceil(batches::TILE_ROWS)
    }

    /// Bytes of the residues of so many members.
    pub(crate) fn bytes(&self, members: usize) -> usize {
        self.groups() * self.tiles(members) * batches::TILE_NUMBERS * size_of::<u32>()
    }

    /// A task with all constants, and nothing to work on.
    pub(crate) fn task(&self) -> BatchTask {
        let constants = device::batch_constants(self.levels);
        let mut modulus = [0u32; batches::MOST_PRIMES];
        modulus[0] = 1;
        for prime in &constants[..self.primes] {
            let mut carry = 0u64;
            for word in &mut modulus {
                carry += u64::from(*word) * u64::from(prime.prime.value);
                *word = carry as u32;
                carry >>= 32;
            }
        }
        BatchTask {
            numbers: 0,
            residues: 0,
            factors: 0,
            roots: 0,
            results: 0,
            length: 0,
            result_length: 0,
            bias: 0,
            cycle: 0,
            whole: 0,
            members: 0,
            tiles: 0,
            factor_tiles: 0,
            is_shared: 0,
            levels: self.levels as i32,
            level: 0,
            primes: self.primes as i32,
            images: self.images as i32,
            number_bytes: 0,
            result_bytes: 0,
            modulus,
            biases: [0; batches::MOST_PRIMES],
            folds: constants.map(|prime| factor(prime.fold)),
            each: constants.map(|constants| BatchPrime {
                value: constants.prime.value,
                inverse: constants.prime.inverse,
                back: factor(constants.prime.back),
                minus_one: factor(constants.prime.minus_one),
                inverses: constants.inverses.map(factor),
                steps: constants.prime.steps.map(factor),
            }),
        }
    }

    /// Writes the tables of roots.
    ///
    /// # Safety
    /// The task's table is as long as it says, and nothing else uses it.
    pub(crate) unsafe fn make_roots(
        &self,
        (machine, queue): (&dyn Machine, Queue),
        task: &BatchTask,
    ) -> Result<(), FftError> {
        let entries = (self.primes as u64) << (self.levels - 1);
        let blocks = entries.div_ceil(u64::from(ntt::THREADS));
        // SAFETY: the caller's promise.
        unsafe { launch((machine, queue), *task, batches::ROOTS_NAME, blocks) }
    }

    /// All forward passes over the task's residues; the first of them reads its numbers where it has any.
    ///
    /// # Safety
    /// All arrays of the task are as long as it says, and nothing else uses them.
    pub(crate) unsafe fn forward(
        &self,
        device: (&dyn Machine, Queue),
        mut task: BatchTask,
    ) -> Result<(), FftError> {
        for pass in passes(self.levels) {
            let names = match task.level == 0 && task.numbers != 0 {
                true => batches::OPENING_NAMES,
                false => batches::FORWARD_NAMES,
            };
            // SAFETY: the caller's promise.
            unsafe { launch(device, task, of_levels(names, pass), self.blocks(&task))? };
            task.level += pass as i32;
        }
        Ok(())
    }

    /// Products with the task's factors, and all passes back.
    ///
    /// # Safety
    /// As for [`ResidueTransforms::forward`].
    pub(crate) unsafe fn product_back(
        &self,
        device: (&dyn Machine, Queue),
        mut task: BatchTask,
    ) -> Result<(), FftError> {
        let blocks = self.blocks(&task);
        // SAFETY: the caller's promise.
        unsafe { launch(device, task, batches::ROW_PRODUCTS_NAME, blocks)? };
        task.level = self.levels as i32;
        for pass in passes(self.levels).into_iter().rev() {
            task.level -= pass as i32;
            let name = of_levels(batches::INVERSE_NAMES, pass);
            // SAFETY: the caller's promise.
            unsafe { launch(device, task, name, blocks)? };
        }
        Ok(())
    }

    fn blocks(&self, task: &BatchTask) -> u64 {
        self.groups() as u64 * u64::from(task.tiles)
    }
}

fn of_levels(names: [&'static str; 5], levels: u32) -> &'static str {
    names[(levels - ntt::PASS_LEVELS[0]) as usize]
}

/// # Safety
/// All addresses of the task are of arrays that are as long as it says and that nothing else uses.
pub(crate) unsafe fn launch(
    (machine, queue): (&dyn Machine, Queue),
    task: BatchTask,
    kernel: &'static str,
    blocks: u64,
) -> Result<(), FftError> {
    let launch = Launch::new(kernel, (blocks, ntt::THREADS), batches::SHARED_BYTES, task);
    // SAFETY: the caller's promise.
    unsafe { machine.launch(queue, &launch) }
}
