//! Linear algebra in f64 by Ozaki's scheme II: products of 8-bit residues, integers by the Chinese remainder theorem, one rounding.
//!
//! ```text
//! scheme.rs            how many moduli and how many bits, and the bound of the error
//! scaled.rs            rows of f64 -> integers of so many bits, each row under an exponent of its own
//! operand.rs           those -> residues
//! reconstruction.rs    sums of products modulo every modulus -> f64: in integers, or in f64 as the paper's naive sum
//! dense.rs             matrix times matrix, matrix times vector, dot product
//! sparse.rs            a matrix by rows (CSR) times a vector
//! digits.rs            the same integers by digits (Ozaki's scheme I): dense, batched and sparse
//! conjugate_gradient.rs, poisson.rs   a solver whose residuals have the same bits everywhere
//! device.rs            what the kernels `ozaki_*` of `ozfft-kernels` are given
//! ```
//!
//! An element of a result depends on its row and its column alone, and everything between scaling and rounding is exact: so bits depend
//! neither on blocks nor on threads, a column of a product of matrices has the bits of the product with that column, and a sparse
//! matrix those of the same matrix with its zeros.
//!
//! ```
//! use ozaki::{PhaseB, Scheme, multiply};
//! // 2 × 3 times 3 × 2.
//! let (a, b) = ([1.0, 2.0, 3.0, 0.5, 0.25, 0.125], [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]);
//! let scheme = Scheme::with_moduli(3, 16)?;
//! let mut c = [0.0; 4];
//! multiply(&scheme, PhaseB::Integers, (2, 3, 2), &a, &b, &mut c, 1)?;
//! assert_eq!(c, [30_201.0, 302_010.0, 1275.5, 12_755.0]);
//! # Ok::<(), ozaki::OzakiError>(())
//! ```

#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod conjugate_gradient;
mod dense;
pub mod device;
pub mod digits;
mod error;
mod operand;
pub mod poisson;
mod reconstruction;
pub mod scaled;
mod scheme;
mod sparse;

pub use dense::{dot, multiply, multiply_rows, multiply_vectors};
pub use error::OzakiError;
pub use operand::{Operand, Side};
pub use reconstruction::{PhaseB, rounded};
pub use scheme::Scheme;
pub use sparse::SparseMatrix;
