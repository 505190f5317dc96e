//! A [`Plan`]: recipe and tables, ready to run many times, from many threads at once.

pub(crate) mod axis;
pub(crate) mod choice;
pub(crate) mod constants;
pub(crate) mod decision;
#[cfg(feature = "cuda")]
pub(crate) mod device_axis;
pub(crate) mod estimate;
pub(crate) mod line_parts;
pub(crate) mod measured_units;
pub(crate) mod plan_cache;
pub(crate) mod planner;
pub(crate) mod prediction;
mod recall;
pub(crate) mod reporting;
#[cfg(feature = "cuda")]
pub(crate) mod tune;
pub(crate) mod weigh;
#[cfg(feature = "serde")]
pub(crate) mod wisdom;

use crate::engines::{FloatLine, Runner};
use crate::error::{Buffer, FftError};
use crate::executor::cpu::Executor;
use crate::executor::cuda::{CudaExecutor, Done, HostArrays};
use crate::executor::lines::{InputArray, OutputArray};
use crate::executor::schedule::Schedule;
use crate::kind::Kind;
use crate::layout::Layout;
use crate::problem::{Device, DevicePointer, Engine, Problem};
use crate::progress::{Progress, Stage};
use crate::recipe::Recipe;
use crate::sample::Real;
use crate::stages::residue_products::Counters;
#[cfg(feature = "residues")]
use crate::stages::residue_products::ResidueReport;
use crate::transform::budget::{ErrorBudget, bound_text};
use crate::workspace::SharedArray;
use fallible_memory::{catch, try_zeroed};
use float_environment::DefaultEnvironment;
use num_complex::Complex;
use std::fmt;
use std::sync::Arc;

use choice::Choice;

/// A planned transform of `f64` or `f32` data.
///
/// `process…` allocates its workspace; the `…_with_workspace` variants allocate nothing and take workspace in any
/// state, [`Plan::workspace_len`] 64-bit words of it. (The engine `ntt` and modes in floating point have memory besides, which the first
/// call allocates and the plan keeps, as often as calls run at the same time.) [`Plan::reporting`] reports progress.
///
/// Results do not depend on the caller's floating-point environment (direction of rounding, flushing of subnormal numbers,
/// exceptions that stop the program): planning and all calls put the default one in force, on every thread that computes, and
/// the caller's back in the end (x86-64 and 64-bit ARM).
///
/// On a GPU, `process…` copies host arrays in, transforms, and copies the result out: the output is not touched until
/// the transform is complete. Arrays of more than 32 MiB go in pieces through two buffers of page-locked memory, which the
/// plan keeps from its first such call on (64 MiB); where there is none to be had they are copied without, more slowly.
///
/// ```
/// use num_complex::Complex;
/// use ozfft::{Engine, Planner, Problem};
/// let plan = Planner::<f64>::new().plan(&Problem::complex(&[8]).engine(Engine::Digits))?;
/// let mut data = vec![Complex::new(1.0, 0.0); 8];
/// plan.process(&mut data)?;
/// assert_eq!(data[0], Complex::new(8.0, 0.0));
/// assert!(plan.bound() < 1e-14);
/// # Ok::<(), ozfft::FftError>(())
/// ```
pub struct Plan<T: Real> {
    pub(crate) problem: Problem,
    pub(crate) engine: Engine,
    pub(crate) recipe: Option<Recipe>,
    pub(crate) substrate: &'static str,
    pub(crate) why: String,
    /// The candidates it was chosen from.
    pub(crate) choice: Option<Choice>,
    pub(crate) budget: ErrorBudget,
    pub(crate) threads: usize,
    pub(crate) schedule: Arc<Schedule>,
    pub(crate) runner: Runner<T>,
    pub(crate) device: Device,
    pub(crate) lengths: Lengths,
    /// The lines of the floats engine on the CPU.
    pub(crate) float_lines: Vec<FloatLine>,
    /// Statistics of the residues engine.
    pub(crate) residues: Option<Arc<Counters>>,
    /// Takes over where a line needs more bits than words have.
    pub(crate) fallback: Option<Executor<T>>,
    pub(crate) proven: bool,
}

/// The arrays of a call, of which the lengths have been checked.
pub(crate) type CallArrays<'a, T> = (InputArray<'a, T>, OutputArray<'a, T>);

