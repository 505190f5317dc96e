//! From a [`Problem`] to a [`Plan`]: choose the engine, choose digits from the error budget, build tables, remember.

use crate::bailey;
use crate::budget::{
    Data, ErrorBudget, LineUnit, Setting, between_axes, final_rounding, line_budget,
};
use crate::choice::{choose_engine, weighed_for, weighed_on_gpu_for};
use crate::error::FftError;
use crate::estimate::digit_products;
use crate::executor::cpu::{Executor, LineEngine};
use crate::executor::cuda::{self, CudaExecutor};
use crate::factor;
use crate::float_lines::FloatPlans;
use crate::line::Line;
use crate::matrix_unit::Unit;
use crate::native::{NativeLine, measured_error};
use crate::plan::{Lengths, Plan};
use crate::plan_cache::PlanCache;
use crate::problem::{Accuracy, Device, Direction, Engine, Family, Kind, Norm, Problem, Substrate};
use crate::recipe::{AxisRecipe, Digits, LineRecipe, Recipe};
use crate::residue_products::ResidueEngine;
use crate::roots::{Fixed, nearest_inverse_sqrt};
use crate::sample::Real;
use crate::tables::{Tables, lock};
use crate::wisdom::Decision;
use float_environment::DefaultEnvironment;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

/// Makes plans and keeps them: asking twice for the same problem returns the same plan, as long as it is remembered
/// ([`Planner::set_memory_limit`]).
///
/// ```
/// use ozfft::{Planner, Problem};
/// let planner = Planner::<f64>::new();
/// let problem = Problem::complex(&[1024]).reproducible(true);
/// let plan = planner.plan(&problem)?;
/// assert!(std::sync::Arc::ptr_eq(&plan, &planner.plan(&problem)?));
/// println!("{plan}");
/// # Ok::<(), ozfft::FftError>(())
/// ```
pub struct Planner<T: Real> {
    plans: Mutex<PlanCache<T>>,
    /// Kept by the plans that use them.
    lines: Mutex<HashMap<LineKey, Weak<Line>>>,
    tables: Tables,
    pub(crate) float_plans: FloatPlans,
    recalled: Mutex<Vec<Decision>>,
}

/// More threads than this are not used, whatever is asked for; the plan says how many are.
pub(crate) const MOST_THREADS: usize = 256;

/// What determines a line's tables.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct LineKey {
    unit: Unit,
    recipe: LineRecipe,
    digits: Digits,
    family: Family,
    scaling: Scaling,
}

/// The factor that one axis contributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Scaling {
    One,
    Inverse,
    InverseRoot,
}

impl Scaling {
    pub(crate) fn of(problem: &Problem) -> Scaling {
        match (problem.norm, problem.direction) {
            (Norm::Backward, Direction::Inverse) | (Norm::Forward, Direction::Forward) => {
                Scaling::Inverse
            }
            (Norm::Ortho, _) => Scaling::InverseRoot,
            _ => Scaling::One,
        }
    }

    /// Mantissa in (1/2, 1] and exponent.
    pub(crate) fn factor(self, n: usize) -> (Fixed, i32) {
        match self {
            Scaling::One => (Fixed::one(), 0),
            Scaling::Inverse => Fixed::inverse_mantissa(n as u64),
            Scaling::InverseRoot => Fixed::inverse_sqrt_mantissa(n as u64),
        }
    }

    /// The nearest double: one rounding, which bounds count.
    pub(crate) fn value(self, n: usize) -> f64 {
        match self {
            Scaling::One => 1.0,
            Scaling::Inverse => 1.0 / n as f64,
            Scaling::InverseRoot => nearest_inverse_sqrt(n as u64),
        }
    }
}

impl<T: Real> Default for Planner<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Every combination of digits worth considering, cheapest first.
fn ladder() -> Vec<Digits> {
    let mut all = Vec::new();
    for data in 2..=8u32 {
        for matrix in 1..=7u32.min(data) {
            for diagonals in data..data + matrix {
                all.push(Digits {
                    data,
                    matrix,
                    diagonals,
                });
            }
        }
    }
    // Cost is the number of digit products formed, on every machine; among equals, fewer diagonals.
    let products = |d: &Digits| digit_products(d.data, d.matrix, d.diagonals);
    all.sort_by_key(|d| (products(d), d.diagonals, d.data));
    all
}

