//! Landau damping: an electrostatic wave in a plasma without collisions dies out, because electrons near its phase velocity take up its
//! energy.
//!
//! Particle in cell, one dimension, one wavelength, electrons over a fixed background of ions; lengths in Debye lengths, times in inverse
//! plasma frequencies. A quiet start: electrons begin evenly spaced in position and velocity, those of a velocity weighted by Maxwell's
//! distribution, and are displaced by the wave. Time advances by the leapfrog method, charges are spread and fields read with B-splines,
//! whose damping is undone in wave numbers. Frequency and damping are fitted to the field of the wave, and compared with the root of
//! the dispersion relation 1 + k² + ζZ(ζ) = 0, ω = √2 kζ.

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
use ozfft_applications::digest::sha256;
use ozfft_applications::options::Computing;
use ozfft_applications::plot::{Chart, Curve, Scales};
use ozfft_applications::report::Run;
use ozfft_applications::splines::{MOST_ORDER, Weights, damping};
use ozfft_applications::transforms::RealTransform;
use ozfft_measure::failure::Failure;
use ozfft_measure::options::{Shape, parse_shape};
use ozfft_measure::report::{progress, say, say_json};
use ozfft_measure::{arguments, finish};
use rayon::prelude::*;
use serde::Serialize;
use std::f64::consts::{PI, SQRT_2, TAU};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Frequency and Landau damping of a plasma wave, by particles in cells.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Wave number times the Debye length, from 0.1 to 2
    #[arg(long, default_value_t = 0.5)]
    k: f64,
    /// Relative amplitude of the density wave at the beginning
    #[arg(long, default_value_t = 1e-4)]
    amplitude: f64,
    /// Mesh points of the wavelength
    #[arg(long, value_parser = parse_shape, default_value = "32")]
    shape: Shape,
    /// Number of velocities
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(64..=65536))]
    velocities: u32,
    /// Electrons of each velocity
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(8..=65536))]
    electrons: u32,
    /// Order of the splines
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u8).range(2..=MOST_ORDER as i64))]
    order: u8,
    /// Time step
    #[arg(long, default_value_t = 0.02)]
    step: f64,
    /// The fit begins at this time [default: when all other waves have died out]
    #[arg(long)]
    from: Option<f64>,
    /// The run and the fit end at this time [default: while the wave is well above rounding]
    #[arg(long)]
    time: Option<f64>,
    #[command(flatten)]
    computing: Computing,
}

type C = Complex<f64>;

/// The plasma dispersion function Z(ζ) = i√π w(ζ), w being Faddeeva's function, by Weideman's rational expansion (1994).
struct DispersionFunction {
    scale: f64,
    /// From the highest power down.
    coefficients: Vec<f64>,
}

impl DispersionFunction {
    /// With so many terms the error is below 1e-13 in the upper half-plane.
    const TERMS: usize = 64;

    fn new() -> Result<DispersionFunction, Failure> {
        let terms = Self::TERMS;
        let length = 4 * terms;
        let scale = libm::sqrt(terms as f64 / SQRT_2);
        // exp(-t²)(L²+t²) over the angle θ with t = L tan(θ/2); at θ = π it vanishes.
        let mut samples = vec![C::new(0.0, 0.0); length];
        for (index, sample) in samples.iter_mut().enumerate() {
            if 2 * index != length {
                let t = scale * libm::tan(PI * index as f64 / length as f64);
                sample.re = libm::exp(-t * t) * (scale * scale + t * t);
            }
        }
        let spectrum = ozfft::fft(&samples)?;
        let coefficient = |index: usize| spectrum[index].re / length as f64;
        Ok(DispersionFunction {
            scale,
            coefficients: (1..=terms).rev().map(coefficient).collect(),
        })
    }

