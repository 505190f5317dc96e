//! Whole arrays and the parts of ranks.

use super::Ranks;
use bytemuck::Pod;
use mpi::Count;
use mpi::datatype::PartitionMut;
use mpi::traits::*;
use ozfft::{Device, DeviceArray, DeviceQueue, FftError, Real};
use ozfft_measure::failure::Failure;
use ozfft_mpi::{DistributedPlan, IndexBox};

/// Calls `visit` with the place of every element of a box in the whole array, for all arrays of a batch.
fn for_each_place(part: &IndexBox, shape: &[usize], batch: usize, mut visit: impl FnMut(usize)) {
    let lengths = part.shape();
    let points: usize = shape.iter().product();
    for member in 0..batch {
        for flat in 0..part.len() {
            let mut rest = flat;
            let mut stride = 1;
            let mut place = member * points;
            for d in (0..shape.len()).rev() {
                place += (rest % lengths[d] + part.low()[d]) * stride;
                rest /= lengths[d];
                stride *= shape[d];
            }
            visit(place);
        }
    }
}

/// A rank's part of a whole array.
pub(super) fn part<N: Copy>(whole: &[N], part: &IndexBox, shape: &[usize], batch: usize) -> Vec<N> {
    let mut held = Vec::with_capacity(batch * part.len());
    for_each_place(part, shape, batch, |place| held.push(whole[place]));
    held
}

/// The whole array on rank 0; nothing on the others.
pub(super) fn gathered<N: Pod>(
    ranks: &Ranks,
    held: &[N],
    (shape, batch): (&[usize], usize),
    box_of: impl Fn(usize) -> IndexBox,
) -> Option<Vec<N>> {
    let root = ranks.world.process_at_rank(0);
    let bytes: &[u8] = bytemuck::cast_slice(held);
    if !ranks.is_first() {
        root.gather_varcount_into(bytes);
        return None;
    }
    let boxes: Vec<IndexBox> = (0..ranks.count).map(box_of).collect();
    let lens: Vec<usize> = boxes.iter().map(|part| batch * part.len()).collect();
    let counts: Vec<Count> = lens
        .iter()
        .map(|len| (len * size_of::<N>()) as Count)
        .collect();
    let places: Vec<Count> = counts
        .iter()
        .scan(0, |next, &count| {
            *next += count;
            Some(*next - count)
        })
        .collect();
    let mut received = vec![N::zeroed(); lens.iter().sum()];
    {
        let bytes_received: &mut [u8] = bytemuck::cast_slice_mut(&mut received);
        let mut parts = PartitionMut::new(bytes_received, &counts[..], &places[..]);
        root.gather_varcount_into_root(bytes, &mut parts);
    }
    let points: usize = shape.iter().product();
    let mut whole = vec![N::zeroed(); batch * points];
    let mut next = received.into_iter();
    for part in &boxes {
        for_each_place(part, shape, batch, |place| {
            if let Some(number) = next.next() {
                whole[place] = number;
            }
        });
    }
    Some(whole)
}

/// A rank's arrays in the memory of its GPU.
pub(super) struct OnDevice {
    queue: DeviceQueue,
    input: DeviceArray,
    output: DeviceArray,
}

impl OnDevice {
    /// Arrays for a plan on a GPU; none for others.
    pub(super) fn new<I: Pod, O: Pod>(
        device: Device,
        input: &[I],
        output: &[O],
    ) -> Result<Option<OnDevice>, Failure> {
        let Device::Cuda(ordinal) = device else {
            return Ok(None);
        };
        let queue = DeviceQueue::open(ordinal)?;
        let arrays = OnDevice {
            input: queue.allocate(size_of_val(input))?,
            output: queue.allocate(size_of_val(output))?,
            queue,
        };
        let bytes = bytemuck::cast_slice(input);
        // SAFETY: just allocated with this length; the queue is waited for here.
        unsafe { arrays.queue.upload(arrays.input.pointer(), bytes)? };
        arrays.queue.synchronize()?;
        Ok(Some(arrays))
    }

    /// Transforms them; collective.
    pub(super) fn transform<T: Real>(&self, plan: &DistributedPlan<T>) -> Result<(), Failure> {
        // SAFETY: the arrays were made for this plan, and nothing else uses them.
        unsafe { plan.process_device(self.input.pointer(), self.output.pointer()) }
            .map_err(super::failure)
    }

    /// The result.
    pub(super) fn download<O: Pod>(&self, output: &mut [O]) -> Result<(), FftError> {
        let bytes = bytemuck::cast_slice_mut(output);
        // SAFETY: so many bytes were allocated; the queue is waited for here.
        unsafe { self.queue.download(self.output.pointer(), bytes)? };
        self.queue.synchronize()
    }
}

/// How messages get from one GPU to another, in a word; none on processors.
pub(super) fn messages<T: Real>(plan: &DistributedPlan<T>) -> Option<&'static str> {
    plan.sends_from_device()
        .map(|from_device| match from_device {
            true => "device",
            false => "staged",
        })
}
