//! Calls on device memory over real ranks, with a GPU that is none: its memory is the processor's, at addresses that nobody can read by mistake where messages
//! are staged, and what is put into its queue is done late.

use super::on_device::Messages;
use super::*;
use crate::agreement::support::{on_ranks, on_ranks_judged};
use crate::device::{DeviceCopy, GpuLines, GpuMemory, PageLocked};
use ozfft::{AxisPlan, Device, Problem, Substrate};
use ozfft_testkit::assert_same_bits;
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::problems::Source;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Added to addresses of memory that MPI must not touch: nothing is there.
const FAR: u64 = 1 << 46;

type Work = Box<dyn FnOnce()>;

/// The queue of a GPU that is none.
#[derive(Default)]
struct Late {
    waiting: RefCell<std::collections::VecDeque<Work>>,
    far: u64,
    /// Calls until it fails, if it does.
    calls_left: Cell<Option<usize>>,
}

impl Late {
    fn put(&self, work: Work) -> Result<(), FftError> {
        match self.calls_left.get() {
            Some(0) => Err(FftError::DeviceFailure {
                action: "running the kernels",
                code: 46,
                name: "LOST".into(),
                text: "the device is lost".into(),
            }),
            left => {
                self.calls_left.set(left.map(|left| left - 1));
                self.waiting.borrow_mut().push_back(work);
                Ok(())
            }
        }
    }

    fn do_next(&self) -> bool {
        let next = self.waiting.borrow_mut().pop_front();
        next.map(|work| work()).is_some()
    }
}

struct Mock(Rc<Late>);

struct Memory {
    words: Vec<u64>,
    far: u64,
}

impl GpuMemory for Memory {
    fn address(&self) -> u64 {
        (self.words.as_ptr() as u64).next_multiple_of(256) + self.far
    }
}

struct Locked(Vec<u8>);

impl std::ops::Deref for Locked {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl std::ops::DerefMut for Locked {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// # Safety
/// So many bytes may be copied.
unsafe fn copy(from: u64, to: u64, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes) }
}

impl<T: Real> Gpu<T> for Mock {
    fn name(&self) -> String {
        "a GPU that is none".into()
    }
    fn allocate(&self, bytes: usize) -> Result<Box<dyn GpuMemory>, FftError> {
        Ok(Box::new(Memory {
            words: vec![0xa5a5_5a5a_a5a5_5a5a; bytes.div_ceil(8) + 64],
            far: self.0.far,
        }))
    }
    fn page_locked(&self, bytes: usize) -> Result<PageLocked, FftError> {
        Ok(Box::new(Locked(vec![0x77; bytes])))
    }
    fn check(&self, buffer: Buffer, address: u64, _: usize) -> Result<(), FftError> {
        match address < self.0.far {
            false => Ok(()),
            true => Err(FftError::WrongPointer {
                buffer,
                address,
                reason: "it is not memory of a device".into(),
            }),
        }
    }
    unsafe fn upload(&self, to: u64, bytes: &[u8]) -> Result<(), FftError> {
        let (from, bytes, to) = (bytes.as_ptr() as u64, bytes.len(), to - self.0.far);
        // SAFETY: the caller's promise, here and below.
        self.0
            .put(Box::new(move || unsafe { copy(from, to, bytes) }))
    }
    unsafe fn download(&self, from: u64, bytes: &mut [u8]) -> Result<(), FftError> {
        let (to, bytes, from) = (bytes.as_mut_ptr() as u64, bytes.len(), from - self.0.far);
        // SAFETY: as above.
        self.0
            .put(Box::new(move || unsafe { copy(from, to, bytes) }))
    }
    unsafe fn copy(&self, block: &DeviceCopy) -> Result<(), FftError> {
        let (block, far) = (*block, self.0.far);
        self.0.put(Box::new(move || {
            for (slice, row) in
                (0..block.slices).flat_map(|slice| (0..block.rows).map(move |row| (slice, row)))
            {
                let at = |side: usize| {
                    (slice * block.slice_distances[side] + row * block.row_distances[side]) as u64
                };
                let (from, to) = (block.from - far + at(0), block.to - far + at(1));
                // SAFETY: as above.
                unsafe { copy(from, to, block.bytes) };
            }
        }))
    }
    fn is_done(&self) -> bool {
        !self.0.do_next()
    }
    fn synchronize(&self) -> Result<(), FftError> {
        self.0.put(Box::new(|| ()))?;
        while self.0.do_next() {}
        Ok(())
    }
    fn plan_axis(
        &self,
        planner: &Planner<T>,
        whole: &Plan<T>,
        (number, shape): (usize, &[usize]),
        substrate: Substrate,
    ) -> Result<Box<dyn GpuLines<T>>, FftError> {
        assert_eq!(substrate, Substrate::Auto);
        let plan = planner.plan_axis(whole, number, shape)?;
        let problem = whole.problem();
        let batch = problem.input_len() / problem.input_shape().iter().product::<usize>();
        let mut lengths = [shape.iter().product::<usize>() * batch; 2];
        let halved = lengths[0] / shape[plan.axis()] * (shape[plan.axis()] / 2 + 1);
        match plan.kind() {
            Kind::ComplexToComplex => {}
            Kind::RealToComplex => lengths[1] = halved,
            Kind::ComplexToReal => lengths[0] = halved,
        }
        Ok(Box::new(MockLines {
            plan: Rc::new(plan),
            queue: Rc::clone(&self.0),
            lengths,
        }))
    }
}

