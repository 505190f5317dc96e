//! What `ozfft-lab paths` measured: times of paths, and the constants of the model that follow from them.
//!
//! Newer records bring their constants in a section `delivered`; for older ones what can be had from times alone is worked out here, and the
//! rest is named as not measured.

use crate::error::RooflineError;
use crate::machine::Machine;
use crate::mode::Mode;
use crate::paths::{self, Path, Substrate, Variant};
use serde::{Deserialize, Serialize};

/// The record that comes with the crate.
const EMBEDDED: (&str, &str) = (
    "2026-11-15-h200-paths.json",
    include_str!("../../records/2026-11-15-h200-paths.json"),
);
/// Exact sums on the same GPU.
const KULISCH: (&str, &str) = (
    "2026-11-15-h200-kulisch.json",
    include_str!("../../records/2026-11-15-h200-kulisch.json"),
);
/// The version of `delivered` that is understood.
const VERSION: u32 = 1;
/// Integers that are reconstructed for each point of a cube.
const OUTPUTS_PER_POINT: f64 = 12.0;

/// A measured path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredPath {
    /// As the record names it.
    pub name: String,
    /// What the paper calls it; empty if it has no such path.
    pub paper: String,
    /// Median time; none if it did not run.
    pub seconds: Option<f64>,
    /// Why it did not.
    pub missing: Option<String>,
    /// Relative error of its results.
    pub l2: Option<f64>,
}

/// One constant of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Constant {
    /// Which one, in parts that dots separate: `gamma.residues-kulisch32`.
    pub name: String,
    /// In its unit.
    pub value: f64,
    /// The unit.
    pub unit: String,
    /// What it is made of.
    pub definition: String,
    /// The command, or the record that it was worked out from.
    pub command: String,
    /// The kernel that ran, where it is one.
    #[serde(default)]
    pub kernel: Option<String>,
    /// The least and the most of all runs.
    #[serde(default)]
    pub range: Option<[f64; 2]>,
}

/// A constant that is missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotMeasured {
    /// Which one.
    pub name: String,
    /// What would measure it.
    pub reason: String,
}

#[derive(Deserialize)]
struct Delivered {
    version: u32,
    constants: Vec<Constant>,
    #[serde(default)]
    not_measured: Vec<NotMeasured>,
}

// Only what is needed: records may grow.
#[derive(Deserialize)]
struct File {
    date: String,
    device: Device,
    shape: String,
    copy_bytes_per_second: f64,
    memory_roof_seconds: f64,
    paths: Vec<MeasuredPath>,
    delivered: Option<Delivered>,
}

#[derive(Deserialize)]
struct Device {
    name: String,
}

/// A record of `ozfft-lab paths` on a cube.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The file.
    pub file: String,
    /// When.
    pub date: String,
    /// On what.
    pub device: String,
    /// Points of an axis.
    pub n: usize,
    /// Bytes a second that a copy moved in the same run.
    pub bandwidth: f64,
    /// What three passes at that speed take.
    pub roof: f64,
    /// All paths that are whole.
    pub paths: Vec<MeasuredPath>,
    /// All constants that are there.
    pub constants: Vec<Constant>,
    /// Those that are not.
    pub not_measured: Vec<NotMeasured>,
}

/// What exact accumulation gained where the paper expects a gain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// The row of Table 5.
    pub algorithm: String,
    /// The part of the time that is arithmetic, measured.
    pub fraction: Option<f64>,
    /// Time of the plain kernel over that of the exact one.
    pub speedup: Option<f64>,
    /// A comment.
    pub why: String,
}

#[derive(Deserialize)]
struct KulischRecord {
    predictions: Vec<Gain>,
}

fn parsed<T: for<'a> Deserialize<'a>>(file: &str, text: &str) -> Result<T, RooflineError> {
    serde_json::from_str(text).map_err(|error| RooflineError::Json {
        file: file.into(),
        message: error.to_string(),
    })
}

