//! A problem in a mode of the crate `floats` on a GPU: which kernels, where its lines are, and what is in workspace between launches.

use crate::error::FftError;
use crate::executor::cuda::device::machine::{Machine, Queue};
use crate::executor::cuda::device::work::{DeviceWork, LaunchedKernel};
use crate::executor::cuda::floats::float_steps::{
    LineCopies, Places, StepLines, StepRequest, arithmetic, is_power_of_two,
};
use crate::executor::cuda::floats::{FloatLines, LineArray};
use crate::executor::cuda::program::task::Arrays;
use crate::executor::lines::LineSet;
use crate::executor::schedule::Schedule;
use crate::kind::Kind;
use crate::problem;
use crate::sample::Real;
use floats::{Direction, Mode, Table, tables};
use ozfft_kernels::floats::{PHASE_NAMES, STEP_THREADS};
use std::sync::Arc;

/// What runs.
enum Kernels {
    /// Lines on tensor cores that lie as their kernel wants them: first point and distance of the input's lines, and of the output's.
    Products(FloatLines, [(u64, u64); 2]),
    /// Lines on tensor cores that lie otherwise: contiguous copies in workspace.
    Copied(FloatLines, LineCopies),
    /// Operations in f32 or f64.
    Steps(Box<StepLines>),
    /// `bf16_refined`: a transform on tensor cores, its inverse in f32, and the transform of what that leaves of the input.
    Refined {
        lines: FloatLines,
        back: Box<StepLines>,
        copies: LineCopies,
        errors: (f64, f64),
    },
}

/// The lines of a problem.
pub(crate) struct FloatWork {
    machine: Arc<dyn Machine>,
    kernels: Kernels,
    n: usize,
    count: u64,
    /// Lines that are in workspace at the same time.
    at_once: u64,
    power: i32,
}

/// First point and distance, if lines are contiguous and lie at one distance of each other.
fn place(lines: &LineSet, n: usize) -> Option<(u64, u64)> {
    let several = lines.dimensions.iter().filter(|(count, _)| *count > 1);
    let mut distance = None;
    for &(_, stride) in several {
        if distance.replace(stride).is_some() {
            return None;
        }
    }
    let distance = u64::try_from(distance.unwrap_or(n.next_multiple_of(2) as isize)).ok()?;
    let offset = u64::try_from(lines.offset).ok()?;
    let fits = lines.stride == 1 && distance >= n as u64;
    (fits && distance.is_multiple_of(2) && offset.is_multiple_of(2)).then_some((offset, distance))
}

impl FloatWork {
    /// Of a problem whose passes the processor has laid out.
    pub(crate) fn new<T: Real>(
        machine: &Arc<dyn Machine>,
        direction: problem::Direction,
        schedule: &Schedule,
        (mode, table): (Mode, Table),
        scale: f64,
    ) -> Result<Self, FftError> {
        let refuse = |what: &str| {
            FftError::Unsupported(format!(
                "on GPUs the mode {mode} takes complex lines along one axis, of f32 (double also of f64), and on tensor cores under a norm that is a power of two; {what}. Take the engine digits, or the device cpu"
            ))
        };
        let [pass] = &schedule.passes[..] else {
            return Err(refuse("there are several axes"));
        };
        if pass.kind != Kind::ComplexToComplex {
            return Err(refuse("this is a real transform"));
        }
        if T::IS_DOUBLE && mode != Mode::Double {
            return Err(refuse("these are f64"));
        }
        let direction = match direction {
            problem::Direction::Forward => Direction::Forward,
            problem::Direction::Inverse => Direction::Inverse,
        };
        let (n, count) = (pass.n, pass.read.count() as u64);
        let request = StepRequest {
            n,
            mode,
            direction,
            table,
            places: Some((&pass.read, &pass.write)),
            lines: count,
            scale,
        };
        let places = || {
            Places::new(&pass.read, &pass.write)
                .ok_or_else(|| refuse("these lie along more than four dimensions"))
        };
        let work = |kernels, bytes_of_line: u64| FloatWork {
            machine: Arc::clone(machine),
            kernels,
            n,
            count,
            at_once: (machine.most_word_bytes() / bytes_of_line).clamp(1, count.max(1)),
            power: (scale.to_bits() >> 52) as i32 - 1023,
        };
        if arithmetic(mode, T::IS_DOUBLE).is_some() {
            let steps = StepLines::new::<T>(machine, &request)?;
            return Ok(work(Kernels::Steps(Box::new(steps)), 1));
        }
        if !is_power_of_two(scale) {
            return Err(refuse("this norm is none"));
        }
        let bytes = 8 * n as u64;
        if mode == Mode::Bf16Refined {
            let lines = FloatLines::new(machine, n, Mode::Bf16, direction)?;
            let errors = tables::refined_error(n, lines.order())
                .ok_or_else(|| refuse("this length has no two factors"))?;
            let back = StepRequest {
                mode: Mode::Fast,
                table: Table::Measured,
                direction: direction.reversed(),
                places: None,
                lines: count,
                scale: 1.0,
                ..request
            };
            let back = Box::new(StepLines::new::<f32>(machine, &back)?);
            let copies = LineCopies::new(n, places()?, scale, true);
            let kernels = Kernels::Refined {
                lines,
                back,
                copies,
                errors,
            };
            return Ok(work(kernels, 3 * bytes + 8));
        }
        let lines = FloatLines::new(machine, n, mode, direction)?;
        let kernels = match (place(&pass.read, n), place(&pass.write, n)) {
            (Some(input), Some(output)) => Kernels::Products(lines, [input, output]),
            _ => Kernels::Copied(lines, LineCopies::new(n, places()?, 1.0, false)),
        };
        Ok(work(kernels, bytes))
    }

