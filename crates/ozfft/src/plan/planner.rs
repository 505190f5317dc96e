//! From a [`Problem`] to a [`Plan`]: choose the engine and the device, let the engine build, cache.

use super::choice::{Choice, choose_engine, weighed_for, weighed_on_gpu_for};
use super::decision::Decision;
use super::plan_cache::{Building, PlanCache};
use super::{Lengths, Plan};
#[cfg(feature = "cuda")]
use crate::engines::residues::{self, Measured};
use crate::engines::shared::Shared;
use crate::engines::{self, Built, Gpu, Request, native_error};
use crate::error::FftError;
use crate::executor::cuda;
use crate::executor::schedule::Schedule;
use crate::parallel;
use crate::problem::{Device, Engine, Problem, Products};
use crate::recipe::Recipe;
use crate::sample::Real;
use crate::stages::scale::Numbers;
use crate::substrate::{GpuUnit, Substrate};
use crate::sync::lock;
use fallible_memory::catch;
use float_environment::DefaultEnvironment;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, TryLockError};

/// Makes plans and keeps them: asking twice for the same problem returns the same plan, as long as it is cached
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
    pub(super) shared: Shared,
    /// By problem, whose number of threads is left out.
    recalled: Mutex<HashMap<Problem, Decision>>,
}

impl<T: Real> std::fmt::Debug for Planner<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Planner")
            .field("numbers", &T::NAME)
            .field("memory", &self.memory())
            .finish_non_exhaustive()
    }
}

/// Upper limit of the number of threads; the plan reports the number used.
pub(crate) const MOST_THREADS: usize = 256;

impl<T: Real> Default for Planner<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// The problem as decisions are kept for it.
fn for_any_threads(problem: &Problem) -> Problem {
    let mut problem = problem.clone();
    problem.threads = None;
    problem
}

/// Parameters of a plan besides its engine.
pub(super) struct Order<'a> {
    pub(super) problem: &'a Problem,
    pub(super) threads: usize,
    pub(super) schedule: Arc<Schedule>,
}

impl<'a> Order<'a> {
    fn new<T: Real>(problem: &'a Problem, threads: usize) -> Self {
        Order {
            problem,
            threads,
            schedule: Arc::new(Schedule::new(problem, Numbers::of::<T>())),
        }
    }
}

impl<T: Real> Planner<T> {
    /// A planner without plans.
    pub fn new() -> Self {
        Planner {
            plans: Mutex::new(PlanCache::new()),
            shared: Shared::default(),
            recalled: Mutex::new(HashMap::new()),
        }
    }

    /// Plans a problem, or returns the plan made before.
    pub fn plan(&self, problem: &Problem) -> Result<Arc<Plan<T>>, FftError> {
        let _environment = DefaultEnvironment::enter();
        problem.validate()?;
        let mut resolved = problem.clone();
        let threads = problem.threads.unwrap_or_else(parallel::threads);
        // Every thread has scratch memory of its own; no machine has more threads than this for one call.
        let threads = threads.min(MOST_THREADS);
        resolved.threads = Some(threads);
        if resolved.engine == Engine::Residues {
            // Residues give whole products, whatever is asked for.
            resolved.products = Products::Exact;
        }
        if let Some(plan) = lock(&self.plans).get(&resolved) {
            return Ok(plan);
        }
        let Some(_building) = Building::enter() else {
            return self.build_and_cache(&resolved, threads);
        };
        let in_flight = lock(&self.plans).in_flight(&resolved);
        let mut built = match in_flight.try_lock() {
            Ok(built) => built,
            // The builder divides its work among the threads of a pool, and may wait for what this one has begun.
            Err(TryLockError::WouldBlock) if parallel::is_worker() => {
                return self.build_and_cache(&resolved, threads);
            }
            Err(_) => lock(&in_flight),
        };
        if let Some(plan) = &*built {
            return Ok(Arc::clone(plan));
        }
        // Another thread may have finished between the first lookup and this one.
        if let Some(plan) = lock(&self.plans).get(&resolved) {
            lock(&self.plans).end_in_flight(&resolved);
            return Ok(plan);
        }
        let plan = self.build_and_cache(&resolved, threads);
        lock(&self.plans).end_in_flight(&resolved);
        *built = plan.as_ref().ok().cloned();
        plan
    }