struct MockLines<T: Real> {
    plan: Rc<AxisPlan<T>>,
    queue: Rc<Late>,
    lengths: [usize; 2],
}

/// # Safety
/// So many numbers are there, and nobody writes to them.
unsafe fn read<'a, N>(address: u64, len: usize) -> &'a [N] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(address as *const N, len) }
}

/// # Safety
/// So many numbers are there, and nobody else uses them.
unsafe fn write<'a, N>(address: u64, len: usize) -> &'a mut [N] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(address as *mut N, len) }
}

impl<T: Real> GpuLines<T> for MockLines<T> {
    fn substrate(&self) -> &str {
        match self.plan.kind() {
            Kind::ComplexToComplex => "mock",
            _ => "mock of reals",
        }
    }
    fn transforms(&self) -> usize {
        self.plan.transforms()
    }
    fn workspace_bytes(&self) -> usize {
        8 * self.plan.workspace_len()
    }
    unsafe fn largest_exponents(&self, input: u64, exponents: &mut [i32]) -> Result<(), FftError> {
        while self.queue.do_next() {}
        let (input, len) = (input - self.queue.far, self.lengths[0]);
        // SAFETY: the caller's promise.
        unsafe {
            match self.plan.kind() {
                Kind::RealToComplex => self
                    .plan
                    .largest_exponents_of_reals(read(input, len), exponents),
                _ => self.plan.largest_exponents(read(input, len), exponents),
            }
        }
    }
    unsafe fn process(
        &self,
        (from, to): (u64, u64),
        powers: &[i32],
        workspace: u64,
    ) -> Result<(), FftError> {
        let [from, to, workspace] = [from, to, workspace].map(|a| a - self.queue.far);
        let (plan, powers, [input, output]) =
            (Rc::clone(&self.plan), powers.to_vec(), self.lengths);
        self.queue.put(Box::new(move || {
            // SAFETY: the caller's promise.
            let done = unsafe {
                let workspace = write(workspace, plan.workspace_len());
                match plan.kind() {
                    Kind::ComplexToComplex if from == to => {
                        plan.process(write(to, output), &powers, workspace)
                    }
                    Kind::ComplexToComplex => plan.process_outofplace(
                        read(from, input),
                        write(to, output),
                        &powers,
                        workspace,
                    ),
                    Kind::RealToComplex => plan.process_real_to_complex(
                        read(from, input),
                        write(to, output),
                        &powers,
                        workspace,
                    ),
                    Kind::ComplexToReal => plan.process_complex_to_real(
                        read(from, input),
                        write(to, output),
                        &powers,
                        workspace,
                    ),
                }
            };
            done.expect("lengths are the plan's");
        }))
    }
}