    /// Faddeeva's function exp(-z²) erfc(-iz).
    fn faddeeva(&self, z: C) -> C {
        if z.im < 0.0 {
            return 2.0 * exp(-z * z) - self.faddeeva(-z);
        }
        let iz = C::new(-z.im, z.re);
        let denominator = C::new(self.scale, 0.0) - iz;
        let ratio = (C::new(self.scale, 0.0) + iz) / denominator;
        let zero = C::new(0.0, 0.0);
        let horner = |sum: C, &coefficient: &f64| sum * ratio + coefficient;
        let series = self.coefficients.iter().fold(zero, horner);
        2.0 * series / (denominator * denominator) + C::new(1.0 / libm::sqrt(PI), 0.0) / denominator
    }

    /// Left-hand side of the dispersion relation 1 + k² + ζZ(ζ) = 0, and its derivative.
    fn relation(&self, k: f64, zeta: C) -> (C, C) {
        let w = self.faddeeva(zeta);
        let z = C::new(-w.im, w.re) * libm::sqrt(PI);
        let value = zeta * z + 1.0 + k * k;
        (value, z - 2.0 * zeta * (zeta * z + 1.0))
    }

    /// The two roots of least damping, as frequencies in the right half-plane: the wave, and what dies out next.
    fn roots(&self, k: f64) -> Result<[C; 2], Failure> {
        let mut roots: Vec<C> = Vec::new();
        // Newton's method from a net of points.
        for real in 1..=24 {
            for imaginary in 0..=16 {
                let mut zeta = C::new(0.25 * f64::from(real), -0.25 * f64::from(imaginary));
                let mut last = f64::INFINITY;
                for _ in 0..60 {
                    let (value, slope) = self.relation(k, zeta);
                    let change = value / slope;
                    last = change.norm();
                    if !(last < 10.0) {
                        break;
                    }
                    zeta -= change;
                }
                let new = |known: &C| (known - zeta).norm() > 1e-6;
                // What hardly dies out has an imaginary part that is rounding, of either sign.
                let decays = zeta.im < NEARLY_REAL;
                if last < 1e-10 && zeta.re > 0.1 && decays && roots.iter().all(new) {
                    roots.push(zeta);
                }
            }
        }
        for zeta in &mut roots {
            if zeta.im.abs() < NEARLY_REAL {
                zeta.im = slow_decay(k, zeta.re);
            }
        }
        roots.sort_by(|a, b| b.im.total_cmp(&a.im));
        match roots[..] {
            [first, second, ..] => Ok([first, second].map(|zeta| zeta * SQRT_2 * k)),
            _ => Err(Failure::Check(format!(
                "no root of the dispersion relation was found for k = {k}"
            ))),
        }
    }
}

/// Below it the imaginary part of a root comes from [`slow_decay`]: Newton's method knows it to 1e-11 at best.
const NEARLY_REAL: f64 = 1e-6;

/// The imaginary part of a root ζ that is nearly real, from its real part x: at x the imaginary part of 1 + k² + ζZ is √π x exp(-x²), and its slope, with the relation
/// itself, -(1 + k²)/x + 2k²x. What is left out is of the order (x times the result)², relatively.
fn slow_decay(k: f64, x: f64) -> f64 {
    let slope = 2.0 * k * k * x - (1.0 + k * k) / x;
    -libm::sqrt(PI) * x * libm::exp(-x * x) / slope
}

fn exp(z: C) -> C {
    C::new(libm::cos(z.im), libm::sin(z.im)) * libm::exp(z.re)
}

/// Electrons that are worked on together. The division does not depend on the number of threads, so that sums do not either.
const BLOCK: usize = 4096;
/// Velocities reach so many thermal velocities to both sides: beyond is 2.6e-12 of the electrons.
const FASTEST: f64 = 7.0;

