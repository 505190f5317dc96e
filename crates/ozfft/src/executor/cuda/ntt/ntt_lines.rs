//! The engine ntt on a GPU: Bluestein's algorithm with an exact convolution, by the kernels of `ntt_fourier.cu` and the transforms of `ntt_batches.cu`. The same
//! integers as on the processor, and so the same bits.

use crate::error::FftError;
use crate::executor::cuda::OpenQueue;
use crate::executor::cuda::device::launch::Launch;
use crate::executor::cuda::device::machine::{DeviceMemory, Machine, Queue};
use crate::executor::cuda::device::work::{DeviceWork, LaunchedKernel};
use crate::executor::cuda::ntt::residue_transforms::{ResidueTransforms, batch_levels_for, factor};
use crate::executor::cuda::program::dimensions::{
    BumpAllocator, Flattened, merged, transform_dimensions,
};
use crate::executor::cuda::program::task::{
    Address, ArrayTask, Arrays, ELEMENTS_COMPLEX, ELEMENTS_HALF, ELEMENTS_REAL, FloatLines,
    KernelArgs,
};
use crate::executor::cuda::tables::{Builder, Piece};
use crate::executor::lines::{LineSet, Place};
use crate::executor::schedule::{AxisPass, Schedule};
use crate::kind::Kind;
use crate::sample::Real;
use num_complex::Complex;
use ozfft_kernels::ntt::{self, Factor};
use ozfft_kernels::ntt_batches::{self as batches, BatchPrime, BatchTask};
use ozfft_kernels::ntt_fourier::{self as fourier, FourierTask, ImageFactors};
use std::sync::Arc;

/// A line of the engine ntt, as the processor has it.
pub(crate) struct NttLineTables {
    pub(crate) n: usize,
    pub(crate) primes: usize,
    /// Sums of magnitudes get so many bits.
    pub(crate) sum_bits: u32,
    /// Power of two of the results, besides the unit of the line.
    pub(crate) exponent: i32,
    /// The operand that stays the same, and whether it continues with the other sign. Empty for a line of one point.
    pub(crate) fixed: Vec<(i128, i128)>,
    pub(crate) negacyclic: bool,
    /// The chirp, and the same times the norm where that is not one; with 62 bits behind the point.
    pub(crate) chirp: Vec<Complex<i64>>,
    pub(crate) scaled_chirp: Option<Vec<Complex<i64>>>,
}

type LinesTask = FourierTask<ArrayTask>;

impl KernelArgs for LinesTask {}

/// All lines along an axis.
enum Axis {
    /// Of one point: copied.
    Points(ArrayTask),
    Lines(Box<AxisLines>),
}

struct AxisLines {
    transforms: ResidueTransforms,
    /// All but the arrays of a call.
    task: LinesTask,
    batch: BatchTask,
    count: usize,
    /// Lines that are in workspace at the same time.
    at_once: usize,
    /// Roots and the spectra of the operand that stays: the tasks have their addresses.
    _tables: DeviceMemory,
}

/// A planned problem.
pub(crate) struct NttWork {
    axes: Vec<Axis>,
    /// The search for the largest number of every transform, its blocks, and the bytes that it leaves.
    search: Option<(ArrayTask, u64, usize)>,
    workspace: usize,
    table_bytes: usize,
    /// Dimensions and chirps.
    _tables: DeviceMemory,
}

/// Number and remainder as a factor modulo a prime.
fn factor_of(number: u64, prime: &BatchPrime) -> Factor {
    let scaled = ((u128::from(number) << 32) % u128::from(prime.value)) as u32;
    factor([scaled, scaled.wrapping_mul(prime.inverse)])
}

