//! The Taylor–Green vortex: a smooth flow in a periodic box that becomes turbulent, and the classical test of flow solvers.
//!
//! Incompressible Navier–Stokes equations, pseudo-spectral: ∂u/∂t = P(u × ω) - νk²u in wave numbers, with P the projection onto fields
//! without divergence; the product u × ω is formed at points of space. Aliases are removed by the 2/3 rule, time is advanced by the
//! classical Runge–Kutta method of order four. The box has the length 2π, the flow u = (sin x cos y cos z, -cos x sin y cos z, 0) the
//! velocity 1, and the Reynolds number is 1/ν.

#![allow(
    clippy::needless_range_loop,
    reason = "several arrays are indexed at once"
)]
#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "what is not a number is rejected with what is too large"
)]

use clap::Parser;
use num_complex::Complex;
use ozfft::{Device, Engine};
use ozfft_applications::device_flow::DeviceFlow;
use ozfft_applications::digest::sha256;
use ozfft_applications::options::Computing;
use ozfft_applications::plot::{Chart, Curve, Scales};
use ozfft_applications::report::Run;
use ozfft_applications::splines::frequency;
use ozfft_applications::transforms::RealTransform;
use ozfft_cli::failure::Failure;
use ozfft_cli::options::{Shape, parse_shape, shape_text};
use ozfft_cli::report::{progress, say, say_json};
use ozfft_cli::{finish, memory};
use rayon::prelude::*;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// The Taylor–Green vortex by a pseudo-spectral method: dissipation of kinetic energy over time.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Points along the axes, such as 64 or 64x64x64
    #[arg(long, value_parser = parse_shape, default_value = "64")]
    shape: Shape,
    /// Time to which the flow is followed
    #[arg(long, default_value_t = 10.0)]
    time: f64,
    /// Time step; shortened so that a whole number of them leads to the end [default: 1.28 over the number of points along an axis]
    #[arg(long)]
    step: Option<f64>,
    /// Reynolds number
    #[arg(long, default_value_t = 1600.0)]
    reynolds: f64,
    /// Viscosity, instead of the Reynolds number
    #[arg(long, conflicts_with = "reynolds")]
    viscosity: Option<f64>,
    /// No viscosity: the truncated Euler equations, which conserve energy
    #[arg(long, conflicts_with_all = ["reynolds", "viscosity"])]
    inviscid: bool,
    #[command(flatten)]
    computing: Computing,
}

type C = Complex<f64>;

/// Splits an array into as many equal parts.
fn parts<const PARTS: usize, T>(array: &[T]) -> [&[T]; PARTS] {
    let length = array.len() / PARTS;
    std::array::from_fn(|part| &array[part * length..(part + 1) * length])
}

fn parts_mut<const PARTS: usize, T>(array: &mut [T]) -> [&mut [T]; PARTS] {
    let length = array.len() / PARTS;
    let mut chunks = array.chunks_exact_mut(length);
    std::array::from_fn(|_| chunks.next().expect("as many parts"))
}

/// The right-hand side of the equations, and the memory that it needs.
struct Solver {
    shape: [usize; 3],
    viscosity: f64,
    /// Wave numbers along each axis, and whether the 2/3 rule keeps them.
    waves: [Vec<(f64, bool)>; 3],
    transform: RealTransform,
    /// Half-spectra of velocity and vorticity; then of the rate of change.
    spectra: Vec<C>,
    /// The same at points of space; then u × ω.
    fields: Vec<f64>,
}

/// Sums over all wave numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Moments {
    /// Kinetic energy ⟨u²⟩/2.
    energy: f64,
    /// Enstrophy ⟨ω²⟩/2.
    enstrophy: f64,
}

impl Solver {
    fn new(shape: [usize; 3], viscosity: f64, computing: &Computing) -> Result<Solver, Failure> {
        let transform = RealTransform::new(computing, &shape, (3, 6))?;
        let half = [shape[0], shape[1], shape[2] / 2 + 1];
        let waves = [0, 1, 2].map(|axis| {
            let wave = |index| {
                let k = frequency(index, shape[axis]);
                // Sums of two kept wave numbers have no alias among the kept ones.
                (k as f64, 3 * k.unsigned_abs() < shape[axis] as u64)
            };
            (0..half[axis]).map(wave).collect()
        });
        let points: usize = shape.iter().product();
        let entries: usize = half.iter().product();
        Ok(Solver {
            shape,
            viscosity,
            waves,
            transform,
            spectra: vec![C::new(0.0, 0.0); 6 * entries],
            fields: vec![0.0; 6 * points],
        })
    }

