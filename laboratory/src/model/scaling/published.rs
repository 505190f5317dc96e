//! Times that others have published, each with its source.

use crate::failure::Failure;
use serde::Deserialize;

const PUBLISHED: &str = include_str!("../../../networks/published.json");

/// A published time.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    pub library: String,
    pub n: usize,
    pub ranks: usize,
    pub seconds: f64,
    /// The machine, and what was timed.
    pub conditions: String,
    /// The network file of that machine; without it the model says nothing.
    pub network: Option<String>,
    /// Whether a figure of the network was derived from this time, so that it checks nothing.
    #[serde(default)]
    pub calibrates: bool,
    pub source: String,
    pub derived: Option<String>,
}

/// All of them.
pub fn published() -> Result<Vec<Published>, Failure> {
    Ok(serde_json::from_str(PUBLISHED)?)
}
