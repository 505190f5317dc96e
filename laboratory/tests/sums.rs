//! The command `kulisch`. How long anything takes is not tested.

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