    /// Entries of a half-spectrum.
    fn entries(&self) -> usize {
        self.spectra.len() / 6
    }

    fn points(&self) -> usize {
        self.fields.len() / 6
    }

    /// Entries of a half-spectrum with the same wave number along the first axis.
    fn plane(&self) -> usize {
        self.entries() / self.shape[0]
    }

    /// Visits the wave numbers of a plane: position in it, wave number, whether it is kept.
    fn for_each_wave(&self, plane: usize, mut visit: impl FnMut(usize, [f64; 3], bool)) {
        let (kx, keep_x) = self.waves[0][plane];
        let mut place = 0;
        for &(ky, keep_y) in &self.waves[1] {
            for &(kz, keep_z) in &self.waves[2] {
                visit(place, [kx, ky, kz], keep_x && keep_y && keep_z);
                place += 1;
            }
        }
    }

    /// The vortex at time zero. Its coefficients are exact.
    fn taylor_green(&self) -> Vec<C> {
        let mut state = vec![C::new(0.0, 0.0); 3 * self.entries()];
        let plane = self.plane();
        let eighth = self.points() as f64 / 8.0;
        let [u, v, _] = parts_mut::<3, _>(&mut state);
        for number in 0..self.shape[0] {
            self.for_each_wave(number, |place, k, _| {
                if k.iter().all(|k| k.abs() == 1.0) {
                    // sin x is -i/2 at k = 1 and i/2 at -1, cos x is 1/2 at both.
                    u[number * plane + place] = C::new(0.0, -eighth * k[0]);
                    v[number * plane + place] = C::new(0.0, eighth * k[1]);
                }
            });
        }
        state
    }

    /// The rate of change of a velocity, left in the first three spectra.
    fn rate(&mut self, state: &[C]) -> Result<(), Failure> {
        let plane = self.plane();
        let mut spectra = std::mem::take(&mut self.spectra);
        let mut fields = std::mem::take(&mut self.fields);
        {
            let (velocity, vorticity) = spectra.split_at_mut(state.len());
            velocity.copy_from_slice(state);
            let [u, v, w] = parts::<3, _>(state).map(|part| part.par_chunks(plane));
            let [a, b, c] = parts_mut::<3, _>(vorticity).map(|part| part.par_chunks_mut(plane));
            (u, v, w, a, b, c).into_par_iter().enumerate().for_each(
                |(number, (u, v, w, a, b, c))| {
                    self.for_each_wave(number, |place, [kx, ky, kz], _| {
                        let (u, v, w) = (u[place], v[place], w[place]);
                        a[place] = times_i(w * ky - v * kz);
                        b[place] = times_i(u * kz - w * kx);
                        c[place] = times_i(v * kx - u * ky);
                    });
                },
            );
        }
        self.transform.inverse(&spectra, &mut fields)?;
        {
            let points = fields.len() / 6;
            let (velocity, vorticity) = fields.split_at_mut(3 * points);
            let length = points / self.shape[0];
            let [u, v, w] = parts_mut::<3, _>(velocity).map(|part| part.par_chunks_mut(length));
            let [a, b, c] = parts::<3, _>(vorticity).map(|part| part.par_chunks(length));
            (u, v, w, a, b, c)
                .into_par_iter()
                .for_each(|(u, v, w, a, b, c)| {
                    for place in 0..length {
                        let velocity = [u[place], v[place], w[place]];
                        let vorticity = [a[place], b[place], c[place]];
                        [u[place], v[place], w[place]] = cross(velocity, vorticity);
                    }
                });
            let rates = &mut spectra[..state.len()];
            self.transform.forward(velocity, rates)?;
            let [u, v, w] = parts::<3, _>(state).map(|part| part.par_chunks(plane));
            let [a, b, c] = parts_mut::<3, _>(rates).map(|part| part.par_chunks_mut(plane));
            (u, v, w, a, b, c).into_par_iter().enumerate().for_each(
                |(number, (u, v, w, a, b, c))| {
                    self.for_each_wave(number, |place, k, keep| {
                        let product = [a[place], b[place], c[place]];
                        let velocity = [u[place], v[place], w[place]];
                        [a[place], b[place], c[place]] = if keep {
                            self.projected(k, product, velocity)
                        } else {
                            [C::new(0.0, 0.0); 3]
                        };
                    });
                },
            );
        }
        (self.spectra, self.fields) = (spectra, fields);
        Ok(())
    }

