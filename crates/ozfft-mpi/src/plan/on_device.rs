//! A call whose arrays are in a GPU's memory: the same stages, with lines, copies and messages there.
//!
//! Lines and copies are put into the GPU's queue one after the other. A message is sent when the queue has come so far, from the GPU's memory where MPI takes
//! such pointers, else from page-locked memory that it is copied to. A GPU that fails in between does not keep other ranks waiting: its rank goes on
//! exchanging, whatever the messages hold, and the error is one of all ranks in the end.

use super::DistributedPlan;
use super::clock::Doing;
use super::local::Lengths;
use super::run::{Place, Scan, Stage, Step, words_of};
use super::transfer::{Memory, Transfer};
use crate::agreement::{self, AbortOnPanic};
use crate::device::{DeviceCopy, DevicePointers, Gpu, GpuMemory, PageLocked, device_pointers};
use crate::error::DistributedError;
use crate::exchange::{BlockCopy, Exchange, copies_of_part};
use ozfft::{Buffer, FftError, Kind, Real};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::Ordering;

/// The GPU of this number.
#[cfg(feature = "cuda")]
pub(super) fn open<T: Real>(ordinal: usize) -> Result<Box<dyn Gpu<T>>, FftError> {
    crate::cuda::open(ordinal)
}

#[cfg(not(feature = "cuda"))]
pub(super) fn open<T: Real>(ordinal: usize) -> Result<Box<dyn Gpu<T>>, FftError> {
    Err(FftError::Unsupported(format!(
        "this build of ozfft-mpi has no GPUs, and the problem is for cuda:{ordinal}; build it with the feature cuda, or take the device cpu"
    )))
}

/// How messages get from one GPU to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Messages {
    /// MPI takes device pointers.
    FromDevice,
    /// Through page-locked memory, because MPI says so, because it does not say, or because the problem does.
    Staged(&'static str),
}

impl Messages {
    pub(super) fn new(staged: bool) -> Messages {
        match (staged, device_pointers()) {
            (true, _) => Messages::Staged("as the problem asks for"),
            (false, DevicePointers::Taken) => Messages::FromDevice,
            (false, DevicePointers::NotTaken) => {
                Messages::Staged("this MPI says that it does not take device pointers")
            }
            (false, DevicePointers::Unknown) => {
                Messages::Staged("this MPI does not say whether it takes device pointers")
            }
        }
    }
}

impl fmt::Display for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Messages::FromDevice => f.write_str("messages from its memory, which this MPI takes"),
            Messages::Staged(why) => write!(f, "messages through page-locked memory: {why}"),
        }
    }
}

/// A GPU, and what a plan keeps there.
pub(super) struct Device<T: Real> {
    pub(super) gpu: Box<dyn Gpu<T>>,
    pub(super) messages: Messages,
    workspace: Box<dyn GpuMemory>,
    /// What is sent and received, of every slot; nothing where MPI takes device pointers.
    staging: RefCell<Vec<[PageLocked; 2]>>,
}

/// Parts of the workspace begin at such multiples.
const ALIGNMENT: u64 = 256;

/// Where parts of the workspace lie, and its length.
struct Parts {
    scratch: u64,
    arrays: [u64; 4],
    slots: Vec<[u64; 2]>,
    end: u64,
}

impl Parts {
    fn new(lengths: &Lengths, start: u64) -> Parts {
        let mut end = start;
        let mut take = |words: usize| {
            let first = end;
            end = (first + 8 * words as u64).next_multiple_of(ALIGNMENT);
            first
        };
        Parts {
            scratch: take(lengths.scratch),
            arrays: lengths.arrays.map(&mut take),
            slots: (0..lengths.slots)
                .map(|_| lengths.slot.map(&mut take))
                .collect(),
            end,
        }
    }
}

impl<T: Real> Device<T> {
    pub(super) fn new(
        gpu: Box<dyn Gpu<T>>,
        messages: Messages,
        lengths: &Lengths,
    ) -> Result<Self, FftError> {
        let workspace = gpu.allocate(Parts::new(lengths, 0).end as usize)?;
        let staging = match messages {
            Messages::FromDevice => Vec::new(),
            Messages::Staged(_) => (0..lengths.slots)
                .map(|_| {
                    let [sent, received] = lengths.slot.map(|words| gpu.page_locked(8 * words));
                    Ok([sent?, received?])
                })
                .collect::<Result<_, FftError>>()?,
        };
        Ok(Device {
            gpu,
            messages,
            workspace,
            staging: RefCell::new(staging),
        })
    }
}

