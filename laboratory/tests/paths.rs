//! `ozfft-lab paths`, on machines with and without a GPU, and its record as pictures. How long anything takes is not tested.

mod common;

use common::{directory, fail, json, lab, number, succeed, text};
use serde_json::Value;
use std::path::PathBuf;

fn records() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("records")
}

/// Records of the program `ozfft`.
fn benchmarks() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../benchmarks/records")
}

fn record() -> PathBuf {
    records().join("2026-11-15-h200-paths.json")
}

#[test]
fn paths_are_checked_and_timed_or_the_missing_gpu_is_named() {
    let record = directory("paths").join("record.json");
    let shape = ["--shape", "1024x1024", "--seconds", "0.01", "--lines", "4"];
    let wanted = ["paths", "--json", "--model", "--record", text(&record)];
    let output = lab(&[&wanted, &shape[..]].concat());
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
fn no_lines_to_check_are_rejected() {
    let output = lab(&["paths", "--lines", "0"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("one line or more"));
}

#[test]
fn the_model_follows_from_a_record_without_a_gpu() {
    let probe = benchmarks().join("2026-11-15-h200-probe.json");
    let residues = records().join("2026-11-15-emerald-rapids-residues.json");
    let (record, out) = (record(), directory("paths-model").join("record.json"));
    let report = &json(&[
        "paths",
        "--from",
        text(&record),
        "--model",
        "--probe",
        text(&probe),
        "--residues",
        text(&residues),
        "--record",
        text(&out),
        "--json",
    ])[0];
    let delivered = &report["delivered"];
    assert_eq!(delivered["version"], 1);
    let constants = delivered["constants"].as_array().expect("constants");
    let constant = |name: &str| {
        let found = constants.iter().find(|constant| constant["name"] == name);
        found.unwrap_or_else(|| panic!("{name} is missing"))
    };
    // Figures of the record: 233.8207 - 186.3866 = 47.4341 ms over 12 · 2^30 outputs.
    let gamma = number(constant("gamma.residues-kulisch32"), "value");
    assert!((gamma - 3.6814).abs() < 1e-4, "{gamma}");
    assert_eq!(
        constant("gamma.residues-garner")["kernel"],
        "residues_garner"
    );
    assert_eq!(number(constant("adaptive.native.double"), "value"), 0.0);
    for constant in constants {
        for key in ["unit", "definition", "command"] {
            assert!(
                !constant[key].as_str().expect("words").is_empty(),
                "{constant}"
            );
        }
    }
    let missing = delivered["not_measured"].as_array().expect("a list");
    for name in ["beta.strided.16", "alpha.products"] {
        assert!(missing.iter().any(|missing| missing["name"] == name));
    }
    let narrow = number(constant("eta_ts.inner-11"), "value");
    assert!(narrow > 0.0 && narrow < 0.21, "{narrow}");
    // What was written can be read again, and is then shown as tables.
    let tables = succeed(&["paths", "--from", text(&out), "--model"]);
    assert!(tables.contains("alpha.counted") && tables.contains("not measured"));
}

#[test]
fn files_that_are_something_else_are_rejected_by_name() {
    let probe = benchmarks().join("2026-11-15-h200-probe.json");
    let message = fail(&["paths", "--from", text(&probe)]);
    assert!(
        message.contains("not a record of ozfft-lab paths"),
        "{message}"
    );
    let record = record();
    let from = ["paths", "--from", text(&record)];
    let message = fail(&[&from[..], &["--counters", text(&probe)]].concat());
    assert!(message.contains("Kernel Name"), "{message}");
    let message = fail(&[&from[..], &["--model", "--probe", text(&record)]].concat());
    assert!(message.contains("not a record of ozfft probe"), "{message}");
    let message = fail(&["paths", "--once", "--json"]);
    assert!(message.contains("--once"), "{message}");
}

#[test]
fn counters_stand_beside_the_kernels_that_they_were_counted_of() {
    let folder = directory("paths-counters");
    // A record says since when it has launches; this one is given some.
    let text_of = std::fs::read_to_string(record()).expect("a record");
    let mut report: Value = serde_json::from_str(&text_of).expect("JSON");
    for path in report["paths"].as_array_mut().expect("paths") {
        if let Some(kernel) = path["kernel"]["kernel"].as_str().map(String::from) {
            path["launches"] = serde_json::json!([{"kernel": kernel, "blocks": 262_144}]);
        }
    }
    let with_launches = folder.join("record.json");
    std::fs::write(&with_launches, report.to_string()).expect("a file");
    let counters = folder.join("counters.csv");
    let table = r#"==PROF== Connected
"ID","Kernel Name","Grid Size","sm__inst_executed.sum","sm__inst_executed_pipe_alu.sum","dram__bytes.sum"
"","","","inst","inst","byte"
"0","residues_kulisch32(Tasks)","(262144, 1, 1)","100,663,296,000","50,331,648,000","103,079,215,104"
"1","residues_without_reconstruction(Tasks)","(262144, 1, 1)","60,397,977,600","1","1"
"#;
    std::fs::write(&counters, table).expect("a file");
    let report = &json(&[
        "paths",
        "--from",
        text(&with_launches),
        "--counters",
        text(&counters),
        "--model",
        "--json",
    ])[0];
    let paths = report["paths"].as_array().expect("paths");
    let of = |name: &str| {
        let path = paths.iter().find(|path| path["name"] == name);
        &path.expect("a path")["counters"]
    };
    // 1e3 · 3 · 2^25 instructions of warps for 3 · 2^30 points.
    let counted = &of("residues-kulisch32")["counted"];
    assert_eq!(number(counted, "instructions_per_point"), 1000.0);
    assert_eq!(number(counted, "dram_bytes_per_point"), 32.0);
    assert_eq!(number(&counted["pipes_per_point"], "alu"), 500.0);
    let of_garner = &of("residues-garner")["machine_code"];
    let reason = of_garner["not_counted"].as_str().expect("a reason");
    assert!(number(of_garner, "instructions_per_point") > 1000.0);
    assert!(reason.contains("no launch of residues_garner"), "{reason}");
    let constants = report["delivered"]["constants"]
        .as_array()
        .expect("constants");
    let name = "gamma_instructions.residues-kulisch32";
    let gamma = constants.iter().find(|constant| constant["name"] == name);
    // 1000 - 600 over 4.
    assert_eq!(number(gamma.expect(name), "value"), 100.0);
}

#[test]
fn a_record_is_drawn_as_times_and_as_precision() {
    let folder = directory("paths-plot");
    let (picture, record) = (folder.join("paths.svg"), record());
    let plot = ["plot", "--record", text(&record), "-o", text(&picture)];
    succeed(&plot);
    let drawn = std::fs::read_to_string(&picture).expect("a picture");
    assert!(drawn.contains("residues-kulisch32") && drawn.contains("projected"));
    succeed(&[&plot[..], &["--precision"]].concat());
    let drawn = std::fs::read_to_string(&picture).expect("a picture");
    assert!(drawn.contains("bits that are right"));
    let bench = benchmarks().join("2026-11-15-h200.json");
    let message = fail(&["plot", "--record", text(&bench), "-o", text(&picture)]);
    assert!(message.contains("`ozfft plot`"), "{message}");
    let ladder = records().join("2026-11-16-h200-ladder.json");
    let ladder = ["plot", "--record", text(&ladder), "-o", text(&picture)];
    let message = fail(&[&ladder[..], &["--precision"]].concat());
    assert!(message.contains("--precision"), "{message}");
}