    /// Removes the gradient from u × ω, which the pressure balances, and adds friction.
    fn projected(&self, k: [f64; 3], product: [C; 3], velocity: [C; 3]) -> [C; 3] {
        let square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
        if square == 0.0 {
            return product;
        }
        let along = (product[0] * k[0] + product[1] * k[1] + product[2] * k[2]) / square;
        let friction = self.viscosity * square;
        [0, 1, 2].map(|axis| product[axis] - along * k[axis] - velocity[axis] * friction)
    }

    /// One step of the classical Runge–Kutta method.
    fn step(&mut self, state: &mut Vec<C>, stage: &mut [C], step: f64) -> Result<(), Failure> {
        let mut sum = state.clone();
        let weights = [step / 6.0, step / 3.0, step / 3.0, step / 6.0];
        let advances = [step / 2.0, step / 2.0, step, 0.0];
        stage.copy_from_slice(state);
        for (weight, advance) in weights.into_iter().zip(advances) {
            self.rate(stage)?;
            let rates = self.spectra[..state.len()].par_iter();
            (
                sum.par_iter_mut(),
                stage.par_iter_mut(),
                state.par_iter(),
                rates,
            )
                .into_par_iter()
                .for_each(|(sum, stage, state, rate)| {
                    *sum += rate * weight;
                    *stage = state + rate * advance;
                });
        }
        *state = sum;
        Ok(())
    }

    /// Energy and enstrophy; planes are summed one by one, then in their order, so that threads do not matter.
    fn moments(&self, state: &[C]) -> Moments {
        self.total_moments(&self.plane_moments(state))
    }

    fn plane_moments(&self, state: &[C]) -> Vec<[f64; 2]> {
        let plane = self.plane();
        let [u, v, w] = parts::<3, _>(state).map(|part| part.par_chunks(plane));
        (u, v, w)
            .into_par_iter()
            .enumerate()
            .map(|(number, (u, v, w))| {
                let mut sums = [0.0; 2];
                self.for_each_wave(number, |place, [kx, ky, kz], _| {
                    let square = u[place].norm_sqr() + v[place].norm_sqr() + w[place].norm_sqr();
                    // Half of the sum, and an entry with kz > 0 stands for two.
                    let share = if kz == 0.0 { 0.5 * square } else { square };
                    sums[0] += share;
                    sums[1] += share * (kx * kx + ky * ky + kz * kz);
                });
                sums
            })
            .collect()
    }

    fn total_moments(&self, planes: &[[f64; 2]]) -> Moments {
        let scale = 1.0 / (self.points() as f64 * self.points() as f64);
        let total = |which: usize| planes.iter().map(|sums| sums[which]).sum::<f64>() * scale;
        Moments {
            energy: total(0),
            enstrophy: total(1),
        }
    }

    /// The velocity at points of space, one component after the other.
    fn velocity(&mut self, state: &[C]) -> Result<&[f64], Failure> {
        let length = state.len();
        self.spectra[..length].copy_from_slice(state);
        self.spectra[length..].fill(C::new(0.0, 0.0));
        self.transform.inverse(&self.spectra, &mut self.fields)?;
        Ok(&self.fields[..3 * self.points()])
    }
}

/// A flow and the equations that it follows, in the processor's memory or a GPU's.
struct Flow {
    solver: Solver,
    state: Vec<C>,
    stage: Vec<C>,
    device: Option<DeviceFlow>,
}

