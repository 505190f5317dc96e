//! The digits engine: words in 8-bit digits, multiplied on a matrix unit of the processor or of a GPU.

use super::{BuildEngine, Built, Request, Runner};
use crate::error::FftError;
use crate::executor::cpu::{Executor, Job, LineTransform};
use crate::executor::cuda::{self, CudaExecutor};
use crate::executor::scales::Largest;
use crate::executor::schedule::{AxisPass, Schedule};
use crate::kind::Kind;
use crate::matrix_unit::{Unit, UnitSession};
use crate::norm::Scaling;
use crate::problem::Problem;
use crate::recipe::{BlockRecipe, Fold, LineRecipe, Recipe};
use crate::sample::Real;
use crate::stages::quantise::Columns;
use crate::substrate::{GpuUnit, Substrate};
use crate::transform::line::Line;
use crate::transform::passes::PAIR;
use std::sync::Arc;

/// A planned line and the unit that multiplies.
pub(crate) struct DigitsLine {
    pub(crate) line: Arc<Line>,
    pub(crate) unit: Unit,
    /// The numbers that lines are made of are real, and every thread has lines enough for two sets of them at a time.
    pub(crate) in_pairs: bool,
}

impl<T: Real> LineTransform<T> for DigitsLine {
    fn is_large(&self) -> bool {
        self.line.is_large()
    }

    fn lines_at_once(&self) -> usize {
        self.line.lines_at_once(self.unit, self.in_pairs)
    }

    fn lanes(&self) -> usize {
        match self.line.goes_one_by_one() {
            true => self.unit.lanes(),
            false => 0,
        }
    }

    fn workspace_len(&self, workers: usize, lines: usize) -> usize {
        self.line.workspace_len(self.unit, workers, lines)
    }

    fn table_bytes(&self) -> usize {
        self.line.table_bytes()
    }

    fn columns(&self) -> Option<Columns> {
        self.line.columns()
    }

    fn largest(&self, numbers: &[T]) -> u64 {
        self.unit.enter(Largest(numbers))
    }

    fn session(&self) -> UnitSession {
        self.unit.session()
    }

    fn run(&self, job: &Job<'_, T>, workspace: &mut [u64], workers: usize) {
        self.line.run_on(self.unit, job, workspace, workers);
    }
}

/// Points of the longest lines that tiles are not set up for, where they are few.
const WITHOUT_TILES: usize = 64;

/// Points of the longest step that vectors multiply as fast as tiles, or faster, where sums stay in registers (measured: docs/speed.md, "Tiles or
/// vectors").
const ROW_BY_ROW: usize = 20;

/// Pairs of diagonals of the recipes for which that has been measured: those of words of seven or eight digits.
const MEASURED_PAIRS: usize = 4;

/// Whether a pass is worth tiles, where a unit has them. They must be set up and given back, which costs short lines that are alone more than they gain
/// (measured: 64 points take 0.84 of the time on AVX-512 VNNI, 80 points as long). Of short steps, tiles are partly empty: they are left to vectors unless
/// the unit was asked for by name.
fn wants_tiles(pass: &AxisPass, recipe: &Recipe, vectors: Unit, named: bool) -> bool {
    let few = 2 * pass.read.count() <= vectors.lanes();
    let short = !named
        && recipe.digits.pairs() == MEASURED_PAIRS
        && longest_step(&recipe.of_axis(pass.axis).line) <= ROW_BY_ROW;
    !(short || few && pass.n <= WITHOUT_TILES)
}

/// Points of the longest step that is multiplied.
fn longest_step(line: &LineRecipe) -> usize {
    let blocks: &[BlockRecipe] = match line {
        LineRecipe::Copy => &[],
        LineRecipe::Passes(blocks) => blocks,
        LineRecipe::Bluestein { convolution, .. } => convolution,
    };
    let steps = blocks.iter().flat_map(|block| &block.steps);
    let multiplied = steps.filter(|step| step.fold != Fold::Trivial);
    multiplied.map(|step| step.n).max().unwrap_or(0)
}

/// The units that multiply the lines of every pass on the processor.
pub(crate) struct PassUnits {
    units: Vec<Unit>,
    /// Their names.
    pub(crate) name: &'static str,
    /// Whether any pass is worth tiles: for others the system is not asked for them, which changes the process.
    want_tiles: bool,
}

/// Chooses the units of all passes.
pub(crate) fn units_of_passes(
    problem: &Problem,
    schedule: &Schedule,
    recipe: &Recipe,
) -> Result<PassUnits, FftError> {
    let named = matches!(problem.substrate, Substrate::Cpu(_));
    let vectors = Unit::without_tiles(problem.substrate)?;
    let passes = schedule.passes.iter();
    let wants: Vec<bool> = passes
        .map(|pass| wants_tiles(pass, recipe, vectors, named))
        .collect();
    let want_tiles = wants.contains(&true);
    let unit = match want_tiles || named {
        true => Unit::new(problem.substrate)?,
        false => vectors,
    };
    let name = match wants.contains(&false) && vectors != unit && !named {
        true => "amx and avx512-vnni",
        false => unit.name(),
    };
    let choose = |wants: bool| if wants { unit } else { vectors };
    Ok(PassUnits {
        units: wants.into_iter().map(choose).collect(),
        name,
        want_tiles,
    })
}

/// The lines of a recipe along the axes of a schedule.
pub(super) fn lines(request: &Request<'_>, recipe: &Recipe, unit: Unit) -> Vec<Arc<Line>> {
    lines_on(request, recipe, &vec![unit; request.schedule.passes.len()])
}

