//! What is measured on a GPU and written down. Names of fields say the unit.

use crate::bench::record::Named;
use ozfft_measure::failure::Failure;
use ozfft_measure::gpu::{Clocks, DeviceFacts, Precision};
use ozfft_measure::inputs::read_json;
use ozfft_measure::machine::{Machine, Software};
use ozfft_measure::options::KindName;
use ozfft_measure::report::write_json;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The time of one engine for one transform.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    pub shape: String,
    pub batch: usize,
    /// Of all arrays together.
    pub points: usize,
    pub kind: KindName,
    pub precision: Precision,
    pub accuracy: String,
    /// `cufft`, `ozfft`, or `copy`: the memory alone.
    pub engine: String,
    /// What was asked of ozfft.
    pub variant: String,
    /// What runs.
    pub substrate: String,
    pub recipe: Option<String>,
    pub bound: Option<f64>,
    pub median_ms: f64,
    pub min_ms: f64,
    pub runs: usize,
    /// Of short transforms, one at a time: until the call returns, and until its result is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_microseconds: Option<[f64; 2]>,
    /// Times as long as cuFFT, by medians.
    pub ratio_to_cufft: Option<f64>,
    /// The time that reading and writing once per axis takes at the speed of the copy, over the median.
    pub fraction_of_roof: Option<f64>,
    /// The same bytes over the median; for the copy what it moves.
    pub terabytes_per_second: f64,
    pub workspace_bytes: usize,
    /// What the result was compared with before it was timed.
    pub verified: Option<String>,
}

pub type NamedMeasurement = Named<Measurement>;

/// The programs that were measured, and what they were made with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Programs {
    #[serde(flatten)]
    pub own: Software,
    pub cufft: Option<String>,
}

/// A record file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// When the first measurement began, in UTC.
    pub date: String,
    pub machine: Machine,
    pub device: DeviceFacts,
    pub software: Programs,
    /// Before anything ran, and right after the last measurement.
    pub clocks_before: Option<Clocks>,
    pub clocks_after: Option<Clocks>,
    /// SHA-256 of the file of definitions.
    pub definitions_sha256: Option<String>,
    /// What was left out, and why.
    pub notices: Vec<String>,
    /// What should have been measured and was not.
    pub failures: Vec<String>,
    pub seconds: f64,
    pub results: Vec<NamedMeasurement>,
}

impl Record {
    /// Reads a record file.
    pub fn read(path: &Path) -> Result<Record, Failure> {
        read_json(path, "a record of ozfft bench --device cuda")
    }

    /// Writes a record file, which is either complete or untouched.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        write_json(path, self)
    }
}

/// The heading of the table on the terminal.
pub fn heading() -> Vec<String> {
    [
        "name",
        "engine",
        "substrate",
        "asked",
        "median ms",
        "min ms",
        "runs",
        "to cuFFT",
        "of roof",
        "TB/s",
        "call us",
    ]
    .map(String::from)
    .to_vec()
}

/// The cells of one line.
pub fn cells(named: &NamedMeasurement) -> Vec<String> {
    let measurement = &named.measurement;
    let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2}"));
    vec![
        named.name.clone(),
        measurement.engine.clone(),
        measurement.substrate.clone(),
        measurement.variant.clone(),
        format!("{:.3}", measurement.median_ms),
        format!("{:.3}", measurement.min_ms),
        measurement.runs.to_string(),
        number(measurement.ratio_to_cufft),
        number(measurement.fraction_of_roof),
        format!("{:.2}", measurement.terabytes_per_second),
        number(measurement.call_microseconds.map(|[_, finished]| finished)),
    ]
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A measurement for tests.
    pub fn measurement() -> NamedMeasurement {
        NamedMeasurement {
            name: "batched-1024".into(),
            group: "batched".into(),
            measurement: Measurement {
                shape: "1024".into(),
                batch: 1 << 20,
                points: 1 << 30,
                kind: KindName::C2c,
                precision: Precision::Double,
                accuracy: "double".into(),
                engine: "ozfft".into(),
                variant: "auto".into(),
                substrate: "int8-mma-sync".into(),
                recipe: None,
                bound: Some(1e-15),
                median_ms: 16.4,
                min_ms: 16.3,
                call_microseconds: None,
                runs: 5,
                ratio_to_cufft: Some(1.98),
                fraction_of_roof: Some(0.49),
                terabytes_per_second: 2.1,
                workspace_bytes: 0,
                verified: Some("all".into()),
            },
        }
    }

    #[test]
    fn measurements_are_read_as_they_were_written() {
        let text = serde_json::to_string(&measurement()).expect("JSON");
        assert!(text.contains("\"precision\":\"double\""), "{text}");
        let read: NamedMeasurement = serde_json::from_str(&text).expect("the same");
        assert_eq!(read, measurement());
    }

    #[test]
    fn lines_have_a_cell_for_every_heading() {
        assert_eq!(cells(&measurement()).len(), heading().len());
    }
}
