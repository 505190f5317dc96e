//! Residues for single-precision data: how many moduli which error takes, beside digits and a transform in f32.

use super::{ROUNDS, ResiduesArguments, TURNS};
use crate::failure::Failure;
use num_complex::Complex;
use ozfft::{Accuracy, Engine, Plan, Planner, Problem};
use ozfft_measure::options::accuracy_text;
use ozfft_measure::report::{aligned, bound_text, error_text, progress};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::gaussian_complex;
use ozfft_testkit::oracle::{ExactSpectrum, Scale, compare_f32, dft};
use serde::Serialize;
use std::time::Instant;

/// What one engine and accuracy for single-precision data costs.
#[derive(Debug, Serialize)]
pub struct SingleCost {
    engine: &'static str,
    accuracy: String,
    /// Digits of the data and of the matrix, where there are any.
    digits: Option<(u32, u32)>,
    /// Moduli of the small products, fewest and most.
    moduli: Option<(usize, usize)>,
    nanoseconds_per_point: f64,
    /// Largest relative L2 error of a line.
    pub l2: f64,
    /// Proven, but for the native engine.
    pub bound: f64,
}

type Lines = Vec<Vec<Complex<f32>>>;

/// Results of all lines, and the nanoseconds a point of the shortest of some turns.
fn timed(plan: &Plan<f32>, lines: &Lines) -> Result<(Vec<Complex<f32>>, f64), Failure> {
    let mut workspace = vec![0; plan.workspace_len()];
    let input = lines.concat();
    let mut output = input.clone();
    let mut shortest = f64::INFINITY;
    for _ in 0..TURNS {
        let begin = Instant::now();
        plan.process_outofplace_with_workspace(&input, &mut output, &mut workspace)?;
        shortest = shortest.min(begin.elapsed().as_nanos() as f64);
    }
    Ok((output, shortest / input.len() as f64))
}

fn largest_error(outputs: &[Complex<f32>], exact: &[ExactSpectrum]) -> f64 {
    let lines = outputs.chunks(outputs.len() / exact.len());
    lines
        .zip(exact)
        .map(|(line, exact)| compare_f32(line, exact, Scale::One).l2)
        .fold(0.0, f64::max)
}

/// Residues and digits at several accuracies, and the native engine.
pub fn costs(arguments: &ResiduesArguments) -> Result<Vec<SingleCost>, Failure> {
    let n = arguments.length;
    let lines: Lines = (0..arguments.lines as u64)
        .map(|line| gaussian_complex(n, arguments.seed.wrapping_add(line)))
        .map(|line| {
            line.iter()
                .map(|z| Complex::new(z.re as f32, z.im as f32))
                .collect()
        })
        .collect();
    let widen = |z: &Complex<f32>| Complex::new(f64::from(z.re), f64::from(z.im));
    let exact: Vec<ExactSpectrum> = lines
        .iter()
        .map(|line| {
            dft(
                &line.iter().map(widen).collect::<Vec<_>>(),
                oracle::Direction::Forward,
            )
        })
        .collect();
    let accuracies = [
        Accuracy::Target(1e-1),
        Accuracy::Target(1e-3),
        Accuracy::Target(1e-5),
        Accuracy::Target(1e-6),
        Accuracy::Single,
    ];
    let mut engines = vec![("native", Engine::Native, Accuracy::Single)];
    for accuracy in accuracies {
        engines.push(("residues", Engine::Residues, accuracy));
        engines.push(("digits", Engine::Digits, accuracy));
    }
    let bar = progress(engines.len(), "single precision", arguments.json);
    let (mut rows, mut plans) = (Vec::new(), Vec::new());
    for (engine, chosen, accuracy) in engines {
        let problem = Problem::complex(&[n]).batch(lines.len()).threads(1);
        let plan = Planner::<f32>::new().plan(&problem.engine(chosen).accuracy(accuracy))?;
        let (outputs, time) = timed(&plan, &lines)?;
        let moduli = plan.residue_report().and_then(|report| {
            let counts = report.columns_by_moduli;
            Some((counts.first()?.0, counts.last()?.0))
        });
        rows.push(SingleCost {
            engine,
            accuracy: accuracy_text(accuracy),
            digits: plan
                .recipe()
                .map(|recipe| (recipe.digits.data, recipe.digits.matrix)),
            moduli,
            nanoseconds_per_point: time,
            l2: largest_error(&outputs, &exact),
            bound: plan.bound(),
        });
        plans.push(plan);
        bar.inc(1);
    }
    for _ in 0..ROUNDS {
        for (row, plan) in rows.iter_mut().zip(&plans) {
            row.nanoseconds_per_point = row.nanoseconds_per_point.min(timed(plan, &lines)?.1);
        }
    }
    bar.finish_and_clear();
    Ok(rows)
}

/// The rows as text.
pub fn table(rows: &[SingleCost]) -> String {
    let head = [
        "f32 data",
        "accuracy",
        "digits",
        "moduli",
        "ns a point",
        "L2",
        "bound",
    ];
    let mut table = vec![head.map(String::from).to_vec()];
    let none = || "-".to_string();
    table.extend(rows.iter().map(|row| {
        vec![
            row.engine.into(),
            row.accuracy.clone(),
            row.digits
                .map_or_else(none, |(data, matrix)| format!("{data} × {matrix}")),
            row.moduli
                .map_or_else(none, |(fewest, most)| format!("{fewest} to {most}")),
            format!("{:.1}", row.nanoseconds_per_point),
            error_text(row.l2),
            bound_text(row.bound),
        ]
    }));
    aligned(&table)
}
