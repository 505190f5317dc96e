//! The engine `residues` on the command line.

mod common;

use common::{fail, json, number};

#[test]
fn a_plan_says_how_many_moduli_it_has_and_what_is_wrong() {
    let plan = |more: &[&str]| {
        let given = ["plan", "--shape", "64", "--engine", "residues", "--json"];
        json(&[&given[..], more].concat())[0].clone()
    };
    let why = |more: &[&str]| plan(more)["why"].as_str().unwrap_or_default().to_string();
    assert!(
        why(&[]).contains("put together by kulisch32"),
        "{}",
        why(&[])
    );
    assert!(why(&["--redundancy", "2"]).contains("2 of them redundant"));
    assert!(why(&["--substrate", "fp8"]).contains("fp8 moduli"));
    assert_eq!(plan(&[])["engine"], "residues");
    let message = fail(&[
        "plan",
        "--shape",
        "64",
        "--engine",
        "residues",
        "--reconstruct",
        "abacus",
    ]);
    assert!(
        message.contains("abacus") && message.contains("garner"),
        "{message}"
    );
    let message = fail(&[
        "plan",
        "--shape",
        "64",
        "--engine",
        "digits",
        "--redundancy",
        "1",
    ]);
    assert!(message.contains("engine residues"), "{message}");
}

#[test]
fn errors_of_every_reconstruction_are_measured_beside_native() {
    let base = [
        "accuracy", "--shape", "64", "--engine", "residues", "--json",
    ];
    let exact = json(&["accuracy", "--shape", "64", "--recipe", "exact", "--json"]);
    for (options, same_bits) in [
        (&[][..], true),
        (&["--reconstruct", "garner"], true),
        (&["--reconstruct", "kulisch16"], true),
        (&["--reconstruct", "kulisch8"], true),
        (&["--reconstruct", "sum2"], false),
        (&["--substrate", "fp8"], true),
        (&["--substrate", "fp8", "--reconstruct", "fp8-bands"], true),
        (&["--redundancy", "2"], true),
        (&["--adaptive"], true),
        (
            &["--adaptive", "--native-fallback", "--accuracy", "1e-9"],
            false,
        ),
    ] {
        let row = &json(&[&base[..], options].concat())[0];
        assert_eq!(row["engine"], "residues", "{row}");
        assert!(
            number(row, "l2") <= number(row, "bound"),
            "{options:?}: {row}"
        );
        assert!(
            number(row, "native_l2") > 0.0 && number(row, "native_l2") < 2e-15,
            "{row}"
        );
        if same_bits {
            assert_eq!(row["sha256"], exact[0]["sha256"], "{options:?}");
        }
    }
    // Sampled and real ones as well.
    for options in [
        &["--sampled", "16"][..],
        &["--real"],
        &["--inverse", "--norm", "ortho"],
    ] {
        let all = [&base[..], &["--reconstruct", "garner"], options].concat();
        let row = &json(&all)[0];
        assert!(number(row, "l2") <= number(row, "bound"), "{row}");
    }
}
