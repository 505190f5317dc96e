//! Host arrays to the device and back: in pieces, so that progress can be told, through page-locked memory where there is
//! some, so that the processor fills one buffer while the device empties the other.

use crate::error::FftError;
use crate::executor::cuda::OpenQueue;
use crate::executor::cuda::device::machine::{Machine, Queue};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes copied at a time. Arrays up to this length go as they are: for a single piece nothing could overlap.
/// (Tests have small arrays, and pieces.)
pub(crate) const PIECE_BYTES: usize = if cfg!(test) { 1 << 10 } else { 32 << 20 };

/// A thread copies no less than this at a time.
const LEAST_BYTES_A_THREAD: usize = PIECE_BYTES / 32;

/// What a failure while results are copied back calls itself: from here on the caller's array is being written.
pub(crate) const COPYING_BACK: &str = "copying from the device";

/// Page-locked memory of one piece, given back when dropped.
struct Pinned {
    machine: Arc<dyn Machine>,
    address: *mut u8,
}

// SAFETY: plain memory with one owner.
unsafe impl Send for Pinned {}

impl Pinned {
    fn new(machine: &Arc<dyn Machine>) -> Option<Pinned> {
        let address = machine.pin(PIECE_BYTES)?;
        // SAFETY: allocated with this length; a slice must not be made of memory that was never written.
        unsafe { address.write_bytes(0, PIECE_BYTES) };
        Some(Pinned {
            machine: Arc::clone(machine),
            address,
        })
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: allocated with this length and written; borrowed as long as the slice.
        unsafe { std::slice::from_raw_parts_mut(self.address, PIECE_BYTES) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: allocated by `pin`; the queues that used it have been waited for.
        unsafe { self.machine.unpin(self.address) }
    }
}

/// The two buffers of a plan, once a call has needed them. Calls at the same time have some of their own.
#[derive(Default)]
pub(crate) struct Staging(Mutex<Option<[Pinned; 2]>>);

impl Staging {
    fn take(&self, machine: &Arc<dyn Machine>) -> Option<[Pinned; 2]> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        kept.or_else(|| Some([Pinned::new(machine)?, Pinned::new(machine)?]))
    }

    fn keep(&self, buffers: [Pinned; 2]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(buffers);
    }
}

/// Copies pieces in turn through two lanes, each a queue and a buffer. Nothing is on its way when a call has returned
/// without an error.
pub(crate) struct Transfer<'a> {
    machine: &'a dyn Machine,
    staging: &'a Staging,
    queues: [Queue; 2],
    buffers: Option<[Pinned; 2]>,
    /// Only held: the second of the queues.
    _second: Option<OpenQueue<'a>>,
    threads: usize,
}

impl<'a> Transfer<'a> {
    /// For arrays of up to so many bytes. One lane is the queue given.
    pub(crate) fn new(
        machine: &'a Arc<dyn Machine>,
        staging: &'a Staging,
        queue: Queue,
        most_bytes: usize,
        threads: usize,
    ) -> Result<Self, FftError> {
        let large = most_bytes > PIECE_BYTES;
        let second = large.then(|| OpenQueue::new(&**machine)).transpose()?;
        Ok(Transfer {
            machine: &**machine,
            staging,
            queues: [queue, second.as_ref().map_or(queue, |second| second.1)],
            // Without them, the driver copies through buffers of its own.
            buffers: large.then(|| staging.take(machine)).flatten(),
            _second: second,
            threads,
        })
    }

    /// Copies to the device; `arrived` is called with the bytes that each piece adds.
    ///
    /// # Safety
    /// The memory is so long, and nothing else uses it.
    pub(crate) unsafe fn upload(
        &mut self,
        to: u64,
        bytes: &[u8],
        arrived: &mut dyn FnMut(usize),
    ) -> Result<(), FftError> {
        let pieces: Vec<&[u8]> = bytes.chunks(PIECE_BYTES).collect();
        // Two pieces are on their way at a time: a lane is waited for before it is used again, and at the end.
        for number in 0..pieces.len() + 2 {
            let (lane, queue) = (number % 2, self.queues[number % 2]);
            if let Some(before) = number.checked_sub(2) {
                self.machine.synchronize(queue)?;
                arrived(pieces[before].len());
            }
            let Some(&piece) = pieces.get(number) else {
                continue;
            };
            let place = to + (number * PIECE_BYTES) as u64;
            let source = match &mut self.buffers {
                Some(buffers) => {
                    let staged = &mut buffers[lane].bytes()[..piece.len()];
                    copy(staged, piece, self.threads);
                    staged
                }
                None => piece,
            };
            // SAFETY: the caller's promise; the source is left alone until the lane has been waited for.
            unsafe { self.machine.upload(queue, place, source)? };
        }
        Ok(())
    }

