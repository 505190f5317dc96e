//! RustFFT's and RealFFT's traits on plans of this library, for programs that are written against them.

use crate::error::{Buffer, FftError};
use crate::plan::Plan;
use crate::plan::planner::Planner;
use crate::problem::{Direction, Norm, Problem};
use crate::sample::Real;
use num_complex::Complex;
use realfft::{ComplexToReal, RealToComplex};
use rustfft::{Fft, FftDirection, Length};
use std::sync::Arc;

/// A line of one length, unscaled, as [`rustfft::Fft`], [`realfft::RealToComplex`] or [`realfft::ComplexToReal`]; which of them it
/// is decides the function of [`RustFftPlanner`] that made it.
///
/// As RustFFT does, complex transforms take buffers of any whole number of lines, and panic where a buffer is no such number or scratch is too
/// short. Scratch is memory for whatever this library needs; it is never read before it is written.
#[derive(Debug)]
pub struct RustFft<T: Real> {
    plan: Arc<Plan<T>>,
    n: usize,
    direction: FftDirection,
}

/// Makes plans with the names of RustFFT's and RealFFT's planners.
///
/// ```
/// use num_complex::Complex;
/// use ozfft::RustFftPlanner;
/// // With rustfft: let mut planner = rustfft::FftPlanner::<f64>::new();
/// let mut planner = RustFftPlanner::<f64>::new();
/// let fft = planner.plan_fft_forward(1234);
/// let mut buffer = vec![Complex::new(1.0, 0.0); 1234];
/// fft.process(&mut buffer);
/// assert_eq!(buffer[0], Complex::new(1234.0, 0.0));
/// ```
#[derive(Debug)]
pub struct RustFftPlanner<T: Real> {
    planner: Planner<T>,
}

impl<T: Real> Default for RustFftPlanner<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real> RustFftPlanner<T> {
    /// A planner without plans.
    pub fn new() -> Self {
        RustFftPlanner {
            planner: Planner::new(),
        }
    }

    fn plan(&self, problem: Problem, direction: FftDirection) -> Arc<RustFft<T>> {
        let problem = problem.norm(Norm::Unscaled).threads(1);
        let n = problem.shape()[0];
        // RustFFT's planners have no errors; lengths that this one rejects are of a thousand million points, or 0.
        let plan = self.planner.plan(&problem);
        let plan = plan.unwrap_or_else(|error| panic!("{error}"));
        Arc::new(RustFft { plan, n, direction })
    }

    /// As `rustfft::FftPlanner::plan_fft`.
    ///
    /// Panics for a length of 0, and for one that [`Planner::plan`] rejects.
    pub fn plan_fft(&mut self, len: usize, direction: FftDirection) -> Arc<dyn Fft<T>> {
        let to = match direction {
            FftDirection::Forward => Direction::Forward,
            FftDirection::Inverse => Direction::Inverse,
        };
        self.plan(Problem::complex(&[len]).direction(to), direction)
    }

    /// As `rustfft::FftPlanner::plan_fft_forward`; panics as [`RustFftPlanner::plan_fft`] does.
    pub fn plan_fft_forward(&mut self, len: usize) -> Arc<dyn Fft<T>> {
        self.plan_fft(len, FftDirection::Forward)
    }

    /// As `rustfft::FftPlanner::plan_fft_inverse`; panics as [`RustFftPlanner::plan_fft`] does.
    pub fn plan_fft_inverse(&mut self, len: usize) -> Arc<dyn Fft<T>> {
        self.plan_fft(len, FftDirection::Inverse)
    }

    /// As `realfft::RealFftPlanner::plan_fft_forward`; panics as [`RustFftPlanner::plan_fft`] does.
    pub fn plan_real_to_complex(&mut self, len: usize) -> Arc<dyn RealToComplex<T>> {
        self.plan(Problem::real_to_complex(&[len]), FftDirection::Forward)
    }

    /// As `realfft::RealFftPlanner::plan_fft_inverse`; panics as [`RustFftPlanner::plan_fft`] does.
    pub fn plan_complex_to_real(&mut self, len: usize) -> Arc<dyn ComplexToReal<T>> {
        self.plan(Problem::complex_to_real(&[len]), FftDirection::Inverse)
    }
}

impl<T: Real> RustFft<T> {
    fn scratch_len(&self) -> usize {
        // Memory for words of 64 bits, wherever it begins.
        self.plan
            .workspace_len()
            .div_ceil(size_of::<Complex<T>>() / size_of::<u64>())
            + 1
    }

    fn workspace<'a>(&self, scratch: &'a mut [Complex<T>]) -> &'a mut [u64] {
        bytemuck::pod_align_to_mut::<Complex<T>, u64>(scratch).1
    }

    /// RustFFT's rule for buffers and scratch.
    fn expect_lines(&self, input: usize, output: usize, scratch: usize) {
        let (n, needed) = (self.n, self.scratch_len());
        assert!(
            input.is_multiple_of(n) && input == output,
            "buffers of {input} and {output} numbers are no equal whole number of lines of {n}"
        );
        assert!(
            scratch >= needed,
            "the scratch has {scratch} numbers; give {needed}"
        );
    }
}

/// Panics on errors that planning rules out.
fn expect_done(outcome: Result<(), FftError>) {
    if let Err(error) = outcome {
        unreachable!("lengths are those of the plan: {error}");
    }
}

impl<T: Real> Length for RustFft<T> {
    fn len(&self) -> usize {
        self.n
    }
}

