//! The residues engine: the recipes of digits, with products formed modulo several 8-bit numbers.

use super::digits::{DigitsLine, lines};
use super::shared::Chosen;
use super::{BuildEngine, Built, Request, Runner};
use crate::error::FftError;
use crate::executor::cpu::{Executor, LineTransform};
use crate::executor::cuda::{self, CudaExecutor};
use crate::matrix_unit::{Unit, residue_unit};
use crate::norm::Scaling;
use crate::portable::power_of_two;
use crate::recipe::{Digits, Recipe};
use crate::sample::Real;
use crate::stages::residue_products::{LineUnit, ResidueEngine};
use crate::substrate::{CpuUnit, Substrate};
use crate::transform::line::Line;
use crate::transform::tables::Setting;
use std::sync::Arc;

pub(crate) struct ResiduesEngine;

impl<T: Real> BuildEngine<T> for ResiduesEngine {
    fn build(&self, request: &Request<'_>) -> Result<Built<T>, FftError> {
        match request.gpu {
            Some(_) => on_gpu(request, &Measured::default()),
            None => {
                let unit = residue_unit(request.problem.substrate)?;
                on_processor(request, ResidueEngine::new(request.problem.residues, unit)?)
            }
        }
    }
}

/// A plan that multiplies as `engine` says.
pub(crate) fn on_processor<T: Real>(
    request: &Request<'_>,
    mut engine: ResidueEngine,
) -> Result<Built<T>, FftError> {
    let (problem, shared) = (request.problem, request.shared);
    let (recipe, budget, reason) = match problem.accuracy.target() {
        // The unit of a line's words is no part of the recipe.
        Some(target) if problem.residues.adaptive => adapt::<T>(request, target, &mut engine)?,
        _ => shared.recalled_or_chosen::<T>(problem, request.recalled, Some(&engine))?,
    };
    let moduli = engine.check(&recipe, &shared.tables.step_matrices)?;
    let scaling = Scaling::of(problem);
    let passes = request.schedule.passes.iter();
    let lines = passes.map(|pass| -> Box<dyn LineTransform<T>> {
        let line = &recipe.of_axis(pass.axis).line;
        let (scale, exponent) = scaling.factor(line.len());
        let setting = Setting {
            digits: recipe.digits,
            products: recipe.products,
            unit: Unit::Residues,
            tables: &shared.tables,
            residues: Some(&engine),
        };
        Box::new(DigitsLine {
            line: Arc::new(Line::new(line, &scale, exponent, setting)),
            unit: Unit::Residues,
            in_pairs: false,
        })
    });
    let executor = Executor::new(request.schedule, lines.collect(), request.threads);
    let fallback = native_fallback(request)?;
    let passed_over = Unit::passed_over(problem.substrate, true);
    Ok(Built {
        runner: Runner::Processor(executor),
        substrate: engine.substrate(),
        why: format!("{reason}; {moduli}{passed_over}"),
        recipe: Some(recipe),
        budget,
        // What native takes over has native's error.
        proven: fallback.is_none(),
        float_lines: Vec::new(),
        residues: Some(engine.counters),
        fallback,
    })
}

/// What takes calls in which lines need more bits than there are, if that is asked for.
fn native_fallback<T: Real>(request: &Request<'_>) -> Result<Option<Executor<T>>, FftError> {
    match request.problem.residues.native_fallback {
        #[cfg(feature = "native")]
        true => super::native::executor(request).map(Some),
        #[cfg(not(feature = "native"))]
        true => Err(FftError::missing_feature("the native fallback", "native")),
        false => Ok(None),
    }
}

/// A kernel, and lines and threads of its blocks, that are to be measured.
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) kernel: Option<&'static str>,
    pub(crate) block: Option<(u64, u32)>,
    /// Faults that are to be made.
    pub(crate) faults: cuda::Faults,
}

