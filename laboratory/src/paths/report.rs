//! What `ozfft-lab paths` found, as a table and as JSON.

use super::check::Checked;
use super::counters::{Counters, Launch, Table};
use super::delivered::{Constant, Delivered};
use super::tiles::{Resident, Tile};
use super::variants::{STAGES, Variant};
use crate::failure::Failure;
use ozfft_measure::gpu::{DeviceFacts, KernelFacts};
use ozfft_measure::inputs::read_json;
use ozfft_measure::machine::Machine;
use ozfft_measure::options::parse_shape;
use serde::{Deserialize, Serialize};
use std::path::Path as FilePath;

/// One path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Path {
    pub name: String,
    /// What the paper calls it.
    pub paper: String,
    /// Why it could not run.
    pub missing: Option<String>,
    /// Of the median run.
    pub seconds: Option<f64>,
    /// Of the fastest and the slowest run.
    #[serde(default)]
    pub seconds_range: Option<[f64; 2]>,
    pub runs: usize,
    pub over_memory_roof: Option<f64>,
    pub over_cufft: Option<f64>,
    /// Relative L2 error of lines as long as the axes, the largest; none where a stage is left out.
    pub l2: Option<f64>,
    pub bound: Option<f64>,
    /// Outputs with other bits than the processor's; nothing where they may differ.
    pub differing: Option<usize>,
    pub kernel: Option<KernelFacts>,
    /// What one transform launches; empty where that is not known.
    #[serde(default)]
    pub launches: Vec<Launch>,
    /// Of paths with redundant moduli.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultCounts>,
    #[serde(default)]
    pub counters: Counters,
}

/// Faults of all calls that were timed, and the one before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultCounts {
    pub calls: u64,
    /// Sums of all calls, in each of which a fault may be.
    pub sums: u64,
    /// Sums that the kernels were told to put a fault into, one each; counted on the processor.
    pub made: u64,
    /// Sums that were found to be wrong and put right, as the plan reports them.
    pub corrected: u64,
    /// Sums that were found to be wrong and could not be put right.
    pub uncorrectable: u64,
}

impl Path {
    pub fn new(variant: &Variant) -> Path {
        Path {
            name: variant.name.into(),
            paper: variant.paper.into(),
            missing: None,
            seconds: None,
            seconds_range: None,
            runs: 0,
            over_memory_roof: None,
            over_cufft: None,
            l2: None,
            bound: None,
            differing: None,
            kernel: None,
            launches: Vec::new(),
            faults: None,
            counters: Counters::default(),
        }
    }

    /// Whether a stage is left out, so that the result is void.
    pub fn is_part(&self) -> bool {
        self.missing.is_none() && self.seconds.is_some() && self.l2.is_none()
    }

    pub fn take(&mut self, checked: Option<Checked>) {
        self.l2 = checked.map(|checked| checked.l2);
        self.bound = checked.and_then(|checked| checked.bound);
        self.differing = checked.and_then(|checked| checked.differing);
    }

    /// Whether bits differ, an error is above its bound, or faults were overlooked or seen where there was none.
    pub fn is_wrong(&self) -> bool {
        let above = matches!((self.l2, self.bound), (Some(l2), Some(bound)) if l2 > bound);
        above || self.differing.is_some_and(|count| count > 0) || self.miscounted().is_some()
    }

    /// Faults that were made, if not just these were put right.
    fn miscounted(&self) -> Option<FaultCounts> {
        self.faults
            .filter(|faults| faults.corrected != faults.made || faults.uncorrectable > 0)
    }

    pub fn verdict(&self) -> String {
        if let Some(faults) = self.miscounted() {
            return format!(
                "{} faults were made, {} put right, {} found that could not be",
                faults.made, faults.corrected, faults.uncorrectable
            );
        }
        match (&self.missing, self.differing, self.l2, self.bound) {
            (Some(reason), ..) => reason.clone(),
            (_, Some(0), ..) => "same bits".into(),
            (_, Some(count), ..) => format!("{count} outputs differ"),
            (_, None, Some(l2), Some(bound)) if l2 > bound => format!("{l2:e} is above {bound:e}"),
            (_, None, Some(_), Some(_)) => "within its bound".into(),
            (_, None, Some(_), None) => "no bound".into(),
            _ => "a stage is left out".into(),
        }
    }
}

/// What a stage of the path `residues-kulisch32` costs: the difference that leaving it out makes. In the place of products there is
/// one instruction a sum, so theirs is too small, and may be negative.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageCost {
    pub stage: String,
    pub seconds: f64,
    /// Of the whole path.
    pub share: f64,
}

/// Everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub date: String,
    pub machine: Machine,
    pub ozfft: String,
    pub commit: Option<String>,
    pub rustc: String,
    pub device: DeviceFacts,
    pub shape: String,
    pub seed: u64,
    pub lines_checked: usize,
    /// Of a copy within the device, bytes read and written.
    pub copy_bytes_per_second: f64,
    pub memory_roof_seconds: f64,
    pub paths: Vec<Path>,
    pub stages: Vec<StageCost>,
    /// Lines in a block, contiguous and strided.
    #[serde(default)]
    pub tiles: Vec<Tile>,
    /// Lines that stay in the cache.
    #[serde(default)]
    pub resident: Vec<Resident>,
    /// The efficiency of tall and narrow products, where it was measured.
    #[serde(default)]
    pub eta_ts: Vec<Constant>,
    #[serde(default)]
    pub delivered: Option<Delivered>,
}

impl Report {
    /// A record that was written earlier.
    pub fn read(path: &FilePath) -> Result<Report, Failure> {
        let report: Report = read_json(path, "a record of ozfft-lab paths")?;
        report.points_and_axes().map_err(Failure::content(path))?;
        Ok(report)
    }

    /// Points of the transform, and axes.
    pub fn points_and_axes(&self) -> Result<(f64, f64), String> {
        let shape = parse_shape(&self.shape)?.0;
        let points: usize = shape.iter().product();
        Ok((points as f64, shape.len() as f64))
    }

    /// Sets a profiler's counts beside the paths and tiles, and beside paths that it did not see those of the machine code.
    pub fn count(&mut self, table: Option<&Table>) -> Result<(), Failure> {
        let (points, axes) = self.points_and_axes().map_err(Failure::Usage)?;
        for path in &mut self.paths {
            if let Some(table) = table {
                path.counters = table.of(&path.launches, points * axes);
            }
            let kernel = path.kernel.as_ref().map(|kernel| kernel.kernel.as_str());
            path.counters = std::mem::take(&mut path.counters).or_machine_code(kernel);
        }
        for tile in self.tiles.iter_mut() {
            if let Some(table) = table {
                tile.count(table);
            }
        }
        Ok(())
    }

    fn seconds(&self, name: &str) -> Option<f64> {
        self.paths.iter().find(|path| path.name == name)?.seconds
    }

    /// Sets every path against the roof and cuFFT, and stages against the whole.
    pub fn compare(&mut self) {
        let (cufft, roof) = (self.seconds("cufft"), self.memory_roof_seconds);
        for path in &mut self.paths {
            path.over_memory_roof = path.seconds.map(|seconds| seconds / roof);
            path.over_cufft = path
                .seconds
                .zip(cufft)
                .map(|(seconds, cufft)| seconds / cufft);
        }
        let Some(whole) = self.seconds("residues-kulisch32") else {
            return;
        };
        for (name, stage) in STAGES {
            if let Some(rest) = self.seconds(name) {
                self.stages.push(StageCost {
                    stage: stage.into(),
                    seconds: whole - rest,
                    share: (whole - rest) / whole,
                });
            }
        }
    }
}
