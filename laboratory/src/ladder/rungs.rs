//! Measuring one shape: every rung's error against the oracle, and all their times, alternately.

use super::record::{Found, Rung};
use crate::failure::Failure;
use num_complex::Complex;
use ozfft::{Accuracy, Device, Engine, Mode, Norm, Plan, Planner, Problem, Real};
use ozfft_measure::gpu::Gpu;
use ozfft_measure::options::{accuracy_text, shape_text};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::uniform_complex;
use ozfft_testkit::oracle::{ExactSpectrum, Scale, compare, compare_f32, dft_nd};
use std::sync::Arc;
use std::time::Instant;

/// Arrays whose errors are measured; a batch repeats them.
const LINES: usize = 4;
/// No time is told of fewer runs.
pub const FEWEST_RUNS: usize = 5;

/// Calls that take longer, in seconds, are made once: units that are only simulated.
const SLOW: f64 = 0.2;

/// What is asked for at one shape.
pub struct Setting<'a> {
    pub shape: &'a [usize],
    pub batch: usize,
    pub device: Device,
    pub gpu: Option<&'a Gpu>,
    pub threads: usize,
    /// Spent on each rung.
    pub seconds: f64,
}

/// The errors that are asked for, beside what Single and Double name.
pub fn targets() -> Vec<Accuracy> {
    let decades = (2..=15).map(|digits| Accuracy::Target(decade(digits)));
    let named = [Accuracy::Single, Accuracy::Double];
    decades.chain(named).collect()
}

/// Ten to this negative power, rounded once.
fn decade(digits: i32) -> f64 {
    format!("1e-{digits}").parse().unwrap_or(f64::NAN)
}

/// What can be asked of data of a type: modes by name, and every accuracy that it can hold, of both engines.
fn asked<T: Real>() -> Vec<(Engine, Option<Accuracy>)> {
    let modes = Mode::ALL.map(|mode| (Engine::Floats(mode), None));
    let holds = |accuracy: &Accuracy| accuracy.target().is_none_or(|t| t > T::UNIT_ROUNDOFF);
    let accuracies = targets().into_iter().filter(holds);
    let both = accuracies
        .flat_map(|accuracy| [Engine::Auto, Engine::Digits].map(|engine| (engine, Some(accuracy))));
    modes.into_iter().chain(both).collect()
}

/// Rungs of one shape.
pub fn count() -> usize {
    asked::<f32>().len() + asked::<f64>().len()
}

/// A type's arrays: how an oracle compares them.
pub trait Numbers: Real {
    fn error(values: &[Complex<Self>], exact: &ExactSpectrum) -> f64;
}

impl Numbers for f64 {
    fn error(values: &[Complex<f64>], exact: &ExactSpectrum) -> f64 {
        compare(values, exact).l2
    }
}

impl Numbers for f32 {
    fn error(values: &[Complex<f32>], exact: &ExactSpectrum) -> f64 {
        compare_f32(values, exact, Scale::One).l2
    }
}

/// Arrays that both types hold exactly, and their spectra.
pub struct Lines {
    values: Vec<Vec<Complex<f64>>>,
    exact: Vec<ExactSpectrum>,
}

impl Lines {
    /// Random ones, with seeds from 1.
    pub fn new(shape: &[usize]) -> Lines {
        let points = shape.iter().product();
        let narrow = |z: Complex<f64>| Complex::new((z.re as f32).into(), (z.im as f32).into());
        let line = |seed| {
            uniform_complex(points, seed)
                .into_iter()
                .map(narrow)
                .collect()
        };
        let values: Vec<Vec<Complex<f64>>> = (1..=LINES as u64).map(line).collect();
        let spectrum = |line: &Vec<_>| dft_nd(line, shape, oracle::Direction::Forward);
        let exact = values.iter().map(spectrum).collect();
        Lines { values, exact }
    }

    /// The first array.
    pub fn first(&self) -> &[Complex<f64>] {
        &self.values[0]
    }

    pub fn batch<T: Numbers>(&self, batch: usize) -> Vec<Complex<T>> {
        let lines = (0..batch).flat_map(|i| &self.values[i % LINES]);
        let narrow = |z: &Complex<f64>| Complex::new(T::narrow(z.re), T::narrow(z.im));
        lines.map(narrow).collect()
    }

    /// The root mean square over the first arrays.
    fn error<T: Numbers>(&self, output: &[Complex<T>]) -> f64 {
        let points = self.values[0].len();
        let arrays = output.chunks_exact(points).zip(&self.exact);
        let errors: Vec<f64> = arrays.map(|(got, exact)| T::error(got, exact)).collect();
        let squares: f64 = errors.iter().map(|error| error * error).sum();
        (squares / errors.len() as f64).sqrt()
    }
}

/// What runs, and its times in seconds.
struct Timed<T: Real> {
    plan: Arc<Plan<T>>,
    l2: f64,
    seconds: Vec<f64>,
}

