//! Transforms by FFTW, and by cuFFT on a GPU, in the place of ozfft's: to see what the last digits of a program do with them, and what they cost.
//! ozfft's own transforms on a GPU take the same way there as cuFFT's.

use crate::device_transform::{DeviceTransform, Seconds};
use crate::options::{Computing, Library};
use ozfft::{Device, Direction, Engine, FftError, Kind, Plan, Problem};
use ozfft_measure::fftw::{Arrays, Fftw, FftwPlan};
use ozfft_measure::gpu::{CuFft, Precision};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// A transform by another library, or on a GPU, in memory of its own. The inverse divides by the number of points.
pub struct OtherTransform {
    route: Route,
    /// Real and imaginary parts change places before and after, which makes an inverse of a forward transform.
    swapped: bool,
    factor: f64,
    /// Numbers that are read and written.
    lengths: (usize, usize),
    /// Of that length from the first call with the processor's memory on.
    input: Vec<f64>,
    output: Vec<f64>,
}

enum Route {
    Fftw(FftwPlan<'static>),
    OnDevice(Box<DeviceTransform>),
}

/// Whether arrays of the processor may go to the device one by one: what native would take over is left to calls that see it.
fn runs_on_device(computing: &Computing, plan: &Plan<f64>) -> Option<usize> {
    let residues_alone = !computing.native_fallback;
    match (plan.device(), plan.engine()) {
        (Device::Cuda(ordinal), Engine::Digits) => Some(ordinal),
        (Device::Cuda(ordinal), Engine::Residues) if residues_alone => Some(ordinal),
        _ => None,
    }
}

/// FFTW, loaded once.
fn fftw() -> Option<&'static Fftw> {
    static LOADED: OnceLock<Option<Fftw>> = OnceLock::new();
    LOADED.get_or_init(Fftw::load_with_threads).as_ref()
}

fn unsupported(reason: impl std::fmt::Display) -> FftError {
    FftError::Unsupported(reason.to_string())
}

impl OtherTransform {
    /// For a batch of arrays of a plan's shape; none where the plan itself is to run.
    pub fn new(
        computing: &Computing,
        plan: &Arc<Plan<f64>>,
        (direction, batch): (Direction, usize),
    ) -> Result<Option<OtherTransform>, FftError> {
        let problem: &Problem = plan.problem();
        if let (Some(_), Library::Ozfft | Library::Cufft) = (computing.planning, computing.library)
        {
            return Err(unsupported(
                "--planning says how FFTW plans; take --library fftw",
            ));
        }
        let arrays = Arrays {
            kind: problem.kind(),
            shape: problem.shape(),
            batch,
            interleaved: false,
        };
        let lengths = arrays.lengths();
        let (mut input, mut output) = (Vec::new(), Vec::new());
        let foreign = computing.library != Library::Ozfft;
        let inverse = foreign && direction == Direction::Inverse;
        let route = match computing.library {
            Library::Ozfft => {
                let Some(ordinal) = runs_on_device(computing, plan) else {
                    return Ok(None);
                };
                let work = DeviceTransform::new(ordinal, |_| Ok(Arc::clone(plan)))?;
                Route::OnDevice(Box::new(work))
            }
            Library::Fftw => {
                let Some(fftw) = fftw() else {
                    return Err(unsupported(
                        "FFTW is not installed; install libfftw3, or take --library ozfft",
                    ));
                };
                let threads = computing.threads.unwrap_or_else(rayon::current_num_threads);
                if !fftw.set_threads(threads) {
                    return Err(unsupported(
                        "FFTW's part for threads is not installed; install it, or take --threads 1",
                    ));
                }
                (input, output) = (vec![0.0; lengths.0], vec![0.0; lengths.1]);
                let effort = computing.planning.unwrap_or_default().effort();
                let planned = fftw.plan(&arrays, (&mut input, &mut output), effort);
                Route::Fftw(planned.ok_or_else(|| {
                    unsupported(format!("FFTW has no plan for {:?}", problem.shape()))
                })?)
            }
            Library::Cufft => {
                let size = (Direction::Forward, batch);
                let work = DeviceTransform::new(0, |gpu| {
                    Ok(CuFft::plan(gpu, problem, size, Precision::Double)?)
                });
                Route::OnDevice(Box::new(work?))
            }
        };
        let points = problem.shape().iter().product::<usize>() as f64;
        Ok(Some(OtherTransform {
            route,
            swapped: inverse && problem.kind() == Kind::ComplexToComplex,
            factor: if inverse { 1.0 / points } else { 1.0 },
            lengths,
            input,
            output,
        }))
    }

