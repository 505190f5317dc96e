//! Local times, from records that are in the repository.

use super::network::{Local, Network};
use crate::failure::Failure;
use serde::Deserialize;
use std::path::PathBuf;

const LENGTHS: &str = include_str!("../../../../benchmarks/records/2026-11-17-h200-lengths.txt");
const SHAPES: &str = include_str!("../../../../benchmarks/records/2026-11-17-h200-shapes.json");
const PROCESSOR: &str =
    include_str!("../../../../benchmarks/records/2026-11-15-emerald-rapids.json");
pub const RANKS: &str = include_str!("../../../records/2026-11-17-ranks.json");

/// Points of an entry of `LENGTHS`.
const POINTS: f64 = (1u64 << 27) as f64;

#[derive(Deserialize)]
struct Bench {
    results: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    engine: String,
    #[serde(default)]
    substrate: String,
    #[serde(default)]
    variant: String,
    #[serde(default)]
    points: f64,
    median_ms: Option<f64>,
    ns_per_point: Option<f64>,
}

/// Seconds of a rank for one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalTimes {
    /// All three axes.
    pub transform: f64,
    /// One copy of a complex number in memory.
    pub copy: f64,
}

fn missing(what: &str) -> Failure {
    Failure::Content {
        path: PathBuf::from("benchmarks/records"),
        reason: format!("no record has {what}"),
    }
}

/// Times for lines of so many points along every axis, and where they are from.
pub fn local_times(network: &Network, n: usize) -> Result<(LocalTimes, String), Failure> {
    match network.local {
        Local::H200 => h200(n),
        Local::XeonCore => processor(n),
        Local::Memory => {
            let rate = network
                .memory_rate()
                .ok_or_else(|| missing("memory_bandwidth"))?;
            let copy = 2.0 * network.bytes / rate;
            let times = LocalTimes {
                transform: 3.0 * copy,
                copy,
            };
            Ok((times, "three passes through memory".into()))
        }
    }
}

fn results(text: &str) -> Result<Vec<Row>, Failure> {
    let bench: Bench = serde_json::from_str(text)?;
    Ok(bench.results)
}

fn h200(n: usize) -> Result<(LocalTimes, String), Failure> {
    let shapes = results(SHAPES)?;
    let copied = shapes
        .iter()
        .find(|row| row.name == "long-8192" && row.engine == "copy");
    let copied = copied.and_then(|row| Some(row.median_ms? * 1e-3 / row.points));
    let copy = copied.ok_or_else(|| missing("a copy on H200"))?;
    let line = |layout: &str| -> Option<f64> {
        let row = LENGTHS
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .find(|row| row.len() > 2 && row[0] == layout && row[1] == n.to_string())?;
        Some(row[2].parse::<f64>().ok()? * 1e-3 / POINTS)
    };
    if let (Some(contiguous), Some(interleaved)) = (line("contiguous"), line("interleaved")) {
        let transform = contiguous + 2.0 * interleaved;
        let source = "2026-11-17-h200-lengths.txt: contiguous lines once, interleaved ones twice";
        return Ok((LocalTimes { transform, copy }, source.into()));
    }
    let name = format!("long-{n}");
    let row = shapes
        .iter()
        .find(|row| row.name == name && row.engine == "ozfft" && row.variant == "auto");
    let line = row.and_then(|row| Some(row.median_ms? * 1e-3 / row.points));
    let transform = 3.0 * line.ok_or_else(|| missing(&format!("lines of {n} on H200")))?;
    let source = "2026-11-17-h200-shapes.json: contiguous lines three times, because interleaved ones of this length were not measured";
    Ok((LocalTimes { transform, copy }, source.into()))
}

fn processor(n: usize) -> Result<(LocalTimes, String), Failure> {
    let name = format!("curve-{n}");
    let rows = results(PROCESSOR)?;
    let row = rows
        .iter()
        .find(|row| row.name == name && row.engine == "digits" && row.substrate == "amx");
    let line = row
        .and_then(|row| row.ns_per_point)
        .ok_or_else(|| missing(&format!("lines of {n} on a processor")))?;
    let ranks: super::check::Record = serde_json::from_str(RANKS)?;
    let copy = ranks
        .probe(1)
        .map(|probe| 16.0 / probe.copy_bytes_per_second);
    let times = LocalTimes {
        transform: 3e-9 * line,
        copy: copy.ok_or_else(|| missing("copies on a processor"))?,
    };
    let source = "2026-11-15-emerald-rapids.json: lines in memory, AMX, one core, three times; copies: 2026-11-17-ranks.json";
    Ok((times, source.into()))
}
