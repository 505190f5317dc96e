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

/// What was measured by `ozfft-lab linear-algebra --device cuda`, by the same with a conventional solver on a processor, and by `ozfft-lab words`: rows of the evidence
/// follow from them, and are not there without them.
const RECORDS: [(&str, &str); 3] = [
    ("linear_algebra", "2026-11-18-h200-linear-algebra.json"),
    ("solver", "2026-11-18-emerald-rapids-solver.json"),
    ("words", "2026-11-18-emerald-rapids-words.json"),
];

/// Writes expressions: the texts of the records that are committed.
fn records() {
    println!("cargo::rerun-if-changed=records");
    let manifest = std::env::var("CARGO_MANIFEST_DIR").expect("cargo has set it");
    let folder = std::env::var("OUT_DIR").expect("cargo has set it");
    for (name, record) in RECORDS {
        let path = std::path::Path::new(&manifest).join("records").join(record);
        let expression = match path.is_file() {
            true => format!("Some(({record:?}, include_str!({path:?})))"),
            false => "None".into(),
        };
        let written = std::path::Path::new(&folder).join(format!("{name}_record.rs"));
        std::fs::write(written, expression).expect("the build's folder can be written to");
    }
}

fn main() {
    records();
    let compared = [
        ("rustfft", "RUSTFFT_VERSION"),
        ("xsum", "XSUM_VERSION"),
        ("accurate", "ACCURATE_VERSION"),
    ];
    origin::versions(ROOT, &compared);
    origin::origin(ROOT, &USED);
}
