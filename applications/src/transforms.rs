//! Plans for both directions, whose time is counted.

use crate::device_transform::{DeviceTransform, Seconds};
use crate::kept_waves::{Kept, KeptTransform};
use crate::options::Computing;
use crate::other_libraries::OtherTransform;
use num_complex::Complex;
use ozfft::{Direction, FftError, Plan, Planner, Problem, ResidueReport};
use ozfft_measure::failure::Failure;
use ozfft_measure::gpu::{Gpu, failed};
use std::sync::Arc;
use std::time::Instant;

/// Time and number of transforms.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Seconds within the library; on a GPU those of the transforms themselves.
    pub seconds: f64,
    /// Seconds of copies between the processor's memory and a GPU's, where they are timed apart.
    pub copy_seconds: f64,
    /// Transforms; each member of a batch counts.
    pub transforms: u64,
}

/// A plan, its workspace, and what it has cost.
pub struct CountedPlan {
    plan: Arc<Plan<f64>>,
    /// Transforms in its place.
    other: Option<OtherTransform>,
    workspace: Vec<u64>,
    batch: u64,
    cost: Cost,
}

impl CountedPlan {
    fn new(
        computing: &Computing,
        problem: Problem,
        size: (Direction, usize),
    ) -> Result<Self, FftError> {
        let batch = size.1;
        let problem = computing.apply(problem.batch(batch))?;
        let plan = Planner::<f64>::new().plan(&problem)?;
        Ok(CountedPlan {
            workspace: vec![0; plan.workspace_len()],
            other: OtherTransform::new(computing, &plan, size)?,
            plan,
            batch: batch as u64,
            cost: Cost::default(),
        })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan<f64> {
        &self.plan
    }

    /// Transforms by the library that takes the plan's place; false if there is none.
    fn run_other(&mut self, load: &[f64], store: &mut [f64]) -> Result<bool, FftError> {
        let Some(other) = &mut self.other else {
            return Ok(false);
        };
        other.load(load);
        self.run_loaded(store)?;
        Ok(true)
    }

    /// The same, of what was loaded.
    fn run_loaded(&mut self, store: &mut [f64]) -> Result<(), FftError> {
        if let Some(other) = &mut self.other {
            let seconds = other.execute()?;
            other.store(store);
            self.count(seconds);
        }
        Ok(())
    }

    fn count(&mut self, seconds: Seconds) {
        self.cost.seconds += seconds.transform;
        self.cost.copy_seconds += seconds.copies;
        self.cost.transforms += self.batch;
    }

    /// The transform of device memory, and what its results are still to be multiplied by.
    fn on_device(&self) -> Option<(&DeviceTransform, f64)> {
        self.other.as_ref()?.on_device()
    }

    fn run_in_place(&mut self, values: &mut [Complex<f64>]) -> Result<(), FftError> {
        if let Some(other) = &mut self.other {
            let values: &mut [f64] = bytemuck::cast_slice_mut(values);
            other.load(values);
            return self.run_loaded(values);
        }
        self.run(|plan, workspace| plan.process_with_workspace(values, workspace))
    }

    fn run(
        &mut self,
        call: impl FnOnce(&Plan<f64>, &mut [u64]) -> Result<(), FftError>,
    ) -> Result<(), FftError> {
        let start = Instant::now();
        call(&self.plan, &mut self.workspace)?;
        self.count(Seconds {
            transform: start.elapsed().as_secs_f64(),
            copies: 0.0,
        });
        Ok(())
    }

    /// Transforms device memory, from the first address to the second, and waits.
    ///
    /// # Safety
    /// The addresses are of memory of the transform's device, as long as its input, output and workspace, and nothing else uses it.
    #[allow(unsafe_code, reason = "the caller's addresses")]
    unsafe fn run_on_device(&mut self, gpu: &Gpu, addresses: [u64; 3]) -> Result<(), Failure> {
        // What is before it in the stream is not its time.
        let wait = || gpu.stream.synchronize().map_err(failed("finish its work"));
        wait()?;
        let Some((device, _)) = self.on_device() else {
            return Err(Failure::Check("this transform has no device".into()));
        };
        let start = Instant::now();
        // SAFETY: the caller's promise.
        unsafe { device.queue(addresses) }?;
        wait()?;
        self.count(Seconds {
            transform: start.elapsed().as_secs_f64(),
            copies: 0.0,
        });
        Ok(())
    }
}

/// Transforms of real arrays to half-spectra and back; the inverse divides by the number of points.
pub struct RealTransform {
    /// Real to half-spectrum.
    pub forward: CountedPlan,
    /// Half-spectrum to real.
    pub inverse: CountedPlan,
    /// The same, forward and inverse, where only some wave numbers are of interest.
    kept: Option<(KeptTransform, KeptTransform)>,
}

impl RealTransform {
    /// Plans for arrays of this shape, in batches of these sizes.
    pub fn new(
        computing: &Computing,
        shape: &[usize],
        (forward, inverse): (usize, usize),
    ) -> Result<Self, FftError> {
        Ok(RealTransform {
            forward: CountedPlan::new(
                computing,
                Problem::real_to_complex(shape),
                (Direction::Forward, forward),
            )?,
            inverse: CountedPlan::new(
                computing,
                Problem::complex_to_real(shape),
                (Direction::Inverse, inverse),
            )?,
            kept: None,
        })
    }

