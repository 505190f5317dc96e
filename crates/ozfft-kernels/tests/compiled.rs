//! What is compiled is what the sources say.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn sources_have_not_changed_since_they_were_compiled() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let recorded = fs::read_to_string(folder.join("compiled/sources")).expect("the record");
    let recorded: BTreeMap<String, String> = recorded
        .lines()
        .filter_map(|line| line.split_once("  "))
        .map(|(hash, name)| (name.into(), hash.into()))
        .collect();
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder.join("cuda")).expect("the sources") {
        let path = entry.expect("an entry").path();
        let extension = path.extension().and_then(|e| e.to_str());
        if matches!(extension, Some("cu" | "cuh" | "def")) {
            let name = path.file_name().and_then(|n| n.to_str()).expect("a name");
            let hash = Sha256::digest(fs::read(&path).expect("a source"));
            let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            found.insert(name.to_string(), hash);
        }
    }
    assert_eq!(
        recorded, found,
        "run crates/ozfft-kernels/generate and commit what it makes"
    );
}

/// `bench/matrix_ntt.cu` under the emulator: it compares all residues with those of the vectors' passes, and some with their definition.
#[test]
fn a_transform_on_tensor_units_has_the_residues_of_vectors() {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("matrix_ntt");
    let flags = "-std=c++17 -O1 -fwrapv -U_FORTIFY_SOURCE -Wno-unknown-pragmas -I../cuda";
    let compiled = Command::new("c++")
        .current_dir(bench)
        .args(flags.split(' '))
        .arg("-o")
        .arg(&program)
        .args(["-x", "c++", "matrix_ntt.cu"])
        .status();
    assert!(compiled.expect("a C++ compiler").success());
    let run = Command::new(program).output().expect("it starts");
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{text}");
    assert_eq!(text.matches(": 0 of ").count(), 2, "{text}");
}
