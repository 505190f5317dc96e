//! `ozfft selftest`: identities of the transform, equal bits however it is computed, and the published digests.

mod bits;
mod case;
mod convolutions;
mod cuda;
mod identities;
mod long_convolutions;
mod operands;
mod published;
mod residues;

use case::{Case, GROUP};
use clap::Args;
use indicatif::ProgressBar;
use ozfft::{Device, Direction, Engine, Kind, Planner, Products, Substrate};
use ozfft_measure::comparison::{TestInput, compute, problem_of};
use ozfft_measure::failure::Failure;
use ozfft_measure::options::{
    EngineName, parse_device, products_name, shape_text, substrate_parser,
};
use ozfft_measure::report::{progress, say, say_json};
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::Serialize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Options of `ozfft selftest`.
#[derive(Debug, Args)]
pub struct SelftestArguments {
    /// Fewer cases, for a first look
    #[arg(long)]
    quick: bool,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What is checked: cpu, or the bits of a GPU against the processor's: cuda, or cuda:1 for the second one
    #[arg(long, value_parser = parse_device, default_value = "cpu")]
    device: Device,
    /// On a GPU: only kernels without any floating-point instruction
    #[arg(long)]
    integers_only: bool,
    /// The engine: digits or ntt; on a GPU only cases of this engine, digits, residues or ntt [default: digits, on a GPU also residues]
    #[arg(long)]
    engine: Option<EngineName>,
    /// On a GPU: this unit, for all cases of the engine digits that it takes [default: any]
    #[arg(long, value_parser = substrate_parser())]
    substrate: Option<Substrate>,
    /// Exact convolutions and products instead of transforms: every proven route against sums by the definition; on a GPU those that it has kernels for
    #[arg(long, conflicts_with_all = ["engine", "substrate", "integers_only"])]
    convolutions: bool,
    /// Number of cases whose bits are compared [default: 100000, on a GPU and with --engine ntt 10000, with --convolutions 1000000 on the processor]
    #[arg(long, value_parser = case_number())]
    cases: Option<usize>,
    /// Compare the bits of this case only
    #[arg(long, hide = true, value_name = "NUMBER", value_parser = case_number())]
    case: Option<usize>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// Seed of the inputs whose digests are printed: the same in every run.
const DIGEST_SEED: u64 = 2024;
/// Failures reported in full; more would only hide the first.
const TOLD: usize = 5;

#[derive(Serialize)]
struct DigestRow {
    shape: String,
    kind: String,
    recipe: &'static str,
    sha256: String,
}

/// Cases are drawn from their numbers, up to more than anybody can wait for.
fn case_number() -> clap::builder::RangedU64ValueParser<usize> {
    clap::builder::RangedU64ValueParser::new().range(..=1_000_000_000_000)
}

#[derive(Serialize)]
struct Report {
    seed: u64,
    cases: usize,
    differing: usize,
    identities: usize,
    failing_identities: usize,
    seconds: f64,
    digest_seed: u64,
    /// How many are not as published.
    differing_digests: usize,
    digests: Vec<DigestRow>,
    failures: Vec<String>,
}

/// Runs the command.
pub fn run(arguments: &SelftestArguments) -> Result<(), Failure> {
    match arguments.device {
        _ if arguments.convolutions => return convolutions::run(arguments),
        Device::Cuda(ordinal) => return cuda::run(arguments, ordinal),
        device if device != Device::Cpu => {
            return Err(Failure::Usage(
                "selftest checks what it is told: give --device cpu or --device cuda".into(),
            ));
        }
        Device::Cpu if arguments.integers_only => {
            return Err(Failure::Usage(
                "--integers-only goes with --device cuda".into(),
            ));
        }
        Device::Cpu if arguments.substrate.is_some() => {
            return Err(Failure::Usage("--substrate goes with --device cuda".into()));
        }
        _ => {}
    }
    let engine = match arguments.engine {
        None | Some(EngineName::Digits) => Engine::Digits,
        Some(EngineName::Ntt) => Engine::Ntt,
        Some(EngineName::Residues) => {
            return Err(Failure::Usage(
                "on the processor --engine is digits or ntt; residues are checked with --device cuda".into(),
            ));
        }
    };
    let start = Instant::now();
    let pools = [1, 2, 3, 7]
        .into_iter()
        .map(|threads| ThreadPoolBuilder::new().num_threads(threads).build())
        .collect::<Result<Vec<_>, _>>()?;
    let digests = digests(engine)?;
    let mut failures: Vec<String> = digests.iter().filter_map(published::difference).collect();
    let differing_digests = failures.len();
    let shapes = match (arguments.case, arguments.cases) {
        (Some(_), _) => 0,
        (None, Some(cases)) => cases.div_ceil(50),
        (None, None) if arguments.quick => 40,
        (None, None) => default_cases(engine).div_ceil(100),
    };
    let bar = progress(shapes, "identities of the transform", arguments.json);
    let checked = AtomicUsize::new(0);
    let failing = in_parallel(shapes, &bar, |shape| {
        match identities::check(arguments.seed, shape, engine) {
            Ok(identities) => {
                checked.fetch_add(identities, Ordering::Relaxed);
                Vec::new()
            }
            Err(failure) => vec![failure.to_string()],
        }
    });
    bar.finish_and_clear();
    let failing_identities = failing.len();
    failures.extend(failing);
    let (cases, differences) = equal_bits(arguments, engine, &pools);
    let differing = differences.len();
    failures.extend(differences);
    let report = Report {
        seed: arguments.seed,
        cases,
        differing,
        identities: checked.into_inner(),
        failing_identities,
        seconds: start.elapsed().as_secs_f64(),
        digest_seed: DIGEST_SEED,
        differing_digests,
        digests,
        failures: failures.iter().take(TOLD).cloned().collect(),
    };
    if arguments.json {
        say_json(&report)?;
    } else {
        tell(&report)?;
    }
    if failures.is_empty() {
        Ok(())
    } else {
        Err(Failure::Check(format!(
            "{} checks failed with seed {}; the first: {}",
            failures.len(),
            arguments.seed,
            report.failures.join("\n")
        )))
    }
}

/// Cases where no number is given: the engine ntt takes ten times as long.
fn default_cases(engine: Engine) -> usize {
    match engine {
        Engine::Ntt => 10_000,
        _ => 100_000,
    }
}

/// Compares the bits of all cases; returns their number and what differs.
fn equal_bits(
    arguments: &SelftestArguments,
    engine: Engine,
    pools: &[ThreadPool],
) -> (usize, Vec<String>) {
    let one = |number: usize, planners: &(Planner<f64>, Planner<f32>)| {
        let case = Case::draw(arguments.seed, number).by(engine);
        let outcome = if case.single_precision {
            bits::check(&case, &planners.1, pools)
        } else {
            bits::check(&case, &planners.0, pools)
        };
        outcome.err()
    };
    let planners = || (Planner::new(), Planner::new());
    if let Some(number) = arguments.case {
        return (1, one(number, &planners()).into_iter().collect());
    }
    let cases = arguments.cases.unwrap_or(if arguments.quick {
        2000
    } else {
        default_cases(engine)
    });
    let groups = cases.div_ceil(GROUP);
    let bar = progress(groups, "equal bits, in groups of cases", arguments.json);
    let failures = in_parallel(groups, &bar, |group| {
        let planners = planners();
        let numbers = group * GROUP..((group + 1) * GROUP).min(cases);
        numbers
            .filter_map(|number| one(number, &planners))
            .collect()
    });
    bar.finish_and_clear();
    (cases, failures)
}

/// Runs numbered jobs on threads of their own and gathers their messages, in the order of the numbers.
///
/// Rayon's threads stay free for the transforms: a job that waits on one of them for another pool would take up
/// further jobs in the meantime, one inside the other.
fn in_parallel(
    jobs: usize,
    bar: &ProgressBar,
    job: impl Fn(usize) -> Vec<String> + Sync,
) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let messages = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= jobs {
                        break;
                    }
                    let found = job(number);
                    messages
                        .lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner)
                        .push((number, found));
                    bar.inc(1);
                }
            });
        }
    });
    let mut messages = messages
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    messages.sort_by_key(|&(number, _)| number);
    messages.into_iter().flat_map(|(_, found)| found).collect()
}

