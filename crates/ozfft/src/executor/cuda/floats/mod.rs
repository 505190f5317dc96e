//! Modes of the crate `floats` on a GPU's tensor cores: which kernel, its tables as the tensor instruction wants them, the probe
//! of the device, and the bound that follows from what it finds.

pub(super) mod float_steps;
#[cfg(test)]
mod float_steps_tests;
pub(super) mod float_work;
#[cfg(test)]
mod floats_tests;

use crate::error::FftError;
use crate::executor::cuda::Buffer;
use crate::executor::cuda::OpenQueue;
use crate::executor::cuda::device::launch::Launch;
use crate::executor::cuda::device::machine::{DeviceMemory, Machine, Queue};
use crate::executor::cuda::program::task::KernelArgs;
use crate::transform::budget::bound_text;
use floats::unit::{Finding, MatrixUnit, Order, Rounding, Shape, TILE, Term, probe};
use floats::{Direction, Format, Mode, tables};
#[cfg(test)]
use num_complex::Complex;
use ozfft_kernels::floats::{FloatKernel, FloatProduct, FloatTask, KERNELS};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What the probe has found about a device, for bf16 and for f16.
pub(crate) type FloatFindings = [OnceLock<Finding>; 2];

impl KernelArgs for FloatTask {}

impl KernelArgs for FloatProduct {}

/// The tensor cores of a device as a unit that the probe of `floats` can ask.
struct DeviceUnit {
    machine: Arc<dyn Machine>,
    format: Format,
    /// What went wrong first; sums are NaN from then on, so that nothing is found fit.
    failure: Mutex<Option<FftError>>,
}

impl fmt::Debug for DeviceUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "tensor cores of {} for {}",
            self.machine.name(),
            self.format
        )
    }
}

/// An array of rows at some distance, close together.
fn packed(from: &[u32], rows: usize, columns: usize, pitch: usize, to: &mut Vec<u32>) {
    for row in 0..rows {
        to.extend_from_slice(&from[row * pitch..][..columns]);
    }
}

impl DeviceUnit {
    fn product(&self, shape: &Shape, terms: &[Term<'_>], sums: &mut [f32]) -> Result<(), FftError> {
        let Shape {
            rows,
            pairs,
            columns,
            ..
        } = *shape;
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for term in terms {
            packed(term.left, rows, pairs, shape.left_pitch, &mut left);
            packed(term.right, pairs, columns, shape.right_pitch, &mut right);
        }
        let machine = &self.machine;
        let memory = |bytes| DeviceMemory::new(machine, bytes);
        let (a, b) = (memory(4 * left.len())?, memory(4 * right.len())?);
        let c = memory(4 * rows * columns)?;
        let task = FloatProduct {
            left: a.address(),
            right: b.address(),
            sums: c.address(),
            rows: rows as i32,
            pairs: pairs as i32,
            columns: columns as i32,
            terms: terms.len() as i32,
        };
        let name = ozfft_kernels::floats::PRODUCT_NAMES[self.format as usize];
        machine.prepare(&[name])?;
        let mut found = vec![0f32; rows * columns];
        // Declared last, and so closed first: it waits for what uses the memory.
        let queue = OpenQueue::new(&**machine)?;
        // SAFETY: the memory has room for all of it, and what is copied lives until the queue has been waited for.
        unsafe {
            machine.upload(queue.1, a.address(), bytemuck::cast_slice(&left))?;
            machine.upload(queue.1, b.address(), bytemuck::cast_slice(&right))?;
            let blocks = (rows / 16 * (columns / 8)) as u64;
            let grid = (blocks, ozfft_kernels::floats::PRODUCT_THREADS);
            machine.launch(queue.1, &Launch::new(name, grid, 0, task))?;
            machine.download(queue.1, c.address(), bytemuck::cast_slice_mut(&mut found))?;
        }
        machine.synchronize(queue.1)?;
        for (row, found) in found.chunks_exact(columns).enumerate() {
            sums[row * shape.sums_pitch..][..columns].copy_from_slice(found);
        }
        Ok(())
    }
}

impl MatrixUnit for DeviceUnit {
    fn name(&self) -> &str {
        match self.format {
            Format::Bf16 => "tensor_cores_bf16",
            Format::Fp16 => "tensor_cores_fp16",
        }
    }