impl Flow {
    /// The vortex at time zero: on the device of the transforms where that can be.
    fn new(solver: Solver) -> Flow {
        let state = solver.taylor_green();
        let plan = solver.transform.forward.plan();
        let device = match (plan.device(), plan.engine()) {
            (Device::Cuda(ordinal), Engine::Digits) => {
                let made = DeviceFlow::new(
                    ordinal,
                    solver.shape,
                    solver.viscosity,
                    &solver.waves,
                    &state,
                    &solver.transform,
                );
                made.map_err(|failure| {
                    eprintln!(
                        "turbulence: arrays stay in the processor's memory, which takes many times as long: {failure}"
                    );
                })
                .ok()
            }
            _ => None,
        };
        Flow {
            stage: state.clone(),
            solver,
            state,
            device,
        }
    }

    fn step(&mut self, step: f64) -> Result<(), Failure> {
        match &mut self.device {
            Some(device) => device.step(&mut self.solver.transform, step),
            None => self.solver.step(&mut self.state, &mut self.stage, step),
        }
    }

    fn moments(&self) -> Result<Moments, Failure> {
        Ok(match &self.device {
            Some(device) => self.solver.total_moments(&device.moments()?),
            None => self.solver.moments(&self.state),
        })
    }

    /// The velocity at points of space.
    fn velocity(&mut self) -> Result<&[f64], Failure> {
        if let Some(device) = &self.device {
            self.state = device.state()?;
        }
        self.solver.velocity(&self.state)
    }
}

fn times_i(value: C) -> C {
    C::new(-value.im, value.re)
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    ozfft_applications::ewald_sum::cross(a, b)
}

/// What is recorded at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sample {
    time: f64,
    energy: f64,
    dissipation: f64,
}

/// Place and value of the highest point of a parabola through the largest sample and its neighbours.
fn peak(samples: &[Sample]) -> (f64, f64) {
    let by_dissipation =
        |&a: &usize, &b: &usize| samples[a].dissipation.total_cmp(&samples[b].dissipation);
    let Some(largest) = (0..samples.len()).max_by(by_dissipation) else {
        return (0.0, 0.0);
    };
    let here = samples[largest];
    if largest == 0 || largest + 1 == samples.len() {
        return (here.time, here.dissipation);
    }
    let (before, after) = (
        samples[largest - 1].dissipation,
        samples[largest + 1].dissipation,
    );
    let (slope, curvature) = (
        (after - before) / 2.0,
        after - 2.0 * here.dissipation + before,
    );
    if curvature == 0.0 {
        return (here.time, here.dissipation);
    }
    let shift = -slope / curvature;
    let step = samples[largest].time - samples[largest - 1].time;
    (
        here.time + shift * step,
        here.dissipation + shift * slope / 2.0,
    )
}

/// Rows of the history that is printed.
const MOST_ROWS: usize = 200;

#[derive(Debug, Serialize)]
struct Report {
    shape: String,
    /// Reciprocal of the viscosity; none without friction.
    reynolds: Option<f64>,
    time: f64,
    steps: usize,
    step: f64,
    peak_dissipation: f64,
    peak_time: f64,
    /// Whether the largest dissipation is in the middle of the run; else it goes on rising.
    peak_is_inside: bool,
    initial_energy: f64,
    final_energy: f64,
    /// Largest difference of dissipation and loss of energy between two steps, over the largest dissipation.
    balance_error: Option<f64>,
    seconds_per_step: f64,
    /// Whether everything was computed in a GPU's memory, or transforms alone by way of the processor's.
    arrays_on_device: bool,
    /// Of the velocity at the end.
    sha256: String,
    /// Time, energy, dissipation.
    history: Vec<[f64; 3]>,
    #[serde(flatten)]
    run: Run,
}

/// Most steps of a run.
const MOST_STEPS: f64 = 1e7;

fn cube(shape: &Shape) -> Result<[usize; 3], Failure> {
    let lengths = match shape.0[..] {
        [n] => [n; 3],
        [a, b, c] => [a, b, c],
        _ => [0; 3],
    };
    if lengths.iter().any(|&n| n < 4) {
        return Err(Failure::Usage(format!(
            "the shape {shape} is not that of a box with 4 or more points along each of three axes; give 64 or 64x64x64"
        )));
    }
    Ok(lengths)
}

