//! A planned distributed transform.

use crate::agreement::{self, AbortOnPanic};
use crate::division::Division;
use crate::error::DistributedError;
use crate::exchange::Exchange;
use crate::index_box::IndexBox;
use crate::problem::{DistributedProblem, Wish};
use crate::route::Step;
use mpi::Count;
use mpi::datatype::{MutView, Partition, PartitionMut, UserDatatype, View};
use mpi::topology::{Color, SimpleCommunicator};
use mpi::traits::*;
use num_complex::Complex;
use ozfft::{AxisPlan, Buffer, FftError, Kind, Plan, Planner, Real};
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
    communicators: Communicators,
    whole: Arc<Plan<T>>,
    batch: usize,
    strict: bool,
    grid: Vec<usize>,
    input: IndexBox,
    output: IndexBox,
    divisions: (Division, Division),
    steps: Vec<Running<T>>,
    exchanges: Vec<ExchangeSummary>,
    /// 64-bit words of workspace: of the axes, and of both work arrays.
    lengths: [usize; 3],
    sent: AtomicU64,
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

/// Where an array lies during a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Input,
    Output,
    Work(usize),
}

/// A step of a call.
enum Running<T: Real> {
    Axis {
        /// None where this rank has nothing to do.
        plan: Option<Box<AxisPlan<T>>>,
        from: (Place, usize),
        to: (Place, usize),
        first: bool,
    },
    Exchange {
        exchange: Exchange,
        /// Of the communicators; none for all ranks.
        group: Option<usize>,
        from: Place,
        /// Packed here, received there.
        packed: Place,
        received: Place,
        to: Place,
        /// What stays on this rank is copied to its place before anything is received.
        own_apart: bool,
    },
}

/// The arrays of a call, in words of 32 bits: the smallest number that is sent.
struct Arrays<'a> {
    /// None where the output holds it.
    input: Option<&'a [u32]>,
    output: &'a mut [u32],
    work: [&'a mut [u32]; 2],
}

impl Arrays<'_> {
    /// An array to read and another one to write.
    fn pair(&mut self, from: Place, to: Place) -> (&[u32], &mut [u32]) {
        let [first, second] = &mut self.work;
        match (from, to) {
            (Place::Work(0), Place::Work(1)) => (&**first, &mut **second),
            (Place::Work(1), Place::Work(0)) => (&**second, &mut **first),
            (Place::Work(0), Place::Output) => (&**first, &mut *self.output),
            (Place::Work(1), Place::Output) => (&**second, &mut *self.output),
            (Place::Output, Place::Work(0)) => (&*self.output, &mut **first),
            (Place::Output, Place::Work(1)) => (&*self.output, &mut **second),
            (Place::Input, Place::Work(0)) => (self.input.unwrap_or(self.output), &mut **first),
            (Place::Input, Place::Work(1)) => (self.input.unwrap_or(self.output), &mut **second),
            (Place::Input, Place::Output) => match self.input {
                Some(input) => (input, &mut *self.output),
                None => unreachable!("one array is transformed in place"),
            },
            _ => unreachable!("no step goes from {from:?} to {to:?}"),
        }
    }

    fn read(&self, place: Place) -> &[u32] {
        match (place, self.input) {
            (Place::Input, Some(input)) => input,
            (Place::Work(number), _) => self.work[number],
            _ => self.output,
        }
    }

    fn write(&mut self, place: Place) -> &mut [u32] {
        match place {
            Place::Work(number) => self.work[number],
            _ => self.output,
        }
    }
}

/// The first words of an array, as numbers.
fn view<N: bytemuck::Pod>(words: &[u32], len: usize) -> &[N] {
    bytemuck::cast_slice(&words[..len * size_of::<N>() / 4])
}

fn view_mut<N: bytemuck::Pod>(words: &mut [u32], len: usize) -> &mut [N] {
    bytemuck::cast_slice_mut(&mut words[..len * size_of::<N>() / 4])
}

