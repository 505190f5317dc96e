//! One axis of a larger transform over a part of its array: for programs that divide an array among processes.

use super::planner::{Order, Planner};
use super::{CallArrays, Plan};
use crate::engines::{self, Runner};
use crate::error::{Buffer, FftError};
use crate::executor::lines::InputArray;
use crate::executor::scales::{Scan, largest_of};
use crate::executor::schedule::Schedule;
use crate::kind::Kind;
use crate::problem::{Device, Engine, Problem};
use crate::recipe::Recipe;
use crate::sample::Real;
use crate::stages::scale::{Numbers, ScaleBetweenAxes};
use crate::workspace::SharedArray;
use float_environment::DefaultEnvironment;
use num_complex::Complex;
use std::sync::Arc;

/// One axis of a larger transform, over a part of its array: all lines of the part along that axis, whole ones.
///
/// A transform of several axes is a transform along one after the other ([`Plan::axis_order`]), each rounded to floating
/// point. Processes that share an array can therefore compute axis by axis, exchange in between, and have the bits of one
/// process. One number is needed of all of them: the power of two that every transform has between its axes, which
/// [`Plan::power_between_axes`] gives for the maximum of [`AxisPlan::largest_exponents`] over all parts.
///
/// Parts are C-ordered arrays without gaps, one after the other in a batch.
///
/// ```
/// use num_complex::Complex;
/// use ozfft::{Planner, Problem};
/// let planner = Planner::<f64>::new();
/// let whole = planner.plan(&Problem::complex(&[4, 6]))?;
/// let input: Vec<_> = (0..24).map(|i| Complex::new(i as f64, 1.0)).collect();
///
/// // The rows first, in two halves of two rows; then the columns, here all of them at once.
/// assert_eq!(whole.axis_order(), [1, 0]);
/// let rows = planner.plan_axis(&whole, 0, &[2, 6])?;
/// let columns = planner.plan_axis(&whole, 1, &[4, 6])?;
/// let mut array = input.clone();
/// let mut largest = i32::MIN;
/// for half in array.chunks(12) {
///     let mut exponents = [0];
///     rows.largest_exponents(half, &mut exponents)?;
///     largest = largest.max(exponents[0]);
/// }
/// let powers = [whole.power_between_axes(largest)];
/// let mut workspace = vec![0; rows.workspace_len().max(columns.workspace_len())];
/// for half in array.chunks_mut(12) {
///     rows.process(half, &powers, &mut workspace)?;
/// }
/// columns.process(&mut array, &powers, &mut workspace)?;
///
/// let mut expected = input;
/// whole.process(&mut expected)?;
/// assert_eq!(array, expected);
/// # Ok::<(), ozfft::FftError>(())
/// ```
pub struct AxisPlan<T: Real> {
    plan: Plan<T>,
    /// Looks at the numbers of a part.
    scan: Scan,
}

impl<T: Real> std::fmt::Debug for AxisPlan<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("AxisPlan").field(&self.plan).finish()
    }
}

impl<T: Real> Plan<T> {
    /// The axes in the order in which they are transformed.
    pub fn axis_order(&self) -> Vec<usize> {
        self.schedule.passes.iter().map(|pass| pass.axis).collect()
    }

    /// The power of two that a transform has between its axes, given the largest of its exponents
    /// ([`AxisPlan::largest_exponents`]); 0 along one axis.
    pub fn power_between_axes(&self, largest_exponent: i32) -> i32 {
        let scaling = self.schedule.scaling.as_ref();
        scaling.map_or(0, |scan| scan.scale.power(largest_exponent))
    }
}

impl<T: Real> Planner<T> {
    /// Plans axis number `number` of a plan's [`Plan::axis_order`] for a part of its array, which has `shape`: as long as the
    /// whole along that axis, and of any length along the others. Along a halved axis, `shape` has the length of the real array for
    /// the pass from or to reals, and that of the half-spectrum, or of a part of it, for all others.
    ///
    /// Plans of the engine digits on the processor can be divided; the bits of floating-point engines depend on more than a line's numbers.
    pub fn plan_axis(
        &self,
        whole: &Plan<T>,
        number: usize,
        shape: &[usize],
    ) -> Result<AxisPlan<T>, FftError> {
        let _environment = DefaultEnvironment::enter();
        let (Engine::Digits, Device::Cpu, Some(recipe)) =
            (whole.engine, whole.device, &whole.recipe)
        else {
            return Err(FftError::Unsupported(format!(
                "one axis of a larger transform is planned for the engine digits on the device cpu, and this plan has {} on {}; plan the whole so",
                whole.engine, whole.device
            )));
        };
        let Some(pass) = whole.schedule.passes.get(number) else {
            return Err(FftError::AxisOutOfRange {
                axis: number,
                rank: whole.schedule.passes.len(),
            });
        };
        let mut part = Problem {
            kind: pass.kind,
            shape: shape.to_vec(),
            input: None,
            output: None,
            threads: Some(whole.threads),
            ..whole.problem.clone()
        };
        part.validate()?;
        if shape.len() != whole.problem.shape.len() || shape[pass.axis] != pass.n {
            return Err(FftError::Unsupported(format!(
                "a part of shape {shape:?} has no whole lines of {} points along axis {} of {} axes; give that length there",
                pass.n,
                pass.axis,
                whole.problem.shape.len()
            )));
        }
        let lengths = whole.schedule.passes.iter().map(|pass| pass.n);
        let scan = Scan::new(&part, ScaleBetweenAxes::new(Numbers::of::<T>(), lengths));
        let schedule = Schedule::of_part(&part, pass.axis, pass.scale_sign);
        part.axes = vec![pass.axis];
        let recipe = Recipe {
            axes: vec![recipe.of_axis(pass.axis).clone()],
            ..recipe.clone()
        };
        let order = Order {
            problem: &part,
            threads: whole.threads,
            schedule: Arc::new(schedule),
        };
        let built = engines::build(whole.engine, &self.request(&order, None, Some(&recipe)))?;
        let why = format!("axis {} of a larger transform", pass.axis);
        Ok(AxisPlan {
            plan: self.assemble(&order, whole.engine, None, (built, why), None),
            scan,
        })
    }
}

