//! Machines from files: descriptions, and records of `ozfft probe`.

use crate::error::RooflineError;
use crate::machine::{Basis, Figure, MEASURED, Machine};
use crate::rate::Rate;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Machines that come with the crate, in the order of tables.
const FILES: [(&str, &str); 13] = [
    ("h100", include_str!("../machines/h100.json")),
    ("h200", include_str!("../machines/h200.json")),
    ("b200", include_str!("../machines/b200.json")),
    ("b300", include_str!("../machines/b300.json")),
    ("b300-plus", include_str!("../machines/b300-plus.json")),
    ("rubin", include_str!("../machines/rubin.json")),
    ("a100", include_str!("../machines/a100.json")),
    ("l40s", include_str!("../machines/l40s.json")),
    ("rtx-4090", include_str!("../machines/rtx-4090.json")),
    ("rtx-5090", include_str!("../machines/rtx-5090.json")),
    ("mi300x", include_str!("../machines/mi300x.json")),
    ("trainium1", include_str!("../machines/trainium1.json")),
    ("trainium2", include_str!("../machines/trainium2.json")),
];

/// The H200 as `ozfft probe` found it.
const RECORD: &str = include_str!("../../../benchmarks/records/2026-11-15-h200-probe.json");

impl Machine {
    /// All machines that come with the crate, measured ones last.
    pub fn all() -> Result<Vec<Machine>, RooflineError> {
        let files = FILES
            .iter()
            .map(|(name, text)| Machine::from_json(name, text));
        let measured = of_record(MEASURED, RECORD);
        files.chain([measured]).collect()
    }

    /// Their names.
    pub fn names() -> Vec<&'static str> {
        let names = FILES.iter().map(|(name, _)| *name);
        names.chain([MEASURED]).collect()
    }

    /// A machine that comes with the crate; upper and lower case do not matter, nor does `+` for `-plus`.
    ///
    /// ```
    /// use roofline::{Machine, Mode, Rate};
    ///
    /// let machine = Machine::named("b300").unwrap();
    /// assert_eq!(machine.rate(Mode::Printed, Rate::Fp64).unwrap(), 1.3e12);
    /// assert!(Machine::named("b3000").is_err());
    /// ```
    pub fn named(name: &str) -> Result<Machine, RooflineError> {
        let plain = name
            .to_lowercase()
            .replace('+', "-plus")
            .replace([' ', '_'], "-");
        let matches = |known: &str| known == plain || known.replace('-', "") == plain;
        if let Some((known, text)) = FILES.iter().find(|(known, _)| matches(known)) {
            return Machine::from_json(known, text);
        }
        if matches(MEASURED) {
            return of_record(MEASURED, RECORD);
        }
        Err(RooflineError::UnknownMachine {
            name: name.into(),
            known: Machine::names().join(", "),
        })
    }

    /// A machine from the text of a file: a description as in `machines/`, or a record of `ozfft probe`. The file's name is for messages.
    pub fn from_json(file: &str, text: &str) -> Result<Machine, RooflineError> {
        if is_record(text) {
            return of_record(file, text);
        }
        let machine: Machine = serde_json::from_str(text).map_err(|error| RooflineError::Json {
            file: file.into(),
            message: error.to_string(),
        })?;
        machine.checked(file)
    }
}

// Only what is needed: records may grow.
#[derive(Deserialize)]
struct Record {
    date: String,
    device: Device,
    bandwidths: Vec<Bandwidth>,
    pipes: Vec<Pipe>,
    tensor_units: Vec<Pipe>,
    #[serde(default)]
    exactness_limits: Vec<Limit>,
}

#[derive(Deserialize)]
struct Device {
    name: String,
}

#[derive(Deserialize)]
struct Bandwidth {
    name: String,
    terabytes_per_second: f64,
}

#[derive(Deserialize)]
struct Pipe {
    name: String,
    tera_operations_per_second: f64,
}

#[derive(Deserialize)]
struct Limit {
    instruction: String,
    exact_below_power_of_two: u32,
}

/// Whether a text is such a record rather than a description of a machine.
fn is_record(text: &str) -> bool {
    let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
    value.is_some_and(|value| value.get("pipes").is_some() && value.get("bandwidths").is_some())
}

/// The machine that the record is of: the best that was measured of each unit.
fn of_record(name: &str, text: &str) -> Result<Machine, RooflineError> {
    let record: Record = serde_json::from_str(text).map_err(|error| RooflineError::Json {
        file: name.into(),
        message: error.to_string(),
    })?;
    let pipe = |wanted: &str| {
        let found = record.pipes.iter().find(|pipe| pipe.name == wanted);
        found.map(|pipe| (pipe.tera_operations_per_second, pipe.name.clone()))
    };
    // `mma.sync` on E4M3 is compiled to FP16 products on Hopper, so only `wgmma` is the FP8 unit there.
    let best = |kind: &str, start: &str| {
        let units = record
            .tensor_units
            .iter()
            .filter(|unit| unit.name.starts_with(start) && unit.name.contains(kind));
        let rate = |unit: &Pipe| (unit.tera_operations_per_second, unit.name.clone());
        units.map(rate).max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let memory = record
        .bandwidths
        .iter()
        .map(|bandwidth| (bandwidth.terabytes_per_second, bandwidth.name.clone()))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let mut figures = BTreeMap::new();
    let mut add = |key: Rate, unit: &str, found: Option<(f64, String)>, times: f64| {
        if let Some((value, what)) = found {
            let figure = Figure {
                value: value * times,
                unit: unit.into(),
                source: format!(
                    "ozfft probe on {}, {}: {what}",
                    record.device.name, record.date
                ),
                derived: (times != 1.0).then(|| "a multiply-add is two operations".into()),
            };
            figures.insert(key, figure);
        }
    };
    add(Rate::Bandwidth, "TB/s", memory, 1.0);
    add(Rate::Fp64, "TFLOP/s", pipe("DFMA"), 2.0);
    add(Rate::Fp32, "TFLOP/s", pipe("FFMA"), 2.0);
    add(Rate::Int32, "TOP/s", pipe("IMAD (32 bits)"), 2.0);
    let mixed = pipe("IMAD and IADD3 in turn");
    add(Rate::IntegerInstructions, "T/s", mixed, 1.0);
    let fp8 = best("e4m3", "wgmma").or_else(|| best("e4m3", ""));
    add(Rate::Fp8, "TFLOP/s", fp8, 1.0);
    add(Rate::Int8, "TOP/s", best("s8", ""), 1.0);
    let limits = record.exactness_limits.iter().map(|limit| {
        format!(
            "Sums of {} are exact below 2^{}.",
            limit.instruction, limit.exact_below_power_of_two
        )
    });
    Machine {
        name: name.into(),
        title: format!("{}, measured", record.device.name),
        basis: Basis::Measured,
        printed: BTreeMap::new(),
        figures,
        notes: limits.collect(),
    }
    .checked(name)
}
