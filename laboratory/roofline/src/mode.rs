//! The three modes. A result is in one of them, says so, and never mixes them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Where constants and rates of a result come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The paper's formulas, constants and figures of machines, as they are printed.
    Printed,
    /// Moduli and slices that hold the integers, complex products counted, outputs as many as there are, operations as counted here, and
    /// integer rates in instructions.
    Corrected,
    /// Times and rates from records of this project.
    Measured,
}

impl Mode {
    /// All three.
    pub const ALL: [Mode; 3] = [Mode::Printed, Mode::Corrected, Mode::Measured];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Printed => "printed",
            Mode::Corrected => "corrected",
            Mode::Measured => "measured",
        }
    }
}

/// A mode of another name.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("no mode is called {0}: there are printed, corrected and measured")]
pub struct UnknownMode(pub String);

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Mode, UnknownMode> {
        let found = Mode::ALL.into_iter().find(|mode| mode.name() == name);
        found.ok_or_else(|| UnknownMode(name.into()))
    }
}