    /// Copies the input.
    ///
    /// # Panics
    ///
    /// If it has another length than was planned for.
    pub fn load(&mut self, input: &[f64]) {
        self.input.resize(self.lengths.0, 0.0);
        self.output.resize(self.lengths.1, 0.0);
        self.input.copy_from_slice(input);
        if self.swapped {
            swap_parts(&mut self.input);
        }
    }

    /// Transforms, and tells how long that took.
    pub fn execute(&mut self) -> Result<Seconds, FftError> {
        match &mut self.route {
            Route::Fftw(plan) => {
                let start = Instant::now();
                plan.execute(&mut self.input, &mut self.output);
                Ok(Seconds {
                    transform: start.elapsed().as_secs_f64(),
                    copies: 0.0,
                })
            }
            Route::OnDevice(device) => device.execute(&self.input, &mut self.output),
        }
    }

    /// The transform of device memory, if there is one, and the factor that its results are still to be multiplied by.
    pub fn on_device(&self) -> Option<(&DeviceTransform, f64)> {
        match &self.route {
            Route::OnDevice(device) => Some((device, self.factor)),
            Route::Fftw(_) => None,
        }
    }

    /// Copies the output.
    ///
    /// # Panics
    ///
    /// If it has another length than was planned for.
    pub fn store(&mut self, output: &mut [f64]) {
        if self.swapped {
            swap_parts(&mut self.output);
        }
        output.copy_from_slice(&self.output);
        if self.factor != 1.0 {
            output.iter_mut().for_each(|value| *value *= self.factor);
        }
    }
}

fn swap_parts(numbers: &mut [f64]) {
    for number in numbers.chunks_exact_mut(2) {
        number.swap(0, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Planning;
    use crate::transforms::{ComplexTransform, RealTransform};
    use num_complex::Complex;

    fn by_fftw(planning: Planning, threads: usize) -> Computing {
        Computing {
            library: Library::Fftw,
            planning: Some(planning),
            threads: Some(threads),
            ..Computing::default()
        }
    }

    #[test]
    fn fftw_transforms_there_and_back_as_ozfft_does() {
        if fftw().is_none() {
            eprintln!("skipped: FFTW is not installed");
            return;
        }
        let shape = [4, 6];
        let reals: Vec<f64> = (0..48).map(|i| f64::from(i * i % 17) - 5.0).collect();
        let values: Vec<_> = (0..48)
            .map(|i| Complex::new(f64::from(i % 7), f64::from(i % 5)))
            .collect();
        let run = |computing: &Computing| {
            let mut real = RealTransform::new(computing, &shape, (2, 2)).expect("plans");
            let mut spectrum = vec![Complex::new(0.0, 0.0); 32];
            let mut back = vec![0.0; 48];
            real.forward(&reals, &mut spectrum).expect("a transform");
            real.inverse(&spectrum, &mut back).expect("a transform");
            let mut complex = ComplexTransform::new(computing, &shape, 2).expect("plans");
            let (mut there, mut inverse) = (values.clone(), values.clone());
            complex.forward(&mut there).expect("a transform");
            complex.inverse(&mut inverse).expect("a transform");
            (spectrum, back, there, inverse)
        };
        let ours = run(&Computing::default());
        let plannings = [
            Planning::Estimate,
            Planning::Measure,
            Planning::Unaligned,
            Planning::Scalar,
        ];
        for planning in plannings {
            let theirs = run(&by_fftw(planning, 2));
            let near = |a: &Complex<f64>, b: &Complex<f64>| (a - b).norm() < 1e-12;
            let all =
                |a: &[Complex<f64>], b: &[Complex<f64>]| a.iter().zip(b).all(|(a, b)| near(a, b));
            assert!(
                all(&ours.0, &theirs.0),
                "{planning:?}: real to half-spectrum"
            );
            let reals = ours.1.iter().zip(&theirs.1);
            assert!(
                reals.into_iter().all(|(a, b)| (a - b).abs() < 1e-12),
                "{planning:?}: back"
            );
            assert!(all(&ours.2, &theirs.2), "{planning:?}: forward");
            assert!(all(&ours.3, &theirs.3), "{planning:?}: inverse");
        }
    }

    #[test]
    fn planning_is_fftws_alone() {
        let computing = Computing {
            planning: Some(Planning::Measure),
            ..Computing::default()
        };
        let error = RealTransform::new(&computing, &[8], (1, 1)).err();
        let error = error.expect("rejected").to_string();
        assert!(error.contains("--library fftw"), "{error}");
    }
}
