//! A planned distributed transform.

mod clock;
#[cfg(test)]
mod device_tests;
mod line;
mod lines;
mod local;
mod on_device;
mod run;
mod shared;
mod transfer;

use crate::agreement::{self, AbortOnPanic};
use crate::caller::expect_one_group;
use crate::device::Gpu;
use crate::division::Division;
use crate::error::DistributedError;
use crate::index_box::IndexBox;
use crate::problem::{DistributedProblem, Wish};
pub use clock::CallTimes;
use clock::Clock;
use line::LongLine;
use local::{Lengths, Local};
use mpi::Count;
use mpi::topology::{Color, SimpleCommunicator};
use mpi::traits::*;
use num_complex::Complex;
use on_device::{DeviceArrays, Messages};
use ozfft::{Buffer, DevicePointer, FftError, Kind, Plan, Planner, Real};
use run::{Stage, Step, words_of};
use shared::SharedPieces;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A distributed transform of `f64` or `f32` data, ready to run many times.
///
/// Planning and every call are collective: all ranks of the communicator take part, in the same order. Parts of arrays are C-ordered,
/// without gaps, [`DistributedPlan::input_box`] and [`DistributedPlan::output_box`]; in a batch one after the other.
///
/// The bits are those of the plan of [`DistributedProblem::whole`] in one process, on any number of ranks and any grid.
pub struct DistributedPlan<T: Real> {
    /// Where pieces are exchanged in memory that ranks share; dropped before the communicators, whose barriers it waits for.
    shared: Option<SharedPieces>,
    communicators: Communicators,
    whole: Arc<Plan<T>>,
    batch: usize,
    strict: bool,
    grid: Vec<usize>,
    input: IndexBox,
    output: IndexBox,
    divisions: (Division, Division),
    /// The array has one dimension, and is planned as rows.
    one_line: bool,
    stages: Vec<Stage<T>>,
    /// In the place of stages, where one line is divided.
    line: Option<Box<LongLine<T>>>,
    /// All transforms that have a power of two between their axes.
    transforms: usize,
    exchanges: Vec<ExchangeSummary>,
    lengths: Lengths,
    /// Where lines are transformed on a GPU.
    device: Option<on_device::Device<T>>,
    sent: AtomicU64,
    clock: Clock,
    /// Two threads must not call collective functions of one communicator at a time, whatever threads MPI was initialised for.
    one_thread: PhantomData<*const ()>,
}

/// One exchange of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeSummary {
    /// How the array is divided before, in words.
    pub from: String,
    /// How it is divided after, in words.
    pub to: String,
    /// Ranks that exchange with each other, this one among them.
    pub group: usize,
    /// Pieces that it is made in: while one is on its way, the next one is transformed and packed.
    pub pieces: usize,
    /// Bytes of a real number as it is sent, of which a complex one has two: fewer than it has in memory where the next axis reads few digits of it. Words have an
    /// exponent for each part of a line besides, which the bytes below have in them.
    pub bytes_of_a_real: usize,
    /// Bytes that this rank sends to others in one call.
    pub bytes_sent: u64,
    /// Bytes that all ranks send.
    pub bytes_of_all: u64,
}

/// The plan's own communicators: no message of others is taken for one of its own. MPI may have been finalised when they are dropped; then they
/// are gone already.
struct Communicators {
    all: ManuallyDrop<SimpleCommunicator>,
    groups: Vec<ManuallyDrop<SimpleCommunicator>>,
}

impl Drop for Communicators {
    fn drop(&mut self) {
        if mpi::environment::is_finalized() {
            return;
        }
        // SAFETY: nothing uses them afterwards.
        unsafe {
            self.groups
                .iter_mut()
                .for_each(|group| ManuallyDrop::drop(group));
            ManuallyDrop::drop(&mut self.all);
        }
    }
}

/// What a rank has made of a problem, where lines are transformed, and where pieces are.
type Made<T> = (Local<T>, Option<on_device::Device<T>>, Option<SharedPieces>);

/// Takes part in planning with a problem that this rank cannot even express, for a reason of its own: the error is one of every
/// rank, as with [`DistributedPlan::refuse`].
pub fn refuse_to_plan<C: Communicator>(communicator: &C, error: FftError) -> DistributedError {
    if let Err(refused) = expect_one_group(communicator.as_raw()) {
        return refused;
    }
    let all = communicator.duplicate();
    match agreement::all_equal(&all, &format!("no problem: {error}")) {
        // The reason is known here, and others learn it as this rank's problem.
        Ok(()) | Err(_) => error.into(),
    }
}