impl<T: Real> AxisPlan<T> {
    #[cfg(feature = "cuda")]
    pub(super) fn plan(&self) -> &Plan<T> {
        &self.plan
    }

    #[cfg(feature = "cuda")]
    pub(super) fn scan(&self) -> &Scan {
        &self.scan
    }

    /// The axis.
    pub fn axis(&self) -> usize {
        self.plan.problem.axes[0]
    }

    /// Points of a line, which has about half as many complex numbers where they stand for reals.
    pub fn points(&self) -> usize {
        self.plan.problem.points()
    }

    /// What lines along this axis are: complex, or reals to or from half-spectra.
    pub fn kind(&self) -> Kind {
        self.plan.problem.kind
    }

    /// 64-bit words of workspace that calls need.
    pub fn workspace_len(&self) -> usize {
        self.plan.workspace_len()
    }

    /// Number of transforms of which the part holds some numbers: the length of `exponents` and `powers`. Every array of the
    /// batch is one, and every index of the axes that are not transformed.
    pub fn transforms(&self) -> usize {
        self.scan.transforms
    }

    /// For every transform the least power of two that is larger than all of the part's numbers, `i32::MIN` for zeros.
    pub fn largest_exponents(
        &self,
        input: &[Complex<T>],
        exponents: &mut [i32],
    ) -> Result<(), FftError> {
        if self.kind() == Kind::RealToComplex {
            self.plan.expect_kind(Kind::ComplexToComplex)?;
        }
        self.plan
            .expect_len(Buffer::Input, self.plan.lengths.input, input.len())?;
        self.find(
            InputArray::Complex(SharedArray::read_only(input)),
            exponents,
        )
    }

    /// The same of a part of a real array.
    pub fn largest_exponents_of_reals(
        &self,
        input: &[T],
        exponents: &mut [i32],
    ) -> Result<(), FftError> {
        self.plan.expect_kind(Kind::RealToComplex)?;
        self.plan
            .expect_len(Buffer::Input, self.plan.lengths.input, input.len())?;
        self.find(InputArray::Real(SharedArray::read_only(input)), exponents)
    }

    fn find(&self, input: InputArray<'_, T>, exponents: &mut [i32]) -> Result<(), FftError> {
        let _environment = DefaultEnvironment::enter();
        self.expect_transforms(exponents.len())?;
        self.scan
            .exponents(input, self.plan.threads, &largest_of, exponents);
        Ok(())
    }

    /// Transforms a part in place; `powers` has that of every transform.
    pub fn process(
        &self,
        buffer: &mut [Complex<T>],
        powers: &[i32],
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        self.run(self.plan.in_place(buffer)?, powers, workspace)
    }

    /// Transforms from one array to another; the input is left as it is.
    pub fn process_outofplace(
        &self,
        input: &[Complex<T>],
        output: &mut [Complex<T>],
        powers: &[i32],
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        self.run(self.plan.out_of_place(input, output)?, powers, workspace)
    }

    /// Transforms reals to half-spectra.
    pub fn process_real_to_complex(
        &self,
        input: &[T],
        output: &mut [Complex<T>],
        powers: &[i32],
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        self.run(self.plan.real_to_complex(input, output)?, powers, workspace)
    }

    /// Transforms half-spectra to reals. Imaginary parts that no real array has are taken as 0, as always over several axes.
    pub fn process_complex_to_real(
        &self,
        input: &[Complex<T>],
        output: &mut [T],
        powers: &[i32],
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        self.run(self.plan.complex_to_real(input, output)?, powers, workspace)
    }

    fn run(
        &self,
        (input, output): CallArrays<'_, T>,
        powers: &[i32],
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        let _environment = DefaultEnvironment::enter();
        self.expect_transforms(powers.len())?;
        self.plan
            .expect_len(Buffer::Workspace, self.workspace_len(), workspace.len())?;
        let Runner::Processor(executor) = &self.plan.runner else {
            unreachable!("planned for the processor");
        };
        executor.run_scaled(input, output, powers, workspace);
        Ok(())
    }

    pub(super) fn expect_transforms(&self, given: usize) -> Result<(), FftError> {
        match self.transforms() {
            transforms if transforms == given => Ok(()),
            transforms => Err(FftError::Unsupported(format!(
                "{given} exponents or powers were given for {transforms} transforms; give one for each"
            ))),
        }
    }
}