/// Digests of fixed transforms, which every machine has as they are published.
fn digests(engine: Engine) -> Result<Vec<DigestRow>, Failure> {
    let transforms = [
        (Kind::ComplexToComplex, vec![1024]),
        (Kind::ComplexToComplex, vec![1009]),
        (Kind::ComplexToComplex, vec![60, 60]),
        (Kind::RealToComplex, vec![4096]),
    ];
    let mut rows = Vec::new();
    for (kind, shape) in transforms {
        let input = TestInput::Uniform.values(kind, &shape, DIGEST_SEED);
        // The convolution of the engine ntt is always exact.
        let products: &[Products] = match engine {
            Engine::Ntt => &[Products::Truncated],
            _ => &[Products::Truncated, Products::Exact],
        };
        for &products in products {
            let problem = problem_of(kind, &shape, Direction::Forward)
                .engine(engine)
                .products(products);
            let plan = Planner::<f64>::new().plan(&problem)?;
            rows.push(DigestRow {
                shape: shape_text(&shape),
                kind: kind.to_string(),
                recipe: match engine {
                    Engine::Ntt => engine.name(),
                    _ => products_name(products),
                },
                sha256: compute(&plan, &input)?.sha256,
            });
        }
    }
    Ok(rows)
}

fn tell(report: &Report) -> Result<(), Failure> {
    say(&format!(
        "identities: {} checked, {} shapes failing (linearity, impulse, time shift, frequency shift, round trip)",
        report.identities, report.failing_identities
    ))?;
    say(&format!(
        "equal bits: {} random cases, {} differing (substrates, threads, pools, batches, layouts, in place, half-spectra)",
        report.cases, report.differing
    ))?;
    say(&format!("seed {}, {:.1} s", report.seed, report.seconds))?;
    say(&match report.differing_digests {
        0 => format!(
            "\nsha256 of fixed transforms, as published for version {} (docs/numerics.md, section 9):",
            env!("CARGO_PKG_VERSION")
        ),
        differing => format!("\nsha256 of fixed transforms, {differing} not as published:"),
    })?;
    for row in &report.digests {
        say(&format!(
            "{}  {} {} {}",
            row.sha256, row.shape, row.kind, row.recipe
        ))?;
    }
    Ok(())
}
