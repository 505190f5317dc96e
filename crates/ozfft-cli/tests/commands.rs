//! The commands other than `fft`.

mod common;

use common::{fail, json, number, succeed};
use sha2::Digest;

#[test]
fn plans_are_printed_as_text_and_json() {
    let text = succeed(&["plan", "--shape", "1024x1000", "--engine", "digits"]);
    for part in ["1024", "digits", "bound", "expected", "workspace", "why"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    // 1.68441e-15: what is printed as proven is not below the bound.
    let cube = succeed(&["plan", "--shape", "128x128x128", "--engine", "digits"]);
    assert!(
        cube.contains("bound 1.69e-15 (proven): no input has a larger"),
        "{cube}"
    );
    let several = [
        "plan",
        "--shape",
        "64",
        "--batch",
        "5",
        "--precision",
        "single",
    ];
    let several = succeed(&[&several[..], &["--threads", "1"]].concat());
    assert!(several.contains("batch 5"), "{several}");
    // Little more than the rounding of the result to 24 bits, 2^-24.
    assert!(several.contains("bound 5.97e-8 (proven)"), "{several}");
    assert!(fail(&["plan", "--shape", "64", "--batch", "0"]).contains('0'));
    let arguments = [
        "plan",
        "--shape",
        "1024",
        "--kind",
        "r2c",
        "--engine",
        "auto",
        "--reproducible",
        "--json",
    ];
    let plan = &json(&arguments)[0];
    assert_eq!(plan["engine"], "digits");
    assert_eq!(plan["kind"], "real-to-complex");
    assert_eq!(plan["recipe"]["digits"]["data"], 8);
    assert!(number(plan, "expected") < number(plan, "bound"));
    assert!(number(plan, "workspace_bytes") > 0.0);
    assert!(
        plan["why"]
            .as_str()
            .is_some_and(|why| why.contains("reproducible"))
    );
    let native = &json(&["plan", "--shape", "8", "--engine", "native", "--json"])[0];
    assert_eq!(native["bound_is_proven"], false);
    assert_eq!(native["accuracy_is_proven"], false);
    assert!(native["recipe"].is_null());
}

#[test]
fn plans_reject_what_cannot_be_planned() {
    let reject = |arguments: &[&str], what: &str| {
        let message = fail(arguments);
        assert!(message.contains(what), "{message}");
    };
    reject(&["plan", "--shape", "8x"], "8x");
    reject(&["plan", "--shape", "8x0"], "dimension 1");
    reject(&["plan", "--shape", "8", "--axes", "1"], "axis 1");
    reject(&["plan", "--shape", "8", "--accuracy", "2"], "accuracy 2");
    reject(
        &[
            "plan",
            "--shape",
            "8",
            "--engine",
            "digits",
            "--accuracy",
            "1e-18",
        ],
        "1e-18",
    );
    reject(&["plan", "--shape", "8", "--engine", "abacus"], "abacus");
    reject(
        &["plan", "--shape", "8", "--kind", "r2c", "--inverse"],
        "--inverse",
    );
}

#[test]
fn accuracy_has_all_keys_and_stays_below_the_bound() {
    let keys = [
        "shape",
        "engine",
        "substrate",
        "recipe",
        "recipe_steps",
        "l2",
        "linf",
        "l1",
        "bound",
        "expected",
        "native_l2",
        "native_linf",
        "sha256",
        "seed",
        "input",
        "accuracy",
        "oracle",
        "floor_l2",
    ];
    let base = [
        "accuracy", "--shape", "1000", "--shape", "12x10x9", "--json",
    ];
    for options in [
        &["--seed", "7"][..],
        &["--products", "exact", "--substrate", "wide-integer"],
        &["--inverse"],
        &["--real", "--norm", "ortho"],
        &["--real", "--inverse"],
        &["--range-bits", "40", "--accuracy", "bits:30"],
        &["--input", "chirp", "--threads", "3"],
    ] {
        let rows = json(&[&base[..], options].concat());
        assert_eq!(rows.len(), 2);
        for row in rows {
            for key in keys {
                assert!(!row[key].is_null(), "{key} of {row}");
            }
            assert!(number(&row, "l2") <= number(&row, "bound"), "{row}");
            assert!(number(&row, "native_l2") < 2e-15, "{row}");
            assert_eq!(row["oracle"], "full");
        }
    }
}

#[test]
fn attacks_reach_for_the_bound_and_stay_below_it() {
    let base = [
        "accuracy",
        "--attack",
        "--iterations",
        "10",
        "--json",
        "--shape",
        "60",
        "--shape",
        "6x16",
    ];
    for options in [
        &["--accuracy", "1e-3"][..],
        &["--accuracy", "1e-6", "--norm", "ortho", "--inverse"],
        &["--real", "--seed", "4"],
        &["--real", "--inverse", "--recipe", "exact"],
    ] {
        let rows = json(&[&base[..], options].concat());
        assert_eq!(rows.len(), 2);
        for row in rows {
            let ratio = number(&row, "ratio");
            assert!(ratio > 0.0 && ratio <= 1.0, "{row}");
            assert_eq!(row["within_bound"], true);
            assert!(number(&row, "error") <= number(&row, "bound"));
            assert!(number(&row, "transforms") > 10.0);
            assert!(row["input"].is_null());
            for key in [
                "attack",
                "seed",
                "recipe_steps",
                "norm",
                "accuracy",
                "expected",
            ] {
                assert!(!row[key].is_null(), "{key} of {row}");
            }
        }
    }
    let shown = json(&[&base[..], &["--show-input"]].concat());
    assert_eq!(shown[0]["input"].as_array().map(Vec::len), Some(60));
    assert_eq!(shown[1]["input"].as_array().map(Vec::len), Some(96));
    let table = succeed(&["accuracy", "--attack", "--iterations", "1", "--shape", "12"]);
    assert!(table.contains("error/bound"), "{table}");
    assert!(fail(&["accuracy", "--attack", "--shape", "1"]).contains("nothing to attack"));
    let native = ["accuracy", "--attack", "--shape", "8", "--engine", "native"];
    assert!(fail(&native).contains("digits"));
    assert!(fail(&["accuracy", "--shape", "8", "--show-input"]).contains("--attack"));
}

#[test]
fn accuracy_knows_every_input_and_rejects_others() {
    let rows = json(&["accuracy", "--shape", "60", "--input", "all", "--json"]);
    assert_eq!(rows.len(), 1 + ozfft_testkit::oracle::HardInput::ALL.len());
    let message = fail(&["accuracy", "--shape", "60", "--input", "noise"]);
    assert!(
        message.contains("noise") && message.contains("impulse-anywhere"),
        "{message}"
    );
}

#[test]
fn substrates_and_threads_give_one_digest() {
    let digest = |options: &[&str]| {
        let base = ["accuracy", "--shape", "36x35", "--json"];
        json(&[&base[..], options].concat())[0]["sha256"].clone()
    };
    let plain = digest(&[]);
    assert_eq!(plain, digest(&["--substrate", "wide-integer"]));
    assert_eq!(plain, digest(&["--threads", "3"]));
    assert_ne!(plain, digest(&["--seed", "2"]));
}

#[test]
fn the_demo_compares_both_engines() {
    let table = succeed(&["demo", "--size", "16"]);
    for part in ["16x16x16", "ozfft digits", "native (RustFFT)", "sha256"] {
        assert!(table.contains(part), "{part} is missing in {table}");
    }
    let report = &json(&["demo", "--size", "16", "--json"])[0];
    let (digits, native) = (&report["digits"], &report["native"]);
    assert!(number(digits, "l2") <= number(digits, "bound"));
    assert!(number(digits, "l2") < number(native, "l2"));
    assert!(table.contains(digits["sha256"].as_str().expect("a digest")));
    assert!(fail(&["demo", "--size", "0"]).contains('0'));
}

#[test]
fn the_selftest_passes_and_says_what_it_did() {
    let report = &json(&["selftest", "--cases", "150", "--seed", "3", "--json"])[0];
    assert_eq!(report["cases"], 150);
    assert_eq!(report["differing"], 0);
    assert_eq!(report["failing_identities"], 0);
    assert!(number(report, "identities") >= 15.0);
    assert_eq!(report["digests"].as_array().map(Vec::len), Some(8));
    assert_eq!(report["differing_digests"], 0);
    // Those of the engine ntt have been published, too.
    let ntt = succeed(&["selftest", "--engine", "ntt", "--cases", "1"]);
    assert!(ntt.contains("as published"), "{ntt}");
    assert_eq!(
        succeed(&["--version"]),
        concat!("ozfft ", env!("CARGO_PKG_VERSION"), "\n")
    );
    let one = succeed(&["selftest", "--case", "149", "--seed", "3"]);
    assert!(one.contains("1 random cases, 0 differing"), "{one}");
}

#[test]
fn modes_are_planned_by_name_and_choices_are_shown() {
    let named = &json(&["plan", "--shape", "256", "--mode", "ozaki_hq", "--json"])[0];
    assert_eq!(named["engine"], "ozaki_hq");
    assert_eq!(named["bound_is_proven"], true);
    let same = &json(&["plan", "--shape", "256", "--engine", "ozaki_hq", "--json"])[0];
    assert_eq!(same["bound"], named["bound"]);
    let arguments = "plan --shape 256 --accuracy 1e-5 --engine auto --json";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let chosen = &json(&arguments)[0];
    let weighed = chosen["choice"].as_array().expect("a table");
    let taken: Vec<_> = weighed
        .iter()
        .filter(|candidate| {
            candidate["verdict"]
                .as_str()
                .is_some_and(|v| v.starts_with("taken"))
        })
        .collect();
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0]["engine"], chosen["engine"]);
    assert!(number(chosen, "bound") <= 1e-5);
    let shown = succeed(&arguments[..arguments.len() - 1]);
    assert!(shown.contains("native") && shown.contains("nothing is proven of it"));
}