    /// Nothing is claimed: what the device aligns is for the probe to find.
    fn order(&self) -> Order {
        Order::Aligned {
            depth: 2 * TILE,
            guard_bits: 0,
        }
    }

    fn format(&self) -> Format {
        self.format
    }

    fn multiply(&self, shape: &Shape, terms: &[Term<'_>], sums: &mut [f32]) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.is_some() {
            sums.fill(f32::NAN);
        } else if let Err(error) = self.product(shape, terms, sums) {
            *failure = Some(error);
            sums.fill(f32::NAN);
        }
    }
}

/// What the tensor cores of a device do with numbers of a format: asked once.
pub(crate) fn finding(machine: &Arc<dyn Machine>, format: Format) -> Result<Finding, FftError> {
    let findings = machine.findings().of::<FloatFindings>();
    let place = &findings[format as usize];
    if let Some(&found) = place.get() {
        return Ok(found);
    }
    let unit = DeviceUnit {
        machine: Arc::clone(machine),
        format,
        failure: Mutex::new(None),
    };
    let found = probe(&unit);
    let failure = unit.failure.into_inner();
    match failure.unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(*place.get_or_init(|| found)),
    }
}

/// The order of sums that a finding allows to be counted on, or what is missing.
fn order_of(mode: Mode, found: &Finding) -> Result<Order, &'static str> {
    if !found.keeps_f32_sums_of_exact_products() {
        return Err("exact products and sums of 24 bits");
    }
    if found.format == Format::Fp16 && found.flushes_factors {
        return Err("subnormal f16 numbers");
    }
    match (found.rounding, found.alignment) {
        (Rounding::Truncated, Some(found)) => Ok(Order::Aligned {
            depth: found.depth,
            guard_bits: found.guard_bits,
        }),
        // One rounding after the other is the worst that rounding to nearest can be.
        (Rounding::Nearest, _) => Ok(Order::Pairs),
        // Sums are exact.
        _ if mode == Mode::OzakiTwoLevel => Ok(Order::Pairs),
        _ => Err("sums that are rounded to nearest or towards zero"),
    }
}

/// The kernel for a mode and a length, or why there is none.
fn kernel(n: usize, mode: Mode) -> Result<&'static FloatKernel, FftError> {
    let of_mode = || KERNELS.iter().filter(|kernel| kernel.mode == mode.name());
    if of_mode().next().is_none() {
        let mut names: Vec<&str> = KERNELS.iter().map(|kernel| kernel.mode).collect();
        names.dedup();
        return Err(FftError::Unsupported(format!(
            "the mode {mode} has no kernel for GPUs; {} have, and the device cpu has all",
            names.join(", ")
        )));
    }
    of_mode().find(|kernel| kernel.points() == n).ok_or_else(|| {
        let lengths: Vec<String> = of_mode().map(|kernel| kernel.points().to_string()).collect();
        FftError::Unsupported(format!(
            "on GPUs the mode {mode} has kernels for lines of {} points, not for {n}; take one of these, the engine digits, or the device cpu",
            lengths.join(", ")
        ))
    })
}

/// Where column `c` of the tile `tile` of a line's columns lies: two tiles are loaded together, 16 bytes at a time.
fn column(tile: usize, c: usize, n2: usize) -> usize {
    if n2 == 8 {
        c
    } else {
        tile / 2 * 16 + 2 * c + tile % 2
    }
}

/// Which output row `g` of the tile `tile` is: neighbours are in the same lane of two tiles, and are stored together.
fn output(tile: usize, g: usize, n1: usize) -> usize {
    if n1 == 8 {
        g
    } else {
        tile / 2 * 16 + 2 * g + tile % 2
    }
}

/// The pairs of a matrix' entry that make up the real and the imaginary part of an output.
fn entry((re, im): (u16, u16)) -> [u32; 2] {
    let negated = |part: u16| if part & 0x7fff == 0 { 0 } else { part ^ 0x8000 };
    let pair = |first: u16, second: u16| u32::from(first) | u32::from(second) << 16;
    [pair(re, negated(im)), pair(im, re)]
}

