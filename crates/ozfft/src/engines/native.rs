//! The native engine: RustFFT in the machine's own floating point, for speed instead of reproducible bits. Its error is measured, not
//! proven.

use super::{BuildEngine, Built, Request, Runner, native_error};
use crate::error::FftError;
use crate::executor::cpu::{Executor, Job, LineTransform};
use crate::kind::Kind;
use crate::sample::Real;
use crate::stages::numbers::{Input, Output};
use crate::transform::budget::ErrorBudget;
use crate::transform::line::Connect;
use crate::transform::norm::Scaling;
use crate::workspace::{take, words_for};
use num_complex::Complex;
use realfft::{ComplexToReal, RealToComplex};
use rustfft::Fft;
use std::sync::Arc;

/// The transform of one line, and its scale.
#[derive(Clone)]
pub(crate) struct NativeLine<T: Real> {
    transform: Transform<T>,
    n: usize,
    scale: f64,
}

/// A planned RustFFT or RealFFT transform.
#[derive(Clone)]
enum Transform<T: Real> {
    Complex(Arc<dyn Fft<T>>),
    RealToComplex(Arc<dyn RealToComplex<T>>),
    ComplexToReal(Arc<dyn ComplexToReal<T>>),
}

impl<T: Real> NativeLine<T> {
    /// Lines are always transformed forward: inverse ones arrive conjugated, and leave so.
    pub(crate) fn new(kind: Kind, n: usize, scale: f64) -> Self {
        NativeLine {
            transform: match kind {
                Kind::ComplexToComplex => Transform::Complex(T::native_complex(n)),
                Kind::RealToComplex => Transform::RealToComplex(T::native_real_to_complex(n)),
                Kind::ComplexToReal => Transform::ComplexToReal(T::native_complex_to_real(n)),
            },
            n,
            scale,
        }
    }

    fn scratch_len(&self) -> usize {
        match &self.transform {
            Transform::Complex(fft) => fft.get_inplace_scratch_len(),
            Transform::RealToComplex(fft) => fft.get_scratch_len(),
            Transform::ComplexToReal(fft) => fft.get_scratch_len(),
        }
    }

    fn words(&self) -> usize {
        words_for::<Complex<T>>(self.n)
            + words_for::<T>(self.n)
            + words_for::<Complex<T>>(self.scratch_len())
    }

    fn transform(&self, input: &Input<'_, 1>, output: &Output<'_, 1>, mut workspace: &mut [u64]) {
        let n = self.n;
        let complex = take::<Complex<T>>(&mut workspace, n);
        let real = take::<T>(&mut workspace, n);
        let scratch = take::<Complex<T>>(&mut workspace, self.scratch_len());
        let (scale, half) = (T::narrow(self.scale), n / 2 + 1);
        let floats = (0..n).map(|i| input.element(0, i));
        let narrow = |z: Complex<f64>| Complex::new(T::narrow(z.re), T::narrow(z.im));
        let outcome = match &self.transform {
            Transform::Complex(fft) => {
                for (z, value) in complex.iter_mut().zip(floats) {
                    *z = narrow(value);
                }
                fft.process_with_scratch(complex, scratch);
                Ok(())
            }
            Transform::RealToComplex(fft) => {
                for (x, value) in real.iter_mut().zip(floats) {
                    *x = T::narrow(value.re);
                }
                fft.process_with_scratch(real, &mut complex[..half], scratch)
            }
            Transform::ComplexToReal(fft) => {
                // RealFFT computes with exp(+i…): a forward transform takes the conjugate.
                for (z, value) in complex[..half].iter_mut().zip(floats) {
                    *z = narrow(value.conj());
                }
                let outcome = fft.process_with_scratch(&mut complex[..half], real, scratch);
                for (z, &x) in complex.iter_mut().zip(&*real) {
                    *z = Complex::new(x, T::narrow(0.0));
                }
                outcome
            }
        };
        // The lengths are ours and the first and middle imaginary parts were cleared on reading.
        debug_assert!(outcome.is_ok());
        for (k, &z) in complex[..output.count].iter().enumerate() {
            let z = z * scale;
            let z = Complex::new(z.re.widen(), z.im.widen());
            output.put(0, k, if output.conjugate { z.conj() } else { z });
        }
    }
}

impl<T: Real> LineTransform<T> for NativeLine<T> {
    fn lines_at_once(&self) -> usize {
        1
    }

    fn workspace_len(&self, _: usize) -> usize {
        self.words()
    }

    /// Estimated.
    fn table_bytes(&self) -> usize {
        4 * self.n * size_of::<Complex<T>>()
    }

    fn is_scaled_between_axes(&self) -> bool {
        false
    }

    fn run(&self, job: &Job<'_, T>, workspace: &mut [u64], _: usize) {
        job.connect(|input, output| self.transform(input, output, workspace));
    }
}

/// The executor of a problem.
pub(super) fn executor<T: Real>(request: &Request<'_>) -> Result<Executor<T>, FftError> {
    let scaling = Scaling::of(request.problem);
    let lines = request.schedule.passes.iter();
    let lines = lines.map(|pass| -> Box<dyn LineTransform<T>> {
        Box::new(NativeLine::new(pass.kind, pass.n, scaling.value(pass.n)))
    });
    Ok(Executor::new(
        request.schedule,
        lines.collect(),
        request.threads,
    ))
}

pub(crate) struct NativeEngine;

impl<T: Real> BuildEngine<T> for NativeEngine {
    fn build(&self, request: &Request<'_>) -> Result<Built<T>, FftError> {
        let error = native_error::<T>(request.problem);
        Ok(Built {
            runner: Runner::Processor(executor(request)?),
            substrate: "native",
            why: String::new(),
            recipe: None,
            budget: ErrorBudget {
                bound: error,
                expected: error / 2.0,
            },
            proven: false,
            float_lines: Vec::new(),
            residues: None,
            fallback: None,
        })
    }
}
