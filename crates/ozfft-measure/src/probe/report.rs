//! What `ozfft probe` found out: the record, and the same as tables. Names of fields say the unit.

use crate::failure::Failure;
use crate::gpu::DeviceFacts;
use crate::inputs::read_json;
use crate::machine::{Machine, Software};
use crate::report::aligned;
use crate::report::write_json;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Copying within the device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    pub name: String,
    /// Bytes that were copied: each is read and written.
    pub bytes: usize,
    pub median_ms: f64,
    pub runs: usize,
    /// Reads and writes together.
    pub terabytes_per_second: f64,
}

/// The rate of one instruction in dependent chains, with as many threads as fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PipeRate {
    pub name: String,
    /// Operations are what the name says; some need more than one instruction.
    pub instructions_per_operation: u32,
    pub median_ms: f64,
    pub runs: usize,
    /// Operations of single threads.
    pub tera_operations_per_second: f64,
    pub operations_per_clock_and_multiprocessor: f64,
    /// The clock while it was measured.
    pub clock_mhz: f64,
}

/// The rate of a tensor instruction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TensorRate {
    pub name: String,
    /// Where the left operand is.
    pub left_operand: String,
    pub warps_per_multiprocessor: u32,
    pub median_ms: f64,
    pub runs: usize,
    /// Multiplications and additions, counted one each.
    pub tera_operations_per_second: f64,
    pub operations_per_clock_and_multiprocessor: f64,
    pub clock_mhz: f64,
}

/// Sums of products of e4m3 numbers against integers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exactness {
    pub instruction: String,
    pub digits: String,
    /// Products in a sum.
    pub k: usize,
    pub sums: usize,
    pub wrong: usize,
    /// Largest magnitude of the exact sums.
    pub largest_sum: u32,
}

/// Up to where sums of products of e4m3 numbers are exact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExactnessLimit {
    pub instruction: String,
    /// Sums are exact while all partial sums are below two to this power in magnitude; nothing: not even 16.
    pub exact_below_power_of_two: Option<u32>,
    pub tested_up_to_power_of_two: u32,
}

impl std::fmt::Display for ExactnessLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let instruction = &self.instruction;
        match self.exact_below_power_of_two {
            None => write!(f, "{instruction}: wrong sums even below 2^4"),
            Some(power) if power == self.tested_up_to_power_of_two => {
                write!(
                    f,
                    "{instruction}: exact while |partial sum| < 2^{power}, all that its type can hold"
                )
            }
            Some(power) => write!(
                f,
                "{instruction}: exact while |partial sum| < 2^{power}, wrong sums below 2^{}",
                power + 1
            ),
        }
    }
}

/// Everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// When measuring began, in UTC.
    pub date: String,
    pub machine: Machine,
    pub software: Software,
    pub device: DeviceFacts,
    pub bandwidths: Vec<Bandwidth>,
    pub pipes: Vec<PipeRate>,
    pub tensor_units: Vec<TensorRate>,
    pub exactness: Vec<Exactness>,
    pub exactness_limits: Vec<ExactnessLimit>,
    /// What was left out, and why.
    pub notices: Vec<String>,
    pub seconds: f64,
}

impl Report {
    /// A record that was written earlier.
    pub fn read(path: &Path) -> Result<Report, Failure> {
        read_json(path, "a record of ozfft probe")
    }

    /// Writes a record file, which is either complete or untouched.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        write_json(path, self)
    }

    /// Tables for people.
    pub fn to_text(&self) -> String {
        let mut parts = vec![
            self.device.to_string(),
            table(
                ["copy within the device", "TB/s", "ms"],
                self.bandwidths.iter().map(|b| {
                    let name = format!("{}, {:.1} GB", b.name, b.bytes as f64 / 1e9);
                    [
                        name,
                        format!("{:.2}", b.terabytes_per_second),
                        format!("{:.2}", b.median_ms),
                    ]
                }),
            ),
            table(
                [
                    "pipe",
                    "T/s",
                    "per clock and SM",
                    "instructions each",
                    "MHz",
                ],
                self.pipes.iter().map(|pipe| {
                    [
                        pipe.name.clone(),
                        format!("{:.2}", pipe.tera_operations_per_second),
                        format!("{:.1}", pipe.operations_per_clock_and_multiprocessor),
                        pipe.instructions_per_operation.to_string(),
                        format!("{:.0}", pipe.clock_mhz),
                    ]
                }),
            ),
            table(
                [
                    "tensor instruction",
                    "left operand",
                    "warps per SM",
                    "TOPS",
                    "per clock and SM",
                    "MHz",
                ],
                self.tensor_units.iter().map(|rate| {
                    [
                        rate.name.clone(),
                        rate.left_operand.clone(),
                        rate.warps_per_multiprocessor.to_string(),
                        format!("{:.0}", rate.tera_operations_per_second),
                        format!("{:.0}", rate.operations_per_clock_and_multiprocessor),
                        format!("{:.0}", rate.clock_mhz),
                    ]
                }),
            ),
        ];
        if !self.exactness.is_empty() {
            parts.push(table(
                [
                    "sums of e4m3 products",
                    "digits",
                    "k",
                    "sums",
                    "wrong",
                    "largest",
                ],
                self.exactness.iter().map(|row| {
                    [
                        row.instruction.clone(),
                        row.digits.clone(),
                        row.k.to_string(),
                        row.sums.to_string(),
                        row.wrong.to_string(),
                        row.largest_sum.to_string(),
                    ]
                }),
            ));
        }
        let lines = |lines: Vec<String>| (!lines.is_empty()).then(|| lines.join("\n"));
        parts.extend(lines(
            self.exactness_limits
                .iter()
                .map(ToString::to_string)
                .collect(),
        ));
        parts.extend(lines(
            self.notices
                .iter()
                .map(|notice| format!("note: {notice}"))
                .collect(),
        ));
        parts.push(format!("measured in {:.1} s", self.seconds));
        parts.join("\n\n")
    }
}

