//! `ozfft-lab residues`: what the residues engine costs, how few moduli data need, what redundant ones cost.

mod single;

use crate::failure::Failure;
use clap::Args;
use num_complex::Complex;
use ozfft::{Accuracy, Direction, Engine, Method, Norm, Plan, Planner, Problem, Products};
use ozfft::{CpuUnit, ResidueOptions, Substrate};
use ozfft_measure::machine::{Machine, today};
use ozfft_measure::options::accuracy_text;
use ozfft_measure::outputs;
use ozfft_measure::report::{aligned, bound_text, error_text, progress, say, write_json};
use ozfft_testkit::Bits;
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::{Generator, gaussian_complex, uniform_complex, wide_range};
use ozfft_testkit::oracle::{compare, dft};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

/// Options of `ozfft-lab residues`.
#[derive(Debug, Args)]
pub struct ResiduesArguments {
    /// Points of a line
    #[arg(long, default_value_t = 1024, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(8..=1024))]
    length: usize,
    /// Lines of every input
    #[arg(long, default_value_t = 32, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=4096))]
    lines: usize,
    /// Seed of the inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// Write the record to this file as well
    #[arg(long)]
    record: Option<PathBuf>,
}

/// Data as programs have them.
#[derive(Debug, Clone, Copy)]
enum Field {
    WhiteNoise,
    Turbulence,
    TurbulenceSpectrum,
    WaveFunction,
    Spikes,
    WideRange,
    SinglePrecision,
    Samples,
}

impl Field {
    const ALL: [Field; 8] = [
        Field::WhiteNoise,
        Field::Turbulence,
        Field::TurbulenceSpectrum,
        Field::WaveFunction,
        Field::Spikes,
        Field::WideRange,
        Field::SinglePrecision,
        Field::Samples,
    ];

    fn name(self) -> &'static str {
        match self {
            Field::WhiteNoise => "white noise",
            Field::Turbulence => "turbulence, k^-5/3, in space",
            Field::TurbulenceSpectrum => "turbulence, its spectrum",
            Field::WaveFunction => "wave packets, decaying to 1e-30",
            Field::Spikes => "a spike over noise of 1e-12",
            Field::WideRange => "exponents over 2^200",
            Field::SinglePrecision => "noise in single precision",
            Field::Samples => "samples of 16 bits",
        }
    }

    fn line(self, n: usize, seed: u64) -> Result<Vec<Complex<f64>>, Failure> {
        let mut generator = Generator::new(seed);
        let line = match self {
            Field::WhiteNoise => gaussian_complex(n, seed),
            Field::Turbulence => {
                let mut line = Field::TurbulenceSpectrum.line(n, seed)?;
                let inverse = Problem::complex(&[n])
                    .direction(Direction::Inverse)
                    .norm(Norm::Unscaled);
                Planner::new().plan(&inverse)?.process(&mut line)?;
                line
            }
            Field::TurbulenceSpectrum => gaussian_complex(n, seed)
                .into_iter()
                .enumerate()
                .map(|(k, value)| {
                    let wave_number = k.min(n - k) as f64;
                    // Energy k^-5/3, beyond a tenth of the spectrum dissipation.
                    let decay = (-(wave_number / (0.1 * n as f64)).powi(2)).exp();
                    let amplitude = wave_number.max(1.0).powf(-5.0 / 6.0) * decay;
                    if k == 0 {
                        Complex::new(0.0, 0.0)
                    } else {
                        value * amplitude
                    }
                })
                .collect(),
            Field::WaveFunction => {
                let (center, wave) = (generator.uniform(), 20.0 * generator.uniform());
                (0..n)
                    .map(|j| {
                        let x = (j as f64 + 0.5) / n as f64 * 2.0 - 1.0 - 0.3 * center;
                        Complex::from_polar((-69.0 * x * x).exp(), wave * x)
                    })
                    .collect()
            }
            Field::Spikes => {
                let mut line: Vec<_> = uniform_complex(n, seed).iter().map(|z| z * 1e-12).collect();
                line[generator.below(n)] = Complex::new(1.0, -0.5);
                line
            }
            Field::WideRange => wide_range(n, seed, 200),
            Field::SinglePrecision => gaussian_complex(n, seed)
                .into_iter()
                .map(|z| Complex::new(f64::from(z.re as f32), f64::from(z.im as f32)))
                .collect(),
            Field::Samples => {
                let mut sample = || (generator.uniform() * 32_767.0).round();
                (0..n).map(|_| Complex::new(sample(), sample())).collect()
            }
        };
        Ok(line)
    }
}

