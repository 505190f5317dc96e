//! Machines as data: rates, each with its unit and the document it comes from.
//!
//! A file has two sections. `printed` is what the paper says of the machine, and the only thing that mode *printed* uses if it is there;
//! `figures` is what public documents say, or what was measured. A figure that no source was found for is left out, and results that
//! need it say so.

use crate::error::RooflineError;
use crate::mode::Mode;
use crate::probe;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What can be known of a machine: bytes and operations a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// Bytes of main memory, read and written together.
    Bandwidth,
    /// Operations in double precision on vector units; a multiply-add is two.
    Fp64,
    /// The same in single precision.
    Fp32,
    /// Operations on 32-bit integers as vendors and the paper count them.
    Int32,
    /// Instructions on 32-bit integers, a multiply-add being one: what code is counted in.
    IntegerInstructions,
    /// Operations of the matrix unit for FP8, dense; a multiply-add is two.
    Fp8,
    /// The same for 8-bit integers.
    Int8,
}

impl Rate {
    /// All of them.
    pub const ALL: [Rate; 7] = [
        Rate::Bandwidth,
        Rate::Fp64,
        Rate::Fp32,
        Rate::Int32,
        Rate::IntegerInstructions,
        Rate::Fp8,
        Rate::Int8,
    ];

    /// Its key in a file.
    pub fn key(self) -> &'static str {
        match self {
            Rate::Bandwidth => "bandwidth",
            Rate::Fp64 => "fp64",
            Rate::Fp32 => "fp32",
            Rate::Int32 => "int32",
            Rate::IntegerInstructions => "integer_instructions",
            Rate::Fp8 => "fp8",
            Rate::Int8 => "int8",
        }
    }

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Rate::Bandwidth => "memory",
            Rate::Fp64 => "FP64 vector units",
            Rate::Fp32 => "FP32 vector units",
            Rate::Int32 => "INT32 vector units",
            Rate::IntegerInstructions => "integer instructions",
            Rate::Fp8 => "FP8 matrix units",
            Rate::Int8 => "INT8 matrix units",
        }
    }

    /// Units that a file may use, with what they are in bytes, operations or instructions a second.
    pub fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Rate::Bandwidth => &[
                ("TB/s", 1e12),
                ("GB/s", 1e9),
                ("GiB/s", (1u64 << 30) as f64),
            ],
            Rate::Fp64 | Rate::Fp32 | Rate::Fp8 => {
                &[("TFLOP/s", 1e12), ("PFLOP/s", 1e15), ("GFLOP/s", 1e9)]
            }
            Rate::Int32 | Rate::Int8 => &[("TOP/s", 1e12), ("POP/s", 1e15), ("GOP/s", 1e9)],
            Rate::IntegerInstructions => &[("T/s", 1e12), ("G/s", 1e9)],
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.key())
    }
}

/// One figure of a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// As printed.
    pub value: f64,
    /// What it is printed in.
    pub unit: String,
    /// Document and place.
    pub source: String,
    /// How the value follows from the source, where it is not printed there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derived: Option<String>,
}

/// What is known of a machine, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Documents.
    Specification,
    /// It does not exist.
    Hypothetical,
    /// A record.
    Measured,
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What it is called on the command line.
    pub name: String,
    /// For people.
    pub title: String,
    /// Documents or measurements.
    pub basis: Basis,
    /// What the paper says of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub printed: BTreeMap<Rate, Figure>,
    /// What documents or measurements say.
    pub figures: BTreeMap<Rate, Figure>,
    /// What is to be known besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

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
const MEASURED: (&str, &str) = (
    "h200-measured",
    include_str!("../../../benchmarks/records/2026-11-15-h200-probe.json"),
);

impl Machine {
    /// All machines that come with the crate, measured ones last.
    pub fn all() -> Result<Vec<Machine>, RooflineError> {
        let files = FILES
            .iter()
            .map(|(name, text)| Machine::from_json(name, text));
        let measured = probe::machine(MEASURED.0, MEASURED.1);
        files.chain([measured]).collect()
    }

    /// Their names.
    pub fn names() -> Vec<&'static str> {
        let names = FILES.iter().map(|(name, _)| *name);
        names.chain([MEASURED.0]).collect()
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
        if matches(MEASURED.0) {
            return probe::machine(MEASURED.0, MEASURED.1);
        }
        Err(RooflineError::UnknownMachine {
            name: name.into(),
            known: Machine::names().join(", "),
        })
    }

    /// A machine from the text of a file: a description as in `machines/`, or a record of `ozfft probe`. The file's name is for messages.
    pub fn from_json(file: &str, text: &str) -> Result<Machine, RooflineError> {
        if probe::is_record(text) {
            return probe::machine(file, text);
        }
        let machine: Machine = serde_json::from_str(text).map_err(|error| RooflineError::Json {
            file: file.into(),
            message: error.to_string(),
        })?;
        machine.checked(file)
    }

    /// Refuses what cannot be.
    pub(crate) fn checked(self, file: &str) -> Result<Machine, RooflineError> {
        for (&key, figure) in self.printed.iter().chain(&self.figures) {
            if !figure.value.is_finite() || figure.value < 0.0 {
                return Err(RooflineError::BadRate {
                    file: file.into(),
                    key,
                    value: figure.value,
                });
            }
            if !key.units().iter().any(|(unit, _)| *unit == figure.unit) {
                let allowed: Vec<&str> = key.units().iter().map(|(unit, _)| *unit).collect();
                return Err(RooflineError::WrongUnit {
                    file: file.into(),
                    key,
                    unit: figure.unit.clone(),
                    allowed: allowed.join(", "),
                });
            }
            if figure.source.trim().is_empty() {
                return Err(RooflineError::NoSource {
                    file: file.into(),
                    key,
                });
            }
        }
        Ok(self)
    }

    /// The figures that a mode uses.
    pub fn figures_of(&self, mode: Mode) -> &BTreeMap<Rate, Figure> {
        match mode {
            Mode::Printed if !self.printed.is_empty() => &self.printed,
            _ => &self.figures,
        }
    }

    /// Whether the paper has this machine, so that mode *printed* is the paper's in rates as well.
    pub fn is_in_the_paper(&self) -> bool {
        !self.printed.is_empty()
    }

    /// Bytes, operations or instructions a second; 0 for a unit that the machine does not have.
    pub fn rate(&self, mode: Mode, key: Rate) -> Result<f64, RooflineError> {
        if mode == Mode::Measured && self.basis != Basis::Measured {
            return Err(RooflineError::NotMeasured {
                machine: self.name.clone(),
                measured: MEASURED.0.into(),
            });
        }
        let figure = self.figures_of(mode).get(&key);
        figure
            .and_then(Figure::rate_of(key))
            .ok_or_else(|| RooflineError::NotKnown {
                machine: self.name.clone(),
                key,
                mode,
                section: if mode == Mode::Printed && self.is_in_the_paper() {
                    "printed"
                } else {
                    "figures"
                },
            })
    }

    /// Bytes of memory a second, without which there is no roof.
    pub fn bandwidth(&self, mode: Mode) -> Result<f64, RooflineError> {
        self.rate(mode, Rate::Bandwidth)
    }
}

impl Figure {
    fn rate_of(key: Rate) -> impl Fn(&Figure) -> Option<f64> {
        move |figure| {
            let unit = key.units().iter().find(|(unit, _)| *unit == figure.unit);
            unit.map(|(_, size)| figure.value * size)
        }
    }
}
