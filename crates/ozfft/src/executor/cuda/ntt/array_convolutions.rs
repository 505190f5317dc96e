//! Convolutions of arrays of integers on a GPU: the primes and proofs of the crate `exact-convolution`, by the kernels of `ntt_batches.cu`.

use crate::error::FftError;
use crate::executor::cuda::OpenQueue;
use crate::executor::cuda::device::machine::Machine;
use crate::executor::cuda::device::transfer::{Staging, Transfer};
use crate::executor::cuda::ntt::integer_products::Spent;
use crate::executor::cuda::ntt::residue_transforms::{
    Kept, Parts, ResidueTransforms, batch_levels_for, launch,
};
use ozfft_kernels::ntt;
use ozfft_kernels::ntt_batches as batches;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

/// Integers of one operand, or of results, as their bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntegerArray<'a> {
    pub(crate) bytes: &'a [u8],
    /// Of one integer.
    pub(crate) size: usize,
    pub(crate) is_signed: bool,
}

/// What is convolved, and modulo how many primes: results are proven to be below a quarter of their product.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArrayConvolution {
    /// Of a member's operands.
    pub(crate) lengths: [usize; 2],
    pub(crate) cyclic: Option<usize>,
    pub(crate) members: usize,
    pub(crate) primes: usize,
}

impl ArrayConvolution {
    fn linear_length(&self) -> usize {
        self.lengths[0] + self.lengths[1] - 1
    }

    /// Results of a member.
    fn result_length(&self) -> usize {
        self.cyclic.unwrap_or(self.linear_length())
    }

    /// The levels of its transforms, and whether these wrap around by themselves; none for what is longer than all transforms.
    fn levels(&self) -> Option<(u32, bool)> {
        let least = ntt::LANES << batches::LEAST_LEVELS;
        match self.cyclic {
            Some(length) if length.is_power_of_two() && length >= least => {
                Some((batch_levels_for(length)?, true))
            }
            _ => Some((batch_levels_for(self.linear_length())?, false)),
        }
    }

    /// Predicted seconds of a call: launches and waiting, copies, and levels of transforms, from what products of long integers took on an H200
    /// (docs/convolution.md). None for what is longer than all transforms.
    pub(crate) fn predicted_seconds(
        &self,
        operand_bytes: [usize; 2],
        result_bytes: usize,
    ) -> Option<f64> {
        let (levels, _) = self.levels()?;
        let [first, second] = self.lengths;
        let bytes = first * operand_bytes[0]
            + second * operand_bytes[1]
            + self.result_length() * result_bytes;
        let points = (ntt::LANES << levels) as f64 * (self.primes * self.members) as f64;
        Some(
            CALL + bytes as f64 * self.members as f64 * BYTE
                + points * (f64::from(3 * levels) + OTHERS) * LEVEL,
        )
    }
}

/// Seconds of a call that computes nothing, of a byte that is copied, and of a level of a transform modulo a prime, for a point.
const CALL: f64 = 1e-4;
const BYTE: f64 = 1.0 / 10e9;
const LEVEL: f64 = 6e-13;
/// Row products and Chinese remainders take as long as so many levels.
const OTHERS: f64 = 8.0;

/// A device with memory for convolutions, which is kept between them.
pub(crate) struct ArrayConvolutions {
    machine: Arc<dyn Machine>,
    staging: Staging,
    /// Convolutions of one device take turns.
    kept: Mutex<Kept>,
}

/// The device of this number; plans that live at the same time share its memory.
pub(crate) fn array_convolutions(ordinal: usize) -> Result<Arc<ArrayConvolutions>, FftError> {
    static OPEN: Mutex<Option<HashMap<usize, Weak<ArrayConvolutions>>>> = Mutex::new(None);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let open = open.get_or_insert_with(HashMap::new);
    if let Some(known) = open.get(&ordinal).and_then(Weak::upgrade) {
        return Ok(known);
    }
    let device = Arc::new(ArrayConvolutions::new(crate::executor::cuda::open(
        ordinal,
    )?));
    open.insert(ordinal, Arc::downgrade(&device));
    Ok(device)
}

impl ArrayConvolutions {
    fn new(machine: Arc<dyn Machine>) -> Self {
        ArrayConvolutions {
            machine,
            staging: Staging::default(),
            kept: Mutex::default(),
        }
    }