/// What takes Gaussian integers to residues modulo a prime.
fn image_factors(prime: &BatchPrime) -> ImageFactors {
    let p = u64::from(prime.value);
    let power = |bits: u32| (0..bits).fold(1, |power, _| 2 * power % p);
    // The first of the steps is a root of unity of order 4; its factor is scaled by 2^32.
    let inverse_scale = power_of(power(32), p - 2, p);
    let root = u64::from(prime.steps[0].scaled) * inverse_scale % p;
    debug_assert_eq!(root * root % p, p - 1);
    let turned = |number: u64| number * root % p;
    let limb = |bits: u32| power(bits);
    ImageFactors {
        real: [32, 64].map(|bits| factor_of(limb(bits), prime)),
        imaginary: [0, 32, 64].map(|bits| factor_of(turned(limb(bits)), prime)),
        turned: factor_of(p - root, prime),
        biases: [power(95), turned(power(95))].map(|bias| ((p - bias) % p) as u32),
    }
}

fn power_of(base: u64, exponent: u64, modulus: u64) -> u64 {
    let (mut result, mut square, mut rest) = (1, base, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result * square % modulus;
        }
        square = square * square % modulus;
        rest >>= 1;
    }
    result
}

/// Pieces of the tables of an axis.
struct Pieces {
    read: (Piece, i32),
    write: (Piece, i32),
    transforms: (Piece, i32),
    chirp: Piece,
    last_chirp: Piece,
}

fn words(chirp: &[Complex<i64>]) -> Vec<[i64; 2]> {
    chirp.iter().map(|entry| [entry.re, entry.im]).collect()
}

/// Limbs of both parts, 2^95 added.
fn limbs(fixed: &[(i128, i128)]) -> Vec<u32> {
    let parts = fixed.iter().flat_map(|&(re, im)| [re, im]);
    let biased = parts.map(|part| part.wrapping_add(1 << 95));
    biased
        .flat_map(|part| [0, 32, 64].map(|bits| (part >> bits) as u32))
        .collect()
}

impl NttWork {
    /// One table for each pass of the schedule.
    pub(crate) fn new<T: Real>(
        machine: &Arc<dyn Machine>,
        schedule: &Schedule,
        lines: &[NttLineTables],
    ) -> Result<Self, FftError> {
        machine.prepare(&all_kernels())?;
        let mut builder = Builder::default();
        let pieces: Vec<Pieces> = schedule
            .passes
            .iter()
            .zip(lines)
            .map(|(pass, line)| {
                let mut list =
                    |dimensions: Vec<crate::executor::cuda::program::task::Dimension>| {
                        (builder.add(&dimensions), dimensions.len() as i32)
                    };
                let (read, write) = (list(merged(&pass.read)), list(merged(&pass.write)));
                let transforms = list(transform_dimensions(&pass.read));
                let chirp = builder.add(&words(&line.chirp));
                Pieces {
                    read,
                    write,
                    transforms,
                    chirp,
                    last_chirp: match &line.scaled_chirp {
                        Some(scaled) => builder.add(&words(scaled)),
                        None => chirp,
                    },
                }
            })
            .collect();
        let searched = schedule.scaling.as_ref().map(|scan| {
            let flat = Flattened::new(scan);
            let dimensions = builder.add(&flat.outer);
            let transforms = builder.add(&flat.transforms);
            (scan, flat, dimensions, transforms)
        });
        let queue = OpenQueue::new(&**machine)?;
        let tables = builder.upload(machine, queue.1)?;
        drop(queue);

        let mut allocator = BumpAllocator(0);
        let found_bytes = searched
            .as_ref()
            .map_or(0, |(scan, ..)| 8 * scan.transforms);
        let found = match &searched {
            Some(_) => allocator.take(found_bytes as u64),
            None => Address::NONE,
        };
        let spare = allocator.take((schedule.spare_len * size_of::<Complex<T>>()) as u64);
        let lasting = allocator.0;
        let mut workspace = lasting;
        let last = schedule.passes.len() - 1;
        let growth = schedule
            .scaling
            .as_ref()
            .map_or(0, |scan| scan.scale.growth());
        let mut table_bytes = tables.bytes();
        let mut axes = Vec::new();
        let mut search = None;
        for (number, ((pass, line), pieces)) in
            schedule.passes.iter().zip(lines).zip(&pieces).enumerate()
        {
            let bias = growth * (i32::from(number == last) - i32::from(number == 0));
            let array = array_task::<T>(schedule, pass, pieces, (&tables, spare), (found, bias));
            if let (0, Some((_, flat, dimensions, transforms))) = (number, &searched) {
                let mut task = array;
                task.input.dimensions = dimensions.at(&tables);
                task.input.dimension_count = flat.outer.len() as i32;
                task.input.stride = flat.line.stride;
                task.input.count = flat.line.length;
                task.transforms = transforms.at(&tables);
                task.transform_dimension_count = flat.transforms.len() as i32;
                task.transform_stride = flat.transform_stride;
                task.line_count = flat.outer.iter().map(|d| d.length).product();
                // Nobody asks whether any transform is scaled down.
                task.bias = 0;
                let threads = u64::from(ozfft_kernels::GENERAL_THREADS);
                let enough = (task.line_count * flat.line.length).div_ceil(4 * threads);
                let blocks = enough.clamp(1, 8 * machine.multiprocessors() as u64);
                search = Some((task, blocks, found_bytes));
            }
            if line.n == 1 {
                axes.push(Axis::Points(array));
                continue;
            }
            let chirps = [pieces.chirp, pieces.last_chirp].map(|piece| piece.at(&tables).value());
            let mut axis = AxisLines::new(machine, line, array, chirps)?;
            let mut allocator = BumpAllocator(lasting);
            axis.task.facts = allocator
                .take((axis.at_once * fourier::FACTS_BYTES) as u64)
                .value();
            axis.task.residues = allocator
                .take(axis.transforms.bytes(axis.at_once) as u64)
                .value();
            workspace = workspace.max(allocator.0);
            table_bytes += axis._tables.bytes();
            axes.push(Axis::Lines(Box::new(axis)));
        }
        Ok(NttWork {
            axes,
            search,
            workspace: workspace as usize,
            table_bytes,
            _tables: tables,
        })
    }
}