impl<T: Real> DistributedPlan<T> {
    /// Plans on the ranks of a communicator, all of which call this with the same problem, but for boxes, threads and substrates.
    ///
    /// The plan has communicators of its own, so the caller's stays free for other messages. It stays on the thread that made it.
    pub fn new<C: Communicator>(
        problem: &DistributedProblem,
        communicator: &C,
    ) -> Result<Self, DistributedError> {
        Self::with_planner(problem, communicator, &Planner::new())
    }

    /// The same with tables that other plans share.
    pub fn with_planner<C: Communicator>(
        problem: &DistributedProblem,
        communicator: &C,
        planner: &Planner<T>,
    ) -> Result<Self, DistributedError> {
        let open = || match problem.device {
            ozfft::Device::Cuda(ordinal) => {
                let messages = Messages::new(problem.staged);
                Ok(Some((on_device::open(ordinal)?, messages)))
            }
            _ => Ok(None),
        };
        Self::on(problem, communicator, planner, open)
    }

    /// The same on a GPU that is given, if any, once ranks have found that they ask for the same.
    fn on<C: Communicator>(
        problem: &DistributedProblem,
        communicator: &C,
        planner: &Planner<T>,
        open: impl FnOnce() -> Result<Option<(Box<dyn Gpu<T>>, Messages)>, FftError>,
    ) -> Result<Self, DistributedError> {
        expect_one_group(communicator.as_raw())?;
        let mut communicators = Communicators {
            all: ManuallyDrop::new(communicator.duplicate()),
            groups: Vec::new(),
        };
        let made = {
            let all = &communicators.all;
            let _guard = AbortOnPanic(all);
            agreement::all_equal(all, &problem.agreement(std::any::type_name::<T>()))?;
            Self::local(problem, all, planner, open)?
        };
        let (made, device, shared) = made;
        let Local {
            whole,
            grid,
            input,
            output,
            divisions,
            stages,
            line,
            transforms,
            exchanges,
            lengths,
            colors,
        } = made;
        let all = &communicators.all;
        let mut bytes: Vec<u64> = exchanges.iter().map(|summary| summary.bytes_sent).collect();
        if !bytes.is_empty() {
            agreement::sums(all, &mut bytes);
        }
        let mut exchanges = exchanges;
        for (summary, bytes) in exchanges.iter_mut().zip(bytes) {
            summary.bytes_of_all = bytes;
        }
        for (_, color) in colors {
            let group = all.split_by_color(Color::with_value(color as Count));
            let group = group.unwrap_or_else(|| unreachable!("a color is given"));
            communicators.groups.push(ManuallyDrop::new(group));
        }
        Ok(DistributedPlan {
            communicators,
            whole,
            batch: problem.batch,
            strict: problem.strict,
            grid,
            input,
            output,
            divisions,
            one_line: problem.is_one_line(),
            stages,
            line,
            transforms,
            exchanges,
            lengths,
            shared,
            device,
            sent: AtomicU64::new(0),
            clock: Clock::default(),
            one_thread: PhantomData,
        })
    }

    /// What this rank makes of the problem; an error on every rank where it fails on one.
    fn local(
        problem: &DistributedProblem,
        all: &SimpleCommunicator,
        planner: &Planner<T>,
        open: impl FnOnce() -> Result<Option<(Box<dyn Gpu<T>>, Messages)>, FftError>,
    ) -> Result<Made<T>, DistributedError> {
        let (rank, ranks) = (agreement::rank(all), agreement::size(all));
        let boxes = |wish: &Wish| match wish {
            Wish::Box(part) => Some(agreement::all_boxes(all, part)),
            Wish::Natural | Wish::Permuted => None,
        };
        let (input, output) = (boxes(&problem.input), boxes(&problem.output));
        let new = |gpu: Option<&dyn Gpu<T>>, shared| {
            let boxes = (input.clone(), output.clone());
            Local::new(problem, (rank, ranks), boxes, planner, (gpu, shared))
        };
        if problem.wants_shared_memory(ranks) && shared::on_one_node(all) {
            let local = agreement::all_succeed(all, new(None, true))?;
            let mut longest = [local.lengths.shared as u64];
            agreement::maxima(all, &mut longest);
            // No piece where nothing is exchanged.
            if longest == [0] {
                return Ok((local, None, None));
            }
            if let Some(shared) = SharedPieces::new(all, local.lengths.shared) {
                return Ok((local, None, Some(shared)));
            }
        }
        let make = || {
            let gpu = open()?;
            let local = new(gpu.as_ref().map(|(gpu, _)| &**gpu), false)?;
            let device = gpu
                .map(|(gpu, messages)| on_device::Device::new(gpu, messages, &local.lengths))
                .transpose()?;
            Ok((local, device, None))
        };
        agreement::all_succeed(all, make())
    }