/// Table 5 as measured on an H200.
pub fn gains() -> Result<Vec<Gain>, RooflineError> {
    parsed::<KulischRecord>(KULISCH.0, KULISCH.1).map(|record| record.predictions)
}

impl Record {
    /// The record of the H200 that comes with the crate.
    pub fn embedded() -> Result<Record, RooflineError> {
        Record::from_json(EMBEDDED.0, EMBEDDED.1)
    }

    /// A record from the text of a file, whose name is for messages.
    pub fn from_json(file: &str, text: &str) -> Result<Record, RooflineError> {
        let read: File = parsed(file, text)?;
        let wrong = |key: &str, reason: String| RooflineError::Record {
            file: file.into(),
            key: key.into(),
            reason,
        };
        let axes: Vec<Option<usize>> = read
            .shape
            .split('x')
            .map(|axis| axis.parse().ok())
            .collect();
        let n = match axes[..] {
            [Some(a), Some(b), Some(c)] if a == b && b == c => a,
            _ => {
                let reason = format!(
                    "{} is not a cube; measure one, such as --shape 1024x1024x1024",
                    read.shape
                );
                return Err(wrong("shape", reason));
            }
        };
        for (key, value) in [
            ("copy_bytes_per_second", read.copy_bytes_per_second),
            ("memory_roof_seconds", read.memory_roof_seconds),
        ] {
            if !(value.is_finite() && value > 0.0) {
                return Err(wrong(key, format!("{value} is not a positive number")));
            }
        }
        let mut record = Record {
            file: file.into(),
            date: read.date,
            device: read.device.name,
            n,
            bandwidth: read.copy_bytes_per_second,
            roof: read.memory_roof_seconds,
            paths: read.paths,
            constants: Vec::new(),
            not_measured: Vec::new(),
        };
        match read.delivered {
            Some(delivered) if delivered.version != VERSION => {
                let reason = format!("{} is not understood, {VERSION} is", delivered.version);
                return Err(wrong("delivered.version", reason));
            }
            Some(delivered) => {
                record.constants = delivered.constants;
                record.not_measured = delivered.not_measured;
            }
            None => record.constants_of_times(),
        }
        record.paths.retain(|path| !path.name.contains("without-"));
        Ok(record)
    }

    /// What times alone say.
    fn constants_of_times(&mut self) {
        let outputs = OUTPUTS_PER_POINT * (self.n as f64).powi(3);
        let command = format!("worked out from times in {}", self.file);
        let constant = |name: String, value: f64, unit: &str, definition: &str| Constant {
            name,
            value,
            unit: unit.into(),
            definition: definition.into(),
            command: command.clone(),
            kernel: None,
            range: None,
        };
        let mut found = Vec::new();
        let seconds_of = |name: &str| {
            let path = self.paths.iter().find(|path| path.name == name);
            path.and_then(|path| path.seconds)
        };
        // Paths on FP8 have a base of their own.
        let base = |name: &str| {
            let prefix = if name.contains("fp8") { "fp8-" } else { "" };
            seconds_of(&format!("{prefix}without-reconstruction"))
        };
        let gamma = |name: &str| Some((seconds_of(name)? - base(name)?) / outputs * 1e12);
        let residues = self
            .paths
            .iter()
            .filter(|path| path.name.starts_with("residues-"));
        for path in residues {
            if let Some(value) = gamma(&path.name) {
                found.push(constant(
                    format!("gamma.{}", path.name),
                    value,
                    "ps an output",
                    "time beyond that without reconstruction, over 12 N³ outputs",
                ));
            }
        }
        for bits in [16, 8] {
            let words = gamma(&format!("residues-kulisch{bits}"));
            if let (Some(wide), Some(narrow)) = (gamma("residues-kulisch32"), words) {
                found.push(constant(
                    format!("c.{bits}"),
                    narrow / wide,
                    "of c(32)",
                    "c(w) of equation 19 over c(32), by time",
                ));
            }
        }
        self.constants = found;
        let reason = "not in this record; measure with `ozfft-lab paths --model`".to_string();
        self.not_measured = ["alpha", "beta", "overlap", "eta_ts"]
            .map(|name| NotMeasured {
                name: name.into(),
                reason: reason.clone(),
            })
            .to_vec();
    }

