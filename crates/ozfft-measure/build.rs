//! Tells programs which RustFFT they are compared with, because the crate itself does not say its version, which compiler made them, and
//! from which commit.

#[path = "build/origin.rs"]
mod origin;

const ROOT: &str = "../..";
/// The crates that the program `ozfft` is made of.
const USED: &[&str] = &[
    "crates/exact-convolution",
    "crates/fallible-memory",
    "crates/float-environment",
    "crates/floats",
    "crates/ozfft-testkit",
    "crates/ozfft",
    "crates/ozfft-core",
    "crates/ozfft-cli",
    "crates/ozfft-demo",
    "crates/ozfft-kernels",
    "crates/ozfft-measure",
    "crates/residues",
];

fn main() {
    origin::versions("../../Cargo.lock", &[("rustfft", "RUSTFFT_VERSION")]);
    origin::origin(ROOT, USED);
}
