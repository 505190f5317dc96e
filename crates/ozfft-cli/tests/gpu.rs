//! The commands on GPUs: what they say where there is none, and options that they reject.

mod common;

use common::{directory, fail, json, number, ozfft, text, text_of};
use std::process::Command;

const DEFINITIONS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../benchmarks/definitions-cuda.json"
);

/// Every command that takes a GPU, small enough for machines that have one.
fn commands() -> Vec<Vec<&'static str>> {
    let definitions = ["--definitions", DEFINITIONS, "--only", "batched-256"];
    let bench = ["bench", "--device", "cuda", "--json", "--points", "65536"];
    vec![
        [&bench[..], &definitions[..]].concat(),
        [&bench[..], &["--shape", "64"][..]].concat(),
        vec!["selftest", "--device", "cuda", "--cases", "20", "--json"],
        vec!["accuracy", "--device", "cuda", "--shape", "60", "--json"],
        vec!["multiply", "--device", "cuda", "12", "34", "--json"],
        vec![
            "accuracy",
            "--device",
            "cuda",
            "--shape",
            "16x20x24",
            "--sampled",
            "100",
            "--json",
        ],
    ]
}

#[test]
fn a_missing_gpu_is_reported() {
    for arguments in commands() {
        let output = ozfft(&arguments);
        let message = text_of(&output.stderr);
        if output.status.success() {
            for line in text_of(&output.stdout).lines() {
                let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
                assert!(value.is_object(), "{arguments:?}: {line}");
            }
        } else {
            assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
            assert!(message.contains("error: "), "{arguments:?}: {message}");
            assert!(!message.contains("panicked"), "{arguments:?}: {message}");
        }
    }
}

