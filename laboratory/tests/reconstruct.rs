//! The command `reconstruct`. How long anything takes is not tested.

mod common;

use common::{directory, fail, json, lab, number, succeed, text, text_of};
use serde_json::Value;

const METHODS: [&str; 15] = [
    "garner",
    "double",
    "sum2",
    "sum3",
    "double-single",
    "quad-single",
    "single-kahan",
    "kulisch32",
    "kulisch16",
    "kulisch8",
    "fp8-bands",
    "bins",
    "bernstein-double",
    "bernstein-single",
    "bernstein-kahan",
];
const QUICK: [&str; 3] = ["reconstruct", "--seconds", "0"];

fn of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["kind"] == kind).collect()
}

#[test]
fn every_method_is_exact_or_within_its_bound_on_every_substrate() {
    let lines = json(&[&QUICK[..], &["--r", "3,12", "--json"]].concat());
    let (measured, missing) = (of_kind(&lines, "measurement"), of_kind(&lines, "missing"));
    for substrate in ["int8", "fp8", "seven"] {
        for r in [3, 12] {
            for method in METHODS {
                let found = |line: &&&Value| {
                    line["substrate"] == substrate && line["r"] == r && line["method"] == method
                };
                let case = format!("{method} on {substrate} with {r}");
                let Some(row) = measured.iter().find(found) else {
                    let row = missing.iter().find(found);
                    let row = row.unwrap_or_else(|| panic!("{case} is neither there nor missed"));
                    assert!(!row["reason"].as_str().unwrap_or_default().is_empty());
                    continue;
                };
                let (error, bound) = (
                    number(row, "error_to_modulus"),
                    number(row, "bound_to_modulus"),
                );
                assert!(error <= bound, "{case}: {error} above {bound}");
                if row["proven_exact"] == true {
                    assert_eq!((error, number(row, "error")), (0.0, 0.0), "{case}");
                    assert_eq!(row["exact"], true, "{case}");
                }
                let words = ["reduction", "integer", "double", "single"];
                let counted: f64 = words
                    .map(|kind| number(&row["operations"], kind))
                    .iter()
                    .sum();
                assert!(counted > 0.0, "{case} counts nothing");
            }
        }
    }
    for exact in [
        "garner",
        "kulisch32",
        "kulisch16",
        "kulisch8",
        "fp8-bands",
        "bins",
    ] {
        let rows = measured.iter().filter(|row| row["method"] == exact);
        assert!(
            rows.clone().count() > 0 && rows.clone().all(|row| row["proven_exact"] == true),
            "{exact}"
        );
    }
}

#[test]
fn claims_are_judged_by_what_was_measured() {
    let lines = json(
        &[
            &QUICK[..],
            &["--r", "10,12,16", "--substrates", "seven,int8", "--json"],
        ]
        .concat(),
    );
    let claims = of_kind(&lines, "claim");
    assert!(claims.len() > 40);
    for claim in &claims {
        assert_ne!(claim["verdict"], "not-measured", "{claim}");
        let Some(ratio) = claim["ratio"].as_f64() else {
            continue;
        };
        let within = (0.5..=2.0).contains(&ratio);
        // A gain that is a loss differs, however small it is.
        let agrees = claim["verdict"] == "agrees";
        assert!(within || !agrees, "{claim}");
        assert!(
            agrees || !claim["comment"].as_str().unwrap_or_default().is_empty(),
            "{claim}"
        );
    }
    let words = of_kind(&lines, "words");
    assert_eq!(words.len(), 2 * 3 * 5);
    assert_eq!(of_kind(&lines, "prototype").len(), 3 * 6);
    let bands = of_kind(&lines, "bands");
    assert!(bands.iter().all(|row| number(row, "bands") >= 1.0) && bands.len() == 2 * 3 * 3);

    // Without the r that the paper prints figures for, there is nothing to compare.
    let lines = json(&[&QUICK[..], &["--r", "5", "--methods", "garner", "--json"]].concat());
    assert_eq!(of_kind(&lines, "measurement").len(), 3);
    let claims = of_kind(&lines, "claim");
    assert!(
        claims
            .iter()
            .any(|claim| claim["verdict"] == "not-measured")
    );
}

