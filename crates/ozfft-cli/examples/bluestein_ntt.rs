//! Bluestein's algorithm with an exact convolution (the engine ntt) beside digits, residues and FFTW: error and time of single transforms, in one run.
//!
//!     cargo run --release -p ozfft-cli --example bluestein_ntt -- [--threads N | --device cuda] [LENGTH …]
//!
//! On a GPU arrays are in its memory, cuFFT stands in FFTW's place, and the bits of ntt are compared with the processor's.

use num_complex::Complex;
use ozfft::{Device, Direction, Engine, Kind, Norm, Planner, Problem};
use ozfft_measure::comparison::{LARGEST_FULL, Reference, TestInput};
use ozfft_measure::failure::Failure;
use ozfft_measure::fftw::{Arrays, Effort, Fftw};
use ozfft_measure::gpu::{CuFft, DeviceWork, Gpu, Precision, cufft_version};
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
            interleaved: false,
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
    tell(n, &input, &found, &outputs)
}

/// A line for everyone; FFTW or cuFFT is the last, where it is there.
fn tell(
    n: usize,
    input: &[Complex<f64>],
    found: &[(&str, Option<f64>, f64)],
    outputs: &[Vec<Complex<f64>>],
) -> Result<(), Failure> {
    let signs = (Direction::Forward, Norm::Unscaled);
    let kind = Kind::ComplexToComplex;
    let reference = Reference::new(kind, &[n], signs, input, (SEED, LARGEST_FULL));
    let floor = reference.floor().l2;
    let theirs = found.last().filter(|last| last.1.is_none());
    let their_seconds = theirs.map(|last| last.2);
    for ((name, bound, seconds), output) in found.iter().zip(outputs) {
        let l2 = reference.errors(output).l2;
        let bound = bound.map_or("-".into(), |bound| format!("{bound:.2e}"));
        let ratio = their_seconds.map_or("-".into(), |theirs| format!("{:.1}", seconds / theirs));
        println!(
            "{n:>7} {name:<9} {l2:>9.2e} {floor:>9.2e} {bound:>9} {:>12.3} {ratio:>8}",
            1e6 * seconds
        );
    }
    Ok(())
}

/// The same on a GPU: seconds between two events, of as many transforms of an array as take a while.
fn measure_on(gpu: &Gpu, n: usize) -> Result<(), Failure> {
    let kind = Kind::ComplexToComplex;
    let input = TestInput::Uniform.values(kind, &[n], SEED);
    let planner = Planner::<f64>::new();
    let problem = |engine: Engine| Problem::complex(&[n]).engine(engine);
    let mut works: Vec<(&'static str, Option<f64>, Box<dyn DeviceWork>)> = Vec::new();
    for engine in [Engine::Ntt, Engine::Digits, Engine::Residues] {
        // Kernels of residues are there for some lengths.
        let Ok(plan) = planner.plan(&problem(engine).device(Device::Cuda(0))) else {
            continue;
        };
        works.push((engine.name(), Some(plan.bound()), Box::new(plan)));
    }
    let size = (Direction::Forward, 1);
    match CuFft::plan(gpu, &problem(Engine::Digits), size, Precision::Double) {
        Ok(plan) => works.push(("cufft", None, Box::new(plan))),
        Err(error) => eprintln!("{error}"),
    }
    let all: Vec<&dyn DeviceWork> = works.iter().map(|work| &*work.2).collect();
    let mut arrays = gpu.arrays_for(&all)?;
    arrays.input.upload(0, &input)?;
    let (mut found, mut outputs) = (Vec::new(), Vec::new());
    for (name, bound, work) in &works {
        let once = gpu.run(&**work, &mut arrays, 3)?;
        let repeats = (TURN / once.max(1e-6)).ceil() as u32;
        let mut seconds = f64::INFINITY;
        for _ in 0..ROUNDS {
            seconds = seconds.min(gpu.run(&**work, &mut arrays, repeats)?);
        }
        let mut output = vec![Complex::new(0.0, 0.0); n];
        arrays.output.download(0, &mut output)?;
        found.push((*name, *bound, seconds));
        outputs.push(output);
    }
    let mut expected = vec![Complex::new(0.0, 0.0); n];
    let on_processor = planner.plan(&problem(Engine::Ntt))?;
    on_processor.process_outofplace(&input, &mut expected)?;
    let same = |(a, b): (&Complex<f64>, &Complex<f64>)| {
        a.re.to_bits() == b.re.to_bits() && a.im.to_bits() == b.im.to_bits()
    };
    if !outputs[0].iter().zip(&expected).all(same) {
        return Err(Failure::Check(format!(
            "{n} points: the GPU's bits of ntt are not the processor's"
        )));
    }
    tell(n, &input, &found, &outputs)
}

fn head(last: &str) {
    println!("single complex transforms, shortest time of {ROUNDS} turns");
    println!(
        "{:>7} {:<9} {:>9} {:>9} {:>9} {:>12} {:>8}",
        "points", "engine", "L2 error", "floor", "bound", "microseconds", last
    );
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
    let mut on_gpu = false;
    if arguments.next_if(|first| first == "--device").is_some() {
        on_gpu = arguments.next().as_deref() == Some("cuda");
        if !on_gpu {
            return Err("--device takes cuda".into());
        }
    }
    let asked: Vec<usize> = arguments
        .map(|text| text.parse())
        .collect::<Result<_, _>>()?;
    let lengths = match asked.is_empty() {
        true => LENGTHS.to_vec(),
        false => asked,
    };
    if on_gpu {
        let gpu = Gpu::open(0)?;
        let cufft = cufft_version().unwrap_or_else(|error| error.to_string());
        println!(
            "{}, cuFFT {cufft}; bits of ntt are the processor's",
            gpu.facts.name
        );
        head("over cuFFT");
        for n in lengths {
            measure_on(&gpu, n)?;
        }
        return Ok(());
    }
    let fftw = Fftw::load_with_threads();
    match &fftw {
        Some(fftw) => println!(
            "{}, planned by measuring; {threads} threads",
            fftw.version()
        ),
        None => println!("FFTW is not installed and is left out; {threads} threads"),
    }
    head("over FFTW");
    for n in lengths {
        measure(n, threads, fftw.as_ref())?;
    }
    Ok(())
}