/// The elements of a box of an array, of reals or of pairs of them.
fn part<T: Real>(
    all: &[T],
    shape: &[usize],
    part: &IndexBox,
    batch: usize,
    reals: usize,
) -> Vec<T> {
    let (lengths, points) = (part.shape(), shape.iter().product::<usize>());
    let mut held = Vec::new();
    for flat in 0..batch * part.len() {
        let (member, mut rest) = (flat / part.len(), flat % part.len());
        let (mut place, mut stride) = (member * points, 1);
        for d in (0..shape.len()).rev() {
            place += (rest % lengths[d] + part.low()[d]) * stride;
            rest /= lengths[d];
            stride *= shape[d];
        }
        held.extend_from_slice(&all[reals * place..reals * (place + 1)]);
    }
    held
}

fn gpu<T: Real>(messages: Messages, calls: Option<usize>) -> (Box<dyn Gpu<T>>, Messages) {
    let far = match messages {
        Messages::FromDevice => 0,
        Messages::Staged(_) => FAR,
    };
    let queue = Late {
        far,
        calls_left: Cell::new(calls),
        ..Late::default()
    };
    (Box::new(Mock(Rc::new(queue))), messages)
}

/// A random problem on all ranks against one process.
fn compare<T: Real + ozfft_testkit::Bits>(
    world: &SimpleCommunicator,
    source: &mut Generator,
    case: &str,
) {
    let dimensions = 1 + source.below(3);
    let shape: Vec<usize> = (0..dimensions).map(|_| 1 + source.below(9)).collect();
    let problem = match source.below(3) {
        0 => DistributedProblem::complex(&shape),
        1 => DistributedProblem::real_to_complex(&shape),
        _ => DistributedProblem::complex_to_real(&shape),
    };
    let batch = 1 + source.below(2);
    let mut problem = problem.batch(batch).pieces(1 + source.below(4));
    if source.once_in(3) {
        problem = problem.permuted_output();
    }
    if dimensions > 1 && source.once_in(4) {
        problem = problem.axes(&[dimensions - 1]);
    }
    let messages = match source.once_in(2) {
        true => Messages::FromDevice,
        false => Messages::Staged("for a test"),
    };
    let planner = Planner::<T>::new();
    let plan = DistributedPlan::on(
        &problem.clone().device(Device::Cuda(0)),
        world,
        &planner,
        || Ok(Some(gpu(messages, None))),
    )
    .unwrap_or_else(|error| panic!("{case}: {error}"));
    let whole: &Problem = plan.whole().problem();
    let kind = whole.kind();
    let reals =
        [kind != Kind::RealToComplex, kind != Kind::ComplexToReal].map(|c| 1 + usize::from(c));
    let (input_shape, output_shape) = (whole.input_shape(), whole.output_shape());
    // Large ones need a power of two between axes.
    let scale = match source.below(4) {
        0 => T::LARGEST_EXPONENT - 2,
        _ => 0,
    };
    let len = batch * input_shape.iter().product::<usize>() * reals[0];
    let input: Vec<T> = (0..len)
        .map(|_| {
            let x = (source.below(2001) as f64 - 1000.0) / 1024.0;
            T::narrow(x * f64::from(scale).exp2())
        })
        .collect();
    let mut expected =
        vec![T::narrow(0.0); batch * output_shape.iter().product::<usize>() * reals[1]];
    use bytemuck::{cast_slice, cast_slice_mut};
    let one = planner.plan(whole).expect("a plan");
    let done = match kind {
        Kind::ComplexToComplex => {
            one.process_outofplace(cast_slice(&input), cast_slice_mut(&mut expected))
        }
        Kind::RealToComplex => one.process_real_to_complex(&input, cast_slice_mut(&mut expected)),
        Kind::ComplexToReal => one.process_complex_to_real(cast_slice(&input), &mut expected),
    };
    // Along one axis it is reported that no real array has this half-spectrum; the output is there.
    assert!(
        matches!(done, Ok(()) | Err(FftError::NotHermitian { .. })),
        "{done:?}"
    );
    let held = part(&input, &input_shape, plan.input_box(), batch, reals[0]);
    let wanted = part(&expected, &output_shape, plan.output_box(), batch, reals[1]);
    let what = format!("{case}: {plan}");

    // From arrays of the processor, and on device memory.
    let mut found = vec![T::narrow(3.0); wanted.len()];
    match kind {
        Kind::ComplexToComplex => {
            plan.process_outofplace(cast_slice(&held), cast_slice_mut(&mut found))
        }
        Kind::RealToComplex => plan.process_real_to_complex(&held, cast_slice_mut(&mut found)),
        Kind::ComplexToReal => plan.process_complex_to_real(cast_slice(&held), &mut found),
    }
    .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_same_bits(&wanted, &found, 0, &what);
    let device = plan.device.as_ref().expect("a GPU");
    let memory = [held.len(), wanted.len()]
        .map(|reals| device.gpu.allocate(reals * size_of::<T>()).expect("memory"));
    found.fill(T::narrow(5.0));
    // SAFETY: just allocated, of these lengths.
    unsafe {
        device
            .gpu
            .upload(memory[0].address(), cast_slice(&held))
            .expect("room");
        let [from, to] = [0, 1].map(|i| DevicePointer(memory[i].address()));
        plan.process_device(from, to)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        device
            .gpu
            .download(to.0, cast_slice_mut(&mut found))
            .expect("room");
    }
    device.gpu.synchronize().expect("done");
    assert_same_bits(&wanted, &found, 0, &what);
    assert_eq!(plan.bytes_sent(), 2 * plan.bytes_per_call(), "{what}");
    // In place where every rank can.
    let mut alike = [i32::from(
        held.len() != wanted.len() || kind != Kind::ComplexToComplex,
    )];
    agreement::maxima(&plan.communicators.all, &mut alike);
    if alike == [0] {
        let mut both = held;
        plan.process(cast_slice_mut(&mut both))
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_same_bits(&wanted, &both, 0, &what);
    }
    assert_eq!(plan.workspace_len(), 0);
    assert_eq!(
        plan.sends_from_device(),
        Some(messages == Messages::FromDevice)
    );
}