    /// Copies from the device; `arrived` is called with the bytes that each piece adds. From the first of them on, an
    /// error leaves a part of the result in the caller's array.
    ///
    /// # Safety
    /// As for [`Transfer::upload`].
    pub(crate) unsafe fn download(
        &mut self,
        from: u64,
        bytes: &mut [u8],
        arrived: &mut dyn FnMut(usize),
    ) -> Result<(), FftError> {
        let mut pieces: Vec<&mut [u8]> = bytes.chunks_mut(PIECE_BYTES).collect();
        for number in 0..pieces.len() + 2 {
            let (lane, queue) = (number % 2, self.queues[number % 2]);
            if let Some(before) = number.checked_sub(2) {
                self.machine.synchronize(queue).map_err(copying_back)?;
                let piece = &mut *pieces[before];
                if let Some(buffers) = &mut self.buffers {
                    let staged = &buffers[lane].bytes()[..piece.len()];
                    copy(piece, staged, self.threads);
                }
                arrived(piece.len());
            }
            let Some(piece) = pieces.get_mut(number) else {
                continue;
            };
            let place = from + (number * PIECE_BYTES) as u64;
            let target = match &mut self.buffers {
                Some(buffers) => &mut buffers[lane].bytes()[..piece.len()],
                None => &mut **piece,
            };
            // SAFETY: as for `upload`.
            unsafe { self.machine.download(queue, place, target) }.map_err(copying_back)?;
        }
        Ok(())
    }

    /// Gives the buffers back to the plan. Only after success: nothing uses them then.
    pub(crate) fn finish(mut self) {
        if let Some(buffers) = self.buffers.take() {
            self.staging.keep(buffers);
        }
    }
}

impl Drop for Transfer<'_> {
    fn drop(&mut self) {
        // After an error copies may still run; buffers must not be freed before. A lost device answers at once.
        for queue in self.queues {
            let _ = self.machine.synchronize(queue);
        }
    }
}

/// Memory is filled faster by several threads than by one.
fn copy(to: &mut [u8], from: &[u8], threads: usize) {
    let part = to.len().div_ceil(threads).max(LEAST_BYTES_A_THREAD);
    to.par_chunks_mut(part)
        .zip(from.par_chunks(part))
        .for_each(|(to, from)| to.copy_from_slice(from));
}

