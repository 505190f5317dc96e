mod bad_input;
mod common_arrays;
mod float_environment;
mod not_finite;
#[allow(dead_code)]
mod support;
mod wisdom;