/// General kernels that look for the largest numbers, and that copy lines of a point.
const FIND: &str = "find_largest";
const COPY: &str = "copy_points";

/// All kernels that these lines are launched with.
fn all_kernels() -> Vec<&'static str> {
    let of_lines = fourier::names().chain(batches::names());
    of_lines.chain([FIND, COPY]).collect()
}

impl DeviceWork for NttWork {
    unsafe fn run(
        &self,
        machine: &dyn Machine,
        queue: Queue,
        arrays: &Arrays,
    ) -> Result<(), FftError> {
        let device = (machine, queue);
        // SAFETY: the caller's promise.
        unsafe {
            if let Some((task, blocks, bytes)) = &self.search {
                let task = task.resolved(arrays);
                machine.clear(queue, task.largest.value(), *bytes)?;
                machine.launch(queue, &Launch::general(FIND, *blocks, task))?;
            }
            for axis in &self.axes {
                match axis {
                    Axis::Points(task) => {
                        let threads = u64::from(ozfft_kernels::GENERAL_THREADS);
                        let blocks = task.line_count.div_ceil(threads);
                        let copy = Launch::general(COPY, blocks, task.resolved(arrays));
                        machine.launch(queue, &copy)?;
                    }
                    Axis::Lines(lines) => lines.run(device, arrays)?,
                }
            }
        }
        Ok(())
    }

    fn kernels(&self) -> Vec<&'static str> {
        all_kernels()
    }

    /// Of the first lines of every axis those that are no transforms modulo primes.
    fn launches(&self) -> Vec<LaunchedKernel> {
        let lines = self.axes.iter().filter_map(|axis| match axis {
            Axis::Lines(lines) => Some(lines),
            Axis::Points(_) => None,
        });
        let kernels = lines.flat_map(|lines| lines.kernels(lines.at_once));
        let launched = kernels.map(|(name, blocks)| LaunchedKernel {
            name,
            blocks,
            threads: ntt::THREADS,
            shared_bytes: 0,
        });
        launched.collect()
    }

    fn workspace_bytes(&self) -> usize {
        self.workspace
    }

    fn table_bytes(&self) -> usize {
        self.table_bytes
    }
}

