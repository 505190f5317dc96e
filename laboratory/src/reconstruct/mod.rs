//! `ozfft-lab reconstruct`: every method of reconstruction from residues, its errors and counted costs, and the paper's figures beside them.

mod claims;
mod experiment;
mod markdown;
mod matrices;
mod paper;
mod plot;
mod prototype;
mod substrate;
mod words;

use crate::failure::Failure;
use crate::origin::built_commit;
use claims::{Claim, Evidence};
use clap::Args;
use experiment::{Bands, Experiment, Failed, MOST_SIZE, Measurement, Missing, PrototypeError};
use matrices::Matrices;
use ozfft_measure::inputs::read_text;
use ozfft_measure::machine::{Machine, now};
use ozfft_measure::options::parse_seconds;
use ozfft_measure::outputs;
use ozfft_measure::report::{aligned, progress, say, say_json, write_json, write_text};
use residues::Moduli;
use residues::reconstruct::Method;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;
use substrate::Substrate;
use words::Words;

/// Options of `ozfft-lab reconstruct`.
#[derive(Debug, Args)]
pub struct ReconstructArguments {
    /// How many moduli; several joined by commas
    #[arg(long, value_delimiter = ',', default_value = "10,12,13,16")]
    r: Vec<usize>,
    /// Rows and columns of the matrices that are multiplied
    #[arg(long, default_value_t = 16)]
    size: usize,
    /// Seed of the random matrices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What multiplies: int8, fp8, and seven for moduli of 7 bits as the paper has them
    #[arg(long, value_delimiter = ',', value_parser = parse_substrate, default_value = "int8,fp8,seven")]
    substrates: Vec<Substrate>,
    /// Only these methods, such as garner,kulisch32 [default: all]
    #[arg(long, value_delimiter = ',', value_parser = parse_method)]
    methods: Vec<Method>,
    /// Time that each method is given
    #[arg(long, value_parser = parse_seconds, default_value = "0.02")]
    seconds: f64,
    /// Print one JSON object per line instead of tables
    #[arg(long)]
    json: bool,
    /// Print the tables of the documentation
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Put the tables of the documentation between their markers in this file, such as laboratory/docs/reconstruct.md
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw error against cost
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write the results to this file, with machine, date and versions
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

fn parse_substrate(text: &str) -> Result<Substrate, String> {
    let found = Substrate::ALL.into_iter().find(|one| one.name() == text);
    found.ok_or_else(|| {
        let names = Substrate::ALL.map(Substrate::name).join(", ");
        format!("{text:?} is not a substrate; give some of {names} joined by commas")
    })
}

fn parse_method(text: &str) -> Result<Method, String> {
    text.parse()
        .map_err(|error: residues::ResidueError| error.to_string())
}

/// Everything that was measured, and how the paper stands beside it.
#[derive(Debug, Default, Serialize)]
struct Findings {
    measurements: Vec<Measurement>,
    missing: Vec<Missing>,
    prototype: Vec<PrototypeError>,
    words: Vec<Words>,
    bands: Vec<Bands>,
    claims: Vec<Claim>,
}

impl Findings {
    fn evidence(&self) -> Evidence<'_> {
        Evidence {
            measurements: &self.measurements,
            prototype: &self.prototype,
            words: &self.words,
            bands: &self.bands,
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Line<'a> {
    Measurement(&'a Measurement),
    Missing(&'a Missing),
    Prototype(&'a PrototypeError),
    Words(&'a Words),
    Bands(&'a Bands),
    Claim(&'a Claim),
}

#[derive(Serialize)]
struct Record<'a> {
    date: String,
    machine: Machine,
    software: Software,
    size: usize,
    seed: u64,
    seconds_per_method: f64,
    #[serde(flatten)]
    findings: &'a Findings,
}

#[derive(Serialize)]
struct Software {
    ozfft: &'static str,
    commit: Option<String>,
    rustc: &'static str,
    /// Whether the program was compiled with checks, which times are not comparable with.
    checked: bool,
}

/// Runs the command.
pub fn run(arguments: &ReconstructArguments) -> Result<(), Failure> {
    // Before files are written that would make the work tree another one.
    let (date, commit) = (now(), built_commit());
    if !(1..=MOST_SIZE).contains(&arguments.size) {
        return Err(Failure::Usage(format!(
            "--size {}: matrices of 1 to {MOST_SIZE} rows can be multiplied",
            arguments.size
        )));
    }
    if arguments.r.is_empty() || arguments.substrates.is_empty() {
        return Err(Failure::Usage("--r and --substrates need a value".into()));
    }
    outputs::check_all([&arguments.out, &arguments.svg, &arguments.record])?;
    // Read before the work, as well: it may not be there.
    let document = arguments.out.as_deref().map(read_text).transpose()?;
    let findings = measure(arguments)?;
    if arguments.json {
        print_json(&findings)?;
    } else if arguments.markdown {
        say(&markdown::tables(&findings, arguments.seed, arguments.size))?;
    } else {
        print_tables(&findings)?;
    }
    if let Some((path, text)) = arguments.out.as_ref().zip(document) {
        let tables = markdown::tables(&findings, arguments.seed, arguments.size);
        let text = markdown::replaced(&text, &tables).ok_or_else(|| Failure::Content {
            path: path.clone(),
            reason: format!(
                "it has not the lines {} and {}",
                markdown::BEGIN,
                markdown::END
            ),
        })?;
        write_text(path, &text)?;
    }
    if let Some(path) = &arguments.svg {
        let picture = plot::draw(&findings.measurements)?;
        write_text(path, &format!("{picture}\n"))?;
    }
    if let Some(path) = &arguments.record {
        let record = Record {
            date,
            machine: Machine::here(),
            software: Software {
                ozfft: env!("CARGO_PKG_VERSION"),
                commit,
                rustc: ozfft_measure::machine::RUSTC,
                checked: cfg!(debug_assertions),
            },
            size: arguments.size,
            seed: arguments.seed,
            seconds_per_method: arguments.seconds,
            findings: &findings,
        };
        write_json(path, &record)?;
    }
    Ok(())
}

impl From<Failed> for Failure {
    fn from(failed: Failed) -> Failure {
        match failed {
            Failed::Broken(_) => Failure::Check(failed.to_string()),
            Failed::Residues(_) | Failed::NoBits { .. } => Failure::Usage(failed.to_string()),
        }
    }
}

fn measure(arguments: &ReconstructArguments) -> Result<Findings, Failure> {
    let seconds = Duration::from_secs_f64(arguments.seconds);
    // All moduli first: a wrong number is told at once.
    let mut cases = Vec::new();
    for &substrate in &arguments.substrates {
        for &r in &arguments.r {
            let moduli = substrate.moduli(r);
            let moduli: Moduli =
                moduli.map_err(|error| Failure::Usage(format!("--r {r}: {error}")))?;
            cases.push((substrate, moduli));
        }
    }
    let methods = match arguments.methods.as_slice() {
        [] => &Method::ALL[..],
        some => some,
    };
    let experiment = Experiment {
        size: arguments.size,
        seconds,
    };
    let matrices = Matrices::random(arguments.size, arguments.seed);
    let bar = progress(
        cases.len(),
        "reconstructing",
        arguments.json || arguments.markdown,
    );
    let mut findings = Findings::default();
    for (substrate, moduli) in &cases {
        let outcome = experiment.run(&matrices, *substrate, moduli, methods)?;
        findings.measurements.extend(outcome.measurements);
        findings.missing.extend(outcome.missing);
        findings.prototype.extend(outcome.prototype);
        findings.words.extend(outcome.words);
        findings.bands.extend(outcome.bands);
        bar.inc(1);
    }
    bar.finish_and_clear();
    findings.claims = claims::all(findings.evidence());
    Ok(findings)
}

fn print_json(findings: &Findings) -> Result<(), Failure> {
    let lines = (findings.measurements.iter().map(Line::Measurement))
        .chain(findings.missing.iter().map(Line::Missing))
        .chain(findings.prototype.iter().map(Line::Prototype))
        .chain(findings.words.iter().map(Line::Words))
        .chain(findings.bands.iter().map(Line::Bands))
        .chain(findings.claims.iter().map(Line::Claim));
    for line in lines {
        say_json(&line)?;
    }
    Ok(())
}

fn print_tables(findings: &Findings) -> Result<(), Failure> {
    say(&aligned(&measurement_rows(&findings.measurements)))?;
    for missing in &findings.missing {
        let Missing {
            substrate,
            r,
            method,
            reason,
        } = missing;
        say(&format!("{method} on {substrate}, r = {r}: none: {reason}"))?;
    }
    say("")?;
    say(&aligned(&markdown::word_rows(&findings.words)))?;
    if !findings.bands.is_empty() {
        say("")?;
        say(&aligned(&markdown::band_rows(&findings.bands)))?;
    }
    say("")?;
    for claim in &findings.claims {
        say(&format!(
            "{}, {}: printed {}, here {}: {}",
            claim.place,
            claim.what,
            claim.printed,
            claim.here,
            claim.conclusion()
        ))?;
    }
    Ok(())
}

fn measurement_rows(measurements: &[Measurement]) -> Vec<Vec<String>> {
    let heads = [
        "method",
        "substrate",
        "r",
        "log2 M",
        "bits",
        "result error",
        "precision",
        "error/M",
        "bound/M",
        "slices",
        "accumulator",
        "products",
        "reduction",
        "sum",
        "ns",
    ];
    let mut rows = vec![heads.map(String::from).to_vec()];
    for m in measurements {
        let optional = |number: Option<String>| number.unwrap_or("-".into());
        rows.push(vec![
            m.method.clone(),
            m.substrate.to_string(),
            m.r.to_string(),
            format!("{:.1}", m.modulus_bits),
            m.operand_bits.to_string(),
            format!("{:.1e}", m.result_error),
            markdown::precision(m),
            format!("{:.1e}", m.error_to_modulus),
            format!("{:.1e}", m.bound_to_modulus),
            optional(m.slices.map(|slices| slices.to_string())),
            optional(m.accumulator_bits.map(|bits| bits.to_string())),
            claims::figure(m.operations.products()),
            claims::figure(m.operations.reduction),
            claims::figure(m.operations.sum()),
            format!("{:.1}", m.least_nanoseconds),
        ]);
    }
    rows
}
