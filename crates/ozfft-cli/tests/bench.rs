//! The commands `bench` and `plot`. How long anything takes is not tested.

mod common;

use common::{directory, fail, json, number, ozfft, succeed, text};
use serde_json::Value;

const KEYS: [&str; 13] = [
    "shape",
    "batch",
    "threads",
    "kind",
    "accuracy",
    "engine",
    "substrate",
    "median_ns",
    "min_ns",
    "runs",
    "ratio_to_fftw",
    "ratio_to_rustfft",
    "ns_per_point",
];

/// The measurements of `ozfft bench` with these arguments: one JSON object per line.
fn bench(arguments: &[&str]) -> Vec<Value> {
    let base = ["bench", "--seconds", "0.05", "--json"];
    let lines = json(&[&base[..], arguments].concat());
    assert!(lines.iter().all(Value::is_object), "{lines:?}");
    lines
}

fn find<'a>(records: &'a [Value], engine: &str, substrate: &str) -> Option<&'a Value> {
    let mut records = records.iter();
    records.find(|record| record["engine"] == engine && record["substrate"] == substrate)
}

#[test]
fn every_record_has_all_keys() {
    let records = bench(&["--shape", "64", "--batch", "4"]);
    for record in &records {
        for key in KEYS {
            assert!(record.get(key).is_some(), "{key} of {record}");
        }
        assert_eq!(record["shape"], "64");
        assert_eq!(record["kind"], "c2c");
        assert!(number(record, "runs") >= 5.0, "{record}");
        assert!(number(record, "min_ns") <= number(record, "median_ns"));
        assert!(number(record, "ratio_to_rustfft") > 0.0);
    }
    for (engine, substrate) in [
        ("digits", "scalar"),
        ("digits", "wide-integer"),
        ("rustfft", "fp64"),
    ] {
        assert!(find(&records, engine, substrate).is_some(), "{engine}");
    }
    // What a plan takes that asks for nothing is one of them, or two at once, and is marked.
    let automatic = records.iter().filter(|record| record["automatic"] == true);
    let automatic: Vec<&Value> = automatic.collect();
    let [automatic] = automatic[..] else {
        panic!("{} rows are marked: {automatic:?}", automatic.len());
    };
    assert_eq!(automatic["engine"], "digits");
    let plan = json(&["plan", "--shape", "64", "--batch", "4", "--json"]);
    assert_eq!(automatic["substrate"], plan[0]["substrate"], "{plan:?}");
    // Either all are compared with FFTW or it is not installed and none is.
    let fftw = find(&records, "fftw", "fp64").is_some();
    for record in &records {
        assert_eq!(record["ratio_to_fftw"].is_null(), !fftw, "{record}");
    }
}

#[test]
fn every_kind_and_rank_is_measured() {
    for options in [
        &["--shape", "30", "--batch", "3", "--kind", "r2c"][..],
        &[
            "--shape",
            "30",
            "--batch",
            "3",
            "--kind",
            "c2r",
            "--threads",
            "2",
        ],
        &["--shape", "30", "--batch", "5", "--threads", "2"],
        &["--shape", "4x6x5", "--kind", "r2c"],
        &["--shape", "4x6x5", "--batch", "2", "--kind", "c2r"],
        &["--shape", "8x8", "--accuracy", "single", "--threads", "2"],
        &["--shape", "30", "--batch", "6", "--interleaved"],
    ] {
        let records = bench(&[options, &["--substrates", "scalar"]].concat());
        assert!(find(&records, "digits", "scalar").is_some(), "{options:?}");
        assert!(records.iter().any(|record| record["engine"] == "rustfft"));
    }
}

#[test]
fn omissions_are_reported() {
    let output = ozfft(&["bench", "--shape", "8", "--seconds", "0", "--json"]);
    let notes = String::from_utf8(output.stderr).expect("text");
    let lines = std::str::from_utf8(&output.stdout).expect("text").lines();
    let records: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect();
    for (engine, name) in [("fftw", "FFTW"), ("mkl", "MKL")] {
        let measured = find(&records, engine, "fp64").is_some();
        assert_eq!(!measured, notes.contains(name), "{notes}");
    }
    let units = records.iter().filter(|record| record["engine"] == "digits");
    let left_out = notes.matches("note: substrate").count();
    // Every name that a wrong one is answered with.
    let message = fail(&["bench", "--shape", "8", "--substrates", "abacus"]);
    let known = message.split_once("some of").expect("names").1;
    let known = known.split_once("joined").expect("names").0;
    assert_eq!(units.count() + left_out, known.split(',').count());
}

