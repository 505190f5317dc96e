//! What others published of the Taylor–Green vortex at Reynolds number 1600, and how far a run is from it.

use serde::Serialize;

/// What is recorded at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Time.
    pub time: f64,
    /// Kinetic energy.
    pub energy: f64,
    /// Dissipation of kinetic energy.
    pub dissipation: f64,
}

/// The Reynolds number of the table.
pub const PUBLISHED_REYNOLDS: f64 = 1600.0;

/// Figures of the reference solution of the International Workshops on High-Order CFD Methods, case C3.5: `spectral_Re1600_512.gdiag` (DLR; pseudo-spectral, 512³ points, columns
/// time, kinetic energy, -dE/dt and enstrophy), which has the largest dissipation at 8.97. Rounded to eight decimals and nine. (At time 0 the flow has 0.000_468_75 exactly: dissipation
/// there is a difference of energies.)
pub const PUBLISHED: [Sample; 6] = [
    published(0.0, 0.125, 0.000_468_743),
    published(5.0, 0.118_435_75, 0.004_127_097),
    published(8.0, 0.098_289_88, 0.010_372_895),
    published(8.97, 0.086_789_56, 0.012_857_528),
    published(10.0, 0.074_479_17, 0.011_272_054),
    published(19.99, 0.021_567_36, 0.001_873_496),
];

const fn published(time: f64, energy: f64, dissipation: f64) -> Sample {
    Sample {
        time,
        energy,
        dissipation,
    }
}

/// A run beside a published figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Compared {
    /// Time.
    pub time: f64,
    /// Kinetic energy here.
    pub energy: f64,
    /// Kinetic energy there.
    pub published_energy: f64,
    /// Dissipation here.
    pub dissipation: f64,
    /// Dissipation there.
    pub published_dissipation: f64,
}

/// The run at the published times that it has reached. Samples are in the order of their times, at equal distances.
pub fn compared(samples: &[Sample]) -> Vec<Compared> {
    let rows = PUBLISHED.iter().filter_map(|row| {
        let found = at(samples, row.time)?;
        Some(Compared {
            time: row.time,
            energy: found.energy,
            published_energy: row.energy,
            dissipation: found.dissipation,
            published_dissipation: row.dissipation,
        })
    });
    rows.collect()
}

/// Samples that a value between them is interpolated from.
const NEIGHBOURS: usize = 4;

/// By the cubic through the four nearest samples; none beyond the last one.
fn at(samples: &[Sample], time: f64) -> Option<Sample> {
    let last = samples.last()?.time;
    if samples.len() < NEIGHBOURS || time > last * (1.0 + 1e-12) {
        return None;
    }
    let after = samples.partition_point(|sample| sample.time < time);
    let first = after.saturating_sub(NEIGHBOURS / 2);
    let first = first.min(samples.len() - NEIGHBOURS);
    let near = &samples[first..first + NEIGHBOURS];
    let mut found = published(time, 0.0, 0.0);
    for sample in near {
        let others = near.iter().filter(|other| other.time != sample.time);
        let weight = others.fold(1.0, |product, other| {
            product * (time - other.time) / (sample.time - other.time)
        });
        found.energy += weight * sample.energy;
        found.dissipation += weight * sample.dissipation;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn cubics_are_interpolated_exactly_and_nothing_beyond_the_run() {
        let cubic = |t: f64| 1.0 + t * (0.5 + t * (0.25 - 0.125 * t));
        let time = |index: usize| 0.3 * index as f64;
        let samples: Vec<Sample> = (0..8)
            .map(|index| published(time(index), cubic(time(index)), -cubic(time(index))))
            .collect();
        for t in [0.0, 0.1, 0.3, 1.0, 1.99, 2.1] {
            let found = at(&samples, t).expect("a value");
            assert!((found.energy - cubic(t)).abs() < 1e-14, "{t}");
            assert!((found.dissipation + cubic(t)).abs() < 1e-14, "{t}");
        }
        assert_eq!(at(&samples, 2.2), None);
        assert_eq!(at(&samples[..3], 0.1), None);
        assert_eq!(compared(&samples).len(), 1);
    }

    /// The whole history of the recorded run at 512³, not its peak alone.
    #[test]
    fn the_recorded_run_of_512_has_the_published_history() {
        let text = include_str!("../../benchmarks/records/2026-11-17-h200-turbulence.json");
        let record: Value = serde_json::from_str(text).expect("JSON");
        let runs = record["runs"].as_array().expect("runs");
        let of_512 = |run: &&Value| run["shape"] == "512x512x512";
        let run = runs.iter().find(of_512).expect("the run");
        let rows: Vec<[f64; 3]> = serde_json::from_value(run["history"].clone()).expect("rows");
        let samples: Vec<Sample> = rows
            .iter()
            .map(|row| published(row[0], row[1], row[2]))
            .collect();
        let compared = compared(&samples);
        assert_eq!(compared.len(), 5);
        for row in compared {
            // Both computations resolve the flow until it is turbulent; afterwards small differences of method grow.
            let (energy, dissipation) = match row.time {
                time if time <= 8.0 => (1e-8, 2e-5),
                time if time < 9.0 => (2e-7, 1e-4),
                _ => (1e-6, 5e-4),
            };
            assert!(
                (row.energy - row.published_energy).abs() < energy,
                "{row:?}"
            );
            let off = row.dissipation / row.published_dissipation - 1.0;
            assert!(off.abs() < dissipation, "{row:?}");
        }
    }
}