    /// Refuses machines that were not measured, or of which this is no record.
    pub fn is_of(&self, machine: &Machine) -> Result<(), RooflineError> {
        machine.bandwidth(Mode::Measured)?;
        if machine.title.contains(&self.device) {
            return Ok(());
        }
        Err(RooflineError::Record {
            file: self.file.clone(),
            key: "device".into(),
            reason: format!(
                "{} is not {}; give a record of `ozfft-lab paths` on that machine (--record)",
                self.device, machine.title
            ),
        })
    }

    /// A constant's value.
    pub fn constant(&self, name: &str) -> Option<f64> {
        let found = self.constants.iter().find(|constant| constant.name == name);
        found.map(|constant| constant.value)
    }

    /// The time of a path at another size: so much for each point and axis.
    pub fn seconds(&self, path: &MeasuredPath, n: usize) -> Option<f64> {
        let scale = (n as f64 / self.n as f64).powi(3);
        path.seconds.map(|seconds| seconds * scale)
    }

    /// The way and the unit that a path of the record is.
    pub fn way(path: &MeasuredPath) -> Option<(Variant, Substrate)> {
        let substrate = if path.name.contains("fp8") {
            Substrate::Fp8
        } else {
            Substrate::Int8
        };
        let plain = path.name.replace("-fp8", "");
        let way = match plain.as_str() {
            "cufft" => Variant::Native,
            "residues-garner-one-by-one" | "residues-garner" => Variant::Garner,
            "residues-double" => Variant::Fp64Sum,
            "residues-sum2" => Variant::Sum2,
            "residues-double-single" => Variant::DoubleSingle,
            "residues-single-kahan" => Variant::SingleKahan,
            "residues-bernstein-double" => Variant::Bernstein,
            "residues-kulisch32" => Variant::Kulisch32,
            "residues-kulisch16" => Variant::Kulisch16,
            "residues-kulisch8" => Variant::Kulisch8,
            "residues-bands" | "residues-fp8-bands" => Variant::Fp8Only,
            "digits" | "digits-int8" | "digits-int8-integers-only" | "digits-exact" => {
                Variant::Digits
            }
            _ => return None,
        };
        Some((way, substrate))
    }