/// The electrons of one wavelength, and the mesh.
struct Plasma {
    length: f64,
    positions: Vec<f64>,
    velocities: Vec<f64>,
    weights: Vec<f64>,
    order: usize,
    /// The splines of the electrons at their places, made when charges are spread and used again when fields are read.
    splines: Vec<Weights>,
    transform: RealTransform,
    spectrum: Vec<C>,
    density: Vec<f64>,
    field: Vec<f64>,
    /// From the density's to the field's spectrum: an imaginary number for each wave number.
    to_field: Vec<f64>,
}

struct Setting {
    k: f64,
    amplitude: f64,
    mesh: usize,
    order: usize,
    velocities: usize,
    electrons: usize,
}

impl Plasma {
    fn new(setting: &Setting, computing: &Computing) -> Result<Plasma, Failure> {
        let &Setting {
            k,
            amplitude,
            mesh,
            order,
            ..
        } = setting;
        let length = TAU / k;
        let count = setting.velocities * setting.electrons;
        let spacing = 2.0 * FASTEST / setting.velocities as f64;
        let maxwell = |v: f64| libm::exp(-0.5 * v * v) * spacing / libm::sqrt(TAU);
        let (mut positions, mut velocities, mut weights) = (
            Vec::with_capacity(count),
            Vec::with_capacity(count),
            Vec::with_capacity(count),
        );
        for number in 0..setting.velocities {
            let v = -FASTEST + (number as f64 + 0.5) * spacing;
            // Electrons of neighbouring velocities begin at other places, as evenly as the golden ratio makes it.
            let shift = number as f64 * 0.618_033_988_749_894_9;
            let shift = shift - libm::floor(shift);
            for electron in 0..setting.electrons {
                let x = (electron as f64 + shift) / setting.electrons as f64;
                // The density 1 + amplitude·cos(kx) to first order.
                let displaced = x * length - amplitude / k * libm::sin(TAU * x);
                positions.push(displaced);
                velocities.push(v);
                weights.push(maxwell(v) * mesh as f64 / setting.electrons as f64);
            }
        }
        let transform = RealTransform::new(computing, &[mesh], (1, 1))?;
        let of_wave = |m: usize| {
            // Aliases are largest in the upper half of the wave numbers, which is left out.
            if m == 0 || 4 * m > mesh {
                return 0.0;
            }
            // ∂E/∂x = 1 - n.
            1.0 / (k * m as f64 * damping(order, m as i64, mesh))
        };
        Ok(Plasma {
            length,
            positions,
            velocities,
            weights,
            order,
            splines: vec![Weights::new(0.0, order); count],
            transform,
            spectrum: vec![C::new(0.0, 0.0); mesh / 2 + 1],
            density: vec![0.0; mesh],
            field: vec![0.0; mesh],
            to_field: (0..=mesh / 2).map(of_wave).collect(),
        })
    }

    /// The field of the electrons at their places. Returns its amplitude at the wave number k, with a sign.
    fn solve(&mut self) -> Result<f64, Failure> {
        let mesh = self.density.len();
        let (order, per_length) = (self.order, mesh as f64 / self.length);
        let blocks: Vec<Vec<f64>> = self
            .splines
            .par_chunks_mut(BLOCK)
            .zip(self.positions.par_chunks(BLOCK))
            .zip(self.weights.par_chunks(BLOCK))
            .map(|((splines, positions), weights)| {
                let mut density = vec![0.0; mesh];
                for ((spline, x), weight) in splines.iter_mut().zip(positions).zip(weights) {
                    *spline = Weights::new(x * per_length, order);
                    let mut place = spline.first.rem_euclid(mesh as i64) as usize;
                    for value in spline.values() {
                        density[place] += weight * value;
                        place = if place + 1 == mesh { 0 } else { place + 1 };
                    }
                }
                density
            })
            .collect();
        self.density.fill(0.0);
        for block in &blocks {
            for (sum, value) in self.density.iter_mut().zip(block) {
                *sum += value;
            }
        }
        self.transform.forward(&self.density, &mut self.spectrum)?;
        for (value, factor) in self.spectrum.iter_mut().zip(&self.to_field) {
            // ikE = -n, hence E = i n/k.
            *value = C::new(-value.im, value.re) * factor;
        }
        self.transform.inverse(&self.spectrum, &mut self.field)?;
        Ok(2.0 * self.spectrum[1].im / mesh as f64)
    }

