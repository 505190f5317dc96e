//! What transforms cost the five programs, engine by engine, and what fewer digits do to their numbers.
//!
//! Runs the programs beside it (`cargo build --release --manifest-path applications/Cargo.toml --bins` makes all of them), each with every engine and some accuracies, and prints for each run
//! the time of a transform, the share of transforms in the run, how far the program's number is from that of digits in double precision, the first digits of its digest, and, of
//! residues, how many moduli its columns took and how often the native engine took over.
//!
//! On a GPU, times of transforms are those of kernels on arrays in its memory, ozfft's and cuFFT's alike; copies of programs whose arrays are in the processor's memory have a
//! column of their own. `turbulence` has its arrays on the GPU with either library.

#![deny(unsafe_code)]

use clap::Parser;
use ozfft_applications::other_programs::{Case, cases_of, report_of};
use ozfft_measure::failure::Failure;
use ozfft_measure::gpu::{DeviceFacts, Gpu, cufft_version};
use ozfft_measure::machine::{Machine, built_commit, today};
use ozfft_measure::options::{parse_device, parse_threads};
use ozfft_measure::report::{aligned, note, progress, say, say_json};
use ozfft_measure::{arguments, finish};
use serde::Serialize;
use serde_json::Value;
use std::process::ExitCode;

/// What transforms cost the programs, engine by engine, and what fewer digits do to their numbers.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// On which device besides the processor: cuda adds ozfft's and cuFFT's transforms on the first GPU
    #[arg(long, value_parser = parse_device, default_value = "cpu")]
    device: ozfft::Device,
    /// Programs, joined by commas
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "turbulence,ewald,plane_wave,plasma,mersenne"
    )]
    programs: Vec<String>,
    /// Threads of every program
    #[arg(long, value_parser = parse_threads, default_value = "1")]
    threads: usize,
    /// Small runs of the programs, in seconds
    #[arg(long)]
    short: bool,
    /// With --device cuda: nothing on the processor; numbers are compared with those of digits on the GPU, which have the same bits
    #[arg(long)]
    gpu_alone: bool,
    /// Print one JSON object about the machine and one per run instead of a table
    #[arg(long)]
    json: bool,
}

/// `mersenne` takes engines without a proven bound for what they are: not proven.
const CASES: [Case; 6] = [
    Case {
        program: "turbulence",
        options: "--shape 32 --time 0.4",
        short_options: "--shape 16 --time 0.16 --step 0.08",
        number: "/final_energy",
        meaning: "kinetic energy at the end",
    },
    Case {
        program: "ewald",
        options: "--crystal nacl --shape 30 --order 8",
        short_options: "--crystal nacl --shape 12 --order 4",
        number: "/particle_mesh/0/rms_error",
        meaning: "error of particle-mesh Ewald",
    },
    Case {
        program: "plane_wave",
        options: "--cutoff 8",
        short_options: "--cutoff 5 --bands 5",
        number: "/gap",
        meaning: "gap of silicon in electronvolts",
    },
    Case {
        program: "plasma",
        options: "--k 0.5",
        short_options: "--velocities 64 --electrons 8 --shape 16 --step 0.1 --from 2 --time 8",
        number: "/gamma",
        meaning: "Landau damping",
    },
    // A length of which GPUs have kernels with residues.
    Case {
        program: "plasma",
        options: "--k 0.5 --shape 256",
        short_options: "--velocities 64 --electrons 32 --shape 256 --step 0.1 --from 2 --time 8",
        number: "/gamma",
        meaning: "Landau damping",
    },
    Case {
        program: "mersenne",
        options: "--exponent 11213 --iterations 500 --unproven",
        short_options: "--exponent 1277 --iterations 20 --unproven",
        number: "/res64",
        meaning: "residue",
    },
];

/// Ways of computing on the processor: a name and options. The first is what numbers are compared with.
const SETTINGS: [(&str, &str); 11] = [
    ("digits", ""),
    ("native", "--engine native"),
    ("digits, 1e-12", "--accuracy 1e-12"),
    ("digits, 1e-9", "--accuracy 1e-9"),
    ("digits, 1e-6", "--accuracy 1e-6"),
    ("digits, 1e-3", "--accuracy 1e-3"),
    ("digits, exact", "--products exact"),
    ("residues", "--engine residues"),
    (
        "residues, adaptive, 1e-9",
        "--engine residues --adaptive --native-fallback --accuracy 1e-9",
    ),
    // So near to the least bound there is, of one dimension and of three, that some lines need more bits than words have: native takes these calls.
    (
        "residues, adaptive, 2.4e-16",
        "--engine residues --adaptive --native-fallback --accuracy 2.4e-16",
    ),
    (
        "residues, adaptive, 6.5e-16",
        "--engine residues --adaptive --native-fallback --accuracy 6.5e-16",
    ),
];

/// And on a GPU.
const GPU_SETTINGS: [(&str, &str); 3] = [
    ("digits on the GPU", "--device cuda"),
    ("cuFFT", "--library cufft"),
    ("residues on the GPU", "--device cuda --engine residues"),
];

