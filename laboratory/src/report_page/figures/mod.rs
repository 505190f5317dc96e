//! The paper's figures, with what was corrected and measured beside what it printed, and ours. Each is a picture, words, and the numbers behind it.

mod accumulator;
mod floors;
mod measured;
mod precision;
mod walltime;

use super::Context;
use crate::failure::Failure;
use page_model::Figure;
use page_model::charts::milliseconds;
use page_model::roofline_figure::Subject;
use roofline::paths::{Substrate, Variant, path};
use roofline::record::MeasuredPath;
use roofline::time::{Estimate, estimate};
use roofline::{Machine, Mode, Record};

/// Points of an axis in all of the paper's figures.
const PAPER_N: usize = 1024;

/// Names on the command line, in the order of the page.
pub const NAMES: [&str; 9] = [
    "roofline",
    "walltime",
    "precision",
    "accumulator",
    "fp64-floor",
    "fp32",
    "accuracy",
    "time",
    "time-gpu",
];

/// A figure by its name, so many pixels wide.
pub fn figure(name: &str, context: &Context, width: f64) -> Result<Figure, Failure> {
    match name {
        "roofline" => {
            let Context {
                machine, mode, n, ..
            } = context;
            let (mode, n) = (*mode, *n);
            Ok(Subject { machine, mode, n }.figure(&context.record, width)?)
        }
        "walltime" => walltime::figure(context, width),
        "precision" => precision::figure(context, width),
        "accumulator" => Ok(accumulator::figure(width)),
        "fp64-floor" => floors::fp64(context, width),
        "fp32" => floors::fp32(context, width),
        "accuracy" => measured::accuracy(width),
        "time" => measured::time(width),
        "time-gpu" => measured::time_gpu(width),
        other => Err(Failure::Usage(format!("no figure is called {other}"))),
    }
}

fn heads(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).into()).collect()
}

/// The corrected time of a variant on a machine, products on whichever unit is faster; none where a rate is not known.
fn corrected(machine: &Machine, variant: Variant) -> Result<Option<Estimate>, Failure> {
    let mut best: Option<Estimate> = None;
    for substrate in Substrate::ALL {
        let found = path(variant, substrate, Mode::Corrected, PAPER_N)?;
        let Some(found) = found.and_then(|path| estimate(&path, machine).ok()) else {
            continue;
        };
        let faster = best
            .as_ref()
            .is_none_or(|best| found.overlapped < best.overlapped);
        if faster && found.overlapped.is_finite() {
            best = Some(found);
        }
    }
    Ok(best)
}

/// The measured path that is the paper's, or else the fastest of its variant.
fn measured_path(record: &Record, variant: Variant) -> Option<&MeasuredPath> {
    let of_variant = record.paths.iter().filter(|path| {
        path.seconds.is_some() && Record::way(path).is_some_and(|(found, _)| found == variant)
    });
    let seconds = |path: &MeasuredPath| path.seconds.unwrap_or(f64::INFINITY);
    let papers = of_variant.clone().find(|path| !path.paper.is_empty());
    papers.or_else(|| of_variant.min_by(|a, b| seconds(a).total_cmp(&seconds(b))))
}

/// What is known of a machine in a few letters.
fn short_name(machine: &Machine) -> String {
    let name = machine.name.trim_end_matches("-measured");
    match name {
        "b300-plus" => "B300+".into(),
        "rubin" | "trainium1" | "trainium2" => {
            let mut letters = name.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            first.into_iter().chain(letters).collect()
        }
        _ => name.to_uppercase().replace("RTX-", "RTX "),
    }
}

/// Seconds, or that there are none.
fn time_text(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "–".into(), milliseconds)
}