fn random_problems(world: &SimpleCommunicator) {
    let seed = 0xde71;
    let mut source = Generator::new(seed);
    for case in 0..60 {
        let case = format!("seed {seed:#x}, case {case}");
        match source.once_in(4) {
            true => compare::<f32>(world, &mut source, &case),
            false => compare::<f64>(world, &mut source, &case),
        }
    }
}

#[test]
fn device_arrays_have_the_bits_of_one_process_on_one_rank() {
    let test = "plan::device_tests::device_arrays_have_the_bits_of_one_process_on_one_rank";
    on_ranks(test, 1, random_problems);
}

#[test]
fn device_arrays_have_the_bits_of_one_process_on_three_ranks() {
    let test = "plan::device_tests::device_arrays_have_the_bits_of_one_process_on_three_ranks";
    on_ranks(test, 3, random_problems);
}

#[test]
fn device_arrays_have_the_bits_of_one_process_on_four_ranks() {
    let test = "plan::device_tests::device_arrays_have_the_bits_of_one_process_on_four_ranks";
    on_ranks(test, 4, random_problems);
}

#[test]
fn a_gpu_that_fails_is_an_error_on_every_rank_at_any_time() {
    let test = "plan::device_tests::a_gpu_that_fails_is_an_error_on_every_rank_at_any_time";
    on_ranks(test, 3, |world| {
        let planner = Planner::<f64>::new();
        let problem = DistributedProblem::complex(&[6, 9, 5])
            .pieces(3)
            .device(Device::Cuda(0));
        let (mut failed, mut succeeded) = (0, 0);
        for calls in (0..400).step_by(7) {
            let calls = (world.rank() == 1).then_some(calls);
            let open = || Ok(Some(gpu(Messages::Staged("for a test"), calls)));
            let plan = DistributedPlan::on(&problem, world, &planner, open).expect("a plan");
            let input = vec![Complex::new(1.0, 0.0); plan.input_len()];
            let mut output = vec![Complex::new(7.0, 7.0); plan.output_len()];
            match (plan.process_outofplace(&input, &mut output), world.rank()) {
                (Ok(()), _) => succeeded += 1,
                (Err(DistributedError::OnRank { rank: 1, message }), 0 | 2) => {
                    assert!(message.contains("the device is lost"), "{message}");
                    failed += 1;
                }
                (Err(DistributedError::Transform(FftError::DeviceFailure { .. })), 1) => {
                    // Nothing was copied back.
                    assert!(output.iter().all(|&z| z == Complex::new(7.0, 7.0)));
                    failed += 1;
                }
                (other, rank) => panic!("rank {rank}: {other:?}"),
            }
        }
        assert!(failed > 10 && succeeded > 0, "{failed} and {succeeded}");
    });
}