/// Where the lines of a pass are read and written.
fn array_task<T: Real>(
    schedule: &Schedule,
    pass: &AxisPass,
    pieces: &Pieces,
    (tables, spare): (&DeviceMemory, Address),
    (found, bias): (Address, i32),
) -> ArrayTask {
    let n = pass.n;
    let half = n / 2 + 1;
    let (elements, in_count, out_elements, out_count) = match pass.kind {
        Kind::ComplexToComplex => (ELEMENTS_COMPLEX, n, ELEMENTS_COMPLEX, n),
        Kind::RealToComplex => (ELEMENTS_REAL, n, ELEMENTS_COMPLEX, half),
        Kind::ComplexToReal => (ELEMENTS_HALF, half, ELEMENTS_REAL, n),
    };
    let floats = |place: Place, set: &LineSet, list: (Piece, i32), elements, count| FloatLines {
        numbers: match place {
            Place::Input => Address::of_input(),
            Place::Output => Address::of_output(),
            Place::Spare => spare,
        },
        dimensions: list.0.at(tables),
        offset: set.offset as i64,
        stride: set.stride as i64,
        count: count as u64,
        dimension_count: list.1,
        single: i32::from(!T::IS_DOUBLE),
        elements,
        conjugate: i32::from(schedule.conjugate),
        aligned: 0,
        unused: 0,
    };
    ArrayTask {
        input: floats(pass.from, &pass.read, pieces.read, elements, in_count),
        output: floats(pass.to, &pass.write, pieces.write, out_elements, out_count),
        largest: found,
        transforms: pieces.transforms.0.at(tables),
        scaled_down: Address::NONE,
        line_count: pass.read.count() as u64,
        transform_stride: 0,
        list: Address::NONE,
        list_count: Address::NONE,
        marks: Address::NONE,
        bias,
        transform_dimension_count: pieces.transforms.1,
    }
}

impl AxisLines {
    /// Makes the table of roots and transforms the operand that stays.
    fn new(
        machine: &Arc<dyn Machine>,
        line: &NttLineTables,
        array: ArrayTask,
        [chirp, last_chirp]: [u64; 2],
    ) -> Result<AxisLines, FftError> {
        let (n, primes) = (line.n, line.primes);
        // Powers of two wrap around by themselves, unless they are shorter than the smallest transform.
        let least = ntt::LANES << batches::LEAST_LEVELS;
        let wraps = n.is_power_of_two() && n >= least && !line.negacyclic;
        let coefficients = if wraps { n } else { 2 * n - 1 };
        let levels = batch_levels_for(coefficients).ok_or_else(|| {
            FftError::Unsupported(format!(
                "the engine ntt has no lines of {n} points on GPUs; take the engine digits, or the device cpu"
            ))
        })?;
        let transforms = ResidueTransforms {
            levels,
            primes,
            images: 2,
        };
        let root_bytes = (primes * size_of::<Factor>()) << (levels - 1);
        let tables = DeviceMemory::new(
            machine,
            root_bytes.next_multiple_of(256) + transforms.bytes(1),
        )?;
        let mut batch = transforms.task();
        batch.roots = tables.address();
        batch.factors = tables.address() + root_bytes.next_multiple_of(256) as u64;
        batch.factor_tiles = transforms.tiles(1) as u32;
        batch.is_shared = 1;
        let images = batch.each.each_ref().map(image_factors);
        let count = array.line_count as usize;
        let of_line = transforms.bytes(1).max(1);
        let mut task = LinesTask {
            array,
            facts: 0,
            residues: 0,
            fixed: 0,
            chirp,
            last_chirp,
            n: n as u64,
            first_line: 0,
            lines: 0,
            tiles: 0,
            levels: levels as i32,
            primes: primes as i32,
            cycle: if wraps { 0 } else { n as u64 },
            negacyclic: i32::from(line.negacyclic),
            sum_bits: line.sum_bits as i32,
            exponent: line.exponent,
            reserved: 0,
            modulus: batch.modulus,
            images,
            each: batch.each,
        };
        // The parts of a number are half the sum and half the difference of its images.
        for prime in &mut task.each {
            let half = prime.value.div_ceil(2);
            let halved = u64::from(prime.back.scaled) * u64::from(half) % u64::from(prime.value);
            prime.back = factor([halved as u32, (halved as u32).wrapping_mul(prime.inverse)]);
        }
        let lines = AxisLines {
            transforms,
            task,
            batch,
            count,
            at_once: (machine.most_word_bytes() as usize / of_line).clamp(1, count.max(1)),
            _tables: tables,
        };
        lines.transform_fixed(&**machine, machine, &line.fixed)?;
        Ok(lines)
    }

