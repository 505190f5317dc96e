//! All tests of the library, in one program: compiled and linked once, and run side by side.
//! `cargo test -p ozfft --test all bits::` runs one file of them. What counts allocations is a program of its own.

mod common_arrays;
mod support;

mod accuracy;
mod api;
mod bad_input;
mod bad_requests;
mod bits;
mod cuda;
mod cuda_tuned;
mod dynamic_range;
mod few_digits;
mod floats;
mod hard_shapes;
mod ladder;
mod layouts;
mod properties;
mod random_problems;
mod residues;
mod targets;
mod units;
mod wide;