#[test]
fn requests_that_cannot_be_measured_are_rejected() {
    let reject = |arguments: &[&str], what: &str| {
        let message = fail(&[&["bench"], arguments].concat());
        assert!(message.contains(what), "{message}");
    };
    reject(&[], "--shape");
    reject(&["--shape", "8x0"], "dimension 1");
    reject(&["--shape", "8", "--batch", "0"], "batch is 0");
    reject(&["--shape", "8", "--threads", "0"], "0 threads");
    reject(&["--shape", "8", "--seconds=-1"], "-1");
    reject(&["--shape", "8", "--mkl", "nowhere.so"], "nowhere.so");
    reject(&["--shape", "8", "--record", "x.json"], "--definitions");
    reject(
        &["--shape", "8", "--definitions", "x.json"],
        "--definitions",
    );
    reject(&["--definitions", "nowhere.json"], "nowhere.json");
    reject(&["--shape", "8x8", "--interleaved"], "along one axis");
    reject(
        &["--interleaved", "--definitions", "x.json"],
        "--definitions",
    );
}

#[test]
fn definitions_become_a_record_and_a_picture() {
    let directory = directory("bench");
    let definitions = directory.join("definitions.json");
    let entry = |name: &str, group: &str, shape: usize| {
        format!(
            r#"{{"name": "{name}", "group": "{group}", "shape": "{shape}", "batch": 2, "threads": 1,
                "kind": "c2c", "accuracy": "double", "substrates": "auto"}}"#
        )
    };
    let entries = [
        entry("short", "curve", 16),
        entry("long", "curve", 64),
        entry("aside", "other", 10),
    ];
    let content = format!(r#"{{"definitions": [{}]}}"#, entries.join(","));
    std::fs::write(&definitions, content).expect("a file can be written");
    let record = directory.join("record.json");
    let run = |options: &[&str]| {
        let base = [
            "bench",
            "--definitions",
            text(&definitions),
            "--seconds",
            "0",
        ];
        succeed(&[&base[..], options].concat())
    };
    let table = run(&["--record", text(&record), "--commit", "0123abc"]);
    assert!(
        table.contains("short") && table.contains("aside"),
        "{table}"
    );
    let written = std::fs::read_to_string(&record).expect("the record was written");
    let written: Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!(written["software"]["commit"], "0123abc");
    assert_eq!(
        written["definitions_sha256"].as_str().map(str::len),
        Some(64)
    );
    for key in ["date", "machine", "notices", "seconds_per_engine"] {
        assert!(!written[key].is_null(), "{key} of {written}");
    }
    let results = written["results"].as_array().expect("results");
    for name in ["short", "long", "aside"] {
        let digits = |result: &&Value| result["name"] == name && result["engine"] == "digits";
        assert_eq!(results.iter().filter(digits).count(), 1, "{name}");
    }
    assert!(!run(&["--only", "curve"]).contains("aside"));

    let picture = directory.join("curve.svg");
    succeed(&["plot", "--record", text(&record), "-o", text(&picture)]);
    let drawn = std::fs::read_to_string(&picture).expect("the picture was written");
    assert!(
        drawn.contains("<svg") && drawn.contains("RustFFT"),
        "{drawn}"
    );
    let message = fail(&[
        "plot",
        "--record",
        text(&record),
        "-o",
        text(&picture),
        "--group",
        "none",
    ]);
    assert!(message.contains("none"), "{message}");
    let message = fail(&["plot", "--record", text(&definitions), "-o", text(&picture)]);
    assert!(message.contains("not a record"), "{message}");
}

#[test]
fn steps_replace_the_planners_and_must_fit_the_length() {
    fn bench(steps: &str) -> Vec<&str> {
        let options = "bench --shape 64 --substrates scalar --seconds 0.01 --steps";
        options.split(' ').chain([steps]).collect()
    }
    assert!(succeed(&bench("8.8")).contains("digits"));
    for (steps, part) in [
        (
            "8.4",
            "--steps 8.4 has 32 points, and an axis 64; give steps whose product is 64",
        ),
        ("8,8", "joined by points"),
        ("8.127", "no step of 127 points"),
        // 2^64 points and more.
        ("64.64.64.64.64.64.64.64.64.64.64", "does not fit"),
    ] {
        let message = fail(&bench(steps));
        assert!(message.contains(part), "{steps}: {message}");
        assert!(!message.contains("entry"), "{steps}: {message}");
    }
    // Its former name.
    let former = bench("8.8").join(" ").replace("--steps", "--recipe");
    succeed(&former.split(' ').collect::<Vec<_>>());
}

/// The remedy named options that were not given, and not those that were.
#[test]
fn options_for_gpus_are_named_when_they_are_given_for_the_processor() {
    for option in [&["--integers-only"][..], &["--variants", "auto"]] {
        let message = fail(&[&["bench", "--shape", "64"][..], option].concat());
        let said = message.contains(option[0]) && !message.contains("--points");
        assert!(said, "{message}");
    }
    let message = fail(&["bench"]);
    assert!(
        message.contains("--shape") && message.contains("--definitions"),
        "{message}"
    );
}
