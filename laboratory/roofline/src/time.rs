//! Times: T = max(αW/P, βQ/B) + γ·n_out, and what overlap makes of it.

use crate::error::RooflineError;
use crate::machine::Machine;
use crate::paths::{Path, Role};
use crate::rate::Rate;
use serde::Serialize;

/// The time of one stage.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageTime {
    /// What is done.
    pub name: &'static str,
    /// The unit.
    pub rate: Rate,
    /// Seconds at the machine's rate.
    pub seconds: f64,
}

/// The time of a path on a machine, by three assumptions on what runs side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// Q/B: nothing is faster.
    pub memory: f64,
    /// Stages at their units' rates.
    pub stages: Vec<StageTime>,
    /// Everything one after the other.
    pub serial: f64,
    /// Equation 3: products behind memory or memory behind products, then the rest.
    pub tme: f64,
    /// Every unit busy all the time: the largest sum of one unit, or memory.
    pub overlapped: f64,
    /// What is that largest.
    pub binding: Rate,
}

impl Estimate {
    /// Between both ends: 0 is one after the other, 1 is perfect overlap.
    pub fn at_overlap(&self, overlap: f64) -> f64 {
        self.overlapped + (1.0 - overlap) * (self.serial - self.overlapped)
    }

    /// The overlap that a measured time means: 1 if all that could be hidden was; below 0 if even that leaves time unexplained.
    pub fn overlap_of(&self, measured: f64) -> f64 {
        (self.serial - measured) / (self.serial - self.overlapped)
    }

    /// How far above memory's speed perfect overlap is.
    pub fn over_roof(&self) -> f64 {
        self.overlapped / self.memory
    }
}

/// Times of a path at the machine's rates. A unit that the machine does not have takes for ever.
pub fn estimate(path: &Path, machine: &Machine) -> Result<Estimate, RooflineError> {
    let memory = path.bytes / machine.bandwidth(path.mode)?;
    let mut stages = Vec::new();
    let mut units: Vec<(Rate, f64)> = vec![(Rate::Bandwidth, memory)];
    let (mut products, mut others) = (0.0, 0.0);
    for stage in &path.stages {
        let seconds = stage.work / machine.rate(path.mode, stage.rate)?;
        match stage.role {
            Role::Product => products += seconds,
            Role::Reconstruction | Role::Beside => others += seconds,
        }
        match units.iter_mut().find(|(rate, _)| *rate == stage.rate) {
            Some((_, sum)) => *sum += seconds,
            None => units.push((stage.rate, seconds)),
        }
        stages.push(StageTime {
            name: stage.name,
            rate: stage.rate,
            seconds,
        });
    }
    let (binding, overlapped) = units
        .into_iter()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or((Rate::Bandwidth, memory));
    Ok(Estimate {
        memory,
        serial: memory + products + others,
        tme: memory.max(products) + others,
        stages,
        overlapped,
        binding,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::Mode;
    use crate::paths::{Substrate, Variant, path};

    fn b300(way: Variant) -> Estimate {
        let path = path(way, Substrate::Fp8, Mode::Printed, 1024);
        estimate(&path.unwrap().unwrap(), &Machine::named("b300").unwrap()).unwrap()
    }

    fn near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-12, "{value} {expected}");
    }

    #[test]
    fn native_on_b300_is_124_ms() {
        let estimate = b300(Variant::Native);
        near(estimate.memory, 103_079_215_104.0 / 8e12);
        near(estimate.overlapped, 161_061_273_600.0 / 1.3e12); // 123.9 ms
        assert_eq!(estimate.binding, Rate::Fp64);
    }

    #[test]
    fn kulisch_on_b300_is_three_figures_and_none_is_18_ms() {
        let estimate = b300(Variant::Kulisch32);
        let point = 2f64.powi(30);
        // 18·44/75e12, 14208/5e15 and 2376/5e15 a point, 96/8e12 for memory.
        let (phase_b, products, phase_a) = (
            point * 792.0 / 75e12,
            point * 14208.0 / 5e15,
            point * 2376.0 / 5e15,
        );
        let memory = point * 96.0 / 8e12;
        near(estimate.overlapped, memory); // 12.9 ms: integers take 11.3
        near(estimate.tme, memory + phase_b); // 24.2 ms
        near(estimate.serial, memory + phase_b + products + phase_a); // 27.8 ms
        assert_eq!(estimate.binding, Rate::Bandwidth);
        near(estimate.at_overlap(1.0), estimate.overlapped);
        near(estimate.at_overlap(0.0), estimate.serial);
        let half = (estimate.serial + estimate.overlapped) / 2.0;
        assert!((estimate.overlap_of(half) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_unit_that_is_not_there_takes_for_ever() {
        let machine = Machine::named("a100").unwrap();
        let path = path(Variant::Kulisch32, Substrate::Fp8, Mode::Corrected, 1024);
        let estimate = estimate(&path.unwrap().unwrap(), &machine).unwrap();
        assert_eq!(estimate.overlapped, f64::INFINITY);
        assert_eq!(estimate.binding, Rate::Fp8);
    }
}
