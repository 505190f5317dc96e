//! libkulisch: the crate `kulisch` for C (`include/kulisch.h`), with the calls of ReproBLAS (`include/kulisch_reproblas.h`).
//!
//! Every call puts the caller's floating-point environment aside: programs that flush subnormal numbers to zero get the same bits.

#![deny(unsafe_op_in_unsafe_fn)]

mod accumulator;
mod gemv;
mod numbers;
mod reductions;