#[test]
fn modes_that_do_not_fit_are_rejected() {
    let plan = ["plan", "--shape", "8", "--mode"];
    for (arguments, word) in [
        (&["ozaki_uhq"][..], "ozaki_uhq"),
        (&["fast", "--engine", "digits"], "--engine"),
        (&["bf16", "--accuracy", "1e-9"], "bf16"),
    ] {
        let message = fail(&[&plan[..], arguments].concat());
        assert!(message.contains(word), "{arguments:?}: {message}");
    }
}

/// The help left out fp16 and fp16_ozaki.
#[test]
fn the_help_of_engine_names_every_mode() {
    let help = succeed(&["plan", "--help"]);
    for mode in ozfft::Mode::ALL {
        let named = help
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .any(|word| word == mode.to_string());
        assert!(named, "{mode} is missing in {help}");
    }
}

#[test]
fn products_are_exact_in_decimal_and_hexadecimal_from_arguments_and_files() {
    let folder = common::directory("multiply");
    assert_eq!(succeed(&["multiply", "12", "-34"]), "-408\n");
    assert_eq!(succeed(&["multiply", "-0", "5"]), "0\n");
    assert_eq!(succeed(&["multiply", "0xff", "0X10"]), "4080\n");
    // The document's example; a minus before 0x was taken for an option. Options are still known in any place.
    let example = ["multiply", "12345678901234567890", "-0xfedcba9876543210"];
    assert_eq!(
        succeed(&example),
        "-226725412089015281516672682031003840800\n"
    );
    for place in 1..=3 {
        let mut arguments = example.to_vec();
        arguments.insert(place, "--json");
        assert_eq!(number(&json(&arguments)[0], "digits"), 39.0);
    }
    assert!(fail(&["multiply", "1", "--jsn"]).contains("is not an integer"));
    // (10^n - 1)² = 99…9800…01: carries through everything.
    let nines = "9".repeat(20_000);
    let path = folder.join("nines.txt");
    std::fs::write(&path, format!("{nines}\n")).expect("a file");
    let file = format!("@{}", path.display());
    let expected = format!("{}8{}1", "9".repeat(19_999), "0".repeat(19_999));
    assert_eq!(succeed(&["multiply", &file, &file]).trim_end(), expected);
    let report = &json(&["multiply", &file, &nines, "--json"])[0];
    assert_eq!(number(report, "digits"), 40_000.0);
    let hash = sha2::Sha256::digest(expected.as_bytes());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(report["sha256"], hash.as_str());
    assert!(
        report["route"]
            .as_str()
            .is_some_and(|route| route.contains("3 primes"))
    );
    assert!(
        report["proof"]
            .as_str()
            .is_some_and(|proof| proof.contains("2^89"))
    );
    assert_eq!(report["device"], "cpu");
    // With a GPU and without: the same digits, and the report says where they come from.
    let auto = &json(&["multiply", &file, &file, "--device", "auto", "--json"])[0];
    assert_eq!(auto["sha256"], hash.as_str());
    let reason = auto["why"].as_str().expect("a reason");
    match auto["device"] == "cpu" {
        true => assert!(reason.starts_with("on the processor: "), "{reason}"),
        false => assert!(auto["on_device"]["kernel_seconds"].is_f64(), "{auto}"),
    }
    // 16^16000 = (2^512)^125, whose digits come from halves; here from products of decimal numbers.
    let hexadecimal = format!("0x1{}", "0".repeat(16_000));
    let times = |a: &str, b: &str| succeed(&["multiply", a, b]).trim_end().to_string();
    let fifth = |a: &str| {
        let square = times(a, a);
        times(&times(&square, &square), a)
    };
    let mut power = String::from("18446744073709551616");
    for _ in 0..3 {
        power = times(&power, &power);
    }
    for _ in 0..3 {
        power = fifth(&power);
    }
    assert_eq!(times(&hexadecimal, "1"), power);
    for (arguments, what) in [
        (["multiply", "12x", "3"], "'x' at position 2"),
        (["multiply", "", "3"], "no digit"),
        (["multiply", "1", "0xg"], "hexadecimal"),
        (["multiply", "@/nowhere/at/all", "3"], "cannot read"),
    ] {
        let message = fail(&arguments);
        assert!(message.contains(what), "{message}");
    }
}