/// Names what failed: waiting does not know what it waits for.
fn copying_back(error: FftError) -> FftError {
    match error {
        FftError::DeviceFailure {
            code, name, text, ..
        } => FftError::DeviceFailure {
            action: COPYING_BACK,
            code,
            name,
            text,
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Buffer;
    use crate::executor::cuda::device::emulated::Emulator;
    use crate::executor::cuda::device::findings::Findings;
    use crate::executor::cuda::device::launch::{Launch, TemplateKernel};
    use crate::executor::cuda::device::machine::BlockCopy;
    use crate::executor::cuda::program::tuned_task::{MappedArray, TensorMap};
    use crate::{Engine, Kind, Layout, Planner, Problem, Progress, Stage};
    use num_complex::Complex;
    use ozfft_kernels::template::KernelSpec;
    use std::collections::{HashMap, HashSet};

    /// Something put into a queue: done when the queue is waited for, and no sooner.
    enum Operation {
        Copy { from: u64, to: u64, bytes: usize },
        Clear(u64, usize),
        Launch(Box<Launch>),
    }

    #[derive(Default)]
    struct State {
        waiting: HashMap<Queue, Vec<Operation>>,
        allocated: HashSet<u64>,
        pinned: HashSet<u64>,
        pinned_ever: usize,
        calls: usize,
        opened: u64,
    }

    /// The emulator as late as a GPU can be, and lost from the call of this number on.
    #[derive(Default)]
    struct Late {
        emulator: Emulator,
        state: Mutex<State>,
        lost_from: Mutex<usize>,
        refuses_to_pin: bool,
    }

    impl Late {
        fn call(&self) -> Result<std::sync::MutexGuard<'_, State>, FftError> {
            let mut state = self.state.lock().unwrap();
            state.calls += 1;
            if state.calls > *self.lost_from.lock().unwrap() {
                return Err(FftError::DeviceFailure {
                    action: "testing",
                    code: 46,
                    name: "LOST".into(),
                    text: "the device is lost".into(),
                });
            }
            Ok(state)
        }

        fn put(&self, queue: Queue, operation: Operation) -> Result<(), FftError> {
            let mut state = self.call()?;
            state.waiting.entry(queue).or_default().push(operation);
            Ok(())
        }
    }

    impl Machine for Late {
        fn name(&self) -> String {
            self.emulator.name()
        }
        fn shared_memory(&self) -> usize {
            self.emulator.shared_memory()
        }
        fn multiprocessors(&self) -> usize {
            self.emulator.multiprocessors()
        }
        fn has_tuned_kernels(&self) -> bool {
            false
        }
        fn capability(&self) -> (i32, i32) {
            self.emulator.capability()
        }
        fn template_kernel(
            &self,
            spec: &KernelSpec,
            conversions: bool,
        ) -> Result<TemplateKernel, String> {
            self.emulator.template_kernel(spec, conversions)
        }
        fn prepare(&self, kernels: &[&'static str]) -> Result<(), FftError> {
            self.emulator.prepare(kernels)
        }
        fn findings(&self) -> &Findings {
            self.emulator.findings()
        }
        fn tensor_map(&self, array: &MappedArray) -> Result<TensorMap, FftError> {
            self.emulator.tensor_map(array)
        }
        fn allocate(&self, bytes: usize) -> Result<u64, FftError> {
            let mut state = self.call()?;
            let address = self.emulator.allocate(bytes)?;
            state.allocated.insert(address);
            Ok(address)
        }
        unsafe fn free(&self, address: u64) {
            assert!(self.state.lock().unwrap().allocated.remove(&address));
            // SAFETY: the caller's promise.
            unsafe { self.emulator.free(address) }
        }
        fn pin(&self, bytes: usize) -> Option<*mut u8> {
            let mut state = self.call().ok().filter(|_| !self.refuses_to_pin)?;
            let address = self.emulator.allocate(bytes).ok()?;
            state.pinned.insert(address);
            state.pinned_ever += 1;
            Some(address as *mut u8)
        }
        unsafe fn unpin(&self, address: *mut u8) {
            let mut state = self.state.lock().unwrap();
            assert!(state.pinned.remove(&(address as u64)));
            assert!(state.waiting.values().all(Vec::is_empty));
            // SAFETY: the caller's promise.
            unsafe { self.emulator.free(address as u64) }
        }
        fn open_queue(&self) -> Result<Queue, FftError> {
            let mut state = self.call()?;
            state.opened += 1;
            Ok(state.opened)
        }
        fn close_queue(&self, queue: Queue) {
            let waiting = self.state.lock().unwrap().waiting.remove(&queue);
            assert!(waiting.is_none_or(|operations| operations.is_empty()));
        }
        unsafe fn upload(&self, queue: Queue, to: u64, bytes: &[u8]) -> Result<(), FftError> {
            let (from, bytes) = (bytes.as_ptr() as u64, bytes.len());
            self.put(queue, Operation::Copy { from, to, bytes })
        }
        unsafe fn download(
            &self,
            queue: Queue,
            from: u64,
            bytes: &mut [u8],
        ) -> Result<(), FftError> {
            let (to, bytes) = (bytes.as_mut_ptr() as u64, bytes.len());
            self.put(queue, Operation::Copy { from, to, bytes })
        }
        unsafe fn copy_block(&self, _: Queue, _: &BlockCopy) -> Result<(), FftError> {
            unreachable!("no plan copies blocks")
        }
        unsafe fn clear(&self, queue: Queue, address: u64, bytes: usize) -> Result<(), FftError> {
            self.put(queue, Operation::Clear(address, bytes))
        }
        unsafe fn launch(&self, queue: Queue, launch: &Launch) -> Result<(), FftError> {
            self.put(queue, Operation::Launch(Box::new(*launch)))
        }
        fn synchronize(&self, queue: Queue) -> Result<(), FftError> {
            let operations = match self.call() {
                Ok(mut state) => state.waiting.remove(&queue).unwrap_or_default(),
                Err(error) => {
                    // Nothing will ever be done.
                    self.state.lock().unwrap().waiting.clear();
                    return Err(error);
                }
            };
            for operation in operations {
                // SAFETY: the promises of the calls that put them there.
                unsafe {
                    match operation {
                        Operation::Copy { from, to, bytes } => {
                            std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes)
                        }
                        Operation::Clear(address, bytes) => {
                            self.emulator.clear(queue, address, bytes)?;
                        }
                        Operation::Launch(launch) => self.emulator.launch(queue, &launch)?,
                    }
                }
            }
            Ok(())
        }
        fn check_pointer(&self, _: Buffer, _: u64, _: usize) -> Result<(), FftError> {
            Ok(())
        }
    }

    fn late(refuses_to_pin: bool) -> Arc<Late> {
        Arc::new(Late {
            refuses_to_pin,
            lost_from: Mutex::new(usize::MAX),
            ..Late::default()
        })
    }

    fn numbers(count: usize) -> Vec<Complex<f64>> {
        let part = |i: usize| ((i * 7919 + 13) % 1009) as f64 / 512.0 - 1.0;
        (0..count)
            .map(|i| Complex::new(part(2 * i), part(2 * i + 1)))
            .collect()
    }

    /// Lengths around one, two, three and many pieces.
    const COUNTS: [usize; 9] = [1, 63, 64, 65, 128, 129, 192, 193, 1000];

    #[test]
    fn pieces_arrive_in_order_with_and_without_page_locked_memory() {
        let planner = Planner::<f64>::new();
        for refuses_to_pin in [false, true] {
            let late = late(refuses_to_pin);
            let machine: Arc<dyn Machine> = Arc::<Late>::clone(&late);
            for count in COUNTS {
                // Lines of one point each are copied as they are.
                let gaps = Layout::strided(&[1], 2);
                for problem in [
                    Problem::complex(&[1]).batch(count),
                    Problem::complex(&[1]).batch(count).output_layout(gaps),
                ] {
                    let problem = problem.engine(Engine::Digits);
                    let plan = planner.plan_on(&problem, &machine).unwrap();
                    let input = numbers(count);
                    let mut output = numbers(problem.output_len());
                    let mut expected = output.clone();
                    let distance = problem.resolved_output().distance() as usize;
                    for (i, z) in input.iter().enumerate() {
                        expected[distance * i] = *z;
                    }
                    for _ in 0..2 {
                        plan.process_outofplace(&input, &mut output).unwrap();
                        assert_eq!(output, expected, "{count}");
                        output.fill(Complex::new(0.5, 0.5));
                        expected
                            .iter_mut()
                            .enumerate()
                            .filter(|(i, _)| i % distance != 0)
                            .for_each(|(_, z)| *z = Complex::new(0.5, 0.5));
                    }
                }
            }
            drop(machine);
            let state = late.state.lock().unwrap();
            assert!(state.allocated.is_empty() && state.pinned.is_empty());
            // Two buffers a plan with more than one piece, however often it is called: six without and eight with gaps.
            let plans = if refuses_to_pin { 0 } else { 6 + 8 };
            assert_eq!(state.pinned_ever, 2 * plans);
        }
    }

    #[test]
    fn progress_is_told_from_the_beginning_to_the_end_of_every_stage() {
        let machine: Arc<dyn Machine> = late(false);
        let problem = Problem::complex(&[8]).batch(40).engine(Engine::Digits);
        let plan = Planner::<f64>::new().plan_on(&problem, &machine).unwrap();
        let mut field = numbers(320);
        let mut told: Vec<Progress> = Vec::new();
        let mut reporting = plan.reporting(|progress| told.push(progress));
        reporting.process(&mut field).unwrap();
        let steps = |stage| -> Vec<(usize, usize)> {
            let of_stage = told.iter().filter(|progress| progress.stage == stage);
            of_stage.map(|p| (p.done, p.total)).collect()
        };
        let pieces: Vec<_> = (0..=5).map(|n| (1024 * n, 5120)).collect();
        assert_eq!(steps(Stage::Upload), pieces);
        assert_eq!(steps(Stage::Transform), [(0, 5120), (5120, 5120)]);
        assert_eq!(steps(Stage::Download), pieces);
        let mut expected = numbers(320);
        plan.process(&mut expected).unwrap();
        assert_eq!(field, expected);
        assert!(told.is_sorted_by_key(|p| p.stage as usize));
    }

    #[test]
    fn every_call_reports_its_progress() {
        let planner = Planner::<f64>::new();
        let machine: Arc<dyn Machine> = late(false);
        let padded = || Layout::padded_real(&[6]);
        let real = Problem::real_to_complex(&[6]);
        let half = Problem::complex_to_real(&[6]);
        for problem in [
            Problem::complex(&[6]),
            real.clone(),
            half.clone(),
            real.input_layout(padded()),
            half.output_layout(padded()),
        ] {
            let in_place =
                problem.resolved_input() == padded() || problem.resolved_output() == padded();
            let plan = planner.plan_on(&problem, &machine).unwrap();
            let points = if problem.kind() == Kind::ComplexToComplex {
                6
            } else {
                4
            };
            let (mut complex, mut reals) = (numbers(points), vec![1.0; 6]);
            let mut stages = Vec::new();
            complex[0].im = 0.0;
            complex[3].im = 0.0;
            let mut reporting = plan.reporting(|progress| stages.push(progress.stage));
            match problem.kind() {
                Kind::ComplexToComplex => {
                    let mut output = numbers(6);
                    reporting.process_outofplace(&complex, &mut output)
                }
                Kind::RealToComplex if in_place => reporting.process_real_in_place(&mut complex),
                Kind::RealToComplex => reporting.process_real_to_complex(&reals, &mut complex),
                Kind::ComplexToReal if in_place => {
                    reporting.process_complex_to_real_in_place(&mut complex)
                }
                Kind::ComplexToReal => reporting.process_complex_to_real(&complex, &mut reals),
            }
            .unwrap();
            stages.dedup();
            let all = [Stage::Upload, Stage::Transform, Stage::Download];
            assert_eq!(stages, all, "{problem:?}");
        }
    }

    #[test]
    fn a_device_that_is_lost_leaves_the_output_alone_until_it_is_copied() {
        let planner = Planner::<f64>::new();
        for refuses_to_pin in [false, true] {
            let late = late(refuses_to_pin);
            let machine: Arc<dyn Machine> = Arc::<Late>::clone(&late);
            let problem = Problem::complex(&[8]).batch(40).engine(Engine::Digits);
            let plan = planner.plan_on(&problem, &machine).unwrap();
            let (mut copying, mut before) = (0, 0);
            for lost_after in 0.. {
                late.state.lock().unwrap().calls = 0;
                *late.lost_from.lock().unwrap() = lost_after;
                let mut field = numbers(320);
                let outcome = plan.process(&mut field);
                *late.lost_from.lock().unwrap() = usize::MAX;
                match outcome {
                    Ok(()) => break,
                    Err(FftError::DeviceFailure { action, .. }) if action == COPYING_BACK => {
                        copying += 1;
                    }
                    Err(FftError::DeviceFailure { .. }) => {
                        before += 1;
                        assert_eq!(field, numbers(320), "lost after {lost_after} calls");
                    }
                    Err(other) => panic!("{other}"),
                }
                let state = late.state.lock().unwrap();
                assert_eq!(state.allocated.len(), 1, "only tables are left");
            }
            // Five pieces each way, each put into a queue and waited for.
            assert!(copying >= 10 && before >= 10, "{copying} {before}");
            drop((plan, machine));
            let state = late.state.lock().unwrap();
            assert!(state.allocated.is_empty() && state.pinned.is_empty());
        }
    }

    #[test]
    fn a_closure_that_panics_leaves_nothing_behind() {
        let late = late(false);
        let machine: Arc<dyn Machine> = Arc::<Late>::clone(&late);
        let problem = Problem::complex(&[8]).batch(40).engine(Engine::Digits);
        let plan = Planner::<f64>::new().plan_on(&problem, &machine).unwrap();
        let panics = std::panic::AssertUnwindSafe(|| {
            let mut reporting = plan.reporting(|progress| assert!(progress.done < 2048));
            reporting.process(&mut numbers(320))
        });
        assert!(std::panic::catch_unwind(panics).is_err());
        {
            let state = late.state.lock().unwrap();
            assert!(state.allocated.len() == 1 && state.pinned.is_empty());
        }
        plan.process(&mut numbers(320)).unwrap();
    }

    #[test]
    fn several_threads_copy_every_byte_once() {
        for len in [0, 1, 31, 32, 33, 1000, 1024] {
            let from: Vec<u8> = (0..len).map(|i| (i * 31 + 7) as u8).collect();
            for threads in [1, 2, 3, 40] {
                let mut to = vec![0; len];
                copy(&mut to, &from, threads);
                assert_eq!(to, from);
            }
        }
    }
}
