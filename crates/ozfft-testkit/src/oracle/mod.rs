//! The independent referee of ozfft: an accurate DFT, error norms and hard inputs, and a second count of its error bounds ([`referee`]).
//!
//! Nothing here shares code with the library under test, nor with the rest of this crate. Every reference value rests on the definition
//!
//! ```text
//! X[k] = sum over j of x[j] * exp(sign * 2 * pi * i * j * k / N)
//! ```
//!
//! with `sign = -1` forward and `+1` inverse, never normalised. It is available twice:
//!
//! * [`multiprecision`] sums it as written, with hundreds of bits, for small lengths;
//! * [`dft()`], [`dft_nd`], [`dft_sampled`] and [`dft_grid`] compute it in double-double arithmetic (about 106 bits, relative
//!   error near 1e-31) for millions of points. The tests of this crate hold them against the former.
//!
//! [`attack`] makes inputs that aim at a proven error bound.
//!
//! ```
//! use num_complex::Complex;
//! use ozfft_testkit::oracle::{Direction, compare, dft, inputs, rounded_once};
//!
//! let line = inputs::uniform_complex(1024, 7);
//! let exact = dft(&line, Direction::Forward);
//! // The best any f64 answer can do is to be the exact one, rounded once.
//! let errors = compare(&rounded_once(&exact), &exact);
//! assert!(errors.l2 < 5.2e-17);
//! ```

pub mod attack;
mod bluestein;
pub mod dft;
mod dispatch;
pub mod double_double;
pub mod error;
mod factor;
pub mod grid;
pub mod inputs;
mod lanes;
mod line;
pub mod multiprecision;
pub mod referee;
pub mod roots;
pub mod sampled;
pub mod spectrum;

pub use dft::{dft, dft_axes, dft_nd, dft_real, dft_real_nd};
pub use double_double::{ComplexDoubleDouble, DoubleDouble};
pub use error::{
    ErrorNorms, Scale, backward_l2, compare, compare_f32, compare_sampled, compare_scaled,
    differences, floor, floor_f32, rounded_once, rounded_once_f32,
};
pub use grid::dft_grid;
pub use inputs::HardInput;
pub use roots::{Roots, root_of_unity};
pub use sampled::dft_sampled;
pub use spectrum::{Direction, ExactSpectrum};