    fn transform_fixed(
        &self,
        device: &dyn Machine,
        machine: &Arc<dyn Machine>,
        fixed: &[(i128, i128)],
    ) -> Result<(), FftError> {
        let words = limbs(fixed);
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        let memory = DeviceMemory::new(machine, bytes.len())?;
        let queue = OpenQueue::new(device)?;
        let mut task = self.task;
        task.fixed = memory.address();
        task.residues = self.batch.factors;
        task.tiles = self.batch.factor_tiles;
        task.lines = 1;
        let mut batch = self.batch;
        batch.residues = batch.factors;
        batch.tiles = batch.factor_tiles;
        batch.members = 1;
        // SAFETY: the tables are as long as the kernels expect, and the limbs stay until the queue has been waited for.
        unsafe {
            let device = (device, queue.1);
            device.0.upload(queue.1, memory.address(), bytes)?;
            self.transforms.make_roots(device, &batch)?;
            launch(device, &task, fourier::IMAGES_NAME, self.image_blocks(1))?;
            self.transforms.forward(device, batch)?;
            device.0.synchronize(queue.1)
        }
    }

    /// Blocks that write the residues of so many lines.
    fn image_blocks(&self, lines: usize) -> u64 {
        let points = ntt::LANES << self.transforms.levels;
        (lines * points.div_ceil(ntt::THREADS as usize)) as u64
    }

    /// The kernels of so many lines, and their blocks.
    fn kernels(&self, lines: usize) -> [(&'static str, u64); 4] {
        let looked_at = self.task.n.div_ceil(fourier::LOOKED_AT as u64) * lines as u64;
        let outputs = self
            .task
            .array
            .output
            .count
            .div_ceil(u64::from(ntt::THREADS));
        [
            (fourier::NATURES_NAME, looked_at),
            (fourier::SUMS_NAME, looked_at),
            (fourier::IMAGES_NAME, self.image_blocks(lines)),
            (
                fourier::OUTPUTS_NAMES[self.transforms.primes - 2],
                outputs * lines as u64,
            ),
        ]
    }

    /// # Safety
    /// As for [`NttWork::run`].
    unsafe fn run(&self, device: (&dyn Machine, Queue), arrays: &Arrays) -> Result<(), FftError> {
        let mut task = self.task;
        task.array = task.array.resolved(arrays);
        let resolved = |place: u64| arrays.workspace + (place & ((1 << 62) - 1));
        task.facts = resolved(task.facts);
        task.residues = resolved(task.residues);
        for first in (0..self.count).step_by(self.at_once) {
            let lines = self.at_once.min(self.count - first);
            task.first_line = first as u64;
            task.lines = lines as u32;
            task.tiles = self.transforms.tiles(lines) as u32;
            let mut batch = self.batch;
            batch.residues = task.residues;
            batch.members = task.lines;
            batch.tiles = task.tiles;
            let [natures, sums, images, outputs] = self.kernels(lines);
            // SAFETY: the caller's promise.
            unsafe {
                device
                    .0
                    .clear(device.1, task.facts, lines * fourier::FACTS_BYTES)?;
                for (name, blocks) in [natures, sums, images] {
                    launch(device, &task, name, blocks)?;
                }
                self.transforms.forward(device, batch)?;
                self.transforms.product_back(device, batch)?;
                launch(device, &task, outputs.0, outputs.1)?;
            }
        }
        Ok(())
    }
}

/// # Safety
/// All addresses of the task are of arrays that are as long as it says and that nothing else uses.
unsafe fn launch(
    (machine, queue): (&dyn Machine, Queue),
    task: &LinesTask,
    kernel: &'static str,
    blocks: u64,
) -> Result<(), FftError> {
    let launch = Launch::new(kernel, (blocks, ntt::THREADS), 0, *task);
    // SAFETY: the caller's promise.
    unsafe { machine.launch(queue, &launch) }
}