impl<T: Real> Planner<T> {
    /// A planner without plans.
    pub fn new() -> Self {
        Planner {
            plans: Mutex::new(PlanCache::new()),
            lines: Mutex::new(HashMap::new()),
            tables: Tables::default(),
            float_plans: FloatPlans::default(),
            recalled: Mutex::new(Vec::new()),
        }
    }

    /// Plans a problem, or returns the plan made before.
    pub fn plan(&self, problem: &Problem) -> Result<Arc<Plan<T>>, FftError> {
        let _environment = DefaultEnvironment::enter();
        problem.validate()?;
        let mut resolved = problem.clone();
        let threads = problem.threads.unwrap_or_else(rayon::current_num_threads);
        // Every thread has scratch memory of its own; no machine has more threads than this for one call.
        let threads = threads.min(MOST_THREADS);
        resolved.threads = Some(threads);
        if resolved.engine == Engine::Residues {
            // Residues give whole products, whatever is asked for.
            resolved.family = Family::Exact;
        }
        // Problems hold an accuracy, a float, and so have no hash of their own; their saved form has.
        let key = serde_json::to_string(&resolved)
            .unwrap_or_else(|error| unreachable!("plain data is always JSON: {error}"));
        if let Some(plan) = lock(&self.plans).get(&key) {
            return Ok(plan);
        }
        let built = self.build(&resolved, threads, open_device);
        self.tables.forget_spectrum();
        let plan = Arc::new(built?);
        lock(&self.plans).insert(key, &plan);
        Ok(plan)
    }

    /// Lets the planner keep plans with so many bytes of tables, 256 MiB unless it is told. Beyond, it forgets those that it was
    /// not asked for longest; whoever holds one keeps it.
    pub fn set_memory_limit(&self, bytes: usize) {
        lock(&self.plans).set_limit(bytes);
    }

    /// About how many bytes of tables the remembered plans have.
    pub fn memory(&self) -> usize {
        lock(&self.plans).bytes()
    }

    /// Forgets plans and tables that nobody else holds.
    pub fn clear(&self) {
        lock(&self.plans).clear();
        lock(&self.lines).clear();
        self.tables.clear();
        self.float_plans.clear();
    }

    pub(crate) fn decisions(&self) -> Vec<Decision> {
        lock(&self.plans).decisions()
    }

    pub(crate) fn recall(&self, decisions: Vec<Decision>) {
        lock(&self.recalled).extend(decisions);
    }

    /// A saved decision for this problem; the number of threads is no part of it.
    fn recalled(&self, problem: &Problem) -> Option<Decision> {
        let same = |known: &Problem| {
            let mut known = known.clone();
            known.threads = problem.threads;
            known == *problem
        };
        let recalled = lock(&self.recalled);
        recalled.iter().rfind(|d| same(&d.problem)).cloned()
    }

    /// A plan for a device that is given, whatever the problem names.
    #[cfg(test)]
    pub(crate) fn plan_on(
        &self,
        problem: &Problem,
        machine: &Arc<dyn cuda::Machine>,
    ) -> Result<Plan<T>, FftError> {
        let _environment = DefaultEnvironment::enter();
        problem.validate()?;
        let problem = problem.clone().device(Device::Cuda(0));
        self.build(&problem, 1, |_| {
            Ok((Some((Arc::clone(machine), 0)), String::new()))
        })
    }

    /// `open_device` finds the GPU that a problem is for, if any.
    fn build(
        &self,
        problem: &Problem,
        threads: usize,
        open_device: impl Fn(&Problem) -> Result<OpenDevice, FftError>,
    ) -> Result<Plan<T>, FftError> {
        let fresh = || self.build_from(problem, threads, &open_device, None);
        let mut plan = match self.recalled(problem) {
            None => fresh()?,
            Some(decision) => {
                let recalled = self.build_from(problem, threads, &open_device, Some(decision));
                self.recalled_or_fresh(problem, recalled, fresh)?
            }
        };
        if let Some(target) = problem.accuracy.target()
            && !plan.accuracy_is_proven()
        {
            plan.why
                .push_str(&format!("; that {target:.2e} is kept is not proven"));
        }
        Ok(plan)
    }