/// Buffer requirements that calls are checked against, computed once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lengths {
    input: usize,
    output: usize,
    /// A layout was given: the buffer is memory in which the array lies, and may be longer.
    input_has_layout: bool,
    output_has_layout: bool,
    /// Input and output lie alike, so that the transform can be done in place.
    alike: bool,
    /// Rows of reals lie just where the rows of their half-spectrum do.
    padded: bool,
}

impl Lengths {
    pub(crate) fn new(problem: &Problem) -> Self {
        let (input, output) = (problem.resolved_input(), problem.resolved_output());
        let (real, half) = match problem.kind() {
            Kind::ComplexToReal => (&output, &input),
            _ => (&input, &output),
        };
        let halved_last = problem.axes.last() == Some(&(problem.shape().len() - 1));
        Lengths {
            input: problem.input_len(),
            output: problem.output_len(),
            input_has_layout: problem.input.is_some(),
            output_has_layout: problem.output.is_some(),
            alike: input == output,
            padded: halved_last
                && *real == Layout::padded_real(problem.shape())
                && *half == Layout::contiguous(&problem.half_shape()),
        }
    }
}

impl<T: Real> Plan<T> {
    /// About how many bytes its tables have; tables that it shares with other plans count in full.
    pub fn table_bytes(&self) -> usize {
        let fallback = self.fallback.as_ref().map_or(0, Executor::table_bytes);
        let tables = match &self.runner {
            Runner::Processor(executor) => executor.table_bytes(),
            Runner::Gpu(cuda) => cuda.table_bytes(),
        };
        tables + fallback
    }

    fn cuda(&self) -> Option<&CudaExecutor> {
        match &self.runner {
            Runner::Processor(_) => None,
            Runner::Gpu(cuda) => Some(cuda),
        }
    }

    /// What is worth knowing of the kernels of a plan for a GPU.
    #[cfg(feature = "cuda")]
    fn kernel_remarks(&self) -> &[String] {
        self.cuda().map_or(&[], CudaExecutor::remarks)
    }

    /// The planned problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The engine that runs: never [`Engine::Auto`].
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// The recipe, which determines the bits; none for the native engine, whose bits depend on the machine.
    pub fn recipe(&self) -> Option<&Recipe> {
        self.recipe.as_ref()
    }