/// Moduli that data need.
#[derive(Debug, Serialize)]
struct Adapted {
    input: &'static str,
    accuracy: String,
    fewest_moduli: usize,
    mean_moduli: f64,
    most_moduli: usize,
    /// Columns of small products by their number of moduli.
    columns_by_moduli: Vec<(usize, u64)>,
    largest_l2: f64,
    bound: f64,
    /// Time relative to the same plan with as many moduli as any data need.
    relative_time: f64,
    /// Lines that would be left to native, of all lines.
    native_fallbacks: u64,
}

/// What a method costs.
#[derive(Debug, Serialize)]
struct Cost {
    engine: &'static str,
    substrate: &'static str,
    reconstruction: String,
    redundancy: usize,
    moduli: Vec<usize>,
    nanoseconds_per_point: f64,
    relative_to_exact_digits: f64,
    l2: f64,
    bound: f64,
    same_bits_as_exact_digits: bool,
}

#[derive(Debug, Serialize)]
struct Record {
    date: String,
    machine: Machine,
    length: usize,
    lines: usize,
    seed: u64,
    costs: Vec<Cost>,
    adaptive: Vec<Adapted>,
    single: Vec<single::SingleCost>,
}

/// Lines of complex numbers.
type Lines = Vec<Vec<Complex<f64>>>;

/// Repetitions of a timed call; the shortest counts.
const TURNS: usize = 4;
/// How often all methods are timed once more.
const ROUNDS: usize = 4;

/// Transforms all lines as one batch, and the nanoseconds a point of the shortest of some turns.
fn timed(plan: &Plan<f64>, lines: &[Vec<Complex<f64>>]) -> Result<(Lines, f64), Failure> {
    let mut workspace = vec![0; plan.workspace_len()];
    let input = lines.concat();
    let mut output = input.clone();
    let mut shortest = f64::INFINITY;
    for _ in 0..TURNS {
        let begin = Instant::now();
        plan.process_outofplace_with_workspace(&input, &mut output, &mut workspace)?;
        shortest = shortest.min(begin.elapsed().as_nanos() as f64);
    }
    let outputs = output.chunks(lines[0].len()).map(<[_]>::to_vec).collect();
    Ok((outputs, shortest / input.len() as f64))
}

fn largest_error(lines: &[Vec<Complex<f64>>], outputs: &[Vec<Complex<f64>>]) -> f64 {
    let errors = lines
        .iter()
        .zip(outputs)
        .map(|(line, output)| compare(output, &dft(line, oracle::Direction::Forward)).l2);
    errors.fold(0.0, f64::max)
}

fn same_bits(a: &[Vec<Complex<f64>>], b: &[Vec<Complex<f64>>]) -> bool {
    let mut pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.all(|(a, b)| a.same(*b))
}

fn moduli_of(plan: &Plan<f64>) -> Vec<(usize, u64)> {
    plan.residue_report()
        .map_or_else(Vec::new, |report| report.columns_by_moduli)
}

