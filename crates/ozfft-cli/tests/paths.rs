//! `ozfft paths`, on machines with and without a GPU. How long anything takes is not tested.

mod common;

use common::{directory, ozfft, text};
use serde_json::Value;

#[test]
fn paths_are_checked_and_timed_or_the_missing_gpu_is_named() {
    let record = directory("paths").join("record.json");
    let shape = ["--shape", "1024x1024", "--seconds", "0.01", "--lines", "4"];
    let output = ozfft(&[&["paths", "--json", "--record", text(&record)], &shape[..]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        assert!(
            errors.contains("no NVIDIA driver") || errors.contains("no CUDA device"),
            "{errors}"
        );
        return;
    }
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let paths = report["paths"].as_array().unwrap();
    assert!(
        paths
            .iter()
            .any(|path| path["name"] == "residues-kulisch32")
    );
    assert!(record.exists());
}

#[test]
fn no_lines_to_check_are_refused() {
    let output = ozfft(&["paths", "--lines", "0"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("one line or more"));
}