    fn build_and_cache(&self, problem: &Problem, threads: usize) -> Result<Arc<Plan<T>>, FftError> {
        let build = || parallel::on_threads(threads, || self.build(problem, threads, open_device));
        let built = catch(build);
        self.shared.tables.forget_spectrum();
        let plan = Arc::new(built??);
        let mut plans = lock(&self.plans);
        // Two threads may have built it beside each other: callers get the same.
        if let Some(first) = plans.get(problem) {
            return Ok(first);
        }
        plans.insert(problem.clone(), &plan);
        Ok(plan)
    }

    /// Lets the planner keep plans with so many bytes of tables, by default 256 MiB. Beyond, the least recently
    /// used are evicted; a plan in use stays valid.
    pub fn set_memory_limit(&self, bytes: usize) {
        lock(&self.plans).set_limit(bytes);
    }

    /// About how many bytes of tables the cached plans have.
    pub fn memory(&self) -> usize {
        lock(&self.plans).bytes()
    }

    /// Drops plans and tables that are not in use elsewhere.
    pub fn clear(&self) {
        lock(&self.plans).clear();
        self.shared.clear();
    }

    #[cfg(feature = "serde")]
    pub(crate) fn decisions(&self) -> Vec<Decision> {
        lock(&self.plans).decisions()
    }

    #[cfg(feature = "serde")]
    pub(crate) fn recall(&self, decisions: Vec<Decision>) {
        let decisions = decisions
            .into_iter()
            .map(|decision| (for_any_threads(&decision.problem), decision));
        lock(&self.recalled).extend(decisions);
    }

    /// A saved decision for this problem; the number of threads is no part of it.
    fn recalled(&self, problem: &Problem) -> Option<Decision> {
        lock(&self.recalled).get(&for_any_threads(problem)).cloned()
    }

    /// A plan that is not kept, on the device that `open_device` finds.
    #[cfg(feature = "cuda")]
    pub(super) fn plan_by(
        &self,
        problem: &Problem,
        open_device: &dyn Fn(&Problem) -> Result<OpenDevice, FftError>,
    ) -> Result<Plan<T>, FftError> {
        let _environment = DefaultEnvironment::enter();
        self.build(problem, problem.threads.unwrap_or(1), open_device)
    }

