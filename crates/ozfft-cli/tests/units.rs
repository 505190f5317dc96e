//! Which matrix unit is taken, on this machine and on machines that have less.

mod common;

use common::{ozfft_without, text_of};
use ozfft_testkit::{Requirement, available};

/// Units that a processor may have, the fastest first: the order in which `auto` looks for them.
const UNITS: [&str; 3] = ["amx", "avx512-vnni", "avx2"];

/// Steps of 32 points, for which tiles are taken where they are.
const PLAN: [&str; 6] = ["plan", "--shape", "1024", "--engine", "digits", "--json"];

/// The unit that runs when the named ones are left out.
fn chosen(without: &str) -> String {
    let output = ozfft_without(without, &PLAN);
    assert!(
        output.status.success(),
        "without {without:?}: {}",
        text_of(&output.stderr)
    );
    let plan: serde_json::Value =
        serde_json::from_str(text_of(&output.stdout)).expect("one JSON object");
    plan["substrate"].as_str().expect("a name").to_owned()
}

/// Whether a unit can be asked for by name when others are left out; otherwise the message.
fn forced(unit: &str, without: &str) -> Result<(), String> {
    let output = ozfft_without(without, &[&PLAN[..], &["--substrate", unit]].concat());
    if output.status.success() {
        return Ok(());
    }
    assert!(output.stdout.is_empty(), "{unit} failed but wrote a plan");
    Err(text_of(&output.stderr).to_owned())
}

fn requirement(unit: &str) -> Requirement {
    match unit {
        "amx" => Requirement::Amx,
        "avx512-vnni" => Requirement::Vnni,
        _ => Requirement::Avx2,
    }
}

/// What this machine has, by asking for it; the rest is said.
fn present() -> Vec<&'static str> {
    let mut units = UNITS.to_vec();
    units.retain(|unit| match forced(unit, "") {
        Ok(()) => true,
        Err(message) => available::<(), _>(requirement(unit), Err(message)).is_some(),
    });
    units
}

/// The first of the units that are here and not left out.
fn expected(present: &[&str], without: &[&str]) -> String {
    let best = present.iter().find(|unit| !without.contains(unit));
    (*best.unwrap_or(&"scalar")).to_owned()
}

#[test]
fn the_next_best_unit_is_named_when_some_are_left_out() {
    let present = present();
    // Every selection of units, so the three that remove one after the other as well.
    for selection in 0..1 << UNITS.len() {
        let without: Vec<&str> = (0..UNITS.len())
            .filter(|unit| selection >> unit & 1 == 1)
            .map(|unit| UNITS[unit])
            .collect();
        let names = without.join(",");
        assert_eq!(
            chosen(&names),
            expected(&present, &without),
            "without {names:?}"
        );
    }
    assert_eq!(chosen("amx,avx512-vnni,avx2"), "scalar");
    if present == UNITS {
        assert_eq!(chosen(""), "amx");
        assert_eq!(chosen("amx"), "avx512-vnni");
        assert_eq!(chosen("amx,avx512-vnni"), "avx2");
    } else {
        println!("the chain of all three units is shorter here: this machine has {present:?}");
    }
}

#[test]
fn the_plan_says_what_was_left_out() {
    let why = |without: &str| {
        let output = ozfft_without(without, &PLAN);
        let plan: serde_json::Value =
            serde_json::from_str(text_of(&output.stdout)).expect("one JSON object");
        plan["why"].as_str().expect("a reason").to_owned()
    };
    assert!(why("amx").contains("OZFFT_WITHOUT leaves out amx"));
    assert!(why("amx,avx2,scalar").ends_with("OZFFT_WITHOUT leaves out amx, avx2"));
    for nothing in ["", ",", "scalar"] {
        assert!(!why(nothing).contains("OZFFT_WITHOUT"), "{nothing:?}");
    }
}

#[test]
fn names_may_have_spaces_around_them() {
    let left = expected(&present(), &["amx", "avx2"]);
    assert_eq!(chosen(" amx , avx2,"), left);
}

/// Such names were ignored: a plan without "avx512" said that it was left out, and ran on AMX.
#[test]
fn names_that_are_no_unit_are_rejected_with_those_that_are() {
    for (without, name) in [
        ("avx512", "avx512"),
        ("AMX", "AMX"),
        ("amx avx2", "amx avx2"),
        ("amx,abacus", "abacus"),
        // The floats engine is not ruled by it.
        ("amx-bf16", "amx-bf16"),
    ] {
        for unit in ["auto", "scalar"] {
            let message = forced(unit, without).expect_err(without);
            for part in [
                "OZFFT_WITHOUT",
                &format!("{name:?}"),
                "amx, avx512-vnni, avx2",
            ] {
                assert!(message.contains(part), "{part} is missing in {message}");
            }
        }
    }
}

#[test]
fn a_unit_that_is_left_out_cannot_be_forced() {
    for (unit, what) in UNITS.into_iter().zip(["AMX", "AVX-512 VNNI", "AVX2"]) {
        let message = forced(unit, unit).expect_err("it is left out");
        for part in [what, "OZFFT_WITHOUT", "scalar"] {
            assert!(message.contains(part), "{part} is missing in {message}");
        }
    }
    // The portable ones are always there.
    for unit in ["scalar", "wide-integer"] {
        assert_eq!(forced(unit, "scalar,wide-integer"), Ok(()));
    }
}

#[test]
fn leaving_one_unit_out_does_not_touch_the_others() {
    for unit in present() {
        for other in UNITS.into_iter().filter(|other| *other != unit) {
            assert_eq!(forced(unit, other), Ok(()), "{unit} without {other}");
        }
    }
}