fn compute(arguments: &Arguments) -> Result<Report, Failure> {
    let shape = cube(&arguments.shape)?;
    let positive = |name: &str, value: f64| {
        if value > 0.0 && value.is_finite() {
            Ok(value)
        } else {
            Err(Failure::Usage(format!(
                "--{name} {value} is not a positive number; give one"
            )))
        }
    };
    let viscosity = match (arguments.inviscid, arguments.viscosity) {
        (true, _) => 0.0,
        (_, Some(0.0)) => 0.0,
        (_, Some(viscosity)) => positive("viscosity", viscosity)?,
        _ => 1.0 / positive("reynolds", arguments.reynolds)?,
    };
    let time = positive("time", arguments.time)?;
    let largest = shape.into_iter().max().unwrap_or(0) as f64;
    let wanted = positive("step", arguments.step.unwrap_or(1.28 / largest))?;
    let steps = libm::ceil(time / wanted - 1e-9).max(1.0);
    if steps > MOST_STEPS {
        return Err(Failure::Usage(format!(
            "steps of {wanted} to the time {time} are {steps:.1e}; take longer ones or a shorter time"
        )));
    }
    let step = time / steps;
    let steps = steps as usize;
    // Six fields and their spectra, a state, a sum, a stage; workspace.
    memory::expect_points("the flow", &shape, 220)?;
    let computing = &arguments.computing;
    let mut flow = Flow::new(Solver::new(shape, viscosity, computing)?);
    let start = Instant::now();
    let bar = progress(steps, &format!("time 0 of {time}"), computing.json);
    let mut samples = Vec::with_capacity(steps + 1);
    for number in 0..=steps {
        let moments = flow.moments()?;
        let first = samples
            .first()
            .map_or(moments.energy, |first: &Sample| first.energy);
        if !(moments.energy <= 1.5 * first) {
            return Err(Failure::Check(format!(
                "the energy rose from {first} to {} by step {number}: steps of {step} are too long here; take a shorter --step",
                moments.energy
            )));
        }
        samples.push(Sample {
            time: number as f64 * step,
            energy: moments.energy,
            dissipation: 2.0 * viscosity * moments.enstrophy,
        });
        if number < steps {
            flow.step(step)?;
            bar.inc(1);
            bar.set_message(format!("time {:.2} of {time}", (number + 1) as f64 * step));
        }
    }
    bar.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();
    let run = Run::new(computing, &flow.solver.transform, seconds);
    let (peak_time, peak_dissipation) = peak(&samples);
    let balance = samples.windows(3).map(|three| {
        let loss = (three[0].energy - three[2].energy) / (2.0 * step);
        (loss - three[1].dissipation).abs() / peak_dissipation
    });
    let balance_error = (viscosity > 0.0 && steps > 1).then(|| balance.fold(0.0, f64::max));
    let every = steps.div_ceil(MOST_ROWS);
    let rows = samples.iter().step_by(every);
    Ok(Report {
        shape: shape_text(&shape),
        reynolds: (viscosity > 0.0).then(|| 1.0 / viscosity),
        time,
        steps,
        step,
        peak_dissipation,
        peak_time,
        peak_is_inside: peak_time > 0.0 && peak_time < time,
        initial_energy: samples[0].energy,
        final_energy: samples[steps].energy,
        balance_error,
        seconds_per_step: seconds / steps as f64,
        arrays_on_device: flow.device.is_some(),
        sha256: sha256([flow.velocity()?]),
        history: rows
            .map(|row| [row.time, row.energy, row.dissipation])
            .collect(),
        run,
    })
}

fn tell(report: &Report) -> Result<(), Failure> {
    let reynolds = report
        .reynolds
        .map_or("without friction".into(), |r| format!("Re = {r:.0}"));
    say(&format!(
        "Taylor–Green vortex, {reynolds}, {} points, {} steps to the time {}",
        report.shape, report.steps, report.time
    ))?;
    if report.reynolds.is_some() {
        let note = if report.peak_is_inside {
            ""
        } else {
            " (at an end of the run)"
        };
        say(&format!(
            "largest dissipation {:.6} at the time {:.3}{note}; at 512³ points 0.0127 to 0.0129 near 9 are published",
            report.peak_dissipation, report.peak_time
        ))?;
    }
    let change = (report.final_energy - report.initial_energy) / report.initial_energy;
    say(&format!(
        "energy {:.6} at the beginning, {:.6} at the end (relative change {change:.2e})",
        report.initial_energy, report.final_energy
    ))?;
    say(&format!("sha256 of the velocity: {}", report.sha256))?;
    say(&report.run.text())?;
    say(&format!("{:.1} ms a step", 1e3 * report.seconds_per_step))
}