/// Tables as `float_lines.cuh` reads them, an entry of 16 bytes for every lane.
fn kernel_tables(kernel: &FloatKernel, mode: Mode, direction: Direction) -> Vec<u32> {
    let (n1, n2) = kernel.factors;
    let (tiles, columns) = (n1 / 8, n2 / 8);
    let mut words = Vec::with_capacity(kernel.table_bytes() / 4);
    let lanes = || (0..32).map(|lane| (lane / 4, lane % 4));
    for roots in tables::roots(n1, mode, direction) {
        for tile in 0..tiles {
            for depth in 0..n1 / 8 {
                for (g, t) in lanes() {
                    let of = |j: usize| entry(roots[output(tile, g, n1) * (8 * depth + j) % n1]);
                    let (one, two) = (of(t), of(t + 4));
                    words.extend([one[0], one[1], two[0], two[1]]);
                }
            }
        }
    }
    for roots in tables::roots(n2, mode, direction) {
        for depth in 0..columns {
            for outputs in 0..columns {
                for (g, t) in lanes() {
                    for tile in [2 * outputs, 2 * outputs + 1] {
                        let k2 = 4 * tile + g / 2;
                        for c in [2 * t, 2 * t + 1] {
                            words.push(entry(roots[k2 * column(depth, c, n2) % n2])[g % 2]);
                        }
                    }
                }
            }
        }
    }
    let place = |tile: usize, part: usize, g: usize, c: usize| {
        column(part, c, n2) * n1 + output(tile, g, n1)
    };
    let each = || (0..tiles).flat_map(|tile| (0..columns).map(move |part| (tile, part)));
    if kernel.has_digits() {
        let rotations = tables::rotations_f64(n1, n2, direction);
        for (tile, part) in each() {
            for c in [0, 1] {
                for (g, t) in lanes() {
                    let rotation = rotations[place(tile, part, g, 2 * t + c)];
                    for bits in [rotation.re.to_bits(), rotation.im.to_bits()] {
                        words.extend([bits as u32, (bits >> 32) as u32]);
                    }
                }
            }
        }
        return words;
    }
    let rotations = tables::rotations(n1, n2, mode, direction);
    for (tile, part) in each() {
        for (g, t) in lanes() {
            for c in [2 * t, 2 * t + 1] {
                let rotation = rotations[place(tile, part, g, c)];
                words.extend([rotation.re.to_bits(), rotation.im.to_bits()]);
            }
        }
    }
    words
}

/// A transform of lines of f32 on a device.
pub(crate) struct FloatLines {
    machine: Arc<dyn Machine>,
    kernel: &'static FloatKernel,
    threads: u32,
    mode: Mode,
    tables: DeviceMemory,
    finding: Finding,
    order: Order,
    bound: f64,
    expected: f64,
}

/// Where lines are in device memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineArray {
    pub(crate) address: u64,
    /// From one line to the next, in complex numbers.
    pub(crate) distance: u64,
}

impl FloatLines {
    /// Probes the device, if this has not been done, and uploads the tables.
    pub(crate) fn new(
        machine: &Arc<dyn Machine>,
        n: usize,
        mode: Mode,
        direction: Direction,
    ) -> Result<Self, FftError> {
        let kernel = kernel(n, mode)?;
        let format = mode.format().unwrap_or(Format::Bf16);
        let finding = finding(machine, format)?;
        let refuse = |needed: &str| {
            FftError::Unsupported(format!(
                "{mode} needs {needed}; the probe of the tensor cores of {} found: {finding}. Take the engine digits, or the device cpu",
                machine.name()
            ))
        };
        let order = order_of(mode, &finding).map_err(refuse)?;
        let errors = tables::error(n, mode, order);
        let (bound, expected) = errors.ok_or_else(|| refuse("a length that it can cut in two"))?;
        // Where shared memory is short, fewer warps.
        let threads = kernel.threads_within(machine.shared_memory());
        if kernel.shared_bytes(threads) > machine.shared_memory() {
            return Err(refuse("more shared memory than a block has there"));
        }
        let words = kernel_tables(kernel, mode, direction);
        debug_assert_eq!(4 * words.len(), kernel.table_bytes());
        machine.prepare(&[kernel.name])?;
        let tables = DeviceMemory::new(machine, kernel.table_bytes())?;
        let queue = OpenQueue::new(&**machine)?;
        // SAFETY: the memory is as long, and the words live until the queue has been waited for.
        unsafe { machine.upload(queue.1, tables.address(), bytemuck::cast_slice(&words))? };
        machine.synchronize(queue.1)?;
        drop(queue);
        Ok(FloatLines {
            machine: Arc::clone(machine),
            kernel,
            threads,
            mode,
            tables,
            finding,
            order,
            bound,
            expected,
        })
    }

