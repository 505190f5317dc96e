//! The model beside real runs: a record of `exchange_probe` and `ozfft-mpi bench` on ranks of one machine.
//!
//! Nothing is fitted to the transforms: their local time is that of one process in the same runs, and the network is what the probe measured.

use super::events::{Order, simulate};
use super::formula::{Group, exchange};
use super::network::Link;
use crate::failure::Failure;
use ozfft_measure::inputs::read_json;
use roofline::{Cell, Mode, Table};
use serde::Deserialize;
use std::path::Path;

/// What was measured.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Record {
    pub date: String,
    pub machine: String,
    /// Ranks beyond them take turns.
    pub cores: usize,
    pub probes: Vec<Probe>,
    pub runs: Vec<Run>,
}

/// A line of `exchange_probe`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Probe {
    pub ranks: usize,
    pub latency_seconds: Option<f64>,
    pub copy_bytes_per_second: f64,
    pub exchanges: Vec<Exchanged>,
}

/// An all-to-all exchange of so many bytes of every rank, its own part among them.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Exchanged {
    pub bytes: f64,
    pub seconds: f64,
}

/// A line of `ozfft-mpi bench --local --json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Run {
    pub shape: String,
    pub ranks: usize,
    pub exchanges: usize,
    pub shortest_seconds: f64,
    pub shortest_local_seconds: f64,
    pub bytes_sent: f64,
}

/// What the model says of a run, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    pub closed: f64,
    pub simulated: f64,
}

impl Record {
    /// From a file.
    pub fn read(path: &Path) -> Result<Record, Failure> {
        Ok(read_json(path, "a record of ranks")?)
    }

    /// Of so many ranks.
    pub fn probe(&self, ranks: usize) -> Option<&Probe> {
        self.probes.iter().find(|probe| probe.ranks == ranks)
    }
}

impl Probe {
    /// The link that the probe's exchanges had: bandwidth of the largest, and what the smallest takes for each message beyond one latency.
    fn link(&self) -> Option<Link> {
        let others = (self.ranks - 1) as f64;
        let by_size = |a: &&Exchanged, b: &&Exchanged| a.bytes.total_cmp(&b.bytes);
        let (smallest, largest) = (
            self.exchanges.iter().min_by(by_size)?,
            self.exchanges.iter().max_by(by_size)?,
        );
        let latency = self.latency_seconds?;
        let gap = ((smallest.seconds - latency) / others).max(0.0);
        let sent = largest.bytes * others / self.ranks as f64;
        Some(Link {
            bandwidth: sent / (largest.seconds - latency - others * gap),
            latency,
            gap,
        })
    }
}

/// A run by the probe of as many ranks; none where there is no probe.
pub fn predicted(record: &Record, run: &Run) -> Option<Predicted> {
    let probe = record.probe(run.ranks)?;
    let turns = run.ranks.div_ceil(record.cores) as f64;
    let ranks = run.ranks as f64;
    let local = run.shortest_local_seconds * turns.min(ranks) / ranks;
    if run.ranks == 1 {
        return Some(Predicted {
            closed: local,
            simulated: local,
        });
    }
    let link = probe.link()?;
    let exchanges = run.exchanges as f64;
    // Of one rank in one exchange: what goes to others, and what stays.
    let sent = run.bytes_sent / ranks / exchanges;
    let held = sent * ranks / (ranks - 1.0);
    // To a buffer and from it; what stays is copied once.
    let copies = (2.0 * sent + (held - sent)) / probe.copy_bytes_per_second;
    let group = Group {
        ranks: run.ranks,
        near: run.ranks,
    };
    let closed = local + exchanges * (copies + exchange(&[link], group, held).total);
    // Lines along one axis between exchanges; copies before and after.
    let stages = exchanges + 1.0;
    let order = Order::Rotated { node: run.ranks };
    let mut times = vec![local / stages; run.ranks];
    for _ in 0..run.exchanges {
        let ready: Vec<f64> = times.iter().map(|time| time + copies).collect();
        let part = held / ranks;
        let done = simulate(&[link], &ready, order, |_, _| part, |_, _| 0);
        times = done.iter().map(|time| time + local / stages).collect();
    }
    Some(Predicted {
        closed,
        simulated: times.into_iter().fold(0.0, f64::max),
    })
}

/// The comparison as a table.
pub fn table(record: &Record) -> Table {
    let mut table = Table::new(
        "scaling-check",
        "Transforms on ranks of one machine beside the model, ms",
        Mode::Measured,
        &[
            "shape",
            "ranks",
            "exchanges",
            "measured",
            "formulas",
            "simulated",
            "simulated over measured",
        ],
    );
    for run in &record.runs {
        let found = predicted(record, run);
        let seconds = |value: Option<f64>| Cell::known(value.map(|value| 1e3 * value), 3);
        table.rows.push(vec![
            Cell::text(&run.shape),
            Cell::count(run.ranks as f64),
            Cell::count(run.exchanges as f64),
            seconds(Some(run.shortest_seconds)),
            seconds(found.map(|found| found.closed)),
            seconds(found.map(|found| found.simulated)),
            Cell::known(found.map(|found| found.simulated / run.shortest_seconds), 3),
        ]);
    }
    table.assume([
        format!("measured: {}, {}", record.machine, record.date),
        format!(
            "local time is that of one process in the same runs over the ranks, of which {} run at a time",
            record.cores
        ),
        "latency, bandwidth and copies are those of exchange_probe on as many ranks; nothing is fitted to transforms".into(),
    ]);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = include_str!("../../../records/2026-11-17-ranks.json");

    #[test]
    fn the_model_is_near_real_runs() {
        let record: Record = serde_json::from_str(RECORD).expect("a record");
        assert!(record.runs.len() >= 6);
        for run in &record.runs {
            let found = predicted(&record, run).expect("a probe");
            // Ranks begin together and parts are equal: the simulation finds the formulas again.
            assert!(
                (found.simulated / found.closed - 1.0).abs() < 0.02,
                "{run:?} {found:?}"
            );
            let ratio = found.simulated / run.shortest_seconds;
            assert!((0.7..1.3).contains(&ratio), "{run:?}: {ratio}");
        }
    }
}