/// Flows that are large enough for a GPU: there alone, and as short as a mean of steps allows.
const GPU_CASES: [Case; 2] = [
    Case {
        program: "turbulence",
        options: "--shape 256 --time 0.1 --step 0.005",
        short_options: "--shape 256 --time 0.01 --step 0.005",
        number: "/final_energy",
        meaning: "kinetic energy at the end",
    },
    Case {
        program: "turbulence",
        options: "--shape 512 --time 0.05 --step 0.005",
        short_options: "--shape 64 --time 0.04 --step 0.02",
        number: "/final_energy",
        meaning: "kinetic energy at the end",
    },
];

/// Ways of computing of these; the first is what numbers are compared with.
const LARGE_SETTINGS: [(&str, &str); 6] = [
    GPU_SETTINGS[0],
    GPU_SETTINGS[1],
    GPU_SETTINGS[2],
    ("digits on the GPU, 1e-9", "--device cuda --accuracy 1e-9"),
    ("digits on the GPU, 1e-6", "--device cuda --accuracy 1e-6"),
    ("digits on the GPU, 1e-3", "--device cuda --accuracy 1e-3"),
];

/// Where and when.
#[derive(Debug, Serialize)]
struct Place {
    date: String,
    commit: Option<String>,
    machine: Machine,
    gpu: Option<DeviceFacts>,
    cufft: Option<String>,
    threads: usize,
}

#[derive(Debug, Serialize)]
struct Outcome {
    program: &'static str,
    options: String,
    setting: &'static str,
    unit: Option<String>,
    device: Option<String>,
    transforms: u64,
    /// Of one transform; on a GPU without copies from and to the processor's memory.
    transform_seconds: f64,
    /// Of these copies, for one transform.
    copy_seconds: f64,
    seconds: f64,
    /// Of a step of the flow, or an iteration.
    step_seconds: Option<f64>,
    fft_share: f64,
    number: Value,
    /// From the number of digits in double precision, relative to that.
    difference: Option<f64>,
    sha256: Option<String>,
    columns_by_moduli: Option<Vec<(usize, u64)>>,
    native_fallbacks: Option<u64>,
}

/// How far a number is from another; those that are no numbers are the same or not.
fn difference(number: &Value, reference: &Value) -> Option<f64> {
    match (number.as_f64(), reference.as_f64()) {
        (Some(number), Some(reference)) => Some(((number - reference) / reference).abs()),
        _ => (number == reference).then_some(0.0),
    }
}

fn outcome_of(
    case: &Case,
    options: String,
    setting: &'static str,
    report: &Value,
    reference: Option<&Value>,
) -> Result<Outcome, Failure> {
    let missing = |key: &str| Failure::Check(format!("{} reports no {key}", case.program));
    let number = |key: &str| report[key].as_f64().ok_or_else(|| missing(key));
    let found = report.pointer(case.number).cloned();
    let found = found.ok_or_else(|| missing(case.number))?;
    let transforms = report["transforms"].as_u64();
    let transforms = transforms.ok_or_else(|| missing("transforms"))?;
    let text = |key: &str| report[key].as_str().map(String::from);
    let step = ["seconds_per_step", "seconds_per_iteration"];
    Ok(Outcome {
        program: case.program,
        options,
        setting,
        unit: text("unit"),
        device: text("device"),
        transforms,
        transform_seconds: number("fft_seconds")? / transforms.max(1) as f64,
        copy_seconds: number("copy_seconds")? / transforms.max(1) as f64,
        seconds: number("seconds")?,
        step_seconds: step.iter().find_map(|key| report[*key].as_f64()),
        sha256: text("sha256"),
        fft_share: number("fft_share")?,
        difference: difference(&found, reference.unwrap_or(&found)),
        number: found,
        columns_by_moduli: serde_json::from_value(report["columns_by_moduli"].clone())?,
        native_fallbacks: report["native_fallbacks"].as_u64(),
    })
}

fn row(outcome: &Outcome) -> Vec<String> {
    let moduli = outcome.columns_by_moduli.iter().flatten();
    let columns: u64 = moduli.clone().map(|(_, columns)| columns).sum();
    let shares = moduli.map(|(moduli, count)| {
        let share = 100.0 * *count as f64 / columns.max(1) as f64;
        format!("{moduli}: {share:.0} %")
    });
    let fallbacks = outcome.native_fallbacks;
    let milliseconds = |seconds: f64| format!("{:.4}", 1e3 * seconds);
    vec![
        outcome.setting.into(),
        milliseconds(outcome.transform_seconds),
        milliseconds(outcome.copy_seconds),
        outcome.step_seconds.map_or(String::new(), milliseconds),
        format!("{:.3}", outcome.seconds),
        format!("{:.3}", outcome.fft_share),
        match outcome.difference {
            Some(difference) => format!("{difference:.1e}"),
            None => "another".into(),
        },
        outcome
            .sha256
            .iter()
            .flat_map(|all| all.chars().take(8))
            .collect(),
        shares.collect::<Vec<_>>().join(", "),
        fallbacks.map_or(String::new(), |count| count.to_string()),
    ]
}

