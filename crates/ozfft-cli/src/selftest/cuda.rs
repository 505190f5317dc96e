//! `ozfft selftest --device cuda`: random transforms on a GPU, bit by bit against the processor.

use super::bits::check_device;
use super::case::{Case, GROUP, TUNED_SHARE};
use super::residues::ResidueCase;
use super::{SelftestArguments, TOLD, in_parallel};
use ozfft::{Device, Engine, Planner};
use ozfft_measure::failure::Failure;
use ozfft_measure::gpu::Gpu;
use ozfft_measure::options::EngineName;
use ozfft_measure::report::{note, progress, say, say_json};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

const CASES: usize = 10_000;
const QUICK_CASES: usize = 1000;
/// One case in so many is one of the residues engine, where the GPU has its kernels; none of those that are made for tuned kernels.
const RESIDUE_CASES: usize = 15;
/// The compute capability that has tuned kernels, and cases from which on their share is looked at.
const TUNED_CAPABILITY: (i32, i32) = (9, 0);
const ENOUGH_FOR_SHARES: usize = 1000;
/// Groups of cases between two lines of progress.
const TOLD_EVERY: usize = 10;

#[derive(Debug, Serialize)]
struct Report {
    seed: u64,
    device: String,
    driver: Option<String>,
    cases: usize,
    differing: usize,
    /// Cases that each unit of the GPU computed, and whether without floating-point instructions because it was asked to.
    substrates: BTreeMap<String, usize>,
    /// Cases of which tuned kernels computed an axis or more.
    tuned: usize,
    /// Cases of the residues engine.
    residues: usize,
    seconds: f64,
    failures: Vec<String>,
}

/// Runs the command on this GPU.
pub fn run(arguments: &SelftestArguments, ordinal: usize) -> Result<(), Failure> {
    let start = Instant::now();
    let gpu = Gpu::open(ordinal)?;
    let by_ntt = matches!(arguments.engine, Some(EngineName::Ntt));
    let seed = arguments.seed;
    note(&format!("{}, seed {seed}", gpu.facts.name));
    let substrates = Mutex::new(BTreeMap::new());
    let (tuned, residues) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let is_for_residues = |number: usize| match arguments.engine {
        Some(EngineName::Residues) => true,
        Some(_) => false,
        None => gpu.capability == TUNED_CAPABILITY && number % RESIDUE_CASES == 1,
    };
    let (device, integers_only) = (Device::Cuda(ordinal), arguments.integers_only);
    let on = (device, arguments.substrate);
    let one = |number: usize, planners: &(Planner<f64>, Planner<f32>)| {
        if is_for_residues(number) {
            residues.fetch_add(1, Ordering::Relaxed);
            let case = ResidueCase::draw(seed, number, integers_only);
            let outcome = case.check(planners, device, integers_only);
            let substrate = match &outcome {
                Ok(computed) => format!("{}, {}", computed.substrate, case.path()),
                Err(_) => "different or failed".into(),
            };
            count(&substrates, substrate);
            return outcome.err();
        }
        let case = match by_ntt {
            true => Case::draw(seed, number).by(Engine::Ntt),
            false => Case::draw_for_gpu(seed, number),
        };
        let outcome = if case.single_precision {
            check_device(&case, &planners.1, on, integers_only)
        } else {
            check_device(&case, &planners.0, on, integers_only)
        };
        let substrate = match &outcome {
            Ok(computed) => {
                let is_tuned = computed.substrate.contains("wgmma");
                tuned.fetch_add(usize::from(is_tuned), Ordering::Relaxed);
                let asked = if computed.integers_only {
                    ", integers only"
                } else {
                    ""
                };
                format!("{}{asked}", computed.substrate)
            }
            Err(_) => "different or failed".into(),
        };
        count(&substrates, substrate);
        outcome.err()
    };
    let (cases, failures) = match arguments.case {
        Some(number) => {
            let failure = one(number, &(Planner::new(), Planner::new()));
            (1, failure.into_iter().collect())
        }
        None => {
            let usual = if arguments.quick { QUICK_CASES } else { CASES };
            let cases = arguments.cases.unwrap_or(usual);
            (cases, all(cases, arguments.json, one))
        }
    };
    let substrates = substrates
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let checked: usize = substrates.values().sum();
    let report = Report {
        seed,
        device: gpu.facts.name.clone(),
        driver: gpu.facts.driver.clone(),
        cases: checked,
        differing: failures.len(),
        substrates,
        tuned: tuned.into_inner(),
        residues: residues.into_inner(),
        seconds: start.elapsed().as_secs_f64(),
        failures: failures.iter().take(TOLD).cloned().collect(),
    };
    if arguments.json {
        say_json(&report)?;
    } else {
        tell(&report)?;
    }
    // A check of nothing must not look like one that was passed.
    if checked == 0 {
        return Err(Failure::Check("no case was computed".into()));
    }
    // Nor one of a portable kernel like one of all.
    let by_digits = checked - report.residues.min(checked);
    let expected = gpu.capability == TUNED_CAPABILITY
        && by_digits >= ENOUGH_FOR_SHARES
        && !by_ntt
        && arguments.substrate.is_none();
    if failures.is_empty() && expected && report.tuned * TUNED_SHARE < by_digits {
        return Err(Failure::Check(format!(
            "only {} of {by_digits} cases by digits ran on tuned kernels; one in {TUNED_SHARE} should",
            report.tuned
        )));
    }
    if failures.is_empty() {
        Ok(())
    } else {
        Err(Failure::Check(format!(
            "{} of {checked} cases failed with seed {seed} ({cases} were asked for); the first: {}",
            failures.len(),
            report.failures.join("\n")
        )))
    }
}

