//! The stages of a step: numbers become words, words become digits, sums of products become integers again, integers are rotated, and
//! rounded once to numbers.

pub(crate) mod butterfly;
pub mod digits;
pub(crate) mod half_spectra;
pub(crate) mod lines;
pub mod numbers;
pub(crate) mod outputs;
pub mod pass_roots;
pub mod quantise;
pub(crate) mod quantise_single;
pub(crate) mod reconstruct;
#[cfg(feature = "residues")]
pub mod residue_products;
#[cfg(not(feature = "residues"))]
#[path = "no_residues.rs"]
pub mod residue_products;
pub mod scale;
pub(crate) mod single_numbers;
pub mod step_matrices;
pub mod twiddle;