    /// The part of the input that this rank holds.
    pub fn input_box(&self) -> &IndexBox {
        &self.input
    }

    /// The part of the output that this rank gets.
    pub fn output_box(&self) -> &IndexBox {
        &self.output
    }

    /// The part of the input that any rank holds.
    pub fn input_box_of(&self, rank: usize) -> IndexBox {
        self.seen(self.divisions.0.box_of(rank))
    }

    /// The part of the output that any rank gets.
    pub fn output_box_of(&self, rank: usize) -> IndexBox {
        self.seen(self.divisions.1.box_of(rank))
    }

    /// A box of the planner's array as one of the problem's.
    fn seen(&self, part: IndexBox) -> IndexBox {
        match self.one_line {
            true => part.without_first(),
            false => part,
        }
    }

    /// Elements of this rank's input, of all arrays of the batch.
    pub fn input_len(&self) -> usize {
        self.batch * self.input.len()
    }

    /// Elements of this rank's output.
    pub fn output_len(&self) -> usize {
        self.batch * self.output.len()
    }

    /// The plan for one process that this one has the bits of: recipe, bound, and the reasons for them.
    pub fn whole(&self) -> &Plan<T> {
        &self.whole
    }

    /// Relative L2 error that no finite input exceeds: that of one process ([`Plan::bound`]).
    pub fn bound(&self) -> f64 {
        self.whole.bound()
    }

    /// Relative L2 error to expect of random input.
    pub fn expected(&self) -> f64 {
        self.whole.expected()
    }

    /// The matrix units that run this rank's lines, by name: those of the processor, or of its GPU, several where axes have different ones.
    pub fn substrate(&self) -> String {
        if self.device.is_none() {
            return self.whole.substrate().into();
        }
        let mut names: Vec<&str> = Vec::new();
        let pieces = self.stages.iter().flat_map(|stage| &stage.pieces);
        for step in pieces.flat_map(|piece| &piece.steps) {
            if let Step::Axis { plan, .. } = step
                && !names.contains(&plan.on_gpu().substrate())
            {
                names.push(plan.on_gpu().substrate());
            }
        }
        match names.is_empty() {
            true => "none: this rank has no lines".into(),
            false => names.join(", "),
        }
    }

    /// The process grid, without ones.
    pub fn grid(&self) -> &[usize] {
        &self.grid
    }

    /// Whether this is one line whose passes are divided among ranks. Lines of one pass, up to 1024 points, are gathered on one rank, and so are long ones on GPUs; those of a batch are
    /// dealt out.
    pub fn line_is_divided(&self) -> bool {
        self.line.is_some()
    }

    /// The exchanges of one call, in order.
    pub fn exchanges(&self) -> &[ExchangeSummary] {
        &self.exchanges
    }

    /// Bytes that this rank sends to others in one call, as planned. Besides, every call has one or two reductions of a number
    /// for every array of the batch.
    pub fn bytes_per_call(&self) -> u64 {
        self.exchanges
            .iter()
            .map(|summary| summary.bytes_sent)
            .sum()
    }

    /// Bytes that this rank has sent to others so far, counted where they are handed to MPI.
    pub fn bytes_sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Where the time of all calls so far went on this rank.
    pub fn times(&self) -> CallTimes {
        self.clock.times()
    }

    /// 64-bit words of workspace that the `…_with_workspace` calls need: an array of this rank's largest part (sometimes two: where the output has no room for
    /// what lies between exchanges), up to six pieces of one, and what the transforms along one axis need. Pieces in shared memory ([`DistributedPlan::shared_bytes`]) are the plan's own.
    ///
    /// A plan for a GPU needs none of these: it has its own workspace there, [`DistributedPlan::device_workspace_bytes`].
    pub fn workspace_len(&self) -> usize {
        match self.device {
            None => self.lengths.all(),
            Some(_) => 0,
        }
    }

