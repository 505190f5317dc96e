//! A call: the steps of a plan, run on the caller's arrays and two work arrays.

use super::DistributedPlan;
use crate::agreement::{self, AbortOnPanic};
use crate::error::DistributedError;
use crate::exchange::Exchange;
use mpi::Count;
use mpi::datatype::{MutView, Partition, PartitionMut, UserDatatype, View};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use ozfft::{AxisPlan, FftError, Kind, Real};
use std::sync::atomic::Ordering;

/// Where an array lies during a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Input,
    Output,
    Work(usize),
}

/// A step of a call.
pub(super) enum Running<T: Real> {
    Axis {
        /// None where this rank has nothing to do.
        plan: Option<Box<AxisPlan<T>>>,
        /// The numbers, among all, of the transforms that this rank has some of; none where transforms have one axis, and no power.
        transforms: Vec<usize>,
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
pub(super) fn view<N: bytemuck::Pod>(words: &[u32], len: usize) -> &[N] {
    bytemuck::cast_slice(&words[..len * size_of::<N>() / 4])
}

pub(super) fn view_mut<N: bytemuck::Pod>(words: &mut [u32], len: usize) -> &mut [N] {
    bytemuck::cast_slice_mut(&mut words[..len * size_of::<N>() / 4])
}

/// 32-bit words of an element.
pub(super) fn words_of<T>(complex: bool) -> usize {
    size_of::<T>() / 4 * if complex { 2 } else { 1 }
}

impl<T: Real> DistributedPlan<T> {
    /// Runs all steps, or returns an error on every rank before anything is written.
    pub(super) fn run(
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
        let mut numbers = vec![i32::MIN; 1 + self.transforms];
        numbers[0] = agreement::mark(all, valid.is_err());
        let first_is_whole = match self.steps.first() {
            Some(Running::Axis {
                plan,
                transforms,
                from,
                ..
            }) => {
                if let (Ok(()), Some(plan)) = (&valid, plan) {
                    let array = (input.unwrap_or(output), from.1);
                    find_exponents(plan, array, transforms, &mut numbers[1..]);
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
        if let Some(line) = &self.line {
            let sent = line.run(all, (input, output), [scratch, first, second])?;
            self.sent.fetch_add(sent, Ordering::Relaxed);
            return Ok(());
        }
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
                    transforms,
                    from,
                    to,
                    first,
                } => {
                    if *first && !powers.is_empty() {
                        if !first_is_whole {
                            if let Some(plan) = plan {
                                let array = (arrays.read(from.0), from.1);
                                find_exponents(plan, array, transforms, &mut powers);
                            }
                            agreement::maxima(all, &mut powers);
                        }
                        for power in &mut powers {
                            *power = self.whole.power_between_axes(*power);
                        }
                    }
                    if let Some(plan) = plan {
                        let own: Vec<i32> = match powers.is_empty() {
                            true => vec![0; plan.transforms()],
                            false => transforms.iter().map(|&number| powers[number]).collect(),
                        };
                        run_axis(plan, &mut arrays, (*from, *to), &own, scratch)?;
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

/// The exponents of this rank's numbers, for those of all transforms that it has some of.
fn find_exponents<T: Real>(
    plan: &AxisPlan<T>,
    (array, len): (&[u32], usize),
    transforms: &[usize],
    exponents: &mut [i32],
) {
    if transforms.is_empty() {
        return;
    }
    let mut own = vec![i32::MIN; transforms.len()];
    let found = match plan.kind() {
        Kind::RealToComplex => plan.largest_exponents_of_reals(view(array, len), &mut own),
        _ => plan.largest_exponents(view(array, len), &mut own),
    };
    found.unwrap_or_else(|error| unreachable!("lengths are the plan's: {error}"));
    for (&number, exponent) in transforms.iter().zip(own) {
        exponents[number] = exponents[number].max(exponent);
    }
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
pub(super) fn all_to_all(
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
