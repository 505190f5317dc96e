//! One axis of a larger transform over a part of its array in a GPU's memory.

use super::Plan;
use super::axis::AxisPlan;
use super::planner::{Order, Planner};
use crate::engines;
use crate::error::FftError;
use crate::executor::cuda::{DeviceQueue, LargestSearch};
use crate::executor::schedule::Schedule;
use crate::kind::Kind;
use crate::problem::{Device, DevicePointer, Engine, Problem};
use crate::sample::Real;
use crate::substrate::Substrate;
use float_environment::DefaultEnvironment;
use std::sync::Arc;

/// [`AxisPlan`] for parts in a GPU's memory, with the same bits.
///
/// Powers between axes are nearly always 0. Where one is not, because numbers are close to the ends of the range, the part is copied to the processor,
/// transformed there, and copied back: slow, rare, and the same bits.
pub struct DeviceAxisPlan<T: Real> {
    /// On the GPU, where all powers are 0.
    plan: Plan<T>,
    /// On the processor, for other powers.
    host: AxisPlan<T>,
    search: LargestSearch,
}

impl<T: Real> std::fmt::Debug for DeviceAxisPlan<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("DeviceAxisPlan").field(&self.plan).finish()
    }
}

impl<T: Real> Planner<T> {
    /// Plans axis number `number` of a plan, which is one for the processor, for a part of its array that lies in the memory of a GPU: [`Planner::plan_axis`] has
    /// the parameters. `substrate` is [`Substrate::Auto`] or a unit of the GPU.
    pub fn plan_axis_on_device(
        &self,
        whole: &Plan<T>,
        number: usize,
        shape: &[usize],
        queue: &DeviceQueue,
        substrate: Substrate,
    ) -> Result<DeviceAxisPlan<T>, FftError> {
        let _environment = DefaultEnvironment::enter();
        let host = self.plan_axis(whole, number, shape)?;
        let (part, recipe) = (host.plan().problem(), host.plan().recipe());
        let problem = Problem {
            device: Device::Cuda(queue.ordinal()),
            substrate,
            strict: false,
            ..part.clone()
        };
        problem.validate()?;
        // Where powers are 0 this is a transform along one axis.
        let schedule = Schedule::of_part(&problem, host.axis(), 0);
        let order = Order {
            problem: &problem,
            threads: 1,
            schedule: Arc::new(schedule),
        };
        let gpu = (Arc::clone(queue.machine()), queue.ordinal());
        let request = self.request(&order, Some(gpu), recipe);
        let built = engines::build(Engine::Digits, &request)?;
        let why = format!("axis {} of a larger transform", host.axis());
        Ok(DeviceAxisPlan {
            plan: self.assemble(
                &order,
                Engine::Digits,
                Some(queue.ordinal()),
                (built, why),
                None,
            ),
            search: LargestSearch::new::<T>(queue.machine(), host.scan(), host.kind())?,
            host,
        })
    }
}

impl<T: Real> DeviceAxisPlan<T> {
    /// What lines along this axis are: complex, or reals to or from half-spectra.
    pub fn kind(&self) -> Kind {
        self.host.kind()
    }

    /// Number of transforms of which the part holds some numbers ([`AxisPlan::transforms`]).
    pub fn transforms(&self) -> usize {
        self.host.transforms()
    }

    /// The units of the GPU that run.
    pub fn substrate(&self) -> &str {
        self.plan.substrate()
    }

    /// Bytes of the GPU's memory that calls need as workspace, at a multiple of 256.
    pub fn workspace_bytes(&self) -> usize {
        self.plan.device_workspace_len()
    }

    /// Bytes of the input.
    pub fn input_bytes(&self) -> usize {
        self.plan.problem.input_len() * self.plan.problem.element_sizes::<T>().0
    }

    /// Bytes of the output.
    pub fn output_bytes(&self) -> usize {
        self.plan.problem.output_len() * self.plan.problem.element_sizes::<T>().1
    }

    /// [`AxisPlan::largest_exponents`] of a part in the GPU's memory, of complex or real numbers; waits for the queue.
    ///
    /// # Safety
    /// The input has [`DeviceAxisPlan::input_bytes`] of the GPU's memory, and one thread at a time calls this.
    pub unsafe fn largest_exponents(
        &self,
        queue: &DeviceQueue,
        input: DevicePointer,
        exponents: &mut [i32],
    ) -> Result<(), FftError> {
        self.host.expect_transforms(exponents.len())?;
        // SAFETY: the caller's promise.
        unsafe { self.search.exponents(queue.stream(), input.0, exponents) }
    }

    /// Transforms a part; equal pointers transform complex numbers in place. Where all powers are 0 it returns as soon as the work is in the queue, else when
    /// it is done.
    ///
    /// # Safety
    /// Input, output and workspace are memory of the queue's GPU with as many bytes as the plan says, and until the queue has come so far nothing else uses them, and
    /// the plan is alive.
    pub unsafe fn process(
        &self,
        queue: &DeviceQueue,
        (input, output): (DevicePointer, DevicePointer),
        powers: &[i32],
        workspace: DevicePointer,
    ) -> Result<(), FftError> {
        self.host.expect_transforms(powers.len())?;
        if powers.iter().all(|&power| power == 0) {
            // SAFETY: the caller's promise.
            return unsafe {
                self.plan
                    .process_device(input, output, workspace, queue.stream())
            };
        }
        let mut from = vec![0u64; self.input_bytes().div_ceil(8)];
        let mut to = vec![0u64; self.output_bytes().div_ceil(8)];
        let bytes = &mut bytemuck::cast_slice_mut(&mut from)[..self.input_bytes()];
        // SAFETY: the caller's promise; the bytes stay until the queue has been waited for, below.
        unsafe { queue.download(input, bytes)? };
        queue.synchronize()?;
        self.on_processor(bytes, bytemuck::cast_slice_mut(&mut to), powers)?;
        let bytes = &bytemuck::cast_slice(&to)[..self.output_bytes()];
        // SAFETY: as above.
        unsafe { queue.upload(output, bytes)? };
        queue.synchronize()
    }

    fn on_processor(&self, from: &[u8], to: &mut [u8], powers: &[i32]) -> Result<(), FftError> {
        let to = &mut to[..self.output_bytes()];
        let mut workspace = vec![0; self.host.workspace_len()];
        use bytemuck::{cast_slice, cast_slice_mut};
        match self.kind() {
            Kind::ComplexToComplex => self.host.process_outofplace(
                cast_slice(from),
                cast_slice_mut(to),
                powers,
                &mut workspace,
            ),
            Kind::RealToComplex => self.host.process_real_to_complex(
                cast_slice(from),
                cast_slice_mut(to),
                powers,
                &mut workspace,
            ),
            Kind::ComplexToReal => self.host.process_complex_to_real(
                cast_slice(from),
                cast_slice_mut(to),
                powers,
                &mut workspace,
            ),
        }
    }
}