    /// A plan of what was decided, or of what is decided now.
    fn build_from(
        &self,
        problem: &Problem,
        threads: usize,
        open_device: &impl Fn(&Problem) -> Result<OpenDevice, FftError>,
        recalled: Option<Decision>,
    ) -> Result<Plan<T>, FftError> {
        let native_error = problem
            .axes
            .iter()
            .map(|&axis| measured_error(problem.shape[axis], T::UNIT_ROUNDOFF))
            .fold(0.0, f64::hypot);
        let mut weighed = None;
        let (engine, mut why) = match (&recalled, weighed_for(problem)) {
            (Some(decision), _) => (decision.engine(), "recalled from wisdom".into()),
            (None, Some(target)) => {
                let (engine, why, table) = self.weigh(problem, target, threads, native_error);
                weighed = Some(table);
                (engine, why)
            }
            (None, None) => choose_engine(problem, native_error),
        };
        if let (None, Some(target)) = (&recalled, weighed_on_gpu_for(problem))
            && let (Some(gpu), _) = open_device(problem)?
        {
            let (taken, table) = self.weigh_on_gpu(problem, target, &gpu);
            weighed = Some(table);
            if let Some(plan) = taken {
                return Ok(Plan {
                    choice: weighed,
                    ..plan
                });
            }
            why = format!("auto: no mode that tensor cores run is proven to keep {target:.2e}");
        }
        let not_on_gpu = |why: &mut String| {
            if problem.integers_only {
                why.push_str("; integers only is a choice of GPU kernels, and changes nothing on the processor");
            }
        };
        if engine == Engine::Native {
            if let Device::Cuda(_) = problem.device {
                return Err(FftError::Unsupported(
                    "the native engine runs on the processor alone; take the engine digits, or the device cpu".into(),
                ));
            }
            not_on_gpu(&mut why);
            return Ok(self.native(problem, threads, native_error, why));
        }
        if let Engine::Floats(mode) = engine {
            let gpu = match problem.device {
                Device::Cuda(_) => open_device(problem)?.0,
                _ => None,
            };
            if let Some(gpu) = gpu {
                return self.floats_on_gpu(problem, mode, &why, gpu);
            }
            not_on_gpu(&mut why);
            let plan = self.floats(problem, threads, mode, &why)?;
            return Ok(Plan {
                choice: weighed,
                ..plan
            });
        }
        if engine == Engine::Residues {
            let recipe = recalled.and_then(|d| d.recipe);
            let gpu = match problem.device {
                Device::Cuda(_) => open_device(problem)?.0,
                _ => None,
            };
            if let Some(gpu) = gpu {
                return self.residues_on_gpu(problem, (recipe, why), gpu, (None, None));
            }
            not_on_gpu(&mut why);
            let engine = ResidueEngine::new(problem)?;
            return self.residues(problem, threads, (recipe, why), engine);
        }
        let (recipe, budget, reason) = match recalled.and_then(|d| d.recipe) {
            Some(recipe) => {
                let budget = self.budget(problem, &recipe, None);
                (recipe, budget, "as it was decided then".into())
            }
            None => self.choose_recipe(problem, None)?,
        };
        let (gpu, passed_over) = open_device(problem)?;
        if gpu.is_none() {
            not_on_gpu(&mut why);
        }
        let (unit, passed_over) = match (&gpu, problem.substrate) {
            // On a GPU the processor only lays out the tables, in the form of the portable unit.
            (Some(_), _) => (Unit::Scalar, passed_over),
            (None, substrate) => (
                Unit::new(substrate)?,
                format!("{passed_over}{}", Unit::passed_over(substrate)),
            ),
        };
        let scaling = Scaling::of(problem);
        let executor = Executor::new(problem, threads, |axis, _| {
            let line = recipe_of(&recipe, axis);
            let key = LineKey {
                unit,
                recipe: line.line.clone(),
                digits: recipe.digits,
                family: recipe.family,
                scaling,
            };
            LineEngine::Digits(self.line(key), unit)
        });
        let device = gpu.as_ref().map_or(Device::Cpu, |gpu| Device::Cuda(gpu.1));
        let choice = cuda::Choice {
            tuned: match problem.substrate {
                Substrate::Int8MmaSync => None,
                Substrate::Fp8Wgmma => Some(cuda::Product::Fp8),
                _ => Some(cuda::Product::Int8),
            },
            conversions: !problem.integers_only,
            residues: None,
            residue_lines: None,
        };
        let cuda = gpu
            .map(|(machine, _)| CudaExecutor::new(machine, problem, &executor, &recipe, choice))
            .transpose()?;
        let (tuned, passes) = cuda.as_ref().map_or((0, 0), CudaExecutor::tuned_passes);
        let tuned_only = matches!(
            problem.substrate,
            Substrate::Int8Wgmma | Substrate::Fp8Wgmma
        );
        if tuned_only && cuda.is_some() && tuned == 0 {
            return Err(FftError::Unsupported(format!(
                "no kernel on {:?} fits this device, recipe and layout; take the substrate auto or Int8MmaSync",
                problem.substrate
            )));
        }
        let fp8 = problem.substrate == Substrate::Fp8Wgmma;
        Ok(Plan {
            problem: problem.clone(),
            engine,
            substrate: match cuda {
                Some(_) if tuned == 0 => "int8-mma-sync",
                Some(_) if tuned == passes && fp8 => "fp8-wgmma",
                Some(_) if fp8 => "fp8-wgmma and int8-mma-sync",
                Some(_) if tuned == passes => "int8-wgmma",
                Some(_) => "int8-wgmma and int8-mma-sync",
                None => unit.name(),
            },
            device,
            cuda,
            choice: weighed,
            why: format!("{why}; {reason}{passed_over}"),
            budget,
            threads,
            executor,
            lengths: Lengths::new(problem),
            recipe: Some(recipe),
            residues: None,
            fallback: None,
            proven: true,
        })
    }