    /// Electrons are accelerated by the field for this time; the force is against the field.
    fn kick(&mut self, time: f64) {
        let field = &self.field;
        let mesh = field.len();
        let splines = self.splines.par_chunks(BLOCK);
        let velocities = self.velocities.par_chunks_mut(BLOCK);
        splines.zip(velocities).for_each(|(splines, velocities)| {
            for (spline, v) in splines.iter().zip(velocities) {
                let mut place = spline.first.rem_euclid(mesh as i64) as usize;
                let mut sum = 0.0;
                for value in spline.values() {
                    sum += value * field[place];
                    place = if place + 1 == mesh { 0 } else { place + 1 };
                }
                *v -= time * sum;
            }
        });
    }

    /// Electrons move for this time.
    fn drift(&mut self, time: f64) {
        let length = self.length;
        self.positions
            .par_iter_mut()
            .zip(self.velocities.par_iter())
            .for_each(|(x, v)| {
                let moved = *x + time * v;
                *x = moved - length * libm::floor(moved / length);
            });
    }
}

/// A decaying oscillation e^{γt}(a cos ωt + b sin ωt) through samples at even distances.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Fit {
    omega: f64,
    gamma: f64,
    cosine: f64,
    sine: f64,
    /// Root mean square of what is left, over the envelope.
    residual: f64,
}

impl Fit {
    /// Through samples at the times `from`, `from + step`, …; `None` where they do not oscillate.
    fn new(samples: &[f64], from: f64, step: f64) -> Option<Fit> {
        // Prony's method: with τ about an eighth of a period, s(t+2τ) = 2e^{γτ}cos(ωτ) s(t+τ) - e^{2γτ} s(t).
        let stride = (libm::rint(0.6 / step) as usize).max(1);
        let tau = stride as f64 * step;
        let mut normal = Normal::<2>::default();
        for start in 0..samples.len().checked_sub(2 * stride)? {
            let [s, t, u] = [0, 1, 2].map(|n| samples[start + n * stride]);
            let weight = 1.0 / (s * s + t * t + u * u);
            if weight.is_finite() {
                normal.add([t, s], u, weight);
            }
        }
        let [two_cosine, minus_square] = normal.solve()?;
        if minus_square >= 0.0 {
            return None;
        }
        let mut gamma = libm::log(-minus_square) / (2.0 * tau);
        let cosine = two_cosine / (2.0 * libm::exp(gamma * tau));
        if cosine.abs() >= 1.0 {
            return None;
        }
        let mut omega = libm::acos(cosine) / tau;
        // Gauss and Newton's method with all four parameters, relative to the envelope.
        let mut fit = None;
        for _ in 0..20 {
            let mut normal = Normal::<4>::default();
            let mut amplitudes = Normal::<2>::default();
            let basis = |index: usize| {
                let t = from + index as f64 * step;
                (
                    t,
                    libm::cos(omega * t),
                    libm::sin(omega * t),
                    libm::exp(-gamma * t),
                )
            };
            for (index, sample) in samples.iter().enumerate() {
                let (_, c, s, scale) = basis(index);
                amplitudes.add([c, s], sample * scale, 1.0);
            }
            let [a, b] = amplitudes.solve()?;
            let mut squares = 0.0;
            for (index, sample) in samples.iter().enumerate() {
                let (t, c, s, scale) = basis(index);
                let model = a * c + b * s;
                let left = sample * scale - model;
                squares += left * left;
                normal.add([c, s, t * (b * c - a * s), t * model], left, 1.0);
            }
            let [_, _, change_omega, change_gamma] = normal.solve()?;
            let envelope = libm::sqrt(a * a + b * b);
            fit = Some(Fit {
                omega,
                gamma,
                cosine: a,
                sine: b,
                residual: libm::sqrt(squares / samples.len() as f64) / envelope,
            });
            omega += change_omega;
            gamma += change_gamma;
        }
        fit.filter(|fit| fit.omega.is_finite() && fit.gamma.is_finite())
    }