    /// A queue of a machine that has all kernels ready.
    fn queue(&self) -> Result<OpenQueue<'_>, FftError> {
        let kernels: Vec<_> = batches::names().collect();
        self.machine.prepare(&kernels)?;
        OpenQueue::new(&*self.machine)
    }

    /// The device, in words.
    pub(crate) fn device_name(&self) -> String {
        self.machine.name()
    }

    /// Convolves all members. The second operand has one for all where it is as long as that. After an error while results are copied back a part of
    /// them may have been written.
    ///
    /// Results are integers of `result_size` bytes, which hold them.
    pub(crate) fn convolve(
        &self,
        asked: &ArrayConvolution,
        operands: [IntegerArray<'_>; 2],
        (results, result_size): (&mut [u8], usize),
    ) -> Result<Spent, FftError> {
        let (levels, wraps) = asked.levels().ok_or_else(|| {
            FftError::Unsupported(format!(
                "a convolution of {} elements is longer than the largest transform on a GPU, {}; convolve on the processor",
                asked.linear_length(),
                ntt::LANES << ntt::MOST_LEVELS
            ))
        })?;
        let transforms = ResidueTransforms {
            levels,
            primes: asked.primes,
            images: 1,
        };
        // Bytes of a member of both operands and of the results.
        let sizes = [0, 1].map(|which| asked.lengths[which] * operands[which].size);
        let result_bytes = asked.result_length() * result_size;
        let is_shared = operands[1].bytes.len() == sizes[1];
        let of_member = 2 * transforms.groups() * ((ntt::LANES * size_of::<u32>()) << levels)
            + sizes[0]
            + sizes[1]
            + result_bytes;
        let at_once = (4 * self.machine.most_word_bytes() as usize / of_member)
            .clamp(1, asked.members.max(1));
        let second_members = if is_shared { 1 } else { at_once };
        let mut parts = Parts::default();
        let residues =
            [at_once, second_members].map(|members| parts.next(transforms.bytes(members)));
        let numbers = [
            parts.next(at_once * sizes[0]),
            parts.next(second_members * sizes[1]),
        ];
        let place_of_results = parts.next(at_once * result_bytes);

        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let start = kept.work(&self.machine, parts.0)?;
        let roots = kept.roots(&self.machine, levels, asked.primes)?;
        let mut common = transforms.task();
        common.roots = roots.memory.address();
        common.result_length = asked.result_length() as u64;
        common.result_bytes = result_size as i32;
        common.whole = asked.linear_length() as u64;
        common.cycle = match asked.cyclic {
            Some(length) if !wraps => length as u64,
            _ => 0,
        };
        common.is_shared = i32::from(is_shared);

        // Dropped before the memory: it waits for what runs.
        let queue = self.queue()?;
        let device = (&*self.machine, queue.1);
        let most_bytes = at_once * sizes[0].max(sizes[1]).max(result_bytes);
        let threads = rayon::current_num_threads();
        let mut transfer =
            Transfer::new(&self.machine, &self.staging, queue.1, most_bytes, threads)?;
        let mut spent = Spent::default();
        for (turn, results) in results
            .chunks_mut((at_once * result_bytes).max(1))
            .enumerate()
        {
            let first = turn * at_once;
            let members = at_once.min(asked.members - first);
            let tasks = [0, 1].map(|which| {
                let operand = &operands[which];
                let members = if which == 1 && is_shared { 1 } else { members };
                let mut task = common;
                task.numbers = start + numbers[which];
                task.residues = start + residues[which];
                task.length = asked.lengths[which] as u64;
                task.number_bytes = operand.size as i32;
                task.members = members as u32;
                task.tiles = transforms.tiles(members) as u32;
                if operand.is_signed {
                    task.bias = 1 << (8 * operand.size - 1);
                    task.biases = task
                        .each
                        .map(|prime| prime.value - (task.bias % u64::from(prime.value)) as u32);
                }
                task
            });
            let begin = Instant::now();
            for (which, task) in tasks.iter().enumerate() {
                if which == 0 || !is_shared || turn == 0 {
                    let from = if which == 1 && is_shared {
                        0
                    } else {
                        first * sizes[which]
                    };
                    let bytes =
                        &operands[which].bytes[from..][..task.members as usize * sizes[which]];
                    // SAFETY: the part is as long, and nothing else uses it.
                    unsafe { transfer.upload(task.numbers, bytes, &mut |_| {})? };
                }
            }
            let uploaded = Instant::now();
            let mut product = tasks[0];
            product.factors = tasks[1].residues;
            product.factor_tiles = tasks[1].tiles;
            product.results = start + place_of_results;
            let blocks = (product.result_length * u64::from(product.members))
                .div_ceil(u64::from(ntt::THREADS));
            // SAFETY: all parts are as long as the kernels expect, and `kept` holds them until the queue has been waited for.
            unsafe {
                if !roots.made {
                    transforms.make_roots(device, &common)?;
                }
                transforms.forward(device, tasks[0])?;
                if !is_shared || turn == 0 {
                    transforms.forward(device, tasks[1])?;
                }
                transforms.product_back(device, product)?;
                launch(
                    device,
                    product,
                    batches::RESULTS_NAMES[asked.primes - 1],
                    blocks,
                )?;
            }
            self.machine.synchronize(queue.1)?;
            roots.made = true;
            let computed = Instant::now();
            // SAFETY: as above.
            unsafe { transfer.download(product.results, results, &mut |_| {})? };
            spent.upload += (uploaded - begin).as_secs_f64();
            spent.kernels += (computed - uploaded).as_secs_f64();
            spent.download += computed.elapsed().as_secs_f64();
        }
        transfer.finish();
        Ok(spent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cuda::device::emulated::Emulator;
    use exact_convolution::{Convolution, Operand, Output, Route};
    use ozfft_testkit::oracle::inputs::Generator;

    const SEED: u64 = 20261118;

    /// Sums by the definition.
    fn expected<A: Operand, B: Operand>(asked: &ArrayConvolution, a: &[A], b: &[B]) -> Vec<i128>
    where
        i128: From<A> + From<B>,
    {
        let [first, second] = asked.lengths;
        let length = asked.result_length();
        let mut sums = vec![0i128; asked.members * length];
        for (member, sums) in sums.chunks_mut(length).enumerate() {
            let b = if b.len() == second {
                b
            } else {
                &b[member * second..][..second]
            };
            for (i, &x) in a[member * first..][..first].iter().enumerate() {
                for (j, &y) in b.iter().enumerate() {
                    sums[(i + j) % length] += i128::from(x) * i128::from(y);
                }
            }
        }
        sums
    }

    fn check<A, B, R>(
        device: &ArrayConvolutions,
        asked: ArrayConvolution,
        a: &[A],
        b: &[B],
        more_primes: bool,
    ) where
        A: Operand + bytemuck::Pod,
        B: Operand + bytemuck::Pod,
        R: Output + bytemuck::Pod,
        i128: From<A> + From<B>,
    {
        let [first, second] = asked.lengths;
        let problem = match asked.cyclic {
            Some(length) => Convolution::cyclic(length),
            None => Convolution::linear(first, second),
        };
        let problem =
            problem.magnitudes(exact_convolution::largest(a), exact_convolution::largest(b));
        // As few primes as prove it, or all of them.
        let least =
            (1..=6).find(|&primes| problem.clone().route(Route::Ntt { primes }).plan().is_ok());
        let primes = if more_primes {
            6
        } else {
            least.expect("results have less than 128 bits")
        };
        let asked = ArrayConvolution { primes, ..asked };
        let mut found = vec![R::default(); asked.members * asked.result_length()];
        let array = |bytes, size, is_signed| IntegerArray {
            bytes,
            size,
            is_signed,
        };
        let operands = [
            array(bytemuck::cast_slice(a), size_of::<A>(), A::SIGNED),
            array(bytemuck::cast_slice(b), size_of::<B>(), B::SIGNED),
        ];
        let results = (bytemuck::cast_slice_mut(&mut found), size_of::<R>());
        device
            .convolve(&asked, operands, results)
            .expect("the emulator does not fail");
        let expected: Vec<R> = expected(&asked, a, b).into_iter().map(R::lowest).collect();
        assert!(
            found == expected,
            "seed {SEED}: {asked:?}, {} bytes by {} to {}",
            size_of::<A>(),
            size_of::<B>(),
            R::NAME
        );
    }

    fn asked(lengths: [usize; 2], cyclic: bool, members: usize) -> ArrayConvolution {
        ArrayConvolution {
            lengths,
            cyclic: cyclic.then_some(lengths[0]),
            members,
            primes: 0,
        }
    }

    #[test]
    fn convolutions_under_the_emulator_are_sums_by_the_definition() {
        let mut generator = Generator::new(SEED);
        let device = ArrayConvolutions::new(Arc::new(Emulator::default()));
        let mut random = |count: usize| -> Vec<i64> {
            (0..count).map(|_| generator.next_u64() as i64).collect()
        };
        let bytes =
            |numbers: Vec<i64>| -> Vec<i8> { numbers.into_iter().map(|x| x as i8).collect() };
        // One prime; less than the smallest transform; members that share a block, and one that shares nothing.
        check::<i8, i8, i32>(
            &device,
            asked([3, 5], false, 1),
            &bytes(random(3)),
            &bytes(random(5)),
            false,
        );
        check::<i8, i8, i16>(
            &device,
            asked([2, 1], false, 9),
            &bytes(random(18)),
            &bytes(random(9)),
            false,
        );
        check::<i8, i8, i64>(
            &device,
            asked([100, 200], false, 21),
            &bytes(random(2100)),
            &bytes(random(4200)),
            false,
        );
        // One operand for all; so many members that they take several turns.
        check::<i8, i8, i32>(
            &device,
            asked([120, 130], false, 40),
            &bytes(random(4800)),
            &bytes(random(130)),
            true,
        );
        // Wrapping around by itself, and by hand; levels of one and of two passes.
        check::<i8, i8, i32>(
            &device,
            asked([256, 256], true, 3),
            &bytes(random(768)),
            &bytes(random(768)),
            false,
        );
        check::<i8, i8, i32>(
            &device,
            asked([255, 255], true, 3),
            &bytes(random(765)),
            &bytes(random(765)),
            false,
        );
        check::<i8, i8, i32>(
            &device,
            asked([7, 7], true, 2),
            &bytes(random(14)),
            &bytes(random(14)),
            false,
        );
        let (a, b) = (random(3000), random(2500));
        let words: Vec<i32> = a.iter().map(|&x| x as i32).collect();
        let halves: Vec<u16> = b.iter().map(|&x| x as u16).collect();
        check::<i32, u16, i64>(
            &device,
            asked([3000, 2500], false, 1),
            &words,
            &halves,
            false,
        );
        // Extremes of all widths, whose sums meet the bound: six primes, results of 128 bits.
        check::<i64, u32, i128>(
            &device,
            asked([300, 299], false, 2),
            &vec![i64::MIN; 600],
            &vec![u32::MAX; 598],
            true,
        );
        check::<i64, i64, i128>(
            &device,
            asked([130, 1], false, 2),
            &random(260),
            &random(2),
            true,
        );
        let unsigned: Vec<u64> = random(90).into_iter().map(|x| x as u64).collect();
        check::<u64, u32, u128>(
            &device,
            asked([90, 90], true, 1),
            &unsigned,
            &[u32::MAX; 90],
            false,
        );
        check::<i8, i64, i128>(
            &device,
            asked([500, 500], true, 1),
            &vec![i8::MIN; 500],
            &random(500),
            false,
        );
    }

    #[test]
    fn every_number_of_primes_has_its_results() {
        let mut generator = Generator::new(SEED + 1);
        let device = ArrayConvolutions::new(Arc::new(Emulator::default()));
        // With so many bits a sum takes this many primes.
        for bits in [4u32, 20, 33, 50] {
            let number = |random: u64| (random as i64) >> (64 - bits);
            let a: Vec<i64> = (0..140).map(|_| number(generator.next_u64())).collect();
            let b: Vec<i64> = (0..70).map(|_| number(generator.next_u64())).collect();
            check::<i64, i64, i128>(&device, asked([140, 70], false, 1), &a, &b, false);
        }
        // Five primes.
        let a = vec![i64::MIN; 20];
        check::<i64, i64, i128>(&device, asked([20, 1], false, 1), &a, &[1 << 61], false);
    }
}
