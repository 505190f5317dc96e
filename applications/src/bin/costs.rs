//! What transforms cost the five programs, engine by engine, and what fewer digits do to their numbers.
//!
//! Runs the programs beside it (`cargo build --release -p ozfft-applications --bins` makes all of them), each with every engine and some accuracies, and prints for each run
//! the time of a transform, the share of transforms in the run, how far the program's number is from that of digits in double precision, and, of residues, how many moduli its
//! columns took and how often the native engine took over.

#![deny(unsafe_code)]

use clap::Parser;
use ozfft_applications::other_programs::{Case, cases_of, report_of};
use ozfft_cli::failure::Failure;
use ozfft_cli::options::{parse_device, parse_threads};
use ozfft_cli::report::{aligned, note, progress, say, say_json};
use ozfft_cli::{arguments, finish};
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
    /// Print one JSON object per run instead of a table
    #[arg(long)]
    json: bool,
}

/// `mersenne` takes engines without a proven bound for what they are: not proven.
const CASES: [Case; 5] = [
    Case {
        program: "turbulence",
        options: "--shape 32 --time 0.8",
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
    Case {
        program: "mersenne",
        options: "--exponent 11213 --iterations 500 --unproven",
        short_options: "--exponent 1277 --iterations 20 --unproven",
        number: "/res64",
        meaning: "residue",
    },
];

/// Ways of computing on the processor: a name and options. The first is what numbers are compared with.
const SETTINGS: [(&str, &str); 8] = [
    ("digits", ""),
    ("native", "--engine native"),
    ("digits, 1e-12", "--accuracy 1e-12"),
    ("digits, 1e-9", "--accuracy 1e-9"),
    ("digits, 1e-6", "--accuracy 1e-6"),
    ("digits, 1e-3", "--accuracy 1e-3"),
    ("residues", "--engine residues"),
    (
        "residues, adaptive, 1e-9",
        "--engine residues --adaptive --native-fallback --accuracy 1e-9",
    ),
];

/// And on a GPU.
const GPU_SETTINGS: [(&str, &str); 3] = [
    ("cuFFT", "--library cufft"),
    ("digits on the GPU", "--device cuda"),
    ("residues on the GPU", "--device cuda --engine residues"),
];

#[derive(Debug, Serialize)]
struct Outcome {
    program: &'static str,
    setting: &'static str,
    transforms: u64,
    /// Of one transform.
    transform_seconds: f64,
    seconds: f64,
    fft_share: f64,
    number: Value,
    /// From the number of digits in double precision, relative to that.
    difference: Option<f64>,
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
    Ok(Outcome {
        program: case.program,
        setting,
        transforms,
        transform_seconds: number("fft_seconds")? / transforms.max(1) as f64,
        seconds: number("seconds")?,
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
    vec![
        outcome.program.into(),
        outcome.setting.into(),
        format!("{:.4}", 1e3 * outcome.transform_seconds),
        format!("{:.3}", outcome.seconds),
        format!("{:.3}", outcome.fft_share),
        match outcome.difference {
            Some(difference) => format!("{difference:.1e}"),
            None => "another".into(),
        },
        shares.collect::<Vec<_>>().join(", "),
        fallbacks.map_or(String::new(), |count| count.to_string()),
    ]
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let cases = cases_of(&CASES, &arguments.programs)?;
    let on_gpu: &[_] = match arguments.device {
        ozfft::Device::Cpu => &[],
        _ => &GPU_SETTINGS,
    };
    let settings: Vec<_> = SETTINGS.iter().chain(on_gpu).collect();
    let bar = progress(cases.len() * settings.len(), "running", arguments.json);
    let heading = [
        "program",
        "engine",
        "ms of one",
        "run, s",
        "share",
        "number differs by",
        "moduli of columns",
        "native calls",
    ];
    let mut table = vec![heading.map(String::from).to_vec()];
    for case in cases {
        let mut reference = None;
        for &&(setting, how) in &settings {
            bar.set_message(format!("{}: {setting}", case.program));
            let how = format!("{how} --threads {}", arguments.threads);
            match report_of(case.program, &case.with(arguments.short, &how))? {
                Err(reason) => note(&format!(
                    "note: {} with {setting} is left out: {reason}",
                    case.program
                )),
                Ok(report) => {
                    let outcome = outcome_of(case, setting, &report, reference.as_ref())?;
                    if arguments.json {
                        say_json(&outcome)?;
                    }
                    table.push(row(&outcome));
                    reference.get_or_insert(outcome.number);
                }
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    match arguments.json {
        true => Ok(()),
        false => say(&aligned(&table)),
    }
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
            "transforms": 4, "seconds": 0.5, "fft_seconds": 0.25, "fft_share": 0.5, "gamma": -0.15,
            "columns_by_moduli": [[8, 25], [11, 75]], "native_fallbacks": 3
        });
        let case = &CASES[3];
        let outcome = outcome_of(case, "residues", &report, Some(&json!(-0.15))).unwrap();
        let row = row(&outcome);
        assert_eq!(row[2..6], ["62.5000", "0.500", "0.500", "0.0e0"]);
        assert_eq!(row[6..], ["8: 25 %, 11: 75 %", "3"]);
        let failed = outcome_of(case, "residues", &json!({}), None).unwrap_err();
        assert!(failed.to_string().contains("/gamma"), "{failed}");
    }
}
