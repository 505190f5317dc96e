//! How many moduli data need and how often native takes over, from a record of `ozfft-lab residues`.

use super::delivered::{Constant, Delivered};
use crate::failure::Failure;
use ozfft_measure::inputs::read_json;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The moduli that the paper plans with.
const NOMINAL: usize = 12;

/// One input at one accuracy.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Adapted {
    input: String,
    accuracy: String,
    mean_moduli: f64,
    /// Columns of small products by their number of moduli.
    columns_by_moduli: Vec<(usize, u64)>,
    /// Lines that would be left to native.
    native_fallbacks: u64,
}

/// What is used of the record.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Record {
    lines: u64,
    adaptive: Vec<Adapted>,
}

/// A record and where it is from.
#[derive(Debug, Clone, PartialEq)]
pub struct Adaptive {
    source: PathBuf,
    record: Record,
}

impl Adaptive {
    pub fn read(path: &Path) -> Result<Adaptive, Failure> {
        let unusable = Failure::content(path);
        let record: Record = read_json(path, "a record of ozfft-lab residues")?;
        let empty = |a: &&Adapted| a.columns_by_moduli.iter().all(|&(_, count)| count == 0);
        if let Some(adapted) = record.adaptive.iter().find(empty) {
            return Err(unusable(format!("{:?} has no columns", adapted.input)));
        }
        if record.lines == 0 {
            return Err(unusable("it has no lines".into()));
        }
        Ok(Adaptive {
            source: path.to_path_buf(),
            record,
        })
    }

    /// For every accuracy the mean over all inputs, and the inputs that need least and most.
    pub fn constants(&self, delivered: &mut Delivered) {
        let mut accuracies: Vec<&str> = Vec::new();
        for adapted in &self.record.adaptive {
            if !accuracies.contains(&&*adapted.accuracy) {
                accuracies.push(&adapted.accuracy);
            }
        }
        let lines = self.record.lines as f64;
        for accuracy in accuracies {
            let of_accuracy = |adapted: &&Adapted| adapted.accuracy == accuracy;
            let inputs: Vec<&Adapted> = self.record.adaptive.iter().filter(of_accuracy).collect();
            let mut add =
                |name: &str, unit: &str, definition: &str, value: &dyn Fn(&Adapted) -> f64| {
                    let values: Vec<f64> = inputs.iter().map(|adapted| value(adapted)).collect();
                    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    delivered.constants.push(Constant {
                        name: format!("adaptive.{name}.{accuracy}"),
                        value: values.iter().sum::<f64>() / values.len() as f64,
                        unit: unit.into(),
                        definition: format!(
                            "{definition}; mean over {} inputs, and the least and the most of them",
                            values.len()
                        ),
                        command: format!("ozfft-lab residues, {}", self.source.display()),
                        kernel: None,
                        range: Some([least, most]),
                    });
                };
            add(
                "moduli",
                "moduli",
                "moduli of a small product, 15 and 16 being enough for any data",
                &|adapted| adapted.mean_moduli,
            );
            add(
                "above_12",
                "share",
                "small products that need more than the 12 moduli that the paper plans with",
                &|adapted| {
                    let all: u64 = adapted.columns_by_moduli.iter().map(|&(_, c)| c).sum();
                    let more = adapted.columns_by_moduli.iter();
                    let more = more.filter(|&&(moduli, _)| moduli > NOMINAL);
                    more.map(|&(_, count)| count).sum::<u64>() as f64 / all as f64
                },
            );
            add(
                "native",
                "share",
                "lines that the estimate would leave to native double precision",
                &|adapted| adapted.native_fallbacks as f64 / lines,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_columns_and_lines_and_ranges_over_inputs() {
        let text = r#"{"lines": 8, "adaptive": [
            {"input": "a", "accuracy": "double", "mean_moduli": 15.0, "columns_by_moduli": [[15, 30], [16, 10]], "native_fallbacks": 0},
            {"input": "b", "accuracy": "double", "mean_moduli": 12.5, "columns_by_moduli": [[12, 30], [13, 10]], "native_fallbacks": 2},
            {"input": "a", "accuracy": "1e-9", "mean_moduli": 11.0, "columns_by_moduli": [[11, 40]], "native_fallbacks": 0}]}"#;
        let adaptive = Adaptive {
            source: "residues.json".into(),
            record: serde_json::from_str(text).expect("a record"),
        };
        let mut delivered = Delivered::new();
        adaptive.constants(&mut delivered);
        assert_eq!(delivered.constants.len(), 6);
        assert_eq!(delivered.value("adaptive.moduli.double"), Some(13.75));
        // All columns of the first, a quarter of the second.
        assert_eq!(delivered.value("adaptive.above_12.double"), Some(0.625));
        assert_eq!(delivered.constants[1].range, Some([0.25, 1.0]));
        assert_eq!(delivered.value("adaptive.native.double"), Some(0.125));
        assert_eq!(delivered.value("adaptive.above_12.1e-9"), Some(0.0));
    }

    #[test]
    fn the_record_of_this_project_can_be_read() {
        let records = concat!(env!("CARGO_MANIFEST_DIR"), "/records");
        let path = Path::new(records).join("2026-11-15-emerald-rapids-residues.json");
        let mut delivered = Delivered::new();
        Adaptive::read(&path)
            .expect("a record")
            .constants(&mut delivered);
        assert_eq!(delivered.value("adaptive.native.double"), Some(0.0));
        let other = Path::new(records).join("2026-11-15-h200-paths.json");
        let error = Adaptive::read(&other).expect_err("rejected").to_string();
        assert!(
            error.contains("not a record of ozfft-lab residues"),
            "{error}"
        );
    }
}