#[test]
fn pointers_and_devices_that_do_not_fit_are_errors_on_every_rank() {
    let test = "plan::device_tests::pointers_and_devices_that_do_not_fit_are_errors_on_every_rank";
    let body = |world: &SimpleCommunicator| {
        let planner = Planner::<f64>::new();
        let problem = DistributedProblem::complex(&[8, 8]).device(Device::Cuda(0));
        let open = || Ok(Some(gpu(Messages::Staged("for a test"), None)));
        let strict = DistributedPlan::on(&problem.clone().strict(true), world, &planner, open);
        let plan = DistributedPlan::on(&problem, world, &planner, open).expect("a plan");
        let nothing = DevicePointer(16);
        // SAFETY: what is no memory of the device is not used.
        let refused = unsafe { plan.process_device(nothing, nothing) };
        let error = refused.expect_err("no device memory").to_string();
        assert!(error.contains("it is not memory of a device"), "{error}");
        assert_eq!(plan.substrate(), "mock");
        assert!(plan.to_string().contains("unit mock;"), "{plan}");
        let reals = DistributedProblem::real_to_complex(&[8, 8]).device(Device::Cuda(0));
        let reals = DistributedPlan::on(&reals, world, &planner, open).expect("a plan");
        assert_eq!(reals.substrate(), "mock of reals, mock");
        // SAFETY: as above.
        let refused = unsafe { strict.expect("a plan").process_device(nothing, nothing) };
        let error = refused.expect_err("strict").to_string();
        assert!(error.contains("strict"), "{error}");
        let on_processor = DistributedProblem::complex(&[8, 8]);
        let plan = DistributedPlan::<f64>::new(&on_processor, world).expect("a plan");
        // SAFETY: as above.
        let refused = unsafe { plan.process_device(nothing, nothing) };
        let error = refused.expect_err("no GPU").to_string();
        assert!(error.contains("plan for a device cuda"), "{error}");
        assert_eq!(plan.sends_from_device(), None);
        assert_eq!(plan.substrate(), plan.whole().substrate());
        // One rank for the processor, one for a GPU.
        let mixed = match world.rank() {
            0 => on_processor,
            _ => problem,
        };
        let mixed = DistributedPlan::<f64>::new(&mixed, world);
        assert!(matches!(
            mixed,
            Err(DistributedError::Mismatch { rank: 1, .. })
        ));
    };
    on_ranks_judged(test, 2, body, |status, text| {
        assert!(status.success(), "{text}");
    });
}