    /// A plan of [`Engine::Residues`].
    pub(crate) fn residues(
        &self,
        problem: &Problem,
        threads: usize,
        (recalled, why): (Option<Recipe>, String),
        mut engine: ResidueEngine,
    ) -> Result<Plan<T>, FftError> {
        let (recipe, budget, reason) = match (problem.accuracy.target(), recalled) {
            // The unit of a line's words is no part of the recipe.
            (Some(target), recalled) if problem.residues.adaptive => {
                self.adapt(problem, target, recalled, &mut engine)?
            }
            (_, Some(recipe)) => {
                let budget = self.budget(problem, &recipe, Some(&engine));
                (recipe, budget, "as it was decided then".into())
            }
            (_, None) => self.choose_recipe(problem, Some(&engine))?,
        };
        let moduli = engine.check(&recipe, &self.tables)?;
        let passed_over = Unit::passed_over(problem.substrate);
        let scaling = Scaling::of(problem);
        let executor = Executor::new(problem, threads, |axis, _| {
            let line = &recipe_of(&recipe, axis).line;
            let (scale, exponent) = scaling.factor(line.len());
            let setting = bailey::Setting {
                digits: recipe.digits,
                family: recipe.family,
                unit: Unit::Residues,
                tables: &self.tables,
                residues: Some(&engine),
            };
            let line = Line::new(line, &scale, exponent, setting);
            LineEngine::Digits(Arc::new(line), Unit::Residues)
        });
        let fallback = problem
            .residues
            .native_fallback
            .then(|| self.native_executor(problem, threads));
        Ok(Plan {
            problem: problem.clone(),
            engine: Engine::Residues,
            substrate: engine.substrate(),
            device: Device::Cpu,
            cuda: None,
            choice: None,
            why: format!("{why}; {reason}; {moduli}{passed_over}"),
            budget,
            threads,
            executor,
            lengths: Lengths::new(problem),
            recipe: Some(recipe),
            residues: Some(engine.counters),
            // What native takes over has native's error.
            proven: fallback.is_none(),
            fallback,
        })
    }

