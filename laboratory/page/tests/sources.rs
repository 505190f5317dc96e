//! The committed WebAssembly was made of the sources that are here.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// All files of a folder and below.
fn files(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("a folder") {
            files(&entry.expect("an entry").path(), found);
        }
    } else {
        found.push(path.to_path_buf());
    }
}

#[test]
fn the_wasm_is_of_these_sources() {
    // Tests run in the package's folder; names are sorted as `./generate` has them.
    let mut found = Vec::new();
    for path in [
        "Cargo.toml",
        "src",
        "../roofline/Cargo.toml",
        "../roofline/machines",
        "../roofline/src",
    ] {
        files(Path::new(path), &mut found);
    }
    found.sort_by_key(|path| path.as_os_str().as_encoded_bytes().to_vec());
    let mut digest = Sha256::new();
    for path in &found {
        digest.update(std::fs::read(path).expect("a source"));
    }
    let digest: String = digest
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(
        include_str!("../model.sha256").trim(),
        digest,
        "model.wasm is of other sources; make it again with laboratory/page/generate"
    );
}
