//! Verdicts on machines: the paper's own in mode printed, and what changes when counts are right.

use roofline::paths::{Substrate, Variant};
use roofline::{Machine, Mode, PathVerdict, Rate, Verdict, verdict::verdict};

fn of(name: &str, mode: Mode) -> Verdict {
    verdict(&Machine::named(name).unwrap(), mode, 1024, None).unwrap()
}

fn way(verdict: &Verdict, way: Variant) -> &PathVerdict {
    verdict.paths.iter().find(|path| path.way == way).unwrap()
}

#[test]
fn printed_verdicts_are_those_of_table_1() {
    for (name, best) in [
        ("h100", Variant::Native),
        ("b200", Variant::Native),
        ("b300", Variant::Kulisch32),
        ("b300-plus", Variant::Native),
        ("rubin", Variant::Native),
    ] {
        assert_eq!(of(name, Mode::Printed).best, Some(best), "{name}");
    }
    let b300 = of("b300", Mode::Printed);
    let native = way(&b300, Variant::Native);
    assert_eq!(
        (native.binding, native.at_memory_speed),
        (Some(Rate::Fp64), Some(false))
    );
    // 1.56 · 8 TB/s.
    assert!((native.turning_point.unwrap() - 12.48e12).abs() < 1.0);
    let kulisch = way(&b300, Variant::Kulisch32);
    assert_eq!(kulisch.binding, Some(Rate::Int32));
    assert!((kulisch.margin.unwrap() - 75.0 / 66.0).abs() < 1e-12);
    assert!(of("rubin", Mode::Printed).text.contains("within 3.8 %"));
    // The paper has no digits.
    assert!(b300.paths.iter().all(|path| path.way != Variant::Digits));
}

#[test]
fn corrected_counts_take_the_rescue_of_b300_away() {
    let b300 = of("b300", Mode::Corrected);
    let kulisch = way(&b300, Variant::Kulisch32);
    assert_eq!(kulisch.binding, Some(Rate::IntegerInstructions));
    assert!(kulisch.margin.unwrap() < 0.2);
    // Its INT8 units are a thirtieth of a B200's, so digits go to FP8.
    let digits = way(&b300, Variant::Digits);
    assert_eq!(digits.substrate, Some(Substrate::Fp8));
    assert_eq!(b300.best, Some(Variant::Digits));
    assert_eq!(
        way(&of("b200", Mode::Corrected), Variant::Digits).substrate,
        Some(Substrate::Int8)
    );
    assert!(b300.text.contains("no way runs"), "{}", b300.text);
}

#[test]
fn a_rate_at_the_turning_point_changes_the_verdict() {
    let mut machine = Machine::named("b300").unwrap();
    let needed = way(&of("b300", Mode::Corrected), Variant::Native)
        .turning_point
        .unwrap();
    for (factor, at_speed) in [(1.001, true), (0.999, false)] {
        machine.figures.get_mut(&Rate::Fp64).unwrap().value = needed * factor / 1e12;
        let verdict = verdict(&machine, Mode::Corrected, 1024, None).unwrap();
        assert_eq!(
            way(&verdict, Variant::Native).at_memory_speed,
            Some(at_speed)
        );
    }
}

#[test]
fn what_is_not_known_is_said() {
    let trainium = of("trainium1", Mode::Corrected);
    assert_eq!(
        (trainium.best, way(&trainium, Variant::Native).seconds),
        (None, None)
    );
    assert!(trainium.text.contains("too few figures"));
    let native = way(&trainium, Variant::Native);
    assert!(native.text.contains("not known") && native.not_known == [Rate::Fp64]);
    // A unit that is not there is no unknown.
    let a100 = of("a100", Mode::Corrected);
    assert!(way(&a100, Variant::Fp8Only).text.contains("has no FP8"));
}

#[test]
fn measured_verdicts_need_measurements() {
    let verdict_of = |name: &str| {
        let machine = Machine::named(name).unwrap();
        verdict(&machine, Mode::Measured, 1024, None)
    };
    let measured = verdict_of("h200-measured").unwrap();
    assert_eq!(measured.best, Some(Variant::Native));
    assert!(way(&measured, Variant::Digits).text.contains("41.8 ms"));
    assert!(verdict_of("h200").is_err());
    let mut other = Machine::named("h200-measured").unwrap();
    other.title = "another GPU, measured".into();
    let message = verdict(&other, Mode::Measured, 1024, None)
        .unwrap_err()
        .to_string();
    assert!(message.contains("--record"), "{message}");
}

#[test]
fn every_verdict_has_its_mode_and_its_assumptions() {
    for machine in Machine::all().unwrap() {
        for mode in [Mode::Printed, Mode::Corrected] {
            let verdict = verdict(&machine, mode, 512, None).unwrap();
            assert_eq!((verdict.mode, verdict.n), (mode, 512));
            assert!(!verdict.assumptions.is_empty() && !verdict.text.is_empty());
            for path in verdict.paths {
                let seconds = path.seconds.unwrap_or(f64::INFINITY);
                assert!(seconds >= verdict.roof, "{}: {}", machine.name, path.title);
            }
        }
    }
}
