//! What `ozfft-lab ladder` writes down.

use crate::failure::Failure;
use ozfft_measure::inputs::read_json;
use ozfft_measure::machine::Machine;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Changes when older records can no longer be read.
pub const VERSION: u32 = 1;

/// A record file: errors and times of every rung, with all that is needed to make them again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The form of this record.
    pub ladder: u32,
    /// When the first measurement began, in UTC.
    pub date: String,
    pub machine: Machine,
    /// The GPU, where one was measured.
    pub gpu: Option<String>,
    pub ozfft: String,
    pub commit: Option<String>,
    pub threads: usize,
    pub seconds_per_rung: f64,
    pub rungs: Vec<Rung>,
    pub posts: Vec<Post>,
}

/// A mode or an accuracy at one shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rung {
    pub shape: String,
    pub batch: usize,
    /// f32, f64, or double-double numbers.
    pub numbers: String,
    /// The engine that was asked for: auto, digits, a mode, or pairs.
    pub asked: String,
    /// The accuracy that was asked for, as options spell it; none with a mode.
    pub accuracy: Option<String>,
    /// What was planned; none where it was rejected.
    pub found: Option<Found>,
    /// Why it was rejected.
    pub refused: Option<String>,
}

/// A rung that stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    pub engine: String,
    /// Digits of data and matrix and diagonals, where there are some.
    pub digits: Option<[u32; 3]>,
    pub unit: String,
    pub bound: f64,
    pub proven: bool,
    pub expected: f64,
    /// Relative L2 error of random lines against the exact transform.
    pub l2: f64,
    /// Nanoseconds a point: the shortest of so many runs, and their median.
    pub ns_per_point: f64,
    pub median_ns_per_point: f64,
    pub runs: usize,
    pub predicted_ns_per_point: Option<f64>,
    /// Nothing at this shape is both faster and more accurate, on the same unit.
    pub on_front: bool,
}

/// A figure of trnfft's posts, and the same measured here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Post {
    pub mode: String,
    pub n: usize,
    pub printed: f64,
    pub here: f64,
    pub verdict: String,
}

impl Record {
    /// Reads a record file.
    pub fn read(path: &Path) -> Result<Record, Failure> {
        let record: Record = read_json(path, "a record of ozfft-lab ladder")?;
        if record.ladder != VERSION {
            return Err(Failure::content(path)(format!(
                "its form is {}, this version reads {VERSION}; measure again",
                record.ladder
            )));
        }
        Ok(record)
    }

    /// The shapes in their order.
    pub fn shapes(&self) -> Vec<&str> {
        let mut shapes: Vec<&str> = Vec::new();
        for rung in &self.rungs {
            if !shapes.contains(&rung.shape.as_str()) {
                shapes.push(&rung.shape);
            }
        }
        shapes
    }
}

/// Marks what nothing on the same unit beats in both time and error.
pub fn mark_front(rungs: &mut [Rung]) {
    let places: Vec<(String, String, f64, f64)> = rungs
        .iter()
        .filter_map(|rung| {
            let found = rung.found.as_ref()?;
            let place = (rung.shape.clone(), found.unit.clone());
            Some((place.0, place.1, found.ns_per_point, found.l2))
        })
        .collect();
    for rung in rungs {
        let Some(found) = &mut rung.found else {
            continue;
        };
        let (time, error) = (found.ns_per_point, found.l2);
        let beats = |(shape, unit, t, e): &(String, String, f64, f64)| {
            *shape == rung.shape
                && *unit == found.unit
                && (*t < time && *e <= error || *t <= time && *e < error)
        };
        found.on_front = !places.iter().any(beats);
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A rung for tests.
    pub fn rung(asked: &str, unit: &str, ns_per_point: f64, l2: f64) -> Rung {
        Rung {
            shape: "1024".into(),
            batch: 128,
            numbers: "f32".into(),
            asked: asked.into(),
            accuracy: None,
            found: Some(Found {
                engine: asked.into(),
                digits: None,
                unit: unit.into(),
                bound: 10.0 * l2,
                proven: true,
                expected: l2,
                l2,
                ns_per_point,
                median_ns_per_point: ns_per_point,
                runs: 5,
                predicted_ns_per_point: None,
                on_front: false,
            }),
            refused: None,
        }
    }

    #[test]
    fn the_front_of_a_unit_is_what_nothing_on_it_beats() {
        let mut rungs = [
            rung("bf16", "amx_bf16", 2.0, 1e-3),
            rung("ozaki", "amx_bf16", 4.0, 1e-6),
            rung("bf16_refined", "amx_bf16", 8.0, 1e-5),
            // Better than all of them, but on another unit.
            rung("fast", "avx512", 1.0, 1e-7),
        ];
        mark_front(&mut rungs);
        let front = rungs.map(|rung| rung.found.is_some_and(|found| found.on_front));
        assert_eq!(front, [true, true, false, true]);
    }

    #[test]
    fn records_of_another_form_are_rejected() {
        let record = Record {
            ladder: VERSION + 1,
            date: ozfft_measure::machine::now(),
            machine: Machine::here(),
            gpu: None,
            ozfft: "0".into(),
            commit: None,
            threads: 1,
            seconds_per_rung: 0.1,
            rungs: vec![rung("fast", "avx512", 1.0, 1e-7)],
            posts: Vec::new(),
        };
        let name = format!("ozfft-ladder-{}.json", std::process::id());
        let path = std::env::temp_dir().join(name);
        ozfft_measure::report::write_json(&path, &record).expect("a file can be written");
        let rejected = Record::read(&path).expect_err("another form").to_string();
        let this = Record {
            ladder: VERSION,
            ..record
        };
        ozfft_measure::report::write_json(&path, &this).expect("a file can be written");
        let read = Record::read(&path);
        std::fs::remove_file(&path).expect("the file was written");
        assert!(rejected.contains("measure again"), "{rejected}");
        assert_eq!(read.expect("a record"), this);
    }
}
