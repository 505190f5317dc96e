//! The Taylor–Green vortex: a smooth flow in a periodic box that becomes turbulent, and the classical test of flow solvers.
//!
//! Incompressible Navier–Stokes equations, pseudo-spectral: ∂u/∂t = P(u × ω) - νk²u in wave numbers, with P the projection onto fields
//! without divergence; the product u × ω is formed at points of space. Aliases are removed by the 2/3 rule, time is advanced by the
//! classical Runge–Kutta method of order four. The box has the length 2π, the flow u = (sin x cos y cos z, -cos x sin y cos z, 0) the
//! velocity 1, and the Reynolds number is 1/ν.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "what is not a number is rejected with what is too large"
)]

use clap::Parser;
use num_complex::Complex;
use ozfft_applications::device_flow::DeviceFlow;
use ozfft_applications::digest::sha256;
use ozfft_applications::options::Computing;
use ozfft_applications::plot::{Chart, Curve, Scales};
use ozfft_applications::published_vortex::{
    Compared, PUBLISHED, PUBLISHED_REYNOLDS, Sample, compared,
};
use ozfft_applications::report::Run;
use ozfft_applications::spectral_flow::{Moments, Part, Solver};
use ozfft_applications::transforms::RealTransform;
use ozfft_applications::vortex::{Vortex, VortexArguments};
use ozfft_measure::failure::Failure;
use ozfft_measure::options::shape_text;
use ozfft_measure::report::{progress, say, say_json};
use ozfft_measure::{arguments, finish, memory};
use serde::Serialize;
use std::borrow::Cow;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// The Taylor–Green vortex by a pseudo-spectral method: dissipation of kinetic energy over time.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(flatten)]
    vortex: VortexArguments,
    #[command(flatten)]
    computing: Computing,
}

/// A flow and the equations that it follows, in the processor's memory or a GPU's.
struct Flow {
    solver: Solver<RealTransform>,
    state: Vec<Complex<f64>>,
    stage: Vec<Complex<f64>>,
    device: Option<DeviceFlow>,
}

impl Flow {
    /// The vortex at time zero: on the device of the transforms where that can be.
    fn new(solver: Solver<RealTransform>) -> Flow {
        let equations = &solver.equations;
        let state = equations.taylor_green();
        let device = match solver.transform.device() {
            Some(ordinal) => {
                let made = DeviceFlow::new(
                    ordinal,
                    equations.shape,
                    equations.viscosity,
                    &equations.waves,
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
            None => None,
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
            Some(device) => self.solver.equations.total_moments(&device.moments()?),
            None => self.solver.equations.moments(&self.state),
        })
    }

    /// The velocity at points of space.
    fn velocity(&mut self) -> Result<Cow<'_, [f64]>, Failure> {
        match &self.device {
            Some(device) => Ok(device.velocity(&mut self.solver.transform)?.into()),
            None => Ok(self.solver.velocity(&self.state)?.into()),
        }
    }
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
    /// At Re = 1600: the run beside published figures, at the times that it has reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    published: Vec<Compared>,
    #[serde(flatten)]
    run: Run,
}

fn compute(arguments: &Arguments) -> Result<Report, Failure> {
    let Vortex {
        shape,
        viscosity,
        time,
        steps,
        step,
    } = arguments.vortex.vortex()?;
    // Six fields and their spectra, a state, a sum, a stage; workspace.
    memory::expect_points("the flow", &shape, 220)?;
    let computing = &arguments.computing;
    let transform = RealTransform::new(computing, &shape, (3, 6))?;
    let mut solver = Solver::new(shape, viscosity, transform, &Part::whole(shape));
    if let Some(kept) = solver.equations.kept() {
        solver.transform = solver.transform.keep(&kept)?;
    }
    let mut flow = Flow::new(solver);
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
    let comparable = (viscosity * PUBLISHED_REYNOLDS - 1.0).abs() < 1e-9;
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
        sha256: sha256([&*flow.velocity()?]),
        history: rows
            .map(|row| [row.time, row.energy, row.dissipation])
            .collect(),
        published: if comparable {
            compared(&samples)
        } else {
            Vec::new()
        },
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
    for row in &report.published {
        say(&format!(
            "time {:.2}: energy {:.8}, published {:.8}; dissipation {:.9}, published {:.9}",
            row.time, row.energy, row.published_energy, row.dissipation, row.published_dissipation
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
    if report
        .reynolds
        .is_some_and(|r| (r - PUBLISHED_REYNOLDS).abs() < 1e-6)
    {
        let within = PUBLISHED.iter().filter(|row| row.time <= report.time);
        let published = within.map(|row| (row.time, row.dissipation));
        curves.push(Curve::marks("published, 512³", published.collect()));
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
    finish(run(&arguments()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