    /// The counts of a path of the record as the corrected model has them; none for other kernels of the same way, which it does not count.
    pub fn counted(&self, path: &MeasuredPath, n: usize) -> Result<Option<Path>, RooflineError> {
        let others = ["residues-garner-one-by-one", "digits-exact", "digits-int8"];
        let Some((way, substrate)) = Record::way(path) else {
            return Ok(None);
        };
        if others.contains(&path.name.as_str()) {
            return Ok(None);
        }
        // Native transforms are listed once, with FP8.
        let substrate = match way {
            Variant::Native => Substrate::Fp8,
            _ => substrate,
        };
        paths::path(way, substrate, Mode::Corrected, n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"{
        "date": "today", "device": {"name": "a GPU"}, "shape": "10x10x10",
        "copy_bytes_per_second": 96e6, "memory_roof_seconds": 0.001,
        "paths": [
            {"name": "cufft", "paper": "native FP64", "missing": null, "seconds": 0.002, "l2": 1e-16},
            {"name": "residues-kulisch32", "paper": "", "missing": null, "seconds": 0.012, "l2": 1e-16},
            {"name": "residues-kulisch16", "paper": "", "missing": null, "seconds": 0.018, "l2": 1e-16},
            {"name": "without-reconstruction", "paper": "", "missing": null, "seconds": 0.006, "l2": null}
        ]
    }"#;

    #[test]
    fn constants_of_times_by_hand() {
        let record = Record::from_json("small", SMALL).unwrap();
        // 6 ms more for 12 · 1000 outputs: 500 ns; twice that in 16-bit words.
        let gamma = record.constant("gamma.residues-kulisch32").unwrap();
        assert!((gamma - 500e3).abs() < 1e-6, "{gamma}");
        assert!((record.constant("c.16").unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(record.constant("c.8"), None);
        assert!(
            record
                .not_measured
                .iter()
                .any(|missing| missing.name == "eta_ts")
        );
        assert!(
            record
                .paths
                .iter()
                .all(|path| !path.name.contains("without"))
        );
        // Twice the axis, eight times the points.
        assert_eq!(record.seconds(&record.paths[0], 20), Some(0.016));
    }

    #[test]
    fn paths_on_fp8_are_compared_with_their_own_base() {
        let path = |name: &str, seconds: f64| {
            format!(
                r#"{{"name": "{name}", "paper": "", "missing": null, "seconds": {seconds}, "l2": null}},"#
            )
        };
        let more =
            path("residues-fp8-kulisch32", 0.03) + &path("fp8-without-reconstruction", 0.018);
        let text = SMALL.replace("\"paths\": [", &format!("\"paths\": [{more}"));
        let record = Record::from_json("small", &text).unwrap();
        // 12 ms more for 12,000 outputs.
        let gamma = record.constant("gamma.residues-fp8-kulisch32").unwrap();
        assert!((gamma - 1e6).abs() < 1e-3, "{gamma}");
        let ways: Vec<_> = record.paths.iter().map(Record::way).collect();
        assert!(
            ways.contains(&Some((Variant::Kulisch32, Substrate::Fp8))),
            "{ways:?}"
        );
    }

    #[test]
    fn delivered_constants_are_taken_as_they_are() {
        let section = r#""delivered": {"version": 1, "constants": [{"name": "overlap.factor.contiguous", "value": 1.25, "unit": "times",
            "definition": "a", "command": "b", "kernel": null, "range": [1.2, 1.3]}],
            "not_measured": [{"name": "beta", "reason": "c"}]}, "paths""#;
        let record = Record::from_json("small", &SMALL.replace("\"paths\"", section)).unwrap();
        assert_eq!(record.constant("overlap.factor.contiguous"), Some(1.25));
        assert_eq!(record.constant("gamma.residues-kulisch32"), None);
        assert_eq!(record.not_measured.len(), 1);
        let newer = SMALL.replace("\"paths\"", &section.replace("1, \"con", "2, \"con"));
        let message = Record::from_json("small", &newer).unwrap_err().to_string();
        assert!(
            message.contains("delivered.version") && message.contains("2"),
            "{message}"
        );
    }

    #[test]
    fn bad_records_are_named() {
        for (from, to, part) in [
            ("10x10x10", "10x10", "shape: 10x10"),
            ("10x10x10", "10x10x12", "not a cube"),
            ("96e6", "-1", "copy_bytes_per_second: -1"),
            ("0.001", "0", "memory_roof_seconds"),
            ("\"shape\"", "\"form\"", "missing field `shape`"),
        ] {
            let message = Record::from_json("small", &SMALL.replacen(from, to, 1));
            let message = message.unwrap_err().to_string();
            assert!(
                message.starts_with("small: ") && message.contains(part),
                "{message}"
            );
        }
    }

    #[test]
    fn the_record_of_the_h200_has_a_gamma_of_3_7_picoseconds() {
        let record = Record::embedded().unwrap();
        assert_eq!((record.n, record.device.as_str()), (1024, "NVIDIA H200"));
        let gamma = record.constant("gamma.residues-kulisch32").unwrap();
        assert!((gamma - 3.7).abs() < 0.05, "{gamma}");
        assert!(gains().unwrap().len() >= 5);
    }
}
