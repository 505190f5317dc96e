//! Tells the program which crates it compares with, because they do not say their versions, which compiler made it, and from which commit.

#[path = "../crates/ozfft-cli/build/origin.rs"]
mod origin;

const ROOT: &str = "..";
/// The crates of this workspace that the program is made of.
const USED: [&str; 12] = [
    "crates/exact-convolution",
    "crates/float-environment",
    "crates/floats",
    "crates/kulisch",
    "crates/ozfft-testkit",
    "crates/ozfft",
    "crates/ozfft-cli",
    "crates/ozfft-kernels",
    "crates/residues",
    "laboratory",
    "laboratory/ozaki",
    "laboratory/roofline",
];

/// What `ozfft-lab linear-algebra --device cuda` has measured: rows of the evidence follow from it, and are not there without it.
const LINEAR_ALGEBRA: &str = "2026-11-18-h200-linear-algebra.json";

/// Writes an expression: the text of the record, if it is committed.
fn linear_algebra_record() {
    println!("cargo::rerun-if-changed=records");
    let manifest = std::env::var("CARGO_MANIFEST_DIR").expect("cargo has set it");
    let path = std::path::Path::new(&manifest)
        .join("records")
        .join(LINEAR_ALGEBRA);
    let expression = match path.is_file() {
        true => format!("Some(({LINEAR_ALGEBRA:?}, include_str!({path:?})))"),
        false => "None".into(),
    };
    let folder = std::env::var("OUT_DIR").expect("cargo has set it");
    let written = std::path::Path::new(&folder).join("linear_algebra_record.rs");
    std::fs::write(written, expression).expect("the build's folder can be written to");
}

fn main() {
    linear_algebra_record();
    let compared = [
        ("rustfft", "RUSTFFT_VERSION"),
        ("xsum", "XSUM_VERSION"),
        ("accurate", "ACCURATE_VERSION"),
    ];
    origin::versions(ROOT, &compared);
    origin::origin(ROOT, &USED);
}
