//! Modes and units by their names.

use crate::{FloatError, Mode, Unit};
use std::str::FromStr;

impl FromStr for Mode {
    type Err = FloatError;

    fn from_str(name: &str) -> Result<Mode, FloatError> {
        let found = Mode::ALL.into_iter().find(|mode| mode.name() == name);
        found.ok_or_else(|| FloatError::UnknownMode {
            name: name.to_string(),
        })
    }
}

impl FromStr for Unit {
    type Err = FloatError;

    fn from_str(name: &str) -> Result<Unit, FloatError> {
        let found = Unit::ALL.into_iter().find(|unit| unit.name() == name);
        found.ok_or_else(|| FloatError::UnknownUnit {
            name: name.to_string(),
        })
    }
}
