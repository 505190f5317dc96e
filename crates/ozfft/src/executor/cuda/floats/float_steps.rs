//! Modes of the crate `floats` without a matrix unit (`fast`, `kahan`, `double`) on a GPU: the crate's own list of operations and constants,
//! as `cuda/floats/float_steps.cu` takes them. A line that fits into shared memory is transformed there, a longer one in workspace, an operation a launch.
//!
//! The same kernels bring lines from anywhere to contiguous memory for the kernels of `mod.rs`, and refine what these return.

use crate::error::FftError;
use crate::executor::cuda::OpenQueue;
use crate::executor::cuda::device::launch::Launch;
use crate::executor::cuda::device::machine::{DeviceMemory, Machine, Queue};
use crate::executor::cuda::program::task::{Arrays, KernelArgs};
use crate::executor::lines::LineSet;
use crate::sample::Real;
use floats::steps::{LineProgram, Operation, program};
use floats::{Direction, Mode, Table};
use ozfft_kernels::floats::{
    FLOAT_DIMENSIONS, FLOAT_STEPS, FloatArithmetic, FloatPlaces, FloatStep, FloatStepsTask,
    PHASE_NAMES, STEP_THREADS, WHOLE_NAMES,
};
use std::sync::Arc;

/// What `FloatStepsTask::phase` names besides operations.
const SCALES: i32 = -1;
const READ: i32 = -2;
const WRITE: i32 = -3;

/// Lines that a phase takes side by side where they are near each other.
const TOGETHER: u64 = 16;

/// Where lines are read and written, relative to the caller's arrays.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    dimensions: [u64; FLOAT_DIMENSIONS - 1],
    /// Offsets, distances of points, and distances of lines.
    sides: [(i64, i64, [i64; FLOAT_DIMENSIONS]); 2],
}

impl Places {
    /// Dimensions that continue each other are one; none where more than four are left.
    pub(crate) fn new(read: &LineSet, write: &LineSet) -> Option<Self> {
        let mut found: Vec<(u64, [i64; 2])> = Vec::new();
        let both = read.dimensions.iter().zip(&write.dimensions).rev();
        for (&(n, from), &(_, to)) in both.filter(|((n, _), _)| *n > 1) {
            let distances = [from as i64, to as i64];
            match found.last_mut() {
                Some((count, inner)) if distances == inner.map(|d| d * *count as i64) => {
                    *count *= n as u64;
                }
                _ => found.push((n as u64, distances)),
            }
        }
        if found.len() > FLOAT_DIMENSIONS {
            return None;
        }
        found.resize(FLOAT_DIMENSIONS, (1, [0, 0]));
        // The kernel counts the last one without a length.
        let outermost = found.iter().rposition(|(n, _)| *n > 1).unwrap_or(0);
        found.swap(outermost, FLOAT_DIMENSIONS - 1);
        let side = |lines: &LineSet, side: usize| {
            let distances = std::array::from_fn(|i| found[i].1[side]);
            (lines.offset as i64, lines.stride as i64, distances)
        };
        Some(Places {
            dimensions: std::array::from_fn(|i| found[i].0),
            sides: [side(read, 0), side(write, 1)],
        })
    }

    /// Whether neighbouring lines are nearer to each other than neighbouring points.
    fn are_near(&self, side: usize) -> bool {
        let (_, stride, distances) = self.sides[side];
        let innermost = distances.iter().find(|&&distance| distance != 0);
        innermost.is_some_and(|distance| distance.abs() < stride.abs())
    }

    /// The same in arrays at these addresses, of numbers of so many bytes.
    fn put(&self, task: &mut FloatStepsTask, (input, output): (u64, u64), bytes: usize) {
        let place = |address: u64, side: usize| {
            let (offset, point_distance, line_distances) = self.sides[side];
            FloatPlaces {
                numbers: address.wrapping_add_signed(offset * bytes as i64),
                point_distance,
                line_distances,
            }
        };
        task.input = place(input, 0);
        task.output = place(output, 1);
        task.dimensions = self.dimensions;
        task.lines_are_near = [0, 1].map(|side| i32::from(self.are_near(side)));
    }
}

