//! A machine from a record of `ozfft probe`.

use crate::error::RooflineError;
use crate::machine::{Basis, Figure, Machine, Rate};
use serde::Deserialize;
use std::collections::BTreeMap;

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
pub fn is_record(text: &str) -> bool {
    let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
    value.is_some_and(|value| value.get("pipes").is_some() && value.get("bandwidths").is_some())
}

/// The machine that the record is of: the best that was measured of each unit.
pub fn machine(name: &str, text: &str) -> Result<Machine, RooflineError> {
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
