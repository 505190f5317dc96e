//! What `ozfft paths` found, as a table and as JSON.

use super::check::Checked;
use super::ways::{STAGES, Way};
use crate::gpu::{DeviceFacts, KernelFacts};
use crate::machine::Machine;
use crate::report::{aligned, error_text, seconds_text};
use serde::{Deserialize, Serialize};

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
    pub runs: usize,
    pub over_memory_roof: Option<f64>,
    pub over_cufft: Option<f64>,
    /// Relative L2 error of lines of 1024 points; none where a stage is left out.
    pub l2: Option<f64>,
    pub bound: Option<f64>,
    /// Outputs with other bits than the processor's; nothing where they may differ.
    pub differing: Option<usize>,
    pub kernel: Option<KernelFacts>,
}

impl Path {
    pub fn new(way: &Way) -> Path {
        Path {
            name: way.name.into(),
            paper: way.paper.into(),
            missing: None,
            seconds: None,
            runs: 0,
            over_memory_roof: None,
            over_cufft: None,
            l2: None,
            bound: None,
            differing: None,
            kernel: None,
        }
    }

    pub fn take(&mut self, checked: Option<Checked>) {
        self.l2 = checked.map(|checked| checked.l2);
        self.bound = checked.and_then(|checked| checked.bound);
        self.differing = checked.and_then(|checked| checked.differing);
    }

    /// Whether bits differ or an error is above its bound.
    pub fn is_wrong(&self) -> bool {
        let above = matches!((self.l2, self.bound), (Some(l2), Some(bound)) if l2 > bound);
        above || self.differing.is_some_and(|count| count > 0)
    }

    pub fn verdict(&self) -> String {
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
}

impl Report {
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

    pub fn to_text(&self) -> String {
        let heading = [
            "path",
            "time",
            "of roof",
            "of cuFFT",
            "L2 (1024)",
            "registers",
            "local bytes",
            "occupancy",
            "verdict",
        ];
        let mut rows = vec![heading.map(String::from).to_vec()];
        let times = |value: Option<f64>| value.map_or("-".into(), |x| format!("{x:.2}"));
        for path in &self.paths {
            let kernel = path.kernel.as_ref();
            let of = |text: Option<String>| text.unwrap_or("-".into());
            rows.push(vec![
                path.name.clone(),
                of(path.seconds.map(seconds_text)),
                times(path.over_memory_roof),
                times(path.over_cufft),
                of(path.l2.map(error_text)),
                of(kernel.map(|k| k.registers.to_string())),
                of(kernel.map(|k| k.local_bytes.to_string())),
                of(kernel.map(|k| format!("{:.0} %", 100.0 * k.occupancy))),
                path.verdict(),
            ]);
        }
        let mut text = format!(
            "{}\n{} on {}: memory roof {} ({:.2} TB/s)\n",
            aligned(&rows),
            self.shape,
            self.device.name,
            seconds_text(self.memory_roof_seconds),
            self.copy_bytes_per_second * 1e-12,
        );
        for stage in &self.stages {
            text.push_str(&format!(
                "{} of residues-kulisch32: {} ({:.0} %)\n",
                stage.stage,
                seconds_text(stage.seconds),
                100.0 * stage.share
            ));
        }
        text
    }
}
