//! Exact integer matrix products by 8-bit residues (Ozaki's scheme II), and methods of reconstructing the integers.
//!
//! A product of integer matrices is formed modulo several small coprime numbers, each product on a matrix unit for bytes,
//! and the Chinese remainder theorem gives the integers back:
//!
//! ```text
//! moduli.rs        which numbers, and how many for integers of a given size
//! adaptive.rs      how many the data at hand need
//! decompose.rs     words -> signed residues
//! bytes.rs         matrices of signed bytes and what multiplies them
//! fp8.rs           E4M3 numbers and a simulated matrix unit for them
//! fp8_products.rs  residues as two digits in E4M3
//! products.rs      words -> residues of their products with a matrix, on either
//! complex.rs       complex products from real ones, combined as residues
//! short_sums.rs    sums -> residues, in short arithmetic
//! reconstruct/     residues -> integers
//! redundant.rs     the same with more moduli than needed: bad residues are found and corrected
//! ```
//!
//! Everything works on panels of [`COLUMNS`] columns side by side, which is a row of 64 bytes on the units: a row of a
//! matrix of residues is one [`Residues`].
//!
//! Reconstruction methods in floating point, and the simulated fp8 unit, need the default floating-point environment and take
//! the caller's as it is (`float_environment::with_default` puts the default in force, as `ozfft` does for its own calls).

#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod adaptive;
pub mod bytes;
pub mod complex;
mod decompose;
mod error;
pub mod fp8;
pub mod fp8_products;
mod moduli;
mod panels;
pub mod products;
pub mod reconstruct;
pub mod redundant;
mod set;
mod short_sums;

pub use decompose::{Decomposer, residue_of};
pub use error::ResidueError;
pub use ethnum::{I256, U256};
pub use moduli::Moduli;
pub use panels::{COLUMNS, Residues};
pub use set::Set;
