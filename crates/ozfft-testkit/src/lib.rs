//! What the crates of this workspace are tested with.
//!
//! * [`oracle`]: an accurate DFT, error norms, hard inputs and a second count of the error bounds. It imports nothing of ours,
//!   not even the rest of this crate.
//! * [`problems`]: random problems and inputs, from a seed or from a fuzzer's bytes.
//! * [`same_bits`] and [`assert_same_bits`]: comparisons of bits that say where, what and by which seed.
//! * [`Requirement`] and [`available`]: a test that cannot run here says so, or fails where `OZFFT_REQUIRE` says that it must run.
//! * [`everything`]: whether there is time for the long form of a test.

#![warn(missing_docs)]
#![deny(unsafe_code)]

mod bits;
mod left_out;
pub mod oracle;
pub mod problems;
mod requirements;

pub use bits::{Bits, Difference, assert_same_bits, same_bits};
pub use requirements::{Requirement, UnknownRequirement, available, nvcc};

/// Whether there is time for everything: `./run-tests --everything` sets `OZFFT_EVERYTHING`. Tests leave out repetitions otherwise,
/// which the end of a run lists by the caller's place.
#[track_caller]
pub fn everything() -> bool {
    let all =
        std::env::var_os("OZFFT_EVERYTHING").is_some_and(|value| value != "0" && !value.is_empty());
    if !all {
        let caller = std::panic::Location::caller();
        let what = format!("places that take a share of their cases: {}", caller.file());
        left_out::note(&what, &caller.line().to_string());
    }
    all
}
