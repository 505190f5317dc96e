//! Machine files: what comes with the crate, and what is refused.

use roofline::{Basis, Machine, Mode, Rate, RooflineError};

const MINE: &str = r#"{
    "name": "mine", "title": "My machine", "basis": "specification",
    "figures": {
        "bandwidth": {"value": 1, "unit": "TB/s", "source": "its box"},
        "fp64": {"value": 500, "unit": "GFLOP/s", "source": "its box"}
    }
}"#;

#[test]
fn every_machine_has_a_bandwidth_and_every_figure_a_source() {
    let machines = Machine::all().unwrap();
    assert_eq!(machines.len(), Machine::names().len());
    for (machine, name) in machines.iter().zip(Machine::names()) {
        assert_eq!(machine.name, name);
        assert_eq!(machine.figures_of(Mode::Corrected), &machine.figures);
        assert!(machine.bandwidth(Mode::Corrected).unwrap() > 0.0, "{name}");
        for (rate, figure) in machine.printed.iter().chain(&machine.figures) {
            assert!(figure.source.len() > 8, "{name}, {rate}");
        }
        // A machine that is read, written and read again is the same.
        let text = serde_json::to_string(machine).unwrap();
        assert_eq!(&Machine::from_json(name, &text).unwrap(), machine);
    }
}

#[test]
fn names_may_be_written_as_people_write_them() {
    for (written, name) in [
        ("B300", "b300"),
        ("B300+", "b300-plus"),
        ("rtx 4090", "rtx-4090"),
        ("RTX4090", "rtx-4090"),
    ] {
        assert_eq!(Machine::named(written).unwrap().name, name);
    }
}

#[test]
fn a_file_of_ones_own_is_read() {
    let machine = Machine::from_json("mine.json", MINE).unwrap();
    assert_eq!(machine.rate(Mode::Corrected, Rate::Fp64), Ok(5e11));
    // The paper does not have it, so its formulas use the same figures.
    assert_eq!(machine.rate(Mode::Printed, Rate::Fp64), Ok(5e11));
}

#[test]
fn the_measured_machine_is_what_the_probe_found() {
    let machine = Machine::named("h200-measured").unwrap();
    assert_eq!(machine.basis, Basis::Measured);
    // From the record: 4.251 TB/s, DFMA 16.558, IMAD and IADD3 in turn 32.515, wgmma s8 1952.1 and e4m3 1869.5.
    for (rate, expected) in [
        (Rate::Bandwidth, 4.251e12),
        (Rate::Fp64, 33.116e12),
        (Rate::IntegerInstructions, 32.515e12),
        (Rate::Int8, 1952.1e12),
        (Rate::Fp8, 1869.5e12),
    ] {
        let found = machine.rate(Mode::Measured, rate).unwrap();
        assert!((found / expected - 1.0).abs() < 1e-9, "{rate}: {found}");
    }
    assert!(machine.notes.iter().any(|note| note.contains("2^14")));
}

#[test]
fn what_is_wrong_names_file_key_and_what_is_allowed() {
    for (from, to, parts) in [
        (
            "\"fp64\"",
            "\"fp46\"",
            &["mine.json", "fp46", "bandwidth", "fp64", "int8"][..],
        ),
        ("\"basis\"", "\"base\"", &["base", "basis", "figures"]),
        (
            ", \"source\": \"its box\"}\n",
            "}\n",
            &["missing field `source`"],
        ),
        (
            "\"value\": 500",
            "\"value\": -500",
            &["fp64", "-500", "not negative"],
        ),
        ("\"value\": 500", "\"value\": 1e999", &["mine.json"]),
        (
            "GFLOP/s",
            "GB/s",
            &["fp64", "GB/s", "TFLOP/s, PFLOP/s, GFLOP/s"],
        ),
        ("\"its box\"}\n", "\" \"}\n", &["fp64", "source"]),
        (
            "specification",
            "guess",
            &["guess", "specification", "measured"],
        ),
        ("{", "[", &["mine.json"]),
    ] {
        let message = Machine::from_json("mine.json", &MINE.replacen(from, to, 1));
        let message = message.expect_err(to).to_string();
        for part in parts {
            assert!(message.contains(part), "{part} is not in: {message}");
        }
    }
    let message = Machine::named("b3000").unwrap_err().to_string();
    for part in ["b3000", "b300-plus", "h200-measured", "./b3000.json"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn figures_that_are_missing_are_not_guessed() {
    let machine = Machine::named("trainium2").unwrap();
    assert_eq!(
        machine.rate(Mode::Corrected, Rate::Fp64),
        Err(RooflineError::NotKnown {
            machine: "trainium2".into(),
            key: Rate::Fp64,
            mode: Mode::Corrected,
            section: "figures",
        })
    );
    // Public figures do not leak into the paper's.
    let h100 = Machine::named("h100").unwrap();
    assert!(h100.rate(Mode::Corrected, Rate::Int8).is_ok());
    assert!(h100.rate(Mode::Printed, Rate::Int8).is_err());
    // Nor do specifications into measurements.
    let message = h100
        .rate(Mode::Measured, Rate::Fp64)
        .unwrap_err()
        .to_string();
    assert!(message.contains("h200-measured"), "{message}");
}
