//! The section `delivered` of a record of `ozfft-lab paths`: the constants of the cost model as they were measured, for whoever turns them
//! into projections. Nothing in it is projected. laboratory/docs/paths.md has the names.

use serde::{Deserialize, Serialize};

/// Goes up when the meaning of something changes; new names alone do not raise it.
pub const VERSION: u32 = 1;

/// Everything that was measured of the model, and what was not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Delivered {
    pub version: u32,
    pub constants: Vec<Constant>,
    pub not_measured: Vec<NotMeasured>,
}

/// One constant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Constant {
    /// Which one, in parts that dots separate: `gamma.residues-kulisch32`.
    pub name: String,
    pub value: f64,
    pub unit: String,
    /// What it is made of.
    pub definition: String,
    /// The command, or the file that was read.
    pub command: String,
    /// The kernel that ran, where it is one.
    pub kernel: Option<String>,
    /// The least and the most that runs, launches or inputs gave; nothing where there was one alone.
    pub range: Option<[f64; 2]>,
}

/// A constant that is missing, and what would measure it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotMeasured {
    pub name: String,
    pub reason: String,
}

impl Delivered {
    pub fn new() -> Delivered {
        Delivered {
            version: VERSION,
            constants: Vec::new(),
            not_measured: Vec::new(),
        }
    }

    pub fn miss(&mut self, name: impl Into<String>, reason: impl Into<String>) {
        self.not_measured.push(NotMeasured {
            name: name.into(),
            reason: reason.into(),
        });
    }

    #[cfg(test)]
    pub fn value(&self, name: &str) -> Option<f64> {
        let mut named = self.constants.iter().filter(|c| c.name == name);
        named.next().map(|constant| constant.value)
    }
}