    /// The kernel, threads of a block, and its shared memory.
    pub(crate) fn launch(&self) -> (&'static str, u32, usize) {
        let (kernel, threads) = (self.kernel, self.threads);
        (kernel.name, threads, kernel.shared_bytes(threads))
    }

    pub(crate) fn bound(&self) -> f64 {
        self.bound
    }

    pub(crate) fn expected(&self) -> f64 {
        self.expected
    }

    /// The order in which the device adds.
    pub(crate) fn order(&self) -> Order {
        self.order
    }

    /// Blocks of a launch: as many as run side by side, or as there is work for.
    pub(crate) fn blocks(&self, lines: u64) -> u64 {
        let kernel = self.kernel;
        let of_block = kernel.lines as u64 * u64::from(self.threads / 32);
        let most = self.machine.multiprocessors() as u64 * kernel.blocks;
        lines.div_ceil(of_block).min(most)
    }

    /// Puts the transform of some lines into a queue; results are multiplied by two to the given power.
    ///
    /// # Safety
    /// The arrays are device memory of the lines' length, which nothing else uses until the queue has come so far. They are the
    /// same, with the same distances, or do not overlap.
    pub(crate) unsafe fn run(
        &self,
        queue: Queue,
        (input, output): (LineArray, LineArray),
        lines: u64,
        power: i32,
    ) -> Result<(), FftError> {
        if lines == 0 {
            return Ok(());
        }
        let n = self.kernel.points() as u64;
        for (buffer, array) in [(Buffer::Input, input), (Buffer::Output, output)] {
            if !array.address.is_multiple_of(16) {
                return Err(FftError::WrongPointer {
                    buffer,
                    address: array.address,
                    reason: "it is not a multiple of 16".into(),
                });
            }
            if array.distance < n || !array.distance.is_multiple_of(2) {
                return Err(FftError::Unsupported(format!(
                    "on GPUs lines of the mode {} lie at even distances of at least {n} points, not {}; take the device cpu",
                    self.mode, array.distance
                )));
            }
            let points = (lines - 1) * array.distance + n;
            self.machine
                .check_pointer(buffer, array.address, 8 * points as usize)?;
        }
        let task = FloatTask {
            input: input.address,
            output: output.address,
            tables: self.tables.address(),
            lines,
            input_distance: input.distance,
            output_distance: output.distance,
            power,
        };
        let (name, grid) = (self.kernel.name, (self.blocks(lines), self.threads));
        let shared = self.kernel.shared_bytes(self.threads);
        // SAFETY: the caller's promise; the tables live as long as this.
        unsafe {
            self.machine
                .launch(queue, &Launch::new(name, grid, shared, task))
        }
    }

    /// Transforms lines of a host array, one after the other, in place.
    #[cfg(test)]
    pub(crate) fn run_host(&self, lines: &mut [Complex<f32>]) -> Result<(), FftError> {
        let n = self.kernel.points();
        if !lines.len().is_multiple_of(n) {
            return Err(floats::FloatError::NotWholeLines {
                values: lines.len(),
                n,
            }
            .into());
        }
        let machine = &self.machine;
        let memory = DeviceMemory::new(machine, size_of_val(lines))?;
        let array = LineArray {
            address: memory.address(),
            distance: n as u64,
        };
        let queue = OpenQueue::new(&**machine)?;
        // SAFETY: the memory is as long as the lines, which live until the queue has been waited for.
        unsafe {
            machine.upload(queue.1, memory.address(), bytemuck::cast_slice(lines))?;
            self.run(queue.1, (array, array), (lines.len() / n) as u64, 0)?;
            machine.synchronize(queue.1)?;
            machine.download(queue.1, memory.address(), bytemuck::cast_slice_mut(lines))?;
        }
        machine.synchronize(queue.1)
    }

    /// Which kernel on which device, and how well.
    pub(crate) fn describe(&self) -> String {
        let (n1, n2) = self.kernel.factors;
        format!(
            "{}, {} points: {} ({n1} × {n2}) on {} ({}); relative L2 error at most {}, about {:.1e}",
            self.mode,
            self.kernel.points(),
            self.kernel.name,
            self.machine.name(),
            self.finding,
            bound_text(self.bound, 1),
            self.expected
        )
    }
}
