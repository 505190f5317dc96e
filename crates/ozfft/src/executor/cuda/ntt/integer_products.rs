//! Products of long integers on a GPU: the primes, lengths and proofs of the crate `exact-convolution`, by the kernels of `ntt.cu`.

use crate::error::FftError;
use crate::executor::cuda::OpenQueue;
use crate::executor::cuda::device::launch::Launch;
use crate::executor::cuda::device::machine::{Machine, Queue};
use crate::executor::cuda::device::transfer::{Staging, Transfer};
use crate::executor::cuda::ntt::residue_transforms::{Kept, Parts, factor, passes};
use crate::executor::cuda::program::task::KernelArgs;
use exact_convolution::device::{self, PrimeConstants};
use ozfft_kernels::ntt::{self, NttTask, Prime};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

const _: () = assert!(
    ntt::LANES == device::LANES
        && ntt::PRIMES == device::PRIMES_OF_PRODUCTS
        && ntt::MOST_LEVELS == device::MOST_LEVELS
);

/// Bytes of a digit, a residue or a tile's carries.
const WORD: usize = size_of::<u32>();

/// What digits are to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    /// 2^32.
    Binary,
    /// 10^9.
    Decimal,
}

/// Where the time of a product went, in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    pub(crate) upload: f64,
    pub(crate) kernels: f64,
    pub(crate) download: f64,
}

/// A device with memory for products, which is kept between them.
pub(crate) struct IntegerProducts {
    machine: Arc<dyn Machine>,
    staging: Staging,
    /// Products of one device take turns.
    kept: Mutex<Kept>,
}

/// The levels of the smallest transform that holds products of so many digits, if one does.
pub(crate) fn levels_for(digits: usize) -> Option<u32> {
    // The product of polynomials has one coefficient less than both together.
    let rows = digits.saturating_sub(1).div_ceil(ntt::LANES);
    let levels = rows.max(1).next_power_of_two().ilog2();
    (levels <= ntt::MOST_LEVELS).then_some(levels.max(ntt::LEAST_LEVELS))
}

fn prime(constants: &PrimeConstants) -> Prime {
    Prime {
        value: constants.value,
        inverse: constants.inverse,
        back: factor(constants.back),
        minus_one: factor(constants.minus_one),
        inverses: constants.inverses.map(factor),
        steps: constants.steps.map(factor),
    }
}

impl KernelArgs for NttTask {}

impl IntegerProducts {
    pub(crate) fn new(machine: Arc<dyn Machine>) -> Self {
        IntegerProducts {
            machine,
            staging: Staging::default(),
            kept: Mutex::default(),
        }
    }

    /// The device, in words.
    pub(crate) fn device_name(&self) -> String {
        self.machine.name()
    }

    /// The product of two numbers in digits of 32 bits (without a second one: the square), as many as both have together. There are
    /// levels for them. After an error while results are copied back a part of them may have been written.
    pub(crate) fn multiply(
        &self,
        base: Base,
        a: &[u8],
        b: Option<&[u8]>,
        product: &mut [u8],
    ) -> Result<Spent, FftError> {
        let levels = levels_for(product.len() / WORD);
        let levels = levels.ok_or_else(|| {
            let most = (ntt::LANES << ntt::MOST_LEVELS) + 1;
            FftError::Unsupported(format!(
                "a product of {} digits is longer than the largest transform, {most}; multiply on the processor",
                product.len() / WORD
            ))
        })?;
        self.multiply_in(levels, &passes(levels), base, [Some(a), b], product)
    }

