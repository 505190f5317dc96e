//! `ozfft bench --device cuda`: transforms of arrays in a GPU's memory, side by side with cuFFT and a plain copy.

mod definitions;
mod item;
pub mod record;

use super::BenchArguments;
use super::definitions::Definition;
use super::engines::Notices;
use ozfft::Accuracy;
use ozfft_measure::failure::Failure;
use ozfft_measure::gpu::{Gpu, INTEGERS_ONLY, Precision, clocks_now, cufft_version};
use ozfft_measure::machine::{Machine, Software, now};
use ozfft_measure::options::{KindName, Shape, accuracy_text};
use ozfft_measure::outputs;
use ozfft_measure::report::{aligned, note, say, say_json};
use record::{NamedMeasurement, Programs, Record, cells, heading};
use std::path::Path;
use std::time::Instant;

/// One transform.
#[derive(Debug, Clone)]
pub struct Setting {
    shape: Shape,
    batch: usize,
    kind: KindName,
    precision: Precision,
    accuracy: Accuracy,
    /// Elements of an array are as far apart as there are arrays, and arrays are neighbours; else one follows the other.
    interleaved: bool,
    /// Only these variants, if any is named.
    variants: Vec<String>,
}

impl Setting {
    /// As many arrays as these points are enough for, and one at least.
    fn batch_of(shape: &[usize], points: usize) -> usize {
        let one = shape.iter().product::<usize>().max(1);
        (points / one).max(1)
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} {} × {}{}, {:?} precision, accuracy {}",
            super::kind_text(self.kind),
            self.shape,
            self.batch,
            if self.interleaved {
                ", interleaved"
            } else {
                ""
            },
            self.precision,
            accuracy_text(self.accuracy),
        )
    }
}

/// The variants that are asked for.
fn variants(arguments: &BenchArguments) -> Vec<String> {
    match arguments.integers_only {
        true => vec![INTEGERS_ONLY.to_string()],
        false => arguments.variants.clone(),
    }
}

/// What is to be measured, and the digest of the file that says so.
fn selected(
    arguments: &BenchArguments,
) -> Result<(Vec<Definition<Setting>>, Option<String>), Failure> {
    if let Some(path) = &arguments.definitions {
        let mut chosen = definitions::read(path, arguments.points)?.select(&arguments.only)?;
        for definition in &mut chosen.list {
            definition.setting.variants = variants(arguments);
        }
        return Ok((chosen.list, Some(chosen.sha256)));
    }
    let Some(shape) = &arguments.shape else {
        return Err(Failure::Usage("give --shape or --definitions".into()));
    };
    if !arguments.only.is_empty() {
        return Err(Failure::Usage("--only goes with --definitions".into()));
    }
    let batch = match arguments.points {
        Some(points) => Setting::batch_of(&shape.0, points),
        None => arguments.batch,
    };
    let setting = Setting {
        shape: shape.clone(),
        batch,
        kind: arguments.kind,
        precision: arguments.precision,
        accuracy: arguments.accuracy,
        interleaved: arguments.interleaved,
        variants: variants(arguments),
    };
    let definition = Definition {
        name: shape.to_string(),
        group: String::new(),
        setting,
    };
    Ok((vec![definition], None))
}

/// Runs the command on this GPU.
pub fn run(arguments: &BenchArguments, ordinal: usize) -> Result<(), Failure> {
    if arguments.steps.is_some() {
        return Err(Failure::Usage(
            "--steps is for the processor, and GPUs take the planner's; leave it out".into(),
        ));
    }
    let (selected, definitions_sha256) = selected(arguments)?;
    // All mistakes are found before anything is measured.
    for definition in &selected {
        item::problem(&definition.setting)?;
    }
    outputs::check_all([&arguments.record])?;
    let (date, start) = (now(), Instant::now());
    let gpu = Gpu::open(ordinal)?;
    note(&format!("{}", gpu.facts));
    let clocks_before = clocks_now(ordinal);
    let (mut notices, mut failures) = (Notices::default(), Vec::new());
    let mut results: Vec<NamedMeasurement> = Vec::new();
    let cufft = cufft_version();
    if let Err(failure) = &cufft {
        failures.push(format!("cuFFT was not measured: {failure}"));
    }
    for (
        number,
        Definition {
            name,
            group,
            setting,
        },
    ) in selected.iter().enumerate()
    {
        note(&format!(
            "{}/{} {name}: {setting}",
            number + 1,
            selected.len()
        ));
        match item::measure(&gpu, ordinal, setting, arguments.seconds, &mut notices) {
            Ok(measured) => results.extend(measured.into_iter().map(|measurement| {
                let named = NamedMeasurement {
                    name: name.clone(),
                    group: group.clone(),
                    measurement,
                };
                note(&format!("  {}", cells(&named)[1..].join("  ")));
                named
            })),
            Err(failure) => {
                note(&format!("  left out: {failure}"));
                failures.push(format!("{name}: {failure}"));
            }
        }
    }
    let record = Record {
        date,
        machine: Machine::here(),
        device: gpu.facts.clone(),
        software: Programs {
            own: Software::here(arguments.commit.as_deref()),
            cufft: cufft.ok(),
        },
        clocks_before,
        clocks_after: clocks_now(ordinal),
        definitions_sha256,
        notices: notices.texts().to_vec(),
        failures,
        seconds: start.elapsed().as_secs_f64(),
        results,
    };
    tell(arguments.record.as_deref(), arguments.json, &record)?;
    match record.failures.as_slice() {
        [] => Ok(()),
        failures => Err(Failure::Check(format!(
            "{} figures are missing: {}",
            failures.len(),
            failures.join("; ")
        ))),
    }
}

fn tell(path: Option<&Path>, json: bool, record: &Record) -> Result<(), Failure> {
    if let Some(path) = path {
        record.write(path)?;
        note(&format!("written {}", path.display()));
    }
    if json {
        return record.results.iter().try_for_each(say_json);
    }
    let lines = record.results.iter().map(cells);
    let table: Vec<Vec<String>> = std::iter::once(heading()).chain(lines).collect();
    say(&aligned(&table))?;
    say(&format!("measured in {:.1} s", record.seconds))
}
