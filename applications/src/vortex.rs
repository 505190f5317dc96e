//! What is asked of a run of the Taylor–Green vortex, by one process or by ranks.

use clap::Args;
use ozfft_measure::failure::Failure;
use ozfft_measure::options::{Shape, parse_shape};

/// The box, the fluid and the time.
#[derive(Debug, Clone, Args)]
pub struct VortexArguments {
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
}

/// A run, checked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vortex {
    /// Points along the axes.
    pub shape: [usize; 3],
    /// Viscosity; 0 without friction.
    pub viscosity: f64,
    /// Time at the end.
    pub time: f64,
    /// Steps to it.
    pub steps: usize,
    /// Time of one.
    pub step: f64,
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

impl VortexArguments {
    /// The run that is asked for.
    pub fn vortex(&self) -> Result<Vortex, Failure> {
        let shape = cube(&self.shape)?;
        let positive = |name: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(value)
            } else {
                Err(Failure::Usage(format!(
                    "--{name} {value} is not a positive number; give one"
                )))
            }
        };
        let viscosity = match (self.inviscid, self.viscosity) {
            (true, _) => 0.0,
            (_, Some(0.0)) => 0.0,
            (_, Some(viscosity)) => positive("viscosity", viscosity)?,
            _ => 1.0 / positive("reynolds", self.reynolds)?,
        };
        let time = positive("time", self.time)?;
        let largest = shape.into_iter().max().unwrap_or(0) as f64;
        let wanted = positive("step", self.step.unwrap_or(1.28 / largest))?;
        let steps = libm::ceil(time / wanted - 1e-9).max(1.0);
        if steps > MOST_STEPS {
            return Err(Failure::Usage(format!(
                "steps of {wanted} to the time {time} are {steps:.1e}; take longer ones or a shorter time"
            )));
        }
        Ok(Vortex {
            shape,
            viscosity,
            time,
            steps: steps as usize,
            step: time / steps,
        })
    }
}
