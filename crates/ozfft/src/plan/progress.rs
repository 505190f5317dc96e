//! What a call tells of itself while it runs.

use crate::error::FftError;
use crate::plan::Plan;
use crate::sample::Real;
use num_complex::Complex;
use std::fmt;

/// What a call is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Copying host arrays to the GPU.
    Upload,
    /// Transforming.
    Transform,
    /// Copying the result back.
    Download,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Stage::Upload => "upload",
            Stage::Transform => "transform",
            Stage::Download => "download",
        })
    }
}

/// How far a stage of a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// Bytes that are done; they never become fewer within a stage.
    pub done: usize,
    /// Bytes of the whole stage: what is copied or, while transforming, the length of the output.
    pub total: usize,
}

/// A [`Plan`] whose calls report their progress; made by [`Plan::reporting`].
pub struct Reporting<'a, T: Real, F: FnMut(Progress)> {
    pub(crate) plan: &'a Plan<T>,
    pub(crate) progress: F,
}

/// The calls of [`Plan`], which say what each of them does.
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
