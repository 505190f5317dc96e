//! The ntt engine: Bluestein's algorithm whose convolution is exact, by number-theoretic transforms (the approach of Kawakami and Takahashi).
//!
//! Slow beside digits, and there to be compared with; its error is that of one rounding.

mod budget;
mod line;

use super::{BuildEngine, Built, Gpu, Request, Runner};
use crate::error::FftError;
use crate::executor::cpu::{Executor, LineTransform};
use crate::executor::cuda::CudaExecutor;
use crate::norm::Scaling;
use crate::problem::{Accuracy, Problem, Products};
use crate::sample::Real;
use crate::substrate::{CpuUnit, Substrate};
use crate::transform::budget::ErrorBudget;
use budget::{Widths, line_budget, total_budget};
use exact_convolution::Unit;
use line::{NttLine, tables};
use std::sync::Arc;

/// Primes that are worth trying, the fewest first.
const PRIMES: std::ops::RangeInclusive<usize> = 2..=6;

/// What a line may lose before its last rounding, for `Double` and `Single`: half of that rounding's bound.
const DOUBLE: f64 = f64::EPSILON / 4.0;
const SINGLE: f64 = f32::EPSILON as f64 / 4.0;

pub(crate) struct NttEngine;

impl<T: Real> BuildEngine<T> for NttEngine {
    fn build(&self, request: &Request<'_>) -> Result<Built<T>, FftError> {
        let problem = request.problem;
        if problem.products == Products::Exact {
            return Err(FftError::Unsupported(
                "whole products are digits' and residues'; the convolution of the engine ntt is always exact: take the recipe truncated".into(),
            ));
        }
        let (primes, budget) = choose_primes::<T>(request)?;
        if let Some(gpu) = &request.gpu {
            return on_gpu(request, gpu, primes, budget);
        }
        let unit = unit_for(problem)?;
        let scaling = Scaling::of(problem);
        let passes = request.schedule.passes.iter();
        let lines = passes.map(|pass| -> Result<Box<dyn LineTransform<T>>, FftError> {
            let widths = Widths::new(pass.n, primes);
            let (scale, exponent) = scaling.factor(pass.n);
            let line = NttLine::new(pass.n, widths, (&scale, exponent), (unit, request.threads))?;
            Ok(Box::new(line))
        });
        let lines = lines.collect::<Result<Vec<_>, FftError>>()?;
        let runner = Runner::Processor(Executor::new(request.schedule, lines, request.threads));
        Ok(built(request, primes, budget, (runner, unit.name())))
    }
}

fn built<T: Real>(
    request: &Request<'_>,
    primes: usize,
    budget: ErrorBudget,
    (runner, substrate): (Runner<T>, &'static str),
) -> Built<T> {
    let longest = request.schedule.passes.iter().map(|pass| pass.n).max();
    let widths = Widths::new(longest.unwrap_or(1), primes);
    Built {
        runner,
        substrate,
        why: format!(
            "the fewest primes whose bound keeps the accuracy, {primes}: of the longest lines the chirped input adds up to less than 2^{}, the chirp has {} bits, and the product of the primes is above 2^{}",
            widths.sum_bits,
            widths.chirp_bits,
            widths.sum_bits + widths.chirp_bits + 3
        ),
        recipe: None,
        budget,
        proven: true,
        float_lines: Vec::new(),
        residues: None,
        fallback: None,
    }
}

/// The same integers by kernels: the same bits.
fn on_gpu<T: Real>(
    request: &Request<'_>,
    (machine, _): &Gpu,
    primes: usize,
    budget: ErrorBudget,
) -> Result<Built<T>, FftError> {
    let problem = request.problem;
    if problem.substrate != Substrate::Auto {
        return Err(FftError::Unsupported(format!(
            "on GPUs the engine ntt has one unit, 32-bit integers, and not {}; take the substrate auto",
            problem.substrate
        )));
    }
    let scaling = Scaling::of(problem);
    let passes = request.schedule.passes.iter();
    let lines = passes.map(|pass| {
        let (scale, exponent) = scaling.factor(pass.n);
        tables(pass.n, Widths::new(pass.n, primes), (&scale, exponent))
    });
    let lines = lines.collect::<Result<Vec<_>, FftError>>()?;
    let executor = CudaExecutor::ntt::<T>(Arc::clone(machine), problem, request.schedule, &lines)?;
    let runner = Runner::Gpu(Box::new(executor));
    Ok(built(request, primes, budget, (runner, "integers")))
}

/// The vectors that a substrate asks for.
fn unit_for(problem: &Problem) -> Result<Unit, FftError> {
    let unit = match problem.substrate {
        Substrate::Auto => Unit::best(),
        Substrate::Cpu(CpuUnit::Scalar) => Unit::Portable,
        Substrate::Cpu(CpuUnit::Avx2) => Unit::Avx2,
        Substrate::Cpu(CpuUnit::Avx512Vnni) => Unit::Avx512,
        substrate => {
            return Err(FftError::Unsupported(format!(
                "the substrate {substrate} multiplies no residues of 30 bits; take auto, scalar, avx2 or avx512-vnni for the engine ntt"
            )));
        }
    };
    match unit.is_available() {
        true => Ok(unit),
        false => Err(FftError::Unsupported(format!(
            "this processor lacks {unit}; take the substrate auto or scalar"
        ))),
    }
}

/// The fewest primes that keep the accuracy.
fn choose_primes<T: Real>(request: &Request<'_>) -> Result<(usize, ErrorBudget), FftError> {
    let problem = request.problem;
    let lengths = || request.schedule.passes.iter().map(|pass| pass.n);
    let before_rounding = |primes: usize| {
        let bounds = lengths().map(|n| line_budget(n, Widths::new(n, primes)).bound);
        bounds.fold(0.0, f64::max)
    };
    let total = |primes: usize| total_budget::<T>(request.schedule, primes);
    let keeps = |primes: usize| match problem.accuracy {
        Accuracy::Double => before_rounding(primes) <= DOUBLE,
        Accuracy::Single => before_rounding(primes) <= SINGLE,
        accuracy => accuracy
            .target()
            .is_some_and(|target| total(primes).bound <= target),
    };
    match (
        PRIMES.clone().find(|&primes| keeps(primes)),
        problem.accuracy.target(),
    ) {
        (Some(primes), _) => Ok((primes, total(primes))),
        // The longest lines there are keep Double; a number may be below one rounding.
        (None, None) => Ok((*PRIMES.end(), total(*PRIMES.end()))),
        (None, Some(asked)) => Err(FftError::AccuracyUnreachable {
            asked,
            best: total(*PRIMES.end()).bound,
        }),
    }
}