/// Notes what computed a case.
fn count(substrates: &Mutex<BTreeMap<String, usize>>, substrate: String) {
    let counts = substrates.lock();
    let mut counts = counts.unwrap_or_else(std::sync::PoisonError::into_inner);
    *counts.entry(substrate).or_insert(0) += 1;
}

/// Checks cases in groups that share planners, several groups at a time.
fn all(
    cases: usize,
    json: bool,
    one: impl Fn(usize, &(Planner<f64>, Planner<f32>)) -> Option<String> + Sync,
) -> Vec<String> {
    let groups = cases.div_ceil(GROUP);
    let bar = progress(groups, "bits of the GPU, in groups of cases", json);
    // A GPU that failed may fail at everything after, or not come back at all: enough is known then.
    let (enough, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let failures = in_parallel(groups, &bar, |group| {
        let planners = (Planner::new(), Planner::new());
        let numbers = group * GROUP..((group + 1) * GROUP).min(cases);
        let mut failures = Vec::new();
        for number in numbers {
            if enough.load(Ordering::Relaxed) {
                break;
            }
            failures.extend(one(number, &planners));
            if failures.len() >= 4 * TOLD {
                enough.store(true, Ordering::Relaxed);
            }
        }
        // The bar is hidden there.
        let finished = done.fetch_add(1, Ordering::Relaxed) + 1;
        if !json && finished.is_multiple_of(TOLD_EVERY) && !std::io::stderr().is_terminal() {
            note(&format!(
                "{} of {cases} cases",
                (finished * GROUP).min(cases)
            ));
        }
        failures
    });
    bar.finish_and_clear();
    failures
}

fn tell(report: &Report) -> Result<(), Failure> {
    let substrates: Vec<String> = report
        .substrates
        .iter()
        .map(|(name, count)| format!("  {count} by {name}"))
        .collect();
    say(&format!(
        "{}: {} random cases against the processor, {} differing; {} with tuned kernels, {} of the residues engine\n{}",
        report.device,
        report.cases,
        report.differing,
        report.tuned,
        report.residues,
        substrates.join("\n")
    ))?;
    say(&format!("seed {}, {:.1} s", report.seed, report.seconds))
}
