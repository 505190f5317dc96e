//! Networks as data: what a rank can send, each figure with its source.

use crate::failure::Failure;
use roofline::Figure;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// What ranks compute with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Local {
    /// A GPU whose lines were measured.
    H200,
    /// A core of a processor whose lines were measured.
    XeonCore,
    /// Nothing of ozfft was measured on it: every axis and every copy is a pass through memory. For libraries of others.
    Memory,
}

/// Ranks that a rank reaches through one link.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    pub title: String,
    /// Ranks that are connected by it.
    pub ranks: usize,
    /// Bytes a second that a rank sends, and at the same time receives.
    pub bandwidth: Figure,
    /// From the beginning of a message to that of its arrival.
    pub latency: Figure,
    /// Between the messages of a rank, besides their bytes.
    pub gap: Figure,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    pub name: String,
    pub title: String,
    pub local: Local,
    /// Of a complex number.
    #[serde(default = "sixteen")]
    pub bytes: f64,
    /// Of a rank.
    pub memory: Option<Figure>,
    /// Of a rank's memory, where its local time is passes through it.
    pub memory_bandwidth: Option<Figure>,
    /// From the nearest ranks to all of them.
    pub levels: Vec<Level>,
}

fn sixteen() -> f64 {
    16.0
}

/// A link in seconds and bytes a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    pub bandwidth: f64,
    pub latency: f64,
    pub gap: f64,
}

/// Those that come with the program.
pub const NETWORKS: [(&str, &str); 5] = [
    (
        "h200-nvlink",
        include_str!("../../../networks/h200-nvlink.json"),
    ),
    ("h200-ndr", include_str!("../../../networks/h200-ndr.json")),
    (
        "h200-slingshot",
        include_str!("../../../networks/h200-slingshot.json"),
    ),
    (
        "xeon-slingshot",
        include_str!("../../../networks/xeon-slingshot.json"),
    ),
    ("selene", include_str!("../../../networks/selene.json")),
];

fn scaled(figure: &Figure, units: &[(&str, f64)]) -> Result<f64, String> {
    let unit = units.iter().find(|(name, _)| *name == figure.unit);
    let Some((_, factor)) = unit else {
        let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "the unit {} is not known; take {}",
            figure.unit,
            names.join(" or ")
        ));
    };
    if figure.value < 0.0 || !figure.value.is_finite() || figure.source.trim().is_empty() {
        return Err(format!(
            "{} {} is negative or has no source",
            figure.value, figure.unit
        ));
    }
    Ok(figure.value * factor)
}

const SECONDS: [(&str, f64); 2] = [("us", 1e-6), ("ms", 1e-3)];
const RATES: [(&str, f64); 2] = [("GB/s", 1e9), ("TB/s", 1e12)];

impl Network {
    /// From JSON; `name` is for messages.
    pub fn from_json(name: &str, text: &str) -> Result<Network, Failure> {
        let unusable = |reason: String| Failure::Content {
            path: PathBuf::from(name),
            reason,
        };
        let network: Network = serde_json::from_str(text)
            .map_err(|error| unusable(format!("not a network: {error}")))?;
        network.check().map_err(unusable)?;
        Ok(network)
    }

    /// By name, or from a file, which has a path or ends in `.json`.
    pub fn named(name: &str) -> Result<Network, Failure> {
        if name.contains(std::path::MAIN_SEPARATOR) || name.ends_with(".json") {
            let text = ozfft_measure::inputs::read_text(Path::new(name))?;
            return Network::from_json(name, &text);
        }
        match NETWORKS.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Network::from_json(name, text),
            None => Err(Failure::Usage(format!(
                "there is no network {name}; there are {}, or give a file",
                NETWORKS.map(|(name, _)| name).join(", ")
            ))),
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.levels.is_empty() || self.levels.len() > 2 {
            return Err("one or two levels are needed".into());
        }
        if !self
            .levels
            .windows(2)
            .all(|two| two[0].ranks < two[1].ranks)
        {
            return Err("levels go from few ranks to many".into());
        }
        for level in 0..self.levels.len() {
            if self.try_link(level)?.bandwidth == 0.0 {
                return Err("a bandwidth is 0".into());
            }
        }
        self.try_memory()?;
        let rate = self.try_memory_bandwidth()?;
        match self.local {
            Local::Memory if rate.is_none() => Err("memory_bandwidth is missing".into()),
            _ => Ok(()),
        }
    }

    fn try_link(&self, level: usize) -> Result<Link, String> {
        let level = &self.levels[level];
        Ok(Link {
            bandwidth: scaled(&level.bandwidth, &RATES)?,
            latency: scaled(&level.latency, &SECONDS)?,
            gap: scaled(&level.gap, &SECONDS)?,
        })
    }

    fn try_memory(&self) -> Result<Option<f64>, String> {
        let bytes = |figure| scaled(figure, &[("GB", 1e9)]);
        self.memory.as_ref().map(bytes).transpose()
    }

    fn try_memory_bandwidth(&self) -> Result<Option<f64>, String> {
        let rate = |figure| scaled(figure, &RATES);
        self.memory_bandwidth.as_ref().map(rate).transpose()
    }

    /// Links of a rank, from the nearest ranks to all of them; figures were checked when it was read.
    pub fn links(&self) -> Vec<Link> {
        (0..self.levels.len())
            .filter_map(|level| self.try_link(level).ok())
            .collect()
    }

    /// Bytes of a rank's memory.
    pub fn memory_bytes(&self) -> Option<f64> {
        self.try_memory().ok().flatten()
    }

    /// Bytes a second of a rank's memory.
    pub fn memory_rate(&self) -> Option<f64> {
        self.try_memory_bandwidth().ok().flatten()
    }

    /// Ranks of a node, and of all nodes.
    pub fn ranks(&self) -> (usize, usize) {
        let all = self.levels.last().map_or(1, |level| level.ranks);
        (self.levels.first().map_or(1, |level| level.ranks), all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_network_is_read_and_every_figure_has_a_source() {
        for (name, text) in NETWORKS {
            let network = Network::from_json(name, text).expect("a network");
            assert_eq!(network.name, name);
            assert_eq!(network.links().len(), network.levels.len());
        }
    }

    #[test]
    fn wrong_files_are_told_of() {
        let text = NETWORKS[1].1;
        let bad = |from: &str, to: &str| {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text);
            Network::from_json("it", &changed).unwrap_err().to_string()
        };
        assert!(bad("\"GB/s\"", "\"parsecs\"").contains("take GB/s"));
        assert!(bad("\"levels\"", "\"stories\"").contains("not a network"));
        assert!(bad("\"ranks\": 8", "\"ranks\": 99999").contains("few ranks to many"));
        let message = Network::named("carrier-pigeons").unwrap_err().to_string();
        assert!(message.contains("h200-ndr"), "{message}");
    }
}
