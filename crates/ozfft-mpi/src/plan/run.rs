//! A call: the stages of a plan, run on the caller's arrays and those of the workspace.

use super::DistributedPlan;
use super::clock::Doing;
use super::lines::Lines;
use super::shared::{SharedPiece, SharedPieces};
use super::transfer::{Slot, Transfer};
use crate::agreement::{self, AbortOnPanic};
use crate::error::DistributedError;
use crate::exchange::{Exchange, Reads, copy_part};
use crate::index_box::IndexBox;
use mpi::topology::SimpleCommunicator;
use ozfft::{AxisPlan, FftError, Kind, Real};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Where an array lies during a call. Of the workspace's, two are arrays and two are pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Input,
    Output,
    Work(usize),
}

/// Numbers that lie side by side: where they begin, in words of 32 bits, and how many there are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) place: Place,
    pub(super) start: usize,
    pub(super) len: usize,
}

/// A step of this rank alone.
pub(super) enum Step<T: Real> {
    Axis {
        plan: Arc<Lines<T>>,
        /// The numbers, among all, of the transforms that this part has some of; none where transforms have one axis, and no power.
        transforms: Vec<usize>,
        from: Span,
        to: Span,
    },
    /// A part of an array, to where it has no gaps.
    Gather {
        part: IndexBox,
        around: IndexBox,
        words: usize,
        from: Place,
        to: Place,
    },
    /// So many words to the output.
    Copy { from: Place, words: usize },
}

/// A piece of an array: what is done to it, and how it is sent, from which place and word.
pub(super) struct Piece<T: Real> {
    pub(super) steps: Vec<Step<T>>,
    pub(super) exchange: Option<(Exchange, Place, usize)>,
    /// Where others have it, in memory that ranks share.
    pub(super) reads: Option<Reads>,
}

/// Looks for the largest numbers of a part.
pub(super) struct Scan<T: Real> {
    pub(super) plan: Arc<Lines<T>>,
    pub(super) transforms: Vec<usize>,
    pub(super) array: Span,
}

/// Lines along some axes and the exchange after them, piece by piece.
pub(super) struct Stage<T: Real> {
    /// Where the first axis is in this stage.
    pub(super) scans: Option<Vec<Scan<T>>>,
    pub(super) pieces: Vec<Piece<T>>,
    /// Of the communicators; none for all ranks.
    pub(super) group: Option<usize>,
    /// The ranks of the group.
    pub(super) members: Vec<usize>,
    /// Where the exchange puts what arrives.
    pub(super) to: Place,
}

/// The arrays of a call, in words of 32 bits: the smallest number that is sent.
struct Arrays<'a> {
    /// None where the output holds it.
    input: Option<&'a [u32]>,
    output: &'a mut [u32],
    work: [&'a mut [u32]; 4],
}