/// Lines that are contiguous, one after the other, at these addresses.
fn contiguous(task: &mut FloatStepsTask, (input, output): (u64, u64), n: usize) {
    let place = |numbers| {
        let mut line_distances = [0; FLOAT_DIMENSIONS];
        line_distances[FLOAT_DIMENSIONS - 1] = n as i64;
        FloatPlaces {
            numbers,
            point_distance: 1,
            line_distances,
        }
    };
    task.input = place(input);
    task.output = place(output);
    task.dimensions = [1; FLOAT_DIMENSIONS - 1];
    task.lines_are_near = [0, 0];
}

/// The norm's factor, and which lines are made smaller before they are transformed: as `float_line.rs` does.
fn put_norm<T: Real>(task: &mut FloatStepsTask, n: usize, scale: f64) {
    let room = n.next_power_of_two().trailing_zeros() as i32 + 1;
    task.factor = scale;
    task.single_factor = scale as f32;
    task.room = room;
    task.room_from = match scale == 1.0 {
        true => i32::MAX,
        false => T::LARGEST_EXPONENT - 1 - room,
    };
}

pub(crate) fn is_power_of_two(scale: f64) -> bool {
    scale.to_bits() << 12 == 0
}

/// Which arithmetic a mode has, if it needs no matrix unit.
pub(crate) fn arithmetic(mode: Mode, doubles: bool) -> Option<FloatArithmetic> {
    match (mode, doubles) {
        (Mode::Fast, false) => Some(FloatArithmetic::Single),
        (Mode::Kahan, false) => Some(FloatArithmetic::Carried),
        (Mode::Double, false) => Some(FloatArithmetic::Double),
        (Mode::Double, true) => Some(FloatArithmetic::Doubles),
        _ => None,
    }
}

/// Constants as the arithmetic reads them.
fn constant_bytes(program: &LineProgram, arithmetic: FloatArithmetic) -> Vec<u8> {
    let all = program.constants.iter();
    let mut bytes = Vec::with_capacity(program.constants.len() * arithmetic.element_bytes());
    for &[re, re_low, im, im_low] in all {
        let single = |values: &[f64], bytes: &mut Vec<u8>| {
            for &value in values {
                bytes.extend((value as f32).to_ne_bytes());
            }
        };
        match arithmetic {
            FloatArithmetic::Single => single(&[re, im], &mut bytes),
            FloatArithmetic::Carried => single(&[re, re_low, im, im_low], &mut bytes),
            FloatArithmetic::Double | FloatArithmetic::Doubles => {
                bytes.extend(re.to_ne_bytes());
                bytes.extend(im.to_ne_bytes());
            }
        }
    }
    bytes
}

/// Operations as kernels take them.
fn put_steps(task: &mut FloatStepsTask, program: &LineProgram) {
    for (to, step) in task.steps.iter_mut().zip(&program.steps) {
        let constants = step.constants as i32;
        *to = match step.operation {
            Operation::Butterfly {
                points,
                stride,
                groups,
            } => FloatStep {
                operation: 0,
                points: points as i32,
                stride: stride as i32,
                groups: groups as i32,
                stride_power: match stride.is_power_of_two() {
                    true => stride.trailing_zeros() as i32,
                    false => -1,
                },
                constants,
                ..FloatStep::default()
            },
            Operation::Product => FloatStep {
                operation: 1,
                points: program.length as i32,
                constants,
                ..FloatStep::default()
            },
            Operation::Multiply {
                values,
                swap: (before, after),
                zero_to,
            } => FloatStep {
                operation: 2,
                points: values as i32,
                swap: i32::from(before) | i32::from(after) << 1,
                zero_to: zero_to as i32,
                constants,
                ..FloatStep::default()
            },
        };
    }
    task.step_count = program.steps.len() as i32;
    task.length = program.length as i32;
}

/// Whether a kernel with small DFTs of 2, 4 and 8 points alone can do all of it.
fn is_simple(program: &LineProgram) -> bool {
    program.steps.iter().all(|step| match step.operation {
        Operation::Butterfly { points, .. } => [2, 4, 8].contains(&points),
        _ => false,
    })
}

