//! Machines as data: rates, each with its unit and the document it comes from.
//!
//! A file has two sections. `printed` is what the paper says of the machine, and the only thing that mode *printed* uses if it is there;
//! `figures` is what public documents say, or what was measured. A figure that no source was found for is left out, and results that
//! need it say so.

use crate::error::RooflineError;
use crate::mode::Mode;
use crate::rate::Rate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

/// The name of the machine that was measured.
pub(crate) const MEASURED: &str = "h200-measured";

impl Machine {
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
                measured: MEASURED.into(),
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
