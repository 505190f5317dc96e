//! What differs between families of kernels, a file each.

mod block;
mod long_pass;
mod real;
mod three_steps;
mod two_passes;