/// On a GPU, for what its kernels take.
pub(crate) fn on_gpu<T: Real>(
    request: &Request<'_>,
    measured: &Measured,
) -> Result<Built<T>, FftError> {
    let (problem, shared) = (request.problem, request.shared);
    let (machine, _) = request
        .gpu
        .clone()
        .unwrap_or_else(|| unreachable!("the caller has looked"));
    let kernel = cuda::residue_kernel::<T>(problem, &*machine)?;
    let kernel = measured.kernel.unwrap_or(kernel);
    // The processor only lays out the tables; bounds are those of its own sums.
    let mut engine = ResidueEngine::new(
        problem.residues,
        residue_unit(Substrate::Cpu(CpuUnit::Scalar))?,
    )?;
    let (recipe, budget, reason) = match problem.accuracy.target() {
        Some(target) if problem.residues.adaptive => adapt::<T>(request, target, &mut engine)?,
        _ => shared.recalled_or_chosen::<T>(problem, request.recalled, Some(&engine))?,
    };
    let moduli = engine.check(&recipe, &shared.tables.step_matrices)?;
    let lines = lines(request, &recipe, Unit::SCALAR);
    let choice = cuda::Choice {
        tuned: None,
        template: cuda::Number::Double,
        by_warpgroups: false,
        conversions: false,
        residues: Some(kernel),
        residue_block: measured.block,
        residue_faults: measured.faults,
        residue_unit: engine.unit_of_lines().map(exponent_of),
    };
    let mut cuda = CudaExecutor::new::<T>(
        machine,
        problem,
        (request.schedule, &lines),
        &recipe,
        choice,
    )?;
    let redundancy = problem.residues.redundancy;
    let counted = redundancy > 0 || problem.residues.adaptive;
    let counters = counted.then(|| Arc::clone(&engine.counters));
    if let Some(counters) = &counters {
        cuda.count_with(Arc::clone(counters), redundancy);
    }
    let fallback = native_fallback(request)?;
    if fallback.is_some() {
        cuda.leave_calls();
    }
    let proven = cuda::residue_bound_is_proven(problem.residues.reconstruction);
    Ok(Built {
        runner: Runner::Gpu(Box::new(cuda)),
        substrate: cuda::residue_substrate(kernel),
        why: format!("{reason}; {moduli}"),
        recipe: Some(recipe),
        budget,
        // What native takes over has native's error.
        proven: proven && fallback.is_none(),
        float_lines: Vec::new(),
        residues: counters,
        fallback,
    })
}

/// The exponent of a power of two.
fn exponent_of(unit: f64) -> i32 {
    (unit.to_bits() >> 52) as i32 - 1023
}

/// For moduli as few as the data need: full words, and for every line the coarsest unit that keeps the accuracy.
fn adapt<T: Real>(
    request: &Request<'_>,
    target: f64,
    engine: &mut ResidueEngine,
) -> Result<Chosen, FftError> {
    let (problem, shared) = (request.problem, request.shared);
    let recipe: Recipe = match request.recalled {
        Some(recipe) => recipe.clone(),
        None => shared.recipe(problem, Digits::DOUBLE),
    };
    let budget_of = |engine: &ResidueEngine| shared.budget::<T>(problem, &recipe, Some(engine));
    // What is not due to the unit of a line's words must leave room for it.
    let mut best = f64::INFINITY;
    for exponent in 8..80 {
        let unit = power_of_two(-exponent);
        engine.relative_unit = Some(LineUnit::Exactly(unit));
        let bound = budget_of(engine).bound;
        best = best.min(bound);
        if bound <= target {
            engine.relative_unit = Some(LineUnit::AtBest(unit));
            let budget = budget_of(engine);
            let room = if budget.bound <= target {
                "every line has the bits that the accuracy needs"
            } else {
                "lines have the bits that the accuracy needs, or as many as there are"
            };
            return Ok((recipe, budget, room.into()));
        }
    }
    // This one passes the test above.
    Err(FftError::AccuracyUnreachable {
        asked: target,
        best,
    })
}