    /// The matrix unit that runs, by name.
    pub fn substrate(&self) -> &'static str {
        self.substrate
    }

    /// The device that runs: never [`Device::Auto`].
    pub fn device(&self) -> Device {
        self.device
    }

    /// Whether kernels without any floating-point instruction were asked for and run: never on the CPU.
    pub fn integers_only(&self) -> bool {
        self.problem.integers_only && self.cuda().is_some()
    }

    /// Why this engine and recipe were chosen.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Everything that was weighed, where the engine was left to the planner and an error was asked for.
    pub fn choice(&self) -> Option<&Choice> {
        self.choice.as_ref()
    }

    /// The whole plan in words: engine, unit, steps or paths, bound, workspace, predicted time, the reason, and what it was
    /// chosen from. The same as it displays.
    pub fn describe(&self) -> String {
        self.to_string()
    }

    /// Relative L2 error that no finite input exceeds, of each transform of a batch by itself and of the array as it is
    /// stored, as long as no number of the output overflows or is subnormal.
    ///
    /// It is relative to the norm of the result; from a half-spectrum of two or more axes, to the norm of what was given,
    /// which is the same unless no real array has such a half-spectrum ([`Plan::bound_relative_to`]). `docs/numerics.md`,
    /// section 9, says exactly what is promised.
    ///
    /// Where [`Plan::bound_is_proven`] says so; else it is what is to be expected. For the native engine it is the measured
    /// error of random input.
    pub fn bound(&self) -> f64 {
        self.budget.bound
    }

    /// Describes the norm that [`Plan::bound`] is relative to.
    pub fn bound_relative_to(&self) -> &'static str {
        relative_to(&self.problem)
    }

    /// Whether it is proven that every input keeps the error that was asked for: the bound is proven, and not above it.
    ///
    /// Near the precision of the data no recipe can prove it; then digits are expected to stay below a third of it, and this
    /// is false. Always so for the native engine. For [`crate::Accuracy::Single`] and [`crate::Accuracy::Double`], which name
    /// no error, it is [`Plan::bound_is_proven`].
    pub fn accuracy_is_proven(&self) -> bool {
        let target = self.problem.accuracy.target();
        self.proven && target.is_none_or(|target| self.budget.bound <= target)
    }

    /// Whether results have the same bits on every processor and GPU (`docs/numerics.md`, section 9). Those of the native engine depend on
    /// the processor, and those of modes that round sums on a matrix unit, such as `bf16`, on that unit's order of additions.
    pub fn has_portable_bits(&self) -> bool {
        self.problem.has_portable_bits(self.engine)
    }

    /// Says that there was a decision in wisdom, and why it is not this plan's.
    pub(crate) fn pass_over_wisdom(&mut self, reason: impl fmt::Display) {
        let note = format!("; wisdom for this problem is passed over: {reason}");
        self.why.push_str(&note);
    }

    /// Whether there is a proof of the bound itself ([`Plan::accuracy_is_proven`] for the error that was asked for): always for the engines digits, ntt and floats, never for the native one.
    ///
    /// For [`Engine::Residues`] there is none where calls may be left to the native engine, nor on GPUs for methods of putting
    /// integers together whose sums are rounded in another order there than on the CPU.
    pub fn bound_is_proven(&self) -> bool {
        self.proven
    }

    /// Relative L2 error to expect of random input.
    pub fn expected(&self) -> f64 {
        self.budget.expected
    }

    /// Statistics of [`Engine::Residues`] over all calls of this plan; none for other engines. On GPUs there are some for redundant moduli, which
    /// say nothing of columns, and for adaptive ones.
    #[cfg(feature = "residues")]
    pub fn residue_report(&self) -> Option<ResidueReport> {
        self.residues.as_ref().map(|counters| counters.report())
    }

    /// 64-bit words of workspace that the `…_with_workspace` calls need.
    ///
    /// A plan for a GPU needs none of these, but [`Plan::device_workspace_len`] bytes on the device.
    pub fn workspace_len(&self) -> usize {
        match &self.runner {
            Runner::Gpu(_) => 0,
            Runner::Processor(executor) => {
                let fallback = self.fallback.as_ref().map_or(0, Executor::workspace_len);
                executor.workspace_len().max(fallback)
            }
        }
    }

    /// The kernels that a plan for a GPU launches, with the threads of a block and the bytes of its shared memory; none for plans for
    /// the processor. Those that only take what others leave are not among them.
    pub fn device_launches(&self) -> Vec<(&'static str, u32, usize)> {
        let launches = self.cuda().map(CudaExecutor::launches);
        launches.unwrap_or_default()
    }

    /// The same kernels with the blocks of their grids, by which a profiler's launches are told apart.
    pub fn device_grids(&self) -> Vec<(&'static str, u64)> {
        let grids = self.cuda().map(CudaExecutor::grids);
        grids.unwrap_or_default()
    }

    /// Bytes of device memory that [`Plan::process_device`] needs as workspace; 0 for plans for the processor. Calls with
    /// host arrays allocate it themselves.
    pub fn device_workspace_len(&self) -> usize {
        self.cuda().map_or(0, CudaExecutor::workspace_bytes)
    }

    /// Transforms arrays in the GPU's memory, of the lengths and layouts of the problem; equal pointers transform in
    /// place where the layouts allow it. Returns as soon as the work is in the stream.
    ///
    /// The workspace may be in any state, and has [`Plan::device_workspace_len`] bytes at a multiple of 256.
    ///
    /// The input is not looked at, because that would have to wait for it. A plan that is `strict` is rejected with
    /// [`FftError::StrictOnDevice`]. A half-spectrum that no real array has is transformed as [`FftError::NotHermitian`]
    /// says, with those imaginary parts taken as 0 and the same bits as from host arrays, but is **not** reported: who
    /// cannot be sure of a half-spectrum passes host arrays.
    ///
    /// Arrays that do not begin at a multiple of 16 bytes are transformed by
    /// portable kernels alone, which is slower where the plan names `int8-wgmma`. Failures of the device while the work runs
    /// are reported by the stream.
    ///
    /// Launches of short transforms are recorded as a CUDA graph at the second call with the same addresses and replayed from then on,
    /// which takes the processor less time: who transforms often keeps arrays and workspace. A stream that the caller records is
    /// launched into, so that a call can be part of a caller's graph.
    ///
    /// # Safety
    /// `stream` is 0 or a CUDA stream of the plan's device (in its primary context), and until the stream has come so
    /// far nothing else uses the arrays and the workspace, and the plan is alive.
    pub unsafe fn process_device(
        &self,
        input: DevicePointer,
        output: DevicePointer,
        workspace: DevicePointer,
        stream: u64,
    ) -> Result<(), FftError> {
        let _environment = DefaultEnvironment::enter();
        let Some(cuda) = self.cuda() else {
            return Err(FftError::Unsupported(
                "this plan runs on the processor and has no use for device pointers; plan for a device cuda".into(),
            ));
        };
        if self.problem.strict {
            return Err(FftError::StrictOnDevice);
        }
        let in_place = input == output;
        if in_place && !(self.lengths.alike || self.lengths.padded) {
            return Err(FftError::InPlaceLayout);
        }
        // SAFETY: the caller's promise.
        unsafe { cuda.run_addresses((input.0, output.0, workspace.0), stream) }
    }

    /// Transforms in place.
    pub fn process(&self, buffer: &mut [Complex<T>]) -> Result<(), FftError> {
        self.run_allocating(self.in_place(buffer)?, &mut |_| {})
    }

    /// Transforms in place, without allocating.
    pub fn process_with_workspace(
        &self,
        buffer: &mut [Complex<T>],
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        self.run(self.in_place(buffer)?, workspace, &mut |_| {})
    }

    /// Transforms from one array to another; the input is left as it is.
    pub fn process_outofplace(
        &self,
        input: &[Complex<T>],
        output: &mut [Complex<T>],
    ) -> Result<(), FftError> {
        self.run_allocating(self.out_of_place(input, output)?, &mut |_| {})
    }

    /// Transforms from one array to another, without allocating; the input is left as it is.
    pub fn process_outofplace_with_workspace(
        &self,
        input: &[Complex<T>],
        output: &mut [Complex<T>],
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        self.run(self.out_of_place(input, output)?, workspace, &mut |_| {})
    }

    /// Transforms real data to its half-spectrum.
    pub fn process_real_to_complex(
        &self,
        input: &[T],
        output: &mut [Complex<T>],
    ) -> Result<(), FftError> {
        self.run_allocating(self.real_to_complex(input, output)?, &mut |_| {})
    }

    /// Transforms real data to its half-spectrum, without allocating.
    pub fn process_real_to_complex_with_workspace(
        &self,
        input: &[T],
        output: &mut [Complex<T>],
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        self.run(self.real_to_complex(input, output)?, workspace, &mut |_| {})
    }

    /// Transforms a half-spectrum to real data; the input is left as it is.
    ///
    /// Along one axis, imaginary parts at the first and middle frequency are taken as 0 and reported as
    /// [`FftError::NotHermitian`] after the output has been computed.
    pub fn process_complex_to_real(
        &self,
        input: &[Complex<T>],
        output: &mut [T],
    ) -> Result<(), FftError> {
        self.run_allocating(self.complex_to_real(input, output)?, &mut |_| {})
    }

    /// Transforms a half-spectrum to real data, without allocating.
    pub fn process_complex_to_real_with_workspace(
        &self,
        input: &[Complex<T>],
        output: &mut [T],
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        self.run(self.complex_to_real(input, output)?, workspace, &mut |_| {})
    }

    /// Transforms real data to its half-spectrum in the same memory: rows of `n` reals, padded to `n/2+1` complex
    /// numbers ([`Layout::padded_real`] as the input layout), become rows of the half-spectrum.
    pub fn process_real_in_place(&self, buffer: &mut [Complex<T>]) -> Result<(), FftError> {
        self.run_allocating(self.real_in_place(buffer)?, &mut |_| {})
    }

    /// Transforms real data to its half-spectrum in the same memory, without allocating.
    pub fn process_real_in_place_with_workspace(
        &self,
        buffer: &mut [Complex<T>],
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        self.run(self.real_in_place(buffer)?, workspace, &mut |_| {})
    }

    /// Transforms a half-spectrum to real data in the same memory: the inverse of [`Plan::process_real_in_place`],
    /// with [`Layout::padded_real`] as the output layout.
    pub fn process_complex_to_real_in_place(
        &self,
        buffer: &mut [Complex<T>],
    ) -> Result<(), FftError> {
        self.run_allocating(self.complex_to_real_in_place(buffer)?, &mut |_| {})
    }

    /// Transforms a half-spectrum to real data in the same memory, without allocating.
    pub fn process_complex_to_real_in_place_with_workspace(
        &self,
        buffer: &mut [Complex<T>],
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        self.run(
            self.complex_to_real_in_place(buffer)?,
            workspace,
            &mut |_| {},
        )
    }

    /// The arrays of [`Plan::process`], checked; so for all other calls below.
    pub(crate) fn in_place<'a>(
        &self,
        buffer: &'a mut [Complex<T>],
    ) -> Result<CallArrays<'a, T>, FftError> {
        self.expect_kind(Kind::ComplexToComplex)?;
        if !self.lengths.alike {
            return Err(FftError::InPlaceLayout);
        }
        self.expect_len(Buffer::Output, self.lengths.output, buffer.len())?;
        let shared = SharedArray::new(buffer);
        Ok((
            InputArray::Complex(shared.reader()),
            OutputArray::Complex(shared),
        ))
    }

    pub(crate) fn out_of_place<'a>(
        &self,
        input: &'a [Complex<T>],
        output: &'a mut [Complex<T>],
    ) -> Result<CallArrays<'a, T>, FftError> {
        self.expect_kind(Kind::ComplexToComplex)?;
        self.expect_len(Buffer::Input, self.lengths.input, input.len())?;
        self.expect_len(Buffer::Output, self.lengths.output, output.len())?;
        Ok((
            InputArray::Complex(SharedArray::read_only(input)),
            OutputArray::Complex(SharedArray::new(output)),
        ))
    }

    pub(crate) fn real_to_complex<'a>(
        &self,
        input: &'a [T],
        output: &'a mut [Complex<T>],
    ) -> Result<CallArrays<'a, T>, FftError> {
        self.expect_kind(Kind::RealToComplex)?;
        self.expect_len(Buffer::Input, self.lengths.input, input.len())?;
        self.expect_len(Buffer::Output, self.lengths.output, output.len())?;
        Ok((
            InputArray::Real(SharedArray::read_only(input)),
            OutputArray::Complex(SharedArray::new(output)),
        ))
    }

    pub(crate) fn complex_to_real<'a>(
        &self,
        input: &'a [Complex<T>],
        output: &'a mut [T],
    ) -> Result<CallArrays<'a, T>, FftError> {
        self.expect_kind(Kind::ComplexToReal)?;
        self.expect_len(Buffer::Input, self.lengths.input, input.len())?;
        self.expect_len(Buffer::Output, self.lengths.output, output.len())?;
        Ok((
            InputArray::Complex(SharedArray::read_only(input)),
            OutputArray::Real(SharedArray::new(output)),
        ))
    }

    pub(crate) fn real_in_place<'a>(
        &self,
        buffer: &'a mut [Complex<T>],
    ) -> Result<CallArrays<'a, T>, FftError> {
        self.expect_kind(Kind::RealToComplex)?;
        self.expect_padded()?;
        self.expect_len(Buffer::Output, self.lengths.output, buffer.len())?;
        let shared = SharedArray::new(buffer);
        // Each row is read completely before its half-spectrum is written over it, and rows do not overlap.
        Ok((
            InputArray::Real(shared.as_reals().reader()),
            OutputArray::Complex(shared),
        ))
    }

    pub(crate) fn complex_to_real_in_place<'a>(
        &self,
        buffer: &'a mut [Complex<T>],
    ) -> Result<CallArrays<'a, T>, FftError> {
        self.expect_kind(Kind::ComplexToReal)?;
        self.expect_padded()?;
        self.expect_len(Buffer::Output, self.lengths.input, buffer.len())?;
        let shared = SharedArray::new(buffer);
        // As above; transforms of several axes work in the workspace before the rows are written.
        Ok((
            InputArray::Complex(shared.reader()),
            OutputArray::Real(shared.as_reals()),
        ))
    }

    fn expect_padded(&self) -> Result<(), FftError> {
        if self.lengths.padded {
            Ok(())
        } else {
            Err(FftError::InPlaceLayout)
        }
    }

    /// Runs with workspace of its own.
    pub(crate) fn run_allocating(
        &self,
        arrays: CallArrays<'_, T>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), FftError> {
        self.run(arrays, &mut try_zeroed(self.workspace_len())?, progress)
    }

    fn run(
        &self,
        (input, output): CallArrays<'_, T>,
        workspace: &mut [u64],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), FftError> {
        let _environment = DefaultEnvironment::enter();
        self.expect_len(Buffer::Workspace, self.workspace_len(), workspace.len())?;
        if self.problem.strict
            && let Some((index, value)) = self.schedule.find_not_finite(input)
        {
            return Err(FftError::NotFinite { index, value });
        }
        let not_hermitian = self.schedule.count_not_hermitian(input);
        match &self.runner {
            Runner::Gpu(cuda) => self.run_on_device(cuda, input, output, progress)?,
            Runner::Processor(executor) => {
                let (_, element) = self.problem.element_sizes::<T>();
                let total = self.lengths.output * element;
                let stage = Stage::Transform;
                progress(Progress {
                    stage,
                    done: 0,
                    total,
                });
                let mut run = || self.run_on_processor(executor, input, output, workspace);
                match self.engine {
                    // They allocate nothing here.
                    Engine::Digits | Engine::Residues | Engine::Native => run(),
                    _ => catch(run)?,
                }?;
                progress(Progress {
                    stage,
                    done: total,
                    total,
                });
            }
        }
        if not_hermitian > 0 {
            return Err(FftError::NotHermitian {
                count: not_hermitian,
            });
        }
        Ok(())
    }

    fn run_on_processor(
        &self,
        executor: &Executor<T>,
        input: InputArray<'_, T>,
        output: OutputArray<'_, T>,
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        match &self.residues {
            None => {
                executor.run(input, output, workspace);
                Ok(())
            }
            #[cfg(not(feature = "residues"))]
            Some(counters) => match **counters {},
            #[cfg(feature = "residues")]
            Some(counters) => self.run_counted(counters, executor, (input, output), workspace),
        }
    }

    #[cfg(feature = "residues")]
    fn run_counted(
        &self,
        counters: &Counters,
        executor: &Executor<T>,
        (input, output): CallArrays<'_, T>,
        workspace: &mut [u64],
    ) -> Result<(), FftError> {
        if let Some(native) = &self.fallback
            && executor.needs_finer_units(input)
        {
            counters.count_fallback();
            native.run(input, output, workspace);
            return Ok(());
        }
        // Calls at the same time share the count: then both are warned.
        let before = counters.uncorrectable();
        executor.run(input, output, workspace);
        let outputs = counters.uncorrectable() - before;
        if outputs > 0 {
            return Err(FftError::BadResidues {
                outputs,
                redundancy: self.problem.residues.redundancy,
            });
        }
        Ok(())
    }

    /// Copies in, runs and copies out.
    fn run_on_device(
        &self,
        cuda: &CudaExecutor,
        input: InputArray<'_, T>,
        output: OutputArray<'_, T>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), FftError> {
        let (from, from_len) = match input {
            InputArray::Complex(array) => array.raw(),
            InputArray::Real(array) => array.raw(),
        };
        let to = match output {
            OutputArray::Complex(array) => array.raw(),
            OutputArray::Real(array) => array.raw(),
        };
        let separate = from != to.0.cast_const();
        let arrays = HostArrays {
            // SAFETY: the whole array, which nobody writes while it is borrowed for this call.
            input: separate.then(|| unsafe { std::slice::from_raw_parts(from, from_len) }),
            output: to,
        };
        // SAFETY: the whole array, borrowed for this call; lengths have been checked.
        let done = unsafe { cuda.run_host(&arrays, self.threads, progress)? };
        if let (Done::Left, Some(native)) = (done, &self.fallback) {
            #[cfg(feature = "residues")]
            if let Some(counters) = &self.residues {
                counters.count_fallback();
            }
            let mut workspace = vec![0; native.workspace_len()];
            native.run(input, output, &mut workspace);
        }
        Ok(())
    }

    fn expect_kind(&self, called: Kind) -> Result<(), FftError> {
        let planned = self.problem.kind();
        if planned == called {
            Ok(())
        } else {
            Err(FftError::WrongKind { planned, called })
        }
    }

    /// Contiguous buffers have just the plan's length: what lies behind would be left as it is, without a word.
    fn expect_len(&self, buffer: Buffer, expected: usize, given: usize) -> Result<(), FftError> {
        let may_be_longer = match buffer {
            Buffer::Input => self.lengths.input_has_layout,
            Buffer::Output => self.lengths.output_has_layout,
            Buffer::Workspace => true,
        };
        if given == expected || given > expected && may_be_longer {
            Ok(())
        } else {
            Err(FftError::BufferLength {
                buffer,
                expected,
                given,
            })
        }
    }
}