    fn value(&self, t: f64) -> f64 {
        libm::exp(self.gamma * t)
            * (self.cosine * libm::cos(self.omega * t) + self.sine * libm::sin(self.omega * t))
    }
}

/// The normal equations of a linear fit.
struct Normal<const N: usize> {
    matrix: [[f64; N]; N],
    right: [f64; N],
}

impl<const N: usize> Default for Normal<N> {
    fn default() -> Self {
        Normal {
            matrix: [[0.0; N]; N],
            right: [0.0; N],
        }
    }
}

impl<const N: usize> Normal<N> {
    fn add(&mut self, row: [f64; N], value: f64, weight: f64) {
        for i in 0..N {
            for j in 0..N {
                self.matrix[i][j] += weight * row[i] * row[j];
            }
            self.right[i] += weight * row[i] * value;
        }
    }

    /// By elimination with pivots.
    fn solve(mut self) -> Option<[f64; N]> {
        for column in 0..N {
            let pivot = (column..N).max_by(|&a, &b| {
                self.matrix[a][column]
                    .abs()
                    .total_cmp(&self.matrix[b][column].abs())
            })?;
            self.matrix.swap(column, pivot);
            self.right.swap(column, pivot);
            if self.matrix[column][column] == 0.0 {
                return None;
            }
            for row in column + 1..N {
                let factor = self.matrix[row][column] / self.matrix[column][column];
                for k in column..N {
                    self.matrix[row][k] -= factor * self.matrix[column][k];
                }
                self.right[row] -= factor * self.right[column];
            }
        }
        let mut solution = [0.0; N];
        for row in (0..N).rev() {
            let known: f64 = (row + 1..N)
                .map(|k| self.matrix[row][k] * solution[k])
                .sum();
            solution[row] = (self.right[row] - known) / self.matrix[row][row];
        }
        solution.iter().all(|x| x.is_finite()).then_some(solution)
    }
}

#[derive(Debug, Serialize)]
struct Report {
    k: f64,
    omega: f64,
    gamma: f64,
    theory_omega: f64,
    theory_gamma: f64,
    /// Root mean square of field less fit, over the fit's envelope.
    fit_residual: f64,
    /// Whether the wave of the dispersion relation loses more than that while it is fitted; else the fitted rate says only that it is small.
    gamma_is_resolved: bool,
    fit_from: f64,
    time: f64,
    step: f64,
    steps: usize,
    mesh: usize,
    order: usize,
    electrons: usize,
    amplitude: f64,
    seconds_per_step: f64,
    /// Of the electrons' places and velocities at the end.
    sha256: String,
    #[serde(flatten)]
    run: Run,
}

