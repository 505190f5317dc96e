//! The commands `kulisch` and `linear-algebra`. How long anything takes is not tested.

mod common;

use common::{directory, fail, json, number, succeed, text};
use serde_json::Value;

const QUICK: [&str; 6] = ["kulisch", "bench", "--seconds", "0", "--largest", "1000"];

#[test]
fn every_reduction_is_measured_beside_a_plain_loop() {
    let rows = json(&[&QUICK[..], &["--json"]].concat());
    for reduction in [
        "sum",
        "dot",
        "directed-sum",
        "asum",
        "nrm2",
        "complex-dot",
        "mean",
        "variance",
        "prefix-sums",
        "gemv",
        "batched-gemv",
        "spmv",
        "stencil",
        "gemm",
        "sum-f32",
    ] {
        let of = |method: &str| {
            let found = |row: &&Value| row["reduction"] == reduction && row["method"] == method;
            let row = rows.iter().find(found);
            row.unwrap_or_else(|| panic!("{reduction} by {method} is missing"))
        };
        assert_eq!(number(of("kulisch"), "error"), 0.0, "{reduction}");
        assert_eq!(number(of("naive"), "ratio_to_naive"), 1.0);
        assert!(number(of("naive"), "ns_per_number") > 0.0);
        let of_kind = rows.iter().filter(|row| row["reduction"] == reduction);
        let hard = |row: &&Value| {
            row["data"]
                .as_str()
                .is_some_and(|data| data.contains("1e10"))
        };
        assert!(
            of_kind.filter(hard).count() >= 2,
            "{reduction} at condition 1e10"
        );
    }
    let exact =
        |row: &&Value| row["method"] == "accurate OnlineExactSum" && row["data"] != "all exponents";
    assert!(rows.iter().filter(exact).count() >= 4);
    assert!(
        rows.iter()
            .filter(exact)
            .all(|row| number(row, "error") == 0.0)
    );
}

#[test]
fn tables_and_records_say_the_same() {
    let path = directory("sums").join("record.json");
    let table = succeed(&[&QUICK[..], &["--only", "mean", "--record", text(&path)]].concat());
    // A head, three methods at four condition numbers, and who is missing.
    assert_eq!(table.lines().count(), 14, "{table}");
    assert!(table.contains("ReproBLAS"), "{table}");
    let record = std::fs::read_to_string(&path).expect("the record was written");
    let record: Value = serde_json::from_str(&record).expect("JSON");
    assert_eq!(record["results"].as_array().map(Vec::len), Some(12));
    let keys = [
        "date",
        "machine",
        "software",
        "instructions",
        "not_compared",
    ];
    for key in keys {
        assert!(!record[key].is_null(), "{key}");
    }
    assert!(fail(&[&QUICK[..], &["--only", "meal"]].concat()).contains("meal"));
}

/// Products by residues, small ones.
const RESIDUES: [&str; 11] = [
    "linear-algebra",
    "--seconds",
    "0",
    "--sizes",
    "32",
    "--moduli",
    "14,16",
    "--largest",
    "8192",
    "--side",
    "8",
];

#[test]
fn products_by_residues_keep_their_bounds_and_the_solver_its_bits() {
    let path = directory("linear-algebra").join("record.json");
    let record = ["--json", "--record", text(&path), "--threads", "1"];
    let rows = json(&[&RESIDUES[..], &record].concat());
    for operation in ["gemm", "gemv", "batched-gemv", "spmv"] {
        let of_kind = rows.iter().filter(|row| row["operation"] == operation);
        let (plain, residues): (Vec<_>, Vec<_>) = of_kind.partition(|row| row["moduli"].is_null());
        assert!(!plain.is_empty() && residues.len() >= 4, "{operation}");
        for row in residues {
            // The bound is that of scaling; one rounding of the result comes to it, or a few of phase B in f64.
            let bound = number(row, "bound") + 4.0 * f64::EPSILON;
            assert!(number(row, "error") <= bound, "{row}");
        }
    }
    let by_digits = rows.iter().filter(|row| {
        let method = row["method"].as_str().unwrap_or_default();
        method.starts_with("digits") && method.ends_with("all products")
    });
    // All bits of products by digits are those of products by residues, in every operation.
    let mut operations = Vec::new();
    for row in by_digits {
        match row["operation"] == "gemm" {
            true => assert_eq!(number(row, "equal_bits"), 1024.0),
            false => assert!(number(row, "equal_bits") >= 1.0, "{row}"),
        }
        assert!(number(row, "byte_products") > number(row, "moduli"));
        operations.push(row["operation"].clone());
    }
    operations.dedup();
    assert_eq!(operations, ["gemm", "gemv", "batched-gemv", "spmv"]);
    let solved = |rows: &[Value]| -> Vec<(Value, Value)> {
        let solved = rows.iter().filter(|row| row["operation"] == "solver");
        solved
            .map(|row| {
                assert_eq!(row["converged"], true, "{row}");
                (
                    row["history_digest"].clone(),
                    row["solution_digest"].clone(),
                )
            })
            .collect()
    };
    let written = std::fs::read_to_string(&path).expect("the record was written");
    let record: Value = serde_json::from_str(&written).expect("JSON");
    // By residues and by digits, with either number of moduli.
    assert_eq!(record["solver"].as_array().map(Vec::len), Some(4));
    // Exact dot products change the course of a solver by roundings alone.
    let conventional = &record["solver_in_doubles"][0];
    for dots in ["plain", "exact"] {
        let share = number(&conventional[dots], "share_of_dots");
        assert!(0.0 < share && share < 1.0, "{conventional}");
        let residual = number(&conventional[dots], "last_residual");
        assert!(residual < 1e-6, "{conventional}");
    }
    let threads = ["--json", "--only", "solver", "--threads", "3"];
    let again = json(&[&RESIDUES[..], &threads].concat());
    assert_eq!(solved(&rows), solved(&again));
}

#[test]
fn options_of_linear_algebra_that_do_not_fit_are_named() {
    for (wrong, what) in [
        (["--sizes", "100"], "multiples of 16"),
        (["--moduli", "19"], "2 to 18"),
        (["--only", "svd"], "svd"),
        (["--side", "1"], "--side 1"),
        (["--largest", "10"], "--largest 10"),
        (["--threads", "0"], "--threads 0"),
        (["--device", "auto"], "--device cuda"),
    ] {
        let message = fail(&[&["linear-algebra"][..], &wrong].concat());
        assert!(message.contains(what), "{message}");
    }
}