/// Every kind of transform: on a machine with a GPU the parameters that were found are on disk afterwards, beside those of the runs
/// before; elsewhere it is said what is missing, and nothing is written.
#[test]
fn tune_keeps_what_it_finds_for_every_kind() {
    let cache = directory("tune-cache");
    let mut purposes: Vec<String> = Vec::new();
    for (kind, shape) in [
        ("c2c", "360"),
        ("r2c", "90"),
        ("c2r", "90"),
        ("c2c", "10000"),
    ] {
        let batch = ["--batch", "4", "--trials", "2", "--json"];
        let tune = ["tune", "--kind", kind, "--shape", shape];
        let output = Command::new(env!("CARGO_BIN_EXE_ozfft"))
            .args(tune.iter().chain(&batch))
            .env("OZFFT_CACHE", &cache)
            .output()
            .expect("the program starts");
        if !output.status.success() {
            let message = text_of(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{message}");
            assert!(
                message.contains("driver") || message.contains("device"),
                "{message}"
            );
            assert_eq!(std::fs::read_dir(&cache).expect("a folder").count(), 0);
            continue;
        }
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
        assert_eq!(
            (&report["kind"], &report["shape"]),
            (&kind.into(), &shape.into())
        );
        let kernels = report["kernels"].as_array().expect("a list");
        // Where the length has a kernel of Hopper's own there is nothing to choose.
        let named = kernels
            .iter()
            .map(|kernel| kernel["purpose"].as_str().expect("a purpose"));
        purposes.extend(named.map(String::from));
        let Some(file) = report["file"].as_str() else {
            continue;
        };
        let kept = std::fs::read_to_string(file).expect("a file");
        for purpose in &purposes {
            assert!(
                kept.contains(purpose.as_str()),
                "{purpose} is not in {kept}"
            );
        }
    }
}

#[test]
fn tune_says_that_the_processor_has_nothing_to_tune() {
    let message = fail(&["tune", "--shape", "64", "--device", "cpu"]);
    assert!(message.contains("take a device cuda"), "{message}");
    let message = fail(&["tune", "--shape", "64", "--kind", "c3c"]);
    assert!(
        message.contains("c2c") && message.contains("r2c"),
        "{message}"
    );
}

#[test]
fn devices_that_do_not_exist_are_rejected_and_leave_no_record() {
    let record = directory("bench-cuda").join("record.json");
    let bench = [
        "bench",
        "--device",
        "cuda:1000",
        "--shape",
        "64",
        "--record",
        text(&record),
    ];
    for arguments in [&bench[..], &["selftest", "--device", "cuda:1000"]] {
        let message = fail(arguments);
        assert!(message.contains("driver"), "{message}");
    }
    assert!(!record.exists());
}

#[test]
fn mistakes_are_reported_before_the_gpu_is_opened() {
    let reject = |arguments: &[&str], what: &str| {
        let message = fail(arguments);
        assert!(message.contains(what), "{message}");
    };
    let bench = |rest: &[&'static str]| [&["bench", "--device", "cuda"][..], rest].concat();
    reject(
        &bench(&["--shape", "8", "--kind", "c2r", "--interleaved"]),
        "--interleaved",
    );
    reject(&bench(&["--shape", "8", "--steps", "4.2"]), "--steps");
    reject(&bench(&["--shape", "8", "--only", "a"]), "--only");
    reject(&bench(&["--shape", "0"]), "dimension 0");
    reject(
        &bench(&["--definitions", DEFINITIONS, "--only", "sphere"]),
        "sphere",
    );
    reject(
        &bench(&[
            "--definitions",
            DEFINITIONS,
            "--record",
            "/nowhere/at/all.json",
        ]),
        "no directory",
    );
    reject(&["bench", "--shape", "8", "--device", "tpu"], "tpu");
    reject(&["bench", "--shape", "8", "--device", "auto"], "cuda");
    reject(
        &["bench", "--shape", "8", "--points", "64"],
        "--device cuda",
    );
    reject(&["selftest", "--device", "auto"], "cuda");
    reject(&["selftest", "--integers-only"], "--device cuda");
    reject(&["selftest", "--engine", "residues"], "--device cuda");
    reject(
        &["selftest", "--substrate", "fp8-mma-sync"],
        "--device cuda",
    );
    reject(
        &["bench", "--shape", "8", "--integers-only"],
        "--device cuda",
    );
    reject(&["accuracy", "--shape", "8", "--sampled", "0"], "--sampled");
    reject(
        &["accuracy", "--shape", "8", "--sampled", "4", "--real"],
        "--real",
    );
}

#[test]
fn integers_only_is_accepted_and_reported_where_it_changes_nothing() {
    let plan = ["plan", "--shape", "60", "--engine", "digits"];
    let asked = [&plan[..], &["--integers-only", "--json"]].concat();
    let plan = &json(&asked)[0];
    assert_eq!(plan["problem"]["integers_only"], true);
    assert_eq!(plan["integers_only"], false);
    let why = plan["why"].as_str().expect("a reason");
    assert!(why.contains("changes nothing on the processor"), "{why}");
    let accuracy = ["accuracy", "--shape", "60", "--json"];
    let asked = &json(&[&accuracy[..], &["--integers-only"]].concat())[0];
    assert_eq!(asked["integers_only"], false);
    assert_eq!(asked["sha256"], json(&accuracy)[0]["sha256"]);
}

#[test]
fn sampled_errors_are_those_of_the_whole() {
    for direction in [&[][..], &["--inverse"]] {
        let base = ["accuracy", "--shape", "24x30x32", "--seed", "7", "--json"];
        let whole = &json(&[&base[..], direction].concat())[0];
        let sampled = &json(&[&base[..], &["--sampled", "3000"], direction].concat())[0];
        let ratio = number(sampled, "l2") / number(whole, "l2");
        assert!((0.9..1.1).contains(&ratio), "{whole} {sampled}");
        // All outputs: not a sample at all, and the same input.
        let all = &json(&[&base[..], &["--sampled", "23040"], direction].concat())[0];
        assert_eq!(number(all, "outputs"), 23040.0);
        let ratio = number(all, "l2") / number(whole, "l2");
        assert!((ratio - 1.0).abs() < 1e-9, "{whole} {all}");
    }
}