const HEADING: [&str; 10] = [
    "engine",
    "ms of one",
    "copies, ms",
    "step, ms",
    "run, s",
    "share",
    "number differs by",
    "digest",
    "moduli of columns",
    "native calls",
];

/// Cases with the ways in which they are computed.
type Runs<'a> = Vec<(&'a Case, Vec<(&'static str, &'static str)>)>;

fn runs(arguments: &Arguments) -> Result<Runs<'static>, Failure> {
    let on_gpu = arguments.device != ozfft::Device::Cpu;
    if arguments.gpu_alone && !on_gpu {
        return Err(Failure::Usage(
            "--gpu-alone leaves out the processor; give --device cuda with it".into(),
        ));
    }
    let mut settings = match arguments.gpu_alone {
        true => Vec::new(),
        false => SETTINGS.to_vec(),
    };
    if on_gpu {
        settings.extend(GPU_SETTINGS);
    }
    let cases = cases_of(&CASES, &arguments.programs)?.into_iter();
    let mut runs: Runs<'static> = cases.map(|case| (case, settings.clone())).collect();
    if on_gpu {
        let named = |case: &&Case| arguments.programs.iter().any(|name| name == case.program);
        let large = GPU_CASES.iter().filter(named);
        runs.extend(large.map(|case| (case, LARGE_SETTINGS.to_vec())));
    }
    Ok(runs)
}

fn place(arguments: &Arguments) -> Result<Place, Failure> {
    let gpu = match arguments.device {
        ozfft::Device::Cpu => None,
        _ => Some(Gpu::open(0)?.facts),
    };
    Ok(Place {
        date: today(),
        commit: built_commit(),
        machine: Machine::here(),
        cufft: gpu.as_ref().and_then(|_| cufft_version().ok()),
        gpu,
        threads: arguments.threads,
    })
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let runs = runs(arguments)?;
    let place = place(arguments)?;
    if arguments.json {
        say_json(&place)?;
    } else {
        say(&format!(
            "{}, {}, {} threads",
            place.date, place.machine.processor, place.threads
        ))?;
    }
    let count = runs.iter().map(|(_, settings)| settings.len()).sum();
    let bar = progress(count, "running", arguments.json);
    for (case, settings) in runs {
        let mut reference = None;
        let mut table = vec![HEADING.map(String::from).to_vec()];
        for (setting, how) in settings {
            bar.set_message(format!("{}: {setting}", case.program));
            let how = format!("{how} --threads {}", arguments.threads);
            let options = case.with(arguments.short, &how);
            match report_of(case.program, &options)? {
                Err(reason) => note(&format!(
                    "note: {} with {setting} is left out: {reason}",
                    case.program
                )),
                Ok(report) => {
                    let outcome = outcome_of(case, options, setting, &report, reference.as_ref())?;
                    if arguments.json {
                        say_json(&outcome)?;
                    }
                    table.push(row(&outcome));
                    reference.get_or_insert(outcome.number);
                }
            }
            bar.inc(1);
        }
        if !arguments.json {
            let options = case.with(arguments.short, "");
            say(&format!("\n{} {options}: {}", case.program, case.meaning))?;
            say(&aligned(&table))?;
        }
    }
    bar.finish_and_clear();
    Ok(())
}

fn main() -> ExitCode {
    finish(run(&arguments()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_are_relative_and_words_are_equal_or_not() {
        assert_eq!(difference(&json!(2.5), &json!(2.0)), Some(0.25));
        assert_eq!(difference(&json!("0A"), &json!("0A")), Some(0.0));
        assert_eq!(difference(&json!("0A"), &json!("0B")), None);
    }

    #[test]
    fn rows_show_shares_of_moduli() {
        let report = json!({
            "transforms": 4, "seconds": 0.5, "fft_seconds": 0.25, "copy_seconds": 0.5, "fft_share": 0.5, "gamma": -0.15,
            "sha256": "0123456789abcdef", "seconds_per_step": 0.125, "columns_by_moduli": [[8, 25], [11, 75]], "native_fallbacks": 3
        });
        let case = &CASES[3];
        let of = |report, reference| outcome_of(case, String::new(), "residues", report, reference);
        let reference = json!(-0.15);
        let row = row(&of(&report, Some(&reference)).unwrap());
        assert_eq!(row[1..4], ["62.5000", "125.0000", "125.0000"]);
        assert_eq!(row[4..8], ["0.500", "0.500", "0.0e0", "01234567"]);
        assert_eq!(row[8..], ["8: 25 %, 11: 75 %", "3"]);
        assert_eq!(row.len(), HEADING.len());
        let empty = json!({});
        let failed = of(&empty, None).unwrap_err();
        assert!(failed.to_string().contains("/gamma"), "{failed}");
    }
}