    /// A plan of [`Engine::Residues`] that runs one of `ozfft_kernels::RESIDUE_VARIANTS`, to measure it: some leave out a
    /// stage, and their results are void.
    #[doc(hidden)]
    pub fn plan_residue_variant(
        &self,
        problem: &Problem,
        kernel: &str,
    ) -> Result<Plan<T>, FftError> {
        let _environment = DefaultEnvironment::enter();
        let known = [
            &ozfft_kernels::RESIDUE_VARIANTS[..],
            &ozfft_kernels::RESIDUE_FP8_VARIANTS,
        ]
        .concat();
        let Some(&kernel) = known.iter().find(|&&name| name == kernel) else {
            return Err(FftError::Unsupported(format!(
                "{kernel} is no kernel to measure; there are {}",
                known.join(", ")
            )));
        };
        let problem = problem.clone().engine(Engine::Residues);
        let problem = problem.family(Family::Exact);
        problem.validate()?;
        let (Some(gpu), _) = open_device(&problem)? else {
            return Err(FftError::Unsupported(
                "there is nothing to measure on the processor; take a device cuda".into(),
            ));
        };
        let why = format!("{kernel} is to be measured");
        self.residues_on_gpu(&problem, (None, why), gpu, (Some(kernel), None))
    }

    /// A plan of [`Engine::Residues`] whose blocks take so many lines, to measure what the number costs.
    #[doc(hidden)]
    pub fn plan_residue_tile(&self, problem: &Problem, lines: u64) -> Result<Plan<T>, FftError> {
        let _environment = DefaultEnvironment::enter();
        let problem = problem.clone().engine(Engine::Residues);
        let problem = problem.family(Family::Exact);
        problem.validate()?;
        let (Some(gpu), _) = open_device(&problem)? else {
            return Err(FftError::Unsupported(
                "there is nothing to measure on the processor; take a device cuda".into(),
            ));
        };
        let why = format!("blocks of {lines} lines are to be measured");
        self.residues_on_gpu(&problem, (None, why), gpu, (None, Some(lines)))
    }

    /// The same on a device that is given.
    #[cfg(test)]
    pub(crate) fn plan_residue_tile_on(
        &self,
        problem: &Problem,
        lines: u64,
        machine: &Arc<dyn cuda::Machine>,
    ) -> Result<Plan<T>, FftError> {
        let problem = problem.clone().device(Device::Cuda(0));
        let gpu = (Arc::clone(machine), 0);
        self.residues_on_gpu(&problem, (None, String::new()), gpu, (None, Some(lines)))
    }