/// Puts one phase of some lines into a queue.
///
/// # Safety
/// All addresses of the task are of memory that the kernel may use.
unsafe fn launch_phase(
    machine: &dyn Machine,
    queue: Queue,
    task: &FloatStepsTask,
    arithmetic: FloatArithmetic,
) -> Result<(), FftError> {
    let (pieces, near) = match task.phase {
        phase if phase >= 0 => {
            let step = &task.steps[phase as usize];
            let pieces = match step.operation {
                0 => step.stride * step.groups,
                _ => step.points.max(step.zero_to),
            };
            (pieces, false)
        }
        phase => (
            task.points,
            task.lines_are_near[usize::from(phase == WRITE)] != 0,
        ),
    };
    let together = if near { TOGETHER } else { 1 };
    let threads = u64::from(STEP_THREADS) / together;
    let blocks = task.lines.div_ceil(together) * (pieces as u64).div_ceil(threads);
    let name = PHASE_NAMES[arithmetic as usize];
    // SAFETY: the caller's promise.
    unsafe { machine.launch(queue, &Launch::new(name, (blocks, STEP_THREADS), 0, *task)) }
}

/// Numbers of workspace, rounded up to what every array may begin at.
fn padded(bytes: u64) -> u64 {
    bytes.next_multiple_of(256)
}

impl KernelArgs for FloatStepsTask {}

/// A transform of lines on a device, in f32, f32 with errors, or f64.
pub(crate) struct StepLines {
    machine: Arc<dyn Machine>,
    mode: Mode,
    arithmetic: FloatArithmetic,
    program: LineProgram,
    constants: DeviceMemory,
    places: Option<Places>,
    lines: u64,
    /// All that does not depend on the arrays.
    task: FloatStepsTask,
    /// Without one, lines are too long for shared memory.
    whole: Option<&'static str>,
    /// Lines that are in workspace at the same time.
    at_once: u64,
}

/// What is asked of [`StepLines`].
pub(crate) struct StepRequest<'a> {
    pub(crate) n: usize,
    pub(crate) mode: Mode,
    pub(crate) direction: Direction,
    pub(crate) table: Table,
    /// None for contiguous lines, one after the other.
    pub(crate) places: Option<(&'a LineSet, &'a LineSet)>,
    pub(crate) lines: u64,
    /// The norm's factor.
    pub(crate) scale: f64,
}

impl StepLines {
    pub(crate) fn new<T: Real>(
        machine: &Arc<dyn Machine>,
        request: &StepRequest<'_>,
    ) -> Result<Self, FftError> {
        let &StepRequest { n, mode, lines, .. } = request;
        let refuse = |what: String| {
            FftError::Unsupported(format!("{what}; take the engine digits, or the device cpu"))
        };
        let arithmetic = arithmetic(mode, T::IS_DOUBLE).ok_or_else(|| {
            refuse(format!(
                "on GPUs the mode {mode} takes f32, and these are {}",
                T::NAME
            ))
        })?;
        let none = || refuse(format!("{n} points have no steps of the mode {mode}"));
        let program = program(n, mode, request.table).ok_or_else(none)?;
        if program.steps.len() > FLOAT_STEPS || program.length > 1 << 28 {
            return Err(refuse(format!(
                "on GPUs the mode {mode} takes {FLOAT_STEPS} steps and 2^28 points, and {n} points have {} steps of {}",
                program.steps.len(),
                program.length
            )));
        }
        let places = match request.places {
            None => None,
            Some((read, write)) => Some(Places::new(read, write).ok_or_else(|| {
                refuse(format!(
                    "on GPUs lines of the mode {mode} lie along at most {FLOAT_DIMENSIONS} dimensions"
                ))
            })?),
        };
        let bytes = constant_bytes(&program, arithmetic);
        let constants = DeviceMemory::new(machine, bytes.len())?;
        let queue = OpenQueue::new(&**machine)?;
        // SAFETY: the memory is as long, and the bytes live until the queue has been waited for.
        unsafe { machine.upload(queue.1, constants.address(), &bytes)? };
        machine.synchronize(queue.1)?;
        drop(queue);
        let mut task = FloatStepsTask {
            constants: constants.address(),
            points: n as i32,
            swap: i32::from(request.direction == Direction::Inverse),
            is_scaled: 1,
            ..FloatStepsTask::default()
        };
        put_norm::<T>(&mut task, n, request.scale);
        put_steps(&mut task, &program);
        let of_block = lines_of_block(&**machine, arithmetic, program.length, lines);
        let simple = is_simple(&program)
            && (is_power_of_two(request.scale)
                || arithmetic.element_bytes() == 16 && mode == Mode::Double);
        let whole = of_block.map(|_| WHOLE_NAMES[arithmetic as usize][usize::from(!simple)]);
        if let Some(of_block) = of_block {
            task.lines_power = of_block.trailing_zeros() as i32;
            task.pitch = FloatArithmetic::pitch(of_block) as i32;
        }
        let each = 2 * (program.length * arithmetic.element_bytes()) as u64 + 8;
        Ok(StepLines {
            machine: Arc::clone(machine),
            mode,
            arithmetic,
            program,
            constants,
            places,
            lines,
            task,
            whole,
            at_once: (machine.most_word_bytes() / each).clamp(1, lines.max(1)),
        })
    }

