//! The calls of a plan, telling how far they are.

use super::Plan;
use crate::error::FftError;
use crate::progress::Progress;
use crate::sample::Real;
use num_complex::Complex;

impl<T: Real> Plan<T> {
    /// The same calls, telling how far they are: `progress` is called on this thread when a stage begins, after every
    /// piece of host arrays that has been copied to or from a GPU, and when a stage is done.
    ///
    /// On the processor there is only [`Stage::Transform`](crate::Stage::Transform), reported at its beginning and its end. `progress` runs in the default
    /// floating-point environment, which is in force during a call.
    ///
    /// ```
    /// use num_complex::Complex;
    /// use ozfft::{Planner, Problem, Stage};
    /// let plan = Planner::<f64>::new().plan(&Problem::complex(&[1024]))?;
    /// let mut field = vec![Complex::new(1.0, 0.0); 1024];
    /// let mut last = None;
    /// plan.reporting(|progress| {
    ///     println!("{}: {} of {} bytes", progress.stage, progress.done, progress.total);
    ///     last = Some(progress);
    /// })
    /// .process(&mut field)?;
    /// let last = last.expect("progress is reported");
    /// assert_eq!((last.stage, last.done, last.total), (Stage::Transform, 16 * 1024, 16 * 1024));
    /// # Ok::<(), ozfft::FftError>(())
    /// ```
    pub fn reporting<F: FnMut(Progress)>(&self, progress: F) -> Reporting<'_, T, F> {
        Reporting {
            plan: self,
            progress,
        }
    }
}

/// A [`Plan`] whose calls report their progress; made by [`Plan::reporting`].
pub struct Reporting<'a, T: Real, F: FnMut(Progress)> {
    pub(crate) plan: &'a Plan<T>,
    pub(crate) progress: F,
}

impl<T: Real, F: FnMut(Progress)> std::fmt::Debug for Reporting<'_, T, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Reporting").field(&self.plan).finish()
    }
}

/// The calls of [`Plan`], where they are documented.
impl<T: Real, F: FnMut(Progress)> Reporting<'_, T, F> {
    /// As [`Plan::process`].
    pub fn process(&mut self, buffer: &mut [Complex<T>]) -> Result<(), FftError> {
        let arrays = self.plan.in_place(buffer)?;
        self.plan.run_allocating(arrays, &mut self.progress)
    }

    /// As [`Plan::process_outofplace`].
    pub fn process_outofplace(
        &mut self,
        input: &[Complex<T>],
        output: &mut [Complex<T>],
    ) -> Result<(), FftError> {
        let arrays = self.plan.out_of_place(input, output)?;
        self.plan.run_allocating(arrays, &mut self.progress)
    }

    /// As [`Plan::process_real_to_complex`].
    pub fn process_real_to_complex(
        &mut self,
        input: &[T],
        output: &mut [Complex<T>],
    ) -> Result<(), FftError> {
        let arrays = self.plan.real_to_complex(input, output)?;
        self.plan.run_allocating(arrays, &mut self.progress)
    }

    /// As [`Plan::process_complex_to_real`].
    pub fn process_complex_to_real(
        &mut self,
        input: &[Complex<T>],
        output: &mut [T],
    ) -> Result<(), FftError> {
        let arrays = self.plan.complex_to_real(input, output)?;
        self.plan.run_allocating(arrays, &mut self.progress)
    }

    /// As [`Plan::process_real_in_place`].
    pub fn process_real_in_place(&mut self, buffer: &mut [Complex<T>]) -> Result<(), FftError> {
        let arrays = self.plan.real_in_place(buffer)?;
        self.plan.run_allocating(arrays, &mut self.progress)
    }

    /// As [`Plan::process_complex_to_real_in_place`].
    pub fn process_complex_to_real_in_place(
        &mut self,
        buffer: &mut [Complex<T>],
    ) -> Result<(), FftError> {
        let arrays = self.plan.complex_to_real_in_place(buffer)?;
        self.plan.run_allocating(arrays, &mut self.progress)
    }
}