    fn multiply_in(
        &self,
        levels: u32,
        passes: &[u32],
        base: Base,
        operands: [Option<&[u8]>; 2],
        product: &mut [u8],
    ) -> Result<Spent, FftError> {
        let count = operands.iter().flatten().count();
        let lengths = operands.map(|operand| operand.map_or(0, <[u8]>::len) / WORD);
        let length = product.len() / WORD;
        let tiles = length.div_ceil(ntt::TILE);
        let mut parts = Parts::default();
        let residues = parts.next((count * ntt::PRIMES * ntt::LANES * WORD) << levels);
        let words = lengths.map(|length| parts.next(length * WORD));
        let digits = parts.next(length * WORD);
        let carries = parts.next(tiles * WORD);

        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let start = kept.work(&self.machine, parts.0)?;
        let roots = kept.roots(&self.machine, levels, ntt::PRIMES)?;
        let task = NttTask {
            words: words.map(|words| start + words),
            residues: start + residues,
            roots: roots.memory.address(),
            digits: start + digits,
            tiles: start + carries,
            lengths: lengths.map(|length| length as u64),
            length: length as u64,
            levels: levels as i32,
            level: 0,
            operands: count as i32,
            reserved: 0,
            primes: device::constants(levels).each_ref().map(prime),
        };

        self.machine.prepare(&ntt::names().collect::<Vec<_>>())?;
        // Dropped before the memory: it waits for what runs.
        let queue = OpenQueue::new(&*self.machine)?;
        let most_bytes = product.len();
        let threads = rayon::current_num_threads();
        let mut transfer =
            Transfer::new(&self.machine, &self.staging, queue.1, most_bytes, threads)?;
        let begin = Instant::now();
        for (operand, place) in operands.iter().zip(task.words) {
            if let Some(bytes) = operand {
                // SAFETY: the part is as long as the operand, and nothing else uses it.
                unsafe { transfer.upload(place, bytes, &mut |_| {})? };
            }
        }
        let uploaded = Instant::now();
        // SAFETY: all parts are as long as the kernels expect, and `kept` holds them until the queue has been waited for.
        unsafe { self.launch(queue.1, task, passes, base, !roots.made)? };
        self.machine.synchronize(queue.1)?;
        roots.made = true;
        let computed = Instant::now();
        // SAFETY: as above.
        unsafe { transfer.download(task.digits, product, &mut |_| {})? };
        let downloaded = Instant::now();
        transfer.finish();
        Ok(Spent {
            upload: (uploaded - begin).as_secs_f64(),
            kernels: (computed - uploaded).as_secs_f64(),
            download: (downloaded - computed).as_secs_f64(),
        })
    }

