//! Convolutions modulo primes of 30 bits, by number-theoretic transforms.

pub(crate) mod chinese;
pub(crate) mod engine;
pub(crate) mod kernels;
pub(crate) mod lanes;
pub(crate) mod prime;
pub(crate) mod roots;
pub(crate) mod rows;
pub(crate) mod transform;
pub(crate) mod unit;
