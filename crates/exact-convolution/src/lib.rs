#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

// `vec![value; count]` fails with an error that plans return.
#[macro_use]
extern crate fallible_memory;

mod cost;
pub mod decimal;
pub mod device;
mod direct;
mod error;
mod functions;
mod gaussian;
mod integer;
mod limbs;
mod modular;
mod parallel;
mod plan;
mod polynomials;
mod proof;
mod shaped;

pub use error::{ConvolutionError, Which};
pub use functions::{
    convolve, convolve_cyclic, convolve_cyclic_shaped, convolve_shaped, correlate,
    correlate_cyclic, correlate_cyclic_shaped, correlate_shaped,
};
pub use gaussian::{GaussianConvolution, GaussianResults, GaussianWorkspace, LongInteger, Wrap};
pub use integer::{Operand, Output, largest};
pub use limbs::{decimal_proof, limbs_proof, multiply_decimal, multiply_limbs, multiply_limbs_on};
pub use modular::unit::Unit;
pub use plan::{Convolution, ConvolutionPlan};
pub use polynomials::{multiply_polynomials, polynomial_proof};
pub use proof::{Proof, Route};
#[doc(hidden)]
pub use shaped::Lines;
pub use shaped::Shaped;