    /// From here on half-spectra are zero wherever nothing is kept, and nobody looks at the transforms there. That spares the engine digits on the processor a third of its
    /// lines; all others transform everything, as before. Not a bit of what is kept differs.
    pub fn keep(mut self, kept: &Kept) -> Result<Self, FftError> {
        if self.both().iter().all(|counted| counted.other.is_none()) {
            let of = |counted: &CountedPlan| {
                KeptTransform::new(&counted.plan, kept, counted.batch as usize)
            };
            let forward = of(&self.forward)?;
            self.kept = forward.zip(of(&self.inverse)?);
        }
        Ok(self)
    }

    /// Real arrays to half-spectra.
    pub fn forward(&mut self, input: &[f64], output: &mut [Complex<f64>]) -> Result<(), FftError> {
        if self
            .forward
            .run_other(input, bytemuck::cast_slice_mut(output))?
        {
            return Ok(());
        }
        let kept = self.kept.as_mut();
        self.forward.run(|plan, workspace| match kept {
            Some((forward, _)) => forward.forward(input, output),
            None => plan.process_real_to_complex_with_workspace(input, output, workspace),
        })
    }

    /// Half-spectra to real arrays.
    pub fn inverse(&mut self, input: &[Complex<f64>], output: &mut [f64]) -> Result<(), FftError> {
        if self
            .inverse
            .run_other(bytemuck::cast_slice(input), output)?
        {
            return Ok(());
        }
        let kept = self.kept.as_mut();
        self.inverse.run(|plan, workspace| match kept {
            Some((_, inverse)) => inverse.inverse(input, output),
            None => plan.process_complex_to_real_with_workspace(input, output, workspace),
        })
    }
}

#[allow(unsafe_code, reason = "addresses of device memory")]
impl RealTransform {
    /// The number of the device whose memory both directions can transform, if they can.
    pub fn device(&self) -> Option<usize> {
        let [forward, inverse] = self.both().map(CountedPlan::on_device);
        let (forward, inverse) = (forward?.0.ordinal(), inverse?.0.ordinal());
        (forward == inverse).then_some(forward)
    }

    /// What results of the inverse in device memory are still to be multiplied by: cuFFT leaves the division by the number of points to its callers.
    pub fn inverse_factor(&self) -> f64 {
        self.inverse.on_device().map_or(1.0, |(_, factor)| factor)
    }

    /// Bytes of device memory that either direction needs as workspace.
    pub fn device_workspace_len(&self) -> usize {
        let bytes = |counted: &CountedPlan| {
            let device = counted.on_device();
            device.map_or(0, |(device, _)| device.workspace_len())
        };
        let [forward, inverse] = self.both().map(bytes);
        forward.max(inverse)
    }

    /// Real arrays to half-spectra in a GPU's memory: addresses of input, output and workspace.
    ///
    /// # Safety
    /// They are of memory of the plans' device, as long as the arrays are, and nothing else uses it.
    pub unsafe fn forward_on_device(
        &mut self,
        gpu: &Gpu,
        addresses: [u64; 3],
    ) -> Result<(), Failure> {
        // SAFETY: the caller's promise.
        unsafe { self.forward.run_on_device(gpu, addresses) }
    }

    /// Half-spectra to real arrays in a GPU's memory.
    ///
    /// # Safety
    /// As above.
    pub unsafe fn inverse_on_device(
        &mut self,
        gpu: &Gpu,
        addresses: [u64; 3],
    ) -> Result<(), Failure> {
        // SAFETY: the caller's promise.
        unsafe { self.inverse.run_on_device(gpu, addresses) }
    }
}

/// Transforms of complex arrays in place; the inverse divides by the number of points.
pub struct ComplexTransform {
    /// Exponent with a minus.
    pub forward: CountedPlan,
    /// Exponent with a plus.
    pub inverse: CountedPlan,
}

impl ComplexTransform {
    /// Plans for batches of arrays of this shape.
    pub fn new(computing: &Computing, shape: &[usize], batch: usize) -> Result<Self, FftError> {
        let problem = Problem::complex(shape);
        let inverse = problem.clone().direction(Direction::Inverse);
        Ok(ComplexTransform {
            forward: CountedPlan::new(computing, problem, (Direction::Forward, batch))?,
            inverse: CountedPlan::new(computing, inverse, (Direction::Inverse, batch))?,
        })
    }

    /// Transforms with exp(-2πi jk/n).
    pub fn forward(&mut self, values: &mut [Complex<f64>]) -> Result<(), FftError> {
        self.forward.run_in_place(values)
    }

    /// Transforms with exp(+2πi jk/n), divided by the number of points.
    pub fn inverse(&mut self, values: &mut [Complex<f64>]) -> Result<(), FftError> {
        self.inverse.run_in_place(values)
    }
}

/// Both directions of a transform.
pub trait Both {
    /// Forward and inverse.
    fn both(&self) -> [&CountedPlan; 2];

    /// What both have cost so far.
    fn cost(&self) -> Cost {
        let [forward, inverse] = self.both().map(|counted| counted.cost);
        Cost {
            seconds: forward.seconds + inverse.seconds,
            copy_seconds: forward.copy_seconds + inverse.copy_seconds,
            transforms: forward.transforms + inverse.transforms,
        }
    }

    /// What residues needed, of both directions.
    fn residue_reports(&self) -> [Option<ResidueReport>; 2] {
        self.both().map(|counted| counted.plan.residue_report())
    }
}

impl Both for RealTransform {
    fn both(&self) -> [&CountedPlan; 2] {
        [&self.forward, &self.inverse]
    }
}

impl Both for ComplexTransform {
    fn both(&self) -> [&CountedPlan; 2] {
        [&self.forward, &self.inverse]
    }
}
