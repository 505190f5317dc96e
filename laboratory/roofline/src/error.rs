//! Everything that can be wrong with what the model is given, each with what would be right.

use crate::mode::{Mode, UnknownMode};
use crate::rate::Rate;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RooflineError {
    /// No machine of this name, and no file.
    #[error(
        "no machine is called {name}: known are {known}; a file of your own has to be named with its path, such as ./{name}.json"
    )]
    UnknownMachine {
        /// As asked for.
        name: String,
        /// All names, separated by commas.
        known: String,
    },
    /// Not JSON, a key that is not known, or one that is missing. The message of the parser names the key, the place and what it expects.
    #[error("{file}: {message}")]
    Json {
        /// The file, or the machine's name.
        file: String,
        /// What the parser says.
        message: String,
    },
    /// A rate that no machine can have.
    #[error(
        "{file}: {key} is {value}, and a rate is a finite number that is not negative (0: the machine has no such unit)"
    )]
    BadRate {
        /// The file.
        file: String,
        /// Which figure.
        key: Rate,
        /// Its value.
        value: f64,
    },
    /// A figure in a unit that does not measure it.
    #[error("{file}: {key} is given in {unit}; allowed are {allowed}")]
    WrongUnit {
        /// The file.
        file: String,
        /// Which figure.
        key: Rate,
        /// As written.
        unit: String,
        /// What would be right.
        allowed: String,
    },
    /// A figure without the document it comes from.
    #[error("{file}: {key} has an empty source; say which document, and where")]
    NoSource {
        /// The file.
        file: String,
        /// Which figure.
        key: Rate,
    },
    /// A machine that has no figure which a result needs.
    #[error(
        "{machine}: {key} is not known in mode {mode}; add it to \"{section}\" of a machine file with its source"
    )]
    NotKnown {
        /// The machine's name.
        machine: String,
        /// Which figure.
        key: Rate,
        /// In which mode.
        mode: Mode,
        /// Where it would be in a file.
        section: &'static str,
    },
    /// Measured results are asked for a machine that nobody measured.
    #[error(
        "{machine} was not measured: mode measured is there for {measured}, or for a record of `ozfft probe --record FILE` given as --machine FILE"
    )]
    NotMeasured {
        /// The machine's name.
        machine: String,
        /// Machines with measurements.
        measured: String,
    },
    /// A record that lacks what is needed.
    #[error("{file}: {key}: {reason}")]
    Record {
        /// The file.
        file: String,
        /// Which part of it.
        key: String,
        /// What is wrong.
        reason: String,
    },
    /// An axis that the model has no counts for.
    #[error("an axis of {0} points: the model needs 2 to 1048576")]
    Size(usize),
    /// A mode of another name.
    #[error(transparent)]
    UnknownMode(#[from] UnknownMode),
}
