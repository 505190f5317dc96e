//! What is measured and written down: one line per engine, and whole record files.

use super::Setting;
use super::engines::{Candidate, FFTW, RUSTFFT};
use super::sampling::Timings;
use ozfft_measure::failure::Failure;
use ozfft_measure::inputs::read_json;
use ozfft_measure::machine::{self, Machine, Software};
use ozfft_measure::options::{KindName, accuracy_text};
use ozfft_measure::report::write_json;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The time of one engine in one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    pub shape: String,
    pub batch: usize,
    pub threads: usize,
    pub kind: KindName,
    pub accuracy: String,
    pub engine: String,
    pub substrate: String,
    pub median_ns: f64,
    pub min_ns: f64,
    pub runs: usize,
    /// Times as long as FFTW, by medians; nothing without FFTW.
    pub ratio_to_fftw: Option<f64>,
    /// Times as long as RustFFT, by medians.
    pub ratio_to_rustfft: Option<f64>,
    /// Median over all points of all arrays of the batch.
    pub ns_per_point: f64,
    /// The smallest cache that holds input and output, or `memory`; nothing where the system does not say, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrays_in: Option<String>,
    /// The arrays of the batch were side by side.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interleaved: bool,
    /// The unit, or the units, that a plan takes where none is asked for; nothing in older records, and where `auto` was not measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub automatic: bool,
}

/// Measurements of all engines side by side. Every engine that was planned must have been timed.
pub fn measurements(
    setting: &Setting,
    candidates: &[Candidate<'_>],
    timings: &[Timings],
) -> Result<Vec<Measurement>, Failure> {
    let timed = |candidate: &Candidate<'_>, timings: &Timings| {
        let times = timings.median().zip(timings.minimum());
        let (median, minimum) = times.ok_or_else(|| {
            Failure::Check(format!(
                "{} on {} is available, but was not timed for {setting}",
                candidate.engine, candidate.substrate
            ))
        })?;
        let points = setting.batch * setting.shape.0.iter().product::<usize>();
        Ok(Measurement {
            shape: setting.shape.to_string(),
            batch: setting.batch,
            threads: setting.threads,
            kind: setting.kind,
            accuracy: accuracy_text(setting.accuracy),
            engine: candidate.engine.into(),
            substrate: candidate.substrate.clone(),
            median_ns: rounded(median, 1),
            min_ns: rounded(minimum, 1),
            runs: timings.runs(),
            ratio_to_fftw: None,
            ratio_to_rustfft: None,
            ns_per_point: rounded(median / points as f64, 4),
            arrays_in: setting.arrays_in(),
            interleaved: setting.interleaved,
            automatic: candidate.automatic,
        })
    };
    assert_eq!(candidates.len(), timings.len(), "one timing per engine");
    let pairs = candidates.iter().zip(timings);
    let mut measurements = pairs
        .map(|(candidate, timings)| timed(candidate, timings))
        .collect::<Result<Vec<_>, Failure>>()?;
    add_ratios(&mut measurements);
    Ok(measurements)
}

fn add_ratios(measurements: &mut [Measurement]) {
    let median_of = |engine: &str| {
        let found = measurements.iter().find(|m| m.engine == engine);
        found.map(|measurement| measurement.median_ns)
    };
    let (fftw, rustfft) = (median_of(FFTW), median_of(RUSTFFT));
    for measurement in measurements {
        let ratio = |baseline: f64| rounded(measurement.median_ns / baseline, 3);
        measurement.ratio_to_fftw = fftw.map(ratio);
        measurement.ratio_to_rustfft = rustfft.map(ratio);
    }
}

/// Digits beyond those that can be measured would only make records hard to read and to compare.
fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
}

/// A measurement of a definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Named<M> {
    pub name: String,
    pub group: String,
    #[serde(flatten)]
    pub measurement: M,
}

pub type NamedMeasurement = Named<Measurement>;

/// The programs that were measured, and what they were made with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Programs {
    #[serde(flatten)]
    pub own: Software,
    pub rustfft: String,
    pub fftw: Option<String>,
    pub mkl: Option<String>,
}

impl Programs {
    /// The versions of everything; the commit is the one given, or that of the sources of this program.
    pub fn here(commit: Option<&str>, (fftw, mkl): (Option<String>, Option<String>)) -> Programs {
        Programs {
            own: Software::here(commit),
            rustfft: machine::RUSTFFT.into(),
            fftw,
            mkl,
        }
    }
}

/// A record file: the measurements of a list of definitions, with all that is needed to make them again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// When the first measurement began, in UTC.
    pub date: String,
    pub machine: Machine,
    pub software: Programs,
    /// SHA-256 of the file of definitions.
    pub definitions_sha256: String,
    pub seconds_per_engine: f64,
    /// What was left out, and why.
    pub notices: Vec<String>,
    pub results: Vec<NamedMeasurement>,
}

impl Record {
    /// Reads a record file.
    pub fn read(path: &Path) -> Result<Record, Failure> {
        read_json(path, "a record of ozfft bench")
    }

    /// Writes a record file, which is either complete or untouched.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        write_json(path, self)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A result for tests.
    pub fn result(engine: &str, substrate: &str, shape: &str, median_ns: f64) -> NamedMeasurement {
        NamedMeasurement {
            name: format!("curve-{shape}"),
            group: "curve".into(),
            measurement: Measurement {
                shape: shape.into(),
                batch: 1,
                threads: 1,
                kind: KindName::C2c,
                accuracy: "double".into(),
                engine: engine.into(),
                substrate: substrate.into(),
                median_ns,
                min_ns: median_ns,
                runs: 5,
                ratio_to_fftw: None,
                ratio_to_rustfft: None,
                ns_per_point: median_ns,
                arrays_in: None,
                interleaved: false,
                automatic: false,
            },
        }
    }

    #[test]
    fn ratios_are_to_the_engines_of_the_same_run() {
        let mut run = [
            result("digits", "scalar", "64", 30.0).measurement,
            result("rustfft", "fp64", "64", 6.0).measurement,
        ];
        add_ratios(&mut run);
        assert_eq!(run[0].ratio_to_rustfft, Some(5.0));
        assert_eq!(run[1].ratio_to_rustfft, Some(1.0));
        assert_eq!(run[0].ratio_to_fftw, None);
    }

    #[test]
    fn records_are_read_as_they_were_written() {
        let mut fftw = result("fftw", "fp64", "64x64", 1234.5);
        fftw.measurement.ratio_to_fftw = Some(1.0);
        let record = Record {
            date: ozfft_measure::machine::now(),
            machine: Machine::here(),
            software: Programs::here(Some("0123abc"), (Some("fftw-3".into()), None)),
            definitions_sha256: "00ff".into(),
            seconds_per_engine: 0.1,
            notices: vec!["MKL is left out".into()],
            results: vec![fftw, result("digits", "scalar", "16", 0.3)],
        };
        let directory = std::env::temp_dir();
        let path = directory.join(format!("ozfft-record-{}.json", std::process::id()));
        record.write(&path).expect("a file can be written");
        let read = Record::read(&path);
        std::fs::remove_file(&path).expect("the file was written");
        assert_eq!(read.expect("a record"), record);
    }
}