/// Memory of a message: on the GPU, and where it is staged.
struct Slot {
    addresses: [u64; 2],
    staging: Option<[PageLocked; 2]>,
}

/// A call in progress.
struct Call<'a, T: Real> {
    plan: &'a DistributedPlan<T>,
    gpu: &'a dyn Gpu<T>,
    input: u64,
    output: u64,
    parts: Parts,
    /// The first failure of the GPU: nothing is computed afterwards.
    failed: Option<FftError>,
}

/// A call's arrays in the GPU's memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeviceArrays {
    pub(super) input: u64,
    pub(super) output: u64,
}

impl<T: Real> DistributedPlan<T> {
    /// Bytes of this rank's input and output.
    pub(super) fn array_bytes(&self) -> [usize; 2] {
        let kind = self.whole.problem().kind();
        let words = [kind != Kind::RealToComplex, kind != Kind::ComplexToReal].map(words_of::<T>);
        [
            4 * words[0] * self.input_len(),
            4 * words[1] * self.output_len(),
        ]
    }

    /// Arrays of the processor: copied to the GPU and back.
    pub(super) fn run_from_host(
        &self,
        device: &Device<T>,
        valid: Result<(), FftError>,
        (input, output): (Option<&[u32]>, &mut [u32]),
    ) -> Result<(), DistributedError> {
        let _guard = AbortOnPanic(&self.communicators.all);
        let gpu = &*device.gpu;
        let copied = valid.and_then(|()| {
            self.expect_lengths(input.map(<[u32]>::len), output.len(), 0)?;
            let [bytes, output_bytes] = self.array_bytes();
            let memory = (
                gpu.allocate(bytes)?,
                input.map(|_| gpu.allocate(output_bytes)).transpose()?,
            );
            let held = bytemuck::cast_slice(input.unwrap_or(output));
            // SAFETY: just allocated with this length; the queue is waited for here.
            unsafe { gpu.upload(memory.0.address(), held)? };
            gpu.synchronize()?;
            Ok(memory)
        });
        let (memory, valid) = match copied {
            Ok(memory) => (Some(memory), Ok(())),
            Err(error) => (None, Err(error)),
        };
        let arrays = memory.as_ref().map_or(
            DeviceArrays {
                input: 0,
                output: 0,
            },
            |(input, output)| DeviceArrays {
                input: input.address(),
                output: output.as_ref().unwrap_or(input).address(),
            },
        );
        self.run_on_device(device, valid, arrays, &mut || {
            // SAFETY: the output was allocated with this length; the queue is waited for here.
            unsafe { gpu.download(arrays.output, bytemuck::cast_slice_mut(output))? };
            gpu.synchronize()
        })
    }

    /// Runs all stages on arrays in the GPU's memory, then `finish`.
    pub(super) fn run_on_device(
        &self,
        device: &Device<T>,
        valid: Result<(), FftError>,
        arrays: DeviceArrays,
        finish: &mut dyn FnMut() -> Result<(), FftError>,
    ) -> Result<(), DistributedError> {
        let all = &self.communicators.all;
        let _guard = AbortOnPanic(all);
        let mut call = Call {
            plan: self,
            gpu: &*device.gpu,
            input: arrays.input,
            output: arrays.output,
            parts: Parts::new(&self.lengths, device.workspace.address()),
            failed: valid.err(),
        };
        let mut exponents = vec![i32::MIN; self.transforms];
        let scans = self.stages.first().and_then(|stage| stage.scans.as_ref());
        call.find_exponents(scans, &mut exponents);
        // As for arrays of the processor: the mark of a failure, and exponents.
        let mut numbers = vec![agreement::mark(all, call.failed.is_some())];
        numbers.extend(exponents);
        self.clock
            .time(Doing::Exchange, || agreement::maxima(all, &mut numbers));
        if let Some(failed) = agreement::marked(all, numbers[0]) {
            let own = call.failed.map_or(Ok(()), |error| Err(error.into()));
            return Err(agreement::spread(all, failed, own));
        }
        let mut powers = numbers.split_off(1);
        let mut staging = device.staging.take();
        let addresses = call.parts.slots.clone();
        let mut slots: Vec<Slot> = addresses
            .into_iter()
            .map(|addresses| Slot {
                addresses,
                staging: staging.pop(),
            })
            .collect();
        for (number, stage) in self.stages.iter().enumerate() {
            if let (Some(scans), false) = (&stage.scans, powers.is_empty()) {
                if number > 0 {
                    call.find_exponents(Some(scans), &mut powers);
                    self.clock
                        .time(Doing::Exchange, || agreement::maxima(all, &mut powers));
                }
                for power in &mut powers {
                    *power = self.whole.power_between_axes(*power);
                }
            }
            call.run_stage(stage, &powers, &mut slots);
        }
        call.attempt(|gpu| gpu.synchronize());
        call.attempt(|_| finish());
        let staging = slots.into_iter().filter_map(|slot| slot.staging);
        *device.staging.borrow_mut() = staging.collect();
        let own = call.failed.map_or(Ok(()), |error| Err(error.into()));
        agreement::all_succeed(all, own)
    }
}