    /// Bytes of this rank's memory that others read pieces in, where ranks of one node share memory; 0 where they send messages.
    pub fn shared_bytes(&self) -> usize {
        self.shared.as_ref().map_or(0, SharedPieces::bytes)
    }

    /// Bytes of the GPU's memory that the plan keeps as workspace; 0 on the processor.
    pub fn device_workspace_bytes(&self) -> usize {
        match self.device {
            None => 0,
            Some(_) => 8 * self.lengths.all(),
        }
    }

    /// Whether messages go from GPU to GPU by pointers that MPI takes; none on the processor. MPI is asked when a plan is made.
    pub fn sends_from_device(&self) -> Option<bool> {
        let device = self.device.as_ref();
        device.map(|device| device.messages == Messages::FromDevice)
    }

    /// Transforms this rank's part in the memory of its GPU, complex or real numbers as the problem has them; collective. Equal pointers transform complex numbers in
    /// place. Returns when the result is there.
    ///
    /// A plan that is `strict` is rejected: numbers are not looked at.
    ///
    /// # Safety
    /// Work on the arrays in other streams has been waited for, and nothing else uses them until this returns. (That they are the GPU's memory, and long enough, is
    /// checked.)
    pub unsafe fn process_device(
        &self,
        input: DevicePointer,
        output: DevicePointer,
    ) -> Result<(), DistributedError> {
        let Some(device) = &self.device else {
            return Err(self.refuse(FftError::Unsupported(
                "this plan runs on processors and has no use for device pointers; plan for a device cuda".into(),
            )));
        };
        let arrays = DeviceArrays {
            input: input.0,
            output: output.0,
        };
        let valid = on_device::check_arrays(self, device, arrays);
        self.run_on_device(device, valid, arrays, &mut || Ok(()))
    }

    /// Transforms this rank's part to its part of the output; collective.
    pub fn process_outofplace(
        &self,
        input: &[Complex<T>],
        output: &mut [Complex<T>],
    ) -> Result<(), DistributedError> {
        self.process_outofplace_with_workspace(input, output, &mut self.workspace())
    }

    /// The same without allocating arrays.
    pub fn process_outofplace_with_workspace(
        &self,
        input: &[Complex<T>],
        output: &mut [Complex<T>],
        workspace: &mut [u64],
    ) -> Result<(), DistributedError> {
        let valid = self
            .expect_kind(Kind::ComplexToComplex)
            .and_then(|()| self.expect_finite(input));
        let output = bytemuck::cast_slice_mut(output);
        self.run(valid, Some(bytemuck::cast_slice(input)), output, workspace)
    }

    /// Transforms in place, where this rank's parts of input and output have the same number of elements; collective.
    pub fn process(&self, buffer: &mut [Complex<T>]) -> Result<(), DistributedError> {
        self.process_with_workspace(buffer, &mut self.workspace())
    }

    /// The same without allocating arrays.
    pub fn process_with_workspace(
        &self,
        buffer: &mut [Complex<T>],
        workspace: &mut [u64],
    ) -> Result<(), DistributedError> {
        let valid = self
            .expect_kind(Kind::ComplexToComplex)
            .and_then(|()| self.expect_finite(buffer));
        self.run(valid, None, bytemuck::cast_slice_mut(buffer), workspace)
    }

    /// Transforms this rank's part of a real array to its part of the half-spectrum; collective.
    pub fn process_real_to_complex(
        &self,
        input: &[T],
        output: &mut [Complex<T>],
    ) -> Result<(), DistributedError> {
        self.process_real_to_complex_with_workspace(input, output, &mut self.workspace())
    }

    /// The same without allocating arrays.
    pub fn process_real_to_complex_with_workspace(
        &self,
        input: &[T],
        output: &mut [Complex<T>],
        workspace: &mut [u64],
    ) -> Result<(), DistributedError> {
        let valid = self
            .expect_kind(Kind::RealToComplex)
            .and_then(|()| self.expect_finite(input));
        let output = bytemuck::cast_slice_mut(output);
        self.run(valid, Some(bytemuck::cast_slice(input)), output, workspace)
    }