#[cfg(test)]
mod tests {
    use super::ResidueEngine;
    use crate::{Accuracy, Engine, FftError, Plan, Planner, Problem, Products, ResidueOptions};
    use num_complex::Complex;
    use residues::bytes::{ByteMatrix, ByteProducts, Group, Portable, Sums};
    use residues::products::Unit8;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn the_accuracy_that_the_error_of_adaptive_lines_names_is_accepted() {
        let adaptive = ResidueOptions {
            adaptive: true,
            ..ResidueOptions::default()
        };
        let planner = Planner::<f64>::new();
        for shape in [&[1024][..], &[60], &[16, 12]] {
            let problem = Problem::complex(shape)
                .engine(Engine::Residues)
                .residues(adaptive);
            let asking =
                |target: f64| planner.plan(&problem.clone().accuracy(Accuracy::Target(target)));
            let best = match asking(1e-17) {
                Err(FftError::AccuracyUnreachable { best, .. }) => best,
                other => panic!("{shape:?}: {other:?}"),
            };
            let plan = asking(best).unwrap_or_else(|error| panic!("{shape:?}: {error}"));
            assert!(plan.bound() >= 1e-17 && best < 1e-14, "{shape:?}: {best:e}");
            // Nothing smaller is.
            assert!(asking(best * (1.0 - 1e-9)).is_err(), "{shape:?}");
        }
    }

    /// A unit with a bit that flips in the products of some matrices, those of one modulus each.
    #[derive(Debug)]
    struct Faulty {
        /// The step's matrices are the only ones of this depth.
        depth: usize,
        calls: AtomicU64,
        /// In which of every `period` products.
        period: u64,
        bad: &'static [u64],
    }

    impl ByteProducts for Faulty {
        fn name(&self) -> &'static str {
            "faulty"
        }

        fn multiply(&self, matrix: &ByteMatrix, data: &[Group], sums: &mut [Sums]) {
            Portable.multiply(matrix, data, sums);
            if matrix.depth() == self.depth {
                let call = self.calls.fetch_add(1, Ordering::Relaxed) % self.period;
                if self.bad.contains(&call) {
                    sums[1][0] ^= 1;
                }
            }
        }
    }

    /// A plan for 24 points in one step of 12 slots, with two redundant moduli.
    fn redundant_plan(bad: &'static [u64]) -> Plan<f64> {
        let options = ResidueOptions {
            redundancy: 2,
            ..ResidueOptions::default()
        };
        let problem = Problem::complex(&[24]).engine(Engine::Residues);
        let problem = problem.products(Products::Exact).residues(options);
        let unit = Unit8::Int8(Arc::new(Faulty {
            depth: 12,
            calls: AtomicU64::new(0),
            // Fifteen moduli that are needed, and two.
            period: 17,
            bad,
        }));
        let engine = ResidueEngine::new(options, (unit, "faulty")).unwrap();
        let planner = Planner::new();
        planner.plan_residues(&problem, engine).unwrap()
    }

    fn line() -> Vec<Complex<f64>> {
        let component = |i: usize| f64::from(i as u32).sin();
        let points = (0..24).map(|i| Complex::new(component(i), component(i + 24)));
        points.collect()
    }

    #[test]
    fn a_faulty_product_is_corrected_and_counted() {
        let (sound, faulty) = (redundant_plan(&[]), redundant_plan(&[3]));
        let (mut expected, mut found) = (line(), line());
        sound.process(&mut expected).unwrap();
        faulty.process(&mut found).unwrap();
        assert_eq!(found, expected);
        assert_eq!(sound.residue_report().unwrap().corrected, 0);
        let report = faulty.residue_report().unwrap();
        assert!(
            report.corrected > 0 && report.uncorrectable == 0,
            "{report}"
        );
    }

    #[test]
    fn faults_beyond_redundancy_end_in_an_error() {
        let faulty = redundant_plan(&[3, 9]);
        let error = faulty.process(&mut line()).unwrap_err();
        let report = faulty.residue_report().unwrap();
        assert!(report.uncorrectable > 0, "{report}");
        let outputs = report.uncorrectable;
        let expected = FftError::BadResidues {
            outputs,
            redundancy: 2,
        };
        assert_eq!(error, expected);
    }
}
