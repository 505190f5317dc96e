//! Tells the program which crates it compares with, because they do not say their versions, which compiler made it, and from which commit.

#[path = "../crates/ozfft-measure/build/origin.rs"]
mod origin;

const ROOT: &str = "..";
/// The crates of this repository that the program is made of.
const USED: &[&str] = &[
    "crates/exact-convolution",
    "crates/fallible-memory",
    "crates/float-environment",
    "crates/floats",
    "crates/kulisch",
    "crates/ozfft-testkit",
    "crates/ozfft",
    "crates/ozfft-core",
    "crates/ozfft-kernels",
    "crates/ozfft-measure",
    "crates/residues",
    "laboratory",
    "laboratory/ozaki",
    "laboratory/roofline",
];

fn main() {
    let compared = [("xsum", "XSUM_VERSION"), ("accurate", "ACCURATE_VERSION")];
    origin::versions("Cargo.lock", &compared);
    origin::origin(ROOT, USED);
}