/// All rungs of one shape for data of one type. `step` is called after each.
pub fn measure<T: Numbers>(
    setting: &Setting<'_>,
    lines: &Lines,
    mut step: impl FnMut(),
) -> Result<Vec<Rung>, Failure> {
    let planner = Planner::<T>::new();
    let numbers = if T::IS_DOUBLE { "f64" } else { "f32" };
    let input = lines.batch::<T>(setting.batch);
    let mut output = vec![Complex::new(T::narrow(0.0), T::narrow(0.0)); input.len()];
    let mut rungs: Vec<(Rung, Option<Timed<T>>)> = Vec::new();
    for (engine, accuracy) in asked::<T>() {
        let mut problem = Problem::complex(setting.shape)
            .engine(engine)
            .batch(setting.batch)
            .norm(Norm::Unscaled)
            .device(setting.device)
            .threads(setting.threads);
        if let Some(accuracy) = accuracy {
            problem = problem.accuracy(accuracy);
        }
        let mut rung = Rung {
            shape: shape_text(setting.shape),
            batch: setting.batch,
            numbers: numbers.into(),
            asked: engine.to_string(),
            accuracy: accuracy.map(accuracy_text),
            found: None,
            refused: None,
        };
        let timed = match planner.plan(&problem) {
            Ok(plan) => {
                let start = Instant::now();
                plan.process_outofplace(&input, &mut output)?;
                let first = start.elapsed().as_secs_f64();
                Some(Timed {
                    plan,
                    l2: lines.error(&output),
                    seconds: Vec::from_iter((first > SLOW).then_some(first)),
                })
            }
            Err(error) => {
                rung.refused = Some(error.to_string());
                None
            }
        };
        rungs.push((rung, timed));
        step();
    }
    match setting.gpu {
        Some(gpu) => time_on_gpu(gpu, setting, &input, &mut rungs)?,
        None => time_on_processor(setting, &input, &mut output, &mut rungs)?,
    }
    let points = input.len() as f64;
    let finished = rungs.into_iter().map(|(mut rung, timed)| {
        rung.found = timed.map(|timed| found(timed, points));
        rung
    });
    Ok(finished.collect())
}

/// Alternately, so that other load affects all of them alike.
fn time_on_processor<T: Numbers>(
    setting: &Setting<'_>,
    input: &[Complex<T>],
    output: &mut [Complex<T>],
    rungs: &mut [(Rung, Option<Timed<T>>)],
) -> Result<(), Failure> {
    let longest = rungs.iter().filter_map(|(_, timed)| timed.as_ref());
    let words = longest.map(|timed| timed.plan.workspace_len()).max();
    let mut workspace = vec![0; words.unwrap_or(0)];
    let begin = Instant::now();
    let total = setting.seconds * rungs.len() as f64;
    for round in 0.. {
        if round >= FEWEST_RUNS && begin.elapsed().as_secs_f64() > total {
            break;
        }
        for timed in rungs.iter_mut().filter_map(|(_, timed)| timed.as_mut()) {
            if timed.seconds.first().is_some_and(|&first| first > SLOW) {
                continue;
            }
            let start = Instant::now();
            timed
                .plan
                .process_outofplace_with_workspace(input, output, &mut workspace)?;
            timed.seconds.push(start.elapsed().as_secs_f64());
        }
    }
    Ok(())
}

fn time_on_gpu<T: Numbers>(
    gpu: &Gpu,
    setting: &Setting<'_>,
    input: &[Complex<T>],
    rungs: &mut [(Rung, Option<Timed<T>>)],
) -> Result<(), Failure> {
    for timed in rungs.iter_mut().filter_map(|(_, timed)| timed.as_mut()) {
        if !matches!(timed.plan.device(), Device::Cuda(_)) {
            return Err(Failure::Check(format!(
                "a plan for a GPU runs on the processor:\n{}",
                timed.plan
            )));
        }
        // Host arrays went through the first call.
        timed.seconds.clear();
        let mut arrays = gpu.arrays_for(&[&timed.plan])?;
        arrays
            .input
            .upload(0, bytemuck::cast_slice::<_, u8>(input))?;
        let first = gpu.run(&timed.plan, &mut arrays, 3)?;
        let runs = (setting.seconds / first.max(1e-9)).clamp(FEWEST_RUNS as f64, 500.0) as usize;
        for _ in 0..runs {
            timed.seconds.push(gpu.run(&timed.plan, &mut arrays, 1)?);
        }
    }
    Ok(())
}

fn found<T: Real>(timed: Timed<T>, points: f64) -> Found {
    let Timed {
        plan,
        l2,
        mut seconds,
    } = timed;
    seconds.sort_by(f64::total_cmp);
    let nanoseconds = |seconds: f64| rounded(1e9 * seconds / points);
    let digits = plan.recipe().map(|recipe| recipe.digits);
    Found {
        engine: plan.engine().to_string(),
        digits: digits.map(|d| [d.data, d.matrix, d.diagonals]),
        unit: plan.substrate().into(),
        bound: plan.bound(),
        proven: plan.bound_is_proven(),
        expected: plan.expected(),
        l2,
        ns_per_point: nanoseconds(seconds[0]),
        median_ns_per_point: nanoseconds(seconds[seconds.len() / 2]),
        runs: seconds.len(),
        predicted_ns_per_point: plan.prediction().map(|p| nanoseconds(p.seconds)),
        on_front: false,
    }
}

/// Four digits: more cannot be measured.
pub fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}
