#![doc = include_str!("../README.md")]
#![warn(missing_docs, missing_debug_implementations)]
// Loops over lanes index several rows at once; written so, the compiler makes vector instructions of them.
#![allow(clippy::needless_range_loop)]
// Some stages have functions that only one engine or device uses; with all features the compiler looks for those that none does.
#![cfg_attr(
    not(all(
        feature = "cuda",
        feature = "native",
        feature = "ntt",
        feature = "residues",
        feature = "floats",
        feature = "wide",
        feature = "serde"
    )),
    allow(dead_code)
)]

// `vec![value; count]` and what is made with its functions return errors where there is no memory: all that grows with a length.
#[macro_use]
extern crate fallible_memory;

#[cfg(feature = "convolution")]
pub mod convolution;
#[doc(hidden)]
pub mod dct;
mod engines;
mod executor;
mod functions;
mod layout;
mod norm;
mod plan;
mod problem;
mod progress;
#[cfg(feature = "native")]
mod rustfft_traits;
#[cfg(feature = "wide")]
mod wide;

#[cfg(feature = "native")]
#[doc = include_str!("../docs/from-rustfft.md")]
pub mod from_rustfft {}

#[cfg(any(feature = "native", feature = "wide"))]
use ozfft_core::simd;
use ozfft_core::{
    error, kind, matrix_unit, parallel, portable, recipe, roots, sample, stages, substrate, sync,
    transform, workspace,
};

pub use error::{Buffer, FftError};
#[cfg(feature = "cuda")]
pub use executor::cuda::{
    CudaCompiler, DeviceArray, DeviceBlock, DeviceQueue, PageLocked, cuda_compiler,
    look_for_cuda_compiler_in,
};
pub use fallible_memory::{Limit, OutOfMemory};
#[cfg(feature = "floats")]
pub use floats::{FloatError, Mode};
pub use functions::{fft, fftn, ifft, ifftn, irfft, irfftn, rfft, rfftn};
pub use kind::Kind;
pub use layout::Layout;
/// The crate of [`Complex`] numbers, in the version that this one has.
pub use num_complex;
pub use num_complex::Complex;
pub use plan::Plan;
pub use plan::axis::AxisPlan;
pub use plan::choice::{Candidate, Choice, Verdict};
#[cfg(feature = "measurements")]
pub use plan::constants::{DigitsWork, MeasuredUnit, UnitCost};
#[cfg(feature = "cuda")]
pub use plan::device_axis::DeviceAxisPlan;
#[cfg(feature = "measurements")]
pub use plan::estimate::digits_work;
pub use plan::line_parts::{LineParts, PartProperties};
#[cfg(feature = "measurements")]
pub use plan::measured_units::measured_unit;
pub use plan::planner::Planner;
pub use plan::prediction::Prediction;
pub use plan::reporting::Reporting;
#[cfg(feature = "cuda")]
pub use plan::tune::{Trial, Tuned, TunedKernel};
#[cfg(feature = "residues")]
pub use problem::ResidueOptions;
pub use problem::{Accuracy, Device, DevicePointer, Direction, Engine, Norm, Problem, Products};
pub use progress::{Progress, Stage};
pub use recipe::{AxisRecipe, BlockRecipe, Digits, Fold, LineRecipe, Recipe, StepRecipe};
#[cfg(feature = "residues")]
pub use residues::reconstruct::Method;
#[cfg(feature = "native")]
pub use rustfft_traits::{RustFft, RustFftPlanner};
pub use sample::Real;
#[cfg(feature = "residues")]
pub use stages::residue_products::ResidueReport;
pub use substrate::{CpuUnit, GpuUnit, Substrate, UnknownSubstrate};
pub use transform::budget::{ErrorBudget, bound_text};
#[cfg(feature = "wide")]
pub use wide::{DoubleDouble, WidePlan, WidePlanner};