#[test]
fn the_same_seed_gives_the_same_errors() {
    let arguments = |seed| {
        [
            &QUICK[..],
            &[
                "--r",
                "10",
                "--size",
                "5",
                "--substrates",
                "int8",
                "--methods",
                "double",
                "--json",
                "--seed",
                seed,
            ],
        ]
        .concat()
    };
    let error = |seed| number(&json(&arguments(seed))[0], "result_error");
    assert_eq!(error("3"), error("3"));
    assert_ne!(error("3"), error("4"));
}

#[test]
fn tables_pictures_and_records_are_written() {
    let directory = directory("reconstruct");
    let [document, picture, record] =
        ["residues.md", "reconstruct.svg", "record.json"].map(|name| directory.join(name));
    let markers = [
        "<!-- made by ozfft-lab reconstruct: begin -->",
        "<!-- made by ozfft-lab reconstruct: end -->",
    ];
    std::fs::write(
        &document,
        format!("# Residues\n\n{}\nformerly\n{}\n", markers[0], markers[1]),
    )
    .expect("a file can be made");
    let files = [
        "--out",
        text(&document),
        "--svg",
        text(&picture),
        "--record",
        text(&record),
    ];
    let table = succeed(&[&QUICK[..], &["--r", "10", "--markdown"], &files].concat());
    for part in [
        "### Precision",
        "### Claim by claim",
        "| kulisch32 |",
        "Table 4",
    ] {
        assert!(table.contains(part), "{part} is missing");
    }
    let read = |path| std::fs::read_to_string(path).expect("the file was written");
    let written = read(&document);
    assert!(written.starts_with("# Residues\n") && written.contains("| kulisch32 |"));
    assert!(!written.contains("formerly"));
    let drawn = read(&picture);
    for part in ["<svg", "kulisch32", "garner", "integers of 32 bits"] {
        assert!(drawn.contains(part), "{part} is missing");
    }
    let record: Value = serde_json::from_str(&read(&record)).expect("JSON");
    for key in [
        "date",
        "machine",
        "software",
        "measurements",
        "claims",
        "words",
        "bands",
    ] {
        assert!(!record[key].is_null(), "{key}");
    }
    let unmarked = directory.join("unmarked.md");
    std::fs::write(&unmarked, "nothing\n").expect("a file can be made");
    let output = lab(&[
        &QUICK[..],
        &["--r", "2", "--markdown", "--out", text(&unmarked)],
    ]
    .concat());
    assert!(!output.status.success());
    assert!(text_of(&output.stderr).contains("unmarked.md"));
}

#[test]
fn what_cannot_be_done_is_named() {
    let message = |arguments: &[&str]| fail(&[&QUICK[..], arguments].concat());
    assert!(message(&["--r", "0"]).contains("--r 0"));
    assert!(message(&["--r", "40"]).contains("1 to 24"));
    assert!(message(&["--r", "12,40", "--substrates", "seven"]).contains("40"));
    assert!(message(&["--r", ""]).contains("--r"));
    assert!(message(&["--r", "twelve"]).contains("twelve"));
    let unknown = message(&["--methods", "garden"]);
    assert!(unknown.contains("garden") && unknown.contains("kulisch32"));
    assert!(message(&["--substrates", "int9"]).contains("int9"));
    assert!(message(&["--size", "0"]).contains("--size 0"));
    assert!(message(&["--size", "65"]).contains("64"));
    assert!(message(&["--r", "1", "--size", "64"]).contains("more moduli"));
    assert!(message(&["--seconds", "-1"]).contains("-1"));
}
