//! Running the program.
#![allow(
    dead_code,
    unused_imports,
    reason = "every test program uses a part of this"
)]

#[path = "../../../crates/ozfft-cli/tests/common/program.rs"]
mod program;

#[cfg(unix)]
pub use program::records_its_own_commit;
pub use program::{directory, fail, json, number, run as lab, succeed, text, text_of};

/// The program that is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_ozfft-lab");