impl<T: Real> rustfft::Direction for RustFft<T> {
    fn fft_direction(&self) -> FftDirection {
        self.direction
    }
}

impl<T: Real> Fft<T> for RustFft<T> {
    fn process_with_scratch(&self, buffer: &mut [Complex<T>], scratch: &mut [Complex<T>]) {
        self.expect_lines(buffer.len(), buffer.len(), scratch.len());
        for line in buffer.chunks_exact_mut(self.n) {
            let workspace = self.workspace(scratch);
            expect_done(self.plan.process_with_workspace(line, workspace));
        }
    }

    fn process_outofplace_with_scratch(
        &self,
        input: &mut [Complex<T>],
        output: &mut [Complex<T>],
        scratch: &mut [Complex<T>],
    ) {
        self.process_immutable_with_scratch(input, output, scratch);
    }

    fn process_immutable_with_scratch(
        &self,
        input: &[Complex<T>],
        output: &mut [Complex<T>],
        scratch: &mut [Complex<T>],
    ) {
        self.expect_lines(input.len(), output.len(), scratch.len());
        let lines = input.chunks_exact(self.n);
        for (input, output) in lines.zip(output.chunks_exact_mut(self.n)) {
            let workspace = self.workspace(scratch);
            let plan = &self.plan;
            expect_done(plan.process_outofplace_with_workspace(input, output, workspace));
        }
    }

    fn get_inplace_scratch_len(&self) -> usize {
        self.scratch_len()
    }

    fn get_outofplace_scratch_len(&self) -> usize {
        self.scratch_len()
    }

    fn get_immutable_scratch_len(&self) -> usize {
        self.scratch_len()
    }
}

/// An error of this library as RealFFT's.
fn as_realfft(error: FftError, n: usize) -> realfft::FftError {
    match error {
        FftError::BufferLength {
            buffer,
            expected,
            given,
        } => match buffer {
            Buffer::Input => realfft::FftError::InputBuffer(expected, given),
            Buffer::Output => realfft::FftError::OutputBuffer(expected, given),
            Buffer::Workspace => realfft::FftError::ScratchBuffer(expected, given),
        },
        // Which of the two it was is not known; an odd length has no middle.
        FftError::NotHermitian { .. } => realfft::FftError::InputValues(true, n.is_multiple_of(2)),
        error => unreachable!("lines of the plan's kind: {error}"),
    }
}

impl<T: Real> RustFft<T> {
    fn expect_scratch(&self, scratch: usize) -> Result<(), realfft::FftError> {
        let needed = self.scratch_len();
        match scratch >= needed {
            true => Ok(()),
            false => Err(realfft::FftError::ScratchBuffer(needed, scratch)),
        }
    }
}

fn zero<T: Real>() -> Complex<T> {
    Complex::new(T::narrow(0.0), T::narrow(0.0))
}

impl<T: Real> RealToComplex<T> for RustFft<T> {
    fn process(&self, input: &mut [T], output: &mut [Complex<T>]) -> Result<(), realfft::FftError> {
        let mut scratch = RealToComplex::make_scratch_vec(self);
        RealToComplex::process_with_scratch(self, input, output, &mut scratch)
    }

    fn process_with_scratch(
        &self,
        input: &mut [T],
        output: &mut [Complex<T>],
        scratch: &mut [Complex<T>],
    ) -> Result<(), realfft::FftError> {
        self.expect_scratch(scratch.len())?;
        let workspace = self.workspace(scratch);
        let outcome = (self.plan).process_real_to_complex_with_workspace(input, output, workspace);
        outcome.map_err(|error| as_realfft(error, self.n))
    }

    fn get_scratch_len(&self) -> usize {
        self.scratch_len()
    }

    fn len(&self) -> usize {
        self.n
    }

    fn make_input_vec(&self) -> Vec<T> {
        vec![T::narrow(0.0); self.n]
    }

    fn make_output_vec(&self) -> Vec<Complex<T>> {
        vec![zero(); self.n / 2 + 1]
    }

    fn make_scratch_vec(&self) -> Vec<Complex<T>> {
        vec![zero(); self.scratch_len()]
    }
}

impl<T: Real> ComplexToReal<T> for RustFft<T> {
    fn process(&self, input: &mut [Complex<T>], output: &mut [T]) -> Result<(), realfft::FftError> {
        let mut scratch = ComplexToReal::make_scratch_vec(self);
        ComplexToReal::process_with_scratch(self, input, output, &mut scratch)
    }

    fn process_with_scratch(
        &self,
        input: &mut [Complex<T>],
        output: &mut [T],
        scratch: &mut [Complex<T>],
    ) -> Result<(), realfft::FftError> {
        self.expect_scratch(scratch.len())?;
        let workspace = self.workspace(scratch);
        let outcome = (self.plan).process_complex_to_real_with_workspace(input, output, workspace);
        outcome.map_err(|error| as_realfft(error, self.n))
    }

    fn get_scratch_len(&self) -> usize {
        self.scratch_len()
    }

    fn len(&self) -> usize {
        self.n
    }

    fn make_input_vec(&self) -> Vec<Complex<T>> {
        vec![zero(); self.n / 2 + 1]
    }

    fn make_output_vec(&self) -> Vec<T> {
        vec![T::narrow(0.0); self.n]
    }

    fn make_scratch_vec(&self) -> Vec<Complex<T>> {
        vec![zero(); self.scratch_len()]
    }
}
