//! One call, one transform: plans are kept for the whole process.

use crate::error::{Buffer, FftError};
use crate::plan::Plan;
use crate::plan::planner::Planner;
use crate::problem::{Direction, Problem};
use crate::sample::Real;
use fallible_memory::try_zeroed;
use num_complex::Complex;
use std::sync::{Arc, OnceLock};

/// The plan of a problem whose input has so many elements: others are an error before anything is made for the shape.
fn plan<T: Real>(problem: &Problem, given: usize) -> Result<Arc<Plan<T>>, FftError> {
    problem.validate()?;
    let expected = problem.input_len();
    if given != expected {
        return Err(FftError::BufferLength {
            buffer: Buffer::Input,
            expected,
            given,
        });
    }
    planner().plan(problem)
}

/// The planner of a number type that these functions share.
pub(crate) fn planner<T: Real>() -> &'static Planner<T> {
    static DOUBLE: OnceLock<Planner<f64>> = OnceLock::new();
    static SINGLE: OnceLock<Planner<f32>> = OnceLock::new();
    let found: &'static dyn std::any::Any = match T::IS_DOUBLE {
        true => DOUBLE.get_or_init(Planner::new),
        false => SINGLE.get_or_init(Planner::new),
    };
    found
        .downcast_ref()
        .unwrap_or_else(|| unreachable!("there are two number types"))
}

fn complex<T: Real>(
    input: &[Complex<T>],
    shape: &[usize],
    direction: Direction,
) -> Result<Vec<Complex<T>>, FftError> {
    let plan = plan(&Problem::complex(shape).direction(direction), input.len())?;
    let mut output = try_zeroed(input.len())?;
    plan.process_outofplace(input, &mut output)?;
    Ok(output)
}

/// The transform `Σ x_j exp(-2πi jk/n)` of any length, by [`Engine::Digits`](crate::Engine::Digits): the same bits everywhere.
///
/// ```
/// use num_complex::Complex;
/// let spectrum = ozfft::fft(&[Complex::new(1.0, 0.0); 12])?;
/// assert_eq!(spectrum[0], Complex::new(12.0, 0.0));
/// # Ok::<(), ozfft::FftError>(())
/// ```
pub fn fft<T: Real>(input: &[Complex<T>]) -> Result<Vec<Complex<T>>, FftError> {
    complex(input, &[input.len()], Direction::Forward)
}

/// The inverse of [`fft`], scaled by `1/n`.
///
/// ```
/// use num_complex::Complex;
/// let line: Vec<_> = (0..20).map(|j| Complex::new(f64::from(j), 0.5)).collect();
/// let back = ozfft::ifft(&ozfft::fft(&line)?)?;
/// assert!(back.iter().zip(&line).all(|(x, y)| (x - y).norm() < 1e-14));
/// # Ok::<(), ozfft::FftError>(())
/// ```
pub fn ifft<T: Real>(input: &[Complex<T>]) -> Result<Vec<Complex<T>>, FftError> {
    complex(input, &[input.len()], Direction::Inverse)
}

/// [`fft`] along all axes of an array in row-major order.
///
/// ```
/// use num_complex::Complex;
/// let field = vec![Complex::new(1.0f32, 0.0); 6 * 10];
/// assert_eq!(ozfft::fftn(&field, &[6, 10])?[0].re, 60.0);
/// assert!(ozfft::fftn(&field, &[7, 10]).is_err());
/// # Ok::<(), ozfft::FftError>(())
/// ```
pub fn fftn<T: Real>(input: &[Complex<T>], shape: &[usize]) -> Result<Vec<Complex<T>>, FftError> {
    complex(input, shape, Direction::Forward)
}

/// The inverse of [`fftn`], scaled by one over the number of points.
pub fn ifftn<T: Real>(input: &[Complex<T>], shape: &[usize]) -> Result<Vec<Complex<T>>, FftError> {
    complex(input, shape, Direction::Inverse)
}

/// The first `n/2 + 1` numbers of the spectrum of `n` real ones.
///
/// ```
/// let half = ozfft::rfft(&[1.0, 2.0, 3.0, 4.0, 5.0])?;
/// assert_eq!((half.len(), half[0].re), (3, 15.0));
/// # Ok::<(), ozfft::FftError>(())
/// ```
pub fn rfft<T: Real>(input: &[T]) -> Result<Vec<Complex<T>>, FftError> {
    rfftn(input, &[input.len()])
}

/// `n` real numbers of their half spectrum, scaled by `1/n`: the inverse of [`rfft`]. Imaginary parts of the first and of the middle
/// value, which no real signal has, are taken as 0, as numpy does; a [`Plan`] reports them.
///
/// ```
/// let line = [1.0, 2.0, 3.0, 4.0, 5.0];
/// assert_eq!(ozfft::irfft(&ozfft::rfft(&line)?, 5)?, line);
/// # Ok::<(), ozfft::FftError>(())
/// ```
pub fn irfft<T: Real>(input: &[Complex<T>], n: usize) -> Result<Vec<T>, FftError> {
    irfftn(input, &[n])
}

/// [`rfft`] along the last axis of an array in row-major order, [`fft`] along the others.
pub fn rfftn<T: Real>(input: &[T], shape: &[usize]) -> Result<Vec<Complex<T>>, FftError> {
    let problem = Problem::real_to_complex(shape);
    let plan = plan(&problem, input.len())?;
    let mut output = try_zeroed(problem.output_len())?;
    plan.process_real_to_complex(input, &mut output)?;
    Ok(output)
}

/// The inverse of [`rfftn`]; `shape` is that of the real array.
///
/// ```
/// let field: Vec<f64> = (0..6 * 7).map(f64::from).collect();
/// let back = ozfft::irfftn(&ozfft::rfftn(&field, &[6, 7])?, &[6, 7])?;
/// assert!(back.iter().zip(&field).all(|(x, y)| (x - y).abs() < 1e-14));
/// # Ok::<(), ozfft::FftError>(())
/// ```
pub fn irfftn<T: Real>(input: &[Complex<T>], shape: &[usize]) -> Result<Vec<T>, FftError> {
    let problem = Problem::complex_to_real(shape);
    let plan = plan(&problem, input.len())?;
    let mut output = try_zeroed(problem.output_len())?;
    match plan.process_complex_to_real(input, &mut output) {
        Ok(()) | Err(FftError::NotHermitian { .. }) => Ok(output),
        Err(error) => Err(error),
    }
}