impl Arrays<'_> {
    /// An array to read and another one to write.
    fn pair(&mut self, from: Place, to: Place) -> (&[u32], &mut [u32]) {
        match (from, to) {
            (Place::Work(from), Place::Work(to)) => match self.work.get_disjoint_mut([from, to]) {
                Ok([from, to]) => (&**from, &mut **to),
                Err(_) => unreachable!("two different arrays of the workspace"),
            },
            (Place::Work(from), _) => (&*self.work[from], &mut *self.output),
            (Place::Output, Place::Work(to)) => (&*self.output, &mut *self.work[to]),
            (Place::Input, Place::Work(to)) => {
                (self.input.unwrap_or(self.output), &mut *self.work[to])
            }
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
    /// Runs all stages, or returns an error on every rank before anything is written.
    pub(super) fn run(
        &self,
        valid: Result<(), FftError>,
        input: Option<&[u32]>,
        output: &mut [u32],
        workspace: &mut [u64],
    ) -> Result<(), DistributedError> {
        if let Some(device) = &self.device {
            return self.run_from_host(device, valid, (input, output));
        }
        let all = &self.communicators.all;
        let _guard = AbortOnPanic(all);
        let valid = valid.and_then(|()| {
            self.expect_lengths(input.map(<[u32]>::len), output.len(), workspace.len())
        });
        // Numbers of the maximum: the mark of a failure, and the exponents of this rank's input where the first axis is whole.
        let mut numbers = vec![i32::MIN; 1 + self.transforms];
        numbers[0] = agreement::mark(all, valid.is_err());
        let scans = self.stages.first().and_then(|stage| stage.scans.as_ref());
        if let (Ok(()), Some(scans)) = (&valid, scans) {
            let array = input.unwrap_or(output);
            self.find_exponents(scans, array, &mut numbers[1..]);
        }
        self.clock
            .time(Doing::Exchange, || agreement::maxima(all, &mut numbers));
        if let Some(failed) = agreement::marked(all, numbers[0]) {
            let own = valid.map_err(DistributedError::from);
            return Err(agreement::spread(all, failed, own));
        }
        let (scratch, rest) = workspace[..self.workspace_len()].split_at_mut(self.lengths.scratch);
        let [first, second, third, fourth] = self.lengths.arrays;
        let (first, rest) = rest.split_at_mut(first);
        let (second, rest) = rest.split_at_mut(second);
        let (third, rest) = rest.split_at_mut(third);
        let (fourth, rest) = rest.split_at_mut(fourth);
        let [sent, received] = self.lengths.slot;
        let mut slots = Vec::with_capacity(self.lengths.slots);
        let mut rest = rest;
        for _ in 0..self.lengths.slots {
            let (send, others) = rest.split_at_mut(sent);
            let (receive, others) = others.split_at_mut(received);
            slots.push(Slot {
                send: bytemuck::cast_slice_mut(send),
                receive: bytemuck::cast_slice_mut(receive),
            });
            rest = others;
        }
        if let Some(line) = &self.line {
            let memory = (scratch, [first, second, third, fourth]);
            let sent = line.run(all, (input, output), memory, &mut slots, &self.clock)?;
            self.sent.fetch_add(sent, Ordering::Relaxed);
            return Ok(());
        }
        let mut arrays = Arrays {
            input,
            output,
            work: [first, second, third, fourth].map(bytemuck::cast_slice_mut),
        };
        let mut powers = numbers.split_off(1);
        for (number, stage) in self.stages.iter().enumerate() {
            if let (Some(scans), false) = (&stage.scans, powers.is_empty()) {
                if number > 0 {
                    let place = scans.first().map_or(Place::Output, |scan| scan.array.place);
                    self.find_exponents(scans, arrays.read(place), &mut powers);
                    self.clock
                        .time(Doing::Exchange, || agreement::maxima(all, &mut powers));
                }
                for power in &mut powers {
                    *power = self.whole.power_between_axes(*power);
                }
            }
            match &self.shared {
                Some(shared) => self.run_shared(stage, shared, &mut arrays, &powers, scratch),
                None => self.run_stage(stage, &mut arrays, &powers, scratch, &mut slots),
            }
        }
        Ok(())
    }

    /// The communicator of a stage's exchange.
    fn group(&self, stage: &Stage<T>) -> &SimpleCommunicator {
        let groups = &self.communicators.groups;
        stage
            .group
            .map_or(&*self.communicators.all, |group| &groups[group])
    }

    /// Runs a stage whose pieces others read where they are: while one is transformed, the one before it is read.
    fn run_shared<'a>(
        &self,
        stage: &Stage<T>,
        shared: &'a SharedPieces,
        arrays: &mut Arrays<'a>,
        powers: &[i32],
        scratch: &mut [u64],
    ) {
        let group = self.group(stage);
        let mut told: Option<(&Reads, SharedPiece)> = None;
        let read = |(reads, piece): (&Reads, SharedPiece), array: &mut [u32]| {
            let copy = |place: usize, theirs: &[u32]| {
                self.clock
                    .time(Doing::Packing, || reads.copy_from(place, theirs, array));
            };
            shared.read_all(group, piece, &stage.members, copy, |wait| {
                self.clock.time(Doing::Exchange, wait);
            });
        };
        for piece in &stage.pieces {
            let buffer = piece
                .exchange
                .as_ref()
                .map(|_| self.clock.time(Doing::Exchange, || shared.next_buffer()));
            let mut work = None;
            if let Some(buffer) = buffer {
                // SAFETY: the buffer that was given last, and this is the only reference until others are told.
                let own = unsafe { shared.own(buffer) };
                work = Some(std::mem::replace(&mut arrays.work[2], own));
            }
            for step in &piece.steps {
                self.run_step(step, arrays, powers, scratch);
                self.clock.time(Doing::Exchange, || {
                    shared.progress(told.iter_mut().map(|(_, piece)| piece));
                });
            }
            if let (Some((exchange, place, start)), Some(reads), Some(buffer)) =
                (&piece.exchange, &piece.reads, buffer)
            {
                self.clock.time(Doing::Packing, || {
                    let (from, to) = arrays.pair(*place, stage.to);
                    exchange.copy_own(&from[*start..], to);
                });
                self.sent
                    .fetch_add(exchange.bytes_sent(), Ordering::Relaxed);
                let new = self
                    .clock
                    .time(Doing::Exchange, || shared.tell(group, buffer));
                if let Some(earlier) = told.replace((reads, new)) {
                    read(earlier, arrays.write(stage.to));
                }
            }
            if let Some(work) = work {
                arrays.work[2] = work;
            }
        }
        if let Some(last) = told {
            read(last, arrays.write(stage.to));
        }
    }

    /// Runs a stage. At most two pieces are on their way while another one is transformed.
    fn run_stage<'a>(
        &self,
        stage: &Stage<T>,
        arrays: &mut Arrays<'_>,
        powers: &[i32],
        scratch: &mut [u64],
        slots: &mut Vec<Slot<'a>>,
    ) {
        let group = self.group(stage);
        let mut on_their_way: VecDeque<(&Exchange, Transfer<Slot<'a>>)> = VecDeque::new();
        for piece in &stage.pieces {
            for step in &piece.steps {
                self.run_step(step, arrays, powers, scratch);
                self.clock.time(Doing::Exchange, || {
                    for (_, transfer) in &mut on_their_way {
                        transfer.progress();
                    }
                });
            }
            let Some((exchange, place, start)) = &piece.exchange else {
                continue;
            };
            self.clock.time(Doing::Packing, || {
                let (from, to) = arrays.pair(*place, stage.to);
                exchange.copy_own(&from[*start..], to);
            });
            if slots.is_empty()
                && let Some((earlier, transfer)) = on_their_way.pop_front()
            {
                slots.push(self.arrived(earlier, transfer, arrays.write(stage.to)));
            }
            let Some(slot) = slots.pop() else {
                unreachable!("a slot is free, or on its way");
            };
            self.clock.time(Doing::Packing, || {
                exchange.pack_for_others(&arrays.read(*place)[*start..], slot.send);
            });
            let counts = exchange.counts();
            let bytes = exchange.bytes();
            let sent = counts.0.iter().sum::<usize>() * bytes;
            self.sent.fetch_add(sent as u64, Ordering::Relaxed);
            let transfer = self.clock.time(Doing::Exchange, || {
                Transfer::start(group, slot, (&counts.0, &counts.1), bytes)
            });
            on_their_way.push_back((exchange, transfer));
        }
        for (exchange, transfer) in on_their_way {
            slots.push(self.arrived(exchange, transfer, arrays.write(stage.to)));
        }
    }

    /// Waits for a piece, and puts it to its place.
    fn arrived<'a>(
        &self,
        exchange: &Exchange,
        transfer: Transfer<Slot<'a>>,
        array: &mut [u32],
    ) -> Slot<'a> {
        let slot = self.clock.time(Doing::Exchange, || transfer.wait());
        self.clock.time(Doing::Packing, || {
            exchange.unpack_from_others(slot.receive, array);
        });
        slot
    }

    fn run_step(
        &self,
        step: &Step<T>,
        arrays: &mut Arrays<'_>,
        powers: &[i32],
        scratch: &mut [u64],
    ) {
        match step {
            Step::Axis {
                plan,
                transforms,
                from,
                to,
            } => {
                let own = plan.own_powers(transforms, powers);
                let done = self.clock.time(Doing::Transforms, || {
                    run_axis(plan.on_processor(), arrays, (*from, *to), &own, scratch)
                });
                // Other ranks wait already: an error here would be a defect, and ends all of them.
                done.unwrap_or_else(|error| unreachable!("lengths are the plan's: {error}"));
            }
            Step::Gather {
                part,
                around,
                words,
                from,
                to,
            } => self.clock.time(Doing::Packing, || {
                let (from, to) = arrays.pair(*from, *to);
                copy_part(part, around, *words, from, to);
            }),
            Step::Copy { from, words } => self.clock.time(Doing::Packing, || {
                let (from, to) = arrays.pair(*from, Place::Output);
                to[..*words].copy_from_slice(&from[..*words]);
            }),
        }
    }

    /// The exponents of this rank's numbers, for those of all transforms that it has some of.
    fn find_exponents(&self, scans: &[Scan<T>], array: &[u32], exponents: &mut [i32]) {
        for scan in scans.iter().filter(|scan| !scan.transforms.is_empty()) {
            let mut own = vec![i32::MIN; scan.transforms.len()];
            let (array, len) = (&array[scan.array.start..], scan.array.len);
            let plan = scan.plan.on_processor();
            let found = self.clock.time(Doing::Transforms, || match plan.kind() {
                Kind::RealToComplex => plan.largest_exponents_of_reals(view(array, len), &mut own),
                _ => plan.largest_exponents(view(array, len), &mut own),
            });
            found.unwrap_or_else(|error| unreachable!("lengths are the plan's: {error}"));
            for (&number, exponent) in scan.transforms.iter().zip(own) {
                exponents[number] = exponents[number].max(exponent);
            }
        }
    }
}

/// Runs the lines along one axis.
fn run_axis<T: Real>(
    plan: &AxisPlan<T>,
    arrays: &mut Arrays<'_>,
    (from, to): (Span, Span),
    powers: &[i32],
    scratch: &mut [u64],
) -> Result<(), FftError> {
    let (one, other) = (from.place, to.place);
    let in_place =
        one == other || (one == Place::Input && other == Place::Output && arrays.input.is_none());
    if plan.kind() == Kind::ComplexToComplex && in_place {
        let array = &mut arrays.write(other)[to.start..];
        return plan.process(view_mut(array, to.len), powers, scratch);
    }
    let (source, target) = arrays.pair(one, other);
    let (source, target) = (&source[from.start..], &mut target[to.start..]);
    match plan.kind() {
        Kind::ComplexToComplex => plan.process_outofplace(
            view(source, from.len),
            view_mut(target, to.len),
            powers,
            scratch,
        ),
        Kind::RealToComplex => plan.process_real_to_complex(
            view(source, from.len),
            view_mut(target, to.len),
            powers,
            scratch,
        ),
        Kind::ComplexToReal => plan.process_complex_to_real(
            view(source, from.len),
            view_mut(target, to.len),
            powers,
            scratch,
        ),
    }
}