/// The same, each on a unit of its own.
fn lines_on(request: &Request<'_>, recipe: &Recipe, units: &[Unit]) -> Vec<Arc<Line>> {
    let scaling = Scaling::of(request.problem);
    let passes = request.schedule.passes.iter().zip(units);
    passes
        .map(|(pass, &unit)| {
            let axis = recipe.of_axis(pass.axis);
            request.shared.line(axis, recipe, scaling, unit)
        })
        .collect()
}

pub(crate) struct DigitsEngine;

impl<T: Real> BuildEngine<T> for DigitsEngine {
    fn build(&self, request: &Request<'_>) -> Result<Built<T>, FftError> {
        let problem = request.problem;
        let chosen = request
            .shared
            .recalled_or_chosen::<T>(problem, request.recalled, None)?;
        let (recipe, budget, reason) = chosen;
        let (runner, substrate, remarks) = match &request.gpu {
            None => {
                let chosen = units_of_passes(problem, request.schedule, &recipe)?;
                let passes = request.schedule.passes.iter().zip(&chosen.units);
                let lines = passes.zip(lines_on(request, &recipe, &chosen.units));
                let lines = lines.map(|((pass, &unit), line)| -> Box<dyn LineTransform<T>> {
                    let enough = PAIR * unit.lanes() * request.threads;
                    let in_pairs = pass.kind == Kind::RealToComplex && pass.read.count() >= enough;
                    Box::new(DigitsLine {
                        line,
                        unit,
                        in_pairs,
                    })
                });
                let executor = Executor::new(request.schedule, lines.collect(), request.threads);
                let passed_over = Unit::passed_over(problem.substrate, chosen.want_tiles);
                (Runner::Processor(executor), chosen.name, passed_over)
            }
            Some(_) => {
                let (cuda, substrate) = on_gpu::<T>(request, &recipe)?;
                let remarks = cuda.remarks().iter();
                let remarks = remarks.map(|remark| format!("; {remark}")).collect();
                (Runner::Gpu(Box::new(cuda)), substrate, remarks)
            }
        };
        Ok(Built {
            runner,
            substrate,
            why: format!("{reason}{remarks}"),
            recipe: Some(recipe),
            budget,
            proven: true,
            float_lines: Vec::new(),
            residues: None,
            fallback: None,
        })
    }
}

/// The program for a GPU, and the names of the units that it runs on.
fn on_gpu<T: Real>(
    request: &Request<'_>,
    recipe: &Recipe,
) -> Result<(CudaExecutor, &'static str), FftError> {
    let problem = request.problem;
    let (machine, _) = request
        .gpu
        .clone()
        .unwrap_or_else(|| unreachable!("the caller has looked"));
    // The processor only lays out the tables, in the form of the portable unit.
    let lines = lines(request, recipe, Unit::SCALAR);
    let choice = cuda::Choice {
        tuned: match problem.substrate {
            Substrate::Gpu(GpuUnit::Int8MmaSync | GpuUnit::Fp8MmaSync | GpuUnit::F16MmaSync) => {
                None
            }
            Substrate::Gpu(GpuUnit::Fp8Wgmma) => Some(cuda::Product::Fp8),
            _ => Some(cuda::Product::Int8),
        },
        template: match problem.substrate {
            Substrate::Gpu(GpuUnit::Fp8MmaSync) => cuda::Number::DoubleFp8,
            Substrate::Gpu(GpuUnit::F16MmaSync) => cuda::Number::DoubleF16,
            _ => cuda::Number::Double,
        },
        by_warpgroups: problem.substrate == Substrate::Gpu(GpuUnit::Int8Wgmma),
        conversions: !problem.integers_only,
        residues: None,
        residue_block: None,
        residue_faults: cuda::Faults::default(),
        residue_unit: None,
    };
    let executor =
        CudaExecutor::new::<T>(machine, problem, (request.schedule, &lines), recipe, choice)?;
    let (tuned, passes) = executor.tuned_passes();
    // Names of what tuned kernels run on: alone, and with others.
    let (by_name, names) = match problem.substrate {
        Substrate::Gpu(GpuUnit::Fp8MmaSync) => {
            (true, ["fp8-mma-sync", "fp8-mma-sync and int8-mma-sync"])
        }
        Substrate::Gpu(GpuUnit::F16MmaSync) => {
            (true, ["f16-mma-sync", "f16-mma-sync and int8-mma-sync"])
        }
        Substrate::Gpu(GpuUnit::Fp8Wgmma) => (true, ["fp8-wgmma", "fp8-wgmma and int8-mma-sync"]),
        Substrate::Gpu(GpuUnit::Int8Wgmma) => {
            (true, ["int8-wgmma", "int8-wgmma and int8-mma-sync"])
        }
        _ => (false, ["int8-wgmma", "int8-wgmma and int8-mma-sync"]),
    };
    if tuned == 0 && by_name {
        let remarks = executor.remarks().iter();
        let remarks: String = remarks.map(|remark| format!(" ({remark})")).collect();
        return Err(FftError::Unsupported(format!(
            "no kernel on {} fits this device, recipe and layout{remarks}; take the substrate auto or int8-mma-sync",
            problem.substrate
        )));
    }
    let substrate = match tuned {
        0 => "int8-mma-sync",
        _ if tuned == passes => names[0],
        _ => names[1],
    };
    Ok((executor, substrate))
}