fn draw(report: &Report, path: &Path) -> Result<(), Failure> {
    let label = format!("{} points", report.shape);
    let (axis, which, scale) = match report.reynolds {
        Some(_) => ("dissipation of kinetic energy", 2, 1.0),
        None => (
            "kinetic energy over its beginning",
            1,
            1.0 / report.initial_energy,
        ),
    };
    let points = report
        .history
        .iter()
        .map(|row| (row[0], scale * row[which]));
    let mut curves = vec![Curve::line(label, points.collect())];
    if report.reynolds.is_some_and(|r| (r - 1600.0).abs() < 1e-6) {
        let published = vec![(9.0, 0.0127), (9.0, 0.0129)];
        curves.push(Curve::marks("published peak, 512³", published));
    }
    let chart = Chart {
        title: match report.reynolds {
            Some(reynolds) => format!("Taylor–Green vortex, Re = {reynolds:.0}"),
            None => "Taylor–Green vortex without friction, truncated".into(),
        },
        axes: ["time".into(), axis.into()],
        scales: Scales::Linear,
        curves,
    };
    chart.write(path)
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let report = arguments.computing.in_pool(|| compute(arguments))?;
    if let Some(path) = &arguments.computing.plot {
        draw(&report, path)?;
    }
    if arguments.computing.json {
        say_json(&report)
    } else {
        tell(&report)
    }
}

