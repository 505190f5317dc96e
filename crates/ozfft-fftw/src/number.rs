//! The numbers of arrays: FFTW has its interface once for each of them, and they differ in nothing else.

use crate::process::{Known, Process};
use ozfft::{Accuracy, Real};
use std::ops::{Add, Mul, Neg, Sub};
use std::sync::Mutex;

/// `f64` for `fftw_…`, `f32` for `fftwf_…`.
pub(crate) trait Number:
    Real
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
{
    /// What plans have unless the environment says otherwise: as much as the numbers hold.
    const ACCURACY: Accuracy;
    /// In messages.
    const PRECISION: &'static str;
    const HALF: Self;
    /// Far from overflow, and so large that halving a smaller number beside it loses nothing that could be seen.
    const LARGE: Self;
    const NOT_A_NUMBER: Self;

    /// The planner of these numbers, and what it knows.
    fn known(process: &Process) -> &Mutex<Known<Self>>;
}

impl Number for f64 {
    const ACCURACY: Accuracy = Accuracy::Double;
    const PRECISION: &'static str = "double";
    const HALF: f64 = 0.5;
    const LARGE: f64 = f64::from_bits((1023 + 1000) << 52);
    const NOT_A_NUMBER: f64 = f64::NAN;

    fn known(process: &Process) -> &Mutex<Known<f64>> {
        &process.double
    }
}

impl Number for f32 {
    const ACCURACY: Accuracy = Accuracy::Single;
    const PRECISION: &'static str = "single";
    const HALF: f32 = 0.5;
    const LARGE: f32 = f32::from_bits((127 + 100) << 23);
    const NOT_A_NUMBER: f32 = f32::NAN;

    fn known(process: &Process) -> &Mutex<Known<f32>> {
        &process.single
    }
}