fn table<const COLUMNS: usize>(
    heading: [&str; COLUMNS],
    rows: impl Iterator<Item = [String; COLUMNS]>,
) -> String {
    let heading = heading.map(String::from).to_vec();
    let rows = rows.map(|row| row.to_vec());
    aligned(&std::iter::once(heading).chain(rows).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        Report {
            date: "2026-11-15T08:00:00Z".into(),
            machine: Machine::here(),
            software: Software {
                ozfft: "0.1.0".into(),
                commit: None,
                rustc: "rustc".into(),
            },
            device: DeviceFacts {
                name: "NVIDIA H200".into(),
                compute_capability: "9.0".into(),
                multiprocessors: 132,
                clock_mhz: 1980,
                memory_clock_mhz: 3201,
                memory_bus_bits: 6144,
                memory_bytes: 150_000_000_000,
                l2_bytes: 60 << 20,
                shared_bytes_per_multiprocessor: 228 << 10,
                shared_bytes_per_block: 227 << 10,
                registers_per_multiprocessor: 65_536,
                threads_per_multiprocessor: 2048,
                driver: Some("580.95.05".into()),
                cuda: "13.0".into(),
            },
            bandwidths: vec![Bandwidth {
                name: "driver".into(),
                bytes: 4_000_000_000,
                median_ms: 1.9,
                runs: 7,
                terabytes_per_second: 4.27,
            }],
            pipes: vec![PipeRate {
                name: "IMAD".into(),
                instructions_per_operation: 1,
                median_ms: 3.0,
                runs: 7,
                tera_operations_per_second: 16.5,
                operations_per_clock_and_multiprocessor: 63.9,
                clock_mhz: 1960.0,
            }],
            tensor_units: vec![TensorRate {
                name: "wgmma s8 m64n256k32".into(),
                left_operand: "registers".into(),
                warps_per_multiprocessor: 8,
                median_ms: 3.0,
                runs: 7,
                tera_operations_per_second: 1831.0,
                operations_per_clock_and_multiprocessor: 8000.0,
                clock_mhz: 1755.0,
            }],
            exactness: vec![Exactness {
                instruction: "wgmma e4m3".into(),
                digits: "nibbles 0..15".into(),
                k: 256,
                sums: 65_536,
                wrong: 145,
                largest_sum: 18_777,
            }],
            exactness_limits: vec![ExactnessLimit {
                instruction: "wgmma e4m3".into(),
                exact_below_power_of_two: Some(14),
                tested_up_to_power_of_two: 24,
            }],
            notices: vec!["something is left out".into()],
            seconds: 4.5,
        }
    }

    #[test]
    fn reports_are_read_as_they_were_written() {
        let text = serde_json::to_string(&report()).expect("JSON");
        let read: Report = serde_json::from_str(&text).expect("the same");
        assert_eq!(read, report());
    }

    #[test]
    fn the_json_has_units_in_its_names() {
        let value = serde_json::to_value(report()).expect("JSON");
        assert_eq!(value["device"]["name"], "NVIDIA H200");
        assert_eq!(value["bandwidths"][0]["terabytes_per_second"], 4.27);
        assert_eq!(value["pipes"][0]["tera_operations_per_second"], 16.5);
        assert_eq!(value["tensor_units"][0]["warps_per_multiprocessor"], 8);
        assert_eq!(value["exactness"][0]["wrong"], 145);
        assert_eq!(value["exactness_limits"][0]["exact_below_power_of_two"], 14);
    }

    #[test]
    fn the_text_has_every_figure() {
        let text = report().to_text();
        for part in [
            "NVIDIA H200",
            "580.95.05",
            "4.27",
            "16.50",
            "1831",
            "18777",
            "< 2^14, wrong sums below 2^15",
            "note: something",
            "60 MiB",
            "4.5 s",
        ] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
    }
}
