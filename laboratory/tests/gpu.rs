//! The commands on GPUs: what they say where there is none, and options that they reject.

mod common;

use common::{fail, json, lab, number, text_of};

/// Exact reductions, small enough for machines that have a GPU: one JSON object per line.
const REDUCTIONS: [&str; 9] = [
    "kulisch",
    "bench",
    "--device",
    "cuda",
    "--largest",
    "65536",
    "--seconds",
    "0",
    "--json",
];

#[test]
fn exact_reductions_say_what_they_found_or_that_there_is_no_gpu() {
    let output = lab(&REDUCTIONS);
    let message = text_of(&output.stderr);
    if !output.status.success() {
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.starts_with("error: "), "{message}");
        assert!(message.contains("driver"), "{message}");
        assert!(output.stdout.is_empty());
        return;
    }
    let rows = json(&REDUCTIONS);
    for reduction in ["sum", "asum", "dot", "spmv", "batched-gemv", "stencil"] {
        for method in ["kulisch", "naive", "read"] {
            let found =
                |row: &&serde_json::Value| row["reduction"] == reduction && row["method"] == method;
            let row = rows.iter().find(found);
            let row = row.unwrap_or_else(|| panic!("{reduction} by {method} is missing"));
            assert!(number(row, "terabytes_per_second") > 0.0);
            if method == "kulisch" {
                assert_eq!(number(row, "error"), 0.0);
                assert_eq!(number(row, "local_bytes"), 0.0);
            }
        }
    }
    let verdicts = rows.iter().filter(|row| row["algorithm"].is_string());
    assert_eq!(verdicts.count(), 6);
}

#[test]
fn mistakes_are_reported_before_the_gpu_is_opened() {
    let reject = |arguments: &[&str], what: &str| {
        let message = fail(arguments);
        assert!(message.contains(what), "{message}");
    };
    reject(&["kulisch", "bench", "--device", "auto"], "cuda");
    reject(
        &["kulisch", "bench", "--device", "cuda", "--only", "gemm"],
        "spmv",
    );
    reject(
        &["kulisch", "bench", "--device", "cuda", "--largest", "10"],
        "--largest 10",
    );
}

/// Products by residues, small enough for machines that have a GPU.
const PRODUCTS: [&str; 10] = [
    "linear-algebra",
    "--device",
    "cuda",
    "--sizes",
    "256",
    "--largest",
    "65536",
    "--side",
    "12",
    "--json",
];

#[test]
fn products_by_residues_have_the_processor_s_bits_or_there_is_no_gpu() {
    let arguments = [&PRODUCTS[..], &["--seconds", "0"]].concat();
    let output = lab(&arguments);
    let message = text_of(&output.stderr);
    if !output.status.success() {
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("driver"), "{message}");
        assert!(output.stdout.is_empty());
        return;
    }
    let rows = json(&arguments);
    for operation in ["gemv", "batched-gemv", "spmv", "solver"] {
        let found = |row: &&serde_json::Value| row["operation"] == operation && row["moduli"] == 16;
        let row = rows.iter().find(found);
        let row = row.unwrap_or_else(|| panic!("{operation} is missing"));
        assert!(number(row, "equal_bits") > 0.0, "{row}");
    }
}