fn costs(arguments: &ResiduesArguments) -> Result<Vec<Cost>, Failure> {
    let n = arguments.length;
    let lines: Vec<_> = (0..arguments.lines as u64)
        .map(|line| uniform_complex(n, arguments.seed.wrapping_add(line)))
        .collect();
    let planner = Planner::<f64>::new();
    let batch = arguments.lines;
    let one = |problem: Problem| problem.batch(batch).threads(1).products(Products::Exact);
    let digits = one(Problem::complex(&[n])).engine(Engine::Digits);
    let digits = planner.plan(&digits)?;
    let (expected, exact_time) = timed(&digits, &lines)?;
    let mut rows = vec![Cost {
        engine: "digits",
        substrate: digits.substrate(),
        reconstruction: "diagonals".into(),
        redundancy: 0,
        moduli: Vec::new(),
        nanoseconds_per_point: exact_time,
        relative_to_exact_digits: 1.0,
        l2: largest_error(&lines, &expected),
        bound: digits.bound(),
        same_bits_as_exact_digits: true,
    }];
    let int8 = [Substrate::Int8, Substrate::Cpu(CpuUnit::Scalar)]
        .map(|substrate| (substrate, Method::Kulisch32, 0));
    let methods = Method::ALL
        .into_iter()
        .filter(|&method| method != Method::Kulisch32 && method != Method::Fp8Bands);
    let methods = methods.map(|method| (Substrate::Int8, method, 0));
    let fp8 = [Method::Kulisch32, Method::Garner, Method::Fp8Bands];
    let fp8 = fp8.map(|method| (Substrate::Fp8, method, 0));
    let redundant = [1, 2, 4].map(|k| (Substrate::Int8, Method::Kulisch32, k));
    let all: Vec<_> = int8
        .into_iter()
        .chain(methods)
        .chain(fp8)
        .chain(redundant)
        .collect();
    let mut plans = vec![digits];
    let bar = progress(all.len(), "methods of reconstruction", arguments.json);
    for (substrate, reconstruction, redundancy) in all {
        let options = ResidueOptions {
            reconstruction,
            redundancy,
            ..ResidueOptions::default()
        };
        let problem = one(Problem::complex(&[n]))
            .engine(Engine::Residues)
            .substrate(substrate)
            .residues(options);
        let plan = planner.plan(&problem)?;
        let (outputs, time) = timed(&plan, &lines)?;
        rows.push(Cost {
            engine: "residues",
            substrate: plan.substrate(),
            reconstruction: reconstruction.to_string(),
            redundancy,
            moduli: moduli_of(&plan).iter().map(|&(count, _)| count).collect(),
            nanoseconds_per_point: time,
            relative_to_exact_digits: time / exact_time,
            l2: largest_error(&lines, &outputs),
            bound: plan.bound(),
            same_bits_as_exact_digits: same_bits(&expected, &outputs),
        });
        plans.push(plan);
        bar.inc(1);
    }
    // All of them alternately, because the speed of machines varies over time.
    for _ in 0..ROUNDS {
        for (row, plan) in rows.iter_mut().zip(&plans) {
            let (_, time) = timed(plan, &lines)?;
            row.nanoseconds_per_point = row.nanoseconds_per_point.min(time);
        }
    }
    let exact_time = rows[0].nanoseconds_per_point;
    for row in &mut rows {
        row.relative_to_exact_digits = row.nanoseconds_per_point / exact_time;
    }
    bar.finish_and_clear();
    Ok(rows)
}

