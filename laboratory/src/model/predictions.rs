//! `ozfft-lab model predictions`: what plans are predicted to take, beside what benchmarks measured, and the constants that fit a record best.

use super::fit::fit;
use crate::failure::Failure;
use clap::ValueEnum;
use ozfft::{DigitsWork, Engine, Kind, Planner, Problem, digits_work, measured_unit};
use ozfft_measure::options::{KindName, parse_accuracy, parse_shape};
use roofline::{Cell, Mode, Table};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// A record of `ozfft bench`, of a processor or a GPU.
#[derive(Deserialize)]
struct BenchRecord {
    results: Vec<BenchResult>,
}

#[derive(Deserialize)]
struct BenchResult {
    name: String,
    shape: String,
    #[serde(default = "one")]
    batch: usize,
    #[serde(default = "one")]
    threads: usize,
    kind: String,
    accuracy: String,
    engine: String,
    substrate: String,
    #[serde(default)]
    variant: String,
    min_ns: Option<f64>,
    min_ms: Option<f64>,
}

fn one() -> usize {
    1
}

/// A measured transform by digits, and what it asks for.
struct Sample {
    name: String,
    unit: String,
    work: DigitsWork,
    complex: bool,
    threads: usize,
    /// Nanoseconds for a point, of the shortest call.
    measured: f64,
}

fn samples(path: &Path, text: &str) -> Result<Vec<Sample>, Failure> {
    let wrong = Failure::content(path);
    let record: BenchRecord = serde_json::from_str(text)
        .map_err(|error| wrong(format!("not a record of ozfft bench: {error}")))?;
    let planner = Planner::<f64>::new();
    let mut samples = Vec::new();
    for result in record.results {
        // `auto` is one of the other variants, measured once more.
        let again = matches!(
            result.variant.as_str(),
            "auto" | "integers-only" | "fp8-integers-only"
        );
        if !matches!(result.engine.as_str(), "digits" | "ozfft") || again {
            continue;
        }
        let name = &result.name;
        let shape =
            parse_shape(&result.shape).map_err(|error| wrong(format!("{name}: {error}")))?;
        let accuracy =
            parse_accuracy(&result.accuracy).map_err(|error| wrong(format!("{name}: {error}")))?;
        let kind = KindName::from_str(&result.kind, true)
            .map(Kind::from)
            .map_err(|error| wrong(format!("{name}: {error}")))?;
        let nanoseconds = match (result.min_ns, result.min_ms) {
            (Some(ns), _) => ns,
            (None, Some(ms)) => 1e6 * ms,
            (None, None) => return Err(wrong(format!("{name} has neither min_ns nor min_ms"))),
        };
        // The recipe is the same for every kind, unit and device.
        let problem = Problem::complex(&shape.0)
            .engine(Engine::Digits)
            .accuracy(accuracy);
        let plan = planner.plan(&problem)?;
        let recipe = plan
            .recipe()
            .ok_or_else(|| wrong(format!("{name} has no recipe")))?;
        let points = shape.0.iter().product::<usize>() * result.batch;
        samples.push(Sample {
            work: digits_work(&problem, recipe),
            complex: kind == Kind::ComplexToComplex,
            threads: result.threads,
            measured: nanoseconds / points as f64,
            unit: result.substrate,
            name: result.name,
        });
    }
    Ok(samples)
}

/// Predicted beside measured times, for every benchmark of the record.
pub fn predictions(path: &Path, text: &str) -> Result<Table, Failure> {
    let samples = samples(path, text)?;
    let mut table = Table::new(
        "predictions",
        "Predicted and measured times of transforms by digits",
        Mode::Measured,
        &[
            "benchmark",
            "unit",
            "predicted, ns a point",
            "measured, ns a point",
            "predicted/measured",
            "within 1.5",
        ],
    );
    for sample in &samples {
        let Some(unit) = measured_unit(sample.unit.rsplit(" and ").next().unwrap_or(&sample.unit))
        else {
            continue;
        };
        let share = if sample.complex { 1.0 } else { unit.cost.real };
        let predicted = unit.cost.for_point(&sample.work) * share / sample.threads as f64;
        let ratio = predicted / sample.measured;
        let within = ratio.max(1.0 / ratio) <= 1.5;
        table.rows.push(vec![
            Cell::text(&sample.name),
            Cell::text(&sample.unit),
            Cell::number(predicted, 3),
            Cell::number(sample.measured, 3),
            Cell::number(ratio, 2),
            Cell::text(if within { "yes" } else { "no" }),
        ]);
    }
    if table.rows.is_empty() {
        return Err(Failure::Content {
            path: path.to_path_buf(),
            reason: "it has no transform by digits on a unit with constants".into(),
        });
    }
    table.assume([
        "shortest calls; constants of measured_units.rs, which `--fit` works out from a record"
            .into(),
    ]);
    Ok(table)
}

/// The constants that predict a record's complex transforms on one thread best, unit by unit.
pub fn constants(path: &Path, text: &str) -> Result<Table, Failure> {
    let samples = samples(path, text)?;
    let mut units: BTreeMap<&str, Vec<(DigitsWork, f64)>> = BTreeMap::new();
    for sample in samples.iter().filter(|s| s.complex && s.threads == 1) {
        let unit = units.entry(&sample.unit).or_default();
        unit.push((sample.work, sample.measured));
    }
    let mut table = Table::new(
        "fit",
        "Constants of units, fitted to the record, ns",
        Mode::Measured,
        &["unit", "benchmarks", "pass", "strided", "product"],
    );
    for (unit, pairs) in units {
        let mut row = vec![Cell::text(unit), Cell::count(pairs.len() as f64)];
        match fit(&pairs, 1.0) {
            Some(cost) => {
                row.extend([cost.pass, cost.strided, cost.product].map(|c| Cell::number(c, 3)))
            }
            None => row.extend([(); 3].map(|()| Cell::text("too few benchmarks"))),
        }
        table.rows.push(row);
    }
    Ok(table)
}
