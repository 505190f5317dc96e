//! `ozfft probe`: what the GPU of this machine can do, measured by small kernels: its memory, its pipes, its tensor
//! units, and which sums the latter keep exact.

pub mod device;
mod exactness;
mod rates;
mod report;

use crate::failure::Failure;
use crate::gpu::DeviceFailure;
use crate::machine::{Machine, Software, now};
use crate::outputs;
use crate::report::{progress, say, say_json};
use clap::Args;
use device::{Device, Kernels};
use ozfft_kernels::probe::{PROBE, PROBE_FP8, PROBE_HOPPER};
pub use report::Report;
use std::path::PathBuf;
use std::time::Instant;

/// Seed of the digits whose sums are compared.
const SEED: u64 = 1;
const WGMMA_E4M3: &str = "wgmma e4m3 m64n64k32";
const MMA_SYNC_E4M3: &str = "mma.sync e4m3 m16n8k32";

/// Options of `ozfft probe`.
#[derive(Debug, Args)]
pub struct ProbeArguments {
    /// Number of the GPU, as the driver counts
    #[arg(long, default_value_t = 0, value_name = "N")]
    device: usize,
    /// Write the results to this file as well, with machine, date and versions
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// The commit that was built, for the record [default: the one that this program was built from]
    #[arg(long)]
    commit: Option<String>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &ProbeArguments) -> Result<(), Failure> {
    outputs::check_all([&arguments.record])?;
    let report = measure(arguments)?;
    if let Some(path) = &arguments.record {
        report.write(path)?;
    }
    if arguments.json {
        say_json(&report)
    } else {
        say(&report.to_text())
    }
}

fn measure(arguments: &ProbeArguments) -> Result<Report, Failure> {
    let (date, start) = (now(), Instant::now());
    let device = Device::open(arguments.device)?;
    let steps = rates::PIPES.len() + 2 * rates::WGMMA.len() + 5;
    let bar = progress(
        steps,
        &format!("measuring {}", device.facts.name),
        arguments.json,
    );
    let mut report = Report {
        date,
        machine: Machine::here(),
        software: Software::here(arguments.commit.as_deref()),
        device: device.facts.clone(),
        bandwidths: Vec::new(),
        pipes: Vec::new(),
        tensor_units: Vec::new(),
        exactness: Vec::new(),
        exactness_limits: Vec::new(),
        notices: Vec::new(),
        seconds: 0.0,
    };
    let kernels = device.load_ptx(PROBE)?;
    device.warm_up(&kernels.rate("probe_imad")?)?;
    report.bandwidths = rates::bandwidths(&device, &kernels)?;
    bar.inc(1);
    for pipe in &rates::PIPES {
        report
            .pipes
            .push(rates::pipe_rate(&device, &kernels, pipe)?);
        bar.inc(1);
    }
    let mut tensor_units = rates::tensor_rates(&device, &kernels, &rates::MMA_SYNC_S8)?;
    bar.inc(1);
    if device.capability == (9, 0) {
        let kernels = device.load_machine_code(PROBE_HOPPER)?;
        for tensor in rates::WGMMA.iter().flatten() {
            tensor_units.extend(rates::tensor_rates(&device, &kernels, tensor)?);
            bar.inc(1);
        }
        compare_sums(
            &device,
            &kernels,
            "probe_exactness_wgmma_e4m3",
            WGMMA_E4M3,
            &mut report,
        )?;
        bar.inc(1);
    } else {
        report
            .notices
            .push("wgmma is left out: only compute capability 9.0 has it".into());
    }
    if device.capability >= (8, 9) {
        let kernels = device.load_ptx(PROBE_FP8)?;
        tensor_units.extend(rates::tensor_rates(
            &device,
            &kernels,
            &rates::MMA_SYNC_E4M3,
        )?);
        bar.inc(1);
        let kernel = "probe_exactness_mma_sync_e4m3";
        compare_sums(&device, &kernels, kernel, MMA_SYNC_E4M3, &mut report)?;
        bar.inc(1);
    } else {
        let notice = "mma.sync with e4m3 is left out: it needs compute capability 8.9";
        report.notices.push(notice.into());
    }
    report.tensor_units = tensor_units;
    report.seconds = (start.elapsed().as_secs_f64() * 10.0).round() / 10.0;
    bar.finish_and_clear();
    Ok(report)
}

/// Compares an instruction's sums with integers, and finds up to where they agree.
fn compare_sums(
    device: &Device,
    kernels: &Kernels,
    kernel: &str,
    instruction: &str,
    report: &mut Report,
) -> Result<(), DeviceFailure> {
    let kernel = kernels.exactness(kernel)?;
    let sums = |matrices: &exactness::Matrices| device.sums(&kernel, matrices);
    let comparisons = exactness::comparisons(instruction, SEED, sums)?;
    let limit = exactness::limit(instruction, SEED, sums)?;
    if limit.exact_below_power_of_two.is_none() {
        // Small sums are exact on every tensor unit: it would be our kernel that is wrong.
        let notice =
            format!("{instruction}: even small sums are wrong; the kernel must be at fault");
        report.notices.push(notice);
    }
    report.exactness.extend(comparisons);
    report.exactness_limits.push(limit);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    pub(crate) const HOPPER_SOURCE: &str = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../ozfft-kernels/cuda/probes/probe_hopper.cu"
    ));

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        arguments: ProbeArguments,
    }

    #[test]
    fn options_have_defaults() {
        let arguments = Program::parse_from(["probe"]).arguments;
        assert_eq!(arguments.device, 0);
        assert!(!arguments.json && arguments.record.is_none() && arguments.commit.is_none());
    }

    #[test]
    fn options_are_understood_and_mistakes_rejected() {
        let line = ["probe", "--device", "3", "--json", "--record", "a.json"];
        let arguments = Program::parse_from(line).arguments;
        assert_eq!(arguments.device, 3);
        assert!(arguments.json);
        assert_eq!(arguments.record, Some("a.json".into()));
        assert!(Program::try_parse_from(["probe", "--device", "-1"]).is_err());
        assert!(Program::try_parse_from(["probe", "--device", "first"]).is_err());
    }

    #[test]
    fn compiled_kernels_have_the_exactness_kernels() {
        assert!(PROBE_FP8.contains(".entry probe_exactness_mma_sync_e4m3("));
        assert!(HOPPER_SOURCE.contains("// expect: probe_exactness_wgmma_e4m3 "));
    }
}