/// 32-bit words of an element.
fn words_of<T>(complex: bool) -> usize {
    size_of::<T>() / 4 * if complex { 2 } else { 1 }
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
        let mut communicators = Communicators {
            all: ManuallyDrop::new(communicator.duplicate()),
            groups: Vec::new(),
        };
        let made = {
            let all = &communicators.all;
            let _guard = AbortOnPanic(all);
            agreement::all_equal(all, &problem.agreement(std::any::type_name::<T>()))?;
            Self::local(problem, all, planner)?
        };
        let Local {
            whole,
            grid,
            input,
            output,
            divisions,
            steps,
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
            steps,
            exchanges,
            lengths,
            sent: AtomicU64::new(0),
            one_thread: PhantomData,
        })
    }

    /// What this rank makes of the problem; an error on every rank where it fails on one.
    fn local(
        problem: &DistributedProblem,
        all: &SimpleCommunicator,
        planner: &Planner<T>,
    ) -> Result<Local<T>, DistributedError> {
        let (rank, ranks) = (agreement::rank(all), agreement::size(all));
        let boxes = |wish: &Wish| match wish {
            Wish::Box(part) => Some(agreement::all_boxes(all, part)),
            Wish::Natural | Wish::Permuted => None,
        };
        let (input, output) = (boxes(&problem.input), boxes(&problem.output));
        let local = Local::new(problem, (rank, ranks), (input, output), planner);
        agreement::all_succeed(all, local)
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
        self.divisions.0.box_of(rank)
    }

    /// The part of the output that any rank gets.
    pub fn output_box_of(&self, rank: usize) -> IndexBox {
        self.divisions.1.box_of(rank)
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

    /// The process grid, without ones.
    pub fn grid(&self) -> &[usize] {
        &self.grid
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

    /// 64-bit words of workspace that the `…_with_workspace` calls need: up to two arrays of this rank's largest part, and what the
    /// transforms along one axis need.
    pub fn workspace_len(&self) -> usize {
        self.lengths.iter().sum()
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

    /// Runs all steps, or returns an error on every rank before anything is written.
    fn run(
        &self,
        valid: Result<(), FftError>,
        input: Option<&[u32]>,
        output: &mut [u32],
        workspace: &mut [u64],
    ) -> Result<(), DistributedError> {
        let all = &self.communicators.all;
        let _guard = AbortOnPanic(all);
        let valid = valid.and_then(|()| {
            self.expect_lengths(input.map(<[u32]>::len), output.len(), workspace.len())
        });
        // Numbers of the maximum: the mark of a failure, and the exponents of this rank's input where the first axis is whole.
        let mut numbers = vec![i32::MIN; 1 + self.batch];
        numbers[0] = agreement::mark(all, valid.is_err());
        let first_is_whole = match self.steps.first() {
            Some(Running::Axis { plan, from, .. }) => {
                if let (Ok(()), Some(plan)) = (&valid, plan) {
                    let array = input.unwrap_or(output);
                    find_exponents(plan, array, from.1, &mut numbers[1..]);
                }
                true
            }
            _ => false,
        };
        agreement::maxima(all, &mut numbers);
        if let Some(failed) = agreement::marked(all, numbers[0]) {
            let own = valid.map_err(DistributedError::from);
            return Err(agreement::spread(all, failed, own));
        }
        let [scratch, first, _] = self.lengths;
        let (scratch, work) = workspace[..self.workspace_len()].split_at_mut(scratch);
        let (first, second) = work.split_at_mut(first);
        let mut arrays = Arrays {
            input,
            output,
            work: [
                bytemuck::cast_slice_mut(first),
                bytemuck::cast_slice_mut(second),
            ],
        };
        let mut powers = numbers.split_off(1);
        for step in &self.steps {
            match step {
                Running::Axis {
                    plan,
                    from,
                    to,
                    first,
                } => {
                    if *first {
                        if !first_is_whole {
                            if let Some(plan) = plan {
                                find_exponents(plan, arrays.read(from.0), from.1, &mut powers);
                            }
                            agreement::maxima(all, &mut powers);
                        }
                        for power in &mut powers {
                            *power = self.whole.power_between_axes(*power);
                        }
                    }
                    if let Some(plan) = plan {
                        run_axis(plan, &mut arrays, (*from, *to), &powers, scratch)?;
                    }
                }
                Running::Exchange {
                    exchange,
                    group,
                    from,
                    packed,
                    received,
                    to,
                    own_apart,
                } => {
                    let groups = &self.communicators.groups;
                    let group = group.map_or(all, |group| &groups[group]);
                    let left_out = own_apart.then_some(exchange.own_place);
                    let places = [*from, *packed, *received, *to];
                    self.exchange(group, (exchange, left_out), &mut arrays, places);
                }
            }
        }
        Ok(())
    }

    fn exchange(
        &self,
        group: &SimpleCommunicator,
        (exchange, left_out): (&Exchange, Option<usize>),
        arrays: &mut Arrays<'_>,
        [from, packed, received, to]: [Place; 4],
    ) {
        let words = exchange.words;
        if left_out.is_some() {
            let (array, place) = arrays.pair(from, to);
            exchange.copy_own(array, place);
        }
        let (array, send) = arrays.pair(from, packed);
        exchange.send.pack(left_out, words, array, send);
        let (send, receive) = arrays.pair(packed, received);
        let counts = exchange.send.counts(left_out);
        let receive_counts = exchange.receive.counts(left_out);
        all_to_all(group, (&counts, send), (&receive_counts, receive), words);
        let elements = counts.iter().sum::<usize>() - counts[exchange.own_place];
        let sent = (elements * words * 4) as u64;
        self.sent.fetch_add(sent, Ordering::Relaxed);
        let (receive, array) = arrays.pair(received, to);
        exchange.receive.unpack(left_out, words, receive, array);
    }
}

/// The exponents of this rank's numbers.
fn find_exponents<T: Real>(plan: &AxisPlan<T>, array: &[u32], len: usize, exponents: &mut [i32]) {
    let found = match plan.kind() {
        Kind::RealToComplex => plan.largest_exponents_of_reals(view(array, len), exponents),
        _ => plan.largest_exponents(view(array, len), exponents),
    };
    found.unwrap_or_else(|error| unreachable!("lengths are the plan's: {error}"));
}

/// Counts, places and number of all elements for MPI.
fn partition(counts: &[usize]) -> (Vec<Count>, Vec<Count>, Count) {
    let counts: Vec<Count> = counts.iter().map(|&count| count as Count).collect();
    let mut all = 0;
    let places = counts.iter().map(|&count| {
        all += count;
        all - count
    });
    let places = places.collect();
    (counts, places, all)
}

/// `MPI_Alltoallv` of elements of so many words.
fn all_to_all(
    group: &SimpleCommunicator,
    (send_counts, send): (&[usize], &[u32]),
    (receive_counts, receive): (&[usize], &mut [u32]),
    words: usize,
) {
    let element = UserDatatype::contiguous(words as Count, &u32::equivalent_datatype());
    let (send_counts, send_places, send_all) = partition(send_counts);
    let (receive_counts, receive_places, receive_all) = partition(receive_counts);
    let send = &send[..send_all as usize * words];
    let receive = &mut receive[..receive_all as usize * words];
    // SAFETY: both have so many elements of so many words each, and planning has found that MPI can count them.
    let (send, mut receive) = unsafe {
        (
            View::with_count_and_datatype(send, send_all, &element),
            MutView::with_count_and_datatype(receive, receive_all, &element),
        )
    };
    let send = Partition::new(&send, &send_counts[..], &send_places[..]);
    let mut receive = PartitionMut::new(&mut receive, &receive_counts[..], &receive_places[..]);
    group.all_to_all_varcount_into(&send, &mut receive);
}

/// Runs the lines along one axis.
fn run_axis<T: Real>(
    plan: &AxisPlan<T>,
    arrays: &mut Arrays<'_>,
    ((from, from_len), (to, to_len)): ((Place, usize), (Place, usize)),
    powers: &[i32],
    scratch: &mut [u64],
) -> Result<(), FftError> {
    let in_place =
        from == to || (from == Place::Input && to == Place::Output && arrays.input.is_none());
    match plan.kind() {
        Kind::ComplexToComplex if in_place => {
            plan.process(view_mut(arrays.write(to), to_len), powers, scratch)
        }
        Kind::ComplexToComplex => {
            let (from, to) = arrays.pair(from, to);
            plan.process_outofplace(view(from, from_len), view_mut(to, to_len), powers, scratch)
        }
        Kind::RealToComplex => {
            let (from, to) = arrays.pair(from, to);
            plan.process_real_to_complex(
                view(from, from_len),
                view_mut(to, to_len),
                powers,
                scratch,
            )
        }
        Kind::ComplexToReal => {
            let (from, to) = arrays.pair(from, to);
            plan.process_complex_to_real(
                view(from, from_len),
                view_mut(to, to_len),
                powers,
                scratch,
            )
        }
    }
}

/// What a rank plans by itself.
struct Local<T: Real> {
    whole: Arc<Plan<T>>,
    grid: Vec<usize>,
    input: IndexBox,
    output: IndexBox,
    divisions: (Division, Division),
    steps: Vec<Running<T>>,
    exchanges: Vec<ExchangeSummary>,
    lengths: [usize; 3],
    /// Coordinates of the grid that some exchange moves, and this rank's group in it.
    colors: Vec<(usize, usize)>,
}

impl<T: Real> Local<T> {
    fn new(
        problem: &DistributedProblem,
        (rank, ranks): (usize, usize),
        (input, output): (Option<Vec<IndexBox>>, Option<Vec<IndexBox>>),
        planner: &Planner<T>,
    ) -> Result<Self, DistributedError> {
        problem.validate(ranks)?;
        let whole = planner.plan(&problem.whole())?;
        let route = problem.route(&whole.axis_order(), ranks, input, output)?;
        let batch = problem.batch;
        let mut local = Local {
            grid: route.grid.clone(),
            input: route.input.box_of(rank),
            output: route.output.box_of(rank),
            divisions: (route.input.clone(), route.output.clone()),
            steps: Vec::new(),
            exchanges: Vec::new(),
            lengths: [0; 3],
            colors: Vec::new(),
            whole,
        };
        let mut at = Place::Input;
        for (number, step) in route.steps.iter().enumerate() {
            let rest = &route.steps[number + 1..];
            let to_output = |complex_now: bool| {
                // What is left are complex axes, done in place there.
                rest.iter().all(|step| matches!(step, Step::Axis { .. }))
                    && (rest.is_empty()
                        || complex_now && problem.whole.kind() != Kind::ComplexToReal)
            };
            match step {
                Step::Axis {
                    number,
                    axis,
                    before,
                    after,
                } => {
                    let (before, after) = (before.box_of(rank), after.box_of(rank));
                    let mut shape = before.shape();
                    shape[*axis] = problem.whole.shape()[*axis];
                    let last = local.whole.axis_order().len() - 1;
                    let to_reals = problem.whole.kind() == Kind::ComplexToReal && *number == last;
                    let from_reals = problem.whole.kind() == Kind::RealToComplex && *number == 0;
                    let plan = match before.is_empty() {
                        true => None,
                        false => Some(Box::new(planner.plan_axis(
                            &local.whole,
                            *number,
                            &shape,
                        )?)),
                    };
                    let to = match (to_output(true), at) {
                        (true, _) => Place::Output,
                        // Real to complex and back have another array to write.
                        (false, Place::Work(work)) if from_reals || to_reals => {
                            Place::Work(1 - work)
                        }
                        (false, Place::Work(work)) => Place::Work(work),
                        (false, _) => Place::Work(0),
                    };
                    let from = (at, batch * before.len());
                    let to = (to, batch * after.len());
                    let scratch = plan.as_ref().map_or(0, |plan| plan.workspace_len());
                    local.lengths[0] = local.lengths[0].max(scratch);
                    local.reserve(from.0, from.1 * words_of::<T>(!from_reals));
                    local.reserve(to.0, to.1 * words_of::<T>(!to_reals));
                    local.steps.push(Running::Axis {
                        plan,
                        from,
                        to,
                        first: *number == 0,
                    });
                    at = to.0;
                }
                Step::Exchange { from, to, complex } => {
                    let words = words_of::<T>(*complex);
                    let exchange = Exchange::new(from, to, (rank, ranks), (batch, words));
                    let elements = exchange.send.len().max(exchange.receive.len());
                    if elements > Count::MAX as usize {
                        return Err(DistributedError::TooManyElements { elements });
                    }
                    // The output is free until the last exchange, and may be large enough to pack for others.
                    let output_words = batch
                        * local.output.len()
                        * words_of::<T>(problem.whole.kind() != Kind::ComplexToReal);
                    let fits_output = exchange.elements_sent() * words <= output_words;
                    let last = to_output(*complex);
                    let (packed, received, place, own_apart) = match at {
                        Place::Work(work) => {
                            let other = Place::Work(1 - work);
                            match (last, fits_output) {
                                (true, _) => (other, at, Place::Output, true),
                                (false, true) => (Place::Output, at, other, true),
                                (false, false) => (other, at, other, false),
                            }
                        }
                        _ if last => (Place::Work(0), Place::Work(1), Place::Output, false),
                        _ => (Place::Work(0), Place::Work(1), Place::Work(0), false),
                    };
                    let (send, receive) = match own_apart {
                        true => (exchange.elements_sent(), exchange.elements_received()),
                        false => (exchange.send.len(), exchange.receive.len()),
                    };
                    local.reserve(packed, send * words);
                    local.reserve(received, receive * words);
                    local.reserve(place, exchange.receive.len() * words);
                    local.exchanges.push(ExchangeSummary {
                        from: from.to_string(),
                        to: to.to_string(),
                        group: exchange.group.len(),
                        bytes_sent: exchange.bytes_sent(),
                        bytes_of_all: 0,
                    });
                    let group = match from.moved_coordinate(to) {
                        Some(moved) if exchange.group.len() < ranks => {
                            let known = local.colors.iter().position(|color| color.0 == moved);
                            Some(known.unwrap_or_else(|| {
                                local.colors.push((moved, from.group(to, rank)));
                                local.colors.len() - 1
                            }))
                        }
                        _ => None,
                    };
                    local.steps.push(Running::Exchange {
                        exchange,
                        group,
                        from: at,
                        packed,
                        received,
                        to: place,
                        own_apart,
                    });
                    at = place;
                }
            }
        }
        Ok(local)
    }

    /// Makes a work array large enough for so many 32-bit words.
    fn reserve(&mut self, place: Place, words: usize) {
        if let Place::Work(number) = place {
            let len = &mut self.lengths[1 + number];
            *len = (*len).max(words.div_ceil(2));
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
                "exchange in groups of {}: {} to {}, {} bytes of this rank, {} of all",
                exchange.group,
                exchange.from,
                exchange.to,
                exchange.bytes_sent,
                exchange.bytes_of_all
            )?;
        }
        writeln!(
            f,
            "workspace {} bytes on this rank",
            8 * self.workspace_len()
        )?;
        write!(f, "the same bits as in one process: {}", self.whole)
    }
}

impl<T: Real> fmt::Debug for DistributedPlan<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