fn adapted(arguments: &ResiduesArguments) -> Result<Vec<Adapted>, Failure> {
    let n = arguments.length;
    let accuracies = [
        Accuracy::Double,
        Accuracy::Target(1e-14),
        Accuracy::Target(1e-12),
        Accuracy::Target(1e-9),
        Accuracy::Target(1e-6),
    ];
    let mut rows = Vec::new();
    let bar = progress(
        Field::ALL.len() * accuracies.len(),
        "adaptive moduli",
        arguments.json,
    );
    for field in Field::ALL {
        let lines = (0..arguments.lines as u64)
            .map(|line| field.line(n, arguments.seed.wrapping_add(line)))
            .collect::<Result<Vec<_>, _>>()?;
        let plain = Problem::complex(&[n]).threads(1).engine(Engine::Residues);
        let batch = |problem: &Problem| problem.clone().batch(lines.len());
        let full = Planner::new().plan(&batch(&plain))?;
        for accuracy in accuracies {
            let with = |native_fallback| {
                let options = ResidueOptions {
                    adaptive: true,
                    native_fallback,
                    ..ResidueOptions::default()
                };
                plain.clone().accuracy(accuracy).residues(options)
            };
            let plan = Planner::new().plan(&batch(&with(false)))?;
            let (_, full_time) = timed(&full, &lines)?;
            let (outputs, time) = timed(&plan, &lines)?;
            let columns = moduli_of(&plan);
            let total: u64 = columns.iter().map(|&(_, columns)| columns).sum();
            let weighted: u64 = columns.iter().map(|&(m, columns)| m as u64 * columns).sum();
            let mut native_fallbacks = 0;
            if accuracy.target().is_some() {
                let falling = Planner::new().plan(&with(true))?;
                for line in &lines {
                    falling.process(&mut line.clone())?;
                }
                let report = falling.residue_report();
                native_fallbacks = report.map_or(0, |report| report.native_fallbacks);
            }
            rows.push(Adapted {
                input: field.name(),
                accuracy: accuracy_text(accuracy),
                fewest_moduli: columns.first().map_or(0, |&(moduli, _)| moduli),
                mean_moduli: weighted as f64 / total as f64,
                most_moduli: columns.last().map_or(0, |&(moduli, _)| moduli),
                columns_by_moduli: columns,
                largest_l2: largest_error(&lines, &outputs),
                bound: plan.bound(),
                relative_time: time / full_time,
                native_fallbacks,
            });
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(rows)
}

fn cost_table(rows: &[Cost]) -> String {
    let head = [
        "engine",
        "unit",
        "method",
        "redundant",
        "moduli",
        "ns a point",
        "times digits",
        "L2",
        "bound",
        "bits",
    ];
    let mut table = vec![head.map(String::from).to_vec()];
    table.extend(rows.iter().map(|row| {
        let moduli: Vec<String> = row.moduli.iter().map(usize::to_string).collect();
        vec![
            row.engine.into(),
            row.substrate.into(),
            row.reconstruction.clone(),
            row.redundancy.to_string(),
            moduli.join(", "),
            format!("{:.0}", row.nanoseconds_per_point),
            format!("{:.1}", row.relative_to_exact_digits),
            error_text(row.l2),
            bound_text(row.bound),
            if row.same_bits_as_exact_digits {
                "same"
            } else {
                "other"
            }
            .into(),
        ]
    }));
    aligned(&table)
}

fn adapted_table(rows: &[Adapted]) -> String {
    let head = [
        "input",
        "accuracy",
        "moduli",
        "mean",
        "L2",
        "bound",
        "time",
        "to native",
    ];
    let mut table = vec![head.map(String::from).to_vec()];
    table.extend(rows.iter().map(|row| {
        vec![
            row.input.into(),
            row.accuracy.clone(),
            format!("{} to {}", row.fewest_moduli, row.most_moduli),
            format!("{:.1}", row.mean_moduli),
            error_text(row.largest_l2),
            bound_text(row.bound),
            format!("{:.2}", row.relative_time),
            row.native_fallbacks.to_string(),
        ]
    }));
    aligned(&table)
}

/// Runs the command.
pub fn run(arguments: &ResiduesArguments) -> Result<(), Failure> {
    outputs::check_all([&arguments.record])?;
    let record = Record {
        date: today(),
        machine: Machine::here(),
        length: arguments.length,
        lines: arguments.lines,
        seed: arguments.seed,
        costs: costs(arguments)?,
        adaptive: adapted(arguments)?,
        single: single::costs(arguments)?,
    };
    if let Some(row) = record
        .single
        .iter()
        .find(|row| row.l2.is_nan() || row.l2 > row.bound)
    {
        return Err(Failure::Check(format!(
            "{row:?}: the error is above the bound"
        )));
    }
    if let Some(row) = record
        .costs
        .iter()
        .find(|row| row.l2.is_nan() || row.l2 > row.bound)
    {
        return Err(Failure::Check(format!(
            "{} on {}: the error {:e} is above the bound {:e}",
            row.reconstruction, row.substrate, row.l2, row.bound
        )));
    }
    if let Some(row) = record
        .adaptive
        .iter()
        .find(|row| row.largest_l2.is_nan() || row.largest_l2 > row.bound)
    {
        return Err(Failure::Check(format!(
            "{} at {}: the error {:e} is above the bound {:e}",
            row.input, row.accuracy, row.largest_l2, row.bound
        )));
    }
    if let Some(path) = &arguments.record {
        write_json(path, &record)?;
    }
    if arguments.json {
        ozfft_measure::report::say_json(&record)?;
        return Ok(());
    }
    say(&cost_table(&record.costs))?;
    say("")?;
    say(&adapted_table(&record.adaptive))?;
    say("")?;
    say(&single::table(&record.single))?;
    Ok(())
}