fn compute(arguments: &Arguments) -> Result<(Report, Vec<f64>, Fit), Failure> {
    let usage = |reason: String| Err(Failure::Usage(reason));
    let &Arguments {
        k, amplitude, step, ..
    } = arguments;
    if !(0.1..=2.0).contains(&k) {
        return usage(format!(
            "--k {k} is not between 0.1 and 2: longer waves are not measurably damped, shorter ones die out at once"
        ));
    }
    if !(amplitude > 0.0 && amplitude <= 0.5) {
        return usage(format!(
            "--amplitude {amplitude} is not above 0 and at most 0.5"
        ));
    }
    if !(step > 0.0 && step <= 0.5) {
        return usage(format!(
            "--step {step} is not above 0 and at most 0.5, beyond which particles overtake the wave"
        ));
    }
    let mesh = match arguments.shape.0[..] {
        [mesh @ 8..=65536] => mesh,
        _ => {
            return usage(format!(
                "--shape {} is not a number of mesh points from 8 to 65536",
                arguments.shape
            ));
        }
    };
    let order = usize::from(arguments.order);
    if mesh < order {
        return usage(format!(
            "a mesh of {mesh} points is shorter than a spline of order {order}"
        ));
    }
    let function = DispersionFunction::new()?;
    let [wave, next] = function.roots(k)?;
    // What dies out next is then a millionth of the wave; at the end the wave is 1e-8 of its beginning.
    let settled = libm::log(1e6) / (wave.im - next.im);
    let from = arguments.from.unwrap_or(settled);
    let time = arguments
        .time
        .unwrap_or_else(|| (from + 40.0).min(libm::log(1e8) / -wave.im));
    let steps = libm::ceil(time / step);
    let first = libm::ceil(from / step);
    if !(from >= 0.0 && time.is_finite() && steps < 1e7) || (steps - first) * step < 1.0 {
        return usage(format!(
            "a fit from the time {from} to {time} is shorter than 1 or not a range; give other times by --from and --time"
        ));
    }
    let (steps, first) = (steps as usize, first as usize);
    let computing = &arguments.computing;
    let setting = Setting {
        k,
        amplitude,
        mesh,
        order,
        velocities: arguments.velocities as usize,
        electrons: arguments.electrons as usize,
    };
    let recurrence = TAU * f64::from(arguments.velocities) / (2.0 * FASTEST * k);
    if time > 0.9 * recurrence {
        return usage(format!(
            "with {} velocities the wave comes back at the time {recurrence:.0}; take more --velocities or a shorter --time than {time:.0}",
            arguments.velocities
        ));
    }
    let mut plasma = Plasma::new(&setting, computing)?;
    let start = Instant::now();
    let bar = progress(steps, &format!("time 0 of {time:.1}"), computing.json);
    let mut amplitudes = Vec::with_capacity(steps + 1);
    amplitudes.push(plasma.solve()?);
    plasma.kick(0.5 * step);
    for number in 1..=steps {
        plasma.drift(step);
        amplitudes.push(plasma.solve()?);
        plasma.kick(step);
        bar.inc(1);
        if number % 50 == 0 {
            bar.set_message(format!("time {:.1} of {time:.1}", number as f64 * step));
        }
    }
    bar.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();
    let Some(fit) = Fit::new(&amplitudes[first..], first as f64 * step, step) else {
        return Err(Failure::Check(format!(
            "the field does not oscillate between the times {from:.1} and {time:.1}; take another range by --from and --time"
        )));
    };
    let report = Report {
        k,
        omega: fit.omega,
        gamma: fit.gamma,
        theory_omega: wave.re,
        theory_gamma: wave.im,
        fit_residual: fit.residual,
        gamma_is_resolved: -wave.im * (steps - first) as f64 * step > fit.residual,
        fit_from: first as f64 * step,
        time: steps as f64 * step,
        step,
        steps,
        mesh,
        order,
        electrons: plasma.positions.len(),
        amplitude,
        seconds_per_step: seconds / steps as f64,
        sha256: sha256([&plasma.positions[..], &plasma.velocities]),
        run: Run::new(computing, &plasma.transform, seconds),
    };
    Ok((report, amplitudes, fit))
}