    /// A plan for a device that is given, whatever the problem names.
    #[cfg(all(test, feature = "cuda"))]
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
        let order = Order::new::<T>(problem, threads);
        let native_error = native_error::<T>(problem);
        let mut weighed = None;
        let (engine, mut why) = match (&recalled, weighed_for(problem)) {
            (Some(decision), _) => (decision.engine(), "recalled from wisdom".into()),
            (None, Some(target)) => {
                let (engine, why, table) = self.weigh(&order, target, native_error);
                weighed = Some(table);
                (engine, why)
            }
            (None, None) => choose_engine(problem, native_error),
        };
        if let (None, Some(target)) = (&recalled, weighed_on_gpu_for(problem))
            && let (Some(gpu), _) = open_device(problem)?
        {
            let (taken, table) = self.weigh_on_gpu(&order, target, &gpu);
            weighed = Some(table);
            if let Some((engine, why, built)) = taken {
                return Ok(self.assemble(&order, engine, Some(gpu.1), (built, why), weighed));
            }
            why = format!("auto: no mode that tensor cores run is proven to keep {target:.2e}");
        }
        let (gpu, device_note) = match (engine, problem.device) {
            (Engine::Native, Device::Cuda(_)) => {
                return Err(FftError::Unsupported(format!(
                    "the {engine} engine runs on the processor alone; take the engine digits, or the device cpu"
                )));
            }
            (Engine::Digits, _) | (_, Device::Cuda(_)) => open_device(problem)?,
            // Other engines take a GPU where one is asked for by number.
            _ => (None, String::new()),
        };
        if gpu.is_none() && problem.integers_only {
            why.push_str(
                "; integers only is a choice of GPU kernels, and changes nothing on the processor",
            );
        }
        let recipe = recalled.and_then(|decision| decision.recipe);
        let ordinal = gpu.as_ref().map(|gpu| gpu.1);
        let built = engines::build(engine, &self.request(&order, gpu, recipe.as_ref()))?;
        if !built.why.is_empty() {
            why = format!("{why}; {}", built.why);
        }
        why.push_str(&device_note);
        Ok(self.assemble(&order, engine, ordinal, (built, why), weighed))
    }

    /// The request to an engine.
    pub(super) fn request<'a>(
        &'a self,
        order: &'a Order<'_>,
        gpu: Option<Gpu>,
        recalled: Option<&'a Recipe>,
    ) -> Request<'a> {
        Request {
            problem: order.problem,
            schedule: &order.schedule,
            threads: order.threads,
            gpu,
            recalled,
            shared: &self.shared,
        }
    }

    /// The plan of what an engine has built.
    pub(super) fn assemble(
        &self,
        order: &Order<'_>,
        engine: Engine,
        ordinal: Option<usize>,
        (built, why): (Built<T>, String),
        choice: Option<Choice>,
    ) -> Plan<T> {
        Plan {
            problem: order.problem.clone(),
            engine,
            recipe: built.recipe,
            substrate: built.substrate,
            why,
            choice,
            budget: built.budget,
            threads: order.threads,
            schedule: Arc::clone(&order.schedule),
            runner: built.runner,
            device: ordinal.map_or(Device::Cpu, Device::Cuda),
            lengths: Lengths::new(order.problem),
            float_lines: built.float_lines,
            residues: built.residues,
            fallback: built.fallback,
            proven: built.proven,
        }
    }

    /// A plan of [`Engine::Residues`] that runs one of `ozfft_kernels::RESIDUE_VARIANTS`, or of those in fp8, to measure it: some leave out a
    /// stage, and their results are void.
    #[doc(hidden)]
    #[cfg(feature = "cuda")]
    pub fn plan_residue_variant(
        &self,
        problem: &Problem,
        kernel: &str,
    ) -> Result<Plan<T>, FftError> {
        let known = cuda::residue_variants();
        let Some(&kernel) = known.iter().find(|&&name| name == kernel) else {
            return Err(FftError::Unsupported(format!(
                "{kernel} is no kernel to measure; there are {}",
                known.join(", ")
            )));
        };
        let measured = Measured {
            kernel: Some(kernel),
            ..Measured::default()
        };
        let why = format!("{kernel} is to be measured");
        self.plan_measured(problem, &measured, why, open_device)
    }

    /// A plan of [`Engine::Residues`] whose blocks have so many lines and threads, to measure what the numbers cost.
    #[doc(hidden)]
    #[cfg(feature = "cuda")]
    pub fn plan_residue_tile(
        &self,
        problem: &Problem,
        lines: u64,
        threads: u32,
    ) -> Result<Plan<T>, FftError> {
        let measured = Measured {
            block: Some((lines, threads)),
            ..Measured::default()
        };
        let why = format!("blocks of {lines} lines and {threads} threads are to be measured");
        self.plan_measured(problem, &measured, why, open_device)
    }

    /// A plan of [`Engine::Residues`] with redundant moduli whose kernels flip a bit of one residue in one of `one_in` sums, to see that all such faults
    /// are found and put right.
    #[doc(hidden)]
    #[cfg(feature = "cuda")]
    pub fn plan_residue_faults(
        &self,
        problem: &Problem,
        seed: u32,
        one_in: u32,
    ) -> Result<Plan<T>, FftError> {
        let measured = Measured {
            faults: cuda::Faults { seed, one_in },
            ..Measured::default()
        };
        let why = format!("a fault is made in one of {one_in} sums");
        self.plan_measured(problem, &measured, why, open_device)
    }

    /// The same on a device that is given.
    #[cfg(all(test, feature = "cuda"))]
    pub(crate) fn plan_residue_faults_on(
        &self,
        problem: &Problem,
        faults: cuda::Faults,
        machine: &Arc<dyn cuda::Machine>,
    ) -> Result<Plan<T>, FftError> {
        let measured = Measured {
            faults,
            ..Measured::default()
        };
        let problem = problem.clone().device(Device::Cuda(0));
        self.plan_measured(&problem, &measured, String::new(), |_| {
            Ok((Some((Arc::clone(machine), 0)), String::new()))
        })
    }

    /// [`Planner::plan_residue_variant`] on a device that is given.
    #[cfg(all(test, feature = "cuda"))]
    pub(crate) fn plan_residue_variant_on(
        &self,
        problem: &Problem,
        kernel: &'static str,
        machine: &Arc<dyn cuda::Machine>,
    ) -> Result<Plan<T>, FftError> {
        let measured = Measured {
            kernel: Some(kernel),
            ..Measured::default()
        };
        let problem = problem.clone().device(Device::Cuda(0));
        self.plan_measured(&problem, &measured, String::new(), |_| {
            Ok((Some((Arc::clone(machine), 0)), String::new()))
        })
    }

    /// The same on a device that is given.
    #[cfg(all(test, feature = "cuda"))]
    pub(crate) fn plan_residue_tile_on(
        &self,
        problem: &Problem,
        block: (u64, u32),
        machine: &Arc<dyn cuda::Machine>,
    ) -> Result<Plan<T>, FftError> {
        let measured = Measured {
            block: Some(block),
            ..Measured::default()
        };
        let problem = problem.clone().device(Device::Cuda(0));
        self.plan_measured(&problem, &measured, String::new(), |_| {
            Ok((Some((Arc::clone(machine), 0)), String::new()))
        })
    }

    /// A plan on a GPU in a mode without a matrix unit, by the algorithms of any table: what a measurement of these needs. Its bound is that
    /// of the table of plans.
    #[doc(hidden)]
    #[cfg(feature = "cuda")]
    pub fn plan_by_table(
        &self,
        problem: &Problem,
        mode: floats::Mode,
        table: floats::Table,
    ) -> Result<Plan<T>, FftError> {
        let _environment = DefaultEnvironment::enter();
        let engine = Engine::Floats(mode);
        let problem = problem.clone().engine(engine);
        problem.validate()?;
        let (Some(gpu), _) = open_device(&problem)? else {
            return Err(FftError::Unsupported(
                "there is nothing to measure on the processor; take a device cuda".into(),
            ));
        };
        let ordinal = gpu.1;
        let order = Order::new::<T>(&problem, problem.threads.unwrap_or(1));
        let request = self.request(&order, Some(gpu), None);
        let built = crate::engines::floats::on_gpu(&request, mode, table)?;
        let why = built.why.clone();
        Ok(self.assemble(&order, engine, Some(ordinal), (built, why), None))
    }

    #[cfg(feature = "cuda")]
    fn plan_measured(
        &self,
        problem: &Problem,
        measured: &Measured,
        why: String,
        open_device: impl Fn(&Problem) -> Result<OpenDevice, FftError>,
    ) -> Result<Plan<T>, FftError> {
        let _environment = DefaultEnvironment::enter();
        let problem = problem.clone().engine(Engine::Residues);
        let problem = problem.products(Products::Exact);
        problem.validate()?;
        let (Some(gpu), _) = open_device(&problem)? else {
            return Err(FftError::Unsupported(
                "there is nothing to measure on the processor; take a device cuda".into(),
            ));
        };
        let ordinal = gpu.1;
        let order = Order::new::<T>(&problem, problem.threads.unwrap_or(1));
        let built = residues::on_gpu(&self.request(&order, Some(gpu), None), measured)?;
        let why = format!("{why}; {}", built.why);
        Ok(self.assemble(&order, Engine::Residues, Some(ordinal), (built, why), None))
    }

    /// A plan that multiplies as `engine` says.
    #[cfg(all(test, feature = "residues"))]
    pub(crate) fn plan_residues(
        &self,
        problem: &Problem,
        engine: crate::stages::residue_products::ResidueEngine,
    ) -> Result<Plan<T>, FftError> {
        let order = Order::new::<T>(problem, 1);
        let built =
            crate::engines::residues::on_processor(&self.request(&order, None, None), engine)?;
        let why = built.why.clone();
        Ok(self.assemble(&order, Engine::Residues, None, (built, why), None))
    }
}

/// A GPU, or none; and what is to be said about that.
pub(super) type OpenDevice = (Option<Gpu>, String);

/// The GPU that a problem is for.
pub(super) fn open_device(problem: &Problem) -> Result<OpenDevice, FftError> {
    let for_gpu = matches!(
        problem.substrate,
        Substrate::Auto
            | Substrate::Gpu(GpuUnit::Int8MmaSync)
            | Substrate::Gpu(GpuUnit::Int8Wgmma)
            | Substrate::Gpu(GpuUnit::Fp8Wgmma)
            | Substrate::Gpu(GpuUnit::Fp8MmaSync)
            | Substrate::Gpu(GpuUnit::F16MmaSync)
    ) || matches!(problem.device, Device::Cuda(_))
        && problem.engine == Engine::Residues
        && cuda::is_residues_in_fp8(problem);
    match problem.device {
        Device::Cpu => Ok((None, String::new())),
        Device::Cuda(_) if !for_gpu => Err(FftError::Unsupported(format!(
            "the substrate {} is a processor's; take auto or int8-mma-sync for a GPU, or the device cpu",
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