    pub(crate) fn table_bytes(&self) -> usize {
        self.constants.bytes()
    }

    fn array_bytes(&self) -> u64 {
        let each = (self.program.length * self.arithmetic.element_bytes()) as u64;
        padded(self.at_once * each)
    }

    pub(crate) fn workspace_bytes(&self) -> usize {
        match self.whole {
            Some(_) => 0,
            None => (2 * self.array_bytes() + padded(8 * self.at_once)) as usize,
        }
    }

    fn shared_bytes(&self) -> usize {
        let lines = 1 << self.task.lines_power;
        self.arithmetic.shared_bytes(self.program.length, lines)
    }

    /// Kernels, their shared memory, and blocks of the launches of a call's first lines.
    pub(crate) fn launches(&self) -> Vec<(&'static str, usize, u64)> {
        match self.whole {
            Some(name) => vec![(name, self.shared_bytes(), self.whole_blocks())],
            None => vec![
                (PHASE_NAMES[self.arithmetic as usize], 0, self.at_once);
                self.program.steps.len() + 3
            ],
        }
    }

    fn whole_blocks(&self) -> u64 {
        self.lines.div_ceil(1 << self.task.lines_power)
    }

    /// Puts the transform into a queue. Results y of f32 become `minuend - y·share`, if there is one.
    ///
    /// # Safety
    /// The arrays are device memory as long as the lines say, and the workspace as [`StepLines::workspace_bytes`]; nothing else uses them until
    /// the queue has come so far.
    pub(crate) unsafe fn run(
        &self,
        queue: Queue,
        arrays: &Arrays,
        minuend: Option<(u64, f32)>,
        lines: u64,
    ) -> Result<(), FftError> {
        let addresses = (arrays.input, arrays.output);
        let mut task = self.task;
        match &self.places {
            Some(places) => places.put(&mut task, addresses, self.arithmetic.data_bytes()),
            None => contiguous(&mut task, addresses, self.task.points as usize),
        }
        (task.minuend, task.share) = minuend.unwrap_or_default();
        task.lines = lines;
        if lines == 0 {
            return Ok(());
        }
        let machine = &*self.machine;
        if let Some(name) = self.whole {
            let grid = (lines.div_ceil(1 << task.lines_power), STEP_THREADS);
            let launch = Launch::new(name, grid, self.shared_bytes(), task);
            // SAFETY: the caller's promise; constants live as long as this.
            return unsafe { machine.launch(queue, &launch) };
        }
        let arrays = [arrays.workspace, arrays.workspace + self.array_bytes()];
        task.largest = arrays[1] + self.array_bytes();
        for first in (0..lines).step_by(self.at_once as usize) {
            task.first_line = first;
            task.lines = self.at_once.min(lines - first);
            // SAFETY: the caller's promise.
            unsafe { self.run_phases(queue, &mut task, arrays)? };
        }
        Ok(())
    }

    /// # Safety
    /// As for [`StepLines::run`].
    unsafe fn run_phases(
        &self,
        queue: Queue,
        task: &mut FloatStepsTask,
        arrays: [u64; 2],
    ) -> Result<(), FftError> {
        let machine = &*self.machine;
        let mut side = 0;
        // SAFETY: the caller's promise; arrays have room for all lines of the task.
        unsafe {
            machine.clear(queue, task.largest, 8 * task.lines as usize)?;
            let phases = [SCALES, READ].into_iter();
            for phase in phases.chain(0..task.step_count).chain([WRITE]) {
                task.phase = phase;
                (task.from, task.to) = match phase {
                    READ => (0, arrays[0]),
                    _ => (arrays[side], arrays[1 - side]),
                };
                launch_phase(machine, queue, task, self.arithmetic)?;
                if phase >= 0 && task.steps[phase as usize].operation != 2 {
                    side = 1 - side;
                }
            }
        }
        Ok(())
    }