    /// Transforms this rank's part of a half-spectrum to its part of the real array; collective.
    pub fn process_complex_to_real(
        &self,
        input: &[Complex<T>],
        output: &mut [T],
    ) -> Result<(), DistributedError> {
        self.process_complex_to_real_with_workspace(input, output, &mut self.workspace())
    }

    /// The same without allocating arrays.
    pub fn process_complex_to_real_with_workspace(
        &self,
        input: &[Complex<T>],
        output: &mut [T],
        workspace: &mut [u64],
    ) -> Result<(), DistributedError> {
        let valid = self
            .expect_kind(Kind::ComplexToReal)
            .and_then(|()| self.expect_finite(input));
        let output = bytemuck::cast_slice_mut(output);
        self.run(valid, Some(bytemuck::cast_slice(input)), output, workspace)
    }

    /// Takes part in a call that this rank cannot make, for a reason of its own: the error is one of every rank. For interfaces of other
    /// languages, whose callers may be wrong in ways that those of Rust cannot.
    pub fn refuse(&self, error: FftError) -> DistributedError {
        match self.run(Err(error), None, &mut [], &mut []) {
            Err(error) => error,
            Ok(()) => unreachable!("a call with an error fails"),
        }
    }

    fn workspace(&self) -> Vec<u64> {
        vec![0; self.workspace_len()]
    }

    fn expect_kind(&self, called: Kind) -> Result<(), FftError> {
        match self.whole.problem().kind() {
            planned if planned == called => Ok(()),
            planned => Err(FftError::WrongKind { planned, called }),
        }
    }

    fn expect_finite<N: bytemuck::Pod>(&self, input: &[N]) -> Result<(), FftError> {
        if !self.strict {
            return Ok(());
        }
        let reals: &[T] = bytemuck::cast_slice(input);
        let a_number = size_of::<N>() / size_of::<T>();
        match reals.iter().position(|number| !number.widen().is_finite()) {
            None => Ok(()),
            Some(place) => Err(FftError::NotFinite {
                index: place / a_number,
                value: format!("{}", reals[place].widen()),
            }),
        }
    }

    fn expect_lengths(
        &self,
        input: Option<usize>,
        output: usize,
        workspace: usize,
    ) -> Result<(), FftError> {
        let kind = self.whole.problem().kind();
        let input_words = words_of::<T>(kind != Kind::RealToComplex);
        let output_words = words_of::<T>(kind != Kind::ComplexToReal);
        let expect = |buffer, expected, given| match expected == given {
            true => Ok(()),
            false => Err(FftError::BufferLength {
                buffer,
                expected,
                given,
            }),
        };
        expect(Buffer::Output, self.output_len(), output / output_words)?;
        // In place the only array is both.
        let given = input.unwrap_or(output) / input_words;
        expect(Buffer::Input, self.input_len(), given)?;
        match workspace < self.workspace_len() {
            true => expect(Buffer::Workspace, self.workspace_len(), workspace),
            false => Ok(()),
        }
    }
}

impl<T: Real> fmt::Display for DistributedPlan<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranks = agreement::size(&self.communicators.all);
        writeln!(
            f,
            "{ranks} ranks, grid {:?}, input {}, output {} on this one",
            self.grid, self.input, self.output
        )?;
        for exchange in &self.exchanges {
            writeln!(
                f,
                "exchange in groups of {}, {} pieces of {} bytes a real number: {} to {}, {} bytes of this rank, {} of all",
                exchange.group,
                exchange.pieces,
                exchange.bytes_of_a_real,
                exchange.from,
                exchange.to,
                exchange.bytes_sent,
                exchange.bytes_of_all
            )?;
        }
        if let Some(device) = &self.device {
            writeln!(
                f,
                "on {}, unit {}; {}",
                device.gpu.name(),
                self.substrate(),
                device.messages
            )?;
        }
        if let Some(shared) = &self.shared {
            writeln!(
                f,
                "pieces are read in memory that ranks of one node share, {} bytes of this rank",
                shared.bytes()
            )?;
        }
        let workspace = 8 * self.lengths.all();
        writeln!(f, "workspace {workspace} bytes on this rank")?;
        write!(f, "the same bits as in one process: {}", self.whole)
    }
}

impl<T: Real> fmt::Debug for DistributedPlan<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