    /// Everything between the operands' digits and the product's.
    ///
    /// # Safety
    /// All addresses of the task are of arrays that are as long as it says and that nothing else uses.
    unsafe fn launch(
        &self,
        queue: Queue,
        mut task: NttTask,
        passes: &[u32],
        base: Base,
        make_roots: bool,
    ) -> Result<(), FftError> {
        let launch = |task: NttTask, kernel: &'static str, blocks: u64| {
            let launch = Launch::new(kernel, (blocks, ntt::THREADS), ntt::SHARED_BYTES, task);
            // SAFETY: the caller's promise.
            unsafe { self.machine.launch(queue, &launch) }
        };
        let levels = task.levels as u32;
        let threads = u64::from(ntt::THREADS);
        let primes = ntt::PRIMES as u64;
        // Rows of a block are as many as its threads.
        let blocks = primes << (levels - ntt::LEAST_LEVELS);
        let tiles = task.length.div_ceil(ntt::TILE as u64);
        let of_base = |names: [&'static str; 2]| match base {
            Base::Binary => names[0],
            Base::Decimal => names[1],
        };
        if make_roots {
            let entries = primes << (levels - 1);
            launch(task, ntt::ROOTS_NAME, entries.div_ceil(threads))?;
        }
        let of_levels =
            |names: [&'static str; 5], levels: u32| names[(levels - ntt::PASS_LEVELS[0]) as usize];
        for &pass in passes {
            let names = match task.level {
                0 => ntt::OPENING_NAMES,
                _ => ntt::FORWARD_NAMES,
            };
            let all = blocks * task.operands as u64;
            launch(task, of_levels(names, pass), all)?;
            task.level += pass as i32;
        }
        launch(task, ntt::ROW_PRODUCTS_NAME, blocks)?;
        for &pass in passes.iter().rev() {
            task.level -= pass as i32;
            launch(task, of_levels(ntt::INVERSE_NAMES, pass), blocks)?;
        }
        launch(task, of_base(ntt::RESOLVE_NAMES), tiles)?;
        launch(task, ntt::CARRY_TILES_NAME, 1)?;
        launch(task, of_base(ntt::CARRY_IN_NAMES), tiles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cuda::device::emulated::Emulator;
    use exact_convolution::{Unit, multiply_decimal, multiply_limbs_on};
    use ozfft_testkit::oracle::inputs::Generator;

    const SEED: u64 = 20261117;

    #[test]
    fn passes_have_all_levels_and_none_has_more_or_fewer_than_there_are_kernels_for() {
        let [least, most] = ntt::PASS_LEVELS;
        for levels in ntt::LEAST_LEVELS..=ntt::MOST_LEVELS {
            let passes = passes(levels);
            assert_eq!(passes.iter().sum::<u32>(), levels);
            assert!(passes.iter().all(|pass| (least..=most).contains(pass)));
            assert_eq!(passes.len() as u32, levels.div_ceil(8));
        }
    }

    #[test]
    fn transforms_hold_every_product_up_to_the_longest() {
        assert_eq!(levels_for(2), Some(8));
        assert_eq!(levels_for((16 << 8) + 1), Some(8));
        assert_eq!(levels_for((16 << 8) + 2), Some(9));
        assert_eq!(levels_for((16 << 22) + 1), Some(22));
        assert_eq!(levels_for((16 << 22) + 2), None);
    }

    /// Digits of a kind: random, all the largest, a power of the base, sparse, all ones, zero, ones at both ends.
    fn digits(generator: &mut Generator, count: usize, largest: u32, kind: usize) -> Vec<u32> {
        let mut one = |k: usize| {
            let random = (generator.next_u64() % (u64::from(largest) + 1)) as u32;
            match kind {
                0 => random,
                1 => largest,
                2 => u32::from(k + 1 == count),
                3 if random.is_multiple_of(8) => random,
                4 => 1,
                6 => u32::from(k == 0 || k + 1 == count),
                _ => 0,
            }
        };
        (0..count).map(&mut one).collect()
    }

    /// The product on the processor, which the crate `exact-convolution` holds to another crate's big integers.
    fn expected(base: Base, a: &[u32], b: &[u32]) -> Vec<u32> {
        let limbs = |words: &[u32]| -> Vec<u64> {
            let pairs = words.chunks(2);
            let limb = |pair: &[u32]| {
                u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32
            };
            pairs.map(limb).collect()
        };
        match base {
            Base::Decimal => multiply_decimal(a, b),
            Base::Binary => {
                let product = multiply_limbs_on(Unit::Portable, &limbs(a), &limbs(b));
                let mut words: Vec<u32> = bytemuck::cast_slice(&product).to_vec();
                assert!(words[a.len() + b.len()..].iter().all(|&word| word == 0));
                words.truncate(a.len() + b.len());
                words
            }
        }
    }

    #[test]
    fn emulated_kernels_have_the_digits_of_the_processor() {
        let mut generator = Generator::new(SEED);
        let device = IntegerProducts::new(Arc::new(Emulator::default()));
        // Below, at and above the smallest transform, two passes, and three that are shorter than a long transform's; and the kinds of both operands.
        // All the largest times ones at both ends have carries that go through as many digits as the second one has.
        const SMALLEST: &[u32] = &[8];
        type Kinds<'a> = &'a [(usize, usize)];
        let cases: [(usize, usize, &[u32], Kinds<'_>); 8] = [
            (1, 1, SMALLEST, &[(1, 1)]),
            (2048, 2047, SMALLEST, &[(0, 0), (1, 1)]),
            (
                2048,
                2049,
                SMALLEST,
                &[(0, 1), (1, 1), (2, 2), (3, 0), (4, 1), (5, 0)],
            ),
            (700, 2048, SMALLEST, &[(0, 3), (6, 1)]),
            (2049, 2049, &[5, 4], &[(0, 0), (1, 1)]),
            (2100, 2000, &[4, 5], &[(1, 6), (0, 2)]),
            (3000, 6000, &[6, 4], &[(0, 0)]),
            (20_000, 12_000, &[4, 4, 4], &[(1, 6)]),
        ];
        for (number, (first, second, passes, kinds)) in cases.into_iter().enumerate() {
            let levels = passes.iter().sum();
            assert!(levels_for(first + second).is_some_and(|least| least <= levels));
            for (turn, &(kind, other)) in kinds.iter().enumerate() {
                let base = [Base::Binary, Base::Decimal][(number + turn) % 2];
                let largest = match base {
                    Base::Binary => u32::MAX,
                    Base::Decimal => 999_999_999,
                };
                let a = digits(&mut generator, first, largest, kind);
                // Squares have one operand on the device.
                let square = first == second;
                let b = match square {
                    true => a.clone(),
                    false => digits(&mut generator, second, largest, other),
                };
                let mut found = vec![0u32; first + second];
                let operands = [
                    Some(bytemuck::cast_slice(&a)),
                    (!square).then(|| bytemuck::cast_slice(&b)),
                ];
                let product = bytemuck::cast_slice_mut(&mut found);
                let done = device.multiply_in(levels, passes, base, operands, product);
                done.expect("the emulator does not fail");
                assert!(
                    found == expected(base, &a, &b),
                    "seed {SEED}: {first} and {second} digits of kind {kind} and {other}, {base:?}, passes {passes:?}"
                );
            }
        }
    }
}