fn tell(report: &Report) -> Result<(), Failure> {
    say(&format!(
        "Landau damping at k = {}, {} electrons, {} mesh points, {} steps of {}",
        report.k, report.electrons, report.mesh, report.steps, report.step
    ))?;
    say(&format!(
        "fitted from the time {:.1} to {:.1}: omega {:.6}, gamma {:.6} (left over: {:.1e} of the envelope)",
        report.fit_from, report.time, report.omega, report.gamma, report.fit_residual
    ))?;
    say(&format!(
        "dispersion relation:            omega {:.6}, gamma {}",
        report.theory_omega,
        match report.theory_gamma {
            gamma if gamma > -1e-4 => format!("{gamma:.3e}"),
            gamma => format!("{gamma:.6}"),
        }
    ))?;
    if !report.gamma_is_resolved {
        say(
            "the wave loses less in that time than the fit leaves over: its damping is below what this run resolves",
        )?;
    }
    say(&format!("sha256 of the electrons: {}", report.sha256))?;
    say(&report.run.text())?;
    say(&format!("{:.2} ms a step", 1e3 * report.seconds_per_step))
}

fn draw(report: &Report, amplitudes: &[f64], fit: &Fit, path: &Path) -> Result<(), Failure> {
    let every = amplitudes.len().div_ceil(1500);
    let time = |index: usize| index as f64 * report.step;
    let indices = (0..amplitudes.len()).step_by(every);
    let field = indices
        .clone()
        .map(|n| (time(n), amplitudes[n].abs()))
        .collect();
    let fitted = indices
        .filter(|&n| time(n) >= report.fit_from)
        .map(|n| (time(n), fit.value(time(n)).abs()))
        .collect();
    let from = amplitudes[0].abs();
    let envelope = [0.0, report.time].map(|t| (t, from * libm::exp(report.theory_gamma * t)));
    let chart = Chart {
        title: format!(
            "Landau damping, k = {}: omega {:.4}, gamma {:.4}",
            report.k, report.omega, report.gamma
        ),
        axes: [
            "time in inverse plasma frequencies".into(),
            "field of the wave".into(),
        ],
        scales: Scales::LogY,
        curves: vec![
            Curve::line("particles", field),
            Curve::line("fit", fitted),
            Curve::line("damping of the dispersion relation", envelope.to_vec()),
        ],
    };
    chart.write(path)
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (report, amplitudes, fit) = arguments.computing.in_pool(|| compute(arguments))?;
    if let Some(path) = &arguments.computing.plot {
        draw(&report, &amplitudes, &fit, path)?;
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
    fn faddeevas_function_has_its_known_values() {
        let function = DispersionFunction::new().expect("coefficients");
        for y in [0.0, 0.1, 1.0, 3.0, 5.0] {
            // On the imaginary axis it is exp(y²) erfc(y), below zero 2exp(y²) less that.
            let above = libm::exp(y * y) * libm::erfc(y);
            let found = function.faddeeva(C::new(0.0, y));
            assert!((found - above).norm() < 1e-13, "{y}: {found} {above}");
            let below = libm::exp(y * y) * libm::erfc(-y);
            let found = function.faddeeva(C::new(0.0, -y));
            assert!(
                (found - below).norm() < 1e-13 * below,
                "{y}: {found} {below}"
            );
        }
        for x in [0.0, 0.5, 2.0, 6.0] {
            // On the real axis the real part is exp(-x²).
            let found = function.faddeeva(C::new(x, 0.0));
            assert!((found.re - libm::exp(-x * x)).abs() < 1e-13, "{x}: {found}");
        }
        // Abramowitz and Stegun, table 7.9: w(1 + i).
        let found = function.faddeeva(C::new(1.0, 1.0));
        assert!(
            (found - C::new(0.304_744, 0.208_219)).norm() < 1e-6,
            "{found}"
        );
    }

    #[test]
    fn roots_are_those_that_were_published() {
        let function = DispersionFunction::new().expect("coefficients");
        // Canosa (1973); four to five decimals.
        for (k, omega, gamma) in [
            (0.3, 1.1598, -0.0126),
            (0.4, 1.2850, -0.0661),
            (0.5, 1.4156, -0.1533),
            (1.0, 2.0459, -0.8513),
        ] {
            let [root, _] = function.roots(k).expect("roots");
            let error = (root - C::new(omega, gamma)).norm();
            assert!(error < 1.5e-4, "{k}: {root}");
        }
    }

    /// At k = 0.1 the rate was -2.6e-13, rounding of the expansion, seven orders of magnitude too large.
    #[test]
    fn rates_of_slow_decay_are_no_rounding() {
        let function = DispersionFunction::new().expect("coefficients");
        // Roots in 60 digits, from the complementary error function of mpmath.
        for (k, omega, gamma) in [
            (0.1, 1.015_197_525_544_1, -2.612_077_823_628_29e-20),
            (0.11, 1.018_442_642_103_42, -1.143_733_678_872_24e-16),
            (0.12, 1.022_020_059_506_52, -6.423_601_949_625_12e-14),
            (0.15, 1.034_829_858_605_43, -8.553_101_307_336_6e-9),
            (0.2, 1.063_984_340_687_7, -5.510_741_476_862_84e-5),
            (2.0, 3.189_136_192_998_3, -2.827_200_268_670_78),
        ] {
            let [root, _] = function.roots(k).expect("roots");
            // The slope of the relation, 0.004 at k = 0.1, and 2x of exp(-x²) multiply rounding.
            assert!((root.re / omega - 1.0).abs() < 1e-10, "{k}: {root}");
            assert!((root.im / gamma - 1.0).abs() < 1e-5, "{k}: {root:e}");
        }
    }

    #[test]
    fn a_fit_finds_the_oscillation_that_it_is_given() {
        let (omega, gamma, step) = (1.3, -0.21, 0.02);
        let value = |n: usize| {
            let t = 5.0 + n as f64 * step;
            1e-4 * (gamma * t).exp() * (omega * t + 0.4).cos()
        };
        let samples: Vec<f64> = (0..1000).map(value).collect();
        let fit = Fit::new(&samples, 5.0, step).expect("a fit");
        assert!(
            (fit.omega - omega).abs() < 1e-10 && (fit.gamma - gamma).abs() < 1e-10,
            "{fit:?}"
        );
        assert!(fit.residual < 1e-12);
        assert!((fit.value(7.0) - value(100)).abs() < 1e-15);
        let growing: Vec<f64> = (0..1000).map(|n| (0.01 * f64::from(n)).exp()).collect();
        assert_eq!(Fit::new(&growing, 0.0, step), None);
    }

    #[test]
    fn momentum_is_conserved_and_a_displaced_lattice_oscillates_at_the_plasma_frequency() {
        // Without thermal motion every displacement oscillates with frequency 1 (to first order of the amplitude).
        let setting = Setting {
            k: 0.5,
            amplitude: 1e-6,
            mesh: 32,
            order: 8,
            velocities: 64,
            electrons: 32,
        };
        let mut plasma = Plasma::new(&setting, &Computing::default()).expect("a plasma");
        plasma.velocities.fill(0.0);
        let step = 0.01;
        let mut samples = vec![plasma.solve().expect("a field")];
        plasma.kick(0.5 * step);
        for _ in 0..1500 {
            plasma.drift(step);
            samples.push(plasma.solve().expect("a field"));
            plasma.kick(step);
        }
        let fit = Fit::new(&samples, 0.0, step).expect("a fit");
        // Leapfrog: sin(ωh/2) = h/2; splines of order eight on 32 points have aliases of 1/31 to that power.
        let leapfrog = 2.0 * (step / 2.0).asin() / step;
        assert!((fit.omega - leapfrog).abs() < 1e-5, "{fit:?}");
        assert!(fit.gamma.abs() < 1e-5, "{fit:?}");
        let momentum: f64 = plasma
            .velocities
            .iter()
            .zip(&plasma.weights)
            .map(|(v, w)| v * w)
            .sum();
        let moving: f64 = plasma
            .velocities
            .iter()
            .zip(&plasma.weights)
            .map(|(v, w)| v.abs() * w)
            .sum();
        assert!(momentum.abs() < 1e-6 * moving, "{momentum} {moving}");
    }
}