impl<T: Real> Call<'_, T> {
    /// Does something on the GPU, unless it has failed before.
    fn attempt(&mut self, work: impl FnOnce(&dyn Gpu<T>) -> Result<(), FftError>) {
        if self.failed.is_none() {
            self.failed = work(self.gpu).err();
        }
    }

    /// The address of an array.
    fn address(&self, place: Place, start: usize) -> u64 {
        let first = match place {
            Place::Input => self.input,
            Place::Output => self.output,
            Place::Work(number) => self.parts.arrays[number],
        };
        first + 4 * start as u64
    }

    fn find_exponents(&mut self, scans: Option<&Vec<Scan<T>>>, exponents: &mut [i32]) {
        let scans = scans.into_iter().flatten();
        for scan in scans.filter(|scan| !scan.transforms.is_empty()) {
            let mut own = vec![i32::MIN; scan.transforms.len()];
            let input = self.address(scan.array.place, scan.array.start);
            let (plan, clock) = (scan.plan.on_gpu(), &self.plan.clock);
            clock.time(Doing::Transforms, || {
                // SAFETY: a part of one of the plan's arrays, as it was planned.
                self.attempt(|_| unsafe { plan.largest_exponents(input, &mut own) });
            });
            for (&number, exponent) in scan.transforms.iter().zip(own) {
                exponents[number] = exponents[number].max(exponent);
            }
        }
    }

    /// Copies elements of so many bytes.
    fn copy_all(&mut self, copies: &[BlockCopy], bytes: usize, (from, to): (u64, u64)) {
        for copy in copies {
            let copy = DeviceCopy {
                from: from + (copy.from * bytes) as u64,
                to: to + (copy.to * bytes) as u64,
                bytes: copy.len * bytes,
                rows: copy.rows,
                slices: copy.slices,
                row_distances: copy.row_distances.map(|distance| distance * bytes),
                slice_distances: copy.slice_distances.map(|distance| distance * bytes),
            };
            // SAFETY: within the plan's arrays, of which no step reads and writes the same.
            self.attempt(|gpu| unsafe { gpu.copy(&copy) });
        }
    }

    fn run_stage(&mut self, stage: &Stage<T>, powers: &[i32], slots: &mut Vec<Slot>) {
        let plan = self.plan;
        let groups = &plan.communicators.groups;
        let group = stage
            .group
            .map_or(&*plan.communicators.all, |group| &groups[group]);
        let mut on_their_way: VecDeque<(&Exchange, Transfer<Slot>)> = VecDeque::new();
        for piece in &stage.pieces {
            for step in &piece.steps {
                self.run_step(step, powers);
            }
            let Some((exchange, place, start)) = &piece.exchange else {
                continue;
            };
            let bytes = exchange.bytes();
            let (from, to) = (self.address(*place, *start), self.address(stage.to, 0));
            self.copy_all(&exchange.copies_of_own(), bytes, (from, to));
            if slots.is_empty()
                && let Some((earlier, transfer)) = on_their_way.pop_front()
            {
                slots.push(self.arrived(earlier, transfer, to));
            }
            let Some(mut slot) = slots.pop() else {
                unreachable!("a slot is free, or on its way");
            };
            self.copy_all(
                &exchange.copies_for_others(),
                bytes,
                (from, slot.addresses[0]),
            );
            let sent = exchange.bytes_sent();
            if let Some([staged, _]) = &mut slot.staging {
                let (from, staged) = (slot.addresses[0], &mut staged[..sent as usize]);
                // SAFETY: so many bytes were packed there; the queue is waited for before they are used.
                self.attempt(|gpu| unsafe { gpu.download(from, staged) });
            }
            // Messages that are on their way move on while the GPU computes.
            plan.clock.time(Doing::Transforms, || {
                while self.failed.is_none() && !self.gpu.is_done() {
                    for (_, transfer) in &mut on_their_way {
                        transfer.progress();
                    }
                }
                self.attempt(|gpu| gpu.synchronize());
            });
            let counts = exchange.counts();
            plan.sent.fetch_add(sent, Ordering::Relaxed);
            let memory = self.memory_of(&mut slot);
            let transfer = plan.clock.time(Doing::Exchange, || {
                // SAFETY: the memory is the slot's, on the GPU or page-locked, and does not move with it.
                unsafe {
                    Transfer::start_from(group, (slot, memory), (&counts.0, &counts.1), bytes)
                }
            });
            on_their_way.push_back((exchange, transfer));
        }
        let to = self.address(stage.to, 0);
        for (exchange, transfer) in on_their_way {
            slots.push(self.arrived(exchange, transfer, to));
        }
    }

    /// What MPI sends from and receives into.
    fn memory_of(&self, slot: &mut Slot) -> Memory {
        match &mut slot.staging {
            Some([send, receive]) => Memory {
                send: (send.as_ptr(), send.len()),
                receive: (receive.as_mut_ptr(), receive.len()),
            },
            None => {
                let [sent, received] = self.plan.lengths.slot.map(|words| 8 * words);
                Memory {
                    send: (slot.addresses[0] as *const u8, sent),
                    receive: (slot.addresses[1] as *mut u8, received),
                }
            }
        }
    }

    /// Waits for a piece, and puts it to its place.
    fn arrived(&mut self, exchange: &Exchange, transfer: Transfer<Slot>, to: u64) -> Slot {
        let clock = &self.plan.clock;
        let slot = clock.time(Doing::Exchange, || transfer.wait());
        let bytes = exchange.bytes();
        if let Some([_, staged]) = &slot.staging {
            let received = exchange.elements_received() * bytes;
            let (address, staged) = (slot.addresses[1], &staged[..received]);
            // SAFETY: the queue is waited for before the slot's next message is received.
            self.attempt(|gpu| unsafe { gpu.upload(address, staged) });
        }
        self.copy_all(
            &exchange.copies_from_others(),
            bytes,
            (slot.addresses[1], to),
        );
        slot
    }

    fn run_step(&mut self, step: &Step<T>, powers: &[i32]) {
        match step {
            Step::Axis {
                plan,
                transforms,
                from,
                to,
            } => {
                let own = plan.own_powers(transforms, powers);
                let arrays = (
                    self.address(from.place, from.start),
                    self.address(to.place, to.start),
                );
                let (plan, scratch) = (plan.on_gpu(), self.parts.scratch);
                // SAFETY: parts of the plan's arrays, as they were planned; the queue runs one after the other.
                self.attempt(|_| unsafe { plan.process(arrays, &own, scratch) });
            }
            Step::Gather {
                part,
                around,
                words,
                from,
                to,
            } => {
                let arrays = (self.address(*from, 0), self.address(*to, 0));
                self.copy_all(&copies_of_part(part, around), 4 * words, arrays);
            }
            Step::Copy { from, words } => {
                let arrays = (self.address(*from, 0), self.address(Place::Output, 0));
                let whole = BlockCopy {
                    from: 0,
                    to: 0,
                    len: *words,
                    rows: 1,
                    slices: 1,
                    row_distances: [0; 2],
                    slice_distances: [0; 2],
                };
                if *words > 0 {
                    self.copy_all(&[whole], 4, arrays);
                }
            }
        }
    }
}

/// Checks that a caller's arrays are this GPU's memory.
pub(super) fn check_arrays<T: Real>(
    plan: &DistributedPlan<T>,
    device: &Device<T>,
    arrays: DeviceArrays,
) -> Result<(), FftError> {
    if plan.strict {
        return Err(FftError::StrictOnDevice);
    }
    let [input, output] = plan.array_bytes();
    let complex = plan.whole.problem().kind() == Kind::ComplexToComplex;
    if arrays.input == arrays.output && input > 0 && !(complex && input == output) {
        return Err(FftError::InPlaceLayout);
    }
    for (buffer, address, bytes) in [
        (Buffer::Input, arrays.input, input),
        (Buffer::Output, arrays.output, output),
    ] {
        if bytes > 0 {
            device.gpu.check(buffer, address, bytes)?;
        }
    }
    Ok(())
}
