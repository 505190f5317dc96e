//! Exact convolutions and products of integers, and real convolutions with a proven error.
//!
//! Integers are those of the crate [`exact_convolution`], all of which is here: linear and cyclic convolutions and correlations of `i8` to `i128` and `u8` to
//! `u128` with results up to 128 bits, in several dimensions and batches ([`Convolution`], [`convolve`]); polynomials modulo a number ([`multiply_polynomials`]); long
//! integers ([`multiply_limbs`], [`multiply_decimal`]). Plans say which route they take and why the result is exact ([`ConvolutionPlan::proof`]); what is not proven is
//! an error that names the remedy.
//!
//! [`ExactConvolution`] weighs these against transforms in floating point, of doubles and double-double numbers: its plan says of every route whether it is proven and how
//! long it takes, and takes the fastest.
//!
//! Long integers are multiplied on a GPU, too: [`Multiplier`].
//!
//! Real numbers are convolved by transforms of [`Engine::Digits`](crate::Engine::Digits): [`fftconvolve`], and [`fftconvolve_shaped`] for arrays of several
//! dimensions, return a proven bound of the error of every element with the result. Where it is below one half, and operands are integers, rounding is proven too: [`convolve_by_digits`].
//!
//! ```
//! use ozfft::convolution::{convolve, Convolution};
//!
//! // 100,000 numbers of 31 bits: sums reach 2^77, where doubles have long lost the last digits.
//! let numbers = vec![i32::MAX; 100_000];
//! let plan = Convolution::linear(100_000, 100_000).types::<i32, i32>().plan()?;
//! println!("{plan}");
//! let squares: Vec<i128> = plan.process(&numbers, &numbers)?;
//! assert_eq!(squares[99_999], 100_000 * i128::from(i32::MAX) * i128::from(i32::MAX));
//! # Ok::<(), ozfft::convolution::ConvolutionError>(())
//! ```

mod floating;
mod multiplier;
mod real;
mod real_shaped;
mod routes;

pub use exact_convolution::*;
pub use multiplier::{Multiplier, Product, ProductSeconds};
#[doc(hidden)]
pub use real::error_of_spectra;
pub use real::{RealConvolution, RealConvolutionError, convolve_by_digits, fftconvolve};
pub use real_shaped::fftconvolve_shaped;
pub use routes::{
    ConvolutionRoute, ExactConvolution, ExactConvolutionPlan, RouteCandidate, RouteError,
};
