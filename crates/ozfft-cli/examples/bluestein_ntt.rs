//! Bluestein's algorithm with an exact convolution (the engine ntt) beside digits, residues and FFTW: error and time of single transforms, in one run.
//!
//!     cargo run --release -p ozfft-cli --example bluestein_ntt -- [--threads N] [LENGTH …]

use num_complex::Complex;
use ozfft::{Direction, Engine, Kind, Norm, Planner, Problem};
use ozfft_cli::failure::Failure;
use ozfft_cli::fftw::{Arrays, Effort, Fftw};
use ozfft_cli::measure::{LARGEST_FULL, Reference, TestInput};
use std::time::Instant;

/// Powers of two as in Kawakami's and Takahashi's paper, and some primes.
const LENGTHS: [usize; 13] = [
    1 << 10,
    1 << 11,
    1 << 12,
    1 << 13,
    1 << 14,
    1 << 15,
    1 << 16,
    1 << 17,
    1 << 18,
    1009,
    10_007,
    100_003,
    262_147,
];
const SEED: u64 = 1;
/// Rounds in which every engine has its turn; the shortest time counts.
const ROUNDS: usize = 7;
/// Least seconds of a turn.
const TURN: f64 = 0.02;

/// An engine and its best time.
struct Contestant<'a> {
    name: &'static str,
    bound: Option<f64>,
    call: Box<dyn FnMut() -> Result<(), Failure> + 'a>,
    seconds: f64,
}

/// One turn: seconds of a call, of as many as take a while.
fn turn(contestant: &mut Contestant<'_>) -> Result<(), Failure> {
    let start = Instant::now();
    let mut calls = 0;
    while calls == 0 || start.elapsed().as_secs_f64() < TURN {
        (contestant.call)()?;
        calls += 1;
    }
    let seconds = start.elapsed().as_secs_f64() / f64::from(calls);
    contestant.seconds = contestant.seconds.min(seconds);
    Ok(())
}

fn measure(n: usize, threads: usize, fftw: Option<&Fftw>) -> Result<(), Failure> {
    let kind = Kind::ComplexToComplex;
    let input = TestInput::Uniform.values(kind, &[n], SEED);
    let planner = Planner::<f64>::new();
    let engines = [Engine::Ntt, Engine::Digits, Engine::Residues];
    let mut plans = Vec::new();
    for engine in engines {
        let problem = Problem::complex(&[n]).engine(engine).threads(threads);
        plans.push(planner.plan(&problem)?);
    }
    let mut outputs = vec![vec![Complex::new(0.0, 0.0); n]; engines.len() + 1];
    let (ours, theirs) = outputs.split_at_mut(engines.len());
    let mut values: Vec<f64> = vec![0.0; 2 * n];
    let mut contestants: Vec<Contestant<'_>> = Vec::new();
    for (plan, output) in plans.iter().zip(ours) {
        let mut workspace = vec![0; plan.workspace_len()];
        let input = &input;
        contestants.push(Contestant {
            name: plan.engine().name(),
            bound: Some(plan.bound()),
            call: Box::new(move || {
                Ok(plan.process_outofplace_with_workspace(input, output, &mut workspace)?)
            }),
            seconds: f64::INFINITY,
        });
    }
    if let Some(fftw) = fftw {
        let shape = [n];
        let arrays = Arrays {
            kind,
            shape: &shape,
            batch: 1,
        };
        fftw.set_threads(threads);
        let output: &mut [f64] = bytemuck::cast_slice_mut(&mut theirs[0]);
        let plan = fftw.plan(&arrays, (&mut values, output), Effort::Measure);
        let Some(plan) = plan else {
            return Err(Failure::Check(format!("FFTW has no plan for {n}")));
        };
        values.copy_from_slice(bytemuck::cast_slice(&input));
        let values = &mut values;
        contestants.push(Contestant {
            name: "fftw",
            bound: None,
            call: Box::new(move || {
                plan.execute(values, output);
                Ok(())
            }),
            seconds: f64::INFINITY,
        });
    }
    for _ in 0..ROUNDS {
        for contestant in &mut contestants {
            turn(contestant)?;
        }
    }
    let found: Vec<_> = contestants
        .iter()
        .map(|contestant| (contestant.name, contestant.bound, contestant.seconds))
        .collect();
    drop(contestants);
    let signs = (Direction::Forward, Norm::Unscaled);
    let reference = Reference::new(kind, &[n], signs, &input, (SEED, LARGEST_FULL));
    let floor = reference.floor().l2;
    let fftw_seconds = found
        .last()
        .filter(|last| last.0 == "fftw")
        .map(|last| last.2);
    for ((name, bound, seconds), output) in found.iter().zip(&outputs) {
        let l2 = reference.errors(output).l2;
        let bound = bound.map_or("-".into(), |bound| format!("{bound:.2e}"));
        let ratio = fftw_seconds.map_or("-".into(), |fftw| format!("{:.1}", seconds / fftw));
        println!(
            "{n:>7} {name:<9} {l2:>9.2e} {floor:>9.2e} {bound:>9} {:>12.3} {ratio:>8}",
            1e6 * seconds
        );
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let mut threads = 1;
    if arguments.next_if(|first| first == "--threads").is_some() {
        threads = arguments
            .next()
            .ok_or("--threads needs a number")?
            .parse()?;
    }
    let asked: Vec<usize> = arguments
        .map(|text| text.parse())
        .collect::<Result<_, _>>()?;
    let lengths = match asked.is_empty() {
        true => LENGTHS.to_vec(),
        false => asked,
    };
    let fftw = Fftw::load_with_threads();
    match &fftw {
        Some(fftw) => println!(
            "{}, planned by measuring; {threads} threads",
            fftw.version()
        ),
        None => println!("FFTW is not installed and is left out; {threads} threads"),
    }
    println!("single complex transforms, shortest time of {ROUNDS} turns");
    println!(
        "{:>7} {:<9} {:>9} {:>9} {:>9} {:>12} {:>8}",
        "points", "engine", "L2 error", "floor", "bound", "microseconds", "over FFTW"
    );
    for n in lengths {
        measure(n, threads, fftw.as_ref())?;
    }
    Ok(())
}
