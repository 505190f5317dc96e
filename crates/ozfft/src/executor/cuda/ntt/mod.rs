//! Transforms modulo primes, and what is made of them.

#[cfg(feature = "convolution")]
pub(super) mod array_convolutions;
#[cfg(feature = "convolution")]
pub(super) mod integer_products;
#[cfg(feature = "ntt")]
pub(super) mod ntt_lines;
#[cfg(all(test, feature = "ntt"))]
mod ntt_tests;
#[cfg(any(feature = "convolution", feature = "ntt"))]
pub(super) mod residue_transforms;