    /// A plan of [`Engine::Residues`] on a GPU, for what its kernels take.
    fn residues_on_gpu(
        &self,
        problem: &Problem,
        (recalled, why): (Option<Recipe>, String),
        (machine, ordinal): (Arc<dyn cuda::Machine>, usize),
        (variant, lines): (Option<&'static str>, Option<u64>),
    ) -> Result<Plan<T>, FftError> {
        let threads = problem.threads.unwrap_or(1);
        let kernel = cuda::residue_kernel::<T>(problem, &*machine)?;
        let kernel = variant.unwrap_or(kernel);
        // The processor only lays out the tables; bounds are those of its own sums.
        let engine = ResidueEngine::new(&problem.clone().substrate(Substrate::Scalar))?;
        let (recipe, budget, reason) = match recalled {
            Some(recipe) => {
                let budget = self.budget(problem, &recipe, Some(&engine));
                (recipe, budget, "as it was decided then".into())
            }
            None => self.choose_recipe(problem, Some(&engine))?,
        };
        let moduli = engine.check(&recipe, &self.tables)?;
        let scaling = Scaling::of(problem);
        let executor = Executor::new(problem, threads, |axis, _| {
            let key = LineKey {
                unit: Unit::Scalar,
                recipe: recipe_of(&recipe, axis).line.clone(),
                digits: recipe.digits,
                family: recipe.family,
                scaling,
            };
            LineEngine::Digits(self.line(key), Unit::Scalar)
        });
        let choice = cuda::Choice {
            tuned: None,
            conversions: false,
            residues: Some(kernel),
            residue_lines: lines,
        };
        let cuda = CudaExecutor::new(machine, problem, &executor, &recipe, choice)?;
        Ok(Plan {
            problem: problem.clone(),
            engine: Engine::Residues,
            substrate: match ozfft_kernels::is_residue_fp8_kernel(kernel) {
                true => "fp8-wgmma",
                false => "int8-mma-sync",
            },
            device: Device::Cuda(ordinal),
            cuda: Some(cuda),
            choice: None,
            why: format!("{why}; {reason}; {moduli}"),
            budget,
            threads,
            executor,
            lengths: Lengths::new(problem),
            recipe: Some(recipe),
            residues: None,
            fallback: None,
            proven: cuda::residue_bound_is_proven(problem.residues.reconstruction),
        })
    }

    /// For moduli as few as the data need: full words, and for every line the coarsest unit that keeps the accuracy.
    fn adapt(
        &self,
        problem: &Problem,
        target: f64,
        recalled: Option<Recipe>,
        engine: &mut ResidueEngine,
    ) -> Result<(Recipe, ErrorBudget, String), FftError> {
        let recipe = recalled.unwrap_or_else(|| self.recipe(problem, Digits::DOUBLE));
        let budget_of = |engine: &ResidueEngine| self.budget(problem, &recipe, Some(engine));
        // What is not due to the unit of a line's words must leave room for it.
        for exponent in 8..80 {
            let unit = f64::from(-exponent).exp2();
            engine.relative_unit = Some(LineUnit::Exactly(unit));
            if budget_of(engine).bound <= target {
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
        engine.relative_unit = None;
        Err(FftError::AccuracyUnreachable {
            asked: target,
            best: 3.0 * budget_of(engine).expected,
        })
    }

    fn native(&self, problem: &Problem, threads: usize, error: f64, why: String) -> Plan<T> {
        let executor = self.native_executor(problem, threads);
        Plan {
            problem: problem.clone(),
            engine: Engine::Native,
            substrate: "native",
            device: Device::Cpu,
            cuda: None,
            choice: None,
            why,
            budget: ErrorBudget {
                bound: error,
                expected: error / 2.0,
            },
            threads,
            executor,
            lengths: Lengths::new(problem),
            recipe: None,
            residues: None,
            fallback: None,
            proven: false,
        }
    }

    fn native_executor(&self, problem: &Problem, threads: usize) -> Executor<T> {
        let scaling = Scaling::of(problem);
        Executor::new(problem, threads, |axis, kind: Kind| {
            let n = problem.shape[axis];
            LineEngine::Native(NativeLine::new(kind, n, scaling.value(n)))
        })
    }

    /// Tables are shared between axes, plans and batches.
    fn line(&self, key: LineKey) -> Arc<Line> {
        if let Some(line) = lock(&self.lines).get(&key).and_then(Weak::upgrade) {
            return line;
        }
        let (scale, exponent) = key.scaling.factor(key.recipe.len());
        let line = Arc::new(Line::new(
            &key.recipe,
            &scale,
            exponent,
            bailey::Setting {
                digits: key.digits,
                family: key.family,
                unit: key.unit,
                tables: &self.tables,
                residues: None,
            },
        ));
        let mut lines = lock(&self.lines);
        if lines.len() == lines.capacity() {
            lines.retain(|_, line| line.strong_count() > 0);
        }
        lines.insert(key, Arc::downgrade(&line));
        line
    }

    pub(crate) fn recipe(&self, problem: &Problem, digits: Digits) -> Recipe {
        Recipe {
            digits: problem.family.digits(digits),
            family: problem.family,
            axes: problem
                .order_of_axes()
                .into_iter()
                .map(|axis| AxisRecipe {
                    axis,
                    line: factor::line(problem.shape[axis]),
                })
                .collect(),
        }
    }

    pub(crate) fn budget(
        &self,
        problem: &Problem,
        recipe: &Recipe,
        residues: Option<&ResidueEngine>,
    ) -> ErrorBudget {
        let scaling = Scaling::of(problem);
        let mut total = ErrorBudget::EXACT;
        for (number, axis) in recipe.axes.iter().enumerate() {
            let data = match problem.kind {
                Kind::RealToComplex if number == 0 => Data::Real,
                _ => Data::Complex,
            };
            if number > 0 {
                total = total.then(between_axes(T::IS_DOUBLE));
            }
            let setting = Setting {
                digits: recipe.digits,
                family: recipe.family,
                scale: scaling.factor(axis.line.len()).0.to_f64(),
                tables: &self.tables,
                residues,
            };
            let rounding = match axis.line {
                LineRecipe::Copy => ErrorBudget::EXACT,
                _ => final_rounding(T::UNIT_ROUNDOFF),
            };
            total = total
                .then(line_budget(&axis.line, setting, data))
                .then(rounding);
        }
        total
    }

    pub(crate) fn choose_recipe(
        &self,
        problem: &Problem,
        residues: Option<&ResidueEngine>,
    ) -> Result<(Recipe, ErrorBudget, String), FftError> {
        let steps = self.recipe(problem, Digits::DOUBLE).axes;
        for axis in &steps {
            axis.line.expect_table()?;
        }
        let with = |digits: Digits| {
            let recipe = Recipe {
                digits: problem.family.digits(digits),
                family: problem.family,
                axes: steps.clone(),
            };
            let budget = self.budget(problem, &recipe, residues);
            (recipe, budget)
        };
        let Some(target) = problem.accuracy.target() else {
            let (digits, reason) = match problem.accuracy {
                Accuracy::Single => (Digits::SINGLE, "Single is the recipe of 40-bit words"),
                _ => (Digits::DOUBLE, "Double is the recipe of 64-bit words"),
            };
            let (recipe, budget) = with(digits);
            return Ok((recipe, budget, reason.into()));
        };
        let mut candidates = Vec::new();
        for digits in ladder() {
            let (recipe, budget) = with(digits);
            if budget.bound <= target {
                let reason =
                    format!("the fewest digit products whose bound is at most {target:.2e}");
                return Ok((recipe, budget, reason));
            }
            candidates.push((recipe, budget));
        }
        // Too near the caller's own type for a proof: three times the expectation is promised instead, and said.
        let likely = candidates
            .iter()
            .filter(|(_, b)| 3.0 * b.expected <= target)
            .min_by(|a, b| a.1.bound.total_cmp(&b.1.bound));
        if let Some((recipe, budget)) = likely {
            let reason = format!(
                "no recipe proves {target:.2e}; this one has the smallest bound and is expected to stay below a third of it"
            );
            return Ok((recipe.clone(), *budget, reason));
        }
        if let Some(engine) = residues {
            // What cannot be built at all says why.
            engine.check(&candidates[0].0, &self.tables)?;
        }
        let best = candidates
            .iter()
            .map(|(_, b)| 3.0 * b.expected)
            .fold(f64::INFINITY, f64::min);
        Err(FftError::AccuracyUnreachable {
            asked: target,
            best,
        })
    }
}

fn recipe_of(recipe: &Recipe, axis: usize) -> &AxisRecipe {
    let mut axes = recipe.axes.iter();
    axes.find(|a| a.axis == axis)
        .unwrap_or_else(|| unreachable!("every axis has a recipe"))
}

/// A GPU with its number, or none; and what is to be said about that.
type OpenDevice = (Option<(Arc<dyn cuda::Machine>, usize)>, String);

/// The GPU that a problem is for.
fn open_device(problem: &Problem) -> Result<OpenDevice, FftError> {
    let for_gpu = matches!(
        problem.substrate,
        Substrate::Auto | Substrate::Int8MmaSync | Substrate::Int8Wgmma | Substrate::Fp8Wgmma
    ) || matches!(problem.device, Device::Cuda(_))
        && problem.engine == Engine::Residues
        && cuda::is_residues_in_fp8(problem);
    match problem.device {
        Device::Cpu => Ok((None, String::new())),
        Device::Cuda(_) if !for_gpu => Err(FftError::Unsupported(format!(
            "the substrate {:?} is a processor's; take auto or Int8MmaSync for a GPU, or the device cpu",
            problem.substrate
        ))),
        Device::Cuda(ordinal) => Ok((Some((cuda::open(ordinal)?, ordinal)), String::new())),
        Device::Auto if !for_gpu => Ok((None, "; the substrate is a processor's".into())),
        Device::Auto => match cuda::open(0) {
            Ok(machine) => Ok((Some((machine, 0)), "; there is a GPU".into())),
            Err(error) if problem.substrate == Substrate::Auto => {
                Ok((None, format!("; on the processor: {error}")))
            }
            Err(error) => Err(error),
        },
    }
}
