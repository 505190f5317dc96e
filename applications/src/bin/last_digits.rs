//! What the last digits of four programs do: over threads, units and ways of planning, with ozfft's transforms and with FFTW's, on a GPU with ozfft's and
//! cuFFT's.
//!
//! Runs the programs beside it (`cargo build --release --manifest-path applications/Cargo.toml --bins` makes all of them) and prints, for each way of computing, a number of every
//! program to its last digit and the first digits of its digest.

#![deny(unsafe_code)]

use clap::Parser;
use ozfft_applications::other_programs::{Case, cases_of, report_of};
use ozfft_measure::failure::Failure;
use ozfft_measure::options::parse_device;
use ozfft_measure::report::{aligned, note, progress, say, say_json};
use ozfft_measure::{arguments, finish};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::ExitCode;

/// The last digits of programs, over threads, units and libraries.
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
        default_value = "turbulence,ewald,plane_wave,plasma"
    )]
    programs: Vec<String>,
    /// Small runs of the programs, in seconds
    #[arg(long)]
    short: bool,
    /// Print one JSON object per run instead of tables
    #[arg(long)]
    json: bool,
}

const CASES: [Case; 4] = [
    Case {
        program: "turbulence",
        options: "--shape 32 --time 10",
        short_options: "--shape 16 --time 0.8 --step 0.08",
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
        options: "",
        short_options: "--cutoff 6",
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
];

/// A way of computing.
struct Setting {
    library: &'static str,
    name: String,
    options: String,
}

/// What one program gave.
#[derive(Debug, Serialize)]
struct Outcome {
    program: &'static str,
    library: &'static str,
    setting: String,
    number: Option<f64>,
    sha256: Option<String>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
}

fn settings(on_gpu: bool) -> Vec<Setting> {
    let setting = |library, name: String, options: String| Setting {
        library,
        name,
        options,
    };
    let mut all = Vec::new();
    for threads in [1, 2, 4] {
        let options = format!("--threads {threads}");
        all.push(setting("ozfft", format!("threads {threads}"), options));
    }
    for unit in ["scalar", "avx2", "avx512-vnni", "amx"] {
        let options = format!("--substrate {unit} --threads 1");
        all.push(setting("ozfft", format!("unit {unit}"), options));
    }
    for planning in ["estimate", "measure"] {
        for threads in [1, 2, 4] {
            let options = format!("--library fftw --planning {planning} --threads {threads}");
            all.push(setting(
                "fftw",
                format!("{planning}, threads {threads}"),
                options,
            ));
        }
    }
    let once_more = "--library fftw --planning measure --threads 1";
    all.push(setting(
        "fftw",
        "measure, threads 1, again".into(),
        once_more.into(),
    ));
    for planning in ["unaligned", "scalar"] {
        let options = format!("--library fftw --planning {planning} --threads 1");
        all.push(setting("fftw", format!("{planning}, threads 1"), options));
    }
    if on_gpu {
        all.push(setting("ozfft", "cuda".into(), "--device cuda".into()));
        all.push(setting("cufft", "cuda".into(), "--library cufft".into()));
    }
    all
}

fn run_case(case: &Case, setting: &Setting, short: bool) -> Result<Outcome, Failure> {
    let mut outcome = Outcome {
        program: case.program,
        library: setting.library,
        setting: setting.name.clone(),
        number: None,
        sha256: None,
        missing: None,
    };
    let report = match report_of(case.program, &case.with(short, &setting.options))? {
        Ok(report) => report,
        Err(reason) => {
            note(&format!(
                "note: {} with {}, {}, is left out: {reason}",
                case.program, setting.library, setting.name
            ));
            outcome.missing = Some(reason);
            return Ok(outcome);
        }
    };
    outcome.number = report.pointer(case.number).and_then(Value::as_f64);
    outcome.sha256 = report["sha256"].as_str().map(String::from);
    match (outcome.number, &outcome.sha256) {
        (Some(_), Some(_)) => Ok(outcome),
        _ => Err(Failure::Check(format!(
            "{} reports no {} or no digest",
            case.program, case.number
        ))),
    }
}

/// How many different digests and numbers there are, and the digits that all numbers have in common.
fn summary(outcomes: &[&Outcome]) -> String {
    let digests: BTreeSet<&str> = outcomes
        .iter()
        .filter_map(|outcome| outcome.sha256.as_deref())
        .collect();
    let numbers: Vec<String> = outcomes
        .iter()
        .filter_map(|outcome| outcome.number)
        .map(|number| format!("{number:.16e}"))
        .collect();
    let Some(first) = numbers.first() else {
        return "none".into();
    };
    let common = (0..first.len())
        .take_while(|&end| {
            numbers
                .iter()
                .all(|number| number.as_bytes().get(end) == first.as_bytes().get(end))
        })
        .count();
    let digits = first[..common]
        .chars()
        .take_while(|&c| c != 'e')
        .filter(char::is_ascii_digit)
        .count();
    let count = match digests.len() {
        1 => "1 digest".into(),
        count => format!("{count} digests"),
    };
    format!("{count}, {digits} of 17 digits common")
}

fn tell(cases: &[&Case], settings: &[Setting], outcomes: &[Outcome]) -> Result<(), Failure> {
    let of = |case: &Case, setting: &Setting| {
        outcomes.iter().find(|outcome| {
            outcome.program == case.program
                && outcome.library == setting.library
                && outcome.setting == setting.name
        })
    };
    let mut heading = vec!["library".to_string(), "how".into()];
    heading.extend(
        cases
            .iter()
            .map(|case| format!("{}: {}", case.program, case.meaning)),
    );
    let mut table = vec![heading];
    for setting in settings {
        let mut row = vec![setting.library.to_string(), setting.name.clone()];
        row.extend(cases.iter().map(|case| match of(case, setting) {
            Some(Outcome {
                number: Some(number),
                sha256: Some(sha256),
                ..
            }) => format!("{number:.16e} {}", &sha256[..8]),
            _ => "-".into(),
        }));
        table.push(row);
    }
    for library in ["ozfft", "fftw", "cufft"] {
        if !settings.iter().any(|setting| setting.library == library) {
            continue;
        }
        let mut row = vec![library.to_string(), "all".into()];
        row.extend(cases.iter().map(|case| {
            let mine: Vec<&Outcome> = outcomes
                .iter()
                .filter(|outcome| outcome.program == case.program && outcome.library == library)
                .collect();
            summary(&mine)
        }));
        table.push(row);
    }
    say(&aligned(&table))
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let cases = cases_of(&CASES, &arguments.programs)?;
    let settings = settings(arguments.device != ozfft::Device::Cpu);
    let bar = progress(cases.len() * settings.len(), "running", arguments.json);
    let mut outcomes = Vec::new();
    for case in &cases {
        for setting in &settings {
            bar.set_message(format!(
                "{}: {} {}",
                case.program, setting.library, setting.name
            ));
            let outcome = run_case(case, setting, arguments.short)?;
            bar.inc(1);
            if arguments.json {
                say_json(&outcome)?;
            }
            outcomes.push(outcome);
        }
    }
    bar.finish_and_clear();
    if !arguments.json {
        tell(&cases, &settings, &outcomes)?;
    }
    // What the library promises is checked, not only shown.
    for case in &cases {
        let mine = outcomes
            .iter()
            .filter(|outcome| outcome.program == case.program && outcome.library == "ozfft");
        let digests: BTreeSet<&str> = mine
            .filter_map(|outcome| outcome.sha256.as_deref())
            .collect();
        if digests.len() > 1 {
            return Err(Failure::Check(format!(
                "{} has {} digests with ozfft: {digests:?}",
                case.program,
                digests.len()
            )));
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    finish(run(&arguments()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_digits_are_counted_from_the_front() {
        let outcome = |number: f64, sha256: &str| Outcome {
            program: "ewald",
            library: "fftw",
            setting: String::new(),
            number: Some(number),
            sha256: Some(sha256.into()),
            missing: None,
        };
        let same = [outcome(1.25, "aa"), outcome(1.25, "aa")];
        let same: Vec<&Outcome> = same.iter().collect();
        assert_eq!(summary(&same), "1 digest, 17 of 17 digits common");
        let other = [outcome(1.25, "aa"), outcome(1.2500001, "bb")];
        let other: Vec<&Outcome> = other.iter().collect();
        assert_eq!(summary(&other), "2 digests, 7 of 17 digits common");
        assert_eq!(summary(&[]), "none");
    }
}