    /// Which kernel on which device.
    pub(crate) fn describe(&self) -> String {
        let points = |step: &floats::steps::ProgramStep| match step.operation {
            Operation::Butterfly { points, .. } => points.to_string(),
            Operation::Product => "whole matrix".into(),
            Operation::Multiply { .. } => "chirp".into(),
        };
        let steps: Vec<String> = self.program.steps.iter().map(points).collect();
        let kernel = self.whole.unwrap_or(PHASE_NAMES[self.arithmetic as usize]);
        let place = match self.whole {
            Some(_) => format!("{} lines a block", 1 << self.task.lines_power),
            None => "an operation a launch".into(),
        };
        format!(
            "{}, {} points: {kernel} ({}; {place}) on {}",
            self.mode,
            self.task.points,
            steps.join("·"),
            self.machine.name()
        )
    }
}

/// Lines of a block, a power of two: some thousand points, fewer where there are few lines; none where not even one fits.
fn lines_of_block(
    machine: &dyn Machine,
    arithmetic: FloatArithmetic,
    length: usize,
    lines: u64,
) -> Option<usize> {
    let points = (1 << 15) / arithmetic.element_bytes();
    let mut of_block = (points / length.max(1)).clamp(1, STEP_THREADS as usize);
    of_block = 1 << of_block.ilog2();
    let wanted = 2 * machine.multiprocessors() as u64;
    while of_block > 1
        && (lines.div_ceil(of_block as u64) < wanted
            || arithmetic.shared_bytes(length, of_block) > machine.shared_memory())
    {
        of_block /= 2;
    }
    (arithmetic.shared_bytes(length, of_block) <= machine.shared_memory()).then_some(of_block)
}

/// Copies of f32 lines to contiguous memory and back, unscaled; or the beginning and the end of a refinement.
pub(crate) struct LineCopies {
    task: FloatStepsTask,
    places: Places,
}

impl LineCopies {
    /// Of lines of `n` points; the norm's factor comes with the way back.
    pub(crate) fn new(n: usize, places: Places, scale: f64, is_scaled: bool) -> Self {
        let mut task = FloatStepsTask {
            points: n as i32,
            length: n as i32,
            is_scaled: i32::from(is_scaled),
            ..FloatStepsTask::default()
        };
        put_norm::<f32>(&mut task, n, scale);
        LineCopies { task, places }
    }

    fn task(&self, arrays: &Arrays, first_line: u64, lines: u64, largest: u64) -> FloatStepsTask {
        let mut task = self.task;
        self.places.put(&mut task, (arrays.input, arrays.output), 8);
        FloatStepsTask {
            first_line,
            lines,
            largest,
            ..task
        }
    }

    /// Brings lines to `to`, under powers of two of their own if so asked, whose magnitudes are then at `largest`.
    ///
    /// # Safety
    /// The arrays are device memory with room for these lines.
    pub(crate) unsafe fn read(
        &self,
        (machine, queue): (&dyn Machine, Queue),
        arrays: &Arrays,
        (first, lines): (u64, u64),
        (to, largest): (u64, u64),
    ) -> Result<(), FftError> {
        let mut task = self.task(arrays, first, lines, largest);
        task.to = to;
        // SAFETY: the caller's promise.
        unsafe {
            if task.is_scaled != 0 {
                machine.clear(queue, largest, 8 * lines as usize)?;
                task.phase = SCALES;
                launch_phase(machine, queue, &task, FloatArithmetic::Single)?;
            }
            task.phase = READ;
            launch_phase(machine, queue, &task, FloatArithmetic::Single)
        }
    }

    /// Brings lines from `from`, with `addend` added to them where there is one.
    ///
    /// # Safety
    /// As for [`LineCopies::read`].
    pub(crate) unsafe fn write(
        &self,
        (machine, queue): (&dyn Machine, Queue),
        arrays: &Arrays,
        (first, lines): (u64, u64),
        (from, addend, largest): (u64, u64, u64),
    ) -> Result<(), FftError> {
        let mut task = self.task(arrays, first, lines, largest);
        (task.from, task.addend, task.phase) = (from, addend, WRITE);
        // SAFETY: the caller's promise.
        unsafe { launch_phase(machine, queue, &task, FloatArithmetic::Single) }
    }
}