    /// Bound and expectation, where they are not the processor's.
    pub(crate) fn errors(&self) -> Option<(f64, f64)> {
        match &self.kernels {
            Kernels::Products(lines, _) | Kernels::Copied(lines, _) => {
                Some((lines.bound(), lines.expected()))
            }
            Kernels::Refined { errors, .. } => Some(*errors),
            Kernels::Steps(_) => None,
        }
    }

    fn array_bytes(&self) -> u64 {
        (8 * self.n as u64 * self.at_once).next_multiple_of(256)
    }

    /// An array of the workspace, by its number.
    fn in_workspace(&self, arrays: &Arrays, number: u64) -> LineArray {
        LineArray {
            address: arrays.workspace + number * self.array_bytes(),
            distance: self.n as u64,
        }
    }

    /// All lines, as many at a time as workspace holds: number of the first, and how many.
    fn turns(
        &self,
        mut turn: impl FnMut((u64, u64)) -> Result<(), FftError>,
    ) -> Result<(), FftError> {
        for first in (0..self.count).step_by(self.at_once as usize) {
            turn((first, self.at_once.min(self.count - first)))?;
        }
        Ok(())
    }
}

impl DeviceWork for FloatWork {
    unsafe fn run(&self, _: &dyn Machine, queue: Queue, arrays: &Arrays) -> Result<(), FftError> {
        // SAFETY: the caller's promise.
        unsafe {
            match &self.kernels {
                Kernels::Products(lines, places) => {
                    let array = |address: u64, (offset, distance): (u64, u64)| LineArray {
                        address: address + 8 * offset,
                        distance,
                    };
                    let arrays = (
                        array(arrays.input, places[0]),
                        array(arrays.output, places[1]),
                    );
                    lines.run(queue, arrays, self.count, self.power)
                }
                Kernels::Steps(steps) => steps.run(queue, arrays, None, self.count),
                Kernels::Copied(lines, copies) => self.turns(|turn| {
                    let device = (&*self.machine, queue);
                    let copy = self.in_workspace(arrays, 0);
                    copies.read(device, arrays, turn, (copy.address, 0))?;
                    lines.run(queue, (copy, copy), turn.1, self.power)?;
                    copies.write(device, arrays, turn, (copy.address, 0, 0))
                }),
                Kernels::Refined {
                    lines,
                    back,
                    copies,
                    ..
                } => self.turns(|turn| {
                    let device = (&*self.machine, queue);
                    let [input, result, residual] =
                        [0, 1, 2].map(|number| self.in_workspace(arrays, number));
                    let largest = arrays.workspace + 3 * self.array_bytes();
                    copies.read(device, arrays, turn, (input.address, largest))?;
                    lines.run(queue, (input, result), turn.1, 0)?;
                    let inverse = Arrays {
                        input: result.address,
                        output: residual.address,
                        workspace: 0,
                    };
                    let share = 1.0 / self.n as f32;
                    back.run(queue, &inverse, Some((input.address, share)), turn.1)?;
                    lines.run(queue, (residual, residual), turn.1, 0)?;
                    let sum = (result.address, residual.address, largest);
                    copies.write(device, arrays, turn, sum)
                }),
            }
        }
    }

    fn kernels(&self) -> Vec<&'static str> {
        let launches = self.launches().into_iter();
        launches.map(|launch| launch.name).collect()
    }

    /// Those of a call's first lines.
    fn launches(&self) -> Vec<LaunchedKernel> {
        let of = |name, threads, shared_bytes, blocks| LaunchedKernel {
            name,
            blocks,
            threads,
            shared_bytes,
        };
        let phase = of(PHASE_NAMES[0], STEP_THREADS, 0, self.at_once);
        let product = |lines: &FloatLines, count| {
            let (name, threads, shared) = lines.launch();
            of(name, threads, shared, lines.blocks(count))
        };
        let steps = |steps: &StepLines| -> Vec<_> {
            let launches = steps.launches().into_iter();
            launches
                .map(|(name, shared, blocks)| of(name, STEP_THREADS, shared, blocks))
                .collect()
        };
        match &self.kernels {
            Kernels::Products(lines, _) => vec![product(lines, self.count)],
            Kernels::Copied(lines, _) => vec![phase, product(lines, self.at_once), phase],
            Kernels::Steps(lines) => steps(lines),
            Kernels::Refined { lines, back, .. } => {
                let product = product(lines, self.at_once);
                [
                    vec![phase, phase, product],
                    steps(back),
                    vec![product, phase],
                ]
                .concat()
            }
        }
    }

    fn describe_floats(&self) -> Option<String> {
        Some(match &self.kernels {
            Kernels::Products(lines, _) => lines.describe(),
            Kernels::Copied(lines, _) => {
                format!("{}; on contiguous copies of the lines", lines.describe())
            }
            Kernels::Steps(steps) => steps.describe(),
            Kernels::Refined { lines, back, .. } => format!(
                "bf16_refined of {}; inverse: {}",
                lines.describe(),
                back.describe()
            ),
        })
    }

    fn table_bytes(&self) -> usize {
        match &self.kernels {
            Kernels::Products(..) | Kernels::Copied(..) => 0,
            Kernels::Steps(steps) => steps.table_bytes(),
            Kernels::Refined { back, .. } => back.table_bytes(),
        }
    }

    fn workspace_bytes(&self) -> usize {
        match &self.kernels {
            Kernels::Products(..) => 0,
            Kernels::Copied(..) => self.array_bytes() as usize,
            Kernels::Steps(steps) => steps.workspace_bytes(),
            Kernels::Refined { .. } => (3 * self.array_bytes() + 8 * self.at_once) as usize,
        }
    }
}