impl<T: Real> fmt::Display for Plan<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = &self.problem;
        writeln!(
            f,
            "{} {:?}, axes {:?}, batch {}, {:?}, norm {:?}, device {}, {} threads",
            problem.kind(),
            problem.shape(),
            problem.axes,
            problem.batch,
            problem.direction,
            problem.norm,
            self.device,
            self.threads
        )?;
        match &self.recipe {
            Some(recipe) => {
                let integers = match self.integers_only() {
                    true => ", integers only",
                    false => "",
                };
                let engine = match self.engine {
                    Engine::Residues => "residues",
                    _ => "digits",
                };
                writeln!(
                    f,
                    "engine {engine} on {}{integers}, {recipe}",
                    self.substrate
                )?;
            }
            None => match self.engine {
                #[cfg(feature = "floats")]
                Engine::Floats(mode) => {
                    writeln!(f, "engine floats on {}, mode {mode}", self.substrate)?;
                    match self.cuda().and_then(CudaExecutor::describe_floats) {
                        Some(described) => writeln!(f, "  {described}")?,
                        None => {
                            for line in &self.float_lines {
                                writeln!(f, "  {}", line.plan().how())?;
                            }
                        }
                    }
                }
                Engine::Ntt => writeln!(f, "engine ntt on {}", self.substrate)?,
                _ => writeln!(f, "engine native (RustFFT, RealFFT)")?,
            },
        }
        if !self.has_portable_bits() {
            writeln!(
                f,
                "bits differ between machines; request `reproducible` for the same bits everywhere"
            )?;
        }
        let proof = match (self.proven, &self.recipe) {
            (true, _) if self.accuracy_is_proven() => "proven".into(),
            (true, _) => format!(
                "above the {:.2e} asked for, which is not proven",
                self.problem.accuracy.target().unwrap_or(f64::NAN)
            ),
            (false, Some(_)) => "not proven".into(),
            (false, None) => "measured, not proven".into(),
        };
        writeln!(f, "bound {} ({proof})", bound_text(self.bound(), 2))?;
        if let Some(note) = note_on_bound(&self.problem) {
            writeln!(f, "  {note}")?;
        }
        writeln!(f, "expected {:.2e}", self.expected())?;
        match self.cuda() {
            Some(cuda) => writeln!(
                f,
                "workspace {} bytes on {}",
                cuda.workspace_bytes(),
                cuda.device_name()
            )?,
            None => writeln!(f, "workspace {} bytes", 8 * self.workspace_len())?,
        }
        if let Some(prediction) = self.prediction() {
            writeln!(
                f,
                "predicted {:.3e} s, by what {} took on {}",
                prediction.seconds, prediction.unit.unit, prediction.unit.machine
            )?;
        }
        write!(f, "why: {}", self.why)?;
        match &self.choice {
            Some(choice) => write!(f, "\nchosen {choice}"),
            None => Ok(()),
        }
    }
}

/// The norm that bounds of a problem are relative to.
fn relative_to(problem: &Problem) -> &'static str {
    match note_on_bound(problem) {
        Some(_) => "the norm of the half-spectrum as given",
        None => "the norm of the result",
    }
}

/// Caveat for a bound that is not relative to the result: a half-spectrum's first column, which must be Hermitian
/// along the other axes, may be anything, and what is no part of the result has errors as well.
pub(crate) fn note_on_bound(problem: &Problem) -> Option<&'static str> {
    let several = problem.axes.len() > 1;
    (problem.kind == Kind::ComplexToReal && several).then_some(
        "relative to the half-spectrum as given: the result's norm, unless no real array has that half-spectrum",
    )
}

impl<T: Real> fmt::Debug for Plan<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
