//! The command `residues`. How long anything takes is not tested.

mod common;

use common::{json, number};
use serde_json::Value;

fn rows<'a>(record: &'a Value, name: &str) -> &'a [Value] {
    record[name].as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn every_method_keeps_its_bound_and_exact_ones_the_bits() {
    let record = &json(&["residues", "--length", "64", "--lines", "2", "--json"])[0];
    let costs = rows(record, "costs");
    for method in [
        "kulisch32",
        "garner",
        "bins",
        "kulisch16",
        "kulisch8",
        "fp8-bands",
    ] {
        let found: Vec<&Value> = costs
            .iter()
            .filter(|row| row["reconstruction"] == method)
            .collect();
        assert!(!found.is_empty(), "{method} is missing");
        for row in found {
            assert_eq!(row["same_bits_as_exact_digits"], true, "{row}");
        }
    }
    for row in costs {
        assert!(number(row, "l2") <= number(row, "bound"), "{row}");
    }
    let adaptive = rows(record, "adaptive");
    assert_eq!(adaptive.len(), 8 * 5);
    for row in adaptive {
        assert!(number(row, "largest_l2") <= number(row, "bound"), "{row}");
    }
    let mean = |input: &str, accuracy: &str| {
        let of = |row: &&Value| row["input"] == input && row["accuracy"] == accuracy;
        adaptive
            .iter()
            .find(of)
            .map(|row| number(row, "mean_moduli"))
    };
    assert!(mean("samples of 16 bits", "double") < mean("white noise", "double"));
    assert!(mean("white noise", "1e-6") < mean("white noise", "1e-12"));
}