fn main() -> ExitCode {
    finish(run(&Arguments::parse()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn solver(shape: [usize; 3], viscosity: f64) -> Solver {
        Solver::new(shape, viscosity, &Computing::default()).expect("a solver")
    }

    fn advance(solver: &mut Solver, state: &mut Vec<C>, time: f64, steps: usize) {
        let mut stage = state.clone();
        for _ in 0..steps {
            let step = time / steps as f64;
            solver.step(state, &mut stage, step).expect("a step");
        }
    }

    #[test]
    fn the_vortex_begins_with_its_energy_and_enstrophy() {
        let solver = solver([16, 12, 10], 0.1);
        let moments = solver.moments(&solver.taylor_green());
        // ⟨u²⟩/2 = 2·(1/8)/2 and 3 times that; sums of eight equal numbers.
        assert!((moments.energy - 0.125).abs() < 1e-15);
        assert!((moments.enstrophy - 0.375).abs() < 1e-15);
    }

    #[test]
    fn rates_are_those_of_the_convolution_over_kept_wave_numbers() {
        // -(u·∇)u summed wave number by wave number, without transforms, aliases or the rotational form.
        let mut solver = solver([10, 12, 9], 0.03);
        let mut state = solver.taylor_green();
        // Two steps fill all wave numbers that symmetry allows.
        advance(&mut solver, &mut state, 1.0, 2);
        let points = solver.points() as f64;
        let mut modes: HashMap<[i64; 3], [C; 3]> = HashMap::new();
        let plane = solver.plane();
        for number in 0..solver.shape[0] {
            solver.for_each_wave(number, |place, k, keep| {
                if keep {
                    let at = number * plane + place;
                    let u = parts::<3, _>(&state).map(|part| part[at] / points);
                    let k = k.map(|x| x as i64);
                    modes.insert(k, u);
                    modes.insert(k.map(|x| -x), u.map(|x| x.conj()));
                }
            });
        }
        let scale = modes
            .values()
            .flatten()
            .map(|u| u.norm())
            .fold(0.0, f64::max);
        assert!(
            modes
                .values()
                .filter(|u| u[0].norm() > 1e-6 * scale)
                .count()
                > 20
        );
        solver.rate(&state).expect("a rate");
        for (&k, velocity) in modes.iter().filter(|(k, _)| k[2] >= 0) {
            let mut sum = [C::new(0.0, 0.0); 3];
            for (&p, a) in &modes {
                let q = [0, 1, 2].map(|axis| k[axis] - p[axis]);
                if let Some(b) = modes.get(&q) {
                    let q = q.map(|x| x as f64);
                    let along = a[0] * q[0] + a[1] * q[1] + a[2] * q[2];
                    for axis in 0..3 {
                        sum[axis] -= times_i(along * b[axis]);
                    }
                }
            }
            let wave = k.map(|x| x as f64);
            let expected = solver.projected(wave, sum, *velocity);
            let index = |axis: usize| k[axis].rem_euclid(solver.shape[axis] as i64) as usize;
            let (half, n) = (solver.shape[2] / 2 + 1, solver.shape[1]);
            let at = (index(0) * n + index(1)) * half + index(2);
            let found = parts::<6, _>(&solver.spectra).map(|part| part[at] / points);
            for axis in 0..3 {
                let error = (found[axis] - expected[axis]).norm();
                // A few hundred products of wave numbers up to 4.
                assert!(error < 1e-14, "{k:?}: {error}");
            }
        }
    }

    #[test]
    fn beltrami_flows_decay_exponentially() {
        // Where ω = u the product u × ω vanishes: Arnold's, Beltrami's and Childress' flow decays as exp(-νt).
        let mut solver = solver([8, 8, 8], 0.5);
        let mut state = vec![C::new(0.0, 0.0); 3 * solver.entries()];
        let half = solver.points() as f64 / 2.0;
        let (n, h) = (8, 5);
        let index = |x: usize, y: usize, z: usize| (x * n + y) * h + z;
        let (sine, cosine) = (C::new(0.0, -half), C::new(half, 0.0));
        let [u, v, w] = parts_mut::<3, _>(&mut state);
        // u = sin z + cos y, v = sin x + cos z, w = sin y + cos x.
        (u[index(0, 0, 1)], v[index(0, 0, 1)]) = (sine, cosine);
        (v[index(1, 0, 0)], v[index(7, 0, 0)]) = (sine, sine.conj());
        (w[index(1, 0, 0)], w[index(7, 0, 0)]) = (cosine, cosine);
        (w[index(0, 1, 0)], w[index(0, 7, 0)]) = (sine, sine.conj());
        (u[index(0, 1, 0)], u[index(0, 7, 0)]) = (cosine, cosine);
        let before = solver.moments(&state);
        assert!((before.energy - 1.5).abs() < 1e-14 && (before.enstrophy - 1.5).abs() < 1e-14);
        let (time, steps) = (1.0, 20);
        advance(&mut solver, &mut state, time, steps);
        let after = solver.moments(&state).energy / before.energy;
        let exact = (-2.0 * 0.5 * time).exp();
        // (νh)^5/120 a step, twice for the square.
        let truncation = 2.0 * 20.0 * (0.5_f64 / 20.0).powi(5) / 120.0;
        assert!(
            (after - exact).abs() < 1.1 * truncation * exact,
            "{after} {exact}"
        );
    }

    #[test]
    fn without_friction_the_energy_error_falls_with_the_order_of_the_integrator() {
        let error = |steps: usize| {
            let mut solver = solver([16; 3], 0.0);
            let mut state = solver.taylor_green();
            let before = solver.moments(&state).energy;
            advance(&mut solver, &mut state, 3.0, steps);
            (solver.moments(&state).energy - before).abs() / before
        };
        let (coarse, fine) = (error(30), error(60));
        // Order four of the solution, five of quantities that the equations conserve.
        let order = (coarse / fine).log2();
        assert!((3.8..5.5).contains(&order), "{coarse} {fine} {order}");
        assert!(fine < 1e-5);
    }

    #[test]
    fn peaks_are_found_between_samples() {
        let samples: Vec<Sample> = (0..20)
            .map(|index| {
                let time = 0.5 * f64::from(index);
                Sample {
                    time,
                    energy: 0.0,
                    dissipation: 3.0 - (time - 4.2).powi(2),
                }
            })
            .collect();
        let (time, value) = peak(&samples);
        assert!((time - 4.2).abs() < 1e-12 && (value - 3.0).abs() < 1e-12);
    }
}
